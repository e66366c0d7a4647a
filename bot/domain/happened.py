"""What every input is: something that happened, known by a key."""

from bot.domain.value import Stored


class Happened(Stored):
    """`at` is when we heard of it, in the form of a transcript's `ts`."""

    key: str
    at: str


class Paid(Happened):
    """What came of an effect."""

    effect: str
