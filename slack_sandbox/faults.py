"""Everything that can be made to go wrong, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    What happens to the next calls of *method* (`*` is any), counted down from *times*.

    With *after* the method is performed first: the message is posted, and only the answer is lost. With *late* it is
    performed so many seconds after the app has been told that it failed.
    *hang_up* closes the connection without an answer. *channel* limits the fault to calls that name it.
    """

    method: str
    error: str = ""
    status: int = 0
    body: str = ""
    retry_after: float = 0
    delay: float = 0
    hang_up: bool = False
    after: bool = False
    late: float = 0
    channel: str = ""
    times: int = 1

    def hits(self, method: str, args: Mapping[str, Any]) -> bool:
        return self.method in {method, "*"} and self.channel in {"", args.get("channel")}


@dataclass(slots=True)
class Faults:
    """Switches for deliveries; faults of Web API methods are planned with `plan`."""

    drop_acks: int = 0
    """So many acknowledgements to come are lost on their way."""
    copies: int = 0
    """Every event is delivered so many times more, though it was acknowledged."""
    frozen: bool = False
    """Sockets stay open, and nothing comes out of them: no envelope, no pong."""
    holding: bool = False
    """Events wait until they are released, in any order."""
    _planned: tuple[Fault, ...] = ()

    def plan(self, fault: Fault) -> None:
        self._planned = (*self._planned, fault)

    def take(self, method: str, args: Mapping[str, Any]) -> Fault | None:
        """The first planned fault that hits this call; it is used up by one."""
        for fault in self._planned:
            if fault.hits(method, args):
                self._use(fault)
                return fault
        return None

    def clear(self) -> None:
        self.drop_acks, self.copies, self.frozen, self.holding, self._planned = 0, 0, False, False, ()

    def take_ack(self) -> bool:
        """Whether this acknowledgement is lost."""
        if not self.drop_acks:
            return False
        self.drop_acks -= 1
        return True

    def _use(self, used: Fault) -> None:
        left = replace(used, times=used.times - 1)
        self._planned = tuple(
            left if fault is used else fault for fault in self._planned if fault is not used or left.times
        )
