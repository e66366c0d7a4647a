"""
Coding agents ask, and people answer.

What an agent asks is only proposed, and stays so. A person's typed answer is said by them; an option that they press is
proposed by the agent and accepted by them. Limits are counted from the entries.
"""

from collections.abc import Sequence
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import AgentsMay
from bot.domain.messages import agent_question_wording as wording
from bot.domain.messages import agent_wording, specification_wording, trouble_wording
from bot.domain.messages.message import NO_STEP, Message
from bot.domain.roundtable import permission
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import AgentAsked, AgentWithdrew, AnswerQuestion, Press
from bot.domain.roundtable.posts import LiveMessage
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, Roundtable
from bot.domain.roundtable.transitions import pausing
from bot.domain.specification.address import EntryAddress, no_entry
from bot.domain.specification.agent_questions import (
    ANSWER,
    ASKED_AT,
    ASKED_FOR,
    OPTIONS,
    QUESTION,
    TAKEN_BACK,
    QuestionState,
    agent_of,
    answers_of,
    asked_by_agents,
    is_asked_by_agent,
    line_of,
    options_of,
    question_state,
)
from bot.domain.specification.claims import Entry, EntryState, How
from bot.domain.specification.fold import AGENT, HOW, Patch
from bot.domain.transcript.lines import ENTRIES
from bot.domain.values.places import Person
from bot.domain.values.text import one_line, visible
from bot.domain.values.timestamps import seconds_since
from bot.errors import NotNow, UserError

DAY_SECONDS = 86_400
FOLLOWED = 50
"""Messages of questions that are still edited; of more, those that were settled first are left as they are."""
NOT_ASKED_AT = {
    Stage.OPENING: wording.NOT_OPEN_YET,
    Stage.PAUSED: wording.STOPPED,
    Stage.STALLED: wording.STOPPED,
}


def asked(rt: Roundtable, event: AgentAsked, playbook: Playbook) -> Roundtable:
    """
    Raises NotNow where nothing is asked now, and UserError for a question that is never asked as it stands. Where the
    same question was asked before, nothing changes.
    """
    if question_with_key(rt, event.key):
        return rt
    kind = playbook.schema.kinds.get(QUESTION)
    if why := _closed(rt, playbook) or ("" if kind else wording.NO_QUESTIONS):
        raise NotNow(why)
    assert kind, "there are questions"
    text, options = _plain(event.text), tuple(map(_plain, event.options))
    _refuse(rt, event, text, options)
    id = rt.specification.next_id(kind)
    fields = {
        kind.text: text,
        "about": list(event.about),
        OPTIONS: list(options),
        ASKED_FOR: event.owner,
        ASKED_AT: event.at,
    }
    patch = Patch(id=id, kind=QUESTION, new=True, set={name: one for name, one in fields.items() if one})
    rt = _by_agent(
        rt.meeting(Person(id=event.owner)),
        event.key,
        event.agent,
        wording.recorded(event.agent, id, text),
        patch,
    )
    about = (rt.stage in ABOUT_A_STEP and rt.step_id) or NO_STEP
    message = question_message(rt, id)
    rt = rt.catching_up().queueing(Post(message=message.but(about=about, recorded=False)))
    return pausing.entries_saved(_forgetting(rt).following(id, rt.outbox[-1], message))


def withdrew(rt: Roundtable, event: AgentWithdrew, playbook: Playbook) -> Roundtable:
    """What people have settled stays. Raises UserError for a question of others."""
    entry = question_of(rt, event.agent, event.entry)
    if question_state(entry) is not QuestionState.OPEN:
        return rt
    patch = Patch(id=entry.id, state=EntryState.WITHDRAWN)
    sentence = wording.withdrawn(event.agent, entry.id)
    return pausing.entries_saved(_by_agent(rt, f"{line_of(entry)}{TAKEN_BACK}", event.agent, sentence, patch))


def question_with_key(rt: Roundtable, key: str) -> Entry | None:
    """The question that `AgentAsked` with this *key* became."""
    return next((one for one in asked_by_agents(rt.specification) if line_of(one) == key), None)


def question_of(rt: Roundtable, agent: str, id: str) -> Entry:
    """Raises UserError, unless *agent* asked it."""
    entry = rt.specification.entries.get(id)
    if entry is None or not is_asked_by_agent(entry) or agent_of(entry) != f"{AGENT}:{agent}":
        raise UserError(wording.not_yours(str(EntryAddress(rt.slug, id))))
    return entry


# --- people answer ------------------------------------------------------------------------------------------------


