"""The personas and steps that come with the bot are found wherever it runs from."""

from pathlib import Path

import pytest

from bot import shipped
from bot.errors import ContentError

ROOT = Path(__file__).parent.parent


def test_a_checkout_has_them_beside_the_package() -> None:
    """People who develop the bot edit them in place."""
    assert shipped.personas_dir() == ROOT / "personas"
    assert shipped.steps_dir() == ROOT / "analysis-steps"
    assert shipped.meetings_dir() == ROOT / "meetings"


def test_an_installed_bot_has_them_inside_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A wheel brings them along in `_content`."""
    (tmp_path / "bot/_content/personas").mkdir(parents=True)
    monkeypatch.setattr(shipped, "files", tmp_path.joinpath)

    assert shipped.personas_dir() == tmp_path / "bot/_content/personas"


def test_a_broken_installation_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Starting without personas would only fail later, and elsewhere."""
    monkeypatch.setattr(shipped, "files", tmp_path.joinpath)

    with pytest.raises(ContentError, match="install it again"):
        shipped.personas_dir()
