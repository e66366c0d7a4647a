"""
An app that several Slack workspaces install: Bolt's own OAuth, with the tokens sealed in our store.

Where it is installed is a *team*: a workspace (`T…`), or an organization that installed it for all its workspaces
(`E…`). Payloads go to the app of their team, which knows nothing of the others.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol

from aiohttp import web
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.engine.lru import LruCache
from bot.engine.ports import Clock, now
from bot.errors import BotError, SlackError, Unavailable
from bot.slack.client import SDK_LOG, USER_AGENT, call, errors_translated
from bot.slack.manifest import INSTALL_PATH, REDIRECT_PATH, REMOVED, SCOPES
from bot.slack.parse import Payload, part, word

log = logging.getLogger(__name__)

STATE_SECONDS = 600
"""How long somebody may take on Slack's page."""
KEPT_SECONDS = 60.0
"""After that, a token is read again: another process may have renewed it, or heard that it was revoked."""
NOT_INSTALLED_KEPT = 100
OK, FORBIDDEN, NOT_SAVED = 200, 403, 503

INSTALLED = "Roundtable is installed. Invite it to a channel, and type /roundtable help there."
STRANGER = "%s is not named in ROUNDTABLE_TEAMS. Nothing was installed."
NOT_DONE = "Nothing was installed: %s"
REASONS: Mapping[str, str] = {
    "access_denied": "you did not allow it.",
    "invalid_browser": f"this page was opened without the one before it. Begin at {INSTALL_PATH}.",
    "invalid_state": f"this address was used before, or is too old. Begin again at {INSTALL_PATH}.",
    "missing_code": f"Slack sent no code. Begin again at {INSTALL_PATH}.",
    "invalid_code": "Slack did not accept the code. The log of the bot says more.",
}
NOT_NOW = f"That did not work just now. Begin again at {INSTALL_PATH} in a minute.\n"
ANOTHER_REASON = "Slack refused it."

REVOKED = "The app is not installed in this workspace."
NOT_RENEWED = "Slack did not renew the token of this workspace. Install the app again."
WRONG_KEY = "the installation of %s is sealed with a key that ROUNDTABLE_TOKEN_KEY does not have"


class SealedInstallations(Protocol):
    """By team, and unreadable; and the states of those who are about to install the app."""

    async def get(self, team: str) -> str: ...

    async def put(self, team: str, sealed: str) -> None: ...

    async def replace(self, team: str, sealed: str, *, of: str) -> None:
        """Only while *of* is still there: not what was removed or installed again since."""
        ...

    async def remove(self, team: str, *, at: str) -> None:
        """An installation that is there; *at* is noted."""
        ...

    async def removed_at(self, team: str) -> str: ...

    async def drop(self, team: str, *, noted_for: int | None) -> bool:
        """
        Whether there was anything. When the app was removed is known for so many seconds more; None: until the next
        drop.
        """
        ...

    async def orphaned(self, teams: Sequence[str], /) -> tuple[str, ...]: ...

    async def issue(self, state: str, *, seconds: float) -> None: ...

    async def take(self, state: str) -> bool: ...

    def renewing(self, team: str) -> AbstractAsyncContextManager[None]:
        """One process at a time is inside."""
        ...


def team_of(enterprise: str | None, team: str | None, *, is_enterprise: bool | None) -> str:
    return (enterprise if is_enterprise or not team else team) or ""


class _Renewed(NamedTuple):
    """The *bot* has a newer token than the installation that it is *of*."""

    bot: Bot
    of: str


