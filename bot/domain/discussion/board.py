"""
The board of a discussion: the options, who is for which, who moved, and whether all who took a position agree.

Words count as a position only when they name one option and approve of it; see `position_in`. A condition is kept.
Nothing here decides: an agreement is only a question to people.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from bot.domain.discussion import dissent, normalizing, positions, typed_positions
from bot.domain.discussion.elaboration import (
    BoardOption,
    Decided,
    Elaboration,
    Fate,
    PersonStand,
    RaisedObjection,
    SealedPosition,
    Turn,
)
from bot.domain.values.text import one_line, word_set

LETTERS = tuple(letter for letter in ascii_uppercase if letter != "I")
"""An "I" is a person who speaks."""
OPTION_CHARS = 200
LETTER_CHARS = len("(option A).")
"""What is longer than a letter says more than the option."""
UNDECIDED = ""
_LETTERED_ROW = re.compile(
    r"(?m)^(?P<label>[ \t>*_+•-]*option)[ \t]+[A-Za-z][*_]{0,2}[ \t]*[:：]", re.IGNORECASE
)
_OPTION_ROW = re.compile(r"(?m)^[ \t*_+•-]*option(?:[ \t]+[A-Za-z])?[*_]{0,2}[ \t]*[:：].*$", re.IGNORECASE)
OPTION_LABELS = ("option", *(f"option {letter}" for letter in LETTERS))

_TYPED = re.compile(
    r"(?:i'?m |i am )?for (?:option )?(?P<what>[a-z])\b[\s.!,:;–—-]*(?P<why>.*)", re.IGNORECASE
)
_REASON = re.compile(
    r"(?:i'?m |i am )?for (?:option )?[a-z]\s*(?:[.!,:;–—-]|because\b|since\b|as\b|with\b|now\b)",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(r"(?:i'?m |i am )?undecided[.!]*", re.IGNORECASE)
_LETTER = re.compile(
    r"(?:\b[Oo]ption )(?P<named>[A-HJ-Za-hj-z])\b"
    r"|(?<![\w'-])(?P<alone>[A-HJ-Z])(?=\s*(?:$|[.,;:!)–—]|\+1|👍|(?:with|works?|sounds?|is|it|too|as|plus|and|seems?|"
    r"looks?|then|for|because|since|from|has|makes)\b))"
)
_FOR_ME = (
    r"(?:works? for me\b"
    r"|(?<=\b[A-HJ-Z] )for me(?=\s*(?:$|[.,;!–—]|(?:if|unless|until|once|when|provided|as long)\b)))"
)
"""Also "A for me", but not "A for me is too slow"."""
_APPROVES = re.compile(
    rf"\b(?:{_FOR_ME}|fine (?:with|by|for) me|(?:is|sounds|looks|seems) (?:good|fine|great|right|best|better|"
    r"ok(?:ay)?)|"
    r"(?:i'?m|i am|we'?re|we are) (?:for|with|in favou?r of|ok(?:ay)? with|fine with|happy with)|"
    r"(?:i|we) (?:prefer|support|choose|pick|back|vote for|agree (?:with|to|on)|go (?:for|with))|"
    r"(?:i'?d|i would|we'?d|let'?s|let us) (?:go (?:for|with)|take|pick|choose|prefer|do|use)|"
    r"my vote (?:is|goes)|has my vote|in favou?r of|makes sense)\b|\+1|👍",
    re.IGNORECASE,
)
_WORKS = re.compile(rf"\b{_FOR_ME}[\s,;–—-]*", re.IGNORECASE)
_OPENINGS = re.compile(r"(?:(?:ok(?:ay)?|yes|yeah|well|fine|right|so|then)\b[\s,:;–—-]*)*", re.IGNORECASE)
_CONDITIONS = ("if", "unless", "until", "once", "when", "provided", "assuming", "as long as")
"""They begin a condition where they follow an approval."""
_HEDGES = re.compile(
    r"\b(?:not|no|nor|never|neither|cannot|can'?t|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|wouldn'?t|shouldn'?t|"
    r"couldn'?t|hardly|if|unless|until|once|provided|assuming|would have|could|might|may|maybe|perhaps|almost|"
    r"only when|"
    r"or|against|but|however|except|unsure|yet|used to|was|were|they|she|he|says?|said|thinks?)\b|\?",
    re.IGNORECASE,
)


class BoardSide(NamedTuple):
    """Who is for an option by now: people, then personas."""

    option: BoardOption
    people: tuple[PersonStand, ...]
    personas: tuple[str, ...]


class Move(NamedTuple):
    """A person who is for another option than before."""

    now: PersonStand
    was: str


class Agreement(NamedTuple):
    """
    Everybody who took a position is for `option`. `positions` names who and what, for a press that comes late.
    `people` are the ids of those of `names` who are people.
    """

    option: BoardOption
    names: tuple[str, ...]
    positions: str
    people: tuple[str, ...] = ()


class NamedOption(NamedTuple):
    """`letter` is empty where it was named without one."""

    text: str
    letter: str = ""


class Position(NamedTuple):
    """An empty `letter` is undecided; None where there is no such option, which was called `named`."""

    letter: str | None
    why: str = ""
    sure: str = ""
    named: str = ""
    condition: str = ""


# --- options --------------------------------------------------------------------------------------------------------


def with_options(debate: Elaboration, texts: Iterable[str], *, issue: str = "") -> Elaboration:
    """With the options that are new. The same words are the same option."""
    return with_named(debate, (NamedOption(text) for text in texts), issue=issue)


def with_named(debate: Elaboration, named: Iterable[NamedOption], *, issue: str = "") -> Elaboration:
    """As `with_options`; each has the letter that it was named with, if that is free."""
    for one in named:
        text = one_line(one.text, OPTION_CHARS)
        taken = {option.letter for option in debate.options}
        free = [letter for letter in LETTERS if letter not in taken]
        if text and find(debate, text, issue=issue) is None and free:
            letter = one.letter if one.letter in free else free[0]
            option = BoardOption(letter=letter, text=text, issue=one_line(issue, OPTION_CHARS))
            debate = debate.but(options=(*debate.options, option))
    return debate


def lettered_otherwise(
    debate: Elaboration, named: Iterable[NamedOption]
) -> Iterator[tuple[str, BoardOption]]:
    """The options of *debate* that were named with a letter, and that letter, where they have another."""
    for one in named:
        option = find(debate, one.text)
        if one.letter and option and option.letter != one.letter:
            yield one.letter, option


def with_persona_options(debate: Elaboration) -> Elaboration:
    """Positions of personas on issues with more than one side are options, too."""
    for issue, found in positions.sides(debate).items():
        if len(found) > 1:
            title = positions.title(debate, issue)
            debate = with_options(debate, [side.position for side in found], issue=title)
    return debate


def find(debate: Elaboration, text: str, *, issue: str = "") -> BoardOption | None:
    said = normalizing.key(text)
    same = (one for one in debate.options if normalizing.key(one.text) == said)
    return next(
        (one for one in same if not issue or positions.name(one.issue) == positions.name(issue)), None
    )


def of_letter(debate: Elaboration, letter: str) -> BoardOption | None:
    return next((one for one in debate.options if one.letter == letter.upper()), None)


# --- who is for what ------------------------------------------------------------------------------------------------


def newest(debate: Elaboration) -> tuple[PersonStand, ...]:
    """The position of each person on each issue, by now."""
    found = {(one.by, positions.name(one.issue)): one for one in debate.stands}
    return tuple(found.values())


def sides(debate: Elaboration) -> tuple[BoardSide, ...]:
    taken, held = newest(debate), positions.sides(debate)
    names = {turn.by: turn.name for turn in debate.turns if not turn.human}

    def personas(option: BoardOption) -> Iterator[str]:
        for issue, found in held.items():
            if not option.issue or issue == positions.name(option.issue):
                for side in found:
                    if positions.name(side.position) == positions.name(option.text):
                        yield from (names[key] for key in side.holders if key in names)

    return tuple(
        BoardSide(
            option,
            tuple(one for one in taken if one.option == option.letter),
            tuple(dict.fromkeys(personas(option))),
        )
        for option in debate.options
    )


def undecided(debate: Elaboration, people: Iterable[str]) -> tuple[str, ...]:
    """Of *people*, by id, those who are for nothing."""
    decided = {one.by for one in newest(debate) if one.option}
    return tuple(one for one in people if one not in decided)


def moves(debate: Elaboration) -> tuple[Move, ...]:
    """The newest move of each person who is still where it led, oldest first."""
    found: dict[tuple[str, str], Move] = {}
    before: dict[tuple[str, str], str] = {}
    for one in debate.stands:
        key = (one.by, positions.name(one.issue))
        if before.get(key) and before[key] != one.option:
            found[key] = Move(one, before[key])
        before[key] = one.option
    return tuple(move for move in found.values() if move.now in newest(debate))


def agreements(debate: Elaboration, people: Sequence[str]) -> tuple[Agreement, ...]:
    """
    The options on which all who took a position agree: two at least, of them one person; or the one person there is.
    Not what was decided already, and not what a person said is not agreed, until positions change.
    """
    found = (_agreement(debate, issue, people) for issue in dict.fromkeys(_issues(debate)))
    return tuple(one for one in found if one and one.positions not in debate.not_agreed)


def _issues(debate: Elaboration) -> Iterator[str]:
    return (positions.name(one.issue) for one in debate.options)


def _agreement(debate: Elaboration, issue: str, people: Sequence[str]) -> Agreement | None:
    held = [one for one in sides(debate) if positions.name(one.option.issue) == issue]
    taken = [one for one in held if one.people or one.personas]
    if len(taken) != 1 or not taken[0].people:
        return None
    side = taken[0]
    names = (*(one.told for one in side.people), *side.personas)
    if len(names) < 2 and len(people) > 1:
        return None
    if any(_is_for(one, side.option) for one in current_decisions(debate)):
        return None
    who = ",".join(sorted((*(one.by for one in side.people), *side.personas)))
    people_for = tuple(one.by for one in side.people)
    return Agreement(side.option, names, f"{side.option.letter}:{who}", people_for)


def _is_for(decided: Decided, option: BoardOption) -> bool:
    return positions.name(decided.position) == positions.name(option.text) or (
        decided.typed and normalizing.meant([option], decided.position) is not None
    )


def current_decisions(debate: Elaboration) -> tuple[Decided, ...]:
    return tuple(one for one in (*debate.inherited, *debate.decided) if not one.replaced_by)


def stood(debate: Elaboration, stand: PersonStand) -> Elaboration:
    """*stand* with what its person had heard. The very same object if they stand there already."""
    same = next(
        (
            one
            for one in newest(debate)
            if one.by == stand.by and positions.name(one.issue) == positions.name(stand.issue)
        ),
        None,
    )
    if same and (same.option, same.sure, same.condition) == (
        stand.option,
        stand.sure or same.sure,
        stand.condition,
    ):
        return debate
    others = [turn for turn in debate.turns if turn.by != stand.by and (turn.ts or turn.posted)]
    heard = (others[-1].ts or others[-1].posted) if others else ""
    named = _reason(debate, stand)
    moved = stand.but(after=debate.turn_count, heard=stand.heard or heard, because=stand.because or named)
    return debate.but(stands=(*debate.stands, moved))


def _reason(debate: Elaboration, stand: PersonStand) -> str:
    """The newest message of someone whom the person names in their reason."""
    said = word_set(stand.why)
    for turn in reversed(debate.turns):
        if turn.by != stand.by and turn.name and turn.name.split()[0].casefold() in said:
            return turn.ts or turn.posted
    return ""


# --- words ----------------------------------------------------------------------------------------------------------


def named_options(text: str) -> tuple[NamedOption, ...]:
    """`option: a bucket in each gateway`, `Option A: …`, and `position: a bucket in each gateway`"""
    own = typed_positions.read(words).words if (words := typed_positions.labelled(text)) else ""
    lettered = [letter for letter in LETTERS if f"option {letter.lower()}" in text.casefold()]
    return (
        *(NamedOption(one) for one in dissent.marked(text, ["option"])),
        *(
            NamedOption(one, letter)
            for letter in lettered
            for one in dissent.marked(text, [f"option {letter}"])
        ),
        *([NamedOption(own)] if own else ()),
    )


def without_letters(text: str) -> str:
    """*text* with `option:` in place of `Option A:` at the beginning of a line."""
    return _LETTERED_ROW.sub(r"\g<label>:", text)


def position_in(debate: Elaboration, text: str) -> Position | None:
    """
    `for A`, `A with shadow mode`, `undecided`, `position: A`, or a sentence that approves of one option: "ok, A with
    shadow mode works for me". Also an option as a sentence of its own: "B. One partner needs it". A condition stays
    with it: "B works for me if it fails open". A question, a refusal, and words of others are no position.
    """
    if words := typed_positions.labelled(text):
        return _labelled(debate, typed_positions.read(words))
    text = _OPTION_ROW.sub("", text)
    rows = [row.strip() for row in text.splitlines() if row.strip() and not row.lstrip().startswith(">")]
    plain = " ".join(rows).replace("\u2019", "'")
    if _UNDECIDED.fullmatch(plain):
        return Position(UNDECIDED)
    typed = _TYPED.fullmatch(plain)
    if typed and not plain.endswith("?") and (not typed["why"] or _is_a_reason(plain)):
        option = of_letter(debate, typed["what"])
        why = one_line(typed["why"], OPTION_CHARS)
        return Position(option.letter if option else None, why, named=typed["what"].upper())
    if (option := normalizing.meant(debate.options, plain)) is not None:
        reason = one_line(plain, OPTION_CHARS)
        return Position(option.letter, reason if len(plain) > LETTER_CHARS else "")
    sentences = re.split(r"(?<=[.!?])\s+", plain)
    for sentence in sentences:
        if (letter := _approved(debate, sentence)) is not None:
            return Position(letter, one_line(plain, OPTION_CHARS))
    found = {taken for sentence in sentences if (taken := _alone(debate, sentence) or _if(debate, sentence))}
    if len({letter for letter, _ in found}) != 1:
        return None
    letter, condition = max(found, key=lambda one: one[1])
    return Position(letter, one_line(plain, OPTION_CHARS), condition=one_line(condition, OPTION_CHARS))


def is_only_position(debate: Elaboration, turn: Turn, text: str) -> bool:
    """
    `for A`, `undecided`, "ok, B works for me if it fails open": *text* of *turn* is where its speaker stands by now,
    the condition, and no other words.
    """
    position = position_in(debate, text)
    if position is None:
        return False
    if not position.why:
        return bool(position.letter) or " " not in text.strip()
    taken = {(one.by, one.option, one.condition) for one in newest(debate)}
    plain = text.replace("\u2019", "'").replace(position.condition, "", 1)
    approved, named = list(_APPROVES.finditer(plain)), list(_LETTER.finditer(plain))
    if (turn.by, position.letter, position.condition) not in taken or len(approved) != 1 or len(named) != 1:
        return False
    left = plain
    for found in sorted((*approved, *named), key=lambda one: one.start(), reverse=True):
        left = left[: found.start()] + left[found.end() :]
    opening = _OPENINGS.match(left)
    return not left[opening.end() if opening else 0 :].strip(" .,!;:–—-")


def _alone(debate: Elaboration, sentence: str) -> tuple[str, str] | None:
    """The option that is all that *sentence* says, after "ok": its letter, or its words."""
    opening = _OPENINGS.match(sentence)
    bare = sentence[opening.end() if opening else 0 :]
    if not bare.endswith((".", "!")):
        return None
    said = bare.rstrip(".! ")
    for one in debate.options:
        names = {f"option {one.letter.lower()}", positions.name(one.text)}
        if said == one.letter or positions.name(said) in names:
            return one.letter, ""
    return None


def _if(debate: Elaboration, sentence: str) -> tuple[str, str] | None:
    """The option that works for the speaker, and the condition; not where the condition names another option."""
    works = _WORKS.search(sentence)
    if works is None:
        return None
    condition = sentence[works.end() :].rstrip(".!; ")
    letter = _approved(debate, sentence[: works.end()])
    is_condition = condition.casefold().startswith(tuple(f"{word} " for word in _CONDITIONS))
    if letter is None or not is_condition or "?" in condition:
        return None
    others = [one for one in debate.options if one.letter != letter]
    if any(re.search(rf"\b{one.letter}\b", condition) for one in others):
        return None
    said = positions.name(condition)
    return None if any(positions.name(one.text) in said for one in others) else (letter, condition)


def _labelled(debate: Elaboration, given: SealedPosition) -> Position | None:
    """In words of one's own it is one of the options by now."""
    if not given.option and not given.words:
        return None
    option = of_letter(debate, given.option) if given.option else find(debate, given.words)
    return Position(option.letter if option else None, given.why, given.sure, given.option)


def _is_a_reason(plain: str) -> bool:
    """Of what follows the letter: "for A day" and "for a start" are no position."""
    return _REASON.match(plain) is not None


def _approved(debate: Elaboration, sentence: str) -> str | None:
    if _HEDGES.search(sentence) or not _APPROVES.search(sentence):
        return None
    letters = {(found["named"] or found["alone"]).upper() for found in _LETTER.finditer(sentence)}
    named = {one.letter for one in debate.options if one.letter in letters}
    said = positions.name(sentence)
    named |= {one.letter for one in debate.options if positions.name(one.text) in said}
    return next(iter(named)) if len(named) == 1 else None


# --- objections -----------------------------------------------------------------------------------------------------


def open_objections(debate: Elaboration) -> tuple[RaisedObjection, ...]:
    return tuple(one for one in debate.objections if one.fate is Fate.OPEN)


def objection(debate: Elaboration, number: int) -> RaisedObjection | None:
    return next((one for one in debate.objections if one.number == number), None)
