"""
What people type in place of a button of a card. Only whole messages and the beginnings of rows count; what names
nothing that the card shows is content, except the id of an entry to keep or to withdraw.
"""

import re
from enum import StrEnum

from bot.domain.catalog.schema import Kind, Schema, only_ids
from bot.domain.messages.step_scene import StepScene
from bot.domain.values.value import Value


class TypedKind(StrEnum):
    ACCEPT = "accept"
    CHANGE = "change"
    LEAVE_OUT = "leave out"
    SORT = "sort"
    KEEP = "keep"
    WITHDRAW = "withdraw"


class TypedAction(Value):
    """
    `numbers` are those of suggestions; some may not be open. `words` replace a suggestion, `letter` is a note's,
    `kind` the kind it is sorted as, `id` an entry's, which may not exist. `is_all`: nothing was named.
    """

    what: TypedKind
    numbers: tuple[int, ...] = ()
    words: str = ""
    letter: str = ""
    kind: str = ""
    id: str = ""
    is_all: bool = False


class TypedActions(Value):
    """What a message does; `rest` is what is left of it as content."""

    actions: tuple[TypedAction, ...] = ()
    rest: str = ""


VERBS = tuple(kind.value for kind in TypedKind)


def may_be_typed(text: str, schema: Schema) -> bool:
    """Whether a row begins as a command does. Only then it matters what the card shows, which takes long to say."""
    rows = [_command(row) for row in text.splitlines()]
    return any(row.startswith(VERBS) for row in rows) or _kind_named(_command(text), schema) is not None


def typed(text: str, scene: StepScene, *, person: str) -> TypedActions:
    """
    A message of nothing but commands, one a line; of other messages only the rows `change 2: new words` count.
    What names nothing that the card shows is content, except an id. The name of a kind alone sorts the last note of
    *person*.
    """
    kind = _kind_named(_command(text), scene.schema)
    last = next((one for one in reversed(scene.unsorted) if one.person == person), None)
    if kind and last:
        return TypedActions(actions=(TypedAction(what=TypedKind.SORT, letter=last.letter, kind=kind.key),))
    rows = [row for row in text.splitlines() if row.strip()]
    found = [(row, _typed(row.strip(), scene)) for row in rows]
    actions = [action for _, action in found if action]
    if len(actions) == len(rows):
        return TypedActions(actions=tuple(actions))
    changes = tuple(action for action in actions if action.what is TypedKind.CHANGE)
    if not changes:
        return TypedActions(rest=text)
    rest = [row for row, action in found if action not in changes]
    return TypedActions(actions=changes, rest="\n".join(rest))


def _typed(row: str, scene: StepScene) -> TypedAction | None:
    said, colon, words = row.partition(":")
    command = _command(said)
    if colon:
        number = _numbers(command.removeprefix("change "))
        if command.startswith("change ") and len(number) == 1 and words.strip() and scene.open_suggestions:
            return TypedAction(what=TypedKind.CHANGE, numbers=number, words=words.strip())
        return None
    return _decided(command, scene) or _sorted(command, scene) or _confirmed(command, scene)


def _decided(command: str, scene: StepScene) -> TypedAction | None:
    for what in (TypedKind.ACCEPT, TypedKind.LEAVE_OUT):
        if scene.open_suggestions and command.startswith(f"{what} "):
            said = command.removeprefix(f"{what} ")
            every = scene.shown_checked if what is TypedKind.ACCEPT else scene.shown_open
            numbers = every if said == "all" else _numbers(said)
            if numbers or said == "all":
                return TypedAction(what=what, numbers=numbers, is_all=said == "all")
    return None


def _sorted(command: str, scene: StepScene) -> TypedAction | None:
    verb, _, said = command.partition(" ")
    letter, _, name = said.partition(" ")
    if verb != TypedKind.SORT or all(letter != one.letter for one in scene.unsorted):
        return None
    kind = _kind_named(name, scene.schema)
    return TypedAction(what=TypedKind.SORT, letter=letter, kind=kind.key) if kind else None


def _command(said: str) -> str:
    return " ".join(said.rstrip(" .").casefold().split())


def _kind_named(name: str, schema: Schema) -> Kind | None:
    kinds = schema.kinds.values() if name else ()
    names = ((one, {one.key, one.name.casefold(), *map(str.casefold, one.heard_as())}) for one in kinds)
    return next((kind for kind, known in names if name in known), None)


def _confirmed(command: str, scene: StepScene) -> TypedAction | None:
    """`withdraw FR-003`, also for an entry that the card does not show. `keep UTF-8` names no kind of entries."""
    verb, _, said = command.partition(" ")
    ids = only_ids(said.upper())
    if len(ids) == 1 and scene.schema.of_id(ids[0]):
        for what in (TypedKind.KEEP, TypedKind.WITHDRAW):
            if verb == what:
                return TypedAction(what=what, id=ids[0])
    return None


def _numbers(said: str) -> tuple[int, ...]:
    """`2`, or a list such as `1, 2 and 4`; nothing when other words are in it."""
    words = said.replace(",", " ").replace(" and ", " ").split()
    return tuple(map(int, words)) if words and all(re.fullmatch("[0-9]{1,3}", one) for one in words) else ()
