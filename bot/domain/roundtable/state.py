"""
The aggregate: one roundtable on one item, held in one thread.

It is saved with its outbox, in one compare-and-set. Everything here answers a question or gives the next
value; what happens when is decided in `machine` and `transitions`.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeVar

from bot.domain.catalog.agenda import QuickScan, SkippedStep
from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.catalog.steps import Depth
from bot.domain.catalog.taxonomy import Trouble
from bot.domain.discussion.board import DiscussionBoard, board_of
from bot.domain.discussion.elaboration import AnswerNote, Elaboration, EndedDiscussion
from bot.domain.item.item import Item, TrackedIssues, TrackerIssue
from bot.domain.item.meta import DEFAULT_MAX_TURNS, ItemProgress
from bot.domain.messages import step_wording
from bot.domain.messages.menus import Menu, MenuKind, Used
from bot.domain.messages.message import NO_STEP, Message
from bot.domain.roundtable.attendance import Attendance
from bot.domain.roundtable.budget import BudgetState
from bot.domain.roundtable.effects import (
    Attemptable,
    Commit,
    Effect,
    Log,
    MeetPerson,
    Post,
    Rewrite,
    Tell,
    WorkIndicator,
)
from bot.domain.roundtable.inputs import Say, Undecided
from bot.domain.roundtable.marks import MessageMark
from bot.domain.roundtable.outcomes import CodeSurvey, DraftQuestion, DraftReview, ThreadMessage
from bot.domain.roundtable.posts import LiveMessage, PostedPrompt, ShownSession, StepCard, ThreadPrompt
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.entries import Specification, matters, with_pushed
from bot.domain.specification.exported import SourceFiles
from bot.domain.specification.reader import numbers_in
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import (
    ENTRIES,
    HIGHEST_ROUND,
    HOST,
    PEOPLE,
    RULE,
    VOICE,
    Line,
    LinePhase,
    Source,
)
from bot.domain.transcript.seal import OldLines
from bot.domain.values.places import AccessState, Person, Place
from bot.domain.values.timestamps import slack_time
from bot.domain.values.value import Stored

# What a roundtable keeps note of while it goes on.


class Answer(Stored):
    """Something a person said about the step *step_id*. `ts` is the message's, `files` are names."""

    person: str
    text: str
    ts: str
    step_id: str = ""
    feedback: bool = False
    files: tuple[str, ...] = ()

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The numbers of the questions that it answers."""
        return numbers_in(self.text)


class EarlyEdit(Stored):
    """A message that was changed to *text*, or deleted (None), before it was heard of itself."""

    ts: str
    text: str | None


class Stalled(Stored):
    """What could not be done, and where we were. Retry does it again, there."""

    effect: Effect
    stage: Stage


ATTACHMENTS = "attachments"
"""In a line's `meta`: the files that were shared with the message."""
KEYS_REMEMBERED = 256
MENUS_REMEMBERED = 16
ASKED_REMEMBERED = 16
ROOT, BRIEF, PROMPT = "root", "brief", "prompt"
"""Keys of live messages: the first one of the thread, the last one, and the open prompt. Others have tokens."""
ON_THE_CARD = frozenset({MenuKind.PROMPT, MenuKind.STEP, MenuKind.PHASE})
"""The menus of a step: they stand on one message, which is edited."""
ABOUT_A_STEP = frozenset({Stage.DISCUSSING, Stage.AT_BOUNDARY})
"""What people write below our posts belongs to the step."""
SAVE_AGAIN, SAY_AGAIN = "save again", "say again"
TRIED_AGAIN = frozenset({SAVE_AGAIN, SAY_AGAIN})
"""Failed before, and tried again later."""
_EFFECT_ID = re.compile(r"(.+)\.[0-9a-f]{8}\.[0-9]+", re.DOTALL)


_OfPost = TypeVar("_OfPost", PostedPrompt, LiveMessage)


