"""
`meetings/00-*.yaml`: who says and presses what at which second of the demo, what personas read and propose, and the
caption above the thread. A file that cannot be played is one sentence that names the line.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError

from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.agenda import Playbook
from bot.domain.values.value import Value
from bot.errors import ContentError
from roundtable_eval.files import OF_A_DEMO, line_at, read_yaml, where

CAPTION_WORDS = 12
HOST = "Roundtable"
"""Who posts cards; all others are people and personas."""
_LOOK = re.compile(
    r"search_code (?P<words>\S.*)|read_file (?P<path>[^\s:]+):(?P<first>\d+)(?:-(?P<last>\d+))?"
)


class DemoControl(StrEnum):
    """What people press in the demo."""

    NEXT = "next"
    DISCUSS = "discuss"
    FINISH = "finish"
    END = "end"
    CONTINUE = "continue"
    FILE = "file"
    ACCEPT = "accept"
    ACCEPT_ALL = "accept_all"
    RECORD = "record"
    CHANGES = "changes"
    EXPORT = "export"
    PLAN = "plan"


_PRESSES = {
    DemoControl.NEXT: re.compile("next"),
    DemoControl.DISCUSS: re.compile("discuss"),
    DemoControl.FINISH: re.compile("finish"),
    DemoControl.END: re.compile("end"),
    DemoControl.CONTINUE: re.compile("continue"),
    DemoControl.EXPORT: re.compile("export"),
    DemoControl.PLAN: re.compile("plan"),
    DemoControl.FILE: re.compile(r"file:(?P<value>[a-z_]+)"),
    DemoControl.ACCEPT: re.compile(r"accept (?P<value>[1-9])"),
    DemoControl.ACCEPT_ALL: re.compile("accept all"),
    DemoControl.RECORD: re.compile(r"record (?P<value>[A-H])"),
    DemoControl.CHANGES: re.compile(r"changes (?P<value>[A-Z]+(?:-\d+)+(?:, [A-Z]+(?:-\d+)+)*)"),
}


class ScriptedPress(NamedTuple):
    control: DemoControl
    value: str = ""

    @classmethod
    def read(cls, text: str) -> "ScriptedPress | None":
        for control, pattern in _PRESSES.items():
            if found := pattern.fullmatch(text):
                return cls(control, found.groupdict().get("value") or "")
        return None


class ScriptedLook(NamedTuple):
    """A tool, and what it is given."""

    tool: str
    given: Mapping[str, Any]

    @classmethod
    def read(cls, text: str) -> "ScriptedLook | None":
        found = _LOOK.fullmatch(text)
        if found is None:
            return None
        if words := found["words"]:
            return cls("search_code", {"words": words})
        first = int(found["first"])
        last = int(found["last"] or first)
        return cls("read_file", {"path": found["path"], "first": first, "last": last})


class ScriptedDraft(Value):
    """An entry that a persona proposes. It rests on what *said* said, with *quote* in it, or on lines of code."""

    kind: str
    text: str
    said: str = ""
    quote: str = ""
    sources: tuple[str, ...] = ()


class DemoEvent(Value):
    """*at* is a second of the demo. *look*, *draft*, *ask* and what a persona says are the answers of its model."""

    at: int = Field(ge=0)
    by: str
    see: str = ""
    start: bool = False
    say: str = ""
    press: str = ""
    look: tuple[str, ...] = ()
    draft: tuple[ScriptedDraft, ...] = ()
    ask: str = ""
    card: int = 0
    prompt: str = ""
    end: bool = False

    @property
    def is_of_a_model(self) -> bool:
        return bool(self.look or self.draft or self.ask)


Title = Annotated[str, StringConstraints(min_length=1, max_length=100), BeforeValidator(str)]


class DemoScript(Value):
    """*evidence* are files of code by their paths: personas read them, and nothing is written to the workspace."""

    title: Title
    people: tuple[str, ...] = Field(min_length=1)
    personas: tuple[str, ...] = ()
    evidence: Mapping[str, str] = {}
    turns: tuple[DemoEvent, ...] = Field(min_length=1)

    @property
    def starter(self) -> str:
        return self.turns[0].by


def read_script(path: Path, playbook: Playbook) -> DemoScript:
    """Raises ContentError."""
    given, text = read_yaml(path)
    try:
        script = DemoScript.model_validate(given)
    except ValidationError as error:
        raise ContentError(f"{where(path, text, error)}.") from error
    for number, why in _flaws(script, playbook):
        raise ContentError(f"{path.name}, line {line_at(text, (OF_A_DEMO, number))}: {why}")
    return script


def _flaws(script: DemoScript, playbook: Playbook) -> Iterator[tuple[int, str]]:
    """By event, each a sentence."""
    first_names = {one.first_name for one in playbook.roster}
    everybody = {*script.people, *script.personas, HOST}
    at = 0
    if not script.turns[0].start or script.turns[0].by not in script.people:
        yield 0, "a person has to start: `start: true`."
    for number, one in enumerate(script.turns):
        if one.at < at:
            yield number, f"the time goes back, from {at} to {one.at}."
        at = one.at
        for name in [one.by, *(draft.said for draft in one.draft if draft.said)]:
            if name not in everybody:
                yield number, f"{name} is not among the people or personas of the demo."
            if name in script.personas and name not in first_names:
                yield number, f"there is no persona {name}."
        if one.press and one.by not in script.people:
            yield number, f"{one.by} is no person and presses nothing."
        if one.is_of_a_model and one.by not in script.personas:
            yield number, f"{one.by} is no persona: `look`, `draft` and `ask` are of personas."
        yield from ((number, why) for why in _flaws_of(one, script.evidence, playbook.schema.kinds))


def _flaws_of(event: DemoEvent, files: Collection[str], kinds: Collection[str]) -> Iterator[str]:
    if len(event.see.split()) > CAPTION_WORDS:
        yield f"a caption has at most {CAPTION_WORDS} words."
    press = ScriptedPress.read(event.press)
    if event.press and press is None:
        yield f"nothing can be pressed that is called {event.press!r}."
    if press and press.control is DemoControl.FILE and press.value not in kinds:
        yield f"there is no kind {press.value}."
    if event.prompt and ACTIONS.get(event.prompt) is None:
        yield f"nothing is called {event.prompt!r} that people are asked."
    for look in event.look:
        read = ScriptedLook.read(look)
        if read is None or read.given.get("path", next(iter(files), "")) not in files:
            yield f"a look is `search_code WORDS` or `read_file PATH:LINES` of the evidence, not {look!r}."
    for draft in event.draft:
        if draft.kind not in kinds:
            yield f"there is no kind {draft.kind}."
