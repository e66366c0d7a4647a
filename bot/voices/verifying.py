"""
A second model reads every claim beside its sources, without the persona and its discussion, and says whether they
support it. Its quotes must stand in the sources. What it denies is dropped and counted; what is supported in part is
marked. When it gives no answer, nothing changes, and the record says so.
"""

import logging
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from bot.domain.catalog.schema import Kind, Schema
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.discussion.synthesis import Insight, Synthesis
from bot.domain.specification.checks import main_field
from bot.domain.specification.claim_check import is_clause
from bot.domain.specification.entries import Patch, Specification
from bot.domain.values.text import one_line
from bot.engine.ports import NO_FACTS, Facts
from bot.errors import VoiceError
from bot.voices.answers import rows_in
from bot.voices.model import LanguageModel, Prompt, facts_of
from bot.voices.prompts import schemas
from bot.voices.prompts.fencing import fenced, sealed
from bot.voices.prompts.seen import sanitized
from bot.voices.prompts.texts import filled

log = logging.getLogger(__name__)

SECONDS, TOKENS = 60.0, 2_000
SOURCE_CHARS = 4_000
QUOTE_CHARS = 160
DENIED = "another model found nothing in its sources that says it"


class Support(StrEnum):
    YES = "yes"
    PARTLY = "partly"
    NO = "no"


class SourcedClaim(NamedTuple):
    """A claim, and the texts that it names."""

    text: str
    sources: tuple[str, ...]


class SupportFound(NamedTuple):
    """*quote* is the sentence of a source that supports the claim."""

    support: Support
    quote: str = ""

    @property
    def mark(self) -> str:
        """Of what is supported in part, for people."""
        return (
            f"the source says only: “{one_line(self.quote, QUOTE_CHARS)}”"
            if self.support is Support.PARTLY
            else ""
        )


class Verifier:
    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def proposals(
        self, patches: Sequence[Patch], texts: Mapping[str, str], schema: Schema, known: Specification
    ) -> tuple[tuple[Patch, ...], Facts]:
        """*texts* are those of the sources, by their ids."""
        fields = [main_field(one, _kind_of(one, schema, known)) for one in patches]
        claims = [
            SourcedClaim(str(one.set.get(field, "")), tuple(texts[id] for id in one.sources if id in texts))
            for one, field in zip(patches, fields, strict=True)
        ]
        judged, facts = await self._judged(claims)
        kept = tuple(
            one.but(unverified={**one.unverified, field: found.mark}) if found and found.mark else one
            for one, field, found in zip(patches, fields, judged, strict=True)
            if not found or found.support is not Support.NO
        )
        return kept, _with_dropped(facts, claims, judged)

    async def synthesis(self, given: Synthesis, debate: Elaboration) -> tuple[Synthesis, Facts]:
        """Insights that name turns are checked; the others are marked as assumptions anyway."""
        texts = {turn.id: f"{turn.name}: {turn.text}" for turn in debate.turns}
        cited = [one for one in given.insights if any(turn in texts for turn in one.turns)]
        claims = [
            SourcedClaim(one.text, tuple(texts[id] for id in one.turns if id in texts)) for one in cited
        ]
        judged, facts = await self._judged(claims)
        verdicts = dict(zip(map(id, cited), judged, strict=True))
        kept = [
            _marked(one, verdicts.get(id(one)))
            for one in given.insights
            if not (found := verdicts.get(id(one))) or found.support is not Support.NO
        ]
        return given.but(insights=tuple(kept)), _with_dropped(facts, claims, judged)

    async def _judged(self, claims: Sequence[SourcedClaim]) -> tuple[list[SupportFound | None], Facts]:
        """None for a claim that the model says nothing of."""
        if not claims:
            return [], NO_FACTS
        try:
            thought = await self._model.think(prompt(claims), seconds=SECONDS, tokens=TOKENS)
        except VoiceError as error:
            log.warning("claims are not checked by another model: %s (%s)", error, error.reason)
            return [None] * len(claims), {"verifier": {"failed": error.reason or "unknown"}}
        judged = _read(thought.text, claims)
        counts = {
            one.value: sum(found is not None and found.support is one for found in judged) for one in Support
        }
        told = {**facts_of([thought.usage]), **counts, "no_answer": judged.count(None)}
        return judged, {"verifier": told}


def prompt(claims: Sequence[SourcedClaim]) -> Prompt:
    shown = "\n\n".join(_shown(number, one) for number, one in enumerate(claims, start=1))
    schema = schemas.support(Support)
    return sealed((), filled("verify", claims=shown, answer=schema.words), seed="verify")._replace(
        schema=schema
    )


def _kind_of(patch: Patch, schema: Schema, known: Specification) -> Kind | None:
    entry = known.entries.get(patch.id)
    return schema.kinds.get(entry.kind if entry else patch.kind)


def _marked(one: Insight, found: SupportFound | None) -> Insight:
    return one.but(agreed=found.support is Support.YES, unverified=found.mark) if found else one


def _with_dropped(
    facts: Facts, claims: Sequence[SourcedClaim], judged: Sequence[SupportFound | None]
) -> Facts:
    dropped = [
        {"what": one_line(one.text, 200), "why": DENIED}
        for one, found in zip(claims, judged, strict=True)
        if found and found.support is Support.NO
    ]
    return {**facts, "dropped": dropped} if dropped else facts


def _shown(number: int, claim: SourcedClaim) -> str:
    sources = "\n".join(
        fenced(f"claim {number}, source {place}", sanitized(text)[:SOURCE_CHARS])
        for place, text in enumerate(claim.sources, start=1)
    )
    return f"{fenced(f'claim {number}', sanitized(claim.text))}\n{sources}"


def _read(answer: str, claims: Sequence[SourcedClaim]) -> list[SupportFound | None]:
    given = rows_in(sanitized(answer), "claims")
    found: list[SupportFound | None] = [None] * len(claims)
    for one in given or ():
        if (
            isinstance(one, Mapping)
            and isinstance(number := one.get("claim"), int)
            and 0 < number <= len(claims)
        ):
            found[number - 1] = _judgement(one, claims[number - 1])
    return found


def _judgement(one: Mapping[str, Any], claim: SourcedClaim) -> SupportFound | None:
    """A yes whose quote is not in the sources is no answer: the model made the sentence up."""
    said = str(one.get("supported", "")).strip().casefold()
    if said not in set(Support):
        return None
    support, quote = Support(said), str(one.get("quote") or "")
    if support is Support.NO:
        return SupportFound(support)
    return SupportFound(support, quote) if any(is_clause(quote, one) for one in claim.sources) else None


def merged(first: Facts, second: Facts) -> Facts:
    """Of the model that spoke and of the one that checked: each has its own tokens, what was dropped is one list."""
    dropped = [*first.get("dropped", ()), *second.get("dropped", ())]
    return {**first, **second, **({"dropped": dropped} if dropped else {})}
