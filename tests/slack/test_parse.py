"""What Slack's payloads mean: each kind as Slack sends it, from a file."""

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.messages import menus
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import Amend, Press, Retract, Say
from bot.domain.roundtable.outcomes import Attachment
from bot.domain.values.places import Belonging, ChannelKind, Person, Place
from bot.engine.verbs.table import VERBS
from bot.engine.verbs.verb import VerbRequest
from bot.slack import parse
from bot.slack.client import Identity
from bot.slack.parse import CUT, Malformed, room_in
from bot.slack.render import action_id, value_of
from tests.slack.conftest import NOW, payload

US = Identity(team="T0SANDBOX", user="U0ROUNDTABLE", bot="B0SANDBOX")
CHANNEL = Place(team="T0SANDBOX", channel="C0TEAM")
THREAD = CHANNEL.but(thread="1767261500.000100")
ADA = Person(id="U0ADA")


def words(name: str, **changes: Any) -> parse.PersonMessage | None:
    said = parse.message(payload(name, **changes)["event"], US, at=NOW)
    assert said is None or isinstance(said, parse.PersonMessage)
    return said


def changed(name: str, **changes: Any) -> object:
    return parse.message(payload(name, **changes)["event"], US, at=NOW)


def mentioned(name: str, **changes: Any) -> VerbRequest | parse.PersonMessage | None:
    return parse.mention(payload(name, **changes)["event"], US, at=NOW)


def commanded(text: str) -> VerbRequest:
    return parse.command(payload("slash_command", text=text), US, at=NOW)


def test_a_reply_in_a_thread_is_what_a_person_said() -> None:
    """Keyed by channel and stamp, which Slack repeats unchanged."""
    said = Say(
        key="C0TEAM.1767261600.000200",
        at=NOW,
        person=ADA,
        text="Nurses, at night & in the dark",
        ts="1767261600.000200",
        private=False,
        under_us=True,
    )

    assert words("message_in_thread") == (THREAD, said)


@pytest.mark.parametrize(
    ("above", "known"), [(US.user, True), ("U0ADA", False), ("", None), (None, None), (7, None)]
)
def test_whether_a_thread_is_below_a_post_of_ours_is_known_where_slack_says_it(
    above: object, *, known: bool | None
) -> None:
    """Of a bot that posts under another name it does not."""
    event = {**payload("message_in_thread")["event"], "parent_user_id": above}

    found = parse.message(event, US, at=NOW)

    assert isinstance(found, parse.PersonMessage)
    assert found.said.under_us is known


@pytest.mark.parametrize("name", ["message_thread_broadcast", "message_file_share"])
def test_words_that_come_with_something_count(name: str) -> None:
    """A reply shown in the channel too, or one with a file, is still a reply."""
    assert words(name) is not None


SKETCH = Attachment(id="F0SKETCH", name="sketch.png", type="image/png", by="U0ADA")
LINK = "https://sandbox.slack.com/files/U0ADA/F0SKETCH/sketch.png"


def test_a_file_is_recorded_with_the_words() -> None:
    """What it is called, where it is, who shared it; nothing is downloaded."""
    file = {
        "id": "F0SKETCH",
        "name": "sketch.png",
        "mimetype": "image/png",
        "permalink": LINK,
        "user": "U0ADA",
    }
    said = words("message_file_share", event__files=[file])

    assert said is not None
    assert said.said.text == "The sketch"
    assert said.said.files == (SKETCH.but(permalink=LINK),)


def test_a_message_of_only_a_file_says_so() -> None:
    """It is a note, which can be cited."""
    said = words("message_file_share", event__text="")

    assert said is not None
    assert said.said.text == "shared sketch.png"
    assert said.said.files == (SKETCH,)


def test_a_file_in_a_thread_that_is_read_counts_too() -> None:
    """What nobody heard in time is read there."""
    event = payload("message_file_share", event__text="")["event"]

    heard = parse.heard(event, US)

    assert heard is not None
    assert (heard.text, heard.files) == ("shared sketch.png", (SKETCH,))


