"""What a preflight found, as a table for people and as rows for scripts."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from bot.domain.text import counted
from bot.errors import BotError

MARKS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}


class Problem(NamedTuple):
    """`stops` says that `run` would not start, or not work. Most codes are the taxonomy's; some things have none."""

    text: str
    code: str = ""
    stops: bool = False


class Finding(NamedTuple):
    name: str
    found: str
    problems: tuple[Problem, ...] = ()

    @property
    def stops(self) -> bool:
        return any(problem.stops for problem in self.problems)

    @property
    def status(self) -> str:
        return "fail" if self.stops else "warn" if self.problems else "ok"


def unusable(name: str, error: BotError | str) -> Finding:
    return Finding(name, "", (Problem(str(error), stops=True),))


def as_rows(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "status": one.status,
            "found": one.found,
            "problems": [problem._asdict() for problem in one.problems],
        }
        for one in findings
    ]


def as_text(findings: Iterable[Finding]) -> str:
    lines = [line for one in findings for line in _lines(one)]
    stops = sum(problem.stops for one in findings for problem in one.problems)
    verdict = f"{counted(stops, 'problem')} would stop `roundtable run`." if stops else "Ready to run."
    return "\n".join((*lines, "", verdict))


def _lines(finding: Finding) -> Iterator[str]:
    """What cannot be used at all has its reason on the first line."""
    told = finding.problems if finding.found else finding.problems[1:]
    yield f"{MARKS[finding.status]:<5} {finding.name:<10} {finding.found or finding.problems[0].text}"
    width = max((len(problem.code) for problem in told), default=0)
    for problem in told:
        gap = "  " if width else ""
        yield f"{'!' if problem.stops else '-':>7} {problem.code:<{width}}{gap}{problem.text}"
