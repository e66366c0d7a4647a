"""The text of a review that we make."""

from collections.abc import Iterable
from enum import StrEnum

from bot.domain.reviews.review import UNAVAILABLE, ReviewMeta, ReviewVerdict, without_marker
from bot.domain.values.markdown import escaped
from bot.domain.values.text import one_line
from bot.domain.values.value import Value

SENTENCE_CHARS = 400
NOTHING = "_Nothing found._"
NO_GAP = "_No gap in what was recorded._"


class FindingSeverity(StrEnum):
    """The most severe first."""

    CRITICAL = "critical"
    """Blocks. One is enough for FAIL."""

    MAJOR = "major"
    """Something is left to guess."""

    MINOR = "minor"
    """Worth a look."""

    @property
    def rank(self) -> int:
        """The smaller, the worse."""
        return tuple(FindingSeverity).index(self)


class Finding(Value):
    """One sentence, with what to do about it. *line* is 0 when the whole file is meant."""

    severity: FindingSeverity
    file: str
    text: str
    line: int = 0

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class ReviewerOpinion(Value):
    """
    What one reviewer found; *lens* is what they look at. Not *judged* is what a rule lists: *gaps* in the
    specification, which are no verdict. `challenge` says what came of it when this reviewer was asked for what speaks
    against the others, who found nothing serious.
    """

    by: str
    lens: str = ""
    findings: tuple[Finding, ...] = ()
    gaps: tuple[str, ...] = ()
    judged: bool = True
    challenge: str = ""

    @property
    def is_content(self) -> bool:
        """Whether it found nothing that blocks or leaves something to guess."""
        serious = {FindingSeverity.CRITICAL, FindingSeverity.MAJOR}
        return self.judged and all(one.severity not in serious for one in self.findings)


class Review(Value):
    """
    *method* says in a sentence how it was made, *coverage* what is in the specification. *missing* are the inputs a
    review should have had, *unseen* is what was not reviewed, each with the reason.
    """

    title: str
    method: str
    coverage: str = ""
    opinions: tuple[ReviewerOpinion, ...] = ()
    missing: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The most severe first; what two reviewers found is one."""
        found = dict.fromkeys(one for opinion in self.opinions for one in opinion.findings)
        return tuple(sorted(found, key=lambda one: one.severity.rank))

    @property
    def meta(self) -> ReviewMeta | None:
        """None for a review by rule: counting gaps is no verdict."""
        if self.is_by_rule:
            return None
        critical = sum(one.severity is FindingSeverity.CRITICAL for one in self.findings)
        return ReviewMeta(
            verdict=ReviewVerdict.FAIL if critical else ReviewVerdict.PASS,
            issues_total=len(self.findings),
            issues_critical=critical,
            missing_inputs=len(self.missing),
        )

    @property
    def is_by_rule(self) -> bool:
        return not any(opinion.judged for opinion in self.opinions)

    @property
    def line(self) -> str:
        return self.meta.line if self.meta else UNAVAILABLE

    @property
    def markdown(self) -> str:
        """The metadata first, if there is any. No text of a reviewer can forge or break it."""
        parts = [
            self.meta.block if self.meta else "",
            f"# Review of {_plain(self.title)}",
            _plain(self.method),
            _plain(self.coverage),
            *(_opinion(one) for one in self.opinions),
            _list("Missing inputs", self.missing),
            _list("Not looked at", self.unseen),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"


def _opinion(opinion: ReviewerOpinion) -> str:
    lens = f": {_plain(opinion.lens)}" if opinion.lens else ""
    found = (
        f"- **{one.severity}** `{_code(one.place)}` — {_plain(one.text)}"
        for one in Review(title="", method="", opinions=(opinion,)).findings
    )
    gaps = (f"- {_plain(gap)}" for gap in opinion.gaps)
    nothing = NOTHING if opinion.judged else NO_GAP
    challenge = f"\n\n_{_plain(opinion.challenge)}_" if opinion.challenge else ""
    return f"## {_plain(opinion.by)}{lens}\n\n" + ("\n".join((*found, *gaps)) or nothing) + challenge


def _list(heading: str, sentences: Iterable[str]) -> str:
    bullets = "\n".join(f"- {_plain(one)}" for one in sentences)
    return f"## {heading}\n\n{bullets}" if bullets else ""


def _plain(text: str) -> str:
    return without_marker(escaped(one_line(text, SENTENCE_CHARS)))


def _code(text: str) -> str:
    return without_marker(one_line(text, SENTENCE_CHARS).replace("`", "'"))
