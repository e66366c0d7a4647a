"""Worked examples: what people say and press, and what the record says then."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.domain.messages.attribution_wording import attribution, overtaken
from bot.domain.specification.claim_check import stands_in
from bot.domain.specification.claims import Check, Claim, Entry, EntryState, StaleCause
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import MOST_CLAIMS, QUOTE_CHARS
from bot.domain.specification.snapshot import folded
from bot.domain.transcript.lines import Source
from tests.specification.meeting import Meeting, make_entry


def entry(meeting: Meeting, id: str) -> Entry:
    return meeting.specification.entries[id]


def current(meeting: Meeting, id: str, field: str = "title") -> Claim:
    found = entry(meeting, id).claim(field)
    assert found
    return found


def quoting(line: str, words: str, field: str = "title") -> dict[str, Any]:
    return {"quotes": {field: [{"line": line, "words": words}]}}


# --- a decision is one, whatever becomes of it ------------------------------------------------------------------------


def test_a_decision_that_is_corrected_in_a_form_is_one_decision(meeting: Meeting) -> None:
    meeting.say("Grace", "03-01", "decision: Use a token bucket in Redis; because: it is ten times faster")
    meeting.press("Grace", {"id": "DEC-001", "set": {"text": "Use a leaky bucket in the gateway"}})

    assert [one["text"] for one in meeting.specification.active("decision")] == [
        "Use a leaky bucket in the gateway"
    ]
    assert [one.value for one in entry(meeting, "DEC-001").claims["text"]] == [
        "Use a token bucket in Redis",
        "Use a leaky bucket in the gateway",
    ]
    assert attribution(current(meeting, "DEC-001", "text")) == "Grace"


@pytest.mark.parametrize("step", ["03-01", "01-06", ""])
def test_what_a_decision_replaces_is_replaced_and_comes_back_with_its_withdrawal(
    meeting: Meeting, step: str
) -> None:
    """In a step, in a discussion of another one, and at a menu."""
    meeting.say("Grace", "03-01", "decision: A queue in the gateway")
    meeting.say("Ada", step, "decision: No queue at all; replaces: DEC-001")
    assert [entry(meeting, id).state for id in ("DEC-001", "DEC-002")] == [
        EntryState.SUPERSEDED,
        EntryState.ACCEPTED,
    ]
    assert entry(meeting, "DEC-001").replaced_by == ("DEC-002",)

    meeting.say("Ada", step, "DEC-002: withdrawn")

    assert entry(meeting, "DEC-002").state is EntryState.WITHDRAWN
    assert entry(meeting, "DEC-002")["text"] == "No queue at all", "a state is no text"
    assert entry(meeting, "DEC-001").state is EntryState.ACCEPTED
    why = current(meeting, "DEC-001", "text").stale
    assert why
    assert (why.cause, why.source, why.name) == (StaleCause.RETURNED, "DEC-002", "Ada")


def test_a_press_replaces_as_a_message_does(meeting: Meeting) -> None:
    meeting.say("Grace", "03-01", "decision: A queue in the gateway")
    meeting.propose(make_entry("DEC-002", {"text": "No queue", "replaces": ["DEC-001"]}))
    assert entry(meeting, "DEC-001").state is EntryState.ACCEPTED, "nobody has accepted it"

    meeting.press("Ada", {"id": "DEC-002", "accept": True})
    assert entry(meeting, "DEC-001").state is EntryState.SUPERSEDED


@pytest.mark.parametrize("words", ["zurückgezogen", "Retirée.", "撤回"])
def test_an_entry_is_withdrawn_in_other_languages(meeting: Meeting, words: str) -> None:
    meeting.say("Grace", "01-06", "requirement: Sync")
    meeting.say("Grace", "01-06", f"FR-001: {words}")

    assert entry(meeting, "FR-001").state is EntryState.WITHDRAWN


def test_a_decision_says_which_entries_it_changes_and_they_are_asked_about(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: Limits\nAC: Limits are per user")
    meeting.say("Grace", "03-01", "decision: The limit is per team; changes: AC-001-01")

    assert meeting.stale() == {"AC-001-01.text"}
    why = current(meeting, "AC-001-01", "text").stale
    assert why
    assert (why.cause, why.source) == (StaleCause.CONTRADICTED, "DEC-001")

    meeting.press("Ada", {"id": "AC-001-01", "accept": True})
    assert meeting.stale() == set()


@pytest.fixture
def contradicted(meeting: Meeting) -> Meeting:
    meeting.say("Ada", "01-06", "requirement: Limits; priority: must\nAC: Limits are per user")
    meeting.say("Grace", "03-01", "decision: The limit is per team; changes: FR-001, AC-001-01")
    assert meeting.stale() == {"FR-001.title", "FR-001.priority", "AC-001-01.text"}
    return meeting


@pytest.mark.parametrize("words", ["DEC-001: withdrawn", "decision: The limit is per key; replaces: DEC-001"])
def test_a_decision_that_stands_no_more_contradicts_nothing(contradicted: Meeting, words: str) -> None:
    contradicted.say("Grace", "03-01", words)

    assert contradicted.stale() == set()


def test_newer_words_of_a_person_settle_it(contradicted: Meeting) -> None:
    """All of the entry: which of its fields the decision is about, only people know."""
    contradicted.propose({"id": "FR-001", "set": {"title": "Limits per team"}})
    assert "FR-001.title" in contradicted.stale(), "a model settles nothing"

    contradicted.say("Ada", "01-06", "FR-001: Limits per team")
    assert contradicted.stale() == {"AC-001-01.text"}


def test_what_is_settled_stays_so_when_the_decision_returns(contradicted: Meeting) -> None:
    """What is not settled is contradicted again."""
    contradicted.press("Ada", {"id": "FR-001", "accept": True})
    contradicted.say("Grace", "03-01", "decision: The limit is per key; replaces: DEC-001")
    assert contradicted.stale() == set()

    contradicted.say("Grace", "03-01", "DEC-002: withdrawn")

    assert contradicted.stale() & {"FR-001.title", "AC-001-01.text"} == {"AC-001-01.text"}


def test_another_decision_goes_on_contradicting_it(contradicted: Meeting) -> None:
    contradicted.say("Linus", "03-01", "decision: Limits go; changes: AC-001-01")
    contradicted.say("Grace", "03-01", "DEC-001: withdrawn")

    why = current(contradicted, "AC-001-01", "text").stale
    assert why
    assert (why.source, why.name) == ("DEC-002", "Linus")


def test_only_what_a_decision_names_is_contradicted(contradicted: Meeting) -> None:
    """Not what refers to it or rests on it."""
    meeting = contradicted
    meeting.say("Ada", "01-06", "AC-001-01: per user")
    meeting.propose(make_entry("RSK-001", {"text": "Users share keys"}, sources=["AC-001-01"]))
    meeting.press("Ada", {"id": "RSK-001", "accept": True})
    meeting.say("Linus", "03-01", "decision: Limits go; changes: AC-001-01")

    assert "RSK-001.text" not in meeting.stale()


# --- messages that are changed or deleted -----------------------------------------------------------------------------


def test_an_edit_changes_only_what_changed(meeting: Meeting) -> None:
    old = meeting.say("Ada", "01-06", "requirement: Sync in 60 s\nrequirement: Export as CVS")
    meeting.say("Grace", "01-06", "FR-001: Sync in 10 s")
    meeting.say("Ada", "01-06", "requirement: Sync in 60 s\nrequirement: Export as CSV", amends=old)

    assert (meeting["FR-001.title"], meeting["FR-002.title"]) == ("Sync in 10 s", "Export as CSV")
    assert attribution(current(meeting, "FR-001")) == "Grace"
    assert (current(meeting, "FR-002").line, current(meeting, "FR-002").edited) == (old, "m3")
    assert meeting.stale() == set()
    assert not entry(meeting, "FR-001").overtaken("title")


def test_an_edit_of_what_another_corrected_is_a_question(meeting: Meeting) -> None:
    old = meeting.say("Ada", "01-06", "requirement: Sync in 60 s")
    meeting.say("Grace", "01-06", "FR-001: Sync in 10 s")
    meeting.say("Ada", "01-06", "requirement: Sync in 30 s", amends=old)

    assert meeting["FR-001.title"] == "Sync in 10 s", "neither wins by itself"
    sentence = (
        "Ada changed earlier words to “Sync in 30 s”; Grace had said “Sync in 10 s” since. Which counts?"
    )
    assert overtaken(entry(meeting, "FR-001"), "title") == sentence
    assert sentence in meeting.section("Functional Requirements")

    meeting.press("Linus", {"id": "FR-001", "accept": ["title"]})
    assert overtaken(entry(meeting, "FR-001"), "title") == ""
    assert attribution(current(meeting, "FR-001")) == "Grace"


def test_what_an_edit_leaves_out_is_withdrawn_and_a_quote_of_it_is_asked_about(meeting: Meeting) -> None:
    said = meeting.say("Ada", "01-06", "requirement: Sync in 60 s\nLegal wants an audit log")
    risk = {"text": "Without an audit log legal says no"}
    meeting.propose(make_entry("RSK-001", risk, **quoting(said, "Legal wants an audit log", "text")))
    meeting.press("Grace", {"id": "RSK-001", "accept": True})
    meeting.say("Ada", "01-06", "requirement: Sync in 10 s\nLegal wants an audit log", amends=said)
    assert meeting.stale() == set(), "the sentence of the quote still stands"

    meeting.add(Source.USER, "lol", (), who="Ada", amends=said)

    assert entry(meeting, "FR-001").state is EntryState.WITHDRAWN
    assert entry(meeting, "FR-001")["title"] == "Sync in 10 s"
    assert meeting.stale() == {"RSK-001.text"}


@pytest.mark.parametrize(
    "after",
    [
        "We never keep the audit log for a year.",
        "We keep the audit log for a yearling.",
        "We keep the audit log for a year, if legal agrees.",
    ],
)
def test_other_words_around_a_quote_are_asked_about(meeting: Meeting, after: str) -> None:
    said = meeting.say("Ada", "01-06", "We keep the audit log for a year.")
    quoted = "keep the audit log for a year"
    meeting.propose(make_entry("INS-001", {"text": quoted}, **quoting(said, quoted, "text")))
    meeting.say("Ada", "01-06", after, amends=said)

    assert meeting.stale() == {"INS-001.text"}


def test_an_edit_of_a_long_message_is_asked_about_by_the_words_that_were_kept_of_it(meeting: Meeting) -> None:
    """A quote that was cut to fit ends within a word."""
    said = meeting.say("Grace", "01-06", text := "We export every row of it " * 40)
    long = {"text": text}
    meeting.press("Linus", make_entry("Q-001", long, **quoting(said, text[:QUOTE_CHARS], "text")))
    meeting.say("Grace", "01-06", text.replace("row", "column"), amends=said)

    assert meeting.stale() == {"Q-001.text"}


def test_what_others_gave_stays_when_the_words_go(meeting: Meeting) -> None:
    said = meeting.say("Ada", "01-06", "requirement: Sync\nrequirement: Export")
    meeting.say("Grace", "01-06", "FR-002: Export as CSV")
    meeting.say("Ada", "01-06", "requirement: Sync", amends=said)

    assert (entry(meeting, "FR-002").state, meeting["FR-002.title"]) == (EntryState.ACCEPTED, "Export as CSV")


def test_a_deleted_message_takes_its_notes_and_its_entries_are_asked_about(meeting: Meeting) -> None:
    said = meeting.say("Ada", "01-06", "requirement: Sync\nThat is what they asked for.")
    meeting.delete("Ada", said)

    assert entry(meeting, "FR-001").state is EntryState.ACCEPTED
    assert meeting.stale() == {"FR-001.title"}
    assert meeting.specification.active("note") == ()
    assert "_(to be confirmed again)_" in meeting.section("Functional Requirements")


@given(
    st.lists(
        st.sampled_from(
            ["requirement: Sync", "requirement: Export; priority: must", "AC: it shows", "So be it, then"]
        ),
        min_size=1,
    )
)
def test_an_edit_with_the_same_text_changes_nothing(rows: list[str]) -> None:
    meeting = Meeting()
    said = meeting.say("Ada", "01-06", "\n".join(rows))
    meeting.say("Grace", "01-06", "FR-001 priority: should")
    before = meeting.specification
    meeting.say("Ada", "01-06", "\n".join(rows), amends=said)

    assert meeting.specification.entries == before.entries


# --- said, proposed, accepted -----------------------------------------------------------------------------------------


def test_accepting_everything_takes_nothing_unchecked_and_puts_no_words_in_a_mouth(meeting: Meeting) -> None:
    said = meeting.say("Grace", "01-06", "We must sync within 60 s or people go home")
    meeting.propose(
        make_entry("FR-001", {"title": "Sync within 60 s"}, **quoting(said, "sync within 60 s")),
        make_entry("FR-002", {"title": "No audit log"}, unverified={"title": "nobody said it"}),
        make_entry("FR-003", {"title": "A sync takes a minute"}, **quoting(said, "sync within 60 s")),
        persona_name="Maya",
    )
    meeting.press("Ada", *({"id": f"FR-00{n}", "accept": True} for n in (1, 2, 3)), how="everything")

    assert [entry(meeting, f"FR-00{n}").state.value for n in (1, 2, 3)] == [
        "accepted",
        "proposed",
        "accepted",
    ]
    assert [attribution(current(meeting, f"FR-00{n}")) for n in (1, 2, 3)] == [
        "Grace, accepted by Ada",
        "proposed by Maya (persona), not accepted, unchecked: nobody said it",
        "Grace, worded by Maya (persona), accepted by Ada",
    ]
    assert [current(meeting, f"FR-00{n}").check for n in (1, 2, 3)] == [
        Check.VERBATIM,
        Check.UNCHECKED,
        Check.AGREED,
    ]

    meeting.press("Ada", {"id": "FR-002", "accept": ["title"]})
    assert attribution(current(meeting, "FR-002")) == "proposed by Maya (persona), accepted by Ada"


@pytest.mark.parametrize(
    ("value", "check"),
    [
        ("return a <= 1", Check.VERBATIM),
        (["return a <= 1", "return b"], Check.VERBATIM),
        ("return a >= 1", Check.AGREED),
        (["return a <= 1", "return c"], Check.AGREED),
    ],
)
def test_code_is_compared_sign_by_sign(meeting: Meeting, value: Any, check: Check) -> None:
    code = quoting("src/a.py:1-2@1a2b3c4", "return a <= 1\nreturn b", "invalid")
    meeting.propose(make_entry("STR-001", {"name": "Sync", "invalid": value}, **code))

    assert current(meeting, "STR-001", "invalid").check is check


def test_code_that_is_quoted_letter_by_letter_is_verbatim(meeting: Meeting) -> None:
    """Whose words it is nobody says; in other words it is what a model made of the code."""
    code = quoting("src/sync.py:5-8@1a2b3c4", "sync(rows) -> Result")
    meeting.propose(
        make_entry("FR-001", {"title": "sync(rows) -> Result"}, **code),
        make_entry("FR-002", {"title": "It syncs rows"}, **code),
        make_entry("FR-003", {"title": "sync(rows) -> Result"}, unverified={"title": "why"}, **code),
    )

    assert [current(meeting, f"FR-00{n}").check for n in (1, 2, 3)] == [
        Check.VERBATIM,
        Check.AGREED,
        Check.UNCHECKED,
    ]
    assert current(meeting, "FR-001").said is None


def test_a_quote_that_nobody_said_is_nobodys(meeting: Meeting) -> None:
    """Neither in another's line, nor in that of a model."""
    meeting.say("Grace", "01-06", "Offline is hard")
    meeting.propose(make_entry("INS-001", {"text": "Offline is fine"}, **quoting("m1", "is fine", "text")))
    meeting.propose(make_entry("INS-002", {"text": "Offline is fine"}, **quoting("m2", "Proposed.", "text")))

    assert [current(meeting, id, "text").said for id in ("INS-001", "INS-002")] == [None, None]


