"""
*Catch me up*: what has happened in a record since a person's last words, told by two states of one fold.

Short on purpose: what was decided, what is open, and who has to do something next. The rest stands in the thread.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.meta import Record
from bot.domain.messages import brief_wording, discussion_wording
from bot.domain.messages.attribution_wording import attribution_of, attributions
from bot.domain.messages.discussion_wording import turns_left
from bot.domain.messages.message import Link
from bot.domain.roundtable import permalinks
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.brief import brief
from bot.domain.specification.entries import (
    NOT_LISTED,
    POSITION,
    Entry,
    EntryState,
    Specification,
)
from bot.domain.transcript.state import State
from bot.domain.values.markdown import LAST_SECTION
from bot.domain.values.text import counted, listed, one_line
from bot.domain.values.value import Value


class StateChange(NamedTuple):
    """
    The state after the reader's last words (an empty one, if there are none), and the state now. `known` and
    `specification` are the specification at these times.
    """

    before: State
    now: State
    known: Specification = Specification()
    specification: Specification = Specification()


class ToldEntry(NamedTuple):
    text: str
    by: str = ""


class Digest(Value):
    """
    `spoke` are the others, in the order in which they spoke. `changed` are new entries but decisions; `moved` says who
    changed their position in the open discussion. `not_settled` is the list of the brief. `sources` are the lines that
    entries and moves come from, for links.
    """

    away: bool = False
    """Whether the reader had said something before."""
    spoke: Mapping[str, int] = {}
    turns: int = 0
    steps: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    discussed: tuple[Record, ...] = ()
    decisions: tuple[ToldEntry, ...] = ()
    changed: tuple[ToldEntry, ...] = ()
    moved: tuple[str, ...] = ()
    not_settled: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}

    @property
    def is_empty(self) -> bool:
        return not (self.spoke or self.steps or self.phases or self.discussed or self.changed or self.moved)


class WaitingFor(NamedTuple):
    """
    What the meeting waits for: the words of `Stage`, and whose turn it is. `who` are the personas who have the floor or
    asked; if it is empty, it is the people's turn.
    """

    stage: Stage
    step: str = ""
    who: tuple[str, ...] = ()
    answers: int = 0
    turns_left: str = ""


def digest(since: StateChange, playbook: Playbook) -> Digest:
    before, now = since.before, since.now
    return Digest(
        away=bool(before.lines),
        spoke=_spoke(since, playbook),
        turns=_turns(since),
        steps=tuple(
            _titled(step, playbook)
            for step in _new(before.progress.steps_completed, now.progress.steps_completed)
        ),
        phases=_new(before.progress.phases_completed, now.progress.phases_completed),
        discussed=now.progress.elaborations[len(before.progress.elaborations) :],
        decisions=tuple(_decisions(since)),
        changed=tuple(_changed(since)),
        not_settled=brief(playbook.schema, since.specification).not_settled,
        sources=_sources(since),
    )


def with_moves(told: Digest, since: StateChange, person: str) -> Digest:
    """Of other people, by the entries of their positions."""
    found = tuple(_moves(since, person))
    lines = {f"{name} moved": line for name, _, line in found}
    return told.but(moved=tuple(text for _, text, _ in found), sources={**lines, **told.sources})


def _moves(since: StateChange, person: str) -> Iterator[tuple[str, str, str]]:
    names, spec = {one.key: one.name for one in since.now.people}, since.specification
    for entry in spec.active(POSITION):
        known, who = since.known.entries.get(entry.id), str(entry["person"])
        claims, before = entry.claims["option"], len(known.claims["option"]) if known else 0
        if who == person or who not in names or len(claims) <= max(before, 1):
            continue
        was, now = claims[-2:]
        reason = next((spec.heard[line].name for line in now.sources if line in spec.heard), "")
        left, to = map(discussion_wording.held, (str(was.value), str(now.value)))
        yield names[who], discussion_wording.moved_to(names[who], left, to, reason), now.line


def _changed(since: StateChange) -> Iterator[ToldEntry]:
    """What people recorded, besides what has a heading of its own."""
    for entry in since.specification.entries.values():
        known = since.known.entries.get(entry.id)
        is_told = entry.kind in {*LISTED, *NOT_LISTED} or entry.state is not EntryState.ACCEPTED
        if is_told or not since.specification.lives(entry.id) or known == entry:
            continue
        values = {field: claim.value for field, claim in entry.current()}
        if known and values == {field: claim.value for field, claim in known.current()}:
            continue
        text = next((str(value) for value in values.values() if isinstance(value, str)), "")
        yield ToldEntry(f"{entry.id}: {text}", attributions(entry))


def _sources(since: StateChange) -> Mapping[str, str]:
    """Of entries that are new or changed; what was decided comes first."""
    found = [
        one
        for one in since.specification.entries.values()
        if one.kind not in NOT_LISTED and since.known.entries.get(one.id) != one
    ]
    newest = {one.id: [claim.line for _, claim in one.current()] for one in sorted(found, key=_by_weight)}
    return {id: lines[-1] for id, lines in newest.items() if lines}


def _by_weight(entry: Entry) -> int:
    return LISTED.index(entry.kind) if entry.kind in LISTED else len(LISTED)


def links(told: Digest, rt: Roundtable) -> tuple[Link, ...]:
    """To the messages that the newest entries come from, as far as they are messages of the thread."""
    held_in = permalinks.thread(rt.permalink)
    found: list[Link] = []
    for id, line in told.sources.items() if held_in else ():
        channel, _, ts = line.partition(".")
        if held_in and (url := permalinks.of_message(held_in, channel, ts)):
            found.append(Link(label=id, url=url))
    return tuple(found[:LINKS_SHOWN])


def waits(rt: Roundtable, playbook: Playbook) -> WaitingFor:
    step = playbook.agenda.get(rt.step_id)
    about = _titled(rt.step_id, playbook)
    if debate := rt.elaboration:
        asked = dict.fromkeys(key for one in rt.outbox if isinstance(one, Speak) for key in one.personas)
        floor = tuple(_called(key, playbook) for key in asked)
        return WaitingFor(rt.stage, about, floor, turns_left=turns_left(debate))
    asks = (playbook.roster.speaker_for(step.persona, step.phase_key).name,) if step else ()
    return WaitingFor(rt.stage, about, asks, answers=len(rt.answers))


def _spoke(since: StateChange, playbook: Playbook) -> Mapping[str, int]:
    """The host's own lines are no news."""
    earlier = {(one.kind, one.key): one.lines for one in since.before.speakers}
    names = _names(playbook)
    return {
        names.get(one.name, one.name) if one.kind == "persona" else one.name: more
        for one in since.now.speakers
        if one.kind != "host" and (more := one.lines - earlier.get((one.kind, one.key), 0)) > 0
    }


