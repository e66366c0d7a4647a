"""What is done after the acknowledgement is done all the same."""

import asyncio
import gc
import logging
from dataclasses import replace

import pytest

from bot.engine.ports import OnceMarks
from bot.errors import SlackError, Unavailable
from bot.slack.reception import BackgroundTasks, Reception
from slack_sandbox import Sandbox
from tests.slack.conftest import payload


async def test_an_errand_is_held_on_to() -> None:
    """A waiting task that nobody holds may be collected before it ends."""
    errands = BackgroundTasks()
    done: list[str] = []

    async def waits_alone() -> None:
        alone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(alone.set_result, None)
        await alone
        done.append("told")

    errands.send(waits_alone())
    gc.collect()
    await errands.drain(1)

    assert done == ["told"]


@pytest.mark.parametrize(
    ("failure", "level"),
    [(SlackError("I'm not in this channel."), logging.WARNING), (ValueError("a bug"), logging.ERROR)],
)
async def test_a_failed_errand_is_logged_once(
    caplog: pytest.LogCaptureFixture, failure: Exception, level: int
) -> None:
    """A refusal of Slack's is a line, a mistake of ours comes with its traceback."""
    errands = BackgroundTasks()

    async def fails() -> None:
        raise failure

    errands.send(fails())
    await errands.drain(1)
    await asyncio.sleep(0)

    (record,) = (record for record in caplog.records if record.name == "bot.slack.reception")
    assert record.levelno == level
    assert bool(record.exc_info) == (level == logging.ERROR)


async def test_draining_has_an_end() -> None:
    """A process that is told to go does not wait for ever to whisper something."""
    errands = BackgroundTasks()

    async def never_ends() -> None:
        await asyncio.Event().wait()

    errands.send(never_ends())
    await errands.drain(0.01)
    await errands.drain(0.01)

    assert not errands._running


async def test_two_processes_answer_an_event_once(reception: Reception, connected: Sandbox) -> None:
    """The repetition may come to another one, and as the other event that a message is."""
    other = replace(reception, errands=BackgroundTasks())
    body = payload("mention_in_channel", event__channel=connected.channel().id, event__user="U0ADA")
    as_message = payload(
        "mention_in_channel",
        event__channel=connected.channel().id,
        event__user="U0ADA",
        event__type="message",
    )

    await reception.answer_once(body, "once")
    await other.answer_once(body, "twice")
    await other.answer_once(as_message, "thrice")
    for one in (reception, other):
        await one.errands.drain(5)

    assert [one.text for one in connected.person("ada").ephemerals] == ["once"]


async def test_an_answer_is_given_when_the_store_is_away(reception: Reception, connected: Sandbox) -> None:
    """Rather twice than never."""

    class Away(OnceMarks):
        async def first(self, key: str, *, seconds: float) -> bool:  # noqa: ARG002 -- nobody answers
            raise Unavailable

    away = replace(reception, memory=Away())
    body = payload("mention_in_channel", event__channel=connected.channel().id, event__user="U0ADA")
    await away.answer_once(body, "here")
    await away.errands.drain(5)

    assert [one.text for one in connected.person("ada").ephemerals] == ["here"]
