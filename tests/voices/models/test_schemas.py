"""The schema of an answer with each provider's real client: where it stands, what is read, what a rejection does."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence

import pytest
from aiohttp import web

from bot.errors import VoiceError
from bot.voices.llm.calling import STREAMED_FROM_TOKENS
from bot.voices.model import LanguageModel
from bot.voices.offline import OfflineVoices
from bot.voices.prompts import schemas
from bot.voices.thinking import ModelVoices
from tests.voices.minds import OneTurn, cue, debating, record, take_turn
from tests.voices.models.provider import Answer, Json, ModelServer, Reply, fails, says, sends
from tests.voices.models.published import SentSchema, schema_in
from tests.voices.models.test_asking import BEDROCK, CLAUDE, GPT, OWN, PROMPT, SHORT, strings
from tests.voices.models.test_looking_and_proposing import FOUND, LOOK, Toolbox, offered, proposed
from tests.voices.people import ALEX, MAYA
from tests.voices.prompts.test_schemas import EVERY as ALL_SCHEMAS

AskedOnce = Callable[[str], LanguageModel]

GEMINI_2, GEMINI_3 = "google:gemini-2.5-flash", "google:gemini-3-pro"
CHAT = "openai-chat:gpt-5.6"
NOVA = "bedrock:us.amazon.nova-pro-v1:0"
KEEP_SCHEMAS = (CLAUDE, GPT, OWN, CHAT, GEMINI_2, GEMINI_3, "ollama:llama3.2", "vllm:qwen3", BEDROCK)
WITH_TOOLS = tuple(one for one in KEEP_SCHEMAS if one != GEMINI_2)

CONTRIBUTION = schemas.turn((ALEX, "other"))
SPOKEN = PROMPT._replace(schema=CONTRIBUTION)
WORDS = "I would ask who waits."
SAID: Json = json.loads(record(WORDS))
ENTRY: Json = {
    "kind": "requirement",
    "id": "",
    "part_of": "",
    "fields": [{"field": "title", "value": "Retry after 60 s"}],
    "quotes": [
        {"field": "title", "line": line, "words": "retry(60)"}
        for line in ("src/sync.py:40@1a2b3c4", "src/mail.py:7@1a2b3c4")
    ],
}


def sent(server: ModelServer) -> list[SentSchema | None]:
    return [schema_in(one.path, one.body) for one in server.asked]


def told(server: ModelServer) -> str:
    return "\n".join(strings(server.asked[-1].body))


def rejects(which: Callable[[SentSchema | None, bool], bool], then: Reply) -> Reply:
    """400 for a request whose schema and tools *which* does not take."""

    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        has_tools = bool(body.get("tools") or body.get("toolConfig"))
        rejected = which(schema_in(request.path, body), has_tools)
        return await (fails(400) if rejected else then)(request, body)

    return reply


def no_schema(schema: SentSchema | None, has_tools: bool) -> bool:  # noqa: FBT001, ARG001 -- as rejects has it
    return schema is not None


@pytest.mark.parametrize("tokens", [SHORT, STREAMED_FROM_TOKENS], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", KEEP_SCHEMAS)
async def test_the_schema_stands_where_the_provider_has_it(
    model: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """With its name where there is one; strict, but for Ollama, which has no such thing."""
    server.will(says(Answer(json.dumps(SAID))))

    thought = await asked_once(model).think(SPOKEN, seconds=10, tokens=tokens)

    [schema] = sent(server)
    assert schema
    assert schema.name in {"turn", ""}
    assert schema.strict is (model != "ollama:llama3.2")
    assert list(schema.form["properties"]) == list(SAID)
    assert json.loads(thought.text) == SAID


@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN, CHAT, GEMINI_3, BEDROCK])
async def test_every_schema_is_one_that_the_provider_takes(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """As the library sends it: the server answers 400 to anything else, and the form in words would be sent then."""
    server.will(says(Answer("{}")))
    mind = asked_once(model)
    for schema in ALL_SCHEMAS:
        await mind.think(PROMPT._replace(schema=schema), seconds=10, tokens=SHORT)

    assert len(sent(server)) == len(ALL_SCHEMAS)
    assert all(sent(server))


async def test_a_model_that_keeps_no_schema_is_told_the_form_in_words(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    await asked_once(NOVA).think(SPOKEN, seconds=10, tokens=SHORT)

    assert sent(server) == [None]


@pytest.mark.parametrize("model", KEEP_SCHEMAS)
async def test_the_beginning_stays_the_same(model: str, asked_once: AskedOnce, server: ModelServer) -> None:
    """The note about the schema comes last, so that what is cached is the same with and without it."""
    server.will(says(Answer(json.dumps(SAID))))
    mind = asked_once(model)
    for prompt in (PROMPT, SPOKEN):
        await mind.think(prompt, seconds=10, tokens=SHORT)

    first, second = (
        "\n".join(
            strings(
                [
                    one.body.get(name)
                    for name in ("system", "systemInstruction", "messages", "contents", "input")
                ]
            )
        )
        for one in server.asked
    )
    before, after = first.split(PROMPT.moving), second.split(PROMPT.moving)
    assert before[0] == after[0]


@pytest.mark.parametrize("model", WITH_TOOLS)
async def test_tools_and_a_schema_go_together(model: str, asked_once: AskedOnce, server: ModelServer) -> None:
    """A look, then entries in the schema of the step, with the look as their source; a line not shown is dropped."""
    server.will(says(Answer("", calls=(LOOK,))), says(Answer(json.dumps({"entries": [ENTRY]}))))

    patches, facts = await proposed(asked_once(model))

    (patch,) = patches
    assert (patch.kind, dict(patch.set)) == ("requirement", {"title": "Retry after 60 s"})
    assert patch.sources == ("src/sync.py:40@1a2b3c4",)
    assert facts["dropped"] == [{"what": "src/mail.py:7@1a2b3c4", "why": "this source was not shown"}]
    assert [one["ids"] for one in facts["looked_at"]] == [["src/sync.py:40-58@1a2b3c4"]]
    assert [one is not None for one in sent(server)] == [True, True]
    assert all(offered(one.body) for one in server.asked)


async def test_gemini_2_gets_tools_or_a_schema(asked_once: AskedOnce, server: ModelServer) -> None:
    """Google answers 400 to both at once; the tools are worth more, and the form stands in words."""
    server.will(says(Answer("", calls=(LOOK,))), says(Answer(json.dumps({"entries": [ENTRY]}))))
    mind = asked_once(GEMINI_2)

    patches, _ = await proposed(mind)
    await mind.think(SPOKEN, seconds=10, tokens=SHORT)

    assert [one.id for one in patches] == ["FR-001"]
    assert [one is not None for one in sent(server)] == [False, False, True]


@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN, GEMINI_3, "vllm:qwen3", BEDROCK])
async def test_a_server_that_rejects_schemas_is_told_the_form_in_words(
    model: str, asked_once: AskedOnce, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """From then on; the log says so once."""
    caplog.set_level(logging.INFO)
    server.will(rejects(no_schema, says(Answer("I would ask who waits."))))
    mind = asked_once(model)
    for prompt in (SPOKEN, SPOKEN):
        thought = await mind.think(prompt, seconds=10, tokens=SHORT)
        assert thought.text == "I would ask who waits."

    assert [one is not None for one in sent(server)] == [True, False, False]
    assert caplog.text.count("it is told the form in words") == 1


async def test_turns_that_are_rejected_at_once_are_told_of_once(
    asked_once: AskedOnce, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """In a blind round all personas ask at the same time."""
    caplog.set_level(logging.INFO)
    server.will(rejects(no_schema, says(Answer("A queue."))))
    mind = asked_once(OWN)

    thoughts = await asyncio.gather(*(mind.think(SPOKEN, seconds=10, tokens=SHORT) for _ in range(3)))

    assert [one.text for one in thoughts] == ["A queue."] * 3
    assert caplog.text.count("it is told the form in words") == 1


async def test_one_schema_that_is_too_complex_spares_the_others(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    """Where another was taken before, only this one is left out."""
    server.will(
        rejects(
            lambda schema, _: schema is not None and "findings" in schema.form["properties"],
            says(Answer("{}")),
        )
    )
    mind = asked_once(CLAUDE)
    findings = PROMPT._replace(schema=schemas.findings())
    for prompt in (SPOKEN, findings, findings, SPOKEN):
        await mind.think(prompt, seconds=10, tokens=SHORT)

    assert [one is not None for one in sent(server)] == [True, True, False, False, True]


async def test_a_schema_that_anthropic_would_not_take_is_not_sent(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    """At most 16 fields can be of several types."""
    fields = {f"field_{number}": {"anyOf": [schemas.TEXT, {"type": "null"}]} for number in range(17)}
    form = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    complex_one = PROMPT._replace(schema=CONTRIBUTION._replace(name="complex", form=form))
    server.will(says(Answer("{}")))
    mind = asked_once(CLAUDE)

    for prompt in (SPOKEN, complex_one, complex_one, SPOKEN):
        await mind.think(prompt, seconds=10, tokens=SHORT)

    assert [one is not None for one in sent(server)] == [True, False, False, True]


@pytest.mark.parametrize(
    ("rejected", "forms"),
    [
        ("both at once", [(1, 1), (1, 0), (1, 0), (0, 1)]),
        ("tools", [(1, 1), (1, 0), (0, 1), (0, 1), (0, 1)]),
        ("schemas", [(1, 1), (1, 0), (1, 0), (0, 1), (0, 0)]),
        ("either", [(1, 1), (1, 0), (0, 1), (0, 0), (0, 0), (0, 0)]),
    ],
)
async def test_what_a_server_rejects_is_found_out_once(
    rejected: str,
    forms: Sequence[tuple[int, int]],
    asked_once: AskedOnce,
    server: ModelServer,
) -> None:
    """Tools and schema are left out one by one: two answers with tools, and then one without."""
    which: Mapping[str, Callable[[bool, bool], bool]] = {
        "both at once": lambda schema, tools: schema and tools,
        "tools": lambda _, tools: tools,
        "schemas": lambda schema, _: schema,
        "either": lambda schema, tools: schema or tools,
    }
    server.will(rejects(lambda schema, tools: which[rejected](schema is not None, tools), says(Answer("{}"))))
    mind = asked_once(OWN)
    for tools in (Toolbox(), Toolbox(), None):
        await mind.think(SPOKEN._replace(tools=tools), seconds=10, tokens=SHORT)

    kinds = [
        (int("tools" in one.body), int(schema is not None))
        for one, schema in zip(server.asked, sent(server), strict=True)
    ]
    assert kinds == list(forms)
    was_shown = FOUND in "\n".join(text for one in server.asked for text in strings(one.body))
    assert was_shown is (rejected in {"tools", "either"})


@pytest.mark.parametrize("status", [401, 404])
async def test_a_rejection_of_something_else_is_not_of_the_form(
    status: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """A wrong key says nothing about tools or schemas: the next request has them again."""
    server.will(fails(status), says(Answer("{}")))
    mind = asked_once(OWN)
    with pytest.raises(VoiceError):
        await mind.think(SPOKEN._replace(tools=Toolbox()), seconds=10, tokens=SHORT)

    await mind.think(SPOKEN._replace(tools=Toolbox()), seconds=10, tokens=SHORT)

    assert [("tools" in one.body, schema_in(one.path, one.body) is not None) for one in server.asked] == [
        (True, True),
        (True, True),
    ]


async def test_too_long_a_prompt_is_not_sent_again_without_its_schema(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    error = {"message": "maximum context length is 8192", "code": "context_length_exceeded"}
    server.will(fails(400, {"error": error}))

    with pytest.raises(VoiceError) as raised:
        await asked_once(OWN).think(SPOKEN, seconds=10, tokens=SHORT)

    assert raised.value.reason == "context"
    assert len(server.asked) == 1


# --- in a discussion ---


async def spoken(mind: LanguageModel) -> OneTurn:
    rt = debating((MAYA, "Where do edits wait? Alex, what is your view?"))
    voices = ModelVoices(lambda _: mind, OfflineVoices())
    return await take_turn(voices, cue(rt, ALEX))


REFUSALS = (
    "申し訳ございませんが、このご依頼にはお応えできません。",
    "Valitettavasti en voi auttaa tässä asiassa.",
)


BLOCKED = {
    "candidates": [],
    "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
    "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
    "modelVersion": "gemini-3-pro",
    "responseId": "g1",
}
REPORTED: Sequence[tuple[str, Answer]] = (
    *((one, Answer(refusal=REFUSALS[0])) for one in (GPT, CHAT, OWN)),
    *(
        (one, Answer(REFUSALS[1], finish="content_filter"))
        for one in (CLAUDE, GPT, CHAT, GEMINI_2, GEMINI_3, BEDROCK)
    ),
    *((one, Answer(REFUSALS[0], finish="refusal")) for one in (BEDROCK, NOVA)),
)
"""As each provider reports it: in a place of its own, by a filter, or for a reason that the library does not know."""


@pytest.mark.parametrize("tokens", [SHORT, STREAMED_FROM_TOKENS], ids=["at once", "streamed"])
@pytest.mark.parametrize(
    ("model", "answer"), REPORTED, ids=[f"{one} {said.finish}" for one, said in REPORTED]
)
async def test_every_report_of_a_refusal_counts(
    model: str, answer: Answer, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Nothing of the words is passed on, whatever their language."""
    server.will(says(answer))

    with pytest.raises(VoiceError) as raised:
        await asked_once(model).think(SPOKEN, seconds=10, tokens=tokens)

    assert raised.value.reason == "refused"
    assert not any(words in str(raised.value) for words in REFUSALS)


