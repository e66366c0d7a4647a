"""
Files out of entries: each view's text, and the lists of the plan. Every form serves every kind. What is not
settled says so in words wherever it is shown, and a file names only references that exist.
"""

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from bot.domain.catalog.schema import (
    EXCLUSIVE,
    NOTE,
    REMARK,
    FieldType,
    Kind,
    PlanRule,
    Schema,
    SectionView,
    Show,
    ViewForm,
    is_shown,
)
from bot.domain.messages import brief_wording
from bot.domain.messages.attribution_wording import (
    attribution,
    attribution_of,
    attributions,
    credit,
    overtaken,
    together,
)
from bot.domain.specification.brief import in_order
from bot.domain.specification.citations import CodeCitation
from bot.domain.specification.claims import Entry, EntryState, PartyKind
from bot.domain.specification.discussions import IN_POSITIONS
from bot.domain.specification.entries import POSITION, Specification, numbers
from bot.domain.values.markdown import bullet, inert, inert_line
from bot.domain.values.text import clean, counted, csv_cell, values

UNSORTED = "**Said, and not sorted yet**"
ALSO_SAID = "**Also said**"
"""Above notes that answer no question, where others do: Markdown would show both as one list."""
SAID_BY = ("_Said by ", "_Proposed by ", "_Decided by ")
LAST = 1_000
"""Where notes stand that answer no question."""
WITHOUT_VALUE = "none"
WITH_VALUE = "any"


