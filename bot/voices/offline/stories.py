"""
User stories, read out of "As a … I want … so that …", over as many lines as people took.

What is no story becomes a note with its author: somebody will want to make a story of it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.values.text import clean
from bot.voices.offline.phrases import without_mark
from bot.voices.offline.reading import Kind, pieces
from bot.voices.offline.requirements import criterion, mentioned

STORY_CHARS = 1000
"""What is longer is no story."""

WHO_WHAT_WHY = 3

_BEGINS = re.compile(r"as\s+(?:an?|the)\s+\S", re.IGNORECASE)
_BEGINS_INSIDE = re.compile(r"(?<=[.!?;)]\s)(?=as\s+(?:an?|the)\s+\S.{0,100}?\bI\b)", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:so|in\s+order|because|I)\b", re.IGNORECASE)
_LABEL = re.compile(r"(?:user\s+story|story|US[-\s]?\d{0,4})\s*[:.)-]\s*", re.IGNORECASE)
_REFERENCE = re.compile(
    r" ?[\[(] ?(?:traces? ?[:=]? ?)?FR[- ]?\d[^\])]{0,80}[\])]| ?(?:→|->|traces? ?[:=]) ?FR[- ]?\d[^.]*$"
    r"|[.,;]? FR[- ]?\d{1,4}(?:,? FR[- ]?\d{1,4})*\W{0,3}$",
    re.IGNORECASE,
)
_STORY = re.compile(
    r"""as\s(?:an?\s|the\s)?(?P<role>[^,;:]{2,80}?)[\s,;:]+
        I(?:\s(?:also|really|just))?(?:\s(?:want|need|wish|expect|can|must|should|have)|['’]d\slike|\swould\slike)
        (?:\sto\sbe\sable)?(?:\sto)?\s
        (?P<want>.+?)
        (?:[\s,;–—-]+(?:so\sthat|so|in\sorder\sto|in\sorder\sthat|because)\b[\s,]*(?P<so_that>.+))?""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass
class Story:
    """`traces` are numbers of requirements that the story names itself."""

    role: str
    want: str
    so_that: str
    by: str
    traces: tuple[int, ...] = ()
    criteria: list[str] = field(default_factory=list)


@dataclass
class Note:
    text: str
    by: str
    traces: tuple[int, ...] = ()


@dataclass
class Told:
    stories: list[Story] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def take(self, block: str, by: str) -> None:
        """A story, a criterion of the story before it, or a note."""
        text = _LABEL.sub("", without_mark(block), count=1).strip()
        if (accepted := criterion(text)) and self.stories:
            self.stories[-1].criteria.append(accepted)
        elif story := _story(text, by):
            self.stories.append(story)
        elif kept := " ".join(one.text for one in pieces(text, by=by) if one.kind is not Kind.SMALL_TALK):
            self.notes.append(Note(kept, by, mentioned(text)))


def stories_in(rt: Roundtable, answers: Iterable[Answer], questions: Sequence[str]) -> Told:
    told = Told()
    for answer in answers:
        by = rt.name_of(answer.person)
        if story := _from_numbers(answer.text, questions, by):
            told.stories.append(story)
            continue
        for block in _blocks(answer.text):
            told.take(block, by)
    return told


def _blocks(text: str) -> Iterator[str]:
    """Each in one line: a story with the lines that go on with it, and other lines by themselves."""
    for paragraph in re.split(r"\n\s*\n", clean(text)):
        held = ""
        for part in (part for line in paragraph.splitlines() for part in _BEGINS_INSIDE.split(line)):
            piece = " ".join(part.split())
            if held and not _belongs(piece, held):
                yield held
                held = ""
            held = f"{held} {piece}".strip()
        yield held


def _belongs(line: str, held: str) -> bool:
    """Whether *line* goes on with the story that *held* began."""
    if _is_beginning(line) or not _is_beginning(held) or criterion(line) or len(held) > STORY_CHARS:
        return False
    return not held.endswith((".", "!", ")")) or bool(_GOES_ON.match(line))


def _is_beginning(line: str) -> bool:
    return _BEGINS.match(_LABEL.sub("", without_mark(line), count=1)) is not None


def _story(text: str, by: str) -> Story | None:
    if len(text) > STORY_CHARS:
        return None
    found = _STORY.fullmatch(_REFERENCE.sub("", text).rstrip(" .;!,"))
    return (
        _neat_story(found["role"], found["want"], found["so_that"] or "", text=text, by=by) if found else None
    )


def _from_numbers(text: str, questions: Sequence[str], by: str) -> Story | None:
    """Who, what and why, answered as 1, 2 and 3 of three questions, are a story as well."""
    answered = [one for one in pieces(text, by=by) if one.kind is not Kind.SMALL_TALK]
    if (
        len(questions) != WHO_WHAT_WHY
        or [one.number for one in answered] != [1, 2, 3]
        or "\nas a" in text.lower()
    ):
        return None
    if any(one.kind is not Kind.STATEMENT or _is_beginning(one.text) for one in answered):
        return None
    role, want, so_that = (_REFERENCE.sub("", one.text) for one in answered)
    return _neat_story(role, want.removeprefix("to "), so_that, text=text, by=by)


def _neat_story(*parts: str, text: str, by: str) -> Story | None:
    role, want, so_that = (" ".join(part.split()).strip(" *_`").rstrip(".,;!") for part in parts)
    return Story(role, want, so_that, by, mentioned(text)) if role and want else None
