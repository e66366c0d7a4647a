"""What is not pushed yet, as the work it was: when a remote was quicker, it is applied again on the remote's tip."""

import json
import logging
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import quote

import pygit2

from bot.domain.transcript.scrubbing import Redacting, redacted
from bot.storage.git.tree import Branch
from bot.storage.git.work import ItemWork

UNPUSHED = "refs/roundtable/unpushed/"

log = logging.getLogger(__name__)


def keep_unpushed(branch: Branch, due: ItemWork) -> None:
    branch.refer(_name(due.work.id), branch.repository.create_blob(due.as_json()))


def unpushed(repository: pygit2.Repository, effect: str) -> ItemWork | None:
    found = repository.references.get(_name(effect)) if effect else None
    kept = repository.get(found.target) if found else None
    with suppress(ValueError, KeyError, TypeError):
        return ItemWork.read(kept.data) if isinstance(kept, pygit2.Blob) else None
    log.warning("what was to be committed as %s cannot be read", effect)
    return None


def scrub_unpushed(branch: Branch, redact: Redacting) -> None:
    """Secrets go from it, too: it may be applied again."""
    repository = branch.repository
    for name in [found for found in repository.references if found.startswith(UNPUSHED)]:
        kept = repository.get(repository.references[name].target)
        if isinstance(kept, pygit2.Blob):
            kinds, value = redacted(json.loads(kept.data), redact)
            if kinds:
                branch.refer(name, repository.create_blob(json.dumps(value).encode()))


def drop_unpushed(branch: Branch, effects: Iterable[str]) -> None:
    """Those that are at the remote."""
    for effect in filter(None, effects):
        branch.refer(_name(effect), None)


def _name(effect: str) -> str:
    return UNPUSHED + quote(effect, safe="").replace(".", "%2E")
