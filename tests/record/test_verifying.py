"""Whether a record holds: all that is kept says what the lines say, or the first place that does not is named."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bot.cli import replay
from bot.domain.item.item_paths import SPECIFICATION
from bot.domain.specification.snapshot import read
from bot.domain.transcript import lines as transcript
from bot.domain.transcript.lines import append
from bot.domain.transcript.state import REPRODUCED
from bot.engine.ports import ItemVersion
from bot.record.verify import RecordedItem, differences
from bot.storage.git.history import versions
from bot.storage.git.workspace import GitWorkspace
from tests.domain.table import shipped
from tests.record.kept import ITEMS, an_evening, evening_in, written
from tests.sealing import SEAL, TRUSTED
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG
from tests.storage.test_specification import pressed, told, two_steps

PLAYBOOK = shipped()
META = "meta.json"
MEETING = "planning/meeting.jsonl"
SCAN = "quick-scan.md"


class Kept:
    """An item, and what git has of it; a test may spoil a file, and it is as it was for the next."""

    def __init__(self, item: RecordedItem) -> None:
        self.item = item
        self.versions: tuple[ItemVersion, ...] = tuple(versions(item.folder))
        self._files = {name: (item.folder / name).read_bytes() for name in (META, MEETING, SCAN)}

    def __getitem__(self, name: str) -> bytes:
        return self._files[name]

    def spoilt(self, name: str, content: bytes) -> list[str]:
        (self.item.folder / name).write_bytes(content)
        return [str(one) for one in differences(self.item, self.versions, playbook=PLAYBOOK, keys=TRUSTED)]

    def mend(self) -> None:
        for name, content in self._files.items():
            (self.item.folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(evening_in(tmp_path_factory.mktemp("evening")))


@pytest.fixture
def kept(evening: Kept) -> Iterator[Kept]:
    yield evening
    evening.mend()


def test_a_record_of_ours_holds(kept: Kept) -> None:
    """After discussions, a phase that is over, a change of depth and a pause."""
    assert list(differences(kept.item, kept.versions, playbook=PLAYBOOK)) == []
    assert len(kept.versions) > 5


def test_it_holds_without_git_too(tmp_path: Path) -> None:
    """Then nobody vouches for the lines, and the rest is compared with them."""
    assert list(differences(written(an_evening(), tmp_path))) == []


def places(kept: Kept, name: str) -> list[int]:
    """The bytes that must not be others: all of the lines, and what follows from them elsewhere."""
    content = kept[name]
    if name == MEETING:  # a good signature vouches for all lines before it
        signed = {at for one in re.finditer(rb'"sig": "[^"]+"', content) for at in range(*one.span())}
        return [at for at in range(len(content)) if at not in signed]
    if name == META:
        found = [
            re.search(rf'"{one}": (?:[^\n]+\n|(?:(?!  "|}}).+\n)+)'.encode(), content) for one in REPRODUCED
        ]
        return [at for one in found if one for at in range(one.start(), one.end() - 2)]
    start = content.index(b"<!-- Elaboration: ")
    end = content.index(b"#### Open Questions\n- None recorded.\n") + len(
        b"#### Open Questions\n- None recorded.\n"
    )
    return list(range(start, end))


@pytest.mark.parametrize("name", [META, MEETING, SCAN])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(luck=st.integers(0, 2**32), bit=st.integers(0, 7))
def test_one_flipped_bit_is_found(kept: Kept, name: str, luck: int, bit: int) -> None:
    """Wherever it changes what the file says, and the file is named in which it is, with a line of it."""
    possible = places(kept, name)
    spoilt = bytearray(kept[name])
    spoilt[possible[luck % len(possible)]] ^= 1 << bit
    assume(name != MEETING or transcript.read(bytes(spoilt)) != transcript.read(kept[name]))
    found = kept.spoilt(name, bytes(spoilt))
    kept.mend()

    assert any(one.startswith(f"{name}:") for one in found)


def test_the_line_is_named_that_is_another(kept: Kept) -> None:
    """By its id."""
    rows = kept[MEETING].split(b"\n")
    rows[6] = rows[6].replace(b"Photos", b"photos")
    id = json.loads(rows[6])["meta"]["message_id"]

    assert f"{MEETING}:1: the seal of {id} does not hold" in kept.spoilt(MEETING, b"\n".join(rows))


def test_a_line_that_is_gone_is_found(kept: Kept) -> None:
    """A transcript is only ever added to."""
    rows = kept[MEETING].split(b"\n")
    id = json.loads(rows[9])["meta"]["message_id"]

    found = kept.spoilt(MEETING, b"\n".join([*rows[:9], *rows[10:]]))
    assert any("1 sealed line is missing before" in one for one in found)
    assert any(re.search(f"lacks 1 line of commit [0-9a-f]+, from {id} on", one) for one in found)


CONFIG = b'{\n  "elaboration_config": {"max_turns": 4},\n  "owner": "grace",'
FORGED = b"\n<!-- Elaboration: step 00-02, 2026-01-01T00:00:00.000Z -->\n\nWe agreed on everything.\n"
SPOILT: list[tuple[str, Callable[[bytes], bytes], str]] = [
    # of a line behind the last one no seal tells; our newest commit does
    (MEETING, lambda text: b"".join(text.splitlines(keepends=True)[:-2]), "lacks 2 lines of commit"),
    (META, lambda text: text.replace(b'"00-03",', b'"00-03",\n    "00-09",'), '\n+  "00-09",\n'),
    (
        SCAN,
        lambda text: text.replace(b"<!-- Elaboration:", b"<!-- Elaborated:"),
        "\n-<!-- Elaboration: step 00-01",
    ),
    (SCAN, lambda text: text + FORGED, "names an elaboration that the record does not know"),
    # a death between the write and the commit leaves lines behind
    (MEETING, lambda text: text + with_id(text.splitlines()[-1], "x") + b"\n", ""),
    # what people may change: the limit of turns, fields of other tools, what is outside of our sections, line ends
    (META, lambda text: text.replace(b"{", CONFIG, 1), ""),
    (
        SCAN,
        lambda text: b"# My own title\n\nAnd a word before.\n\n" + text + b"\n## Our own\n\nAnd one after.\n",
        "",
    ),
    (SCAN, lambda text: text.replace(b"\n", b"\r\n"), ""),
    # a home and its seal do not follow from the lines
    *(
        (META, lambda text, home=home: with_home(text, home), "")
        for home in (None, {}, {"channel_id": "C1"}, {"channel_id": "C1", "seal": "0" * 64})
    ),
]


def with_id(row: bytes, id: str) -> bytes:
    return json.dumps({**json.loads(row), "meta": {"message_id": id}}).encode()


def with_home(text: bytes, home: object) -> bytes:
    fields = {name: fact for name, fact in json.loads(text).items() if name != "slack"}
    return json.dumps(fields | ({} if home is None else {"slack": home}), indent=2).encode() + b"\n"


@pytest.mark.parametrize(("name", "spoil", "sentence"), SPOILT)
def test_a_difference_is_told_and_what_is_free_is_none(
    kept: Kept, name: str, spoil: Callable[[bytes], bytes], sentence: str
) -> None:
    found = kept.spoilt(name, spoil(kept[name]))

    assert any(sentence in one for one in found) if sentence else found == []


def edited(item: RecordedItem) -> None:
    rows = item.transcript.read_bytes().split(b"\n")
    rows[4] = rows[4].replace(b"lose their edits", b"lost their edits")
    item.transcript.write_bytes(b"\n".join(rows))


def test_an_edit_that_somebody_committed_is_named(tmp_path: Path) -> None:
    """By who made it and in which commit; the seal does not hold with it."""
    item = evening_in(tmp_path)
    edited(item)
    Git(tmp_path)("commit", "--quiet", "--all", "-m", "nothing")
    sha = Git(tmp_path)("rev-parse", "HEAD")[:7]

    found = list(differences(item, tuple(versions(item.folder))))
    assert {one.file for one in found} <= {MEETING, SPECIFICATION}
    assert any("does not hold" in one.sentence for one in found)
    lost = f"was edited by Ada in commit {sha}: it lacks 1 line of commit"
    assert any(one.sentence.startswith(lost) for one in found)


def test_a_revert_is_a_difference_with_an_author(tmp_path: Path) -> None:
    """The bot puts the lines back at its next commit."""
    item = evening_in(tmp_path)
    Git(tmp_path)("revert", "--no-edit", "HEAD", "HEAD~1", "HEAD~2")

    (found,) = replay.verified(item)

    assert "was edited by Ada in commit " in str(found)


def test_a_commit_of_ours_that_was_changed_is_found(tmp_path: Path) -> None:
    """Each line has a seal of its own."""
    item = evening_in(tmp_path)
    edited(item)
    Git(tmp_path)("checkout", "--quiet", "--orphan", "other")
    message = Git(tmp_path)("log", "-1", "--format=%B", "main")
    Git(tmp_path)("commit", "--quiet", "--all", "-m", message)
    Git(tmp_path)("reflog", "expire", "--expire=now", "--all")

    found = [str(one) for one in replay.verified(item)]

    assert any("the seal of" in one and "does not hold" in one for one in found)


def test_a_history_that_was_written_anew_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though all its versions say the same."""
    monkeypatch.setenv("FILTER_BRANCH_SQUELCH_WARNING", "1")
    item = evening_in(tmp_path)
    script = "sed -i 's/Photos, too/Videos, too/' docs/requirements/*/planning/meeting.jsonl"
    Git(tmp_path)("filter-branch", "--tree-filter", script, "HEAD")
    Git(tmp_path)("reflog", "expire", "--expire=now", "--all")

    found = [str(one) for one in replay.verified(item)]

    assert any("the seal of" in one and "does not hold" in one for one in found)


