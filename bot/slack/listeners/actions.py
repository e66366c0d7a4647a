import re

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.message import Message
from bot.slack import parse
from bot.slack.buttons import PREFIX
from bot.slack.payload import Payload
from bot.slack.reception import Reception
from bot.slack.verbs import Asked, ask
from bot.slack.wording import GOING_ON, OTHER_VERSION


def register(app: AsyncApp, reception: Reception) -> None:
    @app.action(re.compile(rf"^{re.escape(PREFIX)}"))
    async def press(ack: AsyncAck, body: Payload) -> None:
        match parse.press(body, reception.us, at=reception.clock()):
            case parse.Picked() as picked:
                after = await _resumed(reception, picked)
                await ack()
                reception.replace(body, after)
            case parse.Pressed(place, pressed):
                reply = await reception.desk.press(place, pressed)
                await ack()
                reception.answer(body, reply)
            case Asked() as asked:
                reply = await ask(reception.desk, asked)
                await ack()
                reception.answer(body, reply)
            case None:
                await ack()
                reception.answer(body, OTHER_VERSION)


async def _resumed(reception: Reception, picked: parse.Picked) -> Message:
    """A picker is used once: what was chosen stands where the buttons were."""
    reply = await reception.desk.resume(picked.resume, picked.reference)
    going_on = Message(text=GOING_ON % picked.label)
    return going_on.but(note=reply.text, links=reply.links) if reply else going_on
