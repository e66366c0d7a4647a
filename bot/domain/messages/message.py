"""What we say, without saying where: the one thing that crosses from the domain to a chat."""

from enum import StrEnum

from bot.domain.values.value import Stored

NO_STEP = "none"
"""A menu or a discussion: what people say below it answers no step's question."""


class Action(StrEnum):
    """What people can press. The names are public: Slack sees them as `roundtable.<value>`."""

    FINISH_STEP = "finish_step"
    CONTINUE = "continue"
    ELABORATE = "elaborate"
    SKIP = "skip"
    END_ELABORATION = "end_elaboration"
    GO_ON = "go_on"
    DECIDE = "decide"
    STOP = "stop"
    RESUME = "resume"
    RETRY = "retry"
    RESTORE = "restore"
    START_OVER = "start_over"
    DEPTH_BRIEF = "depth_brief"
    DEPTH_STANDARD = "depth_standard"
    DEPTH_DEEP = "depth_deep"
    REANALYSE = "reanalyse"
    CANCEL = "cancel"
    ALLOW_MORE = "allow_more"
    CATCH_UP = "catch_up"
    EXPORT = "export"
    TAKE_UP = "take_up"
    PLAN = "plan"
    PLAN_GO = "plan_go"
    PLAN_CLARIFY = "plan_clarify"
    PLAN_HOLD = "plan_hold"
    PLAN_REDO = "plan_redo"
    PLAN_ROUND = "plan_round"
    PLAN_SKIP = "plan_skip"
    PLAN_SKIP_REST = "plan_skip_rest"
    PLAN_STRAIGHT = "plan_straight"
    PLAN_LEAVE = "plan_leave"


VERBS = frozenset({Action.CATCH_UP, Action.EXPORT, Action.TAKE_UP})
"""What stands in no menu of a roundtable: a press is about the item that is its value."""


class Emphasis(StrEnum):
    PLAIN = ""
    PRIMARY = "primary"


class Choice(Stored):
    """
    One button. `value` is for choices that stand outside a menu, such as the picker of `resume`, and for those of
    one menu that share an action.
    """

    action: Action
    label: str
    emphasis: Emphasis = Emphasis.PLAIN
    value: str = ""


class Link(Stored):
    label: str
    url: str


class Message(Stored):
    """
    `text` is Markdown and untrusted throughout: it is shown, and nothing in it acts, pings or links.

    `speaker` is a persona's key; empty means the host. `token` names the menu that the choices belong to, and
    comes back with a press. `note` is the small print below. `about` is the step that what people say below it is
    about, or NO_STEP. `witness` is what was committed when it was posted.
    """

    text: str
    speaker: str = ""
    choices: tuple[Choice, ...] = ()
    token: str = ""
    note: str = ""
    links: tuple[Link, ...] = ()
    about: str = ""
    witness: str = ""

    def spent(self) -> "Message":
        """What it says, with nothing to press any more."""
        return self.but(choices=(), token="")
