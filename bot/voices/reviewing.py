"""The reviewers: a model judges an item's files; without one a review lists gaps, and gives no verdict."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.personas import ModelTask, Persona, Roster
from bot.domain.item.item import DRAFT
from bot.domain.item.item_paths import shared
from bot.domain.reviews import coverage
from bot.domain.reviews.text import Finding, FindingSeverity, Review, ReviewerOpinion
from bot.domain.specification.checks import check_for, roots_in
from bot.domain.specification.citations import CodeCitation
from bot.domain.specification.claim_check import Root
from bot.domain.transcript.lines import QUOTED, UNCHECKED
from bot.domain.values.json_files import objects_in
from bot.engine.review_ports import ReviewCase
from bot.errors import VoiceError
from bot.voices.answers import has_only_misfits, quotes_in, rows_in
from bot.voices.model import Prompt
from bot.voices.prompts import schemas
from bot.voices.prompts.fencing import sanitized, sealed, text_row
from bot.voices.prompts.scene import described, rules
from bot.voices.prompts.shown_files import shown
from bot.voices.prompts.texts import filled, part_of
from bot.voices.session import NO_EFFORTS, CallLimits, Efforts, ModelSession
from bot.voices.sources import MOST_DROPPED, Prose, ProseCheck, dropped
from bot.voices.thinking import MindOf, no_mind
from bot.voices.tools.looking import LookerOf, LookSubject, no_looker

REVIEWING = CallLimits(120.0, 4_000)
TEXT_CHARS = 400
SHOWN_CHARS = 24_000
"""Of all files, in a prompt."""
MOST_FINDINGS = 20
LONGEST_CHARS = 1_000_000
"""Longer files were not written in a meeting, and are not reviewed."""
RULE = "Without a reviewer: these are the gaps that coverage finds. It cannot tell whether the rest is right."
JUDGED = "Reviewed by a model, with the gaps that coverage finds."
INPUTS: Mapping[str, tuple[str, ...]] = {
    "code": ("impact-analysis.md", "quick-scan.md"),
    "standards": ("nfr-matrix.md",),
    "plan": ("planning/plan.md", "requirements-spec.md"),
    "schema": ("interface-spec.md",),
}
"""What a reviewer needs beside the text that is reviewed, and the files of an item that have it."""


class PersonaReviewers:
    """
    *mind_of* gives a persona's model, by its key. Without one the gaps of the steps that it leads are listed, and
    nothing is judged.
    """

    def __init__(
        self, mind_of: MindOf = no_mind, *, looker_of: LookerOf = no_looker, efforts: Efforts = NO_EFFORTS
    ) -> None:
        self._mind_of = mind_of
        self._looker_of = looker_of
        self._efforts = efforts

    async def opinion(self, case: ReviewCase, persona: Persona) -> ReviewerOpinion:
        """Raises VoiceError, so that a failed review is not taken for one without findings."""
        found = await asyncio.to_thread(
            coverage.gaps_by_lead, case.playbook, case.specification, case.steps_completed
        )
        gaps = found.get(persona.key, ())
        opinion = ReviewerOpinion(by=persona.label, lens=persona.lens, gaps=gaps, judged=False)
        mind = self._mind_of(persona.key)
        if mind is None:
            return opinion
        subject = LookSubject(case.slug, case.sight, case.specification, case.title)
        looker = self._looker_of(subject, case.playbook.schema, persona)
        session = ModelSession(mind, REVIEWING, ModelTask.REVIEW, efforts=self._efforts, looker=looker)
        texts = texts_of(case.files)
        prompt = asking_for_findings(case.slug, persona, case.playbook.roster, files=texts)
        given = await session.ask(prompt, _given)
        roots = {name: Root("", text[:SHOWN_CHARS]) for name, text in texts.items()}
        people = {one.name for one in case.specification.heard.values()}
        check = ProseCheck(
            roots | roots_in(case.specification), session.shown, case.slug, check_for(case.playbook, people)
        )
        looked_at = (id for one in session.facts.get("looked_at", ()) for id in one["ids"])
        opinion = opinion.but(judged=True, looked_at=tuple(dict.fromkeys(looked_at)))
        return await asyncio.to_thread(_with_findings, opinion, given, texts, check)

    async def together(
        self, case: ReviewCase, opinions: Iterable[ReviewerOpinion], *, unseen: tuple[str, ...], asked: str
    ) -> Review:
        given = tuple(opinions)
        method = JUDGED if any(one.judged for one in given) else RULE
        return Review(
            title=case.title,
            method=f"{asked} {method}".strip(),
            coverage=await asyncio.to_thread(coverage.summary, case.playbook, case.specification),
            opinions=given,
            missing=tuple(_missing(case)),
            unseen=tuple(filter(None, (*unseen, *_unseen(case, given)))),
        )


def asking_for_findings(name: str, persona: Persona, table: Roster, *, files: Mapping[str, str]) -> Prompt:
    """*name* is the item's; it is the seed of the markers."""
    answer = part_of("schemas", "data")
    moving = filled("findings", most=MOST_FINDINGS, persona=described(persona, table), answer=answer)
    stable = rules(), filled("files", files=shown(files, slug=name, room=SHOWN_CHARS))
    return sealed(stable, moving, seed=f"review/{name}")._replace(schema=schemas.findings())


