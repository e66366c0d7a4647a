"""
The preflight: tries everything that `run` needs, and lists the results.

It changes nothing: no file, no git configuration, no key in the store.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bot import app, shipped
from bot.cast import foreign_tools, language_models
from bot.content import agent_keys, mcp
from bot.content.entries import read_schema
from bot.content.files import ContentFolder, Findings
from bot.content.mcp import McpServer
from bot.content.personas import read_roster
from bot.content.policies import read_policies
from bot.content.short_path import FILE as SHORT_PATH
from bot.content.short_path import read_short_path
from bot.content.steps import NO_SUCH_PERSONA, read_agenda
from bot.domain.catalog.personas import Chain, Roster
from bot.domain.catalog.phases import ANALYSIS_PHASES
from bot.domain.catalog.policy import ReviewedBy
from bot.domain.catalog.taxonomy import Trouble
from bot.domain.values.text import counted
from bot.engine.performers import log_trouble
from bot.errors import BotError, ConfigError, SlackError, WorkspaceError
from bot.integrations.exports import format_of
from bot.log import HIDDEN, redacted
from bot.server.http import serving
from bot.settings import FILE, Settings, name_of
from bot.slack import client as slack_client
from bot.slack.board import SlackBoard
from bot.slack.manifest import OPTIONAL, SCOPES, missing_scopes
from bot.slack.transport import APP_LEVEL_REFUSED, PATH
from bot.storage import sqlite
from bot.storage.git.command import explained
from bot.storage.git.reader import inspected as inspected_workspace
from bot.storage.git.sync import reached
from bot.storage.git.tree import STATE, existing_repository, open_repository
from bot.storage.redis import RedisStore
from bot.storage.redis_client import inspected, refuse_node
from bot.storage.team import must_be
from bot.voices.llm.models import ModelRegistry
from bot.voices.model import ForeignTools, ServerReport, Tool
from bot.voices.tools.looking import NO_MORE, TOOLS

NO_SEAL_KEY = (
    "ROUNDTABLE_SEAL_KEY is not set: the key that seals what is recorded follows from the bot token."
    " With another token, all of it counts as proposed until a person takes it over."
)

NO_GITHUB_KEY = "ROUNDTABLE_GITHUB_KEY is not set, so no issue is read or created."

# What a preflight found, as a table for people and as rows for scripts.


MARKS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}


class CheckProblem(NamedTuple):
    """`stops` says that `run` would not start, or not work. Most codes are the taxonomy's; some things have none."""

    text: str
    code: str = ""
    stops: bool = False


class CheckResult(NamedTuple):
    name: str
    found: str
    problems: tuple[CheckProblem, ...] = ()

    @property
    def stops(self) -> bool:
        return any(problem.stops for problem in self.problems)

    @property
    def status(self) -> str:
        return "fail" if self.stops else "warn" if self.problems else "ok"


def failed_check(name: str, error: BotError | str) -> CheckResult:
    return CheckResult(name, "", (CheckProblem(str(error), stops=True),))


def as_rows(findings: Iterable[CheckResult]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "status": one.status,
            "found": one.found,
            "problems": [problem._asdict() for problem in one.problems],
        }
        for one in findings
    ]


def as_text(findings: Iterable[CheckResult]) -> str:
    lines = [line for one in findings for line in _lines(one)]
    stops = sum(problem.stops for one in findings for problem in one.problems)
    verdict = f"{counted(stops, 'problem')} would stop `roundtable run`." if stops else "Ready to run."
    return "\n".join((*lines, "", verdict))


def _lines(finding: CheckResult) -> Iterator[str]:
    """What cannot be used at all has its reason on the first line."""
    told = finding.problems if finding.found else finding.problems[1:]
    yield f"{MARKS[finding.status]:<5} {finding.name:<10} {finding.found or finding.problems[0].text}"
    width = max((len(problem.code) for problem in told), default=0)
    for problem in told:
        gap = "  " if width else ""
        yield f"{'!' if problem.stops else '-':>7} {problem.code:<{width}}{gap}{problem.text}"


# The preflight of personas and steps: every file that is left out, and why.


