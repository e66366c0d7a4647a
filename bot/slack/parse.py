"""
From Slack's payloads to inputs and verbs.

Keys are made of what Slack repeats unchanged when it delivers something again. `at` is stamped by the caller.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain.inputs import Heard, Press, Resume, Say
from bot.domain.message import Action
from bot.domain.place import Person, Place
from bot.domain.text import one_line
from bot.slack.buttons import action_of, carried
from bot.slack.identity import Identity
from bot.slack.text import readable
from bot.slack.verbs import Asked, verb_in
from bot.slack.wording import CUT

Payload = Mapping[str, Any]

MESSAGE_CHARS = 40_000
TITLE_CHARS = 80
SAID_BY_PEOPLE = frozenset({"", "thread_broadcast", "file_share"})
"""Subtypes of messages that are words of a person; everything else only reports something."""
SLACKBOT = "USLACKBOT"


class Words(NamedTuple):
    place: Place
    said: Say


class Picked(NamedTuple):
    resume: Resume
    reference: str


class Pressed(NamedTuple):
    place: Place
    press: Press


def message(event: Payload, us: Identity, *, at: str) -> Words | None:
    """A person's reply in a thread. None for everything else that Slack calls a message, and for mentions of us."""
    text = _text(event)
    if not text or not _in_thread(event) or not _by_person(event, us) or _addresses(event, us):
        return None
    return _words(event, us, text, at=at)


def mention(event: Payload, us: Identity, *, at: str) -> Asked | Words | None:
    """
    What is said to us: a verb, or words for the roundtable of the thread. Whoever only talks about us in a thread
    has been heard by `message`.
    """
    if not _by_person(event, us):
        return None
    addressed, in_thread = _addresses(event, us), _in_thread(event)
    if in_thread and not addressed:
        return None
    text = _text(event, without=_mention_of(us)) if addressed else ""
    if found := verb_in(text):
        return _asked(event, us, found, at=at)
    return _words(event, us, text, at=at) if text and in_thread else _asked(event, us, ("help", ""), at=at)


def command(body: Payload, us: Identity, *, at: str) -> Asked:
    verb, rest = verb_in(readable(body.get("text", ""))) or ("help", "")
    return Asked(
        verb=verb,
        rest=rest,
        place=Place(team=us.team, channel=body["channel_id"]),
        person=Person(id=body["user_id"], name=body.get("user_name", "")),
        key=f"command.{body['trigger_id']}",
        at=at,
        reply_url=body.get("response_url", ""),
    )


def shortcut(body: Payload, us: Identity, *, at: str) -> Asked:
    """Start on a message: its first line is the title, its thread is adopted."""
    title = next((line for line in readable(body["message"].get("text", "")).split("\n") if line.strip()), "")
    place = origin(body, us)
    return Asked(
        verb="start",
        rest=one_line(title, TITLE_CHARS),
        place=place,
        person=_clicker(body),
        key=f"shortcut.{body['trigger_id']}",
        at=at,
        adopts=place.thread or body["message"]["ts"],
        reply_url=body.get("response_url", ""),
    )


def press(body: Payload, us: Identity, *, at: str) -> Pressed | Picked | None:
    """None for a button that is not ours, or of another version of us."""
    pressed = body["actions"][0]
    action = action_of(pressed["action_id"])
    if action is None:
        return None
    place, person = origin(body, us), _clicker(body)
    token, value = carried(pressed.get("value") or "")
    ts = _stands_at(body)
    click = f"{place.channel}.{ts}.{pressed['action_id']}.{pressed.get('action_ts')}"
    key = f"press.{body.get('trigger_id') or click}"
    if action is Action.RESUME and value:
        url = body.get("response_url", "")
        return Picked(Resume(key=key, at=at, person=person, place=place, reply_url=url), value)
    return Pressed(place, Press(key=key, at=at, person=person, action=action, token=token, ts=ts))


def heard(event: Payload, us: Identity) -> Heard | None:
    """A message of `conversations.replies`, if a person said something with it that was not a call for us."""
    text = _text(event)
    if not text or not _by_person(event, us) or _addresses(event, us):
        return None
    return Heard(person=Person(id=event["user"]), text=text, ts=event["ts"])


def origin(body: Payload, us: Identity) -> Place:
    """Where something happened, and so where the person looks: of an event, a click or a command."""
    event = body.get("event") or {}
    container = body.get("container") or {}
    channel = event.get("channel") or container.get("channel_id") or (body.get("channel") or {}).get("id")
    threads = (source.get("thread_ts") for source in (event, container, body.get("message") or {}))
    thread = next(filter(None, threads), "")
    return Place(team=us.team, channel=channel or body.get("channel_id") or "", thread=thread)


def sender(body: Payload) -> str:
    """The id of whoever caused this; empty when nobody did."""
    by = (body.get("event") or body).get("user") or body.get("user_id") or ""
    return str(by if isinstance(by, str) else by.get("id", ""))


def _asked(event: Payload, us: Identity, found: tuple[str, str], *, at: str) -> Asked:
    verb, rest = found
    thread = event.get("thread_ts", "")
    return Asked(
        verb=verb,
        rest=rest,
        place=Place(team=us.team, channel=event["channel"], thread=thread),
        person=Person(id=event["user"]),
        key=_key(event),
        at=at,
        adopts=thread or event["ts"],
    )


def _words(event: Payload, us: Identity, text: str, *, at: str) -> Words:
    place = Place(team=us.team, channel=event["channel"], thread=event["thread_ts"])
    return Words(
        place, Say(key=_key(event), at=at, person=Person(id=event["user"]), text=text, ts=event["ts"])
    )


def _key(event: Payload) -> str:
    """The same for the `message` and the `app_mention` that one message may be."""
    return f"{event['channel']}.{event['ts']}"


def _text(event: Payload, *, without: re.Pattern[str] | None = None) -> str:
    raw = event.get("text") or ""
    text = readable(without.sub("", raw, count=1) if without else raw)
    return text if len(text) <= MESSAGE_CHARS else text[:MESSAGE_CHARS] + CUT


def _in_thread(event: Payload) -> bool:
    return bool(event.get("thread_ts", event["ts"]) != event["ts"])


def _by_person(event: Payload, us: Identity) -> bool:
    if event.get("bot_id") or (event.get("subtype") or "") not in SAID_BY_PEOPLE:
        return False
    return event.get("user", us.user) not in {us.user, SLACKBOT}


def _addresses(event: Payload, us: Identity) -> bool:
    return _mention_of(us).match(event.get("text") or "") is not None


def _mention_of(us: Identity) -> re.Pattern[str]:
    return re.compile(rf"\s*<@{re.escape(us.user)}(?:\|[^<>]*)?>[\s:,]*")


def _clicker(body: Payload) -> Person:
    user = body["user"]
    return Person(id=user["id"], name=user.get("name") or user.get("username") or "")


def _stands_at(body: Payload) -> str:
    container = body.get("container") or {}
    return str(container.get("message_ts") or (body.get("message") or {}).get("ts") or "")