class Projection:
    def __init__(self, schema: Schema, specification: Specification) -> None:
        self._schema = schema
        self._spec = specification

    def view(self, view: SectionView) -> str:
        """The body of the section, empty if nothing belongs there; or the whole of a JSON or CSV file."""
        parts = [self._part(one, view) for one in view.show]
        if view.is_data:
            return parts[0]
        return "\n\n".join(part for part in (*parts, self._notes(view)) if part)

    def items(self, view: SectionView) -> list[dict[str, Any]]:
        """The records of a JSON file."""
        show = view.show[0]
        entries = self.chosen(show, view)
        return [{key: self.get(one, name) for key, name in show.fields.items()} for one in entries]

    def rows(self, view: SectionView) -> list[list[str]]:
        """The rows of a CSV file, the names of its columns first."""
        show = view.show[0]
        entries = self.chosen(show, view)
        records = [
            [csv_cell(clean(";".join(values(self.get(one, name))))) for name in show.fields.values()]
            for one in entries
        ]
        return [list(show.fields), *records]

    def entry(self, show: Show, entry: Entry) -> str:
        """One entry as a bullet with its *show* fields below it."""
        remark = inert(clean(str(entry[REMARK]))) if entry[REMARK] else ""
        return "\n\n".join(filter(None, (self._bullets(show, [entry]), remark)))

    def homeless(self, step_id: str) -> str:
        """The notes of a step whose only files are data, or of none."""
        return "" if self._home(step_id) else self._listed(step_id, is_prose=False)

    def plan(self) -> dict[str, Any]:
        """The lists of planning.ai.json that are made of entries, nested as their dotted keys say."""
        plan: dict[str, Any] = {}
        for path, rule in self._schema.plan.items():
            *above, name = path.split(".")
            place = plan
            for one in above:
                place = place.setdefault(one, {})
            place[name] = list(self._planned(rule))
        return plan

    def get(self, entry: Entry, name: str) -> Any:
        """
        What *name* is for the entry: a field, `id`, `by`, `owner`, `#criterion` (how many parts),
        `criteria.text` (of what it names), `story.traces` (the stories that name it).
        """
        if name == "id":
            return entry.id
        if name == "by":
            return self.who(entry, code=False)
        if name == "state" and name not in self._schema.kinds[entry.kind].fields:
            return self._state(entry)
        if name == "owner" and name not in self._schema.kinds[entry.kind].fields:
            return entry.part_of
        if name.startswith("#"):
            return len(self._spec.parts(entry.id, name[1:]))
        head, _, rest = name.partition(".")
        if rest and head in self._schema.kinds:
            own = {entry.id, *(one.id for one in self._spec.entries.values() if one.part_of == entry.id)}
            return [one.id for one in self._spec.active(head) if not own.isdisjoint(values(one[rest]))]
        if rest:
            named = (self._spec.entries[id] for id in values(entry[head]) if self._spec.lives(id))
            return [one[rest] for one in named]
        field = self._schema.kinds[entry.kind].fields.get(head)
        value = entry[head]
        if field and field.type is FieldType.REF:
            living = [id for id in values(value) if self._spec.lives(id)]
            return living if field.many else next(iter(living), None)
        return [] if field and field.many and value is None else value

    def _state(self, entry: Entry) -> str:
        """Of the entry with its parts: `said` by who accepted it, or by others; else what is open about it."""
        claim = entry.claim(self._schema.kinds[entry.kind].text)
        if entry.state is EntryState.PROPOSED or claim is None:
            return "proposed"
        parts = (one for one in self._spec.entries.values() if one.part_of == entry.id and not one.gone)
        if any(one.stale for one in (entry, *parts)):
            return "contradicted"
        return "accepted" if claim.was_proposed else "said"

    def shown(self, entry: Entry, field: str) -> str:
        """The value as one line of Markdown, with what is open about it."""
        text = inert_line("; ".join(values(self.get(entry, field))))
        kind_field = self._schema.kinds[entry.kind].fields.get(field)
        if kind_field and kind_field.type in EXCLUSIVE and (both := entry.contested(field)):
            text += f" _(open: {', '.join(f'{one.owner.name} says {one.value}' for one in both)})_"
        if pending := entry.pending(field):
            words = "" if pending is entry.claim(field) else f"{_one_line(pending.value)}: "
            text += f" _({words}{_one_line(attribution(pending))})_"
        asked = overtaken(entry, field)
        return f"{text} _({_one_line(asked)})_" if asked else text

    def who(self, entry: Entry, *, code: bool = True) -> str:
        """Who and what *code* its text rests on, or all of it. A dash parts it from the text, so it has none itself."""
        who = attribution_of(entry, self._schema.kinds[entry.kind].text) or attributions(entry)
        return _one_line(who + (_from_code(entry) if code else "")).replace(" — ", ", ")

    # --- forms --------------------------------------------------------------------------------------------------------

    def _part(self, show: Show, view: SectionView) -> str:
        entries = self.chosen(show, view)
        match show.form:
            case ViewForm.FACTS:
                return self._facts(show, entries)
            case ViewForm.BULLETS:
                return self._bullets(show, entries)
            case ViewForm.NUMBERED:
                return self._bullets(show, in_order(entries), sign="1.")
            case ViewForm.HEADINGS:
                return "\n\n".join(self._heading(show, one) for one in entries)
            case ViewForm.TABLE:
                return self._table(show, entries)
            case ViewForm.COUNTS:
                kinds = (self._schema.kinds[key] for key in show.kinds)
                found = ((len(self._spec.active(one.key)), one) for one in kinds)
                rows = (counted(many, one.name.lower(), one.plural.lower()) for many, one in found if many)
                return "\n".join(f"- {row}" for row in rows)
            case ViewForm.CODE:
                return "\n\n".join(self._code(show, one) for one in entries)
            case ViewForm.DIAGRAM:
                return self._diagram(entries)
            case ViewForm.JSON:
                return json.dumps(self.items(view), indent=2, ensure_ascii=False) + "\n"
            case ViewForm.CSV:
                file = io.StringIO()
                csv.writer(file, lineterminator="\r\n").writerows(self.rows(view))
                return file.getvalue()
            case _:
                assert_never(show.form)

    def chosen(self, show: Show | PlanRule, view: SectionView | None = None) -> list[Entry]:
        """The entries that a part shows, in its order. A proposal is in no file but under *Not settled*."""
        found = [one for one in self._spec.accepted(show.kind) if self._fits(one, show.where)]
        if not isinstance(show, Show):
            return found
        if show.here and view:
            found = [one for one in found if view.has_said(one.step)]
        if show.order or show.group:
            found.sort(key=lambda one: (self._rank(one, show.group), self._rank(one, show.order)))
        return found

    def shown_fields(self, view: SectionView, entry: Entry) -> Iterator[str]:
        """The fields that the section shows of it, where it stands by itself or as a part of others."""
        if (kind := self._schema.kinds.get(entry.kind)) is None:
            return
        for show in view.show:
            if show.kind == kind.key:
                if (not show.here or view.has_said(entry.step)) and self._fits(entry, show.where):
                    yield from (kind.text, *show.fields.values(), *filter(None, [show.group]))
            elif kind.key in show.fields and kind.part_of == show.kind:
                yield from kind.fields

    def shows(self, view: SectionView, entry: Entry) -> bool:
        """Whether the section lists it, by itself or as a part of others."""
        return any(self.shown_fields(view, entry))

    def elsewhere(
        self, views: Sequence[SectionView], but: Collection[str], in_blocks: Collection[str] = ()
    ) -> dict[str, str]:
        """
        What people gave that no section of *views* shows, by id; entries that were replaced *but* some, too.
        *in_blocks* are those that the block of a discussion has.
        """
        found: dict[str, str] = {}
        for entry in self._spec.entries.values():
            kind = self._schema.kinds.get(entry.kind)
            if entry.state is EntryState.PROPOSED:
                continue
            is_replaced = entry.state is EntryState.SUPERSEDED and entry.id not in but
            if kind is None or kind.key == NOTE or not (is_replaced or self._spec.lives(entry.id)):
                continue
            shown = {name for view in views for name in self.shown_fields(view, entry) if not is_replaced}
            if entry.kind == POSITION and entry.id in in_blocks:
                shown.update(IN_POSITIONS)
            left = [name for name in kind.fields if name not in shown and _is_of_people(entry, kind, name)]
            if left:
                show = Show(kind=kind.key, form=ViewForm.BULLETS, fields={name: name for name in left})
                by = f"\n  - Replaced by {', '.join(entry.replaced_by)}" if entry.replaced_by else ""
                found[entry.id] = self._bullets(show, [entry]) + by
        return found

    def _fits(self, entry: Entry, where: Mapping[str, Sequence[str]]) -> bool:
        for field, allowed in where.items():
            value = entry[field]
            if WITH_VALUE in allowed and value not in (None, "", []):
                continue
            if (WITHOUT_VALUE if value in (None, "", []) else str(value)) not in allowed:
                return False
        return True

    def _rank(self, entry: Entry, field: str) -> tuple[int, tuple[int, ...]]:
        """By the order of the choices, the highest first; what has no value comes last."""
        if not field:
            return 0, ()
        values = self._schema.kinds[entry.kind].fields[field].of
        ordered = values[::-1] if values[:1] == ("low",) else values
        value = entry[field]
        return (ordered.index(value) if value in ordered else len(ordered)), numbers(entry.id)

    def _facts(self, show: Show, entries: Sequence[Entry]) -> str:
        rows = [
            (self._schema.kinds[one.kind].label(name), text, one)
            for one in entries
            for name in show.fields
            if (text := self.shown(one, name))
        ]
        if not rows:
            return ""
        if show.style == "table":
            body = [
                "| Kind | Files |",
                "| --- | --- |",
                *(f"| {name} | {_cell(text)} |" for name, text, _ in rows),
            ]
        else:
            body = [f"{name}: {text}" for name, text, _ in rows]
        marks = "".join(dict.fromkeys(_doubt(one) for _, _, one in rows))
        return "\n".join([*body, "", f"_{_credits(one for _, _, one in rows)}._{marks}"])

    def _bullets(self, show: Show, entries: Sequence[Entry], sign: str = "-") -> str:
        rows: list[str] = []
        group: str | None = None
        for entry in entries:
            kind = self._schema.kinds[entry.kind]
            named = str(entry[show.group] or "other") if show.group else None
            if named != group:
                group = named
                rows += ["", f"**{str(named).capitalize()}**", ""]
            words, facts = self.shown(entry, kind.text), list(self._labelled(entry, show.fields))
            if not words:
                words, facts = "; ".join(facts), []
            rows.append(f"{sign} **{entry.id}** {words} — {self.who(entry)}{_doubt(entry)}")
            rows += [f"{' ' * len(sign)} - {fact}" for fact in facts]
        return "\n".join(rows).strip("\n")

    def _labelled(self, entry: Entry, names: Iterable[str]) -> Iterator[str]:
        kind = self._schema.kinds[entry.kind]
        for name in names:
            if name not in kind.fields and name in self._schema.kinds:
                parts = self._spec.parts(entry.id, name)
                for part in (one for one in parts if one.state is EntryState.ACCEPTED):
                    words = self.shown(part, self._schema.kinds[name].text)
                    own = (one for one in self._schema.kinds[name].fields if one != REMARK)
                    facts = "; ".join(self._labelled(part, own))
                    yield f"{part.id}: {words}{f' ({facts})' if facts else ''} — {self.who(part)}{_doubt(part)}"
            elif name != kind.text and (text := self.shown(entry, name)):
                yield f"{kind.label(name)}: {text}"

    def _heading(self, show: Show, entry: Entry) -> str:
        kind = self._schema.kinds[entry.kind]
        rows = [f"- {fact}" for fact in self._labelled(entry, show.fields)]
        remark = entry[REMARK]
        return "\n".join(
            [
                f"### {entry.id}: {self.shown(entry, kind.text)}{_doubt(entry)}",
                "",
                *rows,
                *(["", inert(clean(str(remark)))] if remark else []),
                *([""] if rows or remark else []),
                f"_{_credits([entry])}._",
            ]
        )

    def _table(self, show: Show, entries: Sequence[Entry]) -> str:
        """The first cell begins with the id, so that a row that is changed by hand is known again."""
        if not entries:
            return ""
        kind = self._schema.kinds[show.kind]
        ids = [show.id_column] if show.id_column else []
        rows = [[*ids, *map(kind.label, show.fields)]]
        rows.append(["---"] * len(rows[0]))
        for entry in entries:
            first, *rest = (_cell(self.shown(entry, name)) for name in show.fields)
            mark = _doubt(entry)
            lead = [entry.id, first + mark] if ids else [f"{entry.id} {first}{mark}".replace("  ", " ")]
            rows.append([*lead, *rest])
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return f"{table}\n\n_{_by_person(entries)}._"

    def _code(self, show: Show, entry: Entry) -> str:
        named = {name: str(entry[name] or "") for name in ("name", "inputs", "result", "errors")}
        errors = f" | {named['errors']}" if named["errors"] else ""
        signature = entry["signature"] or f"{named['name']}({named['inputs']}) -> {named['result']}{errors}"
        facts = "".join(f"\n- {fact}" for fact in self._labelled(entry, show.fields))
        code = clean(str(signature)).replace("```", "")
        return f"**{entry.id}** — {self.who(entry)}{_doubt(entry)}\n\n```\n{code}\n```{facts}"

    def _diagram(self, entries: Sequence[Entry]) -> str:
        if not entries:
            return ""
        names = dict.fromkeys(str(one[end]) for one in entries for end in ("source", "target") if one[end])
        nodes = {name: f"n{number}" for number, name in enumerate(names, start=1)}
        rows = [f'    {node}["{_quoted(name)}"]' for name, node in nodes.items()]
        for one in entries:
            if one["source"] and one["target"]:
                data = f'|"{_quoted(str(one["data"]))}"|' if one["data"] else ""
                rows.append(f"    {nodes[str(one['source'])]} -->{data} {nodes[str(one['target'])]}")
        return "\n".join(["```mermaid", "flowchart LR", *rows, "```"])

    # --- notes --------------------------------------------------------------------------------------------------------

    def _home(self, step_id: str) -> SectionView | None:
        """The section that shows the notes of a step: its first of prose, else its first."""
        named = (view for view in self._schema.views if step_id in view.steps)
        views = [view for view in named if view.is_page and view.section]
        return next((view for view in views if view.prose), views[0] if views else None)

    def _notes(self, view: SectionView) -> str:
        steps = [step for step in view.steps if (home := self._home(step)) and home.key == view.key]
        return "\n\n".join(text for step in steps if (text := self._listed(step, is_prose=view.prose)))

    def _listed(self, step_id: str, *, is_prose: bool) -> str:
        """In prose the notes are the content, under the questions they answer; elsewhere they are told apart."""
        notes = self._spec.notes_of([step_id])
        if not notes:
            return ""
        if not is_prose:
            return "\n".join([UNSORTED, "", *(self.note(one) for one in notes)])
        groups: dict[tuple[int, str], list[str]] = {}
        for one in notes:
            number = one["question"]
            question = (number, str(one["asked"] or "")) if isinstance(number, int) else (LAST, "")
            groups.setdefault(question, []).append(self.note(one))
        heads = {(number, asked): f"**{bullet(asked)}**" for number, asked in groups if asked}
        if len(groups) > 1:
            heads[LAST, ""] = ALSO_SAID
        return "\n\n".join(
            "\n".join([*([heads[one], ""] if one in heads else []), *groups[one]]) for one in sorted(groups)
        )

    def note(self, entry: Entry) -> str:
        """Verbatim; further lines are indented below the first."""
        first, *more = inert(clean(str(entry["text"]))).splitlines() or [""]
        rows = [
            f"- {self.who(entry)}: {first}{'' if more else _doubt(entry)}",
            *(f"  {row}" for row in more),
        ]
        return "\n".join(row.rstrip() for row in rows) + (_doubt(entry) if more else "")

    # --- the plan -----------------------------------------------------------------------------------------------------

    def _planned(self, rule: PlanRule) -> Iterator[Any]:
        for kind, fixed in rule.kinds.items():
            yield from self._rows(rule.but(kind=kind), {"kind": fixed})
        if rule.kind:
            is_agreed = bool(self._spec.accepted(rule.kind))
            kind = rule.kind if is_agreed or not rule.otherwise else rule.otherwise
            yield from self._rows(rule.but(kind=kind), {})

    def _rows(self, rule: PlanRule, fixed: Mapping[str, str]) -> Iterator[Any]:
        for entry in self.chosen(rule):
            if rule.each:
                yield entry[rule.each]
                continue
            row: dict[str, Any] = {}
            for key, name in rule.fields.items():
                names = (name,) if isinstance(name, str) else name
                found = [
                    value for one in names if (value := self._planned_value(entry, one)) not in (None, "")
                ]
                row[key] = found if not isinstance(name, str) else next(iter(found), None)
            for key, meanings in rule.map.items():
                row[key] = meanings.get(str(row.get(key)).lower(), row.get(key))
            yield {**fixed, **{key: value for key, value in row.items() if value is not None}}

    def _planned_value(self, entry: Entry, names: str) -> Any:
        """Of the first of *names* (`waits|depends`) that the entry's kind has."""
        kind = self._schema.kinds[entry.kind]
        known = (one for one in names.split("|") if is_shown(self._schema, kind, one))
        name = next(known, "")
        return self.get(entry, name) if name else None


