"""Files of the workspace, which others push to: reading them ends soon, with a value or a sentence."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bot.cli import replay
from bot.cli.replay import Form
from bot.domain.catalog.agenda import read_quick_scan
from bot.domain.item import meta
from bot.domain.item.item import KnownItem, backlog_title, resolve
from bot.domain.item.meta import SlackPlace
from bot.domain.transcript.last_line import read_brief
from bot.domain.transcript.lines import LinePhase, Source
from bot.domain.transcript.seal import lost_rows, read_chain, restore_lines
from bot.settings import Settings
from bot.storage.git.branch import Branch, CommitDraft
from bot.storage.git.reader import ItemReader
from bot.storage.git.seal import Seal
from tests.growth import grows_no_faster
from tests.sealing import TRUSTED, sealed
from tests.storage.samples import NOW, a_line

ITEMS = "docs/requirements"
SLUG = "offline-sync"
HEAD = sealed(a_line(f"m{number}") for number in range(5))
KEY = b"a key of these tests"
fuzzed = hypothesis_settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])

any_text = st.text(st.characters(exclude_categories=()), max_size=30)
scalars = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.sampled_from([0, -1, 2**53, 2**64, 10**4000, "", "01-01", "2025-03-01T10:15:30.123Z", "high"])
    | any_text
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
deep = st.sampled_from([b'{"a":' * depth + b"1" + b"}" * depth for depth in (90, 400, 5_000, 60_000)])


def written(value: object) -> bytes:
    """Half characters and numbers that are none are written as some tools write them."""
    return json.dumps(value).encode()


def objects(*names: str, **known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects in which each of the fields may be missing, and any may be anything."""
    fields = {name: known.get(name, values) | values for name in (*names, *known)}
    return st.fixed_dictionaries({}, optional=fields)


places = objects("team_id", "channel_id", "thread_ts", "private", "started_by", "seal")
metas = objects(
    "description", "source", "source_id", "slug", "created_at", "analysis_status", "codebase_hash",
    "phase_a_completed", "phases_completed", "steps_completed", "depth_overrides",
    elaborations=st.lists(objects("step_id", "timestamp", "turn_count", "personas", "synthesis_summary"), max_size=2),
    elaboration_config=objects("max_turns"),
    slack=places,
)  # fmt: skip
lines = st.fixed_dictionaries(
    {
        "ts": st.sampled_from(["2025-03-01T10:15:30.123Z", "2025-03-01T10:15:31.000+00:00"]),
        "round": st.integers(0, 3),
        "actor": st.sampled_from(["User", "PlanningAgent", "Maya"]) | any_text,
        "phase": st.sampled_from([part.value for part in LinePhase]),
        "role": st.just("planning"),
        "source": st.sampled_from([source.value for source in Source]),
        "content": any_text,
        "meta": objects(
            "message_id", "message_ts", "phase_key", "step_id", "turn_id", "user_name", "provider", "model",
            "tokens_in", "cost", "seconds", "change", "permalink", "depth", "amends", "retracts", "position",
            "decision", "verdict", "objection", "spent", "scrubbed", "plan_version", "plan_round", "synthesis",
        ),
    }
)  # fmt: skip
rows = (
    (lines | objects(*("ts", "round", "actor", "phase", "role", "source", "content", "meta"))).map(written)
    | st.binary(max_size=40)
    | deep
    | st.sampled_from([b"", b"\0" * 9, b"null", b"[1]", b'{"round": ' + b"9" * 5_000 + b"}", b'{"ts": NaN}'])
)
transcripts = st.lists(rows, max_size=8).map(b"\n".join) | st.binary(max_size=200)
pieces = st.sampled_from(
    [
        "**Scope**: large", "File Count: ~9-", "10,000", "Complexity:", " high", "\n", "- 1.1 [ ] ", "[a](docs/a/)",
        "#", "|", "\u2028",
    ]
)  # fmt: skip
markdown = (st.lists(pieces, max_size=12).map("".join) | any_text).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


