"""
Any meeting: people who say and press anything, at any moment, while effects are paid one by one, fail, are told
twice, and processes die or lose their store in between. What holds after every single thing that happens is below.

`scripts/test --search` looks longer, and at other meetings every time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.budget import Budget
from bot.domain.catalog.policy import Policy, ReviewedBy
from bot.domain.catalog.schema import REMARK, FieldType, KindField
from bot.domain.catalog.steps import Depth
from bot.domain.discussion.elaboration import Stance
from bot.domain.item import meta
from bot.domain.item.artifacts import CheckedEdit, DerivedEdit
from bot.domain.item.item import item_from
from bot.domain.item.item_paths import META, TRANSCRIPT
from bot.domain.messages import step_entries, step_wording
from bot.domain.messages.menus import Menu, MenuKind
from bot.domain.messages.message import ITEM, Action, Choice, Message
from bot.domain.roundtable import words
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.effects import (
    Commit,
    OpenThread,
    Post,
    ReadThread,
    Rewrite,
    Speak,
)
from bot.domain.roundtable.inputs import (
    Amend,
    Command,
    Plan,
    Press,
    Resume,
    Retract,
    Say,
    SetDepth,
    Start,
    Stop,
    TryAgain,
)
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import Attempted, ClaimVerdict, Failed, Posted, ThreadMessage, ThreadRead
from bot.domain.roundtable.stage import BUSY, Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification import snapshot
from bot.domain.specification.claim_check import NOT_CONFIRMED
from bot.domain.specification.claims import EntryState, Quote
from bot.domain.specification.entries import OF_DISCUSSIONS, unconfirmed
from bot.domain.specification.fold import Patch
from bot.domain.values.text import value_text
from bot.errors import NotNow
from tests import transcripts
from tests.domain.books import few_steps, step
from tests.domain.table import HERE, LONGEST, NOWHERE, Contribution, Table, person
from tests.oracle import apart

SEARCHING = settings.get_current_profile_name() == "search"
EXAMPLES, MANY, RULES = (3_000, 3_000, 120) if SEARCHING else (60, 200, 50)

TOOK = {"provider": "p", "model": "m", "tokens_in": 80, "tokens_out": 20, "cost": "0.10"}
PEOPLE = st.sampled_from(["ada", "grace", "stranger"])
WORDS = st.sampled_from(
    [
        "It has to work offline.", "What about conflicts?", "e", "c", "s", "C", "finish", "stop", "done", "deep",
        "keep it short", "are we done?", "Maya, why?", "everyone, thoughts?", "Jordan: how?", "", "Alexa, hello",
        "let's wrap up", "I'm not done yet", "01-02 matters", "```code```", "thanks!",
        "risk: it is late", "RSK-001: withdrawn", "decision: one queue", "DEC-001: no queue", "accept 1",
    ]
)  # fmt: skip
SPEECH = st.sampled_from(["I see. Jordan, what do you say?", "", "Alex Rivera: me", "That is 02-01.", "Why?"])
POSITIONS = st.sampled_from([("",), ("Redis",), ("Redis", "SQLite"), ("Redis", "SQLite", "", "paper")])
FAILING = st.sampled_from(
    [
        ("open_thread", "not_in_channel"), ("read_thread", "fatal"), ("read_item", "fatal"), ("post", "invalid_blocks"),
        ("post", "not_in_channel"), ("rewrite", "message_not_found"), ("react", "fatal"), ("tell", "fatal"),
        ("speak", "fatal"), ("speak", "context"), ("speak", "unstructured"), ("survey", "fatal"),
        ("commit", "disk_full"), ("meet_person", "fatal"),
    ]
)  # fmt: skip
VERDICTS = st.sampled_from(["go", "no-go", "no gap", "skip", "go with a condition; condition: a test"])
BOOKS = {
    "few steps": few_steps(),
    "a model": replace(
        few_steps(), policy=Policy(thinks=True, draft_seconds=0, reviewed_by=ReviewedBy.OTHER)
    ),
    "little to spend": replace(
        few_steps(), policy=Policy(thinks=True, draft_seconds=0, budget=Budget(tokens=700))
    ),
    "odd steps": few_steps(
        step("00-01"),
        step("00-02", skip_if="scope =="),
        step("01-01", skip_if="file_count < 1000"),
        step("01-02", depends_on=["01-01"]),
        step("01-03", persona="system-designer"),
    ),
    "no steps": few_steps(step("01-01")),
}


ALL = 100
ON = [
    Action.FINISH_STEP,
    Action.CONTINUE,
    Action.ELABORATE,
    Action.GO_ON,
    Action.SKIP,
    Action.RETRY,
    Action.RESUME,
]
SCENES = [
    (),
    (Action.FINISH_STEP,),
    (Action.FINISH_STEP, Action.CONTINUE),
    (Action.FINISH_STEP, Action.CONTINUE, Action.FINISH_STEP),
    (Action.FINISH_STEP, Action.ELABORATE, Action.GO_ON),
    (Action.FINISH_STEP, Action.CONTINUE, Action.FINISH_STEP, Action.ELABORATE),
    (Action.FINISH_STEP, Action.CONTINUE) * 4,
]
"""What was pressed before it gets wild."""
SUGGESTED = {Action.LINE, Action.ACCEPT_ALL}


class Meeting(RuleBasedStateMachine):
    """The pure engine under everything that may happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: dict[str, str] = {}
        self.heard: set[str] = set()
        self.done: set[str] = set()
        self.last_round = 0
        self.last: Command | None = None
        self.on_the_way: list[Say] = []
        self.newest_question = ""
        self.left: Menu | None = None
        self.step_of: dict[str, str] = {}
        self.posts_failed = False
        self.store_lost = False
        self.drafted = 0
        self.shown = ""
        """All that people saw in the thread: posts as they were edited, and what people said."""

    @initialize(
        book=st.sampled_from(sorted(BOOKS)), thread=st.sampled_from(["", "77.01"]), at=st.sampled_from(SCENES)
    )
    def begin(self, book: str, thread: str, at: tuple[str, ...]) -> None:
        self.book: Playbook = BOOKS[book]
        self.table = Table(self.book, paying=False)
        self.table.world.facts = TOOK if self.book.policy.thinks else {}
        self.table.start(place=HERE.but(thread=thread))
        for action in at:
            self.effects_are_paid(ALL)
            if self.table.rt.menu and self.table.rt.menu.offers(action):
                self.presses(action, "ada", self.table.rt.menu)

    # --- people ---------------------------------------------------------------------------------------------------

    @rule(who=PEOPLE, text=WORDS)
    def says(self, who: str, text: str) -> None:
        if not self.table.rt.place.thread:
            return
        said = self.message(who, text)
        if self.hears(said):
            self.heard.add(said.key)
            self.is_in_the_thread(said)

    @precondition(lambda self: self.table.rt.place.thread)
    @rule(who=PEOPLE, text=WORDS)
    def writes_what_slack_delivers_later(self, who: str, text: str) -> None:
        said = self.message(who, text)
        self.on_the_way.append(said)
        self.is_in_the_thread(said)

    @precondition(lambda self: self.on_the_way)
    @rule(data=st.data())
    def slack_delivers_it_now(self, data: st.DataObject) -> None:
        """In any order."""
        said = self.on_the_way.pop(data.draw(st.integers(0, len(self.on_the_way) - 1)))
        before, said = self.table.rt, said.but(at=self.table.now())
        asked = before.menu
        is_late = asked is not None and (not before.stands_at(asked.token) or said.ts < self.newest_question)
        if self.hears(said) and said.ts > before.last_heard:  # else it was read from the thread since
            self.heard.add(said.key)
        if is_late and words.wish_of(before, said, self.table.playbook):
            after = self.table.rt
            assert (before.stage, before.menu, before.depth) == (after.stage, after.menu, after.depth)

    @precondition(lambda self: self.table.world.heard)
    @rule(who=PEOPLE, text=WORDS, data=st.data())
    def edits_a_message(self, who: str, text: str, data: st.DataObject) -> None:
        ts = data.draw(st.sampled_from(self.table.world.heard)).ts
        self.asks(Amend, who, text=text, ts=ts)

    @precondition(lambda self: self.table.world.heard)
    @rule(who=PEOPLE, data=st.data())
    def deletes_a_message(self, who: str, data: st.DataObject) -> None:
        ts = data.draw(st.sampled_from(self.table.world.heard)).ts
        self.asks(Retract, who, ts=ts)

    @rule(who=PEOPLE, text=WORDS, gone=st.booleans())
    def changes_a_message_that_comes_later(self, who: str, text: str, *, gone: bool) -> None:
        if not self.table.rt.place.thread:
            return
        said = self.message(who, "early")
        if gone:
            self.asks(Retract, who, ts=said.ts)
        else:
            self.asks(Amend, who, ts=said.ts, text=text)
        said = said.but(at=self.table.now())
        if self.hears(said):
            self.heard.add(said.key)
            self.is_in_the_thread(said.but(text=text))

    @precondition(lambda self: self.table.rt.menu)
    @rule(
        who=PEOPLE,
        action=st.sampled_from([Action.FINISH_STEP, Action.CONTINUE, Action.ELABORATE, Action.GO_ON]),
    )
    def goes_on(self, who: str, action: str) -> None:
        """What most people do most of the time: wait until everything is said, and press what leads on."""
        self.effects_are_paid(ALL)
        if self.table.rt.menu and self.table.rt.menu.offers(action):
            self.presses(action, who, self.table.rt.menu)

    @precondition(lambda self: self.table.rt.menu)
    @rule(who=PEOPLE, data=st.data())
    def presses_the_open_menu(self, who: str, data: st.DataObject) -> None:
        assert self.table.rt.menu
        choices = self.table.rt.menu.message.choices
        choice = data.draw(st.sampled_from(choices))
        self.presses(choice.action, who, self.table.rt.menu, value=choice.value)

    @precondition(lambda self: self.table.menus)
    @rule(who=PEOPLE, action=st.sampled_from([*ACTIONS]), data=st.data())
    def presses_any_menu_ever_shown(self, who: str, action: str, data: st.DataObject) -> None:
        self.presses(action, who, data.draw(st.sampled_from(self.table.menus)))

    @rule(who=PEOPLE)
    def wants_to_stop(self, who: str) -> None:
        self.asks(Stop, who)

    @rule(who=PEOPLE)
    def wants_to_resume(self, who: str) -> None:
        self.asks(Resume, who, place=self.table.rt.place)

    @rule(who=PEOPLE)
    def wants_to_plan(self, who: str) -> None:
        self.asks(Plan, who, place=self.table.rt.place)

    @rule(who=PEOPLE, role=st.sampled_from(["Test Planner", "Risk Planner"]), word=VERDICTS)
    def gives_a_verdict(self, who: str, role: str, word: str) -> None:
        self.says(who, f"{role}: {word}")

    @rule(who=PEOPLE, depth=st.sampled_from(Depth))
    def wants_another_depth(self, who: str, depth: Depth) -> None:
        self.asks(SetDepth, who, depth=depth)

    @rule(who=PEOPLE)
    def starts_again(self, who: str) -> None:
        if self.asks(Start, who, item=item_from("Offline sync"), place=HERE.but(channel="C2")):
            self.heard.clear()  # nothing was opened, so nobody could be heard
            self.on_the_way.clear()

    @precondition(lambda self: self.last)
    @rule()
    def slack_repeats_itself(self) -> None:
        assert self.last
        assert decide(self.table.rt, self.last, self.book) is self.table.rt

    @precondition(lambda self: self.table.rt.menu)
    @rule(who=PEOPLE, place=st.integers(0, 5))
    def decides_on_a_suggestion(self, who: str, place: int) -> None:
        """By a button of the card as it stands, or with words."""
        menu = self.table.rt.menu
        offered = menu.message.offered if menu else ()
        buttons = [one for one in offered if one.action in SUGGESTED and not one.value.endswith("/change")]
        if menu and buttons[place:]:
            self.presses(buttons[place].action, who, menu, value=buttons[place].value)
        elif buttons:
            self.says(who, f"accept {1 + place % 2}")

    # --- the world --------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.book.policy.thinks)
    @rule(
        who=PEOPLE,
        kind=st.sampled_from(["risk", "requirement", "question"]),
        is_agreed=st.booleans(),
        place=st.integers(0, 5),
    )
    def a_persona_drafts(self, who: str, kind: str, *, is_agreed: bool, place: int) -> None:
        """An entry with all of its fields, in other words than people's; most times it is decided on at once."""
        table = self.table
        known, self.drafted = self.book.schema.kinds[kind], self.drafted + 1
        self.says(who, f"It stopped {self.drafted} times, and nobody saw it.")
        fields = {name: one for name, one in known.fields.items() if name != REMARK and not one.by_people}
        values = {
            name: self.value_of(one, f"{name} {self.drafted} of {kind}")
            for name, one in fields.items()
            if not one.many and not one.to
        }
        line = table.rt.line_of(table.rt.answers[-1].ts) if table.rt.answers else ""
        quotes = dict.fromkeys(values, (Quote(line=line, words="and nobody saw it"),))
        id = table.rt.specification.next_id(known, "", ())
        patch = Patch(id=id, kind=kind, new=True, set=values, sources=(line,), quotes=quotes)
        table.world.patches = (patch.but(unverified=dict.fromkeys(values, NOT_CONFIRMED)),)
        table.world.review = confirming if is_agreed else lambda _: {}
        self.effects_are_paid(ALL)
        table.world.patches = ()
        self.decides_on_a_suggestion(who, place)

    @staticmethod
    def value_of(field: KindField, text: str) -> object:
        match field.type:
            case FieldType.CHOICE:
                return field.of[-1]
            case FieldType.NUMBER | FieldType.COUNT:
                return 41
            case FieldType.AMOUNT:
                return "41 s"
            case _:
                return text

    @rule(count=st.sampled_from([1, 1, 2, 3, 5, ALL, ALL, ALL]))
    def effects_are_paid(self, count: int) -> None:
        for _ in range(count):
            if not self.pays_one():
                return

    @precondition(lambda self: self.table.rt.outbox)
    @rule()
    def an_attempt_is_written_down(self) -> None:
        pending = self.table.rt.outbox[0]
        attempted = Attempted(key=pending.id, at=self.table.now(), effect=pending.id)
        self.table.rt = decide(self.table.rt, attempted, self.book)
        assert self.table.rt.outbox[0].attempts == pending.attempts + 1

    @precondition(lambda self: self.table.told)
    @rule(data=st.data())
    def an_outcome_comes_again(self, data: st.DataObject) -> None:
        outcome = data.draw(st.sampled_from(self.table.told))
        if outcome.effect not in {effect.id for effect in self.table.rt.outbox}:
            assert decide(self.table.rt, outcome, self.book) is self.table.rt

    @rule(failing=FAILING)
    def the_next_one_fails(self, failing: tuple[str, str]) -> None:
        kind, reason = failing
        self.table.fail(kind, reason)
        self.posts_failed = self.posts_failed or kind in {"post", "rewrite"}

    @rule()
    def a_minute_passes(self) -> None:
        again = TryAgain(key=self.table.key(), at=self.table.now())
        self.table.rt = decide(self.table.rt, again, self.book)

    @rule(path=st.sampled_from(["", "quick-scan.md", "draft.md"]))
    def a_file_takes_no_text(self, path: str) -> None:
        self.table.world.unwritable = path

    @rule(text=SPEECH, positions=POSITIONS, passed=st.booleans())
    def voices_change(self, text: str, positions: tuple[str, ...], *, passed: bool) -> None:
        def speech(_speak: Speak, rt: Roundtable) -> Contribution:
            place = rt.elaboration.turn_count if rt.elaboration else 0
            taken = positions[place % len(positions) :][:1]
            stances = tuple(Stance(issue="storage", position=one, because=("t01",)) for one in taken)
            return Contribution(text, stances, passed=passed and not place % 2)

        self.table.world.speech = speech

    @precondition(lambda self: self.table.world.meta)
    @rule(turns=st.sampled_from([3, 4, 10, "many"]))
    def somebody_edits_the_turn_limit(self, turns: object) -> None:
        self.table.meta_says(elaboration_config={"max_turns": turns})

    @rule()
    def the_process_restarts(self) -> None:
        self.table.restart()

    @precondition(lambda self: self.table.rt.place.thread)
    @rule(luck=st.integers(0, 4))
    def the_store_is_lost(self, luck: int) -> None:
        """What was not committed yet goes with it, and is read from the thread again."""
        if luck:
            return
        self.heard &= self.committed.message_ids
        self.left = self.last = None
        self.on_the_way.clear()
        self.store_lost = True
        self.table.forget()

    @property
    def progress(self) -> meta.ParsedMeta:
        return meta_once(self.table.world.meta or b"{}")

    @property
    def committed(self) -> transcripts.Transcript:
        return read_once(self.table.world.meeting)

    # --- how ----------------------------------------------------------------------------------------------------------

    def presses(self, action: str, who: str, menu: Menu, *, value: str = "") -> None:
        table = self.table
        ts = table.ts_of(menu.token)
        if ts == NOWHERE and table.rt.menu and menu.token == table.rt.menu.token:
            return  # nobody can press what is not in Slack yet
        now = table.rt.menu if table.rt.menu and table.rt.menu.token == menu.token else None
        is_open = now is not None and (action, value) in {
            (one.action, one.value) for one in now.message.offered
        }
        broke = action in {Action.GO_ON, Action.ASK_ALL} and used_up(table.rt.purse, self.book.policy)
        accepted = self.asks(Press, who, action=action, token=menu.token, ts=ts, value=value)
        assert accepted is (is_open and not broke and not ACTIONS[action].opens_form(value))

    def message(self, who: str, text: str) -> Say:
        table, ts = self.table, self.table.ts()
        return Say(key=f"{table.rt.place.channel}.{ts}", at=table.now(), person=person(who), text=text, ts=ts)

    def is_in_the_thread(self, said: Say) -> None:
        """Who reads the thread sees it."""
        self.table.world.heard += (ThreadMessage(person=said.person, text=said.text, ts=said.ts),)

    def asks(self, kind: type[Command], who: str, **facts: Any) -> bool:
        return self.hears(kind(key=self.table.key(), at=self.table.now(), person=person(who), **facts))

    def hears(self, command: Command) -> bool:
        before = self.table.rt
        frozen = before.model_dump_json()
        try:
            after = decide(before, command, self.book)
        except NotNow:
            assert before.model_dump_json() == frozen
            return False
        self.last = command
        self.shown += folded(getattr(command, "text", ""))
        self.note(before, after)
        return True

    def pays_one(self) -> bool:
        before = self.table.rt
        pending = before.next_effect
        menu = pending.message if isinstance(pending, Post | Rewrite) else None
        if menu and leads_on(menu) and menu.token in self.step_of:
            self.check_saved(self.step_of[menu.token], menu.text)
        completing = self.table.pay_one()
        if isinstance(pending, Post | Rewrite | OpenThread) and not isinstance(self.table.told[-1], Failed):
            self.shown += "".join(map(folded, strings_in(pending.message.model_dump(mode="json"))))
        if (
            isinstance(pending, Post)
            and pending.message.token
            and isinstance(stands := self.table.told[-1], Posted)
        ):
            self.newest_question = stands.ts
        if completing and isinstance(outcome := self.table.told[-1], ThreadRead) and outcome.recovering:
            self.heard |= {f"{before.place.channel}.{heard.ts}" for heard in outcome.heard}
        if completing and isinstance(pending, ReadThread) and isinstance(self.table.told[-1], Failed):
            known = [
                heard
                for heard in self.table.world.heard
                if f"{before.place.channel}.{heard.ts}" in self.heard
            ]
            self.table.world.heard = tuple(known)  # people were told that the others are missing
        self.note(before, self.table.rt)
        return completing

    def note(self, before: Roundtable, after: Roundtable) -> None:
        """Remembers what the invariants compare with."""
        self.table.rt = after
        waiting = files_of(before)  # git may have them: a process may have died before it could say so
        assert {id: files for id, files in files_of(after).items() if waiting.get(id, files) != files} == {}
        if before.specification is not after.specification:
            self.check_shown(before, after)
        menu = after.menu
        if menu and menu.token not in {one.token for one in self.table.menus}:
            self.table.menus.append(menu)
        if menu and menu.kind in {MenuKind.STEP, MenuKind.PHASE}:
            self.step_of.setdefault(menu.token, after.step_id)
        if before.stage is Stage.AT_BOUNDARY and after.stage is Stage.ELABORATING:
            self.left = before.menu
        if self.left and menu and after.stage is Stage.AT_BOUNDARY:
            assert (self.left.kind, of_the_step(self.left)) == (menu.kind, of_the_step(menu))
            assert choices_in_words(self.left) == choices_in_words(menu)
            self.left = None

    def check_shown(self, before: Roundtable, after: Roundtable) -> None:
        """No value counts that stood on no card, and in nobody's words, before it was accepted."""
        shown = self.shown + "".join(folded(one.text) for one in self.table.world.heard)
        for entry in after.specification.entries.values():
            known = before.specification.entries.get(entry.id)
            counted = (
                {field: claim.value for field, claim in known.current() if claim.accepted} if known else {}
            )
            for field, claim in entry.current():
                is_place = self.book.schema.kinds[entry.kind].fields[field].by_people
                is_content = not is_place and entry.kind not in OF_DISCUSSIONS
                if claim.accepted and counted.get(field) != claim.value and is_content:
                    values = claim.value if isinstance(claim.value, list | tuple) else [claim.value]
                    known_as = self.book.schema.kinds[entry.kind].fields[field].words
                    for one in values:
                        said = (value_text(one), *known_as.get(str(one), ()))
                        assert any(folded(form) in shown for form in said), (entry.id, field)

    def check_saved(self, step_id: str, text: str) -> None:
        """What a menu says is saved is; what is not saved yet is owed, and the menu does not say that it is saved."""
        rt, saved = self.table.rt, self.progress.meta.steps_completed
        plan = self.book.agenda.plan.step_id  # it is never in steps_completed
        saved = (*saved, plan) if rt.has_finished(plan) else saved
        commits = (*rt.unsaved, *(one for one in rt.outbox if isinstance(one, Commit) and one.late))
        late = {done for commit in commits for done in commit.change.steps}
        assert not step_id or step_id in {*saved, *late}
        says_saved = any(line.startswith("Saved") for line in text.splitlines())
        assert not says_saved or step_id in saved

    # --- what holds, always -------------------------------------------------------------------------------------------

    @invariant()
    def debts_have_names_of_their_own(self) -> None:
        ids = [effect.id for effect in self.table.rt.outbox]
        assert len(ids) == len(set(ids))
        for effect in self.table.rt.outbox:
            assert self.kinds.setdefault(effect.id, effect.kind) == effect.kind

    @invariant()
    def it_survives_being_stored(self) -> None:
        rt = self.table.rt
        assert Roundtable.model_validate_json(rt.model_dump_json()) == rt

    @invariant()
    def steps_are_done_once_and_for_ever(self) -> None:
        steps = self.progress.raw.get("steps_completed", [])
        assert len(steps) == len(set(steps))
        assert self.done <= set(steps)
        self.done = set(steps)

    @invariant()
    def the_status_is_derived(self) -> None:
        found = self.progress.meta
        assert found.analysis_status == meta.status(found.phases_completed)

    @invariant()
    def one_commit_for_a_step_and_one_for_a_discussion(self) -> None:
        work = self.table.world.commits
        steps = [done for commit in work for done in commit.change.steps]
        records = [record for commit in work for record in commit.change.elaborations]
        assert sorted(self.progress.meta.steps_completed) == sorted(steps)
        assert sorted(self.progress.meta.elaborations, key=str) == sorted(records, key=str)
        assert all(commit.step for commit in work if commit.change.steps or commit.change.elaborations)

    @invariant()
    def nobody_talks_beyond_the_limit(self) -> None:
        if debate := self.table.rt.elaboration:
            assert debate.turns_used <= max(debate.max_turns, 10)
            # From then on people decide: they allow more turns, or end it.
            assert not debate.exhausted or not self.table.rt.has_pending(Speak)

    @invariant()
    def the_transcript_keeps_its_promises(self) -> None:
        assert self.committed.flaws == ()
        rounds = [line.round for line in self.table.rt.lines]
        stamps = [line.ts for line in self.table.rt.lines]
        assert rounds == sorted(rounds)
        assert stamps == sorted(stamps)
        assert self.committed.last_round >= self.last_round
        self.last_round = self.committed.last_round

    @invariant()
    def nothing_that_people_said_is_lost_or_said_twice(self) -> None:
        committed = [line.message_id for line in self.committed.lines]
        pending = [line.message_id for line in self.table.rt.lines if line.message_id not in set(committed)]
        waiting = [one.key for one in self.table.rt.undecided]
        said = [message_id for message_id in (*committed, *pending, *waiting) if message_id.startswith("C")]
        assert len(said) == len(set(said))
        assert self.heard <= set(said)

    @invariant()
    def whoever_waits_waits_for_people(self) -> None:
        """When nothing is owed, nothing is in the making, and there is something to press."""
        rt = self.table.rt
        if rt.outbox:
            return
        assert rt.stage not in BUSY
        if rt.stage in {Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.ELABORATING}:
            assert rt.menu
            assert rt.stands_at(rt.menu.token) or self.posts_failed
        if rt.stage is Stage.AT_BOUNDARY and self.book.agenda.get(rt.step_id):
            assert rt.answers == rt.filed

    @invariant()
    def nobody_seems_to_be_at_work_when_nothing_is_owed(self) -> None:
        rt = self.table.rt
        assert rt.outbox or not rt.working_at

    @invariant()
    def there_is_one_menu_with_buttons(self) -> None:
        """The open one, once nothing is owed; what a lost store knew of the others is lost with it."""
        if self.table.rt.outbox or self.posts_failed or self.store_lost:
            return
        shown = {said.message.token for said in self.table.world.thread if said.message.choices} - {ITEM}
        assert shown == ({self.table.rt.menu.token} if self.table.rt.menu else set())

    @invariant()
    def people_stand_in_thread_order_in_every_commit(self) -> None:
        rt = self.table.rt
        pending = (effect for effect in rt.outbox if isinstance(effect, Commit))
        for commit in (*self.table.world.commits[-3:], *rt.unsaved, *pending):
            stamps = [line.said_at for line in commit.lines if line.said_at]
            assert stamps == sorted(stamps)
            assert [line.ts for line in commit.lines] == sorted(line.ts for line in commit.lines)
            assert [line.round for line in commit.lines] == sorted(line.round for line in commit.lines)

    @invariant()
    def a_snapshot_says_what_its_commit_writes(self) -> None:
        """Otherwise a section of ours counts as changed by hand when the item is read from git, and is left so."""
        pending = (effect for effect in self.table.rt.outbox if isinstance(effect, Commit))
        for commit in (*self.table.world.commits[-3:], *pending):
            if commit.snapshot:
                said = set(snapshot.read(commit.snapshot).written.values())
                assert {
                    one.digest for one in commit.edits if isinstance(one, DerivedEdit | CheckedEdit)
                } <= said
                hashes = {line.meta.get(snapshot.HASH) for line in commit.lines}
                assert snapshot.hash_of(commit.snapshot) in hashes

    @invariant()
    def words_wait_only_for_a_post_that_is_being_made(self) -> None:
        rt = self.table.rt
        # A newer edit takes the place of one that is being made; words wait for that, then.
        in_flight = any(
            isinstance(one, Rewrite) or (isinstance(one, Post) and one.attempts) for one in rt.outbox
        )
        assert not rt.undecided or in_flight

    @invariant()
    def nothing_is_held_by_nobody(self) -> None:
        """Every pending line is in a commit, or will be in the next: what failed is not forgotten."""
        rt = self.table.rt
        pending = {line.message_id for line in rt.lines}
        commits = (*rt.unsaved, *(effect for effect in rt.outbox if isinstance(effect, Commit)))
        assert all(line.message_id in pending for commit in commits for line in commit.lines)

    def teardown(self) -> None:
        """In the end everything can be paid, and everything that was said can be committed."""
        if not hasattr(self, "table") or not self.table.rt.place.thread:
            return
        self.table.world.failing.clear()
        for _ in range(LONGEST):
            if not self.pays_one():
                break
        assert self.table.rt.outbox == ()
        self.whoever_waits_waits_for_people()
        self.nothing_that_people_said_is_lost_or_said_twice()
        self.the_record_says_all_of_it()

    def the_record_says_all_of_it(self) -> None:
        """Schema and invariants hold for every line, and replaying them gives meta.json and each block again."""
        world = self.table.world
        texts = {name: text.encode() for name, text in world.files.items()}
        assert list(apart({**texts, TRANSCRIPT: world.meeting, META: world.meta or b"{}"})) == []


