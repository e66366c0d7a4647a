"""
A second model reads every claim beside its sources, without the persona and its discussion, and says whether they
support it. Its quotes must be whole clauses of the sources. It drops nothing: other words than those of a quote that it
does not confirm are marked, also when it gives no answer, or there is none.
"""

import logging
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, assert_never

from bot.domain.catalog.schema import Schema
from bot.domain.specification import checks
from bot.domain.specification.claim_check import NOT_CONFIRMED, is_clause
from bot.domain.specification.entries import Patch, Specification
from bot.domain.values.text import one_line, value_text
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
        """For people, of what is not supported as a whole."""
        match self.support:
            case Support.YES:
                return ""
            case Support.PARTLY:
                return f"the source says only: “{one_line(self.quote, QUOTE_CHARS)}”"
            case Support.NO:
                return DENIED
            case _:
                assert_never(self.support)


class Verifier:
    """Without a *model* nothing is confirmed."""

    def __init__(self, model: LanguageModel | None = None) -> None:
        self._model = model

    async def proposals(
        self, patches: Sequence[Patch], texts: Mapping[str, str], schema: Schema, known: Specification
    ) -> tuple[tuple[Patch, ...], Facts]:
        """Each value in other words than those of its quotes. *texts* are those of the sources, by their ids."""
        asked = [
            (place, field)
            for place, one in enumerate(patches)
            for field in checks.reworded_fields(one, schema, known.entries)
        ]
        judged, facts = await self._judged(
            [_claim_of(patches[place], field, texts) for place, field in asked]
        )
        kept = list(patches)
        for (place, field), found in zip(asked, judged, strict=True):
            if why := found.mark if found else NOT_CONFIRMED:
                one = kept[place]
                kept[place] = one.but(unverified={**one.unverified, field: why})
        return tuple(kept), facts

    async def _judged(self, claims: Sequence[SourcedClaim]) -> tuple[list[SupportFound | None], Facts]:
        """None for a claim that the model says nothing of."""
        if not claims or self._model is None:
            return [None] * len(claims), NO_FACTS
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


def _claim_of(patch: Patch, field: str, texts: Mapping[str, str]) -> SourcedClaim:
    quoted = dict.fromkeys(one.line for one in patch.quotes.get(field, ()))
    return SourcedClaim(value_text(patch.set[field]), tuple(texts[one] for one in quoted if one in texts))


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
