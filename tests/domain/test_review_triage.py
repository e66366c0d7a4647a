"""What people see of a review at a glance, and what they are told is not shown."""

import pytest

from bot.domain.reviews.text import Finding, FindingSeverity, Review, ReviewerOpinion
from bot.domain.reviews.triage import NOT_OURS, entry_of, entry_of_text


def found(severity: FindingSeverity, count: int = 1) -> tuple[Finding, ...]:
    return tuple(
        Finding(severity=severity, file="spec.md", line=n + 1, text=f"Number {n}.") for n in range(count)
    )


def reviewed(*findings: Finding, **more: tuple[str, ...]) -> Review:
    opinions = (ReviewerOpinion(by="Maya Chen", findings=findings), ReviewerOpinion(by="Alex Rivera"))
    return Review(title="Offline sync", method="Made with a checklist.", opinions=opinions, **more)


def test_the_line_says_it_and_who_looked_is_named() -> None:
    """With the critical finding, and its place."""
    shown = entry_of(reviewed(*found(FindingSeverity.CRITICAL)))

    assert shown.line == "REVIEW: FAIL | issues=1 (critical=1) | missing_inputs=0"
    assert shown.reviewers == ("Maya Chen", "Alex Rivera")
    assert shown.sentence == "`spec.md:1`: Number 0."
    assert shown.hidden == ()


def test_what_is_not_shown_is_counted() -> None:
    """Nobody takes what is shown for everything."""
    review = reviewed(
        *found(FindingSeverity.CRITICAL, 6), *found(FindingSeverity.MAJOR), *found(FindingSeverity.MINOR, 4)
    )
    shown = entry_of(review)

    assert shown.sentence == "`spec.md:1`: Number 0."
    assert shown.hidden == ("5 more critical findings.", "1 major finding.", "4 minor findings.")


def test_what_nobody_looked_at_is_said_with_what_was_missing() -> None:
    """A short list of findings may be a short look."""
    shown = entry_of(reviewed(missing=("schema: none",), unseen=("Jordan Park was not asked.",)))

    assert shown.line == "REVIEW: PASS | issues=0 (critical=0) | missing_inputs=1"
    assert shown.hidden == ("Missing schema: none", "Jordan Park was not asked.")


@pytest.mark.parametrize("text", ["", "Looks good.", "@@@REVIEW_META\nverdict: PASS\n"])
def test_a_review_of_somebody_else_shows_its_line_and_no_more(text: str) -> None:
    """It may hold anything. Without metadata the message is there all the same."""
    shown = entry_of_text(text, number=1, path="review-001.md")

    assert shown.line == "REVIEW: metadata unavailable"
    assert shown.sentence == ""
    assert shown.hidden == (NOT_OURS,)


def test_gaps_are_counted_beside_the_coverage() -> None:
    """Nobody reviewed it, and nobody is named."""
    rule = ReviewerOpinion(by="Maya Chen", gaps=("A?", "B?"), judged=False)
    shown = entry_of(
        Review(title="X", method="", coverage="1 of 2 requirements has a test.", opinions=(rule,))
    )

    assert shown.line == "REVIEW: metadata unavailable"
    assert (shown.reviewers, shown.by_rule) == (("Maya Chen",), True)
    assert shown.sentence == "1 of 2 requirements has a test."
    assert shown.hidden == ("2 gaps in the specification: listed in the review.",)
