"""
From "start" to the first phase: the thread, what was said in it, the item's folder. Later it goes on by a person's
wish, or after something failed; the folder is looked at first.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Depth, Step
from bot.domain.item.artifacts import FileEdit, InsightEdit
from bot.domain.item.item import TITLE_CHARS, draft
from bot.domain.item.meta import MetaChange, Seats, SlackPlace
from bot.domain.messages import (
    menus,
    step_wording,
    trouble_wording,
)
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import NO_STEP, Message
from bot.domain.roundtable import covering, permission, root, words
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import (
    Commit,
    Effect,
    OpenThread,
    Post,
    ReadItem,
    ReadThread,
    Restore,
    Rewrite,
    Speak,
    Tell,
    Then,
)
from bot.domain.roundtable.inputs import PersonChanged, Press, Resume, Start
from bot.domain.roundtable.outcomes import (
    CommitResult,
    ItemRead,
    ItemState,
    PersonMet,
    ThreadMessage,
    ThreadOpened,
    ThreadRead,
)
from bot.domain.roundtable.posts import LiveMessage
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import BRIEF, Roundtable, Stalled
from bot.domain.roundtable.transitions import (
    asking,
    attending,
    elaborations,
    exporting,
    issues,
    phases,
    specifying,
    steps,
)
from bot.domain.roundtable.transitions.asking import report
from bot.domain.roundtable.transitions.saving import (
    HEAD,
    created,
    offer_take_over,
    put_to_us,
    queue_commit,
    refreshed,
    seats_of,
    slack_place,
    unheard,
)
from bot.domain.transcript.lines import ENTRIES, Line, LinePhase, Source, in_thread_order
from bot.domain.transcript.seal import TAKES_OVER, OldLines
from bot.domain.values.places import Person
from bot.domain.values.text import one_line, paragraphs
from bot.domain.values.timestamps import slack_stamp
from bot.errors import NotNow

CHOSEN_AT_START = {"participants", "due", "personas", "depth"}
"""In the `meta` of the first line: what the starter chose."""

# --- starting -----------------------------------------------------------------------------------------------------


def start(event: Start, playbook: Playbook) -> Roundtable:
    """A new roundtable, nothing of which is in Slack or git yet; its version is 0."""
    playbook = playbook.within(event.place.channel)
    rt = _chosen_at_start(_on(event, playbook), event, playbook)
    return _open(rt, event, playbook_for(rt, playbook))


def _chosen_at_start(rt: Roundtable, event: Start, playbook: Playbook) -> Roundtable:
    """
    What the person chose, else what the policies say about the channel. Standard is no override: the quick scan may
    still find that another depth fits.
    """
    rt = rt.but(
        personas_active=tuple(
            key for key in event.personas or playbook.policy.cast if key in playbook.roster
        ),
    )
    depth = event.depth or playbook.policy.depth or playbook.usual_depth
    if playbook.policy.depth or depth is not Depth.STANDARD:
        phases = (phase.key for phase in playbook.agenda.phases)
        rt = rt.but(depth_overrides=dict.fromkeys(phases, depth.value))
    return rt


def take_up(event: Start, playbook: Playbook, *, thread_known: bool) -> Roundtable:
    """An item that has a folder already: in the thread that its folder names, or in a new one."""
    rt = _on(event, playbook)
    if not thread_known:
        return _open(rt, event, playbook)
    resumed = step_wording.resumed(rt.name_of(event.person.id))
    rt = rt.recording(resumed, part=LinePhase.CLARIFYING, by=event.person.id)
    return rt.queueing(ReadItem(recovering=True))


def start_again(rt: Roundtable, event: Start, playbook: Playbook) -> Roundtable:
    """
    There is no thread: it could not be opened the first time, or it was deleted. Perhaps we were invited since, or
    it is another channel. What was said and is not in git yet comes along, and so does what was being discussed.
    """
    if rt.place.thread:
        raise NotNow(trouble_wording.HELD_ALREADY)
    if not rt.phase_key:
        begun = _on(event, playbook).but(
            version=rt.version,
            now=rt.now,
            seen=rt.seen,
            attendance=rt.attendance,
            timers=rt.timers,
            personas_active=rt.personas_active,
            depth_overrides=rt.depth_overrides,
        )
        return _open(begun, event, playbook)
    bare = _moved_from(rt.place.channel, rt.but(place=event.place, stage=Stage.OPENING, stalled=None))
    return _open(_planned(bare, event, playbook), event, playbook)


def _moved_from(channel: str, rt: Roundtable) -> Roundtable:
    """What people said before stands in the channel where they said it."""
    if channel in {"", rt.place.channel}:
        return rt
    return rt.but(manners=rt.manners.add_channel(channel, rt.place.thread or slack_stamp(rt.now)))


def open_anew(rt: Roundtable, person: Person, playbook: Playbook) -> Roundtable:
    """In a new thread of the same channel, without being asked a second time."""
    again = Start(key=f"{rt.incarnation}.{rt.now}", at=rt.now, item=rt.item, place=rt.place, person=person)
    return start_again(rt, again, playbook)


def _on(event: Start, playbook: Playbook) -> Roundtable:
    rt = Roundtable(
        incarnation=hashlib.sha256(event.key.encode()).hexdigest()[:8],
        **dict(event.item),
        place=event.place,
        started_by=event.person.id,
        now=event.at,
    )
    rt = _planned(rt, event, playbook)
    return attending.starting(rt.knowing(event.key).meeting(event.person), event, playbook)


def _planned(rt: Roundtable, event: Start, playbook: Playbook) -> Roundtable:
    """Begins with the step of the plan, as soon as there is a thread and a folder."""
    return rt.but(reopened=playbook.agenda.plan.step_id, step_id="") if event.planning else rt


def _open(rt: Roundtable, event: Start, playbook: Playbook) -> Roundtable:
    text = step_wording.opening(rt.title, rt.slug, leads=root.leads_of(playbook), agenda=playbook.agenda)
    started = step_wording.started(rt.name_of(event.person.id), rt.title)
    chosen = event.model_dump(mode="json", include=CHOSEN_AT_START, exclude_defaults=True)
    rt = rt.recording(started, part=LinePhase.DRAFT, by=event.person.id, **chosen)
    if event.brief:
        step = playbook.agenda.plan
        where = {"phase_key": step.phase_key, "step_id": step.step_id}
        patches = specifying.said(rt, event.brief, event.person, playbook, step_id=step.step_id)
        facts: dict[str, Any] = {"message_id": f"{event.key}.brief", **where, ENTRIES: patches}
        rt = rt.heard(event.person, event.brief, ts="", part=LinePhase.DRAFT, **facts)
    rt = rt.queueing(OpenThread(message=Message(text=text, note=started), reply_url=event.reply_url))
    rt = rt.said(text, rt.outbox[-1], part=LinePhase.DRAFT)
    return report(
        rt, [one for one in playbook.troubles if one.code == "ERR-RT-002"][:1], part=LinePhase.DRAFT
    )


# --- the thread and the folder ------------------------------------------------------------------------------------


def thread_opened(rt: Roundtable, event: ThreadOpened, playbook: Playbook) -> Roundtable:
    adopting, opened = bool(rt.place.thread), event.thread
    thread = rt.place.thread or opened.ts
    manners = rt.manners.but(private=opened.private)
    rt = rt.but(place=rt.place.but(thread=thread), permalink=opened.permalink, manners=manners)
    return rt.queueing(ReadThread(quiet=not adopting), ReadItem())


def thread_read(rt: Roundtable, event: ThreadRead, playbook: Playbook) -> Roundtable:
    """What people said without us becomes part of the transcript, with their names; recovered words are answers."""
    rt = rt.but(last_heard=max([rt.last_heard, *(one.ts for one in event.heard)]))
    if event.recovering:
        rt = rt.but(last_line=event.last_line)
        return taken_up(_recovered(rt, event, playbook), "taken up from git")
    new = unheard(rt, event)
    for heard in new:
        rt = rt.meeting(heard.person).hearing(heard, part=LinePhase.DRAFT)
    return (
        rt if event.quiet else rt.telling(Message(text=step_wording.adopted(len(new))), part=LinePhase.DRAFT)
    )


def item_read(rt: Roundtable, event: ItemRead, playbook: Playbook) -> Roundtable:
    """A new item gets its folder; one that exists is taken up where its folder says it stands."""
    item, state = event.item, event.item.state
    if item.restorable:
        return _restoring_offered(rt, event)
    if state is None:
        return _folder_made(report(rt, item.troubles), playbook)
    is_new = not rt.last_line
    rt = _without(rt, state)
    if is_new:  # the store has nothing of the item: git has all but what was said just now
        rt = _moved_from(state.meta.slack.channel_id if state.meta.slack else "", rt)
        rt = rt.but(specification=state.specification.folding(rt.lines), written=state.written)
    if is_new and playbook.agenda.first_open(state.meta.phases_completed) is None:
        # Its brief was posted by the process whose store is lost.
        rt = rt.but(live={**rt.live, BRIEF: LiveMessage()})
    rt = refreshed(rt, state, item.troubles, lost=item.lost)
    rt = offer_take_over(rt, state)
    rt = exporting.read_edits(rt, state.exported, playbook)
    rt = exporting.read_sources(rt, is_new=False, playbook=playbook)
    rt = _answered(rt, state.said, playbook)
    rt = rt.but(title=one_line(state.meta.description, TITLE_CHARS) or rt.title)
    rt = rt.but(purse=rt.purse.but(spent=state.spent))
    if is_new:
        rt = issues.known_again(_seated(rt, state.meta.seats, playbook), playbook)
    if is_new and state.about == playbook.agenda.plan.step_id and not rt.has_finished(state.about):
        rt = rt.but(reopened=state.about)
    if event.recovering:
        rt = _held_before(rt, state.meta.slack)
        after = next(iter(state.heard), "")
        return rt.queueing(ReadThread(recovering=True, after=after, known=state.heard, about=state.about))
    return taken_up(rt, "held in a new thread")


def _seated(rt: Roundtable, seats: Seats, playbook: Playbook) -> Roundtable:
    """As meta.json says; what was chosen just now comes before that."""
    rt = rt.but(
        attendance=rt.attendance.joining(*seats.participants),
        personas_active=rt.personas_active or seats.personas_active,
    )
    if rt.attendance.due:
        return rt
    return attending.due_from_start(rt, seats.due, seats.due_offset, playbook)


def restore_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    rt, looked = _chosen(rt, event, menus.RESTORE.label)
    return rt.queueing(Restore(recovering=looked.recovering))


def start_over_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    rt, _ = _chosen(rt, event, menus.START_OVER.label)
    return _folder_made(rt, playbook, restart=True)


def taken_up(rt: Roundtable, why: str) -> Roundtable:
    return queue_commit(rt, why, then=Then.OPENING, change=MetaChange(slack=slack_place(rt)))


def opened(rt: Roundtable, playbook: Playbook, told: CommitResult | None) -> Roundtable:
    if rt.reopened == playbook.agenda.plan.step_id and rt.step_id != rt.reopened:
        return phases.begin_plan(rt, playbook)
    if rt.heading_for:
        return again(rt, playbook)
    rt = phases.go_on(rt, playbook)
    behind = told.state.commits_behind if told else 0
    return at_the_end(rt, behind, playbook) if rt.stage is Stage.ANALYSED else rt


def _held_before(rt: Roundtable, known: SlackPlace | None) -> Roundtable:
    """In the same thread: who began it stays the same, and who can see it may be known."""
    if known is None or known.channel_id != rt.place.channel:
        return rt
    manners = rt.manners.but(noted=known.private)
    manners = manners if manners.private is not None else manners.but(private=known.private)
    return rt.but(started_by=known.started_by or rt.started_by, manners=manners)


def _without(rt: Roundtable, state: ItemState) -> Roundtable:
    """What Slack repeated meanwhile, and git has already: it was answered, and counts once."""
    known = {*state.heard, *(heard.ts for heard in state.said)}
    ours = {rt.line_of(ts) for ts in known}
    return rt.but(
        last_heard=max([rt.last_heard, *state.heard]),
        lines=tuple(line for line in rt.lines if line.message_id not in ours),
        answers=tuple(answer for answer in rt.answers if answer.ts not in known),
        unread=tuple(answer for answer in rt.unread if answer.ts not in known),
    )


def _answered(rt: Roundtable, said: tuple[ThreadMessage, ...], playbook: Playbook) -> Roundtable:
    """What answers the step that is open now, and was committed when people left it in the middle, comes first."""
    known, step = rt.answers, _open_step(rt, playbook)
    rt = rt.but(answers=())
    for heard in said:
        if step and heard.about == step.step_id:
            rt = rt.meeting(heard.person).answering(heard, feedback=False)
    return rt.but(answers=(*rt.answers, *known))


def _open_step(rt: Roundtable, playbook: Playbook) -> Step | None:
    if rt.reopened == playbook.agenda.plan.step_id:
        return playbook.agenda.plan
    phase = playbook.agenda.first_open(rt.phases_completed)
    return asking.upcoming(rt.but(phase_key=phase.key), playbook) if phase else None


def _recovered(rt: Roundtable, event: ThreadRead, playbook: Playbook) -> Roundtable:
    """
    The words are in the transcript again. What answered the step that is open now answers it again, and feedback on one
    that is done belongs to that; what belonged to a discussion has no place any more.
    """
    step = _open_step(rt, playbook)
    new = unheard(rt, event)
    for heard in new:
        if words.asks_us(heard, playbook):
            rt = put_to_us(rt, heard)
            continue
        is_answer = heard.about in {"", step.step_id if step else ""} and words.answers(heard.text)
        done = playbook.agenda.get(heard.about) if rt.has_finished(heard.about) else None
        place = done or step
        at, rt = place.step_id if place else "", rt.meeting(heard.person)
        if done and words.answers(heard.text):
            patches = specifying.said(rt, heard.text, heard.person, playbook, step_id=at, is_asked=False)
        else:
            patches = specifying.said(rt, heard.text, heard.person, playbook, step_id=at, notes=is_answer)
        is_about = place is not None and (is_answer or done is not None)
        where = {"phase_key": place.phase_key, "step_id": at} if place and is_about else {}
        facts: dict[str, Any] = {**where, ENTRIES: patches}
        rt = rt.hearing(heard, part=LinePhase.CLARIFYING, **facts)
        if is_answer:
            rt = rt.answering(heard, feedback=False)
    elsewhere = sum(heard.about == NO_STEP for heard in new)
    text = trouble_wording.recovered(len(new), elsewhere=elsewhere, complete=event.complete)
    return rt.telling(Message(text=text), part=LinePhase.CLARIFYING)


def _restoring_offered(rt: Roundtable, event: ItemRead) -> Roundtable:
    """Nothing is written over what may yet be saved (ERR-META-001, ERR-META-002): people decide."""
    again, troubles = ReadItem(recovering=event.recovering), event.item.troubles
    rt = rt.logging(*troubles).but(stage=Stage.STALLED, stalled=Stalled(effect=again, stage=rt.stage))
    codes = " · ".join(one.code for one in troubles)
    message = Message(text=trouble_wording.RESTORABLE, choices=(menus.RESTORE, menus.START_OVER), note=codes)
    return rt.offering(MenuKind.RESTORE, message, part=LinePhase.DRAFT)


def _chosen(rt: Roundtable, event: Press, label: str) -> tuple[Roundtable, ReadItem]:
    """Back in the stage before the menu, and what was looked at then."""
    assert rt.stalled, "the menu is only there while we wait for it"
    stage, looked = rt.stalled.stage, rt.stalled.effect
    assert isinstance(looked, ReadItem), "nothing else is restorable"
    sentence = step_wording.chosen(label, rt.name_of(event.person.id))
    rt = rt.closing_menu(sentence)
    rt = rt.recording(sentence, part=LinePhase.DRAFT, by=event.person.id)
    return rt.but(stage=stage, stalled=None), looked


def _folder_made(rt: Roundtable, playbook: Playbook, *, restart: bool = False) -> Roundtable:
    said = [
        (line.person_name or line.person or "somebody", line.content)
        for line in in_thread_order(rt.lines)
        if line.source is Source.USER
    ]
    text = draft(rt.item, started_by=rt.name_of(rt.started_by), at=rt.now, said=said)
    change = MetaChange(
        created=created(rt),
        restart=restart,
        slack=slack_place(rt),
        codebase_hash=HEAD,
        depth_overrides=rt.depth_overrides,
        seats=seats_of(rt),
    )
    edits = [FileEdit(path="draft.md", text=text)]
    rt = exporting.read_sources(rt, is_new=True, playbook=playbook)
    return queue_commit(rt, "start", then=Then.OPENING, edits=edits, change=change)


# What people are called, once Slack has said it. A message comes without its author's name, so until then
# their id stands in its place.


def met(rt: Roundtable, event: PersonMet, playbook: Playbook) -> Roundtable:
    """What was not posted yet, and is not in git, gets the name. What people wrote stays as they wrote it."""
    rt = permission.learned(rt, Person(id=event.person, belongs=event.belongs))
    handle = rt.people.get(event.person, "")
    rt = rt.but(
        people={**rt.people, event.person: event.name},
        specification=rt.specification.naming({event.person: event.name}),
    )
    if event.name == event.person:
        return rt
    return _write_names(_Introduction(event, handle).to(rt), playbook)


def _write_names(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """In files that a commit which waits writes without them; otherwise the next one has them."""
    if not rt.has_pending(Commit):
        return rt
    named, due = specifying.written(rt, playbook)
    return queue_commit(named, "names", edits=due) if due else rt


def person_changed(rt: Roundtable, event: PersonChanged, playbook: Playbook) -> Roundtable:
    """The name stays the one that is in git: `people.json` changes it."""
    return permission.learned(rt, event.person) if event.person.id in rt.people else rt


class _Introduction:
    def __init__(self, event: PersonMet, handle: str) -> None:
        self._person, self._name = event.person, event.name
        self._id = re.compile(rf"(?<![\w@]){re.escape(event.person)}(?!\w)")
        self._handle = re.compile(rf"(?<![\w@]){re.escape(handle or event.person)}(?!\w)")

    def to(self, rt: Roundtable) -> Roundtable:
        return rt.but(
            lines=self._lines(rt.lines),
            outbox=tuple(map(self._effect, rt.outbox)),
            used=tuple(one.but(sentence=self._text(one.sentence)) for one in rt.used),
            live={
                key: one.but(ending=self._message(one.ending)) if one.ending else one
                for key, one in rt.live.items()
            },
            elaboration=rt.elaboration.met(self._person, self._name) if rt.elaboration else None,
            card=rt.card.but(by=self._text(rt.card.by), message=self._message(rt.card.message))
            if rt.card
            else None,
        )

    def _effect(self, effect: Effect) -> Effect:
        match effect:
            case Post() | Rewrite() | Tell():
                return effect.but(message=self._message(effect.message))
            case Commit():
                people = {**effect.people, self._person: self._name}
                edits = tuple(
                    one.but(body=self._text(one.body)) if isinstance(one, InsightEdit) else one
                    for one in effect.edits
                )
                return effect.but(lines=self._lines(effect.lines), people=people, edits=edits)
            case _:
                return effect

    def _lines(self, lines: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(map(self._line, lines))

    def _line(self, line: Line) -> Line:
        if line.person == self._person:
            line = line.but(meta={**line.meta, "user_name": self._name})
        if line.source is Source.USER:
            return line
        content = self._text(line.content)
        if line.person == self._person:
            content = self._handle.sub(lambda _: self._name, content)
        return line.but(content=content)

    def _message(self, message: Message) -> Message:
        return message.but(text=self._text(message.text), note=self._text(message.note))

    def _text(self, text: str) -> str:
        return self._id.sub(lambda _: self._name, text)


# --- going on -------------------------------------------------------------------------------------------------------


def resume(rt: Roundtable, event: Press | Resume, playbook: Playbook) -> Roundtable:
    """Two people who ask at once are told once."""
    name = rt.name_of(event.person.id)
    if isinstance(event, Press):
        rt = rt.closing_menu(step_wording.chosen(menus.RESUME.label, name))
    rt = rt.recording(step_wording.resumed(name), by=event.person.id)
    rt = rt.dropping(Speak).but(resumed_by=event.person.id)
    return rt if rt.has_pending(ReadItem) else rt.queueing(ReadItem())


def looked(rt: Roundtable, event: ItemRead, playbook: Playbook) -> Roundtable:
    """What stands in the folder now counts; then we are back where we were."""
    item, state = event.item, event.item.state
    rt = refreshed(rt, state, item.troubles, lost=item.lost)
    rt = offer_take_over(rt, state)
    rt = exporting.read_edits(rt, state.exported if state else (), playbook)
    if rt.stage is Stage.ANALYSED and playbook.agenda.first_open(rt.phases_completed) is None:
        return at_the_end(rt, state.commits_behind if state else 0, playbook)
    return again(rt, playbook)


def taken_over(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The line gets the digests when it is written."""
    if not rt.old_lines.lines:
        raise NotNow(trouble_wording.NOTHING_TO_TAKE_OVER)
    text = trouble_wording.taken_over(rt.name_of(event.person.id), rt.old_lines.lines)
    facts: dict[str, Any] = {TAKES_OVER: rt.old_lines.model_dump()}
    rt = rt.but(old_lines=OldLines()).recording(text, by=event.person.id, **facts)
    return queue_commit(rt.telling(Message(text=text), part=rt.part), "record taken over")


