"""What Slack sends, by kind: translated, brought to the commands, and answered."""

import logging
import re
from dataclasses import replace

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.domain.messages.message import Message
from bot.domain.privacy.discretion import discreet
from bot.domain.roundtable.effects import Sign
from bot.domain.values.places import Person, Place, Room
from bot.errors import Conflict, NewerVersion, Unavailable, UserError
from bot.slack import parse
from bot.slack.commands import Reply
from bot.slack.manifest import SHORTCUT, STOPPED
from bot.slack.markdown import mrkdwn
from bot.slack.parse import MALFORMED, Malformed, Payload, needed, word
from bot.slack.reception import ONE_MOMENT, Reception, sentence_for
from bot.slack.render import PREFIX, parts
from bot.slack.verbs import Asked, ask
from bot.slack.wording import GOING_ON, OTHER_VERSION, UNKNOWN_SHORTCUT


def _actions(app: AsyncApp, reception: Reception) -> None:
    @app.action(re.compile(rf"^{re.escape(PREFIX)}"))
    async def press(ack: AsyncAck, body: Payload) -> None:
        match parse.press(body, reception.us, at=reception.clock()):
            case parse.Picked() as picked:
                reply = await _picked(reception, body, picked)
                await ack()
                if reply is ONE_MOMENT:
                    reception.answer(body, reply)
                else:
                    reception.replace(body, _gone_on(picked, reply))
            case parse.Pressed() as pressed:
                reply = await _pressed(reception, body, pressed)
                await ack()
                reception.answer(body, reply)
            case Asked() as asked:
                reply = await reception.ask(body, asked)
                await ack()
                reception.answer(body, reply)
            case None:
                await ack()
                reception.answer(body, OTHER_VERSION)


async def _pressed(reception: Reception, body: Payload, pressed: parse.Pressed) -> Reply:
    async def known(person: Person, _room: Room) -> Reply:
        return await reception.desk.press(pressed.place, pressed.press.but(person=person))

    return await reception.brought(body, pressed.press.person, known)


async def _picked(reception: Reception, body: Payload, picked: parse.Picked) -> Reply:
    resume = picked.resume

    async def known(person: Person, room: Room) -> Reply:
        return await reception.desk.resume(resume.but(person=person, room=room), picked.reference)

    return await reception.brought(body, resume.person, known, where=resume.place, room=resume.room)


def _gone_on(picked: parse.Picked, reply: Reply) -> Message:
    """A picker is used once: what was chosen stands where the buttons were."""
    going_on = Message(text=GOING_ON % picked.label)
    return going_on.but(note=reply.text, links=reply.links) if reply else going_on


def _commands(app: AsyncApp, reception: Reception) -> None:
    @app.command(re.compile(".*"))  # a workspace may have given the command another name
    async def command(ack: AsyncAck, body: Payload) -> None:
        asked = parse.command(body, reception.us, at=reception.clock())
        reply = await reception.ask(body, asked)
        told = parts(discreet(reply, reception.us.redact)) if reply else []
        if len(told) == 1:
            await ack(text=told[0].text, blocks=told[0].blocks, response_type="ephemeral")
            return
        await ack()
        reception.tell(asked.place, asked.person.id, reply, reply_url=asked.reply_url)


# The one place where what no listener dealt with is answered.
#
# What Slack delivers again (events) is left unacknowledged until it is saved; what it does not (commands,
# clicks) is acknowledged, and the person is told to try again. What nobody listens to is acknowledged:
# Slack would repeat it, and count it as a failure of ours.


log = logging.getLogger(__name__)

LAST_RETRY = 3
UNSAVED, BROKEN = 503, 500


def _errors(app: AsyncApp, reception: Reception) -> None:
    @app.error
    async def report(error: Exception, request: AsyncBoltRequest) -> BoltResponse:
        ack, body = request.context.ack, request.body
        if isinstance(error, BoltUnhandledRequestError | Malformed):
            _note_ignored(error, body)
            return await ack()
        sentence, unacknowledged = _judged(error)
        if "command" in body:
            return await ack(text=mrkdwn(reception.us.redact(sentence)), response_type="ephemeral")
        if "event" not in body:
            reception.answer(body, sentence)
            return await ack()
        if not unacknowledged or _gives_up(request, always=isinstance(error, NewerVersion)):
            await reception.answer_once(body, sentence)
        return BoltResponse(status=unacknowledged) if unacknowledged else await ack()


