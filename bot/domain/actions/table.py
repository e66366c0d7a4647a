"""All actions. A new button is one more row, its transition, and its place on a card."""

from bot.domain.actions.action import (
    ActionRow,
    Actions,
    Control,
    Elsewhere,
    EndIntent,
    Reader,
    Typed,
    Who,
    alone,
    among_small_words,
    exit_wish,
    matching,
)
from bot.domain.discussion.words import decides
from bot.domain.roundtable.stage import BUSY, RESTING, Stage
from bot.domain.values.timestamps import date_in

UNDECIDED = "none"
"""In place of the letter of an option."""
SOMETHING_ELSE = "other"
"""In place of a letter: an option of one's own, which a form asks for."""
WITH_A_REASON = frozenset({"rejected", "risk"})
"""What becomes of an objection for a reason, which a form asks for."""

_STEP = frozenset({Stage.DISCUSSING})
_MENU = frozenset({Stage.AT_BOUNDARY})
_DISCUSSION = frozenset({Stage.ELABORATING})
_OPEN = _STEP | _DISCUSSION
_CONTENT, _NOTHING = Elsewhere.CONTENT, Elsewhere.NOTHING

_DEEP = (
    "deep", "deeper", "more detail", "more details", "dig in", "thorough", "full analysis", "thorough mode",
)  # fmt: skip
_BRIEF = ("brief", "skip ahead", "keep it short", "just the highlights", "summarize")
_STOP = alone("stop", "stop here", "pause")
_REOPEN = matching(r"reopen(?: step)?(?: (?P<value>[0-9]{2}[-\u2013][0-9]{2}))?[.!]*")
_YES, _NOT_YET = (
    matching(rf"{said}(?: (?P<value>[1-9]))?[.!]?") for said in ("yes(?:, record it)?", "not yet")
)
_WITHOUT = matching(r"without (?P<value>@?\S.{0,60}?)[.!]*")
_DATE = matching(r"due (?P<value>\d{4}-\d\d-\d\d\b.{0,20})")
_ANY_DAY = "2024-01-01T00:00:00.000Z"
_DUE = matching(r"due:? (?P<value>.{1,60})")


def _named_date(text: str) -> str | None:
    """`due 30 Nov`, in six languages; which moment it is depends on who writes it."""
    value = _DUE(text)
    return value if value and date_in(value, now=_ANY_DAY, offset=0) else None


# No time that is understood: who writes it is told so, and it is no answer.
_DATE_IN_WORDS = matching(
    r"due (?:(?:on|by|at|next|until) )*(?P<value>(?:today|tonight|tomorrow"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|in \d+ \w+|\d{1,2}:\d\d)\b.{0,20})"
)


def _typed(
    read: Reader, at: frozenset[Stage], elsewhere: Elsewhere = _CONTENT, *, noted: bool = False
) -> tuple[Typed, ...]:
    return (Typed(read, at, elsewhere, noted=noted),)


def _said(read: Reader, at: frozenset[Stage], elsewhere: Elsewhere = _CONTENT) -> tuple[Typed, ...]:
    """The transition of what is said carries it out."""
    return (Typed(read, at, elsewhere, is_said=True),)


def _depth(*phrases: str) -> tuple[Typed, ...]:
    return _typed(among_small_words(*phrases), _STEP | _MENU, Elsewhere.FEEDBACK)


def _letter(pattern: str) -> tuple[Typed, ...]:
    return _typed(matching(pattern), _MENU, _NOTHING)


def _ends(text: str) -> str | None:
    return "" if exit_wish(text) is EndIntent.YES else None


