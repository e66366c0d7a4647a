"""
Where people stand in a discussion: for an option, for one that they name, or sealed until all positions are shown.

Each is a line with the name of who took it. What is too long to be kept whole is refused.
"""

from collections.abc import Iterable, Iterator, Sequence

from bot.domain.actions import table
from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion import board, words
from bot.domain.discussion.board import UNDECIDED, DiscussionBoard
from bot.domain.discussion.elaboration import BoardOption, SealedPosition, SealedRound
from bot.domain.discussion.words import OPTION_CHARS
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages import trouble_wording
from bot.domain.messages.discussion_forms import TEXT_CHARS
from bot.domain.messages.message import Message
from bot.domain.roundtable.inputs import Amend, Command, NameOption, Press, SealPosition
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import speaking, specifying
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import DISCUSSION, POSITION
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import one_line
from bot.errors import NotNow

# --- taken openly ---------------------------------------------------------------------------------------------------


def stood(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    letter = "" if event.value == table.UNDECIDED else event.value
    option = rt.discussed.option(letter) if letter else None
    if letter and option is None:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    patches = position_patches(rt, rt.discussed, event.person, letter, playbook)
    if not patches:
        raise NotNow(wording.stands_already(letter))
    name = rt.name_of(event.person.id)
    sentence = wording.stands_for(name, letter, option.text if option else "")
    return on_record(rt, event, sentence, patches)


def option_named(rt: Roundtable, event: NameOption, playbook: Playbook) -> Roundtable:
    """As if `option: …` was typed; who names an option of their own is for it, too."""
    debate, text = rt.debate, whole(event.words, OPTION_CHARS)
    if not text:
        raise NotNow(wording.NO_OPTION_WORDS)
    if event.is_own and debate.sealed:
        raise NotNow(wording.SEALING_NOW)
    known = board.find(rt.discussed.options, text)
    if known and not event.is_own:
        raise NotNow(wording.named_already(known.letter))
    debate = board.with_options(debate, [text])
    option = known or board.find(debate.options, text)
    if option is None:
        raise NotNow(wording.TOO_MANY_OPTIONS)
    name, person = rt.name_of(event.person.id), event.person
    patches = () if known else specifying.said(rt, f"option: {text}", person, playbook, notes=False)
    rt = rt.but(elaboration=debate)
    told = wording.stands_for if event.is_own else wording.option_named
    if event.is_own:
        why = one_line(event.why, OPTION_CHARS)
        taken = position_patches(rt, rt.discussed, person, option.letter, playbook, why=why)
        patches = (*patches, *taken)
    reason = f". Why: {event.why.strip()}" if event.why.strip() else ""
    return on_record(rt, event, f"{told(name, option.letter, option.text)}{reason}", patches)


FIELDS = ("words", "why", "sure", "condition", "would_change")
"""Of a position, besides its option: who moves leaves what they said before behind."""


ABOUT = (DISCUSSION, "person", "issue", "heard")


def position_patches(
    rt: Roundtable, held: DiscussionBoard, person: Person, letter: str, playbook: Playbook, **said: str
) -> list[Patch]:
    """Undecided is so on every issue. *said*: the fields of a position. No patches: they stand there already."""
    debate, option = held.debate, held.option(letter) if letter else None
    issues = [option.issue] if option else list(dict.fromkeys(one.issue for one in held.options))
    reason = board.named_as_reason(debate, person.id, said.get("why", ""))
    heard = board.newest_of_others(debate, person.id)
    given = {name: said.get(name, "") for name in FIELDS} | {"heard": heard.line if heard else ""}
    patches: list[Patch] = []
    for issue in issues:
        before = held.stand_of(person.id, issue)
        sure, condition = given["sure"], given["condition"]
        now = letter, sure or (before.sure if before else ""), condition
        if before is None or (before.letter, before.sure, before.condition) != now:
            patches += specifying.position_taken(
                rt,
                debate,
                person.id,
                playbook,
                issue=issue,
                option=option.text if option else UNDECIDED,
                sources=[reason.line] if reason and reason.line else [],
                taken=patches,
                **given,
            )
    return patches


def board_at(rt: Roundtable, step_id: str) -> DiscussionBoard:
    """What was named and said in the step outside of its discussion. Options have the letters that they had in that."""
    ended = rt.ended.get(step_id)
    return board.board_of_step(step_id, ended.options if ended else (), rt.specification)


def restated(rt: Roundtable, event: Amend, playbook: Playbook) -> Iterator[Patch]:
    """A message that said where its author stands, and still does in other words, keeps the position that it gave."""
    made = [one.id for one in rt.specification.made_by(rt.line_of(event.ts)) if one.kind == POSITION]
    options = _options_of(rt, rt.specification.entries[made[0]]) if made else ()
    position = words.position_in(options, event.text, playbook.schema) if made else None
    if position is None or position.letter is None:
        return
    option = words.of_letter(options, position.letter) if position.letter else None
    fields = {"option": option.text if option else UNDECIDED, **position.fields}
    for id in made:
        entry = rt.specification.entries[id]
        given = {name: entry[name] for name in ABOUT if entry[name]} | fields
        yield Patch(id=id, set={name: value for name, value in given.items() if value})


def _options_of(rt: Roundtable, position: Entry) -> Sequence[BoardOption]:
    """Of its discussion, with the letters of it, also when that is over; or of its step."""
    if rt.elaboration and rt.elaboration.entry == position[DISCUSSION]:
        return rt.discussed.options
    held = rt.specification.entries.get(str(position[DISCUSSION]))
    return board_at(rt, str(held["step"]) if held else position.step).options


def choice_at(rt: Roundtable, step_id: str) -> DiscussionBoard | None:
    """The same, where two options are named, so that people can be for one of them."""
    held = board_at(rt, step_id)
    return held if len(held.options) > 1 else None


# --- sealed positions -----------------------------------------------------------------------------------------------


def sealed(rt: Roundtable, event: SealPosition, playbook: Playbook) -> Roundtable:
    """Kept in the store only: no line has it before it is shown. The first one begins the round."""
    debate = rt.debate
    if debate.revealed_at:
        raise NotNow(wording.SEALED_TOO_LATE)
    position = event.position
    whole(position.words, OPTION_CHARS)
    is_known = bool(position.option) and rt.discussed.option(position.option) is not None
    if not is_known and not position.words.strip():
        unknown = wording.no_such_option(position.option) if position.option else wording.NO_WORDS
        raise NotNow(unknown)
    begun = debate.sealed or SealedRound(asked=tuple(rt.people))
    if debate.sealed is None:
        began = wording.sealing_began(rt.name_of(event.person.id))
        rt = rt.recording(began, part=LinePhase.WORKSHOP, by=event.person.id)
        rt = speaking.putting_off(rt)
    asked = tuple(dict.fromkeys((*begun.asked, event.person.id)))
    begun = begun.but(asked=asked, given={**begun.given, event.person.id: position})
    rt = rt.but(elaboration=rt.debate.but(sealed=begun))
    if not event.is_answered:
        rt = rt.whispering(event.person.id, wording.SEALED_NOTED)
    is_last = len(begun.given) > 1 and not set(asked) - set(begun.given)
    return _show_sealed(rt, None, playbook) if is_last else rt


def revealed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if rt.debate.sealed is None:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    return _show_sealed(rt, event.person, playbook)


def shown_at_the_end(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    A discussion that ends, or stops, leaves nothing behind in the store alone: positions that are still sealed are
    told in the thread, since its card shows them no more.
    """
    given = rt.elaboration and rt.elaboration.sealed
    if not given:
        return rt
    rt = _with_their_options(rt, given)
    told = wording.still_sealed(len(given.given))
    rows = [f"- {one_line(_in_words(rt, *one), TEXT_CHARS)}" for one in given.given.items()]
    rt = rt.telling(Message(text="\n".join((told, *rows))), part=LinePhase.WORKSHOP, line=told)
    return _positions_taken(rt, given, playbook)


def _show_sealed(rt: Roundtable, by: Person | None, playbook: Playbook) -> Roundtable:
    given = rt.debate.sealed
    assert given, "there is something to show"
    sentence = wording.shown_by(rt.name_of(by.id) if by else "", len(given.given))
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, by=by.id if by else "")
    return _positions_taken(_with_their_options(rt, given), given, playbook)


def _positions_taken(rt: Roundtable, sealed: SealedRound, playbook: Playbook) -> Roundtable:
    """All at once: each is a line of its person, with everything that they entered."""
    rt = rt.but(elaboration=rt.debate.but(sealed=None, revealed_at=rt.now))
    for person, position in sealed.given.items():
        someone, option = Person(id=person, name=rt.name_of(person)), _option(rt, position)
        said = _in_words(rt, person, position)
        given = {"sure": position.sure, "would_change": position.change, "words": position.words}
        patches: list[Patch] = []
        if option:
            why = one_line(position.why, OPTION_CHARS)
            told = {name: value for name, value in given.items() if value}
            patches = position_patches(rt, rt.discussed, someone, option.letter, playbook, why=why, **told)
        message_id = f"{rt.slug}.{rt.incarnation}.sealed.{rt.sequence}.{person}"
        rt = rt.heard(someone, said, ts="", part=LinePhase.WORKSHOP, message_id=message_id, entries=patches)
    return rt


def _with_their_options(rt: Roundtable, sealed: SealedRound) -> Roundtable:
    """What a person is for in words of their own is an option, unless it is one already, or there are too many."""
    new = [one.words for one in sealed.given.values() if _option(rt, one) is None]
    return rt.but(elaboration=board.with_options(rt.debate, new))


def _option(rt: Roundtable, position: SealedPosition) -> BoardOption | None:
    """The chosen option; words beside it say more about it. Without a choice, the option that the words mean."""
    said, options = one_line(position.words, OPTION_CHARS), rt.discussed.options
    chosen = words.of_letter(options, position.option)
    return chosen or words.meant(options, said) or board.find(options, said)


def _in_words(rt: Roundtable, person: str, position: SealedPosition) -> str:
    return wording.sealed_position(rt.name_of(person), _option(rt, position), position)


# --- small things ---------------------------------------------------------------------------------------------------


def on_record(rt: Roundtable, event: Command, sentence: str, patches: Iterable[Patch]) -> Roundtable:
    """A person's line for what they pressed or entered."""
    part, key = LinePhase.WORKSHOP, event.key
    return rt.heard(event.person, sentence, ts="", part=part, message_id=key, entries=patches)


def whole(text: str, most: int) -> str:
    """*text* in one line. Raises NotNow rather than cut what a person entered."""
    line = one_line(text, max(len(text), most))
    if len(line) > most:
        raise NotNow(wording.too_long(len(line), most))
    return line
