"""Pieces of work become issues of a tracker: by a form, one for each, and what became of them is only shown."""

from dataclasses import replace

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policy, PressPolicy
from bot.domain.item.artifacts import additive
from bot.domain.item.item import TrackerIssue
from bot.domain.messages import menus
from bot.domain.messages import tracker_wording as wording
from bot.domain.messages.form import FormName, InputForm, Submission
from bot.domain.messages.message import Action, Link, Message
from bot.domain.roundtable.effects import PushIssue, ReadIssue, ReadIssues
from bot.domain.roundtable.inputs import CreateIssues, IssueChanged
from bot.domain.roundtable.outcomes import IssuesRead
from bot.domain.roundtable.state import BRIEF, ROOT
from bot.domain.roundtable.timers import TimerName, due_at
from bot.domain.roundtable.transitions import amending, issues
from bot.domain.specification.brief import issue_of
from bot.domain.specification.claims import EntryState, PartyKind
from bot.domain.specification.exported import ExportEdit
from bot.domain.specification.fold import Patch
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.card_scene import behind_dots, shown
from tests.domain.table import SORRY, Table, person, played_once
from tests.specification.meeting import PLAYBOOK

REPOSITORIES = ("acme/api", "acme/web")
FIRST, SECOND = (f"https://github.com/acme/api/issues/{number}" for number in (57, 58))
WHAT = "2. Pay without an account\nAC: a guest @grace pays with #2 fields"


WITH_TRACKER = replace(PLAYBOOK, repositories=REPOSITORIES)


@played_once
def analysed() -> Table:
    return analysed_with(WITH_TRACKER)


def analysed_with(playbook: Playbook, *, private: bool | None = False) -> Table:
    """Two pieces of work, one of which waits for the other."""
    table = Table(playbook).start("Guest checkout", depth=None)
    table.rt = table.rt.but(manners=table.rt.manners.but(private=private))
    table.say("1. Guests leave at the account form.").press(Action.NEXT).say(WHAT).press(Action.NEXT)
    while table.rt.menu and Action.NEXT in table.offered():
        table.press(Action.NEXT)
    table.say("task: The form (FR-001)", who="grace").say("task: The mail -> WRK-001", who="grace")
    return table


def create(table: Table, *entries: str, repository: str = "", who: str = "ada") -> Table:
    return table.does(CreateIssues, who=who, entries=entries, repository=repository)


def form(table: Table, who: str = "ada") -> InputForm:
    return amending.opened(table.rt, Action.ISSUES, "", person(who), table.playbook)


def brief(table: Table) -> Message:
    message = table.rt.live[BRIEF].shown
    assert message
    return message


def issue(table: Table, id: str) -> str:
    return issue_of(table.rt.specification.entries[id])


# --- the button and the form ------------------------------------------------------------------------------------------


def test_the_button_stands_where_work_can_become_issues() -> None:
    """At the end, and at the end of the plan."""
    for table, is_offered in ((analysed(), True), (analysed_with(PLAYBOOK), False)):
        assert ("Create issues…" in behind_dots(brief(table))) is is_offered
        table.plan().press(Action.FINISH_STEP)
        assert ("Create issues…" in behind_dots(table.world.thread[-1].message)) is is_offered


@pytest.mark.parametrize("channel", ["private", "unknown"])
def test_nothing_of_a_private_channel_becomes_an_issue(channel: str) -> None:
    """Nor where it is not known who can see the channel."""
    table = analysed_with(WITH_TRACKER, private=True if channel == "private" else None)

    assert "Create issues…" not in behind_dots(brief(table))
    with pytest.raises(NotNow, match=wording.PRIVATE):
        form(table)
    with pytest.raises(NotNow, match=wording.PRIVATE):
        create(table, "WRK-001")


def test_the_form_shows_what_an_issue_will_say() -> None:
    """Words of people tell nobody in the tracker, and link no other issue. Names of people are not in it."""
    found = form(analysed())
    work, repository, _ = found.fields

    assert [one.value for one in work.options] == ["WRK-001", "WRK-002"]
    assert work.initial == ("WRK-001", "WRK-002")
    assert (repository.initial, [one.value for one in repository.options]) == ("acme/api", list(REPOSITORIES))
    assert "**The form**" in found.intro
    assert "AC-001-01: a guest @<!-- -->grace pays with \\#<!-- -->2 fields" in found.intro
    assert "Grace" not in found.intro


