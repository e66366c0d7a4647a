"""Sections written without a model: people's statements with their names, and nothing else."""

import pytest

from bot.domain.catalog.agenda import read_quick_scan
from bot.domain.item.artifacts import FileEdit, ItemsEdit, RowsEdit, SectionEdit
from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits
from bot.domain.values.markdown import outline
from tests.voices.people import (
    ADA,
    BEN,
    CONTEXT,
    FILE_COUNT,
    KEYWORDS,
    OPTIONS,
    OTHER,
    SCOPE,
    drafted,
    roundtable,
    written,
)


def section(rt_files: dict[str, str], name: str) -> str:
    return rt_files[name].partition("\n\n## ")[2].partition("\n\n")[2].strip()


def test_a_section_records_who_said_what() -> None:
    """Numbered answers stand below their question, decisions and questions in places of their own."""
    rt = roundtable(
        CONTEXT,
        (ADA, "Hi!\n1. Exports lose the last row. Who checks?\n2. from 12 errors to 0"),
        (BEN, "• finance never notices\n• Decision: CSV only, because Excel opens it\n:+1:"),
    )

    assert written(rt)["requirements-spec.md"] == (
        "# Requirements Spec: Exports lose rows\n\n"
        "## 1. Business Context\n\n"
        "**What goes wrong today?**\n\n"
        "- Exports lose the last row. — Ada\n\n"
        "**What number moves?**\n\n"
        "- from 12 errors to 0 — Ada\n\n"
        "**What was said**\n\n"
        "- finance never notices — Ben\n\n"
        "**Decisions**\n\n"
        "- CSV only, because Excel opens it — Ben\n\n"
        "**Open questions**\n\n"
        "- Who checks? — Ada\n"
    )


def test_feedback_is_written_like_an_answer() -> None:
    """It is one more statement on the step."""
    rt = roundtable(CONTEXT, (ADA, "Exports lose the last row"), after=((BEN, "Only on Mondays"),))

    assert "- Only on Mondays — Ben" in written(rt)["requirements-spec.md"]


def test_when_nothing_was_said_the_questions_stay_open() -> None:
    """The section says so, and lists what was asked."""
    assert section(written(roundtable(CONTEXT)), "requirements-spec.md") == (
        "_Nothing was said on this step._\n\n"
        "**Open questions**\n\n- What goes wrong today?\n- What number moves?\n- Why now?"
    )


def test_a_skipped_step_says_that_it_was_skipped() -> None:
    """What was said on another step is not attributed to it."""
    rt = roundtable(OPTIONS, (ADA, "Two queues"))

    (edit,) = drafted(rt, CONTEXT.step_id, skipped=True)
    assert isinstance(edit, SectionEdit)
    assert edit.body.startswith("_Draft: this step was skipped, nothing below was discussed._")
    assert "Two queues" not in edit.body


def test_a_nod_is_written_down_where_nobody_said_more() -> None:
    """It is all there is."""
    assert section(written(roundtable(CONTEXT, (ADA, "yes 👍"))), "requirements-spec.md") == (
        "**What was said**\n\n- yes 👍 — Ada"
    )


def test_silence_takes_nothing_away() -> None:
    """A step that is skipped or finished without a word when it is done again leaves its section as it is."""
    before = written(roundtable(CONTEXT, (ADA, "Exports lose the last row")))

    assert written(roundtable(CONTEXT), before) == before
    assert written(roundtable(CONTEXT), before, skipped=True) == before


def test_a_draft_gives_way_to_words() -> None:
    """The placeholder of a skipped step is replaced when the step is done after all."""
    before = written(roundtable(CONTEXT), skipped=True)
    after = written(roundtable(CONTEXT, (ADA, "Exports lose the last row")), before)

    assert "skipped" not in after["requirements-spec.md"]


