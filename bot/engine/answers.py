"""Replies to the person who asked: short, with what to do next."""

from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Depth
from bot.domain.messages import menus, record_wording, step_wording
from bot.domain.messages.discussion_wording import turns_left
from bot.domain.messages.message import Choice, Link, Message
from bot.domain.roundtable.budget import line
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.saving import is_behind
from bot.domain.specification.brief import brief
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, listed, one_line
from bot.engine.ports import Listing

UNKNOWN_THREAD = (
    "I don't know this roundtable any more. Say `/roundtable resume` in the channel to bring it back."
)
NOT_IN_DIRECT = (
    "A roundtable can't be held here, in a direct message. "
    "Invite me to a channel with `/invite @roundtable` and start it there."
)
TITLE_TAKEN = "Choose another title. All folder names for this one are taken."
CHOICES_SHOWN = 5
REFERENCE_CHARS = 100

DOING = {
    Stage.OPENING: "being opened",
    Stage.DISCUSSING: "a step is open",
    Stage.WRITING: "writing a step down",
    Stage.AT_BOUNDARY: "at a menu",
    Stage.ELABORATING: "in a discussion",
    Stage.CLOSING: "closing a phase",
    Stage.STALLED: "waiting for Retry",
    Stage.PAUSED: "stopped",
    Stage.ANALYSED: "analysed",
}


class ItemStatus(NamedTuple):
    """One line of a list of items."""

    slug: str
    title: str
    doing: str
    finished: bool
    permalink: str = ""


def of_roundtable(rt: Roundtable) -> ItemStatus:
    doing = f"{counted(len(rt.steps_completed), 'step')} done, {_doing(rt)}"
    return ItemStatus(rt.slug, rt.title, doing, finished=rt.stage is Stage.ANALYSED, permalink=rt.permalink)


def _doing(rt: Roundtable) -> str:
    if rt.stage is Stage.STALLED and not rt.place.thread:
        return "without a thread: `/roundtable resume` opens one"
    return DOING[rt.stage]


def of_folder(listed: Listing) -> ItemStatus:
    doing = f"{counted(listed.steps_completed, 'step')} done, not running"
    finished = listed.status == "analyzed"
    return ItemStatus(listed.known.slug, listed.known.title or listed.known.slug, doing, finished=finished)


def held_already(rt: Roundtable) -> Message:
    text = f"There is a roundtable on **{rt.title}** (`{rt.slug}`) already: {_doing(rt)}."
    return Message(text=text, links=_link(rt))


def thread_taken(rt: Roundtable) -> Message:
    return Message(
        text=f"This thread already hosts the roundtable on **{rt.title}**. One thread holds one item."
    )


def goes_on_there(rt: Roundtable) -> Message:
    return Message(text=f"The roundtable on **{rt.title}** goes on in its thread.", links=_link(rt))


def taken_up(rt: Roundtable) -> Message:
    return Message(text=f"I have read **{rt.title}** from the workspace. It goes on in its thread.")


def asked_in_thread(title: str) -> str:
    return (
        f"The repository names a thread of this channel for **{escaped(one_line(title))}**, but I did not write that "
        "myself. If that is right, press *Continue here* below my message in that thread."
    )


def not_sealed(slug: str) -> str:
    return (
        f"The repository says where `{slug}` is discussed, but I did not write that myself, so I show nothing of it. "
        f"Type `/roundtable resume {slug}` in its channel first."
    )


def moved(title: str, slug: str) -> str:
    return (
        f"The roundtable on **{escaped(one_line(title))}** goes on in another thread. "
        f"Type `/roundtable resume {slug}` in its channel to get there."
    )


def named_no_more() -> str:
    return "The repository no longer says that this thread belongs to that item. Nothing was changed."


def nothing_here() -> Message:
    return Message(
        text="There is no roundtable in this thread. Say `@roundtable start TITLE` to begin one here, "
        "or `@roundtable help`."
    )


def planned_there(rt: Roundtable) -> Message:
    return Message(text=f"**{rt.title}** is being planned in its thread.", links=_link(rt))


def plan_what(rt: Roundtable) -> Message:
    return Message(
        text=f"This thread hosts the roundtable on **{rt.title}**. Say `@roundtable plan` to plan it, or "
        "`/roundtable plan` and a few words in the channel to plan something new."
    )


def stopped(rt: Roundtable) -> Message:
    return Message(text=f"The roundtable on **{rt.title}** is stopped.", links=_link(rt))


def muted(rt: Roundtable, *, muted: bool) -> Message:
    become = "are quiet now; what people write is still recorded" if muted else "speak again"
    return Message(text=f"**{rt.title}**: the personas {become}.", links=_link(rt))


def depth_set(rt: Roundtable, depth: Depth) -> Message:
    return Message(text=f"**{rt.title}**: {step_wording.depth_switched(depth)}", links=_link(rt))


