"""The commands as people and scripts run them, each in a process of its own."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot import app, shipped
from bot.settings import Settings
from bot.slack.manifest import manifest
from bot.storage.git.tree import STATE
from bot.storage.sqlite import SqliteStore
from slack_sandbox import Fault, Sandbox
from tests.command_line import ROOT, Cli, python_m_bot
from tests.domain.table import Table
from tests.integrations.strict_github import APP, TOKEN, app_key, pem, strict_github
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port
from tests.redis_groups import RedisCluster
from tests.redis_server import RedisServer, asking
from tests.storage.checkout import Git, commit_all

STEP = """---
step_id: {step_id}
title: "{title}"
persona: "{persona}"
depth: {depth}
outputs: ["requirements-spec.md"]
skip_if: "{skip_if}"
---

## Standard Mode

What hurts?
"""


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        yield sandbox


def in_slack(slack: Sandbox, **more: str) -> dict[str, str]:
    """Everything that `run` needs; any free port will do."""
    return {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "ROUNDTABLE_PORT": str(free_port()),
        "ROUNDTABLE_HEALTH_PORT": str(free_port()),
        "ROUNDTABLE_SEAL_KEY": "a-key-of-sixteen-characters",
        **more,
    }


def item(workspace: Path, slug: str, meta: object) -> Path:
    folder = workspace / "docs/requirements" / slug
    folder.mkdir(parents=True)
    text = meta if isinstance(meta, str) else json.dumps(meta)
    (folder / "meta.json").write_text(text, encoding="utf-8")
    return folder


def said(workspace: Path, content: str, entry: dict[str, object], **meta: str) -> Path:
    """The transcript of the item that is under way, with one line of Ada that made *entry*, in a commit."""
    line = {
        "ts": "2026-01-01T00:00:00.000Z", "round": 1, "actor": "User", "phase": "clarifying", "role": "user",
        "source": "user", "content": content,
        "meta": {"user_id": "U1", "user_name": "Ada", "message_id": "m1", "entries": [entry], **meta},
    }  # fmt: skip
    transcript = workspace / "docs/requirements/gh-42-offline-sync/planning/meeting.jsonl"
    transcript.parent.mkdir()
    transcript.write_text(json.dumps(line) + "\n", encoding="utf-8")
    commit_all(workspace)
    return transcript


OFFLINE_SYNC = {
    "description": "Offline \x1b[31msync\nof notes",
    "source_id": "GH-42",
    "phases_completed": ["00-quick-scan"],
    "steps_completed": ["00-01", "00-02", "00-03", "01-01"],
    "depth_overrides": {"01-requirements": "deep"},
    "elaborations": [
        {
            "step_id": "01-01",
            "turn_count": 4,
            "personas_active": ["Maya Chen"],
            "timestamp": "2026-02-20T10:00:00.000Z",
            "synthesis_summary": "Conflicts are\nrare",
        }
    ],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """One item that is under way, one that is broken."""
    workspace = tmp_path / "workspace"
    item(workspace, "gh-42-offline-sync", OFFLINE_SYNC)
    item(workspace, "torn", '{"description": "To')
    (workspace / "docs/requirements/gh-42-offline-sync/quick-scan.md").write_text("# Quick scan\n")
    commit_all(workspace)
    return workspace


# --- check ----------------------------------------------------------------------------------------------------------


async def test_a_sound_setting_is_ready_to_run(cli: Cli, slack: Sandbox) -> None:
    """One line for each thing that was tried, no secret among them, and nothing in the way."""
    ran = await cli("check", **in_slack(slack))

    assert (ran.code, ran.err) == (0, "")
    *table, _, verdict = ran.out.splitlines()
    assert [line.split()[:2] for line in table] == [
        ["ok", name]
        for name in (
            "version",
            "settings",
            "personas",
            "steps",
            "workspace",
            "store",
            "slack",
            "transport",
            "model",
            "web",
        )
    ]
    assert table[0].split(maxsplit=2)[2] == str(shipped.release())
    assert "24 steps in 5 phases" in ran.out
    assert verdict == "Ready to run."
    assert "from a file" not in ran.out
    assert slack.bot_token not in ran.out
    assert slack.app_token not in ran.out


async def test_a_key_that_follows_from_the_token_is_told(cli: Cli, slack: Sandbox) -> None:
    """With another token, what is recorded would only be proposed."""
    ran = await cli("check", **in_slack(slack, ROUNDTABLE_SEAL_KEY=""))

    assert ran.code == 0
    assert "ROUNDTABLE_SEAL_KEY is not set: the key that seals what is recorded follows" in ran.out


async def test_scripts_get_the_same_as_json(
    cli: Cli, slack: Sandbox, redis_server: RedisServer, redis_url: str, tmp_path: Path
) -> None:
    """
    Rows with stable keys; here with HTTP in place of Socket Mode, and with Redis. Of a secret from a file that is said:
    which of two places counts is what people look for first.
    """
    place = tmp_path / "token"
    place.write_text(slack.bot_token)
    with a_user(redis_server) as who:
        url = redis_url.replace("//", f"//{who}@")
        env = in_slack(slack, SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET="s3cret", REDIS_URL=url)
        env |= {"SLACK_BOT_TOKEN": "", "SLACK_BOT_TOKEN_FILE": str(place)}
        ran = await cli("check", "--json", **env)

    assert ran.code == 0
    assert all(list(row) == ["name", "status", "found", "problems"] for row in ran.json)
    assert {row["status"] for row in ran.json} == {"ok"}
    assert ran.rows()["version"]["found"] == str(shipped.release())
    assert re.findall(r"(\w+) from a file", ran.rows()["settings"]["found"]) == ["SLACK_BOT_TOKEN"]
    assert ran.rows()["store"]["found"].startswith("Redis")
    assert ran.rows()["transport"]["found"].startswith("HTTP, at /slack/events")
    assert "s3cret" not in ran.out


def everything_in(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder, with its time of change and its content."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in (folder, *folder.rglob("*"))
    }


@pytest.mark.parametrize("begun", [False, True], ids=["missing", "begun"])
@pytest.mark.parametrize("with_redis", [False, True], ids=["embedded", "redis"])
async def test_check_changes_nothing(
    cli: Cli, slack: Sandbox, redis_url: str, remote: Path, tmp_path: Path, *, begun: bool, with_redis: bool
) -> None:
    """No file, no git configuration, no key: also where `run` would make the workspace."""
    store = {"REDIS_URL": redis_url} if with_redis else {}
    env = in_slack(slack, ROUNDTABLE_REMOTE=str(remote), **store)
    if begun:
        settings = Settings.from_env({**env, "ROUNDTABLE_WORKSPACE": str(tmp_path / "workspace")})
        async with app.bot(settings, web=False):
            await slack.person("ada").slash("#roundtable", "/roundtable start Offline sync")
            meta = tmp_path / "workspace/docs/requirements/offline-sync/meta.json"
            await slack.until(meta.exists)
            await slack.settled()
    async with Redis.from_url(redis_url) as redis:
        before = everything_in(tmp_path), {key: await redis.dump(key) for key in await redis.keys()}
        ran = await cli("check", "--json", **env)
        after = everything_in(tmp_path), {key: await redis.dump(key) for key in await redis.keys()}

    assert (ran.code, ran.err) == (0, "")
    assert f"{1 if begun else 0} item" in ran.rows()["workspace"]["found"]
    assert after == before


async def test_check_names_each_mistake_in_the_policies(cli: Cli, tmp_path: Path) -> None:
    """And counts the channels of a file without any."""
    rules = tmp_path / "policies.yaml"
    rules.write_text("channels:\n  C042ABCDE:\n    depth: bottomless\n    strat: no\n")
    wrong = await cli("check", ROUNDTABLE_POLICIES=str(rules))
    rules.write_text("channels:\n  C042ABCDE:\n    depth: deep\n")
    right = await cli("check", ROUNDTABLE_POLICIES=str(rules))

    assert "depth of C042ABCDE is 'bottomless', but must be brief, standard or deep." in wrong.out
    assert "C042ABCDE has 'strat', which means nothing; did you mean start." in wrong.out
    assert re.search(r"ok +policies +for 1 channel", right.out)


async def test_check_reads_the_keys_of_agents(cli: Cli, tmp_path: Path) -> None:
    """By their names; a file without any says how to make one, and one that cannot be read stops."""
    keys = tmp_path / "keys.json"
    missing = await cli("check", ROUNDTABLE_AGENT_KEYS=str(keys))
    key = {
        "name": "claude-code-ada",
        "owner": "U012ABCDEF",
        "sha256": "0" * 64,
        "items": ["*"],
        "may_ask": True,
    }
    keys.write_text(json.dumps([key]))
    right = await cli("check", ROUNDTABLE_AGENT_KEYS=str(keys))
    keys.write_text('{"name": "no list"}')
    wrong = await cli("check", ROUNDTABLE_AGENT_KEYS=str(keys))

    assert re.search(r"^ok +agents +no key yet: roundtable key create", missing.out, re.MULTILINE)
    assert re.search(r"^ok +agents +claude-code-ada$", right.out, re.MULTILINE)
    assert re.search(r"^FAIL +agents +ROUNDTABLE_AGENT_KEYS: ", wrong.out, re.MULTILINE)


async def test_everything_that_is_missing_is_said_at_once(cli: Cli) -> None:
    """Nobody wants to learn of it one by one."""
    ran = await cli("check", ROUNDTABLE_PORT=str(free_port()), ROUNDTABLE_HEALTH_PORT=str(free_port()))

    assert ran.code == 1
    assert "FAIL  slack      SLACK_BOT_TOKEN is not set." in ran.out
    assert "FAIL  transport  SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is not set." in ran.out
    assert ran.out.endswith("2 problems would stop `roundtable run`.\n")


@pytest.mark.parametrize("as_json", [False, True])
async def test_a_bad_setting_is_a_row_like_any_other(cli: Cli, as_json: bool) -> None:  # noqa: FBT001 -- a parameter
    """Without settings nothing else can be tried."""
    words = ("--json",) if as_json else ()
    ran = await cli("check", *words, ROUNDTABLE_WORKSPCE="x", ROUNDTABLE_PORT="many")

    assert ran.code == 1
    sentence = "ROUNDTABLE_WORKSPCE is not a setting; did you mean ROUNDTABLE_WORKSPACE?"
    if as_json:
        [problem] = ran.rows()["settings"]["problems"]
        assert problem["stops"]
        assert problem["text"].startswith(sentence)
    else:
        assert f"FAIL  settings   {sentence}" in ran.out
        assert "ROUNDTABLE_PORT" in ran.out


OF_THE_COMMAND = "The scope commands is missing: the slash command and the message shortcut."


@pytest.mark.parametrize(
    ("missing", "status", "told"),
    [
        (set(), "ok", ""),
        ({"chat:write.customize"}, "warn", "The scope chat:write.customize is missing: "),
        ({"channels:read", "groups:read"}, "warn", "The scope channels:read is missing: "),
        ({"commands"}, "fail", OF_THE_COMMAND),
    ],
)
async def test_a_missing_scope_is_named_with_what_it_is_for(
    cli: Cli, slack: Sandbox, missing: set[str], status: str, told: str
) -> None:
    """Some cost only a part of what the bot does. One too many may belong to another release."""
    slack.scopes.add("files:read")
    slack.scopes.difference_update(missing)
    ran = await cli("check", "--json", **in_slack(slack))

    row = ran.rows()["slack"]
    assert (ran.code, row["status"]) == (status == "fail", status)
    assert len(row["problems"]) == len(missing)
    assert told in str(row["problems"])
    assert row["found"].endswith("all scopes granted") is not bool(missing)


async def test_the_triage_channel_is_looked_for(cli: Cli, slack: Sandbox) -> None:
    """By name or id, and whether we may read there. Threads tell of reviews without it, so it stops nothing."""
    channel = slack.channel()
    slack.add_channel("closed", with_bot=False)

    async def found(named: str) -> tuple[int, str, str]:
        ran = await cli("check", "--json", ROUNDTABLE_TRIAGE_CHANNEL=named, **in_slack(slack))
        row = ran.rows()["triage"]
        return ran.code, row["found"], " ".join(problem["text"] for problem in row["problems"])

    assert await found("#roundtable") == (0, f"#roundtable is {channel.id}", "")
    assert await found(channel.id) == (0, f"channel {channel.id}", "")
    assert "There is no channel #nowhere" in (await found("#nowhere"))[2]
    assert "I'm not in this channel" in (await found("#closed"))[2]


async def test_tokens_that_slack_refuses_are_told_apart(cli: Cli, slack: Sandbox) -> None:
    """Each sentence names the variable, never its value."""
    ran = await cli("check", **in_slack(slack, SLACK_BOT_TOKEN="xoxb-wrong", SLACK_APP_TOKEN="xapp-wrong"))

    assert ran.code == 1
    assert "FAIL  slack      Slack refused SLACK_BOT_TOKEN: " in ran.out
    assert "FAIL  transport  Slack does not accept the app-level token. Set SLACK_APP_TOKEN" in ran.out
    assert "wrong" not in ran.out


async def test_a_slack_that_does_not_answer_is_no_reason_to_change_tokens(cli: Cli, slack: Sandbox) -> None:
    """An outage, or something else that listens at that address."""
    slack.faults.plan(Fault(method="*", status=503, body="<html>", times=9))
    outage = await cli("check", **in_slack(slack))
    nobody = await cli("check", **in_slack(slack, SLACK_API_URL=f"http://127.0.0.1:{free_port()}/api/"))

    for ran in (outage, nobody):
        assert ran.code == 1
        assert "FAIL  slack      Slack cannot be asked: " in ran.out
        assert "FAIL  transport  Slack cannot be asked: " in ran.out


@pytest.mark.parametrize(
    ("end", "row"), [("{port}", "store"), ("{port}?db=x", "store"), ("many", "settings")]
)
async def test_a_redis_that_cannot_be_used_stops_the_run(
    cli: Cli, slack: Sandbox, end: str, row: str
) -> None:
    """Nobody there, or an address that means nothing. The password in it is not told."""
    address = "redis://:hunter2@127.0.0.1:" + end.format(port=free_port())
    ran = await cli("check", **in_slack(slack, REDIS_URL=address))

    assert ran.code == 1
    assert f"FAIL  {row:<10} Redis" in ran.out or f"FAIL  {row:<10} REDIS_URL" in ran.out
    assert "hunter2" not in ran.out + ran.err


async def test_a_redis_that_may_lose_something_is_warned_of(
    cli: Cli, slack: Sandbox, redis_server: RedisServer, redis_url: str
) -> None:
    """The bot runs on it all the same; one sentence for each thing to change."""
    env = in_slack(slack, REDIS_URL=redis_url)
    careless = {"appendonly": "no", "maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}
    with changed(redis_server, careless):
        ran = await cli("check", "--json", **env)
    with changed(redis_server, {"appendonly": "no", "save": "60 1000"}):
        with_snapshots = await cli("check", "--json", **env)

    store = ran.rows()["store"]
    assert (ran.code, store["status"], store["found"].split()[0]) == (0, "warn", "Redis")
    assert [problem["text"].partition(":")[0] for problem in store["problems"]] == [
        "Redis asks for no password",
        "`appendonly` is off, and there are no snapshots",
        "`maxmemory-policy` is allkeys-lru",
    ]
    assert redis_url.partition("//")[2].partition("/")[0] not in ran.out + ran.err
    [_, snapshots] = with_snapshots.rows()["store"]["problems"]
    assert snapshots["text"].endswith("not in its last snapshot.")


@pytest.mark.parametrize(
    ("forbidden", "told"),
    [("-config", []), ("-config -info", ["Redis does not tell its version and settings"])],
)
async def test_a_redis_that_may_not_be_asked_is_no_problem(
    cli: Cli, slack: Sandbox, redis_server: RedisServer, redis_url: str, forbidden: str, told: list[str]
) -> None:
    """Rented ones often keep their settings to themselves."""
    with a_user(redis_server, forbidden) as who:
        url = redis_url.replace("//", f"//{who}@")
        ran = await cli("check", "--json", **in_slack(slack, REDIS_URL=url))

    assert ran.code == 0
    problems = ran.rows()["store"]["problems"]
    assert [problem["text"].partition(":")[0] for problem in problems] == told
    assert "sesame" not in ran.out + ran.err


@pytest.mark.parametrize("command", ["check", "run"])
async def test_a_node_of_a_cluster_is_no_server(
    cli: Cli, slack: Sandbox, redis_cluster: RedisCluster, command: str
) -> None:
    """By what it says about itself: with one sentence that names the right address, and before anything is saved."""
    ran = await cli(command, **in_slack(slack, REDIS_URL=redis_cluster.nodes[0].url))

    assert ran.code == 1
    assert (
        "REDIS_URL names a node of a cluster: write redis+cluster:// instead of redis://."
        in ran.out + ran.err
    )


async def test_a_cluster_is_checked(cli: Cli, slack: Sandbox, redis_cluster: RedisCluster) -> None:
    """How many primaries it has; the advice is that for one server."""
    ran = await cli("check", "--json", **in_slack(slack, REDIS_URL=redis_cluster.url))

    store = ran.rows()["store"]
    assert (ran.code, store["found"]) == (0, "Redis Cluster, 3 primaries")
    assert [one["text"].partition(":")[0] for one in store["problems"]] == ["Redis asks for no password"]


@contextmanager
def a_user(server: RedisServer, forbidden: str = "") -> Iterator[str]:
    """Somebody with a password, as a URL names them."""
    with asking(server) as client:
        client.execute_command(f"ACL SETUSER bot on >sesame ~* &* +@all {forbidden}")
        yield "bot:sesame"
        client.execute_command("ACL DELUSER bot")


@contextmanager
def changed(server: RedisServer, options: dict[str, str]) -> Iterator[None]:
    """It is set like that for a while."""
    with asking(server) as client:
        former = {name: client.config_get(name)[name] for name in options}
        for name, value in options.items():
            client.config_set(name, value)
        yield
        for name, value in former.items():
            client.config_set(name, value)


# --- a remote -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def shown_to_everybody(folder: Path) -> AsyncIterator[str]:
    """Everything below *folder*, to be read and not to be pushed to."""
    port = free_port()
    words = ("--export-all", f"--base-path={folder}", "--listen=127.0.0.1", f"--port={port}", "--reuseaddr")
    daemon = await asyncio.create_subprocess_exec(
        "git", "daemon", *words, stderr=subprocess.DEVNULL, process_group=0
    )
    await wait_until(lambda: listens(port))
    try:
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(daemon.pid, signal.SIGTERM)
        await daemon.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """Bare and empty."""
    Git(tmp_path)("init", "-q", "--bare", "-b", "main", "remote.git")
    return tmp_path / "remote.git"


@pytest.mark.parametrize("begun", [False, True], ids=["empty", "begun"])
async def test_a_remote_that_takes_our_commits_is_ready(
    cli: Cli, slack: Sandbox, remote: Path, workspace: Path, *, begun: bool
) -> None:
    """Both before anything was committed and when somebody else was quicker. Nothing is pushed by the question."""
    if begun:
        commit_all(workspace)
        Git(workspace)("push", "-q", str(remote), "main")
        Git(workspace)("commit", "-q", "--amend", "--allow-empty", "-m", "ours")
    before = Git(remote)("for-each-ref")

    ran = await cli("check", "--json", **in_slack(slack, ROUNDTABLE_REMOTE=str(remote)))

    found = (
        "it answers, on branch main; we may push" if begun else "it answers, and is still empty; we may push"
    )
    assert (ran.code, ran.rows()["remote"]["found"]) == (0, found)
    assert Git(remote)("for-each-ref") == before


async def test_a_remote_that_cannot_be_reached_stops_the_run(
    cli: Cli, slack: Sandbox, tmp_path: Path
) -> None:
    """What is committed would stay on this machine. The reason is ssh's or git's own, and holds no password."""
    by_ssh = await cli("check", **in_slack(slack, ROUNDTABLE_REMOTE="git@nowhere.invalid:x"))
    address = f"http://ada:hunter2@127.0.0.1:{free_port()}/x.git"
    by_http = await cli("check", **in_slack(slack, ROUNDTABLE_REMOTE=address))
    nothing = await cli("check", **in_slack(slack, ROUNDTABLE_REMOTE=str(tmp_path / "gone.git")))

    for ran, reason in (
        (by_ssh, "nowhere.invalid"),
        (by_http, "127.0.0.1"),
        (nothing, "not appear to be a git"),
    ):
        assert ran.code == 1
        [line] = [line for line in ran.out.splitlines() if "remote " in line]
        assert line.startswith("FAIL  remote     ROUNDTABLE_REMOTE cannot be reached: ")
        assert reason in line
        assert ran.out.endswith("1 problem would stop `roundtable run`.\n")
    assert "hunter2" not in by_http.out + by_http.err


async def test_a_remote_that_may_only_be_read_stops_the_run(cli: Cli, slack: Sandbox, remote: Path) -> None:
    """As with a deploy key that may not write."""
    async with shown_to_everybody(remote.parent) as address:
        env = in_slack(slack, ROUNDTABLE_REMOTE=f"{address}/{remote.name}")
        ran = await cli("check", "--json", **env)

    row = ran.rows()["remote"]
    assert (ran.code, row["found"]) == (1, "it answers, and is still empty")
    [problem] = row["problems"]
    assert problem["text"].startswith("We may not push: fatal: remote error: ")


async def test_what_github_allows_is_told_and_stops_nothing(cli: Cli, slack: Sandbox) -> None:
    async with strict_github() as github:
        env = in_slack(slack, ROUNDTABLE_GITHUB="acme/api", ROUNDTABLE_GITHUB_URL=github.url)
        alone = await cli("check", "--json", **env)
        good = await cli("check", "--json", **env, ROUNDTABLE_GITHUB_KEY=TOKEN)
        bad = await cli("check", "--json", **env, ROUNDTABLE_GITHUB_KEY="ghs_wrong")
        env |= {"ROUNDTABLE_GITHUB_APP": APP, "ROUNDTABLE_GITHUB_KEY": pem(app_key())}
        assert (await cli("check", "--json", **env)).rows()["github"] == good.rows()["github"]

    assert {alone.code, good.code, bad.code} == {0}
    row = good.rows()["github"]
    assert (row["status"], row["found"]) == ("ok", "issues are read, and created in acme/api")
    assert [one.rows()["github"]["problems"][0]["text"] for one in (alone, bad)] == [
        "ROUNDTABLE_GITHUB_KEY is not set, so no issue is read or created.",
        "Issues of acme/api cannot be read: GitHub does not accept the key that is set.",
    ]
    assert github.issues == {}


@pytest.mark.parametrize(
    ("setting", "more"),
    [
        ("ROUNDTABLE_HEALTH_PORT", {}),
        ("ROUNDTABLE_PORT", {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "1234567890abcdef"}),
        ("ROUNDTABLE_PORT", {"ROUNDTABLE_REVIEW_SECRET": "whsec_" + "1234567890abcdef" * 2}),
    ],
)
async def test_a_port_that_is_taken_stops_the_run(
    cli: Cli, slack: Sandbox, setting: str, more: dict[str, str]
) -> None:
    """Health and metrics are served in Socket Mode, too; requests only over HTTP, and when reviews are taken."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = await cli("check", **in_slack(slack, **more, **{setting: str(port)}))
        spared = await cli("check", **in_slack(slack, ROUNDTABLE_PORT=str(port)))

    assert ran.code == 1
    assert f"FAIL  web        127.0.0.1:{port} cannot be listened on" in ran.out
    assert f"Set {setting} to a free port" in ran.out
    assert spared.code == 0


