"""
The lead's opening of an elaboration: what was said, one question worth several views, and who answers first.

The shape is the reference's (§2.4); every word between the fixed ones is people's, the step's or the personas'.
"""

from collections.abc import Sequence

from bot.domain.catalog.agenda import depth_of_step
from bot.domain.roundtable.state import Roundtable
from bot.voices.offline.asking import step_questions
from bot.voices.offline.phrases import quoted
from bot.voices.offline.reading import Kind, Said, said_in
from bot.voices.offline.situation import Situation
from bot.voices.offline.validating import missing

STATEMENTS_RECALLED = 2
NOTHING_SAID = "Nobody has said much about it yet."


def frame(here: Situation) -> str:
    covered = here.step.title if here.step else here.debate.topic
    return (
        f"We just covered {covered}. {_recalled(here.rt)} "
        f"I think we could benefit from all our perspectives on: {_focus(here)} {_floor_given(here)}"
    )


def _recalled(rt: Roundtable) -> str:
    """The newest statement of each of the last people who made one."""
    newest = dict(_statements(rt))
    recalled = [f"{name} said {said}" for name, said in list(newest.items())[-STATEMENTS_RECALLED:]]
    return f"{', and '.join(recalled)}." if recalled else NOTHING_SAID


def _focus(here: Situation) -> str:
    """A question that people left open, else what they plainly have not said, else one of the lead's about the rest."""
    if question := _left_open(said_in(here.rt, here.rt.answers)):
        return question
    if here.step is None or not _statements(here.rt):
        return next(iter(step_questions(here.step)), "") or here.question("")
    depth = depth_of_step(here.step, here.rt.depth_overrides, here.rt.depth)
    return missing(here.rt, here.step, here.persona, depth=depth) or here.question(here.told)


def _floor_given(here: Situation) -> str:
    others = here.playbook.roster.others(here.persona.key)
    if not others:
        return "What do you all think?"
    lens = others[0].lens
    article = "an" if lens[:1].lower() in {*"aeiou"} else "a"
    return f"{others[0].first_name}, what is your take from {article} {lens} perspective?"


def _statements(rt: Roundtable) -> list[tuple[str, str]]:
    kinds = {Kind.STATEMENT, Kind.DECISION}
    found = [(one.by, quoted(one.text)) for one in said_in(rt, rt.answers) if one.kind in kinds]
    return [(name, said) for name, said in found if said]


def _left_open(said: Sequence[Said]) -> str:
    """Asked by a person, and nothing but questions came after it."""
    newest = next((one for one in reversed(said) if one.kind is not Kind.SMALL_TALK), None)
    if newest is None or newest.kind is not Kind.QUESTION or not quoted(newest.text):
        return ""
    return f"{newest.by}'s question {quoted(newest.text)}."
