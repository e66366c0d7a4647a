"""What a persona wrote while people went on is never posted below words that it does not know."""

from bot.domain.messages.message import Action
from bot.domain.roundtable.outcomes import PersonaSpoke
from tests.domain.books import thinking
from tests.domain.table import FLOOR, Table, shipped


def answering() -> Table:
    """A discussion in which a persona is about to answer a person."""
    table = Table().start().elaborate().stop_paying().say("Alex, what about conflicts?")
    return table.pay_up_to("speak")


def write(table: Table, text: str, *, meanwhile: str = "") -> Table:
    """The persona writes *text*; *meanwhile* is said while it does."""
    speak, turns = table.speaking, table.rt.debate.turn_count
    if meanwhile:
        table.say(meanwhile, who="grace")
    return table.spoke(speak, text, turns=turns, facts={"tokens_in": 7})


def test_what_nobody_interrupted_is_posted() -> None:
    """As before."""
    table = write(answering(), "We merge.").resume_paying()

    assert "We merge." in table.texts


def test_a_belated_answer_is_written_once_more() -> None:
    """By the same persona, who has read all of it this time, and then it is one turn."""
    table = write(answering(), "We merge.", meanwhile="Conflicts are solved already.")
    table.pay_up_to("speak")
    again = table.speaking
    assert (again.persona, again.redone) == ("solutions-architect", True)

    write(table, "Then there is nothing to merge.").resume_paying()
    assert "We merge." not in table.texts
    assert table.texts.count("Then there is nothing to merge.") == 1


def test_when_people_go_on_it_is_left_out_and_the_floor_is_theirs() -> None:
    """Nobody writes a third time into a conversation that runs well without."""
    table = write(answering(), "We merge.", meanwhile="Alex, forget it.")
    table.pay_up_to("speak")
    write(table, "Then not.", meanwhile="Alex, is that so?").resume_paying()

    assert not {"We merge.", "Then not."} & set(table.texts)
    assert table.offered() == FLOOR
    assert [turn.text for turn in table.rt.debate.turns][-3:] == [
        "Alex, what about conflicts?",
        "Alex, forget it.",
        "Alex, is that so?",
    ]


def test_the_record_says_what_was_not_posted_and_what_it_took() -> None:
    """In a line without the words: nobody read them."""
    table = write(answering(), "We merge.", meanwhile="Conflicts are solved already.")
    line = table.rt.lines[-1]

    assert "once more" in line.content
    assert "We merge" not in line.content
    assert line.meta["tokens_in"] == 7


# --- an answer to a step --------------------------------------------------------------------------------------------


def test_an_answer_that_is_taken_back_is_not_answered() -> None:
    """Whoever deleted it does not want to read it again."""
    table = Table(thinking(shipped())).start().stop_paying().say("For field work.").pay_up_to("speak")
    speak, ts = table.speaking, table.rt.answers[-1].ts
    table.delete(ts)
    spoke = PersonaSpoke(
        key=speak.id,
        at=table.now(),
        effect=speak.id,
        persona=speak.persona,
        text="Field work?",
        read=(ts,),
    )
    table.rt = table.decided(spoke)
    table.resume_paying()

    assert "Field work?" not in table.texts


# --- a framing ------------------------------------------------------------------------------------------------------


def test_a_framing_is_written_until_it_fits() -> None:
    """Without it there is no discussion; whoever speaks before it is in it."""
    table = Table().start().do_step().stop_paying().press(Action.ELABORATE)
    for words in ("First,", "second,"):
        table.pay_up_to("speak")
        write(table, "Let us begin.", meanwhile=words)
    table.pay_up_to("speak")
    assert table.speaking.task == "frame"

    write(table, "Let us begin.")
    assert table.rt.debate.framed
    assert [turn.text for turn in table.rt.debate.turns] == ["First,", "second,", "Let us begin."]
