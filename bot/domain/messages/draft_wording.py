"""What the card says about a draft and its review: what is wrong, and what to do."""

from collections.abc import Iterator, Mapping, Sequence

from bot.domain.messages import menus, step_wording
from bot.domain.messages.discussion_wording import passed
from bot.domain.messages.message import Action, Choice
from bot.domain.roundtable.outcomes import Contradiction, DraftReview, ReviewObjection
from bot.domain.values.text import counted, listed, one_line

CHECK_AGAIN = Choice(action=Action.CHECK_AGAIN, label="Check again")
NOT_RELEVANT = Choice(action=Action.NOT_RELEVANT, label="Not relevant")
ANSWER = Choice(action=Action.ANSWER_FORM, label="Answer")
ASK_OTHER = Choice(action=Action.ASK_OTHER, label="Ask another model")
SHOW = Choice(action=Action.SHOW_ANSWER, label="Show")
TRY_AGAIN = Choice(action=Action.READ_AGAIN, label="Try again")
TRY_AGAIN_TOGETHER = menus.GO_ON.but(label=TRY_AGAIN.label)
GO_ON_WITHOUT = Choice(action=Action.GO_ON_WITHOUT, label="Go on without")
STOP_DRAFT = Choice(action=Action.STOP_DRAFT, label="Stop")
"""The call of the model, and nothing else."""

NO_REVIEW_NOW = "No model can check the draft now."
NO_DRAFT_WANTED = "A model has read everything that was said here."
NOTHING_IS_AWAITED = "No model failed here, and none is asked now."
NO_ANSWER_KEPT = "The answer is not kept any more."
IS_HIDDEN = "This objection is hidden already."
QUOTE_CHARS = 160

WHY: Mapping[str, str] = {
    "refused": "the model refused to answer",
    "empty": "the model said nothing",
    "cut_off": "the answer of the model was too long",
    "timeout": "the model did not answer in time",
    "unavailable": "the model could not be reached",
    "denied": "the model does not accept the key, or its account is used up",
    "context": "what was said is too long for the model",
    "month": "this workspace has used its model budget for this month, which an administrator can raise",
    "failed": "the model gave no answer that could be used",
}
"""Of an answer that is missing, by the reason."""
PASSED = "passed"
"""The reason of an answer in a discussion that has no words: nothing failed."""
FAILURES: Mapping[str, str] = {
    **{reason: f"{{name}} has no draft: {why}." for reason, why in WHY.items()},
    "refused": "The model refused this step, so {name} has no draft.",
    "unstructured": "{name}'s answer could not be read as entries.",
}
DOES_NOT_FIT = "it does not fit the entries of this step"
NO_SUCH_VALUE = "there is no such field, choice or entry"
NOT_OF_A_PERSON = "no person said it in these words"
MOST_PROPOSALS = 40
TOO_MANY = f"it is beyond the first {MOST_PROPOSALS}"
"""Why something of a draft is left out, for the record and the card."""
FAULTS: Mapping[str, tuple[str, *tuple[Choice, ...]]] = {
    **{reason: (text, ASK_OTHER, TRY_AGAIN, SHOW, GO_ON_WITHOUT) for reason, text in FAILURES.items()},
    "salvaged": (
        "{name}'s answer could not be read as entries. What could be read is kept as unchecked.",
        SHOW,
    ),
    "stopped_looking": ("{name} stopped after {looks}; this rests on what was seen.",),
    "left_out": ("Left out of {name}'s draft: {left_out}.",),
    "unseen": ("There was no room to show {name} all entries. Not seen: {unseen}.",),
    "not_answered": ("{lines}", ASK_OTHER, TRY_AGAIN_TOGETHER, SHOW, GO_ON_WITHOUT),
    "thinking_slowly": ("The personas are thinking, for more than 20 s.", GO_ON_WITHOUT),
    "slow": ("{name} is drafting, for more than 20 s.", STOP_DRAFT, GO_ON_WITHOUT),
    "checking": ("_The draft is being checked._",),
    "checking_slowly": ("The draft is being checked, for more than 20 s.", STOP_DRAFT),
    "unchecked": ("Nobody checked this draft: {values} unchecked.", CHECK_AGAIN),
    "one_mind": ("Drafts are checked by the same model; another one would see more.",),
}


def no_answer(names: Sequence[str], reason: str) -> str:
    """Of a model in a discussion, for the personas with *names*."""
    if reason == PASSED:
        return passed(names)
    return f"{listed(list(names)) or 'The personas'}: {WHY.get(reason, WHY['failed'])}."


def unchecked(count: int) -> str:
    return counted(count, "value is", "values are")


def left_out(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} because {why}" for why, count in counts.items())


def answer(raw: str) -> str:
    return f"```\n{raw.replace('```', '')}\n```"


# --- reviews ---


def against(given: ReviewObjection) -> str:
    quotes = "; ".join(f"“{one_line(one.words, QUOTE_CHARS)}”" for one in given.quotes)
    by = f" ({given.model})" if given.model else ""
    return f"**Against this**: {given.text} {quotes}{by}"


def contradiction(given: Contradiction) -> str:
    because = f": {given.because}" if given.because else ""
    return f"**{given.one}** and **{given.other}** cannot both hold{because}"


def not_relevant(name: str, text: str) -> str:
    """For the transcript."""
    return f"{name} pressed {NOT_RELEVANT.label}: {text}"


def findings(given: DraftReview) -> Iterator[str]:
    if given.objection:
        yield against(given.objection)
    yield from map(contradiction, given.contradictions)
    if given.missing:
        yield step_wording.asks(given.missing)


def reviewed(count: int) -> str:
    """For the transcript."""
    return f"Another model reviewed {counted(count, 'value')} of the draft."
