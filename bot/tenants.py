"""
The bot of several Slack workspaces in one process (`SLACK_CLIENT_ID`): each team has its own store, repository, engine
and log lines, from when it is needed until it is idle. They share the process, the settings and the address, and
nothing that people say.
"""

import asyncio
import logging
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot import app
from bot.app import AS_SET, TeamAtWork, Variations
from bot.content.policies import read_policies
from bot.domain.catalog.policy import TeamLimits, is_over
from bot.engine import audit
from bot.engine.ports import Clock, now
from bot.errors import BotError, SlackError, Unavailable, WorkspaceError
from bot.expiry import BY_THE_BOT, last_night
from bot.files import folder
from bot.log import about
from bot.server.connection import Endpoints, answered, beside
from bot.server.metrics import Facts, Metrics
from bot.settings import Settings, revealed
from bot.slack import client as slack_client
from bot.slack.app import slack_app
from bot.slack.client import Identity
from bot.slack.handing_over import answering
from bot.slack.installations import Installations, SealedInstallations, SeveralApp, States, TeamClient, pages
from bot.storage.git.tree import STATE
from bot.storage.installed import RedisInstallations
from bot.storage.ownership import Share
from bot.storage.redis_client import refuse_node
from bot.storage.sqlite import SqliteStore, installed
from bot.storage.sqlite import drop as drop_store
from bot.voices.month import MonthlyBudget

log = logging.getLogger(__name__)

OPENING_SECONDS = 2.0
"""How long a delivery waits for its team. Slack waits three seconds, and repeats events."""
IDLE_SECONDS = 15 * 60.0
LOOK_SECONDS = 60.0
TAKE_OVER_SECONDS = 1.0
"""So often is looked for teams without an owner. It is one request to Redis."""
OTHERS_SECONDS = 30 * 24 * 3600
"""Within this time every process of a cluster has run, and deleted its checkout."""
AGAIN_SECONDS = 10.0
"""After which a team that could not be opened may be tried again."""
OK, NOT_YET = 200, 503
NOT_WRITTEN = "it cannot be written to"
STARTING = "I am starting in this workspace, and nothing was saved. Try again in ten seconds."


class Tenant(NamedTuple):
    """A team that is open."""

    app: AsyncApp
    team: TeamAtWork
    endpoints: Endpoints

    async def may_rest(self) -> bool:
        """No discussion is open, nothing is left to do, no timer is set, and the last night's run is done."""
        store = self.team.store
        return not (await store.held() or await store.unfinished(now=FAR) or await self.team.expiry.is_due())


FAR = "9999-01-01T00:00:00.000Z"
"""Later than every time that is stored."""
Opening = Callable[[str], AbstractAsyncContextManager[Tenant]]


class _Open:
    """A team in a task of its own, which opens and closes it: its log lines name it, and nothing else's do."""

    def __init__(self, team: str, opening: Opening, *, after: "asyncio.Task[None] | None") -> None:
        self._team = team
        self._opening = opening
        self._after = after
        self._leaving = asyncio.Event()
        self.requests = 0
        self.used_at = time.monotonic()
        self.tenant: asyncio.Future[Tenant] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._run(), name=f"team {team}")
        self.task.add_done_callback(self._ended)

    @property
    def is_leaving(self) -> bool:
        return self._leaving.is_set()

    @property
    def is_idle(self) -> bool:
        return not self.requests and time.monotonic() - self.used_at > IDLE_SECONDS

    @property
    def opened(self) -> Tenant | None:
        if self.is_leaving or not self.tenant.done() or self.tenant.cancelled() or self.tenant.exception():
            return None
        return self.tenant.result()

    @property
    def has_failed(self) -> bool:
        return self.task.done() and not self.is_leaving

    def may_be_replaced(self) -> bool:
        """It ended, or could not be opened some time ago."""
        return self.is_leaving or (self.task.done() and time.monotonic() - self.used_at > AGAIN_SECONDS)

    async def close(self) -> None:
        self._leaving.set()
        if not self.tenant.done():
            self.task.cancel()  # it may wait for Slack for minutes
        await asyncio.wait({self.task})

    async def _run(self) -> None:
        if self._after:
            await asyncio.wait({self._after})
        with about(team=self._team):
            async with self._opening(self._team) as tenant:
                self.tenant.set_result(tenant)
                await self._leaving.wait()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if not self.tenant.done():
            self.tenant.cancel()
        with about(team=self._team):
            if isinstance(error, BotError):
                log.error("this workspace is not served, and is tried again in a minute: %s", error)
            elif error:
                log.error("this workspace is not served: it broke", exc_info=error)


