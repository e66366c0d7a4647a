"""
Which Slack workspace (team) the state belongs to. It comes from `auth.test`, never from a message.

In Redis every key has the team in it, so several teams may share one. A workspace, with its `.roundtable/`, is for one
team: the first bot writes down there for which, and the bot of another team refuses it.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.errors import ConfigError
from bot.files import folder

FILE = "team"
SANDBOX = "T0SANDBOX"
"""Of `roundtable try`. What was tried out keeps no team from the workspace, or from the Redis."""
MOST_BYTES = 100
TEAM = re.compile(r"[A-Z][A-Za-z0-9_.-]{0,63}")
"""Slack's are of capital letters and digits."""


def valid(team: str) -> str:
    """Raises ConfigError for what cannot be a part of a key."""
    if not TEAM.fullmatch(team):
        raise ConfigError(
            f"Slack names a workspace {team!r}, and an id begins with a capital letter and goes on with letters or"
            " digits."
        )
    return team


def prefix(team: str) -> str:
    """What all keys of *team* in Redis begin with: with one hash tag, so that a script may use several of them."""
    return f"roundtable:{{{valid(team)}}}:"


def recorded(state: Path) -> str:
    """The team that *state*, the `.roundtable/` of a workspace, is for; "" when no bot has begun there."""
    with _explained(state), suppress(FileNotFoundError, NotADirectoryError), folder(state) as files:
        return (files.read(FILE, MOST_BYTES) or b"").decode("ascii", "replace").strip()
    return ""


def claim(state: Path, team: str, *, found: Collection[str] = ()) -> None:
    """
    *state* is for *team* from now on. Raises ConfigError when it is another's already, by what is written down, or,
    when nothing is, by the teams that were *found* in what is kept there.
    """
    workspace, before = state.parent, recorded(state)
    must_be(workspace, team, before or team)
    if before == team:
        return
    if team not in found:
        for other in sorted(found):
            must_be(workspace, team, other)
    content = f"{valid(team)}\n".encode()
    with _explained(state):
        state.mkdir(parents=True, exist_ok=True)
        with folder(state) as files:
            if before:
                files.remove(FILE)
            files.create(FILE, content)
    must_be(workspace, team, recorded(state))


@contextmanager
def _explained(state: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{str(state / FILE)!r} cannot be used: {error.strerror}") from error


def must_be(workspace: Path, team: str, other: str) -> None:
    if other not in {team, SANDBOX}:
        raise ConfigError(
            f"The workspace {str(workspace)!r} belongs to {other!r}, another Slack workspace than {team}: set"
            " ROUNDTABLE_WORKSPACE to a folder of its own for each Slack workspace."
        )
