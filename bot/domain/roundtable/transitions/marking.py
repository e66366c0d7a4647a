"""
Marks of messages: by a form, or by a reaction. A mark decides nothing. An objection and an open question are entries of
the person who marked; a decision becomes one when a person says that people agreed.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import VALUE_CHARS, Kind
from bot.domain.messages import mark_wording as wording
from bot.domain.messages.form import Submission
from bot.domain.roundtable.inputs import MarkMessage, Press
from bot.domain.roundtable.marks import MarkKind, MessageMark
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ATTACHMENTS, Roundtable
from bot.domain.roundtable.transitions import pausing, specifying
from bot.domain.specification.claims import Claim, EntryState, Quote
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import MARK, QUOTE_CHARS, Patch
from bot.domain.transcript.lines import ENTRIES, Line, Source
from bot.domain.values.places import Person
from bot.errors import NotNow

MARKS_REMEMBERED = 64
WITHOUT_WORDS = frozenset({MarkKind.OUT, MarkKind.ANSWER})
"""Who marks a message as that says nothing in its place."""
ENTRY_OF: Mapping[MarkKind, str] = {MarkKind.OBJECTION: "objection", MarkKind.QUESTION: "question"}


class MarkedWords(NamedTuple):
    author: str
    words: str


def said_at(rt: Roundtable, ts: str) -> MarkedWords | None:
    """What a person said in the open step or discussion; None for everything else."""
    if answer := next((one for one in rt.answers if one.ts == ts), None):
        return MarkedWords(answer.person, answer.text)
    line = next((one for one in rt.lines if one.message_id == rt.line_of(ts)), None)
    if line is None or line.source is not Source.USER:
        return None
    return MarkedWords(line.person, line.content)


def knows(rt: Roundtable, ts: str) -> bool:
    return said_at(rt, ts) is not None or any(one.ts == ts for one in rt.marks)


def flaws(submission: Submission) -> Mapping[str, str]:
    kind = submission.text(wording.MARK)
    if kind not in set(MarkKind):
        return {wording.MARK: wording.CHOOSE}
    is_said = kind in WITHOUT_WORDS and submission.text(wording.WORDS).strip()
    return {wording.WORDS: wording.ONLY_ITS_WORDS} if is_said else {}


def entered(submission: Submission) -> MarkMessage:
    return MarkMessage(
        key=submission.key,
        at=submission.at,
        person=submission.person,
        ts=submission.subject,
        mark=MarkKind(submission.text(wording.MARK)),
        words=submission.text(wording.WORDS).strip(),
    )


def marked(rt: Roundtable, event: MarkMessage, playbook: Playbook) -> Roundtable:
    """A reaction to anything but a person's message of the open step means nothing; the form says so."""
    if event.words and event.mark in WITHOUT_WORDS:
        raise NotNow(wording.ONLY_ITS_WORDS)
    same = event.ts, event.mark, event.person.id
    known = next((one for one in rt.marks if (one.ts, one.kind, one.by) == same), None)
    if event.removed:
        return _taken_back(rt, event, known, playbook) if known else rt
    found = said_at(rt, event.ts)
    if found is None or rt.stage is Stage.OPENING:
        if event.is_reaction:
            return rt
        raise NotNow(wording.NOT_MARKABLE)
    if event.mark is MarkKind.OUT and event.person.id not in {found.author, rt.started_by}:
        why = wording.may_not_leave_out(rt.name_of(found.author), rt.name_of(rt.started_by))
        if event.is_reaction:
            return rt.whispering(event.person.id, why)
        raise NotNow(why)
    if known and (known.quote, known.words) == (found.words, event.words):
        return rt
    if known:
        rt = rt.but(marks=tuple(one for one in rt.marks if one is not known))
        rt = _without_entry(rt, event, known, playbook)
    return _marked(rt, event, found, playbook)


def _marked(rt: Roundtable, event: MarkMessage, found: MarkedWords, playbook: Playbook) -> Roundtable:
    mark = MessageMark(
        id=f"m{rt.sequence}",
        ts=event.ts,
        kind=event.mark,
        by=event.person.id,
        author=found.author,
        quote=found.words,
        words=event.words,
        step_id=rt.step_id,
    )
    text = wording.told(mark.kind.value)
    if mark.kind is MarkKind.OUT:
        is_pending = any(line.message_id == rt.line_of(mark.ts) for line in rt.unheld)
        text = text if is_pending else wording.SAVED_BEFORE
        rt = _left_out(rt, event, mark)
    else:
        rt, mark = _with_entry(rt, event, mark, playbook)
    if mark.kind is MarkKind.ANSWER and rt.stage is Stage.DISCUSSING:
        rt = _answering(rt, mark)
    rt = rt.but(marks=(*rt.marks, mark)[-MARKS_REMEMBERED:])
    return pausing.notes_saved(rt.whispering(event.person.id, text))


