"""What a synthesis rests on, and what it must not lose: held against the record, not against its words."""

import pytest

from bot.domain.discussion.elaboration import Stance
from bot.domain.discussion.synthesis import (
    Decision,
    Insight,
    Objection,
    ObjectionOutcome,
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
    ALEX: [says("Redis is fast: 2 ms.", "Redis", "t01", new=True)],
    JORDAN: [says("In a tunnel there is no server.", "SQLite", "t01", new=True)],
}
WEIGHED = Objection(
    text="A tunnel has no server",
    by=("Jordan",),
    turns=("t03",),
    outcome=ObjectionOutcome.REJECTED,
    because="the tunnel is short",
)
REFUSED = "The synthesis left out 1 objection, so I asked for it once more."
IN_ITS_WORDS = "- [Jordan] storage: SQLite (“In a tunnel there is no server.”): open"
PUT_BACK = f"{IN_ITS_WORDS} [t03]"
WEIGHED_IS_SHOWN = f"{IN_ITS_WORDS}; suggested: rejected because the tunnel is short [t03]"


def holding_out(*syntheses: Synthesis, people: tuple[Said | Pressed, ...] = (DONE,)) -> Played:
    return played(Script(HOLDOUT, people, syntheses))


def times_refused(meeting: Played) -> int:
    return sum(line.content == REFUSED for line in meeting.lines)


# --- dissent ----------------------------------------------------------------------------------------------------------


def test_a_synthesis_with_the_objection_is_taken_as_it_is() -> None:
    """In the words of who made it; what whoever chairs makes of it is a suggestion, and it stays open."""
    meeting = holding_out(fair("t02", objections=[WEIGHED]))

    assert WEIGHED_IS_SHOWN in meeting.shown.text
    assert "A tunnel has no server" not in meeting.shown.text
    assert (meeting.card["objections"], meeting.card["objections_kept"]) == (1, 1)
    assert times_refused(meeting) == 0


def test_a_synthesis_that_drops_one_is_refused_once() -> None:
    """The record says so; the second one is taken."""
    meeting = holding_out(fair("t02"), fair("t02", objections=[WEIGHED]))

    assert times_refused(meeting) == 1
    assert REFUSED not in meeting.texts
    assert meeting.card["objections_kept"] == 1


