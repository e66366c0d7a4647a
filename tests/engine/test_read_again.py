"""Content that changed is used from the next step on, never in the middle of one."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table
from tests.engine.replica import pressed, replica, said


def book(*steps: str) -> Playbook:
    return few_steps(*map(step, steps))


async def test_an_open_step_is_finished_as_it_was_opened(redis_url: str) -> None:
    """Its file is gone meanwhile; people answered its questions."""
    table = Table(book("00-01", "00-02")).start()
    async with replica(redis_url) as one:
        await one.store.put(table.rt.but(version=1), expected=0)
        one.engine.read_again(table.playbook)
        rt = await one.engine.handle(table.rt.slug, said(table.rt, "A few files", table.ts()))
        one.engine.read_again(book("00-02"))
        rt = await one.engine.handle(rt.slug, pressed(rt, Action.FINISH_STEP))

        assert (rt.stage, rt.step_id) == (Stage.WRITING, "00-01")


async def test_the_next_step_is_that_of_the_new_files(redis_url: str) -> None:
    """And stays it, although they change once more."""
    table = Table(book("00-01", "00-04", "00-05")).start().do_step()
    async with replica(redis_url) as one:
        await one.store.put(table.rt.but(version=1), expected=0)
        one.engine.read_again(book("00-01", "00-05"))
        rt = await one.engine.handle(table.rt.slug, pressed(table.rt, Action.CONTINUE))
        assert rt.step_id == "00-05"

        one.engine.read_again(book("00-01"))
        rt = await one.engine.handle(rt.slug, said(rt, "Eight files", table.ts()))
        rt = await one.engine.handle(rt.slug, pressed(rt, Action.FINISH_STEP))
        assert (rt.stage, rt.step_id) == (Stage.WRITING, "00-05")


async def test_an_open_step_that_the_files_do_not_have_is_named(redis_url: str) -> None:
    """After a restart with other files, from the first input on, until somebody skips it."""
    table = Table(book("00-01", "00-02")).start()
    async with replica(redis_url) as one:
        await one.store.put(table.rt.but(version=1), expected=0)
        one.engine.read_again(book("00-02"))
        rt = await one.engine.handle(table.rt.slug, said(table.rt, "A few files", table.ts()))
        assert one.engine.missing_steps() == {"00-01": 1}

        await one.engine.handle(rt.slug, pressed(rt, Action.SKIP_STEP))
        assert one.engine.missing_steps() == {}
