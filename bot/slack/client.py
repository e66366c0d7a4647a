"""
The one client through which everything goes to Slack: slack_sdk's, with one call per request.

Nothing is retried here, because a retried post may appear twice in the thread: the outbox decides what is tried again.
`Calls` keeps Slack's rate limits, and every error becomes a SlackError, in this module only.
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import partial
from ipaddress import ip_address
from math import inf
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot import telemetry
from bot.domain.privacy.redaction import unchanged
from bot.engine.ports import Urgency
from bot.errors import Postponed, SlackError
from bot.slack.pace import EDITING, POSTING, Pace, RateBudget, RateLimit, budgets
from bot.slack.people import PeopleDirectory

log = logging.getLogger(__name__)

SLACK_API = "https://slack.com/api/"
CALL_SECONDS = 10
CALL_SECONDS_HERE = 5
"""For a Slack on this machine: it answers at once or never."""
CONNECT_SECONDS = 5
USER_AGENT = "roundtable-bot"

CUSTOMISE = "chat:write.customize"
UPLOAD = "files:write"
AGENT = "assistant:write"
"""Slack grants it to every app that is declared an agent."""

SDK_LOG = logging.getLogger("slack_sdk.web.client")
# The SDK looks at this logger's own level before it formats requests and responses, with every text, for DEBUG.
SDK_LOG.setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """
    Who we are in the workspace, as `auth.test` said at startup.

    *scopes* are the granted ones; empty when Slack did not name any. *redact* is applied to what people write.
    *enterprise* is the organisation of the workspace, if it is in an Enterprise Grid. *apps* are the known ids of our
    app. *people* knows which user a person is.
    """

    team: str
    user: str
    bot: str
    enterprise: str = ""
    apps: frozenset[str] = frozenset()
    token: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    redact: Callable[[str], str] = field(default=unchanged, repr=False, compare=False)
    people: PeopleDirectory = field(default_factory=PeopleDirectory, repr=False, compare=False)

    @property
    def can_customise(self) -> bool:
        return not self.scopes or CUSTOMISE in self.scopes

    @property
    def is_agent(self) -> bool:
        return AGENT in self.scopes


@asynccontextmanager
async def opened(
    token: str, *, api_url: str = SLACK_API, seconds: float = 0
) -> AsyncIterator[AsyncWebClient]:
    """
    A client with one session for all calls. A call may take *seconds*; 0 means the default for *api_url*. Without a
    *token* each call has one of its own.
    """
    seconds = seconds or (CALL_SECONDS_HERE if is_here(api_url) else CALL_SECONDS)
    # With a session the client ignores its own timeout, so the session has it.
    timeout = aiohttp.ClientTimeout(total=seconds, connect=min(seconds, CONNECT_SECONDS))
    async with aiohttp.ClientSession(timeout=timeout, trust_env=not is_here(api_url)) as session:
        client = AsyncWebClient(
            token or None,
            base_url=api_url,
            session=session,
            retry_handlers=[],
            user_agent_prefix=USER_AGENT,
            logger=SDK_LOG,
        )
        client.timeout = seconds  # type: ignore[assignment] # the SDK declares whole seconds
        client.proxy = None  # the session reads the proxy and NO_PROXY; the client would ignore NO_PROXY
        yield client


def is_here(url: str) -> bool:
    """Whether *url* is on this machine, where no proxy is used."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def call(method: Callable[..., Awaitable[Any]], **arguments: Any) -> Any:
    """One call of a method of the client. Raises SlackError."""
    with telemetry.slack_span(method.__name__.replace("_", ".")), errors_translated():
        return await method(**arguments)


async def identify(client: AsyncWebClient) -> Identity:
    """Raises SlackError when the token is not accepted; `again` says whether a later call may succeed."""
    answer = await call(client.auth_test)
    scopes = answer.headers.get("x-oauth-scopes", "")
    bot = answer.get("bot_id") or ""
    return Identity(
        team=answer["team_id"],
        user=answer["user_id"],
        bot=bot,
        enterprise=answer.get("enterprise_id") or "",
        apps=await _apps(client, bot),
        token=client.token or "",
        scopes=tuple(filter(None, (scope.strip() for scope in scopes.split(",")))),
    )


