"""What those see who run the bot: how it starts, stops, and gets along without what it needs."""

import asyncio
import json
import re
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import redis

from bot import app
from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME
from bot.storage.serialization import SHAPE
from slack_sandbox import App, Delivery, Sandbox, Timing
from slack_sandbox.webhooks import sign
from tests import stored
from tests.command_line import CommandLine
from tests.durability.processes import ROOT, Nursery, Process
from tests.e2e.meeting import CHANNEL, LogLines, Meeting, environment, settings
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port
from tests.redis_server import RedisServer

LONG_SECONDS = int(5 * PATIENCE_SECONDS)
"""What takes so long is not what a test has waited for."""
IMPATIENT = Timing(ack_seconds=1.5, retry_seconds=(0.1, 0.5, 1, 3, 10))


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    """It repeats what was not acknowledged sooner than Slack would."""
    async with Sandbox(timing=IMPATIENT, app=App(shortcuts={SHORTCUT: SHORTCUT_NAME})) as sandbox:
        yield sandbox


@dataclass
class Bot:
    """`roundtable run`, as an orchestrator sees it. *port* is for its health, *slack_port* for Slack's requests."""

    process: Process
    port: int
    slack_port: int

    @property
    def said(self) -> list[str]:
        return self.process.log.read_text("utf-8").splitlines()

    def has_said(self, words: str) -> bool:
        return any(words in line for line in self.said)

    async def says(self, words: str) -> None:
        await wait_until(lambda: self.has_said(words) or not self.process.alive)
        assert self.has_said(words), self.said

    async def stop(self) -> int:
        """SIGTERM: the exit code. Past its time it would be killed, as by an orchestrator."""
        return await self.process.stop()

    async def ended(self) -> int:
        return await asyncio.wait_for(asyncio.shield(self.process.ended), PATIENCE_SECONDS)


@asynccontextmanager
async def bot(
    slack: Sandbox, workspace: Path, root: Path = ROOT, /, *, until: str = "is listening", **more: str
) -> AsyncIterator[Bot]:
    """*root* is where its code is. It has said *until*."""
    port, slack_port = free_port(), free_port()
    log = workspace.parent / f"bot-{port}.log"
    log.touch()
    env = {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "ROUNDTABLE_WORKSPACE": str(workspace),
        "ROUNDTABLE_PORT": str(slack_port),
        "ROUNDTABLE_HEALTH_PORT": str(port),
        **more,
    }
    async with Nursery() as nursery:
        one = Bot(await nursery.bear(env, log=log, fresh=root != ROOT, root=root), port, slack_port)
        await one.says(until)
        yield one


async def asked(port: int, path: str) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.json() if path == "/readyz" else await response.text()


async def ready(port: int, *, is_ready: bool, **reasons: str) -> dict[str, Any]:
    """The parts, as soon as readiness is so for these *reasons*: a busy machine may have others for a moment."""

    async def found() -> dict[str, Any] | None:
        with suppress(aiohttp.ClientError):  # it may not listen yet
            status, answer = await asked(port, "/readyz")
            parts: dict[str, Any] = answer["parts"]
            assert status == (200 if answer["ready"] else 503)
            said = all(words in parts[name].get("reason", "") for name, words in reasons.items())
            return parts if said and answer["ready"] is is_ready else None
        return None

    parts: dict[str, Any] = await wait_until(found)
    return parts


# --- going back a version -------------------------------------------------------------------------------------------


async def test_an_older_version_is_unready_and_not_deaf(
    slack: Sandbox, tmp_path: Path, redis_url: str
) -> None:
    """What only a newer one can read it leaves alone, and says so; other items go on."""
    meeting = Meeting(slack, tmp_path / "workspace")
    async with bot(slack, meeting.workspace, REDIS_URL=redis_url) as newer:
        await meeting.start("Offline sync")
        assert await newer.stop() == 0
    key = stored.key("offline-sync")
    with redis.Redis.from_url(redis_url, decode_responses=True) as store:
        state = json.loads(str(store.hget(key, "state"))) | {"stage": "dreaming", "shape": SHAPE + 1}
        store.hset(key, mapping={"state": json.dumps(state), "shape": SHAPE + 1})
        before = store.hgetall(key)

        async with bot(slack, meeting.workspace, REDIS_URL=redis_url) as older:
            await ready(older.port, is_ready=False, store="'offline-sync' was saved by a later version")
            await older.says("was saved by a later version of this program")

            ada = slack.person("ada")
            wish = await ada.slash(CHANNEL, "/roundtable status offline-sync")
            assert "newer version of me" in wish.response["text"]
            await meeting.say("Field workers lose their edits")
            await slack.until(lambda: any("newer version of me" in one.text for one in ada.ephemerals))

            await meeting.start("Dark mode")
            await meeting.say("It is too bright at night")
            await meeting.finish_step()
        assert store.hgetall(key) == before


