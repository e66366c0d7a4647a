"""When people are asked whether they agreed."""

from bot.domain.discussion.board import Agreement
from bot.domain.roundtable.marks import MarkKind, MessageMark
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable


def agreements(rt: Roundtable) -> tuple[Agreement, ...]:
    """What people are asked whether they agreed on."""
    if rt.elaboration is None or rt.stage is not Stage.ELABORATING or rt.elaboration.sealed:
        return ()
    return rt.discussed.agreements(tuple(rt.people))


def marked(rt: Roundtable) -> tuple[MessageMark, ...]:
    """The messages of the open step or discussion that people marked as a decision, until a press says yes or no."""
    if rt.elaboration and rt.elaboration.sealed:
        return ()
    return tuple(one for one in rt.marks if one.is_open and one.step_id == rt.step_id)


def prompts(rt: Roundtable) -> tuple[Agreement | MessageMark, ...]:
    """What a yes can be for, in the order of the card."""
    return (*agreements(rt), *marked(rt))


def shown_marks(rt: Roundtable, step_id: str) -> tuple[MessageMark, ...]:
    """
    With names in place of ids. Without what was taken out, what was settled, and an objection that its owner wrote:
    that is an entry itself.
    """
    return tuple(
        one.but(author=rt.name_of(one.author), by=rt.name_of(one.by))
        for one in rt.marks
        if one.step_id == step_id
        and one.kind is not MarkKind.OUT
        and not one.settled
        and (one.entry or not (one.kind is MarkKind.OBJECTION and has_reason(rt, one)))
    )


def has_reason(rt: Roundtable, mark: MessageMark) -> bool:
    """It is an entry, or its owner wrote an objection after the message that they marked."""
    if mark.entry or mark.kind is not MarkKind.OBJECTION:
        return bool(mark.entry)
    since, thread = rt.line_of(mark.ts), rt.line_of("")
    claims = (one.claim("text") for one in rt.specification.active("objection") if one.step == mark.step_id)
    return any(
        one and one.owner.by == mark.by and one.line.startswith(thread) and one.line > since for one in claims
    )
