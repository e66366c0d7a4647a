from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sandbox.messages import JSON
from slack_sandbox.rules.refusal import SlackRefused, missing
from slack_sandbox.slack import Slack

TRUE = frozenset({True, "1", "true", "True"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a Web API method: its arguments, however they travelled."""

    method: str
    args: Mapping[str, Any]
    token: str = ""

    def text(self, name: str, default: str = "") -> str:
        value = self.args.get(name)
        return default if value is None else str(value)

    def need(self, name: str) -> str:
        if not (value := self.text(name)):
            raise missing(name)
        return value

    def flag(self, name: str) -> bool:
        return self.args.get(name) in TRUE

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.args.get(name) or default)
        except (TypeError, ValueError):
            raise SlackRefused("invalid_arguments", messages=[f"[ERROR] {name} must be an integer"]) from None


Handler = Callable[[Slack, Call], JSON]


@dataclass(frozen=True, slots=True)
class Method:
    """
    *scopes*: any of them is enough. *app_level* methods want the xapp token, *public* ones none at all. Those whose
    arguments come *by_form* (or in the query) read no JSON.
    """

    handler: Handler
    scopes: tuple[str, ...] = ()
    app_level: bool = False
    public: bool = False
    by_form: bool = False
