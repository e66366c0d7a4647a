"""
Architecture decisions as files of their own, in MADR's form: `adr/0001-token-bucket.md` is DEC-001.

They are projections like the other files: section by section, and what people change in them is read back. A decision
belongs here when it was said in a phase that selects an architecture (`from: here` in entries.yaml).
"""

import re
from collections.abc import Collection, Iterator, Mapping

from bot.domain.catalog.schema import Schema, SectionView, Show, ViewForm
from bot.domain.item.artifacts import SectionEdit
from bot.domain.messages import brief_wording, discussion_wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import DECISION, POSITION, Specification, numbers
from bot.domain.specification.fold import REPLACES
from bot.domain.specification.projection import Projection
from bot.domain.values.markdown import inert_line
from bot.domain.values.text import bare_words, one_line, paragraphs, values

FOLDER = "adr"
STATUS, CONTEXT = "Status", "Context and Problem Statement"
DRIVERS, OPTIONS = "Decision Drivers", "Considered Options"
OUTCOME, CONSEQUENCES = "Decision Outcome", "Consequences"
NAME_CHARS, TITLE_CHARS = 50, 120
_PATH = re.compile(rf"{FOLDER}/(?P<number>\d{{4,}})-[^/]*\.md")
_OUTCOME = Show(
    kind=DECISION,
    form=ViewForm.BULLETS,
    fields={"reason": "reason", "changes": "changes"},
)
_CONTEXT = Show(kind=DECISION, form=ViewForm.BULLETS, fields={"context": "context"})


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
) -> Iterator[tuple[str, SectionEdit]]:
    """
    Of each decision said in *steps* that people accepted, with its id; also of those that were replaced or taken back
    since. *written* are the digests of what was written before, by key: a file keeps its name.
    """
    if DECISION not in schema.kinds:
        return
    projection = Projection(schema, specification)
    named = {found["number"]: found[0] for key in written if (found := _PATH.match(key))}
    decisions = [
        one
        for one in specification.entries.values()
        if one.kind == DECISION
        and _is_of(one, specification, steps)
        and one["text"]
        and (_number(one) in named or one.state is EntryState.ACCEPTED)
    ]
    paths = {one.id: named.get(_number(one)) or _path(one) for one in decisions}
    for one in decisions:
        title = f"ADR-{_number(one)}: {one_line(str(one['text']), TITLE_CHARS)}"
        for heading, body in (
            (STATUS, _status(one, paths)),
            (CONTEXT, _context(one, specification, projection)),
            (DRIVERS, _drivers(specification)),
            (OPTIONS, _options(one, specification)),
            (OUTCOME, projection.entry(_OUTCOME, one)),
            (CONSEQUENCES, _consequences(one, specification)),
        ):
            path = paths[one.id]
            replaces = written.get(f"{path}#{heading}", "")
            yield (
                one.id,
                SectionEdit(path=path, heading=heading, title=title, body=body, replaces=replaces),
            )


def is_ours(path: str) -> bool:
    """Whether a file of a decision would have such a path."""
    return bool(_PATH.fullmatch(path))


def view_at(path: str, heading: str) -> SectionView | None:
    """How a section that people changed is read back. Status and options follow from other entries."""
    show = {OUTCOME: _OUTCOME, CONTEXT: _CONTEXT}.get(heading)
    if show is None or not _PATH.fullmatch(path):
        return None
    return SectionView(file=path, section=heading, show=(show,))


def _is_of(entry: Entry, specification: Specification, steps: Collection[str]) -> bool:
    """Said in one of *steps*, or in place of a decision that was, wherever that was reversed."""
    todo, seen = [entry.id], set[str]()
    while todo:
        one = specification.entries.get(id := todo.pop())
        if one and one.step in steps:
            return True
        seen.add(id)
        todo += [old for old in values(one[REPLACES] if one else None) if old not in seen]
    return False


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
    named = ", ".join(values(entry["deciders"]))
    claim = entry.claim("text")
    author = (claim.accepted or claim.proposed).name if claim else ""
    rows = [f"- Status: {state}", f"- Deciders: {_words(named or author)}"]
    rows.append(f"- Recorded as {entry.id}{f' by {_words(author)}' if named else ''}")
    if replaced := values(entry[REPLACES]):
        rows.append(f"- Replaces {', '.join(_link(id, paths) for id in replaced)}")
    return "\n".join(rows)


def _link(id: str, paths: Mapping[str, str]) -> str:
    return f"[{id}]({paths[id].rpartition('/')[2]})" if id in paths else id


