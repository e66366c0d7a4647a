"""docs/cli.md has every command of `roundtable`, made from the parsers."""

from bot.cli.main import COMMANDS
from scripts import commands


def test_the_page_of_commands_is_up_to_date() -> None:
    """`scripts/commands` writes it."""
    assert commands.PAGE.read_text(encoding="utf-8") == commands.page(), "run scripts/commands"


def test_every_command_and_what_is_below_it_has_a_section() -> None:
    page = commands.page()

    for name in (*COMMANDS, "forget person", "key create"):
        assert f"\n## roundtable {name}\n" in page
    assert "| `--may-ask` | It may ask people in threads. |" in page
