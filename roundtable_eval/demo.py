"""`roundtable try --demo`: plays a meeting on the sandbox's page, with the real bot and scripted voices."""

import html
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.item import generate_slug
from bot.engine.ports import Voices
from bot.errors import ContentError
from bot.files import folder
from bot.settings import Settings
from bot.shipped import meetings_dir
from bot.slack.render import MORE, PREFIX, chosen
from bot.voices.offline.offline import OfflineVoices
from roundtable_eval.files import read_meeting, read_meetings
from roundtable_eval.meeting import Meeting, MeetingTurn
from roundtable_eval.recorded import RecordedVoices
from slack_sandbox import Sandbox, SandboxMessage, SandboxPerson, SlackRefused, User
from slack_sandbox.recording import Recording

T = TypeVar("T")

CHANNEL = "#roundtable"
PATIENCE_SECONDS = 30.0
FLOOR_SECONDS = 2.0
"""After this a person asks everybody, so that the persona whose turn it is gets the floor."""
FLOORS = 3
OWN_WAY = "The recording stopped, because the meeting went another way. You can go on in its thread."


def meeting_of(name: str, playbook: Playbook) -> Meeting:
    """The first of the meetings that ship, or *name*: one of them, or a file. Raises ContentError."""
    personas = playbook.roster
    path = Path(name)
    if not name:
        meeting = read_meetings(meetings_dir(), personas)[0]
    elif path.suffix in {".yaml", ".yml"}:
        meeting = read_meeting(path, personas)
    else:
        found = [one for one in read_meetings(meetings_dir(), personas) if one.key.startswith(name)]
        if len(found) != 1:
            raise ContentError(
                f"There is no meeting {name!r}: name one of {meetings_dir()} by its number, or a file."
            )
        meeting = found[0]
    _check(meeting, playbook)
    return meeting


def _check(meeting: Meeting, playbook: Playbook) -> None:
    first = next(iter(playbook.agenda.steps), None)
    lead = playbook.roster.lead_of(first.phase_key)[0].first_name if first else ""
    if meeting.thread[0].name != lead:
        raise ContentError(
            f"{meeting.key} cannot be played: {lead} leads the first step and has to open the thread."
        )
    personas = {one.first_name for one in playbook.roster}
    if not any(one.name not in personas for one in (*meeting.answers, *meeting.thread)):
        raise ContentError(f"{meeting.key} cannot be played: no person takes part in it.")