def check_personas(settings: Settings) -> tuple[CheckResult, Roster | None]:
    findings = Findings()
    try:
        folder = settings.personas or shipped.personas_dir()
        roster = read_roster(folder, findings, workspace=settings.workspace)
    except BotError as error:
        return failed_check("personas", error), None
    unknown = roster.unknown(settings.models)
    roster = roster.with_models(settings.models)
    found = ", ".join(persona.label for persona in roster)
    nobody = (f"ROUNDTABLE_MODELS names {name}, and no persona has that name." for name in unknown)
    problems = (*_problems(findings), *_unled(roster), *map(CheckProblem, nobody))
    return CheckResult("personas", found, problems), roster


async def check_tools(settings: Settings) -> CheckResult:
    """Each server that ROUNDTABLE_MCP names is connected once. One that is away stops nothing: it rests."""
    assert settings.mcp, "it is checked when it is set"
    servers = mcp.read_servers(settings.mcp)
    async with foreign_tools(settings) as tools:
        if tools is None:
            return CheckResult("tools", ", ".join(servers), (CheckProblem(mcp.NOT_INSTALLED),))
        reports = await tools.settled()
    found = "; ".join(f"{one.name}: {_used(one)}" for one in reports)
    problems = [CheckProblem(said) for one in reports for said in _lacking(one, servers[one.name])]
    return CheckResult("tools", found, tuple(problems))


def check_exports(settings: Settings) -> CheckResult:
    """A plug-in that is broken stops nothing: its format is not written."""
    problems = list[CheckProblem]()
    for one in settings.exports:
        try:
            format_of(one.format)
        except ConfigError as error:
            problems.append(CheckProblem(str(error)))
    return CheckResult("exports", ", ".join(one.format for one in settings.exports), tuple(problems))


async def check_agents(settings: Settings) -> CheckResult:
    assert settings.agent_keys, "it is checked when it is set"
    if not mcp.is_installed():
        return failed_check("agents", agent_keys.NOT_INSTALLED)
    keys = agent_keys.read_keys(settings.agent_keys)
    return CheckResult("agents", ", ".join(one.name for one in keys) or agent_keys.NO_KEYS)


def _used(report: ServerReport) -> str:
    if report.sentence:
        return "no answer"
    of = f" of {len(report.offered)}" if len(report.offered) > len(report.used) else ""
    return f"{len(report.used)}{of} {'tool' if len(report.offered) == 1 else 'tools'}"


def _lacking(report: ServerReport, server: McpServer) -> Iterator[str]:
    if report.sentence:
        yield report.sentence
        return
    if not report.used:
        yield f"No tool of {report.name} is marked as read-only: name those that personas may use in `allow`."
    unknown = [one for one in server.allow if one not in report.offered]
    yield from (f"`allow` of {report.name} names {one}, and it has no such tool." for one in unknown)


def _unled(roster: Roster) -> Iterator[CheckProblem]:
    for phase in ANALYSIS_PHASES:
        lead, trouble = roster.lead_of(phase.key)
        if trouble:
            yield CheckProblem(
                f"No persona has {phase.key} in its `phases`: {lead.label} will lead it.", trouble.code
            )


def check_steps(settings: Settings, roster: Roster | None) -> CheckResult:
    if roster is None:
        return failed_check("steps", "not read: no persona can lead them")
    findings = Findings()
    folder = settings.steps or shipped.steps_dir()
    try:
        schema = read_schema(folder, findings, workspace=settings.workspace)
        agenda = read_agenda(folder, roster, schema, findings, workspace=settings.workspace)
        read_short_path(folder, agenda, roster, schema, findings, workspace=settings.workspace)
    except BotError as error:
        return failed_check("steps", error)
    unknown = [one for one in findings.troubles if one.facts.get("reason") == NO_SUCH_PERSONA]
    problems = [*_without_persona(unknown, settings), *_problems(findings, but=unknown)]
    if not agenda.steps:
        problems.insert(
            0, CheckProblem(f"There is no step to run: {folder}/NN-phase/NN-step.md.", stops=True)
        )
    if SHORT_PATH not in ContentFolder(folder, settings.workspace).names():
        problems.append(CheckProblem(f"There is no {SHORT_PATH}, so depth brief asks step by step."))
    phases = len({step.phase_key for step in agenda.steps})
    found = f"{counted(len(agenda.steps), 'step')} in {counted(phases, 'phase')}"
    return CheckResult("steps", found, tuple(problems))


