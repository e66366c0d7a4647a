"""A planning workshop from its brief to a plan that can be reviewed: who is asked what, and who decides."""

from itertools import product

import pytest

from bot.domain.messages import planning_wording
from bot.domain.planning import workshop
from bot.domain.planning.briefing import briefing
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.verdict import ORDER, seated
from bot.domain.planning.workshop import (
    GUARDS,
    PLAN,
    QUESTIONS_AT_ONCE,
    REQUIRED,
    Ask,
    Decide,
    Explain,
    PutAside,
    RequestPlan,
    RequestVerdict,
    Workshop,
    Write,
    entering,
)
from bot.domain.transcript.lines import LinePhase
from bot.errors import NotNow
from tests.domain.planning.seats import (
    ADA,
    GRACE,
    NO,
    PRODUCT,
    RISKS,
    TESTS,
    UNKNOWN,
    VALID,
    YES,
    asking,
    at_the_plan,
    deciding,
    drafted,
    read_through,
    ready,
    round_of,
    started,
    unanimous,
)

BROKEN = {"id": "lost-rows", "title": "", "brief": "Every export loses its last row."}


def test_the_roles_speak_in_their_order() -> None:
    """Known ones in the order of old, whatever their files are called; new ones after them."""
    assert seated(("RiskPlanner", "LawPlanner", "TestPlanner", "ProductPlanner")) == (
        "ProductPlanner",
        "TestPlanner",
        "RiskPlanner",
        "LawPlanner",
    )


def test_first_every_role_reads() -> None:
    """Each says once what it would have to know; nothing is decided on that."""
    ws = started()
    spoken = []
    while isinstance(ws.due, RequestVerdict) and ws.round == 0:
        spoken.append(ws.due.role)
        ws = workshop.judged(ws, ws.due.role, NO)

    assert tuple(spoken) == ORDER
    assert (ws.stage, ws.round, ws.proposal) == (LinePhase.WORKSHOP, 1, None)


def test_a_plan_goes_only_where_the_table_says() -> None:
    """The six ways forward of the planning schema, and four ways back; everything else is refused with a sentence."""
    forward = [
        (LinePhase.DRAFT, LinePhase.CLARIFYING),
        (LinePhase.CLARIFYING, LinePhase.WORKSHOP),
        (LinePhase.CLARIFYING, LinePhase.FORMALIZING),
        (LinePhase.WORKSHOP, LinePhase.WORKSHOP),
        (LinePhase.WORKSHOP, LinePhase.FORMALIZING),
        (LinePhase.FORMALIZING, LinePhase.REVIEW_READY),
    ]
    assert list(GUARDS)[:6] == forward
    assert len(GUARDS) == 10
    for before, after in product(LinePhase, LinePhase):
        if (before, after) not in GUARDS:
            with pytest.raises(NotNow, match=f"does not go from {before} to {after}"):
                entering(drafted().but(stage=before), after)


def test_without_a_brief_nothing_begins() -> None:
    """And without roles there is no workshop."""
    with pytest.raises(NotNow, match="nothing to plan yet"):
        workshop.started(drafted("  "))
    with pytest.raises(NotNow):
        workshop.started(drafted().but(roles=()))


def test_questions_are_put_one_at_a_time() -> None:
    """In the order of the roles; the same question of two roles is one."""
    ws = read_through(
        ProductPlanner=asking("Who is it for?", "When?"),
        TestPlanner=asking("How is it tested?", "who is it for"),
    )

    asked = []
    while isinstance(ws.due, Ask):
        asked.append((ws.due.question.text, ws.due.question.by, ws.due.left))
        ws = workshop.said(ws, "The drivers", ADA)

    assert asked == [
        ("Who is it for?", (PRODUCT, TESTS), 2),
        ("When?", (PRODUCT,), 1),
        ("How is it tested?", (TESTS,), 0),
    ]
    assert ws.due == RequestVerdict(role=PRODUCT, round=1)


def test_people_are_not_asked_more_than_they_can_bear() -> None:
    """The other questions wait for the next time, if somebody still asks them."""
    ws = read_through(**{role: asking(f"{role}, one?", f"{role}, two?") for role in ORDER})

    assert len(ws.asking) == QUESTIONS_AT_ONCE
    assert [question.text for question in ws.questions if question.id in ws.asking] == [
        f"{role}, one?" for role in ORDER
    ]


def test_an_answer_is_recorded_and_given_to_every_role() -> None:
    """With who gave it and where; what all roles read next holds it."""
    ws = workshop.said(read_through(TestPlanner=asking("How is it tested?")), "Excel opens it", ADA)

    assert [(one.answer, one.person, one.line) for one in ws.answered] == [("Excel opens it", "ada", "C1.1")]
    assert "> Ada: Excel opens it" in briefing(ws, {"ada": "Ada"})


