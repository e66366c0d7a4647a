"""What Slack shows of our work lasts as long as the work does."""

import asyncio
from dataclasses import dataclass, field

from bot.domain.roundtable.effects import WorkIndicator
from bot.domain.values.places import Place
from bot.engine.performers import renewed
from bot.errors import SlackError
from tests.domain.table import Table
from tests.durability.world import SimChat, World

SOON = 0.001


@dataclass
class Showing(SimChat):
    """Counts how often it was told to show words; from *refuses* on it does not."""

    refuses: int = 1_000
    words: list[str] = field(default_factory=list)
    thrice: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        super().__init__(World())

    async def show(self, place: Place, sign: WorkIndicator, words: str) -> None:  # noqa: ARG002 -- as the port has it
        self.words.append(words)
        if len(self.words) >= 3:
            self.thrice.set()
        if len(self.words) >= self.refuses:
            raise SlackError("No.", reason="missing_scope")


def working(by: WorkIndicator) -> Table:
    table = Table().start()
    table.rt = table.rt.but(working_at=table.rt.place.thread, working_by=by)
    return table


async def test_words_are_shown_again_before_slack_takes_them_away() -> None:
    """As often as it takes, and not once more when the work is done."""
    chat = Showing()
    async with renewed(chat, working(WorkIndicator.STATUS).rt, "is thinking…", seconds=SOON):
        await chat.thrice.wait()
    count = len(chat.words)
    for _ in range(10):
        await asyncio.sleep(0)

    assert set(chat.words) == {"is thinking…"}
    assert len(chat.words) == count


async def test_what_lasts_by_itself_is_shown_once() -> None:
    """An emoji, and the session of an agent; and where nothing is shown, nothing is renewed."""
    chat = Showing()
    for rt in (working(WorkIndicator.REACTION).rt, working(WorkIndicator.SESSION).rt, Table().start().rt):
        async with renewed(chat, rt, "is thinking…", seconds=0):
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    assert chat.words == []


async def test_a_refusal_does_not_disturb_whoever_works() -> None:
    """Somebody took the scope away: the answer comes all the same."""
    chat = Showing(refuses=3)
    async with renewed(chat, working(WorkIndicator.STATUS).rt, "is thinking…", seconds=SOON):
        await chat.thrice.wait()
        await asyncio.sleep(0)

    assert len(chat.words) == 3