async def check_policies(path: Path, roster: Roster) -> CheckResult:
    policies = read_policies(path, [persona.key for persona in roster])
    return CheckResult("policies", f"for {counted(len(policies.channels), 'channel')}")


def _without_persona(troubles: Iterable[Trouble], settings: Settings) -> Iterator[CheckProblem]:
    """Steps that name a persona who is not there: one cause, however many steps it costs."""
    folder = str(settings.personas or "personas").rstrip("/")
    for (code, key), steps in Counter((one.code, one.facts["value"]) for one in troubles).items():
        names = "names" if steps == 1 else "name"
        yield CheckProblem(
            f"{counted(steps, 'step')} {names} persona {key!r}, which is not in {folder}/.", code
        )
    for trouble in troubles:
        log_trouble(trouble)


def _problems(findings: Findings, *, but: Iterable[Trouble] = ()) -> Iterator[CheckProblem]:
    """Each on a line of its own, and in the log, as when `run` reads them."""
    apart = list(but)
    for trouble in findings.troubles:
        if trouble not in apart:
            log_trouble(trouble)
            yield CheckProblem(
                trouble.log.removeprefix(f"{trouble.code} ").removeprefix("Warning: "), trouble.code
            )
    for note in findings.notes:
        code, _, text = note.partition(" ")
        yield CheckProblem(text, code) if code.startswith("VR-") else CheckProblem(note)


# Whether the models that are configured answer: each is asked for a word, for `roundtable check`.


REVIEWED_BY_ITSELF = "; drafts are checked by the same model, and another one would see more"


class OfferedTools(NamedTuple):
    """To see whether a model's server takes them: nothing is looked at."""

    tools: Sequence[Tool]

    async def look(self, name: str, given: Mapping[str, Any], /) -> str:  # noqa: ARG002 -- as `Toolbox` has it
        return NO_MORE

    async def first_look(self) -> str:
        return ""


async def check_models(settings: Settings, roster: Roster) -> CheckResult:
    """
    A model that does not answer stops only where no persona could speak without it. Raises ConfigError when a setting
    is missing.
    """
    async with AsyncExitStack() as stack:
        found = await stack.enter_async_context(language_models(settings, roster))
        answers = await found.greeted()
        foreign = await stack.enter_async_context(foreign_tools(settings)) if answers else None
        notes = await _without_tools(found, foreign) if foreign else ()
    if not answers:
        return CheckResult("model", "offline: the personas facilitate, and do not think for themselves")
    chain = Chain.read(settings.model)
    stops = not chain.offline and all(answers[name] for name in chain.names)
    answering = ", ".join(str(name) for name, sentence in answers.items() if not sentence)
    problems = [CheckProblem(sentence, stops=stops) for sentence in answers.values() if sentence]
    is_same = answering and settings.reviewed_by is ReviewedBy.SAME
    said = f"{answering or 'no model'} answers{REVIEWED_BY_ITSELF if is_same else ''}"
    return CheckResult("model", said, (*problems, *map(CheckProblem, notes)))


async def _without_tools(found: ModelRegistry, foreign: ForeignTools) -> tuple[str, ...]:
    """Each model is asked once more, with the tools of servers: some refuse a request because of one of them."""
    await foreign.settled()
    if not foreign.tools:
        return ()
    await found.greeted(OfferedTools((*TOOLS, *foreign.tools)))
    return await found.without_tools()


async def everything(settings: Settings) -> tuple[CheckResult, ...]:
    personas, roster = check_personas(settings)
    places: tuple[CheckResult | None, ...]
    if settings.several:
        from bot.cli import check_teams  # noqa: PLC0415 -- of one workspace, nothing of this is loaded

        places = await check_teams.check_places(settings)
    else:
        places = await _places(settings)
    policies = None if roster is None else settings.policies
    rows = (
        check_settings(settings),
        personas,
        check_steps(settings, roster),
        await tried("tools", check_tools(settings)) if settings.mcp else None,
        await tried("agents", check_agents(settings)) if settings.agent_keys else None,
        check_exports(settings) if settings.exports else None,
        await tried("policies", check_policies(policies, roster or Roster())) if policies else None,
        *places,
        await tried("github", check_github(settings)) if settings.names_github else None,
        await tried("transport", check_transport(settings)),
        await tried("model", check_models(settings, roster or Roster())),
        await tried("web", check_web(settings)),
    )
    return tuple(row for row in rows if row)


