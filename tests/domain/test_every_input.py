"""
An accepted input leaves a line: whatever a person submits stands in the transcript, or is refused in a sentence.

Inputs, presses and forms are taken from their own definitions, so that a new one is covered without a change here. One
that does not come about in any scene fails, until a scene has it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.budget import Budget
from bot.domain.catalog.schema import NOTE
from bot.domain.catalog.steps import Depth
from bot.domain.discussion.elaboration import Fate, SealedPosition
from bot.domain.messages import discussion_forms, mark_wording, start_form
from bot.domain.messages import form as form_wording
from bot.domain.messages.form import FieldKind, FieldValue, FormField, FormName, InputForm, Submission
from bot.domain.messages.message import Action, Choice
from bot.domain.roundtable import inputs as all_inputs
from bot.domain.roundtable.inputs import Command, MarkMessage, OfPrograms, Press, Specify, Start
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import amending, answering, marking
from bot.domain.specification import entry_forms
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import Line
from bot.domain.values.timestamps import in_words
from bot.errors import UserError
from tests.domain import test_attending, test_budget, test_drafts, test_issues
from tests.domain.books import few_steps, thinking
from tests.domain.table import HERE, NAMES, Contribution, Table, person, played_once, shipped
from tests.meetings.test_disagreement import disputing

TRIED = pytest.mark.parametrize("examples", [20, pytest.param(400, marks=pytest.mark.thorough)])
"""So many examples of each."""
PEOPLE = ("ada", "grace", "linus")
LATER = "2026-01-01T20:00:00.000Z"
WORDS = st.text(
    alphabet=st.characters(categories=("L", "N", "P", "S"), include_characters=" \n"), min_size=1, max_size=60
).map(lambda text: f"words {text} 42")
"""No command, and no empty field. Where a field has a limit, `limited` also goes to it."""

# --- what is no word of a person -----------------------------------------------------------------------------------

SHOWS_ONLY: Mapping[type[BaseModel] | str, str] = {
    all_inputs.Export: "it puts files into the thread, and changes nothing",
    all_inputs.IssueChanged: "the issue is read at once; how it stands is shown, and is in no line",
    Action.NUDGE: "it posts a question to those who are missing, which is a line of the host",
}
"""Accepted, with no line of their own."""
CONTEXT = {
    "key": "names the input",
    "at": "is the time of its line",
    "person": "is the `person` of its line",
    "ts": "names a message that has a line itself",
    "place": "is where it was said",
    "room": "is what Slack says about the place",
    "reply_url": "is where Slack takes an answer",
    "private": "is what Slack says about the channel",
    "under_us": "is what Slack says about the thread",
    "files": "are kept by their names, in the line of the message",
    "revisions": "are what the form had shown",
    "step_id": "is where the line belongs",
    "issue": "names an issue that a line names",
    "action": "of a press is tried below, in each scene",
    "token": "names a menu",
    "value": "of a press is what the button carried",
    "kind": "names the input",
    "item": "has its title in the first line",
    "number": "names an objection",
    "option": "is a letter: the form of it looks for what it stands for",
    "entry": "names a question",
}
"""Fields that nobody fills in. Every other one is submitted."""

# --- scenes --------------------------------------------------------------------------------------------------------


def step_open() -> Table:
    table = Table(few_steps()).start("Offline sync", participants=PEOPLE)
    table.say("We need it for field work.", who="grace").say("risk: tunnels", who="linus")
    return table.say("open question: can billing see it?").say("requirement: it syncs in 5 s", who="grace")


def specified() -> Table:
    """With an entry of each kind, and a note."""
    table = Table().start().say("We need it for field work in 3 tunnels.", who="grace")
    kinds = [one for one in table.playbook.schema.kinds.values() if not one.part_of and one.key != NOTE]
    ids = (table.rt.specification.next_id(one) for one in kinds)
    patches = tuple(
        Patch(id=id, kind=one.key, new=True, set={one.text: "it syncs"})
        for id, one in zip(ids, kinds, strict=True)
    )
    return table.does(Specify, who="grace", patches=patches)


def asked_by_agent() -> Table:
    asked = {"agent": "coder", "owner": "ada", "text": "Which limit?", "options": ("5 s", "9 s")}
    return step_open().hear(all_inputs.AgentAsked(key="agent.1", at=LATER, **asked))


def untouched() -> Table:
    return Table(few_steps()).start(participants=PEOPLE, due="2026-01-01T10:00:00.000Z")


def marked() -> Table:
    table = Table().start("Offline sync", participants=PEOPLE)
    for number, kind in enumerate((MarkKind.DECISION, MarkKind.OBJECTION)):
        ts = table.ts()
        table.say(f"Keep the last edit of {number} phones.", who="grace", ts=ts)
        table.does(MarkMessage, ts=ts, mark=kind)
    return table


def unread() -> Table:
    """A model refused, and another one may be asked."""
    return test_drafts.failed("refused", raw="I will not.")


def suggested() -> Table:
    """A model has looked, and suggests an entry."""
    return test_drafts.drafted()


def at_menu() -> Table:
    return Table().start().do_step().say("brb", who="grace").say("Photos of 12 meters, too.")


def discussing() -> Table:
    table = Table(few_steps()).start("Offline sync", participants=PEOPLE).do_step()
    table.world.more = {"by_rule": True}
    table.press(Action.ELABORATE).say("option: a queue").say("option: a file", who="grace")
    table.say("for A").say("for A", who="grace").say("objection: the phone gets lost", who="grace")
    return table.say("decision: we keep photos")


def nothing_new() -> Table:
    """The personas have nothing to add, and people can be asked."""
    table = Table(few_steps()).start("Offline sync", participants=PEOPLE).elaborate()
    table.world.speech = lambda *_: Contribution("", passed=True)
    return table.press(Action.GO_ON)


def sealing() -> Table:
    table = discussing().say("Hm.", who="linus")
    position = SealedPosition(option="A", why="it is simple")
    return table.does(all_inputs.SealPosition, position=position)


def limit_reached() -> Table:
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 4}).elaborate()
    return table.say("That was all from me.")


def paused() -> Table:
    return step_open().stop()


def meta_broken() -> Table:
    table = Table(few_steps()).start().do_step().break_meta()
    return table.forget()


def analysed() -> Table:
    table = Table(few_steps()).start().through("02-01").press_continue()
    table.world.commits_behind = 3
    return table.resume()


def left_out() -> Table:
    return Table(few_steps()).start().do_step().press_continue().press(Action.SKIP)


def step_missing() -> Table:
    """The file of the open step has gone."""
    table = Table(few_steps()).start()
    table.playbook = few_steps(without="00-01")
    return table.say("Edits get lost.")


def card_saved() -> Table:
    """Of the short path, in the second phase."""
    return Table().start(depth=None).press(Action.NEXT).say("Edits get lost.").press(Action.FINISH_STEP)


def deep() -> Table:
    return step_open().say("deep")


def to_be_confirmed() -> Table:
    """The message that a decision quotes is left out of the record."""
    table = marked()
    (ts,) = (one.ts for one in table.rt.marks if one.kind is MarkKind.DECISION)
    table.press(Action.AGREED, value=table.rt.marks[0].id)
    return table.does(MarkMessage, who="grace", ts=ts, mark=MarkKind.OUT)


def roll_call() -> Table:
    return test_attending.held().say("Edits get lost.").say("nudge")


def without_budget() -> Table:
    return test_budget.answered(test_budget.table(Budget(tokens=550)), 8)


def planning_open() -> Table:
    return Table(few_steps()).start().plan().say("Test Planner: go")


def planned() -> Table:
    return planning_open().press(Action.FINISH_STEP)


def with_tracker() -> Table:
    """Analysed, with work that can become issues."""
    return test_issues.analysed()


def begun_with_an_issue() -> Table:
    table = test_issues.begun()
    table.world.began_with = test_issues.as_issue("We fall over.", "2026-11-24T09:30:00Z")
    return table


def not_written() -> Table:
    return Table(few_steps()).start().do_step().fail("speak", times=3).press(Action.ELABORATE)


def personas_discuss() -> Table:
    table = Table(thinking(few_steps())).start().elaborate()
    return table.say("Tunnels are long.")


SCENES: Mapping[str, Callable[[], Table]] = {
    one.__name__: one
    for one in (
        step_open, specified, asked_by_agent, untouched, marked, unread, suggested, test_drafts.objected_to, deep,
        to_be_confirmed, at_menu, discussing, personas_discuss, disputing, nothing_new, sealing, limit_reached, paused,
        meta_broken, analysed, left_out, step_missing, card_saved, roll_call, test_attending.overdue, without_budget,
        planning_open, not_written, planned, with_tracker, begun_with_an_issue,
    )
}  # fmt: skip


@played_once
def fresh(name: str) -> Table:
    return SCENES[name]()


def messages_of_grace(rt: Roundtable) -> list[str]:
    here = rt.line_of("")
    ours = (one for one in rt.lines if one.meta.get("person") == "grace" and one.message_id.startswith(here))
    return [one.message_id.removeprefix(here) for one in ours]


# --- what is in the transcript -------------------------------------------------------------------------------------


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key)
            yield from strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)
    elif value is not None:
        yield str(value)


def plain(text: str) -> str:
    """Lines and spaces do not matter, nor case."""
    return " ".join(text.split()).casefold()


def told_by(lines: Iterable[Line]) -> str:
    return plain(" ".join(one for line in lines for one in (line.content, *strings(line.meta))))


class Outcome(NamedTuple):
    """What became of an input: a sentence that refuses it, or the lines that it left."""

    refused: str
    lines: tuple[Line, ...]


def outcome(table: Table, *events: Command | OfPrograms) -> Outcome:
    """Positions may wait until a discussion is over, so it is ended."""
    before, known = table.rt, {line.message_id for line in table.lines}
    told = len(table.world.told)
    try:
        for event in events:
            table.hear(event)
    except UserError as why:
        if table.rt is not before:
            raise
        return Outcome(str(why), ())
    if table.rt.elaboration and table.rt.elaboration.sealed:
        table.say("done")
    lines = tuple(line for line in table.lines if line.message_id not in known)
    told_alone = [message.text for _, message in table.world.told[told:]]
    if not lines and not told_alone and table.rt.but(seen=before.seen, now=before.now) == before:
        lines = table.lines  # it is there already
    return Outcome("" if lines or not told_alone else told_alone[0], lines)


def assert_kept(given: Outcome, values: Iterable[str], *, what: str) -> None:
    if given.refused:
        assert not given.lines, f"{what} was refused, and has a line"
        return
    found = told_by(given.lines)
    for value in values:
        assert plain(value) in found or plain(told_as(value)) in found, (
            f"{value!r} of {what} is in no line: {found[:1000]}"
        )


# --- inputs --------------------------------------------------------------------------------------------------------


def submitted(value: object) -> Iterator[str]:
    """The words in a field: ids of people by their names, values of enums as they are. A yes or no has no words."""
    if isinstance(value, Fate):
        yield from () if value is Fate.OPEN else (value.value,)
    elif isinstance(value, StrEnum):
        yield value.value
    elif isinstance(value, Patch):
        yield from submitted(value.set)
    elif isinstance(value, BaseModel):
        yield from submitted({name: getattr(value, name) for name in type(value).model_fields})
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from submitted(one) if name != "option" else ()
    elif isinstance(value, list | tuple):
        for one in value:
            yield from submitted(one)
    elif isinstance(value, str) and value.strip():
        yield value


def told_as(value: str) -> str:
    """A person by their name, a moment by the clock."""
    return in_words(value, offset=0) if value == LATER else NAMES.get(value, value)


def limited(field: FormField) -> st.SearchStrategy[str]:
    most = field.most or 3_000
    return st.one_of(WORDS.map(lambda text: text[:most]), st.just("long " * (most // 5 - 1)))


def given_for(name: str, field: str, rt: Roundtable) -> st.SearchStrategy[Any]:
    """A value for *field* of the input *name*: a text, unless it is listed here."""
    decided = [one.id for one in rt.discussed.decisions] if rt.elaboration else []
    ts = messages_of_grace(rt)[-1:] or ["1767225600.000001"]
    here: Mapping[str, st.SearchStrategy[Any]] = {
        "person": st.sampled_from(PEOPLE).map(person),
        "place": st.just(rt.place),
        "ts": st.just("1767309999.000100" if name == "Say" else ts[0]),
        "step_id": st.just(rt.step_id),
        "entry": st.just({"SettleObjection": "OBJ-001", "AgentWithdrew": "Q-002"}.get(name, "Q-001")),
        "agent": st.just("coder"),
        "entries": st.sampled_from([("WRK-001",), ("WRK-001", "WRK-002")]),
        "issue": st.sampled_from([test_issues.FIRST, test_issues.SECOND]),
        "labels": st.lists(WORDS, max_size=2).map(tuple),
        "repository": st.sampled_from(test_issues.REPOSITORIES),
        "owner": st.sampled_from(PEOPLE),
        "about": st.sampled_from([(), ("FR-001",)]),
        "options": st.lists(WORDS, unique_by=str.casefold, max_size=4).map(tuple),
        "mark": st.sampled_from(MarkKind),
        "depth": st.sampled_from(Depth),
        "muted": st.just(value=True),
        "is_own": st.booleans(),
        "to_us": st.booleans(),
        "due": st.just(LATER),
        "fate": st.sampled_from([Fate.RISK, Fate.REJECTED, Fate.ACCEPTED]),
        "fates": st.sampled_from([{}, *({"OBJ-001": Fate(fate.value)} for fate in discussion_forms.FATES)]),
        "replaces": st.sampled_from([(), *((one,) for one in decided)]),
        "deciders": st.sampled_from([(), ("grace",), ("ada", "linus")]),
        "option": st.sampled_from(["", "A", "B"]),
        "position": st.builds(
            SealedPosition,
            option=st.sampled_from(["A", "B", ""]),
            words=st.one_of(st.just(""), WORDS),
            sure=st.sampled_from(["high", "mid", "low"]),
            why=WORDS,
            change=WORDS,
        ),
        "patches": WORDS.map(
            lambda text: (Patch(id="RSK-009", kind="risk", new=True, set={"text": text}),),
        ),
    }  # fmt: skip
    return here.get(field, WORDS)


def built(kind: type[BaseModel], rt: Roundtable, data: st.DataObject, table: Table) -> Command | OfPrograms:
    values = {
        name: data.draw(given_for(kind.__name__, name, rt), label=name)
        for name, field in kind.model_fields.items()
        if name not in {"key", "at", "kind"} and (field.is_required() or name not in CONTEXT)
        if name not in {"removed", "is_reaction", "is_answered", "planning"}
    }
    key = f"C1.{values['ts']}" if kind.__name__ == "Say" else table.key()
    return kind(key=key, at=table.now(), **values)  # type: ignore[return-value]


def worded(event: BaseModel) -> list[str]:
    return [
        word
        for name in type(event).model_fields
        if name not in CONTEXT
        for word in submitted(getattr(event, name))
    ]


COMMANDS = [one for one in (*get_args(Command), *get_args(OfPrograms)) if one not in {Press, Start}]
"""Presses are tried by the buttons that are offered, and a start by its form."""
ACCEPTED_IN: Mapping[str, tuple[str, ...]] = {
    "Finish": ("step_open",),
    "Resume": ("paused",),
    "AnswerDirectly": ("step_open",),
    "AnswerQuestion": ("step_open", "asked_by_agent"),
    "AgentWithdrew": ("asked_by_agent",),
    "CreateIssues": ("with_tracker",),
    "IssueChanged": ("with_tracker",),
    "MarkMessage": ("step_open", "discussing"),
    "Amend": ("step_open", "discussing"),
    "Retract": ("step_open", "discussing"),
}
"""Where it makes sense; all others are tried in an open step, at a menu and in a discussion."""
BY_DEFAULT = ("step_open", "at_menu", "discussing")


@TRIED
@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_every_input_leaves_what_was_submitted_in_a_line(kind: type[BaseModel], examples: int) -> None:
    """Or it is refused in a sentence, and leaves none. Each is accepted somewhere."""
    accepted: set[str] = set()
    scenes = ACCEPTED_IN.get(kind.__name__, BY_DEFAULT)

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(data=st.data(), name=st.sampled_from(scenes))
    def tried(data: st.DataObject, name: str) -> None:
        table = fresh(name)
        event = built(kind, table.rt, data, table)
        found = outcome(table, event)
        assert_kept(found, worded(event), what=kind.__name__)
        assert found.lines or found.refused or kind in SHOWS_ONLY
        if not found.refused:
            accepted.add(name)

    tried()
    assert accepted, f"{kind.__name__} was refused in every scene"


# --- forms ---------------------------------------------------------------------------------------------------------


class OfferedForm(NamedTuple):
    scene: str
    form: InputForm


class Pressable(NamedTuple):
    choice: Choice
    token: str
    ts: str


def offered(table: Table) -> Iterator[Pressable]:
    """What can be pressed in the thread, as its messages stand now."""
    for said in table.world.thread:
        edits = [one.message for one in table.world.root_edits if one.ts == said.ts]
        message = edits[-1] if edits else said.message
        for choice in message.offered:
            yield Pressable(choice, message.token, said.ts)


@cache
def offered_forms() -> tuple[OfferedForm, ...]:
    """Each form that a button opens in a scene, and those that are opened by other things."""
    found: dict[tuple[str, FormName, str, tuple[str, ...]], OfferedForm] = {}
    for name in SCENES:
        table = fresh(name)
        rt, playbook = table.rt, table.playbook
        forms: list[InputForm] = []
        choices = (one.choice for one in offered(table))
        pressed = [(one.action, one.value) for one in choices if ACTIONS[one.action].opens_form(one.value)]
        amends = [(Action.AMEND, id) for id in rt.specification.entries]
        for action, subject in (*pressed, *((one, "") for one in ACTIONS if one.opens_form("")), *amends):
            with suppress(UserError):
                forms.append(amending.opened(rt, action, subject, person("ada"), playbook))
        said = messages_of_grace(rt)[-1:]
        forms += [mark_wording.form(rt.slug, ts, words="Hm.", author="Grace") for ts in said]
        if rt.stage is Stage.DISCUSSING:
            forms += [answering.form(rt, one, playbook) for one in (rt.step_id, *open_questions(rt))]
        for form in forms:
            fields = tuple(one.name for one in form.fields)
            found.setdefault((name, form.name, form.subject, fields), OfferedForm(name, form))
    start = start_form.start_form(shipped(), channel=HERE.channel)
    return (*found.values(), OfferedForm("untouched", start))


def open_questions(rt: Roundtable) -> list[str]:
    return [one.id for one in rt.specification.active("question")]


def entered(field: FormField) -> st.SearchStrategy[FieldValue]:
    """What a person can put there, also nothing where that is allowed."""
    values = [
        one.value for one in (*field.options, *(each for group in field.groups for each in group.options))
    ]
    found: st.SearchStrategy[FieldValue]
    match field.kind:
        case FieldKind.LINE:
            found = limited(field).map(lambda text: " ".join(text.split()))
        case FieldKind.TEXT:
            found = limited(field)
        case FieldKind.LIST:
            found = st.lists(WORDS.map(lambda text: " ".join(text.split())), max_size=3).map("\n".join)
        case FieldKind.NUMBER:
            found = st.integers(0, 999).map(str)
        case FieldKind.CHOICE:
            found = st.sampled_from(values)
        case FieldKind.REFS | FieldKind.CHECKS:
            found = st.lists(st.sampled_from(values), unique=True, max_size=3).map(tuple)
        case FieldKind.PEOPLE:
            found = st.lists(st.sampled_from(PEOPLE), unique=True, max_size=field.most or 3).map(tuple)
        case FieldKind.CHANNEL:
            found = st.just(HERE.channel)
        case FieldKind.TIME:
            found = st.just(LATER)
    empty: FieldValue = () if field.kind in {FieldKind.REFS, FieldKind.CHECKS, FieldKind.PEOPLE} else ""
    return found if field.required else st.one_of(st.just(empty), found)


NO_WORDS = {
    entry_forms.ENTRY: "names the entry whose form opens next",
    entry_forms.KEEP: "is the state of the entry",
    start_form.CHANNEL: "is where it is held",
    form_wording.VOICES: "is told in a sentence of the host",
}
"""Fields that say what comes next, or change what the line says."""
NO_WORD = {
    discussion_forms.OTHER: "points to another field",
    entry_forms.LEAVE_OUT: "withdraws the note",
    Fate.OPEN.value: "leaves the objection as it is",
}
"""Values that do."""


def changed(form: InputForm, values: Mapping[str, FieldValue]) -> Iterator[str]:
    """What differs from what the form had shown. A list has a value in each line."""
    for field in form.fields:
        value = values[field.name]
        if field.name in NO_WORDS or _same(value, field.initial) or value in NO_WORD:
            continue
        begins = [
            one for one in field.options if len(one.value) == 1 and one.label.startswith(f"{one.value} ")
        ]
        lettered = {one.value: one.label.removeprefix(one.value).strip() for one in begins}
        if isinstance(value, tuple):
            yield from value
        else:
            rows = value.splitlines() if field.kind is FieldKind.LIST else [value]
            yield from (lettered.get(row) or row for row in rows if row.strip())


def _same(value: FieldValue, initial: FieldValue) -> bool:
    return value == initial if isinstance(value, str) else set(value) == set(initial)


def accepted_inputs(table: Table, form: InputForm, submission: Submission) -> tuple[Command, ...] | str:
    """What the form asks for; or the sentence that refuses it."""
    if form.name is FormName.START:
        mistakes = start_form.mistakes(submission)
        return next(iter(mistakes.values()), "") or (
            start_form.started(submission, shipped(), team=HERE.team),
        )
    if form.name is FormName.MARK:
        flaws = marking.flaws(submission)
        return next(iter(flaws.values()), "") or (marking.entered(submission),)
    reading = amending.read(table.rt, submission, table.playbook)
    if reading.errors:
        return next(iter(reading.errors.values()))
    return amending.inputs(table.rt, submission, reading)


@TRIED
@pytest.mark.parametrize("name", FormName)
def test_every_form_leaves_what_was_entered_in_a_line(name: FormName, examples: int) -> None:
    """Or a field is refused in a sentence, or all of it."""
    forms = [one for one in offered_forms() if one.form.name is name]
    assert forms, f"no scene opens the form {name}"

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def tried(data: st.DataObject) -> None:
        where, form = data.draw(st.sampled_from(forms))
        values = {field.name: data.draw(entered(field), label=field.name) for field in form.fields}
        table = fresh(where)
        sent = Submission(
            key=f"view.{table.key()}",
            at=table.now(),
            person=person("ada"),
            name=form.name,
            slug=form.slug,
            subject=form.subject,
            values=values,
            revisions={field.name: field.revision for field in form.fields},
        )
        events = accepted_inputs(table, form, sent)
        if isinstance(events, str):
            return
        if isinstance(events[0] if events else None, Start):
            table = started(events[0])
            assert_kept(Outcome("", table.lines), changed(form, values), what=name)
            return
        assert_kept(outcome(table, *events), changed(form, values), what=name)

    tried()


def started(event: Command) -> Table:
    assert isinstance(event, Start)
    table = Table(shipped())
    chosen = {name: getattr(event, name) for name in ("participants", "due", "personas", "depth", "brief")}
    return table.start(event.item.title, who=event.person.id, **chosen)


# --- presses -------------------------------------------------------------------------------------------------------


PRESSED_ELSEWHERE: Mapping[str, str] = {
    Action.TAKE_OVER: "tests/domain/test_taking_over.py",
    Action.STOP_DRAFT: "tests/domain/test_drafts.py",
}
"""Buttons that no scene has, and what tries them."""


def test_every_press_leaves_a_line_with_who_pressed() -> None:
    """Of each button that is offered in a scene. All that can be pressed are offered in one, or open a form."""
    tried: set[str] = set()
    missing: list[str] = []
    for name in SCENES:
        for choice, token, ts in dict.fromkeys(offered(fresh(name))):
            tried.add(choice.action)
            if ACTIONS[choice.action].opens_form(choice.value) or not ACTIONS[choice.action].do:
                continue
            table = fresh(name)
            told = {
                "key": table.key(),
                "at": table.now(),
                "person": person("linus"),
                "token": token,
                "ts": ts,
            }
            found = outcome(table, Press(**told, action=choice.action, value=choice.value))
            names_linus = (
                line.meta.get("person") == "linus" or "Linus" in line.content for line in found.lines
            )
            is_kept = found.refused or any(names_linus) or choice.action in SHOWS_ONLY
            missing += [] if is_kept else [f"{choice.action} {choice.value} in {name}"]
    assert not missing
    pressed = {row for row in ACTIONS if row.do and not row.opens_form("")}
    untried = pressed - {*tried, *PRESSED_ELSEWHERE}
    assert not untried, f"no scene offers {sorted(untried)}"
