"""Forms on the card of a discussion: what they ask, what a person entered in them, and what that does."""

from collections.abc import Mapping
from typing import Any

import pytest

from bot.domain.actions.table import SOMETHING_ELSE
from bot.domain.discussion.board import fate
from bot.domain.discussion.elaboration import Fate, SealedPosition
from bot.domain.messages import discussion_forms as forms
from bot.domain.messages.attribution_wording import attributions
from bot.domain.messages.form import FieldValue, FormName, InputForm, Submission
from bot.domain.messages.message import Action, Card
from bot.domain.roundtable.inputs import (
    NameOption,
    RaiseObjection,
    RecordDecision,
    SealPosition,
)
from bot.domain.roundtable.transitions import deciding
from bot.errors import NotNow
from tests.domain.table import Table, person, played_once
from tests.domain.test_discussion_card import discussing, seal

LONG = "x" * 1_100


def field_names(found: InputForm) -> list[str]:
    return [one.name for one in found.fields]


def sent(name: FormName, subject: str = "", /, **values: Any) -> Submission:
    return Submission(
        key="k1",
        at="2026-01-01T00:00:00.000Z",
        person=person("grace"),
        name=name,
        slug="offline-sync",
        subject=subject,
        values=values,
    )


def card(table: Table) -> Card:
    assert table.rt.board
    shown = table.said_on(table.rt.board.token).card
    assert shown
    return shown


def synthesized(table: Table) -> str:
    return str([one.message.text for one in table.say("done").world.thread])


# --- what they ask ---


def test_a_decision_is_asked_for_with_who_holds_the_option_and_the_open_objections() -> None:
    """Who presses is named at first."""
    table = discussing().say("objection: the phone gets lost", who="grace")
    table.say("for B", who="linus").say("for B", who="grace")
    found = deciding.form(table.rt, Action.RECORD, "B", person("ada"))

    choice, *_ = found.fields
    (deciders,) = (one for one in found.fields if one.name == forms.DECIDERS)
    assert field_names(found) == ["choice", "words", "why", "deciders", "fateOBJ-001", "revisit"]
    assert choice.initial == "B"
    assert set(deciders.initial) == {"linus", "grace"}

    (field,) = (
        one
        for one in deciding.form(discussing().rt, Action.RECORD, "A", person("grace")).fields
        if one.name == forms.DECIDERS
    )

    assert (field.initial, field.required, field.most) == (("grace",), True, 5)


def test_without_options_words_are_required() -> None:
    """Both of a decision and of a sealed position."""
    table = discussing()
    bare = table.rt.but(elaboration=table.rt.debate.but(options=()))

    for action in (Action.RECORD, Action.SEALED):
        found = deciding.form(bare, action, "", person("ada"))
        (words,) = (one for one in found.fields if one.name == forms.WORDS)
        assert words.required
        assert not {forms.CHOICE, forms.POSITION} & {*field_names(found)}


@pytest.mark.parametrize(("became", "title"), [("risk", "Keep it as a risk"), ("rejected", "Turn it down")])
def test_a_fate_is_asked_for_with_the_words_of_the_objection(became: str, title: str) -> None:
    table = discussing().say("objection: the phone gets lost", who="grace")
    found = deciding.form(table.rt, Action.OBJECTION, f"OBJ-001/{became}", person("ada"))

    assert (found.title, found.intro) == (title, "“the phone gets lost” – Grace")


def test_an_objection_is_asked_for() -> None:
    assert field_names(deciding.form(discussing().rt, Action.OBJECT, "", person("ada"))) == [
        "words",
        "settle",
    ]


@pytest.mark.parametrize("subject", ["OBJ-002/risk", "x/risk", ""])
def test_an_objection_that_is_not_open_has_no_form(subject: str) -> None:
    table = discussing().say("objection: the phone gets lost", who="grace")

    with pytest.raises(NotNow, match="has an answer"):
        deciding.form(table.rt, Action.OBJECTION, subject, person("ada"))


