"""Front matter is read as it is written, and no file can stop the bot with it."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.content import frontmatter
from bot.content.frontmatter import MAX_DEPTH, BadFrontMatter, parse, split

LARGEST = 60_000  # bytes; a file may have 64 KB


@pytest.fixture(params=[yaml.CSafeLoader, yaml.SafeLoader], ids=["libyaml", "pure"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most machines have the parser written in C; the bot runs on the others, too."""
    monkeypatch.setattr(frontmatter, "LOADER", request.param)


def test_front_matter_and_body_are_two_things() -> None:
    """Everything after the second line of dashes is body, dashes included; spaces after them do no harm."""
    assert split("---\na: b\n---\n\n# Title\n\n---\nend\n") == ({"a": "b"}, "# Title\n\n---\nend")
    assert split("--- \t\na: b\n---  \n") == ({"a": "b"}, "")


@pytest.mark.parametrize(
    "text", ["", "a: b", "\n---\na: b\n---\n", "---\na: b\n", "---", "---a: b\n---\n", "----\na: b\n----\n"]
)
def test_without_both_lines_of_dashes_there_is_no_front_matter(text: str) -> None:
    """The first line opens it; a later one closes it."""
    with pytest.raises(BadFrontMatter):
        split(text)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("01-02", "01-02"),
        ("12:30:45", "12:30:45"),
        ("no", "no"),
        ("true", "true"),
        ("42", "42"),
        ("0x1F", "0x1F"),
        ("2024-01-02", "2024-01-02"),
        ('"quoted: yes"', "quoted: yes"),
        ("'it''s'", "it's"),
        ("plain text # a comment", "plain text"),
        ("", None),
        ("~", None),
        ("null", None),
        ('""', ""),
        ("'null'", "null"),
        ("|\n  two\n  lines", "two\nlines"),
        ("[a, 'b', 3]", ["a", "b", "3"]),
        ("\n  - a\n  - b", ["a", "b"]),
        ("{a: b}", {"a": "b"}),
        ("[]", []),
    ],
)
def test_scalars_stay_what_they_were_written_as(written: str, read: object) -> None:
    """YAML would make a date, a number of seconds and a boolean of them."""
    assert parse(f"key: {written}") == {"key": read}


@pytest.mark.usefixtures("loader")
def test_the_dialect_may_be_named() -> None:
    """A YAML directive changes nothing."""
    assert parse("%YAML 1.1\n---\na: b") == {"a": "b"}


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    "text",
    [
        "", "just a word", "- a\n- b", "a: 'unclosed", "a: [unclosed", "a: b: c", "\ta: b", "a: \x00",
        "a: 1\na: 2", "a: {b: 1, b: 2}", "? [a]\n: b", "a: b\n...\nc: d", "a: b\n--- c", "a: &anchor b",
        "a: &anchor b\nc: *anchor", "a: *nobody", "a: !!str b", "a: !!python/object/apply:os.system [id]",
        "a: ! b", "!!map {a: b}",
    ],
)  # fmt: skip
def test_anything_but_a_plain_mapping_is_refused(text: str) -> None:
    """Errors, lists, second documents, doubled keys, anchors, aliases, tags."""
    with pytest.raises(BadFrontMatter, match=r".+"):
        parse(text)


@pytest.mark.usefixtures("loader")
def test_nesting_ends_somewhere() -> None:
    """Front matter needs three levels; far more are still fine."""
    deepest = MAX_DEPTH - 1  # the mapping itself is one
    assert parse("a: " + "[" * deepest + "]" * deepest)
    with pytest.raises(BadFrontMatter):
        parse("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH)


MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [*{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}]}}\n"
    for old, new in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True)
)
LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}, *{old}, *{old}]\n"
    for old, new in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True)
)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * LARGEST, id="brackets, which crash the C loader"),
        pytest.param("a: " + "[" * LARGEST, id="brackets in a value"),
        pytest.param("{" * LARGEST, id="braces"),
        pytest.param("- " * (LARGEST // 2), id="dashes"),
        pytest.param("? " * (LARGEST // 2), id="question marks"),
        pytest.param("".join(" " * n + "a:\n" for n in range(340)), id="indentation"),
        pytest.param(MERGE_BOMB, id="merge keys, which hang every loader"),
        pytest.param(LAUGHS, id="a billion laughs"),
        pytest.param("a: [" + "x," * (LARGEST // 2) + "]", id="too many values"),
        pytest.param("".join(f"k{n}: v\n" for n in range(6_000)), id="too many keys"),
        pytest.param("!" * LARGEST, id="exclamation marks"),
        pytest.param("&" * LARGEST, id="ampersands"),
        pytest.param("*" * LARGEST, id="asterisks"),
        pytest.param(": " * (LARGEST // 2), id="colons"),
        pytest.param("k" * 2_000 + ": v", id="an endless key"),
        pytest.param('a: "' + "\\n" * (LARGEST // 2), id="an endless string"),
        pytest.param("#" * LARGEST, id="a comment"),
        pytest.param("\n" * LARGEST, id="empty lines"),
        pytest.param("--- " * (LARGEST // 4), id="documents"),
        pytest.param("%TAG ! tag:x\n" * (LARGEST // 13), id="directives"),
    ],
)
def test_hostile_front_matter_is_refused_at_once(text: str) -> None:
    """In this very process: nothing crashes it. A loader that is held up would never end."""
    with pytest.raises(BadFrontMatter):
        parse(text)


@given(st.text(max_size=200) | st.text(alphabet="-:[]{}&*!|>'\"#?, \nab", max_size=200))
def test_any_text_is_front_matter_or_bad_front_matter(text: str) -> None:
    """Nothing else ever comes out."""
    try:
        front, body = split(f"---\n{text}\n---\nbody")
    except BadFrontMatter:
        return

    assert all(isinstance(key, str) for key in front)
    assert body.endswith("body")
