"""The sentences about a review: in the triage channel, in the item's thread, and for the person who asked."""

from collections.abc import Iterable, Sequence

from bot.domain.messages import menus
from bot.domain.messages.message import Choice, Link, Message
from bot.domain.reviews.notice import Notice, ReviewEntry
from bot.domain.values.text import one_line

TITLE_CHARS = 120
NAME_CHARS = 100
SENTENCE_CHARS = 300
URL_CHARS = 1_000
MOST_SENTENCES = 8
MOST_NAMES = 8
WHOLE_CHARS = 12_000
"""Of a review that one person reads: a few messages."""
NOBODY_SAYS = "The review does not name its reviewers."


def notice(of: Notice, links: tuple[Link, ...] = ()) -> Message:
    """One message for one post: the newest review's line first, then what is behind it, then the ones before."""
    newest = of.newest
    assert newest, "there is nothing to show yet"
    rows = [
        newest.line,
        f"**{title_of(of)}** (`{of.slug}`), review {newest.number}. {_by(newest)}",
        *filter(None, [_sentence(newest.sentence)]),
        *_bullets("Besides", newest.hidden),
        *_before(of.entries[:-1]),
    ]
    short = tuple(link for link in links if len(link.url) <= URL_CHARS)
    return Message(text="\n".join(rows), note=f"`{newest.path}`", links=short)


def details(
    of: Notice, entries: Iterable[ReviewEntry], *, more: int = 0, links: tuple[Link, ...] = ()
) -> Message:
    """In the thread of the item: one line for each, with a button for all that it found."""
    shown = tuple(entries)
    rest = [f"And {more} more came in. `read` shows the newest one."] if more else []
    refused = f"The line is not in the triage channel: {_sentence(of.refused)}" if of.refused else ""
    return Message(
        text="\n".join([*(f"**Review {one.number}**: {one.line}. {_by(one)}" for one in shown), *rest]),
        choices=tuple(_reading(of.slug, entry, alone=len(shown) == 1) for entry in shown),
        note=refused,
        links=links,
    )


def whole(title: str, number: int, text: str, path: str) -> Message:
    """For one person, who asked for it. The text may be anybody's."""
    cut = len(text) > WHOLE_CHARS
    note = f"`{path}`" + (" has the rest." if cut else "")
    head = f"**Review {number} of {one_line(title, TITLE_CHARS)}**"
    return Message(text=f"{head}\n\n{text[:WHOLE_CHARS]}", note=note)


def no_such_review(title: str, number: int, known: Sequence[int]) -> str:
    of = one_line(title, TITLE_CHARS)
    if not known:
        return f"There is no review of **{of}** yet. `review` asks for one."
    return f"There is no review {number} of **{of}**. The newest ones are {known[0]} to {known[-1]}."


def held_elsewhere(slug: str) -> str:
    return f"The reviews of `{slug}` are read in its own channel. Ask me there."


def taken_away() -> Message:
    return Message(text="The reviews of this item are shown in its own channel now.")


def under_way(of: str, names: Iterable[str]) -> Message:
    return Message(
        text=f"{listed(names)} will review **{one_line(of, TITLE_CHARS)}**. The review will be posted in the "
        "thread of the item. Its line is also posted in the triage channel, unless the item is private. A review "
        "decides nothing."
    )


def not_made(of: Notice, sentence: str) -> str:
    return f"No review of **{title_of(of)}** was made: {_sentence(sentence)}"


def not_kept(of: Notice, sentence: str) -> str:
    return f"The review of **{title_of(of)}** could not be kept: {_sentence(sentence)}"


def kept_later(of: Notice, sentence: str) -> str:
    return f"{not_kept(of, sentence)} I keep trying."


def late(who: str, seconds: float) -> str:
    return f"{_name(who)} did not answer within {seconds:.0f} s, so the review has nothing from them."


def broken(who: str, why: str = "Something went wrong. It is in the log.") -> str:
    return f"{_name(who)} could not review it: {_sentence(why)}"


def title_of(of: Notice) -> str:
    return one_line(of.title, TITLE_CHARS) or of.slug


def listed(names: Iterable[str]) -> str:
    told = [_name(name) for name in names]
    if len(told) > MOST_NAMES:
        told = [*told[:MOST_NAMES], f"{len(told) - MOST_NAMES} more"]
    *most, last = told or ["No persona"]
    return f"{', '.join(most)} and {last}" if most else last


def _reading(slug: str, entry: ReviewEntry, *, alone: bool) -> Choice:
    label = menus.FINDINGS.label if alone else f"Read {entry.number}…"
    return menus.FINDINGS.but(label=label, value=f"{slug} {entry.number}")


def _by(entry: ReviewEntry) -> str:
    if entry.by_rule:
        return f"No persona reviewed it. Gaps are listed by lead: {listed(entry.reviewers)}."
    return f"Reviewed by {listed(entry.reviewers)}." if entry.reviewers else NOBODY_SAYS


def _bullets(heading: str, sentences: tuple[str, ...]) -> Iterable[str]:
    if sentences and heading:
        yield f"{heading}:"
    yield from (f"- {_sentence(one)}" for one in sentences[:MOST_SENTENCES])
    if (left := len(sentences) - MOST_SENTENCES) > 0:
        yield f"- and {left} more, in the review."


def _before(entries: Iterable[ReviewEntry]) -> Iterable[str]:
    earlier = [f"- {entry.number}: {entry.line}" for entry in reversed(tuple(entries))]
    if earlier:
        yield from ("Before:", *earlier)


def _name(name: str) -> str:
    return one_line(name, NAME_CHARS) or "A reviewer"


def _sentence(text: str) -> str:
    return one_line(text, SENTENCE_CHARS)
