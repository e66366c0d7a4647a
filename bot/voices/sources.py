"""
The sources that a voice names: what a tool of its turn showed, and what its prompt had. What personas and reviewers say
is held against them here; `proposing` does it for entries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bot.domain.catalog.personas import SERVERS
from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification import citations
from bot.domain.specification.claim_check import ClaimCheck, Root, stands_in
from bot.domain.specification.claims import Quote
from bot.domain.transcript.lines import QUOTED, UNCHECKED
from bot.domain.values.text import one_line
from bot.engine.ports import NO_FACTS, Facts
from bot.voices.prompts.fencing import sanitized

DROPPED_CHARS = 200
MOST_DROPPED = 50
"""Of one answer: it may name anything."""
QUOTED_CHARS = 600
MOST_QUOTED = 8
STRIDE = 150
CUT = " … "
NOT_SHOWN = "this source was not shown"
OF_SERVERS = f"{SERVERS}:"
_WORDS = re.compile(r"\w+")
_SENTENCES = re.compile(r"((?<=[.!?])(?<!\d\.)[^\S\n]+|(?<=[。！？])[^\S\n]*|\n)")
"""A number with a full stop may be that of a list."""
_FENCE = re.compile(r"^[ \t]*+```([^`\n]*+)$\n?", re.MULTILINE)


class Sources:
    """What may be cited. `texts` are those of messages and entries, and of what was cited of the rest."""

    def __init__(self, texts: Mapping[str, str], looked_at: Mapping[str, str], slug: str) -> None:
        self.texts = dict(texts)
        self._looked_at = looked_at
        self._own = f"{slug}/"

    def find(self, named: str) -> str:
        """The id of a source that was shown, else nothing. An entry of this item has its short id."""
        own = named.removeprefix(self._own)
        if own in self.texts or own != named:
            return own if own in self.texts else ""
        text = citations.cited_text(named, self._looked_at)
        if text is None:
            return ""
        self.texts[named] = text
        return named


def roots_to_read(rt: Roundtable) -> dict[str, Root]:
    """What people said that no draft has taken up yet, by line."""
    return {rt.line_of(one.ts): Root(rt.name_of(one.person), one.text) for one in rt.to_read}


class Prose(NamedTuple):
    """
    *quotes* are those that stand where they say, *unknown* the sources that were not shown; *facts* tell which
    sentences have a mark, and why, and the passages of servers that they name.
    """

    text: str
    quotes: tuple[Quote, ...] = ()
    unknown: tuple[str, ...] = ()
    facts: Facts = NO_FACTS


def with_marks(text: str, quotes: Sequence[tuple[Root, str]], check: ClaimCheck) -> Prose:
    """*text* with a mark behind each sentence that needs a quote, and that *quotes* do not say."""
    found, unchecked = list[str](), list[Mapping[str, str]]()
    for part, is_code in _with_blocks(text.replace(UNCHECKED_MARK, "")):
        for one in filter(None, [part] if is_code else _SENTENCES.split(part)):
            if found and found[-1].endswith(UNCHECKED_MARK) and not one[0].isspace():
                found.append(" ")
            why = "" if is_code else check.why_unchecked(one, quotes)
            if why:
                unchecked.append({"what": one_line(one, DROPPED_CHARS), "why": why})
            found.append(f"{one.rstrip()} {UNCHECKED_MARK}" if why else one)
    facts = {UNCHECKED: tuple(unchecked[:MOST_DROPPED])} if unchecked else NO_FACTS
    return Prose("".join(found), facts=facts)


def _with_blocks(text: str) -> Iterator[tuple[str, bool]]:
    """In order, each with whether it is a whole block of code. A block that nothing closes is none."""
    at, opened = 0, -1
    for fence in _FENCE.finditer(text):
        if opened < 0:
            opened = fence.start()
        elif not fence[1].strip():
            yield text[at:opened], False
            yield text[opened : fence.end()], True
            at, opened = fence.end(), -1
    yield text[at:], False


class ProseCheck:
    """
    Of what a persona or a reviewer says: a sentence that has to show the words of a person or of code, and does not,
    gets a mark. *roots* are what may be quoted beside what tools *shown*, *lines* the ids of turns with their lines.
    """

    def __init__(
        self,
        roots: Mapping[str, Root],
        shown: Mapping[str, str],
        slug: str,
        check: ClaimCheck,
        lines: Mapping[str, str] = {},
    ) -> None:
        self._roots = roots
        self._shown = shown
        self._lines = lines
        self._sources = Sources({line: root.text for line, root in roots.items()}, shown, slug)
        self._check = check

    def mark_sentences(self, text: str, given: Iterable[Quote]) -> Prose:
        named = [(one, self._sources.find(self._lines.get(one.line, one.line))) for one in given]
        texts = self._sources.texts
        quotes = tuple(one.but(line=id) for one, id in named if id and stands_in(one.words, texts[id]))
        roots = [(self._roots.get(one.line) or Root("", texts[one.line]), one.words) for one in quotes]
        found = with_marks(text, roots, self._check)
        cited = (*(one.line for one in quotes), *(one for one in self._shown if one in text))
        passages = quoted(cited, {**texts, **self._shown}, text)
        facts = {**found.facts, QUOTED: passages} if passages else found.facts
        unknown = dict.fromkeys(one.line for one, id in named if not id)
        return Prose(found.text, quotes, tuple(unknown), facts)


def dropped(named: str) -> Mapping[str, str]:
    return {"what": one_line(sanitized(named), DROPPED_CHARS), "why": NOT_SHOWN}


# --- passages of servers ----------------------------------------------------------------------------------------------
#
# Code, history and entries are in git, and can be looked up by their ids. What a server of tools returned cannot: the
# passage that was cited is kept beside the id.


def quoted(cited: Iterable[str], texts: Mapping[str, str], claim: str) -> dict[str, str]:
    """By its id, of each of *cited* that came from a server of tools, what of its text is about *claim*."""
    foreign = [one for one in dict.fromkeys(cited) if one.startswith(OF_SERVERS) and one in texts]
    return {one: passage(texts[one], claim) for one in foreign[:MOST_QUOTED]}


def passage(text: str, claim: str) -> str:
    """At most QUOTED_CHARS of *text*: where most words of *claim* are, the first such place."""
    text = text.strip()
    if len(text) <= QUOTED_CHARS:
        return text
    words = {one.casefold() for one in _WORDS.findall(claim)}
    room = QUOTED_CHARS - 2 * len(CUT)

    def hits(start: int) -> int:
        return len(words & {one.casefold() for one in _WORDS.findall(text[start : start + room])})

    starts = (*range(0, len(text) - room, STRIDE), len(text) - room)
    start = max(starts, key=lambda one: (hits(one), -one))
    before, after = CUT if start else "", CUT if start + room < len(text) else ""
    return f"{before}{text[start : start + room].strip()}{after}".strip()
