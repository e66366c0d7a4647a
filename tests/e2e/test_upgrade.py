"""
An update in the middle of things: the code of the last release plays with people, from outside, and ours goes on.

Until there is a release, `upgrade_from.txt` names the commit that stands for it. It runs with the dependencies of
now, so a change of them moves it. That `replay --verify` holds afterwards is asked of every item here (`conftest.py`).
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from bot.storage.serialization import SHAPE
from slack_sandbox import App, Sandbox
from tests import stored
from tests.e2e.meeting import Meeting
from tests.e2e.test_operating import IMPATIENT, ROOT, Bot, bot
from tests.e2e.test_planning import planned

FROM = Path(__file__).with_name("upgrade_from.txt")


def _git(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, check=False)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of the last release."""
    tag = _git("describe", "--tags", "--abbrev=0", "--match", "v*").stdout.decode().strip()
    archive = _git("archive", tag or FROM.read_text("ascii").strip())
    if archive.returncode:
        pytest.skip("this clone does not have the commit to update from: fetch its history")
    root = tmp_path_factory.mktemp("earlier")
    subprocess.run(["tar", "--extract", "--directory", root], input=archive.stdout, check=True)
    return root


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    async with Sandbox(timing=IMPATIENT, app=App()) as slack:
        yield Meeting(slack, tmp_path / "workspace")


@pytest.fixture(params=["file", "redis"])
def where(request: pytest.FixtureRequest) -> dict[str, str]:
    """Both stores."""
    return {"REDIS_URL": request.getfixturevalue("redis_url")} if request.param == "redis" else {}


@asynccontextmanager
async def running(meeting: Meeting, *root: Path, **where: str) -> AsyncIterator[Bot]:
    """The code in *root*, or ours, from when it listens until it has done what was asked, and stops."""
    async with bot(meeting.slack, meeting.workspace, *root, **where) as one:
        await one.says("is listening")
        yield one
        await meeting.slack.settled()
        assert await one.stop() == 0


def check_words(meeting: Meeting, *words: str, lines: Sequence[str] = ()) -> None:
    """Each is once in the transcript (or *lines* are) and in a file, and nothing was posted twice."""
    assert [line.content for line in meeting.lines("User")] == list(lines or words)
    files = "".join(path.read_text() for path in meeting.folder.rglob("*.md"))
    assert all(one in files for one in words)
    posted = [str(message.metadata["event_payload"]) for message in meeting.thread if message.by_bot]
    assert len(posted) == len(set(posted))