def _turns(since: StateChange) -> int:
    """Of discussions that are over, and of the open one; without those that the reader was there for."""
    before, now = since.before, since.now
    over = [one.turns for one in now.concluded if one.line > before.line]
    running = now.discussion
    begun = before.discussion
    goes_on = begun and (over or (running and running.line == begun.line))
    heard = begun.count if begun and goes_on else 0
    return max(sum(over) + (running.count if running else 0) - heard, 0)


def _new(before: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in now if one not in before)


def _decisions(since: StateChange) -> Iterator[ToldEntry]:
    """Accepted since, or with other words."""
    for one in since.specification.active("decision"):
        known = since.known.entries.get(one.id)
        was_known = known and known.state is EntryState.ACCEPTED and known["text"] == one["text"]
        if one.state is EntryState.ACCEPTED and not was_known:
            yield ToldEntry(f"{one.id}: {one['text']}", attribution_of(one, "text"))


def _names(playbook: Playbook) -> Mapping[str, str]:
    """What people call those whose lines have their actor."""
    return {persona.actor: persona.name for persona in playbook.roster}


def _titled(step_id: str, playbook: Playbook) -> str:
    step = playbook.agenda.get(step_id)
    return f"{step_id} {step.title}" if step else step_id


def _called(key: str, playbook: Playbook) -> str:
    persona = playbook.roster.get(key)
    return persona.name if persona else key


# The digest of *Catch me up*, in words: a few lines that a phone shows without scrolling.


POINTS_SHOWN = 5
POINT_CHARS = 160
NAMES_SHOWN = 6
LINKS_SHOWN = 8
LISTED = ("decision", "question", "objection")
"""The kinds of entries that have a heading of their own, or stand under *Not settled*."""


