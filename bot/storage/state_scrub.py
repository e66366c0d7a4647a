"""Removes secrets from what a store keeps of a roundtable: its specification, its lines, cards, and pending effects."""

from typing import Protocol

from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript.scrubbing import Redacting, redacted
from bot.errors import Conflict, Unavailable

ATTEMPTS = 20
"""A bot that runs may save in between."""


class RewritableStore(Protocol):
    async def get(self, slug: str) -> Roundtable | None: ...

    async def has_changes(self, slug: str) -> bool:
        """Whether more is stored than the newest value: an earlier one, and what has changed since."""
        ...

    async def put_whole(self, roundtable: Roundtable, *, expected: int) -> None:
        """Saves as `put` does, and nothing of what was saved before is stored any more."""
        ...


async def scrub_state(store: RewritableStore, slug: str, redact: Redacting) -> tuple[str, ...]:
    """The kinds of the secrets that were removed, one for each. Raises Unavailable and NewerVersion."""
    for _ in range(ATTEMPTS):
        before = await store.get(slug)
        if before is None:
            return ()
        kinds, fields = redacted(before.model_dump(mode="json"), redact)
        if not kinds and not await store.has_changes(slug):
            return ()
        after = Roundtable.model_validate({**fields, "version": before.version + 1})
        try:
            await store.put_whole(after, expected=before.version)
        except Conflict:
            continue
        return kinds
    raise Unavailable(f"the roundtable {slug!r} changes all the time; run the command again")
