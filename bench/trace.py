"""
`roundtable trace` in a clone of 10,000 files and 2,000 commits with the record of 5 items in it: 40 requirements with a
criterion each, of which some changed. By the clock, since git does half of the work. The goal is 3 seconds, in which
nobody minds a check of a pull request.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from bench.harness import Goal, Plan, Row, main, share
from bench.seals import SEALER
from bench.workspaces import ITEMS_DIR, git
from bot.cli.trace import TraceOptions, trace_code
from bot.domain.specification.snapshot import HASH, folded, hash_of, text_of
from bot.domain.transcript.lines import Line, LinePhase, Source
from bot.settings import Settings

FILES, QUICK_FILES = 10_000, 200
COMMITS, QUICK_COMMITS = 2_000, 40
ITEMS, REQUIREMENTS = 5, 40
CITING_FILE, CITING_COMMIT, CHANGED = 20, 4, 8
"""One of so many."""
SECONDS = 3.0
BEGIN = 1_767_225_600
CODE = "def limit(requests, most):\n    return requests[:most]\n\n\n" * 60


async def measure(plan: Plan) -> list[Row]:
    files, commits = plan.size(FILES, QUICK_FILES), plan.size(COMMITS, QUICK_COMMITS)
    root = plan.folder / "code"
    written(root, files, commits)
    os.chdir(root)
    settings = Settings.from_env({"ROUNDTABLE_WORKSPACE": str(root)})
    times = []
    for _ in range(plan.rounds):
        began = perf_counter()
        printed = await trace_code(settings, TraceOptions())
        times.append(perf_counter() - began)
        assert "item-0/FR-001" in printed.out
    what = f"{files:,} files, {commits:,} commits, {ITEMS * REQUIREMENTS * 2} entries"
    return [share(what, "time", "s", f"{SECONDS} s", ours=min(times), floor=SECONDS, goal=Goal(at_most=1))]


def written(root: Path, files: int, commits: int) -> None:
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "fast-import", "--quiet", given=b"".join(_stream(files, commits)))
    git(root, "read-tree", "--reset", "-u", "HEAD")


def _stream(files: int, commits: int) -> Iterator[bytes]:
    for number in range(commits):
        cites = f"\n\nImplements: {_address(number)}" if number % CITING_COMMIT == 0 else ""
        yield f"commit refs/heads/main\ncommitter Bench <bench@localhost> {BEGIN + number} +0000\n".encode()
        yield _blob(f"Work {number}{cites}")
        if not number:
            yield from _record()
            for at in range(files):
                yield _file(f"src/part{at // 100:03}/file{at:05}.py", _code(at))
        yield _file(f"src/part000/file{number % 100:05}.py", f"{_code(number % 100)}# {number}\n")


def _code(number: int) -> str:
    text = CODE[: 1_000 + number % 3_000]
    return f"{text}\n# {_address(number)}\n" if number % CITING_FILE == 0 else text


def _address(number: int) -> str:
    at = number // CITING_COMMIT
    return f"item-{at % ITEMS}/FR-{at // ITEMS % REQUIREMENTS + 1:03}"


def _record() -> Iterator[bytes]:
    lines = list(_lines())
    text = text_of(folded(lines).specification, {})
    last = lines[-1].but(meta={**lines[-1].meta, HASH: hash_of(text)})
    content = SEALER.append(b"", [*lines[:-1], last]).decode()
    for number in range(ITEMS):
        folder = f"{ITEMS_DIR}/item-{number}"
        yield _file(f"{folder}/planning/meeting.jsonl", content)
        yield _file(f"{folder}/specification.json", text)
        yield _file(f"{folder}/meta.json", '{"description": "An item"}')


def _lines() -> Iterator[Line]:
    for at in range(REQUIREMENTS):
        id = f"{at + 1:03}"
        fields = {"title": f"Requirement {id}", "priority": "must"}
        yield _line(f"{at}.1", {"id": f"FR-{id}", "kind": "requirement", "new": True, "set": fields})
        criterion = {"kind": "criterion", "part_of": f"FR-{id}", "set": {"text": f"Requirement {id} holds"}}
        yield _line(f"{at}.2", {"id": f"AC-{id}-01", "new": True, **criterion})
        if at % CHANGED == 0:
            yield _line(f"{at}.3", {"id": f"FR-{id}", "set": {"title": f"Requirement {id}, worded anew"}})


def _line(number: str, patch: dict[str, object]) -> Line:
    return Line(
        ts="2026-03-01T10:00:00.000Z",
        round=1,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.SYSTEM,
        content="Filled a form in.",
        meta={"message_id": f"C1.{number}", "person": "p-4xk2m7qza3", "entries": [patch]},
    )


def _file(path: str, text: str) -> bytes:
    return f"M 100644 inline {path}\n".encode() + _blob(text)


def _blob(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


if __name__ == "__main__":
    main("trace", measure)
