"""What people change by a form: one line of the host with their name, kept and committed like all they say."""

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.catalog.policy import Policy, PressPolicy
from bot.domain.messages.form import InputForm, Submission
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import Specify
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.transitions import amending
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import CONFIRMED_BY_AUTHOR
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import Source
from bot.errors import NotNow, Overtaken, UserError
from tests.domain.books import few_steps
from tests.domain.table import Table, person, played_once, shipped

NEW = Patch(id="FR-001", kind="requirement", new=True, set={"title": "Limit requests"})
PART = Patch(id="AC-001-01", kind="criterion", part_of="FR-001", new=True, set={"text": "429"})


def specify(at: Table, *patches: Patch, who: str = "ada", key: str = "", **more: Any) -> Table:
    return at.does(Specify, who=who, key=key, patches=patches, **more)


def value(at: Table, path: str) -> Any:
    id, _, field = path.partition(".")
    return at.rt.specification.entries[id][field]


@played_once
def specified() -> Table:
    return specify(Table().start(), NEW)


def form(at: Table, action: str, subject: str = "", who: str = "ada") -> InputForm:
    return amending.opened(at.rt, action, subject, person(who), at.playbook)


def submission(at: Table, shown: InputForm, who: str = "ada", **entered: str) -> Submission:
    return Submission(
        key=f"view.{at.key()}",
        at=at.now(),
        person=person(who),
        name=shown.name,
        slug=shown.slug,
        subject=shown.subject,
        values={one.name: one.initial for one in shown.fields} | entered,
        revisions={one.name: one.revision for one in shown.fields},
    )


def submitted(at: Table, shown: InputForm, who: str = "ada", **entered: str) -> Table:
    """As the engine does it."""
    sent = submission(at, shown, who, **entered)
    for event in amending.inputs(at.rt, sent, amending.read(at.rt, sent, at.playbook)):
        at.hear(event)
    return at


def test_a_change_is_a_line_of_the_host_with_the_person() -> None:
    at = specified()
    line = at.rt.lines[-1]

    assert (line.source, line.content) == (Source.SYSTEM, "Ada added FR-001.")
    assert (line.meta["person"], line.meta["user_name"]) == ("ada", "Ada")
    assert value(at, "FR-001.title") == "Limit requests"


def test_the_same_view_counts_once() -> None:
    at = specify(Table().start(), NEW, key="view.V1.amend")
    lines = at.rt.lines
    specify(at, NEW, key="view.V1.amend")

    assert at.rt.lines == lines


def test_a_press_settles_what_is_contested() -> None:
    at = specified()
    for who, priority in (("grace", "must"), ("linus", "should")):
        at.rt = at.rt.heard(
            person(who), priority, ts=at.ts(), part=at.rt.part,
            entries=[Patch(id="FR-001", set={"priority": priority})],
        )  # fmt: skip
    assert at.rt.specification.entries["FR-001"].contested("priority")
    specify(at, Patch(id="FR-001", set={"priority": "must"}))

    assert not at.rt.specification.entries["FR-001"].contested("priority")
    assert value(at, "FR-001.priority") == "must"


def test_an_id_that_was_taken_meanwhile_is_given_anew() -> None:
    """Both people added what they thought would be FR-001; what the same submission says of it is about theirs."""
    at = specify(specified(), PART)
    risk = Patch(id="RSK-001", kind="risk", new=True, set={"text": "too few", "threatens": ["FR-001"]})
    more = NEW.but(set={"title": "See the rest"}), PART.but(set={"text": "a header"}), risk
    specify(at, *more, who="grace")

    assert value(at, "FR-001.title") == "Limit requests"
    assert value(at, "FR-002.title") == "See the rest"
    assert value(at, "AC-002-01.text") == "a header"
    assert at.rt.specification.entries["AC-002-01"].part_of == "FR-002"
    assert value(at, "RSK-001.threatens") == ["FR-002"]


@pytest.mark.parametrize(
    ("late", "notes", "told"),
    [
        (
            Patch(id="FR-001", set={"title": "Limit calls", "priority": "must"}),
            ["FR-001: Limit calls\nFR-001 Priority: must"],
            ["Grace withdrew FR-001. Yours is kept as a note: see “Not sorted yet”."],
        ),
        (
            PART,
            ["FR-001: 429"],
            ["Grace withdrew FR-001. Yours is kept as a note: see “Not sorted yet”."],
        ),
        (Patch(id="FR-001", set={"priority": None}), [], ["Grace withdrew FR-001."]),
        (Patch(id="FR-001", state=EntryState.WITHDRAWN), [], []),
    ],
    ids=["its values", "a part of it", "an emptied field", "withdrawn once more"],
)
def test_words_for_an_entry_that_is_gone_become_a_note(
    late: Patch, notes: list[str], told: list[str]
) -> None:
    """And the person is told who withdrew it, and of a note only where there is one."""
    at = specify(specified(), Patch(id="FR-001", state=EntryState.WITHDRAWN), who="grace")
    known = len(at.world.told)
    specify(at, late)

    assert [one["text"] for one in at.rt.specification.active("note")] == notes
    assert not at.rt.specification.lives("FR-001")
    assert [message.text for _, message in at.world.told[known:]] == told


