"""Forgets a person in what is live: the same as in the record, so that the next commit is what the record says."""

from collections.abc import Collection, Iterator
from typing import Any

from bot.domain.privacy.redaction import MARK
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import Snapshot
from bot.domain.transcript.forgetting import REMOVED, Eraser, Forgetting, rename
from bot.domain.transcript.lines import PEOPLE, PERSON, Line, LinePhase, Source
from bot.domain.transcript.scrubbing import redacted
from bot.domain.values.json_files import map_texts
from bot.domain.values.text import values

_PEOPLE = "people"
_FOLDED = frozenset({"specification", "written", "lines", "version", "slug"})
"""Fields that are made anew, or stay."""
_WORDS = frozenset({"text", "words", "quote", "what", "why", "title", "option", "topic", "name"})


def is_saving(rt: Roundtable) -> bool:
    """Whether files are on their way to git: they would bring back what was taken out."""
    return bool(rt.unsaved) or rt.has_pending(Commit)


def without(
    rt: Roundtable, whom: Forgetting, called: str, eraser: Eraser, record: Snapshot | None
) -> Roundtable:
    """*called* is what the person is called now, *record* what git has of the item then; None where it has nothing."""
    fields = rt.model_dump(mode="json")
    lines = [eraser.change(line)[1] for line in fields["lines"]]
    rest = {name: value for name, value in fields.items() if name not in _FOLDED}
    rest = _without(rest, whom, eraser) if whom.words or whom.typed else rest
    rest = redacted(rest, lambda text: rename(text, whom.names, called))[1]
    people = {id: called if id in whom.ids else name for id, name in fields[_PEOPLE].items()}
    lines = [_named(line, whom, called) for line in lines]
    after = Roundtable.model_validate({**fields, **rest, _PEOPLE: people, "lines": lines})
    if record:
        after = after.but(specification=record.specification, written=record.written)
    else:
        after = after.but(specification=Specification())
    if after.lines:
        after = after.but(specification=after.specification.folding(after.lines))
    return after if after == rt else after.but(version=rt.version + 1)


def lines_from(rt: Roundtable, ids: Collection[str]) -> Iterator[Line]:
    """
    What these persons said, as the state has it. One that was restored from a backup has words that are in no line of
    the record any more.
    """
    for text in _said(rt.model_dump(mode="json"), ids):
        yield Line(
            ts=rt.now,
            round=0,
            actor=PEOPLE,
            phase=LinePhase.DRAFT,
            role="planning",
            source=Source.USER,
            content=text,
            meta={PERSON: next(iter(ids))},
        )


def _said(state: Any, ids: Collection[str]) -> Iterator[str]:
    for one in _objects_in(state):
        if _author(one) in ids:
            yield from (one[name] for name in _WORDS & one.keys() if isinstance(one[name], str))
        if isinstance(said := one.get("said"), dict) and _author(said) in ids:  # a claim
            yield from values(one.get("value"))


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects_in(one)


def _author(value: dict[str, Any]) -> Any:
    by = value.get("person") or value.get("author") or value.get("by")
    return by.get("id") if isinstance(by, dict) else by


def _named(line: dict[str, Any], whom: Forgetting, called: str) -> dict[str, Any]:
    is_theirs = line["meta"].get("person") in whom.ids and "user_name" in line["meta"]
    return {**line, "meta": {**line["meta"], "user_name": called}} if is_theirs else line


def _without(value: Any, whom: Forgetting, eraser: Eraser) -> Any:
    after = map_texts(value, lambda _, text: eraser.text(text).text)
    for was, now in zip(_objects_in(value), _objects_in(after), strict=True):
        if whom.words and _author(was) in whom.ids:
            words = {name for name in _WORDS & was.keys() if isinstance(was[name], str) and was[name]}
            now.update(dict.fromkeys(words, MARK % REMOVED))
    return after
