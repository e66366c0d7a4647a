"""A search is asked in people's words, and the file that answers is among the first."""

from pathlib import Path

import yaml

from bot.domain.specification.keywords import words_in
from bot.storage.git.evidence import GitEvidence
from tests.specification.meeting import SCHEMA
from tests.storage.checkout import Git

FILLER = SCHEMA.operators.tables.filler
FIRST = 4


async def test_the_file_that_answers_is_among_the_first(tmp_path: Path) -> None:
    """Although tests, prose and other files have words of the question, too: of twelve questions in all but two."""
    shop = yaml.safe_load((Path(__file__).parent / "shop.yaml").read_text("utf-8"))
    git = Git(tmp_path)
    git("init", "--quiet")
    for name, text in shop["files"].items():
        git.write(name, text)
    git.commit_all("The shop")
    evidence, missed = GitEvidence(git.root, "docs/requirements"), {}
    for question, path in shop["questions"].items():
        found = await evidence.search_code(words_in(question, FILLER))
        files = list(dict.fromkeys(one.id.partition(":")[0] for one in found if one.id))
        if path not in files[:FIRST]:
            missed[question] = files

    assert len(missed) <= 2, missed
