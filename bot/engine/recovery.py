"""Threads that the store has lost: whose they are, and the item that is taken up there again."""

from contextlib import suppress

from bot.domain.messages import step_wording
from bot.domain.roundtable.inputs import Amend, Press, Resume, Retract, Say, Start
from bot.domain.values.places import Place
from bot.engine import access, answers
from bot.engine.desk import Desk, Reply
from bot.engine.item_locator import item_in
from bot.engine.ports import Listing
from bot.engine.unknown_threads import KnownThread, Moved, UnsignedThread
from bot.errors import Conflict, UserError

KNOWN_SECONDS = 2.0
"""How long an event may wait for Slack to say who a person is."""


async def recover(desk: Desk, place: Place, event: Say | Amend | Retract | Press | Resume) -> bool:
    """Whether *place* was the thread of an item. The item is taken up there again, or people are asked about it."""
    under_us = event.under_us if isinstance(event, Say) else None
    is_said = not isinstance(event, Amend | Retract)
    match await desk.threads.whose(place, under_us=under_us, look=is_said):
        case KnownThread(item, folder):
            person = event.person
            if not folder:  # words that are no command arrive without it, but start something here
                belongs = await access.belonging(desk.chat, person, seconds=KNOWN_SECONDS)
                person = person.but(belongs=belongs)
            if not folder and (why := desk.start_refusal(person, place.channel)):
                await desk.threads.ask(place, item, step_wording.record_gone(item.title))
                raise UserError(why)
            start = Start(key=f"lost.{event.key}", at=event.at, item=item, place=place, person=person)
            await _take_up_at(desk, start, folder)
            return True
        case UnsignedThread(folder):
            if isinstance(event, Say | Press):
                await desk.threads.ask(place, item_in(folder), step_wording.named_by_git(folder.known.title))
            if isinstance(event, Press):
                raise UserError(answers.asked_in_thread(folder.known.title))
            return isinstance(event, Say)
        case Moved(item):
            raise UserError(answers.moved(item.title, item.slug))
        case None:
            return False


async def confirm_thread(desk: Desk, place: Place, press: Press) -> Reply:
    """A person confirms that the thread belongs to the item. Only from now on is it read."""
    if held := await desk.store.at(place):
        return answers.held_already(held)
    desk.must_be_allowed(press.person, place.channel)
    desk.threads.forget(place)
    match await desk.threads.whose(place):
        case KnownThread(item, folder) if item.slug == press.value:
            pass
        case UnsignedThread(folder) if folder.known.slug == press.value:
            item = item_in(folder)
        case _:
            raise UserError(answers.named_no_more())
    start = Start(key=press.key, at=press.at, item=item, place=place, person=press.person)
    await _take_up_at(desk, start, folder)
    desk.threads.forget(place)
    await desk.threads.answered(place, press.ts, item, by=press.person.name or press.person.id)
    return None


async def _take_up_at(desk: Desk, start: Start, folder: Listing | None) -> None:
    """In the thread of *start*, which is known to belong to the item."""
    with suppress(Conflict):  # another process was quicker; the input goes to its roundtable
        if folder:
            await desk.roundtables.take_up(start, thread_known=True)
        else:
            await desk.roundtables.start(start)
