"""What people read when something was lost, refused or damaged, besides the sentences of the taxonomy."""

from bot.domain.values.text import counted, listed

COULD_NOT_READ = "I could not read what was said in this thread before, so the item starts without it."
WAS_AWAY_AND_CANNOT_READ = (
    "I was away for a while, and cannot read what was said meanwhile. Say again what I should know."
)
PRESS_RETRY = "Nothing is lost. Press Retry when you want me to try again."
ANSWER_TOO_LATE = "Nobody waited for the answer of a model any more. What it took is counted."
ANSWER_NOT_USABLE = "A model answered, and the answer could not be used. What it took is counted."
NOT_SHOWN = "Slack did not let me show a message here. It is in the transcript. You can go on."
"""In place of a menu whose text Slack refuses: its buttons must not be lost with it."""
WRITTEN_ANEW = "meta.json could not be read, so I have written it anew from what I know. Nothing is lost."
NOTHING_TO_TAKE_OVER = (
    "There is nothing to take over: all lines of this record have a seal, or were taken over."
)
RESTORABLE = (
    "The item's `meta.json` can't be used as it is: it is damaged or missing. Git still has an earlier version "
    "that I can bring back. Or we start from the beginning. The artifacts, the transcript and the damaged file "
    "stay in both cases. If you repair the file by hand, type `/roundtable resume` afterwards."
)
SAVED_AT_LAST = "What I could not save before is saved now."


def recovered(count: int, *, elsewhere: int = 0, complete: bool = True) -> str:
    """*elsewhere* of the *count* messages were said in a discussion."""
    said = counted(count, "message")
    sentences = ["I had lost the state of this thread, and read the item from git."]
    if complete:
        missing = (
            "Nothing said here is missing." if not count else f"I read {said} here that git did not have yet."
        )
        sentences.append(missing)
    elif count:
        sentences.append(f"I read {said} here that git did not have yet. I could not read the rest.")
    else:
        sentences.append("I could not read what was said here since then. Say again what matters.")
    if elsewhere:
        sentences.append("What was said in a discussion is only in the transcript.")
    return " ".join(sentences)


def was_away(count: int, *, complete: bool) -> str:
    """*count* messages were written meanwhile; not *complete*: and more."""
    said = "your message" if count == 1 else f"your {count} messages"
    sentence = f"I was away for a while, and have now read {said} from that time."
    if complete:
        return sentence
    return f"{sentence} There are more that I could not read. Say again what I do not answer."


def cannot_go_on(sentence: str) -> str:
    return f"The roundtable stopped: {sentence} Fix it, then type `/roundtable resume`."


def channel_gone(title: str, *, archived: bool) -> str:
    if archived:
        return f"The channel of **{title}** was archived, so it is paused. What was said so far is saved."
    return (
        f"I am no longer in the channel of **{title}**, so it is paused. What was said so far is saved. "
        "`/invite @roundtable` there brings me back; then type `/roundtable resume`."
    )


def no_channel(*, archived: bool) -> str:
    """For the transcript."""
    return "The channel was archived." if archived else "The bot was removed from the channel."


def thread_gone(title: str, *, goes_on: bool) -> str:
    then = (
        "It goes on in a new one."
        if goes_on
        else "Say `/roundtable resume`. It then goes on in a new thread."
    )
    return f"The thread of **{title}** was deleted. {then}"


def unread(sentence: str) -> str:
    return f"I could not look into the item's folder: {sentence} I go on with what I know."


def take_over(lines: int) -> str:
    return (
        f"Take over {counted(lines, 'line')} of this record as they stand? I did not seal them: an earlier version "
        "wrote them, or the keys were lost. Until then, what they say counts as proposed."
    )


def taken_over(name: str, lines: int) -> str:
    return f"{name} took over {counted(lines, 'line')} of this record as they stand."


NOT_TAKEN_OVER = "Nothing was taken over: the record in git changed before that was saved."


def restored(what: str) -> str:
    return f"The {what} of this item was deleted. I restored it from git."


def not_written(path: str, text: str) -> str:
    return f"I could not save this in `{path}` yet. Here it is, so that nothing is lost:\n\n{text}"


