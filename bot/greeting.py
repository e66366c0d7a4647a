"""Whether the models that are configured answer: each is asked for a word, for `roundtable check`."""

from typing import NamedTuple

from bot.cast import minds
from bot.domain.model_names import Chain
from bot.domain.persona import Roster
from bot.settings import Settings


class Greeted(NamedTuple):
    """*sentences* are about those who do not; *stops* says that nobody would speak in a meeting."""

    found: str
    sentences: tuple[str, ...]
    stops: bool


async def greeted(settings: Settings, roster: Roster) -> Greeted:
    """Raises ConfigError with whatever is missing before anybody can be asked."""
    async with minds(settings, roster) as found:
        answers = await found.greeted()
    if not answers:
        return Greeted("offline: the personas facilitate, and do not think for themselves", (), stops=False)
    chain = Chain.read(settings.model)
    somebody = chain.offline or not all(answers[name] for name in chain.names)
    answering = ", ".join(str(name) for name, sentence in answers.items() if not sentence)
    return Greeted(
        f"{answering or 'nobody'} answers", tuple(filter(None, answers.values())), stops=not somebody
    )