def without_looking(rt: Roundtable, sentence: str, playbook: Playbook) -> Roundtable:
    rt = rt.telling(Message(text=trouble_wording.unread(sentence)), part=rt.part)
    return rt if rt.stage is Stage.ANALYSED else again(rt, playbook)


def again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The greeting, and what was open: the question, the menu, the floor."""
    target = rt.heading_for or rt.stage
    rt = rt.closing_menu(step_wording.SUPERSEDED).but(heading_for=None)
    if target is Stage.ELABORATING:
        return elaborations.back(rt, playbook)
    known = playbook.agenda.has_phase(rt.phase_key)
    done = rt.phase_key in rt.phases_completed and rt.step_id != rt.reopened
    if target is Stage.AT_BOUNDARY and known:
        rt = rt.but(stage=target)
        return steps.menu(rt, playbook, phases.welcome(rt, playbook), anew=True)
    at_step = rt.but(stage=target)
    if target is Stage.DISCUSSING and not done and (known or asking.lacks_step(at_step, playbook)):
        rt = at_step
        greeting = phases.welcome(rt, playbook)
        rt = asking.saying_first(rt, playbook, greeting)
        return asking.question(rt, playbook, greeting)
    return phases.go_on(rt, playbook)


# --- trying again -------------------------------------------------------------------------------------------------


def retry(rt: Roundtable, event: Press | Resume, playbook: Playbook) -> Roundtable:
    if rt.stalled is None:
        raise NotNow(trouble_wording.NOT_OPENED)
    effect, stage = rt.stalled.effect, rt.stalled.stage
    rt = asking.chosen(rt, menus.RETRY.label, event.person, part=rt.part)
    return rt.but(stage=stage, stalled=None).queueing(effect.but(id="", attempts=0))


# --- an analysed item ---------------------------------------------------------------------------------------------


def at_the_end(rt: Roundtable, commits_behind: int, playbook: Playbook) -> Roundtable:
    if not commits_behind:
        return _offer_what_is_left(rt, playbook)
    message = Message(text=step_wording.stale(commits_behind), choices=(menus.REANALYSE, menus.CANCEL))
    return rt.offering(MenuKind.STALE, message, part=LinePhase.REVIEW_READY)


def _offer_what_is_left(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Steps that were left out can still be opened, such as one whose file was mended since."""
    text = step_wording.COMPLETE_AND_CURRENT
    left = asking.left_out(rt, playbook)
    can_open = asking.openable(left)
    asked = covering.steps_to_deepen(rt, playbook)
    deeper = (menus.go_deeper(asked),) if asked else ()
    if not can_open and not deeper:
        return rt.telling(Message(text=text), part=LinePhase.REVIEW_READY)
    above = paragraphs(text, asking.not_done(rt, left) if left else root.done(rt, playbook))
    message = Message(text=above, choices=(*deeper, *menus.reopening(can_open)))
    return rt.offering(MenuKind.LEFT_OUT, message, part=LinePhase.REVIEW_READY)


def reanalyse(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """From phase 00; the elaborations, the artifacts and the transcript stay."""
    rt = asking.chosen(rt, menus.REANALYSE.label, event.person, part=rt.part)
    live = {key: one for key, one in rt.live.items() if key != BRIEF}
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.DISCUSSING, phase_key="", step_id="", live=live)
    return queue_commit(rt, "analysed again from phase 00", then=Then.PHASE, change=MetaChange(restart=True))


def cancelled(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    return asking.chosen(rt, menus.CANCEL.label, event.person, part=rt.part)
