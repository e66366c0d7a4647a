"""
The roles that a plan is looked at by: what each of them needs to know, and the verdicts that people give for them.

A role's name is the `lane` of a need in `entries.yaml`, and an `actor` in transcripts of earlier versions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from bot.domain.catalog.schema import Need, Schema
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.specification.claims import Entry
from bot.domain.specification.coverage import CoverageGap, GapKind, coverage
from bot.domain.specification.entries import Specification
from bot.domain.values.value import Value

APPROVAL, ROLE, VERDICT = "approval", "role", "verdict"
GROUNDS = ("condition", "reason")
CONTESTED = "people differ"
GO, SKIPPED = "go", "skipped"
SETTLING = frozenset({GO, SKIPPED})
"""A role whose verdict is one of these asks no more."""

_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")


class RoleQuestion(Value):
    """
    A need of a *role* as a question, and the *form* that an answer may have. Its number is the place of the need, so
    that it stays the same; without *gaps* it is answered, or there is nothing to ask yet.
    """

    number: int
    role: str
    ask: str
    form: str
    gaps: tuple[CoverageGap, ...] = ()

    @property
    def text(self) -> str:
        return f"{title_of(self.role)}: {self.ask}"

    @property
    def asked(self) -> str:
        return f"{self.text} (`{self.form}`)"


def title_of(role: str) -> str:
    """As people say it: Test Planner."""
    return _INSIDE.sub(" ", role)


def roles_of(schema: Schema, step_id: str) -> tuple[str, ...]:
    """In the order in which `entries.yaml` names them as verdicts, then those that only have needs."""
    kind = schema.kinds.get(APPROVAL)
    named = kind.fields[ROLE].of if kind and ROLE in kind.fields else ()
    return tuple(dict.fromkeys((*named, *(need.lane for need in _needs(schema, step_id)))))


def questions(schema: Schema, specification: Specification, step_id: str) -> tuple[RoleQuestion, ...]:
    """Of all roles. One that people say go for, or skip, has no more gaps."""
    settled = {role for role, one in approvals(specification).items() if verdict_of(one) in SETTLING}
    gaps = coverage(schema, specification, [step_id], proposed=False)
    missing = [gap for gap in gaps if gap.kind is GapKind.MISSING and gap.lane not in settled]
    return tuple(
        _question(number, need, schema, missing)
        for number, need in enumerate(_needs(schema, step_id), start=1)
    )


def _question(number: int, need: Need, schema: Schema, missing: Iterable[CoverageGap]) -> RoleQuestion:
    gaps = tuple(
        gap for gap in missing if gap.lane == need.lane and gap.ask == need.ask.replace("{id}", gap.id)
    )
    ask = gaps[0].ask if gaps else need.ask
    return RoleQuestion(number=number, role=need.lane, ask=ask, form=_form(need, gaps, schema), gaps=gaps)


def _form(need: Need, gaps: tuple[CoverageGap, ...], schema: Schema) -> str:
    """What an answer may begin with: `risk: …`, `RSK-001 mitigation: …`."""
    kind = schema.kinds.get(need.of) or schema.kinds.get(need.has)
    label = next(iter(kind.labels), kind.key) if kind else f"{gaps[0].id if gaps else 'ID'} {need.has}"
    return f"{label}: …"


def _needs(schema: Schema, step_id: str) -> Iterator[Need]:
    for view in schema.of_step(step_id):
        yield from view.needs


# --- verdicts ---------------------------------------------------------------------------------------------------------


def approvals(specification: Specification) -> Mapping[str, Entry]:
    """The verdict that people gave for each role."""
    given = specification.accepted(APPROVAL)
    return {str(one[ROLE]): one for one in given if one[ROLE]}


def verdict_of(entry: Entry) -> str:
    """Empty while people differ about it."""
    return "" if entry.contested(VERDICT) else str(entry[VERDICT])


def verdict_in_words(entry: Entry) -> str:
    """`go; a load test first (said by Grace)`"""
    said = "; ".join((verdict_of(entry) or CONTESTED, *grounds(entry).values()))
    return f"{said} ({attribution_of(entry, VERDICT)})"


def grounds(entry: Entry) -> Mapping[str, str]:
    """Condition and reason of a verdict, as far as they were not given with an earlier one."""
    verdict, found = entry.claim(VERDICT), {name: entry.claim(name) for name in GROUNDS}
    since = verdict.at if verdict else 0
    return {name: str(claim.value) for name, claim in found.items() if claim and claim.at >= since}