class Installations(AsyncInstallationStore):
    """
    Bolt's store, of bot tokens only, for the teams that are *allowed*. What cannot be decrypted counts as not
    installed.

    Slack renews a token with what is good once, so a renewal runs to its end, also when its caller is cancelled.
    """

    def __init__(
        self,
        sealed: SealedInstallations,
        *,
        keys: Sequence[str],
        allowed: Collection[str],
        rotator: AsyncTokenRotator,
        clock: Clock = now,
    ) -> None:
        self._sealed = sealed
        self._clock = clock
        self._box = MultiFernet([Fernet(key) for key in keys])
        self._allowed = frozenset(allowed)
        self._rotator = rotator
        self._known: dict[str, tuple[Bot, float]] = {}
        self._unsaved: dict[str, _Renewed] = {}
        self._renewals: dict[str, asyncio.Task[Bot]] = {}

    @property
    def logger(self) -> logging.Logger:
        return log

    def allows(self, team: str) -> bool:
        return team in self._allowed

    async def team_for(self, enterprise: str | None, team: str | None, *, is_enterprise: bool | None) -> str:
        """A workspace of an organization has an installation of its own, or the organization's. Empty for neither."""
        for one in dict.fromkeys((None if is_enterprise else team, enterprise)):
            if one and await self.bot(one):
                return one
        return ""

    async def bot(self, team: str) -> Bot | None:
        if not self.allows(team):
            return None
        known, read_at = self._known.get(team, (None, 0.0))
        if known is None or time.monotonic() - read_at > KEPT_SECONDS:
            known = await self._read(team)
            self._remember(team, known)
        return known

    async def token(self, team: str) -> str:
        """That works for some time. Raises SlackError when there is none, Unavailable when the store is away."""
        found = await self.bot(team)
        if found is None:
            raise SlackError(REVOKED, reason="token_revoked")
        if found.bot_token_expires_at is not None and _is_due(found):
            found = await self._renewed(team)
        return str(found.bot_token)

    async def removed(self, team: str, *, at: float) -> bool:
        """Something from before the app was installed again changes nothing."""
        found = await self._read(team)
        if found and int(found.installed_at) > at:
            return False
        self._unsaved.pop(team, None)
        self._remember(team, None)
        await self._sealed.remove(team, at=self._clock())
        return found is not None

    # --- as Bolt has it -------------------------------------------------------------------------------------------

    async def async_save(self, installation: Installation) -> None:
        await self.async_save_bot(installation.to_bot())

    async def async_save_bot(self, bot: Bot) -> None:
        """Of a stranger nothing is kept."""
        team = team_of(bot.enterprise_id, bot.team_id, is_enterprise=bot.is_enterprise_install)
        if self.allows(team):
            await self._sealed.put(team, self._sealed_form(bot))
            self._unsaved.pop(team, None)
            self._remember(team, bot)

    # --- sealed ---------------------------------------------------------------------------------------------------

    async def _read(self, team: str) -> Bot | None:
        if renewed := self._unsaved.get(team):
            try:
                await self._sealed.replace(team, self._sealed_form(renewed.bot), of=renewed.of)
            except Unavailable:
                return renewed.bot
            self._unsaved.pop(team, None)
        return self._opened(team, await self._sealed.get(team))

    def _opened(self, team: str, sealed: str) -> Bot | None:
        if not sealed:
            return None
        try:
            fields = json.loads(self._box.decrypt(sealed))
        except InvalidToken:
            log.error(WRONG_KEY, team)  # noqa: TRY400 -- the key is what is wrong
            return None
        expires = fields.pop("bot_token_expires_at")
        return Bot(
            **{**fields, "installed_at": float(fields["installed_at"])},
            bot_token_expires_at=None if expires is None else int(expires),
        )

    def _sealed_form(self, bot: Bot) -> str:
        fields = json.dumps(bot.to_dict_for_copying(), default=lambda moment: moment.timestamp())
        return self._box.encrypt(fields.encode()).decode()

    def _remember(self, team: str, bot: Bot | None) -> None:
        self._known.pop(team, None)
        if bot:
            self._known[team] = bot, time.monotonic()

    # --- tokens that expire ---------------------------------------------------------------------------------------

    async def _renewed(self, team: str) -> Bot:
        if team not in self._renewals:
            self._renewals[team] = asyncio.create_task(self._renew(team))
            self._renewals[team].add_done_callback(lambda _: self._renewals.pop(team))
        return await asyncio.shield(self._renewals[team])

    async def _renew(self, team: str) -> Bot:
        async with self._sealed.renewing(team):
            of = await self._sealed.get(team)
            if (found := self._opened(team, of)) is None:
                raise SlackError(REVOKED, reason="token_revoked")
            try:
                fresh = await self._asked_to_renew(found)
            except SlackError as error:
                if (found.bot_token_expires_at or 0) > time.time():
                    log.warning("the token of %s was not renewed yet: %s", team, error)
                    return found
                if error.again:
                    raise
                raise SlackError(NOT_RENEWED, reason="token_expired") from error
            if fresh:  # else another process has renewed it
                self._unsaved[team] = _Renewed(fresh, of)
                found = await self._read(team)
            self._remember(team, found)
            if found is None:
                raise SlackError(REVOKED, reason="token_revoked")
            return found

    async def _asked_to_renew(self, bot: Bot) -> Bot | None:
        with errors_translated():
            try:
                return await self._rotator.perform_bot_token_rotation(bot=bot)
            except SlackTokenRotationError as error:
                raise error.api_error from error


