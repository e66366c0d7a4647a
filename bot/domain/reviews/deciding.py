"""`decide` of a notice: the next value with its outbox. An input that changes nothing returns the same object."""

from typing import assert_never

from bot.domain.messages import review_wording
from bot.domain.reviews.notice import (
    Arrived,
    AskReview,
    Delayed,
    Gone,
    Happened,
    KeepReview,
    MakeReview,
    Notice,
    NoticeAttempted,
    NoticeFailed,
    Outcome,
    Owed,
    ReviewEntry,
    ReviewKept,
    ReviewMade,
    ShowNotice,
    Stands,
    TellPerson,
    TellThread,
    ThreadTold,
)

TOLD_ONE_BY_ONE = 5
"""In one message of the thread; when more arrive at once, the rest is counted."""


def decide(notice: Notice, event: Happened) -> Notice:
    after = _decided(notice, event)
    return after if after is notice else after.but(now=event.at)


def _decided(notice: Notice, event: Happened) -> Notice:
    match event:
        case AskReview():
            return _asked(notice, event)
        case Arrived():
            return _arrived(notice, event)
        case _:
            return _settled(notice, event)


def _asked(notice: Notice, wish: AskReview) -> Notice:
    if wish.key in notice.seen:
        return notice
    make = MakeReview(
        personas=wish.personas, person=wish.person, place=wish.place, reply_url=wish.reply_url, at=wish.at
    )
    notice = notice.but(title=wish.title, asked_in=notice.asked_in or wish.place.channel)
    return notice.knowing(wish.key).queueing(make)


def _arrived(notice: Notice, came: Arrived) -> Notice:
    if notice.knows(came.entry.number):
        return notice
    notice = notice.but(title=came.title, asked_in=notice.asked_in or came.channel)
    return _shown(notice, came.entry)


def _settled(notice: Notice, event: Outcome) -> Notice:
    """Ignores outcomes of effects that are no longer in the outbox."""
    effect = next((one for one in notice.outbox if one.id == event.effect), None)
    if effect is None:
        return notice
    match event:
        case NoticeAttempted(attempts=attempts) if attempts != effect.attempts:
            return notice
        case NoticeAttempted(at=at, by=by):
            begun = effect.but(attempts=effect.attempts + 1, attempted_at=at, attempted_by=by)
            return notice.but(outbox=tuple(begun if one is effect else one for one in notice.outbox))
        case ReviewMade(content=content, entry=entry):
            return notice.replacing(effect, _keeping(effect, content, entry))
        case ReviewKept(number=number, path=path):
            return _kept(notice, effect, number=number, path=path)
        case Stands(channel=channel, ts=ts):
            return notice.replacing(effect).but(channel=channel, ts=ts, searched=True, refused="")
        case Gone():
            return notice.replacing(effect, ShowNotice()).but(ts="")
        case ThreadTold():
            return notice.replacing(effect)
        case Delayed(sentence=sentence):
            return _delayed(notice, effect, sentence)
        case NoticeFailed(sentence=sentence):
            return _failed(notice, effect, sentence)
        case _:
            assert_never(event)


def _keeping(effect: Owed, content: str, entry: ReviewEntry) -> KeepReview:
    assert isinstance(effect, MakeReview), "ReviewMade is the outcome of MakeReview"
    return KeepReview(content=content, entry=entry, **effect.asker)


def _kept(notice: Notice, effect: Owed, *, number: int, path: str) -> Notice:
    assert isinstance(effect, KeepReview), "ReviewKept is the outcome of KeepReview"
    notice = notice.replacing(effect)
    if notice.knows(number):
        return notice
    return _shown(notice, effect.entry.but(number=number, path=path))


def _shown(notice: Notice, entry: ReviewEntry) -> Notice:
    """The notice is shown first. An edit that is under way may be without *entry*, so another one follows it."""
    waiting = [one for one in notice.outbox[1:] if not isinstance(one, ShowNotice)]
    notice = (
        notice.knowing(f"review.{entry.number}").showing(entry).but(outbox=(*notice.outbox[:1], *waiting))
    )
    return _telling(notice.queueing(ShowNotice()), entry)


def _telling(notice: Notice, entry: ReviewEntry) -> Notice:
    """A message of details that is not begun yet takes *entry* along."""
    waiting = next((one for one in notice.outbox if isinstance(one, TellThread) and not one.attempts), None)
    if waiting is None:
        return notice.queueing(TellThread(entries=(entry,), look=entry.number <= notice.lost_up_to))
    if len(waiting.entries) < TOLD_ONE_BY_ONE:
        longer = waiting.but(entries=(*waiting.entries, entry))
    else:
        longer = waiting.but(more=waiting.more + 1)
    rest = tuple(one for one in notice.outbox if one is not waiting)
    return notice.but(outbox=(*rest, longer))


def _delayed(notice: Notice, effect: Owed, sentence: str) -> Notice:
    """The person who asked is told once."""
    if not isinstance(effect, KeepReview) or effect.told:
        return notice
    apology = _apology(effect, review_wording.kept_later(notice, sentence))
    return notice.replacing(effect, apology, effect.but(told=True))


def _failed(notice: Notice, effect: Owed, sentence: str) -> Notice:
    match effect:
        case MakeReview():
            return notice.replacing(effect, _apology(effect, review_wording.not_made(notice, sentence)))
        case KeepReview():
            return notice.replacing(effect, _apology(effect, review_wording.not_kept(notice, sentence)))
        case ShowNotice():
            return notice.replacing(effect).but(refused=sentence)
        case TellThread() | TellPerson():
            return notice.replacing(effect)
        case _:
            assert_never(effect)


def _apology(effect: MakeReview | KeepReview, sentence: str) -> TellPerson:
    return TellPerson(sentence=sentence, **effect.asker)
