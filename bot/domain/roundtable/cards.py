"""
The card of a step follows from the state: after each input that may change it, what it should say is compared
with what was sent, and edited.

So an edit that was lost by a crash is made by the next of these inputs, and however much happens at once, the
newest content is sent once.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.personas import AddressKind
from bot.domain.catalog.schema import NOTE
from bot.domain.catalog.steps import SHARED, Step
from bot.domain.messages import attendance_wording, card_commands, step_card, step_wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import ITEM, Action, Choice, Link, Message
from bot.domain.messages.step_scene import (
    LeftOutRemark,
    LostRemark,
    SavedSection,
    StaleEntry,
    StepScene,
    Suggestion,
    SuggestionState,
    UnsortedNote,
    asked,
)
from bot.domain.roundtable import agreeing, uncarried, waiting, words
from bot.domain.roundtable.budget import line as budget_line
from bot.domain.roundtable.effects import Post, Rewrite, Speak, rephrased
from bot.domain.roundtable.inputs import Finish, Input, Press, Say, SetDepth
from bot.domain.roundtable.outcomes import Attempted, Done, Posted
from bot.domain.roundtable.posts import StepCard
from bot.domain.roundtable.root import link_to
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, saving, specifying
from bot.domain.specification import coverage
from bot.domain.specification.citations import CodeCitation
from bot.domain.specification.entries import NOT_LISTED, OF_DISCUSSIONS, Entry, EntryState
from bot.domain.specification.projection import Projection
from bot.domain.values.timestamps import in_words, seconds_since, slack_time
from bot.errors import UserError

MOVED_AFTER, MOVED_FOR_COMMAND = 12, 5
"""Messages below a card."""
BETWEEN_MOVES_SECONDS = 120
CODE_SHOWN = 3
"""Places in the code, of each suggestion."""
MOVING = frozenset({Stage.DISCUSSING, Stage.WRITING, Stage.AT_BOUNDARY})

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_card(decide: Decide) -> Decide:
    """*decide*, and the edit of the card that comes of it."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        if after is rt or after.card is None:
            return after
        # Most inputs are these two, and rendering a card with many entries takes 20 ms.
        if isinstance(event, Attempted | Done) and after.card is rt.card and after.menu is rt.menu:
            return after
        is_pressed = isinstance(event, Press | Finish)
        after = _left(after, rt.card, playbook)
        assert after.card, "there is a card"
        count = counted(after.card, event)
        after = after if count is after.card else after.but(card=count)
        after = _moved(after, rt, event, playbook)
        return _current(after, playbook, pressed=is_pressed)

    return decided


def _current(rt: Roundtable, playbook: Playbook, *, pressed: bool) -> Roundtable:
    """The menu offers what the card shows; it is edited once it is known where it stands."""
    card = rt.card
    assert card, "there is a card"
    message = rendered(rt, card, playbook)
    if rt.menu and rt.menu.token == card.token:
        rt = rt.but(menu=rt.menu.but(message=message))
    if card.ts and card.moved_from:
        rt = rt.edited(ts=card.moved_from, message=_pointing(rt, card, playbook))
        card = card.but(moved_from="")
        rt = rt.but(card=card)
    if _is_posted_yet(rt, card):
        if not card.ts or message == card.shown:
            return rt
        offers_more = message.choices != card.shown.choices and bool(message.choices)
        # Another button below the same question does not make what was written before it late.
        asks_anew = offers_more and _asks(message) != _asks(card.shown)
        if card.closed:
            return rt.posting_card(message) if pressed or offers_more else rt
        rt = rt.edited(ts=card.ts, message=message, pressed=pressed or asks_anew)
        rt = rt.but(card=card.but(shown=message, revision=card.revision + 1))
        return rt.asking_with(rt.outbox[-1]) if asks_anew else rt
    return rt.but(outbox=rephrased(rt.outbox, card.post, message), card=card.but(shown=message))


def _asks(message: Message) -> set[Action]:
    return {choice.action for choice in message.choices} & {Action.FINISH_STEP, Action.CONTINUE}


def _is_posted_yet(rt: Roundtable, card: StepCard) -> bool:
    return all(one.id != card.post or one.attempts for one in rt.outbox)


