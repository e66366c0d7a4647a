"""`roundtable try --demo`: plays a meeting on the sandbox's page, with the real bot and scripted voices."""

import html
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policies
from bot.domain.item.item import generate_slug
from bot.domain.messages.message import Action
from bot.engine.ports import Voices
from bot.files import folder
from bot.settings import Settings
from bot.shipped import meetings_dir
from bot.slack.render import MORE, action_of, carried, chosen
from bot.voices.offline import OfflineVoices
from roundtable_eval.demo_script import DemoControl, DemoEvent, DemoScript, ScriptedPress, read_script
from roundtable_eval.recorded import RecordedPolicies, RecordedVoices
from slack_sandbox import Sandbox, SandboxMessage, SandboxPerson, SlackRefused, User
from slack_sandbox.recording import Recording

T = TypeVar("T")

CHANNEL = "demo"
SHIPPED = "00-address-change.yaml"
PATIENCE_SECONDS = 30.0
QUIET_SECONDS = 0.2
END = "Analysis complete."
OWN_WAY = "The recording stopped, because the meeting went another way. You can go on in its thread."


def script_of(path: Path | None, playbook: Playbook) -> DemoScript:
    """The one that ships, or the file *path*. Raises ContentError."""
    return read_script(path or meetings_dir() / SHIPPED, playbook)


def anything(_value: str, _own: str) -> bool:
    return True


TARGETS: dict[DemoControl, tuple[str, Callable[[str, str], bool]]] = {
    DemoControl.NEXT: (Action.NEXT, anything),
    DemoControl.FINISH: (Action.FINISH_STEP, anything),
    DemoControl.DISCUSS: (Action.ELABORATE, anything),
    DemoControl.END: (Action.END_ELABORATION, anything),
    DemoControl.CONTINUE: (Action.CONTINUE, anything),
    DemoControl.FILE: (Action.FILE, lambda value, own: own.endswith(f"/{value}")),
    DemoControl.ACCEPT: (Action.LINE, lambda value, own: own == f"{value}/accept"),
    DemoControl.ACCEPT_ALL: (Action.ACCEPT_ALL, anything),
    DemoControl.RECORD: (Action.AGREED, lambda value, own: own.startswith(f"{value}/")),
    DemoControl.CHANGES: (Action.CHANGES, anything),
    DemoControl.EXPORT: (Action.EXPORT, anything),
    DemoControl.PLAN: (Action.PLAN, anything),
}
"""The action, and whether what a button carries is what is meant by the value in the file."""


class Offer(NamedTuple):
    """What can be pressed in a message: the action and its own value, and what presses it."""

    message: SandboxMessage
    action: str
    own: str
    element: str
    value: str


