from slack_bolt.async_app import AsyncApp

from bot.domain.effects import Sign
from bot.domain.place import Person, Place
from bot.errors import UserError
from bot.slack.manifest import STOPPED
from bot.slack.payload import Payload, needed
from bot.slack.reception import Reception
from bot.slack.verbs import Asked, ask


def register(app: AsyncApp, reception: Reception) -> None:
    @app.event(STOPPED)
    async def stopped(event: Payload) -> None:
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
        try:
            await ask(reception.desk, asked)
        except UserError:
            # Nothing to stop: Slack shows that we are at work until we say that we are not.
            reception.errands.send(reception.chat.clear(place, Sign.SESSION))
            raise
