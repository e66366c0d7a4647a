"""What people run in production holds what the README promises, as far as reading it can tell."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.settings import Settings, name_of

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    """Every *name* instruction of the image that is run, with its continued lines."""
    image = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[-1]
    return re.findall(rf"^{name} ((?:.*\\\n)*.*)", image, flags=re.MULTILINE)


@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))


def test_the_image_runs_the_bot_as_nobody_special() -> None:
    """Signals reach it, and what it is tricked into it does without rights."""
    assert [json.loads(value) for value in instructions("ENTRYPOINT")] == [["roundtable"]]
    assert [json.loads(value) for value in instructions("CMD")] == [["run"]]
    assert instructions("USER") == ["roundtable"]
    assert "git " in instructions("RUN")[0]


def test_the_image_keeps_the_record_outside_itself() -> None:
    """A new version of the bot finds the workspace of the old one."""
    assert instructions("VOLUME") == ["/workspace"]
    assert "ROUNDTABLE_WORKSPACE=/workspace" in instructions("ENV")[0]


def test_the_image_knows_whether_it_is_well() -> None:
    """It asks the bot itself, at the port the bot was given, with nothing but Python."""
    (check,) = instructions("HEALTHCHECK")
    program, flag, code = json.loads(check[check.index("[") :])

    assert (program, flag) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")
    assert "/healthz" in code
    assert "ROUNDTABLE_PORT" in code


def test_the_image_holds_exactly_what_is_locked() -> None:
    """Every package by its hash; the bot itself without asking anybody."""
    for command in re.findall(r"pip install (.*?)(?: \\)?$", DOCKERFILE, flags=re.MULTILINE):
        assert "--require-hashes" in command or "--no-index --no-deps" in command


def test_only_what_the_image_is_made_of_is_sent_to_its_build() -> None:
    """Secrets, records and tools of a checkout stay out, and nothing the wheel needs is left out."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert "*" in ignored
    for needed in (
        "analysis-steps",
        "bot",
        "personas",
        "requirements",
        "LICENSE",
        "README.md",
        "pyproject.toml",
    ):
        assert f"!{needed}" in ignored


def test_compose_keeps_what_slack_was_told_we_have(compose: Any) -> None:
    """Redis writes to disk, on a volume, before it answers, and never throws anything away."""
    store = compose["services"]["redis"]
    options = " ".join(store["command"])

    assert "--appendonly yes" in options
    assert "--maxmemory-policy noeviction" in options
    assert any(volume.endswith(":/data") for volume in store["volumes"])
    assert "ports" not in store, "the store is the bot's alone"


def test_compose_starts_the_bot_once_its_store_is_well(compose: Any) -> None:
    """Otherwise a reboot of the machine would be a race."""
    bot, store = compose["services"]["roundtable"], compose["services"]["redis"]

    assert bot["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert store["healthcheck"]["test"][-1] == "ping"
    assert bot["environment"]["REDIS_URL"] == "redis://redis:6379/0"


def test_compose_keeps_the_workspace_and_takes_secrets_from_a_file(compose: Any) -> None:
    """Neither is part of the image, and no secret is part of this file."""
    bot = compose["services"]["roundtable"]

    assert "workspace:/workspace" in bot["volumes"]
    assert bot["env_file"] == "roundtable.env"
    assert not any("TOKEN" in name or "SECRET" in name for name in bot["environment"])
    assert {
        volume.split(":")[0] for service in compose["services"].values() for volume in service["volumes"]
    } == set(compose["volumes"])


def test_the_example_of_the_environment_starts_as_it_is() -> None:
    """Every name in it is a setting, and what is not filled in yet does no harm."""
    lines = (ROOT / "deploy/roundtable.env.example").read_text(encoding="utf-8").splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))

    assert set(example) <= {name_of(field) for field in Settings.model_fields}
    assert Settings.from_env(example) == Settings()
