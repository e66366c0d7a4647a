from slack_bolt.async_app import AsyncApp

from bot.slack import parse
from bot.slack.desk import Reply
from bot.slack.payload import Payload
from bot.slack.reception import Reception
from bot.slack.verbs import Asked


def register(app: AsyncApp, reception: Reception) -> None:
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