@given(st.text(st.sampled_from("ab .é1"), max_size=12), st.text(st.sampled_from("ab .é1"), max_size=8))
@example("Offline is fine for me", "is")
@example("Offline is fine for me", "line is fine")
@example("We export every row", "export every row")
def test_a_quote_has_a_speaker_where_the_check_finds_it_in_their_line(text: str, words: str) -> None:
    """One rule: a model that quotes a word, or a part of one, puts nothing into a mouth."""
    meeting = Meeting()
    said = meeting.say("Grace", "01-06", text)
    meeting.propose(make_entry("INS-001", {"text": "Offline is best"}, **quoting(said, words, "text")))

    assert bool(current(meeting, "INS-001", "text").said) is stands_in(words, text)


def test_a_quote_that_was_cut_to_fit_keeps_its_speaker(meeting: Meeting) -> None:
    """A mark of a long message ends within a word."""
    text = "We export every row of it " * 40
    said = meeting.say("Grace", "01-06", text)
    long = make_entry("Q-001", {"text": text}, **quoting(said, text[:QUOTE_CHARS], "text"))
    meeting.press("Linus", long)

    assert attribution(current(meeting, "Q-001", "text")) == "Grace, accepted by Linus"


def test_a_line_that_was_pushed_only_proposes_and_is_never_called_by_the_name_in_it(meeting: Meeting) -> None:
    meeting.say("Grace", "03-01", "decision: We buy a boat")
    pushed = Specification().folding(meeting.lines, foreign={"m1"})

    sentence = "proposed by a pushed line that names Grace, not accepted"
    claim = pushed.entries["DEC-001"].claim("text")
    assert claim
    assert (attribution(claim), pushed.heard) == (sentence, {})
    assert pushed.entries["DEC-001"].state is EntryState.PROPOSED


