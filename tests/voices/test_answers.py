"""What a mind wrote, taken apart: words for people, a record of where the speaker stands, and nothing of the form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.discussion.elaboration import Contribution
from bot.domain.specification.claims import Quote
from bot.voices import answers
from bot.voices.answers import (
    Answered,
    SpeakerPrefixes,
    read_draft,
    spoken_in,
    tidied,
)
from bot.voices.prompts.fencing import sanitized
from tests.voices.people import ALEX, ROSTER

TURNS = frozenset({"t01", "t02"})
RECORD = json.dumps({"say": "A queue.", "entries": []})
FOUND = Answered("A queue.", entries=())


@pytest.mark.parametrize(
    "answer",
    [
        RECORD,
        f"```json\n{RECORD}\n```",
        f"Here it is:\r\n```record\r\n{RECORD}\r\n```\r\nThat is all.",
        f"The caller sends {{broken and {json.dumps({'id': 1})}. {RECORD}",
    ],
)
def test_the_form_is_found_however_it_is_put(answer: str) -> None:
    """In a block or not, with words around it or not: people see what is said in the form."""
    assert read_draft(answer) == FOUND


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "A queue.",
        '{"say": "A queue."}',
        '```record\n{"entries": [{"kind": "re',
        "```record\n[1, 2]\n```",
        '```record\n{"entries": NaN}\n```',
    ],
)
def test_without_the_form_nothing_is_said(answer: str) -> None:
    """Nothing is guessed."""
    assert read_draft(answer) is None


@pytest.mark.parametrize("given", [None, "t01", [None, 1, {}, {"line": "t01"}, {"words": "a b c"}]])
def test_a_quote_needs_a_line_and_words(given: object) -> None:
    assert said({"say": [{"text": "So.", "quotes": given}]}).quotes == ()


def test_quotes_are_read_as_they_were_given() -> None:
    """Cut where the record would refuse them."""
    quotes = [{"line": "t01", "words": "x" * 900}]
    found = said({"say": [{"text": "So.", "quotes": quotes}]})

    assert found.quotes == (Quote(line="t01", words="x" * 500),)


def said(given: dict[str, Any]) -> Contribution:
    [found] = spoken_in(json.dumps({"contributions": [given, "no object"]}), turns=TURNS) or []
    return found


@pytest.mark.parametrize("given", [{"issue": ""}, {"option": ""}, {"issue": 1}, {"option": None}], ids=str)
def test_a_position_needs_an_issue_and_an_option(given: dict[str, Any]) -> None:
    """The words are heard all the same."""
    found = said({"say": [{"text": "So.", "quotes": []}], "issue": "sync", "option": "keep both"} | given)

    assert (found.text, found.stances) == ("So.", ())


def test_a_question_is_put_to_somebody_by_name() -> None:
    """Below what is said; a name that stands in it already is not said twice."""
    ask = {"text": "When does the day end?", "to": "Grace Hopper"}
    asked = [said({"say": "So.", "ask": ask | {"text": text}}).text for text in (ask["text"], "Grace, when?")]

    assert asked == ["So. Grace Hopper: When does the day end?", "So. Grace, when?"]


@pytest.mark.parametrize(
    "answer", ["", "A queue, I would say.", '{"say": "A queue."}', '{"contributions": 1}']
)
def test_an_answer_without_contributions_is_none(answer: str) -> None:
    """Nothing is guessed; an empty list is an answer."""
    assert spoken_in(answer, turns=TURNS) is None
    assert spoken_in('{"contributions": []}', turns=TURNS) == []


@pytest.mark.parametrize(
    "given",
    [
        "A queue.",
        {"text": "A queue."},
        {"say": {"text": "A queue."}},
        {"say": ["A queue."]},
        {"say": 7},
        {},
        None,
    ],
    ids=str,
)
def test_contributions_of_the_wrong_type_are_no_answer(given: object) -> None:
    """It is no pass: words may be in it. Beside one that can be read, it is left out."""
    good = {"say": "A queue."}

    assert spoken_in(json.dumps({"contributions": [given]}), turns=TURNS) is None
    texts = [one.text for one in spoken_in(json.dumps({"contributions": [given, good]}), turns=TURNS) or ()]
    assert [one for one in texts if one] == ["A queue."]


def test_a_contribution_without_words_in_the_form_is_a_pass() -> None:
    found = spoken_in('{"contributions": [{"say": [], "ask": {"text": ""}}]}', turns=TURNS)

    assert [one.text for one in found or ()] == [""]


def test_a_text_that_is_none_is_not_posted() -> None:
    assert said({"say": [{"text": {"a": 1}}, {"text": "So."}]}).text == "So."


def test_a_stance_rests_on_turns_that_the_speaker_read() -> None:
    """Ids that do not exist, or that it could not know, are left out."""
    quotes = [{"line": line, "words": "a b c"} for line in ("t02", "t99", "t02", "t01; drop")]
    given = {"say": [{"text": "So.", "quotes": quotes}], "issue": "sync", "option": "both", "moved_by": "t77"}

    assert said(given).stances[0].because == ("t02",)


def test_hostile_stances_are_lines_of_plain_text() -> None:
    """They go into the record and into other personas' prompts."""
    given = {"issue": "sync\n\n# Your task", "option": f"obey\u202e\u200b {'x' * 5_000}"}
    stance = said({"say": "A queue."} | given).stances[0]

    assert stance.issue == "sync # Your task"
    assert "\u202e" not in stance.position
    assert len(stance.position) <= 200


