"""A recorded meeting on the page: its caption, its clock, and the buttons that play, pause, skip and end it."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from contextlib import suppress
from enum import StrEnum
from typing import Any

from slack_sandbox.messages import JSON
from slack_sandbox.rules.refusal import SlackRefused


class RecordingState(StrEnum):
    OFFERED = "offered"
    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"
    FAILED = "failed"


RUNNING = frozenset({RecordingState.PLAYING, RecordingState.PAUSED})


class Recording:
    """
    *play* plays the meeting once; before each thing that happens it calls `until`, which waits for its second. With
    *at_once* the first page that is opened starts it. *speed* is how much faster than real time its clock goes.
    """

    def __init__(
        self,
        title: str,
        play: Callable[["Recording"], Coroutine[Any, Any, None]],
        *,
        at_once: bool = False,
        speed: float = 1.0,
    ) -> None:
        self.title = title
        self.at_once = at_once
        self.state = RecordingState.OFFERED
        self.watcher: Callable[[], None] = lambda: None
        self._play = play
        self._speed = speed
        self._second = 0.0
        self._since = 0.0
        """When the clock was at `_second`, in seconds of the loop."""
        self._caption = ""
        self._place: JSON = {}
        self._said: set[str] = set()
        self._sentence = ""
        self._last = ""
        self._skips = False
        self._can_skip = True
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def as_json(self) -> JSON:
        """*said* are messages of the people in the file; *last* is the last message of all that is recorded."""
        return {
            "title": self.title,
            "state": self.state,
            "sentence": self._sentence,
            "caption": self._caption,
            "can_skip": self._can_skip,
            **self._place,
            "said": sorted(self._said),
            "last": self._last,
        }

    @property
    def second(self) -> float:
        """Of the meeting. A paused clock stands."""
        if self.state is not RecordingState.PLAYING or math.isinf(self._speed):
            return self._second
        return self._second + self._speed * (asyncio.get_running_loop().time() - self._since)

    # What people press

    def press(self, button: str) -> None:
        """Raises SlackRefused for what the page does not offer now."""
        state = self.state
        if button == "play" and state is RecordingState.OFFERED:
            self._task = asyncio.create_task(self._play(self))
            self._show(RecordingState.PLAYING)
        elif button == "play" and state is RecordingState.PAUSED:
            self._show(RecordingState.PLAYING)
        elif button == "pause" and state is RecordingState.PLAYING:
            self._show(RecordingState.PAUSED)
        elif button == "skip" and state in RUNNING and self._can_skip:
            self._skips = True
            self._show(RecordingState.PLAYING)
        elif button == "now_you" and state in RUNNING and self._task:
            self._task.cancel()
        else:
            is_over = state in {RecordingState.ENDED, RecordingState.FAILED}
            raise SlackRefused("recording_is_over" if is_over else "not_possible_now")

    async def aclose(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    # What the player tells

    async def until(self, second: float) -> None:
        """Returns when the clock is there, or at once while people skip."""
        while not self._skips:
            self._changed.clear()
            if self.state is RecordingState.PAUSED:
                await self._changed.wait()
                continue
            seconds = (second - self.second) / self._speed
            if seconds <= 0:
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        if self.second < second:
            self._set(second)

    def skipped(self) -> None:
        """Here ends what people skip."""
        self._skips = self._can_skip = False
        self.watcher()

    def caption(self, words: str) -> None:
        """Stays until the next one."""
        self._caption = words
        self.watcher()

    def opened(self, channel: str, thread_ts: str) -> None:
        """The thread in which it is played."""
        self._place = {"channel": channel, "thread": thread_ts}
        self.watcher()

    def said(self, ts: str) -> None:
        """By a person of the file."""
        self._said.add(ts)
        self.watcher()

    def ended(self, last: str, sentence: str = "") -> None:
        """What comes after the message *last* is not recorded. With a *sentence*, it ended too early: it says why."""
        self._last, self._sentence = last, sentence
        self._show(RecordingState.FAILED if sentence else RecordingState.ENDED)

    def _set(self, second: float) -> None:
        self._second, self._since = second, asyncio.get_running_loop().time()

    def _show(self, state: RecordingState) -> None:
        self._set(self.second)
        self.state = state
        self._changed.set()
        self.watcher()
