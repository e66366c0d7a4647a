import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.values.markdown import (
    body,
    bullet,
    escaped,
    has_stray_fence,
    line_end,
    lines,
    outline,
    quoted,
)

FENCE = "```"
pieces = st.sampled_from(
    [
        "# One",
        "## Two",
        "  ### Three ###",
        "#### 4. Four",
        "##",
        "#not a heading",
        "    # indented",
        "Title",
        "---",
        "===",
        "- item",
        "> quote",
        "",
        "  ",
        FENCE,
        "```python",
        "````",
        "~~~",
        "~~~~ x",
        "    ```",
        "<!-- Elaboration: step 01-03, now -->",
        "<!--",
        "-->",
        "text\ttext",
    ]
)
page_texts = st.lists(
    st.tuples(pieces | st.text(max_size=6), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
).map(lambda rows: "".join(text + end for text, end in rows))


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in outline(text).headings]


class TestOutline:
    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            ("# A", [(1, "A")]),
            ("   ###### A  b ##  ", [(6, "A b")]),
            ("## C#", [(2, "C#")]),
            ("## C #", [(2, "C")]),
            ("##", [(2, "")]),
            ("## ##", [(2, "")]),
            ("\ufeff## A", [(2, "A")]),
            ("#A", []),
            ("    # A", []),
            ("####### A", []),
            ("- # A", []),
            ("> # A", []),
        ],
    )
    def test_headings_with_hashes(self, row: str, expected: list[tuple[int, str]]) -> None:
        """As CommonMark has it: level, words in one line, no closing hashes; lists and quotes hold none."""
        assert headings(row) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("A\n---", [(2, "A")]),
            ("A\n===\ntext\nB\n---\n", [(1, "A")]),
            ("text\n\nA  b\n----\n", [(2, "A b")]),
            ("# T\nA\n---\n", [(1, "T"), (2, "A")]),
            ("```\n```\nA\n---\n", [(2, "A")]),
            ("A\n---\nB\n---\n", [(2, "A"), (2, "B")]),
            ("text\nA\n---\n", []),
            ("- A\n---\n", []),
            ("> A\n---\n", []),
            ("1. A\n---\n", []),
            ("---\nA: b\n---\n", []),
            ("---\n---\n", []),
            ("---", []),
            ("\n---", []),
            ("```\n```\n---", []),
        ],
    )
    def test_headings_with_a_line_below(self, text: str, expected: list[tuple[int, str]]) -> None:
        """A rule, a list and front matter have the same dashes."""
        assert headings(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "```\n# A\n```",
            "```python\n# A\n```  ",
            "~~~ a`b\n# A\n~~~~",
            "````\n```\n# A\n````",
            "  ```\n# A\n```\n",
        ],
    )
    def test_code_hides_its_headings(self, text: str) -> None:
        """Whichever fence is used, as long as a matching one closes it."""
        assert headings(text) == []
        assert not has_stray_fence(lines(text))

    @pytest.mark.parametrize(
        "text", ["```\n# A\n", "```\n# A\n~~~", "````\n# A\n```", "```\n# A\n```x", "````\n````x\n# A"]
    )
    def test_a_fence_that_nobody_closed_hides_nothing(self, text: str) -> None:
        """One slip must not make the rest of a page invisible to the steps that own it."""
        assert headings(text) == [(1, "A")]
        assert has_stray_fence(lines(text))

    def test_a_comment_hides_its_headings(self) -> None:
        """What an author has commented out is no section."""
        assert headings("<!--\n# A\n-->\n# B") == [(1, "B")]

    @pytest.mark.parametrize("text", ["<!--\n# A", "<!--\n\n# A\n-->", "- <!--\n\n# A\n-->"])
    def test_a_comment_without_an_end_hides_nothing(self, text: str) -> None:
        """Nor does one that reaches over an empty line: a section that is added below it stays visible."""
        assert headings(text) == [(1, "A")]

    def test_backticks_after_backticks_are_no_fence(self) -> None:
        """Three backticks with another behind them are code inside a line."""
        assert headings("```a`\n# A\n```") == [(1, "A")]

    @given(st.text(st.sampled_from("ab\r\n\x0b\u2028")))
    def test_lines_are_all_of_the_text(self, text: str) -> None:
        """Put together again they are the text, byte for byte."""
        assert "".join(lines(text)) == text

    @pytest.mark.parametrize(
        ("text", "end"), [("", "\n"), ("a", "\n"), ("a\r\nb\n", "\r\n"), ("a\nb\r\n", "\n"), ("a\rb", "\r")]
    )
    def test_the_first_line_end_counts(self, text: str, end: str) -> None:
        """It says how lines end that are added to the file."""
        assert line_end(text) == end


