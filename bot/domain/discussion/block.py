"""
The block of a discussion, in the thread and in the files of its step: a question to the record, by id, with every model
and without one. What was decided and by whom, objections in the words of who made them with what became of them, who
stands where, and who moved because of which line. No model writes, removes or rewords any of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.discussion.board import UNDECIDED, DiscussionBoard, Stand, fate
from bot.domain.discussion.elaboration import Elaboration, Fate, Turn
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages.attribution_wording import recorder
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import Specification
from bot.domain.values.markdown import bullet
from bot.domain.values.text import one_line

NONE = "None recorded."
BROUGHT_UP = "it is brought up again"
QUOTE_CHARS = 300
TRANSCRIPT = "planning/meeting.jsonl"
"""Relative to the item's folder, with the `message_id` of a line behind a #."""


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

    @property
    def has_rows(self) -> bool:
        return any(self[: self._fields.index("cited")])


def block_of(
    board: DiscussionBoard,
    specification: Specification,
    people: Mapping[str, str],
    *,
    asked: Iterable[str] = (),
) -> DiscussionBlock:
    """*people* take part, by id. *asked* are open questions that are no entries."""
    return _Reading(board, specification).block(people, asked)


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


def sources(block: DiscussionBlock, debate: Elaboration) -> str:
    """The lines of the transcript, for those who read the file; empty where there is nothing to look up."""
    rows = [_turn(turn) for turn in debate.turns if turn.id in block.cited]
    rows += (f"- Decided by {_in_code(by)}: `{TRANSCRIPT}#{line}`" for by, line in block.pressed)
    return "\n".join(("#### Sources", *rows, "")) if rows else ""


class _Reading:
    def __init__(self, board: DiscussionBoard, specification: Specification) -> None:
        self._board = board
        self._spec = specification
        self._turns = {turn.line: turn for turn in board.debate.turns if turn.line}
        self._used: set[str] = set()

    def block(self, people: Mapping[str, str], asked: Iterable[str]) -> DiscussionBlock:
        insights, questions, actions = (
            self._board.own(self._spec.active(kind)) for kind in ("insight", "question", "action")
        )
        decided = self._board.own(self._board.current_decisions)
        pressed = tuple(
            (_who(one), claim.line)
            for one in decided
            if (claim := one.claim("text")) and claim.line not in self._turns
        )
        against = (one for one in self._board.objections if fate(one) is not Fate.WITHDRAWN)
        return DiscussionBlock(
            tuple(f"[{_names(self._speakers(one))}] {_text(one)}{self._refs(one)}" for one in insights),
            tuple(map(self._decision, decided)),
            (*map(self._question, questions), *map(bullet, asked)),
            tuple(self._positions(people)),
            tuple(map(_action, actions)),
            tuple(map(self._objection, against)),
            frozenset(self._used),
            pressed,
        )

    # --- rows ---

    def _decision(self, one: Entry) -> str:
        said = _because(_text(one), str(one["reason"] or ""))
        return f"{said} ({bullet(_who(one))}){self._refs(one)}"

    def _question(self, one: Entry) -> str:
        claim = one.claim("text")
        how = "asked" if claim and claim.line in self._turns else "marked"
        return _because(_text(one), f"{how} by {recorder(one, 'text')}") + self._refs(one)

    def _objection(self, one: Entry) -> str:
        words = _text(one).rstrip(".")
        return f"[{_names(self._speakers(one))}] {words}: {_became(one)}{self._refs(one)}"

    def _positions(self, people: Mapping[str, str]) -> Iterator[str]:
        sides = self._board.sides
        for side in sides:
            yield wording.describe_side(side.option.letter, side.option.text, side.people, side.personas)
        stands = self._board.stands
        if undecided := [one.name for one in stands if sides and not one.letter and not one.is_persona]:
            yield f"Undecided: {bullet(', '.join(undecided))}"
        known = {one.by for one in stands}
        if silent := [name for id, name in people.items() if sides and id not in known]:
            yield f"No position: {bullet(', '.join(silent))}"
        yield from (self._move(one) for one in stands if one.was)

    def _move(self, one: Stand) -> str:
        name = f"*{bullet(one.name)}*" if one.is_persona else bullet(one.name)
        own = UNDECIDED if one.position == UNDECIDED else f"“{bullet(one_line(one.position, QUOTE_CHARS))}”"
        now = one.letter or own
        turn, heard = self._turns.get(one.because), self._spec.heard.get(one.because)
        if turn is None and heard is None:
            return wording.moved_without_a_line(name, one.was, now)
        by, words = (turn.name, turn.text) if turn else (heard.name, heard.text) if heard else ("", "")
        said = wording.moved_because(name, one.was, now, bullet(by), bullet(one_line(words, QUOTE_CHARS)))
        return f"{said}{self._named([turn] if turn else [])}"

    # --- what they rest on ---

    def _refs(self, one: Entry) -> str:
        return self._named(self._turns_of(one))

    def _named(self, turns: Iterable[Turn]) -> str:
        ids = [turn.id for turn in turns]
        self._used.update(ids)
        return f" [{', '.join(ids)}]" if ids else ""

    def _turns_of(self, one: Entry) -> list[Turn]:
        claim = one.claim("text")
        lines = (claim.line, *claim.sources) if claim else ()
        return [self._turns[line] for line in dict.fromkeys(lines) if line in self._turns]

    def _speakers(self, one: Entry) -> tuple[str, ...]:
        claim = one.claim("text")
        if claim and claim.said:
            return (claim.said.name,)
        return tuple(dict.fromkeys(turn.name for turn in self._turns_of(one)))


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
    said_by = f" ({bullet(claim.owner.name)})" if claim and claim.accepted else ""
    return f"{_text(entry)}{owner}{said_by}"


def _turn(turn: Turn) -> str:
    where = f", `{TRANSCRIPT}#{turn.line}`" if turn.line else ""
    return f"- {turn.id}: {_in_code(turn.name)}{where}"


def _in_code(name: str) -> str:
    """A name that ends no code and begins none: the reference behind it is to be found."""
    return bullet(name.replace("`", "'"))


def _list(heading: str, rows: Iterable[str]) -> str:
    bullets = "\n".join(f"- {row}" for row in rows)
    return f"#### {heading}\n{bullets or f'- {NONE}'}"


def _because(text: str, why: str) -> str:
    return f"{text}: {bullet(why)}" if why.strip() else text


def _names(by: Iterable[str]) -> str:
    names = (bullet(one_line(name)).translate({ord("["): None, ord("]"): None}) for name in by)
    return "/".join(filter(None, names)) or "All"
