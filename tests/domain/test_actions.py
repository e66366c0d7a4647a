"""The table of actions: a row is a button and its words. The first tests add one, as CONTRIBUTING says."""

from dataclasses import replace
from functools import cache

import pytest

from bot.domain.actions.action import ActionRow, Actions, Typed, alone, bound
from bot.domain.actions.table import ACTIONS, Action
from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import trouble_wording
from bot.domain.messages.form import FormName
from bot.domain.messages.message import Choice
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Belonging, Person
from bot.engine.verbs.table import VERBS
from bot.errors import NotNow
from bot.slack import parse
from bot.slack.client import Identity
from bot.slack.render import parts
from slack_sandbox.messages import interactive
from tests.domain.table import Table, person, shipped
from tests.domain.test_machine import SCENES
from tests.slack.conftest import payload

US = Identity(team="T0SANDBOX", user="U0ROUNDTABLE", bot="B0SANDBOX")
GUEST = Person(id="gus", name="Gus", belongs=Belonging.GUEST)

# --- a new button ---------------------------------------------------------------------------------------------------


def applauded(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    name, step = rt.name_of(event.person.id), playbook.agenda.get(rt.step_id)
    assert step, "it counts while a step is open"
    return rt.recording(f"{name} applauds {step.step_id}.", part=rt.part, user_name=name)


APPLAUD = ActionRow(
    "applaud", applauded, typed=(Typed(alone("applaud", "bravo"), frozenset({Stage.DISCUSSING})),)
)
TABLE = Actions((*ACTIONS, APPLAUD))


def offering_it() -> Table:
    """The card of an open step, with the new button on it."""
    at = Table(replace(shipped(), actions=TABLE)).start()
    message = at.menu.message
    choices = (*message.choices, Choice(action=APPLAUD, label="Applaud"))
    at.rt = at.rt.but(menu=at.menu.but(message=message.but(choices=choices)))
    return at


def clicked(at: Table, by: Person) -> Press:
    """As Slack sends the click, and as it is read."""
    blocks = list(parts(at.menu.message)[0].blocks)
    (button,) = [one for one in interactive(blocks) if one["action_id"] == "roundtable.applaud"]
    body = payload("block_actions")
    body["actions"] = [{"action_id": button["action_id"], "value": button["value"], "type": "button"}]
    pressed = parse.press(body, US, at=at.now(), actions=TABLE)
    assert isinstance(pressed, parse.Placed)
    assert isinstance(pressed.given, Press)
    return pressed.given.but(person=by)


def test_a_row_is_a_button() -> None:
    """Shown on a card, read from a click, and carried out by its transition."""
    at = offering_it()
    at.hear(clicked(at, person("grace")))

    assert at.lines[-1].content == "Grace applauds 00-01."


def test_a_row_is_what_people_type() -> None:
    """In its stage, and then it is no answer; elsewhere the words are only words."""
    at = offering_it().say("Bravo!", who="grace")
    assert [line.content for line in at.lines[-2:]] == ["Bravo!", "Grace applauds 00-01."]
    assert at.rt.answers == ()

    at.do_step().say("Bravo!", who="grace")
    assert "Grace applauds 00-01." not in [line.content for line in at.lines[-2:]]


def test_a_row_is_for_those_who_may_press() -> None:
    """By whatever door: a guest is told why, and what they typed is kept."""
    at = offering_it()
    with pytest.raises(NotNow, match="people of other organisations can write here"):
        at.decided(clicked(at, GUEST))

    said = parse.message(payload("message_in_thread", event__text="applaud")["event"], US, at=at.now())
    assert said is not None
    assert isinstance(said.given, Say)
    at.hear(said.given.but(person=GUEST, ts=at.ts()))
    assert at.lines[-1].content == "applaud"
    assert "people of other organisations can write here" in at.world.told[-1][1].text


# --- every button, in every stage -------------------------------------------------------------------------------------


@cache
def scene(stage: Stage) -> Table:
    return SCENES[stage]()


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("action", list(ACTIONS))
def test_an_action_does_something_where_it_is_offered(action: ActionRow, stage: Stage) -> None:
    """Or says why not; where it is not offered, or opens a form first, the sentence is that of an old button."""
    at = scene(stage)
    menu = at.rt.menu
    offered = [choice for choice in menu.message.offered if choice.action == action] if menu else []
    token, ts = (menu.token, at.menu_at) if menu else ("gone", "1.1")
    value = offered[0].value if offered else ""
    press = Press(
        key="a press", at=at.now(), person=person("ada"), action=action, token=token, ts=ts, value=value
    )
    if offered and action.do and not action.opens_form(value):
        after = at.decided(press)
        assert (after.lines, after.outbox) != (at.rt.lines, at.rt.outbox)
        return
    with pytest.raises(NotNow) as refused:
        at.decided(press)
    assert str(refused.value) == trouble_wording.UNKNOWN_MENU


@pytest.mark.parametrize("action", list(ACTIONS))
def test_an_action_leads_somewhere(action: ActionRow) -> None:
    """To a transition, a verb or a form; one is pressed where there is no roundtable yet."""
    assert all(callable(bound(function)) for function in (action.do, action.when) if function)
    assert action.verb in {"", *VERBS}
    assert action.form in {"", *FormName}
    assert action.do or action.verb or action.form or action == Action.TAKE_UP
    assert ACTIONS[action.name] is action
