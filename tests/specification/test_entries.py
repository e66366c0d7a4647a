"""Entries are folded from the lines of a transcript; what a line may do depends on who wrote it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.messages.attribution_wording import attributions
from bot.domain.specification.claims import EntryState, Stale, StaleCause
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import Patch
from bot.domain.specification.not_settled import not_settled
from bot.domain.transcript.lines import ENTRIES
from tests.specification.meeting import SCHEMA, Meeting, make_entry


def test_what_a_person_says_in_a_form_is_accepted(meeting: Meeting) -> None:
    """A model only proposes, whatever its patch says, and strikes nothing."""
    meeting.say("Ada", "01-06", "requirement: Filter by date")

    entry = meeting.specification.entries["FR-001"]
    assert (entry.state, entry["title"], attributions(entry)) == (
        EntryState.ACCEPTED,
        "Filter by date",
        "Ada",
    )

    meeting.propose({"id": "FR-001", "state": "withdrawn"})

    assert meeting.specification.lives("FR-001")

    meeting.propose(
        {"id": "FR-001", "set": {"title": "Drop the audit log"}, "state": "accepted", "accept": True},
        make_entry("DEC-001", {"text": "Ship"}, state="accepted"),
    )

    entries = meeting.specification.entries
    assert meeting["FR-001.title"] == "Filter by date"
    assert entries["FR-001"].pending("title") is not None
    assert entries["DEC-001"].state is EntryState.PROPOSED


def test_only_a_person_sorts_a_note_in_the_name_of_its_author(meeting: Meeting) -> None:
    meeting.say("Grace", "01-01", "It costs us an hour a day.")
    (note,) = meeting.specification.active("note")
    meeting.propose(make_entry("PRB-001", {"text": "An hour a day"}, note=note.id))
    meeting.press("Linus", make_entry("PRB-002", {"text": "An hour a day"}, note=note.id))

    entries = meeting.specification.entries
    assert [attributions(entries[id]) for id in ("PRB-001", "PRB-002")] == [
        "proposed by BusinessAnalyst (persona), not accepted",
        "Grace, worded by Linus",
    ]


def test_what_is_proposed_is_accepted_by_a_press_and_keeps_what_it_rests_on(meeting: Meeting) -> None:
    said = meeting.say("Ada", "01-01", "It costs us an hour a day.")
    meeting.propose(make_entry("PRB-001", {"text": "An hour a day is lost"}, sources=[said]))
    meeting.press("Grace", {"id": "PRB-001", "accept": True})

    entry = meeting.specification.entries["PRB-001"]
    assert entry.state is EntryState.ACCEPTED
    assert said in (entry.claim("text") or pytest.fail("no claim")).sources


def test_a_change_in_git_counts_but_decides_nothing(meeting: Meeting) -> None:
    """Who may push is not who was in the meeting: decisions, approvals and fates of objections are only proposed."""
    meeting.say("Ada", "01-06", "requirement: Filter by date\nobjection: too slow")
    meeting.push(
        "Linus",
        Patch(id="FR-001", set={"title": "Filter by month"}),
        Patch(id="OBJ-001", set={"outcome": "rejected"}),
        Patch(id="DEC-001", kind="decision", new=True, set={"text": "Ship"}),
    )

    assert meeting["FR-001.title"] == "Filter by month"
    assert attributions(meeting.specification.entries["FR-001"]) == "Linus"
    assert (meeting.specification.entries["OBJ-001"].claim("outcome") or pytest.fail("none")).accepted is None
    assert meeting.specification.entries["DEC-001"].state is EntryState.PROPOSED


def test_ids_are_never_given_twice(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: One\nrequirement: Two")
    meeting.press("Ada", {"id": "FR-002", "state": "withdrawn"})
    meeting.say("Ada", "01-06", "requirement: Three")

    assert [one.id for one in meeting.specification.active("requirement")] == ["FR-001", "FR-003"]


def test_a_bad_patch_is_refused_with_a_sentence_and_the_others_count(meeting: Meeting) -> None:
    line = meeting.say("Ada", "01-06", "requirement: One")
    damaged = meeting.lines[0].but(
        meta={**meeting.lines[0].meta, ENTRIES: [{"id": "nonsense"}, 7, *meeting.lines[0].meta[ENTRIES]]}
    )

    folded = Specification().folding([damaged])

    assert list(folded.entries) == ["FR-001"]
    assert len(folded.refused) == 2
    assert all(line in one for one in folded.refused)


# --- what rests on what ---


def test_a_reversed_decision_marks_what_rests_on_it_through_other_entries(meeting: Meeting) -> None:
    meeting.say("Ada", "03-01", "decision: we keep it in one process")
    meeting.press("Ada", make_entry("RSK-001", {"text": "one core"}, sources=["DEC-001"]))
    meeting.press("Ada", make_entry("WRK-001", {"title": "load test"}, sources=["RSK-001"]))
    meeting.press("Ada", make_entry("Q-001", {"text": "who?", "about": ["DEC-001"]}))
    meeting.press("Grace", {"id": "DEC-001", "state": "superseded", "replaced_by": ["DEC-002"]})

    assert meeting.stale() == {"RSK-001.text", "WRK-001.title"}, "to refer to something is not to rest on it"


def test_what_is_stale_says_who_made_it_so_and_how(meeting: Meeting) -> None:
    said = meeting.say("Ada", "01-06", "requirement: One")
    risk = make_entry("RSK-001", {"text": "late"}, sources=["FR-001", said])

    def why() -> Stale | None:
        claim = meeting.specification.entries["RSK-001"].claim("text")
        assert claim
        return claim.stale

    meeting.press("Grace", risk)
    assert why() is None
    meeting.say("Ada", "01-06", "requirement: Eins", amends=said)
    assert why() == Stale(line="m3", cause=StaleCause.CHANGED, by="UADA", name="Ada")

    meeting.press("Grace", {"id": "RSK-001", "accept": True})
    assert why() is None
    meeting.press("Linus", {"id": "RSK-001", "set": {"text": "later"}, "sources": ["FR-001"]})
    meeting.press("Grace", {"id": "FR-001", "state": "withdrawn"})
    assert why() == Stale(line="m6", cause=StaleCause.WITHDRAWN, by="UGRACE", name="Grace", source="FR-001")

    meeting.press("Linus", {"id": "RSK-001", "set": {"text": "latest"}, "sources": [said]})
    meeting.delete("Grace", said)
    assert why() == Stale(line="m8", cause=StaleCause.DELETED, by="UGRACE", name="Grace")


def test_a_withdrawn_entry_comes_back_by_a_press_and_not_by_another_value(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: One")
    meeting.press("Ada", {"id": "FR-001", "state": "withdrawn"})
    meeting.press("Grace", {"id": "FR-001", "set": {"priority": "must"}})
    assert not meeting.specification.lives("FR-001")

    meeting.press("Grace", {"id": "FR-001", "state": "accepted"})
    assert meeting.specification.lives("FR-001")


def test_a_snapshot_and_the_rest_of_the_lines_are_the_whole(meeting: Meeting) -> None:
    said = meeting.say("Ada", "01-06", "requirement: One\nAC: it shows")
    meeting.say("Grace", "01-08", "Must: FR-001")
    meeting.say("Ada", "01-06", "requirement: Uno", amends=said)
    meeting.propose({"id": "FR-001", "set": {"reason": "because"}})

    for cut in range(len(meeting.lines) + 1):
        stored = Specification().folding(meeting.lines[:cut]).model_dump_json()
        snapshot = Specification.model_validate_json(stored)
        assert snapshot.folding(meeting.lines[cut:]) == meeting.specification
    assert json.loads(stored)["through"] == meeting.lines[-1].message_id


# --- ripple: any analysis, any change ---

ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["add", "field", "rest", "change", "delete", "reverse", "keep"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=25,
)


@given(ACTIONS)
def test_every_claim_that_rests_on_what_changed_is_marked_and_no_other(
    actions: list[tuple[str, int, int]],
) -> None:
    """The marks are held against a second, slow account of what rests on what."""
    meeting, slow = Meeting(SCHEMA), _Slow()
    for what, one, other in actions:
        ids = [id for id, entry in slow.entries.items() if not entry["gone"]]
        id, second = (ids[at % len(ids)] if ids else "" for at in (one, other))
        utterances = slow.utterances
        if what == "add":
            slow.said(
                meeting.say("Ada", "02-03", f"risk: number {len(meeting.lines)}"),
                meeting,
                words="risk: number",
            )
        elif what == "field" and id:
            words = f"{id} area: part"
            slow.said(meeting.say("Grace", "02-03", f"{words} {len(meeting.lines)}"), meeting, words=words)
        elif what == "rest" and id and second != id:
            slow.said(
                meeting.press(
                    "Ada", {"id": id, "set": {"owner": f"O{len(meeting.lines)}"}, "sources": [second]}
                ),
                meeting,
            )
        elif what == "change" and (said := [one for one in utterances if one in slow.words]):
            line = said[one % len(said)]
            slow.outdate(line)
            meeting.say("Ada", "02-03", f"{slow.words[line]} changed {len(meeting.lines)}", amends=line)
            slow.said(line, meeting)
        elif what == "delete" and utterances:
            line = utterances[one % len(utterances)]
            slow.outdate(line)
            meeting.delete("Ada", line)
        elif what == "reverse" and id:
            slow.entries[id]["gone"] = True
            slow.outdate(id)
            meeting.press("Ada", {"id": id, "state": "withdrawn"})
        elif what == "keep" and id:
            slow.said(meeting.press("Ada", {"id": id, "accept": True}), meeting, kept=id)
        assert meeting.stale() == slow.stale()


class _Slow:
    """What rests on what, by asking every value about everything, again and again until nothing changes."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self.utterances: list[str] = []
        self.words: dict[str, str] = {}

    def said(self, line: str, meeting: Meeting, *, kept: str = "", words: str = "") -> None:
        if kept:
            for value in self.entries[kept]["values"].values():
                if value["stale"]:
                    value.update(rests={line}, stale=False)
            return
        if line not in self.utterances:
            self.utterances.append(line)
        if words:
            self.words[line] = words
        for patch in meeting.lines[-1].meta[ENTRIES]:
            entry = self.entries.setdefault(patch["id"], {"gone": False, "values": {}})
            for field in patch.get("set", ()):
                entry["values"][field] = {"rests": {line, *patch.get("sources", ())}, "stale": False}

    def outdate(self, source: str) -> None:
        reached = {source}
        while True:
            before = len(reached)
            for id, entry in self.entries.items():
                for value in () if entry["gone"] else entry["values"].values():
                    if value["rests"] & reached:
                        value["stale"] = True
                        reached.add(id)
            if len(reached) == before:
                return

    def stale(self) -> set[str]:
        living = {id: entry for id, entry in self.entries.items() if not entry["gone"]}
        return {
            f"{id}.{field}"
            for id, entry in living.items()
            for field, one in entry["values"].items()
            if one["stale"]
        }


