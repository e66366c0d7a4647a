from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.slack import parse
from bot.slack.manifest import SHORTCUT
from bot.slack.payload import Payload
from bot.slack.reception import Reception


def register(app: AsyncApp, reception: Reception) -> None:
    @app.shortcut({"type": "message_action", "callback_id": SHORTCUT})
    async def start(ack: AsyncAck, body: Payload) -> None:
        asked = parse.shortcut(body, reception.us, at=reception.clock())
        reply = await reception.ask(body, asked)
        await ack()
        reception.answer(body, reply)
