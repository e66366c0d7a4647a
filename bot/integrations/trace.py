"""
What the code shows of what was agreed (docs/trace.md): evidence for every entry, and findings where the code and the
record do not fit.

It only calculates: the lines and commits come from git, the entries from the one reader of the record.
"""

import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from pydantic import Field, ValidationError

from bot.domain.item.item_paths import MARKDOWN
from bot.domain.messages.attribution_wording import credit_inside
from bot.domain.specification.address import CITED
from bot.domain.specification.citations import CitingCommit, CitingRow, CodeCitation
from bot.domain.specification.claims import GONE, EntryState
from bot.domain.specification.exported import item_of
from bot.domain.specification.shown import ShownEntry, ShownItem, TextHistory
from bot.domain.values.file_names import is_at
from bot.domain.values.json_files import parse, pretty
from bot.domain.values.text import one_line
from bot.domain.values.timestamps import seconds
from bot.domain.values.value import Value
from bot.errors import ConfigError

REQUIREMENT, CRITERION = "requirement", "criterion"
KINDS = frozenset({REQUIREMENT, CRITERION, "decision", "quality"})
NOT_URGENT = frozenset({"should", "could"})
WONT = "won't"
LONGEST_ROW = 2_000
"""Characters of a row of code that are read: what stands behind them was written by no person."""
TEXT_CHARS = 80
IDS_NAMED = 10
NEAR_LINES = 10
SHA_CHARS = 9
DIGEST_CHARS = 12
NOW = float("inf")
"""The time of what is in the working tree and was not committed yet."""
TEST_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "e2e", "features"})
TEST_FILES = (
    "test_*", "*_test.*", "*-test.*", "*.test.*", "*_spec.*", "*-spec.*", "*.spec.*",
    "*Test.*", "*Tests.*", "*.feature",
)  # fmt: skip


class Level(StrEnum):
    """How much the code shows of an entry, strongest last."""

    SILENT = "silent"
    SOURCED = "sourced"
    """The code that people looked at when they agreed is still there."""
    CITED = "cited"
    """By the message of a commit, or by a file that is no test."""
    TESTED = "tested"


LEVELS = tuple(Level)


class Rule(StrEnum):
    UNKNOWN_ID = "unknown-id"
    WITHDRAWN_CITED = "withdrawn-cited"
    STALE = "stale"
    UNTESTED = "untested"
    BARE_ID = "bare-id"