def app_of(app_token: str) -> frozenset[str]:
    """The id of the app, which its app-level token contains."""
    found = re.match(r"xapp-\d+-(A[A-Z0-9]+)-", app_token)
    return frozenset({found[1]}) if found else frozenset()


async def _apps(client: AsyncWebClient, bot: str) -> frozenset[str]:
    """The id of our app; optional, so a refusal is only logged."""
    if not bot:
        return frozenset()
    try:
        answer = await call(client.bots_info, bot=bot)
    except SlackError as error:
        log.info("the id of our app is not known: %s", error.reason)
        return frozenset()
    app = (answer.get("bot") or {}).get("app_id")
    return frozenset({app}) if app else frozenset()


# --- errors ---------------------------------------------------------------------------------------------------------
#
# `again` is set where the same call may succeed later. Some of those calls were performed and only the answer was
# lost, so a caller has to look before it posts again.

RATE_LIMITED = "ratelimited"
UNREACHED = "unreached"
"""There was no connection, so Slack did nothing."""
LONGEST_RETRY_SECONDS = 3_600.0

# What the SDK raises for an answer that is not text, or is JSON and not an object.
_UNREADABLE = (UnicodeDecodeError, AttributeError)
_FOREIGN = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError, *_UNREADABLE)
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_UNSENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_RATE_LIMITED = frozenset({RATE_LIMITED, "rate_limited", "message_limit_exceeded"})
_TEMPORARY = frozenset({
    "external_channel_migrating",
    "fatal_error",
    "internal_error",
    "request_timeout",
    "service_unavailable",
    "team_added_to_org",
    "update_failed",
})  # fmt: skip
SHUT_OUT = frozenset({
    "account_inactive",
    "invalid_auth",
    "not_authed",
    "org_login_required",
    "team_access_not_granted",
    "token_expired",
    "token_revoked",
    "two_factor_setup_required",
})  # fmt: skip
"""They concern the app and not one call: an admin has to act before any call succeeds."""

_UNKNOWN_TO_SLACK = "Slack no longer accepts the bot's token. Install the app again and set SLACK_BOT_TOKEN."
_NOT_FOUND = "I can't see this channel. If it is private, invite me with `/invite @roundtable` and try again."
_ARCHIVED = "This channel is archived. Unarchive it and try again."
_NO_FILES = (
    "The settings of this workspace don't allow such files. An admin of the workspace can change that."
)
_RESTRICTED = "The settings of this workspace don't let me post here. An admin of the workspace can allow it."
_GONE = "The message this belongs to was deleted, so there is nothing left to answer."

