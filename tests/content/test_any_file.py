"""Whatever lies in the folders, reading them ends well."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.content.playbook import load
from tests.growth import grows_no_faster

MAYA = "---\nkey: business-analyst\nname: Maya Chen\nrole: Business Analyst\n---\n"
STEP = """---
step_id: "01-01"
title: "Business Context"
persona: "business-analyst"
depth: "standard"
outputs: ["requirements-spec.md"]
depends_on: []
skip_if: ""
---

## Standard Mode

1. What hurts?
"""
FRAGMENTS = [
    *STEP.splitlines(keepends=True),
    "## Deep Mode\n",
    "- x\n",
    "\x00",
    "\ufeff",
    "\r",
    "&a ",
    "[",
    "é",
]


def folders(root: str, persona: bytes, step: bytes) -> tuple[Path, Path]:
    personas, phase = Path(root, "personas"), Path(root, "steps", "01-requirements")
    personas.mkdir()
    phase.mkdir(parents=True)
    (personas / "maya.md").write_text(MAYA)
    (personas / "own.md").write_bytes(persona)
    (phase / "01-a.md").write_bytes(step)
    return personas, phase.parent


ANY_FILE = st.binary(max_size=300) | st.lists(st.sampled_from(FRAGMENTS), max_size=20).map(
    lambda lines: "".join(lines).encode()
)


@given(ANY_FILE, ANY_FILE)
def test_any_bytes_are_a_step_or_a_trouble(persona: bytes, step: bytes) -> None:
    """Never an error, never both, never neither."""
    with tempfile.TemporaryDirectory() as root:
        playbook = load(*folders(root, persona, step))

    told = playbook.troubles_of("01-requirements")
    assert len(playbook.agenda.steps) + len(told) == 1
    assert all(trouble.sentence for trouble in told)


def test_many_steps_take_as_long_as_they_are_many(tmp_path: Path) -> None:
    """The 24 that ship, and four times as many."""

    def of(count: int) -> tuple[Path, Path]:
        (tmp_path / str(count)).mkdir()
        personas, steps = folders(str(tmp_path / str(count)), MAYA.encode(), STEP.encode())
        for number in range(2, count + 1):
            text = STEP.replace("01-01", f"01-{number:02}")
            (steps / "01-requirements" / f"{number:02}-b.md").write_text(text)
        assert len(load(personas, steps).agenda.steps) == count
        return personas, steps

    grows_no_faster(lambda placed: load(*placed), of, 24)
