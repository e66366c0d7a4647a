"""The sections and files that have a form of their own, by the words of their headings and by their names."""

import re
from collections.abc import Callable, Iterator, Mapping

from bot.domain.catalog.agenda import OwnedSection, QuickScan, quick_scan_lines, read_quick_scan
from bot.domain.item.artifacts import Edit, ItemsEdit, RowsEdit
from bot.domain.values.text import one_line
from bot.voices.offline import (
    numbering,
    priorities,
    qualities,
    searching,
    sizes,
    story_file,
)
from bot.voices.offline.draft_context import Sheet
from bot.voices.offline.numbering import known_requirements, merge, read_spec
from bot.voices.offline.pages import (
    SKIPPED,
    bullet,
    is_placeholder,
    joined,
    section_of,
    unescaped,
)
from bot.voices.offline.reading import Kind, Said
from bot.voices.offline.requirements import wishes
from bot.voices.offline.sections import nothing_said, ordinary
from bot.voices.offline.stories import stories_in

SectionForm = Callable[[Sheet, OwnedSection], str]
FileForm = Callable[[Sheet], Iterator[Edit]]

QUICK_SCAN = "quick-scan.md"
NOTHING_RULED_OUT = "_Nothing was ruled out._"
MATRIX_COLUMNS = ("FR_ID", "Title", "AC_Count", "Priority", "User_Stories")


def form_of(sheet: Sheet, owned: OwnedSection) -> SectionForm | None:
    forms = SECTIONS.get(sheet.output.rpartition("/")[2], {})
    return next(
        (form for words, form in forms.items() if re.search(words, owned.heading, re.IGNORECASE)), None
    )


# --- quick-scan.md ------------------------------------------------------------------------------------------------


def _scope(sheet: Sheet, _: OwnedSection) -> str:
    if not sheet.said:
        return _nothing(sheet)
    scan = sizes.read_scan(sheet.said, sheet.questions)
    return joined(ordinary(sheet.said, sheet.questions), quick_scan_lines(scan))


def _keywords(sheet: Sheet, _: OwnedSection) -> str:
    survey = sheet.rt.survey if not sheet.skipped else None
    found = searching.keyword_table(survey, searching.keywords_of(sheet.said))
    said = ordinary(sheet.said, sheet.questions) if sheet.said else _nothing(sheet)
    return joined(searching.searched(survey), found, said) if found else said


def _file_count(sheet: Sheet, _: OwnedSection) -> str:
    if not sheet.said:
        return _nothing(sheet)
    count = sizes.count_in(sheet.said, sheet.questions)
    return joined(count.markdown(), ordinary(sheet.said, sheet.questions))


def _final_scope(sheet: Sheet, _: OwnedSection) -> str:
    before = read_quick_scan(sheet.text) if sheet.text else sheet.rt.scan
    if not sheet.said and before == QuickScan():
        return nothing_said((), skipped=sheet.skipped)
    scan, remark = sizes.final(sheet.said, before, sheet.questions)
    undiscussed = "" if sheet.said else nothing_said((), skipped=sheet.skipped)
    return joined(undiscussed, f"_{remark}_" if remark else "", quick_scan_lines(scan))


# --- requirements-spec.md -----------------------------------------------------------------------------------------


def _requirements(sheet: Sheet, owned: OwnedSection) -> str:
    spec = read_spec(sheet.text, owned.heading)
    found = wishes(sheet.rt, sheet.answers)
    homeless = merge(spec, found, step_id=sheet.step.step_id)
    rest = [one for one in found.rest if one.kind is not Kind.SMALL_TALK]
    rest += [Said(remark.by, remark.text) for remark in homeless]
    if not (spec.requirements or rest or spec.intro or spec.strangers):
        return _nothing(sheet)
    return spec.markdown(ordinary(rest, ()))


