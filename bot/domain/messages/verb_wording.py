"""What people read about verbs: the lines of the help, and what is said to words that are none, and to questions."""

from collections.abc import Mapping, Sequence

from bot.domain.messages import menus
from bot.domain.messages.message import ITEM, Action, Choice, Message
from bot.domain.values.text import listed

START = """\
`/roundtable start Dark mode` – begin on a title, an issue (`#42`, `PROJ-12`), a path or an item I know; `start` alone \
opens a form"""
RESUME = (
    "`/roundtable resume` – go on with an item of this channel that you pick; `resume dark-mode` names it"
)
STATUS = "`/roundtable status` – how far an item is"
CATCH_UP = "`/roundtable catchup` – what you have missed since you last said something"
EXPORT = "`/roundtable export` – the record as files, into the thread"
LIST = "`/roundtable list` – what is in this channel"
DECISIONS = """\
`/roundtable decisions` – what was decided, in all items that you may see here; `decisions redis` looks for a word"""
DEPTH = "`/roundtable depth deep` – how much I ask: `brief`, `standard` or `deep`"
REVIEW = """\
`/roundtable review` – what the personas find in an item's files; `review dark-mode by Maya`, or `for risks`"""
READ = """\
`/roundtable read` – all that the newest review of an item found; `read 2` for review 2; `read 01-06` \
shows all of a step, `read so far` what there is of all steps"""
PLAN = """\
`/roundtable plan` – the gaps that five roles see, your verdicts, and the plan; `plan dark-mode` for that item, \
`plan` and a few words for something new"""
POSITION = """\
`/roundtable position A, very sure` – your position in the open discussion; nobody else sees it until all are shown"""
STOP = "`/roundtable stop` – pause; nothing is lost"
MUTE = (
    "`/roundtable mute` – the personas say nothing, and what you write is still recorded; `unmute` ends that"
)
SETTINGS = "`/roundtable settings` – depth and personas, in a form"
WAITING = "`/roundtable waiting` – what waits for you in this channel, or in a direct message everywhere"
REMIND = """\
`/roundtable remind 09:00` – when I tell you in a direct message what waits for you; `snooze` for a day, \
`no reminders` for good"""
HELP = "`/roundtable help` – this; alone, or with `about`, what is held here and what waits for you"

BEFORE = (
    "I hold roundtables: three personas lead your team through an analysis in one thread, and everything agreed"
    " is kept."
)
AFTER = """\
Slack has no slash commands inside threads: mention me there instead, as in `@roundtable status`.
In the thread of a roundtable you can simply write; everything said there belongs to it, except what begins with \
`aside:`, which is not recorded and not answered. `stop`, alone in a message, stops a discussion at once, and `help` \
tells what else you can say there."""

DECIDED = Choice(action=Action.DECISIONS, label="What was decided?")
MORE = Choice(action=Action.HELP_MORE, label="More commands")

WHICH_DEPTH = "How deep? Say `depth brief`, `depth standard` or `depth deep`."


def around(waiting: Message, held: Message) -> Message:
    """*held* is what there is in this channel."""
    start = () if menus.START in waiting.choices else (menus.START,)
    links = {link.url: link for link in (*waiting.links, *held.links)}
    return Message(
        text=f"{held.text}\n\n{waiting.text}",
        choices=(*waiting.choices, *start, DECIDED, MORE),
        links=tuple(links.values()),
    )


def not_understood(text: str, *, meant: str) -> str:
    """*meant* is the verb that it begins with, or nearly; empty when it is like none."""
    if not meant:
        return f"I don't understand `{text}`. Here is what I can do."
    if text.lower().startswith(meant):
        return f"I know `{meant}`, but not `{text}`. These are the commands."
    return f"I don't understand `{text}`. Did you mean `{meant}`?"


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
