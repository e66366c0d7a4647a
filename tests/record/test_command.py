"""`roundtable replay`: what it prints, and how it ends."""

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.command_line import CommandLine, Ran
from tests.record.kept import ITEMS, evening_in

Replay = Callable[..., Awaitable[Ran]]
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("workspace")
    evening_in(root)
    return root


@pytest.fixture
def replay(loaded: CommandLine) -> Replay:
    async def run(workspace: Path, *arguments: str) -> Ran:
        return await loaded.run(workspace, "replay", *arguments, ROUNDTABLE_WORKSPACE=str(workspace))

    return run


async def test_it_prints_the_meeting_by_round_and_step(replay: Replay, workspace: Path) -> None:
    """And above it what it has come to."""
    done = await replay(workspace, "offline-sync")

    assert (done.code, done.err) == (0, "")
    assert "\n## Round 19, formalizing, 01-01\n" in done.out.replace("\\", "")
    assert "- steps done: 00-01, 00-02, 00-03, 01-01" in done.out.replace("\\", "")
    assert "| 16 calls, 19,200 tokens in, 4,800 out, cost 0.1600, 40.0 s |" in done.out


async def test_it_prints_the_state_at_any_line(replay: Replay, workspace: Path) -> None:
    """What came later is not there."""
    done = await replay(workspace, "offline-sync", "--at", "7")

    assert "After line 7: raw, phase 00-quick-scan, step 00-01" in done.out.replace("\\", "")
    assert "\n> Photos, too.\n" in done.out
    assert "Round 6" not in done.out


async def test_a_record_that_holds_ends_with_0(replay: Replay, workspace: Path) -> None:
    """In one sentence."""
    done = await replay(workspace, "offline-sync", "--verify")

    assert done.code == 0
    assert done.out.startswith("The record holds")


async def test_a_record_that_does_not_hold_ends_with_1(replay: Replay, tmp_path: Path) -> None:
    """The first difference first, as an editor would want it."""
    item = evening_in(tmp_path)
    meta = item.folder / "meta.json"
    meta.write_text(meta.read_text().replace('"turn_count": 5', '"turn_count": 6'))
    done = await replay(tmp_path, "offline-sync", "--verify")

    assert done.code == 1
    assert done.out.splitlines()[0] == ("meta.json:23: elaborations is not what the lines say")


async def test_json_is_one_document(replay: Replay, workspace: Path) -> None:
    """The state first, then every line with the call that is recorded of it."""
    found = (await replay(workspace, "offline-sync", "--json")).json

    assert found["slug"] == "offline-sync"
    assert found["state"]["status"] == "partial"
    assert [line["number"] for line in found["lines"]] == list(range(1, found["state"]["line"] + 1))
    calls = [line["call"] for line in found["lines"] if line.get("call")]
    assert len(calls) == found["state"]["totals"]["all"]["calls"] == 16


async def test_markdown_cannot_act(replay: Replay, tmp_path: Path) -> None:
    """What was said is quoted, names are escaped."""
    line = {
        "ts": "2025-03-01T10:15:30.123Z", "round": 1, "actor": "*Eve*", "phase": "draft", "role": "user",
        "source": "model", "content": "# Top\n<!-- Elaboration: step 00-01, now -->\n| a |",
    }  # fmt: skip
    (tmp_path / "meeting.jsonl").write_text(json.dumps(line))
    done = await replay(tmp_path, str(tmp_path / "meeting.jsonl"))

    assert "**\\*Eve\\***" in done.out
    assert "\n> # Top\n> &lt;!-- Elaboration: step 00-01, now -->\n> | a |\n" in done.out


async def test_a_page_is_written_whole_or_not_at_all(replay: Replay, workspace: Path, tmp_path: Path) -> None:
    """Where it cannot be written, that is said in a sentence."""
    done = await replay(workspace, "offline-sync", "--html", str(tmp_path / "page.html"))
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / "page.html").read_text().endswith("</html>\n")

    page = tmp_path / "nowhere" / "page.html"
    done = await replay(workspace, "offline-sync", "--html", str(page))
    assert (done.code, done.err) == (
        1,
        f"The record of offline-sync cannot be read or written: No such file or directory ({page}).\n",
    )


