"""Personas that think: they say what a mind answers, if it can be said; a mind's mistakes are nobody's words."""

import json
from typing import Any

import pytest

from bot.domain.discussion.elaboration import Stance, TurnKind
from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.roundtable.effects import Speak
from bot.engine.ports import VoiceContext
from bot.errors import VoiceError
from bot.voices.answers import LONGEST
from bot.voices.offline import OfflineVoices
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.wanted import open_points
from bot.voices.thinking import SALVAGED, ModelVoices
from tests.specification.meeting import PLAYBOOK
from tests.voices.minds import ScriptedMind, cue, debating, lost, record, take_turn, thinking, whole
from tests.voices.people import ADA, ALEX, CONTEXT, FEATURES, JORDAN, MAYA, roundtable

FRAMED = (MAYA, "We covered the context. Alex, what is your take?")
STANCE = {"issue": "sync", "position": "keep both", "because": ["t01", "t99"]}
DECLINED = json.dumps(json.loads(record("Valitettavasti en voi osallistua.")) | {"declined": True})


EXPORTS = VoiceContext(roundtable(FEATURES, (ADA, "Export every row, from the new table.")), PLAYBOOK, MAYA)
ENTRY = {
    "kind": "requirement",
    "fields": {"title": "Export every row"},
    "quotes": [{"field": "title", "line": "C.0", "words": "Export every row"}],
}


async def test_what_a_mind_answers_is_said() -> None:
    """The record behind it is taken off, and says where the speaker stands."""
    mind = ScriptedMind(record("Two ways: a queue, or a merge.", STANCE))
    speech = await take_turn(thinking(mind), cue(debating(FRAMED), ALEX))

    assert speech.text == "Two ways: a queue, or a merge."
    assert speech.stances == (Stance(issue="sync", position="keep both", because=("t01",)),)


async def test_only_words_that_a_person_said_are_quoted() -> None:
    """Of a turn, by the line that it has; not of a persona, and not in other words than there."""
    said = (ADA, "Edits got lost in 41 tunnels last March.")
    quotes = [
        {"line": "t02", "words": "lost in 41 tunnels"},
        {"line": "t02", "words": "lost in 14 tunnels"},
        {"line": "t01", "words": "We covered the context"},
        {"line": "t09", "words": "lost in 41 tunnels"},
    ]
    rt = debating(FRAMED, said)
    speech = await take_turn(thinking(ScriptedMind(record("A queue.", quotes=quotes))), cue(rt, ALEX))

    assert [(one.line, one.words) for one in speech.quotes] == [
        (rt.debate.turns[1].line, "lost in 41 tunnels")
    ]


async def test_a_turn_says_what_it_took() -> None:
    """Provider, model, tokens, seconds, and the cost as a decimal text."""
    speech = await take_turn(thinking(ScriptedMind(record("A queue."))), cue(debating(FRAMED), ALEX))

    assert speech.facts == {
        "provider": "acme",
        "model": "large",
        "tokens_in": 900,
        "tokens_out": 60,
        "tokens_cached": 800,
        "seconds": 0.25,
        "cost": "0.0031",
    }


async def test_who_has_nothing_to_add_says_nothing() -> None:
    """Silence rather than an echo: an empty list is an answer."""
    mind = ScriptedMind(record(""))
    speech = await take_turn(thinking(mind), cue(debating(FRAMED), ALEX))

    assert speech.text == ""
    assert len(mind.asked) == 1


async def test_a_round_is_one_call_for_all() -> None:
    """By the second model where there is one; who was not asked, or comes third, is left out."""
    first, second = ScriptedMind(record("Not I.")), ScriptedMind(spoken_by(JORDAN, "nobody", ALEX, MAYA))
    voices = ModelVoices(lambda _: first, OfflineVoices(), second=second)
    asked = Speak(persona=MAYA, task="turn", personas=(MAYA, ALEX, JORDAN))
    speech = await voices.turn(cue(debating(FRAMED)), asked)

    assert [one.persona for one in speech.contributions] == [JORDAN, ALEX]
    assert (len(first.asked), len(second.asked)) == (0, 1)


async def test_the_lead_opens_with_the_common_model_and_the_others_with_the_second() -> None:
    """Who has a model of its own speaks with that; nobody reads what another persona said."""
    common, second = ScriptedMind(record("Common.")), ScriptedMind(record("Second."))
    voices = ModelVoices(lambda _: common, OfflineVoices(), second=second)
    rt = debating((MAYA, "I was here first."), (ADA, "Edits got lost."))
    said = [await take_turn(voices, cue(rt, one), TurnKind.OPENING) for one in (MAYA, ALEX)]

    assert [one.text for one in said] == ["Common.", "Second."]
    assert all("I was here first." not in whole(mind.asked[0]) for mind in (common, second))
    assert all("Edits got lost." in whole(mind.asked[0]) for mind in (common, second))