def test_feedback_without_its_answers_is_added() -> None:
    """After the store was lost, the file knows what people answered, and the roundtable only what they said since."""
    before = written(roundtable(CONTEXT, (ADA, "Exports lose the last row")))
    rt = roundtable(CONTEXT, after=((BEN, "Only on Mondays"),))

    after = written(rt, before)
    assert (
        "- Exports lose the last row — Ada\n\n**Feedback**\n\n- Only on Mondays — Ben\n"
        in after["requirements-spec.md"]
    )
    assert written(rt, after) == after


def test_statements_go_to_the_section_they_are_about() -> None:
    """By the words of the question answered; decisions go where the heading speaks of one."""
    rt = roundtable(OPTIONS, (ADA, "1. a queue\n2. the lock\nWe decided to use the lock"))

    text = written(rt)["architecture-overview.md"]
    options, _, selected = text.partition("## 2. Selected Architecture")
    assert "- a queue — Ada" in options
    assert "- the lock — Ada" in selected
    assert "**Decisions**\n\n- use the lock — Ada" in selected


def test_a_section_without_a_share_says_where_to_look() -> None:
    """No section is left empty."""
    text = written(roundtable(OPTIONS, (ADA, "a queue")))["architecture-overview.md"]

    assert (
        '## 2. Selected Architecture\n\n_What was said on this step stands in "1. Architecture Options"._'
        in text
    )


@pytest.mark.parametrize(
    "text",
    [
        "# A heading",
        "> quote",
        "<!-- Elaboration: step 01-01, 2026 -->",
        "<script>alert(1)</script>",
        "```\n# in code\n<!-- Elaboration: x -->\n## 2. Keywords",
        "---",
        "Title\n===\nTitle\n---",
        "- - # nested",
        "1. 2) # numbered",
        "~~~\n## x",
        "text\u2028## after a line separator",
        "\\## escaped by a person",
    ],
)
def test_people_cannot_forge_structure(text: str) -> None:
    """No heading, comment or marker comes out of what somebody wrote."""
    page = written(roundtable(CONTEXT, (ADA, f"Rows are lost\n{text}")))["requirements-spec.md"]

    assert [heading.text for heading in outline(page).headings] == [
        "Requirements Spec: Exports lose rows",
        "1. Business Context",
    ]
    assert "<!--" not in page
    assert "<script" not in page.replace("\\<script", "")


def test_code_is_kept_as_it_was() -> None:
    """With its lines and its indentation, below its author."""
    page = written(roundtable(CONTEXT, (ADA, "Like so:\n```\nfind(day)\n  -> entries | NotFound\n```")))

    assert (
        "-   Ada:\n\n    ```\n    find(day)\n      -> entries | NotFound\n    ```"
        in page["requirements-spec.md"]
    )


# --- quick scan ---------------------------------------------------------------------------------------------------


def test_the_scan_is_read_out_of_words_and_read_back() -> None:
    """Only what people said: the rest is unknown."""
    page = written(roundtable(SCOPE, (ADA, "1. every row is there\n2. two areas, I'd say medium")))[
        "quick-scan.md"
    ]

    scan = read_quick_scan(page)
    assert (scan.scope, scan.file_count, scan.complexity) == ("medium", 0, "unknown")


def test_keywords_show_what_the_search_found() -> None:
    """With the number of files searched, whether the search ended, and the words it did not know of."""
    hits = (KeywordHits(keyword="export", count=12, files=("app/export.py", "app/a|b.py")),)
    rt = roundtable(KEYWORDS, (ADA, "export, flush, `InvoiceWriter`")).but(
        survey=CodeSurvey(tracked_files=1234, hits=hits, complete=False)
    )

    page = written(rt)["quick-scan.md"]
    assert "_Searched 1,234 tracked files. The time for searching ran out, so there may be more._" in page
    assert "| export | 12 | `app/export.py`, `app/a\\|b.py` |" in page
    assert "| flush | not searched |  |\n| InvoiceWriter | not searched |  |" in page


def test_without_a_code_base_the_keywords_are_peoples() -> None:
    """And nobody pretends to have searched."""
    page = written(roundtable(KEYWORDS, (ADA, "- export\n- last row")).but(survey=CodeSurvey()))[
        "quick-scan.md"
    ]

    assert "_There was no code base to search; these are the words people named._" in page
    assert "| last row | not searched |  |" in page