@pytest.mark.parametrize("text", ["skip", "Skip!", "", " ", "I don’t know", "pass."])
def test_a_question_can_be_passed(text: str) -> None:
    """It stays open in the plan, and is not asked again, whoever asks it."""
    ws = workshop.said(read_through(TestPlanner=asking("How is it tested?")), text, ADA)
    ws = round_of(ws, TestPlanner=asking("How is it tested?"))

    assert [question.passed for question in ws.questions] == [True]
    assert isinstance(ws.due, Decide)
    assert "- Q1 How is it tested?" in briefing(ws, {})


def test_all_that_is_left_can_be_passed_at_once() -> None:
    """When nobody here knows."""
    ws = workshop.passed_all(read_through(TestPlanner=asking("How?", "When?")), ADA)

    assert ws.due == RequestVerdict(role=PRODUCT, round=1)
    assert all(question.passed for question in ws.questions)


def test_what_is_said_without_being_asked_is_a_remark() -> None:
    """Every role gets to read it; a blank message is nothing."""
    ws = workshop.said(workshop.said(started(), "Do it before May.", GRACE), "  ", GRACE)

    assert [remark.text for remark in ws.remarks] == ["Do it before May."]
    assert "Do it before May." in briefing(ws, {})


def test_a_message_that_is_changed_changes_what_is_read() -> None:
    """An answer that is deleted passes its question; a remark that is deleted is gone."""
    ws = workshop.said(read_through(TestPlanner=asking("How?")), "By hand", ADA)
    ws = workshop.said(ws, "And soon", GRACE)

    assert workshop.amended(ws, ADA.line, "By machine").answered[0].answer == "By machine"
    gone = workshop.amended(workshop.amended(ws, ADA.line, ""), GRACE.line, "")
    assert (gone.answered, gone.remarks, gone.questions[0].passed) == ((), (), True)


def test_after_a_round_a_decision_is_proposed_and_nothing_is_done() -> None:
    """The plan is written when a person says so."""
    ws = deciding()

    assert isinstance(ws.due, Decide)
    assert ws.due.proposal.decision is ProposedMove.GO
    assert (ws.stage, ws.plan) == (LinePhase.WORKSHOP, None)
    assert workshop.chosen(ws, ProposedMove.GO, ADA).due == RequestPlan()


def test_going_on_against_the_proposal_needs_a_reason() -> None:
    """Of the person who wants it; what others say meanwhile is a remark."""
    ws = workshop.chosen(deciding(TestPlanner=NO), ProposedMove.GO, ADA)
    assert ws.due == Explain(person="ada")

    ws = workshop.said(ws, "Are you sure?", GRACE)
    with pytest.raises(NotNow, match="Say why in one sentence"):
        workshop.said(ws, " ", ADA)
    ws = workshop.said(ws, "The fair is in May.", ADA)

    assert ws.due == RequestPlan()
    assert ws.overridden
    assert ws.chosen
    assert planning_wording.decided(ws.chosen, "Ada") == (
        "Write the plan -- chosen by Ada, although I proposed: Leave it for now (The fair is in May.)"
    )


def test_a_reason_that_is_changed_afterwards_is_the_reason() -> None:
    """It stands when it is deleted: somebody did go on."""
    ws = workshop.said(workshop.chosen(deciding(TestPlanner=NO), ProposedMove.GO, ADA), "The fair.", ADA)
    ws = workshop.amended(workshop.amended(ws, ADA.line, "The fair in May."), ADA.line, "")

    assert ws.chosen
    assert ws.chosen.reason == "The fair in May."


def test_who_has_no_reason_may_decide_otherwise() -> None:
    """The menu is open until the reason is there."""
    ws = workshop.chosen(deciding(TestPlanner=NO), ProposedMove.GO, ADA)

    assert isinstance(workshop.another_round(ws).due, RequestVerdict)
    assert workshop.chosen(ws, ProposedMove.HOLD, GRACE).held


def test_a_held_plan_waits_and_goes_on_by_any_button() -> None:
    """Nothing is lost meanwhile."""
    ws = workshop.chosen(deciding(), ProposedMove.HOLD, ADA)

    assert ws.held
    assert isinstance(ws.due, Decide)
    assert workshop.chosen(ws, ProposedMove.GO, GRACE).stage is LinePhase.FORMALIZING