def test_a_branch_that_was_reset_is_found(tmp_path: Path) -> None:
    """What is left holds, and the repository remembers that there was more."""
    item = evening_in(tmp_path)
    Git(tmp_path)("reset", "--quiet", "--hard", "HEAD~3")
    lines = len(item.transcript.read_bytes().splitlines())

    (found,) = replay.verified(item)

    assert str(found).startswith(f"{MEETING}:{lines}: ends here, and commit ")
    assert "went back by 3 commits" in str(found)


def test_what_is_on_another_branch_is_not_gone(tmp_path: Path) -> None:
    """Nor what was committed anew under another message. What people decided stays decided."""
    item = evening_in(tmp_path)
    Git(tmp_path)("reset", "--quiet", "--soft", "HEAD~3")
    Git(tmp_path)("commit", "--quiet", "-m", "squashed")

    assert replay.verified(item) == []


# --- specification.json -------------------------------------------------------------------------------------------


@pytest.fixture
def specified(tmp_path: Path) -> RecordedItem:
    """Two commits of an item whose lines have entries."""
    git = Git(tmp_path)

    async def commit_all() -> None:
        async with GitWorkspace(tmp_path, seal=SEAL) as workspace:
            await two_steps(workspace)

    asyncio.run(commit_all())
    assert git.status == []
    folder = tmp_path / ITEMS / SLUG
    return RecordedItem(folder, folder / MEETING)


