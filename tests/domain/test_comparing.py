"""A discussion in which a second model compares the positions: asked where unanimity is judged, and only then."""

from dataclasses import replace
from typing import Any

from bot.domain.catalog.policy import Policy
from bot.domain.discussion.elaboration import HeldPosition, Stance, StanceGroups
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import CompareStances, Speak
from bot.domain.roundtable.inputs import Mute
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.comparing import SAME
from bot.domain.transcript.lines import Line
from bot.storage.serialization import decoded
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table, person

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
HELD = {
    MAYA: HeldPosition(issue="Where edits wait", position="In a queue on the device"),
    ALEX: HeldPosition(issue="Storage of edits", position="the device keeps a queue"),
    JORDAN: HeldPosition(issue="Waiting place", position="a queue in the phone"),
}
ALL = StanceGroups(issues=(tuple(one.issue for one in HELD.values()),), positions=(tuple(HELD.values()),))


def discussing(held: dict[str, HeldPosition] = HELD, *, thinks: bool = True, **world: Any) -> Table:
    table = Table(replace(few_steps(), policy=Policy(thinks=thinks))).start()
    for name, value in world.items():
        setattr(table.world, name, value)
    table.world.speech = lambda speak, rt: said(speak, rt, held)
    return table.elaborate()


def said(speak: Speak, rt: Roundtable, held: dict[str, HeldPosition]) -> Contribution:
    if speak.task == "acknowledge" or not rt.elaboration:
        return Contribution("Noted.")
    if rt.debate.is_challenging(speak.persona):
        return Contribution("A lost phone at 40 degrees loses all edits of 1,200 people.", ())
    mine = held[speak.persona]
    stance = Stance(issue=mine.issue, position=mine.position)
    return Contribution(f"{speak.persona} is for {mine.position}", (stance,))


def asked(table: Table) -> int:
    return sum(isinstance(one, CompareStances) for one in table.completing)


def line(table: Table) -> Line:
    (found,) = (one for one in table.lines if SAME in one.meta)
    return found


def test_agreement_in_other_words_is_challenged() -> None:
    """What was grouped and by whom is on record; the words on the board are those of each."""
    table = discussing(groups=ALL)

    assert asked(table) == 1
    assert table.rt.debate.challenger
    assert table.rt.debate.challenged
    assert any("We all agree so far" in one.text for one in table.world.shown)
    assert line(table).meta["verifier"] == {"provider": "other", "model": "b"}
    same = line(table).meta[SAME]
    assert same["positions"] == [[one.model_dump(mode="json") for one in HELD.values()]]
    assert same["issues"] == [[one.issue for one in HELD.values()]]
    stances = [turn.stances[0] for turn in table.rt.debate.turns if turn.stances]
    assert [one.position for one in stances] == [one.position for one in HELD.values()]


def test_what_the_second_model_does_not_group_is_not_challenged() -> None:
    table = discussing()

    assert asked(table) == 1
    assert not table.rt.debate.challenger
    assert table.rt.debate.first_round


def test_what_rules_see_opposed_is_not_agreed_whatever_a_model_says() -> None:
    held = {**HELD, JORDAN: HeldPosition(issue="Waiting place", position="not on the device")}
    groups = StanceGroups(issues=ALL.issues, positions=(tuple(held.values()),))
    table = discussing(held, groups=groups)

    assert not table.rt.debate.challenger
    assert line(table).meta[SAME]["ignored"][0]["why"] == "the rules see opposed positions in it"


def test_without_an_answer_rules_decide() -> None:
    table = discussing(verifier={"failed": "unavailable"})

    assert asked(table) == 1
    assert table.rt.debate.first_round
    assert not table.rt.debate.challenger
    assert "No other model" in line(table).content


def test_an_effect_that_fails_stops_nobody() -> None:
    table = until_asked().fail("compare_stances").resume_paying()

    assert table.rt.debate.first_round
    assert not table.rt.has_pending(CompareStances)
    assert not table.rt.debate.challenger


def test_nobody_is_asked_without_models() -> None:
    table = discussing(thinks=False, groups=ALL)

    assert asked(table) == 0
    assert not table.rt.debate.challenger


def test_it_is_asked_again_only_for_new_positions() -> None:
    held = dict(HELD)
    table = discussing(held, groups=ALL)
    assert asked(table) == 1
    table.say("Alex, has that changed anything?")
    assert asked(table) == 1
    held[ALEX] = HeldPosition(issue="Storage of edits", position="each device has its own queue")
    table.say("Alex, really?")
    assert asked(table) == 2
    table.say("done")

    assert asked(table) == 2


def until_asked(**world: Any) -> Table:
    table = Table(replace(few_steps(), policy=Policy(thinks=True))).start().do_step()
    for name, value in world.items():
        setattr(table.world, name, value)
    table.world.speech = lambda speak, rt: said(speak, rt, HELD)
    table.stop_paying().press(Action.ELABORATE)
    return table.pay_up_to("compare_stances")


def test_a_restart_between_the_question_and_its_answer() -> None:
    table = until_asked(groups=ALL)
    table.rt = decoded(table.rt.slug, table.rt.model_dump_json())
    table.resume_paying()

    assert asked(table) == 1
    assert table.rt.debate.challenged


def test_words_of_people_meanwhile_are_answered_first() -> None:
    table = until_asked(groups=ALL)
    table.say("Maya, what about costs?")
    table.resume_paying()

    spoken = [one.persona for one in table.completing if isinstance(one, Speak)]
    assert spoken[-2:] == [MAYA, table.rt.debate.challenger]
    assert table.rt.debate.challenged


def test_ending_meanwhile_compares_before_the_synthesis() -> None:
    table = until_asked(groups=ALL)
    table.say("done")

    kinds = [one.kind for one in table.rt.outbox if one.kind in {"compare_stances", "synthesize"}]
    assert kinds == ["compare_stances", "synthesize"]
    table.resume_paying()
    synthesis = next(one for one in reversed(table.lines) if "quality" in one.meta)
    assert synthesis.meta["quality"]["collapsed"] == [HELD[MAYA].issue]


def test_muted_meanwhile_nobody_is_challenged() -> None:
    """What counts as the same is on record all the same."""
    table = until_asked(groups=ALL)
    table.hear(Mute(key="mute", at=table.now(), person=person("ada"), muted=True)).resume_paying()

    assert line(table).meta[SAME]["positions"]
    assert not table.rt.debate.challenger
    assert not table.rt.has_pending(Speak)


def test_who_stops_meanwhile_is_not_asked_for_it() -> None:
    table = until_asked(groups=ALL)
    table.say("stop").resume_paying()

    assert table.rt.stage is Stage.PAUSED
    assert asked(table) == 0
