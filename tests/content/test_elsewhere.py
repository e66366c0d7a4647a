"""Somebody else's folders, with every liberty that the format allows: what each file in `elsewhere/` becomes."""

from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.domain.catalog.steps import Depth, Step

HERE = Path(__file__).parent / "elsewhere"
STEPS = HERE / "analysis-steps"
PLAYBOOK = load(HERE / "personas", STEPS)


def step(step_id: str) -> Step:
    return PLAYBOOK.agenda.step(step_id)


def said(step_id: str, depth: Depth) -> str:
    return step(step_id).text_at(depth)[0]


@pytest.mark.parametrize(
    ("path", "sign"),
    [
        ("01-requirements/02-search-words.md", b"\xef\xbb\xbf---\r\n"),
        ("02-impact-analysis/01-shelves.md", b"\xef\xbb\xbf---   \n"),
        ("02-impact-analysis/02-labels.md", b"---\rstep_id"),
    ],
)
def test_the_files_are_what_they_are_meant_to_be(path: str, sign: bytes) -> None:
    """An editor or git that tidies line ends would take the point away from the tests below."""
    assert (STEPS / path).read_bytes().startswith(sign)


def test_every_step_is_there_in_its_place_and_nothing_else() -> None:
    """Other files, hidden ones, folders in a phase and folders that are no phase do not count; links do."""
    assert [(one.phase_key, one.filename, one.step_id) for one in PLAYBOOK.agenda.steps] == [
        ("01-requirements", "01-reader-needs.md", "01-01"),
        ("01-requirements", "02-search-words.md", "01-02"),
        ("01-requirements", "03-found-pages.md", "01-03"),
        ("02-impact-analysis", "01-shelves.md", "02-01"),
        ("02-impact-analysis", "02-labels.md", "02-02"),
        ("03-architecture", "07-index.md", "03-07"),
        ("05-rollout", "01-opening-day.md", "05-01"),
        ("05-rollout", "02-thanks.md", "05-02"),
        ("06-aftercare", "01-first-week.md", "06-01"),
    ]


def test_nothing_is_complained_about_but_what_is_missing() -> None:
    """Two phases without steps, and a file that has no mode at all."""
    assert [(one.code, one.facts["phase_key"]) for one in PLAYBOOK.troubles] == [
        ("ERR-STEP-001", "00-quick-scan"),
        ("ERR-STEP-002", "04-design"),
    ]
    assert PLAYBOOK.notes == (
        "VR-STEP-010 03-architecture/07-index.md has no Standard Mode section, so all of it is shown.",
    )


@pytest.mark.parametrize(
    ("step_id", "depth", "first"),
    [
        ("01-01", Depth.BRIEF, "Readers want to find an old issue within a minute. Is that it?"),
        ("01-01", Depth.DEEP, "Let's go through it slowly."),
        ("01-02", Depth.STANDARD, "Which words do they use?"),
        ("01-03", Depth.STANDARD, "Think of the page somebody finds."),
        ("02-01", Depth.STANDARD, "Which shelves move?"),
        ("02-02", Depth.BRIEF, "The labels stay. All right?"),
        ("03-07", Depth.STANDARD, "Where does the index live, and who rebuilds it?"),
        ("06-01", Depth.STANDARD, "What did the first week show?"),
    ],
)
def test_no_text_begins_with_a_name(step_id: str, depth: Depth, first: str) -> None:
    """Neither with one of this table, nor with one of the three for whom the format was made."""
    assert said(step_id, depth).partition("\n")[0] == first


def test_windows_and_old_macs_leave_nothing_behind() -> None:
    """No carriage return anywhere, and lists are lists."""
    assert not any("\r" in one.body for one in PLAYBOOK.agenda.steps)
    assert step("01-02").questions_at(Depth.STANDARD) == (
        "Which words stand on the cover?",
        "Which words do readers say instead?",
    )
    assert step("02-02").questions_at(Depth.STANDARD) == ("Which ones?",)


def test_what_is_written_where_is_understood() -> None:
    """However the Artifacts section says it."""
    assert step("01-01").owned("requirements-spec.md") == ("1. Readers",)
    assert step("01-02").owned("glossary.md") == ("1. Words",)
    assert step("01-03").owned("requirements-spec.md") == ("3. Found Pages",)
    assert step("05-01").owned("rollout-plan.md") == ("Opening Day",)


def test_further_folders_are_further_phases() -> None:
    """After the five, named by their folder and led by whoever says so, else by the business analyst."""
    *_, rollout, aftercare = PLAYBOOK.agenda.phases

    assert (rollout.key, rollout.name) == ("05-rollout", "Rollout")
    assert (aftercare.key, aftercare.name) == ("06-aftercare", "Aftercare")
    assert PLAYBOOK.roster.lead_of("05-rollout")[0].name == "Omar Haddad"
    assert PLAYBOOK.roster.lead_of("06-aftercare")[0].name == "Zoë Lin"
