"""
What people change by a form, a menu or a typed command: a host's line with the person's id and the patches.

A press settles what is contested. What another person changed since is not overwritten unseen, and words for an
entry that is gone are kept as a note.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import NOTE, Schema
from bot.domain.catalog.steps import Depth
from bot.domain.messages import agent_wording
from bot.domain.messages import form as wording
from bot.domain.messages.form import DEPTH, QUIET, VOICES, FormName, InputForm, Submission
from bot.domain.messages.message import NO_STEP, Action, Message
from bot.domain.roundtable import permission
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import (
    AnswerDirectly,
    AnswerQuestion,
    CreateIssues,
    Mute,
    SetDepth,
    SetDue,
    Specify,
)
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import (
    agents,
    answering,
    attending,
    cards,
    deciding,
    issues,
    pausing,
    specifying,
)
from bot.domain.specification import entry_forms
from bot.domain.specification.claims import GONE, EntryState, How
from bot.domain.specification.entries import Specification
from bot.domain.specification.entry_forms import Reading
from bot.domain.specification.fold import HOW, Patch, patches_of
from bot.domain.transcript.lines import ENTRIES
from bot.domain.values.places import Person
from bot.errors import NotNow, Overtaken, UserError

WITH_DEPTH = frozenset({Stage.DISCUSSING, Stage.AT_BOUNDARY})
"""Where another depth can be chosen."""


FormInput = (
    Specify | Mute | SetDepth | SetDue | AnswerDirectly | AnswerQuestion | CreateIssues | deciding.Entered
)

# --- forms ----------------------------------------------------------------------------------------------------------


def opened(rt: Roundtable, action: str, subject: str, person: Person, playbook: Playbook) -> InputForm:
    """
    The form that *action* opens: of an entry or a step, by default the current one. Raises UserError with a sentence
    for the person.
    """
    if why := permission.refusal(rt, person, playbook.policy):
        raise NotNow(why)
    spec, schema = rt.specification, playbook.schema
    if playbook.actions[action].form in wording.DISCUSSING:
        return deciding.form(rt, action, subject, person)
    if action == Action.UNTIL:
        return attending.form(rt)
    if action == Action.ISSUES:
        return issues.form(rt, playbook)
    if action == Action.REVERSE:
        return cards.reversal_form(rt, subject)
    if action == Action.SETTINGS:
        has_depth = rt.stage in WITH_DEPTH and rt.step_id != playbook.agenda.plan.step_id
        depth = (rt.depth or Depth.STANDARD) if has_depth else None
        return wording.settings(rt.slug, depth=depth, muted=rt.manners.muted)
    if action == Action.AMEND and subject and playbook.agenda.get(subject) is None:
        return entry_form(rt, subject, playbook)
    step_id = subject or rt.step_id
    form = (
        entry_forms.sort_form(step_id, spec, schema, slug=rt.slug)
        if action == Action.SORT
        else entry_forms.section_form(step_id, spec, schema, slug=rt.slug)
    )
    if form is None or playbook.agenda.get(step_id) is None:
        sentence = wording.NOTHING_TO_SORT if action == Action.SORT else wording.NOTHING_TO_AMEND
        raise UserError(sentence)
    return form


def entry_form(rt: Roundtable, id: str, playbook: Playbook) -> InputForm:
    entry = rt.specification.entries.get(id)
    if entry is None or entry.kind not in playbook.schema.kinds or not rt.specification.lives(id):
        raise UserError(wording.no_such_entry(id))
    return entry_forms.entry_form(entry, rt.specification, playbook.schema, slug=rt.slug)


def conflict_form(
    rt: Roundtable, submission: Submission, overtaken: Overtaken, playbook: Playbook
) -> InputForm:
    return entry_forms.conflict_form(submission, overtaken.fields, rt.specification, playbook.schema)


def read(rt: Roundtable, submission: Submission, playbook: Playbook) -> Reading:
    """What a form about entries changes."""
    spec, schema = rt.specification, playbook.schema
    match submission.name:
        case FormName.AMEND:
            known = spec.entries.get(submission.subject)
            if known is None or known.kind not in schema.kinds:
                raise UserError(wording.no_such_entry(submission.subject))
            return entry_forms.entry_patches(submission, spec, schema)
        case FormName.AMEND_SECTION:
            reading = entry_forms.section_patches(submission, spec, schema)
            words = entry_forms.added_words(submission, schema)
            found = specifying.read(rt, words, submission.person, playbook, step_id=submission.subject)
            added = specifying.taken(rt, found, submission.subject)
            return reading.but(patches=(*reading.patches, *added))
        case FormName.SORT:
            return entry_forms.sorted_patches(submission, spec, schema)
        case FormName.SETTINGS | FormName.MARK:
            return Reading()
        case FormName.RECORD | FormName.OPTION | FormName.OBJECT | FormName.SEALED:
            return Reading(errors=deciding.flaws(rt, submission))
        case FormName.ANSWER:
            return Reading(errors=answering.flaws(submission))
        case FormName.UNTIL:
            return Reading(errors=attending.flaws(submission))
        case FormName.ISSUES:
            return Reading(errors=issues.flaws(submission))
        case FormName.REVERSE:
            return cards.reversal(rt, submission, playbook)
        case FormName.START:
            raise AssertionError("it is about no roundtable yet")
        case _:
            assert_never(submission.name)


ENTERED: Mapping[FormName, Callable[[Submission], FormInput]] = {
    FormName.ANSWER: answering.entered,
    FormName.ISSUES: issues.entered,
    FormName.UNTIL: attending.entered,
    **dict.fromkeys(wording.DISCUSSING, deciding.entered),
}
"""The forms that are one input. The others change entries and settings."""


def inputs(rt: Roundtable, submission: Submission, reading: Reading) -> tuple[FormInput, ...]:
    """What a submission asks for. Keys tell apart what one view is submitted for several times."""
    if entered := ENTERED.get(submission.name):
        return (entered(submission),)
    found: list[FormInput] = []
    if reading.patches:
        step_id = "" if submission.name is FormName.AMEND else submission.subject
        seen = _revisions(submission)
        found.append(Specify(**submission.sent, patches=reading.patches, revisions=seen, step_id=step_id))
    sent = {"at": submission.at, "person": submission.person}
    muted = submission.text(VOICES) == QUIET
    if VOICES in submission.values and muted is not rt.manners.muted:
        found.append(Mute(key=f"{submission.key}.{submission.text(VOICES)}", **sent, muted=muted))
    depth = submission.text(DEPTH)
    if depth in set(Depth) and depth != (rt.depth or Depth.STANDARD):
        found.append(SetDepth(key=f"{submission.key}.{depth}", **sent, depth=Depth(depth)))
    return tuple(found)


def _revisions(submission: Submission) -> Mapping[str, int]:
    if submission.name is FormName.AMEND:
        return {f"{submission.subject}.{name}": seen for name, seen in submission.revisions.items()}
    if submission.name is FormName.AMEND_SECTION:
        return {f"{note}.text": seen for note, seen in submission.revisions.items()}
    return {}


# --- what they do ---------------------------------------------------------------------------------------------------


def specified(rt: Roundtable, event: Specify, playbook: Playbook) -> Roundtable:
    issues.must_be_read(rt)
    if fields := _overtaken(rt, event):
        id, _, field = fields[0].partition(".")
        claim = rt.specification.entries[id].claim(field)
        name = claim.owner.name if claim else ""
        raise Overtaken(wording.overtaken(name), fields=fields)
    if why := permission.author_refusal(rt, event.person, event.patches):
        raise NotNow(why)
    patches, gone = _applicable(rt, event.patches, playbook.schema)
    patches = specifying.renumbered(patches, rt.specification, playbook.schema)
    if patches:
        where = {"step_id": event.step_id} if event.step_id else {}
        facts: dict[str, Any] = {HOW: How.FORM.value, **where, ENTRIES: patches}
        told = _sentence(rt, event.person, patches)
        rt = rt.recording(told, by=event.person.id, message_id=event.key, **facts)
    if gone:
        told = "\n".join(
            wording.withdrawn_meanwhile(id, by=_withdrawn_by(rt, id), is_kept=is_kept)
            for id, is_kept in gone.items()
        )
        rt = rt.whispering(event.person.id, told)
    return pausing.entries_saved(rt) if patches else rt


def question_answered(rt: Roundtable, event: AnswerQuestion, playbook: Playbook) -> Roundtable:
    """The thread shows it, and the entry has it as the person's."""
    issues.must_be_read(rt)
    if agents.is_answerable(rt, event.entry):
        return agents.answered(rt, event, playbook)
    asked = answering.open_question(rt, event.entry)
    name = rt.name_of(event.person.id)
    text = agent_wording.answered(name, event.text, question=str(asked["text"] or ""))
    about = rt.step_id if rt.stage is Stage.DISCUSSING else NO_STEP
    rt = rt.catching_up().queueing(Post(message=Message(text=text, about=about)))
    facts: dict[str, Any] = {HOW: How.FORM.value, ENTRIES: [Patch(id=asked.id, set={"answer": event.text})]}
    told = agent_wording.question_answered(name, asked.id, event.text)
    return pausing.entries_saved(rt.recording(told, by=event.person.id, message_id=event.key, **facts))


