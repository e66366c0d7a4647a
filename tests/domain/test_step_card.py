"""The card of a step: what it shows in each state, and that it says only what is the case."""

import re
from itertools import product
from typing import Any

import pytest

from bot.domain.catalog.phases import ANALYSIS_PHASES
from bot.domain.catalog.schema import ViewForm
from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action, Emphasis, Link, Message
from bot.domain.messages.step_card import (
    collapsed_card,
    finished_card,
    in_full,
    open_card,
    skipped_card,
)
from bot.domain.messages.step_scene import (
    StaleEntry,
    StepScene,
    Suggestion,
    SuggestionState,
    UnsortedNote,
)
from bot.domain.specification.claims import StaleCause
from tests.domain.card_scene import (
    FEATURES,
    behind_dots,
    choices,
    committed,
    everything,
    labels,
    part,
    scene,
    shown,
)
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting

PROPOSED = "proposed by BusinessAnalyst (persona), not accepted"
AT_ACME = "Acme's gateway just drops them, ours must not"
AGAIN = "Maya asks again where something is missing or can be read in two ways."
REPLY = "Reply here in your own words, all of you. `2. …` answers question 2. One press sorts the rest."
DRAFTS = "Maya drafts from what you say. Nothing counts until one of you accepts it."
HEADER = "**Maya Chen (Business Analyst) -- Step 01-06: Core Feature Definition**"
MENU = """[E] Elaboration Mode -- bring all perspectives to discuss this topic
[C] Continue -- move to the next step
[S] Skip remaining steps in this phase
Or type naturally to provide feedback."""


@pytest.fixture
def meeting() -> Meeting:
    return Meeting()


@pytest.fixture
def partly(meeting: Meeting) -> Meeting:
    """Three features, one of them with a test, and one exclusion."""
    meeting.say(
        "Ada",
        FEATURES,
        "requirement: Limit requests per API key\nAC: the 601st request in a minute gets a 429\n"
        "Out of scope: Limits per IP address",
    )
    meeting.say("Grace", FEATURES, "requirement: See in each answer how much is left")
    meeting.say("Grace", FEATURES, "requirement: Ask for a higher limit and hear back soon")
    return meeting


SAID = [
    ("00-01", "Scope: medium\nComplexity: low\nI think two screens change"),
    ("00-02", "Keywords: limit, quota"),
    ("00-03", "Files: 8\nConfidence: guess"),
    ("01-01", "problem: edits are lost\nmetric: conflicts from 11 to 2\n3. Winter is coming"),
    ("01-02", "user: shift lead; pains: paper; tunnels"),
    ("01-04", "limit: no new database"),
    ("01-05", "quality: sync -> 5 s p95\nrisk: two edit one row; likelihood: high; impact: high -> a copy"),
    ("01-06", "requirement: Edit offline\nAC: the edit is kept\nOut of scope: tablets -> later\nsounds good"),
    ("01-08", "Must: FR-001"),
    ("02-01", "tier 1: src/sync.ts (FR-001)"),
    ("02-02", "start: src/sync.ts -> it is small\ntask: write the queue (FR-001)"),
    ("02-04", "verdict: go with a condition; condition: a fallback\nobjection: too much"),
    ("03-01", "option: CRDT; for: exact; against: new\ndecision: CRDT; because: exact (OPT-001)"),
    ("03-03", "app -> server: JSON"),
    ("04-01", "module: Sync -> keeps rows; owns: queue"),
    ("04-02", "merge(mine, theirs) -> Row | Conflict"),
    ("04-03", "phone => server: edits"),
    ("04-04", "error: full; code: ERR-SYNC-001; severity: fatal -> retry"),
    ("04-05", "open question: who pays? -> Noor"),
]
"""Something in the forms of every section."""
HEARD: dict[str, Any] = {"heard": ("Ada", "Grace"), "waiting": ("Linus",)}


