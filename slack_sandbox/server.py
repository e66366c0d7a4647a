"""The sandbox as one HTTP server on loopback, with the methods that tests use."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

from aiohttp import web

from slack_sandbox import payloads
from slack_sandbox.api import Api, ApiCall
from slack_sandbox.changes import SandboxChange
from slack_sandbox.clock import Clock
from slack_sandbox.delivery import Delivery, Dispatcher, Timing, Transport
from slack_sandbox.events import events
from slack_sandbox.faults import Fault, Faults
from slack_sandbox.guard import harden, loopback_only
from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.page import SandboxPage
from slack_sandbox.people import SandboxPerson
from slack_sandbox.pulse import PATIENCE_SECONDS, ActivitySignal
from slack_sandbox.recording import Recording
from slack_sandbox.residents import Channel, User
from slack_sandbox.responses import ResponseUrls
from slack_sandbox.rules.limits import RateLimits
from slack_sandbox.slack import App, Slack
from slack_sandbox.socketmode import SocketMode
from slack_sandbox.uploads import LARGEST_BYTES, UploadSlots
from slack_sandbox.webhooks import Webhooks
from slack_sandbox.workspace import SlackWorkspace

T = TypeVar("T")
HOST = "127.0.0.1"
CHANNEL = "roundtable"
PEOPLE = (
    User("U0ADA", "ada", "Ada"),
    User("U0GRACE", "grace", "Grace"),
    User("U0LINUS", "linus", "Linus"),
)
FAREWELL_SECONDS = 1.0


class Sandbox:
    """
    A Slack-compatible workspace on this machine.

    Deliveries go over Socket Mode, until `use_http` names a request URL. *port* 0 takes any free port. With
    *rate_limits* calls that come too fast are refused, as by Slack.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        app: App | None = None,
        people: Iterable[User] = PEOPLE,
        channels: Iterable[str] = (CHANNEL,),
        timing: Timing | None = None,
        rate_limits: bool = False,
    ) -> None:
        self._port = port
        self.app = app or App(shortcuts={"roundtable.start": "Start a roundtable"})
        self.clock = Clock()
        self.faults = Faults()
        self._pulse = ActivitySignal()
        self.workspace = SlackWorkspace(self.clock)
        self._timing = timing or Timing()
        self.slack = Slack(self.workspace, self.app, timing=self._timing)
        self._settle_in(people, channels)

        self._sockets = SocketMode(self.app.id, faults=self.faults, pulse=self._pulse)
        self.slack.ticket = self._sockets.ticket
        self._webhooks: Webhooks | None = None
        self._dispatcher = Dispatcher(
            self._transport, timing=self._timing, faults=self.faults, pulse=self._pulse
        )
        self._responses = ResponseUrls(self.slack)
        limits = RateLimits(self.clock.now, speed=self._timing.limits_speed) if rate_limits else None
        self._api = Api(self.slack, faults=self.faults, pulse=self._pulse, limits=limits)
        self._page = SandboxPage(self.slack, person=self.person, connected=lambda: self.connected)
        self._uploads = UploadSlots(self.slack)
        self.workspace.watch(self._changed)
        self._pulse.listen(self._page.noticed)

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self._routes(), access_log=None, shutdown_timeout=FAREWELL_SECONDS)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self.slack.base_url = self.url.rstrip("/")
        return self

    async def __aexit__(self, *_exception: object) -> None:
        self._api.close()
        await self._dispatcher.aclose()
        await self._sockets.aclose()
        await self._page.aclose()
        if self._webhooks:
            await self._webhooks.aclose()
        await self._runner.cleanup()

    # What the bot is configured with

    @property
    def url(self) -> str:
        """The page."""
        return f"http://{HOST}:{self._port}/"

    @property
    def api_url(self) -> str:
        """`base_url` of the app's client; everything else follows from it."""
        return f"{self.url}api/"

    @property
    def bot_token(self) -> str:
        return self.app.bot_token

    @property
    def app_token(self) -> str:
        return self.app.app_token

    @property
    def signing_secret(self) -> str:
        return self.app.signing_secret

    @property
    def team_id(self) -> str:
        return self.workspace.team_id

    @property
    def bot_user_id(self) -> str:
        return self.app.bot_user_id

    @property
    def bot_id(self) -> str:
        return self.app.bot_id

    async def use_http(self, request_url: str) -> bool:
        """Deliveries are posted there from now on, signed. Returns whether the URL passed Slack's handshake."""
        if self._webhooks:
            await self._webhooks.aclose()
        self._webhooks = Webhooks(request_url, signing_secret=self.signing_secret, now=self.clock.now)
        self._pulse.beat()
        return await self._webhooks.verify()

    # What the page shows beside it

    def offer(self, recording: Recording) -> None:
        """The page has buttons that play it."""
        self._page.offer(recording)

    def show_again(self) -> None:
        """The page draws everything anew: people were added."""
        self._page.show_again()

    # What there is

    def person(self, name: str) -> SandboxPerson:
        """By name or id."""
        return SandboxPerson(self.workspace.user(name), self.slack, self._dispatcher, self._responses)

    def channel(self, name: str = CHANNEL) -> Channel:
        return self.workspace.channel(name)

    def messages(self, channel: str = CHANNEL) -> list[SandboxMessage]:
        """The channel as all members see it, without threads, oldest first."""
        return list(self.workspace.timeline(self.channel(channel)))

    def thread(self, channel: str, ts: str) -> list[SandboxMessage]:
        """The root and all replies, oldest first; ephemeral ones are with `person(…).ephemerals`."""
        return self.workspace.thread(self.channel(channel), ts)

    def message(self, ts: str) -> SandboxMessage:
        """As it is now, after any edits."""
        return self.workspace.find(ts)

    @property
    def connected(self) -> bool:
        return self._webhooks is not None or self._sockets.connections > 0

    @property
    def connections(self) -> int:
        return self._sockets.connections

    @property
    def calls(self) -> Sequence[ApiCall]:
        """Every Web API call so far, also those a fault answered."""
        return self._api.calls

    def calls_of(self, method: str) -> list[ApiCall]:
        return [call for call in self.calls if call.method == method]

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """Everything the app was told, in order: events, commands, clicks."""
        return self._dispatcher.deliveries

    def events(self, kind: str) -> list[Delivery]:
        """Deliveries of events of this type (`message`, `app_mention`, …)."""
        return [delivery for delivery in self.deliveries if delivery.event.get("type") == kind]

    async def until(self, wanted: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
        """The first true result of *wanted*, which is called whenever something happened here."""
        try:
            return await self._pulse.until(wanted, seconds=seconds)
        except TimeoutError:
            raise TimeoutError(f"not within {seconds} s. {self._story()}") from None

    async def settled(self) -> None:
        """Waits until every event so far was acknowledged or given up."""
        await self._dispatcher.settled()

    # What can be changed, and what can go wrong

    @property
    def scopes(self) -> set[str]:
        """The app's; take some away to see `missing_scope`."""
        return self.slack.scopes

    def add_channel(self, name: str, *, private: bool = False, with_bot: bool = True) -> Channel:
        members = {user.id for user in self.workspace.users.values() if with_bot or not user.is_bot}
        return self.workspace.add_channel(name, members=members, kind="group" if private else "channel")

    def archive(self, channel: str = CHANNEL, *, archived: bool = True) -> None:
        self.workspace.archive(self.channel(channel), archived=archived)

    def remove_bot(self, channel: str = CHANNEL) -> None:
        self.workspace.leave(self.channel(channel), self.bot_user_id)

    def invite_bot(self, channel: str = CHANNEL) -> None:
        self.workspace.join(self.channel(channel), self.bot_user_id)

    def revoke_token(self, error: str = "token_revoked") -> None:
        """Refuses every call with *error*; an empty one makes the token valid again."""
        self.slack.token_error = error

    def fail_next(self, method: str, error: str = "", **how: Any) -> None:
        """
        Plans a `Fault`: `fail_next("chat.postMessage", status=503, times=2, after=True)`.

        *how* is any of its fields: status, body, retry_after, delay, hang_up, after, late, channel, times.
        """
        self.faults.plan(Fault(method=method, error=error, **how))

    def emit(self, event: JSON) -> Delivery:
        """Sends an event that no person here can cause (`tokens_revoked`, …)."""
        return self._dispatcher.announce(payloads.event_callback(self.slack, event))

    async def redeliver(self, delivery: Delivery, *, times: int = 1) -> None:
        await self._dispatcher.again(delivery, times=times)

    def hold_events(self) -> None:
        """Events wait until `release_events`."""
        self.faults.holding = True

    def release_events(self, *, backwards: bool = False) -> None:
        self._dispatcher.release(backwards=backwards)

    async def disconnect_sockets(self, reason: str = "refresh_requested") -> None:
        """Tells the app to reconnect."""
        await self._sockets.disconnect(reason)

    def freeze_sockets(self) -> None:
        """Leaves the connections half-open: nothing gets through, without an error. New ones work."""
        self._sockets.freeze()

    def drop_sockets(self) -> None:
        """Cuts the connections without a close frame."""
        self._sockets.drop()

    def _settle_in(self, people: Iterable[User], channels: Iterable[str]) -> None:
        for user in people:
            self.workspace.add_user(user)
        bot = User(self.app.bot_user_id, self.app.name, self.app.name.capitalize(), is_bot=True)
        self.workspace.add_user(bot)
        for name in channels:
            self.add_channel(name)

    def _transport(self) -> Transport:
        return self._webhooks or self._sockets

    def _changed(self, change: SandboxChange) -> None:
        for event in events(self.slack, change):
            self._dispatcher.announce(payloads.event_callback(self.slack, event))
        self._page.changed(change)
        self._pulse.beat()

    def _story(self) -> str:
        """The last messages and refusals, for the reader of a failed test."""
        posts = [f"{m.username or m.user}: {m.text[:80]}" for c in self.workspace.channels.values()
                 for m in c.messages.values()]  # fmt: skip
        refused = [f"{call.method}: {call.error}" for call in self.calls if call.error]
        return f"Messages: {posts[-5:]}. Refused calls: {refused[-5:]}."

    def _routes(self) -> web.Application:
        routes = web.Application(middlewares=[loopback_only], client_max_size=LARGEST_BYTES)
        routes.on_response_prepare.append(harden)
        routes.add_routes([
            web.get("/", self._page.file),
            web.get("/static/{name}", self._page.file),
            web.get("/sandbox/live", self._page.live),
            web.get("/archives/{channel}/{stamp}", self._page.permalink),
            web.get("/link", self._sockets.link),
            web.post("/response/{token}", self._responses.handle),
            web.post("/upload/{file}", self._uploads.receive),
            web.get("/files/{file}", self._uploads.send),
            web.route("*", "/api/{method}", self._api.handle),
        ])  # fmt: skip
        return routes
