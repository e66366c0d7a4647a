"""
One planning workshop as a value: what was asked, answered, judged and decided, and what is due next.

It knows no Slack and no voices. `moves` makes the next value of it, `guards` says between which stages that is allowed.
Stages are the transcript's own, so a line's `phase` is the stage it was said in. Lists are in the order of happening.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from bot.domain.planning.numbered import number_in, without_number
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.plan_reader import NOTHING_KNOWN, KnownIds, read_plan
from bot.domain.planning.proposal import (
    MAX_ROUNDS,
    MAX_SESSIONS,
    Proposal,
    ProposedMove,
    RoundResult,
    is_unanimous,
    is_unsure,
    proposal,
)
from bot.domain.planning.verdict import Judgement, RoleVerdict, challenged_by, challenger, silent_in
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.text import clean
from bot.domain.values.value import Stored, Value
from bot.errors import NotNow

FIRST_READING = 0
"""The round in which the roles only say what they would have to know. Nothing is decided on it."""
QUESTIONS_AT_ONCE = 5
UNNAMED_PERSON = "somebody"


class WorkshopQuestion(Stored):
    """What the roles *by* could not go on without. `line` is the answer's; a question may be passed on purpose."""

    id: str
    text: str
    by: tuple[str, ...]
    answer: str = ""
    person: str = ""
    line: str = ""
    passed: bool = False

    @property
    def number(self) -> int:
        """What people answer it by: `2. …`."""
        return int(self.id.removeprefix("Q"))

    @property
    def answered(self) -> bool:
        return bool(self.answer)

    @property
    def settled(self) -> bool:
        return self.answered or self.passed


class WorkshopRemark(Stored):
    """Something a person said that answers no question."""

    text: str
    person: str
    line: str = ""


class Chosen(Stored):
    """
    What a person decided. `against` what was proposed needs a `reason`, which is its own message: `line` is that of the
    reason then, else that of the decision.
    """

    decision: ProposedMove
    person: str
    proposed: ProposedMove | None = None
    reason: str = ""
    line: str = ""

    @property
    def against(self) -> bool:
        return self.proposed is not None and self.decision is not self.proposed


class RequestVerdict(Stored):
    """Ask a role for its verdict in this round; as a *challenge*, for what speaks against what all roles agree on."""

    kind: Literal["judge"] = "judge"
    role: str
    round: int
    challenge: bool = False


class Ask(Stored):
    """Put a question to the people; the next thing they say answers it."""

    kind: Literal["ask"] = "ask"
    question: WorkshopQuestion
    left: int
    """After this one."""


class Decide(Stored):
    """Show the proposal; people press."""

    kind: Literal["decide"] = "decide"
    proposal: Proposal


class Explain(Stored):
    """A person decided against the proposal: ask them for a reason."""

    kind: Literal["explain"] = "explain"
    person: str


class RequestPlan(Stored):
    """Have the plan written; `errors` are those of the attempt before."""

    kind: Literal["formalize"] = "formalize"
    errors: tuple[str, ...] = ()


class Write(Stored):
    """Commit the files of the plan."""

    kind: Literal["write"] = "write"


class PutAside(Stored):
    """Commit the files of this version to a folder of their own, so that the next can begin."""

    kind: Literal["put_aside"] = "put_aside"


Due = RequestVerdict | Ask | Decide | Explain | RequestPlan | Write | PutAside


