"""
What people do on the card of a discussion: object, decide, and say what becomes of an objection.

Each is a line with the name of who did it. A model or a rule never decides.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.actions.table import SOMETHING_ELSE, WITH_A_REASON
from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion import board, words
from bot.domain.discussion.board import Agreement, DiscussionBoard
from bot.domain.discussion.elaboration import BoardOption, Fate, SealedPosition
from bot.domain.discussion.words import NamedOption
from bot.domain.messages import discussion_forms as forms
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages import trouble_wording
from bot.domain.messages.attribution_wording import DECIDERS
from bot.domain.messages.discussion_card import TURNS_ADDED
from bot.domain.messages.discussion_forms import TEXT_CHARS
from bot.domain.messages.form import FormName, InputForm, Submission
from bot.domain.messages.message import Action
from bot.domain.roundtable import agreeing, waiting
from bot.domain.roundtable.effects import React
from bot.domain.roundtable.inputs import (
    NameOption,
    Press,
    RaiseObjection,
    RecordDecision,
    Say,
    SealPosition,
    SettleObjection,
)
from bot.domain.roundtable.marks import MessageMark
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import marking, specifying
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.roundtable.transitions.standing import (
    choice_at,
    on_record,
    position_patches,
    whole,
)
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import OPTION
from bot.domain.specification.fold import REPLACES, Patch
from bot.domain.specification.reader import MessageReading
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import one_line
from bot.errors import NotNow

# --- forms ----------------------------------------------------------------------------------------------------------

Entered = RecordDecision | NameOption | RaiseObjection | SettleObjection | SealPosition


def form(rt: Roundtable, action: str, subject: str, person: Person) -> InputForm:
    """Raises NotNow, with a sentence for the person, where it makes no sense."""
    if rt.elaboration is None or rt.stage is not Stage.ELABORATING:
        raise NotNow(wording.NO_DISCUSSION)
    debate, held = rt.elaboration, rt.discussed
    if action == Action.RECORD:
        return forms.record(held, slug=rt.slug, option=subject, person=person.id)
    if action in {Action.OPTION, Action.STAND}:
        return forms.option(debate.topic, slug=rt.slug, subject=subject)
    if action == Action.OBJECT:
        return forms.objection(debate.topic, slug=rt.slug)
    if action == Action.SEALED:
        if debate.revealed_at:
            raise NotNow(wording.SEALED_TOO_LATE)
        return forms.sealed(held, slug=rt.slug)
    found = forms.fate(held, slug=rt.slug, subject=subject)
    if found is None:
        raise NotNow(wording.HAS_AN_ANSWER)
    return found


def flaws(rt: Roundtable, submission: Submission) -> Mapping[str, str]:
    """A sentence for each field that does not fit."""
    if rt.elaboration is None:
        return {}
    words = submission.text(forms.WORDS).strip()
    if submission.name is FormName.OPTION:
        return {} if words else {forms.WORDS: wording.NO_OPTION_WORDS}
    if submission.name not in {FormName.RECORD, FormName.SEALED}:
        return {}
    letter = _letter(submission)
    held = rt.discussed
    is_known = bool(letter) and held.option(letter) is not None
    found = {} if is_known or words else {forms.WORDS: wording.NO_WORDS}
    here = {*rt.people, *waiting.participants(rt), submission.person.id}
    named = submission.values.get(forms.DECIDERS)
    if named is not None and not named:
        found[forms.DECIDERS] = wording.NOBODY_DECIDES
    elif named and not set(named) <= here:
        found[forms.DECIDERS] = wording.DOES_NOT_TAKE_PART
    fates = (submission.text(f"{forms.FATE}{one.id}") for one in held.open_objections)
    if Fate.REJECTED in fates and not submission.text(forms.WHY).strip():
        found[forms.WHY] = wording.TURNED_DOWN_WITHOUT_A_REASON
    return found


def entered(submission: Submission) -> Entered:
    sent, text = submission.sent, submission.text
    if submission.name is FormName.RECORD:
        fates = {
            name.removeprefix(forms.FATE): Fate(str(value))
            for name, value in submission.values.items()
            if name.startswith(forms.FATE) and value in set(Fate)
        }
        deciders = submission.values.get(forms.DECIDERS, ())
        return RecordDecision(
            **sent,
            option=_letter(submission),
            words=text(forms.WORDS),
            reason=text(forms.WHY),
            revisit=text(forms.REVISIT),
            fates=fates,
            deciders=deciders if isinstance(deciders, tuple) else (),
        )
    if submission.name is FormName.OPTION:
        is_own = submission.subject == SOMETHING_ELSE
        return NameOption(**sent, words=text(forms.WORDS), why=text(forms.WHY), is_own=is_own)
    if submission.name is FormName.SEALED:
        position = SealedPosition(
            option=_letter(submission),
            words=text(forms.WORDS),
            sure=text(forms.SURE),
            why=text(forms.WHY),
            change=text(forms.CHANGE),
        )
        return SealPosition(**sent, position=position)
    entry, _, fate = submission.subject.partition("/")
    if entry and fate in WITH_A_REASON:
        return SettleObjection(**sent, entry=entry, fate=Fate(fate), because=text(forms.BECAUSE))
    return RaiseObjection(**sent, words=text(forms.WORDS), settle=text(forms.SETTLE))


def _letter(submission: Submission) -> str:
    letter = submission.text(forms.CHOICE) or submission.text(forms.POSITION)
    return "" if letter == forms.OTHER else letter


# --- words ----------------------------------------------------------------------------------------------------------


def is_asked(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return bool(agreeing.prompts(rt))


def answered(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """`yes` or `not yet`, alone, while people are asked; None for all other words."""
    yes, not_yet = Action.AGREED.read_words(event.text), Action.NOT_AGREED.read_words(event.text)
    named, asked = not_yet if yes is None else yes, agreeing.prompts(rt)
    if named is None or not asked:
        return None
    is_yes, number = yes is not None, int(named or 0)
    if len(asked) > 1 and not 0 < number <= len(asked):
        rt = rt.hearing(event, part=LinePhase.WORKSHOP)
        return rt.whispering(event.person.id, wording.which_yes(len(asked)))
    prompt = asked[number - 1 if number else 0]
    if not is_yes:
        rt = rt.hearing(event, part=LinePhase.WORKSHOP)
        return _not_agreed(rt, event.person, prompt, playbook).queueing(React(ts=event.ts, emoji=NOTED))
    rt, patches = _agreeing(rt, event.person, prompt, playbook)
    rt = rt.hearing(event, part=LinePhase.WORKSHOP, entries=patches)
    return rt.queueing(React(ts=event.ts, emoji=NOTED))


def said(rt: Roundtable, event: Say, playbook: Playbook) -> tuple[Roundtable, tuple[Patch, ...]]:
    """
    The patches for the line of a person's words: what they give in a form, options, and a position, whose reason is the
    rest of the message. A decision says which option it is about, and what it replaces.
    """
    reading = specifying.read(rt, event.text, event.person, playbook, step_id=rt.step_id, is_asked=False)
    named = tuple(_options_in(reading, event.text, rt))
    debate = board.with_options(rt.debate, named)
    rt = rt.but(elaboration=debate)
    position = words.position_in(rt.discussed.options, event.text, playbook.schema)
    is_reason = position is not None and position.letter is not None and words.is_all_reason(event.text)
    kept = specifying.taken(rt, reading, rt.step_id, notes=not is_reason)
    patches = specifying.in_discussion(rt, kept, playbook)
    for letter, option in board.lettered_otherwise(debate, named):
        rt = rt.whispering(event.person.id, wording.other_letter(letter, option.letter, option.text))
    if position and position.letter is None:
        rt = rt.whispering(event.person.id, wording.no_such_option(position.named))
    elif position:
        held, letter = rt.discussed, position.letter or ""
        taken = position_patches(rt, held, event.person, letter, playbook, **position.fields)
        patches = (*patches, *taken)
        if rt.debate.sealed and words.labelled_position(event.text):
            rt = rt.whispering(event.person.id, wording.SEEN_BY_EVERYBODY)
    if any(map(_is_new_decision, patches)):
        patches = _about_options(rt, rt.discussed, event.person, patches)
    return rt, patches


def said_in_step(rt: Roundtable, event: Say, playbook: Playbook) -> tuple[Patch, ...]:
    """As `said`: where two options are named in the open step, people say what they are for without a discussion."""
    if (held := choice_at(rt, rt.step_id)) is None:
        return specifying.said(rt, event.text, event.person, playbook)
    position = words.position_in(held.options, event.text, playbook.schema)
    is_known = position is not None and position.letter is not None
    notes = not (is_known and words.is_all_reason(event.text))
    patches = specifying.said(rt, event.text, event.person, playbook, notes=notes)
    if position and is_known:
        letter = position.letter or ""
        taken = position_patches(rt, held, event.person, letter, playbook, **position.fields)
        patches = (*patches, *taken)
    return _about_options(rt, held, event.person, patches)


def _about_options(
    rt: Roundtable, held: DiscussionBoard, person: Person, patches: Iterable[Patch]
) -> tuple[Patch, ...]:
    return tuple(
        one.but(set={**one.set, **_about(rt, held, person, one)}) if _is_new_decision(one) else one
        for one in patches
    )


def _options_in(reading: MessageReading, text: str, rt: Roundtable) -> Iterator[NamedOption]:
    """Also what `position: …` names in words of its own."""
    for one in reading.patches:
        known = rt.specification.entries.get(one.id)
        if known and known.kind == OPTION and "name" not in one.set:  # said once more
            yield NamedOption(str(known["name"]), reading.options.get(one.id, ""))
        elif one.new and one.kind == OPTION:
            yield NamedOption(str(one.set["name"]), reading.options.get(one.id, ""))
    if own := words.typed_position(words.labelled_position(text)).words:
        yield NamedOption(own)


def _about(rt: Roundtable, held: DiscussionBoard, person: Person, patch: Patch) -> dict[str, Any]:
    """
    A decision that was typed has its entry by its words, and is of those whom it names, or who are for that option. A
    letter alone stands for the words of its option, which people read who were not there.
    """
    said = str(patch.set.get("text", ""))
    option = words.decided_option(held.options, said)
    named = [str(one) for one in patch.set.get(REPLACES) or ()]
    about = [option.entry] if option and option.entry and not patch.set.get("about") else []
    deciders = _named_besides(rt, held.people_for(option), person) if option else ()
    return {
        **_replacing([*named, *_decided_before(held, option)]),
        **({"about": about} if about else {}),
        **({DECIDERS: list(deciders)} if deciders and DECIDERS not in patch.set else {}),
        **({"text": option.text} if option and words.is_letter(said) else {}),
    }


def _decided_before(held: DiscussionBoard, option: BoardOption | None) -> tuple[str, ...]:
    """On the same issue: it counts no more."""
    return tuple(
        one.id
        for one in held.current_decisions
        if option and (chosen := held.chosen(one)) and words.name(chosen.issue) == words.name(option.issue)
    )


def _is_new_decision(patch: Patch) -> bool:
    return patch.kind == "decision" and patch.new


# --- decisions ------------------------------------------------------------------------------------------------------


def agreed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A press records; one that comes after positions changed does not."""
    if _is_for_a_step(rt, event):
        return marking.settled(rt, event.person, marking.asked_in_step(rt, event), playbook, agree=True)
    rt, patches = _agreeing(rt, event.person, _asked_by(rt, event), playbook)
    text = next(str(one.set["text"]) for one in patches if _is_new_decision(one))
    sentence = wording.recorded(rt.name_of(event.person.id), text)
    return on_record(rt, event, sentence, patches)


