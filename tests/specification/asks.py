"""What the answers to the questions of the shipped steps become, and a discussion and a plan beside them."""

from collections.abc import Mapping

from bot.domain.catalog.steps import Ask

_TABLE = """
00-01: estimate.change, estimate.scope, estimate.complexity
00-02: list keyword
00-03: estimate.files, estimate.files_test
01-01: problem, metric, driver
01-02: list user_type, -, list user_type
01-04: list constraint, list constraint, list constraint
01-05: list quality, -, list risk
01-06: list requirement, list criterion, list exclusion
02-01: list file, list file, list file
02-02: list work, list work
02-03: list risk, list risk
03-01: list option
03-02: list technology, list technology
03-04: -, list objection
04-01: list module
04-03: list hop, list state
04-04: list error, -, list rule
04-05: -, list question
"""


def _ask(written: str) -> Ask:
    kind, _, field = written.removeprefix("list ").partition(".")
    return Ask(kind=kind, field=field, is_list=written.startswith("list "))


ASKS: Mapping[str, Mapping[int, Ask]] = {
    step: {n: _ask(one) for n, one in enumerate(told.split(", "), start=1) if one != "-"}
    for step, _, told in (row.partition(": ") for row in _TABLE.strip().splitlines())
}
