"""Whoever writes "help" into a thread is lost, and answers nothing."""

import pytest

from bot.domain.messages import verb_wording
from bot.domain.messages.message import Action
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.snapshot import folded
from tests.domain.table import Table, person, shipped

STAMP = "1767225700.000100"


@pytest.mark.parametrize("text", ["help", "Help!", "help me, please"])
def test_help_is_no_answer(text: str) -> None:
    """The person alone is told what they can say; the question stays open, and only the transcript has the word."""
    table = Table().start().say(text, who="grace")

    ((person, message),) = table.world.told
    assert person == "grace"
    assert "`finish` saves the open step" in message.text
    assert table.rt.answers == ()
    assert (table.rt.stage, table.offered()[0]) == (Stage.DISCUSSING, Action.FINISH_STEP)
    assert table.lines[-1].content == text


@pytest.mark.parametrize("text", ["done", "I think we're done"])
def test_who_is_done_is_told_how_to_finish(text: str) -> None:
    """In a discussion these words end it; a step is finished on purpose only, and the person alone is told how."""
    table = Table().start().say(text, who="grace")

    ((person, message),) = table.world.told
    assert (person, "type `finish`" in message.text) == ("grace", True)
    assert table.rt.stage is Stage.DISCUSSING


def test_that_somebody_is_done_is_no_answer() -> None:
    """It would stand below the last question, as what its author answered to that. It stays in the transcript."""
    table = Table().start().say("For field work.").say("we're done here", who="grace")

    assert [answer.text for answer in table.rt.answers] == ["For field work."]
    assert [one["text"] for one in table.rt.specification.entries.values()] == ["For field work."]
    assert table.lines[-1].content == "we're done here"
    assert "This is not kept as an answer." in table.world.told[-1][1].text


def test_help_at_a_menu_is_no_feedback() -> None:
    """The same menu stays open, and nothing is written again."""
    table = Table().start().do_step()
    menu = table.menu

    table.say("help")

    assert table.menu == menu
    assert not any(subject.startswith("feedback") for subject in table.subjects)


def test_help_in_a_discussion_is_no_turn() -> None:
    """Nobody answers it, and it uses nothing up."""
    table = Table().start().elaborate()
    turns = table.rt.debate.turn_count

    table.say("help")

    assert table.rt.debate.turn_count == turns
    assert table.world.told


def test_a_sentence_about_help_or_a_question_to_people_is_an_answer() -> None:
    """Only the word by itself is a call."""
    table = Table().start().say("Help texts are missing")

    assert [answer.text for answer in table.rt.answers] == ["Help texts are missing"]

    table = Table().start().say("Can I undo this? It is for field engineers.", to_us=True)

    assert table.world.told == []
    assert [one["text"] for one in table.rt.specification.entries.values()] == [
        "Can I undo this? It is for field engineers."
    ]

    table = Table().start().say("What if we don't agree?")

    assert table.world.told == []
    assert [one["text"] for one in table.rt.specification.entries.values()] == ["What if we don't agree?"]


def test_help_after_a_stop_is_saved_at_once() -> None:
    """Nothing else may come."""
    table = Table().start().stop().say("help")

    assert table.rt.lines == ()
    assert table.world.told


# --- a question to the bot ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What if I don't agree?", "disagree"),
        ("how do we decide", "decide"),
        ("Can I undo that?", "undo"),
        ("Wer hat das gesagt?", "who"),
        ("quand ?", "when"),
        ("¿Cómo exportar?", "export"),
        ("Is this private?", "private"),
        ("Which model is that?", "model"),
        ("次は何ですか？", "next"),
        ("How do I invite somebody?", "people"),
    ],
)
def test_a_question_to_the_bot_is_answered_by_topic(question: str, topic: str) -> None:
    """Its author alone is told. It answers nothing, is in no file, and gets no reaction."""
    question = question if question.endswith(("?", "？")) else f"{question}?"
    table = Table().start().say(question, who="grace", to_us=True)

    ((person, message),) = table.world.told
    assert (person, message.text) == ("grace", verb_wording.ANSWERS[topic])
    assert (table.rt.answers, table.rt.specification.entries) == ((), {})
    assert table.world.reactions == []
    assert (table.lines[-1].content, table.lines[-1].meta["to"]) == (question, "bot")


def test_what_no_topic_has_a_word_of_is_for_a_person() -> None:
    table = Table().start().say("Is the moon full?", to_us=True)

    assert [message.text for _, message in table.world.told] == [verb_wording.NO_ANSWER]


def test_a_persona_that_is_called_behind_the_bot_is_asked() -> None:
    table = Table().start().say("Maya, who decides?", to_us=True)

    assert [message.text for _, message in table.world.told] == ["Maya has no model here."]
    assert [answer.text for answer in table.rt.answers] == ["Maya, who decides?"]


def record(table: Table) -> tuple[object, ...]:
    """What is kept of the message: its words, for whom they are, what they gave, and what they answer."""
    line = [one for one in table.lines if one.meta.get("message_ts") == STAMP][-1]
    kept = [(one.kind, one["text"]) for one in table.rt.specification.entries.values() if not one.gone]
    alone = folded(table.lines).specification
    assert [(one.kind, one["text"]) for one in alone.entries.values() if not one.gone] == kept
    return line.content, line.meta.get("to"), kept, [one.text for one in table.rt.answers]


@pytest.mark.parametrize("to_us", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "What if we don't agree?",
        "Can I undo this? It is for field engineers.",
        "Can I undo this? limit: two people",
        "It is for field engineers.",
        "Maya, who decides?",
    ],
)
def test_a_message_gives_the_same_record_however_it_is_heard(text: str, *, to_us: bool) -> None:
    """Live, read again from the thread, and after the store was lost."""
    live = Table().start().say(text, ts=STAMP, to_us=to_us)
    told = record(live)

    reread = Table().start().forget()
    heard = ThreadMessage(person=person("ada"), text=text, ts=STAMP, to_us=to_us)
    reread.world.heard = (*reread.world.heard, heard)

    assert record(reread.forget()) == told
    assert record(live.stop().forget()) == told


def test_each_topic_has_an_answer() -> None:
    assert shipped().schema.help.keys() == verb_wording.ANSWERS.keys()
