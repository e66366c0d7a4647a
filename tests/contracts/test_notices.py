"""What every place promises that notices are kept in."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bot.domain.reviews.notice import Notice, ReviewEntry, ShowNotice
from bot.engine.review_ports import Notices
from bot.errors import Conflict, NewerVersion, Unavailable
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore
from tests.contracts.conftest import Opening as StoreOpening
from tests.redis_server import RedisServer

Opening = Callable[[], AbstractAsyncContextManager[Notices]]
ENTRY = ReviewEntry(number=1, path="reviews/review-001.md", line="REVIEW: metadata unavailable")
NOTICE = Notice(slug="offline-sync", title="Offline – sync", version=1, entries=(ENTRY,)).queueing(
    ShowNotice()
)


@pytest.fixture
def open_notices(open_store: StoreOpening) -> Opening:
    """Opens the same place again and again, as a process does that is started again."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Notices]:
        async with open_store() as store:
            yield store.notices

    return opened


@pytest.fixture
async def notices(open_notices: Opening) -> AsyncIterator[Notices]:
    async with open_notices() as opened:
        yield opened


async def test_what_is_saved_is_there_for_the_next_process(open_notices: Opening) -> None:
    """Whole, with what it owes."""
    async with open_notices() as first:
        await first.put(NOTICE, expected=0)
    async with open_notices() as second:
        assert await second.get(NOTICE.slug) == NOTICE
        assert await second.unfinished() == (NOTICE.slug,)


async def test_nobody_is_nothing(notices: Notices) -> None:
    """An item without reviews has no notice, and owes nothing."""
    assert await notices.get("nobody") is None
    assert await notices.unfinished() == ()


async def test_of_two_who_saw_the_same_one_saves(notices: Notices) -> None:
    """The other is told, and decides again."""
    await notices.put(NOTICE, expected=0)
    later = NOTICE.but(version=2)
    answers = await asyncio.gather(
        *(notices.put(later.but(title=title), expected=1) for title in "ab"), return_exceptions=True
    )

    assert [type(answer) for answer in answers if answer is not None] == [Conflict]
    with pytest.raises(Conflict):
        await notices.put(NOTICE, expected=0)


async def test_who_owes_nothing_any_more_is_not_listed(notices: Notices) -> None:
    """Until something is owed again."""
    await notices.put(NOTICE, expected=0)
    await notices.put(NOTICE.but(version=2, outbox=()), expected=1)
    assert await notices.unfinished() == ()

    await notices.put(NOTICE.but(version=3), expected=2)
    assert await notices.unfinished() == (NOTICE.slug,)


async def test_a_notice_from_before_is_read(notices: Notices) -> None:
    """Fields that came later have their defaults, and strangers are let through."""
    old = Notice.model_validate({"slug": "offline-sync", "version": 1, "a_later_field": 1})
    await notices.put(old, expected=0)

    assert await notices.get("offline-sync") == Notice(slug="offline-sync", version=1)


async def test_a_redis_that_is_away_says_so(redis_url: str, redis_server: RedisServer) -> None:
    """Nothing is taken then, so that whoever asks is told to try again."""
    async with RedisStore(redis_url, team="T1") as store:
        redis_server.stop()
        with pytest.raises(Unavailable):
            await store.notices.get("offline-sync")


async def test_what_a_newer_version_saved_is_not_begun_anew(open_notices: Opening) -> None:
    """With a kind of effect that only that version knows: it is left as it is."""
    async with open_notices() as newer:
        await newer.put(NOTICE.but(shape=2), expected=0)
    async with open_notices() as opened:
        for _ in range(2):
            with pytest.raises(NewerVersion, match="'offline-sync' was saved by a later version"):
                await opened.get("offline-sync")
        with pytest.raises(Conflict):
            await opened.put(NOTICE, expected=0)


async def test_an_unknown_kind_of_effect_is_no_damage(tmp_path: Path) -> None:
    """Nor is it lost, as what is torn is."""
    async with SqliteStore(tmp_path) as store:
        await store.notices.put(NOTICE, expected=0)
        unknown = json.dumps(NOTICE.model_dump() | {"outbox": [{"kind": "send_a_postcard"}]})
        await store.rows("UPDATE notices SET state = ?", unknown)
        with pytest.raises(NewerVersion):
            await store.notices.get("offline-sync")
        assert await store.rows("SELECT state FROM notices") == [(unknown,)]


async def test_what_cannot_be_read_is_as_good_as_lost(tmp_path: Path) -> None:
    """Git has the reviews, and Slack the message."""
    async with SqliteStore(tmp_path) as store:
        await store.notices.put(NOTICE, expected=0)
        await store.rows("UPDATE notices SET state = '{'")
        assert await store.notices.get("offline-sync") is None
        await store.notices.put(NOTICE, expected=0)
