"""A workspace says which team it is for, from its first start on."""

from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.storage.team import FILE, SANDBOX, claim, recorded
from slack_sandbox.clock import Clock as SlackClock
from slack_sandbox.workspace import SlackWorkspace


def test_the_first_start_writes_down_for_whom_it_is(tmp_path: Path) -> None:
    state = tmp_path / "workspace" / ".roundtable"
    assert recorded(state) == ""

    claim(state, "T1")
    claim(state, "T1", found=["T2"])

    assert recorded(state) == "T1"
    with pytest.raises(
        ConfigError, match="belongs to 'T1', another Slack workspace than T2: set ROUNDTABLE_WORK"
    ):
        claim(state, "T2")
    assert recorded(state) == "T1"


@pytest.mark.parametrize("found", [["T1"], ["T3", "T1"]])
def test_what_is_kept_there_says_it_when_nothing_is_written_down(tmp_path: Path, found: list[str]) -> None:
    state = tmp_path / ".roundtable"

    with pytest.raises(ConfigError, match="belongs to 'T1'"):
        claim(state, "T2", found=found)
    assert not state.exists()
    claim(state, "T2", found=[*found, "T2"])
    assert recorded(state) == "T2"


def test_what_was_tried_out_keeps_nobody_out(tmp_path: Path) -> None:
    """Neither what is written down nor the items of `roundtable try`; it cannot take a workspace over itself."""
    assert SlackWorkspace(SlackClock()).team_id == SANDBOX
    tried, cloned = tmp_path / "tried" / ".roundtable", tmp_path / "cloned" / ".roundtable"
    claim(tried, SANDBOX)
    claim(tried, "T1", found=[SANDBOX])
    claim(cloned, "T1", found=[SANDBOX])

    assert (recorded(tried), recorded(cloned)) == ("T1", "T1")
    with pytest.raises(ConfigError, match="belongs to 'T1'"):
        claim(tried, SANDBOX)


def test_nobody_takes_over_what_cannot_be_read(tmp_path: Path) -> None:
    """An operator may have written anything there."""
    (tmp_path / FILE).write_text("the team of Ada")

    with pytest.raises(ConfigError, match="'the team of Ada'"):
        claim(tmp_path, "T1")


def test_a_folder_that_cannot_be_used_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "workspace").write_text("a file")
    with pytest.raises(ConfigError, match="team' cannot be used: Not a directory"):
        claim(tmp_path / "workspace" / ".roundtable", "T1")

    (tmp_path / FILE).symlink_to("elsewhere")
    with pytest.raises(ConfigError, match="team' cannot be used"):
        recorded(tmp_path)
