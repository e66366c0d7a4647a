"""A folder of personas and one of steps, with what a test puts there."""

from pathlib import Path

from bot.content.playbook import load
from bot.domain.catalog.agenda import Playbook

REQUIREMENTS = "01-requirements"
FRONT = {
    "step_id": '"01-01"',
    "title": '"Business Context"',
    "persona": '"business-analyst"',
    "depth": '"standard"',
    "outputs": '["requirements-spec.md"]',
}
BODY = "## Standard Mode\n\nMaya Chen: Hello.\n\n1. What hurts?\n"
MAYA = "key: business-analyst\nname: Maya Chen\nrole: Business Analyst\n"


def text_of(body: str = BODY, /, **changes: str | None) -> str:
    """A good step file with some front matter changed, as YAML; None leaves a field out."""
    fields = {name: value for name, value in (FRONT | changes).items() if value is not None}
    return "---\n" + "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"---\n\n{body}"


class Folders:
    """One persona, and steps of the requirements phase unless another one is named."""

    def __init__(self, root: Path) -> None:
        self.personas, self.steps = root / "personas", root / "analysis-steps"
        self.personas.mkdir(parents=True)
        (self.steps / REQUIREMENTS).mkdir(parents=True)
        self.write_persona()

    def write_persona(self, front: str = MAYA) -> None:
        (self.personas / "maya.md").write_text(f"---\n{front}---\n", encoding="utf-8")

    def path(self, name: str = "01-a.md", *, phase: str = REQUIREMENTS) -> Path:
        (self.steps / phase).mkdir(exist_ok=True)
        return self.steps / phase / name

    def write(self, text: str | bytes, name: str = "01-a.md", *, phase: str = REQUIREMENTS) -> None:
        self.path(name, phase=phase).write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self) -> Playbook:
        return load(self.personas, self.steps)

    def refused(self) -> tuple[str, str]:
        """Code and sentence of the one trouble in this phase, and no step there."""
        playbook = self.read()
        assert playbook.agenda.steps_of(REQUIREMENTS) == ()
        [trouble] = playbook.troubles_of(REQUIREMENTS)
        return trouble.code, trouble.sentence