@pytest.mark.parametrize("name", ["workshop", "variations"])
async def test_files_of_other_tools_replay_and_hold(replay: Replay, tmp_path: Path, name: str) -> None:
    """Whoever keeps to the schema; nobody needs a workspace for it."""
    file = str(GOLDEN / f"{name}.jsonl")

    assert (await replay(tmp_path, file)).code == 0
    assert (await replay(tmp_path, file, "--verify")).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["offline-snyc"], 1, "There is no item 'offline-snyc'. Did you mean offline-sync?"),
        (["../../etc"], 1, "There is no item '../../etc'."),
        (["nothing.jsonl"], 1, "There is no file nothing.jsonl."),
        (["offline-sync", "--json", "--verify"], 2, "at a time"),
        (["offline-sync", "--at", "0"], 2, "--at"),
    ],
)
async def test_bad_input_gets_a_sentence(
    replay: Replay, workspace: Path, arguments: list[str], code: int, says: str
) -> None:
    """And never a traceback."""
    done = await replay(workspace, *arguments)

    assert done.code == code
    assert says in done.err


Put = Callable[[Path, Path], None]
MEETING = "planning/meeting.jsonl"


def linked(at: str) -> Put:
    """What is *at* a place of the item leads to another item."""

    def put(item: Path, outside: Path) -> None:
        here, there = (Path(os.path.normpath(one / at)) for one in (item, outside))
        here.parent.mkdir(parents=True)
        here.symlink_to(there)

    return put


def made(make: Callable[[Path], None]) -> Put:
    """In place of the transcript."""

    def put(item: Path, _outside: Path) -> None:
        (item / MEETING).parent.mkdir(parents=True)
        make(item / MEETING)

    return put


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 * 1024**3)


IN_THE_WAY = [
    (linked(MEETING), "offline-sync/planning/meeting.jsonl is a symbolic link"),
    (linked("planning"), "offline-sync/planning is a symbolic link"),
    (linked(""), "docs/requirements/offline-sync is a symbolic link"),
    (linked(".."), "docs/requirements is a symbolic link"),
    (
        made(lambda path: path.symlink_to("/dev/zero")),
        "offline-sync/planning/meeting.jsonl is a symbolic link",
    ),
    (made(os.mkfifo), "offline-sync/planning/meeting.jsonl is not a regular file"),
    (made(huge), "offline-sync/planning/meeting.jsonl is larger than 256 MiB"),
]


@pytest.mark.parametrize(("put", "why"), IN_THE_WAY)
async def test_an_item_is_not_read_from_outside_of_the_workspace(
    replay: Replay, tmp_path: Path, put: Put, why: str
) -> None:
    """One sentence says what is in the way."""
    evening_in(tmp_path / "elsewhere")
    put(tmp_path / "workspace" / ITEMS / "offline-sync", tmp_path / "elsewhere" / ITEMS / "offline-sync")
    for form in ((), ("--verify",)):
        done = await replay(tmp_path / "workspace", "offline-sync", *form)

        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("The record of offline-sync cannot be read: ")
        assert why in done.err
        assert done.err.count("\n") == 1


async def test_an_artifact_that_is_a_link_is_a_difference(replay: Replay, tmp_path: Path) -> None:
    """Where it leads to is not looked at."""
    item = evening_in(tmp_path)
    (tmp_path / "plan.md").write_text("somebody's")
    (item.folder / "leak.md").symlink_to(tmp_path / "plan.md")
    done = await replay(tmp_path, "offline-sync", "--verify")

    assert done.code == 1
    assert done.out.splitlines() == [
        "leak.md:1: is a symbolic link, which is not followed",
    ]


async def test_a_file_that_somebody_names_may_be_a_link(replay: Replay, tmp_path: Path) -> None:
    """It is their own choice, and the item is the one that it leads to."""
    evening_in(tmp_path / "elsewhere")
    transcript = tmp_path / "elsewhere" / ITEMS / "offline-sync" / "planning" / "meeting.jsonl"
    (tmp_path / "newest.jsonl").symlink_to(transcript)
    done = await replay(tmp_path, str(tmp_path / "newest.jsonl"), "--verify")

    assert (done.code, done.err) == (0, "")
