"""What the transcript alone says of a workshop, and what an item's draft says that it is about."""

from typing import Any

from bot.domain.item.item import Item, draft
from bot.domain.planning.briefing import brief_of
from bot.domain.planning.record import recalled, under_way
from bot.domain.transcript.lines import Line, LinePhase, Source

WHO = {"question": "Who is it for?", "by": ["ProductPlanner"]}


def said(text: str, message_id: str = "C1.1", /, *, source: Source = Source.USER, **meta: Any) -> Line:
    return Line(
        ts="2026-01-01T00:00:00.000Z",
        round=1,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=source,
        content=text,
        meta={"message_id": message_id, "user_id": "ada", "plan_version": 1, **meta},
    )


def test_answers_are_found_with_their_questions() -> None:
    """Whoever asked, who answered, and the line that says so."""
    (question,), _ = recalled([said("The drivers.", answers=WHO)])

    assert (question.text, question.by, question.answer) == (
        "Who is it for?",
        ("ProductPlanner",),
        "The drivers.",
    )
    assert (question.person, question.line, question.id) == ("ada", "C1.1", "Q1")


def test_the_later_of_two_answers_counts() -> None:
    """Another version may have asked again."""
    lines = [said("The drivers.", answers=WHO), said("The clerks.", "C1.2", answers=WHO)]

    assert [one.answer for one in recalled(lines).answered] == ["The clerks."]


def test_what_became_of_an_answer_counts() -> None:
    """An edit is what they mean now; a deletion takes it back."""
    first = said("The drivers.", answers=WHO)

    assert [one.answer for one in recalled([first, said("All.", "C1.1.e", amends="C1.1")]).answered] == [
        "All."
    ]
    assert recalled([first, said("Ada deleted a message.", "x", retracts="C1.1")]).answered == ()


def test_passing_is_no_answer() -> None:
    """Somebody may know it by now."""
    assert recalled([said("skip", answers=WHO)]).answered == ()


def test_remarks_are_kept_as_people_left_them() -> None:
    """Those of a workshop; what was said elsewhere is none."""
    lines = [
        said("Small, please.", remark=True),
        said("Elsewhere.", "C1.2"),
        said("Tiny.", "y", amends="C1.1"),
    ]

    assert [(one.text, one.line) for one in recalled(lines).remarks] == [("Tiny.", "C1.1")]


def test_lines_of_others_are_let_be() -> None:
    """Whatever they have under our names."""
    odd: list[Any] = [
        None,
        7,
        "Who?",
        {},
        {"question": ""},
        {"question": 7},
        {"question": "Who?", "by": "all"},
    ]
    lines = [said("Yes.", f"C1.{number}", answers=one) for number, one in enumerate(odd)]
    lines.append(said("No.", "C2", source=Source.MODEL, answers=WHO))

    assert [one.text for one in recalled(lines).answered] == ["Who?"]


def test_a_transcript_may_end_in_the_middle_of_a_workshop() -> None:
    """A line that is about no version is from elsewhere, and one that is ready for review ends it."""
    line = said("The drivers.", answers=WHO)

    assert under_way(line)
    assert not under_way(line.but(phase=LinePhase.REVIEW_READY))
    assert not under_way(line.but(meta={}))
    assert not under_way(None)


def test_a_brief_is_the_title_and_what_was_said() -> None:
    """Words that begin with the title say it already."""
    item = Item(slug="lost-rows", title="Exports lose rows")
    told = draft(item, started_by="Ada", at="now", said=[("Ada", "Since March.\nEvery month.")])
    whole = draft(item, started_by="Ada", at="now", said=[("Ada", "Exports lose rows since March")])

    assert brief_of(item.title, told) == "Exports lose rows\n\nSince March.\nEvery month."
    assert brief_of(item.title, whole) == "Exports lose rows since March"
    assert brief_of(item.title, draft(item, started_by="Ada", at="now")) == "Exports lose rows"
    assert brief_of(item.title, "") == "Exports lose rows"
