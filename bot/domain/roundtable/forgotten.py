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


def _said(value: Any, ids: Collection[str]) -> Iterator[str]:
    if isinstance(value, list):
        yield from (text for one in value for text in _said(one, ids))
    if not isinstance(value, dict):
        return
    yield from (text for one in value.values() for text in _said(one, ids))
    if _author(value) in ids:
        yield from (value[name] for name in _WORDS & value.keys() if isinstance(value[name], str))
    if isinstance(said := value.get("said"), dict) and _author(said) in ids:  # a claim
        values = value.get("value")
        yield from (one for one in (values if isinstance(values, list) else [values]) if isinstance(one, str))


def _author(value: dict[str, Any]) -> Any:
    by = value.get("person") or value.get("author") or value.get("by")
    return by.get("id") if isinstance(by, dict) else by


def _named(line: dict[str, Any], whom: Forgetting, called: str) -> dict[str, Any]:
    is_theirs = line["meta"].get("person") in whom.ids and "user_name" in line["meta"]
    return {**line, "meta": {**line["meta"], "user_name": called}} if is_theirs else line


def _without(value: Any, whom: Forgetting, eraser: Eraser) -> Any:
    if isinstance(value, str):
        return eraser.text(value).text
    if isinstance(value, list):
        return [_without(one, whom, eraser) for one in value]
    if not isinstance(value, dict):
        return value
    after = {name: _without(one, whom, eraser) for name, one in value.items()}
    if whom.words and _author(value) in whom.ids:
        gone = {name for name in _WORDS & after.keys() if isinstance(after[name], str) and after[name]}
        after |= dict.fromkeys(gone, MARK % REMOVED)
    return after
