"""What the card says of a draft and its review: each thing that is wrong is one line, with what to do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import ReviewedBy
from bot.domain.messages import draft_wording
from bot.domain.messages.draft_wording import FAULTS
from bot.domain.messages.message import Action, CardPart
from bot.domain.roundtable.effects import ReviewDraft, Speak
from bot.domain.roundtable.inputs import TimeCame
from bot.domain.roundtable.outcomes import (
    ClaimVerdict,
    Contradiction,
    DraftQuestion,
    Failed,
    ReviewObjection,
)
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.specification.claim_check import NOT_CONFIRMED
from bot.domain.specification.claims import Check, Claim, EntryState, Quote
from bot.domain.specification.entries import unconfirmed
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import LEFT_OUT, UNSEEN
from bot.errors import NotNow
from tests.domain.books import thinking
from tests.domain.table import SORRY, Table, played_once, shipped

AGAIN = ["Try again", "Go on without"]
SAID = "We need it for field work, and phones get lost."
DENIED = "another model found nothing"


def book(by: ReviewedBy = ReviewedBy.OTHER) -> Playbook:
    playbook = thinking(shipped())
    return replace(playbook, policy=playbook.policy.but(reviewed_by=by))


def quoting(id: str, kind: str, text: str, *quotes: Quote) -> Patch:
    """A new entry that rests on these words of people."""
    lines = dict.fromkeys(one.line for one in quotes)
    return Patch(
        id=id, kind=kind, new=True, set={"text": text}, quotes={"text": quotes}, sources=tuple(lines)
    )


def verdicts(rt: Roundtable, why: str = "") -> tuple[ClaimVerdict, ...]:
    return tuple(
        ClaimVerdict(id=entry.id, field=field, at=claim.at, why=why)
        for entry, field, claim in unconfirmed(rt.specification)
    )


def drafted(by: ReviewedBy = ReviewedBy.OTHER, *, fails: str = "", until: str = "", **review: Any) -> Table:
    """Maya proposes a risk in other words than its quote; the *review* says this, besides its verdicts."""
    table = Table(book(by)).start().stop_paying()
    table.say(SAID, who="grace").pay_up_to("speak")
    quote = Quote(line=table.rt.line_of(table.rt.answers[0].ts), words="phones get lost")
    found = quoting("RSK-001", "risk", "Phones are lost", quote)
    table.world.more = {"patches": (found.but(unverified={"text": NOT_CONFIRMED}),)}
    if fails:
        table.fail("review", fails)

    def found_by_review(rt: Roundtable) -> Mapping[str, Any]:
        return {"verdicts": verdicts(rt), **review}

    table.world.review = found_by_review
    table.pay_up_to(until) if until else table.resume_paying()
    table.world.more = {}
    return table


@pytest.mark.parametrize("by", [ReviewedBy.OTHER, ReviewedBy.NOBODY])
def test_the_end_of_a_discussion_is_reviewed_once_with_what_people_said_there(by: ReviewedBy) -> None:
    """Also where the draft of it has nothing in other words, or nothing at all."""
    table = Table(book(by)).start().say(SAID, who="grace").press(Action.FINISH_STEP)
    table.press(Action.ELABORATE).say("Phones get lost.", who="grace").say("Every week.", who="ada")
    said = [turn.line for turn in table.rt.debate.turns if turn.human]
    table.completing.clear()
    table.world.more = {"patches": ()}
    table.say("done").say("Thanks!")

    drafted = [one for one in table.completing if isinstance(one, Speak) and one.task == "draft"]
    assert drafted
    reviews = [one.said for one in table.completing if isinstance(one, ReviewDraft) and one.said]
    assert reviews == ([] if by is ReviewedBy.NOBODY else [tuple(said)])


def objected_to() -> Table:
    """The review confirms nothing."""
    quote = Quote(line="C1.1", words="phones get lost")
    against = ReviewObjection(text="Phones are insured.", quotes=(quote,), model="large")
    return drafted(verdicts=(), objection=against)


@played_once
def failed(reason: str, *, raw: str = "") -> Table:
    """A draft."""
    table = Table(book()).start()
    facts = {"raw": raw, "provider": "scripted"} if raw else {}
    table.world.failing["speak"] = [
        Failed(key="", at="", effect="", reason=reason, sentence=SORRY, facts=facts)
    ]
    return table.say(SAID, who="grace")


def risk(table: Table) -> Claim:
    claim = table.rt.specification.entries["RSK-001"].claim("text")
    assert claim
    return claim


def notes(table: Table) -> list[tuple[str, list[str]]]:
    """The lines of drafts and reviews, with their buttons."""
    card = table.card.card
    assert card
    places = [place for place, one in enumerate(card.parts) if one.prose.startswith("_A suggestion counts")]
    after = card.parts[places[0] + 1 :] if places else card.parts
    told = [one for one in after if one.prose and not one.title and not _is_of_step(one)]
    return [(one.prose, [choice.label for choice in one.buttons]) for one in told]


def _is_of_step(part: CardPart) -> bool:
    return any(choice.action in {Action.FILE, Action.SORT} for choice in part.buttons) or "?" in part.prose


# --- reviews -------------------------------------------------------------------------------------------------------


def test_a_draft_is_shown_at_once_and_the_review_follows() -> None:
    """The card says meanwhile that it is being checked."""
    table = drafted(until="review")
    assert notes(table) == [(FAULTS["checking"][0], [])]
    assert risk(table).is_unchecked

    table.resume_paying()

    assert (risk(table).check, risk(table).reason) == (Check.AGREED, "")
    assert notes(table) == []
    assert not risk(table).accepted


def test_what_a_review_does_not_confirm_keeps_its_reason() -> None:
    table = drafted(verdicts=())
    assert (risk(table).check, risk(table).reason) == (Check.UNCHECKED, NOT_CONFIRMED)

    table.world.review = lambda rt: {"verdicts": verdicts(rt, DENIED)}
    table.press(Action.CHECK_AGAIN)

    assert (risk(table).check, risk(table).reason) == (Check.UNCHECKED, DENIED)
    assert notes(table) == []


@pytest.mark.parametrize("reason", ["timeout", "refused", "unstructured", "unavailable"])
def test_a_review_that_fails_leaves_one_line(reason: str) -> None:
    """However it fails; the button asks once more, and what the review took is counted."""
    table = drafted(fails=reason)
    assert notes(table) == [("Nobody checked this draft: 1 value is unchecked.", ["Check again"])]

    table.press(Action.CHECK_AGAIN)

    assert risk(table).check is Check.AGREED
    assert notes(table) == []


def test_what_a_failed_review_took_is_counted_once() -> None:
    table = Table(book()).start()
    took = {"provider": "scripted", "model": "one", "tokens_in": 200, "tokens_out": 20}
    table.world.failing["review"] = [
        Failed(key="", at="", effect="", reason="refused", sentence=SORRY, facts=took)
    ]
    before = table.rt.purse.spent.tokens
    table.rt = table.stop_paying().rt.queueing(ReviewDraft())
    table.resume_paying()

    assert table.rt.purse.spent.tokens == before + 220


def test_without_a_reviewer_nothing_is_asked() -> None:
    """The values say themselves that they are unchecked."""
    table = drafted(ReviewedBy.NOBODY)

    assert risk(table).reason == NOT_CONFIRMED
    assert notes(table) == []
    with pytest.raises(NotNow):
        table.press(Action.CHECK_AGAIN)


def test_one_mind_is_told_once_for_the_item() -> None:
    table = drafted(ReviewedBy.SAME)
    assert notes(table) == [(FAULTS["one_mind"][0], [])]

    table.do_step().press_continue()

    assert FAULTS["one_mind"][0] not in table.card.text


def test_what_of_a_draft_was_left_out_is_counted_in_one_line() -> None:
    """By the reason; the next draft takes its place."""
    table = Table(book()).start()
    counts = {draft_wording.DOES_NOT_FIT: 2, draft_wording.TOO_MANY: 1}
    table.world.more, table.world.facts = {"patches": ()}, {LEFT_OUT: counts}
    table.say(SAID, who="grace")
    told = f"Left out of Maya's draft: 2 because {draft_wording.DOES_NOT_FIT}, 1 because it is beyond the first 40."

    assert [one for one in notes(table) if "draft" in one[0]] == [(told, [])]
    table.world.facts = {}
    table.say("And a pen.", who="grace")
    assert "Left out" not in table.card.text


def test_the_objection_is_one_line_that_acts_on_nothing() -> None:
    """With its quote and the model; who hides it is on record."""
    table = objected_to()
    shown = "**Against this**: Phones are insured. “phones get lost” (large)"
    unchecked, *others = notes(table)
    assert others == [(shown, ["Answer", "Not relevant"])]
    assert not table.rt.specification.active("objection")

    table.press(Action.NOT_RELEVANT, who="grace")

    assert notes(table) == [unchecked]
    assert table.rt.lines[-1].content == "Grace pressed Not relevant: Phones are insured."
    assert table.rt.lines[-1].person == "grace"
    assert any(shown in line.content for line in table.rt.lines)


def test_contradictions_are_lines() -> None:
    """Each says which two, and why."""
    table = drafted(contradictions=(Contradiction(one="RSK-001", other="C1.1", because="one says lost"),))

    assert "**RSK-001** and **C1.1** cannot both hold: one says lost" in table.card.text


@pytest.mark.parametrize(("named", "asked"), [("grace", "**Grace**: "), ("Zoe", "")])
def test_who_was_not_heard_is_asked_on_the_next_card(named: str, asked: str) -> None:
    """By name, if it is one of the people. Another draft of this step does not take the question away."""
    table = drafted(missing=DraftQuestion(text="How many a week?", to=named))
    assert "How many a week?" not in table.card.text

    table.say("And a lost phone is replaced.", who="ada").do_step().press_continue()

    assert f"{asked}How many a week?" in table.card.text
    assert "Zoe" not in table.card.text


def test_a_value_that_was_changed_meanwhile_keeps_its_mark() -> None:
    """The verdict was about another one."""
    table = drafted(verdicts=())
    claim = risk(table)
    old = ClaimVerdict(id="RSK-001", field="text", at=claim.at - 1)
    table.world.review = lambda _: {"verdicts": (old,)}
    table.press(Action.CHECK_AGAIN)

    assert risk(table).reason == NOT_CONFIRMED


def test_only_a_review_gives_verdicts() -> None:
    """A person who writes the same in a line confirms nothing, and code's own marks stay."""
    table = drafted(verdicts=())
    meeting = table.rt.specification
    patch = Patch(id="RSK-001", checked={"text": ""})
    table.rt = table.rt.recording("Ada.", part=table.rt.part, person="ada", user_name="Ada", entries=[patch])

    assert table.rt.specification.entries["RSK-001"] == meeting.entries["RSK-001"]


