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
    AgentsMay,
    ChannelRules,
    GuestsSee,
    Policies,
    PressPolicy,
    quiet_hours,
)
from bot.domain.catalog.steps import Depth
from bot.errors import ConfigError

SETTING = "ROUNDTABLE_POLICIES"
PARTS = ("default", "channels")
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


class _PolicyReader:
    def __init__(self, personas: Collection[str]) -> None:
        self._personas = personas
        self.mistakes: list[str] = []
        self._fields: Mapping[str, tuple[Callable[[Any], Any], str]] = {
            "start": (_flag, "yes or no"),
            "cast": (self._cast, f"a list of personas: {', '.join(personas)}"),
            "depth": (Depth, "brief, standard or deep"),
            "budget": (spending.budget, "tokens, such as 200000, or money, such as 5.00 USD"),
            "press": (PressPolicy, "starter, participants or everyone"),
            "quiet_hours": (quiet_hours, "two times, such as 18:00-08:00"),
            "weekends": (_flag, "yes or no"),
            "tools": (_flag, "yes or no"),
            "agents": (AgentsMay, "ask or none"),
            "guests_see": (_guests_see, "a list of code and items, or no"),
        }

    def policies(self, given: Mapping[str, Any]) -> Policies:
        self.mistakes += _unknown(given, PARTS, "the file")
        channels = given.get("channels") or {}
        if not isinstance(channels, Mapping):
            self.mistakes.append("channels must list channels by their ids.")
            channels = {}
        return Policies(
            default=self._rules(given.get("default"), "default"),
            channels={channel: self._of_channel(channel, rules) for channel, rules in channels.items()},
        )

    def _of_channel(self, channel: str, rules: Any) -> ChannelRules:
        if not CHANNEL_ID.fullmatch(channel):
            self.mistakes.append(f"{channel!r} is not the id of a channel, such as C042ABCDE.")
        return self._rules(rules, channel)

    def _rules(self, given: Any, where: str) -> ChannelRules:
        if given in (None, ""):
            return ChannelRules()
        if not isinstance(given, Mapping):
            self.mistakes.append(f"{where} must have lines such as `depth: brief` below it.")
            return ChannelRules()
        self.mistakes += _unknown(given, self._fields, where)
        found = {}
        for name, value in given.items():
            if name not in self._fields:
                continue
            read, form = self._fields[name]
            try:
                found[name] = read(value)
            except (ValueError, TypeError, AttributeError, KeyError):
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                self.mistakes.append(f"{name} of {where} is {shown!r}, but must be {form}.")
        return ChannelRules(**found)

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


def _flag(given: Any) -> bool:
    return WORDS[given.lower()]
