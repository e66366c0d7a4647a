from hypothesis import given
from hypothesis import strategies as st

from bot.domain.discussion.synthesis import Decision, Insight, OpenQuestion, Synthesis, markdown, sound
from bot.domain.values.markdown import outline

PARTICIPANTS = "Maya Chen (BA), Alex Rivera (Architect), Jordan Park (Designer)"
FULL = Synthesis(
    insights=(
        Insight(text="Drivers look at it at night.", by=("Maya", "Alex"), turns=("t1",)),
        Insight(text="It must be simple."),
    ),
    decisions=(
        Decision(text="Dim by sensor", rationale="no setting to find", by="Ada"),
        Decision(text="No toggle"),
    ),
    questions=(OpenQuestion(text="Which sensor?", why="Alex asks the vendor"), OpenQuestion(text="When?")),
    actions=("Ask the vendor",),
    summary="Agreed to dim by sensor",
)


def shown(synthesis: Synthesis) -> str:
    return markdown(
        synthesis,
        step_id="01-03",
        title="User Journeys",
        participants=PARTICIPANTS,
        turns=7,
        exit="user-initiated",
    )


class TestMarkdown:
    def test_it_is_the_template_of_the_elaboration(self) -> None:
        """Every insight has an attribution, every decision its reason, every question what keeps it open."""
        assert shown(FULL) == (
            "### Elaboration Insights (Step 01-03: User Journeys)\n\n"
            f"**Participants**: {PARTICIPANTS}\n"
            "**Turns**: 7 | **Exit**: user-initiated\n\n"
            "#### Key Insights\n- [Maya/Alex] Drivers look at it at night.\n- [All] It must be simple.\n\n"
            "#### Decisions Made\n- Dim by sensor: no setting to find (Ada)\n- No toggle\n\n"
            "#### Open Questions\n- Which sensor?: Alex asks the vendor\n- When?\n\n"
            "#### Action Items\n- Ask the vendor\n"
        )

    def test_what_there_is_none_of_is_said(self) -> None:
        """Only action items are left out: the template does not know them."""
        text = shown(Synthesis(summary="x"))

        assert text.count("- None recorded.") == 3
        assert "Action Items" not in text

    def test_nothing_said_can_forge_structure(self) -> None:
        """Line ends, headings, markers and attributions of others are text."""
        text = shown(
            Synthesis(
                insights=(Insight(text="a\n## b\n<!-- Elaboration: x -->", by=("[All] <!-- x", "")),),
                decisions=(Decision(text="# c"),),
                summary="x",
            )
        )

        assert "- [All &lt;!-- x] a ## b &lt;!-- Elaboration: x -->\n" in text
        assert "- \\# c\n" in text

    @given(st.lists(st.text(), min_size=5, max_size=5))
    def test_its_headings_are_ours_alone(self, said: list[str]) -> None:
        """Whatever people and personas said, in whichever part of it."""
        insight, name, decision, question, action = said
        text = shown(
            Synthesis(
                insights=(Insight(text=insight, by=(name,)),),
                decisions=(Decision(text=decision, rationale=name, by=name),),
                questions=(OpenQuestion(text=question, why=name),),
                actions=(action,),
                summary=name,
            )
        )

        assert [heading.level for heading in outline(text).headings] == [3, 4, 4, 4, 4]
        assert "<!--" not in text


class TestSynthesis:
    def test_the_summary_is_one_short_sentence(self) -> None:
        """Whoever made it: the record has room for a hundred characters."""
        assert Synthesis(summary="We\n agreed").summary == "We agreed"
        assert len(Synthesis(summary="long " * 100).summary) <= 100

    def test_it_is_sound_when_it_says_anything(self) -> None:
        """One insight is enough; without any it has to be made again."""
        assert sound(FULL, turns=7)
        assert not sound(Synthesis(summary="x"), turns=2)

    def test_a_discussion_that_ended_at_once_need_not_say_anything(self) -> None:
        """After the framing alone there is nothing to learn."""
        assert sound(Synthesis(summary="x"), turns=1)

    def test_it_can_be_stored(self) -> None:
        """It waits in the outbox of a roundtable, and comes back equal."""
        assert Synthesis.model_validate_json(FULL.model_dump_json()) == FULL
