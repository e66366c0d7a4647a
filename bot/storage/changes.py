"""
How one frozen value differs from another, as JSON that can be applied to the JSON of the first one.

The rule is `applied(plain(before), change(before, after)) == plain(after)`, with the same order of names, where `plain`
is what `model_dump_json` writes. That is decided by the declared types, so they are followed here, too.

A change is one of:

- `{"set": JSON}`: the new value.
- `{"fields": {NAME: change}, "gone": [NAME]}`: of a model or a mapping.
- `{"from": index, "keep": number, "add": [JSON], "end": number}`: of a tuple. It keeps so many elements of the old one
  from the index on, adds some, and ends with so many elements from the old end. So an element that is added, replaced
  or dropped at the front costs no more than itself.
"""

import json
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from types import UnionType
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter

from bot.domain.values.value import Value

Change = Mapping[str, Any]
WRITTEN_AS_IT_IS = (str, bool, type(None))
_MISSING = object()


def change(before: Value, after: Value) -> Change | None:
    """None when nothing differs."""
    assert type(before) is type(after), "values of one type are compared"
    return _of_model(before, after)


def applied(json_value: Any, change: Change) -> Any:
    """*json_value* itself stays as it is. Raises LookupError or TypeError when *change* is not one of it."""
    if "set" in change:
        return change["set"]
    if "fields" in change:
        gone = frozenset(change["gone"])
        fields = {name: value for name, value in json_value.items() if name not in gone}
        for name, inner in change["fields"].items():
            fields[name] = applied(fields.get(name), inner)
        return fields
    begin, count = change["from"], len(json_value)
    kept = json_value[begin : begin + change["keep"]]
    return [*kept, *change["add"], *json_value[count - change["end"] :]]


# --- by type ----------------------------------------------------------------------------------------------------------


class _Declared:
    """What a field, an element or a value of a mapping may be."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation
        alternatives = tuple(_alternatives(annotation))
        self._is_any = Any in alternatives
        self._models = frozenset(one for one in alternatives if isinstance(one, type))
        self._inner: dict[type, _Declared] = {}
        for one in alternatives:
            kind, inner = typing.get_origin(one), typing.get_args(one)
            if kind is tuple and inner[1:] == (...,):
                self._inner[tuple] = _Declared(inner[0])
            elif kind in {dict, Mapping} and inner[0] is str:
                self._inner[dict] = _Declared(inner[1])

    def inner(self, kind: type) -> "_Declared | None":
        """What is in a value of this *kind*; None when it is not looked into."""
        if self._is_any and kind in {tuple, list, dict}:
            return self
        return self._inner.get(kind)

    def has_model(self, value: Any) -> bool:
        return isinstance(value, BaseModel) and (self._is_any or type(value) in self._models)

    def plain(self, value: Any) -> Any:
        if type(value) in WRITTEN_AS_IT_IS:
            return value
        return json.loads(self._text(value))

    def is_written_alike(self, one: Any, other: Any) -> bool:
        """Of values of one type."""
        return bool(one == other) if type(one) in WRITTEN_AS_IT_IS else self._text(one) == self._text(other)

    def _text(self, value: Any) -> str | bytes:
        return value.model_dump_json() if self.has_model(value) else self._adapter.dump_json(value)

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._annotation)


def _alternatives(annotation: Any) -> Iterator[Any]:
    kind = typing.get_origin(annotation)
    if kind is typing.Annotated:
        yield from _alternatives(typing.get_args(annotation)[0])
    elif kind in {typing.Union, UnionType}:
        for one in typing.get_args(annotation):
            yield from _alternatives(one)
    else:
        yield annotation


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, _Declared], ...]:
    return tuple((name, _Declared(field.annotation)) for name, field in model.__pydantic_fields__.items())


# --- what differs -----------------------------------------------------------------------------------------------------


def _of(declared: _Declared, before: Any, after: Any) -> Change | None:
    if before is after:
        return None
    kind = type(after)
    if kind is type(before):
        if declared.has_model(after):
            return _of_model(before, after)
        inner = declared.inner(kind)
        if inner and kind is dict:
            return _of_mapping(declared, inner, before, after)
        if inner:
            return _of_sequence(inner, before, after)
        if declared.is_written_alike(before, after):
            return None
    return {"set": declared.plain(after)}


def _of_model(before: BaseModel, after: BaseModel) -> Change | None:
    changes: dict[str, Change] = {}
    for name, declared in _fields(type(after)):
        if found := _of(declared, before.__dict__[name], after.__dict__[name]):
            changes[name] = found
    return {"fields": changes, "gone": []} if changes else None


def _of_mapping(
    declared: _Declared, inner: _Declared, before: Mapping[Any, Any], after: Mapping[Any, Any]
) -> Change | None:
    kept = [name for name in before if name in after]
    order = [*kept, *(name for name in after if name not in before)]
    if order != list(after) or not all(type(name) is str for name in (*before, *after)):
        return {"set": declared.plain(after)}
    changes: dict[str, Change] = {}
    for name, new in after.items():
        old = before.get(name, _MISSING)
        found = {"set": inner.plain(new)} if old is _MISSING else _of(inner, old, new)
        if found:
            changes[name] = found
    gone = [name for name in before if name not in after]
    return {"fields": changes, "gone": gone} if changes or gone else None


class _Kept(NamedTuple):
    begin: int
    length: int
    end: int


def _of_sequence(inner: _Declared, before: Sequence[Any], after: Sequence[Any]) -> Change | None:
    kept = _kept(before, after)
    if kept.length == len(before) == len(after):
        return None
    added = after[kept.length : len(after) - kept.end]
    return {
        "from": kept.begin,
        "keep": kept.length,
        "add": [inner.plain(one) for one in added],
        "end": kept.end,
    }


def _kept(before: Sequence[Any], after: Sequence[Any]) -> _Kept:
    """Which elements of *before* *after* begins with, and how many of its last ones it ends with."""
    begin = next(
        (index for index, one in enumerate(before) if after and _is_same(one, after[0])), len(before)
    )
    pairs = zip(before[begin:], after, strict=False)
    same = next((index for index, pair in enumerate(pairs) if not _is_same(*pair)), len(before) - begin)
    length = min(same, len(after))
    most = min(len(before), len(after) - length)
    backwards = zip(reversed(before), reversed(after), strict=False)
    end = next((index for index, pair in enumerate(backwards) if not _is_same(*pair)), most)
    return _Kept(begin, length, min(end, most))


def _is_same(one: Any, other: Any) -> bool:
    """Whether both are written alike. Python's `==` finds that 1, 1.0 and True are equal, and so are 1.0 and 1.00."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, BaseModel):
        return all(_is_same(one.__dict__[name], other.__dict__[name]) for name, _ in _fields(type(one)))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(map(_is_same, one.items(), other.items()))
    return bool(one == other) and (isinstance(one, str) or repr(one) == repr(other))
