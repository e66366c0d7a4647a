"""What people read about verbs: the lines of the help, and what is said to words that are none."""

from bot.domain.messages import menus
from bot.domain.messages.message import Action, Choice, Message

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
