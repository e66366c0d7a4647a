"""The text of a review that we make."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from bot.domain.reviews.review import UNAVAILABLE, ReviewMeta, ReviewVerdict, without_marker
from bot.domain.values.markdown import escaped
from bot.domain.values.text import one_line
from bot.domain.values.value import Value

SENTENCE_CHARS = 400
QUOTED_CHARS = 700
MOST_NAMED = 20
"""Of what a reviewer looked at, and of what was left out."""
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
    """
    One sentence, with what to do about it. *line* is 0 when the whole file is meant. *sources* are ids of what the
    reviewer looked at; *unverified* says what of the sentence they do not say.
    """

    severity: FindingSeverity
    file: str
    text: str
    line: int = 0
    sources: tuple[str, ...] = ()
    unverified: str = ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def key(self) -> tuple[str, str]:
        """Findings with an equal key are the same finding; their sources may differ."""
        return self.place, self.text

    @property
    def markdown(self) -> str:
        """The sentence and what it rests on."""
        named = [f"`{_code(one)}`" for one in self.sources if one not in self.text]
        mark = [f"_unverified: {_plain(self.unverified)}_"] if self.unverified else []
        return _plain(self.text) + (f" ({'; '.join((*named, *mark))})" if named or mark else "")


class ReviewerOpinion(Value):
    """
    What one reviewer found; *lens* is what they look at. Not *judged* is what a rule lists: *gaps* in the
    specification, which are no verdict. `looked_at` are the ids of what it was shown, `left_out` the sources
    that it named and was not shown, each with the reason, and `quoted` passages that are in no commit, by their ids.
    """

    by: str
    lens: str = ""
    findings: tuple[Finding, ...] = ()
    gaps: tuple[str, ...] = ()
    judged: bool = True
    looked_at: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    quoted: Mapping[str, str] = {}


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
        found: dict[tuple[str, ...], Finding] = {}
        for opinion in self.opinions:
            for one in opinion.findings:
                found.setdefault((one.severity, *one.key), one)
        return tuple(sorted(found.values(), key=lambda one: one.severity.rank))

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
        f"- **{one.severity}** `{_code(one.place)}` — {one.markdown}"
        for one in Review(title="", method="", opinions=(opinion,)).findings
    )
    gaps = (f"- {_plain(gap)}" for gap in opinion.gaps)
    nothing = NOTHING if opinion.judged else NO_GAP
    rows = "\n".join((*found, *gaps)) or nothing
    return f"## {_plain(opinion.by)}{lens}\n\n{rows}{_looked(opinion)}"


def _looked(opinion: ReviewerOpinion) -> str:
    """What the findings rest on: the code can be looked up by its id, what a server returned stands here."""
    parts = []
    if opinion.looked_at:
        parts.append("Looked at: " + ", ".join(_some([f"`{_code(one)}`" for one in opinion.looked_at])))
    if opinion.left_out:
        parts.append("Left out: " + "; ".join(_some([_plain(one) for one in opinion.left_out])))
    parts += [f"`{_code(id)}` said: {_plain(text, QUOTED_CHARS)}" for id, text in opinion.quoted.items()]
    return "".join(f"\n\n{one}" for one in parts)


def _some(given: list[str]) -> list[str]:
    more = len(given) - MOST_NAMED
    return [*given[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def _list(heading: str, sentences: Iterable[str]) -> str:
    bullets = "\n".join(f"- {_plain(one)}" for one in sentences)
    return f"## {heading}\n\n{bullets}" if bullets else ""


def _plain(text: str, most: int = SENTENCE_CHARS) -> str:
    return without_marker(escaped(one_line(text, most)))


def _code(text: str) -> str:
    return without_marker(one_line(text, SENTENCE_CHARS).replace("`", "'"))