# --- an edit, whatever others did since -------------------------------------------------------------------------------

ROWS = {
    "DEC-001": "decision: Use A",
    "FR-001": "requirement: Edit offline",
    "AC-001-01": "AC: the edit is kept",
    "RSK-001": "risk: the disk fills",
}
SINCE = st.lists(
    st.tuples(st.sampled_from([*ROWS]), st.sampled_from(["withdrawn", "other words", "press"])), max_size=3
)
EDITS = st.lists(st.tuples(st.sets(st.sampled_from([*ROWS])), st.booleans()), min_size=1, max_size=3)


@given(SINCE, EDITS)
def test_an_edit_changes_what_it_says_otherwise_and_nothing_else(
    since: list[tuple[str, str]], edits: list[tuple[set[str], bool]]
) -> None:
    """What others withdrew or replaced since stays so; other words for it are asked about."""
    meeting, rows, added = Meeting(), dict(ROWS), list[str]()
    said = meeting.say("Ada", "03-01", "\n".join(rows.values()))
    for id, what in since:
        if what == "press":
            meeting.press("Grace", {"id": id, "state": "withdrawn"})
        else:
            meeting.say("Grace", "03-01", f"{id}: {what}")
    touched = {id for id, _ in since}
    for number, (changed, adds) in enumerate(edits):
        before = meeting.specification
        rows |= {id: f"{ROWS[id]} {number}" for id in changed}
        added += [f"work: number {number}"] * adds
        meeting.say("Ada", "03-01", "\n".join((*reversed(added), *rows.values())), amends=said)
        after = meeting.specification

        assert len(after.entries) == len(before.entries) + adds
        for id in rows.keys() - changed:
            was, now = before.entries[id], after.entries[id]
            assert (was.state, was.replaced_by) == (now.state, now.replaced_by)
            assert {field: was[field] for field in was.claims} == {field: now[field] for field in now.claims}
        asked = {row.id for row in not_settled(SCHEMA, after)}
        for id in changed:
            words = rows[id].partition(": ")[2]
            entry = after.entries[id]
            assert words in {one.value for claims in entry.claims.values() for one in claims}
            owner = after.entries.get(entry.part_of)
            is_asked = {id, *entry.replaced_by} & asked or (owner and owner.gone)
            assert id not in touched or not entry.gone or is_asked
            assert id not in touched or is_asked


