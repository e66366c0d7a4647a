"""Where everything that comes in from Slack is brought: the engine, as the listeners see it."""

from typing import Protocol

from bot.domain.messages.message import Message
from bot.domain.reviews.notice import AskReview
from bot.domain.roundtable.inputs import (
    Amend,
    Export,
    Mute,
    Plan,
    Press,
    Resume,
    Retract,
    Say,
    SetDepth,
    Start,
    Stop,
)
from bot.domain.values.places import Person, Place

Reply = Message | None
"""What only the person who asked is told; None when there is nothing to say."""


class Desk(Protocol):
    """
    Whatever returns is saved: only then is Slack told that it arrived. A UserError is shown to the person as it is;
    after any other error Slack is told nothing, and delivers again what it delivers again.

    A *reference* names an item as people do. When it is empty, the thread says which one is meant, and outside a
    thread the reply may be a picker.
    """

    async def start(self, start: Start) -> Reply: ...

    async def resume(self, resume: Resume, reference: str) -> Reply: ...

    async def say(self, place: Place, said: Say, *, mentioned: bool = False) -> Reply:
        """Words in a thread, of a roundtable or not. *mentioned*: they were said to us, and want an answer."""
        ...

    async def amend(self, place: Place, amend: Amend) -> Reply:
        """
        Words in a thread read differently now: of a roundtable or not, heard by us or not. Seldom, this comes before
        the words themselves.
        """
        ...

    async def retract(self, place: Place, retract: Retract) -> Reply:
        """A message was deleted: by whoever wrote it, or by an admin. Slack does not say."""
        ...

    async def press(self, place: Place, press: Press) -> Reply: ...

    async def plan(self, plan: Plan, reference: str) -> Reply:
        """What is no *reference* to an item, and more than a word, is the brief of a new one."""
        ...

    async def stop(self, place: Place, stop: Stop, reference: str) -> Reply: ...

    async def mute(self, place: Place, mute: Mute, reference: str) -> Reply: ...

    async def depth(self, place: Place, set_depth: SetDepth) -> Reply: ...

    async def status(self, place: Place, person: Person, reference: str) -> Reply: ...

    async def catch_up(self, place: Place, person: Person, reference: str) -> Reply: ...

    async def export(self, place: Place, export: Export, reference: str) -> Reply: ...

    async def listing(self, place: Place, person: Person) -> Reply: ...

    async def review(self, wish: AskReview, reference: str, lens: str) -> Reply:
        """The item is reviewed by the personas that *lens* names, or by all; what comes of it is shown later."""
        ...
