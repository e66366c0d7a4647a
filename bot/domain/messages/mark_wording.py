"""The form that marks a message, and what is said about marks."""

from collections.abc import Iterator, Sequence

from bot.domain.messages.form import FieldKind, FormField, FormName, FormOption, InputForm, choice_field
from bot.domain.messages.message import Action, CardPart, CardRow, Choice
from bot.domain.roundtable.marks import MessageMark
from bot.domain.values.text import one_line

MARK, WORDS = "mark", "words"
WORDS_CHARS, QUOTE_CHARS = 500, 300
ASKED = "Did we agree on this?"
CHOOSE = "Choose what it is."
LEFT_OUT = "(left out of the record)"

AGREED = Choice(action=Action.AGREED, label="Yes, record it")
NOT_AGREED = Choice(action=Action.NOT_AGREED, label="Not yet")

_KINDS = (
    FormOption(value="decision", label="A decision", about="Everybody is asked whether you agreed on it"),
    FormOption(value="objection", label="An objection", about="It stays open until somebody answers it"),
    FormOption(value="question", label="An open question"),
    FormOption(value="answer", label="An answer to this step", about="You can say which kind next"),
    FormOption(value="out", label="Not for the record", about="Its words are taken out of the record"),
)
_AS = {
    "decision": "a decision",
    "objection": "an objection",
    "question": "an open question",
    "answer": "an answer",
    "out": "not for the record",
}

UNDONE = "Taken back."
SAVED_BEFORE = (
    "Left out. The words were saved before, so they stay in git's history. No entry rests on them any more."
)
ONLY_ITS_WORDS = (
    "Leave this empty: an answer, and what is not for the record, keep the words of their author."
)
NOT_MARKABLE = "That message can't be marked. A person did not write it, or its step is finished."


def form(slug: str, ts: str, *, words: str, author: str) -> InputForm:
    quote = "\n".join(f"> {row}" for row in words.splitlines()) or "> …"
    fields = (
        choice_field(MARK, "What is it?", _KINDS),
        FormField(
            name=WORDS,
            label="In your words",
            kind=FieldKind.LINE,
            placeholder="Leave empty to keep the words above",
            hint="They are kept as yours. An answer and what is not for the record have no other words.",
            most=WORDS_CHARS,
        ),
    )
    return InputForm(
        name=FormName.MARK,
        slug=slug,
        subject=ts,
        title="Mark this message",
        intro=f"{quote}\n– {author}",
        fields=fields,
        submit="Mark",
    )


def parts(marked: Sequence[MessageMark]) -> Iterator[CardPart]:
    """As `shown_marks` gives them. Each decision is a question with two buttons; the others are rows."""
    for one in marked:
        if one.is_open:
            yield CardPart(title=ASKED, prose=asked(one), button=AGREED.but(value=one.id))
            yield CardPart(prose="_Or type `yes` or `not yet`._", button=NOT_AGREED.but(value=one.id))
    if rows := tuple(CardRow(text=row(one)) for one in marked if not one.is_open):
        yield CardPart(title="Marked", rows=rows)


def asked(one: MessageMark) -> str:
    return f"{_quoted(one)}\n_Marked by {one.by}._"


def row(one: MessageMark) -> str:
    if one.kind == "objection" and not one.entry:
        return f"{one.by} objects to {_cited(one)}. {one.by}, why? Write `objection: …`"
    if one.kind == "objection":
        return f"{one.by} objects: “{one_line(one.words, QUOTE_CHARS)}”"
    return f"{_AS[one.kind].capitalize()}: {_quoted(one)} (marked by {one.by})"


def _quoted(one: MessageMark) -> str:
    own = f"“{one_line(one.words, QUOTE_CHARS)}” – {one.by}, on " if one.words else ""
    return f"{own}{_cited(one)}"


def _cited(one: MessageMark) -> str:
    return f"“{one_line(one.quote, QUOTE_CHARS)}” – {one.author}"


def in_whose_words(by: str, author: str, *, own: bool) -> str:
    """Behind a decision that came of a mark."""
    return (
        f"In the words of {by}, on a message of {author}."
        if own
        else (f"In the words of {author}, marked by {by}.")
    )


def marked(by: str, author: str, kind: str, words: str = "") -> str:
    """For the transcript, which has the message itself."""
    if kind == "out":
        return f"{by} left a message of {author} out of the record."
    own = f" In the words of {by}: “{words}”" if words else ""
    return f"{by} marked a message of {author} as {_AS[kind]}.{own}"


def taken_back(by: str, author: str, kind: str) -> str:
    if kind == "out":
        return f"{by} put a message of {author} back into the record."
    return f"{by} no longer marks a message of {author} as {_AS[kind]}."


def told(kind: str) -> str:
    if kind == "decision":
        return "Marked. Everybody can now say whether you agreed on it."
    if kind == "objection":
        return "Marked as your objection. Say why in the thread: `objection: …`"
    return "Left out of the record." if kind == "out" else f"Marked as {_AS[kind]}."


def may_not_leave_out(author: str, starter: str) -> str:
    if author == starter:
        return f"Only {author} can leave that out."
    return f"Only {author}, or {starter} who started this, can leave that out."


def agreed(name: str, words: str) -> str:
    return f"{name} recorded that you agreed on “{one_line(words, QUOTE_CHARS)}”."


def not_agreed(name: str, words: str) -> str:
    return f"{name} said that you have not agreed on “{one_line(words, QUOTE_CHARS)}” yet."


def which_prompt(count: int) -> str:
    return f"{count} things are waiting for a yes. Press the button beside the one that you mean."