def _with_entry(
    rt: Roundtable, event: MarkMessage, mark: MessageMark, playbook: Playbook
) -> tuple[Roundtable, MessageMark]:
    """An objection without a reason is none yet: the card asks for it."""
    kind = playbook.schema.kinds.get(ENTRY_OF.get(mark.kind, ""))
    patches: tuple[Patch, ...] = ()
    is_whole = (bool(mark.words) or mark.kind is not MarkKind.OBJECTION) and len(mark.text) <= VALUE_CHARS
    if kind and is_whole:
        id = rt.specification.next_id(kind)
        patch = _patch(rt, id, kind, mark, event.person)
        mark, patches = mark.but(entry=id), specifying.in_discussion(rt, [patch], playbook)
    names = rt.name_of(mark.by), rt.name_of(mark.author)
    sentence = wording.marked(*names, mark.kind.value, mark.words)
    return _recorded(rt, event.key, event.person, sentence, mark, entries=patches), mark


def _patch(rt: Roundtable, id: str, kind: Kind, mark: MessageMark, person: Person) -> Patch:
    """In the words of the message, or of who marked it; those of others are a quote."""
    line = rt.line_of(mark.ts)
    is_own = (mark.by if mark.words else mark.author) == person.id
    quotes = {} if is_own else {kind.text: (Quote(line=line, words=mark.text[:QUOTE_CHARS]),)}
    return Patch(id=id, kind=kind.key, new=True, set={kind.text: mark.text}, quotes=quotes, sources=(line,))


def _taken_back(rt: Roundtable, event: MarkMessage, mark: MessageMark, playbook: Playbook) -> Roundtable:
    rt = rt.but(marks=tuple(one for one in rt.marks if one is not mark))
    rt = (
        _put_back(rt, event, mark, playbook)
        if mark.kind is MarkKind.OUT
        else _without_entry(rt, event, mark, playbook)
    )
    return pausing.notes_saved(rt.whispering(event.person.id, wording.UNDONE))


def _without_entry(rt: Roundtable, event: MarkMessage, mark: MessageMark, playbook: Playbook) -> Roundtable:
    is_alive = mark.entry and mark.settled != "agreed" and rt.specification.lives(mark.entry)
    patches = [Patch(id=mark.entry, state=EntryState.WITHDRAWN)] if is_alive else []
    sentence = wording.taken_back(rt.name_of(mark.by), rt.name_of(mark.author), mark.kind.value)
    key = event.key if event.removed else f"{event.key}.before"
    return _recorded(rt, key, event.person, sentence, mark, removed=True, entries=patches)


def _recorded(
    rt: Roundtable,
    key: str,
    person: Person,
    sentence: str,
    mark: MessageMark,
    *,
    removed: bool = False,
    **facts: Any,
) -> Roundtable:
    told = {"id": mark.id, "kind": mark.kind.value, "of": rt.line_of(mark.ts)}
    mark_facts: dict[str, Any] = {MARK: {**told, "removed": True} if removed else told}
    return rt.recording(sentence, by=person.id, message_id=key, **mark_facts, **facts)


# --- not for the record -------------------------------------------------------------------------------------------


def _left_out(rt: Roundtable, event: MarkMessage, mark: MessageMark) -> Roundtable:
    """
    What is not in git yet loses its words, also in the entries that it gave; those are withdrawn. So are marks that
    quote it. What people agreed on stays, to be confirmed again.
    """
    source = rt.line_of(mark.ts)
    made = [one.id for one in rt.specification.made_by(source) if one.new]
    quoting = [one for one in rt.marks if one.ts == mark.ts and _quotes(one)]
    entries = [rt.specification.entries[one.entry] for one in quoting if one.entry]
    quoted = {claim.line for entry in entries if (claim := entry.claim("text"))}
    pending = {line.message_id for line in rt.unheld}
    for id in {source, *quoted} & pending:
        is_own = id == source
        lines = (_without_words(one, is_own=is_own) if one.message_id == id else one for one in rt.lines)
        rt = rt.but(lines=tuple(lines), specification=_blanked(rt.specification, id))
    rt = rt.but(marks=tuple(_unquoted(one, mark.ts) for one in rt.marks if one not in quoting))
    gone = dict.fromkeys((*made, *(one.id for one in entries if rt.specification.lives(one.id))))
    patches = [Patch(id=id, state=EntryState.WITHDRAWN) for id in gone]
    sentence = wording.marked(rt.name_of(mark.by), rt.name_of(mark.author), mark.kind.value)
    rt = _recorded(rt, event.key, event.person, sentence, mark, retracts=source, entries=patches)
    rt = rt.without_answer(mark.ts).but(filed=tuple(one for one in rt.filed if one.ts != mark.ts))
    return rt.amending(mark.ts, "")


def _quotes(one: MessageMark) -> bool:
    """A mark may have words that its person wrote: those are not the author's to leave out."""
    return one.kind is not MarkKind.OUT and not one.words and one.settled != "agreed"


def _unquoted(one: MessageMark, ts: str) -> MessageMark:
    return one.but(quote=wording.LEFT_OUT) if one.ts == ts and one.words else one


