"""
What waits for one person, across roundtables: the Home tab, and at most one direct message a day.

Whoever is shown something is a member of its channel at that moment. What cannot be told is not shown. A daily message
that was missed, because no process ran at the time, is dropped: the next day says what waits then.
"""

import asyncio
import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policy
from bot.domain.messages import agent_wording, attendance_wording, menus
from bot.domain.messages import home_page as wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.home_page import (
    OFF,
    ON,
    SNOOZES,
    DailyMessage,
    DecidedRow,
    HeldRow,
    HomePage,
    ReminderSettings,
    WaitingRow,
)
from bot.domain.messages.message import Choice, Link, Message
from bot.domain.roundtable import root, waiting
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.roundtable.waiting import Wait, WaitKind
from bot.domain.values.markdown import escaped
from bot.domain.values.places import Place, Viewer
from bot.domain.values.text import one_line
from bot.domain.values.timestamps import before, in_words, local_time, seconds_since
from bot.engine.lru import LruCache
from bot.engine.ports import Clock, Profile, Store, Urgency
from bot.engine.viewing import held_item
from bot.errors import EffectError, LeftAlone, Unavailable, UserError

log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
"""Between two looks for daily messages that are due."""
WINDOW_SECONDS = 1800.0
"""A daily message that is later than this is dropped."""
SPREAD_MINUTES = 10
"""So that a workspace does not get all of its daily messages at once."""
KEPT_SECONDS = 3 * 24 * 3600.0
HOME_SECONDS = 24 * 3600.0
"""For so long after a person opened Home, what changes for them is shown there."""
APART_SECONDS = 60.0
FOLLOWS_SECONDS = 15.0
"""For so long after a person did something on Home, what comes of it is shown there without a pause."""
FOLLOW_UP_SECONDS = 1.5
AGAIN_SECONDS = 1.0
"""After Slack did not take a page, unless it names a time."""
SHOWN = 10
DECIDED_SHOWN = 5
TEXT_CHARS = 300
REMEMBERED = 1_000
ON_A_CARD = frozenset({WaitKind.STEP, WaitKind.AGREEMENT, WaitKind.MARKED})
"""What is asked on the open card."""


class PersonalChat(Protocol):
    """The part of the chat that is for one person."""

    async def name_or_id(self, person: str) -> str: ...

    async def profile(self, person: str) -> Profile: ...

    async def members(self, channel: str) -> frozenset[str]:
        """Empty when Slack does not say."""
        ...

    async def publish_home(self, person: str, page: HomePage, *, urgency: Urgency) -> None: ...

    async def send_daily(self, person: str, message: DailyMessage, *, key: str) -> None: ...


class Due(NamedTuple):
    """When a page is to be published, and how urgent that is."""

    at: str
    urgency: Urgency


class Shown(NamedTuple):
    """The page that was published last, and when; and when the person last did something there."""

    page: HomePage
    at: str
    pressed_at: str


