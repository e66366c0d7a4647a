"""
A whole roundtable without a loop, a socket or a disk: the pure engine, and a world that pays its effects at once.

The world is honest where the domain relies on it: files become what the edits make of them, meta.json and
meeting.jsonl are read back from bytes, and every menu ever shown is remembered so that it can be pressed again.
"""

import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from bot.domain.catalog.agenda import Playbook, read_quick_scan
from bot.domain.catalog.budget import kept
from bot.domain.catalog.steps import Depth
from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.discussion import elaboration
from bot.domain.discussion.elaboration import MOST_IN_A_ROUND, Stance, TurnKind
from bot.domain.item import meta
from bot.domain.item.artifacts import Edit, InsightEdit, Missing, SectionEdit, UnreadableArtifact
from bot.domain.item.item import TrackerIssue, item_from
from bot.domain.messages.menus import Menu
from bot.domain.messages.message import ITEM, Action, Message
from bot.domain.roundtable.effects import (
    ClearWork,
    Commit,
    Effect,
    Log,
    MeetPerson,
    NameSession,
    OpenThread,
    Post,
    PushIssue,
    React,
    ReadIssue,
    ReadIssues,
    ReadItem,
    ReadThread,
    Restore,
    ReviewDraft,
    Rewrite,
    ShareRecord,
    ShowWork,
    Speak,
    Survey,
    Tell,
    Unreact,
    WorkIndicator,
)
from bot.domain.roundtable.inputs import (
    Amend,
    Command,
    Export,
    Input,
    OfPrograms,
    Plan,
    Press,
    Resume,
    Retract,
    Returned,
    Say,
    SetDepth,
    Start,
    Stop,
    TimeCame,
    TryAgain,
)
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import (
    ChangedFile,
    CodeSurvey,
    CommitResult,
    Committed,
    Done,
    DraftReview,
    Failed,
    IssuePushed,
    IssueReadAgain,
    IssuesRead,
    ItemRead,
    ItemState,
    LoadedItem,
    OpenedThread,
    Outcome,
    PersonaSpoke,
    PersonMet,
    Posted,
    Reviewed,
    Surveyed,
    ThreadMessage,
    ThreadOpened,
    ThreadRead,
    TurnTaken,
)
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import OF_DRAFTS, TimerName, due_at
from bot.domain.roundtable.transitions import opening
from bot.domain.specification.brief import PAGE
from bot.domain.specification.claims import Quote
from bot.domain.specification.fold import Patch
from bot.domain.specification.snapshot import folded
from bot.domain.transcript import lines as transcript
from bot.domain.transcript import open_step
from bot.domain.transcript.last_line import last_line
from bot.domain.transcript.seal import TAKES_OVER, OldLines
from bot.domain.values.markdown import is_last
from bot.domain.values.places import Belonging, Person, Place
from tests.all_steps import shipped_playbook

HERE = Place(team="T1", channel="C1")
FLOOR = [Action.ASK_ALL, Action.SEALED, Action.END_ELABORATION]
"""Below a discussion without positions."""
LONGEST = 1_000
MIDNIGHT = 1_767_225_600
"""2026-01-01, by Slack's clock."""
NOWHERE = "0"
SORRY = "The disk is full."
NAMES = {"ada": "Ada", "grace": "Grace", "linus": "Linus"}
STRANGERS = {"U0ZOE": "Zoe", "U0ODD": "Odd"}
"""Whom only Slack can name."""
Who = str | Person
"""A member by their key, or anybody else."""
P = ParamSpec("P")
T = TypeVar("T")


def shipped() -> Playbook:
    return shipped_playbook()


class Contribution(NamedTuple):
    """What a persona says in a discussion, if it puts more on record than words. Nothing where it *passed*."""

    text: str
    stances: tuple[Stance, ...] = ()
    passed: bool = False
    quotes: tuple[Quote, ...] | None = None
    """None: of a line of code that nobody has quoted."""
    blends: bool = False


def taken(said: Contribution, persona: str, number: int, rt: Roundtable) -> elaboration.Contribution | None:
    """As the voice gives it; *number* are those before it in the same answer."""
    if said.passed:
        return None
    fresh = Quote(line=f"src/sync.py:{rt.debate.turn_count}-{number}", words="the line of code")
    quotes = (fresh,) if said.quotes is None else said.quotes
    return elaboration.Contribution(
        persona=persona, text=said.text, stances=said.stances, quotes=quotes, blends=said.blends
    )