def test_the_earlier_code_is_run(earlier: Path) -> None:
    """Or nothing below would show anything."""
    ran = subprocess.run(
        [sys.executable, "-c", "import bot; print(bot.__file__)"],
        cwd=earlier,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(ran.stdout.strip()).parent.parent == earlier


async def test_a_step_with_words_that_are_not_committed(
    meeting: Meeting, earlier: Path, where: dict[str, str]
) -> None:
    """The process is killed; what people said is saved with the step by the next version."""
    async with bot(meeting.slack, meeting.workspace, earlier, **where) as old:
        await old.says("is listening")
        await meeting.start("Offline sync")
        await meeting.say("Field workers lose their edits")
        await meeting.slack.settled()
        old.running.kill()
        await old.ended()

    async with running(meeting, **where):
        await meeting.say("Tunnels are long", who="linus")
        await meeting.slack.settled()
        await meeting.finish_step()
        await meeting.press("continue")
    check_words(meeting, "Field workers lose their edits", "Tunnels are long")


async def test_a_menu(meeting: Meeting, earlier: Path, where: dict[str, str]) -> None:
    """What people add to a step that the earlier version finished is saved with it when somebody goes on."""
    async with running(meeting, earlier, **where):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.say("Photos of meters, too")
    done = meeting.meta["steps_completed"]

    async with running(meeting, **where):
        await meeting.say("Tunnels are long", who="linus")
        await meeting.slack.settled()
        await meeting.press("continue")
        await meeting.menu("finish_step")
    assert meeting.meta["steps_completed"] == done, "no step is skipped"
    check_words(meeting, "Field workers lose their edits", "Photos of meters, too", "Tunnels are long")


async def test_a_sealed_position(meeting: Meeting, earlier: Path, where: dict[str, str]) -> None:
    """It stays sealed over the update, and is shown with the next one, as it was given."""
    grace = meeting.slack.person("grace")
    async with running(meeting, earlier, **where):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.press("elaborate")
        await meeting.menu("end_elaboration")
        await meeting.say("option: a queue on the device")
        await meeting.menu("stand")
        await meeting.seal_position(position="A", why="it survives tunnels")
        await meeting.seen("*In:* Ada")

    async with running(meeting, **where):
        await meeting.press("sealed", who="grace")
        await meeting.until(lambda: grace.view is not None)
        assert "it survives tunnels" not in str([one.text for one in meeting.thread])
        await grace.submit({"roundtable.position": "A", "roundtable.sure": "low"})
        await meeting.seen("it survives tunnels")
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
    given = [line.content for line, made in meeting.made("position") if "sure" in made]
    assert given == [
        "Ada is for A, fairly sure: a queue on the device. Why: it survives tunnels",
        "Grace is for A, not sure: a queue on the device.",
    ]
    lines = ["Field workers lose their edits", "option: a queue on the device", *given]
    check_words(meeting, lines[0], "a queue on the device", "it survives tunnels", lines=lines)


async def test_a_discussion(meeting: Meeting, earlier: Path, where: dict[str, str]) -> None:
    """It ends in the next version, with the turns of both."""
    async with running(meeting, earlier, **where):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.press("elaborate")
        await meeting.menu("end_elaboration")
        await meeting.say("Alex, what about conflicts?")

    async with running(meeting, **where):
        await meeting.say("A queue keeps the order", who="linus")
        await meeting.slack.settled()
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
    check_words(
        meeting, "Field workers lose their edits", "Alex, what about conflicts?", "A queue keeps the order"
    )


async def test_planning(meeting: Meeting, earlier: Path, where: dict[str, str]) -> None:
    """A plan is finished in the next version, with the answers that the earlier one heard."""
    async with running(meeting, earlier, **where):
        await planned(meeting)
        await meeting.say("requirement: Export all rows")

    async with running(meeting, **where):
        await meeting.say("requirement: Say how many rows", who="linus")
        await meeting.slack.settled()
        await meeting.finish_step()
    page = (meeting.folder / "planning" / "plan.md").read_text()
    assert "Export all rows" in page
    assert "Say how many rows" in page


async def test_a_state_in_another_form_is_refused_in_one_sentence_and_rebuilt(meeting: Meeting) -> None:
    """With another number of its shape. The item goes on from git, with the words of its thread."""
    async with running(meeting):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
    whole = stored.in_file(meeting.workspace, meeting.slug)
    stored.rewrite_file(meeting.workspace, meeting.slug, {**whole, "shape": SHAPE - 1})

    async with running(meeting) as new:
        await meeting.say("Tunnels are long", who="linus")
        await new.says("an earlier version saved it, in another form")
        await meeting.until(lambda: len(meeting.menus("continue")) > 0)
    assert not any("Traceback" in line for line in new.said), "".join(new.said)
    assert "Field workers lose their edits" in [line.content for line in meeting.lines("User")]


@pytest.mark.thorough
@pytest.mark.parametrize("is_update", [True, False], ids=["update", "back"])
async def test_both_versions_at_once(
    meeting: Meeting,
    earlier: Path,
    redis_url: str,
    is_update: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    """
    Replicas are replaced one by one, in the middle of a step and of a discussion: Slack delivers to both versions, the
    one that owns the team is stopped in the step and killed in the discussion, and the other one goes on.
    """
    words = list[str]()

    async def say_some(about: str) -> None:
        for number in range(4):
            words.append(f"{about} word {number}")
            await meeting.say(words[-1], who=("grace", "linus")[number % 2])
        await meeting.slack.settled()

    async with AsyncExitStack() as stack:

        async def starts(*, ours: bool) -> Bot:
            root = () if ours else (earlier,)
            one = await stack.enter_async_context(
                bot(meeting.slack, meeting.workspace, *root, REDIS_URL=redis_url)
            )
            await one.says("is listening")
            return one

        first = await starts(ours=not is_update)
        await first.says("this process owns")
        second = await starts(ours=is_update)
        await meeting.start("Offline sync")
        await say_some("First")
        stopping = asyncio.create_task(first.stop())
        await say_some("Second")
        assert await stopping == 0
        await second.says("this process owns")
        await meeting.finish_step()
        third = await starts(ours=not is_update)
        await meeting.press("elaborate")
        await meeting.menu("end_elaboration")
        await say_some("Third")
        second.running.kill()
        await second.ended()
        await say_some("Fourth")
        await third.says("this process owns")
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
        await meeting.slack.settled()
        assert await third.stop() == 0
    assert [line for one in (first, second, third) for line in one.said if "Traceback" in line] == []
    check_words(meeting, *words)
