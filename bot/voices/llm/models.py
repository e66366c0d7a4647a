"""
The configured models: the common chain, and those of single personas.

No library for models is imported by this module, nor by those it imports. Where a model is configured, that is done
in a thread while the bot starts; a call before it is done waits for it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from bot.domain.catalog.personas import Chain, ModelName
from bot.errors import ConfigError, VoiceError
from bot.keys import Keys
from bot.voices.llm.chain import ModelChain, ModelLink, ProviderGate
from bot.voices.llm.providers import PROVIDERS, account, missing
from bot.voices.model import LanguageModel, ModelMeter, Prompt, Toolbox

if TYPE_CHECKING:
    from bot.voices.llm.loading import Loaded

GREETING = Prompt((), "Answer with the one word: yes.")
GREETING_SECONDS = 30.0
GREETING_TOKENS = 16
ANSWERED = frozenset({"cut_off", "empty", "refused"})
"""Failures of an answer: the model can be reached, and accepts the key."""
UNUSABLE = "cannot be used: what it needs is not installed as it should be."

log = logging.getLogger(__name__)


class ModelRegistry:
    """*loading* gives the clients of all configured models; None when there are none."""

    def __init__(
        self,
        common: Chain,
        keys: Keys,
        loading: "asyncio.Future[Loaded] | None",
        *,
        names: Iterable[ModelName],
        seconds: float,
        calls: int,
        meter: ModelMeter,
    ) -> None:
        self._common = common
        self._keys = keys
        self._loading = loading
        self._names = names
        self._seconds = seconds
        self._calls = calls
        self._meter = meter
        self._gates: dict[tuple[str, str], ProviderGate] = {}
        self._links: dict[ModelName, ModelLink] = {}

    def of(self, model: str = "") -> LanguageModel | None:
        """
        The chain of a persona whose front matter says *model*: its own models, then the common ones. None for a persona
        that speaks without a model.
        """
        own = Chain.read(model)
        names = own.names
        if not model or (names and not own.offline):
            names = tuple(dict.fromkeys((*names, *self._common.names)))
        return ModelChain(tuple(map(self._link, names))) if names else None

    async def greeted(self, tools: Toolbox | None = None) -> Mapping[ModelName, str]:
        """For each model why it does not answer a short question; empty where it does. *tools* are offered with it."""
        names = tuple(self._names)
        prompt = GREETING._replace(tools=tools)
        answers = await asyncio.gather(*(self._greeted(self._link(name), prompt) for name in names))
        return dict(zip(names, answers, strict=True))

    async def without_tools(self) -> tuple[str, ...]:
        """A sentence for each model that does not take all tools."""
        callers = (await self._loading).callers.values() if self._loading else ()
        return tuple(filter(None, (one.forms.sentence for one in callers)))

    async def _greeted(self, link: ModelLink, prompt: Prompt) -> str:
        try:
            await link.think(prompt, seconds=GREETING_SECONDS, tokens=GREETING_TOKENS)
        except VoiceError as error:
            return "" if error.reason in ANSWERED else str(error)
        return ""

    def _link(self, name: ModelName) -> ModelLink:
        if name not in self._links:
            where = PROVIDERS[name.provider].extra, account(name, self._keys, seconds=self._seconds).address
            gate = self._gates.setdefault(where, ProviderGate(self._calls))

            async def mind() -> LanguageModel:
                return await self._loaded(name)

            self._links[name] = ModelLink(name, mind, gate, seconds=self._seconds, meter=self._meter)
        return self._links[name]

    async def _loaded(self, name: ModelName) -> LanguageModel:
        assert self._loading, "every model was known when the loading began"
        try:
            loaded = await asyncio.shield(self._loading)
        except ImportError:
            raise VoiceError(f"{name} {UNUSABLE}", reason="unavailable") from None
        if caller := loaded.callers.get(name):
            return caller
        raise VoiceError(loaded.broken[name], reason="unavailable")


@asynccontextmanager
async def model_registry(
    model: str,
    keys: Keys,
    *,
    personas: Iterable[str] = (),
    seconds: float,
    calls: int,
    meter: ModelMeter | None = None,
) -> AsyncIterator[ModelRegistry]:
    """
    *model* is the setting's, *personas* are the models of single personas.

    Raises ConfigError with a sentence for everything that is missing.
    """
    common = Chain.read(model)
    own = (name for one in personas for name in Chain.read(one).names)
    names = tuple(dict.fromkeys((*common.names, *own)))
    if problems := tuple(missing(names, keys)):
        raise ConfigError(" ".join(problems))
    meter = meter or ModelMeter()
    for name in names:
        meter.configured(*name)
    loading = asyncio.ensure_future(_load(names, keys, seconds)) if names else None
    try:
        yield ModelRegistry(common, keys, loading, names=names, seconds=seconds, calls=calls, meter=meter)
    finally:
        if loading:
            with suppress(ImportError):
                await (await loading).close()


async def _load(names: tuple[ModelName, ...], keys: Keys, seconds: float) -> "Loaded":
    try:
        loaded = await asyncio.to_thread(_imported, names, keys, seconds)
    except ImportError as error:
        log.error("no model %s: %s", UNUSABLE, error)  # noqa: TRY400 -- the error names what is missing
        raise
    for sentence in loaded.broken.values():
        log.error("%s", sentence)
    return loaded


def _imported(names: tuple[ModelName, ...], keys: Keys, seconds: float) -> "Loaded":
    from bot.voices.llm.loading import load  # noqa: PLC0415 -- takes seconds

    return load(names, keys, seconds=seconds)
