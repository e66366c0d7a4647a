"""Calls to Slack: in their turn, held up when Slack asks for it, and careful after one that seems to have failed."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Roster
from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.engine.ports import Urgency
from bot.errors import Postponed, SlackError
from bot.slack.chat import SlackChat
from bot.slack.client import CALL_SECONDS, CALL_SECONDS_HERE, Calls, Identity, opened
from bot.slack.pace import RATES, Pace, RateBudget, RateLimit
from slack_sandbox import App, Sandbox, Timing
from tests.patience import PATIENCE_SECONDS
from tests.slack.conftest import CHANNEL, MAYA

CALL = 0.3
HELLO = Message(text="Hello", speaker=MAYA.key)


class NotedLimit(RateLimit):
    def __init__(self) -> None:
        self.turns: list[list[str]] = []
        self.holds: list[tuple[str, float]] = []

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:  # noqa: ARG002
        self.turns.append([budget.name for budget in budgets])
        return 0.0

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        self.holds.append((budget.name, seconds))


@pytest.fixture
def limit() -> NotedLimit:
    return NotedLimit()


@pytest.fixture
def paced(client: AsyncWebClient, roster: Roster, us: Identity, limit: NotedLimit) -> SlackChat:
    return SlackChat(client, roster, us, pace=Pace(limit))


@pytest.fixture
async def hasty(sandbox: Sandbox, roster: Roster, us: Identity) -> AsyncIterator[SlackChat]:
    """A chat that soon gives up on a call."""
    async with opened(sandbox.bot_token, api_url=sandbox.api_url, seconds=CALL) as client:
        yield SlackChat(client, roster, us)


async def test_a_post_takes_its_turn_in_the_channel_and_in_the_workspace(
    paced: SlackChat, place: Place, limit: NotedLimit
) -> None:
    """Who waits for the channel does not take up the workspace's room meanwhile."""
    await paced.post(place, HELLO, key="k", again=False)

    assert limit.turns == [
        [f"chat.postMessage:{place.team}.{place.channel}", f"chat.postMessage:{place.team}"]
    ]