def _overtaken(rt: Roundtable, event: Specify) -> tuple[str, ...]:
    """The fields that another person changed since this person looked."""
    found = []
    for patch in event.patches:
        entry = rt.specification.entries.get(patch.id)
        for field, value in patch.set.items() if entry and rt.specification.lives(patch.id) else ():
            claims = entry.claims.get(field, ()) if entry else ()
            seen = event.revisions.get(f"{patch.id}.{field}", rt.specification.count)
            if any(
                one.at > seen and one.accepted and one.accepted.by != event.person.id and one.value != value
                for one in claims
            ):
                found.append(f"{patch.id}.{field}")
    return tuple(found)


def _applicable(
    rt: Roundtable, patches: Iterable[Patch], schema: Schema
) -> tuple[tuple[Patch, ...], Mapping[str, bool]]:
    """The patches that still mean something, and whether words for the entries that are gone became notes."""
    spec = rt.specification
    kept: list[Patch] = []
    gone: dict[str, bool] = {}
    dropped: set[str] = set()
    for patch in patches:
        known, lost = spec.entries.get(patch.id), ""
        is_revival = patch.state is EntryState.ACCEPTED and not patch.set
        if patch.part_of and patch.part_of in spec.entries and not spec.lives(patch.part_of):
            lost = patch.part_of
        elif patch.new or (known and spec.lives(patch.id)) or (known and is_revival):
            kept.append(patch)
        elif known and patch.state in GONE:
            dropped.update(patch.replaced_by)  # another person sorted the note
        elif known and patch.set:
            lost = patch.id
        if lost:
            note = _as_note(spec, patch, schema, kept)
            kept += note
            gone[lost] = gone.get(lost, False) or bool(note)
    return tuple(one for one in kept if one.id not in dropped), gone


