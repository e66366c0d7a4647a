"""`roundtable drill`: what it breaks, what it finds out, and where it refuses to run."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis
from slack_sdk.web.async_client import AsyncWebClient
from typer.testing import CliRunner

from bot.cli import drill, main
from bot.cli.drill import Drill, DrillResult, Promise
from bot.settings import Settings
from bot.storage.team import claim, recorded
from tests.command_line import CommandLine, Ran, command_line

ALL_OK = "ok            ok                    ok                    ok"
QUICK = {"ROUNDTABLE_REDELIVERY_SECONDS": "2"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    with command_line(tmp_path_factory.mktemp("printed")) as loaded:
        yield loaded


async def drilled(loaded: CommandLine, folder: Path, *words: str, **env: str) -> Ran:
    return await loaded.run(folder, "drill", *words, **env)


def rows(ran: Ran) -> dict[str, str]:
    """Of the table, by fault."""
    table = ran.out.splitlines()
    return {
        name: row.removeprefix(name).strip() for row in table for name in drill.FAULTS if row.startswith(name)
    }


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


@pytest.mark.thorough
async def test_every_fault_without_redis(loaded: CommandLine, tmp_path: Path) -> None:
    """In a temporary folder, and the exit code is 0."""
    ran = await drilled(loaded, tmp_path)

    assert ran.code == 0, ran
    assert rows(ran) == {
        "kill -9": ALL_OK,
        "empty Redis": "not run: REDIS_URL is not set, so there is no Redis to empty",
        "old backup": ALL_OK,
        "full disk": ALL_OK,
    }
    assert names_in(tmp_path) == []


@pytest.mark.thorough
async def test_every_fault_with_redis(loaded: CommandLine, tmp_path: Path, redis_url: str) -> None:
    """Afterwards nothing of it is left, and the keys of another program are as they were."""
    async with Redis.from_url(redis_url) as redis:
        await redis.set("another program", "1")
        ran = await drilled(loaded, tmp_path, REDIS_URL=redis_url, **QUICK)

        assert ran.code == 0, ran
        assert rows(ran) == dict.fromkeys(drill.FAULTS, ALL_OK)
        assert await redis.keys() == [b"another program"]


async def test_a_workspace_that_holds_something_is_left_alone(loaded: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("ours")

    ran = await drilled(loaded, tmp_path, "--workspace", str(tmp_path))

    assert ran.code == 1
    assert "is not empty" in ran.err
    assert "--yes-this-is-staging" in ran.err
    assert names_in(tmp_path) == ["notes.md"]


async def test_a_redis_that_holds_roundtables_is_left_alone(
    loaded: CommandLine, tmp_path: Path, redis_url: str
) -> None:
    async with Redis.from_url(redis_url) as redis:
        await redis.set("roundtable:{offline-sync}", "live")
        ran = await drilled(loaded, tmp_path, REDIS_URL=redis_url)

        assert ran.code == 1
        assert "The Redis of REDIS_URL holds roundtables" in ran.err
        assert await redis.get("roundtable:{offline-sync}") == b"live"


async def test_what_is_staging_is_used(tmp_path: Path, redis_url: str) -> None:
    """Files in the folder stay, and so does the team that it is for; the roundtables in Redis are removed."""
    (tmp_path / "notes.md").write_text("ours")
    claim(tmp_path / ".roundtable", "T9STAGING")
    (tmp_path / "link").symlink_to("notes.md")
    async with Redis.from_url(redis_url) as redis:
        await redis.set("roundtable:{offline-sync}", "live")

        results = await drill.drilled(
            {"REDIS_URL": redis_url, **QUICK},
            workspace=tmp_path,
            is_staging=True,
            faults={"old backup": drill.old_backup},
        )

        assert not drill.is_broken(results), drill.as_text(results)
        assert [one.skipped for one in results] == [""]
        assert (tmp_path / "link").read_text() == "ours"
        assert recorded(tmp_path / ".roundtable") == "T9STAGING"
        assert await redis.keys() == []


async def said_again(held: Drill) -> None:
    """As a bot would that does not know what it has posted."""
    last = [one for one in held.thread if one.by_bot and "event_payload" in one.metadata][-1]
    client = AsyncWebClient(token=held.sandbox.bot_token, base_url=held.sandbox.api_url)
    await client.chat_postMessage(
        channel=last.channel, thread_ts=held.root, text=last.text, metadata=last.metadata
    )


async def test_a_broken_promise_is_told_and_ends_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drill, "FAULTS", {"said again": said_again})
    monkeypatch.setattr("bot.log.configure", lambda *_, **__: None)  # it would be for all tests
    monkeypatch.delenv("REDIS_URL", raising=False)
    runner = CliRunner()

    ran = await asyncio.to_thread(
        runner.invoke, main.commands, ["drill", "--workspace", str(tmp_path / "new")]
    )

    assert ran.exit_code == 1
    (row,) = [row for row in ran.stdout.splitlines() if row.startswith("said again  ")]
    assert row.split() == ["said", "again", "ok", "BROKEN", "ok", "ok"]
    assert "said again, nothing posted twice: " in ran.stdout
    assert "is 2 times in the thread" in ran.stdout


@pytest.fixture
async def held(tmp_path: Path) -> Drill:
    """A meeting with nothing broken in it."""
    kept: list[Drill] = []

    async def keep(one: Drill) -> None:
        kept.append(one)

    results = await drill.drilled({}, workspace=tmp_path / "workspace", faults={"nothing": keep})
    assert not drill.is_broken(results), drill.as_text(results)
    return kept[0]


async def test_what_is_gone_or_changed_is_found(held: Drill) -> None:
    """Each in the column that says so."""
    item = held.workspace / "docs/requirements" / held.slug
    planning, meta = item / "planning/meeting.jsonl", item / "meta.json"
    lines, fields = planning.read_bytes(), meta.read_bytes()

    planning.write_bytes(
        b"".join(row for row in lines.splitlines(keepends=True) if b"tunnels. Scope" not in row)
    )
    found = drill.broken(held)
    assert "0 times in the transcript" in found[Promise.WORDS][0]
    assert found[Promise.RECORD]
    assert not found[Promise.POSTS]
    planning.write_bytes(lines)

    known = json.loads(fields)
    meta.write_text(json.dumps(known | {"steps_completed": [*known["steps_completed"], "00-04"]}))
    found = drill.broken(held)
    assert found[Promise.STEPS] == ("step 00-04 has 0 commits",)
    meta.write_text(json.dumps(known | {"steps_completed": known["steps_completed"][:1]}))
    assert "people saw 3 steps finished" in drill.broken(held)[Promise.STEPS][0]
    meta.write_bytes(fields)

    meta.unlink()
    assert drill.broken(held)[Promise.STEPS]
    meta.write_bytes(fields)
    assert not any(drill.broken(held).values())


def test_the_table_says_why_a_drill_was_not_held() -> None:
    fine = dict.fromkeys(Promise, ())
    bad = {**fine, Promise.STEPS: ("step 00-01 has 2 commits",)}

    shown = drill.as_text([
        DrillResult("kill -9", fine),
        DrillResult("full disk", skipped="no limits here"),
        DrillResult("old backup", bad),
    ])  # fmt: skip

    assert shown.splitlines() == [
        "            no word lost  nothing posted twice  steps committed once  record verifies",
        "kill -9     ok            ok                    ok                    ok",
        "full disk   not run: no limits here",
        "old backup  ok            ok                    BROKEN                ok",
        "old backup, steps committed once: step 00-01 has 2 commits",
    ]


def test_the_bot_of_a_drill_has_no_remote_and_no_key() -> None:
    """It keeps what storage and content are, and nothing that leads elsewhere."""
    env = {
        "REDIS_URL": "redis://localhost:1/3",
        "ROUNDTABLE_REMOTE": "git@example.org:team/items.git",
        "ROUNDTABLE_MODEL": "anthropic:claude",
        "ANTHROPIC_API_KEY": "sk-ant-secret",
        "SLACK_BOT_TOKEN": "xoxb-real",
        "ROUNDTABLE_ITEMS_DIR": "items",
        "PATH": "/bin",
    }

    ours = drill.environment(env, SLACK_BOT_TOKEN="xoxb-sandbox")

    assert ours == {
        "REDIS_URL": "redis://localhost:1/3",
        "ROUNDTABLE_ITEMS_DIR": "items",
        "PATH": "/bin",
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
    }
    assert Settings.from_env({name: ours[name] for name in ours if name != "PATH"}).remote is None
