import re

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.message import Message
from bot.domain.place import Person, Room
from bot.slack import parse
from bot.slack.buttons import PREFIX
from bot.slack.desk import Reply
from bot.slack.payload import Payload
from bot.slack.reception import ONE_MOMENT, Reception
from bot.slack.verbs import Asked
from bot.slack.wording import GOING_ON, OTHER_VERSION


def register(app: AsyncApp, reception: Reception) -> None:
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
