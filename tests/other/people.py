"""What people do in the other server's channel, as Slack's documents write it down for an app."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.other.delivering import Door, insist
from tests.other.odd import JSON
from tests.other.server import APP, BOT_USER, CHANNEL, ENTERPRISE, TEAM, OtherSlack
from tests.patience import wait_until

ADA = "U9ADA"


@dataclass
class People:
    slack: OtherSlack
    door: Door
    root: str = ""
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    async def command(self, text: str, *, who: str = ADA) -> Any:
        number = next(self._numbers)
        body = {
            "command": "/roundtable",
            "text": text,
            "team_id": TEAM,
            "enterprise_id": ENTERPRISE,
            "channel_id": CHANNEL,
            "user_id": who,
            "api_app_id": APP,
            "is_enterprise_install": "false",
            "trigger_id": f"{number}.1.abc",
            "response_url": f"{self.slack.url}/hooks/{who}",
        }
        return await insist(self.door, "slash_commands", body)

    async def say(self, text: str, *, who: str = ADA, **more: Any) -> str:
        """In the thread. The event has what Slack sends today, and lacks what it need not have."""
        message = {
            "type": "message",
            "user": who,
            "ts": self.slack.stamp(),
            "text": text,
            "thread_ts": self.root,
            "channel": CHANNEL,
            **more,
        }
        self.slack.messages.append(message)
        event = {
            **message,
            "channel_type": "channel",
            "event_ts": message["ts"],
            "subtype": more.get("subtype"),
        }
        await self.tell(event)
        return str(message["ts"])

    async def mention(self, text: str, *, who: str = ADA) -> None:
        """Told twice, as a message and as a mention."""
        spoken = f"<@{BOT_USER}> {text}"
        ts = await self.say(spoken, who=who)
        event = {"type": "app_mention", "user": who, "ts": ts, "text": spoken, "channel": CHANNEL}
        await self.tell({**event, "thread_ts": self.root})

    async def tell(self, event: JSON) -> None:
        body = {
            "type": "event_callback",
            "team_id": TEAM,
            "enterprise_id": ENTERPRISE,
            "api_app_id": APP,
            "event": event,
            "event_id": f"Ev{next(self._numbers)}",
            "event_time": 1767261600,
            "is_ext_shared_channel": True,
            "authorizations": None,
        }
        await insist(self.door, "events_api", body)

    async def press(self, action: str, *, who: str = ADA) -> None:
        message = await self.menu(action)
        button = next(one for one in _buttons(message) if one["action_id"] == f"roundtable.{action}")
        body = {
            "type": "block_actions",
            "team": None,
            "enterprise": {"id": ENTERPRISE, "name": "Other"},
            "user": {"id": who, "team_id": TEAM},
            "api_app_id": APP,
            "container": {
                "type": "message",
                "message_ts": message["ts"],
                "channel_id": CHANNEL,
                "thread_ts": self.root,
            },
            "channel": {"id": CHANNEL, "name": "other"},
            "message": message,
            "state": None,
            "response_url": f"{self.slack.url}/hooks/{who}",
            "trigger_id": f"{next(self._numbers)}.2.def",
            "actions": [{**button, "action_ts": self.slack.stamp()}],
        }
        await insist(self.door, "interactive", body)

    # --- what they see --------------------------------------------------------------------------------------------

    async def begin(self, title: str) -> None:
        await self.command(f"start {title}")
        await wait_until(lambda: self.slack.messages)
        self.root = self.slack.messages[0]["ts"]
        await self.menu("finish_step")

    async def menu(self, action: str) -> JSON:
        """The newest message that offers *action*, as soon as there is one."""
        await wait_until(lambda: self.offering(action))
        return self.offering(action)[-1]

    async def seen(self, text: str) -> JSON:
        await wait_until(lambda: self._with(text))
        return self._with(text)[-1]

    async def whispered(self, text: str) -> None:
        await wait_until(lambda: [one for one in self.slack.whispers if text in one["text"]])

    def _with(self, text: str) -> list[JSON]:
        return [one for one in self.slack.thread(self.root) if text in one["text"]]

    def offering(self, action: str) -> list[JSON]:
        wanted = f"roundtable.{action}"
        return [
            one
            for one in self.slack.thread(self.root)
            if wanted in {button["action_id"] for button in _buttons(one)}
        ]


def _buttons(message: JSON) -> list[JSON]:
    """Each with the name of its block, as a click tells it."""
    return [
        {**element, "block_id": block.get("block_id", "")}
        for block in message.get("blocks") or ()
        if block["type"] == "actions"
        for element in block["elements"]
    ]
