"""The phases and steps of an analysis: what comes next, and how deep it goes."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from bot.domain.actions.action import Actions
from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.personas import OFFLINE, Roster
from bot.domain.catalog.phases import ANALYSIS_PHASES, PHASE_KEYS, Phase
from bot.domain.catalog.policy import Policies, Policy
from bot.domain.catalog.schema import Schema
from bot.domain.catalog.skip_if import Facts
from bot.domain.catalog.steps import Ask, Depth, Step, StepHeading, Title, one_line
from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.values.value import Stored, Value

QUICK_SCAN = PHASE_KEYS[0]


# --- the quick scan -------------------------------------------------------------------------------------------------
# Read leniently, since people edit `quick-scan.md`.

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
    The lines that people and steps write: `**Estimated Scope**: Medium`, `File Count: ~18-25 files`.

    Of a range the higher bound counts, since work grows; of several lines the last, since the final scope
    comes after the first estimate. What is not there is unknown.
    """
    scopes, complexities, counts = (p.findall(text) for p in (_SCOPE, _COMPLEXITY, _FILE_COUNT))
    return QuickScan(
        scope=scopes[-1].lower() if scopes else "unknown",
        file_count=max(map(_count_in, counts[-1])) if counts else 0,
        complexity=complexities[-1].lower() if complexities else "unknown",
    )


def _count_in(written: str) -> int:
    """With or without a sign between its thousands; 0 where there is none."""
    return int(re.sub("[.,]", "", written) or 0)


# --- the short path: one card per phase, and the steps that its answers cover -----------------------------------------

MOST_QUESTIONS = 6
DROP = "drop"
"""Among the kinds of `press`: what was said is not for the record."""

Line = Annotated[str, BeforeValidator(one_line), StringConstraints(min_length=1, max_length=300)]


class CardQuestion(Value):
    text: Line
    asks: Ask


class PathCard(Value):
    """
    What is asked in place of the steps of a phase. `then` is a question behind the numbered ones, `press` are the kinds
    on the buttons for what stayed a note.

    `covers`: a step counts as done once there is an entry of one of these kinds, or one with the field.
    """

    phase: str
    title: Title
    persona: str
    questions: Annotated[tuple[CardQuestion, ...], Field(min_length=1, max_length=MOST_QUESTIONS)]
    then: str = ""
    press: tuple[str, ...] = ()
    covers: Mapping[str, tuple[Ask, ...]] = {}

    def in_place_of(self, steps: Sequence[Step]) -> Step:
        """The card as a step that stands for all *steps* of the phase, under the id of the first."""
        rows = [f"{number}. {one.text}" for number, one in enumerate(self.questions, start=1)]
        asked = "\n".join(rows) + (f"\n\n{self.then}" if self.then else "")
        asks = {number: one.asks for number, one in enumerate(self.questions, start=1)}
        modes = (StepHeading.BRIEF, StepHeading.STANDARD)
        return Step(
            step_id=steps[0].step_id,
            title=self.title,
            persona=self.persona,
            depth=Depth.BRIEF,
            outputs=tuple(dict.fromkeys(output for step in steps for output in step.outputs)),
            phase_key=self.phase,
            filename=steps[0].filename,
            sections=dict.fromkeys(modes, asked),
            asks=dict.fromkeys(modes, asks),
            is_card=True,
            covers=self.covers,
            speakers=steps[0].speakers,
        )


class ShortPath(Value):
    """In the order of the phases; a phase without a card asks its steps."""

    cards: tuple[PathCard, ...] = ()

    def card_of(self, phase_key: str) -> PathCard | None:
        return next((card for card in self.cards if card.phase == phase_key), None)


# --- phases and steps -----------------------------------------------------------------------------------------------

PLAN_NUMBER = 5


def plan_step(steps: Iterable[Step]) -> Step:
    """The step that makes the plan, behind all phases: `05-01`, or later where a team has further phases."""
    number = max([PLAN_NUMBER, *(int(step.step_id[:2]) + 1 for step in steps)])
    return Step(
        step_id=f"{number:02}-01",
        title="Plan",
        persona="business-analyst",
        depth=Depth.STANDARD,
        outputs=("notes.md",),
        phase_key=f"{number:02}-plan",
    )


