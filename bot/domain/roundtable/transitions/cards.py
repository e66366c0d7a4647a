"""
What people press on the card of a step. Suggestions are decided, doubtful values confirmed or withdrawn: each a
line with the name of who pressed.
"""

from collections.abc import Iterable
from typing import Any, NoReturn, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import NOTE, REMARK
from bot.domain.catalog.steps import Step
from bot.domain.messages import prompt_wording, specification_wording, trouble_wording
from bot.domain.messages.card_commands import TypedAction, TypedKind
from bot.domain.messages.form import InputForm, Submission
from bot.domain.messages.message import Action
from bot.domain.messages.step_scene import StepScene, Suggestion, SuggestionState
from bot.domain.roundtable import permission
from bot.domain.roundtable.cards import suggestions, typed_on_card
from bot.domain.roundtable.effects import React
from bot.domain.roundtable.inputs import MarkMessage, Press, Say
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.posts import PromptKind
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import marking, pausing, specifying
from bot.domain.specification import entry_forms
from bot.domain.specification.claims import Entry, EntryState, How
from bot.domain.specification.entries import DECISION, author_to_ask
from bot.domain.specification.entry_forms import Reading
from bot.domain.specification.fold import CHANGES, HOW, OUTCOME, REPLACES, Patch
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.errors import NotNow

ACCEPT, CHANGE, STRIKE = "accept", "change", "strike"
NOTED = "memo"
"""The emoji on a message that was recorded."""


def line_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `NUMBER/WHAT`."""
    number, _, what = event.value.partition("/")
    if not number.isdecimal() or what not in {ACCEPT, STRIKE}:
        _refused()
    return decided(rt, event.person, [int(number)], playbook, accept=what == ACCEPT)


def all_accepted(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value lists the numbers that stood on the card: one that arrived meanwhile is never accepted unseen."""
    numbers = [int(one) for one in event.value.split(",") if one.isdecimal()]
    return decided(rt, event.person, numbers, playbook, accept=True, how=How.EVERYTHING)


def decided(
    rt: Roundtable,
    person: Person,
    numbers: Iterable[int],
    playbook: Playbook,
    *,
    accept: bool,
    how: How = How.PRESS,
) -> Roundtable:
    """
    Suggestions that are accepted, or left out. Raises NotNow for a number that is not open. What its author is asked
    about is never taken with everything.
    """
    chosen = _open(rt, numbers, playbook)
    if how is How.EVERYTHING and accept:
        chosen = [one for one in chosen if not one.asks]
        if not chosen:
            raise NotNow(specification_wording.ONE_BY_ONE)
    patches = [_decide(rt, one, accept=accept) for one in chosen]
    verb = "accepted" if accept else "left out"
    ids = ", ".join(dict.fromkeys(patch.id for patch in patches))
    return recorded(rt, person, f"{verb} {ids}", patches, how=how)


def _open(rt: Roundtable, numbers: Iterable[int], playbook: Playbook) -> list[Suggestion]:
    """The suggestions of these *numbers*. Raises NotNow for one that is not open."""
    found = {one.number: one for one in suggestions(rt, _step(rt, playbook), playbook)}
    is_open = [one.number for one in found.values() if one.state is SuggestionState.OPEN]
    for number in numbers:
        if number not in is_open:
            raise NotNow(specification_wording.no_such_line(number, is_open))
    return [found[number] for number in numbers]


