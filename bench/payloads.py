"""What Slack sends, as it arrives: bodies over HTTP with a signature, envelopes over Socket Mode."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench.canned import BOT_USER, TEAM
from bot.slack.transport import PATH

SIGNING_SECRET = "bench-signing-secret"  # noqa: S105 -- signs what we send to ourselves
PERSON = "U0ADA"

_numbers = count(int(time.time() * 1000))


class Payload(NamedTuple):
    """`kind` is the type of the envelope; over HTTP only events are JSON."""

    kind: str
    body: Mapping[str, Any]

    def request(self, host: str) -> bytes:
        """A whole HTTP request, signed as of now."""
        content, body = self._content()
        stamp = str(int(time.time()))
        signed = hmac.new(SIGNING_SECRET.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
        lines = (
            f"POST {PATH} HTTP/1.1",
            f"Host: {host}",
            f"Content-Type: {content}",
            f"Content-Length: {len(body.encode())}",
            f"X-Slack-Request-Timestamp: {stamp}",
            f"X-Slack-Signature: v0={signed}",
        )
        return ("\r\n".join(lines) + f"\r\n\r\n{body}").encode()

    def envelope(self) -> tuple[str, str]:
        """Its id and its text."""
        envelope_id = unique()
        envelope = {"envelope_id": envelope_id, "type": self.kind, "payload": self.body}
        return envelope_id, json.dumps({**envelope, "accepts_response_payload": self.kind != "events_api"})

    def _content(self) -> tuple[str, str]:
        if self.kind == "events_api":
            return "application/json", json.dumps(self.body)
        fields = {"payload": json.dumps(self.body)} if self.kind == "interactive" else self.body
        return "application/x-www-form-urlencoded", urlencode(fields)


def unique() -> str:
    return str(next(_numbers))


def stamp() -> str:
    number = next(_numbers)
    return f"{number // 1000}.{number % 1000:03}000"


def message(channel: str, thread: str, text: str) -> Payload:
    said = {"user": PERSON, "text": text, "ts": stamp(), "thread_ts": thread}
    return _event({"type": "message", "channel": channel, "channel_type": "channel", **said})


def deletion(channel: str, thread: str) -> Payload:
    gone = {"type": "message", "user": PERSON, "text": "Never mind.", "ts": stamp(), "thread_ts": thread}
    event = {"type": "message", "subtype": "message_deleted", "channel": channel, "channel_type": "channel"}
    return _event({**event, "ts": stamp(), "deleted_ts": gone["ts"], "previous_message": gone})


def _event(event: Mapping[str, Any]) -> Payload:
    body = {
        "type": "event_callback",
        "team_id": TEAM,
        "api_app_id": "A1",
        "event_id": f"Ev{unique()}",
        "event": event,
        "authorizations": [{"team_id": TEAM, "user_id": BOT_USER, "is_bot": True, "enterprise_id": None}],
    }
    return Payload("events_api", body)


def button(channel: str, thread: str, action_id: str, *, value: str, menu_ts: str) -> Payload:
    action = {
        "action_id": action_id,
        "block_id": "b1",
        "type": "button",
        "value": value,
        "action_ts": stamp(),
    }
    body = {
        "type": "block_actions",
        "team": {"id": TEAM, "domain": "bench"},
        "user": {"id": PERSON, "username": "ada", "name": "ada", "team_id": TEAM},
        "api_app_id": "A1",
        "trigger_id": unique(),
        "container": {
            "type": "message", "message_ts": menu_ts, "channel_id": channel, "thread_ts": thread,
            "is_ephemeral": False,
        },
        "channel": {"id": channel, "name": "bench"},
        "message": {"ts": menu_ts, "thread_ts": thread, "text": "", "user": BOT_USER},
        "response_url": "",
        "actions": [action],
    }  # fmt: skip
    return Payload("interactive", body)


def command(channel: str, text: str) -> Payload:
    body = {
        "team_id": TEAM,
        "channel_id": channel,
        "user_id": PERSON,
        "user_name": "ada",
        "command": "/roundtable",
        "text": text,
        "api_app_id": "A1",
        "response_url": "",
        "trigger_id": unique(),
    }
    return Payload("slash_commands", body)
