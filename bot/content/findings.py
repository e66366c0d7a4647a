"""Problems found while reading: some are shown to people, others go to the log."""

from dataclasses import dataclass, field

from pydantic import ValidationError

from bot.domain.catalog.taxonomy import Trouble, trouble


@dataclass
class Findings:
    troubles: list[Trouble] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def trouble(self, code: str, **facts: str) -> None:
        self.troubles.append(trouble(code, **facts))

    def note(self, line: str) -> None:
        self.notes.append(line)


# Sentences about a wrong field of a persona or a step, which tell its author what to write instead.


_FORMS = {
    "step_id": 'two digits, a hyphen and two digits in quotes, such as "01-09"',
    "title": "a text of 1 to 60 characters",
    "depth": "brief, standard or deep",
    "outputs": "a list of file names that is not empty, such as [quick-scan.md]",
    "key": "lower-case words with hyphens between them, such as business-analyst",
    "name": "a text with letters in it, of at most 60 characters",
    "role": "a text of 1 to 60 characters",
    "actor": "one word of at most 64 letters, such as BusinessAnalyst",
    "phases": "a list of folder names of phases, such as [01-requirements]",
}


def problem_sentence(error: ValidationError) -> tuple[str, str, str]:
    """The first wrong field: its name, its value, and what is wrong with it."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    return name, str(first["input"]), _sentence(name, first["type"], first["msg"])


def _sentence(name: str, kind: str, message: str) -> str:
    """Messages of our own validators are used as they are."""
    if kind == "missing":
        return "it is missing"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    return f"it has to be {_FORMS.get(name, 'a text')}"
