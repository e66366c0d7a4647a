"""That we are at work, as Slack shows it: words under a thread, or the session of an agent."""

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import WorkIndicator
from bot.domain.values.places import Place
from bot.errors import NotNow, SlackError
from bot.slack.chat import SlackChat
from bot.slack.client import identify
from slack_sandbox import Sandbox
from tests.slack.conftest import ScriptedDesk

WORDS = "is thinking…"


def shown(sandbox: Sandbox, thread: Place) -> str:
    return str(sandbox.channel().at_work(thread.thread)["status"])


async def test_words_stand_under_the_thread_until_they_are_taken_away(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """`chat:write` is enough for that, in any channel."""
    sandbox.scopes.discard("assistant:write")
    await chat.show(thread, WorkIndicator.STATUS, WORDS)
    assert shown(sandbox, thread) == WORDS

    await chat.clear(thread, WorkIndicator.STATUS)
    assert shown(sandbox, thread) == ""


async def test_words_go_with_a_post(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """Slack's own doing; and what is gone can be taken away once more."""
    await chat.show(thread, WorkIndicator.STATUS, WORDS)
    await chat.post(thread, Message(text="Done"), key="k", again=False)
    assert shown(sandbox, thread) == ""

    await chat.clear(thread, WorkIndicator.STATUS)


async def test_a_session_lasts_over_posts(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """It is at rest when we say so."""
    await chat.show(thread, WorkIndicator.SESSION, WORDS)
    await chat.post(thread, Message(text="Point one"), key="k", again=False)
    assert shown(sandbox, thread)

    await chat.clear(thread, WorkIndicator.SESSION)
    assert shown(sandbox, thread) == ""


async def test_only_an_agent_has_sessions(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """A refusal is told: there are other ways to show it."""
    sandbox.scopes.discard("assistant:write")

    with pytest.raises(SlackError) as refused:
        await chat.show(thread, WorkIndicator.SESSION, WORDS)
    assert not refused.value.again


@pytest.mark.parametrize("sign", [WorkIndicator.SESSION, WorkIndicator.STATUS])
async def test_trouble_at_slacks_is_no_reason_to_wait(
    chat: SlackChat, thread: Place, sandbox: Sandbox, sign: WorkIndicator
) -> None:
    """Whoever thinks begins without a sign. What stands there is taken away as soon as that can be."""
    method = {
        WorkIndicator.SESSION: "agents.sessions.setStatus",
        WorkIndicator.STATUS: "assistant.threads.setStatus",
    }[sign]
    sandbox.fail_next(method, "internal_error")
    await chat.show(thread, sign, WORDS)

    sandbox.fail_next(method, "internal_error")
    with pytest.raises(SlackError) as trouble:
        await chat.clear(thread, sign)
    assert trouble.value.again


async def test_under_a_thread_that_is_gone_nothing_is_shown_any_more(chat: SlackChat, thread: Place) -> None:
    """Taking it away from there is no failure."""
    await chat.clear(thread.but(thread="1.000001"), WorkIndicator.STATUS)


async def test_an_app_that_is_declared_an_agent_is_known_by_its_scopes(
    sandbox: Sandbox, client: AsyncWebClient
) -> None:
    """Slack grants one with the declaration, and to nobody else."""
    assert (await identify(client)).is_agent

    sandbox.scopes.discard("assistant:write")
    assert not (await identify(client)).is_agent


async def test_a_stop_where_nothing_runs_is_answered_and_the_sign_goes(
    connected: Sandbox, desk: ScriptedDesk, chat: SlackChat, thread: Place
) -> None:
    """Slack shows it until we say otherwise: somebody who died may have left it."""
    await chat.show(thread, WorkIndicator.SESSION, WORDS)
    desk.fails = [NotNow("Nothing is running here.")]
    ada = connected.person("ada")
    await ada.stop("#roundtable", thread.thread)

    await connected.until(lambda: ada.ephemerals)
    assert "Nothing is running here." in ada.ephemerals[-1].text
    await connected.until(lambda: not shown(connected, thread))


def session(sandbox: Sandbox, thread: Place) -> tuple[str | None, str | None]:
    channel = sandbox.channel()
    return channel.sessions.get(thread.thread), channel.titles.get(thread.thread)


async def test_a_session_has_a_title_and_is_closed_at_the_end(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """The first title makes it; later ones leave its state alone, since somebody may be at work."""
    await chat.name_session(thread, "Dark mode: Scope", closed=False)
    assert session(sandbox, thread) == ("suspended", "Dark mode: Scope")
    await chat.show(thread, WorkIndicator.SESSION, WORDS)
    await chat.name_session(thread, "Dark mode: User Needs", closed=False)
    assert session(sandbox, thread) == ("processing", "Dark mode: User Needs")
    await chat.name_session(thread, "Dark mode", closed=True)
    assert session(sandbox, thread) == ("closed", "Dark mode")


async def test_a_session_that_was_never_there_is_closed_at_once(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    await chat.name_session(thread, "Dark mode", closed=True)
    assert session(sandbox, thread) == ("closed", "Dark mode")


async def test_a_title_that_slack_does_not_take_is_no_loss_and_the_end_is(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """The next step has another title. That it is over is said again later."""
    await chat.name_session(thread, "Dark mode", closed=False)
    sandbox.fail_next("agents.sessions.rename", "internal_error")
    await chat.name_session(thread, "Dark mode: Scope", closed=False)
    assert session(sandbox, thread) == ("suspended", "Dark mode")

    sandbox.fail_next("agents.sessions.setStatus", "internal_error")
    with pytest.raises(SlackError) as trouble:
        await chat.name_session(thread, "Dark mode", closed=True)
    assert trouble.value.again
    await chat.name_session(thread.but(thread="1.000001"), "Dark mode", closed=True)


@pytest.mark.parametrize("reason", ["feature_disabled", "not_agent_app"])
async def test_that_slack_has_no_sessions_is_told(
    chat: SlackChat, thread: Place, sandbox: Sandbox, reason: str
) -> None:
    sandbox.fail_next("agents.sessions.rename", reason)
    with pytest.raises(SlackError) as refused:
        await chat.name_session(thread, "Dark mode", closed=False)
    assert (refused.value.reason, refused.value.again) == (reason, False)
