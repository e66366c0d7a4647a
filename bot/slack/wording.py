"""Every sentence that people read because of Slack, and not because of their roundtable."""

from bot.domain.messages.message import Message

COMMAND = "/roundtable"
USAGE = (
    "start Dark mode | resume | status | catchup | export | list | depth deep | review | plan | mute | unmute"
    " | stop | help"
)

NOT_SAVED = "I could not save that just now. Please try again in a moment."
SAVED_BY_NEWER = (
    "A newer version of me saved this roundtable, and I can't open it. Nothing was changed or lost. "
    "Please ask the operator of this bot to start the newer version again."
)
WENT_WRONG = "Something went wrong on my side, and nothing was changed. Please try again in a moment."
POSTED_AGAIN = "(posted again after a restart)"
MOMENT = "One moment."
AS_A_GUEST = "Slack has not told me who you are, so I treat you as a guest for now."
OTHER_VERSION = "That button is from another version of me. Say `@roundtable status` to see where we are."
GOING_ON = "Going on with **%s**."
UNKNOWN_SHORTCUT = "That shortcut is from another version of me. Say `/roundtable help` to see what I can do."
NO_TITLE = "What is it about? Give it a title, for example `/roundtable start Dark mode`."
WHICH_DEPTH = "How deep? Say `depth brief`, `depth standard` or `depth deep`."
CUT = "… [the message was longer than I can keep; the rest is only in Slack]"
APP_LEVEL_REFUSED = (
    "Slack does not accept the app-level token. Set SLACK_APP_TOKEN to one with connections:write."
)
LINK_DISABLED = (
    "Socket Mode was switched off for this app, so nothing is heard from Slack. Switch it on again in the app's "
    "settings, or use HTTP with SLACK_SIGNING_SECRET."
)
NO_CONNECTION = "Slack did not open a Socket Mode connection within %s seconds."

HELP = """\
I hold roundtables: three personas lead your team through an analysis in one thread, and everything agreed is kept.

• `/roundtable start Dark mode` – begin on a title, an issue (`#42`, `PROJ-12`) or an item I know
• `/roundtable resume` – go on with an item of this channel that you pick; `resume dark-mode` names it
• `/roundtable status` – how far an item is
• `/roundtable catchup` – what you have missed since you last said something
• `/roundtable export` – the record as files, into the thread
• `/roundtable list` – what is in this channel
• `/roundtable depth deep` – how much I ask: `brief`, `standard` or `deep`
• `/roundtable review` – what the personas find in an item's files; `review dark-mode by Maya`, or `for risks`
• `/roundtable plan` – five roles ask what they have to know, judge, and write a plan; `plan dark-mode` for that item, \
`plan` and a few words for something new
• `/roundtable stop` – pause; nothing is lost
• `/roundtable mute` – the personas say nothing, and what you write is still recorded; `unmute` ends that
• `/roundtable help` – this

Slack has no slash commands inside threads: mention me there instead, as in `@roundtable status`.
In the thread of a roundtable you can simply write; everything said there belongs to it, except what begins with \
`aside:`, which is not recorded and not answered. `stop`, alone in a message, stops a discussion at once, and `help` \
tells what else you can say there."""


def not_understood(text: str, *, meant: str) -> str:
    """*meant* is the verb that it begins with, or nearly; empty when it is like none."""
    if not meant:
        return f"I don't understand `{text}`. Here is what I can do."
    if text.lower().startswith(meant):
        return f"I know `{meant}`, but not `{text}`. Here is how it goes."
    return f"I don't understand `{text}`. Did you mean `{meant}`?"


def plain(sentence: str) -> Message:
    return Message(text=sentence)
