"""What a synthesis rests on, and what it must not lose: held against the record, not against its words."""

import pytest

from bot.domain.discussion.elaboration import Stance
from bot.domain.discussion.synthesis import (
    Decision,
    Insight,
    Objection,
    OpenQuestion,
    Synthesis,
)
from bot.domain.messages.message import Action
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table
from tests.meetings.script import (
    ALEX,
    DONE,
    JORDAN,
    MAYA,
    Played,
    Pressed,
    Said,
    Script,
    fair,
    played,
    says,
)

HOLDOUT = {
    MAYA: [says("Where do edits wait?", "Redis")],
    ALEX: [says("Redis is fast: 2 ms.", "Redis", "t01")],
    JORDAN: [says("In a tunnel there is no server.", "SQLite", "t01")],
}
HEARD = Objection(text="A tunnel has no server", by=("Jordan",), turns=("t03",))
IN_ITS_WORDS = "- [Jordan] storage: SQLite (“In a tunnel there is no server.”): open [t03]"


def holding_out(*syntheses: Synthesis, people: tuple[Said | Pressed, ...] = (DONE,)) -> Played:
    return played(Script(HOLDOUT, people, syntheses))


# --- dissent ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [(), (HEARD,), (HEARD.but(by=("Maya",)),), (HEARD.but(turns=("t02",)),), (HEARD.but(turns=()),)]
)
def test_a_minority_is_in_the_block_in_its_words_whatever_a_voice_says(said: tuple[Objection, ...]) -> None:
    """A voice can neither leave it out nor reword it, nor say whose it is; it stays open."""
    meeting = holding_out(fair("t02", objections=said))

    assert meeting.shown.text.count("[Jordan] storage: SQLite") == 1
    assert IN_ITS_WORDS in meeting.shown.text
    assert "A tunnel has no server" not in meeting.shown.text
    assert "[Maya] storage" not in meeting.shown.text


def test_an_objection_that_nobody_has_on_record_is_quoted() -> None:
    """A voice that hears one in plain words says in which turn; that turn is quoted, and proposed."""
    heard = Objection(text="It is dear", by=("Ada",), turns=("t04",))
    meeting = holding_out(fair("t02", objections=[heard]), people=(Said("I think it is dear."), DONE))

    assert "- [Ada] I think it is dear: open [t04]" in meeting.shown.text
    assert "- [Ada] It is dear" not in meeting.shown.text


def test_every_reason_of_an_objector_is_kept() -> None:
    """Also the first one, when the position was taken again in other words; no words twice."""
    again = says("We would lose two edits.", "SQLite", "t04")
    personas = {**HOLDOUT, JORDAN: [*HOLDOUT[JORDAN], again]}
    meeting = played(Script(personas, [Said("Jordan, are you sure?"), DONE], [fair("t02")]))

    assert "(“We would lose two edits. … In a tunnel there is no server.”)" in meeting.shown.text


SHORT, LONG = Stance(issue="names", position="short"), Stance(issue="names", position="long")
TWICE_AGAINST = {
    MAYA: [Contribution("Where do edits wait?", (*HOLDOUT[MAYA][0].stances, SHORT))],
    ALEX: [Contribution("Redis, short.", (*HOLDOUT[ALEX][0].stances, SHORT))],
    JORDAN: [Contribution("A file, long.", (*HOLDOUT[JORDAN][0].stances, LONG))],
}


def test_of_two_positions_in_one_turn_each_is_kept() -> None:
    """In one turn, Jordan holds out on two issues."""
    text = played(Script(TWICE_AGAINST, [DONE], [fair("t02")])).shown.text

    assert "[Jordan] storage: SQLite (“A file, long.”): open [t03]" in text
    assert "[Jordan] names: long (“A file, long.”): open [t03]" in text


# --- what people mark -------------------------------------------------------------------------------------------------

MARKED = Said(
    "I see.\n*Decision:* the queue, and not the cache; [because](it keeps order)\nObjection: it is dear."
)
OPEN = "- [Ada] it is dear: open [t04]"


def test_a_decision_that_somebody_marked_is_kept_word_by_word() -> None:
    """What the voice made of it is no decision of Ada's."""
    paraphrased = fair("t02", objections=[HEARD]).but(
        decisions=(Decision(text="We queue", by="Ada", turns=("t04",)),)
    )
    text = holding_out(paraphrased, people=(MARKED, DONE)).shown.text

    assert "- We queue (Ada)" not in text
    assert "[Ada] Proposed, and not decided: We queue [t04]\n" in text.replace(
        "*unverified* (the line says “not”): ", ""
    )
    assert "- the queue, and not the cache; [because](it keeps order) (Ada) [t04]\n" in text


def test_one_that_the_voice_has_already_does_not_stand_twice() -> None:
    """In the same words, with or without the reason apart."""
    people = (Said("Decision: the queue, because it keeps order."), DONE)
    said = Decision(text="The queue", rationale="it keeps order", by="Ada", turns=("t04",))
    text = holding_out(fair("t02", objections=[HEARD]).but(decisions=(said,)), people=people).shown.text

    assert text.count("keeps order") == 1


def test_an_objection_that_somebody_marked_survives() -> None:
    """In their words; what a voice makes of it is left out."""
    answered = Objection(text="The cost", by=("Ada",), turns=("t04",))
    meeting = holding_out(fair("t02", objections=[answered]), people=(MARKED, DONE))

    assert OPEN in meeting.shown.text
    assert "The cost" not in meeting.shown.text


