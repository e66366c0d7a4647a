"""A roundtable on a file or a folder of the workspace: what its format marks as an entry is proposed."""

import json
from collections.abc import Mapping
from dataclasses import replace
from shutil import rmtree
from typing import Any

import pytest

from bot.storage.git.tree import STATE
from tests.e2e.meeting import CHANNEL, SHORT_PATH, Meeting
from tests.integrations.sources import KIRO, OPENSPEC, PRD, SPECKIT
from tests.storage.checkout import Git

FOLDER = "openspec/changes/limit-each-client"


@pytest.fixture
def git(meeting: Meeting) -> Git:
    """The workspace has code already."""
    found = Git(meeting.workspace)
    found.begin()
    found.commit("docs/prd.md", PRD)
    return found


def committed(git: Git, folder: str, files: Mapping[str, str]) -> str:
    sha = ""
    for name, text in files.items():
        sha = git.commit(f"{folder}/{name}", text)
    return sha[:7]


def entries(meeting: Meeting) -> Mapping[str, dict[str, Any]]:
    text = (meeting.folder / "specification.json").read_text()
    return {one["id"]: one for one in json.loads(text)["entries"]}


async def test_a_change_of_openspec_is_proposed_and_accepted_on_the_card(meeting: Meeting, git: Git) -> None:
    """By the folder and by no person, with path, lines and commit."""
    meeting.more = SHORT_PATH
    sha = committed(git, FOLDER, OPENSPEC)
    async with meeting.bot():
        await meeting.start(f"{FOLDER}/", slug="limit-each-client")
        told = await meeting.seen("I have read")
        await meeting.do_step("Nothing here.")
        await meeting.press("continue")
        await meeting.press("accept_all")
        await meeting.finish_step()
        await meeting.slack.settled()

    assert told.text == (
        f"I have read `{FOLDER}` ({sha}). Its text is in `draft.md`. Proposed: FR-001, AC-001-01, OUT-001 and WRK-001."
        " It counts when somebody accepts it."
    )
    assert "Roundtable: Limit each client" in meeting.thread[0].text
    assert f"## {FOLDER}/tasks.md, {sha}\n\n> ## 1. Counting" in (meeting.folder / "draft.md").read_text()
    (claim,) = entries(meeting)["AC-001-01"]["claims"]["text"]
    assert claim["sources"] == [f"{FOLDER}/specs/limits/spec.md:7-11@{sha}"]
    assert claim["value"] == (
        "given 100 calls in this minute, when the next one comes, then it gets 429, and a Retry-After"
    )
    assert (claim["proposed"]["kind"], claim["proposed"]["name"]) == ("git", FOLDER)
    assert claim["accepted"]["name"] == "Ada"
    assert "said" not in claim
    assert "accepted" not in entries(meeting)["WRK-001"]["claims"]["title"][0], "no card asked for it yet"


async def test_a_mention_and_the_form_take_a_path_as_well(meeting: Meeting, git: Git) -> None:
    """In the form the title is the person's. A second start links to the thread that there is."""
    committed(git, "specs/001-limits", SPECKIT)
    committed(git, ".kiro/specs/limits", KIRO)
    ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
    async with meeting.bot():
        meeting.root = await ada.say(CHANNEL, "<@U0ROUNDTABLE> start `specs/001-limits`")
        await meeting.seen("Proposed: FR-008")
        again = await grace.slash(CHANNEL, "/roundtable start specs/001-limits/")
        await ada.slash(CHANNEL, "/roundtable start")
        await meeting.submit(title="Fairness", source=".kiro/specs/limits")
        meeting.slug = "fairness"
        await meeting.until((meeting.folder / "draft.md").exists)

    assert "There is a roundtable on *Limit each client*" in again.response["text"]
    assert (
        (meeting.folder / "draft.md")
        .read_text()
        .startswith("# Fairness\n\n- **Source**: manual, .kiro/specs/limits\n")
    )


@pytest.mark.usefixtures("git")
async def test_a_page_without_marks_is_a_draft_alone(meeting: Meeting) -> None:
    """Its words call nobody."""
    async with meeting.bot():
        await meeting.start("docs/prd.md", slug="rate-limiting-of-the-api")
        told = await meeting.seen("I have read")

    assert told.text.endswith("Its text is in `draft.md`. Nothing in it is marked as an entry.")
    assert "> We fall over. <!channel> asked for it." in (meeting.folder / "draft.md").read_text()
    assert meeting.meta["description"] == "Rate limiting of the API"
    assert not [one for one in meeting.slack.messages(CHANNEL) if "<!channel>" in one.text]