# --- stopping -------------------------------------------------------------------------------------------------------


async def test_a_stop_in_the_middle_of_a_discussion_loses_nothing(slack: Sandbox, tmp_path: Path) -> None:
    """SIGTERM ends the process in time and with 0; the next one goes on, and nobody repeats themselves."""
    meeting = Meeting(slack, tmp_path / "workspace")
    async with bot(slack, meeting.workspace) as first:
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.discuss()
        await meeting.say("Alex, what about conflicts?")
        assert await first.stop() == 0, first.said
        assert slack.connections == 0

    async with bot(slack, meeting.workspace) as second:
        await slack.settled()
        await meeting.until(lambda: len(meeting.menus("end_elaboration")) and _alex_answered(meeting))
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
        await second.stop()

    heard = [line.content for line in meeting.lines("User")]
    assert heard == ["Field workers lose their edits", "Alex, what about conflicts?"]
    posted = [message.metadata["event_payload"] for message in meeting.thread if message.by_bot]
    assert len(posted) == len({str(one) for one in posted})


def _alex_answered(meeting: Meeting) -> bool:
    texts = [message.text for message in meeting.thread]
    after = texts[texts.index("Alex, what about conflicts?") :]
    return any(text.startswith("Alex Rivera") for text in after)


async def test_a_stop_does_not_wait_for_slack_to_calm_down(slack: Sandbox, tmp_path: Path) -> None:
    """A post that has to wait is handed over, and made once by the next process."""
    meeting = Meeting(slack, tmp_path / "workspace")
    async with bot(slack, meeting.workspace) as first:
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await slack.settled()
        before = len(meeting.thread)
        slack.fail_next("chat.postMessage", "ratelimited", status=429, retry_after=LONG_SECONDS)
        await meeting.press("elaborate")
        await wait_until(lambda: not slack.faults._planned)
        assert await first.stop() == 0, first.said

    async with bot(slack, meeting.workspace) as second:
        await meeting.menu("end_elaboration")
        await second.stop()
    texts = [message.text for message in meeting.thread[before:]]
    assert len(texts) == len(set(texts))


async def test_what_one_process_leaves_undone_another_does_at_once(
    slack: Sandbox, tmp_path: Path, redis_url: str
) -> None:
    """It is handed over, and not found after a time-out; both take what Slack has for either."""
    meeting = Meeting(slack, tmp_path / "workspace")
    shared = {"REDIS_URL": redis_url}
    async with (
        bot(slack, meeting.workspace, **shared) as one,
        bot(slack, meeting.workspace, **shared) as other,
    ):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await slack.settled()
        slack.fail_next("chat.postMessage", status=503)
        await meeting.press("elaborate")
        await wait_until(lambda: one.has_said("is tried again") or other.has_said("is tried again"))
        payer, successor = (one, other) if one.has_said("is tried again") else (other, one)

        assert await payer.stop() == 0, payer.said
        await meeting.menu("end_elaboration")
        assert await successor.stop() == 0


async def test_a_second_signal_is_not_waited_for(slack: Sandbox, tmp_path: Path) -> None:
    """Somebody at a terminal who presses Ctrl-C twice means it."""
    meeting = Meeting(slack, tmp_path / "workspace")
    async with bot(slack, meeting.workspace) as impatient:
        slack.fail_next("chat.postMessage", delay=30)
        await slack.person("ada").slash(CHANNEL, "/roundtable start Offline sync")
        await wait_until(lambda: not slack.faults._planned)
        impatient.process.terminate()
        await wait_until(lambda: slack.connections == 0)
        impatient.process.terminate()

        assert await impatient.ended() == 1


# --- starting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-wrong"}, "Slack refused SLACK_BOT_TOKEN"),
        ({"SLACK_APP_TOKEN": "xapp-wrong"}, "SLACK_APP_TOKEN"),
        ({"ROUNDTABLE_PORT": "no"}, "ROUNDTABLE_PORT"),
    ],
    ids=["bot-token", "app-token", "port"],
)
async def test_what_can_never_work_is_said_in_a_sentence(
    slack: Sandbox, tmp_path: Path, loaded: CommandLine, wrong: dict[str, str], sentence: str
) -> None:
    """Exit code 1, no traceback, no token."""
    refused = await loaded.run(tmp_path, "run", **environment(slack, tmp_path / "workspace", **wrong))

    assert refused.code == 1
    assert sentence in refused.err.splitlines()[-1]
    assert "wrong" not in refused.out + refused.err