def _left(rt: Roundtable, old: StepCard | None, playbook: Playbook) -> Roundtable:
    """The card that was there before another one stays in the thread, in short."""
    if old is None or rt.card is None or old.token == rt.card.token:
        return rt
    if old.moved_from and not old.ts:
        rt = rt.edited(ts=old.moved_from, message=_pointing(rt, old, playbook))
    return rt.collapsing(old, collapsed(rt, old, playbook))


# --- a card that people have written much below ---


def counted(card: StepCard, event: Input) -> StepCard:
    """With the message of *event* counted, if it stands below."""
    if not isinstance(event, Say | Posted):
        return card
    said, stands = slack_time(event.ts), slack_time(card.ts)
    if said is None or stands is None or said <= stands:
        return card
    return card.but(below=card.below + 1)


def is_far(rt: Roundtable, card: StepCard) -> bool:
    """So much stands below it that it has to be looked for, and it may move again."""
    return card.below >= MOVED_AFTER and _has_rested(rt, card)


def _has_rested(rt: Roundtable, card: StepCard) -> bool:
    if rt.unsent:
        return False
    return not card.moved_at or seconds_since(card.moved_at, rt.now) >= BETWEEN_MOVES_SECONDS


def _moved(rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """Below what was said since: after some messages, and sooner where somebody typed a command and looks for it."""
    card = rt.card
    assert card, "there is a card"
    if not card.ts or card.below < MOVED_FOR_COMMAND or not _may_move(rt, card):
        return rt
    has_menu = rt.menu is not None and rt.menu.token == card.token
    is_same = before.card is not None and before.card.token == card.token
    if (has_menu and is_far(rt, card)) or (is_same and _is_command(before, event, playbook)):
        rt, moved = posted_below(rt, card, rendered(rt, card, playbook), about=card.step_id)
        return rt.but(card=moved)
    return rt


def posted_below(
    rt: Roundtable, card: StepCard, message: Message, *, about: str
) -> tuple[Roundtable, StepCard]:
    """*card* stands in a new message. It asks the same as before, under the same token."""
    older = [one for one in rt.outbox if isinstance(one, Rewrite) and one.ts == card.ts]
    rt = rt.but(outbox=tuple(one for one in rt.outbox if one not in older))
    rt = rt.queueing(Post(message=message.but(about=about)))
    post = rt.outbox[-1]
    for edit in older:
        rt = rt.posting_instead(edit.id, post)
    return rt, card.but(moved_at=rt.now, moved_from=card.ts, below=0, post=post.id, ts="", shown=message)


def _may_move(rt: Roundtable, card: StepCard) -> bool:
    return card.step_id == rt.step_id and rt.stage in MOVING and _has_rested(rt, card)


def _is_command(rt: Roundtable, event: Input, playbook: Playbook) -> bool:
    if not isinstance(event, Say):
        return isinstance(event, Finish | SetDepth)
    if not words.answers(event.text):
        return not words.asks_for_help(event.text)
    scene = scene_of(rt, rt.card, playbook) if rt.card else None
    return scene is not None and bool(card_commands.typed(event.text, scene).actions)


def _pointing(rt: Roundtable, card: StepCard, playbook: Playbook) -> Message:
    """What is left where the card stood."""
    scene = scene_of(rt, card, playbook)
    return step_card.moved_card(scene, link_to(rt, card.ts)) if scene else card.shown.spent()


# --- what a card says ---


def rendered(rt: Roundtable, card: StepCard, playbook: Playbook) -> Message:
    """What the card says now. Without its step, it says what it was offered with."""
    scene = scene_of(rt, card, playbook)
    if scene is None:
        return card.message
    menu = rt.menu if rt.menu and rt.menu.token == card.token else None
    if menu is None and _is_skipped(rt, card):
        return step_card.skipped_card(scene, by=card.by).but(token=ITEM)
    is_open = menu.kind is MenuKind.PROMPT if menu else not asking.is_done(rt, card.step_id)
    if is_open:
        message = step_card.open_card(scene)
    else:
        ends_phase = menu.kind is MenuKind.PHASE if menu else _has_ended(rt, playbook)
        following = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key)) if ends_phase else None
        message = step_card.finished_card(scene, by=card.by, ends_phase=ends_phase, following=following)
    if menu is None:
        return step_card.without_hints(message.spent()).but(note=card.message.note)
    return message.but(choices=_with_extras(message, card.message.choices), token=card.token)


