"""What people are shown of a review at a glance, in the notice and in the thread."""

from collections.abc import Iterable, Sequence

from bot.domain.reviews.notice import ReviewEntry
from bot.domain.reviews.review import triage_line
from bot.domain.reviews.text import Finding, FindingSeverity, Review
from bot.domain.specification.citations import CodeCitation
from bot.domain.values.text import counted

NOT_OURS = "Only the line is shown: the rest is for those who open the review."


def entry_of(review: Review) -> ReviewEntry:
    """The first critical finding, or what the specification covers; what is not shown is counted."""
    critical = [one for one in review.findings if one.severity is FindingSeverity.CRITICAL]
    told = [_told(one) for one in critical] or [review.coverage]
    return ReviewEntry(
        line=review.line,
        sentence=told[0],
        reviewers=tuple(one.by for one in review.opinions if one.judged or review.is_by_rule),
        by_rule=review.is_by_rule,
        hidden=(
            *_not_shown(review, critical[1:]),
            *(f"Missing {one}" for one in review.missing),
            *review.unseen,
        ),
    )


def entry_of_text(text: str, *, number: int, path: str, reviewers: tuple[str, ...] = ()) -> ReviewEntry:
    """Of a review that we did not make: it may hold anything, so only its line is shown."""
    return ReviewEntry(
        number=number, path=path, line=triage_line(text), reviewers=reviewers, hidden=(NOT_OURS,)
    )


def _told(one: Finding) -> str:
    """With its place, and the code that it rests on without the commit: the review has the whole id."""
    cited = [code.label for source in one.sources if (code := CodeCitation.read(source))]
    mark = [f"unverified: {one.unverified}"] if one.unverified else []
    text = one.text + (f" ({'; '.join((*cited, *mark))})" if cited or mark else "")
    return f"`{one.place}`: {text}"


def _not_shown(review: Review, critical: Sequence[Finding]) -> Iterable[str]:
    if count := sum(len(opinion.gaps) for opinion in review.opinions):
        yield f"{counted(count, 'gap')} in the specification: listed in the review."
    if critical:
        yield f"{counted(len(critical), 'more critical finding')}."
    for severity in (FindingSeverity.MAJOR, FindingSeverity.MINOR):
        if count := sum(one.severity is severity for one in review.findings):
            yield f"{counted(count, f'{severity} finding')}."
