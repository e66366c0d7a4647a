"""
A form: what a person is asked in a window of its own, and what came back.

`bot/slack/modals.py` makes a view of it. Values are text as people see and type it; `specification/entry_forms.py`
fills in entries and reads them back.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Message
from bot.domain.values.places import Person, Place
from bot.domain.values.text import listed
from bot.domain.values.value import Value


class FormName(StrEnum):
    """The names are public: Slack sees them as `roundtable.<value>_form`."""

    AMEND = "amend"
    """One entry. The subject is its id."""
    AMEND_SECTION = "amend_section"
    """Which entry of a step, and its notes. The subject is the step."""
    SORT = "sort"
    """What the notes of a step are. The subject is the step."""
    SETTINGS = "settings"
    MARK = "mark"
    """What a message is. The subject is its timestamp."""
    START = "start"
    """Of a new roundtable, so there is no item yet. The subject is `CHANNEL/THREAD`, if one is taken over."""
    RECORD = "record"
    """A decision of the open discussion."""
    OBJECT = "object"
    """An objection, or with the subject `NUMBER/FATE` what becomes of one."""
    SEALED = "sealed"
    ANSWER = "answer"
    """From a direct message. The subject is the open step, or a recorded question."""
    UNTIL = "until"
    """When answers are due."""
    OPTION = "option"
    """An option of the open discussion. With the subject SOMETHING_ELSE its person is for it."""
    REVERSE = "reverse"
    """Another decision replaces one, or it is withdrawn."""
    ISSUES = "issues"
    """Pieces of work become issues of a tracker."""


DISCUSSING = frozenset({FormName.RECORD, FormName.OBJECT, FormName.SEALED, FormName.OPTION})


class FieldKind(StrEnum):
    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"
    REFS = "refs"
    """Any number of the options."""
    LIST = "list"
    """One item on each line."""
    CHECKS = "checks"
    """Any number of the options, all of them in view."""
    PEOPLE = "people"
    CHANNEL = "channel"
    TIME = "time"
    """A moment, in the person's own clock where it is chosen."""


FieldValue = str | tuple[str, ...]
"""A tuple for REFS, CHECKS and PEOPLE; of these, the ids of people."""


class FormOption(Value):
    value: str
    label: str
    about: str = ""


class OptionGroup(Value):
    label: str
    options: tuple[FormOption, ...]


class FormField(Value):
    """
    `options` or `groups` are for CHOICE, REFS and CHECKS. `revision` is that of the value it shows. `most` limits the
    characters of a text, or how many people may be chosen; 0 is as many as Slack takes.
    """

    name: str
    label: str
    kind: FieldKind
    initial: FieldValue = ""
    options: tuple[FormOption, ...] = ()
    groups: tuple[OptionGroup, ...] = ()
    required: bool = False
    hint: str = ""
    placeholder: str = ""
    most: int = 0
    revision: int = 0


def choice_field(
    name: str, label: str, options: Sequence[FormOption], *, initial: str = "", hint: str = ""
) -> FormField:
    """One of the *options* has to be chosen."""
    return FormField(
        name=name,
        label=label,
        kind=FieldKind.CHOICE,
        initial=initial,
        options=tuple(options),
        required=True,
        hint=hint,
    )


class InputForm(Value):
    """`slug` is the item. `intro` is Markdown."""

    name: FormName
    slug: str
    subject: str = ""
    title: str
    intro: str = ""
    fields: tuple[FormField, ...]
    submit: str = "Save"
    close: str = "Cancel"
    revision: int = 0


class Submission(Value):
    """What a person entered: `values` and `revisions` by the names of the fields."""

    key: str
    at: str
    person: Person
    name: FormName
    slug: str
    subject: str = ""
    values: Mapping[str, FieldValue] = {}
    revisions: Mapping[str, int] = {}

    @property
    def sent(self) -> dict[str, Any]:
        """What each input says that comes of it. One view is submitted several times where a form follows another."""
        return {"key": f"{self.key}.{self.name.value}", "at": self.at, "person": self.person}

    def text(self, field: str) -> str:
        value = self.values.get(field, "")
        return value if isinstance(value, str) else ""


