"""What is traced and counted of each call of a model, and that nothing of it is words."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client.parser import text_string_to_metric_families

from bot.domain.catalog.personas import ModelTask
from bot.errors import VoiceError
from bot.server.metrics import Metrics
from bot.settings import Settings
from bot.voices.llm.models import model_registry
from bot.voices.model import LanguageModel, Prompt, Usage
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.recorded_spans import Recorder
from tests.voices.models.provider import Answer, Called, ModelServer, fails, hangs, says
from tests.voices.models.test_looking_and_proposing import Toolbox

ASKED = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "qwen3",
}


async def asked(found: LanguageModel | None, prompt: Prompt) -> str:
    assert found
    return (await found.think(prompt, seconds=PATIENCE_SECONDS, tokens=100)).text


async def test_a_call_of_a_model_has_the_attributes_of_the_conventions(
    recorder: Recorder, server: ModelServer, settings: Callable[..., Settings]
) -> None:
    """Names and tokens of both sides, and never the prompt or the answer; each tool that was used is a span, too."""
    server.will(says(Answer(calls=(Called("search_code", {"text": "secret"}),))), says())
    async with model_registry("openai:qwen3", settings(), seconds=PATIENCE_SECONDS, calls=1) as found:
        answer = await asked(found.of(), Prompt((), "secret words", tools=Toolbox()))

    call, *tools = recorder.spans
    assert (call.name, call.kind, call.status) == ("chat qwen3", SpanKind.CLIENT, StatusCode.UNSET)
    assert call.about == {
        **ASKED,
        "gen_ai.response.model": "model-2026-11-01",
        "gen_ai.usage.input_tokens": 2400,
        "gen_ai.usage.output_tokens": 80,
        "gen_ai.usage.cache_read.input_tokens": 2000,
        "gen_ai.response.finish_reasons": ("tool_call", "stop"),
    }
    assert [(one.name, one.about["gen_ai.tool.name"]) for one in tools] == [
        ("execute_tool search_code", "search_code")
    ]
    assert {one.headers.get("traceparent") for one in server.asked} == {call.header["traceparent"]}
    assert "secret" not in recorder.words
    assert answer not in recorder.words


async def test_a_call_of_a_model_that_failed_is_an_error(
    recorder: Recorder, server: ModelServer, settings: Callable[..., Settings]
) -> None:
    """With the reason as its type; no model answered."""
    server.will(fails(401))
    async with model_registry("openai:qwen3", settings(), seconds=PATIENCE_SECONDS, calls=1) as found:
        with pytest.raises(VoiceError):
            await asked(found.of(), Prompt((), "secret words"))

    (call,) = recorder.spans
    assert call.status is StatusCode.ERROR
    assert call.about == {**ASKED, "error.type": "denied"}


# --- metrics ----------------------------------------------------------------------------------------------------------


def numbers(metrics: Metrics) -> dict[str, float]:
    """Of the models, by name, labels and task."""
    families = text_string_to_metric_families(metrics.exposed().decode())
    return {
        " ".join((sample.name.removeprefix("roundtable_model_"), *_words_of(sample.labels))): sample.value
        for family in families
        for sample in family.samples
        if sample.labels.get("model") == "qwen3" and "le" not in sample.labels
    }


def _words_of(labels: Mapping[str, str]) -> list[str]:
    return [labels[one] for one in ("task", "outcome", "type") if one in labels]


@pytest.mark.parametrize("task", [*ModelTask, ""])
async def test_the_tokens_in_the_metrics_are_those_of_the_transcript(
    task: str, server: ModelServer, settings: Callable[..., Settings]
) -> None:
    """
    By task. Each request of a call counts, also of one that ends in no answer, or that people have stopped; a model
    without a price has no cost.
    """
    metrics, served = Metrics("T1"), list[Usage]()
    looks = says(Answer(calls=(Called("search_code", {"text": "queue"}),)))
    server.will(looks, says(), says(Answer(finish="length")), says(Answer(finish="content_filter")), hangs())
    prompt = Prompt((), "Well?", served=served, task=task)
    async with model_registry(
        "openai:qwen3", settings(), seconds=PATIENCE_SECONDS, calls=1, meter=metrics
    ) as found:
        begun = numbers(metrics)
        await asked(found.of(), prompt._replace(tools=Toolbox()))
        for _ in ("cut_off", "refused"):
            with pytest.raises(VoiceError):
                await asked(found.of(), prompt)
        stopped = asyncio.create_task(asked(found.of(), prompt))
        await wait_until(lambda: len(server.asked) == 5)
        stopped.cancel()
        await asyncio.wait({stopped})

    assert set(begun.values()) == {0.0}, "a first refusal would be no increase"
    label = task or "other"
    counted = {name: value for name, value in numbers(metrics).items() if value and label in name.split()}
    assert counted.pop(f"seconds_sum {label}") > 0
    assert counted == {
        **{f"calls_total {label} {one}": 1 for one in ("answered", "cut_off", "refused", "cancelled")},
        f"tokens_total {label} input": sum(one.tokens_in or 0 for one in served),
        f"tokens_total {label} output": sum(one.tokens_out or 0 for one in served),
        f"tokens_total {label} cached": 4000,
        f"seconds_count {label}": 4,
    }
    assert sum(numbers(metrics).values()) == sum(counted.values()) + numbers(metrics)[f"seconds_sum {label}"]
