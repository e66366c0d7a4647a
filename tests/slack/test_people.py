"""Slack's ids of people stand at this edge only (ADR 53): mapped when they come in, and back when they go out."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Roster
from bot.domain.messages.form import FieldKind, FormField, FormName, InputForm
from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.errors import Unavailable
from bot.slack import parse
from bot.slack.chat import SlackChat
from bot.slack.client import Identity
from bot.slack.modals import view, with_users
from bot.slack.people import PeopleDirectory
from slack_sandbox import Sandbox
from tests.sealing import SEAL
from tests.slack.conftest import NOW, payload

ADA, GRACE = (SEAL.person("T0SANDBOX", user) for user in ("U0ADA", "U0GRACE"))


class Users:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.is_kept = asyncio.Event()
        self.is_away = False

    async def users(self) -> Mapping[str, str]:
        self._answer()
        return self.kept

    async def keep_users(self, users: Mapping[str, str]) -> None:
        self._answer()
        self.kept |= users
        self.is_kept.set()

    def _answer(self) -> None:
        if self.is_away:
            raise Unavailable("The store is away.")


def directory(store: Users) -> PeopleDirectory:
    return PeopleDirectory(partial(SEAL.person, "T0SANDBOX"), store=store)


@pytest.fixture
def people() -> PeopleDirectory:
    return PeopleDirectory(partial(SEAL.person, "T0SANDBOX"))


@pytest.fixture
def known(us: Identity, people: PeopleDirectory) -> Identity:
    return replace(us, people=people)


@pytest.fixture
def chat(client: AsyncWebClient, roster: Roster, known: Identity) -> SlackChat:
    return SlackChat(client, roster, known)


def test_an_id_follows_from_the_team_the_user_and_the_oldest_key() -> None:
    """Nothing of Slack's is in it. A person who was forgotten is another one later."""
    ids = {ADA, GRACE, SEAL.person("T2", "U0ADA"), SEAL.person("T0SANDBOX", "U0ADA", generation=1)}

    assert len(ids) == 4
    assert all(len(id) == 12 and id.startswith("p-") and id == id.lower() for id in ids)


async def test_whom_it_learns_of_is_stored() -> None:
    """For the way back, after a restart and in another process."""
    store = Users()
    people, other = directory(store), directory(store)
    keeping = asyncio.create_task(people.keep())
    assert people.person("U0ADA") == people.person(ADA) == ADA
    await store.is_kept.wait()
    keeping.cancel()

    assert store.kept == {ADA: "U0ADA"}
    assert other.user(ADA) == ""
    assert [await other.find(ADA), await other.find(GRACE)] == ["U0ADA", ""]


async def test_whom_a_store_did_not_take_is_kept_when_it_is_back() -> None:
    """Nobody new has to come for that."""
    store = Users()
    people = directory(store)
    people.person("U0ADA")
    store.is_away = True
    with pytest.raises(Unavailable):
        await people.keep()
    assert await people.find(GRACE) == ""

    store.is_away = False
    await people.keep_new()
    assert store.kept == {ADA: "U0ADA"}


@pytest.mark.parametrize("name", ["message_in_thread", "message_file_share", "message_thread_broadcast"])
def test_no_id_of_slack_comes_in(known: Identity, name: str) -> None:
    """Neither of the author, nor of a file, nor of whom the text mentions."""
    event = {**payload(name)["event"], "text": "Ask <@U0GRACE1>, not <@U0ADA>"}
    us = replace(known, team="T0SANDBOX", user="U0ROUNDTABLE", bot="B0SANDBOX")
    found = parse.message(event, us, at=NOW)

    assert isinstance(found, parse.Placed)
    assert found.given.person.id == ADA
    assert "U0GRACE1" not in str(found)
    assert {one.by for one in found.given.files} <= {ADA}


async def test_a_person_is_reached_by_their_id(chat: SlackChat, place: Place, sandbox: Sandbox) -> None:
    """Also when the store was lost: then the members of the channel say who that is."""
    opened = await chat.open(place, Message(text="Dark mode", pings=(GRACE,)), key="root", again=False)
    await chat.tell(place.but(thread=opened.ts), ADA, Message(text="Only you."), reply_url="")

    assert [message.text for message in sandbox.person("ada").ephemerals] == ["Only you."]
    assert sandbox.messages()[0].text.startswith("<@U0GRACE>")
    assert (await chat.profile(ADA)).name == "Ada"
    assert ADA in await chat.members(place.channel)


async def test_who_is_not_in_the_channel_is_called_by_their_id(chat: SlackChat) -> None:
    """Slack is not asked who that is."""
    assert (await chat.profile("p-aaaaaaaaaa")).name == "p-aaaaaaaaaa"


def test_people_in_a_form_are_users_of_slack(known: Identity) -> None:
    known.people.person("U0ADA")
    field = FormField(name="who", label="Who?", kind=FieldKind.PEOPLE, initial=(ADA, GRACE))
    form = InputForm(name=FormName.START, slug="", title="Start", submit="Start", fields=(field,))

    [block] = view(with_users(form, known))["blocks"]
    assert block["element"]["initial_users"] == ["U0ADA"]


async def test_who_was_forgotten_is_a_new_person(people: PeopleDirectory) -> None:
    """Each time, also while the bot runs; nobody can be reached by the id from before."""
    first = people.person("U0ADA")
    people.leave_out({first})
    second = people.person("U0ADA")
    people.leave_out({first, second})

    assert len({first, second, people.person("U0ADA")}) == 3
    assert people.person("U0GRACE") == SEAL.person("T0SANDBOX", "U0GRACE")
    assert [await people.find(one) for one in (first, second, people.person("U0ADA"))] == ["", "", "U0ADA"]
