"""
What redaction finds, what it hides by mistake, and how long it takes.

Recall is measured on the examples that gitleaks has for its own rules, when GITLEAKS is the path of a checkout of it,
and on made-up tokens of every form that we know otherwise; its rule for anything random after a name is not ours, and
is left out. What is hidden of the prose and code in this repository and in Python's library is a mistake, all of it.
The floor of the time is to split each line into words.
"""

import hashlib
import os
import random
import re
import sysconfig
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time

from bench.children import ROOT
from bench.gitleaks import SEED, Example, examples
from bench.harness import Figures, Goal, Plan, Row, Run, main, share
from bot.domain.privacy.redaction import Redactor
from bot.domain.privacy.rules import FORMATS

LINES, QUICK_LINES = 40_000, 1_000
RECALL = 0.9
ONE_IN = 2_000
GENERIC = "generic-api-key"
FOLDERS = ("docs", "personas", "analysis-steps", "bot")
WORDS = "splitting each line into words"


async def measure(plan: Plan) -> list[Row]:
    redact = Redactor()
    lines = prose_and_code(plan.size(LINES, QUICK_LINES))
    wrong = sum(bool(redact(line).kinds) for line in lines)
    timed = await plan.compare(
        f"redaction of {len(lines):,} lines",
        floor_is=WORDS,
        floor=speed(re.compile(r"\w+").findall, lines),
        ours=speed(redact, lines),
        goals={"time": Goal()},
        unit="µs a line",
    )
    return [*recall(redact), mistakes(wrong, len(lines)), *timed]


def mistakes(wrong: int, number: int) -> Row:
    between = number / wrong if wrong else max(number, ONE_IN)
    what, goal = f"lines for each one with a mistake ({wrong} in {number:,})", Goal(at_least=1)
    return share(what, "lines", "", f"{ONE_IN:,}", ours=between, floor=ONE_IN, goal=goal)


def recall(redact: Redactor) -> list[Row]:
    checkout = os.environ.get("GITLEAKS")
    what = "gitleaks' examples" if checkout else "tokens of known forms"
    given = [one for one in examples(Path(checkout)) if one.rule != GENERIC] if checkout else made_up()
    found = [is_found(redact, one) for one in given]
    secrets: defaultdict[str, list[bool]] = defaultdict(list)
    for one, is_one in zip(given, found, strict=True):
        secrets[one.secret or one.text].append(is_one)
    whole = sum(sum(each) / len(each) for each in secrets.values())
    goal = Goal(at_least=RECALL)
    return [
        share(f"{what} found", "lines", "", "all", ours=sum(found), floor=len(found), goal=goal),
        share(f"{what} found", "secrets", "", "all", ours=whole, floor=len(secrets), goal=goal),
    ]


def is_found(redact: Redactor, one: Example) -> bool:
    text, kinds = redact(one.text)
    return bool(kinds) and (not one.secret or one.secret not in text)


def made_up() -> list[Example]:
    """A run of what may follow each beginning, as short as it may be; of the forms that are such a run."""
    chance = random.Random(SEED)  # noqa: S311 -- examples, the same each time
    found = []
    for form in FORMATS:
        if re.fullmatch(r"\[[^\]]+\]\{\d+,\}\+", form.rest):
            of, least = form.rest.split("]{")
            letters = [one for one in map(chr, range(128)) if re.fullmatch(of + "]", one)]
            number = int(least.rstrip(",}+"))
            tokens = (one + "".join(chance.choices(letters, k=number)) for one in form.beginnings)
            found += [Example(form.kind, f'token: "{token}"', token) for token in tokens]
    return found


def prose_and_code(number: int) -> list[str]:
    """One half from here, the other from Python's library."""
    library = Path(sysconfig.get_paths()["stdlib"])
    theirs = [path for path in library.rglob("*.py") if not {"site-packages", "test"} & set(path.parts)]
    ours = [path for name in FOLDERS for path in (ROOT / name).rglob("*") if path.suffix in {".py", ".md"}]
    found: list[str] = []
    for files, enough in ((ours, number // 2), (theirs, number)):
        for path in sorted(files, key=lambda path: hashlib.sha256(path.name.encode()).digest()):
            if len(found) < enough:
                rows = path.read_text("utf-8", "replace").splitlines()
                found += [row for row in rows if row.strip()][: enough - len(found)]
    return found


def speed(work: Callable[[str], object], lines: Iterable[str]) -> Run:
    """By the processor's time."""
    rows = list(lines)

    async def run() -> Figures:
        began = process_time()
        for row in rows:
            work(row)
        return {"time": (process_time() - began) / len(rows) * 1e6}

    return run


if __name__ == "__main__":
    main("secrets", measure)
