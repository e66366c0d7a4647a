"""What people read beside the code: it names what there is, and its links lead somewhere."""

import os
import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.engine.verbs.table import VERBS
from tests.test_shape import LAYERS, PACKAGES, TOP

ROOT = Path(__file__).parent.parent
DECISIONS = sorted((ROOT / "docs/adr").glob("*.md"))
PAGES = sorted(chain(ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"), (ROOT / "deploy").glob("*.md")))
LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


def text_of(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """To a file that there is, and in it to a heading that there is."""
    for link in LINK.finditer(text_of(page)):
        target = page.parent / link["path"] if link["path"] else page
        assert target.exists(), f"{page.name} links to {link['path']}"
        if link["anchor"]:
            assert link["anchor"] in anchors_of(target), f"{page.name} links to {link[0]}"


def test_a_section_that_a_sentence_of_the_program_names_is_there() -> None:
    """Who reads it in a log has nothing else."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "bot").rglob("*.py")]
    found = {one for text in texts for one in re.findall(r"\b(docs/[\w/.-]+\.md)#([\w-]+)", text)}

    assert ("docs/operating.md", "extras") in found
    assert [(page, anchor) for page, anchor in found if anchor not in anchors_of(ROOT / page)] == []


def test_the_readme_installs_what_there_is() -> None:
    """From a clone, with extras of pyproject.toml, by scripts that can be run; and it is short."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert "pip install ." in page
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", page)) <= project["optional-dependencies"].keys()
    assert all(
        os.access(ROOT / script, os.X_OK) for script in re.findall(r"^(scripts/\w+)$", page, re.MULTILINE)
    )
    assert project["name"] not in page, "the package is on no index"
    assert len(page.splitlines()) < 150


def test_every_decision_has_a_number_of_its_own() -> None:
    """From 1 on without a gap, the same in the name of the file and in its title."""
    numbers = [int(page.name[:4]) for page in DECISIONS]
    titles = [
        int(page.read_text(encoding="utf-8").removeprefix("# ").partition(".")[0]) for page in DECISIONS
    ]

    assert numbers == titles == list(range(1, len(DECISIONS) + 1))


def test_every_decision_is_linked_from_where_it_is_needed() -> None:
    """Nobody reads a folder of decisions; people follow a link from what they wonder about."""
    pages = [page for page in PAGES if page not in DECISIONS]
    linked = {Path(link["path"]).name for page in pages for link in LINK.finditer(text_of(page))}

    standing = [page for page in DECISIONS if "Replaced by [" not in page.read_text(encoding="utf-8")]
    assert [page.name for page in standing if page.name not in linked] == []


def test_help_names_every_verb_once() -> None:
    """Whoever asks what there is need not ask again, and nothing is offered that there is not."""
    lines = [line for line in VERBS.help_text.splitlines() if line.startswith("•")]
    offered = [verb for line in lines for verb in re.findall(r"^• `/roundtable (\w+)", line)]
    beside = [verb for verb in VERBS if verb not in offered and any(f"`{verb}`" in line for line in lines)]

    assert sorted(offered + beside) == sorted(VERBS)


def test_every_room_below_the_top_is_in_the_map_of_the_code() -> None:
    """A newcomer finds each folder and module in the layers of CONTRIBUTING.md, from the inside out."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    layers = page.partition("## The layers")[2].partition("\n## ")[0]
    rows = [line[4:46] for line in layers.splitlines() if line.startswith("    ")]
    found = [room for row in rows for room in re.findall(r"\w+", row)]
    inner = [room for room in found if LAYERS[room] < TOP]

    assert sorted(inner) == sorted(room for room, layer in LAYERS.items() if layer < TOP)
    assert inner == sorted(inner, key=lambda room: LAYERS[room])


def test_every_folder_is_in_the_tree() -> None:
    """CONTRIBUTING.md has one line for each folder of the code, and for no other."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = page.partition("## The tree")[2].partition("\n## ")[0]
    told = re.findall(r"^    ((?:bot/|roundtable_eval|slack_sandbox)[\w/]*)", tree, re.MULTILINE)
    modules = chain.from_iterable((ROOT / package).rglob("[!_]*.py") for package in PACKAGES)
    there = {module.parent.relative_to(ROOT).as_posix() for module in modules}

    assert sorted(told) == sorted(there - {"bot", "slack_sandbox/methods"})


def test_the_example_of_a_persona_and_a_step_can_be_loaded(tmp_path: Path) -> None:
    """As it stands in docs/content.md, beside nothing but the step that it depends on."""
    page = (ROOT / "docs/content.md").read_text(encoding="utf-8")
    persona, step = re.findall(r"```markdown\n(.*?)```", page, flags=re.DOTALL)
    steps = tmp_path / "steps/01-requirements"
    steps.mkdir(parents=True)
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas/sam.md").write_text(persona, encoding="utf-8")
    (steps / "06-before.md").write_text(
        step.replace("01-09", "01-06").replace('["01-06"]', "[]"), encoding="utf-8"
    )
    (steps / "09-threats.md").write_text(step, encoding="utf-8")

    playbook = load(tmp_path / "personas", tmp_path / "steps", workspace=tmp_path / "workspace")

    assert [found.step_id for found in playbook.agenda.steps] == ["01-06", "01-09"]
    assert {trouble.code for trouble in playbook.troubles} == {"ERR-STEP-001"}, (
        "only the other phases are empty"
    )
