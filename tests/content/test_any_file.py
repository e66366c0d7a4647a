"""Whatever lies in the folders, reading them ends well."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.content.folders import REQUIREMENTS, Folders, text_of
from tests.growth import grows_no_faster

STEP = text_of(depends_on="[]", skip_if='""')
FRAGMENTS = [
    *STEP.splitlines(keepends=True), "## Deep Mode\n", "- x\n", "\x00", "\ufeff", "\r", "&a ", "[", "é",
]  # fmt: skip
ANY_FILE = st.binary(max_size=300) | st.lists(st.sampled_from(FRAGMENTS), max_size=20).map(
    lambda lines: "".join(lines).encode()
)


@given(ANY_FILE, ANY_FILE)
def test_any_bytes_are_a_step_or_a_trouble(persona: bytes, step: bytes) -> None:
    """Never an error, never both, never neither."""
    with tempfile.TemporaryDirectory() as root:
        folders = Folders(Path(root))
        (folders.personas / "own.md").write_bytes(persona)
        folders.write(step)
        playbook = folders.read()

    told = playbook.troubles_of(REQUIREMENTS)
    assert len(playbook.agenda.steps) + len(told) == 1
    assert all(trouble.sentence for trouble in told)


def test_many_steps_take_as_long_as_they_are_many(tmp_path: Path) -> None:
    """The 24 that ship, and four times as many."""

    def of(count: int) -> Folders:
        folders = Folders(tmp_path / str(count))
        for number in range(1, count + 1):
            folders.write(STEP.replace("01-01", f"01-{number:02}"), f"{number:02}-a.md")
        assert len(folders.read().agenda.steps) == count
        return folders

    grows_no_faster(Folders.read, of, 24)
