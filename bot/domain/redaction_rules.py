"""
What gives secrets away: the beginnings that their makers gave them, and the names that people write before them.

Hashes of git, UUIDs and ids are no secrets, and no rule goes by randomness alone. Every rule takes time in proportion
to the text: a run of characters is begun once, or is bounded.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

ALONE = r"(?<![A-Za-z0-9])"
"""Before what begins a secret, so that a run of letters is looked at from its beginning only."""


def _always(_found: re.Match[str]) -> bool:
    return True


class Rule(NamedTuple):
    """
    One of *hints* stands in every text, in small letters, that *pattern* finds something in. What is hidden is its
    group `secret`, if it has one, and all of it otherwise; *is_one* has the last word.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Callable[[re.Match[str]], bool] = _always


# --- after a name -------------------------------------------------------------------------------------------------

PERSONAL = r"pass(?:word|wd|phrase|code)s?|pwd"
MACHINE = (
    r"secret(?:[_ -]?(?:access[_ -]?)?key)?s?|(?:api|access|private|auth|encryption|signing|client|account)[_ -]?"
    r"(?:key|secret|token)s?|tokens?|credentials?"
)
NAMED = re.compile(
    rf"(?P<name>{PERSONAL}|{MACHINE})[\"'`*]{{0,3}}[ \t]{{0,4}}(?P<sign>:=|=>|==?|:)(?P<gap>[ \t*]{{0,4}})"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,300})(?P=quote)|(?P<bare>[^\s\"'`<>\[\]{}(),;|]{4,300}))",
    re.IGNORECASE,
)
HOLDS_A_PLACE = re.compile(
    r"[$%\[{<]|https?:|(?:your|the|my|some|env|process|os|config|settings|self)[._-]|(.)\1*$|\d{4}-\d\d-\d\d"
    r"|(?:none|null|nil|true|false|required|optional|string|str|text|secretstr|password|token|secret|changeme)$"
    r"|\d{1,4}[ -]?[a-z]{3,}$",
    re.IGNORECASE,
)
"""A variable, an address, dots, a date, a type, or a rule such as `12-character`: what such a name is said about."""
SHORTEST = 8
SHORTEST_IN_PROSE = 12
SHORTEST_PERSONAL = 6


def _is_told(found: re.Match[str]) -> bool:
    """Whether a value is told, or a sentence goes on: "token: see the wiki", "password: at least eight letters"."""
    value = found["quoted"] or found["bare"]
    if HOLDS_A_PLACE.match(value):
        return False
    assigned = found["sign"] != ":"
    mixed = any(one.isdigit() for one in value) and any(one.isalpha() for one in value)
    if re.fullmatch(PERSONAL, found["name"], re.IGNORECASE):
        if assigned and (found["quoted"] or not found["gap"]):
            return True
        unlike_words = any(not one.isalpha() and one not in "-./'_ :" for one in value)
        return len(value) >= SHORTEST_PERSONAL and unlike_words
    enough = SHORTEST if assigned or found["quoted"] else SHORTEST_IN_PROSE
    return mixed and len(value) >= enough and " " not in value


# --- by themselves ------------------------------------------------------------------------------------------------

PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----(?:BEGIN|END) ))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\s|\\n)*+[A-Za-z0-9+/=]{20,}+)*+)"
)
"""With its end missing, the lines that look like a key's."""


AWS_ID = re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Z0-9])")
"""The secret that goes with one has no shape of its own, and is often told together with it."""


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


