"""Troubles: the ones people should read go into the thread as small print, all others to the log."""

from collections.abc import Iterable

from bot.domain.message import Message
from bot.domain.roundtable import Roundtable
from bot.domain.taxonomy import Severity, Trouble
from bot.domain.transcript import Part

LOUD = {Severity.ERROR: "⚠ ", Severity.FATAL: "⚠ "}


def report(rt: Roundtable, troubles: Iterable[Trouble], *, part: Part | None = None) -> Roundtable:
    """One message for all that can be seen, each with its code, so that it can be looked up."""
    found = tuple(troubles)
    rt = rt.logging(*found)
    seen = [one for one in found if one.sentence]
    if not seen:
        return rt
    text = "\n".join(f"{LOUD.get(one.severity, '')}{one.sentence}" for one in seen)
    codes = " · ".join(dict.fromkeys(one.code for one in seen))
    return rt.telling(Message(text=text, note=codes), part=part or rt.part)
