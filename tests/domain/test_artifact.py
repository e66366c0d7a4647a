import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from bot.domain.item.artifacts import (
    Edit,
    FileEdit,
    InsightEdit,
    ItemsEdit,
    Missing,
    RowsEdit,
    SectionEdit,
    additive,
    applies_to,
)
from bot.domain.item.item_paths import safe_path, shared
from bot.domain.values.markdown import Heading, outline
from tests.domain.test_markdown import page_texts

MARKER = "<!-- Elaboration: step 01-03, 2026-02-20T14:30:00.000Z -->"
SPEC = """\
# Requirements Specification

## 1. Business Context

The screens are too bright.

## 3. User Journeys

1. Open the app.

## Appendix

Notes.
"""


def section(heading: str = "2. Stakeholders", body: str = "Drivers.") -> SectionEdit:
    return SectionEdit(
        path="requirements-spec.md", heading=heading, title="Requirements Specification", body=body
    )


def insight(*keywords: str, marker: str = MARKER, body: str = "- [Maya] Night shift first") -> InsightEdit:
    return InsightEdit(path="requirements-spec.md", keywords=keywords, marker=marker, body=body)


headings = st.sampled_from(
    ["1. Business Context", "2. Stakeholders", "10. Late", "Plain", "One", "C #", "3. A <!-- b"]
)
sections = st.builds(section, headings, page_texts)
insights = st.builds(
    lambda word, number, text: insight(word, marker=MARKER.replace("01-03", number), body=text),
    st.sampled_from(["Business", "Two", "the", "nothing"]),
    st.sampled_from(["01-1", "01-12"]),
    page_texts,
)


def _applied(edits: list[SectionEdit | InsightEdit]) -> str:
    text = SPEC
    for edit in edits:
        text = edit.apply(text)
    return text


specs = page_texts | st.lists(sections | insights, max_size=4).map(_applied)