async def test_each_problem_of_a_file_is_one_line_with_its_code(
    cli: Cli, slack: Sandbox, tmp_path: Path
) -> None:
    """What runs all the same only warns, and whoever wrote the file learns where and why."""
    phase = tmp_path / "steps/01-requirements"
    phase.mkdir(parents=True)
    good = {"step_id": "01-01", "title": "A", "persona": "business-analyst", "depth": "brief", "skip_if": ""}
    files = {
        "01-a": good,
        "02-b": good | {"step_id": "01-02", "depth": "thorough"},
        "03-c": good | {"step_id": "01-07"},
        "04-d": good | {"step_id": "01-04", "skip_if": "risk > 3"},
        "05-e": good | {"step_id": "01-05", "title": ""},
        "06-f": good | {"step_id": "01-06", "title": 'un"closed'},
    }
    for name, fields in files.items():
        (phase / f"{name}.md").write_text(STEP.format(**fields), encoding="utf-8")

    ran = await cli("check", **in_slack(slack, ROUNDTABLE_STEPS="steps"))

    assert ran.code == 0
    assert "warn  steps      3 steps in 1 phase\n" in ran.out
    told = [line.strip(" -") for line in ran.out.splitlines() if line.startswith("      -")]
    for start in (
        "ERR-STEP-001  No step files found for phase 04-design.",
        "ERR-STEP-004  Step file 01-requirements/06-f.md has invalid frontmatter. Skipping. (line 3: ",
        "ERR-STEP-005  Step file 01-requirements/05-e.md is missing required field 'title'. Skipping.",
        "ERR-STEP-006  Step file 01-requirements/02-b.md has invalid value for 'depth': 'thorough'.",
        "ERR-STEP-009  Step 01-04 has an invalid skip_if condition: 'risk > 3'.",
        "VR-STEP-008   Step 01-07 is in 01-requirements/03-c.md, and belongs into 01-…/07-….md.",
    ):
        assert sum(line.startswith(start) for line in told) == 1, (start, told)


