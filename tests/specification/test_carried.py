"""What was said and stands in no claim: found by rules, in the words in which it was said."""

import pytest

from bot.domain.specification import carried

CLAIMS = ("Ada: A sync may take 60 seconds.", "The queue is kept on the device.")


def lost(text: str, *, is_cited: bool = False) -> list[tuple[str, str]]:
    return [(one.text, one.why) for one in carried.lost(text, CLAIMS, is_cited=is_cited)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Drivers lose 40 % of their edits in tunnels.", "no entry says “40 %”"),
        ("A sync took 90 seconds last week.", "no entry says “90 seconds”"),
        ("The fair is on 12 May.", "no entry says “12 May”"),
        ("Auditors want every change on paper.", carried.RESTS_NOT),
    ],
)
def test_what_no_claim_has_is_listed_with_the_reason(text: str, why: str) -> None:
    """A number, a unit, a date; and a remark that nothing rests on."""
    assert lost(text) == [(text, why)]


@pytest.mark.parametrize(
    "text",
    [
        "A sync may take a minute.",
        "We keep the queue on the device.",
        "Is it 40 % of the edits?",
        "ok, thanks",
        "> 40 % of all edits, says the report",
    ],
)
def test_what_stands_in_a_claim_or_states_nothing_is_not(text: str) -> None:
    """Another unit for the same, other words for most of it, a question, a few words, words of others."""
    assert lost(text) == []


def test_a_number_is_looked_for_even_where_the_message_is_cited() -> None:
    """The claim that names it may have left the number out; the rest of the message is carried by it."""
    text = "Auditors want every change on paper. They keep it for 10 years."

    assert lost(text, is_cited=True) == [("They keep it for 10 years.", "no entry says “10 years”")]


def test_the_same_number_of_another_thing_carries_nothing() -> None:
    """An entry that has no other word of the sentence is about something else."""
    assert lost("Invoices go out after 60 seconds.") != []


def test_what_a_persona_cites_is_listed_when_no_entry_has_it() -> None:
    cited = "src/sync.py:40-58@1a2b3c4"
    text = f"I looked at the retry. It gives up after 5 attempts ({cited})."
    sentence = f"It gives up after 5 attempts ({cited})."

    assert [tuple(one) for one in carried.lost_citations(text, CLAIMS, frozenset())] == [
        (sentence, carried.NOT_CITED)
    ]
    assert list(carried.lost_citations(text, CLAIMS, frozenset({cited}))) == []
    assert list(carried.lost_citations("It gives up after 5 attempts.", CLAIMS, frozenset())) == []
