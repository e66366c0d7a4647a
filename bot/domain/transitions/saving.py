"""Commits: owing them so that nothing unsaved is overtaken, and taking in what they say."""

from collections.abc import Iterable

from bot.domain.artifact import Edit
from bot.domain.effects import Commit, Post
from bot.domain.inputs import Committed, ItemState
from bot.domain.message import Message
from bot.domain.meta import Change
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Part

HEAD = "HEAD"
"""As a change's `codebase_hash`: the workspace fills in what it is at."""


def owe_commit(
    rt: Roundtable, subject: str, *, step: str = "", edits: Iterable[Edit] = (), change: Change | None = None
) -> Roundtable:
    """A commit of all lines so far. What failed to be saved before is tried again first, in its order."""
    earlier = tuple(commit.but(attempts=0) for commit in rt.unsaved)
    commit = Commit(
        subject=f"roundtable({rt.slug}): {subject}",
        step=step,
        edits=tuple(edits),
        change=change or Change(),
        lines=rt.lines,
    )
    return rt.but(unsaved=()).owing(*earlier, commit)


def owe_commit_then_tell(
    rt: Roundtable, subject: str, message: Message, *, part: Part, change: Change | None = None
) -> Roundtable:
    """*message* is in the transcript that is committed, and is said only when the commit is done."""
    told = rt.telling(message, part=part)
    post = told.outbox[-1]
    assert isinstance(post, Post), "telling ends with owing a post"
    return owe_commit(told.paid(post.id), subject, change=change).owing(post)


def saved(rt: Roundtable, committed: Committed) -> Roundtable:
    """The lines that are in git now are no longer pending, and what the item's folder says is what counts."""
    rt = rt.but(lines=tuple(line for line in rt.lines if line.message_id not in committed.lines))
    return refreshed(rt, committed.state)


def refreshed(rt: Roundtable, state: ItemState) -> Roundtable:
    """People may edit meta.json by hand: it is honoured from here on, without losing what is still unsaved."""
    steps = (step for commit in rt.unsaved for step in commit.change.steps)
    phases = (phase for commit in rt.unsaved for phase in commit.change.phases)
    return rt.but(
        steps_completed=tuple(dict.fromkeys((*state.meta.steps_completed, *steps))),
        phases_completed=tuple(dict.fromkeys((*state.meta.phases_completed, *phases))),
        depth_overrides={**state.meta.depth_overrides},
        elaborations=state.meta.elaborations,
        max_turns=state.meta.max_turns,
        scan=state.scan,
        artifacts=state.artifacts,
        round=max(rt.round, state.last_round),
        now=max(rt.now, state.last_ts),
    )
