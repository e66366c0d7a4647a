"""How a round with the remote ended, and what git's words mean for it."""

import re
from enum import StrEnum

from bot.storage.command import Said

DENIED = re.compile(
    r"authentication failed|permission (to .* )?denied|could not read (username|password)|access denied|forbidden"
    r"|unauthorized|returned error: 40[13]|invalid credentials|not granted|repository not found|terminal prompts"
    r"|host key verification failed|remote rejected|pre-receive hook declined|protected branch",
    re.IGNORECASE,
)
OVERTAKEN = re.compile(
    r"\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists"
)
DECLINED = re.compile(r"remote rejected\].*\((pre-receive|update|.*hook)\b.*declined")
NO_SUCH_BRANCH = "couldn't find remote ref"
TELLING = ("fatal:", "error:", "remote:", "!")
WORD = re.compile(r"[^\W\d_]{2}")


class Result(StrEnum):
    """How a round ended."""

    PUSHED = "pushed"
    """The remote has what we have."""
    NOTHING = "nothing"
    """It had that before."""
    DIVERGED = "diverged"
    """Here is something that we may not put together: a person has to."""
    UNREACHABLE = "unreachable"
    """There was no answer, or none that git understood."""
    REFUSED = "refused"
    """The remote does not let us."""


class Trouble(Exception):
    """A round that cannot go on; the sentence is for the log."""

    def __init__(self, result: Result, sentence: str) -> None:
        super().__init__(sentence)
        self.result = result


class Overtaken(Exception):
    """Somebody else was quicker, in the workspace or at the remote: it is worth trying again at once."""


def has_no_branch(said: Said) -> bool:
    return bool(said.code) and NO_SUCH_BRANCH in said.error


def judge(said: Said) -> None:
    """Raises Trouble, or Overtaken, when git did not do it."""
    words = said.error + said.out
    if not said.code:
        return
    if OVERTAKEN.search(words) and not DECLINED.search(words):
        raise Overtaken(_sentence(said))
    raise Trouble(Result.REFUSED if DENIED.search(words) else Result.UNREACHABLE, _sentence(said))


def _sentence(said: Said) -> str:
    """The first line that says something: remotes like to draw frames around theirs."""
    lines = [line.strip() for line in (said.error + said.out).splitlines()]
    told = [line for line in lines if line.startswith(TELLING) and WORD.search(line.removeprefix("remote:"))]
    return next(iter([*told, *filter(None, lines)]), "git said nothing")