def option_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `Q-001/NUMBER`."""
    id, _, number = event.value.partition("/")
    entry = _standing(rt, id)
    options = options_of(entry)
    if not number.isdecimal() or not 0 < int(number) <= len(options):
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    option, agent = options[int(number) - 1], agent_of(entry).removeprefix(f"{AGENT}:")
    if any(one.value == option and one.owner.by == event.person.id for one in answers_of(entry)):
        return rt
    rt = _following(rt, id, event.ts)
    offer = Patch(id=id, set={ANSWER: option})
    rt = _by_agent(rt, f"{event.key}.offered", agent, wording.offered(agent, id, option), offer)
    return _answered(rt, event, id, option, Patch(id=id, accept=(ANSWER,)))


def answered(rt: Roundtable, event: AnswerQuestion, playbook: Playbook) -> Roundtable:
    """In a form. Others may have answered meanwhile: then both answers stand, and the agent is told so."""
    if why := permission.refusal(rt, event.person, playbook.policy):
        raise NotNow(why)
    _standing(rt, event.entry)
    patch = Patch(id=event.entry, set={ANSWER: event.text})
    return _answered(rt, event, event.entry, event.text, patch)


def declined(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    entry = _standing(rt, event.value)
    rt = _following(rt, entry.id, event.ts)
    patch = Patch(id=entry.id, state=EntryState.WITHDRAWN)
    name = rt.name_of(event.person.id)
    return pausing.entries_saved(_by_person(rt, event, wording.declined(name, entry.id), patch))


def is_answerable(rt: Roundtable, id: str) -> bool:
    """Whether an agent asked it, and it stands: it may be answered differently, too."""
    entry = rt.specification.entries.get(id)
    return entry is not None and is_asked_by_agent(entry) and not entry.gone


def question_message(rt: Roundtable, id: str) -> Message:
    entry = rt.specification.entries[id]
    owner = rt.people.get(str(entry[ASKED_FOR] or ""), "")
    return wording.question(entry, slug=rt.slug, owner=owner, name_of=rt.name_of)


# --- limits -------------------------------------------------------------------------------------------------------


def _closed(rt: Roundtable, playbook: Playbook) -> str:
    """Why nothing is asked here now; empty where something is."""
    if playbook.policy.agents is AgentsMay.NONE:
        return wording.NOT_HERE
    if not rt.place.thread:
        return wording.NOT_OPEN_YET
    return wording.MUTED if rt.manners.muted else NOT_ASKED_AT.get(rt.stage, "")


def _refuse(rt: Roundtable, event: AgentAsked, text: str, options: Sequence[str]) -> None:
    """Raises UserError."""
    if not text:
        raise UserError(wording.EMPTY)
    if len(text) > wording.TEXT_CHARS:
        raise UserError(wording.TOO_LONG)
    if len(options) > wording.MOST_OPTIONS:
        raise UserError(wording.TOO_MANY_OPTIONS)
    is_fit = all(0 < len(one) <= wording.OPTION_CHARS for one in options)
    if not is_fit or len({one.casefold() for one in options}) < len(options):
        raise UserError(wording.BAD_OPTION)
    if len(event.about) > wording.MOST_ABOUT:
        raise UserError(wording.TOO_MANY_ABOUT)
    if unknown := [one for one in event.about if one not in rt.specification.entries]:
        raise UserError(no_entry(EntryAddress(rt.slug, unknown[0])))
    own = [one for one in asked_by_agents(rt.specification) if agent_of(one) == f"{AGENT}:{event.agent}"]
    is_open = [one.id for one in own if question_state(one) is QuestionState.OPEN]
    if len(is_open) >= wording.OPEN_AT_ONCE:
        raise UserError(wording.too_many_open([str(EntryAddress(rt.slug, one)) for one in is_open]))
    if sum(seconds_since(str(one[ASKED_AT]), event.at) < DAY_SECONDS for one in own) >= wording.A_DAY:
        raise UserError(wording.A_DAY_IS_OVER)


def _plain(text: str) -> str:
    """One line, without characters that nobody sees; never cut."""
    return one_line(visible(text), len(text) + 1)


# --- lines --------------------------------------------------------------------------------------------------------


def _by_agent(rt: Roundtable, key: str, agent: str, sentence: str, patch: Patch) -> Roundtable:
    """The entry belongs to no step: no card lists it as something to accept."""
    facts: dict[str, Any] = {AGENT: agent, "step_id": "", ENTRIES: [patch]}
    after = rt.recording(sentence, message_id=key, **facts)
    if refused := after.specification.refused[len(rt.specification.refused) :]:
        raise NotNow(specification_wording.above_a_limit(refused[0].partition(": ")[2]))
    return after


def _by_person(rt: Roundtable, event: Press | AnswerQuestion, sentence: str, patch: Patch) -> Roundtable:
    facts: dict[str, Any] = {HOW: How.ANSWER.value, ENTRIES: [patch]}
    return rt.recording(sentence, by=event.person.id, message_id=event.key, **facts)


def _answered(
    rt: Roundtable, event: Press | AnswerQuestion, id: str, answer: str, patch: Patch
) -> Roundtable:
    sentence = agent_wording.question_answered(rt.name_of(event.person.id), id, answer)
    return pausing.entries_saved(_by_person(rt, event, sentence, patch))


def _standing(rt: Roundtable, id: str) -> Entry:
    """Raises NotNow."""
    if not is_answerable(rt, id):
        raise NotNow(agent_wording.question_is_over(id))
    return rt.specification.entries[id]


def _following(rt: Roundtable, id: str, ts: str) -> Roundtable:
    """A press tells where the message stands, where that is not known: the item was taken up from git."""
    if id in rt.live or not ts:
        return rt
    return rt.but(live={**rt.live, id: LiveMessage(ts=ts)})


def _forgetting(rt: Roundtable) -> Roundtable:
    followed = [id for id in rt.live if id in rt.specification.entries]
    settled = [
        id
        for id in followed
        if question_state(rt.specification.entries[id]) is not QuestionState.OPEN and rt.live[id].ts
    ]
    left = set(settled[: max(0, len(followed) - FOLLOWED)])
    return rt.but(live={id: one for id, one in rt.live.items() if id not in left}) if left else rt
