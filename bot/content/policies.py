"""The YAML file of `ROUNDTABLE_POLICIES` → Policies. It is checked as a whole: each mistake is one sentence."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bot.content.files import ContentFolder, UnreadableFile
from bot.content.frontmatter import BadFrontMatter, parse
from bot.domain.catalog import budget as spending
from bot.domain.catalog.policy import (
    CHANNEL_ID,
    TEAM_ID,
    AgentsMay,
    ChannelRules,
    GuestsSee,
    Policies,
    PressPolicy,
    TeamLimits,
    quiet_hours,
)
from bot.domain.catalog.steps import Depth
from bot.errors import ConfigError

SETTING = "ROUNDTABLE_POLICIES"
PARTS = ("default", "channels", "teams")
MOST_AT_ONCE = 256
WORDS = {"yes": True, "true": True, "no": False, "false": False}


def read_policies(path: Path, personas: Collection[str]) -> Policies:
    """*personas* are the keys that a cast may name. Raises ConfigError with a sentence for each mistake."""
    try:
        given = parse(ContentFolder(path.parent, None).read(Path(path.name)))
    except (UnreadableFile, OSError, BadFrontMatter) as error:
        why = str(error).replace("the front matter", "the file")
        raise ConfigError(f"{SETTING}: {path} cannot be read: {why}.") from error
    reader = _PolicyReader(personas)
    policies = reader.policies(given)
    if reader.mistakes:
        raise ConfigError(" ".join(f"{SETTING}: {mistake}" for mistake in reader.mistakes))
    return policies


Fields = Mapping[str, tuple[Callable[[Any], Any], str]]
"""By name: what reads a value, and what a value has to be."""


class _PolicyReader:
    def __init__(self, personas: Collection[str]) -> None:
        self._personas = personas
        self.mistakes: list[str] = []
        number = f"a number from 1 to {MOST_AT_ONCE}"
        spent = (spending.budget, "tokens, such as 200000, or money, such as 5.00 USD")
        self._limits: Fields = {
            "calls": (_at_once, number),
            "effects": (_at_once, number),
            "month": spent,
        }
        self._fields: Fields = {
            "start": (_flag, "yes or no"),
            "cast": (self._cast, f"a list of personas: {', '.join(personas)}"),
            "depth": (Depth, "brief, standard or deep"),
            "budget": spent,
            "press": (PressPolicy, "starter, participants or everyone"),
            "quiet_hours": (quiet_hours, "two times, such as 18:00-08:00"),
            "weekends": (_flag, "yes or no"),
            "tools": (_flag, "yes or no"),
            "agents": (AgentsMay, "ask or none"),
            "guests_see": (_guests_see, "a list of code and items, or no"),
        }

    def policies(self, given: Mapping[str, Any]) -> Policies:
        self.mistakes += _unknown(given, PARTS, "the file")
        channels = self._listed(given, "channels")
        teams = self._listed(given, "teams")
        return Policies(
            default=self._rules(given.get("default"), "default"),
            channels={channel: self._of_channel(channel, rules) for channel, rules in channels.items()},
            teams={team: self._of_team(team, limits) for team, limits in teams.items()},
        )

    def _listed(self, given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        found = given.get(name) or {}
        if isinstance(found, Mapping):
            return found
        self.mistakes.append(f"{name} must list {name} by their ids.")
        return {}

    def _of_channel(self, channel: str, rules: Any) -> ChannelRules:
        if not CHANNEL_ID.fullmatch(channel):
            self.mistakes.append(f"{channel!r} is not the id of a channel, such as C042ABCDE.")
        return self._rules(rules, channel)

    def _of_team(self, team: str, limits: Any) -> TeamLimits:
        if not TEAM_ID.fullmatch(team):
            self.mistakes.append(f"{team!r} is not the id of a Slack workspace, such as T012ABCDE.")
        return TeamLimits(**self._read(limits, team, self._limits, such_as="calls: 4"))

    def _rules(self, given: Any, where: str) -> ChannelRules:
        return ChannelRules(**self._read(given, where, self._fields, such_as="depth: brief"))

    def _read(self, given: Any, where: str, fields: Fields, *, such_as: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if given in (None, ""):
            return found
        if not isinstance(given, Mapping):
            self.mistakes.append(f"{where} must have lines such as `{such_as}` below it.")
            return found
        self.mistakes += _unknown(given, fields, where)
        for name, value in given.items():
            if name not in fields:
                continue
            read, form = fields[name]
            try:
                found[name] = read(value)
            except (ValueError, TypeError, AttributeError, KeyError):
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                self.mistakes.append(f"{name} of {where} is {shown!r}, but must be {form}.")
        return found

    def _cast(self, given: Any) -> tuple[str, ...]:
        keys = [given] if isinstance(given, str) else list(given)
        if not keys or any(key not in self._personas for key in keys):
            raise ValueError("unknown personas")
        return tuple(dict.fromkeys(str(key) for key in keys))


def _unknown(given: Iterable[str], known: Iterable[str], where: str) -> Iterator[str]:
    names = list(known)
    for name in given:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            meant = f"; did you mean {close[0]}" if close else ""
            yield f"{where} has {name!r}, which means nothing{meant}."


def _guests_see(given: Any) -> tuple[GuestsSee, ...]:
    """`no` takes back what the default says."""
    if isinstance(given, str) and not WORDS.get(given.lower(), True):
        return ()
    return tuple(dict.fromkeys(map(GuestsSee, [given] if isinstance(given, str) else given)))


def _at_once(given: Any) -> int:
    number = int(given)
    if not 1 <= number <= MOST_AT_ONCE:
        raise ValueError("out of bounds")
    return number


def _flag(given: Any) -> bool:
    return WORDS[given.lower()]