async def test_a_persona_who_is_not_there_is_one_problem(cli: Cli, slack: Sandbox, tmp_path: Path) -> None:
    """However many steps name her; the log has each of them, with its code."""
    shutil.copytree(ROOT / "personas", tmp_path / "people")
    (tmp_path / "people/business-analyst.md").unlink()
    env = in_slack(slack, ROUNDTABLE_PERSONAS="people")

    ran = await cli("check", "--json", **env)

    assert ran.code == 0
    steps = ran.rows()["steps"]
    assert steps["found"] == "13 steps in 3 phases"
    [told] = [one for one in steps["problems"] if one["code"] == "ERR-STEP-006"]
    assert told["text"] == "11 steps name persona 'business-analyst', which is not in people/."
    assert sum("ERR-STEP-006" in line for line in ran.err.splitlines()) == 11
    assert [one["text"] for one in ran.rows()["personas"]["problems"]] == [
        f"No persona has {key} in its `phases`: Alex Rivera (Solutions Architect) will lead it."
        for key in ("00-quick-scan", "01-requirements")
    ]


async def test_a_bad_persona_is_named_with_the_reason(cli: Cli, slack: Sandbox, tmp_path: Path) -> None:
    """The sentence for the thread says neither."""
    shutil.copytree(ROOT / "personas", tmp_path / "people")
    (tmp_path / "people/zoe.md").write_text("---\nkey: zoe\nname: Zoe\nrole: Guest\nicon: two words\n---\n")

    ran = await cli("check", **in_slack(slack, ROUNDTABLE_PERSONAS="people"))

    assert ran.code == 0
    assert "      - ERR-RT-002  " in ran.out
    assert "(zoe.md: icon: neither the name of an emoji nor an https address)" in ran.out


