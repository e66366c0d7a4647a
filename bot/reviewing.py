"""
A review in a file, for `roundtable review`: its line, and its place among the reviews of an item.

Display only: no verdict is an error, and nothing but the review's own file is ever written.
"""

import asyncio
from difflib import get_close_matches
from pathlib import Path

from bot import listing
from bot.domain.review import triage_line
from bot.errors import UserError
from bot.settings import Settings
from bot.storage.explain import explained
from bot.storage.reviews import Kept, Reviews

MOST_BYTES = 64 * 1024 * 1024


def content_of(path: Path) -> bytes:
    """Raises UserError with a sentence when it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{str(path)!r} has more than {MOST_BYTES} bytes, which no review needs.")
    return content


def line_of(content: bytes) -> str:
    """Whatever it is: what is no text has no metadata."""
    return triage_line(content.decode("utf-8", "replace"))


async def keep(settings: Settings, slug: str, content: bytes) -> Kept:
    """As the item's next review, byte for byte. Raises UserError when there is no such item."""
    known = [row["slug"] for row in await listing.items(settings)]
    if slug not in known:
        close = get_close_matches(slug, known, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise UserError(f"There is no item {slug!r}.{meant} `roundtable items` lists what there is.")
    with explained():
        reviews = Reviews(settings.workspace.absolute(), str(settings.items_dir))
        return await asyncio.to_thread(reviews.add, slug, content)
