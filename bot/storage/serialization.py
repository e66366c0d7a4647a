"""
The JSON of a stored roundtable, as this version of the program wrote it, or another.

A newer version may have written what this one cannot read: an unknown kind of effect, an unknown stage. That is not
damage. It is left as it is, and NewerVersion says so; saving it again would forget what only that version knows.
"""

import json
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from bot.domain.roundtable.state import TRIED_AGAIN, Roundtable
from bot.domain.values.places import Place
from bot.errors import BotError, NewerVersion

SHAPE: int = Roundtable.model_fields["shape"].default


class Unreadable(BotError):
    """Nothing that a roundtable could be made of: as good as lost."""


def encoded(roundtable: Roundtable) -> bytes:
    return roundtable.model_dump_json().encode()


def decoded(slug: str, content: bytes | str) -> Roundtable:
    try:
        roundtable = Roundtable.model_validate_json(content)
    except ValidationError as error:
        flaw = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, flaw["loc"]))
        if is_newer(slug, content, shape=SHAPE):
            raise NewerVersion(newer("roundtable", slug, where)) from None
        raise Unreadable(f"the stored roundtable {slug!r} cannot be read: {where} {flaw['msg']}") from None
    if roundtable.shape > SHAPE:
        raise NewerVersion(newer("roundtable", slug))
    if roundtable.slug != slug:
        raise Unreadable(f"the stored roundtable {slug!r} says that it is {roundtable.slug!r}")
    return roundtable


def newer(what: str, slug: str, where: str = "") -> str:
    unread = f" (`{where}`)" if where else ""
    return (
        f"the {what} {slug!r} was saved by a later version of this program, and this one cannot read it{unread}. "
        "Nothing of it was changed. Run the later version again."
    )


def is_newer(slug: str, content: bytes | str, *, shape: int) -> bool:
    """Whether *content*, which cannot be read, is nevertheless whole, about *slug*, and at least of our *shape*."""
    read = _object(content)
    return read.get("slug") == slug and isinstance(read.get("shape"), int) and read["shape"] >= shape


def place_in(content: bytes | str) -> Place | None:
    """Where the roundtable is held that cannot be read otherwise."""
    with suppress(ValidationError):
        return Place.model_validate(_object(content).get("place"))
    return None


def _object(content: bytes | str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        read = json.loads(content)
        return read if isinstance(read, dict) else {}
    return {}


def is_due(owed: AbstractSet[str], touched: str, *, quiet_since: str) -> bool:
    """Whether any of it can be paid now, as `Store.owing` means it. Something last happened at *touched*."""
    waits = quiet_since and owed <= TRIED_AGAIN and touched > quiet_since
    return bool(owed) and not waits
