"""Verbs that change how a roundtable goes on, and when a person hears of it."""

from collections.abc import Iterable

from bot.domain.catalog.steps import Depth
from bot.domain.discussion.elaboration import SealedPosition
from bot.domain.discussion.words import typed_position
from bot.domain.messages import discussion_wording, menus, verb_wording
from bot.domain.messages import form as form_wording
from bot.domain.messages.message import Message
from bot.domain.roundtable.inputs import Mute, SealPosition, SetDepth, Stop
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.engine import answers
from bot.engine.access import same_channel
from bot.engine.desk import Desk, Reply
from bot.engine.verbs.verb import VerbRequest
from bot.errors import UserError


async def stop(desk: Desk, asked: VerbRequest) -> Reply:
    rt = await desk.finder.running(asked.place, asked.rest, asked.person)
    await desk.roundtables.handle(rt.slug, Stop(**asked.sent, ts=asked.ts))
    return None if asked.place.thread else answers.stopped(rt)


async def set_muted(desk: Desk, asked: VerbRequest, *, muted: bool) -> Reply:
    rt = await desk.finder.running(asked.place, asked.rest, asked.person)
    await desk.roundtables.handle(rt.slug, Mute(**asked.sent, muted=muted))
    return None if asked.place.thread else answers.muted(rt, muted=muted)


async def depth(desk: Desk, asked: VerbRequest) -> Reply:
    wanted = asked.rest.lower()
    if wanted not in set(Depth):
        raise UserError(verb_wording.WHICH_DEPTH)
    rt = await desk.finder.running(asked.place, "", asked.person)
    await desk.roundtables.handle(rt.slug, SetDepth(**asked.sent, depth=Depth(wanted), ts=asked.ts))
    return None if asked.place.thread else answers.depth_set(rt, Depth(wanted))


async def settings(desk: Desk, asked: VerbRequest) -> Reply:
    """A button that opens the form: words cannot."""
    rt = await desk.finder.running(asked.place, asked.rest, asked.person)
    if not same_channel(rt.place, asked.place):
        raise UserError(answers.UNKNOWN_THREAD)
    desk.must_press(rt, asked.person)
    button = menus.SETTINGS.but(value=rt.slug)
    return Message(text=form_wording.settings_button(rt.title), choices=(button,))


async def position(desk: Desk, asked: VerbRequest) -> Reply:
    """In a discussion of the channel; elsewhere in one of those that the person takes part in and may see."""
    found = _discussing(await desk.finder.live(asked.place))
    found = found or _discussing(await desk.personal.held_by(asked.person.id))
    rt, words = _discussion(found, asked.rest)
    given = SealPosition(**asked.sent, position=read_position(words), is_answered=True)
    await desk.roundtables.handle(rt.slug, given)
    return Message(text=discussion_wording.SEALED_NOTED)


def _discussing(found: Iterable[Roundtable]) -> list[Roundtable]:
    return [rt for rt in found if rt.stage is Stage.ELABORATING]


def _discussion(found: list[Roundtable], words: str) -> tuple[Roundtable, str]:
    """The roundtable, and the words about it. Where there are several, its slug stands in front: `offline-sync: A`."""
    slug, colon, rest = words.partition(":")
    named = next((rt for rt in found if colon and rt.slug == slug.strip().lower()), None)
    if named:
        return named, rest
    if not found:
        raise UserError(discussion_wording.NO_DISCUSSION)
    if len(found) > 1:
        raise UserError(discussion_wording.seal_which([rt.slug for rt in found]))
    return found[0], words


def read_position(words: str) -> SealedPosition:
    """Raises UserError for words that say nothing."""
    position = typed_position(words)
    if not position.option and not position.words:
        raise UserError(discussion_wording.SEAL_WHAT)
    return position


async def snooze(desk: Desk, asked: VerbRequest) -> Reply:
    return await desk.personal.snooze(asked.person.id, asked.rest)


async def remind(desk: Desk, asked: VerbRequest) -> Reply:
    return await desk.personal.remind(asked.person.id, asked.rest)