class Workshop(Stored):
    """
    `round` counts the verdicts of all roles, from 1; `sessions` the times questions were put to people. `more_rounds`
    and `more_sessions` is what people asked for beyond the limits. `asking` are the ids of the questions being put,
    the open one first. `lessons` is what the version before came to. `plan` is there only while it is written.
    `has_models`: what all agree on is challenged.
    """

    slug: str
    title: str
    brief: str
    roles: tuple[str, ...]
    stage: LinePhase = LinePhase.DRAFT
    version: int = 1
    round: int = FIRST_READING
    sessions: int = 0
    more_rounds: int = 0
    more_sessions: int = 0
    questions: tuple[WorkshopQuestion, ...] = ()
    asking: tuple[str, ...] = ()
    remarks: tuple[WorkshopRemark, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    proposal: Proposal | None = None
    chosen: Chosen | None = None
    attempts: int = 0
    errors: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    plan: PlanDocument | None = None
    outputs: tuple[str, ...] = ()
    has_models: bool = False

    # --- what is due ----------------------------------------------------------------------------------------------

    @property
    def due(self) -> Due | None:
        """What has to happen next, or None where it is people's turn."""
        match self.stage:
            case LinePhase.CLARIFYING:
                return self._due_role or self._due_question
            case LinePhase.WORKSHOP:
                return self._due_role or self._due_decision
            case LinePhase.FORMALIZING:
                return Write() if self.plan else RequestPlan(errors=self.errors)
            case LinePhase.REVIEW_READY:
                return PutAside() if self._redone else None
            case _:
                return None

    @property
    def _due_role(self) -> RequestVerdict | None:
        if self.round != FIRST_READING and self.stage is LinePhase.CLARIFYING:
            return None
        heard = self.verdicts_of(self.round)
        if silent := silent_in(heard, self.roles):
            return RequestVerdict(role=silent[0], round=self.round)
        over = self.stage is not LinePhase.WORKSHOP or challenged_by(self.judgements, self.round)
        if over or not self.has_models or not is_unanimous(heard):
            return None
        return RequestVerdict(role=challenger(self.roles), round=self.round, challenge=True)

    @property
    def _due_question(self) -> Ask | None:
        question = self.asked
        return Ask(question=question, left=len(self.asking) - 1) if question else None

    @property
    def _due_decision(self) -> Due | None:
        if self._redone:
            return PutAside()
        if self.chosen and self.chosen.decision is ProposedMove.GO:
            return Explain(person=self.chosen.person)
        return Decide(proposal=self.proposal) if self.proposal else None

    @property
    def _redone(self) -> bool:
        return bool(self.chosen and self.chosen.decision is ProposedMove.REDO)

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    def asked(self) -> WorkshopQuestion | None:
        """The question that is being put to people."""
        return next((one for one in self.questions if one.id in self.asking[:1]), None)

    @property
    def open_questions(self) -> tuple[WorkshopQuestion, ...]:
        """Those without an answer that a role asks in this round."""
        wanted = {
            _said(text) for one in self.verdicts_of(self.round).values() for text in one.blocking_questions
        }
        return tuple(one for one in self.questions if not one.settled and _said(one.text) in wanted)

    @property
    def answered(self) -> tuple[WorkshopQuestion, ...]:
        return tuple(one for one in self.questions if one.answered)

    @property
    def held(self) -> bool:
        return self.stage is LinePhase.WORKSHOP and bool(
            self.chosen and self.chosen.decision is ProposedMove.HOLD
        )

    @property
    def overridden(self) -> bool:
        """Whether the plan is written although something else was proposed."""
        return bool(self.chosen and self.chosen.decision is ProposedMove.GO and self.chosen.against)

    @property
    def rounds_left(self) -> int:
        return MAX_ROUNDS + self.more_rounds - self.round

    @property
    def sessions_left(self) -> int:
        return MAX_SESSIONS + self.more_sessions - self.sessions

    def question(self, text: str) -> WorkshopQuestion | None:
        """The one that asks the same; case and punctuation do not count."""
        return next((one for one in self.questions if _said(one.text) == _said(text)), None)

    def verdicts_of(self, number: int) -> Mapping[str, RoleVerdict]:
        """By role, in the order of speaking."""
        return {one.role: one.verdict for one in self.judgements if one.round == number}

    @property
    def verdicts(self) -> Mapping[str, RoleVerdict]:
        """The last that each role gave, as far as it gave one."""
        return {one.role: one.verdict for one in self.judgements}

    @property
    def brief_is_clear(self) -> bool:
        """What a brief is unsure about counts as settled once people have answered a question."""
        return bool(self.answered) or not is_unsure(self.brief)

    @property
    def standing(self) -> RoundResult:
        return RoundResult(
            round=self.round,
            verdicts=self.verdicts_of(self.round),
            before=self.verdicts_of(self.round - 1) if self.round > 1 else {},
            blocking=len(self.open_questions),
            open=sum(not one.answered for one in self.questions),
            unsure=not self.brief_is_clear,
            challenged_by=challenged_by(self.judgements, self.round),
            can_ask=bool(self.open_questions) and self.sessions_left > 0 and self.rounds_left > 0,
            errors=self.errors,
        )


def _said(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold())) or text


