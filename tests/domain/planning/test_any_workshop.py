"""
Any workshop: roles that answer anything, people who say and press anything at any moment, plans that are broken, and
answers that come twice. What holds after every single thing that happens is below.

Each line of the transcript is written by a real roundtable, as the engine does it, in the stage the workshop is in.

`scripts/test --search` looks longer, and at other meetings every time.
"""

from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bot.domain.messages import planning_wording
from bot.domain.messages.message import Message
from bot.domain.planning import workshop
from bot.domain.planning.briefing import briefing
from bot.domain.planning.projections import check_files
from bot.domain.planning.proposal import MAX_ROUNDS, MAX_SESSIONS, ProposedMove
from bot.domain.planning.record import minutes, outputs, put_aside
from bot.domain.planning.verdict import RoleVerdict
from bot.domain.planning.workshop import (
    ATTEMPTS,
    GUARDS,
    REQUIRED,
    Ask,
    Decide,
    DecidedBy,
    Explain,
    PutAside,
    RequestPlan,
    RequestVerdict,
    Workshop,
    Write,
)
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript import lines
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person, Place
from bot.errors import NotNow
from tests.domain.planning.seats import NO, ORDER, VALID, YES

SEARCHING = settings.get_current_profile_name() == "search"
EXAMPLES, RULES = (1_000, 100) if SEARCHING else (50, 50)
SEARCH = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]  # explaining takes minutes

WHO = st.sampled_from(["ada", "grace"])
SAID = st.sampled_from(["Because of the fair.", "skip", "", "By hand.", "No idea", "FR-001 first"])
BRIEFS = st.sampled_from(["Every export loses its last row.", "It is unclear why exports fail."])
QUESTIONS = st.sampled_from(
    ["Who is it for?", "How is it tested?", "When?", "Where?", "What if it fails?", "who is it for"]
)
VERDICTS = st.builds(
    RoleVerdict,
    ok=st.sampled_from([True, True, True, False, None]),
    confidence=st.sampled_from([None, 0.3, 0.6, 0.9]),
    reasons=st.lists(st.sampled_from(["It is too big.", "Nobody knows."]), max_size=2).map(tuple),
    blocking_questions=st.lists(QUESTIONS, max_size=2).map(tuple),
)
PLANS = st.sampled_from([VALID, VALID, {"id": "x"}, "no plan at all"])
SCENES = [*LinePhase, LinePhase.WORKSHOP, LinePhase.FORMALIZING]
"""Where it stands before it gets wild."""
NOW = "2026-01-01T00:00:00.000Z"


