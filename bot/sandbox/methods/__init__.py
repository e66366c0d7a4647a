"""The Web API: `METHODS` says what there is; everything else is an `unknown_method`."""

from collections.abc import Mapping

from bot.sandbox.methods import account, agents, chat, conversations, files, reactions, views
from bot.sandbox.methods.call import Call, Method

METHODS: Mapping[str, Method] = {
    **account.METHODS,
    **agents.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **reactions.METHODS,
    **views.METHODS,
}

__all__ = ["METHODS", "Call", "Method"]
