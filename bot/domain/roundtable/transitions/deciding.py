"""
What people do on the card of a discussion: object, decide, and say what becomes of an objection.

Each is a line with the name of who did it. A model or a rule never decides.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion import board, dissent, positions, typed_positions
from bot.domain.discussion.board import Agreement
from bot.domain.discussion.elaboration import (
    BoardOption,
    Decided,
    Elaboration,
    Fate,
    RaisedObjection,
    SealedPosition,
)
from bot.domain.messages import discussion_forms as forms
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages import trouble_wording
from bot.domain.messages.discussion_card import TURNS_ADDED
from bot.domain.messages.discussion_forms import TEXT_CHARS
from bot.domain.messages.form import FormName, InputForm, Submission
from bot.domain.messages.message import SOMETHING_ELSE, WITH_A_REASON, Action
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
from bot.domain.roundtable.transitions.marking import MOST_OBJECTIONS
from bot.domain.roundtable.transitions.specifying import DECIDERS
from bot.domain.roundtable.transitions.standing import (
    on_record,
    taking_position,
    whispering,
    whole,
)
from bot.domain.specification.entries import ENTRIES, Patch
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import one_line
from bot.errors import NotNow


class WrittenEntry(NamedTuple):
    """An entry that a message gave: what is in its fields."""

    id: str
    fields: Mapping[str, Any]


# --- forms ----------------------------------------------------------------------------------------------------------

FORMS = frozenset({
    Action.RECORD, Action.OPTION, Action.STAND, Action.OBJECT, Action.OBJECTION, Action.SEALED,
})  # fmt: skip
Entered = RecordDecision | NameOption | RaiseObjection | SettleObjection | SealPosition


def form(rt: Roundtable, action: Action, subject: str, person: Person) -> InputForm:
    """Raises NotNow, with a sentence for the person, where it makes no sense."""
    if rt.elaboration is None or rt.stage is not Stage.ELABORATING:
        raise NotNow(wording.NO_DISCUSSION)
    debate = rt.elaboration
    if action is Action.RECORD:
        return forms.record(debate, slug=rt.slug, option=subject, person=person.id)
    if action in {Action.OPTION, Action.STAND}:
        return forms.option(debate.topic, slug=rt.slug, subject=subject)
    if action is Action.OBJECT:
        return forms.objection(debate.topic, slug=rt.slug)
    if action is Action.SEALED:
        if debate.revealed_at:
            raise NotNow(wording.SEALED_TOO_LATE)
        return forms.sealed(debate, slug=rt.slug)
    found = forms.fate(debate, slug=rt.slug, subject=subject)
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
    is_known = bool(letter) and board.of_letter(rt.elaboration, letter) is not None
    found = {} if is_known or words else {forms.WORDS: wording.NO_WORDS}
    here = {*rt.people, *waiting.participants(rt), submission.person.id}
    named = submission.values.get(forms.DECIDERS)
    if named is not None and not named:
        found[forms.DECIDERS] = wording.NOBODY_DECIDES
    elif named and not set(named) <= here:
        found[forms.DECIDERS] = wording.DOES_NOT_TAKE_PART
    fates = (submission.text(f"{forms.FATE}{one.number}") for one in board.open_objections(rt.elaboration))
    if Fate.REJECTED in fates and not submission.text(forms.WHY).strip():
        found[forms.WHY] = wording.TURNED_DOWN_WITHOUT_A_REASON
    return found


def entered(submission: Submission) -> Entered:
    sent = {
        "key": f"{submission.key}.{submission.name.value}",
        "at": submission.at,
        "person": submission.person,
    }
    text = submission.text
    if submission.name is FormName.RECORD:
        fates = {
            int(name.removeprefix(forms.FATE)): Fate(str(value))
            for name, value in submission.values.items()
            if name.removeprefix(forms.FATE).isdecimal() and value in set(Fate)
        }
        replaces, deciders = (submission.values.get(name, ()) for name in (forms.REPLACES, forms.DECIDERS))
        return RecordDecision(
            **sent,
            option=_letter(submission),
            words=text(forms.WORDS),
            reason=text(forms.WHY),
            revisit=text(forms.REVISIT),
            fates=fates,
            replaces=replaces if isinstance(replaces, tuple) else (),
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
    number, _, fate = submission.subject.partition("/")
    if number.isdecimal() and fate in WITH_A_REASON:
        because = text(forms.BECAUSE)
        return SettleObjection(**sent, number=int(number), fate=Fate(fate), because=because)
    return RaiseObjection(**sent, words=text(forms.WORDS), settle=text(forms.SETTLE))


def _letter(submission: Submission) -> str:
    letter = submission.text(forms.CHOICE) or submission.text(forms.POSITION)
    return "" if letter == forms.OTHER else letter


# --- words ----------------------------------------------------------------------------------------------------------


def answered(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """`yes` or `not yet`, alone, while people are asked; None for all other words."""
    answer, asked = agreeing.answer(event.text), agreeing.prompts(rt)
    if answer is None or not asked:
        return None
    is_yes, number = answer
    if len(asked) > 1 and not 0 < number <= len(asked):
        rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP)
        return whispering(rt, event.person, wording.which_yes(len(asked)))
    prompt = asked[number - 1 if number else 0]
    if not is_yes:
        rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP)
        return _not_agreed(rt, event.person, prompt, playbook).queueing(React(ts=event.ts, emoji=NOTED))
    rt, facts = _agreeing(rt, event.person, prompt, playbook, line=rt.line_of(event.ts))
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP, **facts)
    return rt.queueing(React(ts=event.ts, emoji=NOTED))


def said(rt: Roundtable, event: Say, playbook: Playbook, *, turn: str) -> tuple[Roundtable, dict[str, Any]]:
    """
    What the words of a person put on the card, with the facts for their line: options, a position, objections,
    decisions.
    """
    facts = specifying.said(rt, board.without_letters(event.text), event.person, playbook, notes=False)
    named = board.named_options(event.text)
    debate = board.with_named(rt.debate, named)
    position = board.position_in(debate, event.text)
    rt = rt.but(elaboration=debate)
    for letter, option in board.lettered_otherwise(debate, named):
        rt = whispering(rt, event.person, wording.other_letter(letter, option.letter, option.text))
    if position and position.letter is None:
        rt = whispering(rt, event.person, wording.no_such_option(position.named))
    elif position:
        told = {"why": position.why, "sure": position.sure, "condition": position.condition}
        rt, taken = taking_position(rt, event.person, position.letter or "", playbook, ts=event.ts, **told)
        facts = specifying.merged(facts, taken)
        if rt.debate.sealed and typed_positions.labelled(event.text):
            rt = whispering(rt, event.person, wording.SEEN_BY_EVERYBODY)
    line = rt.line_of(event.ts)
    for text, entry in _matched(dissent.objections(event.text), _written(facts, "objection")):
        raised = rt.debate.objections
        if len(raised) < MOST_OBJECTIONS:
            one = RaisedObjection(
                number=len(raised) + 1,
                text=one_line(text, TEXT_CHARS),
                by=event.person.id,
                name=rt.name_of(event.person.id),
                line=line,
                ts=event.ts,
                turn=turn,
                entry=entry.id if entry else "",
            )
            rt = rt.but(elaboration=rt.debate.but(objections=(*raised, one)))
    for text, entry in _matched(dissent.decisions(event.text), _written(facts, "decision")):
        rt, facts = _typed_decision(rt, event, text, entry, facts, turn=turn, playbook=playbook)
    return rt, facts


def _typed_decision(
    rt: Roundtable,
    event: Say,
    text: str,
    entry: WrittenEntry | None,
    facts: dict[str, Any],
    *,
    turn: str,
    playbook: Playbook,
) -> tuple[Roundtable, dict[str, Any]]:
    """It has its entry by the words already; here it gets its place on the card, and replaces what it says."""
    debate = rt.debate
    option = _meant(debate, text)
    named = [str(one) for one in (entry.fields.get("replaces") or () if entry else ())]
    old = tuple(
        one
        for one in board.current_decisions(debate)
        if one.entry in named or (option and _is_of_issue(debate, one, option))
    )
    decided = Decided(
        issue="",
        position=one_line(text, TEXT_CHARS),
        by=event.person.id,
        name=rt.name_of(event.person.id),
        line=rt.line_of(event.ts),
        after=debate.turn_count,
        reason=str(entry.fields.get("reason") or "") if entry else "",
        deciders=tuple(entry.fields.get(DECIDERS) or ()) if entry else (),
        entry=entry.id if entry else "",
        typed=bool(turn),
        ts=event.ts,
    )
    rt = rt.but(elaboration=_with_decision(debate, decided, old))
    about = specifying.option_entry(rt, option.text) if option else []
    more = {
        **_replacing([*named, *(one.entry for one in old if not entry or one.entry != entry.id)]),
        **({"about": about} if about and not (entry and entry.fields.get("about")) else {}),
    }
    if entry is None:
        return rt, specifying.merged(facts, specifying.decided(rt, decided.text, playbook, **more))
    return rt, specifying.completed(facts, entry.id, more)


def _meant(debate: Elaboration, text: str) -> BoardOption | None:
    """The option that a decision names: by its letter, alone or in front, or in its words."""
    letter = re.match(r"\s*(?:option )?([A-HJ-Z])(?=\s*$|\s*[.,;:–—-]|\s+(?:with|because|instead)\b)", text)
    if letter and (found := board.of_letter(debate, letter[1])):
        return found
    said_so = positions.name(text)
    return next((one for one in debate.options if positions.name(one.text) in said_so), None)


def _is_of_issue(debate: Elaboration, decided: Decided, option: BoardOption) -> bool:
    """Whether *decided* chose another option of the same issue."""
    if decided.issue and positions.name(decided.issue) == positions.name(option.issue):
        return True
    chosen = board.find(debate, decided.position) or _meant(debate, decided.position)
    return chosen is not None and positions.name(chosen.issue) == positions.name(option.issue)


def _matched(texts: Iterable[str], written: Iterable[WrittenEntry]) -> list[tuple[str, WrittenEntry | None]]:
    """Each of *texts* with its entry; an entry that none of them gave stands by itself."""
    left = list(written)
    found: list[tuple[str, WrittenEntry | None]] = []
    for text in texts:
        entry = next((one for one in left if text.startswith(str(one.fields.get("text", "")))), None)
        left = [one for one in left if one is not entry]
        found.append((text, entry))
    return [*found, *((str(one.fields.get("text", "")), one) for one in left)]


def _written(facts: Mapping[str, Any], kind: str) -> list[WrittenEntry]:
    patches = (Patch.model_validate(one) for one in facts.get(ENTRIES) or ())
    return [WrittenEntry(one.id, one.set) for one in patches if one.kind == kind and one.new]


# --- decisions ------------------------------------------------------------------------------------------------------


class ProposedDecision(NamedTuple):
    """
    *position* is the text that is recorded. *option* is what it chooses, if it is one. *said_in* is the line of the
    message whose words they are. *deciders* are names, where it is not the person who records it alone.
    """

    position: str
    option: BoardOption | None = None
    reason: str = ""
    revisit: str = ""
    replaces: tuple[str, ...] = ()
    said_in: str = ""
    context: str = ""
    deciders: tuple[str, ...] = ()


def agreed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A press records; one that comes after positions changed does not."""
    if rt.stage is not Stage.ELABORATING and marking.is_mark(rt, event.value):
        return marking.agreed(rt, event, playbook)
    rt, facts = _agreeing(rt, event.person, _asked_by(rt, event), playbook, line=event.key)
    sentence = wording.recorded(rt.name_of(event.person.id), rt.debate.decided[-1].text)
    return on_record(rt, event, sentence, **facts)


