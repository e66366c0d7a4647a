"""Secrets in what a store keeps of a roundtable: gone from all of it, also while a bot saves."""

import pytest

from bot.cli.scrub import scrub_state
from bot.domain.privacy.redaction import Redactor
from bot.domain.roundtable.state import Roundtable
from bot.errors import Unavailable
from tests.contracts.conftest import AnyStore
from tests.domain.table import Table, shipped

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3


def leaky() -> Table:
    """Somebody gave a requirement with a token, which the bot of that time did not know; the step is open."""
    return Table(shipped()).start().say("For field work.").say(f"decision: use {TOKEN} for now", who="grace")


async def kept(store: AnyStore, slug: str) -> Roundtable:
    found = await store.get(slug)
    assert found
    return found


async def test_the_claims_and_lines_have_the_secret_no_more(store: AnyStore) -> None:
    """Nothing else is different, and the roundtable goes on."""
    table = leaky()
    before = table.rt.but(version=1)
    await store.put(before, expected=0)
    kinds = await scrub_state(store, before.slug, Redactor())
    after = await kept(store, before.slug)

    assert TOKEN in str(before.specification)
    assert TOKEN not in after.model_dump_json()
    assert set(kinds) == {"github-token"}
    assert after.specification.entries["DEC-001"]["text"] == "use [redacted:github-token] for now"
    assert (
        before.model_dump_json().replace(TOKEN, "[redacted:github-token]")
        == after.but(version=1).model_dump_json()
    )
    table.rt = after
    assert table.do_step().rt.steps_completed
    assert TOKEN not in "".join(table.world.files.values()) + table.world.meeting.decode()


async def test_without_a_secret_nothing_is_saved(store: AnyStore) -> None:
    """Nor is an item that no store has."""
    clean = Table(shipped()).start().rt.but(version=1)
    await store.put(clean, expected=0)

    assert await scrub_state(store, clean.slug, Redactor()) == ()
    assert await scrub_state(store, "night-mode", Redactor()) == ()
    assert (await kept(store, clean.slug)).version == 1


async def test_what_a_bot_saves_meanwhile_is_scrubbed_too(
    store: AnyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision is made again on what it saved; one that saves all the time is not waited for."""
    before = leaky().rt.but(version=1)
    await store.put(before, expected=0)
    get, saves = store.get, iter(range(1))

    async def overtaken(slug: str) -> Roundtable | None:
        found = await get(slug)
        assert found
        if next(saves, None) is not None:
            newer = found.but(version=found.version + 1, title=f"Sync {TOKEN} {found.version}")
            await store.put(newer, expected=found.version)
        return found

    monkeypatch.setattr(store, "get", overtaken)
    assert await scrub_state(store, before.slug, Redactor())
    after = await get(before.slug)
    assert after
    assert (after.title, after.version) == ("Sync [redacted:github-token] 1", 3)
    assert TOKEN not in after.model_dump_json()

    await store.put(before.but(version=4), expected=3)
    saves = iter(range(1_000))
    with pytest.raises(Unavailable, match="run the command again"):
        await scrub_state(store, before.slug, Redactor())
