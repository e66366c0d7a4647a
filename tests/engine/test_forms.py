"""Forms through the engine and a real store: two people with the same form open, and what is saved before an answer."""

from collections.abc import AsyncIterator

import pytest

from bot.domain.messages.form import FormName, InputForm, Submission
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import Specify
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.fold import Patch
from bot.domain.values.places import Person, Place
from bot.engine.commands import Commands
from bot.engine.ports import now
from bot.engine.verbs.verb import VerbRequest
from bot.errors import UserError
from tests.engine.replica import ADA, Replica, commands_of, discussing, replica

GRACE = Person(id="U2", name="Grace")
NEW = Patch(id="FR-001", kind="requirement", new=True, set={"title": "Limit requests"})


@pytest.fixture
async def one(redis_url: str) -> AsyncIterator[Replica]:
    async with replica(redis_url) as one:
        yield one


@pytest.fixture
async def rt(one: Replica) -> Roundtable:
    """With one requirement."""
    rt = discussing().rt.but(version=1)
    await one.store.put(rt, expected=0)
    return await one.engine.handle(rt.slug, Specify(key="view.V1", at=now(), person=ADA, patches=(NEW,)))


@pytest.fixture
def commands(one: Replica) -> Commands:
    return commands_of(one)


def entered(form: InputForm, person: Person, **values: str) -> Submission:
    return Submission(
        key=f"view.{person.id}",
        at=now(),
        person=person,
        name=form.name,
        slug=form.slug,
        subject=form.subject,
        values={one.name: one.initial for one in form.fields} | values,
        revisions={one.name: one.revision for one in form.fields},
    )


async def title(one: Replica, rt: Roundtable) -> object:
    return (await one.stored(rt)).specification.entries["FR-001"]["title"]


async def test_a_form_is_saved_when_it_is_answered(one: Replica, rt: Roundtable, commands: Commands) -> None:
    form = await commands.form(rt.place, ADA, Action.AMEND, "FR-001")
    result = await commands.submit(entered(form, ADA, title="Limit calls"))

    assert (result.errors, result.form) == ({}, None)
    assert await title(one, rt) == "Limit calls"


async def test_two_people_with_the_same_form(one: Replica, rt: Roundtable, commands: Commands) -> None:
    """The second sees what the first has saved, and saves theirs on purpose."""
    form = await commands.form(rt.place, ADA, Action.AMEND, "FR-001")
    await commands.submit(entered(form, GRACE, title="Limit all requests"))
    result = await commands.submit(entered(form, ADA, title="Limit calls"))

    assert result.form
    assert "Grace changed this while you were writing." in result.form.intro
    assert await title(one, rt) == "Limit all requests"
    await commands.submit(entered(result.form, ADA))
    assert await title(one, rt) == "Limit calls"


async def test_what_does_not_fit_is_said_and_not_saved(
    one: Replica, rt: Roundtable, commands: Commands
) -> None:
    form = await commands.form(rt.place, ADA, Action.AMEND, "FR-001")
    result = await commands.submit(entered(form, ADA, title=""))

    assert list(result.errors) == ["title"]
    assert await title(one, rt) == "Limit requests"


async def test_the_form_of_a_step_leads_to_that_of_an_entry(
    one: Replica, rt: Roundtable, commands: Commands
) -> None:
    other = NEW.but(id="FR-002", set={"title": "See the rest"})
    await one.engine.handle(rt.slug, Specify(key="view.V2", at=now(), person=ADA, patches=(other,)))
    form = await commands.form(rt.place, ADA, Action.AMEND, "")
    result = await commands.submit(entered(form, ADA, entry="FR-002"))

    assert form.name is FormName.AMEND_SECTION
    assert result.form
    assert (result.form.name, result.form.subject) == (FormName.AMEND, "FR-002")


async def test_the_settings_are_for_the_channel_of_the_item(
    one: Replica, rt: Roundtable, commands: Commands
) -> None:
    """Elsewhere nobody learns of it."""
    asked = VerbRequest(verb="settings", rest="", place=rt.place, person=ADA, key="k", at=now())
    offer = await commands.ask(asked)
    assert offer
    (button,) = offer.choices
    form = await commands.form(rt.place.but(thread=""), ADA, button.action, button.value)
    await commands.submit(entered(form, ADA, voices="quiet"))

    assert (await one.stored(rt)).manners.muted
    with pytest.raises(UserError):
        await commands.form(Place(team="T1", channel="C9"), ADA, button.action, button.value)
