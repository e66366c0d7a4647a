"""meta.json held against the lines: what is another value, what is another byte, and where."""

import json

import pytest

from bot.domain.item.meta import Record
from bot.domain.transcript.state import Progress
from bot.domain.transcript.verify import meta_compared
from bot.domain.values.json_files import pretty

HELD = Record(
    step_id="00-01",
    turn_count=3,
    personas_active=("maya",),
    timestamp="2026-01-01T00:00:00.000Z",
    synthesis_summary="It matters",
)
LATER = HELD.but(timestamp="2026-01-02T00:00:00.000Z")
DONE = Progress(
    steps_completed=("00-01", "00-02"),
    phases_completed=("00-quick-scan",),
    depth_overrides={"00-quick-scan": "deep"},
    elaborations=(HELD,),
    whole=True,
)
OLD = DONE.but(whole=False)


def meta_json(progress: Progress = DONE, /, **fields: object) -> bytes:
    said = {
        **progress.model_dump(mode="json", exclude={"whole"}),
        "analysis_status": progress.derived_status,
    }
    return pretty({"description": "Offline sync", **said, **fields}).encode()


def wrong(content: bytes, progress: Progress = DONE) -> list[tuple[int, str]]:
    return [(one.line, one.sentence) for one in meta_compared(content, progress)]


def test_what_the_lines_say_is_what_it_should_say() -> None:
    """Whatever else stands there."""
    assert wrong(meta_json(elaboration_config={"max_turns": 4}, owner=["ada"])) == []


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"steps_completed": ["00-01"]}, (3, '-  "00-02"')),
        ({"steps_completed": ["00-02", "00-01"]}, (3, '+  "00-02",')),
        ({"analysis_status": "raw"}, (24, '-"partial"')),
        ({"depth_overrides": {}}, (10, '-  "00-quick-scan": "deep"')),
        ({"phases_completed": "all"}, (7, '+"all"')),
        ({"elaborations": [{**HELD.model_dump(mode="json"), "turn_count": True}]}, (13, '+    "turn_count": true,')),
    ],
)  # fmt: skip
def test_another_value_is_found_where_it_stands(fields: dict[str, object], found: tuple[int, str]) -> None:
    """With what it is, and what it should be, as a diff."""
    (one,) = meta_compared(meta_json(**fields), DONE)
    name = next(iter(fields))

    assert (one.line, one.sentence) == (found[0], f"{name} is not what the lines say")
    assert found[1] in one.diff


def test_the_order_of_elaborations_is_that_of_their_time() -> None:
    """A file that was lost and written anew has another one."""
    both = DONE.but(elaborations=(HELD, LATER))

    assert wrong(meta_json(both.but(elaborations=(LATER, HELD))), both) == []


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'{\n  "a": 1,\n}', 3),
        (b'{"a": NaN}', 1),
        (b"[]", 1),
        (b'{\n\n"a": "\xff"}', 3),
        (b"", 1),
        (b"[" * 5_000, 1),
    ],
)
def test_what_is_no_meta_json_is_found(content: bytes, line: int) -> None:
    """By the line at which it stops being one."""
    assert [number for number, _ in wrong(content)] == [line]


def test_a_field_that_is_gone_is_found() -> None:
    """Our own files have all of them."""
    said = json.loads(meta_json())
    del said["elaborations"]

    assert wrong(json.dumps(said).encode()) == [(1, "has no elaborations")]
    assert wrong(json.dumps(said).encode(), OLD) == []


def test_an_older_record_is_compared_as_far_as_it_goes() -> None:
    """What its lines say is there, in that order; what they do not say may be."""
    more = meta_json(
        DONE.but(
            steps_completed=("00-01", "00-03", "00-02"), depth_overrides={"00-quick-scan": "deep", "x": "y"}
        )
    )
    less = meta_json(DONE.but(steps_completed=("00-02",)))

    assert wrong(more, OLD) == []
    assert [sentence for _, sentence in wrong(less, OLD)] == ["steps_completed is not what the lines say"]


@pytest.mark.parametrize("theirs", [None, "00-01", 7])
def test_what_is_read_as_nothing_is_what_lines_without_progress_say(theirs: object) -> None:
    """Transcripts of other tools lie beside files that say null, or anything."""
    nothing = Progress()
    fields = {"steps_completed": theirs, "elaborations": theirs, "depth_overrides": theirs}

    assert wrong(meta_json(nothing, **fields, analysis_status=None), nothing) == []