SENTENCES: Mapping[str, str] = {
    "not_in_channel": "I'm not in this channel. Invite me with `/invite @roundtable` and try again.",
    "channel_not_found": _NOT_FOUND,
    "is_archived": _ARCHIVED,
    "no_permission": "I'm not allowed to post here. Invite me with `/invite @roundtable` and try again.",
    "user_not_in_channel": "That person is not in this channel. They have to join it first.",
    "is_inactive": _ARCHIVED,
    "user_not_found": "Slack doesn't know that person.",
    "user_disabled": "That person's account is switched off.",
    "cannot_dm_bot": "A bot can't be written to directly.",
    "messages_tab_disabled": "I can't write to you directly: the app's messages tab is switched off.",
    "team_access_not_granted": "The app isn't allowed in this workspace of your organisation. An admin can grant it.",
    "ekm_access_denied": "An admin of the workspace has suspended posting for a while.",
    "invalid_auth": _UNKNOWN_TO_SLACK,
    "not_authed": _UNKNOWN_TO_SLACK,
    "token_revoked": _UNKNOWN_TO_SLACK,
    "token_expired": _UNKNOWN_TO_SLACK,
    "account_inactive": "The bot is switched off in this workspace. Install the app again.",
    "org_login_required": "The workspace is being moved to an organisation. Try again when that is done.",
    "not_allowed_token_type": "This token is of the wrong kind: SLACK_BOT_TOKEN begins with xoxb-.",
    "restricted_action": _RESTRICTED,
    "restricted_action_read_only_channel": "This channel is read-only for me. An admin of the channel can change that.",
    "restricted_action_thread_only_channel": "New messages aren't allowed in this channel, only replies in threads.",
    "restricted_action_non_threadable_channel": "Threads aren't allowed in this channel. Start in another one.",
    "restricted_action_thread_locked": "This thread is locked. An admin can unlock it.",
    "thread_locked": "This thread is locked. An admin can unlock it.",
    "msg_too_long": "The text is too long for Slack.",
    "msg_blocks_too_long": "The text is too long for Slack.",
    "thread_not_found": _GONE,
    "cannot_reply_to_message": "Slack doesn't allow replies to that message. Start with another one.",
    "message_not_found": _GONE,
    "file_type_not_allowed": _NO_FILES,
    "file_uploads_disabled": _NO_FILES,
    "file_uploads_except_images_disabled": _NO_FILES,
    "file_upload_size_restricted": "The workspace doesn't allow files of this size.",
    "storage_limit_reached": "The workspace has no room for more files.",
}


@contextmanager
def errors_translated() -> Iterator[None]:
    try:
        yield
    except _FOREIGN as error:
        raise translated(error) from error


class RefusalsNoted:
    """A refusal is a line in *log*, and ends what is inside. Raises what a later call may do."""

    def __init__(self, log: logging.Logger, words: str, *about: object, level: int = logging.INFO) -> None:
        self._note = partial(log.log, level, f"{words}: %s", *about)

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, SlackError) or error.again:
            return False
        self._note(error.reason)
        return True


def translated(error: Exception) -> SlackError:
    if isinstance(error, SlackApiError):
        return _refused(error)
    if isinstance(error, _UNSENT):
        return SlackError("Slack could not be reached.", reason=UNREACHED, again=True)
    if isinstance(error, TimeoutError):
        return SlackError("Slack did not answer in time.", reason="timeout", again=True)
    if isinstance(error, _UNREADABLE):
        return SlackError("Slack has trouble answering.", reason="unreadable_answer", again=True)
    return SlackError("Slack could not be reached.", reason="connection_failed", again=True)


def answer_of(error: SlackApiError) -> Mapping[str, Any]:
    """Slack's answer; empty when it is not a JSON object, such as the error page of a proxy."""
    answer = getattr(error.response, "data", None)
    return answer if isinstance(answer, dict) else {}


def needed_scopes(error: SlackError) -> frozenset[str]:
    """The scopes that a refused call needs and the app lacks."""
    cause = error.__cause__
    needed = answer_of(cause).get("needed") if isinstance(cause, SlackApiError) else ""
    return frozenset(filter(None, (scope.strip() for scope in str(needed or "").split(","))))


def _refused(error: SlackApiError) -> SlackError:
    answer = answer_of(error)
    reason = str(answer.get("error", ""))
    status = _status(error)
    if status == _TOO_MANY_REQUESTS or reason in _RATE_LIMITED:
        seconds = _retry_after(error)
        return SlackError(
            "Slack asks us to slow down.", reason=RATE_LIMITED, again=True, after_seconds=seconds
        )
    if status >= _SERVER_ERROR or reason in _TEMPORARY or not reason:
        return SlackError("Slack has trouble answering.", reason=reason or f"http_{status}", again=True)
    return SlackError(_sentence(reason, answer), reason=reason)


def _sentence(reason: str, answer: Mapping[str, Any]) -> str:
    if reason == "missing_scope":
        needed = answer.get("needed") or "a scope"
        return (
            f"The app lacks the permission `{needed}`. Add it to the app's scopes and install the app again."
        )
    if reason.startswith("restricted_action"):
        return SENTENCES.get(reason, _RESTRICTED)
    return SENTENCES.get(reason, f"Slack refused this: {reason}.")