def _has_ended(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether the menu that was closed stood at the end of the phase: it keeps its words."""
    return asking.upcoming(rt.but(stage=Stage.AT_BOUNDARY), playbook) is None


def collapsed(rt: Roundtable, card: StepCard, playbook: Playbook) -> Message:
    """What stays of a card that people went on from. It has a menu no more."""
    scene = scene_of(rt, card, playbook)
    if scene and _is_skipped(rt, card):
        return step_card.skipped_card(scene, by=card.by).but(token=ITEM)
    if scene is None or card.step_id not in rt.steps_completed:
        return card.shown.spent().but(note=rt.what_became_of(card.token))
    message = step_card.collapsed_card(scene)
    assert message.card, "it is a card"
    spent = message.spent()
    return spent.but(token=ITEM, card=spent.card.but(more=message.card.more) if spent.card else None)


def read(rt: Roundtable, step_id: str, playbook: Playbook) -> Message:
    """All that the card of a step lists, also of one that is behind us."""
    blank = Message(text="")
    is_here = rt.card is not None and rt.card.step_id == step_id
    card = (rt.card if is_here else None) or StepCard(
        step_id=step_id, token="", post="", message=blank, shown=blank
    )
    scene = scene_of(rt, card, playbook)
    if scene is None:
        raise UserError(step_wording.NO_SUCH_STEP)
    is_open = is_here and rt.menu is not None and rt.menu.kind is MenuKind.PROMPT
    return step_card.in_full(scene, finished=asking.is_done(rt, step_id) and not is_open)


def _is_skipped(rt: Roundtable, card: StepCard) -> bool:
    return card.step_id not in rt.steps_completed and any(one.step_id == card.step_id for one in rt.passed)


def scene_of(rt: Roundtable, card: StepCard, playbook: Playbook) -> StepScene | None:
    step = playbook.agenda.get(card.step_id)
    if step is None or not playbook.schema.of_step(step.step_id):
        return None
    phase = asking.phase_of(step.phase_key, playbook)
    steps = playbook.agenda.steps_of(step.phase_key)
    depth = depth_of_step(step, rt.depth_overrides, rt.depth)
    text, _ = step.text_at(depth)
    gaps = coverage.of_step(playbook.schema, rt.specification, step.step_id)
    heard = _heard(rt, step)
    is_done = asking.is_done(rt, step.step_id)
    is_saved = is_done and not saving.is_behind(rt)
    is_here = step.step_id == rt.step_id and rt.stage is Stage.AT_BOUNDARY
    is_later = is_here and saving.has_content(rt.lines)
    not_saved = step_wording.LATER_NOT_SAVED if is_saved and is_later else ""
    not_saved = step_wording.NOT_ALL_SAVED if is_done and not is_saved else not_saved
    return StepScene(
        step=step,
        persona=playbook.roster.speaker_for(step.persona, step.phase_key),
        phase=phase.name,
        position=steps.index(step) + 1,
        steps_in_phase=len(steps),
        depth=depth,
        schema=playbook.schema,
        specification=rt.specification,
        prompt=asking.filled(rt, step, text),
        first=card.first,
        questions=asked(
            specifying.questions_of(rt, step),
            playbook.schema,
            rt.specification,
            step.step_id,
            gaps=gaps,
            answered=specifying.numbers_answered(rt, step),
        ),
        heard=heard,
        waiting=_waiting(rt, step, heard),
        gaps=gaps,
        suggestions=tuple(suggestions(rt, step, playbook)),
        stale=tuple(_stale(rt, step, playbook)),
        unsorted=tuple(_unsorted(rt, step, playbook)),
        saved=tuple(_saved(rt, step, playbook)) if is_saved else (),
        not_saved=not_saved,
        marks=agreeing.shown_marks(rt, step.step_id),
        uncarried=tuple(
            LostRemark(number=one.number, text=one.text, by=_name(one.name, playbook), why=one.why)
            for one in uncarried.shown(rt, step.step_id)
        ),
        remarks=tuple(LeftOutRemark(text=one.text, by=rt.name_of(one.person)) for one in card.remarks),
        lines=tuple(
            filter(
                None,
                [
                    *_replies(rt, step, playbook),
                    _due(rt, is_done=is_done),
                    budget_line(rt.purse, playbook.policy),
                ],
            )
        ),
    )


def open_points(rt: Roundtable, playbook: Playbook) -> int:
    """What the card of the open step still asks."""
    is_here = rt.card is not None and rt.card.step_id == rt.step_id
    scene = scene_of(rt, rt.card, playbook) if rt.card and is_here else None
    return (
        scene.open_points if scene else len(coverage.of_step(playbook.schema, rt.specification, rt.step_id))
    )


def suggestions(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[Suggestion]:
    """Entries of the step that were proposed, and proposed values of others. What was decided keeps its number."""
    number = 0
    kinds = {kind.key for kind in playbook.schema.shown_in(step.step_id)}
    for entry in rt.specification.entries.values():
        first = entry.first
        if first is None or entry.kind in NOT_LISTED:
            continue
        if entry.step == step.step_id and first.was_proposed:
            number += 1
            state = {
                EntryState.PROPOSED: SuggestionState.OPEN,
                EntryState.ACCEPTED: SuggestionState.ACCEPTED,
            }.get(entry.state, SuggestionState.LEFT_OUT)
            sources = _code(first.sources, playbook)
            yield Suggestion(
                number=number,
                id=entry.id,
                by=_name(first.proposed.by, playbook, first.proposed.name),
                state=state,
                sources=sources,
                decided_by=first.accepted.name if first.accepted else "",
                is_unchecked=all(claim.is_unchecked for _, claim in entry.current()),
            )
        elif entry.kind in kinds and rt.specification.lives(entry.id):
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
                    )


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
    said = (rt.name_of(answer.person) for answer in rt.answers) if rt.step_id == step.step_id else ()
    of_entries = (
        claim.owner.name
        for entry in rt.specification.entries.values()
        if entry.step == step.step_id
        for _, claim in entry.current()
        if claim.owner.by in rt.people
    )
    return tuple(dict.fromkeys((*said, *of_entries)))


def _stale(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[StaleEntry]:
    kinds = {kind.key for kind in playbook.schema.shown_in(step.step_id)}
    for entry in rt.specification.entries.values():
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
    """Where prose is asked for, notes are the content. Letters go by the order in which they were said."""
    views = [view for view in playbook.schema.of_step(step.step_id) if view.is_page]
    if any(view.prose for view in views):
        return
    notes = [
        one for one in rt.specification.entries.values() if one.kind == NOTE and one.step == step.step_id
    ]
    for place, note in enumerate(notes):
        if rt.specification.lives(note.id):
            yield UnsortedNote(
                letter=_letter(place), text=str(note["text"]), by=attribution_of(note, "text"), id=note.id
            )


def _replies(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[str]:
    """To who asked a persona that cannot answer, and to who answered with a file."""
    if rt.step_id != step.step_id or rt.stage is not Stage.DISCUSSING:
        return
    lead = asking.speaker_of(rt, playbook).key
    addresses = (playbook.roster.addressed(answer.text, lead=lead) for answer in rt.answers)
    called = {key for one in addresses if one.kind is AddressKind.DIRECT for key in one.personas}
    for persona in playbook.roster:
        speak = Speak(persona=persona.key, task="acknowledge")
        if persona.key in called and not asking.thinks(speak, rt, playbook):
            yield step_wording.listens(persona.first_name)
    if files := list(dict.fromkeys(name for answer in rt.answers for name in answer.files)):
        yield step_wording.cannot_see(files)


def _letter(place: int) -> str:
    return chr(ord("a") + place % 26) * (place // 26 + 1)


def _saved(rt: Roundtable, step: Step, playbook: Playbook) -> Iterator[SavedSection]:
    projection = Projection(playbook.schema, rt.specification)
    for view in playbook.schema.of_step(step.step_id):
        if view.key in rt.written:
            heading = view.heading or view.section
            yield SavedSection(
                path=SHARED.get(view.file, view.file), heading=heading, body=projection.view(view)
            )


def _with_extras(message: Message, offered: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Buttons that are there for a time: allow more to be spent, try the model again, open what was left out."""
    assert message.card, "a card was rendered"
    shown = {(choice.action, choice.value) for choice in (*message.choices, *message.card.more)}
    extra = (
        one for one in offered if (one.action, one.value) not in shown and one.action in asking.FOR_A_TIME
    )
    return (*message.choices, *extra)
