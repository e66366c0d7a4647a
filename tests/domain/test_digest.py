"""*Catch me up*: what has come since somebody's last words, and whom the meeting waits for."""

from bot.domain.messages.message import Action
from bot.domain.roundtable.digest import (
    POINTS_SHOWN,
    Digest,
    StateChange,
    caught_up,
    digest,
    links,
    waiting_for,
)
from bot.domain.specification.brief import BriefRow, BriefSection
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import folded
from bot.domain.transcript.fold import fold
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once
from tests.specification.meeting import claim


def since(table: Table, who: str) -> Digest:
    now = fold(enumerate(table.lines, start=1))
    last = next((one.last for one in now.people if one.key == who), 0)
    before = fold(enumerate(table.lines[:last], start=1)).progress.steps_completed
    known, specification = (folded(table.lines[:until]).specification for until in (last, None))
    change = StateChange(
        is_said=True,
        away=bool(last),
        steps=tuple(one for one in now.progress.steps_completed if one not in before),
        people={one.key: one.name for one in now.people},
        known=known,
        specification=specification,
    )
    return digest(change, table.playbook, who)


def rows(found: Digest) -> list[str]:
    return [f"{row.label}: {row.text}" for section in found.sections for row in section.rows]


@played_once
def evening() -> Table:
    """Grace answers once; the rest of a step and of its discussion goes on without her."""
    table = Table(few_steps()).start()
    table.say("Edits get lost.", who="grace").say("In tunnels.", who="ada").press(Action.FINISH_STEP)
    table.press(Action.ELABORATE).say("Decision: Keep photos out\nOpen question: Who pays?", who="ada").say(
        "done", who="ada"
    )
    return table


def test_what_has_come_since_ones_last_words() -> None:
    """Steps, and the rows of the brief that are new."""
    found = since(evening(), "grace")

    assert found.away
    assert [one.partition(" ")[0] for one in found.steps] == ["00-01"]
    assert rows(found) == ["DEC-001: Keep photos out. Decided by Ada."]
    assert found.not_settled == ("Q-001 Who pays? (no owner)",)


def test_what_is_not_settled_is_told_every_time() -> None:
    """The list of the brief, also what was told before."""
    table = evening().say("I see.", who="grace")
    found = since(table, "grace")

    assert "- **Not settled (1):**\n  - Q-001 Who pays? (no owner)" in caught_up("T", found, "you.")
    many = caught_up("T", found.but(not_settled=tuple(f"Point {at}" for at in range(9))), "you.")
    assert "  - Point 4\n  - and 4 more" in many


def entry(id: str, kind: str, state: EntryState = EntryState.ACCEPTED, **fields: str) -> Entry:
    counts = state is not EntryState.PROPOSED
    claims = {name: (claim(value, line="C1.1", accepted=counts),) for name, value in fields.items()}
    gone = "C1.2" if state is EntryState.WITHDRAWN else ""
    return Entry(id=id, kind=kind, withdrawn=gone, claims=claims)


def specification(*entries: Entry) -> Specification:
    return Specification(entries={one.id: one for one in entries})


def told(known: Specification, now: Specification) -> Digest:
    return digest(StateChange(known=known, specification=now), few_steps())


def test_what_is_withdrawn_or_only_suggested_is_not_told() -> None:
    """It was not decided. What is suggested is not settled."""
    found = told(
        Specification(),
        specification(
            entry("DEC-001", "decision", EntryState.WITHDRAWN, text="Keep photos out"),
            entry("DEC-002", "decision", EntryState.PROPOSED, text="Ship it"),
            entry("Q-001", "question", text="Who pays?", answer="The drivers."),
            entry("OBJ-001", "objection", text="Too slow", outcome="rejected"),
        ),
    )

    assert [one.partition(":")[0] for one in rows(found)] == ["Q-001", "OBJ-001"]
    assert found.not_settled == ("DEC-002 Ship it: Ada, not accepted",)


