"""
A few words to say what JSON must look like, in the manner of Slack's own complaints.

A rule looks at a value and yields problems; `blocks.py` combines them into tables.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sandbox.messages import JSON


@dataclass(frozen=True, slots=True)
class ShapeProblem:
    message: str
    pointer: str
    code: str = "invalid"
    constraint: Any = None

    @property
    def sentence(self) -> str:
        return f"{self.message} [json-pointer:{self.pointer}]"

    def __str__(self) -> str:
        return f"[ERROR] {self.sentence}"

    def as_json(self) -> JSON:
        constraint = {"constraint": self.constraint} if self.constraint is not None else {}
        return {"code": self.code, "message": self.message, "pointer": self.pointer, **constraint}


Rule = Callable[[Any, str], Iterator[ShapeProblem]]


def anything(_value: Any, _at: str) -> Iterator[ShapeProblem]:
    return iter(())


def flag(value: Any, at: str) -> Iterator[ShapeProblem]:
    if not isinstance(value, bool):
        yield ShapeProblem("must be a boolean", at, "wrong_type")


def size(text: str) -> int:
    """In UTF-16 units, as JavaScript counts: of the ways in which Slack may count, the one that finds most."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def string(most: int, *, least: int = 1) -> Rule:
    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        if not isinstance(value, str):
            yield ShapeProblem("must be a string", at, "wrong_type")
        elif size(value) < least:
            yield ShapeProblem(f"must be more than {least - 1} characters", at, "too_short", least)
        elif size(value) > most:
            yield ShapeProblem(f"must be less than {most + 1} characters", at, "too_long", most)

    return rule


def number(least: int, most: int) -> Rule:
    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            yield ShapeProblem(f"must be an integer from {least} to {most}", at, "wrong_value", [least, most])

    return rule


def one_of(*allowed: str) -> Rule:
    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        if value not in allowed:
            yield ShapeProblem(f"must be one of {', '.join(allowed)}", at, "wrong_value", list(allowed))

    return rule


def each(rule_of_one: Rule, *, most: int, least: int = 1) -> Rule:
    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        if not isinstance(value, list):
            yield ShapeProblem("must be an array", at, "wrong_type")
            return
        if len(value) < least:
            yield ShapeProblem(f"no fewer than {least} items allowed", at, "too_few", least)
        if len(value) > most:
            yield ShapeProblem(f"no more than {most} items allowed", at, "too_many", most)
        for index, item in enumerate(value):
            yield from rule_of_one(item, f"{at}/{index}")

    return rule


def shape(
    *, needs: Mapping[str, Rule], may: Mapping[str, Rule] | None = None, any_of: Collection[str] = ()
) -> Rule:
    """An object with the fields *needs*, perhaps those it *may* have, at least one of *any_of*, and no others."""
    known = {**needs, **(may or {})}

    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        if not isinstance(value, dict):
            yield ShapeProblem("must be an object", at, "wrong_type")
            return
        for name in needs:
            if value.get(name) is None:
                yield ShapeProblem(f"missing required field: {name}", at, "missing_field", name)
        if any_of and not any(value.get(name) for name in any_of):
            yield ShapeProblem(f"must define one of: {', '.join(any_of)}", at, "missing_field", list(any_of))
        for name, item in value.items():
            if name not in known:
                yield ShapeProblem(f"invalid additional property: {name}", at, "unknown_field", name)
            elif item is not None:
                yield from known[name](item, f"{at}/{name}")

    return rule


def by_type(rules: Callable[[], Mapping[str, Rule]], what: str) -> Rule:
    """The rule for the value's `type`. The table comes late, because blocks can hold blocks."""

    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        kind = value.get("type") if isinstance(value, dict) else None
        if found := rules().get(str(kind)):
            yield from found(value, at)
        else:
            yield ShapeProblem(f"unsupported type: {kind}", f"{at}/type", f"unknown_{what}", sorted(rules()))

    return rule