# --- after the step was finished -----------------------------------------------------------------------------------


def left(table: Table) -> list[CardPart]:
    """The line about what the last step left, and what stands below it."""
    card = table.card.card
    assert card
    places = [place for place, one in enumerate(card.parts) if one.prose.startswith("**From the last step**")]
    return [one for place in places for one in card.parts[place : place + 3] if one.prose or one.options]


def drafted_late(doubt: str = "") -> Table:
    """Two risks that Maya proposes when the step is finished already; *doubt* is why one is unchecked."""
    table = Table(book(ReviewedBy.NOBODY)).start().stop_paying()
    table.say("We need it for field work.", who="grace").say("Phones get lost.", who="grace")
    table.press(Action.FINISH_STEP).pay_up_to("speak")
    quotes = [Quote(line=table.rt.line_of(one.ts), words=one.text) for one in table.rt.answers]
    first, second = (
        quoting(f"RSK-00{number}", "risk", quote.words, quote) for number, quote in enumerate(quotes, start=1)
    )
    table.world.more = {"patches": (first.but(unverified={"text": doubt} if doubt else {}), second)}
    table.resume_paying()
    table.world.more = {}
    return table.press(Action.CONTINUE)


def test_what_was_drafted_after_the_last_step_is_asked_on_the_next_card() -> None:
    """One line with its press, and every value that the press takes."""
    table = drafted_late()
    line, *entries = left(table)
    assert line.prose == "**From the last step**: 2 entries. Right?"
    assert [one.rows[0].id for one in entries] == ["RSK-001", "RSK-002"]
    (keep,) = line.buttons
    assert keep.label == "Yes, keep all 2"

    table.press_outside(Action.HOLDS, value=keep.value, who="grace")

    states = {table.rt.specification.entries[id].state for id in ("RSK-001", "RSK-002")}
    assert states == {EntryState.ACCEPTED}
    assert "Grace kept RSK-001, RSK-002." in [one.content for one in table.lines]
    assert left(table) == []


