"""
What Slack, or the way to it, may answer in place of "ok", as one sentence with the fix.

`again` is set where the same call may succeed later. Some of those calls were performed and only the answer was
lost, so whoever calls again has to look first.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.errors import SlackError

FOREIGN = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError)

RATE_LIMITED = "ratelimited"
UNREACHED = "unreached"
"""There was no connection, so nothing can have been done."""
LONGEST_RETRY_SECONDS = 3_600.0

_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_UNSENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_RATE_LIMITED = frozenset({RATE_LIMITED, "rate_limited", "message_limit_exceeded"})
_PASSING = frozenset({
    "external_channel_migrating",
    "fatal_error",
    "internal_error",
    "request_timeout",
    "service_unavailable",
    "team_added_to_org",
    "update_failed",
})  # fmt: skip
SHUT_OUT = frozenset({
    "account_inactive",
    "invalid_auth",
    "not_authed",
    "org_login_required",
    "team_access_not_granted",
    "token_expired",
    "token_revoked",
    "two_factor_setup_required",
})  # fmt: skip
"""They are about us, whatever we ask for: nothing can be done until an admin has done something."""

_UNKNOWN_TO_SLACK = "Slack no longer accepts the bot's token. Install the app again and set SLACK_BOT_TOKEN."
_NOT_FOUND = "I can't see this channel. If it is private, invite me with `/invite @roundtable` and try again."
_ARCHIVED = "This channel is archived. Unarchive it and try again."
_NO_FILES = (
    "The settings of this workspace don't allow such files. An admin of the workspace can change that."
)
_RESTRICTED = "The settings of this workspace don't let me post here. An admin of the workspace can allow it."
_GONE = "The message this belongs to was deleted, so there is nothing left to answer."

SENTENCES: Mapping[str, str] = {
    "not_in_channel": "I'm not in this channel. Invite me with `/invite @roundtable` and try again.",
    "channel_not_found": _NOT_FOUND,
    "is_archived": _ARCHIVED,
    "no_permission": "I'm not allowed to post here. Invite me with `/invite @roundtable` and try again.",
    "user_not_in_channel": "That person is not in this channel. They have to join it first.",
    "is_inactive": _ARCHIVED,
    "user_not_found": "Slack doesn't know that person.",
    "user_disabled": "That person's account is switched off.",
    "cannot_dm_bot": "A bot can't be written to directly.",
    "messages_tab_disabled": "I can't write to you directly: the app's messages tab is switched off.",
    "team_access_not_granted": "The app isn't allowed in this workspace of your organisation. An admin can grant it.",
    "ekm_access_denied": "An admin of the workspace has suspended posting for a while.",
    "invalid_auth": _UNKNOWN_TO_SLACK,
    "not_authed": _UNKNOWN_TO_SLACK,
    "token_revoked": _UNKNOWN_TO_SLACK,
    "token_expired": _UNKNOWN_TO_SLACK,
    "account_inactive": "The bot is switched off in this workspace. Install the app again.",
    "org_login_required": "The workspace is being moved to an organisation. Try again when that is done.",
    "not_allowed_token_type": "This token is of the wrong kind: SLACK_BOT_TOKEN begins with xoxb-.",
    "restricted_action": _RESTRICTED,
    "restricted_action_read_only_channel": "This channel is read-only for me. An admin of the channel can change that.",
    "restricted_action_thread_only_channel": "New messages aren't allowed in this channel, only replies in threads.",
    "restricted_action_non_threadable_channel": "Threads aren't allowed in this channel. Start in another one.",
    "restricted_action_thread_locked": "This thread is locked. An admin can unlock it.",
    "thread_locked": "This thread is locked. An admin can unlock it.",
    "msg_too_long": "The text is too long for Slack.",
    "msg_blocks_too_long": "The text is too long for Slack.",
    "thread_not_found": _GONE,
    "cannot_reply_to_message": "Slack doesn't allow replies to that message. Start with another one.",
    "message_not_found": _GONE,
    "file_type_not_allowed": _NO_FILES,
    "file_uploads_disabled": _NO_FILES,
    "file_uploads_except_images_disabled": _NO_FILES,
    "file_upload_size_restricted": "The workspace doesn't allow files of this size.",
    "storage_limit_reached": "The workspace has no room for more files.",
}


@contextmanager
def refusals_translated() -> Iterator[None]:
    try:
        yield
    except FOREIGN as error:
        raise translated(error) from error


def translated(error: Exception) -> SlackError:
    if isinstance(error, SlackApiError):
        return _refused(error)
    if isinstance(error, _UNSENT):
        return SlackError("Slack could not be reached.", reason=UNREACHED, again=True)
    if isinstance(error, TimeoutError):
        return SlackError("Slack did not answer in time.", reason="timeout", again=True)
    return SlackError("Slack could not be reached.", reason="connection_failed", again=True)


def answer_of(error: SlackApiError) -> Mapping[str, Any]:
    """What Slack answered; empty when that was no JSON object, as with the error page of a proxy."""
    answer = getattr(error.response, "data", None)
    return answer if isinstance(answer, dict) else {}


def _refused(error: SlackApiError) -> SlackError:
    answer = answer_of(error)
    reason = str(answer.get("error", ""))
    status = _status(error)
    if status == _TOO_MANY_REQUESTS or reason in _RATE_LIMITED:
        seconds = _retry_after(error)
        return SlackError(
            "Slack asks us to slow down.", reason=RATE_LIMITED, again=True, after_seconds=seconds
        )
    if status >= _SERVER_ERROR or reason in _PASSING or not reason:
        return SlackError("Slack has trouble answering.", reason=reason or f"http_{status}", again=True)
    return SlackError(_sentence(reason, answer), reason=reason)


def _sentence(reason: str, answer: Mapping[str, Any]) -> str:
    if reason == "missing_scope":
        needed = answer.get("needed") or "a scope"
        return (
            f"The app lacks the permission `{needed}`. Add it to the app's scopes and install the app again."
        )
    if reason.startswith("restricted_action"):
        return SENTENCES.get(reason, _RESTRICTED)
    return SENTENCES.get(reason, f"Slack refused this: {reason}.")


def _status(error: SlackApiError) -> int:
    """The SDK gives us either its own response or aiohttp's."""
    response = error.response
    return int(getattr(response, "status_code", None) or getattr(response, "status", 0) or 0)


def _retry_after(error: SlackApiError) -> float:
    headers = getattr(error.response, "headers", None) or {}
    named = {name.lower(): value for name, value in headers.items()}
    try:
        seconds = float(named.get("retry-after", 0))
    except ValueError:
        return 0.0
    return min(seconds, LONGEST_RETRY_SECONDS) if seconds > 0 else 0.0