def test_files_are_counted_by_kind() -> None:
    """Of a range the higher number counts."""
    page = written(
        roundtable(FILE_COUNT, (BEN, "about 8-10 files: 2 new, 6 modified, two tests. just a guess"))
    )

    assert "| New | 2 |\n| Modified | 6 |\n| Test | 2 |" in page["quick-scan.md"]
    assert "**File Count**: 10\n**Confidence**: guess" in page["quick-scan.md"]


@pytest.mark.parametrize(
    ("first", "said", "scope", "remark"),
    [
        (
            "Scope: small, Complexity: high",
            "8 files",
            "medium",
            "_Scope medium (from the number of files). The first estimate was small._",
        ),
        (
            "Scope: small, Complexity: high",
            "Files: 8, Scope: large",
            "large",
            "_The first estimate was small._",
        ),
        ("Complexity: high", "20 files", "large", "_Scope large (from the number of files)._"),
        ("Scope: small, Complexity: high", "no idea", "small", ""),
    ],
)
def test_the_final_scope_wins(first: str, said: str, scope: str, remark: str) -> None:
    """A size named now, else the number of files, else what was said before; read back from the whole file."""
    before = written(roundtable(SCOPE, (ADA, first)))
    page = written(roundtable(FILE_COUNT, (BEN, said)), before)["quick-scan.md"]

    scan = read_quick_scan(page)
    assert (scan.scope, scan.complexity) == (scope, "high")
    assert remark in page


@pytest.mark.parametrize(
    ("said", "files"),
    [
        ("About 12 files: 4 new, 6 changed, 2 tests. Scope: medium. Files: 12", 12),
        ("Files: 12", 12),
        ("files: 4 new, 6 changed and 2 tests", 12),
        ("4 new, 6 changed, 2 tests", 12),
        ("New files: 4\nModified files: 6\nTest files: 2", 12),
        ("we need 4 new files, change 6 files, plus 2 test files", 12),
        ("6 files changed, 2 new files, total 12 files", 12),
        ("4 new files, 12 files in all", 12),
        ("change 12 files, 4 of them new", 12),
        ("8 files\nno, files: 12", 12),
        ("12\n2\nnothing", 12),
        ("1. roughly 10-12\n2. 2\n3. the docs", 12),
        ("1. a dozen or so", 12),
        ("3 people work on it", 0),
    ],
)
def test_the_total_is_the_one_named_else_the_sum_of_the_kinds(said: str, files: int) -> None:
    """The number of a kind is no total, whatever stands next to it; alone, a number answers the question for it."""
    page = written(roundtable(FILE_COUNT, (ADA, said)))["quick-scan.md"]

    assert read_quick_scan(page).file_count == files


# --- other formats ------------------------------------------------------------------------------------------------


def test_other_formats_hold_what_was_said_and_stay_valid() -> None:
    """JSON gets a record of the step, CSV rows, YAML comments; text files are written like Markdown."""
    records, rows, comments, page = drafted(
        roundtable(OTHER, (ADA, "1. first: the pilot\nDecision: go"), (BEN, "=cmd()"))
    )

    assert isinstance(records, ItemsEdit)
    assert records.items[0]["statements"] == [
        {"by": "Ada", "kind": "statement", "text": "first: the pilot"},
        {"by": "Ada", "kind": "decision", "text": "go"},
        {"by": "Ben", "kind": "statement", "text": "=cmd()"},
    ]
    assert isinstance(rows, RowsEdit)
    assert rows.apply(None).splitlines()[:2] == [
        "Step,Title,By,Statement",
        "06-01.1,Rollout,Ada,first: the pilot",
    ]
    assert isinstance(comments, FileEdit)
    assert all(line.startswith("#") for line in comments.text.splitlines())
    assert isinstance(page, SectionEdit)


def test_a_step_that_is_gone_writes_nothing() -> None:
    """A step file may be removed while its step is open."""
    assert drafted(roundtable(CONTEXT), "99-99") == ()
