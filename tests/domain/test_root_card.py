"""The first message of the thread: where the analysis stands, and at its end what came of it."""

from dataclasses import replace

import pytest

from bot.domain.messages import step_wording
from bot.domain.messages.message import Action, Emphasis, Link
from bot.domain.messages.root_card import (
    PhaseProgress,
    RootScene,
    RootStatus,
    SkippedInRoot,
    final_brief,
    root,
)
from tests.domain.card_scene import behind_dots, choices, labels, part, shown
from tests.specification.meeting import Meeting

PHASES = (
    PhaseProgress(name="Quick Scan", done=3, steps=3),
    PhaseProgress(name="Requirements", done=5, steps=8),
    PhaseProgress(name="Impact Analysis", done=0, steps=4),
    PhaseProgress(name="Architecture", done=0, steps=4),
    PhaseProgress(name="Design", done=0, steps=5),
)
RUNNING = RootScene(
    title="Rate limiting of the public API",
    slug="rate-limiting",
    item="rate-limiting",
    status=RootStatus.RUNNING,
    goal="Stop one busy client from slowing everybody else down.",
    phases=PHASES,
    specification=Meeting().specification,
    current="Core Feature Definition",
    current_permalink="https://acme.example/p200",
    persona="Maya Chen",
    waiting=("Linus",),
    due="Tuesday 17:00",
    people=("Ada", "Grace", "Linus"),
    personas=("Maya", "Alex", "Jordan"),
)
DONE = tuple(one.but(done=one.steps) for one in PHASES)
ENDED = "Analysis ended: 23 of 24 steps discussed; 1 skipped."


@pytest.fixture
def meeting() -> Meeting:
    """Decided, asked, objected, and who does what."""
    meeting = Meeting()
    meeting.say("Ada", "03-01", "decision: Token bucket in Redis, with a local fallback")
    meeting.say("Grace", "03-04", "objection: Redis becomes critical for every request")
    meeting.say("Grace", "03-04", "OBJ-001 outcome: kept as risk")
    meeting.say("Linus", "04-05", "open question: Who sets the limits per plan? -> Noor")
    meeting.say("Linus", "04-05", "action: Shadow mode and its dashboard -> Linus")
    meeting.propose({"id": "NFR-003", "kind": "quality", "new": True, "set": {"text": "exact"}}, step="01-05")
    return meeting


def test_while_it_goes_on() -> None:
    """Progress, the open step, and who is waited for."""
    message = root(RUNNING)

    assert shown(message).splitlines() == [
        "Rate limiting of the public API",
        "Stop one busy client from slowing everybody else down.",
        "▰▰▰▱▱▱▱▱▱▱  **8 of 24 steps**",
        "✓ Quick Scan  3 of 3",
        "▸ **Requirements  5 of 8**",
        "○ Impact Analysis  0 of 4",
        "○ Architecture  0 of 4",
        "○ Design  0 of 5",
        "**Now:** Core Feature Definition, with Maya Chen",
        "**Waiting for:** Linus · due Tuesday 17:00",
        "Ada, Grace, Linus · with Maya, Alex and Jordan · standard depth",
    ]
    assert labels(message) == ["Catch me up", "What we have so far"]
    assert behind_dots(message) == ["Settings…", "Export the record", "Pause for today"]
    assert message.links == (Link(label="Core Feature Definition", url="https://acme.example/p200"),)


def test_it_says_who_thinks_with_a_model() -> None:
    """And who follows rules."""
    models = {"Maya": "anthropic:one", "Alex": "anthropic:one", "Jordan": ""}

    assert "Maya and Alex think with anthropic:one. Jordan follows rules, without a model." in shown(
        root(replace(RUNNING, models=models))
    )


def test_its_title_can_be_read_back_from_the_thread() -> None:
    """A thread whose record is lost is known by its first message."""
    for status in RootStatus:
        message = root(replace(RUNNING, status=status))
        assert step_wording.title_of_root(message.text) == "Rate limiting of the public API"


