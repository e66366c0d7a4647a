"""The settings that keep secrets, buttons and money safe."""

from decimal import Decimal
from pathlib import Path

import pytest

from bot import parts
from bot.domain.catalog.budget import Budget
from bot.domain.catalog.policy import Policy, PressPolicy
from bot.errors import ConfigError
from bot.settings import Settings


def test_own_patterns_stand_in_the_setting_or_in_a_file(tmp_path: Path) -> None:
    """A path is told by its slash; comments and empty lines of a file are none."""
    file = tmp_path / "patterns"
    file.write_text("# ours\n\ncustomer = CUST-####\nProject Bluebird\n", "utf-8")

    for given in ("customer = CUST-####, Project Bluebird", str(file)):
        redact = parts.secret_redaction(Settings.from_env({"ROUNDTABLE_REDACT": given}))
        assert redact("project bluebird for CUST-1234") == "[redacted:custom] for [redacted:customer]"


@pytest.mark.parametrize("given", ["*", "##", "/nowhere/at/all", "a*b*c", "./\0"])
def test_patterns_that_cannot_be_used_stop_the_start_without_being_shown(given: str) -> None:
    """What they would hide is nobody's business either."""
    with pytest.raises(ConfigError) as refused:
        Settings.from_env({"ROUNDTABLE_REDACT": given})

    assert str(refused.value).startswith("ROUNDTABLE_REDACT must be patterns separated by commas")
    assert given not in str(refused.value) or given in "*##"


def test_every_secret_of_the_settings_is_hidden() -> None:
    """Also in an address, as it is written there and as it is meant."""
    settings = Settings.from_env({
        "SLACK_SIGNING_SECRET": "8f742231b10e",
        "REDIS_URL": "redis://bot:p%40ssw0rd@redis:6379/0",
    })  # fmt: skip
    redact = parts.secret_redaction(settings)

    assert redact("8f742231b10e p@ssw0rd p%40ssw0rd") == " ".join(["[redacted:configured]"] * 3)


def test_the_rules_of_the_house() -> None:
    """Everybody presses, guests do not, and nothing is limited, until somebody says otherwise."""
    assert Settings.from_env({}).policy == Policy(model="offline", looks_first=True)

    policy = Settings.from_env({
        "ROUNDTABLE_PRESS": "starter", "ROUNDTABLE_GUESTS_PRESS": "yes", "ROUNDTABLE_BUDGET": "$5"
    }).policy  # fmt: skip
    assert policy == Policy(
        press=PressPolicy.STARTER,
        guests_press=True,
        budget=Budget(dollars=Decimal(5)),
        model="offline",
        looks_first=True,
    )


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("PRESS", "nobody", "ROUNDTABLE_PRESS is 'nobody', but must be one of starter, participants and everyone."),
        ("GUESTS_PRESS", "perhaps", "ROUNDTABLE_GUESTS_PRESS is 'perhaps', but must be yes or no."),
        ("BUDGET", "5 EUR",
         "ROUNDTABLE_BUDGET is '5 EUR', but must be tokens, such as 200000, or money, such as 5.00 USD."),
    ],
)  # fmt: skip
def test_other_rules_stop_the_start(name: str, given: str, sentence: str) -> None:
    """One sentence that says what may be set."""
    with pytest.raises(ConfigError) as refused:
        Settings.from_env({f"ROUNDTABLE_{name}": given})

    assert str(refused.value) == sentence