@dataclass
class Said:
    """A message in the thread, as it stands now."""

    ts: str
    message: Message


@dataclass
class World:
    """Slack and the workspace, as far as a roundtable can tell."""

    thread: list[Said] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    """Where a menu was posted, also when it is over."""
    shown: list[Message] = field(default_factory=list)
    root_edits: list[Rewrite] = field(default_factory=list)
    """Of the first message. In `thread` it stays as it was posted."""
    told: list[tuple[str, Message]] = field(default_factory=list)
    shared: list[ShareRecord] = field(default_factory=list)
    reactions: list[tuple[str, str]] = field(default_factory=list)
    signs: list[WorkIndicator] = field(default_factory=list)
    sessions: list[tuple[str, bool]] = field(default_factory=list)
    """What stands under the thread."""
    logged: list[Trouble] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    meta: bytes | None = None
    good_meta: bytes = b""
    """The newest in history that can be read."""
    unwritable: str = ""
    """A file that takes no text."""
    meeting: bytes = b""
    heard: tuple[ThreadMessage, ...] = ()
    complete: bool = True
    belonging: dict[str, Belonging] = field(default_factory=dict)
    survey: CodeSurvey = field(default_factory=CodeSurvey)
    commits_behind: int = 0
    old_lines: OldLines = field(default_factory=OldLines)
    """Lines that wait to be taken over."""
    troubles: tuple[Trouble, ...] = ()
    speech: Callable[[Speak, Roundtable], "str | Contribution"] = lambda speak, _: (
        f"{speak.persona} on {speak.task}"
    )
    more: Mapping[str, Any] = field(default_factory=dict)
    """What a persona says besides words: its stances, what it asks, or that it passes."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    patches: tuple[Patch, ...] = ()
    review: Callable[[Roundtable], Mapping[str, Any]] = lambda _: {}
    """What another model finds."""
    issues: dict[str, str] = field(default_factory=dict)
    """Titles of a tracker's issues, by their addresses, and `states` of those that changed."""
    states: dict[str, str] = field(default_factory=dict)
    left_alone: bool = False
    began_with: TrackerIssue | None = None
    failing: dict[str, list[Failed]] = field(default_factory=dict)


