"""What a model is told, and what it says, when there are secrets about."""

from bot.domain.privacy.redaction import Redactor
from bot.voices.model import Completion, LanguageModel, Prompt, RedactingModel, Usage
from bot.voices.prompts.fencing import fenced, sealed

SECRET = "gh" + "p_" + "aB3dE6gH9j" * 4
ALREADY = "[redacted:github-token]"


class Parrot(LanguageModel):
    """Says what it was told last, and a secret of its own."""

    def __init__(self) -> None:
        self.told: list[Prompt] = []

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        self.told.append(prompt)
        return Completion(f"{prompt.moving} {SECRET} {seconds:.0f} {tokens}", Usage("here", "parrot", 0.1))


async def test_a_model_is_told_no_secrets_and_tells_none() -> None:
    """Neither from a file in the workspace, nor out of what it was trained on."""
    parrot = Parrot()
    mind = RedactingModel(parrot, lambda text: Redactor()(text).text)

    thought = await mind.think(
        Prompt(("stable", f"a file: {SECRET}"), f"said: {SECRET}"), seconds=3, tokens=7
    )

    assert parrot.told == [Prompt(("stable", f"a file: {ALREADY}"), f"said: {ALREADY}")]
    assert thought.text == f"said: {ALREADY} {ALREADY} 3 7"
    assert thought.usage.model == "parrot"


async def test_a_key_that_ends_elsewhere_takes_nothing_with_it() -> None:
    """What stands between two files, and after the last of them, is ours: nobody can have it hidden."""
    parrot = Parrot()
    begun, ended = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    files = f"{fenced('file a.md', begun)}\n\nOurs.\n\n{fenced('file b.md', ended)}"
    prompt = sealed((), f"{files}\n\n# Your task\n\nSay what you think.", seed="x")
    await RedactingModel(parrot, lambda text: Redactor()(text).text).think(prompt, seconds=1, tokens=9)

    (asked,) = parrot.told
    assert "BEGIN RSA" not in asked.moving
    assert "Ours." in asked.moving
    assert asked.moving.endswith("# Your task\n\nSay what you think.")
    assert asked.moving.count(prompt.moving[3:19]) == 4