def spoken_by(*personas: str) -> str:
    """An answer in which each of them says something."""
    rows = [{"persona": one, "say": [{"text": f"{one} speaks.", "quotes": []}]} for one in personas]
    return json.dumps({"contributions": rows})


async def test_a_draft_asks_people_by_name() -> None:
    """On its card, and on the next one; a question about an open point knows the gap that it is about."""
    asked = {"text": "How many a week?", "to": "Ada", "about": 1, "recommended": "40", "why": "The queue"}
    following = {"text": "Who waits for it?", "to": "", "about": 0, "recommended": "", "why": ""}
    answer = json.dumps({"say": "", "questions": [asked], "next": [following], "entries": []})
    rt = roundtable(CONTEXT, (ADA, "Edits get lost in tunnels."))
    speech = await thinking(ScriptedMind(answer)).draft(cue(rt))
    first = open_points(Scene(rt, cue(rt).playbook, cue(rt).playbook.roster[MAYA], {}))[0]

    (question,) = speech.questions
    assert (question.text, question.to) == ("How many a week?", "Ada")
    assert (question.recommended, question.why) == (f"40 {UNCHECKED_MARK}", "The queue")
    assert question.gap == (first.gap.key if first.gap else "")
    assert [one.text for one in speech.next_questions] == ["Who waits for it?"]


async def test_a_draft_may_have_nothing_to_say() -> None:
    rt = roundtable(CONTEXT, (ADA, "Edits get lost in tunnels."))
    mind = ScriptedMind('{"say": "", "questions": [], "next": [], "entries": []}')
    speech = await thinking(mind).draft(cue(rt))

    assert (speech.text, speech.questions, speech.patches) == ("", (), ())
    assert len(mind.asked) == 1


async def test_words_without_the_form_of_a_draft_are_not_said() -> None:
    """They are kept, so that people can look at them."""
    mind = ScriptedMind("You lose edits.")
    with pytest.raises(VoiceError) as error:
        await thinking(mind).draft(cue(roundtable(CONTEXT, (ADA, "Edits get lost."))))

    assert (error.value.reason, error.value.facts["raw"]) == ("unstructured", "You lose edits.")
    assert len(mind.asked) == 2


async def test_where_nobody_answered_nobody_is_acknowledged() -> None:
    """And no model is asked for it."""
    mind = ScriptedMind("Thanks!")

    assert (await thinking(mind).draft(cue(roundtable(CONTEXT)))).text == ""
    assert mind.asked == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("A queue, I would say.", "no JSON object"),
        ("As an AI language model, I have no opinion.", "declined"),
        ("I'm sorry, but I can't help with that.", "declined"),
        (record("Jordan Park (System Designer): The contract is broken."), "somebody else"),
        (lost("empty"), "no words"),
        (lost("cut_off"), "too long"),
        (lost("refused"), "declined"),
    ],
    ids=str,
)
async def test_an_answer_that_cannot_be_used_is_asked_for_once_more(
    answer: str | VoiceError, why: str
) -> None:
    """With what was wrong with it, below the same prompt."""
    mind = ScriptedMind(answer, record("A queue."))
    speech = await take_turn(thinking(mind), cue(debating(FRAMED), ALEX))
    first, second = mind.asked

    assert speech.text == "A queue."
    assert second.stable == first.stable
    assert second.moving.startswith(first.moving)
    assert why in second.moving.removeprefix(first.moving)


@pytest.mark.parametrize(
    ("answer", "reason", "asked"),
    [
        ("As an AI, I cannot say.", "refused", 2),
        ("En voi auttaa tässä asiassa.", "unstructured", 2),
        (DECLINED, "refused", 2),
        (record("Jordan: The contract is broken."), "unstructured", 2),
        (lost("cut_off"), "cut_off", 2),
        *(
            (lost(reason, again=True), reason, 1)
            for reason in ("timeout", "unavailable", "denied", "context")
        ),
    ],
    ids=str,
)
async def test_twice_is_enough(answer: str | VoiceError, reason: str, asked: int) -> None:
    """
    Then nothing is said, least of all the error. A mind that does not answer was tried as often as made sense, below:
    whoever comes next is not kept waiting.
    """
    mind = ScriptedMind(answer)
    with pytest.raises(VoiceError) as error:
        await take_turn(thinking(mind), cue(debating(FRAMED), ALEX))

    assert (error.value.reason, error.value.again) == (reason, False)
    assert len(mind.asked) == asked


