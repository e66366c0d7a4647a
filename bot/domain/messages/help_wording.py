"""What a question to the bot is answered with, by topic. The words that name a topic are content (`entries.yaml`)."""

from collections.abc import Mapping, Sequence

from bot.domain.messages.message import ITEM, Action, Choice, Message
from bot.domain.values.text import listed

NO_ANSWER = (
    "I can't answer that. Ask a person: write `open question: …`, and it stays open until somebody answers."
)
ANSWERS: Mapping[str, str] = {
    "disagree": "**If you don't agree:** type `E` at a menu to discuss. There, say `for A` or `for B`, and "
    "`objection: …` for what worries you; objections stay in the record, in your words.",
    "decide": "**To decide:** write `decision: …`, or press *Record decision…* in a discussion. Only people decide; "
    "a model's words are suggestions until one of you accepts them.",
    "undo": "**To take something back:** write its id, as in `FR-001: new words` or `DEC-001: withdrawn`, or edit or "
    "delete your own message.",
    "who": "**Who said what:** each line of the files names its author. `decision: …; decided by: Grace` names who "
    "decided, and `owner: Grace` behind a `;` who has to do something.",
    "when": "**When answers are due:** write `due 2026-11-30 17:00` while a step or a discussion is open, or "
    "`no limit`. Nothing happens by itself then.",
    "export": "**To get the record as files:** write `@roundtable export`. The files are also in git.",
    "private": "**What is kept:** everything in this thread, except what begins with `aside:`. A position before "
    "others see it: type `/roundtable position A, very sure` in the channel.",
    "model": "**Models:** without one I ask, and keep your words. With one, personas suggest entries, and nothing "
    "counts until a person accepts it; `@roundtable mute` keeps them quiet.",
    "next": "**What comes next:** answer the open step, then type `finish`, and at its menu `C` to continue. "
    "`@roundtable status` shows where you are.",
    "people": "**To take part:** just write in this thread. `nudge` asks those who have not answered the open step.",
}

KEEP_OPEN = Choice(action=Action.FILE, label="Keep it as an open question")


def no_model(names: Sequence[str], value: str) -> Message:
    """*value* is that of the button; empty where no note is to be kept."""
    text = f"{listed(names)} {'has' if len(names) == 1 else 'have'} no model here."
    choices = (KEEP_OPEN.but(value=value),) if value else ()
    return Message(text=text, choices=choices, token=ITEM)
