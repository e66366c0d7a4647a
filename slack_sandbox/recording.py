"""A recorded meeting on the page: what is shown of it, and the buttons that play, pause and step it."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from contextlib import suppress
from enum import StrEnum
from typing import Any

from slack_sandbox.messages import JSON
from slack_sandbox.rules.refusal import SlackRefused

CHARACTERS_A_SECOND = 20.0
SHORTEST_SECONDS, LONGEST_SECONDS = 1.5, 7.0


class RecordingState(StrEnum):
    OFFERED = "offered"
    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"
    FAILED = "failed"


class Recording:
    """
    *play* plays the meeting once; before each thing that happens it calls `turn`, which waits as long as people read.
    With *at_once* the first page that is opened starts it.
    """

    def __init__(
        self,
        title: str,
        play: Callable[["Recording"], Coroutine[Any, Any, None]],
        *,
        at_once: bool = False,
        characters_a_second: float = CHARACTERS_A_SECOND,
    ) -> None:
        self.title = title
        self.at_once = at_once
        self.state = RecordingState.OFFERED
        self.watcher: Callable[[], None] = lambda: None
        self._play = play
        self._speed = characters_a_second
        self._place: JSON = {}
        self._said: set[str] = set()
        self._sentence = ""
        self._last = ""
        self._stepped = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def as_json(self) -> JSON:
        """*said* are messages of the people in the file; *last* is the last message of all that is recorded."""
        return {
            "title": self.title,
            "state": self.state,
            "sentence": self._sentence,
            **self._place,
            "said": sorted(self._said),
            "last": self._last,
        }

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
        elif button == "step" and state in {RecordingState.PLAYING, RecordingState.PAUSED}:
            self._stepped = True
            self._show(RecordingState.PAUSED)
        else:
            raise SlackRefused("recording_is_over" if self._is_over else "not_possible_now")

    async def aclose(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    # What the player tells

    async def turn(self, words: str) -> None:
        """Returns when people have read *words*, which are shown, or press a button for the next thing."""
        shortest = 0 if math.isinf(self._speed) else SHORTEST_SECONDS
        seconds = min(max(len(words) / self._speed, shortest), LONGEST_SECONDS)
        while not self._stepped:
            self._changed.clear()
            if self.state is RecordingState.PAUSED:
                await self._changed.wait()
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
                continue
            break
        self._stepped = False

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

    @property
    def _is_over(self) -> bool:
        return self.state in {RecordingState.ENDED, RecordingState.FAILED}

    def _show(self, state: RecordingState) -> None:
        self.state = state
        self._changed.set()
        self.watcher()
