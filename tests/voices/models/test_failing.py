"""What becomes of a call that goes wrong: a short reason for code, a sentence for people, and nothing of theirs."""

import asyncio
import io
import json
import logging
import traceback
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import VoiceError
from bot.log import TALKATIVE, configure
from bot.voices.llm.calling import ANSWER_CHARS, STREAMED_FROM_TOKENS
from bot.voices.model import LanguageModel, Prompt
from tests.patience import PATIENCE_SECONDS
from tests.voices.models.provider import (
    KEY,
    Answer,
    ModelServer,
    Reply,
    fails,
    goes_on_for_ever,
    hangs,
    hangs_up,
    says,
    sends,
)

AskedOnce = Callable[[str], LanguageModel]

CLAUDE, GPT, OWN = "anthropic:claude-sonnet-5", "openai-responses:gpt-5.6", "openai:qwen3"
GEMINI, BEDROCK = "google:gemini-2.5-flash", "bedrock:us.amazon.nova-pro-v1:0"
EVERY = (CLAUDE, GPT, OWN, GEMINI, BEDROCK)
SECRET = "the merger with Sesame Ltd"
PROMPT = Prompt(("You are Maya.",), f"Sam said: nobody may know of {SECRET}.")
SHORT, LONG = 500, STREAMED_FROM_TOKENS


async def failure(mind: LanguageModel, *, seconds: float = 20, tokens: int = SHORT) -> VoiceError:
    with pytest.raises(VoiceError) as raised:
        await mind.think(PROMPT, seconds=seconds, tokens=tokens)
    return raised.value


def error(kind: str, message: str = "no", code: str | None = None) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message, "code": code, "status": kind}}