def picker(standings: tuple[ItemStatus, ...]) -> Message:
    """Buttons for the items that can be resumed."""
    open_items = [one for one in standings if not one.finished]
    if not open_items:
        return Message(
            text="There is nothing to resume in this channel. Say `/roundtable start TITLE` to begin."
        )
    choices = tuple(menus.RESUME.but(label=one.title, value=one.slug) for one in open_items[:CHOICES_SHOWN])
    more = len(open_items) - len(choices)
    note = f"And {more} more: say `/roundtable resume SLUG`." if more else ""
    return Message(
        text="Which roundtable do you want to resume?\n" + _lines(open_items), choices=choices, note=note
    )


def which(standings: tuple[ItemStatus, ...], choice: Choice) -> Message:
    """Buttons for *choice*, one for each item."""
    if not standings:
        return listing(())
    shown = standings[:CHOICES_SHOWN]
    choices = tuple(choice.but(label=f"{choice.label}: {one.title}", value=one.slug) for one in shown)
    return Message(text="Which roundtable do you mean?\n" + _lines(standings), choices=choices)


def with_more(told: Message, slug: str) -> Message:
    """With the buttons of an item's status."""
    return told.but(choices=(menus.CATCH_UP.but(value=slug), menus.EXPORT.but(value=slug)))


def record_on_its_way(rt: Roundtable) -> Message:
    return Message(text=record_wording.on_its_way(rt.title), links=_link(rt))


def record_kept(listed: Listing) -> Message:
    known = listed.known
    return Message(text=record_wording.kept_only(known.title or known.slug, known.slug))


def listing(standings: tuple[ItemStatus, ...]) -> Message:
    if not standings:
        return Message(
            text="There are no roundtables in this channel yet. Say `/roundtable start TITLE` to begin."
        )
    links = tuple(Link(label=one.title, url=one.permalink) for one in standings if one.permalink)
    return Message(text="Roundtables in this channel:\n" + _lines(standings), links=links)


def status(rt: Roundtable, playbook: Playbook) -> Message:
    phase = next((one for one in playbook.agenda.phases if one.key == rt.phase_key), None)
    step = playbook.agenda.get(rt.step_id)
    debate = rt.elaboration
    rows = (
        f"**{rt.title}** (`{rt.slug}`): {_doing(rt)}",
        f"- Phase: {phase.number} {phase.name}" if phase else "",
        f"- Step: {step.step_id} {step.title}" if step else "",
        _progress(rt, playbook),
        f"- Brief: {brief(playbook.schema, rt.specification).counts}",
        f"- Depth: {rt.depth}" if rt.depth else "",
        f"- Discussion: {turns}" if debate and (turns := turns_left(debate)) else "",
        "- The personas are muted." if rt.manners.muted else "",
        f"- {spent}" if (spent := line(rt.purse, playbook.policy)) else "",
        "- Some of it could not be saved yet. I try again with the next step." if is_behind(rt) else "",
    )
    return Message(text="\n".join(row for row in rows if row), links=_link(rt))


def so_far(rt: Roundtable, playbook: Playbook) -> Message:
    steps = playbook.all_steps
    done = sum(step.step_id in rt.steps_completed for step in steps)
    found = brief(playbook.schema, rt.specification)
    return record_wording.so_far(rt.title, done, len(steps), found, link=rt.permalink)


def _progress(rt: Roundtable, playbook: Playbook) -> str:
    steps, phases = len(playbook.all_steps), len(playbook.agenda.phases)
    return (
        f"- Done: {len(rt.steps_completed)} of {steps} steps, {len(rt.phases_completed)} of {phases} phases"
    )


def status_of_folder(listed: Listing, playbook: Playbook) -> Message:
    known = listed.known
    text = (
        f"**{known.title or known.slug}** (`{known.slug}`) is not running: {listed.steps_completed} of "
        f"{len(playbook.agenda.steps)} steps done. Say `/roundtable resume {known.slug}` to go on."
    )
    return Message(text=text)


def no_such_item(reference: str) -> str:
    asked = one_line(reference, REFERENCE_CHARS)
    return f"No matching item found for `{asked}`. Say `/roundtable list` to see what there is."


def several(reference: str, slugs: tuple[str, ...]) -> str:
    asked, found = one_line(reference, REFERENCE_CHARS), listed([f"`{slug}`" for slug in slugs])
    return f"`{asked}` could be {found}. Name one of them."


def say_which(running: int) -> str:
    if not running:
        return "No roundtable is running in this channel. Say `/roundtable list` to see what there is."
    return "Several roundtables are running in this channel. Say it in the thread of the one you mean."


def say_what_to_plan(running: int) -> str:
    if not running:
        return "What do you want to plan? Name an item, or say in a few words what it is about: `/roundtable plan …`."
    return "There are several roundtables in this channel. Name the one to plan: `/roundtable plan SLUG`."


def not_running(slug: str) -> str:
    return f"The roundtable on `{slug}` is not running. Say `/roundtable resume {slug}` to go on."


def _lines(standings: tuple[ItemStatus, ...] | list[ItemStatus]) -> str:
    return "\n".join(f"- **{one.title}** (`{one.slug}`): {one.doing}" for one in standings)


def _link(rt: Roundtable) -> tuple[Link, ...]:
    return (Link(label="Open the thread", url=rt.permalink),) if rt.permalink else ()
