"""
What people write, read without a model: labels, numbers, lists and exact small words become entries. Everything else
is a note: their words, verbatim, under the question that they answer. No rule here judges what words mean.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise, takewhile
from typing import Any, NamedTuple

from bot.domain.catalog.schema import ID, NOTE, VALUE_CHARS, FieldType, Kind, folded, ids_in, only_ids
from bot.domain.specification.entries import OPTION
from bot.domain.specification.fold import Patch
from bot.domain.specification.said_entries import MOST_PATCHES, Here, SaidEntries, references, traced
from bot.domain.values.text import BETWEEN_WORDS, has_only_small_words

LABEL_CHARS = 30
"""Longer texts before a colon are the beginning of a sentence."""
TELLING_COLUMNS = 2
"""So many headings of a table have to be fields before it is read as entries."""
LISTED, LISTED_WORDS = 3, 3
"""A row with commas is a list of at least so many items, none of more than so many words."""

_COLON = r"(?:[:：]|(?<=[ \t])=(?=[ \t]))"  # `verdict=PASS` is code
_BULLET = re.compile(r"[-*+•‣◦]\s+(?P<rest>\S.*)")
_NUMBER = re.compile(r"(?:\A|(?<=[.!?…])\s)(?P<number>\d{1,2})[.)]\s+(?=\S)")
_LETTER = re.compile(r"(?:\A|(?<=[\s;,.]))\(?(?P<letter>[A-H])[.)]\s+(?=\S)")
_ABOUT = re.compile(
    rf"""\** (?P<ids>{ID} (?:\s*(?:,|\band\b|\bund\b)\s*{ID})*) \**
    (?:\s+(?P<field>[^\W\d][\w\ ]{{1,24}}?))? \s*(?:{_COLON}|(?P<arrow>->|→))\** \s*(?P<value>\S.*)""",
    re.VERBOSE,
)
_LETTERED_NAME = r"(?:option|variante|variant|opción|opção|案) ?[a-hj-z]"
_OPENING = re.compile(
    rf"\A|(?<=[.!?。！？;:：,，、])\s+|(?<!\s)\s+[–—-]\s|(?<!\s)\s+(?={_LETTERED_NAME}\s?[:：])",
    re.IGNORECASE,
)
"""Behind what a label may stand."""
_WITHIN_SENTENCE = (",", "，", "、")
"""Behind these, `the decision: ours` is talk."""
_LABEL = re.compile(
    rf"[*_]{{0,2}}(?P<label>[^\W\d_][^:：=|.;!?,\n]{{0,{LABEL_CHARS - 2}}}?)[*_]{{0,2}}"
    rf"[ \t]{{0,2}}{_COLON}[*_]{{0,2}}\s*"
)
_LETTERED = re.compile(_LETTERED_NAME, re.IGNORECASE)
_FIRST_ID = re.compile(ID)
_WHOLE_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|(?<=,)\s+")
_COUNT = re.compile(
    r"(?:about|ca\.?|~|etwa|roughly|environ|unos|cerca de)?\s{0,2}(?P<count>\d{1,6}(?:\s?[-–]\s?\d{1,6})?)(?![\w%])",
    re.IGNORECASE,
)
_SIGN = re.compile(r"(?<!\s)\s*+(?:->|=>|→)?\Z")  # between two fields: `Complaints -> from 300 to 50`
_TELLING = re.compile(r"[^\W\d_]{2,}|\(|=>")
"""
What a sentence needs besides its fields to be more than a proposal: `I think -> we: should` has an arrow, too.
"""
_QUESTION = re.compile(r"[?？]")
_EDGES = " \t.,;:!*_`\"'()"
_FENCE = "```"
_SEPARATORS = frozenset("|-: ")


class MessageReading(NamedTuple):
    """
    *patches* are what the words change, notes included. *problems* say why a form changes nothing. *small* are words
    without content, and *options* the letters that new options were given, by id.
    """

    patches: tuple[Patch, ...] = ()
    problems: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    options: Mapping[str, str] = {}

    @property
    def is_small(self) -> bool:
        return bool(self.small) and not self.patches

    @property
    def without_notes(self) -> tuple[Patch, ...]:
        return tuple(one for one in self.patches if one.kind != NOTE)


def read(text: str, here: Here) -> MessageReading:
    reader = _Reader(here)
    reader.read(text)
    return MessageReading(
        tuple(reader.entries.patches),
        tuple(dict.fromkeys(reader.entries.problems)),
        tuple(reader.small),
        dict(reader.letters),
    )


def is_question(text: str) -> bool:
    return _QUESTION.search(text) is not None


def numbers_in(text: str) -> frozenset[int]:
    """The numbers of the questions that *text* answers by `2. …`, which may become entries or notes."""
    return frozenset(
        number for row in text.splitlines() for number, _ in _numbered(row.strip(), 99) if number
    )


def filed(text: str, kind: Kind) -> tuple[tuple[str, ...], str]:
    """
    What a press that makes a note *kind* files, and what stays: each line; of a question, the sentences that ask; of a
    list, its items, and not the line above.
    """
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    bullets = [found["rest"] for row in rows if (found := _BULLET.fullmatch(row))]
    if bullets:
        return tuple(bullets), "\n".join(row for row in rows if not _BULLET.fullmatch(row))
    sentences = [one for row in rows for one in _WHOLE_SENTENCE.split(row)]
    asked = [one for one in sentences if kind.is_asked and _QUESTION.search(one)]
    if asked:
        return tuple(asked), " ".join(one for one in sentences if one not in asked)
    return tuple(rows), ""


class _Label(NamedTuple):
    """
    A label from *start*, and what stands behind it from *end*. It opens an entry of *kind* with the choice *extra*; or
    it names a *field* of the one entry of its kind; or, as a *rank*, a value that ids get.
    """

    start: int
    end: int
    kind: Kind
    extra: Mapping[str, Any] = {}
    field: str = ""
    rank: Any = None
    letter: str = ""


class _Reader:
    """Reads one message. `last` is the entry said last, `question` the number that the rows below answer."""

    def __init__(self, here: Here) -> None:
        self.entries = SaidEntries(here)
        self.small: list[str] = []
        self.letters: dict[str, str] = {}
        self._here = here
        self._schema = here.schema
        self._openers = here.schema.openers
        self._small = here.schema.small_words()
        self._shown = here.schema.shown_in(here.step_id)
        self._asks = {number: ask for number, ask in here.asks.items() if ask.kind in here.schema.kinds}
        self._collected = {*(kind.key for kind in self._shown), *(one.kind for one in self._asks.values())}
        self._collected |= {OPTION} if here.is_discussion else set()
        self._one_per_step = [kind for kind in here.schema.kinds.values() if kind.one_per_step]
        self._ranked = [kind for kind in here.schema.kinds.values() if kind.by_value]
        self._before_label = frozenset(here.schema.before_label)
        self._meant: dict[str, bool] = {}
        """By label: whether it has any meaning."""
        self._list = self._listed_kind()
        """What a list without numbers is of."""
        self._question = here.open_questions[0] if len(here.open_questions) == 1 else None
        self._below: tuple[Kind, Mapping[str, Any]] | None = None
        """What the lines below become: behind a label that stands alone, or as the answer to a question."""
        self._answer: tuple[str, str] | None = None
        """The id and the field that the lines below continue."""
        self._notes: list[tuple[int | None, str]] = []

    def _listed_kind(self) -> Kind | None:
        """What exactly one open question asks for."""
        asked = (self._asks[one] for one in self._here.open_questions if one in self._asks)
        kinds = {ask.kind for ask in asked if ask.is_list}
        return self._schema.kinds[kinds.pop()] if len(kinds) == 1 else None

    def read(self, text: str) -> None:
        if has_only_small_words(text, self._small):
            self.small += [text.strip()] if text.strip() else []
            return
        items = _comma_items(text) if self._list else []
        if self._list and items:
            for item in items:
                self._item(self._list, item)
        else:
            self._rows([row.rstrip() for row in text.splitlines()])
        for question in dict.fromkeys(number for number, _ in self._notes):
            words = "\n".join(row for number, row in self._notes if number == question).strip()
            asked = self._here.questions[question - 1 : question] if question else ()
            about = {"question": question, "asked": asked[0]} if asked else {}
            for start in range(0, len(words) if NOTE in self._schema.kinds else 0, VALUE_CHARS):
                self.entries.put(
                    self._schema.kinds[NOTE], {"text": words[start : start + VALUE_CHARS], **about}
                )

    def _rows(self, written: Sequence[str]) -> None:
        rows = [row.strip() for row in written]
        below, after = "", [""] * len(rows)
        for at in reversed(range(len(rows))):
            after[at], below = below, rows[at] or below
        at, is_code = 0, False
        while at < len(rows):
            row = rows[at]
            if is_code or row.startswith((_FENCE, ">")):  # what is quoted or code was not said now
                is_code ^= row.count(_FENCE) % 2 == 1
                self._keep(written[at])
            elif row.startswith("|") and (size := self._table(rows, at)):
                at += size
                continue
            elif not row:
                self._below = self._answer = None
            elif self.entries.is_full or row.startswith("|"):
                self._keep(row)
            else:
                self._row(row, after[at])
            at += 1

    # --- one row ----------------------------------------------------------------------------------------------------

    def _row(self, row: str, below: str) -> None:
        bullet = _BULLET.fullmatch(row)
        if self._about(bullet["rest"] if bullet else row):
            return
        if bullet:
            self._bullet(row, bullet["rest"])
            return
        for number, words in _numbered(row, len(self._here.questions), self._question or 0):
            if number:
                self._question = number
                self._below = self._answer = None
                self._answered(number, words, below)
            elif words:
                self._words(words, below)

    def _keep(self, words: str) -> None:
        """As a note; once, although several parts of it may fit nowhere."""
        self._answer = None
        note = (self._question, words)
        if words.strip() and self._notes[-1:] != [note]:
            self._notes.append(note)

    def _bullet(self, row: str, words: str) -> None:
        kind, extra = self._below or (self._list or self._schema.items_in(self._here.step_id), {})
        labels = self._labels(words)
        if has_only_small_words(words, self._small):
            self.small.append(words)
        elif labels and not labels[0].start:
            self._words(words, "")
        elif self._sentence(words):
            return
        elif kind is None or (_QUESTION.search(words) and not kind.is_asked):
            self._keep(row)
        else:
            self._item(kind, words, extra=extra)

    # --- answers to questions ---------------------------------------------------------------------------------------

    def _answered(self, number: int, words: str, below: str) -> None:
        if bullet := _BULLET.fullmatch(words):
            words = bullet["rest"]
        ask = self._asks.get(number)
        kind = self._schema.kinds[ask.kind] if ask else None
        is_question = bool(_QUESTION.search(words)) and not (kind and kind.is_asked)
        if ask is None or kind is None or is_question or (not ask.field and self._labels(words, of=kind)):
            self._below = (kind, {}) if ask and kind and ask.is_list else None
            self._words(words, below)
        elif ask.field and ask.field != kind.text:
            self._fact(kind, ask.field, words)
        elif has_only_small_words(words, self._small):
            self.small.append(words)
        elif ask.is_list:
            for item in _comma_items(words) or [words]:
                self._item(kind, item)
            self._below = (kind, {})
        else:
            self._item(kind, words)
            said = self.entries.patches[-1:]
            if said and isinstance(said[0].set.get(kind.text), str):
                self._answer = (said[0].id, kind.text)

    def _fact(self, kind: Kind, name: str, words: str) -> None:
        """A choice that is the first or last word of a sentence, or the count in front; the words are its reason."""
        field = kind.fields.get(name)
        values = {}
        if field and field.type is FieldType.CHOICE:
            chosen = next(filter(None, map(field.read, self._ends(words))), None)
            values = {name: chosen} if chosen else {}
        elif field and field.type in {FieldType.NUMBER, FieldType.COUNT}:
            found = _COUNT.match(words)
            value = field.read(found["count"]) if found else None
            values = {name: value} if value is not None else {}
        elif field and (value := field.read(words)) is not None:
            self.entries.put_fact(kind, {name: value})
            return
        facts = [label for label in self._labels(words) if label.field and label.kind is kind]
        for label in facts:
            values[label.field] = kind.fields[label.field].read(_first_part(words[label.end :]))
        if not values:
            self._words(words, "")
        elif "reason" in kind.fields and kind.fields[name].read(words) is None:
            self.entries.put_fact(kind, {**values, "reason": words})
        else:
            self.entries.put_fact(kind, values)

    def _ends(self, words: str) -> Iterator[str]:
        for sentence in _SENTENCE.split(words):
            clean = [one for one in BETWEEN_WORDS.split(sentence.replace("’", "'")) if one.strip(_EDGES)]
            plain = [one.strip(_EDGES).casefold() for one in clean]
            if any(one in self._schema.negations or one.endswith("n't") for one in plain):
                continue
            told = [one for one in plain if one not in self._small]
            ends = dict.fromkeys(told[:1] + told[-1:])
            yield from ends

    # --- labels -----------------------------------------------------------------------------------------------------

    def _labels(self, text: str, of: Kind | None = None) -> list[_Label]:
        """The labels in *text*, from left to right. In an entry, such as one *of* a kind, its fields are none."""
        found: list[_Label] = []
        for opening in _OPENING.finditer(text):
            written = _LABEL.match(text, opening.end())
            if written is None or (found and found[-1].end >= opening.start()):
                continue
            behind = text[opening.start() - 1] if opening.start() else ""
            kind = found[-1].kind if found else of
            if kind and behind in {";", ","} and self.entries.field_named(kind, written["label"]):
                continue
            label = self._label(text, opening.start(), written)
            if label:
                found.append(label)
        return found

    def _label(self, text: str, start: int, written: re.Match[str]) -> _Label | None:
        """*start* is 0 at the beginning of a line."""
        inside = start > 0
        label, end = folded(written["label"].strip(" *_")), written.end()
        first, _, rest = label.partition(" ")
        is_sentence = text[start - 1 : start] not in _WITHIN_SENTENCE
        names = [label, rest] if rest and is_sentence and first in self._before_label else [label]
        for name in filter(self._has_meaning, names):
            if rank := self._rank(name, text, end):
                return _Label(start, end, rank[0], rank=rank[1])
            for kind in self._one_per_step:
                field = kind.field_named(name)
                is_shown = kind in self._shown
                one = kind.fields[field] if field else None
                is_short = one is not None and one.type in {
                    FieldType.CHOICE,
                    FieldType.NUMBER,
                    FieldType.COUNT,
                }
                said = _first_part(text[end : end + LABEL_CHARS]) if is_short else text[end:].strip()
                if one is not None and (is_short or (is_shown and not inside)) and one.read(said) is not None:
                    return _Label(start, end, kind, field=field)
            kinds = self._openers.get(name, ())
            is_collected = any(kind.key in self._collected for kind in kinds)
            if name in self._schema.everyday and inside and not is_collected:
                continue
            if kind_of := self._opened_by(name):
                return _Label(start, end, kind_of, extra=self._extra(kind_of, name))
            if _LETTERED.fullmatch(name) and (option := self._schema.kinds.get(OPTION)):
                return _Label(start, end, option, letter=name[-1].upper())
        return None

    def _has_meaning(self, label: str) -> bool:
        """Looked up once: a long text may have thousands of colons."""
        if label not in self._meant:
            self._meant[label] = (
                self._opened_by(label) is not None
                or any(kind.fields[kind.by_value].read(label) is not None for kind in self._ranked)
                or any(kind.field_named(label) for kind in self._one_per_step)
                or bool(_LETTERED.fullmatch(label))
            )
        return self._meant[label]

    def _opened_by(self, label: str) -> Kind | None:
        kinds = self._openers.get(label, ())
        here = next((kind for kind in kinds if kind.key in self._collected), None)
        anywhere = here or next((kind for kind in kinds if kind.anywhere), None) or next(iter(kinds), None)
        by_choice = (kind for kind in self._shown if kind.into and kind.fields[kind.into].read(label))
        return anywhere or next(by_choice, None)

    def _extra(self, kind: Kind, label: str) -> Mapping[str, Any]:
        """The choice that the label makes besides opening the kind."""
        if not kind.into:
            return {}
        meant = next((value for value, words in kind.by_label.items() if label in map(folded, words)), None)
        meant = meant or kind.fields[kind.into].read(label)
        return {kind.into: meant} if meant else {}

    def _rank(self, label: str, text: str, end: int) -> tuple[Kind, Any] | None:
        """`Must: FR-001, FR-002`."""
        for kind in self._ranked:
            if (value := kind.fields[kind.by_value].read(label)) is not None and _FIRST_ID.match(text, end):
                return kind, value
        return None

    def _words(self, text: str, below: str) -> None:
        labels = self._labels(text)
        head = text[: labels[0].start] if labels else text
        if head.strip(_EDGES + "–—-"):
            self._unlabelled(head.strip(), "" if labels else below)
        ends = [*(label.start for label in labels), len(text)]
        for label, (start, end) in zip(labels, pairwise(ends), strict=True):
            self._labelled(label, text[label.end : end].strip(" ;–—"), text[start:end].strip(" ;,–—"))

    def _labelled(self, label: _Label, value: str, piece: str) -> None:
        self._answer = None
        kind = label.kind
        if label.rank is not None:
            if not self.entries.rank(kind, label.rank, value):
                self._keep(piece)
        elif label.field:
            self._labelled_fact(kind, label.field, value)
        elif not value:
            self._below = (kind, label.extra)
        elif only_ids(value) and kind.fields[kind.text].type is not FieldType.REF:
            self._keep(piece)
        else:
            if self._below and kind.part_of != self._below[0].key:  # below a criterion the list goes on
                self._below = None
            parts = [
                one.strip() for one in (value.split(kind.split) if kind.split else [value]) if one.strip()
            ]
            if len(parts) > MOST_PATCHES:
                self._keep(piece)
                return
            for part in parts:
                self._item(kind, part, extra=label.extra, piece=piece, letter=label.letter)

    def _labelled_fact(self, kind: Kind, name: str, value: str) -> None:
        field = kind.fields[name]
        is_whole = field.read(value) is not None
        said = value if is_whole else _first_part(value)
        self.entries.put_fact(kind, {name: field.read(said)})
        rest = value[len(said) :].strip(" .,;!") if not is_whole else ""
        if rest:
            self._unlabelled(rest, "")

    # --- words without a label --------------------------------------------------------------------------------------

    def _unlabelled(self, text: str, below: str) -> None:
        if has_only_small_words(text, self._small):
            self.small.append(text)
        elif self._sentence(text) or self._lettered(text):
            self._answer = None
        elif self._answer and self.entries.extend(*self._answer, text):
            return
        elif owner := self._owner_above(below):
            self._item(owner, text)
        elif self._below and not (_QUESTION.search(text) and not self._below[0].is_asked):
            self._item(self._below[0], text, extra=self._below[1])
        elif not ((id := self._named(text)) and self.entries.remark(id, text)):
            self._keep(text)

    def _owner_above(self, below: str) -> Kind | None:
        """A line right above `AC:` is what the criterion is of."""
        first = self._labels(below)[:1] if below else []
        part = first[0].kind if first and not first[0].start else None
        owner = self._schema.kinds.get(part.part_of) if part else None
        return owner if owner in self._shown else None

    def _named(self, text: str) -> str:
        """The one living entry that *text* is about."""
        ids = ids_in(text)
        is_refused = bool(self.entries.problems) and bool(_ABOUT.fullmatch(text))
        is_about = len(ids) == 1 and self.entries.knows(ids[0]) and not _QUESTION.search(text)
        return ids[0] if is_about and not is_refused else ""

    def _lettered(self, text: str) -> bool:
        """`A) a queue B) a file`, where options are."""
        option = self._schema.kinds.get(OPTION)
        marks = list(_LETTER.finditer(text)) if option else []
        letters = "".join(one["letter"] for one in marks)
        is_shown = option is not None and (self._here.is_discussion or option in self._shown)
        if not is_shown or option is None or len(marks) < 2 or letters != "ABCDEFGH"[: len(marks)]:
            return False
        if head := text[: marks[0].start()].strip():
            self._keep(head)
        ends = [*(one.start() for one in marks), len(text)]
        for mark, (_, end) in zip(marks, pairwise(ends), strict=True):
            self._item(option, text[mark.end() : end].strip(" ;,"), letter=mark["letter"])
        return True

    def _sentence(self, row: str, kinds: Collection[Kind] = ()) -> bool:
        """`As a {role} I want {want} so that {so_that}`, for the kinds that the step shows."""
        words, traces = traced(row)
        for kind in kinds or self._shown:
            for form in kind.sentences:
                found = _pattern(form).fullmatch(words)
                values = _values(kind, found.groupdict()) if found else None
                if values:
                    is_sure = bool(_TELLING.search(re.sub(r"{\w+}", "", form)))
                    said = {**values, **references(kind, traces)}
                    return self.entries.put(kind, said, is_proposed=not is_sure)
        return False

    # --- what changes an entry --------------------------------------------------------------------------------------

    def _about(self, row: str) -> bool:
        """
        `FR-001: new words`, `FR-001 priority: must`, `FR-001, FR-002 priority: must`, `RSK-001 -> rotate logs`. What
        does not fit is a note as it is: nothing else is read out of words about an entry.
        """
        found = _ABOUT.fullmatch(row)
        if found is None:
            return False
        name = found["field"] or ""
        ids = tuple(dict.fromkeys(ids_in(found["ids"])))
        if found["arrow"] and not name:
            kinds = (self._schema.of_id(id) for id in ids)
            name = next((kind.arrow for kind in kinds if kind), "")
            if not name:
                return False
        refused = len(self.entries.problems)
        is_changed = self.entries.change(ids, name, found["value"])
        if not is_changed and len(self.entries.problems) > refused:
            self._keep(row)
            return True
        return is_changed

    def _item(
        self,
        kind: Kind,
        text: str,
        *,
        extra: Mapping[str, Any] | None = None,
        piece: str = "",
        letter: str = "",
    ) -> None:
        """An entry of *kind*, or a note of the *piece* that it stands in."""
        if not extra and self._sentence(text, [kind]):
            return
        if not self.entries.add(kind, text, extra):
            self._keep(piece or text)
        elif letter:
            self.letters[self.entries.patches[-1].id] = letter

    # --- tables -----------------------------------------------------------------------------------------------------

    def _table(self, rows: Sequence[str], at: int) -> int:
        """
        How many rows a Markdown table has whose headings, in row *at*, are fields of a kind that the step shows; 0 if
        it is none.
        """
        head = _cells(rows[at])
        matches = {kind.key: [kind.field_named(cell) for cell in head] for kind in self._shown}
        best = max(self._shown, key=lambda kind: sum(map(bool, matches[kind.key])), default=None)
        if best is None or sum(map(bool, matches[best.key])) < TELLING_COLUMNS:
            return 0
        body = list(takewhile(lambda row: row.startswith("|"), islice(rows, at + 1, None)))
        for row in body:
            is_read = set(row) <= _SEPARATORS or (
                not self.entries.is_full and self.entries.put_row(best, matches[best.key], _cells(row))
            )
            if not is_read:
                self._keep(row)
        return 1 + len(body)


def _comma_items(text: str) -> list[str]:
    """`offline, sync, outbox`: at least three short items in one row."""
    row = text.strip()
    items = [item.strip(_EDGES) for item in re.split("[,，、]", row)]
    is_list = (
        LISTED <= len(items) <= MOST_PATCHES
        and "\n" not in row
        and not re.search(r"[.:;=?!：？！](?:\s|\Z)", row)
        and all(0 < len(item.split()) <= LISTED_WORDS for item in items)
    )
    return items if is_list else []


def _numbered(row: str, most: int, open_number: int = 0) -> Iterator[tuple[int, str]]:
    """The parts of *row*, each with the number of its question: `2. …`, also `… 3. …` behind a sentence."""
    marks: list[re.Match[str]] = []
    for mark in _NUMBER.finditer(row):
        number = int(mark["number"])
        is_next = number > int(marks[-1]["number"]) if marks else not mark.start() or number > open_number > 0
        if 0 < number <= most and is_next:
            marks.append(mark)
    ends = [*(mark.start() for mark in marks), len(row)]
    yield 0, row[: ends[0]].strip()
    for mark, (_, end) in zip(marks, pairwise(ends), strict=True):
        yield int(mark["number"]), row[mark.end() : end].strip()


def _first_part(text: str) -> str:
    return re.split(r"[.;,!?\n]", text, maxsplit=1)[0].strip()


def _pattern(form: str) -> re.Pattern[str]:
    """Each field ends where the words behind it stand for the first time, and no other place is tried."""
    first, *rest = (r"(?<!\s)\s++".join(map(re.escape, part.split(" "))) for part in re.split(r"{\w+}", form))
    ends = (one or r"\.?\Z" for one in rest)
    fields = (
        rf"(?>(?P<{name}>\S.*?){end})" for name, end in zip(re.findall(r"{(\w+)}", form), ends, strict=True)
    )
    return re.compile(first + "".join(fields) + r"\.?", re.IGNORECASE)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _values(kind: Kind, given: Mapping[str, str]) -> dict[str, Any] | None:
    bare = ((name, _SIGN.sub("", text.rstrip(" ,;:"))) for name, text in given.items())
    values = {name: kind.fields[name].read(text) for name, text in bare}
    return None if any(value is None for value in values.values()) else values
