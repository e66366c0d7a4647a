"""
The aggregate: one roundtable on one item, held in one thread.

It is saved whole, with its outbox, in one compare-and-set. Everything here answers a question or gives the next
value; what happens when is decided in `machine` and `transitions`.
"""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from bot.domain.agenda import Depth, QuickScan
from bot.domain.effects import Attemptable, Commit, Effect, Log, MeetPerson, Post, Rewrite, numbered
from bot.domain.elaboration import Elaboration
from bot.domain.inputs import CodeSurvey
from bot.domain.message import Action, Message
from bot.domain.meta import DEFAULT_MAX_TURNS, Record
from bot.domain.place import Person, Place
from bot.domain.taxonomy import Trouble
from bot.domain.transcript import HOST, PEOPLE, Line, Part, Source
from bot.domain.value import Stored

KEYS_REMEMBERED = 256
MENUS_REMEMBERED = 16


class Stage(StrEnum):
    """Where a roundtable stands. People's words and buttons mean different things in each."""

    OPENING = "opening"
    """The thread is being opened, or read and adopted, and the item's folder made."""
    DISCUSSING = "discussing"
    """A step is open: what people say are answers."""
    WRITING = "writing"
    """A person finished the step, or gave feedback: it is being written down and committed."""
    AT_BOUNDARY = "at_boundary"
    """A step is finished, a menu is open: what people say is feedback."""
    ELABORATING = "elaborating"
    """Personas and people discuss a finished step; what people say are turns."""
    SYNTHESIZING = "synthesizing"
    """The elaboration is over and its synthesis is being made and committed."""
    CLOSING = "closing"
    """A phase is being closed, or what is on hand saved, before the next thing."""
    STALLED = "stalled"
    """A voice failed for good: waiting for somebody to press Retry."""
    PAUSED = "paused"
    """A person stopped here; `resume` goes on."""
    ANALYSED = "analysed"
    """All phases are done."""


BUSY = frozenset({Stage.OPENING, Stage.WRITING, Stage.SYNTHESIZING, Stage.CLOSING})


class MenuKind(StrEnum):
    PROMPT = "prompt"
    """Under a step's questions: finish, or another depth."""
    STEP = "step"
    """After a step."""
    PHASE = "phase"
    """After the last step of a phase."""
    FLOOR = "floor"
    """In an elaboration, when it is the people's turn."""
    PAUSED = "paused"
    RETRY = "retry"
    STALE = "stale"
    """The code base changed since the item was analysed."""


class Menu(Stored):
    """An open menu. `ts` is empty until Slack has told us where it stands."""

    kind: MenuKind
    token: str
    message: Message
    ts: str = ""

    def offers(self, action: Action) -> bool:
        return any(choice.action is action for choice in self.message.choices)


class Used(Stored):
    """What became of a menu. `rewritten` still has to replace it when `ts` comes to be known."""

    token: str
    sentence: str
    rewritten: Message | None = None


class Answer(Stored):
    """Something a person said about the open step. `ts` is the message's."""

    person: str
    text: str
    ts: str
    feedback: bool = False


class Passed(Stored):
    """A step that this run of a phase went past without doing it, and why, in one sentence."""

    step_id: str
    why: str


