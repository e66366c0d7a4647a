"""What the card says about a draft and its review: what is wrong, and what to do."""

from collections.abc import Iterator, Mapping

from bot.domain.messages.message import Action, Choice
from bot.domain.roundtable.outcomes import Contradiction, MissingView, Reviewed, ReviewObjection
from bot.domain.values.text import counted, one_line

CHECK_AGAIN = Choice(action=Action.CHECK_AGAIN, label="Check again")
NOT_RELEVANT = Choice(action=Action.NOT_RELEVANT, label="Not relevant")
ANSWER = Choice(action=Action.ANSWER_FORM, label="Answer")
ASK_OTHER = Choice(action=Action.ASK_OTHER, label="Ask another model")
SHOW = Choice(action=Action.SHOW_ANSWER, label="Show")
STOP_DRAFT = Choice(action=Action.STOP_DRAFT, label="Stop")
"""The call of the model, and nothing else."""

CHECKING = "_The draft is being checked._"
CHECKING_LONG = "The draft is being checked, for more than 20 s."
ONE_MIND = "Drafts are checked by the same model; another one would see more."
NO_REVIEW_NOW = "No model can check the draft now."
NO_DRAFT_WANTED = "A model has read everything that was said here."
NO_ANSWER_KEPT = "The answer is not kept any more."
IS_HIDDEN = "This objection is hidden already."
UNUSABLE = "{}'s answer could not be read as entries."
NO_DRAFT: Mapping[str, str] = {
    "refused": "The model refused this step, so {} has no draft.",
    "empty": "{} has no draft: the model said nothing.",
    "cut_off": "{} has no draft: the answer of the model was too long.",
    "unstructured": UNUSABLE,
}
"""By the reason of the failure."""
OTHERWISE = "{} has no draft: the model gave no answer that could be used."
QUOTE_CHARS = 160


def no_draft(name: str, reason: str) -> str:
    return NO_DRAFT.get(reason, OTHERWISE).format(name)


def salvaged(name: str) -> str:
    return f"{UNUSABLE.format(name)} What could be read is kept as unchecked."


def stopped_looking(name: str, looks: int) -> str:
    return f"{name} stopped after {counted(looks, 'look')}; this rests on what was seen."


def is_drafting(name: str) -> str:
    return f"{name} is drafting, for more than 20 s."


def nobody_checked(count: int) -> str:
    are = "value is" if count == 1 else "values are"
    return f"Nobody checked this draft: {count} {are} unchecked."


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


def not_heard(given: MissingView) -> str:
    return f"{given.person}: {given.ask}" if given.person else given.ask


def not_relevant(name: str, text: str) -> str:
    """For the transcript."""
    return f"{name} pressed {NOT_RELEVANT.label}: {text}"


def findings(given: Reviewed) -> Iterator[str]:
    if given.objection:
        yield against(given.objection)
    yield from map(contradiction, given.contradictions)
    if given.missing:
        yield not_heard(given.missing)


def reviewed(count: int) -> str:
    """For the transcript."""
    return f"Another model reviewed {counted(count, 'value')} of the draft."