def test_open_questions_are_put_when_a_person_agrees_to_it() -> None:
    """Then the roles judge again, with the answers."""
    ws = deciding(TestPlanner=asking("How is it tested?"))
    assert ws.proposal
    assert ws.proposal.decision is ProposedMove.CLARIFY

    ws = workshop.chosen(ws, ProposedMove.CLARIFY, ADA)
    assert (ws.stage, isinstance(ws.due, Ask)) == (LinePhase.CLARIFYING, True)
    ws = workshop.said(ws, "By hand.", ADA)

    assert ws.due == RequestVerdict(role=PRODUCT, round=2)
    assert ws.stage is LinePhase.WORKSHOP


def test_without_a_question_nothing_can_be_asked() -> None:
    """The button says so, and everything stays."""
    with pytest.raises(NotNow, match="no question left"):
        workshop.chosen(deciding(), ProposedMove.CLARIFY, ADA)


def test_two_rounds_are_the_limit_unless_people_ask_for_more() -> None:
    """No further question is proposed then; who presses for it gets another round, and that is on record."""
    ws = round_of(workshop.another_round(deciding(NO)), NO, TestPlanner=asking("How?"))
    assert (ws.round, ws.rounds_left) == (2, 0)
    assert ws.proposal
    assert ws.proposal.decision is ProposedMove.REDO

    again = workshop.another_round(ws)
    assert (again.round, again.more_rounds) == (3, 1)
    asked = workshop.chosen(ws, ProposedMove.CLARIFY, ADA)
    assert (asked.more_rounds, asked.more_sessions) == (1, 0)


def test_a_doubt_in_the_brief_is_settled_by_an_answer() -> None:
    """Until then it weighs against going on."""
    unsure = started("It is unclear why exports fail.")
    assert not round_of(unsure).brief_is_clear

    ws = round_of(unsure, TestPlanner=asking("What is unclear?"))
    assert workshop.said(ws, "Which rows.", ADA).brief_is_clear


def test_people_may_go_from_the_questions_straight_to_the_plan() -> None:
    """What is open is passed; it needs a brief that is clear."""
    ws = read_through(TestPlanner=asking("How?"))
    assert workshop.went_straight(ws, ADA).due == RequestPlan()

    unsure = round_of(started("It is unclear why exports fail."), TestPlanner=asking("How?"))
    with pytest.raises(NotNow, match="unclear"):
        workshop.went_straight(unsure, ADA)
    with pytest.raises(NotNow, match="still reading"):
        workshop.went_straight(started(), ADA)


def test_a_plan_with_errors_goes_back_once_and_then_to_the_people() -> None:
    """With what is wrong in it; nothing was written."""
    ws = workshop.formalized(at_the_plan(), BROKEN)
    assert ws.due == RequestPlan(errors=("title is '', and has to say something.",))

    ws = workshop.formalized(ws, BROKEN)
    assert (ws.stage, ws.plan) == (LinePhase.WORKSHOP, None)
    assert ws.proposal
    assert ws.proposal.decision is ProposedMove.REDO
    assert "title is '', and has to say something." in ws.proposal.reasons


def test_a_mended_plan_is_as_good_as_any() -> None:
    """The second attempt counts."""
    ws = workshop.formalized(workshop.formalized(at_the_plan(), BROKEN), VALID)

    assert ws.due == Write()
    assert ws.errors == ()


def test_ready_for_review_needs_every_output() -> None:
    """Two of three are not enough."""
    ws = workshop.formalized(at_the_plan(), VALID)

    with pytest.raises(NotNow, match="not all written"):
        workshop.written(ws, PLAN)
    done = workshop.written(ws, *REQUIRED)
    assert (done.stage, done.due, done.plan) == (LinePhase.REVIEW_READY, None, None)


def test_a_redo_puts_the_version_aside_and_begins_the_next() -> None:
    """Answers and remarks stay, what was passed may be asked again, and what went wrong is a lesson."""
    ws = workshop.said(read_through(TestPlanner=asking("How?", "When?")), "By hand.", ADA)
    ws = round_of(workshop.passed_all(ws, ADA), RiskPlanner=NO)
    ws = workshop.chosen(ws, ProposedMove.REDO, ADA)
    assert ws.due == PutAside()

    again = workshop.put_aside(ws)
    assert (again.stage, again.version, again.round, again.sessions) == (LinePhase.DRAFT, 2, 0, 0)
    assert [question.text for question in again.questions] == ["How?"]
    assert again.lessons == ("RiskPlanner: It is too big.",)
    assert "## Version 1 came to nothing" in briefing(again, {})


def test_new_questions_of_a_new_version_have_ids_of_their_own() -> None:
    """Those of before keep theirs."""
    ws = workshop.said(read_through(TestPlanner=asking("How?", "When?")), "skip", ADA)
    ws = round_of(workshop.said(ws, "In May.", ADA))
    again = workshop.started(workshop.put_aside(workshop.chosen(ws, ProposedMove.REDO, ADA)))

    ids = [question.id for question in round_of(again, TestPlanner=asking("How?")).questions]
    assert ids == ["Q2", "Q3"]


