"""What people are shown of a review at a glance, in the notice and in the thread."""

from collections.abc import Iterable

from bot.domain.reviews.notice import ReviewEntry
from bot.domain.reviews.review import triage_line
from bot.domain.reviews.text import Finding, FindingSeverity, Review
from bot.domain.specification.citations import CodeCitation
from bot.domain.values.text import counted

MOST_FINDINGS = 5
NOT_OURS = "Only the line is shown: the rest is for those who open the review."


def entry_of(review: Review) -> ReviewEntry:
    """The critical findings, as many as people read at a glance. What is hidden is counted."""
    critical = [one for one in review.findings if one.severity is FindingSeverity.CRITICAL]
    left = len(critical) - MOST_FINDINGS
    too_many = (f"{left} more are hidden: {MOST_FINDINGS} are shown at most.",) if left > 0 else ()
    return ReviewEntry(
        line=review.line,
        reviewers=tuple(one.by for one in review.opinions if one.judged or review.is_by_rule),
        by_rule=review.is_by_rule,
        findings=(
            *filter(None, [review.coverage]),
            *(f"**{one.severity}** `{one.place}`: {_told(one)}" for one in critical[:MOST_FINDINGS]),
        ),
        missing=review.missing,
        hidden=(*_milder(review), *too_many, *review.unseen),
    )


def entry_of_text(text: str, *, number: int, path: str, reviewers: tuple[str, ...] = ()) -> ReviewEntry:
    """Of a review that we did not make: it may hold anything, so only its line is shown."""
    return ReviewEntry(
        number=number, path=path, line=triage_line(text), reviewers=reviewers, hidden=(NOT_OURS,)
    )


def _told(one: Finding) -> str:
    """With the code that it rests on, without the commit: the review has the whole id."""
    cited = [code.label for source in one.sources if (code := CodeCitation.read(source))]
    mark = [f"unverified: {one.unverified}"] if one.unverified else []
    return one.text + (f" ({'; '.join((*cited, *mark))})" if cited or mark else "")


def _milder(review: Review) -> Iterable[str]:
    if count := sum(len(opinion.gaps) for opinion in review.opinions):
        yield f"{counted(count, 'gap')} in the specification: listed in the review."
    for severity in (FindingSeverity.MAJOR, FindingSeverity.MINOR):
        if count := sum(one.severity is severity for one in review.findings):
            found = f"1 {severity} finding is" if count == 1 else f"{count} {severity} findings are"
            yield f"{found} hidden: only critical ones are shown here."