class Personal:
    def __init__(
        self,
        *,
        store: Store,
        chat: PersonalChat,
        playbook: Playbook,
        clock: Clock,
        spread_minutes: int = SPREAD_MINUTES,
    ) -> None:
        """Daily messages come up to *spread_minutes* before or after a person's time."""
        self._spread_minutes = spread_minutes
        self._store = store
        self._chat = chat
        self._playbook = playbook
        self._clock = clock
        self._known: LruCache[str, Roundtable] = LruCache(REMEMBERED)
        self._shown: dict[str, Shown] = {}
        self._decided_on: LruCache[str, bool] = LruCache(REMEMBERED)
        self._due: dict[str, Due] = {}
        self._viewers: frozenset[str] = frozenset()
        self._looked_at = ""
        self._notices: dict[str, str] = {}
        self._looking = asyncio.Event()

    def read_again(self, playbook: Playbook) -> None:
        """The content has changed."""
        self._playbook = playbook

    # --- what a person does ---------------------------------------------------------------------------------------

    async def opened_home(self, person: str) -> None:
        self._notices.pop(person, None)
        self._shows_soon(person)
        settings = await self._settings(person)
        await self._store.keep_person(person, settings.but(home_at=self._clock()))

    def notice(self, person: str, text: str) -> None:
        """Shows *text* on their Home tab until they do something else there."""
        self._notices[person] = text
        self._shows_soon(person)

    async def snooze(self, person: str, how_long: str) -> Message:
        if how_long.strip().lower() == OFF:
            return await self.remind(person, OFF)
        days = SNOOZES.get(how_long.strip().lower())
        if days is None:
            raise UserError("Say `snooze`, or `snooze week`.")
        settings = await self._settings(person)
        until = (
            local_time(self._clock(), 0).astimezone(await self._zone(person)) + timedelta(days=days)
        ).date()
        await self._keep(person, settings.but(not_before=until.isoformat()))
        return Message(text=wording.snoozed(until.isoformat(), days))

    async def remind(self, person: str, when: str) -> Message:
        """*when* is a time, `on` or `off`."""
        settings, wanted = await self._settings(person), when.strip().lower()
        if wanted == OFF:
            settings = settings.but(off=True)
        elif wanted == ON:
            settings = settings.but(off=False, not_before="")
        elif time := wording.time_in(wanted):
            if self._policy("").is_quiet_at(*map(int, time.split(":"))):
                raise UserError(wording.IN_QUIET_HOURS)
            settings = settings.but(off=False, not_before="", time=time)
        else:
            raise UserError(wording.NO_TIME)
        await self._keep(person, settings)
        return Message(text=wording.set_to(settings))

    async def _keep(self, person: str, settings: ReminderSettings) -> None:
        await self._store.keep_person(person, settings)
        self._shows_soon(person)

    async def _settings(self, person: str) -> ReminderSettings:
        return (await self._store.people()).get(person, ReminderSettings())

    def _shows_soon(self, person: str) -> None:
        self._viewers |= {person}
        self._due[person] = Due(self._clock(), Urgency.ANSWER)
        self._looking.set()

    # --- as time passes -------------------------------------------------------------------------------------------

    def changed(self, rt: Roundtable) -> None:
        """*rt* was just saved by this process: its people's pages are published again if they say something else."""
        if rt.stage is Stage.ANALYSED:
            self._known.pop(rt.slug, None)
        else:
            self._known[rt.slug] = rt
        at = self._clock()
        for person in self._viewers & set(waiting.participants(rt)) - set(self._due):
            shown = self._shown.get(person)
            apart = APART_SECONDS if shown and not self._follows(shown) else 0.0
            since = max(0.0, apart - seconds_since(shown.at, at)) if shown else 0.0
            self._due[person] = Due(before(at, -max(since, FOLLOW_UP_SECONDS)), Urgency.TIDY)
            self._looking.set()

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            self._looking.clear()
            with suppress(Unavailable):  # readiness says so
                await self.look()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause):
                    await self._looking.wait()

    @property
    def _pause(self) -> float:
        at = self._clock()
        return min([LOOK_SECONDS, *(max(0.0, seconds_since(at, due.at)) for due in self._due.values())])

    def _follows(self, shown: Shown) -> bool:
        """Whether what changes now may come of what the person did there."""
        at = self._clock()
        return bool(shown.pressed_at) and seconds_since(shown.pressed_at, at) < FOLLOWS_SECONDS

    async def look(self) -> None:
        """Publishes the pages that are due, all at once, and sends the daily messages that are due."""
        at = self._clock()
        due = {person: one for person, one in self._due.items() if one.at <= at}
        for person in due:
            del self._due[person]
        if any(one.urgency.is_waited_for for one in due.values()):
            await self._live()
        await asyncio.gather(*(self._published(person, one) for person, one in due.items()))
        if not self._looked_at or seconds_since(self._looked_at, at) >= LOOK_SECONDS:
            self._looked_at = at
            await self._look_for_reminders(at)

    async def _look_for_reminders(self, at: str) -> None:
        settings, live = await self._store.people(), await self._live()
        a_day_ago = before(at, HOME_SECONDS)
        opened = {person for person, kept in settings.items() if kept.home_at >= a_day_ago}
        self._viewers = frozenset({*opened, *self._due})
        for person in dict.fromkeys(one for rt in live for one in waiting.participants(rt)):
            try:
                await self._remind(person, settings.get(person, ReminderSettings()), live)
            except EffectError as error:
                log.warning("%s is not told what waits for them: %s (%s)", person, error, error.reason)

    async def _published(self, person: str, due: Due) -> None:
        """What Slack does not take now, it is given again as soon as it may take it."""
        try:
            await self._publish(person, pressed=due.urgency.is_waited_for)
        except EffectError as error:
            log.info("the Home tab of %s is not published: %s (%s)", person, error, error.reason)
            if error.again:
                at = before(self._clock(), -(error.after_seconds or AGAIN_SECONDS))
                self._due.setdefault(person, due._replace(at=at))

    async def _live(self) -> tuple[Roundtable, ...]:
        """As the store has them now."""
        slugs = await self._store.held()
        for slug in set(self._known) - set(slugs):
            self._known.pop(slug, None)
        for slug in slugs:
            with suppress(LeftAlone):
                if rt := await self._store.get(slug):
                    self._known[slug] = rt
        return self._newest

    @property
    def _newest(self) -> tuple[Roundtable, ...]:
        return tuple(sorted(self._known.values(), key=lambda rt: rt.now, reverse=True))

    async def _publish(self, person: str, *, pressed: bool) -> None:
        """The page, unless it says what is there and the person has not just done something there."""
        shown, at = self._shown.get(person), self._clock()
        page = await self.page(person, await self._settings(person), self._newest)
        if shown and not pressed and page == shown.page:
            return
        urgency = Urgency.ANSWER if pressed else Urgency.TIDY
        await self._chat.publish_home(person, page, urgency=urgency)
        self._shown[person] = Shown(page, at, pressed_at=at if pressed or not shown else shown.pressed_at)

    async def page(self, person: str, settings: ReminderSettings, live: tuple[Roundtable, ...]) -> HomePage:
        zone = await self._zone(person)
        seen = await self._seen(person, live)
        return HomePage(
            waiting=self._waiting(seen, person, zone),
            held=tuple(self._held(rt, person, zone) for rt in seen)[:SHOWN],
            decided=tuple(row for rt in seen for row in _decided(rt))[:DECIDED_SHOWN],
            settings=settings,
            today=local_time(self._clock(), 0).astimezone(zone).date().isoformat(),
            notice=self._notices.get(person, ""),
        )

    async def _remind(self, person: str, settings: ReminderSettings, live: tuple[Roundtable, ...]) -> None:
        if settings.off:
            return
        zone = await self._zone(person)
        local = local_time(self._clock(), 0).astimezone(zone)
        today, hour, minute = local.date(), *map(int, settings.time.split(":"))
        own = tuple(rt for rt in live if person in waiting.participants(rt))
        wanted = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
        time = self._spread(person, wanted, {rt.place.channel for rt in own})
        late = (local - time).total_seconds()
        if not 0 <= late < WINDOW_SECONDS or today.isoformat() < settings.not_before:
            return
        told = tuple(rt for rt in own if not self._policy(rt.place.channel).is_quiet(local))
        if not told:
            return
        key = f"digest:{person}:{today.isoformat()}"
        if key in self._decided_on:
            return
        seen = await self._seen(person, told)
        self._decided_on[key] = True
        rows = self._waiting(seen, person, zone)
        # Noted before it is sent: after a crash in between, nothing is sent that day.
        if rows and await self._store.first(key, seconds=KEPT_SECONDS):
            await self._chat.send_daily(
                person, DailyMessage(await self._chat.name_or_id(person), rows), key=key
            )

    def _spread(self, person: str, wanted: datetime, channels: Iterable[str]) -> datetime:
        """
        Near *wanted*, and always the same for *person*: on the other side of it where that would be another day, or in
        quiet hours that *wanted* is not in.
        """
        policies = [self._policy(channel) for channel in channels]
        awake = [one for one in policies if not one.is_quiet(wanted)]

        def fits(moment: datetime) -> bool:
            return moment.date() == wanted.date() and not any(one.is_quiet(moment) for one in awake)

        apart = timedelta(minutes=spread(person, self._spread_minutes))
        return next((one for one in (wanted + apart, wanted - apart) if fits(one)), wanted)

    def _policy(self, channel: str) -> Policy:
        return self._playbook.policies.of(channel, self._playbook.policy)

    async def _zone(self, person: str) -> tzinfo:
        with suppress(ZoneInfoNotFoundError, ValueError, EffectError):
            return ZoneInfo((await self._chat.profile(person)).zone or "UTC")
        return ZoneInfo("UTC")

    async def sees(self, person: str, rt: Roundtable) -> bool:
        return (await self._viewer(person, [rt])).sees(held_item(rt))

    async def held_by(self, person: str) -> tuple[Roundtable, ...]:
        """The roundtables that they take part in and may see, the newest first."""
        return await self._seen(person, await self._live())

    async def told(self, person: str, *, here: str = "") -> Message:
        """What waits for them, for a direct message; with *here*, only in that channel."""
        zone, held = await self._zone(person), await self.held_by(person)
        held = tuple(rt for rt in held if not here or rt.place.channel == here)
        start = () if here else (menus.START,)
        rows = self._waiting(held, person, zone)
        if not rows:
            return Message(text=wording.NOTHING_WAITS, choices=start)
        text = "\n\n".join(f"**{escaped(row.title)}**\n{escaped(row.text)}" for row in rows)
        links = {row.url: Link(label=one_line(row.title, TEXT_CHARS), url=row.url) for row in rows if row.url}
        answers = () if here else self._answerable(held, person)
        return Message(text=text, choices=(*answers, *start), links=tuple(links.values()))

    async def greeting(self, person: str) -> Message:
        told = await self.told(person)
        choices = (*told.choices, agent_wording.WAITING)
        return told.but(text=f"{agent_wording.GREETING}\n\n{told.text}", choices=choices)

    async def belongs_nowhere(self, person: str) -> Message:
        choices = self._answerable(await self.held_by(person), person)
        text = agent_wording.BELONGS_SOMEWHERE if choices else agent_wording.BELONGS_NOWHERE
        return Message(text=text, choices=(*choices, menus.START, agent_wording.WAITING))

    def _answerable(self, held: tuple[Roundtable, ...], person: str) -> tuple[Choice, ...]:
        """A button for each open step that asks them, and for each open question that is theirs."""
        found = [
            (rt, one)
            for rt in held
            for one in waiting.waits_for(rt, person, self._playbook)
            if one.kind in {WaitKind.STEP, WaitKind.QUESTION}
        ]
        if len(found) == 1:
            rt, one = found[0]
            return (agent_wording.ANSWER.but(value=_answered_by(rt, one)),)
        return tuple(
            agent_wording.ANSWER.but(
                label=agent_wording.answer_which(rt.title if one.kind is WaitKind.STEP else one.text),
                value=_answered_by(rt, one),
            )
            for rt, one in found[:SHOWN]
        )

    async def _seen(self, person: str, live: tuple[Roundtable, ...]) -> tuple[Roundtable, ...]:
        """Those of *live* that the person takes part in, in channels of which they are a member now."""
        own = [rt for rt in live if person in waiting.participants(rt)]
        viewer = await self._viewer(person, own)
        return tuple(rt for rt in own if viewer.sees(held_item(rt)))

    async def _viewer(self, person: str, held: Sequence[Roundtable]) -> Viewer:
        """It is not asked who that is: of channels of which they are no member now they are told nothing."""
        members = {one: await self._chat.members(one) for one in {rt.place.channel for rt in held}}
        own = frozenset(one for one, found in members.items() if person in found)
        return Viewer(place=Place(team=held[0].place.team if held else "", channel=""), channels=own)

    # --- rows -----------------------------------------------------------------------------------------------------

    def _waiting(self, seen: Iterable[Roundtable], person: str, zone: tzinfo) -> tuple[WaitingRow, ...]:
        return tuple(row for rt in seen for row in self._waiting_in(rt, person, zone))[:SHOWN]

    def _waiting_in(self, rt: Roundtable, person: str, zone: tzinfo) -> Iterator[WaitingRow]:
        for wait in waiting.waits_for(rt, person, self._playbook):
            is_step = wait.kind is WaitKind.STEP
            aside = self._aside(rt, zone) if is_step else ""
            text = "\n".join(filter(None, (waiting.in_words(wait), aside)))
            url = (root.link_to(rt, _asked_at(rt)) if wait.kind in ON_A_CARD else "") or rt.permalink
            yield WaitingRow(rt.title, text, "Answer" if is_step else "Look", url)

    def _aside(self, rt: Roundtable, zone: tzinfo) -> str:
        heard = [rt.name_of(one) for one in waiting.participants(rt) if one in waiting.heard_in_step(rt)]
        return " ".join(filter(None, (wording.others_answered(heard), _due(rt, zone))))

    def _held(self, rt: Roundtable, person: str, zone: tzinfo) -> HeldRow:
        agenda = self._playbook.agenda
        step = agenda.get(rt.step_id)
        phase = asking.phase_of(step.phase_key, self._playbook).name if step else ""
        where = f"{phase}, with {asking.speaker_of(rt, self._playbook).first_name}" if phase else ""
        paused = rt.slug if rt.stage in {Stage.PAUSED, Stage.STALLED} else ""
        if paused:
            state = wording.paused(rt.name_of(rt.paused_by) if rt.paused_by else "")
        elif rt.stage is Stage.ELABORATING and rt.elaboration:
            state = f"Discussion: {one_line(rt.elaboration.topic, TEXT_CHARS)}"
        else:
            waits = waiting.waits_for(rt, person, self._playbook)
            state = " · ".join(filter(None, ("Waiting for you" if waits else "", _due(rt, zone).rstrip("."))))
        done = len([one for one in rt.steps_completed if agenda.get(one)])
        return HeldRow(
            rt.title, rt.place.channel, done, len(agenda.steps), where, state, rt.permalink, paused
        )