@pytest.mark.parametrize("reason", ["", "unstructured", "timeout"])
def test_a_second_attempt_that_fails_takes_nothing_with_it(reason: str) -> None:
    """What was refused is better than a sentence: it is shown with what it left out."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.world.syntheses, table.world.synthesis = [fair("t02")], Synthesis(summary="They talked")
    table.elaborate().stop_paying().say("done").pay_up_to("synthesize").pay_one()
    if reason:
        table.fail("synthesize", reason)
    shown = next(text for text in table.resume_paying().texts if "### Elaboration Insights" in text)

    assert "Where the edits are kept matters" in shown
    assert PUT_BACK in shown
    assert not any("Key takeaway" in text for text in table.texts)
    assert not table.rt.unaided


def test_what_is_dropped_twice_is_put_back() -> None:
    """By code, in the words of the record; the card counts what the voice left out."""
    meeting = holding_out(fair("t02"))

    assert PUT_BACK in meeting.shown.text
    assert times_refused(meeting) == 1
    assert (meeting.card["objections"], meeting.card["objections_kept"]) == (1, 0)
    assert "0 of 1 objections kept" in meeting.shown.note


@pytest.mark.parametrize(
    "half_said",
    [
        WEIGHED.but(because=" "),
        WEIGHED.but(because=" — … "),
        WEIGHED.but(outcome=ObjectionOutcome.ACCEPTED, because=""),
        WEIGHED.but(
            outcome=ObjectionOutcome.ACCEPTED, because="", risk="lost edits", reopen_if="one is lost"
        ),
        WEIGHED.but(outcome=ObjectionOutcome.DEFERRED, risk="?", reopen_if="one is lost"),
        WEIGHED.but(outcome=ObjectionOutcome.DEFERRED, because="later", risk="lost edits"),
        WEIGHED.but(outcome=ObjectionOutcome.DEFERRED, reopen_if="it happens"),
        WEIGHED.but(turns=("t02",)),
        WEIGHED.but(turns=("t77",)),
        WEIGHED.but(turns=()),
    ],
)
def test_an_objection_that_is_only_half_said_is_dropped(half_said: Objection) -> None:
    """
    A no without a reason, a yes without what changed, a later without a risk or a condition, and one that names another
    turn or none.
    """
    meeting = holding_out(fair("t02", objections=[half_said]))

    assert PUT_BACK in meeting.shown.text
    assert meeting.card["objections_kept"] == 0


def test_a_later_with_its_risk_is_enough() -> None:
    """It says what would bring it back."""
    later = WEIGHED.but(
        outcome=ObjectionOutcome.DEFERRED, because="", risk="lost edits", reopen_if="one is lost"
    )
    text = holding_out(fair("t02", objections=[later])).shown.text

    assert f"{IN_ITS_WORDS}; suggested: deferred; risk: lost edits; reopen if: one is lost [t03]" in text
    assert PUT_BACK not in text


def test_a_yes_says_what_changed() -> None:
    """Then it is enough."""
    yes = WEIGHED.but(outcome=ObjectionOutcome.ACCEPTED, because="edits wait in a file")
    meeting = holding_out(fair("t02", objections=[yes]))

    assert f"{IN_ITS_WORDS}; suggested: accepted because edits wait in a file [t03]" in meeting.shown.text
    assert (times_refused(meeting), meeting.card["objections_kept"]) == (0, 1)


def test_an_objection_belongs_to_whoever_made_it() -> None:
    """Whatever the voice says whose it is."""
    text = holding_out(fair("t02", objections=[WEIGHED.but(by=("Maya",))])).shown.text

    assert WEIGHED_IS_SHOWN in text
    assert "[Maya] storage" not in text


def test_an_objection_that_nobody_has_on_record_is_weighed_too() -> None:
    """A voice that hears one in plain words says what became of it, the second time at the latest; else it is open."""
    heard = Objection(text="It is dear", by=("Ada",), turns=("t04",), outcome=ObjectionOutcome.ACCEPTED)
    people = (Said("I think it is dear."), DONE)
    dropped = holding_out(fair("t02", objections=[WEIGHED, heard]), people=people)
    mended = holding_out(
        fair("t02", objections=[WEIGHED, heard]),
        fair("t02", objections=[WEIGHED, heard.but(because="it runs on what we have")]),
        people=people,
    )

    assert "- [Ada] I think it is dear: open [t04]" in dropped.shown.text
    assert (
        "- [Ada] I think it is dear: open; suggested: accepted because it runs on what we have [t04]"
        in mended.shown.text
    )
    assert (times_refused(dropped), times_refused(mended)) == (1, 1)


SHORT, LONG = Stance(issue="names", position="short"), Stance(issue="names", position="long")
TWICE_AGAINST = {
    MAYA: [Contribution("Where do edits wait?", (*HOLDOUT[MAYA][0].stances, SHORT))],
    ALEX: [Contribution("Redis, short.", (*HOLDOUT[ALEX][0].stances, SHORT))],
    JORDAN: [Contribution("A file, long.", (*HOLDOUT[JORDAN][0].stances, LONG))],
}
ABOUT_NAMES = WEIGHED.but(text="Long names are read", because="nobody reads them")


def both_against(*objections: Objection) -> Played:
    """In one turn, Jordan holds out on two issues."""
    return played(Script(TWICE_AGAINST, [DONE], [fair("t02", objections=objections)]))


def test_of_two_objections_in_one_turn_the_right_one_is_put_back() -> None:
    """An answer says by its name which issue it is about; one that does not is about neither."""
    named = both_against(ABOUT_NAMES.but(issue=" Names"))
    unnamed = both_against(ABOUT_NAMES)

    assert named.card["objections_kept"] == 1
    assert "[Jordan] storage: SQLite (“A file, long.”): open [t03]" in named.shown.text
    assert "[Jordan] names: long (“A file, long.”): open; suggested: rejected" in named.shown.text
    assert unnamed.card["objections_kept"] == 0
    assert "[Jordan] names: long (“A file, long.”): open [t03]" in unnamed.shown.text


def test_a_name_that_no_issue_has_is_no_name() -> None:
    """Where the turn alone says what is meant, that is enough."""
    meeting = holding_out(fair("t02", objections=[WEIGHED.but(issue="tunnels")]))

    assert meeting.card["objections_kept"] == 1


@pytest.mark.parametrize("order", [1, -1])
def test_as_many_objections_are_answered_as_there_are_answers(order: int) -> None:
    """Whichever of them stands first, and however the turns overlap."""
    personas = {
        MAYA: [says("Where?", "Redis")],
        ALEX: [says("Paper.", "paper", "t01")],
        JORDAN: [says("A file.", "SQLite", "t01")],
    }
    answers = tuple(WEIGHED.but(turns=turns) for turns in (("t02", "t03"), ("t01", "t02"), ("t01", "t02")))
    script = Script(personas, [DONE], [fair("t01", objections=answers[::order])])

    assert (played(script).card["objections"], played(script).card["objections_kept"]) == (3, 3)


# --- what people mark -------------------------------------------------------------------------------------------------

MARKED = Said(
    "I see.\n*Decision:* the queue, and not the cache; [because](it keeps order)\nObjection: it is dear."
)
OPEN = "- [Ada] it is dear: open [t04]"


def test_a_decision_that_somebody_marked_is_kept_word_by_word() -> None:
    """What the voice made of it is no decision of Ada's."""
    paraphrased = fair("t02", objections=[WEIGHED]).but(
        decisions=(Decision(text="We queue", by="Ada", turns=("t04",)),)
    )
    text = holding_out(paraphrased, people=(MARKED, DONE)).shown.text

    assert "- We queue (Ada) [t04]\n" not in text
    assert "[Ada] Proposed, and not decided: We queue [t04]\n" in text.replace(
        "*unverified* (the source says something else): ", ""
    )
    assert "- the queue, and not the cache; [because](it keeps order) (Ada) [t04]\n" in text