def test_what_is_taken_back_is_marked_no_more() -> None:
    """An edited message says what it says now."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.world.synthesis = fair("t02", objections=[HEARD])
    ts = table.elaborate().ts()
    table.say(MARKED.text, ts=ts).edit(ts, "I see.").say("done")
    shown = next(text for text in table.texts if "### Elaboration Insights" in text)

    assert "it is dear" not in shown
    assert "the queue" not in shown


def test_words_without_the_mark_are_discussion() -> None:
    """However much they sound like it; and what is quoted or stands in code was said by somebody else."""
    people = (
        Said("We decide for the queue. I object, it is dear."),
        Said("> Objection: it is slow\n```\nDecision: none\n```\nNo objection: fine, the decision: ours"),
        DONE,
    )
    meeting = holding_out(fair("t02", objections=[HEARD]), people=people)

    assert "#### Decisions Made\n- None recorded." in meeting.shown.text


def test_whoever_moved_for_a_reason_objects_no_more() -> None:
    """What counts is where everybody stands in the end."""
    personas = {**HOLDOUT, JORDAN: [*HOLDOUT[JORDAN], says("Then Redis.", "Redis", "t04")]}
    meeting = played(
        Script(personas, [Said("Jordan, the tunnel has a server now."), DONE], [fair("t02", "t03", "t04")])
    )

    assert "Objections" not in meeting.shown.text


def test_dissent_survives_where_only_one_sentence_is_left() -> None:
    """A voice that gives nothing twice (ERR-ELAB-007) cannot lose it either."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.world.synthesis = Synthesis(summary="They talked")
    table.elaborate().press(Action.DECIDE, value="0").say("done")
    text = next(text for text in table.texts if "Key takeaway" in text)

    assert "#### Decisions Made\n- storage: Redis (Ada)" in text
    assert f"#### Objections\n{IN_ITS_WORDS}" in text


def test_a_model_that_dies_takes_no_objection_with_it() -> None:
    """The stances are in the store, so whatever puts it together is held against them."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.elaborate().stop_paying().say("done").restart().resume_paying()

    assert any(IN_ITS_WORDS in text for text in table.texts)


# --- sources ----------------------------------------------------------------------------------------------------------


def test_claims_name_the_turns_they_rest_on() -> None:
    """Behind each of them; in git, each turn is a line of the transcript."""
    claims = Synthesis(
        insights=(Insight(text="Redis takes 2 ms", by=("Alex",), turns=("t02",), agreed=True),),
        decisions=(Decision(text="measure it", by="Ada", turns=("t04",)),),
        questions=(OpenQuestion(text="How long is the tunnel?", why="nobody knows", turns=("t03", "t04")),),
        objections=(HEARD,),
        summary="Redis is fast",
    )
    meeting = holding_out(claims, people=(Said("Decision: measure it"), DONE))
    kept, shown = meeting.synthesis.content, meeting.shown.text
    lines = {line.meta["turn_id"]: line for line in meeting.turns()}

    assert "- [Alex] Redis takes 2 ms [t02]\n" in shown
    assert "- measure it (Ada) [t04]\n" in shown
    assert "- How long is the tunnel?: nobody knows [t03, t04]\n" in shown
    assert kept.startswith(shown)
    for turn, name in {"t02": "Alex", "t03": "Jordan", "t04": "Ada"}.items():
        assert f"- {turn}: {name}, `planning/meeting.jsonl#{lines[turn].message_id}`\n" in kept
    assert "t01" not in kept


def test_an_insight_without_a_source_is_an_assumption() -> None:
    """Also when it names a turn that nobody took, or writes one into its words."""
    claims = (
        Insight(text="It rains", by=("Maya",)),
        Insight(text="It snows", by=("Maya",), turns=("t42",)),
        Insight(text="It hails [t02]", by=("Maya",)),
    )
    meeting = holding_out(Synthesis(insights=claims, objections=(HEARD,), summary="Weather"))

    for weather in ("rains", "snows", "hails"):  # and not one bracket that looks like a source
        assert f"- [Maya] *assumption*: It {weather}\n" in meeting.shown.text


def test_where_nothing_is_on_record_nothing_is_called_an_assumption() -> None:
    """The summary is what it always was, to the letter."""
    personas = {key: [Contribution("Hm.")] for key in HOLDOUT}
    meeting = played(Script(personas, [DONE], [fair()]))

    assert meeting.shown.text == meeting.synthesis.content
    assert "- [Alex] Where the edits are kept matters\n" in meeting.shown.text


def test_sources_are_links_in_the_thread() -> None:
    """To the messages themselves, of people and of personas."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT, syntheses=[fair("t02", "t04", objections=[HEARD])])
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.world.synthesis = script.syntheses[0]
    table.rt = table.rt.but(permalink="https://team.slack.com/archives/C1/p1700000000000100")
    table.elaborate().say("In a tunnel.", ts="1700000001.000200").say("done")
    shown = next(one.message for one in table.world.thread if "### Elab" in one.message.text)

    assert [link.label for link in shown.links] == ["t02 Alex", "t03 Jordan", "t04 Ada"]
    assert shown.links[-1].url == (
        "https://team.slack.com/archives/C1/p1700000001000200?thread_ts=1700000000.000100&cid=C1"
    )
