"""What a persona with a model makes of an answer while the step is open: suggestions on the card, and few words."""

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import OFFLINE, Roster
from bot.domain.catalog.policy import Policy
from bot.domain.messages.attribution_wording import attribution
from bot.domain.messages.message import Action
from bot.domain.roundtable import waiting
from bot.domain.roundtable.effects import Rewrite, Speak
from bot.domain.roundtable.inputs import Specify
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.transitions.specifying import renumbered
from bot.domain.specification.claims import EntryState, Quote
from bot.domain.specification.fold import Patch
from bot.domain.specification.not_settled import RowKind, not_settled
from bot.domain.transcript.lines import ENTRIES, Line, Source
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Table, person, played_once, shipped
from tests.specification.meeting import SCHEMA, Meeting

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
FACTS = {"provider": "acme", "tokens_in": 7, "tokens_out": 3}


@played_once
def opened(*, thinks: bool = True) -> Table:
    return Table(replace(book(), policy=Policy(thinks=thinks, draft_seconds=0, most_drafts=9))).start()


def book() -> Playbook:
    """Two steps as they are shipped."""
    return few_steps(*shipped().agenda.steps[:2])


@played_once
def thinking() -> Table:
    """Ada has answered, and a persona is thinking about it."""
    return opened().stop_paying().say("Export every row.").pay_up_to("speak")


def patch(table: Table, id: str = "ASM-001", text: str = "Export every row") -> Patch:
    said = table.rt.to_read[0]
    quote = Quote(line=table.rt.line_of(said.ts), words=said.text)
    return Patch(
        id=id,
        kind="assumption",
        new=True,
        set={"text": text},
        sources=(quote.line,),
        quotes={"text": (quote,)},
    )


def looked(table: Table, text: str = "", *, meanwhile: str = "", **told: Any) -> Table:
    """The persona has read the answers; *meanwhile* is said before it is done."""
    speak, read = table.speaking, unread(table)
    if meanwhile:
        table.say(meanwhile, who="grace")
    given = {"patches": (patch(table),), "facts": FACTS, **told}
    return table.spoke(speak, text, read=read, **given)


def unread(table: Table) -> tuple[str, ...]:
    return tuple(one.ts for one in table.rt.unread)


def own(table: Table) -> list[Line]:
    """Lines of personas' models."""
    return [line for line in table.lines if line.source is Source.MODEL and "provider" in line.meta]


# --- at once --------------------------------------------------------------------------------------------------------


def test_what_is_proposed_stands_on_the_card_at_once() -> None:
    """It rests on Ada's message, nobody has accepted it, and it is recorded with the edit that shows it."""
    table = looked(thinking())
    entry = table.rt.specification.entries["ASM-001"]
    claim = entry.claims["text"][0]

    assert (entry.state, claim.accepted, claim.proposed.by) == (EntryState.PROPOSED, None, "BusinessAnalyst")
    assert claim.sources == (table.rt.line_of(table.rt.answers[0].ts),)
    assert table.rt.stage is Stage.DISCUSSING
    assert "Export every row" in table.card.text

    assert [one["id"] for one in table.rt.lines[-1].meta[ENTRIES]] == ["ASM-001"]
    assert any(isinstance(one, Rewrite) and "Export every row" in one.message.text for one in table.rt.outbox)


def test_without_a_finding_or_a_question_nothing_is_posted() -> None:
    """The reaction says that it was heard; what the call took is on the line of the proposal, once."""
    table = thinking()
    before = len(table.world.thread)
    looked(table).resume_paying()

    assert len(table.world.thread) == before
    assert [(line.content, line.meta["tokens_in"]) for line in own(table)] == [
        ("Maya Chen suggests ASM-001.", 7)
    ]


def test_a_call_that_finds_nothing_is_on_record() -> None:
    """What it took, and that nothing came of it."""
    table = looked(thinking(), patches=())

    assert table.rt.lines[-1].content == "Maya Chen read what was said and proposes nothing new."
    assert table.rt.lines[-1].meta["tokens_in"] == 7
    assert not table.rt.specification.active("assumption")


def test_what_the_sources_do_not_say_is_marked() -> None:
    """Whichever persona proposes it, by the same checks as on Finish."""
    table = thinking()
    looked(table, patches=(patch(table, text="Export 500,000 rows"),))

    assert "500000" in table.rt.specification.entries["ASM-001"].claims["text"][0].reason


