"""
Slack's payloads become inputs and verbs.

Keys consist of parts that are the same in every delivery of a payload. The caller gives the time, `at`. Malformed is
raised for what Slack would not send.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from bot.domain.actions.action import Actions, Control
from bot.domain.actions.table import ACTIONS
from bot.domain.item.item import title_of
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import (
    Amend,
    ChannelGone,
    ChannelMoved,
    MarkMessage,
    Press,
    Retract,
    Say,
)
from bot.domain.roundtable.marks import REACTIONS
from bot.domain.roundtable.outcomes import Attachment, ThreadMessage
from bot.domain.roundtable.words import is_aside
from bot.domain.values.places import Belonging, ChannelKind, Person, Place
from bot.domain.values.text import clean, one_line
from bot.engine.verbs.table import VERBS
from bot.engine.verbs.verb import HELP, VerbRequest, Verbs
from bot.errors import BotError
from bot.slack.client import Identity
from bot.slack.limits import ID_CHARS, URL_CHARS, VALUE_CHARS
from bot.slack.markdown import readable, visible
from bot.slack.render import MORE, ButtonValue, action_of, carried, chosen

# --- fields of a payload --------------------------------------------------------------------------------------------
#
# A missing field, or one of another type, reads as empty. A payload without a needed field is acknowledged, logged and
# ignored.

Payload = Mapping[str, Any]

MALFORMED = "malformed"
EMPTY: Payload = {}

_ID = re.compile(rf"[\w.:-]{{1,{ID_CHARS}}}", re.ASCII)
_URL = re.compile(rf"https?://[!-~]{{1,{URL_CHARS}}}")


class Malformed(BotError):
    pass


def _found(body: Payload, path: tuple[str, ...]) -> object:
    # `dict` and not `Mapping`: JSON has no others, and the check is much faster.
    found: Any = body
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def part(body: Payload, *path: str) -> Payload:
    """The object at *path*, or an empty one."""
    found = _found(body, path)
    return found if isinstance(found, dict) else EMPTY


def word(body: Payload, *path: str) -> str:
    """The text at *path*, or an empty one."""
    found = _found(body, path)
    return found if isinstance(found, str) else ""


def known(body: Payload, *path: str) -> str:
    """The id or timestamp at *path*; empty when there is none, or it is not valid."""
    found = word(body, *path)
    return found if is_id(found) else ""


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def needed(body: Payload, *path: str) -> str:
    """`known`, or Malformed."""
    if found := known(body, *path):
        return found
    raise Malformed(f"it has no {'.'.join(path)}")


def reply_url(body: Payload) -> str:
    found = word(body, "response_url")
    return found if _URL.fullmatch(found) else ""


# --- for whom a payload is, and who wrote it ------------------------------------------------------------------------

SAID_BY_PEOPLE = frozenset({"", "thread_broadcast", "file_share", "me_message"})
"""Subtypes of messages that a person wrote (the last is `/me`); all others only report something."""
SLACKBOT = "USLACKBOT"


def foreign(body: Payload, us: Identity) -> str:
    """
    The other app or workspace that *body* is for; empty when it is for us, or does not say.

    The sender may be of any workspace: a command names theirs, and in Slack Connect an event may name the other
    organisation's, so these two are not checked. In an Enterprise Grid the organisation is enough.
    """
    app = word(body, "api_app_id")
    if app and us.apps and app not in us.apps:
        return f"app {known(body, 'api_app_id') or '?'}"
    if "command" in body or body.get("is_ext_shared_channel") is True:
        return ""
    teams = set(filter(None, _ids(body, "team", "view", "app_installed_team_id")))
    is_ours = us.team in teams or (
        us.enterprise and us.enterprise in _ids(body, "enterprise", "team", "enterprise_id")
    )
    if not teams or is_ours:
        return ""
    return f"workspace {', '.join(sorted(filter(is_id, teams))) or '?'}"


def _ids(body: Payload, kind: str, *other: str) -> Iterator[str]:
    """Of the teams, or of the enterprises, that *body* names; also at the path *other*."""
    yield from (word(body, name) for name in (f"{kind}_id", f"context_{kind}_id", kind))
    yield word(body, kind, "id")
    yield word(body, *other)
    installed = body.get("authorizations")
    yield from (word(one, f"{kind}_id") for one in (installed if isinstance(installed, list) else ()))


def in_thread(event: Payload) -> bool:
    return known(event, "thread_ts") not in {"", word(event, "ts")}


def by_person(message: Payload, us: Identity) -> bool:
    if message.get("bot_id") or word(message, "subtype") not in SAID_BY_PEOPLE:
        return False
    return known(message, "user") not in {"", us.user, SLACKBOT}


def addresses(message: Payload, us: Identity) -> bool:
    return _mention_of(us.user).match(word(message, "text")) is not None


@cache
def _mention_of(user: str) -> re.Pattern[str]:
    return re.compile(rf"\s*<@{re.escape(user)}(?:\|[^<>]*)?>[\s:,]*")


def belonging(body: Payload, us: Identity, team: str) -> Belonging:
    """EXTERNAL for a person of another workspace *team*; in an Enterprise Grid that alone does not tell."""
    organisation = us.enterprise or body.get("enterprise") or body.get("enterprise_id")
    return Belonging.EXTERNAL if team and team != us.team and not organisation else Belonging.UNKNOWN


PRIVATE_TYPES: Mapping[str, bool] = {"channel": False, "group": True, "im": True, "mpim": True}
"""By the `channel_type` of events."""


def room_in(channel: str, *, name: str = "", kind: str = "") -> ChannelKind:
    """By the id, the name (in commands and clicks), or the `channel_type` of events."""
    if (
        channel.startswith("D")
        or kind in {"im", "mpim"}
        or name == "directmessage"
        or name.startswith("mpdm-")
    ):
        return ChannelKind.DIRECT
    if channel.startswith("G") or kind == "group" or name == "privategroup":
        return ChannelKind.PRIVATE
    return ChannelKind.PUBLIC if kind == "channel" else ChannelKind.UNKNOWN


# --- inputs ---------------------------------------------------------------------------------------------------------

CUT = "… [the message was longer than I can keep; the rest is only in Slack]"
MESSAGE_CHARS = 40_000
RAW_CHARS = 4 * MESSAGE_CHARS
"""Text beyond this is cut before it is parsed."""
NAME_CHARS = 80
FILES_KEPT = 20
TOMBSTONE = "tombstone"
"""The subtype of a deleted root whose thread goes on."""


Given_co = TypeVar("Given_co", covariant=True)


class Placed(NamedTuple, Generic[Given_co]):
    """An input, and the place that it is for."""

    place: Place
    given: Given_co


class Picked(NamedTuple):
    """*label* is what the button said."""

    asked: VerbRequest
    label: str


class FormRequest(NamedTuple):
    """*trigger* opens a form for three seconds. *subject* is what the button carried."""

    place: Place
    person: Person
    action: str
    subject: str
    trigger: str


def message(event: Payload, us: Identity, *, at: str) -> Placed[Say | Amend | Retract] | None:
    """A person's reply in a thread, or a change of one. None for all other messages, asides, and mentions of us."""
    subtype = word(event, "subtype")
    if subtype == "message_changed":
        return _changed(event, us, at=at)
    if subtype == "message_deleted":
        return _deleted(event, us, at=at)
    text = _text(event, us) or _shared(event, us)
    if not text or not by_person(event, us) or not in_thread(event) or addresses(event, us) or is_aside(text):
        return None
    return _words(event, us, text, at=at)


