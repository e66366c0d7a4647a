"""Every card and form of a played meeting, held against what Slack takes."""

from typing import Any, NamedTuple

from bot.domain.actions.table import SOMETHING_ELSE
from bot.domain.messages import mark_wording, start_form
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable import cards
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import amending
from bot.slack.modals import view
from bot.slack.render import parts
from slack_sandbox.rules.blocks import message_problems, view_problems
from tests.domain.table import Table, person

ALWAYS_THERE = {
    *(Action.FINISH_STEP, Action.CONTINUE, Action.ELABORATE, Action.SKIP, Action.STOP, Action.RESUME),
    *(
        Action.AMEND,
        Action.SORT,
        Action.READ,
        Action.REOPEN,
        Action.SETTINGS,
        Action.CATCH_UP,
    ),
    *(Action.STAND, Action.RECORD, Action.OBJECT, Action.OBJECTION, Action.END_ELABORATION, Action.AGREED),
    Action.RETRY,
}
"""What the meeting has to show, so that the test is about all of these."""


class Seen(NamedTuple):
    """A message in the thread, and the roundtable as it stood then."""

    rt: Roundtable
    ts: str
    message: Message


class Album(Table):
    """Keeps every message as it was sent, also what was edited since; and what can be pressed between two inputs."""

    def __init__(self, **given: Any) -> None:
        self.shown: list[Message] = []
        self.offers: list[Seen] = []
        super().__init__(**given)

    def _paid(self) -> "Album":
        super()._paid()
        self.offers += (
            Seen(self.rt, one.ts, one.message) for one in self.world.thread if one.message.offered
        )
        return self

    def pay_one(self) -> bool:
        if self.rt.outbox and isinstance(found := getattr(self.rt.outbox[0], "message", None), Message):
            self.shown.append(found)
        return super().pay_one()


def played() -> Album:
    at = Album()
    at.start("Rate limiting")
    for number in range(14):
        at.say(f"We have to know part {number} of the gateway.", who="grace")
    at.press(Action.FINISH_STEP)
    at.world.more = {"by_rule": True}
    at.press(Action.ELABORATE).say("option: a queue").say("option: a file", who="grace")
    at.say("for A").say("objection: it fills up", who="grace").say("for A", who="linus")
    at.say("Drivers lose 40 % of their edits in tunnels.", who="grace").say("decision: a queue").say(
        "done"
    ).press_continue()
    at.through("01-06").stop().resume().press_continue()
    at.press(Action.FINISH_STEP).fail("speak", times=3).press(Action.ELABORATE)
    return at


def planned() -> Album:
    at = Album()
    at.start("Rate limiting").plan()
    at.say("2. The night jobs fail.", who="grace").say("Test Planner: no-go; because: it is not said")
    at.press(Action.FINISH_STEP)
    return at


def test_slack_takes_every_message_of_a_meeting() -> None:
    """Also each edit, and what one person reads of a card that is cut."""
    meeting, plan = played(), planned()
    whole = cards.read(meeting.rt, "00-01", meeting.playbook)
    every = [*meeting.shown, *plan.shown, whole]
    offered = {choice.action for message in every for choice in message.offered}

    wrong = {
        message.text[:60]: problems
        for message in every
        for part in parts(message)
        if (problems := message_problems(part.blocks))
    }
    assert wrong == {}
    assert ALWAYS_THERE - offered == set()


def test_slack_takes_every_form() -> None:
    """Of entries, sections, notes, settings, discussions, marks and the start."""
    at, ada = Album(), person("ada")
    at.start("Rate limiting").say("problem: Batch jobs starve everybody else.").say("It happens at night.")
    playbook = at.playbook
    forms = [amending.opened(at.rt, action, "", ada, playbook) for action in (Action.AMEND, Action.SETTINGS)]
    forms += [
        amending.opened(at.rt, Action.AMEND, id, ada, playbook)
        for id, entry in at.rt.specification.entries.items()
        if entry.kind in playbook.schema.kinds
    ]
    at.world.more = {"by_rule": True}
    at.press(Action.FINISH_STEP).press(Action.ELABORATE).say("option: a queue").say("option: a file")
    at.say("objection: it fills up", who="grace")
    subjects = {Action.RECORD: "", Action.OBJECT: "", Action.SEALED: "", Action.OBJECTION: "OBJ-001/risk"}
    subjects |= {Action.OPTION: "", Action.STAND: SOMETHING_ELSE}
    forms += [amending.opened(at.rt, action, subject, ada, playbook) for action, subject in subjects.items()]
    forms.append(mark_wording.form(at.rt.slug, at.now(), words="We stay with Redis.", author="Grace"))
    forms.append(start_form.start_form(playbook, channel="C1"))

    assert {form.name: view_problems(view(form)) for form in forms} == {form.name: [] for form in forms}
    assert len({form.name for form in forms}) >= 8
