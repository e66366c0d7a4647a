"""Posts of ours that a roundtable comes back to: questions, and messages that are edited in place."""

from enum import StrEnum

from bot.domain.messages.message import Message
from bot.domain.values.value import Stored


class PostedPrompt(Stored):
    """
    A question or a menu as a post of ours: `post` is its effect's id, `ts` Slack's timestamp of it, once that
    is known. `step_id` is the step that it opens; `discussion` says that it opens the discussion of that step.
    """

    post: str
    ts: str = ""
    step_id: str = ""
    discussion: bool = False


class StepCard(Stored):
    """
    The card of a step or of a discussion, besides where it stands: its live message has its `token` as key. `message`
    is what it was offered with, and `first` what stands above the rest. `below` counts the messages below it.
    `ending` replaces the card of a discussion when that is saved.
    """

    step_id: str
    token: str
    message: Message
    first: str = ""
    by: str = ""
    below: int = 0
    ending: Message | None = None


class PromptKind(StrEnum):
    """What `about` names stands behind each."""

    AGREED = "agreed"
    """Everybody is for one option: the positions of an agreement."""
    CHANGES = "changes"
    """What a decision, or an objection that is settled by a change, changes: its id."""
    CONTRADICTED = "contradicted"
    """What is to be settled of that: the same id."""
    TAKEN = "taken"
    """Typed words changed a card that stands far above: the token of its menu."""
    WAITING = "waiting"
    """Something waits for people by name: the ids of the entries, with commas."""


class ThreadPrompt(Stored):
    """The one question of ours at the bottom of the thread, posted *at*. `below` counts the messages below it."""

    kind: PromptKind
    about: str
    at: str = ""
    below: int = 0


class LiveMessage(Stored):
    """
    A message of ours that follows the state. `post` is the effect that posted it, `ts` where it stands, `shown` what
    was sent to Slack last, and `revision` counts the edits. `ending` is what it says once it is over. Slack takes no
    more edits of a *closed* one: it is posted anew when it offers something else.
    """

    post: str = ""
    ts: str = ""
    shown: Message | None = None
    revision: int = 0
    ending: Message | None = None
    closed: bool = False


class ShownSession(Stored):
    """What was last asked of Slack for the session in the *thread*."""

    thread: str = ""
    title: str = ""
    closed: bool = False
