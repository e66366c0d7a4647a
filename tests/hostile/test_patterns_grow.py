"""
Every regular expression of `bot/` takes time in proportion to the text that it reads.

They are found by importing the package and by reading its code, so a new one is tested without a line here. Each is
given texts that are made from its own parts: what comes before a repetition, the repeated part many times, and then
something that does not fit.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bot
from tests.growth import all_take_no_time, grown, growth

ROOT = Path(__file__).parent.parent.parent
SIZE = 2_000
MANY = 8
"""A repetition of more than so many can be long."""
PLAIN = ("\t", " ", "\n", "a", "A ", "1", "1,", "-", "_", "*", "[", "<", ">", "a:", '"', "a/b.c")
SEEDS = range(2)
"""So many samples are made of each part: of a set of characters another one, of alternatives another one."""

VERBS = "bot.engine.verbs"
ONLY_MATCHED = {f"{VERBS}.reviewing.REVIEWED", f"{VERBS}.table._POSITION", f"{VERBS}.table._POSITION_GIVEN"}
"""Used by `fullmatch` alone, which is not seen in the code: they stand in a table."""

sre = importlib.import_module("re._parser")
op = importlib.import_module("re._constants")

REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
CATEGORIES = {op.CATEGORY_DIGIT: "1", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a"}

# --- which there are ------------------------------------------------------------------------------------------------


@cache
def patterns() -> Mapping[str, re.Pattern[Any]]:
    """By where they are; each once."""
    found: dict[str, re.Pattern[Any]] = {}
    for path in sorted((ROOT / "bot").rglob("*.py")):
        for line, pattern in _inline(path):
            found[f"{path.relative_to(ROOT)}:{line}"] = pattern
    for module in pkgutil.walk_packages(bot.__path__, "bot."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                for at, pattern in enumerate(_held(value, 0)):
                    found[f"{module.name}.{name}" + (f"[{at}]" if at else "")] = pattern
    each = {(one.pattern, one.flags): name for name, one in reversed(found.items())}
    return {name: found[name] for name in sorted(each.values())}


def _held(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    """In a constant: alone, in a collection, as a field of a value, or in a class."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth > 3 or (callable(value) and not isinstance(value, type)):
        return
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from _held(one, depth + 1)
        pattern = getattr(value, "pattern", None)
        if isinstance(pattern, re.Pattern):
            yield pattern
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _held(one, depth + 1)
    elif isinstance(value, type) and value.__module__.startswith("bot.") and not depth:
        for one in vars(value).values():
            yield from _held(one, depth + 3)


