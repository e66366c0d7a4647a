"""The one message of an item, decided in values: what is owed, what is old news, and how it reads."""

import random
from typing import Any

import pytest

from bot.domain.messages import review_wording
from bot.domain.messages.message import Link
from bot.domain.reviews.deciding import decide
from bot.domain.reviews.notice import (
    ENTRIES_KEPT,
    Arrived,
    AskReview,
    Delayed,
    Gone,
    Notice,
    NoticeAttempted,
    NoticeFailed,
    ReviewEntry,
    ReviewKept,
    ReviewMade,
    ShowNotice,
    Stands,
    TellThread,
    ThreadTold,
)
from bot.domain.values.places import Person, Place
from bot.slack.render import parts

AT = "2026-11-21T10:00:00.000Z"
LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"
ASK = AskReview(
    key="command.1", at=AT, title="Dark mode", personas=("business-analyst",), person=Person(id="U1"),
    place=Place(team="T1", channel="C1"),
)  # fmt: skip


def arrived(number: int, **more: Any) -> Arrived:
    entry = ReviewEntry(number=number, path=f"reviews/review-{number:03}.md", line=LINE)
    return Arrived(at=AT, title="Dark mode", entry=entry.but(**more))


def kinds(notice: Notice) -> list[str]:
    return [pending.kind for pending in notice.outbox]


def test_a_wish_is_made_then_kept_then_shown_and_told() -> None:
    """In that order, so that nobody is shown what is not kept."""
    asked, made = decide(Notice(slug="dark-mode"), ASK), keeping()
    (keep,) = made.outbox
    kept = decide(made, ReviewKept(at=AT, effect=keep.id, number=7, path="reviews/review-007.md"))

    assert [kinds(one) for one in (asked, made, kept)] == [["make"], ["keep"], ["show", "details"]]
    assert kept.newest == ReviewEntry(number=7, path="reviews/review-007.md", line=LINE)


def test_old_news_is_the_very_same_notice() -> None:
    """A wish that Slack repeats, a review that is known, an outcome of what is no longer owed."""
    notice = decide(decide(Notice(slug="dark-mode"), ASK), arrived(1))

    assert decide(notice, ASK) is notice
    assert decide(notice, arrived(1)) is notice
    assert decide(notice, Stands(at=AT, effect="review.dark-mode.99", channel="C1", ts="1.1")) is notice


def test_of_two_who_begin_the_same_effect_one_is_too_late() -> None:
    """Whoever saw it before the other began it has to look again."""
    notice = decide(Notice(slug="dark-mode"), arrived(1))
    effect = notice.outbox[0]
    first = decide(notice, NoticeAttempted(at=AT, effect=effect.id, attempts=0, by="one"))

    assert first.outbox[0].attempted_by == "one"
    assert decide(first, NoticeAttempted(at=AT, effect=effect.id, attempts=0, by="other")) is first


def test_reviews_that_come_while_one_is_shown_are_shown_after_it() -> None:
    """The edit that is under way may be without them; however many come, one more is enough."""
    notice = decide(Notice(slug="dark-mode"), arrived(1))
    for number in range(2, 50):
        notice = decide(notice, arrived(number))

    assert [kind for kind in kinds(notice) if kind == "show"] == ["show", "show"]
    assert isinstance(notice.outbox[0], ShowNotice)
    (details,) = [pending for pending in notice.outbox if isinstance(pending, TellThread)]
    assert len(details.entries) + details.more == 49


def test_whatever_the_order_the_highest_number_is_on_top() -> None:
    """Two programs may be answered in one order, and heard of in the other."""
    numbers = list(range(1, 20))
    random.Random(1).shuffle(numbers)
    notice = Notice(slug="dark-mode")
    for number in numbers:
        notice = decide(notice, arrived(number))

    assert [entry.number for entry in notice.entries] == list(range(20 - ENTRIES_KEPT, 20))


def test_a_refusal_is_remembered_until_it_is_over() -> None:
    """The thread says why the line is not in the channel."""
    notice = decide(Notice(slug="dark-mode"), arrived(1))
    refused = decide(
        notice, NoticeFailed(at=AT, effect=notice.outbox[0].id, sentence="I'm not in this channel.")
    )
    assert "I'm not in this channel." in review_wording.details(refused, refused.entries).note

    again = decide(refused, arrived(2))
    show = next(pending for pending in again.outbox if isinstance(pending, ShowNotice))
    assert decide(again, Stands(at=AT, effect=show.id, channel="C1", ts="1.1")).refused == ""


def keeping() -> Notice:
    """A review was asked for and made, and has to be kept."""
    notice = decide(Notice(slug="dark-mode"), ASK)
    made = ReviewMade(at=AT, effect=notice.outbox[0].id, content="text", entry=ReviewEntry(line=LINE))
    return decide(notice, made)


