"""A word where nothing goes on, a word to a persona that cannot answer, and `stop` while something is written down."""

import pytest

from bot.domain.messages.message import Action
from bot.errors import NotNow
from tests.domain.table import Table


def told(table: Table, who: str) -> list[str]:
    return [message.text for one, message in table.world.told if one == who]


def test_a_word_at_a_stopped_roundtable_gets_one_hint() -> None:
    """The next stop is another one."""
    table = Table().start().stop()
    table.say("One more thing", who="grace").say("and another", who="grace")
    assert [text for text in told(table, "grace") if "stopped" in text] == [
        "This roundtable is stopped. I keep what you write. To go on, press *Resume*, or type `@roundtable resume`."
    ]

    table.resume().stop().say("Still there?", who="grace")
    assert len([text for text in told(table, "grace") if "is stopped" in text]) == 2


def test_stop_while_a_step_is_saved_stops_after_it() -> None:
    table = Table().start().say("Edits get lost. Scope: small")
    table.stop_paying()
    table.press(Action.FINISH_STEP).pay_up_to("commit")
    assert table.rt.stage == "writing"
    table.say("stop", who="grace")
    table.resume_paying()

    assert table.rt.stage == "paused"
    assert table.rt.steps_completed, "what was being written is saved"
    assert told(table, "grace") == ["I finish writing this down. Then I stop."]
    assert table.offered() == [Action.RESUME]
    assert table.resume().rt.stage == "at_boundary"


@pytest.mark.parametrize("typed", [True, False])
def test_stop_while_the_thread_is_opened(*, typed: bool) -> None:
    table = Table(paying=False).start()
    table = table.say("stop") if typed else table.stop()
    table.resume_paying()

    assert table.rt.stage == "paused"


def test_who_asks_a_persona_without_a_model_can_keep_the_question() -> None:
    """As an open question, once."""
    table = Table().start().say("Maya, what do you think?", who="grace")
    ((asker, message),) = table.world.told
    (keep,) = message.choices

    assert (asker, message.text, keep.label) == (
        "grace",
        "Maya has no model here.",
        "Keep it as an open question",
    )
    table.press_outside(keep.action, value=keep.value, who="grace")
    (question,) = table.rt.specification.active("question")
    claim = question.claim("text")
    assert question["text"] == "Maya, what do you think?"
    assert claim
    assert claim.owner.name == "Grace"

    table = Table().start().say("Maya, what do you think?", who="grace")
    (keep,) = table.world.told[0][1].choices
    table.press_outside(keep.action, value=keep.value, who="grace")

    with pytest.raises(NotNow):
        table.press_outside(keep.action, value=keep.value, who="grace")


def test_who_only_thanks_a_persona_is_told_nothing() -> None:
    assert Table().start().say("Maya, that is enough for me.", who="grace").world.told == []
