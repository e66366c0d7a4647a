"""The ports of reviews. Adapters translate errors as in `ports.py`. Nothing here can name a roundtable."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.messages.message import Message
from bot.domain.reviews.notice import Notice
from bot.domain.reviews.text import Review, ReviewerOpinion
from bot.domain.specification.entries import Specification
from bot.domain.values.places import NOWHERE, Place
from bot.engine.evidence_ports import NO_SIGHT, Sight


class ReviewCase(NamedTuple):
    """
    An item as reviewers find it: its artifacts as text, its entries, and the steps that are finished. What else may be
    looked at where the review is shown is in *sight*.
    """

    slug: str
    title: str
    files: Mapping[str, str]
    steps_completed: Collection[str]
    playbook: Playbook
    specification: Specification = Specification()
    sight: Sight = NO_SIGHT


class Reviewers(Protocol):
    """They read files, may look at code and other items, and what they say is only text. Raises VoiceError."""

    async def opinion(self, case: ReviewCase, persona: Persona) -> ReviewerOpinion:
        """What one persona finds. It may be cut off at any time, and others are asked meanwhile."""
        ...

    async def together(
        self, case: ReviewCase, opinions: Iterable[ReviewerOpinion], *, unseen: tuple[str, ...], asked: str
    ) -> Review:
        """One review of the *opinions*; *unseen* says which are missing and why, *asked* who asked for the review."""
        ...


class KeptReview(NamedTuple):
    """*is_new* is False when the same bytes were kept before; *path* is relative to the workspace."""

    number: int
    path: str
    content: bytes
    is_new: bool = False


class Archive(Protocol):
    """Reviews are written once, and committed. Raises WorkspaceError."""

    async def keep(self, slug: str, content: bytes, *, now: str) -> KeptReview:
        """Keeps *content* as the item's next review. The same content again is the same review."""
        ...

    async def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        """Up to *most* of them, in the order of their numbers."""
        ...


class Notices(Protocol):
    """The store of notices. Every call is limited in time, and raises Unavailable when the time is over."""

    async def get(self, slug: str) -> Notice | None: ...

    async def put(self, notice: Notice, *, expected: int) -> None:
        """Save *notice* whole if version *expected* is stored now (0: nothing is). Raises Conflict otherwise."""
        ...

    async def unfinished(self) -> tuple[str, ...]:
        """Slugs of the notices with something in their outbox."""
        ...


class NoticePosition(NamedTuple):
    """Where a message is. *found*: it was there already, and may have an older text."""

    channel: str
    ts: str
    found: bool = False


class Board(Protocol):
    """The triage channel, and the threads that the details go to. Raises SlackError."""

    @property
    def lands_within(self) -> float:
        """Seconds after which a post whose caller died has appeared, or never will."""
        ...

    async def put(
        self, place: Place, message: Message, *, key: str, again: bool = False, thorough: bool = False
    ) -> NoticePosition:
        """
        Post *message*, once for each *key*: with *again* it is looked for first, with *thorough* far back. *place* may
        name its channel instead of giving its id.
        """
        ...

    async def edit(self, spot: NoticePosition, message: Message) -> bool:
        """False when the message is gone."""
        ...

    async def link(self, spot: NoticePosition) -> str:
        """Empty when Slack gives none."""
        ...

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        """Only *person* sees it."""
        ...

    async def name(self, person: str) -> str:
        """What *person* is called."""
        ...


class ItemLocation(NamedTuple):
    """Where an item is held; nowhere if that is not known. Only its own channel may see a *hidden* one."""

    title: str = ""
    place: Place = NOWHERE
    permalink: str = ""
    hidden: bool = False
