"""`roundtable key`: a secret is shown once, and the file has only what it is compared with."""

import json
from functools import partial
from pathlib import Path

import pytest

from bot.content.agent_keys import read_keys
from bot.domain.catalog.policy import digest_of, key_with
from bot.domain.privacy.redaction import Redactor
from bot.errors import ContentError
from tests.command_line import Cli, CommandLine

KEYS = "keys.json"


@pytest.fixture
def cli(tmp_path: Path, loaded: CommandLine) -> Cli:
    return partial(loaded.run, tmp_path, ROUNDTABLE_AGENT_KEYS=str(tmp_path / KEYS))


async def test_a_key_is_made_listed_and_withdrawn(cli: Cli, tmp_path: Path) -> None:
    """Only its owner may read the file, and its secret is nowhere in it."""
    made = await cli(
        "key", "create", "claude-code-ada", "--owner", "U0ADA", "--may-ask", "--items", "*, pay-bands"
    )
    secret, said = made.out.split("\n", 1)
    path = tmp_path / KEYS
    assert "shown this once" in said
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text()) == [
        {
            "name": "claude-code-ada", "owner": "U0ADA", "sha256": digest_of(secret), "items": ["*", "pay-bands"],
            "may_ask": True,
        }
    ]  # fmt: skip

    listed = await cli("key", "list")
    assert listed.out == "claude-code-ada  U0ADA  reads and asks: items of public channels, pay-bands\n"
    assert "sha256" not in (await cli("key", "list", "--json")).out
    again = await cli("key", "create", "claude-code-ada", "--owner", "U0ADA")
    assert (again.code, "Withdraw it first" in again.err) == (1, True)
    await cli("key", "create", "ci", "--owner", "U0ADA", "--items", "pay-bands")
    assert "ci  U0ADA  reads: pay-bands\n" in (await cli("key", "list")).out

    gone = await cli("key", "withdraw", "claude-code-ada")
    assert gone.out == "The key claude-code-ada opens nothing any more.\n"
    assert key_with(read_keys(path), f"Bearer {secret}") is None
    assert (await cli("key", "withdraw", "claude-code-ada")).err == "There is no key 'claude-code-ada'.\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("Ada's key", "--owner", "U0ADA"), "The name of a key has at most 40 small letters"),
        (("ada", "--owner", "Ada"), "--owner is the id of a member of your workspace"),
        (("ada", "--owner", "U0ADA", "--items", "a/b"), "--items has names of items"),
    ],
)
async def test_what_cannot_be_a_key_is_one_sentence(cli: Cli, words: tuple[str, ...], why: str) -> None:
    """And nothing is written."""
    ran = await cli("key", "create", *words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(why)
    assert (await cli("key", "list")).out == "There are no keys.\n"


async def test_a_secret_that_somebody_posts_is_hidden(cli: Cli) -> None:
    """In the record, in prompts and in the log."""
    made = await cli("key", "create", "ada", "--owner", "U0ADA")
    secret = made.out.split("\n")[0]
    found = Redactor()(f"Use {secret} for now.")
    assert (found.kinds, secret in found.text) == (("agent-key",), False)


async def test_a_file_of_keys_has_to_be_named(loaded: CommandLine, tmp_path: Path) -> None:
    """The command does not guess a place."""
    ran = await loaded.run(tmp_path, "key", "list")
    assert ran.err.startswith("ROUNDTABLE_AGENT_KEYS is not set.")


@pytest.mark.parametrize(
    "content", ["{", "{}", "[1]", '[{"name": "a"}]', '[{"name": "a", "owner": "U1", "sha256": "secret"}]']
)
def test_a_file_that_is_no_list_of_keys(tmp_path: Path, content: str) -> None:
    """The sentence quotes nothing of it."""
    (tmp_path / KEYS).write_text(content)
    with pytest.raises(ContentError, match="ROUNDTABLE_AGENT_KEYS: ") as refused:
        read_keys(tmp_path / KEYS)
    assert "secret" not in str(refused.value)


def test_two_keys_have_two_names(tmp_path: Path) -> None:
    """Else withdrawing one would withdraw another."""
    key = {"name": "a", "owner": "U1", "sha256": "0" * 64}
    (tmp_path / KEYS).write_text(json.dumps([key, key]))
    with pytest.raises(ContentError, match="each with a name of its own"):
        read_keys(tmp_path / KEYS)


def test_only_the_whole_secret_opens(tmp_path: Path) -> None:
    """In the header that the field has for it."""
    (tmp_path / KEYS).write_text(json.dumps([{"name": "a", "owner": "U1", "sha256": digest_of("rtk_one")}]))
    keys = read_keys(tmp_path / KEYS)
    assert key_with(keys, "bearer  rtk_one")
    for header in (
        "",
        "rtk_one",
        "Basic rtk_one",
        "Bearer rtk_on",
        "Bearer ",
        f"Bearer {keys[0].sha256}",
        "Bearer \udcff",
    ):
        assert key_with(keys, header) is None