@pytest.mark.parametrize("empty", ["PERSONAS", "STEPS"])
async def test_without_anybody_or_anything_to_ask_nothing_runs(cli: Cli, tmp_path: Path, empty: str) -> None:
    """An empty folder is a mistake."""
    (tmp_path / "empty").mkdir()
    ran = await cli("check", **{f"ROUNDTABLE_{empty}": "empty"})

    assert ran.code == 1
    assert ("FAIL  personas " in ran.out) is (empty == "PERSONAS")
    assert "FAIL  steps " in ran.out


# --- workspaces that cannot be used ---------------------------------------------------------------------------------


async def refused(cli: Cli, sentence: str, **env: str) -> None:
    """By all three commands, with the same sentence."""
    check, items, show = await asyncio.gather(
        cli("check", **env), cli("items", **env), cli("show", "x", **env)
    )
    for ran in (check, items, show):
        assert ran.code == 1
        assert sentence in (ran.out if ran is check else ran.err)
    assert (items.out, show.out) == ("", "")


async def test_a_workspace_that_is_a_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    """And so is a name that no folder can have."""
    (tmp_path / "file").write_text("x")

    await refused(cli, "ROUNDTABLE_WORKSPACE is 'file', but must be a folder", ROUNDTABLE_WORKSPACE="file")
    await refused(cli, "must be a folder, or a path where nothing is yet", ROUNDTABLE_WORKSPACE="x" * 300)