def test_the_repository_of_the_issue_that_the_item_began_with_is_proposed() -> None:
    found = wording.form([], "guest-checkout", repositories=REPOSITORIES, chosen="Acme/Web")

    assert found.fields[1].initial == "acme/web"


def test_one_repository_is_not_asked_for() -> None:
    found = form(analysed_with(replace(PLAYBOOK, repositories=("acme/api",))))

    assert [one.name for one in found.fields] == [wording.WORK, wording.LABELS]
    assert found.intro.startswith("One issue for each in **acme/api**.")


@pytest.mark.parametrize(("number", "told"), [(0, wording.CHOOSE), (21, wording.TOO_MANY_CHOSEN), (20, "")])
def test_some_are_chosen_and_not_too_many(number: int, told: str) -> None:
    chosen = tuple(f"WRK-{one:03}" for one in range(number))
    sent = Submission(
        key="v", at="now", person=person("ada"), name=FormName.ISSUES, slug="x", values={wording.WORK: chosen}
    )

    assert issues.flaws(sent) == ({wording.WORK: told} if told else {})
    assert issues.entered(sent).entries == chosen


@pytest.mark.parametrize(
    ("typed", "labels", "told"),
    [
        ("", (), ""),
        (" api, good first issue,,api ,", ("api", "good first issue"), ""),
        (",".join(map(str, range(21))), None, wording.WRONG_LABELS),
        ("x" * 51, None, wording.WRONG_LABELS),
    ],
)
def test_labels_are_typed_with_commas(typed: str, labels: tuple[str, ...] | None, told: str) -> None:
    values = {wording.WORK: ("WRK-001",), wording.LABELS: typed}
    sent = Submission(key="v", at="now", person=person("ada"), name=FormName.ISSUES, slug="x", values=values)

    assert issues.flaws(sent) == ({wording.LABELS: told} if told else {})
    assert labels is None or issues.entered(sent).labels == labels


def test_new_issues_get_the_labels() -> None:
    """The line with who pressed names them."""
    table = analysed().stop_paying()
    table.does(CreateIssues, entries=("WRK-001",), labels=("api", "web"))

    (effect,) = [one for one in table.rt.outbox if isinstance(one, PushIssue)]
    assert effect.labels == ("api", "web")
    assert table.rt.lines[-1].content == "Ada asked for 1 issue in acme/api: WRK-001. Labels: api, web."


# --- creating ---------------------------------------------------------------------------------------------------------


def test_each_entry_has_its_issue_by_who_pressed() -> None:
    """One message says all of them, and they are saved together."""
    table = analysed()
    commits = len(table.world.commits)
    create(table, "WRK-001", "WRK-002")

    assert table.world.issues == {FIRST: "The form", SECOND: "The mail"}
    assert (issue(table, "WRK-001"), issue(table, "WRK-002")) == (FIRST, SECOND)
    claim = table.rt.specification.entries["WRK-001"].claim("issue")
    assert claim
    assert (claim.owner.kind, claim.owner.name) == (PartyKind.PERSON, "Ada")
    assert "Ada created 2 issues: acme/api#57 (WRK-001) and acme/api#58 (WRK-002)." in table.texts
    assert len(table.world.commits) == commits + 1
    lines = [line.content for line in table.lines if "issue" in line.content]
    assert lines[0] == "Ada asked for 2 issues in acme/api: WRK-001 and WRK-002."
    assert f"Ada created acme/api#57 for WRK-001: {FIRST}" in lines


def test_the_brief_and_the_plan_show_number_and_link() -> None:
    table = create(analysed(), "WRK-001")

    assert "The form -> nobody yet, acme/api#57" in shown(brief(table))
    assert Link(label="WRK-001: acme/api#57 open", url=FIRST) in brief(table).links
    assert "acme/api#57" in table.world.files["brief.md"]
    table.plan().press(Action.FINISH_STEP)
    assert f"[acme/api#57]({FIRST})" in table.world.files["planning/plan.md"]


def test_an_issue_names_the_requirement_and_what_comes_before_it() -> None:
    table = create(analysed(), "WRK-001").stop_paying()
    create(table, "WRK-002")
    (effect,) = [one for one in table.rt.outbox if isinstance(one, PushIssue)]

    assert f"- After WRK-001 ({FIRST})" in effect.text
    assert effect.title == "The mail"


