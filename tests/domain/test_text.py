import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.values.text import clean, counted, one_line

anything = st.text(st.characters(exclude_categories=()))
FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇩🇪"
SCOTLAND = "🏴󠁧󠁢󠁳󠁣󠁴󠁿"


class TestClean:
    @pytest.mark.parametrize("end", ["\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
    def test_every_line_end_is_the_same(self, end: str) -> None:
        """Also those that only Unicode knows."""
        assert clean(f"a{end}b") == "a\nb"

    def test_what_acts_unseen_is_removed(self) -> None:
        """S22: control characters, bidirectional overrides, a byte order mark in the middle."""
        assert clean("a\x00b\x1b[0m\u202ec\u2066d\ufeffe\x7f") == "ab[0mcde"

    def test_half_a_character_is_replaced(self) -> None:
        """What an app cut in the middle of an emoji can be stored."""
        assert clean("a\ud83d") == "a\ufffd"

    @pytest.mark.parametrize("text", ["a\tb", FAMILY, "❤️", SCOTLAND, "می‌خواهم"])
    def test_what_belongs_to_the_text_stays(self, text: str) -> None:
        """Tabs, joiners and variation selectors."""
        assert clean(text) == text

    @given(anything)
    def test_clean_text_can_be_encoded_and_is_clean(self, text: str) -> None:
        """Of any text, even with broken characters in it."""
        assert clean(text).encode().decode() == clean(clean(text))


class TestOneLine:
    def test_a_short_text_is_only_put_in_one_line(self) -> None:
        """White space of every kind becomes one space."""
        assert one_line(" a\n\n b\tc ") == "a b c"

    def test_a_long_text_is_cut_between_words(self) -> None:
        """With an ellipsis, which counts towards the limit."""
        assert one_line("one two three four", 12) == "one two…"
        assert one_line("one two three four", 14) == "one two three…"

    def test_a_long_word_is_cut_where_it_must_be(self) -> None:
        """When going back to the last space would lose more than half."""
        assert one_line("a " + "b" * 30, 10) == "a bbbbbbb…"

    @pytest.mark.parametrize("whole", [FAMILY, FLAG, SCOTLAND, "👍🏽", "e\u0301\u0302", "❤️"])
    @pytest.mark.parametrize("limit", range(10, 24))
    def test_what_people_see_as_one_is_not_torn(self, whole: str, limit: int) -> None:
        """Emoji sequences, flags, letters with marks."""
        cut = one_line("x" + whole * 30, limit)

        assert cut.endswith("…")
        assert cut[1:-1] == whole * ((len(cut) - 2) // len(whole))

    def test_a_flood_of_marks_is_cut_all_the_same(self) -> None:
        """The limit holds even where nothing can be kept whole."""
        assert one_line("e" + "\u0301" * 500, 10) == "e" + "\u0301" * 8 + "…"

    @given(anything, st.integers(1, 40))
    def test_it_is_one_line_within_the_limit(self, text: str, limit: int) -> None:
        """Of any text: nothing that acts unseen, no space at either end."""
        line = one_line(text, limit)

        assert len(line) <= limit
        assert not any(unicodedata.category(c) in {"Cc", "Cs"} for c in line)
        assert line == line.strip()


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("step",), "0 steps"),
        (1, ("step",), "1 step"),
        (2, ("criterion", "criteria"), "2 criteria"),
        (1, ("criterion", "criteria"), "1 criterion"),
    ],
)
def test_things_are_counted_as_people_say_it(number: int, words: tuple[str, ...], told: str) -> None:
    """One of them is no plural."""
    assert counted(number, *words) == told