def test_only_what_changed_in_the_specification_is_news() -> None:
    """A proposal that was accepted meanwhile, other words, and what is new."""
    known = specification(
        entry("DEC-001", "decision", EntryState.PROPOSED, text="Keep photos out"),
        entry("DEC-002", "decision", text="Ship it"),
        entry("DEC-003", "decision", text="Ship it soon"),
        entry("Q-001", "question", text="Who pays?"),
    )
    now = specification(
        entry("DEC-001", "decision", text="Keep photos out"),
        entry("DEC-002", "decision", text="Ship it"),
        entry("DEC-003", "decision", text="Ship it in May"),
        entry("Q-001", "question", text="Who pays?"),
        entry("FR-001", "requirement", title="See the rest"),
    )
    found = told(known, now)

    assert [one.partition(".")[0] for one in rows(found)] == [
        "DEC-001: Keep photos out",
        "DEC-003: Ship it in May",
        "FR-001: See the rest",
    ]
    assert found.sources == {"DEC-001": "C1.1", "DEC-003": "C1.1", "FR-001": "C1.1"}
    assert "**Requirements:**\n  - FR-001: See the rest" in caught_up("Limits", found, "people.")


def test_whoever_never_spoke_is_told_all_of_it() -> None:
    """And who missed nothing so, kindly."""
    found = since(evening(), "linus")

    assert not found.away
    assert found.steps

    table = Table(few_steps()).start().say("Edits get lost.", who="grace").stop_paying()
    found = since(table, "grace")

    assert found.is_empty
    assert "Nothing new was recorded." in caught_up("T", found, "you.")


def test_a_long_absence_is_told_in_a_few_lines() -> None:
    """The newest of each kind, and how many there are."""
    many = tuple(BriefRow(text=f"Point {at} " + "x" * 900) for at in range(1, 41))
    sections = (BriefSection(title="Decisions", rows=many), BriefSection(title="Risks", rows=many))
    told = caught_up("T", Digest(sections=sections), "you.")

    assert "**Decisions**, 40 in all:" in told
    assert told.count("Point ") == 2 * POINTS_SHOWN
    assert "Point 40" in told
    assert len(told) < 3_000


def test_whom_it_waits_for() -> None:
    """While a step is open, in a discussion, at a menu, in a pause, and in the plan."""
    table = Table(few_steps()).start().say("Edits get lost.")

    said = waiting_for(table.rt, table.playbook)
    assert said.startswith("people, whom ")
    assert "asks about 00-01" in said
    assert "1 answer so far" in said

    table = Table(few_steps()).start().elaborate()
    assert "people. Everybody can speak" in waiting_for(table.rt, table.playbook)

    table.stop_paying().say("Jordan, what does one see?")
    assert waiting_for(table.rt, table.playbook).startswith("Jordan Park, who speaks next")

    table = Table(few_steps()).start().do_step()
    assert "menu" in waiting_for(table.rt, table.playbook)

    table.press_continue().stop()
    assert "**Resume**" in waiting_for(table.rt, table.playbook)

    table = Table(few_steps()).start().do_step().plan()

    assert "05-01 Plan" in waiting_for(table.rt, table.playbook)


def test_entries_that_only_other_files_show_are_named() -> None:
    found = told(Specification(), specification(entry("MOD-001", "module", name="Sync")))

    assert "- **In the other files:** MOD-001" in caught_up("Sync", found, "people.")


def test_links_lead_to_messages_of_the_thread() -> None:
    """A press is no message, and a roundtable without a permalink has no links."""
    rt = Table(few_steps()).start().rt.but(permalink="https://acme.slack.com/archives/C1/p1795374000000280")
    told = Digest(sources={"DEC-001": "C1.1795374231.000400", "DEC-002": "view.V1"})

    assert [(one.label, one.url.partition("?")[0]) for one in links(told, rt)] == [
        ("DEC-001", "https://acme.slack.com/archives/C1/p1795374231000400")
    ]
    assert links(told, rt.but(permalink="")) == ()


def test_what_waits_for_one_person_is_told_to_them() -> None:
    """In front of what all wait for."""
    told = caught_up("Limits", Digest(), "people.", for_you=("Did you agree on “A”? Marked by Ada.",))

    assert "**Waiting for you:** Did you agree on “A”? Marked by Ada.\n**Waiting for:** people." in told
