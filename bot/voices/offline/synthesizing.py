"""The end of a discussion without a model: people's words are entries and notes by then, and nothing is added."""

from bot.domain.catalog.schema import NOTE
from bot.domain.discussion.synthesis import NOTHING_RECORDED, SUMMARY_CHARS, Synthesis
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.text import counted, listed, one_line


def synthesize(rt: Roundtable) -> Synthesis:
    """Counts what there is: "1 decision, 2 objections and 4 notes". It is in meta.json, where nobody has a name."""
    board = rt.discussed
    insights, questions, actions = (
        len(board.own(rt.specification.active(kind))) for kind in ("insight", "question", "action")
    )
    lines = {turn.line for turn in board.debate.turns if turn.human}
    notes = [one for one in rt.specification.active(NOTE) if one.first and one.first.line in lines]
    counts = (
        (len(board.own(board.current_decisions)), "decision"),
        (len(board.open_objections), "objection"),
        (insights, "insight"),
        (questions, "open question"),
        (actions, "action"),
        (len(notes), "note"),
    )
    said = listed([counted(number, thing) for number, thing in counts if number])
    return Synthesis(by_rule=True, summary=one_line(said or NOTHING_RECORDED, SUMMARY_CHARS))