def suggested(meeting: Meeting) -> tuple[Suggestion, ...]:
    """Maya suggests a test, a risk and a question; Grace left out the question."""
    meeting.propose(
        {
            "id": "AC-002-01",
            "kind": "criterion",
            "part_of": "FR-002",
            "new": True,
            "set": {"text": "every answer carries `X-RateLimit-Remaining`"},
        },
        {
            "id": "RSK-001",
            "kind": "risk",
            "new": True,
            "set": {"text": "requests are dropped without an answer"},
        },
        {"id": "Q-001", "kind": "question", "new": True, "set": {"text": "can billing see this?"}},
        step=FEATURES,
    )
    source = Link(label="what Ada said", url="https://acme.example/p221")
    return (
        Suggestion(number=1, id="AC-002-01", by="Maya", sources=(source,)),
        Suggestion(number=2, id="RSK-001", by="Maya"),
        Suggestion(number=3, id="Q-001", by="Maya", state=SuggestionState.LEFT_OUT, decided_by="Grace"),
    )


def noted(meeting: Meeting, text: str = AT_ACME) -> UnsortedNote:
    meeting.say("Linus", FEATURES, text)
    return UnsortedNote("a", meeting.specification.notes_of([FEATURES])[-1])


def eight_notes(meeting: Meeting) -> tuple[UnsortedNote, ...]:
    for letter in "abcdefgh":
        meeting.say("Ada", FEATURES, f"word {letter}")
    return tuple(map(UnsortedNote, "abcdefgh", meeting.specification.notes_of([FEATURES])[-8:]))


SIX_TESTS = "\n".join(f"AC: it takes {number} s" for number in range(6))


