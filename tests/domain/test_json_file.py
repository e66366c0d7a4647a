"""JSON files of people: what is written back is what stood there."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.values.json_files import NumberAsWritten, parse, parse_kept, pretty, whole

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "number", ["1.10", "-0", "1E5", "12345678901234567890.12345678901234567890", "1e999"]
)
def test_a_number_is_written_as_it_was_read(number: str) -> None:
    """Also between texts that look like what holds its place."""
    text = f'{{\n  "\ue000": "\ue0001.10\ue000",\n  "a": [\n    {number},\n    "{number}"\n  ]\n}}\n'

    assert pretty(parse_kept(text)) == text


def test_in_another_form_a_number_is_another_value() -> None:
    """Whoever changed `1.1` to `1.10` wants it written."""
    one, other = parse_kept("[1.10, 1.100]")

    assert (one == other, one == NumberAsWritten("1.10"), one == 1.1) == (False, True, False)
    assert {one: 1}[NumberAsWritten("1.10")] == 1


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "[" * 101 + "]" * 101, "[" * 100_000, "{", ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    """By both readers."""
    for reader in (parse, parse_kept):
        with pytest.raises(ValueError, match=r"."):
            reader(text)


@pytest.mark.parametrize("text", ["1e999", "9" * 5000])
def test_what_nobody_can_reckon_with_is_refused_to_those_who_do(text: str) -> None:
    """And the sentence does not speak of Python."""
    with pytest.raises(
        ValueError, match=r"no number that JSON can hold|a number of 5000 digits is too large"
    ):
        parse(text)


@given(VALUES)
def test_everything_else_is_written_as_json_is(value: object) -> None:
    """Whatever it is, and once more after it was read."""
    again = parse_kept(pretty(value))

    assert pretty(again) == pretty(value)
    assert json.loads(pretty(value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("value", "number"), [(7, 7), (7.0, 7), (7.5, None), (True, None), ("7", None), (float("inf"), None)]
)
def test_a_whole_number_may_have_a_point(value: object, number: int | None) -> None:
    """Truth is none, and neither is a text."""
    assert whole(value) == number
