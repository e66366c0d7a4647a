"""Which models there are, whom each persona thinks with, and what somebody reads whose bot lacks something."""

import asyncio
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from bot.domain.catalog.personas import Chain
from bot.errors import ConfigError, VoiceError, lacks_extra
from bot.keys import Keys
from bot.settings import Settings
from bot.voices.llm.models import model_registry
from bot.voices.llm.providers import PROVIDERS
from bot.voices.model import LanguageModel, Prompt
from tests.patience import PATIENCE_SECONDS
from tests.voices.models.provider import Answer, ModelServer, fails, hangs, says

ROOT = Path(__file__).parents[3]
PROMPT = Prompt(("You are Maya.",), "Well?")
SettingsFor = Callable[..., Settings]


async def said_by(mind: LanguageModel | None) -> str:
    assert mind
    return (await mind.think(PROMPT, seconds=PATIENCE_SECONDS, tokens=100)).text


def complaint(model: str, **keys: str) -> str:
    async def opened() -> None:
        async with model_registry(model, Keys.model_validate(keys), seconds=1, calls=1):
            pass

    with pytest.raises(ConfigError) as refused:
        asyncio.run(opened())
    return str(refused.value)


# --- who is asked ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", "offline"),
        ("offline", "offline"),
        (" anthropic:claude-x ", "anthropic:claude-x"),
        ("a:x, b:y ,offline", "a:x,b:y,offline"),
        ("a:x,a:x,b:y", "a:x,b:y"),
        ("ollama:llama3.2:3b", "ollama:llama3.2:3b"),
        ("bedrock:arn:aws:bedrock:eu-west-1:1:i/x", "bedrock:arn:aws:bedrock:eu-west-1:1:i/x"),
    ],
)  # fmt: skip
def test_a_chain_is_read_as_people_write_it(text: str, read: str) -> None:
    """And each model is asked once, however often it is named."""
    assert str(Chain.read(text)) == read


@pytest.mark.parametrize(
    "text", ["gpt-6", "a:", ":x", "a:x,", "offline,a:x", "a:x,,b:y", "A:x", "a:x y", "a:x;b:y", "off-line"]
)
def test_what_is_no_chain_is_refused(text: str) -> None:
    """Nothing comes after offline, which never fails."""
    with pytest.raises(ValueError, match="is no model"):
        Chain.read(text)


async def test_the_next_model_of_another_provider_answers(settings: SettingsFor, server: ModelServer) -> None:
    """With the real clients of both."""
    server.will(fails(401), says(Answer("From the second.")))
    given = settings("anthropic:claude-sonnet-5,openai:qwen3,offline")

    async with model_registry(given.model, given, seconds=PATIENCE_SECONDS, calls=2) as found:
        assert await said_by(found.of()) == "From the second."

    assert [asked.path for asked in server.asked] == ["/v1/messages", "/v1/chat/completions"]


async def test_everybody_waits_for_the_busy_provider_together(
    settings: SettingsFor, server: ModelServer
) -> None:
    """However many personas have minds there, and whatever their models are called."""
    server.will(says())
    async with model_registry(
        "openai:one", settings(), personas=["openai:two"], seconds=PATIENCE_SECONDS, calls=2
    ) as found:
        both = [found.of(), found.of("openai:two")]
        await asyncio.gather(*(said_by(mind) for mind in both * 6))

    assert len(server.asked) == 12
    assert server.most_at_once <= 2


async def test_a_persona_thinks_with_a_model_of_its_own(settings: SettingsFor, server: ModelServer) -> None:
    """Everybody's stands in for it."""
    server.will(says(), fails(404), says())
    async with model_registry(
        "openai:everybodys", settings(), personas=["openai:own"], seconds=PATIENCE_SECONDS, calls=2
    ) as found:
        await said_by(found.of("openai:own"))
        await said_by(found.of("openai:own"))

    assert [asked.body["model"] for asked in server.asked] == ["own", "own", "everybodys"]


async def test_a_persona_may_have_nobody_to_stand_in(settings: SettingsFor, server: ModelServer) -> None:
    """`offline` behind its own model says so."""
    server.will(fails(404))
    own = "openai:own,offline"
    async with model_registry(
        "openai:everybodys", settings(), personas=[own], seconds=PATIENCE_SECONDS, calls=2
    ) as found:
        with pytest.raises(VoiceError):
            await said_by(found.of(own))

    assert [asked.body["model"] for asked in server.asked] == ["own"]


async def test_offline_has_no_mind(settings: SettingsFor) -> None:
    """For everybody, and for a persona that is to have none."""
    async with model_registry("offline", settings(), seconds=PATIENCE_SECONDS, calls=2) as found:
        assert found.of() is None
        assert found.of("offline") is None
    async with model_registry("openai:everybodys", settings(), seconds=PATIENCE_SECONDS, calls=2) as found:
        assert found.of("offline") is None
        assert found.of() is not None


async def test_a_persona_may_think_where_nobody_else_does(settings: SettingsFor, server: ModelServer) -> None:
    """Its front matter says so, and nothing contradicts it."""
    async with model_registry(
        "offline", settings(), personas=["openai:own"], seconds=PATIENCE_SECONDS, calls=2
    ) as found:
        assert await said_by(found.of("openai:own"))
    assert len(server.asked) == 1