class TestBody:
    def test_headings_go_below_those_of_a_section(self) -> None:
        """And keep their order among each other."""
        assert body("# A\n\n## B ##\n\nC\n---\n###### D") == "### A\n\n#### B\n\n#### C\n###### D"

    def test_headings_deep_enough_stay(self) -> None:
        """From level three on they cannot end a section."""
        assert body("### A ###\n#### B") == "### A ###\n#### B"

    def test_comments_are_text(self) -> None:
        """Nobody can write a marker of ours."""
        assert body("<!-- Elaboration: x -->\n# <!-- a") == "&lt;!-- Elaboration: x -->\n### &lt;!-- a"

    def test_code_stays_as_it_is(self) -> None:
        """Inside a closed fence nothing can act, so nothing is changed."""
        assert body("```html\n# A\n<!-- b -->\n```") == "```html\n# A\n<!-- b -->\n```"

    def test_open_code_is_closed(self) -> None:
        """With the fence it began with, so that it ends where the section does."""
        assert body("~~~~ x\n# A") == "~~~~ x\n# A\n~~~~"

    def test_without_fences_code_is_indented(self) -> None:
        """Where a fence is open above, one of ours would close it."""
        assert body("```\n# A\n```", fences=False) == "    ```\n### A\n    ```"

    def test_blank_lines_around_it_are_dropped(self) -> None:
        """The first line keeps its indentation."""
        assert body("\n  \n  a\n\n") == "  a"

    @given(page_texts, st.booleans())
    def test_nothing_in_it_is_more_than_a_part_of_a_section(self, text: str, fences: bool) -> None:  # noqa: FBT001
        """Of any text: no high heading, no open fence, no comment outside code."""
        part = outline(body(text, fences=fences))

        assert all(heading.level >= 3 for heading in part.headings)
        assert not part.stray
        assert not any("<!--" in row for n, row in enumerate(part.lines) if n not in part.hidden)
        assert fences or not part.hidden

    @given(page_texts, st.booleans())
    def test_what_is_a_part_already_stays(self, text: str, fences: bool) -> None:  # noqa: FBT001
        """Making it a part again changes nothing."""
        part = body(text, fences=fences)

        assert body(part, fences=fences) == part


class TestPieces:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a\n b", "a b"),
            ("# a", "\\# a"),
            ("#a", "#a"),
            ("- a", "\\- a"),
            ("*bold* a", "*bold* a"),
            ("> a", "\\> a"),
            ("```a", "\\```a"),
            ("<!-- a", "&lt;!-- a"),
        ],
    )
    def test_a_bullet_is_one_line_of_text(self, text: str, line: str) -> None:
        """What would begin a block at the start of a line gets a backslash; emphasis stays."""
        assert bullet(text) == line

    def test_escaped_text_is_nothing_but_text(self) -> None:
        """Names and titles can hold every character that Markdown knows."""
        assert escaped("*a* [b](c) `d` <e> #f") == r"\*a\* \[b\](c) \`d\` \<e\> \#f"

    @given(page_texts)
    def test_a_quote_has_no_headings_and_no_markers(self, text: str) -> None:
        """Whatever was said in the thread before."""
        page = outline(quoted(text))

        assert not page.headings
        assert not page.hidden
        assert "<!--" not in quoted(text)
