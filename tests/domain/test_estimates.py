"""Scope, complexity and file count come from the estimates that people gave, then from quick-scan.md."""

from typing import Any

from bot.domain.catalog.agenda import QuickScan
from bot.domain.catalog.steps import Depth
from bot.domain.roundtable import root
from bot.domain.roundtable.covering import missing_steps
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.asking import scan_of
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import LinePhase
from tests.domain.books import few_steps, step
from tests.domain.table import Table, person


def said(table: Table, *, id: str = "EST-001", **fields: Any) -> Roundtable:
    patch = Patch(id=id, kind="estimate", **fields)
    return table.rt.heard(
        person("ada"), "An estimate.", ts=table.ts(), part=LinePhase.CLARIFYING, entries=[patch]
    )


def test_the_last_accepted_estimate_counts_before_the_file() -> None:
    """What is not estimated is as the file says. People decide, also about how deep to go."""
    table = Table(few_steps()).start()
    table.rt = said(table, set={"scope": "large", "files": 30})
    table.rt = table.rt.but(scan=QuickScan(scope="small", complexity="low", file_count=3))

    assert scan_of(table.rt) == QuickScan(scope="large", complexity="low", file_count=30)

    table = Table(few_steps()).start()
    table.rt = said(table, set={"scope": "small", "files": 3})
    table.rt = said(table, id="EST-002", set={"scope": "medium"})

    assert (scan_of(table.rt).scope, scan_of(table.rt).file_count) == ("medium", 3)

    table = Table(few_steps()).start()
    table.rt = said(table, set={"scope": "large"}, state="proposed")

    assert scan_of(table.rt).scope == "unknown"

    table = Table(few_steps()).start()
    table.rt = said(table, set={"scope": "huge"})

    assert scan_of(table.rt) == QuickScan()


def test_an_estimate_decides_what_is_skipped_and_how_deep() -> None:
    """In the same phase, and in the next one."""
    steps = (step("00-01"), step("00-02", skip_if="scope == 'large' && file_count > 20"), step("01-01"))
    table = Table(few_steps(*steps)).start()
    table.rt = said(table, set={"scope": "large", "files": 30})
    table.do_step().press_continue()

    assert table.rt.step_id == "01-01"
    assert table.rt.depth is Depth.DEEP


def test_a_step_that_an_estimate_leaves_out_is_not_offered_before_the_file_is_written() -> None:
    """The root message and what *Go deeper* asks agree."""
    steps = (step("00-01"), step("00-02", skip_if="scope == 'small'"))
    table = Table(few_steps(*steps)).start().do_step()
    assert root.done(table.rt, table.playbook)
    rt = said(table, set={"scope": "small", "complexity": "low"})

    assert missing_steps(rt, table.playbook) == ()
    assert not root.done(rt, table.playbook)
