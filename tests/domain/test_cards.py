"""The card of a step: one message, which says what stands there now."""

from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table

ONE_PHASE = few_steps(step("00-01"), step("00-02"))


def cards(table: Table) -> list[str]:
    """The timestamps of the posts that have a card."""
    return [said.ts for said in table.world.thread if said.message.card]


def test_a_step_is_one_post_from_its_question_to_its_menu() -> None:
    table = Table(ONE_PHASE).start().say("For field work, without a network.").do_step()

    assert len(cards(table)) == 1
    assert table.offered()[0] is Action.CONTINUE


def test_what_people_say_is_on_the_card() -> None:
    table = Table(ONE_PHASE).start().say("For field work, without a network.")

    (ts,) = cards(table)
    card = next(said.message for said in table.world.thread if said.ts == ts)
    assert "For field work, without a network." in card.text


def test_the_card_names_who_finished_the_step() -> None:
    table = Table(ONE_PHASE).start().do_step()

    assert "Finished by Ada" in table.last.text


def test_the_next_step_has_a_card_of_its_own_and_the_one_before_has_no_buttons() -> None:
    table = Table(ONE_PHASE).start().do_step().press_continue()

    first, second = cards(table)
    before = next(said.message for said in table.world.thread if said.ts == first)
    assert before.offered == ()
    assert second == table.menu.ts


def test_a_card_of_a_thread_that_is_gone_is_posted_in_the_new_one() -> None:
    """Found by hand: after resume the new thread had a root and nothing below it."""
    table = Table(ONE_PHASE).start().do_step()
    table.fail("post", "thread_not_found").resume().start_again()

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert table.world.thread[-1].message.card is not None
    assert table.offered()[0] is Action.CONTINUE
