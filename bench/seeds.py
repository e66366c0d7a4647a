"""
Roundtables as they are in the middle of things: one meeting is played through the pure engine, then copied.

A copy has a slug and a thread of its own, so it is a roundtable of its own to everything that is measured.
"""

import asyncio
from collections.abc import Sequence
from functools import cache
from itertools import count
from random import Random

from bench.canned import TEAM
from bench.payloads import Payload, button, deletion, message
from bot.domain.messages.message import Action
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.errors import Conflict, Unavailable
from bot.shipped import steps_dir
from bot.slack.render import action_id, value_of
from bot.storage.redis import RedisStore
from tests.domain.table import Table

CHANNELS = 50
PUT_AT_ONCE = 32
ANSWERS = (
    "Field workers lose their edits when the network goes away, and find out only at the end of their shift.",
    "Sync has to be through within 60 seconds for 95% of edits, whatever the size of the form.",
    "We decided that the first release keeps photos out of scope; Linus was against it.",
)
TO_ONE_PERSONA = "Jordan, what does somebody see who has no network?"

_numbers = count(1)


@cache
def discussing() -> Roundtable:
    """A step is open, three answers were given."""
    table = Table().start()
    for answer in ANSWERS:
        table.say(answer)
    return table.rt


@cache
def elaborating() -> Roundtable:
    """The personas have spoken, the floor is the people's."""
    return Table().start().do_step(*ANSWERS).press(Action.ELABORATE).rt


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 -- the same words in every run


def prose(luck: Random, *, words: int) -> str:
    """As compressible as what people write: words of the step files, in no order."""
    return " ".join(luck.choices(_vocabulary(), k=words)) + "."


def elaborating_turns() -> int:
    debate = elaborating().elaboration
    assert debate
    return debate.turn_count


def copies(original: Roundtable, number: int, *, channel: str = "") -> list[Roundtable]:
    found = []
    for each in (next(_numbers) for _ in range(number)):
        place = Place(
            team=TEAM, channel=channel or f"C{each % CHANNELS:03}", thread=f"{1_700_000_000 + each}.000100"
        )
        found.append(original.but(slug=f"item-{each:06}", incarnation=f"{each:08}", place=place, version=1))
    return found


async def saved(store: RedisStore, roundtables: Sequence[Roundtable]) -> None:
    left = iter(roundtables)

    async def save() -> None:
        for roundtable in left:
            await _put(store, roundtable)

    await asyncio.gather(*(save() for _ in range(min(PUT_AT_ONCE, len(roundtables)))))


def words_for(rt: Roundtable, text: str) -> Payload:
    return message(rt.place.channel, rt.place.thread, text)


def deletion_in(rt: Roundtable) -> Payload:
    """A person deleted a message that we never saw: it is noted, and has no effect."""
    return deletion(rt.place.channel, rt.place.thread)


def press_on(rt: Roundtable, action: str) -> Payload:
    assert rt.menu, "there is an open menu to press"
    choice = next(one for one in rt.menu.message.offered if one.action == action)
    value, ts = value_of(choice, rt.menu.token), rt.stands_at(rt.menu.token)
    return button(rt.place.channel, rt.place.thread, action_id(action), value=value, menu_ts=ts)


async def _put(store: RedisStore, roundtable: Roundtable) -> None:
    """Until it is saved. The store gives Redis half a second, which may be too short; this is not measured."""
    while True:
        try:
            await store.put(roundtable, expected=0)
        except Unavailable:
            continue
        except Conflict:
            return  # it was saved, and only the answer came too late
        else:
            return


@cache
def _vocabulary() -> list[str]:
    pages = (path.read_text(encoding="utf-8") for path in sorted(steps_dir().rglob("*.md")))
    return sorted(word for page in pages for word in page.split() if word.isalpha())