def test_a_plan_that_is_ready_can_be_done_again() -> None:
    """Only a person begins that."""
    ws = workshop.chosen(ready(), ProposedMove.REDO, ADA)

    assert ws.due == PutAside()
    assert workshop.put_aside(ws).stage is LinePhase.DRAFT
    with pytest.raises(NotNow):
        workshop.chosen(ready(), ProposedMove.GO, ADA)


@pytest.mark.parametrize("ws", [drafted(), started(), at_the_plan(), ready()], ids=lambda ws: str(ws.stage))
def test_what_makes_no_sense_is_refused_with_a_sentence(ws: Workshop) -> None:
    """And changes nothing."""
    with pytest.raises(NotNow):
        workshop.chosen(ws, ProposedMove.GO, ADA)
    with pytest.raises(NotNow):
        workshop.another_round(ws)
    with pytest.raises(NotNow):
        workshop.passed_all(ws, ADA)


def test_what_comes_too_late_changes_nothing() -> None:
    """A voice that answers twice, or for a round that is over; a commit that nobody waits for."""
    ws = deciding()

    assert workshop.judged(ws, PRODUCT, NO) is ws
    assert workshop.judged(started(), RISKS, NO) == started()
    assert workshop.formalized(ws, VALID) is ws
    assert workshop.written(ws, *REQUIRED) is ws
    assert workshop.put_aside(ws) is ws


def test_the_roles_hear_in_the_second_round_what_the_others_said() -> None:
    """In one line, the same for all of them."""
    ws = workshop.another_round(deciding(TestPlanner=NO, RiskPlanner=UNKNOWN))

    assert "TestPlanner:NOT_OK(It is too big.); RiskPlanner:UNKNOWN(Too little is known.)" in briefing(ws, {})


def test_a_workshop_survives_being_saved_at_any_moment() -> None:
    """As JSON, and back."""
    for ws in (drafted(), read_through(TestPlanner=asking("How?")), deciding(YES), at_the_plan(), ready()):
        assert Workshop.model_validate_json(ws.model_dump_json()) == ws
    full = workshop.formalized(at_the_plan(), VALID)
    assert Workshop.model_validate_json(full.model_dump_json()) == full


@pytest.mark.parametrize(
    ("ws", "sentence"),
    [
        (drafted(), "The plan (version 1) has a brief, and has not begun."),
        (
            read_through(TestPlanner=asking("How?")),
            "The plan (version 1) is waiting for answers, 1 question to go.",
        ),
        (deciding(), "The plan (version 1, round 1) is being discussed by the roles."),
        (
            workshop.chosen(deciding(), ProposedMove.HOLD, ADA),
            "The plan (version 1, round 1) is left for now.",
        ),
        (ready(), "The plan (version 1) is written."),
    ],
)
def test_the_status_says_where_it_is(ws: Workshop, sentence: str) -> None:
    """In one line."""
    assert planning_wording.status(ws) == sentence


def test_what_all_roles_agree_on_is_challenged_by_one() -> None:
    """By the role for what goes wrong; nothing is proposed before that."""
    ws = unanimous()

    assert ws.due == RequestVerdict(role=RISKS, round=1, challenge=True)
    assert ws.proposal is None


def test_a_challenge_that_finds_something_counts_instead_of_the_yes() -> None:
    """The verdict before stays in the record."""
    ws = workshop.judged(unanimous(), RISKS, NO)

    assert isinstance(ws.due, Decide)
    assert ws.due.proposal.decision is ProposedMove.HOLD
    assert ws.due.proposal.reasons[0] == "4 of 5 roles agree."
    assert [one.verdict for one in ws.judgements if one.role == RISKS] == [YES, YES, NO]


def test_a_challenge_that_finds_nothing_is_named_beside_the_agreement() -> None:
    """Without models no role was asked, and the proposal says so."""
    challenged, by_rules = workshop.judged(unanimous(), RISKS, YES), deciding()

    assert challenged.proposal
    assert by_rules.proposal
    assert challenged.proposal.reasons == (
        "5 of 5 roles agree. Risk Planner looked for what speaks against it, and says yes.",
    )
    assert by_rules.proposal.reasons == ("5 of 5 roles agree. No role was asked for what speaks against it.",)


def test_a_challenge_that_fails_is_no_agreement() -> None:
    """A voice that stumbles can hold a plan up, and never wave it through as if all agreed."""
    ws = workshop.judged(unanimous(), RISKS, UNKNOWN)

    assert ws.proposal
    assert ws.proposal.reasons[0] == "4 of 5 roles agree."
