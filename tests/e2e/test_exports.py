"""ROUNDTABLE_EXPORTS: the files of other tools in the commits of an item, and what agents change there."""

import json
import re

import pytest

from bot import app
from bot.cli.exports import export_of, written
from bot.domain.item.export_places import FOLDERS
from tests.e2e.meeting import CHANNEL, Meeting, settings
from tests.storage.checkout import Git
from tests.storage.samples import NOW

OPENSPEC, KIRO = "openspec/changes/offline-sync", "docs/kiro/offline-sync"
SPEC = f"{OPENSPEC}/specs/offline-sync/spec.md"


@pytest.fixture
def git(meeting: Meeting) -> Git:
    """A coding agent's git in the workspace."""
    meeting.more = {"ROUNDTABLE_EXPORTS": "openspec, kiro:docs/kiro/{slug}"}
    return Git(meeting.workspace)


async def agreed(meeting: Meeting) -> None:
    await meeting.start("Offline sync")
    await meeting.say("requirement: Changes merge per field\nAC: the engineer is asked")
    await meeting.finish_step()
    await meeting.slack.settled()


def files_of(git: Git, commit: str) -> set[str]:
    return {*git("show", "--format=", "--name-only", commit).splitlines()}


async def test_the_files_are_in_the_commit_of_the_step(meeting: Meeting, git: Git) -> None:
    """The same one as its artifacts; an export of the command says the same."""
    async with meeting.bot():
        await agreed(meeting)

    changed = files_of(git, git("log", "-1", "--format=%H", "--", SPEC).strip())
    assert {SPEC, f"{OPENSPEC}/tasks.md", f"{KIRO}/requirements.md"} <= changed
    assert any(path.startswith("docs/requirements/offline-sync/") for path in changed)
    assert "### Requirement: FR-001 Changes merge per field" in git("show", f"HEAD:{SPEC}")
    assert git.status == []
    async with app.workspace(settings(meeting.slack, meeting.workspace, **meeting.more)) as workspace:
        state = (await workspace.read(meeting.slug, now=NOW)).state
    assert state is not None
    assert state.codebase == "", "what is exported is no code"


async def changed_by_agent(meeting: Meeting, git: Git, path: str, old: str, new: str) -> str:
    """In a commit, after which another step is finished."""
    text = git("show", f"HEAD:{path}")
    assert old in text
    sha = git.commit(path, text.replace(old, new))
    await meeting.press("continue")
    await meeting.do_step("Nothing more here.")
    await meeting.slack.settled()
    return sha[:7]


async def test_what_an_agent_changes_is_proposed_and_stays(meeting: Meeting, git: Git) -> None:
    """With who committed it and the place in the file. Once a person says so, the file follows."""
    async with meeting.bot():
        await agreed(meeting)
        sha = await changed_by_agent(meeting, git, SPEC, "engineer is asked", "engineer is asked at once")

        told = await meeting.seen(f"changed `{SPEC}` in git ({sha})")
        assert "Proposed: AC-001-01." in told.text
        assert "asked at once" in git("show", f"HEAD:{SPEC}"), "nobody decided yet"
        assert "asked at once" not in git("show", f"HEAD:{KIRO}/requirements.md"), "nobody accepted it"
        (claim,) = [
            one
            for entry in json.loads((meeting.folder / "specification.json").read_text())["entries"]
            for one in entry["claims"].get("text", ())
            if "at once" in one["value"]
        ]
        assert re.fullmatch(rf"{SPEC}:[0-9]+@{sha}", claim["sources"][0])
        assert (claim["proposed"]["name"], claim.get("accepted"), claim.get("said")) == ("Ada", None, None)

        await meeting.press("continue")
        await meeting.say("AC-001-01: the engineer is asked at once")
        await meeting.finish_step()
        await meeting.slack.settled()

    assert "asked at once" in git("show", f"HEAD:{KIRO}/requirements.md")
    assert len([one for one in meeting.thread if f"changed `{SPEC}`" in one.text]) == 1
    assert git.status == []