@lru_cache(maxsize=4)
def meta_once(content: bytes) -> meta.ParsedMeta:
    return meta.read(content, now="")


@lru_cache(maxsize=4)
def read_once(meeting: bytes) -> transcripts.Transcript:
    return transcripts.read(meeting)


def confirming(rt: Roundtable) -> Mapping[str, Any]:
    """Another model finds that every value is what its quotes say."""
    waiting = unconfirmed(rt.specification)
    return {
        "verdicts": tuple(
            ClaimVerdict(id=entry.id, field=field, at=claim.at, why="") for entry, field, claim in waiting
        )
    }


def files_of(rt: Roundtable) -> dict[str, tuple[str, ...]]:
    """What each commit that waits writes."""
    commits = (one for one in rt.outbox if isinstance(one, Commit))
    return {
        one.id: tuple(edit.digest for edit in one.edits if isinstance(edit, CheckedEdit | DerivedEdit))
        for one in commits
    }


def folded(text: str) -> str:
    """A verdict of `Test Planner` is kept as one of `TestPlanner`."""
    return "".join(text.casefold().split())


def strings_in(told: object) -> Iterator[str]:
    match told:
        case str():
            yield told
        case dict():
            for one in told.values():
                yield from strings_in(one)
        case list():
            for one in told:
                yield from strings_in(one)


