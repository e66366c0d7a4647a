"""A meeting with a model behind a provider's interface: data in its schema, and a refusal that nobody reads."""

import json
import re
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from bot.domain.catalog.personas import Chain
from bot.voices.llm import loading
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from tests.e2e.meeting import Meeting
from tests.patience import PATIENCE_SECONDS
from tests.voices.minds import record
from tests.voices.models.provider import Answer, Json, ModelServer, says, settings_for
from tests.voices.models.published import schema_in
from tests.voices.models.test_asking import strings

MESSAGE = re.compile(r"^\[([^\]]+)\] [^\n]*:\n> Edits get lost", re.MULTILINE)
REFUSED = "申し訳ございませんが、このご依頼にはお応えできません。"
OPENING = json.loads(record("We have tunnels. Alex, what breaks first?"))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


def assessed(source: str) -> Json:
    fields = [{"field": "text", "value": "Edits get lost in tunnels"}]
    quotes = [{"field": "text", "line": source, "words": "get lost in tunnels"}]
    entry = {"kind": "assumption", "id": "", "part_of": "", "fields": fields, "quotes": quotes}
    return {
        "declined": False,
        "say": [],
        "questions": [
            {
                "text": "How long is the longest tunnel?",
                "to": "Grace",
                "about": 1,
                "recommended": "40 minutes",
                "why": "It sets the queue.",
                "quotes": [],
            }
        ],
        "next": [],
        "entries": [entry],
    }


async def answered(request: web.Request, body: Json) -> web.StreamResponse:
    """By the schema of the request; whoever has to answer in a discussion is refused."""
    schema = schema_in(request.path, body)
    assert schema, "every task of this meeting has one"
    told = "\n".join(strings(body["messages"]))
    if schema.name == "draft":
        source = MESSAGE.search(told)
        answer = Answer(json.dumps(assessed(source[1] if source else "")))
    else:
        is_lead = "`business-analyst`" in told
        opening = {**OPENING["contributions"][0], "persona": "business-analyst"}
        said = json.dumps(OPENING | {"contributions": [opening]})
        answer = Answer(said) if is_lead else Answer(refusal=REFUSED)
    return await says(answer)(request, body)


async def test_data_is_suggested_and_a_refusal_is_said_by_nobody(
    meeting: Meeting, server: ModelServer
) -> None:
    """Across a restart: the entry is accepted, and the card of the discussion says that the model refuses."""
    [name] = Chain.read("openai:qwen3").names
    loaded = loading.load([name], settings_for(server), seconds=PATIENCE_SECONDS)
    meeting.voices = ModelVoices(lambda _: loaded.callers[name], OfflineVoices())
    meeting.more = {"ROUNDTABLE_MODEL": "ollama:small"}
    server.will(answered)
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small")
        asked = await meeting.seen("How long is the longest tunnel?")
        assert "Maya would say: 40 minutes _(unchecked)_." in asked.text
        await meeting.until(lambda: "suggests" in str(meeting.menus("finish_step")[-1].blocks))
    async with meeting.bot():
        await meeting.say("accept 1", who="ada")
        await meeting.slack.settled()
        await meeting.press("finish_step")
        await meeting.menu("continue")
        await meeting.press("elaborate")
        await meeting.seen("We have tunnels. Alex, what breaks first?")
        await meeting.seen("the model refused to answer.")
        await meeting.slack.settled()
    await loaded.close()

    entries = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    claims = [one["claims"]["text"][-1] for one in entries if one["kind"] == "assumption"]
    assert [claim["accepted"]["name"] for claim in claims] == ["Ada"]
    assert not [one for one in meeting.thread if REFUSED in one.text or '"declined"' in one.text]
    assert not [line for line in meeting.transcript.lines if REFUSED in line.content]
