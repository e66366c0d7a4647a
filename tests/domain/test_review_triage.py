"""What people see of a review at a glance, and what they are told is not shown."""

import pytest

from bot.domain.messages.message import Link
from bot.domain.reviews.text import Finding, Opinion, Review, Severity
from bot.domain.reviews.triage import NOT_OURS, triage, triage_of_text

LINKS = (Link(label="The review", url="https://example.org/review-001.md"),)


def found(severity: Severity, count: int = 1) -> tuple[Finding, ...]:
    return tuple(
        Finding(severity=severity, file="spec.md", line=n + 1, text=f"Number {n}.") for n in range(count)
    )


def reviewed(*findings: Finding, **more: tuple[str, ...]) -> Review:
    opinions = (Opinion(by="Maya Chen", findings=findings), Opinion(by="Alex Rivera"))
    return Review(title="Offline sync", method="Made with a checklist.", opinions=opinions, **more)


def test_the_line_says_it_and_who_looked_is_named() -> None:
    """With links to where the rest is."""
    shown = triage(reviewed(*found(Severity.CRITICAL)), number=3, links=LINKS)

    assert shown.line == "REVIEW: FAIL | issues=1 (critical=1) | missing_inputs=0"
    assert (shown.title, shown.number) == ("Offline sync", 3)
    assert shown.reviewers == ("Maya Chen", "Alex Rivera")
    assert shown.findings == found(Severity.CRITICAL)
    assert shown.hidden == ()
    assert shown.links == LINKS


def test_what_is_hidden_is_counted_with_the_reason() -> None:
    """Nobody takes what is shown for everything."""
    review = reviewed(*found(Severity.CRITICAL), *found(Severity.MAJOR), *found(Severity.MINOR, 4))

    assert triage(review, number=1).hidden == (
        "1 major finding is hidden: only critical ones are shown here.",
        "4 minor findings are hidden: only critical ones are shown here.",
    )
    assert triage(review, number=1, least=Severity.MAJOR).hidden == (
        "4 minor findings are hidden: only critical and major ones are shown here.",
    )
    assert triage(review, number=1, least=Severity.MINOR).hidden == (
        "1 more are hidden: 5 are shown at most.",
    )


def test_what_nobody_looked_at_is_said_with_what_was_missing() -> None:
    """A short list of findings may be a short look."""
    shown = triage(reviewed(missing=("schema: none",), unseen=("Jordan Park was not asked.",)), number=1)

    assert shown.line == "REVIEW: PASS | issues=0 (critical=0) | missing_inputs=1"
    assert shown.missing == ("schema: none",)
    assert shown.hidden == ("Jordan Park was not asked.",)


@pytest.mark.parametrize("text", ["", "Looks good.", "@@@REVIEW_META\nverdict: PASS\n"])
def test_a_review_of_somebody_else_shows_its_line_and_no_more(text: str) -> None:
    """It may hold anything. Without metadata the message is there all the same."""
    shown = triage_of_text(text, title="Offline sync", number=1, links=LINKS)

    assert shown.line == "REVIEW: metadata unavailable"
    assert shown.findings == ()
    assert shown.hidden == (NOT_OURS,)
    assert shown.links == LINKS