def test_a_note_that_two_people_sort_at_once_becomes_one_entry() -> None:
    at = specify(
        Table().start(), Patch(id="NOTE-001", kind="note", new=True, set={"text": "Acme drops them"})
    )
    shown = form(at, Action.SORT)
    sent = submission(at, shown, **{"NOTE-001": "DEC"}), submission(at, shown, "grace", **{"NOTE-001": "RSK"})
    both = [amending.inputs(at.rt, one, amending.read(at.rt, one, at.playbook)) for one in sent]
    for event in (*both[0], *both[1]):
        at.hear(event)

    assert [one for one in at.rt.specification.entries if not one.startswith("NOTE")] == ["DEC-001"]


@pytest.mark.parametrize("kind", sorted(CONFIRMED_BY_AUTHOR))
def test_nobody_decides_or_objects_with_the_note_of_somebody_else(kind: str) -> None:
    """Neither by a press nor by the form, which keeps what else was chosen."""
    at = Table().start().say("The outbox loses photos", who="grace")
    prefix, shown = at.playbook.schema.kinds[kind].prefix, form(at, Action.SORT)

    read = amending.read(at.rt, submission(at, shown, "linus", **{"NOTE-001": prefix}), at.playbook)
    assert read.errors["NOTE-001"].startswith("Only Grace can ")
    submitted(at, shown, "grace", **{"NOTE-001": prefix})
    (entry,) = at.rt.specification.active(kind)
    assert entry["text"] == "The outbox loses photos"


def test_what_somebody_else_changed_since_is_not_overwritten_unseen() -> None:
    at = specified()
    seen = form(at, Action.AMEND, "FR-001")
    submitted(at, seen, who="grace", title="Limit all requests")
    lines = at.rt.lines

    with pytest.raises(Overtaken, match="Grace changed this while you were writing") as refused:
        submitted(at, seen, title="Limit calls")
    assert refused.value.fields == ("FR-001.title",)
    assert at.rt.lines == lines
    submitted(at, seen, priority="must")  # another field: nobody changed that
    assert (value(at, "FR-001.title"), value(at, "FR-001.priority")) == ("Limit all requests", "must")


@pytest.mark.parametrize("stage", [Stage.AT_BOUNDARY, Stage.PAUSED])
def test_where_no_step_is_open_it_is_committed_at_once(stage: Stage) -> None:
    at = specified().do_step()
    if stage is Stage.PAUSED:
        at.stop()
    assert at.rt.stage is stage
    commits = len(at.world.commits)
    specify(at, Patch(id="FR-001", set={"title": "Limit calls"}))

    assert len(at.world.commits) == commits + 1
    assert at.world.commits[-1].lines[-1].content == "Ada changed FR-001."
    assert at.rt.stage is stage
    assert at.rt.lines == ()


def test_while_a_step_is_open_its_commit_takes_it() -> None:
    at = specified()
    commits = len(at.world.commits)
    specify(at, Patch(id="FR-001", set={"title": "Limit calls"}))
    assert len(at.world.commits) == commits

    at.do_step()
    assert "Ada changed FR-001." in [one.content for commit in at.world.commits for one in commit.lines]


def test_before_the_item_is_read_nothing_can_be_changed() -> None:
    at = Table(paying=False).start()
    with pytest.raises(NotNow):
        specify(at, NEW)


def test_a_form_is_for_those_who_may_press() -> None:
    """It settles and withdraws, which words do not."""
    at = specified()
    at.playbook = replace(at.playbook, policy=Policy(press=PressPolicy.STARTER))
    with pytest.raises(NotNow):
        form(at, Action.AMEND, "FR-001", who="grace")
    with pytest.raises(NotNow):
        specify(at, Patch(id="FR-001", set={"title": "Limit calls"}), who="grace")


def test_a_form_for_what_is_not_there_says_so() -> None:
    at = Table().start()
    for action, subject in ((Action.AMEND, "FR-404"), (Action.SORT, "")):
        with pytest.raises(UserError):
            form(at, action, subject)

    at = specified()
    sent = submission(at, form(at, Action.AMEND, "FR-001")).but(subject="FR-009")
    with pytest.raises(UserError, match="no FR-009"):
        amending.read(at.rt, sent, at.playbook)


