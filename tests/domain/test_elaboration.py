"""An elaboration: three personas and the people discuss a finished step, within a limit that nobody can miss."""

import pytest

from bot.domain.discussion.elaboration import TurnKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.timers import TimerName
from tests.domain.books import book, few_steps, newcomer, seats, step
from tests.domain.table import FLOOR, Contribution, Table, played_once

WARNING = "We are nearing the end of our discussion time. Any final points before we synthesize?"
LIMIT = "We have had a thorough discussion. Let me synthesize the key points from our conversation."
WRAPPING_UP = "Wrapping up the discussion. Let me synthesize our key points."
AMBIGUOUS = "Did you want to end the discussion, or continue exploring this?"


@played_once
def discussing(max_turns: int = 10) -> Table:
    """The framing and the first round are over, the floor is the people's."""
    table = Table(few_steps()).start()
    table.meta_says(elaboration_config={"max_turns": max_turns})
    return table.elaborate()


def turns(table: Table) -> list[str]:
    return [turn.name for turn in table.rt.debate.turns]


# --- entry ------------------------------------------------------------------------------------------------------------


def test_the_intro_names_who_comes_what_about_and_how_to_end() -> None:
    """To the letter of the seed; it is no turn."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.stage is Stage.ELABORATING)

    assert table.rt.lines[-1].content == (
        "---\nELABORATION MODE\n\n"
        "Bringing Alex Rivera (Solutions Architect) and Jordan Park (System Designer) into the discussion.\n\n"
        "Topic: Quick Scan: Topic 00-01 for Offline sync\n\n"
        'Turn limit: 10 exchanges. Type "done" to end discussion early.\n---'
    )
    assert table.rt.debate.turn_count == 0


def test_the_intro_names_those_who_come() -> None:
    """In their fixed order, without the one who leads; newcomers like everybody else."""
    table = Table(few_steps()).start().through("02-01").press(Action.ELABORATE)

    assert "Bringing Maya Chen (Business Analyst) and Jordan Park (System Designer)" in "\n".join(table.texts)
    assert turns(table) == ["Alex", "Maya", "Jordan"]

    somebody = newcomer("security-officer")
    table = (
        Table(book([step("00-01")], roster=seats("business-analyst", "security-officer"))).start().elaborate()
    )

    assert any(f"Bringing {somebody.label} into the discussion." in text for text in table.texts)


# --- the first round --------------------------------------------------------------------------------------------------


def test_all_open_at_the_same_time_and_then_the_floor_is_the_peoples() -> None:
    """One call each, none of which waits for another; the lead's comes first, and the buttons are on the card."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    opening = [one for one in table.rt.outbox if isinstance(one, Speak)]
    table.resume_paying()

    assert [one.turn for one in opening] == [TurnKind.OPENING] * 3
    assert [one.personas for one in opening] == [(one.persona,) for one in opening]
    assert turns(table) == ["Maya", "Alex", "Jordan"]
    assert table.offered() == FLOOR
    assert table.last.speaker == "system-designer"