def not_agreed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if _is_for_a_step(rt, event):
        return marking.settled(rt, event.person, marking.asked_in_step(rt, event), playbook, agree=False)
    return _not_agreed(rt, event.person, _asked_by(rt, event), playbook)


def _is_for_a_step(rt: Roundtable, event: Press) -> bool:
    return rt.stage is not Stage.ELABORATING and (not event.token or marking.is_mark(rt, event.value))


def _agreeing(
    rt: Roundtable, person: Person, prompt: Agreement | MessageMark, playbook: Playbook
) -> tuple[Roundtable, tuple[Patch, ...]]:
    """A message that was marked is decided in its words, or in those of who marked it."""
    if isinstance(prompt, Agreement):
        deciders = _named_besides(rt, prompt.people, person)
        return rt, _deciding(rt, prompt.option.text, prompt.option, playbook, deciders=deciders)
    text, context = one_line(prompt.text, TEXT_CHARS), marking.whose(rt, prompt)
    option, said_in = words.decided_option(rt.discussed.options, text), rt.line_of(prompt.ts)
    patches = _deciding(rt, text, option, playbook, said_in=said_in, context=context)
    return marking.decided(rt, prompt, next((one.id for one in patches), "")), patches


def _asked_by(rt: Roundtable, event: Press) -> Agreement | MessageMark:
    if marking.is_mark(rt, event.value):
        return marking.open_mark(rt, event.value)
    letter, _, stands = event.value.partition("/")
    found = next((one for one in agreeing.agreements(rt) if one.option.letter == letter), None)
    if found is None or stands != str(rt.discussed.moves):
        raise NotNow(wording.POSITIONS_MOVED)
    return found


