"""Commits: queued so that they do not overtake what failed to be saved, and their outcomes taken in."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.catalog.taxonomy import Trouble
from bot.domain.item import artifacts
from bot.domain.item.artifacts import DerivedEdit, Edit, InsightEdit, SectionEdit
from bot.domain.item.meta import ItemProgress, MetaChange, Seats, SlackPlace, add_progress
from bot.domain.messages import menus, step_wording, trouble_wording
from bot.domain.messages.message import ITEM, NO_STEP, Message
from bot.domain.roundtable.effects import Commit, ReadThread, Then
from bot.domain.roundtable.inputs import Command, Say
from bot.domain.roundtable.outcomes import CommitResult, ItemState, ThreadMessage, ThreadRead
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import specifying
from bot.domain.roundtable.transitions.asking import report
from bot.domain.roundtable.words import answers, asks_us
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import BOT, ENTRIES, SPENT, TO, Line, LinePhase, Source, in_thread_order
from bot.domain.transcript.seal import TAKES_OVER
from bot.domain.transcript.state import CHANGE, carried

HEAD = "HEAD"
"""As a change's `codebase_hash`: the workspace fills in what it is at."""

META_UNREADABLE = "ERR-META-002"
NOT_WRITTEN = "ERR-ART-002"
META_LOST = frozenset({"ERR-META-001", META_UNREADABLE})
"""With the store at hand nothing is lost by it: "starting from the beginning" would be wrong."""


# --- queueing -----------------------------------------------------------------------------------------------------


def queue_commit(
    rt: Roundtable,
    subject: str,
    *,
    then: Then = Then.NOTHING,
    step: str = "",
    edits: Iterable[Edit] = (),
    change: MetaChange | None = None,
) -> Roundtable:
    """
    A commit of the lines that no other one holds, after which comes what *then* names.

    What failed to be saved before is tried again first, in its order.
    """
    rt, change = _placed(rt, change or MetaChange())
    edits = tuple(edits)
    facts, snapshot = dict[str, Any](), ""
    # what the lines say is only known when they are taken over
    if rt.specification.entries and not any(TAKES_OVER in line.meta for line in rt.unheld):
        facts, snapshot = specifying.snapshot_facts(rt, edits)
    if progress := carried(change):  # so that meta.json can be replayed from the lines alone
        facts = {CHANGE: progress, **facts}
    rt = _carrying(rt, facts, change, subject)
    commit = Commit(
        subject=f"roundtable({rt.slug}): {subject}",
        step=step,
        edits=edits,
        change=change,
        lines=in_thread_order(rt.unheld),
        snapshot=snapshot,
        people=rt.people,
        then=then,
    )
    return pending_commits(rt).queueing(commit)


# --- taking in ----------------------------------------------------------------------------------------------------


def saved(rt: Roundtable, commit: Commit, made: CommitResult) -> Roundtable:
    """The lines that are in git now are no longer pending, and what the item's folder says is what counts."""
    written = frozenset(line.message_id for line in commit.lines)
    left = tuple(line for line in rt.lines if line.message_id not in written)
    rt = add_progress(rt, commit.change).but(lines=left, saved_at=rt.now)
    known = _expected(commit) | (META_LOST if made.restored else frozenset())
    expected = tuple(one for one in made.troubles if one.code in known)
    rest = tuple(one for one in made.troubles if one not in expected)
    state = made.state.but(behind=made.state.behind or made.put_back is not None)
    rt = refreshed(rt.logging(*expected), state, rest, lost=made.lost, new=written)
    if made.lost or not made.state.behind:
        rt = rt.but(last_line=made.last_line)
    if made.put_back:
        text = trouble_wording.put_back(made.put_back.lines, made.put_back.commit)
        # the sections that went with the lines are written again, too
        rt = rt.telling(Message(text=text), part=rt.part).but(written=dict.fromkeys(rt.written, ""))
        rt = queue_commit(rt, "lines put back", change=_everything(rt))
    if any(TAKES_OVER in line.meta for line in commit.lines):
        rt = rt.but(specification=state.specification.folding(rt.lines), written=state.written)
        if state.old_lines.lines:
            rt = offer_take_over(rt.recording(trouble_wording.NOT_TAKEN_OVER), state)
        rt = queue_commit(rt, "specification read again")
    if made.restored:
        rt = rt.telling(Message(text=trouble_wording.restored(made.restored)), part=rt.part)
    if made.unwritten:
        return _kept_for_later(rt, commit, made.unwritten)
    is_last = commit.late and not is_behind(rt)
    return rt.telling(Message(text=trouble_wording.SAVED_AT_LAST), part=rt.part) if is_last else rt


