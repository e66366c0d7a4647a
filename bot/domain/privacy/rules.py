"""
What gives secrets away: the beginnings that their makers gave them, and the names that people write before them.

Hashes of git, UUIDs and ids are no secrets, and no rule goes by randomness alone. Every rule takes time in proportion
to the text: a run of characters is begun once, or is bounded.
"""

import base64
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from bot.domain.privacy.token_formats import FORMATS, MAKERS, MARKED_LATER, Format

ALONE = r"(?<![A-Za-z0-9])"
"""Before what begins a secret, so that a run of letters is looked at from its beginning only."""


def _always(_found: re.Match[str]) -> bool:
    return True


class RedactionRule(NamedTuple):
    """
    One of *hints* stands in every text, in small letters, that *pattern* finds something in. What is hidden is its
    group `secret`, if it has one, and all of it otherwise; *is_one* has the last word. A text that does not have
    *beside* somewhere has nothing that the rule is about.
    """

    kind: str
    hints: tuple[str, ...]
    written: re.Pattern[str] | str
    is_one: Callable[[re.Match[str]], bool] = _always
    beside: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a text has a hint of it: most of the many forms are never seen."""
        return _compiled(self.written) if isinstance(self.written, str) else self.written


@cache
def _compiled(written: str) -> re.Pattern[str]:
    return re.compile(written)


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _mixed(value: str) -> bool:
    return any(one.isdigit() for one in value) and any(one.isalpha() for one in value)


# --- after a name -------------------------------------------------------------------------------------------------

PERSONAL = (
    r"pass(?:word|wd|phrase|code)s?|pwd|(?<![A-Za-z])pass|(?-i:(?<=[a-z])Pass)|(?:pass|kenn)w(?:ort"
    r"|\u00f6rter|o\u0308rter)"
    r"|mots?[ _-]de[ _-]passe|(?<![a-z])mdp|contrase(?:\u00f1|n\u0303?)as?|(?<![a-z])(?:senha|clave)s?"
    r"|palavras?[ _-]passe"
    r"|\u30d1\u30b9\u30ef\u30fc(?:\u30c9|\u30c8\u3099)|\u30d1\u30b9\u30d5\u30ec\u30fc\u30ba|\u6697\u8a3c\u756a\u53f7"
)
"""In English, German, French, Spanish, Portuguese and Japanese, also as Unicode takes the letters apart."""
MACHINE = (
    r"secret(?:[_ -]?(?:access[_ -]?)?key)?s?|(?:api|access|private|auth|encryption|signing|client|account)[_ -]?"
    r"(?:key|secret|token)s?|tokens?|credentials?|creds|_auth"
)
PERSONAL_HINTS = (
    "pass", "pwd", "kennw", "mdp", "contrase", "senha", "clave", "\u30d1\u30b9", "\u6697\u8a3c\u756a\u53f7",
)  # fmt: skip
MACHINE_HINTS = ("secret", "key", "token", "credential", "creds", "_auth")


def _named(names: str) -> re.Pattern[str]:
    """`name = value` in the ways that people, shells, files and programs write it."""
    return re.compile(
        rf"(?P<name>{names})(?:[_-]?(?:\d{{1,4}}|base|data|prod|live|test|staging|dev|new|old))?+"
        r"(?P<closed>[\"'`*\\]{0,4}+)(?::?[ \t]{1,2}(?:string|str)(?![A-Za-z]))?+[ \t]{0,4}+"
        r"(?P<sign>=[=>]?|:{1,3}=|[?.+]=|[:\uff1a\uff1d\u306f]|(?<=[ \t])(?:is|ist|est|es|\u00e9)(?=[ \t]))"
        r"(?P<gap>[ \t*\\]{0,4})"
        r"(?:(?P<quote>[\"'`])(?P<quoted>(?=\S)(?:(?!(?P=quote))[^\n\\]|\\(?!(?P=quote))[^\n]){4,300}+)\\?(?P=quote)"
        r"|(?P<bare>(?:(?!&\w{1,40}=|\\[nr\"']|\.(?:\s|$))[^\s\"'`<>\[\]{}(),;|\u3001\u3002]){4,300}+))",
        re.IGNORECASE,
    )


def _element(names: str) -> re.Pattern[str]:
    """In XML."""
    return re.compile(
        rf"(?P<name>{names})[\w.:-]{{0,20}}+>\s{{0,40}}+(?P<secret>[^<>\s]{{4,300}}+)\s{{0,40}}+</",
        re.IGNORECASE,
    )


def _next_to(names: str) -> re.Pattern[str]:
    """`name: DB_PASSWORD` and then `value: ...`, and the two arguments of a call."""
    return re.compile(
        rf"(?P<name>{names})[\w.-]{{0,20}}+"
        r"(?:(?P<by_key>[\"']\s{0,20}+,?\s{0,20}+[\"']?value[\"']?\s{0,4}+[:=]\s{0,4}+"
        r"|[ \t]{0,4}+\n\s{0,40}+value:\s{0,4}+)"
        r"|[\"'],[ \t]{0,4}+(?=[\"']))"
        r"[\"']?(?P<secret>[^\"'\s<>{}]{4,300}+)",
        re.IGNORECASE,
    )


HOLDS_A_PLACE = re.compile(
    r"[$%\[{<]|https?:|(?:your|the|my|some|env|process|os|config|settings|self)[._-]|(.)\1*$|\d{4}-\d\d-\d\d"
    r"|(?:none|null|nil|true|false|required|optional|string|str|text|secretstr|password|token|secret|changeme"
    r"|passwor[dt]|kennwort|contrase\u00f1a|senha|mot de passe)$"
    r"|\d{1,4}[ -]?[a-z]{3,}$",
    re.IGNORECASE,
)
"""A variable, an address, dots, a date, a type, or a rule such as `12-character`: what such a name is said about."""
TALK = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "bitte", "by", "can", "change", "characters", "choose", "das",
    "de", "der", "die", "ein", "eine", "el", "enter", "for", "forgot", "forgotten", "from", "has", "have", "if",
    "ihr", "in", "incorrect", "invalid", "is", "ist", "it", "kennwort", "la", "le", "least", "long", "max",
    "maximum", "min", "mindestens", "minimum", "missing", "must", "new", "no", "not", "of", "old", "on", "one",
    "or", "our", "password", "passwort", "please", "required", "reset", "same", "set", "seu", "should", "show",
    "sua", "that", "the", "their", "this", "to", "too", "un", "une", "until", "use", "user", "was", "we",
    "weak", "will", "with", "wrong", "you", "your", "zeichen",
})  # fmt: skip
"""Words of sentences: two words in quotes are a password, "at least 8 characters" is a rule for one."""
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
    is_random = _mixed(value) or (value.isdigit() and len(value) >= LONGER_THAN_IDS)
    return is_random and len(value) >= enough and " " not in value and _may_be_told(found, value)


def _may_be_told(found: re.Match[str], value: str) -> bool:
    if HOLDS_A_PLACE.match(value) or _is_called(found, value):
        return False
    says_is = found["sign"].lower() in IS
    return not says_is or (
        _mixed(value) and len(value) >= SHORTEST_PERSONAL and not WAYS_TO_WRITE.match(value)
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
    return len(value) >= SHORTEST_PERSONAL and _mixed(value) and (is_part or assigned)


def _is_password_value(found: re.Match[str]) -> bool:
    value = found["secret"]
    is_named = "by_key" not in found.re.groupindex or found["by_key"]
    return (
        len(value) >= SHORTEST_PERSONAL and bool(is_named or _mixed(value)) and not HOLDS_A_PLACE.match(value)
    )


def _is_secret_value(found: re.Match[str]) -> bool:
    value = found["secret"]
    return len(value) >= SHORTEST and _mixed(value) and not HOLDS_A_PLACE.match(value)


MAKERS_KEY = (
    r"[\w.-]{0,20}+[\"']?[ \t]{0,4}(?:=[=>]?|:{1,3}=|[?.+]=|:)[ \t]{0,4}[\"'`]?"
    r"(?P<secret>[A-Za-z0-9_=+/%-]{20,}+)(?![A-Za-z0-9.@:(])"
)
"""After the name of a maker, such as `ADAFRUIT_IO=`."""
HASH = re.compile(
    r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)


def _is_key(found: re.Match[str]) -> bool:
    value = found["secret"]
    if HASH.fullmatch(value):
        return KEY_WORD.search(found[0][: -len(value)]) is not None
    return _mixed(value) and not WORDY.search(value) and "/" not in value[:2]


KEY_WORD = re.compile(r"key|secret|token|pass", re.IGNORECASE)
WORDY = re.compile(r"[a-z]{9}|(?<![A-Za-z])[A-Za-z]++[_-][A-Za-z]++[_-][A-Za-z]")
"""Runs of letters that are more likely words: identifiers, paths, slugs."""


# --- by themselves ------------------------------------------------------------------------------------------------

PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----(?:BEGIN|END) ))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\s|\\n)*+[A-Za-z0-9+/=]{20,}+)*+)"
)
"""With its end missing, the lines that look like a key's."""