def test_one_that_the_voice_has_already_does_not_stand_twice() -> None:
    """In the same words, with or without the reason apart."""
    people = (Said("Decision: the queue, because it keeps order."), DONE)
    said = Decision(text="The queue", rationale="it keeps order", by="Ada", turns=("t04",))
    text = holding_out(fair("t02", objections=[WEIGHED]).but(decisions=(said,)), people=people).shown.text

    assert text.count("keeps order") == 1


def test_an_objection_that_somebody_marked_survives() -> None:
    """Like those of personas: the synthesis is refused once, and then it is put back."""
    meeting = holding_out(fair("t02", objections=[WEIGHED]), people=(MARKED, DONE))

    assert OPEN in meeting.shown.text
    assert times_refused(meeting) == 1
    assert (meeting.card["objections"], meeting.card["objections_kept"]) == (2, 1)


def test_a_marked_objection_that_is_weighed_is_taken_as_it_is() -> None:
    """In the words of whoever chairs."""
    answered = Objection(
        text="The cost",
        by=("Ada",),
        turns=("t04",),
        outcome=ObjectionOutcome.ACCEPTED,
        because="we share one",
    )
    meeting = holding_out(fair("t02", objections=[WEIGHED, answered]), people=(MARKED, DONE))

    assert "- [Ada] it is dear: open; suggested: accepted because we share one [t04]" in meeting.shown.text
    assert (times_refused(meeting), meeting.card["objections_kept"]) == (0, 2)


