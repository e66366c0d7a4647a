"""The workshop's menus: under a question, after a round, and under a plan that is ready."""

from bot.domain.message import Action, Choice, Emphasis, Message
from bot.domain.planning import wording
from bot.domain.planning.deciding import Decision
from bot.domain.planning.workshop import Ask, Workshop

ACTIONS = {
    Decision.GO: Action.PLAN_GO,
    Decision.CLARIFY: Action.PLAN_CLARIFY,
    Decision.HOLD: Action.PLAN_HOLD,
    Decision.REDO: Action.PLAN_REDO,
}
DECISIONS = {
    decision: Choice(action=action, label=wording.BUTTONS[decision]) for decision, action in ACTIONS.items()
}
ROUND = Choice(action=Action.PLAN_ROUND, label=wording.ANOTHER_ROUND)
SKIP = Choice(action=Action.PLAN_SKIP, label=wording.SKIP_QUESTION)
SKIP_REST = Choice(action=Action.PLAN_SKIP_REST, label=wording.SKIP_REST)
STRAIGHT = Choice(action=Action.PLAN_STRAIGHT, label=wording.STRAIGHT)
LEAVE = Choice(action=Action.PLAN_LEAVE, label=wording.LEAVE)
PLAN = Choice(action=Action.PLAN, label=wording.PLAN, emphasis=Emphasis.PRIMARY)


def question(ask: Ask, speaker: str) -> Message:
    """Most questions are answered in words."""
    choices = (SKIP, SKIP_REST, STRAIGHT) if ask.left else (SKIP, STRAIGHT)
    return Message(text=wording.asked(ask), speaker=speaker, choices=choices, note=wording.how_to_answer())


def decision(ws: Workshop, text: str) -> Message:
    """What is proposed comes first; what would come to nothing is not offered."""
    assert ws.proposal, "there is a proposal where people are asked to decide"
    proposed = ws.proposal.decision
    first = DECISIONS[proposed].but(emphasis=Emphasis.PRIMARY)
    others = [choice for one, choice in DECISIONS.items() if one is not proposed and _makes_sense(ws, one)]
    choices = (first, *others) if _makes_sense(ws, proposed) else tuple(others)
    *most, last = choices
    return Message(text=text, choices=(*most, ROUND, last, *((LEAVE,) if ws.held else ())))


def ready(text: str, *, analysed: bool) -> Message:
    again = DECISIONS[Decision.REDO]
    if analysed:
        return Message(text=text, choices=(again,), note=wording.begin_again_note())
    go_on = LEAVE.but(label=wording.TO_THE_ANALYSIS, emphasis=Emphasis.PRIMARY)
    return Message(text=text, choices=(go_on, again), note=wording.begin_again_note())


def _makes_sense(ws: Workshop, one: Decision) -> bool:
    if one is Decision.CLARIFY:
        return bool(ws.open_questions)
    return not (one is Decision.HOLD and ws.held)