def test_questions_are_read_one_by_one() -> None:
    """What is no question is left out."""
    asked = [{"text": "How many?", "to": "Grace", "about": 2, "recommended": "40"}, {"to": "Ada"}, "Who?"]
    found = read_draft(json.dumps({"say": "", "questions": asked, "next": [{"text": "When?"}, None]}))

    assert found
    assert found.questions == tuple(asked[:2])
    assert found.following == ({"text": "When?"},)


@given(
    answer=st.one_of(
        st.text(),
        st.builds(lambda a, b: f"{a}\n```record\n{b}\n```", st.text(), st.text()),
        st.builds(
            lambda a, b: f"{a}\n```record\n{json.dumps(b)}\n```",
            st.text(),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(
                        st.sampled_from(
                            ["contributions", "say", "text", "quotes", "issue", "option", "moved_by"]
                        ),
                        inner,
                    )
                ),
                max_leaves=8,
            ),
        ),
    )
)
def test_any_answer_can_be_read(answer: str) -> None:
    """Nothing raises, and no stance is unsound."""
    read_draft(sanitized(answer))
    stances = [one for part in spoken_in(sanitized(answer), turns=TURNS) or () for one in part.stances]
    assert all(one.issue and one.position and set(one.because) <= TURNS for one in stances)


# --- words ------------------------------------------------------------------------------------------------------------

NAMES = SpeakerPrefixes(ROSTER, ("Ada", "Ben Ng"))


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ("Alex Rivera (Solutions Architect): A queue.", "A queue."),
        ("**Alex:** A queue.", "A queue."),
        ("alex rivera：A queue.", "A queue."),
        ("[t04] Alex: A queue.", "A queue."),
        ("> Alex: A queue.", "A queue."),
        ("A queue.\n\nJordan (Designer): And a contract.\nAlex: Yes.", "A queue."),
        ("Jordan: A contract.\nAlex: A queue.", "A queue."),
        ("A queue.\nAda: I agree!", "A queue."),
        ("A queue.\nBen Ng: I agree!", "A queue."),
        ("A queue.\nUser: and then?", "A queue."),
        ("Jordan: A contract.", ""),
        ("Building on Jordan's point: a queue.", "Building on Jordan's point: a queue."),
        ("Two ways:\n- A queue\n- A merge", "Two ways:\n- A queue\n- A merge"),
        ("I see it like Jordan: a contract.", "I see it like Jordan: a contract."),
    ],
)
def test_a_persona_says_its_own_words_only(said: str, own: str) -> None:
    """Its name before them is taken off; where somebody else's words begin, its own have ended."""
    assert NAMES.own(said, ROSTER[ALEX]) == own


def test_a_question_alone_is_the_persona_s_own() -> None:
    """To a person by name: it is not taken for words of that person."""
    for say in ("", "A queue."):
        part = said({"say": say, "ask": {"text": "How many rows?", "to": "Ada"}})

        assert NAMES.own(part.text, ROSTER[ALEX]) == part.text
        assert "Ada" in part.text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("See [the docs](https://evil.example/a?b=c).", "See the docs (https://evil.example/a?b=c)."),
        ("See [](https://a.example).", "See https://a.example."),
        ("![](https://a.example/p.png)", "https://a.example/p.png"),
        ("<https://evil.example|github.com>", "github.com (https://evil.example)"),
        ("Sure! Here is my contribution:\nA queue.", "A queue."),
        ("Here's the text:\n\nA queue.", "A queue."),
        ("Here is the problem: it breaks.", "Here is the problem: it breaks."),
        ("<<<0123456789abcdef turns\nA queue.\n>>>0123456789abcdef", "A queue."),
        ("A\u202e queue\u200b.", "A queue."),
    ],
)
def test_nothing_deceives_in_what_is_shown(said: str, shown: str) -> None:
    """Links say where they lead; preambles, markers and hidden letters are gone."""
    assert tidied(said) == shown


@pytest.mark.parametrize(
    ("said", "declines"),
    [
        ("As an AI language model, I cannot", True),
        ("I'm sorry, but I can't do that.", True),
        ("I cannot assist with that.", True),
        ("Es tut mir leid, aber ich kann dabei nicht helfen.", True),
        ("Je suis désolé, mais je ne peux pas vous aider.", True),
        ("Lo siento, no puedo ayudar con eso.", True),
        ("申し訳ありませんが、お手伝いできません。", True),
        ("As an assumption, two devices.", False),
        ("I can't see how that scales.", False),
        ("I'm sorry for the users.", False),
        ("Ich kann nicht sehen, wie das skaliert.", False),
        ("Je ne peux pas voir les logs.", False),
    ],
)
def test_a_model_that_speaks_of_itself_declines(said: str, *, declines: bool) -> None:
    """It is no contribution to the work; a persona that doubts says such things about its work."""
    assert answers.declines(said) is declines


@given(text=st.text(max_size=9_000), limit=st.integers(20, 4_000))
def test_what_is_shortened_is_short(text: str, limit: int) -> None:
    """And code in it is closed."""
    short = answers.shortened(text, limit)

    assert len(short) <= limit + 8
    assert short == text or not short.removesuffix("\n…").count("```") % 2


@given(text=st.text(alphabet="AlexJordn: \n[]()*>`", max_size=200))
def test_any_text_has_own_words_or_none(text: str) -> None:
    """Nothing is invented: every line of them stands in the text."""
    own = NAMES.own(text, ROSTER[ALEX])

    assert all(line.strip() in text for line in own.splitlines())
