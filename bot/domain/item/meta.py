"""
`meta.json`: an item's progress, as people and other tools may leave it (seeds 000 and 001).

Reading is forgiving and says what it forgave; writing gives back everything that it does not understand.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, SkipValidation, ValidationError

from bot.domain.catalog.phases import PHASE_KEYS
from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.values.json_files import parse_kept, pretty, whole
from bot.domain.values.text import clean
from bot.domain.values.value import Stored, Value

# How far an item is: what its meta.json says, once it is understood.


DEFAULT_MAX_TURNS = 10


def _whole(turns: Any) -> Any:
    """As JSON has it, where 7.0 is 7."""
    return turns if (number := whole(turns)) is None else number


class Record(Stored):
    """One elaboration that was held (seed 001 §2.3)."""

    step_id: str
    turn_count: Annotated[int, BeforeValidator(_whole), Field(strict=True, ge=0)]
    personas_active: tuple[str, ...]
    timestamp: str
    synthesis_summary: str


class SlackPlace(Stored):
    """
    The thread an item is discussed in; whether only some can see it, if that is known. `seal` shows that the bot
    itself wrote this: without a valid one, anyone may have written it.
    """

    team_id: str = ""
    channel_id: str = ""
    thread_ts: str = ""
    started_by: str = ""
    private: bool | None = None
    seal: str = ""


class Seats(Stored):
    """
    Who takes part: `personas_active` are keys of personas (none means all), `participants` Slack ids of people, and
    their answers are `due`, by a clock so many seconds east of UTC (`due_offset`). It stands under `roundtable`.
    """

    personas_active: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    due: str = ""
    due_offset: int = 0


class ProgressChange(Stored):
    """
    What of a change the lines carry, so that a replay reproduces it. `restart` forgets the phases and steps done so
    far, and keeps the elaborations. `reopened` are phases that are complete no more, before `phases` are added.
    """

    restart: bool = False
    steps: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()


class ItemProgress(Stored):
    """How far an item is. `depth_overrides` may name depths that do not exist."""

    steps_completed: tuple[str, ...] = ()
    phases_completed: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()

    @property
    def derived_status(self) -> str:
        return status(self.phases_completed)


_Known = TypeVar("_Known", bound=ItemProgress)


class Meta(ItemProgress):
    """What we understand of a meta.json."""

    description: str = ""
    source: str = "manual"
    source_id: str | None = None
    slug: str = ""
    created_at: str = ""
    analysis_status: str = "raw"
    codebase_hash: str = ""
    max_turns: int = DEFAULT_MAX_TURNS
    slack: SlackPlace | None = None
    seats: Seats = Seats()


def status(phases: Collection[object]) -> str:
    """Steps never count, and neither do phases that we do not know."""
    done = sum(phase in phases for phase in PHASE_KEYS)
    if done == 0:
        return "raw"
    return "partial" if done < len(PHASE_KEYS) else "analyzed"


FEWEST_TURNS = 3
STEP_ID = re.compile(r"[0-9]{2}-[0-9]{2}")
LEGACY = "phase_a_completed"
SEATS = "roundtable"
DAY_SECONDS = 24 * 3600
DUE_FIELDS = ("due", "due_offset")


class Corrupt(ValueError):
    """The file is no JSON object; the sentence says why."""


class ParsedMeta(Value):
    """`raw` is the whole file with defaults filled in: what `apply` changes and `write` writes."""

    raw: SkipValidation[Mapping[str, Any]]
    meta: Meta
    troubles: tuple[Trouble, ...] = ()


class MetaChange(ProgressChange):
    """
    What becomes of a meta.json. All of it is added once, however often it is applied. `created` is what a new file
    starts with; where there is one it counts with `restart` only, since a default may stand there. `no_due`: answers
    are due at no time any more.
    """

    slack: SlackPlace | None = None
    codebase_hash: str = ""
    created: Mapping[str, Any] | None = None
    seats: Seats | None = None
    no_due: bool = False


def read(content: bytes, *, now: str) -> ParsedMeta:
    """Raises Corrupt when *content* is no JSON object. *now* stands in for a missing `created_at`."""
    try:
        found = parse_kept(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise Corrupt("meta.json is not UTF-8") from None
    except ValueError as error:
        raise Corrupt(f"meta.json is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Corrupt("meta.json is not a JSON object")

    raw = _with_defaults(_migrated(found), now=now)
    elaborations = tuple(record for each in raw["elaborations"] if (record := _record(each)))
    troubles = _troubles(found, lost_records=len(raw["elaborations"]) - len(elaborations))
    return ParsedMeta(raw=raw, meta=_understood(raw, elaborations), troubles=troubles)


def apply(raw: Mapping[str, Any], change: MetaChange) -> dict[str, Any]:
    """A new meta.json; an empty *raw* means that there is none yet."""
    meta = {**raw, **_again(raw, change)} if raw else _new(change.created or {})
    done = {"steps_completed": change.steps, "phases_completed": change.phases}
    for name, added in done.items():
        before = [] if change.restart else _list(meta.get(name))
        meta[name] = _added([one for one in before if one not in change.reopened], added)
    records = (record.model_dump(mode="json") for record in change.elaborations)
    meta["elaborations"] = _appended(_list(meta.get("elaborations")), records)
    meta["depth_overrides"] = {**_object(meta.get("depth_overrides")), **change.depth_overrides}
    if change.codebase_hash:
        meta["codebase_hash"] = change.codebase_hash
    if change.slack:
        known = {name: fact for name, fact in change.slack.model_dump().items() if fact not in ("", None)}
        meta["slack"] = {**_object(meta.get("slack")), **known}
    if change.seats or change.no_due:
        seats = change.seats or Seats()
        said = {name: fact for name, fact in seats.model_dump(mode="json").items() if fact}
        timed = DUE_FIELDS if seats.due or change.no_due else ()
        kept = {name: fact for name, fact in _object(meta.get(SEATS)).items() if name not in timed}
        meta[SEATS] = {**kept, **said}
    return meta


def add_progress(done: _Known, *changes: ProgressChange) -> _Known:
    """*done* with *changes*, as `apply` adds them to a file; in linear time."""
    steps, phases = dict.fromkeys(done.steps_completed), dict.fromkeys(done.phases_completed)
    depths = {**done.depth_overrides}
    records = [*done.elaborations]
    known = {(one.step_id, one.timestamp) for one in records}
    for change in changes:
        if change.restart:
            steps, phases = {}, {}
        steps.update(dict.fromkeys(change.steps))
        for phase in change.reopened:
            phases.pop(phase, None)
        phases.update(dict.fromkeys(change.phases))
        depths.update(change.depth_overrides)
        for one in change.elaborations:
            if (one.step_id, one.timestamp) not in known:
                known.add((one.step_id, one.timestamp))
                records.append(one)
    return done.but(
        steps_completed=tuple(steps),
        phases_completed=tuple(phases),
        depth_overrides=depths,
        elaborations=tuple(records),
    )


def held_at(raw: Mapping[str, Any], home: SlackPlace, sign: Callable[[SlackPlace], str]) -> dict[str, Any]:
    """
    *raw* with *home*, sealed by *sign*. Fields that others added stay. While we do not know who can see the channel,
    only a file that says "private" is believed.
    """
    slack = {**_object(raw.get("slack")), **home.model_dump(exclude={"private", "seal"})}
    if home.private is not None:
        slack["private"] = home.private
    elif slack.get("private") is not True:
        slack.pop("private", None)
    seal = sign(_place(slack))
    return {**raw, "slack": {**slack, "seal": seal} if seal else slack}


def write(raw: Mapping[str, Any]) -> str:
    """The text of the file. The status is always what the completed phases say, never what the file said."""
    meta = {name: value for name, value in raw.items() if name != LEGACY}
    meta["analysis_status"] = status(_list(meta.get("phases_completed")))
    return pretty(meta)


def _migrated(raw: dict[str, Any]) -> dict[str, Any]:
    """The form before phases were counted: one flag for the whole analysis."""
    if LEGACY not in raw or "analysis_status" in raw:
        return raw
    done = raw[LEGACY] is True
    phases = list(PHASE_KEYS) if done else []
    return {**raw, "analysis_status": status(phases), "phases_completed": phases}


def _with_defaults(raw: dict[str, Any], *, now: str) -> dict[str, Any]:
    """`elaboration_config` gets no default: seed 001 §3.3 leaves it to the reader of the limit."""
    values = dict(raw)
    for name, default in (("analysis_status", "raw"), ("source", "manual"), ("created_at", now)):
        if values.get(name) in (None, "", 0):
            values[name] = default
    for name in ("phases_completed", "steps_completed", "elaborations"):
        values[name] = _list(values.get(name))
    values["depth_overrides"] = _object(values.get("depth_overrides"))
    return values


def _understood(raw: Mapping[str, Any], elaborations: tuple[Record, ...]) -> Meta:
    texts = ("description", "source", "slug", "created_at", "analysis_status", "codebase_hash", "source_id")
    steps = [step for step in _strings(raw["steps_completed"]) if STEP_ID.fullmatch(step)]
    slack = raw.get("slack")
    return Meta(
        **{name: clean(raw[name]) for name in texts if isinstance(raw.get(name), str)},
        phases_completed=tuple(dict.fromkeys(_strings(raw["phases_completed"]))),
        steps_completed=tuple(dict.fromkeys(steps)),
        depth_overrides={clean(phase): _shown(depth) for phase, depth in raw["depth_overrides"].items()},
        elaborations=elaborations,
        max_turns=_max_turns(raw) or DEFAULT_MAX_TURNS,
        slack=_place(slack) if isinstance(slack, dict) else None,
        seats=_seats(_object(raw.get(SEATS))),
    )


def _troubles(found: Mapping[str, Any], *, lost_records: int) -> tuple[Trouble, ...]:
    """What was there and could not be used. What is simply absent is no trouble."""
    config = _object(found.get("elaboration_config"))
    ignored = {
        "ERR-META-004": not isinstance(found.get("steps_completed", []), list),
        "ERR-META-005": not isinstance(found.get("depth_overrides", {}), dict),
        "ERR-ELAB-003": found.get("elaboration_config", {}) != config
        or ("max_turns" in config and _max_turns(found) is None),
        "ERR-ELAB-010": not isinstance(found.get("elaborations", []), list) or lost_records > 0,
    }
    return tuple(trouble(code) for code, event in ignored.items() if event)


def _max_turns(raw: Mapping[str, Any]) -> int | None:
    turns = whole(_object(raw.get("elaboration_config")).get("max_turns"))
    return turns if turns is not None and turns >= FEWEST_TURNS else None


def _record(fields: Any) -> Record | None:
    try:
        return Record.model_validate(fields)
    except ValidationError:
        return None


def _place(slack: Mapping[str, Any]) -> SlackPlace:
    private = slack.get("private")
    known = private if isinstance(private, bool) else None
    names = SlackPlace.model_fields.keys() - {"private"}
    texts = {name: clean(slack[name]) for name in names if isinstance(slack.get(name), str)}
    return SlackPlace(**texts, private=known)


def _seats(found: Mapping[str, Any]) -> Seats:
    return Seats(
        personas_active=tuple(dict.fromkeys(_strings(_list(found.get("personas_active"))))),
        participants=tuple(dict.fromkeys(_strings(_list(found.get("participants"))))),
        due=clean(found["due"]) if isinstance(found.get("due"), str) else "",
        due_offset=_offset(found.get("due_offset")),
    )


def _offset(found: Any) -> int:
    """At most a day: a file may say anything."""
    seconds = whole(found)
    return seconds if seconds is not None and abs(seconds) < DAY_SECONDS else 0


def _again(raw: Mapping[str, Any], change: MetaChange) -> Mapping[str, Any]:
    """
    What is added to a file when its item is started again. `source` and `created_at` in the file may be defaults, and
    wrong: a source without an id is replaced, and the earlier time counts.
    """
    facts = {name: fact for name, fact in (change.created or {}).items() if change.restart and fact}
    known = {name for name in facts if raw.get(name)} - {"created_at"}
    if not raw.get("source_id"):
        known -= {"source"}
    times = [str(one.get("created_at") or "") for one in (raw, facts)]
    since = min(filter(None, times), default="")
    return {
        **{name: fact for name, fact in facts.items() if name not in known},
        **({"created_at": since} if facts else {}),
    }


def _new(created: Mapping[str, Any]) -> dict[str, Any]:
    first = ("description", "source", "source_id", "slug", "created_at")
    return {
        **{name: created[name] for name in first if name in created},
        "analysis_status": "raw",
        "phases_completed": [],
        **{name: fact for name, fact in created.items() if name not in first},
        "steps_completed": [],
        "depth_overrides": {},
        "elaborations": [],
    }


def _added(present: list[Any], names: Iterable[str]) -> list[Any]:
    return [*present, *(name for name in dict.fromkeys(names) if name not in present)]


def _appended(present: list[Any], records: Iterable[dict[str, Any]]) -> list[Any]:
    """An elaboration is known by its step and its time."""
    result = list(present)
    known = {_identity(record) for record in present if isinstance(record, dict)}
    for record in records:
        if _identity(record) not in known:
            known.add(_identity(record))
            result.append(record)
    return result


def _identity(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record.get("step_id")), str(record.get("timestamp"))


def _strings(values: Iterable[Any]) -> list[str]:
    return [clean(value) for value in values if isinstance(value, str)]


def _shown(value: Any) -> str:
    return clean(value) if isinstance(value, str) else repr(value)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