def not_agreed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if rt.stage is not Stage.ELABORATING and marking.is_mark(rt, event.value):
        return marking.not_agreed(rt, event, playbook)
    return _not_agreed(rt, event.person, _asked_by(rt, event), playbook)


def _agreeing(
    rt: Roundtable, person: Person, prompt: Agreement | MessageMark, playbook: Playbook, *, line: str
) -> tuple[Roundtable, dict[str, Any]]:
    """A message that was marked is decided in its words, or in those of who marked it."""
    if isinstance(prompt, Agreement):
        deciders = _named_besides(rt, prompt.people, person)
        proposal = ProposedDecision(prompt.option.text, prompt.option, deciders=deciders)
        return _deciding(rt, person, proposal, playbook, line=line)
    words, context = one_line(prompt.text, TEXT_CHARS), marking.whose(rt, prompt)
    option, said_in = _meant(rt.debate, words), rt.line_of(prompt.ts)
    proposal = ProposedDecision(words, option, said_in=said_in, context=context)
    rt, facts = _deciding(rt, person, proposal, playbook, line=line)
    return marking.decided(rt, prompt, rt.debate.decided[-1].entry), facts


def _asked_by(rt: Roundtable, event: Press) -> Agreement | MessageMark:
    if marking.is_mark(rt, event.value):
        return marking.open_mark(rt, event.value)
    letter, _, stands = event.value.partition("/")
    found = next((one for one in agreeing.agreements(rt) if one.option.letter == letter), None)
    if found is None or stands != str(len(rt.debate.stands)):
        raise NotNow(wording.POSITIONS_MOVED)
    return found


