"""*Catch me up*: whoever was away is told, alone and in a few lines, what has happened since they last spoke."""

from shutil import rmtree

from tests.e2e.meeting import CHANNEL, Meeting


async def away_and_back(meeting: Meeting) -> None:
    """Linus says something, and then a step is finished and discussed without him."""
    await meeting.start("Offline sync")
    await meeting.say("I'm off.", who="linus")
    await meeting.slack.settled()
    await meeting.do_step("Decision: keep photos out.")
    await meeting.discuss()
    await meeting.seen("We just covered")
    await meeting.say(
        "Decision: keep photos out of it\nOpen question: who pays for the servers?", who="grace"
    )
    await meeting.slack.settled()
    await meeting.say("done", who="ada")
    await meeting.seen("Elaboration Insights")
    await meeting.menu("continue")
    await meeting.slack.settled()


async def test_what_was_decided_and_is_open_is_told_to_one_person(meeting: Meeting) -> None:
    """
    With the way to where they left off; nobody else sees it, and nothing is written down. Also by a button under the
    status, and when only git knows the item.
    """
    async with meeting.bot():
        await away_and_back(meeting)
        lines, thread = len(meeting.transcript.lines), len(meeting.thread)
        linus = meeting.slack.person("linus")
        await linus.mention(CHANNEL, "catch me up", thread_ts=meeting.root)
        told = (await meeting.until(lambda: linus.ephemerals))[-1]
        await meeting.slack.settled()

        assert told.thread_ts == meeting.root
        assert "*Offline sync*, since you last said something:" in told.text
        assert "*Finished:* 00-01 Scope Estimation" in told.text
        assert "DEC-001: keep photos out. Decided by Grace." in told.text
        assert "DEC-002: keep photos out of it. Decided by Grace." in told.text
        assert told.text.count("keep photos out of it") == 1
        assert "Q-001 who pays for the servers? (no owner)" in told.text
        assert "a choice from the menu" in told.text
        assert "|Open the thread>" in str(told.blocks)
        assert "|DEC-002>" in str(told.blocks), "each decision has a link to the message it comes from"
        assert meeting.slack.person("ada").ephemerals == []
        assert (len(meeting.transcript.lines), len(meeting.thread)) == (lines, thread + 1)

        await linus.slash(CHANNEL, "/roundtable status offline-sync")
        status = (await meeting.until(lambda: linus.ephemerals[1:]))[-1]
        await linus.press(status, "roundtable.catch_up")
        await meeting.until(lambda: "since you last said something" in linus.ephemerals[-1].text)
        assert status.text in [one.text for one in linus.ephemerals]
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        delivery = await linus.slash(CHANNEL, "/roundtable catchup offline-sync")

    assert "DEC-002: keep photos out of it. Decided by Grace." in delivery.response["text"]
    assert "`/roundtable resume offline-sync`" in delivery.response["text"]


async def test_whoever_spoke_last_has_missed_nothing(meeting: Meeting) -> None:
    """And hears whom it waits for; somebody new is told from the beginning, and nobody in another channel."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost.", who="grace")
        await meeting.slack.settled()
        last = await meeting.slack.person("grace").slash(CHANNEL, "/roundtable catchup")
        await meeting.finish_step()
        new = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable catchup offline-sync")
        elsewhere = meeting.slack.add_channel("elsewhere", private=True)
        away = await meeting.slack.person("ada").slash(elsewhere.id, "/roundtable catchup offline-sync")

    assert "Waiting for:* people, whom Maya Chen asks about 00-01" in last.response["text"]
    assert "1 answer so far" in last.response["text"]
    assert "*Offline sync*, from the beginning:" in new.response["text"]
    assert "Finished:* 00-01" in new.response["text"]
    assert away.response["text"] == "`offline-sync` is discussed in another channel. Ask me there."


async def test_hostile_words_stay_words(meeting: Meeting) -> None:
    """What people said is only shown: it pings nobody, and links nowhere."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost.")
        await meeting.discuss()
        await meeting.seen("We just covered")
        await meeting.say("Decision: ask <!channel> and <@U0ADA> at <https://evil.test|bank>")
        await meeting.slack.settled()
        await meeting.say("done", who="ada")
        await meeting.seen("Elaboration Insights")
        await meeting.menu("continue")
        delivery = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable catchup")

    assert "ask @channel" in delivery.response["text"]
    assert not [one for one in ("<!channel", "<@U", "<https://evil") if one in str(delivery.response)]