def offer_take_over(rt: Roundtable, state: ItemState | None) -> Roundtable:
    """Until a person takes them over, lines without a seal of ours only propose."""
    if state is None or not state.old_lines.lines:
        return rt
    text = trouble_wording.take_over(state.old_lines.lines)
    message = Message(text=text, choices=(menus.TAKE_OVER,), token=ITEM)
    return rt.but(old_lines=state.old_lines).telling(message, part=rt.part)


def not_saved(rt: Roundtable, commit: Commit) -> Roundtable:
    """It counts all the same, and is tried again before the next commit."""
    late = commit.but(then=Then.NOTHING, late=True)
    rt = add_progress(rt, commit.change).but(unsaved=(*rt.unsaved, late))
    return rt if commit.late else _attached(rt, commit.edits)


def is_behind(rt: Roundtable) -> bool:
    """Whether something that failed to be saved still has to be."""
    return bool(rt.unsaved) or any(isinstance(effect, Commit) and effect.late for effect in rt.outbox)


def has_content(lines: Iterable[Line]) -> bool:
    """Whether *lines* are worth a commit: words of people that are no command, or changes of entries."""
    return any(
        ENTRIES in line.meta or (line.source is Source.USER and answers(line.content)) for line in lines
    )


def saying_what_is_saved(rt: Roundtable, told: CommitResult | None = None) -> str:
    """*told* is what came of the commit just now; None when it could not be made, or was made before."""
    if not is_behind(rt):
        return step_wording.saved(told.touched if told else ())
    touched = step_wording.saved(told.touched) if told and told.touched else ""
    return "\n".join(filter(None, (touched, step_wording.NOT_ALL_SAVED)))


def refreshed(
    rt: Roundtable,
    state: ItemState | None,
    troubles: Iterable[Trouble],
    *,
    lost: bool = False,
    new: AbstractSet[str] = frozenset(),
) -> Roundtable:
    """
    People may edit meta.json by hand: it is honoured from here on, without losing what is still unsaved.

    A file that they broke or removed is written anew out of what we know. *lost*: git has no more what was committed
    before its *new* lines, and people did not remove that.
    """
    if lost:
        return _restore_from_thread(rt.logging(*troubles), state, new)
    found = tuple(troubles)
    unusable = tuple(one for one in found if one.code in META_LOST)
    rt = report(rt, (one for one in found if one not in unusable))
    if unusable or state is None:
        return _written_anew(rt, unusable)

    rt = _with_names(rt, state.people)
    rt = rt.but(
        created_at=state.meta.created_at or rt.created_at,
        max_turns=state.meta.max_turns,
        round=max(rt.round, state.last_round),
        now=max(rt.now, state.last_ts),
    )
    if state.behind:  # what the clone lacks was not removed by people
        rt = add_progress(rt, _as_change(state.meta))
    else:
        rt = rt.but(
            steps_completed=state.meta.steps_completed,
            phases_completed=state.meta.phases_completed,
            depth_overrides={**state.meta.depth_overrides},
            elaborations=state.meta.elaborations,
            scan=state.scan,
            artifacts=state.artifacts,
        )
    pending = (effect for effect in rt.outbox if isinstance(effect, Commit))
    for commit in (*rt.unsaved, *pending):
        rt = add_progress(rt, commit.change)
    return rt