def _not_agreed(
    rt: Roundtable, person: Person, agreement: Agreement | MessageMark, playbook: Playbook
) -> Roundtable:
    if isinstance(agreement, MessageMark):
        return marking.settled(rt, person, agreement, playbook, agree=False)
    name = rt.name_of(person.id)
    debate = rt.debate.but(not_agreed=(*rt.debate.not_agreed, agreement.positions))
    sentence = wording.not_agreed(name, agreement.option.text)
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, user_id=person.id, user_name=name)
    return rt.but(elaboration=debate)


def recorded(rt: Roundtable, event: RecordDecision, playbook: Playbook) -> Roundtable:
    option = board.of_letter(rt.debate, event.option) if event.option else None
    text = whole(event.words, TEXT_CHARS) or (option.text if option else "")
    if not text:
        raise NotNow(wording.NO_WORDS)
    named = tuple(dict.fromkeys(event.deciders))
    deciders = _named_besides(rt, named, event.person)
    proposal = ProposedDecision(text, option, event.reason, event.revisit, event.replaces, deciders=deciders)
    rt, facts = _deciding(rt, event.person, proposal, playbook, line=event.key)
    old = [one.text for one in rt.debate.decided if one.replaced_by == event.key]
    name = rt.name_of(event.person.id)
    sentence = wording.recorded(name, text, event.reason, instead=old, deciders=deciders)
    rt = on_record(rt, event, sentence, **facts)
    for decider in named:
        if decider != event.person.id:
            rt = whispering(rt, Person(id=decider), wording.named_as_decider(name, text))
    for number, fate in event.fates.items():
        if fate is not Fate.OPEN:
            try:
                rt = _settled(rt, event.person, _open(rt, number), fate, event.reason)
            except NotNow as why:
                rt = whispering(rt, event.person, str(why))
    return rt


