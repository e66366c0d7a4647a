"""The personas of a roundtable, and which of them a text addresses."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, StringConstraints, field_validator, model_validator

from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.values.value import Value

# --- who is spoken to in a text, and who is only spoken about -------------------------------------------------------
#
# A name is an address when it is set off by `,` `:` `?`, when it opens a sentence that goes on to somebody ("Alex
# can you …", "Maya what …"), when it closes the text after a comma, or when it has an @ before it.

TEXTS_REMEMBERED = 4_000

# White space in a text from `_tidy` is a single character, so that no pattern goes through runs of it.
_SENTENCE = r"(?:^|[.!?…。！？\n])[\s>\"'“‘(-]{0,12}"
_GREETING = (
    r"(?:(?:hey|hi|hello|ok|okay|so|and|but|well|yes|no|thanks|thank\syou|right|good\spoint),?\s){0,2}"
)
_TO_SOMEBODY = r"""(?:
    (?:can|could|would|will|should|might|shall)\s(?:you|we|i|it|this|that|these|those|they|there|the|our|my)
  | (?:do|did|have|are|were)\syou | (?:do|did)\swe | is\s(?:it|there)
  | what | how | why | where | when | which | who | please | your | you | thoughts | any\s | let['’]?s
  | tell | explain | show | give | help | describe | walk | think
)\b"""
_GOES_ON = rf"\s?(?:[-–—]++\s?)?{_TO_SOMEBODY}"
_SET_OFF = r"\s?[,:?，：、？]"
_JOINED = r"\s?(?:,\s?and\b|,|&|\+|/|\band\b|\bor\b)\s?"
_SPOKEN_ABOUT = "".join(
    rf"(?<!\b{word}\s)" for word in ("and", "by", "from", "like", "of", "per", "than", "via", "with")
)
_EMPHASIS = re.compile(r"[*~`]|(?<!\w)_|_(?!\w)")
_FLAGS = re.IGNORECASE | re.VERBOSE

_EVERYBODY = re.compile(
    rf"""\b(?:you\sall|all\sof\syou|everyone|everybody|what\sdo\syou\s(?:all\s)?think)\b
    | {_SENTENCE}{_GREETING}team\b (?={_SET_OFF}|\s?[!.]?\s?$|{_GOES_ON})
    | \b(?:hey|hi|hello|thanks|ok|okay),?\steam\b
    | ,\s?team\s?[.!?]*+\s?$""",
    _FLAGS,
)


_ALL = r"(?<![\w./@-])@?(?:everyone|everybody|all\sof\syou|you\sall|team)\b(?!['’]\w)"
_PIECES = re.compile(r"[^?!.\n？]++[?？]*+")
_ASKED_OF_ALL = re.compile(
    rf"""{_SENTENCE}{_GREETING}{_ALL}(?:{_SET_OFF}|{_GOES_ON})
    | \b(?:do|would|can|could)\s(?:you\sall|all\sof\syou)\b""",
    _FLAGS,
)
_REQUESTED_OF_ALL = re.compile(
    rf"{_SENTENCE}{_GREETING}{_ALL}(?:{_SET_OFF})?\s?please\b | ,\s?{_ALL}\s?[?？]\s?$", _FLAGS
)


@lru_cache(maxsize=TEXTS_REMEMBERED)
def asks_all(text: str) -> bool:
    """
    Whether a question, or a request with "please", is put to everybody. "Everyone loses edits" is about
    everybody, and asks no one.
    """
    plain = _tidy(text)
    questions = (one[:-1] for one in _PIECES.findall(plain) if one.endswith(("?", "？")))
    return bool(_REQUESTED_OF_ALL.search(plain)) or any(map(_ASKED_OF_ALL.search, questions))


class NameMatcher:
    """Knows a group of people by key and full name; they answer to their first name, never to the last."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._people = {key: re.compile(_answers_to(name), _FLAGS) for key, name in names.items()}
        self._addresses = _addresses("|".join(map(_answers_to, names.values()))) if names else ()
        # A card asks this of all answers to its step again, with every input.
        self.by_name = lru_cache(maxsize=TEXTS_REMEMBERED)(self._by_name)
        self.all_together = lru_cache(maxsize=TEXTS_REMEMBERED)(self._all_together)

    def _by_name(self, text: str) -> tuple[str, ...]:
        """The keys of those addressed, in the order in which they are named."""
        text = _tidy(text)
        runs = {match.span("run") for pattern in self._addresses for match in pattern.finditer(text)}
        names = [
            (match.start(), match.end(), key)
            for start, end in runs
            for key, person in self._people.items()
            for match in person.finditer(text, start, end)
        ]
        longest = {start: end for start, end, _ in sorted(names)}
        return tuple(dict.fromkeys(key for start, end, key in sorted(names) if end == longest[start]))

    def _all_together(self, text: str) -> bool:
        return _EVERYBODY.search(_tidy(text)) is not None


def _tidy(text: str) -> str:
    """Without emphasis and long runs of white space: both mean nothing here, and make matching slow."""
    plain = _EMPHASIS.sub("", unicodedata.normalize("NFC", text))
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return "\n".join(line for line in lines if line)


def _answers_to(name: str) -> str:
    """Of "Mary Ann Smith": Mary, Mary Ann, and the whole name; a name of one word is its own first name."""
    first, *more = map(re.escape, _tidy(name).split())
    tail = ""
    for word in reversed(more):
        tail = rf"(?:\s{word}{tail})?"
    return rf"(?<![\w./@-])@?{first}{tail}(?![-'’.]?\w)"


def _addresses(name: str) -> tuple[re.Pattern[str], ...]:
    run = rf"(?P<run>(?:{name})(?:{_JOINED}(?:{name})){{0,8}})"
    return tuple(
        re.compile(pattern, _FLAGS)
        for pattern in (
            rf"{_SPOKEN_ABOUT}{run}(?={_SET_OFF})",
            rf"{_SENTENCE}{_GREETING}{run}(?={_SET_OFF}|{_GOES_ON}|\s?[.!]?\s?(?:\n|$))",
            rf",\s?{run}\s?[.!]*+\s?$",
            rf"(?=@)(?P<run>{name})",
        )
    )


# --- personas -------------------------------------------------------------------------------------------------------

FALLBACK_LEAD = "business-analyst"

RESERVED_ACTORS = {"User", "PlanningAgent"}
"""Actors of the transcript that no persona may pose as."""

Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
PhaseKey = Annotated[str, StringConstraints(pattern=r"^[0-9]{2}-[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
AREAS = frozenset({"code", "history", "items"})
"""What `looks_at` may name besides paths."""
SERVERS = "mcp"
"""In `looks_at`: all servers of tools; `mcp:NAME` is one of them."""
ALL_ELSE = "*"
"""In `looks_at`: and everything else. What stands before it is looked at first."""
Line = Annotated[str, AfterValidator(lambda text: " ".join(text.split())), StringConstraints(min_length=1)]


OFFLINE = "offline"
"""The voice without a model. Nothing comes after it, because it never fails."""

_MODEL = re.compile(r"(?P<provider>[a-z][a-z0-9-]*):(?P<name>[\w./:@+-]+)")


class ModelName(NamedTuple):
    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


class Chain(NamedTuple):
    """*offline* says that the voice without a model stands at its end, or is all there is."""

    names: tuple[ModelName, ...] = ()
    offline: bool = True

    @classmethod
    def read(cls, text: str) -> Self:
        """`anthropic:NAME,openai:NAME,offline`. Raises ValueError for anything else; empty is offline."""
        given = [one.strip() for one in text.split(",")] if text.strip() else [OFFLINE]
        *before, last = given
        offline = last == OFFLINE
        return cls(tuple(dict.fromkeys(map(_model_named, before if offline else given))), offline)

    def reviewers(self, setting: str, others: Iterable[str] = ()) -> "Chain":
        """
        The models that review what those in this chain draft: those of *setting*, else the ones of another provider,
        then other models, *others* too, and the same one last. None where no model is to review anything.
        """
        if setting or not self.names:
            return Chain(Chain.read(setting).names, offline=False)
        named = (name for one in others for name in Chain.read(one).names)
        first, *rest = dict.fromkeys((*self.names, *named))
        return Chain((*sorted(rest, key=lambda one: one.provider == first.provider), first), offline=False)

    def __str__(self) -> str:
        return ",".join((*map(str, self.names), *([OFFLINE] if self.offline else [])))


def _model_named(text: str) -> ModelName:
    if found := _MODEL.fullmatch(text):
        return ModelName(found["provider"], found["name"])
    raise ValueError(f"{text!r} is no model, such as anthropic:NAME")


class ModelTask(StrEnum):
    """What a model is asked for; the names that the setting of efforts uses."""

    DRAFT = "draft"
    TURN = "turn"
    REVIEW = "review"


EARLIER_TASKS = {
    **dict.fromkeys(("acknowledge", "propose", "synthesize"), "draft"),
    **dict.fromkeys(("frame", "respond"), "turn"),
    **dict.fromkeys(("verify", "compare", "judge"), "review"),
}


class ThinkingEffort(StrEnum):
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


def efforts(text: str) -> Mapping[ModelTask, str]:
    """`draft:high,turn:low`, or an earlier name of a task. Raises ValueError."""
    found: dict[ModelTask, str] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        task, _, effort = one.partition(":")
        name = task.strip()
        found[ModelTask(EARLIER_TASKS.get(name, name))] = ThinkingEffort(effort.strip()).value
    return found


def models_by_persona(text: str) -> Mapping[str, str]:
    """`maya=anthropic:NAME,alex=openai:NAME+offline`: a `+` stands between models of one persona. Raises ValueError."""
    found: dict[str, str] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        who, equals, models = (part.strip() for part in one.partition("="))
        if not who or not equals or not models:
            raise ValueError(f"{one!r} is no model of a persona, such as maya=anthropic:NAME")
        found[who.casefold()] = str(Chain.read(models.replace("+", ",")))
    return found


class Principle(Value):
    title: str
    text: str = ""


class Persona(Value):
    """Only *key*, *name* and *role* are needed; what is left out follows from them."""

    key: Key
    name: Annotated[Line, StringConstraints(pattern=r"[^\W_]", max_length=60)]
    role: Annotated[Line, StringConstraints(max_length=60)]
    short: Line = ""
    actor: Annotated[str, StringConstraints(pattern=r"^\w+$", max_length=64)] = ""
    icon: str = ":bust_in_silhouette:"
    phases: tuple[PhaseKey, ...] = ()
    lens: str = ""
    identity: str = ""
    style: str = ""
    principles: tuple[Principle, ...] = ()
    looks_for: tuple[str, ...] = ()
    changes_my_mind: tuple[str, ...] = ()
    does_not: tuple[str, ...] = ()
    model: Annotated[str, AfterValidator(lambda text: str(Chain.read(text)))] = ""
    looks_at: tuple[str, ...] = ()
    """Areas and paths. Empty is everything; without `*` it is nothing else."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        name, role = str(given.get("name") or ""), str(given.get("role") or "")
        follows = {
            "short": name.strip().partition(" ")[0],
            "actor": "".join(word[0].upper() + word[1:] for word in re.findall(r"[^\W_]+", role))
            or "Persona",
            "lens": role.lower(),
            "identity": f"I'm {name}, your {role}.",
        }
        return follows | {field: value for field, value in given.items() if value not in (None, "")}

    @field_validator("icon")
    @classmethod
    def _slack_icon(cls, icon: str) -> str:
        """An emoji's name, with or without its colons, or the https address of a picture."""
        if re.fullmatch(r"https://[^\s<>|\"]+", icon):
            return icon
        if name := re.fullmatch(r":?([\w+'-]+(?:::skin-tone-[2-6])?):?", icon):
            return f":{name[1]}:"
        raise ValueError("neither the name of an emoji nor an https address")

    @field_validator("actor")
    @classmethod
    def _own_actor(cls, actor: str) -> str:
        if actor in RESERVED_ACTORS:
            raise ValueError(f"{actor} is somebody else in the transcript")
        return actor

    @field_validator("looks_at")
    @classmethod
    def _known_places(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for one in given:
            if one not in AREAS and not _is_of_servers(one) and not re.search(r"[*/.]", one):
                areas = ", ".join((*sorted(AREAS), SERVERS))
                raise ValueError(f"{one!r} is neither {areas} nor a path such as docs/**")
        return given

    def may_use(self, area: str) -> bool:
        """Whether it may look at *area*. A path is one of the code and of its history."""
        if not self.looks_at or ALL_ELSE in self.looks_at:
            return True
        if _is_of_servers(area):
            return SERVERS in self.looks_at or area in self.looks_at
        if area not in AREAS:
            return True
        return area in self.looks_at or (area != "items" and bool(self.only_paths))

    @property
    def only_paths(self) -> tuple[str, ...]:
        """The paths that it is confined to; empty for all."""
        is_confined = ALL_ELSE not in self.looks_at and "code" not in self.looks_at
        return self.first_paths if is_confined else ()

    @property
    def first_paths(self) -> tuple[str, ...]:
        others = (one for one in self.looks_at if one not in AREAS and not _is_of_servers(one))
        return tuple(one for one in others if one != ALL_ELSE)

    @property
    def first_name(self) -> str:
        return self.name.split()[0]

    @property
    def label(self) -> str:
        return f"{self.name} ({self.role})"


def server_area(name: str) -> str:
    """What `looks_at` calls one server of tools."""
    return f"{SERVERS}:{name}"


def _is_of_servers(one: str) -> bool:
    return one == SERVERS or one.startswith(f"{SERVERS}:")


class AddressKind(StrEnum):
    DIRECT = "direct"
    """Personas are named: only they answer."""

    GROUP = "group"
    """Everybody is asked: the lead answers first, then the others."""

    DEFAULT = "default"
    """No persona is named: the lead answers."""


@dataclass(frozen=True, slots=True)
class Address:
    kind: AddressKind
    personas: tuple[str, ...]


class Roster:
    """
    The personas of one roundtable, in speaking order. `unusable` are the keys of persona files that were refused: the
    steps that name them are led by the others. `absent` are personas that people left out: the first of the others
    leads in their place.
    """

    def __init__(
        self,
        personas: Iterable[Persona] = (),
        *,
        unusable: Iterable[str] = (),
        absent: Iterable[Persona] = (),
    ) -> None:
        self._personas = {persona.key: persona for persona in personas}
        self.unusable = frozenset(unusable).difference(self._personas)
        self.absent = {persona.key: persona for persona in absent}
        self._called = NameMatcher({persona.key: persona.name for persona in self})

    def __iter__(self) -> Iterator[Persona]:
        return iter(self._personas.values())

    def __len__(self) -> int:
        return len(self._personas)

    def __contains__(self, key: object) -> bool:
        return key in self._personas

    def __getitem__(self, key: str) -> Persona:
        return self._personas[key]

    def get(self, key: str) -> Persona | None:
        return self._personas.get(key)

    def with_models(self, models: Mapping[str, str]) -> "Roster":
        """With the *models* of personas by key, first name or short name, in place of those of their files."""
        named = {
            key: model for key in self._personas for name, model in models.items() if self._is(key, name)
        }
        given = (one.but(model=named[one.key]) if one.key in named else one for one in self)
        return Roster(given, unusable=self.unusable)

    def unknown(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of *names* that no persona has."""
        return tuple(name for name in names if not any(self._is(key, name) for key in self._personas))

    def _is(self, key: str, name: str) -> bool:
        persona = self._personas[key]
        known = {
            persona.key,
            persona.first_name.casefold(),
            persona.short.casefold(),
            persona.name.casefold(),
        }
        return name.casefold() in known

    def cast(self, keys: Iterable[str]) -> "Roster":
        """Only the personas of *keys*, in that order; all of them when none of *keys* is here."""
        seated = {key: self._personas[key] for key in keys if key in self}
        if not seated:
            return self
        absent = (persona for persona in self if persona.key not in seated)
        return Roster(seated.values(), unusable=self.unusable, absent=absent)

    def speaker_for(self, key: str, phase_key: str) -> Persona:
        """The persona *key*; in place of an absent one the first of the cast, else the lead of the phase."""
        if key in self.absent:
            return next(iter(self))
        return self.get(key) or self.lead_of(phase_key)[0]

    def lead_of(self, phase_key: str) -> tuple[Persona, Trouble | None]:
        """
        Who leads a phase. If its lead was left out: the first persona. If no persona names the phase: the business
        analyst, with a Trouble that says so.
        """
        for persona in self:
            if phase_key in persona.phases:
                return persona, None
        if any(phase_key in persona.phases for persona in self.absent.values()):
            return next(iter(self)), None

        lead = self.get(FALLBACK_LEAD) or next(iter(self))
        return lead, trouble("ERR-PERSONA-001", phase_key=phase_key, lead=lead.label)

    def others(self, lead_key: str) -> tuple[Persona, ...]:
        return tuple(persona for persona in self if persona.key != lead_key)

    def addressed(self, text: str, *, lead: str) -> Address:
        """
        Who should answer *text*, first speaker first.

        People address personas by first name. Being talked about is not being addressed: "Jordan's point"
        and "Jordan mentioned that" leave the floor to the lead.
        """
        if named := self._called.by_name(text):
            return Address(AddressKind.DIRECT, named)
        if self._called.all_together(text):
            return Address(AddressKind.GROUP, (lead, *(other.key for other in self.others(lead))))
        return Address(AddressKind.DEFAULT, (lead,))
