"""Who is waited for in a step, when the thread is asked about it, and what people answer to that."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import ChannelRules, Policies
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.attendance import ReminderKind
from bot.domain.roundtable.inputs import MarkMessage, Press, SetDue
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.timers import TimerName, due_at
from bot.domain.roundtable.transitions import attending
from bot.domain.roundtable.waiting import WaitKind, awaited, in_words, participants, waits_for
from bot.domain.values.timestamps import QuietHours, moment, seconds
from bot.errors import NotNow
from tests.domain.table import HERE, Table, person, played_once, shipped


def held(playbook: Playbook | None = None) -> Table:
    """Ada has started, and named Grace and Linus; a step is open."""
    return Table(playbook).start(participants=("grace", "linus"), depth=None)


def later(table: Table, hours: float) -> str:
    return moment(datetime.fromtimestamp(seconds(table.rt.now) + hours * 3600, tz=UTC))


def comes(table: Table, at: str) -> Table:
    """Time passes, and the engine tells what is due."""
    for event in due_at(table.rt, at):
        table.rt = table.decided(event)
    return table.resume_paying()


def pressed(table: Table, kind: ReminderKind, action: str, *, who: str, value: str = "") -> Table:
    reminder = table.rt.attendance.open_one(kind)
    assert reminder
    token, ts = reminder.token, table.rt.stands_at(reminder.token)
    return table.does(Press, who=who, action=action, token=token, ts=ts, value=value)


def thread(table: Table) -> list[Message]:
    return [one.message for one in table.world.thread]


def roll_calls(table: Table) -> list[Message]:
    return [one for one in thread(table) if one.pings or one.text.startswith("Asked")]


def due(table: Table, days: int = 1) -> Table:
    """At 17:00 on a Friday, by Ada's clock."""
    day = later(table, 24 * days)[:10]
    return table.say(f"due {day} 17:00")


def test_who_is_named_at_the_start_takes_part() -> None:
    """Before they have said a word; who speaks joins them."""
    table = held()
    table.say("Edits get lost in tunnels.", who="zoe")

    assert participants(table.rt) == ("ada", "grace", "linus", "zoe")
    assert awaited(table.rt) == ("ada", "grace", "linus")
    assert "not yet: Ada, Grace, Linus" in str(table.card)


def test_what_waits_for_a_person() -> None:
    """The open step until they answer, a question under their name, objections to what they decided, their own."""
    table = held()
    asked = waits_for(table.rt, "grace", table.playbook)
    assert [one.kind for one in asked] == [WaitKind.STEP]

    table.say("Decision: Last write wins\nOpen question: Who pays? -> Linus", who="grace")
    assert waits_for(table.rt, "grace", table.playbook) == ()
    kinds = [one.kind for one in waits_for(table.rt, "linus", table.playbook)]
    assert kinds == [WaitKind.STEP, WaitKind.QUESTION]

    table.stop()
    assert waits_for(table.rt, "linus", table.playbook) == ()


def told_to(table: Table, who: str) -> list[str]:
    return [in_words(one) for one in waits_for(table.rt, who, table.playbook)]


def test_an_agreement_waits_for_those_who_have_not_said_so() -> None:
    """And for everybody when all have: somebody has to press."""
    table = held().elaborate().say("option: a queue")
    table.say("for A").say("for A", who="grace")
    asked = "Did you agree on “a queue”? Ada and Grace did."
    assert told_to(table, "linus") == [asked]
    assert told_to(table, "ada") == []

    table.say("for A", who="linus")
    assert told_to(table, "ada") == ["Did you agree on “a queue”? Ada, Grace and Linus did."]
    table.say("yes", who="linus")
    assert told_to(table, "ada") == []


def test_a_marked_decision_waits_for_all_and_a_mark_without_a_reason_for_its_owner() -> None:
    table, ts = held(), "1767225700.000100"
    table.say("600 a minute", who="grace", ts=ts)
    for who, kind in (("ada", MarkKind.DECISION), ("linus", MarkKind.OBJECTION)):
        table.does(MarkMessage, who=who, ts=ts, mark=kind, is_reaction=True)
    asked = "Did you agree on “600 a minute”? Marked by Ada."
    why = "Why do you object to “600 a minute”? Write `objection: …` in the thread."
    assert told_to(table, "grace") == [asked]
    assert told_to(table, "linus")[1:] == [asked, why]

    table.say("not yet", who="grace")
    assert asked not in told_to(table, "linus")


def test_an_objection_waits_for_who_made_the_decision_that_it_names() -> None:
    """Not for the others; and for its owner until something becomes of it."""
    table = held().say("decision: 600 a minute", who="grace")
    table.say("objection: DEC-001 is too low for exports", who="linus")

    assert "Linus objects to what you decided: “DEC-001 is too low for exports”" in told_to(table, "grace")
    assert not [one for one in told_to(table, "ada") if "object" in one]
    assert told_to(table, "linus")[-1].startswith("Your objection is still open")


def test_a_nudge_calls_those_who_were_not_heard_once() -> None:
    """Not whoever asks for it has to answer first, and nobody is called who has answered."""
    table = held()
    table.say("Edits get lost.", who="ada").say("nudge", who="ada").say("nudge", who="ada")

    [call] = roll_calls(table)
    assert call.pings == ("grace", "linus")
    assert "I have asked about this step already" in table.world.told[-1][1].text
    assert [answer.text for answer in table.rt.answers] == ["Edits get lost."]


def test_a_roll_call_says_who_answered_and_collapses() -> None:
    """Also typed; the record has who has nothing to add."""
    table = held()
    table.say("Edits get lost.").say("nudge").say("nothing to add", who="grace")
    [call] = roll_calls(table)
    assert call.note == "Grace has nothing to add"
    pressed(table, ReminderKind.ROLL_CALL, Action.LATER, who="linus")

    [call] = roll_calls(table)
    assert call.text == "Asked Grace and Linus · Grace has nothing to add · Linus wants to answer tomorrow"
    assert not call.choices
    assert "Grace has nothing to add." in [line.content for line in table.rt.lines]
    assert awaited(table.rt) == ("linus",)


def test_a_word_that_nobody_asked_for_is_an_answer() -> None:
    """`tomorrow` answers when it is due, as long as nobody was called; `due` in a sentence, too."""
    table = held().say("tomorrow", who="grace").say("nothing to add", who="linus")

    assert [answer.text for answer in table.rt.answers] == ["tomorrow", "nothing to add"]

    words = "due diligence is what the partners ask for"
    table = held().say(words, who="grace")

    assert words in [str(one["text"]) for one in table.rt.specification.active("note")]


def test_the_roll_call_comes_four_working_hours_before() -> None:
    """And the deadline when it is due; each once, also when nothing ran for a week."""
    table = due(held())
    assert table.rt.timers.keys() == {TimerName.ROLL_CALL, TimerName.DEADLINE}
    at = table.rt.timers[TimerName.ROLL_CALL]
    assert seconds(table.rt.timers[TimerName.DEADLINE]) - seconds(at) == 4 * 3600

    comes(table, at)
    assert len(roll_calls(table)) == 1
    comes(table, later(table, 24 * 7))
    comes(table, later(table, 24 * 8))

    assert len(roll_calls(table)) == 1
    assert sum("answers are due" in one.text for one in thread(table)) == 1
    assert table.rt.timers == {}


def hours(**rules: Any) -> Table:
    """Friday 2 January 2026, 17:00, is when answers are due; the channel has *rules* of its own."""
    policies = Policies(channels={HERE.channel: ChannelRules(**rules)})
    return due(held(replace(shipped(), policies=policies)))


def test_the_hours_of_the_channel_apply_to_the_roll_call() -> None:
    """Its quiet hours, and whether people work at weekends."""
    night = QuietHours(begin=13 * 60 + 30, end=8 * 60)
    assert hours(quiet_hours=night).rt.timers[TimerName.ROLL_CALL] == "2026-01-02T09:30:00.000Z"

    table = due(hours(), days=3)
    assert table.rt.timers[TimerName.ROLL_CALL] == "2026-01-02T13:00:00.000Z"
    table = due(hours(weekends=True), days=3)
    assert table.rt.timers[TimerName.ROLL_CALL] == "2026-01-04T13:00:00.000Z"


def test_nobody_is_called_out_of_hours() -> None:
    """A time that is set at night calls people in the morning, or not at all when answers are due by then."""
    table = held().say("due 2026-01-01 10:00")
    comes(table, later(table, 0.01))
    assert roll_calls(table) == []
    assert table.rt.timers[TimerName.ROLL_CALL] == "2026-01-01T09:00:00.000Z"
    comes(table, "2026-01-01T09:00:00.000Z")
    assert len(roll_calls(table)) == 1

    table = held().say("due 2026-01-01 08:00")
    comes(table, later(table, 0.01))
    assert table.rt.timers.keys() == {TimerName.DEADLINE}


def test_the_card_says_when_answers_are_due() -> None:
    """Until then, and as long as the step is open."""
    table = due(held())
    assert table.rt.card
    assert "Due Friday 2 January, 17:00 (UTC)." in table.card.text

    table.say("Edits get lost. Scope: small").finish()
    assert "Due Friday" not in table.card.text


@played_once
def overdue() -> Table:
    table = due(held()).say("Edits get lost. Scope: small", who="grace")
    return comes(table, later(table, 24 * 7))


def answered(by: str, words: str, action: str, *, value: str = "") -> Table:
    """Grace answers at the deadline."""
    if by == "words":
        return overdue().say(words, who="grace")
    return pressed(overdue(), ReminderKind.DEADLINE, action, who="grace", value=value)


def test_a_deadline_only_proposes() -> None:
    """It names who is missing, and the step stays open."""
    table = overdue()
    reminder = table.rt.attendance.open_one(ReminderKind.DEADLINE)

    assert reminder
    assert "a word from Ada and Linus" in reminder.message.text
    assert [one.label for one in reminder.message.choices] == [
        "Finish with what we have", "One more day", "Go on without Ada", "Go on without Linus",
    ]  # fmt: skip
    assert reminder.message.card
    assert [one.label for one in reminder.message.card.more] == ["Another time…", "No time limit"]
    assert table.rt.stage is Stage.DISCUSSING


def test_a_deadline_counts_what_the_card_asks() -> None:
    """Found by hand: three questions were open, and it said that one point was."""
    table = due(Table().start().say("Edits get lost in tunnels.", who="grace"))
    assert table.rt.card
    assert table.card.card
    (missing,) = [one for one in table.card.card.parts if one.title == "Still missing"]
    comes(table, later(table, 24 * 7))
    reminder = table.rt.attendance.open_one(ReminderKind.DEADLINE)

    assert reminder
    assert len(missing.rows) > 1
    assert f"**Missing:** {len(missing.rows)} open points of the step" in reminder.message.text


@pytest.mark.parametrize("by", ["press", "words"])
def test_one_more_day_moves_it(by: str) -> None:
    """By a person, whose name it says; and then it proposes once more."""
    table = answered(by, "One more day.", Action.EXTEND)

    assert any("Grace gave it one more day · now due" in one.text for one in thread(table))
    assert TimerName.DEADLINE in table.rt.timers
    comes(table, later(table, 24 * 20))
    assert table.rt.attendance.open_one(ReminderKind.DEADLINE)


@pytest.mark.parametrize("by", ["press", "words"])
def test_a_person_removes_the_time_limit(by: str) -> None:
    """Nothing comes at that time any more, and the card does not name it."""
    table = answered(by, "No limit.", Action.NO_LIMIT)

    assert any("· Grace removed the time limit" in one.text for one in thread(table))
    assert any("Grace removed the time limit." in line.content for line in table.lines)
    assert (table.rt.attendance.due, table.rt.timers) == ("", {})
    assert table.rt.stage is Stage.DISCUSSING


