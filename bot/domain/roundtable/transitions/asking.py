"""
What people are asked: the questions of a step, or the menu that follows it.

Every transition that needs people ends here: with one open menu.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from bot.domain.catalog.agenda import Pick, Playbook, QuickScan, depth_of_step, next_step, why_skipped
from bot.domain.catalog.personas import OFFLINE, Persona
from bot.domain.catalog.phases import Phase
from bot.domain.catalog.skip_if import Facts
from bot.domain.catalog.steps import Depth, Step
from bot.domain.catalog.taxonomy import Severity, Trouble, trouble
from bot.domain.messages import menus, step_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.planning import roles
from bot.domain.roundtable import ended
from bot.domain.roundtable.asked import AskedAs, asked_in
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.effects import Speak, Survey
from bot.domain.roundtable.outcomes import CodeSurvey, DraftQuestion, Surveyed
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.fold import Patch
from bot.domain.specification.keywords import KEYWORD, keywords_of
from bot.domain.transcript.lines import BY_RULE, LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import paragraphs

# Troubles: the ones people should read go into the thread as small print, all others to the log.


LOUD = {Severity.ERROR: "⚠ ", Severity.FATAL: "⚠ "}


def report(rt: Roundtable, troubles: Iterable[Trouble], *, part: LinePhase | None = None) -> Roundtable:
    """One message for all that can be seen, each with its code, so that it can be looked up."""
    found = tuple(troubles)
    rt = rt.logging(*found)
    seen = [one for one in found if one.sentence]
    if not seen:
        return rt
    text = "\n".join(f"{LOUD.get(one.severity, '')}{one.sentence}" for one in seen)
    codes = " · ".join(dict.fromkeys(one.code for one in seen))
    return rt.telling(Message(text=text, note=codes), part=part or rt.part)


SURVEYED = frozenset({"00-02", "00-03"})
"""The steps whose facts come from searching the code base, when there is one."""

ESTIMATE = "estimate"
ESTIMATED = {"scope": "scope", "complexity": "complexity", "files": "file_count"}
"""The fields of an estimate, and what a quick scan calls them."""


# --- where we are -------------------------------------------------------------------------------------------------


def pick(rt: Roundtable, playbook: Playbook) -> Pick:
    return next_step(
        playbook.agenda,
        rt.phase_key,
        completed=rt.steps_completed,
        passed=[one.step_id for one in rt.passed],
        facts=_facts(rt),
        excused=_excused(rt),
    )


class LeftOut(NamedTuple):
    """A step that was not done, or a file of one that could not be read (not `can_open`), and why."""

    phase_key: str
    name: str
    why: str
    title: str = ""
    can_open: bool = True


def left_out(rt: Roundtable, playbook: Playbook) -> tuple[LeftOut, ...]:
    """All that was not done, up to the phase where we are; of an analysis that is complete, in all phases."""
    keys = [phase.key for phase in playbook.agenda.phases]
    through = keys if rt.stage is Stage.ANALYSED else [key for key in keys if key <= rt.phase_key]
    return tuple(one for key in through for one in _left_out_of(rt, key, playbook))


def _left_out_of(rt: Roundtable, phase_key: str, playbook: Playbook) -> Iterator[LeftOut]:
    told = {one.step_id: one.why for one in rt.passed}
    for step in playbook.agenda.steps_of(phase_key):
        if rt.has_finished(step.step_id):
            continue
        skip = why_skipped(
            playbook.agenda, step, completed=rt.steps_completed, facts=_facts(rt), excused=_excused(rt)
        )
        known = told.get(step.step_id) or (skip.why if skip else step_wording.NOT_DISCUSSED)
        yield LeftOut(phase_key, step.step_id, known, step.title)
    for one in playbook.troubles_of(phase_key):
        if (name := one.facts.get("filename")) and one.sentence:
            yield LeftOut(phase_key, name, one.sentence, can_open=False)


def _facts(rt: Roundtable) -> Facts:
    return scan_of(rt).facts(rt.depth or Depth.STANDARD)


def _excused(rt: Roundtable) -> frozenset[str]:
    return frozenset(one.step_id for one in rt.passed if one.excused)


def scan_of(rt: Roundtable) -> QuickScan:
    """What people said in estimates, the last one first; what they did not say, as it stands in quick-scan.md."""
    said: dict[str, Any] = {}
    for entry in rt.specification.active(ESTIMATE):
        for field, name in ESTIMATED.items():
            claim = entry.claim(field)
            if claim and claim.accepted:
                said[name] = claim.value
    try:
        return QuickScan.model_validate(rt.scan.model_dump() | said)
    except ValidationError:
        return rt.scan


def is_done(rt: Roundtable, step_id: str) -> bool:
    """Whether it was finished, and is not open again, also in a pause."""
    stage = rt.heading_for if rt.stage is Stage.PAUSED else rt.stage
    is_open_again = stage is Stage.DISCUSSING and rt.step_id == rt.reopened == step_id
    return rt.has_finished(step_id) and not is_open_again


def lacks_step(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether the step that is open has left the files since it was opened."""
    is_open = rt.stage is Stage.DISCUSSING and rt.step_id and not is_done(rt, rt.step_id)
    return bool(is_open) and playbook.agenda.get(rt.step_id) is None