# Where the workshop keeps its files, relative to the item's folder. The transcript is never one of them.


FOLDER = "planning"
PLAN = f"{FOLDER}/planning.ai.json"
PLAN_PAGE = f"{FOLDER}/plan.md"
PLAN_FILES = f"{FOLDER}/plan.files.json"
MINUTES = f"{FOLDER}/meeting.md"
REVIEW = f"{FOLDER}/plan-review.json"
BRIEF = f"{FOLDER}/brief.md"

PROJECTIONS = (PLAN_PAGE, PLAN_FILES)
REQUIRED = frozenset({PLAN, *PROJECTIONS})
"""Without these a plan is not ready for review."""
VERSIONED = (PLAN, PLAN_PAGE, PLAN_FILES, MINUTES, REVIEW, BRIEF)
"""What a redo puts aside."""
_OURS = re.compile(rf"{FOLDER}/(?:versions/v[1-9][0-9]{{0,5}}/)?(?P<name>[a-z-]+(?:\.[a-z]+)+)")


def is_planned(path: str) -> bool:
    """Whether a workshop may write to *path*: one of its files, or one that a redo has put aside."""
    found = _OURS.fullmatch(path)
    return found is not None and f"{FOLDER}/{found['name']}" in VERSIONED


def version_folder(version: int) -> str:
    return f"{FOLDER}/versions/v{version}"


# Between which stages a workshop may go, and under which conditions.
#
# The first six rows are the schema's own. The others are ways back: a role's blocking question belongs to
# `clarifying`, a plan that cannot be mended goes back to those who decide, and a redo begins again.


ATTEMPTS = 2
"""To write a plan that is valid; after that it is people's turn."""


def _has_brief(ws: Workshop) -> bool:
    return bool(ws.brief.strip()) and bool(ws.roles)


def _questions_settled(ws: Workshop) -> bool:
    return not ws.asking


def _all_spoke(ws: Workshop) -> bool:
    return ws.verdicts_of(ws.round).keys() >= set(ws.roles)


def _round_left(ws: Workshop) -> bool:
    return ws.rounds_left > 0


def _session_left(ws: Workshop) -> bool:
    return ws.sessions_left > 0 and bool(ws.open_questions)


def _person_said_go(ws: Workshop) -> bool:
    """And why, where that was not what was proposed."""
    chosen = ws.chosen
    if chosen is None or chosen.decision is not ProposedMove.GO:
        return False
    return bool(chosen.reason) or not chosen.against


def _person_said_redo(ws: Workshop) -> bool:
    return ws.chosen is not None and ws.chosen.decision is ProposedMove.REDO


def _written_and_valid(ws: Workshop) -> bool:
    return ws.plan is not None and set(ws.outputs) >= REQUIRED


def _not_mended(ws: Workshop) -> bool:
    return bool(ws.errors) and ws.attempts >= ATTEMPTS


Guard = Callable[[Workshop], bool]

HAS_BRIEF = (_has_brief, "There is nothing to plan yet. Say in one sentence what it is about.")
ASKED = (_questions_settled, "Questions are open. Answer them, or pass them.")
HEARD = (_all_spoke, "Not every role has spoken in this round yet.")
ROUND = (_round_left, "The rounds are used up. One of you has to ask for another one.")
SESSION = (_session_left, "There is no question left to ask.")
CLEAR = (
    lambda ws: ws.brief_is_clear,
    "The brief says that something is unclear, and that is not answered yet.",
)
GO = (_person_said_go, "A person has to decide that the plan is written.")
REDO = (_person_said_redo, "A person has to decide that it begins again.")
WRITTEN = (_written_and_valid, "The plan and its files are not all written yet.")
BROKEN = (_not_mended, "The plan can still be mended.")

GUARDS: Mapping[tuple[LinePhase, LinePhase], tuple[tuple[Guard, str], ...]] = {
    (LinePhase.DRAFT, LinePhase.CLARIFYING): (HAS_BRIEF,),
    (LinePhase.CLARIFYING, LinePhase.WORKSHOP): (HEARD, ASKED, ROUND),
    (LinePhase.CLARIFYING, LinePhase.FORMALIZING): (HEARD, ASKED, CLEAR, GO),
    (LinePhase.WORKSHOP, LinePhase.WORKSHOP): (HEARD, ROUND),
    (LinePhase.WORKSHOP, LinePhase.FORMALIZING): (HEARD, GO),
    (LinePhase.FORMALIZING, LinePhase.REVIEW_READY): (WRITTEN,),
    (LinePhase.WORKSHOP, LinePhase.CLARIFYING): (HEARD, SESSION, ROUND),
    (LinePhase.FORMALIZING, LinePhase.WORKSHOP): (BROKEN,),
    (LinePhase.WORKSHOP, LinePhase.DRAFT): (REDO,),
    (LinePhase.REVIEW_READY, LinePhase.DRAFT): (REDO,),
}