@pytest.mark.parametrize("first", ["RSK-001: withdrawn", "RSK-001: withdrawn\nIt is gone."])
@pytest.mark.parametrize("later", ["thanks!", "It may still come.", "RSK-001: it is full", "risk: it burns"])
def test_who_edits_a_withdrawal_takes_it_back(meeting: Meeting, first: str, later: str) -> None:
    """As the words read now, the entry was never withdrawn."""
    meeting.say("Ada", "01-06", "risk: the disk fills")
    said = meeting.say("Grace", "01-06", first)
    assert not meeting.specification.lives("RSK-001")
    meeting.say("Grace", "01-06", f"{first}, sorry", amends=said)
    meeting.say("Grace", "01-06", first, amends=said)
    assert not meeting.specification.lives("RSK-001")

    meeting.say("Grace", "01-06", later, amends=said)
    assert meeting.specification.lives("RSK-001")
    assert not meeting.specification.entries["RSK-001"].stale
    words = {
        str(one[SCHEMA.kinds[one.kind].text])
        for one in meeting.specification.entries.values()
        if not one.gone
    }
    assert later == "thanks!" or later.rpartition(": ")[2] in words


def test_what_a_deleted_message_withdrew_is_asked_about(meeting: Meeting) -> None:
    """And what that had replaced is replaced again."""
    meeting.say("Ada", "03-01", "decision: Use A")
    meeting.say("Grace", "03-01", "DEC-001: Use B")
    said = meeting.say("Linus", "03-01", "DEC-002: withdrawn")
    meeting.delete("Linus", said)

    assert [meeting.specification.entries[id].state for id in ("DEC-001", "DEC-002")] == [
        EntryState.SUPERSEDED,
        EntryState.ACCEPTED,
    ]
    assert [row.id for row in not_settled(SCHEMA, meeting.specification)] == ["DEC-002"]
