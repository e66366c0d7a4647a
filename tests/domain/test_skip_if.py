"""The small language of skip_if: what it can say, and that nothing else gets in."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.skip_if import MAX_CHARS, BadCondition, Facts, parse

SMALL = Facts(scope="small", complexity="low", file_count=4, depth="brief")
UNKNOWN = Facts()


HOLD = [
    "scope === 'small'", 'scope == "small"', "scope = 'small'", "scope !== 'large'", "scope != 'large'",
    "'small' == scope", "file_count < 5", "file_count <= 4", "file_count > -1", "file_count >= 4.0",
    "file_count == 4", "5 > file_count", "depth == 'brief' && complexity == 'low'",
    "depth == 'deep' || complexity == 'low'", "depth == 'brief' and complexity == 'low'",
    "depth == 'deep' OR complexity == 'low'", "!(scope == 'large')", "not scope == 'large'",
    "not not scope == 'small'", "!false", "true", "true == true", "(((true)))", "scope=='small'&&file_count<5",
    "  true  ", "true || false && false", "not file_count == 5", "file_count != '4'", "scope !== true",
]  # fmt: skip
"""Both notations, JavaScript's and Python's, and any mixture; `not a == b` is `not (a == b)`, as in Python."""
DO_NOT_HOLD = [
    "", "   ", "false", "scope === 'large'", "scope == 'Small'", "file_count > 4",
    "scope == 'small' && file_count > 4", "scope == 'large' || file_count > 4", "not (scope == 'small')", "!true",
    "(true || false) && false", "file_count == '4'", "true == 1",
]  # fmt: skip
"""Without a condition the step runs; no number is a word, and no word is true, as `===` has it."""


@pytest.mark.parametrize(
    ("text", "holds"), [*((one, True) for one in HOLD), *((one, False) for one in DO_NOT_HOLD)]
)
def test_a_condition_holds_or_does_not(text: str, *, holds: bool) -> None:
    assert parse(text).holds(SMALL) is holds


def test_unknown_facts_can_be_asked_for() -> None:
    """Before the quick scan, everything is unknown."""
    assert parse("scope == 'unknown' && complexity == 'unknown' && file_count == 0").holds(UNKNOWN)
    assert parse("depth == 'standard'").holds(UNKNOWN)


NONSENSE = [
    "scope", "'small'", "file_count", "!scope == 'small'", "scope && true", "true || file_count", "scope < 3",
    "'scope' < 3", "scope < 'small'", "true < false", "3",
]  # fmt: skip
"""A word is neither true nor false, and only numbers have an order."""
BAD_GRAMMAR = [
    "scope ==", "== 'small'", "scope == 'small", "scope == small", "(true", "true)", "()", "true true", "1 < 2 < 3",
    "5abc == 5", "1.2.3 == 1", "file_count - 1 < 3", "scope == 'a\\'b'", "scope == ‘small’", "true & true",
    "true | true", "and", "not", "!", "Scope == 'small'",
]  # fmt: skip
CODE = [
    "__import__('os').system('id')", "().__class__.__bases__[0].__subclasses__()", "scope.__class__", "scope['x']",
    "eval('1')", "exec", "open('x').read()", "lambda: 1", "[x for x in (1,)]", "9**9**9**9",
    "file_count * 9999999 == 1", "'a' * 999999999 == scope", "f'{scope}' == 'x'", "scope == `id`", "scope; true",
    "true\x00", "{} == {}", "scope if true else scope", "(scope := 'x') == 'x'",
]  # fmt: skip
"""Only the four variables have a meaning; there is nothing to call, index or compute."""


@pytest.mark.parametrize("text", [*NONSENSE, *BAD_GRAMMAR, *CODE])
def test_anything_else_is_refused_at_once(text: str) -> None:
    """With a sentence, not with a guess."""
    with pytest.raises(BadCondition, match=r".+"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 140 + "true" + ")" * 140,
        "!" * 290 + "true",
        "not " * 70 + "true",
        "&&".join(["1>2"] * 59),
        "true" + " " * MAX_CHARS,
        "file_count == " + "9" * 280,
        "(" * 300,
    ],
)
def test_large_expressions_end(text: str) -> None:
    """Too long, too deep or too many parts: refused, or judged. A slow one would not end here."""
    with suppress(BadCondition):
        assert not parse(text).holds(SMALL)


PIECES = [
    *("scope", "file_count", "depth", "complexity", "true", "false", "'small'", '"x"', "3", "4.5", "-1"),
    *("and", "or", "not", "&&", "||", "!", "==", "===", "!=", "!==", "<", "<=", ">", ">=", "=", "(", ")"),
    *(" ", ".", "x", "$", "'", "\n"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join) | st.text(max_size=320))
def test_any_text_is_a_condition_or_a_bad_condition(text: str) -> None:
    """Nothing else ever comes out: no other error, no other value."""
    try:
        held = parse(text).holds(SMALL)
    except BadCondition:
        return

    assert held in {True, False}


EXPRESSIONS = st.recursive(
    st.sampled_from(["scope == 'small'", "file_count > 7", "true", "false"]),
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | st.builds("(not {})".format, inner)
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_it_means_what_python_means_by_it(text: str) -> None:
    """Where both notations coincide, so do the answers."""
    known = {"scope": "small", "file_count": 4, "true": True, "false": False}

    assert parse(text).holds(SMALL) is eval(text, {"__builtins__": {}}, known)  # noqa: S307
