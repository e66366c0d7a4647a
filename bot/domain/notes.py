"""What a roundtable keeps note of while it goes on."""

from bot.domain.effects import Effect
from bot.domain.stage import Stage
from bot.domain.value import Stored


class Answer(Stored):
    """Something a person said about the open step. `ts` is the message's."""

    person: str
    text: str
    ts: str
    feedback: bool = False


class Asked(Stored):
    """
    A question or a menu as a post of ours: `post` is its effect's id, `ts` Slack's timestamp of it, once that is known.
    `step_id` is the step that it opens; `discussion` says that it opens the discussion of that step.
    """

    post: str
    ts: str = ""
    step_id: str = ""
    discussion: bool = False


class Overtaken(Stored):
    """A message that was changed to *text*, or deleted (None), before it was heard of itself."""

    ts: str
    text: str | None


class Passed(Stored):
    """A step that this run of a phase went past without doing it, and why, in one sentence."""

    step_id: str
    why: str


class Stalled(Stored):
    """What could not be done, and where we were. Retry does it again, there."""

    effect: Effect
    stage: Stage