def _named_besides(rt: Roundtable, deciders: tuple[str, ...], person: Person) -> tuple[str, ...]:
    """The names of *deciders*. Empty if *person*, who records the decision, is the only one."""
    return () if deciders == (person.id,) else tuple(map(rt.name_of, deciders))


def _deciding(
    rt: Roundtable, person: Person, proposal: ProposedDecision, playbook: Playbook, *, line: str
) -> tuple[Roundtable, dict[str, Any]]:
    """The facts for the line: the entry of the decision, which says what it replaces."""
    debate, option = rt.debate, proposal.option
    old = tuple(
        one
        for one in board.current_decisions(debate)
        if {one.entry, one.line} & set(proposal.replaces) or (option and _is_of_issue(debate, one, option))
    )
    sources = (proposal.said_in,) if proposal.said_in else ()
    about = specifying.option_entry(rt, option.text) if option else []
    fields = {**_fields(proposal, old), "about": about}
    facts = specifying.decided(rt, proposal.position, playbook, sources=sources, **fields)
    entry = next((one.id for one in _written(facts, "decision")), "")
    decided = Decided(
        issue=option.issue if option else "",
        position=proposal.position,
        by=person.id,
        name=rt.name_of(person.id),
        line=line,
        after=debate.turn_count,
        reason=proposal.reason,
        entry=entry,
        deciders=proposal.deciders,
    )
    rt = rt.but(elaboration=_with_decision(debate, decided, old).but(silent_rounds=0))
    return rt, facts


def _fields(proposal: ProposedDecision, old: Iterable[Decided]) -> dict[str, Any]:
    return {
        **({"reason": proposal.reason} if proposal.reason else {}),
        **({DECIDERS: list(proposal.deciders)} if proposal.deciders else {}),
        **({"context": context} if (context := proposal.context or _chosen(proposal)) else {}),
        **({"revisit": proposal.revisit} if proposal.revisit else {}),
        **_replacing(one.entry for one in old),
    }


def _chosen(proposal: ProposedDecision) -> str:
    """The option, where the decision is in other words."""
    option = proposal.option
    if option is None or option.text == proposal.position:
        return ""
    return wording.chosen(option.letter, option.text)


def _replacing(old: Iterable[str]) -> dict[str, Any]:
    replaces = list(dict.fromkeys(filter(None, old)))
    return {"replaces": replaces} if replaces else {}


def _with_decision(debate: Elaboration, decided: Decided, old: Iterable[Decided]) -> Elaboration:
    """What it replaces stays on the card and in the record, as replaced."""
    gone = tuple(old)

    def marked(found: tuple[Decided, ...]) -> tuple[Decided, ...]:
        return tuple(one.but(replaced_by=decided.line) if one in gone else one for one in found)

    return debate.but(decided=(*marked(debate.decided), decided), inherited=marked(debate.inherited))


