import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.domain.item.artifacts import ItemsEdit, RowsEdit, UnreadableArtifact

STORY = {"id": "US-001", "role": "driver", "want": "a dark screen", "so_that": "I can see"}
COLUMNS = ("FR_ID", "Title", "Priority")

values = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=2)
objects = st.dictionaries(st.sampled_from(["id", "a", "b"]), values, max_size=3)
cells = st.text(max_size=6) | st.sampled_from(
    ["=1+1", 'a"b', "a,b", "a\nb", "a\r\nb", "FR-1", "FR-2", "", " "]
)
rows = st.lists(st.lists(cells, min_size=1, max_size=4).map(tuple), max_size=4).map(tuple)


def items(*given: dict[str, Any]) -> ItemsEdit:
    return ItemsEdit(path="user-stories.json", items=given)


def table(*given: tuple[str, ...], columns: tuple[str, ...] = COLUMNS) -> RowsEdit:
    return RowsEdit(path="traceability-matrix.csv", columns=columns, rows=given)


def parsed(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


class TestItems:
    @pytest.mark.parametrize("nothing", [None, "", " \n", "\ufeff"])
    def test_a_missing_file_is_a_new_array(self, nothing: str | None) -> None:
        """An empty one as well, even with a byte order mark."""
        assert json.loads(items(STORY).apply(nothing)) == [STORY]

    def test_what_is_known_is_updated_in_the_fields_given(self) -> None:
        """Other items, other fields and the order stay."""
        before = [{"id": "US-000"}, {**STORY, "estimate": 3}, "a note", {"role": "nobody"}]
        after = items({"id": "US-001", "want": "less light"}, {"id": "US-002"}).apply(json.dumps(before))

        assert json.loads(after) == [
            before[0],
            {**STORY, "estimate": 3, "want": "less light"},
            "a note",
            {"role": "nobody"},
            {"id": "US-002"},
        ]

    def test_when_nothing_is_new_nothing_is_rewritten(self) -> None:
        """The layout that somebody chose stays."""
        text = json.dumps([STORY], indent=8)

        assert items(STORY).apply(text) == text

    @pytest.mark.parametrize("indent", ["\t", "    "])
    def test_the_indent_and_the_numbers_of_others_stay(self, indent: str) -> None:
        """Only what is new shows in a diff."""
        text = f'[\n{indent}{{\n{indent * 2}"id": "US-007",\n{indent * 2}"points": 1.50\n{indent}}}\n]\n'

        assert items(STORY).apply(text).startswith(text.removesuffix("\n]\n"))

    def test_an_item_without_a_key_is_known_by_all_of_it(self) -> None:
        """It is the same as its equal only, so it is added once."""
        assert json.loads(items({"a": 1}, {"a": 1}).apply('[{"a": 1, "b": 2}]')) == [
            {"a": 1, "b": 2},
            {"a": 1},
        ]

    def test_windows_line_ends_stay(self) -> None:
        """New lines end as the others do."""
        assert items(STORY).apply("[\r\n]\r\n").startswith("[\r\n  {\r\n")

    @pytest.mark.parametrize("text", ["{}", "null", "[", "# Stories", "[NaN]", "[" * 5000])
    def test_what_is_no_array_is_unreadable(self, text: str) -> None:
        """ERR-ART-003 is the caller's to tell."""
        with pytest.raises(UnreadableArtifact, match=r"^user-stories\.json: "):
            items(STORY).apply(text)

    @given(st.lists(objects | values, max_size=4), st.lists(objects, max_size=4))
    def test_merged_again_nothing_changes(self, before: list[Any], given: list[dict[str, Any]]) -> None:
        """A commit that is repeated after a crash adds no second item."""
        once = items(*given).apply(json.dumps(before))

        assert items(*given).apply(once) == once

    @given(st.lists(objects | values, max_size=4), st.lists(objects, max_size=4))
    def test_nothing_is_lost(self, before: list[Any], given: list[dict[str, Any]]) -> None:
        """Everything of others keeps its place, with all its fields."""
        after = json.loads(items(*given).apply(json.dumps(before)))

        for old, new in zip(before, after, strict=False):
            assert old == new or old.keys() <= new.keys()
        assert len(after) >= len(before)


class TestRows:
    def test_a_missing_file_is_a_new_table(self) -> None:
        """As RFC 4180 has it."""
        assert (
            table(("FR-1", 'A "b", c', "Must")).apply(None)
            == 'FR_ID,Title,Priority\r\nFR-1,"A ""b"", c",Must\r\n'
        )

    def test_rows_are_merged_by_their_first_cell(self) -> None:
        """A row that is not touched stays as it was written, whoever wrote it."""
        before = 'FR_ID,Title,Priority\n"FR-1",Old,Must\n\n"FR-2" ,x\n'.replace('"FR-2" ', '"FR-2"')
        after = table(("FR-1", "New", "Should"), ("FR-3", "Third", "Could")).apply(before)

        assert after == 'FR_ID,Title,Priority\nFR-1,New,Should\n\n"FR-2",x\nFR-3,Third,Could\n'

    def test_columns_of_others_stay_and_ours_are_added(self) -> None:
        """Behind theirs, even behind cells that have no column name."""
        before = "Owner,FR_ID\r\nAda,FR-1,extra\r\n"

        assert parsed(table(("FR-1", "A", "Must"), ("FR-2", "B", "Must")).apply(before)) == [
            ["Owner", "FR_ID", "", "Title", "Priority"],
            ["Ada", "FR-1", "extra", "A", "Must"],
            ["", "FR-2", "", "B", "Must"],
        ]

    def test_a_short_row_leaves_the_other_cells(self) -> None:
        """What an edit does not name, it does not empty."""
        before = "FR_ID,Title,Priority\nFR-1,A,Must\n"

        assert table(("FR-1", "B")).apply(before) == "FR_ID,Title,Priority\nFR-1,B,Must\n"

    def test_when_nothing_is_new_nothing_is_rewritten(self) -> None:
        """Quotes, spaces and a byte order mark stay as somebody wrote them."""
        before = '\ufeff"FR_ID", Title ,Priority\n"FR-1","A",Must\n'

        assert table(("FR-1", "A")).apply(before) == before

    @pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\n=1"])
    def test_no_cell_is_a_formula(self, formula: str) -> None:
        """A spreadsheet shows it as text: an apostrophe stands in front."""
        (_, row) = parsed(table((formula,)).apply(None))

        assert row[0] == f"'{formula}"

    def test_one_empty_cell_is_a_row(self) -> None:
        """Written as a quoted nothing, since an empty line would be no row."""
        text = table(("",), columns=("A",)).apply(None)

        assert text == 'A\r\n""\r\n'
        assert table(("",), columns=("A",)).apply(text) == text

    def test_the_last_row_gets_its_line_end(self) -> None:
        """Before anything is added below it."""
        assert table(("FR-1",)).apply("FR_ID,Title,Priority") == "FR_ID,Title,Priority\nFR-1,,\n"

    @pytest.mark.parametrize(
        "text",
        ['FR_ID\n"a"b\n', 'FR_ID\n"open\n', "\nFR_ID\n", "Title\nx\n", "# Matrix", "FR_ID\n" + "x" * 200_000],
    )
    def test_what_is_no_table_of_ours_is_unreadable(self, text: str) -> None:
        """Broken quotes, a missing key column, a cell beyond all measure: nothing is guessed, nothing overwritten."""
        with pytest.raises(UnreadableArtifact, match=r"^traceability-matrix\.csv: "):
            table(("FR-1",)).apply(text)

    def test_a_table_has_columns_and_rows_have_keys(self) -> None:
        """An edit that could not be merged cannot be made."""
        with pytest.raises(ValidationError):
            table(columns=())
        with pytest.raises(ValidationError):
            table(())

    @given(rows, rows, st.sampled_from(["\n", "\r\n"]))
    def test_merged_again_nothing_changes(self, before: Any, given: Any, eol: str) -> None:
        """A commit that is repeated after a crash adds no second row, however lines end."""
        old = table(*before).apply(None).replace("\r\n", eol)
        once = table(*given).apply(old)

        assert table(*given).apply(once) == once

    @given(rows, rows)
    def test_rows_of_others_stay(self, before: Any, given: Any) -> None:
        """All that have another key, in their order, with their cells."""
        old = table(*before).apply(None)
        keys = {row[0] for row in parsed(table(*given).apply(None))[1:] if row}
        theirs = [row for row in parsed(old)[1:] if row and row[0] not in keys]

        assert [row for row in parsed(table(*given).apply(old))[1:] if row and row[0] not in keys] == theirs
