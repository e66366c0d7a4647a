"""
What follows from the settings and git alone. `bot/app.py` builds a bot from this and more; a command that needs no more
loads this, and neither Slack nor stores nor models.
"""

import logging
from collections.abc import Callable
from functools import partial

from bot import keys as derived
from bot.content.entries import read_schema
from bot.content.files import Findings
from bot.domain.catalog.schema import Schema
from bot.domain.privacy.redaction import Redactor, own_rules
from bot.engine.redaction import Redaction
from bot.files import CommittedFiles
from bot.integrations.agreed import AgreedItems
from bot.settings import Settings
from bot.shipped import steps_dir
from bot.storage.git.seal import Seal
from bot.storage.git.tree import files_at, files_at_tip

log = logging.getLogger(__name__)


def secret_redaction(settings: Settings) -> Redaction:
    """Hides the secrets of the settings, secrets that are known by their shape, and what `redact` describes."""
    return Redaction(redactor(settings))


def redactor(settings: Settings) -> Redactor:
    return Redactor(settings.secrets(), own_rules(settings.redact))


def seal(settings: Settings) -> Seal:
    """
    The key that follows from the bot token is good beside those that are set: it is the same for Socket Mode and HTTP,
    and a person who has that token can read the threads anyway.
    """
    keys = [key.get_secret_value().encode() for key in settings.seal_key]
    token = settings.slack_bot_token
    own = [derived.seal_key(token.get_secret_value())] if token else []
    return Seal((*keys, *own), person_key=(keys or own or [b""])[-1])


def read_kinds(settings: Settings) -> Schema:
    """The kinds of entries, bound to no step."""
    findings = Findings()
    found = read_schema(settings.steps or steps_dir(), findings, workspace=settings.workspace)
    for note in findings.notes:
        log.info("%s", note)
    return found


def agreed(settings: Settings, revision: str = "") -> AgreedItems:
    """The items of the commit *revision*, by default of the one that is checked out. Raises ConfigError."""
    root = settings.workspace
    files = files_at(root, revision) if revision else files_at_tip(root)
    return agreed_reader(settings, read_kinds(settings))(files)


def agreed_reader(settings: Settings, schema: Schema) -> Callable[[CommittedFiles], AgreedItems]:
    """How the items of a commit are read."""
    return partial(
        AgreedItems,
        items_dir=str(settings.items_dir),
        schema=schema,
        trusted=seal(settings).lines.trusted,
        redact=secret_redaction(settings),
    )
