"""What the one question at the bottom of the thread says, and what is left of it once it is over."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.domain.discussion.board import Agreement, DiscussionBoard
from bot.domain.messages import discussion_card, mark_wording, step_card
from bot.domain.messages.agent_wording import ANSWER
from bot.domain.messages.attribution_wording import decided_by
from bot.domain.messages.form import FieldKind, FormField, FormName, FormOption, InputForm, choice_field
from bot.domain.messages.message import (
    ITEM,
    Action,
    Card,
    CardPart,
    Choice,
    Emphasis,
    Link,
    Message,
)
from bot.domain.specification.claims import Entry
from bot.domain.values.text import listed, one_line, paragraphs

LABEL_CHARS = 75
TEXT_CHARS = 300
NAMED, REQUIREMENTS, OBJECTIONS, DECISIONS = (
    "Named while you talked",
    "Requirements",
    "Open objections",
    "Other decisions",
)
CHANGE = Choice(action=Action.CHANGES, label="Which of these does it change?")
"""For one of the entries in the list, with its words."""
NONE = Choice(action=Action.CHANGES_NONE, label="None of them")
AMEND = step_card.AMEND.but(label="Write it anew…", emphasis=Emphasis.PRIMARY)
SEE_THE_CARD = "See the card"
WAITS = "This waits for one of you:"
MOST_ANSWERED = 3
"""Questions with a button."""


def agreed(agreement: Agreement, board: DiscussionBoard, permalink: str) -> Message:
    """Buttons and words are those of the card."""
    value = f"{agreement.option.letter}/{board.moves}"
    text = f"**{listed(agreement.names)} are all for {agreement.option.letter}**: {agreement.option.text}"
    choices = (
        discussion_card.AGREED.but(label="Record it", value=value),
        mark_wording.NOT_AGREED.but(value=value),
    )
    links = (Link(label=SEE_THE_CARD, url=permalink),) if permalink else ()
    asked = f"{text}\nRecord it as a decision? Or type `yes`, `not yet`."
    return Message(text=asked, choices=choices, links=links)


def changes(entry: Entry, listed_entries: Mapping[str, Sequence[Entry]]) -> Message:
    """*listed_entries* are what it may change, by their headings."""
    title = recorded(entry)
    options = tuple(
        CHANGE.but(
            label=one_line(_option(one, heading), LABEL_CHARS),
            value=f"{entry.id}/{one.id}",
            group=heading,
        )
        for heading, entries in listed_entries.items()
        for one in entries
    )
    asked = CHANGE.label
    part = CardPart(prose=asked)
    hint = f"Or type `none of them`, or `{entry.id} changes: {options[0].value.partition('/')[2]}`"
    rows = "\n".join(f"- {one.label}" for one in options)
    return Message(
        text=paragraphs(title, asked, rows, hint),
        choices=(NONE.but(value=entry.id), *options),
        token=ITEM,
        card=Card(title=title, parts=(part,), foot=(hint,)),
    )


def contradicted(entry: Entry, words: str, by: str) -> Message:
    text = (
        f"**{entry.id}** says “{one_line(words, TEXT_CHARS)}”. **{by}** changes that. "
        "Until one of you settles it, every file says so."
    )
    choices = (AMEND, step_card.HOLDS, step_card.WITHDRAW)
    return Message(
        text=text,
        choices=tuple(one.but(value=entry.id) for one in choices),
        token=ITEM,
        note=f"Or type `{entry.id}: new words`, `keep {entry.id}` or `withdraw {entry.id}`",
    )


class NamedWait(NamedTuple):
    """What waits for a person, in *words*; *entry* is the question, or the objection."""

    person: str
    name: str
    words: str
    entry: str
    is_question: bool


def waiting(slug: str, waits: Sequence[NamedWait]) -> Message:
    rows = "\n".join(f"- **{one.name}**: {one.words}" for one in waits)
    questions = [one for one in waits if one.is_question][:MOST_ANSWERED]
    choices = tuple(
        ANSWER.but(
            label="Answer…" if len(questions) == 1 else f"Answer {one.entry}…", value=f"{slug}/{one.entry}"
        )
        for one in questions
    )
    others = (AMEND.but(label="Ask somebody else…", value=questions[0].entry),)
    typed = (
        f"Or type `{questions[0].entry} answer: …`, or `{questions[0].entry} owner: …`" if questions else ""
    )
    return Message(
        text=f"{WAITS}\n{rows}",
        choices=(*choices, *(others if len(questions) == 1 else ())),
        token=ITEM,
        note=typed,
        pings=tuple(dict.fromkeys(one.person for one in waits)),
    )


def asked_by_name(entries: Sequence[str]) -> str:
    return f"You were asked about {listed(list(entries))}."


def recorded(entry: Entry) -> str:
    """Of a decision, or of an objection that is settled by a change."""
    words = one_line(str(entry["text"]), TEXT_CHARS)
    if entry.kind == "objection":
        return f"{entry.id} is settled by a change: {words}"
    return f"{entry.id} is recorded: {words} ({decided_by(entry)})"


def gone(id: str) -> str:
    return f"{id} does not count any more."


def changed(id: str, *, changed: Sequence[str], replaced: Sequence[str], settled: Sequence[str]) -> str:
    """For the transcript: `DEC-002 changes AC-002-02, and replaces DEC-001.`"""
    did = {"changes": changed, "replaces": replaced, "settles": settled}
    told = [f"{verb} {listed(list(ids))}" for verb, ids in did.items() if ids]
    return f"{id} {', and '.join(told)}"


def changes_nothing(id: str) -> str:
    return f"{id} changes nothing that is written"


WHICH, HOW, NEW, BECAUSE = "which", "how", "new", "because"
REPLACE, WITHDRAW = "replace", "withdraw"
DECISION_CHARS = 1_000
NO_DECISION = "Nothing is decided here yet. Write `decision: …`."
NO_NEW_WORDS = "Write the new decision."
NOT_BOTH = "Choose that another decision replaces it, or leave this empty."


def reversal(decisions: Sequence[Entry], *, slug: str, which: str = "") -> InputForm:
    """The newest first; *which* is chosen already."""
    options = tuple(
        FormOption(value=one.id, label=one_line(f"{one.id} {one['text']}", LABEL_CHARS))
        for one in reversed(decisions)
    )
    first = which if which in {one.value for one in options} else options[0].value
    ways = (
        FormOption(value=REPLACE, label="Another decision replaces it"),
        FormOption(value=WITHDRAW, label="It is withdrawn"),
    )
    return InputForm(
        name=FormName.REVERSE,
        slug=slug,
        title="Change a decision",
        fields=(
            choice_field(WHICH, "Which decision?", options, initial=first),
            choice_field(HOW, "What becomes of it?", ways, initial=REPLACE),
            FormField(name=NEW, label="The new decision", kind=FieldKind.TEXT, most=DECISION_CHARS),
            FormField(
                name=BECAUSE,
                label="Because",
                kind=FieldKind.TEXT,
                most=DECISION_CHARS,
                hint="What rests on it is marked until one of you settles it.",
            ),
        ),
        submit="Change it",
    )


AGREEMENT_OVER = "This was asked, and positions or answers have changed since."
SETTLED_BY = "settled by {id}"


def _option(entry: Entry, heading: str) -> str:
    words = str(entry["title"] or entry["text"] or entry["name"] or "")
    if entry.kind == "objection":
        claim = entry.claim("text")
        return f"{entry.id} ({claim.owner.name if claim else ''}) is settled by it: {words}"
    return f"{entry.id} is replaced by it: {words}" if heading == DECISIONS else f"{entry.id} {words}"