def _context(entry: Entry, specification: Specification, projection: Projection) -> str:
    """Its own, or what the whole item is about; and the questions that are open."""
    own = projection.entry(_CONTEXT, entry) if entry["context"] else ""
    problems = [] if own else specification.accepted("problem")
    asked = [one for one in specification.accepted("question") if not one["answer"]]
    rows = [f"- {_words(one['text'])} — {_words(attribution_of(one, 'text'))}" for one in problems]
    rows += [f"- {one.id}: {_words(one['text'])} — {_words(attribution_of(one, 'text'))}" for one in asked]
    return paragraphs(own, "\n".join(rows))


def _drivers(specification: Specification) -> str:
    rows = []
    for one in (*specification.accepted("quality"), *specification.accepted("constraint")):
        words = brief_wording.quality(str(one["text"]), str(one["threshold"] or ""))
        rows.append(f"- {one.id}: {_words(words)}")
    return "\n".join(rows)


def _options(entry: Entry, specification: Specification) -> str:
    """
    What was decided, and every option of the discussion that it was made in, or of its step: with what speaks for and
    against it, and who was for it.
    """
    rejected, chosen = values(entry["rejected"]), values(entry["about"])
    options = [
        one
        for one in specification.entries.values()
        if one.id in {*rejected, *chosen}
        or (one.kind == "option" and specification.lives(one.id) and _is_beside(one, entry))
    ]
    options.sort(key=lambda one: one.id not in chosen)
    is_named = any(one.id in chosen for one in options)
    rows = [] if is_named else [f"- {_words(entry['text'])} (chosen)"]
    for one in options:
        name = _words(one["name"] or one["text"] or one.id)
        fate = ", chosen" if one.id in chosen else ", turned down" if one.id in rejected else ""
        rows.append(f"- {name} ({one.id}{fate})")
        rows += [f"  - {fact}" for fact in _facts(one, entry, specification)]
    return "\n".join(rows)


def _facts(option: Entry, decision: Entry, specification: Specification) -> Iterator[str]:
    yield f"Said by {_words(attribution_of(option, next(iter(option.claims), '')))}"
    if option["how"]:
        yield _words(option["how"])
    yield from (f"Good: {_words(text)}" for text in option["pros"] or ())
    yield from (f"Bad: {_words(text)}" for text in option["cons"] or ())
    held = [one for one in specification.active(POSITION) if _is_beside(one, decision)]
    for_it = [
        one for one in held if bare_words(one["option"]) == bare_words(option["name"] or option["text"])
    ]
    if for_it:
        yield f"For it at the end: {', '.join(map(_with_reason, for_it))}"
    names = set(map(_name, for_it))
    if moved := [_name(one) for one in held if _name(one) not in names and _was_for(one, option)]:
        yield f"Moved away: {', '.join(moved)}"


def _was_for(position: Entry, option: Entry) -> bool:
    past = [claim.value for claim in position.claims.get("option", ())[:-1]]
    return bare_words(option["name"] or option["text"]) in map(bare_words, past)


def _consequences(entry: Entry, specification: Specification) -> str:
    rows = [f"- {_words(text)}" for text in entry["consequences"] or ()]
    for id in values(entry["changes"]):
        changed = specification.entries.get(id)
        words = next((claim.value for _, claim in changed.current()), "") if changed else ""
        doubt = brief_wording.doubt(changed) if changed and not changed.gone else ""
        rows.append(f"- Changes {id}: “{_words(words)}”{f' ({doubt})' if doubt else ''}")
    for one in specification.accepted("objection"):
        if _is_against(one, entry):
            fate = "; ".join(filter(None, (str(one["outcome"] or "open"), _words(one["outcome_text"] or ""))))
            by = _words(attribution_of(one, "text"))
            rows.append(f"- Objection of {by} ({one.id}): “{_words(one['text'])}” — {fate}")
    return "\n".join(rows)


def _is_beside(one: Entry, decision: Entry) -> bool:
    """An option, or a position."""
    held = decision["discussion"]
    return one["discussion"] == held if held else one.step[:2] == decision.step[:2]


def _is_against(objection: Entry, decision: Entry) -> bool:
    held, about = decision["discussion"], values(objection["about"])
    is_about = not {decision.id, *values(decision["about"])}.isdisjoint(about)
    return is_about or bool(held and objection["discussion"] == held)


def _name(position: Entry) -> str:
    claim = position.claim("option")
    return _words(claim.owner.name if claim else position["person"])


def _with_reason(position: Entry) -> str:
    why, condition = (_words(position[name] or "") for name in ("why", "condition"))
    return discussion_wording.with_reason(_name(position), why=why, condition=condition)


def _words(value: object) -> str:
    return inert_line(str(value))