def upcoming(rt: Roundtable, playbook: Playbook) -> Step | None:
    """The step that is open, or the next one of the current phase."""
    if lacks_step(rt, playbook):
        return None
    step = playbook.agenda.get(rt.step_id) if rt.stage is Stage.DISCUSSING else None
    if step and not is_done(rt, step.step_id):
        return step
    return None if rt.phase_key in rt.phases_completed else pick(rt, playbook).step


def following_step(rt: Roundtable, playbook: Playbook) -> Step | None:
    """What opens after the current step, also in a later phase."""
    done = rt.but(steps_completed=(*rt.steps_completed, rt.step_id))
    keys = [one.key for one in playbook.agenda.phases if one.key not in rt.phases_completed]
    phases = dict.fromkeys((rt.phase_key, *keys))
    return next(filter(None, (pick(done.but(phase_key=key), playbook).step for key in phases)), None)


def phase_of(key: str, playbook: Playbook) -> Phase:
    """Phases are content: one that is gone since yesterday still has a key to be called by."""
    return next((phase for phase in playbook.agenda.phases if phase.key == key), Phase.of_folder(key))


def speaker_of(rt: Roundtable, playbook: Playbook) -> Persona:
    """The step's persona, for that step only; else the lead of the phase."""
    step = playbook.agenda.get(rt.step_id)
    return playbook.roster.speaker_for(step.persona if step else "", rt.phase_key)


def listening(rt: Roundtable, playbook: Playbook) -> Speak:
    """Who takes up what people said: whom they asked by name; else who leads the step."""
    first, *then = called(rt, playbook) or [speaker_of(rt, playbook).key]
    return Speak(persona=first, task="draft", then=tuple(then))


def called(rt: Roundtable, playbook: Playbook, *, by_name: bool = False) -> tuple[str, ...]:
    """Whom people asked in what no model has looked at yet, and who can answer. In a discussion they were answered."""
    able = {one.key for one in playbook.roster if thinks(one.key, playbook)}
    if not able:
        return ()
    lead = speaker_of(rt, playbook).key
    discussed = ended.turns(rt)
    new = (one for one in rt.unread if one.ts not in discussed)
    asked = (asked_in(one, rt, playbook, lead=lead) for one in new)
    found = (one for one in asked if one and not (by_name and one.how is AskedAs.UNNAMED))
    named = dict.fromkeys(key for one in found for key in one.personas)
    return tuple(key for key in named if key in able)


def saying_first(rt: Roundtable, playbook: Playbook, text: str) -> Roundtable:
    """A line of what the speaker says above the next question."""
    actor = speaker_of(rt, playbook).actor
    return rt.saying_on_card(text, part=LinePhase.CLARIFYING, actor=actor, **BY_RULE)