async def test_a_workspace_inside_a_repository_is_refused(cli: Cli, tmp_path: Path) -> None:
    """Commits would land in somebody's code; nothing of ours is left there."""
    inside = tmp_path / "code/inside"
    Git(tmp_path / "code").begin()
    inside.mkdir()

    await refused(cli, "give the top level of a repository", ROUNDTABLE_WORKSPACE=str(inside))

    assert list(inside.iterdir()) == []


async def test_a_clone_that_came_with_state_of_ours_is_refused(cli: Cli, tmp_path: Path) -> None:
    """Whoever made it could have written anything there."""
    Git(tmp_path / "clone").write(".roundtable/team", "T1")
    commit_all(tmp_path / "clone")

    await refused(
        cli, "take it out of git with `git rm -r --cached .roundtable`", ROUNDTABLE_WORKSPACE="clone"
    )


async def test_a_bare_repository_is_a_workspace(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    """It has no checkout, and items are read from its newest commit."""
    Git(tmp_path)("clone", "-q", "--bare", str(workspace), "bare.git")

    assert "2 items, on branch main" in (await cli("check", ROUNDTABLE_WORKSPACE="bare.git")).out
    assert (await cli("items", ROUNDTABLE_WORKSPACE="bare.git")).out == (await cli("items")).out


async def test_a_folder_that_may_not_be_entered_or_written_stops_the_run(tmp_path: Path) -> None:
    """With a sentence, as everything else; the reason is the system's own."""
    (tmp_path / "closed").mkdir(mode=0o000)
    (tmp_path / "locked").mkdir(mode=0o555)
    run = partial(python_m_bot, tmp_path, "check", privileged=False)

    closed, locked = await asyncio.gather(
        run(ROUNDTABLE_WORKSPACE="closed/workspace"), run(ROUNDTABLE_WORKSPACE="locked/workspace")
    )

    assert (closed.code, locked.code) == (1, 1)
    assert "must be a folder" in closed.out
    assert "FAIL  workspace " in locked.out
    assert "Permission denied" in locked.out
    assert "FAIL  store      not tried" in locked.out


async def test_a_workspace_without_a_branch_stops_the_run(cli: Cli, slack: Sandbox, workspace: Path) -> None:
    """A commit could get lost; looking is allowed."""
    Git(workspace)("checkout", "-q", "--detach")

    ran = await cli("check", **in_slack(slack))

    assert ran.code == 1
    assert "FAIL  workspace  The workspace has no branch checked out" in ran.out


@pytest.mark.usefixtures("workspace")
async def test_decisions_of_all_items_are_listed(cli: Cli, tmp_path: Path) -> None:
    """With all words that were given; nothing is found where nothing was decided."""
    decided = {
        "id": "DEC-001",
        "kind": "decision",
        "new": True,
        "set": {"text": "Sync by hand", "reason": "Safe", "deciders": ["Grace", "Linus"]},
    }
    said(tmp_path / "workspace", "decision: …", decided)

    ran, none = await cli("decisions", "sync", "ada"), await cli("decisions", "redis")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "gh-42-offline-sync/DEC-001 Sync by hand",
        "    decided by Grace and Linus, recorded by Ada 2026-01-01",
        "    because: Safe",
    ]  # fmt: skip
    assert none.out == "No decision was found.\n"
    (row,) = (await cli("decisions", "--json")).json
    assert list(row) == [
        "address", "kind", "state", "text", "fields", "parts", "part_of", "replaced_by", "contested", "doubtful",
        "claims", "link",
    ]  # fmt: skip
    assert row["fields"]["deciders"] == ["Grace", "Linus"]
    assert row["link"] == ""  # the transcript names no thread
    assert row == {**(await cli("show", row["address"], "--json")).json, "link": ""}
    assert (await cli("show", "gh-42-offline-sync", "--json")).json["entries"] == {
        "decision": {"accepted": 1}
    }
    assert "  entries    decision 1" in (await cli("show", "gh-42-offline-sync")).out.splitlines()