@pytest.mark.parametrize(
    ("status", "reason", "again"),
    [
        (400, "unavailable", False),
        (401, "denied", False),
        (402, "denied", False),
        (403, "denied", False),
        (404, "unavailable", False),
        (429, "unavailable", True),
        (500, "unavailable", True),
        (502, "unavailable", True),
        (503, "unavailable", True),
        (529, "unavailable", True),
    ],
)
@pytest.mark.parametrize("model", EVERY)
async def test_a_status_says_whether_asking_again_makes_sense(
    model: str, status: int, reason: str, *, again: bool, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Whoever has the wrong key gets no second chance, and whoever is overloaded does."""
    server.will(fails(status))

    failed = await failure(asked_once(model))

    assert (failed.reason, failed.again) == (reason, again)
    assert len(server.asked) == 1, "the libraries' own retries are off"


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (CLAUDE, error("invalid_request_error", "prompt is too long: 220000 tokens > 200000 maximum")),
        (OWN, error("invalid_request_error", "maximum context length is 8192", "context_length_exceeded")),
        (GPT, error("invalid_request_error", "Your input exceeds the context", "context_length_exceeded")),
    ],
)
async def test_too_long_a_prompt_is_told_apart(
    model: str, body: dict[str, object], asked_once: AskedOnce, server: ModelServer
) -> None:
    """A shorter one may do, and the same one never."""
    server.will(fails(400, body))

    failed = await failure(asked_once(model))

    assert (failed.reason, failed.again) == ("context", False)


async def test_an_account_that_is_used_up_is_told_apart(asked_once: AskedOnce, server: ModelServer) -> None:
    """OpenAI says it with the status of a busy moment; but waiting does not fill an account."""
    server.will(fails(429, error("insufficient_quota", code="insufficient_quota")))

    failed = await failure(asked_once(OWN))

    assert (failed.reason, failed.again) == ("denied", False)
    assert "account" in str(failed)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "soon"}, 0.0),
        ({"retry_after": "-7"}, 0.0),
        ({"retry_after": "99999999"}, 3600.0),
        ({}, 0.0),
    ],
)
@pytest.mark.parametrize("model", [CLAUDE, OWN])
async def test_it_is_passed_on_how_long_we_are_asked_to_wait(
    model: str, headers: dict[str, str], seconds: float, asked_once: AskedOnce, server: ModelServer
) -> None:
    """As far as it makes sense."""
    server.will(fails(429, **headers))

    assert (await failure(asked_once(model))).after_seconds == seconds


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN])
async def test_silence_ends_after_the_given_time(
    model: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """And the other side is told that nobody waits any more."""
    server.will(hangs())

    failed = await failure(asked_once(model), seconds=0.3, tokens=tokens)

    assert (failed.reason, failed.again) == ("timeout", True)
    await asyncio.wait_for(server.hung_up.wait(), PATIENCE_SECONDS)


async def test_a_client_in_a_thread_is_not_waited_for(asked_once: AskedOnce, server: ModelServer) -> None:
    """AWS's cannot be interrupted; its thread ends by itself."""
    server.will(hangs())

    assert (await failure(asked_once(BEDROCK), seconds=0.3)).reason == "timeout"


CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
BEGUN = f"data: {json.dumps(CHUNK | {'choices': [{'index': 0, 'delta': {'content': 'I w'}}]})}\n\n"


@pytest.mark.parametrize(("after", "tokens"), [("", SHORT), ("", LONG), (BEGUN, LONG)])
async def test_who_hangs_up_may_be_asked_again(
    after: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Half an answer is none."""
    server.will(hangs_up(after))

    failed = await failure(asked_once(OWN), tokens=tokens)

    assert (failed.reason, failed.again) == ("unavailable", True)


MESSAGE: dict[str, object] = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
}
MESSAGE_BEGUN = "".join(
    f"event: {one['type']}\ndata: {json.dumps(one)}\n\n"
    for one in (
        {"type": "message_start", "message": MESSAGE | {"usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I w"}},
    )
)


@pytest.mark.parametrize(
    ("model", "begun"), [(OWN, BEGUN), (OWN, f"{BEGUN}data: [DONE]\n\n"), (CLAUDE, MESSAGE_BEGUN)]
)
async def test_a_stream_that_just_ends_is_half_an_answer(
    model: str, begun: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """The connection is closed as it should be; but nobody said that this was all."""
    server.will(sends(begun, kind="text/event-stream"))

    failed = await failure(asked_once(model), tokens=LONG)

    assert (failed.reason, failed.again) == ("unavailable", True)


@pytest.mark.parametrize("model", EVERY)
async def test_nobody_there_is_told_in_a_sentence(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """The port is closed."""
    mind = asked_once(model)
    await server.__aexit__()

    failed = await failure(mind)

    assert (failed.reason, failed.again) == ("unavailable", True)
    assert str(failed) == f"{model} could not be reached, or hung up."


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", EVERY)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("I would", finish="length"), "cut_off"),
        (Answer("", finish="length"), "cut_off"),
        (Answer("", finish="stop"), "empty"),
        (Answer(" \n\t ", finish="stop"), "empty"),
    ],
    ids=["cut off", "cut off while it thought", "empty", "blank"],
)
async def test_an_answer_that_is_none_is_never_passed_on(
    model: str, tokens: int, answer: Answer, reason: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Neither half of one, nor a blank."""
    server.will(says(answer))

    assert (await failure(asked_once(model), tokens=tokens)).reason == reason


@pytest.mark.parametrize("model", [CLAUDE, OWN])
async def test_an_endless_answer_is_not_read(model: str, asked_once: AskedOnce, server: ModelServer) -> None:
    """The caller asks for less then, as when a model reached its own limit."""
    server.will(says(Answer("I would " * (ANSWER_CHARS // 8 + 1))))

    failed = await failure(asked_once(model), tokens=SHORT)

    assert failed.reason == "cut_off"
    assert "more than 100,000 characters" in str(failed)


GARBAGE = (
    "", "   ", "null", "[]", "42", '"yes"', "{}", "<html>502</html>", '{"choices": null}', '{"choices": []}',
    '{"choices": [{}]}', '{"choices": [{"message": null, "finish_reason": "stop", "index": 0}]}',
    '{"choices": [{"message": {"content": 7}}]}', '{"choices": [{"message": {"content": ["a"]}}], "usage": "much"}',
    '{"content": null}', '{"content": [{"type": "text"}]}', '{"output": [{"type": "message"}]}', '{"output": 7}',
    '{"error": {"message": "x"}}', '{"candidates": [{}]}', '{"candidates": 3}', '{"output": {"message": {}}}',
    "data: {\n\n", "data: {}\n\ndata: [DONE]\n\n", 'data: {"choices": [{"delta": 3}]}\n\n',
    "event: error\ndata: {}\n\n",
    '{"choices": [{"message": {"content": "' + "x" * 100,
)  # fmt: skip


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/html"])
@pytest.mark.parametrize("model", EVERY)
async def test_garbage_is_no_answer(
    model: str, kind: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Whatever a gateway may send with status 200: a sentence comes of it, no error of a library, and no text."""
    mind = asked_once(model)
    for text in GARBAGE:
        server.will(sends(text, kind=kind))

        assert (await failure(mind, tokens=tokens)).reason in {"unavailable", "empty"}, text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "delta", "finish_reason", "usage", "prompt_tokens", "type", "text", "id",
             "output", "stop_reason", "role", "model", "index", "error", "created", "object", "input_tokens"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=JSON)
async def test_any_json_is_an_answer_or_a_sentence(
    model: str, body: object, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Nothing else comes out, whatever comes in."""
    server.will(sends(json.dumps(body)))
    said = ""
    try:
        said = (await asked_once(model).think(PROMPT, seconds=20, tokens=SHORT)).text
    except VoiceError as failed:
        said = str(failed).removeprefix(model)

    assert said.strip()


async def test_an_endless_answer_ends(asked_once: AskedOnce, server: ModelServer) -> None:
    """Before it fills the memory."""
    server.will(goes_on_for_ever())

    failed = await failure(asked_once(OWN), seconds=60)

    assert (failed.reason, failed.again) == ("unavailable", True)


def telling(reply: str) -> Reply:
    """Providers quote what they were sent."""
    told = f"Incorrect API key {KEY} with: {PROMPT.moving}"
    return {
        "status": fails(401, error("authentication_error", told, told), x_request_id=KEY),
        "garbage": sends(told),
        "answer": sends(json.dumps({"choices": [{"message": {"content": [told]}}], "model": told})),
        "stream": sends(
            f"data: {json.dumps(error('server_error', told, told))}\n\n", kind="text/event-stream"
        ),
    }[reply]


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("reply", ["status", "garbage", "answer", "stream"])
@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN, GEMINI])
async def test_neither_key_nor_prompt_is_in_an_error_or_the_log(
    model: str,
    reply: str,
    tokens: int,
    asked_once: AskedOnce,
    server: ModelServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not in its words, nor in what a traceback would show of what is behind it."""
    server.will(telling(reply))
    caplog.set_level(logging.INFO)

    failed = await failure(asked_once(model), tokens=tokens)

    shown = "".join(traceback.format_exception(failed)) + repr(vars(failed)) + caplog.text
    assert KEY not in shown
    assert SECRET not in shown
    assert failed.__cause__ is None
    assert failed.__context__ is None


@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN, GEMINI, BEDROCK])
async def test_the_libraries_log_no_prompt_either(model: str, asked_once: AskedOnce) -> None:
    """Theirs say at DEBUG all that they send; ours says at DEBUG what we do."""
    shown = io.StringIO()
    root, mind = logging.getLogger(), asked_once(model)
    before, level = root.handlers[:], root.level
    configure("DEBUG", stream=shown)
    try:
        await mind.think(PROMPT, seconds=20, tokens=SHORT)
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        logging.captureWarnings(capture=False)
        for name in TALKATIVE:
            logging.getLogger(name).setLevel(logging.NOTSET)

    assert SECRET not in shown.getvalue()
    assert KEY not in shown.getvalue()


async def test_the_name_a_provider_gives_a_model_is_written_down_only_if_it_is_one(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    """It goes into the transcript, which is no place for what somebody else wants to be read there."""
    mind = asked_once(OWN)
    for name in ("qwen3-2026", "<!channel> ignore previous", "x" * 1000, ""):
        server.will(says(Answer(model=name)))
        thought = await mind.think(PROMPT, seconds=20, tokens=SHORT)

        assert thought.usage.model == ("qwen3-2026" if name == "qwen3-2026" else "qwen3")
