"""What a person does in the workspace. Tests and the page act through `SandboxPerson`, and through nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_sandbox import payloads
from slack_sandbox.delivery import COMMAND, INTERACTIVE, Delivery, Dispatcher
from slack_sandbox.markup import typed
from slack_sandbox.messages import JSON, SandboxMessage, interactive
from slack_sandbox.residents import PROCESSING, Channel, User
from slack_sandbox.responses import Origin, ResponseUrls
from slack_sandbox.rules.elements import filled, options, unfit
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.slack import STOPPED, Slack
from slack_sandbox.submission import settle
from slack_sandbox.views import View
from slack_sandbox.workspace import SLACKBOT, SlackWorkspace

FAILED = {
    "operation_timeout": '{command} failed with the error "operation_timeout"',
    "dispatch_failed": '{command} failed with the error "dispatch_failed"',
}


@dataclass(frozen=True, slots=True)
class SandboxPerson:
    """
    Channels are named by name (`#roundtable`) or id, a conversation with a person by `@name`; messages by their
    stamp. Passing a `SandboxMessage` instead presses the buttons it had when it was looked at: a stale menu.
    """

    user: User
    slack: Slack
    dispatcher: Dispatcher
    response_urls: ResponseUrls

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def view(self) -> View | None:
        """The modal in front of this person."""
        return self.slack.views.top(self.id)

    @property
    def home(self) -> View | None:
        return self.slack.views.home(self.id)

    @property
    def ephemerals(self) -> list[SandboxMessage]:
        """Everything that only this person sees, oldest first."""
        channels = self._workspace.channels.values()
        return [m for channel in channels for m in channel.messages.values() if m.only_for == self.id]

    async def say(self, channel: str, text: str, *, thread_ts: str = "") -> str:
        """The stamp of the new message. The app hears of it in the background."""
        place = self._place(channel)
        if thread_ts and thread_ts not in place.messages:
            raise SlackRefused("thread_not_found")
        message = self._workspace.post(
            place,
            user=self.id,
            text=typed(self._workspace, text),
            thread_ts=thread_ts,
            client_msg_id=f"sandbox-{self._workspace.clock.stamp()}",
        )
        return message.ts

    async def mention(self, channel: str, text: str, *, thread_ts: str = "") -> str:
        """Says it to the app: `@roundtable` comes first."""
        return await self.say(channel, f"<@{self.slack.app.bot_user_id}> {text}", thread_ts=thread_ts)

    async def edit(self, ts: str, text: str) -> None:
        message = self._own(ts)
        self._workspace.edit(message, by=self.id, text=typed(self._workspace, text))

    async def delete(self, ts: str) -> None:
        self._workspace.delete(self._own(ts))

    async def react(self, ts: str, name: str) -> None:
        self._workspace.react(self._workspace.find(ts), name.strip(":"), self.id)

    async def unreact(self, ts: str, name: str) -> None:
        self._workspace.unreact(self._workspace.find(ts), name.strip(":"), self.id)

    async def press(self, target: SandboxMessage | View | str, action_id: str, value: Any = None) -> Delivery:
        """
        Presses a button, or chooses *value* from a menu.

        Where several buttons share an action_id, *value* says which one is meant.
        """
        if isinstance(target, View):
            element = _element(target.blocks, action_id, value)
            payload = payloads.view_click(self.slack, self.user, target, element=element, value=value)
            return await self.dispatcher.ask(INTERACTIVE, payload)

        message = target if isinstance(target, SandboxMessage) else self._workspace.find(target)
        if message.only_for not in {"", self.id}:
            raise LookupError(f"{self.name} does not see this message")
        element = _element(message.blocks, action_id, value)
        payload = payloads.message_click(
            self.slack, self.user, message, element=element, value=value, response_url=self._address(message)
        )
        return await self.dispatcher.ask(INTERACTIVE, payload)

    async def slash(self, channel: str, line: str) -> Delivery:
        """Types a command. A failure is shown to the person, as Slackbot does it."""
        name, _, text = line.partition(" ")
        place = self._place(channel)
        origin = Origin(place.id, self.id)
        payload = payloads.command(
            self.slack,
            self.user,
            place,
            name=name,
            text=text.strip(),
            response_url=self.response_urls.issue(origin),
        )
        delivery = await self.dispatcher.ask(COMMAND, payload)
        if delivery.error:
            self._told(place, FAILED[delivery.error].format(command=name))
        elif delivery.response.get("text") or delivery.response.get("blocks"):
            self.response_urls.say(origin, delivery.response)
        return delivery

    async def shortcut(self, target: SandboxMessage | str, callback_id: str = "") -> Delivery:
        """A message shortcut; without *callback_id*, the app's only one."""
        message = target if isinstance(target, SandboxMessage) else self._workspace.find(target)
        payload = payloads.message_shortcut(
            self.slack,
            self.user,
            message,
            callback_id=callback_id or self._only_shortcut(),
            response_url=self._address(message),
        )
        return await self.dispatcher.ask(INTERACTIVE, payload)

    async def global_shortcut(self, callback_id: str) -> Delivery:
        payload = payloads.global_shortcut(self.slack, self.user, callback_id=callback_id)
        return await self.dispatcher.ask(INTERACTIVE, payload)

    async def submit(self, values: Mapping[str, Any] | None = None, *, view: View | None = None) -> Delivery:
        """
        Fills in the modal in front, by action_id, and submits it.

        `SlackRefused` when a required field is empty, or a value does not fit: the app is not even asked.
        """
        shown = view or self._view()
        state = filled(shown.blocks, values or {})
        if problems := unfit(shown.blocks, state):
            raise SlackRefused("required_fields", errors=problems)
        completed = self.slack.views.fill(shown, state)
        payload = payloads.view_submission(self.slack, self.user, completed)
        delivery = await self.dispatcher.ask(INTERACTIVE, payload)
        if delivery.acked:
            settle(self.slack.views, completed, delivery)
        return delivery

    async def dismiss(self, *, view: View | None = None) -> Delivery | None:
        """Closes the modal in front; the app is told only if it asked to be."""
        shown = view or self._view()
        self.slack.views.close(shown)
        if not shown.body.get("notify_on_close"):
            return None
        return await self.dispatcher.ask(INTERACTIVE, payloads.view_closed(self.slack, self.user, shown))

    async def stop(self, channel: str, thread_ts: str) -> None:
        """Slack's own button, under a thread in which an agent is at work and can be stopped."""
        place = self._place(channel)
        if place.sessions.get(thread_ts) != PROCESSING or STOPPED not in self.slack.app.events:
            raise SlackRefused("session_not_found")
        event = {
            "type": STOPPED,
            "user": self.id,
            "channel": place.id,
            "thread_ts": thread_ts,
            "streaming_message_ts": [],
            "event_ts": self._workspace.clock.stamp(),
        }
        self.dispatcher.announce(payloads.event_callback(self.slack, event))

    async def open_home(self, *, tab: str = "home") -> None:
        event = {
            "type": "app_home_opened",
            "user": self.id,
            "channel": self._workspace.direct(self.id, self.slack.app.bot_user_id).id,
            "tab": tab,
            "event_ts": self._workspace.clock.stamp(),
        }
        self.dispatcher.announce(payloads.event_callback(self.slack, event))

    @property
    def _workspace(self) -> SlackWorkspace:
        return self.slack.workspace

    def _place(self, name: str) -> Channel:
        if name.startswith("@"):
            return self._workspace.direct(self.id, self._workspace.user(name).id)
        channel = self._workspace.channel(name)
        if channel.archived:
            raise SlackRefused("is_archived")
        if self.id not in channel.members:
            raise SlackRefused("not_in_channel")
        return channel

    def _own(self, ts: str) -> SandboxMessage:
        message = self._workspace.find(ts)
        if message.user != self.id:
            raise SlackRefused("cant_update_message")
        return message

    def _address(self, message: SandboxMessage) -> str:
        return self.response_urls.issue(Origin(message.channel, self.id, message.ts))

    def _view(self) -> View:
        if self.view is None:
            raise LookupError(f"{self.name} has no modal open")
        return self.view

    def _only_shortcut(self) -> str:
        (callback_id,) = self.slack.app.shortcuts
        return callback_id

    def _told(self, channel: Channel, text: str) -> None:
        self._workspace.post(channel, user=SLACKBOT, text=text, only_for=self.id)


def _element(blocks: Any, action_id: str, value: Any) -> JSON:
    found = [element for element in interactive(blocks) if element["action_id"] == action_id]
    if not found:
        offered = [element["action_id"] for element in interactive(blocks)]
        raise LookupError(f"nothing here is called {action_id!r}, only {offered}")
    if value is None:
        return found[0]
    if found[0]["type"] == "overflow":
        found = [one for one in found if any(option["value"] == value for option in options(one))] or found
    if found[0]["type"] != "button":
        return found[0]
    for element in found:
        if element.get("value") == value:
            return element
    raise LookupError(f"no button {action_id!r} has the value {value!r}")