def texts_of(files: Mapping[str, str]) -> Mapping[str, str]:
    """The files that can be reviewed, by the names that steps use."""
    named = {path.removeprefix("docs/common/"): text for path, text in files.items()}
    return {
        path: text for path, text in sorted(named.items()) if path != DRAFT and len(text) <= LONGEST_CHARS
    }


def _missing(case: ReviewCase) -> Iterator[str]:
    texts = texts_of(case.files)
    for category, paths in INPUTS.items():
        if not any(texts.get(path, "").strip() for path in paths):
            yield f"{category}: there is nothing in {' or '.join(paths)}."


def _unseen(case: ReviewCase, given: Iterable[ReviewerOpinion]) -> Iterator[str]:
    known = {one.by for one in given}
    for persona in case.playbook.roster:
        if persona.label not in known:
            yield f"{persona.label} did not review it, so this was not looked at: {persona.lens}."
    for path, text in sorted(case.files.items()):
        if len(text) > LONGEST_CHARS:
            yield f"{path} is longer than {LONGEST_CHARS} characters, and was not read."
    yield coverage.unfinished(case.playbook, case.steps_completed)


def _given(text: str) -> list[Any]:
    """The list may be empty. Raises VoiceError."""
    found = (one.get("findings") for one in objects_in(sanitized(text)))
    for given in found:
        if isinstance(given, list) and not has_only_misfits(given):
            return given
    raise VoiceError("The review could not be read.", reason="unstructured")


def _with_findings(
    opinion: ReviewerOpinion, given: list[Any], texts: Mapping[str, str], check: ProseCheck
) -> ReviewerOpinion:
    """With the sources that were not shown, and the passages of servers."""
    found, unknown, passages = list[Finding](), dict[str, None](), dict[str, str]()
    for one in rows_in(given)[:MOST_FINDINGS]:
        if not (text := text_row(one.get("text"), TEXT_CHARS)):
            continue
        prose = check.mark_sentences(text, quotes_in([one]))
        unknown |= dict.fromkeys(prose.unknown)
        passages |= prose.facts.get(QUOTED, {})
        if finding := _finding(one, text, prose, texts):
            found.append(finding)
    left_out = (f"{one['what']} ({one['why']})" for one in [*map(dropped, unknown)][:MOST_DROPPED])
    return opinion.but(
        findings=tuple(sorted(found, key=lambda one: one.severity.rank)),
        left_out=tuple(dict.fromkeys(left_out)),
        quoted=passages,
    )


def _finding(given: Mapping[str, Any], text: str, prose: Prose, texts: Mapping[str, str]) -> Finding | None:
    """
    None for a file that was not shown; a finding about the code is where its source is. A line that does not exist
    stands for the whole file.
    """
    file = str(given.get("file"))
    severities = {one.value: one for one in FindingSeverity}
    named = dict.fromkeys(one.line for one in prose.quotes)
    found = Finding(
        severity=severities.get(str(given.get("severity")).casefold(), FindingSeverity.MINOR),
        file=file,
        text=text,
        sources=tuple(one for one in named if one != file),
        unverified="; ".join(one["why"] for one in prose.facts.get(UNCHECKED, ())),
    )
    if file in texts:
        return found.but(line=_place(given.get("line"), file, texts))
    code = next((one for one in map(CodeCitation.read, found.sources) if one), None)
    return found.but(file=code.path, line=code.first) if code else None


def _place(number: Any, file: str, texts: Mapping[str, str]) -> int:
    """0 is the whole file: of a shared one only a part was shown."""
    is_number = isinstance(number, int) and not isinstance(number, bool)
    lines = 0 if shared(file) else len(texts[file].splitlines())
    return number if is_number and 0 < number <= lines else 0
