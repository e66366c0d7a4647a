"""
The card of a step: one message that is edited from the first question until the step is behind us.

A card says only what its scene says. In particular nothing is called saved but the sections in `saved`, which were
committed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from bot.domain.catalog.phases import Phase
from bot.domain.catalog.schema import Kind, SectionView, ViewForm
from bot.domain.catalog.steps import SHARED, Depth
from bot.domain.messages import (
    discussion_wording,
    mark_wording,
    menus,
    specification_wording,
    step_wording,
)
from bot.domain.messages.attendance_wording import NUDGE
from bot.domain.messages.attribution_wording import attribution, attribution_of
from bot.domain.messages.cut_lists import cut, more, rest
from bot.domain.messages.message import (
    Action,
    Card,
    CardPart,
    CardRow,
    Choice,
    Confirm,
    Emphasis,
    Link,
    Message,
    card_in_words,
)
from bot.domain.messages.step_scene import (
    SUGGESTIONS_SHOWN,
    AskedQuestion,
    StepScene,
    Suggestion,
    SuggestionState,
)
from bot.domain.roundtable.outcomes import ChangedFile
from bot.domain.specification.coverage import CoverageGap, GapKind
from bot.domain.specification.entries import NOT_LISTED, Entry, EntryState, StaleCause
from bot.domain.specification.projection import Projection
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, listed, one_line, paragraphs, value_text

ENTRIES_SHOWN = 12
PARTS_SHOWN = 4
"""Of one entry."""
NOTES_SHOWN = 5
STALE_SHOWN = 4
ROW_CHARS = 300
DOUBT_CHARS = 160

SIGNATURE = ("inputs", "result", "errors")
FINDINGS = frozenset(GapKind) - {GapKind.MISSING, GapKind.PROPOSED}
"""What is shown one at a time; what is missing and what is suggested have places of their own."""

AMEND = Choice(action=Action.AMEND, label="Edit…")
SORT = Choice(action=Action.SORT, label="Sort…")
FILE = Choice(action=Action.FILE, label="What is it?")
"""For one kind of entry, with its name."""
REOPEN = Choice(action=Action.REOPEN, label="Open the step again")
ACCEPT_ALL = Choice(action=Action.ACCEPT_ALL, label="Accept both", emphasis=Emphasis.PRIMARY)
HOLDS = Choice(action=Action.HOLDS, label="It still holds")
WITHDRAW = Choice(action=Action.WITHDRAW, label="Withdraw it")
LINES = (
    Choice(action=Action.LINE, label="✓ Accept", value="accept"),
    Choice(action=Action.LINE, label="✎ Change…", value="change"),
    Choice(action=Action.LINE, label="✗ Leave out", value="strike"),
)
"""For one suggestion; its number comes in front of the value."""
LEFT = (
    HOLDS.but(label="✓ Accept"),
    AMEND.but(label="✎ Change…"),
    WITHDRAW.but(label="✗ Leave out"),
)
"""For one entry that the last step left."""
DISCUSS = menus.ELABORATE.but(label="Discuss")
SAVE_AND_DISCUSS = DISCUSS.but(
    confirm=Confirm(
        title="Save and discuss?",
        text="What you have so far is saved first. You can add to it afterwards.",
        yes="Save and discuss",
    )
)
SAVE_FIRST = menus.FINISH_STEP.but(label="Save, and show the menu", emphasis=Emphasis.PLAIN)
SKIP = menus.SKIP.but(label="Skip the rest of this phase")
LEAVE = menus.SKIP.but(label="Leave the plan for now")
DEPTHS: Mapping[Depth, tuple[Choice, ...]] = {
    Depth.BRIEF: (
        menus.DEPTHS[Depth.STANDARD].but(label="Ask me instead (standard)"),
        menus.DEPTHS[Depth.DEEP].but(label="Ask me more (deep)"),
    ),
    Depth.STANDARD: (
        menus.DEPTHS[Depth.BRIEF].but(label="Ask me less (brief)"),
        menus.DEPTHS[Depth.DEEP].but(label="Ask me more (deep)"),
    ),
    Depth.DEEP: (
        menus.DEPTHS[Depth.BRIEF].but(label="Ask me less (brief)"),
        menus.DEPTHS[Depth.STANDARD].but(label="Ask me less (standard)"),
    ),
}
"""The other depths, by the one that is active."""
OR_TYPE = "Or type "
MOST_OPTIONS = 5
"""Behind ⋯."""


# --- the states of a card -----------------------------------------------------------------------------------------


def open_card(scene: StepScene) -> Message:
    card = Card(
        title=scene.step.title,
        subtitle=_where(scene),
        parts=tuple(_open_parts(scene)),
        more=_more_while_open(scene),
        foot=tuple(_foot(scene)),
        revision=scene.revision,
    )
    choices = _choices_while_open(scene)
    text = (
        scene.first,
        step_wording.header(scene.persona, scene.step),
        scene.prompt,
        card_in_words(_without(card, scene.first, scene.prompt)),
    )
    sources = [
        link.but(label=f"{one.number}: {link.label}")
        for one in scene.shown_suggestions
        for link in one.sources
        if link.url
    ]
    message = _message(scene, paragraphs(*text), card, choices)
    return message.but(links=(*sources, *scene.links))


def finished_card(
    scene: StepScene, *, by: str, ends_phase: bool = False, following: Phase | None = None
) -> Message:
    """*following* is the phase after the one that the step ends."""
    saved = () if scene.not_saved else scene.saved
    title = f"{scene.step.title} – saved" if saved else scene.step.title
    skip = () if ends_phase else (SKIP,)
    depths = () if scene.is_plan else DEPTHS[scene.depth]
    choices = (menus.CONTINUE, AMEND.but(label="Amend…"), DISCUSS)
    if ends_phase:
        choices = (menus.CONTINUE.but(label=step_wording.continue_to(following)), *choices[1:])
    card = Card(
        title=title,
        subtitle=_where(scene),
        parts=tuple(_finished_parts(scene)),
        more=(*skip, REOPEN.but(value=scene.step_id), *depths, *_deeper(scene), menus.STOP),
        foot=(
            *filter(None, (_finished_foot(scene, by), scene.not_saved)),
            *scene.lines,
            _or_type(ends_phase=ends_phase),
        ),
        revision=scene.revision,
    )
    changed = [ChangedFile(path=one.path, heading=one.heading) for one in saved]
    said = step_wording.saved(changed) if changed else ""
    words = card_in_words(_without(card, scene.first))
    whole = paragraphs(scene.first, said, words)
    if ends_phase:
        menu = menus.after_phase(scene.persona.key, whole, following)
    else:
        menu = menus.after_step(scene.persona.key, whole, scene.depth)
    return _message(scene, menu.text, card, choices)


def collapsed_card(scene: StepScene) -> Message:
    """A step that people went on from."""
    counts = ", ".join(_counts(scene))
    files = listed([f"`{path}`" for path in dict.fromkeys(one.path for one in scene.saved)])
    card = Card(
        title=f"✓ {scene.step.title}",
        subtitle=counts,
        parts=tuple(_stale_parts(scene)),
        more=(AMEND.but(label="Amend…", value=scene.step_id), REOPEN.but(value=scene.step_id)),
        revision=scene.revision,
    )
    facts = (
        f"{scene.step.title} is finished.",
        f"{counts}." if counts else "",
        f"Saved: {files}." if files else "",
    )
    said = " ".join(filter(None, facts))
    text = paragraphs(said, card_in_words(card.but(subtitle="")))
    return _message(scene, text, card, ())


def skipped_card(scene: StepScene, *, by: str = "") -> Message:
    """Skipped *by* somebody, or by its own condition."""
    reopen = REOPEN.but(value=scene.step_id)
    reason = f"skipped by {by}" if by else "skipped"
    unanswered = "Its questions stay open." if scene.unanswered else ""
    subtitle = ". ".join(filter(None, (reason, unanswered.rstrip("."))))
    card = Card(title=f"– {scene.step.title}", subtitle=subtitle, revision=scene.revision)
    said = f"{scene.step.title} was {reason}."
    text = " ".join(filter(None, (said, unanswered, f"[{REOPEN.label}]")))
    return _message(scene, text, card, (reopen,))


def in_full(scene: StepScene, *, finished: bool) -> Message:
    """All that the card of the step lists, with nothing to press: for one person, who asked for it."""
    whole = replace(scene, is_whole=True)
    parts = tuple(_finished_parts(whole) if finished else _open_parts(whole))
    card = Card(title=scene.step.title, subtitle=_where(scene), parts=parts)
    return Message(text=paragraphs(f"**{scene.step.title}**", card_in_words(card)))


def repeated_menu(card: Message, permalink: str) -> Message:
    """The menu of a card that stands far above, for who typed in place of pressing it."""
    assert card.card, "it is a card"
    text = paragraphs(f"**{card.card.title}**", card.card.subtitle)
    links = (Link(label="See the card", url=permalink),) if permalink else ()
    return Message(text=text, speaker=card.speaker, choices=card.choices, token=card.token, links=links)


def without_hints(message: Message) -> Message:
    """Of a card with nothing to press: what could be typed in place of the buttons does not count any more."""
    if message.card is None:
        return message
    hints = [one for one in message.card.foot if one.startswith(OR_TYPE)]
    text = message.text
    for one in hints:
        text = text.replace(f"{one}\n", "")
    foot = tuple(one for one in message.card.foot if one not in hints)
    return message.but(text=text, card=message.card.but(foot=foot))


def _message(scene: StepScene, text: str, card: Card, choices: tuple[Choice, ...]) -> Message:
    return Message(text=text, speaker=scene.persona.key, choices=choices, links=scene.links, card=card)


def _without(card: Card, *prose: str) -> Card:
    """What stands in the text already."""
    told = set(filter(None, prose))
    return card.but(parts=tuple(part for part in card.parts if part.prose not in told))


# --- the body of an open card -------------------------------------------------------------------------------------


def _where(scene: StepScene) -> str:
    if scene.step.is_card:
        return f"{scene.phase} · {scene.depth}"
    place = f"{scene.phase}, step {scene.position} of {scene.steps_in_phase}"
    return f"{scene.step_id} · {place} · {scene.depth}"


def _before(scene: StepScene) -> Iterator[CardPart]:
    if scene.first:
        yield CardPart(prose=scene.first)


def _open_parts(scene: StepScene) -> Iterator[CardPart]:
    yield from _before(scene)
    yield from _left_by_last_step(scene)
    if scene.is_untouched and scene.prompt:
        yield CardPart(prose=scene.prompt)
    if scene.is_draft:
        yield from _suggestions(scene)
    yield from cut(scene, CardPart(title="So far", button=_reversal(scene)), _recorded(scene), ENTRIES_SHOWN)
    if scene.drafted:
        rows = [CardRow(text=step_wording.asks(one), aside=one.why) for one in scene.drafted]
        yield CardPart(title="Questions", rows=tuple(rows))
    if not scene.is_untouched:
        yield from _still_missing(scene)
    yield from _stale_parts(scene)
    yield from _findings(scene)
    yield from mark_wording.parts(scene.marks)
    yield from _unsorted(scene)
    if not scene.is_draft:
        yield from _suggestions(scene)
    yield from scene.notes


def _reversal(scene: StepScene) -> Choice | None:
    return menus.REVERSE if scene.specification.active("decision") else None


def _still_missing(scene: StepScene) -> Iterator[CardPart]:
    """The questions, with their numbers, and what coverage asks beyond them; the first one is bold."""
    rows = [_question(one, is_first=at == 0) for at, one in enumerate(scene.unanswered)]
    if scene.is_covered or not rows:
        gaps = [gap for gap in scene.missing if gap not in scene.asked_gaps]
        asks = specification_wording.missing(gaps, scene.schema, scene.specification)[:ENTRIES_SHOWN]
        rows += [CardRow(text=ask if rows or at else f"**{ask}**") for at, ask in enumerate(asks)]
    if rows:
        yield CardPart(title="Still missing", rows=tuple(rows), numbered=any(row.id for row in rows))
    if also := [_question(one, is_first=False) for one in scene.also_asked]:
        yield CardPart(title="Also asked", rows=tuple(also), numbered=True)


def _question(question: AskedQuestion, *, is_first: bool) -> CardRow:
    about = f" ({specification_wording.ids(question.about)})" if question.about else ""
    text = f"**{question.text}**" if is_first else question.text
    return CardRow(id=f"{question.number}.", text=f"{text}{about}")


def _finished_parts(scene: StepScene) -> Iterator[CardPart]:
    yield from _before(scene)
    if scene.saved:
        yield from _sections(scene)
    yield from cut(
        scene,
        CardPart(title="Also recorded", button=_reversal(scene)),
        _recorded_elsewhere(scene),
        ENTRIES_SHOWN,
    )
    yield from _stale_parts(scene)
    yield from mark_wording.parts(scene.marks)
    yield from _unsorted(scene)
    yield from scene.notes


def _finding(scene: StepScene) -> CoverageGap | None:
    """One at a time."""
    marked = {one.id for one in scene.stale}
    found = (gap for gap in scene.gaps if gap.kind in FINDINGS)
    return next((gap for gap in found if not (gap.kind is GapKind.STALE and gap.id in marked)), None)


def _findings(scene: StepScene) -> Iterator[CardPart]:
    if gap := _finding(scene):
        yield CardPart(
            title="Worth a second look",
            prose=specification_wording.finding(gap, scene.schema, scene.specification),
            button=AMEND.but(label="Fix…", value=gap.id) if gap.id else None,
        )


def _unsorted(scene: StepScene) -> Iterator[CardPart]:
    """The older notes as a list; for the newest message one press is enough, or the form, for another kind."""
    newest = scene.newest
    rows = [
        [CardRow(id=one.letter, text=f"“{one_line(one.text, ROW_CHARS)}” – {one.by}")]
        for one in scene.unsorted
        if newest is None or one.id != newest.id
    ]
    if rows:
        part = CardPart(title="Not sorted yet", numbered=True, button=SORT)
        yield from cut(scene, part, rows, NOTES_SHOWN)
    if newest:
        files = (
            FILE.but(label=label, value=f"{newest.id}/{value}") for value, label in newest.offered.items()
        )
        yield CardPart(
            prose=step_wording.read_as(newest.by, newest.read_as, one_line(newest.text, ROW_CHARS)),
            buttons=(*files, *(() if rows else (SORT,))),
        )


def _stale_parts(scene: StepScene) -> Iterator[CardPart]:
    """A sentence for each change, then the entries that rest on it."""
    changes: dict[tuple[StaleCause, str, str], list[str]] = {}
    for one in scene.stale:
        changes.setdefault((one.cause, one.by, one.source), []).append(one.id)
    for (cause, by, source), found in changes.items():
        ids = list(dict.fromkeys(found))
        sentence = specification_wording.stale(cause, ids, by=by, source=source)
        is_contradicted = cause is StaleCause.CONTRADICTED
        title = f"Contradicted by {source}" if is_contradicted else "To be confirmed again"
        yield CardPart(title=title, prose=sentence)
        for id in ids[:STALE_SHOWN]:
            entry = scene.specification.entries.get(id)
            choices = (HOLDS, AMEND.but(label="Change it…"), WITHDRAW)
            yield CardPart(
                rows=(CardRow(id=id, text=_words(scene, entry) if entry else ""),),
                numbered=True,
                options=tuple(choice.but(value=id) for choice in choices),
            )


# --- suggestions --------------------------------------------------------------------------------------------------

SIGNS = {
    SuggestionState.OPEN: "",
    SuggestionState.ACCEPTED: "✓",
    SuggestionState.LEFT_OUT: "✗",
}


def _suggestions(scene: StepScene) -> Iterator[CardPart]:
    every, shown = scene.listed_suggestions, scene.shown_suggestions
    if not every:
        return
    names = list(dict.fromkeys(one.by for one in every))
    if scene.is_draft:
        yield CardPart(prose="Here is my draft. Keep what is right, fix what is not.")
    else:
        title = f"{names[0][:1].upper()}{names[0][1:]} suggests" if len(names) == 1 else "Suggestions"
        yield CardPart(title=title, prose="_A suggestion counts when one of you accepts it._")
    for one in shown:
        yield _suggestion(scene, one)
    if left := len(every) - len(shown):
        yield rest(scene, more(left))


def _left_by_last_step(scene: StepScene) -> Iterator[CardPart]:
    """One line with its press, which takes what is checked, as *Accept all* does; then the entries."""
    shown = scene.left[: None if scene.is_whole else SUGGESTIONS_SHOWN]
    if not shown:
        return
    checked = [one.id for one in shown if not one.is_unchecked]
    keep = HOLDS.but(label=step_wording.keeps(len(checked), len(shown)), value=",".join(checked))
    yield CardPart(prose=step_wording.left_by_last_step(len(scene.left)), buttons=(keep,) if checked else ())
    for one in shown:
        part = _suggestion(scene, one)
        yield part.but(
            rows=(part.rows[0].but(id=one.id), *part.rows[1:]),
            options=tuple(choice.but(value=one.id) for choice in LEFT),
        )
    if hidden := len(scene.left) - len(shown):
        yield rest(scene, more(hidden))


def _suggestion(scene: StepScene, one: Suggestion) -> CardPart:
    entry = scene.specification.entries.get(one.id)
    text = _suggested(scene, entry, one.field) if entry else ""
    if one.state is SuggestionState.OPEN:
        labels = [escaped(link.label) for link in one.sources]
        asides = [f"from {listed(labels)}"] if labels else []
        asides += [_behind(scene, entry, one.field)] if entry else []
        id = " ".join([str(one.number), *([one.id] if entry and not entry.part_of and not one.field else [])])
        options = tuple(choice.but(value=f"{one.number}/{choice.value}") for choice in LINES)
        row = CardRow(id=id, text=text, aside=" · ".join(asides))
        facts = [CardRow(text=fact, level=1) for fact in _offered(scene, entry, one.field)] if entry else []
        return CardPart(rows=(row, *facts), numbered=True, options=options)
    aside = f"{one.state}{f' by {one.decided_by}' if one.decided_by else ''}"
    is_struck = one.state is SuggestionState.LEFT_OUT
    row = CardRow(id=f"{SIGNS[one.state]} {one.number}", text=text, aside=aside)
    return CardPart(rows=(row,), numbered=True, struck=is_struck)


def _behind(scene: StepScene, entry: Entry, field: str) -> str:
    """Who stands behind what is shown: a value of *field* that is proposed, or the words."""
    kind = scene.schema.kinds.get(entry.kind)
    words = (entry.claim(kind.text) if kind else None) or entry.first
    claim = entry.pending(field) if field else words
    return one_line(attribution(claim), DOUBT_CHARS) if claim else ""


def _offered(scene: StepScene, entry: Entry, field: str) -> Iterator[str]:
    """Its further values: what is accepted with it stands where it is accepted."""
    kind = scene.schema.kinds.get(entry.kind)
    for name, claim in entry.current() if kind and not field else ():
        if kind and name in kind.fields and name != kind.text and claim.value not in (None, "", []):
            doubt = f" ({one_line(attribution(claim), DOUBT_CHARS)})" if claim.is_unchecked else ""
            yield f"{kind.label(name)}: {one_line(value_text(claim.value), ROW_CHARS)}{doubt}"


def _suggested(scene: StepScene, entry: Entry, field: str) -> str:
    """`AC for FR-002: …`, `Risk: …`, `FR-001 priority: must`."""
    kind = scene.schema.kinds.get(entry.kind)
    if kind and field:
        claim = entry.pending(field) or entry.claim(field)
        words = one_line(value_text(claim.value), ROW_CHARS) if claim else ""
        return f"{entry.id} {kind.label(field).lower()}: {words}"
    words = _words(scene, entry)
    if not kind:
        return words
    about = f" for {entry.part_of}" if entry.part_of else ""
    main = _main_kinds(scene)[:1]
    return words if kind.key in main else f"{_label(kind)}{about}: {words}"


# --- entries as they would be saved -------------------------------------------------------------------------------


def _recorded(scene: StepScene) -> list[list[CardRow]]:
    """For each entry its row, and the rows below it."""
    projection = Projection(scene.schema, scene.specification)
    hidden = {one.id for one in scene.listed_suggestions if not one.field}
    entries = (
        _entry(scene, projection, names, entry)
        for entry, names in _in_sections(scene, projection).values()
        if entry.id not in hidden
    )
    return [*entries, *_answers(scene), *_recorded_elsewhere(scene)]


def _in_sections(scene: StepScene, projection: Projection) -> dict[str, tuple[Entry, list[str]]]:
    """The entries that the sections of the step show, with the names of the fields."""
    return _entries_in(scene.schema.of_step(scene.step_id), projection)


def _entries_in(views: Iterable[SectionView], projection: Projection) -> dict[str, tuple[Entry, list[str]]]:
    found: dict[str, tuple[Entry, list[str]]] = {}
    for view in views:
        for show in view.show:
            if show.form in {ViewForm.DIAGRAM, ViewForm.COUNTS}:
                continue
            for entry in projection.chosen(show, view):
                _, names = found.setdefault(entry.id, (entry, []))
                names += (*(SIGNATURE if show.form is ViewForm.CODE else ()), *show.fields.values())
    return found


def _recorded_elsewhere(scene: StepScene) -> list[list[CardRow]]:
    """What was recorded in this step for another section: a decision, an objection, a risk."""
    projection, spec = Projection(scene.schema, scene.specification), scene.specification
    shown = _in_sections(scene, projection)
    others = (one for one in spec.entries.values() if one.step == scene.step_id and one.id not in shown)
    return [
        _entry(scene, projection, (), one)
        for one in others
        if one.kind in scene.schema.kinds.keys() - NOT_LISTED and not scene.schema.kinds[one.kind].part_of
        if one.state is EntryState.ACCEPTED and spec.lives(one.id)
    ]


def _entry(scene: StepScene, projection: Projection, fields: Iterable[str], entry: Entry) -> list[CardRow]:
    kind = scene.schema.kinds[entry.kind]
    names = tuple(dict.fromkeys(fields))
    facts = [
        f"{kind.label(name)}: {text}"
        for name in names
        if name in kind.fields and name != kind.text and (text := projection.shown(entry, name))
    ]
    words = projection.shown(entry, kind.text)
    if words and kind.key not in _main_kinds(scene)[:1]:
        words = f"{_label(kind)}: {words}"
    if not words:
        words, facts = " · ".join(facts), []
    side = scene.sides.get(entry.id)
    words = f"**{side.option.letter}** {words}" if side else words
    rows = [CardRow(id=entry.id, text=one_line(words, ROW_CHARS), aside=_aside(scene, entry))]
    if side and side.people:
        rows.append(CardRow(text=one_line(discussion_wording.for_it(side.people), ROW_CHARS), level=1))
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
        if part.id not in {one.id for one in scene.open_suggestions}
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
        words.append(_behind(scene, entry, ""))
    if entry.stale:
        words.append("to be confirmed again")
    return ", ".join(words)


def _lacking(scene: StepScene, id: str) -> list[str]:
    gaps = (gap for gap in scene.missing if gap.id == id)
    names = (specification_wording.field_name(gap, scene.schema) for gap in gaps)
    return [f"no {name} yet" for name in dict.fromkeys(names)]


def _answers(scene: StepScene) -> Iterator[list[CardRow]]:
    """Notes that are no longer to be sorted: in sections of prose they are the content, under their questions."""
    waiting = {one.id for one in scene.unsorted}
    groups: dict[tuple[int, str], list[CardRow]] = {}
    for note in scene.specification.notes_of([scene.step_id]):
        if note.id not in waiting:
            number = note["question"]
            question = (number, str(note["asked"] or "")) if isinstance(number, int) else (0, "")
            words = one_line(str(note["text"]), ROW_CHARS)
            who = attribution_of(note, "text")
            row = CardRow(text=f"{who}: {words}", level=1 if question[0] else 0)
            groups.setdefault(question, []).append(row)
    for (number, text), rows in sorted(groups.items(), key=lambda one: one[0][0] or len(scene.questions) + 1):
        if number:
            yield [CardRow(id=f"{number}.", text=text), *rows]
        else:
            yield from ([row] for row in rows)


def _words(scene: StepScene, entry: Entry) -> str:
    kind = scene.schema.kinds.get(entry.kind)
    return one_line(str(entry[kind.text] or ""), ROW_CHARS) if kind else ""


def _main_kinds(scene: StepScene) -> list[str]:
    return [kind.key for kind in scene.schema.shown_in(scene.step_id) if not kind.part_of]


def _label(kind: Kind) -> str:
    """What people write in front of it: `AC`, `Out of scope`."""
    label = next(iter(kind.labels), kind.name)
    return label.upper() if len(label) <= len("AC") else label[0].upper() + label[1:]


# --- sections as they were saved ----------------------------------------------------------------------------------


def _sections(scene: StepScene) -> Iterator[CardPart]:
    """Each entry once, in the first section that shows it. Answers without an entry stand in the first one."""
    projection = Projection(scene.schema, scene.specification)
    told: set[str] = set()
    answers = list(_answers(scene))
    for view in scene.schema.of_step(scene.step_id):
        found = {id: one for id, one in _entries_in([view], projection).items() if id not in told}
        told |= found.keys()
        blocks = [_entry(scene, projection, names, entry) for entry, names in found.values()]
        title = view.heading or view.section or f"`{SHARED.get(view.file, view.file)}`"
        yield from cut(scene, CardPart(title=title), [*blocks, *answers], ENTRIES_SHOWN)
        answers = []


def _counts(scene: StepScene) -> Iterator[str]:
    """What the step's sections show, kind by kind; suggestions are not counted."""
    projection = Projection(scene.schema, scene.specification)
    found: dict[str, set[str]] = {}
    for view in scene.schema.of_step(scene.step_id):
        for show in view.show:
            for entry in projection.chosen(show, view) if show.kind else ():
                if entry.state is EntryState.ACCEPTED:
                    found.setdefault(entry.kind, set()).add(entry.id)
    for kind, ids in found.items():
        yield f"{scene.schema.kinds[kind].name}: {len(ids)}"