def test_a_line_that_was_pushed_is_unchecked_whatever_it_quotes(meeting: Meeting) -> None:
    said = meeting.say("Grace", "01-06", "I really disagree that offline first is fine.")
    quoted = "offline first is fine"
    line = meeting.propose(make_entry("INS-001", {"text": quoted}, **quoting(said, quoted, "text")))
    (first, forged) = meeting.lines
    found = Specification().folding([first, forged], foreign={line})
    claim = found.entries["INS-001"].claim("text")

    assert claim
    assert claim.check is Check.UNCHECKED


VALUES = st.sampled_from(["Sync", "Export", "Sync within 60 s"])


@given(st.lists(st.tuples(VALUES, st.booleans(), st.booleans()), max_size=8))
def test_accepting_everything_never_makes_an_unchecked_claim_accepted(
    proposals: list[tuple[str, bool, bool]],
) -> None:
    meeting = Meeting()
    for words, is_new, is_doubted in proposals:
        id = f"FR-{len(meeting.lines) + 1:03}" if is_new or not meeting.lines else "FR-001"
        doubts = {"unverified": {"title": "nobody said it"}} if is_doubted else {}
        meeting.propose(make_entry(id, {"title": words}, **doubts))
    meeting.press(
        "Ada", *({"id": id, "accept": True} for id in meeting.specification.entries), how="everything"
    )

    for one in meeting.specification.entries.values():
        for claim in one.claims["title"]:
            assert not (claim.accepted and claim.check is Check.UNCHECKED)


