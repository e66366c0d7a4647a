"""The shipped personas and steps, spoken and written by the offline voice."""

import asyncio
import csv
import io
import json
from pathlib import Path

import pytest

from bot.content.load import load
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.steps import Step
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.values.markdown import outline
from bot.engine.ports import VoiceContext
from bot.voices.offline.offline import OfflineVoices
from tests.voices.people import ADA, BEN, roundtable

ROOT = Path(__file__).parents[2]
PLAYBOOK = load(ROOT / "personas", ROOT / "analysis-steps")
SAID = """1. Every export loses its last row.
2. From 12 to 0 errors a month, under 2 seconds
Decision: CSV first, because Excel opens it"""


@pytest.mark.parametrize("step", PLAYBOOK.agenda.steps, ids=lambda step: step.step_id)
def test_every_step_writes_all_its_sections(step: Step) -> None:
    """Each section it owns, in each of its Markdown outputs, answered or skipped."""
    cue = VoiceContext(roundtable(step, (ADA, SAID)), PLAYBOOK, step.persona)
    for skipped in (False, True):
        edits, _ = asyncio.run(OfflineVoices().draft(cue, steps=(step.step_id,), files={}, skipped=skipped))
        files: dict[str, str] = {}
        for edit in edits:
            files[edit.path] = edit.apply(files.get(edit.path))
        for output in {*step.outputs} - {"nfr-matrix.md"}:
            assert output in files
            if output.endswith(".md"):
                written = [one.text for one in outline(files[output]).headings if one.level == 2]
                assert sorted(written) == sorted(owned.heading for owned in step.owned(output))


ORDINARY = (
    (),
    ("ok 👍",),
    ("no idea tbh",),
    ("Does anybody know?",),
    ("We keep it simple: one queue, and whoever writes last wins.", "fine by me"),
    ("1. The drivers\n2. Every evening\n3. The screen is too bright",),
    ("Decision: start with the office in Graz, because they asked first", "TODO: ask Graz"),
    ("```\nGET /rows\n```",),
    (SAID,),
)


@pytest.mark.parametrize("skipped", [False, True])
@pytest.mark.parametrize("step", PLAYBOOK.agenda.steps, ids=lambda step: step.step_id)
def test_every_output_of_a_finished_step_exists_and_is_valid(step: Step, *, skipped: bool) -> None:
    """Whatever people said, and when they said nothing: a page with its sections, an array, a table with its header."""
    for said in ORDINARY:
        cue = VoiceContext(roundtable(step, *((ADA, text) for text in said)), PLAYBOOK, step.persona)
        files: dict[str, str] = {}
        edits, _ = asyncio.run(OfflineVoices().draft(cue, steps=(step.step_id,), files={}, skipped=skipped))
        for edit in edits:
            files[edit.path] = edit.apply(files.get(edit.path))

        assert files.keys() == {*step.outputs}
        for output, text in files.items():
            check(output, text)


def check(output: str, text: str) -> None:
    match output.rpartition(".")[2]:
        case "json":
            assert isinstance(json.loads(text), list)
        case "csv":
            header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
            assert header[0] == "FR_ID"
            assert all(len(row) == len(header) for row in rows)
        case "md":
            page = outline(text)
            assert page.headings[0].level == 1
            sections = [one for one in page.headings if one.level == 2]
            assert sections
            assert all("".join(page.lines[one.body : page.end(one, level=2)]).strip() for one in sections)
        case other:
            pytest.fail(f"nobody checks whether {other} files are valid")


@pytest.mark.parametrize("persona", PLAYBOOK.roster, ids=lambda persona: persona.key)
def test_every_persona_finds_words_of_its_own(persona: Persona) -> None:
    """Its templates and questions leave no blank open, for as long as a discussion can last."""
    step = PLAYBOOK.agenda.step("01-01")
    voices = OfflineVoices()
    rt = roundtable(step, (ADA, SAID))
    said = [asyncio.run(voices.acknowledge(VoiceContext(rt, PLAYBOOK, persona.key))).text]
    debate = Elaboration(step_id=step.step_id, lead=persona.key, topic=step.title, max_turns=40)
    for number in range(10):
        debate = debate.heard(
            by=BEN, name="Ben", text=f"Point {number} is about the export and its rows", ts=""
        )
        cue = VoiceContext(rt.but(elaboration=debate), PLAYBOOK, persona.key)
        said.append(asyncio.run(voices.respond(cue)).text)
        debate = debate.spoken(by=persona.key, name=persona.first_name, text=said[-1])

    assert not [text for text in said if "{" in text or "..." in text]
    assert len({text.rpartition(". ")[2] for text in said}) == len(said)