def _with_names(rt: Roundtable, names: Mapping[str, str]) -> Roundtable:
    """What git says that people are called counts, also after somebody edited it there."""
    new = {id: names[id] for id, name in rt.people.items() if names.get(id, name) != name}
    if not new:
        return rt
    debate = rt.elaboration
    for id, name in new.items():
        debate = debate.met(id, name) if debate else None
    return rt.but(people={**rt.people, **new}, specification=rt.specification.naming(new), elaboration=debate)


def read_after_all(rt: Roundtable, event: ThreadRead, playbook: Playbook) -> Roundtable:
    """What people said in the thread since then is in the transcript again; it asks for nothing."""
    assert event.lost is not None, "only then the thread is read for this"
    new = unheard(rt, event)
    for one in new:
        if asks_us(one, playbook):
            rt = put_to_us(rt, one)
            continue
        about = "" if one.about == NO_STEP else one.about
        patches = specifying.said(rt, one.text, one.person, playbook, step_id=about) if about else ()
        rt = rt.meeting(one.person).hearing(one, part=rt.part, step_id=about, entries=patches)
    return written_again(rt, event.lost, words=len(new), complete=event.complete)


def put_to_us(rt: Roundtable, asked: ThreadMessage) -> Roundtable:
    """A question to the bot that stands in the thread. Whoever asked has the answer, or asks again."""
    return rt.meeting(asked.person).heard(asked.person, asked.text, ts=asked.ts, part=rt.part, **{TO: BOT})


def unheard(rt: Roundtable, event: ThreadRead) -> tuple[ThreadMessage, ...]:
    """The messages that have no line among those that are not in git yet."""
    known = {line.message_id for line in rt.lines}
    return tuple(one for one in event.heard if rt.line_of(one.ts) not in known)


def written_again(
    rt: Roundtable, lost: tuple[str, ...], *, words: int = 0, complete: bool = True
) -> Roundtable:
    """The progress that we know of, and a sentence about what is nowhere but in the thread."""
    text = trouble_wording.lost(lost, words=words, complete=complete, permalink=rt.permalink)
    rt = rt.telling(Message(text=text), part=rt.part)
    return queue_commit(rt, "written again after the workspace went back", change=_everything(rt))


def slack_place(rt: Roundtable) -> SlackPlace:
    place = rt.place
    return SlackPlace(
        team_id=place.team,
        channel_id=place.channel,
        thread_ts=place.thread,
        started_by=rt.started_by,
        private=rt.manners.private,
    )


def seats_of(rt: Roundtable) -> Seats | None:
    seats = Seats(
        personas_active=rt.personas_active,
        participants=rt.attendance.participants,
        due=rt.attendance.due,
        due_offset=rt.attendance.due_offset,
    )
    return seats if seats != Seats() else None


def seen_by(rt: Roundtable, event: Command) -> Roundtable:
    """Messages say who can see them: a channel may become private at any time, and the next commit notes it."""
    if not isinstance(event, Say) or event.private is None or event.private is rt.manners.private:
        return rt
    return rt.but(manners=rt.manners.but(private=event.private))


def created(rt: Roundtable) -> dict[str, str | None]:
    """What a new meta.json begins with."""
    return {
        "description": rt.title,
        "source": rt.source,
        "source_id": rt.source_id,
        "slug": rt.slug,
        "created_at": rt.created_at or rt.now,
    }


def _placed(rt: Roundtable, change: MetaChange) -> tuple[Roundtable, MetaChange]:
    """With who can see the channel, if meta.json does not say so yet."""
    private = rt.manners.private
    if change.slack is None and private is not rt.manners.noted and rt.place.thread:
        change = change.but(slack=slack_place(rt))
    return (rt.but(manners=rt.manners.but(noted=private)) if change.slack else rt), change


