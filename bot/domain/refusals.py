"""What one person is told who asked for something that cannot be just now. Nothing was changed by it."""


def already_decided(sentence: str) -> str:
    return f"That menu is over: {sentence.rstrip('.')}. Nothing was changed."


def unknown_menu() -> str:
    return "That button belongs to an earlier moment of this roundtable. Please use the newest menu in the thread."


def written_before(said: str, what: str, button: str) -> str:
    """*said* was typed before *what* stands in the thread now; *button* does the same, if there is one."""
    sentence = f"You wrote *{said}* before this {what}."
    if button:
        return f"{sentence} Press *{button}* if you meant this one."
    return f"{sentence} Nothing was changed. Type it again if you still want it."


def belongs_to(step: str) -> str:
    return (
        f"You wrote this while step {step} was open, so it is kept with that step, which is written already. "
        "If it belongs to what is asked now, please write it again."
    )


def guests_talk() -> str:
    return (
        "Guests and people of other organisations are welcome to write here, and it counts; the buttons, and words "
        "like `stop` or `finish`, are for members of this workspace."
    )


def unverified() -> str:
    return (
        "Slack has not told me who you are, so I treat you as a guest for now: what you write counts, and the buttons, "
        "and words like `stop` or `finish`, are for members of this workspace. Please try again in a minute."
    )


def participants_press() -> str:
    return "The buttons are for those who take part: write something in the thread first, and then they are yours, too."


def starter_presses(name: str) -> str:
    return f"{name} started this roundtable and presses its buttons. What you write in the thread counts all the same."


def muted_already() -> str:
    return "The personas are muted already. Say `@roundtable unmute` to hear them again."


def not_muted() -> str:
    return "The personas are not muted."


def budget_used_up() -> str:
    return "What models may take for this item is used up. Allow more with the button beside, or end the discussion."


def saving() -> str:
    return "I'm just saving. Please try again in a moment."


def nothing_to_finish() -> str:
    return "There is no open step to finish right now."


def no_depth_now() -> str:
    return "The depth can be changed while a step or its menu is open."


def nothing_running() -> str:
    return "Nothing is running here; the roundtable is stopped already."


def discussing() -> str:
    return (
        "A discussion is going on, or was stopped in the middle. End it first, then the planning can begin."
    )


def no_planning_now() -> str:
    return "Something has to be put right first: press Retry in the thread, then say `plan` again."


def no_roles() -> str:
    return "There is nobody to plan with: the folder `personas/workshop` has no roles."


def held_already() -> str:
    return "This roundtable is being held already. Say `/roundtable resume` to go on with it."


def not_opened() -> str:
    return "This roundtable has no thread yet. Say `/roundtable start` again."