def test_what_is_under_way_is_not_asked_for_twice() -> None:
    """After a restart it goes on."""
    table = analysed().stop_paying()
    create(table, "WRK-001")

    with pytest.raises(NotNow, match="under way"):
        create(table, "WRK-001", who="grace")
    create(table, "WRK-001", "WRK-002", who="grace")
    assert [one.entry for one in table.rt.outbox if isinstance(one, PushIssue)] == ["WRK-001", "WRK-002"]

    table = analysed().stop_paying()
    create(table, "WRK-001", "WRK-002").resume_paying().restart()

    assert list(table.world.issues) == [FIRST, SECOND]


def test_an_issue_that_is_there_is_renewed() -> None:
    """Without a line: the entry says the same as before. Who pressed is told where people changed our part."""
    table = create(analysed(), "WRK-001")
    known = len(table.lines)
    table.world.left_alone = True
    create(table, "WRK-001")

    assert table.world.issues == {FIRST: "The form"}
    assert [line.content for line in table.lines[known:]] == ["Ada asked for 1 issue in acme/api: WRK-001."]
    assert table.world.told[-1][1].text == (
        "I left acme/api#57 (WRK-001) as it is: somebody changed or removed what I wrote there."
    )


def test_only_what_people_accepted_is_in_an_issue() -> None:
    """What is only proposed stays in the thread."""
    table = analysed()
    proposal = Patch(
        id="AC-001-02", kind="criterion", part_of="FR-001", new=True, set={"text": "in one second"}
    )
    table.rt = table.rt.proposing("A proposal.", actor="Maya", part=table.rt.part, entries=[proposal])
    assert "AC-001-02" in table.rt.specification.entries

    assert "in one second" not in form(table).intro


def test_a_long_issue_is_cut_between_its_parts() -> None:
    """GitHub takes a limited text, and our mark stands at its end."""
    row = wording.IssueRow("FR-001", "w" * 2_000)
    text = wording.issue_text(
        wording.IssueRow("WRK-001", "The form"),
        item="Checkout",
        thread="",
        said="",
        by_when="",
        waits=[("WRK-002", "")],
        served=[(row, [row])] * 10,
    )

    assert len(text) <= wording.ISSUE_CHARS + 100
    assert text.endswith(f"- [ ] FR-001: {row.words}\n\n{wording.MORE}")


@pytest.mark.parametrize("entries", [("WRK-009",), ("FR-001",), ()])
def test_only_accepted_work_becomes_an_issue(entries: tuple[str, ...]) -> None:
    with pytest.raises(NotNow):
        create(analysed(), *entries)


def test_only_repositories_that_are_set_get_issues() -> None:
    """From people who may press."""
    table = analysed()
    with pytest.raises(NotNow):
        create(table, "WRK-001", repository="evil/web")
    table.say("WRK-001 issue: https://github.com/evil/web/issues/1")
    assert issue(table, "WRK-001") == "https://github.com/evil/web/issues/1"
    with pytest.raises(NotNow):
        create(table, "WRK-001")

    table = analysed_with(
        replace(PLAYBOOK, repositories=REPOSITORIES, policy=Policy(press=PressPolicy.STARTER))
    )

    with pytest.raises(NotNow):
        create(table, "WRK-001", who="grace")
    assert create(table, "WRK-001").world.issues


def test_a_refusal_stops_the_others_and_is_told_once() -> None:
    """What was created before it stays, and is said."""
    table = analysed().stop_paying()
    create(table, "WRK-001", "WRK-002").pay_up_to("push_issue").pay_one()
    table.fail("push_issue").resume_paying()

    assert (issue(table, "WRK-001"), issue(table, "WRK-002")) == (FIRST, "")
    assert table.texts[-1] == "Ada created 1 issue: acme/api#57 (WRK-001)."
    told = [message.text for _, message in table.world.told if "Create issues" in message.text]
    assert told == [
        "The disk is full. Press *Create issues…* again for those that are missing: none is created twice."
    ]

    stopped = create(analysed().fail("push_issue"), "WRK-001", "WRK-002")
    assert stopped.world.issues == {}
    assert sum("Create issues" in message.text for _, message in stopped.world.told) == 1


def pushes(table: Table) -> dict[str, PushIssue]:
    return {one.entry: one for one in table.rt.outbox if isinstance(one, PushIssue)}


