"""The first message of the thread: the brief as it stands, and at its end what came of it."""

from dataclasses import replace

import pytest

from bot.domain.messages import step_wording
from bot.domain.messages.message import Action, Emphasis, Link
from bot.domain.messages.root_card import RootScene, RootStatus, final_brief, root
from bot.domain.specification.brief import Brief, brief
from tests.domain.card_scene import behind_dots, choices, labels, part, shown
from tests.specification.meeting import SCHEMA, Meeting

RUNNING = RootScene(
    title="Rate limiting of the public API",
    item="rate-limiting",
    status=RootStatus.RUNNING,
    brief=Brief(),
    current="Core Feature Definition",
    place="Step 9 of 24",
    current_permalink="https://acme.example/p200",
    waiting=("Linus",),
    due="Tuesday 17:00",
    saved="saved 21:44 UTC in `brief.md`",
    people=("Ada", "Grace", "Linus"),
)
ENDED = "Analysis complete. rate-limiting has 2 points that are not settled."


@pytest.fixture
def meeting() -> Meeting:
    """A problem, a requirement, a decision, an objection, and who does what."""
    meeting = Meeting()
    meeting.say("Grace", "01-01", "problem: One busy client slows everybody else down")
    meeting.say("Ada", "01-06", "requirement: A limit per key\nAC: the 101st call in a second gets 429")
    meeting.say("Ada", "01-08", "Must: FR-001")
    meeting.say("Ada", "03-01", "decision: Token bucket in Redis, with a local fallback")
    meeting.say("Grace", "03-04", "objection: Redis becomes critical for every request")
    meeting.say("Grace", "03-04", "OBJ-001 outcome: kept as risk")
    meeting.say("Linus", "04-05", "open question: Who sets the limits per plan? -> Noor")
    meeting.say("Linus", "04-05", "action: Shadow mode and its dashboard -> Linus")
    meeting.propose({"id": "NFR-003", "kind": "quality", "new": True, "set": {"text": "exact"}}, step="01-05")
    return meeting


def brief_of(meeting: Meeting) -> Brief:
    return brief(SCHEMA, meeting.specification)


def test_it_is_the_brief_while_it_goes_on(meeting: Meeting) -> None:
    """No section is empty. Small print says at which step, who takes part, when it was saved, and who is waited for."""
    message = root(replace(RUNNING, brief=brief_of(meeting)))

    assert shown(message).splitlines() == [
        "Rate limiting of the public API",
        "The brief, as it stands. It changes while you talk.",
        "Problem",
        "One busy client slows everybody else down (Grace)",
        "Decisions",
        "DEC-001 | Token bucket in Redis, with a local fallback. Decided by Ada.",
        "Requirements",
        "FR-001 | A limit per key (must)",
        "  AC-001-01 | the 101st call in a second gets 429",
        "Risks",
        "OBJ-001 | Objection: Redis becomes critical for every request (Grace); kept as risk",
        "Next",
        "ACT-001 | Shadow mode and its dashboard -> Linus",
        "Not settled (3)",
        "NFR-003 exact: proposed by BusinessAnalyst (persona), not accepted",
        "Q-001 Who sets the limits per plan? (Noor)",
        "Nobody has said what is done first.",
        f"Step 9 of 24, **Core Feature Definition** · Ada, Grace, Linus · standard depth · {RUNNING.saved}",
        "**Waiting for:** Linus · due Tuesday 17:00",
    ]
    assert labels(message) == ["Catch me up", "What we have so far"]
    assert behind_dots(message) == ["Settings…", "Export the record", "Pause for today"]
    assert message.links == (Link(label="Core Feature Definition", url="https://acme.example/p200"),)


def test_it_is_short() -> None:
    """Five requirements, three of all else, and no row is longer than 140 characters."""
    meeting = Meeting()
    for number in range(7):
        meeting.say("Ada", "01-06", f"requirement: {'Sync ' * 40}{number}")
        meeting.say("Grace", "02-03", f"risk: The disk is full {number} times")
    message = root(replace(RUNNING, brief=brief_of(meeting)))

    requirements = [row for row in part(message, "Requirements") if not row.startswith(" ")]
    assert len(requirements) == 6
    assert requirements[-1] == "and 2 more: requirements-spec.md"
    assert len(requirements[0]) <= len("FR-001 | ") + 140
    assert requirements[0].endswith("…")
    assert len(part(message, "Risks")) == 4
    assert part(message, "Not settled (15)")[-1] == "and 12 more"


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
    """Who paused it, and one button."""
    message = root(replace(RUNNING, status=RootStatus.PAUSED, paused_by="Ada"))

    assert "**Paused by Ada.** Everything said so far is kept." in message.text
    assert [(one.action, one.emphasis) for one in choices(message)] == [
        (Action.RESUME, Emphasis.PRIMARY),
        (Action.READ, Emphasis.PLAIN),
    ]
    assert "Waiting for" not in message.text
    assert message.links == ()