def as_recorded(rt: Roundtable) -> Roundtable:
    """The card follows the entries: what was reworded, replaced or withdrawn by its id stands there as it is now."""
    debate = rt.elaboration
    if debate is None:
        return rt
    decided, inherited = (
        tuple(_as_recorded(one, rt) for one in found) for found in (debate.decided, debate.inherited)
    )
    objections = tuple(
        one.but(fate=Fate.WITHDRAWN, settled_by=one.name)
        if one.fate is Fate.OPEN and _is_gone(rt, one.entry)
        else one
        for one in debate.objections
    )
    now = debate.but(decided=decided, inherited=inherited, objections=objections)
    return rt if now == debate else rt.but(elaboration=now)


def _as_recorded(one: Decided, rt: Roundtable) -> Decided:
    entry = rt.specification.entries.get(one.entry)
    claim = entry.claim("text") if entry else None
    if entry is None or claim is None or one.replaced_by:
        return one
    if entry.gone:
        return one.but(replaced_by=entry.replaced_by[0] if entry.replaced_by else entry.id)
    if claim.line == one.line or claim.accepted is None or claim.value == one.position:
        return one
    said = one.said or (one.position if one.typed else "")
    return one.but(position=str(claim.value), issue="", typed=False, said=said)


def _is_gone(rt: Roundtable, id: str) -> bool:
    entry = rt.specification.entries.get(id)
    return entry is not None and entry.gone


# --- objections -----------------------------------------------------------------------------------------------------


def objected(rt: Roundtable, event: RaiseObjection, playbook: Playbook) -> Roundtable:
    text, settle = whole(event.words, TEXT_CHARS), whole(event.settle, TEXT_CHARS)
    raised = rt.debate.objections
    if not text or len(raised) >= MOST_OBJECTIONS:
        raise NotNow(wording.NO_WORDS)
    facts = specifying.objected(rt, text, settle, playbook)
    entry = next((one.id for one in _written(facts, "objection")), "")
    name = rt.name_of(event.person.id)
    one = RaisedObjection(
        number=len(raised) + 1,
        text=text,
        by=event.person.id,
        name=name,
        line=event.key,
        settle=settle,
        entry=entry,
    )
    rt = rt.but(elaboration=rt.debate.but(objections=(*raised, one)))
    return on_record(rt, event, wording.objected(name, text, settle), **facts)


def fate_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `NUMBER/FATE`. For a reason a form is needed; its owner takes an objection back."""
    number, _, fate = event.value.partition("/")
    if not number.isdecimal() or fate not in {Fate.ACCEPTED, Fate.WITHDRAWN}:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    return _settled(rt, event.person, _open(rt, int(number)), Fate(fate), "")


def settled(rt: Roundtable, event: SettleObjection, playbook: Playbook) -> Roundtable:
    because = whole(event.because, TEXT_CHARS)
    return _settled(rt, event.person, _open(rt, event.number), event.fate, because)


def _open(rt: Roundtable, number: int) -> RaisedObjection:
    found = board.objection(rt.debate, number)
    if found is None:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    if found.fate is not Fate.OPEN:
        raise NotNow(wording.HAS_AN_ANSWER)
    return found


def _settled(rt: Roundtable, person: Person, raised: RaisedObjection, fate: Fate, because: str) -> Roundtable:
    if fate is Fate.WITHDRAWN and person.id != raised.by:
        raise NotNow(wording.only_its_owner(raised.name))
    name = rt.name_of(person.id)
    sentence = wording.settled(name, raised, fate, because)
    facts = specifying.settled(raised.entry, fate, because) if raised.entry else {}
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, user_id=person.id, user_name=name, **facts)
    now = raised.but(fate=fate, because=because, settled_by=name)
    objections = tuple(now if one is raised else one for one in rt.debate.objections)
    return rt.but(elaboration=rt.debate.but(objections=objections))


# --- turns ----------------------------------------------------------------------------------------------------------


def more_turns(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Of this discussion only."""
    debate = rt.debate
    debate = debate.but(max_turns=debate.max_turns + TURNS_ADDED, more_turns=debate.more_turns + TURNS_ADDED)
    name = rt.name_of(event.person.id)
    rt = rt.recording(
        wording.turns_added(name, TURNS_ADDED, debate.max_turns),
        part=LinePhase.WORKSHOP,
        user_id=event.person.id,
        user_name=name,
    )
    return rt.but(elaboration=debate)