@pytest.mark.parametrize(
    "files",
    [
        None,
        "x",
        7,
        [],
        ["x"],
        [{}],
        [{"id": "F1", "mode": "tombstone"}],
        [{"name": "a"}],
        [{"id": 7, "name": "a"}],
    ],
)
def test_what_is_no_file_is_not_recorded(files: object) -> None:
    """A deleted file has no name; other payloads come from nobody who means well."""
    assert words("message_file_share", event__text="", event__files=files) is None
    said = words("message_file_share", event__files=files)
    assert said is not None
    assert said.said.files == ()


def test_a_link_that_is_no_address_is_left_out() -> None:
    """It stands in the transcript, and on its page."""
    file = {"id": "F1", "name": "a <b>\n.png", "permalink": "javascript:alert(1)"}
    said = words("message_file_share", event__files=[file])

    assert said is not None
    assert said.said.files == (Attachment(id="F1", name="a <b> .png", by="U0ADA"),)


def test_a_file_that_is_taken_away_takes_the_message_back() -> None:
    """The message of only a file says nothing any more; an unfurled one changes nothing."""
    before = {**payload("message_file_share", event__text="")["event"]}
    gone = {
        **before,
        "files": [{"id": "F0SKETCH", "mode": "tombstone"}],
        "edited": {"user": "U0ADA", "ts": "1.2"},
    }

    assert isinstance(
        changed("message_changed", event__message=gone, event__previous_message=before), parse.Retracted
    )
    assert changed("message_changed", event__message=before, event__previous_message=before) is None


def test_what_is_said_in_the_third_person_counts() -> None:
    """`/me agrees` works in threads, too, and somebody has said it."""
    said = words("message_in_thread", event__subtype="me_message", event__text="agrees")

    assert said is not None
    assert said.said.text == "agrees"


@pytest.mark.parametrize(("enterprise", "belongs"), [("", Belonging.EXTERNAL), ("E0ORG", Belonging.UNKNOWN)])
def test_who_comes_from_another_workspace_is_external_unless_an_organisation_has_both(
    enterprise: str, belongs: Belonging
) -> None:
    """In an Enterprise Grid only Slack can say, and is asked with the name."""
    event = {**payload("message_in_thread")["event"], "user_team": "T0ELSEWHERE"}
    said = parse.message(event, replace(US, enterprise=enterprise), at=NOW)

    assert isinstance(said, parse.PersonMessage)
    assert said.said.person.belongs is belongs


@pytest.mark.parametrize(
    "name",
    [
        "message_in_channel",
        "message_of_persona",
        "message_of_other_bot",
        "message_channel_join",
    ],
)
def test_everything_else_that_slack_calls_a_message_is_not(name: str) -> None:
    """Bots, joins, and whatever is said outside threads."""
    assert words(name) is None


@pytest.mark.parametrize(
    "changes", [{"event__text": ""}, {"event__text": " \u200b"}, {"event__user": "USLACKBOT"}]
)
def test_a_message_without_words_or_without_a_person_is_none(changes: dict[str, str]) -> None:
    """A picture alone says nothing that could be written down."""
    assert words("message_in_thread", **changes) is None


def test_what_is_said_to_us_is_heard_once() -> None:
    """Slack delivers a mention as a message, too; only the mention counts, and both have one key."""
    event = payload("mention_in_thread")["event"]

    asked = parse.mention(event, US, at=NOW)

    assert parse.message({**event, "type": "message"}, US, at=NOW) is None
    assert isinstance(asked, VerbRequest)
    assert (asked.verb, asked.place, asked.key) == ("status", THREAD, "C0TEAM.1767261640.000700")


def test_who_talks_about_us_in_a_thread_talks_to_the_table() -> None:
    """The message is heard, the mention adds nothing."""
    text = "ask <@U0ROUNDTABLE> to stop"

    said = words("message_in_thread", event__text=text)

    assert mentioned("mention_in_thread", event__text=text) is None
    assert said is not None
    assert said.said.text == "ask @U0ROUNDTABLE to stop"


def test_words_after_a_mention_are_words() -> None:
    """What is no verb is for the roundtable of the thread, without the mention."""
    said = mentioned("mention_in_thread", event__text="<@U0ROUNDTABLE>, stop worrying about that")

    assert isinstance(said, parse.PersonMessage)
    assert (said.said.text, said.said.to_us) == ("stop worrying about that", True)


