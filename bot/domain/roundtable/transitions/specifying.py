"""
How words become entries of the specification, and entries the sections of files.

Explicit forms ride on the line of the person who wrote them; everything else becomes a note there. At each
commit the sections whose text changed are written, whichever step they belong to, so that two files cannot say
different things.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import PLAN_PAGE, Schema, SectionView, ids_in
from bot.domain.catalog.steps import SHARED, Depth, Step
from bot.domain.discussion.board import OUTCOMES, is_position_in_step
from bot.domain.discussion.elaboration import Elaboration, EndReason, Fate
from bot.domain.item.artifacts import CheckedEdit, DerivedEdit, Edit, SectionEdit
from bot.domain.messages import specification_wording as wording
from bot.domain.messages import step_wording
from bot.domain.messages.message import Message
from bot.domain.messages.step_scene import AskedQuestion, asked
from bot.domain.planning import roles
from bot.domain.planning.plan_review import plan_edits
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.inputs import (
    Amend,
    AnswerDirectly,
    AnswerQuestion,
    Input,
    MarkMessage,
    Say,
    Specify,
)
from bot.domain.roundtable.outcomes import HandEdit
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.specification import adr, checks, discussions, files, reader, said_entries
from bot.domain.specification import snapshot as snapshots
from bot.domain.specification.brief import brief
from bot.domain.specification.claims import EntryState, Quote
from bot.domain.specification.coverage import CoverageGap
from bot.domain.specification.entries import DISCUSSION, POSITION, Specification
from bot.domain.specification.fold import GIT_AUTHOR, PERSONA_NAME, QUOTE_CHARS, REPLACES, Patch
from bot.domain.specification.read_back import read_back as read_back_of
from bot.domain.transcript.lines import ENTRIES, Line, LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import has_only_small_words
from bot.errors import NotNow

UNREAD = " unread"
"""Behind the key of a section: the digest of the text that could not be read back, and that people were told of."""


# --- words become entries ---


def said(
    rt: Roundtable,
    text: str,
    person: Person,
    playbook: Playbook,
    *,
    step_id: str = "",
    notes: bool = True,
    is_asked: bool = True,
) -> tuple[Patch, ...]:
    """
    The patches for the line of a message, read while *step_id* (or the current step) is open. At a menu
    nothing *is_asked*, so words without a number answer no question.
    """
    step_id = step_id or rt.step_id
    found = read(rt, text, person, playbook, step_id=step_id, is_asked=is_asked)
    return in_discussion(rt, taken(rt, found, step_id, notes=notes), playbook)


def telling_what_is_not_taken(
    before: Roundtable, after: Roundtable, event: Input, playbook: Playbook
) -> Roundtable:
    """
    *after*; the author of a form that names no entry of ours, or a value that does not fit, is told so. What is above
    a limit is refused whole.
    """
    refused = after.specification.refused[len(before.specification.refused) :]
    limits = [wording.above_a_limit(one.partition(": ")[2]) for one in refused]
    if limits and isinstance(event, Specify | AnswerQuestion | MarkMessage):
        raise NotNow(limits[0])
    if limits and isinstance(event, Say | Amend):
        for one in limits:
            after = after.whispering(event.person.id, one)
    if not isinstance(event, Say | Amend | AnswerDirectly) or before.stage is Stage.OPENING:
        return after
    why = read(before, event.text, event.person, playbook, step_id=before.step_id).problems
    why = (*why, *_replaced_in_vain(before, event.text, event.person, playbook))
    return after.whispering(event.person.id, wording.not_taken(why)) if why else after


def decided(
    rt: Roundtable, text: str, playbook: Playbook, *, sources: tuple[str, ...] = (), **fields: Any
) -> tuple[Patch, ...]:
    """The decision that a person pressed is theirs: accepted. Of *fields*, those that the kind has."""
    return _made(rt, "decision", text, playbook, sources=sources, **fields)


def objected(rt: Roundtable, text: str, settle: str, playbook: Playbook) -> tuple[Patch, ...]:
    return _made(rt, "objection", text, playbook, outcome="open", settle=settle)


def settle_objection(id: str, fate: Fate, because: str) -> Patch:
    """What became of the objection *id*. Who takes it back withdraws its entry."""
    if fate not in OUTCOMES:
        return Patch(id=id, state=EntryState.WITHDRAWN)
    said_why = {"outcome_text": because} if because else {}
    return Patch(id=id, set={"outcome": OUTCOMES[fate], **said_why})


def _made(
    rt: Roundtable, key: str, text: str, playbook: Playbook, *, sources: tuple[str, ...] = (), **fields: Any
) -> tuple[Patch, ...]:
    if (kind := playbook.schema.kinds.get(key)) is None:
        return ()
    id = rt.specification.next_id(kind)
    more = {name: value for name, value in fields.items() if value and name in kind.fields}
    patch = Patch(id=id, kind=kind.key, new=True, set={kind.text: text, **more}, sources=sources)
    quoted = tuple(
        Quote(line=one, words=text[:QUOTE_CHARS]) for one in sources if rt.specification.says(one, text)
    )
    patch = patch.but(quotes={kind.text: quoted}) if quoted else patch
    return in_discussion(rt, [patch], playbook)


# --- discussions ---


def in_discussion(rt: Roundtable, patches: Iterable[Patch], playbook: Playbook) -> tuple[Patch, ...]:
    """New entries say in which discussion they came up."""
    entry = rt.elaboration.entry if rt.elaboration else ""

    def placed(patch: Patch) -> Patch:
        kind = playbook.schema.kinds.get(patch.kind)
        is_of_it = entry and patch.new and kind and DISCUSSION in kind.fields
        return patch.but(set={**patch.set, DISCUSSION: entry}) if is_of_it else patch

    return tuple(map(placed, patches))


def discussion_opened(
    rt: Roundtable, topic: str, step_id: str, playbook: Playbook
) -> tuple[str, tuple[Patch, ...]]:
    """The id of the new discussion, and the patches for its first line."""
    if (kind := playbook.schema.kinds.get(DISCUSSION)) is None:
        return "", ()
    id = rt.specification.next_id(kind)
    fields = {kind.text: topic, "step": step_id, "began": rt.now}
    return id, (Patch(id=id, kind=kind.key, new=True, set=fields),)


def position_taken(
    rt: Roundtable,
    debate: Elaboration,
    person: str,
    playbook: Playbook,
    *,
    issue: str,
    option: str,
    sources: Iterable[str] = (),
    taken: Iterable[Patch] = (),
    **said: str,
) -> Iterator[Patch]:
    """
    *person* (an id, or a persona's actor) has one position on each issue of a discussion; a move is a new claim. One
    that was taken in the step before belongs to the discussion from then on.
    """
    kind, held = playbook.schema.kinds.get(POSITION), debate.entry
    if kind is None:
        return
    own = (
        one
        for one in rt.specification.active(POSITION)
        if (one["person"], one["issue"] or "") == (person, issue)
    )
    before = next(
        (one for one in own if (one[DISCUSSION] or "") == held or is_position_in_step(one, debate.step_id)),
        None,
    )
    fields = {"option": option, **{name: value for name, value in said.items() if name in kind.fields}}
    fields |= {DISCUSSION: held} if held else {}
    if before:
        new = {name: value for name, value in fields.items() if (before[name] or "") != value}
        if new:
            yield Patch(id=before.id, set=new, sources=tuple(sources))
        return
    about = {"person": person, "issue": issue}
    given = {name: value for name, value in (about | fields).items() if value}
    id = rt.specification.next_id(kind, taken=(one.id for one in taken))
    yield Patch(id=id, kind=kind.key, new=True, set=given, sources=tuple(sources))


def stances_taken(rt: Roundtable, persona: Persona, playbook: Playbook) -> list[Patch]:
    """The positions of the newest turn, which is a persona's."""
    lines = {turn.id: turn.line for turn in rt.debate.turns if turn.line}
    patches: list[Patch] = []
    for one in rt.debate.turns[-1].stances:
        sources = [lines[turn] for turn in one.because if turn in lines]
        words = {"words": one.position} if one.option else {}
        patches += position_taken(
            rt,
            rt.debate,
            persona.actor,
            playbook,
            issue=one.issue,
            option=one.held,
            sources=sources,
            taken=patches,
            **words,
        )
    return patches


def proposed(
    rt: Roundtable,
    persona: Persona,
    patches: Iterable[Patch],
    playbook: Playbook,
    *,
    part: LinePhase = LinePhase.FORMALIZING,
    **about: Any,
) -> Roundtable:
    """
    What a model proposes stands on a line of its own; the fold takes it for no more than that. What its quotes do not
    say is marked, whichever voice it comes from. Ids that were given away while it thought are replaced.
    """
    patches = renumbered(_without_peoples(patches, playbook.schema), rt.specification, playbook.schema)
    said = checks.roots_heard(rt.specification)
    roots, known = {**said, **checks.roots_in(rt.specification)}, rt.specification.entries
    check = checks.check_for(playbook, rt.people.values())
    found = [checks.checked(one, roots, check, playbook.schema, known) for one in patches]
    if not found:
        return rt
    facts: dict[str, Any] = {**about, ENTRIES: found, PERSONA_NAME: persona.first_name}
    ids = ", ".join(dict.fromkeys(patch.id for patch in found))
    return rt.proposing(step_wording.proposed(persona, ids), actor=persona.actor, part=part, **facts)


def _without_peoples(patches: Iterable[Patch], schema: Schema) -> Iterator[Patch]:
    """Without fields that only people fill in, such as who decided."""
    for patch in patches:
        kind = schema.kinds.get(patch.kind) or schema.of_id(patch.id)
        theirs = {name for name, field in kind.fields.items() if field.by_people} if kind else set()
        kept = {name: value for name, value in patch.set.items() if name not in theirs}
        if kept or not patch.set:
            yield patch if kept == patch.set else patch.but(set=kept)


def renumbered(patches: Iterable[Patch], specification: Specification, schema: Schema) -> tuple[Patch, ...]:
    """New entries with the next free ids, where theirs exist by now, also where other patches name them."""
    given, ids, own = tuple(patches), dict[str, str](), list[str]()
    for patch in given:
        if patch.new and (kind := schema.kinds.get(patch.kind)):
            owner, taken = ids.get(patch.part_of, patch.part_of), ids.values()
            is_free = owner == patch.part_of and patch.id not in specification.entries.keys() | {*taken}
            ids[patch.id] = patch.id if is_free else specification.next_id(kind, owner, taken)
        own.append(ids.get(patch.id, patch.id))
    if all(old == new for old, new in ids.items()):
        return given
    renamed = (Patch.model_validate(_renamed(patch.as_json(), ids)) for patch in given)
    return tuple(patch.but(id=id) for patch, id in zip(renamed, own, strict=True))


def _renamed(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(one, ids) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(one, ids) for one in value]
    return ids.get(value, value) if isinstance(value, str) else value


def discussion_ended(rt: Roundtable) -> tuple[Patch, ...]:
    """What its block in the files shows, as it stands now."""
    id = rt.debate.entry
    if not id:
        return ()
    shown = (
        *discussions.shown_entries(rt.specification, id),
        *rt.discussed.placed_positions(rt.specification),
    )
    ended = {
        "ended": rt.now,
        "exit": (rt.debate.ending or EndReason.BY_PEOPLE).value,
        "shows": [discussions.as_shown(one.id, discussions.words_of(one)) for one in shown],
    }
    return (Patch(id=id, set=ended),)


def amended(
    rt: Roundtable,
    event: Amend,
    playbook: Playbook,
    *,
    step_id: str,
    notes: bool = True,
    stands: Iterable[Patch] = (),
) -> dict[str, Any]:
    """
    The facts for the line of a changed message. It keeps the ids that it gave, and belongs to the step that it was said
    in: *step_id*, if no entry of its own says it. Without *notes*, the rest of it says why its author is for an option,
    or is a turn. *stands* are the positions that it gives.
    """
    line = rt.line_of(event.ts)
    before, heard = rt.specification.made_by(line), rt.specification.heard.get(line)
    if not before and (heard is None or heard.text == event.text):
        return {}
    step_id = next((rt.specification.entries[one.id].step for one in before if one.new), step_id)
    # read as if it had not been said before: else what stays the same would not be said again, and be taken back
    known = rt.but(specification=rt.specification.without(line))
    found = read(known, event.text, event.person, playbook, step_id=step_id, is_asked=False)
    now = taken(known, found, step_id, notes=notes)
    held = {one.id: rt.specification.entries[one.id][DISCUSSION] for one in before}
    again = (
        one.but(set={**one.set, DISCUSSION: held[one.id]}) if held.get(one.id) and one.set else one
        for one in said_entries.reread(before, now, rt.specification, playbook.schema)
    )
    return {ENTRIES: (*again, *stands), "step_id": step_id}


def questions_of(rt: Roundtable, step: Step, playbook: Playbook) -> tuple[str, ...]:
    """Those of the depth at which the step is led; where it asks none, as brief does, the standard ones."""
    if step.step_id == playbook.agenda.plan.step_id:
        return tuple(one.asked for one in roles.questions(playbook.schema, rt.specification, step.step_id))
    depth = depth_of_step(step, rt.depth_overrides, rt.depth)
    questions = step.questions_at(depth) or step.questions_at(Depth.STANDARD)
    return tuple(asking.filled(rt, step, one) for one in questions)


def asked_of(
    rt: Roundtable, step: Step, playbook: Playbook, gaps: tuple[CoverageGap, ...]
) -> tuple[AskedQuestion, ...]:
    """Which questions of the step are answered; *gaps* are those of the step."""
    if step.step_id == playbook.agenda.plan.step_id:
        return tuple(
            AskedQuestion(number=one.number, text=one.asked, is_answered=not one.gaps, gaps=one.gaps)
            for one in roles.questions(playbook.schema, rt.specification, step.step_id)
        )
    return asked(
        questions_of(rt, step, playbook),
        step.asks_at(depth_of_step(step, rt.depth_overrides, rt.depth)),
        playbook.schema,
        rt.specification,
        step.step_id,
        gaps=gaps,
        answered=numbers_answered(rt, step),
    )


def numbers_answered(rt: Roundtable, step: Step) -> frozenset[int]:
    """By what people wrote behind a number, also where that became entries."""
    answers = rt.answers if step.step_id == rt.step_id else ()
    return frozenset([number for one in answers if not one.feedback for number in one.numbers])


def open_questions(rt: Roundtable, step: Step, playbook: Playbook) -> tuple[int, ...]:
    """The numbers of the questions without an answer."""
    if step.step_id == playbook.agenda.plan.step_id:
        asked = roles.questions(playbook.schema, rt.specification, step.step_id)
        return tuple(one.number for one in asked if one.gaps)
    answered = numbers_answered(rt, step) | rt.specification.noted.get(step.step_id, frozenset())
    return tuple(n for n in range(1, len(questions_of(rt, step, playbook)) + 1) if n not in answered)


def taken(
    rt: Roundtable, found: reader.MessageReading, step_id: str, *, notes: bool = True
) -> tuple[Patch, ...]:
    """What is kept of a message that was read."""
    is_noted = notes and bool(step_id)
    patches = found.patches if is_noted else found.without_notes
    return tuple(_without_gone(rt.specification, one) for one in patches)


def read(
    rt: Roundtable, text: str, person: Person, playbook: Playbook, *, step_id: str, is_asked: bool = True
) -> reader.MessageReading:
    step = playbook.agenda.get(step_id)
    here = said_entries.Here(
        schema=playbook.schema,
        specification=rt.specification,
        step_id=step_id,
        person=person.id,
        name=person.name or rt.people.get(person.id, ""),
        questions=questions_of(rt, step, playbook) if step else (),
        asks=step.asks_at(depth_of_step(step, rt.depth_overrides, rt.depth)) if step else {},
        open_questions=open_questions(rt, step, playbook) if step and is_asked else (),
        is_discussion=rt.elaboration is not None,
    )
    return reader.read(text, here)


# --- decisions that are reversed ---


def _without_gone(specification: Specification, patch: Patch) -> Patch:
    """A new decision replaces only what counts; who named something else is told."""
    old = patch.set.get(REPLACES)
    if not old or not patch.new:
        return patch
    others = {name: value for name, value in patch.set.items() if name != REPLACES}
    kept = [id for id in old if specification.lives(id)]
    return patch.but(set={**others, **({REPLACES: kept} if kept else {})})


def _replaced_in_vain(rt: Roundtable, text: str, person: Person, playbook: Playbook) -> Iterator[str]:
    known = rt.specification
    if all(known.lives(id) for id in ids_in(text)):
        return
    patches = read(rt, text, person, playbook, step_id=rt.step_id).without_notes
    for id in (id for one in patches if one.new for id in one.set.get(REPLACES) or ()):
        if not known.lives(id):
            yield not_there(known, id)


def not_there(specification: Specification, id: str) -> str:
    entry = specification.entries.get(id)
    return wording.not_there(id, is_known=entry is not None, by=entry.replaced_by if entry else ())


def is_small(text: str, playbook: Playbook) -> bool:
    """Whether *text* is in the transcript only: "thanks!" changes nothing, and gets no reaction."""
    return bool(text.strip()) and has_only_small_words(text, playbook.schema.small_words())


# --- entries become files ---


def written(
    rt: Roundtable, playbook: Playbook, steps: Collection[str] = ()
) -> tuple[Roundtable, tuple[Edit, ...]]:
    """
    The edits for every section whose text is not what was last written; those of *steps* are written even when
    they are empty. A section whose step was not led yet is left until then.
    """
    digests = dict(rt.written)
    plan_id, edits = playbook.agenda.plan.step_id, list[Edit]()
    plan_key = f"{PLAN_PAGE}#{plan_id}"
    if plan_id in steps:
        digests.setdefault(plan_key, "")
    item = files.ItemFacts(rt.title, rt.slug)
    found = brief(playbook.schema, rt.specification)
    summary = files.brief_edit(found, item)
    if digests.get(summary.path, "") != summary.digest:
        edits.append(summary)
        digests[summary.path] = summary.digest
    for key, edit in files.sections(playbook, rt.specification, item, digests, steps, summary=found):
        if digests.get(key) != edit.digest:
            edits.append(edit)
            digests[key] = edit.digest
    for key, follow_ups in files.follow_ups(playbook, rt.specification):
        if digests.get(key, "") != follow_ups[0].digest:
            edits += follow_ups
            digests[key] = follow_ups[0].digest
    if plan_key in digests:
        plan = plan_edits(item, plan_id, playbook.schema, rt.specification)
        if digests[plan_key] != plan[0].digest:
            edits += plan
            digests[plan_key] = plan[0].digest
    return rt.but(written=digests), tuple(edits)


# --- files become entries ---


def read_back(
    rt: Roundtable, edits: Iterable[HandEdit], playbook: Playbook, *, before: Specification
) -> Roundtable:
    """
    What people changed in git counts from here on, in the name of who committed it. A section with a value that
    does not fit is left as they wrote it, and people are told once which row it is. *before* are the entries that our
    text was made of, where no commit has that.
    """
    for edit in edits:
        view = _view_at(playbook, edit, rt)
        if view is None or edit.found == edit.written:
            continue
        ours = edit.written
        if ours is None:
            ours = files.text_of(view, playbook, before, files.ItemFacts(rt.title, rt.slug))
        found = read_back_of(view, playbook.schema, rt.specification, written=ours, found=edit.found)
        place = f"`{edit.path}`" + (f" > {edit.heading}" if edit.heading else "")
        if found.unread:
            if rt.written.get(f"{view.key}{UNREAD}") != edit.digest:
                text = step_wording.unread_by_hand(edit.author, place, found.unread[0])
                rt = rt.telling(Message(text=text), part=rt.part)
            kept = {view.key: edit.replaces, f"{view.key}{UNREAD}": edit.digest}
            rt = rt.but(written={**rt.written, **kept})
            continue
        facts: dict[str, Any] = {GIT_AUTHOR: f"git:{edit.author}@{edit.commit}", ENTRIES: found.patches}
        count = len({patch.id for patch in found.patches})
        text = step_wording.changed_by_hand(edit.author, place, edit.commit, count)
        rt = rt.telling(Message(text=text), part=rt.part, **facts)
        rt = rt.but(written={**rt.written, view.key: edit.digest})
    return rt


def _view_at(playbook: Playbook, edit: HandEdit, rt: Roundtable) -> SectionView | None:
    if edit.path == files.NOTES_PAGE:
        return files.notes_view(edit.heading)
    for view in playbook.schema.views:
        path = SHARED.get(view.file, view.file)
        heading = "" if view.is_data else files.heading_of(view, rt.title, rt.slug)
        if path == edit.path and heading.casefold() == edit.heading.casefold():
            return view
    return adr.view_at(edit.path, edit.heading)


def write_due_files(rt: Roundtable, before: Roundtable, playbook: Playbook) -> Roundtable:
    """
    Adds the sections whose entries changed to the commits that *before* did not have. Of several, the first has all of
    it, since it has the lines; but for that of a step, which has its own. A commit that waits is never changed: it may
    be in git already, made by a process that died before it could say so.
    """
    known = {effect.id for effect in (*before.outbox, *before.unsaved)}
    new = [one for one in rt.outbox if isinstance(one, Commit) and not one.late and one.id not in known]
    if not new:
        return rt
    rt, due = written(rt, playbook)
    if len(new) == 1 or any(one.step for one in new):
        changed = [new[-1].but(edits=_with_due(new[-1].edits, due))] if due else []
    else:
        edits = tuple(edit for one in new for edit in one.edits)
        changed = [new[0].but(edits=_with_due(edits, due)), *(one.but(edits=()) for one in new[1:])]
    for commit in changed:
        rt = _with_snapshot(rt, commit)
    return rt


def _with_due(edits: Iterable[Edit], due: Iterable[Edit]) -> tuple[Edit, ...]:
    """Of two edits of one section the later one stays, and replaces what the first one would have."""
    found: dict[Any, Edit] = {}
    for at, edit in enumerate((*edits, *due)):
        if not isinstance(edit, CheckedEdit | DerivedEdit):
            found[at] = edit
            continue
        place = edit.path, edit.place if isinstance(edit, SectionEdit) else ""
        earlier = found.pop(place, None)
        if isinstance(edit, CheckedEdit) and isinstance(earlier, CheckedEdit):
            edit = edit.but(replaces=earlier.replaces)  # noqa: PLW2901
        found[place] = edit
    return tuple(found.values())


def _with_snapshot(rt: Roundtable, commit: Commit) -> Roundtable:
    """With *commit*, in place of the one before its edits changed: specification.json says what they write."""
    facts, text = snapshot_facts(rt, commit.edits) if commit.snapshot else ({}, "")

    def renewed(line: Line) -> Line:
        return line.but(meta={**line.meta, snapshots.SECTIONS: {}, **facts})

    held = {line.message_id for line in commit.lines if snapshots.HASH in line.meta}
    lines, ours = (
        tuple(renewed(one) if one.message_id in held else one for one in given)
        for given in (commit.lines, rt.lines)
    )
    commit = commit.but(lines=lines, snapshot=text)
    return rt.but(lines=ours, outbox=tuple(commit if one.id == commit.id else one for one in rt.outbox))


def snapshot_facts(rt: Roundtable, edits: Iterable[Edit]) -> tuple[dict[str, Any], str]:
    """The hash of specification.json, and the digests of the sections that *edits* write with it; and its text."""
    text = snapshots.text_of(rt.specification, rt.written)
    digests = {edit.digest for edit in edits if isinstance(edit, CheckedEdit | DerivedEdit)}
    sections = {key: digest for key, digest in rt.written.items() if digest in digests}
    facts: dict[str, Any] = {snapshots.HASH: snapshots.hash_of(text), snapshots.SCHEMA: rt.made_with}
    return {**facts, snapshots.SECTIONS: sections} if sections else facts, text
