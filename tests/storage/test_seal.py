"""A seal is good for one home of one item, under the keys of one bot."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.domain.item.meta import MetaChange, SlackPlace
from bot.keys import seal_key, slug_secret
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.samples import NOW, a_commit

SLUG = "offline-sync"
HOME = SlackPlace(team_id="T1", channel_id="C1", thread_ts="17.1", started_by="U1", private=True)
KEY, OLD = b"the newest of our keys", b"the one before that"


@pytest.mark.parametrize(
    "other",
    [
        {"team_id": "T2"},
        {"channel_id": "C2"},
        {"thread_ts": "17.2"},
        {"private": False},
        {"private": None},
        {"started_by": "U2"},
        {"team_id": "T1C", "channel_id": "1"},
    ],
)
def test_what_is_sealed_cannot_be_changed(other: dict[str, Any]) -> None:
    """Not one field of it, nor where one ends and the next begins."""
    seal = Seal([KEY])
    sealed = HOME.but(seal=seal.sign(SLUG, HOME))

    assert seal.is_valid(SLUG, sealed)
    assert not seal.is_valid(SLUG, sealed.but(**other))
    assert not seal.is_valid("offline-syncT", sealed)


@pytest.mark.parametrize("seal", ["", "0" * 64, "\u00e9" * 64, "x"])
def test_anything_else_is_none(seal: str) -> None:
    """Whatever somebody wrote there; without keys nothing is valid at all."""
    assert not Seal([KEY]).is_valid(SLUG, HOME.but(seal=seal))
    assert not Seal().is_valid(SLUG, HOME.but(seal=Seal().sign(SLUG, HOME)))


def test_older_keys_are_accepted_and_the_newest_signs() -> None:
    """So a key can be changed without a question to anybody."""
    both = Seal([KEY, OLD])

    assert both.is_valid(SLUG, HOME.but(seal=Seal([OLD]).sign(SLUG, HOME)))
    assert both.sign(SLUG, HOME) == Seal([KEY]).sign(SLUG, HOME)
    assert not Seal([KEY]).is_valid(SLUG, HOME.but(seal=Seal([OLD]).sign(SLUG, HOME)))


def test_derived_keys_stay_as_they_are() -> None:
    """Seals that were made and slugs that were given by an older version have to count."""
    assert seal_key("xoxb-1").hex() == "573788d8633a669d0ad401959bff9bfa95c4196ab33be4247718fca244c076b7"
    assert slug_secret("xoxb-1") == b"slugs.xoxb-1"


def by_hand(root: Path, content: str) -> None:
    """A person commits a meta.json."""
    git = Git(root)
    git.begin()
    git.commit(f"docs/requirements/{SLUG}/meta.json", content)


async def test_every_commit_seals_the_home_that_the_store_has(tmp_path: Path) -> None:
    """Whatever the file said; fields that others added to it stay, also beside the seal."""
    file = tmp_path / "docs/requirements" / SLUG / "meta.json"
    theirs = {"channel_id": "C9", "thread_ts": "99.9", "seal": "0" * 64, "mood": "good", "private": False}
    by_hand(tmp_path, json.dumps({"slug": SLUG, "slack": theirs}))
    async with GitWorkspace(tmp_path, seal=Seal([KEY])) as workspace:
        assert (await workspace.items())[0].home is None
        receipt = await workspace.commit(SLUG, a_commit(), now=NOW, home=HOME.but(private=None))
        (listed,) = await workspace.items()

    slack = json.loads(file.read_text())["slack"]
    assert slack["mood"] == "good"
    assert "private" not in slack
    assert (listed.channel, listed.thread, listed.sealed, listed.private) == ("C1", "17.1", True, None)
    assert receipt.state.meta.slack == HOME.but(private=None, seal=slack["seal"])


async def test_without_a_thread_nothing_of_the_file_is_sealed(tmp_path: Path) -> None:
    """A roundtable whose thread is gone does not vouch for the one that somebody else wrote there."""
    by_hand(tmp_path, json.dumps({"slug": SLUG, "slack": {"channel_id": "C9", "thread_ts": "99.9"}}))
    async with GitWorkspace(tmp_path, seal=Seal([KEY])) as workspace:
        work = a_commit(change=MetaChange(slack=HOME.but(thread_ts="")))
        receipt = await workspace.commit(SLUG, work, now=NOW)
        (listed,) = await workspace.items()

    assert not listed.sealed
    assert receipt.state.meta.slack is None
