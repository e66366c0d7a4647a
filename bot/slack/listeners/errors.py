"""
The one place where what no listener dealt with is answered.

What Slack delivers again (events) is left unacknowledged until it is saved; what it does not (commands, clicks) is
acknowledged, and the person is told to try again. What nobody listens to is acknowledged: Slack would repeat it, and
count it as a failure of ours.
"""

import logging

from slack_bolt.async_app import AsyncApp
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.errors import Conflict, NewerVersion, Unavailable, UserError
from bot.slack.markdown import mrkdwn
from bot.slack.payload import MALFORMED, Malformed, Payload, word
from bot.slack.reception import Reception, sentence_for

log = logging.getLogger(__name__)

LAST_RETRY = 3
UNSAVED, BROKEN = 503, 500


def register(app: AsyncApp, reception: Reception) -> None:
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