def test_what_one_says_is_posted_before_the_next_answer_is_waited_for() -> None:
    """Those who are asked together are heard in order."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    table.pay_one()
    table.pay_up_to("speak").pay_one()

    kinds = [one.kind for one in table.rt.outbox if one.kind in {"post", "speak"}]

    assert kinds == ["post", "speak"]


def test_a_persona_with_nothing_to_say_takes_no_turn() -> None:
    """The round goes on without it. The log knows that a voice spoke for another."""
    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda speak, _: "" if speak.persona == "solutions-architect" else "Fine."
    table.press(Action.ELABORATE)

    assert turns(table) == ["Maya", "Jordan"]
    assert table.offered() == FLOOR

    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda *_: Contribution("A queue.", blends=True)
    table.press(Action.ELABORATE)

    assert [turn.text for turn in table.rt.debate.turns[:2]] == ["A queue."] * 2
    assert "ERR-ELAB-004" in table.codes


# --- turns and the limit ----------------------------------------------------------------------------------------------


def test_every_contribution_is_one_turn() -> None:
    """A person's and a persona's alike; what the host says is none."""
    table = discussing().say("I worry about conflicts.", who="grace").take_round()

    assert turns(table) == ["Maya", "Alex", "Jordan", "Grace", "Maya", "Alex"]
    assert [turn.id for turn in table.rt.debate.turns] == ["t01", "t02", "t03", "t04", "t05", "t06"]


def test_the_lead_warns_at_two_turns_before_the_limit() -> None:
    """On the card, and once in the record before anybody answers; it is no turn itself."""
    table = discussing(max_turns=6).say("I worry about conflicts.")
    assert WARNING in table.discussion.text
    table.take_round()

    assert table.rt.debate.turn_count == 6
    assert [line.content for line in table.lines[-3:]] == [
        WARNING,
        "business-analyst on turn",
        "solutions-architect on turn",
    ]
    assert [line.content for line in table.say("Still.").lines].count(WARNING) == 1


def test_at_the_limit_personas_fall_silent() -> None:
    """No persona speaks after the last turn, also of those who were asked. People end the discussion."""
    table = discussing(max_turns=6).say("everyone, what about conflicts?").say("Alex, and you?")

    assert turns(table) == ["Maya", "Alex", "Jordan", "Ada", "Maya", "Alex"]
    assert table.rt.elaboration
    assert "all 6 turns are used" in table.discussion.text
    table.press(Action.END_ELABORATION)
    assert table.meta.elaborations[-1].turn_count == 6
    assert LIMIT in table.discussion.text
    assert table.rt.stage is Stage.AT_BOUNDARY


def test_what_people_say_after_the_last_turn_of_a_persona_uses_no_turn() -> None:
    """They are never cut off: it is kept beside, and part of the synthesis."""
    table = discussing(max_turns=4).say("That was all from me.").say("One more thing.", who="grace")

    assert turns(table)[-2:] == ["Ada", "Grace"]
    assert any(line.content == "One more thing." for line in table.lines)
    assert table.world.told == []
    assert table.say("done").meta.elaborations[-1].turn_count == 4

    table = discussing(max_turns=3).say("That was all from me.").say("One more thing.", who="grace")

    told = [(one.name, one.text) for one in table.rt.debate.besides]
    assert told == [("Ada", "That was all from me."), ("Grace", "One more thing.")]
    assert table.say("done").meta.elaborations[-1].turn_count == 3


def test_what_people_say_between_two_personas_is_one_turn() -> None:
    """Else people who greet each other would use up the limit."""
    table = discussing().stop_paying()
    used = table.rt.debate.turns_used
    for who in ("ada", "grace", "linus", "ada", "grace", "linus", "ada", "grace"):
        table.say("It has to work offline.", who=who)

    assert table.rt.debate.turns_used == used + 1
    assert table.say("done").resume_paying().meta.elaborations[-1].turn_count == used + 1


def test_people_give_a_discussion_more_turns() -> None:
    """The record says who did; the limit of other discussions stays as it is."""
    table = discussing(max_turns=4).say("That was all from me.").press(Action.MORE_TURNS, who="grace")

    assert table.rt.debate.max_turns == 9
    assert table.rt.max_turns == 4
    line = next(line for line in table.lines if "more turns" in line.content)
    assert (line.content, line.meta["person"]) == (
        "Grace gave this discussion 5 more turns. It has 9 now.",
        "grace",
    )
    assert turns(table.say("Alex, and you?"))[-2:] == ["Ada", "Alex"]


@pytest.mark.parametrize("edited", [2, -1, "10", True, None, 3.5])
def test_a_limit_that_is_none_is_ten(edited: object) -> None:
    """Somebody edited `meta.json`; the log knows, and the discussion is held as always."""
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": edited}).elaborate()

    assert table.rt.debate.max_turns == 10
    assert "ERR-ELAB-003" in table.codes


def test_speaking_before_the_framing_is_a_turn_too() -> None:
    """People need not wait; the framing comes all the same, and both others after it."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    table.say("I worry about conflicts.", who="grace").resume_paying()

    assert turns(table) == ["Grace", "Maya", "Alex", "Jordan"]


def test_an_empty_message_is_no_turn() -> None:
    """A picture without words, for example: it is kept, and nobody has spoken."""
    table = discussing()
    before = table.rt.debate
    table.say("  ")

    assert table.rt.debate == before


# --- the floor --------------------------------------------------------------------------------------------------------


