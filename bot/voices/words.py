"""
What a mind wrote, made fit to be said by a persona: its own words, visible, and nothing else.

Nothing in it pings or acts, whoever shows it sees to that (`Message.text`); here it must not deceive either.
"""

import re
from collections.abc import Iterable

from bot.domain.persona import Persona, Roster
from bot.voices.prompts.seen import seen

LONGEST = 3_000
"""Characters that a contribution may have; five times what is asked for is no mistake in counting."""

_MARKED = re.compile(r"^(?:<<<|>>>)[0-9a-f]{16}.*$", re.MULTILINE)
_LINK = re.compile(r"!?\[(?P<label>[^\]\n]{0,300})\]\(\s*<?(?P<url>[^)\s>]{1,2000})>?[^)\n]{0,300}\)")
_ANGLED = re.compile(r"<(?P<url>https?://[^|>\s]{1,2000})\|(?P<label>[^>\n]{0,300})>")
_PREAMBLE = re.compile(
    r"\s*(?:(?:sure|certainly|of course|absolutely|okay|ok|great)(?:\s+thing)?\s*[,!.:]\s*)?"
    r"(?:here(?:'s|’s| is| are)\b[^\n.]{0,100}:\s*\n)",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"\s*(?:(?:i[’']?m|i am) sorry,?\s+(?:but\s+)?i\s+(?:can(?:no|[’'])t|won[’']t|am (?:not able|unable))"
    r"|i (?:can(?:no|[’'])t|am (?:not able|unable) to) (?:help|assist|comply|continue|fulfil)"
    r"|as an? (?:ai|artificial|large language|language model)\b)",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?<=[.!?。！？])\s|\n")


class Spoken:
    """How names stand before words at this table."""

    def __init__(self, roster: Roster, people: Iterable[str] = ()) -> None:
        self._names = {name.casefold(): one.key for one in roster for name in (one.name, one.first_name)}
        self._people = {name.casefold() for name in people if name.strip()}
        known = sorted({*self._names, *self._people, "user", "human"}, key=len, reverse=True)
        self._label = re.compile(
            rf"^[ \t>*_`]*(?:\[[^\]\n]{{0,40}}\][ \t]*)?(?P<name>{'|'.join(map(re.escape, known))})"
            r"(?:[ \t]*\([^()\n]{0,80}\))?[*_` \t]*[:：][*_ \t]*",
            re.IGNORECASE | re.MULTILINE,
        )

    def own(self, text: str, persona: Persona) -> str:
        """
        The words of *persona* in *text*: without its name before them, and up to where somebody else's begin. Empty
        where nothing else is in it.
        """
        kept: list[str] = []
        at = 0
        mine = True
        for label in self._label.finditer(text):
            if mine:
                kept.append(text[at : label.start()])
            mine = self._names.get(label["name"].casefold()) == persona.key
            at = label.end()
            if not mine and "".join(kept).strip():
                break
        if mine:
            kept.append(text[at:])
        return "".join(kept).strip()


def tidied(text: str) -> str:
    """Links say where they lead; markers, preambles and what cannot be seen are gone."""
    bare = _MARKED.sub("", seen(text))
    shown = _ANGLED.sub(_open, _LINK.sub(_open, bare))
    return _PREAMBLE.sub("", shown, count=1).strip()


def declines(text: str) -> bool:
    """Whether it is a model that speaks of itself, and not a persona of the work."""
    return _DECLINES.match(text) is not None


def shortened(text: str, limit: int = LONGEST) -> str:
    """*text* up to the last sentence that has room; code that is cut open is closed."""
    if len(text) <= limit:
        return text
    ends = [found.start() for found in _ENDS.finditer(text, 0, limit)]
    cut = text[: ends[-1] if ends and ends[-1] > limit // 2 else limit].rstrip()
    return f"{cut}\n```\n…" if cut.count("```") % 2 else f"{cut} …"


def _open(link: re.Match[str]) -> str:
    label, url = link["label"].strip(), link["url"]
    return url if not label or label == url else f"{label} ({url})"
