"""
How the CPU time of a function grows with its input, on texts that are made to be slow. It is compared with itself, so
the machine does not matter.
"""

import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TypeVar

T = TypeVar("T")

RATIO = 6
"""Four times the text may take at most so many times the CPU time; a quadratic loop takes sixteen times."""
FLOOR = 0.02
"""Seconds of CPU time below which a run is too short to be compared, and too short to matter."""
RUNS = 15
ENDED = 2 * RATIO
"""A run is ended after so many times the CPU time of the shorter text…"""
CERTAIN = 3
"""…and so many of them are no accident."""
ENDLESS_SECONDS = 1.0
"""Of CPU time: the shorter text takes a tenth of that, so what takes longer than this never ends."""

SHAPES = {
    "tabs": "\t",
    "spaces": " ",
    "lines": "\n",
    "spaced lines": " \n",
    "letters": "a",
    "capitals": "A",
    "words": "a ",
    "capital words": "Ab ",
    "digits": "1",
    "digits and commas": "1,",
    "amounts": "1 day ",
    "dots": ".",
    "sentences": "a. ",
    "questions": "why? ",
    "stars": "*",
    "emphasis": "*a_",
    "strong": "**a ",
    "underscores": "_",
    "backticks": "`",
    "backtick runs": "`a``",
    "fences": "```\n",
    "brackets": "[[",
    "links": "](",
    "open links": "[a](",
    "pictures": "![",
    "parentheses": "(",
    "ampersands": "&",
    "angles": "<",
    "mentions": "<@U1",
    "comments": "<!--",
    "quotes": ">",
    "quoted lines": "> a\n",
    "nested quotes": "> ",
    "lists": "- ",
    "list lines": "- a\n",
    "numbered": "1. a\n",
    "headings": "# a\n",
    "pipes": "|",
    "table": "|a|b|\n",
    "labels": "a:",
    "label lines": "AC: a\n",
    "ids": "FR-001, ",
    "semicolons": "; a: b",
    "arrows": " -> ",
    "quotation marks": '"',
    "quotations": '"a" ',
    "apostrophes": "'a",
    "braces": "{",
    "records": '{"stances":',
    "records in fences": '```record\n{"say":\n',
    "arrays": "[",
    "backslashes": "\\",
    "addresses": "https://a.b/",
    "paths": "a/b.c",
    "marks": "\u0301",
    "zero width": "\u200b",
    "flags": "\U0001f1e9",
    "joiners": "\U0001f468\u200d",
    "turns": "[t01] ",
    "passwords": "password: ",
    "keys": "xoxb-1",
    "rows of keys": "api_key = a1\n",
    "names": "Maya, ",
    "options": "option A: ",
    "wishes": "i think we're ",
    "statements listed": "take over f0, f0, ",
    "requirements": "FR: it answers {n} requests\n",
    "criteria": "AC: it answers {n} requests\n",
    "different rows": "- client {n} waits\n",
    "different cells": "|FR-001|client {n}|\n",
    "different keywords": "keywords: a{n}, b{n}, ",
    "different words": "word{n} ",
    "different names": "Client{n}Of ",
    "different quotations": '"client {n} waits" ',
    "denials": "clients {n} do not wait {n} ",
    "dates": "{n}.01.2026 ",
    "amounts in sentences": "Client waits {n} days. ",
    "rates": "{n} times a day ",
    "citations": "src/a{n}.py:{n}@1a2b3c4 ",
    "fields of JSON": '"a{n}": 1, ',
    "sections of elaborations": "<!-- Elaboration: step 01-{n}, now -->\n",
    "different headings": "## {n}. Scope\n",
    "different options": "option: the client {n}\n",
    "different decisions": "decision: the client {n}; because: it waits {n}\n",
}
"""In some of them `{n}` is another number each time."""


_RUN = count()


class TooSlow(Exception):
    pass


def grown(piece: str, size: int, tail: str = "\x00") -> str:
    """At least *size* characters of *piece*, and at last something that fits nothing."""
    times = size // len(piece) + 1
    return (
        "".join(piece.replace("{n}", str(number)) for number in range(times))
        if "{n}" in piece
        else piece * times
    ) + tail


def grows_no_faster(read: Callable[[T], object], text_of: Callable[[int], T], size: int) -> None:
    slow = growth(read, text_of, size=size)
    assert not slow, slow


def growth(read: Callable[[T], object], text_of: Callable[[int], T], *, size: int) -> str:
    """Why `text_of(4 * size)` takes much more than four times as long as `text_of(size)`; empty where it does not."""
    small, large = text_of(size), text_of(4 * size)
    ratios: list[float] = []
    most = ENDLESS_SECONDS
    while len(ratios) < RUNS and sum(one >= ENDED for one in ratios) < CERTAIN:
        # One after the other: a machine may be twice as fast a second later.
        whole = _seconds(read, large, most=most)
        if whole < FLOOR:
            return ""
        part = _seconds(read, small, most=ENDLESS_SECONDS)
        if part >= ENDLESS_SECONDS:
            return f"more than {ENDLESS_SECONDS:g} seconds for {size}"
        enough = ENDED * max(part, FLOOR)
        if whole < most or most >= enough:
            ratios.append(whole / part)
            if ratios[-1] <= RATIO:
                return ""
        most = enough
    return f"{min(ratios):.1f} times as long for {4 * size} as for {size}"


def all_take_no_time(read: Callable[[T], object], texts: Sequence[T]) -> bool:
    """Whether they are read together in less time than one of them may take without being compared."""
    return _seconds(lambda each: [read(one) for one in each], texts, most=ENDLESS_SECONDS) < FLOOR


def afresh(read: Callable[[str], object]) -> Callable[[str], object]:
    """With another text each time: some results are remembered."""
    return lambda text: read(f"{next(_RUN)} {text}{next(_RUN)}")


def _seconds(read: Callable[[T], object], text: T, *, most: float) -> float:
    """Of CPU time; it is ended after *most*."""
    try:
        with _undisturbed(most):
            before = time.thread_time()  # with a timer set, the clock of the process is only counted in ticks
            read(text)
            return time.thread_time() - before
    except TooSlow:
        return most


@contextmanager
def _undisturbed(most: float) -> Iterator[None]:
    """
    Without the garbage collector, and with an end: a regular expression looks for signals while it searches. Nothing is
    traced: who measures coverage has a lock, and an end while it is held would be a wait without one.
    """

    def end(*_: object) -> None:
        raise TooSlow

    collects, traces = gc.isenabled(), sys.gettrace()
    gc.disable()
    sys.settrace(None)
    signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, signal.SIG_IGN)  # a late one would end the process
        sys.settrace(traces)
        if collects:
            gc.enable()
