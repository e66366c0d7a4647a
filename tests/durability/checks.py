"""
What has to be true afterwards, found out from outside alone: Slack's thread, the files, git.

Every function gives sentences about what is wrong; none is what everybody hopes for.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bot.domain.transcript.lines import Line, Source
from slack_sandbox import SandboxMessage
from tests.transcripts import Transcript, read

ITEMS = "docs/requirements"
TRAILERS = "%H%x1f%P%x1f%s%x1f%(trailers:key=Roundtable-Item,valueonly,separator=%x2C)%x1f%(trailers:key=Roundtable-Step,valueonly,separator=%x2C)%x1f%(trailers:key=Roundtable-Effect,valueonly,separator=%x2C)"  # noqa: E501


PUT_BACK = ": put back what the branch lost"
FINISHED = re.compile(f": step |{PUT_BACK}")
"""In the subject of a commit that has steps: of one, or of all that were lost together."""


class Made(NamedTuple):
    """One commit of the workspace."""

    sha: str
    parents: str
    subject: str
    item: str
    step: str
    effect: str


class Item(NamedTuple):
    """Where one item's files are."""

    workspace: Path
    slug: str

    @property
    def folder(self) -> Path:
        return self.workspace / ITEMS / self.slug

    @property
    def meta(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads((self.folder / "meta.json").read_text(encoding="utf-8"))
        return fields

    @property
    def transcript(self) -> Transcript:
        return read((self.folder / "planning" / "meeting.jsonl").read_bytes())


def git(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(workspace), *arguments], check=False, capture_output=True, text=True
    )


def commits(workspace: Path) -> list[Made]:
    """Oldest first."""
    found = git(workspace, "log", "--reverse", f"--format={TRAILERS}").stdout
    return [Made(*line.split("\x1f")) for line in found.splitlines()]


def of_meeting(
    item: Item, thread: list[SandboxMessage], said: Iterable[str], *, lost_until: str = ""
) -> list[str]:
    """
    *said* are the stamps of what people said, all of it acknowledged. What we said ourselves may be missing in the
    file up to the stamp *lost_until*, when only a store knew it that was lost.
    """
    transcript = item.transcript
    wrong = [*_transcript(transcript), *_heard(transcript.lines, said), *in_thread_order(item)]
    wrong += [*_spoken(transcript.lines, thread, lost_until), *_turns(item)]
    return wrong if lost_until else [*wrong, *_meta(item)]


def of_channel(messages: Iterable[SandboxMessage]) -> list[str]:
    """The roots of threads are posts, too."""
    posted = (key for message in messages if message.by_bot for key in _key(message))
    return [f"{key} is posted {n} times" for key, n in _repeated(posted)]


def of_workspace(workspace: Path, *, store_lost: bool = False) -> list[str]:
    """When the store was lost right after a death in a commit, nobody here knows what that commit was about."""
    made = commits(workspace)
    wrong = [f"{one.subject!r} has the parents {one.parents!r}" for one in made[1:] if " " in one.parents]
    wrong += [f"{effect} was committed {n} times" for effect, n in _repeated(one.effect for one in made)]
    finished = ((one.item, one.step, one.subject) for one in made if one.step and ": step " in one.subject)
    wrong += [f"{what} is finished in {n} commits" for what, n in _repeated(finished)]
    checked = git(workspace, "fsck", "--strict", "--no-dangling")
    if checked.returncode or checked.stdout.strip():
        wrong.append(f"git fsck says {checked.stdout}{checked.stderr}")
    if not store_lost and (status := git(workspace, "status", "--porcelain", "--", "docs").stdout):
        wrong.append(f"git status says {status}")
    left = [path for path in workspace.rglob("*.lock") if ".git" in path.parts]
    return [*wrong, *(f"{path.relative_to(workspace)} is left over" for path in left)]


def in_thread_order(item: Item) -> Iterator[str]:
    """
    What people said stands in each commit as it stands in the thread, whenever it was delivered. What was put back had
    been written by several commits.
    """
    path = f"{ITEMS}/{item.slug}/planning/meeting.jsonl"
    known = 0
    for row in git(item.workspace, "log", "--reverse", "--format=%H %s", "--", path).stdout.splitlines():
        sha, _, subject = row.partition(" ")
        lines = read(git(item.workspace, "show", f"{sha}:{path}").stdout.encode()).lines
        stamps = [line.said_at for line in lines[known:] if line.said_at]
        known = len(lines)
        if stamps != sorted(stamps) and not subject.endswith(PUT_BACK):
            yield f"{sha} has people's words in the order {stamps}"


class CountedTurn(NamedTuple):
    """Of a line: the number of its turn, and how much of the limit was used then."""

    number: int
    used: int


def counted_turns(lines: Iterable[Line]) -> list[CountedTurn]:
    return [
        CountedTurn(line.meta["turn"], line.meta["turns_used"])
        for line in lines
        if "turn" in line.meta and line.meta.get("turn_id")
    ]


