"""What an app that is declared an agent says in a direct message, and what it suggests there."""

from bot.domain.messages.form import FieldKind, FormField, FormName, InputForm
from bot.domain.messages.message import Action, Choice
from bot.domain.values.markdown import escaped
from bot.domain.values.text import one_line

TITLE = "What would you like to do?"
PROMPTS = (
    ("What waits for me?", "What waits for me?"),
    ("Catch me up", "Catch me up"),
    ("What did we decide?", "What did we decide?"),
    ("Start a roundtable", "start"),
)
"""What stands on each suggestion, and what it says for the person."""

SESSION_ITEM_CHARS, SESSION_STEP_CHARS = 120, 70
"""Together at most what Slack takes as the title of a session."""

ANSWER = Choice(action=Action.ANSWER_FORM, label="Answer here…")
WAITING = Choice(action=Action.WAITING, label="What waits for me?")
WORDS = "words"
WORDS_CHARS = 3_000
ANSWERED_CHARS = 60

GREETING = (
    "I hold roundtables with your team. Here you can look around, and answer what waits for you without "
    "leaving this window."
)
NO_ROUNDTABLES = "You take part in no roundtable that I can tell you about here."
STEP_IS_OVER = "That step is finished. Say it in the thread."
NO_WORDS = "A few words are needed."
BELONGS_NOWHERE = "I can't tell where that belongs. Say it in the thread of its roundtable."
BELONGS_SOMEWHERE = "I can't tell where that belongs. Say it in the thread, or press **Answer here…**."


def session(title: str, step: str = "") -> str:
    """What the session in a thread is called: `Dark mode: User Needs`."""
    parts = (one_line(title, SESSION_ITEM_CHARS), one_line(step, SESSION_STEP_CHARS))
    return ": ".join(filter(None, parts))


def answer_form(slug: str, subject: str, asked: str) -> InputForm:
    """*subject* is the step, or the recorded question."""
    return InputForm(
        name=FormName.ANSWER,
        slug=slug,
        subject=subject,
        title="Answer",
        intro=asked,
        fields=(
            FormField(
                name=WORDS,
                label="Your answer",
                kind=FieldKind.TEXT,
                required=True,
                most=WORDS_CHARS,
                hint="Everybody in the channel of this roundtable will read it, with your name.",
            ),
        ),
        submit="Answer",
    )


def answer_which(what: str) -> str:
    return f"Answer {one_line(what, ANSWERED_CHARS)}…"


def answered(name: str, text: str, *, question: str = "") -> str:
    """To the open step, or to a recorded *question*."""
    quote = "\n".join(f"> {escaped(row)}" for row in text.splitlines())
    about = f"\n**{escaped(question)}**" if question else ""
    return f"{escaped(name)} answered in a form:{about}\n{quote}"


def asked(title: str, by: str, text: str) -> str:
    """A question as a form shows it."""
    return f"**{escaped(title)}**\n{escaped(f'{by} asks: {text}' if by else text)}"


def question_answered(name: str, id: str, text: str) -> str:
    """For the transcript."""
    return f"{name} answered {id}: {text}"


def question_is_over(id: str) -> str:
    return f"{id} is answered, or does not count any more. Say it in the thread."