class FindingLevel(StrEnum):
    """In the words of SARIF."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class CodeEvidence(Value):
    """A line of a file, with `at` the time of a commit, or a commit. What people looked at names its lines then."""

    level: Level
    path: str = ""
    line: int = 0
    commit: str = ""
    at: float = 0


class BaselineRow(Value):
    """A finding as a baseline remembers it: lines move, and a gap is nowhere."""

    rule: str
    address: str = ""
    path: str = ""


class TraceFinding(Value):
    rule: Rule
    level: FindingLevel
    address: str = ""
    path: str = ""
    line: int = 0
    message: str

    @property
    def known_as(self) -> BaselineRow:
        is_somewhere = self.rule not in {Rule.UNTESTED, Rule.STALE}
        return BaselineRow(rule=self.rule.value, address=self.address, path=self.path if is_somewhere else "")

    def at(self, where: CodeEvidence | None) -> "TraceFinding":
        return self.but(path=where.path, line=where.line) if where else self


class TracedEntry(Value):
    """`gaps` are the ids of criteria that no test names."""

    address: str
    kind: str
    text: str
    priority: str = ""
    said: str = ""
    link: str = ""
    level: Level = Level.SILENT
    gaps: tuple[str, ...] = ()
    evidence: tuple[CodeEvidence, ...] = ()


class Trace(Value):
    """
    Not traced are so many entries that are `proposed`, and so many items that are `private`. So many lines are
    `unsealed` and count all the same.
    """

    version: int = 1
    entries: tuple[TracedEntry, ...] = ()
    findings: tuple[TraceFinding, ...] = ()
    proposed: int = 0
    private: int = 0
    unsealed: int = 0


class AgreedFacts:
    """
    The entries of *items*, gone ones too, by address; of a large record those with the ids *only*. *known* are the
    slugs of all its items, and *asked* those that are traced: the accepted entries of these are `traced`, and `parts`
    are what each of them is made of, by its address. *private* counts items that are not among them.
    """

    def __init__(
        self,
        items: Iterable[ShownItem],
        known: Sequence[str],
        asked: Sequence[str] = (),
        *,
        private: int = 0,
        only: frozenset[str] | None = None,
    ) -> None:
        self.known = known
        self.private = private
        self.items = asked or known
        self._shown = {one.slug: one for one in items}
        self.entries = {
            f"{slug}/{id}": item.show_entry(id)
            for slug, item in self._shown.items()
            for id in item.ids()
            if only is None or id in only
        }
        wanted = [one for one in self.entries.values() if self._is_asked(one)]
        accepted = (one for one in wanted if one.state is EntryState.ACCEPTED)
        self.traced = sorted(accepted, key=lambda one: one.address)
        self.proposed = len(wanted) - len(self.traced)
        self.unsealed = sum(one.unsealed for one in self._shown.values() if one.slug in self.items)
        self.parts: dict[str, list[ShownEntry]] = defaultdict(list)
        for one in self.traced:
            self.parts[_whole_of(one)].append(one)

    def words_of(self, entry: ShownEntry) -> TextHistory:
        return self._shown[entry.item].text_history(entry.id)

    def changed(self, entry: ShownEntry) -> float:
        """When its words became others; 0 for one that says what it said first, and for a time that is none."""
        try:
            return seconds(self.words_of(entry).changed)
        except ValueError:  # lines are text that others may have written
            return 0

    def end_of(self, entry: ShownEntry) -> str:
        """By whom it was taken back, or what is in its place."""
        item = self._shown[entry.item]
        if entry.replaced_by:
            return f"replaced by {', '.join(_credited(item, id) for id in entry.replaced_by)}"
        if by := item.ended_by(entry.id):
            return f"{entry.state.value} by {by}"
        return f"part of {entry.part_of}, which is gone" if entry.part_of else entry.state.value

    def priority(self, entry: ShownEntry) -> str:
        """A criterion is as important as its requirement."""
        return next((str(told) for one in self._within(entry) if (told := one.accepted("priority"))), "")

    def level_of(self, entry: ShownEntry) -> FindingLevel:
        """What nobody ranked is as important as what has to be there."""
        return FindingLevel.WARNING if self.priority(entry) in NOT_URGENT else FindingLevel.ERROR

    def _is_asked(self, entry: ShownEntry) -> bool:
        is_of_items = entry.kind in KINDS and entry.item in self.items
        return is_of_items and entry.state not in GONE and self.priority(entry) != WONT

    def _within(self, entry: ShownEntry) -> Iterator[ShownEntry]:
        """The entry, what it is part of, and so on."""
        seen: set[str] = set()
        found: ShownEntry | None = entry
        while found and found.address not in seen:
            seen.add(found.address)
            yield found
            found = self.entries.get(_whole_of(found))


def digest_of(entry: ShownEntry) -> str:
    """Of the words that code is compared with."""
    return hashlib.sha256(entry.text.encode()).hexdigest()[:DIGEST_CHARS]


def code_of(entry: ShownEntry) -> Iterator[CodeCitation]:
    """What people looked at."""
    sources = (source for told in entry.claims.values() for claim in told for source in claim.sources)
    for source in dict.fromkeys(one for one in sources if isinstance(one, str)):
        if found := CodeCitation.read(source):
            yield found


def _whole_of(entry: ShownEntry) -> str:
    """The address of what it is part of; of no entry, where it is part of none."""
    return f"{entry.item}/{entry.part_of}"


def _credited(item: ShownItem, id: str) -> str:
    """The entry that is in the place of another one."""
    return f"{id}{_credit(item.show_entry(id))}" if id in item.specification.entries else id


def _credit(entry: ShownEntry) -> str:
    """Behind what it is about; empty where nobody is known."""
    told = ", ".join(filter(None, (credit_inside(entry.attribution), entry.link)))
    return f" ({told})" if told else ""


class CodeFacts(NamedTuple):
    """*files* are the paths that git tracks, *tests* globs of what else is a test."""

    rows: Sequence[CitingRow]
    commits: Sequence[CitingCommit]
    files: Collection[str]
    tests: Sequence[str] = ()


def gathered(agreed: AgreedFacts, code: CodeFacts) -> "Gathered":
    """What cites entries, and the code that people looked at when they agreed."""
    reading = Gathered(agreed)
    copies = {row.path for row in code.rows if item_of(row.text[:LONGEST_ROW])}
    folders = _outermost(path.rpartition("/")[0] for path in copies if path.endswith(MARKDOWN))
    for row in code.rows:
        if row.path in copies or _is_inside(row.path, folders):
            continue
        level = Level.TESTED if is_test(row.path, code.tests) else Level.CITED
        reading.take(row.text[:LONGEST_ROW], CodeEvidence(level=level, path=row.path, line=row.line))
    for commit in code.commits:
        reading.take(commit.message, CodeEvidence(level=Level.CITED, commit=commit.sha, at=commit.at))
    for entry in agreed.traced:
        for source in code_of(entry):
            if source.path in code.files:
                looked_at = CodeEvidence(
                    level=Level.SOURCED, path=source.path, line=source.first, commit=source.sha
                )
                reading.evidence[entry.address].append(looked_at)
    reading.findings += reading.bare_ids()
    return reading


def _outermost(folders: Iterable[str]) -> Sequence[str]:
    """Sorted, with a slash behind each, and without those that are in another one."""
    found: list[str] = []
    for folder in sorted({f"{one}/" for one in folders if one}):
        if not (found and folder.startswith(found[-1])):
            found.append(folder)
    return found


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    """Of those that `_outermost` gives, only the last one before *path* can have it."""
    at = bisect_right(folders, path)
    return at > 0 and path.startswith(folders[at - 1])


class Gathered:
    """Evidence of *agreed* entries by address, and what is wrong with the citations themselves."""

    def __init__(self, agreed: AgreedFacts) -> None:
        self.agreed = agreed
        self._known = frozenset(agreed.known)
        self._ids = {address.partition("/")[2] for address in agreed.entries}
        self._bare: dict[str, dict[str, None]] = defaultdict(dict)
        self.evidence: dict[str, list[CodeEvidence]] = defaultdict(list)
        self.findings: list[TraceFinding] = []

    def undated(self) -> tuple[str, ...]:
        """The files whose last change decides whether an entry is stale."""
        changed = filter(self.agreed.changed, self.agreed.traced)
        return tuple(sorted({one.path for entry in changed for one in self.work_on(entry) if one.path}))

    def work_on(self, entry: ShownEntry) -> list[CodeEvidence]:
        """What cites the entry, or one of its parts."""
        cited = (entry, *self.agreed.parts[entry.address])
        found = (one for part in cited for one in self.evidence.get(part.address, ()))
        return [one for one in found if one.level is not Level.SOURCED]

    def take(self, text: str, here: CodeEvidence) -> None:
        """Each address of *text* once."""
        for slug, id in _cited(text):
            if slug:
                self._cite(slug, id, here)
            elif len(self.agreed.items) == 1:
                if f"{self.agreed.items[0]}/{id}" in self.agreed.entries:
                    self._cite(self.agreed.items[0], id, here)
            elif here.path and id in self._ids:
                self._bare[here.path][id] = None

    def bare_ids(self) -> Iterator[TraceFinding]:
        count = len(self.agreed.items)
        for path, ids in self._bare.items():
            told = f"{_listed(tuple(ids))} could be in {count} items: write ITEM/{next(iter(ids))}."
            yield TraceFinding(rule=Rule.BARE_ID, level=FindingLevel.NOTE, path=path, message=told)

    def _cite(self, slug: str, id: str, here: CodeEvidence) -> None:
        address = f"{slug}/{id}"
        entry = self.agreed.entries.get(address)
        if entry is None:
            if flaw := self._unknown(slug, id):
                self._find(Rule.UNKNOWN_ID, address, flaw, here)
        elif entry.state in GONE:
            if not here.commit:  # a message was right when it was written, and stays
                self._find(Rule.WITHDRAWN_CITED, address, f"{address} was {self.agreed.end_of(entry)}.", here)
        else:
            self.evidence[address].append(here)

    def _unknown(self, slug: str, id: str) -> str:
        """Other things are written in this way, too: only an item of the record, or almost one, is meant for sure."""
        if slug in self._known:
            return f"{slug} has no {id}."
        near = _near_name(slug, self._near)
        is_meant = f"{near}/{id}" in self.agreed.entries
        return f"There is no item {slug!r}. Did you mean {near}/{id}?" if is_meant else ""

    @cached_property
    def _near(self) -> Mapping[str, str]:
        return _near_names(self._known)

    def _find(self, rule: Rule, address: str, message: str, here: CodeEvidence) -> None:
        by = f" Commit {here.commit[:SHA_CHARS]} cites it." if here.commit else ""
        found = TraceFinding(rule=rule, level=FindingLevel.ERROR, address=address, message=message + by)
        self.findings.append(found.at(here))


def trace(found: Gathered, *, dates: Mapping[str, float], read: Mapping[str, str]) -> Trace:
    """
    *dates* says when files were last committed (those of `Gathered.undated`). *read* has the digest of the words that
    the code was compared with, by address.
    """
    agreed = found.agreed
    entries = tuple(_traced(one, found) for one in agreed.traced)
    findings = [*found.findings]
    for entry, row in zip(agreed.traced, entries, strict=True):
        if read.get(entry.address) != digest_of(entry):
            findings += _stale(entry, found, dates)
        findings += _untested(entry, row, agreed)
    return Trace(
        entries=entries,
        findings=tuple(findings),
        proposed=agreed.proposed,
        private=agreed.private,
        unsealed=agreed.unsealed,
    )


def _traced(entry: ShownEntry, found: Gathered) -> TracedEntry:
    evidence = found.evidence.get(entry.address, ())
    criteria = [one for one in found.agreed.parts[entry.address] if one.kind == CRITERION]
    parts = [_strongest(found.evidence.get(one.address, ())) for one in criteria]
    return TracedEntry(
        address=entry.address,
        kind=entry.kind,
        text=entry.text,
        priority=found.agreed.priority(entry),
        said=credit_inside(entry.attribution),
        link=entry.link,
        level=max([_strongest(evidence), *parts], key=LEVELS.index),
        gaps=tuple(one.id for one, level in zip(criteria, parts, strict=True) if level is not Level.TESTED),
        evidence=tuple(evidence),
    )


def _strongest(evidence: Iterable[CodeEvidence]) -> Level:
    return max((one.level for one in evidence), key=LEVELS.index, default=Level.SILENT)


def _stale(entry: ShownEntry, found: Gathered, dates: Mapping[str, float]) -> Iterator[TraceFinding]:
    """Only what is cited can be; the code that people looked at was written before."""
    work, agreed = found.work_on(entry), found.agreed
    if not work:
        return
    changed = agreed.changed(entry)
    if agreed.words_of(entry).is_doubtful:
        what = "has to be confirmed again by people, and work cites it"
    elif changed > max(dates.get(one.path, NOW) if one.path else one.at for one in work):
        what = f"changed {datetime.fromtimestamp(changed, UTC):%Y-%m-%d}, after the newest work that cites it"
    else:
        return
    where = next((one for one in work if one.path), work[0])
    told = (
        f"{entry.address} {what}{_credit(entry)}. Read it again, then roundtable trace accept {entry.address}"
    )
    finding = TraceFinding(rule=Rule.STALE, level=agreed.level_of(entry), address=entry.address, message=told)
    yield finding.at(where)


def _untested(entry: ShownEntry, row: TracedEntry, agreed: AgreedFacts) -> Iterator[TraceFinding]:
    if entry.kind != REQUIREMENT or (row.level is Level.TESTED and not row.gaps):
        return
    what = f"no test names {_listed(row.gaps)}" if row.gaps else f"no test names it ({row.level})"
    told = f"{entry.address} “{one_line(entry.text, TEXT_CHARS)}”{_credit(entry)}: {what}."
    found = TraceFinding(
        rule=Rule.UNTESTED, level=agreed.level_of(entry), address=entry.address, message=told
    )
    yield found.at(next((one for one in row.evidence if one.path), None))


def _cited(text: str) -> Iterable[tuple[str, str]]:
    """Items and ids, each pair once; no item where an id stands alone."""
    return dict.fromkeys((found[1] or "", found[2]) for found in CITED.finditer(text))


def _listed(ids: Sequence[str]) -> str:
    more = len(ids) - IDS_NAMED
    return f"{', '.join(ids[:IDS_NAMED])} and {more} more" if more > 0 else ", ".join(ids)


def _shorter(slug: str) -> Iterator[str]:
    """The slug, and with each of its characters left out: two slugs that share one are almost the same."""
    yield slug
    yield from (slug[:at] + slug[at + 1 :] for at in range(len(slug)))


def _near_names(known: Iterable[str]) -> Mapping[str, str]:
    return {form: slug for slug in sorted(known) for form in _shorter(slug)}


def _near_name(slug: str, near: Mapping[str, str]) -> str:
    """The item that is almost called *slug*; empty for none."""
    return next((near[form] for form in _shorter(slug) if form in near), "")


def ids_named(text: str) -> frozenset[str]:
    return frozenset(id for _, id in _cited(text))


def items_named(text: str, known: Sequence[str], asked: Sequence[str] = ()) -> frozenset[str]:
    """The items of *known* that addresses in *text* name, or almost; and the only one, which an id alone means."""
    named = {slug for slug, _ in _cited(text) if slug}
    near = _near_names(known)
    meant = (_near_name(slug, near) for slug in named.difference(known))
    items = asked or known
    return frozenset({*filter(None, meant), *named.intersection(known), *(items if len(items) == 1 else ())})


def is_test(path: str, globs: Sequence[str] = ()) -> bool:
    """By the usual names of many languages, or by one of *globs*."""
    *folders, name = path.split("/")
    return (
        not TEST_FOLDERS.isdisjoint(one.lower() for one in folders)
        or any(fnmatchcase(name, one) for one in TEST_FILES)
        or any(is_at(path, one) for one in globs)
    )


def message_findings(agreed: AgreedFacts, message: str) -> Sequence[TraceFinding]:
    """What the message of a commit that is not made yet cites wrongly."""
    reading = Gathered(agreed)
    for number, row in enumerate(message.splitlines(), start=1):
        reading.take(row, CodeEvidence(level=Level.CITED, line=number))
    return reading.findings


class CodePlace(NamedTuple):
    """A line of a file; all of it without a *line*."""

    path: str
    line: int = 0

    def is_near(self, source: CodeCitation) -> bool:
        if source.path != self.path:
            return False
        return not self.line or source.first - NEAR_LINES <= self.line <= source.last + NEAR_LINES


class ShownReason(Value):
    """An entry that a place in the code has to do with, and how it was found."""

    how: str
    entry: ShownEntry


def why(
    agreed: AgreedFacts, code: CodeFacts, place: CodePlace, *, blamed: Collection[str]
) -> Mapping[str, str]:
    """
    From a place in the code back to the addresses of entries, gone ones too, with how each was found first: by the
    commits that it is *blamed* on, by what stands there, or by what people looked at when they agreed.
    """
    found: dict[str, str] = {}
    only = agreed.items[0] if len(agreed.items) == 1 else ""

    def add(text: str, how: str) -> None:
        for slug, id in _cited(text):
            address = f"{slug or only}/{id}"
            if address in agreed.entries:
                found.setdefault(address, how)

    for commit in code.commits:
        if commit.sha in blamed:
            add(commit.message, f"commit {commit.sha[:SHA_CHARS]} cites it")
    for row in code.rows:
        if row.path == place.path and place.line in {0, row.line}:
            add(row.text[:LONGEST_ROW], f"line {row.line} names it")
    for entry in agreed.entries.values():
        if near := next(filter(place.is_near, code_of(entry)), None):
            found.setdefault(entry.address, f"people looked at {near.label} when they agreed")
    return found


# --- the file of a trace --------------------------------------------------------------------------------------------

TRACE_FILE = "roundtable-trace.json"
TRACE_VERSION = 1
MOST_TRACE_FILE_BYTES = 8 * 1024 * 1024


class TraceFile(Value):
    """
    `record` is a folder, relative to the file. `tests` are globs of tests with unusual names. `accepted` gives,
    for the address of an entry, the digest of its words as they were when somebody compared the code with them.
    """

    schema_name: str = Field("", alias="$schema")
    version: int = TRACE_VERSION
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
        raise ConfigError(f"{TRACE_FILE} is no JSON: {error}.") from None
    version = raw.get("version", TRACE_VERSION) if isinstance(raw, dict) else TRACE_VERSION
    if isinstance(version, int) and version > TRACE_VERSION:
        raise ConfigError(
            f"{TRACE_FILE} is of version {version}; this Roundtable reads {TRACE_VERSION}. Update it."
        )
    try:
        return TraceFile.model_validate(raw)
    except ValidationError as error:
        flaw = error.errors()[0]
        where = ".".join(map(str, flaw["loc"]))
        raise ConfigError(f"{TRACE_FILE} cannot be used: {where or 'all of it'}: {flaw['msg']}.") from None


def write_trace_file(file: TraceFile) -> str:
    """One row of the baseline after the other, so that two branches that change it merge."""
    fields = file.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    schema = {name: fields.pop(name) for name in ("$schema",) if name in fields}
    return pretty({**schema, "version": TRACE_VERSION, **fields})


def find_mended_rows(
    file: TraceFile, findings: Iterable[TraceFinding], items: Iterable[str]
) -> tuple[BaselineRow, ...]:
    """The rows of the baseline that are no findings any more. Of items that were not looked at, nothing is known."""
    now = {one.known_as for one in findings}
    seen = {*items, ""}
    return tuple(row for row in file.baseline if row not in now and row.address.partition("/")[0] in seen)


def add_to_baseline(file: TraceFile, findings: Iterable[TraceFinding], items: Iterable[str]) -> TraceFile:
    """With the *findings*, and with what is known of other items."""
    told = tuple(findings)
    rows = {*file.baseline, *(one.known_as for one in told)}.difference(find_mended_rows(file, told, items))
    return file.but(baseline=tuple(sorted(rows, key=lambda row: (row.rule, row.address, row.path))))
