"""Who sits at the table, and whom a text speaks to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.domain.catalog.personas import (
    ALL_ELSE,
    AddressKind,
    Persona,
    Principle,
    Roster,
    efforts,
    models_by_persona,
)
from tests.growth import grows_no_faster

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"


def persona(key: str, name: str, role: str, *phases: str) -> Persona:
    return Persona(key=key, name=name, role=role, phases=phases)


ROSTER = Roster(
    [
        persona(MAYA, "Maya Chen", "Business Analyst", "00-quick-scan", "01-requirements"),
        persona(ALEX, "Alex Rivera", "Solutions Architect", "02-impact-analysis", "03-architecture"),
        persona(JORDAN, "Jordan Park", "System Designer", "04-design"),
    ]
)


def asked(text: str, *, lead: str = MAYA) -> tuple[str, ...]:
    return ROSTER.addressed(text, lead=lead).personas


# --- personas -------------------------------------------------------------------------------------------------------


def test_key_name_and_role_make_a_persona() -> None:
    """Whatever else is left out follows from them; an empty value is a hole."""
    zoe = Persona(key="release-captain", name="Zoë Lin", role="release captain")

    assert (zoe.first_name, zoe.label) == ("Zoë", "Zoë Lin (release captain)")
    assert (zoe.short, zoe.actor, zoe.lens) == ("Zoë", "ReleaseCaptain", "release captain")
    assert zoe.icon == ":bust_in_silhouette:"
    assert zoe.identity == "I'm Zoë Lin, your release captain."
    assert zoe.phases == ()

    zoe = Persona(
        key="zoe", name="Zoë Lin", role="Scribe", short="SC", actor="Recorder", lens="", identity="Hi."
    )

    assert (zoe.short, zoe.actor, zoe.lens, zoe.identity) == ("SC", "Recorder", "scribe", "Hi.")


def test_a_role_without_letters_still_has_an_actor() -> None:
    """The transcript needs a word for everybody."""
    assert Persona(key="x", name="X", role="?!").actor == "Persona"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("mag", ":mag:"),
        (":mag:", ":mag:"),
        ("+1", ":+1:"),
        (":wave::skin-tone-3:", ":wave::skin-tone-3:"),
        ("https://example.org/z.png", "https://example.org/z.png"),
    ],
)
def test_an_icon_is_an_emoji_or_an_address(given: str, shown: str) -> None:
    """Emoji may be written with or without their colons."""
    assert Persona(key="x", name="X", role="Y", icon=given).icon == shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "Not A Key"},
        {"key": ""},
        {"name": " "},
        {"name": "***"},
        {"name": "x" * 61},
        {"role": ""},
        {"icon": "http://example.org/z.png"},
        {"icon": "two words"},
        {"actor": "PlanningAgent"},
        {"actor": "two words"},
        {"phases": ["requirements"]},
        {"phases": "01-requirements"},
        {"nickname": "Z"},
        {"looks_at": ("secrets",)},
        {"model": "x"},
    ],
)
def test_what_cannot_be_shown_or_stored_is_refused(wrong: dict[str, object]) -> None:
    """A persona that could not speak, or would pose as somebody else, is not a persona."""
    with pytest.raises(ValidationError):
        Persona.model_validate({"key": "zoe", "name": "Zoë Lin", "role": "Scribe", **wrong})


def test_only_a_mapping_is_a_persona() -> None:
    """Anything else is refused like a bad field."""
    with pytest.raises(ValidationError):
        Persona.model_validate("Zoë")


def test_a_principle_may_be_a_title_only() -> None:
    """Its explanation is optional."""
    assert Principle(title="Ask why").text == ""


@pytest.mark.parametrize(
    ("looks_at", "allowed"),
    [
        ((), {"code", "history", "items", "entries"}),
        (("items",), {"items", "entries"}),
        (("docs/**",), {"code", "history", "entries"}),
        (("docs/**", ALL_ELSE), {"code", "history", "items", "entries"}),
    ],
)
def test_what_a_persona_may_look_at(looks_at: tuple[str, ...], allowed: set[str]) -> None:
    maya = Persona(key="maya", name="Maya", role="Analyst", looks_at=looks_at)

    assert {area for area in ("code", "history", "items", "entries") if maya.may_use(area)} == allowed


# --- models of single personas, by the setting ----------------------------------------------------------------------


def test_personas_are_named_as_people_call_them() -> None:
    """By first name or key; the models of one persona stand with a plus between them."""
    models = models_by_persona("Maya = anthropic:x, system-designer=a:y+b:z+offline")
    given = ROSTER.with_models(models)

    assert {one.key: one.model for one in given} == {MAYA: "anthropic:x", ALEX: "", JORDAN: "a:y,b:z,offline"}
    assert ROSTER.unknown(models_by_persona("max=a:b,maya=a:b")) == ("max",)


@pytest.mark.parametrize("text", ["maya", "maya=", "=a:b", "maya=gpt"])
def test_what_is_no_model_of_a_persona_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        models_by_persona(text)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("draft:high, turn: low", {"draft": "high", "turn": "low"}),
        *((f"{one}:low", {"draft": "low"}) for one in ("acknowledge", "propose", "synthesize")),
        *((f"{one}:low", {"turn": "low"}) for one in ("frame", "respond")),
        *((f"{one}:low", {"review": "low"}) for one in ("verify", "compare", "judge")),
    ],
)
def test_an_effort_has_a_task(given: str, meant: dict[str, str]) -> None:
    """By their names, or those of earlier versions, whose settings go on; spaces do not matter."""
    assert efforts(given) == meant


# --- the roster -----------------------------------------------------------------------------------------------------


def test_a_roster_is_a_collection_in_speaking_order() -> None:
    """The order they were given in is the order they speak in."""
    assert [one.key for one in ROSTER] == [MAYA, ALEX, JORDAN]
    assert len(ROSTER) == 3
    assert ALEX in ROSTER
    assert "zoe" not in ROSTER
    assert ROSTER[JORDAN].name == "Jordan Park"
    assert ROSTER.get("zoe") is None


def test_maya_leads_an_unknown_phase_and_says_so() -> None:
    """ERR-PERSONA-001. Without a business analyst it is the first."""
    lead, trouble = ROSTER.lead_of("09-rollout")

    assert lead.key == MAYA
    assert trouble
    assert trouble.code == "ERR-PERSONA-001"
    assert "'09-rollout'" in trouble.sentence

    roster = Roster([persona("zoe", "Zoë Lin", "Scribe")])

    lead, trouble = roster.lead_of("01-requirements")

    assert lead.key == "zoe"
    assert trouble
    assert trouble.sentence.endswith("I'll lead this phase as Zoë Lin (Scribe).")


@pytest.mark.parametrize(
    ("lead", "others"), [(MAYA, [ALEX, JORDAN]), (ALEX, [MAYA, JORDAN]), (JORDAN, [MAYA, ALEX])]
)
def test_the_others_keep_their_order(lead: str, others: list[str]) -> None:
    """Whoever leads, the two others follow as Maya, Alex, Jordan."""
    assert [one.key for one in ROSTER.others(lead)] == others


# --- who is addressed -----------------------------------------------------------------------------------------------


SET_OFF = (
    "Alex, what about the cache?", "alex: what about the cache?", "ALEX? Any idea",
    "Alex what about the cache", "Alex how would you build it", "Alex can you say more?",
    "Alex could we cache it?", "Alex do you agree", "Alex please go on", "Alex your view",
    "Alex -- what breaks first?", "Alex", "Alex.", "@Alex look at this", "I wonder, @alex",
    "What do you think, Alex?", "what about you Alex?", "Thanks, Alex", "Hey Alex, quick question",
    "OK, Alex can you go on", "That makes sense. Alex how would it fail?",
    "First line\nAlex, second line", "> quoted\n\n*Alex*, and then", "Alex Rivera, what do you say?",
    "I think we should, Alex, wait", "Alex，怎么看",
)  # fmt: skip
"""By a comma, colon or question mark, by an @, or at the start of a sentence said to somebody."""
TALKED_ABOUT = (
    "Jordan's earlier point is good", "Jordan's, I mean", "Jordan mentioned that",
    "Jordan would never do that", "Jordan did the interface already", "Jordan can handle errors",
    "I like what Jordan said about errors", "I agree with Jordan, but it is late",
    "I agree with Maya and Jordan, but it is late", "As said by Jordan: no",
    "Park, what do you say about it", "designer, could you help", "System Designer: please help",
    "Jordanian law, what about it", "mail jordan@example.org, please",
    "see https://example.org/Jordan?page=1", "the jordan-api: is it up", "we use Java", "",
)  # fmt: skip
"""Mentions, surnames, roles, addresses and other words leave the floor to the lead."""
TO_ALL = (
    "what do you think?", "What do you all think about it", "I'd like to hear from everyone",
    "Everybody, please", "all of you please", "can you all comment", "Team, thoughts?",
    "team what should we do", "Hey team", "so what now, team?", "Good. Team: let's decide",
)  # fmt: skip
"""The lead answers first, and then the others, in roster order."""


@pytest.mark.parametrize(
    ("text", "lead", "kind", "personas"),
    [
        *((text, MAYA, AddressKind.DIRECT, (ALEX,)) for text in SET_OFF),
        *((text, ALEX, AddressKind.DEFAULT, (ALEX,)) for text in TALKED_ABOUT),
        *((text, ALEX, AddressKind.GROUP, (ALEX, MAYA, JORDAN)) for text in TO_ALL),
    ],
)
def test_who_is_addressed_gets_the_floor(
    text: str, lead: str, kind: AddressKind, personas: tuple[str, ...]
) -> None:
    address = ROSTER.addressed(text, lead=lead)

    assert (address.kind, address.personas) == (kind, personas)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Jordan and Maya, what do you think?", (JORDAN, MAYA)),
        ("Alex, Jordan: your views?", (ALEX, JORDAN)),
        ("Hey Jordan, Alex & Maya - what now", (JORDAN, ALEX, MAYA)),
        ("@jordan @maya ping", (JORDAN, MAYA)),
        ("Maya, is that so? And Jordan, could it fail? Maya?", (MAYA, JORDAN)),
        ("Alex, Jordan said it is slow", (ALEX,)),
    ],
)
def test_several_answer_in_the_order_they_are_named(text: str, named: tuple[str, ...]) -> None:
    """Each once, and only those who are addressed."""
    assert asked(text) == named


@pytest.mark.parametrize(
    "text",
    ["our team uses Java", "Team uses Java", "the team, however, is small", "teamwork, please", "steam?"],
)
def test_a_team_that_is_talked_about_is_not_addressed(text: str) -> None:
    """The word alone calls nobody."""
    assert asked(text) == (MAYA,)


def test_a_name_wins_over_the_group_and_half_a_name_is_another_name() -> None:
    """Jean is not Jean-Luc, and Mary Ann is not Mary Jones; of nobody nobody is called."""
    assert asked("Jordan, what do you think?") == (JORDAN,)

    roster = Roster(
        [
            persona("picard", "Jean-Luc Picard", "Captain"),
            persona("smith", "Mary Ann Smith", "Guest"),
            persona("jones", "Mary Jones", "Guest"),
        ]
    )

    assert roster.addressed("Jean, engage", lead="picard").kind is AddressKind.DEFAULT
    assert roster.addressed("Mary Ann, please", lead="picard").personas == ("smith",)

    assert Roster().addressed("Maya, hello", lead="x").kind is AddressKind.DEFAULT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Jean-Luc Picard", "Jean-Luc, engage"),
        ("Mary Ann Smith", "Mary Ann, please"),
        ("Mary Ann Smith", "Mary, please"),
        ("Zoë Lin", "zoe\u0308: hello"),
        ("王小明", "王小明，你怎么看"),
        ("D'Arcy (x+) Lee", "D'Arcy, hello"),
        ("Jürgen", "@JÜRGEN hello"),
    ],
)
def test_names_of_ones_own_personas_work_too(name: str, text: str) -> None:
    """Hyphens, several first names, accents, other scripts, and whatever a pattern could trip over."""
    roster = Roster([*ROSTER, persona("own", name, "Guest")])

    assert roster.addressed(text, lead=MAYA).personas == ("own",)


@given(
    st.text(alphabet="MayaAlexJordan team,:?.@\n what can you", max_size=200), st.sampled_from([MAYA, ALEX])
)
def test_somebody_always_answers_and_nobody_twice(text: str, lead: str) -> None:
    """Whatever people write."""
    personas = asked(text, lead=lead)

    assert personas
    assert len(set(personas)) == len(personas)
    assert all(key in ROSTER for key in personas)


@pytest.mark.parametrize(
    "piece", ["Maya ", "Maya,", " ", "\n", ", ", "team ", "ok ", "@", "you ", "Maya and ", "."]
)
def test_no_text_takes_long(piece: str) -> None:
    """Up to the longest message Slack lets through; a slow pattern would take minutes there."""
    grows_no_faster(asked, lambda size: piece * (size // len(piece)) + "x", 10_000)