def turns_unlike(recorded: Sequence[int], turns: Sequence[CountedTurn], limit: int) -> Iterator[str]:
    """
    *turns* stand in the file, *recorded* is what each discussion that is over used by meta.json. Each discussion's are
    1, 2, 3 and so on; one that nobody recorded yet may follow. A message that is delivered late may stand before an
    earlier turn, so where one discussion ends is seen from the record alone.
    """
    if not _agree(recorded, turns):
        yield f"meta.json counts {list(recorded)} turns, and the transcript has the turns {list(turns)}"
    if any(count > limit for count in (*recorded, *(turn.used for turn in turns))):
        yield f"there are {list(recorded)} turns, and {limit} allowed"


def _agree(recorded: Sequence[int], turns: Sequence[CountedTurn]) -> bool:
    """What a discussion used is at least one turn (seed 001), also when nothing was said."""

    def is_whole(part: Sequence[CountedTurn]) -> bool:
        return sorted(turn.number for turn in part) == list(range(1, len(part) + 1))

    if not recorded:
        return is_whole(turns)
    count, *rest = recorded
    return any(
        is_whole(turns[:end])
        and max((1, *(turn.used for turn in turns[:end]))) == count
        and _agree(rest, turns[end:])
        for end in range(len(turns) + 1)
    )


def _transcript(transcript: Transcript) -> Iterator[str]:
    yield from (f"line {flaw.number} {flaw.sentence}" for flaw in transcript.flaws)
    for message_id, n in _repeated(line.message_id for line in transcript.lines):
        yield f"{message_id} is recorded {n} times"


def _heard(lines: tuple[Line, ...], said: Iterable[str]) -> Iterator[str]:
    heard = Counter(str(line.meta.get("message_ts")) for line in lines if line.source is Source.USER)
    for stamp in said:
        if heard[stamp] != 1:
            yield f"what people said at {stamp} is recorded {heard[stamp]} times"


def _spoken(lines: tuple[Line, ...], thread: list[SandboxMessage], lost_until: str) -> Iterator[str]:
    """What we said stands in Slack once, in the file once, and in one order."""
    posted = [key for message in thread if message.by_bot for key in _key(message)]
    yield from (f"{key} is posted {n} times" for key, n in _repeated(posted))
    order = list(dict.fromkeys(key.partition("#")[0] for key in posted))
    in_no_line = {
        key.partition("#")[0] for message in thread if not _is_recorded(message) for key in _key(message)
    }
    recorded = [line.message_id for line in lines]
    places = {key: place for place, key in enumerate(recorded)}
    ours = [line for line in lines if line.source is not Source.USER and line.message_id not in order]
    for line in ours:
        if line.source is Source.MODEL or "message_ts" in line.meta:
            yield f"{line.message_id} ({line.actor}) is recorded, and not posted: {line.content[:60]!r}"
    known = [key for key in order if key in places]
    if known != sorted(known, key=places.__getitem__):
        yield f"Slack's order {known} is not the file's {sorted(known, key=places.__getitem__)}"
    last = order.index(known[-1]) if known else -1
    lost = {key.partition("#")[0] for one in thread if one.ts <= lost_until for key in _key(one)}
    missing = (key for key in order[: last + 1] if key not in {*places, *lost, *in_no_line})
    yield from (f"{key} is posted, and not recorded" for key in missing)


def _turns(item: Item) -> Iterator[str]:
    """An elaboration's turns are 1, 2, 3 and so on, and no more than its record says."""
    limit = item.meta.get("elaboration_config", {}).get("max_turns", 10)
    recorded = [record["turn_count"] for record in item.meta["elaborations"]]
    yield from turns_unlike(recorded, counted_turns(item.transcript.lines), limit)


def _meta(item: Item) -> Iterator[str]:
    meta = item.meta
    for name in ("steps_completed", "phases_completed"):
        yield from (f"{name} has {what} {n} times" for what, n in _repeated(meta[name]))
    made = [one for one in commits(item.workspace) if one.item == item.slug]
    done = {step for one in made if FINISHED.search(one.subject) for step in one.step.split(",")}
    if done - {""} != set(meta["steps_completed"]):
        yield f"meta.json has the steps {meta['steps_completed']}, git {sorted(done)}"


def _key(message: SandboxMessage) -> Iterator[str]:
    if payload := message.metadata.get("event_payload"):
        yield str(payload.get("key"))


def _is_recorded(message: SandboxMessage) -> bool:
    """A question at the bottom of the thread is in no line: what became of it is."""
    return bool(message.metadata.get("event_payload", {}).get("recorded", True))


def _repeated(found: Iterable[Any]) -> list[tuple[Any, int]]:
    return [(what, count) for what, count in Counter(found).items() if count > 1 and what]
