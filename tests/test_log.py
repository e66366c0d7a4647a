"""Log lines can be read by machines and by people, say what they are about, and keep secrets."""

import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from bot import log

SECRET = 'se"s\\ame'


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for name in log.TALKATIVE:
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture(params=[io.StringIO, Terminal], ids=["machine", "person"])
def stream(request: pytest.FixtureRequest) -> io.StringIO:
    made: io.StringIO = request.param()
    log.configure(secrets=[SECRET, ""], stream=made)
    return made


@pytest.fixture
def machine() -> io.StringIO:
    stream = io.StringIO()
    log.configure(secrets=[SECRET], stream=stream)
    return stream


def only_line(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    read: dict[str, Any] = json.loads(line)
    return read


def test_a_machine_reads_one_object_a_line(machine: io.StringIO) -> None:
    """With what happened, how bad it is, who says so, and when."""
    logging.getLogger("bot.storage").warning("could not push %s", "dark-mode", extra={"tries": 3})

    line = only_line(machine)
    assert line["event"] == "could not push dark-mode"
    assert (line["level"], line["logger"], line["tries"]) == ("warning", "bot.storage", 3)
    assert line["timestamp"].endswith("Z")


def test_a_person_reads_words(capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal gets no JSON."""
    stream = Terminal()
    log.configure(stream=stream)
    logging.getLogger("bot.storage").warning("could not push %s", "dark-mode")

    assert "could not push dark-mode" in stream.getvalue()
    assert "{" not in stream.getvalue()
    assert capsys.readouterr() == ("", "")


def test_lines_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output belongs to what a command was asked for."""
    log.configure()
    logging.getLogger("bot").warning("here")

    out, err = capsys.readouterr()
    assert (out, json.loads(err)["event"]) == ("", "here")


def test_lines_say_what_they_are_about(machine: io.StringIO) -> None:
    """Item, step and effect are on every line inside, and on none after."""
    logger = logging.getLogger("bot.engine")

    with log.about(item="dark-mode", step="01-03"), log.about(effect="dark-mode.7"):
        logger.warning("inside")
    logger.warning("outside")

    inside, outside = map(json.loads, machine.getvalue().splitlines())
    assert (inside["item"], inside["step"], inside["effect"]) == ("dark-mode", "01-03", "dark-mode.7")
    assert not {"item", "step", "effect"} & outside.keys()


def test_other_libraries_say_only_what_matters(machine: io.StringIO) -> None:
    """In the same shape as everything else."""
    logging.getLogger("slack_bolt.App").info("chatter")
    logging.getLogger("aiohttp.access").info("chatter")
    logging.getLogger("slack_bolt.App").error("trouble")

    assert only_line(machine)["event"] == "trouble"


def test_warnings_are_lines_too(machine: io.StringIO) -> None:
    """What Python would print beside the log is in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("this will go away", stacklevel=1)

    assert "this will go away" in only_line(machine)["event"]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (f"with {SECRET}", "ame"),
        ("with xoxb-12-34-sesame", "sesame"),
        ("with xapp-1-A1-sesame,", "sesame"),
        ("with xoxe.xoxp-1-sesame", "sesame"),
        ("at redis://bot:sesame@redis:6379/0", "sesame"),
        ("at https://sesame@git.example/specs", "sesame"),
    ],
)
def test_secrets_are_hidden_wherever_they_come_up(stream: io.StringIO, text: str, gone: str) -> None:
    """In the sentence, in what it is about, nested in a value, in somebody's repr, in an exception."""
    logger = logging.getLogger("bot")

    logger.warning("plain: %s", text)
    logger.warning("nested", extra={"answer": {"headers": [text]}, "value": Exception(text)})
    with log.about(item=text):
        logger.warning("about")
    try:
        raise ValueError(text) from KeyError(text)
    except ValueError:
        logger.exception("raised")

    assert gone not in stream.getvalue()
    assert stream.getvalue().count(log.HIDDEN) >= 5


def test_what_is_no_secret_stays(machine: io.StringIO) -> None:
    """An address without a password, a mail address, a Slack permalink."""
    harmless = "https://acme.slack.com/archives/C1/p2 redis://redis:6379/0 ada@example.com foxapp-like"
    logging.getLogger("bot").warning(harmless)

    assert only_line(machine)["event"] == harmless


def test_nothing_in_a_line_acts(stream: io.StringIO) -> None:
    """What a remote or a library says may hold anything: it moves no cursor, and turns no text."""
    logging.getLogger("bot").warning("git said: %s", "\x1b[2J\x9b31m \u202e\u2028 end")
    try:
        raise ValueError("\x1b]0;title\x07")
    except ValueError:
        logging.getLogger("bot").exception("raised")

    said = stream.getvalue()
    assert "end" in said
    assert not [one for one in ("\x1b[2J", "\x1b]0", "\x9b", "\x07", "\u202e", "\u2028") if one in said]


def test_a_line_can_be_written_whatever_is_in_it(stream: io.StringIO) -> None:
    """Git's words are bytes; what of them is no text would keep the whole line from being written."""
    record = logging.LogRecord("bot", logging.WARNING, "", 0, "git said: \udcff", (), None)
    [ours] = [one for one in logging.getLogger().handlers if getattr(one, "stream", None) is stream]

    assert "git said: " in ours.format(record).encode().decode()


def test_nobody_else_begins_a_line() -> None:
    """On a terminal a line of the log starts at the margin; what was said in several lines does not."""
    stream = Terminal()
    log.configure(stream=stream)
    logging.getLogger("bot").warning("git said: %s", "no\n2026-01-01 [info] all is well")

    assert [line for line in stream.getvalue().splitlines() if not line.startswith(" ")][1:] == []


def test_what_gives_itself_away_is_hidden_too() -> None:
    """A library's exception may quote what somebody wrote; whoever runs the bot says what a secret is."""
    stream = io.StringIO()
    log.configure(redact=lambda text: text.replace("CUST-1234", "[redacted:customer]"), stream=stream)
    try:
        raise ValueError("CUST-1234")
    except ValueError:
        logging.getLogger("bot").exception("of CUST-1234")

    assert "CUST-1234" not in stream.getvalue()
    assert stream.getvalue().count("[redacted:customer]") >= 2