RULES: tuple[Rule, ...] = (
    Rule("private-key", ("private key",), _of(PRIVATE_KEY)),
    Rule("private-key", ("age-secret-key-1",), _of(r"AGE-SECRET-KEY-1[A-Z0-9]{50,}")),
    Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        _of(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    ),
    Rule(
        "slack-token",
        ("xox", "xapp-", "xwfp-"),
        _of(rf"{ALONE}(?:xoxe\.)?x(?:ox[a-z]|app|wfp)-[A-Za-z0-9%][A-Za-z0-9.%_-]{{9,}}"),
    ),
    Rule("github-token", ("github_pat_",), _of(r"github_pat_[A-Za-z0-9_]{20,}")),
    Rule(
        "github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _of(rf"{ALONE}gh[pousr]_[A-Za-z0-9_]{{20,}}")
    ),
    Rule("gitlab-token", ("glpat-", "gldt-", "glrt-", "glptt-"), _of(r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_.-]{16,}")),
    Rule(
        "aws-secret-key",
        ("akia", "asia"),
        _of(
            r"(?<![A-Za-z0-9/+=])(?![0-9a-f]{40}(?![A-Za-z0-9/+]))(?=[A-Za-z/+]{0,39}\d)[A-Za-z0-9/+]{40}"
            r"(?![A-Za-z0-9/+])"
        ),
        lambda found: AWS_ID.search(found.string) is not None,
    ),
    Rule("aws-access-key", ("akia", "asia"), AWS_ID),
    Rule("google-key", ("aiza",), _of(rf"{ALONE}AIza[A-Za-z0-9_-]{{35}}")),
    Rule("google-token", ("gocspx-", "ya29."), _of(rf"{ALONE}(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{{20,}}")),
    Rule("anthropic-key", ("sk-ant-",), _of(rf"{ALONE}sk-ant-[A-Za-z0-9_-]{{16,}}")),
    Rule(
        "openai-key",
        ("sk-",),
        _of(rf"{ALONE}sk-(?:(?:proj|svcacct|admin|or-v1|lf)-[A-Za-z0-9_-]{{16,}}|[A-Za-z0-9]{{20,}})"),
        lambda found: any(one.isdigit() for one in found[0]),
    ),
    Rule(
        "stripe-key",
        ("k_live_", "k_test_", "whsec_"),
        _of(rf"{ALONE}(?:[sr]k_(?:live|test)_[A-Za-z0-9]{{10,}}|whsec_[A-Za-z0-9+/=]{{16,}})"),
    ),
    Rule(
        "jwt",
        ("eyj",),
        _of(rf"{ALONE}eyJ[A-Za-z0-9_-]{{8,500}}\.eyJ[A-Za-z0-9_-]{{8,}}(?:\.[A-Za-z0-9_-]*)?"),
    ),
    Rule("npm-token", ("npm_",), _of(rf"{ALONE}npm_[A-Za-z0-9]{{30,}}")),
    Rule("pypi-token", ("pypi-",), _of(rf"{ALONE}pypi-[A-Za-z0-9_-]{{40,}}")),
    Rule("huggingface-token", ("hf_",), _of(rf"{ALONE}hf_[A-Za-z0-9]{{30,}}")),
    Rule("sendgrid-key", ("sg.",), _of(rf"{ALONE}SG\.[A-Za-z0-9_-]{{16,64}}\.[A-Za-z0-9_-]{{16,}}")),
    Rule("digitalocean-token", ("do_v1_", "op_v1_", "or_v1_"), _of(rf"{ALONE}do[opr]_v1_[a-f0-9]{{40,}}")),
    Rule("vault-token", ("hvs.", "hvb."), _of(rf"{ALONE}hv[sb]\.[A-Za-z0-9_-]{{20,}}")),
    Rule("atlassian-token", ("atatt3",), _of(rf"{ALONE}ATATT3[A-Za-z0-9_=-]{{20,}}")),
    Rule(
        "shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), _of(rf"{ALONE}shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}")
    ),
    Rule(
        "api-key",
        ("gsk_", "xai-", "lin_api_", "ntn_", "figd_", "dapi"),
        _of(rf"{ALONE}(?:gsk_|xai-|lin_api_|ntn_|figd_|dapi(?=[a-f0-9]{{32}}))[A-Za-z0-9_-]{{30,}}"),
    ),
    Rule("telegram-token", (":aa",), _of(r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        _of(r"(?i:accountkey|sharedaccesskey)=(?P<secret>[A-Za-z0-9+/=]{40,})"),
    ),
    Rule(
        "credentials",
        ("://",),
        _of(r"://[^\s/@:<>\"'|]{0,100}:(?P<secret>[^\s/@<>\"'|]{1,200})(?=@)"),
        lambda found: not HOLDS_A_PLACE.match(found["secret"]),
    ),
    Rule(
        "credentials",
        ("http",),
        _of(r"https?://(?P<secret>[A-Za-z0-9_]{20,200})(?=@)"),  # where the name stands: git takes a token there
        lambda found: any(one.isdigit() for one in found["secret"]),
    ),
    Rule(
        "credentials",
        ("authorization", "bearer"),
        _of(r"(?i:(?:authorization[\"']?[ \t]{0,4}[:=][ \t\"']{0,4}(?:bearer|basic|token)|bearer))[ \t]{1,4}"
            r"(?P<secret>[A-Za-z0-9+/_.~-]{16,}={0,2})"),
        lambda found: any(one.isdigit() for one in found["secret"]),
    ),
    Rule("password", ("pass", "pwd"), NAMED, _is_told),
    Rule("secret", ("secret", "key", "token", "credential"), NAMED, _is_told),
)  # fmt: skip