class TestSections:
    @pytest.mark.parametrize("text", [None, ""])
    def test_a_missing_file_is_made_from_its_title(self, text: str | None) -> None:
        """Also one in which nothing stands. The document's title is a heading above the first section."""
        assert section().apply(text) == "# Requirements Specification\n\n## 2. Stakeholders\n\nDrivers.\n"

    @pytest.mark.parametrize(
        ("heading", "next_heading"), [("2. Stakeholders", "## 3."), ("10. Late", "## Appendix")]
    )
    def test_a_missing_section_comes_in_the_order_of_numbers(self, heading: str, next_heading: str) -> None:
        """Steps may be finished in any order. The greatest number comes before an appendix, which has none."""
        before, _, after = SPEC.partition(next_heading)

        assert section(heading).apply(SPEC) == f"{before}## {heading}\n\nDrivers.\n\n{next_heading}{after}"

    @pytest.mark.parametrize(
        ("heading", "text"),
        [
            ("Glossary", SPEC),
            ("Glossary", "# T\n\ntext"),
            ("Glossary", "# T\n\ntext\n"),
            ("2. Stakeholders", "## A\n"),
        ],
    )
    def test_a_section_without_a_number_comes_last(self, heading: str, text: str) -> None:
        """Behind a blank line; and any section does where no other one has a number."""
        assert section(heading).apply(text) == text.rstrip("\n") + f"\n\n## {heading}\n\nDrivers.\n"

    def test_a_section_that_is_there_is_written_again(self) -> None:
        """And only that one: the heading as it stands, everything around it byte for byte."""
        text = SPEC.replace("## 3. User Journeys", "##  3. user journeys ##")

        assert section("3. User Journeys", "New.").apply(text) == text.replace("1. Open the app.", "New.")

    def test_a_section_with_a_line_below_its_heading_is_known_too(self) -> None:
        """Both ways of writing a heading in Markdown count, and the one in the file is kept."""
        assert section("Glossary", "New.").apply("Glossary\n---\nOld.\n") == "Glossary\n---\n\nNew.\n"

    def test_headings_in_code_are_not_headings(self) -> None:
        """Neither end a section nor are one."""
        text = "# T\n\n## 2. Stakeholders\n\n```\n## 3. Not a heading\n```\n\nOld.\n\n## 4. Next\n"

        assert section(body="New.").apply(text) == "# T\n\n## 2. Stakeholders\n\nNew.\n\n## 4. Next\n"

    def test_deeper_headings_belong_to_the_section(self) -> None:
        """They are replaced together with the text around them."""
        assert section(body="New.").apply("## 2. Stakeholders\n\n### Drivers\n\nOld.\n") == (
            "## 2. Stakeholders\n\nNew.\n"
        )

    def test_the_body_cannot_close_the_section(self) -> None:
        """Its headings become parts, its code ends, its markers are text."""
        text = section(body=f"# Big\n\n{MARKER}\n\n```\nopen").apply(SPEC)

        assert "### Big\n\n&lt;!-- Elaboration: step 01-03" in text
        assert [one.text for one in outline(text).headings if one.level == 2] == [
            "1. Business Context",
            "2. Stakeholders",
            "3. User Journeys",
            "Appendix",
        ]

    def test_an_empty_section_is_not_written(self) -> None:
        """One that was there is taken out, and with the last one the file, but for what is not ours."""
        other = "# T\n\n## 3. C\n"
        ours = section().apply(None)

        assert section(body="").apply(None) == ""
        assert section(body="").apply(other) == other
        assert section(body="").apply(section().apply(other)) == other
        assert section(body="").apply(ours) == ""
        assert (
            section(body="").apply(f"{ours}\nBy hand:\n\n## Mine\n") == f"{ours.partition('##')[0]}## Mine\n"
        )

    def test_an_empty_section_keeps_what_a_discussion_added(self) -> None:
        """Under its heading."""
        added = insight("Stakeholders").apply(section().apply(None))

        left = section(body="").apply(added)
        assert left == added.replace("Drivers.\n\n", "")
        assert section(body="").apply(left) == left

    def test_windows_line_ends_stay(self) -> None:
        """Whoever keeps a file with CR LF gets no mixture of both."""
        text = section().apply(SPEC.replace("\n", "\r\n"))

        assert text == section().apply(SPEC).replace("\n", "\r\n")

    def test_insights_survive_when_the_step_is_written_again(self) -> None:
        """They belong to the elaborations, not to the step."""
        enriched = insight("User", "Journeys").apply(SPEC)

        assert section("3. User Journeys", "New.").apply(enriched) == enriched.replace(
            "1. Open the app.", "New."
        )

    def test_insights_at_the_end_survive_when_the_last_section_is_written_again(self) -> None:
        """They stand inside it, with the heading that announces them."""
        enriched = insight("nothing").apply(SPEC)

        assert section("Appendix", "New.").apply(enriched) == enriched.replace("Notes.", "New.")

    def test_an_open_fence_above_cannot_swallow_the_section(self) -> None:
        """Our code is indented there: its fence would close theirs, and hide what is between."""
        text = section(body="```\ncode\n```").apply("# T\n\n```\nopen\n")

        assert text == "# T\n\n```\nopen\n\n## 2. Stakeholders\n\n    ```\ncode\n    ```\n"
        assert [one.text for one in outline(text).headings] == ["T", "2. Stakeholders"]

    @pytest.mark.parametrize("heading", ["", " a", "# a", "a\nb", "a\r"])
    def test_a_heading_is_one_line_of_words(self, heading: str) -> None:
        """An edit that could not be found again in the file cannot be made."""
        with pytest.raises(ValidationError):
            section(heading)

    @given(specs, sections)
    def test_written_again_it_is_the_same(self, text: str, edit: SectionEdit) -> None:
        """A commit that is repeated after a crash changes no byte."""
        once = edit.apply(text)

        assert edit.apply(once) == once

    @given(specs, sections, page_texts)
    def test_everything_else_stays_byte_for_byte(self, text: str, edit: SectionEdit, other: str) -> None:
        """Two versions of a section differ between the same two places of the file."""
        assume(edit.body.strip() and other.strip())
        first = edit.apply(text)
        second = edit.but(body=other).apply(first)
        page, mine = outline(first), mine_in(first, edit)
        assert mine

        assert second.startswith("".join(page.lines[: mine.body]))
        assert second.endswith("".join(page.lines[page.end(mine, level=2) :]))

    @given(specs, sections)
    def test_a_section_that_was_missing_only_adds(self, text: str, edit: SectionEdit) -> None:
        """No line of the file is lost or moved by a section it did not have."""
        assume(text and not mine_in(text, edit))

        assert additive(text, edit.apply(text))

    @given(specs, sections, sections)
    def test_sections_of_other_steps_are_not_touched(
        self, text: str, one: SectionEdit, other: SectionEdit
    ) -> None:
        """What one step wrote is there in full after another step wrote its own."""
        assume(one.heading != other.heading and one.body.strip())
        first = one.apply(text)

        assert owned(other.apply(first), one) == owned(first, one)


