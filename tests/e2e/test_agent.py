"""An app that is declared an agent can be talked to in a direct message; one that is not asks for nothing of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.messages import agent_wording, discussion_wording, home_page
from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME, manifest
from slack_sandbox import App, Sandbox, SandboxMessage
from slack_sandbox.residents import Channel
from tests.e2e.meeting import CHANNEL, TIMING, Meeting
from tests.e2e.test_private import SECRET, started_there

DIRECT = "@roundtable"
NOTHING = f"{home_page.NOTHING_WAITS}\n[Start a roundtable…]"


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    asked = manifest(agent=True)
    events = frozenset(asked["settings"]["event_subscriptions"]["bot_events"])
    async with Sandbox(app=App(shortcuts={SHORTCUT: SHORTCUT_NAME}, events=events), timing=TIMING) as slack:
        slack.scopes.intersection_update(asked["oauth_config"]["scopes"]["bot"])
        yield Meeting(slack, tmp_path / "workspace")


def direct(meeting: Meeting, who: str = "ada") -> Channel:
    workspace = meeting.slack.workspace
    return workspace.direct(workspace.user(who).id, meeting.slack.bot_user_id)


async def answer(meeting: Meeting, who: str, words: str) -> SandboxMessage:
    """To *words* in a direct message, which only *who* sees."""
    person = meeting.slack.person(who)
    before = len(person.ephemerals)
    await person.say(DIRECT, words)
    [found] = await meeting.until(lambda: person.ephemerals[before:])
    return found


async def second_step(meeting: Meeting, *said: str) -> None:
    """Linus is there, *said* is what Grace says, and the second step is open."""
    await meeting.start("Offline sync")
    await meeting.say("I am here.", who="linus")
    for words in said:
        await meeting.say(words)
    await meeting.finish_step()
    await meeting.go_on()


async def test_it_suggests_what_to_say_when_its_messages_are_opened(meeting: Meeting) -> None:
    """What a suggestion says is answered, as if it was typed; also after a restart."""
    async with meeting.bot():
        await meeting.slack.person("ada").open_home(tab="messages")
        await meeting.until(lambda: direct(meeting).prompts)

    assert direct(meeting).prompts == agent_wording.PROMPTS
    async with meeting.bot():
        told = [(await answer(meeting, "ada", said)).text for _, said in agent_wording.PROMPTS]

    assert told[:2] == [NOTHING, agent_wording.NO_ROUNDTABLES]
    assert "No decision was found." in told[2]
    assert "What is it about?" in told[-1]


async def test_words_that_belong_to_no_roundtable_are_answered_and_nothing_is_held_there(
    meeting: Meeting,
) -> None:
    """A sentence, a roundtable that cannot be started there, and a command that can be given anywhere."""
    async with meeting.bot():
        said = ("The limit should be 100 requests a minute.", "start Dark mode", "help")
        nowhere, refused, helped = [(await answer(meeting, "ada", words)).text for words in said]

    assert nowhere == f"{agent_wording.BELONGS_NOWHERE}\n[Start a roundtable…] [What waits for me?]"
    assert "can't be held here" in refused
    assert "/roundtable start" in helped
    assert not meeting.slack.calls_of("chat.postMessage")


async def test_the_buttons_below_an_answer(meeting: Meeting) -> None:
    """*What waits for me?* says the same as the words, *Start a roundtable…* opens the form; a restart between them."""
    ada, linus = meeting.slack.person("ada"), meeting.slack.person("linus")
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("I am here.", who="linus")
        await meeting.do_step("problem: Edits get lost in tunnels.")
        await meeting.go_on()
        hello = await answer(meeting, "linus", "Hello!")
        assert "I hold roundtables with your team." in hello.text
        assert [one["action_id"] for one in hello.elements] == [
            "roundtable.answer_form",
            "roundtable.start_form",
            "roundtable.waiting",
        ]
    async with meeting.bot():
        assert (await linus.press(hello, "roundtable.waiting")).acked
        [pressed] = await meeting.until(lambda: linus.ephemerals[1:])
        typed = await answer(meeting, "linus", "What waits for me?")
        assert pressed.text == typed.text
        assert "Offline sync" in typed.text
        assert (await linus.press(typed, "roundtable.start_form")).acked
        await meeting.until(lambda: linus.view is not None)
        assert "roundtable.start_form" in str(linus.view)
        told = await ada.slash(CHANNEL, "/roundtable waiting")
        assert "roundtable.answer_form" not in str(told.response)


async def test_a_question_is_answered_there_and_everybody_reads_it(meeting: Meeting) -> None:
    """What waits is told there, too; the answer is the person's, in the thread's record. A restart in between."""
    linus = meeting.slack.person("linus")
    async with meeting.bot():
        await second_step(meeting)
        waits = await answer(meeting, "linus", "What waits for me?")
        assert "asks: " in waits.text
        assert "Offline sync" in waits.text
        assert (await answer(meeting, "grace", "What waits for me?")).text == NOTHING
    async with meeting.bot():
        asked = await answer(meeting, "linus", "Edits get lost in tunnels.")
        assert agent_wording.BELONGS_SOMEWHERE.replace("**", "*") in asked.text
        assert (await linus.press(asked, "roundtable.answer_form")).acked
        await meeting.until(lambda: linus.view is not None)
        assert "Everybody in the channel of this roundtable will read it" in str(linus.view)
        await meeting.submit(who="linus", words="Edits get lost in tunnels.")
        shown = await meeting.seen("Linus answered in a form")
        assert "Edits get lost in tunnels." in shown.text
    async with meeting.bot():
        assert "Offline sync" in (await answer(meeting, "linus", "Catch me up on Offline sync")).text
        await meeting.finish_step()
        assert (await linus.press(asked, "roundtable.answer_form")).acked
        await meeting.told(agent_wording.STEP_IS_OVER, who="linus")
    said = [line for line in meeting.lines("User") if line.content == "Edits get lost in tunnels."]
    assert [line.person for line in said] == [meeting.person("linus")]


async def test_who_left_the_channel_is_told_nothing_of_it_there(meeting: Meeting) -> None:
    """Checked when it is asked: what waits, what was missed, and the form."""
    linus = meeting.slack.person("linus")
    async with meeting.bot():
        await second_step(meeting)
        waits = await answer(meeting, "linus", "What waits for me?")
        await meeting.leaves(linus.id)
        for words in ("What waits for me?", "Catch me up", "catch me up on Offline"):
            await answer(meeting, "linus", words)
        assert (await linus.press(waits, "roundtable.answer_form")).acked
        await meeting.until(lambda: len(linus.ephemerals) == 5)
    assert linus.view is None
    later = [one.text for one in linus.ephemerals[1:]]
    assert later[:2] == [NOTHING, agent_wording.NO_ROUNDTABLES]
    assert "you are not in its channel" in later[-1]
    assert not [text for text in later if "asks:" in text or "Offline sync" in text]


@pytest.mark.parametrize("reason", ["feature_disabled", "not_agent_app"])
async def test_where_slack_has_no_agents_people_can_type_all_the_same(meeting: Meeting, reason: str) -> None:
    async with meeting.bot():
        meeting.slack.fail_next("assistant.threads.setSuggestedPrompts", reason)
        await meeting.slack.person("ada").open_home(tab="messages")
        await meeting.slack.settled()
        await answer(meeting, "ada", "help")


def sessions(meeting: Meeting) -> tuple[str | None, str | None]:
    """The state and the title of the session in the thread."""
    channel = meeting.slack.workspace.channel(CHANNEL)
    return channel.sessions.get(meeting.root), channel.titles.get(meeting.root)


async def test_the_session_says_item_and_step(meeting: Meeting) -> None:
    """Per step, also after a restart; and nothing else than a title is asked of it, so that people are not stopped."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.until(lambda: sessions(meeting)[1])
        first = sessions(meeting)
        await meeting.say("Edits get lost in tunnels. Scope: small")
        await meeting.finish_step()
    async with meeting.bot():
        await meeting.go_on()
        await meeting.until(lambda: sessions(meeting) != first)

    assert first == ("suspended", "Offline sync: Scope Estimation")
    assert sessions(meeting) == ("suspended", "Offline sync: Keyword Search")
    assert len(meeting.slack.calls_of("agents.sessions.setStatus")) == 1