def test_a_choice_that_nobody_said_is_not_accepted_with_everything() -> None:
    """As any other value, it needs a press of its own."""
    table = thinking()
    risk = patch(table).but(id="RSK-001", kind="risk", set={"text": "Export every row", "likelihood": "high"})
    looked(table, patches=(risk,)).resume_paying().press(Action.ACCEPT_ALL, value="1")
    entry = table.rt.specification.entries["RSK-001"]

    assert (entry.state, entry.claims["likelihood"][0].accepted) == (EntryState.ACCEPTED, None)
    assert "2 RSK-001 likelihood: high" in table.card.text
    assert "unchecked: no line says this" in table.card.text
    table.press(Action.LINE, value="2/accept")
    assert table.rt.specification.entries["RSK-001"].claims["likelihood"][0].accepted


def test_where_all_is_unchecked_accept_all_says_what_to_do() -> None:
    """It was taken for an answer to the step."""
    table = looked(thinking(), patches=(patch(thinking()).but(quotes={}),)).resume_paying()
    answers = table.rt.answers
    table.say("accept all")

    assert table.world.told[-1][1].text.startswith("Each of these needs a press of its own")
    assert table.rt.answers == answers
    assert table.rt.specification.entries["ASM-001"].state is EntryState.PROPOSED


# --- finish ---------------------------------------------------------------------------------------------------------


def test_finish_waits_for_no_model() -> None:
    """Saved, with the menu, before a model is asked for what it has not read; about the rest none is asked."""
    table = thinking()
    table.pay_until(lambda rt: rt.stage is Stage.DISCUSSING).press(Action.FINISH_STEP)
    table.pay_until(lambda rt: rt.stage is Stage.AT_BOUNDARY)

    assert "00-01" in table.meta.steps_completed
    assert table.rt.unread == table.rt.answers
    table.pay_up_to("speak")
    looked(table).resume_paying()
    assert "Export every row" in table.card.text
    assert not table.rt.unread

    table = looked(thinking()).resume_paying()
    asked = table.order("speak")
    table.press(Action.FINISH_STEP)

    assert table.order("speak") == asked
    assert "00-01" in table.meta.steps_completed

    table = looked(thinking()).resume_paying()

    assert Action.READ_AGAIN not in table.offered()
    assert table.say("draft again").rt.answers[-1].text == "draft again"


def test_what_nobody_has_read_by_then_comes_on_the_next_card() -> None:
    """Also when people go on before the persona is done: it reads the words of both steps."""
    table = thinking().press(Action.FINISH_STEP).pay_up_to("speak").press(Action.CONTINUE)
    table.pay_up_to("speak")

    assert table.rt.step_id == "00-02"
    assert [one.text for one in table.rt.to_read] == ["Export every row."]
    looked(table).resume_paying()
    assert "Export every row" in table.card.text
    assert not table.rt.unread


@pytest.mark.parametrize("how", ["more", "changed", "in flight"])
def test_what_nobody_has_read_is_read_after_finish(how: str) -> None:
    """Said since, changed since, or being read just then."""
    table = thinking()
    if how != "in flight":
        looked(table)
    if how == "more":
        table.say("And the date.").pay_up_to("speak")
    if how == "changed":
        table.edit(table.rt.answers[0].ts, "Export every second row.")
    table.press(Action.FINISH_STEP).pay_up_to("speak")

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert unread(table)


@pytest.mark.parametrize("stage", [Stage.DISCUSSING, Stage.AT_BOUNDARY])
def test_a_card_says_that_the_model_could_not_read_and_offers_to_draft_again(stage: Stage) -> None:
    """Nothing of it is silent: what is not read stays unread until a model has read it."""
    table = opened().fail("speak", "refused", times=2).say("Export every row.").say("And the date.")
    if stage is Stage.AT_BOUNDARY:
        table.fail("speak", "refused").press(Action.FINISH_STEP)

    assert table.rt.stage is stage
    said = "The model refused this step, so Maya has no draft."
    assert said in table.card.text
    assert table.menu.offers(Action.READ_AGAIN)

    table.world.more = {"patches": ()}
    table.press(Action.READ_AGAIN, who="grace")
    assert not table.rt.unread
    assert said not in table.card.text
    assert not table.menu.offers(Action.READ_AGAIN)
    assert "Grace chose: Draft again" in [line.content for line in table.lines]


