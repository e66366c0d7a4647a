"""
How words become entries of the specification, and entries the sections of files.

Explicit forms ride on the line of the person who wrote them; everything else becomes a note there. At each
commit the sections whose text changed are written, whichever step they belong to, so that two files cannot say
different things.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import Schema, SectionView
from bot.domain.catalog.steps import SHARED, Depth, Step
from bot.domain.discussion.elaboration import EndReason, Fate
from bot.domain.discussion.synthesis import Decision, Synthesis
from bot.domain.item.artifacts import Edit, digest_of
from bot.domain.messages import specification_wording as wording
from bot.domain.messages import step_wording
from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import Commit, Tell
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
from bot.domain.specification import adr, checks, discussions, files, forms
from bot.domain.specification.discussions import DISCUSSION, POSITION
from bot.domain.specification.entries import (
    ENTRIES,
    GIT_AUTHOR,
    PERSONA_NAME,
    EntryState,
    Patch,
    Quote,
    Specification,
)
from bot.domain.specification.fold import MOST_SOURCES, QUOTE_CHARS
from bot.domain.specification.projection import Projection
from bot.domain.specification.read_back import read_back as read_back_of
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.errors import NotNow

DECIDERS = "deciders"
"""The field of a decision, and the fact of a line: the names of those who decided."""
READ_OTHERWISE = frozenset({Stage.OPENING, Stage.PLANNING})
"""Before the entries are known; and where words answer the roles of the workshop."""
_REVERSES = re.compile(r"\b(?:instead of|replaces|reverses)\s+(?P<id>[A-Z]{2,5}-\d{3,})", re.IGNORECASE)
SHORT_WORDS = 3
SHORT_CHARS = 6
SPACELESS_FROM = "\u3040"
"""From here on, scripts are written without spaces between words."""


# --- words become entries ---


def said(
    rt: Roundtable, text: str, person: Person, playbook: Playbook, *, step_id: str = "", notes: bool = True
) -> dict[str, Any]:
    """The facts for the line of a message: its patches, read while *step_id* (or the current step) is open."""
    patches = patches_in(rt, text, person, playbook, step_id=step_id or rt.step_id, notes=notes)
    return facts_of(in_discussion(rt, patches, playbook))


def said_afterwards(
    rt: Roundtable, text: str, person: Person, playbook: Playbook, *, step_id: str = ""
) -> dict[str, Any]:
    """
    At a menu: short remarks without content ("brb, standup") stay in the transcript and out of the files. Nothing is
    asked there, so words without a number answer no question.
    """
    step_id, notes = step_id or rt.step_id, not is_short(text)
    return facts_of(patches_in(rt, text, person, playbook, step_id=step_id, notes=notes, is_asked=False))


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
        after = after.queueing(*(Tell(person=event.person.id, message=Message(text=one)) for one in limits))
    if not isinstance(event, Say | Amend | AnswerDirectly) or before.stage in READ_OTHERWISE:
        return after
    why = forms.not_taken(
        event.text,
        schema=playbook.schema,
        specification=before.specification,
        step_id=before.step_id,
        person=event.person.id,
    )
    told = Tell(person=event.person.id, message=Message(text=wording.not_taken(why)))
    return after.queueing(told) if why else after


def is_short(text: str) -> bool:
    """Three words or fewer (six characters where no spaces are written), without number, label, id, path or link."""
    if any(char.isdigit() or char in ":/`#<" for char in text):
        return False
    spaceless = sum(char >= SPACELESS_FROM for char in text)
    return spaceless <= SHORT_CHARS if spaceless else len(text.split()) <= SHORT_WORDS


def decided(
    rt: Roundtable, text: str, playbook: Playbook, *, sources: tuple[str, ...] = (), **fields: Any
) -> dict[str, Any]:
    """The decision that a person pressed is theirs: accepted. Of *fields*, those that the kind has."""
    return _made(rt, "decision", text, playbook, sources=sources, **fields)


def made_in(facts: Mapping[str, Any]) -> str:
    """The id of the one new entry in *facts*; empty where there is none."""
    return next((str(one["id"]) for one in facts.get(ENTRIES) or ()), "")


def objected(rt: Roundtable, text: str, settle: str, playbook: Playbook) -> dict[str, Any]:
    return _made(rt, "objection", text, playbook, outcome="open", settle=settle)


OUTCOMES = {Fate.ACCEPTED: "accepted", Fate.REJECTED: "rejected", Fate.RISK: "kept as risk"}
"""The field `outcome` of an objection."""


def settled(id: str, fate: Fate, because: str) -> dict[str, Any]:
    """What became of the objection *id*. Who takes it back withdraws its entry."""
    if fate not in OUTCOMES:
        return facts_of([Patch(id=id, state=EntryState.WITHDRAWN)])
    said_why = {"outcome_text": because} if because else {}
    return facts_of([Patch(id=id, set={"outcome": OUTCOMES[fate], **said_why})])


def _made(
    rt: Roundtable, key: str, text: str, playbook: Playbook, *, sources: tuple[str, ...] = (), **fields: Any
) -> dict[str, Any]:
    if (kind := playbook.schema.kinds.get(key)) is None:
        return {}
    id = rt.specification.next_id(kind)
    more = {name: value for name, value in fields.items() if value and name in kind.fields}
    patch = Patch(id=id, kind=kind.key, new=True, set={kind.text: text, **more}, sources=sources)
    quoted = tuple(
        Quote(line=one, words=text[:QUOTE_CHARS]) for one in sources if rt.specification.says(one, text)
    )
    patch = patch.but(quotes={kind.text: quoted}) if quoted else patch
    return facts_of(in_discussion(rt, [_reversing(patch, rt.specification)], playbook))


def merged(facts: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both, with the patches of both."""
    entries = [*(facts.get(ENTRIES) or ()), *(more.get(ENTRIES) or ())]
    return {**facts, **more, **({ENTRIES: entries} if entries else {})}


