"""Which lines come first, of all that have one of some words: those with words that few files have."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import NamedTuple

MOST_LINES = 20
LINES_A_FILE = 3
OF_ITS_FILE, OF_A_DEFINITION, OF_LESS = 0.5, 1.3, 0.6
"""What a word elsewhere in the file counts, what a definition of it does, and what a line of tests or prose does."""
DEFINES = re.compile(
    r"\b(?:class|const|def|enum|fn|fun|func|function|interface|macro|struct|trait|type)\s++(?:\([^)]{0,80}\)\s*+)?(\w++)"
)
"""The name that a line defines, in most languages."""
LESS = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|testing|fixtures?|mocks?|docs?|examples?|vendor|changelog|license)(?:[/_.-]|$)"
    r"|test\.\w+$|-lock\.\w+$|\.(?:md|rst|txt|adoc|lock|csv|jsonl|svg|snap|map)$|\.min\.\w+$",
    re.IGNORECASE,
)


class CodeLine(NamedTuple):
    path: str
    number: int
    text: str


class RankedLines(NamedTuple):
    """The *best*, best first, and how many more lines, in how many more files, have the words."""

    best: tuple[CodeLine, ...]
    more_lines: int
    more_files: int


def ranked(lines: Iterable[CodeLine], words: Sequence[str]) -> RankedLines:
    """By the words in the line, in its path and, for less, elsewhere in its file. The order of *lines* breaks ties."""
    asked = [word.lower() for word in words]
    files: dict[str, list[tuple[CodeLine, list[str]]]] = {}
    for line in lines:
        text = line.text.lower()
        files.setdefault(line.path, []).append((line, [word for word in asked if word in text]))
    in_path = {path: [word for word in asked if word in path.lower()] for path in files}
    of_file = {path: set(in_path[path]).union(*(has for _, has in rows)) for path, rows in files.items()}
    having = Counter(word for has in of_file.values() for word in has)
    rarity = {word: math.log(1 + len(files) / count) for word, count in having.items()}

    def worth(row: tuple[CodeLine, list[str]]) -> float:
        (path, _, text), has = row
        value = sum(rarity[word] for word in (*has, *in_path[path]))
        value += OF_ITS_FILE * sum(rarity[word] for word in of_file[path])
        name = DEFINES.search(text)
        is_defined = name is not None and any(word in name[1].lower() for word in has)
        return value * (OF_A_DEFINITION if is_defined else 1) * (OF_LESS if LESS.search(path) else 1)

    of_files = [row for rows in files.values() for row in nlargest(LINES_A_FILE, rows, key=worth)]
    best = tuple(line for line, _ in nlargest(MOST_LINES, of_files, key=worth))
    more_files = len(files) - len({line.path for line in best})
    return RankedLines(best, sum(map(len, files.values())) - len(best), more_files)