class Agenda:
    """
    All phases by key, all steps by file name. The step of the *plan* belongs to none of the phases. *replaced* are
    steps in whose place the card of their phase is asked: known, and none of the agenda.
    """

    def __init__(
        self,
        phases: Iterable[Phase] = ANALYSIS_PHASES,
        steps: Iterable[Step] = (),
        replaced: Iterable[Step] = (),
    ) -> None:
        self.phases = tuple(sorted(phases, key=lambda phase: phase.key))
        self.steps = tuple(sorted(steps, key=lambda step: (step.phase_key, step.filename, step.step_id)))
        self.plan = plan_step(self.steps)
        self.plan_phase = Phase.of_folder(self.plan.phase_key)
        self._steps = {step.step_id: step for step in (*replaced, self.plan, *self.steps)}

    def first_open(self, phases_completed: Collection[str]) -> Phase | None:
        return next((phase for phase in self.phases if phase.key not in phases_completed), None)

    def has_phase(self, key: str) -> bool:
        return key in {phase.key for phase in (*self.phases, self.plan_phase)}

    def step(self, step_id: str) -> Step:
        return self._steps[step_id]

    def get(self, step_id: str) -> Step | None:
        return self._steps.get(step_id)

    def ids_of(self, phase_key: str) -> frozenset[str]:
        """Of all steps of the phase, also of those in whose place its card is asked."""
        return frozenset(step.step_id for step in self._steps.values() if step.phase_key == phase_key)

    def steps_of(self, phase_key: str) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.phase_key == phase_key)


class SkippedStep(Stored):
    """
    A step that a run went past without doing it, and why, in one sentence. `excused`: its `skip_if` held, so
    that nothing waits for it.
    """

    step_id: str
    why: str
    excused: bool = False


@dataclass(frozen=True, slots=True)
class Pick:
    """
    The step that is next, if any, and those passed over on the way to it: they are considered again next time.

    *troubles* are about what those wait for, and about the condition of a step that runs because it means nothing.
    """

    step: Step | None
    skipped: tuple[SkippedStep, ...] = ()
    troubles: tuple[Trouble, ...] = ()


def next_step(
    agenda: Agenda,
    phase_key: str,
    *,
    completed: Collection[str],
    passed: Collection[str],
    facts: Facts,
    excused: Collection[str] = (),
) -> Pick:
    """
    *passed* are the steps this run has skipped already: they are not talked about again. *excused* are those of them
    that were skipped because of their `skip_if`: no other step waits for them.
    """
    skipped: list[SkippedStep] = []
    troubles: list[Trouble] = []
    for step in agenda.steps_of(phase_key):
        if step.step_id in completed or step.step_id in passed:
            continue
        if waits := _waiting(agenda, step, completed=completed, facts=facts, excused=excused):
            troubles.append(waits)
        if skip := why_skipped(agenda, step, completed=completed, facts=facts, excused=excused):
            skipped.append(skip)
            continue
        if step.has_bad_condition:
            troubles.append(trouble("ERR-STEP-009", step_id=step.step_id, expression=step.skip_if))
        return Pick(step, tuple(skipped), tuple(troubles))
    return Pick(None, tuple(skipped), tuple(troubles))


def why_skipped(
    agenda: Agenda, step: Step, *, completed: Collection[str], facts: Facts, excused: Collection[str] = ()
) -> SkippedStep | None:
    """None when *step* can be led."""
    if waits := _waiting(agenda, step, completed=completed, facts=facts, excused=excused):
        return SkippedStep(step_id=step.step_id, why=waits.sentence)
    if not step.is_excused(facts):
        return None
    why = f"Step {step.step_id} skipped: condition '{step.skip_if}' is true."
    return SkippedStep(step_id=step.step_id, why=why, excused=True)


def _waiting(
    agenda: Agenda, step: Step, *, completed: Collection[str], facts: Facts, excused: Collection[str]
) -> Trouble | None:
    """A dependency whose `skip_if` holds counts as complete, beyond ERR-STEP-008."""
    for dep in step.depends_on:
        known = agenda.get(dep)
        if dep not in completed and dep not in excused and not (known and known.is_excused(facts)):
            return trouble("ERR-STEP-008", step_id=step.step_id, dep_id=dep)
    return None


