"""The card of a step: one message, which says what stands there now."""

from dataclasses import replace

import pytest

from bot.domain.messages.attribution_wording import attribution
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.cards import rendered
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.claims import EntryState
from bot.domain.specification.fold import Patch
from bot.slack.render import parts
from tests.domain.books import few_steps, step, thinking
from tests.domain.table import Table, played_once, shipped

ONE_PHASE = few_steps(step("00-01"), step("00-02"))


def cards(table: Table) -> list[str]:
    """The timestamps of the posts that have a card."""
    return [said.ts for said in table.world.thread if said.message.card]


def test_a_step_is_one_post_from_its_question_to_its_menu() -> None:
    table = Table(ONE_PHASE).start().say("For field work, without a network.")
    (ts,) = cards(table)
    card = next(said.message for said in table.world.thread if said.ts == ts)
    assert "For field work, without a network." in card.text

    table.do_step()
    assert cards(table) == [ts]
    assert table.offered()[0] == Action.CONTINUE


def test_a_step_without_a_section_has_a_card_too() -> None:
    schema = ONE_PHASE.schema.but(views=())
    table = Table(replace(ONE_PHASE, schema=schema)).start().say("For field work, without a network.")

    assert len(cards(table)) == 1
    assert {Action.FINISH_STEP, Action.ELABORATE} <= set(table.offered())
    assert table.do_step().offered()[0] == Action.CONTINUE


def test_the_next_step_has_a_card_of_its_own_and_the_one_before_has_no_buttons() -> None:
    table = Table(ONE_PHASE).start().do_step().press_continue()

    first, second = cards(table)
    before = next(said.message for said in table.world.thread if said.ts == first)
    assert before.choices == ()
    assert [one.action for one in before.offered] == [Action.AMEND, Action.REOPEN]
    assert second == table.menu_at


def test_a_card_that_a_deleted_thread_did_not_take_is_posted_once_in_the_new_one() -> None:
    """Of a menu, of an open step, and of a discussion."""
    table = Table(ONE_PHASE).start().do_step()
    table.fail("post", "thread_not_found").resume()

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert table.world.thread[-1].message.card is not None
    assert table.offered()[0] == Action.CONTINUE

    table = Table(ONE_PHASE).start().do_step().press_continue().stop()
    before = len(table.world.thread)
    table.fail("post", "thread_not_found").resume()

    assert table.offered()[0] == Action.FINISH_STEP
    assert len([one for one in table.world.thread[before:] if one.message.card]) == 1

    table = Table(ONE_PHASE).start().elaborate().stop()
    before = len(table.world.thread)
    table.fail("post", "thread_not_found").resume()

    assert table.rt.stage is Stage.ELABORATING
    assert len([one for one in table.world.thread[before:] if one.message.card]) == 1


# --- typed in place of a press ---


@played_once
def at_features(*, thinks: bool = False) -> Table:
    """The step of features is open."""
    return Table(thinking(shipped()) if thinks else shipped()).start().through("01-05").press_continue()


def feature_step(*patches: dict[str, object]) -> Table:
    """In the step of features, where Maya proposed *patches*, and at its menu."""
    table = at_features(thinks=True)
    table.stop_paying().say("We leave out PDF.").pay_up_to("speak")
    (said,) = (line.message_id for line in table.lines if line.content == "We leave out PDF.")
    table.world.patches = tuple(
        Patch.model_validate({"new": True, "sources": (said,)} | one) for one in patches
    )
    table.resume_paying()
    table.world.patches = ()
    return table.press(Action.FINISH_STEP)


NO_PDF: dict[str, object] = {"id": "OUT-001", "kind": "exclusion", "set": {"text": "PDF"}}
ROWS: dict[str, object] = {"id": "FR-001", "kind": "requirement", "set": {"title": "Export every row"}}


def states(table: Table) -> list[EntryState]:
    return [table.rt.specification.entries[name].state for name in ("OUT-001", "FR-001")]


