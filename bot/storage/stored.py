"""The JSON of a stored roundtable, as this version of the program wrote it, or another."""

from collections.abc import Set as AbstractSet

from pydantic import ValidationError

from bot.domain.roundtable import TRIED_AGAIN, Roundtable
from bot.errors import BotError

SHAPE: int = Roundtable.model_fields["shape"].default


class Unreadable(BotError):
    """Nothing that a roundtable could be made of: as good as lost."""


class FromLater(BotError):
    """A later version wrote it; saving it again would forget what only that version knows."""


def encoded(roundtable: Roundtable) -> bytes:
    return roundtable.model_dump_json().encode()


def decoded(slug: str, content: bytes | str) -> Roundtable:
    try:
        roundtable = Roundtable.model_validate_json(content)
    except ValidationError as error:
        flaw = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, flaw["loc"]))
        raise Unreadable(f"the stored roundtable {slug!r} cannot be read: {where} {flaw['msg']}") from None
    if roundtable.shape > SHAPE:
        raise FromLater(f"the roundtable {slug!r} was saved by a later version of this program")
    if roundtable.slug != slug:
        raise Unreadable(f"the stored roundtable {slug!r} says that it is {roundtable.slug!r}")
    return roundtable


def is_due(owed: AbstractSet[str], touched: str, *, quiet_since: str) -> bool:
    """Whether any of it can be paid now, as `Store.owing` means it. Something last happened at *touched*."""
    waits = quiet_since and owed <= TRIED_AGAIN and touched > quiet_since
    return bool(owed) and not waits
