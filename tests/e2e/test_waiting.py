"""What waits for a person: Home, the daily message, the roll call and the deadline, by press and by words."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.domain.messages import home_page
from bot.domain.values.timestamps import moment
from slack_sandbox import SandboxMessage
from slack_sandbox.messages import JSON
from slack_sandbox.residents import User
from slack_sandbox.views import View
from tests.e2e.meeting import CHANNEL, Meeting, sandbox
from tests.other.published import unlike_published

ADA = User("U0ADA1", "ada", "Ada", tz="Europe/London", tz_offset=0)
GRACE = User("U0GRACE1", "grace", "Grace", tz="America/New_York", tz_offset=-18_000)
LINUS = User("U0LINUS1", "linus", "Linus", tz="Asia/Kolkata", tz_offset=19_800)
MAX = User("U0MAX1", "max", "Max", tz="Europe/Berlin", tz_offset=3_600)


class Days:
    """Simulated time, of the bot and of Slack alike: it begins on a Monday in winter at 06:00 UTC."""

    def __init__(self, meeting: Meeting) -> None:
        self._clock = meeting.slack.clock
        self._clock.skip(datetime(2026, 12, 7, 6, tzinfo=UTC).timestamp() - self._clock.now())

    def __call__(self) -> str:
        return moment(datetime.fromtimestamp(self._clock.now(), UTC))

    def until(self, day: int, hour: int, minute: int = 0) -> None:
        wanted = datetime(2026, 12, day, hour, minute, tzinfo=UTC).timestamp()
        assert wanted > self._clock.now(), "time never goes back"
        self._clock.skip(wanted - self._clock.now())


@pytest.fixture
async def meeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Meeting]:
    """Four people in four time zones; what is due is looked for at once."""
    monkeypatch.setattr("bot.engine.personal.LOOK_SECONDS", 0.05)
    monkeypatch.setattr("bot.engine.engine.SWEEP_SECONDS", 0.05)
    async with sandbox(people=(ADA, GRACE, LINUS, MAX)) as slack:
        meeting = Meeting(slack, tmp_path / "workspace")
        meeting.clock = Days(meeting)
        yield meeting
        for one in (ADA, GRACE, LINUS, MAX):
            written_on = [day_of(message, one) for message in directs(meeting, one.name)]
            assert len(written_on) == len(set(written_on)), f"{one.name} was written to twice a day"
        assert unlike_published(slack.calls) == []


def days(meeting: Meeting) -> Days:
    assert isinstance(meeting.clock, Days)
    return meeting.clock


def directs(meeting: Meeting, who: str) -> list[SandboxMessage]:
    """What the bot wrote to *who* directly."""
    workspace = meeting.slack.workspace
    person = workspace.user(who).id
    found = [one for one in workspace.channels.values() if one.kind == "im" and person in one.members]
    return [
        message
        for channel in found
        for message in channel.messages.values()
        if message.by_bot and not message.only_for
    ]


def day_of(message: SandboxMessage, person: User) -> date:
    """By the person's own clock."""
    return datetime.fromtimestamp(float(message.ts) + person.tz_offset, UTC).date()


def home(meeting: Meeting, who: str) -> str:
    view = meeting.slack.person(who).home
    return str(view.blocks) if view else ""


async def begun(meeting: Meeting) -> None:
    await meeting.slack.person("ada").slash(
        CHANNEL, f"/roundtable start Offline sync with <@{GRACE.id}> and <@{LINUS.id}>, <@{MAX.id}>"
    )
    await meeting.until(lambda: meeting.slack.messages(CHANNEL))
    meeting.root, meeting.slug = meeting.slack.messages(CHANNEL)[-1].ts, "offline-sync"
    await meeting.menu("finish_step")
    await meeting.slack.settled()


async def passing(meeting: Meeting) -> None:
    """Enough looks that what is due would have been sent."""
    for _ in range(3):
        before = len(meeting.slack.calls)
        await meeting.slack.person("max").open_home()
        await meeting.until(lambda before=before: len(meeting.slack.calls) > before)  # type: ignore[misc]
    await meeting.slack.settled()