# --- asking -------------------------------------------------------------------------------------------------------


def next_question(rt: Roundtable, playbook: Playbook, first: str = "") -> Roundtable:
    """
    The next step of the phase; at its end, the menu of the phase.

    What people said while we were busy, and is not written down, belongs to the step that opens now.
    """
    picked = pick(rt, playbook)
    rt = passing(rt, picked)
    rt = report(rt, picked.troubles, part=LinePhase.CLARIFYING)
    if picked.step is None:
        return menu(rt, playbook, first, kind=MenuKind.PHASE)
    return open_step(rt, picked.step, playbook, first)


def passing(rt: Roundtable, picked: Pick) -> Roundtable:
    return rt.but(passed=(*rt.passed, *picked.skipped))


def open_step(rt: Roundtable, step: Step, playbook: Playbook, first: str = "") -> Roundtable:
    """*first* stands before its question."""
    carried = {one.ts: one.but(feedback=False, step_id=step.step_id) for one in rt.unwritten}
    rt = rt.dropping(Speak, Survey).but(
        stage=Stage.DISCUSSING,
        step_id=step.step_id,
        answers=tuple(carried.values()),
        filed=(),
        unread=tuple(carried.get(one.ts, one) for one in rt.unread),
        drafts=0,
        questions=tuple(one for one in rt.questions if one.step_id == step.step_id),
    )
    rt = rt.opening_round(LinePhase.CLARIFYING)
    searching = surveying(rt.but(first_words=first), playbook)
    return searching if searching.has_pending(Survey) else question(rt, playbook, first)


def surveyed(rt: Roundtable, event: Surveyed, playbook: Playbook) -> Roundtable:
    """What the search found is shown with the questions, or with the menu of the step that was finished."""
    rt = _proposing(rt.but(survey=event.survey), event.survey)
    return question(rt, playbook) if rt.stage is Stage.DISCUSSING and rt.menu is None else rt


def question(rt: Roundtable, playbook: Playbook, first: str = "", *, anew: bool = True) -> Roundtable:
    """
    The persona asks, at the depth that is active; *first*, which has its line already, stands before the question.
    It is posted below what was said since, unless the card says *first* where it stands (not *anew*).

    A step that was done by hand gives way to the next. Past one that has left the files only a person goes.
    """
    if lacks_step(rt, playbook):
        return offer_skip(rt, playbook, first)
    step = playbook.agenda.get(rt.step_id)
    if step is None or is_done(rt, step.step_id):
        return next_question(rt, playbook, first)

    persona = speaker_of(rt, playbook)
    lead, _ = playbook.roster.lead_of(rt.phase_key)
    depth = depth_of_step(step, rt.depth_overrides, rt.depth)
    text, fell_back = text_of(rt, step, playbook, depth)
    if fell_back:
        rt = rt.logging(trouble("ERR-STEP-007"))
    if persona.key != lead.key:
        rt = rt.logging(trouble("ERR-PERSONA-002"))
    absent = playbook.roster.absent.get(step.persona)
    stands_in = "" if step.persona in playbook.roster else step_wording.stands_in(persona, step, absent)
    above = first or rt.first_words
    rt = rt.but(first_words="")
    asked = paragraphs(stands_in, step_wording.header(persona, step), filled(rt, step, text))
    about: dict[str, Any] = {"part": LinePhase.CLARIFYING, "actor": persona.actor, **BY_RULE}
    first = paragraphs(above, stands_in)
    message = Message(text=asked, speaker=persona.key, choices=(menus.FINISH_STEP,))
    in_place = rt.has_card and not (first and anew)
    if in_place:
        rt = rt.offering_in_place(MenuKind.PROMPT, message, **about)
    else:
        message = message.but(text=paragraphs(above, asked))
        rt = rt.offering(MenuKind.PROMPT, message, line=asked, **about)
    rt = rt.but(card=rt.card.but(first=first)) if rt.card and (first or not in_place) else rt
    newest = rt.asked[-1] if rt.asked else None
    asked_again = newest is not None and newest.step_id == rt.step_id and not newest.discussion
    if asked_again:
        return rt
    for one in rt.questions:
        rt = note_question(rt, one, playbook)
    return _looking_first(rt.opening(rt.step_id), playbook)


