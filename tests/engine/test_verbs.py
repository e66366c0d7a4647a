"""Verbs that are answered without looking at any item."""

from collections.abc import AsyncIterator

import pytest

from bot.domain.messages import agent_wording, discussion_wording, menus, verb_wording
from bot.domain.messages.message import Message
from bot.domain.values.places import Person, Place
from bot.engine.verbs.table import VERBS
from bot.engine.verbs.verb import VerbRequest
from bot.errors import UserError
from tests.engine.replica import Replica, commands_of, replica


@pytest.fixture
async def one(redis_url: str) -> AsyncIterator[Replica]:
    async with replica(redis_url) as one:
        yield one


async def answer_to(one: Replica, text: str, *, verb: str = "") -> str:
    """*text* is what follows *verb*, or all of a command."""
    verb, rest = (verb, text) if verb else VERBS.read_command(text)
    place, ada = Place(team="T1", channel="C1"), Person(id="U0ADA")
    asked = VerbRequest(verb=verb, rest=rest, place=place, person=ada, key="k", at="2026-01-01T10:00:00.000Z")
    told = await commands_of(one).ask(asked)
    assert told
    return told.text


HELP = verb_wording.BEFORE


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("help", HELP),
        ("help me", HELP),
        ("dance", f"I don't understand `dance`. Here is what I can do.\n\n{HELP}"),
        ("sttart Dark mode", "I don't understand `sttart Dark mode`. Did you mean `start`?"),
        ("list `all` of it", "I know `list`, but not `list all of it`. These are the commands."),
    ],
)
async def test_help_and_what_is_not_understood(one: Replica, text: str, answer: str) -> None:
    """What is nearly a verb is named."""
    assert (await answer_to(one, text)).startswith(answer)


async def test_who_calls_and_says_no_more(one: Replica) -> None:
    """Where there is no item yet, the first sentence says what this is good for."""
    assert (await answer_to(one, "")).startswith(f"{HELP}\n\nNothing waits for you.")


def test_looking_around_takes_no_button_away() -> None:
    """In a direct message each open question has a button of the same action."""
    answers = tuple(agent_wording.ANSWER.but(label=f"Answer {n}…", value=f"a/0{n}") for n in (1, 2))
    waiting = Message(text="Two questions.", choices=(*answers, menus.START))
    shown = verb_wording.around(waiting, Message(text="Held here."))

    assert shown.choices == (*answers, menus.START, verb_wording.DECIDED, verb_wording.MORE)


@pytest.mark.parametrize("text", ["depth", "depth bottomless", "depth very deep"])
async def test_a_depth_that_there_is_not(one: Replica, text: str) -> None:
    """Its author is told which there are."""
    with pytest.raises(UserError, match="How deep"):
        await answer_to(one, text)


@pytest.mark.parametrize("text", ["position A", "position: A"])
async def test_a_position_that_all_can_read(one: Replica, text: str) -> None:
    """Its author is told where to write it."""
    assert await answer_to(one, text, verb="help") == discussion_wording.SAID_OPENLY
