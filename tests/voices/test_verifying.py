"""Another model reviews drafts: what it denies stays unchecked, and its words must be there."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bot.domain.catalog.personas import Chain
from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.roundtable.effects import ReviewDraft
from bot.domain.roundtable.outcomes import Contradiction, DraftQuestion, DraftReview, ReviewObjection
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import specifying
from bot.domain.specification import checks
from bot.domain.specification.claim_check import CUT_OUT, NO_QUOTE, NOT_CONFIRMED, WAITING, Root
from bot.domain.specification.claims import Check, Claim, Quote
from bot.domain.specification.entries import unconfirmed
from bot.domain.specification.fold import Patch
from bot.domain.values.places import Person
from bot.engine.ports import Facts, VoiceContext
from bot.errors import VoiceError
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.verifying import DENIED, NO_VERDICT, SourcedClaim, verdicts_in
from tests.specification.meeting import PLAYBOOK, Meeting
from tests.specification.test_claim_check import CLAIMS
from tests.voices.minds import Answer, ScriptedMind, drafted, lost, whole
from tests.voices.people import ADA, FEATURES, MAYA, ROSTER, roundtable

RT = roundtable(FEATURES, (ADA, "Export every row, from the new table."))
QUOTES = [{"field": "title", "line": "C.0", "words": "Export every row"}]
ROWS = {"kind": "requirement", "fields": {"title": "Export every row"}, "quotes": QUOTES}
ALL = {**ROWS, "fields": {"title": "All the rows are exported"}}
CHEAP = {**ROWS, "fields": {"title": "Exports are cheap"}}
AGAINST = {"text": "Every row may be millions.", "quotes": [{"line": "C.0", "words": "Export every row"}]}


def judged(*verdicts: tuple[str, str], **more: Any) -> str:
    told = [
        {"claim": n, "verdict": said, "words": words} for n, (said, words) in enumerate(verdicts, start=1)
    ]
    return json.dumps({"verdicts": told, **more})


def voices(speaker: ScriptedMind, verifier: ScriptedMind) -> ModelVoices:
    return ModelVoices(lambda _: speaker, OfflineVoices(), second=verifier)


async def proposed(*given: Any, rt: Roundtable = RT) -> Roundtable:
    """What a persona proposed is recorded, and waits for the review."""
    speech = await ModelVoices(lambda _: ScriptedMind(drafted(*given)), OfflineVoices()).draft(
        VoiceContext(rt, PLAYBOOK, MAYA)
    )
    rt = rt.heard(Person(id=ADA, name="Ada"), "Export every row, from the new table.", ts="0", part=rt.part)
    return specifying.proposed(rt, ROSTER[MAYA], speech.patches or (), PLAYBOOK)


async def reviewed(
    *answers: Answer, given: Sequence[Any] = (ALL,)
) -> tuple[DraftReview, Facts, ScriptedMind]:
    verifier = ScriptedMind(*answers)
    rt = await proposed(*given)
    found, facts = await voices(ScriptedMind(""), verifier).review(VoiceContext(rt, PLAYBOOK, ""))
    return found, facts, verifier


def reasons(found: DraftReview) -> list[str]:
    return [one.why for one in found.verdicts]


async def test_what_is_denied_stays_unchecked_and_is_counted() -> None:
    """What it is asked has whole lines, and nothing of the persona that drafted."""
    found, facts, verifier = await reviewed(
        judged(("yes", "Export every row"), ("no", "")), given=(ALL, CHEAP)
    )

    assert reasons(found) == ["", DENIED]
    assert facts["tokens_in"] == 900
    assert "Export every row, from the new table." in whole(verifier.asked[0])
    assert "Maya Chen" not in whole(verifier.asked[0])


async def test_what_is_supported_in_part_is_shown_as_such() -> None:
    """With the sentence that the source really has."""
    found, _, _ = await reviewed(judged(("partly", "from the new table")))

    assert reasons(found) == ["the source says only: “from the new table”"]


async def test_a_whole_sentence_needs_no_second_model() -> None:
    """What was cut out of it does: the rest may deny it, in words that no list has."""
    line = "Export every row, from the new table"
    message = {**ROWS, "fields": {"title": line}, "quotes": [QUOTES[0] | {"words": line}]}
    rt = await proposed(message, ROWS, ALL)
    claims = [entry.claim("title") for entry in rt.specification.entries.values()]

    assert [one.reason for one in claims if one] == ["", CUT_OUT, NOT_CONFIRMED]
    assert [one.check for one in claims if one] == [Check.VERBATIM, Check.UNCHECKED, Check.UNCHECKED]


def all_proposed(*, faithful: bool) -> Roundtable:
    """Each claim of the measured sets is put forward as an insight that quotes its line, or the span that it is."""
    rows = [row for row in CLAIMS if row["faithful"] is faithful]
    names = {row["speaker"] or "Ada" for row in rows}
    rt, patches = RT.but(people={**RT.people, **{f"U-{name}": name for name in names}}), list[Patch]()
    for number, row in enumerate(rows, start=1):
        is_cut, ts = row["set"] == "cut", str(1_000 + number)
        name = row["speaker"] or "Ada"
        rt = rt.heard(Person(id=f"U-{name}", name=name), row["quote"], ts=ts, part=rt.part)
        quote = Quote(line=rt.line_of(ts), words=row["claim"] if is_cut else row["quote"])
        words = {"set": {"text": row["claim"]}, "quotes": {"text": (quote,)}}
        patches.append(Patch(id=f"INS-{number:03}", kind="insight", new=True, **words))
    rt = specifying.proposed(rt, ROSTER[MAYA], patches, PLAYBOOK)
    assert len(rt.specification.entries) == len(rows)
    return rt


def claims_of(rt: Roundtable) -> list[tuple[str, Claim]]:
    return [one for entry in rt.specification.entries.values() for one in entry.current()]


def answered(rt: Roundtable, words: Callable[[Root], str]) -> list[str]:
    """What a review gives that says yes to all that waits for it, with *words* of the line."""
    roots = checks.roots_heard(rt.specification)
    found = list[str]()
    for _, _, claim in unconfirmed(rt.specification):
        source = roots[claim.quotes[0].line]
        verdict = {"verdicts": [{"claim": 1, "verdict": "yes", "words": words(source)}]}
        found += verdicts_in(verdict, [SourcedClaim(str(claim.value), {"C.1": source})])
    return found


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("We export every row. PDF can wait.", ""),
        ("We export every row. PDF can wait until May, if at all.", CUT_OUT),
        ("We export every row. No, that is a lie.", CUT_OUT),
    ],
)
async def test_a_sentence_beside_a_word_that_turns_things_around_waits(said: str, why: str) -> None:
    """It may be about the sentence."""
    line = "We export every row"
    rt = RT.heard(Person(id=ADA, name="Ada"), said, ts="0", part=RT.part)
    quote = Quote(line="C.0", words=line)
    told = Patch(id="FR-001", kind="requirement", new=True, set={"title": line}, quotes={"title": (quote,)})
    ((_, claim),) = claims_of(specifying.proposed(rt, ROSTER[MAYA], [told], PLAYBOOK))

    assert (claim.reason, claim.check) == (why, Check.UNCHECKED if why else Check.VERBATIM)


@pytest.mark.parametrize(
    "words", [lambda _: "", lambda _: "the", lambda root: root.speaker, lambda root: root.text.split()[0][:8]]
)
def test_no_false_claim_is_shown_as_checked_without_a_review_that_read_it(
    words: Callable[[Root], str],
) -> None:
    """With one that is silent, or says yes to all with a word, the name of who spoke, or how their line begins."""
    rt = all_proposed(faithful=False)
    shown = [claim.value for _, claim in claims_of(rt) if not claim.is_unchecked]

    assert shown == []
    assert not [why for why in answered(rt, words) if not why]


def test_a_review_that_reads_whole_lines_can_confirm_what_is_true() -> None:
    """At most as many as were measured have a word against them; cut out of a line, in a script without spaces, too."""
    rt = all_proposed(faithful=True)
    marks = [claim.reason for _, claim in claims_of(rt)]

    assert len([why for why in marks if why and why not in WAITING]) <= 11
    assert {*answered(rt, lambda root: root.text)} == {""}


@pytest.mark.parametrize(
    ("line", "words", "is_said"),
    [
        ("We keep it for a year, if legal agrees.", "Ada", False),
        ("Ok, we keep it for a year if legal agrees.", "Ok", False),
        ("We keep it for a year, if legal agrees.", "we keep it for a year", True),
        ("Redis", "Redis", True),
        ("監査ログは一年間保存します。PDFは後で考えます。", "監査ログは一年間保存します。", True),
        ("監査ログは一年間保存します。PDFは後で考えます。", "監査ログは一年間", False),
        ("監査ログは一年間保存します。PDFは後で考えます。", "花子", False),
    ],
)
def test_a_yes_has_words_of_the_line_and_not_of_its_speaker(line: str, words: str, *, is_said: bool) -> None:
    claim = SourcedClaim("It is kept for a year", {"C.1": Root("Ada", line)})
    (why,) = verdicts_in({"verdicts": [{"claim": 1, "verdict": "yes", "words": words}]}, [claim])

    assert (not why) is is_said


async def test_words_that_were_deleted_are_no_source_of_a_review() -> None:
    """Neither is what waits for people, because its line was changed."""
    rt = await proposed(ALL)
    ((waiting, _, _),) = unconfirmed(rt.specification)
    rt = rt.recording("Ada deleted it.", by=ADA, retracts="C.0")

    assert [*unconfirmed(rt.specification)] == []
    assert waiting.id in rt.specification.entries


def test_what_arrives_with_a_quote_that_no_line_has_is_marked_beside_code() -> None:
    """A message was edited, or deleted, while the model drafted; of code the quoted words are known, and no more."""
    rt = RT.heard(Person(id=ADA, name="Ada"), "Export every row.", ts="0", part=RT.part)
    code = Quote(line="src/a.py:1-2@1a2b3c4", words="def export_rows(table)")

    def reason(*quotes: Quote, title: str = "Export every column", **more: Any) -> str:
        told = Patch(
            id="FR-001", kind="requirement", new=True, set={"title": title}, quotes={"title": quotes}, **more
        )
        ((_, claim),) = claims_of(specifying.proposed(rt, ROSTER[MAYA], [told], PLAYBOOK))
        return claim.reason

    changed, gone = (Quote(line=one, words="Export every column") for one in ("C.0", "C.9"))
    assert reason(changed, code) == "“Export every column” is not in Ada’s line"
    assert reason(gone) == NO_QUOTE
    assert reason(gone, code) == NOT_CONFIRMED
    assert reason(code, title=code.words) == ""
    assert reason(code, title="export_rows(table)") == CUT_OUT
    assert reason(code, title=code.words, unverified={"title": DENIED}) == DENIED


async def test_without_a_second_model_other_words_are_not_confirmed() -> None:
    found, _ = await ModelVoices(lambda _: None, OfflineVoices()).review(
        VoiceContext(await proposed(ALL), PLAYBOOK, "")
    )

    assert found == DraftReview()


@pytest.mark.parametrize(
    "answer",
    [
        judged(("yes", "Ada wants it by Friday")),
        judged(("yes", "the")),
        judged(("yes", "every row")),
        judged(("yes", "")),
        judged(("perhaps", "Export every row")),
        '{"verdicts": [{"claim": 7, "verdict": "no"}, null, {"claim": "1"}]}',
    ],
)
async def test_a_verdict_without_a_whole_clause_confirms_nothing(answer: Answer) -> None:
    """A quote that is no whole clause of the line, another verdict, no such claim."""
    found, _, _ = await reviewed(answer)

    assert reasons(found) == [NO_VERDICT]


@pytest.mark.parametrize(
    ("answers", "served"),
    [
        (("Certainly!",), 2),
        (("[" * 10_000,), 2),
        (("Certainly!", lost("unavailable")), 1),
        ((lost("timeout"),), 0),
        ((lost("refused"),), 0),
    ],
)
async def test_an_answer_that_cannot_be_read_is_a_failure(answers: Sequence[Answer], served: int) -> None:
    """It was asked for once more, and all that was served is told."""
    with pytest.raises(VoiceError) as raised:
        await reviewed(*answers)

    assert raised.value.facts.get("tokens_in", 0) == served * 900


async def test_a_review_that_was_asked_for_twice_costs_both() -> None:
    _, facts, _ = await reviewed("Certainly!", judged(("no", "")))

    assert facts["tokens_in"] == 2 * 900


async def test_the_strongest_objection_has_words_of_a_line() -> None:
    found, _, _ = await reviewed(judged(("no", ""), objection=AGAINST))

    assert found.objection == ReviewObjection(
        text="Every row may be millions.",
        quotes=(Quote(line="C.0", words="Export every row"),),
        model="large",
    )


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Every row may be millions.", ""),
        ("That takes 40 hours.", f" {UNCHECKED_MARK}"),
        ("Ada wants it by Friday.", f" {UNCHECKED_MARK}"),
        ("Ada said: export every row.", ""),
    ],
)
async def test_what_the_review_says_is_checked_as_every_sentence(text: str, mark: str) -> None:
    """Its objection with its quotes, the reason of a contradiction with what the two say."""
    contradiction = {"one": "FR-001", "other": "C.0", "because": text}
    found, _, _ = await reviewed(
        judged(("no", ""), objection=AGAINST | {"text": text}, contradictions=[contradiction])
    )

    assert found.objection
    assert found.objection.text == f"{text}{mark}"
    assert [one.because for one in found.contradictions] == [f"{text}{mark}"]


async def test_a_question_of_the_review_tells_nothing_unchecked() -> None:
    asks = {"person": "Ada", "ask": "There are 40 rows. Who counts them?"}
    found, _, _ = await reviewed(judged(("no", ""), missing=asks))

    assert found.missing
    assert found.missing.text == f"There are 40 rows. {UNCHECKED_MARK} Who counts them?"


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ("objection", AGAINST | {"quotes": []}),
        ("objection", AGAINST | {"quotes": [{"line": "C.0", "words": "Export no row"}]}),
        ("objection", AGAINST | {"quotes": [{"line": "FR-001", "words": "All the rows are exported"}]}),
        ("objection", AGAINST | {"text": ""}),
        ("objection", "no"),
        *(("missing", given) for given in (None, "Ada", {"person": "Ada"}, {"person": "Ada", "ask": " "})),
    ],
)
async def test_an_objection_without_quotes_and_a_question_without_words_are_none(
    part: str, given: Any
) -> None:
    """What was only proposed cannot be quoted."""
    found, _, _ = await reviewed(judged(("no", ""), **{part: given}))

    assert getattr(found, part) is None


async def test_a_review_after_a_discussion_reads_what_people_said_there() -> None:
    """It may rest on their words, which no step has as an answer."""
    rt = (await proposed(ALL)).heard(
        Person(id="U2", name="Ben"), "Nobody waits a week.", ts="7", part=RT.part
    )
    rt = rt.queueing(ReviewDraft(said=("C.7", "C.99")))
    quotes = [{"line": "C.7", "words": "Nobody waits a week"}]
    verifier = ScriptedMind(judged(("no", ""), objection={"text": "It takes a week.", "quotes": quotes}))
    found, _ = await voices(ScriptedMind(""), verifier).review(VoiceContext(rt, PLAYBOOK, ""))

    assert "[C.7] Ben:\n> Nobody waits a week." in whole(verifier.asked[0])
    assert found.objection
    assert [one.line for one in found.objection.quotes] == ["C.7"]


async def test_contradictions_name_what_exists() -> None:
    """Both ids are those of entries, or of lines."""
    rows = [
        {"one": "FR-001", "other": "[C.0]", "because": "one is all of them"},
        {"one": "FR-001", "other": "FR-099", "because": "?"},
        {"one": "FR-001", "other": "FR-001", "because": "?"},
        "no",
    ]
    found, _, _ = await reviewed(judged(("no", ""), contradictions=rows))

    assert found.contradictions == (Contradiction(one="FR-001", other="C.0", because="one is all of them"),)


async def test_who_was_not_heard_is_asked_by_name() -> None:
    found, _, _ = await reviewed(judged(("no", ""), missing={"person": "Ada", "ask": "How many rows?"}))

    assert found.missing == DraftQuestion(text="How many rows?", to="Ada")


async def test_two_changes_of_one_entry_are_two_claims() -> None:
    """A model may fill fields of an entry one after the other."""
    item = Meeting()
    item.say("Ada", "01-06", "requirement: Export every row")
    rt = RT.but(specification=item.specification)
    fields = ("detail", "reason")
    given = [
        {"id": "FR-001", "fields": {one: "All of them, says Ada"}, "quotes": [{**QUOTES[0], "field": one}]}
        for one in fields
    ]
    verifier = ScriptedMind(judged(("yes", "Export every row"), ("no", "")))
    rt = await proposed(*given, rt=rt)
    found, _ = await voices(ScriptedMind(""), verifier).review(VoiceContext(rt, PLAYBOOK, ""))

    assert [(one.field, one.why) for one in found.verdicts] == [("detail", ""), ("reason", DENIED)]


@pytest.mark.parametrize(
    ("models", "setting", "others", "asked"),
    [
        ("openai:a,openai:b,anthropic:c,offline", "", (), "anthropic:c,openai:b,openai:a"),
        ("openai:a,openai:b,offline", "", (), "openai:b,openai:a"),
        ("openai:a,offline", "", ("google:c,offline",), "google:c,openai:a"),
        ("openai:a,offline", "", (), "openai:a"),
        ("openai:a", "google:c", (), "google:c"),
        ("openai:a", "offline", (), ""),
        ("offline", "", (), ""),
    ],
)
def test_another_provider_reviews_unless_a_model_is_named(
    models: str, setting: str, others: Sequence[str], asked: str
) -> None:
    """Else another model, else the same one in a fresh context; without any, nobody."""
    assert str(Chain.read(models).reviewers(setting, others)) == asked
