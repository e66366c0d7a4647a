"""What a decision changes: people choose it from a list, and reverse a decision in a form."""

from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import REMARK
from bot.domain.messages import prompt_wording as wording
from bot.domain.messages import trouble_wording
from bot.domain.messages.form import InputForm, Submission
from bot.domain.roundtable.inputs import Press
from bot.domain.roundtable.posts import PromptKind
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import cards, specifying
from bot.domain.specification.entries import DECISION, ENTRIES, Entry, EntryState, Patch
from bot.domain.specification.entry_forms import Reading
from bot.domain.specification.fold import CHANGES, OUTCOME, REPLACES
from bot.errors import NotNow


def chosen(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A chosen decision is replaced, and a chosen objection answered by the decision."""
    pairs = [one.partition("/")[::2] for one in event.value.split(",")]
    by = _counting(rt, pairs[0][0])
    named = [_counting(rt, id) for _, id in pairs]
    replaced = [one.id for one in named if one.kind == by.kind == DECISION]
    settled = [one.id for one in named if one.kind == "objection"]
    changed = [one.id for one in named if one.id not in {*replaced, *settled}]
    fields = {CHANGES: changed, REPLACES: replaced}
    given: dict[str, Any] = {
        name: list(dict.fromkeys([*(by[name] or ()), *ids])) for name, ids in fields.items() if ids
    }
    answered = {OUTCOME: "accepted", "outcome_text": wording.SETTLED_BY.format(id=by.id)}
    patches = [
        *([Patch(id=by.id, set=given)] if given else []),
        *(Patch(id=id, set=answered) for id in settled),
    ]
    sentence = wording.changed(by.id, changed=changed, replaced=replaced, settled=settled)
    return cards.recorded(_closed(rt, by.id), event.person, f"chose: {sentence}", patches)


def none_chosen(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    by = _counting(rt, event.value or (rt.prompt.about if rt.prompt else ""))
    sentence = f"says: {wording.changes_nothing(by.id)}"
    return cards.recorded(_closed(rt, by.id), event.person, sentence, ())


def form(rt: Roundtable, which: str = "") -> InputForm:
    """*which* decision is chosen at first, by default the newest. Raises NotNow where nothing is decided."""
    if not (decisions := rt.specification.active(DECISION)):
        raise NotNow(wording.NO_DECISION)
    return wording.reversal(decisions, slug=rt.slug, which=which)


def reversal(rt: Roundtable, submission: Submission, playbook: Playbook) -> Reading:
    """As if it was typed: a decision that `replaces` another, or its withdrawal."""
    id, words = submission.text(wording.WHICH), submission.text(wording.NEW).strip()
    if not rt.specification.lives(id):
        return Reading(errors={wording.WHICH: specifying.not_there(rt.specification, id)})
    because = submission.text(wording.BECAUSE).strip()
    if submission.text(wording.HOW) == wording.WITHDRAW:
        if words:
            return Reading(errors={wording.NEW: wording.NOT_BOTH})
        why = {REMARK: because} if because else {}
        return Reading(patches=(Patch(id=id, state=EntryState.WITHDRAWN, set=why),))
    if not words:
        return Reading(errors={wording.NEW: wording.NO_NEW_WORDS})
    facts = specifying.decided(rt, words, playbook, reason=because, replaces=[id])
    return Reading(patches=tuple(Patch.model_validate(one) for one in facts[ENTRIES]))


def is_asked(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return rt.prompt is not None and rt.prompt.kind is PromptKind.CHANGES


def _closed(rt: Roundtable, by: str) -> Roundtable:
    """The list is answered. What is contradicted by then follows from the record."""
    is_open = rt.prompt and (rt.prompt.kind, rt.prompt.about) == (PromptKind.CHANGES, by)
    return rt.but(prompt=rt.prompt.but(kind=PromptKind.CONTRADICTED)) if rt.prompt and is_open else rt


def _counting(rt: Roundtable, id: str) -> Entry:
    """Raises NotNow for an entry that does not exist, or not any more."""
    if not id:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    if not rt.specification.lives(id):
        raise NotNow(specifying.not_there(rt.specification, id))
    return rt.specification.entries[id]