async def _places(settings: Settings) -> tuple[CheckResult | None, ...]:
    """Where one workspace of Slack has what it says: git, the store, and Slack itself."""
    workspace = await tried("workspace", check_workspace(settings))
    kept_elsewhere = settings.redis_url or not workspace.stops
    return (
        workspace,
        await tried("remote", check_remote(settings, workspace)) if settings.remote else None,
        await tried("store", _store(settings))
        if kept_elsewhere
        else failed_check("store", "not tried: without REDIS_URL it is a part of the workspace"),
        await tried("slack", _slack(settings)),
        await tried("triage", _triage(settings)) if settings.triage_channel else None,
    )


async def tried(name: str, check: Awaitable[CheckResult]) -> CheckResult:
    try:
        return await check
    except BotError as error:
        return failed_check(name, error)


def check_version() -> CheckResult:
    return CheckResult("version", str(shipped.release()))


def check_settings(settings: Settings) -> CheckResult:
    given = [
        f"{name} from a file" if os.environ.get(name + FILE, "").strip() else name
        for name in sorted(map(name_of, settings.model_fields_set))
    ]
    problems = () if settings.seal_key else (CheckProblem(NO_SEAL_KEY),)
    return CheckResult("settings", f"set: {', '.join(given)}" if given else "all by default", problems)


async def check_workspace(settings: Settings) -> CheckResult:
    root = settings.workspace.absolute()
    with explained():
        found = await asyncio.to_thread(inspected_workspace, root, str(settings.items_dir))
    begins = "" if found.begun else "; the repository will be created"
    team = app.team_of_workspace(settings)
    whose = f", for Slack workspace {team}" if team else ""
    words = f"{root}: {counted(found.items, 'item')}, on branch {found.branch}{whose}{begins}"
    notes = [CheckProblem(note) for note in found.notes]
    if not which("git"):
        notes.append(CheckProblem("git is not on the PATH: no step can search the code."))
    return CheckResult("workspace", words, tuple(notes))


async def check_remote(settings: Settings, workspace: CheckResult) -> CheckResult:
    """What git says may name the address, and an address may hold a token."""
    if workspace.stops or not settings.remote:
        return failed_check("remote", "not tried: it needs the workspace")
    root, remote = settings.workspace.absolute(), settings.remote
    try:
        if existing_repository(root):
            found = await reached(root, remote)
        else:
            with TemporaryDirectory() as apart:
                open_repository(Path(apart))
                is_address = ":" in remote or Path(remote).is_absolute()
                found = await reached(Path(apart), remote if is_address else str(root / remote))
    except WorkspaceError as error:
        return failed_check(
            "remote", _without_secrets(f"ROUNDTABLE_REMOTE cannot be reached: {error}", settings)
        )
    words = f"it answers, on branch {found.branch}" if found.branch else "it answers, and is still empty"
    if not found.refusal:
        return CheckResult("remote", f"{words}; we may push")
    refused = _without_secrets(f"We may not push: {found.refusal}", settings)
    return CheckResult("remote", words, (CheckProblem(refused, stops=True),))


