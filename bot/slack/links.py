"""The only links in what we post: those that a message names as such."""

from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from bot.domain.message import Link
from bot.slack.limits import LABEL_CHARS, size
from bot.slack.packing import shortened
from bot.slack.text import escape, one_line

_SCHEMES = frozenset({"http", "https"})
_AS_WRITTEN = "!#$%&'()*+,/:;=?@[]~"


def sifted(links: Iterable[Link], most: int, chars: int) -> tuple[list[Link], list[str]]:
    """Those that can be links, at most *most* of at most *chars* together; the others as words."""
    kept: list[Link] = []
    words: list[str] = []
    for link in links:
        safe = Link(label=shortened(one_line(link.label), LABEL_CHARS), url=one_line(link.url))
        length = size(markup(safe))
        if _is_web(safe.url) and len(kept) < most and length <= chars:
            kept.append(safe)
            chars -= length
        else:
            words.append(f"{safe.label}: {safe.url}")
    return kept, words


def markup(link: Link) -> str:
    """`<url|label>`, in which neither can end the other."""
    url = escape(quote(link.url, safe=_AS_WRITTEN))
    return f"<{url}|{escape(link.label) or url}>"


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and bool(parts.netloc)