AWS_ID = re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Z0-9])")
"""The secret that goes with one has no shape of its own, and is often told together with it."""


PROGRAM_BEFORE = 2_000


def _of_curl(found: re.Match[str]) -> bool:
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


CARDS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|65\d\d|64[4-9]\d|35[2-8]\d)\d{12}|3(?:0[0-5]|[689]\d)\d{11}|62\d{14,17}"
    r"|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12,15}"
)
"""What the makers of cards begin their numbers with."""


def _is_card(found: re.Match[str]) -> bool:
    digits = [int(one) for one in found[0] if one.isdigit()]
    number = "".join(map(str, digits))
    if not CARDS.fullmatch(number) or len(set(number)) < FEWEST_DIGITS:
        return False
    doubled = [one * 2 - 9 * (one > 4) for one in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


FEWEST_DIGITS = 2
"""Different ones: zeros alone pass every check."""

IBAN_LENGTHS = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO EG GT HU LB PL SV",
    29: "BR PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC", 33: "RU",
}  # fmt: skip
IBAN = (
    r"[A-Z]{2}\d\d(?<![A-Za-z0-9]....)(?:"
    + "|".join(
        rf"(?<=(?:{countries.replace(' ', '|')})\d\d)(?:[ \u00a0]?[A-Z0-9]){{{length - 4}}}"
        for length, countries in IBAN_LENGTHS.items()
    )
    + r")(?![A-Za-z0-9])"
)


