"""
The transition table of docs/architecture.md, generated from `bot/domain/roundtable/machine.py`.

Without an argument it replaces the block between the markers; with `--print` it only prints the block.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bot.domain.actions.table import ACTIONS  # noqa: E402
from bot.domain.roundtable.machine import ANYTIME, TIMED, TRANSITIONS  # noqa: E402
from bot.domain.roundtable.stage import Stage  # noqa: E402

PAGE = ROOT / "docs/architecture.md"
BEGIN = "<!-- transitions: begin (written by scripts/transitions) -->"
END = "<!-- transitions: end -->"


def block() -> str:
    """The tables, in the order of the stages and of the code."""
    by_stage = sorted(TRANSITIONS.items(), key=lambda row: list(Stage).index(row[0][0]))
    stages = ((stage.name, given.__name__, name_of(function)) for (stage, given), function in by_stage)
    anytime = (("any", given.__name__, name_of(function)) for given, function in ANYTIME.items())
    presses = ((action.name, str(action.do)) for action in ACTIONS if action.do)
    timed = ((name.value, name_of(function)) for name, function in TIMED.items())
    return "\n".join([
        *table(("Stage", "Input", "Transition"), [*stages, *anytime]),
        "",
        "A `Press` is looked up by its button in every stage; the open menu has to offer that button.",
        "",
        *table(("Button", "Transition"), presses),
        "",
        "A `TimeCame` is looked up by the name of its timer in every stage.",
        "",
        *table(("Timer", "Transition"), timed),
    ])  # fmt: skip


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(f'`{cell}`' for cell in row)} |"


def name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def replaced(page: str) -> str:
    """*page* with the block as the code is now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE.name} lacks the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{block()}\n\n{END}{after}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="scripts/transitions", description=__doc__)
    parser.add_argument("--print", action="store_true", help="only print the tables")
    if parser.parse_args(arguments).print:
        print(block())
    else:
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