def offer_skip(rt: Roundtable, playbook: Playbook, first: str = "", *, asked_by: str = "") -> Roundtable:
    """Of a step that has left the files, with *first* above it; once it stands there, only who asks is told again."""
    text = step_wording.missing_step(rt.step_id, playbook.content)
    if not first and rt.menu and rt.menu.offers(menus.SKIP_STEP.action):
        return rt.whispering(asked_by, text) if asked_by else rt
    speaker = speaker_of(rt, playbook).key
    message = Message(text=paragraphs(first, text), speaker=speaker, choices=(menus.SKIP_STEP,))
    return rt.offering(MenuKind.PROMPT, message, part=LinePhase.CLARIFYING, line=text, **BY_RULE)


def _looking_first(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    The card is posted first; what the persona finds before anybody answers is suggested on it. It does not look where
    the last draft has made questions for the step.
    """
    speak = listening(rt, playbook)
    looks = playbook.policy.looks_first and not (rt.answers or rt.questions or rt.has_finished(rt.step_id))
    is_wanted = looks and not rt.has_pending(Speak) and not is_silenced(rt, playbook)
    return drafting(rt, speak) if is_wanted and thinks(speak.persona, playbook) else rt


def drafting(rt: Roundtable, speak: Speak) -> Roundtable:
    return rt.queueing(speak).but(drafts=rt.drafts + 1)


def note_question(rt: Roundtable, question: DraftQuestion, playbook: Playbook) -> Roundtable:
    """The line of a question that stands on the card."""
    persona = playbook.roster.get(question.by) or speaker_of(rt, playbook)
    return rt.saying_on_card(question.text, part=LinePhase.CLARIFYING, actor=persona.actor, **question.meta)


def is_silenced(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether people muted the personas, or the budget is used up."""
    return rt.manners.muted or used_up(rt.purse, playbook.policy)


def text_of(rt: Roundtable, step: Step, playbook: Playbook, depth: Depth) -> tuple[str, bool]:
    """What the step asks at *depth*, and whether another text stands in. The questions of the plan are its roles'."""
    if step.step_id != playbook.agenda.plan.step_id:
        return step.text_at(depth)
    asked = roles.questions(playbook.schema, rt.specification, step.step_id)
    return step_wording.planning([f"{one.number}. {one.asked}" for one in asked if one.gaps]), False


def filled(rt: Roundtable, step: Step, text: str) -> str:
    """A text of the step, with what is known in its placeholders, and what a search has found above it."""
    found = step_wording.surveyed(rt.survey) if rt.survey and step.step_id in SURVEYED else ""
    body = step_wording.prompt(text, known_facts(rt))
    return paragraphs(found, body) if text.count("\n") else body


def menu(
    rt: Roundtable,
    playbook: Playbook,
    text: str,
    *,
    kind: MenuKind | None = None,
    anew: bool = False,
) -> Roundtable:
    """
    The menu that belongs here, with *text* above it. It takes the place of the step's question; *anew* posts it below
    what was said since.
    """
    kind = kind or (MenuKind.STEP if upcoming(rt, playbook) else MenuKind.PHASE)
    rt = rt.but(stage=Stage.AT_BOUNDARY)
    speaker = speaker_of(rt, playbook)
    is_plan = rt.step_id == playbook.agenda.plan.step_id
    left = left_out(rt, playbook) if kind is MenuKind.PHASE and not is_plan else ()
    told = not_done(rt, left)
    if kind is MenuKind.STEP:
        message = menus.after_step(speaker.key, text, rt.depth or Depth.STANDARD)
    else:
        above = paragraphs(text, told)
        after = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key))
        message = menus.after_phase(speaker.key, above, after, left_out=openable(left))
    in_place = rt.has_card and not anew
    offered = rt.offering_in_place if in_place else rt.offering
    rt = offered(kind, message, part=LinePhase.CLARIFYING, actor=speaker.actor, **BY_RULE)
    # The card says by itself what was saved; a greeting is not said again when the step is finished.
    first = paragraphs("" if in_place else text, told)
    return rt.but(card=rt.card.but(first=first)) if rt.card else rt