def test_until_an_answer_comes_the_first_press_counts() -> None:
    """An issue may have been created by any press since: the tracker looks for it among all that were created then."""
    table = create(analysed().fail("push_issue"), "WRK-001").stop_paying()
    first = table.rt.issues.asked["WRK-001"]
    table.say("That was on Friday.")
    create(table, "WRK-001", "WRK-002", who="grace")
    asked = pushes(table)

    assert asked["WRK-001"].since == first < asked["WRK-002"].since == asked["WRK-002"].asked_at
    table.resume_paying()
    assert list(table.world.issues) == [FIRST, SECOND]
    assert table.rt.issues.asked == {}


def test_of_an_item_from_git_any_issue_may_have_been_created() -> None:
    """What was pressed last may be in no commit."""
    table = analysed().forget("Guest checkout").stop_paying()
    table.say("A moment later.")
    create(table, "WRK-001")

    assert table.rt.created_at
    assert pushes(table)["WRK-001"].since == table.rt.created_at < pushes(table)["WRK-001"].asked_at


# --- the issue that the item began with -------------------------------------------------------------------------------


def as_issue(text: str, updated: str, *edits: ExportEdit) -> TrackerIssue:
    return TrackerIssue(
        url=FIRST, title="Rate limits", text=text, by="octo-ada", state="open", updated=updated, edits=edits
    )


def begun(reference: str = "acme/api#57") -> Table:
    """GitHub did not answer in time when the roundtable began."""
    return Table(few_steps()).start(reference)


def press_read(table: Table, who: str = "ada") -> Table:
    return table.press_outside(Action.READ_ISSUE, who=who)


def root_message(table: Table) -> Message:
    message = table.rt.live[ROOT].shown
    assert message
    return message


def test_the_issue_can_be_read_again_wherever_an_item_began_with_one() -> None:
    """While it runs, and while it is stopped; also when the store was lost, and only its id is known."""
    for table in (begun(), begun().do_step(), begun().stop(), begun().do_step().forget("acme/api#57")):
        assert menus.READ_ISSUE.label in behind_dots(root_message(table)), table.rt.stage
    assert menus.READ_ISSUE.label not in behind_dots(root_message(begun("#57")))
    assert menus.READ_ISSUE.label not in behind_dots(root_message(begun("Offline sync")))
    with pytest.raises(NotNow):
        press_read(begun("Offline sync"))


def test_what_the_issue_says_now_is_added_and_proposed() -> None:
    """What stands in draft.md stays. Read once more it says nothing twice; what people accepted stays, too."""
    edit = ExportEdit(line=1, text="A limit for each client", kind="requirement", path=FIRST, commit="t1")
    table = begun().say("requirement: Ours")
    before = table.world.files["draft.md"]
    table.world.began_with = as_issue("We fall over.", "2026-11-24T09:30:00Z", edit)
    press_read(table)
    said = next(text for text in table.texts if text.startswith("I have read"))

    assert (
        "I have read `acme/api#57` (2026-11-24T09:30:00Z). Its text is in `draft.md`. Proposed: FR-002."
        in said
    )
    draft = table.world.files["draft.md"]
    assert additive(before, draft)
    assert "> We fall over." in draft
    proposed = table.rt.specification.entries["FR-002"]
    assert (proposed["title"], proposed.state) == ("A limit for each client", EntryState.PROPOSED)

    entries, texts = table.rt.specification.entries, len(table.texts)
    press_read(table, who="grace")
    assert (table.rt.specification.entries, len(table.texts)) == (entries, texts)
    assert table.lines[-1].content == "Grace asked to read acme/api#57 again."
    assert table.world.files["draft.md"] == draft
    assert table.world.told[-1][0] == "grace"
    assert "there is nothing new" in table.world.told[-1][1].text

    table.world.began_with = as_issue("We fell over twice.", "2026-11-25T09:30:00Z", edit)
    press_read(table)
    assert additive(draft, table.world.files["draft.md"])
    assert "> We fell over twice." in table.world.files["draft.md"]
    assert table.rt.specification.entries == entries


def test_why_the_issue_is_not_read_is_told_to_who_pressed() -> None:
    """Asked for twice at once, it is read once."""
    table = begun().stop_paying()
    with pytest.raises(NotNow, match="being read"):
        press_read(press_read(table), who="grace")
    assert len([one for one in table.rt.outbox if isinstance(one, ReadIssue)]) == 1
    table.fail("read_issue").resume_paying()

    assert [who for who, message in table.world.told if message.text == SORRY] == ["ada"]
    assert table.rt.issue is None


# --- what became of them ----------------------------------------------------------------------------------------------


