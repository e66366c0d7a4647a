"""A trace for people and for other programs: text, the comment of a pull request, SARIF, commands of GitHub Actions."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from bot.domain.messages.entry_wording import unsealed
from bot.domain.values.text import counted, one_line
from bot.integrations.trace import REQUIREMENT, FindingLevel, Rule, Trace, TracedEntry, TraceFinding

ENTRY_CHARS = 100
PLACE_CHARS = 200
MESSAGE_CHARS = 1_000
ROWS = 20
"""Of each part of the comment."""
COMMENT = "<!-- roundtable-trace -->"
"""The first line of the comment, by which it is found again."""
TITLES: Mapping[Rule, str] = {
    Rule.UNKNOWN_ID: "Cites an entry that does not exist",
    Rule.WITHDRAWN_CITED: "Cites an entry that was taken back",
    Rule.STALE: "The entry changed after the work that cites it",
    Rule.UNTESTED: "Agreed, and no test names it",
    Rule.BARE_ID: "Could be an entry of several items",
}
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_TICKS = re.compile("`+")
_BEGINS_COMMAND = re.compile(r"^([^\S\r\n]*)::", re.MULTILINE)
_LINK = re.compile(r"https?://[A-Za-z0-9./?=&:_-]+")


def as_text(found: Trace, shown: Collection[TraceFinding], *, old: int = 0) -> Iterator[str]:
    """A row for each requirement with its gaps below it, then the findings *shown*. *old* ones are in the baseline."""
    for entry in found.entries:
        if entry.kind == REQUIREMENT:
            yield f"{entry.level.value:<8} {entry.address} {one_line(entry.text, ENTRY_CHARS)}"
            yield from (f"{'':<8}   no test names {id}" for id in entry.gaps)
    if not any(one.kind == REQUIREMENT for one in found.entries):
        yield "No requirement is accepted yet."
    if shown:
        yield ""
    yield from (finding_as_text(one) for one in shown)
    yield ""
    known = f", {counted(old, 'older one')} in the baseline" if old else ""
    yield f"{counted(len(shown), 'finding')}{known}."
    if count := found.proposed:
        yield f"{counted(count, 'entry', 'entries')} {_are(count, 'proposed')} not traced."
    if count := found.private:
        yield f"{counted(count, 'item')} {_are(count, 'private')} not traced. What --items names is."
    if found.unsealed:
        yield unsealed(found.unsealed)


def _are(count: int, what: str) -> str:
    return f"is {what} and was" if count == 1 else f"are {what} and were"


def finding_as_text(one: TraceFinding) -> str:
    return f"{one.level.value}: {_told(one)} [{one.rule.value}]"


def _told(one: TraceFinding) -> str:
    place = f"{one.path}:{one.line}" if one.path and one.line else one.path
    where = f"{one_line(place, PLACE_CHARS)}: " if place else ""
    return f"{where}{one_line(one.message, MESSAGE_CHARS)}"


def sarif(findings: Iterable[TraceFinding], *, version: str, record: str) -> dict[str, Any]:
    """SARIF 2.1.0. GitHub shows only what has a place: *record* is the file of what has none, `{}` in it the item."""
    rules = [{"id": rule.value, "shortDescription": {"text": TITLES[rule]}} for rule in Rule]
    driver = {"name": "roundtable", "version": version, "rules": rules}
    results = [_result(one, record) for one in findings]
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(one: TraceFinding, record: str) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": quote(one.path or record.format(one.address.partition("/")[0]))},
        "region": {"startLine": one.line or 1},
    }
    return {
        "ruleId": one.rule.value,
        "ruleIndex": list(Rule).index(one.rule),
        "level": one.level.value,
        "message": {"text": one.message},
        "partialFingerprints": {"roundtableTrace/v1": "|".join(one.known_as.model_dump().values())},
        "locations": [{"physicalLocation": place}],
    }


def actions_commands(findings: Iterable[TraceFinding]) -> Iterator[str]:
    """Workflow commands, which GitHub Actions shows beside the code."""
    names = {FindingLevel.ERROR: "error", FindingLevel.WARNING: "warning", FindingLevel.NOTE: "notice"}
    for one in findings:
        facts = {"file": one.path, "line": str(one.line or ""), "title": TITLES[one.rule]}
        inert = {name: _data(value).replace(":", "%3A").replace(",", "%2C") for name, value in facts.items()}
        told = ",".join(f"{name}={value}" for name, value in inert.items() if value)
        yield f"::{names[one.level]} {told}::{_data(one.message)}"


def without_commands(text: str) -> str:
    """
    *text*, also JSON, in which GitHub Actions finds no command: an old `##[…]` counts anywhere in a line, and `::…::`
    only at its beginning.
    """
    return _BEGINS_COMMAND.sub(r"\1:\:", text.replace("##[", r"##\u005b"))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def comment(touched: Sequence[TracedEntry], new: Sequence[TraceFinding], *, unsealed_lines: int = 0) -> str:
    """Of a pull request: the entries that it touches, and what is new."""
    rows = [f"- `{one.address}` ({one.level.value}) {_entry(one)}" for one in touched]
    gaps = [f"- **{one.level.value}** {_code(_told(one))}" for one in new]
    parts = [
        COMMENT,
        "**What this change touches of what was agreed**",
        "",
        *_first(rows, "Nothing that was agreed is cited here."),
        "",
        "**New findings**",
        "",
        *_first(gaps, "None."),
        *(("", unsealed(unsealed_lines)) if unsealed_lines else ()),
    ]
    return "\n".join(parts) + "\n"


def _first(rows: Sequence[str], none: str) -> list[str]:
    more = len(rows) - ROWS
    return [*rows[:ROWS], *([f"- and {more} more"] if more > 0 else [])] if rows else [none]


def _entry(one: TracedEntry) -> str:
    said = f", {_code(one.said)}" if one.said else ""
    link = f" ([in Slack]({one.link}))" if _LINK.fullmatch(one.link) else ""
    return f"{_code(one_line(one.text, ENTRY_CHARS))}{said}{link}"


def _code(text: str) -> str:
    """*text* of others as code: there GitHub reads no mention, no link, no closing word and no HTML."""
    line = one_line(text, MESSAGE_CHARS)
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    return f"{ticks} {line} {ticks}" if len(ticks) > 1 else f"`{line}`"
