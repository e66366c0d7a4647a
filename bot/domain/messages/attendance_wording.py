"""What the thread is told about answers that are due, and about people who were not heard."""

from collections.abc import Iterable, Sequence

from bot.domain.messages.form import FieldKind, FormField, FormName, InputForm
from bot.domain.messages.message import Action, Card, CardPart, Choice, Message, card_in_words
from bot.domain.values.markdown import escaped
from bot.domain.values.text import listed

DUE = "due"
"""The field of the form."""
NAMED_AT_MOST = 3
"""Buttons of the deadline that name a person."""

NUDGE = Choice(action=Action.NUDGE, label="Ask who has not answered")
NOTHING_TO_ADD = Choice(action=Action.NOTHING_TO_ADD, label="I have nothing to add")
LATER = Choice(action=Action.LATER, label="Ask me tomorrow")
FINISH = Choice(action=Action.FINISH_STEP, label="Finish with what we have")
EXTEND = Choice(action=Action.EXTEND, label="One more day")
UNTIL = Choice(action=Action.UNTIL, label="Another time…")
NO_LIMIT = Choice(action=Action.NO_LIMIT, label="No time limit")
END = Choice(action=Action.END_ELABORATION, label="End the discussion")
WITHOUT = Choice(action=Action.WITHOUT, label="Go on without {name}")

NO_DUE = "No time is set here."
NO_DUE_NOW = "No step and no discussion is open here, so no answers can be due."
NO_SUCH_MOMENT = "Choose a time in the future."
NOBODY_TO_ASK = "Nothing waits for anybody."
ASKED_ALREADY = "I have asked about this step already. I ask only once."
NO_SUCH_TIME = "I can't read that date. Write `due 2026-11-30 17:00`."
NOT_ASKED = "I have not asked you about this step."


def roll_call(names: Sequence[str], people: Sequence[str], question: str, due: str) -> Message:
    """*people* are the ids of those who are called by *names*."""
    when = f"Due {due}. " if due else ""
    return Message(
        text=f"{_named(names)}: one question is left for you.\n**{escaped(question)}**",
        choices=(NOTHING_TO_ADD, LATER),
        note=f"Just reply here. {when}I will not ask again about this step. "
        "Or type `nothing to add`, or `tomorrow`.",
        pings=tuple(people),
    )


def roll_called(asked: Iterable[str], facts: Iterable[str]) -> str:
    """What is left of a roll call."""
    return " · ".join((f"Asked {_named(tuple(asked))}", *facts))


def answered(name: str) -> str:
    return f"{name} answered"


def passed(name: str) -> str:
    return f"{name} has nothing to add"


def later(name: str) -> str:
    return f"{name} wants to answer tomorrow"


def not_waited_for(name: str) -> str:
    return f"{name} does not have to answer"


def deadline(due: str, missing: Sequence[tuple[str, str]], gaps: int, *, discussion: bool = False) -> Message:
    """Of a step, or of its *discussion*. *missing* are ids and names. Nothing of it happens by itself."""
    words = [f"a word from {_named([name for _, name in missing])}"] if missing else []
    if gaps:
        words = [f"{gaps} open {'point' if gaps == 1 else 'points'} of the step", *words]
    lacks = f"\n**Missing:** {', and '.join(words)}." if words else ""
    named = missing[:NAMED_AT_MOST]
    without = tuple(WITHOUT.but(label=WITHOUT.label.format(name=name), value=one) for one, name in named)
    end = "`done`" if discussion else "`finish`"
    typed = ", ".join((end, "`one more day`", *(f"`without {name}`" for _, name in named[:1]), "`no limit`"))
    hint = f"Nothing happens by itself. Or type {typed}, or another time as in `due 2026-11-30 17:00`."
    said = CardPart(prose=f"It is {due}: answers are due.{lacks}")
    card = Card(title="", parts=(said,), more=(UNTIL, NO_LIMIT), foot=(hint,))
    choices = (END if discussion else FINISH, EXTEND, *without)
    return Message(text=card_in_words(card), choices=choices, card=card)


def until_form(slug: str) -> InputForm:
    field = FormField(
        name=DUE,
        label="When are answers due?",
        kind=FieldKind.TIME,
        required=True,
        hint="By your own clock. Nothing happens by itself then: I ask all of you what to do.",
    )
    return InputForm(name=FormName.UNTIL, slug=slug, title="Another time", fields=(field,))


def moved(due: str, name: str, now_due: str) -> str:
    return f"Due {due} · {name} chose another time · now due {now_due}"


def finished(due: str, name: str, *, discussion: bool) -> str:
    return f"Due {due} · {name} {'ended the discussion' if discussion else 'finished the step'}"


def over(due: str, *, discussion: bool) -> str:
    return f"Due {due} · the {'discussion' if discussion else 'step'} is over"


def no_limit(due: str, name: str) -> str:
    return f"Due {due} · {name} removed the time limit"


def extended(due: str, name: str, now_due: str) -> str:
    return f"Due {due} · {name} gave it one more day · now due {now_due}"


def going_on_without(due: str, name: str, missing: str) -> str:
    return f"Due {due} · {name} goes on without {missing}"


def due(when: str) -> str:
    return f"Due {when}."


def due_set(name: str, due: str) -> str:
    return f"{name} asked for answers by {due}."


def nobody_of_that_name(name: str) -> str:
    return f"I am not waiting for {escaped(name)} here."


def _named(names: Sequence[str]) -> str:
    return escaped(listed(tuple(names)))