class SubmissionResult(Value):
    """
    `errors`: a sentence for each field that does not fit. `form` is shown in place of the one that was submitted.
    `told` is for the person alone, at `place`.
    """

    errors: Mapping[str, str] = {}
    form: InputForm | None = None
    told: Message | None = None
    place: Place | None = None


# --- settings -------------------------------------------------------------------------------------------------------

DEPTH, VOICES = "depth", "voices"
SPEAK, QUIET = "speak", "quiet"
DEPTHS = (
    FormOption(value=Depth.BRIEF.value, label="Brief", about="One card for each phase"),
    FormOption(value=Depth.STANDARD.value, label="Standard", about="About three questions a step"),
    FormOption(value=Depth.DEEP.value, label="Deep", about="Up to six questions a step"),
)
_VOICES = (
    FormOption(value=SPEAK, label="Talk and suggest"),
    FormOption(value=QUIET, label="Say nothing", about="Everything is still recorded"),
)


def depth_field(depth: Depth, *, hint: str = "") -> FormField:
    return choice_field(DEPTH, "How much should they ask?", DEPTHS, initial=depth.value, hint=hint)


def settings(slug: str, *, depth: Depth | None, muted: bool) -> InputForm:
    """*depth* is None where it cannot be changed."""
    voices = choice_field(VOICES, "What may the personas do?", _VOICES, initial=QUIET if muted else SPEAK)
    fields = (depth_field(depth), voices) if depth else (voices,)
    return InputForm(name=FormName.SETTINGS, slug=slug, title="Settings", fields=fields)


# --- sentences ------------------------------------------------------------------------------------------------------

NOTHING_TO_AMEND = "Nothing is recorded for this step yet. Say it in the thread."
NOTHING_TO_SORT = "There is nothing to sort. Every note of this step has its place."

TYPED: Mapping[FormName, str] = {
    FormName.AMEND: "Press again, or write `{id}: new words`.",
    FormName.AMEND_SECTION: "Press again, or write the id and the new words, as in `FR-003: new words`.",
    FormName.SORT: "Press again, or say it once more with its label, as in `risk: …`.",
    FormName.SETTINGS: "Press again, or write `depth deep` or `mute`.",
    FormName.MARK: "Try again, or say it in the thread: `decision: …`, `objection: …` or `open question: …`.",
    FormName.START: "Try again, or write `/roundtable start` and a title.",
    FormName.RECORD: "Press again, or write `decision: …`.",
    FormName.OBJECT: "Press again, or write `objection: …`.",
    FormName.SEALED: "Press again, or write `/roundtable position A` in the channel.",
    FormName.ANSWER: "Press again, or write it in the thread.",
    FormName.OPTION: "Press again, or write `option: …`.",
    FormName.REVERSE: "Press again, or write `DEC-001: new words` or `DEC-001: withdrawn`.",
    FormName.ISSUES: "Press again. Each issue has its preview there, so there is no other way.",
    FormName.UNTIL: "Press again, or write the time, as in `due 2026-11-30 17:00`.",
}
"""What does the same without the form."""


def too_late(form: InputForm) -> str:
    return f"Slack gave me no time to open the form. {TYPED[form.name].format(id=form.subject)}"


def settings_button(title: str) -> str:
    return f"The settings of **{title}**:"


def overtaken(name: str) -> str:
    return f"{name} changed this while you were writing."


def withdrawn_meanwhile(id: str, *, by: str, is_kept: bool) -> str:
    happened = f"{by} withdrew {id}." if by else f"{id} was withdrawn."
    return f"{happened} Yours is kept as a note: see “Not sorted yet”." if is_kept else happened


def no_such_entry(id: str) -> str:
    return f"There is no {id} any more."


def changed(
    name: str,
    *,
    altered: Iterable[str] = (),
    added: Iterable[str] = (),
    withdrawn: Iterable[str] = (),
    confirmed: Iterable[str] = (),
) -> str:
    """For the transcript: "Ada changed FR-003, and added AC-003-01."."""
    did = {"changed": altered, "accepted": confirmed, "added": added, "withdrew": withdrawn}
    unique = {verb: list(dict.fromkeys(ids)) for verb, ids in did.items()}
    told = [f"{verb} {listed(ids)}" for verb, ids in unique.items() if ids]
    return f"{name} {', and '.join(told)}."
