"""Where exported files stand in a repository, as ROUNDTABLE_EXPORTS says: `openspec,speckit:docs/specs/{slug}`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bot.domain.item.item_paths import SHARED

SLUG = "{slug}"
FOLDERS: Mapping[str, str] = {
    "speckit": f"specs/{SLUG}",
    "openspec": f"openspec/changes/{SLUG}",
    "kiro": f".kiro/specs/{SLUG}",
}
"""By the name of a format, where other tools look for its files."""
_NAME = re.compile(r"[a-z0-9_-]{1,40}")
"""Of a plug-in, too, whose folder is not known here."""
_FOLDER = re.compile(r"(?:(?!\.(?:git|roundtable)/)[\w.][\w.-]{0,99}/){1,8}\{slug\}", re.IGNORECASE)


class ExportPlace(NamedTuple):
    """`folder` ends with the slug of the item."""

    format: str
    folder: str

    @property
    def above(self) -> str:
        """The folder of the folders of all items."""
        return self.folder.removesuffix(f"/{SLUG}")

    def of(self, slug: str) -> str:
        return self.folder.replace(SLUG, slug)


def read_places(text: str) -> tuple[ExportPlace, ...]:
    """Raises ValueError for what is no format, and for folders that are none or are in each other's way."""
    places = tuple(_place(one.strip()) for one in text.split(","))
    taken = [one.above for one in places]
    for at, one in enumerate(taken):
        if any(_overlap(one, other) for other in taken[at + 1 :]):
            raise ValueError(f"two formats in {one}")
    return places


def usual_places(places: Sequence[ExportPlace], items_dir: str) -> Iterator[ExportPlace]:
    """Of the formats that *places* has not: where `roundtable export` writes them, unless something else is there."""
    taken = [items_dir, SHARED, *(one.above for one in places)]
    for place in (
        ExportPlace(*usual) for usual in FOLDERS.items() if usual[0] not in {one.format for one in places}
    ):
        if not any(_overlap(place.above, one) for one in taken):
            yield place


def overlapping(places: tuple[ExportPlace, ...], items_dir: str) -> Iterator[str]:
    """The folders that are where the bot keeps its own files."""
    for one in places:
        if any(_overlap(one.above, own) for own in (items_dir, SHARED)):
            yield one.folder


def _place(text: str) -> ExportPlace:
    name, _, folder = text.partition(":")
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    place = ExportPlace(name, folder or FOLDERS.get(name, ""))
    if not _FOLDER.fullmatch(place.folder) or {".", ".."} & {*place.folder.split("/")}:
        raise ValueError(place.folder or name)
    return place


def _overlap(one: str, other: str) -> bool:
    """Whether one is the other, or a folder above it."""
    first, second = f"{one}/".casefold(), f"{other}/".casefold()
    return first.startswith(second) or second.startswith(first)
