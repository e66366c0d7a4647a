"""
What gives secrets away: `patterns.toml` says it, and the checks here have the last word.

Hashes of git, UUIDs and ids are no secrets, and no rule goes by randomness alone. Every rule takes time in proportion
to the text: a run of characters is begun once, or is bounded.
"""

import base64
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

_DATA: Mapping[str, Any] = tomllib.loads(
    files("bot.domain.privacy").joinpath("patterns.toml").read_text(encoding="utf-8")
)
_PART = re.compile(r"(?<!\?P)<([a-z0-9_]+)>")

Check = Callable[[re.Match[str]], bool]


class Format(NamedTuple):
    """
    One of *beginnings*, then *rest*. With *digit*, the rest has a digit or letters of both cases: an ordinary word
    could begin like that.
    """

    kind: str
    beginnings: tuple[str, ...]
    rest: str
    digit: bool = True


class RedactionRule(NamedTuple):
    """
    One of *hints* stands in every text, in small letters, that *written* finds something in. What is hidden is its
    group `secret`, if it has one, and all of it otherwise; *check* has the last word. A text that does not have
    *beside* somewhere has nothing that the rule is about.
    """

    kind: str
    hints: tuple[str, ...]
    written: str
    check: Check = bool
    beside: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a text has a hint of it: most of the many forms are never seen."""
        return _compiled(self.written)

    def may_find_in(self, text: str) -> bool:
        return not self.beside or _compiled(self.beside).search(text) is not None


@cache
def _compiled(written: str) -> re.Pattern[str]:
    return re.compile(written)


def _pattern_of(written: str | list[str]) -> str:
    """With the parts that it names in angle brackets."""
    return _PART.sub(lambda found: _pattern_of(_DATA["parts"][found[1]]), "".join(written))


def _is_mixed(value: str) -> bool:
    return any(one.isdigit() for one in value) and any(one.isalpha() for one in value)


# --- after a name -------------------------------------------------------------------------------------------------

HOLDS_A_PLACE = re.compile(_pattern_of("<place>"))
TALK = frozenset(_DATA["talk"].split())
CALLED = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
WAYS_TO_WRITE = re.compile(
    r"(?:base|sha|md|utf|hmac|aes|rsa|argon|bcrypt|pbkdf|scrypt|hs|rs|es|ed|oauth|x|v)[_-]?\d+", re.IGNORECASE
)
SHORTEST = 8
SHORTEST_IN_PROSE = 12
SHORTEST_PERSONAL = 6
LONGER_THAN_IDS = 20
IS = frozenset({"is", "ist", "est", "es", "\u00e9"})
IN_PROSE = IS | {":", "\uff1a", "\u306f"}


def _is_password(found: re.Match[str]) -> bool:
    """Whether one is told, or a sentence goes on: "password: at least eight letters"."""
    value = found["quoted"] or found["bare"]
    if not _may_be_told(found, value):
        return False
    assigned = found["sign"].lower() not in IN_PROSE
    if found["name"].lower() == "pass":
        return _is_pass(found, value, assigned=assigned)
    if assigned and (found["quoted"] or not found["gap"]):
        return True
    if len(value) < SHORTEST_PERSONAL:
        return False
    if found["quoted"] and " " in value:
        return TALK.isdisjoint(re.findall(r"[\w']+", value.lower()))
    unlike_words = any(not one.isalpha() and one not in "-./'_ :" for one in value)
    return unlike_words or bool(found["quoted"] and found["closed"])


def _is_secret(found: re.Match[str]) -> bool:
    """Of a machine, which has digits in it: "token: see the wiki" has none."""
    value = found["quoted"] or found["bare"]
    assigned = found["sign"].lower() not in IN_PROSE
    enough = SHORTEST if assigned or found["quoted"] else SHORTEST_IN_PROSE
    is_random = _is_mixed(value) or (value.isdigit() and len(value) >= LONGER_THAN_IDS)
    return is_random and len(value) >= enough and " " not in value and _may_be_told(found, value)


def _may_be_told(found: re.Match[str], value: str) -> bool:
    if HOLDS_A_PLACE.match(value) or _is_called(found, value):
        return False
    says_is = found["sign"].lower() in IS
    return not says_is or (
        _is_mixed(value) and len(value) >= SHORTEST_PERSONAL and not WAYS_TO_WRITE.match(value)
    )


def _is_called(found: re.Match[str], value: str) -> bool:
    """A function, not a value."""
    return found.string[found.end() : found.end() + 1] == "(" and CALLED.fullmatch(value) is not None


def _is_pass(found: re.Match[str], value: str, *, assigned: bool) -> bool:
    """A short word that means much else: `DB_PASS=` and `"smtp_pass": "x1y2z3"` are told, `first_pass = 1` is not."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    is_part = before in {"_", "-"} or before.isalpha()
    if is_part and assigned and found["name"].isupper():
        return True
    return len(value) >= SHORTEST_PERSONAL and _is_mixed(value) and (is_part or assigned)


def _is_password_value(found: re.Match[str]) -> bool:
    value = found["secret"]
    is_named = "by_key" not in found.re.groupindex or found["by_key"]
    return (
        len(value) >= SHORTEST_PERSONAL
        and bool(is_named or _is_mixed(value))
        and not HOLDS_A_PLACE.match(value)
    )


