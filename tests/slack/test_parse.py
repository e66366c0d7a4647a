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
from bot.slack.parse import CUT, Malformed, room_in
from bot.slack.render import action_id, value_of
from tests.slack.conftest import NOW, US, payload

CHANNEL = Place(team="T0SANDBOX", channel="C0TEAM")
THREAD = CHANNEL.but(thread="1767261500.000100")
ADA = Person(id="U0ADA")


def words(name: str, **changes: Any) -> parse.Placed[Say] | None:
    if (said := changed(name, **changes)) is None:
        return None
    assert isinstance(said.given, Say)
    return parse.Placed(said.place, said.given)


def changed(name: str, **changes: Any) -> parse.Placed[Say | Amend | Retract] | None:
    return parse.message(payload(name, **changes)["event"], US, at=NOW)


def mentioned(name: str, **changes: Any) -> VerbRequest | parse.Placed[Say] | None:
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

    assert isinstance(found, parse.Placed)
    assert found.given.under_us is known


SKETCH = Attachment(id="F0SKETCH", name="sketch.png", type="image/png", by="U0ADA")
LINK = "https://sandbox.slack.com/files/U0ADA/F0SKETCH/sketch.png"


FILE = {"id": "F0SKETCH", "name": "sketch.png", "mimetype": "image/png", "permalink": LINK, "user": "U0ADA"}
TRICKY = {"id": "F1", "name": "a <b>\n.png", "permalink": "javascript:alert(1)"}
NO_FILES: tuple[object, ...] = (
    None, "x", 7, [], ["x"], [{}], [{"id": "F1", "mode": "tombstone"}], [{"name": "a"}], [{"id": 7, "name": "a"}],
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "text", "files"),
    [
        ("message_thread_broadcast", {}, "Nurses, at night & in the dark", ()),
        ("message_file_share", {}, "The sketch", (SKETCH,)),
        ("message_file_share", {"event__files": [FILE]}, "The sketch", (SKETCH.but(permalink=LINK),)),
        (
            "message_file_share",
            {"event__files": [TRICKY]},
            "The sketch",
            (Attachment(id="F1", name="a <b> .png", by="U0ADA"),),
        ),
        *(("message_file_share", {"event__files": files}, "The sketch", ()) for files in NO_FILES),
        ("message_file_share", {"event__text": ""}, "shared sketch.png", (SKETCH,)),
        ("message_in_thread", {"event__subtype": "me_message", "event__text": "agrees"}, "agrees", ()),
        ("message_in_thread", {"event__text": "a" * 50_000}, "a" * 40_000 + CUT, ()),
        ("message_in_thread", {"event__text": "As an aside: lunch?"}, "As an aside: lunch?", ()),
        ("message_in_thread", {"event__text": "set aside: two days"}, "set aside: two days", ()),
    ],
)
def test_a_reply_is_its_words_and_its_files(
    name: str, changes: dict[str, Any], text: str, files: tuple[Attachment, ...]
) -> None:
    """Of a file its name, its link and who shared it. Only a beginning with "aside:" is an aside."""
    said = words(name, **changes)

    assert said is not None
    assert (said.given.text, said.given.files) == (text, files)


def test_a_file_in_a_thread_that_is_read_counts_too() -> None:
    """What nobody heard in time is read there."""
    event = payload("message_file_share", event__text="")["event"]

    heard = parse.heard(event, US)

    assert heard is not None
    assert (heard.text, heard.files) == ("shared sketch.png", (SKETCH,))


@pytest.mark.parametrize(("enterprise", "belongs"), [("", Belonging.EXTERNAL), ("E0ORG", Belonging.UNKNOWN)])
def test_who_comes_from_another_workspace_is_external_unless_an_organisation_has_both(
    enterprise: str, belongs: Belonging
) -> None:
    """In an Enterprise Grid only Slack can say, and is asked with the name."""
    event = {**payload("message_in_thread")["event"], "user_team": "T0ELSEWHERE"}
    said = parse.message(event, replace(US, enterprise=enterprise), at=NOW)

    assert isinstance(said, parse.Placed)
    assert said.given.person.belongs is belongs