class Roundtable(ItemProgress):
    """
    `incarnation` distinguishes this roundtable from an earlier one on the same item (the store was lost); with
    `sequence` it makes ids that were never used before. `now` is the time of the newest input. `heading_for` is the
    stage that follows CLOSING or PAUSED.
    `filed` are the answers as they were last written into the files, `unread` those that no model has read yet,
    also of steps before; `drafts` counts those of the open step, `draft` is what lacks in the newest one. `reviewed` is
    the number of the newest change when the newest `review` was asked for, `first_reviewed` the step of the first,
    `finished_at` that of the newest change when the last step was finished.
    `questions` are what the newest one asks, on the open step and on the one after it. `lines` are the transcript's
    since the last commit, `saved_at` is the time of the last commit, `unsaved` the commits that failed, `unsent` what
    Slack did not take while the thread was closed to us. `last_heard` is the Slack ts of the newest message that git
    had when the item was taken up from there, or that was read from the thread at the start. `working_at` is the
    message that says that we are at work, `working_by` how it does, and `signs_refused` is what Slack would not show
    here. `session` is what an agent's session in the thread was last called. `last_line` is the newest that was
    committed; `old_lines` before it wait to be taken over. `made_with` is the fingerprint of entries.yaml.
    `exports_told` are the exported paths that people know are not written. `specification` is folded from all
    lines, committed or not; `written` are the digests of the sections as they were written last, by file and
    heading. `reopened` is the step that people opened again out of its turn.
    `live` are our messages that follow the state: menus and cards by their tokens, `ROOT`, `BRIEF` and `PROMPT`,
    which asks `prompt`. `paused_by` stopped; `resumed_by` went on, and nothing of ours is in the thread since.
    `first_words` stand above the next question, `question` is the newest one, or menu, `asked` the newest posts that
    opened a step or a discussion, and `undecided` are words that came while it was not known whether their author could
    see the question. `timers` are the moments at which something follows by itself, by the name of what does.
    `personas_active` are keys; none means all. `marks` are what people marked messages of the thread as.
    `stop_asked_by` is the person who wants to stop, while something is being written down. `hinted` says for which rest
    people were told that nothing goes on. `board` is the card of the discussion, also when that is over, and `ended`
    what each step's discussion came to; the newest one keeps its turns until a model has read what people said in them.
    """

    shape: int = 4
    version: int = 0
    incarnation: str

    slug: str
    title: str
    source: str = "manual"
    source_id: str | None = None
    reference: str = ""
    issue: TrackerIssue | None = None
    files: SourceFiles | None = None
    place: Place
    permalink: str = ""
    started_by: str = ""
    created_at: str = ""
    people: Mapping[str, str] = {}
    personas_active: tuple[str, ...] = ()

    stage: Stage = Stage.OPENING
    heading_for: Stage | None = None
    stalled: Stalled | None = None
    phase_key: str = ""
    step_id: str = ""
    reopened: str = ""
    depth: Depth | None = None
    saved_cards: tuple[str, ...] = ()
    max_turns: int = DEFAULT_MAX_TURNS
    manners: AccessState = AccessState()
    attendance: Attendance = Attendance()
    purse: BudgetState = BudgetState()
    scan: QuickScan = QuickScan()
    passed: tuple[SkippedStep, ...] = ()
    artifacts: tuple[str, ...] = ()

    answers: tuple[Answer, ...] = ()
    filed: tuple[Answer, ...] = ()
    unread: tuple[Answer, ...] = ()
    draft: AnswerNote | None = None
    review: DraftReview = DraftReview()
    reviewed: int = 0
    first_reviewed: str = ""
    finished_at: int = 0
    drafts: int = 0
    questions: tuple[DraftQuestion, ...] = ()
    last_heard: str = ""
    survey: CodeSurvey | None = None
    overtaken: tuple[EarlyEdit, ...] = ()
    marks: tuple[MessageMark, ...] = ()
    stop_asked_by: str = ""
    hinted: str = ""
    working_at: str = ""
    working_by: WorkIndicator = WorkIndicator.REACTION
    signs_refused: tuple[WorkIndicator, ...] = ()
    session: ShownSession = ShownSession()
    elaboration: Elaboration | None = None
    menu: Menu | None = None
    card: StepCard | None = None
    live: Mapping[str, LiveMessage] = {}
    prompt: ThreadPrompt | None = None
    paused_by: str = ""
    resumed_by: str = ""
    board: StepCard | None = None
    ended: Mapping[str, EndedDiscussion] = {}
    first_words: str = ""
    question: PostedPrompt | None = None
    asked: tuple[PostedPrompt, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    used: tuple[Used, ...] = ()
    timers: Mapping[str, str] = {}

    now: str = ""
    round: int = 0
    sequence: int = 0
    part: LinePhase = LinePhase.DRAFT
    lines: tuple[Line, ...] = ()
    specification: Specification = Specification()
    written: Mapping[str, str] = {}
    last_line: LastLine = LastLine()
    old_lines: OldLines = OldLines()
    made_with: str = ""
    exports_told: tuple[str, ...] = ()
    issues: TrackedIssues = TrackedIssues()
    saved_at: str = ""
    unsaved: tuple[Commit, ...] = ()
    unsent: tuple[Post | Rewrite, ...] = ()
    outbox: tuple[Effect, ...] = ()
    seen: tuple[str, ...] = ()

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    def item(self) -> Item:
        return Item(**{name: getattr(self, name) for name in Item.model_fields})

    @property
    def next_effect(self) -> Effect | None:
        return self.outbox[0] if self.outbox else None

    @property
    def pending(self) -> tuple[str, ...]:
        """What is left to do without a person's request, in words for people."""
        again = (SAVE_AGAIN,) if self.unsaved else ()
        later = (SAY_AGAIN,) if self.unsent and self.place.thread else ()
        return (*(effect.kind for effect in self.outbox), *again, *later)

    @property
    def next_due(self) -> str:
        """When the first of the timers is due; empty without one."""
        return min(self.timers.values(), default="")

    def has_pending(self, *kinds: type[Attemptable]) -> bool:
        return any(isinstance(effect, kinds) for effect in self.outbox)

    @property
    def has_card(self) -> bool:
        """Whether the card of the current step stands in the thread, or is about to."""
        if self.card is None or self.card.step_id != self.step_id:
            return False
        live = self.live.get(self.card.token, LiveMessage())
        return bool(live.ts) or any(effect.id == live.post for effect in self.outbox)

    @property
    def is_unread(self) -> bool:
        """Whether the item's files are not known yet."""
        return Stage.OPENING in {self.stage, self.stalled and self.stalled.stage}

    def stands_at(self, key: str) -> str:
        """The Slack timestamp of the live message; empty while it is not known."""
        return self.live[key].ts if key in self.live else ""

    @property
    def debate(self) -> Elaboration:
        """The elaboration, in the stages that have one."""
        assert self.elaboration, f"nothing is discussed while {self.stage}"
        return self.elaboration

    @property
    def discussed(self) -> DiscussionBoard:
        """What the open discussion came to by now."""
        return board_of(self.debate, self.specification)

    @property
    def unwritten(self) -> tuple[Answer, ...]:
        """What people said since the step was last written down."""
        return tuple(answer for answer in self.answers if answer not in self.filed)

    @property
    def to_read(self) -> tuple[Answer, ...]:
        """What people said about the open step, behind what no model has read of steps before it."""
        left = (one for one in self.unread if one not in self.answers)
        return (*left, *self.answers)

    @property
    def unheld(self) -> tuple[Line, ...]:
        """The lines that are in no commit, pending or failed."""
        commits = (*self.unsaved, *(effect for effect in self.outbox if isinstance(effect, Commit)))
        held = {line.message_id for commit in commits for line in commit.lines}
        return tuple(line for line in self.lines if line.message_id not in held)

    @property
    def hidden(self) -> bool:
        """Whether only its own channel may see it. Without a thread it has no channel yet."""
        return self.manners.private is not False and bool(self.place.thread or self.manners.private)

    def has_finished(self, step_id: str) -> bool:
        """
        The step of the plan is in no list: it is finished when its files are written. Nor is a card whose first step
        has no entry.
        """
        is_listed = step_id in self.steps_completed or step_id in self.saved_cards
        return is_listed or f"{PLAN_PAGE}#{step_id}" in self.written

    def name_of(self, person: str) -> str:
        return self.people.get(person) or person

    def line_of(self, ts: str) -> str:
        """The `message_id` of the line that a person's message became; its input has the same key."""
        return f"{self.manners.channel_at(ts) or self.place.channel}.{ts}"

    def token(self) -> str:
        """Names the next menu: opaque, and never the same for two menus, even if the store was lost in between."""
        seed = f"{self.slug}/{self.incarnation}/{self.sequence}"
        return hashlib.sha256(seed.encode()).hexdigest()[:16]

    def what_became_of(self, token: str) -> str:
        return next((used.sentence for used in reversed(self.used) if used.token == token), "")

    # --- next values ----------------------------------------------------------------------------------------------

    def knowing(self, *keys: str) -> "Roundtable":
        return self.but(seen=(*self.seen, *keys)[-KEYS_REMEMBERED:])

    def meeting(self, person: Person) -> "Roundtable":
        """
        Finds out, once, what *person* is called. What came along with a click is a handle; it serves until
        then.
        """
        if person.id in self.people:
            return self
        return self.but(people={**self.people, person.id: person.name}).queueing(MeetPerson(person=person.id))

    def queueing(self, *effects: Effect) -> "Roundtable":
        """
        With *effects* at the end of the outbox, each with an id of its own. Of the edits of one card only the
        newest stays.
        """
        rt = self
        for effect in effects:
            older: list[str] = []
            if isinstance(effect, Rewrite):
                older = [one.id for one in (*rt.outbox, *rt.unsent) if _is_older(one, effect)]
                rt, effect = rt._superseding(effect)  # noqa: PLW2901
            sequence = rt.sequence + 1
            pending = effect if effect.id else effect.but(id=f"{rt.slug}.{rt.incarnation}.{sequence}")
            rt = rt.but(sequence=sequence, outbox=(*rt.outbox, pending))
            for edit in older:
                rt = rt.posting_instead(edit, pending)
        return rt

    def _superseding(self, edit: Rewrite) -> "tuple[Roundtable, Rewrite]":
        """Without older edits of the same card. *edit* does not wait if one of those would not have waited."""
        older = [one for one in self.outbox if _is_older(one, edit)]
        pressed = edit.pressed or any(one.pressed for one in older if isinstance(one, Rewrite))
        rt = self.but(
            outbox=tuple(one for one in self.outbox if one not in older),
            unsent=tuple(one for one in self.unsent if not _is_older(one, edit)),
        )
        return rt, edit.but(pressed=pressed)

    def completing(self, effect_id: str) -> "Roundtable":
        return self.but(outbox=tuple(effect for effect in self.outbox if effect.id != effect_id))

    def attempting(self, effect: Effect, *, at: str, settled: bool = False) -> "Roundtable":
        before = "" if settled else effect.attempted_at
        again = effect.but(attempts=effect.attempts + 1, attempted_at=at, attempted_before=before)
        return self.but(outbox=tuple(again if one.id == effect.id else one for one in self.outbox))

    def dropping(self, *kinds: type[Attemptable]) -> "Roundtable":
        return self.but(outbox=tuple(effect for effect in self.outbox if not isinstance(effect, kinds)))

    def opening_round(self, part: LinePhase) -> "Roundtable":
        return self.but(round=min(self.round + 1, HIGHEST_ROUND), part=part)

    def noting(self, line: Line) -> "Roundtable":
        known = self.specification
        line = with_pushed(line, known.entries)
        return self.but(
            lines=(*self.lines, line),
            part=line.phase,
            round=line.round,
            specification=known.folding([line]) if matters(line) else known,
        )

    def marking(self, message_id: str, **facts: Any) -> "Roundtable":
        """With *facts* in the meta of that line, if it is not in git yet."""
        lines = tuple(
            line.but(meta={**line.meta, **facts}) if line.message_id == message_id else line
            for line in self.lines
        )
        return self.but(lines=lines)

    def heard(
        self, person: Person, text: str, *, ts: str, part: LinePhase, message_id: str = "", **meta: Any
    ) -> "Roundtable":
        """A person's words become a line; `ts` is Slack's and names the line, unless another *message_id* does."""
        facts = {"person": person.id, "user_name": self.name_of(person.id), "message_ts": ts, **meta}
        message_id = message_id or self.line_of(ts)
        return self.noting(self._line(PEOPLE, text, part, Source.USER, "user", message_id, facts))

    def hearing(self, said: Say | ThreadMessage, *, part: LinePhase, **meta: Any) -> "Roundtable":
        """A message of the thread becomes a line, with the files that were shared with it."""
        files = [one.model_dump(mode="json") for one in said.files] or None
        return self.heard(said.person, said.text, ts=said.ts, part=part, attachments=files, **meta)

    def amending(self, ts: str, text: str) -> "Roundtable":
        """The message *ts* says *text* in the discussion, too."""
        return self.but(elaboration=self.elaboration.amended(ts, text)) if self.elaboration else self

    def answering(self, said: Say | ThreadMessage, *, feedback: bool) -> "Roundtable":
        """What *said* tells about the open step, to be written down with it, in the order of the thread."""
        files = tuple(one.name for one in said.files)
        answer = Answer(
            person=said.person.id,
            text=said.text,
            ts=said.ts,
            step_id=self.step_id,
            feedback=feedback,
            files=files,
        )
        place = len(self.answers)
        while place and _is_later(self.answers[place - 1], said):
            place -= 1
        answers = (*self.answers[:place], answer, *self.answers[place:])
        return self.but(answers=answers, unread=(*self.unread, answer))

    def with_answer(self, changed: Answer) -> "Roundtable":
        """*changed* in place of the answer with the same ts. No model has read it yet."""
        answers = tuple(changed if one.ts == changed.ts else one for one in self.answers)
        others = (one for one in self.unread if one.ts != changed.ts)
        return self.but(answers=answers, unread=(*others, changed))

    def without_answer(self, ts: str) -> "Roundtable":
        kept = [tuple(one for one in given if one.ts != ts) for given in (self.answers, self.unread)]
        return self.but(answers=kept[0], unread=kept[1])

    def telling(
        self, message: Message, *, part: LinePhase, actor: str = HOST, line: str = "", **meta: Any
    ) -> "Roundtable":
        """
        Queues a post of *message* and writes it, or *line*, into the transcript: Slack and the file have one
        order. What could not be sent before comes first.
        """
        at = self.heading_for if self.stage is Stage.PAUSED else self.stage
        about = (at in ABOUT_A_STEP and self.step_id) or NO_STEP
        rt = self.catching_up().queueing(Post(message=message.but(about=about)))
        return rt.said(line or message.text, rt.outbox[-1], part=part, actor=actor, **meta)

    def said(
        self, text: str, effect: Attemptable, *, part: LinePhase, actor: str = HOST, **meta: Any
    ) -> "Roundtable":
        """What *effect* says is a line of its own."""
        return self.noting(self._line(actor, text, part, _source(actor, meta), "planning", effect.id, meta))

    def recording(
        self, sentence: str, *, part: LinePhase | None = None, by: str = "", message_id: str = "", **meta: Any
    ) -> "Roundtable":
        """
        A system line that is not posted; *by* is the person whose act it is. With the *message_id* of an input it
        stands in the transcript once, also when the input comes again after everything but git was lost.
        """
        who = {"person": by, "user_name": self.name_of(by)} if by else {}
        facts = {**who, **meta}
        return self._unposted(sentence, part or self.part, Source.SYSTEM, HOST, facts, message_id=message_id)

    def showing_ending(self, key: str, *, pressed: bool = False) -> "Roundtable":
        """What is over says so once it is known where it stands. Of cards it counts where they stand, so they stay."""
        live = self.live[key]
        if live.ending is None or not live.ts:
            return self
        rt = self.queueing(Rewrite(ts=live.ts, message=live.ending, pressed=pressed))
        others = {name: one for name, one in rt.live.items() if name != key}
        is_card = key in {card.token for card in (rt.card, rt.board) if card}
        return rt.but(live={**others, key: live.but(shown=live.ending, ending=None)} if is_card else others)

    def saying_on_card(self, text: str, *, part: LinePhase, actor: str = HOST, **meta: Any) -> "Roundtable":
        """A line of what stands on the next card, above its question: no post of its own."""
        return self._unposted(text, part, _source(actor, meta), actor, meta)

    def proposing(self, sentence: str, *, actor: str, part: LinePhase, **meta: Any) -> "Roundtable":
        """A line of a persona's model that is not said in the thread."""
        return self._unposted(sentence, part, Source.MODEL, actor, meta)

    def offering(
        self,
        kind: MenuKind,
        message: Message,
        *,
        part: LinePhase,
        actor: str = HOST,
        line: str = "",
        **meta: Any,
    ) -> "Roundtable":
        """*message* becomes the open menu, in place of the one before; the transcript has *line*, if there is one."""
        rt = self.closing_menu(step_wording.SUPERSEDED)
        token = rt.token()
        offered = message.but(token=token)
        rt = rt.telling(offered, part=part, actor=actor, line=line, **meta)
        rt = rt.but(menu=Menu(kind=kind, token=token, message=message)).following(
            token, rt.outbox[-1], offered
        )
        if kind in ON_THE_CARD and rt.step_id:
            by = rt.card.by if rt.card and rt.card.step_id == rt.step_id else ""
            rt = rt.but(card=StepCard(step_id=rt.step_id, token=token, message=offered, by=by))
        if kind is MenuKind.FLOOR and rt.elaboration:
            step_id = rt.elaboration.step_id
            rt = rt.but(board=StepCard(step_id=step_id, token=token, message=offered, first=message.text))
        return rt.asking_with(rt.outbox[-1])

    def following(self, key: str, post: Attemptable, message: Message) -> "Roundtable":
        """*post* says *message*; from now on it is edited when it should say something else."""
        return self.but(live={**self.live, key: LiveMessage(post=post.id, shown=message)})

    def ending(self, key: str, message: Message) -> "Roundtable":
        """The live message *key* is over, and says *message*."""
        if key not in self.live:
            return self
        return self.but(live={**self.live, key: self.live[key].but(ending=message)})

    def offering_in_place(
        self, kind: MenuKind, message: Message, *, part: LinePhase, actor: str = HOST, **meta: Any
    ) -> "Roundtable":
        """*message* becomes the open menu where the card of the step stands already: nothing new is posted."""
        assert self.card, "only a card is edited in place"
        card = self.card.but(message=message.but(token=self.card.token))
        is_elsewhere = self.menu is not None and self.menu.token != card.token
        rt = self.closing_menu(step_wording.SUPERSEDED) if is_elsewhere else self
        rt = rt._unposted(message.text, part, _source(actor, meta), actor, meta)
        return rt.but(card=card, menu=Menu(kind=kind, token=card.token, message=message))

    def asking_with(self, post: Attemptable) -> "Roundtable":
        """*post* is the newest question or menu: what people wrote before it stands there does not act on it."""
        return self.but(question=PostedPrompt(post=post.id))

    def opening(self, step_id: str, *, discussion: bool = False) -> "Roundtable":
        """The newest question opens *step_id*, or its discussion: what people write below belongs to it."""
        assert self.question, "a question opens it"
        opened = self.question.but(step_id=step_id, discussion=discussion)
        return self.but(asked=(*self.asked, opened)[-ASKED_REMEMBERED:])

    def closing_menu(self, sentence: str, *, quietly: bool = False) -> "Roundtable":
        """
        The open menu loses its buttons and says what became of it; *quietly* says so only to people who
        still press it.
        """
        menu = self.menu
        if menu is None:
            return self
        used = Used(token=menu.token, sentence=sentence)
        rt = self.but(menu=None, used=(*self.used, used)[-MENUS_REMEMBERED:])
        note = "" if quietly else sentence
        if rt.board and rt.board.token == menu.token:
            return rt
        if rt.card and rt.card.token == menu.token:
            return rt.but(card=rt.card.but(message=rt.card.message.spent().but(note=note)))
        return rt.ending(menu.token, menu.message.spent().but(note=note))

    def shown_at(self, post: str, ts: str) -> "Roundtable":
        """What *post* says stands in the thread, as message *ts*."""
        return self._posted_as(post, by=post, ts=ts)

    def posting_instead(self, post: str, other: Attemptable) -> "Roundtable":
        """What *post* was to say is posted by *other*, since Slack refuses *post*."""
        return self._posted_as(post, by=other.id)

    def holding_back(self, *effects: Effect) -> "Roundtable":
        """
        Nothing more goes into the thread for now. What was to be posted, *effects* included, comes before the next
        post, under the ids it has; a menu is over by then.
        """
        pending = (*effects, *(one for one in self.outbox if one not in effects))
        posts = (one.but(message=one.message.spent(), late=True) for one in pending if isinstance(one, Post))
        rewrites = (one.but(late=True) for one in pending if isinstance(one, Rewrite))
        return self.dropping(Post, Rewrite).but(unsent=(*self.unsent, *posts, *rewrites))

    def whispering(self, person: str, text: str) -> "Roundtable":
        """*text* is for *person* alone."""
        return self.queueing(Tell(person=person, message=Message(text=text)))

    def catching_up(self) -> "Roundtable":
        """Queues again what could not be sent before, in its order."""
        return self.but(unsent=()).queueing(*self.unsent)

    def logging(self, *troubles: Trouble) -> "Roundtable":
        return self.queueing(*(Log(trouble=trouble) for trouble in troubles))

    def _posted_as(self, post: str, *, by: str, ts: str | None = None) -> "Roundtable":
        """Questions and live messages of *post* are those of the effect *by*, and stand at *ts* if that is known."""

        def changed(told: _OfPost) -> _OfPost:
            return told.but(post=by, ts=told.ts if ts is None else ts) if told.post == post else told

        return self.but(
            question=changed(self.question) if self.question else None,
            asked=tuple(changed(prompt) for prompt in self.asked),
            live={key: changed(live) for key, live in self.live.items()},
        )

    @property
    def _where(self) -> Mapping[str, Any]:
        """What a line is about."""
        return {"phase_key": self.phase_key, "step_id": self.step_id}

    def _unposted(
        self,
        content: str,
        part: LinePhase,
        source: Source,
        actor: str,
        meta: Mapping[str, Any],
        *,
        message_id: str = "",
    ) -> "Roundtable":
        """A line that is no effect's. Without a *message_id* it gets the next number, as an effect would."""
        rt = self.but(sequence=self.sequence + 1)
        message_id = message_id or f"{rt.slug}.{rt.incarnation}.{rt.sequence}"
        return rt.noting(rt._line(actor, content, part, source, "planning", message_id, meta))

    def _line(  # noqa: PLR0917 -- the fields of the schema, named once
        self,
        actor: str,
        content: str,
        part: LinePhase,
        source: Source,
        role: str,
        message_id: str,
        meta: Mapping[str, Any],
    ) -> Line:
        """The schema wants one phase to a round: a change of phase begins a new one. *meta* has entries as patches."""
        begins = self.round == 0 or part is not self.part
        facts = {
            "task_id": self.slug,
            "message_id": message_id,
            **self._where,
            "channel_id": self.place.channel,
            **meta,
            ENTRIES: [one.as_json() for one in meta.get(ENTRIES, ())] or None,
        }
        return Line(
            ts=self.now,
            round=self.round + 1 if begins else self.round,
            actor=actor,
            phase=part,
            role=role,
            source=source,
            content=content,
            meta={name: fact for name, fact in facts.items() if fact not in ("", None)},
        )


def slug_of(effect_id: str) -> str:
    """The item whose effect has the id *effect_id*, as `queueing` gave it; empty for another id."""
    found = _EFFECT_ID.fullmatch(effect_id)
    return found[1] if found else ""


def _source(actor: str, meta: Mapping[str, Any]) -> Source:
    """What the host says, and what a persona says by rule, is no model's."""
    return Source.SYSTEM if actor == HOST or meta.get(VOICE) == RULE else Source.MODEL


def _is_older(effect: Effect, edit: Rewrite) -> bool:
    """Whether *effect* edits the same card."""
    return isinstance(effect, Rewrite) and effect.message.card is not None and effect.ts == edit.ts


def _is_later(answer: Answer, said: Say | ThreadMessage) -> bool:
    one, other = slack_time(answer.ts), slack_time(said.ts)
    return one is not None and other is not None and one > other