@pytest.mark.parametrize("by", ["form", "words"])
def test_a_person_chooses_another_time(by: str) -> None:
    """By their own clock; what was asked says who did, and it is asked again then."""
    table = overdue()
    table.rt = table.rt.but(attendance=table.rt.attendance.but(offsets={"grace": 3600}))
    if by == "form":
        table.does(SetDue, who="grace", due="2026-02-03T14:00:00.000Z")
    else:
        table.say("due 2026-02-03 15:00", who="grace")

    sentence = "· Grace chose another time · now due Tuesday 3 February, 15:00 (UTC+1)"
    assert any(one.text.endswith(sentence) for one in thread(table))
    assert any(line.content.endswith(f"{sentence}.") for line in table.lines)
    assert table.rt.attendance.open_one(ReminderKind.DEADLINE) is None
    comes(table, "2026-02-03T14:00:00.000Z")
    assert table.rt.attendance.open_one(ReminderKind.DEADLINE)


def test_the_form_takes_a_time_in_the_future_of_an_open_step() -> None:
    table = overdue()
    for due in ("", table.rt.now):
        with pytest.raises(NotNow, match="a time in the future"):
            table.does(SetDue, due=due)
    table.stop()
    with pytest.raises(NotNow, match="No step and no discussion is open"):
        attending.form(table.rt)
    with pytest.raises(NotNow, match="No step and no discussion is open"):
        table.does(SetDue, due="2026-02-03T14:00:00.000Z")


# --- meta.json ------------------------------------------------------------------------------------------------------


def test_when_answers_are_due_is_in_git_and_outlives_the_store() -> None:
    """By the same clock; other fields of that part of the file survive."""
    table = held()
    table.rt = table.rt.but(attendance=table.rt.attendance.but(offsets={"grace": 3600}))
    table.meta_says(roundtable={"theirs": 1})
    table.say("due 2026-02-03 15:00", who="grace").say("Edits get lost.")
    assert (table.meta.seats.due, table.meta.seats.due_offset) == ("2026-02-03T14:00:00.000Z", 3600)

    table.forget()
    assert table.rt.attendance.due == "2026-02-03T14:00:00.000Z"
    assert "Due Tuesday 3 February, 15:00 (UTC+1)." in str(table.card)
    assert TimerName.DEADLINE in table.rt.timers
    assert '"theirs": 1' in (table.world.meta or b"").decode()


@pytest.mark.parametrize("words", ["no limit", "one more day"])
def test_what_is_changed_later_is_in_git_too(words: str) -> None:
    table = overdue()
    was = table.meta.seats.due
    assert was
    table.say(words, who="grace")

    assert table.meta.seats.due == table.rt.attendance.due != was
    assert (table.meta.seats.due == "") is (words == "no limit")
    table.forget()
    assert table.rt.attendance.due == table.meta.seats.due


def test_a_limit_is_removed_before_it_comes() -> None:
    """The thread says so; without a limit the same words are an answer."""
    table = due(held()).say("no limit", who="grace")
    assert thread(table)[-1].text == "Due Friday 2 January, 17:00 (UTC) · Grace removed the time limit."
    assert table.rt.timers == {}
    assert "Due Friday" not in str(table.card)

    table.say("no limit", who="linus")
    assert [answer.text for answer in table.rt.answers] == ["no limit"]


@played_once
def discussed() -> Table:
    """Ada has said something in a discussion when answers are due; Grace and Linus have not."""
    table = due(held()).do_step().press(Action.ELABORATE).say("A queue on the device.")
    return comes(table, later(table, 24 * 7))


def test_a_deadline_proposes_to_end_a_discussion() -> None:
    """Ended by its button, or meanwhile by words."""
    table = discussed()
    reminder = table.rt.attendance.open_one(ReminderKind.DEADLINE)

    assert reminder
    assert "**Missing:** a word from Grace and Linus." in reminder.message.text
    assert [one.label for one in reminder.message.choices] == [
        "End the discussion", "One more day", "Go on without Grace", "Go on without Linus",
    ]  # fmt: skip
    assert table.rt.stage is Stage.ELABORATING

    table = pressed(discussed().restart(), ReminderKind.DEADLINE, Action.END_ELABORATION, who="grace")
    assert any("· Grace ended the discussion" in one.text for one in thread(table))
    assert table.rt.stage is Stage.AT_BOUNDARY

    table = discussed().say("done")
    assert any("· the discussion is over" in one.text for one in thread(table))
    assert table.rt.attendance.reminders == ()


