"""How the sandbox says no: `SlackRefused` becomes `{"ok": false, "error": …}`, with what Slack adds to explain it."""

from collections.abc import Iterable
from typing import Any


class SlackRefused(Exception):
    """*error* is Slack's word for it; *messages* go to `response_metadata`, everything else beside `error`."""

    def __init__(self, error: str, *, messages: Iterable[str] = (), **beside: Any) -> None:
        super().__init__(error)
        self.error = error
        self.messages = tuple(messages)
        self.beside = beside

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": False, "error": self.error, **self.beside}
        if self.messages:
            answer["response_metadata"] = {"messages": list(self.messages)}
        return answer


def missing(name: str) -> SlackRefused:
    return SlackRefused("invalid_arguments", messages=[f"[ERROR] missing required field: {name}"])
