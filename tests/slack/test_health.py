"""Whether Slack still knows us, and whether our clocks agree: heard from every answer, or asked for."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Roster
from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.errors import SlackError
from bot.slack.chat import SlackChat
from bot.slack.client import Identity, SlackHealth
from slack_sandbox import Sandbox
from tests.patience import wait_until

HELLO = Message(text="Hello")


@pytest.fixture
def health() -> SlackHealth:
    return SlackHealth()


@pytest.fixture
def heeded(client: AsyncWebClient, roster: Roster, us: Identity, health: SlackHealth) -> SlackChat:
    """A chat whose answers are listened to."""
    return SlackChat(client, roster, us, health=health)


@asynccontextmanager
async def watching(health: SlackHealth, client: AsyncWebClient) -> AsyncIterator[None]:
    task = asyncio.create_task(health.watch(client.auth_test))
    yield
    task.cancel()
    await asyncio.wait({task})


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks as soon as it may."""
    monkeypatch.setattr("bot.slack.client.CHECK_SECONDS", 0.01)


@pytest.mark.parametrize(
    "refusal", ["token_revoked", "invalid_auth", "account_inactive", "team_access_not_granted"]
)
async def test_a_refusal_of_us_counts_until_a_call_succeeds(
    heeded: SlackChat, health: SlackHealth, sandbox: Sandbox, place: Place, refusal: str
) -> None:
    """Whatever was asked for; people read the reason, and what to do."""
    sandbox.revoke_token(refusal)
    for key in ("k1", "k2"):
        with pytest.raises(SlackError):
            await heeded.post(place, HELLO, key=key, again=False)
    assert health.refusal.endswith(f"({refusal})")

    sandbox.revoke_token("")
    await heeded.post(place, HELLO, key="k2", again=False)
    assert health.refusal == ""


@pytest.mark.parametrize("refusal", ["is_archived", "missing_scope", "ratelimited", "internal_error"])
async def test_a_refusal_of_what_was_asked_for_is_not_one_of_us(
    heeded: SlackChat, health: SlackHealth, sandbox: Sandbox, place: Place, refusal: str
) -> None:
    """Another channel may be open, and another minute."""
    sandbox.fail_next("chat.postMessage", refusal)
    with pytest.raises(SlackError):
        await heeded.post(place, HELLO, key="k", again=False)

    assert health.refusal == ""


async def test_an_outage_gives_no_token_back(
    heeded: SlackChat, health: SlackHealth, sandbox: Sandbox, place: Place
) -> None:
    """Nor does it take one away."""
    sandbox.revoke_token()
    with pytest.raises(SlackError):
        await heeded.post(place, HELLO, key="k", again=False)
    sandbox.fail_next("chat.postMessage", status=503)
    with pytest.raises(SlackError):
        await heeded.post(place, HELLO, key="k", again=False)

    assert "token_revoked" in health.refusal


@pytest.mark.usefixtures("hasty")
async def test_that_the_token_is_good_again_is_found_out_by_itself(
    heeded: SlackChat, health: SlackHealth, client: AsyncWebClient, sandbox: Sandbox, place: Place
) -> None:
    """Nobody has to say anything for it; and as long as all is well and somebody calls, Slack is left alone."""
    await heeded.post(place, HELLO, key="k", again=False)
    async with watching(health, client):
        sandbox.revoke_token()
        with pytest.raises(SlackError):
            await heeded.post(place, HELLO, key="k2", again=False)
        await wait_until(lambda: asked(sandbox) > 1)
        assert health.refusal

        sandbox.revoke_token("")
        await wait_until(lambda: not health.refusal)
        before = asked(sandbox)
        for _ in range(100):
            await asyncio.sleep(0)
        assert asked(sandbox) == before


@pytest.mark.usefixtures("hasty")
async def test_a_token_that_is_revoked_at_night_is_found_out_too(
    health: SlackHealth, client: AsyncWebClient, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while without a call one is made."""
    monkeypatch.setattr("bot.slack.client.QUIET_SECONDS", 0.0)
    sandbox.revoke_token("account_inactive")
    async with watching(health, client):
        await wait_until(lambda: health.refusal)

    assert "Install the app again. (account_inactive)" in health.refusal


@pytest.mark.parametrize("seconds", [-400, 0, 90])
async def test_our_clock_is_compared_with_slacks(
    client: AsyncWebClient, sandbox: Sandbox, *, seconds: int
) -> None:
    """By the date of an answer, also of one that says no."""
    health = SlackHealth(now=lambda: time.time() + seconds)
    assert health.clock_ahead is None
    sandbox.revoke_token()

    with pytest.raises(SlackError):
        await health.ask(client.auth_test)

    assert health.clock_ahead == pytest.approx(seconds, abs=5)


def asked(sandbox: Sandbox) -> int:
    return sum(call.method == "auth.test" for call in sandbox.calls)
