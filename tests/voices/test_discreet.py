"""What a model is told, and what it says, when there are secrets about."""

from bot.domain.redaction import Redactor
from bot.voices.discreet import DiscreetMind
from bot.voices.mind import Mind, Prompt, Thought, Usage

SECRET = "gh" + "p_" + "aB3dE6gH9j" * 4
ALREADY = "[redacted:github-token]"


class Parrot(Mind):
    """Says what it was told last, and a secret of its own."""

    def __init__(self) -> None:
        self.told: list[Prompt] = []

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        self.told.append(prompt)
        return Thought(f"{prompt.moving} {SECRET} {seconds:.0f} {tokens}", Usage("here", "parrot", 0.1))


async def test_a_model_is_told_no_secrets_and_tells_none() -> None:
    """Neither from a file in the workspace, nor out of what it was trained on."""
    parrot = Parrot()
    mind = DiscreetMind(parrot, lambda text: Redactor()(text).text)

    thought = await mind.think(
        Prompt(("stable", f"a file: {SECRET}"), f"said: {SECRET}"), seconds=3, tokens=7
    )

    assert parrot.told == [Prompt(("stable", f"a file: {ALREADY}"), f"said: {ALREADY}")]
    assert thought.text == f"said: {ALREADY} {ALREADY} 3 7"
    assert thought.usage.model == "parrot"
