"""An unmodified Bolt app, connected to a sandbox over real sockets."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox, Timing
from tests.sandbox.blocks import Body


@pytest.fixture
async def sandbox(timing: Timing) -> AsyncIterator[Sandbox]:
    async with Sandbox(timing=timing) as sandbox:
        yield sandbox


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[AsyncWebClient]:
    """The SDK's own client, without its retries: a refusal is what the test is about."""
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(
            token=sandbox.bot_token, base_url=sandbox.api_url, session=session, retry_handlers=[]
        )


@pytest.fixture
def app(sandbox: Sandbox, client: AsyncWebClient) -> AsyncApp:
    """Not connected yet."""
    return AsyncApp(client=client, signing_secret=sandbox.signing_secret, process_before_response=True)


@pytest.fixture
def heard(app: AsyncApp) -> list[Body]:
    """The payloads with messages that reach the app."""
    found: list[Body] = []

    @app.event("message")
    async def message(body: Body) -> None:
        found.append(body)

    return found


@pytest.fixture
async def bolt(sandbox: Sandbox, app: AsyncApp) -> AsyncIterator[AsyncApp]:
    """Connected by Socket Mode; tests add listeners to it."""
    handler = AsyncSocketModeHandler(app, sandbox.app_token, ping_interval=1)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    await sandbox.until(lambda: sandbox.connected)
    yield app
    await handler.close_async()  # type: ignore[no-untyped-call]


@pytest.fixture
def channel(sandbox: Sandbox) -> str:
    return sandbox.channel().id
