"""
The board of a discussion: what it came to by now, as a question to the record. Options, who stands where and who moved,
decisions and objections are the entries of this discussion and of earlier ones about its step. A letter is only what
an option is called on the card.

Nothing here decides: an agreement is only a question to people.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bot.domain.discussion import positions, words
from bot.domain.discussion.elaboration import BoardOption, Elaboration, Fate, Turn
from bot.domain.discussion.words import LETTERS, OPTION_CHARS, NamedOption
from bot.domain.specification.claims import Claim, Entry, PartyKind, StaleCause
from bot.domain.specification.entries import DISCUSSION, OPTION, POSITION, Specification, numbers
from bot.domain.values.text import one_line, word_set

UNDECIDED = "undecided"
"""The position of a person who is for no option."""
POSITION_OPTION = "option"
MOVES = (POSITION_OPTION, "condition", "sure")
"""The fields of a position. A new value of one is a new position."""
NO_MORE = frozenset({StaleCause.DELETED, StaleCause.LEFT_OUT})
"""Causes that end a position: its message is gone."""
OUTCOMES = {Fate.ACCEPTED: "accepted", Fate.REJECTED: "rejected", Fate.RISK: "kept as risk"}
"""The field `outcome` of an objection."""


class Stand(NamedTuple):
    """
    The current *position* of a person or persona on an issue, in their words; *letter* is empty for no option of the
    board. *was* is the option before, *because* the line that they named as the reason, *heard* the newest line of
    another then.
    """

    by: str
    name: str
    letter: str
    issue: str
    position: str
    line: str
    why: str = ""
    sure: str = ""
    condition: str = ""
    was: str = ""
    because: str = ""
    heard: str = ""
    is_persona: bool = False

    @property
    def told(self) -> str:
        """The name, with the condition."""
        return f"{self.name} ({self.condition})" if self.condition else self.name


class BoardSide(NamedTuple):
    """Who is for an option by now: people, then the names of personas."""

    option: BoardOption
    people: tuple[Stand, ...]
    personas: tuple[str, ...]


class Agreement(NamedTuple):
    """
    Everybody who took a position is for `option`. `positions` names who and what, for a press that comes late.
    `people` are the ids of those of `names` who are people.
    """

    option: BoardOption
    names: tuple[str, ...]
    positions: str
    people: tuple[str, ...] = ()


class DiscussionBoard(NamedTuple):
    """
    *decisions* and *objections* are those of people, also where they count no more. *moves* counts all positions taken.
    *speakers* are the names of the authors of lines that were the reason of a move.
    """

    debate: Elaboration
    options: tuple[BoardOption, ...] = ()
    stands: tuple[Stand, ...] = ()
    decisions: tuple[Entry, ...] = ()
    objections: tuple[Entry, ...] = ()
    moves: int = 0
    speakers: Mapping[str, str] = {}

    @property
    def current_decisions(self) -> tuple[Entry, ...]:
        return tuple(one for one in self.decisions if not one.gone)

    @property
    def open_objections(self) -> tuple[Entry, ...]:
        return tuple(one for one in self.objections if fate(one) is Fate.OPEN)

    @property
    def sides(self) -> tuple[BoardSide, ...]:
        return tuple(self._side(one) for one in self.options)

    def _side(self, option: BoardOption) -> BoardSide:
        held = [one for one in self.stands if one.letter == option.letter]
        personas = dict.fromkeys(one.name for one in held if one.is_persona)
        return BoardSide(option, tuple(one for one in held if not one.is_persona), tuple(personas))

    def people_for(self, option: BoardOption) -> tuple[str, ...]:
        """The ids of the people who are for *option*."""
        return tuple(one.by for one in self._side(option).people)

    def own(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Those of *entries* that came up in this discussion."""
        return tuple(one for one in entries if one[DISCUSSION] == self.debate.entry)

    def placed_positions(self, specification: Specification) -> tuple[Entry, ...]:
        """Of people, for an option of the board."""
        every = specification.active(POSITION)
        taken = (*self.own(every), *(one for one in every if is_position_in_step(one, self.debate.step_id)))
        stands = ((one, self.stand_of(str(one["person"]), str(one["issue"] or ""))) for one in taken)
        return tuple(one for one, stand in stands if stand and stand.letter and not stand.is_persona)

    def objection(self, id: str) -> Entry | None:
        return next((one for one in self.objections if one.id == id), None)

    def option(self, letter: str) -> BoardOption | None:
        return words.of_letter(self.options, letter)

    def stand_of(self, person: str, issue: str) -> Stand | None:
        key = person, words.name(issue)
        return next((one for one in self.stands if (one.by, words.name(one.issue)) == key), None)

    def undecided(self, people: Iterable[str]) -> tuple[str, ...]:
        """Of *people*, by id, those who are for nothing."""
        decided = {one.by for one in self.stands if one.letter}
        return tuple(one for one in people if one not in decided)

    def chosen(self, decision: Entry) -> BoardOption | None:
        """The option that *decision* is about."""
        about, text = decision["about"] or (), str(decision["text"])
        named = (one for one in self.options if one.entry and one.entry in about)
        said = (one for one in self.options if one.issue and text == f"{one.issue}: {one.text}")
        return next(named, None) or next(said, None) or words.decided_option(self.options, text)

    @property
    def settled(self) -> Mapping[str, str]:
        """By the name of an issue: the name of the position that people decided on."""
        chosen = filter(None, map(self.chosen, self.current_decisions))
        return {_issue(one): words.name(one.text) for one in chosen}

    def agreements(self, people: Sequence[str]) -> tuple[Agreement, ...]:
        """
        The options on which all who took a position agree: two at least, of them one person; or the one person there
        is. Not what was decided already, and not what a person said is not agreed, until positions change.
        """
        found = (self._agreement(issue, people) for issue in dict.fromkeys(map(_issue, self.options)))
        return tuple(one for one in found if one and one.positions not in self.debate.not_agreed)

    def _agreement(self, issue: str, people: Sequence[str]) -> Agreement | None:
        taken = [one for one in self.sides if _issue(one.option) == issue and (one.people or one.personas)]
        if len(taken) != 1 or not taken[0].people:
            return None
        side = taken[0]
        names = (*(one.told for one in side.people), *side.personas)
        if len(names) < 2 and len(people) > 1:
            return None
        if any(self.chosen(one) == side.option for one in self.current_decisions):
            return None
        who = ",".join(sorted((*(one.by for one in side.people), *side.personas)))
        people_for = tuple(one.by for one in side.people)
        return Agreement(side.option, names, f"{side.option.letter}:{who}", people_for)


