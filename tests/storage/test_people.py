"""people.json in git: names stand there and nowhere else, and lines have them again when they are read."""

import json
import logging
from typing import Any

import pytest

from bot.domain.item.meta import MetaChange, Seats, SlackPlace
from bot.domain.transcript.lines import Line, Source, read
from bot.storage.git.sync import SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git, commit_all
from tests.storage.clones import TRANSCRIPT, Opening, Replica
from tests.storage.samples import NOW, SLUG, a_commit, a_line, state_of

PEOPLE = "docs/requirements/people.json"
ADA, GRACE = (SEAL.person("T1", user) for user in ("U0ADA", "U0GRACE"))


def said(number: int, *, by: str = ADA, name: str = "Ada", title: str = "Filter by date") -> Line:
    patch = {"id": f"FR-00{number}", "kind": "requirement", "new": True, "set": {"title": title}}
    meta = {"message_id": f"C1.{number}", "person": by, "user_name": name, "entries": [patch]}
    return a_line(f"C1.{number}", title, source=Source.USER, meta=meta)


def noted(number: int, text: str, *, by: str = ADA) -> Line:
    meta = {"message_id": f"i1.{number}", "person": by, "user_name": "Ada"}
    return a_line(f"i1.{number}", text, source=Source.SYSTEM, meta=meta)


def names_in(git: Git) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(git.shown(PEOPLE))["people"]
    return found


async def names_of_entries(workspace: GitWorkspace) -> set[str]:
    state = await state_of(workspace)
    first = (entry.first for entry in state.specification.entries.values())
    return {claim.owner.name for claim in first if claim}


async def test_a_line_says_an_id_and_the_name_stands_in_one_file(workspace: GitWorkspace, git: Git) -> None:
    """In the same commit. In a sentence of ours the id stands in place of the name."""
    lines = (said(1), noted(1, "Ada asks Grace; Adam does not."))
    await workspace.commit(SLUG, a_commit(lines=lines, people={GRACE: "Grace"}), now=NOW)
    written = git.shown(TRANSCRIPT)
    [_, note] = read(written.encode())

    assert "user_name" not in written
    assert note.content == f"@{ADA} asks @{GRACE}; Adam does not."
    assert json.loads(git.shown(PEOPLE)) == {
        "version": 1,
        "people": dict(sorted({ADA: {"name": "Ada"}, GRACE: {"name": "Grace"}}.items())),
    }
    assert git("rev-list", "--count", "HEAD").strip() == "1"
    assert (await workspace.planning(SLUG)).lines[1].content == "Ada asks Grace; Adam does not."
    assert await names_of_entries(workspace) == {"Ada"}


async def test_the_first_name_stays_until_somebody_edits_it(workspace: GitWorkspace, git: Git) -> None:
    """A new name in Slack would make other files of the same lines. Unknown fields stay, too."""
    await workspace.commit(SLUG, a_commit(1, lines=(said(1),)), now=NOW)
    await workspace.commit(SLUG, a_commit(2, lines=(said(2, name="Countess"),)), now=NOW)
    assert names_in(git) == {ADA: {"name": "Ada"}}

    edited = {"version": 1, "kept": True, "people": {ADA: {"name": "A. L.", "team": "maths"}}}
    git.commit(PEOPLE, json.dumps(edited))
    receipt = await workspace.commit(SLUG, a_commit(3, lines=(said(3, by=GRACE, name="Grace"),)), now=NOW)

    assert receipt.state.people[ADA] == "A. L."
    assert await names_of_entries(workspace) == {"A. L.", "Grace"}
    assert json.loads(git.shown(PEOPLE))["kept"] is True
    assert names_in(git)[ADA] == {"name": "A. L.", "team": "maths"}


async def test_names_of_two_clones_are_merged(open_replica: Opening) -> None:
    """Also where both wrote the file first. A name that the other has already stays."""
    async with open_replica("one") as one, open_replica("two") as two:
        await one.commit(1, lines=(said(1),))
        assert await one.sync.once() is SyncResult.PUSHED
        lines = (said(1, by=GRACE, name="Grace"), noted(2, "Ada was here."))
        await two.commit(1, slug="other", lines=lines, people={ADA: "Countess"})
        assert await two.sync.once() is SyncResult.PUSHED
        await _caught_up(one)

        assert names_in(two.git) == {ADA: {"name": "Ada"}, GRACE: {"name": "Grace"}}
        assert names_in(one.git) == names_in(two.git)