async def test_what_is_no_source_is_refused_in_one_sentence(meeting: Meeting, git: Git) -> None:
    git.write("docs/later.md", "# Later")
    git.commit("docs/large.md", "word " * 60_000)
    git.commit("docs/scan.md", "\0")
    git.commit("docs/notes.txt", "notes")
    git.commit("docs/requirements/other/draft.md", "# Secret")
    git.commit(".env.md", "TOKEN=1")
    (meeting.workspace / "docs/link.md").symlink_to("/etc/passwd")
    (meeting.workspace / "docs/there").symlink_to("/etc")
    git("add", "docs/link.md", "docs/there")
    git("commit", "--quiet", "-m", "links")
    not_committed = "{} is not tracked at the newest commit."
    no_path = "A path is relative to the top of the repository, without `..`."
    sentences = {
        "docs/later.md": not_committed,
        ".git/config": not_committed,
        "specs/001-limits": not_committed,
        "docs/large.md": "{} is larger than 256 KiB.",
        "docs/scan.md": "{} is not a text.",
        "docs/notes.txt": "{} is no Markdown file. I read `.md` files, and folders of OpenSpec, spec-kit and Kiro.",
        "docs/link.md": "{} is a symbolic link, which is not followed.",
        "docs/there/motd.md": "{} is a symbolic link, which is not followed.",
        "docs/../docs/prd.md": no_path,
        "/etc/passwd": no_path,
        "docs//prd.md": no_path,
        "docs/requirements/other/draft.md": "{} belongs to the items: type the name of the item instead.",
        ".env.md": "{} may hold secrets, and is not shown.",
    }
    async with meeting.bot():
        told = {
            path: (await meeting.slack.person("ada").slash(CHANNEL, f"/roundtable start {path}")).response[
                "text"
            ]
            for path in sentences
        }
        assert meeting.slack.messages(CHANNEL) == []
        await meeting.start("CI/CD", slug="cicd")

    assert told == {path: sentence.format(path) for path, sentence in sentences.items()}


@pytest.mark.usefixtures("git")
async def test_guests_are_told_nothing_of_the_repository(meeting: Meeting) -> None:
    """Also where they may start roundtables: not even what is in it."""
    meeting.more = {"ROUNDTABLE_GUESTS_PRESS": "yes"}
    linus = meeting.slack.workspace.user("linus")
    meeting.slack.workspace.change_user(replace(linus, is_guest=True))
    async with meeting.bot():
        for path in ("docs/prd.md", "docs/none.md"):
            told = await meeting.slack.person("linus").slash(CHANNEL, f"/roundtable start {path}")
            assert (
                told.response["text"]
                == "Only members of this workspace can start on a file of the repository."
            )


async def test_a_folder_that_we_exported_leads_to_its_item(meeting: Meeting, git: Git) -> None:
    """The store is lost, and no setting writes the exports: what was changed by hand is proposed, once."""
    folder = "openspec/changes/offline-sync"
    spec = f"{folder}/specs/offline-sync/spec.md"
    start, grace = f"/roundtable start {folder}", meeting.slack.person("grace")
    meeting.more = {"ROUNDTABLE_EXPORTS": "openspec"}
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say(
            "requirement: Changes merge per field\nAC: the engineer is asked\nrequirement: Photos"
        )
        await meeting.finish_step()
        await meeting.slack.settled()
        assert (
            "There is a roundtable on *Offline sync*" in (await grace.slash(CHANNEL, start)).response["text"]
        )
    text = git("show", f"HEAD:{spec}")
    sha = git.commit(spec, text.replace("engineer is asked", "engineer decides"))[:7]
    rmtree(meeting.workspace / STATE)
    meeting.more = {}
    async with meeting.bot():
        await grace.slash(CHANNEL, start)
        told = await meeting.seen(f"changed `{spec}` in git ({sha})")
        await meeting.slack.settled()

    assert "Proposed: AC-001-01." in told.text
    assert "I have read" not in str([one.text for one in meeting.thread])
    assert len(list((meeting.workspace / "docs/requirements").glob("*/meta.json"))) == 1