def _status(error: SlackApiError) -> int:
    """The response is the SDK's or aiohttp's."""
    response = error.response
    return int(getattr(response, "status_code", None) or getattr(response, "status", 0) or 0)


def _retry_after(error: SlackApiError) -> float:
    headers = getattr(error.response, "headers", None) or {}
    named = {name.lower(): value for name, value in headers.items()}
    try:
        seconds = float(named.get("retry-after", 0))
    except ValueError:
        return 0.0
    return min(seconds, LONGEST_RETRY_SECONDS) if seconds > 0 else 0.0


# --- whether Slack accepts our calls ------------------------------------------------------------------------------

CHECK_SECONDS = 15.0
QUIET_SECONDS = 60.0


class SlackHealth:
    """
    Whether Slack accepts our calls, and how far our clock is from Slack's: every answer says both. While there are no
    calls, or Slack refuses all of them, `watch` asks now and then.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.refusal = ""
        """Why Slack refuses all our calls, as a sentence; empty while it does not."""
        self.clock_ahead: float | None = None
        """Seconds that our clock is ahead of Slack's; None before Slack's first answer."""
        self._now = now
        self._answered_at = -inf

    async def ask(self, method: Callable[..., Awaitable[Any]], **arguments: Any) -> Any:
        try:
            answer = await call(method, **arguments)
        except SlackError as error:
            self._note_refusal(error)
            raise
        self._note_headers(answer.headers)
        if self.refusal:
            self.refusal = ""
            log.info("Slack takes our calls again")
        return answer

    async def watch(self, test: Callable[[], Awaitable[Any]]) -> None:
        """Runs until cancelled. *test* is a cheap call that needs no permission."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if self.refusal or time.monotonic() - self._answered_at > QUIET_SECONDS:
                with suppress(SlackError):
                    await self.ask(test)

    def _note_refusal(self, error: SlackError) -> None:
        if isinstance(error.__cause__, SlackApiError):
            self._note_headers(getattr(error.__cause__.response, "headers", None) or {})
        if error.reason in SHUT_OUT:
            if not self.refusal:
                log.error("Slack refuses all our calls (%s): %s", error.reason, error)
            self.refusal = f"{error} ({error.reason})"

    def _note_headers(self, headers: Mapping[str, str]) -> None:
        self._answered_at = time.monotonic()
        date = {name.lower(): value for name, value in headers.items()}.get("date", "")
        # The header has whole seconds: on average half a second is cut off.
        with suppress(ValueError):
            self.clock_ahead = self._now() - parsedate_to_datetime(date).timestamp() - 0.5


# --- calls ----------------------------------------------------------------------------------------------------------

SEEN = frozenset({POSTING, "files_completeUploadExternal"})
"""Calls whose repetition people would see."""
URGENCY: Mapping[str, Urgency] = {
    POSTING: Urgency.POST,
    "reactions_add": Urgency.REACTION,
    "reactions_remove": Urgency.TIDY,
    "agents_sessions_rename": Urgency.TIDY,
}
"""Of what is called for one reason only; people wait for every other method, unless the caller says otherwise."""

STOPPED = "The process was suspended for %.0f s, and another process may have posted this."
CHECK_CLOCK_SECONDS = 1.0
"""While a post waits for its turn, the clock is checked this often to see whether the process was suspended."""
HOLD_SECONDS = 1.0
"""The pause after a rate limit for which Slack names none."""

Method = Callable[..., Awaitable[Any]]


