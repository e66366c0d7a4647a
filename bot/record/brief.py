"""
What a roundtable came to, out of its record: decisions with who and why, open questions, objections and what became
of them, positions and who moved, what was skipped, and files that were shared.

Entries of the specification come first. What only a line of an older record says is added to them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.discussion_wording import is_named_alone
from bot.domain.roundtable import permalinks
from bot.domain.specification.entries import Claim, Entry, EntryState, Specification
from bot.domain.transcript.lines import HOST
from bot.domain.transcript.state import PositionChange, RecordedPoint, Speaker, State
from bot.domain.values.text import counted, one_line
from bot.record.reading import RecordEntry, SharedFile

SHOWN_CHARS = 400
DECIDED_BY = "decided by"
"""The fact of a decision; then `by` is who recorded it."""
HOST_NAME = "Roundtable"


class Labels(NamedTuple):
    """What the playbook calls personas, by their actor, and its steps, by id, in order, with their phases."""

    names: Mapping[str, str] = {}
    steps: tuple[tuple[str, str, str], ...] = ()

    def name(self, actor: str) -> str:
        return HOST_NAME if actor == HOST else self.names.get(actor, actor)


NO_LABELS = Labels()


def labels_of(playbook: Playbook) -> Labels:
    names = {one.actor: one.name for one in (*playbook.workshop, *playbook.roster)}
    return Labels(names, tuple((one.step_id, one.title, one.phase_key) for one in playbook.agenda.steps))


class BriefPoint(NamedTuple):
    """
    A decision, a question or an objection. *facts* say more about it, each with what it is (`because`, `owner`);
    *fate* is what became of it. *over* says that it counts no more. *line* is 0 where that is unknown.
    """

    text: str
    by: str = ""
    id: str = ""
    at: str = ""
    line: int = 0
    link: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    fate: str = ""
    over: bool = False


class Holder(NamedTuple):
    """Somebody with a position; *left*: they hold another one by now. *place* tells each holding apart."""

    name: str
    is_person: bool
    left: bool = False


class PositionMove(NamedTuple):
    """*because* are the lines that were named as reasons."""

    by: str
    was: str
    position: str
    line: int
    because: tuple[int, ...] = ()


class Issue(NamedTuple):
    """An issue with its positions, each with those who hold or held it, and the moves between them, in order."""

    title: str
    positions: Mapping[str, tuple[Holder, ...]]
    moves: tuple[PositionMove, ...] = ()

    @property
    def is_disputed(self) -> bool:
        return sum(any(not one.left for one in held) for held in self.positions.values()) > 1


class Brief(NamedTuple):
    decisions: tuple[BriefPoint, ...] = ()
    questions: tuple[BriefPoint, ...] = ()
    objections: tuple[BriefPoint, ...] = ()
    issues: tuple[Issue, ...] = ()
    skipped: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    files: tuple[SharedFile, ...] = ()
    thread: str = ""
    done: str = ""


class Briefing:
    """Looks at each line once (`take`), for where things were said; then there is the brief."""

    def __init__(self, state: State, specification: Specification, labels: Labels) -> None:
        self._state = state
        self._spec = specification
        self._labels = labels
        self._lines: dict[str, RecordEntry] = {}
        self._files: dict[str, SharedFile] = {}
        thread = permalinks.thread(state.permalink)
        self._host = thread[1] if thread else ""
        self._people = {one.key: one.name for one in state.people}
        self._wanted = {
            claim.line
            for entry in specification.entries.values()
            if entry.kind in _POINTS
            for _, claim in entry.current()
        }

    def take(self, entry: RecordEntry) -> None:
        if entry.message_id and entry.message_id in self._wanted:
            self._lines.setdefault(entry.message_id, entry._replace(text=""))
        for one in entry.files:
            ours = bool(self._host) and one.link.startswith(f"{self._host}/")
            self._files.setdefault(one.id or one.name, one if ours else one._replace(link=""))

    def brief(self) -> Brief:
        state = self._state
        done = set(state.progress.steps_completed)
        left = [one for one in self._labels.steps if one[0] not in done]
        skipped, unreached = (
            tuple(
                f"{id} {title}"
                for id, title, phase in left
                if (phase in state.progress.phases_completed) is over
            )
            for over in (True, False)
        )
        return Brief(
            decisions=self._points("decision", state.decisions, self._decision),
            questions=self._points("question", state.questions, self._question),
            objections=self._points("objection", state.objections, self._objection),
            issues=tuple(self._issues()),
            skipped=skipped,
            unreached=unreached,
            files=tuple(self._files.values()),
            thread=state.permalink if self._host else "",
            done=f"{len(done)} of {counted(len(self._labels.steps), 'step')} done"
            if self._labels.steps
            else "",
        )

    # --- points -------------------------------------------------------------------------------------------------------

    def _points(
        self, kind: str, told: Iterable[RecordedPoint], point: Callable[[Entry], BriefPoint | None]
    ) -> tuple[BriefPoint, ...]:
        entries = [one for one in self._spec.entries.values() if one.kind == kind and one["text"]]
        found = [shown for one in entries if (shown := point(one))]
        known = {_key(str(one["text"])) for one in entries}
        for one in told:
            # a synthesis says "X: why", "X: asked by Ada", "X: open" about what has an entry
            if known.isdisjoint({_key(one.text), _key(one.text.rpartition(": ")[0] or one.text)}):
                known.add(_key(one.text))
                found.append(BriefPoint(one.text, by=self._labels.name(one.by), line=one.line))
        return tuple(sorted(found, key=lambda one: one.over))

    def _decision(self, entry: Entry) -> BriefPoint | None:
        deciders, claim = tuple(map(str, entry["deciders"] or ())), entry.claim("text")
        recorder = (claim.accepted or claim.proposed).name if claim else ""
        facts = [
            (DECIDED_BY, "" if is_named_alone(recorder, deciders) else entry["deciders"]),
            ("because", entry["reason"]),
            ("replaces", entry["replaces"]),
            ("turned down", entry["rejected"]),
        ]
        return self._point(entry, facts)

    def _question(self, entry: Entry) -> BriefPoint | None:
        if entry["answer"] or entry.gone:
            return None
        owner = str(entry["owner"] or "")
        named = self._people.get(owner.strip("<@>"), owner)
        return self._point(entry, [("owner", named or "nobody yet"), ("by", entry["by_when"])])

    def _objection(self, entry: Entry) -> BriefPoint | None:
        fate = str(entry["outcome"] or "open")
        return self._point(entry, [("", entry["outcome_text"]), ("risk carried", entry["risk"])], fate)

    def _point(self, entry: Entry, facts: Iterable[tuple[str, object]], fate: str = "") -> BriefPoint:
        claim = entry.claim("text")
        said = self._lines.get(claim.line if claim else "")
        match entry.state:
            case EntryState.SUPERSEDED:
                fate = f"replaced by {', '.join(entry.replaced_by)}" if entry.replaced_by else "replaced"
            case EntryState.WITHDRAWN:
                fate = "taken back"
            case EntryState.PROPOSED:
                fate = "; ".join(filter(None, (fate, "proposed, not confirmed")))
            case EntryState.ACCEPTED:
                pass
        return BriefPoint(
            _text(entry["text"]),
            by=self._name(claim) if claim else "",
            id=entry.id,
            at=said.ts if said else "",
            line=said.number if said else 0,
            link=said.link if said else "",
            facts=tuple((name, text) for name, value in facts if (text := _text(value))),
            fate="; ".join(filter(None, (fate, "to be confirmed again" if entry.stale else ""))),
            over=entry.gone,
        )

    def _name(self, claim: Claim) -> str:
        """A line may be older than what is known of the name of its author."""
        known = self._people.get(claim.author.by) or self._labels.names.get(claim.author.by)
        return known or self._labels.name(claim.author.name)

    # --- positions ----------------------------------------------------------------------------------------------------

    def _issues(self) -> Iterator[Issue]:
        grouped: dict[tuple[str, str], list[PositionChange]] = {}
        for move in self._state.moves:
            key = (move.issue.casefold(), "") if move.issue else ("", move.step_id)
            grouped.setdefault(key, []).append(move)
        titles = {id: title for id, title, _ in self._labels.steps}
        for (_, step_id), moves in grouped.items():
            title = (
                moves[0].issue
                or " ".join(filter(None, (step_id, titles.get(step_id, ""))))
                or "The matter at hand"
            )
            yield self._issue(title, moves)

    def _issue(self, title: str, moves: Iterable[PositionChange]) -> Issue:
        spelled: dict[str, str] = {}
        held: dict[str, dict[str, bool]] = {}
        moved: list[PositionMove] = []
        for move in moves:
            stand = spelled.setdefault(_key(move.stand), move.stand)
            by = self._labels.name(move.by)
            now = held.setdefault(stand, {})
            for position, holders in held.items():
                if by in holders and position != stand:
                    holders[by] = True
            stood = spelled.setdefault(_key(move.stood), move.stood) if move.was else ""
            now[by] = False
            if stood and stood != stand:
                moved.append(PositionMove(by, stood, stand, move.line, move.because))
        people = set(self._people.values())
        return Issue(
            title,
            {
                position: tuple(Holder(name, name in people, left) for name, left in holders.items())
                for position, holders in held.items()
            },
            tuple(moved),
        )


_POINTS = frozenset({"decision", "question", "objection"})


def by_name(state: State, labels: Labels) -> State:
    """*state*, with personas called by name."""

    def named(one: Speaker) -> Speaker:
        return one if one.kind == "person" else one.but(name=labels.name(one.name))

    return state.but(
        speakers=tuple(map(named, state.speakers)),
        moves=tuple(one.but(by=labels.name(one.by)) for one in state.moves),
    )


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _text(value: object) -> str:
    found = (
        "; ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
    )
    return one_line(found, SHOWN_CHARS)