def mine_in(text: str, edit: SectionEdit) -> Heading | None:
    """The section of *edit*, found without its help."""
    name = edit.heading.removesuffix(" #").replace("<!--", "&lt;!--").casefold()
    return next(
        (one for one in outline(text).headings if one.level == 2 and one.text.casefold() == name), None
    )


def owned(text: str, edit: SectionEdit) -> str:
    page, mine = outline(text), mine_in(text, edit)
    assert mine
    return "".join(page.lines[mine.line : page.end(mine, level=2)]).rstrip()


class TestInsights:
    def test_they_are_added_to_the_section_with_most_words_in_common(self) -> None:
        """After what stands there, below their marker."""
        edit = insight("User", "Experience", "&", "Journeys")

        assert edit.place(SPEC) == "3. User Journeys"
        assert edit.apply(SPEC) == SPEC.replace(
            "1. Open the app.\n", f"1. Open the app.\n\n{MARKER}\n\n- [Maya] Night shift first\n"
        )

    def test_without_a_word_in_common_they_come_last(self) -> None:
        """Under a heading of their own, below the marker."""
        edit = insight("the", "of", "Prioritization")

        assert edit.place(SPEC) == "Additional Insights from Elaboration"
        assert edit.apply(SPEC) == (
            f"{SPEC}\n{MARKER}\n\n### Additional Insights from Elaboration\n\n- [Maya] Night shift first\n"
        )

    def test_further_ones_come_under_the_same_heading(self) -> None:
        """The second elaboration that fits nowhere needs no second heading."""
        again = insight(marker=MARKER.replace("14:30", "15:30"), body="More.")
        text = again.apply(insight().apply(SPEC))

        assert text.count("### Additional Insights") == 1
        assert text.endswith(f"Night shift first\n\n{again.marker}\n\nMore.\n")

    def test_a_marker_that_is_there_is_not_added_again(self) -> None:
        """One elaboration is one marker, so a repeated commit adds nothing, even in other words."""
        text = insight().apply(SPEC)

        assert insight(body="Other.").apply(text) == text

    def test_a_marker_is_a_whole_line(self) -> None:
        """Step 01-1 is not step 01-12."""
        long = insight(marker="<!-- Elaboration: step 01-12, now -->").apply(SPEC)
        short = insight(marker="<!-- Elaboration: step 01-1, now -->").apply(long)

        assert additive(long, short)
        assert short.count("<!-- Elaboration:") == 2

    def test_a_file_that_is_not_there_cannot_be_added_to(self) -> None:
        """ERR-ELAB-013."""
        with pytest.raises(Missing):
            insight().apply(None)

    def test_an_empty_file_can(self) -> None:
        """It exists, so insights are added to it and need no section."""
        assert insight().apply("").startswith(MARKER)

    def test_the_next_heading_keeps_its_distance(self) -> None:
        """A blank line is put between the insights and what follows, where none was."""
        assert insight("Business").apply("## Business\n## Next\n") == (
            f"## Business\n\n{MARKER}\n\n- [Maya] Night shift first\n\n## Next\n"
        )

    def test_a_file_without_a_final_line_end_gets_one(self) -> None:
        """Of the kind that its other lines have."""
        assert (
            insight("Business")
            .apply("## Business\r\n\r\ntext")
            .startswith(f"## Business\r\n\r\ntext\r\n\r\n{MARKER}\r\n")
        )

    def test_a_marker_has_one_form(self) -> None:
        """Nothing else can stand in the line."""
        with pytest.raises(ValidationError):
            insight(marker="<!-- Elaboration: x --> <b>")

    @given(specs, insights)
    def test_they_only_ever_add(self, text: str, edit: InsightEdit) -> None:
        """NFR-004: a diff shows additions only."""
        assert additive(text, edit.apply(text))

    @given(specs, insights)
    def test_added_again_nothing_changes(self, text: str, edit: InsightEdit) -> None:
        """A commit that is repeated after a crash leaves one copy."""
        once = edit.apply(text)

        assert edit.apply(once) == once

    @given(specs, insights, sections)
    def test_no_step_can_remove_them(self, text: str, edit: InsightEdit, step: SectionEdit) -> None:
        """Whatever is written afterwards, every line of the insights stays."""
        enriched = edit.apply(text)
        start = enriched.index(edit.marker)

        assert edit.marker in step.apply(enriched)
        assert enriched[start:].startswith(edit.marker)

    def test_only_text_takes_insights(self) -> None:
        """A marker would be damage in JSON, YAML and CSV."""
        assert [
            path for path in ("a.md", "A.MD", "a.txt", "a.json", "a.csv", "a.yaml", "a") if applies_to(path)
        ] == ["a.md", "A.MD", "a.txt"]


