"""The Bolt app and its listeners, by kind of payload: parsed, brought to the desk, acknowledged, answered."""

import logging
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from traceback import walk_tb
from types import TracebackType
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.logger.messages import warning_client_prioritized_and_token_skipped
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages import agent_wording, start_form
from bot.domain.messages.form import FormName, Submission, SubmissionResult
from bot.domain.messages.message import Action, Message
from bot.domain.privacy.discretion import redacted_message
from bot.domain.roundtable.effects import WorkIndicator
from bot.domain.roundtable.inputs import Amend, PersonChanged, Press, Retract, Say
from bot.domain.values.places import ChannelKind, Person, Place
from bot.engine.desk import Reply
from bot.engine.ports import NO_METER, Meter
from bot.engine.verbs.verb import VerbRequest
from bot.errors import Conflict, LeftAlone, SlackError, Unavailable, UserError
from bot.slack import modals, parse
from bot.slack.client import Identity
from bot.slack.handing_over import Owner, hand_over
from bot.slack.manifest import (
    LEFT,
    MARK_SHORTCUT,
    MEMBERS,
    PERSON,
    RENUMBERED,
    SHORTCUT,
    START_SHORTCUT,
    STOPPED,
)
from bot.slack.markdown import mrkdwn
from bot.slack.parse import MALFORMED, Malformed, Payload, foreign, needed, word
from bot.slack.reception import ONE_MOMENT, Reception, sentence_for
from bot.slack.render import PREFIX, parts

log = logging.getLogger(__name__)
# Bolt warns that it does not use SLACK_BOT_TOKEN; we do.
_ADVICE = warning_client_prioritized_and_token_skipped()
logging.getLogger("slack_bolt.AsyncApp").addFilter(lambda record: record.getMessage() != _ADVICE)

OTHER_VERSION = "That button is from another version of me. Say `@roundtable status` to see where we are."
GOING_ON = "Going on with **%s**."
UNKNOWN_SHORTCUT = "That shortcut is from another version of me. Say `/roundtable help` to see what I can do."
UNKNOWN = {"block_actions": OTHER_VERSION, "message_action": UNKNOWN_SHORTCUT, "shortcut": UNKNOWN_SHORTCUT}
"""What a person is told who used a button or a shortcut of another app or version."""

LINK_BUTTON = re.compile(rf"^{re.escape(PREFIX)}open(\.\d+)?$")
"""Slack opens the link, and sends the press as well."""

IGNORED = "ignored, because it is malformed: %s"

OK = 200
UNSAVED, BROKEN = 503, 500
LAST_RETRY = 3
MOST_NOTED = 100
DOORS = {
    "app_rate_limited": "app_rate_limited",
    "block_actions": "action",
    "message_action": "shortcut",
    "shortcut": "shortcut",
    "view_submission": "view",
}


def slack_app(
    client: AsyncWebClient, reception: Reception, *, meter: Meter = NO_METER, owner: Owner | None = None
) -> AsyncApp:
    """
    By default Bolt acknowledges events before their listener runs, and drops them, acknowledged, while `auth.test`
    fails. Here the response comes after the listener, and our identity is known beforehand.

    Signatures are not verified here: `transport` does that before Bolt sees a request. Without an *owner* this is the
    only process.
    """
    app = _App(
        meter,
        reception.us,
        owner.deciding if owner else nullcontext,
        name="roundtable",
        # Bolt copies and changes its client; listeners answer through `Chat` instead.
        client=AsyncWebClient(base_url=client.base_url, session=client.session, retry_handlers=[]),
        authorize=_authorize(reception.us),
        request_verification_enabled=False,
        process_before_response=True,
        ignoring_self_events_enabled=False,  # `parse` ignores them, and those of other bots
        raise_error_for_unhandled_request=True,  # a 404 would make Slack repeat it
        attaching_conversation_kwargs_enabled=False,
    )
    if owner:
        hand_over(app, owner, reception.us, meter)
    _register(app, reception)
    return app


