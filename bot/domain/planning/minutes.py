"""
`planning/meeting.md`: what was asked, answered, judged and decided, for people who were not there.

The transcript has every word; this has what came of them.
"""

from collections.abc import Iterator, Mapping

from bot.domain.planning.projections import harmless
from bot.domain.planning.verdict import Verdict
from bot.domain.planning.workshop import FIRST_READING, Question, Workshop
from bot.domain.text import counted

NOBODY = "somebody"
SAYS = {True: "yes", False: "no", None: "cannot say yet"}


def minutes(ws: Workshop, names: Mapping[str, str]) -> str:
    """*names* are what people are called, by id."""
    parts = [
        f"# Planning: {harmless(ws.title)}",
        f"> {harmless(ws.brief)}",
        f"Version {ws.version}, {counted(ws.round, 'round')}, {counted(ws.sessions, 'session')} of questions.",
        _section("Lessons from the version before", (f"- {harmless(one)}" for one in ws.lessons)),
        _section("Questions", (_question(one, names) for one in ws.questions)),
        _section("Also said", (f"- {_name(one.person, names)}: {harmless(one.text)}" for one in ws.remarks)),
        *(_round(ws, number) for number in range(FIRST_READING, ws.round + 1)),
        _section("Proposal", _proposal(ws)),
        _section("Decision", _decision(ws, names)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(title: str, rows: Iterator[str]) -> str:
    body = "\n".join(rows)
    return f"## {title}\n\n{body}" if body else ""


def _question(one: Question, names: Mapping[str, str]) -> str:
    asked = f"- **{one.id}** {harmless(one.text)} ({', '.join(map(harmless, one.by))})"
    if one.answered:
        return f"{asked}\n  - {_name(one.person, names)}: {harmless(one.answer)}"
    return f"{asked}\n  - {'_passed_' if one.passed else '_not put to anybody_'}"


def _round(ws: Workshop, number: int) -> str:
    title = "First reading" if number == FIRST_READING else f"Round {number}"
    rows = (row for role, verdict in ws.verdicts_of(number).items() for row in _verdict(role, verdict))
    return _section(title, rows)


def _verdict(role: str, verdict: Verdict) -> Iterator[str]:
    sure = "" if verdict.confidence is None else f", confidence {verdict.confidence:.2f}"
    yield f"- **{harmless(role)}** {SAYS[verdict.ok]}{sure}"
    yield from (f"  - {harmless(reason)}" for reason in verdict.reasons)
    yield from (f"  - Suggests: {harmless(one)}" for one in verdict.suggestions)
    yield from (f"  - Asks: {harmless(one)}" for one in verdict.blocking_questions)


def _proposal(ws: Workshop) -> Iterator[str]:
    if ws.proposal:
        yield f"- **{ws.proposal.decision}**, with {ws.proposal.coverage:.0%} of the roles in agreement"
        yield from (f"  - {harmless(reason)}" for reason in ws.proposal.reasons)


def _decision(ws: Workshop, names: Mapping[str, str]) -> Iterator[str]:
    if ws.chosen:
        against = f", against the proposal to {ws.chosen.proposed}" if ws.chosen.against else ""
        yield f"- **{ws.chosen.decision}** by {_name(ws.chosen.person, names)}{against}"
        yield from ([f"  - {harmless(ws.chosen.reason)}"] if ws.chosen.reason else [])


def _name(person: str, names: Mapping[str, str]) -> str:
    return harmless(names.get(person) or person) or NOBODY