ASIDES = ("aside: lunch?", "Aside : tea?", "(aside: lunch?)", "*aside:* lunch?", "ASIDE：lunch")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("message_in_channel", {}),
        ("message_of_persona", {}),
        ("message_of_other_bot", {}),
        ("message_channel_join", {}),
        ("message_in_thread", {"event__text": ""}),
        ("message_in_thread", {"event__text": " \u200b"}),
        ("message_in_thread", {"event__user": "USLACKBOT"}),
        *(("message_in_thread", {"event__text": aside}) for aside in ASIDES),
        *(("message_file_share", {"event__text": "", "event__files": files}) for files in NO_FILES),
    ],
)
def test_everything_else_that_slack_calls_a_message_is_not(name: str, changes: dict[str, Any]) -> None:
    """Bots, joins, asides, what is said outside threads, and what says nothing."""
    assert words(name, **changes) is None


def test_an_aside_to_us_is_not_answered() -> None:
    """Nor is it read in a thread that is adopted."""
    assert mentioned("mention_in_thread", event__text="<@U0ROUNDTABLE> aside: he is slow today") is None
    assert parse.heard(payload("message_in_thread", event__text="aside: lunch?")["event"], US) is None


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
    assert said.given.text == "ask @U0ROUNDTABLE to stop"


def test_words_after_a_mention_are_words() -> None:
    """What is no verb is for the roundtable of the thread, without the mention."""
    said = mentioned("mention_in_thread", event__text="<@U0ROUNDTABLE>, stop worrying about that")

    assert isinstance(said, parse.Placed)
    assert (said.given.text, said.given.to_us) == ("stop worrying about that", True)


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
        ("position", None),
        ("position A", None),
        ("position: A", None),
        ("", ("about", "")),
    ],
)
def test_verbs_are_told_from_sentences(text: str, found: tuple[str, str] | None) -> None:
    """A verb that takes one word or none is not meant when a sentence follows; a position is for nobody to read."""
    assert VERBS.read_mention(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("position A", "A"),
        ("position option B, not sure", "option B, not sure"),
        ("position: a queue", "a queue"),
        ("position offline-sync: A", "offline-sync: A"),
        *((one, None) for one in ("position", "Position a bit off", "positions: A", "my position: A")),
    ],
)
def test_a_position_in_a_direct_message_needs_a_colon_or_a_letter(text: str, words: str | None) -> None:
    assert VERBS.read_direct(text) == (None if words is None else ("position", words))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("status Offline sync", ("status", "Offline sync")),
        ("Resume the mobile app", ("resume", "the mobile app")),
        ("catch me up on dark-mode", ("catchup", "dark-mode")),
        ("", ("about", "")),
        ("dance", ("help", "dance")),
        ("position A", ("position", "A")),
        ("position: a, very sure", ("position", "a, very sure")),
        ("Position：A", ("position", "A")),
        ("position offline-sync: A", ("position", "offline-sync: A")),
        ("position a queue", ("position", "a queue")),
        ("position", ("position", "")),
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

    assert parse.press(payload("block_actions"), US, at=NOW) == parse.Placed(THREAD, press)


def _with(**changes: Any) -> dict[str, Any]:
    body = payload("block_actions")
    body["actions"][0] |= changes
    return body


OF_TWO = menus.options(("Redis", "SQLite"))[1]
SEVERAL = [{"value": "k7/DEC-001/FR-001"}, {"value": "k7/DEC-001/OBJ-001"}, "odd"]


def test_a_press_says_which_choice_it_was() -> None:
    """The second option to decide on, one of a menu, or all that was chosen from a list."""
    changes = {"action_id": "roundtable.changes", "selected_options": SEVERAL, "value": None}
    for body, action, value in (
        (
            _with(action_id=f"{action_id(OF_TWO.action)}.2", value=value_of(OF_TWO, "k7")),
            Action.DECIDE,
            "1",
        ),
        (_chosen("roundtable.more", "k7/depth_brief"), Action.DEPTH_BRIEF, ""),
        (_chosen("roundtable.more.2", "k7/withdraw/FR-003"), Action.WITHDRAW, "FR-003"),
        (_chosen("roundtable.line", "k7/3/accept"), Action.LINE, "3/accept"),
        (_with(**changes), Action.CHANGES, "DEC-001/FR-001,DEC-001/OBJ-001"),
    ):
        pressed = parse.press(body, US, at=NOW)
        assert isinstance(pressed, parse.Placed)
        assert (pressed.given.action, pressed.given.token, pressed.given.value) == (action, "k7", value)


def test_an_option_may_open_a_form_or_be_a_verb() -> None:
    """As a button does; it says about what."""
    wanted = parse.press(_chosen("roundtable.more.2", "k7/amend/FR-003"), US, at=NOW)
    asked = parse.press(_chosen("roundtable.more", "k7/export"), US, at=NOW)

    assert isinstance(wanted, parse.FormRequest)
    assert (wanted.action, wanted.subject) == (Action.AMEND, "FR-003")
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


