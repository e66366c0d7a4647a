"""The Web API: `METHODS` says what there is; everything else is an `unknown_method`."""

from collections.abc import Mapping

from slack_sandbox.methods import account, agents, chat, conversations, files, reactions, views
from slack_sandbox.methods.call import Call, Method

METHODS: Mapping[str, Method] = {
    **account.METHODS,
    **agents.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **reactions.METHODS,
    **views.METHODS,
}

READING = frozenset({
    "api.test", "auth.test", "blocks.validate", "bots.info", "chat.getPermalink", "conversations.history",
    "conversations.info", "conversations.list", "conversations.members", "conversations.replies", "reactions.get",
    "team.info", "users.info", "users.list",
})  # fmt: skip
"""They change nothing."""

__all__ = ["METHODS", "READING", "Call", "Method"]
