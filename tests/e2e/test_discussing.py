"""A discussion while it runs, over the sandbox's sockets: stopped, decided, talked into, and seen to be at work."""

import asyncio
import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import aiohttp
import pytest

from bot.slack.client import AGENT
from bot.slack.manifest import STOPPED
from bot.voices.model import Completion, Prompt
from slack_sandbox import Sandbox, SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_thinking import good, task_of
from tests.voices.minds import Answer, ScriptedMind, record, thinking

WAYS = pytest.mark.parametrize("agent", [True, False], ids=["session", "words"])


class SlowMind(ScriptedMind):
    """Answers by script; to whatever *waits* says, only when it is let go."""

    def __init__(self, script: Callable[[Prompt], Answer], waits: Callable[[Prompt], bool]) -> None:
        super().__init__(script=script)
        self._waits = waits
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        if self._waits(prompt):
            self.begun.set()
            await self.go.wait()
        return await super().think(prompt, seconds=seconds, tokens=tokens)


class Side(NamedTuple):
    position: str
    because: str


SIDES = {
    "Maya Chen": Side("keep both edits", "Nobody loses anything."),
    "Alex Rivera": Side("the last edit wins", "It is simple."),
}


def torn(prompt: Prompt) -> Answer:
    """Two personas who see it differently, and one who says nothing about it."""
    if task_of(prompt) != "turn":
        return good(prompt)
    found = next((side for name, side in SIDES.items() if f"## {name}, " in prompt.moving), None)
    if found is None:
        return record("I have nothing against either.")
    return record(found.because, {"issue": "conflicts", "position": found.position, "because": [""]})


def responding(prompt: Prompt) -> bool:
    return task_of(prompt) == "turn" and "`business-analyst`" not in prompt.moving


async def discussing(meeting: Meeting) -> None:
    """A step is done, and its discussion opened."""
    await meeting.start("Offline sync")
    await meeting.say("Edits get lost in tunnels. Scope: small")
    await meeting.seen("Tunnels, then.")
    await meeting.finish_step()
    await meeting.press("elaborate")


def declare_an_agent(slack: Sandbox) -> None:
    """As `roundtable manifest --agent` has the app."""
    slack.scopes.add(AGENT)
    slack.slack.app = replace(slack.app, events=slack.app.events | {STOPPED})


def slowly(meeting: Meeting, *, agent: bool = False) -> SlowMind:
    """Whoever responds is at work until it is let go; the app may be declared an *agent*."""
    if agent:
        declare_an_agent(meeting.slack)
    mind = SlowMind(good, responding)
    meeting.voices, meeting.more = thinking(mind), {"ROUNDTABLE_MODEL": "ollama:small"}
    return mind


def at_work(meeting: Meeting) -> str:
    """What stands under the thread."""
    return str(meeting.slack.channel(CHANNEL).at_work(meeting.root)["status"])


@WAYS
async def test_a_stop_ends_a_round_while_a_persona_speaks(meeting: Meeting, *, agent: bool) -> None:
    """
    By our button, or by Slack's own where the app is declared an agent. At once: what is being written is given up,
    nobody speaks after it, and the discussion can be resumed.
    """
    mind = slowly(meeting, agent=agent)
    async with meeting.bot():
        await discussing(meeting)
        await mind.begun.wait()
        if agent:
            await meeting.slack.person("grace").stop(CHANNEL, meeting.root)
        else:
            assert (await meeting.press("stop", who="grace")).acked
        await meeting.menu("resume")
        await meeting.slack.settled()

        assert not [line for line in meeting.transcript.lines if line.meta.get("turn_id")]
        await meeting.until(lambda: not meeting.menus("stop") and not at_work(meeting))
        mind.go.set()
        await meeting.press("resume")
        await meeting.menu("end_elaboration")
    assert any("Grace" in line.content for line in meeting.transcript.lines)


async def test_who_disagrees_is_decided_by_a_button(meeting: Meeting) -> None:
    """Both sides stand above it; who pressed is in the thread, in the record and in the synthesis."""
    meeting.voices = thinking(ScriptedMind(script=torn))
    async with meeting.bot():
        await discussing(meeting)
        menu = await meeting.menu("decide")
        assert all(side.position in menu.text for side in SIDES.values())
        linus = meeting.slack.person("linus")
        assert (await linus.press(menu, *button(menu, "Decide: keep both edits"))).acked
        await meeting.seen("conflicts: keep both edits (decided by")
        assert (await linus.press(menu, *button(menu, "Decide: the last edit wins"))).acked
        await meeting.until(lambda: linus.ephemerals)
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
        await meeting.slack.settled()

    decisions = [(line.person, made["text"]) for line, made in meeting.made("decision")]
    assert decisions == [(meeting.person("linus"), "conflicts: keep both edits")]
    page = (meeting.folder / "quick-scan.md").read_text()
    assert "conflicts: keep both edits" in page


def two_speak(prompt: Prompt) -> Answer:
    """In a round, each about a message that nobody has quoted."""
    if not in_a_round(prompt):
        return good(prompt)
    said = {"business-analyst": ("t04", "forty a week"), "solutions-architect": ("t05", "on two phones")}
    rows = [
        {"persona": key, "say": [{"text": f"{key} on {line}.", "quotes": [{"line": line, "words": words}]}]}
        for key, (line, words) in said.items()
    ]
    return json.dumps({"contributions": rows})


def in_a_round(prompt: Prompt) -> bool:
    return task_of(prompt) == "turn" and "Take the discussion one step further" in prompt.moving


async def test_a_round_that_a_restart_interrupts_is_posted_once(meeting: Meeting) -> None:
    """The next process asks again; each contribution is a message of its persona."""
    mind = SlowMind(two_speak, in_a_round)
    meeting.voices = thinking(mind)
    async with meeting.bot():
        await discussing(meeting)
        await meeting.seen("7 of 10 turns left")
        await meeting.say("We lose forty a week")
        await meeting.slack.settled()
        await meeting.say("Mostly on two phones", who="grace")
        await meeting.slack.settled()
        await meeting.press("go_on")
        await mind.begun.wait()

    meeting.voices = thinking(ScriptedMind(script=two_speak))
    async with meeting.bot():
        await meeting.seen("business-analyst on t04.")
        await meeting.seen("solutions-architect on t05.")
        await meeting.slack.settled()
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
        await meeting.slack.settled()

    said = ["business-analyst on t04.", "solutions-architect on t05."]
    posted = [one.text for one in meeting.thread if re.search(r" on t0[45]\.$", one.text)]
    assert [text.partition(": ")[2] for text in posted] == said
    lines = [line for line in meeting.transcript.lines if line.content in said]
    assert [line.content for line in lines] == said
    assert [line.actor for line in lines] == ["BusinessAnalyst", "SolutionsArchitect"]


def button(menu: SandboxMessage, label: str) -> tuple[str, str]:
    """What Slack tells of a press of the button that says *label*: its action, and its value."""
    elements = (element for block in menu.blocks for element in block.get("elements", ()))
    buttons = (element for element in elements if element.get("type") == "button")
    return next((one["action_id"], one["value"]) for one in buttons if one["text"]["text"].startswith(label))


@WAYS
async def test_people_see_that_a_persona_is_thinking(meeting: Meeting, *, agent: bool) -> None:
    """As long as it does, and no hourglass is needed for it."""
    mind = slowly(meeting, agent=agent)
    async with meeting.bot():
        await discussing(meeting)
        await mind.begun.wait()
        assert at_work(meeting)
        mind.go.set()
        await meeting.menu("end_elaboration")
        await meeting.until(lambda: not at_work(meeting))
        await meeting.slack.settled()

    assert not meeting.slack.calls_of("reactions.remove")


async def test_what_a_claim_rests_on_is_a_click_away(meeting: Meeting) -> None:
    """From the synthesis in the thread to the very message, on whatever address that Slack is."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        await meeting.discuss()
        said = await meeting.say("insight: last write wins loses work", who="grace")
        await meeting.slack.settled()
        await meeting.say("done")
        synthesis = await meeting.seen("Elaboration Insights")

    [link] = re.findall(r"<(http[^|>]+)\|t\d+ Grace>", html.unescape(json.dumps(synthesis.blocks)))
    async with aiohttp.ClientSession() as session, session.get(link, allow_redirects=False) as answer:
        assert answer.headers["Location"] == f"/#{meeting.slack.channel(CHANNEL).id}/{meeting.root}/{said}"
