"""Any lines can be replayed. That the lines of a meeting say what is kept is in `test_any_meeting.py`."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.transcript import lines
from bot.domain.transcript.fold import fold

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
