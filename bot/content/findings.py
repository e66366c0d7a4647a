"""What turned up while reading: told to people, or to the log."""

from dataclasses import dataclass, field

from bot.domain.taxonomy import Trouble, trouble


@dataclass
class Findings:
    troubles: list[Trouble] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def trouble(self, code: str, **facts: str) -> None:
        self.troubles.append(trouble(code, **facts))

    def note(self, line: str) -> None:
        self.notes.append(line)