# --- below the body -----------------------------------------------------------------------------------------------


def _choices_while_open(scene: StepScene) -> tuple[Choice, ...]:
    accept = _accept_all(scene)
    if scene.is_draft:
        finish = () if accept else (_finish(scene),)
        return (*accept, *finish, AMEND.but(label="Add…"), SAVE_AND_DISCUSS)
    edit = AMEND.but(label="Write it in a form…") if scene.is_untouched else AMEND
    return (*accept, _finish(scene), SAVE_AND_DISCUSS, *(() if accept else (edit,)))


def _more_while_open(scene: StepScene) -> tuple[Choice, ...]:
    if scene.is_plan:
        return (*((AMEND,) if _accept_all(scene) else ()), LEAVE, menus.STOP)
    depths = DEPTHS[scene.depth]
    if scene.is_draft and _accept_all(scene):
        rest = menus.FINISH_STEP.but(label="Finish without the rest", emphasis=Emphasis.PLAIN)
        return (depths[0], rest, SKIP, menus.STOP)
    edit = (AMEND,) if _accept_all(scene) else ()
    skip = SAVE_FIRST if scene.step.is_card else SKIP
    nudge = (NUDGE,) if scene.waiting and scene.heard else ()
    if deeper := _deeper(scene):
        depths = (depths[0], *deeper)
    depths = depths[:1] if edit and nudge else depths
    return (*edit, *depths, *nudge, skip, menus.STOP)[:MOST_OPTIONS]