class TestAnOpenStep:
    def test_begins_with_the_question(self, meeting: Meeting) -> None:
        """The step's own words, with its place above them."""
        message = open_card(scene(meeting))

        assert shown(message).splitlines()[:3] == [
            "Core Feature Definition",
            "01-06 · Requirements, step 6 of 8 · standard",
            "Now the heart of it: what rate limiting lets people do.",
        ]
        assert message.speaker == "business-analyst"
        assert message.text.startswith(f"{HEADER}\n\nNow the heart of it: what rate limiting lets people do.")
        assert labels(message) == ["Finish step", "Discuss", "Write it in a form…"]
        assert message.card
        assert message.card.foot == (REPLY,)

    @pytest.mark.parametrize(
        ("depth", "thinks", "foot"),
        [
            (Depth.STANDARD, True, DRAFTS),
            (Depth.DEEP, True, f"{DRAFTS} {AGAIN}"),
            (Depth.DEEP, False, REPLY),
        ],
    )
    def test_says_what_becomes_of_replies(
        self, meeting: Meeting, depth: Depth, foot: str, *, thinks: bool
    ) -> None:
        """A step file cannot: it does not know whether there is a model."""
        message = open_card(scene(meeting, depth=depth, thinks=thinks))

        assert message.card
        assert message.card.foot == (foot,)
        assert foot in message.text

    def test_names_the_number_of_no_question_that_it_does_not_ask(self, meeting: Meeting) -> None:
        """The plan asks only what a role lacks."""
        answered = tuple(one.but(is_answered=True) for one in scene(meeting).questions)
        message = open_card(scene(meeting, questions=answered))

        assert "answers question 2" not in message.text

    def test_what_stands_before_it_comes_first(self, meeting: Meeting) -> None:
        """The hand-over, a greeting or welcome back, once."""
        message = open_card(scene(meeting, first="Welcome back."))

        assert message.text.startswith(f"Welcome back.\n\n{HEADER}")
        assert message.text.count("Welcome back.") == 1
        assert shown(message).splitlines()[2] == "Welcome back."

    def test_shows_what_was_recorded_and_what_is_missing(self, partly: Meeting) -> None:
        """Gaps stand at their entries; an answered question is not asked again."""
        message = open_card(scene(partly, **HEARD))

        assert part(message, "So far") == [
            "FR-001 | Limit requests per API key",
            "  AC-001-01 | the 601st request in a minute gets a 429",
            "FR-002 | See in each answer how much is left | no test yet",
            "FR-003 | Ask for a higher limit and hear back soon | no test yet",
            "OUT-001 | Out of scope: Limits per IP address",
        ]
        assert part(message, "Still missing") == [
            "2. | **How can we see that it works? Put that on the line below, as `AC: ...`.** (FR-002 and FR-003)"
        ]
        assert "Heard from: Ada, Grace · not yet: Linus" in shown(message)
        assert labels(message) == ["Finish step", "Discuss", "Edit…"]

    def test_asks_first_what_is_open_in_bold(self, meeting: Meeting) -> None:
        """The others can be answered, too, by their numbers."""
        meeting.say("Ada", "01-01", "1. Busy clients slow everybody down")
        message = open_card(scene(meeting, "01-01", heard=("Ada",)))

        assert part(message, "Still missing") == [
            "2. | **How will we notice that it got better: what number moves, from where to where?**",
            "3. | Why now: what date, promise or other work is waiting for this?",
        ]

    def test_in_prose_the_answers_are_the_content(self, meeting: Meeting) -> None:
        """Under the question that they answer, with who said them."""
        meeting.say("Ada", "01-01", "1. Busy clients slow everybody down")
        message = open_card(scene(meeting, "01-01", heard=("Ada",)))

        assert part(message, "So far") == [
            "1. | What goes wrong today, and who is it that feels it?",
            "  Ada: Busy clients slow everybody down",
        ]

    def test_when_the_questions_are_answered_coverage_asks_on(self, partly: Meeting) -> None:
        """The same question about several entries is asked once."""
        message = open_card(scene(partly, questions=(), **HEARD))

        assert part(message, "Still missing") == [
            "**How would somebody see that each works? (FR-002 and FR-003)**"
        ]

    def test_what_was_answered_under_its_number_is_not_asked_in_other_words(self, meeting: Meeting) -> None:
        """Its form has no entry, and a prepared question asks for what the first question asked."""
        meeting.say("Ada", "00-01", "1. Labels come out where the box is.\n2. Small.\n3. All of it is known.")
        message = open_card(scene(meeting, "00-01", heard=("Ada",)))

        assert part(message, "Still missing") == []
        assert message.choices[0].emphasis is Emphasis.PRIMARY

    def test_a_question_stays_while_entries_of_what_it_asks_lack_something(self, meeting: Meeting) -> None:
        """A question whose answer stays a note is only listed, once there are entries."""
        meeting.say("Ada", "01-05", "quality: Answers in time -> 5 s p95\nquality: Nothing is lost")
        message = open_card(scene(meeting, "01-05", heard=("Ada",)))
        first, third = part(message, "Still missing")
        assert first.startswith("1. | **Which two or three qualities matter most, ")
        assert first.endswith("** (NFR-002)")
        assert third == "3. | What could go wrong, how likely is it, and how bad would that day be?"
        assert part(message, "Also asked") == ["2. | Which of them would you give up first?"]

        meeting.say("Ada", "01-05", "NFR-002 threshold: 0 of 1000\nrisk: Redis is down")
        message = open_card(scene(meeting, "01-05", heard=("Ada",)))
        assert part(message, "Still missing") == []
        assert message.choices[0].emphasis is Emphasis.PRIMARY
        assert "Nothing is missing. Finish when you are ready." in message.text

    def test_coverage_asks_beyond_the_questions(self, meeting: Meeting) -> None:
        meeting.say("Ada", "01-03", "journey: Close an order; trigger: the van is loaded")
        message = open_card(scene(meeting, "01-03", heard=("Ada",)))
        assert part(message, "Still missing") == ["**What does a person see when it goes wrong?**"]
        assert [row[0] for row in part(message, "Also asked")] == ["1", "2", "3"]

    def test_one_finding_at_a_time(self, partly: Meeting) -> None:
        partly.say("Linus", FEATURES, "requirement: Show it as FR-009 does")
        message = open_card(scene(partly, **HEARD))

        assert part(message, "Worth a second look") == ["FR-009 is mentioned, but there is no FR-009."]
        (fix,) = [one for one in choices(message) if one.label == "Fix…"]
        assert (fix.action, fix.value) == (Action.AMEND, "FR-004")
        assert "Or type `FR-004: new words`" in message.text

    def test_notes_wait_to_be_sorted(self, partly: Meeting) -> None:
        """Word by word, each with its letter."""
        note = noted(partly)
        message = open_card(scene(partly, unsorted=(note,), **HEARD))

        assert part(message, "Not sorted yet") == [f"a | “{AT_ACME}” – Linus"]
        assert Action.SORT in {one.action for one in choices(message)}
        assert "`sort a requirement`" in message.text

    def test_a_long_list_is_cut(self, meeting: Meeting) -> None:
        for number in range(16):
            meeting.say("Ada", FEATURES, f"requirement: Feature {number}")
        message = open_card(scene(meeting, unsorted=eight_notes(meeting), **HEARD))

        assert len(part(message, "So far")) == 12
        assert len(part(message, "Not sorted yet")) == 5
        assert message.card
        rest = [one for one in message.card.parts if one.button and one.button.action == Action.READ]
        assert [one.prose for one in rest] == ["and 4 more", "and 3 more"]
        assert {one.button.value for one in rest if one.button} == {FEATURES}

    def test_one_person_can_read_all_of_it(self, meeting: Meeting) -> None:
        for number in range(16):
            meeting.say("Ada", FEATURES, f"requirement: Feature {number}\n{SIX_TESTS}")
        message = in_full(scene(meeting, unsorted=eight_notes(meeting), **HEARD), finished=False)

        assert all(f"Feature {number}" in message.text for number in range(16))
        assert all(f"it takes {number} s" in message.text for number in range(6))
        assert "word h" in message.text
        assert not re.search(r"^\W*and \d+ more", message.text, re.MULTILINE)
        assert message.offered == ()

    def test_an_entry_with_many_parts_can_be_read_whole(self, meeting: Meeting) -> None:
        meeting.say("Ada", FEATURES, f"requirement: Feature 1\n{SIX_TESTS}")
        message = open_card(scene(meeting, **HEARD))

        assert message.card
        (rest,) = [one for one in message.card.parts if one.button and one.button.action == Action.READ]
        assert rest.prose == "Some entries are longer than shown here."

    def test_empty_parts_are_absent(self, meeting: Meeting) -> None:
        """No heading without something below it."""
        message = open_card(scene(meeting))

        assert message.card
        assert {one.title for one in message.card.parts} == {""}

    def test_what_was_settled_before_is_shown_with_the_question(self, partly: Meeting) -> None:
        """A step that ranks what another step collected begins with it."""
        partly.say("Ada", "01-08", "Must: FR-001")
        message = open_card(scene(partly, "01-08"))

        assert part(message, "So far")[:3] == [
            "FR-001 | Limit requests per API key",
            "  Priority: must",
            "FR-002 | See in each answer how much is left | no priority yet",
        ]
        assert "It all matters, so let's put it in order." in shown(message)


