"""What verbs, forms and events in threads are carried out with: the engine, what is kept, and who may do what."""

from collections.abc import Awaitable, Callable
from dataclasses import InitVar, dataclass

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policy
from bot.domain.messages.message import Message
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.reviews.notice import AskReview
from bot.domain.roundtable import digest, permission
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Person, Place
from bot.engine import answers
from bot.engine.access import Finder, same_channel
from bot.engine.personal import Personal
from bot.engine.ports import Chat, Records, Store, Workspace
from bot.engine.roundtables import Roundtables
from bot.engine.source_ports import NO_READERS, SourceReaders
from bot.engine.unknown_threads import UnknownThreads
from bot.engine.viewing import Viewers
from bot.errors import UserError

Reply = Message | None
"""An answer to only the person who asked; None when the thread will show it."""


@dataclass(kw_only=True, eq=False)
class Desk:
    """*secret* makes slugs of private items; *redact* is done to files that roundtables begin with."""

    roundtables: Roundtables
    ask_review: Callable[[str, AskReview], Awaitable[None]]
    read_review: Callable[[str, str, int], Awaitable[Message]]
    store: Store
    workspace: Workspace
    records: Records
    chat: Chat
    playbook: Playbook
    personal: Personal
    viewers: Viewers
    secret: InitVar[bytes]
    redact: Redact = unchanged
    sources: SourceReaders = NO_READERS

    def __post_init__(self, secret: bytes) -> None:
        self.threads = UnknownThreads(self.store, self.workspace, self.chat)
        self.finder = Finder(self.store, self.workspace, self.threads, self.viewers, secret=secret)

    def read_again(self, playbook: Playbook) -> None:
        """The content has changed."""
        self.playbook = playbook
        self.personal.read_again(playbook)

    def playbook_of(self, rt: Roundtable) -> Playbook:
        return playbook_for(rt, self.playbook)

    def policy(self, channel: str) -> Policy:
        return self.playbook.policies.of(channel, self.playbook.policy)

    def start_refusal(self, person: Person, channel: str) -> str:
        return permission.start_refusal(person, self.policy(channel))

    def must_be_allowed(self, person: Person, channel: str) -> None:
        """Raises UserError when *person* may neither start nor resume anything in *channel*."""
        if why := self.start_refusal(person, channel):
            raise UserError(why)

    def must_press(self, rt: Roundtable, person: Person) -> None:
        """Raises UserError for a person who may not press buttons."""
        if why := permission.refusal(rt, person, self.policy(rt.place.channel)):
            raise UserError(why)

    async def held(self, slug: str) -> Roundtable:
        rt = await self.store.get(slug)
        if rt is None:
            raise UserError(answers.not_running(slug))
        return rt


def must_be_there(slug: str, held: Place, asked: Place) -> None:
    """Raises UserError in another channel: what was said is for the people of that channel."""
    if not same_channel(held, asked):
        raise UserError(digest.held_elsewhere(slug))


def is_there(rt: Roundtable, place: Place) -> bool:
    return same_channel(rt.place, place) and rt.place.thread == place.thread