async def test_who_declines_to_draft_has_no_draft() -> None:
    """In the data, in whatever language: what is said beside it is not posted."""
    answer = json.dumps({"declined": True, "say": "Valitettavasti en voi.", "questions": [], "entries": []})
    with pytest.raises(VoiceError) as error:
        await thinking(ScriptedMind(answer)).draft(cue(roundtable(CONTEXT, (ADA, "Edits get lost."))))

    assert error.value.reason == "refused"


async def test_what_is_too_long_is_cut_at_a_sentence() -> None:
    """Better a shorter answer than none."""
    mind = ScriptedMind(record("A queue keeps the order. " * 500))
    speech = await take_turn(thinking(mind), cue(debating(FRAMED), ALEX))

    assert len(speech.text) <= LONGEST + 5
    assert speech.text.endswith("A queue keeps the order. …")


async def test_all_calls_of_a_turn_are_counted() -> None:
    """Also the one whose answer was not used."""
    speech = await take_turn(thinking(ScriptedMind("Hm.", record("A queue."))), cue(debating(FRAMED), ALEX))

    assert (speech.facts["tokens_in"], speech.facts["cost"]) == (1800, "0.0062")


@pytest.mark.parametrize(
    "words",
    [
        "すみませんが、保存期間を教えてください。",
        "抱歉，我们还不知道保留多久。",
        "I can't help but notice that exports drop rows.",
        "I cannot continue without a number.",
    ],
)
async def test_an_answer_in_the_form_is_no_refusal_whatever_its_words(words: str) -> None:
    """That has `declined`. Its entries are kept, and what is said in a discussion, too."""
    draft = json.dumps({"say": words, "entries": [ENTRY]})
    speech = await thinking(ScriptedMind(draft)).draft(EXPORTS)
    turn = await take_turn(thinking(ScriptedMind(record(words))), cue(debating(FRAMED), ALEX))

    assert speech.patches
    assert speech.text.startswith(words)
    assert turn.text.startswith(words)


async def test_entries_below_words_of_regret_are_kept() -> None:
    """A refusal has none."""
    cut = f'I cannot continue for long. {{"say": "", "entries": [{json.dumps(ENTRY)}, {{"kind": "requ'
    speech = await thinking(ScriptedMind(cut)).draft(EXPORTS)

    assert [patch.set for patch in speech.patches or ()] == [{"title": "Export every row"}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"next": "none"},
        {"say": {"text": "A queue."}},
        {"say": ["A queue."]},
        {"questions": ["Who?"]},
        {"questions": {"text": "Who?"}},
        {},
    ],
    ids=str,
)
async def test_entries_beside_a_part_of_the_wrong_type_are_kept(wrong: dict[str, Any]) -> None:
    """An object in place of their list, too."""
    answer = json.dumps({"say": "", "questions": [], "entries": [ENTRY] if wrong else ENTRY} | wrong)
    speech = await thinking(ScriptedMind(answer)).draft(EXPORTS)

    assert [patch.unverified for patch in speech.patches or ()] == [{"title": SALVAGED}]
    assert speech.facts["raw"] == answer


async def test_files_that_cannot_be_read_keep_nobody_from_speaking() -> None:
    """What was said in the thread is enough to go on."""

    async def unreadable() -> dict[str, str]:
        raise VoiceError("The disk is gone.")

    mind = ScriptedMind(record("A queue."))
    speech = await take_turn(thinking(mind), cue(debating(FRAMED), ALEX)._replace(files=unreadable))

    assert speech.text == "A queue."
    assert "There are none yet." in whole(mind.asked[0])


async def test_who_is_not_at_the_table_cannot_speak() -> None:
    """A mistake of ours, and none that a retry would mend."""
    with pytest.raises(VoiceError, match="no persona 'nobody'"):
        await thinking(ScriptedMind("x")).draft(cue(roundtable(CONTEXT, (ADA, "Yes.")), "nobody"))


@pytest.mark.parametrize("title", ["Export every row", "All the rows are exported"])
async def test_whole_entries_of_an_answer_that_was_cut_off_are_kept_as_unchecked(title: str) -> None:
    """Also for a second model. The answer is kept beside them; the model was asked twice."""
    entry = ENTRY | {"fields": {"title": title}}
    cut = f'{{"say": "", "entries": [{json.dumps(entry)}, {{"kind": "requ'
    mind = ScriptedMind(cut)
    speech = await thinking(mind).draft(EXPORTS)

    (patch,) = speech.patches or ()
    assert (patch.set, patch.unverified) == ({"title": title}, {"title": SALVAGED})
    assert speech.facts["raw"] == cut
    assert len(mind.asked) == 2
