"""
The first message of the thread follows from the state, as the card of a step does; and so does the final brief, which
is posted once, when the analysis is complete for the first time.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps

from bot.domain.catalog.agenda import Playbook, depth_for
from bot.domain.catalog.personas import Chain, Persona
from bot.domain.catalog.skip_if import BadCondition
from bot.domain.catalog.steps import Depth, Step
from bot.domain.messages import root_card, specification_wording, step_wording
from bot.domain.messages.message import Message
from bot.domain.messages.root_card import PhaseProgress, RootActivity, RootScene, RootStatus, SkippedInRoot
from bot.domain.roundtable import permalinks, waiting
from bot.domain.roundtable.effects import Post, rephrased
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.outcomes import Attempted, Done, Posted, ThreadOpened
from bot.domain.roundtable.posts import EditedPost
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.specification.entries import Entry
from bot.domain.specification.not_settled import lacking, not_settled
from bot.domain.values.timestamps import in_words

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]

GOAL = "problem"
"""The kind of entry that says what an item is for."""
STOPPED = frozenset({Stage.PAUSED, Stage.STALLED})


def with_root(decide: Decide) -> Decide:
    """*decide*, and the edits of the first message and of the brief that come of it."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        if after is rt or isinstance(event, Attempted | Done):
            return after
        if isinstance(event, ThreadOpened):
            return after.but(root=EditedPost(ts=event.posted or event.ts), brief=None)
        if isinstance(event, Posted) and after.brief and after.brief.post == event.effect:
            after = after.but(brief=after.brief.but(ts=event.ts))
        return _brief_edited(_root_edited(after, playbook), playbook)

    return decided


def _root_edited(rt: Roundtable, playbook: Playbook) -> Roundtable:
    if not rt.place.thread or not rt.phase_key or rt.stage is Stage.OPENING:
        return rt
    if rt.paused_by and rt.stage not in {*STOPPED, Stage.CLOSING}:
        rt = rt.but(paused_by="")
    known = rt.root or EditedPost(ts=rt.place.thread)
    message = root_card.root(scene_of(rt, playbook))
    return rt if message == known.shown else _edited(rt, known, message).but(root=_shows(known, message))


