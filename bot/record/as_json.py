"""A record as one JSON document, written piece by piece: a long one is never held whole."""

import json
from collections.abc import Iterable, Iterator

from bot.domain.json_file import pretty
from bot.domain.replay_state import State
from bot.record.entries import Entry


def as_json(entries: Iterable[Entry], state: State, *, slug: str) -> Iterator[str]:
    """`lines` come last; everything before them is the state after the last of them."""
    head = {
        "slug": slug,
        "state": {**state.model_dump(mode="json"), "status": state.progress.analysis_status},
    }
    yield pretty(head).removesuffix("\n}\n") + ',\n  "lines": ['
    between = "\n"
    for entry in entries:
        yield f"{between}    {json.dumps(_fields(entry), ensure_ascii=False)}"
        between = ",\n"
    yield "\n  ]\n}\n"


def _fields(entry: Entry) -> dict[str, object]:
    """What a line does not say is left out; a call nothing is recorded of is an empty one."""
    found = entry._asdict()
    return {
        name: fact for name, fact in found.items() if fact not in ("", None, ()) and (name != "round" or fact)
    }
