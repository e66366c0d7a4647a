"""The preflight of several Slack workspaces (`SLACK_CLIENT_ID`): what they share, and a row for each."""

import asyncio

from cryptography.fernet import Fernet

from bot.cli import check
from bot.cli.check import CheckProblem, CheckResult
from bot.domain.catalog.personas import Roster
from bot.errors import SlackError
from bot.settings import Settings
from bot.slack import client as slack_client
from bot.slack.manifest import INSTALL_PATH, OPTIONAL, SCOPES, missing_scopes
from bot.storage import sqlite
from bot.storage.git.tree import STATE
from bot.storage.installed import RedisInstallations
from bot.storage.redis import RedisStore
from bot.storage.redis_client import inspected, refuse_node
from bot.tenants import installations

FRESH_KEY = "ROUNDTABLE_TOKEN_KEY is not set. A fresh key, which nothing else knows: %s"
NOT_YET = "not installed: open %s there"


def fresh_key() -> CheckResult:
    return check.failed_check("token key", FRESH_KEY % Fernet.generate_key().decode())


async def everything(settings: Settings) -> tuple[CheckResult, ...]:
    personas, roster = check.check_personas(settings)
    tools = (await check.tried("tools", check.check_tools(settings)),) if settings.mcp else ()
    github = (await check.tried("github", check.check_github(settings)),) if settings.names_github else ()
    teams = [await check.tried(team, _team(settings, team)) for team in settings.teams]
    return (
        check.check_settings(settings),
        personas,
        check.check_steps(settings, roster),
        *tools,
        *check.check_policies(settings, roster),
        *teams,
        *github,
        await check.tried("store", _store(settings)),
        await check.tried("transport", check.check_transport(settings)),
        await check.tried("model", check.check_models(settings, roster or Roster())),
        await check.tried("web", check.check_web(settings)),
    )


async def _store(settings: Settings) -> CheckResult:
    if not settings.redis_url:
        await asyncio.to_thread(sqlite.inspected, settings.workspace / STATE)
        return CheckResult("store", "for one process, in the workspaces")
    url = settings.redis_url.get_secret_value()
    await refuse_node(url)
    redis = await inspected(url)
    return CheckResult(
        "store", redis.found, tuple(CheckProblem(text, stops=stops) for text, stops in redis.advice)
    )


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
    """No token is renewed for this, because that would change what is kept."""
    async with slack_client.opened("", api_url=settings.slack_api_url) as client:
        if settings.redis_url:
            async with RedisInstallations(settings.redis_url.get_secret_value()) as sealed:
                bot = await installations(settings, sealed, client).bot(team)
        else:
            sealed_here = sqlite.installed(settings.workspace / STATE)
            bot = await installations(settings, sealed_here, client).bot(team)
    if bot is None:
        return CheckResult(team, NOT_YET % f"{settings.url}{INSTALL_PATH}")
    async with slack_client.opened(bot.bot_token or "", api_url=settings.slack_api_url) as own:
        try:
            us = await slack_client.identify(own)
        except SlackError as error:
            again = "Slack cannot be asked" if error.again else "Slack refused its token"
            return CheckResult(team, "installed", (CheckProblem(f"{again}: {error}"),))
    missing = missing_scopes(",".join(us.scopes)) if us.scopes else ()
    return CheckResult(team, f"installed, bot {us.user}", tuple(
        CheckProblem(f"The scope {scope} is missing: {SCOPES[scope]}.", stops=scope not in OPTIONAL)
        for scope in missing
    ))  # fmt: skip
