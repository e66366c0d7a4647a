"""What people mean when they type instead of pressing: menu letters, depth words, and the wish to end a discussion."""

import re
from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple

from bot.domain.catalog.personas import Roster
from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action

ATTENDING = {
    "nudge": Action.NUDGE,
    "nothing to add": Action.NOTHING_TO_ADD,
    "i have nothing to add": Action.NOTHING_TO_ADD,
    "tomorrow": Action.LATER,
    "ask me tomorrow": Action.LATER,
    "one more day": Action.EXTEND,
    "no limit": Action.NO_LIMIT,
    "no time limit": Action.NO_LIMIT,
}
"""What people type about a roll call or a deadline, alone in a message."""
DUE = re.compile(r"\s*due\s+(\d{4}-\d\d-\d\d\b.{0,20})", re.IGNORECASE | re.ASCII)
DUE_IN_WORDS = re.compile(
    r"\s*due\s+(?:(?:on|by|at|next|until)\s+)*(?P<when>(?:today|tonight|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|week|in \d+ \w+|\d{1,2}:\d\d)\b.{0,20})",
    re.IGNORECASE | re.ASCII,
)
"""No time that is understood: who writes it is told so, and it is no answer."""
WITHOUT = re.compile(r"\s*without\s+(@?\S.{0,60})", re.IGNORECASE)

LETTERS = {"e": Action.ELABORATE, "c": Action.CONTINUE, "s": Action.SKIP}
FINISH = {"finish", "finish step", "finish the step"}
STOP = {"stop", "stop here", "pause"}
HELP = {"help", "help me", "help please", "help me please", "please help", "please help me"}
ASIDE = re.compile(r"[\s(*_]*aside[*_]?\s*[:：]", re.IGNORECASE)
DEPTH_WORDS_MAX = 5

DEPTH_PHRASES = {
    Depth.DEEP: (
        "deep",
        "deeper",
        "more detail",
        "more details",
        "dig in",
        "thorough",
        "full analysis",
        "thorough mode",
    ),
    Depth.BRIEF: ("brief", "skip ahead", "keep it short", "just the highlights", "summarize"),
    Depth.STANDARD: ("standard", "standard mode"),
}
AT_MENUS_ONLY = {Depth.BRIEF: ("quick", "fast")}
"""Ordinary words: as an answer ("How fast?" -- "fast") they are no wish."""

FRAME = (
    r"(?:ok(?:ay)?|please|let'?s|let us|can we|could we|be|go|make it|do|in|a|the|more|mode|bit|now|thanks)"
)
CLOSERS = r"(?:done|exit|back|wrap(?:ping)?(?: \w+)? ?up|go back)"
POLITE = r"(?:ok(?:ay)?|thanks|thank you|great|cool|alright|all right|right|good|so|and|well|yes|yep|now|please|hey)"
WE = (
    r"(?:i'?m|i am|we'?re|we are|let'?s|let us|i think(?: we'?re| we are| i'?m)?|we can|can we|shall we|could we|"
    r"time to|we should|i want to|i'?d like to|all)"
)
TALK = r"(?:(?:our|the|this|that) (?:discussion|conversation|elaboration|roundtable|talk|topic|session|debate)\b.*)"
AFTER = (
    rf"(?:now|here|for now|please|thanks|thank you|then|everyone|folks|team|all|with this|with that|{TALK})"
)
EXIT = re.compile(rf"^(?:{POLITE} )*+(?:{WE} )*+{CLOSERS}(?: {AFTER})*$")
NOT_YET = re.compile(r"\b(?:not|isn'?t|aren'?t|never|don'?t|hardly|before|until|when|once|if|after)\b")
PERHAPS = re.compile(r"\b(?:done|exit$|wrap(?:ping)? (?:\w+ )?up)\b")
PERHAPS_WORDS_MAX = 6

REOPEN = re.compile(r"reopen(?: step)?(?: (?P<step>[0-9]{2}-[0-9]{2}))?")
CALLED = re.compile(r"\s*@?(?P<name>[^\W\d_]+(?: [^\W\d_]+)?)\s*[,:]\s")
NEARLY = 0.75


class EndIntent(StrEnum):
    """Whether a text asks to end the discussion."""

    YES = "yes"
    UNSURE = "unsure"
    NO = "no"


class Attending(NamedTuple):
    """What is asked for, with the time or the *name* that it is about."""

    action: Action | None = None
    due: str = ""
    name: str = ""