# --- export ---------------------------------------------------------------------------------------------------------

SPEC = "openspec/changes/gh-42-offline-sync/specs/gh-42-offline-sync/spec.md"


@pytest.fixture
def wished(workspace: Path) -> Path:
    """An item with a requirement; the workspace is where its export goes."""
    made = {"id": "FR-001", "kind": "requirement", "new": True, "set": {"title": "Sync by hand"}}
    said(workspace, "requirement: Sync by hand", made)
    return workspace


async def test_an_export_is_written_and_checked(cli: Cli, wished: Path) -> None:
    """A second time nothing is written; tasks belong to who builds."""
    export = ("export", "gh-42-offline-sync", "--to", "openspec")
    assert (await cli(*export, "--check")).code == 1

    ran = await cli(*export)
    assert (ran.code, ran.err) == (0, "")
    assert SPEC in ran.out.splitlines()
    assert "Sync by hand <!-- gh-42-offline-sync/FR-001 " in (wished / SPEC).read_text()
    (wished / "openspec/changes/gh-42-offline-sync/tasks.md").write_text("- [x] done\n")
    assert (await cli(*export)).out == ""
    checked = await cli(*export, "--check")
    assert (checked.code, checked.out) == (0, "")


async def test_an_export_loses_no_change_by_hand(cli: Cli, wished: Path) -> None:
    export = ("export", "gh-42-offline-sync", "--to", "openspec", "--out", "elsewhere")
    file = wished.parent / "elsewhere" / SPEC
    assert (await cli(*export)).code == 0
    changed = file.read_text().replace("that: Sync by hand", "that: Sync by itself")
    file.write_text(changed)

    ran, checked = await cli(*export), await cli(*export, "--check")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"{SPEC} was changed by hand, in line 10 (FR-001: Sync by itself).")
    assert file.read_text() == changed
    assert checked.code == 1
    assert "-It SHALL hold that: Sync by itself <!-- " in checked.out
    assert checked.out.splitlines()[-1] == f"{SPEC}:10: FR-001: Sync by itself"


async def test_an_export_overwrites_its_own_rows_and_no_words_between_the_entries(
    cli: Cli, wished: Path
) -> None:
    """Its own are also those of no entry, such as the list of what changes, after their words became other ones."""
    export = ("export", "gh-42-offline-sync", "--to", "openspec")
    assert (await cli(*export)).code == 0
    file = wished / "openspec/changes/gh-42-offline-sync/proposal.md"
    transcript = wished / "docs/requirements/gh-42-offline-sync/planning/meeting.jsonl"
    transcript.write_text(transcript.read_text().replace("Sync by hand", "Sync by night"))
    commit_all(wished)
    mine = file.read_text().replace("## Impact\n", "## Impact\n\nWe drew it on a train.\n")
    file.write_text(mine)

    ran = await cli(*export)

    assert (ran.code, ran.out, file.read_text()) == (1, "", mine)
    assert "proposal.md was changed by hand, and would lose 'We drew it on a train.', which is no" in ran.err
    file.write_text(mine.replace("We drew it on a train.\n", ""))
    assert (await cli(*export)).code == 0
    assert "- FR-001 Sync by night" in file.read_text()


async def test_an_export_is_not_mixed_with_files_of_others(cli: Cli, wished: Path) -> None:
    folder = wished / "openspec/changes/gh-42-offline-sync"
    folder.mkdir(parents=True)
    for name in ("design.md", "notes.md"):
        (folder / name).write_text("# Mine\n")

        ran = await cli("export", "gh-42-offline-sync", "--to", "openspec")

        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(
            f"openspec/changes/gh-42-offline-sync/{name} was not written by Roundtable."
        )
        assert [one.name for one in folder.iterdir()] == [name]
        (folder / name).unlink()