def entering(ws: Workshop, stage: LinePhase) -> Workshop:
    """*ws* in *stage*. Raises NotNow, with a sentence for people, where the table says no."""
    for holds, sentence in GUARDS.get((ws.stage, stage), ((lambda _: False, _no_way(ws, stage)),)):
        if not holds(ws):
            raise NotNow(sentence)
    return ws.but(stage=stage)


def _no_way(ws: Workshop, stage: LinePhase) -> str:
    return f"A plan does not go from {ws.stage} to {stage}."


# What happens in a workshop, one function for each thing. What people do raises NotNow where it makes no
# sense; what a voice or the disk answers too late changes nothing.
#
# People decide: no verdict, signal or proposal moves the workshop out of `workshop` by itself.


PASSING = re.compile(
    r"\W*+(?:skip|pass|no idea|(?:i )?don['’]t know|keine ahnung|weiß nicht)?\W*+", re.IGNORECASE
)
MOST_LESSONS = 20

NOT_NOW = "That makes no sense at this point of the planning."
STILL_READING = "The roles are still reading."
WHY = "Say why in one sentence, so that the record shows it."


class DecidedBy(Value):
    """Who did it, and the `message_id` of the line that says so."""

    person: str
    line: str = ""


# --- people -----------------------------------------------------------------------------------------------------------


def started(ws: Workshop) -> Workshop:
    """The roles begin to read."""
    return _moving(entering(ws, LinePhase.CLARIFYING))


def said(ws: Workshop, text: str, by: DecidedBy) -> Workshop:
    """
    Words in the thread: the answer to the open question, the reason for going against the proposal, or a remark.

    An empty answer, or one that says "skip", passes the question.
    """
    if ws.stage is LinePhase.REVIEW_READY:
        raise NotNow(NOT_NOW)
    if ws.asking:
        return _moving(_settled(ws, answer_in(text), by))
    if isinstance(ws.due, Explain) and ws.due.person == by.person:
        return _explained(ws, clean(text).strip(), by)
    return remarked(ws, text, by)


def remarked(ws: Workshop, text: str, by: DecidedBy) -> Workshop:
    """Something that answers no question; every role is given it."""
    remark = WorkshopRemark(text=clean(text).strip(), person=by.person, line=by.line)
    return ws.but(remarks=(*ws.remarks, remark)) if remark.text else ws


def amended(ws: Workshop, line: str, text: str) -> Workshop:
    """A message was changed, or deleted (no *text*): the answer, remark or reason that it gave changes with it."""
    text = clean(text).strip()

    def answered(one: WorkshopQuestion) -> WorkshopQuestion:
        answer = answer_in(without_number(text, one.number))
        return one.but(answer=answer, passed=not answer)

    questions = tuple(answered(one) if one.line == line and one.settled else one for one in ws.questions)
    remarks = tuple(one.but(text=text) if one.line == line else one for one in ws.remarks)
    chosen = ws.chosen
    if chosen and chosen.reason and chosen.line == line and text:
        chosen = chosen.but(reason=text)
    return ws.but(questions=questions, remarks=tuple(one for one in remarks if one.text), chosen=chosen)


def passed_all(ws: Workshop, by: DecidedBy) -> Workshop:
    """The questions stay open in the plan, and are not asked again."""
    if not ws.asking:
        raise NotNow(NOT_NOW)
    return _moving(_all_passed(ws, by))