@pytest.mark.parametrize(
    "body",
    [
        *(_with(action_id=one) for one in ("somebody.elses", "roundtable.vote", "roundtable.", "continue")),
        _with(action_id="roundtable.changes", selected_options=[], value=None),
        _chosen("roundtable.more", "k7/dance"),
    ],
)
def test_what_we_do_not_know_is_no_press(body: dict[str, Any]) -> None:
    """Of another app, or of another version of this one; or nothing was chosen."""
    assert parse.press(body, US, at=NOW) is None


def test_a_shortcut_takes_the_first_sentence_as_the_title() -> None:
    """And the message's thread, which may not have begun yet."""
    body = payload("message_action")
    asked = parse.shortcut(body, US, at=NOW)
    assert (asked.verb, asked.rest) == ("start", "Dark mode for #ward-7")
    assert (asked.place, asked.adopts) == (CHANNEL, "1767261600.000200")

    body["message"]["text"] = "Rate limiting of the public API. Legal asked twice, and we need it by May."
    assert parse.shortcut(body, US, at=NOW).rest == "Rate limiting of the public API"


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

    assert changed("message_changed") == parse.Placed(THREAD, amend)


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
        {"event__message__text": "aside: tea", "event__previous_message__text": "aside: lunch"},
        {"event__message": "gone"},
        {"event__message": {}},
    ],
    ids=[
        "link-preview", "other-bot", "own", "persona", "by-us", "no-thread", "verb", "aside", "strange",
        "empty",
    ],
)  # fmt: skip
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

    assert edit
    assert edit.given == Amend(
        key=edit.given.key, at=NOW, person=ADA, text="only at night", ts="1767261600.000200"
    )


def test_a_deletion_names_what_is_gone() -> None:
    """Once, however often it is delivered."""
    gone = changed("message_deleted", event__previous_message__thread_ts=THREAD.thread)

    retract = Retract(key="C0TEAM.1767261600.000200.deleted", at=NOW, person=ADA, ts="1767261600.000200")
    assert gone == parse.Placed(THREAD, retract)


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
        {
            "event__previous_message__text": "aside: never mind",
            "event__previous_message__thread_ts": THREAD.thread,
        },
    ],
    ids=["no-thread", "bot", "nothing", "verb", "aside"],
)
def test_a_deletion_elsewhere_or_of_a_bot_is_none(changes: dict[str, Any]) -> None:
    """Our own posts may be deleted: the record keeps what was said. A command is no part of it."""
    assert changed("message_deleted", **changes) is None


OF_A_FILE = payload("message_file_share", event__text="")["event"]
WITHOUT_IT = OF_A_FILE | {
    "files": [{"id": "F0SKETCH", "mode": "tombstone"}],
    "edited": {"user": "U0ADA", "ts": "1.2"},
}
ROOT = {"user": ADA.id, "text": "?", "ts": THREAD.thread, "thread_ts": THREAD.thread}
GRAVE = {"subtype": "tombstone", "user": "USLACKBOT", "ts": THREAD.thread}


@pytest.mark.parametrize(
    ("changes", "ts"),
    [
        ({"event__message": GRAVE, "event__previous_message": ROOT}, THREAD.thread),
        ({"event__message": WITHOUT_IT, "event__previous_message": OF_A_FILE}, OF_A_FILE["ts"]),
        ({"event__message__text": ""}, "1767261600.000200"),
        ({"event__message__text": "aside: in tunnels"}, "1767261600.000200"),
    ],
    ids=["root of a thread that goes on", "only a file", "emptied", "an aside now"],
)
def test_some_changes_take_a_message_back(changes: dict[str, Any], ts: str) -> None:
    """Slack reports them as edits."""
    gone = changed("message_changed", **changes)

    assert gone
    assert isinstance(gone.given, Retract)
    assert (gone.place.channel, gone.given.ts) == (THREAD.channel, ts)


def test_what_was_an_aside_is_said_now() -> None:
    """Nobody has heard it before."""
    said = changed("message_changed", event__previous_message__text="aside: in tunnels")

    assert said
    assert isinstance(said.given, Say)


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
    assert len(said.given.text) <= 40_000 + len(CUT)


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

    assert isinstance(live, parse.Placed)
    assert read
    assert {(one.text, one.to_us) for one in (live.given, read)} == {(text, bool(mention))}
    assert edit is None
