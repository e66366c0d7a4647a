"""What a claim says has to stand in its sources: numbers, units, dates, names, quotations, negations, commitments."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.specification.entailment import Part, lacks, reasons

TRUE = [
    ("40% of the users drop off", "Ada: about 40 % of users drop off at step two"),
    ("40 percent of users leave", "40% of users leave"),
    ("Between 40 and 60 % leave", "40–60% leave"),
    ("40% to 60% leave", "between 40 and 60 percent leave"),
    ("Sync within one minute, 60 s", "It has to sync within 1 minute"),
    ("Sync within 60 seconds", "sync within a minute: 1 min at most"),
    ("1,000 rows are exported", "We export 1000 rows"),
    ("1.000 Zeilen", "1000 Zeilen, nicht mehr"),
    ("Three devices sync", "each user has 3 devices that sync"),
    ("It costs $1.5 million", "the cost is 1.5 million dollars"),
    ("Upload of 20k files", "20,000 files are uploaded"),
    ("It ships on 1 March 2026", "Release: 2026-03-01"),
    ("It ships on March 1st", "we ship 1. März"),
    ("Freeze on Friday", "code freeze is friday"),
    ("Grace owns the export", "Grace: I own the export"),
    ("The export uses OAuth2 and S3", "OAuth2 in front of S3 buckets for the export"),
    ("Edits are kept in SQLite", "Jordan: sqlite keeps the edits"),
    ("Ada says “never lose an edit”", "Ada: Never lose an edit!"),
    ("Requirement FR-001 covers it [t02]", "that requirement covers it"),
    ("PDF is not exported", "We leave out PDF, nothing but CSV is exported"),
    ("We don't drop audit logs", "Do not drop audit logs"),
    ("Logs are not kept", "Logs are never kept"),
    ("The server is unreachable in a tunnel", "In a tunnel there is no server."),
    ("Ada is not convinced yet", "Ada: I am not convinced yet"),
    ("Grace decided on the queue", "Grace: decision: the queue"),
    ("Alle Änderungen bleiben erhalten", "Ada: Änderungen bleiben alle erhalten, auch im Tunnel"),
    ("Export Every Row", "export every row of the table"),
    ("1. Export rows\n2. Count rows", "export rows and count rows"),
    ("It runs nightly", "it runs every night"),
    ("Twice a week the cache is emptied", "the cache is emptied two times per week"),
    ("Partners call 200 times a minute", "200 times each minute partners call us"),
    ("Partners call 200 times a minute", "200 calls per minute"),
    ("A year of logs is cheap", "logs of a year cost nothing"),
    ("Backups of the last month", "backups of the past month"),
    ("Seventeen sites", "17 sites"),
    ("The archive is open to all", "the archive opens for all"),
    ("The list is not public", "the list is private"),
    ("The report is public, the draft is private", "the draft is private, and the report public"),
    ("The proxy does not block bots", "the proxy never blocks bots"),
    ("", "anything"),
]
FALSE = [
    ("40% drop [t02]", "Some of the users drop off", Part.NUMBER),
    ("40% drop", "40 users drop", Part.NUMBER),
    ("Sync within 60 s", "Sync within 60 minutes", Part.NUMBER),
    ("Sync within 60 minutes", "Sync within 60", Part.NUMBER),
    ("10,000 rows", "1,000 rows", Part.NUMBER),
    ("It costs 40 €", "It costs 40 $", Part.NUMBER),
    ("Three devices", "each user has devices", Part.NUMBER),
    ("It ships on 1 March", "It ships on 2 March", Part.DATE),
    ("It ships on 1 March 2027", "It ships on 1 March 2026", Part.DATE),
    ("It ships on 1 March 2027", "It ships on 1 March", Part.DATE),
    ("It ships on Friday", "It ships on Thursday", Part.DATE),
    ("It ships on Friday", "It ships", Part.DATE),
    ("The export was asked for by Grace", "Ada: I want the export", Part.NAME),
    ("Edits go to S3", "edits go to a bucket", Part.NAME),
    ("Edits wait in SQLite", "edits wait in a file", Part.NAME),
    ("The API speaks GraphQL", "the API speaks REST", Part.NAME),
    ("Ada says “the export is urgent”", "Ada: the export can wait", Part.QUOTATION),
    ('Ada: "ship it"', "Ada: do not ship that", Part.QUOTATION),
    ("Audit logs are not kept", "Audit logs are kept for a year", Part.NEGATION),
    ("Nothing is exported", "Every row is exported", Part.NEGATION),
    ("Ada is convinced", "Ada: I am not convinced yet", Part.NEGATION),
    ("Drafts are public", "drafts are never public", Part.NEGATION),
    ("Änderungen sind sicher", "Änderungen sind nicht sicher", Part.NEGATION),
    ("Legal has signed off on the logs", "the logs are read by legal", Part.COMMITMENT),
    ("All agreed to ship", "we could ship", Part.COMMITMENT),
    ("Jordan withdrew the point", "Jordan: that is my point", Part.COMMITMENT),
    ("Ada hat die Warteschlange beschlossen", "Ada: eine Warteschlange wäre gut", Part.COMMITMENT),
    ("It runs every hour", "it runs twice a day", Part.NUMBER),
    ("There is a weekly backup", "backups are made", Part.NUMBER),
    ("Jährlich geprüft", "wird monatlich geprüft", Part.NUMBER),
    ("The report is public", "the report is private to the team", Part.NEGATION),
    ("All fields are optional", "all fields are mandatory", Part.NEGATION),
    ("The proxy does not block bots", "the proxy blocks bots", Part.NEGATION),
    ("The token is not a secret value", "Against that: the token is a secret value.", Part.NEGATION),
    ("Latency budgets belong to mobile clients", "we like tea", Part.WORDS),
    ("The mayor resigned", "we like the queue", Part.WORDS),
    ("Edits are kept in a queue, and the mayor resigned", "edits are kept in a queue", Part.WORDS),
    ("40% drop", "", Part.NUMBER),
]


@pytest.mark.parametrize(("claim", "source"), TRUE)
def test_what_the_source_says_lacks_nothing(claim: str, source: str) -> None:
    """In other units, other spellings, other words around it."""
    assert lacks(claim, [source]) == ()


@pytest.mark.parametrize(("claim", "source", "part"), FALSE)
def test_what_the_source_does_not_say_is_named(claim: str, source: str, part: Part) -> None:
    """Each with the part of the claim that is missing."""
    assert part in {one.part for one in lacks(claim, [source])}


@pytest.mark.parametrize(
    ("claim", "source"), [(one, other) for one, other, part in FALSE if part is Part.NEGATION]
)
def test_people_see_a_whole_word_as_the_claim_has_it(claim: str, source: str) -> None:
    """And never a stem, such as “refus” of *refuse*."""
    for one in lacks(claim, [source]):
        assert re.search(rf"(?<!\w){re.escape(one.said)}(?!\w)", claim)


def test_the_word_that_is_denied_is_shown_whole() -> None:
    found = reasons("Guests do not Refuse the export", ["Guests refuse the export"])

    assert found == "the source and the claim disagree about “Refuse”"


def test_several_sources_say_it_together() -> None:
    """One has the number, the other the name."""
    claim = "Grace needs 500 rows"

    assert lacks(claim, ["Grace: I need all rows", "500 rows are enough"]) == ()
    assert [one.said for one in lacks(claim, ["Ada: I need all rows"])] == ["500"]


def test_the_reason_is_said_in_words() -> None:
    """Nothing where nothing is missing."""
    assert reasons("40% drop [t02]", ["Users drop off"]) == "the source does not say “40%”"
    assert reasons("Users drop off", ["Users drop off"]) == ""


@pytest.mark.parametrize(
    "said", ["It runs {} times a day.", "It takes {} ms.", "It is {}.", "On {}.01.2026."]
)
def test_a_number_of_many_digits_is_one(said: str) -> None:
    """More than Python reads as a whole number."""
    long = said.format("1" * 5_000)

    assert lacks(long, [long]) == ()
    assert {one.part for one in lacks(long, ["It runs."])} & {Part.NUMBER, Part.NAME, Part.WORDS}


SAYING = "the export keeps 40 % of rows within 60 s Grace S3 not on Friday 2026-03-01 “as it is” decided 1,000 never"
WORDS = st.sampled_from(SAYING.split())
SENTENCES = st.lists(WORDS, max_size=12).map(" ".join)


@given(SENTENCES | st.text(max_size=80))
def test_a_text_says_itself(text: str) -> None:
    """A claim in the words of its source lacks nothing, whatever it is."""
    assert lacks(text, [text]) == ()


@given(SENTENCES, st.integers(min_value=1001, max_value=10**9))
def test_a_number_that_no_source_has_is_always_found(source: str, number: int) -> None:
    """Whatever else the source says."""
    assert Part.NUMBER in {one.part for one in lacks(f"{source} {number} rows", [source])}


@given(SENTENCES, st.text(string.ascii_lowercase, min_size=5, max_size=9))
def test_a_name_that_no_source_has_is_always_found(source: str, name: str) -> None:
    """Marked as one by its spelling, so that it is a name at every place."""
    assert Part.NAME in {one.part for one in lacks(f"{source} x{name.upper()}x", [source])}


@given(SENTENCES, SENTENCES, SENTENCES)
def test_a_further_source_never_takes_a_quotation_or_a_number_away(claim: str, one: str, more: str) -> None:
    """More sources only say more."""
    parts = {Part.NUMBER, Part.DATE, Part.NAME, Part.QUOTATION, Part.COMMITMENT}
    alone = {lack for lack in lacks(claim, [one]) if lack.part in parts}

    assert {lack for lack in lacks(claim, [one, more]) if lack.part in parts} <= alone
