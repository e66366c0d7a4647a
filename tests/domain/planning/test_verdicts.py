"""What roles answer, in any form: read as what it says, and never as more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.planning.verdict import (
    MOST_QUESTIONS,
    MOST_REASONS,
    RoleVerdict,
    read_verdict,
    summary,
    unreadable,
)


def test_a_verdict_is_a_json_object() -> None:
    """With whether it is ok, how sure that is, why, what would be better, and what has to be known first."""
    verdict = read_verdict(
        '{"ok": false, "confidence": 0.8, "reasons": ["no test plan"], "suggestions": ["write one"],'
        ' "blocking_open_questions": ["Who tests it?"]}'
    )

    assert verdict == RoleVerdict(
        ok=False,
        confidence=0.8,
        reasons=("no test plan",),
        suggestions=("write one",),
        blocking_questions=("Who tests it?",),
    )


@pytest.mark.parametrize(
    "text",
    [
        'Here you are:\n```json\n{"ok": true}\n```\nAnything else?',
        '{"ok": "yes"}',
        '{"ok": "True", "confidence": null, "reasons": null, "suggestions": []}',
        'I looked at {this} and at {"that": 1}: {"ok": true, "note": "fine"}',
        '{"ok": true, "reasons": [3, {}, ""]}',
    ],
)
def test_prose_and_small_slips_do_not_matter(text: str) -> None:
    """The object is found wherever it stands, and what means nothing in it is passed over."""
    assert read_verdict(text) == RoleVerdict(ok=True)


def test_a_list_may_be_one_text_or_objects() -> None:
    """As voices write it; and the questions may be called by either name."""
    verdict = read_verdict(
        '{"ok": null, "reasons": "too  early", "blocking_questions": [{"question": "Who?"}, "Who?", "When?"]}'
    )

    assert verdict.reasons == ("too early",)
    assert verdict.blocking_questions == ("Who?", "When?")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no verdict in JSON was found in the answer"),
        ("It is fine, go ahead.", "no verdict in JSON was found in the answer"),
        ('{"ok": true', "no verdict in JSON was found in the answer"),
        ('{"ok": NaN}', "no verdict in JSON was found in the answer"),
        ("{" * 50_000, "no verdict in JSON was found in the answer"),
        ('{"a":' * 50_000, "no verdict in JSON was found in the answer"),
        ('{"verdict": true}', "the answer does not say whether it is ok"),
        ('{"ok": 1}', "ok is 1, and has to be true, false or null"),
        ('{"ok": "perhaps"}', "ok is 'perhaps', and has to be true, false or null"),
        ('{"ok": true, "confidence": 7}', "confidence is 7, and has to be a number from 0 to 1"),
        ('{"ok": true, "confidence": "80%"}', "confidence is '80%', and has to be a number from 0 to 1"),
        ('{"ok": true, "confidence": true}', "confidence is True, and has to be a number from 0 to 1"),
        ('{"ok": true, "confidence": 1e999}', "no verdict in JSON was found in the answer"),
    ],
)
def test_what_is_not_in_the_form_is_unknown_with_the_reason(text: str, reason: str) -> None:
    """A voice that stumbles can hold a plan up, never wave it through."""
    verdict = read_verdict(text)

    assert verdict.ok is None
    assert verdict.reasons[0] == reason


def test_what_can_be_read_is_kept_all_the_same() -> None:
    """Only whether it is ok is in doubt."""
    verdict = read_verdict('{"ok": "maybe", "reasons": ["thin"], "blocking_questions": ["Who?"]}')

    assert verdict.reasons[1:] == ("thin",)
    assert verdict.blocking_questions == ("Who?",)


def test_there_is_an_end_to_what_a_role_may_ask() -> None:
    """People can bear so many questions, and read so many reasons."""
    many = ", ".join(f'"{number}?"' for number in range(50))
    verdict = read_verdict(f'{{"ok": false, "reasons": [{many}], "blocking_questions": [{many}]}}')

    assert len(verdict.reasons) == MOST_REASONS
    assert len(verdict.blocking_questions) == MOST_QUESTIONS


@given(st.text() | st.from_regex(r'\{"ok": .{0,40}\}', fullmatch=True))
def test_no_answer_is_an_error(text: str) -> None:
    """Whatever a voice says comes out as a verdict; without a plain yes in it, never as a yes."""
    verdict = read_verdict(text)

    assert verdict.ok is not True or any(word in text.casefold() for word in ("true", "yes", "ok"))


def test_the_next_round_is_told_the_last_in_one_line() -> None:
    """Who, what, and the first reason."""
    line = summary(
        {
            "TestPlanner": RoleVerdict(ok=False, reasons=("no criterion", "no plan")),
            "RiskPlanner": RoleVerdict(),
        }
    )

    assert line == "TestPlanner:NOT_OK(no criterion); RiskPlanner:UNKNOWN()"


def test_a_role_that_could_not_be_asked_says_so() -> None:
    """Its verdict is unknown, and the reason is for people to read."""
    assert unreadable("The model\ndid not answer.") == RoleVerdict(reasons=("The model did not answer.",))