class TestFinish:
    """Green means ready; before that a press is asked about once."""

    def test_an_empty_step_is_asked_about(self, meeting: Meeting) -> None:
        finish = open_card(scene(meeting)).choices[0]

        assert finish.emphasis is Emphasis.PLAIN
        assert finish.confirm
        assert finish.confirm.title == "Nothing is recorded yet"
        assert finish.confirm.text == "The step will be saved as left open, with its 3 questions."

    def test_what_is_missing_is_named(self, partly: Meeting) -> None:
        finish = open_card(scene(partly, unsorted=(noted(partly),), **HEARD)).choices[0]

        assert finish.confirm
        assert finish.confirm.text == (
            "FR-002 and FR-003 have no test yet. 1 note is not sorted. The step is saved as it is."
        )
        assert (finish.emphasis, finish.confirm.yes) == (Emphasis.PLAIN, "Finish anyway")

    def test_undecided_suggestions_are_named(self, meeting: Meeting) -> None:
        """They are saved as what they are."""
        meeting.say("Ada", FEATURES, "requirement: One\nAC: it is kept\nOut of scope: tablets")
        meeting.propose({"id": "FR-009", "kind": "requirement", "new": True, "set": {"title": "Two"}})
        lines = (Suggestion(number=1, id="FR-009", by="Maya"),)
        message = open_card(scene(meeting, suggestions=lines, gaps=(), **HEARD))
        finish = next(one for one in message.choices if one.action == Action.FINISH_STEP)

        assert finish.confirm
        assert finish.confirm.title == "1 suggestion is undecided"
        assert finish.confirm.text == "What is undecided is saved as suggested, not confirmed."

    def test_green_once_nothing_is_missing(self, meeting: Meeting) -> None:
        meeting.say("Ada", FEATURES, "requirement: One\nAC: it is kept\nOut of scope: tablets")
        message = open_card(scene(meeting, **HEARD))

        assert message.choices[0].emphasis is Emphasis.PRIMARY
        assert message.choices[0].confirm is None
        assert "That is all I asked. Finish when you are ready." in message.text

    @pytest.mark.parametrize("depth", Depth)
    def test_behind_the_dots_are_the_other_depths(self, meeting: Meeting, depth: Depth) -> None:
        """And the ways out; Slack shows five of them at most."""
        message = open_card(scene(meeting, depth=depth))
        assert message.card

        offered = {one.action for one in message.card.more}
        wanted = {getattr(Action, f"DEPTH_{other.name}") for other in Depth if other is not depth}
        assert offered == {*wanted, Action.SKIP, Action.STOP}

    def test_a_discussion_saves_first(self, partly: Meeting) -> None:
        """And says so before."""
        discuss = open_card(scene(partly, **HEARD)).choices[1]

        assert discuss.confirm
        assert discuss.confirm.text == "What you have so far is saved first. You can add to it afterwards."


