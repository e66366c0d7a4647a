"""What people can do on the page: the deeds that come over its wire, and how each one ended."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_sandbox.delivery import Delivery
from slack_sandbox.messages import JSON
from slack_sandbox.people import SandboxPerson
from slack_sandbox.rules.refusal import SlackRefused

FAILURES = {
    "operation_timeout": "The app did not answer in time (operation_timeout).",
    "dispatch_failed": "The app could not be reached (dispatch_failed).",
}

Deed = Callable[[SandboxPerson, JSON], Awaitable[Delivery | str | None]]


async def _say(person: SandboxPerson, what: JSON) -> str:
    return await person.say(what["channel"], what["text"], thread_ts=what.get("thread_ts", ""))


async def _edit(person: SandboxPerson, what: JSON) -> None:
    await person.edit(what["ts"], what["text"])


async def _delete(person: SandboxPerson, what: JSON) -> None:
    await person.delete(what["ts"])


async def _react(person: SandboxPerson, what: JSON) -> None:
    """A second click takes it back."""
    try:
        await person.react(what["ts"], what["name"])
    except SlackRefused:
        await person.unreact(what["ts"], what["name"])


async def _press(person: SandboxPerson, what: JSON) -> Delivery:
    target: Any = what.get("ts")
    if what.get("in_view") or what.get("in_home"):
        target = person.view if what.get("in_view") else person.home
    return await person.press(target, what["action_id"], what.get("value"))


async def _slash(person: SandboxPerson, what: JSON) -> Delivery:
    return await person.slash(what["channel"], what["text"])


async def _shortcut(person: SandboxPerson, what: JSON) -> Delivery:
    return await person.shortcut(what["ts"], what["callback_id"])


async def _submit(person: SandboxPerson, what: JSON) -> Delivery:
    return await person.submit(what["values"])


async def _dismiss(person: SandboxPerson, _what: JSON) -> Delivery | None:
    return await person.dismiss()


async def _stop(person: SandboxPerson, what: JSON) -> None:
    await person.stop(what["channel"], what["ts"])


async def _home(person: SandboxPerson, _what: JSON) -> None:
    await person.open_home()


DEEDS: Mapping[str, Deed] = {
    "say": _say,
    "edit": _edit,
    "delete": _delete,
    "react": _react,
    "press": _press,
    "slash": _slash,
    "shortcut": _shortcut,
    "submit": _submit,
    "dismiss": _dismiss,
    "stop": _stop,
    "home": _home,
}


async def outcome(person: Callable[[str], SandboxPerson], wish: JSON) -> JSON:
    """What is wrong with a wish is said on the page; nothing that a page sends can stop the sandbox."""
    try:
        result = await DEEDS[wish["do"]](person(wish["as"]), wish)
    except SlackRefused as refusal:
        return {"ok": False, "error": refusal.error, **refusal.beside}
    except (LookupError, TypeError, ValueError, AttributeError) as mistake:
        return {"ok": False, "error": str(mistake)}
    return _delivered(result) if isinstance(result, Delivery) else {"ok": True, "ts": result}


def _delivered(delivery: Delivery) -> JSON:
    if delivery.error:
        return {"ok": False, "error": FAILURES.get(delivery.error, delivery.error)}
    return {"ok": not delivery.errors, "errors": delivery.errors}
