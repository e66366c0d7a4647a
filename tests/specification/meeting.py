"""A meeting on paper: lines as the transcript has them, and the specification that is folded from them."""

from collections.abc import Iterable, Mapping
from typing import Any

from bot.domain.catalog.schema import Schema
from bot.domain.catalog.steps import Ask
from bot.domain.specification import reader
from bot.domain.specification.claims import Claim, How, Party, PartyKind
from bot.domain.specification.entries import Specification, with_pushed
from bot.domain.specification.fold import Patch
from bot.domain.specification.projection import Projection
from bot.domain.specification.said_entries import Here, reread
from bot.domain.transcript.lines import ENTRIES, Line, LinePhase, Source
from tests.all_steps import shipped_playbook

PLAYBOOK = shipped_playbook()
SCHEMA = PLAYBOOK.schema
QUESTIONS = {step.step_id: step.questions_at(step.depth) for step in PLAYBOOK.agenda.steps}


def claim(
    value: Any, *, by: str = "UADA", name: str = "Ada", line: str = "m1", accepted: bool = True
) -> Claim:
    """What a person said; accepted by themselves, or by nobody."""
    party = Party(kind=PartyKind.PERSON, by=by, name=name, line=line, how=How.TYPED)
    return Claim(value=value, line=line, said=party, proposed=party, accepted=party if accepted else None)


def make_entry(id: str, fields: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The patch of a new entry, of the kind that its id says."""
    kind = SCHEMA.of_id(id)
    assert kind
    return {"id": id, "kind": kind.key, "new": True, "set": fields, **more}


class Meeting:
    """Everything said is one line, folded at once."""

    def __init__(self, schema: Schema = SCHEMA) -> None:
        self.schema = schema
        self.lines: list[Line] = []
        self.specification = Specification()

    def say(
        self,
        who: str,
        step: str,
        text: str,
        *,
        amends: str = "",
        open_questions: Iterable[int] = (),
        asks: Mapping[int, Ask] | None = None,
    ) -> str:
        """A person's message, or the newer words of one; returns the line's id."""
        here = Here(
            schema=self.schema,
            specification=self.specification.without(amends) if amends else self.specification,
            step_id=step,
            person=f"U{who.upper()}",
            name=who,
            questions=QUESTIONS.get(step, ()),
            open_questions=tuple(open_questions),
            asks=asks or {},
        )
        patches = reader.read(text, here).patches
        if amends:
            patches = reread(self.specification.made_by(amends), patches, self.specification, self.schema)
        facts = {"amends": amends} if amends else {}
        return self.add(Source.USER, text, patches, step=step, who=who, **facts)

    def press(self, who: str, *patches: Mapping[str, Any], step: str = "", **facts: str) -> str:
        made = map(Patch.model_validate, patches)
        return self.add(Source.SYSTEM, f"{who} pressed.", made, step=step, who=who, **facts)

    def propose(self, *patches: Mapping[str, Any], step: str = "", **facts: str) -> str:
        """A model's line."""
        return self.add(Source.MODEL, "Proposed.", map(Patch.model_validate, patches), step=step, **facts)

    def push(self, author: str, *patches: Patch) -> str:
        """Changes read back from git."""
        return self.add(Source.SYSTEM, "Changed in git.", patches, git_author=f"git:{author}@4b29257")

    def delete(self, who: str, line: str) -> str:
        return self.add(Source.SYSTEM, f"{who} took it back.", (), who=who, retracts=line)

    def add(
        self,
        source: Source,
        text: str,
        patches: Iterable[Patch],
        *,
        step: str = "",
        who: str = "",
        **facts: str,
    ) -> str:
        id = f"m{len(self.lines) + 1}"
        meta: dict[str, Any] = {"message_id": id, "step_id": step, **facts}
        if who:
            meta |= {"person": f"U{who.upper()}", "user_name": who}
        if made := [patch.as_json() for patch in patches]:
            meta[ENTRIES] = made
        line = Line(
            ts=f"2026-11-22T10:{len(self.lines) // 60:02}:{len(self.lines) % 60:02}.000Z",
            round=1,
            actor={Source.USER: "User", Source.SYSTEM: "PlanningAgent", Source.MODEL: "BusinessAnalyst"}[
                source
            ],
            phase=LinePhase.CLARIFYING,
            role="planning",
            source=source,
            content=text,
            meta=meta,
        )
        line = with_pushed(line, self.specification.entries)
        self.lines.append(line)
        self.specification = self.specification.folding([line])
        return id

    def push_line(self, line: Line) -> None:
        """One that the bot did not write."""
        self.specification = self.specification.folding([line], foreign={line.message_id})

    def __getitem__(self, path: str) -> Any:
        """`FR-001.priority` is the current value."""
        id, _, field = path.partition(".")
        return self.specification.entries[id][field]

    def section(self, name: str) -> str:
        view = next(view for view in self.schema.views if name in {view.section, view.file, view.key})
        return self.projection.view(view)

    @property
    def projection(self) -> Projection:
        return Projection(self.schema, self.specification)

    def stale(self) -> set[str]:
        return {
            f"{one.id}.{field}"
            for one in self.specification.entries.values()
            for field in one.stale
            if not one.gone
        }
