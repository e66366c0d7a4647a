"""`short-path.yaml` → ShortPath. A card with a mistake is left out with a finding, and its phase asks its steps."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.content.entries import mapping_of
from bot.content.files import Findings, yaml_file
from bot.domain.catalog.agenda import DROP, MOST_QUESTIONS, Agenda, PathCard, ShortPath
from bot.domain.catalog.personas import Roster
from bot.domain.catalog.schema import Schema
from bot.domain.catalog.steps import Ask

FILE = "short-path.yaml"
PARTS = ("cards", "press", "covers")
FORMS = {
    "title": "a text of 1 to 60 characters",
    "questions": f'a list of 1 to {MOST_QUESTIONS} questions, such as {{text: "What can go wrong?", asks: list risk}}',
    "then": "a text",
}


def read_short_path(
    folder: Path,
    agenda: Agenda,
    roster: Roster,
    schema: Schema,
    findings: Findings,
    *,
    workspace: Path | None = None,
) -> ShortPath | None:
    """None where the folder has no usable file."""
    given = yaml_file(folder, FILE, findings, workspace)
    if given is None:
        return None
    for name in given.keys() - set(PARTS):
        findings.note(f"{FILE} has a part '{name}' that means nothing: the parts are {', '.join(PARTS)}.")
    reader = _PathReader(given, agenda, roster, schema)
    cards: dict[str, PathCard] = {}
    for one in given["cards"] if isinstance(given.get("cards"), list) else ():
        about = mapping_of(one)
        for name in about.keys() - PathCard.model_fields.keys():
            findings.note(
                f"{FILE}: '{name}' means nothing in the card of the phase '{about.get('phase', '')}'."
            )
        try:
            card = reader.card(about, taken=cards)
        except _BadCardError as error:
            findings.note(f"{FILE}: a card of the phase '{about.get('phase', '')}' is left out: {error}.")
        else:
            cards[card.phase] = card
    return ShortPath(cards=tuple(cards[phase] for phase in sorted(cards))) if cards else None


class _BadCardError(ValueError):
    """Says what is wrong with a card, in a part of a sentence."""


class _PathReader:
    def __init__(self, given: Mapping[str, Any], agenda: Agenda, roster: Roster, schema: Schema) -> None:
        self._press, self._covers = mapping_of(given.get("press")), mapping_of(given.get("covers"))
        self._agenda = agenda
        self._roster = roster
        self._schema = schema

    def card(self, about: Mapping[str, Any], *, taken: Collection[str]) -> PathCard:
        """*taken* are the phases that have a card. Raises _BadCardError."""
        phase, persona = str(about.get("phase", "")), str(about.get("persona", ""))
        if phase in taken:
            raise _BadCardError("the phase has one already")
        if phase not in {one.key for one in self._agenda.phases}:
            raise _BadCardError("there is no such phase")
        if persona not in self._roster and persona not in self._roster.unusable:
            raise _BadCardError(f"no persona has the key '{persona}'")
        parts = {
            "questions": [self._question(one) for one in _listed(about.get("questions"))],
            "press": [self._kind(str(one)) for one in _listed(self._press.get(phase))],
            "covers": dict(self._covered(phase)),
        }
        try:
            known = {name: about[name] for name in PathCard.model_fields if name in about}
            return PathCard.model_validate({**known, **parts, "persona": persona})
        except ValidationError as error:
            first = str(error.errors()[0]["loc"][0])
            raise _BadCardError(f"{first} has to be {FORMS[first]}") from None

    def _question(self, given: Any) -> Mapping[str, Any]:
        about = mapping_of(given)
        return {"text": about.get("text"), "asks": self._ask(str(about.get("asks", "")))}

    def _covered(self, phase: str) -> Iterator[tuple[str, list[Ask]]]:
        steps = {step.step_id for step in self._agenda.steps_of(phase)}
        for step_id, kinds in mapping_of(self._covers.get(phase)).items():
            if step_id in steps:  # a folder of steps may leave some out
                yield step_id, [self._ask(str(one)) for one in _listed(kinds)]

    def _ask(self, words: str) -> Ask:
        if ask := self._schema.ask(words):
            return ask
        raise _BadCardError(f"'{words}' is no kind of entries and no field of one")

    def _kind(self, key: str) -> str:
        if key == DROP or key in self._schema.kinds:
            return key
        raise _BadCardError(f"'{key}' is no kind of entries")


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []
