"""
The composition root: every part is built here, and only here, in one stack that is taken down in reverse.

`bot(settings)` is the running bot, in Slack or in the sandbox: the very same parts, told apart by settings alone.
"""

import asyncio
import logging
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot import keys as derived
from bot import shipped, telemetry
from bot.cast import Speakers, opened_speakers
from bot.content import agent_keys, mcp
from bot.content.playbook import ContentWatch, load
from bot.content.policies import read_policies
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policies
from bot.domain.catalog.schema import Schema
from bot.domain.item.export_places import usual_places
from bot.domain.privacy.redaction import Redact
from bot.engine.agent_desk import AgentDesk
from bot.engine.commands import Commands
from bot.engine.engine import Engine, run
from bot.engine.evidence_ports import NO_SIGHT, Sights
from bot.engine.item_locator import ItemLocator
from bot.engine.performers import Performers, log_trouble
from bot.engine.personal import Personal
from bot.engine.ports import NO_METER, Clock, Exports, Meter, Voices, Wake, now
from bot.engine.review_ports import Reviewers
from bot.engine.reviews import ReviewContext, ReviewTriage
from bot.engine.roundtables import Absence, Roundtables
from bot.engine.source_ports import SourceReaders
from bot.engine.viewing import Viewers
from bot.errors import ConfigError, Unavailable
from bot.expiry import Expiry
from bot.files import META_BYTES, folder
from bot.integrations.agreed import NewestItems
from bot.integrations.committed_exports import CommittedExports
from bot.integrations.source_files import read_issue_text, source_reader
from bot.log import ThrottledWarning
from bot.parts import agreed_reader, read_kinds, seal, secret_redaction
from bot.record.brief import labels_of
from bot.record.kept import KeptRecords
from bot.server.connection import Endpoints, answered, beside
from bot.server.github_webhook import GitHubWebhook
from bot.server.metrics import Facts, Metrics
from bot.server.review_webhook import ReviewWebhook
from bot.settings import Settings, revealed
from bot.slack import client as slack_client
from bot.slack.board import SlackBoard
from bot.slack.chat import SlackChat
from bot.slack.client import Identity
from bot.slack.pace import Pace, RateLimit
from bot.slack.people import PeopleDirectory, PersonOf, UserStore
from bot.slack.reception import Reception
from bot.storage.git.erasing import Forgetter
from bot.storage.git.evidence import GitEvidence
from bot.storage.git.sync import Sync
from bot.storage.git.tree import STATE, files_at_tip
from bot.storage.git.workspace import GitWorkspace, at_once
from bot.storage.local_wake import AT_ONCE, LocalWake
from bot.storage.ownership import Ownership, Share
from bot.storage.redis import RedisStore
from bot.storage.redis_client import refuse_node
from bot.storage.sqlite import SqliteStore
from bot.storage.team import claim, recorded
from bot.voices.month import MonthlyBudget

log = logging.getLogger(__name__)


AGAIN_SECONDS = 2.0
FIRST_ROUND_SECONDS = 10.0
"""How long a start waits for the remote; then it catches up in the background."""

# SIGTERM to exit takes ten seconds at most: a second to answer Slack (`ANSWER_SECONDS` of `server.connection`), and
# these. What is left undone then is in the store, and the next process continues with it. Where another process may be
# there, it takes the team within a second.
PAY_SECONDS, LAST_EFFECT_SECONDS = 3.0, 3.0
PAY_SECONDS_SHARED, LAST_EFFECT_SECONDS_SHARED = 0.0, 0.4
ERRAND_SECONDS = 1.0
READ_AGAIN_SECONDS = 5.0
"""How often is looked whether step and persona files have changed, and whether a person was forgotten."""


def playbook(settings: Settings) -> Playbook:
    """Personas and steps as the settings say; what was wrong with them goes to the log, once."""
    read = load(*_content_folders(settings), workspace=settings.workspace)
    for trouble in read.troubles:
        log_trouble(trouble)
    for note in read.notes:
        log.info("%s", note)
    if unknown := read.roster.unknown(settings.models):
        log.warning("ROUNDTABLE_MODELS names %s, and no persona has that name", ", ".join(unknown))
    repositories = settings.github if settings.github_key else ()
    roster = read.roster.with_models(settings.models)
    return replace(read, policy=settings.policy, roster=roster, repositories=repositories)


