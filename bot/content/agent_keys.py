"""
ROUNDTABLE_AGENT_KEYS: a JSON file with the keys of coding agents. It holds no secret, only what one is compared with.

It is read for each request, so that a key that was withdrawn opens nothing any more.
"""

from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.domain.catalog.policy import AgentKey
from bot.domain.values.json_files import pretty
from bot.errors import ContentError, lacks_extra
from bot.files import CONTENT_BYTES, chosen, folder

SETTING = "ROUNDTABLE_AGENT_KEYS"
NOT_INSTALLED = f"{SETTING} names keys, but nothing is served to agents: {lacks_extra('mcp')}"
NO_KEYS = "no key yet: roundtable key create NAME --owner U… prints one"
MOST_KEYS = 200

_KEYS = TypeAdapter(tuple[AgentKey, ...])


def read_keys(path: Path) -> tuple[AgentKey, ...]:
    """None where there is no file yet. Raises ContentError with a sentence that quotes no value of the file."""
    try:
        keys = _KEYS.validate_json(chosen(path, CONTENT_BYTES))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ContentError(f"{SETTING}: the file cannot be read ({error.strerror}).") from None
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the file"
        raise ContentError(f"{SETTING}: {where}: {problem['msg']}.") from None
    if len({one.name for one in keys}) < len(keys) or len(keys) > MOST_KEYS:
        raise ContentError(f"{SETTING}: at most {MOST_KEYS} keys are read, each with a name of its own.")
    return keys


def write_keys(path: Path, keys: Iterable[AgentKey]) -> None:
    """In place of what is there, at once. Raises ContentError."""
    content = pretty([one.model_dump(mode="json") for one in keys]).encode()
    try:
        with folder(path.absolute().parent) as place:
            place.replace(path.name, content)
    except OSError as error:
        raise ContentError(f"{SETTING}: the file cannot be written ({error.strerror}).") from None
