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


def acknowledging() -> Table:
    """Somebody has answered the step, and its persona is about to say what it takes from that."""
    table = Table(thinking(shipped())).start().stop_paying().say("For field work.")
    return table.pay_up_to("speak")


def feeding_back() -> Table:
    """Somebody has added to a finished step, and a model is about to say what its persona takes from that."""
    table = Table(thinking(shipped())).start().do_step()
    return table.stop_paying().say("And on ships, too.").pay_up_to("speak")


def take_up(table: Table, text: str, *, meanwhile: str = "", satisfied: bool = False) -> Table:
    """The persona writes *text* about what was answered; *meanwhile* is said while it does."""
    speak, read = table.speaking, tuple(one.ts for one in table.rt.unread)
    if meanwhile:
        table.say(meanwhile, who="grace")
    return table.spoke(speak, text, satisfied=satisfied, read=read, facts={"tokens_in": 7})


def test_what_is_said_about_an_answer_is_posted_if_it_is_still_the_answer() -> None:
    """As before."""
    table = take_up(acknowledging(), "In tunnels? How long?").resume_paying()

    assert table.texts.count("In tunnels? How long?") == 1


def test_when_people_have_answered_more_it_is_written_once_more() -> None:
    """With all of it, and its question does not ask what was told meanwhile."""
    table = take_up(acknowledging(), "In tunnels? How long?", meanwhile="Tunnels of two hours.")
    table.pay_up_to("speak")
    take_up(table, "Two hours, then.", satisfied=True).resume_paying()
    assert "In tunnels? How long?" not in table.texts
    assert table.texts[-1] == "Two hours, then."


def test_nobody_talks_into_people_who_are_talking() -> None:
    """What it asks once they are done has read all of it."""
    table = take_up(acknowledging(), "In tunnels?", meanwhile="Of two hours.").pay_up_to("speak")
    take_up(table, "Two hours?", meanwhile="And on ships.").resume_paying()

    assert not {"In tunnels?", "Two hours?"} & set(table.texts)
    assert table.texts[-1] == "business-analyst on draft"


def test_an_answer_that_is_taken_back_is_not_answered() -> None:
    """Whoever deleted it does not want to read it again."""
    table = acknowledging()
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


def test_the_record_has_what_an_answer_took_that_was_not_posted() -> None:
    """Without its words, and without its verdict on an answer that is another by now."""
    table = take_up(acknowledging(), "In tunnels?", meanwhile="Of two hours.")
    line = table.rt.lines[-1]

    assert "once more" in line.content
    assert line.meta["tokens_in"] == 7
    assert "satisfied" not in line.meta


def test_feedback_that_is_overtaken_is_written_down_before_anything_is_said() -> None:
    """At a menu: what was about to be said of it is left out, and the record says what it took."""
    table = feeding_back()
    take_up(table, "On ships, too.", meanwhile="And on planes, too.").resume_paying()

    assert "On ships, too." not in table.texts
    assert any(line.meta.get("tokens_in") == 7 for line in table.lines)
    table.press(Action.CONTINUE)
    assert "Grace: And on planes, too." in table.world.files["quick-scan.md"]


def test_what_a_word_about_feedback_took_stands_on_its_line() -> None:
    """The menu stays above it."""
    table = feeding_back()
    take_up(table, "On ships, too.", satisfied=True).resume_paying()
    line = next(line for line in reversed(table.lines) if "On ships, too." in line.content)

    assert (line.meta["tokens_in"], line.meta["satisfied"]) == (7, True)


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