def put_back(lines: int, commit: str) -> str:
    were, are = ("was", "is") if lines == 1 else ("were", "are")
    changed = f"{counted(lines, 'line')} {were} changed or removed in `{commit}` and {are} put back."
    return f"{changed} To remove words, use `roundtable scrub`."


def lost(steps: tuple[str, ...], *, words: int, complete: bool, permalink: str) -> str:
    """What is in the record again, and what is not."""
    thread = f"[this thread]({permalink})" if permalink else "this thread"
    name = "step" if len(steps) == 1 else "steps"
    which = f" ({name} {listed(steps)})" if steps else ""
    gone = f"The workspace went back, and git no longer has the later commits of this item{which}."
    again = "the progress" if not words else f"the progress and {counted(words, 'message')} of this thread"
    unread = "" if complete else " I could not read all of the thread."
    return f"{gone} I restored {again}.{unread} What the personas said and wrote is only in {thread}."


# What the host says about silence and money.

USED_UP_IN_A_DISCUSSION = "The model budget for this item is used up. Here is what we have."


def muted(name: str) -> str:
    return (
        f"{name} muted the personas. What you write is still recorded, and buttons work. "
        "Say `@roundtable unmute` when you want to hear them again."
    )


def unmuted(name: str) -> str:
    return f"{name} unmuted the personas."


def used_up_in_a_step(used: str) -> str:
    return (
        f"{_used_up(used)} The personas say nothing more. What you write is still recorded. Finish the step "
        "with what there is, or allow as much again?"
    )


def used_up_elsewhere(used: str) -> str:
    return f"{_used_up(used)} The next menu lets you go on without the personas, or allow as much again."


def allowed(name: str, total: str) -> str:
    return f"{name} allowed more: models may take {total} for this item."


def _used_up(used: str) -> str:
    """*used* is how much of how much."""
    return f"The model budget for this item is used up ({used})."


# What one person is told who asked for something that cannot be just now. Nothing was changed by it.

UNKNOWN_MENU = "That button is out of date. Use the newest menu in the thread."
NO_START_HERE = "Roundtables can't be started in this channel. Start it in another one."
GUESTS_TALK = (
    "Guests and people of other organisations can write here, and it is recorded. The buttons, and words like "
    "`stop` or `finish`, are for members of this workspace."
)
UNVERIFIED = (
    "Slack has not told me who you are, so I treat you as a guest for now. What you write is recorded. Buttons, "
    "and words like `stop` or `finish`, are only for members of this workspace. Try again in a minute."
)
PARTICIPANTS_PRESS = (
    "The buttons are for those who take part. Write something in the thread first. Then you can press them."
)
MUTED_ALREADY = "The personas are muted already. Say `@roundtable unmute` to hear them again."
NOT_MUTED = "The personas are not muted."
BUDGET_USED_UP = (
    "The model budget for this item is used up. Press *Allow as much again*, or end the discussion."
)
SAVING = "I am saving. Try again in a moment."
NOTHING_TO_FINISH = "There is no open step to finish right now."
NO_DEPTH_NOW = "The depth can be changed while a step or its menu is open."
NOTHING_RUNNING = "Nothing is running here. The roundtable is stopped already."
DISCUSSING = (
    "A discussion is going on, or was stopped in the middle. End it first, then the planning can begin."
)
NO_PLANNING_NOW = "A problem has to be solved first. Press Retry in the thread, then type `plan` again."
HELD_ALREADY = "This roundtable is running already. Say `/roundtable resume` to go on with it."
NOT_OPENED = "This roundtable has no thread yet. Say `/roundtable start` again."


def already_decided(sentence: str) -> str:
    return f"That menu is over: {sentence.rstrip('.')}. Nothing was changed."


def written_before(said: str, what: str, button: str) -> str:
    """*said* was typed before *what* stands in the thread now; *button* does the same, if there is one."""
    sentence = f"You wrote *{said}* before this {what}."
    if button:
        return f"{sentence} Press *{button}* if you meant this one."
    return f"{sentence} Nothing was changed. Type it again if you still want it."


def belongs_to(step: str) -> str:
    return (
        f"You wrote this while step {step} was open, so I kept it with that step, which is finished. "
        "If it answers the question that is open now, write it again."
    )


def starter_presses(name: str) -> str:
    return f"{name} started this roundtable and presses its buttons. What you write in the thread is still recorded."
