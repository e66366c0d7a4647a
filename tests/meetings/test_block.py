"""The block of a discussion: what people and personas put on record, in their words, with the lines it rests on."""

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import RecordDecision
from bot.domain.specification.claims import Quote
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table, person
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    Played,
    Pressed,
    Said,
    Script,
    discussing,
    listening,
    played,
    says,
)

HOLDOUT = {
    MAYA: [says("Where do edits wait?", "Redis")],
    ALEX: [says("Redis is fast: 2 ms.", "Redis", "t01")],
    JORDAN: [says("In a tunnel there is no server.", "SQLite", "t01")],
}
POSITIONS = "#### Positions\n- A: Redis – *Maya*, *Alex*\n- B: SQLite – *Jordan*\n"
MARKED = Said(
    "I see.\n*Decision:* the queue, and not the cache; [because](it keeps order)\nObjection: it is dear."
)


def holding_out(*people: Said | Pressed) -> Played:
    return played(Script(HOLDOUT, people or (DONE,)))


# --- who stands where -------------------------------------------------------------------------------------------------


def test_every_position_of_personas_is_in_the_block() -> None:
    """Also that of a minority."""
    assert POSITIONS in holding_out().shown.text


def test_who_moved_names_the_line_that_moved_them() -> None:
    """In the words of that line."""
    personas = {**HOLDOUT, JORDAN: [*HOLDOUT[JORDAN], says("Then Redis.", "Redis", "t04")]}
    moved = played(Script(personas, [Said("Jordan, the tunnel has a server now."), DONE]))

    assert "- *Jordan* moved from B to A because of Ada: “Jordan, the tunnel has a server now.” [t04]\n" in (
        moved.shown.text
    )


def test_a_model_that_dies_takes_no_position_with_it() -> None:
    """They are in the store."""
    table = discussing(HOLDOUT).stop_paying().say("done").restart().resume_paying()

    assert any(POSITIONS in text for text in table.texts)


# --- what people mark -------------------------------------------------------------------------------------------------


def test_what_somebody_marked_is_kept_word_by_word() -> None:
    """With who made it, and where; an objection with what became of it."""
    text = holding_out(MARKED, DONE).shown.text

    assert "- the queue, and not the cache; [because](it keeps order) (Ada) [t04]\n" in text
    assert "- [Ada] it is dear: open [t04]" in text


def test_what_is_taken_back_is_marked_no_more() -> None:
    """An edited message says what it says now."""
    table = discussing(HOLDOUT)
    ts = table.ts()
    table.say(MARKED.text, ts=ts).edit(ts, "I see.").say("done")
    shown = next(text for text in table.texts if "### Elaboration Insights" in text)

    assert "it is dear" not in shown
    assert "the queue" not in shown


def test_words_without_the_mark_are_discussion() -> None:
    """However much they sound like it; and what is quoted or stands in code was said by somebody else."""
    meeting = holding_out(
        Said("We decide for the queue. I object, it is dear."),
        Said("> Objection: it is slow\n```\nDecision: none\n```\nNo objection: fine, the decision: ours"),
        DONE,
    )

    assert "#### Decisions Made\n- None recorded." in meeting.shown.text
    assert "Objections" not in meeting.shown.text


def recorded(*said: tuple[str, str]) -> list[tuple[str, str]]:
    """The entries when people said this. The first one is not of them: it is the answer to the step."""
    table = listening()
    for who, text in said:
        table.say(text, who=who)
    _, *found = table.rt.specification.entries.values()
    return [
        (one.kind, str(one["text"])) for one in found if one.kind not in {"discussion", "position", "option"}
    ]


