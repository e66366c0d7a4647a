"""Code that an entry rests on: which lines were shown, what they say, and where people read them."""

import pytest

from bot.domain.specification.citations import CodeCitation, cited_text

FILE = "40 wait = Retry(60, 's')\n41\n42 start(wait)\n(src/sync.py has 90 lines.)"
SHOWN = {
    "src/sync.py:40-42@1a2b3c4": FILE,
    "src/mail.py:7@1a2b3c4": "send(90)",
    "src/mail.py@1a2b3c4": "2026-01-01 Ada: Send once",
    "night-mode/FR-003": "Dark colours after sunset",
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("src/sync.py:40-42@1a2b3c4", "wait = Retry(60, 's')\n\nstart(wait)"),
        ("src/sync.py:42@1a2b3c4", "start(wait)"),
        ("src/sync.py:41-42@1a2b3c4", "\nstart(wait)"),
        ("src/mail.py:7@1a2b3c4", "send(90)"),
        ("src/mail.py:7-7@1a2b3c4", "send(90)"),
        ("src/mail.py@1a2b3c4", "2026-01-01 Ada: Send once"),
        ("night-mode/FR-003", "Dark colours after sunset"),
    ],
)
def test_what_was_shown_has_its_text(source: str, text: str) -> None:
    """Without the numbers in front of the lines: they are no numbers of the code. A part of what was shown is shown."""
    assert cited_text(source, SHOWN) == text


@pytest.mark.parametrize(
    "source",
    [
        "src/sync.py:39-42@1a2b3c4", "src/sync.py:40-43@1a2b3c4", "src/sync.py:42-40@1a2b3c4",
        "src/sync.py:40-9999999@1a2b3c4", "src/sync.py:40-42@9f8e7d6", "src/sync.py:40-42",
        "src/sync.py@1a2b3c4", "src/other.py:40-42@1a2b3c4", "night-mode/FR-004", "",
    ],
)  # fmt: skip
def test_what_was_not_shown_has_none(source: str) -> None:
    """Other lines, another commit, another file."""
    assert cited_text(source, SHOWN) is None


@pytest.mark.parametrize(
    ("source", "label", "url"),
    [
        ("src/sync.py:40-58@1a2b3c4", "src/sync.py:40-58", "https://git.example/src/sync.py#L40-L58"),
        ("src/sync.py:40@1a2b3c4", "src/sync.py:40", "https://git.example/src/sync.py#L40"),
        ("a b/ü#.py:1-1@1a2b3c4", "a b/ü#.py:1", "https://git.example/a%20b/%C3%BC%23.py#L1"),
    ],
)
def test_people_read_it_where_the_files_are(source: str, label: str, url: str) -> None:
    citation = CodeCitation.read(source)
    assert citation
    assert (citation.label, citation.url("https://git.example/{path}")) == (label, url)


@pytest.mark.parametrize(
    ("template", "url"),
    [
        ("https://git.example/acme/plans/blob/main/{path}", "/acme/plans/blob/1a2b3c4/src/sync.py#L5-L8"),
        ("https://git.example/acme/blob/blob/fix/two/{path}", "/acme/blob/blob/1a2b3c4/src/sync.py#L5-L8"),
        (
            "https://git.example/acme/plans/-/blob/main/{path}?plain=1",
            "/acme/plans/-/blob/1a2b3c4/src/sync.py?plain=1#L5-L8",
        ),
        (
            "https://git.example/acme/plans/src/branch/main/{path}",
            "/acme/plans/src/commit/1a2b3c4/src/sync.py#L5-L8",
        ),
        ("https://git.example/browse/{path}", "/browse/src/sync.py#L5-L8"),
    ],
)
def test_a_link_leads_to_the_commit_that_was_read(template: str, url: str) -> None:
    """On the hosts whose addresses name a branch; the newest text of a file may have other lines there."""
    citation = CodeCitation.read("src/sync.py:5-8@1a2b3c4")
    assert citation
    assert citation.url(template) == f"https://git.example{url}"


def test_an_address_with_a_place_in_it_stays_as_it_is() -> None:
    citation = CodeCitation.read("src/sync.py:40@1a2b3c4")
    assert citation
    assert citation.url("https://git.example/#/{path}") == "https://git.example/#/src/sync.py"


@pytest.mark.parametrize(
    "text", ["C1.1795374000.000221", "FR-001", "src/sync.py", "x:1@main", "a\nb:1@1a2b3c4"]
)
def test_other_sources_are_no_code(text: str) -> None:
    assert CodeCitation.read(text) is None