def _as_note(spec: Specification, patch: Patch, schema: Schema, before: Iterable[Patch]) -> tuple[Patch, ...]:
    kind, note = schema.of_id(patch.id), schema.kinds.get(NOTE)
    words = [
        f"{patch.part_of or patch.id}{f' {kind.label(field)}' if kind and field != kind.text else ''}: "
        + (", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for field, value in patch.set.items()
        if value is not None
    ]
    if not words or note is None:
        return ()
    id = spec.next_id(note, "", (one.id for one in before))
    return (Patch(id=id, kind=NOTE, new=True, set={note.text: "\n".join(words)}),)


def _withdrawn_by(rt: Roundtable, id: str) -> str:
    """Known while the line is not in git yet."""
    for line in reversed(rt.lines):
        if line.person_name and any(one.id == id and one.state in GONE for one in patches_of(line)):
            return line.person_name
    return ""


def _sentence(rt: Roundtable, person: Person, patches: Iterable[Patch]) -> str:
    told = list(patches)
    return wording.changed(
        rt.name_of(person.id),
        altered=(one.id for one in told if not one.new and one.set),
        confirmed=(one.id for one in told if not one.new and not one.set and one.state not in GONE),
        added=(one.id for one in told if one.new),
        withdrawn=(one.id for one in told if one.state is EntryState.WITHDRAWN),
    )
