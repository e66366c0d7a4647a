"""A persona with a model looks when a step opens, before anybody answers; its card is there first."""

from dataclasses import replace

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policy
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Post, Speak
from bot.domain.specification.claims import EntryState
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import ENTRIES
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once, shipped

CODE = "src/export.py:40@1a2b3c4"
FACTS = {"provider": "acme", "tokens_in": 7, "tokens_out": 3}
FOUND = Patch(
    id="ASM-001", kind="assumption", new=True, set={"text": "The export has a limit"}, sources=(CODE,)
)


def book(*, looks: bool = True, thinks: bool = True) -> Playbook:
    policy = Policy(thinks=thinks, looks_first=looks, draft_seconds=0)
    return replace(few_steps(*shipped().agenda.steps[:2]), policy=policy)


@played_once
def opened() -> Table:
    """The persona is looking; its card stands in the thread."""
    return Table(book(), paying=False).start().pay_up_to("speak")


def proposals(table: Table) -> list[str]:
    return [line.content for line in table.rt.lines if ENTRIES in line.meta and "provider" in line.meta]


def test_the_card_is_posted_before_the_persona_looks_and_finishing_does_not_wait() -> None:
    """The question is there at once."""
    table = Table(book(), paying=False).start()
    table.pay_until(lambda rt: rt.has_pending(Speak))
    kinds = [type(one) for one in table.rt.outbox if isinstance(one, Post | Speak)]

    assert kinds[-1] is Speak
    assert Post in kinds
    assert "Step 00-01:" in opened().world.thread[-1].message.text

    table = opened().press(Action.FINISH_STEP)

    assert not table.rt.has_pending(Speak)


def test_what_it_finds_is_suggested_on_the_card() -> None:
    """Nobody has answered yet; the line of the record has what the call took."""
    table = opened()
    table.spoke(table.speaking, "", patches=(FOUND,), facts=FACTS).resume_paying()

    assert table.rt.card
    assert "The export has a limit" in table.card.text
    assert table.rt.specification.entries["ASM-001"].state is EntryState.PROPOSED
    assert proposals(table) == ["Maya Chen suggests ASM-001."]


def test_an_answer_meanwhile_keeps_what_was_found() -> None:
    """It rests on the code. The answer is read next."""
    table = opened()
    looking = table.speaking
    table.say("Export every row.").spoke(looking, "", patches=(FOUND,), facts=FACTS).pay_up_to("speak")

    assert proposals(table) == ["Maya Chen suggests ASM-001."]
    assert (table.speaking.task, table.speaking.persona) == ("draft", looking.persona)
    assert [one.text for one in table.rt.unread] == ["Export every row."]


def test_to_find_nothing_is_on_record_and_no_post() -> None:
    table = opened()
    posts = len(table.world.thread)
    table.spoke(table.speaking, "", patches=(), facts=FACTS).resume_paying()

    assert len(table.world.thread) == posts
    assert "Maya Chen looked before anybody answered and proposes nothing yet." in [
        line.content for line in table.rt.lines
    ]


def test_nobody_looks_without_a_model_or_when_muted_or_when_it_is_turned_off() -> None:
    for playbook in (book(looks=False), book(thinks=False)):
        assert not Table(playbook, paying=False).start().rt.has_pending(Speak)
    for playbook in (book(looks=False), book(thinks=False)):
        table = Table(playbook).start()
        assert not any("looked before" in line.content for line in table.rt.lines)