# --- follow-ups -----------------------------------------------------------------------------------------------------


def test_every_answer_is_read() -> None:
    """With a model every message counts; without one nobody is asked."""
    table = opened()
    table.world.more = {"patches": ()}
    table.say("One.").say("Two.").say("Three.")
    assert table.order("speak") == ["speak"] * 3
    assert not table.rt.unread

    assert not opened(thinks=False).say("One.").say("Two.").order("speak")


def test_while_it_thinks_answers_are_collected() -> None:
    """One call at a time; what comes of the words that it read is taken, then it reads the others."""
    table = thinking().say("And the date.").say("And who did it.", who="grace")
    assert len([one for one in table.rt.outbox if isinstance(one, Speak)]) == 1

    first, *others = unread(table)
    table.spoke(table.speaking, "", read=(first,), patches=(patch(table),), facts=FACTS)
    assert "ASM-001" in table.rt.specification.entries
    assert unread(table) == tuple(others)
    table.pay_up_to("speak")
    looked(table, patches=()).resume_paying()
    assert not table.rt.unread


def test_it_looks_again_however_often_people_go_on() -> None:
    """Nothing that they said stays unread; no two calls at once."""
    table = thinking()
    for words in ("One.", "Two.", "Three."):
        looked(table, meanwhile=words).pay_up_to("speak")
        assert len([one for one in table.rt.outbox if isinstance(one, Speak)]) == 1
    looked(table).resume_paying()

    assert not table.rt.unread


def test_an_answer_that_is_changed_meanwhile_is_read_anew() -> None:
    """What comes of the words before is not taken."""
    table = thinking()
    speak = table.speaking
    table.edit(table.rt.answers[0].ts, "Export every second row.")
    table.spoke(speak, "", read=unread(table), patches=(patch(table),), facts=FACTS)

    assert "ASM-001" not in table.rt.specification.entries
    table.pay_up_to("speak")
    assert table.speaking.id != speak.id


def test_numbers_that_were_given_away_meanwhile_are_not_used_twice() -> None:
    """A person's FR-001 stays the person's."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Print")
    new = [Patch(id=f"FR-00{n}", kind="requirement", new=True, set={"title": f"{n}"}) for n in (1, 2)]
    old = Patch(id="FR-001", set={"priority": "must"})

    found = renumbered([old, *new], meeting.specification, SCHEMA)
    assert [(one.id, one.new) for one in found] == [("FR-001", False), ("FR-002", True), ("FR-003", True)]


def test_what_names_an_entry_names_it_by_the_number_that_it_gets() -> None:
    """Before it and after it; a part has the number of its owner."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Print")
    risks = [
        Patch(id=f"RSK-00{n}", kind="risk", new=True, set={"text": f"{n}", "threatens": ["FR-001"]})
        for n in (1, 2)
    ]
    row = Patch(id="FR-001", kind="requirement", new=True, set={"title": "Export"})
    part = Patch(id="AC-001-01", kind="criterion", part_of="FR-001", new=True, set={"text": "A header"})

    found = renumbered([risks[0], row, part, risks[1]], meeting.specification, SCHEMA)
    assert [one.id for one in found] == ["RSK-001", "FR-002", "AC-002-01", "RSK-002"]
    assert [one.set.get("threatens") for one in found] == [["FR-002"], None, None, ["FR-002"]]
    assert found[2].part_of == "FR-002"


# --- by name --------------------------------------------------------------------------------------------------------


def asked(text: str, table: Table | None = None) -> Table:
    return (table or opened()).stop_paying().say(text).pay_up_to("speak")


def heard(table: Table) -> list[str]:
    """Who is asked one after the other, and answers."""
    said = []
    while table.rt.has_pending(Speak):
        table.pay_up_to("speak")
        said.append(table.speaking.persona)
        looked(table, "Yes.", patches=())
    return said


NAMED = [
    ("Alex, does the queue keep its order?", ALEX),
    ("The queue keeps its order, Alex said.", MAYA),
    ("Jordan, Alex, is that safe?", JORDAN, ALEX),
]
TO_ALL = [
    "Everyone, what breaks first?", "everybody: is that safe?", "All of you, please name one risk.",
    "What do you all think of it?", "Is that safe, team?", "Team, can we ship that?",
]  # fmt: skip
OF_ALL = [
    "Everyone loses edits in a tunnel.", "Everyone who works offline waits.", "Is it visible to everyone?",
    "The whole team waits for it.", "Everybody can see the export.",
]  # fmt: skip
WITHOUT_A_NAME = [
    ("Which interfaces and error paths are there?", JORDAN),
    ("What is the risk of that?", ALEX),
    ("Who are the users, and what do they need?", MAYA),
    ("When is lunch?", MAYA),
    ("Is the risk in the interfaces?", MAYA),
    ("We need interfaces. Which ones?", MAYA),
    ("Grace, which interfaces are there?", MAYA),
]
"""By the words of the lens in the persona's file; the lead takes up what is a tie, an answer, or for a person."""


@pytest.mark.parametrize(
    ("text", "who"),
    [
        *((text, who) for text, *who in (*NAMED, *WITHOUT_A_NAME)),
        *((text, [MAYA, ALEX, JORDAN]) for text in TO_ALL),
        *((text, [MAYA]) for text in OF_ALL),
    ],
)
def test_who_is_asked_answers(text: str, who: list[str]) -> None:
    """Once, and one after the other: each reads what the one before it proposed. The lead takes up what follows."""
    table = asked(text, opened().say("Grace is here.", who="grace"))

    assert heard(table) == who
    assert heard(asked("A tunnel.", table)) == [MAYA]


def test_who_is_asked_before_anybody_thinks_answers() -> None:
    """The lead was waiting for its turn; one call is made, by who was asked."""
    table = opened().stop_paying().say("Export every row.")
    assert not isinstance(table.rt.next_effect, Speak)
    table.say("Alex, can we?")

    assert [one.persona for one in table.rt.outbox if isinstance(one, Speak)] == [ALEX]


def test_who_is_asked_while_another_thinks_answers_next() -> None:
    table = thinking()
    looked(table, "How many?", meanwhile="Jordan, what does the caller see?").pay_up_to("speak")

    assert table.speaking.persona == JORDAN


def test_who_has_no_model_is_not_asked() -> None:
    """Who asks is told so, and the lead takes the words up."""
    without = [one.but(model=OFFLINE) if one.key == ALEX else one for one in shipped().roster]
    table = Table(
        replace(book(), roster=Roster(tuple(without)), policy=Policy(thinks=True, draft_seconds=0))
    ).start()

    assert asked("Alex, can we?", table).speaking.persona == MAYA
    assert [message.text for _, message in table.world.told] == ["Alex has no model here."]


def test_a_model_does_not_say_who_decided() -> None:
    """Only people fill in that field."""
    table = thinking()
    suggested = patch(table).but(id="DEC-001", kind="decision")
    named = suggested.but(set={**suggested.set, "deciders": ["Grace"]})
    nothing_else = Patch(id="DEC-001", kind="decision", set={"deciders": ["Grace"]})
    looked(table, patches=(named, nothing_else))

    assert table.rt.specification.entries["DEC-001"]["text"] == "Export every row"
    assert not table.rt.specification.entries["DEC-001"]["deciders"]
    assert len(own(table)[-1].meta[ENTRIES]) == 1


# --- what only its author can say -----------------------------------------------------------------------------------

DECIDED, OBJECTS = "We drop the old export", "It breaks the audit"


@played_once
def quoting() -> Table:
    """Maya quotes Linus: a decision, an objection, and a common suggestion. Ada has started the roundtable."""
    table = opened().stop_paying().say(f"{DECIDED}. {OBJECTS}.", who="linus").pay_up_to("speak")
    whole = patch(table)
    (line,) = whole.sources
    own = (
        whole.but(id=id, kind=kind, set={"text": text}, quotes={"text": (Quote(line=line, words=text),)})
        for id, kind, text in (
            ("DEC-001", "decision", DECIDED),
            ("OBJ-001", "objection", OBJECTS),
            ("ASM-001", "assumption", OBJECTS),
        )
    )
    return looked(table, patches=tuple(own)).resume_paying()


