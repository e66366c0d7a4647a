"""The block of a discussion in which nobody has typed or pressed anything: what a voice adds to it, alone."""

from bot.domain.discussion.block import DiscussionBlock, markdown
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.discussion.synthesis import Synthesis
from bot.domain.roundtable import citing
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import syntheses
from bot.domain.values.places import Place
from tests.domain.books import few_steps

PLAYBOOK = few_steps()
PARTICIPANTS = "Maya Chen (BA), Alex Rivera (Architect), Jordan Park (Designer)"


def roundtable(debate: Elaboration) -> Roundtable:
    return Roundtable(
        incarnation="1",
        slug="offline-sync",
        title="Offline sync",
        place=Place(team="T", channel="C1", thread="1"),
        stage=Stage.ELABORATING,
        elaboration=debate,
        step_id=debate.step_id,
        now="2026-01-01T00:00:00.000Z",
    )


def block(synthesis: Synthesis, debate: Elaboration) -> DiscussionBlock:
    given = citing.grounded(synthesis, debate)
    return syntheses.concluded_block(roundtable(debate), given, PLAYBOOK).block


def shown(found: DiscussionBlock) -> str:
    return markdown(
        found,
        step_id="01-03",
        title="User Journeys",
        participants=PARTICIPANTS,
        turns=7,
        exit="user-initiated",
    )
