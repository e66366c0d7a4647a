"""Redis has done what it was asked, and its answer got lost: nothing is done twice, however often it is asked again."""

import pytest

from bot.domain.messages.message import Action
from bot.errors import Unavailable
from tests.engine.replica import discussing, holding, said, words
from tests.engine.test_paying import a_post
from tests.storage.proxy import lossy

TIMES = 5


async def test_what_was_said_is_heard_once(redis_url: str) -> None:
    """Slack was not answered, and delivers it again."""
    rt = discussing().rt.but(version=1)
    async with lossy(redis_url) as way, holding(way.url, rt) as one:
        await one.engine.hear(rt.place, said(rt, "first", "1.1"))
        for number in range(TIMES):
            way.lose_answer()
            with pytest.raises(Unavailable):
                await one.engine.hear(rt.place, said(rt, f"word {number}", f"2.{number}"))
            await one.engine.hear(rt.place, said(rt, f"word {number}", f"2.{number}"))

        assert way.lost == TIMES
        assert words(await one.stored(rt)) == ["first", *(f"word {number}" for number in range(TIMES))]


async def test_a_turn_counts_once(redis_url: str) -> None:
    """The counter is a part of what is compared and set; a client that asked again by itself would count two."""
    rt = discussing().do_step().press(Action.ELABORATE).rt.but(version=1)
    assert rt.elaboration
    async with lossy(redis_url) as way, holding(way.url, rt) as one:
        way.lose_answer()
        with pytest.raises(Unavailable):
            await one.engine.hear(rt.place, said(rt, "What about conflicts?", "9.1"))
        await one.engine.hear(rt.place, said(rt, "What about conflicts?", "9.1"))

        stored = await one.stored(rt)
        assert way.lost == 1
        assert stored.elaboration
        assert stored.elaboration.turn_count == rt.elaboration.turn_count + 1


@pytest.mark.parametrize("nth", [1, 2, 3])
async def test_a_post_is_posted_once(redis_url: str, nth: int) -> None:
    """Whichever answer it is: what is owed, that it is begun, or that it is done."""
    rt = discussing().rt.but(outbox=(a_post(1),), version=1)
    async with lossy(redis_url) as way, holding(way.url, rt) as one:
        way.lose_answer(nth)
        with pytest.raises(Unavailable):
            await one.engine.pay(rt.slug)
        await one.engine.pay(rt.slug)

        assert way.lost == 1
        assert (await one.stored(rt)).outbox == ()
        assert [post.key for post in one.world.thread] == ["post.1"]