class Stopped(NotedLimit):
    """While somebody waits for the first turn, the whole process stands still for *seconds*."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._passed = 0.0

    def clock(self) -> float:
        return time.monotonic() + self._passed

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:
        await asyncio.sleep(0)
        self._passed, self._seconds = self._passed + self._seconds, 0.0
        return await super().take(budgets, spare=spare)


async def test_what_waited_in_a_process_that_was_stopped_is_not_posted(
    client: AsyncWebClient, place: Place, sandbox: Sandbox
) -> None:
    """It was thought dead, and another may have posted it: the engine is asked first whether it is still ours."""
    limit = Stopped(seconds=60)
    calls = Calls(client, Pace(limit), team=place.team, clock=limit.clock)
    with pytest.raises(SlackError) as refused:
        await calls(client.chat_postMessage, channel=place.channel, text="Hello")
    assert (refused.value.reason, refused.value.again) == ("stopped", True)
    assert not sandbox.calls_of("chat.postMessage")

    await calls(client.chat_postMessage, channel=place.channel, text="Hello")
    assert len(sandbox.calls_of("chat.postMessage")) == 1


async def test_a_long_queue_is_no_stop(client: AsyncWebClient, place: Place, sandbox: Sandbox) -> None:
    """Time that passes while we look is only a wait; and an edit may come late, whoever made it."""
    slow = Stopped(seconds=1)
    calls = Calls(client, Pace(slow), team=place.team, clock=slow.clock)
    answer = await calls(client.chat_postMessage, channel=place.channel, text="Hello")

    stopped = Stopped(seconds=60)
    late = Calls(client, Pace(stopped), team=place.team, clock=stopped.clock)
    await late(client.chat_update, channel=place.channel, ts=answer["ts"], text="Hello, all")
    assert [message.text for message in sandbox.messages()] == ["Hello, all"]


async def test_every_method_has_its_own_budget(
    paced: SlackChat, thread: Place, limit: NotedLimit, sandbox: Sandbox
) -> None:
    """Whatever the chat calls is in the table, and waits for nothing else."""
    ada = sandbox.person("ada")
    said = await ada.say(CHANNEL, "hm", thread_ts=thread.thread)
    ts = await paced.post(thread, HELLO, key="k", again=True)
    await paced.rewrite(thread, ts, HELLO, urgency=Urgency.CARD)
    await paced.react(thread, said, "eyes")
    await paced.unreact(thread, said, "eyes")
    await paced.read(thread, after="")
    await paced.open(thread, HELLO, key="k2", again=False)
    await paced.tell(thread, ada.id, HELLO, reply_url="")

    methods = {turn[0].partition(":")[0].replace(".", "_") for turn in limit.turns}
    assert methods == {
        "chat_getPermalink",
        "chat_postEphemeral",
        "chat_postMessage",
        "chat_update",
        "conversations_info",
        "conversations_replies",
        "reactions_add",
        "reactions_remove",
        "users_info",
    }
    assert methods <= RATES.keys()


@pytest.mark.parametrize(("retry_after", "held"), [(7, 7.0), (0, 1.0)])
async def test_slack_asking_for_patience_is_told_to_everybody(
    paced: SlackChat, thread: Place, limit: NotedLimit, sandbox: Sandbox, *, retry_after: int, held: float
) -> None:
    """The channel is held for all replicas; the engine comes back when it is over."""
    sandbox.fail_next("chat.postMessage", "ratelimited", retry_after=retry_after)

    with pytest.raises(SlackError) as refused:
        await paced.post(thread, HELLO, key="k", again=False)

    assert refused.value.again
    assert refused.value.after_seconds == retry_after
    assert limit.holds == [(f"chat.postMessage:{thread.team}.{thread.channel}", held)]


async def test_an_edit_that_slack_refuses_as_too_many_is_put_off(
    paced: SlackChat, thread: Place, limit: NotedLimit, sandbox: Sandbox
) -> None:
    """The engine does other work meanwhile; what a press leads to is waited for."""
    ts = await paced.post(thread, HELLO, key="k", again=False)
    sandbox.fail_next("chat.update", "ratelimited", retry_after=7)
    with pytest.raises(Postponed) as later:
        await paced.rewrite(thread, ts, HELLO, urgency=Urgency.CARD)
    assert later.value.after_seconds == 7

    sandbox.fail_next("chat.update", "ratelimited", retry_after=7)
    with pytest.raises(SlackError):
        await paced.rewrite(thread, ts, HELLO, urgency=Urgency.ANSWER)
    assert limit.holds == [(f"chat.update:{thread.team}", 7.0)] * 2


async def test_another_refusal_holds_up_nobody(
    paced: SlackChat, place: Place, limit: NotedLimit, sandbox: Sandbox
) -> None:
    """Slack is not slow, it only says no."""
    sandbox.archive()
    with pytest.raises(SlackError):
        await paced.post(place, HELLO, key="k", again=False)

    assert limit.holds == []


async def test_at_this_pace_slack_never_complains(roster: Roster) -> None:
    """A busy channel in a Slack with its real limits (and a fast clock): all of it is posted, in order."""
    timing = Timing(limits_speed=20)
    async with (
        Sandbox(app=App(), timing=timing, rate_limits=True) as sandbox,
        opened(sandbox.bot_token, api_url=sandbox.api_url, seconds=PATIENCE_SECONDS) as client,
    ):
        us = Identity(team=sandbox.team_id, user=sandbox.bot_user_id, bot=sandbox.bot_id)
        chat = SlackChat(client, roster, us, pace=Pace(RateLimit(speed=20)))
        place = Place(team=us.team, channel=sandbox.channel().id)
        for number in range(30):
            await chat.post(place, Message(text=f"{number}"), key=f"k{number}", again=False)

        assert [message.text for message in sandbox.messages()] == [f"{number}" for number in range(30)]
        assert not [call for call in sandbox.calls if call.error]


# --- after a post that seems to have failed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [{"status": 503}, {"error": "fatal_error"}, {"hang_up": True}, {"status": 502, "after": True}],
    ids=str,
)
async def test_after_a_post_that_may_yet_land_nobody_looks_too_soon(
    sandbox: Sandbox, roster: Roster, us: Identity, thread: Place, how: dict[str, Any]
) -> None:
    """Not before the time is over that the call had, and did not need."""
    sandbox.fail_next("chat.postMessage", **how)
    async with opened(sandbox.bot_token, api_url=sandbox.api_url, seconds=PATIENCE_SECONDS) as client:
        with pytest.raises(SlackError) as lost:
            await SlackChat(client, roster, us).post(thread, HELLO, key="k", again=False)

    assert lost.value.again
    assert 0 < lost.value.after_seconds <= PATIENCE_SECONDS


async def test_after_a_timeout_the_time_is_over(hasty: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """The engine's own pause is enough."""
    sandbox.fail_next("chat.postMessage", delay=30)
    with pytest.raises(SlackError) as lost:
        await hasty.post(thread, HELLO, key="k", again=False)

    assert (lost.value.reason, lost.value.again) == ("timeout", True)
    assert lost.value.after_seconds <= 0.05


async def test_a_post_that_lands_late_stands_there_once(
    hasty: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Refused, as it seemed, and posted a moment later all the same: who waited as told finds it."""
    sandbox.fail_next("chat.postMessage", status=503, late=CALL * 0.6)
    with pytest.raises(SlackError) as lost:
        await hasty.post(thread, HELLO, key="k", again=False)
    await asyncio.wait({asyncio.create_task(asyncio.Event().wait())}, timeout=lost.value.after_seconds)
    ts = await hasty.post(thread, HELLO, key="k", again=True)

    assert [message.ts for message in sandbox.thread(CHANNEL, thread.thread)][1:] == [ts]


async def test_what_never_left_is_tried_again_soon(roster: Roster, us: Identity, place: Place) -> None:
    """Without a connection nothing can have been posted."""
    async with opened("xoxb-nobody", api_url="http://127.0.0.1:1/api/") as client:
        with pytest.raises(SlackError) as lost:
            await SlackChat(client, roster, us).post(place, HELLO, key="k", again=False)

    assert (lost.value.reason, lost.value.again, lost.value.after_seconds) == ("unreached", True, 0)


async def test_what_can_be_repeated_need_not_wait(hasty: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """An edit made twice is one edit."""
    ts = await hasty.post(thread, HELLO, key="k", again=False)
    sandbox.fail_next("chat.update", status=503)
    with pytest.raises(SlackError) as lost:
        await hasty.rewrite(thread, ts, HELLO, urgency=Urgency.ANSWER)

    assert (lost.value.again, lost.value.after_seconds) == (True, 0)


async def test_a_slack_on_this_machine_is_given_less_time(sandbox: Sandbox) -> None:
    """It answers at once or never; Slack itself may take a while."""
    async with opened("xoxb-1", api_url=sandbox.api_url) as here, opened("xoxb-1") as there:
        assert (here.timeout, there.timeout) == (CALL_SECONDS_HERE, CALL_SECONDS)
