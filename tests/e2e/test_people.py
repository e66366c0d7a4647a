"""People in the record (ADR 53): ids in lines, names in one file, and the same people after everything else is lost."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any

from bot.cli import replay
from bot.domain.transcript.lines import Source
from tests.e2e.meeting import Meeting, settings

OF_SLACK = re.compile(r"\b[UW]0[A-Z0-9]+\b")
NAMES = re.compile(r"\b(Ada|Grace|Linus)\b", re.IGNORECASE)
"""Handles, too."""
WORDS = frozenset({"content", "words", "text", "title", "quote", "what", "why", "reason"})
"""What people and personas wrote, and what was made of it."""


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each text with the names of the fields that it stands in."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from texts(one, f"{path}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, path)


def rows(meeting: Meeting) -> list[dict[str, Any]]:
    text = (meeting.folder / "planning/meeting.jsonl").read_text()
    return [json.loads(row) for row in text.splitlines()]


async def played(meeting: Meeting) -> None:
    """A step and a discussion, in which people speak, press, edit, name each other and decide."""
    await meeting.start("Offline sync")
    said = await meeting.say("Field workers lose their edits. Ask <@U0LINUS0>, Scope: small")
    await meeting.slack.settled()
    await meeting.slack.person("grace").edit(said, "Field workers lose their edits in tunnels. Scope: small")
    await meeting.say("requirement: Changes merge per field\nAC: the engineer is asked", who="grace")
    await meeting.say("question: Who signs? owner: Grace", who="linus")
    await meeting.slack.settled()
    await meeting.finish_step()
    await meeting.press("elaborate", who="linus")
    await meeting.menu("end_elaboration")
    await meeting.say("conflicts: keep both edits", who="grace")
    await meeting.slack.settled()
    await meeting.say("decision: a queue keeps them; decided by: Grace", who="ada")
    await meeting.slack.settled()
    await meeting.press("end_elaboration", who="grace")
    await meeting.menu("continue")
    await meeting.go_on()
    await meeting.slack.settled()


async def test_no_field_has_an_id_of_slack_or_a_name(meeting: Meeting) -> None:
    """Only people.json, generated files and what people and personas wrote have names."""
    async with meeting.bot():
        await played(meeting)

    lines = rows(meeting)
    fields = [
        (path, text)
        for line in lines
        for path, text in texts(line)
        if path.rpartition(".")[2] not in WORDS or (path == ".content" and line["source"] == "system")
    ]
    everything = [*fields, *texts(meeting.meta)]
    assert [one for one in everything if OF_SLACK.search(one[1]) or NAMES.search(one[1])] == []
    assert not OF_SLACK.search((meeting.folder / "specification.json").read_text())
    assert not OF_SLACK.search(json.dumps(lines))
    known = json.loads((meeting.folder.parent / "people.json").read_text())["people"]
    people = {meeting.person(name.lower()): {"name": name} for name in ("Ada", "Grace", "Linus")}
    assert known == dict(sorted(people.items()))
    assert {line["meta"]["person"] for line in lines if line["source"] == Source.USER} == set(people)


async def test_the_same_people_go_on_after_the_store_and_the_clone_are_lost(
    meeting: Meeting, tmp_path: Path
) -> None:
    """Who began it, who said what, and who may change it; and who has no key finds every file as the lines say."""
    async with meeting.bot():
        await played(meeting)
        said = await meeting.say("Devices are offline for days.")
        await meeting.slack.settled()
        await meeting.finish_step()
        await meeting.slack.settled()
    before = meeting.meta["slack"]["started_by"]
    rmtree(meeting.workspace / ".roundtable")
    fresh = tmp_path / "fresh"
    meeting.git("clone", "--quiet", str(meeting.workspace), str(fresh))
    meeting.workspace = fresh
    async with meeting.bot():
        await meeting.slack.person("ada").slash("#roundtable", f"/roundtable resume {meeting.slug}")
        await meeting.menu("finish_step")
        await meeting.slack.person("grace").edit(said, "Devices are offline for weeks.")
        await meeting.slack.settled()
        await meeting.do_step("The clerks decide.")

    assert meeting.meta["slack"]["started_by"] == before == meeting.person("ada")
    spoken = {line.person for line in meeting.lines("User")}
    assert spoken == {meeting.person(who) for who in ("ada", "grace", "linus")}
    [edit] = [line for line in meeting.lines("User") if line.content == "Devices are offline for weeks."]
    assert edit.person == meeting.person("grace")
    own = settings(meeting.slack, meeting.workspace)
    item = replay.item(own, meeting.slug)
    assert [str(one) for one in replay.verified(item, playbook=replay.playbook(own))] == []