def test_what_is_suggested_is_decided_by_typing_its_number() -> None:
    """A number that is not open gets one sentence and changes nothing."""
    table = feature_step(NO_PDF, ROWS).say("accept 1\n\nleave out 2", who="grace")

    assert states(table) == [EntryState.ACCEPTED, EntryState.WITHDRAWN]

    assert states(feature_step(NO_PDF, ROWS).say("leave out all")) == [EntryState.WITHDRAWN] * 2

    table = feature_step(NO_PDF, ROWS).say("change 1: PDF and print", who="grace")

    entry = table.rt.specification.entries["OUT-001"]
    assert (entry["text"], entry.state) == ("PDF and print", EntryState.ACCEPTED)
    assert [attribution(claim) for _, claim in entry.current()] == ["Grace"]

    table = feature_step(NO_PDF, ROWS).say("accept 7", who="grace")

    assert states(table) == [EntryState.PROPOSED, EntryState.PROPOSED]
    assert "no open line 7" in table.world.told[-1][1].text


def noted(table: Table) -> list[object]:
    return [one["text"] for one in table.rt.specification.notes_of([table.rt.step_id])]


@played_once
def with_objection() -> Table:
    """Linus objected in the open step."""
    return at_features().say("objection: no rows", who="linus")


def test_any_living_entry_is_withdrawn_by_typing_once() -> None:
    """No note is made of it; a sentence that begins like the command is one."""
    table = with_objection()
    notes = noted(table)
    table.say("withdraw OBJ-001", who="linus")

    assert table.rt.specification.entries["OBJ-001"].state is EntryState.WITHDRAWN
    assert noted(table) == notes

    table = with_objection().say("withdraw OBJ-001", who="linus").say("withdraw OBJ-001", who="grace")

    assert table.world.told[-1] == ("grace", Message(text="OBJ-001 was withdrawn or replaced before."))

    table = with_objection().say("withdraw the old app in May")

    assert "withdraw the old app in May" in noted(table)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("withdraw OBJ-009", "There is no OBJ-009."),
        ("keep DEC-003", "There is no DEC-003."),
        ("keep OBJ-001", "OBJ-001 counts already, so there is nothing to confirm."),
    ],
)
def test_who_names_what_cannot_be_kept_or_withdrawn_alone_is_told(text: str, answer: str) -> None:
    table = with_objection()
    notes = noted(table)
    table.say(text, who="grace")

    assert table.world.told[-1] == ("grace", Message(text=answer))
    assert noted(table) == notes
    assert table.rt.specification.lives("OBJ-001")


def test_what_was_not_sorted_becomes_an_entry_that_rests_on_what_was_said() -> None:
    table = at_features()
    table.say("Export every row.", who="grace").say("sort a requirement", who="ada")

    (entry,) = (one for one in table.rt.specification.entries.values() if one.kind == "requirement")
    (note,) = (
        one for one in table.rt.specification.entries.values() if one.kind == "note" and one.step == "01-06"
    )
    ((_, claim),) = entry.current()
    assert claim.value == "Export every row."
    assert claim.sources == (note.claims["text"][0].line,)
    assert attribution(claim) == "Grace, accepted by Ada", "sorting is not saying"
    assert note.state is EntryState.SUPERSEDED
    assert note.replaced_by == (entry.id,)


def test_the_same_words_are_content_where_the_card_shows_nothing_to_decide() -> None:
    table = Table(ONE_PHASE).start().say("accept 2")

    assert [answer.text for answer in table.rt.answers] == ["accept 2"]


def test_what_offers_the_model_again_has_no_buttons_once_the_card_offers_to_go_on() -> None:
    """Found by the machine of any meeting: two messages had buttons, and one of them answered that it is over."""
    table = Table(thinking(ONE_PHASE)).start().fail("speak", "context").do_step()

    with_buttons = [said.ts for said in table.world.thread if said.message.choices]
    assert with_buttons == [table.menu_at]


def test_who_skips_the_phase_at_an_open_step_has_what_was_said_saved_first() -> None:
    table = Table(ONE_PHASE).start().say("For field work.").press(Action.SKIP)

    assert [subject[:10] for subject in table.subjects if not subject.startswith("start")] == [
        "step 00-01",
        "phase 00-q",
    ]
    assert table.rt.answers == table.rt.filed


OPENS_A_FORM = {Action.AMEND, Action.SORT}
SCENES = {
    "open": lambda: Table(few_steps()).start().say("For field work."),
    "finished": lambda: Table(ONE_PHASE).start().say("For field work.").do_step(),
    "end of a phase": lambda: Table(few_steps()).start().say("For field work.").do_step(),
    "suggestions": lambda: feature_step(NO_PDF, ROWS),
}


@played_once
def scene(name: str) -> Table:
    return SCENES[name]()


