"""
Takes a person out of lines that were kept already (ADR 58): a mark takes the place of their words, of what others
quote of them, and of their name in what others wrote.

Who spoke, when, and which entries a line touched stays. What somebody else wrote in the same words, or wrote before,
is theirs and stays, too. A line stays valid, and a sealed line says what it reads now, as for secrets (scrubbing.py).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from string import punctuation
from typing import Any, NamedTuple

from bot.domain.privacy.redaction import MARK, Redacted
from bot.domain.transcript.lines import ENTRIES, PERSON, USER_ID, Line, Source
from bot.domain.transcript.people import pattern_of
from bot.domain.transcript.scrubbing import Changed, Redacting, line_after, redacted
from bot.domain.transcript.seal import DIGEST, SCRUBBED
from bot.domain.values.json_files import map_texts

REMOVED, NAMED = "on-request", "former-member"
"""The kinds of the marks in place of words, and of a name."""
FORGOT = "forgot"
"""In the `meta` of the sealed line that tells of it: `{person, on}`, and `words` if those are gone, too."""
MOST_TOKENS = 60
OUT_OF_DATE = "Words were taken out that are older than words are kept."
_NOTE = "NOTE-"
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.;!?\n]")
_LEAST_WORDS, _LEAST_LETTERS = 2, 8
"""Of what is looked for in the words of others: shorter phrases stand anywhere."""

_CODES = frozenset({"ts", "round", "actor", "phase", "role", "source", "content_type"})
"""Fields of a line that only the bot sets: there are no words of people in them."""

IsText = Callable[[str, str], bool]
"""Whether the field of an entry, given by its id, holds words: a choice, a number and a reference say nothing."""
Tokens = tuple[str, ...]


class Forgetting(NamedTuple):
    """
    Whom to forget: the ids of the *person* (Slack's, too, where lines of earlier versions have it), and their *names*,
    as git has it, and as live items do. `words` takes out what they said, `typed` the names where others typed them.
    """

    person: str
    names: tuple[str, ...]
    on: str
    words: bool = False
    typed: bool = False
    user: str = ""
    is_old: bool = False
    """Words are older than is kept: entries stay, but for notes, which are nothing but words. So does the name."""
    others: frozenset[str] = frozenset()
    """What other people and personas are called: their names stay where a first name is part of one."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset({self.person, self.user} - {""})


class ForgottenFiles(NamedTuple):
    """
    *files* are those that change, by their path in the item's folder or that of the file that items share. *lines* is
    how many lines lost words; *typed* are the numbers of lines in which somebody typed the name. *by_hand* are files
    that people edited in git, where only words are replaced. *hide* takes the person out of what others changed in
    exports of the item; None where the person has no part in it.
    """

    files: Mapping[str, bytes]
    lines: int = 0
    typed: tuple[int, ...] = ()
    by_hand: tuple[str, ...] = ()
    hide: Redacting | None = None


def is_wordless(line: Line) -> bool:
    """Whether the words of a person were taken out of it."""
    return line.source is Source.USER and line.content == MARK % REMOVED and DIGEST in line.meta


class Phrases:
    """Finds phrases by their words, whatever stands between these: line ends, and marks of Markdown."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._known: dict[Tokens, set[Tokens]] = {}
        for phrase in {one for text in texts for one in _phrases(text)}:
            self._known.setdefault(phrase[:_LEAST_WORDS], set()).add(phrase)

    def find_phrases(self, text: str) -> Iterator[tuple[Tokens, int, int]]:
        """The longest at each place, with its begin and its end."""
        words = list(_WORD.finditer(text)) if self._known else []
        tokens = tuple(one[0].casefold() for one in words)
        at = 0
        while at < len(tokens):
            known: Collection[Tokens] = self._known.get(tokens[at : at + _LEAST_WORDS], ())
            lengths = range(min(MOST_TOKENS, len(tokens) - at), _LEAST_WORDS - 1, -1) if known else ()
            if longest := next((one for n in lengths if (one := tokens[at : at + n]) in known), None):
                last = at + len(longest) - 1
                yield longest, words[at].start(), words[last].end()
                at = last
            at += 1

    def without(self, phrases: Collection[Tokens]) -> "Phrases":
        left = Phrases()
        left._known = {begin: some - set(phrases) for begin, some in self._known.items()}
        return left

    def hide(self, text: str) -> Redacted:
        parts, end, kinds = [], 0, 0
        for _, begin, stop in self.find_phrases(text):
            parts += [text[end:begin], MARK % REMOVED]
            end, kinds = stop, kinds + 1
        return Redacted("".join([*parts, text[end:]]), (REMOVED,) * kinds) if kinds else Redacted(text)


def _phrases(text: str) -> Iterator[Tokens]:
    """Of what a person wrote: all of it, and each sentence."""
    for part in (text, *_SENTENCE_END.split(text)):
        words = tuple(found[0].casefold() for found in _WORD.finditer(part))
        for at in range(0, len(words), MOST_TOKENS):
            phrase = words[at : at + MOST_TOKENS]
            if len(phrase) >= _LEAST_WORDS and sum(map(len, phrase)) >= _LEAST_LETTERS:
                yield phrase


class Eraser:
    """*lines* are all lines of the item. *title* is that of the item: it is not what one person said."""

    def __init__(self, whom: Forgetting, lines: Iterable[Line], is_text: IsText, *, title: str = "") -> None:
        self._whom = whom
        self._is_text = _is_note if whom.is_old else is_text
        lines = tuple(lines) if whom.words else ()
        self.ids = frozenset(line.message_id for line in lines if self._is_own(line.person, line.source)) - {
            ""
        }
        self.phrases = Phrases() if whom.is_old else self._phrases_of(lines, title)
        self._typed = TypedNames(whom)

    def text(self, text: str) -> Redacted:
        """*text* of nobody in particular."""
        return self._named(self.phrases.hide(text))

    def change(self, fields: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
        """The kinds of what is taken out of the fields of a line, and the fields without it."""
        after = self._changed(fields)
        return _kinds(fields, after), after

    def typed_in(self, line: Line) -> bool:
        """Whether somebody typed a name, or the id of Slack."""
        return bool(self._typed.replace(f"{line.content}\n{line.meta.get(ENTRIES, '')}", "")[1])

    def _changed(self, fields: Mapping[str, Any]) -> Any:
        meta = fields.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        if SCRUBBED in meta:  # it vouches for others, and has no words of anybody
            return fields
        source, told = fields.get("source"), meta.get(PERSON) or meta.get(USER_ID)
        if self._is_own(told, source):
            content = MARK % REMOVED if fields.get("content") else ""
            own = {name: _wordless(one) for name, one in meta.items() if name != ENTRIES}
            patched = self._patched(meta, lambda one: self._without_values(self._patch(one), lambda _: True))
            after = {**fields, "content": content, "meta": {**own, **patched}}
        elif source == Source.USER:
            after = {**fields, "meta": {**meta, **self._patched(meta, self._patch)}}
        else:
            rest = {name: one for name, one in meta.items() if name != ENTRIES}
            hidden = redacted({**fields, "meta": rest}, self.phrases.hide)[1]
            quoted = self._patched(meta, lambda patch: redacted(self._patch(patch), self.phrases.hide)[1])
            after = {**hidden, "meta": {**hidden.get("meta", {}), **quoted}}
        return self._untyped(after)

    def _untyped(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """*fields* without names that somebody typed."""
        if not self._whom.typed:
            return dict(fields)
        meta = fields["meta"]
        told = {PERSON: meta[PERSON]} if PERSON in meta else {}
        after = {
            name: one if name in _CODES else redacted(one, self._named)[1] for name, one in fields.items()
        }
        return {**after, "meta": {**after["meta"], **told}}

    def _is_own(self, person: object, source: object) -> bool:
        return self._whom.words and source == Source.USER and str(person) in self._whom.ids

    def _named(self, found: str | Redacted) -> Redacted:
        text, kinds = (found, ()) if isinstance(found, str) else found
        text, count = self._typed.replace(text, MARK % NAMED) if self._whom.typed else (text, 0)
        return Redacted(text, (*kinds, *(NAMED,) * count))

    def _patched(self, meta: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
        given = meta.get(ENTRIES)
        if not isinstance(given, list):
            return {ENTRIES: given} if ENTRIES in meta else {}
        return {ENTRIES: [change(one) if isinstance(one, dict) else one for one in given]}

    def _patch(self, patch: Mapping[str, Any]) -> Any:
        """Quotes of erased lines, and the values that rest on nothing else."""
        quotes = patch.get("quotes")
        given = {
            field: [one for one in some if isinstance(one, dict)]
            for field, some in (quotes.items() if isinstance(quotes, dict) else ())
            if isinstance(some, list)
        }
        erased = {
            field: [{**one, "words": MARK % REMOVED} if one.get("line") in self.ids else one for one in some]
            for field, some in given.items()
        }
        if erased == given:
            return patch
        if self._whom.is_old:
            return {**patch, "quotes": {**patch["quotes"], **erased}}
        resting = {field for field, some in given.items() if all(one.get("line") in self.ids for one in some)}
        kept = self._without_values(patch, resting.__contains__)
        return {**kept, "quotes": {**patch["quotes"], **erased}}

    def _without_values(self, patch: Mapping[str, Any], is_meant: Callable[[str], bool]) -> dict[str, Any]:
        id, after = str(patch.get("id", "")), dict(patch)
        for part in {"set", "add", "unverified", "checked"} & after.keys():
            if isinstance(values := after[part], dict):
                after[part] = {
                    field: _blank(value) if is_meant(field) and self._is_text(id, field) else value
                    for field, value in values.items()
                }
        return after

    def _phrases_of(self, lines: Iterable[Line], title: str) -> Phrases:
        own, others = list[str](), set[Tokens]()
        lines = tuple(lines)
        for line in lines:
            if self._is_own(line.person, line.source):
                own += [line.content, *_values(line)]
        phrases = Phrases(own).without(set(_phrases(title)))
        said: set[Tokens] = set()
        for line in lines:
            found = {one for one, _, _ in phrases.find_phrases(line.content)}
            if self._is_own(line.person, line.source):
                values = (one for value in _values(line) for one, _, _ in phrases.find_phrases(value))
                said |= {*found, *values, *_phrases(line.content)}
            elif line.source is Source.USER:
                others |= found
            else:
                others |= found - said
        return phrases.without(others)


def note(whom: Forgetting, changed: Iterable[Changed], *, last: Line | None, now: str) -> Line:
    """The line that tells what happened, and vouches for what the changed lines read now."""
    lines = [one.as_meta() for one in changed]
    content = OUT_OF_DATE if whom.is_old else f"@{whom.person} was forgotten on request."
    words: dict[str, Any] = {"words": True} if whom.words else {}
    facts = {SCRUBBED: lines} if lines else {}
    meta: dict[str, Any] = {
        "message_id": f"forget-{now}-{whom.person}",
        FORGOT: {"person": whom.person, "on": whom.on, **words},
        **facts,
    }
    return line_after(last, content, now=now, meta=meta)


def _is_note(id: str, field: str) -> bool:
    return id.startswith(_NOTE) and field == "text"


def _values(line: Line) -> Iterator[str]:
    for patch in line.patches:
        values = patch.get("set")
        for value in values.values() if isinstance(values, Mapping) else ():
            yield from (
                one for one in (value if isinstance(value, list | tuple) else [value]) if isinstance(one, str)
            )


def _blank(value: Any) -> Any:
    return map_texts(value, lambda _, text: MARK % REMOVED if text else "")


def _wordless(value: Any) -> Any:
    """A fact of the person's line: ids, times and choices have no space in them."""
    if isinstance(value, str):
        return MARK % REMOVED if " " in value.strip() or "://" in value else value
    if isinstance(value, list):
        return [_wordless(one) for one in value]
    if isinstance(value, dict):
        named = {"name", "text", "words", "quote", "told"} & value.keys()
        return {
            name: _blank(one) if name in named and isinstance(one, str) else _wordless(one)
            for name, one in value.items()
        }
    return value


def _kinds(before: Any, after: Any) -> tuple[str, ...]:
    """One for each text that is another one now."""
    if isinstance(before, dict) and isinstance(after, dict):
        return tuple(kind for name in before for kind in _kinds(before[name], after.get(name)))
    if isinstance(before, list) and isinstance(after, list):
        return tuple(kind for one, two in zip(before, after, strict=True) for kind in _kinds(one, two))
    if before == after:
        return ()
    return (NAMED if isinstance(after, str) and MARK % REMOVED not in after else REMOVED,)


class TypedNames:
    """
    Whom to forget, as people and models type it: each name, each first name, and Slack's id, as words of their own, in
    small and capital letters. What is the name of somebody else, or a part of it, stays.
    """

    def __init__(self, whom: Forgetting) -> None:
        named = dict.fromkeys((*whom.names, *map(first_name, whom.names), whom.user))
        self.names = tuple(one for one in named if one.strip())
        firsts = {_plain(first_name(one)) for one in whom.names}
        others = {_plain(one) for one in whom.others} - {*map(_plain, whom.names)}
        self._kept = frozenset(one for one in others if not firsts.isdisjoint(one.split()))
        wanted = sorted({*map(_plain, self.names), *self._kept}, key=len, reverse=True)
        words = "|".join(r"\s+".join(map(re.escape, one.split())) for one in wanted)
        self._pattern = re.compile(rf"{_BEGIN}(?:{words}){_END}", re.IGNORECASE) if self.names else None

    def replace(self, text: str, by: str) -> tuple[str, int]:
        """How often, too."""
        if self._pattern is None:
            return text, 0
        count = 0

        def replaced(found: re.Match[str]) -> str:
            nonlocal count
            if _plain(found[0]) in self._kept:
                return found[0]
            count += 1
            return by

        return self._pattern.sub(replaced, text), count


_BEGIN = r"(?:(?<![\w-])|(?<=(?<![^\W_])_))"
_END = r"(?:(?![\w-])|(?=_(?![^\W_])))"
"""Of a word; the marks of emphasis may be around it."""


def first_name(name: str) -> str:
    """The first word that is not shortened, as titles are."""
    words = (one.strip(punctuation) for one in name.split() if not one.endswith("."))
    return next((one for one in words if len(one) > 1), "")


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def rename(text: str, names: Collection[str], called: str) -> Redacted:
    """Where code wrote one of *names*."""
    found = [one for one in names if one and one in text]
    if not found:
        return Redacted(text)
    after, count = pattern_of(found).subn(lambda _: called, text)
    return Redacted(after, (NAMED,) * count)
