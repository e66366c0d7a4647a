"""Markdown as blocks for Slack: nothing of the text is lost, and nothing of it hides the rest."""

import pytest

from bot.domain.values.markdown import Block, blocks


def kinds(text: str) -> list[str]:
    return [one.kind for one in blocks(text)]


def words(text: str) -> list[str]:
    """Each row as it is read: its margin, and its text and code."""
    return [
        row.margin + "".join(one.text for one in row.spans if one.kind in {"text", "code"})
        for block in blocks(text)
        for row in block.rows
    ]


def only(text: str) -> Block:
    (block,) = blocks(text)
    return block


@pytest.mark.parametrize(
    ("text", "kind", "rows"),
    [
        ("## Goal ##", "heading", ["Goal"]),
        ("> # Goal", "heading", ["> Goal"]),
        ("##", "text", ["##"]),
        ("***", "rule", [""]),
        ("> ---", "rule", [">"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "code", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
        ("```python\nx = 1\n```", "code", ["x = 1"]),
        ("```not a language\nx = 1\n```", "code", ["not a language", "x = 1"]),
        ("one\ntwo", "text", ["one", "two"]),
    ],
)
def test_each_block_has_its_kind_and_its_rows(text: str, kind: str, rows: list[str]) -> None:
    assert only(text).kind == kind
    assert words(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("one ```\ntwo", ["one ```", "two"]),
        ("```\nx = 1", ["x = 1"]),
        ("```\nx = 1``` \nafter", ["x = 1", "after"]),
        ("```", []),
    ],
)
def test_code_that_people_open_or_close_in_a_hurry(text: str, rows: list[str]) -> None:
    """It ends where it is closed in the middle of a row, or with the text; what follows is text again."""
    assert words(text)[: len(rows)] == rows


def test_code_in_a_list_keeps_the_bullet() -> None:
    text = "- ```\n  x = 1\n  ```\n\nafter"

    assert words(text) == ["- ", "x = 1", "", "after"]
    assert kinds(text) == ["text", "code", "text", "text"]


def test_empty_rows_between_and_after_blocks_stay() -> None:
    assert words("one\n\n\n# Two\n\n") == ["one", "", "", "Two", "", ""]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("[the plan](https://x.example/p)", "the plan (https://x.example/p)"),
        ("<https://x.example/p>", "https://x.example/p"),
        ('[the plan](https://x.example/p "ours")', 'the plan (https://x.example/p "ours")'),
        ("![a *picture*](https://x.example/p.png)", "a picture (https://x.example/p.png)"),
        (
            "[![in](https://x.example/i)](https://x.example/o)",
            "in (https://x.example/i) (https://x.example/o)",
        ),
        ("see https://x.example/a_b_c and `code`", "see https://x.example/a_b_c and code"),
        ("ftp://x.example", "ftp://x.example"),
        ("<b>bold</b> &amp;", "<b>bold</b> &amp;"),
    ],
)
def test_a_link_is_its_text_and_its_address(text: str, row: str) -> None:
    """One that says its address says it once. HTML and entities are text."""
    assert words(text) == [row]


def test_a_mark_ends_on_its_row_and_begins_again() -> None:
    """One in a mark of its kind is none."""
    first, second = only("**one\ntwo *and **three** four***").rows

    assert [one.text for one in first.spans if one.kind == "begin"] == ["strong"]
    assert [one.text for one in first.spans if one.kind == "end"] == ["strong"]
    begun = [one.text for one in second.spans if one.kind == "begin"]
    assert begun[0] == "strong"
    assert begun.count("strong") == [one.text for one in second.spans if one.kind == "end"].count("strong")