def with_policies(
    playbook: Playbook, settings: Settings, wrap: Callable[[Policies], Policies] | None = None
) -> Playbook:
    """Raises ConfigError with a sentence for each mistake in the file."""
    if settings.policies is not None:
        personas = [persona.key for persona in playbook.roster]
        found = read_policies(settings.policies, personas)
        if found.teams and not settings.several:
            raise ConfigError(
                "ROUNDTABLE_POLICIES: teams is for several workspaces: set SLACK_CLIENT_ID, too."
            )
        playbook = replace(playbook, policies=found)
    return replace(playbook, policies=wrap(playbook.policies)) if wrap else playbook


def _content_folders(settings: Settings) -> tuple[Path, Path]:
    return settings.personas or shipped.personas_dir(), settings.steps or shipped.steps_dir()


def person_ids(settings: Settings, team: str) -> PersonOf:
    """The id of a person, from Slack's."""
    return partial(seal(settings).person, team)


SANDBOX_KEY = "seal.key"


def sandbox_key(workspace: Path) -> str:
    """What `roundtable try` seals with, kept in its store: the token of the sandbox is no secret."""
    workspace.mkdir(parents=True, exist_ok=True)
    with folder(workspace, (STATE,), make=True) as state:
        state.create(SANDBOX_KEY, secrets.token_urlsafe(32).encode())
        return (state.read(SANDBOX_KEY, META_BYTES) or b"").decode()


def exports(settings: Settings) -> Exports:
    """What commits of items write for other tools, and what is read back of it."""
    usual, schema = tuple(usual_places(settings.exports, str(settings.items_dir))), read_kinds(settings)
    return CommittedExports(settings.exports, usual, agreed_reader(settings, schema), schema)


def evidence(settings: Settings) -> GitEvidence:
    """What models may look at in the workspace."""
    return GitEvidence(settings.workspace, str(settings.items_dir))


@asynccontextmanager
async def workspace(settings: Settings, *, sync: Sync | None = None) -> AsyncIterator[GitWorkspace]:
    """With a Redis, another process with a clone of its own may have written to an item last."""
    in_step = sync.abreast if sync else at_once
    async with GitWorkspace(
        settings.workspace,
        items_dir=str(settings.items_dir),
        seal=seal(settings),
        abreast=in_step if settings.redis_url else at_once,
        in_step=in_step,
        after_commit=sync.wake if sync else None,
        exports=exports(settings),
    ) as opened:
        yield opened


@asynccontextmanager
async def store(
    settings: Settings, team: str, owner: Ownership | None = None
) -> AsyncIterator[SqliteStore | RedisStore]:
    """Redis when there is a URL, else a file in the workspace that is this process's alone."""
    if settings.redis_url:
        url = settings.redis_url.get_secret_value()
        await refuse_node(url)
        async with RedisStore(url, team=team, owner=owner, days=settings.retention.state) as redis:
            yield redis
    else:
        async with SqliteStore(settings.workspace / STATE) as sqlite:
            yield sqlite


def forgetter(settings: Settings) -> Forgetter:
    """What takes a person or an item out of git."""
    return Forgetter(
        settings.workspace,
        items_dir=str(settings.items_dir),
        seal=seal(settings),
        exports=exports(settings),
    )


def expiry(
    settings: Settings, saved: SqliteStore | RedisStore | None, playbook: Playbook, clock: Clock = now
) -> Expiry:
    """What is taken out when it is older than the settings say."""
    git = forgetter(settings)
    return Expiry(settings.retention, git, saved, playbook=playbook, sealer=seal(settings).lines, clock=clock)


async def claimed(settings: Settings, team: str, files: GitWorkspace) -> None:
    """The workspace is *team*'s from now on. Raises ConfigError when it is another's."""
    known = team_of_workspace(settings)
    found = set() if known else {one.team for one in await files.items() if one.sealed and one.team}
    await asyncio.to_thread(claim, settings.workspace / STATE, team, found=found)


