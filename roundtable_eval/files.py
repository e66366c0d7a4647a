"""Reads `meetings/*.yaml`. A file that cannot be read is one sentence that names it and what is wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.content.files import ContentFolder, UnreadableFile
from bot.content.frontmatter import BadFrontMatter, parse
from bot.domain.catalog.personas import Roster
from bot.errors import ContentError
from roundtable_eval.meeting import Meeting

SUFFIXES = (".yaml", ".yml")
OF_A_DEMO = "turns"
"""The part of a file that `roundtable try --demo` plays; it is no meeting to be scored."""


def read_yaml(path: Path) -> tuple[Mapping[str, Any], str]:
    """What the file says, and its text. Raises ContentError."""
    try:
        text = ContentFolder(path.parent, None).read(Path(path.name))
        return parse(text), text
    except UnreadableFile as error:
        raise ContentError(f"{error}.") from error
    except (OSError, BadFrontMatter) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ContentError(f"{path.name} cannot be read: {reason}.") from error


def read_meetings(folder: Path, roster: Roster) -> tuple[Meeting, ...]:
    """All of *folder*, by name, without demos. Raises ContentError."""
    names = [one for one in ContentFolder(folder, None).names() if one.endswith(SUFFIXES)]
    paths = [folder / name for name in sorted(names) if OF_A_DEMO not in read_yaml(folder / name)[0]]
    if not paths:
        raise ContentError(f"There is no meeting in {folder}: a meeting is a file that ends with .yaml.")
    return tuple(read_meeting(path, roster) for path in paths)


def read_meeting(path: Path, roster: Roster) -> Meeting:
    """Raises ContentError."""
    given, _ = read_yaml(path)
    try:
        meeting = Meeting.model_validate({**_turned(given), "key": path.stem})
    except (ValidationError, TypeError, AttributeError, ValueError) as error:
        raise ContentError(f"{path.name} is not a meeting: {_reason(error)}.") from error
    personas = {one.first_name for one in roster}
    if meeting.thread[0].name not in personas:
        raise ContentError(f"{path.name} is not a meeting: a persona has to open the thread.")
    if unknown := sorted(set(meeting.evidence) - personas - {"all"}):
        raise ContentError(
            f"{path.name} is not a meeting: there is no persona {unknown[0]} for the evidence."
        )
    if wrong := [one.name for one in meeting.thread if one.decides and one.name in personas]:
        raise ContentError(f"{path.name} is not a meeting: {wrong[0]} is a persona and cannot decide.")
    return meeting


def _turned(given: Mapping[str, Any]) -> dict[str, Any]:
    """`- Ada: Never lose an edit.` and `- Maya: {says: …, stances: […]}` as turns."""
    found = dict(given)
    for part in ("answers", "thread"):
        if part in found:
            found[part] = [_turn(one) for one in found[part] or ()]
    return found


def _turn(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or len(given) != 1:
        raise ValueError("each turn is one name with what is said, such as `- Ada: Yes.`")
    ((name, said),) = given.items()
    return {"name": str(name), **(said if isinstance(said, Mapping) else {"says": str(said)})}


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"{where}: {first['msg'].lower()}" if where else str(first["msg"]).lower()
    return str(error)
