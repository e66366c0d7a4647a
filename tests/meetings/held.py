"""The script of a meeting in the real engine: state on a disk, the item in git, a Slack that is played."""

from itertools import islice
from pathlib import Path

from bot.domain.discussion.elaboration import MOST_IN_A_ROUND, TurnKind
from bot.domain.item.item import item_from
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Press, Say, Start
from bot.domain.roundtable.outcomes import DraftReview
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript.lines import read
from bot.domain.values.places import Person
from bot.engine.performers import Performers
from bot.engine.ports import NO_FACTS, Facts, Speech, TurnSpeech, VoiceContext, now
from bot.engine.roundtables import Roundtables
from bot.storage.git.workspace import GitWorkspace
from bot.storage.sqlite import SqliteStore
from tests.domain.books import few_steps
from tests.domain.table import HERE, NAMES, taken
from tests.durability.world import SimChat, SimRecords, World
from tests.engine.replica import Woken
from tests.meetings.script import Deed, Played, Pressed, Said, Script
from tests.sealing import SEAL
from tests.sights import MEMBERS

FACTS: Facts = {"provider": "scripted", "tokens_in": 10, "tokens_out": 5}
FIRST_STAMP = 2_000_000


class ScriptedVoices:
    """They say what is written, and put it on record."""

    def __init__(self, script: Script) -> None:
        self._script = script

    async def draft(self, cue: VoiceContext) -> Speech:  # noqa: ARG002 -- as the port has it
        return Speech("Noted.")

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        found = (
            taken(self._script.contribution(key, cue.roundtable), key, number, cue.roundtable)
            for number, key in enumerate(asked.personas)
        )
        most = MOST_IN_A_ROUND if asked.turn is TurnKind.ROUND else len(asked.personas)
        return TurnSpeech(tuple(islice(filter(None, found), most)), FACTS)

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:  # noqa: ARG002
        return DraftReview(), NO_FACTS


async def held(script: Script, root: Path) -> Played:
    """The item is in the repository at *root* afterwards."""
    world = World()
    async with SqliteStore(root / ".roundtable") as store, GitWorkspace(root, seal=SEAL) as workspace:
        chat, voices = SimChat(world), ScriptedVoices(script)
        performers = Performers(chat, voices, workspace, few_steps(), now, SimRecords(world), MEMBERS)
        engine = Roundtables(
            store=store, wake=Woken(), performers=performers, playbook=few_steps(), clock=now
        )
        item, ada = item_from("Offline sync"), Person(id="ada", name="Ada")
        rt = await engine.start(Start(key="start", at=now(), item=item, place=HERE, person=ada))
        await engine.pay(rt.slug)
        opening: tuple[Deed, ...] = (
            Said("It has to work in a tunnel."),
            Pressed(Action.FINISH_STEP),
            Pressed(Action.ELABORATE),
        )
        for number, deed in enumerate((*opening, *script.people)):
            stored = await store.get(rt.slug)
            assert stored
            await engine.handle(rt.slug, _input(deed, stored, number))
            await engine.pay(rt.slug)
        stored = await store.get(rt.slug)
        assert stored
        if stored.elaboration and stored.elaboration.exhausted:
            end = Pressed(Action.END_ELABORATION)
            await engine.handle(rt.slug, _input(end, stored, len(opening) + len(script.people)))
            await engine.pay(rt.slug)
        folder = root / "docs" / "requirements" / rt.slug
        lines = read((folder / "planning" / "meeting.jsonl").read_bytes())
    return Played(tuple(post.message for post in world.thread), lines)


def _input(deed: Deed, rt: Roundtable, number: int) -> Say | Press:
    person = Person(id=deed.who, name=NAMES[deed.who])
    if isinstance(deed, Said):
        ts = f"{FIRST_STAMP + number}.000100"
        return Say(key=rt.line_of(ts), at=now(), person=person, text=deed.text, ts=ts)
    assert rt.menu, f"nothing to press, the roundtable is {rt.stage}"
    return Press(
        key=f"press.{number}",
        at=now(),
        person=person,
        action=deed.action,
        token=rt.menu.token,
        ts=rt.stands_at(rt.menu.token),
        value=deed.value,
    )