def spread(person: str, most: int) -> int:
    """A number of minutes from minus *most* to *most* that follows from the id alone."""
    digest = hashlib.sha256(person.encode()).digest()
    return int.from_bytes(digest[:4]) % (2 * most + 1) - most


def _due(rt: Roundtable, zone: tzinfo) -> str:
    if not rt.attendance.due or rt.attendance.due < rt.now:
        return ""
    offset = local_time(rt.attendance.due, 0).astimezone(zone).utcoffset() or timedelta()
    return attendance_wording.due(in_words(rt.attendance.due, offset=int(offset.total_seconds())))


def _answered_by(rt: Roundtable, wait: Wait) -> str:
    """The value of the button that opens the form."""
    return f"{rt.slug}/{wait.entry or rt.step_id}"


def _asked_at(rt: Roundtable) -> str:
    card = rt.board if rt.elaboration and rt.board else rt.card
    return rt.stands_at(card.token) if card else ""


def _decided(rt: Roundtable) -> Iterator[DecidedRow]:
    """The newest first; only what a person decided."""
    for entry in reversed(rt.specification.active("decision")):
        claim = entry.claim("text")
        if claim and claim.accepted and claim.accepted.by in rt.people:
            yield DecidedRow(
                one_line(str(claim.value), TEXT_CHARS),
                attribution_of(entry, "text"),
                rt.permalink,
                f"{rt.slug}/{entry.id}",
            )