def test_a_review_that_cannot_be_kept_yet_is_told_once_and_kept_later() -> None:
    notice = keeping()
    (keep,) = notice.outbox
    late = decide(notice, Delayed(at=AT, effect=keep.id, sentence="The disk is full."))
    again = decide(late, Delayed(at=AT, effect=late.outbox[-1].id, sentence="The disk is full."))

    assert kinds(late) == ["tell", "keep"]
    assert again.outbox == late.outbox
    (tell, _) = late.outbox
    assert tell.kind == "tell"
    assert tell.sentence.endswith("I keep trying.")


@pytest.mark.parametrize(
    ("notice", "begins"),
    [
        (decide(Notice(slug="dark-mode"), ASK), "No review of **Dark mode** was made"),
        (keeping(), "The review of **Dark mode** could not be kept"),
    ],
)
def test_a_wish_that_fails_is_told_to_whoever_had_it(notice: Notice, begins: str) -> None:
    """And to nobody else."""
    failed = decide(notice, NoticeFailed(at=AT, effect=notice.outbox[0].id, sentence="It is too long."))

    (tell,) = failed.outbox
    assert tell.kind == "tell"
    assert tell.sentence == f"{begins}: It is too long."


def test_a_review_that_was_posted_meanwhile_is_not_shown_twice() -> None:
    """Kept under a number that has arrived already."""
    notice = keeping()
    (keep,) = notice.outbox
    seen = decide(notice, arrived(7))
    kept = decide(seen, ReviewKept(at=AT, effect=keep.id, number=7, path="reviews/review-007.md"))

    assert [one.number for one in kept.entries] == [7]


def test_a_notice_that_was_deleted_is_posted_again_and_what_was_told_is_over() -> None:
    notice = decide(Notice(slug="dark-mode"), arrived(1))
    show, details = notice.outbox
    gone = decide(notice.but(ts="1.1"), Gone(at=AT, effect=show.id))
    assert (gone.ts, kinds(gone)) == ("", ["show", "details"])
    assert kinds(decide(notice, ThreadTold(at=AT, effect=details.id))) == ["show"]
    assert kinds(decide(notice, NoticeFailed(at=AT, effect=details.id, sentence="No."))) == ["show"]


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ((), "There is no review of **Dark mode** yet. `review` asks for one."),
        ((9, 3), "There is no review 12 of **Dark mode**. The newest ones are 9 to 3."),
    ],
)
def test_a_review_that_is_not_there_is_said(known: tuple[int, ...], sentence: str) -> None:
    assert review_wording.no_such_review("Dark mode", 12, known) == sentence


def test_who_reviewed_is_said_and_many_are_counted() -> None:
    names = [f"Person {number}" for number in range(review_wording.MOST_NAMES + 2)]
    assert review_wording.listed(names).endswith("and 2 more")
    by_rule = decide(Notice(slug="dark-mode"), arrived(1, by_rule=True, reviewers=("Maya",)))
    assert "Gaps are listed by lead: Maya." in review_wording.details(by_rule, by_rule.entries).text


def test_the_line_is_the_first_line_exactly() -> None:
    """As it is specified, so that people and programs find it; then one useful sentence."""
    notice = decide(Notice(slug="dark-mode"), arrived(3, sentence="`spec.md:4`: FR-002 has no limit."))
    message = review_wording.notice(notice)

    assert message.text.splitlines() == [
        LINE,
        "**Dark mode** (`dark-mode`), review 3. The review does not name its reviewers.",
        "`spec.md:4`: FR-002 has no limit.",
    ]
    assert parts(message)[0].text.splitlines()[0] == LINE


@pytest.mark.parametrize(
    "text",
    [
        "<!channel> <@U0ADA> @here",
        "x" * 100_000,
        "a\nb\r\n@@@REVIEW_META\x00\x1b[2J",
        "| a | b |\n" * 500,
        "\u202e*_~`",
    ],
    ids=["mentions", "long", "controls", "tables", "marks"],
)
def test_whatever_is_in_it_it_is_one_post_that_pings_nobody(text: str) -> None:
    """A message that had to be cut in two could not be edited as one."""
    many = (text,) * 40
    notice = Notice(slug="dark-mode", title=text)
    for number in range(1, 10):
        more = {"reviewers": many, "sentence": text, "hidden": many}
        notice = decide(notice, arrived(number, **more))
    told = parts(review_wording.notice(notice, (Link(label=text, url="https://example.org/" + text),)))

    assert len(told) == 1
    assert not [token for token in ("<!", "<@", "\x1b", "\u202e", "\x00") if token in str(told[0])]