def test_a_form_that_comes_too_late_is_a_sentence() -> None:
    """After the discussion nothing is wrong with a field."""
    table = seal(discussing(), "ada", "A").press(Action.REVEAL)
    with pytest.raises(NotNow, match="out already"):
        deciding.form(table.rt, Action.SEALED, "", person("ada"))

    with pytest.raises(NotNow, match="discussion"):
        deciding.form(table.say("done").rt, Action.RECORD, "", person("ada"))

    assert deciding.flaws(discussing().say("done").rt, sent(FormName.RECORD)) == {}


# --- what was entered ---


@pytest.mark.parametrize(
    ("name", "values", "fits"),
    [
        (FormName.RECORD, {"choice": "A"}, True),
        (FormName.RECORD, {"choice": "other", "words": "Both"}, True),
        (FormName.RECORD, {"choice": "other", "words": " "}, False),
        (FormName.SEALED, {"position": "Z"}, False),
        (FormName.SEALED, {"position": "B"}, True),
        (FormName.OBJECT, {}, True),
    ],
)
def test_a_decision_and_a_position_need_an_option_or_words(
    name: FormName, values: Mapping[str, FieldValue], *, fits: bool
) -> None:
    flaws = deciding.flaws(discussing().rt, sent(name, **values))

    assert (not flaws) is fits
    assert set(flaws) <= {forms.WORDS}


@pytest.mark.parametrize(("why", "became", "fits"), [
    ("", "rejected", False), (" ", "rejected", False), ("we measured it", "rejected", True), ("", "risk", True),
])  # fmt: skip
def test_turning_an_objection_down_needs_the_reason_that_it_names(
    why: str, became: str, *, fits: bool
) -> None:
    table = discussing().say("objection: it is slow")
    flaws = deciding.flaws(
        table.rt, sent(FormName.RECORD, words="Keep it", why=why, **{"fateOBJ-001": became})
    )

    assert set(flaws) == (set() if fits else {forms.WHY})


def test_no_reason_is_made_up_for_an_objection_that_is_turned_down() -> None:
    table = discussing().say("objection: it is slow")
    table.does(RecordDecision, words="Keep it", fates={"OBJ-001": "rejected"})

    (objection,) = table.rt.discussed.objections
    assert fate(objection) is Fate.REJECTED
    assert [one["outcome_text"] for one in table.rt.specification.active("objection")] == [None]


def test_what_was_entered_is_one_input() -> None:
    """Fates that are none, and fields of other forms, mean nothing."""
    fates = {"fateOBJ-001": "risk", "fateOBJ-002": "burned", "x": "risk", "fateOBJ-003": ("risk",)}
    decision = deciding.entered(
        sent(
            FormName.RECORD,
            choice="A",
            words="Keep it",
            why="cheap",
            revisit="slow",
            **fates,
        )
    )
    bare = deciding.entered(sent(FormName.RECORD, choice=forms.OTHER, words="Both"))

    assert isinstance(decision, RecordDecision)
    assert (decision.option, decision.words, decision.reason) == ("A", "Keep it", "cheap")
    assert (decision.revisit, decision.fates) == ("slow", {"OBJ-001": Fate.RISK})
    assert isinstance(bare, RecordDecision)
    assert bare.option == ""


# --- what it does ---


def test_a_decision_settles_objections() -> None:
    """An objection that has an answer already keeps it; only its owner takes one back."""
    table = discussing().say("objection: the phone gets lost", who="grace")
    table.say("objection: files are slow", who="grace").say("objection: nobody asked", who="grace")
    table.press(Action.OBJECTION, value="OBJ-002/accepted")
    fates = {"OBJ-001": "risk", "OBJ-002": "rejected", "OBJ-003": "withdrawn", "OBJ-009": "risk"}
    table.does(RecordDecision, words="Keep the last edit", reason="rare", fates=fates)

    objections = table.rt.discussed.objections
    assert [fate(one) for one in objections] == [Fate.RISK, Fate.ACCEPTED, Fate.OPEN]
    assert objections[0]["outcome_text"] == "rare"
    assert "kept as a risk by Ada" in table.discussion.text