def chosen(ws: Workshop, decision: ProposedMove, by: DecidedBy) -> Workshop:
    """
    A person decides, as proposed or not. Going on although something else was proposed waits for a reason, a redo for
    the files to be put aside; asking for more than the limits allow is granted.
    """
    if ws.stage is LinePhase.REVIEW_READY and decision is ProposedMove.REDO:
        return ws.but(chosen=Chosen(decision=decision, person=by.person, line=by.line))
    if not isinstance(ws.due, Decide | Explain):
        raise NotNow(NOT_NOW)
    assert ws.proposal, "there is a proposal where people are asked to decide"
    choice = Chosen(decision=decision, person=by.person, proposed=ws.proposal.decision, line=by.line)
    ws = ws.but(chosen=choice)
    match decision:
        case ProposedMove.GO:
            return ws if choice.against else _formalizing(ws)
        case ProposedMove.CLARIFY:
            return _asking(entering(_granted(ws, asking=True), LinePhase.CLARIFYING))
        case ProposedMove.REDO | ProposedMove.HOLD:
            return ws


def another_round(ws: Workshop) -> Workshop:
    """The roles judge once more, knowing what the others said; people may ask for this beyond the limit."""
    if not isinstance(ws.due, Decide | Explain):
        raise NotNow(NOT_NOW)
    return _next_round(_granted(ws, asking=False))


def went_straight(ws: Workshop, by: DecidedBy) -> Workshop:
    """From the questions to the plan, without a round of the workshop: what is still open is passed."""
    if not ws.asking:
        raise NotNow(STILL_READING if ws.stage is LinePhase.CLARIFYING else NOT_NOW)
    ws = _all_passed(ws, by)
    return _formalizing(ws.but(chosen=Chosen(decision=ProposedMove.GO, person=by.person, line=by.line)))


# --- voices and the disk ----------------------------------------------------------------------------------------------


def judged(ws: Workshop, role: str, verdict: RoleVerdict, *, line: str = "") -> Workshop:
    """A role has spoken; when it was the last, questions are put or a decision is proposed."""
    due = ws.due
    if not isinstance(due, RequestVerdict) or due.role != role:
        return ws
    judgement = Judgement(role=role, round=ws.round, verdict=verdict, line=line, challenge=due.challenge)
    ws = ws.but(judgements=(*ws.judgements, judgement))
    for text in verdict.blocking_questions:
        ws = _wanting_to_know(ws, text, role)
    return _moving(ws)


def formalized(ws: Workshop, given: str | Mapping[str, Any], known: KnownIds = NOTHING_KNOWN) -> Workshop:
    """A plan came back. One that is not valid is written again, once, with what is wrong; then people decide."""
    if ws.stage is not LinePhase.FORMALIZING or ws.plan:
        return ws
    found = read_plan(given, known)
    ws = ws.but(attempts=ws.attempts + 1, plan=found.plan, errors=found.errors)
    if found.plan or ws.attempts < ATTEMPTS:
        return ws
    return _proposing(entering(ws, LinePhase.WORKSHOP).but(chosen=None))


def written(ws: Workshop, *paths: str) -> Workshop:
    """The files are in git; without all of them nothing is ready."""
    if ws.stage is not LinePhase.FORMALIZING or ws.plan is None:
        return ws
    return entering(ws.but(outputs=paths), LinePhase.REVIEW_READY).but(plan=None)


def put_aside(ws: Workshop) -> Workshop:
    """
    The version before is in its folder; the next one begins. What people answered and said stays, and what went
    wrong is a lesson.
    """
    if not isinstance(ws.due, PutAside):
        return ws
    again = entering(ws, LinePhase.DRAFT)
    kept = {"slug", "title", "brief", "roles", "remarks"}
    return Workshop(
        **{name: getattr(again, name) for name in kept},
        version=ws.version + 1,
        questions=ws.answered,
        lessons=_lessons(ws),
    )


# --- what follows -----------------------------------------------------------------------------------------------------


def _moving(ws: Workshop) -> Workshop:
    """On to what comes next, when no role has to judge and no question is being put."""
    if isinstance(ws.due, RequestVerdict) or ws.asking:
        return ws
    if ws.stage is LinePhase.WORKSHOP:
        return _proposing(ws)
    if ws.round == FIRST_READING and not ws.sessions and ws.open_questions:
        return _asking(ws)
    return _next_round(ws)


def _next_round(ws: Workshop) -> Workshop:
    return entering(ws, LinePhase.WORKSHOP).but(round=ws.round + 1, proposal=None, chosen=None, errors=())


def _proposing(ws: Workshop) -> Workshop:
    return ws.but(proposal=proposal(ws.standing))


