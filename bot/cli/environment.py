"""The settings of a command, and its log."""

from collections.abc import Mapping

from bot import log
from bot.cli.options import TEAM
from bot.domain.privacy.redaction import Redactor, own_rules
from bot.errors import ConfigError
from bot.settings import Settings

NO_TEAM = "There are several workspaces. Say which one before the command, with --team and one of: %s."
ALL_TEAMS = "This command is about all workspaces: leave out --team."
ONE_TEAM = "--team is for several workspaces: set SLACK_CLIENT_ID, or leave it out."


def read_settings(env: Mapping[str, str], *, level: str = "INFO", of_all: bool = False) -> Settings:
    """Where there are several workspaces, most commands are about one."""
    settings = Settings.from_env(env)
    team = TEAM.get()
    if settings.several and not of_all:
        if team not in settings.teams:
            raise ConfigError(NO_TEAM % ", ".join(settings.teams))
        settings = settings.of_team(team)
    elif team:
        raise ConfigError(ALL_TEAMS if settings.several else ONE_TEAM)
    hide = Redactor(rules=own_rules(settings.redact))
    log.configure(level, secrets=settings.secrets(), redact=lambda text: hide(text).text)
    return settings