@pytest.mark.parametrize(
    ("name", "text", "verb"),
    [
        ("mention_in_channel", "<@U0ROUNDTABLE> hello", "help"),
        ("mention_in_thread", "<@U0ROUNDTABLE>", "about"),
    ],
)
def test_a_call_that_says_nothing_is_answered(name: str, text: str, verb: str) -> None:
    asked = mentioned(name, event__text=text)

    assert isinstance(asked, VerbRequest)
    assert asked.verb == verb


def test_a_start_by_mention_takes_the_thread_under_it() -> None:
    """In a thread that thread, in a channel the one below the message; the answer goes where people look."""
    in_channel = mentioned("mention_in_channel")
    in_thread = mentioned("mention_in_thread", event__text="<@U0ROUNDTABLE> start #42")

    assert isinstance(in_channel, VerbRequest)
    assert isinstance(in_thread, VerbRequest)
    assert (in_channel.rest, in_channel.place, in_channel.adopts) == (
        "Dark mode",
        CHANNEL,
        "1767261640.000700",
    )
    assert (in_thread.rest, in_thread.place, in_thread.adopts) == ("#42", THREAD, THREAD.thread)


def test_a_command_is_a_verb_and_the_rest() -> None:
    """A new roundtable gets a thread of its own."""
    asked = commanded("start Dark mode")

    assert (asked.verb, asked.rest, asked.place, asked.adopts) == ("start", "Dark mode", CHANNEL, "")
    assert asked.person == Person(id="U0ADA", name="ada")
    assert asked.key.startswith("command.")
    assert asked.reply_url


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("START  Dark mode", ("start", "Dark mode")),
        ("start: two\nlines", ("start", "two\nlines")),
        ("depth, deep", ("depth", "deep")),
        ("resume dark-mode", ("resume", "dark-mode")),
        ("list", ("list", "")),
        ("start", ("start", "")),
        ("help me with this", None),
        ("stop dark-mode", ("stop", "dark-mode")),
        ("stop talking about that", None),
        ("starting up", None),
        ("review", ("review", "")),
        ("catch me up", ("catchup", "")),
        ("Catch up, please", ("catchup", "")),
        ("catchup dark-mode", ("catchup", "dark-mode")),
        ("catch me up on dark-mode", ("catchup", "dark-mode")),
        ("catch me up when you can", None),
        ("decisions", ("decisions", "")),
        ("decisions token bucket", ("decisions", "token bucket")),
        ("decisions are hard to make when all are away", None),
        ("export", ("export", "")),
        ("export dark-mode", ("export", "dark-mode")),
        ("export it as a file", None),
        ("", ("about", "")),
    ],
)
def test_verbs_are_told_from_sentences(text: str, found: tuple[str, str] | None) -> None:
    """A verb that takes one word or none is not meant when a sentence follows."""
    assert VERBS.read_mention(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("status Offline sync", ("status", "Offline sync")),
        ("Resume the mobile app", ("resume", "the mobile app")),
        ("catch me up on dark-mode", ("catchup", "dark-mode")),
        ("", ("about", "")),
        ("dance", ("help", "dance")),
    ],
)
def test_a_command_is_always_for_us(text: str, found: tuple[str, str]) -> None:
    """What follows the verb is what it is about, and what is no verb asks for help."""
    assert (commanded(text).verb, commanded(text).rest) == found


def test_a_press_names_its_action_and_its_menu() -> None:
    """And where it stood, so that the answer goes there."""
    press = Press(
        key="press.12466734323.1395872398.6e3c1c5a8f",
        at=NOW,
        person=Person(id="U0ADA", name="ada"),
        action=Action.CONTINUE,
        token="0123456789abcdef",
        ts="1767261660.000900",
    )

    assert parse.press(payload("block_actions"), US, at=NOW) == parse.Pressed(THREAD, press)


def test_one_of_several_buttons_with_one_action_names_which() -> None:
    """The second option to decide on, as `blocks` writes it."""
    body = payload("block_actions")
    choice = menus.options(("Redis", "SQLite"))[1]
    body["actions"][0] |= {"action_id": f"{action_id(choice.action)}.2", "value": value_of(choice, "t0ken")}
    pressed = parse.press(body, US, at=NOW)

    assert isinstance(pressed, parse.Pressed)
    assert (pressed.press.action, pressed.press.value) == (Action.DECIDE, "1")
    assert pressed.press.token == "t0ken"


