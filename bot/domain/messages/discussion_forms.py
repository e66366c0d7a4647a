"""The forms of a discussion: what was decided, an objection, what becomes of one, and a sealed position."""

from collections.abc import Sequence

from bot.domain.actions.table import SOMETHING_ELSE, UNDECIDED
from bot.domain.discussion.board import DiscussionBoard, owner
from bot.domain.discussion.board import fate as fate_of
from bot.domain.discussion.elaboration import BoardOption, Fate
from bot.domain.discussion.words import OPTION_CHARS
from bot.domain.messages.form import FieldKind, FormField, FormName, FormOption, InputForm, choice_field
from bot.domain.values.text import one_line

CHOICE, WORDS, WHY, REVISIT, FATE = "choice", "words", "why", "revisit", "fate"
SETTLE, BECAUSE = "settle", "because"
POSITION, SURE, CHANGE = "position", "sure", "change"
OTHER = SOMETHING_ELSE
DECIDERS = "deciders"
LABEL_CHARS = 70
TEXT_CHARS = 1_000
"""Of what is kept whole in one line."""
DECIDERS_ASKED = 5
OBJECTIONS_ASKED = 5
FATES = (
    FormOption(value=Fate.OPEN.value, label="It stays open"),
    FormOption(value=Fate.ACCEPTED.value, label="We change something because of it"),
    FormOption(value=Fate.REJECTED.value, label="We turn it down, for the reason above"),
    FormOption(value=Fate.RISK.value, label="We keep it as a risk"),
)
_SURE = (
    FormOption(value="high", label="Very sure"),
    FormOption(value="mid", label="Fairly sure"),
    FormOption(value="low", label="Not sure"),
)


def record(board: DiscussionBoard, *, slug: str, option: str, person: str) -> InputForm:
    """
    *option* is the letter of the one that is chosen at first. Those who are for it are named as who decides, or
    *person*.
    """
    known = board.option(option or UNDECIDED)
    chosen = option if known else OTHER
    deciders = (board.people_for(known) if known else ()) or (person,)
    fields = [
        *([_choice(board.options, CHOICE, "What was decided?", chosen)] if board.options else []),
        FormField(
            name=WORDS,
            label="In your words",
            kind=FieldKind.TEXT,
            required=not board.options,
            most=TEXT_CHARS,
            hint="This is the sentence that is kept. Left empty, it is the option's."
            if board.options
            else "",
        ),
        FormField(name=WHY, label="Why?", kind=FieldKind.TEXT),
        FormField(
            name=DECIDERS,
            label="Who decides?",
            kind=FieldKind.PEOPLE,
            initial=deciders[:DECIDERS_ASKED],
            required=True,
            placeholder="People",
            most=DECIDERS_ASKED,
            hint="People who take part here. Your name stands beside theirs, as who recorded it.",
        ),
    ]
    for one in board.open_objections[:OBJECTIONS_ASKED]:
        label = f"{owner(one)}'s objection: “{one_line(str(one['text']), 200)}”"
        fields.append(choice_field(f"{FATE}{one.id}", label, FATES, initial=Fate.OPEN.value))
    fields.append(FormField(name=REVISIT, label="Look at it again if…", kind=FieldKind.LINE))
    return InputForm(
        name=FormName.RECORD, slug=slug, title="Record a decision", fields=tuple(fields), submit="Record"
    )


def objection(topic: str, *, slug: str) -> InputForm:
    return InputForm(
        name=FormName.OBJECT,
        slug=slug,
        title="Your objection",
        intro=f"**{topic}**",
        fields=(
            FormField(
                name=WORDS,
                label="What is wrong with it?",
                kind=FieldKind.TEXT,
                required=True,
                most=TEXT_CHARS,
                hint="It stays on the card until somebody answers it or you take it back.",
            ),
            FormField(name=SETTLE, label="What would settle it?", kind=FieldKind.LINE, most=TEXT_CHARS),
        ),
        submit="Object",
    )


def fate(board: DiscussionBoard, *, slug: str, subject: str) -> InputForm | None:
    """*subject* is `ID/FATE`; None for an objection that is not open."""
    id, _, became = subject.partition("/")
    one = board.objection(id)
    if one is None or fate_of(one) is not Fate.OPEN:
        return None
    is_risk = became == Fate.RISK
    because = FormField(
        name=BECAUSE,
        label="Look at it again if…" if is_risk else "Why is it turned down?",
        kind=FieldKind.TEXT,
        required=True,
        most=TEXT_CHARS,
    )
    return InputForm(
        name=FormName.OBJECT,
        slug=slug,
        subject=subject,
        title="Keep it as a risk" if is_risk else "Turn it down",
        intro=f"“{one['text']}” – {owner(one)}",
        fields=(because,),
        submit="Keep it" if is_risk else "Turn it down",
    )


def option(topic: str, *, slug: str, subject: str) -> InputForm:
    """With the subject SOMETHING_ELSE its person is for it, and may say why."""
    is_own = subject == SOMETHING_ELSE
    words = FormField(
        name=WORDS,
        label="I would go for" if is_own else "Which option?",
        kind=FieldKind.LINE,
        required=True,
        placeholder="A bucket in each gateway",
        most=OPTION_CHARS,
        hint="" if is_own else "It gets a letter on the card. You take no position with it.",
    )
    why = (FormField(name=WHY, label="Why?", kind=FieldKind.TEXT),) if is_own else ()
    return InputForm(
        name=FormName.OPTION,
        slug=slug,
        subject=subject,
        title="Something else" if is_own else "Name an option",
        intro=f"**{topic}**",
        fields=(words, *why),
        submit="I am for it" if is_own else "Name it",
    )


def sealed(board: DiscussionBoard, *, slug: str) -> InputForm:
    fields: Sequence[FormField] = (
        *((_choice(board.options, POSITION, "I would go for", ""),) if board.options else ()),
        FormField(
            name=WORDS,
            label="Or in your words" if board.options else "I would go for",
            kind=FieldKind.LINE,
            required=not board.options,
            most=OPTION_CHARS,
        ),
        FormField(name=WHY, label="Why?", kind=FieldKind.TEXT),
        choice_field(SURE, "How sure are you?", _SURE, initial="mid"),
        FormField(name=CHANGE, label="What would change your mind?", kind=FieldKind.LINE),
    )
    return InputForm(
        name=FormName.SEALED,
        slug=slug,
        title="Your position",
        intro=f"**{board.debate.topic}**\nNobody sees this until all of you have answered, or somebody shows them.",
        fields=tuple(fields),
        submit="Seal it",
    )


def _choice(named: Sequence[BoardOption], name: str, label: str, initial: str) -> FormField:
    options = (
        *(
            FormOption(value=one.letter, label=one_line(f"{one.letter}  {one.text}", LABEL_CHARS))
            for one in named[:9]
        ),
        FormOption(value=OTHER, label="Something else", about="Write it below"),
    )
    return choice_field(name, label, options, initial=initial)