def _is_iban(found: re.Match[str]) -> bool:
    number = "".join(one for one in found[0] if one.isalnum())
    return int("".join(str(int(one, 36)) for one in number[4:] + number[:4])) % 97 == 1


def _of_format(form: Format) -> RedactionRule:
    beginnings = "|".join(map(re.escape, form.beginnings))
    # Where a beginning follows a letter, it is a part of a word.
    pattern = f"(?a){ALONE}(?:{beginnings})(?P<rest>{form.rest})"
    hints = tuple(one.lower() for one in form.beginnings)
    return RedactionRule(form.kind, hints, pattern, _has_digit if form.digit else _always)


def _has_digit(found: re.Match[str]) -> bool:
    rest = found["rest"]
    return any(one.isdigit() for one in rest) or not (rest.islower() or rest.isupper())


KNOWN_FORMS: tuple[RedactionRule, ...] = (
    *map(_of_format, FORMATS),
    *(RedactionRule(kind, (hint,), f"(?a){ALONE}{pattern}") for kind, hint, pattern in MARKED_LATER),
    RedactionRule(
        "sidekiq-key",
        ("contribsys__com",),
        _of(r"(?i)contribsys__com[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<secret>[a-f0-9]{8}:[a-f0-9]{8})"),
    ),
    *(RedactionRule("secret", (one,), f"(?i){re.escape(one)}{MAKERS_KEY}", _is_key) for one in MAKERS),
)
FORM_RUN = re.compile(r"[\w.~+/=%|-]{18}")
"""In every text that one of `KNOWN_FORMS` finds something in; few sentences have such a run."""

