"""
What people touched that nobody listens to: somebody else's, or of another version. They are told so.

Everything else that nobody listens to needs no answer but an acknowledgement; `errors` gives it.
"""

import re

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.slack.payload import Payload
from bot.slack.reception import Reception
from bot.slack.wording import OTHER_VERSION, UNKNOWN_SHORTCUT

ANYTHING = re.compile(".*")


def register(app: AsyncApp, reception: Reception) -> None:
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
