"""
The sources that a voice names: what a tool of its turn showed, and what its prompt had. One that was not shown is
dropped, with the reason. What roles and reviewers say is held against their sources here; `proposing` does it for
entries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.catalog.personas import SERVERS
from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.specification import checks, citations
from bot.domain.specification.claim_check import ClaimCheck, Root
from bot.domain.specification.entries import NOT_LISTED, Specification
from bot.domain.transcript.lines import QUOTED
from bot.domain.values.text import one_line
from bot.engine.ports import Facts
from bot.voices.prompts.seen import sanitized

MOST_SOURCES = 20
"""Of one claim."""
DROPPED_CHARS = 200
FILE_CHARS = 20_000
"""Of a file that is held against a claim."""
MOST_DROPPED = 50
"""Of one answer: it may name anything."""
QUOTED_CHARS = 600
MOST_QUOTED = 8
STRIDE = 150
CUT = " … "
NOT_SHOWN = "this source was not shown"
NOTHING_LEFT = "the source that it names was not shown"
INSTEAD = "[a source that was not shown]"
OF_SERVERS = f"{SERVERS}:"
_WORDS = re.compile(r"\w+")
_SENTENCES = re.compile(r"((?<=[.!?])(?<!\d\.)[^\S\n]+|\n)")
"""A number with a full stop may be that of a list."""
_MARKS = "\"'“”‘’«»*_<>,;=|"
"""What may stand right before a citation."""
_OF_SERVERS = re.compile(rf"{SERVERS}:[\w.-]{{1,100}}/[\w.-]{{1,200}}#[0-9a-f]{{7}}")


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


class SourcedText(NamedTuple):
    """*unverified* is why its sources do not say it."""

    text: str
    sources: tuple[str, ...] = ()
    unverified: str = ""


class JudgedClaims:
    """
    The claims of one answer of a reviewer. A judgement often says what a source lacks, so that its negations
    are not compared: numbers, dates, names and words of decision are.
    """

    def __init__(self, sources: Sources, check: ClaimCheck) -> None:
        self._sources = sources
        self._check = check
        self.dropped: list[Mapping[str, str]] = []
        self.quoted: dict[str, str] = {}

    @property
    def facts(self) -> Facts:
        """For the `meta` of the line."""
        found = {"dropped": self.dropped, QUOTED: self.quoted}
        return {name: told for name, told in found.items() if told}

    def checked(self, text: str, named: Iterable[str], *, beside: str) -> SourcedText:
        """*named* are its sources, beside those in its words; *beside* is the file that it is about."""
        written = _cited(text)
        wanted = dict.fromkeys([*written, *list(named)[:MOST_SOURCES]])
        found = tuple(dict.fromkeys(filter(None, map(self._sources.find, wanted))))
        bare = text
        for one in wanted:
            bare = bare.replace(one, " ")
            if not self._sources.find(one):
                text = text.replace(one, INSTEAD)
                told = dropped(one)
                if told not in self.dropped:
                    self.dropped = [*self.dropped, told][:MOST_DROPPED]
        self.quoted |= quoted(found, self._sources.texts, text)
        if not wanted or text.rstrip().endswith(("?", "？")):  # a question states nothing
            return SourcedText(text, found)
        if not found:
            return SourcedText(text, (), NOTHING_LEFT)
        lacking = self._check.unsaid(bare, (*(self._sources.texts[one] for one in found), beside))
        return SourcedText(text, found, "; ".join(lacking))


def prompt_texts(specification: Specification, files: Mapping[str, str]) -> dict[str, str]:
    """What the prompt of a judge has, by the ids of entries and the names of files."""
    entries = [one for one in specification.entries.values() if one.kind not in NOT_LISTED]
    said = {one.id: checks.text_of_entry(one) for one in entries if specification.lives(one.id)}
    return {**{name: text[:FILE_CHARS] for name, text in files.items()}, **said}


class CheckedWords(NamedTuple):
    text: str
    dropped: tuple[Mapping[str, str], ...] = ()


def with_marks(text: str, quotes: Sequence[tuple[Root, str]], check: ClaimCheck) -> CheckedWords:
    """*text* with a mark behind each sentence that needs a quote, and that *quotes* do not say. Code is left out."""
    parts = _SENTENCES.split(text.replace(UNCHECKED_MARK, ""))
    unchecked, is_code = list[Mapping[str, str]](), False
    for place, one in enumerate(parts):
        fences = one.count("```")
        if not (is_code or fences) and (why := check.why_unchecked(one, quotes)):
            unchecked.append({"what": one_line(one, DROPPED_CHARS), "why": why})
            parts[place] = f"{one.rstrip()} {UNCHECKED_MARK}"
        is_code ^= fences % 2 == 1
    return CheckedWords("".join(parts), tuple(unchecked[:MOST_DROPPED]))


def _cited(text: str) -> list[str]:
    """The longest first: one may be the beginning of another."""
    code = {one.lstrip(_MARKS) for one in citations.citations_in(text)}
    return sorted({*code, *_OF_SERVERS.findall(text)}, key=len, reverse=True)


def texts_in(value: Any) -> list[str]:
    """What a model gave as a list of texts, or as a single one."""
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)] if value else []


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


def quoted_in(said: str, texts: Mapping[str, str]) -> dict[str, str]:
    """The same, for ids that stand in the words themselves."""
    return quoted((one for one in texts if one in said), texts, said)


def passage(text: str, claim: str) -> str:
    """At most QUOTED_CHARS of *text*: where most words of *claim* are, the first such place."""
    text = text.strip()
    if len(text) <= QUOTED_CHARS:
        return text
    words = {one.casefold() for one in _WORDS.findall(claim)}
    room = QUOTED_CHARS - 2 * len(CUT)

    def hits(start: int) -> int:
        return len(words & {one.casefold() for one in _WORDS.findall(text[start : start + room])})

    start = max(_starts(len(text), room), key=lambda one: (hits(one), -one))
    before, after = CUT if start else "", CUT if start + room < len(text) else ""
    return f"{before}{text[start : start + room].strip()}{after}".strip()


def _starts(length: int, room: int) -> Iterator[int]:
    yield from range(0, length - room, STRIDE)
    yield length - room