def mention(event: Payload, us: Identity, *, at: str) -> VerbRequest | Placed[Say] | None:
    """
    What is said to us: a verb, or text for the roundtable of the thread. A message in a thread that mentions us later
    in the text is handled by `message`.
    """
    if not by_person(event, us):
        return None
    addressed, below = addresses(event, us), in_thread(event)
    if below and not addressed:
        return None
    text = _said_to_us(event, us) if addressed else ""
    if is_aside(text):
        return None
    if found := VERBS.read_mention(text):
        return _asked(event, us, found, at=at)
    return _words(event, us, text, at=at) if text and below else _asked(event, us, (HELP, text), at=at)


def direct(event: Payload, us: Identity, *, at: str) -> VerbRequest | None:
    """What a person says to us in a direct message; without a verb where it is no command."""
    if not by_person(event, us):
        return None
    text = _said_to_us(event, us) if addresses(event, us) else _text(event, us)
    if not text or is_aside(text):
        return None
    return _asked(event, us, VERBS.read_direct(text) or ("", text), at=at)


def command(body: Payload, us: Identity, *, at: str, verbs: Verbs = VERBS) -> VerbRequest:
    verb, rest = verbs.read_command(_text(body, us))
    return VerbRequest(
        verb=verb,
        rest=rest,
        place=Place(team=us.team, channel=needed(body, "channel_id")),
        person=_commander(body, us),
        key=f"command.{needed(body, 'trigger_id')}",
        at=at,
        reply_url=reply_url(body),
        room=room_in(needed(body, "channel_id"), name=word(body, "channel_name")),
    )