def _not_agreed(
    rt: Roundtable, person: Person, agreement: Agreement | MessageMark, playbook: Playbook
) -> Roundtable:
    if isinstance(agreement, MessageMark):
        return marking.settled(rt, person, agreement, playbook, agree=False)
    debate = rt.debate.but(not_agreed=(*rt.debate.not_agreed, agreement.positions))
    sentence = wording.not_agreed(rt.name_of(person.id), agreement.option.text)
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, by=person.id)
    return rt.but(elaboration=debate)


def recorded(rt: Roundtable, event: RecordDecision, playbook: Playbook) -> Roundtable:
    option = rt.discussed.option(event.option) if event.option else None
    text = whole(event.words, TEXT_CHARS) or (option.text if option else "")
    if not text:
        raise NotNow(wording.NO_WORDS)
    named = tuple(dict.fromkeys(event.deciders))
    deciders = _named_besides(rt, named, event.person)
    about = {"reason": event.reason, "revisit": event.revisit}
    patches = _deciding(rt, text, option, playbook, deciders=deciders, **about)
    replaced = {id for one in patches for id in one.set.get(REPLACES) or ()}
    old = [str(one["text"]) for one in rt.discussed.decisions if one.id in replaced]
    name = rt.name_of(event.person.id)
    sentence = wording.recorded(name, text, event.reason, instead=old, deciders=deciders)
    rt = on_record(rt, event, sentence, patches)
    for decider in named:
        if decider != event.person.id:
            rt = rt.whispering(decider, wording.named_as_decider(name, text))
    for id, fate in event.fates.items():
        if fate is not Fate.OPEN:
            try:
                rt = _settled(rt, event.person, _open(rt, id), fate, event.reason)
            except NotNow as why:
                rt = rt.whispering(event.person.id, str(why))
    return rt


