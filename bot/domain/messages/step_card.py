"""
The card of a step: one message that is edited from the first question until the step is behind us.

A card says only what its scene says. In particular nothing is called saved but the sections in `saved`, which were
committed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bot.domain.catalog.phases import Phase
from bot.domain.catalog.steps import Depth
from bot.domain.messages import mark_wording, menus, specification_wording, step_entries, step_wording
from bot.domain.messages.attendance_wording import NUDGE
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
from bot.domain.specification.claims import StaleCause
from bot.domain.specification.coverage import CoverageGap, GapKind
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, listed, one_line, paragraphs

NOTES_SHOWN = 5
STALE_SHOWN = 4

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
YES = Choice(action=Action.LINE, label="Yes, record it", value="accept")
NO = Choice(action=Action.LINE, label="No", value="strike")
"""The same, to the author of a decision or an objection."""
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
    return message.but(links=tuple(sources))


def finished_card(
    scene: StepScene,
    *,
    by: str,
    ends_phase: bool = False,
    following: Phase | None = None,
    can_create: bool = False,
) -> Message:
    """*following* is the phase after the one that the step ends. *can_create*: issues for what was planned."""
    saved = () if scene.not_saved else scene.saved
    title = f"{scene.step.title} – saved" if saved else scene.step.title
    skip = () if ends_phase else (SKIP,)
    depths = () if scene.is_plan else DEPTHS[scene.depth]
    choices = (menus.CONTINUE, AMEND.but(label="Amend…"), DISCUSS)
    if ends_phase:
        choices = (menus.CONTINUE.but(label=step_wording.continue_to(following)), *choices[1:])
    issues = (menus.ISSUES,) if can_create else ()
    card = Card(
        title=title,
        subtitle=_where(scene),
        parts=tuple(_finished_parts(scene)),
        more=(*skip, REOPEN.but(value=scene.step_id), *depths, *_deeper(scene), *issues, menus.STOP),
        foot=(
            *filter(None, (_finished_foot(scene, by), scene.not_saved)),
            *scene.lines,
            _or_type(ends_phase=ends_phase),
        ),
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
    counts = ", ".join(step_entries.count_entries(scene))
    files = listed([f"`{path}`" for path in dict.fromkeys(one.path for one in scene.saved)])
    card = Card(
        title=f"✓ {scene.step.title}",
        subtitle=counts,
        parts=tuple(_stale_parts(scene)),
        more=(AMEND.but(label="Amend…", value=scene.step_id), REOPEN.but(value=scene.step_id)),
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
    card = Card(title=f"– {scene.step.title}", subtitle=subtitle)
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
    return Message(text=text, speaker=scene.persona.key, choices=choices, card=card)


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
    so_far = CardPart(title="So far", button=_reversal(scene))
    yield from step_entries.cut(scene, so_far, step_entries.list_recorded(scene))
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
        asks = specification_wording.missing(gaps, scene.schema, scene.specification)[
            : step_entries.ENTRIES_SHOWN
        ]
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
        yield from step_entries.list_sections(scene)
    also = CardPart(title="Also recorded", button=_reversal(scene))
    yield from step_entries.cut(scene, also, step_entries.list_recorded_elsewhere(scene))
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
    older = [one for one in scene.unsorted if newest is None or one.id != newest.id]
    if older:
        part = CardPart(title="Not sorted yet", numbered=True, button=SORT)
        yield from step_entries.cut(scene, part, step_entries.list_unsorted(older), NOTES_SHOWN)
    if newest:
        files = (
            FILE.but(label=label, value=f"{newest.id}/{value}") for value, label in newest.offered.items()
        )
        yield CardPart(
            prose=step_wording.read_as(
                newest.by, newest.read_as, one_line(newest.text, step_entries.ROW_CHARS)
            ),
            buttons=(*files, *(() if older else (SORT,))),
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
                rows=(CardRow(id=id, text=step_entries.words_of(scene, entry) if entry else ""),),
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
        yield step_entries.rest(scene, left)


def _left_by_last_step(scene: StepScene) -> Iterator[CardPart]:
    """One line with its press, which takes what is checked, as *Accept all* does; then the entries."""
    shown = scene.left[: None if scene.is_whole else SUGGESTIONS_SHOWN]
    if not shown:
        return
    checked = [one.id for one in shown if not one.is_taken_alone]
    keep = HOLDS.but(label=step_wording.keeps(len(checked), len(shown)), value=",".join(checked))
    yield CardPart(prose=step_wording.left_by_last_step(len(scene.left)), buttons=(keep,) if checked else ())
    for one in shown:
        part = _suggestion(scene, one)
        asked = (HOLDS.but(label=YES.label, value=one.id), WITHDRAW.but(label=NO.label, value=one.id))
        yield part.but(
            rows=(part.rows[0].but(id=one.id), *part.rows[1:]),
            options=() if one.asks else tuple(choice.but(value=one.id) for choice in LEFT),
            buttons=asked if one.asks else (),
        )
    if hidden := len(scene.left) - len(shown):
        yield step_entries.rest(scene, hidden)


def _suggestion(scene: StepScene, one: Suggestion) -> CardPart:
    entry = scene.specification.entries.get(one.id)
    text = step_entries.put_in_words(scene, entry, one.field) if entry else ""
    if one.asks and entry:
        text = f"**{step_wording.ASKS_AUTHOR[entry.kind].format(name=one.asks)}** {step_entries.quote_newest(entry)}"
    if one.state is SuggestionState.OPEN:
        labels = [escaped(link.label) for link in one.sources]
        asides = [f"from {listed(labels)}"] if labels else []
        asides += [step_entries.say_who(scene, entry, one.field)] if entry and not one.asks else []
        id = " ".join([str(one.number), *([one.id] if entry and not entry.part_of and not one.field else [])])
        options = tuple(
            choice.but(value=f"{one.number}/{choice.value}") for choice in ((YES, NO) if one.asks else LINES)
        )
        row = CardRow(id=id, text=text, aside=" · ".join(asides))
        facts = (
            [CardRow(text=fact, level=1) for fact in step_entries.list_values(scene, entry, one.field)]
            if entry
            else []
        )
        below, beside = (options, ()) if one.asks else ((), options)
        return CardPart(rows=(row, *facts), numbered=True, options=beside, buttons=below)
    aside = f"{one.state}{f' by {one.decided_by}' if one.decided_by else ''}"
    is_struck = one.state is SuggestionState.LEFT_OUT
    row = CardRow(id=f"{SIGNS[one.state]} {one.number}", text=text, aside=aside)
    return CardPart(rows=(row,), numbered=True, struck=is_struck)


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
    count, beside = len(shown), len(scene.shown_open) - len(shown)
    if left := beside - sum(bool(one.asks) for one in scene.shown_suggestions):
        label = f"Accept the other {count}, not the {left} unchecked"
    elif len(scene.open_suggestions) > len(scene.shown_open):
        label = f"Accept these {count}"
    elif beside or any(one.state is SuggestionState.ACCEPTED for one in scene.suggestions):
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
    if scene.is_untouched and not step_entries.list_recorded(scene):
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
        name, asked = scene.persona.first_name, sum(not one.is_answered for one in scene.questions)
        yield step_wording.becomes_of_replies(name, scene.depth, questions=asked, thinks=scene.thinks)
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
        kind = next((step_entries.label_of(one).lower() for one in kinds), "decision")
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