def shortcut(body: Payload, us: Identity, *, at: str) -> VerbRequest:
    """Start on a message: its first sentence is the title, its thread becomes the roundtable's."""
    place = _origin(body, us)
    return VerbRequest(
        verb="start",
        rest=title_of(_text(part(body, "message"), us)),
        place=place,
        person=clicker(body, us),
        key=f"shortcut.{needed(body, 'trigger_id')}",
        at=at,
        adopts=place.thread or needed(body, "message", "ts"),
        reply_url=reply_url(body),
        room=_room(body, place),
    )


def is_at_home(body: Payload) -> bool:
    return word(body, "view", "type") == "home"


def press(
    body: Payload, us: Identity, *, at: str, actions: Actions = ACTIONS
) -> Placed[Press] | Picked | FormRequest | VerbRequest | None:
    """None for a button of another app or version."""
    pressed = body["actions"][0]
    id, option = word(pressed, "action_id"), part(pressed, "selected_option")
    carries = clean(word(option or pressed, "value")[:VALUE_CHARS])
    name, (token, value) = action_of(id), carried(carries)
    if chosen_values := _chosen_values(pressed):
        token, value = chosen_values[0].token, ",".join(one.value for one in chosen_values)
    if id == MORE or id.startswith(f"{MORE}."):
        name, (token, value) = chosen(carries)
    action = actions.get(name)
    if action is None or (action.control is Control.SEVERAL and not value):
        return None
    if action.personal:
        value = value or word(pressed, "selected_time")
    is_anywhere = action.personal or is_at_home(body)
    place, person = (origin if is_anywhere else _origin)(body, us), clicker(body, us)
    ts = known(body, "container", "message_ts") or known(body, "message", "ts")
    click = known(body, "trigger_id") or f"{place.channel}.{ts}.{id}.{known(pressed, 'action_ts')}"
    key = f"press.{click}"
    url = reply_url(body)
    asked = VerbRequest(verb="", rest=value, place=place, person=person, key=key, at=at, reply_url=url)
    if action == Action.RESUME and value and is_at_home(body):
        return replace(asked, verb="resume")
    if action == Action.RESUME and value:
        label = one_line(word(option or pressed, "text", "text")) or value
        return Picked(replace(asked, verb="resume", room=_room(body, place)), label)
    if action.opens_form(value):
        return FormRequest(place, person, action, value, needed(body, "trigger_id"))
    if action.verb:
        return replace(asked, verb=action.verb)
    pressed_one = Press(key=key, at=at, person=person, action=action, token=token, ts=ts, value=value)
    return Placed(place, pressed_one)


def _chosen_values(pressed: Payload) -> list[ButtonValue]:
    """Of a list to choose several from."""
    options = pressed.get("selected_options")
    texts = (
        (word(one, "value") for one in options if isinstance(one, dict)) if isinstance(options, list) else ()
    )
    return [carried(clean(one[:VALUE_CHARS])) for one in texts if one]


def channel_gone(event: Payload, us: Identity, *, at: str) -> Placed[ChannelGone]:
    kind, channel = word(event, "type"), needed(event, "channel")
    gone = ChannelGone(
        key=f"{kind}.{channel}.{needed(event, 'event_ts')}", at=at, archived=kind.endswith("_archive")
    )
    return Placed(Place(team=us.team, channel=channel), gone)


def channel_moved(event: Payload, us: Identity, *, at: str) -> Placed[ChannelMoved]:
    old, new, ts = (needed(event, name) for name in ("old_channel_id", "new_channel_id", "event_ts"))
    moved = ChannelMoved(key=f"moved.{old}.{new}", at=at, channel=new, ts=ts)
    return Placed(Place(team=us.team, channel=old), moved)


def mark_request(body: Payload, us: Identity) -> tuple[Place, str]:
    """The shortcut on a message: its thread, and its timestamp."""
    ts, place = needed(body, "message", "ts"), _origin(body, us)
    return place.but(thread=place.thread or ts), ts


