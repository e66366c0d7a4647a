"""Between Slack's way of writing and ours: what comes in is made readable, what goes out can neither act nor ping."""

import re

from bot.domain.text import clean

MARKS_TOGETHER = 8
"""So many combining marks may sit on one character; more of them would run over the lines above and below."""

_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_INVISIBLE = re.compile(
    f"({_FLAG})|[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
_TOO_MANY_MARKS = re.compile(f"([{_MARKS}]{{{MARKS_TOGETHER}}})[{_MARKS}]+")

_TOKEN = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_DATE = "date^"
_GROUP = "subteam^"


def visible(text: str) -> str:
    """*text* as people see it: nothing hidden between the letters, no controls, no floods of accents."""
    shown = _INVISIBLE.sub(lambda found: found[1] or "", clean(text))
    return _TOO_MANY_MARKS.sub(r"\1", shown)


def escape(text: str) -> str:
    """Slack reads `&`, `<` and `>` as markup: without them no text can mention, ping or link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def readable(text: str) -> str:
    """What a person wrote, from what Slack sends: references become words, entities become characters."""
    words = _TOKEN.sub(lambda found: _words(found[1], found[2], found[3] or ""), text)
    return visible(words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).strip()


def _words(sign: str, target: str, label: str) -> str:
    if sign == "!":
        return _special(target, label)
    if sign:
        return f"{sign}{label.removeprefix(sign) or target}"
    return _link(target, label)


def _special(target: str, label: str) -> str:
    """`<!here>`, `<!subteam^S1|@team>`, `<!date^…|a fallback>`."""
    if target.startswith(_DATE):
        return label
    return f"@{label.removeprefix('@') or target.removeprefix(_GROUP)}"


def _link(url: str, label: str) -> str:
    address = url.removeprefix("mailto:")
    if not label or label in {url, address, address.partition("://")[2]}:
        return address
    return f"{label} ({address})"