def test_a_decision_is_replaced_by_one_of_the_same_issue() -> None:
    """Recorded in a form or in words."""
    table = discussing().does(RecordDecision, option="A").does(RecordDecision, option="B", who="grace")

    first, second = table.rt.discussed.decisions
    assert (first["text"], first.replaced_by) == ("a queue", (second.id,))

    table = discussing().say("decision: A, for the phone")
    first, second = table.does(RecordDecision, option="B", who="grace").rt.discussed.decisions

    assert second["text"] == "a file"
    assert first.replaced_by == (second.id,)


def test_what_says_nothing_is_refused() -> None:
    """In a decision, an objection, a sealed position."""
    table = discussing()
    with pytest.raises(NotNow):
        table.does(RecordDecision, words="  ")
    with pytest.raises(NotNow):
        table.does(RecordDecision, option="Z")
    with pytest.raises(NotNow):
        table.does(RaiseObjection, words=" ")
    with pytest.raises(NotNow):
        table.does(SealPosition, position=SealedPosition(option="Z"))


@pytest.mark.parametrize("value", ["OBJ-001/risk", "x/accepted", "OBJ-007/accepted", ""])
def test_an_unknown_press_on_an_objection_changes_nothing(value: str) -> None:
    table = discussing().say("objection: the phone gets lost", who="grace")

    with pytest.raises(NotNow):
        table.press(Action.OBJECTION, value=value)
    assert fate(table.rt.discussed.objections[0]) is Fate.OPEN


def test_a_press_for_an_option_that_is_gone_is_refused_and_one_repeated_changes_nothing() -> None:
    table = discussing().press(Action.STAND, value="A")
    before = table.lines

    with pytest.raises(NotNow, match="You are for A already"):
        table.press(Action.STAND, value="A")
    with pytest.raises(NotNow):
        table.press(Action.STAND, value="H")
    assert table.lines == before


def test_undecided_is_in_the_record() -> None:
    table = discussing().press(Action.STAND, value="A").say("undecided")

    (position,) = table.rt.specification.active("position")
    assert position["option"] == "undecided"
    assert "Ada" in table.discussion.text.partition("Undecided")[2]


def test_a_sealed_position_in_own_words_becomes_an_option() -> None:
    """One that names an option that is not there is left out when all are shown."""
    table = seal(discussing().say("Hm.", who="grace"), "ada", "B")
    table.does(SealPosition, who="grace", position=SealedPosition(words="Both of them"))
    assert not table.rt.debate.sealed, "both were given"
    assert [one.text for one in table.rt.debate.options] == ["a queue", "a file", "Both of them"]
    assert "Both of them\n  - Grace" in table.discussion.text


# --- who decided ---


@played_once
def three_people() -> Table:
    return discussing().say("Tunnels are long.", who="grace").say("They are.", who="linus")


def test_who_recorded_a_decision_and_whom_they_named() -> None:
    """In the line, on the card, in the synthesis, and to those who are said to have decided."""
    table = three_people().does(RecordDecision, option="A", deciders=("grace", "linus"))
    line = table.rt.lines[-1]
    (entry,) = table.rt.specification.active("decision")
    rows = [row.aside for part in card(table).parts if part.title == "Decided" for row in part.rows]

    assert line.meta["user_name"] == "Ada"
    assert line.content.endswith("Decided by Grace and Linus.")
    assert (attributions(entry), entry["deciders"]) == ("Ada", ["Grace", "Linus"])
    assert rows == ["decided by Grace and Linus, recorded by Ada"]
    assert "Grace, Linus" in synthesized(table)

    table = three_people().does(RecordDecision, option="A", deciders=("grace",))

    assert "(Grace, recorded by Ada)" in synthesized(table)
    assert "(Grace)" not in synthesized(table)

    table = three_people().does(
        RecordDecision, option="A", words="keep both edits", deciders=("ada", "grace")
    )

    ((told, message),) = table.world.told
    assert told == "grace"
    assert message.text.startswith("Ada recorded that you decided “keep both edits”. If that is not so, ")

    table = discussing().does(RecordDecision, option="A", deciders=("ada",))

    assert "deciders" not in table.rt.lines[-1].meta
    assert not table.rt.specification.active("decision")[0]["deciders"]