class TestSuggestions:
    def test_are_numbered_and_name_their_sources(self, partly: Meeting) -> None:
        message = open_card(scene(partly, suggestions=suggested(partly), **HEARD))

        rows = shown(message).splitlines()
        assert rows[rows.index("Maya suggests") :][:5] == [
            "Maya suggests",
            "_A suggestion counts when one of you accepts it._",
            "1 | AC for FR-002: every answer carries `X-RateLimit-Remaining` | from what Ada said · "
            + PROPOSED,
            "2 RSK-001 | Risk: requests are dropped without an answer | " + PROPOSED,
            "✗ 3 | Open question: can billing see this? | left out by Grace",
        ]
        assert message.links == (Link(label="1: what Ada said", url="https://acme.example/p221"),)
        assert "Or type `accept 1`, `change 2: …`, `leave out 2`, `accept all`" in message.text
        assert "AC-002-01" not in "\n".join(part(message, "So far"))

    def test_each_has_its_own_menu(self, partly: Meeting) -> None:
        """What was decided has none."""
        message = open_card(scene(partly, suggestions=suggested(partly), **HEARD))

        lines = [(one.label, one.value) for one in choices(message) if one.action == Action.LINE]
        assert lines == [
            ("✓ Accept", "1/accept"),
            ("✎ Change…", "1/change"),
            ("✗ Leave out", "1/strike"),
            ("✓ Accept", "2/accept"),
            ("✎ Change…", "2/change"),
            ("✗ Leave out", "2/strike"),
        ]

    def test_accepting_all_means_the_lines_that_are_shown(self, partly: Meeting) -> None:
        """What arrives meanwhile is not accepted unseen."""
        accept = open_card(scene(partly, suggestions=suggested(partly), **HEARD)).choices[0]
        assert (accept.label, accept.value, accept.emphasis) == ("Accept both", "1,2", Emphasis.PRIMARY)

        many = tuple(Suggestion(number=number, id="RSK-001", by="Maya") for number in range(1, 11))
        message = open_card(scene(partly, suggestions=many, **HEARD))
        assert (message.choices[0].label, message.choices[0].value) == ("Accept these 8", "1,2,3,4,5,6,7,8")
        assert "and 2 more" in shown(message)

    def test_that_are_open_are_shown_before_those_that_were_left_out(self, partly: Meeting) -> None:
        """Of many: else what comes behind eight that were left out could be neither read nor accepted."""
        gone = {"id": "RSK-001", "by": "Maya", "state": SuggestionState.LEFT_OUT}
        many = tuple(Suggestion(number=number, **gone) for number in range(1, 11))
        last = (
            Suggestion(number=11, id="RSK-001", by="Maya"),
            Suggestion(number=12, id="RSK-001", by="Maya"),
        )
        found = scene(partly, suggestions=(*many, *last), **HEARD)

        assert [one.number for one in found.shown_suggestions] == [5, 6, 7, 8, 9, 10, 11, 12]
        assert found.shown_checked == (11, 12)
        assert "and 4 more" in shown(open_card(found))

    def test_of_several_have_no_name_above_them(self, partly: Meeting) -> None:
        first, second, _ = suggested(partly)
        message = open_card(scene(partly, suggestions=(first, second.but(by="the search")), **HEARD))

        assert part(message, "Suggestions")

    def test_show_every_value_that_is_accepted_with_them(self, partly: Meeting) -> None:
        """With what is not checked; a value that nobody sees cannot be accepted."""
        values = {"text": "the disk fills", "owner": "Grace", "likelihood": "high"}
        doubts = {"owner": "nobody said it"}
        risk = {"id": "RSK-009", "kind": "risk", "new": True, "set": values, "unverified": doubts}
        partly.propose(risk)
        lines = (Suggestion(number=1, id="RSK-009", by="Maya"),)
        text = shown(open_card(scene(partly, suggestions=lines, **HEARD)))

        assert f"Owner: Grace ({PROPOSED}, unchecked: nobody said it)" in text
        assert "Likelihood: high" in text

    def test_accepting_all_leaves_what_is_unchecked_and_says_so(self, partly: Meeting) -> None:
        first, second, _ = suggested(partly)
        lines = (first, second.but(is_unchecked=True))
        accept = open_card(scene(partly, suggestions=lines, **HEARD)).choices[0]

        assert (accept.label, accept.value) == ("Accept the other 1, not the 1 unchecked", "1")

    def test_a_proposed_value_is_named_with_its_field(self, partly: Meeting) -> None:
        partly.propose({"id": "FR-001", "set": {"priority": "must"}})
        lines = (Suggestion(number=1, id="FR-001", field="priority", by="Maya"),)
        message = open_card(scene(partly, suggestions=lines, **HEARD))

        assert "1 | FR-001 priority: must" in shown(message)
        assert "FR-001 | Limit requests per API key" in shown(message)

    def test_in_brief_mode_they_are_the_card(self, partly: Meeting) -> None:
        """A draft of facts, gone through line by line, by name."""
        lines = (
            Suggestion(number=1, id="FR-001", by="Maya", state=SuggestionState.ACCEPTED, decided_by="Ada"),
            Suggestion(number=2, id="FR-002", by="Maya", state=SuggestionState.ACCEPTED, decided_by="Grace"),
            Suggestion(number=3, id="FR-003", by="Maya"),
            Suggestion(number=4, id="AC-001-01", by="Maya"),
            Suggestion(number=5, id="OUT-001", by="Maya", state=SuggestionState.LEFT_OUT, decided_by="Linus"),
        )
        message = open_card(scene(partly, depth=Depth.BRIEF, suggestions=lines, **HEARD))

        assert shown(message).splitlines()[2:8] == [
            "Here is my draft. Keep what is right, fix what is not.",
            "✓ 1 | Limit requests per API key | accepted by Ada",
            "✓ 2 | See in each answer how much is left | accepted by Grace",
            "3 FR-003 | Ask for a higher limit and hear back soon | Grace",
            "4 | AC for FR-001: the 601st request in a minute gets a 429 | Ada",
            "✗ 5 | Out of scope: Limits per IP address | left out by Linus",
        ]
        assert message.card
        assert [one.struck for one in message.card.parts if one.rows][:5] == [False] * 4 + [True]
        assert labels(message) == ["Accept the other 2", "Add…", "Discuss"]
        assert behind_dots(message) == [
            "Ask me instead (standard)",
            "Finish without the rest",
            "Skip the rest of this phase",
            "Stop here",
        ]


