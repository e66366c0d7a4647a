"""
What a roundtable came to, out of its record: decisions with who and why, open questions, objections and what became
of them, positions and who moved, what was skipped, and files that were shared. Every form of a record shows it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.entry_wording import became_of
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import POSITION, Specification
from bot.domain.transcript.lines import HOST
from bot.domain.transcript.state import State
from bot.domain.values import places
from bot.domain.values.text import bare_words, counted, one_line, values
from bot.record.reading import RecordEntry, SharedFile, Transcript, entries, replay, specification_of

SHOWN_CHARS = 400
FACTS = {
    "decision": (
        ("because", "reason"),
        ("look at it again if", "revisit"),
        ("replaces", "replaces"),
        ("changes", "changes"),
        ("turned down", "rejected"),
    ),
    "question": (("owner", "owner"), ("by", "by_when")),
    "objection": (("", "outcome_text"), ("would settle it", "settle"), ("risk carried", "risk")),
}
"""The fields that say more about an entry of each kind, each with what it is."""
HOST_NAME = "Roundtable"


class Labels(NamedTuple):
    """What the playbook calls personas, by their actor, and its steps, by id, in order, with their phases."""

    names: Mapping[str, str] = {}
    steps: tuple[tuple[str, str, str], ...] = ()

    def name(self, actor: str) -> str:
        return HOST_NAME if actor == HOST else self.names.get(actor, actor)


NO_LABELS = Labels()


def labels_of(playbook: Playbook) -> Labels:
    names = {one.actor: one.name for one in playbook.roster}
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


class RecordResults(NamedTuple):
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
    """*lines* say where things were said."""

    def __init__(
        self, state: State, specification: Specification, labels: Labels, lines: Iterable[RecordEntry]
    ) -> None:
        self._state = state
        self._labels = labels
        self._lines: dict[str, RecordEntry] = {}
        self._files: dict[str, SharedFile] = {}
        thread = places.read_permalink(state.permalink)
        self._host = thread[1] if thread else ""
        self._people = {one.key: one.name for one in state.people}
        # A line may be older than what is known of its author's name.
        names = {**labels.names, **self._people}
        self._spec = specification.naming({id: names[id] for id in specification.unnamed & names.keys()})
        wanted = {
            line
            for entry in specification.entries.values()
            if entry.kind in {*FACTS, POSITION}
            for claim in entry.all_claims()
            for line in (claim.line, *claim.sources)
        }
        for line in lines:
            if (id := line.message_id or f"line {line.number}") in wanted:
                self._lines.setdefault(id, line)
            for one in line.files:
                ours = bool(self._host) and one.link.startswith(f"{self._host}/")
                self._files.setdefault(one.id or one.name, one if ours else one._replace(link=""))

    def brief(self) -> RecordResults:
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
        return RecordResults(
            decisions=self._points("decision"),
            questions=self._points("question"),
            objections=self._points("objection"),
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

    def _points(self, kind: str) -> tuple[BriefPoint, ...]:
        entries = [one for one in self._spec.entries.values() if one.kind == kind and one["text"]]
        if kind == "question":
            entries = [one for one in entries if not one["answer"] and not one.gone]
        return tuple(sorted(map(self._point, entries), key=lambda one: one.over))

    def _point(self, entry: Entry) -> BriefPoint:
        claim = entry.claim("text")
        said = self._lines.get(claim.line if claim else "")
        outcome = str(entry["outcome"] or "open") if entry.kind == "objection" and not entry.gone else ""
        doubt = "to be confirmed again" if entry.stale else ""
        return BriefPoint(
            self._fact(entry, "text"),
            by=attribution_of(entry, "text"),
            id=entry.id,
            at=said.ts if said else "",
            line=said.number if said else 0,
            link=said.link if said else "",
            facts=tuple(
                (name, text) for name, field in FACTS[entry.kind] if (text := self._fact(entry, field))
            ),
            fate="; ".join(filter(None, (outcome, became_of(entry.state, entry.replaced_by), doubt))),
            over=entry.gone,
        )

    def _fact(self, entry: Entry, field: str) -> str:
        text = one_line("; ".join(values(entry[field])), SHOWN_CHARS)
        if field == "owner":
            return self._people.get(text.strip("<@>"), text) or "nobody yet"
        return "" if field == "settle" and str(entry["outcome"] or "open") != "open" else text

    # --- positions ----------------------------------------------------------------------------------------------------

    def _issues(self) -> Iterator[Issue]:
        grouped: dict[tuple[str, str], list[Entry]] = {}
        for entry in self._spec.active(POSITION):
            issue = str(entry["issue"] or "")
            key = (bare_words(issue), "") if issue else ("", str(entry["discussion"] or entry.step))
            grouped.setdefault(key, []).append(entry)
        for held in grouped.values():
            yield self._issue(self._title(held[0]), held)

    def _title(self, position: Entry) -> str:
        held = self._spec.entries.get(str(position["discussion"] or ""))
        titles = {id: title for id, title, _ in self._labels.steps}
        step = " ".join(filter(None, (position.step, titles.get(position.step, ""))))
        return str(position["issue"] or (held["topic"] if held else "") or step or "The matter at hand")

    def _issue(self, title: str, positions: Iterable[Entry]) -> Issue:
        taken = [
            (self._number(claim.line), entry, claim)
            for entry in positions
            for claim in entry.claims.get("option", ())
        ]
        spelled: dict[str, str] = {}
        held: dict[str, dict[str, Holder]] = {}
        stood: dict[str, str] = {}
        moved: list[PositionMove] = []
        for number, entry, claim in sorted(taken, key=lambda one: one[0]):
            stand = spelled.setdefault(bare_words(claim.value), str(claim.value))
            person = str(entry["person"] or "")
            name = self._people.get(person) or self._labels.name(person)
            was = stood.get(entry.id, "")
            if was and was != stand:
                held[was][entry.id] = held[was][entry.id]._replace(left=True)
                because = tuple(filter(None, map(self._number, claim.sources)))
                moved.append(PositionMove(name, was, stand, number, because))
            held.setdefault(stand, {})[entry.id] = Holder(name, person in self._people)
            stood[entry.id] = stand
        return Issue(title, {stand: tuple(now.values()) for stand, now in held.items()}, tuple(moved))

    def _number(self, line: str) -> int:
        found = self._lines.get(line)
        return found.number if found else 0


class ReadRecord(NamedTuple):
    """A record up to one of its lines."""

    state: State
    lines: tuple[RecordEntry, ...]
    brief: RecordResults
    labels: Labels = NO_LABELS


def read_record(record: Transcript, labels: Labels = NO_LABELS, *, until: int | None = None) -> ReadRecord:
    state = replay(record, until=until)
    lines = tuple(entries(record, until=until, permalink=state.permalink))
    briefing = Briefing(state, specification_of(record, until=until), labels, lines)
    return ReadRecord(state, lines, briefing.brief(), labels)