def states(table: Table) -> dict[str, EntryState]:
    return {id: table.rt.specification.entries[id].state for id in ("DEC-001", "OBJ-001", "ASM-001")}


NONE_TAKEN = dict.fromkeys(("DEC-001", "OBJ-001", "ASM-001"), EntryState.PROPOSED)


def test_the_author_of_a_quoted_decision_or_objection_is_asked_on_the_card() -> None:
    """By name, with a yes and a no; it is no decision and no open objection until then."""
    table = quoting()
    assert table.card.card
    asked = [part for part in table.card.card.parts if part.buttons and part.rows]

    assert [part.rows[0].text for part in asked] == [
        f"**Linus, did you decide this?** “{DECIDED}”",
        f"**Linus, do you object in these words?** “{OBJECTS}”",
    ]
    assert [one.label for one in asked[0].buttons] == ["Yes, record it", "No"]
    assert not [part for part in asked if part.options]
    kinds = {row.id: row.kind for row in not_settled(SCHEMA, table.rt.specification)}
    assert kinds["OBJ-001"] is RowKind.PROPOSED
    own = waiting.waits_for(table.rt, "linus", table.playbook)
    assert waiting.WaitKind.OWN_OBJECTION not in {one.kind for one in own}


@pytest.mark.parametrize("how", ["pressed", "typed", "an older card"])
def test_everything_is_accepted_but_what_its_author_is_asked(how: str) -> None:
    table = quoting()
    if how == "typed":
        table.say("accept all", who="linus")
    else:
        (accept,) = (one for one in table.card.choices if one.action == Action.ACCEPT_ALL)
        table.press(Action.ACCEPT_ALL, who="linus", value="1,2,3" if how == "an older card" else accept.value)

    assert states(table) == {**NONE_TAKEN, "ASM-001": EntryState.ACCEPTED}


@pytest.mark.parametrize("what", ["1/accept", "2/accept", "1/strike", "2/strike"])
def test_nobody_else_answers_for_the_author(what: str) -> None:
    table = quoting()
    with pytest.raises(NotNow, match="Only Linus, or Ada who started this, can answer that"):
        table.press(Action.LINE, who="grace", value=what)

    assert states(table) == NONE_TAKEN


@pytest.mark.parametrize("words", ["accept 1", "change 1: We keep it", "keep DEC-001", "withdraw DEC-001"])
def test_nobody_else_types_the_answer(words: str) -> None:
    table = quoting().say(words, who="grace")

    assert states(table) == NONE_TAKEN
    assert table.world.told[-1][1].text.startswith("Only Linus, or Ada")


@pytest.mark.parametrize("patch", [{"accept": True}, {"set": {"text": "We keep it"}, "accept": True}])
def test_nobody_else_takes_it_by_its_form(patch: dict[str, Any]) -> None:
    table = quoting()
    event = {"key": table.key(), "at": table.now(), "person": person("grace")}
    with pytest.raises(NotNow, match="Only Linus"):
        table.hear(Specify(**event, patches=(Patch(id="DEC-001", **patch),)))

    assert states(table) == NONE_TAKEN


@pytest.mark.parametrize(("who", "said"), [("linus", "Linus"), ("ada", "Linus, accepted by Ada")])
def test_the_author_or_who_started_it_says_yes(who: str, said: str) -> None:
    """In the words of the author, who stands behind them."""
    table = (
        quoting().press(Action.LINE, who=who, value="1/accept").press(Action.LINE, who=who, value="2/accept")
    )
    claims = [table.rt.specification.entries[id].claim("text") for id in ("DEC-001", "OBJ-001")]

    assert states(table) == {**NONE_TAKEN, "DEC-001": EntryState.ACCEPTED, "OBJ-001": EntryState.ACCEPTED}
    assert [(one.value, attribution(one)) for one in claims if one] == [(DECIDED, said), (OBJECTS, said)]
    assert "did you decide" not in table.card.text


def test_with_a_no_the_words_stay_as_they_were_said() -> None:
    table = quoting().press(Action.LINE, who="linus", value="1/strike")

    assert states(table) == {**NONE_TAKEN, "DEC-001": EntryState.WITHDRAWN}
    assert any(DECIDED in str(one["text"]) for one in table.rt.specification.active("note"))
