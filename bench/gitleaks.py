"""
The examples in a checkout of gitleaks, which its own rules have to find: read as text, none of its code runs.

Its rules are Go functions that hold examples as literals, and build others from patterns by chance. Expressions of the
few kinds that they use are evaluated here, with a fixed seed. Nothing of it is kept in this repository.
"""

import random
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

# Private modules of the standard library, which its type stubs leave out.
kinds, parser = import_module("re._constants"), import_module("re._parser")

SEED = 1
RULES = Path("cmd/generate/config/rules")
SAMPLES = Path("cmd/generate/config/utils/generate.go")
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?P<raw>`[^`]*`)|(?P<text>\"(?:[^\"\\\n]|\\.)*\")|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<number>\d+)|(?P<sign>:=|\.\.\.|\S)",
    re.DOTALL,
)
CLASSES = {
    "Numeric": "[0-9]", "Hex": "[a-f0-9]", "AlphaNumeric": "[a-z0-9]", "AlphaNumericExtendedShort": "[a-z0-9_-]",
    "AlphaNumericExtended": "[a-z0-9=_-]", "AlphaNumericExtendedLong": "[a-z0-9/=_+-]",
}  # fmt: skip
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
MANY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class Example(NamedTuple):
    """*secret* is empty where the rule does not say which part of *text* it is."""

    rule: str
    text: str
    secret: str


def examples(checkout: Path) -> list[Example]:
    chance = random.Random(SEED)  # noqa: S311 -- examples, the same each time
    forms = _sample_forms((checkout / SAMPLES).read_text("utf-8"))
    return [
        one
        for file in sorted((checkout / RULES).glob("*.go"))
        for function in re.split(r"(?m)^func ", file.read_text("utf-8"))[1:]
        for one in _of_function(function, forms, chance)
    ]


def _of_function(function: str, forms: list[str], chance: random.Random) -> Iterator[Example]:
    tokens = list(_tokens(function))
    rule = next((_text(*tokens[at + 2]) for at, one in enumerate(tokens) if one == ("name", "RuleID")), "")
    known: dict[str, Any] = {}
    for at, (kind, name) in enumerate(tokens[:-1]):
        sign = tokens[at + 1][1]
        if rule and kind == "name" and (sign == ":=" or (sign == "=" and name in known)):
            try:
                known[name] = _Expression(tokens, at + 2, known, forms, chance).value()
            except (ValueError, IndexError):
                continue  # something else than an example
    for one in known.get("tps", ()):
        text, secret = one if isinstance(one, tuple) else (one, "")
        yield Example(rule, text, secret)


def _sample_forms(source: str) -> list[str]:
    body = list(_tokens(source[source.index("samples := map") : source.index("replacer :=")]))
    return [
        _text(*body[at + 1])
        for at, one in enumerate(body[:-1])
        if one == ("sign", ":") and body[at + 1][0] in {"raw", "text"}
    ]


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    yield from ((one.lastgroup, one[0]) for one in TOKEN.finditer(source) if one.lastgroup)


def _text(kind: str, written: str) -> str:
    inner = written[1:-1]
    return inner if kind == "raw" else inner.encode("latin-1", "backslashreplace").decode("unicode_escape")


class _Expression:
    def __init__(
        self,
        tokens: list[tuple[str, str]],
        at: int,
        known: dict[str, Any],
        forms: list[str],
        chance: random.Random,
    ) -> None:
        self._tokens, self._at, self._known, self._forms, self._chance = tokens, at, known, forms, chance

    def value(self) -> Any:
        found = self._part()
        while self._next() == "+":
            self._take()
            found += self._part()
        return found

    def _next(self) -> str:
        return self._tokens[self._at][1]

    def _take(self) -> tuple[str, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _part(self) -> Any:
        kind, written = self._take()
        if kind in {"raw", "text"}:
            return _text(kind, written)
        if written == "(":
            found = self.value()
            self._take()
            return found
        if written in {"[", "map"}:
            while self._take()[1] != "{":
                pass
            return self._several("}")
        if kind == "name" and self._next() == "(":
            self._take()
            return self._called(written.rpartition(".")[2], self._several(")"))
        if kind == "name" and written in self._known:
            return self._known[written]
        raise ValueError(written)

    def _several(self, end: str) -> list[Any]:
        found = []
        while self._next() != end:
            one = self.value()
            if self._next() == ":":  # of a map: the name does not matter
                self._take()
                one = self.value()
            if self._next() == "...":
                self._take()
                found += one
            else:
                found.append(one)
            if self._next() == ",":
                self._take()
        self._take()
        return found

    def _called(self, name: str, given: list[Any]) -> Any:
        if name in CLASSES:
            return f"{CLASSES[name]}{{{given[0]}}}"
        match name:
            case "NewSecret" | "newPlausibleSecret" | "NewSecretWithEntropy":
                return "".join(_by_chance(_parsed(given[0]), self._chance))
            case "GenerateSampleSecrets":
                name, secret = given
                return [
                    (one.replace("{i}", name).replace("{I}", name.upper()).replace("{s}", secret), secret)
                    for one in self._forms
                ]
            case "GenerateSampleSecret":
                return f'{given[0]}_api_token = "{given[1]}"'
            case "Hex8_4_4_4_12":
                return UUID
            case "append":
                return given[0] + given[1:]
            case "Sprintf":
                return given[0].replace("%s", "{}").format(*given[1:])
            case "ToUpper":
                return given[0].upper()
            case _:
                raise ValueError(name)


def _parsed(pattern: str) -> Any:
    for theirs, ours in (("(?i)", ""), ("(?-i:", "(?:"), ("[:alnum:]", "a-zA-Z0-9"), (r"\z", r"\Z")):
        pattern = pattern.replace(theirs, ours)
    return parser.parse(pattern)


def _by_chance(tree: Any, chance: random.Random) -> Iterator[str]:
    for kind, what in tree:
        if kind is kinds.LITERAL:
            yield chr(what)
        elif kind is kinds.IN:
            yield chance.choice("".join(map(_members, what)))
        elif kind is kinds.MAX_REPEAT:
            least, most, part = what
            for _ in range(
                least + chance.randint(0, min(1 if most is kinds.MAXREPEAT else most - least, 10))
            ):
                yield from _by_chance(part, chance)
        elif kind is kinds.SUBPATTERN:
            yield from _by_chance(what[3], chance)
        elif kind is kinds.BRANCH:
            yield from _by_chance(chance.choice(what[1]), chance)
        elif kind is not kinds.AT:
            raise ValueError(kind)


def _members(part: Any) -> str:
    kind, what = part
    if kind is kinds.RANGE:
        return "".join(map(chr, range(what[0], what[1] + 1)))
    return chr(what) if kind is kinds.LITERAL else MANY
