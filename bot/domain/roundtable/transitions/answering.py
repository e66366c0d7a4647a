"""Answers that people give in a direct message: the thread shows them, and the record has them as theirs."""

import re
from collections.abc import Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import agent_wording as wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.form import InputForm, Submission
from bot.domain.messages.message import Message
from bot.domain.roundtable import waiting
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import AnswerDirectly, AnswerQuestion
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, specifying
from bot.domain.specification.agent_questions import is_asked_by_agent
from bot.domain.specification.claims import Entry
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.timestamps import slack_stamp
from bot.errors import NotNow


def form(rt: Roundtable, subject: str, playbook: Playbook) -> InputForm:
    """Raises NotNow when the step, or the recorded question, is no longer open."""
    if not _is_step(subject):
        entry = open_question(rt, subject)
        by = entry.first.proposed.name if is_asked_by_agent(entry) and entry.first else ""
        asked = wording.asked(rt.title, by or attribution_of(entry, "text"), str(entry["text"] or ""))
    elif rt.stage is not Stage.DISCUSSING or rt.step_id != subject:
        raise NotNow(wording.STEP_IS_OVER)
    else:
        asks = asking.speaker_of(rt, playbook).first_name
        asked = wording.asked(rt.title, asks, waiting.question(rt, playbook))
    return wording.answer_form(rt.slug, subject, asked)


def open_question(rt: Roundtable, id: str) -> Entry:
    """Raises NotNow when it is gone, or answered: an agent's may be answered differently."""
    found = next((one for one in rt.specification.active("question") if one.id == id), None)
    if found is None or (found["answer"] and not is_asked_by_agent(found)):
        raise NotNow(wording.question_is_over(id))
    return found


def _is_step(subject: str) -> bool:
    return re.fullmatch(r"[0-9]{2}-[0-9]{2}", subject) is not None


def flaws(submission: Submission) -> Mapping[str, str]:
    return {} if submission.text(wording.WORDS).strip() else {wording.WORDS: wording.NO_WORDS}


def entered(submission: Submission) -> AnswerDirectly | AnswerQuestion:
    sent = {**submission.sent, "text": submission.text(wording.WORDS).strip()}
    if _is_step(submission.subject):
        return AnswerDirectly(**sent, step_id=submission.subject)
    return AnswerQuestion(**sent, entry=submission.subject)


def answered(rt: Roundtable, event: AnswerDirectly, playbook: Playbook) -> Roundtable:
    """
    The line is the person's. It has no message of theirs in Slack, so the moment stands for its stamp, which is kept
    out of the line: the thread is read again from the newest stamp that the lines have.
    """
    if rt.step_id != event.step_id:
        raise NotNow(wording.STEP_IS_OVER)
    stamp = slack_stamp(event.at)
    patches = specifying.said(rt, event.text, event.person, playbook)
    shown = wording.answered(rt.name_of(event.person.id), event.text)
    rt = rt.catching_up().queueing(Post(message=Message(text=shown, about=rt.step_id)))
    line = rt.line_of(stamp)
    rt = rt.heard(
        event.person, event.text, ts="", part=LinePhase.CLARIFYING, message_id=line, entries=patches
    )
    said = ThreadMessage(person=event.person, text=event.text, ts=stamp)
    return rt.answering(said, feedback=False)