@pytest.mark.parametrize(
    ("named", "fits"),
    [(("grace",), True), (("ada", "linus"), True), (("stranger",), False), ((), False)],
)
def test_only_people_of_the_roundtable_are_named(named: tuple[str, ...], *, fits: bool) -> None:
    flaws = deciding.flaws(three_people().rt, sent(FormName.RECORD, choice="A", deciders=named))

    assert set(flaws) == (set() if fits else {forms.DECIDERS})


# --- an option in a form ---


def test_an_option_is_named_in_a_form() -> None:
    """As it is typed; who wants something else is for it."""
    table = discussing().does(NameOption, words="A bucket in each gateway")
    typed = discussing().say("option: A bucket in each gateway")

    assert [one.text for one in table.rt.debate.options] == [one.text for one in typed.rt.debate.options]
    assert table.rt.discussed.stands == discussing().rt.discussed.stands
    assert table.rt.lines[-1].content == "Ada named option C: A bucket in each gateway"
    assert table.rt.lines[-1].meta["person"] == "ada"

    table = discussing().does(
        NameOption, words="A bucket in each gateway", is_own=True, why="it needs no server"
    )

    assert [(one.letter, one.name) for one in table.rt.discussed.stands] == [("C", "Ada")]
    assert table.rt.lines[-1].content == "Ada is for C: A bucket in each gateway. Why: it needs no server"
    (position,) = table.rt.specification.active("position")
    assert (position["option"], position["why"]) == ("A bucket in each gateway", "it needs no server")


def test_an_option_that_is_there_already_is_not_named_twice() -> None:
    """Who wants it is for that one."""
    table = discussing()
    first = table.rt.debate.options[0]
    with pytest.raises(NotNow, match="option A already"):
        table.does(NameOption, words=first.text.upper())

    after = table.does(NameOption, words=first.text, is_own=True)
    assert len(after.rt.debate.options) == 2
    assert after.rt.discussed.stands[-1].letter == "A"


def test_an_option_while_positions_are_given_privately() -> None:
    """It can be named; who is for what is not said in the open."""
    table = seal(discussing(), "ada", "A")
    with pytest.raises(NotNow, match="Give my position"):
        table.does(NameOption, words="Neither", is_own=True)

    assert table.does(NameOption, words="Neither").rt.debate.options[-1].text == "Neither"
    offered = {one.action: one.label for one in card(table).more}
    assert offered[Action.OPTION] == "Name an option…"


def test_an_option_needs_words_and_room() -> None:
    table = discussing()
    with pytest.raises(NotNow, match="in your words"):
        table.does(NameOption, words="  ")
    assert set(deciding.flaws(table.rt, sent(FormName.OPTION, words=" "))) == {forms.WORDS}

    for number in range(23):
        table.say(f"option: way {number}")
    with pytest.raises(NotNow, match="as many options"):
        table.does(NameOption, words="One more")


@pytest.mark.parametrize(
    ("action", "subject", "fields"),
    [(Action.OPTION, "", ["words"]), (Action.STAND, SOMETHING_ELSE, ["words", "why"])],
)
def test_what_is_asked_about_an_option(action: str, subject: str, fields: list[str]) -> None:
    found = deciding.form(discussing().rt, action, subject, person("ada"))
    named = deciding.entered(sent(found.name, found.subject, words="Neither"))

    assert field_names(found) == fields
    assert isinstance(named, NameOption)
    assert named.is_own is (subject == SOMETHING_ELSE)


def test_something_else_stands_with_the_options() -> None:
    choices = discussing().menu.message.choices
    labels = [one.label for one in choices if one.action == Action.STAND]

    assert labels[-2:] == ["Undecided", "Something else…"]