def openable(left: Iterable[LeftOut]) -> list[tuple[str, str]]:
    """The steps that can be opened, ids and titles."""
    return [(one.name, one.title) for one in left if one.can_open]


def not_done(rt: Roundtable, left: Sequence[LeftOut]) -> str:
    """Empty when nothing was *left* out."""
    phase = "" if rt.stage is Stage.ANALYSED else rt.phase_key
    here, elsewhere = (
        [(f"{one.name} {one.title}".rstrip(), one.why) for one in left if (one.phase_key == phase) is is_here]
        for is_here in (True, False)
    )
    without_button = [step_id for step_id, _ in openable(left)[menus.REOPENED_AT_MOST :]]
    return step_wording.not_done(here, elsewhere, without_button=next(iter(without_button), ""))


# --- what can be known without asking -----------------------------------------------------------------------------


def surveying(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The code base is searched for the recorded keywords, where a model makes something of what is found."""
    words = keywords_of(rt.specification, playbook.schema.operators.tables.filler)
    is_of_use = rt.step_id in SURVEYED and words and thinks(listening(rt, playbook).persona, playbook)
    return rt.queueing(Survey(keywords=words)) if is_of_use else rt


def _proposing(rt: Roundtable, survey: CodeSurvey) -> Roundtable:
    """What was found, as proposals on a line of the host: it has no author, so that nothing of it is accepted."""
    patches = tuple(_keyword_patches(rt, survey))
    if not patches:
        return rt
    told = step_wording.searched(len(survey.hits), survey.files_found)
    return rt.recording(told, entries=patches)


def _keyword_patches(rt: Roundtable, survey: CodeSurvey) -> Iterator[Patch]:
    known = {str(one["word"]).casefold(): one for one in rt.specification.active(KEYWORD)}
    for hits in survey.hits:
        entry = known.get(hits.keyword.casefold())
        if entry and (entry["hits"] != hits.count or list(entry["key_files"] or ()) != list(hits.files)):
            yield Patch(id=entry.id, set={"hits": hits.count, "key_files": list(hits.files)})


def known_facts(rt: Roundtable) -> dict[str, str]:
    """What the placeholders of a step's text can be filled with; unknown ones are empty."""
    hits, scan = rt.survey.hits if rt.survey else (), scan_of(rt)
    return {
        "item": rt.title,
        "scope": "" if scan.scope == "unknown" else scan.scope,
        "complexity": "" if scan.complexity == "unknown" else scan.complexity,
        "file_count": str(scan.file_count or ""),
        "keywords": ", ".join(keywords_of(rt.specification)),
        "hits": str(sum(one.count for one in hits) or ""),
        "areas": ", ".join(sorted({path.split("/")[0] for one in hits for path in one.files})),
    }


# A person chose from a menu: it says so from then on, and so does the record.


def chosen(rt: Roundtable, label: str, person: Person, *, part: LinePhase) -> Roundtable:
    rt = rt.closing_menu(step_wording.chosen(label, rt.name_of(person.id)))
    return record_choice(rt, label, person, part=part)


def record_choice(rt: Roundtable, label: str, person: Person, *, part: LinePhase) -> Roundtable:
    """In the record alone: the menu stays open."""
    return rt.recording(step_wording.chose(rt.name_of(person.id), label), part=part, by=person.id)


# Whether a model is asked for an effect, and so whether people wait for it, and the budget pays for it.


def thinks(key: str, playbook: Playbook) -> bool:
    """With the model of the persona *key*, or else the common one."""
    persona = playbook.roster.get(key)
    own = persona.model if persona else ""
    return own != OFFLINE if own else playbook.policy.thinks
