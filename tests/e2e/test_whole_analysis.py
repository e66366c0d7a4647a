"""One item from `start` to "ready to build", over the sandbox's websocket, with everything a real week brings."""

import csv
import json
import re
from collections import Counter
from collections.abc import Collection
from typing import Any

from bot.domain.transcript.lines import Source
from tests.e2e.meeting import CHANNEL, Meeting, ways

REQUIREMENTS = """\
Keep edits made offline
AC: an edit made without a network is there after a restart
Send edits when the network is back
AC: all edits are sent within 60 seconds
AC: an edit is sent to `/users/{id}/edits`
Out of scope: photos
"""
ANSWERS = {
    "00-01": (
        "Estimate: field workers keep editing without a network",
        "Scope: medium. Complexity: high",
    ),
    "00-02": ("Keywords: sync queue, conflict resolver, offline cache",),
    "00-03": ("Files: 12. New: 4. Changed: 6. Tests: 2. Confidence: fair",),
    "01-01": ("Problem: edits are lost in tunnels", "Metric: lost edits from 40 a week to 0"),
    "01-02": ("User: field worker\nUser: dispatcher",),
    "01-03": ("Journey: a day in the tunnel",),
    "01-04": ("Limit: phones have 2 GB of storage",),
    "01-05": (
        "Quality: sync is done -> 60 seconds for 95% of edits",
        "Risk: two people edit one record -> keep both edits",
    ),
    "01-06": (REQUIREMENTS,),
    "01-07": ("As a field worker I want to edit in a tunnel so that I can work all day. (FR-001)",),
    "01-08": ("Must: FR-001\nShould: FR-002",),
    "02-01": ("tier 1: src/queue.py (FR-001)\ntier 2: src/send.py (FR-002)",),
    "03-01": ("Option: an outbox on the phone\nOption: conflict-free data types",),
    "03-02": ("Decision: an outbox on the phone",),
    "03-03": ("Technology: SQLite",),
    "03-04": ("phone -> server: edits\nVerdict: go",),
    "04-01": ("Module: outbox -> keeps edits until they are sent\nModule: sender -> sends edits",),
    "04-02": ("send(edits) -> receipt | NetworkDown",),
    "04-03": ("phone => outbox: edit\noutbox => server: edit",),
    "04-04": ("Error: the server is away -> try again later",),
    "04-05": ("Open question: who watches the queue? -> Linus",),
}


COUNTED = {
    "files? that changes?": "file",
    "functional requirements?": "requirement",
    "modules?": "module",
    "interfaces?": "interface",
    "errors?": "error",
}
"""Kinds whose number stands in summaries."""


POSTS_IN_ALL = 30
"""Of 24 steps with two discussions and a restart; what personas say in a discussion is not counted."""