class Action:
    """The rows, by their names in the code."""

    # --- steps and menus
    FINISH_STEP = ActionRow(
        "finish_step",
        "steps.finish",
        _typed(alone("finish", "finish step", "finish the step"), _STEP, _NOTHING),
    )
    NEXT = ActionRow(
        "next",
        "steps.save_and_go_on",
        _typed(alone("next", "save and go on"), _STEP),
        "phases.is_offered",
    )
    """On the card of a phase alone."""
    # A letter alone. "Continue" is a `C`: the seed takes only the letter, and people type the word.
    CONTINUE = ActionRow("continue", "phases.pressed", _letter("c|continue[.!]*"), "phases.is_offered")
    ELABORATE = ActionRow("elaborate", "phases.pressed", _letter("e"), "phases.is_offered")
    SKIP = ActionRow("skip", "phases.pressed", _letter("s"), "phases.is_offered")
    SKIP_STEP = ActionRow(
        "skip_step",
        "phases.skip_missing",
        _typed(alone("skip", "skip step", "skip the step"), _STEP),
        "phases.is_offered",
    )
    """Of a step that is not in the step files any more."""
    STOP = ActionRow("stop", "phases.stopped", _typed(_STOP, BUSY | _OPEN | _MENU, _NOTHING))
    RESUME = ActionRow("resume", "opening.resume")
    RETRY = ActionRow("retry", "opening.retry")
    RESTORE = ActionRow("restore", "opening.restore_pressed")
    START_OVER = ActionRow("start_over", "opening.start_over_pressed")
    # Before DEPTH_DEEP, which has the same words where steps are asked one by one.
    GO_DEEPER = ActionRow(
        "go_deeper",
        "phases.go_deeper",
        _typed(alone("go deeper"), _STEP | _MENU | RESTING, Elsewhere.FEEDBACK),
        "phases.means_all_steps",
        outside=True,
    )
    # "Quick" and "fast" are ordinary words: as an answer ("How fast?" -- "fast") they are no wish.
    DEPTH_BRIEF = ActionRow(
        "depth_brief",
        "phases.change_depth",
        _depth(*_BRIEF) + _typed(among_small_words("quick", "fast"), _MENU),
    )
    DEPTH_STANDARD = ActionRow("depth_standard", "phases.change_depth", _depth("standard", "standard mode"))
    DEPTH_DEEP = ActionRow("depth_deep", "phases.change_depth", _depth(*_DEEP))
    READ_AGAIN = ActionRow(
        "read_again", "steps.read_again", _typed(alone("draft again"), _STEP | _MENU), "steps.can_be_read"
    )
    """Of what people said and no model has read: it gave no answer that could be used, or no more drafts are made."""
    ASK_OTHER = ActionRow("ask_other", "drafts.ask_other")
    SHOW_ANSWER = ActionRow("show_answer", "drafts.show_answer")
    """The answer of a model that could not be read as a draft."""
    STOP_DRAFT = ActionRow("stop_draft", "drafts.stop_draft")
    GO_ON_WITHOUT = ActionRow("go_on_without", "drafts.go_on_without")
    """Without a draft, or an answer in a discussion, that a model failed at or takes long for."""
    CHECK_AGAIN = ActionRow("check_again", "drafts.check_again")
    NOT_RELEVANT = ActionRow("not_relevant", "drafts.hide_objection")
    """What a review said against a draft."""
    REANALYSE = ActionRow("reanalyse", "opening.reanalyse")
    CANCEL = ActionRow("cancel", "opening.cancelled")
    ALLOW_MORE = ActionRow("allow_more", "budgeting.allowed_more")
    REOPEN = ActionRow(
        "reopen",
        "phases.reopen_pressed",
        _typed(_REOPEN, frozenset(Stage)),
        "phases.can_be_named",
        outside=True,
    )
    TAKE_UP = ActionRow("take_up")  # Before there is a roundtable: `engine/verbs/opening.py` carries it out.
    TAKE_OVER = ActionRow("take_over", "opening.taken_over", outside=True)
    """Lines that an earlier version wrote, or that were sealed by keys that are lost."""

    # --- what is recorded
    LINE = ActionRow("line", "cards.line_pressed", control=Control.MENU)
    """On one line of a card. The value is `NUMBER/WHAT`."""
    ACCEPT_ALL = ActionRow("accept_all", "cards.all_accepted")
    AMEND = ActionRow("amend", form="amend")
    SORT = ActionRow("sort", form="sort")
    FILE = ActionRow("file", "cards.filed", outside=True)
    """Makes a note an entry. The value is `NOTE/WHAT`, and WHAT is that of the form."""
    HOLDS = ActionRow("holds", "cards.kept", outside=True)
    """What is doubtful stays as it is."""
    WITHDRAW = ActionRow("withdraw", "cards.withdrawn", outside=True)
    CHANGES = ActionRow("changes", "cards.changes_chosen", control=Control.SEVERAL, outside=True)
    """Each value is `DECISION/ENTRY`; a press carries all that were chosen."""
    CHANGES_NONE = ActionRow(
        "changes_none",
        "cards.no_change_chosen",
        _typed(alone("none of them"), frozenset(Stage) - BUSY, noted=True),
        "cards.is_change_asked",
        outside=True,
    )
    REVERSE = ActionRow("reverse", form="reverse")

    # --- discussions
    END_ELABORATION = ActionRow(
        "end_elaboration", "elaborations.end_pressed", _said(_ends, _DISCUSSION, Elsewhere.FEEDBACK)
    )
    GO_ON = ActionRow("go_on", "elaborations.went_on")
    DECIDE = ActionRow("decide", "elaborations.decided")
    STAND = ActionRow(
        "stand", "standing.stood", control=Control.SELECT, form="option", form_for=frozenset({SOMETHING_ELSE})
    )
    """The value is the letter of an option, UNDECIDED or SOMETHING_ELSE."""
    OPTION = ActionRow("option", form="option")
    """Names an option."""
    RECORD = ActionRow(
        "record", typed=_said(lambda text: "" if decides(text) else None, _DISCUSSION), form="record"
    )
    OBJECT = ActionRow("object", form="object")
    OBJECTION = ActionRow(
        "objection", "deciding.fate_pressed", control=Control.MENU, form="object", form_for=WITH_A_REASON
    )
    """The value is `NUMBER/FATE`."""
    AGREED = ActionRow(
        "agreed", "deciding.agreed", _typed(_YES, _STEP) + _said(_YES, _DISCUSSION), "deciding.is_asked"
    )
    NOT_AGREED = ActionRow(
        "not_agreed",
        "deciding.not_agreed",
        _typed(_NOT_YET, _STEP) + _said(_NOT_YET, _DISCUSSION),
        "deciding.is_asked",
    )
    """To a message that was marked as a decision, with the mark as value; or to what a discussion holds."""
    ASK_ALL = ActionRow("ask_all", "elaborations.all_asked")
    ASK_PERSON = ActionRow("ask_person", "elaborations.person_asked")
    """The value is the id of a person."""
    MORE_TURNS = ActionRow("more_turns", "deciding.more_turns")
    SEALED = ActionRow("sealed", form="sealed")
    REVEAL = ActionRow("reveal", "standing.revealed")

    # --- who is waited for, and until when
    NUDGE = ActionRow("nudge", "attending.nudge_pressed", _typed(alone("nudge"), _OPEN | _MENU))
    NOTHING_TO_ADD = ActionRow(
        "pass",
        "attending.passed",
        _typed(alone("nothing to add", "i have nothing to add"), _OPEN),
        "attending.is_called",
        Who.ANYBODY,
    )
    LATER = ActionRow(
        "later",
        "attending.later",
        _typed(alone("tomorrow", "ask me tomorrow"), _OPEN),
        "attending.is_called",
        Who.ANYBODY,
    )
    EXTEND = ActionRow(
        "extend", "attending.extended", _typed(alone("one more day"), _OPEN), "attending.is_overdue"
    )
    WITHOUT = ActionRow("without", "attending.without", _typed(_WITHOUT, _OPEN), "attending.is_overdue")
    """The value is the person who is no longer waited for, or their name."""
    UNTIL = ActionRow(
        "until",
        "attending.due_pressed",
        _typed(_DATE, _OPEN, Elsewhere.FEEDBACK)
        + _typed(_named_date, _OPEN, Elsewhere.FEEDBACK)
        + _typed(_DATE_IN_WORDS, _OPEN, Elsewhere.FEEDBACK),
        form="until",
    )
    """Another time for answers."""
    NO_LIMIT = ActionRow(
        "until_off",
        "attending.unlimited",
        _typed(alone("no limit", "no time limit"), _OPEN),
        "attending.has_limit",
    )
    """Answers are not due at any time."""

    # --- a coding agent asks
    ANSWER_OPTION = ActionRow("answer_option", "agents.option_pressed", outside=True)
    """One of the answers that the agent offers. The value is `Q-001/NUMBER`."""
    DECLINE_QUESTION = ActionRow("decline_question", "agents.declined", outside=True)

    # --- planning
    PLAN = ActionRow("plan", "phases.plan_asked")
    ISSUES = ActionRow("issues", form="issues")
    """Pieces of work become issues of a tracker."""
    READ_ISSUE = ActionRow("read_issue", "issues.read_pressed", outside=True)
    """The one with which the item began."""

    # --- for one person
    READ = ActionRow("read", verb="read")
    """All of the card of the step that is its value, or with `so far ITEM` what an item has."""
    FINDINGS = ActionRow("findings", verb="read")
    CATCH_UP = ActionRow("catch_up", verb="catchup")
    EXPORT = ActionRow("export", verb="export")
    DECISIONS = ActionRow("decisions", verb="decisions")
    HELP_MORE = ActionRow("help_more", verb="help")
    WAITING = ActionRow("waiting", verb="waiting")
    """What waits for who presses, in a direct message."""
    SNOOZE = ActionRow("snooze", verb="snooze", personal=True)
    DIGEST_TIME = ActionRow("digest_time", verb="remind", personal=True)
    SETTINGS = ActionRow("settings", form="settings")
    START_FORM = ActionRow("start_form", form="start")
    ANSWER_FORM = ActionRow("answer_form", form="answer")
    """In a direct message. The value is `ITEM/STEP`, or `ITEM/Q-001` for a recorded question."""


ACTIONS = Actions(row for row in vars(Action).values() if isinstance(row, ActionRow))
