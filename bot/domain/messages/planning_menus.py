"""The workshop's menus: under a question, after a round, and under a plan that is ready."""

from bot.domain.messages import planning_wording
from bot.domain.messages.message import Action, Choice, Emphasis, Message
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.workshop import Ask, Workshop

ACTIONS = {
    ProposedMove.GO: Action.PLAN_GO,
    ProposedMove.CLARIFY: Action.PLAN_CLARIFY,
    ProposedMove.HOLD: Action.PLAN_HOLD,
    ProposedMove.REDO: Action.PLAN_REDO,
}
DECISIONS = {
    decision: Choice(action=action, label=planning_wording.BUTTONS[decision])
    for decision, action in ACTIONS.items()
}
ROUND = Choice(action=Action.PLAN_ROUND, label=planning_wording.ANOTHER_ROUND)
SKIP_REST = Choice(action=Action.PLAN_SKIP_REST, label=planning_wording.SKIP_REST)
STRAIGHT = Choice(action=Action.PLAN_STRAIGHT, label=planning_wording.STRAIGHT)
LEAVE = Choice(action=Action.PLAN_LEAVE, label=planning_wording.LEAVE)
PLAN = Choice(action=Action.PLAN, label=planning_wording.PLAN, emphasis=Emphasis.PRIMARY)


def skip(number: int) -> Choice:
    return Choice(action=Action.PLAN_SKIP, label=planning_wording.skip_question(number))


def question(ask: Ask, speaker: str) -> Message:
    """Most questions are answered in words."""
    passing = skip(ask.question.number)
    choices = (passing, SKIP_REST, STRAIGHT) if ask.left else (passing, STRAIGHT)
    return Message(
        text=planning_wording.asked(ask),
        speaker=speaker,
        choices=choices,
        note=planning_wording.HOW_TO_ANSWER,
    )


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
    again = DECISIONS[ProposedMove.REDO]
    if analysed:
        return Message(text=text, choices=(again,), note=planning_wording.BEGIN_AGAIN_NOTE)
    go_on = LEAVE.but(label=planning_wording.TO_THE_ANALYSIS, emphasis=Emphasis.PRIMARY)
    return Message(text=text, choices=(go_on, again), note=planning_wording.BEGIN_AGAIN_NOTE)


def _makes_sense(ws: Workshop, one: ProposedMove) -> bool:
    if one is ProposedMove.CLARIFY:
        return bool(ws.open_questions)
    return not (one is ProposedMove.HOLD and ws.held)
