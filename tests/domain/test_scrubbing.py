"""Secrets are taken out of files, and a record that says so still holds."""

import json
from typing import Any

import pytest

from bot.domain.privacy.redaction import Redactor
from bot.domain.transcript import scrubbing
from bot.domain.transcript.lines import LinePhase, line_in

SECRET = "xoxb-1234567890-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
REDACT = Redactor()


def row(content: str, **meta: Any) -> bytes:
    fields = {
        "ts": "2026-01-01T00:00:00.000Z", "round": 3, "actor": "User", "phase": "clarifying", "role": "user",
        "source": "user", "content": content, "meta": meta,
    }  # fmt: skip
    return json.dumps(fields).encode()


def test_a_line_stays_a_line_and_is_named() -> None:
    """By its id, or by its number; lines without a secret are not touched."""
    clean = row("Hello", message_id="a")
    content = b"\n".join((clean, row(SECRET, message_id="b"), row("x", said=[SECRET, 1]), b""))
    found = scrubbing.transcript(content, REDACT)

    assert SECRET.encode() not in found.content
    assert found.content.split(b"\n")[0] == clean
    assert [one.as_meta().get("message_id") or one.as_meta()["line"] for one in found.lines] == ["b", 3]
    assert line_in(found.content.split(b"\n")[1])
    assert scrubbing.transcript(clean, REDACT) == (clean, (), ())


def test_a_row_that_is_no_line_is_text() -> None:
    """Also one that is not UTF-8: its other bytes stay."""
    found = scrubbing.transcript(b"torn {\xff " + SECRET.encode() + b" rest", REDACT)

    assert found.content.startswith(b"torn {\xff ")
    assert found.content.endswith(b" rest")
    assert SECRET.encode() not in found.content


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps({"list": [SECRET], "n": 1}).encode()),
        ("a.json", b'{"password": "correct horse battery"}'),
        ("broken.json", f"{{ {SECRET}".encode()),
        ("a.md", f"# A\n\n{SECRET}\n".encode()),
        ("a.jsonl", row(SECRET)),
    ],
)
def test_the_format_follows_from_the_name(name: str, content: bytes) -> None:
    """A password in JSON is known by the name of its field. What was JSON is JSON afterwards."""
    found = scrubbing.file(content, REDACT, name=name)

    assert found.kinds
    assert SECRET.encode() not in found.content
    assert b"correct horse" not in found.content
    if name == "a.json":
        json.loads(found.content)
    assert scrubbing.file(found.content, REDACT, name=name).content == found.content


@pytest.mark.parametrize("name", ["a.json", "a.md", "a.jsonl"])
def test_a_file_without_secrets_stays_byte_for_byte(name: str) -> None:
    content = b'{"a":  1}'
    assert scrubbing.file(content, REDACT, name=name) == (content, (), ())


def test_the_note_goes_on_where_the_record_is() -> None:
    """In the round and the phase of the last line, at the beginning of an empty record."""
    changed = scrubbing.transcript(row(SECRET, message_id="b"), REDACT).lines
    last = line_in(row("x"))
    note = scrubbing.note(changed, last=last, now="2026-01-02T00:00:00.000Z", facts={"more": 1})
    first = scrubbing.note((*changed, *changed), last=None, now="2026-01-02T00:00:00.000Z")

    assert (note.round, note.phase, note.meta["more"]) == (3, LinePhase.CLARIFYING, 1)
    assert note.content == "Secrets were taken out of 1 line."
    assert (first.round, first.phase) == (0, LinePhase.DRAFT)
    assert first.content == "Secrets were taken out of 2 lines."
