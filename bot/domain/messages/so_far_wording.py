"""What a roundtable has so far, for one person: the accepted entries and the notes of each step."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bot.domain.messages.message import Link, Message
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, one_line

ENTRIES_SHOWN = 5
STEPS_SHOWN = 30
ROW_CHARS = 200


class StepSoFar(NamedTuple):
    """
    `entries` are ids with their words, `notes` words with who said them; `proposed` is a number. `is_open`: it is not
    finished.
    """

    step_id: str
    title: str
    entries: Sequence[tuple[str, str]] = ()
    notes: Sequence[tuple[str, str]] = ()
    proposed: int = 0
    is_open: bool = False


def so_far(title: str, done: int, steps: int, found: Iterable[StepSoFar], *, link: str = "") -> Message:
    known = list(found)
    rows = [f"**{escaped(one_line(title))}**: {done} of {counted(steps, 'step')} done."]
    rows += [row for one in known[:STEPS_SHOWN] for row in _rows(one)]
    if len(known) > STEPS_SHOWN:
        rows.append(f"and {counted(len(known) - STEPS_SHOWN, 'step')} more")
    if not known:
        rows.append("Nothing is recorded yet.")
    note = "Only you see this. `read 01-06` shows all of a step." if known else "Only you see this."
    links = (Link(label="Open the thread", url=link),) if link else ()
    return Message(text="\n".join(rows), note=note, links=links)


def which_item(slugs: Sequence[str]) -> str:
    if not slugs:
        return "There is no item in this channel."
    known = ", ".join(f"`{one}`" for one in slugs)
    return f"Which item? Say it, as in `read so far {slugs[0]}`. There are {known}."


def _rows(one: StepSoFar) -> Iterator[str]:
    yield f"\n**{one.step_id} {escaped(one.title)}**{', not finished' if one.is_open else ''}"
    shown, noted = one.entries[:ENTRIES_SHOWN], one.notes[: max(0, ENTRIES_SHOWN - len(one.entries))]
    for id, words in shown:
        yield f"- {id}: {escaped(one_line(words, ROW_CHARS))}"
    for words, who in noted:
        yield f"- “{escaped(one_line(words, ROW_CHARS))}” – {escaped(who)}"
    left, unseen = len(one.entries) - len(shown), len(one.notes) - len(noted)
    besides = [
        counted(left, "more entry", "more entries") if left else "",
        counted(unseen, "more note") if unseen else "",
        f"{counted(one.proposed, 'suggestion')} not confirmed" if one.proposed else "",
    ]
    if any(besides):
        yield f"- {', '.join(filter(None, besides))}"
