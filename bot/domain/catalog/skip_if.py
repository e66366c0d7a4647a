"""
The small language of `skip_if`: `scope == 'small' && file_count < 5`.

Four variables, comparisons, `&& || !` or `and or not`, parentheses. Everything has a known type, so what
makes no sense is refused when the file is loaded, not in the middle of a meeting. Nothing is ever evaluated
as Python.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

from pydantic import BaseModel

MAX_CHARS = 300
MAX_NODES = 60
MAX_DEPTH = 16


class BadCondition(ValueError):
    """The expression means nothing; the step runs."""


class Facts(BaseModel, frozen=True):
    """What a condition may ask about: the quick scan, and the depth that is active."""

    scope: str = "unknown"
    complexity: str = "unknown"
    file_count: int = 0
    depth: str = "standard"


Value = str | float | bool


class Term(NamedTuple):
    """A part of an expression: what kind of value it has, and how to get it."""

    kind: type[str] | type[float] | type[bool]
    value: Callable[[Facts], Value]


@dataclass(frozen=True, slots=True)
class Condition:
    term: Term

    def holds(self, facts: Facts) -> bool:
        return self.term.value(facts) is True


VARIABLES = {
    "scope": Term(str, lambda facts: facts.scope),
    "complexity": Term(str, lambda facts: facts.complexity),
    "file_count": Term(float, lambda facts: facts.file_count),
    "depth": Term(str, lambda facts: str(facts.depth)),
    "true": Term(bool, lambda _: True),
    "false": Term(bool, lambda _: False),
}

NAMES = "scope, complexity, file_count and depth"

NEVER = Condition(VARIABLES["false"])

EQUALITY = {"=": eq, "==": eq, "===": eq, "!=": ne, "!==": ne}
ORDER = {"<": lt, "<=": le, ">": gt, ">=": ge}
WORDS = {"and": "&&", "or": "||", "not": "!not"}

TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>-?[0-9]+(?:\.[0-9]+)?)(?![\w.])
      | (?P<string>'[^'\\\n]*'|"[^"\\\n]*")
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>===|!==|==|!=|<=|>=|&&|\|\||[<>=!()])
    )""",
    re.VERBOSE,
)


def parse(text: str) -> Condition:
    """The condition *text* states; an empty one never holds."""
    if not text.strip():
        return NEVER
    if len(text) > MAX_CHARS:
        raise BadCondition(f"longer than {MAX_CHARS} characters")
    return _Parser(text).condition()


class _Token(NamedTuple):
    kind: str
    text: str


END = _Token("end", "the end")


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        if (match := TOKEN.match(text, at)) is None:
            raise BadCondition(f"cannot read {text[at:].strip()[:20]!r}")
        kind, found = match.lastgroup or "", match[match.lastgroup or 0]
        is_operator = kind == "word" and found.lower() in WORDS
        yield _Token("sign", WORDS[found.lower()]) if is_operator else _Token(kind, found)
        at = match.end()


class _Parser:
    """
    Recursive descent, weakest binding first.

    `not` binds weaker than a comparison, as in Python; `!` binds stronger, as in JavaScript.
    """

    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text), END]
        self._at = self._nodes = self._depth = 0

    def condition(self) -> Condition:
        term = self._either()
        if self._next is not END:
            raise BadCondition(f"unexpected {self._next.text!r}")
        return Condition(_truth(term))

    def _either(self) -> Term:
        terms = [self._both()]
        while self._took("||"):
            terms.append(self._both())
        return self._joined(terms, any)

    def _both(self) -> Term:
        terms = [self._negation()]
        while self._took("&&"):
            terms.append(self._negation())
        return self._joined(terms, all)

    def _negation(self) -> Term:
        return self._opposite(self._negation) if self._took("!not") else self._comparison()

    def _comparison(self) -> Term:
        left = self._operand()
        sign = self._next.text if self._next.kind == "sign" else ""
        if sign not in EQUALITY and sign not in ORDER:
            return left

        self._take()
        return self._compared(left, sign, self._operand())

    def _operand(self) -> Term:
        token = self._take()
        match token:
            case _Token("sign", "!"):
                return self._opposite(self._operand)
            case _Token("sign", "("):
                return self._inside()
            case _Token("number", digits):
                number = float(digits)
                return self._node(float, lambda _: number)
            case _Token("string", quoted):
                return self._node(str, lambda _: quoted[1:-1])
            case _Token("word", name) if name in VARIABLES:
                return self._node(*VARIABLES[name])
            case _Token("word", name):
                raise BadCondition(f"{name!r} is no variable: there are {NAMES}; texts stand in quotes")
        raise BadCondition(f"unexpected {token.text!r}")

    def _inside(self) -> Term:
        term = self._deeper(self._either)
        if not self._took(")"):
            raise BadCondition("a parenthesis is not closed")
        return term

    def _joined(self, terms: Sequence[Term], judge: Callable[[Iterable[Value]], bool]) -> Term:
        if len(terms) == 1:
            return terms[0]
        values = [_truth(term).value for term in terms]
        return self._node(bool, lambda facts: judge(value(facts) for value in values))

    def _opposite(self, rule: Callable[[], Term]) -> Term:
        value = _truth(self._deeper(rule)).value
        return self._node(bool, lambda facts: not value(facts))

    def _compared(self, left: Term, sign: str, right: Term) -> Term:
        a, b = left.value, right.value
        if sign in ORDER:
            if not left.kind is right.kind is float:
                raise BadCondition(f"only numbers can be compared with {sign}")
            order = ORDER[sign]
            return self._node(bool, lambda facts: order(a(facts), b(facts)))

        if left.kind is not right.kind:
            return self._node(bool, lambda _: EQUALITY[sign] is ne)
        equality = EQUALITY[sign]
        return self._node(bool, lambda facts: equality(a(facts), b(facts)))

    def _deeper(self, rule: Callable[[], Term]) -> Term:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadCondition(f"nested deeper than {MAX_DEPTH}")
        term = rule()
        self._depth -= 1
        return term

    def _node(self, kind: type[str] | type[float] | type[bool], value: Callable[[Facts], Value]) -> Term:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise BadCondition(f"more than {MAX_NODES} parts")
        return Term(kind, value)

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += token is not END
        return token

    def _took(self, sign: str) -> bool:
        found = self._next == _Token("sign", sign)
        self._at += found
        return found


def _truth(term: Term) -> Term:
    if term.kind is not bool:
        raise BadCondition("neither true nor false")
    return term
