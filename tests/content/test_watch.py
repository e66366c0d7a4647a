"""Step and persona files are read again when they change."""

import logging
from pathlib import Path

import pytest

from bot.content.playbook import ContentWatch, load
from bot.shipped import personas_dir, steps_dir
from tests.content.test_persona_files import STEP, small, write


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "personas").mkdir()
    (tmp_path / "steps" / "01-requirements").mkdir(parents=True)
    write(tmp_path / "personas", ann=small("ann"))
    return tmp_path


def watched(home: Path) -> ContentWatch:
    personas, steps = home / "personas", home / "steps"
    return ContentWatch(lambda: load(personas, steps), (personas, steps))


async def test_what_has_not_changed_is_not_read_again(home: Path) -> None:
    """Files that are no content do not count either."""
    watch = watched(home)
    (home / "steps" / "notes.txt").write_text("x")

    assert await watch.changed() is None


@pytest.mark.parametrize(
    "path", ["steps/01-requirements/01-security.md", "personas/bob.md", "steps/entries.yaml"]
)
async def test_a_new_file_is_read(home: Path, path: str, caplog: pytest.LogCaptureFixture) -> None:
    """Once, with one sentence in the log."""
    texts = {
        "01-security.md": STEP.format(persona="ann"),
        "bob.md": small("bob"),
        "entries.yaml": "small: [soonish]",
    }
    watch = watched(home)
    (home / path).write_text(texts[Path(path).name], encoding="utf-8")

    with caplog.at_level(logging.INFO, "bot.content.playbook"):
        playbook = await watch.changed()

    assert playbook is not None
    assert len(playbook.agenda.steps) == path.endswith("security.md")
    assert ("bob" in playbook.roster) == path.endswith("bob.md")
    assert ("soonish" in playbook.schema.small) == path.endswith(".yaml")
    assert playbook.content == watch.fingerprint
    assert len(caplog.messages) == 1
    assert "from its next step on" in caplog.messages[0]
    assert await watch.changed() is None


async def test_a_file_that_changes_or_goes_is_noticed(home: Path) -> None:
    """A bad file is left out with its code, as at the start."""
    path = home / "steps" / "01-requirements" / "01-security.md"
    path.write_text(STEP.format(persona="ann"), encoding="utf-8")
    watch = watched(home)
    path.write_text("no front matter", encoding="utf-8")

    broken = await watch.changed()
    assert broken is not None
    assert [one.code for one in broken.troubles_of("01-requirements")] == ["ERR-STEP-004"]

    path.unlink()
    gone = await watch.changed()
    assert gone is not None
    assert gone.agenda.steps == ()


async def test_what_cannot_work_is_not_used(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a persona there is no table: the content from before stays, and the log says why."""
    watch = watched(home)
    (home / "personas" / "ann.md").write_text("oops", encoding="utf-8")

    assert await watch.changed() is None
    assert "cannot be used, so the earlier ones stay: There is no usable persona" in caplog.text
    assert await watch.changed() is None


async def test_the_fingerprint_is_that_of_the_files_in_use(tmp_path: Path) -> None:
    """The same wherever they are; another one after a change, and not after one that cannot be used."""
    watches = []
    for name in ("one", "other"):
        personas = tmp_path / name / "personas"
        personas.mkdir(parents=True)
        for file in personas_dir().glob("*.md"):
            (personas / file.name).write_bytes(file.read_bytes())
        folders = personas, steps_dir()
        watches.append(ContentWatch(lambda folders=folders: load(*folders), folders))  # type: ignore[misc]
    one, other = watches
    assert one.fingerprint == other.fingerprint

    maya = tmp_path / "other/personas/business-analyst.md"
    maya.write_text(maya.read_text("utf-8") + "\nAsk twice.\n", "utf-8")
    assert await other.changed()
    changed = other.fingerprint
    assert changed != one.fingerprint

    for file in (tmp_path / "other/personas").glob("*.md"):
        file.write_text("no front matter", "utf-8")
    assert await other.changed() is None
    assert other.fingerprint == changed