@pytest.mark.usefixtures("wished")
async def test_an_export_that_is_not_possible_says_why(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    into_a_file = ("gh-42-offline-sync", "--to", "kiro", "--out", "a-file")

    for words, code, sentence in (
        (("gh-42-offline-sync", "--to", "word"), 2, "'word' is not one of speckit, openspec, kiro"),
        (
            ("gh-42-offline-snyc", "--to", "kiro"),
            1,
            "There is no item 'gh-42-offline-snyc'. Did you mean gh-42-",
        ),
        (into_a_file, 1, "The export cannot be written: a-file: "),
    ):
        ran = await cli("export", *words)
        assert (ran.code, ran.out) == (code, "")
        assert sentence in ran.err


async def test_a_link_in_the_place_of_an_export_is_not_followed(cli: Cli, wished: Path) -> None:
    (wished.parent / "outside").mkdir()
    (wished / ".kiro").symlink_to(wished.parent / "outside")

    ran = await cli("export", "gh-42-offline-sync", "--to", "kiro")

    assert (ran.code, ran.out) == (1, "")
    assert "is a symbolic link, which is not followed" in ran.err
    assert not list((wished.parent / "outside").iterdir())


async def test_a_schema_is_printed_by_its_name(cli: Cli) -> None:
    assert (await cli("schema", "entry")).json["$id"] == "urn:roundtable:schema:entry:1"

    ran = await cli("schema", "nothing")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("There is no schema 'nothing'. There are decisions, entries, entry,")


# --- items and show -------------------------------------------------------------------------------------------------


DECIDED_IN = "https://team.slack.com/archives/C1/p1700000000000100"


@pytest.fixture
def decided(workspace: Path) -> str:
    """The address of a decision that is in the first of two commits."""
    made = {"id": "DEC-001", "kind": "decision", "new": True, "set": {"text": "Sync by \x1b[31mhand"}}
    transcript = said(
        workspace, "decision: Sync by hand", made,
        channel_id="C1", message_ts="1700000001.000100", permalink=DECIDED_IN,
    )  # fmt: skip
    transcript.write_text("", encoding="utf-8")
    commit_all(workspace)
    return "gh-42-offline-sync/DEC-001"


async def test_an_entry_is_shown_with_its_words_and_where_they_stand(cli: Cli, decided: str) -> None:
    link = "https://team.slack.com/archives/C1/p1700000001000100?thread_ts=1700000000.000100&cid=C1"
    ran = await cli("show", decided, "--at", "HEAD~1")

    assert ran.code == 0
    assert ran.err.startswith("1 line of the record has no seal: ")
    assert ran.out.splitlines() == [
        "gh-42-offline-sync/DEC-001: Sync by [31mhand",
        "  decision, accepted. Said by Ada.",
        "  text: Sync by [31mhand",
        "      Said by Ada",
        f"      “decision: Sync by hand” Ada, 2026-01-01 {link}",
    ]
    row = (await cli("show", decided, "--at", "HEAD~1", "--json")).json
    assert row["claims"]["text"][0]["sources"][0]["link"] == link
    assert row["claims"]["text"][0]["said_by"] == {"id": "U1", "name": "Ada", "kind": "person"}


@pytest.mark.usefixtures("decided")
async def test_what_is_not_there_is_said_in_a_sentence(cli: Cli) -> None:
    for words, code, sentence in (
        (["gh-42-offline-sync/DEC-001"], 1, "gh-42-offline-sync has no DEC-001."),
        (["gh-42-offline-sinc/DEC-1"], 1, "no item 'gh-42-offline-sinc'. Did you mean gh-42-offline-sync?"),
        (["DEC-001"], 1, "DEC-001 could be in 2 items. Write ITEM/DEC-001."),
        (["DEC-001", "--at", "nowhere"], 1, "There is no commit 'nowhere' in the workspace."),
        (["gh-42-offline-sync", "--at", "HEAD"], 2, "--at goes with ITEM/ID"),
    ):
        ran = await cli("show", *words)
        assert (ran.code, ran.out) == (code, "")
        assert sentence in ran.err


async def test_looking_makes_nothing(cli: Cli, tmp_path: Path) -> None:
    """In the wrong folder there are no items, and no workspace afterwards."""
    text, rows, show = await cli("items"), await cli("items", "--json"), await cli("show", "x")

    assert (text.code, text.out) == (0, "There are no items yet.\n")
    assert (rows.code, rows.json) == (0, [])
    assert show.code == 1
    assert not [*tmp_path.iterdir()]  # noqa: ASYNC240 -- nothing else goes on here


@pytest.mark.usefixtures("workspace")
async def test_items_are_a_table_for_people(cli: Cli) -> None:
    """One line each, whatever a title holds; what cannot be read is not taken for something new."""
    ran = await cli("items")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "gh-42-offline-sync  partial      4 steps  Offline [31msync of notes",
        "torn                unreadable   0 steps  torn",
    ]


@pytest.mark.usefixtures("workspace")
async def test_items_are_rows_for_scripts(cli: Cli) -> None:
    """The keys are a promise."""
    ran = await cli("items", "--json")

    assert [list(row) for row in ran.json] == [
        ["slug", "title", "status", "steps_completed", "source_id"]
    ] * 2
    first, torn = ran.json
    assert (first["slug"], first["status"], first["steps_completed"], first["source_id"]) == (
        "gh-42-offline-sync", "partial", 4, "GH-42",
    )  # fmt: skip
    assert (torn["slug"], torn["status"]) == ("torn", "unreadable")


@pytest.mark.usefixtures("workspace")
async def test_show_says_how_far_an_item_is(cli: Cli) -> None:
    """Phases, what is next, how deep, what was discussed, which files there are."""
    ran = await cli("show", "gh-42-offline-sync")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "Offline [31msync of notes (gh-42-offline-sync): partial",
        "  [x] 00-quick-scan        3/3 steps",
        "  [ ] 01-requirements      1/8 steps",
        "  [ ] 02-impact-analysis   0/4 steps",
        "  [ ] 03-architecture      0/4 steps",
        "  [ ] 04-design            0/5 steps",
        "  next       01-02 User Needs Discovery",
        "  depth      01-requirements deep",
        "  discussed  01-01: Conflicts are rare",
        "  artifacts  quick-scan.md",
    ]


@pytest.mark.usefixtures("workspace")
async def test_show_is_an_object_for_scripts(cli: Cli) -> None:
    """The keys are a promise."""
    shown = (await cli("show", "gh-42-offline-sync", "--json")).json

    assert list(shown) == [
        "slug", "title", "status", "source_id", "phases", "steps_completed", "next", "depth_overrides",
        "elaborations", "artifacts", "codebase_hash", "commits_behind", "rounds", "entries", "troubles", "spent",
    ]  # fmt: skip
    assert shown["next"] == {"step_id": "01-02", "title": "User Needs Discovery"}
    assert shown["phases"][1] == {"key": "01-requirements", "complete": False, "done": 1, "steps": 8}
    assert shown["elaborations"] == OFFLINE_SYNC["elaborations"]
    assert shown["troubles"] == []
    assert (shown["spent"]["calls"], shown["spent"]["cost"], shown["spent"]["words"]) == (0, "0", "")


@pytest.mark.usefixtures("workspace")
async def test_an_item_that_is_not_there_is_one_sentence(cli: Cli) -> None:
    """On stderr, with nothing for a script to mistake for an item."""
    for slug, sentence in {
        "gh-42-offline-snyc": "There is no item 'gh-42-offline-snyc'. Did you mean gh-42-offline-sync?",
        "../requirements/torn": "There is no item '../requirements/torn'.",
        "": "There is no item ''.",
        "torn": "The progress of torn is unknown: docs/requirements/torn/meta.json is not JSON: Unterminated",
    }.items():
        ran = await cli("show", "--json", "--", slug)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(sentence)
        assert len(ran.err.splitlines()) == 1


# --- manifest, and wrong usage --------------------------------------------------------------------------------------


async def test_the_manifest_can_be_pasted_into_slack(cli: Cli) -> None:
    """For Socket Mode, or for an address; no setting is needed for either."""
    sockets = await cli("manifest")
    http = await cli("manifest", "--http", "--url", "https://bot.example.com", ROUNDTABLE_TYPO="x")

    assert (sockets.code, sockets.json) == (0, manifest())
    assert (http.code, http.json) == (0, manifest(socket_mode=False, url="https://bot.example.com"))
    assert "https://bot.example.com/slack/events" in http.out