def test_paused() -> None:
    """Who paused it, what comes next, and one button."""
    message = root(replace(RUNNING, status=RootStatus.PAUSED, paused_by="Ada"))

    assert (
        "**Paused by Ada.** Everything said so far is kept.\n**Next:** Core Feature Definition"
        in message.text
    )
    assert [(one.action, one.emphasis) for one in choices(message)] == [
        (Action.RESUME, Emphasis.PRIMARY),
        (Action.READ, Emphasis.PLAIN),
    ]
    assert "Waiting for" not in message.text


def test_at_its_end_it_tells_what_came_of_it(meeting: Meeting) -> None:
    """Who decided, what is open, and what was left out, with a button to open it."""
    skipped = SkippedInRoot(step_id="02-03", title="Risk Zone Analysis", why="skipped by Ada")
    message = root(
        replace(
            RUNNING,
            status=RootStatus.COMPLETE,
            specification=meeting.specification,
            phases=(*DONE[:2], DONE[2].but(done=3), *DONE[3:]),
            skipped=(skipped,),
            why={"DEC-001": "https://acme.example/p311"},
            ending=ENDED,
            not_settled=("Q-001 Who sets the limits per plan? (Noor)", "and 12 more"),
            can_plan=True,
        )
    )

    assert shown(message).splitlines() == [
        "Rate limiting of the public API",
        ENDED,
        "Decided",
        "DEC-001 | Token bucket in Redis, with a local fallback – Ada",
        "Objections kept as risk",
        "OBJ-001 | Redis becomes critical for every request – Grace, kept as risk",
        "Who does what",
        "ACT-001 | Shadow mode and its dashboard – Linus",
        "Not settled",
        "Q-001 Who sets the limits per plan? (Noor)",
        "and 12 more",
        "Not done",
        "02-03 | Risk Zone Analysis – skipped by Ada",
    ]
    assert [(one.action, one.value) for one in choices(message)][-1] == (Action.REOPEN, "02-03")
    assert message.choices[0].action is Action.PLAN
    assert message.links == (Link(label="DEC-001: why", url="https://acme.example/p311"),)


def test_who_decided_and_what_became_of_objections(meeting: Meeting) -> None:
    """Those who are named decided, and who said so recorded it; an objection has its answer."""
    meeting.say("Ada", "03-02", "decision: Two weeks of shadow mode; decided by: Grace; Linus")
    meeting.say("Grace", "03-04", "objection: Shadow mode doubles the load")
    meeting.say("Linus", "03-04", "OBJ-002 outcome: rejected")
    meeting.say("Linus", "03-04", "OBJ-002 what became of it: it was measured")
    message = final_brief(
        replace(RUNNING, status=RootStatus.COMPLETE, specification=meeting.specification, ending=ENDED)
    )

    assert "DEC-002 | Two weeks of shadow mode – decided by Grace and Linus, recorded by Ada" in shown(
        message
    )
    answered = "OBJ-002 | Shadow mode doubles the load – Grace, rejected: it was measured"
    assert f"Objections with an answer\n{answered}" in shown(message)
    assert [(one.label, one.value) for one in message.choices] == [("Read it all", "so far rate-limiting")]


def test_what_was_left_out_is_listed_to_a_limit() -> None:
    skipped = tuple(SkippedInRoot(step_id=f"01-{n:02}", title="Step") for n in range(1, 11))
    message = final_brief(replace(RUNNING, status=RootStatus.COMPLETE, skipped=skipped))

    assert shown(message).splitlines()[-1] == "and 2 more"


def test_nothing_is_said_that_is_not_known() -> None:
    """An analysis in which nothing was decided has no heading for it."""
    message = final_brief(replace(RUNNING, status=RootStatus.COMPLETE, ending=ENDED))

    assert shown(message).splitlines() == ["Rate limiting of the public API", ENDED]
    assert part(message, "Decided") == []