class TestStale:
    """What rests on a change that came later waits for people."""

    def test_is_told_with_its_cause_and_three_ways(self, partly: Meeting) -> None:
        stale = tuple(StaleEntry(id=id, cause=StaleCause.CHANGED, by="Grace") for id in ("FR-003", "FR-002"))
        message = open_card(scene(partly, stale=stale, **HEARD))

        assert part(message, "To be confirmed again") == [
            "Grace changed a message. 2 entries rest on it: FR-003 and FR-002."
        ]
        ways = [(one.action, one.value) for one in choices(message) if one.value == "FR-003"]
        assert [action for action, _ in ways][:3] == [Action.HOLDS, Action.AMEND, Action.WITHDRAW]
        assert "`keep FR-003`, `withdraw FR-003`" in message.text

    def test_is_told_on_a_card_long_behind_us(self, partly: Meeting) -> None:
        stale = (StaleEntry(id="FR-003", cause=StaleCause.REVERSED, by="Ada", source="DEC-003"),)
        message = collapsed_card(scene(partly, stale=stale))

        assert "DEC-003 was reversed by Ada. 1 entry rests on it: FR-003." in message.text


class TestAFinishedStep:
    def test_words_without_a_number_stand_below_no_question(self) -> None:
        """Neither while the step is open, nor as it was saved."""
        meeting = Meeting()
        meeting.say("Grace", "01-01", "2. Three areas.")
        meeting.say("Linus", "01-01", "The fair is in May.")
        before = scene(meeting, "01-01", **HEARD)
        after = scene(meeting, "01-01", saved=committed(meeting, "01-01")[:1], **HEARD)

        assert "\nLinus: The fair is in May." in shown(open_card(before))
        saved = shown(finished_card(after, by="Ada"))
        assert "\n  Grace: Three areas.\nLinus: The fair is in May." in saved

    def test_shows_what_was_committed(self, partly: Meeting) -> None:
        """Row by row, with what is still missing."""
        message = finished_card(scene(partly, saved=committed(partly), **HEARD), by="Ada")

        assert shown(message).startswith("Core Feature Definition – saved\n")
        assert part(message, "6. Functional Requirements") == [
            "FR-001 | Limit requests per API key",
            "  AC-001-01 | the 601st request in a minute gets a 429",
            "FR-002 | See in each answer how much is left | no test yet",
            "FR-003 | Ask for a higher limit and hear back soon | no test yet",
        ]
        assert part(message, "7. Out of Scope") == ["OUT-001 | Out of scope: Limits per IP address"]

    @pytest.mark.parametrize("step_id", [step.step_id for step in PLAYBOOK.agenda.steps])
    def test_shows_every_entry_of_its_sections(self, meeting: Meeting, step_id: str) -> None:
        """By id, each once; all but what is only counted."""
        for said_in, text in SAID:
            meeting.say("Ada", said_in, text)
        message = in_full(scene(meeting, step_id, saved=committed(meeting, step_id), **HEARD), finished=True)
        projection = meeting.projection
        wanted = {
            one.id
            for view in SCHEMA.of_step(step_id)
            for show in view.show
            if show.form not in {ViewForm.DIAGRAM, ViewForm.COUNTS}
            for one in projection.chosen(show, view)
        }
        ids = re.findall(r"\b[A-Z]{1,4}(?:-\d+){1,2}\b", message.text)

        assert wanted <= set(ids)

    def test_names_the_fields_of_a_table(self, partly: Meeting) -> None:
        partly.say("Ada", "01-05", "quality: Answers in time -> 5 s p95")
        partly.say("Ada", "01-05", "risk: Redis is down; likelihood: low; impact: high -> a local fallback")
        message = finished_card(scene(partly, "01-05", saved=committed(partly, "01-05"), **HEARD), by="Ada")

        assert part(message, "5. Quality Attributes & Risks") == [
            "NFR-001 | Answers in time",
            "  Threshold: 5 s p95",
            "RSK-001 | Risk: Redis is down",
            "  Likelihood: low · Impact: high · Mitigation: a local fallback",
        ]

    def test_carries_the_seed_menu_and_the_place(self, partly: Meeting) -> None:
        message = finished_card(scene(partly, saved=committed(partly), **HEARD), by="Ada")

        assert message.text.startswith(
            "Saved: `requirements-spec.md` > 6. Functional Requirements, `requirements-spec.md` > 7. Out of Scope"
        )
        assert message.text.endswith(MENU)
        assert "Finished by Ada · `requirements-spec.md` · said by Ada, Grace" in message.text
        assert labels(message) == ["Continue", "Amend…", "Discuss"]
        assert message.choices[0].emphasis is Emphasis.PRIMARY
        assert behind_dots(message)[0] == "Skip the rest of this phase"
        assert message.card
        assert len(message.card.more) == 5

    def test_at_the_end_of_a_phase_names_the_next(self, partly: Meeting) -> None:
        """There is nothing left to skip."""
        message = finished_card(scene(partly), by="Ada", ends_phase=True, following=ANALYSIS_PHASES[2])

        assert message.choices[0].label == "Continue to Phase 02 (Impact Analysis)"
        assert "\n[C] Continue to Phase 02 (Impact Analysis)\n" in message.text
        assert "[S]" not in message.text
        assert Action.SKIP not in {one.action for one in choices(message)}

    def test_what_is_said_afterwards_is_shown_once(self, partly: Meeting) -> None:
        """With its letter, and not a second time in the section, where the file has it."""
        note = noted(partly, "only for paying customers")
        message = finished_card(scene(partly, saved=committed(partly), unsorted=(note,), **HEARD), by="Ada")

        assert part(message, "Not sorted yet") == ["a | “only for paying customers” – Linus"]
        assert message.text.count("only for paying customers") == 1
        assert message.text.endswith(MENU)

    def test_suggestions_that_nobody_decided_are_counted(self, partly: Meeting) -> None:
        message = finished_card(scene(partly, suggestions=suggested(partly), **HEARD), by="Ada")

        assert "2 suggestions not confirmed" in shown(message)


