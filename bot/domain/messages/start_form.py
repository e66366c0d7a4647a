"""The form that starts a roundtable: what it asks, and what a submission of it means."""

import re
from collections.abc import Iterable, Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.steps import Depth
from bot.domain.item.item import Item, item_from
from bot.domain.messages import menus
from bot.domain.messages.form import (
    DEPTH,
    FieldKind,
    FormField,
    FormName,
    FormOption,
    InputForm,
    Submission,
    depth_field,
)
from bot.domain.messages.message import Message
from bot.domain.roundtable.inputs import Start
from bot.domain.values.places import ChannelKind, Place
from bot.domain.values.text import one_line

TITLE, SOURCE, NOTES, CHANNEL = "title", "source", "notes", "channel"
PEOPLE, CAST, UNTIL = "people", "cast", "until"
TITLE_CHARS, SOURCE_CHARS, NOTES_CHARS, MOST_PEOPLE, ABOUT_CHARS = 120, 500, 3000, 20, 75

NO_TITLE = "A few words, such as: Offline sync."
OTHER_CHANNEL = "That thread is in another channel. Choose its channel here, or leave the link out."
PAST = "That time is over. Choose a later one, or none."
NO_CHANNEL = "Choose the channel in which it is held."
NO_PERSONA = "At least one of them has to lead."
FORM_OFFERED = (
    "What is it about? Press the button, or give a title, for example `@roundtable start Dark mode`."
)

_THREAD = re.compile(
    r"https?://[^\s/]+/archives/(?P<channel>[CG][A-Z0-9]+)/p(?P<seconds>[0-9]{10})(?P<micros>[0-9]{6})(?P<query>\?\S*)?"
)
_ROOT = re.compile(r"[?&]thread_ts=([0-9]{10}\.[0-9]{6})(?:&|$)")
_TICKET = re.compile(r"(?=\S+\Z)https?://\S+/browse/([A-Z][A-Z0-9]*-[0-9]+)(?:[/?#]\S*)?")

_ABOUT = (
    FormField(
        name=TITLE,
        label="What is it about?",
        kind=FieldKind.LINE,
        required=True,
        placeholder="Offline sync",
        hint="A few words. They name the folder, too.",
        most=TITLE_CHARS,
    ),
    FormField(
        name=SOURCE,
        label="Where does it come from?",
        kind=FieldKind.LINE,
        placeholder="#42, PROJ-12, a link or a path",
        most=SOURCE_CHARS,
    ),
    FormField(
        name=NOTES,
        label="What do you know already?",
        kind=FieldKind.TEXT,
        placeholder="Paste notes, numbers, what was tried",
        most=NOTES_CHARS,
    ),
)


def source_of(text: str) -> Item:
    """`#42`, `PROJ-12`, the address of an issue or a ticket, or a path in the workspace."""
    found = _TICKET.fullmatch(text.strip())
    return item_from(found[1] if found else text.strip())


def thread_of(text: str) -> tuple[str, str]:
    """The channel and the timestamp of the thread in Slack whose address *text* is; empty for another text."""
    found = _THREAD.fullmatch(text.strip())
    if found is None:
        return "", ""
    root = _ROOT.search(found["query"] or "")
    return found["channel"], root[1] if root else f"{found['seconds']}.{found['micros']}"


def button(thread: str = "") -> Message:
    """For typed words, which open no form. *thread* is the one that the roundtable takes over."""
    return Message(text=FORM_OFFERED, choices=(menus.START_FORM.but(value=thread),))


def start_form(playbook: Playbook, *, channel: str = "", thread: str = "") -> InputForm:
    """*channel* is chosen at first, and a *thread* of it is taken over. *playbook* is as the channel has it."""
    return InputForm(
        name=FormName.START,
        slug="",
        subject=f"{channel}/{thread}" if channel and thread else "",
        title="Start a roundtable",
        fields=(
            *_ABOUT,
            *_who(playbook, channel),
            FormField(name=UNTIL, label="When are answers due?", kind=FieldKind.TIME),
        ),
        submit="Start",
    )