def test_the_personas_can_be_asked_to_go_on() -> None:
    """The two who were silent longest speak; no person has to."""
    table = discussing().press(Action.GO_ON)

    assert turns(table)[3:] == ["Maya", "Alex"]
    assert table.offered() == FLOOR


def test_the_buttons_stay_on_one_card() -> None:
    """However much is said: no other message of the discussion has any, and an old press counts."""
    table = discussing()
    floor = table.menu
    table.say("I worry about conflicts.").press(Action.GO_ON, menu=floor)

    open_menus = [said for said in table.world.thread if said.message.choices]
    assert [said.ts for said in open_menus] == [table.ts_of(floor.token)]


def test_a_reaction_shows_that_somebody_was_heard() -> None:
    """A speech balloon: this was a turn."""
    table = discussing().say("I worry about conflicts.", ts="800.1")

    assert table.world.reactions[-1] == ("800.1", "speech_balloon")


def test_words_during_a_call_start_the_next_round() -> None:
    """They do not cancel it, and no two rounds follow them; one that was due meanwhile begins when that ends."""
    table = discussing(max_turns=20).say("What about conflicts?").stop_paying().take_round()
    asked = table.speaking
    table.say("And about trains?", who="grace").resume_paying()

    assert turns(table)[3:] == ["Ada", "Grace", "Maya", "Alex"]
    assert asked.turn is TurnKind.ROUND
    assert turns(table.take_round())[7:] == ["Jordan", "Maya"]
    assert TimerName.ROUND not in table.rt.timers

    table = discussing(max_turns=20).stop_paying().press(Action.GO_ON).say("What about conflicts?")
    table.take_round().resume_paying()

    assert turns(table)[3:] == ["Ada", "Maya", "Alex", "Jordan", "Maya"]


def test_pressing_go_on_while_somebody_is_about_to_speak_asks_nobody_twice() -> None:
    """The one who has the floor has it; the next one follows."""
    table = discussing().stop_paying().say("What about conflicts?").say("are we done?").press(Action.GO_ON)
    table.resume_paying()

    assert turns(table)[5:] == ["Maya", "Alex"]


# --- the way out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["done", "Exit", "wrap up", "back", "Let's wrap up our discussion of error handling"]
)
def test_people_end_a_discussion_by_saying_so(text: str) -> None:
    """When that is what they are talking about; their word is no turn."""
    table = discussing().say(text)

    assert WRAPPING_UP in table.discussion.text
    assert table.meta.elaborations[-1].turn_count == 3
    assert table.rt.stage is Stage.AT_BOUNDARY


def test_people_end_a_discussion_by_a_button() -> None:
    """The synthesis takes the place of the card, without buttons."""
    table = discussing()
    floor = table.menu
    table.press(Action.END_ELABORATION, who="grace")

    shown = next(said.message for said in table.world.thread if said.ts == table.ts_of(floor.token))
    assert "### Elaboration Insights" in shown.text
    assert not shown.offered
    assert table.rt.stage is Stage.AT_BOUNDARY


@pytest.mark.parametrize(
    "text",
    ["I'm not done yet", "Let's go back to discussing the API", "When the task is done, what happens?"],
)
def test_talking_about_an_end_is_not_ending(text: str) -> None:
    """It is a turn like any other."""
    table = discussing().say(text)

    assert table.rt.stage is Stage.ELABORATING
    assert AMBIGUOUS not in table.texts


def test_who_may_want_to_end_is_asked() -> None:
    """Nobody answers for them; the buttons are on the card, also while a round is running."""
    table = discussing().say("are we done?")

    assert table.last.text == AMBIGUOUS
    assert table.offered() == FLOOR
    assert table.rt.debate.turn_count == 4

    table = discussing().say("What about conflicts?").stop_paying().take_round()
    table.say("are we done?", who="grace").resume_paying()

    assert turns(table)[3:] == ["Ada", "Grace", "Maya", "Alex"]
    assert AMBIGUOUS in table.texts
    assert table.offered() == FLOOR


def test_ending_silences_whoever_was_about_to_speak() -> None:
    """What the voice says after that is not heard; it can be ended before it was framed."""
    table = discussing().stop_paying().say("What about conflicts?").say("done").resume_paying()

    assert table.meta.elaborations[-1].turn_count == 4
    assert table.rt.elaboration is None

    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    table.say("done").resume_paying()

    assert table.meta.elaborations[-1].turn_count == 1
    assert table.rt.stage is Stage.AT_BOUNDARY