def _without_secrets(text: str, settings: Settings) -> str:
    for secret in sorted(settings.secrets(), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return redacted(text)


async def _store(settings: Settings) -> CheckResult:
    if not settings.redis_url:
        count = await asyncio.to_thread(sqlite.inspected, settings.workspace / STATE)
        return CheckResult("store", f"for one process, in the workspace{_unfinished(count)}")
    url = settings.redis_url.get_secret_value()
    await refuse_node(url)
    waiting = ""
    if team := await _team(settings):
        async with RedisStore(url, team=team) as store:
            await store.ping()
            waiting = _unfinished(len(await store.unfinished()), f" of {team}")
    return await check_redis(url, waiting)


async def check_redis(url: str, waiting: str = "") -> CheckResult:
    await refuse_node(url)
    redis = await inspected(url)
    problems = tuple(CheckProblem(text, stops=stops) for text, stops in redis.advice)
    return CheckResult("store", redis.found + waiting, problems)


async def check_github(settings: Settings) -> CheckResult:
    """Nothing about it stops `run`: who wants an issue is told what is in the way."""
    named = ", ".join(settings.github)
    if settings.github_key is None:
        return CheckResult("github", named, (CheckProblem(NO_GITHUB_KEY),))
    from bot.integrations import github  # noqa: PLC0415 -- only where it is used

    key = settings.github_key.get_secret_value()
    async with github.opened(key, url=settings.github_url, app=settings.github_app) as tracker:
        refused = [await tracker.refusal(repository) for repository in settings.github or ("",)]
    may = f"issues are read, and created in {named}" if named else "the key is accepted; issues are read"
    problems = tuple(map(CheckProblem, filter(None, refused)))
    return CheckResult("github", named if problems else may, problems)


async def _team(settings: Settings) -> str:
    """Whose keys are meant; empty when neither the workspace nor Slack says it."""
    if (team := app.team_of_workspace(settings)) or not settings.slack_bot_token:
        return team
    with suppress(SlackError):
        async with app.own_slack(settings) as (_, us):
            return us.team
    return ""


def _unfinished(count: int, whose: str = "") -> str:
    return f"; {counted(count, 'roundtable')}{whose} to continue" if count else ""


async def _slack(settings: Settings) -> CheckResult:
    try:
        async with app.own_slack(settings) as (_, us):
            pass
    except SlackError as error:
        problem = "Slack cannot be asked" if error.again else "Slack refused SLACK_BOT_TOKEN"
        return failed_check("slack", f"{problem}: {error}")
    words = f"bot {us.user} in workspace {us.team}"
    if found := app.team_of_workspace(settings):
        must_be(settings.workspace, us.team, found)
    if not us.scopes:
        return CheckResult("slack", f"{words}; Slack does not say what it may do")
    if not (problems := check_scopes(us.scopes)):
        return CheckResult("slack", f"{words}, all scopes granted")
    return CheckResult("slack", f"{words}; add what is missing, and install the app again", problems)


def check_scopes(granted: Collection[str]) -> tuple[CheckProblem, ...]:
    return tuple(
        CheckProblem(f"The scope {scope} is missing: {SCOPES[scope]}.", stops=scope not in OPTIONAL)
        for scope in missing_scopes(granted)
    )


async def _triage(settings: Settings) -> CheckResult:
    """Reviews are kept and told of in the threads without it, so nothing about it stops `run`."""
    named = settings.triage_channel or ""
    try:
        async with app.own_slack(settings) as (client, us):
            found = await SlackBoard(client, us).channel(named)
            await slack_client.call(client.conversations_history, channel=found, limit=1)
    except SlackError as error:
        return CheckResult("triage", named, (CheckProblem(str(error)),))
    return CheckResult("triage", f"{named} is {found}" if found != named else f"channel {found}")


async def check_transport(settings: Settings) -> CheckResult:
    if settings.slack_app_token is None:
        app.required(settings.slack_signing_secret, "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET")
        return CheckResult("transport", f"HTTP, at {PATH} of this bot's public address")

    token = settings.slack_app_token.get_secret_value()
    async with slack_client.opened(token, api_url=settings.slack_api_url) as client:
        try:
            await slack_client.call(client.apps_connections_open, app_token=token)
        except SlackError as error:
            refused = "Slack cannot be asked" if error.again else APP_LEVEL_REFUSED.rstrip(".")
            return failed_check("transport", f"{refused}: {error}")
    return CheckResult("transport", "Socket Mode")


async def check_web(settings: Settings) -> CheckResult:
    async with serving(settings.health_host, settings.health_port, setting="ROUNDTABLE_HEALTH_PORT"):
        found = f"{settings.health_host}:{settings.health_port} is free for health and metrics"
        if settings.takes_requests:
            async with serving(settings.host, settings.port):
                found += f", and {settings.host}:{settings.port} for requests"
    return CheckResult("web", found)
