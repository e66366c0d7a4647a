"""What one person is told who asks where things stand."""

from bot.engine.answers import status
from tests.domain.books import few_steps, thinking
from tests.domain.table import Table

WITHOUT = "- A model failed, so the personas go on without one until you press *Retry with the model*."


def told(table: Table) -> list[str]:
    return status(table.rt, table.playbook).text.split("\n")


def test_the_status_says_that_the_personas_go_on_without_a_model() -> None:
    """It was told when it happened, and that is far up in the thread by now; with the model back, nothing is said."""
    table = Table(thinking(few_steps())).start()
    assert WITHOUT not in told(table)

    table.fail("speak", "unavailable").do_step()
    assert WITHOUT in told(table)

    table.press_retry()
    assert WITHOUT not in told(table)
