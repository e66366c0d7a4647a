"""People and the bot in the sandbox, over real sockets: what a team does, and what it sees."""

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import run
from typing import Any, TypeVar

from bot import app
from bot.domain.catalog.policy import Policies, Policy
from bot.domain.transcript import people
from bot.domain.transcript.lines import Line
from bot.engine.ports import Clock, Voices, now
from bot.settings import Settings
from bot.slack.manifest import BOT_EVENTS, SCOPES, SHORTCUT, SHORTCUT_NAME
from bot.slack.render import MORE, PREFIX, chosen
from bot.storage.git.tree import STATE
from bot.storage.sqlite import FILE
from slack_sandbox import App, Delivery, Sandbox, SandboxMessage, Timing
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.all_steps import all_steps
from tests.patience import PATIENCE_SECONDS
from tests.storage.checkout import commit_all
from tests.transcripts import Transcript, read

T = TypeVar("T")

CHANNEL = "#roundtable"
LogLines = Callable[[], list[dict[str, Any]]]
TIMING = Timing(retry_seconds=(0, 1, 3, 10))
"""What was not acknowledged comes again before a test has lost its patience: a busy machine is late now and then."""


def sandbox(
    people: Iterable[User] = PEOPLE, *, rate_limits: bool = False, timing: Timing = TIMING
) -> Sandbox:
    """
    With the app as its manifest has it: what that does not ask for is not allowed, and not told. With *rate_limits*,
    also with the limits that Slack publishes.
    """
    installed = App(shortcuts={SHORTCUT: SHORTCUT_NAME}, events=frozenset(BOT_EVENTS))
    slack = Sandbox(app=installed, people=people, timing=timing, rate_limits=rate_limits)
    slack.scopes.intersection_update(SCOPES)
    return slack


SHORT_PATH = {"ROUNDTABLE_STEPS": ""}
"""In place of the settings below: one card for each phase, as it ships."""


def environment(slack: Sandbox, workspace: Path, **more: str) -> dict[str, str]:
    return {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "ROUNDTABLE_WORKSPACE": str(workspace),
        "ROUNDTABLE_LOOK_FIRST": "no",
        "ROUNDTABLE_STEPS": all_steps(),
        **more,
    }


def settings(slack: Sandbox, workspace: Path, **more: str) -> Settings:
    return Settings.from_env(environment(slack, workspace, **more))


def person_of(slack: Sandbox, who: str) -> str:
    """Without a key that is set, it follows from the bot token."""
    return app.person_ids(settings(slack, Path("nowhere")), "T0SANDBOX")(slack.person(who).id)


class _ThinkingPolicies(Policies):
    """Personas have a model, whatever the settings say, and draft after *seconds* of silence."""

    seconds: int

    def of(self, channel: str, policy: Policy) -> Policy:
        return super().of(channel, policy).but(thinks=True, draft_seconds=self.seconds)