class Calls:
    """*client*'s methods within Slack's rate limits: `await calls(calls.client.chat_update, channel=…)`."""

    def __init__(
        self,
        client: AsyncWebClient,
        pace: Pace | None = None,
        *,
        team: str,
        health: SlackHealth | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without a *pace* there are no rate limits."""
        self.client = client
        self._health = health or SlackHealth()
        self._pace = pace or Pace(RateLimit(speed=inf))
        self._team = team
        self._clock = clock

    async def __call__(self, method: Method, urgency: Urgency | None = None, /, **arguments: Any) -> Any:
        """Waits for its turn."""
        urgency, wanted = self._wanted(method, urgency, arguments)
        turn = self._pace.turn(wanted, urgency)
        await (self._not_suspended(turn) if method.__name__ in SEEN else turn)
        return await self._made(method, wanted[0], arguments)

    async def pages(self, method: Method, *, most: int, **arguments: Any) -> AsyncIterator[Any]:
        """Up to *most* answers, one after the other; `following` says of the last one whether there are more."""
        cursor = ""
        for _ in range(most):
            answer = await self(method, cursor=cursor or None, **arguments)
            cursor = following(answer)
            yield answer
            if not cursor:
                return

    async def at_once(self, method: Method, urgency: Urgency | None = None, /, **arguments: Any) -> Any:
        """Raises Postponed instead of waiting."""
        urgency, wanted = self._wanted(method, urgency, arguments)
        if wait := await self._pace.try_turn(wanted, urgency):
            raise _postponed(wait)
        try:
            return await self._made(method, wanted[0], arguments)
        except SlackError as error:
            if error.reason == RATE_LIMITED:
                raise _postponed(error.after_seconds or HOLD_SECONDS) from error
            raise

    async def posted(self, channel: str, ts: str) -> None:
        """A card stands there: people read it before what they write below it is added."""
        own = budgets(EDITING, team=self._team, channel=channel, message=ts, urgency=Urgency.CARD)[1:]
        await self._pace.try_turn(own, Urgency.CARD)

    def _wanted(
        self, method: Method, urgency: Urgency | None, arguments: Mapping[str, Any]
    ) -> tuple[Urgency, list[RateBudget]]:
        name = method.__name__
        urgency = URGENCY.get(name, Urgency.ANSWER) if urgency is None else urgency
        channel, message = str(arguments.get("channel", "")), str(arguments.get("ts", ""))
        return urgency, budgets(name, team=self._team, channel=channel, message=message, urgency=urgency)

    async def _made(self, method: Method, budget: RateBudget, arguments: Mapping[str, Any]) -> Any:
        began = time.monotonic()
        try:
            return await self._health.ask(method, **arguments)
        except SlackError as error:
            if error.reason == RATE_LIMITED:
                await self._pace.hold(budget, seconds=error.after_seconds or HOLD_SECONDS)
            elif method.__name__ in SEEN and error.again and error.reason != UNREACHED:
                error.after_seconds = self._until_settled(began)
            raise

    async def _not_suspended(self, turn: Coroutine[Any, Any, None]) -> None:
        """
        Raises when the process was suspended while it waited: another process may have taken over the post. The engine
        then saves a new attempt first, which fails if so.
        """
        waiting = asyncio.ensure_future(turn)
        longest = 0.0
        try:
            while not waiting.done():
                before = self._clock()
                await asyncio.wait({waiting}, timeout=CHECK_CLOCK_SECONDS)
                longest = max(longest, self._clock() - before - CHECK_CLOCK_SECONDS)
        finally:
            waiting.cancel()
        waiting.result()
        if longest > self.client.timeout / 2:
            raise SlackError(STOPPED % longest, reason="stopped", again=True)

    def _until_settled(self, began: float) -> float:
        """Seconds in which a post that seems to have failed may still appear: the rest of the call's time limit."""
        return max(0.0, self.client.timeout - (time.monotonic() - began))


def _postponed(seconds: float) -> Postponed:
    return Postponed("Slack's limit is reached.", reason="postponed", again=True, after_seconds=seconds)


def following(answer: Any) -> str:
    """The cursor of the page after *answer*; empty at the end."""
    return str((answer.get("response_metadata") or {}).get("next_cursor") or "")


# Arguments with which nothing in our posts pings, links or unfolds by itself.
UNLINKED: dict[str, Any] = {"parse": "none", "link_names": False}
QUIET: dict[str, Any] = {**UNLINKED, "unfurl_links": False, "unfurl_media": False}
