"""`plan`, as people ask for it: on an item that is running, on one that only git knows, or on something new."""

from bot.domain.inputs import Plan, Start
from bot.domain.item import Item, item_from
from bot.domain.place import Place
from bot.domain.roundtable import Roundtable
from bot.engine import answers
from bot.engine.desk import FrontDesk, Reply, is_outside
from bot.engine.homes import folder_of, item_in
from bot.engine.sight import only_one
from bot.errors import UserError


class PlanningDesk(FrontDesk):
    async def plan(self, plan: Plan, reference: str) -> Reply:
        """A *reference* of several words that names no item is the brief of a new one."""
        slug = await self._planned(plan, reference)
        if slug is None:
            return await self._planned_anew(plan, reference)
        rt = await self._store.get(slug)
        if rt is None or not rt.place.thread:
            self._may_open(plan)
            return await self._taken_up_to_plan(plan, slug, rt)
        await self._engine.handle(slug, plan)
        asked_there = (plan.place.channel, plan.place.thread) == (rt.place.channel, rt.place.thread)
        return None if asked_there else answers.planned_there(rt)

    async def _planned(self, plan: Plan, reference: str) -> str | None:
        """None for a brief. Raises UserError when nobody can know what is meant."""
        place = plan.place
        if not reference.strip():
            return await self._slug(place, "", plan.person) or await self._only_one(place)
        found = await self._sight.matching(place, reference, near=is_outside(plan.person))
        is_brief = not found and len(reference.split()) > 1
        return None if is_brief else only_one(found, reference)

    async def _only_one(self, place: Place) -> str:
        live = await self._live(place)
        if len(live) != 1:
            raise UserError(answers.say_what_to_plan(len(live)))
        return live[0].slug

    async def _planned_anew(self, plan: Plan, brief: str) -> Reply:
        if plan.place.thread and (there := await self._store.at(plan.place)):
            return answers.plan_what(there)
        return await self.start(_start(plan, item_from(brief)).but(brief=brief.strip()))

    async def _taken_up_to_plan(self, plan: Plan, slug: str, rt: Roundtable | None) -> Reply:
        if rt:
            await self._engine.handle(slug, _start(plan, rt.item))
            return None
        listed = await folder_of(self._workspace, slug)
        if listed is None:
            raise UserError(answers.no_such_item(slug))
        taken = await self._engine_takes_up(_start(plan, item_in(listed)), listed)
        asked_there = taken.place.thread in {"", plan.place.thread}
        return None if asked_there else answers.taken_up(taken)


def _start(plan: Plan, item: Item) -> Start:
    return Start(
        key=plan.key,
        at=plan.at,
        item=item,
        place=plan.place,
        person=plan.person,
        room=plan.room,
        reply_url=plan.reply_url,
        planning=True,
    )
