"""
What Slack publishes of the Web API methods that the bot calls, method by method: the facts that its specification
(https://docs.slack.dev/reference/methods) gives for 2026-08. The sandbox was written by those who wrote the bot; this
table was not made from either.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol


class Published(NamedTuple):
    """*scopes*: a bot needs one, by the kind of conversation. *a_minute* is None where Slack has a rule of its own."""

    needs: frozenset[str]
    may: frozenset[str]
    scopes: frozenset[str]
    a_minute: int | None
    reads_json: bool


class Called(Protocol):
    @property
    def method(self) -> str: ...

    @property
    def args(self) -> Mapping[str, Any]: ...


def _of(needs: str, may: str = "", *, scopes: str = "", tier: int = 0, reads_json: bool = True) -> Published:
    a_minute = {1: 1, 2: 20, 3: 50, 4: 100}.get(tier)
    return Published(
        frozenset(needs.split()), frozenset(may.split()), frozenset(scopes.split()), a_minute, reads_json
    )


PAGED = "cursor limit"
HISTORY = "channels:history groups:history im:history mpim:history"
READ = "channels:read groups:read im:read mpim:read"
CONTENT = "attachments blocks text markdown_text metadata parse link_names as_user"
BYLINE = "icon_emoji icon_url username"

PUBLISHED: Mapping[str, Published] = {
    "agents.sessions.rename": _of("channel_id title", "thread_ts", scopes="chat:write", tier=3),
    "agents.sessions.setStatus": _of(
        "channel_id status", f"thread_ts title initiator_user_id {BYLINE}", scopes="chat:write", tier=3
    ),
    "apps.connections.open": _of("", tier=3),
    "assistant.threads.setStatus": _of(
        "channel_id thread_ts status", f"loading_messages {BYLINE}", scopes="chat:write"
    ),
    "assistant.threads.setSuggestedPrompts": _of(
        "channel_id prompts", "thread_ts title", scopes="assistant:write"
    ),
    "auth.revoke": _of("", "test"),
    "auth.test": _of(""),
    "bots.info": _of("", "bot team_id", scopes="users:read", tier=3, reads_json=False),
    "chat.delete": _of("channel ts", "as_user", scopes="chat:write", tier=3),
    "chat.getPermalink": _of("channel message_ts", reads_json=False),
    "chat.postEphemeral": _of("channel user", f"{CONTENT} {BYLINE} thread_ts", scopes="chat:write", tier=4),
    "chat.postMessage": _of(
        "channel",
        f"{CONTENT} {BYLINE} thread_ts mrkdwn reply_broadcast unfurl_links unfurl_media"
        " current_draft_last_updated_ts",
        scopes="chat:write",
    ),
    "chat.update": _of(
        "channel ts", f"{CONTENT} reply_broadcast file_ids unfurled_attachments", scopes="chat:write", tier=3
    ),
    "conversations.history": _of(
        "channel", f"{PAGED} include_all_metadata inclusive latest oldest", scopes=HISTORY, tier=3
    ),
    "conversations.info": _of(
        "channel", "include_locale include_num_members", scopes=READ, tier=3, reads_json=False
    ),
    "conversations.list": _of(
        "", f"{PAGED} exclude_archived team_id types", scopes=READ, tier=2, reads_json=False
    ),
    "conversations.members": _of("channel", PAGED, scopes=READ, tier=4, reads_json=False),
    "conversations.open": _of(
        "",
        "channel users return_im prevent_creation",
        scopes="channels:manage groups:write im:write mpim:write",
        tier=3,
    ),
    "conversations.replies": _of(
        "channel ts",
        f"{PAGED} include_all_metadata inclusive latest oldest",
        scopes=HISTORY,
        tier=3,
        reads_json=False,
    ),
    "files.completeUploadExternal": _of(
        "files",
        f"channel_id channels thread_ts initial_comment blocks {BYLINE}",
        scopes="files:write",
        tier=4,
    ),
    "files.getUploadURLExternal": _of(
        "filename length", "alt_txt snippet_type", scopes="files:write", tier=4, reads_json=False
    ),
    "reactions.add": _of("channel name timestamp", scopes="reactions:write", tier=3),
    "reactions.remove": _of("name", "channel timestamp file file_comment", scopes="reactions:write", tier=2),
    "views.open": _of("view", "trigger_id interactivity_pointer", tier=4),
    "views.publish": _of("user_id view", "hash", tier=4),
    "users.info": _of("user", "include_locale", scopes="users:read", tier=4, reads_json=False),
}

BLOCK_KIT: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "actions": "elements block_id",
        "button": "text action_id url value style confirm accessibility_label",
        "context": "elements block_id",
        "link": "url text unsafe style",
        "mrkdwn": "text verbatim",
        "overflow": "action_id options confirm",
        "plain_text": "text emoji",
        "rich_text": "elements block_id",
        "rich_text_list": "style elements indent offset border",
        "rich_text_section": "elements",
        "section": "text block_id fields accessory expand",
        "text": "text style",
    }.items()
}
"""The fields that each block and element may have beside its type."""
PARTS_OF_BLOCKS = frozenset({"title", "text", "confirm", "deny", "style", "value", "description", "url"}) | {
    *("bold", "italic", "strike", "code"),
}
"""Of the objects without a type: a confirmation, an option, a style."""

LISTS = {"blocks": list, "files": list, "metadata": dict, "view": dict}
FLAGS = {True, False, "0", "1", "true", "false"}
FLAGGED = {
    *("exclude_archived", "include_all_metadata", "inclusive", "link_names", "mrkdwn", "reply_broadcast"),
    *("return_im", "unfurl_links", "unfurl_media"),
}


def unlike_published(calls: Iterable[Called]) -> list[str]:
    """A sentence for every call that Slack does not document like that."""
    return [f"{call.method}: {flaw}" for call in calls for flaw in _flaws(call)]


def _flaws(call: Called) -> Iterator[str]:
    method = PUBLISHED.get(call.method)
    if method is None:
        yield "a method that is not in the table"
        return
    names = set(call.args)
    yield from (f"{name} is missing" for name in sorted(method.needs - names))
    yield from (f"there is no {name}" for name in sorted(names - method.needs - method.may))
    yield from (
        f"{name} is a {type(value).__name__}" for name, value in call.args.items() if not _fits(name, value)
    )


def _fits(name: str, value: Any) -> bool:
    if name in LISTS:
        return isinstance(value, LISTS[name])
    if name in FLAGGED:
        return value in FLAGS
    return isinstance(value, str | int) and not isinstance(value, bool)
