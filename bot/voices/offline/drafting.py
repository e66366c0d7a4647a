"""
The sections and files that steps own, written from what people said.

What has a form of its own stands in `forms`; other Markdown gets an ordinary section, other data
files get records. Nothing that is in a file is lost because nobody said anything, or only gave feedback.
"""

from collections.abc import Iterator, Mapping, Sequence

from bot.domain.catalog.agenda import Step, depth_of_step
from bot.domain.item.artifacts import Edit
from bot.domain.roundtable.state import Roundtable
from bot.voices.offline import records
from bot.voices.offline.draft_context import Sheet
from bot.voices.offline.forms import FILES, MERGING, form_of
from bot.voices.offline.pages import is_placeholder, joined, part, section_of, spoken
from bot.voices.offline.reading import Said, said_in
from bot.voices.offline.sections import (
    elsewhere,
    nothing_said,
    ordinary,
    questions_of,
    sorted_into,
)

FEEDBACK = "Feedback"
MARKDOWN = (".md", ".markdown", ".txt")


def draft(
    rt: Roundtable, steps: Sequence[Step], files: Mapping[str, str], *, skipped: bool
) -> tuple[Edit, ...]:
    return tuple(
        edit
        for step in steps
        for output in dict.fromkeys(step.outputs)
        for edit in _written(_sheet(rt, step, output, files=files, skipped=skipped))
    )


def _sheet(rt: Roundtable, step: Step, output: str, *, files: Mapping[str, str], skipped: bool) -> Sheet:
    answers = rt.answers if step.step_id == rt.step_id and not skipped else ()
    questions = questions_of(step, depth_of_step(step, rt.depth_overrides, rt.depth))
    return Sheet(rt, step, output, answers, said_in(rt, answers), questions, files, skipped)


def _written(sheet: Sheet) -> Iterator[Edit]:
    if writer := FILES.get(sheet.output.rpartition("/")[2]):
        return writer(sheet)
    if sheet.output.lower().endswith(MARKDOWN):
        return _sections(sheet)
    return records.records(sheet)


def _sections(sheet: Sheet) -> Iterator[Edit]:
    sections = sheet.step.owned(sheet.output)
    shares = sorted_into(sections, sheet.said, sheet.questions)
    fullest = max(zip(shares, sections, strict=True), key=lambda pair: len(pair[0]))[1]
    for owned, share in zip(sections, shares, strict=True):
        before = section_of(sheet.text, owned.heading)
        written = bool(before) and not is_placeholder(before)
        if written and not sheet.said:
            continue  # nobody said anything against what stands there
        form = form_of(sheet, owned)
        if written and sheet.only_feedback and form not in MERGING:
            body = _added(before, share)
        elif form:
            body = form(sheet, owned)
        elif not sheet.said:
            body = nothing_said(sheet.questions if owned is sections[0] else (), skipped=sheet.skipped)
        else:
            body = ordinary(share, sheet.questions) or elsewhere(fullest.heading)
        yield sheet.section(owned.heading, body)


def _added(before: str, share: Sequence[Said]) -> str:
    """The section as it is, and what came afterwards, once."""
    lines = [spoken([one]) for one in records.statements(share)]
    new = "\n".join(line for line in lines if line not in before)
    return joined(before, new if f"**{FEEDBACK}**" in before else part(FEEDBACK, new))
