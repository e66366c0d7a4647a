"""Who may press, and what becomes of words that would do what a button does."""

from dataclasses import replace
from functools import partial

import pytest

from bot.domain.catalog.policy import Policy, PressPolicy
from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action
from bot.domain.roundtable import permission, words
from bot.domain.roundtable.stage import Stage
from bot.domain.values.places import Belonging, Person
from bot.errors import NotNow
from tests.domain.table import Table, played_once, shipped

EVA = Person(id="eva", name="Eva", belongs=Belonging.EXTERNAL)
GUS = Person(id="gus", name="Gus", belongs=Belonging.GUEST)


@played_once
def table(*, press: PressPolicy = PressPolicy.EVERYONE, guests_press: bool = False) -> Table:
    policy = Policy(press=press, guests_press=guests_press)
    return Table(replace(shipped(), policy=policy)).start()


@pytest.mark.parametrize("person", [EVA, GUS])
def test_guests_and_strangers_talk_and_do_not_press(person: Person) -> None:
    """What they write is an answer like any other; the button says kindly whose it is."""
    at = table().say("We need it in tunnels", who=person)

    with pytest.raises(NotNow, match="people of other organisations can write here"):
        at.press(Action.FINISH_STEP, who=person)
    assert [answer.text for answer in at.rt.answers] == ["We need it in tunnels"]
    assert at.rt.stage is Stage.DISCUSSING


def test_a_guest_withdraws_nothing_by_typing() -> None:
    """Nor is the command a note."""
    at = table().say("objection: too slow").say("withdraw OBJ-001", who=GUS)

    assert at.rt.specification.lives("OBJ-001")
    assert "members of this workspace" in at.world.told[-1][1].text
    assert not at.rt.specification.active("note")


def test_verbs_are_buttons_too() -> None:
    """`stop`, `depth`, `export` by whatever door."""
    at = table()

    for wish in (at.stop, partial(at.depth, Depth.DEEP), at.export):
        with pytest.raises(NotNow, match="members of this workspace"):
            wish(who=GUS)


@pytest.mark.parametrize("text", ["stop", "finish", "keep it short", "Stop!"])
def test_words_that_would_press_are_only_words(text: str) -> None:
    """They are in the transcript, nothing follows, and the guest alone is told why."""
    at = table().say(text, who=GUS)

    assert at.rt.stage is Stage.DISCUSSING
    assert at.lines[-1].content == text
    ((person, message),) = at.world.told
    assert (person, "people of other organisations can write here" in message.text) == ("gus", True)
    assert at.rt.answers == ()


@pytest.mark.parametrize("text", ["C", "e", "stop", "deeper"])
def test_letters_at_a_menu_are_buttons(text: str) -> None:
    """A guest's letter leaves the menu as it is, and a guest's feedback is feedback."""
    at = table().do_step().say(text, who=GUS)
    assert at.rt.stage is Stage.AT_BOUNDARY
    assert at.rt.menu is not None

    at.say("Photos get lost as well", who=GUS).press_continue()
    assert at.subjects[-1].startswith("feedback")
    assert "Photos get lost as well" in at.world.files["quick-scan.md"]


def test_a_guest_does_not_end_a_discussion() -> None:
    """Not by "done" either; all other words are turns."""
    at = table().elaborate()
    before = at.rt.debate.turn_count
    at.say("we're done", who=GUS)

    assert at.rt.stage is Stage.ELABORATING
    assert at.rt.debate.turn_count == before
    at.say("Maya, what about tunnels?", who=GUS)
    assert at.rt.debate.turn_count > before


def test_guests_press_where_the_house_lets_them() -> None:
    """And somebody who became a member, everywhere."""
    at = table(guests_press=True).say("We need it in tunnels", who=GUS).press(Action.FINISH_STEP, who=GUS)
    assert at.rt.stage is Stage.AT_BOUNDARY

    now_a_member = GUS.but(belongs=Belonging.MEMBER)
    at = table().say("hello", who=GUS).press(Action.FINISH_STEP, who=now_a_member)
    assert at.rt.manners.outsiders == {}


