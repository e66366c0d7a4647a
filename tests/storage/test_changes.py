"""How one value differs from another: applied to the JSON of the first, the change gives the JSON of the second."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.value import Stored, Value
from bot.storage.changes import applied, change
from tests.domain import table
from tests.domain.table import Table, shipped
from tests.durability import simulator, world
from tests.durability.campaign import quietly
from tests.durability.simulator import STRETCHES, undisturbed


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Leaf(Stored):
    kind: Literal["leaf"] = "leaf"
    colour: Colour = Colour.RED
    price: Decimal = Decimal(0)
    share: float = 0.0


class Branch(Stored):
    kind: Literal["branch"] = "branch"
    name: str = ""
    leaves: tuple[Leaf, ...] = ()
    facts: Mapping[str, Any] = {}


Part = Annotated[Leaf | Branch, Field(discriminator="kind")]


class Tree(Stored):
    count: int = 0
    top: Part | None = None
    parts: tuple[Part, ...] = ()
    named: Mapping[str, Branch] = {}
    numbered: Mapping[int, str] = {}
    lists: Mapping[str, tuple[str, ...]] = {}
    anything: Any = None
    pair: tuple[int, str] = (0, "")
    branch: Branch = Branch()


NAMES = st.sampled_from(["a", "b", "c", "ẞ"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, -0.0, 1.0, 1.5]) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.builds(
    Leaf,
    kind=st.just("leaf"),
    colour=st.sampled_from(Colour),
    price=st.sampled_from([Decimal(1), Decimal("1.0"), Decimal(2)]),
    share=st.sampled_from([0.0, -0.0, 1.0, 0.1]),
)
BRANCHES = st.builds(
    Branch,
    kind=st.just("branch"),
    name=NAMES,
    leaves=st.lists(LEAVES, max_size=4).map(tuple),
    facts=st.dictionaries(NAMES, JSON, max_size=3),
)
PARTS = LEAVES | BRANCHES
FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "count": st.integers(0, 2),
    "top": st.none() | PARTS,
    "parts": st.lists(PARTS, max_size=5).map(tuple),
    "named": st.dictionaries(NAMES, BRANCHES, max_size=3),
    "numbered": st.dictionaries(st.integers(0, 2), NAMES, max_size=2),
    "lists": st.dictionaries(NAMES, st.lists(NAMES, max_size=4).map(tuple), max_size=3),
    "anything": JSON | BRANCHES,
    "pair": st.tuples(st.integers(0, 2), NAMES),
    "branch": BRANCHES,
}
TREES = st.fixed_dictionaries({}, optional=dict(FIELDS)).map(lambda given: Tree(**given))


def plain(value: Value) -> Any:
    return json.loads(value.model_dump_json())


def leads_there(before: Value, after: Value, *, fields: Any = None) -> Any:
    """Also when the change was written down and read; the names have the same order."""
    fields = plain(before) if fields is None else fields
    found = change(before, after)
    reached = applied(fields, json.loads(json.dumps(found))) if found else fields
    assert json.dumps(reached) == json.dumps(plain(after))
    return reached


@given(before=TREES, after=TREES)
def test_a_change_leads_from_any_value_to_any_other(before: Tree, after: Tree) -> None:
    """Also between values that Python takes for equal: 1, 1.0 and True, or 1.0 and 1.00."""
    leads_there(before, after)
    leads_there(after, before)


@given(tree=TREES, steps=st.lists(st.fixed_dictionaries({}, optional=dict(FIELDS)), max_size=4))
def test_changes_follow_each_other(tree: Tree, steps: list[dict[str, Any]]) -> None:
    """Each is applied to what the one before came to; most of a value is the same object."""
    fields = plain(tree)
    for step in steps:
        after = tree.but(**step)
        fields = leads_there(tree, after, fields=fields)
        tree = after


@given(before=TREES, again=TREES)
def test_nothing_follows_from_nothing(before: Tree, again: Tree) -> None:
    """A value that is read again is another object, and written alike."""
    copy = Tree.model_validate_json(before.model_dump_json())
    assert change(copy, Tree.model_validate_json(before.model_dump_json())) is None
    assert change(before, before) is None
    assert (change(before, again) is None) <= (plain(before) == plain(again))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("abc", "abcd", {"from": 0, "keep": 3, "add": ["d"], "end": 0}),
        ("abc", "bcd", {"from": 1, "keep": 2, "add": ["d"], "end": 0}),
        ("abc", "bc", {"from": 1, "keep": 2, "add": [], "end": 0}),
        ("abcd", "axcd", {"from": 0, "keep": 1, "add": ["x"], "end": 2}),
        ("abcd", "xbcd", {"from": 4, "keep": 0, "add": ["x"], "end": 3}),
        ("abcd", "", {"from": 4, "keep": 0, "add": [], "end": 0}),
        ("aaa", "aaaa", {"from": 0, "keep": 3, "add": [], "end": 1}),
    ],
)
def test_a_tuple_costs_what_is_new_in_it(before: str, after: str, found: Mapping[str, Any]) -> None:
    """At its end, in its middle, and in a window that moves."""
    one, other = (Tree(lists={"x": tuple(text)}) for text in (before, after))

    assert change(one, other) == {"fields": {"lists": {"fields": {"x": found}, "gone": []}}, "gone": []}
    leads_there(one, other)


# --- meetings ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Roundtable, Roundtable]]:
    """Every value that was decided, with the one before it."""
    found: list[tuple[Roundtable, Roundtable]] = []

    def watched(before: Roundtable, event: Input, playbook: Any) -> Roundtable:
        after = decide(before, event, playbook)
        found.append((before, after))
        return after

    monkeypatch.setattr(table, "decide", watched)
    return found


def played() -> Iterator[Table]:
    analysed = Table(shipped()).start()
    for _ in range(6):
        analysed.say("decision: use a queue").say("It is offline for hours.", who="grace").do_step()
        analysed.press_continue()
    yield analysed
    yield Table(shipped()).start().elaborate().say("Maya, why?").say("done")
    edited = Table(shipped()).start().say("One", ts="1.1").say("Two", ts="1.2").edit("1.1", "Uno")
    yield edited.delete("1.2").restart().do_step().stop().resume()
    yield Table(shipped()).start().plan().say("In two steps, please.")


def test_every_step_of_a_meeting_is_a_change(steps: list[tuple[Roundtable, Roundtable]]) -> None:
    """Of analyses, discussions, corrections and restarts."""
    assert list(played())
    assert len(steps) > 150
    for before, after in steps:
        leads_there(before, after)


@pytest.mark.parametrize("stretch", STRETCHES)
def test_every_save_of_a_simulated_meeting_is_a_change(stretch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value before is as it was saved, or as another process reads it."""
    saves: list[tuple[Roundtable, Roundtable]] = []
    put = world.SimStore._put

    def watched(store: world.SimStore, roundtable: Roundtable, expected: int) -> None:
        before = store._world.store.get(roundtable.slug)
        put(store, roundtable, expected)
        if before:
            saves.append((before, roundtable))

    monkeypatch.setattr(world.SimStore, "_put", watched)
    undisturbed.cache_clear()
    with quietly():
        assert not simulator.played(stretch, ()).wrong
    undisturbed.cache_clear()
    assert saves
    for before, after in saves:
        leads_there(before, after)
        leads_there(Roundtable.model_validate_json(before.model_dump_json()), after)