def due(table: Table) -> Table:
    """The moment at which the states are read."""
    found = due_at(table.rt, table.rt.timers[TimerName.ISSUES])
    table.rt = table.decided(next(one for one in found if one.name == TimerName.ISSUES))
    return table.resume_paying()


def test_whether_an_issue_is_open_is_shown_and_decides_nothing() -> None:
    table = create(analysed(), "WRK-001", "WRK-002")
    before = table.rt
    table.world.states = {FIRST: "closed"}
    due(table)

    assert Link(label="WRK-001: acme/api#57 closed", url=FIRST) in brief(table).links
    assert Link(label="WRK-002: acme/api#58 open", url=SECOND) in brief(table).links
    assert (table.rt.specification, table.rt.stage) == (before.specification, before.stage)
    assert table.rt.lines == before.lines


def test_it_is_looked_at_less_often_while_nothing_happens() -> None:
    """At most once a day; and not at all once all are closed."""
    table = create(analysed(), "WRK-001")
    waits = []
    for _ in range(9):
        waits.append(table.rt.issues.seconds)
        due(table)
    assert waits == [900, 1800, 3600, 7200, 14400, 28800, 57600, 86400, 86400]

    table.world.states = {FIRST: "closed"}
    due(table)
    assert table.rt.issues.seconds == 900
    due(table)
    assert TimerName.ISSUES not in table.rt.timers
    assert len([one for one in table.completing if isinstance(one, ReadIssues)]) == 10


def test_a_tracker_that_is_away_changes_nothing() -> None:
    table = create(analysed(), "WRK-001")
    due(table.fail("read_issues"))

    assert Link(label="WRK-001: acme/api#57 open", url=FIRST) in brief(table).links
    assert TimerName.ISSUES in table.rt.timers


def test_the_states_of_all_issues_are_read() -> None:
    """However many there are."""
    table, numbers = analysed(), range(3, 63)
    table.say("\n".join(f"task: The field {number}" for number in numbers))
    addresses = [f"https://github.com/acme/api/issues/{number}" for number in numbers]
    table.say(
        "\n".join(f"WRK-{number:03} issue: {one}" for number, one in zip(numbers, addresses, strict=True))
    )
    assert issue(table, "WRK-062") == addresses[-1]
    create(table, "WRK-001")

    table.world.states = dict.fromkeys(addresses, "closed")
    assert due(table).rt.issues.states == {FIRST: "open", **table.world.states}


def test_what_was_not_read_is_looked_at_again_since_the_same_moment() -> None:
    table = due(create(analysed(), "WRK-001"))
    found = {"key": "k", "effect": "k", "at": table.now(), "states": {FIRST: "closed"}}
    later = table.rt.but(now="2026-02-01T00:00:00.000Z")
    part = issues.note_states(later, IssuesRead(**found, complete=False), table.playbook).issues
    whole = issues.note_states(later, IssuesRead(**found), table.playbook).issues

    assert part.states == whole.states == {FIRST: "closed"}
    assert part.read_at == table.rt.issues.read_at < whole.read_at == later.now


def test_of_an_item_from_git_the_states_are_read_again() -> None:
    """The entry has the issue; the state is known once it was read, and looked at no more often than before."""
    table = create(analysed(), "WRK-001").forget("Guest checkout")
    assert issue(table, "WRK-001") == FIRST
    due(table)
    assert (table.rt.issues.states, table.rt.issues.seconds) == ({}, 900)

    table.world.states = {FIRST: "closed"}
    due(table)
    assert table.rt.issues.states == {FIRST: "closed"}


def test_what_the_tracker_tells_is_read_at_once() -> None:
    """Also when all were closed. Other issues, and what was told before, do nothing."""
    table = create(analysed(), "WRK-001")
    table.world.states = {FIRST: "closed"}
    due(due(table))
    assert TimerName.ISSUES not in table.rt.timers

    other = IssueChanged(key="k1", at=table.now(), issue=SECOND)
    assert TimerName.ISSUES not in table.hear(other).rt.timers
    told = IssueChanged(key="k2", at=table.now(), issue=FIRST)
    table.world.states = {FIRST: "open"}
    assert table.hear(told).rt.timers[TimerName.ISSUES] <= table.rt.now
    assert due(table).rt.issues.states == {FIRST: "open"}
    later = table.rt.timers[TimerName.ISSUES]
    assert table.hear(told).rt.timers[TimerName.ISSUES] == later