class Demo:
    """One meeting on one sandbox. A meeting that is played again gets a title, and an item, of its own."""

    def __init__(
        self, sandbox: Sandbox, script: DemoScript, *, playbook: Playbook, settings: Settings
    ) -> None:
        self._sandbox = sandbox
        self._script = script
        self._playbook = playbook
        self._settings = settings
        self._voices = RecordedVoices(script, playbook, OfflineVoices())
        self._channel = sandbox.add_channel(CHANNEL)
        self._root = ""
        self._cards: set[str] = set()
        """Stamps of those that were waited for."""

    def over(self, live: Voices) -> Voices:
        """The voices of the bot: those of the file in the recorded thread, *live* in all others."""
        self._voices = RecordedVoices(self._script, self._playbook, live)
        return self._voices

    def policies(self, known: Policies) -> Policies:
        return RecordedPolicies(recorded=self._channel.id, is_over=self._is_over, **dict(known))

    def _is_over(self) -> bool:
        return self._voices.has_ended

    async def play(self, recording: Recording) -> None:
        """To the end, or as far as the meeting goes as in the file: visitors may press and say what they like."""
        sentence = ""
        try:
            await self._play(recording)
        except (TimeoutError, LookupError, SlackRefused):
            sentence = OWN_WAY
        finally:
            self._voices.end()
            recording.ended(self._thread[-1].ts if self._root else "0", sentence)

    async def _play(self, recording: Recording) -> None:
        for name in self._script.people:
            self._invite(name)
        for number, event in enumerate(self._script.turns):
            await recording.until(event.at)
            if event.see:
                recording.caption(event.see)
            await self._perform(number, event, recording)
            await self._quiet()

    async def _perform(self, number: int, event: DemoEvent, recording: Recording) -> None:
        is_persona = event.by in self._script.personas
        if event.start:
            await self._start(event, recording)
        if is_persona:
            await self._speak(number, event)
        elif event.say:
            await self._say(number, event, recording)
        if press := ScriptedPress.read(event.press):
            if press.control is DemoControl.DISCUSS:
                self._voices.discussed(tuple(self._replies(number)))
            await self._press(event.by, press)
        if event.card:
            await self._card()
        if event.prompt:
            await self._offered(event.prompt)
        if event.end:
            await self._until(lambda: [one for one in self._thread if END in one.text])
            recording.skipped()
            if not self._settings.policy.thinks:
                self._voices.end()  # no persona speaks any more, and the plan's card says that none drafts

    async def _start(self, event: DemoEvent, recording: Recording) -> None:
        roots = {message.ts for message in self._messages}
        await self._who(event.by).slash(CHANNEL, f"/roundtable start {self._title()}")
        new = await self._until(lambda: [one for one in self._messages if one.ts not in roots])
        self._root = new[0].ts
        self._voices.play_in(self._root)
        recording.opened(new[0].channel, self._root)
        await self._offered(Action.NEXT)

    def _title(self) -> str:
        """Says in all places that it is recorded: on the page, in the item's files, in its commits."""
        taken: tuple[str, ...] = ()
        with (
            suppress(FileNotFoundError),
            folder(self._settings.workspace, self._settings.items_dir.parts) as items,
        ):
            taken = items.folders()
        title, number = f"{self._script.title} (recorded)", 1
        while generate_slug(title) in taken:
            number += 1
            title = f"{self._script.title} (recorded, {number})"
        return title

    async def _say(self, number: int, event: DemoEvent, recording: Recording) -> None:
        ts = await self._who(event.by).say(CHANNEL, event.say, thread_ts=self._root)
        self._voices.said(ts, tuple(self._replies(number)))
        recording.said(ts)

    def _replies(self, number: int) -> Iterator[int]:
        """The events in which a persona takes up what is said in the event *number*: those before a person speaks."""
        for later in range(number + 1, len(self._script.turns)):
            event = self._script.turns[later]
            if event.by in self._script.personas:
                yield later
            elif event.say:
                return

    async def _speak(self, number: int, event: DemoEvent) -> None:
        """Returns when its words, and what it proposes, are in the thread."""
        self._voices.release(number)
        words = [event.ask or event.say.partition(" (")[0], *(one.text for one in event.draft)]
        await self._until(lambda: all(map(self._stands_there, filter(None, words))))

    def _stands_there(self, words: str) -> bool:
        return any(words in html.unescape(one.words) for one in self._thread)

    async def _card(self) -> None:
        """The next card is there, and can be gone on from."""

        def new() -> list[SandboxMessage]:
            offering = [one.message for one in offers(self._thread, Action.NEXT)]
            return [one for one in offering if one.ts not in self._cards]

        self._cards.add((await self._until(new))[0].ts)

    async def _press(self, by: str, press: ScriptedPress) -> None:
        action, fits = TARGETS[press.control]
        if press.control is DemoControl.CHANGES:
            ids = press.value.split(", ")
            found = await self._until(lambda: self._several(action, ids))
            await self._who(by).press(found[0].message, found[0].element, [one.value for one in found])
            return
        is_kind = press.control is DemoControl.FILE
        value = self._playbook.schema.kinds[press.value].prefix if is_kind else press.value
        offer = await self._offered(action, lambda own: fits(value, own))
        await self._who(by).press(offer.message, offer.element, offer.value)

    def _several(self, action: str, ids: list[str]) -> list[Offer]:
        """One for each of *ids*; none while one of them is not offered."""
        found = {one.own.rpartition("/")[2]: one for one in offers(self._thread, action)}
        return [found[id] for id in ids] if found.keys() >= set(ids) else []

    async def _offered(self, action: str, fits: Callable[[str], bool] = lambda _: True) -> Offer:
        """In the newest message that has it, as soon as there is one."""
        found = await self._until(lambda: [one for one in offers(self._thread, action) if fits(one.own)])
        return found[-1]

    async def _quiet(self) -> None:
        """
        What follows from an event has happened: the bot has not called Slack for a moment. While people skip, nobody
        speaks over a persona, and nobody presses a button that is being replaced.
        """
        await self._sandbox.settled()
        with suppress(TimeoutError):
            while True:
                await self._sandbox.until(self._called_again(), seconds=QUIET_SECONDS)

    def _called_again(self) -> Callable[[], bool]:
        calls = len(self._sandbox.calls)
        return lambda: len(self._sandbox.calls) > calls

    def _invite(self, name: str) -> None:
        """People of the file who are not in the workspace yet."""
        workspace = self._sandbox.workspace
        known = {user.real_name for user in workspace.users.values()}
        if name not in known:
            key = generate_slug(name)
            user = workspace.add_user(User(f"U0{key.upper()}", key, name))
            for channel in (CHANNEL, self._sandbox.channel().id):
                self._sandbox.channel(channel).members.add(user.id)
            self._sandbox.show_again()

    def _who(self, name: str) -> SandboxPerson:
        return self._sandbox.person(name)

    async def _until(self, wanted: Callable[[], T]) -> T:
        return await self._sandbox.until(wanted, seconds=PATIENCE_SECONDS)

    @property
    def _messages(self) -> list[SandboxMessage]:
        return self._sandbox.messages(CHANNEL)

    @property
    def _thread(self) -> list[SandboxMessage]:
        return self._sandbox.thread(CHANNEL, self._root)


def offers(messages: list[SandboxMessage], action: str) -> list[Offer]:
    """What presses *action*, on a button, in a select or behind ⋯, oldest message first."""
    return [one for message in messages for one in _offers(message) if one.action == action]


def _offers(message: SandboxMessage) -> Iterator[Offer]:
    for element in message.elements:
        id = element["action_id"]
        grouped = [option for group in element.get("option_groups", ()) for option in group["options"]]
        for option in (*element.get("options", ()), *grouped):
            value = option["value"]
            action, sent = chosen(value) if id.startswith(MORE) else (action_of(id), carried(value))
            yield Offer(message, action, sent.value, id, value)
        if element["type"] == "button":
            value = element.get("value", "")
            yield Offer(message, action_of(id), carried(value).value, id, value)
