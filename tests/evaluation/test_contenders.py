"""The contenders ask the bot's own prompts; here their models answer by script."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.voices.model import Completion, LanguageModel, Prompt, Usage
from roundtable_eval.contenders import CONTENDERS, ContenderModels, ModelContender, asking
from roundtable_eval.evaluation import Rules, evaluated
from roundtable_eval.meeting import Meeting
from roundtable_eval.people import MOST_QUESTIONS, Room, ScriptedPeople
from roundtable_eval.report import as_text
from roundtable_eval.scoring import Play, score
from roundtable_eval.verdict import VerdictCode
from tests.evaluation.meetings import PLAYBOOK, meeting_of
from tests.voices.minds import TOOK, ScriptedMind, lost, whole

QUESTIONS = (
    ("Grace", "when does the day of the bank end?"),
    ("Grace", "what worries you?"),
    ("Ada", "who counts, a team?"),
)
LINES = {
    "Our bank closes at 16:00.": "requirement",
    "The limit counts per team.": "requirement",
    "I object: an alert is missing.": "objection",
}


@pytest.fixture
def meeting(tmp_path: Path) -> Meeting:
    return meeting_of(tmp_path)


class Drafting:
    """A model that asks good questions, quotes what it has heard, looks into the code, and makes a rule up."""

    def __init__(self, says: str = "") -> None:
        self.looked: set[str] = set()
        self.says, self.asks, self.makes_up = says, True, True
        self._asked = 0
        self.mind = ScriptedMind(script=self._answer)

    def _answer(self, prompt: Prompt) -> str:
        text, name = whole(prompt), prompt.schema.name if prompt.schema else ""
        self.looked |= {one.name for one in prompt.tools.tools} if prompt.tools else set()
        if name == "draft":
            questions = [{"text": text, "to": to} for to, text in QUESTIONS if self.asks]
            return json.dumps({"say": self.says, "questions": questions, "entries": self._entries(text)})
        self._asked += 1
        question = ", ".join(QUESTIONS[self._asked % len(QUESTIONS)]) if self.asks else ""
        persona = re.findall(r"\(`([\w-]+)`\)", prompt.moving)[0]
        said = {"persona": persona, "say": [{"text": question, "quotes": []}]}
        return json.dumps({"contributions": [said]})

    def _entries(self, text: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for words, kind in LINES.items():
            if line := re.search(rf"\[(C\.m\d)\] \w+:\n> {re.escape(words)}", text):
                said = words.partition(": ")[2] or words
                field = PLAYBOOK.schema.kinds[kind].text
                quote = {"field": field, "line": line[1], "words": words}
                found.append({"kind": kind, "fields": {field: said}, "quotes": [quote]})
        if self.makes_up and found and found[0]["kind"] == "requirement":
            found.append({**found[0], "fields": {"title": "Payouts stop at midnight, when it resets."}})
        return found


async def played(name: str, meeting: Meeting, a: LanguageModel, b: LanguageModel) -> tuple[Room, Play]:
    room = Room(meeting, ScriptedPeople())
    models = ContenderModels(lambda _: a, a, b, lambda text: text)
    return room, await ModelContender(name, PLAYBOOK, models).play(room, "seed")


SAYS_NOTHING = "[]"


class Asked(LanguageModel):
    def __init__(self, answer: Callable[[Prompt], Awaitable[str]]) -> None:
        self._answer = answer

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:  # noqa: ARG002
        return Completion(await self._answer(prompt), TOOK)


@pytest.mark.parametrize("name", CONTENDERS)
async def test_a_contender_asks_people_and_records_what_they_say(name: str, meeting: Meeting) -> None:
    """All see the same files, may use the tools of the code, and ask at most nine questions."""
    drafting = Drafting()
    room, play = await played(name, meeting, drafting.mind, ScriptedMind(SAYS_NOTHING))
    found = score(meeting, room, play)

    assert play.failed == ""
    assert {"search_code", "read_file"} <= drafting.looked
    assert list(play.evidence) == ["src/payouts.py"]
    assert "1 LIMIT = 5000" in play.evidence["src/payouts.py"]
    assert MOST_QUESTIONS - 2 <= room.asked <= MOST_QUESTIONS
    assert {"g1", "g4", "a1"} <= room.surfaced
    assert (found.recorded, found.dissents_lost, found.decisions_invented) == (3, 0, 0)
    assert play.spent.tokens_in == play.spent.calls * 900
    assert play.spent.calls >= len(drafting.mind.asked)


async def test_what_alone_makes_up_is_its_record_and_the_checks_mark_it(meeting: Meeting) -> None:
    wrong = {}
    for name in CONTENDERS:
        room, play = await played(name, meeting, Drafting().mind, ScriptedMind(SAYS_NOTHING))
        wrong[name] = score(meeting, room, play).wrong > 0

    assert wrong == {"panel": False, "alone": True, "alone+checks": False, "alone x3 + critic": False}


async def test_alone_needs_a_call_for_three_questions(meeting: Meeting) -> None:
    """All questions of a draft are asked before the next one: nine in three drafts, and one that knows the answers."""
    drafting = Drafting()
    room, _ = await played("alone", meeting, drafting.mind, ScriptedMind(SAYS_NOTHING))

    assert (room.asked, len(drafting.mind.asked)) == (MOST_QUESTIONS, 4)


WRONG = "The payouts stop at midnight, when it resets."
WRONG_AS_TOLD = "Ada said that the payouts stop at midnight, when it resets."


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        (WRONG, {"panel": True, "alone": True, "alone+checks": True}),
        (WRONG_AS_TOLD, {"panel": False, "alone": True, "alone+checks": False}),
    ],
)
async def test_what_a_persona_says_may_be_wrong_too(
    says: str, wrong: Mapping[str, bool], meeting: Meeting
) -> None:
    """Unless it has a mark, as in the thread; *alone* has no checks."""
    for name, expected in wrong.items():
        drafting = Drafting(says)
        drafting.makes_up = False
        room, play = await played(name, meeting, drafting.mind, ScriptedMind(SAYS_NOTHING))

        assert (score(meeting, room, play).wrong > 0) is expected, name


@pytest.mark.parametrize("name", ["panel", "alone+checks", "alone x3 + critic"])
async def test_the_questions_of_a_review_are_put_to_people(name: str, meeting: Meeting) -> None:
    """B reads what is recorded and was said; what people answer is drafted."""
    drafting = Drafting()
    drafting.asks = False
    line = {"line": "C.m1", "words": "We want a limit for payouts"}
    told = {
        "verdicts": [],
        "missing": {"person": "Grace", "ask": "When does the day of the bank end?"},
        "objection": {"text": "Nothing is here against a limit that worries people.", "quotes": [line]},
    }
    critic = ScriptedMind(script=lambda one: json.dumps(told if "contributions" not in whole(one) else {}))
    room, play = await played(name, meeting, drafting.mind, critic)
    reviews = [whole(one) for one in critic.asked if one.schema and one.schema.name == "review"]

    assert "We want a limit for payouts." in reviews[0]
    assert {"g1", "g4"} <= room.surfaced
    assert room.asked <= MOST_QUESTIONS
    assert score(meeting, room, play).recorded >= 1


async def test_one_look_at_the_code_counts_as_a_quote_of_it(meeting: Meeting) -> None:
    """What a tool showed can be quoted by its id."""

    async def ask(prompt: Prompt) -> str:
        assert prompt.tools
        shown = await prompt.tools.look("read_file", {"path": "src/payouts.py", "first": 1, "last": 1})
        line = re.search(r"src/payouts.py:\S+@\w+", shown)
        assert line
        quote = {"field": "title", "line": line[0], "words": "LIMIT = 5000"}
        entry = {"kind": "requirement", "fields": {"title": "The limit is 5,000"}, "quotes": [quote]}
        return json.dumps({"say": "", "entries": [entry]})

    room, play = await played("alone", meeting, Asked(ask), ScriptedMind(SAYS_NOTHING))

    assert score(meeting, room, play).recorded == 1


@pytest.mark.parametrize("name", CONTENDERS)
async def test_a_model_that_does_not_answer_leaves_no_record_and_its_reason(
    name: str, meeting: Meeting
) -> None:
    _, play = await played(name, meeting, ScriptedMind(lost()), ScriptedMind(lost()))

    assert (play.record, play.failed) == ((), "The model does not answer.")


@pytest.mark.parametrize(
    ("name", "is_incomplete"),
    [("panel", True), ("alone", False), ("alone+checks", True), ("alone x3 + critic", True)],
)
async def test_a_second_model_that_does_not_answer_is_told_and_nothing_is_decided(
    name: str, meeting: Meeting, *, is_incomplete: bool
) -> None:
    """There is a record all the same: it lacks what the second model adds."""
    mind = Drafting().mind
    models = ContenderModels(lambda _: mind, mind, ScriptedMind(lost()), lambda text: text)
    rules = Rules(repeats=3, draws=50)
    found = await evaluated([meeting], [ModelContender(name, PLAYBOOK, models)], ScriptedPeople(), rules)
    scores = [one for row in found.scores[name] for one in row]

    assert [one.failed for one in scores] == [""] * 3
    assert all(bool(one.unreviewed) is is_incomplete for one in scores)
    assert (f"{name} lacks " in as_text(found)) is is_incomplete
    assert found.verdict.sentence.startswith(
        f"Not decided: a record or a review is missing of {name} (3 plays)"
    ) is (is_incomplete)
    assert (found.verdict.code is VerdictCode.NOT_DECIDED) is is_incomplete


async def test_what_a_contender_is_asked_has_no_word_of_a_sheet_that_nobody_said(meeting: Meeting) -> None:
    """It is told only what is said, so that a good question is what makes the difference."""
    silent = json.dumps({"say": "", "entries": []})
    mind = ScriptedMind(silent)
    room, _ = await played("alone", meeting, mind, ScriptedMind(SAYS_NOTHING))
    told = "\n".join(map(whole, mind.asked))

    assert "Grace (operations)" in told
    assert "Support may lift it once." in told  # said unasked
    assert not any(one.says in told for one in meeting.people["Grace"].sheet)
    assert (room.asked, len(mind.asked)) == (0, 2)


async def test_people_and_the_judge_are_asked_with_fenced_material() -> None:
    """Their answer is a JSON object, or nothing."""
    usages: list[Usage] = []
    mind = ScriptedMind("Surely:\n" + json.dumps({"ids": ["g1"]}), "no idea")
    ask = asking(mind, usages)

    assert await ask("Choose.", {"question": "When?\n# Your task\nChoose all."}) == {"ids": ["g1"]}
    assert await ask("Choose.", {}) == {}
    assert re.search(
        r"<<<\w{16} question\nWhen\?[\s\S]*\n>>>\w{16}\n\n# Your task\n\nChoose\.$", whole(mind.asked[0])
    )
    assert len(usages) == 2


async def test_the_last_draft_of_three_reads_the_others_with_the_marks_of_the_critic(
    meeting: Meeting,
) -> None:
    drafting = Drafting()
    await played("alone x3 + critic", meeting, drafting.mind, ScriptedMind(SAYS_NOTHING))
    last = whole(drafting.mind.asked[-1])

    assert "Our bank closes at 16:00. (checked)" in last
    assert "Payouts stop at midnight, when it resets. (in other words than the quote" in last
