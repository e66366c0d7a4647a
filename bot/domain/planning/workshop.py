"""
One planning workshop as a value: what was asked, answered, judged and decided, and what is due next.

It knows no Slack and no voices. `moves` makes the next value of it, `guards` says between which stages that is allowed.
Stages are the transcript's own, so a line's `phase` is the stage it was said in. Lists are in the order of happening.
"""

from collections.abc import Mapping
from typing import Literal

from bot.domain.planning.deciding import MAX_ROUNDS, MAX_SESSIONS, Decision, Proposal, Standing, is_unsure
from bot.domain.planning.plan import Plan
from bot.domain.planning.verdict import Judgement, Verdict
from bot.domain.transcript import Part
from bot.domain.value import Stored

FIRST_READING = 0
"""The round in which the roles only say what they would have to know. Nothing is decided on it."""
QUESTIONS_AT_ONCE = 5


class Question(Stored):
    """What the roles *by* could not go on without. `line` is the answer's; a question may be passed on purpose."""

    id: str
    text: str
    by: tuple[str, ...]
    answer: str = ""
    person: str = ""
    line: str = ""
    passed: bool = False

    @property
    def answered(self) -> bool:
        return bool(self.answer)

    @property
    def settled(self) -> bool:
        return self.answered or self.passed


class Remark(Stored):
    """Something a person said that answers no question."""

    text: str
    person: str
    line: str = ""


class Chosen(Stored):
    """
    What a person decided. `against` what was proposed needs a `reason`, which is its own message: `line` is that of the
    reason then, else that of the decision.
    """

    decision: Decision
    person: str
    proposed: Decision | None = None
    reason: str = ""
    line: str = ""

    @property
    def against(self) -> bool:
        return self.proposed is not None and self.decision is not self.proposed


class Judge(Stored):
    """Ask a role for its verdict in this round."""

    kind: Literal["judge"] = "judge"
    role: str
    round: int


class Ask(Stored):
    """Put a question to the people; the next thing they say answers it."""

    kind: Literal["ask"] = "ask"
    question: Question
    left: int
    """After this one."""


class Decide(Stored):
    """Show the proposal; people press."""

    kind: Literal["decide"] = "decide"
    proposal: Proposal


class Explain(Stored):
    """Somebody goes on against the proposal: ask them for one sentence why."""

    kind: Literal["explain"] = "explain"
    person: str


class Formalize(Stored):
    """Have the plan written; `errors` are those of the attempt before."""

    kind: Literal["formalize"] = "formalize"
    errors: tuple[str, ...] = ()


class Write(Stored):
    """Commit the files of the plan."""

    kind: Literal["write"] = "write"


class PutAside(Stored):
    """Commit the files of this version to a folder of their own, so that the next can begin."""

    kind: Literal["put_aside"] = "put_aside"


Due = Judge | Ask | Decide | Explain | Formalize | Write | PutAside


class Workshop(Stored):
    """
    `round` counts the verdicts of all roles, from 1; `sessions` the times questions were put to people. `more_rounds`
    and `more_sessions` is what people asked for beyond the limits. `asking` are the ids of the questions being put,
    the open one first. `lessons` is what the version before came to. `plan` is there only while it is written.
    """

    slug: str
    title: str
    brief: str
    roles: tuple[str, ...]
    stage: Part = Part.DRAFT
    version: int = 1
    round: int = FIRST_READING
    sessions: int = 0
    more_rounds: int = 0
    more_sessions: int = 0
    questions: tuple[Question, ...] = ()
    asking: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    proposal: Proposal | None = None
    chosen: Chosen | None = None
    attempts: int = 0
    errors: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    plan: Plan | None = None
    outputs: tuple[str, ...] = ()

    # --- what is due ----------------------------------------------------------------------------------------------

    @property
    def due(self) -> Due | None:
        """What has to happen next, or None where it is people's turn to begin or to end."""
        match self.stage:
            case Part.CLARIFYING:
                return self._due_role or self._due_question
            case Part.WORKSHOP:
                return self._due_role or self._due_decision
            case Part.FORMALIZING:
                return Write() if self.plan else Formalize(errors=self.errors)
            case Part.REVIEW_READY:
                return PutAside() if self._redone else None
            case _:
                return None

    @property
    def _due_role(self) -> Judge | None:
        if self.round != FIRST_READING and self.stage is Part.CLARIFYING:
            return None
        heard = self.verdicts_of(self.round)
        silent = next((role for role in self.roles if role not in heard), None)
        return Judge(role=silent, round=self.round) if silent else None

    @property
    def _due_question(self) -> Ask | None:
        question = next((one for one in self.questions if one.id in self.asking[:1]), None)
        return Ask(question=question, left=len(self.asking) - 1) if question else None

    @property
    def _due_decision(self) -> Due | None:
        if self._redone:
            return PutAside()
        if self.chosen and self.chosen.decision is Decision.GO:
            return Explain(person=self.chosen.person)
        return Decide(proposal=self.proposal) if self.proposal else None

    @property
    def _redone(self) -> bool:
        return bool(self.chosen and self.chosen.decision is Decision.REDO)

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Those that wait for people, and that some role asks in this round; what nobody asks any more is moot."""
        wanted = {
            _said(text) for one in self.verdicts_of(self.round).values() for text in one.blocking_questions
        }
        return tuple(one for one in self.questions if not one.settled and _said(one.text) in wanted)

    @property
    def answered(self) -> tuple[Question, ...]:
        return tuple(one for one in self.questions if one.answered)

    @property
    def held(self) -> bool:
        return self.stage is Part.WORKSHOP and bool(self.chosen and self.chosen.decision is Decision.HOLD)

    @property
    def overridden(self) -> bool:
        """Whether the plan is written although something else was proposed."""
        return bool(self.chosen and self.chosen.decision is Decision.GO and self.chosen.against)

    @property
    def rounds_left(self) -> int:
        return MAX_ROUNDS + self.more_rounds - self.round

    @property
    def sessions_left(self) -> int:
        return MAX_SESSIONS + self.more_sessions - self.sessions

    def question(self, text: str) -> Question | None:
        """The one that asks the same, in whatever case and punctuation."""
        return next((one for one in self.questions if _said(one.text) == _said(text)), None)

    def verdicts_of(self, number: int) -> Mapping[str, Verdict]:
        """By role, in the order of speaking."""
        return {one.role: one.verdict for one in self.judgements if one.round == number}

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The last that each role gave, as far as it gave one."""
        return {one.role: one.verdict for one in self.judgements}

    @property
    def brief_is_clear(self) -> bool:
        """What a brief is unsure about counts as settled once somebody has answered something."""
        return bool(self.answered) or not is_unsure(self.brief)

    @property
    def standing(self) -> Standing:
        return Standing(
            round=self.round,
            verdicts=self.verdicts_of(self.round),
            before=self.verdicts_of(self.round - 1) if self.round > 1 else {},
            blocking=len(self.open_questions),
            open=sum(not one.answered for one in self.questions),
            unsure=not self.brief_is_clear,
            can_ask=bool(self.open_questions) and self.sessions_left > 0 and self.rounds_left > 0,
            errors=self.errors,
        )


def _said(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold())) or text