def _out_of_scope(sheet: Sheet, owned: OwnedSection) -> str:
    before = section_of(sheet.text, owned.heading)
    kept = "" if is_placeholder(before) or before == NOTHING_RULED_OUT else before
    lines = dict.fromkeys(bullet(one.text, one.by) for one in wishes(sheet.rt, sheet.answers).out_of_scope)
    body = "\n".join((*kept.splitlines(), *(line for line in lines if line not in kept.splitlines())))
    if body or sheet.said:
        return body or NOTHING_RULED_OUT
    return nothing_said((), skipped=sheet.skipped)


def _moscow(sheet: Sheet, owned: OwnedSection) -> str:
    known = known_requirements(sheet.file(numbering.FILE))
    if not known:
        return ordinary(sheet.said, sheet.questions) if sheet.said else _nothing(sheet)
    before = priorities.read_moscow(section_of(sheet.text, owned.heading))
    ranks = before | priorities.ranked(sheet.said, known)
    said = ordinary(sheet.said, sheet.questions) if sheet.said else _nothing(sheet)
    return joined(priorities.moscow(known, ranks), said)


# --- files --------------------------------------------------------------------------------------------------------


def _matrix_of_qualities(sheet: Sheet) -> Iterator[Edit]:
    """Shared between items: each has a section of its own, and touches no other. It is there even when it is empty."""
    heading = f"{one_line(sheet.rt.title, 100).lstrip('# ') or 'Item'} ({sheet.rt.slug})"
    found = qualities.rows(sheet.said, section_of(sheet.text, heading), sheet.text)
    remark = "" if found else SKIPPED if sheet.skipped else qualities.NOTHING_MEASURED
    yield sheet.section(heading, joined(remark, qualities.matrix(found))).but(title="NFR Matrix")


def _user_stories(sheet: Sheet) -> Iterator[Edit]:
    told = stories_in(sheet.rt, sheet.answers, sheet.questions)
    known = known_requirements(sheet.file(numbering.FILE))
    yield ItemsEdit(path=sheet.output, items=story_file.records(told, sheet.text, known))


def _traceability(sheet: Sheet) -> Iterator[Edit]:
    spec = sheet.file(numbering.FILE)
    known = known_requirements(spec)
    ranks = {**_ranks_on_file(sheet, spec), **priorities.ranked(sheet.said, known)}
    rows = (
        (
            one.id,
            unescaped(one.title),
            str(len(one.criteria)),
            priorities.priority_of(one, ranks),
            ";".join(story_file.stories_of(one.id, sheet.file(story_file.FILE))),
        )
        for one in known
    )
    yield RowsEdit(path=sheet.output, columns=MATRIX_COLUMNS, rows=tuple(rows))


def _ranks_on_file(sheet: Sheet, spec: str) -> dict[str, priorities.Ranked]:
    sections = (owned.heading for owned in sheet.step.owned(numbering.FILE))
    return {
        number: rank
        for one in sections
        for number, rank in priorities.read_moscow(section_of(spec, one)).items()
    }


def _nothing(sheet: Sheet) -> str:
    return nothing_said(sheet.questions, skipped=sheet.skipped)


SECTIONS: Mapping[str, Mapping[str, SectionForm]] = {
    QUICK_SCAN: {
        r"\bfinal scope\b": _final_scope,
        r"\bscope\b": _scope,
        r"\bkeywords?\b": _keywords,
        r"\bfile count\b": _file_count,
    },
    numbering.FILE: {
        r"\bfunctional requirements\b": _requirements,
        r"\bout of scope\b": _out_of_scope,
        r"\bmoscow\b|\bprioriti": _moscow,
    },
}
MERGING = frozenset({_final_scope, _requirements, _out_of_scope, _moscow})
"""Those that go on from what the file says; the others write their section anew."""

FILES: Mapping[str, FileForm] = {
    qualities.FILE: _matrix_of_qualities,
    story_file.FILE: _user_stories,
    "traceability-matrix.csv": _traceability,
}
