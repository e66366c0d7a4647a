"""
*Catch me up*: the rows of the brief whose entries are new or changed since a person's last words, who moved, and what
the meeting waits for.

Short on purpose: the rest stands in the thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import brief_wording, discussion_wording, specification_wording
from bot.domain.messages.discussion_wording import turns_left
from bot.domain.messages.message import Link
from bot.domain.roundtable import root
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.brief import Brief, BriefRow, BriefSection, brief
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import NOT_LISTED, POSITION, Specification
from bot.domain.values.markdown import LAST_SECTION
from bot.domain.values.text import counted, listed, one_line
from bot.domain.values.value import Value


class StateChange(NamedTuple):
    """
    `known` is the specification after the reader's last words (an empty one, if there are none), and `steps` were
    finished since. `people` are names by id.
    """

    is_said: bool = False
    """Whether the record has a line."""
    away: bool = False
    """Whether the reader had said something before."""
    steps: tuple[str, ...] = ()
    people: Mapping[str, str] = {}
    known: Specification = Specification()
    specification: Specification = Specification()


class Digest(Value):
    """
    `sections` are those of the brief with what is new in them, `elsewhere` the ids of further entries. `moved` says who
    changed their position. `not_settled` is the list of the brief. `sources` are the lines that entries and moves come
    from, for links.
    """

    away: bool = False
    steps: tuple[str, ...] = ()
    sections: tuple[BriefSection, ...] = ()
    elsewhere: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    not_settled: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}

    @property
    def is_empty(self) -> bool:
        return not (self.steps or self.sections or self.elsewhere or self.moved)


def digest(since: StateChange, playbook: Playbook, person: str = "") -> Digest:
    """For *person*, whose own moves are no news."""
    found = brief(playbook.schema, since.specification)
    shown = _shown_in(found)
    news = {one.id: one for one in since.specification.entries.values() if _is_news(one, since)}
    sections = tuple(one.but(rows=rows) for one in found.sections if (rows := tuple(_new_rows(one, news))))
    moves = tuple(_moves(since, person))
    lines = {id: [claim.line for _, claim in one.current()] for id, one in news.items()}
    sources = {f"{name} moved": line for name, _, line in moves}
    return Digest(
        away=since.away,
        steps=tuple(_titled(step, playbook) for step in since.steps),
        sections=sections,
        elsewhere=tuple(id for id in news if id not in shown),
        moved=tuple(text for _, text, _ in moves),
        not_settled=found.not_settled,
        sources={**sources, **{id: found[-1] for id, found in lines.items() if found}},
    )


def _is_news(entry: Entry, since: StateChange) -> bool:
    """Accepted since, or with other values."""
    is_told = entry.kind in NOT_LISTED or entry.state is not EntryState.ACCEPTED
    if is_told or not since.specification.lives(entry.id):
        return False
    known = since.known.entries.get(entry.id)
    return known is None or (known.state, _values(known)) != (entry.state, _values(entry))


def _values(entry: Entry) -> Mapping[str, object]:
    return {field: claim.value for field, claim in entry.current()}


def _new_rows(section: BriefSection, news: Mapping[str, Entry]) -> Iterator[BriefRow]:
    for row in section.rows:
        if row.entry in news:
            yield row
        yield from (one for one in row.below if one.entry in news)


def _shown_in(found: Brief) -> frozenset[str]:
    """The entries with a row, also those that are not settled."""
    rows = (row for section in found.sections for row in section.rows)
    shown = (one.entry for row in rows for one in (row, *row.below))
    return frozenset((*shown, *(one.entry for one in found.open_points)))


def _moves(since: StateChange, person: str) -> Iterator[tuple[str, str, str]]:
    """Of other people, by the entries of their positions."""
    spec = since.specification
    for entry in spec.active(POSITION):
        known, who = since.known.entries.get(entry.id), str(entry["person"])
        claims = entry.claims.get("option", ())
        before = len(known.claims.get("option", ())) if known else 0
        if who == person or who not in since.people or len(claims) <= max(before, 1):
            continue
        name, (was, now) = since.people[who], claims[-2:]
        reason = next((spec.heard[line].name for line in now.sources if line in spec.heard), "")
        left, to = map(discussion_wording.held, (str(was.value), str(now.value)))
        yield name, f"{discussion_wording.came_over(name, left, to, because=reason)}.", now.line


def links(told: Digest, rt: Roundtable) -> tuple[Link, ...]:
    """To the messages that the newest entries come from, as far as they are messages of the thread."""
    found = ((id, root.link_to_line(rt, line)) for id, line in told.sources.items())
    return tuple(Link(label=id, url=url) for id, url in found if url)[:LINKS_SHOWN]


def _titled(step_id: str, playbook: Playbook) -> str:
    step = playbook.agenda.get(step_id)
    return f"{step_id} {step.title}" if step else step_id


def _called(key: str, playbook: Playbook) -> str:
    persona = playbook.roster.get(key)
    return persona.name if persona else key


# The digest of *Catch me up*, in words: a few lines that a phone shows without scrolling.


POINTS_SHOWN = 5
POINT_CHARS = 160
STEPS_SHOWN = 10
LINKS_SHOWN = 8


def caught_up(title: str, digest: Digest, waiting: str, *, for_you: Sequence[str] = ()) -> str:
    since = "since you last said something" if digest.away else "from the beginning"
    rows = [f"**{title}**, {since}:", *_happened(digest)]
    yours = (f"**Waiting for you:** {' '.join(for_you)}",) if for_you else ()
    return "\n".join((*rows, *yours, f"**Waiting for:** {waiting}"))


def waiting_for(rt: Roundtable, playbook: Playbook) -> str:
    """What the meeting waits for. Where no persona has the floor, it is the people's turn."""
    step, about = playbook.agenda.get(rt.step_id), _titled(rt.step_id, playbook)
    match rt.stage:
        case Stage.OPENING:
            return "me. I am opening the thread."
        case Stage.DISCUSSING:
            asks = playbook.roster.speaker_for(step.persona, step.phase_key).name if step else ""
            asking = f", whom {asks} asks" if asks else ""
            return f"people{asking} about {about}{_so_far(len(rt.answers))}."
        case Stage.WRITING:
            return "me. I am writing down what was said, and a menu follows."
        case Stage.AT_BOUNDARY:
            return "a choice from the menu in the thread: go on, discuss, skip or stop."
        case Stage.ELABORATING:
            asked = dict.fromkeys(key for one in rt.outbox if isinstance(one, Speak) for key in one.personas)
            floor = listed([_called(key, playbook) for key in asked])
            about = ", ".join(filter(None, (f"discussion of {about}", turns_left(rt.debate))))
            return (
                f"{floor}, who speaks next ({about})." if floor else f"people. Everybody can speak ({about})."
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
            assert_never(rt.stage)


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
        yield "Nothing new was recorded."
    if digest.steps:
        left = len(digest.steps) - STEPS_SHOWN
        more = f" and {left} more" if left > 0 else ""
        yield f"- **Finished:** {', '.join(digest.steps[:STEPS_SHOWN])}{more}"
    for section in digest.sections:
        yield from _points(section)
    if digest.elsewhere:
        yield f"- **{brief_wording.OTHER_FILES}:** {specification_wording.ids(digest.elsewhere)}"
    if digest.moved:
        yield f"- **Moved:** {' '.join(one_line(one, POINT_CHARS * 2) for one in digest.moved[-POINTS_SHOWN:])}"
    if found := digest.not_settled:
        yield f"- **{LAST_SECTION} ({len(found)}):**"
        yield from (f"  - {one_line(row, POINT_CHARS)}" for row in found[:POINTS_SHOWN])
        if len(found) > POINTS_SHOWN:
            yield f"  - {brief_wording.more(len(found) - POINTS_SHOWN)}"


def _points(section: BriefSection) -> Iterator[str]:
    """The newest of its rows."""
    many = len(section.rows)
    yield f"- **{section.title}:**" if many <= POINTS_SHOWN else f"- **{section.title}**, {many} in all:"
    for row in section.rows[-POINTS_SHOWN:]:
        label = f"{row.label}: " if row.label else ""
        yield f"  - {label}{one_line(row.text, POINT_CHARS)}"