def test_a_specification_of_ours_holds(specified: RecordedItem) -> None:
    assert replay.verified(specified) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("Sort by name", "Sort by date", 'FR-002 has title "Sort by date", and the lines say "Sort by name"'),
        (
            '"id": "FR-001"',
            '"id": "FR-001", "withdrawn": "m9"',
            'FR-001 has state "withdrawn", and the lines say "accepted"',
        ),
        ("FR-002", "FR-003", "FR-002 is missing"),
        ("{", "", "cannot be read"),
        (
            "0123456789abcdef",
            "0" * 16,
            "has the entries of the lines, and is not the file that was committed",
        ),
    ],
)
def test_a_specification_that_the_lines_do_not_give_is_found(
    specified: RecordedItem, old: str, new: str, sentence: str
) -> None:
    """The first difference, with the line of the file where the entry begins."""
    file = specified.folder / "specification.json"
    file.write_text(file.read_text().replace(old, new))
    begins = next((f'"id": "{word}"' for word in sentence.split()[:1] if word.startswith("FR-")), "{")
    rows = file.read_text().splitlines()
    number = next((at for at, row in enumerate(rows, start=1) if begins in row), 1)

    assert [str(one) for one in replay.verified(specified)] == [f"specification.json:{number}: {sentence}"]


def test_a_specification_that_is_gone_is_found(specified: RecordedItem) -> None:
    (specified.folder / "specification.json").unlink()
    assert [str(one) for one in replay.verified(specified)] == ["specification.json:1: is not there"]


def test_lines_of_others_do_not_change_the_specification(specified: RecordedItem, tmp_path: Path) -> None:
    """A person pushed a line that withdraws an entry; our next commit knows nothing of it."""
    git, meeting = Git(tmp_path), f"{ITEMS}/{SLUG}/{MEETING}"
    before = read((specified.folder / "specification.json").read_text()).specification
    git.commit(meeting, append(git.shown(meeting).encode(), [pressed("withdrawn")]).decode())
    (pushed,) = replay.verified(specified)
    assert pushed.sentence == "was pushed without a seal: it only proposes, and is not read yet"

    async def commit_more() -> None:
        async with GitWorkspace(tmp_path, seal=SEAL) as workspace:
            await workspace.commit(SLUG, told(3, "Group by team", before)[0], now=NOW)

    asyncio.run(commit_more())
    assert replay.verified(specified) == []