def _deeper(scene: StepScene) -> tuple[Choice, ...]:
    return (menus.go_deeper(scene.deeper),) if scene.deeper else ()


def _accept_all(scene: StepScene) -> tuple[Choice, ...]:
    """Its value are the numbers that the card shows: what arrives meanwhile is not accepted unseen."""
    shown = scene.shown_checked
    if not shown:
        return ()
    count = len(shown)
    if left := len(scene.shown_open) - count:
        label = f"Accept the other {count}, not the {left} unchecked"
    elif len(scene.open_suggestions) > count:
        label = f"Accept these {count}"
    elif any(one.state is SuggestionState.ACCEPTED for one in scene.suggestions):
        label = "Accept the other one" if count == 1 else f"Accept the other {count}"
    else:
        label = {1: "Accept it", 2: "Accept both"}.get(count, f"Accept all {count}")
    return (ACCEPT_ALL.but(label=label, value=",".join(map(str, shown))),)


def _finish(scene: StepScene) -> Choice:
    """Green once nothing is missing; before that it asks once. From the card of a phase people go on as they like."""
    if scene.step.is_card:
        return menus.SAVE_AND_GO_ON
    confirm = _unsettled(scene)
    return menus.FINISH_STEP.but(emphasis=Emphasis.PLAIN if confirm else Emphasis.PRIMARY, confirm=confirm)


