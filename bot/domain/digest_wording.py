"""The digest of *Catch me up*, in words: a few lines that a phone shows without scrolling."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from bot.domain.digest import Digest, Waits
from bot.domain.progress import Record
from bot.domain.replay_state import Point
from bot.domain.stage import Stage
from bot.domain.text import counted, one_line
from bot.domain.wording import listed

POINTS_SHOWN = 5
POINT_CHARS = 160
NAMES_SHOWN = 6


def caught_up(title: str, digest: Digest, waiting: str) -> str:
    since = "since you last said something" if digest.away else "from the beginning"
    rows = [f"**{title}**, {since}:", *_happened(digest)]
    return "\n".join((*rows, f"**Waiting for:** {waiting}"))


def waiting_for(waits: Waits) -> str:
    asked = listed(waits.who)
    match waits.stage:
        case Stage.OPENING:
            return "me: the thread is just being opened."
        case Stage.DISCUSSING:
            asking = f", whom {asked} asks" if asked else ""
            return f"people{asking} about {waits.step}{_so_far(waits.answers)}."
        case Stage.WRITING:
            return "me: I'm writing a step down, and its menu follows."
        case Stage.AT_BOUNDARY:
            return "anybody who chooses from the menu in the thread: go on, discuss, skip or stop."
        case Stage.ELABORATING:
            turn = f"turn {waits.turn} of {waits.turns} of the discussion of {waits.step}"
            return (
                f"{asked}, who has the floor ({turn})." if asked else f"people: anybody may speak ({turn})."
            )
        case Stage.SYNTHESIZING:
            return "me: I'm putting the discussion together, and a menu follows."
        case Stage.CLOSING:
            return "me: I'm closing a phase, and the next one follows."
        case Stage.PLANNING:
            return f"the planning workshop in the thread{waits.planning and f' ({waits.planning})'}."
        case Stage.STALLED:
            return "somebody who presses **Retry** in the thread."
        case Stage.PAUSED:
            return "somebody who presses **Resume** in the thread; it is stopped."
        case Stage.ANALYSED:
            return "nobody: the item is analysed."
        case _:
            assert_never(waits.stage)


def not_running(slug: str) -> str:
    return f"somebody to say `/roundtable resume {slug}`; it is not running."


def held_elsewhere(slug: str) -> str:
    return f"`{slug}` is held in another channel. Ask me there: what is said there stays there."


def nothing_said(title: str) -> str:
    return f"Nothing has been said about **{title}** yet."


def _so_far(answers: int) -> str:
    return f" ({counted(answers, 'answer')} so far; **Finish step** writes them down)" if answers else ""


def _happened(digest: Digest) -> Iterator[str]:
    if digest.is_empty:
        yield "Nothing new: you have not missed anything."
    if digest.spoke:
        yield _voices(digest)
    if digest.steps:
        yield f"- **Finished:** {_shown(digest.steps)}"
    if digest.phases:
        yield f"- **Phases done:** {_shown(digest.phases)}"
    yield from _discussed(digest.discussed)
    yield from _points("Decided", digest.decisions)
    yield from _points("Open", digest.questions)
    if digest.open_before:
        yield f"- {counted(digest.open_before, 'older question')} still open"
    yield from _points("Objections", digest.objections)


def _voices(digest: Digest) -> str:
    names = [f"{one_line(name, POINT_CHARS)} {lines}" for name, lines in digest.spoke.items()]
    turns = f", {counted(digest.turns, 'turn')} of discussion" if digest.turns else ""
    return f"- **Said:** {_shown(names, NAMES_SHOWN)}{turns}"


def _discussed(records: Sequence[Record]) -> Iterator[str]:
    for one in records[-POINTS_SHOWN:]:
        yield f"- **Discussed** {one.step_id}: {one_line(one.synthesis_summary, POINT_CHARS)}"


def _points(heading: str, points: Sequence[Point]) -> Iterator[str]:
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
