"""
Three people who hold a meeting with a bot that keeps dying, as people would: they look, they wait, they press again.

What they say, they say once: Slack sees to it that it arrives. What they press or type as a command may get lost, and
then they do it again. All choices come from one seed.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from slack_sandbox import Sandbox, SandboxMessage, SandboxPerson
from tests.durability.processes import wait_until
from tests.e2e.meeting import ways
from tests.patience import PATIENCE_SECONDS

CHANNEL = "#roundtable"
AGAIN_SECONDS = 1.5
"""After this a button of which nothing came is pressed again."""
BREAK_SECONDS = 300.0
FEWEST_STEPS, STEPS_THEN = 4, 17
"""There are 24 in all."""
WHO = ("ada", "grace", "linus")
ANSWERS = (
    "Field workers lose their edits when the network goes away",
    "Sync has to be through within 60 seconds for 95% of edits",
    "We decided: the first release keeps photos out of scope",
    "Risk: two people edit one record, likely, high impact",
    "Jordan, what does somebody see who has no network?",
    "Scope: medium. Complexity: high",
)
FINISH, CONTINUE, ELABORATE = "finish_step", "continue", "elaborate"
GO_ON, END, RESUME, CHANGES_NONE = "go_on", "end_elaboration", "resume", "changes_none"
ANY = (FINISH, CONTINUE, END, RESUME)


class Upset(Exception):
    """The meeting was lost and is back, maybe not where it was: whatever was being done is over."""


@dataclass
class Team:
    """
    One thread of theirs. *dying* goes from 0 to 1, when the meeting may end: they have to make their steps last
    until then.
    """

    slack: Sandbox
    title: str
    chance: Random
    dying: Callable[[], float]
    root: str = ""
    lost_until: str = ""
    """The newest stamp when it was back."""
    said: list[str] = field(default_factory=list)
    """Stamps of what people said in the thread."""
    steps: int = 0
    ended: bool = False
    doing: str = ""
    upset: str = ""
    """The newest stamp when the store lost this meeting: whatever menu comes after it is where the meeting is."""

    @property
    def slug(self) -> str:
        return self.title.lower().replace(" ", "-")

    @property
    def thread(self) -> list[SandboxMessage]:
        return self.slack.thread(CHANNEL, self.root) if self.root else []

    async def hold(self) -> None:
        """From the start to the last of some finished steps."""
        with suppress(Upset):
            await self.start()
        while self.dying() < 1:
            with suppress(Upset):
                await self.step()
                await self.break_taken()
        while not self.ended:
            with suppress(Upset):
                await self.acknowledged()
                await self.last_step()

    async def start(self) -> None:
        self.doing = "starting"
        while not self.root:
            await self._person().slash(CHANNEL, f"/roundtable start {self.title}")
            await self._look(self._opened, seconds=AGAIN_SECONDS)
        await self._look(lambda: self._opened() and self._newest(FINISH))

    async def step(self) -> None:
        """On to the next question, answers, sometimes more than that, and the menu."""
        if not self._newest(FINISH):
            await self.press(CONTINUE, FINISH)
        self.doing = "answering"
        for _ in range(self.chance.randrange(4)):
            await self.say()
        await self._perhaps(0.15, self.depth)
        await self._perhaps(0.15, self.pause)
        await self.press(FINISH, CONTINUE, chatter=0.3)
        self.steps += 1
        await self._perhaps(0.3, self.feedback)
        await self._perhaps(0.5, self.elaborate)

    async def break_taken(self) -> None:
        """When they are ahead of the dying."""
        await wait_until(
            lambda: self.dying() >= 1 or self.upset or self.steps < FEWEST_STEPS + STEPS_THEN * self.dying(),
            seconds=BREAK_SECONDS,
            what="the next death",
        )

    async def last_step(self) -> None:
        """Nobody speaks after it, so that all that was said is saved with it."""
        if not self._newest(FINISH):
            await self.press(CONTINUE, FINISH)
        await self.say()
        await self.acknowledged()
        await self.press(FINISH, CONTINUE)
        self.steps += 1
        self.ended = True

    async def depth(self) -> None:
        await self.acknowledged()
        await self.say(self.chance.choice(("deep", "brief please", "standard")))
        await self.acknowledged()
        await self._offered(FINISH)

    async def pause(self) -> None:
        await self.acknowledged()
        mark = await self.say("stop")
        await self._offered(RESUME, after=mark)
        await self.press(RESUME, FINISH)

    async def feedback(self) -> None:
        await self.acknowledged()
        mark = await self.say()
        await self._look(lambda: self.slack.message(mark).reactions)
        await self._offered(CONTINUE)

    async def elaborate(self) -> None:
        """Until somebody ends it, or the turns do."""
        await self.acknowledged()
        await self.press(ELABORATE, END)
        for _ in range(self.chance.randrange(5)):
            await self.say()
            if self.chance.random() < 0.7:
                await self.acknowledged()
                await self._offered(END, CONTINUE)
        await self._offered(END, CONTINUE)
        if self.chance.random() < 0.5:
            await self.let_personas_go_on()
        await self.press(END, CONTINUE)

    # --- doing ----------------------------------------------------------------------------------------------------

    async def say(self, text: str = "") -> str:
        text = text or f"{self.chance.choice(ANSWERS)} ({len(self.said) + 1})"
        self.doing = f"saying {text!r}"
        stamp = await self._person().say(CHANNEL, text, thread_ts=self.root)
        self.said.append(stamp)
        return stamp

    async def press(self, action: str, *then: str, chatter: float = 0.0) -> None:
        """
        Again and again, until it has led to other buttons, one of *then* among them, or somebody else was quicker.
        They stand in a new message, or on the same card.

        *chatter* is how likely it is that somebody speaks at the same time. A `stop` that was said before the store was
        lost may count after it: then they resume.
        """
        self.doing = f"pressing {action}"
        stopped = (RESUME,) if self.lost_until else ()
        menu = await self._offered(action, *then, *stopped)
        before = _offer(menu) if action in ways(menu) else None
        loop = asyncio.get_running_loop()
        until = loop.time() + 2 * PATIENCE_SECONDS

        def led_on() -> bool:
            found = self._newest(*then)
            return found is not None and _offer(found) != before

        while not led_on():
            if loop.time() > until:
                raise TimeoutError(f"{self.slug}: nothing comes of {self.doing}")
            if found := self._newest(action, *stopped):
                offered = ways(found)
                await self._person().press(found, *offered.get(action) or offered[RESUME])
            if self.chance.random() < chatter:
                await self.say()
            await self._look(led_on, seconds=AGAIN_SECONDS)

    async def let_personas_go_on(self) -> None:
        """Once: the card may have the same buttons afterwards, so that people cannot see whether it counted."""
        self.doing = f"pressing {GO_ON}"
        if found := self._newest(GO_ON):
            await self._person().press(found, *ways(found)[GO_ON])

    async def bring_back(self, thread: Callable[[], str]) -> None:
        """Somebody asks for it until the store knows its *thread* again; what had no folder yet is begun anew."""
        wishes = itertools.cycle((f"resume {self.slug}", f"start {self.title}"))
        while not thread():
            await self._person().slash(CHANNEL, f"/roundtable {next(wishes)}")
            with suppress(TimeoutError):
                await wait_until(thread, seconds=AGAIN_SECONDS, what="the roundtable is back")
        if self.root != thread():
            self.root = thread()
            self.said.clear()

    async def acknowledged(self) -> None:
        """Everything that was said has arrived."""
        await wait_until(
            lambda: all(one.acked for one in self.slack.events("message")),
            seconds=PATIENCE_SECONDS,
            what=f"{self.slug}: an acknowledgement of all that was said",
        )

    def thread_menu(self, action: str) -> SandboxMessage:
        found = self._newest(action)
        assert found, f"nobody offers {action}"
        return found

    # --- looking --------------------------------------------------------------------------------------------------

    def _newest(self, *actions: str, after: str = "") -> SandboxMessage | None:
        """
        The newest message in the thread that has buttons, if it offers one of *actions*, also behind ⋯. What a
        decision changes is asked below the card, which stays where the meeting is.
        """
        offers = [one for one in self.thread if one.actions and CHANGES_NONE not in ways(one)]
        if not offers or offers[-1].ts <= after:
            return None
        return offers[-1] if ways(offers[-1]).keys() & set(actions) else None

    async def _offered(self, *actions: str, after: str = "") -> SandboxMessage:
        await self._look(lambda: self._newest(*actions, after=after))
        found = self._newest(*actions, after=after)
        assert found, "it was there when we looked, and nothing came in between"
        return found

    async def _look(self, met: Callable[[], object], *, seconds: float = PATIENCE_SECONDS) -> None:
        """Raises TimeoutError only when people lose patience, not when they would try again."""

        def met_or_upset() -> object:
            if self.upset and self._newest(*ANY, after=self.upset):
                self.upset = ""
                raise Upset
            return met()

        try:
            await wait_until(met_or_upset, seconds=seconds, what=f"{self.slug}: stuck while {self.doing}")
        except TimeoutError:
            if seconds >= PATIENCE_SECONDS:
                raise

    def _opened(self) -> bool:
        roots = [one.ts for one in self.slack.messages(CHANNEL) if self.title in one.text and one.by_bot]
        self.root = roots[-1] if roots else ""
        return bool(self.root)

    async def _perhaps(self, likely: float, deed: Callable[[], Awaitable[None]]) -> None:
        if self.chance.random() < likely:
            await deed()

    def _person(self) -> SandboxPerson:
        return self.slack.person(self.chance.choice(WHO))


def _offer(menu: SandboxMessage) -> tuple[str, tuple[str, ...]]:
    """Where people can press what: a card is edited in place."""
    return menu.ts, tuple(menu.actions)


async def together(teams: list[Team]) -> None:
    async with asyncio.TaskGroup() as meetings:
        for team in teams:
            meetings.create_task(team.hold(), name=team.slug)
