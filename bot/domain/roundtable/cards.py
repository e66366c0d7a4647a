"""What the card of a step says: it follows from the state (see `live`)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import NOTE
from bot.domain.catalog.steps import SHARED, Step
from bot.domain.discussion.board import BoardSide
from bot.domain.messages import attendance_wording, card_commands, menus, step_card, step_wording
from bot.domain.messages.card_commands import TypedActions
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import ITEM, Choice, Link, Message
from bot.domain.messages.step_scene import (
    NewestNote,
    SavedSection,
    StaleEntry,
    StepScene,
    Suggestion,
    SuggestionState,
    UnsortedNote,
)
from bot.domain.roundtable import agreeing, covering, questions, waiting, words
from bot.domain.roundtable.budget import line as budget_line
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.inputs import Input, Say, SetDepth
from bot.domain.roundtable.outcomes import DraftQuestion
from bot.domain.roundtable.posts import StepCard
from bot.domain.roundtable.root import can_create_issues, not_ready
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, drafts, saving, speaking, specifying, standing
from bot.domain.specification import coverage, entry_forms
from bot.domain.specification.citations import CodeCitation
from bot.domain.specification.claims import Claim, Entry, EntryState
from bot.domain.specification.entries import NOT_LISTED, OF_DISCUSSIONS, author_to_ask
from bot.domain.specification.projection import Projection
from bot.domain.values.text import counted
from bot.domain.values.timestamps import in_words
from bot.errors import UserError

FOR_A_TIME = frozenset({menus.ALLOW_MORE.action, menus.REOPEN.action, menus.READ_AGAIN.action})
CODE_SHOWN = 3
"""Places in the code, of each suggestion."""


# --- what a card says ---


def rendered(rt: Roundtable, card: StepCard, playbook: Playbook) -> Message:
    """What the card says now. Without its step, it says what it was offered with."""
    scene = scene_of(rt, card, playbook)
    menu = rt.menu if rt.menu and rt.menu.token == card.token else None
    more = (menus.ALLOW_MORE,) if menu and used_up(rt.purse, playbook.policy) else ()
    if scene is None:
        return card.message.but(choices=(*card.message.choices, *more))
    if menu is None and _is_skipped(rt, card, scene):
        return step_card.skipped_card(scene, by=card.by).but(token=ITEM)
    is_open = menu.kind is MenuKind.PROMPT if menu else not asking.is_done(rt, card.step_id)
    if is_open:
        message = step_card.open_card(scene)
    else:
        ends_phase = menu.kind is MenuKind.PHASE if menu else _has_ended(rt, playbook)
        following = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key)) if ends_phase else None
        can_create = scene.is_plan and can_create_issues(rt, playbook)
        message = step_card.finished_card(
            scene, by=card.by, ends_phase=ends_phase, following=following, can_create=can_create
        )
    if menu is None:
        says_who = not is_open and card.message.note == step_wording.finished(card.by)
        return step_card.without_hints(message.spent()).but(note="" if says_who else card.message.note)
    again = (menus.READ_AGAIN,) if _is_unread(rt, playbook) else ()
    return message.but(
        choices=_with_extras(message, (*card.message.choices, *again, *more)), token=card.token
    )


def _is_unread(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether words wait for a model, and no line about a failed draft says so."""
    return not speaking.is_lost(rt, rt.step_id) and speaking.is_left_unread(rt, playbook)