@pytest.mark.parametrize(
    ("menu", "option", "action", "value"),
    [
        ("roundtable.more", "k7/depth_brief", Action.DEPTH_BRIEF, ""),
        ("roundtable.more.2", "k7/withdraw/FR-003", Action.WITHDRAW, "FR-003"),
        ("roundtable.line", "k7/3/accept", Action.LINE, "3/accept"),
    ],
)
def test_an_option_of_a_menu_is_a_press_of_the_action_that_it_names(
    menu: str, option: str, action: str, value: str
) -> None:
    """The menu itself is no action."""
    pressed = parse.press(_chosen(menu, option), US, at=NOW)

    assert isinstance(pressed, parse.Pressed)
    assert (pressed.press.action, pressed.press.token, pressed.press.value) == (action, "k7", value)


def test_all_that_was_chosen_from_a_list_is_one_press() -> None:
    """Nothing chosen is none."""
    body = payload("block_actions")
    options = [{"value": "item/DEC-001/FR-001"}, {"value": "item/DEC-001/OBJ-001"}, "odd"]
    body["actions"][0] |= {"action_id": "roundtable.changes", "selected_options": options, "value": None}
    pressed = parse.press(body, US, at=NOW)

    assert isinstance(pressed, parse.Pressed)
    assert (pressed.press.token, pressed.press.value) == ("item", "DEC-001/FR-001,DEC-001/OBJ-001")

    body["actions"][0]["selected_options"] = []
    assert parse.press(body, US, at=NOW) is None


def test_an_option_may_open_a_form() -> None:
    """As a button does; it says about what."""
    asked = parse.press(_chosen("roundtable.more.2", "k7/amend/FR-003"), US, at=NOW)

    assert isinstance(asked, parse.FormRequest)
    assert (asked.action, asked.subject) == (Action.AMEND, "FR-003")


def test_an_option_of_another_version_is_no_press() -> None:
    """The person is told so, as for a button."""
    assert parse.press(_chosen("roundtable.more", "k7/dance"), US, at=NOW) is None


def test_an_option_may_be_a_verb() -> None:
    """As the button of the same name."""
    asked = parse.press(_chosen("roundtable.more", "k7/export"), US, at=NOW)

    assert isinstance(asked, VerbRequest)
    assert asked.verb == "export"


def _chosen(menu: str, option: str) -> dict[str, Any]:
    body = payload("block_actions")
    chosen = {"text": {"type": "plain_text", "text": "One", "emoji": True}, "value": option}
    kept = {name: body["actions"][0][name] for name in ("block_id", "action_ts")}
    body["actions"] = [{**kept, "type": "overflow", "action_id": menu, "selected_option": chosen}]
    return body


def test_a_press_in_a_picker_is_a_resume() -> None:
    """The picker is ephemeral: it belongs to no menu, and its message is not sent along."""
    picked = parse.press(payload("block_actions_picker"), US, at=NOW)

    assert isinstance(picked, parse.Picked)
    assert (picked.asked.verb, picked.asked.rest, picked.asked.place) == ("resume", "dark-mode", CHANNEL)
    assert picked.asked.reply_url


@pytest.mark.parametrize(("action", "verb"), [("catch_up", "catchup"), ("export", "export")])
def test_a_button_may_say_what_could_be_typed(action: str, verb: str) -> None:
    """About the item that is its value; it belongs to no menu either."""
    body = payload("block_actions_picker")
    body["actions"][0]["action_id"] = f"roundtable.{action}"
    asked = parse.press(body, US, at=NOW)

    assert isinstance(asked, VerbRequest)
    assert (asked.verb, asked.rest, asked.place) == (verb, "dark-mode", CHANNEL)
    assert asked.reply_url


@pytest.mark.parametrize("action", ["somebody.elses", "roundtable.vote", "roundtable.", "continue"])
def test_a_button_we_do_not_know_is_none(action: str) -> None:
    """Of another app, or of another version of this one."""
    body = payload("block_actions")
    body["actions"][0]["action_id"] = action

    assert parse.press(body, US, at=NOW) is None