def _who(playbook: Playbook, channel: str) -> tuple[FormField, ...]:
    personas = tuple(playbook.roster)
    given = [key for key in playbook.policy.cast if key in playbook.roster]
    return (
        FormField(
            name=CHANNEL,
            label="Where?",
            kind=FieldKind.CHANNEL,
            initial=channel,
            required=True,
            placeholder="Choose a channel",
            hint="Its members can read along and take part.",
        ),
        FormField(
            name=PEOPLE,
            label="Who should take part?",
            kind=FieldKind.PEOPLE,
            placeholder="Choose people",
            hint="Others may join in. These are asked when they are missing.",
            most=MOST_PEOPLE,
        ),
        FormField(
            name=CAST,
            label="Who leads?",
            kind=FieldKind.CHECKS,
            required=True,
            options=tuple(_persona(one) for one in personas),
            initial=tuple(given or [one.key for one in personas]),
            hint="The first one leads for those who do not take part.",
        ),
        depth_field(
            playbook.policy.depth or playbook.usual_depth,
            hint="With Standard, the first phase may propose another depth.",
        ),
    )


def _persona(persona: Persona) -> FormOption:
    lens = one_line(persona.lens)
    about = persona.role if lens == persona.role.lower() else f"{persona.role}: {lens}"
    return FormOption(value=persona.key, label=persona.name, about=one_line(about, ABOUT_CHARS))


def mistakes(submission: Submission) -> Mapping[str, str]:
    """A sentence for each field that does not fit."""
    (linked, _), channel = thread_of(submission.text(SOURCE)), submission.text(CHANNEL)
    until = submission.text(UNTIL)
    found = {
        TITLE: "" if submission.text(TITLE).strip() else NO_TITLE,
        CHANNEL: "" if channel else NO_CHANNEL,
        SOURCE: OTHER_CHANNEL if linked not in {"", channel} else "",
        CAST: "" if _chosen(submission, CAST) else NO_PERSONA,
        UNTIL: PAST if until and until <= submission.at else "",
    }
    return {field: sentence for field, sentence in found.items() if sentence}


def started(
    submission: Submission, playbook: Playbook, *, team: str, room: ChannelKind = ChannelKind.UNKNOWN
) -> Start:
    """
    What a submission without mistakes asks for. What is chosen as the channel has it anyway is no choice: a cast of
    all personas, and the usual depth.
    """
    channel, source = submission.text(CHANNEL), source_of(submission.text(SOURCE))
    asked_in, _, thread = submission.subject.partition("/")
    _, linked = thread_of(submission.text(SOURCE))
    everyone = tuple(persona.key for persona in playbook.roster)
    chosen = _chosen(submission, CAST)
    cast = tuple(key for key in everyone if key in chosen)
    depth = next((one for one in Depth if one == submission.text(DEPTH)), None)
    usual = playbook.policy.depth or playbook.usual_depth
    return Start(
        key=submission.key,
        at=submission.at,
        item=item_from(submission.text(TITLE)).but(
            source=source.source, source_id=source.source_id, reference=source.reference
        ),
        place=Place(team=team, channel=channel, thread=linked or (thread if asked_in == channel else "")),
        person=submission.person,
        room=room,
        brief=_brief(submission, is_known=bool(linked or source.source_id or source.reference)),
        participants=tuple(dict.fromkeys(_chosen(submission, PEOPLE))),
        due=submission.text(UNTIL) or None,
        personas=() if cast == everyone and not playbook.policy.cast else cast,
        depth=None if depth is usual else depth,
    )


def _brief(submission: Submission, *, is_known: bool) -> str:
    """What the person knows already. A source that is no issue and no thread is kept as they wrote it."""
    notes, link = submission.text(NOTES).strip(), submission.text(SOURCE).strip()
    said = [notes, f"Source: {link}" if link and not is_known else ""]
    return "\n\n".join(filter(None, said))


def _chosen(submission: Submission, field: str) -> Iterable[str]:
    value = submission.values.get(field, ())
    return () if isinstance(value, str) else value
