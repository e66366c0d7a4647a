"""What a model proposes to record: only what fits the kinds and rests on something that exists, whatever it answers."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.domain.messages import step_card
from bot.domain.messages.draft_wording import DOES_NOT_FIT, NO_SUCH_VALUE, NOT_OF_A_PERSON, TOO_MANY
from bot.domain.messages.message import Action
from bot.domain.roundtable import cards
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.agent_questions import line_of
from bot.domain.specification.claim_check import CUT_OUT, NO_QUOTE, NOT_CONFIRMED, stands_in
from bot.domain.specification.claims import EntryState, Quote
from bot.domain.specification.entries import CONFIRMED_BY_AUTHOR
from bot.domain.specification.fold import Patch, patches_of
from bot.domain.transcript.lines import Source
from bot.domain.values.markdown import LAST_SECTION, outline
from bot.engine.ports import Facts, VoiceContext
from bot.errors import VoiceError
from bot.voices import sources
from tests.domain import books as playbooks
from tests.domain.table import Table
from tests.domain.test_agents import ask, asked, open_step, press
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting
from tests.voices.minds import Answer, ScriptedMind, drafted, lost, thinking, whole
from tests.voices.people import ADA, BEN, FEATURES, MAYA, roundtable

ASKED = roundtable(FEATURES, (ADA, "Export every row, and we leave out PDF."), (BEN, "It has to be fast."))
SAID, ALSO = "C.0", "C.1"
"""The lines of Ada and Ben."""
WORDS = "Export every row"


def quotes(*lines: str, words: str = WORDS, field: str = "") -> list[dict[str, str]]:
    """Without a field, of the main one."""
    return [{"field": field, "line": line, "words": words} for line in lines]


ROWS = {"kind": "requirement", "fields": {"title": WORDS}, "quotes": quotes(SAID)}


def meeting() -> Meeting:
    """FR-001 with a criterion, and FR-002, which was withdrawn."""
    found = Meeting()
    found.say("Ada", "01-06", "requirement: Keep the last row\nAC: 500 of 500 rows")
    found.say("Ada", "01-06", "requirement: Print")
    found.press("Ada", {"id": "FR-002", "state": "withdrawn"})
    return found


def proposed(*answers: Answer, rt: Roundtable = ASKED) -> tuple[tuple[Patch, ...], ScriptedMind, Facts]:
    """Of an item with the entries of *rt*, or those of `meeting`."""
    known = rt if rt.specification.entries else rt.but(specification=meeting().specification)
    mind = ScriptedMind(*answers)
    speech = asyncio.run(thinking(mind).draft(VoiceContext(known, PLAYBOOK, MAYA)))
    return speech.patches or (), mind, speech.facts


def only(*given: Any) -> tuple[Patch, ...]:
    return proposed(drafted(*given))[0]


def test_what_fits_is_proposed_with_its_source() -> None:
    """With the next free number."""
    patches, mind, facts = proposed(drafted(ROWS), rt=roundtable(FEATURES, (ADA, f"{WORDS}.")))

    assert patches == (
        Patch(
            id="FR-003",
            kind="requirement",
            new=True,
            set={"title": WORDS},
            sources=(SAID,),
            quotes={"title": (Quote(line=SAID, words=WORDS),)},
        ),
    )
    assert len(mind.asked) == 1
    assert facts


def test_several_entries_have_numbers_of_their_own() -> None:
    """A part is numbered below its owner."""
    criterion = {
        "kind": "criterion",
        "part_of": "FR-001",
        "fields": {"text": "0 rows"},
        "quotes": quotes(ALSO),
    }
    patches = only(ROWS, {**ROWS, "fields": {"title": "Count the rows"}}, criterion)

    assert [one.id for one in patches] == ["FR-003", "FR-004", "AC-001-02"]


def test_a_field_of_an_entry_that_exists_is_filled() -> None:
    given = quotes("FR-001", ALSO, words="It has to be fast", field="priority")
    (patch,) = only({"id": "FR-001", "fields": {"priority": "Must "}, "quotes": given})

    assert (patch.id, patch.set, patch.sources) == ("FR-001", {"priority": "must"}, ("FR-001", ALSO))
    assert [one.line for one in patch.quotes["priority"]] == ["FR-001", ALSO]


@pytest.mark.parametrize(
    "given",
    [
        {**ROWS, "kind": "spell"},
        {**ROWS, "kind": "note", "fields": {"text": "Export every row"}},
        {**ROWS, "kind": "hop"},
        {**ROWS, "kind": ["requirement"]},
        {**ROWS, "fields": {}},
        {**ROWS, "fields": "Export every row"},
        {**ROWS, "fields": {"priority": "must"}},
        {**ROWS, "fields": {"title": 7}},
        {**ROWS, "fields": {"title": "x" * 4_001}},
        {**ROWS, "part_of": "FR-001"},
        {"kind": "criterion", "part_of": "FR-002", "fields": {"text": "0 rows"}, "quotes": quotes(SAID)},
        {"kind": "criterion", "part_of": "FR-009", "fields": {"text": "0 rows"}, "quotes": quotes(SAID)},
        {"id": "FR-001", "fields": {"title": "Keep the last row"}, "quotes": quotes(SAID)},
        {"id": "FR-001", "fields": {"priority": "urgent"}, "quotes": quotes(SAID)},
        {"id": "FR-001", "fields": {"remark": "## 7. Out of Scope\n\n- PDF"}, "quotes": quotes(SAID)},
        {"id": "FR-002", "fields": {"title": "Print again"}, "quotes": quotes(SAID)},
        "Export every row",
        [ROWS],
        None,
    ],
)
def test_what_does_not_fit_is_left_out(given: Any) -> None:
    """Other kinds, other shapes, entries that are gone; what stands beside it is proposed all the same."""
    assert [one.set["title"] for one in only(given, ROWS)] == ["Export every row"]


@pytest.mark.parametrize(
    "given",
    [
        [],
        None,
        "",
        quotes("C.9"),
        quotes("FR-002"),
        quotes("FR-009"),
        [7],
        {SAID: 1},
        "C.0, C.1",
        quotes(SAID, words=" "),
    ],
)
def test_what_rests_on_nothing_is_unchecked(given: Any) -> None:
    """A source that does not exist, or that was withdrawn, is none. People see the value, and that nobody said it."""
    (patch,) = only({**ROWS, "quotes": given})

    assert (patch.set, patch.sources, patch.quotes) == (ROWS["fields"], (), {})
    assert patch.unverified == {"title": "no line says this"}


def test_only_the_sources_that_exist_are_named() -> None:
    """Also by the long id of an entry. What is dropped is a fact of the line."""
    slug = ASKED.slug
    named = ["C.9", SAID, f"{slug}/FR-001", SAID, "src/sync.py:40@1a2b3c4", f"{slug}/FR-002"]
    (patch,), _, facts = proposed(drafted({**ROWS, "quotes": quotes(*named)}))

    assert patch.sources == (SAID, "FR-001")
    assert [one["what"] for one in facts["dropped"]] == ["C.9", "src/sync.py:40@1a2b3c4", f"{slug}/FR-002"]
    assert {one["why"] for one in facts["dropped"]} == {sources.NOT_SHOWN}


@pytest.mark.parametrize(
    ("id", "words", "by", "said"),
    [
        ("FR-001", "Keep the last row", "Ada", "Keep the last row"),
        ("FR-003", "A sync takes a minute", "Grace", "sync within 60 s"),
    ],
)
def test_who_quotes_an_accepted_entry_quotes_who_said_it(id: str, words: str, by: str, said: str) -> None:
    """Typed by a person, or worded by a persona: the card names the person, and not only the entry."""
    item = meeting()
    line = item.say("Grace", "01-06", "We must sync within 60 s or people go home")
    worded = {"id": "FR-003", "kind": "requirement", "new": True, "set": {"title": "A sync takes a minute"}}
    item.propose(worded | {"quotes": {"title": [{"line": line, "words": "sync within 60 s"}]}}, step="01-06")
    item.press("Ada", {"id": "FR-003", "accept": True})
    told = {"kind": "assumption", "fields": {"text": words}, "quotes": quotes(id, words=words)}
    ((patch,), *_) = proposed(drafted(told), rt=ASKED.but(specification=item.specification))
    item.propose(json.loads(json.dumps(patch.as_json())), step="01-06")
    claim = item.specification.entries[patch.id].claim("text")

    assert claim
    assert claim.said
    assert (claim.said.name, claim.said.quote) == (by, said)
    assert patch.sources == (id,), "it is confirmed again when the entry changes"


def test_what_only_a_persona_proposed_cannot_be_quoted() -> None:
    """Neither an entry, nor a field of an entry that counts: else an invention would become its own source."""
    item = meeting()
    item.propose(
        {"id": "FR-001", "set": {"detail": "Legal wants it in June"}},
        {"id": "FR-003", "kind": "requirement", "new": True, "set": {"title": "Legal wants it in June"}},
        step="01-06",
    )
    given = [
        {
            **ROWS,
            "fields": {"title": "Legal wants it in June"},
            "quotes": quotes(id, words="Legal wants it in June"),
        }
        for id in ("FR-001", "FR-003")
    ]
    patches, _, facts = proposed(drafted(*given), rt=ASKED.but(specification=item.specification))

    assert [one.unverified for one in patches] == [
        {"title": "“Legal wants it in June” is not in Ada’s line"},
        {"title": "no line says this"},
    ]
    assert [one["why"] for one in facts["dropped"]] == [sources.NOT_SHOWN]


@pytest.mark.parametrize("is_answered", [False, True])
def test_what_a_coding_agent_asked_cannot_be_quoted(*, is_answered: bool) -> None:
    """Neither as an entry nor as a line, also when a person answered it: only that they said No is theirs."""
    words = "Legal wants it in June"
    table = ask(open_step(), asked(words))
    line = line_of(table.rt.specification.entries["Q-001"])
    if is_answered:
        press(table, Action.ANSWER_OPTION, "Q-001/2")
    fields = {"title": words}
    given = [{**ROWS, "fields": fields, "quotes": quotes(id, words=words)} for id in ("Q-001", line)]
    patches, _, facts = proposed(drafted(*given), rt=ASKED.but(specification=table.rt.specification))

    assert patches
    assert all(one.unverified and not one.sources and not one.quotes for one in patches)
    assert sources.NOT_SHOWN in [one["why"] for one in facts["dropped"]]


@pytest.mark.parametrize("kind", sorted(CONFIRMED_BY_AUTHOR))
@pytest.mark.parametrize(
    ("text", "marks"),
    [("We leave out PDF.", {}), ("we  leave out\nPDF", {}), ("leave out PDF", {"text": CUT_OUT})],
)
def test_what_people_decide_and_object_is_proposed_in_their_words(
    text: str, marks: Mapping[str, str], kind: str
) -> None:
    told = {"kind": kind, "fields": {"text": text}, "quotes": quotes(SAID, words=text)}
    ((patch,), *_) = proposed(drafted(told), rt=roundtable(FEATURES, (ADA, "We leave out PDF.")))

    assert (patch.kind, patch.set, patch.unverified) == (kind, {"text": text}, marks)


def test_code_needs_a_quote_as_words_do() -> None:
    """A model invents an address as easily as a sentence."""
    told = {
        "kind": "module",
        "fields": {"name": WORDS, "interface": ["DELETE /rows"]},
        "quotes": quotes(SAID),
    }
    rt = roundtable(FEATURES, (ADA, WORDS)).but(step_id="04-01")
    ((patch,), *_) = proposed(drafted(told), rt=rt)

    assert patch.unverified == {"interface": NO_QUOTE}


@pytest.mark.parametrize("kind", sorted(CONFIRMED_BY_AUTHOR))
def test_it_is_the_words_of_who_said_it_whatever_else_is_quoted(kind: str) -> None:
    """Else another one would be asked whether they decided it."""
    given = [*quotes(ALSO, words="It has to be fast"), *quotes(SAID, words="Export every row")]
    (patch,) = only({"kind": kind, "fields": {"text": "We leave out PDF"}, "quotes": given})

    assert patch.quotes["text"] == (Quote(line=SAID, words="We leave out PDF"),)


@pytest.mark.parametrize("kind", sorted(CONFIRMED_BY_AUTHOR))
@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("PDF is ruled out", SAID),
        ("We leave out PDF", ALSO),
        ("We leave out PDF", "FR-001"),
        ("ort", SAID),
        (".", SAID),
    ],
)
def test_a_decision_or_objection_in_nobodys_words_is_left_out(text: str, source: str, kind: str) -> None:
    """Also one that somebody else said than the line that it names."""
    assert only({"kind": kind, "fields": {"text": text}, "quotes": quotes(source, words=text)}) == ()


@pytest.mark.parametrize("kind", sorted(CONFIRMED_BY_AUTHOR))
@pytest.mark.parametrize("said", ["We should not leave out PDF.", "Shall we leave out PDF?"])
def test_a_decision_or_objection_that_is_denied_or_asked_is_left_out(said: str, kind: str) -> None:
    """Its words are in the sentence, and the sentence does not say it."""
    rt = roundtable(FEATURES, (ADA, said))
    told = {"kind": kind, "fields": {"text": "leave out PDF"}, "quotes": quotes(SAID)}
    patches, _, facts = proposed(drafted(told), rt=rt)

    assert patches == ()
    assert facts["dropped"] == [{"what": "leave out PDF", "why": "no person said it in these words"}]


def test_what_the_source_does_not_say_is_marked() -> None:
    """It is proposed all the same: people see the mark, and decide."""
    marked, part = only({**ROWS, "fields": {"title": "Export every row within 2 s"}}, ROWS)

    assert marked.unverified == {"title": "the line does not say “2 s”"}
    assert part.unverified == {"title": CUT_OUT}


@pytest.mark.parametrize(
    ("said", "words", "why"),
    [
        ("It has to be fast.", "", NO_QUOTE),
        ("It has to be fast.", "It has to be fast", NOT_CONFIRMED),
        ("That is a must for me.", "That is a must for me", NOT_CONFIRMED),
        ("It works for at least 500 rows.", "It works for at least 500 rows", NOT_CONFIRMED),
        ("I do not say it is a must.", "it is a must", "the line says “not”"),
    ],
)
def test_a_choice_is_a_claim_that_a_second_model_confirms(said: str, words: str, why: str) -> None:
    """It is a name for what somebody said, and never their words; without a quote nobody said anything like it."""
    given = quotes(SAID, words=words, field="priority") if words else []
    told = {"id": "FR-001", "fields": {"priority": "must"}, "quotes": given}
    ((patch,), *_) = proposed(drafted(told), rt=roundtable(FEATURES, (ADA, said)))

    assert patch.unverified == {"priority": why}


def test_whatever_is_left_out_is_on_record_with_its_reason() -> None:
    """For the transcript: what it was, and why."""
    misfits = {"title": WORDS, "priority": "urgent", "mood": "good", "depends": "FR-009", "reason": ""}
    given = [
        {**ROWS, "kind": "spell"},
        "Export",
        {**ROWS, "fields": misfits},
        {"id": "FR-001", "fields": {"title": "Keep the last row"}, "quotes": quotes(SAID)},
        {"kind": "decision", "fields": {"text": "No PDF"}, "quotes": quotes(SAID)},
        *[ROWS] * 45,
    ]
    patches, _, facts = proposed(drafted(*given))

    assert len(patches) == 40
    assert facts["left_out"] == {DOES_NOT_FIT: 2, NO_SUCH_VALUE: 3, NOT_OF_A_PERSON: 1, TOO_MANY: 6}
    assert [(one["what"], one["why"]) for one in facts["dropped"]][:7] == [
        ("Export every row", DOES_NOT_FIT),
        ("Export", DOES_NOT_FIT),
        ("urgent", NO_SUCH_VALUE),
        ("good", NO_SUCH_VALUE),
        ("FR-009", NO_SUCH_VALUE),
        ("Keep the last row", "it is recorded already"),
        ("No PDF", NOT_OF_A_PERSON),
    ]


def test_what_is_left_out_of_a_very_long_answer_is_counted() -> None:
    """The record names only the first ones."""
    _, _, facts = proposed(drafted(*[ROWS] * 240))

    assert facts["left_out"] == {TOO_MANY: 200}
    assert len(facts["dropped"]) == sources.MOST_DROPPED


def test_where_nothing_can_be_proposed_nothing_is() -> None:
    """The step is not known."""
    assert proposed(drafted(ROWS), rt=ASKED.but(step_id="no-such-step"))[0] == ()


def test_a_model_that_does_not_answer_is_told_of() -> None:
    """The roundtable decides what follows."""
    with pytest.raises(VoiceError) as error:
        proposed(lost("unavailable"))

    assert error.value.reason == "unavailable"


def test_the_model_reads_what_there_is() -> None:
    """What people said with the ids of their lines, what is recorded, and the kinds that may be proposed."""
    asked = whole(proposed(drafted())[1].asked[0])

    assert SAID in asked
    assert "> It has to be fast." in asked
    assert "FR-001 requirement [accepted, " in asked
    assert "FR-002" not in asked.partition("# Your task")[0]
    assert "- criterion (" in asked
    assert "- note (" not in asked


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=30),
        st.sampled_from(
            [*SCHEMA.kinds, SAID, "FR-001", "FR-002", "must", "\ud800", "<!--", "a\n## 1. Context\n\n\u202eb"]
        ),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["title", "text"]), inner),
    max_leaves=5,
)
KEYS = st.sampled_from(["title", "text", "priority", "remark", "about", "outcome", "traces"])
PROPOSALS = st.lists(
    st.fixed_dictionaries(
        {"quotes": st.just(quotes(SAID)) | VALUES, "fields": st.dictionaries(KEYS, VALUES) | VALUES},
        optional={"kind": st.sampled_from([*SCHEMA.kinds]) | VALUES, "id": VALUES, "part_of": VALUES},
    ),
    max_size=4,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given=PROPOSALS)
@example(given=[{**ROWS, "fields": {"title": "\ud800\n## 7. X"}, "quotes": quotes(SAID, words="row")}])
@example(given=[{"kind": "objection", "fields": {"text": "It is too slow"}, "quotes": quotes(ALSO)}])
def test_whatever_a_model_answers_the_rest_stays(given: list[Any]) -> None:
    """
    What people accepted counts as before, every proposal is one, decisions and objections are words that somebody
    wrote, and no heading of a section is forged.
    """
    item = meeting()
    before, shown = item.specification, item.section("Functional Requirements")
    patches, *_ = proposed(drafted(*given))
    said = {ASKED.line_of(one.ts): one.text for one in ASKED.to_read}
    for one in patches:
        if one.kind in CONFIRMED_BY_AUTHOR:
            assert [stands_in(one.set["text"], said[quote.line]) for quote in one.quotes["text"]] == [True]
    item.propose(*(json.loads(json.dumps(patch.as_json())) for patch in patches), step="01-06")
    after = item.specification

    assert after.refused == ()
    for id, entry in before.entries.items():
        assert after.entries[id].state is entry.state
        assert {field: after.entries[id][field] for field in entry.claims} == {
            field: entry[field] for field in entry.claims
        }
    for id in after.entries.keys() - before.entries.keys():
        assert after.entries[id].state is EntryState.PROPOSED
        assert all(claim.sources or claim.is_unchecked for _, claim in after.entries[id].current())
    text = item.section("Functional Requirements")
    headings = [one.text for one in outline(text).headings]
    assert headings[0] == outline(shown).headings[0].text
    assert all(one.startswith("FR-") for one in headings)
    assert text.encode()


def test_a_proposal_is_on_a_line_of_the_models_and_has_a_mark_until_a_person_accepts() -> None:
    """
    In the transcript, in the specification, in the file, and still after a restart. The mark is made by code when the
    proposal is taken over, whatever voice it comes from.
    """
    table = Table(playbooks.thinking(PLAYBOOK)).start().through("01-05").press_continue()
    table.stop_paying().say("Printing is for later.").pay_up_to("speak")
    (source,) = (line.message_id for line in table.lines if line.content == "Printing is for later.")
    patch = {
        "id": "OUT-001",
        "kind": "exclusion",
        "new": True,
        "set": {"text": "40% of the users print"},
        "sources": (source,),
        "quotes": {"text": ({"line": source, "words": "Printing is for later"},)},
    }
    table.world.patches = (Patch.model_validate(patch),)
    table.resume_paying().press(Action.FINISH_STEP)
    table.world.patches = ()
    (line,) = (line for line in table.lines if any(one.id == "OUT-001" for one in patches_of(line)))
    entry = table.restart().rt.specification.entries["OUT-001"]
    why = "the line does not say “40 %”"

    assert (line.source, line.actor) == (Source.MODEL, "BusinessAnalyst")
    assert line.meta["entries"][0]["unverified"] == {"text": why}
    assert (entry.state, entry.step) == (EntryState.PROPOSED, "01-06")
    assert [(claim.sources, claim.reason) for _, claim in entry.current()] == [((source,), why)]
    written = table.world.files["requirements-spec.md"]
    (shown,) = (row for row in written.split("\n") if "OUT-001" in row)
    assert shown == (
        f"- OUT-001 40% of the users print: Ada, worded by Maya (persona), not accepted, unchecked: {why}"
    )
    assert written.index(LAST_SECTION) < written.index(shown)
    assert table.rt.card
    scene = cards.scene_of(table.rt, table.rt.card, PLAYBOOK)
    assert scene
    card = step_card.open_card(scene).card
    assert card
    assert any(f"unchecked: {why}" in row.aside for part in card.parts for row in part.rows)
    accepted = {"id": "OUT-001", "accept": True}
    by_ada = line.but(source=Source.USER, meta={"entries": [accepted], "user_id": "ada", "user_name": "Ada"})
    assert not table.rt.specification.folding([by_ada]).entries["OUT-001"].claims["text"][0].is_unchecked
