"""
Takes out what is older than ROUNDTABLE_RETENTION keeps it: at night by the bot, or by `roundtable forget expired`.

An age counts from the last line of a person. What a person wrote since the last commit is newer than that, so such an
item is left alone. Where something is on its way, it is done later.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Retention, is_over
from bot.domain.item.item_paths import TRANSCRIPT
from bot.domain.privacy.redaction import MARK
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript import lines as transcripts
from bot.domain.transcript.forgetting import REMOVED, Forgetting, ForgottenFiles
from bot.domain.transcript.lines import Line, Source
from bot.domain.transcript.people import Names
from bot.domain.transcript.seal import Sealer
from bot.domain.values.timestamps import before
from bot.engine import audit
from bot.engine.ports import Clock
from bot.errors import BotError, Conflict
from bot.record.rewritten import Rewriting, place_of, without_item
from bot.storage.git.erasing import Forgetter, Found
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore

MOST_ITEMS = 20
"""At a time: a first setting may be about years."""
HOUR, A_DAY = 3, 24 * 3600
LOOK_SECONDS, AGAIN_SECONDS, OWNER_SECONDS = 60.0, 600.0, 1.0
BY_THE_BOT = "retention"

log = logging.getLogger(__name__)


class Expired(NamedTuple):
    """The items that are removed, those whose words are taken out, and those for which something is on its way."""

    items: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()


class Expiry:
    def __init__(
        self,
        kept: Retention,
        git: Forgetter,
        store: SqliteStore | RedisStore | None,
        *,
        playbook: Playbook,
        sealer: Sealer,
        clock: Clock,
    ) -> None:
        self._kept, self._git, self._store = kept, git, store
        self._playbook, self._sealer, self._clock = playbook, sealer, clock
        self._not_before = 0.0

    async def watch(self, is_owner: Callable[[], bool]) -> None:
        """
        Until cancelled, each night, or soon after it was missed or failed. Two clones that both did it would have
        different lines, and diverge.
        """
        while True:
            if is_owner() and time.monotonic() >= self._not_before:
                # also after a mistake of ours, which ends this task
                self._not_before = time.monotonic() + AGAIN_SECONDS
                try:
                    if await self._run_of_night():
                        self._not_before = 0.0
                except (BotError, OSError) as error:
                    log.warning("what is older than ROUNDTABLE_RETENTION says is taken out later: %s", error)
            pause = LOOK_SECONDS if is_owner() else OWNER_SECONDS
            await asyncio.sleep(min(pause, seconds_until(HOUR, self._clock())))

    async def is_due(self) -> bool:
        """The last night's run is not done, or no night is noted yet: the first one is the next."""
        assert self._store, "a bot has one"
        return await self._store.noted("expired") < last_night(self._clock())

    async def _run_of_night(self) -> bool:
        """False where it has to be done again, for what was busy: a bot that starts reads its threads first."""
        assert self._store, "a bot has one"
        at = self._clock()
        if not await self.is_due():
            return True
        if await self._store.noted("expired") and (await self.run()).busy:
            return False
        await self._store.note("expired", at)
        return True

    async def due(self) -> Expired:
        """What `run` would take out."""
        items, words, busy = list[str](), list[str](), list[str]()
        if self._kept.words is None and self._kept.item is None:
            return Expired()
        for slug in self._git.slugs():
            if len(items) + len(words) >= MOST_ITEMS:
                break
            rt = await self._state(slug)
            if rt and _has_new_words(rt):
                continue
            match self._what_is_over(await asyncio.to_thread(self._git.item_files, slug)):
                case "item" | "words" if rt and rt.pending:
                    busy.append(slug)
                case "item":
                    items.append(slug)
                case "words":
                    words.append(slug)
        return Expired(tuple(items), tuple(words), tuple(busy))

    def _what_is_over(self, found: Found) -> Literal["", "item", "words"]:
        last, now = last_said(found), self._clock()
        if last and is_over(self._kept.item, last, now):
            return "item"
        return "words" if last and is_over(self._kept.words, last, now) and any(speakers(found)) else ""

    async def run(self) -> Expired:
        if self._store and self._kept.state is not None:
            await self._store.forget_finished(before(self._clock(), self._kept.state * A_DAY))
        due = await self.due()
        items = [slug for slug in due.items if await self._without_item(slug)]
        words = [slug for slug in due.words if await self._without_all_words(slug)]
        if gone := [*items, *words]:
            audit.forgot("forget.expired", items=len(gone), what=", ".join(gone), by=BY_THE_BOT)
        late = tuple(slug for slug in (*due.items, *due.words) if slug not in gone)
        return Expired(tuple(items), tuple(words), (*due.busy, *late))

    async def _without_item(self, slug: str) -> bool:
        shared = without_item(self._git.item_files(slug), slug, self._playbook)
        if is_due := await self._drop_state(slug, "item"):
            await asyncio.to_thread(self._git.item, slug, shared, now=self._clock())
        return is_due

    async def _without_all_words(self, slug: str) -> bool:
        if is_due := await self._drop_state(slug, "words"):
            for person in dict.fromkeys(speakers(self._git.item_files(slug))):
                await asyncio.to_thread(self._without_words, slug, person)
        return is_due

    def _without_words(self, slug: str, person: str) -> None:
        now = self._clock()
        whom = Forgetting(person, (), now[:10], words=True, is_old=True)

        def rewrite(of: str, found: Found, before: Names, after: Names) -> ForgottenFiles:
            rewriting = Rewriting(
                of, found, whom, before=before, after=after, playbook=self._playbook, sealer=self._sealer
            )
            return rewriting.run(now=now)

        self._git.person(whom, rewrite, now=now, only=(slug,))

    async def _state(self, slug: str) -> Roundtable | None:
        return await self._store.get(slug) if self._store else None

    async def _drop_state(self, slug: str, what: str) -> bool:
        """`resume` takes the item up from git. False where somebody wrote since `due`: then nothing is taken out."""
        rt = await self._state(slug)
        if rt and (rt.pending or _has_new_words(rt)):
            return False
        found = await asyncio.to_thread(self._git.item_files, slug)
        if self._what_is_over(found) != what:
            return False
        try:
            if self._store:
                await self._store.forget_item(slug, place_of(found), expected=rt.version if rt else 0)
        except Conflict:
            return False
        return True


def _has_new_words(rt: Roundtable) -> bool:
    """In no commit yet."""
    return any(one.source is Source.USER for one in rt.lines)


def last_said(found: Found) -> str:
    """When a person last wrote; of an item without words, its last line."""
    every = tuple(_lines(found))
    said = tuple(line for line in every if line.source is Source.USER)
    return max((line.ts for line in said or every), default="")


def speakers(found: Found) -> Iterator[str]:
    """Whose words are there."""
    for line in _lines(found):
        if line.source is Source.USER and line.content not in {"", MARK % REMOVED} and line.person:
            yield line.person


def _lines(found: Found) -> Iterable[Line]:
    return transcripts.read(found.get(TRANSCRIPT, b""))


def last_night(now: str) -> str:
    return before(now, A_DAY - seconds_until(HOUR, now))


def seconds_until(hour: int, now: str) -> float:
    moment = datetime.fromisoformat(now)
    due = moment.replace(hour=hour, minute=0, second=0, microsecond=0)
    return ((due if due > moment else due + timedelta(days=1)) - moment).total_seconds()
