"""analysis-steps/<phase>/NN-slug.md → Steps. A bad file is skipped with its code, and the others load."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.content.files import ContentFolder, Findings, UnreadableFile, name_of, problem_sentence
from bot.content.frontmatter import BadFrontMatter, PlainScalar, sections, split
from bot.domain.catalog.agenda import Agenda
from bot.domain.catalog.personas import Roster
from bot.domain.catalog.phases import ANALYSIS_PHASES, PHASE_KEYS, Phase
from bot.domain.catalog.schema import Schema
from bot.domain.catalog.skip_if import BadCondition
from bot.domain.catalog.steps import NUMBERED, SECTION_OF, Ask, Step, StepHeading, in_code
from bot.errors import ContentError

PHASE_FOLDER = re.compile(r"[0-9]{2}-[a-z0-9]+(?:-[a-z0-9]+)*")
NOT_A_STRING = re.compile(r"[-+]?[0-9][0-9._]*|true|false|yes|no|on|off", re.IGNORECASE)
NO_SUCH_PERSONA = "no persona has this key"
REQUIRED = ("step_id", "title", "persona", "depth", "outputs")
ORIGINAL_SPEAKERS = ("Maya Chen", "Alex Rivera", "Jordan Park")
"""
Speakers in files written for the original format, in addition to the configured personas.