async def test_home_says_what_waits(meeting: Meeting) -> None:
    """
    And what does not any more; before there is anything, what this is. It survives a restart. Whoever left the channel
    sees nothing of it.
    """
    async with meeting.bot():
        await meeting.slack.person("linus").open_home()
        await meeting.until(lambda: "Nothing waits for you" in home(meeting, "linus"))
        await begun(meeting)
    async with meeting.bot():
        await meeting.slack.person("linus").open_home()
        await meeting.until(lambda: "asks:" in home(meeting, "linus"))
        shown = home(meeting, "linus")
        assert "Offline sync" in shown
        assert "0 of " in shown
        assert f"<#{meeting.slack.workspace.channel(CHANNEL).id}>" in shown

        await meeting.say("Edits get lost in tunnels. Scope: small", who="linus")
        await meeting.slack.settled()
        await meeting.slack.person("linus").open_home()
        await meeting.until(lambda: "asks:" not in home(meeting, "linus"))
        await meeting.leaves(LINUS.id)
        await meeting.slack.person("linus").open_home()
        await meeting.until(
            lambda: "Offline sync" not in home(meeting, "linus").replace("start Offline sync", "")
        )


async def test_who_left_is_not_written_to_and_nobody_twice_a_day(meeting: Meeting) -> None:
    """Membership is asked for when the message is due; a restart and another time change nothing that day."""
    at = days(meeting)
    async with meeting.bot():
        await begun(meeting)
        await meeting.leaves(GRACE.id)
        at.until(7, 8, 11)  # 09:11 in Berlin: within ten minutes of nine
        await meeting.until(lambda: directs(meeting, "max"))
    async with meeting.bot():
        await meeting.slack.person("max").slash(CHANNEL, "/roundtable remind 09:30")
        at.until(7, 8, 31)
        await passing(meeting)
        at.until(7, 9, 1)
        await meeting.until(lambda: directs(meeting, "ada"))
        at.until(7, 14, 11)  # in New York
        await passing(meeting)
    assert len(directs(meeting, "max")) == 1
    assert directs(meeting, "grace") == []


async def pressed_at_home(
    meeting: Meeting, who: str, action_id: str, value: object = None, page: View | None = None
) -> JSON:
    """On *page*, which somebody may still see, or on what Home is now."""
    person = meeting.slack.person(who)
    page = page or person.home
    assert page
    delivery = await person.press(page, action_id, value)
    assert delivery.acked, delivery.error
    return delivery.response


async def test_reminders_are_set_at_home_and_by_words(meeting: Meeting) -> None:
    """The time, a day without, and none at all; the same with the slash command, after a restart."""
    async with meeting.bot():
        await begun(meeting)
        await meeting.slack.person("linus").open_home()
        await meeting.until(lambda: "One message a day" in home(meeting, "linus"))
        await pressed_at_home(meeting, "linus", "roundtable.digest_time", "10:30")
        await meeting.until(lambda: "'initial_time': '10:30'" in home(meeting, "linus"))
        await pressed_at_home(meeting, "linus", "roundtable.snooze")
        await meeting.until(lambda: "Not before 2026-12-08" in home(meeting, "linus"))
    async with meeting.bot():
        told = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable no reminders")
        assert "No more reminders" in told.response["text"]
        await meeting.slack.person("linus").open_home()
        await meeting.until(lambda: "Choose a time" in home(meeting, "linus"))
        told = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable remind 8:15")
        assert "at 08:15" in told.response["text"]
        told = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable remind 23:00")
        assert "I send no messages at that time" in told.response["text"]
        told = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable snooze")
        assert "Not before tomorrow" in told.response["text"]