# --- the menu afterwards ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last_step", ["01-01", "01-02", "02-01"])
def test_the_menu_after_a_discussion_is_the_menu_before_it(last_step: str) -> None:
    """Its kind, its buttons and its words; elaborating again is one of them."""
    table = Table(few_steps()).start().through(last_step)
    before = table.menu
    table.press(Action.ELABORATE).say("I worry about conflicts.").say("done")

    assert (table.menu.kind, table.menu.message.choices) == (before.kind, before.message.choices)
    assert table.menu.message.text.partition("[E]")[2] == before.message.text.partition("[E]")[2]


def test_a_discussion_moves_nothing() -> None:
    """No step, no phase; the next thing is what it was."""
    table = Table(few_steps()).start().do_step()
    before = table.meta
    table.press(Action.ELABORATE).say("done")

    assert table.meta.steps_completed == before.steps_completed
    assert table.meta.phases_completed == before.phases_completed
    assert table.press_continue().rt.step_id == "01-01"


# --- staying with the topic -------------------------------------------------------------------------------------------


def test_people_who_name_another_step_are_led_back() -> None:
    """Gently, by the lead, before anybody answers; it is no turn."""
    table = discussing().say("What about 02-01 then?")

    assert (
        "That is a great question for Impact Analysis (step 02-01). For now, let us focus on "
        "Quick Scan: Topic 00-01." in table.texts
    )
    assert table.rt.debate.turn_count == 4


def test_a_persona_who_names_another_step_is_led_back_by_the_lead() -> None:
    """Nobody leads the lead back; quoting somebody is not naming a step."""
    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda speak, _: "What of 02-01?" if speak.persona == "system-designer" else "Fine."
    table.press(Action.ELABORATE)

    assert table.last.text == (
        "Jordan raises an interesting point about Topic 02-01, but let us stay focused on Quick Scan: Topic 00-01. "
        "We can explore that when we get to Impact Analysis (step 02-01)."
    )
    assert table.last.speaker == "business-analyst"

    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda speak, _: "What of 02-01?" if speak.persona == "business-analyst" else "Fine."
    table.press(Action.ELABORATE)

    assert "ERR-ELAB-005" in table.codes
    assert turns(table) == ["Maya", "Alex", "Jordan"]

    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda *_: 'You said "02-01 comes later". Why?'
    table.press(Action.ELABORATE)

    assert "ERR-ELAB-005" not in table.codes
    assert not any("raises an interesting point" in text for text in table.texts)


# --- what can go wrong ------------------------------------------------------------------------------------------------


def test_one_voice_that_fails_does_not_sink_the_opening() -> None:
    """Nothing is said in its name, and card and record say what to do; of a round neither."""
    table = Table(few_steps()).start().do_step().fail("speak", "refused").press(Action.ELABORATE)
    told = "Maya: the model refused to answer."

    assert turns(table) == ["Alex", "Jordan"]
    assert told in "\n".join(line.content for line in table.lines)
    assert told in table.discussion.text

    table = discussing().fail("speak", times=2).press(Action.GO_ON)

    assert table.offered() == FLOOR


def test_an_opening_that_fails_can_be_tried_again() -> None:
    """Of all personas: there is no discussion without it; people are told and press Retry."""
    table = Table(few_steps()).start().do_step().fail("speak", times=3).press(Action.ELABORATE)
    stalled_at = table.rt.stage
    table.press_retry()

    assert stalled_at is Stage.STALLED
    assert turns(table) == ["Maya"]


def test_a_discussion_that_grows_too_long_is_synthesized() -> None:
    """The voices cannot hold any more of it: what there is is put together."""
    table = discussing().fail("speak", "context").say("I worry about conflicts.").take_round()

    assert "ERR-ELAB-014" in table.codes
    assert table.meta.elaborations[-1].turn_count == 4
    assert table.rt.stage is Stage.AT_BOUNDARY


