"""When a person is written to, and about what; with a clock and a Slack that are played."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.domain.catalog.policy import ChannelRules, Policies
from bot.domain.messages.home_page import DailyMessage, HomePage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.timestamps import QuietHours
from bot.engine.personal import Personal, spread
from bot.engine.ports import Profile, Urgency
from bot.errors import SlackError, UserError
from bot.storage.sqlite import SqliteStore
from tests.domain.table import Table, shipped

MONDAY = "2026-12-07"


@dataclass
class People:
    """Everybody is in every channel."""

    zones: dict[str, str] = field(default_factory=dict)
    told: list[tuple[str, DailyMessage]] = field(default_factory=list)
    pages: list[tuple[str, HomePage]] = field(default_factory=list)
    refuses: bool = False
    trouble: list[SlackError] = field(default_factory=list)
    urgencies: list[Urgency] = field(default_factory=list)

    async def name_or_id(self, person: str) -> str:
        return person.title()

    async def profile(self, person: str) -> Profile:
        return Profile(person, zone=self.zones.get(person, ""))

    async def members(self, channel: str) -> frozenset[str]:  # noqa: ARG002 -- as the port has it
        return frozenset({"ada", "grace", "linus"})

    async def publish_home(self, person: str, page: HomePage, *, urgency: Urgency) -> None:
        if self.trouble:
            raise self.trouble.pop()
        self.pages.append((person, page))
        self.urgencies.append(urgency)

    async def send_daily(self, person: str, message: DailyMessage, *, key: str) -> None:
        assert key.startswith(f"digest:{person}:2026-12-")
        if self.refuses:
            raise SlackError("No.", reason="messages_tab_disabled")
        self.told.append((person, message))


@dataclass
class Office:
    store: SqliteStore
    people: People = field(default_factory=People)
    now: str = f"{MONDAY}T00:00:00.000Z"
    spread_minutes: int = 0

    def __post_init__(self) -> None:
        self.personal = self.opened()

    def opened(self) -> Personal:
        """Another process."""
        return Personal(
            store=self.store,
            chat=self.people,
            playbook=shipped(),
            clock=lambda: self.now,
            spread_minutes=self.spread_minutes,
        )

    async def at(self, day: int, time: str) -> list[str]:
        """Who is written to then."""
        self.now = f"2026-12-{day:02}T{time}:00.000Z"
        before = len(self.people.told)
        await self.personal.look()
        return [person for person, _ in self.people.told[before:]]


def asking() -> Roundtable:
    """A step is open; Ada started, and Grace wrote something."""
    return Table().start().say("Edits get lost.", who="grace").rt.but(version=1)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with SqliteStore(tmp_path) as store:
        await store.put(asking(), expected=0)
        yield Office(store)


async def test_only_those_for_whom_something_waits_are_written_to(office: Office) -> None:
    """Grace has answered; Ada has not."""
    assert await office.at(7, "08:59") == []
    assert await office.at(7, "09:00") == ["ada"]
    [(_, told)] = office.people.told
    assert told.how_many == "One thing waits for you."
    assert "Grace has answered." in told.waiting[0].text


async def test_nobody_is_written_to_twice_a_day(office: Office) -> None:
    """Not after a restart, by no second process, and not when the time is changed."""
    assert await office.at(7, "09:00") == ["ada"]
    office.personal = office.opened()
    assert await office.at(7, "09:01") == []
    await office.personal.remind("ada", "10:00")
    assert await office.at(7, "10:00") == []
    assert await office.at(8, "10:00") == ["ada"]


async def test_a_message_that_was_missed_is_dropped(office: Office) -> None:
    """Nothing ran at nine: the next day says what waits then."""
    assert await office.at(7, "11:00") == []
    assert await office.at(8, "09:00") == ["ada"]


async def test_nobody_is_written_to_at_weekends(office: Office) -> None:
    """Nor in quiet hours, which are by the person's clock."""
    assert await office.at(12, "09:00") == []
    assert await office.at(13, "09:00") == []
    office.people.zones["ada"] = "Asia/Kolkata"
    assert await office.at(14, "09:00") == []
    assert await office.at(15, "03:30") == ["ada"]
    with pytest.raises(UserError, match="I send no messages at that time"):
        await office.personal.remind("ada", "06:59")


async def test_a_channel_has_hours_of_its_own(office: Office) -> None:
    """What waits in it is told within them only, also on Saturday where people work then."""
    rules = ChannelRules(weekends=True, quiet_hours=QuietHours(begin=10 * 60, end=8 * 60))
    policies = Policies(channels={asking().place.channel: rules})
    office.personal.read_again(replace(shipped(), policies=policies))
    await office.personal.remind("ada", "10:30")
    assert await office.at(11, "10:30") == []
    await office.personal.remind("ada", "08:30")
    assert await office.at(12, "08:30") == ["ada"]


async def test_reminders_keep_to_the_hours_of_every_channel(office: Office) -> None:
    """Those of the file's `default` part."""
    night = ChannelRules(quiet_hours=QuietHours(begin=18 * 60, end=9 * 60))
    office.personal.read_again(replace(shipped(), policies=Policies(default=night)))
    with pytest.raises(UserError, match="I send no messages at that time"):
        await office.personal.remind("ada", "08:59")
    await office.personal.remind("ada", "09:00")
    assert await office.at(7, "09:00") == ["ada"]


