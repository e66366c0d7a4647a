"""Suggestions while a step is open, from a scripted mind: on the card at once, and nothing asked twice."""

import json
import re
from typing import Any

from bot.domain.transcript.lines import Source
from bot.voices.model import Prompt
from tests.e2e.meeting import CHANNEL, Meeting
from tests.voices.minds import ScriptedMind, thinking

SAID = re.compile(r"^\[([^\]]+)\] [^\n]*:\n> (.*)$", re.MULTILINE)
"""A message in a prompt: its id, and its first line."""


def looking(prompt: Prompt) -> str:
    """Takes every message for an assumption, or for a decision; asks once, and answers who asks it by name."""
    messages = SAID.findall(prompt.stable[3])
    recorded = [row for row in prompt.stable[2].split("\n") if "ASM-" in row]
    known = {text for _, text in messages}
    entries = [
        {
            "kind": "decision" if text.startswith("We take") else "assumption",
            "fields": {"text": text},
            "quotes": [{"field": "text", "line": id, "words": text}],
        }
        for id, text in messages
        if not text.startswith("Alex") and not any(text in row for row in recorded)
    ]
    told: dict[str, Any] = {}
    if "asks every persona" in prompt.moving or "a question that names nobody" in prompt.moving:
        told = {"say": "The queue breaks first."}
    elif "asks you by name" in prompt.moving:
        told = {"say": "A queue keeps the order."}
    elif len(known) == 1:
        asked = {"text": "How long is the longest tunnel?", "recommended": "40 minutes", "to": "Linus"}
        told = {"questions": [{**asked, "why": "It sets the queue"}]}
    return f"```record\n{json.dumps({'say': '', **told, 'entries': entries})}\n```"


def with_a_mind(meeting: Meeting) -> ScriptedMind:
    mind = ScriptedMind(script=looking)
    meeting.voices, meeting.more = thinking(mind), {"ROUNDTABLE_MODEL": "ollama:small"}
    return mind


async def test_suggestions_stand_on_the_card_and_finish_waits_for_nobody(meeting: Meeting) -> None:
    """Across a restart; a person accepts, and the model is asked no more."""
    mind = with_a_mind(meeting)
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels")
        asked = await meeting.seen("How long is the longest tunnel?")
        assert "Maya would say: 40 minutes _(unchecked)_." in asked.text
        assert "It sets the queue" in str(asked.blocks)
        await meeting.until(lambda: "suggests" in str(meeting.menus("finish_step")[-1].blocks))
        await meeting.say("At most 40 minutes", who="linus")
        card = await meeting.until(
            lambda: [one for one in meeting.menus("finish_step") if "At most 40 minutes" in str(one.blocks)]
        )
        assert "Edits get lost in tunnels" in str(card[-1].blocks)
    async with meeting.bot():
        await meeting.say("accept 1", who="ada")
        await meeting.slack.settled()
        calls = len(mind.asked)
        await meeting.finish_step()
        await meeting.slack.settled()

    assert len(mind.asked) == calls == 2
    accepted = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    claims = {one["id"]: one["claims"]["text"][-1] for one in accepted if one["kind"] == "assumption"}
    assert {id: claim.get("accepted", {}).get("name") for id, claim in claims.items()} == {
        "ASM-001": "Ada",
        "ASM-002": None,
    }
    proposing = [
        one for one in meeting.transcript.lines if one.source is Source.MODEL and "entries" in one.meta
    ]
    assert [one.content for one in proposing] == [
        "Maya Chen suggests ASM-001.",
        "Maya Chen suggests ASM-002.",
    ]
    assert sum("tokens_in" in one.meta for one in meeting.transcript.lines) == calls


async def test_all_are_asked_in_a_step_and_each_answers_once(meeting: Meeting) -> None:
    """After our name, and across a restart; a question that names nobody is for the one whose lens it is."""
    with_a_mind(meeting)
    async with meeting.bot():
        await meeting.start("Offline sync")
        question = "everyone, what breaks first?"
        await meeting.slack.person("grace").mention(CHANNEL, question, thread_ts=meeting.root)
        await meeting.until(lambda: len([one for one in meeting.thread if "breaks first." in one.text]) == 3)
        await meeting.slack.settled()
    async with meeting.bot():
        question = "which interfaces and error paths break?"
        await meeting.slack.person("grace").mention(CHANNEL, question, thread_ts=meeting.root)
        await meeting.until(lambda: len([one for one in meeting.thread if "breaks first." in one.text]) == 4)
        await meeting.slack.settled()
        await meeting.finish_step()

    said = [line.actor for line in meeting.transcript.lines if line.content == "The queue breaks first."]
    assert said == ["BusinessAnalyst", "SolutionsArchitect", "InterfaceDesigner", "InterfaceDesigner"]