def test_a_discussion_gets_one_more_day_or_goes_on_without_somebody() -> None:
    """What is typed is no turn."""
    table = discussed()
    turns = table.rt.debate.turn_count
    table.say("without Linus", who="grace")
    assert any("Grace goes on without Linus" in one.text for one in thread(table))
    table = discussed().say("one more day", who="grace")
    assert TimerName.DEADLINE in table.rt.timers
    assert table.rt.debate.turn_count == turns
    assert table.say("due 2027-01-04 09:00", who="grace").rt.attendance.due == "2027-01-04T09:00:00.000Z"
    assert table.rt.debate.turn_count == turns


@pytest.mark.parametrize("by", ["press", "words"])
def test_people_go_on_without_somebody(by: str) -> None:
    """They are not waited for in this step any more."""
    table = answered(by, "without Linus", Action.WITHOUT, value="linus")

    assert awaited(table.rt) == ("ada",)
    assert any("Grace goes on without Linus" in one.text for one in thread(table))
    assert table.rt.stage is Stage.DISCUSSING


def test_finishing_at_the_deadline_finishes_the_step() -> None:
    """With the card of the step, and who pressed it."""
    table = overdue()
    pressed(table, ReminderKind.DEADLINE, Action.FINISH_STEP, who="grace")

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert any("Grace finished the step" in one.text for one in thread(table))
    assert table.rt.attendance.reminders == ()


def test_the_second_press_is_told_what_the_first_did() -> None:
    """Two people at the same buttons."""
    table = overdue()
    reminder = table.rt.attendance.open_one(ReminderKind.DEADLINE)
    assert reminder
    press = Press(
        key="late", at=table.now(), person=person("ada"), action=Action.EXTEND, token=reminder.token, ts="1"
    )
    pressed(table, ReminderKind.DEADLINE, Action.EXTEND, who="grace")

    with pytest.raises(NotNow, match="Grace gave it one more day"):
        table.hear(press)


# --- too late, or not meant -------------------------------------------------------------------------------------------


def test_who_was_not_asked_or_is_not_missing_is_told_so() -> None:
    """A press answers for nobody else."""
    table = held().say("Edits get lost.").say("nudge")
    for action in (Action.NOTHING_TO_ADD, Action.LATER):
        with pytest.raises(NotNow):
            pressed(table, ReminderKind.ROLL_CALL, action, who="zoe")
    with pytest.raises(NotNow):
        pressed(table, ReminderKind.ROLL_CALL, Action.LATER, who="ada")

    table = overdue().say("without Everybody")

    assert "Everybody" in table.world.told[-1][1].text
    with pytest.raises(NotNow):
        pressed(table, ReminderKind.DEADLINE, Action.WITHOUT, who="grace", value="grace")
    assert awaited(table.rt) == ("ada", "linus")


def test_there_is_nobody_to_ask_once_all_have_answered() -> None:
    """Where nothing waits for anybody a nudge says so."""
    table = held().say("One.").say("Two.", who="grace").say("nudge", who="linus")

    assert roll_calls(table) == []
    assert [answer.text for answer in table.rt.answers] == ["One.", "Two."]

    table = held().say("One.").say("Two.", who="grace").say("Three.", who="linus").say("nudge")

    assert table.world.told[-1][1].text == "Nothing waits for anybody."


def test_who_answered_after_the_call_is_shown_as_heard() -> None:
    table = held().say("Edits get lost.").say("nudge").say("Ours, too.", who="grace")

    [call] = roll_calls(table)
    assert "Grace answered" in call.note


def test_outside_of_an_open_step_neither_words_nor_a_due_time_do_anything() -> None:
    """They are no answer to a call."""
    table = held().do_step().say("nudge").say("one more day").say("without Linus")

    assert roll_calls(table) == []
    assert table.rt.timers.keys() <= {TimerName.FEEDBACK}

    table = due(held()).say("Edits get lost. Scope: small")
    timers = dict(table.rt.timers)
    table.finish()
    before = len(thread(table))
    comes(table, later(table, 24 * 7))

    assert timers
    assert len(thread(table)) == before


