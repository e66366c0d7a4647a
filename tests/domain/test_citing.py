"""What a claim rests on is a list of turns, and nothing that anybody writes into its words."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.discussion.block import ASSUMPTION
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import Decision, Insight, Objection, OpenQuestion, Synthesis
from bot.domain.roundtable import citing
from tests.domain.blocks import block, shown

FORGED = [
    "It snows [t01]",
    "[t01] It snows",
    "It [ T01, t02 ] snows",
    "It snows [t01].",
    "It snows [t01] [t02]",
    "It snows [t0[t02]1]",
    "It snows [t\u202e01]",
    "It snows [\u200bt0\u200b1]",
]
LINE = "planning/meeting.jsonl#offline-sync.1.7"


def debate(*names: str) -> Elaboration:
    """In which each of them has taken a turn."""
    turns = tuple(
        Turn(
            id=f"t{number:02}",
            by=f"U{number}",
            name=name,
            text="x",
            human=True,
            line=f"offline-sync.1.7t{number:02}",
        )
        for number, name in enumerate(names, start=1)
    )
    return Elaboration(step_id="00-01", entry="DIS-001", lead="maya", topic="x", max_turns=10, turns=turns)


def claiming(text: str, *turns: str) -> Synthesis:
    """The same words wherever there is room for words."""
    return Synthesis(
        insights=(Insight(text=text, turns=turns),),
        decisions=(Decision(text=text, rationale=text, turns=turns),),
        questions=(OpenQuestion(text=text, why=text, turns=turns),),
        actions=(text,),
        objections=(Objection(text=text, turns=turns),),
        summary=text,
    )


def test_a_source_in_the_words_of_a_claim_is_none() -> None:
    """Wherever it stands, in whichever of its words; the claim keeps the others."""
    recorded = Turn(id="t03", by="maya", name="Maya", text="x", unrecorded=True)
    held = debate("Ada", "Grace")
    for text in FORGED:
        page = shown(block(claiming(text), held.but(turns=(*held.turns, recorded))))

        assert "t0" not in page.casefold(), text
        assert f"{ASSUMPTION}: " in page
        assert "snows" in page


def test_brackets_that_are_no_source_stay() -> None:
    """People write them for other things."""
    for text in ("a[t] is x", "see [tunnel]", "[t1] is too short for one", "t01 is named", "[x] done"):
        assert citing.grounded(claiming(text), debate("Ada")).insights[0].text == text


def test_a_claim_of_nothing_but_a_source_is_no_claim() -> None:
    """It is left out, rather than shown as an empty line."""
    grounded = citing.grounded(claiming("[t01]", "t01"), debate("Ada"))

    assert (grounded.insights, grounded.decisions, grounded.questions) == ((), (), ())
    assert (grounded.objections, grounded.actions) == ((), ())


def test_a_name_cannot_break_the_reference_behind_it() -> None:
    """Of a turn: what is in the code is the line, and nothing else is."""
    told = debate("Ada `x")
    sources = citing.sources(block(claiming("It snows", "t01"), told), told)

    assert re.findall(r"`([^`]*)`", sources) == [f"{LINE}t01"]


ODD = [
    "[t0",
    "1]",
    "t02]",
    "\n",
    "\n## x\n",
    "- ",
    "`",
    "<!-- Elaboration: x -->",
    "\u202e",
    "\ud800",
    "\U0001f600",
]
SPOOFS = ["#### Sources\n- t01: x", "*assumption*: ", "[All] "]
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from([*FORGED, *ODD, *SPOOFS]), max_size=6).map("".join),
)
TURNS = st.lists(st.sampled_from(["t01", "t02", "t03", "t99", "T01", "", "t01]"]), max_size=4).map(tuple)


@given(text=TEXTS, turns=TURNS, name=TEXTS)
def test_whatever_is_claimed_its_sources_are_the_turns_it_names(
    text: str, turns: tuple[str, ...], name: str
) -> None:
    """
    One line for each claim; behind it, exactly the turns that were taken; without any, an assumption; and every turn
    that is named can be looked up below.
    """
    told = debate("Ada", name, "Grace")
    grounded = citing.grounded(claiming(text, *turns), told)
    real = tuple(dict.fromkeys(turn for turn in turns if turn in {"t01", "t02", "t03"}))
    found = block(claiming(text, *turns), told)
    claims = (*found.insights, *found.questions, *found.objections)
    page, sources = shown(found), citing.sources(found, told)
    behind = f" [{', '.join(real)}]" if real else ""
    bullets = [row for row in page.split("\n") if row.startswith("- ") and row != "- None recorded."]

    assert len(bullets) == len(claims) + len(found.actions)
    assert len(re.findall(r"\[t\d\d", page)) == (len(claims) if real else 0)
    assert page.count(f"{behind}\n") >= len(claims)
    for insight, row in zip(grounded.insights, found.insights, strict=False):
        assert not real or ASSUMPTION in insight.text or ASSUMPTION not in row
    assert re.findall(r"^- (t\d\d): .*, `([^`]*)`$", sources, re.MULTILINE) == [
        (turn, f"{LINE}{turn}") for turn in ("t01", "t02", "t03") if turn in real and claims
    ]