def _has_ended(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether the menu that was closed stood at the end of the phase: it keeps its words."""
    return asking.upcoming(rt.but(stage=Stage.AT_BOUNDARY), playbook) is None


def collapsed(rt: Roundtable, card: StepCard, playbook: Playbook) -> Message:
    """What stays of a card that people went on from. It has a menu no more."""
    scene = scene_of(rt, card, playbook)
    if scene and _is_skipped(rt, card, scene):
        return step_card.skipped_card(scene, by=card.by).but(token=ITEM)
    if scene is None or not rt.has_finished(card.step_id):
        shown = rt.live[card.token].shown if card.token in rt.live else None
        return (shown or card.message).spent().but(note=rt.what_became_of(card.token))
    message = step_card.collapsed_card(scene)
    assert message.card, "it is a card"
    spent = message.spent()
    return spent.but(token=ITEM, card=spent.card.but(more=message.card.more) if spent.card else None)


def read(rt: Roundtable, step_id: str, playbook: Playbook) -> Message:
    """All that the card of a step lists, also of one that is behind us."""
    is_here = rt.card is not None and rt.card.step_id == step_id
    card = (rt.card if is_here else None) or StepCard(step_id=step_id, token="", message=Message(text=""))
    scene = scene_of(rt, card, playbook)
    if scene is None:
        raise UserError(step_wording.NO_SUCH_STEP)
    is_open = is_here and rt.menu is not None and rt.menu.kind is MenuKind.PROMPT
    return step_card.in_full(scene, finished=asking.is_done(rt, step_id) and not is_open)


def is_command(rt: Roundtable, event: Input, playbook: Playbook) -> bool:
    """Whether *event* is typed in place of a press on the card."""
    if not isinstance(event, Say):
        return isinstance(event, SetDepth)
    if words.wish_of(rt, event, playbook) or not words.answers(event.text):
        return not words.asks_for_help(event.text)
    return typed_on_card(rt, event, playbook) is not None


def typed_on_card(rt: Roundtable, event: Say, playbook: Playbook) -> tuple[StepScene, TypedActions] | None:
    """What the card of the open step shows, and what is typed in place of its presses; None for content."""
    is_here = rt.card is not None and rt.card.step_id == rt.step_id
    if rt.card is None or not is_here or not card_commands.may_be_typed(event.text, playbook.schema):
        return None
    scene = scene_of(rt, rt.card, playbook)
    found = card_commands.typed(event.text, scene, person=event.person.id) if scene else TypedActions()
    return (scene, found) if scene and found.actions else None


def _is_skipped(rt: Roundtable, card: StepCard, scene: StepScene) -> bool:
    """Also the card of a phase on which nobody said anything."""
    if rt.has_finished(card.step_id):
        said = (one for one in rt.specification.entries.values() if one.step == card.step_id)
        return scene.step.is_card and not any(said)
    return any(one.step_id == card.step_id for one in rt.passed)


def scene_of(rt: Roundtable, card: StepCard, playbook: Playbook) -> StepScene | None:
    step = playbook.agenda.get(card.step_id)
    if step is None:
        return None
    phase = asking.phase_of(step.phase_key, playbook)
    steps = playbook.agenda.steps_of(step.phase_key)
    steps = steps if step in steps else (step,)
    depth = depth_of_step(step, rt.depth_overrides, rt.depth)
    is_plan = step.step_id == playbook.agenda.plan.step_id
    text, _ = asking.text_of(rt, step, playbook, depth)
    gaps = coverage.of_step(playbook.schema, rt.specification, step.step_id)
    heard = _heard(rt, step)
    persona = playbook.roster.speaker_for(step.persona, step.phase_key)
    is_done = asking.is_done(rt, step.step_id)
    is_saved = is_done and not saving.is_behind(rt)
    is_here = step.step_id == rt.step_id and rt.stage is Stage.AT_BOUNDARY
    is_later = is_here and saving.has_content(rt.lines)
    not_saved = step_wording.LATER_NOT_SAVED if is_saved and is_later else ""
    not_saved = step_wording.NOT_ALL_SAVED if is_done and not is_saved else not_saved
    return StepScene(
        step=step,
        persona=persona,
        phase=phase.name,
        position=steps.index(step) + 1,
        steps_in_phase=len(steps),
        depth=depth,
        thinks=asking.thinks(persona.key, playbook),
        deeper=_deeper(rt, step, playbook, is_done=is_done),
        sides=_sides(rt, step.step_id),
        schema=playbook.schema,
        specification=rt.specification,
        prompt=asking.filled(rt, step, text),
        first=card.first,
        questions=specifying.asked_of(rt, step, playbook, gaps),
        drafted=tuple(_drafted(rt, step, playbook)),
        heard=heard,
        waiting=_waiting(rt, step, heard),
        gaps=gaps,
        suggestions=tuple(suggestions(rt, step, playbook)),
        left=tuple(_suggest_late(rt, step, playbook)),
        stale=tuple(_stale(rt, step, playbook)),
        unsorted=tuple(_unsorted(rt, step, playbook)),
        newest=_newest_note(rt, step, playbook),
        saved=tuple(_saved(rt, step, playbook)) if is_saved else (),
        not_saved=not_saved,
        marks=agreeing.shown_marks(rt, step.step_id),
        notes=tuple(drafts.notes(rt, playbook)) if step.step_id == rt.step_id else (),
        lines=tuple(
            filter(
                None,
                [
                    not_ready(rt, playbook) if is_plan and is_done else "",
                    *_replies(rt, step),
                    *_unread(rt, step, persona, playbook),
                    _due(rt, is_done=is_done),
                    budget_line(rt.purse, playbook.policy),
                ],
            )
        ),
    )


def _sides(rt: Roundtable, step_id: str) -> Mapping[str, BoardSide]:
    held = standing.choice_at(rt, step_id)
    return {one.option.entry: one for one in held.sides if one.option.entry} if held else {}


def open_points(rt: Roundtable, playbook: Playbook) -> int:
    """What the card of the open step still asks."""
    is_here = rt.card is not None and rt.card.step_id == rt.step_id
    scene = scene_of(rt, rt.card, playbook) if rt.card and is_here else None
    return (
        scene.open_points if scene else len(coverage.of_step(playbook.schema, rt.specification, rt.step_id))
    )


def suggestions(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[Suggestion]:
    """
    Entries of the step that were proposed, and then proposed values of entries that count, such as those that were
    accepted without what is unchecked. What was decided keeps its number.
    """
    number = 0
    kinds = {kind.key for kind in playbook.schema.shown_in(step.step_id)}
    known = [one for one in rt.specification.besides_notes if one.kind not in NOT_LISTED]
    own = {one.id for one in known if one.step == step.step_id and one.first and one.first.was_proposed}
    for entry in known:
        if entry.first and entry.id in own:
            number += 1
            yield _suggested(rt, entry, entry.first, number, playbook)
    for entry in known:
        if (entry.kind in kinds or entry.id in own) and rt.specification.lives(entry.id):
            for field in entry.claims:
                if pending := entry.pending(field):
                    number += 1
                    yield Suggestion(
                        number=number,
                        id=entry.id,
                        field=field,
                        by=_name(pending.proposed.by, playbook, pending.proposed.name),
                        sources=_code(pending.sources, playbook),
                        is_unchecked=pending.is_unchecked,
                        asks=_author(rt, entry) if field == "text" else "",
                    )


def _suggested(rt: Roundtable, entry: Entry, first: Claim, number: int, playbook: Playbook) -> Suggestion:
    state = {
        EntryState.PROPOSED: SuggestionState.OPEN,
        EntryState.ACCEPTED: SuggestionState.ACCEPTED,
    }.get(entry.state, SuggestionState.LEFT_OUT)
    kind = playbook.schema.kinds.get(entry.kind)
    words = (entry.claim(kind.text) if kind and state is SuggestionState.OPEN else None) or first
    return Suggestion(
        number=number,
        id=entry.id,
        by=_name(words.proposed.by, playbook, words.proposed.name),
        state=state,
        sources=_code(words.sources, playbook),
        decided_by=first.accepted.name if first.accepted else "",
        is_unchecked=all(claim.is_unchecked for _, claim in entry.current()),
        asks=_author(rt, entry) if state is SuggestionState.OPEN else "",
    )


def _author(rt: Roundtable, entry: Entry) -> str:
    author = author_to_ask(entry)
    return rt.name_of(author.by) if author else ""


def _suggest_late(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[Suggestion]:
    """Proposed after its step was finished, so that they stood on no card of it."""
    for entry in rt.specification.besides_notes if step.step_id == rt.step_id else ():
        first, is_of_last = entry.first, entry.step != step.step_id and rt.has_finished(entry.step)
        is_late = is_of_last and entry.state is EntryState.PROPOSED and entry.kind not in NOT_LISTED
        if first and is_late and first.at > rt.finished_at and rt.specification.lives(entry.id):
            yield _suggested(rt, entry, first, 0, playbook)


def _code(sources: Iterable[str], playbook: Playbook) -> tuple[Link, ...]:
    """Links to the code that a suggestion rests on, where people can read it."""
    where = playbook.policy.file_url
    cited = filter(None, map(CodeCitation.read, sources))
    return tuple(Link(label=one.label, url=one.url(where) if where else "") for one in cited)[:CODE_SHOWN]


def _name(actor: str, playbook: Playbook, otherwise: str = "") -> str:
    """A persona's name for the actor of its lines."""
    return next((one.name for one in playbook.roster if one.actor == actor), otherwise or actor)


def _due(rt: Roundtable, *, is_done: bool) -> str:
    """Until it is over: then the thread was asked."""
    attendance = rt.attendance
    if is_done or attendance.due <= rt.now:
        return ""
    return attendance_wording.due(in_words(attendance.due, offset=attendance.due_offset))


def _waiting(rt: Roundtable, step: Step, heard: tuple[str, ...]) -> tuple[str, ...]:
    people = waiting.awaited(rt) if step.step_id == rt.step_id else waiting.participants(rt)
    return tuple(name for name in map(rt.name_of, people) if name not in heard)


def _heard(rt: Roundtable, step: Step) -> tuple[str, ...]:
    people = dict.fromkeys([answer.person for answer in rt.answers]) if rt.step_id == step.step_id else ()
    owners = rt.specification.owners.get(step.step_id, ())
    of_entries = (one.name for one in owners if one.by in rt.people)
    return tuple(dict.fromkeys((*map(rt.name_of, people), *of_entries)))


def _drafted(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[DraftQuestion]:
    for one in questions.asked_on(rt, step.step_id, playbook):
        persona = playbook.roster.get(one.by)
        yield one.but(to=rt.name_of(one.to), by=persona.first_name if persona else one.by)


def _stale(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[StaleEntry]:
    kinds = {kind.key for kind in playbook.schema.shown_in(step.step_id)}
    for entry in rt.specification.besides_notes:
        if (
            entry.stale
            and entry.kind not in OF_DISCUSSIONS
            and rt.specification.lives(entry.id)
            and (entry.kind in kinds or entry.step == step.step_id)
        ):
            yield _stale_entry(rt, entry)


def _stale_entry(rt: Roundtable, entry: Entry) -> StaleEntry:
    why = next(claim.stale for _, claim in entry.current() if claim.stale)
    name = rt.people.get(why.by, "") if why.name in {"", why.by} else why.name
    return StaleEntry(id=entry.id, cause=why.cause, by=name, source=why.source)


def _unsorted(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[UnsortedNote]:
    """
    Said, and in no entry. Where prose is asked for, notes are the content. Letters go by the order in which they were
    said.
    """
    if playbook.schema.is_prose(step.step_id):
        return
    notes = [
        one for one in rt.specification.entries.values() if one.kind == NOTE and one.step == step.step_id
    ]
    for place, note in enumerate(notes):
        if note.claim("text") and not note.gone and not rt.specification.is_quoted(note):
            yield UnsortedNote(_letter(place), note)


def _newest_note(rt: Roundtable, step: Step, playbook: Playbook) -> NewestNote | None:
    """What people marked or entries quote stands in its own place; None where it can become nothing else."""
    marked = {rt.line_of(one.ts) for one in rt.marks}
    notes = rt.specification.notes_of([step.step_id]) if NOTE in playbook.schema.kinds else ()
    newest = ((one, claim) for one in reversed(notes) if (claim := one.claim("text")))
    unsorted = (one for one in newest if one[1].line not in marked and not rt.specification.is_quoted(one[0]))
    note, claim = next(unsorted, (None, None))
    if note is None or claim is None:
        return None
    made = Counter(one.kind for one in rt.specification.made_by(claim.line) if one.new and one.kind != NOTE)
    names = {key: kind.name.lower() for key, kind in playbook.schema.kinds.items()}
    path = playbook.short_path.card_of(step.phase_key) if playbook.short_path else None
    pressed = path.press if path else ()
    shown = () if step.is_card else [kind.key for kind in playbook.schema.shown_in(step.step_id)]
    offered = entry_forms.offered_kinds(note, (*shown, *pressed), playbook.schema)
    if offered.keys() == {entry_forms.LEAVE_OUT}:
        return None
    return NewestNote(
        id=note.id,
        text=str(claim.value),
        by=claim.owner.name,
        read_as=tuple(counted(number, names[key]) for key, number in made.items() if key in names),
        offered=offered,
    )


def _deeper(rt: Roundtable, step: Step, playbook: Playbook, *, is_done: bool) -> int:
    """Before the card is finished, another depth asks the steps of its phase; this is about those that were closed."""
    is_offered = step.is_card and (is_done or covering.passed_over(rt, playbook))
    return covering.steps_to_deepen(rt, playbook) if is_offered else 0


def _replies(rt: Roundtable, step: Step) -> Iterator[str]:
    """To who answered with a file."""
    if rt.step_id != step.step_id or rt.stage is not Stage.DISCUSSING:
        return
    if files := list(dict.fromkeys(name for answer in rt.answers for name in answer.files)):
        yield step_wording.cannot_see(files)


def _unread(rt: Roundtable, step: Step, persona: Persona, playbook: Playbook) -> Iterator[str]:
    if rt.step_id == step.step_id and _is_unread(rt, playbook):
        is_most = rt.drafts >= playbook.policy.most_drafts
        yield step_wording.not_read(persona, len(rt.unread), rt.drafts, is_most=is_most)


def _letter(place: int) -> str:
    return chr(ord("a") + place % 26) * (place // 26 + 1)


def _saved(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[SavedSection]:
    projection = Projection(playbook.schema, rt.specification)
    for view in playbook.schema.of_step(step.step_id):
        if projection.view(view):
            yield SavedSection(path=SHARED.get(view.file, view.file), heading=view.heading or view.section)


def _with_extras(message: Message, offered: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Buttons that are there for a time: allow more to be spent, try the model again, open what was left out."""
    assert message.card, "a card was rendered"
    shown = {(choice.action, choice.value) for choice in (*message.choices, *message.card.more)}
    extra = (one for one in offered if (one.action, one.value) not in shown and one.action in FOR_A_TIME)
    return (*message.choices, *extra)
