"""
The interface between prompts and models: one call of a model, of any provider.

Code that makes prompts knows no provider, and code that calls providers knows no roundtable.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from bot.domain.catalog.budget import ABOUT
from bot.domain.catalog.personas import SERVERS
from bot.domain.privacy.redaction import Redact
from bot.engine.evidence_ports import Passage
from bot.engine.ports import Facts


class Tool(NamedTuple):
    """Something to look with. *parameters* are a JSON schema; *area* is what of a persona's `looks_at` allows it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    area: str = ""

    @property
    def is_foreign(self) -> bool:
        """Whether it belongs to a server of others."""
        return self.area.startswith(f"{SERVERS}:")


class Look(NamedTuple):
    """One use of a tool: what it was asked for, and the ids of what was shown."""

    tool: str
    asked: str
    ids: tuple[str, ...]


class Toolbox(Protocol):
    """Tools of one turn. They only read, and a call never fails: the result may be a sentence about why not."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    async def look(self, name: str, given: Mapping[str, Any], /) -> str: ...

    async def first_look(self) -> str:
        """What a model that cannot call tools is shown instead; may be empty."""
        ...


class ServerReport(NamedTuple):
    """*used* are the tools that personas get, *offered* all that it has; *sentence* is why it cannot be asked."""

    name: str
    used: tuple[str, ...]
    offered: tuple[str, ...]
    sentence: str


class ForeignTools(Protocol):
    """Tools of servers, which may come and go."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    async def settled(self) -> tuple[ServerReport, ...]:
        """As soon as each server is connected, or could not be."""
        ...

    async def ask(self, name: str, given: Mapping[str, Any], /) -> Passage:
        """Raises LookRefused, within a bounded time."""
        ...


class AnswerSchema(NamedTuple):
    """The form of an answer, as a JSON schema for providers that hold a model to it."""

    name: str
    form: Mapping[str, Any]


class Prompt(NamedTuple):
    """
    *stable* parts come first, the one that changes least at the beginning. They are the same to the byte from turn to
    turn, so that a provider can cache them; *moving* is what is new. *effort* is how much the model thinks first, in
    the words of the setting; empty is the model's own. What is served for it is added to *served*, also by a model that
    gives no usable answer. *schema* is that of the answer, if it is data; *task* is what it is counted as.
    """

    stable: tuple[str, ...]
    moving: str
    tools: Toolbox | None = None
    effort: str = ""
    served: "list[Usage] | None" = None
    schema: AnswerSchema | None = None
    task: str = ""


class Usage(NamedTuple):
    """
    What a call took. Tokens are None when they are unknown, *about* when the provider did not report them and they are
    estimated; *dollars* is None when the price is unknown. *tokens_cached* are part of *tokens_in*.
    """

    provider: str
    model: str
    seconds: float
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    dollars: Decimal | None = None
    finish_reason: str = ""
    about: bool = False


class ModelMeter:
    """What counts what models take; this one does not. Every call returns at once, and names are the settings'."""

    def configured(self, provider: str, model: str) -> None:
        """So that its numbers begin at zero."""

    def called(
        self, provider: str, model: str, outcome: str, *, task: str, seconds: float, usages: Sequence[Usage]
    ) -> None:
        """*outcome* is `ANSWERED`, `CANCELLED` or the reason of a VoiceError; *usages* are what was reported."""


ANSWERED, CANCELLED = "answered", "cancelled"


class Completion(NamedTuple):
    """*stopped_looking*: the model wanted to look at more."""

    text: str
    usage: Usage
    stopped_looking: bool = False


class LanguageModel(Protocol):
    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        """
        An answer of at most *tokens*, within *seconds* for one attempt.

        Raises VoiceError; `reason` is "timeout", "unavailable", "refused" (by the model), "context" (the prompt is
        too long), "empty", "cut_off" (the answer was), or "denied" (our key); `again` as for every EffectError.
        """
        ...


# Secrets are redacted from every prompt before it is sent.


_EDGE = re.compile(r"(^(?:<<<|>>>)[0-9a-f]+.*$)", re.MULTILINE)
"""A line that begins or ends material (`prompts/fencing.py`), or looks like one."""


class RedactingModel(LanguageModel):
    """
    Needed because prompts contain files of the workspace, which are not redacted. The same text is always redacted in
    the same way, so a provider's cache of the stable parts stays valid.
    """

    def __init__(self, mind: LanguageModel, redact: Redact) -> None:
        self._mind = mind
        self._redact = redact

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        stable, moving = tuple(map(self._hidden, prompt.stable)), self._hidden(prompt.moving)
        told = prompt._replace(stable=stable, moving=moving)
        thought = await self._mind.think(told, seconds=seconds, tokens=tokens)
        return thought._replace(text=self._redact(thought.text))

    def _hidden(self, text: str) -> str:
        """Piece by piece: a key that seemed to begin in one file and end in another would hide all between them."""
        return "".join(map(self._redact, _EDGE.split(text)))


# The usage of all calls for one contribution, for its line in the transcript.


def facts_of(usages: Iterable[Usage]) -> Facts:
    """The model that answered last, and the sums of all calls. A sum with an unknown part is left out."""
    used = tuple(usages)
    if not used:
        return {}
    total = together(used)
    facts = {
        "provider": total.provider,
        "model": total.model,
        "tokens_in": total.tokens_in,
        "tokens_out": total.tokens_out,
        "tokens_cached": total.tokens_cached,
        "seconds": round(total.seconds, 3),
        "cost": None if total.dollars is None else str(total.dollars),
        ABOUT: total.about or None,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def together(usages: Sequence[Usage]) -> Usage:
    """Of several requests for one answer. A sum with an unknown part is unknown."""
    last = usages[-1]

    def added(amounts: Sequence[int | None]) -> int | None:
        known = [one for one in amounts if one is not None]
        return sum(known) if len(known) == len(usages) else None

    dollars = [one.dollars for one in usages if one.dollars is not None]
    return last._replace(
        seconds=sum(one.seconds for one in usages),
        tokens_in=added([one.tokens_in for one in usages]),
        tokens_out=added([one.tokens_out for one in usages]),
        tokens_cached=added([one.tokens_cached for one in usages]),
        dollars=sum(dollars, Decimal(0)) if len(dollars) == len(usages) else None,
        about=any(one.about for one in usages),
    )