def kept(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What has to be confirmed again stays as it is, and what the last step left counts. The value lists ids."""
    ids = event.value.split(",")
    if len(ids) > 1:
        ids = [id for id in ids if author_to_ask(_living(rt, id)) is None]
    patches = [_keeping(_living(rt, id)) for id in ids]
    how = How.EVERYTHING if "," in event.value else How.PRESS
    return recorded(rt, event.person, f"kept {', '.join(ids)}", patches, how=how)


def withdrawn(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    patch = Patch(id=_living(rt, event.value).id, state=EntryState.WITHDRAWN)
    return recorded(rt, event.person, f"withdrew {event.value}", [patch])


def filed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """
    A note becomes what was pressed, in the words of who said it. That people decided something is asked first, and
    only who said something can object with it.
    """
    id, _, what = event.value.partition("/")
    note, schema = _living(rt, id), playbook.schema
    kind, claim = schema.of_id(what), note.claim(schema.kinds[NOTE].text)
    if note.kind != NOTE or claim is None or (kind is None and what != entry_forms.LEAVE_OUT):
        _refused()
    if kind and kind.key == DECISION:
        ts = next((one.ts for one in rt.answers if rt.line_of(one.ts) == claim.line), "")
        mark = MarkMessage(key=event.key, at=event.at, person=event.person, ts=ts, mark=MarkKind.DECISION)
        return marking.marked(rt, mark, playbook)
    if kind and (why := entry_forms.belongs_to_another(note, kind, event.person)):
        raise NotNow(why)
    if kind is None:
        patches: tuple[Patch, ...] = (Patch(id=id, state=EntryState.WITHDRAWN),)
        return recorded(rt, event.person, f"left {id} out", patches)
    is_part = bool(kind.part_of)
    found = Reading() if is_part else entry_forms.sorted_as(note, kind, rt.specification, schema)
    if not found.patches:
        raise NotNow(specification_wording.unfit(str(claim.value), kind.name))
    made = ", ".join(one.id for one in found.patches if one.kind == kind.key)
    return recorded(rt, event.person, f"filed {id} as {made}", found.patches)


def recorded(
    rt: Roundtable,
    person: Person,
    what: str,
    patches: Iterable[Patch],
    *,
    how: How = How.PRESS,
) -> Roundtable:
    """A line of what *person* decided about entries. Raises NotNow for what its author is asked about."""
    patches = tuple(patches)
    if why := permission.author_refusal(rt, person, patches):
        raise NotNow(why)
    facts: dict[str, Any] = {} if how is How.PRESS else {HOW: how.value}
    rt = rt.recording(f"{rt.name_of(person.id)} {what}.", by=person.id, **facts, entries=patches)
    return pausing.notes_saved(rt)


# --- typed in place of a press ---


def typed(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """
    `accept 2`, `change 2: …`, `withdraw OBJ-001`, `risk` and the like; None for a message that is content. Who may not
    press is told so.
    """
    if (on_card := typed_on_card(rt, event, playbook)) is None:
        return None
    scene, found = on_card
    patches = specifying.said(rt, found.rest, event.person, playbook) if found.rest else ()
    rt = rt.hearing(event, part=LinePhase.CLARIFYING, entries=patches)
    if why := permission.refusal(rt, event.person, playbook.policy):
        return rt.whispering(event.person.id, why)
    rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    for one in found.actions:
        try:
            rt = _carried_out(rt, one, event, scene, playbook)
        except NotNow as why:
            rt = rt.whispering(event.person.id, str(why))
    return rt


def _carried_out(
    rt: Roundtable, typed: TypedAction, event: Say, scene: StepScene, playbook: Playbook
) -> Roundtable:
    asked = {"key": event.key, "at": event.at, "person": event.person, "token": "", "ts": ""}
    match typed.what:
        case TypedKind.SORT:
            note = next(one for one in scene.unsorted if one.letter == typed.letter)
            value = f"{note.id}/{playbook.schema.kinds[typed.kind].prefix}"
            return filed(rt, Press(**asked, action=Action.FILE, value=value), playbook)
        case TypedKind.ACCEPT | TypedKind.LEAVE_OUT as what:
            how, accept = How.EVERYTHING if typed.is_all else How.PRESS, what is TypedKind.ACCEPT
            return decided(rt, event.person, typed.numbers, playbook, accept=accept, how=how)
        case TypedKind.CHANGE:
            chosen = _open(rt, typed.numbers, playbook)
            patches = [_changing(one, typed.words, rt, playbook) for one in chosen]
            ids = ", ".join(dict.fromkeys(patch.id for patch in patches))
            return recorded(rt, event.person, f"changed {ids}", patches)
        case TypedKind.KEEP:
            return kept(rt, Press(**asked, action=Action.HOLDS, value=typed.id), playbook)
        case TypedKind.WITHDRAW:
            return withdrawn(rt, Press(**asked, action=Action.WITHDRAW, value=typed.id), playbook)
        case _:
            assert_never(typed.what)


def _living(rt: Roundtable, id: str) -> Entry:
    """Raises NotNow for an entry that does not exist, or not any more."""
    if not id:
        _refused()
    if not rt.specification.lives(id):
        raise NotNow(specifying.not_there(rt.specification, id))
    return rt.specification.entries[id]


def _keeping(entry: Entry) -> Patch:
    """What is doubtful, or what stands there in place of an edit; of a proposed entry, all of it."""
    if entry.state is EntryState.PROPOSED:
        return Patch(id=entry.id, accept=True)
    doubtful = tuple(field for field in entry.claims if field in entry.stale or entry.overtaken(field))
    if not doubtful:
        raise NotNow(specification_wording.nothing_to_confirm(entry.id))
    return Patch(id=entry.id, accept=doubtful)


def _changing(one: Suggestion, words: str, rt: Roundtable, playbook: Playbook) -> Patch:
    kind = playbook.schema.kinds[rt.specification.entries[one.id].kind]
    field = one.field or kind.text
    value = kind.fields[field].read(words)
    if value is None:
        raise NotNow(specification_wording.unfit(words, kind.label(field)))
    return Patch(id=one.id, set={field: value}, state=EntryState.ACCEPTED)


def _decide(rt: Roundtable, one: Suggestion, *, accept: bool) -> Patch:
    """What is left out is withdrawn; of a proposed value, the one that counts is confirmed, if there is one."""
    if accept:
        return Patch(id=one.id, accept=(one.field,) if one.field else True)
    if not one.field:
        return Patch(id=one.id, state=EntryState.WITHDRAWN)
    now = rt.specification.entries[one.id].claim(one.field)
    return Patch(id=one.id, set={one.field: now.value if now and now.accepted else None})


def _step(rt: Roundtable, playbook: Playbook) -> Step:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        _refused()
    return step


def _refused() -> NoReturn:
    raise NotNow(trouble_wording.UNKNOWN_MENU)


# --- what a decision changes -----------------------------------------------------------------------------------------


def changes_chosen(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A chosen decision is replaced, and a chosen objection answered by the decision."""
    pairs = [one.partition("/")[::2] for one in event.value.split(",")]
    by = _living(rt, pairs[0][0])
    named = [_living(rt, id) for _, id in pairs]
    replaced = [one.id for one in named if one.kind == by.kind == DECISION]
    settled = [one.id for one in named if one.kind == "objection"]
    changed = [one.id for one in named if one.id not in {*replaced, *settled}]
    fields = {CHANGES: changed, REPLACES: replaced}
    given: dict[str, Any] = {
        name: list(dict.fromkeys([*(by[name] or ()), *ids])) for name, ids in fields.items() if ids
    }
    answered = {OUTCOME: "accepted", "outcome_text": prompt_wording.SETTLED_BY.format(id=by.id)}
    patches = [
        *([Patch(id=by.id, set=given)] if given else []),
        *(Patch(id=id, set=answered) for id in settled),
    ]
    sentence = prompt_wording.changed(by.id, changed=changed, replaced=replaced, settled=settled)
    return recorded(_closed(rt, by.id), event.person, f"chose: {sentence}", patches)


def no_change_chosen(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    by = _living(rt, event.value or (rt.prompt.about if rt.prompt else ""))
    sentence = f"says: {prompt_wording.changes_nothing(by.id)}"
    return recorded(_closed(rt, by.id), event.person, sentence, ())


def reversal_form(rt: Roundtable, which: str = "") -> InputForm:
    """*which* decision is chosen at first, by default the newest. Raises NotNow where nothing is decided."""
    if not (decisions := rt.specification.active(DECISION)):
        raise NotNow(prompt_wording.NO_DECISION)
    return prompt_wording.reversal(decisions, slug=rt.slug, which=which)


def reversal(rt: Roundtable, submission: Submission, playbook: Playbook) -> Reading:
    """As if it was typed: a decision that `replaces` another, or its withdrawal."""
    id, words = submission.text(prompt_wording.WHICH), submission.text(prompt_wording.NEW).strip()
    if not rt.specification.lives(id):
        return Reading(errors={prompt_wording.WHICH: specifying.not_there(rt.specification, id)})
    because = submission.text(prompt_wording.BECAUSE).strip()
    if submission.text(prompt_wording.HOW) == prompt_wording.WITHDRAW:
        if words:
            return Reading(errors={prompt_wording.NEW: prompt_wording.NOT_BOTH})
        why = {REMARK: because} if because else {}
        return Reading(patches=(Patch(id=id, state=EntryState.WITHDRAWN, set=why),))
    if not words:
        return Reading(errors={prompt_wording.NEW: prompt_wording.NO_NEW_WORDS})
    return Reading(patches=specifying.decided(rt, words, playbook, reason=because, replaces=[id]))


def is_change_asked(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return rt.prompt is not None and rt.prompt.kind is PromptKind.CHANGES


def _closed(rt: Roundtable, by: str) -> Roundtable:
    """The list is answered. What is contradicted by then follows from the record."""
    is_open = rt.prompt and (rt.prompt.kind, rt.prompt.about) == (PromptKind.CHANGES, by)
    return rt.but(prompt=rt.prompt.but(kind=PromptKind.CONTRADICTED)) if rt.prompt and is_open else rt
