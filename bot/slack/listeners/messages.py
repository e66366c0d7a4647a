from slack_bolt.async_app import AsyncApp

from bot.slack import parse
from bot.slack.payload import Payload
from bot.slack.reception import Reception
from bot.slack.verbs import Asked, ask


def register(app: AsyncApp, reception: Reception) -> None:
    @app.event("message")
    async def message(event: Payload) -> None:
        match parse.message(event, reception.us, at=reception.clock()):
            case parse.Words(place, said):
                reply = await reception.desk.say(place, said)
                reception.tell(place, said.person.id, reply)
            case parse.Amended(place, amend):
                reply = await reception.desk.amend(place, amend)
                reception.tell(place, amend.person.id, reply)
            case parse.Retracted(place, retract):
                reply = await reception.desk.retract(place, retract)
                reception.tell(place, retract.person.id, reply)

    @app.event("app_mention")
    async def mention(event: Payload) -> None:
        match parse.mention(event, reception.us, at=reception.clock()):
            case Asked() as asked:
                reception.tell(asked.place, asked.person.id, await ask(reception.desk, asked))
            case parse.Words(place, said):
                reply = await reception.desk.say(place, said, mentioned=True)
                reception.tell(place, said.person.id, reply)