def team_of_workspace(settings: Settings) -> str:
    """Empty when no bot has begun there yet."""
    return recorded(settings.workspace / STATE)


def pace(settings: Settings, *, speed: float | None = None) -> Pace:
    """
    Calls to a Slack on this machine wait only after it refused one as too many, unless there is a *speed*: how much
    faster than Slack's the limits are.
    """
    if speed is None:
        speed = math.inf if slack_client.is_here(settings.slack_api_url) else 1.0
    return Pace(RateLimit(speed=speed))


class Variations(NamedTuple):
    """
    What the sandbox and tests have in place of what the settings say. *over* and *policies* wrap those of the settings,
    and *speed* is that of `pace`.
    """

    voices: Voices | None = None
    over: Callable[[Voices], Voices] | None = None
    policies: Callable[[Policies], Policies] | None = None
    speed: float | None = None
    clock: Clock = now


AS_SET = Variations()


@asynccontextmanager
async def bot(settings: Settings, *, web: bool = True, how: Variations = AS_SET) -> AsyncIterator[None]:
    """
    The bot, up and listening; *web* shows its health. On leaving, it takes in nothing more, ends its work, and lets go.

    Health is already served while it waits for Slack. Raises ConfigError with a sentence when it cannot start.
    """
    token = _token(settings)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        metrics = stack.enter_context(observed(settings))
        has = await enter(team_files(settings, how, metrics))
        client = await enter(slack_client.opened(token, api_url=settings.slack_api_url))
        endpoints = Endpoints(settings, workspace=has.files, metrics=metrics)
        if web:
            await enter(endpoints.watched())
        await enter(endpoints.serving(web=web))
        us = await answered(lambda: slack_client.identify(client), refusal="Slack refused SLACK_BOT_TOKEN")
        team = await enter(team_at_work(settings, has, client, us, endpoints, secret=token))
        await enter(endpoints.opened(client, team.reception, team.owner))
        await enter(team.watching(endpoints.hears))
        log.info("Roundtable is listening as %s in %s", us.user, us.team)
        yield


class TeamFiles(NamedTuple):
    """What a team has before Slack is asked."""

    agenda: Playbook
    watch: ContentWatch
    redact: Redact
    sync: Sync | None
    speaking: Speakers
    files: GitWorkspace
    how: Variations


@asynccontextmanager
async def team_files(
    settings: Settings, how: Variations, metrics: Metrics, *, month: MonthlyBudget | None = None
) -> AsyncIterator[TeamFiles]:
    folders, agenda = _content_folders(settings), with_policies(playbook(settings), settings, how.policies)
    watch = ContentWatch(lambda: playbook(settings), folders, workspace=settings.workspace)
    agenda = watch.marked(agenda)
    redact, sync, look_at = secret_redaction(settings), _sync(settings), evidence(settings)
    async with (
        opened_speakers(settings, agenda, redact, evidence=look_at, meter=metrics, month=month) as speaking,
        workspace(settings, sync=sync) as files,
    ):
        yield TeamFiles(agenda, watch, redact, sync, speaking, files, how)


