"""Who did what is in the log: one line for each start, choice, decision and stop, with ids and no words."""

import logging
from dataclasses import replace

import pytest

from tests.e2e.meeting import CHANNEL, Meeting


def audited(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str, str]]:
    return [
        (one.getMessage(), str(vars(one)["person"]), str(vars(one)["item"]), str(vars(one)["step"]))
        for one in caplog.records
        if one.name == "audit"
    ]


async def test_what_people_do_is_in_the_log(meeting: Meeting, caplog: pytest.LogCaptureFixture) -> None:
    """Pressed, typed or asked for with a command: the same word. What they say is not there, nor what was refused."""
    caplog.set_level(logging.INFO, "audit")
    slack = meeting.slack
    ada, grace = meeting.person("ada"), meeting.person("grace")
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Field workers lose their edits")
        await slack.settled()
        await meeting.say("finish")
        await meeting.menu("continue")
        await slack.person("grace").slash(CHANNEL, "/roundtable depth brief")
        await meeting.seen("switching to brief mode")
        await meeting.say("C")
        await meeting.menu("finish_step")
        await slack.person("ada").slash(CHANNEL, "/roundtable stop offline-sync")
        await slack.person("ada").slash(CHANNEL, "/roundtable stop offline-sync")
        await slack.settled()

    done = audited(caplog)
    assert [(event, person) for event, person, _, _ in done] == [
        ("start", ada),
        ("finish_step", grace),
        ("depth_brief", grace),
        ("continue", grace),
        ("stop", ada),
    ]
    assert {item for _, _, item, _ in done} == {"offline-sync"}
    assert [step for _, _, _, step in done][1] != [step for _, _, _, step in done][-1]
    assert "Field workers" not in " ".join(map(str, done))


async def test_a_typed_decision_leaves_the_line_of_a_recorded_one(
    meeting: Meeting, caplog: pytest.LogCaptureFixture
) -> None:
    """As the form does. What was refused leaves none."""
    caplog.set_level(logging.INFO, "audit")
    slack = meeting.slack
    grace, linus = meeting.person("grace"), meeting.person("linus")
    slack.workspace.change_user(replace(slack.workspace.user("linus"), is_guest=True))
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Field workers lose their edits. Scope: small")
        await meeting.finish_step()
        await meeting.discuss()
        await meeting.say("decision: A queue keeps the edits", who="linus")
        await slack.settled()
        await meeting.say("decision: A queue keeps the edits", who="grace")
        await meeting.until(lambda: "recorddecision" in {event for event, *_ in audited(caplog)})
        await meeting.say("done", who="grace")
        await meeting.until(lambda: "end_elaboration" in {event for event, *_ in audited(caplog)})
        await slack.settled()

    decided = [(event, person) for event, person, _, _ in audited(caplog) if person in {grace, linus}]
    assert decided == [("recorddecision", grace), ("end_elaboration", grace)]
