import re

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.slack import parse
from bot.slack.buttons import PREFIX
from bot.slack.desk import Desk, Reply
from bot.slack.reception import Reception
from bot.slack.wording import OTHER_VERSION, plain


def register(app: AsyncApp, reception: Reception) -> None:
    @app.action(re.compile(rf"^{re.escape(PREFIX)}"))
    async def press(ack: AsyncAck, body: parse.Payload) -> None:
        reply = await _brought(reception.desk, parse.press(body, reception.us, at=reception.clock()))
        await ack()
        reception.answer(body, reply)


async def _brought(desk: Desk, pressed: parse.Pressed | parse.Picked | None) -> Reply:
    match pressed:
        case parse.Picked(resume, reference):
            return await desk.resume(resume, reference)
        case parse.Pressed(place, press):
            return await desk.press(place, press)
        case None:
            return plain(OTHER_VERSION)