async def test_home_starts_and_resumes(meeting: Meeting) -> None:
    """A paused roundtable goes on from there, after a restart; who left its channel is told why it does not."""
    async with meeting.bot():
        await begun(meeting)
        await meeting.say("stop", who="grace")
        await meeting.slack.person("linus").open_home()
        await meeting.until(lambda: "Paused by Grace" in home(meeting, "linus"))
        await pressed_at_home(meeting, "linus", "roundtable.start_form")
        linus = meeting.slack.person("linus")
        await meeting.until(lambda: linus.view is not None)
        assert linus.view
        assert linus.view.body["callback_id"] == "roundtable.start_form"
    async with meeting.bot():
        await meeting.slack.person("max").open_home()
        await meeting.until(lambda: "Paused by Grace" in home(meeting, "max"))
        page = meeting.slack.person("max").home
        await meeting.leaves(MAX.id)
        await pressed_at_home(meeting, "max", "roundtable.resume", page=page)
        await meeting.until(lambda: "you are not in its channel" in home(meeting, "max"))
        assert "Offline sync" not in home(meeting, "max").replace("start Offline sync", "")

        await pressed_at_home(meeting, "linus", "roundtable.resume")
        await meeting.until(lambda: "roundtable.resume" not in home(meeting, "linus"))
        await meeting.until(lambda: "Waiting for you" in home(meeting, "linus"))
        await meeting.finish_step()
    assert "Linus resumed the roundtable." in [line.content for line in meeting.transcript.lines]


async def test_a_decision_is_changed_at_home(meeting: Meeting) -> None:
    """In the form, with that decision chosen; who left the channel does not see it. A restart before the form."""
    linus = meeting.slack.person("linus")
    async with meeting.bot():
        await begun(meeting)
        await meeting.say("decision: We log both", who="linus")
        await meeting.say("decision: Orders are locked", who="linus")
        await meeting.slack.settled()
        await linus.open_home()
        await meeting.until(lambda: "We log both" in home(meeting, "linus"))
    async with meeting.bot():
        await pressed_at_home(meeting, "linus", "roundtable.reverse", value="/offline-sync/DEC-001")
        await meeting.submit(who="linus", new="The back office picks", because="gloves")
        await meeting.seen("DEC-003 is recorded: The back office picks (decided by Linus)")
        page = linus.home
        await meeting.leaves(LINUS.id)
        await pressed_at_home(meeting, "linus", "roundtable.reverse", "/offline-sync/DEC-002", page=page)
        await meeting.until(lambda: home_page.GONE in str((linus.view, home(meeting, "linus"))))
        await meeting.finish_step()
    spec = json.loads((meeting.folder / "specification.json").read_text())
    decisions = {one["id"]: one for one in spec["entries"] if one["kind"] == "decision"}
    assert decisions["DEC-001"]["replaced_by"] == ["DEC-003"]
    assert decisions["DEC-003"]["claims"]["text"][-1]["value"] == "The back office picks"


async def first_day(meeting: Meeting, at: Days) -> None:
    await begun(meeting)
    await meeting.say("due 2026-12-08 17:00", who="ada")
    await meeting.seen("Ada asked for answers by Tuesday 8 December, 17:00 (UTC)")
    at.until(7, 8, 1)  # 09:01 in Berlin
    await meeting.until(lambda: directs(meeting, "max"))
    at.until(7, 9, 11)  # in London
    await meeting.until(lambda: directs(meeting, "ada"))
    await meeting.say("Edits get lost in tunnels. Scope: small", who="max")
    at.until(7, 14, 5)  # 09:05 in New York
    await meeting.until(lambda: directs(meeting, "grace"))
    assert [len(directs(meeting, who)) for who in ("ada", "grace", "max")] == [1, 1, 1]
    assert directs(meeting, "linus") == []  # for Linus it was half past eleven when this began


async def second_day(meeting: Meeting, at: Days) -> None:
    at.until(8, 3, 41)  # in Kolkata
    await meeting.until(lambda: directs(meeting, "linus"))
    [told] = directs(meeting, "linus")
    assert "Good morning, Linus. One thing waits for you." in told.text
    assert "Max has answered. Due Tuesday 8 December, 22:30 (UTC+5:30)." in told.text
    at.until(8, 8, 5)  # Max has answered: nothing waits
    await passing(meeting)
    assert len(directs(meeting, "max")) == 1

    at.until(8, 13, 1)  # four working hours before
    call = await meeting.menu("pass")
    called = {word for word in call.text.split() if word.startswith("<@")}
    assert called == {f"<@{one.id}>" for one in (ADA, GRACE, LINUS)}
    await meeting.press("pass", who="grace")
    await meeting.seen("Grace has nothing to add")
    await meeting.say("tomorrow", who="linus")
    await meeting.seen("Linus wants to answer tomorrow")


