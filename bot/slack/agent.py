"""
Agent mode: an app that is declared an agent can be talked to in direct messages (`roundtable manifest --agent`).
Slack sends none of this to an app that is not declared one.
"""

import logging
import re
from dataclasses import replace

from slack_bolt.async_app import AsyncApp

from bot.domain.messages import agent_wording
from bot.engine.desk import Reply
from bot.errors import SlackError
from bot.slack import parse
from bot.slack.parse import Payload, needed, word
from bot.slack.reception import Reception

log = logging.getLogger(__name__)

HELLO = re.compile(r"(?:hi|hello|hey|good\s+(?:morning|afternoon|evening))(?:\s+there)?\W*", re.IGNORECASE)

DECIDED = re.compile(r"what\s+(?:did|have)\s+we\s+decided?\W*", re.IGNORECASE)

CATCH_UP = re.compile(r"catch\s+me\s+up\s+on\s+(?P<title>\S.*)", re.IGNORECASE)
"""A title has several words, which elsewhere would be no command."""


def is_direct(event: Payload) -> bool:
    """Whether *event* is a message between one person and us."""
    return word(event, "channel_type") == "im"


async def said(reception: Reception, body: Payload, event: Payload) -> None:
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


def listen(app: AsyncApp, reception: Reception) -> None:
    async def is_messages_tab(event: Payload) -> bool:
        return word(event, "tab") == "messages"

    @app.event("app_home_opened", matchers=[is_messages_tab])
    async def opened(event: Payload) -> None:
        if reception.us.is_agent:
            reception.errands.send(_suggest(reception, needed(event, "channel")))


async def _suggest(reception: Reception, channel: str) -> None:
    """A refusal changes nothing for people: they can type the same."""
    try:
        await reception.chat.suggest(channel, agent_wording.TITLE, agent_wording.PROMPTS)
    except SlackError as error:
        log.info("no prompts are suggested: %s (%s)", error, error.reason)
