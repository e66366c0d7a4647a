"""A persona with tools looks when its step opens: the card is there first, and gets what it found."""

import json

from bot.voices.model import Completion, Prompt
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import Looker, LookSubject
from tests.e2e.meeting import Meeting
from tests.sights import MEMBERS
from tests.specification.meeting import SCHEMA
from tests.voices.minds import ScriptedMind
from tests.voices.people import MAYA
from tests.voices.prompts.kept import SHIPPED
from tests.voices.test_looking import LINE, Shelf

OPENED = "The step was opened just now"
FOUND = "The retry waits 60 seconds"


class LookingMind(ScriptedMind):
    """Searches the code when a step opens, and proposes an assumption that rests on what it saw."""

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        if OPENED in prompt.moving and prompt.tools is not None:
            await prompt.tools.look("search_code", {"words": "retry"})
        return await super().think(prompt, seconds=seconds, tokens=tokens)


def script(prompt: Prompt) -> str:
    quotes = [{"field": "text", "line": LINE.id, "words": LINE.text}]
    entries = [{"kind": "assumption", "fields": {"text": FOUND}, "quotes": quotes}]
    told = entries if OPENED in prompt.moving else []
    return f"```record\n{json.dumps({'say': '', 'entries': told})}\n```"


async def test_what_it_finds_is_on_the_card_before_anybody_speaks(meeting: Meeting) -> None:
    """With its place in the code; a person accepts it after a restart. What was looked at is in the record."""
    mind = LookingMind(script=script)
    meeting.voices = ModelVoices(
        lambda _: mind,
        OfflineVoices(),
        looker_of=lambda cue: Looker(
            Shelf(),
            LookSubject.of(cue.roundtable, MEMBERS),
            SCHEMA,
            SHIPPED.roster[MAYA],
            redact=lambda text: text,
        ),
    )
    meeting.more = {"ROUNDTABLE_MODEL": "ollama:small", "ROUNDTABLE_LOOK_FIRST": "yes"}
    async with meeting.bot():
        await meeting.start("Offline sync")
        card = await meeting.seen(FOUND)
        assert "src/sync.py:40" in str(card.blocks)
        assert "finish_step" in str(card.blocks)
        await meeting.slack.settled()
    async with meeting.bot():
        await meeting.say("accept 1", who="ada")
        await meeting.slack.settled()
        await meeting.finish_step()
        await meeting.slack.settled()

    entries = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    claims = [one["claims"]["text"][-1] for one in entries if one["kind"] == "assumption"]
    assert [claim["accepted"]["name"] for claim in claims] == ["Ada"]
    looked = [line.meta["looked_at"] for line in meeting.transcript.lines if "looked_at" in line.meta]
    assert [[one["tool"] for one in found] for found in looked[:1]] == [["search_code"]]