def test_at_its_end_it_tells_what_came_of_it(meeting: Meeting) -> None:
    """With all that is not settled, and without a list of the steps that were left out."""
    done = "13 of 24 steps have content; go deeper for the others."
    ended = replace(
        RUNNING,
        status=RootStatus.COMPLETE,
        brief=brief_of(meeting),
        why={"DEC-001": "https://acme.example/p311"},
        ending=ENDED,
        done=done,
    )
    message = final_brief(ended)

    assert message.text.startswith(f"**Rate limiting of the public API**\n\n{ENDED}\n\n")
    assert shown(message).splitlines()[:3] == ["Rate limiting of the public API", ENDED, "Problem"]
    assert shown(message).splitlines()[-1] == done
    assert message.links == (Link(label="DEC-001: why", url="https://acme.example/p311"),)
    assert [(one.label, one.value) for one in message.choices] == [
        ("Plan it", ""),
        ("Read it all", "so far rate-limiting"),
    ]
    assert root(ended).text.startswith("**Roundtable: Rate limiting of the public API**")


def test_who_decided_and_what_became_of_objections(meeting: Meeting) -> None:
    """Those who are named decided, and who said so recorded it; an objection has its answer."""
    meeting.say("Ada", "03-02", "decision: Two weeks of shadow mode; decided by: Grace; Linus")
    meeting.say("Grace", "03-04", "objection: Shadow mode doubles the load")
    meeting.say("Linus", "03-04", "OBJ-002 outcome: rejected")
    meeting.say("Linus", "03-04", "OBJ-002 what became of it: it was measured")
    message = final_brief(replace(RUNNING, status=RootStatus.COMPLETE, brief=brief_of(meeting), ending=ENDED))

    assert part(message, "Decisions")[1:] == [
        "DEC-002 | Two weeks of shadow mode. Decided by Grace and Linus, recorded by Ada.",
        "OBJ-002 | Objection: Shadow mode doubles the load (Grace); rejected: it was measured",
    ]


def test_nothing_is_said_that_is_not_known() -> None:
    """An analysis in which nothing was recorded has no heading for it."""
    message = final_brief(replace(RUNNING, status=RootStatus.COMPLETE, ending=ENDED))

    assert shown(message).splitlines() == ["Rate limiting of the public API", ENDED]


def test_ready_is_said_only_when_nothing_is_lacking() -> None:
    """The words of the end; without any point that is open, they say what is missing."""
    said = step_wording.analysis_complete

    assert said("offline-sync", 0, ()) == "Analysis complete. offline-sync is ready to build."
    assert said("a", 6, ("1 contested",)) == "Analysis complete. a has 6 points that are not settled."
    assert said("a", 1, ("1 contested",)) == "Analysis complete. a has 1 point that is not settled."
    assert said("a", 0, ("no requirement",)) == "Analysis complete. a has no requirement."


def test_what_is_not_settled_at_the_end_can_be_settled_by_a_press(meeting: Meeting) -> None:
    """Each row with an entry opens its form; while the analysis goes on, cards and prompts do that."""
    ended = replace(RUNNING, status=RootStatus.COMPLETE, brief=brief_of(meeting), ending=ENDED)
    card = final_brief(ended).card
    assert card

    rows = [(one.rows[0].text.partition(" ")[0], one.button) for one in card.parts[-3:]]
    assert [(row, button.value if button else "") for row, button in rows] == [
        ("NFR-003", "NFR-003"),
        ("Q-001", "Q-001"),
        ("Nobody", ""),
    ]
    assert "Settle…" not in str(root(replace(RUNNING, brief=brief_of(meeting))))


def test_ten_points_are_listed_at_the_end_and_five_have_a_button() -> None:
    meeting = Meeting()
    for number in range(15):
        meeting.say("Grace", "02-03", f"risk: The disk is full {number} times")
    ended = replace(RUNNING, status=RootStatus.COMPLETE, brief=brief_of(meeting), ending=ENDED)
    card = final_brief(ended).card
    assert card

    points = [one for one in card.parts if one.button]
    assert len(points) == 5
    assert [row.text for row in card.parts[-1].rows][-1] == "and 5 more"
    assert len(card.parts[-1].rows) == 6