class TeamAtWork(NamedTuple):
    """Where processes share a store, it is the *owner* that works."""

    reception: Reception
    store: SqliteStore | RedisStore
    roundtables: Roundtables
    personal: Personal
    expiry: Expiry
    clock: Clock
    owner: Ownership | None

    @asynccontextmanager
    async def watching(self, hears: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
        """*hears* says whether Slack's deliveries reach us now."""
        absence = Absence(self.roundtables, self.store, self.clock, hears=hears)
        expiring = partial(self.expiry.watch, partial(_is_ours, self.owner))
        async with _beside(absence.watch), _beside(self.personal.watch, expiring):
            yield


@asynccontextmanager
async def team_at_work(
    settings: Settings,
    has: TeamFiles,
    client: AsyncWebClient,
    us: Identity,
    endpoints: Endpoints,
    *,
    secret: str,
    at_once: int = AT_ONCE,
    share: Share | None = None,
) -> AsyncIterator[TeamAtWork]:
    """
    One team: what is said in it, and what is done there. Slugs of private items follow from *secret*. *share* is of all
    teams of the process.
    """
    files, agenda, redact, speaking, clock = has.files, has.agenda, has.redact, has.speaking, has.how.clock
    metrics = endpoints.metrics
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        saved, worker, owner = await enter(
            _state(settings, us.team, has, endpoints, at_once=at_once, share=share)
        )
        us = await _knowing(us, settings, redact, saved, files)
        agenda = replace(agenda, policy=agenda.policy.but(agent=us.is_agent))
        paced = pace(settings, speed=has.how.speed)
        chat = SlackChat(client, agenda.roster, us, pace=paced, health=endpoints.slack_health)
        board = SlackBoard(client, us, pace=paced, health=endpoints.slack_health)
        viewers = Viewers(saved, files, chat, lambda channel: agenda.policies.of(channel, agenda.policy))
        triage = review_triage(
            settings, saved, files, board, wake=worker, playbook=agenda, redact=redact,
            sights=viewers, reviewers=speaking.reviewers, tally=metrics,
        )  # fmt: skip
        webhook = ReviewWebhook(triage, map(revealed, settings.review_secret))
        await enter(endpoints.taking_reviews(webhook, triage.queue))
        spoken = has.how.voices or speaking.voices
        kept, heard = records(files, redact, agenda), has.how.over(spoken) if has.how.over else spoken
        sources = await enter(_sources(settings, agenda.schema))
        performers = Performers(chat, heard, files, agenda, clock, kept, viewers, redact, sources)
        personal = Personal(store=saved, chat=chat, playbook=agenda, clock=clock)
        roundtables = Roundtables(
            store=saved, wake=worker, performers=performers, playbook=agenda, clock=clock,
            meter=metrics, changed=personal.changed, before_save=us.people.keep_new,
        )  # fmt: skip
        endpoints.showing("content", partial(_content_facts, roundtables, owner))
        endpoints.showing("owner", partial(_owner_facts, owner))
        commands = Commands(
            roundtables=roundtables, store=saved, workspace=files, records=kept, chat=chat, playbook=agenda,
            personal=personal, viewers=viewers, redact=redact, sources=sources,
            ask_review=triage.ask, read_review=triage.read, secret=derived.slug_secret(secret),
        )  # fmt: skip
        reception = Reception(desk=commands, chat=chat, us=us, memory=saved, clock=clock)
        stack.push_async_callback(reception.errands.drain, ERRAND_SECONDS)
        if has.sync:
            await enter(_abreast(has.sync, metrics))
        await enter(_running(worker, roundtables, triage, is_shared=owner is not None))

        def read_again(changed: Playbook) -> None:
            for part in (roundtables, commands):
                part.read_again(replace(changed, policy=agenda.policy, policies=agenda.policies))
            chat.read_again(changed.roster)

        await enter(_beside(lambda: _kept_current(has.watch, read_again, files, us.people), us.people.keep))
        await enter(_agents(settings, commands, endpoints, chat=chat, us=us))
        await enter(_tracker(settings, roundtables, endpoints))
        expires = expiry(settings, saved, agenda, clock)
        yield TeamAtWork(reception, saved, roundtables, personal, expires, clock, owner)


async def _content_facts(roundtables: Roundtables, owner: Ownership | None) -> Facts:
    missing = {f"missing {step}": count for step, count in roundtables.missing_steps().items()}
    return {"differs": owner is not None and owner.differs, **missing}


async def _owner_facts(owner: Ownership | None) -> Facts:
    return {"mine": _is_ours(owner)}


@contextmanager
def observed(settings: Settings) -> Iterator[Metrics]:
    """Traces are sent meanwhile."""
    release = shipped.release()
    with telemetry.exported(settings.otel_exporter_otlp_endpoint, version=release.version):
        yield Metrics(release=release)


async def _knowing(
    us: Identity, settings: Settings, redact: Redact, saved: UserStore, files: GitWorkspace
) -> Identity:
    """With what Slack does not say about us."""
    apps = us.apps | slack_client.app_of(revealed(settings.slack_app_token))
    people = PeopleDirectory(person_ids(settings, us.team), store=saved)
    people.leave_out(await files.forgotten())
    return replace(us, redact=redact, apps=apps, people=people)


@asynccontextmanager
async def _state(
    settings: Settings,
    team: str,
    has: TeamFiles,
    endpoints: Endpoints,
    *,
    at_once: int,
    share: Share | None,
) -> AsyncIterator[tuple[SqliteStore | RedisStore, Wake, Ownership | None]]:
    """The store of *team*, its queue, and who owns it where processes share the store."""
    await claimed(settings, team, has.files)
    async with AsyncExitStack() as stack:
        owner = None
        if url := revealed(settings.redis_url):
            owner = await stack.enter_async_context(
                Ownership(url, team=team, at_once=at_once, share=share, content=lambda: has.watch.fingerprint)
            )
        saved = await stack.enter_async_context(store(settings, team, owner))
        wake = owner or LocalWake(at_once=at_once)
        yield saved, stack.enter_context(endpoints.of_team(team, store=saved, wake=wake)), owner


async def _kept_current(
    watch: ContentWatch, read_again: Callable[[Playbook], None], files: GitWorkspace, people: PeopleDirectory
) -> None:
    while True:
        await asyncio.sleep(READ_AGAIN_SECONDS)
        people.leave_out(await files.forgotten())
        if changed := await watch.changed():
            read_again(changed)


def _token(settings: Settings) -> str:
    """The bot's; and there has to be a way for Slack to reach us."""
    token = required(settings.slack_bot_token, "SLACK_BOT_TOKEN")
    if not settings.slack_app_token:
        required(settings.slack_signing_secret, "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET")
    return token


@asynccontextmanager
async def _abreast(sync: Sync, metrics: Metrics) -> AsyncIterator[None]:
    """What others pushed is there before anything begins, if the remote answers in time."""
    async with _beside(lambda: sync.run(meter=metrics)):
        await sync.abreast(seconds=FIRST_ROUND_SECONDS)
        yield


def records(files: GitWorkspace, redact: Redact, playbook: Playbook) -> KeptRecords:
    return KeptRecords(files.transcript, redact, labels_of(playbook), files.people)


@asynccontextmanager
async def _sources(settings: Settings, schema: Schema) -> AsyncIterator[SourceReaders]:
    found = SourceReaders(
        read_files=source_reader(evidence(settings).texts, agreed_reader(settings, schema), schema),
        issue_edits=partial(read_issue_text, schema=schema),
    )
    if settings.github_key is None:
        yield found
        return
    from bot.integrations import github  # noqa: PLC0415 -- only where it is used

    key = settings.github_key.get_secret_value()
    async with github.opened(key, url=settings.github_url, app=settings.github_app) as tracker:
        yield found._replace(tracker=tracker)


def review_triage(
    settings: Settings,
    saved: SqliteStore | RedisStore,
    files: GitWorkspace,
    board: SlackBoard,
    *,
    wake: Wake,
    playbook: Playbook,
    redact: Redact,
    reviewers: Reviewers,
    sights: Sights = NO_SIGHT,
    channel: str = "",
    tally: Meter = NO_METER,
) -> ReviewTriage:
    """*channel* is for notices that are not shown yet; by default the settings say it."""
    reviewing = ReviewContext(
        reviewers=reviewers,
        workspace=files,
        archive=files,
        board=board,
        homes=ItemLocator(saved, files),
        playbook=playbook,
        clock=now,
        sights=sights,
        channel=channel or settings.triage_channel or "",
        file_url=settings.file_url or "",
        redact=redact,
    )
    return ReviewTriage(reviewing, notices=saved.notices, wake=wake, team=board.team, tally=tally)


@asynccontextmanager
async def _agents(
    settings: Settings, commands: Commands, endpoints: Endpoints, *, chat: SlackChat, us: Identity
) -> AsyncIterator[None]:
    """Coding agents are heard from now on, if any have keys."""
    if settings.agent_keys is None:
        yield
        return
    if not mcp.is_installed():
        raise ConfigError(agent_keys.NOT_INSTALLED)
    from bot.server.agent_route import AgentRoute  # noqa: PLC0415 -- a bot without keys does not load the SDK

    desk = AgentDesk(
        roundtables=commands.roundtables,
        store=commands.store,
        workspace=commands.workspace,
        chat=chat,
        team=us.team,
        person_of=us.people.person,
        clock=now,
        redact=commands.redact,
    )
    route = AgentRoute(
        settings.agent_keys,
        desk,
        NewestItems(
            partial(files_at_tip, settings.workspace), agreed_reader(settings, commands.playbook.schema)
        ),
        version=shipped.release().version,
        warnings=ThrottledWarning(log),
    )
    async with route.opened(), endpoints.taking(route, endpoints.agents):
        try:
            yield
        finally:
            desk.leave()


@asynccontextmanager
async def _tracker(settings: Settings, roundtables: Roundtables, endpoints: Endpoints) -> AsyncIterator[None]:
    """What changed there is read at once, where GitHub may tell."""
    if settings.github_secret is None:
        yield
        return
    webhook = GitHubWebhook(settings.github_secret.get_secret_value(), roundtables.handle, now)
    async with endpoints.taking(webhook, endpoints.tracker):
        yield


def _beside(*runs: Callable[[], Awaitable[None]]) -> AbstractAsyncContextManager[None]:
    """What goes on in the background for as long as we do."""
    return beside(_all_kept_running(runs))


async def _all_kept_running(runs: Sequence[Callable[[], Awaitable[None]]]) -> None:
    await asyncio.gather(*(_kept_running(run, "what goes on in the background") for run in runs))


def _sync(settings: Settings) -> Sync | None:
    if not settings.remote:
        return None
    return Sync(
        settings.workspace,
        remote=settings.remote,
        items_dir=str(settings.items_dir),
        seal=seal(settings),
        exports=exports(settings),
    )


def _is_ours(owner: Ownership | None) -> bool:
    return owner is None or owner.mine


@asynccontextmanager
async def own_slack(settings: Settings) -> AsyncIterator[tuple[AsyncWebClient, Identity]]:
    """For a command about one workspace. Raises ConfigError without a token, SlackError when it is not accepted."""
    token = await token_for_commands(settings)
    async with slack_client.opened(token, api_url=settings.slack_api_url) as client:
        yield client, await slack_client.identify(client)


async def token_for_commands(settings: Settings) -> str:
    if not settings.several:
        return required(settings.slack_bot_token, "SLACK_BOT_TOKEN")
    from bot.tenants import installed_bot  # noqa: PLC0415 -- of one workspace, nothing of this is loaded

    of_all = settings.model_copy(update={"workspace": settings.workspace.parent})
    bot = await installed_bot(of_all, team := settings.workspace.name)
    if bot is None or not bot.bot_token:
        raise ConfigError(f"The app is not installed in {team}.")
    return str(bot.bot_token)


def required(secret: SecretStr | None, name: str) -> str:
    if secret is None:
        raise ConfigError(f"{name} is not set. Run `roundtable try` to try the bot without Slack.")
    return secret.get_secret_value()


@asynccontextmanager
async def _running(wake: Wake, *engines: Engine[Any, Any], is_shared: bool) -> AsyncIterator[None]:
    """
    On leaving: first every outbox may be finished, then the effect at hand may end and the rest is handed over, and
    then that is cut off and handed over too.
    """
    pay, last = (PAY_SECONDS, LAST_EFFECT_SECONDS)
    if is_shared:
        pay, last = PAY_SECONDS_SHARED, LAST_EFFECT_SECONDS_SHARED
    task = asyncio.create_task(_kept_running(lambda: run(wake, *engines), "the engine"), name="engine")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=pay)
        for engine in engines:
            engine.leave()
        await asyncio.wait({task}, timeout=last)
        task.cancel()
        await asyncio.wait({task})


async def _kept_running(run: Callable[[], Awaitable[None]], what: str) -> None:
    """A store that is away, or a mistake of ours, must not leave a bot that listens and never speaks, or pushes."""
    while True:
        try:
            await run()
        except Unavailable as error:
            log.warning("pending effects are looked for again in %.0f s: %s", AGAIN_SECONDS, error)
        except Exception:
            log.exception("%s stopped, and is started again in %.0f s", what, AGAIN_SECONDS)
        await asyncio.sleep(AGAIN_SECONDS)
