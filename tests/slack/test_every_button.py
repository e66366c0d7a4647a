"""
Every button of every card, through the real way of a press: rendered, clicked as Slack sends it, parsed, decided.

A press does something or is answered with one sentence. A form that it opens is one that Slack takes, and what a
person enters there is recorded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

import pytest

from bot.domain.catalog.schema import FieldType
from bot.domain.catalog.steps import Depth
from bot.domain.messages.form import FieldKind, InputForm
from bot.domain.messages.message import Action
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import amending
from bot.domain.specification.claims import EntryState
from bot.engine.verbs.verb import VerbRequest
from bot.errors import UserError
from bot.slack import modals, parse
from bot.slack.render import parts
from slack_sandbox.messages import JSON, interactive
from slack_sandbox.rules.blocks import view_problems
from slack_sandbox.rules.elements import filled, touched, unfit
from tests.domain.table import Table, person, shipped
from tests.slack.conftest import US, payload
from tests.slack.test_every_surface import Album, Seen, planned, played

STEPS = tuple(step.step_id for step in shipped().agenda.steps)
WORDS = "Words of Ada"
COUNTS = {
    f"new_estimate.{name}"
    for name, one in shipped().schema.kinds["estimate"].fields.items()
    if one.type is FieldType.COUNT
}
"""Fields that take `3` or `3 to 5`."""
ADA = person("ada")


# --- presses --------------------------------------------------------------------------------------------------------


def clicks(seen: Seen) -> Iterator[tuple[str, JSON]]:
    """Each button and each option behind ⋯, with the body that Slack sends for it."""
    for part in parts(seen.message):
        for number, element in enumerate(interactive(list(part.blocks))):
            options = [one["value"] for one in element.get("options", ())] or [None]
            groups = element.get("option_groups", ())
            several = [[one["value"]] for group in groups for one in group["options"]]
            for at, value in enumerate(several or options):
                body = payload("block_actions")
                body["container"]["message_ts"] = body["message"]["ts"] = seen.ts
                body["trigger_id"] = f"{seen.ts}.{number}.{at}"
                action = {"action_id": element["action_id"], "type": element["type"], "block_id": "b"}
                body["actions"] = [{**action, **touched(element, value), "action_ts": "1.0"}]
                yield element["action_id"] + (f" {value}" if value else ""), body


def outcome(seen: Seen, body: JSON) -> str:
    """What came of the click; empty when nothing did."""
    playbook = shipped()
    try:
        match parse.press(body, US, at=seen.rt.now):
            case parse.Placed(_, press):
                after = decide(seen.rt, press.but(person=ADA), playbook)
                return "decided" if (after.outbox, after.lines) != (seen.rt.outbox, seen.rt.lines) else ""
            case parse.FormRequest(action=action, subject=subject):
                form = amending.opened(seen.rt, action, subject, ADA, playbook)
                return "" if view_problems(modals.view(form)) else "form"
            case VerbRequest():
                return "verb"
            case _:
                return ""
    except UserError as refused:
        return "told" if str(refused).strip() else ""


def nothing_happens(offers: Iterable[Seen]) -> set[str]:
    return {
        f"{seen.rt.stage} {seen.rt.step_id} {name}"
        for seen in offers
        for name, body in clicks(seen)
        if not outcome(seen, body)
    }


# --- untouched cards ------------------------------------------------------------------------------------------------


@cache
def untouched(depth: Depth) -> tuple[Seen, ...]:
    """The card of each step, or at depth brief of each phase, before anybody said a word."""
    table, cards = Table().start(depth=depth), []
    while table.rt.stage is not Stage.ANALYSED:
        if table.rt.stage is Stage.DISCUSSING:
            cards.append(Seen(table.rt, table.menu_at, table.menu.message))
            table.press(Action.FINISH_STEP)
        table.press(Action.CONTINUE)
    return tuple(cards)


@pytest.mark.parametrize("depth", list(Depth))
def test_every_button_of_an_untouched_card_does_something(depth: Depth) -> None:
    """Of all steps, and of all five cards; those that open a form open it."""
    cards = untouched(depth)

    asked = [step for step in STEPS if step.endswith("-01")] if depth is Depth.BRIEF else STEPS
    assert [seen.rt.step_id for seen in cards] == list(asked)
    for seen in cards:
        found = {name: outcome(seen, body) for name, body in clicks(seen)}
        assert all(found.values()), found
        assert found.pop("roundtable.amend", "") == "form", seen.rt.step_id


@pytest.mark.parametrize("at", range(len(STEPS)), ids=STEPS)
def test_what_is_written_in_the_empty_form_of_a_step_is_recorded(at: int) -> None:
    """In each of its fields, in the name of the person; and nothing is where nothing was entered."""
    seen = untouched(Depth.STANDARD)[at]
    form = amending.opened(seen.rt, Action.AMEND, "", ADA, shipped())

    assert submitted(seen.rt, form, {}).specification.entries == {}
    assert "new_note" in {one.name for one in form.fields}
    for field in form.fields:
        is_number = field.kind is FieldKind.NUMBER or field.name in COUNTS
        entered = field.options[0].value if field.options else "3" if is_number else WORDS
        after = submitted(seen.rt, form, {f"roundtable.{field.name}": entered})
        (entry,) = after.specification.entries.values()
        values = {str(claim.value) for _, claim in entry.current()}
        assert (values & {entered}, entry.state, entry.step) == ({entered}, EntryState.ACCEPTED, STEPS[at])
        assert {claim.author.by for _, claim in entry.current()} == {ADA.id}


def test_a_line_in_the_form_is_read_like_one_in_the_thread() -> None:
    """Fields behind `;`, one entry for each line, and labels in the words of one's own."""
    seen = next(one for one in untouched(Depth.STANDARD) if one.rt.step_id == "01-05")
    form = amending.opened(seen.rt, Action.AMEND, "", ADA, shipped())
    lines = {
        "roundtable.new_quality": "- sync -> 5 s p95\n- no edit is lost",
        "roundtable.new_note": "It rains.\nrisk: the disk fills -> rotate logs",
    }
    entries = submitted(seen.rt, form, lines).specification.entries

    assert [(one.id, one["text"]) for one in entries.values()] == [
        ("NFR-001", "sync"),
        ("NFR-002", "no edit is lost"),
        ("RSK-001", "the disk fills"),
        ("NOTE-001", "It rains."),
    ]
    assert (entries["NFR-001"]["threshold"], entries["RSK-001"]["mitigation"]) == ("5 s p95", "rotate logs")


def submitted(rt: Roundtable, form: InputForm, entered: Mapping[str, str]) -> Roundtable:
    """The form as Slack's view, filled in and sent, and what the engine makes of it."""
    view = modals.view(form)
    state = filled(view["blocks"], entered)
    assert unfit(view["blocks"], state) == {}
    body = payload("view_submission")
    body["view"] |= {**view, "state": {"values": state}}
    sent = modals.submission(body, US, at=rt.now).but(person=ADA)
    for event in amending.inputs(rt, sent, amending.read(rt, sent, shipped())):
        rt = decide(rt, event, shipped())
    return rt


# --- played meetings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("play", [played, planned])
def test_every_button_in_a_played_meeting_does_something(play: Callable[[], Album]) -> None:
    """Of every message in the thread, each time the roundtable waits for people: also of the older ones."""
    album = play()

    assert {seen.rt.stage for seen in album.offers} > {Stage.DISCUSSING}
    assert nothing_happens(album.offers) == set()