def _unsettled(scene: StepScene) -> Confirm | None:
    undecided = len(scene.open_suggestions)
    missing = (*scene.unanswered, *scene.missing)
    if scene.is_untouched and not _recorded(scene):
        questions = len(scene.questions)
        with_them = f", with its {counted(questions, 'question')}" if questions else ""
        return Confirm(
            title="Nothing is recorded yet",
            text=f"The step will be saved as left open{with_them}.",
            yes="Finish anyway",
        )
    if undecided and not missing:
        are = "suggestion is" if undecided == 1 else "suggestions are"
        return Confirm(
            title=f"{undecided} {are} undecided",
            text="What is undecided is saved as suggested, not confirmed.",
            yes="Finish without them" if undecided > 1 else "Finish without it",
        )
    if not missing:
        return None
    return Confirm(title="Not everything is settled", text=_left(scene), yes="Finish anyway")


def _left(scene: StepScene) -> str:
    sentences = list(specification_wording.without(scene.missing, scene.schema))[:3]
    about_entries = sum(bool(one.about) for one in scene.unanswered)
    asked = {gap for one in scene.unanswered for gap in one.gaps}
    beyond = sum(not gap.id and gap not in asked for gap in scene.missing) if scene.is_covered else 0
    if open_questions := len(scene.unanswered) - about_entries + beyond:
        sentences.append(f"{counted(open_questions, 'question')} {_is(open_questions)} open.")
    if undecided := len(scene.open_suggestions):
        sentences.append(f"{counted(undecided, 'suggestion')} {_is(undecided)} undecided.")
    if notes := len(scene.unsorted):
        sentences.append(f"{counted(notes, 'note')} {_is(notes)} not sorted.")
    return " ".join([*sentences, "The step is saved as it is."])


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _foot(scene: StepScene) -> Iterator[str]:
    if scene.is_untouched:
        yield step_wording.becomes_of_replies(
            scene.persona.first_name, scene.depth, questions=len(scene.questions), thinks=scene.thinks
        )
    elif not scene.drafted and not _unsettled(scene):
        all_of_it = "Nothing is missing." if scene.also_asked else "That is all I asked."
        yield f"{all_of_it} Finish when you are ready."
    if heard := _heard(scene):
        yield heard
    if typed := tuple(_typed_words(scene)):
        yield f"{OR_TYPE}{', '.join(f'`{one}`' for one in typed)}"
    yield from scene.lines


