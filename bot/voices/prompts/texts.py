"""The texts of the prompts, from the files beside this module, with their blanks filled."""

from functools import cache
from importlib.resources import files
from string import Template

from bot.domain.values.markdown import outline


def filled(name: str, /, **blanks: object) -> str:
    """
    The text *name* with its blanks filled. A `$` in a filling stays as it is.

    Raises KeyError for a blank without a filling.
    """
    said = {blank: str(filling) for blank, filling in blanks.items()}
    return Template(text(name)).substitute(said).strip("\n")


def part_of(name: str, heading: str, /, **blanks: str) -> str:
    """The part below a first-level *heading* of the text *name*, filled; empty when there is none."""
    page = outline(text(name))
    found = next((one for one in page.headings if one.level == 1 and one.text == heading), None)
    said = "".join(page.lines[found.body : page.end(found, level=1)]).strip() if found else ""
    return Template(said).substitute(blanks)


@cache
def text(name: str) -> str:
    return files("bot.voices.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
