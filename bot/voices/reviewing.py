"""The reviewers: each persona goes through the checklist of its lens, beside the event loop, or thinks as well."""

import asyncio
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

from bot.domain.catalog.personas import Persona
from bot.domain.reviews.text import Review, ReviewerOpinion
from bot.engine.review_ports import ReviewCase
from bot.voices.judging import MindOf, ModelReviewer
from bot.voices.offline import checklist
from bot.voices.offline.dossier import Dossier


class _Table(NamedTuple):
    """What lies before the reviewers of a case: they read it together, so that it is read once."""

    case: ReviewCase
    dossier: Dossier
    turn: Lock

    def opinion(self, persona: Persona) -> ReviewerOpinion:
        with self.turn:
            return checklist.opinion(self.dossier, persona, self.case.playbook.roster)


class ChecklistReviewers:
    def __init__(self) -> None:
        self._newest: _Table | None = None

    async def opinion(self, case: ReviewCase, persona: Persona) -> ReviewerOpinion:
        if self._newest is None or self._newest.case is not case:
            self._newest = _Table(case, _dossier(case), Lock())
        return await asyncio.to_thread(self._newest.opinion, persona)

    async def together(
        self, case: ReviewCase, opinions: Iterable[ReviewerOpinion], *, unseen: tuple[str, ...], asked: str
    ) -> Review:
        given = tuple(opinions)
        review = await asyncio.to_thread(
            checklist.together, _dossier(case), case.playbook.roster, given, unseen=unseen
        )
        return review.but(method=f"{asked} {review.method}".strip())


class ModelReviewers:
    """*mind_of* gives a persona's mind, by its key; who has none goes through the checklist."""

    def __init__(self, mind_of: MindOf, checklist: ChecklistReviewers) -> None:
        self._mind_of = mind_of
        self._checklist = checklist

    async def opinion(self, case: ReviewCase, persona: Persona) -> ReviewerOpinion:
        if mind := self._mind_of(persona.key):
            return await ModelReviewer(mind).opinion(_dossier(case), persona, case.playbook.roster)
        return await self._checklist.opinion(case, persona)

    async def together(
        self, case: ReviewCase, opinions: Iterable[ReviewerOpinion], *, unseen: tuple[str, ...], asked: str
    ) -> Review:
        return await self._checklist.together(case, opinions, unseen=unseen, asked=asked)


def _dossier(case: ReviewCase) -> Dossier:
    return Dossier(
        slug=case.slug,
        title=case.title,
        files=case.files,
        agenda=case.playbook.agenda,
        steps_completed=case.steps_completed,
    )