def _brief_edited(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Also of a decision that is reversed long afterwards."""
    known = rt.brief
    if known is None or not rt.place.thread:
        return rt
    message = brief_of(rt, playbook)
    if message == known.shown:
        return rt
    if known.ts:
        return _edited(rt, known, message).but(brief=_shows(known, message))
    pending = next((one for one in rt.outbox if one.id == known.post), None)
    if pending is None or pending.attempts:
        return rt
    return rt.but(outbox=rephrased(rt.outbox, known.post, message), brief=known.but(shown=message))


def _edited(rt: Roundtable, post: EditedPost, message: Message) -> Roundtable:
    """New ids of blocks with every edit. Progress may wait for its turn; other buttons are shown at once."""
    assert message.card, "both are cards"
    card = message.card.but(revision=post.revision + 1)
    other_buttons = post.shown is not None and message.choices != post.shown.choices
    return rt.edited(ts=post.ts, message=message.but(card=card), pressed=other_buttons)


def _shows(post: EditedPost, message: Message) -> EditedPost:
    return post.but(shown=message, revision=post.revision + 1)


def with_brief(rt: Roundtable, brief: Message) -> Roundtable:
    """The newest post of the outbox is the brief."""
    *before, post = rt.outbox
    assert isinstance(post, Post), "the brief was queued just now"
    rt = rt.but(outbox=(*before, post.but(broadcast=True)))
    return rt.but(brief=EditedPost(post=post.id, shown=brief))


def brief_of(rt: Roundtable, playbook: Playbook) -> Message:
    message = root_card.final_brief(scene_of(rt, playbook, status=RootStatus.COMPLETE))
    return message.but(note=step_wording.phase_complete(playbook.agenda.phases[-1]))


# --- what they say --------------------------------------------------------------------------------------------------


def scene_of(rt: Roundtable, playbook: Playbook, *, status: RootStatus | None = None) -> RootScene:
    status = status or _status(rt, playbook)
    complete = status is RootStatus.COMPLETE
    at = rt.but(stage=rt.heading_for or rt.stage) if rt.stage in STOPPED else rt
    activity = _activity(at)
    following = None if complete else asking.upcoming(at, playbook)
    here = following if activity is RootActivity.OPEN else playbook.agenda.get(rt.step_id)
    step = None if activity is RootActivity.PLANNED else here
    led = following if activity is RootActivity.FINISHED else step
    leads = _leads(playbook)
    return RootScene(
        title=rt.title,
        slug=rt.slug,
        item=rt.slug,
        status=status,
        phases=tuple(_progress(rt, playbook)),
        specification=rt.specification,
        goal=next((str(one["text"] or "") for one in rt.specification.active(GOAL)), ""),
        current=step.title if step else "",
        following=following.title if following else _next_phase(rt, playbook),
        activity=activity,
        current_permalink=_card_link(rt, step) if step else "",
        persona=asking.speaker_of(rt.but(step_id=led.step_id), playbook).name if led else "",
        waiting=tuple(map(rt.name_of, waiting.awaited(rt))) if rt.stage is Stage.DISCUSSING else (),
        due=in_words(rt.attendance.due, offset=rt.attendance.due_offset) if rt.attendance.due else "",
        paused_by=rt.name_of(rt.paused_by) if rt.paused_by else "",
        people=tuple(dict.fromkeys(rt.people.values())),
        personas=tuple(one.first_name for one in leads),
        depth=rt.depth or Depth.STANDARD,
        skipped=tuple(_skipped(rt, playbook)) if complete else (),
        ending=ending(rt, playbook) if complete else "",
        not_settled=specification_wording.unsettled_rows(
            not_settled(playbook.schema, rt.specification), playbook.schema
        )
        if complete
        else (),
        models={
            one.first_name: "" if rt.is_unaided(one.key) else _model(one, playbook)
            for one in (*leads, *_by_rules(rt, playbook, besides=leads))
        },
        why=_why(rt) if complete else {},
        can_plan=len(playbook.workshop) > 0,
    )


def ending(rt: Roundtable, playbook: Playbook) -> str:
    """Ready to build is what was analysed as a whole and is settled; else what is the case."""
    steps = playbook.agenda.steps
    left = [step for step in steps if step.step_id not in rt.steps_completed]
    not_needed = [step for step in left if _is_left_out(rt, step)]
    if left == not_needed:
        return step_wording.analysis_complete(rt.slug, not_ready(rt, playbook))
    return step_wording.analysis_ended(
        discussed=len(steps) - len(left),
        steps=len(steps),
        not_needed=len(not_needed),
        not_ready=not_ready(rt, playbook),
    )


def not_ready(rt: Roundtable, playbook: Playbook) -> str:
    """Empty when the item is ready to build."""
    lacks = lacking(playbook.schema, rt.specification)
    return specification_wording.not_ready(lacks) if lacks else ""


def _is_left_out(rt: Roundtable, step: Step) -> bool:
    depth, _, _ = depth_for(step.phase_key, rt.depth_overrides, rt.scan)
    try:
        return step.condition.holds(rt.scan.facts(depth))
    except BadCondition:
        return False


def _activity(rt: Roundtable) -> RootActivity:
    """A finished step stays the one at which we are, until people go on."""
    if rt.stage is Stage.PLANNING:
        return RootActivity.PLANNED
    if rt.elaboration and rt.stage in {Stage.ELABORATING, Stage.SYNTHESIZING}:
        return RootActivity.DISCUSSED
    is_left = rt.stage in {Stage.DISCUSSING, Stage.CLOSING, Stage.ANALYSED}
    is_finished = rt.step_id in rt.steps_completed and not is_left
    return RootActivity.FINISHED if is_finished else RootActivity.OPEN


def _next_phase(rt: Roundtable, playbook: Playbook) -> str:
    phase = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key))
    return phase.name if phase else ""


def _status(rt: Roundtable, playbook: Playbook) -> RootStatus:
    if rt.stage in STOPPED:
        return RootStatus.PAUSED
    is_over = rt.stage in {Stage.ANALYSED, Stage.PLANNING}
    if is_over and playbook.agenda.first_open(rt.phases_completed) is None:
        return RootStatus.COMPLETE
    return RootStatus.RUNNING


def _progress(rt: Roundtable, playbook: Playbook) -> Iterator[PhaseProgress]:
    for phase in playbook.agenda.phases:
        steps = playbook.agenda.steps_of(phase.key)
        done = sum(step.step_id in rt.steps_completed for step in steps)
        yield PhaseProgress(name=phase.name, done=done, steps=len(steps))


def _skipped(rt: Roundtable, playbook: Playbook) -> Iterator[SkippedInRoot]:
    for one in asking.left_out(rt.but(stage=Stage.ANALYSED), playbook):
        if one.can_open:
            yield SkippedInRoot(step_id=one.name, title=one.title, why=one.why)


def _leads(playbook: Playbook) -> tuple[Persona, ...]:
    leads = (playbook.roster.lead_of(phase.key)[0] for phase in playbook.agenda.phases)
    return tuple({lead.key: lead for lead in leads}.values())


def _by_rules(rt: Roundtable, playbook: Playbook, *, besides: tuple[Persona, ...]) -> Iterator[Persona]:
    """Those whose own model failed."""
    return (one for one in playbook.roster if one.key in rt.unaided_personas and one not in besides)


def _model(persona: Persona, playbook: Playbook) -> str:
    chain = Chain.read(persona.model or playbook.policy.model)
    return ", then ".join(map(str, chain.names))


def _card_link(rt: Roundtable, step: Step) -> str:
    card = rt.card
    return link_to(rt, card.ts) if card and card.step_id == step.step_id else ""


def _why(rt: Roundtable) -> Mapping[str, str]:
    """Where a decision was said."""
    links = ((one.id, _said_at(rt, one)) for one in rt.specification.active("decision"))
    return {id: link for id, link in links if link}


def _said_at(rt: Roundtable, entry: Entry) -> str:
    claim = entry.claim("text")
    channel, _, ts = claim.line.partition(".") if claim else ("", "", "")
    return link_to(rt, ts) if channel == rt.place.channel else ""


def link_to(rt: Roundtable, ts: str) -> str:
    """The address of a message in the thread; empty where that is not known."""
    thread = permalinks.thread(rt.permalink)
    return permalinks.of_message(thread, rt.place.channel, ts) if thread and ts else ""