async def test_a_whole_analysis(meeting: Meeting) -> None:
    """24 steps but one skipped phase rest, two elaborations, a depth change, a restart, and the record of it all."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await _phase(meeting, ["00-01", "00-02", "00-03"], first="00-01")
        await meeting.press("continue")

        await _elaborated(meeting, "01-01")
        await meeting.say("deep")
        await meeting.seen("Got it, switching to deep mode.")
        await meeting.press("continue")
        await _step(meeting, "01-02")
        await meeting.go_on()
        before_the_restart = len(meeting.thread)

    later = ("01-requirements", "02-impact-analysis", "03-architecture", "04-design")
    assert meeting.meta["depth_overrides"] == dict.fromkeys(later, "deep")

    async with meeting.bot():
        await meeting.slack.person("grace").slash("#roundtable", "/roundtable resume offline-sync")
        greeting = await meeting.seen("Welcome back. Last time we completed Business Context Discovery")
        assert "We also had a roundtable discussion on step 01-01" in greeting.text
        assert len(meeting.thread) == before_the_restart + 1

        await _phase(meeting, [f"01-0{number}" for number in range(3, 9)], first="01-03")
        await meeting.press("continue")
        await meeting.seen("Handing off to Alex Rivera (Solutions Architect)")
        await _elaborated(meeting, "02-01")
        await meeting.press("skip")
        await meeting.seen("Skipping remaining steps in this phase.")
        await meeting.until(lambda: [one for one in meeting.menus("continue") if "skip" not in ways(one)])
        await meeting.press("continue")
        await _phase(meeting, [f"03-0{number}" for number in range(1, 5)], first="03-01")
        await meeting.press("continue")
        await meeting.seen("Handing off to Jordan Park (System Designer)")
        await _phase(meeting, [f"04-0{number}" for number in range(1, 6)], first="04-01")
        await meeting.press("continue")
        await meeting.seen("21 of 24 steps have content;")

    posts = [one.words for one in meeting.thread[1:] if one.bot_id]
    assert len([one for one in posts if not one.startswith("We just covered ")]) <= POSTS_IN_ALL
    _check_meta(meeting)
    _check_artifacts(meeting)
    _check_transcript(meeting)
    _check_history(meeting)

    async with meeting.bot():
        asked = await _planned(meeting)
    _check_plan(meeting, asked)


async def _planned(meeting: Meeting) -> list[str]:
    """The questions of the roles, which all stay open; then the plan."""
    await meeting.slack.person("ada").mention(CHANNEL, "plan", thread_ts=meeting.root)
    card = await meeting.seen("Step 05-01: Plan")
    asked = re.findall(r"(?m)^\d+\. (.*) \(`[^`]*`\)$", card.text)
    await meeting.finish_step()
    await meeting.slack.settled()
    return asked


def _check_plan(meeting: Meeting, asked: list[str]) -> None:
    """The plan says what the specification and the other files say: ids, titles, priorities, counts."""
    folder = meeting.folder / "planning"
    plan = json.loads((folder / "planning.ai.json").read_text())
    page = (folder / "plan.md").read_text()
    requirements = (meeting.folder / "requirements-spec.md").read_text()
    entries = {one["id"]: one for one in _entries(meeting)}
    words = {
        id: {name: claims[-1]["value"] for name, claims in entry["claims"].items()}
        for id, entry in entries.items()
    }
    tasks, criteria = plan["work"]["tasks"], plan["acceptance_criteria"]

    titles = dict(re.findall(r"(?m)^### (FR-\d+): (.*)$", requirements))
    assert {one["id"]: one["title"] for one in tasks} == titles
    found = dict(re.findall(r"(?m)^- (AC-\d+-\d+): (.*?)(?: _\(.*\)_)?$", requirements))
    assert {one["id"] for one in criteria} == set(found)
    for one in criteria:
        assert one["description"] == words[one["id"]]["text"]
        owner = entries[one["id"]]["part_of"]
        assert one["must_have"] is (words[owner]["priority"] == "must")
    assert {one["id"]: one["description"] for one in plan["risks"]} == {
        id: words[id]["text"] for id, entry in entries.items() if entry["kind"] == "risk"
    }
    assert {one["path"] for one in plan["file_plan"]} == {
        words[id]["path"]
        for id, entry in entries.items()
        if entry["kind"] == "file" and words[id]["tier"] == "1"
    }, "the others are only affected"
    traced = {id for part in (*tasks, *criteria, *plan["file_plan"]) for id in part["traces"]}
    assert traced <= set(entries)
    for one in (*tasks, *criteria, *plan["risks"]):
        assert one["id"] in page
    assert all(title in page for title in titles.values())
    left_open = [note["text"] for note in plan["notes"] if note["kind"] == "open_question"]
    assert set(asked) <= set(left_open)


async def _step(meeting: Meeting, step_id: str) -> None:
    await meeting.seen(f"Step {step_id}:")
    await meeting.do_step(*ANSWERS.get(step_id, (f"What we know about {step_id}: it has to be simple.",)))


async def _phase(meeting: Meeting, step_ids: list[str], *, first: str) -> None:
    """All steps of a phase, up to its menu."""
    for step_id in step_ids:
        if step_id != first:
            await meeting.press("continue")
        await _step(meeting, step_id)


async def _elaborated(meeting: Meeting, step_id: str) -> None:
    """The step, then a discussion of it in which a person decides something, and the same menu again."""
    await _step(meeting, step_id)
    await meeting.discuss()
    await meeting.seen("We just covered")
    await meeting.say(f"We decided: {step_id} stays small because time is short.", who="linus")
    await meeting.slack.settled()
    await meeting.press("end_elaboration")
    synthesis = await meeting.seen(f"Elaboration Insights (Step {step_id}")
    await meeting.menu("continue", since=synthesis.ts)


SKIPPED = ["02-02", "02-03", "02-04"]


def _check_meta(meeting: Meeting) -> None:
    meta = meeting.meta
    assert meta["analysis_status"] == "analyzed"
    assert len(meta["phases_completed"]) == 5
    assert len(meta["steps_completed"]) == len(set(meta["steps_completed"])) == 24 - len(SKIPPED)
    assert not set(SKIPPED) & set(meta["steps_completed"])
    assert [record["step_id"] for record in meta["elaborations"]] == ["01-01", "02-01"]
    assert meta["slack"]["thread_ts"] == meeting.root


def _check_artifacts(meeting: Meeting) -> None:
    requirements = (meeting.folder / "requirements-spec.md").read_text()
    headings = [line for line in requirements.splitlines() if line.startswith("## ")]
    assert [heading[3] for heading in headings if "Not settled" not in heading] == list("12345678")
    assert "FR-001" in requirements
    assert requirements.count("<!-- Elaboration: step 01-01,") == 1

    stories = json.loads((meeting.folder / "user-stories.json").read_text())
    assert [(story["role"], story["traces"]) for story in stories] == [("field worker", ["FR-001"])]
    with (meeting.folder / "traceability-matrix.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    found = dict(re.findall(r"(?ms)^### (FR-\d+): .*?^- Priority: (\w+)$", requirements))
    assert found == {"FR-001": "must", "FR-002": "should"}
    assert {row["FR_ID"]: row["Priority"] for row in rows} == found
    assert dict(re.findall(r"(?m)^\| (FR-\d+) \| .* \| (\w+) \|  \|$", requirements)) == found

    titles = dict(re.findall(r"(?m)^### (FR-\d+): (.*)$", requirements))
    assert {row["FR_ID"]: row["Title"] for row in rows} == titles
    assert dict(re.findall(r"(?m)^\| (FR-\d+) \| (.*?) \|", requirements)) == titles
    for row in rows:
        criteria = re.findall(rf"(?m)^- AC-{row['FR_ID'][3:]}-\d\d: ", requirements)
        assert int(row["AC_Count"]) == len(criteria)
        named = [story["id"] for story in stories if row["FR_ID"] in story["traces"]]
        assert row["User_Stories"] == "; ".join(named)

    entries = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    kinds = Counter(entry["kind"] for entry in entries)
    assert kinds["requirement"] == len(titles)
    for name, kind in COUNTED.items():
        counts = {
            int(count)
            for path in meeting.folder.glob("*.md")
            for count in re.findall(rf"(?m)^- (\d+) {name}$", path.read_text())
        }
        assert counts == {kinds[kind]}, name

    matrix = (meeting.workspace / "docs" / "common" / "nfr-matrix.md").read_text()
    assert set(re.findall(r"60 seconds for 95% of edits", matrix + requirements)) == {
        "60 seconds for 95% of edits"
    }
    assert "NFR-001" in matrix
    assert "NFR-001" in requirements
    _check_sources(meeting, entries)
    for path in meeting.folder.rglob("*.md"):
        placeholders = set(re.findall(r"\{\w+\}", path.read_text())) - {"{id}"}
        assert not placeholders, path.name


def _check_sources(meeting: Meeting, entries: list[dict[str, Any]]) -> None:
    """Every claim names the line that it comes from, and whoever said it."""
    lines = {line.message_id: line for line in meeting.transcript.lines}
    for entry in entries:
        for field, claims in entry["claims"].items():
            for claim in claims:
                assert claim["line"] in lines, (entry["id"], field)
                line = lines[claim["line"]]
                whose = claim.get("said") or claim["proposed"]
                assert whose["name"] in {line.meta.get("user_name"), line.meta.get("persona_name"), "the bot"}


def _check_transcript(meeting: Meeting) -> None:
    transcript = meeting.transcript
    assert transcript.flaws == ()
    rounds = [line.round for line in transcript.lines]
    assert rounds == sorted(rounds)
    assert transcript.lines[-1].phase == "review_ready"

    said = [message.ts for message in meeting.thread if not message.by_bot]
    heard = [line.meta["message_ts"] for line in transcript.lines if line.source is Source.USER]
    assert heard == said
    assert {line.meta["user_name"] for line in transcript.lines if line.source is Source.USER} == {
        "Grace",
        "Linus",
    }


def _check_history(meeting: Meeting) -> None:
    steps = meeting.git("log", "--reverse", "--format=%(trailers:key=Roundtable-Step,valueonly,separator=)")
    finished = [step for step in steps.splitlines() if step]
    assert sorted(finished) == sorted([*meeting.meta["steps_completed"], "01-01", "02-01"])
    assert meeting.git("status", "--porcelain") == ""
    assert meeting.git("fsck") == ""
    subjects = meeting.subjects()
    assert "roundtable(offline-sync): step 01-03 User Experience & Journeys" in subjects
    assert "roundtable(offline-sync): elaboration 01-01 Business Context Discovery" in subjects


MOST_POSTS = 20
"""Of the bot, in 13 steps outside their discussions."""
MOST_WITH_DISCUSSIONS = 30
"""With two of them; roll calls and deadlines apart."""


async def test_thirteen_steps_and_two_discussions_of_three_people_make_few_posts(meeting: Meeting) -> None:
    """
    One card a step, one and its opening a discussion. Everything else is an edit, a reaction, or seen by one person:
    what people say and press, their decisions and objections.
    """
    discussed = ("01-05", "02-01")
    in_discussions = await _thirteen_steps(meeting, discussed)
    posts = _posts(meeting)

    assert [record["step_id"] for record in meeting.meta["elaborations"]] == [*discussed]
    kinds = [entry["kind"] for entry in _entries(meeting)]
    assert kinds.count("decision") == 2
    assert kinds.count("objection") == 2
    assert len(posts) - in_discussions <= MOST_POSTS, posts
    assert len(posts) <= MOST_WITH_DISCUSSIONS, posts


def _posts(meeting: Meeting) -> list[str]:
    return [message.text[:80] for message in meeting.thread if message.by_bot]


def _entries(meeting: Meeting) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    return entries


async def _thirteen_steps(meeting: Meeting, discussed: Collection[str]) -> int:
    """How many posts the bot made in discussions."""
    made = 0
    steps = [*(f"00-0{number}" for number in range(1, 4)), *(f"01-0{number}" for number in range(1, 9))]
    async with meeting.bot():
        await meeting.start("Offline sync")
        for step_id in [*steps, "02-01", "02-02"]:
            await meeting.seen(f"Step {step_id}:")
            for who in ("ada", "grace", "linus"):
                await meeting.say(f"{who} adds to {step_id} that it has to be simple.", who=who)
            await meeting.do_step(*ANSWERS.get(step_id, ()))
            if step_id in discussed:
                before = len(_posts(meeting))
                await _discussed(meeting, step_id)
                made += len(_posts(meeting)) - before
            if step_id != "02-02":
                await meeting.press("continue")
                await meeting.slack.settled()
                if step_id in {"00-03", "01-08"}:
                    await meeting.press("continue")

    assert len(meeting.meta["steps_completed"]) == 13
    return made


async def _discussed(meeting: Meeting, step_id: str) -> None:
    """Options, positions, an objection and its answer, a decision; then the end, and the same menu again."""
    await meeting.discuss()
    await meeting.seen("We just covered")
    await meeting.say(f"option: one queue for {step_id}", who="ada")
    await meeting.say("option: two queues", who="grace")
    await meeting.say("for A", who="linus")
    await meeting.say("One queue is easier to watch at night.", who="linus")
    await meeting.say(f"objection: one queue of {step_id} stops when it is full", who="grace")
    await meeting.slack.settled()
    await meeting.say("for A", who="grace")
    await meeting.say(f"decision: one queue for {step_id}", who="ada")
    await meeting.slack.settled()
    await meeting.press("end_elaboration")
    synthesis = await meeting.seen(f"Elaboration Insights (Step {step_id}")
    await meeting.menu("continue", since=synthesis.ts)
