"""The shipped personas and steps, spoken and written by the offline voice."""

import asyncio
from pathlib import Path

import pytest

from bot.content.load import load
from bot.domain.elaboration import Elaboration
from bot.domain.markdown import outline
from bot.domain.persona import Persona
from bot.domain.steps import Step
from bot.engine.ports import Cue
from bot.voices.offline import OfflineVoices
from tests.voices.people import ADA, BEN, roundtable

ROOT = Path(__file__).parents[2]
PLAYBOOK = load(ROOT / "personas", ROOT / "analysis-steps")
SAID = """1. Every export loses its last row.
2. From 12 to 0 errors a month, under 2 seconds
Decision: CSV first, because Excel opens it"""


@pytest.mark.parametrize("step", PLAYBOOK.agenda.steps, ids=lambda step: step.step_id)
def test_every_step_writes_all_its_sections(step: Step) -> None:
    """Each section it owns, in each of its Markdown outputs, answered or skipped."""
    cue = Cue(roundtable(step, (ADA, SAID)), PLAYBOOK, step.persona)
    for skipped in (False, True):
        edits = asyncio.run(OfflineVoices().draft(cue, steps=(step.step_id,), files={}, skipped=skipped))
        files: dict[str, str] = {}
        for edit in edits:
            files[edit.path] = edit.apply(files.get(edit.path))
        for output in {*step.outputs} - {"nfr-matrix.md"}:
            assert output in files
            if output.endswith(".md"):
                written = [one.text for one in outline(files[output]).headings if one.level == 2]
                assert sorted(written) == sorted(owned.heading for owned in step.owned(output))


@pytest.mark.parametrize("persona", PLAYBOOK.roster, ids=lambda persona: persona.key)
def test_every_persona_finds_words_of_its_own(persona: Persona) -> None:
    """Its templates and questions leave no blank open, for as long as a discussion can last."""
    step = PLAYBOOK.agenda.step("01-01")
    voices = OfflineVoices()
    rt = roundtable(step, (ADA, SAID))
    said = [asyncio.run(voices.acknowledge(Cue(rt, PLAYBOOK, persona.key)))]
    debate = Elaboration(step_id=step.step_id, lead=persona.key, topic=step.title, max_turns=40)
    for number in range(10):
        debate = debate.heard(
            by=BEN, name="Ben", text=f"Point {number} is about the export and its rows", human=True
        )
        said.append(asyncio.run(voices.respond(Cue(rt.but(elaboration=debate), PLAYBOOK, persona.key))))
        debate = debate.heard(by=persona.key, name=persona.first_name, text=said[-1], human=False)

    assert not [text for text in said if "{" in text or "..." in text]
    assert len({text.rpartition(". ")[2] for text in said}) == len(said)