def test_what_is_taken_back_is_marked_no_more() -> None:
    """An edited message says what it says now."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.world.synthesis = fair("t02", objections=[WEIGHED])
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
    meeting = holding_out(fair("t02", objections=[WEIGHED]), people=people)

    assert meeting.card["objections"] == 1
    assert "#### Decisions Made\n- None recorded." in meeting.shown.text


def test_one_answer_stands_for_one_objection() -> None:
    """Two people who object to different things are not put off with one sentence."""
    personas = {**HOLDOUT, MAYA: [says("Where?", "Redis")], ALEX: [says("Paper.", "paper", "t01")]}
    both = WEIGHED.but(turns=("t02", "t03"))
    meeting = played(Script(personas, [DONE], [fair("t01", objections=[both])]))

    assert (meeting.card["objections"], meeting.card["objections_kept"]) == (3, 1)


def test_whoever_moved_for_a_reason_objects_no_more() -> None:
    """What counts is where everybody stands in the end."""
    personas = {**HOLDOUT, JORDAN: [*HOLDOUT[JORDAN], says("Then Redis.", "Redis", "t04")]}
    meeting = played(
        Script(personas, [Said("Jordan, the tunnel has a server now."), DONE], [fair("t02", "t03", "t04")])
    )

    assert meeting.card["objections"] == 0
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
    assert f"#### Objections\n{PUT_BACK}" in text


def test_a_model_that_dies_takes_no_objection_with_it() -> None:
    """The stances are in the store, so whatever puts it together is held against them."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.elaborate().stop_paying().say("done").restart().resume_paying()

    assert any(PUT_BACK in text for text in table.texts)


# --- sources ----------------------------------------------------------------------------------------------------------


def test_claims_name_the_turns_they_rest_on() -> None:
    """Behind each of them; in git, each turn is a line of the transcript."""
    claims = Synthesis(
        insights=(Insight(text="Redis takes 2 ms", by=("Alex",), turns=("t02",)),),
        decisions=(Decision(text="measure it", by="Ada", turns=("t04",)),),
        questions=(OpenQuestion(text="How long is the tunnel?", why="nobody knows", turns=("t03", "t04")),),
        objections=(WEIGHED,),
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
    meeting = holding_out(Synthesis(insights=claims, objections=(WEIGHED,), summary="Weather"))

    for weather in ("rains", "snows", "hails"):  # and not one bracket that looks like a source
        assert f"- [Maya] *assumption*: It {weather}\n" in meeting.shown.text
    assert (meeting.card["insights"], meeting.card["sourced"]) == (3, 0)
    assert "0 of 3 insights with a source" in meeting.shown.note


def test_where_nothing_is_on_record_nothing_is_called_an_assumption() -> None:
    """The summary is what it always was, to the letter."""
    personas = {key: [Contribution("Hm.")] for key in HOLDOUT}
    meeting = played(Script(personas, [DONE], [fair()]))

    assert meeting.shown.text == meeting.synthesis.content
    assert "- [Alex] Where the edits are kept matters\n" in meeting.shown.text


def test_sources_are_links_in_the_thread() -> None:
    """To the messages themselves, of people and of personas."""
    table = Table(few_steps()).start()
    script = Script(HOLDOUT, syntheses=[fair("t02", "t04", objections=[WEIGHED])])
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.world.synthesis = script.syntheses[0]
    table.rt = table.rt.but(permalink="https://team.slack.com/archives/C1/p1700000000000100")
    table.elaborate().say("In a tunnel.", ts="1700000001.000200").say("done")
    shown = next(one.message for one in table.world.thread if "### Elab" in one.message.text)

    assert [link.label for link in shown.links] == ["t02 Alex", "t03 Jordan", "t04 Ada"]
    assert shown.links[-1].url == (
        "https://team.slack.com/archives/C1/p1700000001000200?thread_ts=1700000000.000100&cid=C1"
    )


# --- facts ------------------------------------------------------------------------------------------------------------


def test_a_hidden_fact_that_survives_is_counted() -> None:
    """It was said by one of them only, and the synthesis names the turn."""
    card = holding_out(fair("t01", "t02", objections=[WEIGHED])).card

    assert (card["facts"], card["facts_kept"]) == (3, 3)


def test_a_hidden_fact_that_is_lost_is_counted_too() -> None:
    """Nobody reads it again, and the card says that it is gone."""
    meeting = holding_out(fair("t01", objections=[WEIGHED]))

    assert (meeting.card["facts"], meeting.card["facts_kept"]) == (3, 2)
    assert "2 of 3 facts kept" in meeting.shown.note
