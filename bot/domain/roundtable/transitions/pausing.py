"""Stopping, and what is said while nothing goes on."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import menus, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Link, Message
from bot.domain.roundtable import words
from bot.domain.roundtable.effects import (
    UNDER_WAY,
    Commit,
    Post,
    React,
    ReadItem,
    Tell,
)
from bot.domain.roundtable.inputs import ChannelGone, ChannelMoved, Say, TryAgain
from bot.domain.roundtable.stage import BUSY, RESTING, Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, specifying, standing
from bot.domain.roundtable.transitions.saving import pending_commits, queue_commit
from bot.domain.transcript.lines import ENTRIES, Source
from bot.domain.values.places import Person


def stopped_at_last(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """As soon as there is something to come back to."""
    if not rt.stop_asked_by or rt.stage in BUSY:
        return rt
    person, rt = Person(id=rt.stop_asked_by), rt.but(stop_asked_by="")
    return rt if rt.stage in RESTING else pause(rt, person, playbook)


def pause(rt: Roundtable, person: Person, playbook: Playbook) -> Roundtable:
    """We go on here later. A pending contribution is dropped."""
    rt = standing.shown_at_the_end(rt, playbook)
    stopped = step_wording.stopped_here(rt.name_of(person.id))
    rt = rt.closing_menu(stopped).dropping(*UNDER_WAY)
    rt = rt.recording(stopped, by=person.id)
    return rest(rt.but(heading_for=rt.stage, paused_by=person.id), playbook)


def rest(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """What was said so far is saved, then people are told how to go on."""
    return _resume_offered(queue_commit(rt.but(stage=Stage.PAUSED), "paused"), playbook)


def channel_gone(rt: Roundtable, event: ChannelGone, playbook: Playbook) -> Roundtable:
    """
    Nothing can be posted, so the roundtable pauses and what was said is saved. The person who started it is told. What
    is being written down just now is finished first: its next post fails, and then it pauses, too.
    """
    if rt.stage in {*RESTING, *BUSY}:
        return rt
    words = trouble_wording.channel_gone(rt.title, archived=event.archived)
    link = (Link(label="The thread", url=rt.permalink),) if rt.permalink else ()
    told = Tell(person=rt.started_by, message=Message(text=words, links=link))
    rt = standing.shown_at_the_end(rt, playbook)
    rt = rt.recording(trouble_wording.no_channel(archived=event.archived), message_id=event.key)
    rt = rt.dropping(React, *UNDER_WAY).closing_menu(step_wording.SUPERSEDED).holding_back()
    return queue_commit(rt.but(stage=Stage.PAUSED, heading_for=rt.stage), "paused").queueing(told)


def channel_moved(rt: Roundtable, event: ChannelMoved, playbook: Playbook) -> Roundtable:
    """The thread goes on below the new id. A channel gets one when it becomes public or private: that is asked anew."""
    old, new = rt.place.channel, event.channel
    manners = rt.manners.add_channel(old, event.ts).but(private=None)
    link = rt.permalink.replace(f"/archives/{old}/", f"/archives/{new}/")
    return rt.but(place=rt.place.but(channel=new), permalink=link, manners=manners)


def in_touch(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Slack takes our posts again, after a pause that people did not ask for: there is no way on in the thread yet."""
    if rt.stage is not Stage.PAUSED or rt.menu or rt.has_pending(Post, ReadItem):
        return rt
    return _resume_offered(rt, playbook)


def tried_again(rt: Roundtable) -> Roundtable:
    """What could not be said or saved is tried again by itself, too: perhaps no one comes back to this thread."""
    rt = rt if rt.has_pending(Commit) else pending_commits(rt)
    return rt.catching_up() if rt.place.thread and not rt.has_pending(Post) else rt


def try_again(rt: Roundtable, event: TryAgain, playbook: Playbook) -> Roundtable:
    return tried_again(rt)


def _resume_offered(rt: Roundtable, playbook: Playbook) -> Roundtable:
    message = Message(text=step_wording.paused(_what_is_next(rt, playbook)), choices=(menus.RESUME,))
    return rt.offering(MenuKind.PAUSED, message, part=rt.part)


def _what_is_next(rt: Roundtable, playbook: Playbook) -> str:
    if rt.heading_for is Stage.ELABORATING and rt.elaboration:
        return f"the discussion of {rt.elaboration.topic}"
    step = asking.upcoming(rt.but(stage=rt.heading_for or rt.stage), playbook)
    return step.title if step else ""


def noted(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """
    Kept, and saved at once, since nothing else may come. Of a step that is being written or discussed it is a part,
    too, and it answers the one that was left in the middle.
    """
    is_answer = rt.heading_for is Stage.DISCUSSING and words.answers(event.text)
    is_feedback = rt.stalled is not None and rt.stalled.stage in {*BUSY, Stage.ELABORATING}
    patches = specifying.said(rt, event.text, event.person, playbook, notes=is_answer or is_feedback)
    rt = rt.hearing(event, part=rt.part, entries=patches)
    if rt.stage is Stage.PAUSED and Action.FINISH_STEP.read_words(event.text) is not None:
        rt = rt.but(hinted=_rest(rt)).whispering(event.person.id, step_wording.NOTHING_OPEN)
    elif rt.hinted != _rest(rt):
        told = step_wording.AT_REST[rt.stage.value]
        rt = rt.but(hinted=_rest(rt)).whispering(event.person.id, told)
    if is_feedback:
        rt = rt.answering(event, feedback=True)
    elif is_answer:
        rt = rt.answering(event, feedback=False)
    return notes_saved(tried_again(rt))


def _rest(rt: Roundtable) -> str:
    """The same until it goes on: each rest has a menu of its own."""
    return rt.menu.token if rt.menu else rt.stage.value


def entries_saved(rt: Roundtable) -> Roundtable:
    """While a step is open its commit takes them; at a menu the files say it at once."""
    if rt.stage is not Stage.AT_BOUNDARY or rt.has_pending(Commit):
        return notes_saved(rt)
    return queue_commit(rt, "entries changed")


def notes_saved(rt: Roundtable) -> Roundtable:
    """
    While one commit is on its way, further words wait and go into the next one together.

    Nothing is written into a folder that could not be read yet: what git already has is not known then.
    """
    spoken = any(line.source is Source.USER or ENTRIES in line.meta for line in rt.unheld)
    if rt.stage not in RESTING or rt.is_unread or not spoken or rt.has_pending(Commit):
        return rt
    return queue_commit(rt, "said afterwards")
