"""The texts of the prompts, which come as files beside this module, and how blanks in them are filled."""

from functools import cache
from importlib.resources import files
from string import Template

from bot.domain.values.markdown import outline


def filled(name: str, /, **blanks: object) -> str:
    """
    The text *name* with its blanks filled; what is put in is not looked at again, so that a `$` in it stays one.

    Raises KeyError for a blank without a filling.
    """
    said = {blank: str(filling) for blank, filling in blanks.items()}
    return Template(text(name)).substitute(said).strip("\n")


def part_of(name: str, heading: str, /, **blanks: str) -> str:
    """What stands below a first-level *heading* of the text *name*, filled; empty where there is none."""
    page = outline(text(name))
    found = next((one for one in page.headings if one.level == 1 and one.text == heading), None)
    said = "".join(page.lines[found.body : page.end(found, level=1)]).strip() if found else ""
    return Template(said).substitute(blanks)


@cache
def text(name: str) -> str:
    return files("bot.voices.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