def _is_secret_value(found: re.Match[str]) -> bool:
    value = found["secret"]
    return len(value) >= SHORTEST and _is_mixed(value) and not HOLDS_A_PLACE.match(value)


HASH = re.compile(
    r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)


def _is_key(found: re.Match[str]) -> bool:
    value = found["secret"]
    if HASH.fullmatch(value):
        return KEY_WORD.search(found[0][: -len(value)]) is not None
    return _is_mixed(value) and not WORDY.search(value) and "/" not in value[:2]


KEY_WORD = re.compile(r"key|secret|token|pass", re.IGNORECASE)
WORDY = re.compile(r"[a-z]{9}|(?<![A-Za-z])[A-Za-z]++[_-][A-Za-z]++[_-][A-Za-z]")
"""Runs of letters that are more likely words: identifiers, paths, slugs."""


PROGRAM_BEFORE = 2_000


def _is_of_curl(found: re.Match[str]) -> bool:
    """`-u` of other programs is something else."""
    value = found["secret"]
    before = found.string[max(0, found.start() - PROGRAM_BEFORE) : found.start()].lower()
    is_place = HOLDS_A_PLACE.match(value) or re.fullmatch(
        r"(?:change(?:it|me)|pass|pwd|test|x+|y+|\*+)", value, re.IGNORECASE
    )
    return ("curl" in before or "wget" in before) and not is_place and "{{" not in value


def _is_name_and_password(found: re.Match[str]) -> bool:
    try:
        return b":" in base64.b64decode(found["secret"], validate=True)
    except ValueError:
        return False


def _is_of_kubernetes(found: re.Match[str]) -> bool:
    return len(found["secret"]) % 4 == 0 and not found["secret"].islower()


CARDS = re.compile(_pattern_of("<card>"))


def _is_card(found: re.Match[str]) -> bool:
    digits = [int(one) for one in found[0] if one.isdigit()]
    number = "".join(map(str, digits))
    if not CARDS.fullmatch(number) or len(set(number)) < FEWEST_DIGITS:
        return False
    doubled = [one * 2 - 9 * (one > 4) for one in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


FEWEST_DIGITS = 2
"""Different ones: zeros alone pass every check."""


def _is_iban(found: re.Match[str]) -> bool:
    number = "".join(one for one in found[0] if one.isalnum())
    return int("".join(str(int(one, 36)) for one in number[4:] + number[:4])) % 97 == 1


def _has_digit(found: re.Match[str]) -> bool:
    named = found.groupdict()
    return any(one.isdigit() for one in named.get("secret") or named.get("bearer") or "")


def _has_digit_or_cases(found: re.Match[str]) -> bool:
    rest = found["rest"]
    return any(one.isdigit() for one in rest) or not (rest.islower() or rest.isupper())


CHECKS: Mapping[str, Check] = {
    "card": _is_card,
    "curl": _is_of_curl,
    "digit": _has_digit,
    "iban": _is_iban,
    "kubernetes": _is_of_kubernetes,
    "mixed": lambda found: _is_mixed(found["secret"]),
    "name_and_password": _is_name_and_password,
    "no_place": lambda found: not HOLDS_A_PLACE.match(found["secret"]),
    "password": _is_password,
    "password_value": _is_password_value,
    "secret": _is_secret,
    "secret_value": _is_secret_value,
}
"""By their names in `patterns.toml`."""


def _rule_of_format(form: Format) -> RedactionRule:
    beginnings = "|".join(map(re.escape, form.beginnings))
    # Where a beginning follows a letter, it is a part of a word.
    pattern = _pattern_of(f"(?a)<alone>(?:{beginnings})(?P<rest>{form.rest})")
    hints = tuple(one.lower() for one in form.beginnings)
    return RedactionRule(form.kind, hints, pattern, _has_digit_or_cases if form.digit else bool)


def _rule(kind: str, hints: list[str] | str, pattern: str | list[str], **more: str) -> RedactionRule:
    known = _DATA["hints"][hints] if isinstance(hints, str) else hints
    check = CHECKS[more["check"]] if "check" in more else bool
    return RedactionRule(kind, tuple(known), _pattern_of(pattern), check, _pattern_of(more.get("beside", "")))


_FORMS = _DATA["forms"]
FORMATS = tuple(
    Format(kind, tuple(beginnings.split()), _pattern_of(rest), name == "likely")
    for name in ("certain", "likely")
    for kind, beginnings, rest in _FORMS[name]
)
MARKED_LATER = tuple((kind, hint, _pattern_of(pattern)) for kind, hint, pattern in _FORMS["marked_later"])
MAKERS = tuple(_FORMS["makers"].split())
KNOWN_FORMS: tuple[RedactionRule, ...] = (
    *map(_rule_of_format, FORMATS),
    *(_rule(kind, [hint], f"(?a)<alone>{pattern}") for kind, hint, pattern in MARKED_LATER),
    *(
        RedactionRule("secret", (one,), _pattern_of(f"(?i){re.escape(one)}<maker>"), _is_key)
        for one in MAKERS
    ),
)
FORM_RUN = re.compile(r"[\w.~+/=%|-]{18}")
"""In every text that one of `KNOWN_FORMS` finds something in; few sentences have such a run."""
RULES = tuple(_rule(**given) for given in _DATA["rules"])