def attends(text: str) -> Attending | None:
    """None for other words. Whether it is a wish depends on what the thread was asked."""
    if action := ATTENDING.get(_plain(text)):
        return Attending(action)
    if found := DUE.fullmatch(text.rstrip()) or DUE_IN_WORDS.fullmatch(text.rstrip()):
        return Attending(due=found[1])
    if found := WITHOUT.fullmatch(text.rstrip().rstrip(".!")):
        return Attending(Action.WITHOUT, name=found[1])
    return None


def letter(text: str) -> Action | None:
    """`E`, `C` or `S`, alone. "Continue", alone, is a `C`: the seed takes only the letter, and people type the word."""
    plain = text.strip().lower()
    return Action.CONTINUE if plain.rstrip(".!") == "continue" else LETTERS.get(plain)


def finishes(text: str) -> bool:
    return _plain(text) in FINISH


def stops(text: str) -> bool:
    return _plain(text) in STOP


def reopened(text: str) -> str | None:
    """The id of a step in `reopen 01-03`, empty in `reopen`; None for other words."""
    found = REOPEN.fullmatch(" ".join(text.casefold().replace("\u2013", "-").split()).rstrip(".!"))
    return (found["step"] or "") if found else None


def asks_for_help(text: str) -> bool:
    return _plain(text) in HELP


def is_aside(text: str) -> bool:
    """Said to each other, and not to the roundtable: it gets no answer, and is not kept."""
    return ASIDE.match(text) is not None


def is_wish(text: str) -> bool:
    """Whether *text* was meant for us, or for a menu that is gone: it answers nothing."""
    return bool(letter(text)) or finishes(text) or stops(text) or asks_for_help(text)


def answers(text: str) -> bool:
    """Whether *text*, said in a thread, is meant for the step that is open, and not for us."""
    wants_time = DUE.fullmatch(text.rstrip()) or DUE_IN_WORDS.fullmatch(text.rstrip())
    ends = exit_wish(text) is EndIntent.YES
    is_ours = bool(wants_time) or ends or is_wish(text) or depth(text, at_menu=False) is not None
    return bool(text.strip()) and not is_ours


def depth(text: str, *, at_menu: bool) -> Depth | None:
    """
    The depth that *text* asks for, when that is all it asks for: a short message made of a depth phrase and
    small words. Anything longer is an answer that happens to hold the word.
    """
    plain = _plain(text)
    if not plain or len(plain.split()) > DEPTH_WORDS_MAX:
        return None
    for wanted, phrases in DEPTH_PHRASES.items():
        known = (*phrases, *(AT_MENUS_ONLY.get(wanted, ()) if at_menu else ()))
        if any(_is_wish(plain, phrase) for phrase in known):
            return wanted
    return None


def exit_wish(text: str) -> EndIntent:
    """
    Whether ending the discussion is what *text* is about: "let's wrap up our discussion of errors" is,
    "when the task is done, what happens?" and "back to the API" are not.
    """
    plain = _plain(text)
    if EXIT.match(plain) and not text.rstrip().endswith("?"):
        return EndIntent.YES
    if NOT_YET.search(plain) or not PERHAPS.search(plain):
        return EndIntent.NO
    return EndIntent.UNSURE if len(plain.split()) <= PERHAPS_WORDS_MAX else EndIntent.NO


def addresses_no_one(text: str, roster: Roster) -> bool:
    """
    Whether *text* opens with what looks like a call to a persona of *roster*, and is none: a role ("architect, …"),
    a surname, or a name that is almost that of a persona ("Alexa, …"). First names alone address (ERR-ELAB-012).
    """
    called = CALLED.match(text)
    if called is None:
        return False
    name = called["name"].lower()
    firsts = [persona.first_name.lower() for persona in roster]
    others = {
        word.lower()
        for persona in roster
        for word in (persona.role, persona.role.split()[-1], persona.short, *persona.name.split()[1:])
    }
    return name in others or bool(get_close_matches(name, firsts, n=1, cutoff=NEARLY))


def _plain(text: str) -> str:
    """Lower case, straight apostrophes, without punctuation around words."""
    straight = text.lower().replace("\u2019", "'")
    return " ".join(re.sub(r"[^\w' ]+", " ", straight).split())


def _is_wish(plain: str, phrase: str) -> bool:
    return re.fullmatch(rf"(?:{FRAME} )*{re.escape(phrase)}(?: {FRAME})*", plain) is not None