class _App(AsyncApp):
    """
    Measures how long Slack waits; a middleware could not, because Bolt calls listeners after all middlewares.

    Leaves out payloads for other workspaces, which Bolt accepts.
    """

    def __init__(
        self, meter: Meter, us: Identity, deciding: Callable[[], AbstractContextManager[None]], **options: Any
    ) -> None:
        super().__init__(**options)
        self._meter = meter
        self._deciding = deciding
        self._us = us
        self._foreign: set[str] = set()

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        began = time.monotonic()
        if addressee := foreign(req.body, self._us):
            self._note(addressee)
            response = BoltResponse(status=OK)
        else:
            with self._deciding():
                response = await self._answer(req)
        seconds = time.monotonic() - began
        self._meter.acknowledged(_door(req.body), taken=response.status == OK, seconds=seconds)
        return response

    async def _answer(self, req: AsyncBoltRequest) -> BoltResponse:
        try:
            return await super().async_dispatch(req)
        except (LookupError, TypeError, AttributeError) as error:
            trace = error.__traceback__
            if trace and _is_ours(trace.tb_next):
                raise
            # Bolt fails on a malformed payload once more when it reports that.
            log.warning(IGNORED, repr(error))
            return BoltResponse(status=OK)

    def _note(self, addressee: str) -> None:
        """Logs each addressee once, because Slack goes on sending."""
        if addressee not in self._foreign and len(self._foreign) < MOST_NOTED:
            self._foreign.add(addressee)
            log.warning("ignored, since it is not for this bot: Slack sent it for %s", addressee)


def _door(body: Payload) -> str:
    if "command" in body:
        return "command"
    return "event" if "event" in body else DOORS.get(str(body.get("type")), "other")


def _authorize(us: Identity) -> Callable[..., Awaitable[AuthorizeResult]]:
    async def authorize(enterprise_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=us.team,
            bot_id=us.bot,
            bot_user_id=us.user,
            bot_token=us.token,
        )

    return authorize


# --- listeners ------------------------------------------------------------------------------------------------------


def _register(app: AsyncApp, reception: Reception) -> None:
    """Bolt tries listeners in this order: the most frequent first."""
    _messages(app, reception)
    _commands(app, reception)
    _actions(app, reception)
    _views(app, reception)
    _shortcuts(app, reception)
    _home(app, reception)
    _reactions(app, reception)
    _channels(app, reception)
    _sessions(app, reception)
    _errors(app, reception)


def _messages(app: AsyncApp, reception: Reception) -> None:
    @app.event("message")
    async def message(body: Payload, event: Payload) -> None:
        if word(event, "channel_type") == "im":
            return await _said_directly(reception, body, event)
        reply: Reply = None
        match parse.message(event, reception.us, at=reception.clock()):
            case parse.Placed(place, Say() | Amend() as said):
                reply = await reception.desk.hear(place, await reception.said(said))
            case parse.Placed(place, Retract() as retract):
                reply = await reception.desk.hear(place, retract)
        if reply:
            await reception.answer_once(body, reply)
        return None

    @app.event("app_mention")
    async def mention(body: Payload, event: Payload) -> None:
        """An empty answer counts, too: a repeated delivery may find what the first one has started."""
        match parse.mention(event, reception.us, at=reception.clock()):
            case VerbRequest() as asked:
                await reception.answer_once(body, await reception.ask(body, asked))
            case parse.Placed(place, Say() as said):
                reply = await reception.desk.hear(place, await reception.said(said), mentioned=True)
                await reception.answer_once(body, reply)


def _commands(app: AsyncApp, reception: Reception) -> None:
    @app.command(re.compile(".*"))  # a workspace may rename the command
    async def command(ack: AsyncAck, body: Payload) -> None:
        asked = parse.command(body, reception.us, at=reception.clock())
        if asked.verb == "start" and not asked.rest:
            await _start_form(reception, body, asked.place, asked.person)
            await ack()
            return
        reply = await reception.ask(body, asked)
        rendered = parts(redacted_message(reply, reception.us.redact)) if reply else []
        if len(rendered) == 1:
            await ack(text=rendered[0].text, blocks=rendered[0].blocks, response_type="ephemeral")
            return
        await ack()
        reception.tell(asked.place, asked.person.id, reply, reply_url=asked.reply_url)


