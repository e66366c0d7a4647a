"""A sentence of a persona that tells a fact shows the words of a person or of code that say it, or it has a mark."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.specification.claim_check import ClaimCheck, Root
from bot.domain.transcript.lines import UNCHECKED
from bot.voices.sources import with_marks
from tests.specification.meeting import SCHEMA
from tests.voices.minds import ScriptedMind, cue, debating, record, take_turn, thinking
from tests.voices.people import ADA, ALEX, FEATURES, MAYA, roundtable

CHECK = ClaimCheck(SCHEMA.operators, ("Ada", "Grace"), personas=("Maya", "Alex", "Jordan"))
SENTENCES = yaml.safe_load(Path(__file__).with_name("prose.yaml").read_text(encoding="utf-8"))
GRACE = Root(
    "Grace", "The job pays batches twice when a worker dies. I am not convinced that we should drop the log."
)
MAYA_SAYS = (MAYA, "It loses 41 edits a day.")
ADA_SAYS = (ADA, "Edits got lost in 41 tunnels last March.")


@pytest.mark.parametrize(
    "sentence",
    [
        "Grace said that batches are paid twice.", "It was decided to drop the log.", "Grace wants a queue.",
        "We have 30 days.", "That is due on Friday.", "Retries are in src/sync.py.",
        "`retry` is called again.", "The OAuth2 token expires.", "Grace objected, right?",
        "Grace sagt, es reicht.", "Selon Grace, ça suffit.",
    ],
)  # fmt: skip
def test_who_tells_what_was_said_or_is_so_needs_a_quote(sentence: str) -> None:
    """What somebody said or decided, and persons, numbers, dates, paths and symbols."""
    assert CHECK.needs_quote(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I would rather have a queue.",
        "A merge loses less than a queue.",
        "Grace, that is the riskier way.",
        "Grace: what happens after a restart?",
        "Alex is right about the queue.",
        "Who wants to keep the log?",
        "Does it take 30 days?",
        "FR-001 rests on t03.",
        "Ich halte das für zu riskant.",
    ],
)
def test_an_opinion_or_a_question_needs_none(sentence: str) -> None:
    """Neither does who is spoken to, nor what personas think of each other."""
    assert not CHECK.needs_quote(sentence)


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("Grace says the job pays batches twice.", "pays batches twice", ""),
        ("The job pays batches 3 times.", "pays batches twice", "“3”"),
        ("Grace wants to drop the log.", "that we should drop the log", "“not”"),
        ("Ada says the job pays batches twice.", "pays batches twice", "“Ada”"),
        ("Grace says the job moves to Helsinki.", "pays batches twice", "“moves”"),
        ("Grace decided to drop the log.", "that we should drop the log", "“decided”"),
    ],
)
def test_its_words_are_held_against_the_whole_sentence_that_it_quotes(
    text: str, words: str, marked: str
) -> None:
    """As a value of an entry: a quote cannot cut off the *not* before it."""
    found = with_marks(text, [(GRACE, words)], CHECK)

    assert found.text == (f"{text} {UNCHECKED_MARK}" if marked else text)
    assert [one["what"] for one in found.facts.get(UNCHECKED, ())] == ([text] if marked else [])
    assert all(marked in one["why"] for one in found.facts.get(UNCHECKED, ()))


@pytest.mark.parametrize(("lang", "most_true"), [("en", 2), ("de", 1), ("fr", 0), ("es", 1), ("ja", 0)])
def test_no_line_of_a_person_vouches_for_what_it_does_not_say(lang: str, most_true: int) -> None:
    """Nor does a word such as *que* or *which*. As many true sentences have a mark as were measured."""
    check = ClaimCheck(SCHEMA.operators, ("Ada", "Grace", "花子"), personas=("Maya", "Alex", "Jordan"))
    passing, stopped = list[str](), list[str]()
    for row in (one for one in SENTENCES if one["lang"] == lang):
        quotes = [(Root(row["speaker"], row["line"]), row["line"])] if "line" in row else []
        is_marked = UNCHECKED_MARK in with_marks(row["says"], quotes, check).text
        if is_marked == row["faithful"]:
            (stopped if is_marked else passing).append(row["says"])

    assert passing == []
    assert len(stopped) <= most_true, stopped


def test_the_sentences_are_all_there() -> None:
    assert len(SENTENCES) == 107


def test_whose_words_a_possessive_claims_is_read() -> None:
    """Citing the line of another person does not help, and a part of a name is no name."""
    grace = [(Root("Grace", "The queue loses rows."), "The queue loses rows.")]
    check = ClaimCheck(SCHEMA.operators, ("Anna de Vries", "Grace"))

    assert check.why_unchecked("Anna's queue loses rows.", grace) == "the line does not say “Anna”"
    assert check.why_unchecked("Grace's queue loses rows.", grace) == ""
    assert not check.needs_quote("Une file perd moins de lignes.")


def test_a_sentence_too_long_to_be_read_is_unchecked() -> None:
    """What stands behind the part that is read could say anything."""
    assert CHECK.why_unchecked(f"{'very ' * 250}Grace decided it", [(GRACE, "pays batches twice")])


@pytest.mark.parametrize(
    ("text", "is_marked"),
    [
        ("```\nGrace decided it.\n```", False),
        ("  ```python\nwait(30)\n  ```\nSo.", False),
        ("```\nwait(30)\n```\nGrace decided it.", True),
        ("As you know ```\nGrace decided it.", True),
        ("```\nGrace decided it.", True),
        ("```\nGrace decided it.\n```python", True),
        ("Grace decided ```it```.", True),
    ],
)
def test_only_a_whole_block_of_code_is_left_out(text: str, *, is_marked: bool) -> None:
    assert (UNCHECKED_MARK in with_marks(text, [], CHECK).text) is is_marked


def test_japanese_sentences_are_marked_one_by_one() -> None:
    """No space stands between them."""
    text = "キューがいいです。チームは合意しました。本当ですか？"

    assert with_marks(text, [], CHECK).text == (
        f"キューがいいです。チームは合意しました。 {UNCHECKED_MARK} 本当ですか？"
    )


def test_the_mark_is_behind_the_sentence_and_nothing_else_is_changed() -> None:
    """In lists, too; code is no sentence, and a mark that a model makes up is removed."""
    text = f"I like it. It takes 30 days.  So wait.\n\n1. Grace said so {UNCHECKED_MARK}\n- A queue\n```\nwait(30)\n```"

    assert with_marks(text, [], CHECK).text == (
        f"I like it. It takes 30 days. {UNCHECKED_MARK}  So wait.\n\n1. Grace said so {UNCHECKED_MARK}\n- A queue\n"
        "```\nwait(30)\n```"
    )


def said(text: str, *quotes: tuple[str, str]) -> dict[str, Any]:
    return {"text": text, "quotes": [{"line": line, "words": words} for line, words in quotes]}


async def test_a_persona_cannot_launder_what_another_persona_made_up() -> None:
    """Its turn is no source, and the line keeps which sentence has the mark, and why."""
    invented = record(
        "It loses 41 edits a day.", quotes=[{"line": "t01", "words": "It loses 41 edits a day"}]
    )
    speech = await take_turn(thinking(ScriptedMind(invented)), cue(debating(MAYA_SAYS), ALEX))

    assert speech.text == f"It loses 41 edits a day. {UNCHECKED_MARK}"
    assert speech.quotes == ()
    assert speech.facts[UNCHECKED] == ({"what": "It loses 41 edits a day.", "why": "no line says this"},)


async def test_what_a_person_said_is_repeated_without_a_mark() -> None:
    quoting = record("That was in 41 tunnels.", quotes=[{"line": "t01", "words": "lost in 41 tunnels"}])
    speech = await take_turn(thinking(ScriptedMind(quoting)), cue(debating(ADA_SAYS), ALEX))

    assert speech.text == "That was in 41 tunnels."
    assert UNCHECKED not in speech.facts


async def test_the_remark_of_a_draft_and_its_questions_are_checked_in_the_same_way() -> None:
    """Each question has quotes for all that it tells: what is asked, the answer recommended, and why it matters."""
    rt = roundtable(FEATURES, (ADA, "Edits must survive 24 hours without a network."))
    line = rt.line_of(rt.to_read[0].ts)
    hours = [{"line": line, "words": "must survive 24 hours"}]
    questions = [
        {"text": "What comes first?", "why": "24 hours are long.", "quotes": hours},
        {"text": "Who tests it?", "why": "There are 41 tunnels.", "quotes": hours},
        {"text": "Ada said 9 hours. Is that enough?", "recommended": "24 hours.", "quotes": hours},
        {"text": "Which tunnels?", "recommended": "All 41.", "why": "24 hours are long."},
    ]
    told = [
        said("Edits must survive 24 hours.", (line, "must survive 24 hours")),
        said("That takes 3 disks."),
    ]
    answer = json.dumps({"say": told, "questions": questions, "next": questions, "entries": []})
    speech = await thinking(ScriptedMind(answer)).draft(cue(rt))

    assert speech.text == f"Edits must survive 24 hours. That takes 3 disks. {UNCHECKED_MARK}"
    assert [one["what"] for one in speech.facts[UNCHECKED]] == ["That takes 3 disks."]
    assert [(one.text, one.recommended, one.why) for one in speech.questions] == [
        ("What comes first?", "", "24 hours are long."),
        ("Who tests it?", "", f"There are 41 tunnels. {UNCHECKED_MARK}"),
        (f"Ada said 9 hours. {UNCHECKED_MARK} Is that enough?", "24 hours", ""),
        ("Which tunnels?", f"All 41 {UNCHECKED_MARK}", f"24 hours are long. {UNCHECKED_MARK}"),
    ]
    assert speech.next_questions == speech.questions