def reaction(event: Payload, us: Identity, *, at: str) -> Placed[MarkMessage] | None:
    """None for other reactions, for those to our own messages and to things that are no messages, and for our own."""
    person, item = known(event, "user"), part(event, "item")
    kind = REACTIONS.get(word(event, "reaction").partition("::")[0])
    author = known(event, "item_user")
    if (
        kind is None
        or word(item, "type") != "message"
        or person in {"", us.user, SLACKBOT}
        or author == us.user
    ):
        return None
    person = us.people.person(person)
    channel, ts = needed(item, "channel"), needed(item, "ts")
    mark = MarkMessage(
        key=f"reaction.{channel}.{ts}.{person}.{kind.value}.{needed(event, 'event_ts')}",
        at=at,
        person=Person(id=person),
        ts=ts,
        mark=kind,
        is_reaction=True,
        removed=word(event, "type") == "reaction_removed",
    )
    return Placed(Place(team=us.team, channel=channel), mark)


def heard(event: Payload, us: Identity) -> ThreadMessage | None:
    """A message of `conversations.replies`, if a person wrote it and it is not a verb."""
    text = _content(event, us)
    if not text or not by_person(event, us) or _is_verb(event, us) or is_aside(text):
        return None
    ts, to_us, files = needed(event, "ts"), addresses(event, us), _files(event, us)
    return ThreadMessage(person=_author(event, us), text=text, ts=ts, to_us=to_us, files=files)


def origin(body: Payload, us: Identity) -> Place:
    """The place of an event, a click or a command."""
    event, container = part(body, "event"), part(body, "container")
    channels = (known(event, "channel"), known(container, "channel_id"), known(body, "channel", "id"))
    threads = (known(source, "thread_ts") for source in (event, container, part(body, "message")))
    channel = next(filter(None, channels), known(body, "channel_id"))
    return Place(team=us.team, channel=channel, thread=next(filter(None, threads), ""))


def occasion(body: Payload) -> str:
    """The same for every delivery of an event, and for all events of one message."""
    event = part(body, "event")
    stamp = known(event, "ts") or known(event, "event_ts") or known(body, "event_id")
    return f"{known(event, 'channel')}.{stamp}"


def sender(body: Payload, us: Identity) -> str:
    """The id of the person who caused this; empty when there is none."""
    by = part(body, "event") or body
    return us.people.person(known(by, "user") or known(by, "user", "id") or known(body, "user_id"))


# --- edits and deletions --------------------------------------------------------------------------------------------


def _changed(event: Payload, us: Identity, *, at: str) -> Placed[Say | Amend | Retract] | None:
    """
    An edit of the text by its author; an unfurled link, a pin or a reply also changes the message, and is ignored. An
    aside that becomes a normal message counts as new, and a message that becomes an aside as deleted.
    """
    now, before = part(event, "message"), part(event, "previous_message")
    if word(now, "subtype") == TOMBSTONE:
        return _deleted(event, us, at=at)
    if not by_person(now, us) or not known(now, "thread_ts") or word(now, "edited", "user") == us.user:
        return None
    text = _content(now, us)
    if text == (before_text := _content(before, us)) or _is_verb(now, us):
        return None
    if not text or is_aside(text):
        gone = {**before, "thread_ts": now["thread_ts"]}
        return _deleted({**event, "previous_message": gone}, us, at=at)
    if is_aside(before_text):
        return _words({**now, "channel": event["channel"]}, us, text, at=at)
    edition = known(now, "edited", "ts") or needed(event, "ts")
    key, ts = f"{_key(event, now)}.{edition}", needed(now, "ts")
    return Placed(_thread(event, now, us), Amend(key=key, at=at, person=_author(now, us), text=text, ts=ts))


def _deleted(event: Payload, us: Identity, *, at: str) -> Placed[Retract] | None:
    gone = part(event, "previous_message")
    if not by_person(gone, us) or not known(gone, "thread_ts"):
        return None
    if _is_verb(gone, us) or is_aside(_text(gone, us)):
        return None
    key, ts = f"{_key(event, gone)}.deleted", needed(gone, "ts")
    return Placed(_thread(event, gone, us), Retract(key=key, at=at, person=_author(gone, us), ts=ts))


# --- parts of messages ----------------------------------------------------------------------------------------------


