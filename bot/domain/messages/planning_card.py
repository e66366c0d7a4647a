"""The card of the planning workshop: one message with what the roles found, what was answered, and what is missing."""

import re
from collections.abc import Iterator, Mapping, Sequence

from bot.domain.messages import planning_wording
from bot.domain.messages.message import (
    Action,
    Card,
    CardPart,
    CardRow,
    Choice,
    Emphasis,
    Link,
    Message,
    card_in_words,
)
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.verdict import RoleVerdict, title, titles
from bot.domain.planning.workshop import FIRST_READING, Ask, Workshop, WorkshopQuestion
from bot.domain.specification.carried import citations_in, without_commits
from bot.domain.specification.citations import CodeCitation
from bot.domain.values.markdown import bullet
from bot.domain.values.text import one_line, paragraphs

ROW_CHARS = 300
TAIL_CHARS = 150
CODE_SHOWN = 5
_SOURCES = re.compile(r" \((?=[^()]*(?:@[0-9a-f]{7}|unverified: ))[^()]*\)$")
"""What a reason ends with that names sources."""
ANSWERS_SHOWN = 12
REASONS_SHOWN = 3
"""Of one role; the record has all of them."""


def planning_card(
    ws: Workshop,
    names: Mapping[str, str],
    *,
    first: str = "",
    state: str = "",
    choices: Sequence[Choice] = (),
    file_url: str = "",
) -> Message:
    """
    *first* stands above the rest, *state* below it: what is going on, or what is proposed. *file_url* is where code can
    be read, with `{path}` in it.
    """
    is_asking = bool(choices) and bool(ws.asking)
    card = Card(
        title=planning_wording.card_title(ws),
        subtitle=planning_wording.card_subtitle(ws),
        parts=(
            *_prose(first),
            *_listed("What the roles found", tuple(_found(ws))),
            *_listed("Answered", tuple(_answered(ws, names)), numbered=True),
            *_listed("Still missing", tuple(_missing(ws)), numbered=True),
            *_prose(state),
        ),
        foot=planning_wording.answer_by_number(ws) if is_asking else (),
    )
    without_state = card.but(parts=card.parts[:-1] if state else card.parts)
    text = paragraphs(state, f"**{card.title}**", card_in_words(without_state))
    return Message(text=text, choices=tuple(choices), card=card, links=tuple(_links(ws, file_url)))


def _links(ws: Workshop, file_url: str) -> Iterator[Link]:
    """To the code that the shown reasons rest on."""
    if not file_url or ws.round == FIRST_READING:
        return
    rows = [row for one in ws.verdicts_of(ws.round).values() for row in _rows(one)[:REASONS_SHOWN]]
    cited = dict.fromkeys(id for row in rows for id in sorted(citations_in(row)))
    code = [one for one in map(CodeCitation.read, cited) if one]
    yield from (Link(label=one.label, url=one.url(file_url)) for one in code[:CODE_SHOWN])


def moved_card(ws: Workshop) -> Message:
    """What stays where the card stood before."""
    sentence = planning_wording.MOVED
    return Message(text=sentence, card=Card(title=planning_wording.card_title(ws), subtitle=sentence))


def _prose(text: str) -> tuple[CardPart, ...]:
    return (CardPart(prose=text),) if text else ()


def _listed(title: str, rows: tuple[CardRow, ...], *, numbered: bool = False) -> tuple[CardPart, ...]:
    return (CardPart(title=title, rows=rows, numbered=numbered),) if rows else ()


def _found(ws: Workshop) -> Iterator[CardRow]:
    for role, verdict in ws.verdicts_of(ws.round).items():
        words = planning_wording.verdict_word(verdict, first=ws.round == FIRST_READING)
        yield CardRow(text=_words(words), id=f"{title(role)}:")
        if ws.round != FIRST_READING:
            yield from _reasons(verdict)


def _reasons(verdict: RoleVerdict) -> Iterator[CardRow]:
    rows = _rows(verdict)
    yield from (CardRow(text=_sourced(row), level=1) for row in rows[:REASONS_SHOWN])
    if more := len(rows) - REASONS_SHOWN:
        yield from [CardRow(text=f"and {more} more", level=1)] if more > 0 else []


def _rows(verdict: RoleVerdict) -> list[str]:
    return [*verdict.reasons, *map(planning_wording.suggested, verdict.suggestions)]


def _sourced(row: str) -> str:
    """Long words are cut before their sources, which are named without the commit: the record has it."""
    found = _SOURCES.search(row)
    head, tail = (row[: found.start()], found[0]) if found else (row, "")
    tail = one_line(without_commits(tail), TAIL_CHARS)
    return bullet(f"{one_line(head, ROW_CHARS - len(tail))}{f' {tail}' if tail else ''}")


def _answered(ws: Workshop, names: Mapping[str, str]) -> Iterator[CardRow]:
    for one in ws.answered[-ANSWERS_SHOWN:]:
        yield CardRow(id=f"{one.number}.", text=_words(one.text))
        yield CardRow(text=_words(f"{names.get(one.person) or one.person}: {one.answer}"), level=1)
    if len(ws.answered) > ANSWERS_SHOWN:
        yield CardRow(text=f"and {len(ws.answered) - ANSWERS_SHOWN} more")


def _missing(ws: Workshop) -> Iterator[CardRow]:
    """Those that are being asked, then those that somebody passed."""
    being_asked = [one for one in ws.questions if one.id in ws.asking]
    passed = [one for one in ws.questions if one.settled and not one.answered and one.id not in ws.asking]
    yield from (_question(one, titles(one.by)) for one in being_asked)
    yield from (_question(one, "passed") for one in passed)


def _question(one: WorkshopQuestion, aside: str) -> CardRow:
    return CardRow(id=f"{one.number}.", text=_words(one.text), aside=aside)


def _words(text: str) -> str:
    return bullet(one_line(text, ROW_CHARS))


# --- the menus


ACTIONS = {
    ProposedMove.GO: Action.PLAN_GO,
    ProposedMove.CLARIFY: Action.PLAN_CLARIFY,
    ProposedMove.HOLD: Action.PLAN_HOLD,
    ProposedMove.REDO: Action.PLAN_REDO,
}
DECISIONS = {
    decision_menu: Choice(action=action, label=planning_wording.BUTTONS[decision_menu])
    for decision_menu, action in ACTIONS.items()
}
ROUND = Choice(action=Action.PLAN_ROUND, label=planning_wording.ANOTHER_ROUND)
SKIP_REST = Choice(action=Action.PLAN_SKIP_REST, label=planning_wording.SKIP_REST)
STRAIGHT = Choice(action=Action.PLAN_STRAIGHT, label=planning_wording.STRAIGHT)
LEAVE = Choice(action=Action.PLAN_LEAVE, label=planning_wording.LEAVE)
PLAN = Choice(action=Action.PLAN, label=planning_wording.PLAN, emphasis=Emphasis.PRIMARY)


def skip_choice(number: int) -> Choice:
    return Choice(action=Action.PLAN_SKIP, label=planning_wording.skip_question(number))


def question_menu(ask: Ask, speaker: str) -> Message:
    """Most questions are answered in words."""
    passing = skip_choice(ask.question.number)
    choices = (passing, SKIP_REST, STRAIGHT) if ask.left else (passing, STRAIGHT)
    return Message(
        text=planning_wording.asked(ask),
        speaker=speaker,
        choices=choices,
        note=planning_wording.HOW_TO_ANSWER,
    )


def decision_menu(ws: Workshop, text: str) -> Message:
    """What is proposed comes first; what would come to nothing is not offered."""
    assert ws.proposal, "there is a proposal where people are asked to decide"
    proposed = ws.proposal.decision
    first = DECISIONS[proposed].but(emphasis=Emphasis.PRIMARY)
    others = [choice for one, choice in DECISIONS.items() if one is not proposed and _makes_sense(ws, one)]
    choices = (first, *others) if _makes_sense(ws, proposed) else tuple(others)
    *most, last = choices
    return Message(text=text, choices=(*most, ROUND, last, *((LEAVE,) if ws.held else ())))


def ready_menu(text: str, *, analysed: bool) -> Message:
    again = DECISIONS[ProposedMove.REDO]
    if analysed:
        return Message(text=text, choices=(again,), note=planning_wording.BEGIN_AGAIN_NOTE)
    go_on = LEAVE.but(label=planning_wording.TO_THE_ANALYSIS, emphasis=Emphasis.PRIMARY)
    return Message(text=text, choices=(go_on, again), note=planning_wording.BEGIN_AGAIN_NOTE)


def _makes_sense(ws: Workshop, one: ProposedMove) -> bool:
    if one is ProposedMove.CLARIFY:
        return bool(ws.open_questions)
    return not (one is ProposedMove.HOLD and ws.held)
