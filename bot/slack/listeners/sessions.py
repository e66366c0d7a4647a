from dataclasses import replace

from slack_bolt.async_app import AsyncApp

from bot.domain.effects import Sign
from bot.domain.place import Person, Place, Room
from bot.errors import UserError
from bot.slack.desk import Reply
from bot.slack.manifest import STOPPED
from bot.slack.payload import Payload, needed
from bot.slack.reception import Reception
from bot.slack.verbs import Asked, ask


def register(app: AsyncApp, reception: Reception) -> None:
    @app.event(STOPPED)
    async def stopped(body: Payload, event: Payload) -> None:
        """Slack's own button, which it shows in a thread while an app that is declared an agent is at work there."""
        place = Place(
            team=reception.us.team, channel=needed(event, "channel"), thread=needed(event, "thread_ts")
        )
        asked = Asked(
            verb="stop",
            rest="",
            place=place,
            person=Person(id=needed(event, "user")),
            key=f"stopped.{place.channel}.{place.thread}.{needed(event, 'event_ts')}",
            at=reception.clock(),
        )

        async def known(person: Person, _room: Room) -> Reply:
            try:
                return await ask(reception.desk, replace(asked, person=person))
            except UserError:
                # Nothing to stop: Slack shows that we are at work until we say that we are not.
                reception.errands.send(reception.chat.clear(place, Sign.SESSION))
                raise

        await reception.answer_once(body, await reception.brought(body, asked.person, known))