class TestBehindUs:
    def test_a_collapsed_card_is_one_line_and_two_ways_back(self, partly: Meeting) -> None:
        message = collapsed_card(scene(partly, saved=committed(partly)))

        assert shown(message) == "✓ Core Feature Definition\nFunctional requirement: 3, Exclusion: 1"
        assert message.text.startswith(
            "Core Feature Definition is finished. Functional requirement: 3, Exclusion: 1. Saved: "
            "`requirements-spec.md`."
        )
        assert [(one.action, one.value) for one in choices(message)] == [
            (Action.AMEND, FEATURES),
            (Action.REOPEN, FEATURES),
        ]

    def test_a_skipped_step_says_who_and_can_be_opened(self, meeting: Meeting) -> None:
        message = skipped_card(scene(meeting), by="Ada")

        assert message.text == (
            "Core Feature Definition was skipped by Ada. Its questions stay open. [Open the step again]"
        )
        assert [(one.action, one.value) for one in choices(message)] == [(Action.REOPEN, FEATURES)]


# --- what holds in every state --------------------------------------------------------------------------------------


def scenes() -> list[StepScene]:
    """With and without answers, suggestions, notes and changes, at each depth."""
    found = []
    for answers, lines, notes, depth in product((False, True), (False, True), (False, True), Depth):
        meeting = Meeting()
        given: dict[str, Any] = {}
        if answers:
            meeting.say("Ada", FEATURES, "requirement: Answer soon\nAC: it is kept")
            given |= HEARD
        if lines:
            meeting.propose({"id": "RSK-001", "kind": "risk", "new": True, "set": {"text": "lost"}})
            given |= {"suggestions": (Suggestion(number=1, id="RSK-001", by="Maya"),)}
        if notes:
            given |= {"unsorted": (noted(meeting),), "heard": ("Linus",)}
        found.append(scene(meeting, depth=depth, **given))
    return found


