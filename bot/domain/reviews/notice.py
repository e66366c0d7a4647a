"""
The notice of an item: the one message about its reviews in the triage channel, with an outbox of its own.

It is a value beside the roundtable. A review needs no roundtable and changes none: nothing here knows a stage, a step
or meta.json, and of a review only the sentences that are shown.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from bot.domain.values.places import Person, Place
from bot.domain.values.value import Stored

ENTRIES_KEPT = 6
KEYS_REMEMBERED = 256


class ReviewEntry(Stored):
    """
    A review as it is shown. *number* is its iteration, and 0 until it is kept. *sentence* is shown of it besides
    the line, *hidden* what is not. *by_rule*: a rule listed gaps, and *reviewers* lead the steps with them.
    """

    number: int = 0
    path: str = ""
    line: str
    reviewers: tuple[str, ...] = ()
    sentence: str = ""
    hidden: tuple[str, ...] = ()
    by_rule: bool = False


# --- effects ----------------------------------------------------------------------------------------------------------


class _Effect(Stored):
    """`attempts` counts how often it was begun; `attempted_at` and `attempted_by` are of the last time."""

    id: str = ""
    attempts: int = 0
    attempted_at: str = ""
    attempted_by: str = ""


class _Asked(_Effect):
    """For a *person* who asked for a review. *place* is where that was, and where a failure is told."""

    person: Person
    place: Place
    reply_url: str = ""

    @property
    def asker(self) -> dict[str, Any]:
        return {"person": self.person, "place": self.place, "reply_url": self.reply_url}


class MakeReview(_Asked):
    """Ask the personas for a review."""

    kind: Literal["make"] = "make"
    personas: tuple[str, ...]
    at: str


class KeepReview(_Asked):
    """
    Save *content* as the item's next review. It is the same review however often this is begun. *told*: the person who
    asked knows that it takes longer.
    """

    kind: Literal["keep"] = "keep"
    content: str
    entry: ReviewEntry
    told: bool = False


class ShowNotice(_Effect):
    """Post the notice, or edit it."""

    kind: Literal["show"] = "show"


class TellThread(_Effect):
    """
    The details, in the item's thread; *more* counts reviews beyond *entries*. *look*: they may be there already, and
    the store has lost that.
    """

    kind: Literal["details"] = "details"
    entries: tuple[ReviewEntry, ...]
    more: int = 0
    look: bool = False


class TellPerson(_Asked):
    """What became of a request, for the person who asked."""

    kind: Literal["tell"] = "tell"
    sentence: str


Owed = Annotated[MakeReview | KeepReview | ShowNotice | TellThread | TellPerson, Field(discriminator="kind")]


# --- inputs -----------------------------------------------------------------------------------------------------------


class _Happened(Stored):
    at: str


class AskReview(_Happened):
    """A person wants a review by *personas*."""

    key: str
    title: str
    personas: tuple[str, ...]
    person: Person
    place: Place
    reply_url: str = ""


class Arrived(_Happened):
    """A review that we did not make is kept: *entry* has its number. *channel* is for an item that has none."""

    title: str
    entry: ReviewEntry
    channel: str = ""


class _Outcome(_Happened):
    effect: str


class NoticeAttempted(_Outcome):
    """
    Saved before an effect is begun, so that the next process looks first after a crash. *attempts* is how often it had
    been begun before; of two processes that save the same, the second is too late.
    """

    attempts: int
    by: str


class ReviewMade(_Outcome):
    content: str
    entry: ReviewEntry


class ReviewKept(_Outcome):
    number: int
    path: str


class Stands(_Outcome):
    """The notice is shown; with an empty *channel* there is no channel to show it in."""

    channel: str = ""
    ts: str = ""


class Gone(_Outcome):
    """The notice was deleted: it has to be posted again."""


class ThreadTold(_Outcome):
    pass


class Delayed(_Outcome):
    """A review cannot be kept for now. The effect stays in the outbox: no review is lost."""

    sentence: str


class NoticeFailed(_Outcome):
    """An effect was refused for good. *sentence* is for people."""

    sentence: str


Outcome = NoticeAttempted | ReviewMade | ReviewKept | Stands | Gone | ThreadTold | Delayed | NoticeFailed
Happened = AskReview | Arrived | Outcome


# --- the aggregate ----------------------------------------------------------------------------------------------------


class Notice(Stored):
    """
    `channel` and `ts` are where it is shown. `entries` are the newest reviews, in the order of their numbers.
    `lost_up_to` is the last review that existed when this value began: the store may have lost what was posted of it,
    so Slack is searched first; `searched` says that the notice was searched for. `asked_in` is the channel of the
    request, for an item without one. `refused` says why it is not shown. `now` is the time of the last input.
    """

    shape: int = 1
    version: int = 0
    now: str = ""
    slug: str
    title: str = ""
    channel: str = ""
    ts: str = ""
    searched: bool = False
    lost_up_to: int = 0
    asked_in: str = ""
    refused: str = ""
    entries: tuple[ReviewEntry, ...] = ()
    sequence: int = 0
    outbox: tuple[Owed, ...] = ()
    seen: tuple[str, ...] = ()

    @property
    def next_effect(self) -> Owed | None:
        return self.outbox[0] if self.outbox else None

    @property
    def newest(self) -> ReviewEntry | None:
        return self.entries[-1] if self.entries else None

    def knows(self, number: int) -> bool:
        """Whether the review *number* was shown."""
        last = self.newest.number if self.newest else 0
        return f"review.{number}" in self.seen or number <= last - KEYS_REMEMBERED

    def knowing(self, key: str) -> "Notice":
        return self.but(seen=(*self.seen, key)[-KEYS_REMEMBERED:])

    def queueing(self, *effects: Owed) -> "Notice":
        """With *effects* at the end of the outbox, each with an id of its own."""
        notice = self
        for effect in effects:
            sequence = notice.sequence + 1
            pending = effect.but(id=f"review.{self.slug}.{sequence}")
            notice = notice.but(sequence=sequence, outbox=(*notice.outbox, pending))
        return notice

    def replacing(self, effect: Owed, *others: Owed) -> "Notice":
        """*others* in the place of *effect*, each with an id of its own."""
        rest = tuple(one for one in self.outbox if one.id != effect.id)
        queueing = self.but(outbox=()).queueing(*others)
        return queueing.but(outbox=(*queueing.outbox, *rest))

    def showing(self, entry: ReviewEntry) -> "Notice":
        """With *entry* among the newest, in order."""
        others = (one for one in self.entries if one.number != entry.number)
        entries = tuple(sorted((*others, entry), key=lambda one: one.number))
        return self.but(entries=entries[-ENTRIES_KEPT:])
