"""All calls of a model for one task, and what they took together."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from bot.domain.catalog.personas import ModelTask
from bot.domain.transcript.lines import RAW, RAW_CHARS
from bot.engine.ports import Facts
from bot.errors import VoiceError
from bot.voices.model import LanguageModel, Prompt, Usage, facts_of
from bot.voices.prompts.tasks import again
from bot.voices.tools.looking import Looker

log = logging.getLogger(__name__)

T = TypeVar("T")

Efforts = Mapping[ModelTask, str]
NO_EFFORTS: Efforts = {}
VOICES = "voices"
"""The reason of an answer that spoke for somebody else."""
ASKED_AGAIN = frozenset({"empty", "cut_off", "refused", "unstructured", VOICES})
"""What may be wrong with an answer. Each is the heading of the sentence in `again.md` for the second attempt."""


class CallLimits(NamedTuple):
    seconds: float
    tokens: int


REVIEWING = CallLimits(60.0, 3_000)


class ModelSession:
    def __init__(
        self,
        mind: LanguageModel,
        allowance: CallLimits,
        task: ModelTask,
        *,
        efforts: Efforts,
        looker: Looker | None = None,
    ) -> None:
        self._mind = mind
        self._allowance = allowance
        self._looker = looker
        self._task, self._effort = task, efforts.get(task, "")
        self._usages: list[Usage] = []
        self._has_tools = True
        self._stopped_looking = False
        self.raw = ""
        """The newest answer."""

    @property
    def facts(self) -> Facts:
        """With what was looked at, also by a model that did not answer."""
        stopped = {"stopped_looking": True} if self._stopped_looking else {}
        return {**facts_of(self._usages), **(self._looker.facts if self._looker else {}), **stopped}

    @property
    def raw_facts(self) -> Facts:
        return {RAW: self.raw[:RAW_CHARS]} if self.raw else {}

    @property
    def looks(self) -> bool:
        return self._looker is not None

    @property
    def shown(self) -> Mapping[str, str]:
        """What a tool showed, by the ids that it is cited by."""
        return self._looker.shown if self._looker else {}

    async def first_search(self, said: str) -> str:
        return await self._looker.first_search(said) if self._looker else ""

    async def only_search(self, said: str) -> str:
        """In place of tools."""
        self._has_tools = False
        return await self.first_search(said)

    async def ask(self, prompt: Prompt, read: Callable[[str], T]) -> T:
        """
        What *read* makes of the answer. After one that cannot be used, for which *read* raises VoiceError, the model is
        asked once more, with what was wrong.

        Raises VoiceError with the facts, without `again`: the chain of models has made all attempts already. A
        cancellation says what was served until then, in its `args`.
        """
        try:
            try:
                return read(await self._answer(prompt))
            except VoiceError as error:
                if error.reason not in ASKED_AGAIN:
                    raise
                log.info("asked once more, because the answer was %s", error.reason)
                return read(await self._answer(again(prompt, error.reason)))
        except VoiceError as error:
            is_read = error.reason in ASKED_AGAIN
            reason = "unstructured" if error.reason == VOICES else error.reason
            facts = {**self.facts, **(self.raw_facts if is_read else {})}
            raise VoiceError(str(error), reason=reason, facts=facts) from None
        except asyncio.CancelledError as cancelled:
            cancelled.args = (self.facts,)
            raise

    async def _answer(self, prompt: Prompt) -> str:
        tools = self._looker if self._has_tools else None
        prompt = prompt._replace(tools=tools, effort=self._effort, served=self._usages, task=self._task)
        before = len(self._usages)
        seconds, tokens = self._allowance
        thought = await self._mind.think(prompt, seconds=seconds, tokens=tokens)
        if len(self._usages) == before:  # a model that only tells what its answer took
            self._usages.append(thought.usage)
        self._stopped_looking |= thought.stopped_looking
        self.raw = thought.text
        return thought.text