def _actions(app: AsyncApp, reception: Reception) -> None:
    @app.action(LINK_BUTTON)
    async def followed(ack: AsyncAck) -> None:
        await ack()

    @app.action(re.compile(rf"^{re.escape(PREFIX)}"))
    async def press(ack: AsyncAck, body: Payload) -> None:
        match parse.press(body, reception.us, at=reception.clock()):
            case parse.Picked() as picked:
                reply = await reception.ask(body, picked.asked)
                await ack()
                if reply is ONE_MOMENT:
                    reception.answer(body, reply)
                else:
                    reception.replace(body, _gone_on(picked, reply))
            case parse.Placed(place, Press() as pressed):
                reception.chat.pressed(place, pressed.ts, parse.reply_url(body))
                reply = await _pressed(reception, body, place, pressed)
                await ack()
                reception.answer(body, reply)
            case VerbRequest() as asked:
                reply = await reception.ask(body, asked)
                await ack()
                reception.answer(body, reply)
            case parse.FormRequest() as wanted:
                person = reception.remembered(wanted.person)
                form = await reception.desk.form(wanted.place, person, wanted.action, wanted.subject)
                reception.open_form(body, form, wanted.trigger)
                await ack()
            case None:
                await ack()
                reception.answer(body, OTHER_VERSION)


def _views(app: AsyncApp, reception: Reception) -> None:
    @app.view(re.compile(rf"^{re.escape(PREFIX)}\w+{modals.SUFFIX}$"))
    async def submit(ack: AsyncAck, body: Payload) -> None:
        """Saved before it is acknowledged. What goes wrong is said in the form, which stays open: see `_errors`."""
        sent = modals.submission(body, reception.us, at=reception.clock())
        result = redacted_message(await _submitted(reception, sent), reception.us.redact)
        await ack(**modals.response(result, body, reception.us))
        if result.place:
            reception.tell(result.place.but(thread=""), sent.person.id, result.told)


async def _submitted(reception: Reception, sent: Submission) -> SubmissionResult:
    if sent.name is not FormName.START:
        return await reception.desk.submit(sent.but(person=await reception.identified(sent.person)))
    where = Place(team=reception.us.team, channel=sent.text(start_form.CHANNEL))
    person, room = await reception.placed(sent.person, where)
    return await reception.desk.submit(sent.but(person=person), team=where.team, room=room)


async def _start_form(reception: Reception, body: Payload, place: Place, person: Person) -> None:
    trigger = needed(body, "trigger_id")
    form = await reception.desk.form(place, reception.remembered(person), Action.START_FORM, "")
    reception.open_form(body, form, trigger)


async def _pressed(reception: Reception, body: Payload, place: Place, pressed: Press) -> Reply:
    async def known(person: Person, _room: ChannelKind) -> Reply:
        return await reception.desk.hear(place, pressed.but(person=person))

    return await reception.brought(body, pressed.person, known)


def _gone_on(picked: parse.Picked, reply: Reply) -> Message:
    """The chosen item stands where the picker's buttons were."""
    going_on = Message(text=GOING_ON % picked.label)
    return going_on.but(note=reply.text, links=reply.links) if reply else going_on