async def test_a_slack_that_cannot_be_reached_is_waited_for(slack: Sandbox, tmp_path: Path) -> None:
    """Meanwhile it is alive and not ready, says why, and can be stopped."""
    nowhere = f"http://127.0.0.1:{free_port()}/api/"
    why = "Slack does not answer; the next attempt is in"
    async with bot(slack, tmp_path / "workspace", until=why, SLACK_API_URL=nowhere) as waiting:
        parts = await ready(waiting.port, is_ready=False, slack="not connected", store="not open yet")
        alive, _ = await asked(waiting.port, "/healthz")
        assert await waiting.stop() == 0

    assert alive == 200
    assert parts["slack"] == {"ok": False, "reason": "not connected to Slack yet"}
    assert parts["store"]["reason"] == "not open yet: Slack has to say first for which workspace"


async def test_over_http_slack_is_let_in_when_the_bot_is_up(slack: Sandbox, tmp_path: Path) -> None:
    port, slack_port = free_port(), free_port()
    more = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": slack.signing_secret}
    more |= {"ROUNDTABLE_PORT": str(slack_port), "ROUNDTABLE_HEALTH_PORT": str(port)}
    meeting = Meeting(slack, tmp_path / "workspace")
    async with app.bot(settings(slack, meeting.workspace, **more)):
        assert await slack.use_http(f"http://127.0.0.1:{slack_port}/slack/events")
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        parts = await ready(port, is_ready=True)
        _, text = await asked(port, "/metrics")

    assert parts["slack"]["ok"]
    assert "clock_ahead_seconds" in parts["slack"]
    assert 'roundtable_usable{part="slack"} 1.0' in text
    assert 'roundtable_acks_total{door="action",result="taken",team="T0SANDBOX"} 1.0' in text


# --- Redis ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def with_redis(slack: Sandbox, tmp_path: Path, url: str) -> AsyncIterator[tuple[Meeting, int]]:
    port = free_port()
    meeting = Meeting(slack, tmp_path / "workspace", more={"REDIS_URL": url})
    chosen = settings(slack, meeting.workspace, REDIS_URL=url, ROUNDTABLE_HEALTH_PORT=str(port))
    async with app.bot(chosen):
        yield meeting, port


async def test_a_start_without_redis_is_made_up_for(
    slack: Sandbox, tmp_path: Path, redis_url: str, redis_server: RedisServer
) -> None:
    """The bot is up and not ready; as soon as Redis answers, it works, without anybody doing anything."""
    redis_server.stop()
    async with with_redis(slack, tmp_path, redis_url) as (meeting, port):
        parts = await ready(port, is_ready=False, store="Redis did not answer")
        assert parts["slack"]["ok"]
        assert (await asked(port, "/healthz"))[0] == 200

        redis_server.start()
        await ready(port, is_ready=True)
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")


async def test_while_redis_is_away_nothing_is_acknowledged_and_people_are_told(
    slack: Sandbox, tmp_path: Path, redis_url: str, redis_server: RedisServer
) -> None:
    """Killed in mid-meeting: words come again by themselves, wishes get a sentence, and then the meeting goes on."""
    await meet_while_redis_ends(slack, tmp_path, redis_url, redis_server.kill, redis_server.start)


async def meet_while_redis_ends(
    slack: Sandbox, tmp_path: Path, url: str, kill: Callable[[], None], start: Callable[[], None]
) -> None:
    ada = slack.person("ada")
    async with with_redis(slack, tmp_path, url) as (meeting, port):
        await ready(port, is_ready=True)
        await meeting.start("Offline sync")
        await slack.settled()
        kill()

        await meeting.say("Field workers lose their edits")
        words = slack.events("message")[-1]
        wish = await ada.slash(CHANNEL, "/roundtable list")
        press = await ada.press(meeting.menus("finish_step")[-1], "roundtable.finish_step")
        await ready(port, is_ready=False, store="Redis did not answer")
        await slack.until(lambda: words.attempts > 1)

        assert not words.acked
        assert "could not save that" in wish.response["text"]
        assert press.acked
        await slack.until(lambda: "could not save that" in ada.ephemerals[-1].text)

        start()
        await go_on(meeting, port, words)
    assert_heard_once(meeting)


