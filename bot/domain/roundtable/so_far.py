"""What the entries of a roundtable say so far, step by step. Sources and gaps are on the cards of the steps."""

from collections.abc import Iterator

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import NOTE
from bot.domain.messages import record_wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.message import Message
from bot.domain.messages.record_wording import StepSoFar
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import OF_DISCUSSIONS, Entry, EntryState


def so_far(rt: Roundtable, playbook: Playbook) -> Message:
    steps = playbook.agenda.steps
    done = sum(step.step_id in rt.steps_completed for step in steps)
    return record_wording.so_far(rt.title, done, len(steps), _steps(rt, playbook), link=rt.permalink)


def _steps(rt: Roundtable, playbook: Playbook) -> Iterator[StepSoFar]:
    spec, kinds = rt.specification, playbook.schema.kinds
    by_step: dict[str, list[Entry]] = {}
    for entry in spec.entries.values():
        if entry.kind in kinds and entry.kind not in OF_DISCUSSIONS and spec.lives(entry.id):
            by_step.setdefault(entry.step, []).append(entry)
    for step in playbook.agenda.steps:
        living = by_step.get(step.step_id, [])
        own = [one for one in living if one.kind != NOTE and not kinds[one.kind].part_of]
        accepted = [one for one in own if one.state is EntryState.ACCEPTED]
        if living:
            yield StepSoFar(
                step_id=step.step_id,
                title=step.title,
                entries=[(one.id, _words(one, playbook)) for one in accepted],
                notes=[
                    (_words(one, playbook), attribution_of(one, "text")) for one in living if one.kind == NOTE
                ],
                proposed=sum(one.state is EntryState.PROPOSED for one in own),
                is_open=step.step_id not in rt.steps_completed,
            )


def _words(entry: Entry, playbook: Playbook) -> str:
    return str(entry[playbook.schema.kinds[entry.kind].text] or "")
