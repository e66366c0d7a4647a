"""What a discussion gave is entries, and every view is made of them by id: it names a decision once, as it stands."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.actions.table import ACTIONS
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.message import Action
from bot.domain.roundtable.digest import StateChange, caught_up, digest
from bot.domain.specification.claims import EntryState
from bot.domain.transcript import lines as transcript
from bot.record.brief import RecordResults, read_record
from bot.record.page import as_html
from bot.record.reading import Transcript, specification_of
from bot.record.text import as_json, as_markdown
from tests.domain.books import few_steps
from tests.domain.table import Table

BUCKET = "decision: Use a token bucket in Redis; because: ten times faster"
LEAKY = "DEC-001: Use a leaky bucket in the gateway"


def record_of(table: Table) -> Transcript:
    return Transcript(transcript.append(table.world.meeting, table.rt.lines))


def brief(table: Table) -> RecordResults:
    return read_record(record_of(table)).brief


def exports(table: Table) -> dict[str, str]:
    record = read_record(record_of(table))
    return {
        "html": "".join(as_html(record, title="T")).partition('id="transcript"')[0],
        "markdown": "\n".join(as_markdown(record, title="T")).partition("## Who spoke")[0],
        "json": "".join(as_json(record, slug="t")),
    }


def catch_up(table: Table) -> str:
    change = StateChange(specification=specification_of(record_of(table)))
    return caught_up("T", digest(change, table.playbook), "people.")


def decided_in_a_discussion() -> Table:
    table = Table().start().elaborate().say(BUCKET)
    return table.say("done")


def test_a_decision_that_was_reversed_later_is_one_chain_everywhere() -> None:
    """The block of the discussion keeps its words and says what stands since."""
    table = decided_in_a_discussion()
    block = table.world.files["quick-scan.md"]
    table.say(LEAKY).press_continue()

    assert [(one.id, bool(one.over)) for one in brief(table).decisions] == [
        ("DEC-002", False),
        ("DEC-001", True),
    ]
    assert "DEC-002: Use a leaky bucket in the gateway" in catch_up(table)
    for text in exports(table).values():
        assert "leaky bucket" in text
    now = table.world.files["quick-scan.md"]
    assert "Since then:" not in block
    assert now.count("Use a token bucket in Redis") == block.count("Use a token bucket in Redis")
    assert "Since then:\n\n- DEC-001 was replaced by DEC-002.\n" in now


def test_the_block_has_the_words_that_stood_when_the_discussion_ended() -> None:
    """Also on the card: what is replaced or withdrawn is no decision of it."""
    table = (
        Table().start().elaborate().say(BUCKET).say(LEAKY).say("decision: Log it").say("DEC-003: withdrawn")
    )
    assert "leaky bucket" in table.discussion.text
    block = (
        table.say("done")
        .world.files["quick-scan.md"]
        .partition("#### Decisions Made")[2]
        .partition("####")[0]
    )

    assert "leaky bucket" in block
    assert "token bucket" not in block
    assert "Log it" not in block


def test_what_a_decision_replaces_is_kept_with_what_it_replaces_on_the_card() -> None:
    table = (
        Table().start().say("decision: Keep it here").elaborate().say("option: Redis").say("option: SQLite")
    )
    table.say("decision: A").say("decision: B; replaces: DEC-001")
    known = table.rt.specification.entries

    assert known["DEC-003"]["replaces"] == ["DEC-001", "DEC-002"]
    assert [known[id].state for id in ("DEC-001", "DEC-002")] == [EntryState.SUPERSEDED] * 2


def test_what_changes_again_takes_the_place_of_what_was_said_since() -> None:
    table = decided_in_a_discussion().say(LEAKY).press_continue()
    table.say("DEC-002: withdrawn").say("DEC-001: withdrawn").press(Action.FINISH_STEP)
    page = table.world.files["quick-scan.md"]

    assert page.count("Since then:") == 1
    assert "Since then:\n\n- DEC-001 was withdrawn.\n" in page


SAID = [
    "decision: Use a queue", "decision: Use a file; replaces: DEC-001", "DEC-001: Use paper", "DEC-001: withdrawn",
    "DEC-002: Use both", "option: Redis", "for A", "for B", "yes", "option: SQLite", "done", "objection: too slow",
    "decision: A",
]  # fmt: skip
PRESSED = [Action.FINISH_STEP, Action.ELABORATE, Action.CONTINUE, Action.END_ELABORATION]


@settings(max_examples=40, deadline=None, database=None)
@given(play=st.lists(st.sampled_from([*SAID, *PRESSED]), min_size=3, max_size=14))
def test_every_view_names_a_decision_once_by_its_id(play: list[str]) -> None:
    """Over any play: HTML, Markdown and JSON list the same ones, and what stands is in the words of the entry."""
    table = Table(few_steps()).start()
    for what in play:
        if what not in set(ACTIONS):
            table.say(what)
        elif what in table.offered():
            table.press(what)
    entries = [one for one in table.rt.specification.entries.values() if one.kind == "decision"]
    ids = sorted(one.id for one in entries)
    forms = exports(table)

    assert sorted(one.id for one in brief(table).decisions) == ids
    assert sorted(re.findall(r"<b>(DEC-[0-9]+)</b>", forms["html"])) == ids
    assert sorted(one["id"] for one in json.loads(forms["json"])["decisions"]) == ids
    listed = forms["markdown"].partition("## Decisions")[2].partition("## ")[0]
    assert sorted(re.findall(r"^- (DEC\\?-[0-9]+)", listed, re.MULTILINE)) == ids
    told = catch_up(table)
    for entry in entries:
        shown = entry.state is EntryState.ACCEPTED and not entry.gone
        assert told.count(f"{entry.id}: ") == int(shown)


def in_a_step(table: Table) -> Table:
    return table


def at_a_menu(table: Table) -> Table:
    return table.do_step()


def in_a_discussion(table: Table) -> Table:
    return table.elaborate()


@pytest.mark.parametrize("door", [in_a_step, at_a_menu, in_a_discussion])
@pytest.mark.parametrize(
    "words",
    [
        "decision: Keep it in Redis; because: ten times faster; replaces: DEC-001",
        "DEC-001: Keep it in Redis; because: ten times faster",
    ],
)
def test_a_decision_is_reversed_at_every_door(door: Callable[[Table], Table], words: str) -> None:
    """S4: it replaces the one before, wherever that was said."""
    table = door(Table().start().say("decision: Keep it in the database"))
    table.say(words)
    known = table.rt.specification.entries

    assert known["DEC-001"].state is EntryState.SUPERSEDED
    assert known["DEC-001"].replaced_by == ("DEC-002",)
    assert (known["DEC-002"]["text"], known["DEC-002"]["reason"]) == ("Keep it in Redis", "ten times faster")
    assert known["DEC-001"]["text"] == "Keep it in the database"
    assert [one.id for one in brief(table).decisions if not one.over] == ["DEC-002"]


def test_a_changed_message_changes_the_decision_that_it_made() -> None:
    table = Table().start().say("decision: Keep it in the database").say("DEC-001: Keep it in Redis")
    ts = table.lines[-1].meta["message_ts"]
    table.edit(ts, "DEC-001: Keep it in SQLite")
    known = table.rt.specification.entries

    assert [(one.id, one["text"]) for one in table.rt.specification.active("decision")] == [
        ("DEC-002", "Keep it in SQLite")
    ]
    assert known["DEC-001"].replaced_by == ("DEC-002",)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("decision: Keep it on paper; replaces: DEC-009", "There is no DEC-009."),
        ("decision: Keep it on paper; replaces: DEC-001", "DEC-001 was replaced by DEC-002."),
        ("DEC-009: withdrawn", "There is no DEC-009."),
        ("DEC-009: Keep it on paper", "There is no DEC-009."),
        ("DEC-001: Keep it on paper", "DEC-001 was replaced by DEC-002."),
    ],
)
@pytest.mark.parametrize("door", [in_a_step, at_a_menu, in_a_discussion])
def test_a_decision_that_is_not_there_is_replaced_by_nothing(
    door: Callable[[Table], Table], words: str, told: str
) -> None:
    """Who said so is told. What was decided besides stands."""
    table = door(Table().start().say("decision: Keep it here").say("DEC-001: Keep it in Redis")).say(words)
    active = {one.id: str(one["text"]) for one in table.rt.specification.active("decision")}

    assert told in table.world.told[-1][1].text
    assert active.pop("DEC-002") == "Keep it in Redis"
    assert [*active.values()] == (["Keep it on paper"] if words.startswith("decision") else [])


@pytest.mark.parametrize("door", [in_a_step, at_a_menu, in_a_discussion])
@pytest.mark.parametrize("word", ["withdrawn", "Withdrawn.", "zurückgezogen"])
def test_a_decision_is_withdrawn_at_every_door(door: Callable[[Table], Table], word: str) -> None:
    """It is a state, and never a new text."""
    table = door(Table().start().say("decision: Keep it in the database")).say(f"DEC-001: {word}")
    entry = table.rt.specification.entries["DEC-001"]

    assert (entry.state, entry["text"]) == (EntryState.WITHDRAWN, "Keep it in the database")


def test_who_does_what_is_in_a_file_with_its_owner() -> None:
    """S5: actions, open questions and assumptions, from whichever step."""
    table = Table().start().say("action: build the dashboards -> Grace")
    table.say("open question: Who pays? -> Linus").say("assumption: Trucks have a tablet").do_step()
    page = table.world.files["actions.md"]

    assert re.search(r"\| ACT-001 build the dashboards \| Grace \|", page)
    assert re.search(r"\| Q-001 Who pays\? \| Linus \|", page)
    assert "| ASM-001 Trucks have a tablet |" in page


def test_positions_are_entries_and_a_move_is_a_new_claim() -> None:
    """S11: each person's own words stand in their position; the synthesis of a model changes none."""
    table = (
        Table().start().elaborate().say("option: a bucket in Redis").say("option: a bucket in each gateway")
    )
    table.say("for A, because it is there", who="grace").say("for B, because offline is fine", who="grace")
    (position,) = table.rt.specification.active("position")

    assert [one.value for one in position.claims["option"]] == [
        "a bucket in Redis",
        "a bucket in each gateway",
    ]
    assert (position["person"], position["discussion"]) == ("grace", "DIS-001")
    assert "offline is fine" in position["why"]
    (issue,) = brief(table).issues
    assert [(one.by, one.was, one.position) for one in issue.moves] == [
        ("Grace", "a bucket in Redis", "a bucket in each gateway")
    ]