def depth_for(
    phase_key: str, overrides: Mapping[str, object], scan: QuickScan | None
) -> tuple[Depth, str, Trouble | None]:
    """
    How deep to go in a phase, and why: "override", "quick-scan" or "standard".

    An override comes first, then the quick scan. Phase 00 has no scan yet and is standard.
    """
    if override := _override(phase_key, overrides):
        return override, "override", None

    ignored = trouble("ERR-DEPTH-002") if phase_key in overrides else None
    if scan is None or phase_key == QUICK_SCAN:
        return Depth.STANDARD, "standard", ignored
    if scan.known:
        return scan.depth, "quick-scan", ignored
    return Depth.STANDARD, "standard", ignored or trouble("ERR-DEPTH-001")


def depth_of_step(step: Step, overrides: Mapping[str, object], active: Depth | None) -> Depth:
    """The override of its phase, else the depth that is active, else the step's own."""
    return _override(step.phase_key, overrides) or active or step.depth


def _override(phase_key: str, overrides: Mapping[str, object]) -> Depth | None:
    """None where there is no override, or one that is no depth."""
    return next((depth for depth in Depth if depth == overrides.get(phase_key)), None)


@dataclass(frozen=True)
class Playbook:
    """
    Everything that was read from personas/ and analysis-steps/.

    *troubles* were found while reading; their `phase_key` fact says where they belong. *notes* are for those
    who wrote the files: the log and `roundtable check` have them, the thread does not. *policy* is of the settings,
    and *policies* are what channels have of their own. *actions* is what people can press and type. *short_path* is
    None where the folder of steps has no usable one; *whole* is what was read, of a playbook that was narrowed.
    *repositories* are those in which issues may be created. *content* is the fingerprint of what was read.
    """

    roster: Roster
    agenda: Agenda
    troubles: tuple[Trouble, ...] = ()
    notes: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    schema: Schema = field(default_factory=Schema)
    policies: Policies = field(default_factory=Policies)
    actions: Actions = ACTIONS
    short_path: ShortPath | None = None
    whole: "Playbook | None" = None
    repositories: tuple[str, ...] = ()
    content: str = ""

    def within(self, channel: str, cast: Collection[str] = ()) -> "Playbook":
        """As it applies in *channel*, to a roundtable with the personas of *cast*; none means all of them."""
        policy = self.policies.of(channel, self.policy)
        roster = self.roster.cast(cast) if cast else self.roster
        if policy == self.policy and roster is self.roster:
            return self
        return replace(self, whole=self.whole or self, policy=policy, roster=roster)

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """Also those in whose place the card of their phase is asked."""
        return (self.whole or self).agenda.steps

    def own_step(self, step_id: str) -> Step | None:
        """As the folder has it, also where the card of its phase is asked."""
        return (self.whole or self).agenda.get(step_id)

    @property
    def usual_depth(self) -> Depth:
        """Without a model nobody drafts, so one card for each phase is asked, where there are cards."""
        return Depth.BRIEF if self.short_path and not self.has_model else Depth.STANDARD

    @property
    def has_model(self) -> bool:
        return self.policy.thinks or any(one.model not in {"", OFFLINE} for one in self.roster)

    def shortened(self, phase_keys: Collection[str]) -> "Playbook":
        """With the card of each of these phases, where there is one, in place of its steps."""
        cards = {}
        for card in self.short_path.cards if self.short_path else ():
            if card.phase in phase_keys and (steps := self.agenda.steps_of(card.phase)):
                cards[card.phase] = card.in_place_of(steps)
        if not cards:
            return self
        replaced = [step for step in self.agenda.steps if step.phase_key in cards]
        others = [step for step in self.agenda.steps if step.phase_key not in cards]
        asked = {card.step_id for card in cards.values()}
        views = tuple(view.but(is_on_card=view.card in asked) for view in self.schema.views)
        return replace(
            self,
            whole=self.whole or self,
            agenda=Agenda(self.agenda.phases, [*others, *cards.values()], replaced),
            schema=self.schema.but(views=views),
        )

    def troubles_of(self, phase_key: str) -> tuple[Trouble, ...]:
        """What people should read when the phase opens; a bad skip_if is told when its step comes up."""
        return tuple(
            one
            for one in self.troubles
            if one.facts.get("phase_key") == phase_key and one.code != "ERR-STEP-009"
        )
