"""An open menu, and what became of those before it."""

from collections.abc import Sequence
from enum import StrEnum

from bot.domain.catalog.phases import Phase
from bot.domain.catalog.steps import Depth
from bot.domain.messages import step_wording
from bot.domain.messages.message import Action, Choice, Emphasis, Message
from bot.domain.values.text import counted, one_line
from bot.domain.values.value import Stored


class MenuKind(StrEnum):
    PROMPT = "prompt"
    """Under a step's questions: finish, or another depth."""
    STEP = "step"
    """After a step."""
    PHASE = "phase"
    """After the last step of a phase."""
    FLOOR = "floor"
    """In an elaboration, when it is the people's turn."""
    PAUSED = "paused"
    RETRY = "retry"
    RESTORE = "restore"
    """meta.json is unusable, and history has a good one."""
    STALE = "stale"
    """The code base changed since the item was analysed."""
    LEFT_OUT = "left_out"
    """The analysis is complete, apart from steps that people can still open."""


class Menu(Stored):
    """An open menu."""

    kind: MenuKind
    token: str
    message: Message

    def offers(self, action: str) -> bool:
        return any(choice.action == action for choice in self.message.offered)

    def label_of(self, action: str) -> str:
        return next(choice.label for choice in self.message.offered if choice.action == action)


class Used(Stored):
    """What became of a menu."""

    token: str
    sentence: str


# The menus: what each offers, in words (for those who type) and in buttons (for those who press).


START_FORM = Choice(action=Action.START_FORM, label="Start…", emphasis=Emphasis.PRIMARY)
START = START_FORM.but(label="Start a roundtable…")
SETTINGS = Choice(action=Action.SETTINGS, label="Settings…")
SAVE_AND_GO_ON = Choice(action=Action.NEXT, label="Save and go on", emphasis=Emphasis.PRIMARY)
FINISH_STEP = Choice(action=Action.FINISH_STEP, label="Finish step", emphasis=Emphasis.PRIMARY)
CONTINUE = Choice(action=Action.CONTINUE, label="Continue", emphasis=Emphasis.PRIMARY)
ELABORATE = Choice(action=Action.ELABORATE, label="Elaborate")
SKIP = Choice(action=Action.SKIP, label="Skip rest of phase")
SKIP_STEP = Choice(action=Action.SKIP_STEP, label="Skip")
STOP = Choice(action=Action.STOP, label="Stop here")
GO_ON = Choice(action=Action.GO_ON, label="Let the personas go on")
END_ELABORATION = Choice(action=Action.END_ELABORATION, label="End discussion", emphasis=Emphasis.PRIMARY)
DECIDE = Choice(action=Action.DECIDE, label="Decide")
RESUME = Choice(action=Action.RESUME, label="Resume", emphasis=Emphasis.PRIMARY)
RETRY = Choice(action=Action.RETRY, label="Retry", emphasis=Emphasis.PRIMARY)
READ_AGAIN = Choice(action=Action.READ_AGAIN, label="Draft again")
RESTORE = Choice(action=Action.RESTORE, label="Restore last good version", emphasis=Emphasis.PRIMARY)
START_OVER = Choice(action=Action.START_OVER, label="Start from the beginning")
REANALYSE = Choice(action=Action.REANALYSE, label="Re-analyze from Phase 00")
ALLOW_MORE = Choice(action=Action.ALLOW_MORE, label="Allow as much again")
CANCEL = Choice(action=Action.CANCEL, label="Cancel", emphasis=Emphasis.PRIMARY)
CATCH_UP = Choice(action=Action.CATCH_UP, label="Catch me up")
SO_FAR = Choice(action=Action.READ, label="What we have so far")
"""The value is SO_FAR_OF and the item."""
SO_FAR_OF = "so far "
TAKE_UP = Choice(action=Action.TAKE_UP, label="Continue here", emphasis=Emphasis.PRIMARY)
TAKE_OVER = Choice(action=Action.TAKE_OVER, label="Take over")
FINDINGS = Choice(action=Action.FINDINGS, label="Read…")
REVERSE = Choice(action=Action.REVERSE, label="Change a decision…")
ISSUES = Choice(action=Action.ISSUES, label="Create issues…")
READ_ISSUE = Choice(action=Action.READ_ISSUE, label="Read the issue again")
EXPORT = Choice(action=Action.EXPORT, label="Export the record")

DEPTHS = {
    Depth.BRIEF: Choice(action=Action.DEPTH_BRIEF, label="Switch to brief"),
    Depth.STANDARD: Choice(action=Action.DEPTH_STANDARD, label="Switch to standard"),
    Depth.DEEP: Choice(action=Action.DEPTH_DEEP, label="Switch to deep"),
}
DEPTH_OF = {choice.action: depth for depth, choice in DEPTHS.items()}
PLAN = Choice(action=Action.PLAN, label="Plan it", emphasis=Emphasis.PRIMARY)
GO_DEEPER = Choice(action=Action.GO_DEEPER, label="Go deeper")
REOPEN = Choice(action=Action.REOPEN, label="Open")
LABEL_CHARS = 40
REOPENED_AT_MOST = 5
"""More buttons than a row has would hide the others. All steps can be opened by their number."""


def after_step(speaker: str, text: str, depth: Depth) -> Message:
    lines = (
        step_wording.ELABORATE_LINE,
        step_wording.CONTINUE_LINE,
        step_wording.SKIP_LINE,
        step_wording.FEEDBACK_LINE,
    )
    others = tuple(choice for other, choice in DEPTHS.items() if other is not depth)
    return Message(
        text=_with(text, lines),
        speaker=speaker,
        choices=(CONTINUE, ELABORATE, SKIP, STOP, *others),
        note=f"Depth: {depth}.",
    )


def reopening(steps: Sequence[tuple[str, str]]) -> tuple[Choice, ...]:
    """A button for each of the first *steps*, ids and titles, that were left out."""
    return tuple(open_step(step_id, title) for step_id, title in steps[:REOPENED_AT_MOST])


def open_step(step_id: str, title: str) -> Choice:
    return REOPEN.but(label=f"Open {step_id} {one_line(title, LABEL_CHARS)}", value=step_id)


def go_deeper(steps: int) -> Choice:
    return GO_DEEPER.but(label=f"{GO_DEEPER.label}: {counted(steps, 'step')}")


def after_phase(
    speaker: str, text: str, following: Phase | None, *, left_out: Sequence[tuple[str, str]] = ()
) -> Message:
    label = step_wording.continue_to(following)
    lines = (step_wording.ELABORATE_LINE, f"[C] {label}", step_wording.FEEDBACK_LINE)
    go_on = CONTINUE.but(label=label)
    choices = (go_on, ELABORATE, STOP, *reopening(left_out))
    return Message(text=_with(text, lines), speaker=speaker, choices=choices)


def options(positions: Sequence[str]) -> tuple[Choice, ...]:
    """A button for each; what stands on it may be cut, so it carries its place."""
    return tuple(
        DECIDE.but(label=f"{DECIDE.label}: {one_line(position, LABEL_CHARS)}", value=str(place))
        for place, position in enumerate(positions)
    )


def _with(text: str, lines: tuple[str, ...]) -> str:
    return "\n".join((text, "", *lines)).strip()
