"""Issues of GitHub: a roundtable begins on one, and pieces of work become some. A kill between creates no second."""

import hmac
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from bot.domain.item.item import item_from
from bot.engine import performers
from bot.integrations import github as github_issues
from tests.command_line import CommandLine
from tests.durability.mortal import mortal
from tests.e2e.meeting import CHANNEL, SHORT_PATH, Meeting
from tests.e2e.test_short_path import CARDS, go_on
from tests.integrations.strict_github import TOKEN, Failure, StrictGitHub, strict_github

TEXT = """We fall over. <!-- not a comment -->

## Functional requirements

- **FR-007** A limit for each client

## Out of scope

- Billing
"""
FIRST = "https://github.com/acme/api/issues/1"
SECRET = "the-secret-of-the-webhook"


@pytest.fixture
def steps() -> str:
    return SHORT_PATH["ROUNDTABLE_STEPS"]


def with_key(github: StrictGitHub) -> dict[str, str]:
    return {
        **SHORT_PATH,
        "ROUNDTABLE_GITHUB": "acme/api",
        "ROUNDTABLE_GITHUB_KEY": TOKEN,
        "ROUNDTABLE_GITHUB_URL": github.url,
    }


def entries(meeting: Meeting) -> dict[str, dict[str, Any]]:
    text = (meeting.folder / "specification.json").read_text()
    return {one["id"]: one for one in json.loads(text)["entries"]}


# --- a roundtable begins on an issue ----------------------------------------------------------------------------------


async def test_an_issue_gives_its_title_its_text_and_proposals(meeting: Meeting) -> None:
    """A proposal names the address, the lines and the time. A second start by another name links to the thread."""
    async with strict_github() as github:
        github.add("acme/api#42", "Rate limiting of the API", TEXT, labels=[{"name": "api"}])
        github.comment("Also *us* <b>", by="octo-bob")
        address = f"{github.url}/acme/api/issues/42"
        item = item_from(address)
        meeting.more = with_key(github)
        async with meeting.bot():
            await meeting.start(address, slug=item.slug)
            told = await meeting.seen("I have read")
            again = await meeting.slack.person("grace").slash(CHANNEL, "/roundtable start acme/api#42")
            await meeting.do_step("Nothing here.")
            await meeting.slack.settled()

    assert len(github.asked) == 2
    assert "There is a roundtable on *Rate limiting of the API*" in again.response["text"]
    assert "Rate limiting of the API" in meeting.thread[0].text
    assert meeting.meta["description"] == "Rate limiting of the API"
    assert (meeting.meta["source"], meeting.meta["source_id"]) == ("github", item.source_id)
    draft = (meeting.folder / "draft.md").read_text()
    assert "By octo-ada, open, api, as of 2026-11-24T09:30:00Z:\n\n> We fall over. &lt;!-- not" in draft
    assert (
        "**octo-bob**, 2026-11-24T09:00:00Z, <https://github.com/acme/api/issues/42#issuecomment-7>" in draft
    )
    assert told.text == (
        f"I have read `{item.source_id}` (2026-11-24T09:30:00Z). Its text is in `draft.md`. Proposed: FR-007 and"
        " OUT-001. It counts when somebody accepts it."
    )
    (claim,) = entries(meeting)["FR-007"]["claims"]["title"]
    assert claim["value"] == "A limit for each client"
    assert claim["sources"] == ["https://github.com/acme/api/issues/42:5@2026-11-24T09:30:00Z"]
    assert (claim["proposed"]["kind"], claim["proposed"]["name"]) == ("git", item.source_id)
    assert "accepted" not in claim


