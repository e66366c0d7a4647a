"""What typed words are: an answer, an aside, or a wish, which does what a button does."""

import re
from difflib import get_close_matches
from typing import NamedTuple

from bot.domain.actions.action import Elsewhere, Typed, alone, bound, plain
from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import AddressKind, Roster
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.roundtable.state import Roundtable

ASIDE = re.compile(r"[\s(*_]*aside[*_]?\s*[:：]", re.IGNORECASE)
CALLED = re.compile(r"\s*@?(?P<name>[^\W\d_]+(?: [^\W\d_]+)?)\s*[,:]\s")
NEARLY = 0.75
_QUESTIONS = re.compile(r"[^\n.!。！]{1,600}[?？]\s*")

_help = alone("help", "help me", "help please", "help me please", "please help", "please help me")


class Wish(NamedTuple):
    """*press* is that of the button, which stands nowhere: it has no token."""

    press: Press
    typed: Typed


def wish_of(rt: Roundtable, said: Say, playbook: Playbook) -> Wish | None:
    """None for words that are only words here."""
    for action, typed, value in playbook.actions.read_words(said.text, rt.stage):
        press = Press(
            key=said.key, at=said.at, person=said.person, action=action, token="", ts="", value=value
        )
        if not action.when or bound(action.when)(rt, press, playbook):
            return Wish(press, typed)
    return None


def asks_us(said: Say | ThreadMessage, playbook: Playbook) -> bool:
    """
    Whether all of *said* is a question to the bot. It is none to a persona, nor one that a model may know. That depends
    on the message and the content alone, so it is the same when the thread is read again.
    """
    if not said.to_us or not _QUESTIONS.fullmatch(said.text):
        return False
    if playbook.roster.addressed(said.text, lead="").kind is not AddressKind.DEFAULT:
        return False
    return not playbook.has_model or bool(playbook.schema.topic_of(plain(said.text)))


def asks_for_help(text: str) -> bool:
    return _help(text) is not None


def is_aside(text: str) -> bool:
    """Said to each other, and not to the roundtable: it gets no answer, and is not kept."""
    return ASIDE.match(text) is not None


def is_wish(text: str) -> bool:
    """Whether *text* was meant for us, or for a menu that is gone: it answers nothing."""
    return asks_for_help(text) or any(
        found.typed.elsewhere is Elsewhere.NOTHING for found in ACTIONS.read_words(text)
    )


def may_be_wish(text: str) -> bool:
    """Whether *text* may be a wish in any stage."""
    return asks_for_help(text) or next(ACTIONS.read_words(text), None) is not None


def answers(text: str) -> bool:
    """Whether *text*, said in a thread, is meant for the step that is open, and not for us."""
    is_content = all(found.typed.elsewhere is Elsewhere.CONTENT for found in ACTIONS.read_words(text))
    return bool(text.strip()) and is_content and not asks_for_help(text)


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