def states(one: StepScene) -> list[Message]:
    return [
        open_card(one),
        finished_card(one, by="Ada"),
        finished_card(one, by="Ada", ends_phase=True),
        collapsed_card(one),
        skipped_card(one, by="Ada"),
    ]


CLAIMS = re.compile(
    r"– saved|Saved:|was saved|were saved|have saved|(?i:\breviewed|\banaly[sz]ed|\bdiscussed|\bI've read|\bconsidered)"
)
QUOTED = re.compile(r"“([^”]*)”")


@pytest.mark.parametrize("given", scenes())
def test_nothing_is_claimed_that_was_not_given(given: StepScene) -> None:
    """Nothing was saved, reviewed or said but what the scene holds."""
    said = {"soon", *(str(one.note["text"]) for one in given.unsorted)}
    people = {
        "Ada",
        *given.heard,
        *given.waiting,
        *(party.name for one in given.unsorted for party in one.note.owners),
    }
    for message in states(given):
        words = everything(message)
        assert CLAIMS.search(words) is None, words
        assert set(QUOTED.findall(words)) <= said, words
        assert set(re.findall("Ada|Grace|Linus", words)) <= people, words


@pytest.mark.parametrize("given", scenes())
def test_the_text_says_what_the_card_says(given: StepScene) -> None:
    """For phones and screen readers: every row. Slack's side adds what can be pressed."""
    for message in states(given):
        assert message.card
        for one in message.card.parts:
            for row in one.rows:
                assert row.text in message.text
            assert one.title in message.text
            assert one.prose in message.text


@pytest.mark.parametrize("given", scenes())
def test_at_most_one_button_is_green(given: StepScene) -> None:
    """And Finish is not while something is missing."""
    for message in states(given):
        green = [one for one in choices(message) if one.emphasis is Emphasis.PRIMARY]
        assert len(green) <= 1
        assert all(one.confirm is None for one in green)


@pytest.mark.parametrize("given", scenes())
def test_the_dots_hold_two_to_five_choices(given: StepScene) -> None:
    """Slack refuses others; and no label is too long for them."""
    for message in states(given):
        assert message.card
        assert len(message.card.more) in {0, 2, 3, 4, 5}
        assert all(len(one.label) <= 75 for one in choices(message))
        for one in choices(message):
            if one.confirm:
                assert len(one.confirm.title) <= 100
                assert len(one.confirm.text) <= 300
                assert len(one.confirm.yes) <= 30
