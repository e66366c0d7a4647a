"""A mind that answers by script, and remembers what it was asked."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from bot.domain.discussion.elaboration import Elaboration, Stance, Turn, TurnKind
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.claims import Quote
from bot.engine.ports import Facts, VoiceContext, Voices
from bot.errors import VoiceError
from bot.voices.model import Completion, Prompt, Usage
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from tests.voices.people import CONTEXT, MAYA, PLAYBOOK, ROSTER, roundtable

TOOK = Usage(
    "acme", "large", 0.25, tokens_in=900, tokens_out=60, tokens_cached=800, dollars=Decimal("0.0031")
)

Answer = str | VoiceError
Script = Callable[[Prompt], Answer]


class ScriptedMind:
    """Gives its *answers* one after the other, the last one for ever; or whatever its script says to a prompt."""

    def __init__(self, *answers: Answer, script: Script | None = None) -> None:
        self._answers = list(answers)
        self._script = script
        self.asked: list[Prompt] = []

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        assert seconds > 0
        assert tokens > 0
        self.asked.append(prompt)
        answer = self._script(prompt) if self._script else self._next()
        if isinstance(answer, VoiceError):
            raise answer
        return Completion(answer, TOOK)

    def _next(self) -> Answer:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def thinking(mind: ScriptedMind) -> ModelVoices:
    return ModelVoices(lambda _: mind, OfflineVoices())


def record(text: str, *stances: dict[str, Any], quotes: Sequence[Mapping[str, str]] = (), **more: Any) -> str:
    """*text* in the form that the prompts ask for: with *more* that of a step, else that of a discussion."""
    if more:
        return json.dumps({"say": text, **more})
    held = stances[0] if stances else {"issue": "", "position": "", "because": [""]}
    said: dict[str, Any] = {"say": [{"text": text, "quotes": list(quotes)}], "issue": held["issue"]}
    said |= {"option": held["position"], "moved_by": held["because"][0], "ask": {"text": "", "to": ""}}
    return json.dumps({"declined": False, "contributions": [said] if text else []})


class OneTurn(NamedTuple):
    """What a persona said; empty where it had nothing to add."""

    text: str
    facts: Facts
    stances: tuple[Stance, ...] = ()
    quotes: tuple[Quote, ...] = ()


async def take_turn(voices: Voices, given: VoiceContext, kind: TurnKind = TurnKind.ASKED) -> OneTurn:
    asked = Speak(persona=given.persona, task="turn", turn=kind, personas=(given.persona,))
    speech = await voices.turn(given, asked)
    for one in speech.contributions:
        return OneTurn(one.text, {**speech.facts, **one.facts}, one.stances, one.quotes)
    return OneTurn("", speech.facts)


def drafted(*entries: Any) -> str:
    """A draft that proposes *entries*, and says nothing."""
    return json.dumps({"say": "", "entries": entries})


def lost(reason: str = "unavailable", *, again: bool = False) -> VoiceError:
    return VoiceError("The model does not answer.", reason=reason, again=again)


def whole(prompt: Prompt) -> str:
    return "\n\n".join((*prompt.stable, prompt.moving))


def debating(*turns: tuple[str, str], rt: Roundtable | None = None, **more: Any) -> Roundtable:
    """In a discussion where these spoke: personas by their keys, people by their ids."""
    rt = rt or roundtable(CONTEXT, ("U1", "Edits get lost in tunnels."))
    debate = Elaboration(
        step_id=rt.step_id, lead=MAYA, topic="Business Context", max_turns=more.pop("max_turns", 100), **more
    )
    return rt.but(elaboration=debate.but(turns=tuple(_turns(rt, turns))))


def _turns(rt: Roundtable, turns: Iterable[tuple[str, str]]) -> Iterable[Turn]:
    for number, (by, text) in enumerate(turns, start=1):
        persona = ROSTER.get(by)
        name = persona.first_name if persona else rt.name_of(by)
        line = "" if persona else f"C1.{number}"
        yield Turn(id=f"t{number:02}", by=by, name=name, text=text, human=persona is None, line=line)


def cue(rt: Roundtable, persona: str = MAYA, **files: str) -> VoiceContext:
    async def read() -> dict[str, str]:
        return {name.replace("_", "-") + ".md": text for name, text in files.items()}

    return VoiceContext(rt, PLAYBOOK, persona, read)
