"""What the host says about silence and money."""


def muted(name: str) -> str:
    return (
        f"{name} muted the personas. What you write is still recorded, and buttons work. "
        "Say `@roundtable unmute` when you want to hear them again."
    )


def unmuted(name: str) -> str:
    return f"{name} unmuted the personas."


def used_up_in_a_discussion() -> str:
    return "What models may take for this item is used up. I'm putting together what we have."


def used_up_in_a_step(total: str) -> str:
    return (
        f"{_used_up(total)} The personas are quiet from here on; what you write is still recorded. Finish the step "
        "with what there is, or allow as much again?"
    )


def used_up_elsewhere(total: str) -> str:
    return f"{_used_up(total)} The next menu lets you go on without the personas, or allow as much again."


def reserve_gone(total: str) -> str:
    return (
        f"What models may take for this item is used up, the reserve, too: {total}. Nothing more is asked of them "
        "until somebody presses *Allow as much again*; meanwhile steps are written down in your own words."
    )


def no_planning_without(total: str) -> str:
    return (
        f"What models may take for this item is used up, the reserve, too: {total}. What was said so far is kept. "
        "Allow as much again, or leave the planning for now?"
    )


def allowed(name: str, total: str) -> str:
    return f"{name} allowed more: models may take {total} for this item."


def _used_up(total: str) -> str:
    return f"What models may take for this item is used up: {total}, less a reserve for writing things down."
