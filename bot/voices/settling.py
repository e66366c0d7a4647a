"""
Ids that stay what they are (issue 5 §3): what a mind wrote anew gets the numbers that the file has already.

Equal words keep their number. Words that were changed keep it, too, when they are still about the same; anything else
is new, and is counted on from the highest there is. Nothing that has a number disappears.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from bot.voices.offline.lexicon import TOO_COMMON
from bot.voices.offline.numbering import UNSET, Requirement, Spec, read_spec
from bot.voices.offline.phrases import key, words
from bot.voices.offline.requirements import fr_id

_TITLE = re.compile(r"^(?P<mark>#{1,6}[ \t]+\**)FR-0*(?P<number>\d{1,4})(?=\**[ \t]*[:–—-])", re.IGNORECASE)
_CRITERION = re.compile(
    r"^(?P<mark>[ \t]*[-*][ \t]+\**)AC-0*\d{1,4}-0*(?P<number>\d{1,3})(?=\**[ \t]*:)", re.IGNORECASE
)


def merged_sections(existing: str, body: str, heading: str) -> str | None:
    """The *body* of the section *heading* with the numbers of the page *existing*; None if it has no requirement."""
    before = read_spec(existing, heading)
    written = read_spec(f"## {heading}\n\n{_unique(body)}", heading)
    if not written.requirements:
        return None
    merged = _requirements(before, written)
    strangers = list(dict.fromkeys((*before.strangers, *written.strangers)))
    return Spec(written.intro or before.intro, merged, strangers).markdown("")


def numbers_for(known: Mapping[int, str], written: Sequence[tuple[int, str]]) -> tuple[int, ...]:
    """The numbers that *written* texts get, given those *known* already: each of them once."""
    homes = {key(text): number for number, text in known.items()}
    claimed = {homes[key(text)] for _, text in written if key(text) in homes}
    highest = max((*known, *(number for number, _ in written)), default=0)
    free = count(highest + 1)
    taken: set[int] = set()
    found = []
    for number, text in written:
        place = homes.get(key(text))
        if place is None or place in taken:
            is_free = number not in taken and number not in claimed
            stays = is_free and (number not in known or _alike(known[number], text))
            place = number if stays else next(free)
        taken.add(place)
        found.append(place)
    return tuple(found)


def _requirements(before: Spec, written: Spec) -> list[Requirement]:
    known = {one.number: one for one in before.requirements}
    titles = {number: one.title for number, one in known.items()}
    numbers = numbers_for(titles, [(one.number, one.title) for one in written.requirements])
    merged = dict(known)
    for number, one in zip(numbers, written.requirements, strict=True):
        merged[number] = _merged(known.get(number), one, number)
    return [merged[number] for number in sorted(merged)]


def _merged(known: Requirement | None, written: Requirement, number: int) -> Requirement:
    """What is written now, with everything of the *known* one that is not said anew."""
    if known is None:
        written.number = number
        return written
    texts = list(written.criteria.items())
    criteria = dict(zip(numbers_for(known.criteria, texts), (text for _, text in texts), strict=True))
    after = Requirement(
        number,
        known.title,
        prose=written.prose if "".join(written.prose).strip() else known.prose,
        criteria={**known.criteria, **criteria},
        bullets=list(dict.fromkeys((*known.bullets, *written.bullets))),
        priority=known.priority if written.priority == UNSET else written.priority,
        traces=known.traces or written.traces,
    )
    if not after.is_called(written.title):
        after.rename(written.title)
    return after


def _alike(one: str, other: str) -> bool:
    return bool(_telling(one) & _telling(other))


def _telling(text: str) -> set[str]:
    return {word.rstrip("s") for word in words(text) if len(word) > 2 and word not in TOO_COMMON}


def _unique(body: str) -> str:
    """With no number twice; which one of two is the older, their words will tell."""
    rows = body.split("\n")
    requirements = _Count(rows, _TITLE)
    criteria: _Count | None = None
    owner = 0
    for place, row in enumerate(rows):
        if title := _TITLE.match(row):
            owner = requirements.of(int(title["number"]))
            rows[place] = f"{title['mark']}{fr_id(owner)}{row[title.end() :]}"
            criteria = _Count(_below(rows, place), _CRITERION)
        elif criteria and (found := _CRITERION.match(row)):
            number = criteria.of(int(found["number"]))
            rows[place] = f"- AC-{owner:03}-{number:02}{row[found.end() :].replace('**:', ':', 1)}"
    return "\n".join(rows)


def _below(rows: Sequence[str], place: int) -> Iterator[str]:
    for row in rows[place + 1 :]:
        if _TITLE.match(row):
            return
        yield row


class _Count:
    """A number as it is, the first time; the next one that nobody has, when it comes again."""

    def __init__(self, rows: "Iterator[str] | Sequence[str]", pattern: re.Pattern[str]) -> None:
        found = (pattern.match(row) for row in rows)
        self._taken: set[int] = set()
        self._next: Callable[[], int] = count(
            max((int(one["number"]) for one in found if one), default=0) + 1
        ).__next__

    def of(self, number: int) -> int:
        if number in self._taken or number == 0:
            number = self._next()
        self._taken.add(number)
        return number
