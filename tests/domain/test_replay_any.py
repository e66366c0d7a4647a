"""Any lines, and any meeting: what the fold says is what is kept, however the lines came in."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.steps import Depth
from bot.domain.item.artifacts import marker
from bot.domain.messages.message import Action
from bot.domain.transcript import lines
from bot.domain.transcript.fold import fold
from bot.domain.transcript.verify import meta_compared, sections_compared
from tests.domain.books import few_steps
from tests.domain.table import Table

MADE = "### Elaboration Insights (Step 00-01: S)\n#### Decisions Made\n- It"
ANYTHING = st.sampled_from([None, True, -1, 0, 1.5, "", "x", [], {}, ["x"], {"a": 1}])
META = st.dictionaries(
    st.sampled_from(
        [
            "message_id", "phase_key", "step_id", "turn", "turn_id", "user_id", "user_name", "provider", "model",
            "tokens_in", "cost", "change", "permalink", "depth", "amends", "retracts", "position", "decision",
            "verdict", "objection",
        ]
    ),
    ANYTHING | st.sampled_from(["00-01", "t01", 1, 2, {"ok": False, "reasons": ["No"]}, {"steps": ["00-01"]}]),
    max_size=5,
)  # fmt: skip
LINE = st.fixed_dictionaries(
    {
        "ts": st.sampled_from(["2025-03-01T10:15:30.123Z", "2025-03-01T10:15:31.000Z"]),
        "round": st.integers(0, 2),
        "actor": st.sampled_from(["User", "PlanningAgent", "Maya", "Stranger"]),
        "phase": st.sampled_from([part.value for part in lines.LinePhase]),
        "role": st.just("planning"),
        "source": st.sampled_from([source.value for source in lines.Source]),
        "content": st.sampled_from(["", "Hello", "done", MADE]),
        "meta": META,
    }
)  # fmt: skip
ODD = st.tuples(LINE, st.sampled_from([*lines.Line.model_fields, "extra"]), ANYTHING).map(
    lambda given: {**given[0], given[1]: given[2]}
)
ROWS = st.lists(LINE | ODD | st.just("is not JSON") | st.none(), max_size=12)


@given(rows=ROWS)
def test_any_rows_are_replayed_or_named(rows: list[Any]) -> None:
    """Every row is counted as a line or has a flaw."""
    parsed = [lines.parse(json.dumps(row).encode()) for row in rows]
    state = fold(enumerate(parsed, start=1))

    assert state.lines == sum(isinstance(row, lines.Line) for row in parsed)
    bad = [(number, row) for number, row in enumerate(parsed, start=1) if isinstance(row, str)]
    flaws = [(flaw.number, flaw.sentence) for flaw in state.flaws]
    assert [flaw for flaw in flaws if flaw in bad] == bad


WORDS = st.sampled_from(
    [
        "It has to work offline.",
        "Jordan, how?",
        "everyone?",
        "deep",
        "finish",
        "done",
        "c",
        "e",
        "stop",
        "insight: ```\nopen",
    ]
)
KINDS = [
    "say",
    "press",
    "press",
    "step",
    "discuss",
    "discuss",
    "depth",
    "forget",
    "fail",
    "lose",
    "edit",
]
DEEDS = st.lists(
    st.tuples(st.sampled_from(KINDS), WORDS, st.integers(0, 5)),
    min_size=3,
    max_size=40,
)  # fmt: skip


@settings(max_examples=50)
@given(deeds=DEEDS)
def test_any_meeting_is_what_its_lines_say(deeds: list[tuple[str, str, int]]) -> None:
    """meta.json and every section of an elaboration follow from the transcript alone."""
    table = Table(few_steps()).start()
    for deed, word, luck in deeds:
        act(table, deed, word, luck)
    if table.world.meta is None or not table.world.meeting:
        return
    state = fold(enumerate(map(lines.parse, table.world.meeting.splitlines()), start=1))

    assert state.flaws == ()
    assert list(meta_compared(table.world.meta, state.progress)) == []
    assert all(one.record and one.record.turn_count == max(one.turns, 1) for one in state.concluded)
    syntheses = {
        marker(one.record.step_id, one.record.timestamp): one.text for one in state.concluded if one.record
    }
    for text in table.world.files.values():
        assert list(sections_compared(text, syntheses, foreign=False)) == []


def act(table: Table, deed: str, word: str, luck: int) -> None:
    """Whatever people, or the world, may do next."""
    offered = [action for action in table.offered() if not ACTIONS[action].opens_form("/")]
    if deed == "say":
        table.say(word, who=("ada", "grace")[luck % 2])
    elif deed == "press" and offered:
        table.press(offered[luck % len(offered)])
    elif deed == "step" and Action.FINISH_STEP in offered:
        table.do_step("Because.")
    elif deed == "discuss" and Action.FINISH_STEP in offered:
        table.press(Action.FINISH_STEP)
        if Action.ELABORATE in table.offered():
            table.press(Action.ELABORATE).say(word).say("done")
    elif deed == "discuss" and Action.ELABORATE in offered:
        table.press(Action.ELABORATE).say(word, who="grace")
    elif deed == "depth" and Action.DEPTH_DEEP in offered:
        table.depth(list(Depth)[luck % 3])
    elif deed == "forget":
        table.forget(thread_known=luck > 1)
    elif deed == "fail":
        table.fail(("commit", "speak")[luck % 2])
    elif deed == "lose" and luck == 0:
        table.world.meta = None
    elif deed == "edit" and table.rt.answers:
        table.edit(table.rt.answers[-1].ts, word)