async def go_on(meeting: Meeting, port: int, words: Delivery) -> None:
    """Until the step is finished to which *words* were said."""
    await ready(port, is_ready=True)
    if not words.acked:
        await meeting.slack.redeliver(words)
    await meeting.until(lambda: words.acked)
    await meeting.slack.settled()
    await meeting.press("finish_step")
    await meeting.until(lambda: meeting.menus("continue"))


def assert_heard_once(meeting: Meeting) -> None:
    assert [line.content for line in meeting.lines("User")] == ["Field workers lose their edits"]
    texts = [message.text for message in meeting.thread]
    assert len(texts) == len(set(texts))


async def test_a_redis_that_hangs_holds_nobody_up(
    slack: Sandbox, tmp_path: Path, redis_url: str, redis_server: RedisServer
) -> None:
    """It takes connections and says nothing: half a second later everybody knows where they stand."""
    ada = slack.person("ada")
    async with with_redis(slack, tmp_path, redis_url) as (meeting, port):
        await meeting.start("Offline sync")
        await slack.settled()
        assert redis_server._running
        redis_server._running.send_signal(signal.SIGSTOP)
        try:
            wish = await ada.slash(CHANNEL, "/roundtable list")
            press = await ada.press(meeting.menus("finish_step")[-1], "roundtable.finish_step")
            await ready(port, is_ready=False, store="Redis did not answer")
        finally:
            redis_server._running.send_signal(signal.SIGCONT)

        assert "could not save that" in wish.response["text"]
        assert press.acked
        await ready(port, is_ready=True)
        await meeting.do_step("Field workers lose their edits")


FULL = ("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")
REPLICA = ("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")
TOO_FEW = ("CONFIG", "SET", "min-replicas-to-write", "1"), ("CONFIG", "SET", "min-replicas-to-write", "0")


async def test_a_redis_that_takes_no_writes_is_not_ready(
    slack: Sandbox, tmp_path: Path, redis_url: str
) -> None:
    """It answers all the same, and readiness says why; when it takes writes again, the bot is ready again."""
    async with with_redis(slack, tmp_path, redis_url) as (_, port):
        await ready(port, is_ready=True)
        for (refusing, taking), code in ((FULL, "OOM"), (REPLICA, "READONLY"), (TOO_FEW, "NOREPLICAS")):
            with redis.Redis.from_url(redis_url) as operator:
                operator.execute_command(*refusing)
                refused = {"ok": False, "reason": f"Redis refuses writes ({code})"}
                try:
                    await wait_for(has_store(refused), port)
                    _, text = await asked(port, "/metrics")
                finally:
                    operator.execute_command(*taking)
            assert 'roundtable_usable{part="store"} 0.0' in text
            await ready(port, is_ready=True)


async def test_a_workspace_that_takes_no_writes_is_not_ready(slack: Sandbox, tmp_path: Path) -> None:
    """
    `.git` may be on a disk of its own. A file stands where the folder was: tests may be run by root, whom no permission
    stops. With the folder back, the bot is ready again.
    """
    port = free_port()
    async with app.bot(settings(slack, tmp_path / "workspace", ROUNDTABLE_HEALTH_PORT=str(port))):
        await ready(port, is_ready=True)
        for place in (".git/objects", ".roundtable"):
            blocked = tmp_path / "workspace" / place
            blocked.rename(tmp_path / "aside")
            blocked.write_text("in the way")
            await wait_for(
                lambda parts: not parts["workspace"]["ok"] and bool(parts["workspace"]["reason"]), port
            )
            await ready(port, is_ready=False)
            blocked.unlink()
            (tmp_path / "aside").rename(blocked)
            await ready(port, is_ready=True)


async def test_an_idle_bot_ends_while_redis_is_away(
    slack: Sandbox, tmp_path: Path, redis_url: str, redis_server: RedisServer
) -> None:
    """SIGTERM is not an error then, either, and leaves no traceback."""
    async with bot(slack, tmp_path / "workspace", REDIS_URL=redis_url) as idle:
        redis_server.stop()
        await ready(idle.port, is_ready=False, store="Redis did not answer")
        assert await idle.stop() == 0
        assert not idle.has_said("Traceback"), idle.said


# --- watching -------------------------------------------------------------------------------------------------------


