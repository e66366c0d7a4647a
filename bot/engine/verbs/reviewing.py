"""Verbs about reviews of an item's files, and `read`, which shows one person all that a message cuts short."""

import re

from bot.domain.messages import record_wording, review_wording
from bot.domain.reviews.notice import AskReview
from bot.domain.reviews.reviewers import asked_for, names_a_reviewer
from bot.domain.roundtable import cards
from bot.engine import answers
from bot.engine.desk import Desk, Reply, must_be_there
from bot.engine.item_locator import folder_of
from bot.engine.verbs.verb import VerbRequest
from bot.errors import UserError, WorkspaceError

REVIEWED = re.compile(
    r"(?!(?:by|with|for)\b)(?P<item>\S*)(?:\s+(?:by|with|for)\s+(?P<lens>\S.{0,200}))?"
    r"|(?:by|with|for)\s+(?P<alone>\S.{0,200})",
    re.IGNORECASE | re.DOTALL,
)
_REVIEW = re.compile(r"(?:(?P<item>(?!\d{1,4}\Z)\S+)\s*)?(?P<number>\d{1,4})?", re.ASCII)
_SO_FAR = re.compile(r"so\s+far(?:\s+(?P<of>\S+))?", re.IGNORECASE)
_STEP = re.compile(r"\d\d-\d\d", re.ASCII)
READABLE = re.compile(f"(?i:{_SO_FAR.pattern})|{_REVIEW.pattern}", re.ASCII)


def reviewed(rest: str) -> tuple[str, str]:
    """The item and the lens, as in "offline-sync by Maya and Jordan", "for risks", "by everyone"."""
    found = REVIEWED.fullmatch(rest)
    reference, lens = (found["item"] or "", found["lens"] or found["alone"] or "") if found else ("", "")
    return reference, "" if lens.lower() in {"everyone", "everybody", "all"} else lens


async def review(desk: Desk, asked: VerbRequest) -> Reply:
    """
    Saved when this returns. Only the item's files are reviewed; its roundtable need not run. A single word that
    names no item may name a persona, or what a persona looks at.
    """
    reference, lens = reviewed(asked.rest)
    roster = desk.playbook.roster
    try:
        slug = await _reviewed_item(desk, asked, reference)
    except UserError:
        if lens or not names_a_reviewer(reference, roster):
            raise
        slug, lens = await _reviewed_item(desk, asked, ""), reference
    rt = await desk.store.get(slug)
    if rt is None:
        desk.must_be_allowed(asked.person, asked.place.channel)
    else:  # a review costs work of models, and is a commit
        desk.must_press(rt, asked.person)
    personas = asked_for(lens, roster)
    listed = await folder_of(desk.workspace, slug)
    if listed is None:
        raise UserError(f"Nothing of `{slug}` is kept yet, so there is nothing to review.")
    if listed.channel and not listed.sealed and rt is None:
        raise UserError(answers.not_sealed(slug))
    title = listed.known.title or slug
    chosen = tuple(persona.key for persona in personas)
    try:
        await desk.ask_review(slug, AskReview(**asked.placed, title=title, personas=chosen))
    except WorkspaceError as error:
        raise UserError(f"I can't get at the reviews of `{slug}`: {error}") from error
    return review_wording.under_way(title, [persona.label for persona in personas])


async def read(desk: Desk, asked: VerbRequest) -> Reply:
    """Of a step, of all steps, or of a review. Only in the item's own channel: its words are for the people there."""
    if all_steps := _SO_FAR.fullmatch(asked.rest):
        return await _read_so_far(desk, asked, all_steps["of"] or "")
    if _STEP.fullmatch(asked.rest):
        return await _read_step(desk, asked)
    found = _REVIEW.fullmatch(asked.rest)
    reference, number = (found["item"] or "", found["number"] or "0") if found else ("", "0")
    slug = await _reviewed_item(desk, asked, reference)
    rt, listed = await desk.store.get(slug), await folder_of(desk.workspace, slug)
    channel = rt.place.channel if rt else listed.channel if listed else ""
    if channel and channel != asked.place.channel:
        raise UserError(review_wording.held_elsewhere(slug))
    title = rt.title if rt else listed.known.title if listed else ""
    try:
        return await desk.read_review(slug, title or slug, int(number))
    except WorkspaceError as error:
        raise UserError(f"I can't get at the reviews of `{slug}`: {error}") from error


async def _read_step(desk: Desk, asked: VerbRequest) -> Reply:
    rt = await desk.finder.running(asked.place, "", asked.person)
    must_be_there(rt.slug, rt.place, asked.place)
    return cards.read(rt, asked.rest, desk.playbook_of(rt))


async def _read_so_far(desk: Desk, asked: VerbRequest, reference: str) -> Reply:
    slug = await desk.finder.slug_or_only(asked.place, reference, asked.person)
    if slug is None:
        here = await desk.finder.here(asked.place)
        raise UserError(record_wording.which_item([item.slug for item in here], "read so far"))
    rt = await desk.held(slug)
    must_be_there(slug, rt.place, asked.place)
    return answers.so_far(rt, desk.playbook_of(rt))


async def _reviewed_item(desk: Desk, asked: VerbRequest, reference: str) -> str:
    """The item that is named, or of this thread, or the only one of this channel."""
    if slug := await desk.finder.slug(asked.place, reference, asked.person):
        return slug
    if asked.place.thread:
        raise UserError("There is no roundtable in this thread. Say which item, as in `review dark-mode`.")
    here = await desk.finder.here(asked.place)
    if len(here) != 1:
        raise UserError(record_wording.which_item([item.slug for item in here], "review"))
    return here[0].slug