@contextmanager
def workspace(**files: bytes) -> Iterator[Path]:
    """One item with *files*; a double underscore stands for a slash, and a single one for a point."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder, ITEMS, SLUG, name.replace("__", "/").replace("_", "."))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield Path(folder)


def reader(root: Path) -> ItemReader:
    """Of a commit of all that is there."""
    branch = Branch(root, ITEMS)
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.glob(f"{ITEMS}/**/*")
        if path.is_file()
    }
    made = branch.build(None, CommitDraft(files, "theirs", NOW))
    assert branch.move(None, made, "theirs")
    return ItemReader(branch, Seal([KEY]))


def settings_at(root: Path) -> Settings:
    return Settings.from_env({"ROUNDTABLE_WORKSPACE": str(root)})


# --- an item ------------------------------------------------------------------------------------------------------


@fuzzed
@given(content=metas.map(written) | deep | st.binary(max_size=60), scan=markdown, said=transcripts)
def test_any_item_is_listed_and_read(content: bytes, scan: bytes, said: bytes) -> None:
    """With what can be used of it; what cannot is told as a trouble. What is known of it can be stored."""
    with workspace(meta_json=content, **{"quick-scan_md": scan, "planning__meeting_jsonl": said}) as root:
        items = reader(root)
        [listed] = items.items()
        found = items.read(SLUG, now=NOW)
        texts = items.planning(SLUG).files

    assert listed.known.slug == SLUG
    assert not listed.sealed
    assert (found.state is None) <= bool(found.troubles)
    assert found.state is None or found.state.meta.slack is None
    for value in (listed.known, *([found.state.meta] if found.state else [])):
        assert value.model_dump_json()
    assert not texts


@fuzzed
@given(fields=metas, record=objects("step_id", "timestamp"))
def test_any_meta_json_takes_our_changes(fields: dict[str, Any], record: dict[str, Any]) -> None:
    """And what comes of it can be read again."""
    try:
        reading = meta.read(written({**fields, "elaborations": [record]}), now=NOW)
    except meta.Corrupt:
        return
    after = meta.apply(reading.raw, meta.MetaChange(steps=("01-01",), depth_overrides={"01": "deep"}))

    again = meta.read(meta.write(after).encode(), now=NOW).meta
    assert "01-01" in again.steps_completed
    assert again.depth_overrides["01"] == "deep"


@fuzzed
@given(slack=places, slug=any_text)
def test_no_home_that_others_wrote_is_sealed(slack: dict[str, Any], slug: str) -> None:
    """Of any types, for an item of any name; and what we seal ourselves is."""
    try:
        home = meta.read(written({"slack": slack}), now=NOW).meta.slack
    except meta.Corrupt:
        return
    seal = Seal([b"another", KEY])

    assert home is not None
    assert not seal.is_valid(slug, home)
    ours = meta.held_at({"slack": slack}, home, lambda place: seal.sign(slug, place))
    assert seal.is_valid(slug, meta.read(meta.write(ours).encode(), now=NOW).meta.slack or SlackPlace())


@fuzzed
@given(content=st.binary(max_size=300) | markdown.map(lambda text: text * 20))
def test_any_quick_scan_is_read(content: bytes) -> None:
    """What it does not say is unknown."""
    found = read_quick_scan(content.decode("utf-8", "replace"))

    assert found.scope in {"small", "medium", "large", "unknown"}
    assert 0 <= found.file_count < 10**6


# --- the record ---------------------------------------------------------------------------------------------------


@fuzzed
@given(said=transcripts, content=metas.map(written), plan=values.map(written) | markdown)
def test_any_record_is_shown_and_verified(said: bytes, content: bytes, plan: bytes) -> None:
    """In every form, and as text that can be printed."""
    planned = {
        "planning__planning_ai_json": plan,
        "planning__plan-review_json": plan,
        "planning__plan_md": plan,
    }
    with workspace(meta_json=content, planning__meeting_jsonl=said, **planned) as root:
        one = replay.item(settings_at(root), SLUG)
        for form in Form:
            assert "".join(replay.shown(one, form)).encode()
        for difference in replay.verified(one):
            assert str(difference).encode()
            assert "\n" not in "".join((difference.file, difference.sentence, *difference.diff))


@fuzzed
@given(content=transcripts)
def test_any_file_gets_the_lines_of_ours_back(content: bytes) -> None:
    """Once: then none is missing."""
    found = restore_lines(content, HEAD, TRUSTED)

    assert lost_rows(found, HEAD, TRUSTED) == ()
    assert restore_lines(found, HEAD, TRUSTED) == found


@fuzzed
@given(luck=st.lists(st.tuples(st.integers(0, len(HEAD)), st.binary(max_size=30)), max_size=3))
def test_damage_anywhere_never_loses_a_whole_line(luck: list[tuple[int, bytes]]) -> None:
    """Whatever was written over our lines, they are there afterwards, each once."""
    content = bytearray(HEAD)
    for place, junk in luck:
        content[place : place + len(junk)] = junk
    found = read_chain(restore_lines(bytes(content), HEAD, TRUSTED), TRUSTED)

    assert [line.message_id for line in found.sealed_lines] == [f"m{number}" for number in range(5)]


@fuzzed
@given(
    content=transcripts,
    text=any_text | st.from_regex(r"\d{1,12} [0-9A-Z.]{10,300}( .{0,30})?", fullmatch=True),
)
def test_any_last_line_is_one_or_none(content: bytes, text: str) -> None:
    """Of a post's metadata; it is held against any transcript."""
    found = read_brief(text)
    assert found.is_in(content) in {True, False}
    assert found.brief.isascii()


