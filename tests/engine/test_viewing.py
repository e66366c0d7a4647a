"""Who counts as the least of those who read along, and which items they may be told of."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.domain.catalog.policy import GuestsSee, Policy
from bot.domain.item.item import KnownItem
from bot.domain.item.meta import SlackPlace
from bot.domain.messages.step_wording import surveyed
from bot.domain.roundtable.effects import Survey
from bot.domain.roundtable.outcomes import Surveyed
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Belonging, HeldItem, Person, Place, Viewer
from bot.engine.item_locator import ItemLocator
from bot.engine.performers import Performers
from bot.engine.ports import Listing, Profile, now
from bot.engine.viewing import MOST_MEMBERS, Viewers, held_item
from bot.errors import SlackError
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from bot.storage.sqlite import SqliteStore
from tests.domain.table import shipped
from tests.durability.sim_voices import SimVoices
from tests.durability.world import SimChat, SimRecords, SimWorkspace, World
from tests.patience import wait_until
from tests.sights import SightOf
from tests.storage.checkout import Git
from tests.storage.samples import NOW, a_commit, a_roundtable

MEMBER, GUEST, EXTERNAL = Belonging.MEMBER, Belonging.GUEST, Belonging.EXTERNAL
UNKNOWN = Belonging.UNVERIFIED
HERE, THERE = (Place(team="T1", channel=one, thread="1.1") for one in ("C1", "C2"))


@dataclass
class Channels:
    """*people* of each channel, by what they are."""

    people: Mapping[str, Mapping[str, Belonging]]
    shared: bool | None = False
    refuses: bool = False
    hangs: asyncio.Event | None = None
    asked: list[str] = field(default_factory=list)

    async def is_shared(self, channel: str) -> bool | None:  # noqa: ARG002 -- as the port has it
        if self.refuses:
            raise SlackError("Later.", reason="ratelimited", again=True)
        return self.shared

    async def members(self, channel: str) -> frozenset[str]:
        return frozenset(self.people[channel])

    async def profile(self, person: str) -> Profile:
        self.asked.append(person)
        if self.hangs:
            await self.hangs.wait()
        return Profile(person, next(one[person] for one in self.people.values() if person in one))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path) as opened:
        yield opened


def viewers(store: SqliteStore, chat: Channels, policy: Policy | None = None) -> Viewers:
    return Viewers(store, SimWorkspace(World()), chat, lambda _: policy or Policy())


def all_of(belongs: Belonging, count: int = 3) -> dict[str, Belonging]:
    return {f"U{number}": belongs for number in range(count)}


@pytest.mark.parametrize(
    ("chat", "least"),
    [
        (Channels({"C1": all_of(MEMBER)}), MEMBER),
        (Channels({"C1": {**all_of(MEMBER, 20), "U9X": GUEST}}), GUEST),
        (Channels({"C1": {"U1": EXTERNAL, "U2": GUEST}}), EXTERNAL),
        (Channels({"C1": {"U1": MEMBER, "U2": UNKNOWN}}), UNKNOWN),
        (Channels({"C1": all_of(MEMBER)}, shared=True), EXTERNAL),
        (Channels({"C1": all_of(MEMBER)}, shared=None), UNKNOWN),
        (Channels({"C1": all_of(MEMBER)}, refuses=True), UNKNOWN),
        (Channels({"C1": {}}), UNKNOWN),
        (Channels({"C1": {"U1": MEMBER, "U2": Belonging.LEFT}}), MEMBER),
        (Channels({"C1": all_of(MEMBER, MOST_MEMBERS)}), MEMBER),
        (Channels({"C1": all_of(MEMBER, MOST_MEMBERS + 1)}), UNKNOWN),
    ],
)
async def test_the_least_of_the_members_counts(store: SqliteStore, chat: Channels, least: Belonging) -> None:
    """What is not known, and what would be too many questions, counts as no member; who left reads nothing."""
    viewer = (await viewers(store, chat).at(HERE)).viewer

    assert (viewer.least, viewer.sees_code, viewer.place) == (least, least is MEMBER, HERE)


async def test_of_several_places_the_least_counts(store: SqliteStore) -> None:
    """And items of private channels are told in none of them; at no place nobody reads along."""
    chat = Channels({"C1": all_of(MEMBER), "C2": {"U9": GUEST}})
    found = viewers(store, chat)
    both, none = (await found.at(HERE, THERE)).viewer, (await found.at()).viewer

    assert both.least is GUEST
    assert not both.sees(HeldItem(team="T1", channel="C1", hidden=True))
    assert not none.sees(HeldItem())
    assert not none.sees_code


async def test_slack_is_not_waited_for_for_long(store: SqliteStore) -> None:
    """The search goes on, and a later question has its result; those who ask meanwhile share it."""
    chat = Channels({"C1": all_of(MEMBER, 3)}, hangs=asyncio.Event())
    found = Viewers(store, SimWorkspace(World()), chat, lambda _: Policy(), seconds=0.01)
    first = await asyncio.gather(found.at(HERE), found.at(HERE))
    again = await found.at(HERE)
    assert chat.hangs
    chat.hangs.set()
    await wait_until(lambda: len(chat.asked) == 3)

    assert [one.viewer.least for one in (*first, again)] == [UNKNOWN] * 3
    assert sorted(chat.asked) == ["U0", "U1", "U2"]
    assert (await viewers(store, chat).at(HERE)).viewer.least is MEMBER


@pytest.mark.parametrize("least", [MEMBER, GUEST, EXTERNAL, UNKNOWN, Belonging.UNKNOWN, Belonging.LEFT])
@pytest.mark.parametrize("sees", [(), (GuestsSee.CODE,), (GuestsSee.ITEMS,)])
async def test_a_policy_says_what_is_told_to_guests(
    store: SqliteStore, least: Belonging, sees: tuple[GuestsSee, ...]
) -> None:
    """Never of a private channel. Without tools personas tell nobody of the code."""
    policy = Policy(guests_see=sees)
    one = Person(id="U1", belongs=least)
    viewer = viewers(store, Channels({}), policy).of(one, HERE)
    without = viewers(store, Channels({}), policy.but(tools=False)).of(one, HERE)
    is_member = least is MEMBER

    assert viewer.sees_code is (is_member or GuestsSee.CODE in sees)
    assert viewer.sees(HeldItem(team="T1", channel="C2")) is (is_member or GuestsSee.ITEMS in sees)
    assert viewer.sees(HeldItem()) is (is_member or GuestsSee.ITEMS in sees)
    assert viewer.sees(HeldItem(team="T1", channel="C1", hidden=True))
    assert not viewer.sees(HeldItem(team="T1", channel="C2", hidden=True))
    assert not viewer.sees(HeldItem(team="T2", channel="C1", hidden=True))
    assert (without.sees_code, without.knows_code) == (False, viewer.knows_code)


class OneItem:
    """As the store has it, and as the workspace lists it."""

    def __init__(self, rt: Roundtable, listed: Listing | None) -> None:
        self._rt, self._listed = rt, listed

    async def get(self, _slug: str) -> Roundtable:
        return self._rt

    async def items(self) -> tuple[Listing, ...]:
        return (self._listed,) if self._listed else ()


LISTED = Listing(KnownItem(slug="x", title="X"), "raw", 0, team="T1", channel="C2", thread="1.1")


@pytest.mark.parametrize(
    ("private", "listed", "hidden"),
    [
        (False, None, False),
        (False, LISTED, False),
        (False, LISTED._replace(channel="", thread=""), False),
        (False, LISTED._replace(sealed=True, private=False), False),
        (False, LISTED._replace(sealed=True, private=True), True),
        (True, LISTED._replace(channel="", thread=""), True),
        (True, LISTED._replace(sealed=True, private=False), True),
        (None, LISTED._replace(sealed=True, private=False), True),
    ],
)
async def test_the_store_is_believed_and_what_we_signed(
    private: bool | None,  # noqa: FBT001
    listed: Listing | None,
    hidden: bool,  # noqa: FBT001
) -> None:
    """The stricter of both, also where a review is shown; what anyone could have pushed changes nothing."""
    rt = a_roundtable()
    rt = rt.but(manners=rt.manners.but(private=private))
    known: Any = OneItem(rt, listed._replace(known=KnownItem(slug=rt.slug, title="X")) if listed else None)
    home = await ItemLocator(known, known).home(rt.slug)

    assert home
    assert home.hidden is hidden
    assert held_item(rt, listed) == HeldItem(team=rt.place.team, channel=rt.place.channel, hidden=hidden)


@pytest.mark.parametrize("least", [MEMBER, GUEST])
async def test_where_a_guest_reads_along_the_code_is_not_searched(least: Belonging) -> None:
    """And people are told so with the questions of the step."""
    world = World()
    ports = SimChat(world), SimVoices(world), SimWorkspace(world), shipped(), now, SimRecords(world)
    performers = Performers(*ports, SightOf(Viewer(least=least)))
    outcome = await performers.perform(Survey(id="s", keywords=("light",)), a_roundtable())

    assert isinstance(outcome, Surveyed)
    assert outcome.survey.withheld is (least is GUEST)
    assert ("I do not look at the code" in surveyed(outcome.survey)) is (least is GUEST)


async def test_a_push_that_takes_the_channel_away_takes_no_privacy_away(tmp_path: Path) -> None:
    """What we signed last counts; an item that never had a channel stays an open one."""
    git, seal = Git(tmp_path / "w"), Seal((b"a key of sixteen bytes",))
    home = SlackPlace(team_id="T1", channel_id="C2", thread_ts="1.1")
    async with GitWorkspace(git.root, seal=seal) as workspace:
        for slug, private in (("closed", True), ("open", False), ("unsure", None)):
            work = a_commit(id=f"{slug}.i1.1")
            await workspace.commit(slug, work, now=NOW, home=home.but(private=private))
        for slug in ("closed", "open", "unsure", "foreign"):
            git.commit(f"docs/requirements/{slug}/meta.json", '{"description": "x"}')
        listed = {one.known.slug: one for one in await workspace.items()}

    assert {slug: (one.channel, one.hidden) for slug, one in listed.items()} == {
        "closed": ("C2", True),
        "open": ("C2", False),
        "unsure": ("C2", True),
        "foreign": ("", False),
    }
    assert not any(one.sealed or one.named for one in listed.values())