class Roundtable(Stored):
    """
    `incarnation` distinguishes this roundtable from an earlier one on the same item (the store was lost, the item
    analysed again); with `sequence` it makes ids that were never used before. `now` is the time of the newest
    input. `lines` are the transcript's since the last commit, `unsaved` the commits that failed. `heading_for` is
    the stage that follows: after CLOSING, or where PAUSED and STALLED were entered from.
    """

    shape: int = 1
    version: int = 0
    incarnation: str

    slug: str
    title: str
    source: str = "manual"
    source_id: str | None = None
    place: Place
    permalink: str = ""
    started_by: str = ""
    people: Mapping[str, str] = {}

    stage: Stage = Stage.OPENING
    heading_for: Stage | None = None
    stalled: Effect | None = None
    phase_key: str = ""
    step_id: str = ""
    depth: Depth | None = None
    steps_completed: tuple[str, ...] = ()
    phases_completed: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()
    max_turns: int = DEFAULT_MAX_TURNS
    scan: QuickScan = QuickScan()
    passed: tuple[Passed, ...] = ()
    artifacts: tuple[str, ...] = ()

    answers: tuple[Answer, ...] = ()
    drafted_answers: int = 0
    survey: CodeSurvey | None = None
    acknowledged_at: str = ""
    elaboration: Elaboration | None = None
    menu: Menu | None = None
    used: tuple[Used, ...] = ()

    now: str = ""
    round: int = 0
    sequence: int = 0
    part: Part = Part.DRAFT
    lines: tuple[Line, ...] = ()
    unsaved: tuple[Commit, ...] = ()
    outbox: tuple[Effect, ...] = ()
    seen: tuple[str, ...] = ()

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    def next_effect(self) -> Effect | None:
        return self.outbox[0] if self.outbox else None

    def owes(self, *kinds: type[Attemptable]) -> bool:
        return any(isinstance(effect, kinds) for effect in self.outbox)

    def name_of(self, person: str) -> str:
        return self.people.get(person) or person

    def token(self) -> str:
        """Names the next menu: opaque, and never the same for two menus, whatever was lost in between."""
        seed = f"{self.slug}/{self.incarnation}/{self.sequence}"
        return hashlib.sha256(seed.encode()).hexdigest()[:16]

    def what_became_of(self, token: str) -> str:
        return next((used.sentence for used in reversed(self.used) if used.token == token), "")

    # --- next values ----------------------------------------------------------------------------------------------

    def knowing(self, *keys: str) -> Self:
        return self.but(seen=(*self.seen, *keys)[-KEYS_REMEMBERED:])

    def meeting(self, person: Person) -> Self:
        """Remembers what *person* is called, and finds it out if nobody said."""
        if person.name:
            return self.but(people={**self.people, person.id: person.name})
        if person.id in self.people:
            return self
        return self.but(people={**self.people, person.id: ""}).owing(MeetPerson(person=person.id))

    def owing(self, *effects: Effect) -> Self:
        """With *effects* at the end of the outbox, each with an id of its own."""
        rt = self
        for effect in effects:
            sequence = rt.sequence + 1
            owed = effect if effect.id else numbered(effect, f"{rt.slug}.{rt.incarnation}.{sequence}")
            rt = rt.but(sequence=sequence, outbox=(*rt.outbox, owed))
        return rt

    def paid(self, effect_id: str) -> Self:
        return self.but(outbox=tuple(effect for effect in self.outbox if effect.id != effect_id))

    def attempting(self, effect: Attemptable) -> Self:
        again = effect.but(attempts=effect.attempts + 1)
        return self.but(outbox=tuple(again if one.id == effect.id else one for one in self.outbox))

    def without_owing(self, *kinds: type[Attemptable]) -> Self:
        return self.but(outbox=tuple(effect for effect in self.outbox if not isinstance(effect, kinds)))

    def opening_round(self, part: Part) -> Self:
        return self.but(round=self.round + 1, part=part)

    def noting(self, line: Line) -> Self:
        return self.but(lines=(*self.lines, line), part=line.phase, round=line.round)

    def heard(self, person: Person, text: str, *, ts: str, part: Part, **meta: Any) -> Self:
        """A person's words become a line; `ts` is Slack's and names the line."""
        facts = {"user_id": person.id, "user_name": self.name_of(person.id), "message_ts": ts, **meta}
        message_id = f"{self.place.channel}.{ts}"
        return self.noting(self._line(PEOPLE, text, part, Source.USER, "user", message_id, facts))

    def telling(self, message: Message, *, part: Part, actor: str = HOST, **meta: Any) -> Self:
        """Owes a post of *message* and writes it into the transcript: Slack and the file have one order."""
        rt = self.owing(Post(message=message))
        return rt.said(message.text, rt.outbox[-1], part=part, actor=actor, **meta)

    def said(self, text: str, effect: Attemptable, *, part: Part, actor: str = HOST, **meta: Any) -> Self:
        """What *effect* says is a line of its own."""
        source = Source.SYSTEM if actor == HOST else Source.MODEL
        return self.noting(self._line(actor, text, part, source, "planning", effect.id, meta))

    def recording(self, sentence: str, *, part: Part, **meta: Any) -> Self:
        """A system line of something done that nobody needs to be told."""
        rt = self.but(sequence=self.sequence + 1)
        message_id = f"{rt.slug}.{rt.incarnation}.{rt.sequence}"
        return rt.noting(rt._line(HOST, sentence, part, Source.SYSTEM, "planning", message_id, meta))

    def offering(
        self, kind: MenuKind, message: Message, *, part: Part, actor: str = HOST, **meta: Any
    ) -> Self:
        """*message* becomes the open menu, in place of the one before."""
        token = self.token()
        rt = self.telling(message.but(token=token), part=part, actor=actor, **meta)
        return rt.but(menu=Menu(kind=kind, token=token, message=message))

    def closing_menu(self, sentence: str, *, ts: str = "") -> Self:
        """
        The open menu loses its buttons and says what became of it. *ts* is where it stands, if a press told us
        before the post's own outcome did.
        """
        if self.menu is None:
            return self
        menu = self.menu
        rewritten = menu.message.but(choices=(), token="", note=sentence)
        stands_at = menu.ts or ts
        used = Used(token=menu.token, sentence=sentence, rewritten=None if stands_at else rewritten)
        rt = self.but(menu=None, used=(*self.used, used)[-MENUS_REMEMBERED:])
        return rt.owing(Rewrite(ts=stands_at, message=rewritten)) if stands_at else rt

    def standing_at(self, token: str, ts: str) -> Self:
        """The menu *token* is in the thread, as message *ts*; if it is over already, it is rewritten now."""
        if self.menu and self.menu.token == token:
            return self.but(menu=self.menu.but(ts=ts))
        for used in self.used:
            if used.token == token and used.rewritten:
                settled = tuple(one.but(rewritten=None) if one is used else one for one in self.used)
                return self.but(used=settled).owing(Rewrite(ts=ts, message=used.rewritten))
        return self

    def logging(self, *troubles: Trouble) -> Self:
        return self.owing(*(Log(trouble=trouble) for trouble in troubles))

    def _line(  # noqa: PLR0917 -- the fields of the schema, named once
        self,
        actor: str,
        content: str,
        part: Part,
        source: Source,
        role: str,
        message_id: str,
        meta: Mapping[str, Any],
    ) -> Line:
        """The schema wants one phase to a round: a change of phase begins a new one."""
        begins = self.round == 0 or part is not self.part
        facts = {
            "task_id": self.slug,
            "message_id": message_id,
            "phase_key": self.phase_key,
            "step_id": self.step_id,
            "channel_id": self.place.channel,
            **meta,
        }
        return Line(
            ts=self.now,
            round=self.round + 1 if begins else self.round,
            actor=actor,
            phase=part,
            role=role,
            source=source,
            content=content,
            meta={name: fact for name, fact in facts.items() if fact not in ("", None)},
        )