def test_a_shortcut_takes_the_first_line_as_the_title() -> None:
    """And the message's thread, which may not have begun yet."""
    asked = parse.shortcut(payload("message_action"), US, at=NOW)

    assert (asked.verb, asked.rest) == ("start", "Dark mode for #ward-7")
    assert (asked.place, asked.adopts) == (CHANNEL, "1767261600.000200")


def test_a_shortcut_on_a_message_of_one_line_takes_its_first_sentence() -> None:
    """What is said after it is read in the thread."""
    body = payload("message_action")
    body["message"]["text"] = "Rate limiting of the public API. Legal asked twice, and we need it by May."

    assert parse.shortcut(body, US, at=NOW).rest == "Rate limiting of the public API"


def test_a_message_may_be_as_long_as_slack_allows_and_no_longer() -> None:
    """What is cut says so."""
    said = words("message_in_thread", event__text="a" * 50_000)

    assert said is not None
    assert said.said.text == "a" * 40_000 + CUT


@pytest.mark.parametrize("name", ["message_in_thread", "block_actions", "slash_command", "message_action"])
def test_it_is_always_known_whom_to_answer_and_where(name: str) -> None:
    """Even when nothing else in the payload can be used."""
    assert parse.sender(payload(name), US) == "U0ADA"
    assert parse.origin(payload(name), US).channel == "C0TEAM"


# --- changes of what was said -------------------------------------------------------------------------------------


def test_an_edit_is_what_the_message_says_now() -> None:
    """Keyed by the edition: each later one is another input, and each delivery of one is the same."""
    amend = Amend(
        key="C0TEAM.1767261600.000200.1767261700.000000",
        at=NOW,
        person=ADA,
        text="Nurses, at night & in the dark",
        ts="1767261600.000200",
    )

    assert changed("message_changed") == parse.Amended(THREAD, amend)


@pytest.mark.parametrize(
    "changes",
    [
        {"event__previous_message__text": "Nurses, at night &amp; in the dark"},
        {"event__message__bot_id": "B0OTHER"},
        {"event__message__user": US.user},
        {"event__message__subtype": "bot_message"},
        {"event__message__edited": {"user": US.user, "ts": "1.1"}},
        {"event__message__thread_ts": ""},
        {"event__message__text": "<@U0ROUNDTABLE> stop"},
        {"event__message": "gone"},
        {"event__message": {}},
    ],
    ids=["link-preview", "other-bot", "own", "persona", "by-us", "no-thread", "verb", "strange", "empty"],
)
def test_other_changes_of_a_message_are_no_edits(changes: dict[str, Any]) -> None:
    """A link that unfolded, a bot at work, a command that was retyped: nobody took back a word."""
    assert changed("message_changed", **changes) is None


def test_an_edit_of_what_was_said_to_us_is_without_the_mention() -> None:
    """As the words were when they came in."""
    edit = changed(
        "message_changed",
        event__message__text="<@U0ROUNDTABLE> only at night",
        event__previous_message__text="<@U0ROUNDTABLE> at night",
    )

    assert isinstance(edit, parse.Amended)
    assert edit.amend.text == "only at night"


def test_a_deletion_names_what_is_gone() -> None:
    """Once, however often it is delivered."""
    gone = changed("message_deleted", event__previous_message__thread_ts=THREAD.thread)

    retract = Retract(key="C0TEAM.1767261600.000200.deleted", at=NOW, person=ADA, ts="1767261600.000200")
    assert gone == parse.Retracted(THREAD, retract)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"event__previous_message__bot_id": "B0SANDBOX"},
        {"event__previous_message": None},
        {
            "event__previous_message": {
                "user": ADA.id,
                "text": "<@U0ROUNDTABLE> status",
                "ts": "1.1",
                "thread_ts": "1.0",
            }
        },
    ],
    ids=["no-thread", "bot", "nothing", "verb"],
)
def test_a_deletion_elsewhere_or_of_a_bot_is_none(changes: dict[str, Any]) -> None:
    """Our own posts may be deleted: the record keeps what was said. A command is no part of it."""
    assert changed("message_deleted", **changes) is None


