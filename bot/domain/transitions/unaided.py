"""
Going on without a model (ERR-INT-001, ADR 17): people are told once, the voice that needs none does what the model
could not, and every menu offers to have it back.
"""

from bot.domain import menus, trouble_wording, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Draft, Speak, Synthesize
from bot.domain.elaboration import Elaboration
from bot.domain.inputs import Press
from bot.domain.menu import MenuKind
from bot.domain.message import Message
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.taxonomy import trouble
from bot.domain.transitions import steps

AWAY = frozenset({"timeout", "unavailable", "denied", "context"})
"""Reasons of a voice that a model does not answer at all; it would not answer the next one either."""

OF_AN_ANSWER = frozenset({"empty", "cut_off", "refused", "unstructured"})
"""Reasons that are about one answer: the next one may be fine."""

Asked = Speak | Draft | Synthesize


def is_over(rt: Roundtable, effect: Asked, reason: str) -> bool:
    """Whether *effect*, which a model failed at, is for the voice without one to do."""
    if rt.unaided:
        return False
    if isinstance(effect, Speak) and effect.task == "acknowledge":
        return reason in AWAY
    if isinstance(effect, Speak) and effect.task == "respond" and not nobody_spoke(rt.debate):
        return False
    return reason in AWAY | OF_AN_ANSWER


def nobody_spoke(debate: Elaboration) -> bool:
    """Whether who fails now is the last of a round in which nobody found words, or leaves a person unanswered."""
    is_last = len(debate.waiting) <= 1
    return is_last and (bool(debate.unheard) or debate.turns[-1].human)


def carried_on(rt: Roundtable, effect: Asked) -> Roundtable:
    """An open menu moves below what is told, so that nobody has to look for it."""
    lost = trouble("ERR-INT-001")
    rt = rt.logging(lost).but(unaided=True)
    text = f"⚠ {lost.sentence}\n{trouble_wording.without_a_model()}"
    before = rt.menu
    message = Message(
        text=text, note=lost.code, choices=before.message.choices if before else (menus.AIDED_AGAIN,)
    )
    rt = rt.offering(before.kind if before else MenuKind.RETRY, message, part=rt.part)
    return rt.owing(effect.but(id="", attempts=0, attempted_at="", attempted_before=""))


def wanted_back(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """From here on with the model; the step that was written down without it is written again."""
    assert rt.menu, "its button was pressed"
    kind, message = rt.menu.kind, rt.menu.message
    name = rt.name_of(happened.person.id)
    chosen = wording.chosen(menus.AIDED_AGAIN.label, name)
    rt = rt.closing_menu(chosen, ts=happened.ts).but(unaided=False)
    rt = rt.recording(chosen, part=rt.part, user_id=happened.person.id, user_name=name)
    if rt.stage is Stage.AT_BOUNDARY and rt.answers and rt.step_id in rt.steps_completed:
        return steps.write(rt)
    left = tuple(choice for choice in message.choices if choice.action is not menus.RETRY.action)
    if not left:
        return rt
    again = message.but(text=trouble_wording.with_a_model_again(), choices=left, token="", note="")
    return rt.offering(kind, again, part=rt.part)