def _shortcuts(app: AsyncApp, reception: Reception) -> None:
    @app.shortcut({"type": "message_action", "callback_id": SHORTCUT})
    async def start(ack: AsyncAck, body: Payload) -> None:
        asked = parse.shortcut(body, reception.us, at=reception.clock())
        reply = await reception.ask(body, asked)
        await ack()
        reception.answer(body, reply)

    @app.shortcut({"type": "shortcut", "callback_id": START_SHORTCUT})
    async def start_anywhere(ack: AsyncAck, body: Payload) -> None:
        """From anywhere, so the form asks for the channel."""
        person = parse.clicker(body, reception.us)
        await _start_form(reception, body, Place(team=reception.us.team, channel=""), person)
        await ack()

    @app.shortcut({"type": "message_action", "callback_id": MARK_SHORTCUT})
    async def mark(ack: AsyncAck, body: Payload) -> None:
        trigger = needed(body, "trigger_id")
        form = await reception.desk.mark_form(*parse.mark_request(body, reception.us))
        reception.open_form(body, form, trigger)
        await ack()


def _reactions(app: AsyncApp, reception: Reception) -> None:
    @app.event(re.compile(r"^reaction_(added|removed)$"))
    async def reacted(event: Payload) -> None:
        if found := parse.reaction(event, reception.us, at=reception.clock()):
            person = reception.remembered(found.given.person)
            await reception.desk.mark(found.place, found.given.but(person=person))


def _home(app: AsyncApp, reception: Reception) -> None:
    @app.event("app_home_opened")
    async def opened(event: Payload) -> None:
        if word(event, "tab") == "home":
            await reception.desk.opened_home(reception.us.people.person(needed(event, "user")))
        elif word(event, "tab") == "messages" and reception.us.is_agent:
            reception.errands.send(_suggest(reception, needed(event, "channel")))


def _channels(app: AsyncApp, reception: Reception) -> None:
    @app.event(re.compile(rf"^({'|'.join(LEFT)})$"))
    async def left(event: Payload) -> None:
        place, gone = parse.channel_gone(event, reception.us, at=reception.clock())
        await reception.desk.in_channel(place, gone)

    @app.event(RENUMBERED)
    async def change_channel_id(event: Payload) -> None:
        place, to = parse.channel_moved(event, reception.us, at=reception.clock())
        await reception.desk.in_channel(place, to)

    @app.event(re.compile(rf"^({'|'.join(MEMBERS)})$"))
    async def members_changed(event: Payload) -> None:
        reception.chat.members_changed(needed(event, "channel"))

    @app.event(PERSON)
    async def person_changed(event: Payload) -> None:
        user = event.get("user")
        if isinstance(user, dict) and (person := reception.chat.person_changed(user)):
            key = f"changed.{person.id}.{needed(event, 'event_ts')}"
            await reception.desk.person_changed(PersonChanged(key=key, at=reception.clock(), person=person))


def _sessions(app: AsyncApp, reception: Reception) -> None:
    @app.event(STOPPED)
    async def stopped(body: Payload, event: Payload) -> None:
        """Slack's own stop button, in threads where an app that is declared an agent is at work."""
        place = Place(
            team=reception.us.team, channel=needed(event, "channel"), thread=needed(event, "thread_ts")
        )
        asked = VerbRequest(
            verb="stop",
            rest="",
            place=place,
            person=Person(id=reception.us.people.person(needed(event, "user"))),
            key=f"stopped.{place.channel}.{place.thread}.{needed(event, 'event_ts')}",
            at=reception.clock(),
        )

        async def known(person: Person, _room: ChannelKind) -> Reply:
            try:
                return await reception.desk.ask(replace(asked, person=person))
            except UserError:
                # Nothing to stop: clear the indicator, which Slack shows until we do.
                reception.errands.send(reception.chat.clear(place, WorkIndicator.SESSION))
                raise

        await reception.answer_once(body, await reception.brought(body, asked.person, known))


# --- agent mode: an app that is declared an agent can be talked to in direct messages --------------------------------

HELLO = re.compile(r"(?:hi|hello|hey|good\s+(?:morning|afternoon|evening))(?:\s+there)?\W*", re.IGNORECASE)
DECIDED = re.compile(r"what\s+(?:did|have)\s+we\s+decided?\W*", re.IGNORECASE)
CATCH_UP = re.compile(r"catch\s+me\s+up\s+on\s+(?P<title>\S.*)", re.IGNORECASE)
"""A title has several words, which elsewhere would be no command."""