async def _caught_up(one: Replica) -> None:
    assert await one.sync.once() is SyncResult.NOTHING


@pytest.mark.parametrize(
    "content", [b"not JSON", b"[]", b'{"people": []}', b"\xff\xfe", b'{"people": ' * 5000, b""]
)
async def test_a_file_that_cannot_be_read_is_set_aside(
    workspace: GitWorkspace, git: Git, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    """With one sentence. The last good names go on, and what stood there is kept."""
    await workspace.commit(SLUG, a_commit(1, lines=(said(1),)), now=NOW)
    (git.root / PEOPLE).write_bytes(content)
    commit_all(git.root)
    caplog.set_level(logging.WARNING)
    for number in (2, 3):
        line = said(number, by=GRACE, name="Grace")
        await workspace.commit(SLUG, a_commit(number, lines=(line,)), now=NOW)

    aside = [one for one in (git.root / PEOPLE).parent.iterdir() if one.name.startswith("people.json.")]
    assert [(one.name, one.read_bytes()) for one in aside] == [("people.json.corrupt-1", content)]
    assert names_in(git) == {ADA: {"name": "Ada"}, GRACE: {"name": "Grace"}}
    told = [one.getMessage() for one in caplog.records if "set aside" in one.getMessage()]
    assert len(told) == 1
    assert told[0].startswith("people.json cannot be read, so people are shown by their ids: ")


@pytest.mark.parametrize(
    ("people", "name"),
    [
        ({ADA: {"name": ["Ada"]}}, ADA),
        ({ADA: "Ada"}, ADA),
        ({ADA: {"name": ""}}, ADA),
        ({ADA: {"forgotten": "2026-11-23"}}, ADA),
        ({ADA: {"name": "A\nd\u202ea"}}, "A da"),
        ({ADA: {"name": "x" * 500}}, "x" * 79 + "…"),
    ],
)
async def test_names_in_it_are_untrusted(
    workspace: GitWorkspace, git: Git, people: dict[str, Any], name: str
) -> None:
    """What is no name is none, and people are shown by their ids."""
    await workspace.commit(SLUG, a_commit(1, lines=(said(1),)), now=NOW)
    git.commit(PEOPLE, json.dumps({"people": people}))

    assert await names_of_entries(workspace) == {name}
    await workspace.commit(SLUG, a_commit(2, lines=(said(2),)), now=NOW)
    assert names_in(git) == people


async def test_a_folder_in_its_place_is_left_alone(workspace: GitWorkspace, git: Git) -> None:
    """Lines are written all the same."""
    git.commit(f"{PEOPLE}/mine.txt", "Mine.")
    await workspace.commit(SLUG, a_commit(lines=(said(1),)), now=NOW)

    assert git.shown(f"{PEOPLE}/mine.txt") == "Mine."
    assert ADA in git.shown(TRANSCRIPT)
    assert await names_of_entries(workspace) == {ADA}


async def test_ids_of_slack_in_earlier_records_are_the_same_people(workspace: GitWorkspace) -> None:
    """Who began it, who takes part and who answered the open step."""
    facts = {"message_id": "m1", "message_ts": "1700000001.000100", "step_id": "01-02"}
    line = a_line("m1", phase="clarifying", meta={**facts, "user_id": "U0ADA", "user_name": "Ada"})
    home = SlackPlace(team_id="T1", channel_id="C1", thread_ts="1.0", started_by="U0ADA")
    change = MetaChange(created={"slug": SLUG}, seats=Seats(participants=("U0ADA", "U0GRACE")))
    await workspace.commit(SLUG, a_commit(lines=(line,), change=change), now=NOW, home=home)
    state = await state_of(workspace)
    assert state.meta.slack

    assert state.meta.slack.started_by == ADA
    assert state.meta.seats.participants == (ADA, GRACE)
    assert [(one.person.id, one.person.name) for one in state.said] == [(ADA, "Ada")]