@pytest.mark.parametrize("tokens", [SHORT, STREAMED_FROM_TOKENS], ids=["at once", "streamed"])
async def test_a_prompt_that_google_blocks_is_refused(
    tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """There is no answer then, only what became of the prompt."""
    event = json.dumps(BLOCKED)
    streams = tokens == STREAMED_FROM_TOKENS
    server.will(sends(f"data: {event}\n\n", kind="text/event-stream") if streams else sends(event))

    with pytest.raises(VoiceError) as raised:
        await asked_once(GEMINI_3).think(SPOKEN, seconds=10, tokens=tokens)

    assert raised.value.reason == "refused"


@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN, GEMINI_3, BEDROCK])
async def test_a_refusal_that_no_provider_reports_is_never_posted(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Words where data was asked for are no opinion, and a model can say in the data that it declines."""
    words = REFUSALS[0]
    declined = json.dumps(json.loads(record(words)) | {"declined": True})
    server.will(says(Answer(json.dumps(SAID))), says(Answer(words)), says(Answer(declined)))
    mind = asked_once(model)
    assert (await spoken(mind)).text == WORDS

    with pytest.raises(VoiceError) as raised:
        await spoken(mind)

    assert raised.value.reason == "refused"
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "unusable",
    [
        Answer(json.dumps(SAID)[:40]),
        Answer(json.dumps(SAID)[:40], finish="length"),
        Answer("I propose to retry."),
    ],
    ids=["cut off", "cut off, as is told", "words"],
)
@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN, GEMINI_3, BEDROCK])
async def test_an_answer_that_cannot_be_read_is_asked_for_once_more(
    model: str, unusable: Answer, asked_once: AskedOnce, server: ModelServer
) -> None:
    """With what was wrong. Both answers are counted."""
    server.will(says(unusable), says(Answer(json.dumps(SAID))))

    speech = await spoken(asked_once(model))

    assert speech.text == WORDS
    assert len(server.asked) == 2
    assert "# Once more" in told(server)
    assert speech.facts["tokens_in"] == 2400


async def test_a_server_that_does_not_heed_a_schema_is_told_the_form_in_words(
    asked_once: AskedOnce, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """It takes the request, and the model answers in the form of the prompt."""
    caplog.set_level(logging.INFO)
    answer = f"```json\n{record('A queue.')}\n```"
    server.will(says(Answer(answer)))
    mind = asked_once(OWN)

    for _ in range(2):
        assert (await spoken(mind)).text == "A queue."

    assert [one is not None for one in sent(server)] == [True, False]
    assert "does not take the schema turn" in caplog.text