def _formalizing(ws: Workshop) -> Workshop:
    return entering(ws, LinePhase.FORMALIZING).but(attempts=0, outputs=())


def _granted(ws: Workshop, *, asking: bool) -> Workshop:
    """Raises the limits that people go beyond, and counts by how much."""
    rounds = ws.more_rounds + (ws.rounds_left <= 0)
    sessions = ws.more_sessions + (asking and ws.sessions_left <= 0)
    return ws.but(more_rounds=rounds, more_sessions=sessions)


def _asking(ws: Workshop) -> Workshop:
    """
    A session: every role's first question, then every role's second, and so on, as many as people can bear. They are
    put in the order of the roles: what it is for comes before where it lands.
    """
    ranks = {
        question.id: place
        for verdict in reversed(tuple(ws.verdicts_of(ws.round).values()))
        for place, text in enumerate(verdict.blocking_questions)
        if (question := ws.question(text))
    }
    first = sorted(ws.open_questions, key=lambda question: ranks[question.id])[:QUESTIONS_AT_ONCE]
    asked = (question.id for question in ws.open_questions if question in first)
    return ws.but(asking=tuple(asked), sessions=ws.sessions + 1)


def _wanting_to_know(ws: Workshop, text: str, role: str) -> Workshop:
    """A question that another role has asked already is not asked twice."""
    asked = ws.question(text)
    if asked is None:
        number = max((one.number for one in ws.questions), default=0) + 1
        new = WorkshopQuestion(id=f"Q{number}", text=text, by=(role,))
        return ws.but(questions=(*ws.questions, new))
    return _with_question(ws, asked.but(by=tuple(dict.fromkeys((*asked.by, role)))))


def answer_in(text: str) -> str:
    """Empty where the question is passed."""
    text = clean(text).strip()
    return "" if PASSING.fullmatch(text) else text


def passes(ws: Workshop | None, text: str) -> bool:
    """Whether *text* does what the button that passes the open question does."""
    if ws is None or not ws.asking:
        return False
    number = number_in(text)
    return not answer_in(without_number(text, number) if number else text)


def named(ws: Workshop, text: str) -> WorkshopQuestion | None:
    """The question that `2. …` names, while questions are put to people."""
    number = number_in(text) if ws.asking else 0
    return next((one for one in ws.questions if one.number == number), None)


def aimed(ws: Workshop, question: WorkshopQuestion, person: str) -> Workshop | None:
    """
    *ws* with *question* first, as the one that is answered next. Who answered it before may answer it again; for
    others it is None: what they say to it is a remark.
    """
    if question.answered and question.person != person:
        return None
    return ws.but(asking=(question.id, *(one for one in ws.asking if one != question.id)))


def _settled(ws: Workshop, answer: str, by: DecidedBy) -> Workshop:
    """The open question has its answer, or is passed."""
    question = next(one for one in ws.questions if one.id == ws.asking[0])
    settled = question.but(answer=answer, passed=not answer, person=by.person, line=by.line)
    return _with_question(ws, settled).but(asking=ws.asking[1:])


def _all_passed(ws: Workshop, by: DecidedBy) -> Workshop:
    for _ in ws.asking:
        ws = _settled(ws, "", by)
    return ws


def _with_question(ws: Workshop, question: WorkshopQuestion) -> Workshop:
    return ws.but(questions=tuple(question if one.id == question.id else one for one in ws.questions))


def _explained(ws: Workshop, reason: str, by: DecidedBy) -> Workshop:
    assert ws.chosen, "only a choice is explained"
    if not reason:
        raise NotNow(WHY)
    return _formalizing(ws.but(chosen=ws.chosen.but(reason=reason, line=by.line)))


def _lessons(ws: Workshop) -> tuple[str, ...]:
    against = (
        f"{role}: {reason}" for role, one in ws.verdicts.items() if not one.ok for reason in one.reasons
    )
    return tuple(dict.fromkeys((*ws.errors, *against)))[:MOST_LESSONS]


def recorded(ws: Workshop, key: str, line: str) -> Workshop:
    """What a press came to is known by the line that says so, once there is one."""
    questions = tuple(one.but(line=line) if one.line == key else one for one in ws.questions)
    chosen = ws.chosen.but(line=line) if ws.chosen and ws.chosen.line == key else ws.chosen
    return ws.but(questions=questions, chosen=chosen)
