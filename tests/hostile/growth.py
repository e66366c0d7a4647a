"""How the CPU time of a function grows with its input, on texts that are made to be slow."""

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

RATIO = 6
"""Four times the text may take at most so many times the CPU time; a quadratic loop takes sixteen times."""
FLOOR = 0.02
"""Seconds of CPU time below which a run is too short to be compared, and too short to matter."""
RUNS = 15
MOST_SECONDS = 4.0
"""Of CPU time: a run that takes longer is ended, and has failed."""

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


def growth(read: Callable[[str], object], text_of: Callable[[int], str], *, size: int) -> str:
    """Why `text_of(4 * size)` takes much more than four times as long as `text_of(size)`; empty where it does not."""
    small, large = text_of(size), text_of(4 * size)
    ratios: list[float] = []
    with _undisturbed():
        try:
            whole = _seconds(read, large)
            for _ in range(RUNS):
                if whole < FLOOR:
                    return ""
                # One after the other: a machine may be twice as fast a second later.
                part = _seconds(read, small)
                ratios.append(whole / part)
                if ratios[-1] <= RATIO:
                    return ""
                whole = _seconds(read, large)
        except TooSlow:
            return f"more than {MOST_SECONDS:g} seconds for {len(large)} characters"
    return f"{min(ratios):.1f} times as long, {whole:.3f} s, for {len(large)} characters as for {len(small)}"


def _seconds(read: Callable[[str], object], text: str) -> float:
    text = f"{next(_RUN)} {text}{next(_RUN)}"  # another one each time: some results are remembered
    before = time.thread_time()  # with a timer set, the clock of the process is only counted in ticks
    read(text)
    return time.thread_time() - before


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without the garbage collector, and with an end: a regular expression looks for signals while it searches."""

    def end(*_: object) -> None:
        raise TooSlow

    was, collects = signal.signal(signal.SIGVTALRM, end), gc.isenabled()
    gc.disable()
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, was)
        if collects:
            gc.enable()
