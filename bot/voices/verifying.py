"""
The review of a draft by another model, which sees neither the persona nor its prompt.

It says of every value whether its sources support it, with whole clauses of them. It drops nothing: what it does not
confirm stays unchecked, also when it gives no answer, or there is none. It objects with the words of a line.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.roundtable.effects import ReviewDraft
from bot.domain.roundtable.outcomes import (
    ClaimVerdict,
    Contradiction,
    DraftQuestion,
    DraftReview,
    ReviewObjection,
)
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification import checks
from bot.domain.specification.claim_check import Root, is_clause, stands_in
from bot.domain.specification.claims import Claim, Quote
from bot.domain.specification.entries import unconfirmed
from bot.domain.values.json_files import objects_in
from bot.domain.values.text import one_line, value_text
from bot.errors import VoiceError
from bot.voices.answers import quotes_in, rows_in
from bot.voices.model import Prompt
from bot.voices.prompts import schemas
from bot.voices.prompts.digest import NOTHING, PEOPLE, QuotedTurn, told
from bot.voices.prompts.fencing import FENCE, fenced, named, sanitized, sealed, text_row
from bot.voices.prompts.specification import lines_of
from bot.voices.prompts.texts import filled, part_of
from bot.voices.session import ModelSession
from bot.voices.sources import ProseCheck, roots_to_read

MOST_CLAIMS = 40
MOST_CONTRADICTIONS = 5
SOURCE_CHARS = 4_000
ENTRIES_CHARS = 20_000
QUOTE_CHARS = 160
SENTENCE_CHARS = 300
DENIED = "another model found nothing in its sources that says it"
NO_VERDICT = "another model gave no words of its sources that say it"


class Support(StrEnum):
    YES = "yes"
    PARTLY = "partly"
    NO = "no"


class SourcedClaim(NamedTuple):
    """A claim, and what it quotes, by the ids of the lines."""

    text: str
    sources: Mapping[str, Root]


async def review(rt: Roundtable, playbook: Playbook, session: ModelSession) -> DraftReview:
    """Of all values that wait for it, and of what is recorded. Raises VoiceError, also for an answer without a form."""
    waiting = list(unconfirmed(rt.specification))[:MOST_CLAIMS]
    spec = rt.specification
    heard = checks.roots_heard(spec)
    roots = checks.roots_in(spec) | heard
    discussed = (line for work in rt.outbox if isinstance(work, ReviewDraft) for line in work.said)
    people = {line: heard[line] for line in discussed if line in heard}
    people |= roots_to_read(rt)
    claims = [_claim_of(claim, roots) for _, _, claim in waiting]
    lines = [
        QuotedTurn(f"[{line}] {named(one.speaker)}", one.text, human=True) for line, one in people.items()
    ]
    asked = prompt(
        claims,
        entries=lines_of(playbook.schema, spec, step_id=rt.step_id, room=ENTRIES_CHARS),
        lines=told(lines, PEOPLE),
        seed=f"review/{rt.slug}/{rt.incarnation}",
    )
    given = await session.ask(asked, read_answer)
    verdicts = (
        ClaimVerdict(id=entry.id, field=field, at=claim.at, why=why)
        for (entry, field, claim), why in zip(waiting, verdicts_in(given, claims), strict=True)
    )
    check = checks.check_for(playbook, rt.people.values())
    said = {id: root for claim in claims for id, root in claim.sources.items()} | people
    known = {id: Root("", checks.text_of_entry(one)) for id, one in spec.entries.items()} | heard
    of_said, of_known = (ProseCheck(roots, {}, rt.slug, check) for roots in (said, known))
    return DraftReview(
        verdicts=tuple(verdicts),
        objection=_objection(given.get("objection"), of_said),
        contradictions=tuple(_contradictions(given.get("contradictions"), known, of_known)),
        missing=_missing(given.get("missing"), of_known),
    )


def prompt(claims: Sequence[SourcedClaim], *, entries: str, lines: str, seed: str) -> Prompt:
    """*entries* and *lines* are what is recorded and was said beside the claims, *seed* is that of the markers."""
    rows = "\n\n".join(_render_claim(number, one) for number, one in enumerate(claims, start=1))
    text = filled(
        "review",
        fence=FENCE,
        entries=fenced("entries", entries or NOTHING),
        lines=fenced("people", lines or NOTHING),
        claims=rows or "None.",
        answer=part_of("schemas", "data"),
    )
    return sealed((), text, seed=seed)._replace(schema=schemas.review(Support))


def verdicts_in(given: Mapping[str, Any], claims: Sequence[SourcedClaim]) -> list[str]:
    """For each claim, why it stays unchecked; empty where the sources say all of it."""
    found = [NO_VERDICT] * len(claims)
    for one in rows_in(given.get("verdicts")):
        if isinstance(number := one.get("claim"), int) and 0 < number <= len(claims):
            found[number - 1] = _mark(one, claims[number - 1])
    return found


def _mark(one: Mapping[str, Any], claim: SourcedClaim) -> str:
    """A yes whose words are not in the sources is no answer: the model made them up."""
    said, words = str(one.get("verdict", "")).strip().casefold(), sanitized(str(one.get("words") or ""))
    if said == Support.NO:
        return DENIED
    only = f"the source says only: “{one_line(words, QUOTE_CHARS)}”"
    mark = {Support.YES.value: "", Support.PARTLY.value: only}.get(said, NO_VERDICT)
    texts = [root.text for root in claim.sources.values()]
    is_said = any(is_clause(words, one) and stands_in(words, one) for one in texts)
    return mark if is_said else NO_VERDICT


def _claim_of(claim: Claim, roots: Mapping[str, Root]) -> SourcedClaim:
    """With the whole lines of people and accepted entries; of what a tool showed, the words that were quoted."""
    sources = {one.line: roots[one.line] for one in claim.quotes if one.line in roots}
    for quote in claim.quotes:
        if quote.line not in roots and checks.is_shown(quote.line):
            before = sources.get(quote.line, Root("", ""))
            sources[quote.line] = Root("", f"{before.text}\n{quote.words}".strip())
    return SourcedClaim(value_text(claim.value), sources)


def _objection(given: Any, check: ProseCheck) -> ReviewObjection | None:
    """None without words of a person or of code."""
    text = text_row(given.get("text"), SENTENCE_CHARS) if isinstance(given, Mapping) else ""
    quotes = [one.but(line=one.line.strip("[]")) for one in quotes_in([given])] if text else []
    prose = check.mark_sentences(text, quotes)
    return ReviewObjection(text=prose.text, quotes=prose.quotes) if prose.quotes else None


def _contradictions(given: Any, known: Mapping[str, Root], check: ProseCheck) -> Iterator[Contradiction]:
    """The reason may tell what the two say."""
    for row in rows_in(given)[:MOST_CONTRADICTIONS]:
        one, other = (str(row.get(name) or "").strip("[] ") for name in ("one", "other"))
        if one != other and {one, other} <= {*known}:
            both = [Quote(line=id, words=known[id].text) for id in (one, other)]
            because = check.mark_sentences(text_row(row.get("because"), SENTENCE_CHARS), both).text
            yield Contradiction(one=one, other=other, because=because)


def _missing(given: Any, check: ProseCheck) -> DraftQuestion | None:
    told = given if isinstance(given, Mapping) else {}
    ask, person = (text_row(told.get(one), SENTENCE_CHARS) for one in ("ask", "person"))
    return DraftQuestion(text=check.mark_sentences(ask, ()).text, to=person) if ask else None


def read_answer(text: str) -> Mapping[str, Any]:
    """Raises VoiceError."""
    found = (one for one in objects_in(sanitized(text)) if isinstance(one.get("verdicts"), list))
    if (given := next(found, None)) is None:
        raise VoiceError("The review of the draft could not be read.", reason="unstructured")
    return given


def _render_claim(number: int, claim: SourcedClaim) -> str:
    sources = "\n".join(
        fenced(f"claim {number}, source [{id}]", sanitized(_with_speaker(root))[:SOURCE_CHARS])
        for id, root in claim.sources.items()
    )
    return f"{fenced(f'claim {number}', sanitized(claim.text))}\n{sources}"


def _with_speaker(root: Root) -> str:
    return f"{root.speaker}: {root.text}" if root.speaker else root.text
