"""
An update in the middle of things: the code of the last release plays with people, from outside, and ours goes on.

Until there is a release, `upgrade_from.txt` names the commit that stands for it. It runs with the dependencies of
now, so a change of them moves it. That `replay --verify` holds afterwards is asked of every item here (`conftest.py`).
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.storage.serialization import SHAPE
from slack_sandbox import App, Sandbox
from tests import stored
from tests.durability.processes import ROOT
from tests.e2e.meeting import Meeting
from tests.e2e.test_operating import IMPATIENT, Bot, bot
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


async def a_plan(meeting: Meeting) -> AsyncIterator[None]:
    """It is finished in the next version, with the answers that the earlier one heard."""
    await planned(meeting)
    await meeting.say("requirement: Export all rows")
    yield
    await meeting.say("requirement: Say how many rows", who="linus")
    await meeting.slack.settled()
    await meeting.finish_step()
    yield
    page = (meeting.folder / "planning" / "plan.md").read_text()
    assert "Export all rows" in page
    assert "Say how many rows" in page


async def a_step(meeting: Meeting) -> AsyncIterator[None]:
    """What people said, and what is in no commit, is saved with the step by the next version."""
    await meeting.start("Offline sync")
    await meeting.say("Field workers lose their edits")
    yield
    await meeting.say("Tunnels are long", who="linus")
    await meeting.slack.settled()
    await meeting.finish_step()
    await meeting.press("continue")
    yield
    check_words(meeting, "Field workers lose their edits", "Tunnels are long")


async def a_menu(meeting: Meeting) -> AsyncIterator[None]:
    """What people add to a step that the earlier version finished is saved with it when somebody goes on."""
    await meeting.start("Dark mode")
    await meeting.do_step("Field workers lose their edits")
    await meeting.say("Photos of meters, too")
    yield
    done = meeting.meta["steps_completed"]
    await meeting.say("Tunnels are long", who="linus")
    await meeting.slack.settled()
    await meeting.go_on()
    yield
    assert meeting.meta["steps_completed"] == done, "no step is skipped"
    check_words(meeting, "Field workers lose their edits", "Photos of meters, too", "Tunnels are long")


async def a_sealed_position(meeting: Meeting) -> AsyncIterator[None]:
    """It stays sealed over the update, and is shown with the next one, as it was given."""
    await meeting.start("Guest checkout")
    await meeting.do_step("Field workers lose their edits")
    await meeting.discuss()
    await meeting.say("option: a queue on the device")
    await meeting.menu("stand")
    await meeting.seal_position(position="A", why="it survives tunnels")
    await meeting.seen("*In:* Ada")
    yield
    assert "it survives tunnels" not in str([one.text for one in meeting.thread])
    await meeting.seal_position(who="grace", position="A", sure="low")
    await meeting.seen("it survives tunnels")
    await meeting.press("end_elaboration")
    await meeting.menu("continue")
    yield
    given = [line.content for line, made in meeting.made("position") if "sure" in made]
    assert given == [
        "Ada is for A, fairly sure: a queue on the device. Why: it survives tunnels",
        "Grace is for A, not sure: a queue on the device.",
    ]
    lines = ["Field workers lose their edits", "option: a queue on the device", *given]
    check_words(meeting, lines[0], "a queue on the device", "it survives tunnels", lines=lines)


async def a_discussion(meeting: Meeting) -> AsyncIterator[None]:
    """It ends in the next version, with the turns of both."""
    await meeting.start("Rate limiting")
    await meeting.do_step("Field workers lose their edits")
    await meeting.discuss()
    await meeting.say("Alex, what about conflicts?")
    yield
    await meeting.say("A queue keeps the order", who="linus")
    await meeting.slack.settled()
    await meeting.press("end_elaboration")
    await meeting.menu("continue")
    yield
    check_words(
        meeting, "Field workers lose their edits", "Alex, what about conflicts?", "A queue keeps the order"
    )


Situation = Callable[[Meeting], AsyncIterator[None]]
SITUATIONS = (a_plan, a_step, a_menu, a_sealed_position, a_discussion)
"""Each is at its first `yield` when the earlier version ends, and at its second when ours does."""


@pytest.mark.parametrize(
    ("situations", "is_killed"),
    [
        pytest.param(SITUATIONS, False, id="stopped"),
        pytest.param((a_step,), True, id="killed"),
    ],
)
async def test_what_is_under_way_goes_on(
    meeting: Meeting,
    earlier: Path,
    where: dict[str, str],
    situations: Sequence[Situation],
    *,
    is_killed: bool,
) -> None:
    under_way = [situation(Meeting(meeting.slack, meeting.workspace)) for situation in situations]
    for root in (earlier, ROOT):
        async with bot(meeting.slack, meeting.workspace, root, **where) as one:
            for situation in under_way:
                await anext(situation)
            await meeting.slack.settled()
            if is_killed and root == earlier:
                one.process.kill()
                assert await one.ended() == -signal.SIGKILL
            else:
                assert await one.stop() == 0
    for situation in under_way:
        assert await anext(situation, "checked") == "checked"


async def test_a_state_in_another_form_is_refused_in_one_sentence_and_rebuilt(
    meeting: Meeting, caplog: pytest.LogCaptureFixture
) -> None:
    """With another number of its shape. The item goes on from git, with the words of its thread."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
    whole = stored.in_file(meeting.workspace, meeting.slug)
    stored.rewrite_file(meeting.workspace, meeting.slug, {**whole, "shape": SHAPE - 1})

    async with meeting.bot():
        await meeting.say("Tunnels are long", who="linus")
        await meeting.until(lambda: "an earlier version saved it, in another form" in caplog.text)
        await meeting.until(lambda: len(meeting.menus("continue")) > 0)
    assert [one for one in caplog.records if one.exc_info] == []
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
            root = ROOT if ours else earlier
            return await stack.enter_async_context(
                bot(meeting.slack, meeting.workspace, root, REDIS_URL=redis_url)
            )

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
        await meeting.discuss()
        await say_some("Third")
        second.process.kill()
        await second.ended()
        await say_some("Fourth")
        await third.says("this process owns")
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
        await meeting.slack.settled()
        assert await third.stop() == 0
    assert [line for one in (first, second, third) for line in one.said if "Traceback" in line] == []
    check_words(meeting, *words)
