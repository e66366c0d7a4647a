"""What the host says in a workshop: who wants to know what, what is proposed, and that people decide."""

from bot.domain.messages import planning_wording
from bot.domain.messages.planning_card import planning_card
from bot.domain.planning import workshop
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.verdict import RoleVerdict
from bot.domain.planning.workshop import Ask
from tests.domain.planning.seats import ADA, NO, VALID, asking, deciding, read_through, ready, started


def test_the_opening_says_who_reads() -> None:
    """And in a second version that nobody has to answer twice."""
    assert planning_wording.opened(started()) == (
        "Let's plan **Exports lose rows**. Product Planner, System Designer, Senior Developer, Test Planner"
        " and Risk Planner read what is recorded, and say what they need to know."
    )
    again = workshop.put_aside(workshop.chosen(ready(), ProposedMove.REDO, ADA))
    assert planning_wording.opened(again).endswith("This is version 2; what you answered before is kept.")


def test_a_question_says_who_asks_and_how_many_follow() -> None:
    """So that people know what they let themselves in for."""
    ws = read_through(TestPlanner=asking("How?", "When?"), RiskPlanner=asking("how"))
    assert isinstance(ws.due, Ask)
    assert planning_wording.asked(ws.due) == (
        "**How?**\n_(1 more question after this; Risk Planner would like to know, too)_"
    )

    ws = workshop.said(ws, "By hand.", ADA)
    assert isinstance(ws.due, Ask)
    assert planning_wording.asked(ws.due) == "**When?**\n_(the last question for now)_"


def test_a_verdict_is_said_in_plain_words() -> None:
    """Yes, no or not yet, how sure, and everything that goes with it."""
    full = RoleVerdict(
        ok=False,
        confidence=0.9,
        reasons=("# It is big.",),
        suggestions=("Cut it.",),
        blocking_questions=("Who?",),
    )

    assert planning_wording.verdict(full) == (
        "No. (confidence 90%)\n- \\# It is big.\n- I'd suggest: Cut it.\n- I need to know: Who?"
    )
    assert planning_wording.verdict(RoleVerdict()) == "I can't say yet."


def test_a_proposal_leaves_the_decision_to_people() -> None:
    """With the reasons below it."""
    proposal = deciding(TestPlanner=NO).proposal
    assert proposal

    assert planning_wording.proposed(proposal) == (
        "**I'd leave it for now.** You decide.\n- 4 of 5 roles agree.\n- Test Planner says no.\n"
        "- Test Planner would not commit to it yet."
    )


def test_every_decision_has_a_button_and_a_sentence() -> None:
    """None of them is left without."""
    assert planning_wording.BUTTONS.keys() == planning_wording.PROPOSALS.keys() == set(ProposedMove)


def test_errors_are_told_as_they_are() -> None:
    """First that they are being mended, then that nothing was written."""
    errors = ("The plan has no title.",)

    assert planning_wording.mending(errors).endswith("corrected plan.\n- The plan has no title.")
    assert planning_wording.not_mended(errors).endswith("nothing was written.\n- The plan has no title.")


def test_a_plan_that_is_written_says_how_much_there_is_of_it() -> None:
    """Ones and manies in proper words; it is ready only when nothing that it needs is open."""
    plan = PlanDocument.model_validate(VALID)
    assert planning_wording.ready(ready(), plan) == (
        "The plan of **Exports lose rows** is written, version 1:"
        " 1 task, 0 acceptance criteria, 0 files, 0 risks, 0 open questions.\n"
        "It is ready for review. It is kept as `planning/plan.md` (to read),"
        " `planning/planning.ai.json` (the plan itself), `planning/plan.files.json` and `planning/plan-review.json`."
    )
    assert "\nNot ready: 1 contested. It is kept" in planning_wording.ready(
        ready(), plan, "Not ready: 1 contested."
    )


def test_a_redo_says_where_the_version_is_kept() -> None:
    """And that the transcript is not touched."""
    assert planning_wording.begins_again(ready(), "planning/versions/v1") == (
        "Version 1 is kept in `planning/versions/v1`, and the transcript goes on. Version 2 begins."
    )


def test_the_short_sentences_are_there() -> None:
    """Each is said at one point of the workshop, and ends as a sentence does."""
    for sentence in (
        planning_wording.HOW_TO_ANSWER,
        planning_wording.round_begins(started()),
        planning_wording.explain("Ada"),
        planning_wording.HELD,
        planning_wording.FORMALIZING,
    ):
        assert sentence.endswith(".")


def test_a_long_reason_on_the_card_keeps_its_sources() -> None:
    """Without the commits, and with links to the code where people can read it."""
    cited = ("src/sync.py:40-58@1a2b3c4", "src/mail.py:7@1a2b3c4")
    reasons = [f"{'word ' * 90}({one}; unverified: the source does not say “90”)" for one in cited]
    verdict = RoleVerdict(ok=False, reasons=(*reasons, "It is (perhaps) too big."))
    ws = deciding(TestPlanner=verdict)
    card = planning_card(ws, {}, file_url="https://code.example/{path}")

    assert "… (src/sync.py:40-58; unverified: the source does not say “90”)" in card.text
    assert "@1a2b3c4" not in card.text
    assert "It is (perhaps) too big." in card.text
    assert {(one.label, one.url) for one in card.links} == {
        ("src/sync.py:40-58", "https://code.example/src/sync.py#L40-L58"),
        ("src/mail.py:7", "https://code.example/src/mail.py#L7"),
    }
    assert planning_card(ws, {}).links == ()
    assert planning_card(read_through(TestPlanner=verdict), {}, file_url="https://x/{path}").links == ()