def caught_up(title: str, digest: Digest, waiting: str, *, for_you: Sequence[str] = ()) -> str:
    since = "since you last said something" if digest.away else "from the beginning"
    rows = [f"**{title}**, {since}:", *_happened(digest)]
    yours = (f"**Waiting for you:** {' '.join(for_you)}",) if for_you else ()
    return "\n".join((*rows, *yours, f"**Waiting for:** {waiting}"))


def waiting_for(waits: WaitingFor) -> str:
    asked = listed(waits.who)
    match waits.stage:
        case Stage.OPENING:
            return "me. I am opening the thread."
        case Stage.DISCUSSING:
            asking = f", whom {asked} asks" if asked else ""
            return f"people{asking} about {waits.step}{_so_far(waits.answers)}."
        case Stage.WRITING:
            return "me. I am writing down what was said, and a menu follows."
        case Stage.AT_BOUNDARY:
            return "a choice from the menu in the thread: go on, discuss, skip or stop."
        case Stage.ELABORATING:
            about = ", ".join(filter(None, (f"discussion of {waits.step}", waits.turns_left)))
            return (
                f"{asked}, who speaks next ({about})." if asked else f"people. Everybody can speak ({about})."
            )
        case Stage.CLOSING:
            return "me. I am closing a phase, and the next one follows."
        case Stage.STALLED:
            return "**Retry** in the thread."
        case Stage.PAUSED:
            return "**Resume** in the thread. The roundtable is stopped."
        case Stage.ANALYSED:
            return "nothing. The item is analysed."
        case _:
            assert_never(waits.stage)


def not_running(slug: str) -> str:
    return f"`/roundtable resume {slug}`. The roundtable is not running."


def held_elsewhere(slug: str) -> str:
    return f"`{slug}` is discussed in another channel. Ask me there."


def nothing_said(title: str) -> str:
    return f"Nothing has been said about **{title}** yet."


def _so_far(answers: int) -> str:
    return f" ({counted(answers, 'answer')} so far; **Finish step** writes them down)" if answers else ""


def _happened(digest: Digest) -> Iterator[str]:
    if digest.is_empty:
        yield "You have not missed anything."
    if digest.spoke:
        yield _voices(digest)
    if digest.steps:
        yield f"- **Finished:** {_shown(digest.steps)}"
    if digest.phases:
        yield f"- **Phases done:** {_shown(digest.phases)}"
    yield from _discussed(digest.discussed)
    yield from _digest_wording_points("Decided", digest.decisions)
    if digest.moved:
        yield f"- **Moved:** {' '.join(one_line(one, POINT_CHARS * 2) for one in digest.moved[-POINTS_SHOWN:])}"
    yield from _digest_wording_points("Recorded", digest.changed)
    if found := digest.not_settled:
        yield f"- **{LAST_SECTION} ({len(found)}):**"
        yield from (f"  - {one_line(row, POINT_CHARS)}" for row in found[:POINTS_SHOWN])
        if len(found) > POINTS_SHOWN:
            yield f"  - {brief_wording.more(len(found) - POINTS_SHOWN)}"


def _voices(digest: Digest) -> str:
    names = [f"{one_line(name, POINT_CHARS)} {lines}" for name, lines in digest.spoke.items()]
    turns = f", {counted(digest.turns, 'turn')} of discussion" if digest.turns else ""
    return f"- **Said:** {_shown(names, NAMES_SHOWN)}{turns}"


def _discussed(records: Sequence[Record]) -> Iterator[str]:
    for one in records[-POINTS_SHOWN:]:
        yield f"- **Discussed** {one.step_id}: {one_line(one.synthesis_summary, POINT_CHARS)}"


def _digest_wording_points(heading: str, points: Sequence[ToldEntry]) -> Iterator[str]:
    """The newest of them."""
    if not points:
        return
    yield f"- **{heading}:**" if len(points) <= POINTS_SHOWN else f"- **{heading}**, {len(points)} in all:"
    for one in points[-POINTS_SHOWN:]:
        by = f" ({one_line(one.by, POINT_CHARS)})" if one.by else ""
        yield f"  - {one_line(one.text, POINT_CHARS)}{by}"


def _shown(names: Iterable[str], most: int = 10) -> str:
    found = list(names)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"{', '.join(found[:most])}{more}"