@pytest.mark.parametrize("target", FOLDERS)
async def test_changes_in_an_export_of_the_command_come_back(meeting: Meeting, git: Git, target: str) -> None:
    """No setting writes such files. As they were exported they propose nothing, and they are not written again."""
    meeting.more = {}
    async with meeting.bot():
        await agreed(meeting)
        export = export_of(settings(meeting.slack, meeting.workspace), meeting.slug, target)
        paths = tuple(written(meeting.workspace, export))
        git("add", "--all")
        git("commit", "--quiet", "-m", "export")
        await meeting.press("continue")
        await meeting.do_step("requirement: Photos count")
        await meeting.slack.settled()
        assert not [one for one in meeting.thread if "in git" in one.text]
        path = next(one for one in paths if "engineer is asked" in git("show", f"HEAD:{one}"))
        sha = await changed_by_agent(meeting, git, path, "engineer is asked", "engineer is asked at once")
        told = await meeting.seen(f"changed `{path}` in git ({sha})")

    assert "Proposed: AC-001-01." in told.text
    assert "Photos count" not in git("show", f"HEAD:{path}")


async def test_an_archived_folder_is_not_written_again(meeting: Meeting, git: Git) -> None:
    """People hear of it once; the other format goes on."""
    async with meeting.bot():
        await agreed(meeting)
        git("mv", OPENSPEC, "openspec/archived")
        git("commit", "--quiet", "-m", "archive")
        await meeting.press("continue")
        await meeting.do_step("requirement: Photos count")
        await meeting.press("continue")
        await meeting.do_step("requirement: Sounds count")
        await meeting.slack.settled()

    assert not (meeting.workspace / OPENSPEC).exists()
    assert "FR-003 " in (meeting.workspace / KIRO / "requirements.md").read_text()
    assert len([one for one in meeting.thread if f"`{OPENSPEC}` is gone" in one.text]) == 1


async def test_words_and_files_of_others_stay(meeting: Meeting, git: Git) -> None:
    """A file in our place, tasks that somebody ticked, and words between the entries."""
    design = f"{OPENSPEC}/design.md"
    async with meeting.bot():
        await meeting.start("Offline sync")
        git.commit(f"{KIRO}/design.md", "# Of the architects\n")
        await meeting.say("requirement: Changes merge per field\ndecision: Merge on the server")
        await meeting.finish_step()
        await meeting.slack.settled()
        tasks = git("show", f"HEAD:{OPENSPEC}/tasks.md").replace("[ ]", "[x]")
        git.commit(f"{OPENSPEC}/tasks.md", tasks)
        await changed_by_agent(meeting, git, design, "## Decisions\n", "## Decisions\n\nWe drew it first.\n")
        await meeting.press("continue")
        await meeting.do_step("requirement: Photos count\ndecision: Keep both versions")
        await meeting.slack.settled()

    assert git("show", f"HEAD:{KIRO}/design.md") == "# Of the architects\n"
    assert git("show", f"HEAD:{OPENSPEC}/tasks.md") == tasks
    assert "We drew it first." in git("show", f"HEAD:{design}")
    assert "Photos count" in git("show", f"HEAD:{SPEC}")
    told = [one.text for one in meeting.thread if "leave" in one.text and "`" in one.text]
    assert [one for one in told if f"`{KIRO}/design.md`" in one]
    assert [one for one in told if f"`{design}`" in one]
    assert len(told) == 2


async def test_a_resumed_meeting_hears_of_what_was_changed(meeting: Meeting, git: Git) -> None:
    async with meeting.bot():
        await agreed(meeting)
        await meeting.press("stop")
        await meeting.menu("resume")
        git.commit(SPEC, git("show", f"HEAD:{SPEC}") + "\n### Requirement: Refusals are counted\n")
        await meeting.press("resume")
        told = await meeting.seen(f"changed `{SPEC}` in git")

    assert "Proposed: FR-002." in told.text


async def test_a_format_that_is_not_installed_stops_nothing(meeting: Meeting, git: Git) -> None:
    """One message says so, and the other format is written."""
    meeting.more = {"ROUNDTABLE_EXPORTS": "openspec, acme:docs/acme/{slug}"}
    async with meeting.bot():
        await agreed(meeting)
        await meeting.press("continue")
        await meeting.do_step("requirement: Photos count")
        await meeting.slack.settled()

    assert "Photos count" in git("show", f"HEAD:{SPEC}")
    (told,) = [one.text for one in meeting.thread if "docs/acme" in one.text]
    assert told == (
        "`docs/acme/offline-sync` is not written: its format cannot be used. The log of the bot says why."
    )


@pytest.mark.usefixtures("git")
async def test_nothing_of_a_private_channel_is_exported(meeting: Meeting) -> None:
    meeting.slack.channel(CHANNEL).kind = "group"
    async with meeting.bot():
        await agreed(meeting)

    assert list((meeting.workspace / "docs/requirements").glob("*/requirements-spec.md"))
    assert not (meeting.workspace / "openspec").exists()
