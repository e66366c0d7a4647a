"""Where a roundtable stands: people's words and buttons mean different things in each stage."""

from enum import StrEnum


class Stage(StrEnum):
    OPENING = "opening"
    """The thread is being opened, or read and adopted, and the item's folder made."""
    DISCUSSING = "discussing"
    """A step is open: what people say are answers."""
    WRITING = "writing"
    """A person finished the step or its discussion, or gave feedback: it is being written down and committed."""
    AT_BOUNDARY = "at_boundary"
    """A step is finished, a menu is open: what people say is feedback."""
    ELABORATING = "elaborating"
    """Personas and people discuss a finished step; what people say are turns."""
    CLOSING = "closing"
    """A phase is being closed, or what is on hand saved, before the next thing."""
    STALLED = "stalled"
    """An effect failed that all else depends on: waiting for a person to press Retry."""
    PAUSED = "paused"
    """A person stopped here; `resume` goes on."""
    ANALYSED = "analysed"
    """All phases are done."""


BUSY = frozenset({Stage.OPENING, Stage.WRITING, Stage.CLOSING})
"""
We are at work, and people wait for a moment. What they say is kept; what they ask for has to be asked again, except a
stop.
"""

RESTING = frozenset({Stage.STALLED, Stage.PAUSED, Stage.ANALYSED})
"""Nothing goes on until a person asks for it."""
