"""
What the card of a step lists of the record: its entries, suggested ones, and answers. A list that is longer than its
room ends with a button, which shows all of it to one person.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial

from bot.domain.catalog.schema import Kind, SectionView, ViewForm
from bot.domain.catalog.steps import SHARED
from bot.domain.messages import discussion_wording, specification_wording, step_wording
from bot.domain.messages.attribution_wording import attribution, attribution_of
from bot.domain.messages.message import Action, CardPart, CardRow, Choice
from bot.domain.messages.step_scene import StepScene, UnsortedNote
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import NOT_LISTED
from bot.domain.specification.projection import Projection
from bot.domain.values.text import one_line, value_text

ENTRIES_SHOWN = 12
PARTS_SHOWN = 4
"""Of one entry."""
ROW_CHARS = 300
DOUBT_CHARS = 160
SIGNATURE = ("inputs", "result", "errors")
Block = Callable[[], Sequence[CardRow]]
"""Makes rows that stand or are left out together; of a long list only those that are shown are made."""
READ = Choice(action=Action.READ, label="Read all")
_MORE_PARTS = re.compile(r"and [0-9]+ more")


# --- lists that are cut -----------------------------------------------------------------------------------------------


def cut(
    scene: StepScene, part: CardPart, blocks: Sequence[Block], most: int = ENTRIES_SHOWN
) -> Iterator[CardPart]:
    """*part* with the first blocks of rows, and how many are left out; nothing where there are none."""
    shown = blocks if scene.is_whole else blocks[:most]
    rows = tuple(row for block in shown for row in block())
    if rows:
        yield part.but(rows=rows)
    if len(blocks) > len(shown) or any(_is_cut(row) for row in rows):
        yield rest(scene, len(blocks) - len(shown))


def rest(scene: StepScene, left: int) -> CardPart:
    """*left* are not shown, or parts of some that are shown."""
    return CardPart(prose=more(left) if left else step_wording.LONGER, button=READ.but(value=scene.step_id))


def more(count: int) -> str:
    return f"and {count} more"


def _is_cut(row: CardRow) -> bool:
    """In place of the parts of one entry that are not shown."""
    return row.level > 0 and not row.id and bool(_MORE_PARTS.fullmatch(row.text))


# --- entries one by one -----------------------------------------------------------------------------------------------


def say_who(scene: StepScene, entry: Entry, field: str) -> str:
    """Who stands behind what is shown: a value of *field* that is proposed, or the words."""
    kind = scene.schema.kinds.get(entry.kind)
    words = (entry.claim(kind.text) if kind else None) or entry.first
    claim = entry.pending(field) if field else words
    return one_line(attribution(claim), DOUBT_CHARS) if claim else ""


def list_values(scene: StepScene, entry: Entry, field: str) -> Iterator[str]:
    """Its further values: what is accepted with it stands where it is accepted."""
    kind = scene.schema.kinds.get(entry.kind)
    for name, claim in entry.current() if kind and not field else ():
        if kind and name in kind.fields and name != kind.text and claim.value not in (None, "", []):
            doubt = f" ({one_line(attribution(claim), DOUBT_CHARS)})" if claim.is_unchecked else ""
            yield f"{kind.label(name)}: {one_line(value_text(claim.value), ROW_CHARS)}{doubt}"


def put_in_words(scene: StepScene, entry: Entry, field: str) -> str:
    """`AC for FR-002: …`, `Risk: …`, `FR-001 priority: must`."""
    kind = scene.schema.kinds.get(entry.kind)
    if kind and field:
        claim = entry.pending(field) or entry.claim(field)
        words = one_line(value_text(claim.value), ROW_CHARS) if claim else ""
        return f"{entry.id} {kind.label(field).lower()}: {words}"
    words = words_of(scene, entry)
    if not kind:
        return words
    about = f" for {entry.part_of}" if entry.part_of else ""
    return words if _is_main(kind, scene) else f"{label_of(kind)}{about}: {words}"


def quote_newest(entry: Entry) -> str:
    """The words of a decision or an objection that its author is asked about."""
    claim = entry.pending("text") or entry.claim("text")
    return f"“{one_line(str(claim.value), ROW_CHARS)}”" if claim else ""


# --- entries as they would be saved -------------------------------------------------------------------------------


def list_recorded(scene: StepScene) -> list[Block]:
    """For each entry its row, and the rows below it."""
    projection = Projection(scene.schema, scene.specification)
    hidden = {one.id for one in scene.listed_suggestions if not one.field}
    entries = (
        partial(_entry, scene, projection, names, entry)
        for entry, names in _entries_in(scene.schema.of_step(scene.step_id), projection).values()
        if entry.id not in hidden
    )
    return [*entries, *_answers(scene), *list_recorded_elsewhere(scene)]


def _entries_in(views: Iterable[SectionView], projection: Projection) -> dict[str, tuple[Entry, list[str]]]:
    """The entries that sections show, with the names of the fields."""
    found: dict[str, tuple[Entry, list[str]]] = {}
    for view in views:
        for show in view.show:
            if show.form in {ViewForm.DIAGRAM, ViewForm.COUNTS}:
                continue
            for entry in projection.chosen(show, view):
                _, names = found.setdefault(entry.id, (entry, []))
                names += (*(SIGNATURE if show.form is ViewForm.CODE else ()), *show.fields.values())
    return found


def list_recorded_elsewhere(scene: StepScene) -> list[Block]:
    """What was recorded in this step for another section: a decision, an objection, a risk."""
    projection = Projection(scene.schema, scene.specification)
    shown = _entries_in(scene.schema.of_step(scene.step_id), projection)
    return [partial(_entry, scene, projection, (), one) for one in _recorded_besides(scene, shown)]


def _recorded_besides(scene: StepScene, shown: Container[str]) -> Iterator[Entry]:
    listed = scene.schema.kinds.keys() - NOT_LISTED
    for one in scene.specification.besides_notes:
        is_here = one.step == scene.step_id and one.id not in shown and one.state is EntryState.ACCEPTED
        if is_here and one.kind in listed and not (one.part_of or one.gone):
            yield one


def _entry(scene: StepScene, projection: Projection, fields: Iterable[str], entry: Entry) -> list[CardRow]:
    kind = scene.schema.kinds[entry.kind]
    names = tuple(dict.fromkeys(fields))
    facts = [
        f"{kind.label(name)}: {text}"
        for name in names
        if name in kind.fields and name != kind.text and (text := projection.shown(entry, name))
    ]
    words = projection.shown(entry, kind.text)
    if words and not _is_main(kind, scene):
        words = f"{label_of(kind)}: {words}"
    if not words:
        words, facts = " · ".join(facts), []
    side = scene.sides.get(entry.id)
    words = f"**{side.option.letter}** {words}" if side else words
    rows = [CardRow(id=entry.id, text=one_line(words, ROW_CHARS), aside=_aside(scene, entry))]
    if side and side.people:
        rows.append(CardRow(text=one_line(discussion_wording.for_it(side.people), ROW_CHARS), level=1))
    suggested = {one.id for one in scene.open_suggestions}
    parts = [
        CardRow(
            id=part.id,
            text=one_line(projection.shown(part, scene.schema.kinds[part.kind].text), ROW_CHARS),
            aside=_aside(scene, part),
            level=1,
        )
        for name in names
        if name in scene.schema.kinds
        for part in scene.specification.parts(entry.id, name)
        if part.id not in suggested
    ]
    rows += parts if scene.is_whole else parts[:PARTS_SHOWN]
    if len(parts) > PARTS_SHOWN and not scene.is_whole:
        rows.append(CardRow(text=more(len(parts) - PARTS_SHOWN), level=1))
    if facts:
        rows.append(CardRow(text=one_line(" · ".join(facts), ROW_CHARS), level=1))
    return rows


def _aside(scene: StepScene, entry: Entry) -> str:
    words = _lacking(scene, entry.id)
    if entry.state is EntryState.PROPOSED:
        words.append(say_who(scene, entry, ""))
    if entry.stale:
        words.append("to be confirmed again")
    return ", ".join(words)


def _lacking(scene: StepScene, id: str) -> list[str]:
    gaps = (gap for gap in scene.missing if gap.id == id)
    names = (specification_wording.field_name(gap, scene.schema) for gap in gaps)
    return [f"no {name} yet" for name in dict.fromkeys(names)]


def _answers(scene: StepScene) -> list[Block]:
    """
    Notes that are no longer to be sorted: in sections of prose they are the content, under their questions. In others,
    those that an entry quotes stand in that.
    """
    spec, is_prose = scene.specification, scene.schema.is_prose(scene.step_id)
    waiting = {one.id for one in scene.unsorted}
    groups: dict[tuple[int, str], list[Entry]] = {}
    for note in spec.notes_of([scene.step_id]):
        if note.id not in waiting and (is_prose or not spec.is_quoted(note)):
            number = note["question"] if "question" in note.claims else None
            question = (number, str(note["asked"] or "")) if isinstance(number, int) else (0, "")
            groups.setdefault(question, []).append(note)
    blocks: list[Block] = []
    for (number, text), notes in sorted(
        groups.items(), key=lambda one: one[0][0] or len(scene.questions) + 1
    ):
        if number:
            blocks.append(partial(_answered, CardRow(id=f"{number}.", text=text), notes))
        else:
            blocks += [partial(_note_rows, [note], level=0) for note in notes]
    return blocks


def _answered(question: CardRow, notes: Sequence[Entry]) -> list[CardRow]:
    return [question, *_note_rows(notes, level=1)]


def _note_rows(notes: Sequence[Entry], *, level: int) -> list[CardRow]:
    words = ((attribution_of(one, "text"), one_line(str(one["text"]), ROW_CHARS)) for one in notes)
    return [CardRow(text=f"{who}: {said}", level=level) for who, said in words]


def words_of(scene: StepScene, entry: Entry) -> str:
    kind = scene.schema.kinds.get(entry.kind)
    return one_line(str(entry[kind.text] or ""), ROW_CHARS) if kind else ""


def _is_main(kind: Kind, scene: StepScene) -> bool:
    """Whether the step is about it first of all: its entries are shown without a label."""
    wholes = (one.key for one in scene.schema.shown_in(scene.step_id) if not one.part_of)
    return kind.key == next(wholes, "")


def label_of(kind: Kind) -> str:
    """What people write in front of it: `AC`, `Out of scope`."""
    label = next(iter(kind.labels), kind.name)
    return label.upper() if len(label) <= len("AC") else label[0].upper() + label[1:]


def list_unsorted(notes: Iterable[UnsortedNote]) -> list[Block]:
    return [partial(_unsorted, one) for one in notes]


def _unsorted(one: UnsortedNote) -> list[CardRow]:
    words = one_line(str(one.note["text"]), ROW_CHARS)
    return [CardRow(id=one.letter, text=f"“{words}” – {attribution_of(one.note, 'text')}")]


# --- sections as they were saved ----------------------------------------------------------------------------------


def list_sections(scene: StepScene) -> Iterator[CardPart]:
    """Each entry once, in the first section that shows it. Answers without an entry stand in the first one."""
    projection = Projection(scene.schema, scene.specification)
    told: set[str] = set()
    answers = _answers(scene)
    for view in scene.schema.of_step(scene.step_id):
        found = {id: one for id, one in _entries_in([view], projection).items() if id not in told}
        told |= found.keys()
        blocks = [partial(_entry, scene, projection, names, entry) for entry, names in found.values()]
        title = view.heading or view.section or f"`{SHARED.get(view.file, view.file)}`"
        yield from cut(scene, CardPart(title=title), [*blocks, *answers])
        answers = []


def count_entries(scene: StepScene) -> Iterator[str]:
    """What the step's sections show, and what was recorded in it for others; suggestions are not counted."""
    shown = _entries_in(scene.schema.of_step(scene.step_id), Projection(scene.schema, scene.specification))
    accepted = [one for one, _ in shown.values() if one.state is EntryState.ACCEPTED]
    for kind, count in Counter(one.kind for one in (*accepted, *_recorded_besides(scene, shown))).items():
        yield f"{scene.schema.kinds[kind].name}: {count}"