class AnyWorkshop(RuleBasedStateMachine):
    """A workshop, and the transcript of the roundtable that holds it."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}
        self.tick = 0
        self.granted = 0

    @initialize(brief=BRIEFS, at=st.sampled_from(SCENES))
    def begin(self, brief: str, at: LinePhase) -> None:
        place = Place(team="T", channel="C", thread="1")
        self.rt = Roundtable(incarnation="i", slug="lost-rows", title="Rows", place=place)
        self.ws = Workshop(slug="lost-rows", title="Rows", brief=brief, roles=ORDER)
        self.before = self.ws
        if at is not LinePhase.DRAFT:
            self.starts("ada")
        while self.ws.stage is not at:
            self.what_is_due_is_done(YES if at is not LinePhase.CLARIFYING else NO, VALID)
            if isinstance(self.ws.due, Decide | Explain):
                self.decides("ada", ProposedMove.GO)
                self.says("ada", "Because of the fair.")

    # --- what is due is done --------------------------------------------------------------------------------------

    @rule(verdict=VERDICTS, plan=PLANS)
    def what_is_due_is_done(self, verdict: RoleVerdict, plan: Any) -> None:
        match self.ws.due:
            case RequestVerdict(role=role):
                line = self.host_says(planning_wording.verdict(verdict), actor=role)
                self.becomes(workshop.judged(self.ws, role, verdict, line=line))
            case RequestPlan():
                self.becomes(workshop.formalized(self.ws, plan))
            case Write():
                self.the_files_are_committed()
            case PutAside():
                self.a_version_is_put_aside()

    @rule(verdict=VERDICTS)
    def a_whole_round_is_heard(self, verdict: RoleVerdict) -> None:
        for _ in ORDER:
            if isinstance(self.ws.due, RequestVerdict):
                self.what_is_due_is_done(verdict, VALID)

    def the_files_are_committed(self) -> None:
        assert self.ws.plan, "a plan is written when there is one"
        edits = outputs(self.ws, self.ws.plan, names={}, now=NOW)
        self.files |= {edit.path: edit.text for edit in edits if edit.text is not None}
        self.becomes(workshop.written(self.ws, *(edit.path for edit in edits)))

    def a_version_is_put_aside(self) -> None:
        old = dict(self.files)
        for edit in put_aside(self.ws, self.files, names={}):
            assert edit.text is None or edit.path not in old, "nothing that was put aside is written over"
            self.files.pop(edit.path, None)
            self.files |= {} if edit.text is None else {edit.path: edit.text}
        self.becomes(workshop.put_aside(self.ws))

    # --- people, at any moment ------------------------------------------------------------------------------------

    @rule(who=WHO)
    def starts(self, who: str) -> None:
        self.presses(lambda _: workshop.started(self.ws), who, "Start")

    @rule(who=WHO, text=SAID)
    def says(self, who: str, text: str) -> None:
        self.presses(lambda by: workshop.said(self.ws, text, by), who, text)

    @rule(who=WHO, decision=st.sampled_from(ProposedMove))
    def decides(self, who: str, decision: ProposedMove) -> None:
        self.presses(lambda by: workshop.chosen(self.ws, decision, by), who, decision)

    @rule(who=WHO)
    def begins_again(self, who: str) -> None:
        self.decides(who, ProposedMove.REDO)
        self.what_is_due_is_done(YES, VALID)
        self.starts(who)

    @rule(who=WHO)
    def wants_another_round(self, who: str) -> None:
        self.presses(lambda _: workshop.another_round(self.ws), who, planning_wording.ANOTHER_ROUND)

    @rule(who=WHO)
    def passes_the_rest(self, who: str) -> None:
        self.presses(lambda by: workshop.passed_all(self.ws, by), who, planning_wording.SKIP_REST)

    @rule(who=WHO)
    def wants_the_plan_now(self, who: str) -> None:
        self.presses(lambda by: workshop.went_straight(self.ws, by), who, planning_wording.STRAIGHT)

    @rule(text=SAID)
    def changes_a_message(self, text: str) -> None:
        self.becomes(workshop.amended(self.ws, f"C.{self.tick}", text))

    @rule(verdict=VERDICTS, plan=PLANS)
    def something_comes_too_late(self, verdict: RoleVerdict, plan: Any) -> None:
        due = self.ws.due
        for role in ORDER:
            if not (isinstance(due, RequestVerdict) and due.role == role):
                assert workshop.judged(self.ws, role, verdict) is self.ws
        if not isinstance(due, RequestPlan):
            assert workshop.formalized(self.ws, plan) is self.ws
        if not isinstance(due, Write):
            assert workshop.written(self.ws, *REQUIRED) is self.ws

    @rule()
    def is_saved_and_read_again(self) -> None:
        again = Workshop.model_validate_json(self.ws.model_dump_json())
        assert again == self.ws
        self.ws = again

    # --- what always holds ----------------------------------------------------------------------------------------

    @invariant()
    def stages_follow_the_table(self) -> None:
        before, after = self.before.stage, self.ws.stage
        assert before is after or (before, after) in GUARDS

    @invariant()
    def no_structured_plan_before_formalizing(self) -> None:
        assert self.ws.plan is None or self.ws.stage is LinePhase.FORMALIZING
        assert not REQUIRED & self.files.keys() or self.ws.stage is LinePhase.REVIEW_READY

    @invariant()
    def ready_only_with_all_outputs_and_a_persons_word(self) -> None:
        if self.ws.stage is LinePhase.REVIEW_READY:
            assert self.files.keys() >= REQUIRED
            assert check_files(self.files) == ()
            assert self.ws.chosen
            assert self.ws.chosen.person in {"ada", "grace"}

    @invariant()
    def a_person_stands_behind_every_plan(self) -> None:
        if self.ws.stage is LinePhase.FORMALIZING:
            assert self.ws.chosen
            assert self.ws.chosen.decision is ProposedMove.GO
            assert self.ws.chosen.reason or not self.ws.chosen.against

    @invariant()
    def limits_are_kept(self) -> None:
        assert self.ws.round <= MAX_ROUNDS + self.ws.more_rounds
        assert self.ws.sessions <= MAX_SESSIONS + self.ws.more_sessions
        assert self.ws.attempts <= ATTEMPTS
        assert self.ws.more_rounds + self.ws.more_sessions <= 2 * self.granted

    @invariant()
    def one_verdict_of_each_role_in_each_round(self) -> None:
        heard = [(one.role, one.round) for one in self.ws.judgements]
        assert len(set(heard)) == len(heard)
        assert [number for _, number in heard] == sorted(number for _, number in heard)

    @invariant()
    def no_question_is_asked_twice_or_left_without_an_id(self) -> None:
        ids = [one.id for one in self.ws.questions]
        assert len(set(ids)) == len(ids)
        assert all(not one.settled for one in self.ws.questions if one.id in self.ws.asking)

    @invariant()
    def there_is_always_a_way_on(self) -> None:
        if self.ws.stage not in {LinePhase.DRAFT, LinePhase.REVIEW_READY}:
            assert isinstance(
                self.ws.due, RequestVerdict | Ask | Decide | Explain | RequestPlan | Write | PutAside
            )

    @invariant()
    def every_answer_is_in_what_all_roles_read(self) -> None:
        read = briefing(self.ws, {})
        assert all(one.answer in read for one in self.ws.answered)
        assert minutes(self.ws, {}).startswith("# Planning: ")

    @invariant()
    def the_transcript_is_in_order(self) -> None:
        found = lines.read(lines.append(b"", self.rt.lines))
        assert found.flaws == ()
        assert len(found.lines) == len(self.rt.lines)

    # --- the roundtable around it ---------------------------------------------------------------------------------

    def presses(self, press: Any, who: str, text: str) -> None:
        """What is refused says why, and changes nothing; it is no line either."""
        self.tick += 1
        try:
            after = press(DecidedBy(person=who, line=f"C.{self.tick}"))
        except NotNow:
            return
        self.granted += 1
        self.rt = self.rt.but(now=self.now()).heard(
            Person(id=who, name=who), text, ts=str(self.tick), part=self.ws.stage
        )
        self.becomes(after)

    def host_says(self, text: str, **more: Any) -> str:
        self.tick += 1
        self.rt = self.rt.but(now=self.now()).telling(Message(text=text), part=self.ws.stage, **more)
        return self.rt.lines[-1].message_id

    def becomes(self, after: Workshop) -> None:
        self.before, self.ws = self.ws, after
        if after.stage is not self.before.stage:
            self.host_says(planning_wording.status(after))

    def now(self) -> str:
        return f"2026-01-01T{self.tick // 3600:02}:{self.tick // 60 % 60:02}:{self.tick % 60:02}.000Z"


def test_what_holds_in_any_workshop() -> None:
    """People decide, limits are kept, and nothing is ready before all of it is written."""
    run_state_machine_as_test(
        AnyWorkshop,
        settings=settings(max_examples=EXAMPLES, stateful_step_count=RULES, deadline=None, phases=SEARCH),
    )