def of_the_step(menu: Menu) -> list[Choice]:
    """A discussion may use up what may be spent, and people may allow more in it."""
    return [choice for choice in menu.message.choices if choice.action != Action.ALLOW_MORE]


def leads_on(message: Message) -> bool:
    """Whether it is the menu of a finished step; its question had the same token."""
    return any(choice.action == Action.CONTINUE for choice in message.choices)


def choices_in_words(menu: Menu) -> list[str]:
    return [line for line in menu.message.text.splitlines() if line.startswith("[")]


def test_a_menu_that_is_posted_before_the_second_try_of_a_commit() -> None:
    """A find: it said that its step is saved, which it was not."""
    meeting = Meeting()
    meeting.begin(book="few steps", thread="", at=(Action.FINISH_STEP, Action.CONTINUE))
    meeting.effects_are_paid(count=5)
    meeting.the_next_one_fails(failing=("commit", "disk_full"))
    meeting.goes_on(who="ada", action=Action.FINISH_STEP)
    meeting.effects_are_paid(count=4)
    meeting.a_minute_passes()
    assert meeting.table.rt.menu
    meeting.goes_on(who="ada", action=Action.FINISH_STEP)

    assert any(step_wording.NOT_ALL_SAVED in text for text in meeting.table.texts)
    assert meeting.table.meta.steps_completed == ("00-01", "01-01")
    meeting.teardown()


