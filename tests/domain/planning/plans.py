"""Any plan that is valid, for properties."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from bot.domain.planning.plan import (
    Assumption,
    Context,
    Criterion,
    Goal,
    Intent,
    Milestone,
    Note,
    PlanDocument,
    PlannedFile,
    Risk,
    Scope,
    Task,
    TestPlan,
    Work,
)
from bot.domain.values.text import clean

VALID: Mapping[str, Any] = {
    "id": "lost-rows",
    "title": "Exports lose rows",
    "brief": "Every export loses its last row.",
    "work": {"tasks": [{"id": "T1", "title": "Keep the last row", "traces": ["FR-001"], "turns": ["C1.1"]}]},
}
WORDS = st.text(min_size=1, max_size=60).map(lambda text: clean(text).strip()).filter(bool) | st.sampled_from(
    [
        "# a heading",
        "| a | cell |",
        "<!-- a comment -->",
        "- a bullet",
        "1. one",
        "```",
        "~~~",
        "two\nlines\n\n## x",
        "---",
    ]
)
GRADES = st.sampled_from(["low", "medium", "high", "unknown"])
TRACES = st.lists(st.sampled_from(["FR-001", "FR-002", "FR-010"]), max_size=2).map(tuple)
TURNS = st.lists(st.sampled_from(["C1.1", "C1.2"]), max_size=2).map(tuple)
TEXTS = st.lists(WORDS, max_size=3).map(tuple)
PATHS = st.from_regex(r"[a-zé_]{1,8}(/[a-z|#`_ -]{1,8}x){0,2}\.(py|md)", fullmatch=True)


def numbered(letter: str, made: Any, /, **fields: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """Up to three of a kind, with the ids `{letter}1` and so on."""
    parts = st.lists(st.fixed_dictionaries(fields), max_size=3)
    return parts.map(
        lambda found: tuple(made(id=f"{letter}{n}", **one) for n, one in enumerate(found, start=1))
    )


@st.composite
def works(draw: st.DrawFn) -> Work:
    """Tasks that only wait for earlier ones, and milestones of them."""
    count = draw(st.integers(0, 4))
    ids = [f"T{number}" for number in range(1, count + 1)]
    tasks = tuple(
        Task(
            id=one,
            title=draw(WORDS),
            description=draw(WORDS),
            depends=tuple(draw(st.sets(st.sampled_from(ids[:place])))) if place else (),
            risk_level=draw(GRADES),
            traces=draw(TRACES),
            turns=draw(TURNS),
        )
        for place, one in enumerate(ids)
    )
    some = st.sets(st.sampled_from(ids)).map(lambda found: tuple(sorted(found))) if ids else st.just(())
    return Work(tasks=tasks, milestones=draw(numbered("M", Milestone, title=WORDS, tasks=some)))


PLANS = st.builds(
    PlanDocument,
    id=st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True),
    title=WORDS,
    brief=WORDS,
    context=st.builds(Context, priority=st.sampled_from([None, "P0", "P3"]), notes=WORDS, depends=TEXTS),
    goals=numbered("G", Goal, description=WORDS, success_metrics=TEXTS),
    scope=st.builds(Scope, in_scope=TEXTS, out_of_scope=TEXTS),
    work=works(),
    risks=numbered("R", Risk, description=WORDS, likelihood=GRADES, impact=GRADES, mitigations=TEXTS),
    assumptions=numbered("A", Assumption, description=WORDS),
    acceptance_criteria=numbered(
        "AC-001-0", Criterion, description=WORDS, must_have=st.booleans(), traces=TRACES, turns=TURNS
    ),
    file_plan=st.lists(
        st.builds(PlannedFile, path=PATHS, intent=st.sampled_from(Intent), summary=WORDS, traces=TRACES),
        max_size=3,
        unique_by=lambda one: one.path,
    ).map(tuple),
    notes=numbered("N", Note, kind=st.sampled_from(["open_question", "decision", "background"]), text=WORDS),
    test_plan=st.none() | st.builds(TestPlan, strategy=WORDS, cases=TEXTS, automation=WORDS),
)
