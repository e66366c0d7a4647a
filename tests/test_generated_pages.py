"""Pages that are made from the code say what the code says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.cli.main import COMMANDS
from scripts import commands, sentences, transitions


@pytest.mark.parametrize(
    ("page", "made", "script"),
    [
        (commands.PAGE, lambda _: commands.page(), "commands"),
        (sentences.PAGE, lambda _: sentences.page(), "sentences"),
        (transitions.PAGE, transitions.replaced, "transitions"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_page_is_as_its_script_writes_it(page: Path, made: Callable[[str], str], script: str) -> None:
    written = page.read_text(encoding="utf-8")

    assert written == made(written), f"run scripts/{script}"


def test_every_command_and_what_is_below_it_has_a_section() -> None:
    page = commands.PAGE.read_text(encoding="utf-8")

    for name in (*COMMANDS, "forget person", "key create"):
        assert f"\n## roundtable {name}\n" in page
    assert "| `--may-ask` | It may ask people in threads. |" in page


def test_a_sentence_of_the_code_is_found_with_its_placeholders() -> None:
    """Also of a module that somebody adds; documentation, logs and assertions are left out."""
    page = sentences.PAGE.read_text(encoding="utf-8")

    assert "- No role lacks anything that is looked for." in page
    assert "- {person} started a roundtable on {title}." in page
    assert "What the step of the plan asks" not in page
    assert "a question opens it" not in page
