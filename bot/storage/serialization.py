"""
The JSON of stored roundtables and notices.

A newer version of this program may have written what this one cannot read, such as an unknown kind of effect. That is
not damage: it raises NewerVersion and is not overwritten, because saving it would lose what only the newer version
knows.
"""

import json
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import ValidationError

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.reviews.notice import Notice
from bot.domain.roundtable.state import TRIED_AGAIN, Roundtable
from bot.domain.values.places import Place
from bot.errors import BotError, NewerVersion

SHAPE: int = Roundtable.model_fields["shape"].default

S = TypeVar("S", Roundtable, Notice)


class UnreadableState(BotError):
    """The stored state is damaged; callers set it aside and go on without it."""


def encoded(roundtable: Roundtable) -> bytes:
    return roundtable.model_dump_json().encode()


def decoded(slug: str, content: bytes | str) -> Roundtable:
    try:
        roundtable = parsed(Roundtable, slug, content, what="roundtable")
    except UnreadableState as error:
        raise UnreadableState(f"the stored roundtable {slug!r} cannot be read: {error}") from None
    if roundtable.slug != slug:
        raise UnreadableState(f"the stored roundtable {slug!r} says that it is {roundtable.slug!r}")
    return roundtable


def parsed(kind: type[S], slug: str, content: bytes | str, *, what: str) -> S:
    """Raises NewerVersion, and UnreadableState with the first flaw. *what* names the kind in sentences."""
    shape = kind.model_fields["shape"].default
    try:
        found = kind.model_validate_json(content)
    except ValidationError as error:
        flaw = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, flaw["loc"]))
        if _is_newer(slug, content, shape=shape):
            raise NewerVersion(newer(what, slug, where)) from None
        raise UnreadableState(f"{where} {flaw['msg']}") from None
    if found.shape > shape:
        raise NewerVersion(newer(what, slug))
    if found.shape < shape:
        raise UnreadableState("an earlier version saved it, in another form")
    return found


def newer(what: str, slug: str, where: str = "") -> str:
    unread = f" (`{where}`)" if where else ""
    return (
        f"the {what} {slug!r} was saved by a later version of this program, and this one cannot read it{unread}. "
        "Nothing of it was changed. Run the later version again."
    )


def _is_newer(slug: str, content: bytes | str, *, shape: int) -> bool:
    """Whether unreadable *content* is intact JSON about *slug* that says it has *shape* or a later one."""
    read = _object(content)
    return read.get("slug") == slug and isinstance(read.get("shape"), int) and read["shape"] >= shape


def place_in(content: bytes | str) -> Place | None:
    """The thread of a roundtable that cannot be read."""
    with suppress(ValidationError):
        return Place.model_validate(_object(content).get("place"))
    return None


def _object(content: bytes | str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        read = json.loads(content)
        return read if isinstance(read, dict) else {}
    return {}


def reminder_settings(content: bytes | str) -> ReminderSettings:
    """The usual ones when they cannot be read."""
    try:
        return ReminderSettings.model_validate_json(content)
    except ValidationError:
        return ReminderSettings()


def is_due(pending: AbstractSet[str], touched: str, *, quiet_since: str) -> bool:
    """Whether an outbox with the kinds *pending* can be performed now. *quiet_since* is that of `Store.unfinished`."""
    waits = quiet_since and pending <= TRIED_AGAIN and touched > quiet_since
    return bool(pending) and not waits
