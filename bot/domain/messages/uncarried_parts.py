"""What was said and stands in no entry, on the card of its step."""

from collections.abc import Iterator, Sequence

from bot.domain.messages.cut_lists import more, rest
from bot.domain.messages.message import Action, CardPart, CardRow, Choice
from bot.domain.messages.step_scene import StepScene
from bot.domain.values.text import counted

SHOWN = 4
TAKE, LEAVE = "take", "leave"
CHOICES = (
    Choice(action=Action.CARRY, label="Take it over", value=TAKE),
    Choice(action=Action.CARRY, label="It is not needed", value=LEAVE),
)
"""For one statement; its number comes in front of the value."""

NOT_LISTED = "That remark is not on the list any more."


def parts(scene: StepScene) -> Iterator[CardPart]:
    """Each with ⋯; the words say that a press makes a note of it."""
    every = scene.uncarried
    if not every:
        return
    are = "remark is" if len(every) == 1 else "remarks are"
    told = "_What you take over becomes a note of this step, in the words in which it was said._"
    yield CardPart(title=f"{len(every)} {are} in no entry", prose=told)
    shown = every if scene.is_whole else every[:SHOWN]
    for one in shown:
        yield CardPart(
            rows=(CardRow(id=f"F{one.number}", text=f"“{one.text}” – {one.by}", aside=one.why),),
            numbered=True,
            options=tuple(choice.but(value=f"{one.number}/{choice.value}") for choice in CHOICES),
        )
    if left := len(every) - len(shown):
        yield rest(scene, more(left))


def typed_words(scene: StepScene) -> tuple[str, ...]:
    if not scene.uncarried:
        return ()
    first = scene.uncarried[0].number
    return f"take over F{first}", f"not needed F{first}"


def quoted(name: str, text: str) -> str:
    return f"{name} said: “{text}”"


def took_over(count: int) -> str:
    return f"took over {counted(count, 'remark')} that no entry had"


def not_needed(texts: Sequence[str]) -> str:
    return f"said that this is not needed: {'; '.join(f'“{one}”' for one in texts)}"
