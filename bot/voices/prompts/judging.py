"""The prompt for reviewers of an item's files."""

from collections.abc import Mapping, Sequence

from bot.domain.catalog.personas import Persona, Roster
from bot.voices.model import Prompt
from bot.voices.prompts import schemas
from bot.voices.prompts.fencing import sealed
from bot.voices.prompts.scene import described, rules
from bot.voices.prompts.shown_files import shown
from bot.voices.prompts.texts import filled, part_of

FILES_CHARS = 24_000
MOST_FINDINGS = 20

Files = Mapping[str, str]


def review(name: str, persona: Persona, table: Roster, *, files: Files, others: Sequence[str] = ()) -> Prompt:
    """
    *name* is the item's; it is the seed of the markers. With *others*, who found nothing serious, it is asked for what
    speaks against that.
    """
    answer = schemas.in_words(schemas.DATA)
    moving = filled("review", most=MOST_FINDINGS, persona=described(persona, table), answer=answer)
    if others:
        moving += "\n" + part_of("readings", "review", names=", ".join(others)) + "\n"
    prompt = sealed((rules(), _files(files, name)), moving, seed=f"review/{name}")
    return prompt._replace(schema=schemas.findings())


def _files(files: Files, slug: str) -> str:
    return filled("files", files=shown(files, slug=slug, room=FILES_CHARS))