def _is_of_people(entry: Entry, kind: Kind, name: str) -> bool:
    """Whether people said or accepted a value that has words, and is more than a reference."""
    field, claim = kind.fields[name], entry.claim(name)
    is_word = field.type is not FieldType.REF and not field.by_people
    return bool(is_word and claim and claim.value and claim.owner.kind is PartyKind.PERSON)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _one_line(value: Any) -> str:
    text = "; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return inert_line(text)


def _quoted(text: str) -> str:
    """Inside the quotes of a Mermaid label."""
    return _one_line(text).replace('"', "'").replace("`", "'")


def _from_code(entry: Entry) -> str:
    """Empty for what rests on no code."""
    claims = [claim for _, claim in entry.current()]
    lines = [line for one in claims for line in (*one.sources, *(quote.line for quote in one.quotes))]
    named = dict.fromkeys(line.replace("`", "'") for line in lines if CodeCitation.read(line))
    return f", from {' and '.join(f'`{one}`' for one in named)}" if named else ""


def _doubt(entry: Entry) -> str:
    return f" _({found})_" if (found := brief_wording.doubt(entry)) else ""


def _credits(entries: Iterable[Entry]) -> str:
    return _one_line(credit(together(attributions(one) + _from_code(one) for one in entries)))


def _by_person(entries: Sequence[Entry]) -> str:
    """`Ada: RSK-001, RSK-003; Grace: RSK-002`."""
    by: dict[str, list[str]] = {}
    for one in entries:
        by.setdefault(_one_line(attributions(one) + _from_code(one)), []).append(one.id)
    return credit("; ".join(f"{who}: {', '.join(ids)}" for who, ids in by.items()))