class Demo:
    """One meeting on one sandbox. A meeting that is played again gets a title, and an item, of its own."""

    def __init__(self, sandbox: Sandbox, meeting: Meeting, *, playbook: Playbook, settings: Settings) -> None:
        self._sandbox = sandbox
        self._meeting = meeting
        self._playbook = playbook
        self._voices = RecordedVoices(meeting, playbook, OfflineVoices())
        self._names = {one.first_name: one.name for one in playbook.roster}
        self._settings = settings
        self._root = ""
        self._person = ""
        """Who presses: the person of the file who spoke last."""

    def over(self, live: Voices) -> Voices:
        """The voices of the bot: those of the file in the recorded thread, *live* in all others."""
        self._voices = RecordedVoices(self._meeting, self._playbook, live)
        return self._voices

    async def play(self, recording: Recording) -> None:
        """To the end, or as far as the meeting goes as in the file: visitors may press and say what they like."""
        sentence = ""
        try:
            await self._play(recording)
        except (TimeoutError, LookupError, SlackRefused):
            sentence = OWN_WAY
        self._voices.end()
        recording.ended(self._thread[-1].ts if self._root else "0", sentence)

    async def _play(self, recording: Recording) -> None:
        people = [
            one.name for one in (*self._meeting.answers, *self._meeting.thread) if not self._is_persona(one)
        ]
        for name in dict.fromkeys(people):
            self._invite(name)
        self._person = people[0]
        await self._start(recording)
        for one in self._meeting.answers:
            await self._say(recording, one)
        await recording.turn(self._last_words())
        await self._press("finish_step")
        await self._offered("continue")  # the open card offers a discussion, too
        await recording.turn(self._last_words())
        await self._press("elaborate")
        for number, one in enumerate(self._meeting.thread):
            await recording.turn(self._last_words())
            if self._is_persona(one):
                await self._speak(number, one)
            else:
                await self._say(recording, one)
        await recording.turn(self._last_words())
        await self._press("end_elaboration")
        await self._offered("continue")

    async def _start(self, recording: Recording) -> None:
        roots = {message.ts for message in self._sandbox.messages(CHANNEL)}
        await self._who().slash(CHANNEL, f"/roundtable start {self._title()}")
        new = await self._until(
            lambda: [one for one in self._sandbox.messages(CHANNEL) if one.ts not in roots]
        )
        self._root = new[0].ts
        self._voices.play_in(self._root)
        recording.opened(new[0].channel, self._root)
        await self._offered("finish_step")

    def _title(self) -> str:
        """Says in all places that it is recorded: on the page, in the item's files, in its commits."""
        taken: tuple[str, ...] = ()
        with (
            suppress(FileNotFoundError),
            folder(self._settings.workspace, self._settings.items_dir.parts) as items,
        ):
            taken = items.folders()
        title, number = f"{self._meeting.title} (recorded)", 1
        while generate_slug(title) in taken:
            number += 1
            title = f"{self._meeting.title} (recorded, {number})"
        return title

    async def _say(self, recording: Recording, turn: MeetingTurn) -> None:
        self._person = turn.name
        await recording.turn(self._last_words())
        text = f"decision: {turn.issue}: {turn.decides}" if turn.decides else turn.says
        ts = await self._who().say(CHANNEL, text, thread_ts=self._root)
        self._voices.said(ts)
        recording.said(ts)
        await self._sandbox.settled()

    async def _speak(self, number: int, turn: MeetingTurn) -> None:
        self._voices.release(number)
        since = self._thread[-1].ts
        start = turn.says.split("\n")[0][:30]

        def posted() -> bool:
            own = [m for m in self._thread if m.username.startswith(self._names[turn.name])]
            return any(start in html.unescape(m.text) for m in own if m.ts >= since)

        for _ in range(FLOORS):
            try:
                await self._sandbox.until(posted, seconds=FLOOR_SECONDS)
            except TimeoutError:
                if self._messages("ask_all"):
                    await self._press("ask_all")
            else:
                return
        await self._until(posted)

    def _invite(self, name: str) -> None:
        """People of the file who are not in the workspace yet."""
        workspace = self._sandbox.workspace
        known = {user.real_name for user in workspace.users.values()}
        if name not in known:
            key = generate_slug(name)
            user = workspace.add_user(User(f"U0{key.upper()}", key, name))
            self._sandbox.channel().members.add(user.id)
            self._sandbox.show_again()

    def _is_persona(self, turn: MeetingTurn) -> bool:
        return turn.name in self._names

    def _who(self) -> SandboxPerson:
        return self._sandbox.person(self._person)

    async def _press(self, action: str) -> None:
        message = await self._offered(action)
        action_id, value = ways(message)[action]
        await self._who().press(message, action_id, value)

    async def _offered(self, action: str) -> SandboxMessage:
        return (await self._until(lambda: self._messages(action)))[-1]

    def _messages(self, action: str) -> list[SandboxMessage]:
        return [message for message in self._thread if action in ways(message)]

    async def _until(self, wanted: Callable[[], T]) -> T:
        return await self._sandbox.until(wanted, seconds=PATIENCE_SECONDS)

    @property
    def _thread(self) -> list[SandboxMessage]:
        return self._sandbox.thread(CHANNEL, self._root)

    def _last_words(self) -> str:
        return self._thread[-1].words if self._root else ""


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
                found.setdefault(action.value, (name, option["value"]))
    return found
