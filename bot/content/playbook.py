"""Reads personas/ and analysis-steps/ into a Playbook, and again when they have changed."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from bot.content.entries import read_schema
from bot.content.files import ContentFolder, Findings, UnreadableFile
from bot.content.personas import read_roster
from bot.content.short_path import read_short_path
from bot.content.steps import read_agenda
from bot.domain.catalog.agenda import Playbook
from bot.domain.values.text import counted
from bot.errors import ContentError


def load(personas: Path, steps: Path, *, workspace: Path | None = None) -> Playbook:
    """
    Everything usable in the two folders, and what is wrong with the rest.

    Other people push to *workspace*, so no link is followed there. Raises ContentError when a folder is missing or no
    persona is usable.
    """
    findings = Findings()
    roster = read_roster(personas, findings, workspace=workspace)
    schema = read_schema(steps, findings, workspace=workspace)
    agenda = read_agenda(steps, roster, schema, findings, workspace=workspace)
    path = read_short_path(steps, agenda, roster, schema, findings, workspace=workspace)
    schema = schema.bound(agenda.steps).planned_in(agenda.plan.step_id)
    if path:
        phases = (agenda.steps_of(card.phase) for card in path.cards)
        schema = schema.with_cards([step.step_id for step in steps] for steps in phases if steps)
    return Playbook(
        roster, agenda, tuple(findings.troubles), tuple(findings.notes), schema=schema, short_path=path
    )


# --- changes of the files -------------------------------------------------------------------------------------------

log = logging.getLogger(__name__)

SUFFIXES = (".md", ".yaml")
FINGERPRINT_CHARACTERS = 12


class ContentWatch:
    """*load* reads the content of *folders*. It is expected to be in use already when the watch is made."""

    def __init__(
        self, load: Callable[[], Playbook], folders: Iterable[Path], *, workspace: Path | None = None
    ) -> None:
        self._load = load
        self._folders = tuple(folders)
        self._workspace = workspace
        self._texts = _texts(self._folders, workspace)
        self.fingerprint = _fingerprint(self._folders, self._texts)
        """Of what is in use: the same wherever the same files are."""

    async def changed(self) -> Playbook | None:
        """The playbook to use from now on; None when nothing changed, or the change cannot be used."""
        texts = await asyncio.to_thread(_texts, self._folders, self._workspace)
        if texts == self._texts:
            return None
        self._texts = texts
        try:
            playbook = await asyncio.to_thread(self._load)
        except ContentError as error:
            log.warning("Steps and personas changed and cannot be used, so the earlier ones stay: %s", error)
            return None
        self.fingerprint = _fingerprint(self._folders, texts)
        steps, personas = len(playbook.agenda.steps), len(playbook.roster)
        found = f"{counted(steps, 'step')}, {counted(personas, 'persona')}"
        log.info("Steps and personas were read again, for every roundtable from its next step on: %s", found)
        return self.marked(playbook)

    def marked(self, playbook: Playbook) -> Playbook:
        """With the fingerprint of what is in use."""
        return replace(playbook, content=self.fingerprint)


def _fingerprint(folders: Iterable[Path], texts: Mapping[Path, str]) -> str:
    named = [
        [
            (path.relative_to(top).as_posix(), texts[path])
            for path in sorted(texts)
            if path.is_relative_to(top)
        ]
        for top in folders
    ]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:FINGERPRINT_CHARACTERS]


def _texts(folders: Iterable[Path], workspace: Path | None) -> Mapping[Path, str]:
    return {path: text for top in folders for path, text in _texts_of(top, ContentFolder(top, workspace))}


def _texts_of(top: Path, shelf: ContentFolder, *below: str) -> Iterator[tuple[Path, str]]:
    """In *top* and the folders in it. The text of an unreadable file is the reason, so that a repair is noticed."""
    try:
        names = shelf.names(*below)
    except OSError:
        return
    for name in names:
        path = Path(*below, name)
        if path.suffix.lower() in SUFFIXES:
            try:
                yield top / path, shelf.read(path)
            except UnreadableFile as error:
                yield top / path, str(error)
        elif not below and not name.startswith("."):
            yield from _texts_of(top, shelf, name)