def _is_due(bot: Bot) -> bool:
    """As Slack's rotator has it: two hours before."""
    return (bot.bot_token_expires_at or 0) <= time.time() + 2 * 60 * 60


class TeamClient(AsyncWebClient):
    """With the token that *team* has at the time of each call."""

    def __init__(self, like: AsyncWebClient, installations: Installations, team: str) -> None:
        super().__init__(
            base_url=like.base_url,
            session=like.session,
            retry_handlers=[],
            user_agent_prefix=USER_AGENT,
            logger=SDK_LOG,
        )
        self.timeout = like.timeout
        self.proxy = None  # as `client.opened` has it
        self._installations = installations
        self._team = team

    async def api_call(self, api_method: str, **options: Any) -> AsyncSlackResponse:
        try:
            self.token = await self._installations.token(self._team)
        except Unavailable as error:
            raise SlackError(str(error), reason="unreached", again=True) from error
        return await super().api_call(api_method, **options)


# --- who installs it ------------------------------------------------------------------------------------------------


class States(AsyncOAuthStateStore):
    """Each is good once."""

    def __init__(self, sealed: SealedInstallations) -> None:
        self._sealed = sealed

    @property
    def logger(self) -> logging.Logger:
        return log

    async def async_issue(self, *_: Any, **__: Any) -> str:
        state = secrets.token_urlsafe(24)
        await self._sealed.issue(state, seconds=STATE_SECONDS)
        return state

    async def async_consume(self, state: str) -> bool:
        return await self._sealed.take(state)


class TeamApps(Protocol):
    async def dispatch(self, team: str, request: AsyncBoltRequest) -> BoltResponse: ...

    async def installed(self, team: str) -> None:
        """It begins anew, with what Slack says about it now."""
        ...

    async def removed(self, team: str) -> None:
        """It ends."""
        ...


class SeveralApp(AsyncApp):
    """Takes what Slack sends, and gives it to the app of its team. Only installing and removing is its own."""

    def __init__(
        self,
        client: AsyncWebClient,
        installations: Installations,
        states: States,
        teams: TeamApps,
        *,
        client_id: str,
        client_secret: str,
        url: str,
    ) -> None:
        self._installations = installations
        self._teams = teams
        self._noted: LruCache[str, bool] = LruCache(NOT_INSTALLED_KEPT)
        oauth = AsyncOAuthSettings(
            client_id=client_id,
            client_secret=client_secret,
            scopes=sorted(SCOPES),
            redirect_uri=f"{url}{REDIRECT_PATH}",
            install_path=INSTALL_PATH,
            redirect_uri_path=REDIRECT_PATH,
            installation_store=installations,
            installation_store_bot_only=True,
            state_store=states,
            callback_options=AsyncCallbackOptions(success=self._succeeded, failure=_failed),
        )
        super().__init__(
            name="roundtable",
            client=client,
            oauth_settings=oauth,
            request_verification_enabled=False,  # `transport` does that before
            process_before_response=True,
            attaching_conversation_kwargs_enabled=False,
        )

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        if req.body.get("type") == "url_verification":
            return await super().async_dispatch(req)
        context = req.context
        try:
            if word(req.body, "event", "type") in REMOVED:
                await self._removed(req.body, part(req.body, "event"))
                return BoltResponse(status=OK)
            team = await self._installations.team_for(
                context.enterprise_id, context.team_id, is_enterprise=context.is_enterprise_install
            )
        except Unavailable as error:
            log.warning("not saved: %s", error)
            return BoltResponse(status=NOT_SAVED)
        if not team:
            self._note(
                team_of(context.enterprise_id, context.team_id, is_enterprise=context.is_enterprise_install)
            )
            return BoltResponse(status=OK)
        return await self._teams.dispatch(team, req)

    def _note(self, team: str) -> None:
        """Once, because Slack goes on sending."""
        if team not in self._noted:
            self._noted[team] = True
            log.warning(
                "ignored, because the app is not installed there: Slack sent it for %s",
                team or "no workspace",
            )

    async def _succeeded(self, args: AsyncSuccessArgs) -> BoltResponse:
        found = args.installation
        team = team_of(found.enterprise_id, found.team_id, is_enterprise=found.is_enterprise_install)
        if not self._installations.allows(team):
            await self._give_back(team, found.bot_token or "")
            return _page(FORBIDDEN, STRANGER % team)
        log.info("the app was installed in %s", team)
        await self._teams.installed(team)
        return _page(OK, INSTALLED)

    async def _give_back(self, team: str, token: str) -> None:
        log.warning("%s is not named in ROUNDTABLE_TEAMS and tried to install the app", team)
        try:
            await call(self.client.auth_revoke, token=token)
        except SlackError as error:
            log.warning("the token of %s, which is not kept, was not revoked: %s", team, error)

    async def _removed(self, body: Payload, event: Payload) -> None:
        """Both events come, in any order. People's own tokens are none of ours."""
        tokens = event.get("tokens")
        if event.get("type") == "tokens_revoked" and not (isinstance(tokens, dict) and tokens.get("bot")):
            return
        is_enterprise = body.get("is_enterprise_install") is True
        team = team_of(word(body, "enterprise_id"), word(body, "team_id"), is_enterprise=is_enterprise)
        sent_at = body.get("event_time")
        at = sent_at if isinstance(sent_at, int) else time.time()
        if team and await self._installations.removed(team, at=at):
            log.info(
                "the app was removed from %s: its token is deleted, and nothing is done there any more", team
            )
            await self._teams.removed(team)


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    """The reason may come from the address, so only known ones are shown."""
    return _page(args.suggested_status_code, NOT_DONE % REASONS.get(args.reason, ANOTHER_REASON))


def _page(status: int, sentence: str) -> BoltResponse:
    return BoltResponse(status=status, body=f"{sentence}\n", headers={"Content-Type": ["text/plain"]})


Page = Callable[[web.Request], Awaitable[web.Response]]


def pages(app: SeveralApp) -> Mapping[str, Page]:
    """For browsers, by path."""
    assert app.oauth_flow
    return {
        INSTALL_PATH: _answered_by(app.oauth_flow.handle_installation),
        REDIRECT_PATH: _answered_by(app.oauth_flow.handle_callback),
    }


def _answered_by(answer: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]) -> Page:
    async def page(request: web.Request) -> web.Response:
        headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
        asked = AsyncBoltRequest(body="", query=request.query_string, headers=headers)
        try:
            with errors_translated():
                return await to_aiohttp_response(await answer(asked))
        except BotError as error:
            log.warning("somebody who installs the app was told to try again: %s", error)
            return web.Response(status=NOT_SAVED, text=NOT_NOW)

    return page
