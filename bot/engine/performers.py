"""
Performs one effect of a roundtable: it becomes a call to a port, and the result an outcome.

There is one exhaustive match for each port; the unions of effects say which effect belongs to which.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.taxonomy import Severity, Trouble
from bot.domain.messages import record_wording, tracker_wording
from bot.domain.messages.message import Message
from bot.domain.messages.step_wording import AT_WORK
from bot.domain.privacy.discretion import redacted_message
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.roundtable.effects import (
    Attemptable,
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
from bot.domain.roundtable.outcomes import (
    CodeSurvey,
    Committed,
    Done,
    IssuePushed,
    IssueReadAgain,
    IssuesRead,
    ItemRead,
    Outcome,
    PersonaSpoke,
    PersonMet,
    Posted,
    Reviewed,
    Surveyed,
    ThreadOpened,
    ThreadRead,
    TurnTaken,
)
from bot.domain.roundtable.stage import BUSY
from bot.domain.roundtable.state import ROOT, Roundtable
from bot.domain.roundtable.transitions.saving import slack_place
from bot.domain.values.places import Place
from bot.domain.values.timestamps import seconds_since
from bot.engine.evidence_ports import Sights
from bot.engine.ports import (
    Chat,
    Clock,
    Records,
    Urgency,
    VoiceContext,
    Voices,
    Workspace,
)
from bot.engine.source_ports import NO_READERS, SourceReaders
from bot.errors import EffectError, Postponed

Told = dict[str, Any]
"""What every outcome has: the effect it belongs to, and the time."""


log = logging.getLogger(__name__)

LEVELS = {
    Severity.INFO: logging.INFO,
    Severity.WARNING: logging.WARNING,
    Severity.ERROR: logging.ERROR,
    Severity.FATAL: logging.CRITICAL,
}


def log_trouble(trouble: Trouble) -> None:
    log.log(LEVELS[trouble.severity], "%s", trouble.log)


RENEWED_SECONDS = 90.0
"""Slack takes words from under a thread after two minutes."""
SURVEY_SECONDS = 5.0
SOURCES = ("draft.md", "quick-scan.md", "requirements-spec.md", "user-stories.json")
"""Artifacts that steps build upon, besides their own."""

InChat = (
    OpenThread | ReadThread | Post | Rewrite | Tell | MeetPerson | ShareRecord
    | React | Unreact | ShowWork | ClearWork | NameSession
)  # fmt: skip
InWorkspace = ReadItem | Restore | Survey | Commit
InTracker = PushIssue | ReadIssue | ReadIssues
TRACKER_ATTEMPTS = 6
TRACKER_WAIT_SECONDS = 30.0
"""Before the second attempt; before each later one it is twice as long."""


def urgency_of(effect: Effect, rt: Roundtable) -> Urgency:
    """People wait for what is no edit, but not for what takes our own emoji or title away, or is for a tracker."""
    if isinstance(effect, Unreact | NameSession | PushIssue | ReadIssue | ReadIssues):
        return Urgency.TIDY
    if not isinstance(effect, Rewrite) or effect.pressed:
        is_sign = isinstance(effect, Rewrite) and rt.stage in BUSY and not effect.message.choices
        return Urgency.SIGN if is_sign else Urgency.ANSWER
    if effect.ts == rt.stands_at(ROOT):
        return Urgency.ROOT
    in_use = {rt.stands_at(card.token) for card in (rt.card, rt.board) if card}
    return Urgency.CARD if effect.ts in in_use else Urgency.TIDY


class Performers(NamedTuple):
    """The ports that effects need."""

    chat: Chat
    voices: Voices
    workspace: Workspace
    playbook: Playbook
    clock: Clock
    records: Records
    sights: Sights
    redact: Redact = unchanged
    """Done to the texts of voices, threads and files."""
    sources: SourceReaders = NO_READERS

    async def perform(self, effect: Effect, rt: Roundtable) -> Outcome:
        """Raises EffectError."""
        told = {"key": effect.id, "effect": effect.id, "at": self.clock()}
        if isinstance(effect, Log):
            log_trouble(effect.trouble)
            return Done(**told)
        return redacted_message(await self._outcome(effect, rt, told), self.redact)

    async def _outcome(
        self, effect: InChat | Speak | ReviewDraft | InWorkspace | InTracker, rt: Roundtable, told: Told
    ) -> Outcome:
        if isinstance(effect, InChat):
            return await self._in_chat(effect, rt, told)
        if isinstance(effect, Speak):
            async with renewed(self.chat, rt, AT_WORK.get(effect.kind, "")):
                return await self._by_voice(effect, rt, told)
        if isinstance(effect, ReviewDraft):
            review, facts = await self.voices.review(VoiceContext(rt, self.playbook, ""))
            return Reviewed(**told, review=review, facts=facts)
        if isinstance(effect, InTracker):
            return await self._in_tracker(effect, rt, told)
        return await self._in_workspace(effect, rt, told)

    async def _in_chat(self, effect: InChat, rt: Roundtable, told: Told) -> Outcome:
        again = effect.attempts > 1
        if again:
            await self._landed(effect, within=self.chat.lands_within)
        match effect:
            case OpenThread():
                opened = await self.chat.open(rt.place, effect.message, key=effect.id, again=again)
                return ThreadOpened(**told, thread=opened)
            case ReadThread():
                thread = await self.chat.read(rt.place, after=effect.after)
                return ThreadRead(
                    **told,
                    heard=tuple(
                        one.following(effect.about, effect.known)
                        for one in thread.heard
                        if one.ts not in effect.known
                    ),
                    recovering=effect.recovering,
                    quiet=effect.quiet,
                    missed=effect.missed,
                    lost=effect.lost,
                    complete=thread.complete,
                    last_line=thread.last_line,
                )
            case Post():
                message = effect.message.but(last_line=rt.last_line.brief)
                ts = await self.chat.post(
                    rt.place, message, key=effect.id, again=again, broadcast=effect.broadcast
                )
                return Posted(**told, ts=ts)
            case Rewrite():
                urgency = urgency_of(effect, rt)
                await self.chat.rewrite(rt.place, effect.ts, effect.message, urgency=urgency)
            case React():
                await self.chat.react(rt.place, effect.ts, effect.emoji)
            case Unreact():
                await self.chat.unreact(rt.place, effect.ts, effect.emoji)
            case ShowWork():
                await self.chat.show(rt.place, effect.sign, effect.words)
            case ClearWork():
                await self.chat.clear(rt.place, effect.sign)
            case NameSession():
                await self.chat.name_session(rt.place, effect.title, closed=effect.closed)
            case Tell():
                await self.chat.tell(rt.place, effect.person, effect.message, reply_url=effect.reply_url)
            case ShareRecord():
                await self._share(effect, rt, again=again)
            case MeetPerson():
                person = effect.person
                known, kept = await self.chat.profile(person), await self.workspace.people()
                name, belongs = kept.get(person) or known.name, known.belongs
                return PersonMet(**told, person=person, name=name, belongs=belongs, offset=known.offset)
            case _:
                assert_never(effect)
        return Done(**told)

    async def _share(self, effect: ShareRecord, rt: Roundtable, *, again: bool) -> None:
        """The name says when it was asked for, so that it is the same for every attempt, and for no other export."""
        name = f"{rt.slug}-{re.sub('[^0-9]', '', effect.asked_at)}"
        sheets = await self.records.sheets(rt.slug, rt.lines, title=rt.title, name=name)
        comment = Message(text=record_wording.shared(rt.title, names=[one.name for one in sheets]))
        await self.chat.share(rt.place, sheets, comment, key=effect.id, again=again)

    async def _landed(self, effect: Attemptable, *, within: float) -> None:
        """Waits until what an attempt wrote that never ended has landed, or never will: then we can look for it."""
        if not effect.attempted_before:
            return
        passed = seconds_since(effect.attempted_before, self.clock())
        if (left := within - max(0.0, passed)) > 0:
            await asyncio.sleep(left)

    async def _by_voice(self, effect: Speak, rt: Roundtable, told: Told) -> Outcome:
        """What was found in the code before a guest came to the channel is shown to no voice any more."""
        sight = await self.sights.at(rt.place)
        rt = rt if sight.viewer.sees_code else rt.but(survey=None)
        cue = VoiceContext(rt, self.playbook, effect.persona, self._reading(rt), sight, effect.by_other)
        match effect.task:
            case "turn":
                turn = await self.voices.turn(cue, effect)
                return TurnTaken(**told, turn=effect.turn, personas=effect.personas, **turn._asdict())
            case "draft":
                speech = await self.voices.draft(cue)
                read = tuple(one.ts for one in rt.unread)
                given = {"persona": effect.persona, "read": read, "then": effect.then}
                return PersonaSpoke(**told, **speech._asdict(), **given)
            case _:
                assert_never(effect.task)

    async def _in_workspace(self, effect: InWorkspace, rt: Roundtable, told: Told) -> Outcome:
        match effect:
            case ReadItem(recovering=recovering, discussing=discussing):
                read = await self.workspace.read(rt.slug, now=rt.now, after=rt.last_line)
                return ItemRead(**told, item=read, recovering=recovering, discussing=discussing)
            case Restore(recovering=recovering):
                read = await self.workspace.restore(rt.slug, now=rt.now)
                return ItemRead(**told, item=read, recovering=recovering)
            case Survey():
                if not (await self.sights.at(rt.place)).viewer.sees_code:
                    return Surveyed(**told, survey=CodeSurvey(withheld=True))
                survey = await self.workspace.survey(effect.keywords, seconds=SURVEY_SECONDS)
                return Surveyed(**told, survey=survey)
            case Commit():
                home = slack_place(rt) if rt.place.thread else None
                after = rt.last_line
                result = await self.workspace.commit(rt.slug, effect, now=rt.now, after=after, home=home)
                return Committed(**told, result=result)
            case _:
                assert_never(effect)

    async def _in_tracker(self, effect: InTracker, rt: Roundtable, told: Told) -> Outcome:
        """While the tracker is away, or asks to wait, nothing else has to wait for it."""
        tracker = self.sources.tracker
        if tracker is None:
            flaw = tracker_wording.NO_REPOSITORY
            flaw = tracker_wording.not_set_up(effect.reference) if isinstance(effect, ReadIssue) else flaw
            raise EffectError(flaw, reason="no_tracker")
        if isinstance(effect, PushIssue) and rt.hidden:
            raise EffectError(tracker_wording.PRIVATE, reason="private")
        try:
            match effect:
                case PushIssue(entry=entry, person=person):
                    await self._landed(effect, within=tracker.lands_within)
                    named = f"{rt.place.team}/{rt.slug}/{entry}"
                    pushed = await tracker.push(redacted_message(effect, self.redact), named=named)
                    return IssuePushed(**told, person=person, entry=entry, **pushed._asdict())
                case ReadIssue(reference=reference, person=person):
                    knows_code = (await self.sights.at(rt.place)).viewer.knows_code
                    issue = await tracker.read_issue(reference, public_only=not knows_code)
                    issue = issue.but(edits=self.sources.issue_edits(issue))
                    return IssueReadAgain(**told, person=person, issue=issue)
                case ReadIssues():
                    found = await tracker.states(effect.issues, since=effect.since)
                    return IssuesRead(**told, **found._asdict())
                case _:
                    assert_never(effect)
        except EffectError as error:
            if (
                error.again
                and isinstance(effect, PushIssue | ReadIssue)
                and effect.attempts < TRACKER_ATTEMPTS
            ):
                wait = TRACKER_WAIT_SECONDS * 2.0 ** (effect.attempts - 1)
                raise Postponed(str(error), after_seconds=max(error.after_seconds, wait)) from error
            raise EffectError(str(error), reason=error.reason) from error

    def _reading(self, rt: Roundtable) -> Callable[[], Awaitable[Mapping[str, str]]]:
        step = self.playbook.agenda.get(rt.step_id)
        paths = tuple(dict.fromkeys((*(step.outputs if step else ()), *SOURCES)))
        return lambda: self.workspace.files(rt.slug, paths)


@asynccontextmanager
async def renewed(
    chat: Chat, rt: Roundtable, words: str, *, seconds: float = RENEWED_SECONDS
) -> AsyncIterator[None]:
    """Keeps the sign visible for as long as the work takes."""
    if not rt.working_at or rt.working_by is not WorkIndicator.STATUS:
        yield
        return
    renewing = asyncio.create_task(_renewing(chat, rt.place, words, seconds=seconds), name="renewing a sign")
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait({renewing})


async def _renewing(chat: Chat, place: Place, words: str, *, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await chat.show(place, WorkIndicator.STATUS, words)
        except EffectError:  # the sign is no loss; the next effect finds out what is wrong
            return
