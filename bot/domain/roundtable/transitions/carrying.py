"""
What was said and stands in no entry: a person takes it over as a note of the step, in the words in which it was said,
or says that it is not needed. Both are on record with their name.
"""

import re

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import NOTE
from bot.domain.messages import uncarried_parts as wording
from bot.domain.messages.message import Message
from bot.domain.roundtable import uncarried
from bot.domain.roundtable.effects import React, Tell
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.posts import UncarriedStatement
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.cards import NOTED, recorded
from bot.domain.specification.entries import Patch
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.errors import NotNow

_TYPED = re.compile(
    r"(?P<what>take over|not needed) (?P<which>all|f[0-9]{1,3}(?:(?:, ?| and ?| )f[0-9]{1,3})*+)\.?"
)


def pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `NUMBER/WHAT`."""
    number, _, what = event.value.partition("/")
    chosen = [one for one in uncarried.shown(rt, rt.step_id) if str(one.number) == number]
    if not chosen or what not in {wording.TAKE, wording.LEAVE}:
        raise NotNow(wording.NOT_LISTED)
    return _settled(rt, event.person, chosen, playbook, takes=what == wording.TAKE)


def typed(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """`take over F1`, `take over all`, `not needed F2`; None for a message that is content."""
    found = _TYPED.fullmatch(" ".join(event.text.split()).casefold())
    listed = uncarried.shown(rt, rt.step_id) if found else ()
    if not found or not listed:
        return None
    numbers = {int(one) for one in re.findall(r"[0-9]+", found["which"])}
    chosen = [one for one in listed if not numbers or one.number in numbers]
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.CLARIFYING)
    if not chosen:
        return rt.queueing(Tell(person=event.person.id, message=Message(text=wording.NOT_LISTED)))
    rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    return _settled(rt, event.person, chosen, playbook, takes=found["what"] == "take over")


def _settled(
    rt: Roundtable, person: Person, chosen: list[UncarriedStatement], playbook: Playbook, *, takes: bool
) -> Roundtable:
    """A note says whose words they are: who takes them over did not say them."""
    rt = rt.but(uncarried=tuple(one for one in rt.uncarried if one not in chosen))
    kind = playbook.schema.kinds.get(NOTE)
    patches: list[Patch] = []
    if takes and kind:
        for one in chosen:
            id = rt.specification.next_id(kind, taken=[patch.id for patch in patches])
            text = wording.quoted(_called(one.name, playbook), one.text)
            sources = tuple(filter(None, (one.line,)))
            patches.append(Patch(id=id, kind=NOTE, new=True, set={kind.text: text}, sources=sources))
    what = wording.took_over(len(chosen)) if takes else wording.not_needed([one.text for one in chosen])
    return recorded(rt, person, what, patches, playbook)


def _called(name: str, playbook: Playbook) -> str:
    """A persona's name, where the line has only its actor."""
    return next((one.first_name for one in playbook.roster if one.actor == name), name)