def test_only_what_has_a_label_becomes_an_entry() -> None:
    """A label makes an entry of their words; all else is a note, which they may sort."""
    assert recorded(
        ("ada", "Two editors at once are common in spring. We counted 11 conflicts."),
        ("grace", "Decision: both edits are kept\nSo nobody loses work."),
        ("ada", "Objection: nobody reads two versions"),
        ("grace", "open question: who merges them?\ntodo: ask Graz\ninsight: it is worse in tunnels"),
        ("ada", "lol ok"),
    ) == [
        ("note", "Two editors at once are common in spring. We counted 11 conflicts."),
        ("decision", "both edits are kept"),
        ("note", "So nobody loses work."),
        ("objection", "nobody reads two versions"),
        ("question", "who merges them?"),
        ("action", "ask Graz"),
        ("insight", "it is worse in tunnels"),
    ]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("for A", ""),
        ("ok. for B", ""),
        ("B works for me. Support asks for one counter", "Support asks for one counter"),
        ("position: A, very sure, because it is simple", "it is simple"),
    ],
)
def test_the_rest_of_a_position_is_its_reason_and_no_note(said: str, why: str) -> None:
    options = "Option A: a bucket in each gateway Option B: one counter in Redis"
    table = listening().say(options, who="grace").say(said)

    (position,) = table.rt.specification.active("position")
    assert (position["why"] or "") == why
    assert recorded(("grace", options), ("ada", said)) == []


def test_words_that_were_no_position_yet_are_a_note() -> None:
    """The options came later."""
    early, option = "A works for me if it fails open", "option: a bucket in each gateway"

    assert recorded(("ada", early), ("grace", option)) == [("note", early)]


def test_a_discussion_of_which_only_the_framing_came_keeps_what_people_pressed() -> None:
    """It has a block like any other."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.elaboration is not None and rt.debate.turn_count == 1)
    event = RecordDecision(key=table.key(), at=table.now(), person=person("ada"), words="We wait")
    table.hear(event).say("done").resume_paying()

    assert "#### Decisions Made\n- We wait (Ada)\n" in table.world.files["quick-scan.md"]


# --- sources ----------------------------------------------------------------------------------------------------------


def test_rows_name_the_turns_they_rest_on() -> None:
    """Behind each of them; in git, each turn is a line of the transcript."""
    meeting = holding_out(Said("Decision: measure it"), Said("Open question: How long is the tunnel?"), DONE)
    kept, shown = meeting.block.content, meeting.shown.text
    lines = {line.meta["turn_id"]: line for line in meeting.turns()}

    assert "- measure it (Ada) [t04]\n" in shown
    assert "- How long is the tunnel?: asked by Ada [t05]\n" in shown
    assert kept.startswith(shown)
    for turn in ("t04", "t05"):
        assert f"- {turn}: Ada, `planning/meeting.jsonl#{lines[turn].message_id}`\n" in kept
    assert "t01" not in kept


def test_a_line_is_quoted_once() -> None:
    """Who quotes it again is not heard, in whatever other words of it."""
    code = Quote(line="src/sync.py:5-8@1a2b3c4", words="retries without a key")
    again = code.but(words="retries without a key, twice")
    fresh, stale = (Contribution("Look at the retry.", quotes=(one,)) for one in (code, again))
    script = {MAYA: HOLDOUT[MAYA], ALEX: [*HOLDOUT[ALEX], fresh, stale], JORDAN: HOLDOUT[JORDAN]}
    said = played(Script(script, [GO_ON, GO_ON, DONE])).turns()[3:]

    assert [line.meta["quotes"] for line in said] == [[{"line": code.line, "words": code.words}]]


def test_a_block_that_names_no_turn_has_no_sources() -> None:
    meeting = played(Script({key: [Contribution("Hm.")] for key in HOLDOUT}, [DONE]))

    assert meeting.shown.text == meeting.block.content


def test_sources_are_links_in_the_thread() -> None:
    """To the messages themselves."""
    table = Table(few_steps()).start()
    table.rt = table.rt.but(permalink="https://team.slack.com/archives/C1/p1700000000000100")
    table.elaborate().say("Objection: It is dear.", ts="1700000001.000200").say("done")
    shown = next(one.message for one in table.world.thread if "### Elab" in one.message.text)
    (link,) = shown.links

    assert link.label.endswith(" Ada")
    assert link.url == (
        "https://team.slack.com/archives/C1/p1700000001000200?thread_ts=1700000000.000100&cid=C1"
    )
