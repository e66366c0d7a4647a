"""response_urls: what an app may still say after a command or a click, even where it is not a member."""

import contextlib
import json
import secrets
from dataclasses import dataclass

from aiohttp import web

from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.rules.validation import check_content
from slack_sandbox.slack import Slack

MOST_USES = 5
LIFETIME_SECONDS = 30 * 60
GONE = frozenset({"used_url", "expired_url", "invalid_url"})


@dataclass(frozen=True, slots=True)
class Origin:
    """What an address belongs to: who caused it, where, and the message that was clicked, if any."""

    channel: str
    user: str
    message_ts: str = ""


class ResponseUrls:
    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._origins: dict[str, Origin] = {}
        self._issued: dict[str, float] = {}
        self._uses: dict[str, int] = {}

    def issue(self, origin: Origin) -> str:
        token = secrets.token_urlsafe(18)
        self._origins[token] = origin
        self._issued[token] = self._slack.workspace.clock.now()
        self._uses[token] = 0
        return f"{self._slack.base_url}/response/{token}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            self.use(request.match_info["token"], _body(await request.text()))
        except SlackRefused as refusal:
            return web.Response(status=404 if refusal.error in GONE else 400, text=refusal.error)
        return web.Response(text="ok")

    def use(self, token: str, body: JSON) -> None:
        if token not in self._origins:
            raise SlackRefused("invalid_url")
        if self._slack.workspace.clock.now() - self._issued[token] > LIFETIME_SECONDS:
            raise SlackRefused("expired_url")
        if self._uses[token] >= MOST_USES:
            raise SlackRefused("used_url")
        self._uses[token] += 1
        self.say(self._origins[token], body)

    def say(self, origin: Origin, body: JSON) -> None:
        """Also for what an app puts into its acknowledgement of a command."""
        original = self._original(origin)
        if body.get("delete_original"):
            if original:
                self._slack.workspace.delete(original)
            return
        check_content(body)
        if body.get("replace_original") and original:
            self._slack.workspace.edit(original, by=self._slack.app.bot_user_id, **_content(body))
            return
        only_for = "" if body.get("response_type") == "in_channel" else origin.user
        self._slack.workspace.post(
            self._slack.workspace.channels[origin.channel],
            **self._slack.identity(),
            **_content(body),
            thread_ts=str(body.get("thread_ts") or ""),
            only_for=only_for,
        )

    def _original(self, origin: Origin) -> SandboxMessage | None:
        return self._slack.workspace.channels[origin.channel].messages.get(origin.message_ts)


def _body(text: str) -> JSON:
    with contextlib.suppress(ValueError):
        if isinstance(body := json.loads(text), dict):
            return body
    raise SlackRefused("invalid_payload")


def _content(body: JSON) -> JSON:
    return {"text": str(body.get("text") or ""), "blocks": tuple(body.get("blocks") or ())}