# --- references ---------------------------------------------------------------------------------------------------


@fuzzed
@given(
    backlog=markdown, reference=any_text | st.sampled_from(["1.1", "a", "#1", "]("]), names=st.lists(any_text)
)
def test_any_reference_means_items_that_there_are(backlog: bytes, reference: str, names: list[str]) -> None:
    """Whatever stands in BACKLOG.md."""
    text = backlog.decode("utf-8", "replace")
    known = [KnownItem(slug=f"item-{number}", title=name) for number, name in enumerate(names)]

    assert set(resolve(reference, known, text)) <= {one.slug for one in known}
    assert backlog_title(reference, text) is None or backlog_title(reference, text)


# --- bounded ------------------------------------------------------------------------------------------------------

MANY = [KnownItem(slug=f"item-{number}", title=f"The {number}th") for number in range(1_000)]


def backlog(size: int) -> str:
    return "".join(f"- 1.{number} [ ] a thing [here](docs/thing-{number}/)\n" for number in range(size))


def understood(content: bytes) -> object:
    with suppress(meta.Corrupt):
        return meta.read(content, now=NOW)
    return None


SLOW: dict[str, tuple[Callable[[Any], object], Callable[[int], Any], int]] = {
    "a backlog in which everything matches": (lambda text: resolve("thing", MANY, text), backlog, 5_000),
    "a backlog that is one link": (
        lambda text: resolve("a", MANY, text), lambda size: "- 1.1 [ ] a" + "](" * size, 50_000,
    ),
    "a backlog of slashes": (
        lambda text: resolve("a", MANY, text), lambda size: "- 1.1 [ ] a](" + "/" * size, 50_000,
    ),
    "a transcript of which nothing is left": (
        lambda content: restore_lines(content, HEAD, TRUSTED),
        lambda size: HEAD[:30] + b"\nzz" * size, 10_000,
    ),
    "a row of openings": (
        lambda content: restore_lines(content, HEAD, TRUSTED), lambda size: b'{"' * size + b"q\n", 125_000,
    ),
    "a quick scan of one line": (
        read_quick_scan, lambda size: "**" * size + "Scope" + " " * size, 50_000,
    ),
    "a quick scan of labels": (read_quick_scan, lambda size: "File Count: ~9-" * size, 7_500),
    "a deep meta.json": (understood, lambda size: b"[" * size, 1_000_000),
    "a wide meta.json": (understood, lambda size: written({"steps_completed": ["01-01"] * size}), 100_000),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_what_is_made_to_be_slow_is_not(name: str) -> None:
    """Seconds of one core are minutes in which nobody is answered."""
    grows_no_faster(*SLOW[name])


def test_folders_below_folders_take_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may push as many as they like, and each that is held open is a connection less."""
    opened: list[object] = []
    system = os.open

    def counted(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        opened.append(path)
        return system(path, flags, *rest, **named)

    with workspace(**{"planning__plan_md": b"It stands.", f"planning__{'a__' * 100}plan_md": b"x"}) as root:
        items = reader(root)
        monkeypatch.setattr("os.open", counted)
        assert items.planning(SLUG).files == {"planning/plan.md": "It stands."}
        monkeypatch.undo()

    assert len(opened) < 50
