"""The paths of items in the workspace."""

from collections.abc import Iterable

from bot.domain.item.artifacts import DerivedEdit, Edit
from bot.domain.item.item_paths import SHARED, SPECIFICATION, safe_path, shared
from bot.domain.planning.projections import WRITTEN
from bot.domain.specification import brief
from bot.domain.transcript.people import PEOPLE_FILE
from bot.storage.git.tree import META, TRANSCRIPT


def is_ours(path: str, ours: Iterable[str]) -> bool:
    """One of *ours*, or below one."""
    return any(path == one or path.startswith(f"{one}/") for one in ours)


class Places:
    """The paths of an item's files in the workspace."""

    def __init__(self, items_dir: str, exports: Iterable[str] = ()) -> None:
        """*exports* are the folders of exported files."""
        self.items_dir = items_dir
        self.ours = items_dir, SHARED, *exports
        """The paths that the bot writes. A commit that changes any other path belongs to the code base."""

    def item(self, slug: str) -> str:
        return f"{self.items_dir}/{slug}"

    def meta(self, slug: str) -> str:
        return f"{self.item(slug)}/{META}"

    def transcript(self, slug: str) -> str:
        return f"{self.item(slug)}/{TRANSCRIPT}"

    @property
    def people(self) -> str:
        return f"{self.items_dir}/{PEOPLE_FILE}"

    def specification(self, slug: str) -> str:
        return f"{self.item(slug)}/{SPECIFICATION}"

    def artifact(self, slug: str, path: str, *, is_derived: bool = False) -> str | None:
        """None when the path is not allowed."""
        if is_derived:
            return f"{self.item(slug)}/{path}" if path in {brief.PAGE, *WRITTEN} else None
        if shared(path):
            return SHARED
        return f"{self.item(slug)}/{path}" if safe_path(path) else None

    def edit(self, slug: str, edit: Edit) -> str | None:
        return self.artifact(slug, edit.path, is_derived=isinstance(edit, DerivedEdit))