def _named_besides(rt: Roundtable, deciders: tuple[str, ...], person: Person) -> tuple[str, ...]:
    """The names of *deciders*. Empty if *person*, who records the decision, is the only one."""
    return () if deciders == (person.id,) else tuple(map(rt.name_of, deciders))


def _deciding(
    rt: Roundtable,
    text: str,
    option: BoardOption | None,
    playbook: Playbook,
    *,
    deciders: tuple[str, ...] = (),
    said_in: str = "",
    context: str = "",
    reason: str = "",
    revisit: str = "",
) -> tuple[Patch, ...]:
    """
    The entry of the decision, which says what it replaces, and the *option* that it chooses, if
    it is one. *said_in* is the line of the message whose words *text* has. *deciders* are names, where it is not the
    person who records it alone.
    """
    if option and option.text != text:
        context = context or wording.chosen(option.letter, option.text)
    return specifying.decided(
        rt,
        text,
        playbook,
        sources=(said_in,) if said_in else (),
        reason=reason,
        deciders=list(deciders),
        context=context,
        revisit=revisit,
        **_replacing(_decided_before(rt.discussed, option)),
        about=[option.entry] if option and option.entry else [],
    )


def _replacing(old: Iterable[str]) -> dict[str, Any]:
    replaces = list(dict.fromkeys(filter(None, old)))
    return {REPLACES: replaces} if replaces else {}


# --- objections -----------------------------------------------------------------------------------------------------


def objected(rt: Roundtable, event: RaiseObjection, playbook: Playbook) -> Roundtable:
    text, settle = whole(event.words, TEXT_CHARS), whole(event.settle, TEXT_CHARS)
    if not text:
        raise NotNow(wording.NO_WORDS)
    patches = specifying.objected(rt, text, settle, playbook)
    return on_record(rt, event, wording.objected(rt.name_of(event.person.id), text, settle), patches)


def fate_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `ID/FATE`. For a reason a form is needed; its owner takes an objection back."""
    id, _, fate = event.value.partition("/")
    if fate not in {Fate.ACCEPTED, Fate.WITHDRAWN}:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    return _settled(rt, event.person, _open(rt, id), Fate(fate), "")


def settled(rt: Roundtable, event: SettleObjection, playbook: Playbook) -> Roundtable:
    because = whole(event.because, TEXT_CHARS)
    return _settled(rt, event.person, _open(rt, event.entry), event.fate, because)


def _open(rt: Roundtable, id: str) -> Entry:
    found = rt.discussed.objection(id)
    if found is None:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    if board.fate(found) is not Fate.OPEN:
        raise NotNow(wording.HAS_AN_ANSWER)
    return found


def _settled(rt: Roundtable, person: Person, raised: Entry, fate: Fate, because: str) -> Roundtable:
    claim = raised.claim("text")
    assert claim, "an objection has words"
    if fate is Fate.WITHDRAWN and person.id != claim.owner.by:
        raise NotNow(wording.only_its_owner(claim.owner.name))
    sentence = wording.settled(rt.name_of(person.id), str(claim.value), claim.owner.name, fate, because)
    patch = specifying.settle_objection(raised.id, fate, because)
    return rt.recording(sentence, part=LinePhase.WORKSHOP, by=person.id, entries=[patch])


# --- turns ----------------------------------------------------------------------------------------------------------


def more_turns(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Of this discussion only."""
    debate = rt.debate
    if not debate.is_limited:
        raise NotNow(wording.NO_LIMIT)
    debate = debate.but(max_turns=debate.max_turns + TURNS_ADDED, more_turns=debate.more_turns + TURNS_ADDED)
    sentence = wording.turns_added(rt.name_of(event.person.id), TURNS_ADDED, debate.max_turns)
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, by=event.person.id)
    return rt.but(elaboration=debate)
