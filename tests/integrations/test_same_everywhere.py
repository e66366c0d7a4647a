"""
The same claim reads the same by every door: `show`, agents, exports, the trace, and in the thread the brief and
the cards of steps.
Over any meeting: entries of every kind, said, proposed, pushed and asked by an agent, accepted, changed, contested,
taken back.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.messages import brief_wording, entry_wording, step_card
from bot.domain.messages.attribution_wording import attribution, credit, credit_inside
from bot.domain.messages.message import CardRow, Message
from bot.domain.messages.step_entries import DOUBT_CHARS, ROW_CHARS
from bot.domain.messages.step_scene import Suggestion
from bot.domain.roundtable import cards
from bot.domain.roundtable.posts import StepCard
from bot.domain.specification.brief import BriefRow, brief
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import DECISION
from bot.domain.specification.fold import Patch
from bot.domain.specification.shown import ShownEntry
from bot.domain.specification.snapshot import text_of
from bot.domain.transcript.lines import Source
from bot.domain.values.markdown import inert_line
from bot.domain.values.text import one_line, value_text
from bot.files import CommittedFiles
from bot.integrations import agents, trace
from bot.integrations.agreed import AgreedItems
from bot.integrations.committed_exports import known_words
from bot.integrations.exported_edits import read_back
from bot.integrations.exports import FORMATS, WHO_CHARS, exported
from bot.integrations.trace import AgreedFacts, CodeFacts
from tests.domain.table import Table
from tests.sealing import TRUSTED, sealed
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting, make_entry

SLUG = "limits"
PEOPLE = st.sampled_from(["Ada", "Ann-Marie", "Grace O'Neil", "Linus <b>", "Zoë--X"])
WORDS = st.text("abcä d-<>*#.,:\"'", min_size=3, max_size=40).map(lambda said: f"the {said}".strip())
KINDS = sorted(SCHEMA.kinds)
MARK = re.compile(rf"<!-- {SLUG}/(\S+) [0-9a-f]{{8}}(?:: ([^<>]*?))?(?: https://\S+)? -->")
STEPS = {
    key: [step.step_id for step in PLAYBOOK.agenda.steps if kind in SCHEMA.shown_in(step.step_id)]
    for key, kind in SCHEMA.kinds.items()
}
"""That show entries of a kind."""
BRIEF_HAS_MORE = frozenset({DECISION, "objection", "risk", "question", "work", "action", "note"})
"""Kinds whose rows have further values, such as a reason or an owner, beside who said it."""


class Paper(CommittedFiles):
    """The commit of one item."""

    def __init__(self, meeting: Meeting) -> None:
        folder = f"items/{SLUG}"
        self._files = {
            f"{folder}/planning/meeting.jsonl": sealed(meeting.lines),
            f"{folder}/specification.json": text_of(meeting.specification, {}).encode(),
            f"{folder}/meta.json": b'{"description": "Rate limits"}',
        }

    def folders(self, path: str) -> Iterator[tuple[str, object]]:
        assert path == "items"
        yield SLUG, None

    def read(self, path: str, most: int) -> bytes | None:
        found = self._files.get(path)
        assert found is None or len(found) <= most
        return found


@st.composite
def meetings(draw: st.DrawFn) -> Meeting:
    """One entry of each of some kinds, and then what may happen to one."""
    meeting = Meeting()
    for key in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=12, unique=True)):
        begin(draw, meeting, key)
    for _ in range(draw(st.integers(0, 8))):
        change(draw, meeting, draw(st.sampled_from(sorted(meeting.specification.entries) or ["FR-001"])))
    return meeting


def begin(draw: st.DrawFn, meeting: Meeting, key: str) -> None:
    kind, who, words = SCHEMA.kinds[key], draw(PEOPLE), draw(WORDS)
    owner = next((one.id for one in meeting.specification.entries.values() if one.kind == kind.part_of), "")
    if kind.part_of and not owner:
        return
    id = meeting.specification.next_id(kind, owner, ())
    patch = make_entry(id, {kind.text: words}, part_of=owner)
    step = draw(st.sampled_from(["", *STEPS[key][:1]]))
    match draw(st.sampled_from(["pressed", "quoted", "proposed", "agent", "git"])):
        case "pressed":
            meeting.press(who, patch, step=step)
        case "quoted":
            line = meeting.say(who, "04-05", f"I think that {words} is what matters")
            quotes = {kind.text: [{"line": line, "words": words}]}
            meeting.propose({**patch, "quotes": quotes}, step=step, persona_name="Maya")
        case "proposed":
            unverified = draw(st.sampled_from([{}, {kind.text: "no source says it"}]))
            meeting.propose({**patch, "unverified": unverified}, step=step, persona_name="Alex")
        case "agent":
            meeting.add(Source.SYSTEM, words, [Patch.model_validate(patch)], step=step, agent="claude-code")
        case _:
            meeting.push(who, Patch.model_validate(patch))


def change(draw: st.DrawFn, meeting: Meeting, id: str) -> None:
    entry = meeting.specification.entries.get(id)
    if entry is None:
        return
    field, who = SCHEMA.kinds[entry.kind].text, draw(PEOPLE)
    match draw(st.sampled_from(["accept", "change", "suggest", "withdraw", "decide"])):
        case "accept":
            meeting.press(who, {"id": id, "accept": True})
        case "change":
            meeting.press(who, {"id": id, "set": {field: draw(WORDS)}})
        case "suggest":
            meeting.propose({"id": id, "set": {field: draw(WORDS)}}, persona_name="Jordan")
        case "withdraw":
            meeting.press(who, {"id": id, "state": "withdrawn"})
        case _ if entry.kind == DECISION:
            meeting.press(who, {"id": id, "set": {"deciders": [draw(PEOPLE), who]}})
        case _:
            pass


def items_of(meeting: Meeting) -> AgreedItems:
    return AgreedItems(Paper(meeting), items_dir="items", schema=SCHEMA, trusted=TRUSTED)


def flat(rows: tuple[BriefRow, ...]) -> Iterator[BriefRow]:
    for row in rows:
        yield row
        yield from flat(row.below)


def main_field(entry: Entry) -> str:
    return SCHEMA.kinds[entry.kind].text


@settings(max_examples=60, deadline=None)
@given(meetings())
def test_every_claim_reads_the_same_by_every_door(meeting: Meeting) -> None:
    """Who said it, who accepted it, and its words."""
    items, spec = items_of(meeting), meeting.specification
    listed = {row.address: row for state in EntryState for row in short_rows(items, state)}
    agreed = AgreedFacts([items.item(SLUG).shown], (SLUG,))
    rows = trace.trace(trace.gathered(agreed, CodeFacts((), (), ())), dates={}, read={}).entries
    for row, shown in ((row, items.show(row.address)) for row in rows):
        assert (row.text, row.said, row.link) == (shown.text, credit_inside(shown.attribution), shown.link)
    for entry in spec.entries.values():
        address, shown = f"{SLUG}/{entry.id}", items.show(f"{SLUG}/{entry.id}")
        words, who = value_text(entry[main_field(entry)] or ""), credit(shown.attribution)

        in_terminal = entry_wording.as_text(shown)
        assert shown.text == words
        assert in_terminal.startswith(f"{address}: {one_line(words, 500)}\n")
        assert f"{who}." in in_terminal.splitlines()[1]

        assert (listed[address].text, listed[address].said) == (words, who)
        assert agreed.entries[address] == shown

        for field, claims in entry.claims.items():
            for claim, told in zip(claims, shown.claims[field], strict=True):
                assert told.attribution == attribution(claim)
                assert f"    {one_line(credit(attribution(claim)), 500)}" in in_terminal
                parties = (told.said_by, told.proposed_by, told.accepted_by)
                assert all(one.name in told.attribution for one in parties if one)


def short_rows(items: AgreedItems, state: EntryState) -> tuple[agents.ShortEntry, ...]:
    return agents.get_specification(items, SLUG, state=state).rows


@pytest.mark.parametrize("target", FORMATS)
@settings(max_examples=40, deadline=None)
@given(meeting=meetings())
def test_an_export_names_who_said_it_as_show_does(target: str, meeting: Meeting) -> None:
    """In its marks, without what would end a comment; and its words are those of the entries, read back."""
    items = items_of(meeting)
    item = items.item(SLUG)
    for text in exported(item, target).values():
        assert not read_back(text, known_words(item))
        for id, who in MARK.findall(text):
            said = credit_inside(items.show(f"{SLUG}/{id}").attribution)
            assert who == one_line(re.sub(r"[<>]|-{2,}", " ", said), WHO_CHARS)


@settings(max_examples=60, deadline=None)
@given(meetings())
def test_the_brief_in_the_thread_names_who_said_it_as_show_does(meeting: Meeting) -> None:
    """Where it names somebody."""
    items = items_of(meeting)
    found = brief(SCHEMA, meeting.specification)
    for row in (row for section in found.sections for row in flat(section.rows) if row.entry):
        shown: ShownEntry = items.show(f"{SLUG}/{row.entry}")
        assert row.text.startswith(shown.text) or shown.kind in BRIEF_HAS_MORE
        if " (" in row.text and shown.kind not in BRIEF_HAS_MORE:
            assert row.text.startswith(brief_wording.with_aside(shown.text, shown.attribution))


@settings(max_examples=40, deadline=None)
@given(meetings())
def test_the_card_of_a_step_names_who_proposes_what_as_show_does(meeting: Meeting) -> None:
    """With the words of the entry. Of what people accepted, a card says only the words."""
    items = items_of(meeting)
    rt = Table().start().rt.but(specification=meeting.specification)
    for step in PLAYBOOK.agenda.steps:
        opened = StepCard(step_id=step.step_id, token="", message=Message(text=""))
        if scene := cards.scene_of(rt, opened, PLAYBOOK):
            card = step_card.open_card(replace(scene, is_whole=True)).card
            assert card
            offered = {str(one.number): one for one in scene.listed_suggestions}
            for row in (row for part in card.parts if part.title != "Still missing" for row in part.rows):
                check_row(row, items, offered)


def check_row(row: CardRow, items: AgreedItems, offered: Mapping[str, Suggestion]) -> None:
    """A row of an entry, or of a suggestion, which has a number."""
    number, _, id = row.id.removeprefix("✗ ").partition(" ")
    one = offered.get(number)
    if not (one or SCHEMA.of_id(number)):
        return
    shown = items.show(f"{SLUG}/{one.id if one else number}")
    assert not id or id == shown.id
    field = one.field if one and one.field else SCHEMA.kinds[shown.kind].text
    told = shown.claims[field]
    claim = told[-1] if one and one.field else next(claim for claim in told if claim.counts)
    words = value_text(claim.value)
    assert one_line(words if one else inert_line(words), ROW_CHARS) in row.text
    if shown.state is EntryState.PROPOSED or (one and one.field):
        assert row.aside.endswith(one_line(claim.attribution, DOUBT_CHARS))
