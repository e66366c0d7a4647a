from slack_bolt.async_app import AsyncApp

from bot.slack import parse
from bot.slack.desk import Amended, Desk, Reply, Retracted
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
            case Amended() | Retracted() as change:
                reception.tell(change.place, change.person.id, await _brought(reception.desk, change))

    @app.event("app_mention")
    async def mention(event: Payload) -> None:
        match parse.mention(event, reception.us, at=reception.clock()):
            case Asked() as asked:
                reception.tell(asked.place, asked.person.id, await ask(reception.desk, asked))
            case parse.Words(place, said):
                reply = await reception.desk.say(place, said, mentioned=True)
                reception.tell(place, said.person.id, reply)


async def _brought(desk: Desk, change: Amended | Retracted) -> Reply:
    if isinstance(change, Amended):
        return await desk.amend(change.place, change)
    return await desk.retract(change.place, change)