async def _said_directly(reception: Reception, body: Payload, event: Payload) -> None:
    """A command works as elsewhere. Other words belong to no roundtable; they can be given to one by a form."""
    asked = parse.direct(event, reception.us, at=reception.clock())
    if asked is None:
        return
    reply: Reply
    if not asked.verb and (about := CATCH_UP.fullmatch(asked.rest)):
        asked = replace(asked, verb="catchup", rest=about["title"].rstrip(" \t.?!"))
    elif not asked.verb and DECIDED.fullmatch(asked.rest):
        asked = replace(asked, verb="decisions", rest="")
    if asked.verb:
        reply = await reception.ask(body, asked)
    elif HELLO.fullmatch(asked.rest):
        reply = await reception.desk.greeted(asked.person)
    else:
        reply = await reception.desk.belongs_nowhere(asked.person)
    await reception.answer_once(body, reply)


async def _suggest(reception: Reception, channel: str) -> None:
    """A refusal changes nothing for people: they can type the same."""
    try:
        await reception.chat.suggest(channel, agent_wording.TITLE, agent_wording.PROMPTS)
    except SlackError as error:
        log.info("no prompts are suggested: %s (%s)", error, error.reason)


def _errors(app: AsyncApp, reception: Reception) -> None:
    """
    Every error of a listener ends here. Events stay unacknowledged until they are saved, so Slack repeats them.
    Commands and clicks are not repeated: they are acknowledged, and the person is told to try again. Payloads without
    a listener are acknowledged.
    """

    @app.error
    async def report(error: Exception, request: AsyncBoltRequest) -> BoltResponse:
        ack, body = request.context.ack, request.body
        if isinstance(error, BoltUnhandledRequestError | Malformed) or not _is_ours(error.__traceback__):
            _note_ignored(error, body)
            if isinstance(error, BoltUnhandledRequestError):
                reception.answer(body, UNKNOWN.get(str(body.get("type")), ""))
            return await ack()
        sentence, unacknowledged = _judged(error)
        if "command" in body:
            return await ack(text=mrkdwn(reception.us.redact(sentence)), response_type="ephemeral")
        if body.get("type") == "view_submission":
            return await ack(**modals.refused(body, reception.us.redact(sentence)))
        if "event" not in body:
            reception.answer(body, sentence)
            return await ack()
        if not unacknowledged or _gives_up(request, always=isinstance(error, LeftAlone)):
            await reception.answer_once(body, sentence)
        return BoltResponse(status=unacknowledged) if unacknowledged else await ack()


def _is_ours(trace: TracebackType | None) -> bool:
    """Not where Bolt failed before any code of ours saw the payload: it is malformed."""
    return any(frame.f_globals["__name__"].startswith("bot.") for frame, _ in walk_tb(trace))


def _note_ignored(error: Exception, body: Payload) -> None:
    if isinstance(error, Malformed):
        log.warning(IGNORED, error)
    elif not isinstance(error, BoltUnhandledRequestError):
        log.warning(IGNORED, repr(error))
    elif body.get("type") == MALFORMED:
        log.warning(IGNORED, body["why"])
    elif body.get("type") == "app_rate_limited":
        log.warning("Slack holds events back: there are more than its hourly limit")


def _judged(error: Exception) -> tuple[str, int]:
    """What the person is told, and the status that makes Slack repeat an event; 0 when it shall not."""
    sentence = sentence_for(error)
    if isinstance(error, UserError):
        return sentence, 0
    return sentence, UNSAVED if isinstance(error, Unavailable | Conflict) else BROKEN


def _gives_up(request: AsyncBoltRequest, *, always: bool) -> bool:
    """Whether this is Slack's last delivery of something that was said to us, so that the person needs an answer."""
    attempt = request.headers.get("x-slack-retry-num", ["0"])[0]
    to_us = always or word(request.body, "event", "type") == "app_mention"
    return to_us and attempt.isdecimal() and int(attempt) >= LAST_RETRY