def test_what_is_unchecked_of_the_last_step_needs_its_own_press() -> None:
    table = drafted_late(NOT_CONFIRMED)
    line, first, _ = left(table)
    assert [(one.label, one.value) for one in line.buttons] == [("Keep the 1 that is checked", "RSK-002")]
    accept, _, leave_out = first.options

    table.press_outside(leave_out.action, value=leave_out.value)

    assert not table.rt.specification.lives("RSK-001")
    assert accept.value == leave_out.value == "RSK-001"


# --- drafts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "line", "buttons"),
    [
        ("refused", "The model refused this step, so Maya has no draft.", ["Ask another model", *AGAIN]),
        ("unstructured", "Maya's answer could not be read as entries.", [AGAIN[0], "Show", AGAIN[1]]),
        ("empty", "Maya has no draft: the model said nothing.", AGAIN),
        ("cut_off", "Maya has no draft: the answer of the model was too long.", AGAIN),
        ("busy", "Maya has no draft: the model gave no answer that could be used.", AGAIN),
    ],
)
def test_a_draft_that_fails_leaves_one_line(reason: str, line: str, buttons: list[str]) -> None:
    """With what to do about it."""
    table = failed(reason, raw="{entries: …" if reason == "unstructured" else "")

    told = [one for one in notes(table) if one[0] == line]
    assert told == [(line, buttons)]
    assert table.menu.offers(Action.READ_AGAIN)
    assert "not read by" not in table.card.text

    table.press(Action.READ_AGAIN)

    assert line not in table.card.text


