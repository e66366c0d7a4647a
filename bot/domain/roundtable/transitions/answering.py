"""Answers that people give in a direct message: the thread shows them, and the record has them as theirs."""

from collections.abc import Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import agent_wording as wording
from bot.domain.messages.form import InputForm, Submission
from bot.domain.messages.message import Message
from bot.domain.roundtable import waiting
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import AnswerDirectly
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, specifying
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.timestamps import slack_stamp
from bot.errors import NotNow


def form(rt: Roundtable, step_id: str, playbook: Playbook) -> InputForm:
    """Raises NotNow when the step is no longer open."""
    if rt.stage is not Stage.DISCUSSING or rt.step_id != step_id:
        raise NotNow(wording.step_is_over())
    asks = asking.speaker_of(rt, playbook).first_name
    return wording.answer_form(rt.slug, step_id, rt.title, f"{asks} asks: {waiting.question(rt, playbook)}")


def flaws(submission: Submission) -> Mapping[str, str]:
    return {} if submission.text(wording.WORDS).strip() else {wording.WORDS: wording.no_words()}


def entered(submission: Submission) -> AnswerDirectly:
    return AnswerDirectly(
        key=f"{submission.key}.{submission.name.value}",
        at=submission.at,
        person=submission.person,
        step_id=submission.subject,
        text=submission.text(wording.WORDS).strip(),
    )


def answered(rt: Roundtable, event: AnswerDirectly, playbook: Playbook) -> Roundtable:
    """
    The line is the person's. It has no message of theirs in Slack, so the moment stands for its stamp, which is kept
    out of the line: the thread is read again from the newest stamp that the lines have.
    """
    if rt.step_id != event.step_id:
        raise NotNow(wording.step_is_over())
    stamp = slack_stamp(event.at)
    facts = specifying.said(rt, event.text, event.person, playbook)
    shown = wording.answered(rt.name_of(event.person.id), event.text)
    rt = rt.catching_up().queueing(Post(message=Message(text=shown, about=rt.step_id)))
    line = rt.line_of(stamp)
    rt = rt.heard(event.person, event.text, ts="", part=LinePhase.CLARIFYING, message_id=line, **facts)
    said = ThreadMessage(person=event.person, text=event.text, ts=stamp)
    return rt.answering(said, feedback=False)