def _without_words(line: Line, *, is_own: bool) -> Line:
    """Its entries have none any more; one that is not the author's *own* keeps what else it says."""
    meta = {name: value for name, value in line.meta.items() if name != ATTACHMENTS or not is_own}
    if ENTRIES in meta:
        meta[ENTRIES] = [_wordless(patch) for patch in meta[ENTRIES]]
    return line.but(content=wording.LEFT_OUT if is_own else line.content, meta=meta)


def _wordless(patch: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: dict(patch[name]) for name in ("set", "add") if isinstance(patch.get(name), Mapping)}
    blank = {name: {key: _blank(value) for key, value in fields.items()} for name, fields in parts.items()}
    return {**{name: value for name, value in patch.items() if name != "quotes"}, **blank}


def _blanked(specification: Specification, source: str) -> Specification:
    def blanked(one: Claim) -> Claim:
        said = one.said.but(quote="") if one.said else None
        return one.but(value=_blank(one.value), quotes=(), said=said) if one.line == source else one

    entries = {
        id: entry.but(claims={field: tuple(map(blanked, known)) for field, known in entry.claims.items()})
        for id, entry in specification.entries.items()
    }
    heard = {line: words for line, words in specification.heard.items() if line != source}
    return specification.but(entries=entries, heard=heard)


def _blank(value: Any) -> Any:
    if isinstance(value, str):
        return wording.LEFT_OUT
    return [_blank(one) for one in value] if isinstance(value, list | tuple) else value


def _put_back(rt: Roundtable, event: MarkMessage, mark: MessageMark, playbook: Playbook) -> Roundtable:
    """The words are their author's again, in a line of their own; entries get new numbers."""
    author = Person(id=mark.author)
    sentence = wording.taken_back(rt.name_of(mark.by), rt.name_of(mark.author), mark.kind.value)
    rt = _recorded(rt, f"{event.key}.by", event.person, sentence, mark, removed=True)
    patches = specifying.said(rt, mark.quote, author, playbook, step_id=mark.step_id)
    rt = rt.heard(
        author,
        mark.quote,
        ts=mark.ts,
        part=rt.part,
        message_id=event.key,
        amends=rt.line_of(mark.ts),
        entries=patches,
    )
    rt = rt.amending(mark.ts, mark.quote)
    return _answering(rt, mark) if rt.stage is Stage.DISCUSSING and rt.step_id == mark.step_id else rt


def _answering(rt: Roundtable, mark: MessageMark) -> Roundtable:
    if any(one.ts == mark.ts for one in rt.answers):
        return rt
    said = ThreadMessage(person=Person(id=mark.author), text=mark.quote, ts=mark.ts)
    return rt.answering(said, feedback=False)


# --- did we agree? ------------------------------------------------------------------------------------------------


def asked_in_step(rt: Roundtable, event: Press) -> MessageMark:
    """The mark of the button; typed words may name its number where several wait for a yes."""
    if event.token:
        return open_mark(rt, event.value)
    waiting = [mark for mark in rt.marks if mark.is_open and mark.step_id == rt.step_id]
    number = int(event.value or 0) or int(len(waiting) == 1)
    if not 0 < number <= len(waiting):
        raise NotNow(wording.which_prompt(len(waiting)))
    return waiting[number - 1]


def is_mark(rt: Roundtable, id: str) -> bool:
    return any(one.id == id for one in rt.marks)


def open_mark(rt: Roundtable, id: str) -> MessageMark:
    found = next((one for one in rt.marks if one.id == id and one.is_open), None)
    if found is None:
        raise NotNow(wording.NOT_MARKABLE)
    return found


def decided(rt: Roundtable, mark: MessageMark, entry: str) -> Roundtable:
    """In a discussion, whose card has the decision."""
    after = mark.but(settled="agreed", entry=entry)
    return rt.but(marks=tuple(after if one is mark else one for one in rt.marks))


def whose(rt: Roundtable, mark: MessageMark) -> str:
    return wording.in_whose_words(rt.name_of(mark.by), rt.name_of(mark.author), own=bool(mark.words))


def settled(
    rt: Roundtable, person: Person, mark: MessageMark, playbook: Playbook, *, agree: bool
) -> Roundtable:
    name, kind = rt.name_of(person.id), playbook.schema.kinds.get("decision")
    patches: tuple[Patch, ...] = ()
    after = mark.but(settled="agreed" if agree else "not_agreed")
    if agree and kind:
        id = rt.specification.next_id(kind)
        patch = _patch(rt, id, kind, mark, person)
        patches = (patch.but(set={**patch.set, "context": whose(rt, mark)}),)
        after = after.but(entry=id)
    sentence = (wording.agreed if agree else wording.not_agreed)(name, mark.text)
    rt = rt.but(marks=tuple(after if one is mark else one for one in rt.marks))
    rt = rt.recording(sentence, by=person.id, entries=patches)
    return pausing.notes_saved(rt)
