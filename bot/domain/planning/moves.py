"""
What happens in a workshop, one function for each thing. What people do raises NotNow where it makes no sense; what a
voice or the disk answers too late changes nothing.

Whoever is asked decides: no verdict, signal or proposal moves the workshop out of `workshop` by itself.
"""

import re
from collections.abc import Mapping
from typing import Any

from bot.domain.planning.deciding import Decision, proposal
from bot.domain.planning.guards import ATTEMPTS, entering
from bot.domain.planning.validating import NOTHING_KNOWN, Known, read_plan
from bot.domain.planning.verdict import Judgement, Verdict
from bot.domain.planning.workshop import (
    FIRST_READING,
    QUESTIONS_AT_ONCE,
    Chosen,
    Decide,
    Explain,
    Judge,
    PutAside,
    Question,
    Remark,
    Workshop,
)
from bot.domain.text import clean
from bot.domain.transcript import Part
from bot.domain.value import Value
from bot.errors import NotNow

PASSING = re.compile(
    r"\W*+(?:skip|pass|no idea|(?:i )?don['’]t know|keine ahnung|weiß nicht)?\W*+", re.IGNORECASE
)
MOST_LESSONS = 20

NOT_NOW = "That makes no sense at this point of the planning."
STILL_READING = "The roles are still reading."
WHY = "Say in a sentence why, so that the record shows it."


class By(Value):
    """Who did it, and the `message_id` of the line that says so."""

    person: str
    line: str = ""


# --- people -----------------------------------------------------------------------------------------------------------


def started(ws: Workshop) -> Workshop:
    """The roles begin to read."""
    return _moving(entering(ws, Part.CLARIFYING))


def said(ws: Workshop, text: str, by: By) -> Workshop:
    """
    Words in the thread: the answer to the open question, the reason for going against the proposal, or a remark.

    An empty answer, or one that says "skip", passes the question.
    """
    if ws.stage is Part.REVIEW_READY:
        raise NotNow(NOT_NOW)
    if ws.asking:
        return _moving(_settled(ws, answer_in(text), by))
    if isinstance(ws.due, Explain) and ws.due.person == by.person:
        return _explained(ws, clean(text).strip(), by)
    return remarked(ws, text, by)


def remarked(ws: Workshop, text: str, by: By) -> Workshop:
    """Something that answers no question; every role is given it."""
    remark = Remark(text=clean(text).strip(), person=by.person, line=by.line)
    return ws.but(remarks=(*ws.remarks, remark)) if remark.text else ws


def amended(ws: Workshop, line: str, text: str) -> Workshop:
    """Somebody changed a message afterwards, or deleted it (no *text*): what is read from now on follows."""
    text = clean(text).strip()
    answer = answer_in(text)
    questions = tuple(
        one.but(answer=answer, passed=not answer) if one.line == line and one.settled else one
        for one in ws.questions
    )
    remarks = tuple(one.but(text=text) if one.line == line else one for one in ws.remarks)
    chosen = ws.chosen
    if chosen and chosen.reason and chosen.line == line and text:
        chosen = chosen.but(reason=text)
    return ws.but(questions=questions, remarks=tuple(one for one in remarks if one.text), chosen=chosen)


def passed_all(ws: Workshop, by: By) -> Workshop:
    """Nobody here knows; the questions stay open in the plan, and are not asked again."""
    if not ws.asking:
        raise NotNow(NOT_NOW)
    for _ in ws.asking:
        ws = _settled(ws, "", by)
    return _moving(ws)


def chosen(ws: Workshop, decision: Decision, by: By) -> Workshop:
    """
    A person decides, as proposed or not. Going on although something else was proposed waits for a reason, a redo for
    the files to be put aside; asking for more than the limits allow is granted.
    """
    if ws.stage is Part.REVIEW_READY and decision is Decision.REDO:
        return ws.but(chosen=Chosen(decision=decision, person=by.person, line=by.line))
    if not isinstance(ws.due, Decide | Explain):
        raise NotNow(NOT_NOW)
    assert ws.proposal, "there is a proposal where people are asked to decide"
    choice = Chosen(decision=decision, person=by.person, proposed=ws.proposal.decision, line=by.line)
    ws = ws.but(chosen=choice)
    match decision:
        case Decision.GO:
            return ws if choice.against else _formalizing(ws)
        case Decision.CLARIFY:
            return _asking(entering(_granted(ws, asking=True), Part.CLARIFYING))
        case Decision.REDO | Decision.HOLD:
            return ws


def another_round(ws: Workshop) -> Workshop:
    """The roles judge once more, knowing what the others said; beyond the limit because somebody asks for it."""
    if not isinstance(ws.due, Decide | Explain):
        raise NotNow(NOT_NOW)
    return _next_round(_granted(ws, asking=False))


