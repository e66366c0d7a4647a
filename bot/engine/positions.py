"""Positions that people give privately, by a slash command or in a direct message."""

from collections.abc import Sequence

from bot.domain.discussion import typed_positions
from bot.domain.messages import discussion_wording as wording
from bot.domain.roundtable.inputs import SealPosition
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Person
from bot.errors import UserError


def discussed(found: Sequence[Roundtable]) -> tuple[Roundtable, ...]:
    return tuple(rt for rt in found if rt.stage is Stage.ELABORATING)


def meant(found: Sequence[Roundtable], words: str) -> tuple[Roundtable, str]:
    """The roundtable, and the words about it. Where there are several, its slug stands in front: `offline-sync: A`."""
    slug, colon, rest = words.partition(":")
    named = next((rt for rt in found if colon and rt.slug == slug.strip().lower()), None)
    if named:
        return named, rest
    if not found:
        raise UserError(wording.NO_DISCUSSION)
    if len(found) > 1:
        raise UserError(wording.seal_which([rt.slug for rt in found]))
    return found[0], words


def given(words: str, person: Person, *, key: str, at: str) -> SealPosition:
    position = typed_positions.read(words)
    if not position.option and not position.words:
        raise UserError(wording.SEAL_WHAT)
    return SealPosition(key=key, at=at, person=person, position=position, is_answered=True)
