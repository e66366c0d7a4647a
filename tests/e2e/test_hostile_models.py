"""
A meeting with models that invent, agree with everything, refuse, are slow, or answer in no form: nothing false counts
as checked, each failure is one line with what to do, and people finish all the same. Over real connections.
"""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from bot.voices.llm.calling import ANSWER_CHARS
from bot.voices.llm.models import model_registry
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from tests.e2e.meeting import Meeting
from tests.patience import PATIENCE_SECONDS
from tests.voices.models.provider import Answer, Json, ModelServer, Reply, hangs, says, settings_for
from tests.voices.models.published import schema_in
from tests.voices.models.test_asking import strings

SAID = "Edits get lost in tunnels."
MESSAGE = re.compile(r"^\[([^\]]+)\] [^\n]*:\n> Edits get lost", re.MULTILINE)
UNCHECKED = "unchecked"
GOES_ON = ["Try again", "Go on without"]


class Mind(NamedTuple):
    """*false* is a word of what it makes up; *line* is what the card says when it gives no draft."""

    reply: Reply
    false: str = ""
    line: str = ""


def answering(value: str, sentence: str, *, verdict: str, words: str) -> Reply:
    """Proposes *value*, says *sentence* with the same quote, and gives the *verdict* with *words* in a review."""

    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        schema = schema_in(request.path, body)
        assert schema, "every task of this meeting has one"
        told = "\n".join(strings(body["messages"]))
        found = MESSAGE.search(told)
        quote = {"line": found[1] if found else "t01", "words": "get lost in tunnels"}
        said = {"text": sentence, "quotes": [quote]}
        one: dict[str, Any] = {"issue": "", "option": "", "moved_by": "", "ask": {"text": "", "to": ""}}
        entry = {"kind": "assumption", "id": "", "part_of": "", "fields": [{"field": "text", "value": value}]}
        answers: dict[str, Any] = {
            "draft": {"say": [said], "questions": [], "next": [], "entries": [entry | {"quotes": [quote]}]},
            "turn": {"contributions": [one | {"persona": "business-analyst", "say": [said]}]},
            "review": {"verdicts": [{"claim": n, "verdict": verdict, "words": words} for n in range(1, 9)]},
        }
        return await says(Answer(json.dumps(answers[schema.name] | {"declined": False})))(request, body)

    return reply


INVENTED = "We move to Helsinki in 41 days"
MINDS = {
    "inventing, and agreeing with itself": Mind(
        answering(INVENTED, "Grace decided on Helsinki.", verdict="yes", words=SAID), "Helsinki"
    ),
    "agreeing by citing a word": Mind(
        answering("Edits sink in Helsinki", "Grace says Helsinki.", verdict="yes", words="in"), "Helsinki"
    ),
    "paraphrasing, and denied": Mind(
        answering("Edits sink in Helsinki", "Grace says Helsinki.", verdict="no", words=""), "Helsinki"
    ),
    "inventing in Japanese": Mind(
        answering("編集は41件失われる", "グレースは41件と言った。", verdict="yes", words=SAID), "41件"
    ),
    "refusing": Mind(says(Answer(refusal="No.")), line="The model refused this step"),
    "slow": Mind(hangs(), line="did not answer in time"),
    "broken JSON": Mind(says(Answer('{"say": [{"te')), line="could not be read as entries"),
    "words without a form": Mind(says(Answer("Grace decided it.")), line="could not be read as entries"),
    "very long": Mind(says(Answer("x" * (ANSWER_CHARS + 1))), line="answer of the model was too long"),
}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.mark.parametrize("mind", MINDS.values(), ids=MINDS)
async def test_people_finish_whatever_a_model_does(mind: Mind, meeting: Meeting, server: ModelServer) -> None:
    server.will(mind.reply)
    seconds = 1.0 if mind.line == "did not answer in time" else PATIENCE_SECONDS
    async with model_registry("openai:qwen3", settings_for(server), seconds=seconds, calls=8) as models:
        meeting.voices = ModelVoices(lambda _: models.of(), OfflineVoices(), second=models.of())
        meeting.more = {"ROUNDTABLE_MODEL": "ollama:small"}
        async with meeting.bot():
            await meeting.start("Offline sync")
            await meeting.say(f"{SAID} Scope: small")
            card = await a_draft(meeting, mind)
            if "accept_all" in str(card):
                await meeting.press("accept_all")
            await meeting.finish_step()
            await meeting.discuss()
            await meeting.say(f"In a discussion, too: {SAID}")
            await meeting.press("go_on")
            await meeting.press("end_elaboration")
            await meeting.seen("Wrapping up the discussion")
            await meeting.menu("continue")
            await meeting.go_on()
            await meeting.slack.settled()

    assert meeting.meta["steps_completed"] == ["00-01"]
    assert "Edits get lost in tunnels" in (meeting.folder / "quick-scan.md").read_text()
    assert {claim["check"] for claim in claims(meeting, mind.false)} <= {UNCHECKED}
    for post in (one.text for one in meeting.thread):
        rows = [row for row in post.split("\n") if mind.false and mind.false in row]
        assert all(UNCHECKED in row for row in rows), rows


async def a_draft(meeting: Meeting, mind: Mind) -> tuple[dict[str, Any], ...]:
    """The blocks of the card that has it, or the one line that says why there is none, with its presses."""
    if not mind.line:
        await meeting.until(lambda: "suggests" in str(meeting.menus("finish_step")[-1].blocks))
        await meeting.slack.settled()
        return meeting.menus("finish_step")[-1].blocks
    await meeting.until(lambda: mind.line in str(meeting.menus("finish_step")[-1].blocks))
    blocks = meeting.menus("finish_step")[-1].blocks
    assert str(blocks).count(mind.line) == 1
    assert all(one in str(blocks) for one in GOES_ON)
    return blocks


def claims(meeting: Meeting, word: str) -> list[Json]:
    """All values with *word* that are on record."""
    entries = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    values = (one for entry in entries for given in entry["claims"].values() for one in given)
    return [one for one in values if word and word in str(one["value"])]
