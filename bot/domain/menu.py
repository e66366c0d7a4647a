"""An open menu, and what became of those before it."""

from enum import StrEnum

from bot.domain.message import Action, Message
from bot.domain.value import Stored


class MenuKind(StrEnum):
    PROMPT = "prompt"
    """Under a step's questions: finish, or another depth."""
    STEP = "step"
    """After a step."""
    PHASE = "phase"
    """After the last step of a phase."""
    FLOOR = "floor"
    """In an elaboration, when it is the people's turn."""
    ROUND = "round"
    """In an elaboration, while personas have the floor."""
    PAUSED = "paused"
    RETRY = "retry"
    RESTORE = "restore"
    """meta.json is unusable, and history has a good one."""
    STALE = "stale"
    """The code base changed since the item was analysed."""
    PLAN_OFFER = "plan_offer"
    """The analysis is complete: it can be planned."""
    PLAN_QUESTION = "plan_question"
    """Under a question of the workshop's roles."""
    PLAN_DECISION = "plan_decision"
    """After a round of the workshop."""
    PLAN_READY = "plan_ready"
    PLAN_BUDGET = "plan_budget"
    """The workshop goes on when people allow more to be spent."""


class Menu(Stored):
    """An open menu. `ts` is empty until Slack has told us where it stands."""

    kind: MenuKind
    token: str
    message: Message
    ts: str = ""

    def offers(self, action: Action) -> bool:
        return any(choice.action is action for choice in self.message.choices)

    def label_of(self, action: Action) -> str:
        return next(choice.label for choice in self.message.choices if choice.action is action)


class Used(Stored):
    """What became of a menu. `rewritten` still has to replace it when `ts` comes to be known."""

    token: str
    sentence: str
    rewritten: Message | None = None
