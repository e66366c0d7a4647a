"""
The workspace itself: people, channels, messages.

Nothing here knows of tokens, sockets or HTTP. Every change is told to the watchers as one `SandboxChange`; events for
the app and updates for the page are both made from those.
"""

from collections.abc import Iterator
from typing import Any

from slack_sandbox.changes import ChangeKind, SandboxChange, Watcher
from slack_sandbox.clock import Clock
from slack_sandbox.messages import JSON, Reaction, SandboxMessage, with_ids
from slack_sandbox.residents import Channel, User
from slack_sandbox.rules.refusal import SlackRefused

SLACKBOT = "USLACKBOT"


class SlackWorkspace:
    def __init__(self, clock: Clock, *, team_id: str = "T0SANDBOX", team_name: str = "Sandbox") -> None:
        self.clock = clock
        self.team_id = team_id
        self.team_name = team_name
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self._watchers: list[Watcher] = []

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def tell(self, kind: ChangeKind, **what: Any) -> None:
        change = SandboxChange(kind=kind, **what)
        for watcher in tuple(self._watchers):
            watcher(change)

    def user(self, name: str) -> User:
        """By id, name or first name, as people would say it."""
        wanted = name.removeprefix("@").lower()
        for user in self.users.values():
            if wanted in {user.id.lower(), user.name.lower(), user.real_name.lower()}:
                return user
        raise SlackRefused("user_not_found")

    def channel(self, name: str) -> Channel:
        """By id, or by name with or without the `#`."""
        if found := self.channels.get(name):
            return found
        wanted = name.removeprefix("#")
        for channel in self.channels.values():
            if channel.name == wanted and channel.kind != "im":
                return channel
        raise SlackRefused("channel_not_found")

    def add_user(self, user: User) -> User:
        self.users[user.id] = user
        return user

    def change_user(self, user: User) -> None:
        """In place of the one with the same id."""
        self.users[user.id] = user
        self.tell(ChangeKind.PERSON, user=user.id)

    def renumber(self, channel: Channel, new_id: str) -> None:
        """As when a private channel becomes public: everything in it stays."""
        old_id, channel.id = channel.id, new_id
        self.channels = {one.id: one for one in self.channels.values()}
        for ts, message in channel.messages.items():
            channel.messages[ts] = message.but(channel=new_id)
        self.tell(ChangeKind.RENUMBERED, channel=new_id, detail={"old": old_id})

    def add_channel(self, name: str, *, members: set[str], kind: str = "channel") -> Channel:
        channel_id = f"{'D' if kind == 'im' else 'C'}0SANDBOX{len(self.channels) + 1:02d}"
        channel = Channel(channel_id, name, kind, set(members), created=int(self.clock.now()))
        self.channels[channel_id] = channel
        self.tell(ChangeKind.CHANNEL, channel=channel_id)
        return channel

    def direct(self, one: str, other: str) -> Channel:
        """The conversation of two, opened when they first need it."""
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == {one, other}:
                return channel
        return self.add_channel("", members={one, other}, kind="im")

    def join(self, channel: Channel, user_id: str) -> None:
        if user_id not in channel.members:
            channel.members.add(user_id)
            self.tell(ChangeKind.JOINED, channel=channel.id, user=user_id)

    def leave(self, channel: Channel, user_id: str) -> None:
        if user_id in channel.members:
            channel.members.remove(user_id)
            self.tell(ChangeKind.LEFT, channel=channel.id, user=user_id)

    def archive(self, channel: Channel, *, archived: bool = True) -> None:
        channel.archived = archived
        self.tell(ChangeKind.CHANNEL, channel=channel.id, detail={"archived": archived})

    def post(self, channel: Channel, **what: Any) -> SandboxMessage:
        """A new message at the end of *channel*, or of a thread in it."""
        message = SandboxMessage(ts=self.clock.stamp(), channel=channel.id, **what)
        message = message.but(blocks=with_ids(message.blocks, message.ts))
        channel.messages[message.ts] = message
        if message.only_for:
            self.tell(ChangeKind.EPHEMERAL, channel=channel.id, message=message)
            return message
        if message.is_reply:
            channel.replies.setdefault(message.thread_ts, []).append(message.ts)
        if message.by_bot:
            self.show_status(channel, message.root_ts, {})
        self.tell(ChangeKind.POSTED, channel=channel.id, message=message, user=message.user)
        return message

    def show_status(self, channel: Channel, thread_ts: str, status: JSON) -> None:
        """What the app is doing in a thread, until it says something there."""
        if status:
            channel.status[thread_ts] = status
        elif channel.status.pop(thread_ts, None) is None:
            return
        self._tell_at_work(channel, thread_ts)

    def show_session(self, channel: Channel, thread_ts: str, status: str) -> None:
        """Of an agent in a thread: posts do not change it."""
        channel.sessions[thread_ts] = status
        self._tell_at_work(channel, thread_ts)

    def edit(self, message: SandboxMessage, *, by: str, **changes: Any) -> SandboxMessage:
        if "blocks" in changes:
            changes["blocks"] = with_ids(changes["blocks"], self.clock.stamp())
        after = message.but(edited={"user": by, "ts": self.clock.stamp()}, **changes)
        self.channels[message.channel].messages[message.ts] = after
        kind = ChangeKind.EPHEMERAL if message.only_for else ChangeKind.EDITED
        self.tell(kind, channel=message.channel, message=after, before=message, user=by)
        return after

    def delete(self, message: SandboxMessage) -> None:
        """A root that has replies leaves a tombstone, so that its thread can still be read and answered."""
        channel = self.channels[message.channel]
        if channel.replies.get(message.ts):
            grave = SandboxMessage(
                ts=message.ts,
                channel=message.channel,
                user=SLACKBOT,
                subtype="tombstone",
                text="This message was deleted.",
            )
            channel.messages[message.ts] = grave
            self.tell(ChangeKind.EDITED, channel=channel.id, message=grave, before=message)
            return
        del channel.messages[message.ts]
        if message.is_reply and message.ts in channel.replies.get(message.thread_ts, ()):
            channel.replies[message.thread_ts].remove(message.ts)
        kind = ChangeKind.EPHEMERAL if message.only_for else ChangeKind.DELETED
        self.tell(kind, channel=channel.id, before=message, user=message.user)

    def react(self, message: SandboxMessage, name: str, user: str) -> None:
        before = {reaction.name: reaction.users for reaction in message.reactions}
        if user in before.get(name, ()):
            raise SlackRefused("already_reacted")
        self._set_reactions(message, {**before, name: (*before.get(name, ()), user)})
        detail = {"name": name, "ts": message.ts, "author": message.user}
        self.tell(ChangeKind.REACTED, channel=message.channel, user=user, detail=detail)

    def unreact(self, message: SandboxMessage, name: str, user: str) -> None:
        before = {reaction.name: reaction.users for reaction in message.reactions}
        if user not in before.get(name, ()):
            raise SlackRefused("no_reaction")
        left = tuple(other for other in before[name] if other != user)
        self._set_reactions(message, {**before, name: left})
        detail = {"name": name, "ts": message.ts, "author": message.user}
        self.tell(ChangeKind.UNREACTED, channel=message.channel, user=user, detail=detail)

    def _tell_at_work(self, channel: Channel, thread_ts: str) -> None:
        detail = {"ts": thread_ts, **channel.at_work(thread_ts)}
        self.tell(ChangeKind.STATUS, channel=channel.id, detail=detail)

    def _set_reactions(self, message: SandboxMessage, users: dict[str, tuple[str, ...]]) -> None:
        reactions = tuple(Reaction(name, who) for name, who in users.items() if who)
        self.channels[message.channel].messages[message.ts] = message.but(reactions=reactions)

    def message(self, channel: Channel, ts: str) -> SandboxMessage:
        """As apps see it: ephemeral messages do not exist."""
        found = channel.messages.get(ts)
        if found is None or found.only_for:
            raise SlackRefused("message_not_found")
        return found

    def find(self, ts: str) -> SandboxMessage:
        """Any message by its stamp, which is unique in this workspace; ephemeral ones too."""
        for channel in self.channels.values():
            if found := channel.messages.get(ts):
                return found
        raise SlackRefused("message_not_found")

    def timeline(self, channel: Channel) -> Iterator[SandboxMessage]:
        """The channel without its threads, oldest first."""
        return (m for m in channel.messages.values() if not m.only_for and m.is_in_channel)

    def thread(self, channel: Channel, root_ts: str) -> list[SandboxMessage]:
        """The root and its replies, oldest first."""
        root = channel.messages.get(root_ts)
        replies = [channel.messages[ts] for ts in channel.replies.get(root_ts, ())]
        return [root, *replies] if root and not root.only_for else replies

    def as_json(self, message: SandboxMessage, *, with_metadata: bool = True) -> JSON:
        """*message* with what Slack derives from its thread: a root counts its replies."""
        shape = message.as_json(with_metadata=with_metadata)
        channel = self.channels[message.channel]
        if replies := channel.replies.get(message.ts):
            authors = list(dict.fromkeys(_author(channel.messages[ts]) for ts in replies))
            shape |= {
                "thread_ts": message.ts,
                "reply_count": len(replies),
                "reply_users": authors,
                "reply_users_count": len(authors),
                "latest_reply": replies[-1],
                "is_locked": False,
                "subscribed": False,
            }
        if message.is_reply and (root := channel.messages.get(message.thread_ts)) and root.user:
            shape["parent_user_id"] = root.user
        return shape


def _author(message: SandboxMessage) -> str:
    return message.user or message.bot_id
