"""
The block of a discussion, in the thread and in the files of its step: a question to the record, by id, with every model
and without one. What was decided and by whom, objections in the words of who made them with what became of them, who
stands where, and who moved because of which line. A voice adds to it, and can neither remove nor reword any of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.discussion.board import DiscussionBoard, Stand, fate
from bot.domain.discussion.elaboration import Fate, Turn
from bot.domain.discussion.synthesis import Insight, Objection, OpenQuestion
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages.attribution_wording import recorder
from bot.domain.specification.entries import Claim, Entry, Specification, numbers
from bot.domain.values.markdown import bullet
from bot.domain.values.text import one_line

NONE = "None recorded."
ASSUMPTION = "*assumption*"
UNVERIFIED = "*unverified*"
BROUGHT_UP = "it is brought up again"
QUOTE_CHARS = 300
MOST_QUOTED = 4

Added = Insight | OpenQuestion | Objection


class DiscussionBlock(NamedTuple):
    """Rows of each section. *cited* are the turns that it names, *pressed* the decisions that no turn has, by line."""

    insights: tuple[str, ...]
    decisions: tuple[str, ...]
    questions: tuple[str, ...]
    positions: tuple[str, ...]
    actions: tuple[str, ...]
    objections: tuple[str, ...]
    cited: frozenset[str] = frozenset()
    pressed: tuple[tuple[str, str], ...] = ()
    is_traced: bool = False
    """Whether sources can be asked for."""

    @property
    def outcome(self) -> tuple[str, ...]:
        return (*self.decisions, *self.objections)


def block_of(
    board: DiscussionBoard,
    specification: Specification,
    added: Mapping[str, Added],
    people: Mapping[str, str] | None = None,
) -> DiscussionBlock:
    """*added* is what a voice said of entries that it proposed, by their ids; *people* take part, by id."""
    return _Reading(board, specification, added).block(people or {})


def markdown(
    block: DiscussionBlock,
    *,
    step_id: str,
    title: str,
    participants: str,
    turns: int,
    exit: str,  # noqa: A002 -- the word of the template
) -> str:
    """As people read it, and as artifacts keep it (GH-21, synthesis template)."""
    parts = [
        f"### Elaboration Insights (Step {step_id}: {bullet(title)})",
        f"**Participants**: {bullet(participants)}\n**Turns**: {turns} | **Exit**: {exit}",
        _list("Key Insights", block.insights),
        _list("Decisions Made", block.decisions),
        _list("Open Questions", block.questions),
    ]
    more = {"Positions": block.positions, "Action Items": block.actions, "Objections": block.objections}
    parts += [_list(heading, rows) for heading, rows in more.items() if rows]
    return "\n\n".join(parts) + "\n"


def outcome(block: DiscussionBlock) -> str:
    """Nothing but what was decided, and who stands against it; empty without either."""
    parts = {"Decisions Made": block.decisions, "Objections": block.objections}
    found = [_list(heading, rows) for heading, rows in parts.items() if rows]
    return "\n\n".join(found) + "\n" if found else ""


class _Reading:
    def __init__(
        self, board: DiscussionBoard, specification: Specification, added: Mapping[str, Added]
    ) -> None:
        self._board = board
        self._spec = specification
        self._added = added
        self._turns = {turn.line: turn for turn in board.debate.turns if turn.line}
        self._by_id = {turn.id: turn for turn in board.debate.turns}
        self._used: set[str] = set()

    def block(self, people: Mapping[str, str]) -> DiscussionBlock:
        insights, decisions, questions, actions, objections = (
            self._entries(kind) for kind in ("insight", "decision", "question", "action", "objection")
        )
        decided = [one for one in self._board.own(self._board.current_decisions) if one in decisions]
        pressed = tuple(
            (_who(one), claim.line)
            for one in decided
            if (claim := one.claim("text")) and claim.line not in self._turns
        )
        recorded = any(turn.stances for turn in self._board.debate.turns)
        is_traced = recorded or bool(pressed) or any(one.turns for one in self._added.values())
        for one in (*insights, *decided, *questions):
            self._used.update(turn.id for turn in self._turns_of(one))
        against = tuple(self._objection(one) for one in self._weighed(objections))
        return DiscussionBlock(
            tuple(self._insight(one, is_traced) for one in insights),
            tuple(self._decision(one, is_traced) for one in decided),
            tuple(self._question(one, is_traced) for one in questions),
            tuple(self._positions(people)),
            tuple(map(_action, actions)),
            against,
            frozenset(self._used),
            pressed,
            is_traced,
        )

    def _entries(self, kind: str) -> list[Entry]:
        """Of this discussion, and what a voice found in it again."""
        own = {one.id: one for one in self._board.own(self._spec.active(kind))}
        again = {id: one for id in self._added if (one := self._spec.entries.get(id)) and one.kind == kind}
        return sorted((own | again).values(), key=lambda one: numbers(one.id))

    def _weighed(self, found: Iterable[Entry]) -> list[Entry]:
        """Those of people, also of earlier discussions of the step; then what is only proposed."""
        raised = [one for one in self._board.objections if fate(one) is not Fate.WITHDRAWN]
        return [*raised, *(one for one in found if one not in raised)]

    # --- rows ---

    def _insight(self, one: Entry, is_traced: bool) -> str:  # noqa: FBT001
        told, turns = self._added.get(one.id), self._turns_of(one)
        by = told.by if isinstance(told, Insight) else ()
        doubts = f"{ASSUMPTION}: " if is_traced and not turns else _doubts(one)
        return f"[{_names(by or self._speakers(one))}] {doubts}{_text(one)}{_refs(turns, is_traced)}"

    def _decision(self, one: Entry, is_traced: bool) -> str:  # noqa: FBT001
        said = _because(_text(one), str(one["reason"] or ""))
        return f"{said} ({bullet(_who(one))}){_refs(self._turns_of(one), is_traced)}"

    def _question(self, one: Entry, is_traced: bool) -> str:  # noqa: FBT001
        told, claim, turns = self._added.get(one.id), one.claim("text"), self._turns_of(one)
        why = told.why if isinstance(told, OpenQuestion) else ""
        if not told and claim:
            how = "asked" if claim.line in self._turns else "marked"
            why = f"{how} by {recorder(one, 'text')}"
        return f"{_doubts(one)}{_because(_text(one), why)}{_refs(turns, is_traced)}"

    def _objection(self, one: Entry) -> str:
        told, turns = self._added.get(one.id), self._turns_of(one)
        self._used.update(turn.id for turn in turns)
        by = told.by if isinstance(told, Objection) else ()
        words = _text(one).rstrip(".")
        quote = self._words_beside(one, turns) if isinstance(told, Objection) else ""
        words += f" (“{bullet(quote)}”)" if quote else ""
        return f"[{_names(by or self._speakers(one))}] {words}: {_became(one)}{_refs(turns)}"

    def _positions(self, people: Mapping[str, str]) -> Iterator[str]:
        sides = self._board.sides
        for side in sides:
            yield bullet(wording.describe_side(side.option.letter, side.option.text, side.people)) + (
                f", {', '.join(f'*{bullet(one)}*' for one in side.personas)}" if side.personas else ""
            )
        stands = self._board.stands
        if undecided := [one.name for one in stands if sides and not one.letter and not one.is_persona]:
            yield f"Undecided: {bullet(', '.join(undecided))}"
        known = {one.by for one in stands}
        if silent := [name for id, name in people.items() if sides and id not in known]:
            yield f"No position: {bullet(', '.join(silent))}"
        yield from (self._move(one) for one in stands if one.was and one.letter)

    def _move(self, one: Stand) -> str:
        name = f"*{bullet(one.name)}*" if one.is_persona else bullet(one.name)
        turn, heard = self._turns.get(one.because), self._spec.heard.get(one.because)
        if turn is None and heard is None:
            return wording.moved_without_a_line(name, one.was, one.letter)
        by, words = (turn.name, turn.text) if turn else (heard.name, heard.text) if heard else ("", "")
        said = wording.moved_because(
            name, one.was, one.letter, bullet(by), bullet(one_line(words, QUOTE_CHARS))
        )
        self._used.update([turn.id] if turn else ())
        return f"{said}{_refs([turn] if turn else [])}"

    # --- what they rest on ---

    def _turns_of(self, one: Entry) -> list[Turn]:
        claim = one.claim("text")
        lines = (claim.line, *claim.sources) if claim else ()
        return [self._turns[line] for line in dict.fromkeys(lines) if line in self._turns]

    def _speakers(self, one: Entry) -> tuple[str, ...]:
        claim = one.claim("text")
        if claim and claim.said:
            return (claim.said.name,)
        return tuple(dict.fromkeys(turn.name for turn in self._turns_of(one)))

    def _words_beside(self, one: Entry, turns: Iterable[Turn]) -> str:
        """What was said each time that a position was taken, the last time first; nothing twice."""
        found = [_text(one)]
        for turn in reversed(list(turns)):
            said = one_line(turn.text, QUOTE_CHARS)
            if not any(said in known for known in found):
                found.append(said)
        return " … ".join(found[1 : MOST_QUOTED + 1])


def _text(entry: Entry) -> str:
    return bullet(str(entry["text"]))


def _who(decision: Entry) -> str:
    """Who decided, and who recorded it where that is another."""
    name = recorder(decision, "text")
    deciders = ", ".join(map(str, decision["deciders"] or ()))
    return f"{deciders}, recorded by {name}" if deciders else name


def _became(objection: Entry) -> str:
    by, why = recorder(objection, "outcome"), str(objection["outcome_text"] or "")
    reason = bullet(f"{by}: {why}" if why else f"{by} said so")
    match fate(objection):
        case Fate.ACCEPTED | Fate.REJECTED as became:
            return f"{became} because {reason}"
        case Fate.RISK:
            return f"deferred; risk: {reason}; reopen if: {BROUGHT_UP}"
        case _:
            settle = str(objection["settle"] or "")
            return f"open; would settle it: {bullet(settle)}" if settle else "open"


def _action(entry: Entry) -> str:
    claim = entry.claim("text")
    owner = f" -> {bullet(str(entry['owner']))}" if entry["owner"] else ""
    return f"{_text(entry)}{owner}{_said_by(claim)}"


def _said_by(claim: Claim | None) -> str:
    return f" ({bullet(claim.owner.name)})" if claim and claim.accepted else ""


def _doubts(entry: Entry) -> str:
    claim = entry.claim("text")
    return f"{UNVERIFIED} ({bullet(claim.reason)}): " if claim and claim.reason else ""


def _refs(turns: Iterable[Turn], is_shown: bool = True) -> str:  # noqa: FBT001, FBT002
    ids = ", ".join(turn.id for turn in turns)
    return f" [{ids}]" if ids and is_shown else ""


def _list(heading: str, rows: Iterable[str]) -> str:
    bullets = "\n".join(f"- {row}" for row in rows)
    return f"#### {heading}\n{bullets or f'- {NONE}'}"


def _because(text: str, why: str) -> str:
    return f"{text}: {bullet(why)}" if why.strip() else text


def _names(by: Iterable[str]) -> str:
    names = (bullet(one_line(name)).translate({ord("["): None, ord("]"): None}) for name in by)
    return "/".join(filter(None, names)) or "All"
