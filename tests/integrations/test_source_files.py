"""Files that an item begins with: title, order, and what each format marks as an entry."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from bot.domain.specification.entries import Specification
from bot.domain.specification.exported import SourceFiles, patches_for
from bot.engine.evidence_ports import LookRefused
from bot.engine.source_ports import CommittedTexts
from bot.files import CommittedFiles
from bot.integrations.agreed import AgreedItem, AgreedItems
from bot.integrations.exports import FORMATS, exported
from bot.integrations.source_files import read_source
from tests.integrations.sources import KIRO, OPENSPEC, PRD, SPECKIT
from tests.integrations.test_exports import HOSTILE, SLUG, agreed, item
from tests.specification.meeting import SCHEMA

NOT_ENTRIES = (
    "> ### Requirement: quoted", "    ### Requirement: indented", "```\n- **FR-001**: code\n```",
    "````\n```\n- **FR-001**: nested fence\n```\n````", "~~~\n```\n- **FR-001**: mixed\n~~~",
    "<!--\n- **FR-001**: hidden\n-->", "<!-- a --> <!--\n- **FR-001**: hidden\n-->", "```\n- **FR-001**: never closed",
    "<!--\n- **FR-001**: never closed", "### Requirements", "### Requirement", "#### Requirement: too deep",
    "## REMOVED Requirements\n### Requirement: gone\nIt MUST.", "## RENAMED Requirements\n- FROM: `### Requirement: a`",
    "<script>alert(1)</script>", "- [ ] 1.1 no task here", "\ufeff", "---", "| FR-001 | in a table |",
    "[a]: http://example.org 'FR-001'", "- **FR-001**: below no section of ours", "FR-001: SHALL",
)  # fmt: skip
"""Below a heading without entries: what only looks like a mark of a format."""


class Items:
    """As the reader of a commit that has one item, or none."""

    def __init__(self, found: AgreedItem | None = None) -> None:
        self.slugs = (found.slug,) if found else ()
        self.item = lambda _: found


def read(path: str, texts: Mapping[str, str], found: AgreedItem | None = None) -> SourceFiles:
    committed = CommittedTexts(cast(CommittedFiles, None), "1a2b3c4", texts)
    return read_source(path, committed, lambda _: cast(AgreedItems, Items(found)), SCHEMA)


def below(folder: str, files: Mapping[str, str]) -> Mapping[str, str]:
    return {f"{folder}/{name}": text for name, text in sorted(files.items(), reverse=True)}


def proposed(files: SourceFiles) -> list[tuple[str, Any, str]]:
    """Of each new entry the id, the words and the lines."""
    made = patches_for(files.edits, Specification(), SCHEMA)
    return [(one.id, next(iter(one.set.values())), one.sources[0].rpartition("/")[2]) for one in made.patches]


def test_openspec_has_requirements_with_scenarios_non_goals_and_tasks() -> None:
    """Of a requirement the SHALL sentence stands behind its name. Removed ones, and ticked tasks, are nothing to do."""
    files = read("openspec/changes/limits", below("openspec/changes/limits", OPENSPEC))

    assert files.title == "Limit each client"
    assert [path.rpartition("/")[2] for path in files.texts] == [
        "proposal.md",
        "spec.md",
        "design.md",
        "tasks.md",
    ]
    criterion = "given 100 calls in this minute, when the next one comes, then it gets 429, and a Retry-After"
    sentence = "Limit per client: The API SHALL refuse a client's 101st call in a minute."
    assert proposed(files) == [
        ("FR-001", sentence, "spec.md:3-5@1a2b3c4"),
        ("AC-001-01", criterion, "spec.md:7-11@1a2b3c4"),
        ("OUT-001", "Billing", "design.md:4@1a2b3c4"),
        ("WRK-001", "Count the calls", "tasks.md:4@1a2b3c4"),
    ]


def test_speckit_keeps_its_ids_and_a_story_is_a_requirement_with_its_scenarios() -> None:
    """Criteria belong to requirements. The example in the comment of the template is none."""
    files = read("specs/001-limits", below("specs/001-limits", SPECKIT))

    assert files.title == "Limit each client"
    assert [(id, words) for id, words, _ in proposed(files)] == [
        ("FR-008", "Fair use"),
        ("US-001", "fair use"),
        ("AC-008-01", "given 100 calls, when the next one comes, then it gets 429"),
        ("Q-001", "What happens when Redis is away?"),
        ("FR-001", "System MUST count the calls of each client"),
        ("FR-007", "System MUST say when to come back"),
        ("MET-001", "No outage by a single client"),
        ("WRK-001", "[P] Set up Redis in deploy/"),
    ]


def test_kiro_has_stories_and_ears_sentences() -> None:
    """Its heading says nothing, so that the folder gives the title; a requirement without a name is its story."""
    files = read(".kiro/specs/limits-per-client", below(".kiro/specs/limits-per-client", KIRO))

    assert files.title == "Limits per client"
    assert [(id, words) for id, words, _ in proposed(files)] == [
        ("FR-001", "As an operator, I want a limit, so that nobody starves"),
        ("AC-001-01", "WHEN the 101st call comes THEN the system SHALL answer 429"),
        ("AC-001-02", "IF Redis is away THEN the system SHALL let calls pass"),
        ("FR-002", "Raising a limit"),
        ("US-001", "to raise a limit"),
        ("AC-002-01", "WHEN an operator raises it THEN the system SHALL use it within a minute"),
        ("WRK-001", "Count the calls"),
        ("WRK-002", "Test it"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("docs/prd.md", PRD, "Rate limiting of the API"),
        ("docs/offline-sync.md", "No heading\n\n```\n# Code\n```\n", "Offline sync"),
        ("docs/a.md", "# PRD: Dark\u202e mode\n", "Dark mode"),
    ],
)
def test_a_page_has_its_first_heading_as_title_and_proposes_nothing(path: str, text: str, title: str) -> None:
    files = read(path, {path: text})

    assert (files.title, files.edits) == (title, ())


def test_a_page_with_the_marks_of_a_format_proposes_them() -> None:
    text = "# Limits\n\n## Out of scope\n\n- Billing\n\n### Functional Requirements\n\n- **FR-003**: Count calls\n"

    assert [one[:2] for one in proposed(read("docs/prd.md", {"docs/prd.md": text}))] == [
        ("OUT-001", "Billing"),
        ("FR-003", "Count calls"),
    ]


@pytest.mark.parametrize("files", [{}, {"specs/x/plan.md": "# Plan"}, {"specs/x/tasks.md": "- [ ] Count"}])
def test_a_folder_without_its_first_file_is_refused(files: Mapping[str, str]) -> None:
    with pytest.raises(LookRefused, match="no folder of OpenSpec, spec-kit or Kiro"):
        read("specs/x", files)


@pytest.mark.parametrize("target", FORMATS)
def test_an_export_as_we_wrote_it_proposes_nothing(target: str) -> None:
    """Where its item is known and where it is not; what was changed by hand is all that is proposed."""
    made = item(agreed())
    texts = exported(made, target)
    folder = next(path for path in texts).partition(f"/{SLUG}/")[0] + f"/{SLUG}"

    assert (read(folder, texts, made).edits, read(folder, texts, made).item) == ((), SLUG)
    assert read(folder, texts).edits == ()
    changed = {path: text.replace("it gets 429", "it gets 503") for path, text in texts.items()}
    (known,) = read(folder, changed, made).edits
    (new,) = read(folder, changed).edits
    assert (known.id, known.text) == ("AC-001-01", "when the 101st call comes, then it gets 503")
    assert (new.id, new.kind, new.text) == ("", "criterion", known.text)


@pytest.mark.parametrize("text", NOT_ENTRIES)
def test_what_only_looks_like_a_mark_is_text(text: str) -> None:
    assert read("docs/prd.md", {"docs/prd.md": f"# Title\n\n## Background\n\n{text}\n"}).edits == ()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_of_an_entry_stay_its_words(text: str) -> None:
    """One line of it is one entry at most, and no mark of ours in it makes it an export."""
    page = f"# {text}\n\n## Decisions\n\n- {text}\n"
    files = read("docs/prd.md", {"docs/prd.md": page})

    assert len(files.title.splitlines()) == 1
    assert len(proposed(files)) <= text.count("\n- ") + 3
    assert all(one.id == "" and one.path == "docs/prd.md" for one in files.edits)


def test_a_page_of_no_format_is_read_by_the_labels_of_entries() -> None:
    """In every language in which people use them in a thread; a heading that is none ends the section."""
    text = "# Limits\n\n## Anforderung\n- Each client has a limit\n\n## Qualities\n- not read\n"
    text += "\n**Files**\n- not read\n"
    text += "\n## NFRs\n- 20 ms at most\n\n## Hypothèse\n* Redis is there\n"
    assert [(one.kind, one.text) for one in read("prd.md", {"prd.md": text}).edits] == [
        ("requirement", "Each client has a limit"),
        ("quality", "20 ms at most"),
        ("assumption", "Redis is there"),
    ]