class TestAdditive:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ("a\nb\n", "a\nx\nb\ny\n", True),
            ("a\nb", "a\r\nb\r\n", True),
            ("", "a", True),
            ("a\nb\n", "b\na\n", False),
            ("a\na\n", "a\n", False),
            ("a\n", "ab\n", False),
        ],
    )
    def test_old_lines_are_all_there_in_order(self, old: str, new: str, expected: bool) -> None:  # noqa: FBT001
        """Only then is an edit of an elaboration written; how lines end does not matter."""
        assert additive(old, new) is expected


class TestFiles:
    def test_a_file_is_made_once(self) -> None:
        """What people made of it since is theirs."""
        edit = FileEdit(path="draft.md", text="# Dark mode\n")

        assert edit.apply(None) == "# Dark mode\n"
        assert edit.apply("mine") == "mine"

    @pytest.mark.parametrize(
        "edit",
        [
            section(),
            insight("User"),
            ItemsEdit(path="user-stories.json", items=({"id": "US-1"},)),
            RowsEdit(path="traceability-matrix.csv", columns=("FR_ID",), rows=(("FR-1",),)),
            FileEdit(path="draft.md", text=""),
        ],
        ids=lambda edit: str(edit.kind),
    )
    def test_every_edit_can_be_stored(self, edit: Edit) -> None:
        """Edits wait in the outbox of a roundtable."""
        adapter: TypeAdapter[Edit] = TypeAdapter(Edit)

        assert adapter.validate_json(adapter.dump_json(edit)) == edit


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "quick-scan.md", "adr/0001-x.md", "docs/common/nfr-matrix.md", "module-design-a.b.md", "_x",
            "draft.md", "Anforderungen-Übersicht.md", "需求.md", "आवश्यकता.md", "Requirements Spec.md",
        ],
    )  # fmt: skip
    def test_artifacts_are_files_in_the_item_s_folder(self, path: str) -> None:
        """Folders below it and the shared file are fine."""
        assert safe_path(path)

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "/etc/passwd",
            "../x.md",
            "a/../x.md",
            "a//b",
            "a/",
            "./a",
            ".git/config",
            "a/.b",
            "a\\b",
            "C:x",
            " a.md",
            "a .md ",
            "a  b.md",
            "a\u00a0b.md",
            "a\u202eb.md",
            "e\u0301.md",
            "🙂.md",
            "a`b.md",
            "<a>.md",
            "{a}.md",
            "字" * 70,
            "a\n",
            "a\x00",
            "a.",
            "meta.json",
            "META.json",
            "planning/meeting.jsonl",
            "Reviews/review-001.md",
            "con",
            "a/NUL.md",
            "x" * 201,
        ],
    )
    def test_everything_else_is_refused(self, path: str) -> None:
        """C1: nothing leaves the folder, and nothing overwrites what is ours."""
        assert not safe_path(path)

    @given(st.text(st.sampled_from("ab./\\-_:~ \x00\n")))
    def test_a_safe_path_stays_inside(self, path: str) -> None:
        """No path that passes can climb, start at the root or hide a character."""
        if safe_path(path):
            assert not path.startswith("/")
            assert not {"", ".", ".."} & {name.strip() for name in path.split("/")}
            assert not set(path) & set("\\:~\x00\n")

    def test_one_file_is_shared_however_it_is_named(self) -> None:
        """By its name alone or with its folder; the same name in another folder is another file."""
        assert shared("nfr-matrix.md")
        assert shared("docs/common/nfr-matrix.md")
        assert not shared("common/nfr-matrix.md")
