"""How the work of a function grows with what it reads. It is compared with itself, so the machine does not matter."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMES = 4
MOST = 6.0
"""Linear work is 4 times as much, quadratic work 16 times."""
TRIES, MORE_TRIES = 5, 15
"""Of the short text, and at most of the long one: it has to be quick once, on a machine that others use, too."""
LEAST_SECONDS = 0.002
"""Below this the work is too little to be compared."""


def grows_no_faster(read: Callable[[T], object], text: Callable[[int], T], size: int) -> None:
    """Asserts that *read* takes at most six times the CPU for four times the *text*, the best of some tries each."""
    short, long = text(size), text(TIMES * size)
    most = MOST * max(LEAST_SECONDS, min(_cpu(read, short) for _ in range(TRIES)))
    assert any(_cpu(read, long) <= most for _ in range(MORE_TRIES)), (
        f"more than {MOST:g} times for {TIMES} times the text"
    )


def _cpu(read: Callable[[T], object], text: T) -> float:
    """Without the garbage collector, whose work depends on everything else in this process."""
    gc.disable()
    try:
        began = time.process_time()
        read(text)
        return time.process_time() - began
    finally:
        gc.enable()
