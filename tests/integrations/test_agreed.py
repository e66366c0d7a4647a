"""The one reader of the record: every door to other tools says what cards and pages say, from one commit alone."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from bot.domain.specification import snapshot
from bot.domain.specification.claims import Claim, EntryState
from bot.domain.specification.shown import QUOTE_CHARS, ShownClaim, ShownEntry, ShownItem, ShownSource
from bot.domain.specification.snapshot import vouched
from bot.domain.transcript.lines import Line
from bot.errors import ConfigError, WorkspaceError
from bot.integrations import agreed
from bot.integrations.agreed import AgreedItems
from bot.record.verify import RecordedItem
from bot.storage.git.tree import files_at, files_at_tip
from tests.domain.table import Table, shipped
from tests.record.kept import ITEMS, committed
from tests.sealing import TRUSTED, sealed
from tests.specification.meeting import SCHEMA, Meeting, make_entry
from tests.storage.checkout import Git

SLUG = "rate-limiting"
THREAD = "https://team.slack.com/archives/C1/p1700000000000100"
SAID = "requirement: Filter by date\nAC: two dates give the days between\nrequirement: Sort by name"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    git = Git(tmp_path / "clone")
    git.begin()
    return git


def in_slack(lines: Iterable[Line]) -> list[Line]:
    """Each in a message of its own, and the first one names the thread."""
    posted = [
        line.but(meta={**line.meta, "channel_id": "C1", "message_ts": f"1700000{at:03}.000100"})
        for at, line in enumerate(lines)
    ]
    return [posted[0].but(meta={**posted[0].meta, "permalink": THREAD}), *posted[1:]]


def kept(git: Git, lines: Iterable[Line], *, slug: str = SLUG, pushed: Iterable[Line] = ()) -> None:
    """A commit in which the bot wrote *lines*, and somebody else *pushed* some."""
    rows = b"".join(f"{line.as_json()}\n".encode() for line in pushed)
    git.write(f"{ITEMS}/{slug}/planning/meeting.jsonl", (sealed(lines) + rows).decode())
    git("add", "--all")
    git("commit", "--quiet", "-m", "theirs")


def items(root: Path, revision: str = "", *, redact: Callable[[str], str] = str) -> AgreedItems:
    files = files_at(root, revision) if revision else files_at_tip(root)
    return AgreedItems(files, items_dir=ITEMS, schema=SCHEMA, trusted=TRUSTED, redact=redact)


def discussed() -> Meeting:
    """Everything that can happen to a claim: said, worded by a persona, accepted, contested, doubtful, replaced."""
    meeting = Meeting()
    said = meeting.say("Grace", "01-06", "requirement: A limit counts each client\nAC: the 101st gets 429")
    meeting.say("Grace", "01-08", "Must: FR-001")
    meeting.say("Linus", "01-08", "Should: FR-001")
    quotes = [{"line": said, "words": "A limit counts each client"}]
    patch = make_entry("FR-002", {"title": "Clients are counted apart"})
    meeting.propose({**patch, "quotes": {"title": quotes}}, step="01-06", persona_name="Maya")
    meeting.press("Ada", {"id": "FR-002", "accept": True})
    quality = make_entry("NFR-001", {"text": "fast", "threshold": "10 ms"})
    meeting.propose({**quality, "unverified": {"threshold": "no source says it"}}, persona_name="Alex")
    meeting.say("Linus", "03-02", "decision: Count in Redis; because: it is fast; changes: AC-001-01")
    meeting.say("Grace", "03-02", "decision: Count in memory; replaces: DEC-001")
    meeting.say("Ada", "01-06", "requirement: Nobody needs this\nAC: nothing happens")
    meeting.press("Ada", {"id": "FR-003", "state": "withdrawn"})
    return meeting


def claims_of(entry: ShownEntry) -> list[ShownClaim]:
    return [claim for told in entry.claims.values() for claim in told]


@pytest.fixture
def found(git: Git) -> AgreedItems:
    kept(git, in_slack(discussed().lines))
    return items(git.root)


# --- the same words everywhere --------------------------------------------------------------------------------------


def test_an_entry_says_what_counts_who_said_it_and_where(found: AgreedItems) -> None:
    entry = found.show(f"{SLUG}/FR-001")

    assert (entry.address, entry.kind, entry.state) == (f"{SLUG}/FR-001", "requirement", EntryState.ACCEPTED)
    assert (entry.text, entry.parts) == ("A limit counts each client", ("AC-001-01",))
    assert (entry.fields["priority"], entry.contested) == ("should", ("priority",))
    (title,) = entry.claims["title"]
    assert (title.said_by and title.said_by.name, title.proposed_by) == ("Grace", None)
    (source,) = title.sources
    assert isinstance(source, ShownSource)
    assert source.quote == "requirement: A limit counts each client AC: the 101st gets 429"
    assert source.link == (
        "https://team.slack.com/archives/C1/p1700000000000100?thread_ts=1700000000.000100&cid=C1"
    )


def test_nobody_has_said_what_was_only_proposed(git: Git) -> None:
    """`said_by` and `proposed_by` are what the claim stores, and one of them stands in the JSON."""
    meeting = discussed()
    kept(git, meeting.lines)
    shown = items(git.root).item(SLUG).shown

    def parties(claim: Claim) -> dict[str, str | None]:
        first = {"said_by": claim.said.by} if claim.said else {"proposed_by": claim.proposed.by}
        return {**first, "accepted_by": claim.accepted.by if claim.accepted else None}

    for entry in meeting.specification.entries.values():
        told = json.loads(shown.show_entry(entry.id).model_dump_json())["claims"]
        for field, claims in entry.claims.items():
            found = [
                {name: one[name] and one[name]["id"] for name in one if name.endswith("_by")}
                for one in told[field]
            ]
            assert found == list(map(parties, claims))


def test_words_that_a_persona_chose_have_the_quote_that_they_rest_on(found: AgreedItems) -> None:
    entry = found.show(f"{SLUG}/FR-002")
    (claim,) = entry.claims["title"]

    assert entry.attribution == "Grace, worded by Maya (persona), accepted by Ada"
    assert [one.quote for one in claim.sources if isinstance(one, ShownSource)] == [
        "A limit counts each client",
        "Proposed.",
    ]


def test_what_has_to_be_confirmed_says_why(found: AgreedItems) -> None:
    assert found.show(f"{SLUG}/NFR-001").claims["threshold"][0].doubtful == "unchecked: no source says it"
    replaced = found.show(f"{SLUG}/DEC-001")
    assert (replaced.state, replaced.replaced_by) == (EntryState.SUPERSEDED, ("DEC-002",))


def test_changed_words_are_quoted_as_they_read_now_and_deleted_ones_not_at_all(git: Git) -> None:
    meeting = Meeting()
    changed = meeting.say("Ada", "01-06", "requirement: Filter by day")
    meeting.say("Ada", "01-06", "requirement: Filter by date", amends=changed)
    deleted = meeting.say("Grace", "01-06", "requirement: Sort by name")
    meeting.delete("Grace", deleted)
    kept(git, meeting.lines)
    shown = items(git.root)

    (now,) = (one for one in claims_of(shown.show(f"{SLUG}/FR-001")) if one.counts)
    assert [one.quote for one in now.sources if isinstance(one, ShownSource)] == [
        "requirement: Filter by date"
    ]
    gone = shown.show(f"{SLUG}/FR-002")
    assert (gone.doubtful, gone.claims["title"][0].doubtful) == (("title",), "deleted")
    assert [
        one.quote for claim in claims_of(gone) for one in claim.sources if isinstance(one, ShownSource)
    ] == [""]


def test_of_a_long_message_the_words_of_the_value_are_quoted(git: Git) -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-06", "\n".join(f"requirement: Wish {number:03}" for number in range(QUOTE_CHARS)))
    kept(git, meeting.lines)

    ((source,),) = (one.sources for one in claims_of(items(git.root).show(f"{SLUG}/FR-200")))
    assert isinstance(source, ShownSource)
    assert source.quote == "Wish 199"


# --- what may be believed -------------------------------------------------------------------------------------------


def test_a_line_without_our_seal_only_proposes(git: Git) -> None:
    """Also one that names a person, and a thread elsewhere."""
    meeting = discussed()
    before = len(meeting.lines)
    meeting.press("Grace", make_entry("FR-009", {"title": "Pay Mallory"}))
    pushed = [
        line.but(meta={**line.meta, "permalink": "https://evil.example/archives/C9/p1700000000000100"})
        for line in meeting.lines[before:]
    ]
    kept(git, in_slack(meeting.lines[:before]), pushed=pushed)

    entry = items(git.root).show(f"{SLUG}/FR-009")

    assert entry.state is EntryState.PROPOSED
    assert entry.attribution == "proposed by a pushed line that names Grace, not accepted"
    assert "evil.example" not in entry.model_dump_json()


def test_a_link_leads_to_the_thread_only(git: Git) -> None:
    """A press stands in no message of its own, and a line of another channel has no link of ours."""
    first, *rest = in_slack(discussed().lines)
    elsewhere = [line.but(meta={**line.meta, "channel_id": "C9"}) for line in rest]
    kept(git, [first, *elsewhere])

    links = {
        source.link
        for entry in items(git.root).item(SLUG).shown.entries()
        for claim in claims_of(entry)
        for source in claim.sources
        if isinstance(source, ShownSource)
    }
    assert links == {THREAD, f"{THREAD}?thread_ts=1700000000.000100&cid=C1"}


def test_secrets_are_hidden_wherever_they_stand(git: Git) -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: The key is hunter2")
    kept(git, meeting.lines)

    shown = items(git.root, redact=lambda text: text.replace("hunter2", "[redacted:key]")).show("FR-001")

    assert "hunter2" not in shown.model_dump_json()
    assert "hunter2" not in f"{shown.text} {shown.attribution}"


# --- one commit -----------------------------------------------------------------------------------------------------


def play(root: Path) -> RecordedItem:
    """Of the bot, with everything that it commits."""
    table = Table().start().through("01-05").press_continue().say(SAID, who="grace")
    return committed(table.say("FR-001 detail: from midnight to midnight", who="ada").stop(), root)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RecordedItem:
    """No test changes it."""
    return play(tmp_path_factory.mktemp("played"))


def test_the_file_that_the_last_line_vouches_for_says_what_the_lines_say(
    played: RecordedItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = played.folder.parents[2]
    quick = list(items(root).item(played.slug).shown.entries())
    monkeypatch.setattr(agreed, "vouched", lambda *_: None)

    assert quick
    assert quick == list(items(root).item(played.slug).shown.entries())


@pytest.mark.parametrize("change", ["file", "line", "added"])
def test_lines_are_read_where_the_last_one_does_not_vouch_for_the_file(
    change: str, played: RecordedItem
) -> None:
    text = (played.folder / "specification.json").read_bytes()
    content = (played.folder / "planning/meeting.jsonl").read_bytes()
    assert vouched(text, content, TRUSTED)
    assert vouched(text, content)  # by the key of the first line

    first, rest = content.split(b"\n", 1)
    changed = {
        "file": (text.replace(b"Filter by date", b"Filter by hand"), content),
        "line": (text, rest),
        "added": (text, content + first + b"\n"),
    }
    assert vouched(*changed[change], TRUSTED) is None
    assert vouched(text, content, {"another": b"key"}) is None


def test_a_record_that_a_later_version_wrote_is_not_read_as_something_else(git: Git) -> None:
    meeting = discussed()
    text = snapshot.text_of(meeting.specification, {}).replace('"version": 1', '"version": 2')
    git.write(f"{ITEMS}/{SLUG}/specification.json", text)
    *lines, last = meeting.lines
    kept(git, [*lines, last.but(meta={**last.meta, snapshot.HASH: snapshot.hash_of(text)})])

    with pytest.raises(
        WorkspaceError, match=r"specification\.json is of version 2; this Roundtable reads 1\. Update it\.$"
    ):
        items(git.root).item(SLUG)


def test_words_that_were_changed_in_a_line_of_ours_are_quoted_of_nobody(tmp_path: Path) -> None:
    """The file that the last line vouches for still says what was accepted, and by whom."""
    transcript = play(tmp_path).transcript
    content = transcript.read_text()
    transcript.write_text(content.replace("requirement: Sort by name", "requirement: Pay Mallory", 1))
    git = Git(tmp_path)
    git("add", "--all")
    git("commit", "--quiet", "-m", "theirs")

    entry = items(tmp_path).show("FR-002")

    assert (entry.text, entry.attribution) == ("Sort by name", "Grace")
    ((source, *_), *_) = (one.sources for one in claims_of(entry))
    assert isinstance(source, ShownSource)
    assert (source.quote, source.by.name) == ("", "a pushed line that names Grace")


def test_a_commit_that_there_is_not_gets_a_sentence(git: Git) -> None:
    kept(git, discussed().lines)

    for revision in ("nowhere", "HEAD~9", "--all", "HEAD:docs"):
        with pytest.raises(ConfigError, match=r"^There is no commit .* in the workspace\.$"):
            items(git.root, revision)


def test_an_item_that_is_too_large_gets_a_sentence(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(git, discussed().lines)
    monkeypatch.setattr(agreed, "TRANSCRIPT_BYTES", 10)

    with pytest.raises(WorkspaceError, match=r"^The record of rate-limiting cannot be read: .*\.$"):
        items(git.root).item(SLUG)


def test_the_same_entries_come_from_lines_that_are_in_no_commit_yet() -> None:
    """`/roundtable decisions` reads the lines of a running roundtable with the same function."""
    table = Table().start().say("decision: Use a queue; because: it is known", who="grace")
    shown = ShownItem(table.rt.slug, table.rt.specification, lambda: table.rt.lines, schema=shipped().schema)

    (entry,) = shown.entries("decision")
    assert (entry.id, entry.text, entry.attribution) == ("DEC-001", "Use a queue", "Grace")