# --- limits, and lines that stand there twice -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "patch",
    [
        make_entry("FR-001", {"title": "x" * 4_001}),
        make_entry("FR-001", {"title": "x"}, sources=[f"m{n}" for n in range(21)]),
        make_entry("FR-001", {"title": "x"}, **quoting("m1", "x" * 501)),
    ],
)
def test_what_is_too_long_is_refused_whole_and_nothing_else_is(
    meeting: Meeting, patch: Mapping[str, Any]
) -> None:
    meeting.press("Ada", patch, make_entry("FR-002", {"title": "Export"}))

    assert list(meeting.specification.entries) == ["FR-002"]
    assert len(meeting.specification.refused) == 1


def test_a_field_keeps_so_many_values_and_says_so(meeting: Meeting) -> None:
    for n in range(MOST_CLAIMS + 1):
        meeting.press("Ada", make_entry("FR-001", {"title": f"Sync {n}"}))

    assert meeting["FR-001.title"] == f"Sync {MOST_CLAIMS - 1}"
    assert meeting.specification.refused == ("m201: title of FR-001 was given 200 values: no more are kept",)


@given(st.data())
def test_lines_that_stand_there_twice_count_once(data: st.DataObject) -> None:
    meeting = Meeting()
    said = meeting.say("Ada", "01-06", "requirement: Sync\nrequirement: Export")
    meeting.say("Grace", "01-06", "FR-001: Sync in 10 s")
    meeting.say("Ada", "01-06", "requirement: Sync in 30 s", amends=said)
    meeting.press("Linus", {"id": "FR-001", "accept": True})
    copies = data.draw(st.lists(st.sampled_from(meeting.lines)))

    assert folded([*meeting.lines, *copies]).specification == meeting.specification