def test_a_root_that_leaves_a_grave_is_deleted_too() -> None:
    """Slack reports that as a change, when the thread goes on."""
    gone = changed(
        "message_changed",
        event__message={"subtype": "tombstone", "user": "USLACKBOT", "ts": THREAD.thread},
        event__previous_message={
            "user": ADA.id,
            "text": "?",
            "ts": THREAD.thread,
            "thread_ts": THREAD.thread,
        },
    )

    assert isinstance(gone, parse.Retracted)
    assert (gone.place, gone.retract.ts) == (THREAD, THREAD.thread)


def test_emptying_a_message_takes_it_back() -> None:
    """What is left may be a file."""
    assert isinstance(
        changed(
            "message_changed",
            event__message__text="",
            event__previous_message={
                "user": ADA.id,
                "text": "Nurse",
                "ts": "1767261600.000200",
                "thread_ts": THREAD.thread,
            },
        ),
        parse.Retracted,
    )


# --- what Slack would not send ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("message_in_thread", {"event__ts": 5}),
        ("message_in_thread", {"event__channel": {}}),
        ("message_in_thread", {"event__channel": "C" * 300}),
        ("message_in_thread", {"event__ts": "17672\ud800"}),
    ],
)
def test_words_without_a_place_are_malformed(name: str, changes: dict[str, Any]) -> None:
    """A key made of nonsense would be one that Slack does not repeat."""
    with pytest.raises(Malformed):
        words(name, **changes)


@pytest.mark.parametrize("missing", ["trigger_id", "channel_id", "user_id"])
def test_a_command_without_its_ids_is_malformed(missing: str) -> None:
    """Whom to answer, where, and which command it was: all three are needed."""
    body = payload("slash_command")
    del body[missing]

    with pytest.raises(Malformed, match=missing):
        parse.command(body, US, at=NOW)


def test_a_reply_url_that_is_no_address_is_not_used() -> None:
    """Nothing is posted to whatever else stands there."""
    assert parse.command(payload("slash_command", response_url="file:///etc"), US, at=NOW).reply_url == ""


def test_of_a_huge_text_only_the_beginning_is_read() -> None:
    """Five megabytes are no answer to anything."""
    said = words("message_in_thread", event__text="<@U0GRACE> " * 500_000)

    assert said is not None
    assert len(said.said.text) <= 40_000 + len(CUT)


@pytest.mark.parametrize(
    ("channel", "said", "room"),
    [
        ("D1", {}, ChannelKind.DIRECT),
        ("C1", {"name": "directmessage"}, ChannelKind.DIRECT),
        ("C1", {"name": "mpdm-ada--grace-1"}, ChannelKind.DIRECT),
        ("G1", {"name": "mpdm-ada--grace-1"}, ChannelKind.DIRECT),
        ("C1", {"kind": "mpim"}, ChannelKind.DIRECT),
        ("C1", {"name": "privategroup"}, ChannelKind.PRIVATE),
        ("G1", {}, ChannelKind.PRIVATE),
        ("C1", {"kind": "group"}, ChannelKind.PRIVATE),
        ("C1", {"kind": "channel"}, ChannelKind.PUBLIC),
        ("C1", {"name": "general"}, ChannelKind.UNKNOWN),
    ],
)
def test_what_a_payload_says_of_its_channel(channel: str, said: dict[str, str], room: ChannelKind) -> None:
    """By its id, by the name in commands and clicks, by the `channel_type` of events."""
    assert room_in(channel, **said) is room


# --- to us ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mention", ["", "<@U0ROUNDTABLE> "])
def test_a_mention_is_a_fact_and_no_words(mention: str) -> None:
    """The same live and in the thread; an edit of nothing else changes nothing."""
    text = "what if we don't agree?"
    raw = f"{mention}{text}"
    edit = changed(
        "message_changed",
        event__message__text=f"<@U0ROUNDTABLE> {text}",
        event__previous_message__text=text,
    )
    live = (mentioned if mention else words)("mention_in_thread", event__text=raw)
    read = parse.heard({**payload("mention_in_thread", event__text=raw)["event"]}, US)

    assert isinstance(live, parse.PersonMessage)
    assert read
    assert {(one.text, one.to_us) for one in (live.said, read)} == {(text, bool(mention))}
    assert edit is None
