"""A team that also plans: at the menu of a step somebody calls the workshop, and afterwards the meeting goes on."""

from functools import partial

from tests.durability.team import AGAIN_SECONDS, CHANNEL, CONTINUE, Team

SKIP, STRAIGHT, ROUND, HOLD, LEAVE, REDO = (
    "plan_skip", "plan_straight", "plan_round", "plan_hold", "plan_leave", "plan_redo",
)  # fmt: skip
ANYWHERE = (SKIP, ROUND, LEAVE)
"""Every menu of a workshop offers one of these."""


class Planners(Team):
    workshops = 0
    """That came to an end."""

    async def elaborate(self) -> None:
        """Half of the time they plan instead."""
        if self.chance.random() < 0.5:
            return await super().elaborate()
        await self.acknowledged()
        await self._called()
        if self._newest(SKIP):
            await self._asked()
        if self._newest(ROUND):
            await self.press(ROUND, ROUND)
            await self.press(HOLD, LEAVE)
        await self.press(LEAVE, CONTINUE)
        self.workshops += 1
        return None

    async def _called(self) -> None:
        """Again, when nothing seems to come of it; the menu that was open is not the workshop's."""
        self.doing = "calling the workshop"
        while not self._newest(*ANYWHERE):
            await self._person().mention(CHANNEL, "plan", thread_ts=self.root)
            await self._look(lambda: self._newest(*ANYWHERE), seconds=AGAIN_SECONDS)
        await self.acknowledged()
        await self._offered(*ANYWHERE)

    def _says_more_than(self, before: str) -> bool:
        """The card of the workshop is edited in place."""
        found = self._newest(*ANYWHERE)
        return found is not None and found.text != before

    async def _asked(self) -> None:
        """Some answers, then the plan, sometimes twice, or the round that follows the last answer."""
        for _ in range(self.chance.randrange(3)):
            if self._newest(SKIP):
                await self.acknowledged()
                asked = (await self._offered(*ANYWHERE)).text
                await self.say()
                await self._look(partial(self._says_more_than, asked))
        if self._newest(STRAIGHT) and self.chance.random() < 0.7:
            await self.press(STRAIGHT, LEAVE)
            if self.chance.random() < 0.3:
                await self.press(REDO, *ANYWHERE)
        while self._newest(SKIP):
            await self.press(SKIP, *ANYWHERE)
