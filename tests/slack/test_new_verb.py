"""One row is a verb: a copy of the table with one more."""

from bot.domain.messages.message import Message
from bot.engine.desk import Desk, Reply
from bot.engine.verbs.table import VERBS
from bot.engine.verbs.verb import NOTHING, Verb, VerbRequest, Verbs
from bot.slack import parse
from tests.engine.replica import commands_of, replica
from tests.slack.conftest import NOW, US, payload


async def echo(_desk: Desk, asked: VerbRequest) -> Reply:
    return Message(text=f"You said {asked.rest}.")


ECHO = Verb(word="echo", do=echo, help="`/roundtable echo cat` – says it again", hint="echo cat")
TABLE = Verbs((*(row for row in VERBS.rows if row.word != "help"), ECHO))


async def test_a_row_is_a_slash_command(redis_url: str) -> None:
    """Read from what Slack sends, and carried out."""
    asked = parse.command(payload("slash_command", text="echo cat"), US, at=NOW, verbs=TABLE)

    assert (asked.verb, asked.rest) == ("echo", "cat")
    async with replica(redis_url) as process:
        assert await TABLE.ask(commands_of(process), asked) == Message(text="You said cat.")


def test_a_row_is_a_mention_and_no_sentence() -> None:
    """What may follow it is in the row."""
    strict = Verbs((Verb(word="echo", do=echo, takes=NOTHING),))

    assert TABLE.read_mention("Echo: cat") == ("echo", "cat")
    assert TABLE.read_mention("echo of what Maya said") is None
    assert strict.read_mention("echo cat") is None


async def test_a_row_is_in_the_help_and_in_the_hint(redis_url: str) -> None:
    """And is what a word that is nearly the same may mean."""
    assert "• `/roundtable echo cat` – says it again" in TABLE.help_text
    assert "echo cat" in TABLE.hint.split(" | ")
    asked = parse.command(payload("slash_command", text="ecoh cat"), US, at=NOW, verbs=TABLE)
    async with replica(redis_url) as process:
        told = await TABLE.ask(commands_of(process), asked)

    assert told
    assert "Did you mean `echo`?" in told.text
