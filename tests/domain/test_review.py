"""The line that people are shown of a review, whatever the review looks like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.reviews.review import (
    MARKER,
    UNAVAILABLE,
    ReviewMeta,
    ReviewVerdict,
    parse,
    triage_line,
    without_marker,
)
from tests.growth import grows_no_faster

BLOCK = """@@@REVIEW_META
verdict: PASS
issues_total: 3
issues_critical: 0
missing_inputs: 1
@@@
"""
LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"


def with_field(name: str, value: str) -> str:
    """The block, with another *value* behind the name."""
    return "".join(
        f"{name}: {value}\n" if row.startswith(f"{name}:") else row for row in BLOCK.splitlines(keepends=True)
    )


def test_a_whole_block_becomes_one_line() -> None:
    """With all four facts as the review says them; what cannot be read has a line as well."""
    assert triage_line(BLOCK + "\nThe first section says nothing about errors.\n") == LINE

    text = with_field("issues_critical", "9")

    assert triage_line(text) == "REVIEW: PASS | issues=3 (critical=9) | missing_inputs=1"

    assert triage_line("Looks good to me!") == "REVIEW: metadata unavailable"

    meta = ReviewMeta(verdict=ReviewVerdict.FAIL, issues_total=5, issues_critical=2, missing_inputs=0)

    assert meta.line == "REVIEW: FAIL | issues=5 (critical=2) | missing_inputs=0"


READ = {
    "lines end as in Windows": BLOCK.replace("\n", "\r\n"),
    "lines end as on an old Mac": BLOCK.replace("\n", "\r"),
    "no line end after the last line": BLOCK.rstrip(),
    "indented": "".join(f"    {row}\n" for row in BLOCK.splitlines()),
    "only the closer indented": BLOCK.replace("\n@@@\n", "\n\t @@@ \n"),
    "blank lines in the block": BLOCK.replace("\n", "\n\n"),
    "spaces around everything": BLOCK.replace(": ", "  :   ").replace("\n", "  \n"),
    "no space after the colon": BLOCK.replace(": ", ":"),
    "spaces after the marker": BLOCK.replace(MARKER, f"{MARKER}  \t"),
    "text before the marker": f"Here it is: {BLOCK}",
    "a byte order mark": f"\ufeff{BLOCK}",
    "in a code fence": f"```text\n{BLOCK}```\n",
    "text before and after": f"# Review\n\nWell.\n\n{BLOCK}\n- one\n- two\n",
    "at the end of the text": f"Well.\n{BLOCK}",
    "marker in lower case": BLOCK.replace(MARKER, "@@@review_meta"),
    "marker in mixed case": BLOCK.replace(MARKER, "@@@Review_Meta"),
    "keys in capitals": "".join(
        f"{key.upper()}{colon}{rest}"
        for key, colon, rest in (row.partition(":") for row in BLOCK.splitlines(keepends=True))
    ),
    "verdict in lower case": with_field("verdict", "pass"),
    "verdict in mixed case": with_field("verdict", "Pass"),
    "another order": "\n".join((MARKER, *reversed(BLOCK.splitlines()[1:-1]), "@@@")),
    "unknown keys": BLOCK.replace("\n@@@\n", "\nreviewer: Ada\nscore: 9/10\n@@@\n"),
    "a line that is no field": BLOCK.replace("\n@@@\n", "\nsee below\n@@@\n"),
    "a key said twice: the last counts": BLOCK.replace("verdict: PASS", "verdict: FAIL\nverdict: PASS"),
    "a plus": with_field("issues_total", "+3"),
    "zeros in front": with_field("issues_total", "003"),
    "thousands of zeros in front": with_field("issues_total", "0" * 9_000 + "3"),
    "a closer that is more than a closer does not close": BLOCK.replace(
        "\nissues_total", "\n@@@END\nissues_total"
    ),
    "what comes after is the review's own": BLOCK + "verdict: FAIL\n@@@\nissues_total: many\n",
    "a longer word is another word": f"{BLOCK}@@@REVIEW_METADATA is something else.\n",
}
UNREAD = {
    "nothing": "",
    "only spaces": " \n\t\r\n ",
    "no block": "verdict: PASS\nissues_total: 0\n",
    "no marker": BLOCK.replace(MARKER, "@@@"),
    "never closed": BLOCK.replace("\n@@@\n", "\n"),
    "closed on the line of a value": BLOCK.replace("1\n@@@\n", "1 @@@\n"),
    "closed by a longer word only": BLOCK.replace("\n@@@\n", "\n@@@END\n"),
    "empty block": f"{MARKER}\n@@@\n",
    "all on one line": BLOCK.replace("\n", " "),
    "words after the marker": BLOCK.replace(MARKER, f"{MARKER} v1"),
    "two blocks": BLOCK + BLOCK,
    "two blocks that differ": BLOCK + with_field("verdict", "FAIL"),
    "a block in a block": BLOCK.replace("\n", f"\n{MARKER}\n", 1),
    "the marker is spoken of before": f"The {MARKER} block comes first.\n\n{BLOCK}",
    "the marker is spoken of after": f"{BLOCK}\nThat was the {MARKER.lower()} block.\n",
    "a template": with_field("verdict", "PASS | FAIL"),
    "a verdict in bold": with_field("verdict", "**PASS**"),
    "another verdict": with_field("verdict", "MAYBE"),
    "a verdict and more": with_field("verdict", "PASS, mostly"),
    "letters that become a verdict in capitals": with_field("verdict", "paß"),
    "a verdict with an invisible letter": with_field("verdict", "PA\u200bSS"),
    "a verdict with a NUL": with_field("verdict", "PASS\0"),
    "no verdict behind the colon": with_field("verdict", ""),
    "the last of two verdicts is none": BLOCK.replace("verdict: PASS", "verdict: PASS\nverdict: ?"),
    **{
        f"{name} without a line": "".join(
            row for row in BLOCK.splitlines(keepends=True) if not row.startswith(name)
        )
        for name in ReviewMeta.model_fields
    },
    **{
        f"{name} {value!r}": with_field(name, value)
        for name in ("issues_total", "issues_critical", "missing_inputs")
        for value in (
            *("", "-1", "-0", "1.0", "1e3", "1_0", "1 000", "1,000", "0x1", "many", "1 # one", "one", "++1"),
            *("+", "+ 1", "<int>", "1\0", "٣", "\uff13", "²", "½", "9" * 101, "9" * 9_000),
        )
    },
}


@pytest.mark.parametrize("text", READ.values(), ids=READ.keys())
def test_what_is_written_a_little_differently_is_read(text: str) -> None:
    """People and models indent, reorder and add; the facts are the same."""
    assert triage_line(text) == LINE


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD.keys())
def test_what_may_mean_something_else_is_not_guessed_at(text: str) -> None:
    """A line that is wrong is worse than none; and none is no error."""
    assert parse(text) is None
    assert triage_line(text) == UNAVAILABLE


PIECES = st.sampled_from([
    *("@@@REVIEW_META", "@@@review_meta", "@@@", "@", "verdict: PASS", "VERDICT : fail", "issues_total: 3"),
    *("issues_critical: 0", "missing_inputs: +1", "missing_inputs: -1", "issues_total:", ":", "```", " ", "\0"),
    *("\n", "\r\n", "\r", "\u2028", "\x85", "\ud800", "\ufeff", "٣", "Well."),
])  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())), st.lists(PIECES, max_size=60).map("".join),
    st.lists(PIECES, max_size=60).map("\n".join),
)  # fmt: skip
METAS = st.builds(ReviewMeta)


@given(TEXTS)
def test_any_text_has_a_line(text: str) -> None:
    """Either with all four facts or the one that says there are none; nothing that is written breaks it."""
    meta = parse(text)

    assert triage_line(text) == (meta.line if meta else UNAVAILABLE)
    assert "\n" not in triage_line(text)


@given(METAS, TEXTS)
def test_what_was_written_is_what_is_read(meta: ReviewMeta, around: str) -> None:
    """With other words around it too, as long as they do not name the marker."""
    assert parse(meta.block) == meta
    assert parse(f"{without_marker(around)}\n{meta.block}\n{without_marker(around)}") == meta


OPEN = BLOCK.removesuffix("@@@\n")
LONG = {
    "letters": ("", "x", ""),
    "at signs": ("", "@", ""),
    "markers": ("", f"{MARKER}\n", ""),
    "unfinished markers": ("", "@@@REVIEW_ME\n", ""),
    "closers": ("", "@@@\n", ""),
    "a block that never ends": (OPEN, "issues_total: 3\n", ""),
    "a line that never ends": (f"{OPEN}issues_total:", " ", "x"),
    "a number that never ends": (f"{OPEN}issues_total: ", "0", "x\n@@@\n"),
    "NULs": ("", "\0", ""),
    "line ends": ("", "\r", ""),
}


@pytest.mark.parametrize("parts", LONG.values(), ids=LONG.keys())
def test_a_hostile_review_is_read_in_one_pass(parts: tuple[str, str, str]) -> None:
    """Like anything else: ten megabytes of it, too."""
    before, unit, after = parts

    def text(size: int) -> str:
        return before + unit * (size // len(unit)) + after

    assert triage_line(text(10_000_000)) == UNAVAILABLE
    grows_no_faster(parse, text, 1_000_000)
