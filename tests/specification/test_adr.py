"""Architecture decisions have files of their own, in MADR's form, and those are read back like the others."""

from pathlib import Path

from bot.domain.item.artifacts import SectionEdit, additive, changed_by_hand, digest_of
from bot.domain.roundtable.outcomes import HandEdit
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import specifying
from bot.domain.roundtable.transitions.saving import queue_commit
from bot.domain.specification import adr
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import LinePhase
from bot.storage.git.workspace import GitWorkspace
from tests.domain.books import few_steps, step
from tests.domain.table import Table
from tests.sealing import SEAL
from tests.specification.meeting import PLAYBOOK
from tests.specification.test_saving import ADA, committed
from tests.specification.test_saving import told as said

SECOND = "adr/0002-token-bucket-in-redis.md"


def told(rt: Roundtable, text: str, *, step_id: str = "03-01") -> Roundtable:
    rt = said(rt, text, step_id=step_id)
    return rt.but(specification=rt.specification.naming({ADA.id: ADA.name}))


def a_roundtable() -> Roundtable:
    rt = Table(few_steps(step("00-01", "Scope"))).start().rt
    rt = told(rt, "option: One counter in the database")
    rt = told(rt, "decision: We count per key", step_id="01-06")
    return told(rt, "decision: Token bucket in Redis; because: ten times faster; rejected: OPT-001")


def files(rt: Roundtable) -> tuple[Roundtable, dict[str, str]]:
    """The text of each decision's file after the edits, each of which begins anew."""
    rt, edits = specifying.written(rt, PLAYBOOK)
    found: dict[str, str] = {}
    for edit in edits:
        if edit.path.startswith(adr.FOLDER):
            found[edit.path] = edit.apply(found.get(edit.path))
    return rt, found


def test_a_decision_of_the_architecture_is_a_file() -> None:
    """Numbered as its entry is; a decision of another phase has none."""
    rt, found = files(a_roundtable())

    assert found == {
        SECOND: "# ADR-0002: Token bucket in Redis\n\n"
        "## Status\n\n- Status: accepted\n- Deciders: Ada\n- Recorded as DEC-002\n\n"
        "## Considered Options\n\n- Token bucket in Redis (chosen)\n"
        "- One counter in the database (OPT-001, turned down)\n  - Said by Ada\n\n"
        "## Decision Outcome\n\n- **DEC-002** Token bucket in Redis — Ada\n  - Because: ten times faster\n\n"
        "## Not settled (0)\n\n- Nothing.\n"
    }
    assert files(rt)[1] == {}


def test_those_who_decided_are_named_beside_who_recorded_it() -> None:
    rt = Table(few_steps(step("00-01", "Scope"))).start().rt
    rt = told(rt, "decision: Redis; decided by: Grace; Linus")
    (text,) = files(rt)[1].values()

    assert "- Deciders: Grace, Linus\n- Recorded as DEC-001 by Ada\n" in text
    assert "**DEC-001** Redis — decided by Grace and Linus, recorded by Ada\n" in text


def test_one_that_was_replaced_says_by_which() -> None:
    """Only what changed is written again; a decision that has other words keeps its file."""
    rt, before = files(a_roundtable())
    patch = Patch(id="DEC-002", set={"text": "Token bucket, in Redis"})
    rt = rt.heard(ADA, "…", ts="1700009999.000100", part=LinePhase.CLARIFYING, entries=[patch])
    rt = told(rt, "decision: Sliding window; replaces: DEC-002")
    rt, edits = specifying.written(rt, PLAYBOOK)

    text = before[SECOND]
    for edit in edits:
        text = edit.apply(text) if edit.path == SECOND else text
    assert {one.path for one in edits if one.path.startswith("adr/")} == {
        SECOND,
        "adr/0003-sliding-window.md",
    }
    assert "- Status: superseded by [DEC-003](0003-sliding-window.md)" in text
    assert "**DEC-002** Token bucket, in Redis" in text


def test_what_people_change_in_it_is_read_back() -> None:
    """As a proposal: in Slack a person decides. Lines that no form knows stay as a remark."""
    rt, before = files(a_roundtable())
    edits = [one for one in specifying.written(a_roundtable(), PLAYBOOK)[1] if one.path == SECOND]
    (outcome,) = (one for one in edits if isinstance(one, SectionEdit) and one.heading == adr.OUTCOME)
    written = outcome.found(before[SECOND])
    found = written.replace("ten times faster", "a hundred times faster") + "\n  Measured in May."
    hand = HandEdit(
        path=SECOND, heading=adr.OUTCOME, found=found, digest=digest_of(found), written=written,
        author="Linus", commit="4b29257",
    )  # fmt: skip

    rt = specifying.read_back(rt, [hand], PLAYBOOK, before=Specification())
    entry = rt.specification.entries["DEC-002"]
    assert entry["reason"] == "ten times faster"
    assert (pending := entry.pending("reason"))
    assert (pending.value, pending.proposed.name) == ("a hundred times faster", "Linus")
    _, now = files(rt)
    assert "a hundred times faster" in now[SECOND]
    assert "Measured in May." in now[SECOND]


def test_a_foreign_file_is_only_added_to() -> None:
    """A section of ours that stands there with other words is left as it is."""
    rt = a_roundtable()
    foreign = "# Our own decision\n\n## Status\n\nRejected by the board.\n\nAnd a table.\n"
    text = foreign
    for edit in specifying.written(rt, PLAYBOOK)[1]:
        if edit.path == SECOND and not changed_by_hand(edit, text):
            text = edit.apply(text)

    assert additive(foreign, text)
    assert "Rejected by the board." in text
    assert "## Decision Outcome" in text


async def test_it_is_committed_with_the_other_files(tmp_path: Path) -> None:
    """In the item's folder."""
    rt, edits = specifying.written(a_roundtable(), PLAYBOOK)
    work = committed(queue_commit(rt, "step", edits=edits))
    async with GitWorkspace(tmp_path, seal=SEAL) as workspace:
        result = await workspace.commit(rt.slug, work, now=rt.now)

    assert result.unwritten == ()
    assert (tmp_path / "docs/requirements" / rt.slug / SECOND).read_text().startswith("# ADR-0002: Token")
