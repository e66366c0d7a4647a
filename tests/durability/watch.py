"""What must hold at every moment, not only at the end: looked at again and again while bots die."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import redis

from bot.domain.discussion.elaboration import Elaboration
from bot.domain.transcript.lines import read
from tests import stored
from tests.durability.checks import Item
from tests.durability.processes import wait_until

ORDEAL_SECONDS = 3600
LOOK_SECONDS = 0.03


class Watch:
    def __init__(self, workspace: Path, redis_url: str, slugs: tuple[str, ...]) -> None:
        self._items = [Item(workspace, slug) for slug in slugs]
        self._workspace = workspace
        self._redis = redis.Redis.from_url(redis_url) if redis_url else None
        self._rounds: dict[str, int] = {}
        self._seen: dict[Path, int] = {}
        self.wrong: list[str] = []

    async def run(self) -> None:
        try:
            await wait_until(self.look, seconds=ORDEAL_SECONDS, what="the end", every=LOOK_SECONDS)
        finally:
            if self._redis:
                self._redis.close()

    def look(self) -> None:
        for sentence in self._wrong():
            if sentence not in self.wrong:
                self.wrong.append(sentence)

    def saves(self) -> object:
        """Something that differs after every save."""
        if self._redis is None:
            return [stored.version_in_file(self._workspace, item.slug) for item in self._items]
        return [self._redis.hget(stored.key(item.slug), "version") for item in self._items]

    def thread(self, slug: str) -> str:
        """Where the store says it is held; empty when it does not know."""
        found = next(self._stored(item) for item in self._items if item.slug == slug)
        return str(found.get("place", {}).get("thread", ""))

    def queueing(self) -> list[str]:
        return [item.slug for item in self._items if self._stored(item).get("outbox")]

    def goes_back(self) -> None:
        """Transcripts are shorter from now on, until the next commit of their item."""
        self._rounds.clear()

    def _wrong(self) -> Iterator[str]:
        for item in self._items:
            meta = item.folder / "meta.json"
            if self._changed(meta):
                yield from self._torn(item, meta)
            planning = item.folder / "planning" / "meeting.jsonl"
            if self._changed(planning):
                yield from self._backwards(item, planning)
            yield from self._too_many_turns(item)

    def _torn(self, item: Item, meta: Path) -> Iterator[str]:
        try:
            json.loads(meta.read_text(encoding="utf-8"))
        except (ValueError, FileNotFoundError) as error:
            yield f"meta.json of {item.slug} is torn: {error}"

    def _backwards(self, item: Item, planning: Path) -> Iterator[str]:
        try:
            last = max((line.round for line in read(planning.read_bytes())), default=0)
        except FileNotFoundError:
            last = 0
        before = self._rounds.get(item.slug, 0)
        self._rounds[item.slug] = max(last, before)
        if last < before:
            yield f"{item.slug} went back from round {before} to {last}"

    def _too_many_turns(self, item: Item) -> Iterator[str]:
        stored = self._stored(item).get("elaboration")
        debate = Elaboration.model_validate(stored) if stored else None
        if debate and debate.turns_used > debate.max_turns:
            yield f"{item.slug} used {debate.turns_used} turns, and may use {debate.max_turns}"

    def _stored(self, item: Item) -> Mapping[str, Any]:
        """The live roundtable, as its store has it."""
        if self._redis is not None:
            return stored.in_redis(self._redis, item.slug)
        return stored.in_file(self._workspace, item.slug)

    def _changed(self, file: Path) -> bool:
        try:
            status = file.stat()
        except FileNotFoundError:
            return False
        stamp = status.st_mtime_ns ^ status.st_ino
        changed = self._seen.get(file) != stamp
        self._seen[file] = stamp
        return changed