@dataclass
class Meeting:
    """One roundtable as people see it. `root` is the stamp of its thread."""

    slack: Sandbox
    workspace: Path
    slug: str = ""
    root: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    voices: Voices | None = None
    speed: float | None = None
    clock: Clock = now
    draft_seconds: int = 0

    def thinking(self, found: Policies) -> Policies:
        return _ThinkingPolicies(default=found.default, channels=found.channels, seconds=self.draft_seconds)

    @asynccontextmanager
    async def bot(self) -> AsyncIterator["Meeting"]:
        """The bot is running, and stops as on SIGTERM."""
        async with app.bot(
            settings(self.slack, self.workspace, **self.more),
            web=False,
            how=app.Variations(
                voices=self.voices,
                policies=self.thinking if self.voices else None,
                speed=self.speed,
                clock=self.clock,
            ),
        ):
            yield self

    # --- what people do -------------------------------------------------------------------------------------------

    async def start(self, title: str, *, who: str = "ada", slug: str = "") -> "Meeting":
        roots = {message.ts for message in self.slack.messages(CHANNEL)}
        await self.slack.person(who).slash(CHANNEL, f"/roundtable start {title}")
        await self.until(lambda: [one for one in self.slack.messages(CHANNEL) if one.ts not in roots])
        self.root = self.slack.messages(CHANNEL)[-1].ts
        self.slug = slug or title.lower().replace(" ", "-")
        await self.menu("finish_step")
        return self

    async def say(self, text: str, *, who: str = "grace") -> str:
        return await self.slack.person(who).say(CHANNEL, text, thread_ts=self.root)

    async def press(self, action: str, *, who: str = "ada") -> Delivery:
        """Presses the button, or what is behind ⋯, as soon as it is offered, in the newest message that offers it."""
        return await self.press_in(await self.menu(action), action, who=who)

    async def press_in(self, message: SandboxMessage, action: str, *, who: str = "ada") -> Delivery:
        """As *message* was when it was looked at: it may be a stale menu."""
        action_id, value = ways(message)[action]
        return await self.slack.person(who).press(message, action_id, value)

    async def submit(self, *, who: str = "ada", **fields: Any) -> Delivery:
        """Sends the form that is opened for *who*, as soon as it is open."""
        person = self.slack.person(who)
        await self.until(lambda: person.view is not None)
        return await person.submit({f"roundtable.{name}": value for name, value in fields.items()})

    async def seal_position(self, *, who: str = "ada", **fields: str) -> None:
        """In the form behind the button."""
        await self.press("sealed", who=who)
        await self.submit(who=who, **fields)

    async def command(self, line: str, *, who: str = "ada", channel: str = CHANNEL) -> str:
        """Types it, and returns all that *who* alone is told."""
        person = self.slack.person(who)
        before = len(person.ephemerals)
        delivery = await person.slash(channel, f"/roundtable {line}")
        await self.slack.settled()
        return str(delivery.response) + str([one.text for one in person.ephemerals[before:]])

    async def do_step(self, *answers: str) -> SandboxMessage:
        """Answers, finishes, and waits for the menu."""
        for number, answer in enumerate(answers):
            await self.say(answer, who=("grace", "linus")[number % 2])
        await self.slack.settled()
        return await self.finish_step()

    async def finish_step(self) -> SandboxMessage:
        """The card, once its menu is there: the open card offers some of the same."""
        card = await self.menu("finish_step")
        await self.press_in(card, "finish_step")
        return await self.menu("continue", since=card.ts)

    async def go_on(self) -> SandboxMessage:
        """From the menu of a step; the card of the next one."""
        await self.press("continue")
        return await self.menu("finish_step")

    async def discuss(self) -> None:
        """The step that is at its menu."""
        await self.press("elaborate")
        await self.menu("end_elaboration")

    def plant(self, slug: str, /, **meta: Any) -> None:
        """A person commits an item that is not the bot's, with *meta* in its meta.json."""
        folder = self.workspace / "docs" / "requirements" / slug
        folder.mkdir(parents=True)
        (folder / "meta.json").write_text(json.dumps(meta))
        commit_all(self.workspace)

    def was_last_heard(self, at: str) -> None:
        """Turns the clock back: the bot that is not running has not listened since then."""
        with closing(sqlite3.connect(self.workspace / STATE / FILE)) as store, store:
            changed = store.execute("UPDATE notes SET content = ? WHERE name = 'listened'", [at])
            assert changed.rowcount == 1

    # --- what people see ------------------------------------------------------------------------------------------

    @property
    def thread(self) -> list[SandboxMessage]:
        return self.slack.thread(CHANNEL, self.root)

    def menus(self, action: str) -> list[SandboxMessage]:
        """All messages that offer *action*, on a button or behind ⋯."""
        return [message for message in self.thread if action in ways(message)]

    async def menu(self, action: str, *, since: str = "") -> SandboxMessage:
        """The newest message that offers *action*, once there is one; not one from before *since*."""
        offered = await self.until(lambda: [one for one in self.menus(action) if one.ts >= since])
        return offered[-1]

    async def card(self) -> SandboxMessage:
        """The card of the current step, as it is now."""
        offered = await self.until(lambda: [*self.menus("finish_step"), *self.menus("continue")])
        return max(offered, key=lambda one: float(one.ts))

    async def seen(self, text: str) -> SandboxMessage:
        """The newest message in the thread with *text* in it, once there is one."""
        return (await self.until(lambda: [one for one in self.thread if text in one.text]))[-1]

    async def told(self, text: str, *, who: str = "ada") -> SandboxMessage:
        """The newest message that only *who* sees with *text* in it, once there is one."""
        person = self.slack.person(who)
        return (await self.until(lambda: [one for one in person.ephemerals if text in one.text]))[-1]

    async def leaves(self, person: str, channel: str = CHANNEL) -> None:
        """The bot has heard of it: before, it may answer with the members that it knew."""
        self.slack.workspace.leave(self.slack.workspace.channel(channel), person)
        await self.slack.settled()

    async def until(self, wanted: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
        return await self.slack.until(wanted, seconds=seconds)

    # --- what is kept ---------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        return self.workspace / "docs" / "requirements" / self.slug

    @property
    def meta(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads((self.folder / "meta.json").read_text())
        return fields

    @property
    def transcript(self) -> Transcript:
        """With people's names, as whoever reads it has it."""
        found = read((self.folder / "planning" / "meeting.jsonl").read_bytes())
        names = people.read_people((self.folder.parent / people.PEOPLE_FILE).read_bytes()).names
        return found._replace(lines=tuple(people.with_names(line, names) for line in found.lines))

    def person(self, who: str) -> str:
        """The id that somebody in the sandbox has in the record."""
        return person_of(self.slack, who)

    def made(self, kind: str) -> list[tuple[Line, dict[str, Any]]]:
        """The fields of new entries, with the lines that made them."""
        return [
            (line, patch["set"])
            for line in self.transcript.lines
            for patch in line.meta.get("entries", ())
            if patch.get("kind") == kind and patch.get("new")
        ]

    def lines(self, actor: str) -> list[Line]:
        return [line for line in self.transcript.lines if line.actor == actor]

    def git(self, *arguments: str) -> str:
        done = run(["git", "-C", str(self.workspace), *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def subjects(self) -> list[str]:
        """Of all commits, oldest first."""
        return self.git("log", "--reverse", "--format=%s").splitlines()


def ways(message: SandboxMessage) -> dict[str, tuple[str, str | None]]:
    """What can be chosen in *message*: for each action the element to press, and the option of it."""
    found: dict[str, tuple[str, str | None]] = {}
    for element in message.elements:
        name = element["action_id"]
        if name.startswith(PREFIX) and not name.startswith(MORE):
            found.setdefault(name.removeprefix(PREFIX), (name, None))
        for option in element.get("options", ()) if name.startswith(MORE) else ():
            action, _ = chosen(option["value"])
            if action:
                found.setdefault(action, (name, option["value"]))
    return found