def test_who_left_presses_no_more() -> None:
    """What was theirs alone to press is then for the others."""
    at = table(press=PressPolicy.STARTER).say("hello", who=GUS)
    left = Person(id=at.rt.started_by, belongs=Belonging.LEFT)
    member = Person(id="ida", belongs=Belonging.MEMBER)
    policy = Policy(press=PressPolicy.STARTER)

    assert permission.refusal(at.rt, member, policy)
    assert permission.refusal(at.rt, left, policy)
    assert not permission.refusal(permission.learned(at.rt, left), member, policy)


def test_what_is_not_known_is_no_reason_to_refuse() -> None:
    """The first press of somebody counts; once they turn out to be a guest, the next does not."""
    at = table()
    at.world.belonging = {"gus": Belonging.GUEST}
    at.press(Action.FINISH_STEP, who="gus")
    assert at.rt.stage is Stage.AT_BOUNDARY

    with pytest.raises(NotNow):
        at.press_continue(who="gus")


def test_only_the_starter_presses() -> None:
    """A starter who turns out to be a guest does not leave everybody stuck."""
    at = table(press=PressPolicy.STARTER)
    at.say("We need it in tunnels", who="grace")

    with pytest.raises(NotNow, match="Ada started this roundtable"):
        at.press(Action.FINISH_STEP, who="grace")
    at.press(Action.FINISH_STEP, who="ada")

    at = table(press=PressPolicy.STARTER)
    at.rt = at.rt.but(manners=at.rt.manners.but(outsiders={"ada": "guest"}))

    at.press(Action.FINISH_STEP, who="grace")
    with pytest.raises(NotNow):
        at.press(Action.CONTINUE, who="ada")


def test_participants_press() -> None:
    """`ROUNDTABLE_PRESS=participants`: whoever wrote something here is one."""
    at = table(press=PressPolicy.PARTICIPANTS)
    with pytest.raises(NotNow, match="Write something in the thread first"):
        at.press(Action.FINISH_STEP, who="grace")

    at.say("We need it in tunnels", who="grace")
    at.press(Action.FINISH_STEP, who="grace")
    assert at.rt.stage is Stage.AT_BOUNDARY


def test_the_starter_is_still_the_starter_after_the_store_is_lost() -> None:
    """meta.json says who began it; whoever brings it back is not the one."""
    policy = Policy(press=PressPolicy.STARTER)
    at = Table(replace(shipped(), policy=policy)).start(who="grace")
    at.say("In tunnels", who="grace").press(Action.FINISH_STEP, who="grace")
    at.forget()

    assert at.rt.started_by == "grace"
    assert at.meta.slack
    assert at.meta.slack.started_by == "grace"


def test_words_count_as_they_read_now() -> None:
    """Slack keeps no order: an edit may be heard of before the message, and "finish" is what stands there then."""
    at = table()
    ts = at.ts()
    at.edit(ts, "finish", who=GUS, key=f"C1.{ts}.1").say("We need it in tunnels", who=GUS, ts=ts)

    assert at.rt.stage is Stage.DISCUSSING
    assert at.world.told[-1][0] == "gus"


WISHES = [
    "stop", "finish", "Finish step.", "C", "e", "deeper please", "quick", "done", "let's wrap up", "help",
]  # fmt: skip


@pytest.mark.parametrize("text", [*WISHES, "Edits get lost", "We stop at ten", "How fast? Fast."])
def test_words_that_may_act_are_known_without_the_roundtable(text: str) -> None:
    """What acts in some stage waits until Slack has said who wrote it; ordinary words never wait."""
    assert words.may_be_wish(text) == (text in WISHES)


def test_whom_slack_does_not_tell_of_counts_as_a_guest_for_now() -> None:
    """The sentence says why, and nothing of it is kept: the next time Slack may say more."""
    ida = Person(id="ida", name="Ida", belongs=Belonging.UNVERIFIED)
    at = table().say("We need it in tunnels", who=ida)

    with pytest.raises(NotNow, match="Slack has not told me who you are"):
        at.press(Action.FINISH_STEP, who=ida)
    assert at.rt.manners.outsiders == {}
    assert permission.start_refusal(ida, Policy(guests_press=True)) == ""
