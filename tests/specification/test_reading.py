"""
Words first, then one press: how much of what people meant in five meetings is read, and that nothing else is. The
messages and what their authors meant stand in `messages.yaml`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.steps import Depth
from bot.domain.discussion import words
from bot.domain.discussion.elaboration import BoardOption
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.specification import reader
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import Patch
from bot.domain.specification.said_entries import Here
from tests.growth import grows_no_faster
from tests.specification.meeting import PLAYBOOK, QUESTIONS, SCHEMA, Meeting

MEETINGS: Mapping[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "messages.yaml").read_text("utf-8")
)
STANDARD = {step.step_id: step.questions_at(Depth.STANDARD) for step in PLAYBOOK.agenda.steps}
ASKS = {step.step_id: step.asks_at(Depth.STANDARD) for step in PLAYBOOK.agenda.steps}
STEPS = {"talk": "01-06", "plan": "05-01"}
KNOWN = """requirement: one
requirement: two
requirement: three
requirement: four
requirement: five
risk: first
risk: second
decision: before
decision: since
metric: views
technology: the one
technology: the other
task: begin"""


@pytest.fixture(scope="module")
def known() -> Specification:
    meeting = Meeting()
    meeting.say("Ada", "01-06", KNOWN)
    return meeting.specification


class Found(NamedTuple):
    kind: str
    fields: Mapping[str, Any]


@dataclass
class Count:
    """Statements of a meeting: `right` with at most one press a message, and entries that no author meant."""

    statements: int = 0
    right: int = 0
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def here(step: str, known: Specification, **more: Any) -> Here:
    asks = ASKS.get(step, {})
    return Here(
        schema=SCHEMA,
        specification=known,
        step_id=STEPS.get(step, step),
        person="UGRACE",
        questions=QUESTIONS.get(step) or STANDARD.get(step, ()),
        asks=asks,
        open_questions=tuple(asks),
        is_discussion=step == "talk",
        **more,
    )


def entries_of(patches: Iterable[Patch]) -> list[Found]:
    found: dict[str, Found] = {}
    for one in patches:
        kind = SCHEMA.of_id(one.id)
        if kind is None or kind.key == "note" or set(one.set) == {"remark"}:
            continue
        before = found.get(one.id, Found(kind.key, {})).fields
        state = {"state": one.state.value} if one.state is EntryState.WITHDRAWN else {}
        found[one.id] = Found(kind.key, {**before, **one.set, **state})
    return list(found.values())


def is_meant(want: str, found: Found) -> bool:
    """`kind~words&field=value`"""
    kind, _, rest = want.partition("~")
    parts = [part.partition("=") for part in rest.split("&")]
    if "<" in rest.partition("=")[2]:
        parts = [part.partition("=") for part in rest.split("&", 1)]
    said = " | ".join(map(str, found.fields.values())).casefold()
    return found.kind == kind and all(
        value.casefold() in str(found.fields.get(name, "")).casefold() if sign else name.casefold() in said
        for name, sign, value in parts
    )


class Told(NamedTuple):
    """A message after it was read, and after its press."""

    read: list[Found]
    filed: list[Found]
    notes: list[str]
    remarks: list[str]
    position: str

    def says(self, statement: str, *, strange: bool) -> bool:
        left = [*self.read, *self.filed]
        for want in statement.split(" + "):
            if "~" in want:
                hit = next((one for one in left if is_meant(want, one)), None)
                if hit is None:
                    return False
                left.remove(hit)
            elif want.startswith("about "):
                if want.removeprefix("about ") not in self.remarks:
                    return False
            elif want.startswith("position "):
                if want.removeprefix("position ") != self.position:
                    return False
            elif strange or (want == "-" and (left or self.notes)) or (want == "note" and not self.notes):
                return False
        return True


def told(message: Mapping[str, Any], known: Specification) -> Told:
    reading = reader.read(message["say"], here(str(message["step"]), known))
    notes = [str(one.set["text"]) for one in reading.patches if one.kind == "note"]
    options = [BoardOption(text=f"way {letter}", letter=letter) for letter in message.get("options", "")]
    position = words.position_in(options, message["say"], SCHEMA)
    filed: list[Found] = []
    if press := message.get("press"):
        for note in notes if press != "drop" else ():
            kind = SCHEMA.kinds[press]
            lines, _ = reader.filed(note, kind)
            filed += (Found(kind.key, {kind.text: line}) for line in lines)
        notes = []
    remarks = [one.id for one in reading.patches if "remark" in one.set and not one.new]
    return Told(entries_of(reading.patches), filed, notes, remarks, (position and position.letter) or "")


def counted(meeting: str, known: Specification) -> Count:
    count = Count()
    for message in MEETINGS[meeting]:
        meant = [*message["want"], *message.get("also", ())]
        wanted = [want for statement in meant for want in statement.split(" + ")]
        after = told(message, known)
        strange = [one for one in after.read if not any(is_meant(want, one) for want in wanted)]
        count.false += [f"{one} in {message['say']!r}" for one in strange]
        for statement in meant:
            is_right, is_counted = after.says(statement, strange=bool(strange)), statement in message["want"]
            count.statements += is_counted
            count.right += is_counted and is_right
            count.missed += [] if is_right else [f"{statement} in {message['say']!r}"]
    return count


def test_of_five_meetings_177_of_197_statements_are_right_with_a_press_and_nothing_else_is_an_entry(
    known: Specification,
) -> None:
    """In the one about parcels 66 of 73."""
    counts = {meeting: counted(meeting, known) for meeting in MEETINGS}
    parcels = counts["parcel rounds"]

    assert (parcels.statements, sum(one.statements for one in counts.values())) == (73, 197)
    assert [false for one in counts.values() for false in one.false] == []
    assert parcels.right >= 66, parcels.missed
    assert sum(one.right for one in counts.values()) >= 177, [one.missed for one in counts.values()]


# --- what is not lost, and what it costs ------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *(
            "risk:", "Must:", "FR-001", "1.", "2)", "- ", "; owner:", ", because:", "->", "\n", "|", "> ",
            "```", "?", "A)", "B)",
        ),
        *(
            "Scope: large.", "lol", "thanks", "the", "disk", "fills", "(FR-002)", "requirement =", "AC: x",
            "Deadline:", "(", "*",
        ),
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=14).map(" ".join))
WORD = re.compile(r"[^\W_]+")


def words_of(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from words_of(one)
    else:
        yield from WORD.findall(str(value).casefold())


def structure() -> frozenset[str]:
    """Words of labels, fields, values and ids: they are in no value, and what they mean is."""
    kinds = SCHEMA.kinds.values()
    fields = [(name, field) for kind in kinds for name, field in kind.fields.items()]
    told = [
        *SCHEMA.openers,
        *SCHEMA.before_label,
        *(name for name, _ in fields),
        *(field.label for _, field in fields),
        *(name for _, field in fields for name in (*field.names, *field.of, *sum(field.words.values(), ()))),
        *("and", "und"),
    ]
    return frozenset(words_of(told))


STRUCTURE = structure()


@given(text=TEXTS, step=st.sampled_from(["00-01", "01-05", "01-06", "03-01", "talk", ""]))
def test_any_text_is_read_and_every_word_of_it_is_kept(known: Specification, text: str, step: str) -> None:
    """In an entry, a remark, a note or among the small words."""
    reading = reader.read(text, here(step, known))
    kept = {*STRUCTURE, *words_of(reading.small)}
    for one in reading.patches:
        kept.update(words_of([one.id, *one.set.values(), *one.add.values()]))

    lost = [word for word in WORD.findall(text.casefold()) if word not in kept and not word.isdigit()]
    assert lost == []


@pytest.mark.parametrize(
    "text", ["lol", "danke!", "brb", "+1", "Merci 🙏", "ok, sounds good", "ありがとう", "👍", "@Ada thanks"]
)
def test_small_words_are_in_no_file(known: Specification, text: str) -> None:
    assert reader.read(text, here("01-06", known)).is_small


@pytest.mark.parametrize("text", ["ok?", "thanks, but it fails", "no network", "5", "yes: FR-001"])
def test_what_asks_or_says_more_is_not_small(known: Specification, text: str) -> None:
    assert not reader.read(text, here("00-01", known)).is_small


HOSTILE = {
    "words": "word ",
    "colons": "a: ",
    "dots": ". ",
    "letters": "A) ",
    "numbers": "1. ",
    "ids": "FR-001, ",
    "tabs": "\t",
    "semicolons": "; x: ",
    "arrows": "-> ",
    "hearts": "❤️",
    "equals": "=",
    "commas": "a, ",
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_the_time_to_read_grows_with_the_text(known: Specification, shape: str) -> None:
    def text_of(size: int) -> str:
        return ("requirement: " + HOSTILE[shape] * (size // len(HOSTILE[shape]) + 1))[:size]

    grows_no_faster(lambda text: reader.read(text, here("01-06", known)), text_of, 40_000)


# --- the same words, and changed words ---------------------------------------------------------


def test_who_says_the_same_words_too_stands_behind_the_entry() -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-05", "risk: the disk fills")
    meeting.say("Grace", "01-05", "risk: the disk fills; impact: high")
    meeting.say("Grace", "01-05", "risk: the disk fills")

    (risk,) = meeting.specification.active("risk")
    assert [claim.author.name for claim in risk.claims["text"]] == ["Ada", "Grace"]
    assert risk["impact"] == "high"
    assert attribution_of(risk, "text") == "Ada and Grace"


def test_a_changed_message_changes_only_the_claims_whose_words_changed() -> None:
    meeting = Meeting()
    said = meeting.say("Ada", "01-06", "requirement: Sort\nrequirement: Filter\nrisk: the disk fills")
    meeting.say("Ada", "01-06", "requirement: Export\nrequirement: Sort\nrisk: the disk fills", amends=said)

    titles = {one.id: one["title"] for one in meeting.specification.active("requirement")}
    assert titles == {"FR-001": "Sort", "FR-002": "Export"}
    kept = meeting.specification.entries["FR-001"].claims["title"]
    assert [claim.edited for claim in kept] == [""]


def test_a_pair_that_does_not_fit_is_a_remark_and_the_entry_stands() -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-05", "risk: the disk fills; likelihood: quite; owner: Linus -> delete old rows")

    assert (meeting["RSK-001.text"], meeting["RSK-001.owner"]) == ("the disk fills", "Linus")
    assert meeting["RSK-001.mitigation"] == "delete old rows"
    assert meeting["RSK-001.remark"] == "likelihood: quite"
    assert meeting.specification.active("note") == ()


def test_a_reference_may_be_an_exact_name() -> None:
    meeting = Meeting()
    meeting.say("Ada", "04-01", "module: Outbox -> keeps rows\nmodule: Merger -> merges; depends on: outbox")

    assert meeting["MOD-002.depends"] == ["MOD-001"]


def test_the_lines_below_a_number_belong_to_its_answer() -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-01", "1. Rows get lost.\nEvery night.\n\nSee you.", asks=ASKS["01-01"])

    assert meeting["PRB-001.text"] == "Rows get lost.\nEvery night."
    assert [one["text"] for one in meeting.specification.active("note")] == ["See you."]


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        ("2. medium", "medium"),
        ("2. I think large, three teams", "large"),
        ("2. not large", None),
        ("2. the large table only", None),
        ("2. kein großes Thema, klein", "small"),
        ("2. plutôt grand", "large"),
    ],
)
def test_a_choice_is_first_or_last_in_a_sentence_without_a_negation(words: str, scope: str | None) -> None:
    meeting = Meeting()
    meeting.say("Ada", "00-01", words, asks=ASKS["00-01"])

    estimate = meeting.specification.entries.get("EST-001")
    assert (estimate["scope"] if estimate else None) == scope


def test_words_about_one_entry_are_kept_with_it() -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Sort\nrequirement: Filter")
    meeting.say("Grace", "01-08", "FR-001 can wait\nFR-001 or FR-002\nFR-001?")

    assert meeting["FR-001.remark"] == "FR-001 can wait"
    assert [one["text"] for one in meeting.specification.active("note")] == ["FR-001 or FR-002\nFR-001?"]
