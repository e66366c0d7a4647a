"""
What the quick scan found, and how it is written into `quick-scan.md` and read back.

The reader is lenient, since people edit that file; the writer's lines are exactly what it looks for.
"""

import re
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from bot.domain.catalog.skip_if import Facts
from bot.domain.catalog.steps import Depth

SMALL_FILES = 5
MEDIUM_FILES = 15

_LABEL = r"^[ \t>*_`+#-]*(?:{0})[ \t*_`]*[:：][ \t*_~]*"
_SCOPE = re.compile(
    _LABEL.format(r"(?:estimated |final )?scope(?: classification| estimate)?")
    + r"[\"'`]?(small|medium|large)(?![^\W_])",
    re.IGNORECASE | re.MULTILINE,
)
_COMPLEXITY = re.compile(
    _LABEL.format(r"(?:estimated )?complexity") + r"[\"'`]?(low|medium|high)(?![^\W_])",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = r"~?([0-9]{1,3}[.,][0-9]{3}|[0-9]{1,6})(?![0-9])"
_FILE_COUNT = re.compile(
    _LABEL.format(r"(?:estimated |total )?(?:file count|files)(?: estimate)?")
    + r"(?:about |around |approx\.? |approximately |between )?"
    + rf"{_NUMBER}(?:[ \t]*(?:-|–|—|to|and|\.\.)[ \t]*{_NUMBER})?",
    re.IGNORECASE | re.MULTILINE,
)


class QuickScan(BaseModel, frozen=True):
    scope: Annotated[str, StringConstraints(pattern="^(small|medium|large|unknown)$")] = "unknown"
    file_count: Annotated[int, Field(ge=0, lt=10**6)] = 0
    complexity: Annotated[str, StringConstraints(pattern="^(low|medium|high|unknown)$")] = "unknown"

    @property
    def known(self) -> bool:
        return self.scope != "unknown"

    @property
    def depth(self) -> Depth:
        """How deep to go: brief and deep need a second sign besides the scope."""
        if self.scope == "small" and (self.complexity == "low" or self.file_count < SMALL_FILES):
            return Depth.BRIEF
        if self.scope == "large" and (self.complexity == "high" or self.file_count > MEDIUM_FILES):
            return Depth.DEEP
        return Depth.STANDARD

    def facts(self, depth: Depth) -> Facts:
        return Facts(
            scope=self.scope, complexity=self.complexity, file_count=self.file_count, depth=depth.value
        )


def read_quick_scan(text: str) -> QuickScan:
    """
    The lines people and the bot write: `**Estimated Scope**: Medium`, `File Count: ~18-25 files`.

    Of a range the higher bound counts, since work grows; of several lines the last, since the final scope
    comes after the first estimate. What is not there is unknown.
    """
    scopes, complexities, counts = (p.findall(text) for p in (_SCOPE, _COMPLEXITY, _FILE_COUNT))
    return QuickScan(
        scope=scopes[-1].lower() if scopes else "unknown",
        file_count=max(map(_number, counts[-1])) if counts else 0,
        complexity=complexities[-1].lower() if complexities else "unknown",
    )


def _number(written: str) -> int:
    """With or without a sign between its thousands; 0 where there is none."""
    return int(re.sub("[.,]", "", written) or 0)


def quick_scan_lines(scan: QuickScan) -> str:
    return f"**Scope**: {scan.scope}\n**File Count**: {scan.file_count}\n**Complexity**: {scan.complexity}"


def scope_of_count(files: int) -> str:
    """Small is 1-5 files, medium 6-15, large 16 and more: the bands of step 00-03."""
    if files <= SMALL_FILES:
        return "small"
    return "medium" if files <= MEDIUM_FILES else "large"