async def test_a_refusal_disturbs_nobody_else(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    """Slack does not let us write to one person: that is in the log, and not tried again that day."""
    office.people.refuses = True
    assert await office.at(7, "09:00") == []
    office.people.refuses = False
    assert await office.at(7, "09:01") == []
    assert "messages_tab_disabled" in caplog.text


async def test_snoozing_and_turning_off(office: Office) -> None:
    """For a day, for a week, for good, and on again."""
    await office.personal.snooze("ada", "")
    office.now = f"{MONDAY}T01:00:00.000Z"
    assert await office.at(7, "09:00") == []
    assert await office.at(8, "09:00") == ["ada"]
    await office.personal.snooze("ada", "7d")
    assert await office.at(14, "09:00") == []
    assert await office.at(15, "09:00") == ["ada"]
    await office.personal.snooze("ada", "off")
    assert await office.at(16, "09:00") == []
    await office.personal.remind("ada", "on")
    assert await office.at(17, "09:00") == ["ada"]
    for nonsense in ("25:00", "soon"):
        with pytest.raises(UserError, match="I need a time"):
            await office.personal.remind("ada", nonsense)


async def test_an_open_home_follows_what_changes_and_not_more_than_once_a_minute(office: Office) -> None:
    """For a day after it was opened; and only when it says something else. Time alone publishes nothing."""
    await office.at(7, "10:00")
    await office.personal.opened_home("grace")
    await office.at(7, "10:00")
    assert [person for person, _ in office.people.pages] == ["grace"]
    for hour in range(11, 20):
        await office.at(7, f"{hour}:05")
    assert len(office.people.pages) == 1

    rt = asking()
    after = rt.but(version=2, steps_completed=(rt.step_id,), now="2026-12-07T20:05:30.000Z")
    office.now = "2026-12-07T20:05:30.000Z"
    office.personal.changed(after)
    await office.at(7, "20:06")
    assert [page.held[0].done for _, page in office.people.pages] == [0, 1]
    assert office.people.urgencies == [Urgency.ANSWER, Urgency.TIDY]
    office.personal.changed(after.but(version=3, steps_completed=()))
    await office.at(7, "20:06")
    assert len(office.people.pages) == 2
    await office.at(7, "20:07")
    assert len(office.people.pages) == 3
    await office.at(8, "11:00")
    office.personal.changed(after)
    await office.at(8, "11:05")
    assert len(office.people.pages) == 3


async def test_what_changes_nothing_on_a_page_is_not_published(office: Office) -> None:
    """And nothing is looked up for people who have not opened Home."""
    await office.personal.opened_home("grace")
    await office.at(7, "10:00")
    office.personal.changed(asking().but(version=2))
    await office.at(7, "10:05")
    assert [person for person, _ in office.people.pages] == ["grace"]


async def test_a_page_that_slack_refuses_is_given_again_at_once(office: Office) -> None:
    """Not with the next change, and not with the next look; when Slack names a time, then."""
    office.people.trouble = [
        SlackError("Slow down.", reason="ratelimited", again=True, after_seconds=30),
        SlackError("Slack has trouble.", reason="fatal_error", again=True),
    ]
    office.now = "2026-12-07T10:00:00.000Z"
    await office.personal.opened_home("grace")
    await office.personal.look()
    assert office.people.pages == []
    office.now = "2026-12-07T10:00:01.000Z"
    await office.personal.look()
    assert office.people.pages == []
    office.now = "2026-12-07T10:00:31.000Z"
    await office.personal.look()
    assert [person for person, _ in office.people.pages] == ["grace"]


# --- not all at once --------------------------------------------------------------------------------------------------

EARLY, LATE = "linus", "ada"
"""Their ids put them seven minutes before, and six minutes after their time."""


def waiting_for_two() -> Roundtable:
    """Nobody has answered."""
    rt = Table().start().rt.but(version=1)
    return rt.but(attendance=rt.attendance.joining(EARLY))


@pytest.fixture
async def busy(tmp_path: Path) -> AsyncIterator[Office]:
    async with SqliteStore(tmp_path) as store:
        await store.put(waiting_for_two(), expected=0)
        yield Office(store, spread_minutes=10)


async def test_messages_are_spread_and_each_person_has_the_same_minute_every_day(busy: Office) -> None:
    """By their id alone, so another process says the same."""
    for day in (7, 8):
        assert await busy.at(day, "08:52") == []
        assert await busy.at(day, "08:53") == [EARLY]
        busy.personal = busy.opened()
        assert await busy.at(day, "09:05") == []
        assert await busy.at(day, "09:06") == [LATE]


def test_the_ids_of_a_workspace_are_spread_over_the_whole_time() -> None:
    minutes = [spread(f"U{number:08}", 10) for number in range(1_000)]
    assert (min(minutes), max(minutes)) == (-10, 10)
    assert max(Counter(minutes).values()) < 100


async def test_a_message_never_comes_before_the_quiet_hours_end(busy: Office) -> None:
    """It comes as much later as it would have come earlier; in the evening the other way round."""
    night = ChannelRules(quiet_hours=QuietHours(begin=18 * 60, end=9 * 60))
    busy.personal.read_again(replace(shipped(), policies=Policies(default=night)))
    assert await busy.at(7, "08:59") == []
    assert await busy.at(7, "09:06") == [LATE]
    assert await busy.at(7, "09:07") == [EARLY]
    await busy.personal.remind(LATE, "17:58")
    assert await busy.at(8, "17:52") == [LATE]


async def test_in_a_channel_only_what_waits_there_is_told(office: Office) -> None:
    """And without the buttons of a direct message; in one it is all of it."""
    rt = asking()
    directly = await office.personal.told("ada")
    here = await office.personal.told("ada", here=rt.place.channel)
    elsewhere = await office.personal.told("ada", here="C9")

    assert here.text == directly.text
    assert (here.choices, len(directly.choices)) == ((), 2)
    assert elsewhere.text == "Nothing waits for you."
    assert elsewhere.choices == ()