def went_straight(ws: Workshop, by: By) -> Workshop:
    """From the questions to the plan, without a round of the workshop: what is still open is passed."""
    if not ws.asking:
        raise NotNow(STILL_READING if ws.stage is Part.CLARIFYING else NOT_NOW)
    for _ in ws.asking:
        ws = _settled(ws, "", by)
    return _formalizing(ws.but(chosen=Chosen(decision=Decision.GO, person=by.person, line=by.line)))


# --- voices and the disk ----------------------------------------------------------------------------------------------


def judged(ws: Workshop, role: str, verdict: Verdict, *, line: str = "") -> Workshop:
    """A role has spoken; when it was the last, questions are put or a decision is proposed."""
    if ws.due != Judge(role=role, round=ws.round):
        return ws
    judgement = Judgement(role=role, round=ws.round, verdict=verdict, line=line)
    ws = ws.but(judgements=(*ws.judgements, judgement))
    for text in verdict.blocking_questions:
        ws = _wanting_to_know(ws, text, role)
    return _moving(ws)


def formalized(ws: Workshop, given: str | Mapping[str, Any], known: Known = NOTHING_KNOWN) -> Workshop:
    """A plan came back. One that is not valid is written again, once, with what is wrong; then people decide."""
    if ws.stage is not Part.FORMALIZING or ws.plan:
        return ws
    found = read_plan(given, known)
    ws = ws.but(attempts=ws.attempts + 1, plan=found.plan, errors=found.errors)
    if found.plan or ws.attempts < ATTEMPTS:
        return ws
    return _proposing(entering(ws, Part.WORKSHOP).but(chosen=None))


def written(ws: Workshop, *paths: str) -> Workshop:
    """The files are in git; without all of them nothing is ready."""
    if ws.stage is not Part.FORMALIZING or ws.plan is None:
        return ws
    return entering(ws.but(outputs=paths), Part.REVIEW_READY).but(plan=None)


def put_aside(ws: Workshop) -> Workshop:
    """
    The version before is in its folder; the next one begins. What people answered and said stays, and what went
    wrong is a lesson.
    """
    if not isinstance(ws.due, PutAside):
        return ws
    again = entering(ws, Part.DRAFT)
    kept = {"slug", "title", "brief", "roles", "remarks"}
    return Workshop(
        **{name: getattr(again, name) for name in kept},
        version=ws.version + 1,
        questions=ws.answered,
        lessons=_lessons(ws),
    )


# --- what follows -----------------------------------------------------------------------------------------------------


def _moving(ws: Workshop) -> Workshop:
    """On to what comes next, when nobody has the floor any more."""
    if isinstance(ws.due, Judge) or ws.asking:
        return ws
    if ws.stage is Part.WORKSHOP:
        return _proposing(ws)
    if ws.round == FIRST_READING and not ws.sessions and ws.open_questions:
        return _asking(ws)
    return _next_round(ws)


def _next_round(ws: Workshop) -> Workshop:
    return entering(ws, Part.WORKSHOP).but(round=ws.round + 1, proposal=None, chosen=None, errors=())


def _proposing(ws: Workshop) -> Workshop:
    return ws.but(proposal=proposal(ws.standing))


def _formalizing(ws: Workshop) -> Workshop:
    return entering(ws, Part.FORMALIZING).but(attempts=0, outputs=())


def _granted(ws: Workshop, *, asking: bool) -> Workshop:
    """What people ask for is theirs; it is written down that they did."""
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
    """What was asked already is not asked twice, whoever asks."""
    asked = ws.question(text)
    if asked is None:
        number = max((int(one.id.removeprefix("Q")) for one in ws.questions), default=0) + 1
        new = Question(id=f"Q{number}", text=text, by=(role,))
        return ws.but(questions=(*ws.questions, new))
    return _with_question(ws, asked.but(by=tuple(dict.fromkeys((*asked.by, role)))))


def answer_in(text: str) -> str:
    """Empty where the question is passed."""
    text = clean(text).strip()
    return "" if PASSING.fullmatch(text) else text


def passes(ws: Workshop | None, text: str) -> bool:
    """Whether *text* does what the button that passes the open question does."""
    return ws is not None and bool(ws.asking) and not answer_in(text)


def _settled(ws: Workshop, answer: str, by: By) -> Workshop:
    """The open question has its answer, or is passed."""
    question = next(one for one in ws.questions if one.id == ws.asking[0])
    settled = question.but(answer=answer, passed=not answer, person=by.person, line=by.line)
    return _with_question(ws, settled).but(asking=ws.asking[1:])


def _with_question(ws: Workshop, question: Question) -> Workshop:
    return ws.but(questions=tuple(question if one.id == question.id else one for one in ws.questions))


def _explained(ws: Workshop, reason: str, by: By) -> Workshop:
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
