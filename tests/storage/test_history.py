"""How old the code base is that an item was analysed at: our own commits never make anything stale."""

from bot.domain.item.item_paths import SHARED
from bot.domain.item.meta import MetaChange
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_section, state_of


def analysed(number: int = 1) -> MetaChange:
    """What the end of a phase asks for: the code base as it is now."""
    return MetaChange(
        steps=(f"01-{number:02}",), codebase_hash="HEAD", created={"source": "manual", "slug": SLUG}
    )


async def test_a_workspace_of_items_alone_has_no_code_base(workspace: GitWorkspace) -> None:
    """So nothing in it can be stale."""
    edits = (a_section("x"), a_section("fast", path=SHARED))

    receipt = await workspace.commit(SLUG, a_commit(edits=edits, change=analysed()), now=NOW)

    assert (receipt.state.codebase, receipt.state.commits_behind) == ("", 0)
    assert receipt.state.meta.codebase_hash == ""


async def test_the_code_base_is_as_old_as_its_last_commit(workspace: GitWorkspace, git: Git) -> None:
    """Ours come on top and are not counted."""
    code = git.commit("src/app.py", "one\n")
    await workspace.commit(SLUG, a_commit(change=analysed()), now=NOW)
    receipt = await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert receipt.state.codebase == receipt.state.meta.codebase_hash == code[:7]
    assert receipt.state.commits_behind == 0


async def test_commits_of_the_code_base_are_counted(workspace: GitWorkspace, git: Git) -> None:
    """Since the one the item was analysed at, with ours and other items' in between."""
    git.commit("src/app.py", "one\n")
    await workspace.commit(SLUG, a_commit(change=analysed()), now=NOW)
    git.commit("src/app.py", "two\n")
    await workspace.commit("another-item", a_commit(2, id="another-item.i1.1"), now=NOW)
    newest = git.commit("docs/guide.md", "three\n")

    state = await state_of(workspace)

    assert (state.codebase, state.commits_behind) == (newest[:7], 2)


async def test_a_hash_of_one_of_our_own_commits_is_understood(workspace: GitWorkspace, git: Git) -> None:
    """The original tools wrote down whatever HEAD was."""
    git.commit("src/app.py", "one\n")
    sha = (await workspace.commit(SLUG, a_commit(), now=NOW)).sha
    await workspace.commit(SLUG, a_commit(2, change=MetaChange(codebase_hash=sha[:7])), now=NOW)
    git.commit("src/app.py", "two\n")

    assert (await state_of(workspace)).commits_behind == 1


async def test_a_commit_that_touches_both_is_the_code_bases(workspace: GitWorkspace, git: Git) -> None:
    """A person may commit code and an item's file together."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    git.write(f"docs/requirements/{SLUG}/draft.md", "by hand\n")
    git.write("src/app.py", "one\n")
    git.commit_all("both")

    assert (await state_of(workspace)).codebase == git("rev-parse", "HEAD")[:7]


async def test_what_a_merge_brings_counts_once(workspace: GitWorkspace, git: Git) -> None:
    """One change to the code base, however many commits its author made."""
    git.commit("src/app.py", "one\n")
    await workspace.commit(SLUG, a_commit(change=analysed()), now=NOW)
    git("switch", "--quiet", "--create", "feature")
    for number in range(3):
        git.commit("src/feature.py", f"{number}\n")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "-m", "feature", "feature")

    assert (await state_of(workspace)).commits_behind == 1


async def test_a_shallow_clone_is_enough(git: Git) -> None:
    """What is not there is not asked for."""
    git.begin()
    git.commit("src/app.py", "one\n")
    git.commit("src/app.py", "two\n")
    shallow = Git(git.root.with_name("shallow"))
    git("clone", "--quiet", "--depth=1", f"file://{git.root}", str(shallow.root))

    async with GitWorkspace(shallow.root, seal=SEAL) as cloned:
        receipt = await cloned.commit(SLUG, a_commit(change=analysed()), now=NOW)

    assert receipt.state.codebase == git("rev-parse", "HEAD")[:7]