SLACK = r"[A-Za-z0-9%](?:[A-Za-z0-9%_-]|[.](?!\s|$)){9,}+"
PAIR = _of(r"(?i)value|[\"'],[ \t]{0,4}[\"']")
END_TAG = _of("</")

RULES: tuple[RedactionRule, ...] = (
    RedactionRule("private-key", ("private key",), _of(PRIVATE_KEY)),
    RedactionRule(
        "slack-webhook",
        ("hooks.slack.com",),
        _of(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    ),
    RedactionRule(
        "teams-webhook",
        ("webhook.office.com",),
        _of(r"webhook\.office\.com/webhookb?2?/(?P<secret>[A-Za-z0-9@/-]{40,}+)"),
    ),
    RedactionRule("slack-token", ("xapp-", "xwfp-"), _of(rf"{ALONE}x(?:app|wfp)-{SLACK}")),
    RedactionRule("slack-token", ("xox",), _of(rf"{ALONE}(?:xoxe\.)?xox[a-z]-{SLACK}")),
    RedactionRule(
        "aws-secret-key",
        ("akia", "asia"),
        _of(
            r"(?<![A-Za-z0-9/+=])(?![0-9a-f]{40}(?![A-Za-z0-9/+]))(?=[A-Za-z/+]{0,39}\d)[A-Za-z0-9/+]{40}"
            r"(?![A-Za-z0-9/+])"
        ),
        beside=AWS_ID,
    ),
    RedactionRule("aws-access-key", ("akia", "asia"), AWS_ID),
    RedactionRule(
        "jwt",
        ("eyj",),
        _of(rf"{ALONE}eyJ[A-Za-z0-9_-]{{8,500}}\.eyJ[A-Za-z0-9_-]{{8,}}(?:\.[A-Za-z0-9_-]+)?+"),
    ),
    RedactionRule("telegram-token", (":a",), _of(r"(?<!\d)\d{5,16}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])")),
    RedactionRule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        _of(r"(?i:accountkey|sharedaccesskey)=(?P<secret>[A-Za-z0-9+/=]{40,})"),
    ),
    RedactionRule(
        "credentials",
        ("://",),
        _of(r"://[^\s/@:<>\"'|]{0,100}+:(?P<secret>[^\s/@<>\"'|]{1,200}+)(?=@)"),
        lambda found: not HOLDS_A_PLACE.match(found["secret"]),
    ),
    RedactionRule(
        "credentials",
        ("http",),
        _of(r"https?://(?P<secret>[A-Za-z0-9_]{20,200})(?=@)"),  # where the name stands: git takes a token there
        lambda found: any(one.isdigit() for one in found["secret"]),
    ),
    RedactionRule(
        "credentials",
        ("authorization", "bearer"),
        _of(
            r"(?i:authorization[\"']?[ \t]{0,4}[:=][ \t\"']{0,4}(?:bearer|basic|(?:api-?)?token|apikey))[ \t]{1,4}"
            r"(?P<secret>[A-Za-z0-9+/_.~-]{8,}={0,2})|(?i:bearer)[ \t]{1,4}(?P<bearer>[A-Za-z0-9+/_.~-]{16,}={0,2})"
        ),
        lambda found: any(one.isdigit() for one in found["secret"] or found["bearer"]),
    ),
    RedactionRule(
        "credentials",
        ("authorization",),
        _of(r"(?i:authorization)[\"']?[ \t]{0,4}[:=][ \t\"']{0,4}(?P<secret>[A-Za-z0-9+/_.~=@-]{16,}+)(?!\()"),
        lambda found: _mixed(found["secret"]),
    ),
    RedactionRule(
        "credentials",
        (" -u", "--user", "--proxy-user"),
        _of(
            r"(?:(?<=\s)-u|--(?:proxy-)?user)(?:=|[ \t]{0,5}+)[\"']?[^\s\"':]{0,100}+[\"']?:[\"']?"
            r"(?P<secret>(?:(?!\\\s|\\$)[^\s\"'`]){3,200})"
        ),
        _of_curl,
    ),
    RedactionRule(
        "credentials",
        (" -u", "--user"),
        _of(r"(?:(?<=\s)-u|--user)(?:=|[ \t]{0,5}+)\"(?P<secret>[^\s\"':]{6,200}):\""),
        _of_curl,
    ),
    RedactionRule(
        "credentials",
        ("password",),
        _of(r"(?<!\w)(?:machine\s{1,20}+\S{1,200}+|default)\s{1,20}+(?:(?:login|account)\s{1,20}+\S{1,200}+\s{1,20}+){1,2}+"
            r"password\s{1,20}+(?P<secret>\S{1,300}+)"),
    ),
    RedactionRule(
        "credentials",
        ("machine",),
        _of(r"(?<!\w)machine\s{1,20}+\S{1,200}+\s{1,20}+password\s{1,20}+(?P<secret>\S{1,300}+)"),
    ),
    RedactionRule(
        "credentials",
        ("auth",),
        _of(r"[\"']auth[\"']\s{0,20}+:\s{0,20}+[\"'](?P<secret>[A-Za-z0-9+/]{6,2000}+={0,2})[\"']"),
        _is_name_and_password,
    ),
    RedactionRule(
        "private-key",
        ("client-key-data",),
        _of(r"client-key-data[\"']?\s{0,20}+:\s{0,20}+[\"']?(?P<secret>[A-Za-z0-9+/]{20,}+={0,2})"),
    ),
    RedactionRule(
        "secret",
        ("kind:",),
        _of(
            r"(?m)^[ \t]{1,12}+[\w.-]{1,100}+:[ \t]{0,4}+(?:[|>][-+]?\s{1,20}+)?[\"']?"
            r"(?P<secret>[A-Za-z0-9+/]{9,}+={0,3})(?=[\"']?[ \t]{0,20}+$)"
        ),
        _is_of_kubernetes,
        beside=_of(r"(?i)\bkind:[ \t]{0,8}[\"']?secret\b"),
    ),
    RedactionRule("password", PERSONAL_HINTS, _named(PERSONAL), _is_password),
    RedactionRule("secret", MACHINE_HINTS, _named(MACHINE), _is_secret),
    RedactionRule("password", PERSONAL_HINTS, _element(PERSONAL), _is_password_value, beside=END_TAG),
    RedactionRule("secret", MACHINE_HINTS, _element(MACHINE), _is_secret_value, beside=END_TAG),
    RedactionRule("password", PERSONAL_HINTS, _next_to(PERSONAL), _is_password_value, beside=PAIR),
    RedactionRule("secret", MACHINE_HINTS, _next_to(MACHINE), _is_secret_value, beside=PAIR),
    RedactionRule(
        "card",
        ("",),
        _of(
            r"[2-6](?<![\w.,:/#@+-][2-6])"
            r"(?:\d{12,18}|\d{3}(?:([ -])\d{4})(?:\1\d{4}){2}(?:\1\d{3})?|\d{3}([ -])\d{6}\2\d{4,5})"
            r"(?![\w@]|[.,:/-]\d)"
        ),
        _is_card,
    ),
    RedactionRule("iban", ("",), _of(IBAN), _is_iban),
)  # fmt: skip