def _carrying(rt: Roundtable, facts: dict[str, Any], change: MetaChange, subject: str) -> Roundtable:
    """
    The last line of the commit carries *facts*, and what else is known at a commit.

    It is one of ours: the file may have what people said already, and no line is written twice.
    """
    if facts and (not rt.unheld or rt.unheld[-1].source is Source.USER):
        rt = rt.recording(f"{subject[:1].upper()}{subject[1:]}.")
    if change.slack and rt.permalink:
        facts["permalink"] = rt.permalink
    if rt.purse.spent.calls:
        facts[SPENT] = rt.purse.spent.model_dump(mode="json")
    ours = [line for line in rt.unheld if line.source is not Source.USER]
    if not facts or not ours:
        return rt
    return rt.marking(ours[-1].message_id, **facts)


def pending_commits(rt: Roundtable) -> Roundtable:
    """Queues again what failed to be saved, in its order."""
    return rt.but(unsaved=()).queueing(*rt.unsaved)


def _kept_for_later(rt: Roundtable, commit: Commit, edits: tuple[Edit, ...]) -> Roundtable:
    """A commit of its own: the one that they were in is made."""
    later = Commit(subject=commit.subject, edits=edits, late=True)
    rt = rt.but(unsaved=(*rt.unsaved, later))
    return rt if commit.late else _attached(rt, edits)


def _attached(rt: Roundtable, edits: Iterable[Edit]) -> Roundtable:
    """The texts go into the thread (ERR-ART-002); insights stand there already, in their synthesis."""
    for edit in edits:
        if not isinstance(edit, InsightEdit) and (text := _shown(edit)):
            text = text if artifacts.applies_to(edit.path) else f"```\n{text}\n```"
            message = Message(text=trouble_wording.not_written(edit.path, text))
            rt = rt.telling(message, part=LinePhase.FORMALIZING)
    return rt


def _shown(edit: Edit) -> str:
    """Of a plan, the page that people read: the others say the same, and so does the end of each file."""
    if isinstance(edit, DerivedEdit) and edit.path != PLAN_PAGE:
        return ""
    if isinstance(edit, SectionEdit) and edit.last:
        return ""
    return edit.apply(None)


def _expected(commit: Commit) -> frozenset[str]:
    """Not worth a message: a new item has no meta.json yet, and what is late was told of before."""
    new = META_LOST if commit.change.created is not None else frozenset[str]()
    return new | {NOT_WRITTEN} if commit.late else new


def _written_anew(rt: Roundtable, lost: tuple[Trouble, ...]) -> Roundtable:
    rt = rt.logging(*lost)
    if any(one.code == META_UNREADABLE for one in lost):
        rt = rt.telling(Message(text=trouble_wording.WRITTEN_ANEW, note=META_UNREADABLE), part=rt.part)
    return queue_commit(rt, "meta.json written anew", change=_everything(rt))


def _restore_from_thread(rt: Roundtable, state: ItemState | None, new: AbstractSet[str]) -> Roundtable:
    """What git cannot give back: our progress still counts, and people's words are read in the thread once more."""
    done, known = (state.meta.steps_completed, state.heard) if state else ((), ())
    lost = tuple(step for step in rt.steps_completed if step not in done)
    rt = rt.but(last_line=LastLine())
    if state:
        rt = add_progress(rt, _as_change(state.meta)).but(
            specification=state.specification.folding(rt.unheld),
            written=state.written,
            round=max(rt.round, state.last_round),
            now=max(rt.now, state.last_ts),
        )
    if not rt.place.thread:
        return written_again(rt, lost)
    left = (ts for ts in known if rt.line_of(ts) not in new)
    return rt.queueing(ReadThread(lost=lost, after=next(left, ""), known=known))


def _everything(rt: Roundtable) -> MetaChange:
    return _as_change(rt).but(
        created=created(rt),
        restart=True,  # in the order in which they were completed
        slack=slack_place(rt),
        codebase_hash=HEAD,
        seats=seats_of(rt),
    )


def _as_change(done: ItemProgress) -> MetaChange:
    """All of *done*, for an item that may lack a part of it."""
    return MetaChange(
        steps=done.steps_completed,
        phases=done.phases_completed,
        depth_overrides=done.depth_overrides,
        elaborations=done.elaborations,
    )