# --- from the record ------------------------------------------------------------------------------------------------


def board_of(debate: Elaboration, specification: Specification) -> DiscussionBoard:
    held = [one.id for one in specification.active(DISCUSSION) if one["step"] == debate.step_id]
    held.append(debate.entry)
    found: dict[str, list[Entry]] = {}
    for one in specification.besides_notes:
        if one.kind not in {OPTION, "decision", "objection", POSITION}:
            continue
        is_before = not one[DISCUSSION] and (one.kind == OPTION or is_position_in_step(one, debate.step_id))
        if one[DISCUSSION] in held or is_before:
            found.setdefault(one.kind, []).append(one)
    for entries in found.values():
        entries.sort(key=lambda one: numbers(one.id))
    options = tuple(_named_now(debate.options, found.get(OPTION, ())))
    taken = found.get(POSITION, ())
    stands = tuple(_stands(debate, options, taken).values())
    reasons = {line for one in stands for line in (one.because, one.heard)}
    heard = {line: said.name for line in reasons if (said := specification.heard.get(line))}
    return DiscussionBoard(
        debate,
        options,
        stands,
        tuple(filter(_is_of_people, found.get("decision", ()))),
        tuple(filter(_is_of_people, found.get("objection", ()))),
        sum(len(one.claims.get(field, ())) for one in taken for field in MOVES),
        heard | {turn.line: turn.name for turn in debate.turns if turn.line in reasons},
    )


def board_of_step(
    step_id: str, options: tuple[BoardOption, ...], specification: Specification
) -> DiscussionBoard:
    """Of the options that are named in the step, without a discussion. *options* have their letters already."""
    debate = Elaboration(step_id=step_id, lead="", topic="", max_turns=0, options=options)
    return board_of(with_options(debate, options_in_step(step_id, specification)), specification)


def options_in_step(step_id: str, specification: Specification) -> Iterator[str]:
    """Those that were named in the step itself; *step_id* may be that of its phase, with a dash."""
    for one in specification.active(OPTION):
        if one.step.startswith(step_id) and not one[DISCUSSION]:
            yield str(one["name"])


def is_position_in_step(entry: Entry, step_id: str) -> bool:
    """One that was taken in the step, before any discussion."""
    return entry.kind == POSITION and entry.step == step_id and not entry[DISCUSSION]


def fate(objection: Entry) -> Fate:
    if objection.gone:
        return Fate.WITHDRAWN
    return next((one for one, word in OUTCOMES.items() if word == objection["outcome"]), Fate.OPEN)


def owner(objection: Entry) -> str:
    """The name of who objects."""
    claim = objection.claim("text")
    return claim.owner.name if claim else ""


def _is_of_people(entry: Entry) -> bool:
    claim = entry.claim("text")
    return claim is not None and claim.accepted is not None


