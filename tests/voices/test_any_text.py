"""Whatever people write: nothing breaks, nothing is forged, and the same words get the same answer."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.steps import Step
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.values.markdown import outline
from bot.engine.ports import VoiceContext
from bot.voices.offline.offline import OfflineVoices
from tests.voices.people import (
    ADA,
    ALEX,
    BEN,
    CONTEXT,
    FEATURES,
    FILE_COUNT,
    JORDAN,
    MAYA,
    PLAYBOOK,
    PRIORITIES,
    QUALITY,
    STEPS,
    STORIES,
    Meeting,
    acknowledge,
    drafted,
    roundtable,
    written,
)

MARKS = (
    "# |- |1. |\n|\n\n|AC: |`|```|\\|?|“|— Ada|=1+1|👍|日本語。|Grüße|{quote}|{topic}|\u2028|\u202e|\ud800|\0"
)
PHRASES = """
## 6. Functional Requirements/### FR-001: /FR-1/Out of scope:/As a lead I want /so that /because /Must: /Decision: /
we decided /no, /I disagree. /Scope: /small/8 files/2 s/Maya, /everyone/done/<!-- Elaboration: x -->/<b>/a | b
"""
SNIPPETS = st.sampled_from(
    [*MARKS.split("|"), "|", *PHRASES.replace("\n", "").split("/"), "\n## 7. Out of Scope\n"]
)
TEXTS = st.one_of(
    st.text(max_size=200), st.lists(st.one_of(SNIPPETS, st.text(max_size=12)), max_size=25).map("".join)
)
SAID = st.lists(st.tuples(st.sampled_from([ADA, BEN]), TEXTS), max_size=4)
ALL_STEPS = st.sampled_from(STEPS)


@given(step=ALL_STEPS, said=SAID, after=SAID)
def test_edits_stay_in_the_outputs_of_the_step_and_settle(
    step: Step, said: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    """Applied, they give files that are valid; drafted again from these, they change nothing more."""
    rt = roundtable(step, *said, after=tuple(after))
    assert {edit.path for edit in drafted(rt)} <= set(step.outputs)

    first = written(rt)
    for text in first.values():
        text.encode()
    if "user-stories.json" in first:
        json.loads(first["user-stories.json"])
    assert written(rt, first) == first


@given(step=ALL_STEPS, said=SAID)
def test_no_words_make_a_heading(step: Step, said: list[tuple[str, str]]) -> None:
    """Sections are the step's own, whatever was said."""
    for name, text in written(roundtable(step, *said)).items():
        if name.endswith(".md"):
            own = [one.text for one in outline(text).headings if one.level == 2]
            assert (
                own == ["Exports lose rows (lost-rows)"]
                if name == "nfr-matrix.md"
                else own == [owned.heading for owned in step.owned(name)]
            )
            assert "<!--" not in text


@given(said=TEXTS, name=st.text(min_size=1, max_size=20))
def test_every_statement_has_its_author(said: str, name: str) -> None:
    """No line of a section is without a name, except for the words that are ours."""
    rt = roundtable(CONTEXT, (ADA, said)).but(people={ADA: name})

    page = written(rt)["requirements-spec.md"]
    bullets = [line for line in page.splitlines() if line.startswith("- ") and not line.startswith("-   ")]
    authors = {line.rpartition(" — ")[2] for line in bullets if " — " in line}
    assert len(authors) <= 1
    if said.strip() and authors:
        assert all(" — " in line for line in bullets)


@given(said=SAID)
def test_acknowledgements_hold_at_most_one_question(said: list[tuple[str, str]]) -> None:
    """Whatever was said, and whoever asked."""
    outside_quotes = "".join(acknowledge(roundtable(CONTEXT, *said)).split('"')[::2])

    assert outside_quotes.count("?") <= 1


@given(
    before=SAID, said=st.lists(st.tuples(st.sampled_from([ADA, BEN, MAYA, ALEX, JORDAN]), TEXTS), max_size=8)
)
def test_a_discussion_of_anything_goes_on_and_ends(
    before: list[tuple[str, str]], said: list[tuple[str, str]]
) -> None:
    """Personas always have something short to say, and every insight is somebody's own words."""
    meeting = Meeting(roundtable(FEATURES, *before))
    meeting.frames()
    for who, text in said:
        if who in {ADA, BEN}:
            meeting.says(who, text)
        else:
            assert 0 < len(meeting.speaks(who)) <= 350

    synthesis = meeting.ends()
    turns = {turn.id: turn for turn in meeting.debate.turns}
    for insight in synthesis.insights:
        (source,) = [turns[turn] for turn in insight.turns]
        assert insight.by == (source.name,)
        assert source.human or insight.text.startswith("Raised: ")
    assert len(synthesis.summary) <= 100
    assert meeting.ends() == synthesis


LONG = 8_000
"""More than anybody types: a pattern that looks back and forth needs minutes for it."""


@pytest.mark.parametrize(
    "unit",
    [
        "?",
        ". ",
        "e.g. ",
        ", ",
        " ",
        "\\",
        "|",
        "`",
        "<",
        ":",
        "“",
        "1,",
        "As a x I want ",
        "FR-1-FR-9 ",
        "must ",
        "~1 to ",
        "\t",
        "because ",
    ],
)
def test_the_longest_message_is_read_in_a_moment(unit: str) -> None:
    """The time for reading grows with the length, and no faster."""
    text = f"{unit * (LONG // len(unit))}x"
    for step in (FILE_COUNT, QUALITY, FEATURES, STORIES, PRIORITIES):
        written(roundtable(step, (ADA, text)))
    meeting = Meeting(roundtable(CONTEXT, (ADA, text)))
    meeting.frames()
    meeting.says(ADA, text)
    meeting.says(BEN, text)
    meeting.speaks(MAYA)
    meeting.ends()


@given(
    rt=st.builds(
        lambda step, texts: roundtable(step, *((ADA, text) for text in texts)),
        ALL_STEPS,
        st.lists(TEXTS, max_size=3),
    )
)
def test_the_same_roundtable_gets_the_same_words(rt: Roundtable) -> None:
    """Also after it was stored and read again."""
    voices = OfflineVoices()
    cue = VoiceContext(rt, PLAYBOOK, ALEX)

    assert asyncio.run(voices.acknowledge(cue)) == asyncio.run(voices.acknowledge(cue))
    assert drafted(rt) == drafted(
        rt.but(answers=tuple(Answer.model_validate(one.model_dump()) for one in rt.answers))
    )