async def test_what_happens_in_a_meeting_can_be_watched(slack: Sandbox, tmp_path: Path) -> None:
    """Every door, input, effect, turn and commit of it, and nothing that anybody said."""
    port = free_port()
    meeting = Meeting(slack, tmp_path / "workspace")
    async with app.bot(settings(slack, meeting.workspace, ROUNDTABLE_HEALTH_PORT=str(port))):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.discuss()
        await meeting.say("Alex, what about conflicts?")
        await meeting.seen("I have no model here")
        parts = await ready(port, is_ready=True)
        _, text = await asked(port, "/metrics")
        numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    assert {"hello_age_seconds", "clock_ahead_seconds"} < parts["slack"].keys()
    assert "oldest_seconds" in parts["queue"]
    for door, times in (("command", 1), ("event", 2), ("action", 2)):
        assert (
            float(numbers[f'roundtable_acks_total{{door="{door}",result="taken",team="T0SANDBOX"}}']) >= times
        )
        assert float(numbers[f'roundtable_ack_seconds_sum{{door="{door}",team="T0SANDBOX"}}']) > 0
    assert numbers['roundtable_inputs_total{kind="start",result="saved",team="T0SANDBOX"}'] == "1.0"
    assert numbers['roundtable_inputs_total{kind="say",result="saved",team="T0SANDBOX"}'] == "2.0"
    assert numbers['roundtable_inputs_total{kind="press",result="saved",team="T0SANDBOX"}'] == "2.0"
    assert numbers['roundtable_commits_total{of="step",team="T0SANDBOX"}'] == "1.0"
    assert numbers['roundtable_turns_total{by="person",team="T0SANDBOX"}'] == "1.0"
    assert float(numbers['roundtable_turns_total{by="persona",team="T0SANDBOX"}']) >= 1
    assert numbers['roundtable_effects_total{kind="open_thread",outcome="done",team="T0SANDBOX"}'] == "1.0"
    assert numbers['roundtable_open_roundtables{stage="elaborating",team="T0SANDBOX"}'] == "1.0"
    assert not any(
        word in text for word in ("Offline", "offline", "Field", "conflicts?", "U0ADA", "C0SANDBOX")
    )


