from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path

import certifi
import pytest

from bot.domain.catalog.personas import Chain
from bot.settings import Settings
from bot.voices.llm import loading
from bot.voices.model import LanguageModel
from tests.patience import PATIENCE_SECONDS
from tests.voices.models.provider import ModelServer, settings_for


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every client reads the certificates of all authorities, which takes it 25 ms; nothing here is encrypted."""
    known = Path(certifi.where()).read_text(encoding="utf-8")
    end = "-----END CERTIFICATE-----\n"
    place = tmp_path_factory.mktemp("authorities") / "one.pem"
    place.write_text(known[: known.index(end) + len(end)], encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(place))
        yield


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def settings(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    """Settings under which every provider is at *server*. AWS's library reads the environment itself."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASESAME")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame-aws")
    return lambda model="offline", **env: settings_for(server, model, **env)


@pytest.fixture
async def asked_once(settings: Callable[..., Settings]) -> AsyncIterator[Callable[[str], LanguageModel]]:
    """The mind of a model without its chain: what it raises is what one call came to."""
    async with AsyncExitStack() as stack:

        @cache
        def mind(model: str) -> LanguageModel:
            [name] = Chain.read(model).names
            loaded = loading.load([name], settings(), seconds=PATIENCE_SECONDS)
            stack.push_async_callback(loaded.close)
            assert not loaded.broken
            return loaded.callers[name]

        yield mind
