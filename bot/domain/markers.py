"""
What people mark in a discussion, so that it cannot get lost on the way into the synthesis: a line that begins with one
of a few words and a colon ("decision: …", "I object: …"). Anything else they say is discussion, whatever it means.
"""

import re
from collections.abc import Iterator

from bot.domain.markdown import outline
from bot.domain.text import one_line

DECISION = (
    r"decision|decided|(?:i|we) decided?|agreed|resolution|entscheidung|beschluss|décision|decisión|決定"
)
OBJECTION = r"objection|i object|einspruch|einwand|objeción|異議"
MARKED_CHARS = 1_000


def _labelled(label: str) -> re.Pattern[str]:
    return re.compile(
        rf"[ \t]{{0,8}}(?:(?:[-*+•]|\d{{1,3}}[.)])[ \t]{{1,4}})?[*_]{{0,2}}(?:{label})s?[*_]{{0,2}}[ \t]{{0,4}}[:：]"
        r"[*_]{0,2}[ \t]*(?P<what>\S.*)",
        re.IGNORECASE,
    )


_DECIDES, _OBJECTS = _labelled(DECISION), _labelled(OBJECTION)


def decisions(text: str) -> tuple[str, ...]:
    """Word by word, each once; what is quoted, or stands in code, was said by somebody else."""
    return tuple(dict.fromkeys(_marked(text, _DECIDES)))


def objections(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_marked(text, _OBJECTS)))


def _marked(text: str, label: re.Pattern[str]) -> Iterator[str]:
    page = outline(text)
    for number, row in enumerate(page.lines):
        found = label.match(row) if number not in page.hidden else None
        if found and (what := one_line(found["what"], MARKED_CHARS)):
            yield what
