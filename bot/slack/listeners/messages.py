from slack_bolt.async_app import AsyncApp

from bot.slack import parse
from bot.slack.reception import Reception
from bot.slack.verbs import Asked, ask


def register(app: AsyncApp, reception: Reception) -> None:
    @app.event("message")
    async def message(event: parse.Payload) -> None:
        if words := parse.message(event, reception.us, at=reception.clock()):
            reply = await reception.desk.say(words.place, words.said)
            reception.tell(words.place, words.said.person.id, reply)

    @app.event("app_mention")
    async def mention(event: parse.Payload) -> None:
        match parse.mention(event, reception.us, at=reception.clock()):
            case Asked() as asked:
                reception.tell(asked.place, asked.person.id, await ask(reception.desk, asked))
            case parse.Words(place, said):
                reply = await reception.desk.say(place, said, mentioned=True)
                reception.tell(place, said.person.id, reply)
