"""
What people change afterwards. The transcript never forgets: an edit is a new line that names the old one, and so is a
deletion. The answers that are being worked with are the newest ones.
"""

from bot.domain import wording
from bot.domain.agenda import Playbook
from bot.domain.inputs import Amend, Retract
from bot.domain.roundtable import Answer, Roundtable
from bot.domain.stage import Stage
from bot.domain.transitions import pausing, steps


def amended(rt: Roundtable, happened: Amend, playbook: Playbook) -> Roundtable:
    old = f"{rt.place.channel}.{happened.ts}"
    answers = tuple(
        answer.but(text=happened.text) if answer.ts == happened.ts else answer for answer in rt.answers
    )
    rt = rt.heard(
        happened.person, happened.text, ts=happened.ts, part=rt.part, message_id=happened.key, amends=old
    )
    return _answers_are(rt, answers, playbook)


def retracted(rt: Roundtable, happened: Retract, playbook: Playbook) -> Roundtable:
    old = f"{rt.place.channel}.{happened.ts}"
    answers = tuple(answer for answer in rt.answers if answer.ts != happened.ts)
    name = rt.name_of(happened.person.id)
    rt = rt.recording(wording.retracted(name), part=rt.part, user_id=happened.person.id, retracts=old)
    return _answers_are(rt, answers, playbook)


def _answers_are(rt: Roundtable, answers: tuple[Answer, ...], playbook: Playbook) -> Roundtable:
    """At a menu the step is written already: its section is written again, as after feedback."""
    changed = answers != rt.answers
    rt = rt.but(answers=answers)
    if rt.stage is Stage.AT_BOUNDARY and changed and playbook.agenda.get(rt.step_id):
        return steps.write(rt.closing_menu(wording.superseded()))
    return pausing.notes_saved(rt, playbook)
