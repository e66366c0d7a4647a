"""The words of plan.md: its headings, and the first line, which says whether it is ready."""

from collections.abc import Sequence

from bot.domain.messages import specification_wording
from bot.domain.messages.tracker_wording import issue_name
from bot.domain.values.text import listed

ORDER, BEFORE, FILES, ROLES = "Order", "Before it can start", "Files", "Roles"
TESTED = "Requirements and how they are tested"
ORDER_COLUMNS = ("#", "What", "Who", "By", "After", "Tests")
NO_TEST, NO_TEST_NAMED = "no test yet", "none named"
NO_VERDICT = "no verdict yet"
READY = "Ready: nothing is in the way."


def page_title(title: str) -> str:
    return f"Plan: {title}"


def readiness(lacking: Sequence[str], not_settled: int) -> str:
    """`Not ready: 2 contested. 6 points are not settled (last section).`"""
    said = specification_wording.not_ready(lacking) if lacking else READY
    points = specification_wording.points_left(not_settled)
    return f"{said} {points} (last section)." if not_settled else said


def piece(title: str, requirements: Sequence[str], *, is_critical: bool, issue: str = "") -> str:
    """Of work: `Outbox behind a flag, for FR-001 and FR-002, decides the date, [acme/api#57](…)`"""
    facts = (
        f"for {listed(requirements)}" if requirements else "",
        "decides the date" if is_critical else "",
        f"[{issue_name(issue)}]({issue})" if issue else "",
    )
    return ", ".join(filter(None, (title, *facts)))


def test(id: str) -> str:
    return f"test {id}"


def file(path: str, change: str, reason: str, requirements: Sequence[str]) -> str:
    """`sync/merge.py (modify): keeps both values, for FR-002`"""
    what = f"{path} ({change})" if change and change != "none" else path
    why = ", ".join(filter(None, (reason, f"for {listed(requirements)}" if requirements else "")))
    return f"{what}: {why}" if why else what
