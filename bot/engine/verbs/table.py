"""All verbs, in the order of the help."""

import re
from functools import partial

from bot.domain.messages import verb_wording
from bot.engine.verbs import looking, opening, reviewing, steering
from bot.engine.verbs.verb import ANYTHING, NOTHING, Verb, Verbs

_CATCH_UP = re.compile(
    r"catch[\s-]*(?:me\s+)?up\b(?:[,\s]+(?:on|please)\b)?(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_WHAT_WE_HAVE = re.compile(r"what\s+(?:do\s+)?we\s+have\s+so\s+far\W*", re.IGNORECASE)
_WHAT_WAITS = re.compile(r"what(?:['’]s| is)?\s+wait(?:s|ing)\s+for\s+me\W*", re.IGNORECASE)
_NO_REMINDERS = re.compile(r"no\s+reminders\s*[.!]?", re.IGNORECASE)
_SEARCHED = re.compile(r"(?:\S+(?:\s+\S+){0,4})?")
_POSITION = re.compile(r"\s*position(?:\s*[:\uff1a]\s*|\s+|$)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_POSITION_GIVEN = re.compile(
    r"\s*(?i:position)\s*(?:[:\uff1a]\s*|(?<=\s)(?=(?:\S+:\s*)?(?:[Oo]ption\s+)?[A-HJ-Z](?:$|\W)))(?P<rest>\S.*)",
    re.DOTALL,
)
"""With a colon, or a letter behind it."""

VERBS = Verbs((
    Verb(word="about", do=looking.look_around, takes=NOTHING, means=((NOTHING, ""),)),
    Verb(word="start", do=opening.start, takes=ANYTHING, opens=True,
         help=verb_wording.START, hint="start Dark mode"),
    Verb(word="resume", do=opening.resume, opens=True, help=verb_wording.RESUME, hint="resume"),
    Verb(word="status", do=looking.status, help=verb_wording.STATUS, hint="status"),
    Verb(word="catchup", do=looking.catch_up, means=((_CATCH_UP, ""),),
         help=verb_wording.CATCH_UP, hint="catchup"),
    Verb(word="export", do=looking.export, help=verb_wording.EXPORT, hint="export"),
    Verb(word="list", do=looking.list_items, takes=NOTHING, help=verb_wording.LIST, hint="list"),
    Verb(word="decisions", do=looking.decisions, takes=_SEARCHED,
         help=verb_wording.DECISIONS, hint="decisions"),
    Verb(word="depth", do=steering.depth, help=verb_wording.DEPTH, hint="depth deep"),
    Verb(word="review", do=reviewing.review, takes=reviewing.REVIEWED,
         help=verb_wording.REVIEW, hint="review"),
    Verb(word="read", do=reviewing.read, takes=reviewing.READABLE, means=((_WHAT_WE_HAVE, "so far"),),
         help=verb_wording.READ, hint="read"),
    Verb(word="plan", do=opening.plan, takes=ANYTHING, opens=True, help=verb_wording.PLAN, hint="plan"),
    Verb(word="position", do=steering.position, slash=_POSITION, direct=_POSITION_GIVEN,
         help=verb_wording.POSITION),
    Verb(word="stop", do=steering.stop, help=verb_wording.STOP, hint="stop"),
    Verb(word="mute", do=partial(steering.set_muted, muted=True), help=verb_wording.MUTE, hint="mute"),
    Verb(word="unmute", do=partial(steering.set_muted, muted=False), hint="unmute"),
    Verb(word="settings", do=steering.settings, help=verb_wording.SETTINGS, hint="settings"),
    Verb(word="waiting", do=looking.waiting, takes=NOTHING, means=((_WHAT_WAITS, ""),),
         help=verb_wording.WAITING),
    Verb(word="remind", do=steering.remind, means=((_NO_REMINDERS, "off"),), help=verb_wording.REMIND),
    Verb(word="snooze", do=steering.snooze),
))  # fmt: skip