async def test_a_token_that_was_revoked_makes_the_bot_unready_until_it_is_good_again(
    slack: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection stays open, and people are heard; but nobody can be answered. Nobody has to do anything after."""
    monkeypatch.setattr("bot.slack.client.CHECK_SECONDS", 0.2)
    port = free_port()
    meeting = Meeting(slack, tmp_path / "workspace")
    async with app.bot(settings(slack, meeting.workspace, ROUNDTABLE_HEALTH_PORT=str(port))):
        await meeting.start("Offline sync")
        await ready(port, is_ready=True)

        slack.revoke_token()
        await meeting.say("Field workers lose their edits")
        parts = await ready(port, is_ready=False, slack="token_revoked")
        _, text = await asked(port, "/metrics")
        assert parts["slack"]["reason"].endswith("set SLACK_BOT_TOKEN. (token_revoked)")
        assert [name for name, part in parts.items() if not part["ok"]] == ["slack"]
        assert slack.connections
        assert 'roundtable_usable{part="slack"} 0.0' in text
        assert 'roundtable_slack_shut_out{team="T0SANDBOX"} 1.0' in text

        slack.revoke_token("")
        parts = await ready(port, is_ready=True)
        assert parts["slack"]["shut_out"] == 0


async def test_a_roundtable_that_stands_still_makes_nobody_unready(
    slack: Sandbox, tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack refuses its posts for long; the process that has it in hand, and all others, serve everybody else."""
    monkeypatch.setattr("bot.server.health.OVERDUE_SECONDS", 0.1)
    async with with_redis(slack, tmp_path, redis_url) as (meeting, port):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        slack.fail_next("chat.postMessage", status=503, times=1000)
        await meeting.press("elaborate")
        other = free_port()
        chosen = settings(slack, tmp_path / "other", REDIS_URL=redis_url, ROUNDTABLE_HEALTH_PORT=str(other))
        async with app.bot(chosen):
            await wait_for(lambda parts: parts["queue"].get("oldest_seconds", 0) > 1, port)
            one, two = await ready(port, is_ready=True), await ready(other, is_ready=True)
        slack.faults.clear()

    for parts in (one, two):
        assert parts["queue"]["ok"]
        assert parts["queue"]["owing"] == 1
        assert parts["queue"]["oldest_seconds"] > 1


async def test_who_owns_the_team_is_seen(slack: Sandbox, tmp_path: Path, redis_url: str) -> None:
    """One process at a time; the other one hands over what Slack brings it."""

    async def numbers(port: int) -> tuple[float, float]:
        _, text = await asked(port, "/metrics")
        shown = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        team = 'team="T0SANDBOX"'
        names = f"owner{{{team}}}", f'handed_over_total{{result="answered",{team}}}'
        owner, handed_over = (float(shown[f"roundtable_{name}"]) for name in names)
        return owner, handed_over

    ports = free_port(), free_port()
    async with AsyncExitStack() as stack:
        for port in ports:
            more = {"REDIS_URL": redis_url, "ROUNDTABLE_HEALTH_PORT": str(port)}
            await stack.enter_async_context(app.bot(settings(slack, tmp_path / str(port), **more)))
            await wait_for(lambda parts: parts["owner"] == {"ok": True, "mine": 1}, ports[0])
        meeting = Meeting(slack, tmp_path / str(ports[0]))
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        (mine, none), (others, some) = [await numbers(port) for port in ports]

    assert (mine, none, others) == (1, 0, 0)
    assert some > 0


async def test_processes_with_other_personas_are_seen(slack: Sandbox, tmp_path: Path, redis_url: str) -> None:
    """Both stay ready, and the one that does not own the team says that it has others than the owner."""
    personas = shutil.copytree(ROOT / "personas", tmp_path / "personas")
    changed = personas / "business-analyst.md"
    changed.write_text(changed.read_text("utf-8") + "\nAsk twice.\n", "utf-8")
    async with with_redis(slack, tmp_path, redis_url) as (meeting, port):
        await meeting.start("Offline sync")
        other = free_port()
        differing = {"REDIS_URL": redis_url, "ROUNDTABLE_PERSONAS": str(personas)}
        chosen = settings(slack, tmp_path / "other", ROUNDTABLE_HEALTH_PORT=str(other), **differing)
        async with app.bot(chosen):
            await wait_for(lambda parts: parts["content"].get("differs") == 1, other)
            parts = await ready(other, is_ready=True)
            assert parts["content"] == {"ok": True, "differs": 1}
            _, text = await asked(other, "/metrics")
            assert 'roundtable_content_differs{team="T0SANDBOX"} 1.0' in text
            assert (await ready(port, is_ready=True))["content"] == {"ok": True, "differs": 0}
        await meeting.do_step("Field workers lose their edits")


def has_store(found: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    return lambda parts: bool(parts["store"] == found)


async def wait_for(wanted: Callable[[dict[str, Any]], bool], port: int) -> None:
    async def found() -> bool:
        return wanted((await asked(port, "/readyz"))[1]["parts"])

    await wait_until(found)


async def test_slack_saying_that_it_holds_events_back_is_counted(slack: Sandbox, tmp_path: Path) -> None:
    """It says so once a minute, in an envelope of its own."""
    said = {"type": "app_rate_limited", "team_id": slack.team_id, "minute_rate_limited": 1518467820}
    body, now = json.dumps(said).encode(), str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": now,
        "X-Slack-Signature": sign(slack.signing_secret, now, body),
    }
    http = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": slack.signing_secret}
    port, health = free_port(), free_port()
    ports = {"ROUNDTABLE_PORT": str(port), "ROUNDTABLE_HEALTH_PORT": str(health)}
    async with (
        app.bot(settings(slack, tmp_path / "workspace", **ports, **http)),
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
        session.post("/slack/events", data=body, headers=headers) as answer,
    ):
        assert answer.status == 200
        _, text = await asked(health, "/metrics")

    assert 'roundtable_acks_total{door="app_rate_limited",result="taken",team="T0SANDBOX"} 1.0' in text


async def test_every_line_of_a_payment_says_what_it_is_about(
    slack: Sandbox, tmp_path: Path, log_lines: LogLines
) -> None:
    """Team, item, step, turn and effect, so that one roundtable can be followed through the log."""
    meeting = Meeting(slack, tmp_path / "workspace")
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.discuss()
        slack.fail_next("chat.postMessage", status=503)
        await meeting.say("Alex, what about conflicts?")
        [line] = await meeting.until(lambda: [one for one in log_lines() if "is tried again" in one["event"]])

    assert (line["team"], line["item"], line["step"]) == ("T0SANDBOX", "offline-sync", "00-01")
    assert re.fullmatch(r"t\d\d", line["turn"])
    assert line["effect"].startswith("offline-sync.")
    assert "conflicts?" not in str(log_lines())