def _note_ignored(error: Exception, body: Payload) -> None:
    if isinstance(error, Malformed):
        log.warning("ignored, since it is not as Slack writes it: %s", error)
    elif body.get("type") == MALFORMED:
        log.warning("ignored, since it is not as Slack writes it: %s", body["why"])
    elif body.get("type") == "app_rate_limited":
        log.warning("Slack holds events back: there are more than its limit of events an hour")


def _judged(error: Exception) -> tuple[str, int]:
    """What the person is told, and the status by which Slack delivers again what it does deliver again."""
    sentence = sentence_for(error)
    if isinstance(error, UserError):
        return sentence, 0
    return sentence, UNSAVED if isinstance(error, Unavailable | Conflict) else BROKEN


def _gives_up(request: AsyncBoltRequest, *, always: bool) -> bool:
    """Whether Slack delivers this for the last time, and it was said to us, so that silence would be rude."""
    attempt = request.headers.get("x-slack-retry-num", ["0"])[0]
    to_us = always or word(request.body, "event", "type") == "app_mention"
    return to_us and attempt.isdecimal() and int(attempt) >= LAST_RETRY


def _messages(app: AsyncApp, reception: Reception) -> None:
    @app.event("message")
    async def message(body: Payload, event: Payload) -> None:
        reply: Reply = None
        match parse.message(event, reception.us, at=reception.clock()):
            case parse.Words(place, said):
                reply = await reception.desk.say(place, await reception.said(said))
            case parse.Amended(place, amend):
                reply = await reception.desk.amend(place, await reception.said(amend))
            case parse.Retracted(place, retract):
                reply = await reception.desk.retract(place, retract)
        if reply:
            await reception.answer_once(body, reply)

    @app.event("app_mention")
    async def mention(body: Payload, event: Payload) -> None:
        """Also no answer is noted: the same said again may find what it has begun."""
        match parse.mention(event, reception.us, at=reception.clock()):
            case Asked() as asked:
                await reception.answer_once(body, await reception.ask(body, asked))
            case parse.Words(place, said):
                reply = await reception.desk.say(place, await reception.said(said), mentioned=True)
                await reception.answer_once(body, reply)


# What people touched that nobody listens to: somebody else's, or of another version. They are told so.
#
# Everything else that nobody listens to needs no answer but an acknowledgement; `errors` gives it.


ANYTHING = re.compile(".*")


def _rest(app: AsyncApp, reception: Reception) -> None:
    @app.action(ANYTHING)
    async def action(ack: AsyncAck, body: Payload) -> None:
        await ack()
        reception.answer(body, OTHER_VERSION)

    @app.shortcut(ANYTHING)
    async def shortcut(ack: AsyncAck, body: Payload) -> None:
        await ack()
        reception.answer(body, UNKNOWN_SHORTCUT)

    @app.options(ANYTHING)
    async def options(ack: AsyncAck) -> None:
        await ack(options=[])


def _sessions(app: AsyncApp, reception: Reception) -> None:
    @app.event(STOPPED)
    async def stopped(body: Payload, event: Payload) -> None:
        """Slack's own button, which it shows in a thread while an app that is declared an agent is at work there."""
        place = Place(
            team=reception.us.team, channel=needed(event, "channel"), thread=needed(event, "thread_ts")
        )
        asked = Asked(
            verb="stop",
            rest="",
            place=place,
            person=Person(id=needed(event, "user")),
            key=f"stopped.{place.channel}.{place.thread}.{needed(event, 'event_ts')}",
            at=reception.clock(),
        )

        async def known(person: Person, _room: Room) -> Reply:
            try:
                return await ask(reception.desk, replace(asked, person=person))
            except UserError:
                # Nothing to stop: Slack shows that we are at work until we say that we are not.
                reception.errands.send(reception.chat.clear(place, Sign.SESSION))
                raise

        await reception.answer_once(body, await reception.brought(body, asked.person, known))


def _shortcuts(app: AsyncApp, reception: Reception) -> None:
    @app.shortcut({"type": "message_action", "callback_id": SHORTCUT})
    async def start(ack: AsyncAck, body: Payload) -> None:
        asked = parse.shortcut(body, reception.us, at=reception.clock())
        reply = await reception.ask(body, asked)
        await ack()
        reception.answer(body, reply)


def register(app: AsyncApp, reception: Reception) -> None:
    """
    The first listener that matches gets it, so what catches all the rest comes last; and Bolt asks one after the other,
    so what comes most often is first.
    """
    _messages(app, reception)
    _commands(app, reception)
    _actions(app, reception)
    _shortcuts(app, reception)
    _sessions(app, reception)
    _errors(app, reception)
    _rest(app, reception)
