"""`operators.yaml` → Operators: the shipped words, and a team's own file beside its steps on top of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.content.files import Findings, shipped_and_own
from bot.domain.catalog.operators import Operators

FILE = "operators.yaml"


def read_operators(folder: Path, findings: Findings, *, workspace: Path | None = None) -> Operators:
    """A file with a mistake is not used at all: with some of its words a check would be wrong in silence."""
    shipped, own = shipped_and_own(folder, FILE, findings, workspace)
    operators = Operators.model_validate(shipped)
    if not own:
        return operators
    for name in own.keys() - Operators.model_fields.keys():
        findings.note(
            f"{FILE} has a part '{name}' that means nothing: the parts are {', '.join(Operators.model_fields)}."
        )
    known = {name: one for name, one in own.items() if name in Operators.model_fields}
    try:
        return Operators.model_validate(_joined(shipped, known))
    except (ValidationError, ValueError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
        findings.note(f"{FILE} is not used: {'.'.join(map(str, first['loc']))}: {first['msg']}.")
        return operators


def _joined(known: Any, given: Any) -> Any:
    """
    Words and pairs are added to those that ship, once, so that a copy of the shipped file changes nothing; anything
    else, and the names of days and months, replaces them.
    """
    if isinstance(known, Mapping) and isinstance(given, Mapping):
        return {**known, **{name: _joined(known.get(name), one) for name, one in given.items()}}
    if isinstance(known, list) and isinstance(given, list):
        return [*known, *(one for one in given if one not in known)]
    if isinstance(known, str) and isinstance(given, str) and "|" not in given:
        words = known.split()
        return " ".join([*words, *(word for word in given.split() if word not in words)])
    return given
