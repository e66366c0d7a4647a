"""
What a role of the workshop thinks of the plan so far, and how that is read from what a voice wrote.

Reading never fails: what is not in the form counts as "not enough to say", with the reason, so that a voice that
stumbles can hold a plan up but never wave it through.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from bot.domain.planning.plan_reader import objects_in
from bot.domain.values.text import clean, one_line
from bot.domain.values.value import Stored

MOST_REASONS = 10
MOST_QUESTIONS = 3
"""A role asks for what it cannot go on without; a fourth question is a wish."""
MOST_READ = 50
LONGEST = 500

NAMES = {
    "reasons": ("reasons", "reason"),
    "suggestions": ("suggestions", "suggestion"),
    "blocking_questions": ("blocking_open_questions", "blocking_questions"),
}
IN_AN_OBJECT = ("text", "question", "description", "reason")
SAID = {
    "true": True, "yes": True, "ok": True,
    "false": False, "no": False, "not_ok": False, "not ok": False,
    "null": None, "none": None, "unknown": None, "": None,
}  # fmt: skip

_UNSAID = object()


class RoleVerdict(Stored):
    """`ok` is None where the role has not enough to go by; `confidence` is None where it named none."""

    ok: bool | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    reasons: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    blocking_questions: tuple[str, ...] = ()

    @property
    def sureness(self) -> float:
        """Who names no confidence is taken at their word."""
        return 1.0 if self.confidence is None else self.confidence

    @property
    def word(self) -> str:
        return {True: "OK", False: "NOT_OK", None: "UNKNOWN"}[self.ok]


class Judgement(Stored):
    """
    A verdict as it stands in the record: whose, in which round, and the `message_id` of its line. For a *challenge* the
    role had been asked for what speaks against what all agree on; it takes the place of the role's verdict before.
    """

    role: str
    round: int
    verdict: RoleVerdict
    line: str = ""
    challenge: bool = False


def read_verdict(text: str, *, told: Callable[[Any], Any] = lambda entry: entry) -> RoleVerdict:
    """The verdict in *text*, which may stand in prose or a code fence. Each entry of its lists is read as *told*."""
    found = _object_in(text)
    if found is None:
        return unreadable("no verdict in JSON was found in the answer")
    return verdict_from(found, told=told)


def verdict_from(
    found: Mapping[str, Any], *, told: Callable[[Any], Any] = lambda entry: entry
) -> RoleVerdict:
    """Fields that cannot be understood make the verdict unknown; what the others say is kept."""
    flaws: list[str] = []
    ok = _ok(found, flaws)
    confidence = _confidence(found.get("confidence"), flaws)
    lists = {field: _texts(found, names, told) for field, names in NAMES.items()}
    if flaws:
        lists["reasons"] = (*flaws, *lists["reasons"])
    return RoleVerdict(
        ok=None if flaws else ok,
        confidence=confidence,
        reasons=lists["reasons"][:MOST_REASONS],
        suggestions=lists["suggestions"][:MOST_REASONS],
        blocking_questions=lists["blocking_questions"][:MOST_QUESTIONS],
    )


def unreadable(reason: str) -> RoleVerdict:
    """Also for a role that could not be asked at all."""
    return RoleVerdict(reasons=(one_line(reason, LONGEST),))


def summary(judgements: Mapping[str, RoleVerdict]) -> str:
    """One line for the roles to go on from: `TestPlanner:NOT_OK(FR-002 has no criterion); …`."""
    return "; ".join(
        f"{role}:{verdict.word}({verdict.reasons[0] if verdict.reasons else ''})"
        for role, verdict in judgements.items()
    )


def _object_in(text: str) -> Mapping[str, Any] | None:
    """The first JSON object that says something about `ok`, else the first one."""
    first = None
    for found in objects_in(text):
        if "ok" in found:
            return found
        first = first or found
    return first


def _ok(found: Mapping[str, Any], flaws: list[str]) -> bool | None:
    ok = found.get("ok", _UNSAID)
    if ok is _UNSAID:
        flaws.append("the answer does not say whether it is ok")
        return None
    if ok is None or isinstance(ok, bool):
        return ok
    word = " ".join(str(ok).casefold().split())
    if isinstance(ok, str) and word in SAID:
        return SAID[word]
    flaws.append(f"ok is {one_line(repr(ok), 40)}, and has to be true, false or null")
    return None


def _confidence(given: Any, flaws: list[str]) -> float | None:
    if given is None:
        return None
    try:
        number = float(given) if isinstance(given, int | float | str) and not isinstance(given, bool) else -1
    except (ValueError, OverflowError):
        number = -1
    if 0 <= number <= 1:
        return number
    flaws.append(f"confidence is {one_line(repr(given), 40)}, and has to be a number from 0 to 1")
    return None


def _texts(found: Mapping[str, Any], names: tuple[str, ...], told: Callable[[Any], Any]) -> tuple[str, ...]:
    given = next((found[name] for name in names if found.get(name)), ())
    entries = given if isinstance(given, list | tuple) else (given,)
    texts = (one_line(clean(text_in(told(entry))), LONGEST) for entry in entries[:MOST_READ])
    return tuple(dict.fromkeys(text for text in texts if text))


def text_in(entry: Any) -> str:
    """The words of an entry of a list, which may be an object."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Mapping):
        return next((entry[name] for name in IN_AN_OBJECT if isinstance(entry.get(name), str)), "")
    return ""


# The seats of the workshop, in the order of speaking. Names are `actor`s of the transcript.


PRODUCT = "ProductPlanner"
SYSTEM = "SystemDesigner"
DEVELOPER = "SeniorDeveloper"
TESTS = "TestPlanner"
RISKS = "RiskPlanner"

_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")

ORDER = (PRODUCT, SYSTEM, DEVELOPER, TESTS, RISKS)


def seated(actors: Iterable[str]) -> tuple[str, ...]:
    """*actors* in the order of speaking; those that ORDER does not have come last."""
    present = tuple(dict.fromkeys(actors))
    return (*(role for role in ORDER if role in present), *(role for role in present if role not in ORDER))


def silent_in(heard: Mapping[str, RoleVerdict], roles: tuple[str, ...]) -> tuple[str, ...]:
    """Those without a verdict, in the order of speaking."""
    return tuple(role for role in roles if role not in heard)


def challenged_by(judgements: Iterable[Judgement], number: int) -> str:
    """The role that looked in round *number* for what speaks against what all agreed on."""
    return next((one.role for one in judgements if one.challenge and one.round == number), "")


def challenger(roles: tuple[str, ...]) -> str:
    """Whose field is what can go wrong."""
    return RISKS if RISKS in roles else roles[-1]


def title(role: str) -> str:
    """As people say it: Test Planner."""
    return _INSIDE.sub(" ", role)


def titles(roles: Iterable[str]) -> str:
    """One, or some of them, in a sentence."""
    *others, last = map(title, roles)
    return f"{', '.join(others)} and {last}" if others else last