Other names are not recognized as speakers, so they stay in the text, as "Use Cases: " does.
"""
SECTIONS = {section.value.casefold(): section for section in StepHeading}
MODES = frozenset(SECTION_OF.values())


def read_agenda(
    folder: Path, roster: Roster, schema: Schema, findings: Findings, *, workspace: Path | None = None
) -> Agenda:
    """The five phases, and one more for every further `NN-name` folder."""
    shelf = ContentFolder(folder, workspace)
    try:
        folders = {name for name in shelf.names() if PHASE_FOLDER.fullmatch(name)}
    except OSError:
        raise ContentError(f"There is no folder of step files at {folder}.") from None

    _check_folders(shelf, findings)
    further = (Phase.of_folder(key) for key in folders.difference(PHASE_KEYS) if shelf.has_folder(key))
    phases = sorted((*ANALYSIS_PHASES, *further), key=lambda phase: phase.key)
    steps: dict[str, Step] = {}
    for phase in phases:
        reader = StepReader(phase.key, roster, schema, findings)
        for step in reader.read_all(shelf):
            if first := steps.get(step.step_id):
                reader.refuse_twin(step, first)
            else:
                steps[step.step_id] = step
                reader.remark(step)
    _check_dependencies(steps, findings)
    return Agenda(phases, steps.values())


class InvalidStep(Exception):
    """A file that is no valid step; *code* and *facts* are those of the error to show."""

    def __init__(self, code: str, **facts: str) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


class StepReader:
    """Reads the files of one phase."""

    def __init__(self, phase_key: str, roster: Roster, schema: Schema, findings: Findings) -> None:
        self._phase_key = phase_key
        self._roster = roster
        self._schema = schema
        self._findings = findings
        self._speakers = tuple(dict.fromkeys((*(one.name for one in roster), *ORIGINAL_SPEAKERS)))

    def read_all(self, shelf: ContentFolder) -> Iterator[Step]:
        try:
            paths = shelf.markdown(self._phase_key)
        except OSError:
            self._trouble("ERR-STEP-001")
            return
        if not paths:
            self._trouble("ERR-STEP-002")
        for path in paths:
            try:
                yield self._read(path, shelf)
            except InvalidStep as refused:
                self._trouble(refused.code, filename=name_of(path), **refused.facts)

    def refuse_twin(self, step: Step, first: Step) -> None:
        self._trouble(
            "ERR-STEP-006",
            filename=step.filename,
            field_name="step_id",
            value=step.step_id,
            reason=f"{first.phase_key}/{first.filename} has it already",
        )

    def remark(self, step: Step) -> None:
        """Notes about a step that is unusual but works."""
        path = f"{self._phase_key}/{step.filename}"
        phase, number = step.step_id.split("-")
        if not self._phase_key.startswith(f"{phase}-") or not step.filename.startswith(f"{number}-"):
            place = f"{phase}-…/{number}-….md"
            self._findings.note(f"VR-STEP-008 Step {step.step_id} is in {path}, and belongs into {place}.")
        if StepHeading.STANDARD not in step.sections:
            self._findings.note(f"VR-STEP-010 {path} has no Standard Mode section, so all of it is shown.")
        try:
            _ = step.condition
        except BadCondition as error:
            self._trouble("ERR-STEP-009", step_id=step.step_id, expression=step.skip_if, reason=str(error))

    def _read(self, path: Path, shelf: ContentFolder) -> Step:
        try:
            text = shelf.read(path)
            front, body = split(text)
        except UnreadableFile as error:
            raise InvalidStep("ERR-STEP-003", reason=str(error)) from None
        except BadFrontMatter as error:
            raise InvalidStep("ERR-STEP-004", reason=str(error)) from None

        for name in REQUIRED:
            if _is_missing(name, front.get(name)):
                raise InvalidStep("ERR-STEP-005", field_name=name)
        step = self._step(name_of(path), front, body, text.split("\n"))
        if step.persona not in self._roster and step.persona not in self._roster.unusable:
            raise InvalidStep(
                "ERR-STEP-006", field_name="persona", value=step.persona, reason=NO_SUCH_PERSONA
            )
        return step

    def _step(self, filename: str, front: Mapping[str, Any], body: str, rows: Sequence[str]) -> Step:
        found = {SECTIONS[name]: _without_comments(text) for name, text in sections(body, SECTIONS).items()}
        try:
            return Step(
                **{name: front[name] for name in REQUIRED},
                depends_on=self._depends_on(filename, front.get("depends_on")),
                skip_if=self._skip_if(filename, front.get("skip_if")),
                phase_key=self._phase_key,
                filename=filename,
                sections={heading: text for heading, (text, _) in found.items()},
                asks={
                    heading: self._asks(filename, comments, rows)
                    for heading, (_, comments) in found.items()
                    if heading in MODES
                },
                body=_without_comments(body)[0],
                speakers=self._speakers,
            )
        except ValidationError as error:
            name, value, why = problem_sentence(error)
            raise InvalidStep("ERR-STEP-006", field_name=name, value=value, reason=why) from None

    def _asks(self, filename: str, comments: Mapping[int, str], rows: Sequence[str]) -> Mapping[int, Ask]:
        found = {number: self._schema.ask(comment) for number, comment in comments.items()}
        for wrong in dict.fromkeys(comments[number] for number, ask in found.items() if ask is None):
            line = next(at for at, row in enumerate(rows, 1) if f"<!--{wrong}-->" in row)
            self._findings.note(
                f"Line {line} of {self._phase_key}/{filename} says that an answer becomes '{wrong.strip()}', which"
                " is no kind of entries and no field of one. The answer stays a note."
            )
        return {number: ask for number, ask in found.items() if ask}

    def _depends_on(self, filename: str, value: Any) -> tuple[str, ...]:
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self._findings.note(f"Invalid depends_on in {self._phase_key}/{filename}. Ignoring.")
        return ()

    def _skip_if(self, filename: str, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, str) and not (isinstance(value, PlainScalar) and NOT_A_STRING.fullmatch(value)):
            return " ".join(value.split())
        self._findings.note(f"Invalid skip_if in {self._phase_key}/{filename}. Ignoring.")
        return ""

    def _trouble(self, code: str, **facts: str) -> None:
        self._findings.trouble(code, phase_key=self._phase_key, **facts)


def _without_comments(text: str) -> tuple[str, Mapping[int, str]]:
    """The text without the comments at the ends of its questions, and the comments by the numbers of those."""
    if "<!--" not in text:
        return text, {}
    rows = text.split("\n")
    code = in_code(rows)
    number, found = 0, dict[int, str]()
    for at, row in enumerate(rows):
        if at in code or not NUMBERED.fullmatch(row):
            continue
        number += 1
        question, opened, comment = row.rstrip().partition("<!--")
        if opened and comment.endswith("-->"):
            rows[at], found[number] = question.rstrip(), comment.removesuffix("-->")
    return "\n".join(rows), found


def _check_folders(shelf: ContentFolder, findings: Findings) -> None:
    """A folder that begins with a number looks like a phase, so a note says that it is not read as one."""
    for name in shelf.names():
        if name[:1].isdecimal() and not PHASE_FOLDER.fullmatch(name) and shelf.has_folder(name):
            findings.note(
                f"The folder {name_of(Path(name))} is no phase, and nothing in it is read: two digits, a hyphen and"
                " lower-case words make one, such as 05-rollout."
            )


def _is_missing(name: str, value: Any) -> bool:
    """An empty `outputs` is there, but has a bad value."""
    return value is None or (name != "outputs" and isinstance(value, str) and not value.strip())


def _check_dependencies(steps: Mapping[str, Step], findings: Findings) -> None:
    """A step that depends on a later step, on itself or on a missing one never runs at its place: note it at load."""
    earlier: set[str] = set()
    for step in steps.values():
        for dep in step.depends_on:
            if dep not in earlier:
                comes = "comes later" if dep in steps else "does not exist"
                findings.note(f"Step {step.step_id} depends on {dep}, which {comes}.")
        earlier.add(step.step_id)
