"""What is written of a line, and what is read of it, with names in a file of their own."""

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.transcript.lines import Line, LinePhase, Source
from bot.domain.transcript.people import PeopleFile, read_people, text_of, with_names, with_new, without_names

ADA, GRACE = "p-7hq3kq2m4a", "p-4xk2m7qza3"
NAMES = {ADA: "Ada", GRACE: "Grace Hopper"}
words = st.lists(
    st.sampled_from(["Ada", "Grace Hopper", "Grace", "Adam", "@Ada", "asks", ",", "p-7hq3kq2m4a", "-"])
)


def line(content: str, *, source: Source = Source.SYSTEM, **meta: object) -> Line:
    return Line(
        ts="2026-11-24T10:00:00.000Z",
        round=1,
        actor="PlanningAgent",
        phase=LinePhase.CLARIFYING,
        role="planning",
        source=source,
        content=content,
        meta={"message_id": "m1", "person": ADA, "user_name": "Ada", **meta},
    )


@given(content=words.map(" ".join), value=words.map(" ".join), source=st.sampled_from(Source))
def test_a_line_is_read_as_it_was(content: str, value: str, source: Source) -> None:
    """Also what a value says that is nothing but a name. In people's words no name is looked for."""
    entries = [{"id": "DEC-001", "set": {"text": value, "deciders": [value, "Ada"], "number": 1}}]
    before = line(content, source=source, entries=entries)
    written = without_names(before, NAMES)

    assert with_names(written, NAMES) == before
    assert "user_name" not in written.meta
    assert written.meta["entries"][0]["set"]["deciders"][1] == f"@{ADA}"
    assert written.content == content or source is Source.SYSTEM


def test_a_name_is_replaced_as_a_whole_word_in_our_sentences() -> None:
    """The longest one that is known."""
    sentence = "Ada and Grace Hopper, not Grace, Adam or Ada-Lovelace"
    assert without_names(line(sentence), NAMES).content == (
        f"@{ADA} and @{GRACE}, not Grace, Adam or Ada-Lovelace"
    )


def test_two_people_with_one_name_keep_their_lines_apart() -> None:
    """Whose line it is counts first."""
    names = {ADA: "Ada", GRACE: "Ada"}
    for person in names:
        assert without_names(line("Ada spoke.", person=person), names).content == f"@{person} spoke."


def test_who_is_not_in_the_file_is_shown_by_their_id() -> None:
    """And a name that a file has beside an id does not count where people.json has another one."""
    written = without_names(line("Ada spoke."), NAMES)
    assert with_names(written, {}) == written
    forged = written.but(meta={**written.meta, "user_name": "Grace"})
    assert with_names(forged, NAMES).person_name == "Ada"


@given(st.dictionaries(st.text(min_size=1), st.text()), st.dictionaries(st.text(min_size=1), st.text()))
def test_names_are_added_and_none_is_changed(first: dict[str, str], second: dict[str, str]) -> None:
    """In any order of clones the file says the same of who was named once; who has no name is not in it."""
    one = with_new(PeopleFile(), first)
    both = with_new(read_people(text_of(one)), second)

    assert one.names.items() <= both.names.items()
    assert list(both.raw.get("people", {})) == sorted(both.raw.get("people", {}))
    assert with_new(both, first) is both
    assert read_people(text_of(both)).flaw == ""
