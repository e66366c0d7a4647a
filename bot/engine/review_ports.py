"""What reviews need of the world, as promises. Errors are translated by the adapters, as in `ports.py`."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.messages.message import Message
from bot.domain.reviews.notice import Notice
from bot.domain.reviews.text import Opinion, Review
from bot.domain.values.places import Place


class Case(NamedTuple):
    """An item as reviewers find it: its artifacts as text, and the steps that are finished."""

    slug: str
    title: str
    files: Mapping[str, str]
    steps_completed: Collection[str]
    playbook: Playbook


class Reviewers(Protocol):
    """They read; whatever they say is text. Raises VoiceError."""

    async def opinion(self, case: Case, persona: Persona) -> Opinion:
        """What one persona finds. It may be cut off at any time, and others are asked meanwhile."""
        ...

    async def together(
        self, case: Case, opinions: Iterable[Opinion], *, unseen: tuple[str, ...], asked: str
    ) -> Review:
        """One review of the opinions that came in; *unseen* says why others did not, *asked* who wanted it."""
        ...


class KeptReview(NamedTuple):
    """*is_new* is False for one that was there, byte for byte; *path* is below the top of the workspace."""

    number: int
    path: str
    content: bytes
    is_new: bool = False


class Archive(Protocol):
    """Where reviews are kept: written once, and committed. Raises WorkspaceError."""

    async def keep(self, slug: str, content: bytes, *, now: str) -> KeptReview:
        """*content* as the item's next review, or the one that it is already: so it can be begun again."""
        ...

    async def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        """Up to *most* of them, in the order of their numbers."""
        ...


class Notices(Protocol):
    """Where the live notices are. Every call is bounded in time, and raises Unavailable when it is over."""

    async def get(self, slug: str) -> Notice | None: ...

    async def put(self, notice: Notice, *, expected: int) -> None:
        """Save *notice* whole if version *expected* is stored now (0: nothing is). Raises Conflict otherwise."""
        ...

    async def owing(self) -> tuple[str, ...]:
        """Slugs of the notices that owe something."""
        ...


class Memory(Protocol):
    """What was done once, for all processes together. Raises Unavailable."""

    async def first(self, key: str, *, seconds: float) -> bool:
        """True for one caller alone: *key* was not there, and is now kept for *seconds*."""
        ...


class Tally(Protocol):
    """What is counted of reviews. It returns at once, and raises nothing."""

    def reviewed(self, result: str) -> None:
        """
        `taken`: somebody wants one, or sent one, and that is saved. `posted` and `changed`: the one message of an
        item. `failed`: the world said no for good to a part of it.
        """
        ...


class Uncounted(Tally):
    def reviewed(self, result: str) -> None:
        """Nobody counts."""


class Spot(NamedTuple):
    """Where a message stands. *found*: it stood there before, and may say what it said then."""

    channel: str
    ts: str
    found: bool = False


class Board(Protocol):
    """The triage channel, and the threads that the details go to. Raises SlackError."""

    @property
    def lands_within(self) -> float:
        """Seconds: a post whose caller died in the middle of it turns up no later than that, or never."""
        ...

    async def put(
        self, place: Place, message: Message, *, key: str, again: bool = False, thorough: bool = False
    ) -> Spot:
        """
        Post *message*, once for a *key*: with *again* it is looked for first, with *thorough* far back. A channel may
        be given by its name.
        """
        ...

    async def edit(self, spot: Spot, message: Message) -> bool:
        """False when the message is gone."""
        ...

    async def link(self, spot: Spot) -> str:
        """Empty when Slack gives none."""
        ...

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        """Only *person* sees it."""
        ...

    async def name(self, person: str) -> str:
        """What *person* is called."""
        ...


class Home(NamedTuple):
    """Where an item is held, as far as anybody knows. A *hidden* one is for its own channel alone."""

    title: str
    place: Place | None = None
    permalink: str = ""
    hidden: bool = False


class Homes(Protocol):
    async def home(self, slug: str) -> Home | None:
        """None when there is no such item."""
        ...
