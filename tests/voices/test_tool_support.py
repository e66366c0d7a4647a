"""A model's server that cannot read one tool refuses the whole request: then only foreign tools are left out."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelRequestRejectedError, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.domain.catalog.personas import ModelName, server_area
from bot.errors import VoiceError
from bot.voices.llm.calling import Caller
from bot.voices.llm.forms import REST_SECONDS
from bot.voices.model import Prompt, Tool
from bot.voices.tools.looking import TOOLS

OWN = frozenset(one.name for one in TOOLS)
TICKETS = Tool("tracker__find", "Tickets", {"type": "object", "oneOf": []}, server_area("tracker"))
WIKI = Tool("wiki__find", "Pages", {"type": "object", "properties": {}}, server_area("wiki"))
ALL = OWN | {TICKETS.name}
REFUSED = ModelRequestRejectedError("small", "no such schema")


class Shelf:
    """Tools of a turn, with those of a server."""

    def __init__(self, *foreign: Tool) -> None:
        self.tools = (*TOOLS, *foreign)
        self.searched = 0

    async def look(self, _name: str, _given: Mapping[str, Any], /) -> str:
        return "src/sync.py:40@1a2b3c4: retry(60)"

    async def first_look(self) -> str:
        self.searched += 1
        return "src/sync.py:40@1a2b3c4: retry(60)"


class Provider:
    """Refuses a request with one of the tools that it does not *take*; *clock* is turned by the test."""

    def __init__(self, refuses: Callable[[Collection[str]], Exception | None], looks: int = 0) -> None:
        self.refuses = refuses
        self.looks = looks
        self.offered: list[frozenset[str]] = []
        self.now = 1_000.0
        self.caller = Caller(
            ModelName("scripted", "small"),
            FunctionModel(self._answer),
            address="",
            caches=False,
            streams=False,
            clock=lambda: self.now,
        )

    def _answer(self, _: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        names = frozenset(one.name for one in info.function_tools)
        self.offered.append(names)
        if error := self.refuses(names):
            raise error
        if self.looks and names:
            self.looks -= 1
            return ModelResponse([ToolCallPart("history", {"path": "src"})])
        return ModelResponse([TextPart("It retries.")])

    async def asked(self, tools: Shelf) -> str:
        prompt = Prompt(("You are Alex.",), "What is it?", tools=tools)
        return (await self.caller.think(prompt, seconds=5, tokens=100)).text


def foreign(names: Collection[str], error: Exception = REFUSED) -> Exception | None:
    return error if TICKETS.name in names else None


@pytest.mark.parametrize("error", [REFUSED, UserError("no such schema")], ids=["server", "library"])
async def test_only_the_tools_of_servers_are_left_out(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Of the same turn and of those that follow. The log says it once, and it is known for `check`."""
    provider = Provider(lambda names: foreign(names, error))
    with caplog.at_level(logging.WARNING):
        told = await asyncio.gather(*(provider.asked(Shelf(TICKETS)) for _ in range(2)))
        told += [await provider.asked(Shelf(TICKETS)) for _ in range(2)]

    assert told == ["It retries."] * 4
    assert (provider.offered.count(ALL), provider.offered[-3:]) == (2, [OWN] * 3)
    assert "does not take the tools of servers" in provider.caller.forms.sentence
    assert len(caplog.records) == 1


async def test_all_tools_are_tried_again_after_a_rest() -> None:
    """A server may have been mended, or its tool is gone: nobody has to restart anything."""
    provider = Provider(foreign)
    await provider.asked(Shelf(TICKETS))
    provider.now += REST_SECONDS - 1
    await provider.asked(Shelf(TICKETS))
    provider.now += 2
    await provider.asked(Shelf(TICKETS))
    provider.now += REST_SECONDS + 1
    provider.refuses = lambda _: None
    await provider.asked(Shelf(TICKETS))

    assert provider.offered == [ALL, OWN, OWN, ALL, OWN, ALL]
    assert provider.caller.forms.sentence == ""


async def test_who_takes_no_tools_is_shown_a_search_and_asked_again_later() -> None:
    """First with all, then with ours, then with none."""
    provider, shelf = Provider(lambda names: REFUSED if names else None), Shelf(TICKETS)
    for _ in range(2):
        assert await provider.asked(shelf) == "It retries."
    provider.now += REST_SECONDS + 1
    provider.refuses = lambda _: None
    await provider.asked(shelf)

    assert provider.offered == [ALL, OWN, frozenset(), frozenset(), ALL]
    assert shelf.searched == 2
    assert provider.caller.forms.sentence == ""


async def test_a_request_that_is_refused_for_another_reason_costs_no_tools() -> None:
    """Even one without tools was refused: next time, all are offered."""
    provider = Provider(lambda _: REFUSED)
    with pytest.raises(VoiceError, match="does not take what we ask"):
        await provider.asked(Shelf(TICKETS))
    provider.refuses = lambda _: None
    await provider.asked(Shelf(TICKETS))

    assert provider.offered == [ALL, OWN, frozenset(), ALL]


async def test_tools_that_were_taken_once_are_not_blamed() -> None:
    """Neither in a later turn, nor in the middle of one; a tool that is new is."""
    provider = Provider(lambda _: None, looks=1)
    await provider.asked(Shelf(WIKI))
    provider.refuses = lambda names: REFUSED if names else None
    with pytest.raises(VoiceError, match="does not take what we ask"):
        await provider.asked(Shelf(WIKI))
    provider.refuses = foreign
    await provider.asked(Shelf(WIKI, TICKETS))

    known = OWN | {WIKI.name}
    assert provider.offered == [known, known, known, known | {TICKETS.name}, OWN]
