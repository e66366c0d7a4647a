"""
Secrets in what people, models and tools write are hidden before anybody else sees them: `[redacted:kind]` stands in
their place, in Slack, in the transcript, in files and in prompts.

Texts that were redacted stay as they are when it is done again.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from bot.domain.privacy.rules import FORM_RUN, KNOWN_FORMS, RULES, RedactionRule

MARK = "[redacted:%s]"
MARKED = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")

CONFIGURED = "configured"
"""The kind of a secret that we were given to work with."""
OWN = "custom"
"""The kind of what a configured pattern finds, if the pattern has no name."""

SHORTEST_VALUE = 6
"""A shorter one is a word, or a part of one: `admin` would vanish from everything that is said."""
UNLIKE_WORDS = 10
"""A value of this length that is not all letters is hidden inside longer words, too: it is no ordinary word."""
LONGEST_PATTERN = 200
FEWEST_LITERAL = 2
MOST_PATTERNS = 500
LONGEST_RUN = 200

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
PASSES = 4
PLACES = ("secret", "bearer", "quoted", "bare")
_KIND = re.compile(r"[a-z0-9-]{1,40}")
_WILD = {"#": r"\d", "?": r"[^\W_]", "*": rf"[\w.-]{{0,{LONGEST_RUN}}}"}

Redact = Callable[[str], str]


class Redacted(NamedTuple):
    """*kinds* has one for each secret that was hidden."""

    text: str
    kinds: tuple[str, ...] = ()


class BadPattern(ValueError):
    """The sentence says what is wrong with it, and not what it is."""


class Redactor:
    """*values* are hidden wherever they stand, *rules* (see `own_rule`) come after the built-in ones."""

    def __init__(self, values: Iterable[str] = (), rules: Iterable[RedactionRule] = ()) -> None:
        self._values = tuple(
            sorted({one for one in values if len(one) >= SHORTEST_VALUE}, key=len, reverse=True)
        )
        self._exact = _exactly(self._values)
        self._first = _by_hint(RULES[:1])
        self._forms = _by_hint(KNOWN_FORMS)
        self._rest = _by_hint((*RULES[1:], *rules))

    def __call__(self, text: str) -> Redacted:
        """Secrets are found also with invisible characters in them; the text loses those characters then."""
        found = self._redacted(text)
        bare = _UNSEEN.sub("", found.text)
        if len(bare) == len(found.text):
            return found
        again = self._redacted(bare)
        return Redacted(again.text, found.kinds + again.kinds) if again.kinds else found

    def _redacted(self, text: str) -> Redacted:
        """What stood beside a secret may be one now: a mark is no part of a word."""
        kinds: tuple[str, ...] = ()
        for _ in range(PASSES):
            text, more = self._once(text)
            if not more:
                break
            kinds += more
        return Redacted(text, kinds)

    def _once(self, text: str) -> Redacted:
        kinds: list[str] = []
        if any(value in text for value in self._values):
            text = self._exact.sub(partial(_unless_marked, kinds), text)
        lower = text.lower()
        forms = self._forms if FORM_RUN.search(text) else ()
        for hinted in (self._first, forms, self._rest):
            for rule in dict.fromkeys([rule for hint, rule in hinted if hint in lower]):
                if rule.may_find_in(text):
                    text = rule.pattern.sub(partial(_hidden, rule, kinds), text)
        return Redacted(text, tuple(kinds))


def own_rule(pattern: str) -> RedactionRule:
    """
    A pattern from the settings: `kind = text`, or the text alone, in which `#` is a digit, `?` a letter or
    a digit, and one `*` a run of letters, digits, `_`, `.` and `-`. Raises BadPattern.

    No regular expressions: one of those can keep the bot busy for hours.
    """
    named, sign, rest = (part.strip() for part in pattern.partition(" = "))
    kind, text = (named, rest) if sign else (OWN, named)
    if not _KIND.fullmatch(kind):
        raise BadPattern("the name of a pattern has other characters than a-z, 0-9 and -")
    literal = re.split(r"[#?*]", text)
    if len("".join(literal)) < FEWEST_LITERAL or not any(one.isalnum() for one in text):
        raise BadPattern("a pattern has no two characters that stand for themselves")
    if len(text) > LONGEST_PATTERN:
        raise BadPattern(f"a pattern has more than {LONGEST_PATTERN} characters")
    if text.count("*") > 1 or text.startswith("*"):
        raise BadPattern("a pattern has more than one *, or begins with it")
    written = "".join(_WILD.get(one) or re.escape(one) for one in text)
    hint = max(literal, key=len).lower()
    return RedactionRule(kind, (hint,), f"(?i){_bounded(text, written)}")


def own_rules(patterns: Iterable[str]) -> tuple[RedactionRule, ...]:
    """Of the lines of a file: empty ones and comments are none. Raises BadPattern."""
    lines = [line.strip() for line in patterns]
    told = [line for line in lines if line and not line.startswith("# ")]
    if len(told) > MOST_PATTERNS:
        raise BadPattern(f"there are more than {MOST_PATTERNS} patterns")
    return tuple(map(own_rule, told))


def unchanged(text: str) -> str:
    return text


def _by_hint(rules: Iterable[RedactionRule]) -> tuple[tuple[str, RedactionRule], ...]:
    return tuple((hint, rule) for rule in rules for hint in rule.hints)


def _hidden(rule: RedactionRule, kinds: list[str], found: re.Match[str]) -> str:
    if not rule.check(found) or MARKED.search(found[0]):
        return found[0]
    kinds.append(rule.kind)
    begin, end = _place(found)
    begin, end = begin - found.start(), end - found.start()
    return found[0][:begin] + MARK % rule.kind + found[0][end:]


def _place(found: re.Match[str]) -> tuple[int, int]:
    """Of a group that a rule hides; all of it, if a rule names none."""
    named = [name for name in PLACES if found.re.groupindex.get(name) and found[name]]
    return found.span(named[0] if named else 0)


def _unless_marked(kinds: list[str], found: re.Match[str]) -> str:
    if MARKED.fullmatch(found[0]):
        return found[0]
    kinds.append(CONFIGURED)
    return MARK % CONFIGURED


def _exactly(values: tuple[str, ...]) -> re.Pattern[str]:
    """A mark comes first, so that nothing is hidden inside of one."""
    return re.compile("|".join((MARKED.pattern, *map(_wherever, values))))


def _wherever(value: str) -> str:
    """What could be a word is hidden as a word; everything else also where it is glued to something."""
    is_unlike = len(value) >= UNLIKE_WORDS and not all(one.isalpha() or one.isspace() for one in value)
    return re.escape(value) if is_unlike else _bounded(value, re.escape(value))


def _bounded(text: str, written: str) -> str:
    """Not inside of a longer word, where *text* begins or ends with a letter."""
    before = r"(?<!\w)" if text[0].isalnum() else ""
    after = r"(?!\w)" if text[-1].isalnum() else ""
    return before + written + after
