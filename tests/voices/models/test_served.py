"""
Whatever a provider does, the ledger has the tokens that it said it served, or about as many as there were
characters; the card has one line with what to do, and what people said is kept.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from bot.domain.catalog.budget import Budget, accounts, in_words, spent_by
from bot.domain.messages.message import Action
from bot.domain.messages.trouble_wording import ANSWER_TOO_LATE
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import Failed, PersonaSpoke
from bot.engine.ports import VoiceContext
from bot.errors import VoiceError
from bot.settings import Settings
from bot.voices.llm.calling import ANSWER_CHARS
from bot.voices.llm.chain import ROUNDS
from bot.voices.llm.models import model_registry
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from tests.domain.books import few_steps, step, thinking
from tests.domain.table import Table
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.voices.models.provider import Answer, Called, Json, ModelServer, Reply, fails, hangs, says
from tests.voices.test_looking import looker

CLAUDE, OWN = "anthropic:claude-sonnet-5", "openai:qwen3"
SAID = "Edits get lost in tunnels."
DRAFT = json.dumps(
    {
        "declined": False,
        "say": [{"text": "A queue, then.", "quotes": []}],
        "questions": [],
        "next": [],
        "entries": [],
    }
)
LOOKS = says(Answer(calls=(Called("history", {"path": "src"}),)))
NOTHING = -1
ANSWERED = 1240
"""Tokens of an answer of the server, in and out."""
BEGUN = 907
"""What Anthropic says at the beginning of a stream. OpenAI tells nothing before the end: that is estimated."""
USAGE = {
    "input_tokens": 900,
    "output_tokens": 7,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}
MESSAGE: Json = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
}
STARTED: Json = {"type": "message_start", "message": MESSAGE | {"usage": USAGE}}
CHUNK: Json = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
BEGINNINGS = {
    CLAUDE: f"event: message_start\ndata: {json.dumps(STARTED)}\n\n",
    OWN: f"data: {json.dumps(CHUNK)}\n\n",
}


def begins(*, then: str) -> Reply:
    """An answer that begins; then the server is silent, or the connection breaks."""

    async def reply(request: web.Request, _body: Json) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(BEGINNINGS[CLAUDE if request.path.endswith("/messages") else OWN].encode())
        if then == "silence":
            await asyncio.Event().wait()
        assert request.transport
        request.transport.abort()
        return response

    return reply


class Case(NamedTuple):
    """
    *served* are the answers that count, *begun* those that only began, *estimated* the characters of an answer without
    numbers, -1 for a call without any. Without a *line* the answer is used.
    """

    replies: tuple[Reply, ...]
    line: str = ""
    served: int = 0
    begun: int = 0
    estimated: int = 0
    seconds: float = PATIENCE_SECONDS
    budget: int = 0


CASES = {
    "an answer": Case((says(Answer(DRAFT)),), served=1),
    "no numbers": Case((says(Answer(DRAFT, tokens=None)),), estimated=len(DRAFT)),
    "silent": Case(
        (hangs(),), "Maya has no draft: the model did not answer in time.", estimated=NOTHING, seconds=1.5
    ),
    "no numbers, over the budget": Case(
        (says(Answer(DRAFT, tokens=None)),), estimated=len(DRAFT), budget=1_000
    ),
    "500, then an answer": Case((fails(500), says(Answer(DRAFT))), served=1),
    "a look": Case((LOOKS, says(Answer(DRAFT))), served=2),
    "a look, then down": Case(
        (LOOKS, fails(503)), "Maya has no draft: the model could not be reached.", served=1
    ),
    "a look, then empty": Case(
        (LOOKS, says(Answer(""))), "Maya has no draft: the model said nothing.", served=3
    ),
    "slow": Case(
        (begins(then="silence"),),
        "Maya has no draft: the model did not answer in time.",
        begun=1,
        seconds=1.5,
    ),
    "refused": Case(
        (says(Answer("", finish="content_filter")),),
        "The model refused this step, so Maya has no draft.",
        served=2,
    ),
    "cut off": Case(
        (says(Answer(DRAFT[:40], finish="length")),),
        "Maya has no draft: the answer of the model was too long.",
        served=2,
    ),
    "broken JSON": Case((says(Answer(DRAFT[:40])),), "Maya's answer could not be read as entries.", served=2),
    "another form": Case(
        (says(Answer('{"drafts": 7}')),), "Maya's answer could not be read as entries.", served=2
    ),
    "over the budget": Case((says(Answer(DRAFT)),), served=1, budget=1_000),
    "empty": Case((says(Answer("")),), "Maya has no draft: the model said nothing.", served=2),
    "huge": Case(
        (says(Answer("x" * (ANSWER_CHARS + 1))),),
        "Maya has no draft: the answer of the model was too long.",
        served=2,
    ),
    "broken off": Case(
        (begins(then="the end"),), "Maya has no draft: the model could not be reached.", begun=ROUNDS
    ),
    "down": Case((fails(503),), "Maya has no draft: the model could not be reached."),
    "a wrong key": Case(
        (fails(401),), "Maya has no draft: the model does not accept the key, or its account is used up."
    ),
}


@pytest.mark.parametrize("model", [CLAUDE, OWN])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_ledger_is_what_was_served(
    case: Case, model: str, server: ModelServer, settings: Callable[..., Settings]
) -> None:
    """By the provider's own numbers, over real connections."""
    server.will(*case.replies)
    table = asked(case.budget)
    (work,) = (one for one in table.rt.outbox if isinstance(one, Speak))
    told = {"key": work.id, "at": table.rt.now, "effect": work.id}
    async with model_registry(model, settings(model), seconds=case.seconds, calls=1) as found:
        voices = ModelVoices(lambda _: found.of(), OfflineVoices(), looker_of=lambda *_: looker())
        try:
            speech = await voices.draft(VoiceContext(table.rt, table.playbook, work.persona))
        except VoiceError as error:
            table.rt = table.decided(Failed(**told, reason=error.reason, sentence="No.", facts=error.facts))
        else:
            read = tuple(one.ts for one in table.rt.unread)
            table.rt = table.decided(
                PersonaSpoke(**told, **speech._asdict(), persona=work.persona, read=read)
            )
    table.resume_paying()

    served = case.served * ANSWERED + (case.begun * BEGUN if model == CLAUDE else 0)
    is_about = bool(case.estimated) or (model == OWN and case.begun > 0)
    if is_about:
        served += sum(-(-chars(one.body) // 4) for one in server.asked) + max(0, -(-case.estimated // 4))
    assert table.rt.purse.spent.estimated == is_about
    assert used_up(table.rt.purse, table.playbook.policy) is bool(case.budget)
    assert table.rt.purse.spent.tokens == served
    assert accounts(line.meta for line in table.lines).item.tokens == served
    assert lines_with_a_way_on(table) == ([case.line] if case.line else [])
    assert sum("A queue, then." in one for one in table.texts) == (0 if case.line else 1)
    table.press(Action.FINISH_STEP)
    assert f"- Ada: {SAID}" in table.world.files["quick-scan.md"]


async def test_a_call_that_people_end_counts_with_what_was_served_until_then(
    server: ModelServer, settings: Callable[..., Settings]
) -> None:
    """A first answer asked for a look; the second one is not waited for."""
    server.will(LOOKS, hangs())
    table = asked()
    async with model_registry(CLAUDE, settings(CLAUDE), seconds=PATIENCE_SECONDS, calls=1) as found:
        voices = ModelVoices(lambda _: found.of(), OfflineVoices(), looker_of=lambda *_: looker())
        work = asyncio.create_task(voices.draft(VoiceContext(table.rt, table.playbook, "business-analyst")))
        await wait_until(lambda: len(server.asked) == 2)
        work.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await work

    (facts,) = cancelled.value.args
    spent = spent_by(facts)
    assert spent
    assert spent.tokens == pytest.approx(ANSWERED + chars(server.asked[-1].body) // 4, abs=10)
    assert in_words(spent).startswith("about ")


def chars(value: Any) -> int:
    """Of what a model is to read in a request."""
    if isinstance(value, list):
        return sum(map(chars, value))
    if not isinstance(value, dict):
        return 0
    read = ("text", "content", "system", "input", "arguments")
    texts = sum(len(one) for name, one in value.items() if name in read and isinstance(one, str))
    deeper = (one for name, one in value.items() if name not in {"tools", "output_config", "response_format"})
    return texts + sum(map(chars, deeper))


def test_an_answer_that_comes_when_nobody_waits_for_it_is_in_the_ledger_once() -> None:
    """People had ended the call; its line says so, and nothing of the answer is used."""
    table = asked()
    (work,) = (one for one in table.rt.outbox if isinstance(one, Speak))
    told = {"key": work.id, "at": table.rt.now, "effect": work.id}
    facts = {"provider": "acme", "model": "large", "tokens_in": 1200, "tokens_out": 40}
    table.rt = table.rt.dropping(Speak)
    late = PersonaSpoke(**told, persona=work.persona, text="A queue, then.", facts=facts)
    for _ in range(2):
        table.rt = table.decided(late)
    table.resume_paying()

    assert table.rt.purse.spent.tokens == accounts(line.meta for line in table.lines).item.tokens == ANSWERED
    assert [line.content for line in table.lines].count(ANSWER_TOO_LATE) == 1
    assert not any("A queue, then." in one for one in table.texts)


def asked(budget: int = 0) -> Table:
    """A person has said something, and a model is to make a draft of it."""
    book = thinking(few_steps(step("00-01"), step("00-02")))
    policy = book.policy.but(budget=Budget(tokens=budget) if budget else None)
    return Table(replace(book, policy=policy)).start().stop_paying().say(SAID).pay_up_to("speak")


def lines_with_a_way_on(table: Table) -> list[str]:
    card = table.card.card
    assert card
    return [one.prose for one in card.parts if any(b.action == Action.GO_ON_WITHOUT for b in one.buttons)]
