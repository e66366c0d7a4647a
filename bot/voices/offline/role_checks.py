"""
What each role of the workshop finds by counting, in its own field and in no other.

A checklist can say that something is missing, and never that what is there is good: a yes is less sure than a no. What
people were asked and did not know stays missing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bot.domain.planning import verdict
from bot.domain.planning.verdict import MOST_QUESTIONS, MOST_REASONS, RoleVerdict
from bot.domain.values.text import counted, one_line
from bot.voices.offline import question_templates
from bot.voices.offline.lexicon import VAGUE
from bot.voices.offline.named import Wanted
from bot.voices.offline.numbering import UNSET
from bot.voices.offline.phrases import has_number, key
from bot.voices.offline.planning_context import CaseFile
from bot.voices.offline.question_templates import Asks

SURE_OF_A_GAP = 0.9
SURE_OF_NO_GAP = 0.7
UNSURE = 0.3

MOST_CRITERIA = 7
MOST_REQUIREMENTS = 12
ORDER_NEEDED = 3
MOST_AREAS = 4
MANY_OPEN = 3


@dataclass
class Finding:
    """What a role has to say, while it reads."""

    against: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    fine: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def verdict(self) -> RoleVerdict:
        """A gap counts before a hole in what is known, and both before what is in order."""
        ok = False if self.against else None if self.unknown else True
        sure = {False: SURE_OF_A_GAP, None: UNSURE, True: SURE_OF_NO_GAP}[ok]
        return RoleVerdict(
            ok=ok,
            confidence=sure,
            reasons=tuple((*self.against, *self.unknown) or self.fine)[:MOST_REASONS],
            suggestions=tuple(self.suggestions)[:MOST_REASONS],
            blocking_questions=tuple(self.questions)[:MOST_QUESTIONS],
        )


def product(found: CaseFile) -> Finding:
    """Why, what and acceptance; what is in against what is out."""
    told = Finding()
    if not found.why:
        told.against.append("Nobody has said whose problem this solves.")
        told.questions.append(Asks.WHY)
    if not found.requirements:
        told.unknown.append("There is no requirement to go by.")
        told.questions.append(question_templates.what())
    elif not any(one.criteria for one in found.planned):
        told.against.append("Acceptance is missing: not one requirement says how it is met.")
    for one in _contradictions(found):
        told.against.append(f"{one.id} ({_short(one.title)}) is asked for, and ruled out.")
        told.questions.append(question_templates.which_of_two(one.id, one.title))
    told.suggestions.extend(_cuts(found))
    told.fine.append(
        f"There is a reason, and {counted(len(found.planned), 'requirement')} to hold it against."
    )
    return told


def system(found: CaseFile) -> Finding:
    """Where it lands, and whether that is one place."""
    told = Finding()
    if not (found.targets or found.modules):
        told.unknown.append("Nobody has said where the change lands.")
        told.questions.append(question_templates.where())
    if found.options_open:
        told.against.append("There are options for the architecture, and none is chosen.")
        told.questions.append(Asks.OPTION)
    areas = Counter(one.path.partition("/")[0] for one in found.targets if "/" in one.path)
    if len(areas) > MOST_AREAS:
        told.suggestions.append(
            f"Cut it along the system: it reaches into {len(areas)} areas, {', '.join(areas)}."
        )
    places = {"file": found.targets, "module": found.modules}
    where = " and ".join(counted(len(things), what) for what, things in places.items() if things)
    told.fine.append(f"It lands in {where}.")
    return told


def developer(found: CaseFile) -> Finding:
    """How big the pieces are, and what they stand on."""
    told = Finding()
    if not found.planned:
        told.unknown.append("There is nothing to size yet.")
    for one in found.planned:
        if len(one.criteria) > MOST_CRITERIA:
            told.against.append(f"{one.id} has {len(one.criteria)} criteria, too many for one task.")
            told.suggestions.append(f"Split {one.id} ({_short(one.title)}) along its criteria.")
    if len(found.planned) > MOST_REQUIREMENTS:
        told.against.append(f"{len(found.planned)} requirements are more than one plan can hold.")
        told.suggestions.append("Plan the Musts first, and the others as an item of their own.")
    if len(found.planned) > ORDER_NEEDED and not found.order:
        told.unknown.append("Nobody has said what has to be there first.")
        told.questions.append(Asks.ORDER)
    told.suggestions.extend(
        f"Try out before building: {one_line(one, 120)}" for one in found.open_questions[:MANY_OPEN]
    )
    told.fine.append(f"{counted(len(found.planned), 'task')}, each small enough to picture its end.")
    return told


def tests(found: CaseFile) -> Finding:
    """Whether each requirement can be seen to be met."""
    told = Finding()
    if not found.planned:
        told.unknown.append("There is nothing to test yet.")
    for one in found.planned:
        if not one.criteria:
            told.against.append(f"{one.id} ({_short(one.title)}) has no acceptance criterion.")
            told.questions.append(question_templates.criterion(one.id, one.title))
    for one, word in _vague(found):
        sentence = f'"{word}" in {one.id} has no measure.'
        if one.priority == "Must":
            told.against.append(sentence)
            told.questions.append(question_templates.measure(word, one.id))
        else:
            told.suggestions.append(f"Give it one: {sentence}")
    told.suggestions.extend(
        f"{one.id or one.text} needs a threshold." for one in found.qualities if not one.threshold
    )
    told.fine.append("Every requirement says how somebody would see that it is met.")
    return told


def risks(found: CaseFile) -> Finding:
    """Whether what could go wrong has a name, and an answer."""
    told = Finding()
    if not found.dangers and Asks.RISKS not in found.settled:
        told.unknown.append("Nobody has named a risk, and nobody has said that there is none.")
        told.questions.append(question_templates.risks())
    for one in found.dangers:
        if not one.mitigations and not one.negligible:
            told.against.append(f'Nothing is done about "{_short(one.text)}".')
            told.questions.append(question_templates.mitigation(one.text))
    if len(found.open_questions) > MANY_OPEN:
        told.unknown.append(f"{len(found.open_questions)} questions of the analysis are still open.")
        told.suggestions.append(f"Answer first: {one_line(found.open_questions[0], 120)}")
    told.fine.append(
        f"{counted(len(found.dangers), 'risk')}, each with an answer."
        if found.dangers
        else "People see no risk."
    )
    return told


LANES: Mapping[str, Callable[[CaseFile], Finding]] = {
    verdict.PRODUCT: product,
    verdict.SYSTEM: system,
    verdict.DEVELOPER: developer,
    verdict.TESTS: tests,
    verdict.RISKS: risks,
}


def _contradictions(found: CaseFile) -> Iterator[Wanted]:
    out = {key(text) for text in found.out_of_scope}
    yield from (one for one in found.planned if key(one.title) in out)


def _cuts(found: CaseFile) -> Iterator[str]:
    if found.requirements and not found.out_of_scope:
        yield "Say what is left out on purpose."
    ranks = {one.priority for one in found.requirements}
    if found.requirements and ranks == {UNSET}:
        yield "Say which of it has to be there on day one."
    elif len(found.requirements) > ORDER_NEEDED and ranks == {"Must"}:
        yield "Everything is a Must; say what could go if it had to."


def _vague(found: CaseFile) -> Iterator[tuple[Wanted, str]]:
    """A requirement with a word that needs a measure, and no number in any of its criteria."""
    for one in found.planned:
        criteria = " ".join(one.criteria)
        if (word := VAGUE.search(criteria)) and not has_number(criteria):
            yield one, word[0].lower()


def _short(text: str) -> str:
    return one_line(text, 80)
