"""Posts of ours that a roundtable comes back to: questions, and messages that are edited in place."""

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


class ShortRemark(Stored):
    """What a person said at a menu without content, such as "brb". It is in the transcript, and in no file."""

    ts: str
    person: str
    text: str


class UncarriedStatement(Stored):
    """
    What was said in the thread of `step_id` and stands in no entry, in the words of who said it, `name`. `line` is that
    of the message, `why` the reason. Its number is used once in the roundtable.
    """

    number: int
    step_id: str
    text: str
    by: str
    name: str
    line: str = ""
    why: str = ""


class StepCard(Stored):
    """
    The message of a step, which is edited in place: its question first, then its menu. `post` is the effect
    that posted it, `ts` where it stands, `message` what it says now, and `shown` what was sent to Slack last.
    `revision` counts the edits. `below` counts the messages below it. At `moved_at` it was posted anew; the post before
    that, `moved_from`, still has to say so. `ending` replaces the card of a discussion when that is saved.
    `remarks` were left out of the files. Slack takes no more edits of a *closed* one: it is posted anew when it offers
    something else.
    """

    step_id: str
    token: str
    post: str
    ts: str = ""
    message: Message
    shown: Message
    revision: int = 0
    first: str = ""
    by: str = ""
    below: int = 0
    moved_at: str = ""
    moved_from: str = ""
    closed: bool = False
    ending: Message | None = None
    remarks: tuple[ShortRemark, ...] = ()


class EditedPost(Stored):
    """
    A post of ours that follows the state, such as the first message: `post` is the effect that posted it, `ts` where it
    stands, `shown` what it says as far as we know. `revision` counts the edits.
    """

    post: str = ""
    ts: str = ""
    shown: Message | None = None
    revision: int = 0


class ShownSession(Stored):
    """What was last asked of Slack for the session in the *thread*."""

    thread: str = ""
    title: str = ""
    closed: bool = False


class PlanCard(Stored):
    """
    The message of the planning workshop, which is edited in place. `post` is the effect that posted it, `ts` where
    it stands, `token` the newest menu on it, `shown` what was sent to Slack last. `first` stands above the rest,
    `note` says what became of the menu.
    """

    post: str
    ts: str = ""
    token: str = ""
    first: str = ""
    note: str = ""
    shown: Message
    revision: int = 0