async def test_what_is_under_way_at_the_end_is_let_go(settings: SettingsFor, server: ModelServer) -> None:
    """A bot that stops closes what it has opened, and waits for nobody."""
    server.will(hangs())
    async with model_registry("openai:qwen3", settings(), seconds=60, calls=2) as found:
        thinking = asyncio.create_task(said_by(found.of()))
        await server.arrived.wait()
        thinking.cancel()
        await asyncio.wait({thinking})

    await asyncio.wait_for(server.hung_up.wait(), PATIENCE_SECONDS)


async def test_a_model_that_cannot_be_set_up_is_told_in_a_sentence(
    settings: SettingsFor,
    server: ModelServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """AWS's library knows only at the end that there is no such profile; the others go on."""
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    given = settings(AWS_PROFILE="nobody", AWS_DEFAULT_REGION="")
    server.will(says())
    async with model_registry("bedrock:x,openai:qwen3", given, seconds=PATIENCE_SECONDS, calls=2) as found:
        assert await said_by(found.of())
        with pytest.raises(VoiceError) as failed:
            await said_by(found.of("bedrock:x,offline"))

    assert str(failed.value).startswith("bedrock:x could not be set up")
    assert not failed.value.again
    assert "bedrock:x could not be set up" in caplog.text


# --- what is missing ------------------------------------------------------------------------------------------------


class Hidden:
    """An installation without some libraries."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self._names:
            raise ModuleNotFoundError(name)
        return None


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def hide(*names: str) -> None:
        monkeypatch.setattr(sys, "meta_path", [Hidden(*names), *sys.meta_path])
        for name in names:
            monkeypatch.delitem(sys.modules, name, raising=False)

    return hide


@pytest.mark.parametrize(
    ("model", "library", "extra"),
    [
        ("anthropic:x", "anthropic", "anthropic"),
        ("openai:x", "openai", "openai"),
        ("ollama:x", "openai", "openai"),
        ("vllm:x", "openai", "openai"),
        ("google:x", "google.genai", "google"),
        ("bedrock:x", "boto3", "bedrock"),
        ("openai:x", "pydantic_ai", "openai"),
    ],
)
def test_a_missing_extra_is_named(model: str, library: str, extra: str, hidden: Callable[..., None]) -> None:
    """As it is written on the command line."""
    hidden(library)

    said = complaint(
        model, openai_api_key="k", anthropic_api_key="k", google_api_key="k", aws_region="eu-west-1"
    )

    assert said == f"{model} cannot be asked: {lacks_extra(extra)}"


def test_every_extra_is_one_of_ours() -> None:
    """What the sentence names can be installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert {provider.extra for provider in PROVIDERS.values()} <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("anthropic:x", "anthropic:x needs ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own."),
        ("openai:x", "openai:x needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own."),
        ("google:x", "google:x needs GOOGLE_API_KEY or GEMINI_API_KEY, or GOOGLE_GEMINI_BASE_URL for a server of"),
        ("bedrock:x", "bedrock:x needs AWS_REGION or AWS_DEFAULT_REGION, or AWS_PROFILE."),
    ],
)  # fmt: skip
def test_a_missing_key_is_named(model: str, said: str) -> None:
    """By the name under which it is looked for."""
    assert complaint(model).startswith(said)


def test_a_misspelt_provider_is_corrected() -> None:
    """And where nothing is close, there is a list."""
    assert complaint("opnai:x") == "opnai:x is of a provider that we do not know; did you mean openai?"
    assert "We know anthropic, bedrock, google" in complaint("xyzzy:x")


@pytest.mark.parametrize(
    "address", ["localhost:11434", "ftp://gpu/v1", "http://", "http://gpu:port", "http://a b"]
)
def test_a_wrong_address_is_named_and_not_shown(address: str) -> None:
    """It may hold a password."""
    assert complaint("openai:x", openai_base_url=address) == (
        "OPENAI_BASE_URL must be an address that starts with https:// or http://."
    )


@pytest.mark.parametrize("model", ["ollama:llama3.2", "vllm:qwen3", "openai:x"])
async def test_a_server_of_ones_own_needs_no_key(
    model: str, settings: SettingsFor, server: ModelServer
) -> None:
    """Most have none."""
    given = settings(OPENAI_API_KEY="")
    async with model_registry(model, given, seconds=PATIENCE_SECONDS, calls=2) as found:
        assert await said_by(found.of())
    assert len(server.asked) == 1


# --- what nobody pays who does not want it ---------------------------------------------------------------------------

LIBRARIES = (
    "pydantic_ai", "openai", "anthropic", "google.genai", "boto3", "botocore", "genai_prices", "httpx2",
    "httpx",
)  # fmt: skip
LOADED = f"""
import asyncio, sys
import bot.app, bot.cli.check, bot.cli.main
from bot.settings import Settings
from bot.voices.llm.models import model_registry

async def main():
    for model in ("offline", "openai:x"):
        env = {{"ROUNDTABLE_MODEL": model, "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}}
        settings, personas = Settings.from_env(env), ["", "offline"]
        async with model_registry(settings.model, settings, personas=personas, seconds=1, calls=1) as found:
            assert (found.of() is None) is (model == "offline")
            if found.of():
                await found._loading
        print([name for name in {LIBRARIES} if name in sys.modules])

asyncio.run(main())
"""


def test_a_bot_loads_no_library_for_a_model_that_it_does_not_have() -> None:
    """Some take seconds, whatever keys are in the environment; nor do those of other providers have to be installed."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    offline, one = done.stdout.splitlines()

    assert offline == "[]"
    assert "'openai'" in one
    assert not [name for name in ("anthropic", "google.genai", "boto3") if f"'{name}'" in one]
