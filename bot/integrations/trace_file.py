"""`roundtable-trace.json`, at the top of the code: what is traced, and what people know of already."""

from collections.abc import Iterable, Mapping

from pydantic import Field, ValidationError

from bot.domain.values.json_files import parse, pretty
from bot.domain.values.value import Value
from bot.errors import ConfigError
from bot.integrations.trace import BaselineRow, TraceFinding

NAME = "roundtable-trace.json"
VERSION = 1
MOST_BYTES = 8 * 1024 * 1024


class TraceFile(Value):
    """
    `record` is a folder, relative to the file. `tests` are globs of tests with unusual names. `accepted` has the digest
    of the words that somebody compared the code with, by address.
    """

    schema_name: str = Field("", alias="$schema")
    version: int = VERSION
    record: str = ""
    items: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    baseline: tuple[BaselineRow, ...] = ()
    accepted: Mapping[str, str] = {}


def read_trace_file(content: bytes | None) -> TraceFile:
    """An empty one where there is no file. Raises ConfigError."""
    if content is None:
        return TraceFile()
    try:
        raw = parse(content.decode())
    except ValueError as error:
        raise ConfigError(f"{NAME} is no JSON: {error}.") from None
    version = raw.get("version", VERSION) if isinstance(raw, dict) else VERSION
    if isinstance(version, int) and version > VERSION:
        raise ConfigError(f"{NAME} is of version {version}; this Roundtable reads {VERSION}. Update it.")
    try:
        return TraceFile.model_validate(raw)
    except ValidationError as error:
        flaw = error.errors()[0]
        where = ".".join(map(str, flaw["loc"]))
        raise ConfigError(f"{NAME} cannot be used: {where or 'all of it'}: {flaw['msg']}.") from None


def text_of(file: TraceFile) -> str:
    """One row of the baseline after the other, so that two branches that change it merge."""
    fields = file.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    schema = {name: fields.pop(name) for name in ("$schema",) if name in fields}
    return pretty({**schema, "version": VERSION, **fields})


def mended(
    file: TraceFile, findings: Iterable[TraceFinding], items: Iterable[str]
) -> tuple[BaselineRow, ...]:
    """The rows of the baseline that are no findings any more. Of items that were not looked at, nothing is known."""
    now = {one.known_as for one in findings}
    seen = {*items, ""}
    return tuple(row for row in file.baseline if row not in now and row.address.partition("/")[0] in seen)


def with_baseline(file: TraceFile, findings: Iterable[TraceFinding], items: Iterable[str]) -> TraceFile:
    """With the *findings*, and with what is known of other items."""
    told = tuple(findings)
    rows = {*file.baseline, *(one.known_as for one in told)}.difference(mended(file, told, items))
    return file.but(baseline=tuple(sorted(rows, key=lambda row: (row.rule, row.address, row.path))))
