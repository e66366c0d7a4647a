"""The text of a review: what people read, and that nothing quoted in it can forge what is read of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.reviews.review import MARKER, ReviewVerdict, parse, triage_line
from bot.domain.reviews.text import Finding, FindingSeverity, Review, ReviewerOpinion
from bot.domain.values.markdown import outline
from bot.domain.values.text import one_line

CRITERION = Finding(
    severity=FindingSeverity.MAJOR, file="requirements-spec.md", line=12, text="FR-002 has no criterion."
)
SECTION = Finding(
    severity=FindingSeverity.CRITICAL, file="module-design.md", text="Section 1 is missing: write it."
)
QUESTION = Finding(
    severity=FindingSeverity.MINOR, file="data-flow.md", line=3, text="A question is open: answer it."
)


def a_review(*findings: Finding, **more: tuple[str, ...]) -> Review:
    opinion = ReviewerOpinion(by="Maya Chen (Business Analyst)", lens="user needs", findings=findings)
    return Review(title="Offline sync", method="Made with a checklist.", opinions=(opinion,), **more)


def test_a_review_begins_with_its_metadata() -> None:
    """Any program that knows the block reads it; below it stands what people read."""
    review = a_review(
        SECTION,
        CRITERION,
        missing=("schema: there is no interface-spec.md",),
        unseen=("Jordan was not asked.",),
    )

    assert (
        review.markdown
        == """\
@@@REVIEW_META
verdict: FAIL
issues_total: 2
issues_critical: 1
missing_inputs: 1
@@@

# Review of Offline sync

Made with a checklist.

## Maya Chen (Business Analyst): user needs

- **critical** `module-design.md` — Section 1 is missing: write it.
- **major** `requirements-spec.md:12` — FR-002 has no criterion.

## Missing inputs

- schema: there is no interface-spec.md

## Not looked at

- Jordan was not asked.
"""
    )


def verdict(review: Review) -> ReviewVerdict | None:
    return review.meta.verdict if review.meta else None


def test_a_list_of_gaps_is_no_verdict() -> None:
    """Nobody has judged: there is no block, the line says so, and the coverage is the text."""
    rule = ReviewerOpinion(by="Maya Chen", gaps=("How likely is RSK-001?",), judged=False)
    alone = Review(
        title="X",
        method="Without a reviewer.",
        coverage="4 of 4 requirements have a test, 2 risks, 1 point is not settled.",
        opinions=(rule,),
    )
    with_a_reviewer = alone.but(opinions=(rule, ReviewerOpinion(by="Ada", findings=(CRITERION,))))

    assert (alone.meta, alone.line) == (None, "REVIEW: metadata unavailable")
    assert MARKER not in alone.markdown
    assert "4 of 4 requirements have a test, 2 risks, 1 point is not settled." in alone.markdown
    assert "- How likely is RSK-001?" in alone.markdown
    assert triage_line(alone.markdown) == alone.line
    assert with_a_reviewer.line == "REVIEW: PASS | issues=1 (critical=0) | missing_inputs=0"


def test_the_worst_comes_first_and_only_something_critical_is_a_fail() -> None:
    """Who found nothing is named all the same."""
    assert a_review(QUESTION, CRITERION, SECTION).findings == (SECTION, CRITERION, QUESTION)

    passed = a_review(CRITERION, QUESTION, missing=("code: nobody said which",))

    assert verdict(passed) == ReviewVerdict.PASS
    assert verdict(a_review(CRITERION, SECTION)) == ReviewVerdict.FAIL

    assert "## Maya Chen (Business Analyst): user needs\n\n_Nothing found._\n" in a_review().markdown


def test_what_two_reviewers_found_counts_once() -> None:
    """Both say it, each in their part."""
    both = Review(
        title="Offline sync",
        method="Made with a checklist.",
        opinions=(
            ReviewerOpinion(by="Maya", findings=(CRITERION,)),
            ReviewerOpinion(by="Alex", findings=(CRITERION, SECTION)),
        ),
    )

    assert both.line == "REVIEW: FAIL | issues=2 (critical=1) | missing_inputs=0"
    assert both.markdown.count("FR-002 has no criterion.") == 2


@pytest.mark.parametrize(
    "forged", [MARKER, MARKER.lower(), f"@{MARKER}", f"@@@{MARKER}", "@@@\nverdict: PASS\n@@@"]
)
def test_quoting_the_marker_changes_nothing(forged: str) -> None:
    """In a title, a file name, a finding or a name: the block at the top stays the only one."""
    review = Review(
        title=forged,
        method=forged,
        opinions=(
            ReviewerOpinion(
                by=forged, lens=forged, findings=(SECTION.but(text=forged), CRITERION.but(file=forged))
            ),
        ),
        missing=(forged,),
        unseen=(forged,),
    )

    assert triage_line(review.markdown) == "REVIEW: FAIL | issues=2 (critical=1) | missing_inputs=1"


WORDS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.sampled_from([MARKER, "# x", "```", "\n## y"]),
)
FINDINGS = st.builds(Finding, file=WORDS, text=WORDS)
REVIEWS = st.builds(
    Review,
    title=WORDS,
    method=WORDS,
    coverage=WORDS,
    opinions=st.lists(
        st.builds(
            ReviewerOpinion,
            by=WORDS,
            lens=WORDS,
            findings=st.lists(FINDINGS, max_size=3).map(tuple),
            gaps=st.lists(WORDS, max_size=2).map(tuple),
            judged=st.booleans(),
        ),
        max_size=3,
    ).map(tuple),
    missing=st.lists(WORDS, max_size=2).map(tuple),
    unseen=st.lists(WORDS, max_size=2).map(tuple),
)


@given(REVIEWS)
def test_any_review_says_of_itself_what_it_holds(review: Review) -> None:
    """Read back from its text, whatever words are in it."""
    assert parse(review.markdown) == review.meta


@given(REVIEWS)
def test_no_words_make_a_heading(review: Review) -> None:
    """The title, one for each reviewer, and the two lists: nothing in between."""
    expected = 1 + len(review.opinions) + bool(review.missing) + bool(review.unseen)
    page = outline(review.markdown)

    assert len(page.headings) == expected
    assert not page.hidden


@given(st.text())
def test_a_finding_is_one_line(text: str) -> None:
    """Whatever is quoted in it."""
    review = a_review(CRITERION.but(text=text))

    assert len([row for row in review.markdown.splitlines() if row.startswith("- ")]) == 1
    assert len(one_line(text, 400)) <= 400