def test_another_model_drafts_what_one_refused() -> None:
    table = failed("refused").press(Action.ASK_OTHER)

    (asked,) = [one for one in table.completing if isinstance(one, Speak) and one.by_other]
    assert asked.task == "draft"


def test_only_where_there_is_another_model() -> None:
    table = Table(book(ReviewedBy.SAME)).start().fail("speak", "refused").say(SAID, who="grace")

    assert not table.menu.offers(Action.ASK_OTHER)


def test_an_answer_that_cannot_be_used_says_why() -> None:
    """Shown to who asks; who looked too long says so, and entries without room are named."""
    table = Table(book()).start()
    table.world.facts = {"raw": "{entries: ```"}
    table.say(SAID, who="grace")
    line = "Maya's answer could not be read as entries. What could be read is kept as unchecked."
    assert (line, ["Show"]) in notes(table)

    table.press(Action.SHOW_ANSWER, who="grace")

    assert table.world.told[-1][0] == "grace"
    assert "{entries: " in table.world.told[-1][1].text

    table = Table(book()).start()
    table.world.facts = {"stopped_looking": True, "looked_at": [{"ids": []}] * 6}
    table.say(SAID, who="grace")

    assert ("Maya stopped after 6 looks; this rests on what was seen.", []) in notes(table)

    table = Table(book()).start()
    table.world.facts = {UNSEEN: "FR-004 to FR-090"}
    table.say(SAID, who="grace")

    assert ("There was no room to show Maya all entries. Not seen: FR-004 to FR-090.", []) in notes(table)


def test_after_20_seconds_the_card_says_that_a_draft_is_made() -> None:
    """*Stop* ends the call and nothing else: what people said waits to be read."""
    table = Table(book()).start().stop_paying()
    table.say(SAID, who="grace").pay_up_to("speak")
    due = table.rt.timers[TimerName.SLOW]
    assert "20 s" not in table.card.text

    table.rt = table.decided(
        TimeCame(key="slow", at=due, name=TimerName.SLOW, due=due),
    )
    table.pay_up_to("speak")
    assert "Maya is drafting, for more than 20 s." in table.card.text

    table.press(Action.STOP_DRAFT)

    assert not table.rt.has_pending(Speak)
    assert "Ada chose: Stop" in [line.content for line in table.rt.lines]
    assert [one.text for one in table.rt.unread] == [SAID]
    assert table.menu.offers(Action.READ_AGAIN)