def test_the_settings_are_depth_and_silence() -> None:
    at = Table().start()
    shown = form(at, Action.SETTINGS)
    assert [one.name for one in shown.fields] == ["depth", "voices"]

    submitted(at, shown)
    assert not at.rt.manners.muted
    submitted(at, shown, voices="quiet", depth="deep")
    assert (at.rt.manners.muted, at.rt.depth) == (True, "deep")
    at.stop()
    assert [one.name for one in form(at, Action.SETTINGS).fields] == ["voices"]


def test_a_form_of_a_step_changes_its_notes() -> None:
    """By the numbers of the claims that it showed."""
    at = Table(shipped()).start().say("It prints.")
    (note,) = at.rt.specification.notes_of([at.rt.step_id])
    shown = form(at, Action.AMEND)
    submitted(at, shown, **{one.name: "It prints in colour." for one in shown.fields if note.id in one.name})

    assert at.rt.specification.entries[note.id]["text"] == "It prints in colour."


def test_a_form_of_a_discussion_is_opened_and_read_like_the_others() -> None:
    at = Table(few_steps()).start().do_step()
    at.world.more = {"by_rule": True}
    at.press(Action.ELABORATE).say("option: a queue")
    shown = form(at, Action.RECORD, "A")

    assert amending.read(at.rt, submission(at, shown, choice="other"), at.playbook).errors
    submitted(at, shown, words="A queue, for now", choice="other")
    assert [one["text"] for one in at.rt.discussed.decisions] == ["A queue, for now"]


PLACES = {
    "an early step": lambda: Table(shipped()).start(),
    "a menu": lambda: Table(shipped()).start().do_step(),
    "a discussion": lambda: Table(shipped()).start().do_step().press(Action.ELABORATE),
    "a pause": lambda: Table(shipped()).start().do_step().stop(),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_known_label_is_taken_wherever_it_is_written(place: str) -> None:
    """A priority for what was said before counts, too; nobody has to be told anything."""
    at = PLACES[place]()
    told = len(at.world.told)
    at.say("requirement: Export a list").say("Must: FR-001")

    assert (value(at, "FR-001.title"), value(at, "FR-001.priority")) == ("Export a list", "must")
    assert not any("FR-001" in message.text for _, message in at.world.told[told:])


@pytest.mark.parametrize("place", PLACES)
def test_where_a_form_cannot_be_taken_its_author_is_told_why(place: str) -> None:
    at = PLACES[place]()
    at.say("Must: FR-001", who="grace")

    assert ("grace", "There is no FR-001. Your words stay as you wrote them.") in [
        (who, message.text) for who, message in at.world.told
    ]
    assert "Must: FR-001" in [line.content for line in at.lines]


DOORS = {
    "step": lambda: Table(few_steps()).start(),
    "menu": lambda: Table(few_steps()).start().do_step(),
    "discussion": lambda: Table(few_steps()).start().elaborate(),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_decision_is_replaced_and_withdrawn_at_every_door(door: str) -> None:
    """A state is never a new text, and what was replaced comes back to be confirmed."""
    at = DOORS[door]().say("decision: A queue in the gateway", who="grace")
    at.say("decision: No queue at all; replaces: DEC-001")
    entries = at.rt.specification.entries
    assert [entries[id].state.value for id in ("DEC-001", "DEC-002")] == ["superseded", "accepted"]

    at.say("DEC-002: withdrawn")
    entries = at.rt.specification.entries
    assert [entries[id].state.value for id in ("DEC-001", "DEC-002")] == ["accepted", "withdrawn"]
    assert (entries["DEC-002"]["text"], "text" in entries["DEC-001"].stale) == ("No queue at all", True)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "prefix", sorted(kind.prefix for kind in few_steps().schema.kinds.values() if kind.prefix)
)
def test_a_word_that_takes_back_is_the_text_of_no_entry(door: str, prefix: str) -> None:
    """Also where nothing stands behind the id: then it is a note, or something said in a discussion."""
    at = DOORS[door]().say(f"{prefix}-001: withdrawn.", who="grace")

    assert {entry.kind for entry in at.rt.specification.entries.values()} <= {"note", "discussion"}
    assert f"{prefix}-001: withdrawn." in [line.content for line in at.lines]


def test_a_value_above_a_limit_is_refused_with_the_limit() -> None:
    at = Table(few_steps()).start()
    patch = Patch(id="RSK-001", kind="risk", new=True, set={"text": "x"}, sources=tuple(map(str, range(21))))

    with pytest.raises(NotNow, match="21 sources: 20 are kept"):
        specify(at, patch)
