"""What a persona may be shown, where that is not what a test is about."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from bot.domain.item.item import KnownItem
from bot.domain.values.places import Belonging, Place, Viewer
from bot.engine.ports import Profile

MEMBER = Viewer(least=Belonging.MEMBER)


@dataclass(frozen=True)
class SightOf:
    """The same everywhere: *known* are the items that may be shown."""

    viewer: Viewer = MEMBER
    known: tuple[KnownItem, ...] = ()

    async def sees(self, slug: str) -> bool:
        return slug in {one.slug for one in self.known}

    async def items(self) -> AsyncIterator[KnownItem]:
        for one in self.known:
            yield one

    async def at(self, *_: Place) -> "SightOf":
        return self


MEMBERS = SightOf()
"""Of members only; they know no other item."""


@dataclass(frozen=True)
class OnePerson:
    """Alone in every channel, and belongs to the workspace as *belongs* says."""

    belongs: Belonging = Belonging.MEMBER

    async def is_shared(self, channel: str) -> bool | None:  # noqa: ARG002 -- as the port has it
        return False

    async def members(self, channel: str) -> frozenset[str]:  # noqa: ARG002
        return frozenset({"U1"})

    async def profile(self, person: str) -> Profile:
        return Profile(person, self.belongs)