class Tenants:
    """The open teams of this process."""

    def __init__(
        self,
        opening: Opening,
        *,
        is_installed: Callable[[str], Awaitable[bool]],
        orphaned: Callable[[Sequence[str]], Awaitable[Collection[str]]],
        drop: Callable[[], Awaitable[None]],
        clock: Clock,
    ) -> None:
        """
        *orphaned* says which teams have no owner any more, and should have one. *drop* deletes what was kept of teams
        that removed the app long ago.
        """
        self._opening = opening
        self._orphaned = orphaned
        self._clock = clock
        self._is_installed = is_installed
        self._drop = drop
        self._open: dict[str, _Open] = {}

    @property
    def opened(self) -> tuple[Tenant, ...]:
        return tuple(found for one in self._open.values() if (found := one.opened))

    @property
    def unopened(self) -> tuple[str, ...]:
        """They are about to be opened, or could not be."""
        return tuple(team for team, one in self._open.items() if not one.opened and not one.is_leaving)

    def needed(self, team: str) -> _Open:
        before = self._open.get(team)
        if before and not before.may_be_replaced():
            return before
        one = self._open[team] = _Open(team, self._opening, after=before.task if before else None)
        return one

    async def serves(self, team: str) -> bool:
        return await self._is_installed(team)

    @asynccontextmanager
    async def endpoints(self, team: str) -> AsyncIterator[Endpoints | None]:
        async with self._used(team) as tenant:
            yield tenant.endpoints if tenant else None

    async def dispatch(self, team: str, request: AsyncBoltRequest) -> BoltResponse:
        async with self._used(team) as tenant:
            if tenant:
                return await tenant.app.async_dispatch(request)
        # Slack repeats an event, and says of the rest that it did not work: a form stays open.
        is_command = "command" in request.body
        return BoltResponse(status=OK, body=STARTING) if is_command else BoltResponse(status=NOT_YET)

    @asynccontextmanager
    async def _used(self, team: str) -> AsyncIterator[Tenant | None]:
        """It is not closed meanwhile. None when it could not be opened in time."""
        one = self.needed(team)
        one.requests += 1
        try:
            with about(team=team):
                await asyncio.wait({one.tenant}, timeout=OPENING_SECONDS)
                yield one.opened
        finally:
            one.requests -= 1
            one.used_at = time.monotonic()

    async def installed(self, team: str) -> None:
        """Again, or for the first time."""
        if team in self._open:
            await self._open[team].close()
        self.needed(team)

    async def removed(self, team: str) -> None:
        if one := self._open.pop(team, None):
            await one.close()

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self._open.values()))

    async def watch(self, teams: Sequence[str]) -> None:
        """
        Opens those of *teams* that have installed the app, at first and for what is done each night, and closes what is
        idle, until cancelled.
        """
        await asyncio.gather(self._keep_opened(teams), self._take_over(teams))

    async def _keep_opened(self, teams: Sequence[str]) -> None:
        waiting, night = list(teams), last_night(self._clock())
        while True:
            if (newest := last_night(self._clock())) != night:
                waiting, night = list(teams), newest
            waiting = [team for team in waiting if not await self._opened_first(team)]
            await self.look()
            await asyncio.sleep(AGAIN_SECONDS if waiting else LOOK_SECONDS)

    async def _take_over(self, teams: Sequence[str]) -> None:
        """Their owner was another process, and died; here they are closed, or were never opened."""
        while True:
            await asyncio.sleep(TAKE_OVER_SECONDS)
            with suppress(Unavailable):
                for team in await self._orphaned(teams):
                    if team not in self._open or self._open[team].is_leaving:
                        log.info("%s has no owner any more, and is opened", team)
                        self.needed(team)

    async def look(self) -> None:
        for team in tuple(self._open):
            with suppress(Unavailable):
                await self._kept(team)
        with suppress(Unavailable):
            await self._drop()

    async def _opened_first(self, team: str) -> bool:
        """False when the store is away."""
        try:
            if await self._is_installed(team):
                self.needed(team)
        except Unavailable:
            return False
        return True

    async def _kept(self, team: str) -> None:
        """Another process may have heard that the app was removed."""
        one = self._open[team]
        if not await self._is_installed(team):
            await self.removed(team)
        elif one.has_failed:
            self.needed(team)
        elif one.is_idle and (tenant := one.opened) and await tenant.may_rest() and one.is_idle:
            log.info("%s is idle, and is closed until somebody says something there", team)
            if tenant.team.owner:
                tenant.team.owner.is_resting = True
            await one.close()


