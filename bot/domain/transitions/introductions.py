"""
What people are called, once Slack has said it. It says no name with what somebody writes, so until then their id stands
in its place.
"""

import re
from collections.abc import Iterable

from bot.domain import permission
from bot.domain.effects import Commit, Effect, Post, Rewrite, Tell
from bot.domain.message import Message
from bot.domain.outcomes import PersonMet
from bot.domain.place import Person
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Line, Source


def met(rt: Roundtable, happened: PersonMet) -> Roundtable:
    """What nobody has seen yet, and is not in git, gets the name. What people wrote stays as they wrote it."""
    rt = permission.learned(rt, Person(id=happened.person, belongs=happened.belongs))
    rt = rt.but(people={**rt.people, happened.person: happened.name})
    if happened.name == happened.person:
        return rt
    return _Introduction(happened).to(rt)


class _Introduction:
    def __init__(self, happened: PersonMet) -> None:
        self._person, self._name = happened.person, happened.name
        self._id = re.compile(rf"(?<![\w@]){re.escape(happened.person)}(?!\w)")

    def to(self, rt: Roundtable) -> Roundtable:
        return rt.but(
            lines=self._lines(rt.lines),
            outbox=tuple(map(self._effect, rt.outbox)),
            used=tuple(
                one.but(
                    sentence=self._text(one.sentence),
                    rewritten=self._message(one.rewritten) if one.rewritten else None,
                )
                for one in rt.used
            ),
            elaboration=rt.elaboration.met(self._person, self._name) if rt.elaboration else None,
        )

    def _effect(self, effect: Effect) -> Effect:
        match effect:
            case Post() | Rewrite() | Tell():
                return effect.but(message=self._message(effect.message))
            case Commit():
                return effect.but(lines=self._lines(effect.lines))
            case _:
                return effect

    def _lines(self, lines: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(map(self._line, lines))

    def _line(self, line: Line) -> Line:
        if line.meta.get("user_id") == self._person:
            line = line.but(meta={**line.meta, "user_name": self._name})
        return line if line.source is Source.USER else line.but(content=self._text(line.content))

    def _message(self, message: Message) -> Message:
        return message.but(text=self._text(message.text), note=self._text(message.note))

    def _text(self, text: str) -> str:
        return self._id.sub(lambda _: self._name, text)
