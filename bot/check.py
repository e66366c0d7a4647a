"""
The preflight: everything that `run` will need, tried out and listed, so that nothing is found out later.

Whatever can be tried is tried in the way that `run` does it. Nothing is kept but what `run` would make too: the
workspace, when there is none.
"""

from collections.abc import Awaitable
from shutil import which

from bot import app, check_content
from bot.check_table import Finding, Problem, unusable
from bot.domain.persona import Roster
from bot.domain.text import counted
from bot.errors import BotError, SlackError, WorkspaceError
from bot.greeting import greeted
from bot.log import HIDDEN, redacted
from bot.settings import Settings, name_of
from bot.slack import client as slack_client
from bot.slack.board import SlackBoard
from bot.slack.endpoint import PATH
from bot.slack.manifest import OPTIONAL, SCOPES, missing_scopes
from bot.slack.wording import APP_LEVEL_REFUSED
from bot.storage.explain import explained
from bot.storage.inspection import inspected
from bot.storage.reach import reached
from bot.storage.repository import branch, open_repository
from bot.web import serving


async def everything(settings: Settings) -> tuple[Finding, ...]:
    personas, roster = check_content.personas(settings)
    workspace = await _tried("workspace", _workspace(settings))
    kept_elsewhere = settings.redis_url or not workspace.stops
    triage = (await _tried("triage", _triage(settings)),) if settings.triage_channel else ()
    remote = (await _tried("remote", _remote(settings, workspace)),) if settings.remote else ()
    return (
        _settings(settings),
        personas,
        check_content.steps(settings, roster),
        workspace,
        *remote,
        await _tried("store", _store(settings))
        if kept_elsewhere
        else unusable("store", "not tried: without REDIS_URL it is a part of the workspace"),
        await _tried("slack", _slack(settings)),
        *triage,
        await _tried("transport", _transport(settings)),
        await _tried("model", _model(settings, roster or Roster())),
        await _tried("web", _web(settings)),
    )


async def _tried(name: str, check: Awaitable[Finding]) -> Finding:
    try:
        return await check
    except BotError as error:
        return unusable(name, error)


def _settings(settings: Settings) -> Finding:
    given = sorted(map(name_of, settings.model_fields_set))
    return Finding("settings", f"set: {', '.join(given)}" if given else "all by default")


async def _workspace(settings: Settings) -> Finding:
    async with app.workspace(settings) as files:
        await files.ping()
        items = await files.items()
    with explained():
        commits_to = branch(open_repository(settings.workspace.absolute())).removeprefix("refs/heads/")
    words = f"{settings.workspace.absolute()}: {counted(len(items), 'item')}, on branch {commits_to}"
    missing = () if which("git") else (Problem("git is not on the PATH: no step can search the code."),)
    return Finding("workspace", words, missing)


async def _remote(settings: Settings, workspace: Finding) -> Finding:
    """What git says may name the address, and an address may hold a token."""
    if workspace.stops or not settings.remote:
        return unusable("remote", "not tried: it needs the workspace")
    try:
        found = await reached(settings.workspace.absolute(), settings.remote)
    except WorkspaceError as error:
        return unusable("remote", _without_secrets(f"ROUNDTABLE_REMOTE cannot be reached: {error}", settings))
    words = f"it answers, on branch {found.branch}" if found.branch else "it answers, and is still empty"
    if not found.refusal:
        return Finding("remote", f"{words}; we may push")
    refused = _without_secrets(f"We may not push: {found.refusal}", settings)
    return Finding("remote", words, (Problem(refused, stops=True),))


def _without_secrets(text: str, settings: Settings) -> str:
    for secret in sorted(settings.secrets(), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return redacted(text)


async def _store(settings: Settings) -> Finding:
    async with app.store(settings) as store:
        await store.ping()
        owing = await store.owing()
    waiting = f"; {counted(len(owing), 'roundtable')} to go on with" if owing else ""
    if not settings.redis_url:
        return Finding("store", f"for one process, in the workspace{waiting}")
    redis = await inspected(settings.redis_url.get_secret_value())
    problems = tuple(Problem(text, stops=stops) for text, stops in redis.advice)
    return Finding("store", redis.found + waiting, problems)


async def _slack(settings: Settings) -> Finding:
    token = app.required(settings.slack_bot_token, "SLACK_BOT_TOKEN")
    async with slack_client.opened(token, api_url=settings.slack_api_url) as client:
        try:
            us = await slack_client.identify(client)
        except SlackError as error:
            problem = "Slack cannot be asked" if error.again else "Slack refused SLACK_BOT_TOKEN"
            return unusable("slack", f"{problem}: {error}")
    words = f"bot {us.user} in workspace {us.team}"
    if not us.scopes:
        return Finding("slack", f"{words}; Slack does not say what it may do")
    missing = missing_scopes(",".join(us.scopes))
    problems = tuple(
        Problem(f"The scope {scope} is missing: {SCOPES[scope]}.", stops=scope not in OPTIONAL)
        for scope in missing
    )
    if not missing:
        return Finding("slack", f"{words}, all scopes granted")
    return Finding("slack", f"{words}; add what is missing, and install the app again", problems)


async def _triage(settings: Settings) -> Finding:
    """Reviews are kept and told of in the threads without it, so nothing about it stops `run`."""
    token, named = (
        app.required(settings.slack_bot_token, "SLACK_BOT_TOKEN"),
        settings.triage_channel or "",
    )
    async with slack_client.opened(token, api_url=settings.slack_api_url) as client:
        try:
            board = SlackBoard(client, await slack_client.identify(client))
            found = await board.channel(named)
            await slack_client.call(client.conversations_history, channel=found, limit=1)
        except SlackError as error:
            return Finding("triage", named, (Problem(str(error)),))
    return Finding("triage", f"{named} is {found}" if found != named else f"channel {found}")


async def _transport(settings: Settings) -> Finding:
    if settings.slack_app_token is None:
        app.required(settings.slack_signing_secret, "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET")
        return Finding("transport", f"HTTP, at {PATH} of this bot's public address")

    token = settings.slack_app_token.get_secret_value()
    async with slack_client.opened(token, api_url=settings.slack_api_url) as client:
        try:
            await slack_client.call(client.apps_connections_open, app_token=token)
        except SlackError as error:
            refused = "Slack cannot be asked" if error.again else APP_LEVEL_REFUSED.rstrip(".")
            return unusable("transport", f"{refused}: {error}")
    return Finding("transport", "Socket Mode")


async def _model(settings: Settings, roster: Roster) -> Finding:
    found, sentences, stops = await greeted(settings, roster)
    return Finding("model", found, tuple(Problem(sentence, stops=stops) for sentence in sentences))


async def _web(settings: Settings) -> Finding:
    async with serving(settings.health_host, settings.health_port, setting="ROUNDTABLE_HEALTH_PORT"):
        found = f"{settings.health_host}:{settings.health_port} is free for health and metrics"
        if settings.takes_requests:
            async with serving(settings.host, settings.port):
                found += f", and {settings.host}:{settings.port} for requests"
    return Finding("web", found)