def _asked(event: Payload, us: Identity, found: tuple[str, str], *, at: str) -> VerbRequest:
    verb, rest = found
    thread = known(event, "thread_ts")
    return VerbRequest(
        verb=verb,
        rest=rest,
        place=Place(team=us.team, channel=needed(event, "channel"), thread=thread),
        person=_author(event, us),
        key=_key(event, event),
        at=at,
        adopts=thread or needed(event, "ts"),
        room=room_in(needed(event, "channel"), kind=word(event, "channel_type")),
        ts=needed(event, "ts") if thread else "",
    )


def _words(event: Payload, us: Identity, text: str, *, at: str) -> Placed[Say]:
    above = known(event, "parent_user_id")
    said = Say(
        key=_key(event, event),
        at=at,
        person=_author(event, us),
        text=text,
        ts=needed(event, "ts"),
        private=PRIVATE_TYPES.get(word(event, "channel_type")),
        # Slack does not name the author of the root for a bot that posts under another name.
        under_us=above == us.user if above else None,
        to_us=addresses(event, us),
        files=_files(event, us),
    )
    return Placed(_thread(event, event, us), said)


def _thread(event: Payload, message: Payload, us: Identity) -> Place:
    return Place(team=us.team, channel=needed(event, "channel"), thread=needed(message, "thread_ts"))


def _author(message: Payload, us: Identity) -> Person:
    belongs = belonging(message, us, word(message, "user_team") or word(message, "source_team"))
    return Person(id=us.people.person(needed(message, "user")), belongs=belongs)


def _key(event: Payload, message: Payload) -> str:
    """The same for the `message` and the `app_mention` of one message."""
    return f"{needed(event, 'channel')}.{needed(message, 'ts')}"


def _text(message: Payload, us: Identity, *, without: re.Pattern[str] | None = None) -> str:
    """Redacted before it is cut, because half a secret is not recognised."""
    raw = word(message, "text")[:RAW_CHARS]
    text = us.people.called(us.redact(readable(without.sub("", raw, count=1) if without else raw)))
    return text if len(text) <= MESSAGE_CHARS else text[:MESSAGE_CHARS] + CUT


def _said_to_us(message: Payload, us: Identity) -> str:
    return _text(message, us, without=_mention_of(us.user) if addresses(message, us) else None)


def _content(message: Payload, us: Identity) -> str:
    return _said_to_us(message, us) or _shared(message, us)


def _shared(message: Payload, us: Identity) -> str:
    """What a message without text says, which is only files."""
    return f"shared {', '.join(names)}" if (names := [one.name for one in _files(message, us)]) else ""


def _files(message: Payload, us: Identity) -> tuple[Attachment, ...]:
    """A file that was deleted, or is hidden by a plan's limit, has no name any more."""
    given = message.get("files")
    found = (one for one in given[:FILES_KEPT] if isinstance(one, dict)) if isinstance(given, list) else ()
    return tuple(
        Attachment(
            id=known(one, "id"),
            name=name,
            type=one_line(word(one, "mimetype") or word(one, "filetype"), NAME_CHARS),
            permalink=link if _URL.fullmatch(link := word(one, "permalink")) else "",
            by=us.people.person(known(one, "user") or known(message, "user")),
        )
        for one in found
        if (name := _name(word(one, "name") or word(one, "title"), us)) and known(one, "id")
    )


def _is_verb(message: Payload, us: Identity) -> bool:
    """A verb is carried out at once, and is in no transcript."""
    return addresses(message, us) and VERBS.read_mention(_said_to_us(message, us)) is not None


# --- parts of clicks ------------------------------------------------------------------------------------------------


def _origin(body: Payload, us: Identity) -> Place:
    place = origin(body, us)
    if not place.channel:
        raise Malformed("it has no channel")
    return place


def _room(body: Payload, place: Place) -> ChannelKind:
    return room_in(place.channel, name=word(body, "channel", "name"))


def clicker(body: Payload, us: Identity) -> Person:
    name = word(body, "user", "name") or word(body, "user", "username")
    belongs = belonging(body, us, word(body, "user", "team_id"))
    return Person(id=us.people.person(needed(body, "user", "id")), name=_name(name, us), belongs=belongs)


def _commander(body: Payload, us: Identity) -> Person:
    belongs = belonging(body, us, word(body, "team_id"))
    name = _name(word(body, "user_name"), us)
    return Person(id=us.people.person(needed(body, "user_id")), name=name, belongs=belongs)


def _name(name: str, us: Identity) -> str:
    return one_line(us.redact(visible(name)), NAME_CHARS)
