"""Modals, stacked per person, and home tabs."""

import itertools
import secrets
from dataclasses import dataclass, replace

from slack_sandbox.changes import ChangeKind
from slack_sandbox.messages import JSON, with_ids
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.workspace import SlackWorkspace

DEEPEST_STACK = 3
KEPT = ("type", "title", "submit", "close", "private_metadata", "callback_id", "external_id")
FLAGS = ("clear_on_close", "notify_on_close", "submit_disabled")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    id: str
    user: str
    body: JSON
    hash: str
    root_id: str
    previous_id: str = ""
    values: JSON | None = None

    @property
    def blocks(self) -> list[JSON]:
        found: list[JSON] = self.body.get("blocks", [])
        return found

    @property
    def callback_id(self) -> str:
        return str(self.body.get("callback_id", ""))

    @property
    def external_id(self) -> str:
        return str(self.body.get("external_id", ""))

    @property
    def title(self) -> str:
        return str((self.body.get("title") or {}).get("text", ""))


class Views:
    def __init__(self, workspace: SlackWorkspace) -> None:
        self._workspace = workspace
        self._numbers = itertools.count(1)
        self._stacks: dict[str, list[View]] = {}
        self._homes: dict[str, View] = {}

    def open(self, user: str, body: JSON) -> View:
        if self.top(user):
            self._stacks[user].clear()
        return self._put(user, body)

    def push(self, user: str, body: JSON) -> View:
        if len(self._stacks.get(user, ())) >= DEEPEST_STACK:
            raise SlackRefused("push_limit_reached")
        return self._put(user, body)

    def update(self, body: JSON, *, view_id: str = "", external_id: str = "", known_hash: str = "") -> View:
        before = self.get(view_id, external_id=external_id)
        if known_hash and known_hash != before.hash:
            raise SlackRefused("hash_conflict")
        after = replace(before, body=self._prepared(body), hash=_new_hash())
        stack = self._stacks[before.user]
        stack[stack.index(before)] = after
        self._tell(before.user)
        return after

    def publish(self, user: str, body: JSON) -> View:
        view_id = f"V0HOME{user}"
        view = View(id=view_id, user=user, body=self._prepared(body), hash=_new_hash(), root_id=view_id)
        self._homes[user] = view
        self._workspace.tell(ChangeKind.HOME, user=user)
        return view

    def fill(self, view: View, values: JSON) -> View:
        """The same view with what a person entered."""
        stack = self._stacks[view.user]
        after = replace(view, values=values)
        stack[stack.index(self.get(view.id))] = after
        return after

    def close(self, view: View) -> None:
        """Back to the view below, if there is one."""
        self._stacks[view.user].remove(self.get(view.id))
        self._tell(view.user)

    def clear(self, user: str) -> None:
        self._stacks.get(user, []).clear()
        self._tell(user)

    def top(self, user: str) -> View | None:
        stack = self._stacks.get(user)
        return stack[-1] if stack else None

    def home(self, user: str) -> View | None:
        return self._homes.get(user)

    def is_open(self, view_id: str) -> bool:
        return any(view.id == view_id for view in itertools.chain.from_iterable(self._stacks.values()))

    def get(self, view_id: str, *, external_id: str = "") -> View:
        for view in itertools.chain.from_iterable(self._stacks.values()):
            if view.id == view_id or (external_id and view.external_id == external_id):
                return view
        raise SlackRefused("not_found")

    def as_json(self, view: View, *, app_id: str, bot_id: str) -> JSON:
        """A view as Slack sends it: complete, with what was filled in."""
        shape = {name: view.body.get(name, "") for name in ("private_metadata", "callback_id", "external_id")}
        return {
            **shape,
            **{name: view.body.get(name) for name in ("type", "title", "submit", "close", "blocks")},
            **{name: bool(view.body.get(name)) for name in FLAGS},
            "id": view.id,
            "team_id": self._workspace.team_id,
            "app_id": app_id,
            "bot_id": bot_id,
            "app_installed_team_id": self._workspace.team_id,
            "hash": view.hash,
            "root_view_id": view.root_id,
            "previous_view_id": view.previous_id or None,
            "state": {"values": view.values or {}},
        }

    def _put(self, user: str, body: JSON) -> View:
        if (external_id := body.get("external_id")) and self._taken(external_id):
            raise SlackRefused("duplicate_external_id")
        stack = self._stacks.setdefault(user, [])
        view_id = f"V0SANDBOX{next(self._numbers):03d}"
        view = View(
            id=view_id,
            user=user,
            body=self._prepared(body),
            hash=_new_hash(),
            root_id=stack[0].id if stack else view_id,
            previous_id=stack[-1].id if stack else "",
        )
        stack.append(view)
        self._tell(user)
        return view

    def _taken(self, external_id: str) -> bool:
        return any(v.external_id == external_id for v in itertools.chain.from_iterable(self._stacks.values()))

    def _prepared(self, body: JSON) -> JSON:
        kept = {name: body[name] for name in (*KEPT, *FLAGS) if name in body}
        return {**kept, "blocks": list(with_ids(body["blocks"], self._workspace.clock.stamp()))}

    def _tell(self, user: str) -> None:
        self._workspace.tell(ChangeKind.VIEW, user=user)


def _new_hash() -> str:
    return secrets.token_hex(6)
