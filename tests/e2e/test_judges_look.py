"""A team with a model: a reviewer looks at the code, and people see what it rests on."""

import json
import re
from collections.abc import Iterator

from aiohttp import web

from tests.e2e.meeting import Meeting
from tests.e2e.test_planning import planned
from tests.voices.models.provider import Answer, Called, Json, ModelServer, Reply, says

CODE = "def retry():\n    wait(60)  # 60 seconds, api_key=sk-ant-0123456789abcdef0123456789abcdef\n"
SAID = "The retry waits 60 seconds, and that is too long."
QUOTED = "wait(60) # 60 seconds"
FORGED = "src/mail.py:7@1a2b3c4"
_SHOWN = re.compile(r"src/sync\.py:2@[0-9a-f]{7}")
REVIEWED = "Review these files of one piece of work"


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(one)


def looks_and_cites(asked: list[str]) -> Reply:
    """Searches once in each turn, and cites what it was shown and what it made up."""

    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        words = "\n".join(strings(body["messages"]))
        asked.append(words)
        shown = _SHOWN.search(words)
        if not shown and REVIEWED in words:
            return await says(Answer("", calls=(Called("search_code", {"words": "wait"}),)))(request, body)
        quotes = [{"line": one, "words": QUOTED} for one in (shown[0] if shown else "", FORGED)]
        finding = {
            "severity": "critical",
            "file": "planning/plan.md",
            "line": 1,
            "text": SAID,
            "quotes": quotes,
        }
        told = {"findings": [finding]}
        return await says(Answer(json.dumps(told)))(request, body)

    return reply


async def test_reviewers_look_and_people_see_what_it_rests_on(meeting: Meeting) -> None:
    """In the review and for who reads it; nothing comes of a verdict."""
    meeting.workspace.mkdir()
    meeting.git("init", "--quiet", "--initial-branch=main")
    (meeting.workspace / "src").mkdir()
    (meeting.workspace / "src" / "sync.py").write_text(CODE)
    meeting.git("add", ".")
    meeting.git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "-m", "Wait")
    asked: list[str] = []
    async with ModelServer() as server:
        server.will(looks_and_cites(asked))
        meeting.more = {
            "ROUNDTABLE_MODEL": "ollama:small",
            "OLLAMA_BASE_URL": f"{server.url}/v1",
            "ROUNDTABLE_FILE_URL": "https://code.example/{path}",
        }
        async with meeting.bot():
            await planned(meeting)
            await meeting.finish_step()
            await meeting.slack.settled()
        async with meeting.bot():
            await meeting.slack.person("ada").mention("#roundtable", "review by Alex", thread_ts=meeting.root)
            line = await meeting.seen("*Review 1*")
            before = meeting.meta
            await meeting.press_in(line, "findings", who="grace")
            await meeting.until(lambda: meeting.slack.person("grace").ephemerals)
            await meeting.slack.settled()

    last = next(found[0] for found in map(_SHOWN.search, reversed(asked)) if found)
    assert last.rpartition("@")[2] in meeting.git("log", "--format=%h", "--abbrev=7").splitlines()
    review = (meeting.folder / "reviews" / "review-001.md").read_text()
    assert f"{SAID} (`{last}`)" in review
    assert f"Left out: {FORGED} (this source was not shown)" in review
    (read,) = meeting.slack.person("grace").ephemerals
    assert last in read.text
    assert "sk-ant-0123" not in review + read.text + "".join(asked) + str(meeting.transcript)
    assert meeting.meta == before
