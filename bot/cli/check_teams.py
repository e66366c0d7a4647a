"""The preflight of several Slack workspaces (`SLACK_CLIENT_ID`): what they share, and a row for each."""

import asyncio

from cryptography.fernet import Fernet

from bot.cli import check
from bot.cli.check import CheckProblem, CheckResult
from bot.errors import SlackError
from bot.settings import Settings
from bot.slack import client as slack_client
from bot.slack.manifest import INSTALL_PATH
from bot.storage import sqlite
from bot.storage.git.tree import STATE
from bot.storage.redis import RedisStore
from bot.tenants import installed_bot

FRESH_KEY = "ROUNDTABLE_TOKEN_KEY is not set. A fresh key, which nothing else knows: %s"
NOT_YET = "not installed: open %s there"


def fresh_key() -> CheckResult:
    return check.failed_check("token key", FRESH_KEY % Fernet.generate_key().decode())


async def check_places(settings: Settings) -> tuple[CheckResult, ...]:
    teams = [await check.tried(team, _team(settings, team)) for team in settings.teams]
    return (*teams, await check.tried("store", _store(settings)))


async def _store(settings: Settings) -> CheckResult:
    if settings.redis_url:
        return await check.check_redis(settings.redis_url.get_secret_value())
    await asyncio.to_thread(sqlite.inspected, settings.workspace / STATE)
    return CheckResult("store", "for one process, in the workspaces")


async def _team(settings: Settings, team: str) -> CheckResult:
    own = settings.of_team(team)
    workspace = await check.tried("workspace", check.check_workspace(own))
    parts = [workspace]
    if own.remote:
        parts.append(await check.tried("remote", check.check_remote(own, workspace)))
    if settings.redis_url:
        async with RedisStore(settings.redis_url.get_secret_value(), team=team) as store:
            await store.ping()
    installed = await _installed(settings, team)
    problems = [problem for part in (*parts, installed) for problem in part.problems]
    found = "; ".join(part.found for part in (installed, *parts) if part.found)
    return CheckResult(team, found, tuple(problems))


async def _installed(settings: Settings, team: str) -> CheckResult:
    bot = await installed_bot(settings, team)
    if bot is None:
        return CheckResult(team, NOT_YET % f"{settings.url}{INSTALL_PATH}")
    async with slack_client.opened(bot.bot_token or "", api_url=settings.slack_api_url) as own:
        try:
            us = await slack_client.identify(own)
        except SlackError as error:
            again = "Slack cannot be asked" if error.again else "Slack refused its token"
            return CheckResult(team, "installed", (CheckProblem(f"{again}: {error}"),))
    problems = check.check_scopes(us.scopes) if us.scopes else ()
    return CheckResult(team, f"installed, bot {us.user}", problems)