def test_who_is_undecided_again_says_so_in_the_entry() -> None:
    table = Table().start().elaborate().say("option: Redis").say("for A", who="grace")
    table.say("undecided", who="grace")
    (position,) = table.rt.specification.active("position")

    assert [one.value for one in position.claims["option"]] == ["Redis", "undecided"]


def test_a_question_is_its_askers_and_an_agreement_that_of_all() -> None:
    """U4: never the bot's, and the presser only recorded it."""
    table = Table().start().elaborate().say("option: Redis").say("open question: Who pays?", who="grace")
    for who in ("ada", "grace", "linus"):
        table.say("for A", who=who)
    table.say("yes", who="linus")
    known = table.rt.specification.entries

    assert attribution_of(known["Q-001"], "text") == "Grace"
    assert known["DEC-001"]["deciders"] == ["Ada", "Grace", "Linus"]
    assert attribution_of(known["DEC-001"], "text") == "decided by Ada, Grace and Linus, recorded by Linus"


def test_the_choice_to_write_the_plan_is_no_decision() -> None:
    table = Table(few_steps()).start().do_step().plan()

    assert brief(table).decisions == ()


def earlier(**meta: Any) -> transcript.Line:
    given = {"user_id": "ada", "user_name": "Ada", "message_id": f"m{json.dumps(meta)}", **meta}
    return transcript.Line.model_validate(
        {
            "ts": "2025-03-01T10:15:30.123Z", "round": 1, "actor": "User", "phase": "workshop", "role": "user",
            "source": "user", "content": "Keep it in Redis", "meta": given,
        }
    )  # fmt: skip


def told_earlier(*lines: transcript.Line) -> RecordResults:
    return read_record(Transcript(transcript.append(b"", lines))).brief


def test_lines_of_earlier_versions_are_read_as_entries() -> None:
    """A decision, who stands where, and a synthesis that only says again what was decided."""
    synthesis = (
        "### Elaboration Insights (Step 00-01: Scope)\n\n#### Decisions Made\n- Keep it in Redis: fast (Ada)\n"
        "- Ship it (Grace)\n\n#### Open Questions\n- Who pays? [t01]\n"
    )
    line = earlier(n=2).but(source=transcript.Source.MODEL, actor="Maya", content=synthesis)
    told = told_earlier(
        earlier(turn=1, turn_id="t01", stances=[{"issue": "Store", "position": "Redis"}]),
        earlier(turn_id="t02", stances=[{"issue": "Store", "position": "SQLite", "because": ["t01"]}]),
        earlier(decision=True),
        line,
    )

    assert [(one.id, one.text, one.fate) for one in told.decisions] == [
        ("DEC-001", "Keep it in Redis", ""),
        ("DEC-002", "Ship it", "proposed, not confirmed"),
    ]
    assert [(one.id, one.text) for one in told.questions] == [("Q-001", "Who pays?")]
    (issue,) = told.issues
    assert [(one.was, one.position, one.because) for one in issue.moves] == [("Redis", "SQLite", (1,))]


def test_ids_of_earlier_lines_stay_when_more_is_said() -> None:
    before = (earlier(decision=True), earlier(entries=[entry("DEC-001", "Ship it")]))
    later = earlier(n=3, entries=[entry("DEC-007", "Sell it")])

    for lines in (before, (*before, later)):
        found = {one.text: one.id for one in told_earlier(*lines).decisions}
        assert found["Keep it in Redis"] == "DEC-002"


def entry(id: str, text: str) -> dict[str, Any]:
    return {"id": id, "kind": "decision", "new": True, "set": {"text": text}}


def test_the_plan_that_was_chosen_in_an_earlier_version_is_no_decision() -> None:
    line = earlier(decision=True).but(content="Write the plan -- chosen by Linus")

    assert told_earlier(line).decisions == ()


def test_where_people_stood_is_written_once() -> None:
    """In the block of the discussion. Who words the reason anew later still holds the position."""
    table = Table().start().elaborate().say("option: leaky bucket\noption: token bucket")
    table.say("for A, it is simple", ts="901.1").say("for B if Redis holds", who="grace").say("done")
    block = "- A: leaky bucket – Ada (“it is simple”)\n- B: token bucket – Grace (if Redis holds)\n"
    assert block in table.world.files["quick-scan.md"]

    table.edit("901.1", "for A, it is cheap").press_continue()
    assert block in (text := table.world.files["quick-scan.md"])
    assert text.count("POS-001") == 1
    assert "Since then:\n\n- POS-001 (Ada) reads now: leaky bucket; it is cheap\n" in text
    assert "notes.md" not in table.world.files
