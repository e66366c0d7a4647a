"""People see that somebody is thinking, in the best way that Slack has for it here, and it always goes again."""

from dataclasses import replace

import pytest

from bot.domain.catalog.personas import Roster
from bot.domain.catalog.policy import Policy
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import ShowWork, WorkIndicator
from bot.domain.roundtable.live import EMOJI
from bot.domain.roundtable.stage import Stage
from tests.domain.table import Contribution, Table, played_once, shipped

ANSWER = "1767300000.000100"
SIGNS = ("show_work", "clear_work", "react", "unreact")


@played_once
def thinking(*refused: WorkIndicator, agent: bool = False) -> Table:
    """A roundtable whose personas have a model, in a Slack that does not show what is *refused*."""
    table = Table(replace(shipped(), policy=Policy(thinks=True, draft_seconds=0, agent=agent))).start()
    table.rt = table.rt.but(signs_refused=refused)
    return table


def own_model(key: str, model: str, *, policy: Policy) -> Table:
    """One persona has a model of its own."""
    book = shipped()
    roster = Roster(one.but(model=model) if one.key == key else one for one in book.roster)
    return Table(replace(book, roster=roster, policy=policy)).start()


def shown(table: Table) -> list[str]:
    """How people see it just now."""
    emojis = [f"{EMOJI} on {ts}" for ts, emoji in table.world.reactions if emoji == EMOJI]
    return [*map(str, table.world.signs), *emojis]


def answering(table: Table) -> Table:
    """Somebody has answered, and a persona is about to take it in."""
    return table.stop_paying().say("Field work needs it.", ts=ANSWER).pay_up_to("speak")


def test_the_thread_says_so_in_words() -> None:
    """Before the voice is asked, and not after it has spoken."""
    table = answering(thinking())
    assert shown(table) == ["status"]
    assert "thinking" in next(one for one in reversed(table.completing) if isinstance(one, ShowWork)).words

    assert not shown(table.resume_paying())


def test_where_slack_has_no_place_for_words_the_answer_carries_an_emoji() -> None:
    """That is found out once, in each thread, and never are both left behind."""
    table = thinking().fail("show_work", "missing_scope")
    assert shown(answering(table)) == [f"{EMOJI} on {ANSWER}"]
    table.resume_paying()
    assert not shown(table)

    table.wait(200).say("And trains.").resume_paying()
    assert table.order("show_work") == ["show_work"]
    assert not shown(table)


@pytest.mark.parametrize(
    ("refused", "agent", "signs"),
    [((), True, ["show_work", "clear_work"]), ((WorkIndicator.STATUS,), False, ["react", "unreact"])],
    ids=["a session of an agent", "an emoji on the thread"],
)
def test_a_round_is_marked_once(refused: tuple[WorkIndicator, ...], signs: list[str], *, agent: bool) -> None:
    """A session has Slack's own stop button, and lasts over posts: two calls to Slack, however many speak."""
    table = thinking(*refused, agent=agent).do_step()
    before = table.order(*SIGNS)
    table.press(Action.ELABORATE)

    assert table.order(*SIGNS)[len(before) :] == signs
    assert not shown(table)


def test_an_agent_without_sessions_says_so_in_words() -> None:
    """The next best way is tried at once, while there is still something to wait for."""
    table = answering(thinking(agent=True).fail("show_work", "feature_disabled"))

    assert shown(table) == ["status"]
    assert not shown(table.resume_paying())


def test_words_come_again_after_each_post() -> None:
    """Slack takes them away with whatever we say, while the next persona is thinking already."""
    table = thinking().do_step()
    table.stop_paying().press(Action.ELABORATE)
    seen = []
    while table.rt.outbox:
        if table.rt.outbox[0].kind == "speak":
            seen.append(shown(table))
        table.pay_one()

    assert len(seen) > 1
    assert seen == [["status"]] * len(seen)
    assert not shown(table)


def test_a_pass_leaves_the_words_where_they_are() -> None:
    """Nothing was posted, so nothing is shown again."""
    table = thinking().elaborate()
    table.world.speech = lambda *_: Contribution("", passed=True)
    before = table.order(*SIGNS)
    table.press(Action.GO_ON)

    assert table.order(*SIGNS)[len(before) :] == ["show_work", "clear_work"]


WAYS = pytest.mark.parametrize("refused", [(), (WorkIndicator.STATUS,)], ids=["words", "emoji"])


@WAYS
def test_it_goes_when_the_voice_fails(refused: tuple[WorkIndicator, ...]) -> None:
    """Whoever waits would wait for nothing."""
    table = thinking(*refused).fail("speak", "timeout", times=2).say("Field work needs it.").finish()

    assert not shown(table)


@WAYS
def test_it_goes_when_somebody_stops(refused: tuple[WorkIndicator, ...]) -> None:
    """A process that dies leaves none behind."""
    table = thinking(*refused).do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    assert shown(table)

    table.press(Action.STOP).resume_paying()
    assert table.rt.stage is Stage.PAUSED
    assert not shown(table)

    table = answering(thinking(*refused))
    assert shown(table)

    table.paying = True
    assert not shown(table.restart())


def test_nobody_is_stopped_by_a_sign_that_is_refused_too_late() -> None:
    """People stopped meanwhile: then nothing is shown in any other way."""
    table = thinking().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("show_work")
    table.fail("show_work", "missing_scope").stop().resume_paying()

    assert not shown(table)
    assert "react" not in table.order("react")[1:]


def test_who_never_thinks_is_not_waited_for() -> None:
    """Without a model, or without one of its own."""
    table = Table().start().elaborate()

    assert not table.order("unreact", "show_work", "clear_work")

    table = own_model("business-analyst", "offline", policy=Policy(thinks=True, draft_seconds=0))

    assert not table.say("Field work needs it.").order("show_work")

    table = own_model("solutions-architect", "acme:large", policy=Policy()).do_step()
    assert not table.order("show_work")

    table.press(Action.ELABORATE).stop_paying().say("Alex, what breaks first?").pay_up_to("speak")
    assert shown(table) == ["status"]
    assert not shown(table.resume_paying())
