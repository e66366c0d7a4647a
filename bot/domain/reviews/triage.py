"""What the triage of a review shows, and what it keeps back and why: a value, without saying where it is shown."""

from bot.domain.messages.message import Link
from bot.domain.reviews.review import triage_line
from bot.domain.reviews.text import Finding, Review, Severity
from bot.domain.values.value import Value

MOST_FINDINGS = 5
NOT_OURS = "Only the line is shown: the rest is for those who open the review."


class Triage(Value):
    """*number* is the iteration of the review. Names are text: nobody is called by them."""

    line: str
    title: str
    number: int
    reviewers: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


def triage(
    review: Review, *, number: int, links: tuple[Link, ...] = (), least: Severity = Severity.CRITICAL
) -> Triage:
    """Findings of severity *least* and worse, as many as people read at a glance."""
    severe = [one for one in review.findings if one.severity.rank <= least.rank]
    return Triage(
        line=review.meta.line,
        title=review.title,
        number=number,
        reviewers=tuple(opinion.by for opinion in review.opinions),
        findings=tuple(severe[:MOST_FINDINGS]),
        missing=review.missing,
        hidden=(*_milder(review, least), *_too_many(severe), *review.unseen),
        links=links,
    )


def triage_of_text(
    text: str, *, title: str, number: int, links: tuple[Link, ...] = (), reviewers: tuple[str, ...] = ()
) -> Triage:
    """Of a review that somebody else wrote: it may hold anything, so only its line is shown."""
    return Triage(
        line=triage_line(text),
        title=title,
        number=number,
        reviewers=reviewers,
        hidden=(NOT_OURS,),
        links=links,
    )


def _milder(review: Review, least: Severity) -> tuple[str, ...]:
    shown = " and ".join(one for one in Severity if one.rank <= least.rank)
    return tuple(
        f"{_counted(count, severity)} hidden: only {shown} ones are shown here."
        for severity in Severity
        if severity.rank > least.rank and (count := sum(one.severity is severity for one in review.findings))
    )


def _too_many(severe: list[Finding]) -> tuple[str, ...]:
    left = len(severe) - MOST_FINDINGS
    return (f"{left} more are hidden: {MOST_FINDINGS} are shown at most.",) if left > 0 else ()


def _counted(count: int, severity: Severity) -> str:
    return f"1 {severity} finding is" if count == 1 else f"{count} {severity} findings are"