@pytest.mark.parametrize(
    "words", ["Due next week", "due 17:00", "due 2025-12-31 17:00", "due today 00:00", "due 2026-02-30 09:00"]
)
def test_a_time_that_is_past_or_not_understood_is_told_the_form(words: str) -> None:
    """It is no answer of the step, and nobody thinks that the time is set."""
    table = held().say(words, who="grace")

    assert table.world.told[-1][1].text == "I can't read that date. Write `due 2026-11-30 17:00`."
    assert (table.rt.attendance.due, table.rt.timers) == ("", {})
    assert words not in [str(one["text"]) for one in table.rt.specification.active("note")]


@pytest.mark.parametrize(
    "words", ["due tomorrow 17:00", "due by Friday", "due morgen um 17:00", "due: 2 Jan", "due dans 1 jour"]
)
def test_a_date_may_be_said_in_words(words: str) -> None:
    """Friday is tomorrow here, and the day ends at five."""
    table = held().say(words, who="grace")

    assert table.rt.attendance.due == "2026-01-02T17:00:00.000Z"
    assert words not in [str(one["text"]) for one in table.rt.specification.active("note")]


@pytest.mark.parametrize("words", ["due 2026-02-03 15:00", "due tomorrow 17:00"])
def test_a_time_is_no_answer_when_the_step_is_read_from_git(words: str) -> None:
    """Nor is it listed on the card as something that no entry has."""
    table = held().say(words, who="grace").say("We count answered requests only.", who="linus").forget()

    assert [one.text for one in table.rt.answers] == ["We count answered requests only."]


# --- who is waited for by name --------------------------------------------------------------------------------------


def due_of(table: Table) -> str:
    return table.rt.timers[TimerName.UNANSWERED]


@played_once
def a_question_of_grace() -> Table:
    return (
        held().say("Edits get lost.").say("open question: who pays? -> Grace").say("Ours, too.", who="linus")
    )


def test_who_is_waited_for_is_asked_by_name_when_nobody_writes() -> None:
    """Ten minutes after the last word, in working hours, and once for each thing."""
    table = a_question_of_grace()
    table = comes(table, due_of(table))

    asked = thread(table)[-1]
    assert asked.text == "This waits for one of you:\n- **Grace**: A question is yours to answer: who pays?"
    assert asked.pings == ("grace",)
    assert [(one.label, one.value) for one in asked.choices] == [
        ("Answer…", "offline-sync/Q-001"),
        ("Ask somebody else…", "Q-001"),
    ]
    table.say("Nobody knows.", who="linus")
    assert TimerName.UNANSWERED not in table.rt.timers
    table.say("open question: who tells them? -> Linus")
    table = comes(table, due_of(table))
    assert [line.partition(":")[0] for line in thread(table)[-1].text.splitlines()[1:]] == [
        "- **Grace**",
        "- **Linus**",
    ]


def test_it_comes_ten_minutes_after_the_last_word_and_ends_with_an_answer() -> None:
    """In working hours."""
    table = a_question_of_grace()
    assert due_of(table)[11:16] == "09:00"

    table.rt = table.rt.but(now=due_of(table))
    assert seconds(due_of(table.say("And the deposit?", who="linus"))) == seconds(table.rt.now) + 600

    table = a_question_of_grace()
    table = comes(table, due_of(table)).say("Q-001 answer: Noor pays", who="grace")

    assert table.rt.prompt is None
    over = next(one for one in thread(table) if "asked about" in one.text)
    assert (over.text, over.choices) == ("You were asked about Q-001.", ())


def test_a_nudge_asks_again_what_waits_by_name() -> None:
    """At a menu and in a discussion, too; after the roll call of an open step."""
    table = a_question_of_grace().say("We sync at night.", who="grace").say("nudge")
    assert thread(table)[-1].pings == ("grace",)

    table.say("Hm.", who="linus").do_step().say("nudge", who="linus")
    assert thread(table)[-1].pings == ("grace",)
