"""What is looked for in a code base: words that say something."""

import pytest

from bot.domain.specification.keywords import keywords_of, words_in
from tests.specification.meeting import SCHEMA, Meeting

FILLER = SCHEMA.operators.tables.filler


def test_a_keyword_has_three_letters_and_is_no_filler() -> None:
    """A recorded one may be several words; the same word in another case is one."""
    meeting = Meeting()
    meeting.say("Ada", "00-02", "keywords: outbox, db, the, Outbox, lost update, haben, S3")

    assert keywords_of(meeting.specification, FILLER) == ("outbox", "lost update")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("The `queue.flush()` of an outbox", ("queue", "flush", "outbox")),
        ("it is on the db", ()),
        ("Retry, retry and RETRY", ("Retry",)),
        ("we see it when one of us tries again, later: send_edits, Int64 and OutBox fail",
         ("when", "tries", "again", "later", "send_edits", "Int64", "OutBox", "fail")),
        ("a1b " + " ".join(f"word{'s' * n}" for n in range(20)), ("a1b", *(f"word{'s' * n}" for n in range(13, 20)))),
    ],
)  # fmt: skip
def test_of_many_words_those_that_tell_most_are_looked_for(said: str, words: tuple[str, ...]) -> None:
    """What looks like a name in code, and long words, in the order of the text."""
    assert words_in(said, FILLER) == words
