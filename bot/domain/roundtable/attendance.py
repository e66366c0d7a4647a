"""Who takes part in a roundtable, when answers are due, and what the thread was asked because of that."""

from collections.abc import Mapping
from enum import StrEnum

from bot.domain.messages.message import Message
from bot.domain.values.value import Stored


class ReminderKind(StrEnum):
    ROLL_CALL = "roll_call"
    """Names those from whom nothing was heard about the open step."""
    DEADLINE = "deadline"
    """Says that answers are due, and proposes what people can do now."""


class Reminder(Stored):
    """
    A live message about the open step *step_id*, as long as people can answer it; *message* is what it was posted with.
    `asked` are people who were not heard then, `later` those of them who want to answer tomorrow. `discussion`: it is
    about the discussion of the step.
    """

    kind: ReminderKind
    step_id: str
    token: str
    message: Message
    asked: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    discussion: bool = False

    def offers(self, action: str) -> bool:
        return any(choice.action == action for choice in self.message.offered)


class Attendance(Stored):
    """
    `participants` are ids in the order in which people came: the starter, who was named at the start, who speaks.
    `offsets` are their clocks, in seconds east of UTC, as far as Slack has said. `due` is when answers are due, by the
    clock of whoever set it (`due_offset`). `passed` have nothing to add to the step `step_id`, and `excused` are not
    waited for there; `called` says that the thread was asked about that step already. `nudged` are the entries that
    somebody was asked about by name.
    """

    participants: tuple[str, ...] = ()
    offsets: Mapping[str, int] = {}
    due: str = ""
    due_offset: int = 0
    step_id: str = ""
    passed: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    called: bool = False
    nudged: tuple[str, ...] = ()
    reminders: tuple[Reminder, ...] = ()

    def joining(self, *people: str) -> "Attendance":
        joined = tuple(dict.fromkeys((*self.participants, *filter(None, people))))
        return self if joined == self.participants else self.but(participants=joined)

    def at_step(self, step_id: str) -> "Attendance":
        """What is known about another step does not count for this one."""
        if self.step_id == step_id:
            return self
        return self.but(step_id=step_id, passed=(), excused=(), called=False)

    def open_one(self, kind: ReminderKind) -> Reminder | None:
        return next((one for one in reversed(self.reminders) if one.kind is kind), None)