def completed(facts: Mapping[str, Any], id: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """*facts*, whose patch of the entry *id* gives it *more* fields, too."""
    entries = [
        {**one, "set": {**one.get("set", {}), **more}} if more and one.get("id") == id else one
        for one in facts.get(ENTRIES) or ()
    ]
    return {**facts, ENTRIES: entries}


# --- discussions ---


def in_discussion(rt: Roundtable, patches: Iterable[Patch], playbook: Playbook) -> Iterator[Patch]:
    """New entries say in which discussion they came up."""
    entry = rt.elaboration.entry if rt.elaboration else ""
    for patch in patches:
        kind = playbook.schema.kinds.get(patch.kind)
        is_of_it = entry and patch.new and kind and DISCUSSION in kind.fields
        yield patch.but(set={**patch.set, DISCUSSION: entry}) if is_of_it else patch


def discussion_opened(
    rt: Roundtable, topic: str, step_id: str, playbook: Playbook
) -> tuple[str, dict[str, Any]]:
    """The id of the new discussion, and the facts for its first line."""
    if (kind := playbook.schema.kinds.get(DISCUSSION)) is None:
        return "", {}
    id = rt.specification.next_id(kind)
    fields = {kind.text: topic, "step": step_id, "began": rt.now}
    return id, facts_of([Patch(id=id, kind=kind.key, new=True, set=fields)])


def option_entry(rt: Roundtable, name: str) -> list[str]:
    """The id of the option of this discussion that people named so."""
    held = rt.debate.entry
    found = (one for one in rt.specification.active("option") if held and one[DISCUSSION] == held)
    return [one.id for one in found if one["name"] == name][:1]


def position_taken(
    rt: Roundtable,
    person: str,
    issue: str,
    option: str,
    playbook: Playbook,
    *,
    sources: Iterable[str] = (),
    taken: Iterable[Patch] = (),
    **said: str,
) -> Iterator[Patch]:
    """*person* (an id, or a persona's actor) has one position on each issue of a discussion; a move is a new claim."""
    kind, held = playbook.schema.kinds.get(POSITION), rt.debate.entry
    if kind is None:
        return
    before = next(
        (
            one
            for one in rt.specification.active(POSITION)
            if (one[DISCUSSION], one["person"], one["issue"] or "") == (held, person, issue)
        ),
        None,
    )
    fields = {"option": option, **{name: value for name, value in said.items() if name in kind.fields}}
    if before:
        new = {name: value for name, value in fields.items() if (before[name] or "") != value}
        if new:
            yield Patch(id=before.id, set=new, sources=tuple(sources))
        return
    about = {DISCUSSION: held, "person": person, "issue": issue}
    given = {name: value for name, value in (about | fields).items() if value}
    id = rt.specification.next_id(kind, taken=(one.id for one in taken))
    yield Patch(id=id, kind=kind.key, new=True, set=given, sources=tuple(sources))


def stances_taken(rt: Roundtable, persona: Persona, playbook: Playbook) -> dict[str, Any]:
    """The positions of the newest turn, which is a persona's."""
    lines = {turn.id: turn.line for turn in rt.debate.turns if turn.line}
    patches: list[Patch] = []
    for one in rt.debate.turns[-1].stances:
        sources = [lines[turn] for turn in one.because if turn in lines]
        words = {"words": one.position} if one.option else {}
        patches += position_taken(
            rt, persona.actor, one.issue, one.held, playbook, sources=sources, taken=patches, **words
        )
    return facts_of(patches)


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
    What a model proposes stands on a line of its own; the fold takes it for no more than that. What its sources do not
    say is marked, whichever voice it comes from. Ids that were given away while it thought are replaced.
    """
    patches = renumbered(_without_peoples(patches, playbook.schema), rt.specification, playbook.schema)
    texts = {id: checks.text_of_entry(entry) for id, entry in rt.specification.entries.items()}
    said = {rt.line_of(one.ts): f"{rt.name_of(one.person)}: {one.text}" for one in rt.answers}
    known = rt.specification.entries
    found = [checks.checked(one, {**texts, **said}, playbook.schema, known) for one in patches]
    facts = facts_of(found)
    if not facts:
        return rt
    facts[PERSONA_NAME] = persona.first_name
    if marked := checks.marked(found):
        facts["unverified"] = marked
    ids = ", ".join(dict.fromkeys(patch["id"] for patch in facts[ENTRIES]))
    return rt.proposing(step_wording.proposed(persona, ids), actor=persona.actor, part=part, **about, **facts)


def _without_peoples(patches: Iterable[Patch], schema: Schema) -> Iterator[Patch]:
    """Without fields that only people fill in, such as who decided."""
    for patch in patches:
        kind = schema.kinds.get(patch.kind) or schema.of_id(patch.id)
        theirs = {name for name, field in kind.fields.items() if field.by_people} if kind else set()
        kept = {name: value for name, value in patch.set.items() if name not in theirs}
        if kept or not patch.set:
            yield patch if kept == patch.set else patch.but(set=kept)


def renumbered(patches: Iterable[Patch], specification: Specification, schema: Schema) -> Iterator[Patch]:
    """New entries with the next free ids, where theirs exist by now."""
    ids: dict[str, str] = {}
    for patch in patches:
        kind, owner = schema.kinds.get(patch.kind), ids.get(patch.part_of, patch.part_of)
        if not patch.new or kind is None:
            yield patch.but(id=ids.get(patch.id, patch.id))
            continue
        is_free = owner == patch.part_of and patch.id not in specification.entries
        taken = ids.values()
        id = patch.id if is_free and patch.id not in taken else specification.next_id(kind, owner, taken)
        ids[patch.id] = id
        yield patch.but(id=id, part_of=owner)


def synthesized(
    rt: Roundtable, synthesis: Synthesis, quotes: Iterable[Decision], playbook: Playbook
) -> dict[str, Any]:
    """
    Insights, open questions and actions of a discussion, the objections of personas, and the *quotes* of people that
    somebody may confirm as decisions: proposed, with the lines that they rest on.
    """
    lines = {turn.id: turn.line for turn in rt.debate.turns if turn.line}
    people = {turn.name for turn in rt.debate.turns if turn.human}
    found: list[Patch] = []
    for key, claims in (
        ("insight", [(one.text, one.turns, one.unverified) for one in synthesis.insights]),
        ("question", [(one.text, one.turns, one.unverified) for one in synthesis.questions]),
        ("action", [(one, (), "") for one in synthesis.actions]),
        (
            "objection",
            [(one.text, one.turns, "") for one in synthesis.objections if people.isdisjoint(one.by)],
        ),
        ("decision", [(one.text, one.turns, "") for one in quotes]),
    ):
        kind = playbook.schema.kinds.get(key)
        known = {str(one[kind.text]).casefold() for one in rt.specification.active(key)} if kind else set()
        for text, turns, why in claims:
            value = kind.fields[kind.text].read(text) if kind else None
            if kind and value and str(value).casefold() not in known:
                id = rt.specification.next_id(kind, taken=(one.id for one in found))
                sources = tuple(lines[turn] for turn in turns if turn in lines)[:MOST_SOURCES]
                doubts = {kind.text: why} if why else {}
                found.append(
                    Patch(
                        id=id, kind=key, new=True, set={kind.text: value}, sources=sources, unverified=doubts
                    )
                )
    return facts_of((*in_discussion(rt, found, playbook), *_discussion_ended(rt, found)))


def _discussion_ended(rt: Roundtable, new: Iterable[Patch]) -> Iterator[Patch]:
    """Says what its block in the files shows, as it stands now."""
    id = rt.debate.entry
    if not id:
        return
    words = {one.id: str(one["text"]) for one in discussions.shown_entries(rt.specification, id)}
    words |= {one.id: str(one.set["text"]) for one in new}
    ended = {
        "ended": rt.now,
        "exit": (rt.debate.ending or EndReason.BY_PEOPLE).value,
        "shows": [discussions.as_shown(*one) for one in words.items()],
    }
    yield Patch(id=id, set=ended)


def amended(rt: Roundtable, event: Amend, playbook: Playbook) -> dict[str, Any]:
    """
    A changed message keeps the ids that it gave, and belongs to the step that it was said in. Words that had given no
    entries do not become any.
    """
    line = rt.line_of(event.ts)
    before = rt.specification.made_by(line)
    if not before:
        return {}
    step_id = next(rt.specification.entries[one.id].step for one in before)
    # read as if it had not been said before: else what stays the same would not be said again, and be taken back
    known = rt.but(specification=rt.specification.without(line))
    is_asked = any("question" in one.set for one in before)
    now = patches_in(
        known, event.text, event.person, playbook, step_id=step_id, notes=True, is_asked=is_asked
    )
    return {**facts_of(forms.reread(before, now)), "step_id": step_id}


def questions_of(rt: Roundtable, step: Step) -> tuple[str, ...]:
    """Those of the depth at which the step is led; where it asks none, as brief does, the standard ones."""
    depth = depth_of_step(step, rt.depth_overrides, rt.depth)
    questions = step.questions_at(depth) or step.questions_at(Depth.STANDARD)
    return tuple(asking.filled(rt, step, one) for one in questions)


def numbers_answered(rt: Roundtable, step: Step) -> frozenset[int]:
    """By what people wrote behind a number, also where that became entries."""
    answers = rt.answers if step.step_id == rt.step_id else ()
    return frozenset().union(*(forms.numbers_in(one.text) for one in answers if not one.feedback))


def open_questions(rt: Roundtable, step: Step) -> tuple[int, ...]:
    """The numbers of the questions without an answer."""
    noted = (note["question"] for note in rt.specification.notes_of([step.step_id]))
    answered = {*numbers_answered(rt, step), *noted}
    return tuple(n for n in range(1, len(questions_of(rt, step)) + 1) if n not in answered)


def patches_in(
    rt: Roundtable,
    text: str,
    person: Person,
    playbook: Playbook,
    *,
    step_id: str,
    notes: bool = True,
    is_asked: bool = True,
) -> tuple[Patch, ...]:
    step = playbook.agenda.get(step_id)
    patches = forms.read(
        text,
        schema=playbook.schema,
        specification=rt.specification,
        step_id=step_id,
        person=person.id,
        questions=questions_of(rt, step) if step else (),
        open_questions=open_questions(rt, step) if step and is_asked else (),
        notes=notes and step is not None,
    )
    return tuple(_reversing(patch, rt.specification) for patch in patches)


def _reversing(patch: Patch, specification: Specification) -> Patch:
    """`decision: a file instead of DEC-001` replaces that one, wherever it is said."""
    if patch.kind != "decision" or not patch.new or patch.set.get("replaces"):
        return patch
    named = (found["id"].upper() for found in _REVERSES.finditer(str(patch.set.get("text"))))
    old = [id for id in dict.fromkeys(named) if specification.lives(id) and id.startswith("DEC-")]
    return patch.but(set={**patch.set, "replaces": old}) if old else patch


def facts_of(patches: Iterable[Patch]) -> dict[str, Any]:
    made = [patch.as_json() for patch in patches]
    return {ENTRIES: made} if made else {}


# --- entries become files ---


def written(
    rt: Roundtable, playbook: Playbook, steps: Collection[str] = ()
) -> tuple[Roundtable, tuple[Edit, ...]]:
    """
    The edits for every section whose text is not what was last written; those of *steps* are written even when
    they are empty. A section whose step was not led yet is left until then.
    """
    digests = dict(rt.written)
    edits: list[Edit] = []
    item = files.ItemFacts(rt.title, rt.slug)
    for key, edit in files.sections(playbook, rt.specification, item, digests, steps):
        if digests.get(key) != edit.digest:
            edits.append(edit)
            digests[key] = edit.digest
    for key, follow_ups in files.follow_ups(playbook, rt.specification):
        if digests.get(key, "") != follow_ups[0].digest:
            edits += follow_ups
            digests[key] = follow_ups[0].digest
    return rt.but(written=digests), tuple(edits)


# --- files become entries ---


def read_back(rt: Roundtable, edits: Iterable[HandEdit], playbook: Playbook) -> Roundtable:
    """
    What people changed in git counts from here on, in the name of who committed it. A section with a value that
    does not fit is left as they wrote it, and people are told which row it is.
    """
    for edit in edits:
        view = _view_at(playbook, edit, rt)
        if view is None or edit.found == edit.written:
            continue
        found = read_back_of(view, playbook.schema, rt.specification, written=edit.written, found=edit.found)
        place = f"`{edit.path}`" + (f" > {edit.heading}" if edit.heading else "")
        if found.unread:
            text = step_wording.unread_by_hand(edit.author, place, found.unread[0])
            rt = rt.telling(Message(text=text), part=rt.part)
            body = digest_of(Projection(playbook.schema, rt.specification).view(view))
            rt = rt.but(written={**rt.written, view.key: body})
            continue
        facts: dict[str, Any] = {GIT_AUTHOR: f"git:{edit.author}@{edit.commit}", **facts_of(found.patches)}
        count = len({patch.id for patch in found.patches})
        text = step_wording.changed_by_hand(edit.author, place, edit.commit, count)
        rt = rt.telling(Message(text=text), part=rt.part, **facts)
        rt = rt.but(written={**rt.written, view.key: edit.digest})
    return rt


def _view_at(playbook: Playbook, edit: HandEdit, rt: Roundtable) -> SectionView | None:
    for view in playbook.schema.views:
        path = SHARED.get(view.file, view.file)
        heading = "" if view.is_data else files.heading_of(view, rt.title, rt.slug)
        if path == edit.path and heading.casefold() == edit.heading.casefold():
            return view
    return adr.view_at(edit.path, edit.heading)


Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_files(decide: Decide) -> Decide:
    """*decide*, with every commit that comes of it holding the sections whose entries changed."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        known = {one.id for one in (*rt.outbox, *rt.unsaved)}
        new = [
            one for one in after.outbox if isinstance(one, Commit) and not one.late and one.id not in known
        ]
        if after is rt or not new:
            return after
        after, edits = written(after, playbook)
        last = new[-1].but(edits=(*new[-1].edits, *edits)) if edits else new[-1]
        return after.but(outbox=tuple(last if one.id == last.id else one for one in after.outbox))

    return decided