def _issue(option: BoardOption) -> str:
    return words.name(option.issue)


def _named_now(options: Iterable[BoardOption], entries: Sequence[Entry]) -> Iterator[BoardOption]:
    """With the name that each has by now, and those that it had before."""
    for option in options:
        said = words.key(option.text)
        for entry in entries:
            names = tuple(dict.fromkeys(str(one.value) for one in entry.claims.get("name", ())))
            if said in map(words.key, names):
                option = option.but(text=str(entry["name"]), entry=entry.id, names=names)  # noqa: PLW2901
                break
        yield option


def _stands(
    debate: Elaboration, options: Sequence[BoardOption], taken: Iterable[Entry]
) -> dict[tuple[str, str], Stand]:
    """The newest of each person or persona on each issue. Personas take theirs anew in each discussion."""
    named = {turn.line: turn.name for turn in debate.turns if turn.line}
    found: dict[tuple[str, str], Stand] = {}
    for entry in taken:
        claims = [one for one in entry.claims.get(POSITION_OPTION, ()) if not _is_gone(one)]
        is_persona = any(one.proposed.kind is PartyKind.PERSONA for one in claims)
        if entry.gone or (is_persona and entry[DISCUSSION] != debate.entry):
            continue
        by, issue = str(entry["person"]), str(entry["issue"] or "")
        key = by, words.name(issue)
        for claim in claims:
            letter, before = _letter(options, str(claim.value), issue), found.get(key)
            was = (before.letter if before.letter != letter else before.was) if before else ""
            found[key] = Stand(
                by,
                named.get(claim.line, claim.owner.name) if is_persona else claim.owner.name,
                letter,
                issue,
                str(claim.value),
                claim.line,
                why=str(entry["why"] or ""),
                sure=str(entry["sure"] or ""),
                condition=str(entry["condition"] or ""),
                was=was,
                because=next(iter(claim.sources), ""),
                heard=str(entry["heard"] or ""),
                is_persona=is_persona,
            )
    return found


def _is_gone(claim: Claim) -> bool:
    return claim.stale is not None and claim.stale.cause in NO_MORE


def _letter(options: Iterable[BoardOption], position: str, issue: str) -> str:
    said, about = words.name(position), words.name(issue)
    for one in options:
        is_about = not one.issue or _issue(one) == about
        if is_about and said in map(words.name, (one.text, *one.names)):
            return one.letter
    return ""


# --- letters --------------------------------------------------------------------------------------------------------


def with_options(debate: Elaboration, named: Iterable[NamedOption | str], *, issue: str = "") -> Elaboration:
    """
    With the options that are new. The same words are the same option. Each has the letter that it was named with, if
    that is free.
    """
    for given in named:
        one = NamedOption(given) if isinstance(given, str) else given
        text = one_line(one.text, OPTION_CHARS)
        taken = {option.letter for option in debate.options}
        free = [letter for letter in LETTERS if letter not in taken]
        if text and find(debate.options, text, issue=issue) is None and free:
            letter = one.letter if one.letter in free else free[0]
            option = BoardOption(letter=letter, text=text, issue=one_line(issue, OPTION_CHARS))
            debate = debate.but(options=(*debate.options, option))
    return debate


def lettered_otherwise(
    debate: Elaboration, named: Iterable[NamedOption]
) -> Iterator[tuple[str, BoardOption]]:
    """The options of *debate* that were named with a letter, and that letter, where they have another."""
    for one in named:
        option = find(debate.options, one.text)
        if one.letter and option and option.letter != one.letter:
            yield one.letter, option


def with_persona_options(debate: Elaboration) -> Elaboration:
    """Positions of personas on issues with more than one side are options, too."""
    for issue, found in positions.sides(debate).items():
        if len(found) > 1:
            title = positions.title(debate, issue)
            debate = with_options(debate, [side.position for side in found], issue=title)
    return debate


def find(options: Iterable[BoardOption], text: str, *, issue: str = "") -> BoardOption | None:
    said = words.key(text)
    same = (one for one in options if said in map(words.key, (one.text, *one.names)))
    return next((one for one in same if not issue or _issue(one) == words.name(issue)), None)


def newest_of_others(debate: Elaboration, person: str) -> Turn | None:
    """What *person* heard last."""
    others = [turn for turn in debate.turns if turn.by != person and (turn.ts or turn.posted)]
    return others[-1] if others else None


def named_as_reason(debate: Elaboration, person: str, why: str) -> Turn | None:
    """The newest turn of someone whom *person* names in *why*."""
    said = word_set(why)
    for turn in reversed(debate.turns):
        if turn.by != person and turn.name and turn.name.split()[0].casefold() in said:
            return turn
    return None
