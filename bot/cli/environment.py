"""The settings of a command, and its log."""

from collections.abc import Mapping

from bot import log
from bot.domain.privacy.redaction import Redactor, own_rules
from bot.settings import Settings


def read_settings(env: Mapping[str, str], *, level: str = "INFO") -> Settings:
    settings = Settings.from_env(env)
    hide = Redactor(rules=own_rules(settings.redact))
    log.configure(level, secrets=settings.secrets(), redact=lambda text: hide(text).text)
    return settings
