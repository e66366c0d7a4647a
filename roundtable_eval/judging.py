"""A model that prefers one of two records without knowing whose they are. It is shown, and decides nothing."""

import re
from collections.abc import Iterable, Sequence

from bot.domain.catalog.personas import ModelName
from bot.errors import ConfigError
from roundtable_eval.people import Ask
from roundtable_eval.scoring import Record, StatementKind

HOSTS = frozenset({"bedrock", "ollama", "vllm"})
"""Providers that serve models of several families."""
FAMILY = re.compile("[a-z]{3,}")
NOTHING = "(nothing)"
TASK = (
    "Two records of a meeting, each with what was said in it. Which record serves people better who were not there? "
    "Prefer what is true, complete and names who said it. Give nothing but a JSON object: "
    '{"better": "first"}, {"better": "second"} or {"better": "neither"}'
)
VERDICTS = {("first", "second"): 1, ("second", "first"): -1}


async def preferred(ask: Ask, said: tuple[str, str], records: tuple[Record, Record]) -> int:
    """1 for the first of *records*, -1 for the second; 0 when the preference turns with the order."""
    ours, theirs = (f"{lines}\n\nRecord:\n{_told(one)}" for lines, one in zip(said, records, strict=True))
    found = [
        str((await ask(TASK, {"first": first, "second": second})).get("better"))
        for first, second in ((ours, theirs), (theirs, ours))
    ]
    return VERDICTS.get((found[0], found[1]), 0)


def _told(record: Record) -> str:
    rows = [
        f"- {one.kind}: {one.text}{f' ({one.by})' if one.by else ''}{' (unchecked)' if one.unchecked else ''}"
        for one in record
        if one.kind is not StatementKind.SENTENCE
    ]
    return "\n".join(rows) or NOTHING


def refuse_relatives(judges: Iterable[ModelName], others: Sequence[ModelName]) -> None:
    """Raises ConfigError where one of *judges* is of the family of a model whose records it would see."""
    for one in judges:
        for other in others:
            if _families(one) & _families(other):
                raise ConfigError(
                    f"--judge: {one} is of the same family as {other}; it has to be of another."
                )


def _families(name: ModelName) -> set[str]:
    """The vendor, and how the names of its models begin: `bedrock:us.anthropic.claude-4` has both in its name."""
    parts = name.name.casefold().rpartition("/")[2].split(".")
    vendor = set() if name.provider in HOSTS else {name.provider.partition("-")[0]}
    return vendor | {found[0] for part in parts if (found := FAMILY.match(part))}