def _heard(scene: StepScene) -> str:
    heard = f"Heard from: {', '.join(scene.heard)}" if scene.heard else ""
    waiting = f"not yet: {', '.join(scene.waiting)}" if scene.waiting and scene.heard else ""
    return " · ".join(filter(None, (heard, waiting)))


def _typed_words(scene: StepScene) -> Iterator[str]:
    """What can be typed in place of the buttons beside the parts; who is for what has none here."""
    if letters := [side.option.letter for side in scene.sides.values()]:
        yield from (f"for {letters[0]}", f"for {letters[-1]} if …", "decision: …")
    if numbers := scene.shown_open:
        first, last = numbers[0], numbers[-1]
        yield from (f"accept {first}", f"change {last}: …", f"leave out {last}")
        if len(numbers) > 1:
            yield "accept all"
    if scene.stale:
        yield from (f"keep {scene.stale[0].id}", f"withdraw {scene.stale[0].id}")
    gap = _finding(scene)
    if gap and gap.kind is GapKind.CONTESTED:
        yield f"{gap.id} {specification_wording.field_name(gap, scene.schema)}: …"
    elif gap and gap.kind is GapKind.UNKNOWN:
        yield f"{gap.id}: new words"
    if scene.unsorted:
        kinds = scene.schema.shown_in(scene.step_id)
        kind = next((_label(one).lower() for one in kinds), "decision")
        yield f"sort {scene.unsorted[-1].letter} {kind}"


def _finished_foot(scene: StepScene, by: str) -> str:
    """Who finished it, and what is not confirmed."""
    files = [f"`{path}`" for path in dict.fromkeys(one.path for one in scene.saved)]
    undecided = len(scene.open_suggestions)
    facts = (
        f"Finished by {by}" if by else "Finished",
        listed(files),
        f"{counted(undecided, 'suggestion')} not confirmed" if undecided else "",
        f"said by {', '.join(scene.heard)}" if scene.heard else "",
    )
    return " · ".join(filter(None, facts))


def _or_type(*, ends_phase: bool) -> str:
    typed = ["`C`", "`E`", *([] if ends_phase else ["`S`"])]
    either = f"{', '.join(typed[:-1])} or {typed[-1]}"
    return f"{OR_TYPE}{either}. Anything else you write is added here."