async def test_the_module_is_the_same_program(cli: Cli, tmp_path: Path) -> None:
    """`python -m bot` and `roundtable` say and return the same."""
    ran, alike = await python_m_bot(tmp_path, "show", "x"), await cli("show", "x")

    assert ran == alike
    assert ran.code == 1


async def test_nothing_is_shown_from_outside_of_the_workspace(
    cli: Cli, workspace: Path, tmp_path: Path
) -> None:
    """A link that somebody pushed is no file; the other items are listed as ever."""
    torn = workspace / "docs/requirements/torn"
    (tmp_path / "meta.json").write_text('{"description": "a secret"}')
    (torn / "meta.json").unlink()
    (torn / "meta.json").symlink_to(tmp_path / "meta.json")
    commit_all(workspace)
    ran = await cli("show", "torn")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(
        "The progress of torn is unknown: docs/requirements/torn/meta.json cannot be read ("
    )
    listed = [line.split()[:2] for line in (await cli("items")).out.splitlines()]
    assert listed == [["gh-42-offline-sync", "partial"], ["torn", "unreadable"]]


@pytest.mark.parametrize(
    "words",
    [
        "frobnicate", "show", "show a b", "items --yaml", "review", "check now",
        "manifest --http", "manifest --http --url bot.example.com", "manifest --http --url http://bot.example.com",
    ],
)  # fmt: skip
async def test_wrong_usage_is_exit_code_2(cli: Cli, words: str) -> None:
    """With the way to help, and nothing on stdout."""
    ran = await cli(*words.split())

    assert (ran.code, ran.out) == (2, "")
    assert "--help" in ran.err


async def test_scrub_takes_secrets_out_and_says_where_they_stay(cli: Cli, tmp_path: Path) -> None:
    """Exit code 1 as long as a commit has one; the secret is in no output."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
    folder = item(tmp_path / "workspace", "offline-sync", {"version": 1, "description": "Offline sync"})
    spec = folder / "requirements-spec.md"
    spec.write_text(f"Use {secret} for now.\n")
    commit_all(tmp_path / "workspace")
    item(tmp_path / "workspace", "dark-mode", {"version": 1})
    commit_all(tmp_path / "workspace")

    first = await cli("scrub", "offline-sync")
    second = await cli("scrub", "--all")
    clean = await cli("scrub", "dark-mode")
    unknown, wrong = await cli("scrub", "offline-snc"), [await cli("scrub"), await cli("scrub", "x", "--all")]

    assert spec.read_text() == "Use [redacted:github-token] for now.\n"
    assert "offline-sync: 1 secret replaced, commit " in first.out
    assert "requirements-spec.md: github-token (1)" in first.out
    assert "still in 2 commits" in first.out
    assert "Change the secrets first" in first.out
    assert (
        "dark-mode: no secrets in its files\noffline-sync: no secrets in its files\n  still in" in second.out
    )
    assert clean.out == "dark-mode: no secrets in its files\n"
    assert "Did you mean offline-sync?" in unknown.err
    assert [ran.code for ran in (first, second, clean, unknown, *wrong)] == [1, 1, 0, 1, 2, 2]
    assert secret not in "".join(ran.out + ran.err for ran in (first, second, clean, unknown, *wrong))


async def test_scrub_takes_secrets_out_of_the_running_roundtable_too(cli: Cli, tmp_path: Path) -> None:
    """Without Redis only when no bot runs: the command says so, and that it has to be run again."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
    item(tmp_path / "workspace", "offline-sync", {"version": 1})
    commit_all(tmp_path / "workspace")
    leaky = Table().start().say(f"Use {secret} for now.").rt.but(version=1)
    async with SqliteStore(tmp_path / "workspace" / STATE) as running:
        await running.put(leaky, expected=0)
        in_use = await cli("scrub", "offline-sync")
    first, second = await cli("scrub", "offline-sync"), await cli("scrub", "offline-sync")
    async with SqliteStore(tmp_path / "workspace" / STATE) as running:
        after = await running.get("offline-sync")

    assert "Stop the bot, and run this command once more." in in_use.out
    assert "the running roundtable: github-token (" in first.out
    assert "the running roundtable" not in second.out
    assert [one.code for one in (in_use, first, second)] == [1, 0, 0]
    assert after
    assert secret not in after.model_dump_json() + "".join(
        one.out + one.err for one in (in_use, first, second)
    )


# --- trying it out --------------------------------------------------------------------------------------------------


async def test_trying_it_out_prints_one_line(tmp_path: Path) -> None:
    """The page's address, and no log; Ctrl-C ends it without a word."""
    for more in ((), ("--log",)):
        port = free_port()
        running = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "try", "--port", str(port), "--workspace", str(tmp_path / "w"), *more,
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert running.stdout
        line = (await asyncio.wait_for(running.stdout.readline(), PATIENCE_SECONDS)).decode()
        assert line == (
            f"Roundtable is running. Open http://127.0.0.1:{port}/ in your browser; Ctrl-C stops it.\n"
        )
        running.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(running.communicate(), PATIENCE_SECONDS)
        assert (running.returncode, out) == (0, b"")
        assert bool(err) is bool(more), err.decode()


async def test_a_meeting_that_cannot_be_played_is_one_sentence(cli: Cli, tmp_path: Path) -> None:
    """Before anything is started; and only --demo plays one."""
    missing = await cli("try", "--demo", "--meeting", str(tmp_path / "own.yaml"))
    alone = await cli("try", "--meeting", "01")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err == "own.yaml cannot be read: No such file or directory.\n"
    assert alone.code == 2


@pytest.mark.parametrize("env", [{}, {"ROUNDTABLE_WORKSPCE": "x", "ROUNDTABLE_PORT": "many"}])
async def test_the_version_is_told(cli: Cli, env: dict[str, str]) -> None:
    """As it is in pyproject.toml, with any settings."""
    ran = await cli("--version", **env)
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert (ran.code, ran.out.strip()) == (0, f"roundtable {told}")


async def test_every_command_tells_its_options_by_h(cli: Cli) -> None:
    """As `--help` does; and a shell can complete commands."""
    for words in ((), ("run",), ("check",), ("trace",), ("replay",)):
        short, long = await cli(*words, "-h"), await cli(*words, "--help")
        assert (short.code, short.out) == (0, long.out)
    assert "--install-completion" in (await cli("-h")).out
    completed = await cli(_ROUNDTABLE_COMPLETE="complete_bash", COMP_WORDS="roundtable che", COMP_CWORD="1")
    assert completed.out.split() == ["check"]