# --- built ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def bot(settings: Settings, *, web: bool = True, how: Variations = AS_SET) -> AsyncIterator[Tenants]:
    """As `app.bot`, for the teams that have installed the app. *web* shows health."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        metrics = stack.enter_context(app.observed(settings))
        limits = _limits(settings)
        client = await enter(slack_client.opened("", api_url=settings.slack_api_url))
        store = await enter(_store(settings))
        sealed = store if isinstance(store, RedisInstallations) else store.installations
        installed = installations(settings, sealed, client, clock=how.clock)
        endpoints, share = Endpoints(settings, metrics=metrics), Share()

        def opening(team: str) -> AbstractAsyncContextManager[Tenant]:
            named = limits.get(team, TeamLimits())
            calls = min(named.calls, settings.model_calls)
            own = settings.of_team(team).model_copy(update={"model_calls": calls})
            own_client = TeamClient(client, installed, team)
            return _tenant(own, team, own_client, process=endpoints, limits=named, share=share, how=how)

        async def is_installed(team: str) -> bool:
            return await installed.bot(team) is not None

        stopped = StoppedTeams(settings, sealed, how.clock)
        tenants = Tenants(
            opening,
            is_installed=is_installed,
            orphaned=sealed.orphaned,
            drop=stopped.drop,
            clock=how.clock,
        )
        several = SeveralApp(
            client,
            installed,
            States(sealed),
            tenants,
            client_id=settings.slack_client_id or "",
            client_secret=revealed(settings.slack_client_secret),
            url=settings.url or "",
        )

        def list_endpoints() -> list[Endpoints]:
            unopened = map(_unopened, tenants.unopened)
            return [*(one.endpoints for one in tenants.opened), *unopened]

        def _unopened(team: str) -> Endpoints:
            shown = Endpoints(settings.of_team(team), metrics=Metrics(team))
            shown.showing("owner", _not_ours)
            return shown

        endpoints.of_several(list_endpoints, store=store.ping, workspaces=partial(_probe, settings.workspace))
        if web:
            await enter(endpoints.watched())
        await enter(endpoints.serving(pages(several), teams=tenants))
        stack.push_async_callback(tenants.close)
        await enter(beside(tenants.watch(settings.teams)))
        await enter(endpoints.accepting(several, client))
        log.info("Roundtable is listening for %s", ", ".join(settings.teams))
        yield tenants


@asynccontextmanager
async def _tenant(
    settings: Settings,
    team: str,
    client: AsyncWebClient,
    *,
    process: Endpoints,
    limits: TeamLimits,
    share: Share,
    how: Variations,
) -> AsyncIterator[Tenant]:
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        metrics = Metrics(team)
        month = MonthlyBudget(limits.month, how.clock) if limits.month else None
        has = await enter(app.team_files(settings, how, metrics, month=month))
        endpoints = Endpoints(settings, workspace=has.files, metrics=metrics)
        us = await answered(
            lambda: _identity(client, team), refusal="Slack refused the token of this workspace"
        )
        secret = revealed(settings.seal_key[-1])
        at_work = await enter(
            app.team_at_work(
                settings, has, client, us, endpoints, secret=secret, at_once=limits.effects, share=share
            )
        )
        if month:
            month.kept_in(at_work.store)
            endpoints.showing("budget", month.facts)
        await enter(endpoints.calling(client))
        await enter(at_work.watching(process.hears))
        log.info("Roundtable is at work as %s in %s", us.user, us.team)
        bolt = slack_app(client, at_work.reception, meter=endpoints.metrics, owner=at_work.owner)
        if at_work.owner:
            await enter(answering(bolt, at_work.owner))
        yield Tenant(bolt, at_work, endpoints)


async def _not_ours() -> Facts:
    return {"mine": False}


async def _probe(workspaces: Path) -> None:
    """Writes in the folder that has those of the teams."""

    def probe() -> None:
        workspaces.mkdir(parents=True, exist_ok=True)
        with folder(workspaces) as files:
            files.probe()

    try:
        await asyncio.to_thread(probe)
    except OSError as error:
        raise WorkspaceError(error.strerror or NOT_WRITTEN) from error


async def _identity(client: AsyncWebClient, team: str) -> Identity:
    """Of an organization, all its workspaces are one team."""
    us = await slack_client.identify(client)
    if team not in {us.team, us.enterprise}:
        raise SlackError(f"it is for {us.team}", reason="another_team")
    return replace(us, team=team)


@asynccontextmanager
async def _store(settings: Settings) -> AsyncIterator[SqliteStore | RedisInstallations]:
    if settings.redis_url:
        await refuse_node(revealed(settings.redis_url))
        async with RedisInstallations(revealed(settings.redis_url)) as redis:
            yield redis
    else:
        async with SqliteStore(settings.workspace / STATE) as sqlite:
            yield sqlite


class StoppedTeams:
    """Those that removed the app: what is kept of them is deleted when ROUNDTABLE_RETENTION says so."""

    def __init__(self, settings: Settings, sealed: SealedInstallations, clock: Clock) -> None:
        self._settings = settings
        self._sealed = sealed
        self._clock = clock
        self._done: set[tuple[str, str, bool]] = set()

    async def drop(self) -> None:
        """
        Killed in between, it begins again: when the app was removed is deleted last, and later where other processes
        may have checkouts of their own.
        """
        kept, at = self._settings.retention, self._clock()
        for team in self._settings.teams:
            removed = await self._sealed.removed_at(team)
            if not removed or not is_over(kept.stopped, removed, at) or await self._sealed.get(team):
                continue
            takes_checkout = is_over(kept.checkout, removed, at)
            is_last = takes_checkout or kept.checkout is None
            if (team, removed, takes_checkout) in self._done:
                continue
            try:
                had_checkout = await asyncio.to_thread(self._drop_files, team, checkout=takes_checkout)
            except OSError as error:
                log.warning("what is here of %s, which removed the app, stays: %s", team, error.strerror)
                continue
            noted = None if not is_last else OTHERS_SECONDS if takes_checkout else 0
            had_state = await self._sealed.drop(team, noted_for=noted)
            self._done.add((team, removed, takes_checkout))
            if had_state or had_checkout:
                what = "state, checkout" if had_checkout else "state"
                audit.forgot("forget.team", items=0, what=f"{team}: {what}", by=BY_THE_BOT)

    def _drop_files(self, team: str, *, checkout: bool) -> bool:
        """Whether there was a checkout to delete."""
        here = self._settings.of_team(team).workspace
        drop_store(here / STATE)
        if checkout:
            with suppress(FileNotFoundError):
                shutil.rmtree(here)
                return True
        return False


def installations(
    settings: Settings, sealed: SealedInstallations, client: AsyncWebClient, *, clock: Clock = now
) -> Installations:
    rotator = AsyncTokenRotator(
        client_id=settings.slack_client_id or "",
        client_secret=revealed(settings.slack_client_secret),
        client=client,  # Bolt's own knows neither SLACK_API_URL nor a proxy
    )
    keys = [revealed(key) for key in settings.token_key]
    return Installations(sealed, keys=keys, allowed=settings.teams, rotator=rotator, clock=clock)


async def installed_bot(settings: Settings, team: str) -> Bot | None:
    """For a command; *settings* are those of all. No token is renewed, because that would change what is kept."""
    async with slack_client.opened("", api_url=settings.slack_api_url) as client:
        if settings.redis_url is None:
            return await installations(settings, installed(settings.workspace / STATE), client).bot(team)
        async with RedisInstallations(revealed(settings.redis_url)) as sealed:
            return await installations(settings, sealed, client).bot(team)


def _limits(settings: Settings) -> Mapping[str, TeamLimits]:
    if settings.policies is None:
        return {}
    return read_policies(settings.policies, [one.key for one in app.playbook(settings).roster]).teams
