"""operators.yaml: the words that ship, what a team adds, and what becomes of a file with mistakes."""

from decimal import Decimal
from pathlib import Path

import pytest

from bot.content.entries import read_schema
from bot.content.files import Findings
from bot.domain.specification.claim_check import ClaimCheck, Root
from bot.shipped import steps_dir


def findings_of(folder: Path, text: str) -> list[str]:
    (folder / "operators.yaml").write_text(text, encoding="utf-8")
    findings = Findings()
    read_schema(folder, findings)
    return findings.notes


def test_the_shipped_words_are_read() -> None:
    words = read_schema(steps_dir(), Findings()).operators

    assert words.numbers["fourteen"] == 14
    assert words.units["s"]["ms"] == Decimal("0.001")
    assert "nicht" in words.operators["not"].means


def test_a_copy_of_the_shipped_file_changes_nothing(tmp_path: Path) -> None:
    """Teams copy the folder of steps, and change some of it."""
    shipped = (steps_dir() / "operators.yaml").read_text(encoding="utf-8")

    assert findings_of(tmp_path, shipped) == []
    assert read_schema(tmp_path, Findings()).operators == read_schema(steps_dir(), Findings()).operators


def test_a_team_adds_its_language(tmp_path: Path) -> None:
    assert findings_of(tmp_path, "operators:\n  not: {is: nie nigdy}\nnumbers: {dwa: 2}\n") == []
    check = ClaimCheck(read_schema(tmp_path, Findings()).operators, [])
    said = Root("Ada", "Nigdy nie usuwamy pliku.")

    assert check.flaws("usuwamy plik", [(Root("Ada", "Nigdy usuwamy pliki."), "Nigdy usuwamy pliki.")]) == (
        "the line says “nigdy”",
    )
    assert check.flaws("nie usuwamy pliku nigdy", [(said, said.text)]) == ()
    assert check.flaws("2 wielkie pliki", [(Root("Ada", "dwa wielkie pliki"), "dwa wielkie pliki")]) == ()


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("colours: red\n", "operators.yaml has a part 'colours' that means nothing"),
        ("numbers: {dwa: two}\n", "operators.yaml is not used: "),
        ("operators: {not: 7}\n", "operators.yaml is not used: "),
        ("operators: [not]\n", "operators.yaml is not used: "),
        ("- not\n", "operators.yaml is not used: "),
        ("numbers: {dwa: 2\n", "operators.yaml is not used: "),
    ],
)
def test_a_file_with_a_mistake_is_not_used(tmp_path: Path, text: str, finding: str) -> None:
    """With a sentence; the words that ship are in use all the same."""
    (found,) = findings_of(tmp_path, text)

    assert found.startswith(finding)
    assert "nicht" in read_schema(tmp_path, Findings()).operators.operators["not"].means
