"""
The small language of `skip_if`: `scope == 'small' && file_count < 5`.

Four variables, comparisons, `&& || !` or `and or not`, parentheses. Everything has a known type, so what
makes no sense is refused when the file is loaded, not in the middle of a meeting. Python's parser says what belongs
together; nothing is ever evaluated as Python.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

from pydantic import BaseModel

MAX_CHARS = 300
MAX_NESTED = 60


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

EQUALITY = {ast.Eq: eq, ast.NotEq: ne}
ORDER = {ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge}
PYTHON = {"&&": " and ", "||": " or ", "!": "~", "=": "==", "===": "==", "!==": "!="}
"""Signs of other notations. `~` binds as `!` does, stronger than a comparison; `not` binds weaker."""

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
    try:
        expression = ast.parse("".join(_tokens(text)).strip(), mode="eval").body
    except (SyntaxError, MemoryError, RecursionError):
        raise BadCondition("a part is missing, or one too many") from None
    return Condition(_truth(_term(expression)))


def _tokens(text: str) -> Iterator[str]:
    """*text* in the notation of Python, where nothing is left of it but our variables, numbers, texts and signs."""
    at, end, nested = 0, len(text.rstrip()), 0
    while at < end:
        if (match := TOKEN.match(text, at)) is None:
            raise BadCondition(f"cannot read {text[at:].strip()[:20]!r}")
        kind, found = match.lastgroup, match[match.lastgroup or 0]
        at = match.end()
        nested += found.lower() in {"(", "!", "not"}
        if nested > MAX_NESTED:
            raise BadCondition(f"more than {MAX_NESTED} parentheses and negations")
        if kind == "number":
            yield f" {float(found)!r} "
        elif kind == "string":
            yield f"({found[1:-1]!r})"  # two of them, one after the other, are not one
        elif kind == "sign":
            yield PYTHON.get(found, found)
        elif found in VARIABLES or found.lower() in {"and", "or", "not"}:
            yield f" {found.lower()} "
        else:
            raise BadCondition(f"{found!r} is no variable: there are {NAMES}; texts stand in quotes")


def _term(node: ast.expr) -> Term:
    match node:
        case ast.Name(id=name):
            return VARIABLES[name]
        case ast.Constant(value=str() | float() as written):
            return Term(type(written), lambda _: written)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float(number))):
            return Term(float, lambda _: -number)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            value = _truth(_term(operand)).value
            return Term(bool, lambda facts: not value(facts))
        case ast.BoolOp(op=op, values=parts):
            judge = all if isinstance(op, ast.And) else any
            values = [_truth(_term(part)).value for part in parts]
            return Term(bool, lambda facts: judge(value(facts) for value in values))
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return _compared(_term(left), type(sign), _term(right))
    raise BadCondition("a part is missing, or one too many")


def _compared(left: Term, sign: type[ast.cmpop], right: Term) -> Term:
    a, b = left.value, right.value
    if sign in ORDER:
        if not left.kind is right.kind is float:
            raise BadCondition("only numbers can be smaller or greater")
        order = ORDER[sign]
        return Term(bool, lambda facts: order(a(facts), b(facts)))
    if sign not in EQUALITY:
        raise BadCondition("a part is missing, or one too many")
    if left.kind is not right.kind:
        return Term(bool, lambda _: sign is ast.NotEq)
    equality = EQUALITY[sign]
    return Term(bool, lambda facts: equality(a(facts), b(facts)))


def _truth(term: Term) -> Term:
    if term.kind is not bool:
        raise BadCondition("neither true nor false")
    return term