def test_a_step_that_is_gone_cannot_be_elaborated() -> None:
    """The sentence says so, and the menu returns, without what needs the step."""
    table = Table(few_steps()).start().do_step()
    before = table.menu
    table.playbook = few_steps(without="00-01")
    table.press(Action.ELABORATE)

    assert any("I could not load the step context for elaboration." in text for text in table.texts)
    assert (table.menu.kind, table.menu.message.choices[0]) == (before.kind, before.message.choices[0])
    assert table.offered() == [Action.CONTINUE, Action.ELABORATE, Action.STOP]


def test_a_phase_that_nobody_leads_is_discussed_under_the_analyst() -> None:
    """Maya stands in; the log says for whom."""
    table = Table(book([step("00-01")], roster=seats("business-analyst", "system-designer"))).start()
    table.rt = table.rt.but(phase_key="00-quick-scan")
    table.do_step()
    table.rt = table.rt.but(phase_key="07-unknown")
    table.press(Action.ELABORATE)

    assert "ERR-ELAB-002" in table.codes
    assert table.rt.debate.lead == "business-analyst"


# --- other rosters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "first_round"),
    [
        (["business-analyst"], ["Maya"]),
        (["business-analyst", "security-officer"], ["Maya", "Security"]),
        (
            [
                "business-analyst",
                "solutions-architect",
                "system-designer",
                "security-officer",
                "legal-counsel",
            ],
            ["Maya", "Alex", "Jordan", "Security", "Legal"],
        ),
    ],
)
def test_any_number_of_personas_can_discuss(keys: list[str], first_round: list[str]) -> None:
    """One, two or five: the lead frames, the others follow, the floor is the people's."""
    table = Table(book([step("00-01")], roster=seats(*keys))).start().elaborate()

    assert turns(table) == first_round
    assert table.offered() == FLOOR
    assert table.say("done").meta.elaborations[-1].personas_active == tuple(keys)


def test_a_persona_that_left_the_roster_is_passed_over() -> None:
    """Somebody removed its file while it was about to speak."""
    table = (
        Table(book([step("00-01")], roster=seats("business-analyst", "security-officer"))).start().do_step()
    )
    table.stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.elaboration is not None and rt.debate.turn_count == 1)
    table.playbook = book([step("00-01")], roster=seats("business-analyst"))
    table.resume_paying()

    assert turns(table) == ["Maya"]
    assert table.offered() == FLOOR


# --- the limit --------------------------------------------------------------------------------------------------------


def test_the_turn_limit_is_read_when_the_discussion_begins() -> None:
    """People may have changed meta.json since the last commit. The smallest is three turns."""
    table = Table(few_steps()).start().do_step()
    table.meta_says(elaboration_config={"max_turns": 4}).press(Action.ELABORATE)

    assert table.rt.debate.max_turns == 4
    assert any("Turn limit: 4 exchanges." in text for text in table.texts)

    table = discussing(max_turns=3)

    said = [line.content for line in table.say("done").lines]
    first = said.index("business-analyst on turn")
    assert said[first : first + 4] == [
        "business-analyst on turn",
        WARNING,
        "solutions-architect on turn",
        "system-designer on turn",
    ]
    assert LIMIT in said
    assert table.meta.elaborations[-1].turn_count == 3


@pytest.mark.parametrize(
    ("steps", "topic"), [(["00-01"], "Quick Scan: Scope"), (["00-01", "00-02"], "Scope")]
)
def test_a_limit_that_cannot_be_read_is_the_one_we_know(steps: list[str], topic: str) -> None:
    """The discussion begins all the same, about what it would be about."""
    table = (
        Table(few_steps(*(step(one, "Scope") for one in steps)))
        .start()
        .do_step()
        .fail("read_item")
        .press(Action.ELABORATE)
    )

    assert table.rt.debate.max_turns == 10
    assert table.rt.debate.topic == topic


def test_the_menu_comes_below_the_discussion_also_when_words_are_written_down_first() -> None:
    """Said while the limit is read, they are feedback. The menu is there once; the old card, far above, has none."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.say("One more thing.").resume_paying().say("done")

    assert "One more thing." in table.world.files["quick-scan.md"]
    assert table.rt.stage is Stage.AT_BOUNDARY

    offering = [
        one for one in table.world.thread if Action.CONTINUE in {c.action for c in one.message.choices}
    ]
    assert len(offering) == 1
    assert offering[0] is table.world.thread[-1]
    assert table.menu_at == offering[0].ts
