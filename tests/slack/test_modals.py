"""Forms as modals: opened from a button, saved before they are acknowledged, and kept open when something is wrong."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.domain.messages import menus, step_card
from bot.domain.messages.form import (
    FieldKind,
    FormField,
    FormName,
    FormOption,
    InputForm,
    OptionGroup,
    SubmissionResult,
    settings,
)
from bot.domain.messages.message import Action, Message
from bot.domain.values.places import Place
from bot.errors import NotNow, Unavailable, UserError
from bot.slack import modals
from bot.slack.chat import SlackChat
from bot.slack.client import Identity
from bot.slack.limits import size
from bot.slack.parse import Malformed
from bot.slack.reception import NOT_SAVED
from slack_sandbox import Sandbox
from slack_sandbox.rules.blocks import view_problems
from tests.slack.conftest import NOW, ScriptedDesk, payload

OPTIONS = (FormOption(value="must", label="Must"), FormOption(value="could", label="Could", about="Later"))
TITLE = FormField(name="title", label="Title", kind=FieldKind.LINE, initial="Soon", required=True, revision=4)
GROUPS = (OptionGroup(label="New", options=OPTIONS),)
FORM = InputForm(
    name=FormName.AMEND,
    slug="offline-sync",
    subject="FR-003",
    title="Amend FR-003",
    intro="Said by **Grace**.",
    fields=(
        TITLE,
        FormField(name="detail", label="Detail", kind=FieldKind.TEXT, hint="All of it"),
        FormField(name="cons", label="Cons", kind=FieldKind.LIST, placeholder="One line for each"),
        FormField(name="days", label="Days", kind=FieldKind.NUMBER, initial="3"),
        FormField(name="priority", label="Priority", kind=FieldKind.CHOICE, options=OPTIONS, initial="must"),
        FormField(name="kind", label="Kind", kind=FieldKind.CHOICE, groups=GROUPS),
        FormField(name="needs", label="Needs", kind=FieldKind.REFS, options=OPTIONS, initial=("could",)),
        FormField(
            name="keep",
            label="Keep it?",
            kind=FieldKind.CHOICE,
            options=OPTIONS,
            initial="must",
            required=True,
        ),
    ),
)


async def pressed(sandbox: Sandbox, chat: SlackChat, place: Place) -> None:
    """Ada presses a button below a message of ours."""
    message = Message(text="The card.", token="k7", choices=(step_card.AMEND.but(value="FR-003"),))
    ts = await chat.post(place, message, key="card", again=False)
    await sandbox.person("ada").press(ts, "roundtable.amend")


@pytest.fixture
async def ada(connected: Sandbox, chat: SlackChat, desk: ScriptedDesk, place: Place) -> Any:
    """She has the form in front of her."""
    desk.shown = FORM
    await pressed(connected, chat, place)
    ada = connected.person("ada")
    await connected.until(lambda: ada.view is not None)
    return ada


# --- views ----------------------------------------------------------------------------------------------------------


def test_a_form_is_a_view_that_slack_takes() -> None:
    view = modals.view(FORM)
    blocks = {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}

    assert view_problems(view) == []
    assert view["callback_id"] == "roundtable.amend_form"
    assert json.loads(view["private_metadata"]) == {"i": "offline-sync", "s": "FR-003", "r": 0}
    assert {name: block["element"]["type"] for name, block in blocks.items()} == {
        "title.4": "plain_text_input",
        "detail.0": "plain_text_input",
        "cons.0": "plain_text_input",
        "days.0": "number_input",
        "priority.0": "static_select",
        "kind.0": "static_select",
        "needs.0": "multi_static_select",
        "keep.0": "radio_buttons",
    }
    assert blocks["title.4"]["element"]["action_id"] == "roundtable.title"


def test_the_longest_texts_fit() -> None:
    """Emoji count twice in Slack."""
    long = "🙂" * 2_000
    options = tuple(FormOption(value=f"FR-{n:03}", label=long, about=long) for n in range(300))
    fields = [
        FormField(
            name=f"{kind}{n}",
            label=long,
            hint=long,
            placeholder=long,
            kind=kind,
            options=options,
            initial="x" * 3_000,
        )
        for n in range(20)
        for kind in (FieldKind.LINE, FieldKind.LIST)
    ]
    fields += [FormField(name="c", label=long, kind=FieldKind.CHOICE, options=options, groups=())]
    view = modals.view(FORM.but(title=long, intro=long, submit=long, fields=tuple(fields)))

    assert view_problems(view) == []
    assert size(view["title"]["text"]) <= 24


# --- opening --------------------------------------------------------------------------------------------------------


async def test_a_button_opens_the_form_and_what_was_entered_comes_back(
    ada: Any, desk: ScriptedDesk, place: Place
) -> None:
    (name, where, person, action, subject) = desk.brought[0]
    assert (name, action, subject) == ("form", Action.AMEND, "FR-003")
    assert (where, person.id) == (place, "U0ADA")
    assert ada.view.title == "Amend FR-003"

    view = ada.view.id
    await ada.submit(
        {"roundtable.title": "In 2 days", "roundtable.needs": ["must", "could"], "roundtable.kind": "could"}
    )

    _, submission = desk.brought[-1]
    assert (submission.key, submission.slug, submission.subject) == (f"view.{view}", "offline-sync", "FR-003")
    assert submission.person.id == "U0ADA"
    assert submission.revisions["title"] == 4
    assert submission.values == {
        "title": "In 2 days",
        "detail": "",
        "cons": "",
        "days": "3",
        "priority": "must",
        "kind": "could",
        "needs": ("must", "could"),
        "keep": "must",
    }
    assert ada.view is None


async def test_a_form_that_came_too_late_says_what_to_write(
    connected: Sandbox, chat: SlackChat, desk: ScriptedDesk, place: Place
) -> None:
    """The store took longer than Slack waits."""
    connected.slack.triggers = type(connected.slack.triggers)(connected.slack.workspace.clock, seconds=-1)
    desk.shown = FORM
    await pressed(connected, chat, place)
    ada = connected.person("ada")

    await connected.until(lambda: bool(ada.ephemerals))
    assert ada.ephemerals[-1].text == (
        "Slack gave me no time to open the form. Press again, or write `FR-003: new words`."
    )
    assert ada.view is None


async def test_a_form_that_makes_no_sense_now_is_a_sentence(
    connected: Sandbox, chat: SlackChat, desk: ScriptedDesk, place: Place
) -> None:
    desk.fails = [UserError("There is no FR-003 any more.")]
    await pressed(connected, chat, place)

    ada = connected.person("ada")
    await connected.until(lambda: bool(ada.ephemerals))
    assert ada.ephemerals[-1].text == "There is no FR-003 any more."


# --- submitting -----------------------------------------------------------------------------------------------------


async def test_a_field_that_does_not_fit_is_marked(ada: Any, desk: ScriptedDesk) -> None:
    desk.results = [SubmissionResult(errors={"title": "Put a number in it."})]
    delivery = await ada.submit({"roundtable.title": "soon"})

    assert delivery.errors == {"title.4": "Put a number in it."}
    assert ada.view.title == "Amend FR-003"
    await ada.submit({"roundtable.title": "2 days"})
    assert ada.view is None


async def test_a_conflict_is_shown_in_its_place(ada: Any, desk: ScriptedDesk) -> None:
    mine = TITLE.but(initial="In 2 days", revision=5)
    desk.results = [SubmissionResult(form=FORM.but(fields=(mine,), submit="Save mine", close="Keep theirs"))]
    await ada.submit({"roundtable.title": "In 2 days"})

    assert ada.view.body["submit"]["text"] == "Save mine"
    await ada.submit()
    assert desk.brought[-1][1].values == {"title": "In 2 days"}
    assert desk.brought[-1][1].revisions == {"title": 5}


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(NotNow("I am saving."), "I am saving."), (Unavailable("no"), NOT_SAVED)],
    ids=["refused", "not saved"],
)
async def test_what_was_not_saved_stays_in_the_form(
    ada: Any, desk: ScriptedDesk, error: Exception, sentence: str
) -> None:
    desk.fails = [error]
    delivery = await ada.submit({"roundtable.title": "In 2 days"})

    assert delivery.errors == {"title.4": sentence}
    assert ada.view is not None


async def test_secrets_are_not_brought_in(us: Identity) -> None:
    body = submitted(us)
    body["view"]["state"]["values"]["title.4"]["roundtable.title"]["value"] = "xoxb-" + "1" * 12 + "-secret"
    hiding = replace(us, redact=lambda text: "[hidden]" if "secret" in text else text)

    assert "secret" in modals.submission(body, us, at=NOW).text("title")
    assert modals.submission(body, hiding, at=NOW).text("title") == "[hidden]"


def submitted(us: Identity) -> dict[str, Any]:
    assert us.team
    values = {"title.4": {"roundtable.title": {"type": "plain_text_input", "value": "2 days"}}}
    return payload(
        "view_submission",
        view__callback_id="roundtable.amend_form",
        view__private_metadata='{"i":"offline-sync","s":"FR-003","r":4}',
        view__state={"values": values},
    )


@pytest.mark.parametrize(
    "metadata", ["", "[]", "null", "7", "{}", '{"i":""}', '{"i":' + json.dumps("x" * 300) + "}"]
)
def test_a_view_that_is_not_ours_is_malformed(us: Identity, metadata: str) -> None:
    body = submitted(us)
    body["view"]["private_metadata"] = metadata
    with pytest.raises(Malformed):
        modals.submission(body, us, at=NOW)


@pytest.mark.parametrize("odd", [None, 7, [], {"roundtable.title": []}, {"roundtable.title": {"value": 7}}])
def test_odd_values_read_as_nothing(us: Identity, odd: object) -> None:
    body = submitted(us)
    body["view"]["state"]["values"] = {"title.4": odd, "title": odd, ".": odd, "title.x": odd}
    assert set(modals.submission(body, us, at=NOW).values.values()) <= {""}


async def test_a_typed_word_offers_the_button(connected: Sandbox, desk: ScriptedDesk) -> None:
    """It has no trigger of its own."""
    desk.reply = Message(
        text="The settings of **Offline sync**:", choices=(menus.SETTINGS.but(value="offline-sync"),)
    )
    desk.shown = settings("offline-sync", depth=None, muted=False)
    ada = connected.person("ada")
    await ada.slash("#roundtable", "/roundtable settings")
    (whisper,) = ada.ephemerals
    await ada.press(whisper, "roundtable.settings")

    await connected.until(lambda: ada.view is not None)
    assert desk.brought[-1][3:] == (Action.SETTINGS, "offline-sync")


def test_people_are_chosen_at_first() -> None:
    """By their ids; what is no id is left out, as Slack would refuse the form."""
    field = FormField(name="deciders", label="Who?", kind=FieldKind.PEOPLE, initial=("U0ADA", "<@x>"), most=5)
    shown = modals.view(FORM.but(fields=(field,)))
    (block,) = (one for one in shown["blocks"] if one["type"] == "input")

    assert block["element"]["initial_users"] == ["U0ADA"]
    assert view_problems(shown) == []