async def third_day(meeting: Meeting, at: Days) -> None:
    at.until(9, 3, 41)
    await meeting.until(lambda: len(directs(meeting, "linus")) == 2)
    at.until(9, 17, 1)
    await meeting.until(lambda: meeting.menus("extend"))
    await meeting.say("without Linus", who="ada")
    await meeting.seen("Ada goes on without Linus")
    await meeting.say("Ship it in small steps.", who="ada")
    await meeting.slack.settled()
    await meeting.finish_step()


async def test_three_days_of_four_people(meeting: Meeting) -> None:
    """
    Everybody hears of what waits at nine by their own clock, once a day, and not when nothing waits. The thread is
    called four working hours before answers are due, and proposes what to do then. The bot is restarted each night.
    """
    at = days(meeting)
    async with meeting.bot():
        await first_day(meeting, at)
    async with meeting.bot():
        await second_day(meeting, at)
    at.until(8, 17, 1)  # while no process runs
    async with meeting.bot():
        await meeting.seen("answers are due")
        await meeting.press("extend", who="ada")
        await meeting.seen("Ada gave it one more day · now due Wednesday 9 December, 17:00 (UTC)")
        assert not meeting.menus("extend")
    async with meeting.bot():
        await third_day(meeting, at)

    assert sum(f"<@{GRACE.id}>" in one.text for one in meeting.thread) <= 1
    assert all(len(directs(meeting, who)) <= 3 for who in ("ada", "grace", "linus", "max"))
    said = [line.content for line in meeting.transcript.lines]
    assert "Grace has nothing to add." in said


async def test_the_daily_message_is_put_off_and_turned_off(meeting: Meeting) -> None:
    """By its own buttons; a restart in between."""
    at = days(meeting)
    async with meeting.bot():
        await begun(meeting)
        at.until(7, 8, 1)
        [told] = await meeting.until(lambda: directs(meeting, "max"))
        person, buttons = meeting.slack.person("max"), {one.get("value"): one for one in told.elements}
        assert (await person.press(told, "roundtable.digest_time", "08:30")).acked
        await meeting.until(
            lambda: [one for one in person.ephemerals if "at 08:30 by your clock" in one.text]
        )
        assert (await person.press(told, buttons["/1d"]["action_id"], "/1d")).acked
        await meeting.until(lambda: [one for one in person.ephemerals if "Not before tomorrow" in one.text])
    async with meeting.bot():
        assert (await person.press(told, buttons["/off"]["action_id"], "/off")).acked
        await meeting.until(lambda: [one for one in person.ephemerals if "No more reminders" in one.text])
        at.until(8, 8, 1)
        await passing(meeting)
        at.until(8, 9, 1)
        await meeting.until(lambda: directs(meeting, "ada"))
        assert [one.ts for one in directs(meeting, "max")] == [told.ts]


async def test_who_is_waited_for_by_name_answers_below_or_hands_it_on(meeting: Meeting) -> None:
    """After ten minutes without a word, with a kill before the post, and before the answer."""
    at, linus = days(meeting), meeting.slack.person("linus")
    async with meeting.bot():
        at.until(7, 10)
        await begun(meeting)
        await meeting.say("open question: Who pays? -> Grace", who="ada")
        await meeting.slack.settled()
    at.until(7, 10, 11)
    async with meeting.bot():
        asked = await meeting.seen("This waits for one of you:")
        assert "*Grace*: A question is yours to answer: Who pays?" in asked.text
        await meeting.press_in(asked, "amend", who="linus")
        await meeting.until(lambda: linus.view is not None)
        assert "Who pays?" in str(linus.view)
    async with meeting.bot():
        await meeting.press_in(asked, "answer_form", who="grace")
        await meeting.submit(who="grace", words="The customer pays.")
        await meeting.seen("Grace answered in a form")
        await meeting.seen("You were asked about Q-001.")
        assert not meeting.menus("answer_form")
        await meeting.finish_step()
        await meeting.slack.settled()

    (line,) = [line for line in meeting.transcript.lines if "answered Q-001" in line.content]
    assert line.person == meeting.person("grace")
