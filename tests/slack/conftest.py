"""The Slack layer between a scripted desk, on our side, and a sandbox, on Slack's."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.messages.form import InputForm, Submission, SubmissionResult
from bot.domain.messages.message import Message
from bot.domain.roundtable.inputs import (
    Amend,
    ChannelGone,
    ChannelMoved,
    MarkMessage,
    PersonChanged,
    Press,
    Retract,
    Say,
)
from bot.domain.values.places import ChannelKind, Person, Place
from bot.engine.commands import Commands
from bot.engine.desk import Reply
from bot.engine.ports import OnceMarks
from bot.engine.verbs.verb import VerbRequest
from bot.slack.app import slack_app
from bot.slack.chat import SlackChat
from bot.slack.client import Identity, identify, opened
from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME
from bot.slack.reception import Reception
from bot.slack.transport import Sockets
from slack_sandbox import App, Sandbox, Timing
from tests.patience import PATIENCE_SECONDS

CHANNEL = "#roundtable"
US = Identity(team="T0SANDBOX", user="U0ROUNDTABLE", bot="B0SANDBOX")
NOW = "2026-01-01T10:00:00.000Z"
PAYLOADS = Path(__file__).parent / "payloads"

MAYA = Persona(key="business-analyst", name="Maya Chen", role="Business Analyst", icon=":mag:")
ALEX = Persona(key="architect", name="Alex Rivera", role="Architect", icon="https://icons.example/alex.png")


class Remembered(OnceMarks):
    """What processes of one bot share."""

    def __init__(self) -> None:
        self.keys: set[str] = set()

    async def first(self, key: str, *, seconds: float) -> bool:  # noqa: ARG002 -- a test is over before that
        first = key not in self.keys
        self.keys.add(key)
        return first


class ScriptedDesk(Commands):
    """Notes what is brought to it; `replies` and `fails` say how it answers, `saving` how long that takes."""

    def __init__(self) -> None:
        self.brought: list[tuple[Any, ...]] = []
        self.reply: Reply = None
        self.shown: InputForm | None = None
        self.results: list[SubmissionResult] = []
        self.fails: list[Exception] = []
        self.saving: Callable[[], Awaitable[Any]] | None = None

    async def ask(self, asked: VerbRequest) -> Reply:
        return await self._noted(asked.verb, asked)

    async def form(self, place: Place, person: Person, action: str, subject: str) -> InputForm:
        await self._noted("form", place, person, action, subject)
        assert self.shown, "a test says what the form is"
        return self.shown

    async def submit(
        self,
        submission: Submission,
        *,
        team: str = "",  # noqa: ARG002 -- as the port has it
        room: ChannelKind = ChannelKind.UNKNOWN,  # noqa: ARG002
    ) -> SubmissionResult:
        await self._noted("submit", submission)
        return self.results.pop(0) if self.results else SubmissionResult()

    async def mark_form(self, place: Place, ts: str) -> InputForm:
        await self._noted("mark_form", place, ts)
        assert self.shown, "a test says what the form is"
        return self.shown

    async def mark(self, place: Place, mark: MarkMessage) -> Reply:
        return await self._noted("mark", place, mark)

    async def in_channel(self, place: Place, event: ChannelGone | ChannelMoved) -> None:
        await self._noted("in_channel", place, event)

    async def person_changed(self, event: PersonChanged) -> None:
        await self._noted("person_changed", event)

    async def greeted(self, person: Person) -> Reply:
        return await self._noted("greeted", person)

    async def belongs_nowhere(self, person: Person) -> Reply:
        return await self._noted("belongs_nowhere", person)

    async def hear(
        self, place: Place, event: Say | Amend | Retract | Press, *, mentioned: bool = False
    ) -> Reply:
        return await self._noted(type(event).__name__.lower(), place, event, mentioned)

    async def opened_home(self, person: str) -> None:
        await self._noted("opened_home", person)

    async def _noted(self, *what: Any) -> Reply:
        self.brought.append(what)
        if self.saving:
            await self.saving()
        if self.fails:
            raise self.fails.pop(0)
        return self.reply


def payload(name: str, **changes: Any) -> dict[str, Any]:
    """One of the payload files; *changes* replace parts of it, `event__text` reaching into `event`."""
    body: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    for path, value in changes.items():
        *outer, last = path.split("__")
        part = body
        for step in outer:
            part = part[step]
        part[last] = value
    return body


@pytest.fixture
async def sandbox(timing: Timing) -> AsyncIterator[Sandbox]:
    app = App(shortcuts={SHORTCUT: SHORTCUT_NAME})
    async with Sandbox(timing=timing, app=app) as sandbox:
        yield sandbox


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[AsyncWebClient]:
    async with opened(sandbox.bot_token, api_url=sandbox.api_url) as client:
        yield client


@pytest.fixture
async def us(client: AsyncWebClient) -> Identity:
    return await identify(client)


@pytest.fixture
def roster() -> Roster:
    return Roster((MAYA, ALEX))


@pytest.fixture
def chat(client: AsyncWebClient, roster: Roster, us: Identity) -> SlackChat:
    return SlackChat(client, roster, us)


@pytest.fixture
def desk() -> ScriptedDesk:
    return ScriptedDesk()


@pytest.fixture
def place(sandbox: Sandbox) -> Place:
    """The sandbox's channel."""
    return Place(team=sandbox.team_id, channel=sandbox.channel().id)


@pytest.fixture
async def thread(chat: SlackChat, place: Place) -> Place:
    """A thread of ours, opened."""
    opened = await chat.open(place, Message(text="Dark mode"), key="root", again=False)
    return place.but(thread=opened.ts)


@pytest.fixture
async def reception(desk: ScriptedDesk, chat: SlackChat, us: Identity) -> AsyncIterator[Reception]:
    reception = Reception(desk=desk, chat=chat, us=us, memory=Remembered(), clock=lambda: NOW)
    yield reception
    await reception.errands.drain(2)


@pytest.fixture
def app(client: AsyncWebClient, reception: Reception) -> AsyncApp:
    return slack_app(client, reception)


@pytest.fixture
def sockets(app: AsyncApp, client: AsyncWebClient, sandbox: Sandbox) -> Sockets:
    """Not connected yet."""
    return Sockets(app, client, app_token=sandbox.app_token)


@pytest.fixture
async def connected(sockets: Sockets, sandbox: Sandbox) -> AsyncIterator[Sandbox]:
    """The sandbox, with the app listening by Socket Mode."""
    await sockets.connect(seconds=PATIENCE_SECONDS)
    await sandbox.until(lambda: sandbox.connections == 2)
    yield sandbox
    await sockets.close(seconds=1)
