"""Whether a remote answers, and would take our commits: asked as `Sync` does it, and without a trace."""

import re
from pathlib import Path
from typing import NamedTuple

from bot.errors import WorkspaceError
from bot.storage.command import Git, Said
from bot.storage.result import DENIED, OVERTAKEN, Overtaken, Trouble, judge

SECONDS = 15.0
BRANCH = re.compile(r"^ref: refs/heads/(\S+)\tHEAD$", re.MULTILINE)
NOTHING_IN_COMMON = "No refs in common"
SAID_BY_SSH = re.compile(r"^(?:ssh: .+|.*Permission denied.*|Host key verification failed\.)$", re.MULTILINE)
PUSH = (
    "--dry-run",
    "--porcelain",
    "--no-verify",
    "--no-follow-tags",
    "--no-signed",
    "--recurse-submodules=no",
)


class Reached(NamedTuple):
    """*branch* is the remote's own, empty while nothing was pushed there; *refusal* is why a push would fail, if so."""

    branch: str
    refusal: str


async def reached(root: Path, remote: str, *, seconds: float = SECONDS) -> Reached:
    """
    Raises WorkspaceError when *remote* does not answer.

    A push is begun, and ended before anything is sent: so a branch that is protected, or a hook that says no, is not
    found out.
    """
    git = Git(root)
    answer = await _said(git, "ls-remote", "--symref", "--", remote, "HEAD", seconds=seconds)
    if answer.code:
        raise WorkspaceError(_reason(answer), reason="unreachable", again=True)
    branch = BRANCH.search(answer.out)
    # Matching branches: that needs no commit of ours, and touches none but those that both sides have.
    push = await _said(git, "push", *PUSH, "--", remote, ":", seconds=seconds)
    return Reached(branch[1] if branch else "", "" if _would_go(push) else _reason(push))


async def _said(git: Git, *words: str, seconds: float) -> Said:
    try:
        return await git(*words, seconds=seconds)
    except TimeoutError:
        raise WorkspaceError(f"no answer within {seconds:.0f} s", reason="unreachable", again=True) from None
    except OSError as error:
        raise WorkspaceError(f"git cannot be run: {error.strerror}", reason="unreachable") from error


def _would_go(push: Said) -> bool:
    """Who only has to fetch first may push."""
    words = push.error + push.out
    return (
        not push.code
        or NOTHING_IN_COMMON in words
        or (bool(OVERTAKEN.search(words)) and not DENIED.search(words))
    )


def _reason(said: Said) -> str:
    """Of ssh, what it says itself: git only knows that it could not read."""
    if of_ssh := SAID_BY_SSH.search(said.error):
        return of_ssh[0].strip()
    try:
        judge(said)
    except (Trouble, Overtaken) as error:
        return str(error)
    return "git said nothing"