def _inline(path: Path) -> Iterator[tuple[int, re.Pattern[Any]]]:
    """Those of `re.sub("…", …)` and the like."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        first = node.args[0]
        called = ast.unparse(node.func)
        if called.startswith("re.") and called != "re.compile" and isinstance(first, ast.Constant):
            flags = 0
            for name in re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(node)):
                flags |= getattr(re, name)
            if isinstance(first.value, str | bytes):
                yield node.lineno, re.compile(first.value, flags)


@cache
def _anchored() -> frozenset[str]:
    """The names that are only ever used as `NAME.match(…)` and `NAME.fullmatch(…)`."""
    free: set[str] = set()
    anchored: set[str] = set()
    for path in sorted((ROOT / "bot").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        homes = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        within = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr in {"match", "fullmatch", "pattern", "groupindex"}
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                (anchored if id(node) in within else free).add(homes.get(node.id, f"{module}.{node.id}"))
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in homes
            ):
                (anchored if id(node) in within else free).add(f"{homes[node.value.id]}.{node.attr}")
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"re.match", "re.fullmatch"}:
                anchored.add(f"{path.relative_to(ROOT)}:{node.lineno}")
    return frozenset(anchored - free | ONLY_MATCHED)


# --- texts that are made to be slow -----------------------------------------------------------------------------------


def attacks(pattern: re.Pattern[Any]) -> set[tuple[str, str]]:
    """What stands once, and what is then repeated."""
    tree = sre.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = {("", piece) for piece in PLAIN}
    for seed in SEEDS:
        whole = _sample(tree, seed)
        found |= {
            ("", whole[:end]) for end in (1, len(whole) // 2, len(whole) - 1, len(whole)) if whole[:end]
        }
        for before, body in _repeated(tree, "", seed):
            found |= {(before, body), ("", before + body), ("", body)}
    return found


def _repeated(parts: Any, before: str, seed: int) -> Iterator[tuple[str, str]]:
    rows = list(parts)
    for at, (code, given) in enumerate(rows):
        here = before + _sample(rows[:at], seed)
        if code in REPEATS:
            body = _sample(given[2], seed)
            if body and given[1] > MANY:
                yield here, body
                yield here, body + _sample(rows[at + 1 : at + 2], seed)
            yield from _repeated(given[2], here, seed)
        elif code is op.SUBPATTERN:
            yield from _repeated(given[3], here, seed)
        elif code is op.ATOMIC_GROUP:
            yield from _repeated(given, here, seed)
        elif code in {op.ASSERT, op.ASSERT_NOT}:
            yield from _repeated(given[1], here, seed)
        elif code is op.BRANCH:
            for one in given[1]:
                yield from _repeated(one, here, seed)


def _sample(parts: Any, seed: int) -> str:
    """A text that fits, but for what looks around."""
    return "".join(_fitting(code, given, seed) for code, given in parts)


def _fitting(code: Any, given: Any, seed: int) -> str:
    if code is op.LITERAL:
        return chr(given)
    if code is op.NOT_LITERAL:
        return "a" if given != ord("a") else "b"
    if code is op.ANY:
        return "a"
    if code is op.IN:
        return _one_of(given, seed)
    if code in REPEATS:
        least, most, body = given
        return _sample(body, seed) * max(int(least), min(1, int(most)))
    if code is op.SUBPATTERN:
        return _sample(given[3], seed)
    if code is op.ATOMIC_GROUP:
        return _sample(given, seed)
    if code is op.BRANCH:
        return _sample(given[1][seed % len(given[1])], seed)
    return ""


def _one_of(given: Any, seed: int) -> str:
    negated = given[0][0] is op.NEGATE
    chars = [
        chr(value if code is op.LITERAL else value[0])
        for code, value in given
        if code in {op.LITERAL, op.RANGE}
    ]
    chars += [CATEGORIES.get(value, ".") for code, value in given if code is op.CATEGORY]
    if negated:
        chars = [one for one in ("a1 .-" if seed % 2 else " .-1a") if one not in chars] or ["a"]
    return str(chars[seed % len(chars)])


# --- the test -------------------------------------------------------------------------------------------------------


def slow_on(pattern: re.Pattern[Any], *, is_anchored: bool, size: int = SIZE) -> str:
    """What takes much longer when there is more of it; empty when nothing does."""

    def read(text: str) -> object:
        given = text.encode("utf-8") if isinstance(pattern.pattern, bytes) else text
        if is_anchored:
            return pattern.match(given), pattern.fullmatch(given)
        return sum(1 for _ in pattern.finditer(given))

    def text_of(length: int, before: str, piece: str, tail: str) -> str:
        return before + grown(piece, length, tail)

    texts = [(*attack, tail) for attack in sorted(attacks(pattern)) for tail in ("\x00", " ")]
    if all_take_no_time(read, [text_of(4 * size, *text) for text in texts]):
        return ""
    for text in texts:
        if slow := growth(read, lambda length: text_of(length, *text), size=size):  # noqa: B023
            return f"{text}: {slow}"
    return ""


@pytest.mark.parametrize("name", patterns())
def test_a_pattern_takes_time_in_proportion_to_the_text(name: str) -> None:
    """As it is used: from the beginning alone, or wherever it may begin."""
    pattern = patterns()[name]
    slow = slow_on(pattern, is_anchored=name in _anchored())
    assert not slow, f"{name} {pattern.pattern!r} on {slow}"


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (r"\s+$", SIZE),
        (r"a*a*b", SIZE // 4),
        (r"(?:a+)+b", SIZE),
        (r"\s*x", 2 * SIZE),
        (r"<.*>", 3 * SIZE),
    ],
)
def test_a_quadratic_pattern_is_found(written: str, size: int) -> None:
    """The measure itself, on a text so long that a fast machine takes a time that counts, too."""
    assert slow_on(re.compile(written), is_anchored=False, size=size)
