from hypothesis import given
from hypothesis import strategies as st

from bot.domain.discussion.elaboration import Elaboration
from bot.domain.discussion.synthesis import Insight, OpenQuestion, Synthesis
from bot.domain.values.markdown import outline
from tests.domain.blocks import PARTICIPANTS, block, shown

EMPTY = Elaboration(step_id="00-01", entry="DIS-001", lead="maya", topic="x", max_turns=10)
FULL = Synthesis(
    insights=(
        Insight(text="Drivers look at it at night.", by=("Maya", "Alex")),
        Insight(text="It must be simple."),
    ),
    questions=(OpenQuestion(text="Which sensor?", why="Alex asks the vendor"), OpenQuestion(text="When?")),
    actions=("Ask the vendor",),
    summary="Agreed to dim by sensor",
)


class TestMarkdown:
    def test_it_is_the_template_of_the_elaboration(self) -> None:
        """Every insight has an attribution, every question what keeps it open."""
        assert shown(block(FULL, EMPTY)) == (
            "### Elaboration Insights (Step 01-03: User Journeys)\n\n"
            f"**Participants**: {PARTICIPANTS}\n"
            "**Turns**: 7 | **Exit**: user-initiated\n\n"
            "#### Key Insights\n- [Maya/Alex] Drivers look at it at night.\n- [All] It must be simple.\n\n"
            "#### Decisions Made\n- None recorded.\n\n"
            "#### Open Questions\n- Which sensor?: Alex asks the vendor\n- When?\n\n"
            "#### Action Items\n- Ask the vendor\n"
        )

    def test_what_there_is_none_of_is_said(self) -> None:
        """Only sections that the template does not know are left out."""
        text = shown(block(Synthesis(summary="x"), EMPTY))

        assert text.count("- None recorded.") == 3
        assert "Action Items" not in text

    def test_nothing_said_can_forge_structure(self) -> None:
        """Line ends, headings, markers and attributions of others are text."""
        forged = Insight(text="a\n## b\n<!-- Elaboration: x -->", by=("[All] <!-- x", ""))
        text = shown(block(Synthesis(insights=(forged,), actions=("# c",), summary="x"), EMPTY))

        assert "- [All &lt;!-- x] a ## b &lt;!-- Elaboration: x -->\n" in text
        assert "- \\# c\n" in text

    @given(st.lists(st.text(), min_size=4, max_size=4))
    def test_its_headings_are_ours_alone(self, said: list[str]) -> None:
        """Whatever people and personas said, in whichever part of it."""
        insight, name, question, action = said
        given = Synthesis(
            insights=(Insight(text=insight, by=(name,)),),
            questions=(OpenQuestion(text=question, why=name),),
            actions=(f"Do {action}",),
            summary=name,
        )
        text = shown(block(given, EMPTY))

        assert [heading.level for heading in outline(text).headings] == [3, 4, 4, 4, 4]
        assert "<!--" not in text


class TestSynthesis:
    def test_the_summary_is_one_short_sentence(self) -> None:
        """Whoever made it: the record has room for a hundred characters."""
        assert Synthesis(summary="We\n agreed").summary == "We agreed"
        assert len(Synthesis(summary="long " * 100).summary) <= 100

    def test_it_is_empty_when_a_model_says_nothing(self) -> None:
        """One insight is enough; without any it has to be made again. Rules need not add anything to the record."""
        assert not FULL.is_empty
        assert Synthesis(summary="x").is_empty
        assert not Synthesis(summary="x", by_rule=True).is_empty

    def test_it_can_be_stored(self) -> None:
        """It waits in the outbox of a roundtable, and comes back equal."""
        assert Synthesis.model_validate_json(FULL.model_dump_json()) == FULL
