"""
The one question of ours at the bottom of the thread. Cards stay above: what people have to see now is posted below, and
the question before it is edited to what became of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import ids_in
from bot.domain.discussion.board import Agreement
from bot.domain.messages import prompt_wording as wording
from bot.domain.messages import step_card
from bot.domain.messages.message import NO_STEP, Action, Message
from bot.domain.messages.prompt_wording import NamedWait
from bot.domain.roundtable import agreeing, cards, root, waiting
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import Input, Press, Say
from bot.domain.roundtable.outcomes import Posted
from bot.domain.roundtable.posts import LiveMessage, PromptKind, ThreadPrompt
from bot.domain.roundtable.stage import BUSY, Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, PROMPT, Roundtable
from bot.domain.roundtable.waiting import WaitKind
from bot.domain.specification.claims import Entry, EntryState, StaleCause
from bot.domain.specification.entries import DECISION, OBJECTION, Specification
from bot.domain.specification.not_settled import CRITERION, OPEN, REQUIREMENT
from bot.domain.values.timestamps import seconds_since, slack_time

FAR = 5
"""Messages below a card, from which on its menu is repeated for who typed a command."""
LISTED = 20
"""Of what a decision may change."""
SECONDS_APART = 60
AT_A_STEP = frozenset({Stage.DISCUSSING, Stage.WRITING, Stage.AT_BOUNDARY})
OF_DECISIONS = frozenset({PromptKind.AGREED, PromptKind.CHANGES, PromptKind.CONTRADICTED})


def with_prompt(rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """What *event* asks people now, at the bottom of the thread."""
    rt = _count_below(rt, event)
    wanted = _wanted(rt, before, event, playbook)
    if wanted and wanted.kind in OF_DECISIONS and (over := rt.prompt) and _may_edit(over, rt):
        return rt.but(prompt=wanted.but(at=over.at, below=over.below))
    if wanted or (rt.prompt and _is_over(rt.prompt, rt, before, playbook)):
        rt = _ended(rt)
    if wanted is None or (message := render_prompt(rt, wanted, playbook)) is None:
        return rt
    if rt.card and wanted.kind is PromptKind.TAKEN:
        rt = rt.but(card=rt.card.but(below=0))
    about = (rt.stage in ABOUT_A_STEP and rt.step_id) or NO_STEP
    rt = rt.queueing(Post(message=message.but(about=about, recorded=False)))
    return rt.following(PROMPT, rt.outbox[-1], message).but(prompt=wanted.but(at=rt.now))


def render_prompt(
    rt: Roundtable, prompt: ThreadPrompt, playbook: Playbook, card: Message | None = None
) -> Message | None:
    """None where there is nothing left to ask. *card* is that of the step, where it is rendered already."""
    match prompt.kind:
        case PromptKind.AGREED:
            agreement = _agreement(rt, prompt.about)
            if agreement is None or rt.board is None:
                return None
            link = root.link_to(rt, rt.stands_at(rt.board.token))
            return wording.agreed(agreement, rt.discussed, link).but(token=rt.board.token)
        case PromptKind.CHANGES:
            entry = rt.specification.entries[prompt.about]
            found = changeable(rt, entry)
            return wording.changes(entry, found) if found else None
        case PromptKind.CONTRADICTED:
            doubtful = next(contradicted_by(rt.specification, prompt.about), None)
            kind = playbook.schema.kinds.get(doubtful.kind) if doubtful else None
            if doubtful is None or kind is None:
                return None
            return wording.contradicted(doubtful, str(doubtful[kind.text] or ""), prompt.about)
        case PromptKind.TAKEN:
            if rt.card is None or rt.card.token != prompt.about:
                return None
            card = card or cards.rendered(rt, rt.card, playbook)
            return step_card.repeated_menu(card, root.link_to(rt, rt.stands_at(prompt.about)))
        case PromptKind.WAITING:
            waits = _waits(rt, prompt)
            return wording.waiting(rt.slug, waits) if waits else None
        case _:
            assert_never(prompt.kind)


def _waits(rt: Roundtable, prompt: ThreadPrompt) -> list[NamedWait]:
    asked = prompt.about.split(",")
    return [
        NamedWait(
            person,
            rt.name_of(person),
            waiting.in_words(one),
            one.entry,
            is_question=one.kind is WaitKind.QUESTION,
        )
        for person, found in waiting.named_waits(rt).items()
        for one in found
        if one.entry in asked
    ]


def changeable(rt: Roundtable, by: Entry) -> Mapping[str, Sequence[Entry]]:
    """
    What *by* may change, by the headings of a list: what was named, then what the card is about, open objections, other
    decisions, and the other requirements while there is room. An objection changes requirements and criteria only.
    """
    spec, said = rt.specification, [str(by["text"]), str(by["reason"] or "")]
    if rt.elaboration:
        said += [one.text for one in rt.elaboration.turns]
        said += [one.text for one in rt.elaboration.besides]
    said += [one.text for one in rt.answers]
    named = dict.fromkeys(id for text in said for id in ids_in(text))
    is_decision, known = by.kind == DECISION, {*(by["changes"] or ()), by.id}
    written = (*spec.active(REQUIREMENT), *spec.active(CRITERION))
    objections = [one for one in spec.active(OBJECTION) if one["outcome"] in OPEN] if is_decision else []
    ranked: list[tuple[str, Entry]] = [
        *((wording.NAMED, one) for one in written if one.id in named),
        *((wording.REQUIREMENTS, one) for one in written if one.step == rt.step_id),
        *((wording.OBJECTIONS, one) for one in objections),
        *((wording.DECISIONS, one) for one in spec.active(DECISION) if is_decision),
        *((wording.REQUIREMENTS, one) for one in written),
    ]
    chosen: dict[str, tuple[str, Entry]] = {}
    for heading, one in ranked:
        if one.id not in known and len(chosen) < LISTED:
            chosen.setdefault(one.id, (heading, one))
    headings = dict.fromkeys(heading for heading, _ in chosen.values())
    return {name: [one for heading, one in chosen.values() if heading == name] for name in headings}


def contradicted_by(specification: Specification, id: str) -> Iterator[Entry]:
    for one in specification.besides_notes:
        if _contradiction(one) == id and specification.lives(one.id):
            yield one


# --- what is asked --------------------------------------------------------------------------------------------------


def _wanted(rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook) -> ThreadPrompt | None:
    if rt.unsent or not rt.place.thread or rt.stage is Stage.OPENING:
        return None
    found = None if rt.stage in BUSY else _of_entries(rt, before, event) or _of_positions(rt, before)
    return found or _of_waiting(rt, before) or _of_a_command(rt, before, event, playbook)


def _of_entries(rt: Roundtable, before: Roundtable, event: Input) -> ThreadPrompt | None:
    """A decision that counts since *event*, and what is contradicted since then."""
    new, old = rt.specification.entries, before.specification.entries
    changed = [(one, old.get(id)) for id, one in new.items() if one is not old.get(id)]
    for one, was in changed:
        by = _contradiction(one)
        if by and rt.specification.lives(one.id) and by != (_contradiction(was) if was else ""):
            return ThreadPrompt(kind=PromptKind.CONTRADICTED, about=by)
    if isinstance(event, Press) and event.action in {Action.CHANGES, Action.WITHDRAW}:
        return None  # what was chosen from a list, or came back, asks for no other list
    decided = [one.id for one, was in changed if _is_decided(one) and not (was and _is_decided(was))]
    decided.sort(
        key=lambda id: new[id].kind == OBJECTION
    )  # one that a decision has just settled is listed there
    return next(
        (ThreadPrompt(kind=PromptKind.CHANGES, about=id) for id in decided if changeable(rt, new[id])), None
    )


def _is_decided(entry: Entry) -> bool:
    if entry.kind == OBJECTION:
        return entry["outcome"] == "accepted" and not entry.gone
    return entry.kind == DECISION and (entry.state is EntryState.ACCEPTED or entry.gone)


def _of_positions(rt: Roundtable, before: Roundtable) -> ThreadPrompt | None:
    """All who take part, and two at least."""
    if rt.elaboration is None or rt.board is None or rt.specification is before.specification:
        return None
    everybody = set(waiting.participants(rt))
    for one in agreeing.agreements(rt):
        is_new = before.elaboration is None or _agreement(before, one.positions) is None
        if is_new and len(one.people) > 1 and everybody <= set(one.people):
            return ThreadPrompt(kind=PromptKind.AGREED, about=one.positions)
    return None


def _of_waiting(rt: Roundtable, before: Roundtable) -> ThreadPrompt | None:
    """All that waits by name, when some of it was asked about since *before*."""
    if rt.attendance.nudged is before.attendance.nudged:
        return None
    return ThreadPrompt(kind=PromptKind.WAITING, about=",".join(waiting.entries_waited_for(rt)))


def _of_a_command(
    rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook
) -> ThreadPrompt | None:
    """Who typed a command gets the menu of its card below; an answer to the open prompt is none."""
    card = rt.card
    if before.prompt and rt.prompt and before.prompt.kind is not rt.prompt.kind:
        return None
    is_same = card and before.card and card.token == before.card.token
    if not card or not is_same or card.below < FAR or not {before.stage, rt.stage} <= AT_A_STEP:
        return None
    if card.step_id != rt.step_id or not cards.is_command(before, event, playbook):
        return None
    return ThreadPrompt(kind=PromptKind.TAKEN, about=card.token)


def _agreement(rt: Roundtable, positions: str) -> Agreement | None:
    return next((one for one in agreeing.agreements(rt) if one.positions == positions), None)


def _contradiction(entry: Entry) -> str:
    """The id of what contradicts it; empty for none."""
    why = (claim.stale for _, claim in entry.current() if claim.stale)
    return next((one.source for one in why if one.cause is StaleCause.CONTRADICTED), "")


# --- where it stands ------------------------------------------------------------------------------------------------


def _count_below(rt: Roundtable, event: Input) -> Roundtable:
    """With the message of *event* counted, if it stands below the card, or below the prompt."""
    if not isinstance(event, Say | Posted):
        return rt
    said = slack_time(event.ts)

    def is_below(key: str) -> bool:
        stands = slack_time(rt.stands_at(key))
        return said is not None and stands is not None and said > stands

    if rt.card and is_below(rt.card.token):
        rt = rt.but(card=rt.card.but(below=rt.card.below + 1))
    if rt.prompt and is_below(PROMPT):
        rt = rt.but(prompt=rt.prompt.but(below=rt.prompt.below + 1))
    return rt


def _may_edit(prompt: ThreadPrompt, rt: Roundtable) -> bool:
    """While it is the last message, or hardly older: there is one such post a minute at most."""
    is_recent = seconds_since(prompt.at, rt.now) < SECONDS_APART
    return prompt.kind in OF_DECISIONS and (is_recent or not prompt.below)


def _is_over(prompt: ThreadPrompt, rt: Roundtable, before: Roundtable, playbook: Playbook) -> bool:
    """Going on closes the list; what is contradicted stays until it is settled."""
    if prompt.kind is PromptKind.CHANGES:
        goes_on = (rt.stage, rt.step_id) != (before.stage, before.step_id)
        return goes_on or not rt.specification.lives(prompt.about)
    if prompt.kind is PromptKind.TAKEN:  # without rendering its card, which takes long
        return rt.stage not in AT_A_STEP or rt.card is None or rt.card.token != prompt.about
    return render_prompt(rt, prompt, playbook) is None


def _ended(rt: Roundtable) -> Roundtable:
    """Edited to one line that says what became of it."""
    prompt, old = rt.prompt, rt.live.get(PROMPT)
    rt = rt.but(prompt=None, live={name: one for name, one in rt.live.items() if name != PROMPT})
    if prompt is None or old is None or old.shown is None:
        return rt
    over = old.but(ending=_result(rt, prompt, old))
    return rt.but(live={**rt.live, old.post: over})


def _result(rt: Roundtable, prompt: ThreadPrompt, old: LiveMessage) -> Message:
    assert old.shown, "it was sent"
    match prompt.kind:
        case PromptKind.TAKEN:
            return old.shown.spent().but(note=rt.what_became_of(prompt.about))
        case PromptKind.AGREED:
            return Message(text=wording.AGREEMENT_OVER)
        case PromptKind.WAITING:
            return Message(text=wording.asked_by_name(prompt.about.split(",")))
        case PromptKind.CHANGES | PromptKind.CONTRADICTED:
            entry = rt.specification.entries[prompt.about]
            return Message(text=wording.gone(entry.id) if entry.gone else wording.recorded(entry))
        case _:
            assert_never(prompt.kind)
