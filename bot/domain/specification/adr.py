"""
Architecture decisions as files of their own, in MADR's form: `adr/0001-token-bucket.md` is DEC-001.

They are projections like the other files: section by section, and what people change in them is read back. A decision
belongs here when it was said in a phase that selects an architecture (`from: here` in entries.yaml).
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from bot.domain.catalog.schema import Schema, SectionView, Show, ViewForm
from bot.domain.specification.entries import Entry, EntryState, Specification, numbers
from bot.domain.specification.projection import NOTHING, Projection
from bot.domain.values.markdown import inert
from bot.domain.values.text import clean, one_line

FOLDER = "adr"
DECISION = "decision"
STATUS, CONTEXT = "Status", "Context and Problem Statement"
OPTIONS, OUTCOME = "Considered Options", "Decision Outcome"
NAME_CHARS, TITLE_CHARS = 50, 120
_PATH = re.compile(rf"{FOLDER}/(?P<number>\d{{4,}})-[^/]*\.md")
_OUTCOME = Show(
    kind=DECISION,
    form=ViewForm.BULLETS,
    fields={"reason": "reason", "consequences": "consequences", "changes": "changes"},
)
_CONTEXT = Show(kind=DECISION, form=ViewForm.BULLETS, fields={"context": "context"})


class AdrSection(NamedTuple):
    id: str
    path: str
    title: str
    heading: str
    body: str

    @property
    def key(self) -> str:
        return f"{self.path}#{self.heading}"


def selecting(schema: Schema) -> frozenset[str]:
    """The steps whose sections show the decisions that were made there: there an architecture is selected."""
    return frozenset(
        step
        for view in schema.views
        if any(one.kind == DECISION and one.form is ViewForm.HEADINGS and one.here for one in view.show)
        for step in view.steps
    )


def sections(
    schema: Schema, specification: Specification, steps: Collection[str], written: Mapping[str, str]
) -> Iterator[AdrSection]:
    """
    Of each decision said in *steps* that people accepted, also of those that were replaced or taken back since.
    *written* are the keys of what was written before: a file keeps its name.
    """
    if DECISION not in schema.kinds:
        return
    projection = Projection(schema, specification)
    named = {found["number"]: found[0] for key in written if (found := _PATH.match(key))}
    decisions = [
        one
        for one in specification.entries.values()
        if one.kind == DECISION
        and one.step in steps
        and one["text"]
        and (_number(one) in named or one.state is EntryState.ACCEPTED)
    ]
    paths = {one.id: named.get(_number(one)) or _path(one) for one in decisions}
    for one in decisions:
        title = f"ADR-{_number(one)}: {one_line(str(one['text']), TITLE_CHARS)}"
        for heading, body in (
            (STATUS, _status(one, paths)),
            (CONTEXT, projection.entry(_CONTEXT, one) if one["context"] else NOTHING),
            (OPTIONS, _options(one, specification)),
            (OUTCOME, projection.entry(_OUTCOME, one)),
        ):
            yield AdrSection(one.id, paths[one.id], title, heading, body)


def is_ours(path: str) -> bool:
    """Whether a file of a decision would have such a path."""
    return bool(_PATH.fullmatch(path))


def view_at(path: str, heading: str) -> SectionView | None:
    """How a section that people changed is read back. Status and options follow from other entries."""
    show = {OUTCOME: _OUTCOME, CONTEXT: _CONTEXT}.get(heading)
    if show is None or not _PATH.fullmatch(path):
        return None
    return SectionView(file=path, section=heading, show=(show,))


def _number(entry: Entry) -> str:
    return f"{numbers(entry.id)[-1]:04}"


def _path(entry: Entry) -> str:
    words = re.findall(r"[a-z0-9]+", str(entry["text"]).casefold())
    name = "-".join(words)[:NAME_CHARS].strip("-") or DECISION
    return f"{FOLDER}/{_number(entry)}-{name}.md"


def _status(entry: Entry, paths: Mapping[str, str]) -> str:
    state = str(entry.state.value)
    if entry.state is EntryState.SUPERSEDED and entry.replaced_by:
        state = f"superseded by {', '.join(_link(id, paths) for id in entry.replaced_by)}"
    elif entry.stale:
        state += ", to be confirmed again"
    deciders = entry["deciders"]
    named = ", ".join(map(str, deciders)) if isinstance(deciders, list | tuple) else ""
    claim = entry.claim("text")
    author = (claim.accepted or claim.proposed).name if claim else ""
    rows = [f"- Status: {state}", f"- Deciders: {_words(named or author)}"]
    rows.append(f"- Recorded as {entry.id}{f' by {_words(author)}' if named else ''}")
    replaced = entry["replaces"]
    if isinstance(replaced, list | tuple) and replaced:
        rows.append(f"- Replaces {', '.join(_link(str(id), paths) for id in replaced)}")
    return "\n".join(rows)


def _link(id: str, paths: Mapping[str, str]) -> str:
    return f"[{id}]({paths[id].rpartition('/')[2]})" if id in paths else id


def _options(entry: Entry, specification: Specification) -> str:
    """What was decided, and the other options: those of the discussion that the decision was made in."""
    rejected, held = _ids(entry["rejected"]), entry["discussion"]
    chosen = _ids(entry["about"])
    others = [
        one
        for one in specification.entries.values()
        if one.id in rejected
        or (held and one.kind == "option" and one["discussion"] == held and specification.lives(one.id))
    ]
    rows = [f"- {_words(entry['text'])} (chosen)"]
    for one in others:
        if one.id not in chosen:
            down = ", turned down" if one.id in rejected else ""
            rows.append(f"- {_words(one['name'] or one['text'] or one.id)} ({one.id}{down})")
            rows += [f"  - For: {_words(text)}" for text in one["pros"] or ()]
            rows += [f"  - Against: {_words(text)}" for text in one["cons"] or ()]
    return "\n".join(rows)


def _ids(found: object) -> tuple[str, ...]:
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()


def _words(value: object) -> str:
    return inert(" ".join(clean(str(value)).split()))
