"""What a writer has in front of it: one output of one step, what was said, and the item's files as they are."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.catalog.agenda import Step
from bot.domain.item.artifacts import SectionEdit
from bot.domain.roundtable.state import Answer, Roundtable
from bot.voices.offline.reading import Said

UPPER = {"Nfr": "NFR", "Api": "API", "Adr": "ADR", "Ux": "UX"}


@dataclass(frozen=True)
class Sheet:
    rt: Roundtable
    step: Step
    output: str
    answers: tuple[Answer, ...]
    said: tuple[Said, ...]
    questions: tuple[str, ...]
    files: Mapping[str, str]
    skipped: bool = False

    @property
    def text(self) -> str:
        """The output as it is; empty when there is none yet."""
        return self.file(self.output)

    @property
    def only_feedback(self) -> bool:
        """
        Whether the answers to the questions are not at hand, only what was said afterwards.

        So it is after the store was lost: the file knows more than the roundtable does.
        """
        return all(answer.feedback for answer in self.answers)

    def file(self, name: str) -> str:
        return self.files.get(name) or self.files.get(f"docs/common/{name}") or ""

    def section(self, heading: str, body: str) -> SectionEdit:
        return SectionEdit(path=self.output, heading=heading, title=self._title, body=body)

    @property
    def _title(self) -> str:
        """For `requirements-spec.md`: "Requirements Spec: Dark mode"."""
        stem = self.output.rpartition("/")[2].rpartition(".")[0].replace("-", " ").replace("_", " ").title()
        return f"{' '.join(UPPER.get(word, word) for word in stem.split())}: {self.rt.title}"