@pytest.mark.parametrize("name", SCENES)
def test_everything_that_a_card_offers_can_be_pressed(name: str) -> None:
    """Found by hand: the finished card offered to open the step again, and a press was told that it is done."""
    offered = [one for one in scene(name).menu.message.offered if one.action not in OPENS_A_FORM]

    assert offered
    for choice in offered:
        table = scene(name)
        before = table.rt
        assert table.press(choice.action, value=choice.value).rt != before, choice.label


# --- typed or pressed, and what does not fit ---


@played_once
def proposed_priority() -> Table:
    """FR-001 has a priority that a person gave, and Maya suggests another."""
    table = at_features(thinks=True)
    table.say("Requirement: Export every row", who="grace")
    table.stop_paying().say("FR-001 priority: should", who="grace").pay_up_to("speak")
    (said,) = (line.message_id for line in table.lines if line.content.startswith("Requirement"))
    (found,) = (one for one in table.rt.specification.entries.values() if one.kind == "requirement")
    patch = {"id": found.id, "set": {"priority": "must"}, "sources": (said,)}
    table.world.patches = (Patch.model_validate(patch),)
    table.resume_paying()
    table.world.patches = ()
    return table.press(Action.FINISH_STEP)


def priority(table: Table) -> object:
    return table.rt.specification.entries["FR-001"]["priority"]


def test_a_suggested_value_is_accepted_left_out_or_changed() -> None:
    """A change that does not fit gets a sentence."""
    assert priority(proposed_priority()) == "should"
    assert priority(proposed_priority().say("accept 1")) == "must"
    assert priority(proposed_priority().say("leave out 1")) == "should"
    assert priority(proposed_priority().say("change 1: could")) == "could"

    table = proposed_priority().say("change 1: tomorrow")

    assert priority(table) == "should"
    assert "tomorrow" in table.world.told[-1][1].text


def test_what_is_a_part_is_not_sorted_without_its_owner() -> None:
    """The note stays, and the person is told."""
    table = at_features()
    table.say("500 of 500 rows", who="grace").say("sort a criterion")

    assert not table.rt.specification.active("criterion")
    assert [one["text"] for one in table.rt.specification.notes_of([table.rt.step_id])][:1] == [
        "500 of 500 rows"
    ]


@played_once
def with_code(file_url: str = "") -> Table:
    """Maya suggests what rests on lines of code, and the step is open again."""
    table = feature_step(NO_PDF, {**ROWS, "sources": ("src/__init__.py:40-58@1a2b3c4", "src/b.py:7@1a2b3c4")})
    table.playbook = replace(table.playbook, policy=table.playbook.policy.but(file_url=file_url))
    return table.press(Action.REOPEN, value=table.rt.step_id)


def test_a_suggestion_names_the_code_that_it_rests_on() -> None:
    """With links where people read the files."""
    table = with_code()
    assert table.rt.card
    shown = rendered(table.rt, table.rt.card, table.playbook)

    assert "from src/\\_\\_init\\_\\_.py:40-58 and src/b.py:7" in shown.text
    assert not [link for link in shown.links if "src/" in link.label]

    table = with_code("https://git.example/blob/main/{path}")
    assert table.rt.card
    shown = rendered(table.rt, table.rt.card, table.playbook)

    assert [(link.label, link.url) for link in shown.links if "src/" in link.label] == [
        ("2: src/__init__.py:40-58", "https://git.example/blob/1a2b3c4/src/__init__.py#L40-L58"),
        ("2: src/b.py:7", "https://git.example/blob/1a2b3c4/src/b.py#L7"),
    ]
    assert "https://git.example/blob/1a2b3c4/src/b.py#L7" in str(parts(shown))


def test_a_card_says_once_who_finished_it() -> None:
    """And of a step without answers neither that nor that it is saved."""
    table = Table(few_steps()).start().say("It has to work on trains.").press(Action.ELABORATE)

    card = table.card.card
    assert card
    assert (" ".join((*card.foot, table.card.note))).count("Finished by Ada") == 1

    table = Table(few_steps()).start().press(Action.ELABORATE)

    assert table.rt.card
    assert table.card.card
    assert table.card.card.title == "Topic 00-01"

    table = Table(ONE_PHASE).start().press(Action.SKIP)

    assert "00-01" not in table.rt.steps_completed
    assert not any("inished" in said.message.text for said in table.world.thread[1:])
    assert table.menu.kind is MenuKind.PHASE
