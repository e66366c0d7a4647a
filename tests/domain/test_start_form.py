"""What the form that starts a roundtable asks, and what a submission of it means."""

from dataclasses import replace

import pytest

from bot.domain.catalog.policy import Policy
from bot.domain.catalog.steps import Depth
from bot.domain.messages.form import FieldValue, FormName, Submission
from bot.domain.messages.start_form import mistakes, source_of, start_form, started, thread_of
from bot.domain.values.places import Person
from tests.domain.table import shipped

ALL = ("business-analyst", "solutions-architect", "system-designer")


def sent(*, subject: str = "", **values: FieldValue) -> Submission:
    form = start_form(shipped(), channel="C1")
    return Submission(
        key="view.V1",
        at="2026-01-01T10:00:00.000Z",
        person=Person(id="U1"),
        name=FormName.START,
        slug="",
        subject=subject,
        values={one.name: one.initial for one in form.fields} | {"title": "Offline sync"} | values,
    )


ISSUE = "https://github.com/acme/app/issues/42#issuecomment-1"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("#42", ("github", "GH-42", "")),
        ("acme/app#42", ("github", "acme/app#42", "acme/app#42")),
        (ISSUE, ("github", "acme/app#42", ISSUE)),
        ("PROJ-12", ("jira", "PROJ-12", "")),
        ("https://acme.atlassian.net/browse/PROJ-12?focus=1", ("jira", "PROJ-12", "")),
        ("https://example.org/a-page", ("manual", None, "")),
        ("https://acme.slack.com/archives/C042/p1795374000000280", ("manual", None, "")),
        ("", ("manual", None, "")),
    ],
)
def test_a_source_is_an_issue_or_a_ticket(text: str, source: tuple[str, str | None, str]) -> None:
    found = source_of(text)
    assert (found.source, found.source_id, found.reference) == source


@pytest.mark.parametrize(
    ("text", "thread"),
    [
        ("https://acme.slack.com/archives/C042/p1795374000000280", ("C042", "1795374000.000280")),
        (
            "https://acme.slack.com/archives/C042/p1795374231000400?thread_ts=1795374000.000280&cid=C042",
            ("C042", "1795374000.000280"),
        ),
        ("https://example.org/a-page", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_source_may_be_a_thread(text: str, thread: tuple[str, str]) -> None:
    assert thread_of(text) == thread


def test_what_is_left_as_it_was_is_no_choice() -> None:
    """The quick scan may still propose a depth, and a persona that is added later takes part."""
    start = started(sent(), shipped(), team="T1")

    assert (start.item.slug, start.item.title) == ("offline-sync", "Offline sync")
    assert (start.place.channel, start.place.thread) == ("C1", "")
    assert (start.personas, start.depth, start.due, start.participants) == ((), None, None, ())


def test_what_is_chosen_is_in_the_start() -> None:
    submission = sent(
        source="#42",
        notes="Edits get lost.",
        people=("U2", "U3"),
        cast=("system-designer", "solutions-architect"),
        depth="deep",
        until="2026-01-02T10:00:00.000Z",
    )
    start = started(submission, shipped(), team="T1")

    assert mistakes(submission) == {}
    assert (start.item.source, start.item.source_id) == ("github", "GH-42")
    assert start.brief == "Edits get lost."
    assert start.participants == ("U2", "U3")
    assert start.personas == ALL[1:], "in the order in which they speak"
    assert (start.depth, start.due) == (Depth.DEEP, "2026-01-02T10:00:00.000Z")


def test_a_page_as_source_is_kept_as_it_was_written() -> None:
    start = started(sent(source="https://example.org/a", notes="Read this."), shipped(), team="T1")

    assert start.brief == "Read this.\n\nSource: https://example.org/a"


def test_the_rules_of_a_channel_are_chosen_at_first() -> None:
    """Whoever chooses something else gets it, also what would be the default elsewhere."""
    playbook = replace(shipped(), policy=Policy(cast=("solutions-architect",), depth=Depth.DEEP))
    fields = {one.name: one for one in start_form(playbook, channel="C1").fields}
    start = started(sent(cast=ALL, depth="standard"), playbook, team="T1")

    assert (fields["cast"].initial, fields["depth"].initial) == (("solutions-architect",), "deep")
    assert (start.personas, start.depth) == (ALL, Depth.STANDARD)


def test_a_thread_is_taken_over_in_its_own_channel_only() -> None:
    link = "https://acme.slack.com/archives/C9/p1795374000000280"

    assert started(sent(subject="C1/17.1"), shipped(), team="T1").place.thread == "17.1"
    assert started(sent(subject="C2/17.1"), shipped(), team="T1").place.thread == ""
    assert started(sent(source=link, channel="C9"), shipped(), team="T1").place.thread == "1795374000.000280"
    assert "another channel" in mistakes(sent(source=link))["source"]


def test_what_does_not_fit_is_said_at_its_field() -> None:
    found = mistakes(sent(title=" ", channel="", cast=(), until="2026-01-01T09:59:59.000Z"))

    assert set(found) == {"title", "channel", "cast", "until"}