class Table:
    """People at a table, and a roundtable that is paid after everything they do."""

    def __init__(self, playbook: Playbook | None = None, *, paying: bool = True) -> None:
        self.playbook = playbook or shipped()
        self.world = World()
        self.paying = paying
        self.menus: list[Menu] = []
        self.told: list[Outcome] = []
        self.completing: list[Effect] = []
        self._tick = 0
        self.rt: Roundtable

    # --- people ---------------------------------------------------------------------------------------------------

    def start(
        self, title: str = "Offline sync", *, place: Place = HERE, who: Who = "ada", **chosen: Any
    ) -> "Table":
        """All steps are asked, where *chosen* has no other depth."""
        key, at, item = self.key(), self.now(), item_from(title)
        asked = {
            "depth": None if self.playbook.within(place.channel).policy.depth else Depth.STANDARD,
            **chosen,
        }
        start = Start(key=key, at=at, item=item, place=place, person=person(who), **asked)
        self.rt = opening.start(start, self.playbook)
        return self._paid()

    def start_again(
        self, title: str = "Offline sync", *, place: Place = HERE, who: Who = "ada", planning: bool = False
    ) -> "Table":
        return self.does(Start, who=who, item=item_from(title), place=place, planning=planning)

    def say(self, text: str, *, who: Who = "ada", ts: str = "", to_us: bool = False) -> "Table":
        ts = ts or self.ts()
        return self.does(Say, who=who, key=f"C1.{ts}", text=text, ts=ts, to_us=to_us)

    @property
    def speaking(self) -> Speak:
        """The voice that is asked for words next."""
        pending = self.rt.outbox[0]
        assert isinstance(pending, Speak)
        return pending

    def spoke(self, speak: Speak, text: str, **told: Any) -> "Table":
        """Who was asked to *speak* has written *text*."""
        heard = {"key": speak.id, "at": self.now(), "effect": speak.id, "persona": speak.persona}
        self.rt = self.decided(PersonaSpoke(**heard, text=text, then=speak.then, **told))
        return self

    def happens(self, event: Input) -> "Table":
        self.rt = self.decided(event)
        return self._paid()

    def take_round(self) -> "Table":
        """People have said nothing for a while, and the personas take up what they said."""
        return self.time_comes(TimerName.ROUND)

    def time_comes(self, name: TimerName) -> "Table":
        """What was set for later is due, and nothing else is."""
        due = self.rt.timers[name]
        return self.happens(TimeCame(key=f"timer.{name}.{due}", at=due, name=name, due=due))

    def time_is(self, at: str) -> "Table":
        """All that is due by then follows."""
        for due in due_at(self.rt, at):
            self.rt = self.decided(due)
        return self._paid()

    def press(
        self, action: str, *, who: Who = "ada", menu: Menu | None = None, key: str = "", value: str = ""
    ) -> "Table":
        """Press a button of *menu*: by default of the open one."""
        token = (menu or self.menu).token
        facts = {"action": action, "token": token, "ts": self.ts_of(token), "value": value}
        return self.does(Press, who=who, key=key, **facts)

    def press_outside(self, action: str, *, who: Who = "ada", value: str = "") -> "Table":
        """Press a button that belongs to no menu, such as those of the first message."""
        ts = self.rt.place.thread
        return self.does(Press, who=who, action=action, token=ITEM, ts=ts, value=value)

    def finish(self, *, who: Who = "ada") -> "Table":
        return self.say("finish", who=who)

    def depth(self, depth: Depth, *, who: Who = "ada") -> "Table":
        return self.does(SetDepth, who=who, depth=depth)

    def stop(self, *, who: Who = "ada") -> "Table":
        return self.does(Stop, who=who)

    def resume(self, *, who: Who = "ada") -> "Table":
        return self.does(Resume, who=who, place=self.rt.place)

    def export(self, *, who: Who = "ada") -> "Table":
        return self.does(Export, who=who)

    def plan(self, *, who: Who = "ada") -> "Table":
        return self.does(Plan, who=who, place=self.rt.place)

    def does(self, kind: type[Command], *, who: Who = "ada", key: str = "", **facts: Any) -> "Table":
        """By a form, a press or an event: an input of that *kind*."""
        return self.hear(kind(key=key or self.key(), at=self.now(), person=person(who), **facts))

    def hear(self, command: Command | OfPrograms) -> "Table":
        self.rt = self.decided(command)
        if isinstance(command, Say):
            about = self.world.thread[-1].message.about if self.world.thread else ""
            heard = ThreadMessage(
                person=command.person, text=command.text, ts=command.ts, about=about, to_us=command.to_us
            )
            self.world.heard = (*self.world.heard, heard)
        return self._paid()

    def edit(self, ts: str, text: str, *, who: Who = "ada", key: str = "") -> "Table":
        return self.does(Amend, who=who, key=key, text=text, ts=ts)

    def delete(self, ts: str, *, who: Who = "ada", key: str = "") -> "Table":
        return self.does(Retract, who=who, key=key, ts=ts)

    def do_step(self, *answers: str) -> "Table":
        """Answer, and finish the open step."""
        for answer in answers or ("We need it for field work without a network.",):
            self.say(answer)
        return self.press(Action.FINISH_STEP)

    def elaborate(self) -> "Table":
        """Do a step, and open a discussion of it."""
        return self.do_step().press(Action.ELABORATE)

    def press_continue(self, *, who: Who = "ada") -> "Table":
        return self.press(Action.CONTINUE, who=who)

    def press_retry(self, *, who: Who = "ada") -> "Table":
        return self.press(Action.RETRY, who=who)

    def through(self, step_id: str) -> "Table":
        """Do every step up to and including *step_id*; its menu is open then."""
        while step_id not in self.rt.steps_completed:
            assert self.rt.stage in {Stage.DISCUSSING, Stage.AT_BOUNDARY}, (
                f"stuck, the roundtable is {self.rt.stage}"
            )
            if self.rt.stage is Stage.DISCUSSING:
                self.do_step()
            else:
                self.press_continue()
        return self

    def wait(self, seconds: int) -> "Table":
        self._tick += seconds
        return self

    def try_again(self) -> "Table":
        """A minute has passed."""
        return self.happens(TryAgain(key=self.key(), at=self.now()))

    def missed(self, *texts: str, who: Who = "grace") -> "Table":
        """People wrote that while nobody listened, and Slack has given up repeating it."""
        for text in texts:
            self.world.heard = (*self.world.heard, ThreadMessage(person=person(who), text=text, ts=self.ts()))
        return self

    def return_(self, since: str = "") -> "Table":
        """Somebody listens again, who last did at *since*: now, if nothing is said."""
        return self.happens(Returned(key=self.key(), at=self.now(), since=since or self.now()))

    def break_meta(self) -> "Table":
        """Somebody saves half a meta.json; git has the one before."""
        assert self.world.meta
        self.world.good_meta, self.world.meta = self.world.meta, b"{ oops"
        return self

    def decided(self, event: Input) -> Roundtable:
        return decide(self.rt, event, self.playbook)

    def restart(self) -> "Table":
        """The process dies, and another one reads what was saved."""
        self.rt = Roundtable.model_validate_json(self.rt.model_dump_json())
        return self._paid()

    def forget(
        self, title: str = "Offline sync", *, thread_known: bool = True, place: Place = HERE
    ) -> "Table":
        """The store is lost; only the workspace and the thread are left, and somebody resumes, else in *place*."""
        place = self.rt.place if thread_known else place
        start = Start(key=self.key(), at=self.now(), item=item_from(title), place=place, person=person("ada"))
        self.rt = opening.take_up(start, self.playbook, thread_known=thread_known)
        return self._paid()

    def copied(self) -> "Table":
        """Another table at which everything was said and done that was here."""
        table = _with_own_lists(self)
        table.world = _with_own_lists(self.world)
        table.world.thread = [copy(said) for said in self.world.thread]
        return table

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    def menu(self) -> Menu:
        assert self.rt.menu, f"there is no open menu, the roundtable is {self.rt.stage}"
        return self.rt.menu

    @property
    def menu_at(self) -> str:
        """Where the open menu stands, as far as the roundtable knows."""
        return self.rt.stands_at(self.menu.token)

    @property
    def card(self) -> Message:
        """What the card of the step says."""
        assert self.rt.card, "there is no card"
        return self.said_on(self.rt.card.token)

    def said_on(self, token: str) -> Message:
        """What the live message of the menu *token* says."""
        shown = self.rt.live[token].shown
        assert shown, "nothing was sent"
        return shown

    def standing(self, ts: str) -> Message:
        """What stands in the thread there now."""
        return next(one.message for one in self.world.thread if one.ts == ts)

    @property
    def texts(self) -> list[str]:
        """What people were shown, in order: posts, and edits that offer something new."""
        return [message.text for message in self.world.shown]

    @property
    def last(self) -> Message:
        return self.world.shown[-1]

    @property
    def meta(self) -> meta.Meta:
        assert self.world.meta is not None
        return meta.read(self.world.meta, now=self.now()).meta

    @property
    def lines(self) -> tuple[transcript.Line, ...]:
        """The transcript: what is in git, and what is still pending."""
        return transcript.read(transcript.append(self.world.meeting, self.rt.lines))

    @property
    def subjects(self) -> list[str]:
        """What the commits are called, without the item before it."""
        return [commit.subject.partition(": ")[2] for commit in self.world.commits]

    def order(self, *kinds: str) -> list[str]:
        """In which order effects of these kinds were paid so far."""
        return [effect.kind for effect in self.completing if effect.kind in kinds]

    @property
    def codes(self) -> set[str]:
        return {one.code for one in self.world.logged}

    @property
    def discussion(self) -> Message:
        """The newest card of a discussion, as it stands."""
        cards = [one.message for one in self.world.thread if one.message.card]
        return next(one for one in reversed(cards) if one.card and one.card.title.startswith("Discussion: "))

    def offered(self) -> list[str]:
        return [choice.action for choice in self.rt.menu.message.choices] if self.rt.menu else []

    # --- the world ------------------------------------------------------------------------------------------------

    def pay_one(self) -> bool:
        """The next debt, or False when nothing is owed."""
        effect = self.rt.next_effect
        if effect is None:
            return self._drafting()
        told: dict[str, Any] = {"key": effect.id, "at": self.now(), "effect": effect.id}
        if isinstance(effect, Rewrite) and effect.ts == self.rt.place.thread:
            self.world.root_edits.append(effect)
            self.rt = self.decided(Done(**told))
            return True
        failures = self.world.failing.get(effect.kind)
        outcome = failures.pop().but(**told) if failures else self._perform(effect, told)
        self.told.append(outcome)
        self.completing.append(effect)
        self.rt = self.decided(outcome)
        if self.rt.menu and self.rt.menu.token not in {menu.token for menu in self.menus}:
            self.menus.append(self.rt.menu)
        return True

    def _drafting(self) -> bool:
        """A draft that is due."""
        due = [one for one in due_at(self.rt, self.rt.now) if one.name in OF_DRAFTS]
        self.rt = self.decided(due[0]) if due else self.rt
        return bool(due)

    def fall_silent(self, seconds: int = 15) -> "Table":
        """Nobody says anything for so long."""
        return self.wait(seconds).time_is(self.now())

    def pay_until(self, enough: Callable[[Roundtable], bool]) -> "Table":
        while not enough(self.rt):
            assert self.pay_one(), "everything is paid, and it did not come to that"
        return self

    def pay_up_to(self, kind: str) -> "Table":
        """The next debt is of this kind then."""
        return self.pay_until(lambda rt: bool(rt.outbox) and rt.outbox[0].kind == kind)

    def fail(self, kind: str, reason: str = "fatal", *, times: int = 1) -> "Table":
        """The next effects of this kind cannot be paid."""
        failure = Failed(key="", at="", effect="", reason=reason, sentence=SORRY)
        self.world.failing[kind] = [failure] * times
        return self

    def meta_says(self, **fields: object) -> "Table":
        """Somebody edits meta.json by hand."""
        assert self.world.meta is not None
        self.world.meta = json.dumps({**json.loads(self.world.meta), **fields}).encode()
        return self

    def stop_paying(self) -> "Table":
        """From now on effects are owed until somebody pays."""
        self.paying = False
        return self

    def resume_paying(self) -> "Table":
        """From now on everything is paid at once again."""
        self.paying = True
        return self._paid()

    def ts_of(self, token: str) -> str:
        return self.world.tokens.get(token, NOWHERE)

    def key(self) -> str:
        return f"k{self._next()}"

    def ts(self) -> str:
        return f"{MIDNIGHT + self._next()}.000100"

    def now(self) -> str:
        seconds = self._next()
        return f"2026-01-01T{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z"

    def _next(self) -> int:
        self._tick += 1
        return self._tick

    def _paid(self) -> "Table":
        for _ in range(LONGEST):
            if not (self.paying and self.pay_one()):
                return self
        raise AssertionError("it never comes to rest")

    def _perform(self, effect: Effect, told: Mapping[str, str]) -> Outcome:
        world = self.world
        match effect:
            case OpenThread():
                ts = self.rt.place.thread or self._stands(effect.message)
                return ThreadOpened(**told, thread=OpenedThread(ts=ts, permalink=f"https://slack.test/p{ts}"))
            case ReadThread():
                # Only what stands after the stamp is read: of posts of ours, too.
                first = min((one.ts for one in world.thread if one.ts > effect.after), default="")
                heard = tuple(
                    (one if first and first < one.ts else one.but(about="")).following(
                        effect.about, effect.known
                    )
                    for one in world.heard
                    if one.ts > effect.after and one.ts not in effect.known
                )
                return ThreadRead(
                    **told,
                    heard=heard,
                    recovering=effect.recovering,
                    quiet=effect.quiet,
                    missed=effect.missed,
                    complete=world.complete,
                )
            case ReadItem():
                return self._item_read(effect, told)
            case Restore():
                self.world.meta = self.world.good_meta or self.world.meta
                return self._item_read(effect, told)
            case Post():
                return Posted(**told, ts=self._stands(effect.message))
            case Rewrite():
                card = effect.message.card
                is_discussion = card is not None and card.title.startswith("Discussion: ")
                if card and card.title.endswith("done") if is_discussion else effect.message.choices:
                    world.shown.append(effect.message)
                for one in world.thread:
                    if one.ts == effect.ts:  # an edit leaves the metadata as it is
                        one.message = effect.message.but(about=one.message.about)
            case React():
                world.reactions.append((effect.ts, effect.emoji))
            case Unreact():
                gone = (effect.ts, effect.emoji)
                world.reactions = [one for one in world.reactions if one != gone]
            case ShowWork():
                world.signs = [*(one for one in world.signs if one is not effect.sign), effect.sign]
            case ClearWork():
                world.signs = [one for one in world.signs if one is not effect.sign]
            case NameSession():
                world.sessions.append((effect.title, effect.closed))
            case Tell():
                world.told.append((effect.person, effect.message))
            case ShareRecord():
                world.shared.append(effect)
            case Speak():
                if effect.task == "turn":
                    return self._turn_taken(effect, told)
                said = world.speech(effect, self.rt)
                words = said if isinstance(said, str) else said.text
                read = tuple(one.ts for one in self.rt.unread)
                more: dict[str, Any] = {"read": read, "then": effect.then}
                more |= {"patches": world.patches} if world.patches else {}
                more |= world.more
                return PersonaSpoke(**told, persona=effect.persona, text=words, facts=world.facts, **more)
            case Survey():
                return Surveyed(**told, survey=world.survey)
            case ReviewDraft():
                return Reviewed(**told, review=DraftReview(**world.review(self.rt)))
            case Commit():
                return self._commit(effect, told)
            case MeetPerson():
                who = effect.person
                belongs = world.belonging.get(who, Belonging.UNKNOWN)
                return PersonMet(
                    **told, person=who, name={**NAMES, **STRANGERS}.get(who, who), belongs=belongs
                )
            case PushIssue() | ReadIssue() | ReadIssues():
                return self._in_tracker(effect, told)
            case Log():
                world.logged.append(effect.trouble)
        return Done(**told)

    def _in_tracker(self, effect: PushIssue | ReadIssue | ReadIssues, told: Mapping[str, str]) -> Outcome:
        world = self.world
        if isinstance(effect, ReadIssue):
            assert world.began_with
            return IssueReadAgain(**told, person=effect.person, issue=world.began_with)
        if isinstance(effect, ReadIssues):
            return IssuesRead(
                **told, states={one: world.states[one] for one in effect.issues if one in world.states}
            )
        issue = effect.issue or f"https://github.com/{effect.repository}/issues/{57 + len(world.issues)}"
        world.issues[issue] = effect.title
        about = {"person": effect.person, "entry": effect.entry, "issue": issue}
        return IssuePushed(**told, **about, left_alone=world.left_alone)

    def _turn_taken(self, effect: Speak, told: Mapping[str, Any]) -> TurnTaken:
        """In a round those speak who were silent longest."""
        debate, is_round = self.rt.debate, effect.turn is TurnKind.ROUND
        spoke = {turn.by: number for number, turn in enumerate(debate.turns)}
        personas = (
            sorted(effect.personas, key=lambda key: spoke.get(key, -1)) if is_round else effect.personas
        )
        found: list[elaboration.Contribution] = []
        for key in personas:
            said = self.world.speech(effect.but(persona=key), self.rt)
            said = said if isinstance(said, Contribution) else Contribution(said)
            is_heard = len(found) < (MOST_IN_A_ROUND if is_round else len(personas))
            if is_heard and (one := taken(said, key, len(found), self.rt)):
                found.append(one)
        by_rule = bool(self.world.more.get("by_rule"))
        facts = {} if by_rule else self.world.facts
        about = {"turn": effect.turn, "personas": effect.personas}
        return TurnTaken(**told, **about, contributions=tuple(found), facts=facts, by_rule=by_rule)

    def _stands(self, message: Message) -> str:
        """What Slack shows of our work in words goes with whatever we post."""
        ts = self.ts()
        self.world.signs = [one for one in self.world.signs if one is not WorkIndicator.STATUS]
        self.world.thread.append(Said(ts, message))
        self.world.tokens[message.token] = ts
        self.world.shown.append(message)
        return ts

    def _item_read(self, effect: ReadItem | Restore, pending: Mapping[str, str]) -> ItemRead:
        told: dict[str, Any] = {**pending, "recovering": effect.recovering}
        told |= {"discussing": effect.discussing} if isinstance(effect, ReadItem) else {}
        if self.world.meta is None:
            return ItemRead(**told, item=LoadedItem())
        try:
            troubles = meta.read(self.world.meta, now=told["at"]).troubles
        except meta.Corrupt:
            restorable = bool(self.world.good_meta)
            item = LoadedItem(restorable=restorable, troubles=(trouble("ERR-META-002"),))
            return ItemRead(**told, item=item)
        known = folded(transcript.read(self.world.meeting))
        state = self._state(told["at"]).but(specification=known.specification, written=known.written)
        return ItemRead(**told, item=LoadedItem(state=state, troubles=troubles))

    def _commit(self, work: Commit, told: Mapping[str, str]) -> Committed:
        world, touched, troubles = self.world, [], list(self.world.troubles)
        unwritten = tuple(edit for edit in work.edits if edit.path == world.unwritable)
        troubles += [trouble("ERR-ART-002", artifact_name=edit.path) for edit in unwritten]
        for edit in work.edits:
            if edit in unwritten:
                continue
            try:
                world.files[edit.path] = edit.apply(world.files.get(edit.path))
            except Missing:
                troubles.append(trouble("ERR-ELAB-013", filename=edit.path))
                continue
            except UnreadableArtifact:
                troubles.append(trouble("ERR-ART-003", artifact_name=edit.path))
                world.files[edit.path] = edit.apply(None)
            if not world.files[edit.path]:
                del world.files[edit.path]
            elif not is_last(heading := self._heading(edit)) and edit.path != PAGE:
                touched.append(ChangedFile(path=edit.path, heading=heading))
        troubles += self._meta_written(work, told["at"])
        if any(line.meta.get(TAKES_OVER) == world.old_lines.model_dump() for line in work.lines):
            world.old_lines = OldLines()
        world.meeting = transcript.append(world.meeting, work.lines)
        world.commits = [*(one for one in world.commits if one.id != work.id), work]
        result = CommitResult(
            state=self._state(told["at"]),
            sha=f"{len(world.commits):07}",
            touched=tuple(touched),
            troubles=tuple(troubles),
            unwritten=unwritten,
            last_line=last_line(world.meeting),
        )
        return Committed(**told, result=result)

    def _heading(self, edit: Edit) -> str:
        if isinstance(edit, InsightEdit):
            return edit.place(self.world.files[edit.path])
        return edit.heading if isinstance(edit, SectionEdit) else ""

    def _meta_written(self, work: Commit, now: str) -> list[Trouble]:
        world, troubles, created = self.world, [], work.change.created
        raw: Mapping[str, object] = {}
        if world.meta is None and created is None:
            troubles.append(trouble("ERR-META-001"))
        elif world.meta is not None:
            try:
                reading = meta.read(world.meta, now=now)
                raw, troubles = reading.raw, list(reading.troubles)
            except meta.Corrupt:
                troubles.append(trouble("ERR-META-002"))
        world.meta = meta.write(meta.apply(raw, work.change)).encode()
        return troubles

    def _state(self, now: str) -> ItemState:
        assert self.world.meta is not None
        held = transcript.read(self.world.meeting)
        known = meta.read(self.world.meta, now=now).meta
        rows = self.world.meeting.splitlines()
        return ItemState(
            meta=known,
            said=open_step.answers(reversed(rows), done=known.steps_completed),
            scan=read_quick_scan(self.world.files.get("quick-scan.md", "")),
            last_round=max((line.round for line in held), default=0),
            heard=tuple(sorted(line.heard for line in held if line.heard)),
            about=transcript.ending(reversed(rows)).about,
            spent=kept(transcript.ending(reversed(rows)).spent),
            last_ts=held[-1].ts if held else "",
            codebase="abc1234",
            commits_behind=self.world.commits_behind,
            artifacts=tuple(sorted(name for name in self.world.files if "/" not in name)),
            old_lines=self.world.old_lines,
        )


def person(who: Who) -> Person:
    return who if isinstance(who, Person) else Person(id=who, name=NAMES.get(who, ""))


def _with_own_lists(of: T) -> T:
    """What is in them is frozen."""
    after = copy(of)
    for name, value in vars(of).items():
        if isinstance(value, list | dict):
            setattr(after, name, copy(value))
    return after


def played_once(scene: Callable[P, Table]) -> Callable[P, Table]:
    """The *scene* is played once in a test process; whoever asks for it begins at a copy."""
    played: Any = cache(scene)

    @wraps(scene)
    def begin(*args: P.args, **named: P.kwargs) -> Table:
        table: Table = played(*args, **named)
        return table.copied()

    return begin