async def test_questions_of_ones_own_are_answered_there(meeting: Meeting) -> None:
    """Each has a button, beside that of the open step. A restart between press and submission."""
    linus = meeting.slack.person("linus")
    async with meeting.bot():
        await second_step(meeting, "Open question: Who pays? -> Linus", "Open question: Who signs? -> Linus")
        told = await answer(meeting, "linus", "What waits for me?")
        labels = {one["text"]["text"]: one for one in told.elements}
        assert list(labels) == [
            "Answer Offline sync…",
            "Answer Who pays?…",
            "Answer Who signs?…",
            "Start a roundtable…",
        ]
        pays = labels["Answer Who pays?…"]
        assert (await linus.press(told, pays["action_id"], pays["value"])).acked
        await meeting.until(lambda: linus.view is not None)
        assert "Grace asks: Who pays?" in str(linus.view)
    async with meeting.bot():
        assert (await meeting.submit(who="linus", words="The customer pays.")).acked
        await meeting.seen("Linus answered in a form")
        assert (await linus.press(told, pays["action_id"], pays["value"])).acked
        await meeting.told("Q-001 is answered", who="linus")
        left = (await answer(meeting, "linus", "What waits for me?")).text
        assert "Who signs?" in left
        assert "Who pays?" not in left
        await meeting.finish_step()
    [line] = [one for one in meeting.transcript.lines if one.content.startswith("Linus answered Q-001")]
    assert line.person == meeting.person("linus")


async def test_a_position_is_given_there_privately(meeting: Meeting) -> None:
    """Where nobody else reads it; the card says who has answered."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small", who="linus")
        await meeting.finish_step()
        assert "No discussion is open here." in (await answer(meeting, "linus", "position: A")).text
        await meeting.press("elaborate")
        await meeting.menu("ask_all")
        await meeting.say("option: a queue on the device", who="ada")
        await meeting.menu("stand")
    async with meeting.bot():
        told = await answer(meeting, "linus", "position: A, very sure, because it survives tunnels")
        assert told.text == discussion_wording.SEALED_NOTED
        await meeting.seen("*In:* Linus")
        assert "survives" not in str([one.text for one in meeting.thread])
        await meeting.press("reveal")
        await meeting.seen("Linus, very sure: it survives tunnels")


async def test_what_was_decided_in_a_private_channel_is_told_to_its_members_only(meeting: Meeting) -> None:
    ada, grace = map(meeting.slack.person, ("ada", "grace"))
    async with meeting.bot():
        root = await started_there(meeting, "Board plans")
        await ada.say(SECRET, "Decision: we sell in May", thread_ts=root)
        await grace.say(SECRET, "Noted.", thread_ts=root)
        await meeting.slack.settled()
        assert "we sell in May" in (await answer(meeting, "grace", "What did we decide?")).text
    async with meeting.bot():
        await meeting.leaves(grace.id, SECRET)
        assert "No decision was found." in (await answer(meeting, "grace", "decisions")).text
