"""The file of `ROUNDTABLE_POLICIES`: what it may say, and a sentence for each mistake in it."""

from decimal import Decimal
from pathlib import Path

import pytest

from bot.content.policies import read_policies
from bot.domain.catalog.budget import Budget
from bot.domain.catalog.policy import GuestsSee, Policy, PressPolicy, TeamLimits
from bot.domain.catalog.steps import Depth
from bot.domain.values.timestamps import QuietHours
from bot.errors import ConfigError

PERSONAS = ("business-analyst", "solutions-architect", "system-designer")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policies.yaml"
    path.write_text(text)
    return path


def test_a_channel_has_rules_of_its_own(tmp_path: Path) -> None:
    text = """
default:
  weekends: no
  quiet_hours: 18:00-08:00
channels:
  C042ABCDE:
    start: no
  C043ABCDE:
    cast: [solutions-architect, system-designer]
    depth: brief
    budget: 5.00 USD
    press: participants
    weekends: yes
    tools: no
    guests_see: [code, items]
"""
    policies = read_policies(written(tmp_path, text), PERSONAS)
    night = QuietHours(begin=18 * 60, end=8 * 60)

    assert policies.of("C1", Policy()) == Policy(weekends=False, quiet_hours=night)
    assert not policies.of("C042ABCDE", Policy()).start
    own = policies.of("C043ABCDE", Policy(guests_press=True))
    assert own.cast == ("solutions-architect", "system-designer")
    assert (own.depth, own.press, own.budget) == (
        Depth.BRIEF,
        PressPolicy.PARTICIPANTS,
        Budget.model_validate({"dollars": "5.00"}),
    )
    assert own.weekends
    assert (own.tools, own.guests_see) == (False, (GuestsSee.CODE, GuestsSee.ITEMS))
    assert own.guests_press, "what the file does not name stays as the settings say"


@pytest.mark.parametrize(
    ("minute", "quiet"),
    [(17 * 60 + 59, False), (18 * 60, True), (0, True), (7 * 60 + 59, True), (480, False)],
)
def test_quiet_hours_go_past_midnight(minute: int, *, quiet: bool) -> None:
    assert QuietHours(begin=18 * 60, end=8 * 60).contain(minute) is quiet


def test_each_mistake_is_one_sentence(tmp_path: Path) -> None:
    text = """
defaults:
  depth: brief
channels:
  "#api":
    cast: [maya]
    dept: deep
  C042ABCDE:
    start: perhaps
    budget: much
    quiet_hours: at night
"""
    with pytest.raises(ConfigError) as refused:
        read_policies(written(tmp_path, text), PERSONAS)
    found = str(refused.value).split(" ROUNDTABLE_POLICIES: ")

    assert found == [
        "ROUNDTABLE_POLICIES: the file has 'defaults', which means nothing; did you mean default.",
        "'#api' is not the id of a channel, such as C042ABCDE.",
        "#api has 'dept', which means nothing; did you mean depth.",
        f"cast of #api is 'maya', but must be a list of personas: {', '.join(PERSONAS)}.",
        "start of C042ABCDE is 'perhaps', but must be yes or no.",
        "budget of C042ABCDE is 'much', but must be tokens, such as 200000, or money, such as 5.00 USD.",
        "quiet_hours of C042ABCDE is 'at night', but must be two times, such as 18:00-08:00.",
    ]


@pytest.mark.parametrize("text", ["- a list", "a: b: c", "channels: [C1]", "channels:\n  C042ABCDE: deep"])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="ROUNDTABLE_POLICIES: "):
        read_policies(written(tmp_path, text), PERSONAS)


def test_a_channel_may_take_back_what_guests_see(tmp_path: Path) -> None:
    """One word is enough for one thing; others mean nothing."""
    text = "default:\n  guests_see: code\nchannels:\n  C042ABCDE:\n    guests_see: no\n"
    policies = read_policies(written(tmp_path, text), PERSONAS)

    assert policies.of("C1", Policy()).guests_see == (GuestsSee.CODE,)
    assert policies.of("C042ABCDE", Policy()).guests_see == ()
    with pytest.raises(ConfigError, match="guests_see of default is 'everything', but must be a list"):
        read_policies(written(tmp_path, "default:\n  guests_see: everything\n"), PERSONAS)


def test_each_of_several_workspaces_has_limits(tmp_path: Path) -> None:
    text = """
teams:
  T012ABCDE:
    calls: 2
    effects: 5
    month: 50 USD
  E034ABCDE:
    calls: 3
"""
    teams = read_policies(written(tmp_path, text), PERSONAS).teams

    assert teams == {
        "T012ABCDE": TeamLimits(calls=2, effects=5, month=Budget(dollars=Decimal(50))),
        "E034ABCDE": TeamLimits(calls=3, effects=20),
    }


def test_a_mistake_in_the_limits_of_a_workspace_is_a_sentence(tmp_path: Path) -> None:
    text = """
teams:
  acme:
    calls: 0
    effect: 2
    month: much
"""
    with pytest.raises(ConfigError) as refused:
        read_policies(written(tmp_path, text), PERSONAS)

    assert str(refused.value).split(" ROUNDTABLE_POLICIES: ") == [
        "ROUNDTABLE_POLICIES: 'acme' is not the id of a Slack workspace, such as T012ABCDE.",
        "acme has 'effect', which means nothing; did you mean effects.",
        "calls of acme is '0', but must be a number from 1 to 256.",
        "month of acme is 'much', but must be tokens, such as 200000, or money, such as 5.00 USD.",
    ]