TYPED = 8
"""In place of a button: "accept 1", or with one more "accept 2"."""


def test_a_value_that_stands_on_no_card_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If cards showed only the words of an entry, and none of its further fields."""
    meeting = Meeting()
    meeting.begin(book="a model", thread="", at=())
    meeting.effects_are_paid(ALL)
    meeting.a_persona_drafts(who="ada", kind="risk", is_agreed=True, place=TYPED)
    entry = meeting.table.rt.specification.entries["RSK-001"]
    assert (entry.state, entry["mitigation"]) == (EntryState.ACCEPTED, "mitigation 1 of risk")

    monkeypatch.setattr(step_entries, "list_values", lambda *_: iter(()))
    with pytest.raises(AssertionError, match="RSK-002"):
        meeting.a_persona_drafts(who="ada", kind="risk", is_agreed=True, place=TYPED + 1)


@pytest.mark.parametrize("examples", [EXAMPLES, pytest.param(MANY, marks=pytest.mark.thorough)])
def test_any_meeting(examples: int) -> None:
    """Whatever people do, and whatever breaks, the promises above hold after every single thing that happens."""
    run_state_machine_as_test(
        Meeting,
        settings=settings(
            max_examples=examples,
            stateful_step_count=RULES,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],  # explaining takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )
