"""A step on paper, and everything that a card of it says."""

from collections.abc import Iterator
from typing import Any

from bot.domain.catalog.steps import Depth
from bot.domain.messages import step_wording
from bot.domain.messages.message import CardRow, Choice, Message
from bot.domain.messages.step_scene import SavedSection, StepScene, asked
from bot.domain.specification.coverage import of_step
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting

MAYA = PLAYBOOK.roster["business-analyst"]
FEATURES = "01-06"


def scene(
    meeting: Meeting, step_id: str = FEATURES, *, depth: Depth = Depth.STANDARD, **given: Any
) -> StepScene:
    """As the open step stands after what was said in the meeting."""
    step = PLAYBOOK.agenda.step(step_id)
    text, _ = step.text_at(depth)
    gaps = of_step(SCHEMA, meeting.specification, step_id)
    known = {"item": "rate limiting"}
    told = step.questions_at(depth) or step.questions_at(Depth.STANDARD)
    questions = [step_wording.prompt(one, known) for one in told]
    facts: dict[str, Any] = {
        "prompt": step_wording.prompt(text, known),
        "gaps": gaps,
        "questions": asked(questions, step.asks_at(depth), SCHEMA, meeting.specification, step_id, gaps=gaps),
    }
    return StepScene(
        step=step,
        persona=MAYA,
        phase="Requirements",
        position=int(step_id[-2:]),
        steps_in_phase=8,
        depth=depth,
        schema=SCHEMA,
        specification=meeting.specification,
        **(facts | given),
    )


def committed(meeting: Meeting, step_id: str = FEATURES) -> tuple[SavedSection, ...]:
    """The sections of the step, as a commit writes them."""
    return tuple(
        SavedSection(path=view.file, heading=view.heading)
        for view in SCHEMA.of_step(step_id)
        if meeting.projection.view(view)
    )


def shown(message: Message) -> str:
    """What the card shows, one row a line."""
    assert message.card
    rows = [message.card.title, message.card.subtitle]
    for part in message.card.parts:
        rows += [part.title, *part.prose.splitlines()]
        rows += map(_in_words, part.rows)
    return "\n".join(filter(None, (*rows, *message.card.foot)))


def part(message: Message, title: str) -> list[str]:
    """The rows of a part, or its prose; nothing where there is no such part."""
    assert message.card
    return [
        row
        for one in message.card.parts
        if one.title == title
        for row in (*one.prose.splitlines(), *map(_in_words, one.rows))
    ]


def _in_words(row: CardRow) -> str:
    return "  " * row.level + " | ".join(filter(None, (row.id, row.text, row.aside)))


def choices(message: Message) -> Iterator[Choice]:
    assert message.card
    yield from message.choices
    yield from message.card.more
    for one in message.card.parts:
        yield from filter(None, (one.button, *one.options))


def labels(message: Message) -> list[str]:
    return [choice.label for choice in message.choices]


def behind_dots(message: Message) -> list[str]:
    assert message.card
    return [choice.label for choice in message.card.more]


def everything(message: Message) -> str:
    """With what is asked before a press counts."""
    asked_first = [
        f"{one.confirm.title}\n{one.confirm.text}\n{one.confirm.yes}"
        for one in choices(message)
        if one.confirm
    ]
    return "\n".join((message.text, shown(message), *asked_first))