async def test_an_issue_that_github_gave_too_late_is_read_by_a_press(
    meeting: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The roundtable began without it. While GitHub is away it is tried again, and nothing else waits."""
    monkeypatch.setattr(performers, "TRACKER_WAIT_SECONDS", 0.2)
    async with strict_github() as github:
        github.add("acme/api#42", "Rate limiting of the API", TEXT)
        github.failures = [Failure(404)]
        meeting.more = with_key(github)
        address = f"{github.url}/acme/api/issues/42"
        async with meeting.bot():
            await meeting.start(address, slug=item_from(address).slug)
            github.failures = [Failure(429, {"Retry-After": "1"})]
            await meeting.press("read_issue")
            told = await meeting.seen("I have read")
            await meeting.slack.settled()

    assert "Proposed: FR-007 and OUT-001." in told.text
    assert "> We fall over." in meeting.git("show", f"HEAD:docs/requirements/{meeting.slug}/draft.md")


async def test_without_a_key_one_sentence_says_so(meeting: Meeting) -> None:
    async with meeting.bot():
        told = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start acme/api#42")
        await meeting.until(lambda: meeting.slack.messages(CHANNEL))

    assert told.response["text"] == (
        "I have not read acme/api#42: no key for GitHub is set (ROUNDTABLE_GITHUB_KEY)."
    )
    assert "acme/api#42" in meeting.slack.messages(CHANNEL)[0].text


async def test_a_number_alone_is_read_in_the_only_repository(meeting: Meeting) -> None:
    """It is the item that the whole name means; an item that was begun as `#7` is found again as such."""
    async with strict_github() as github:
        github.add("acme/api#42", "Rate limiting of the API", TEXT)
        async with meeting.bot():
            await meeting.start("#7", slug="gh-7")
        meeting.more = with_key(github)
        async with meeting.bot():
            grace = meeting.slack.person("grace")
            found = await grace.slash(CHANNEL, "/roundtable start #7")
            meeting.slug = item_from(f"{github.url}/acme/api/issues/42").slug
            await grace.slash(CHANNEL, "/roundtable start #42")
            await meeting.until(lambda: "Rate limiting of the API" in str(meeting.slack.messages(CHANNEL)))
            again = await grace.slash(CHANNEL, "/roundtable start acme/api#42")
            await meeting.slack.settled()

    assert "There is a roundtable on *GH-7*" in found.response["text"]
    assert "There is a roundtable on *Rate limiting of the API*" in again.response["text"]


@pytest.mark.parametrize("repositories", ["acme/api,acme/web", ""])
async def test_a_number_that_names_no_repository_is_told(meeting: Meeting, repositories: str) -> None:
    """To the person who started, in one sentence; the roundtable begins without it."""
    async with strict_github() as github:
        github.add("acme/api#42", "Rate limiting of the API", TEXT)
        meeting.more = {**with_key(github), "ROUNDTABLE_GITHUB": repositories}
        async with meeting.bot():
            told = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start #42")
            await meeting.until(lambda: meeting.slack.messages(CHANNEL))

    assert told.response["text"] == (
        "I have not read #42: it names no repository. Say it as OWNER/REPOSITORY#42."
    )
    assert "GH-42" in meeting.slack.messages(CHANNEL)[0].text
    assert not github.asked


# --- pieces of work become issues -------------------------------------------------------------------------------------


async def to_the_end(meeting: Meeting) -> None:
    await meeting.start("Guest checkout")
    for answers in CARDS:
        for answer in answers:
            await meeting.say(answer)
        await go_on(meeting)
    await meeting.seen("Analysis complete.")


async def create(meeting: Meeting) -> None:
    await meeting.press("issues")
    await meeting.submit(work=["WRK-001"])


async def test_work_becomes_an_issue_and_its_state_comes_back(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    """After a restart the same press renews what we wrote there, and keeps what people wrote around it."""
    async with strict_github() as github:
        meeting.more = with_key(github)
        async with meeting.bot():
            await to_the_end(meeting)
            await create(meeting)
            await meeting.seen("Ada created 1 issue: acme/api#1 (WRK-001).")
            await meeting.until(lambda: "acme/api#1 open" in str(meeting.thread[-1].blocks) + _cards(meeting))
            await meeting.slack.settled()
        (issue,) = github.of("acme/api")
        issue["body"] = f"Above.\n{issue['body']}"
        async with meeting.bot():
            await create(meeting)
            await meeting.until(lambda: len([one for one in github.asked if one.startswith("GET")]) > 1)
            await meeting.slack.settled()

    assert issue["title"] == "The form"
    assert issue["body"].startswith("Above.\n<!-- roundtable guest-checkout/WRK-001 ")
    (claim,) = entries(meeting)["WRK-001"]["claims"]["issue"]
    assert (claim["value"], claim["accepted"]["name"]) == (FIRST, "Ada")
    assert "acme/api#1" in (meeting.folder / "brief.md").read_text()
    assert FIRST in (meeting.folder / "impact-analysis.md").read_text()
    env = {"ROUNDTABLE_WORKSPACE": str(meeting.workspace)}
    assert FIRST in (await loaded.run(tmp_path, "show", "guest-checkout/WRK-001", **env)).out
    assert TOKEN not in meeting.git("log", "-p", "--all")
    assert len(github.of("acme/api")) == 1


def github_says(body: bytes, *, secret: str = SECRET, event: str = "issues") -> dict[str, str]:
    """Headers of a delivery."""
    signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
    return {
        "X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Event": event, "X-GitHub-Delivery": str(uuid4()),
        "Content-Type": "application/json",
    }  # fmt: skip


async def test_what_github_tells_is_read_at_once(meeting: Meeting, port: int) -> None:
    """Only what is signed, and only of issues that the bot made."""
    address = f"http://127.0.0.1:{port}/github"
    async with strict_github() as github, aiohttp.ClientSession() as http:
        meeting.more = {**with_key(github), "ROUNDTABLE_PORT": str(port), "ROUNDTABLE_GITHUB_SECRET": SECRET}

        async def post(body: bytes, headers: dict[str, str]) -> int:
            async with http.post(address, data=body, headers=headers) as answer:
                return answer.status

        async with meeting.bot():
            await to_the_end(meeting)
            await create(meeting)
            await meeting.until(lambda: "acme/api#1 open" in _cards(meeting))
            github.close("acme/api#1")
            asked = len(github.asked)
            (issue,) = github.of("acme/api")
            told = json.dumps({"action": "closed", "issue": issue}).encode()
            others = json.dumps({"issue": {**issue, "body": "No words of ours."}}).encode()
            assert [
                await post(told, github_says(told, secret="another secret")),
                await post(told + b" ", github_says(told)),
                await post(told, {}),
                await post(b"[]", github_says(b"[]")),
                await post(b"{}", github_says(b"{}", event="ping")),
                await post(others, github_says(others)),
            ] == [401, 401, 401, 400, 204, 204]
            assert len(github.asked) == asked
            assert await post(told, github_says(told)) == 204
            await meeting.until(lambda: "acme/api#1 closed" in _cards(meeting))


async def test_a_github_that_is_away_holds_nothing_up(
    meeting: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue waits in the outbox, and people go on. It was created at the first attempt, whose answer was lost."""
    monkeypatch.setattr(performers, "TRACKER_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(github_issues, "CALL_SECONDS", 1.0)
    async with strict_github() as github:
        meeting.more = with_key(github)
        async with meeting.bot():
            await to_the_end(meeting)
            github.drops_answer = True
            later = [Failure(502), Failure(429, {"Retry-After": "1"})]
            github.after_create = lambda: github.failures.extend(later)
            await create(meeting)
            await meeting.seen("Ada created 1 issue: acme/api#1 (WRK-001).")
            await meeting.slack.settled()

    assert len(github.of("acme/api")) == 1
    assert github.failures == []


def _cards(meeting: Meeting) -> str:
    return str([one.blocks for one in meeting.thread])


@pytest.mark.parametrize("is_answered", [False, True], ids=["killed before the answer", "killed after it"])
async def test_a_killed_bot_creates_no_second_issue(tmp_path: Path, is_answered: bool) -> None:  # noqa: FBT001
    """By SIGKILL after GitHub has created the issue, and before that was saved."""
    async with strict_github() as github, mortal(tmp_path) as bot:
        await bot.live(**with_key(github))
        await to_the_end(bot.meeting)
        await bot.at_rest()

        def kill() -> None:
            github.after_create = lambda: None
            github.drops_answer = not is_answered
            assert bot.process
            bot.process.kill()

        github.after_create = kill
        await create(bot.meeting)
        await bot.dead()
        assert len(github.of("acme/api")) == 1

        await bot.live(**with_key(github))
        await bot.meeting.seen("Ada created 1 issue: acme/api#1 (WRK-001).")
        await bot.at_rest()
        assert len(github.of("acme/api")) == 1
        assert [one for one in github.asked if one.startswith("POST")] == ["POST /repos/acme/api/issues"]
