"""The card of a discussion over the sandbox: pressed, typed and in forms, with a restart between two presses."""

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting


def cards(meeting: Meeting) -> list[SandboxMessage]:
    return [one for one in meeting.thread if "Discussion: " in str(one.blocks)]


async def opened(meeting: Meeting) -> None:
    await meeting.start("Offline sync")
    await meeting.say("Edits get lost in tunnels. Scope: small")
    await meeting.finish_step()
    await meeting.press("elaborate")
    await meeting.menu("ask_all")
    await meeting.slack.settled()


async def stand(meeting: Meeting, who: str, label: str) -> None:
    """Chooses where one stands in the card's select."""
    card = await meeting.menu("stand")
    select = next(one for one in card.elements if one["action_id"] == "roundtable.stand")
    value = next(one["value"] for one in select["options"] if one["text"]["text"].startswith(label))
    assert (await meeting.slack.person(who).press(card, "roundtable.stand", value)).acked


async def test_people_decide_on_one_card(meeting: Meeting) -> None:
    """Positions, an objection, an agreement that a press records, and the synthesis in place of the card."""
    async with meeting.bot():
        await opened(meeting)
        await meeting.say("option: a queue on the device")
        await stand(meeting, "ada", "For A")
        await meeting.seen("Ada · ")
    async with meeting.bot():
        await meeting.say("for A", who="grace")
        await meeting.seen("Did we agree on this?")
        await meeting.say("objection: the queue gets lost with the phone", who="linus")
        await meeting.seen("Open objection")
    async with meeting.bot():
        await meeting.press("agreed", who="grace")
        await meeting.seen("a queue on the device (decided by Ada and Grace, recorded by Grace")
        card = cards(meeting)[-1]
        await meeting.slack.person("linus").press(card, *fate(card, "withdrawn"))
        await meeting.seen("taken back")
        assert len(cards(meeting)) == 1
        await meeting.say("done")
        await meeting.seen("Elaboration Insights")
        await meeting.menu("continue")
        await meeting.slack.settled()

    assert len(cards(meeting)) == 1
    decisions = [(line.meta["user_name"], made["text"]) for line, made in meeting.made("decision")]
    assert decisions == [("Grace", "a queue on the device")]
    assert "a queue on the device" in (meeting.folder / "quick-scan.md").read_text()


def fate(card: SandboxMessage, became: str) -> tuple[str, str]:
    menu = next(one for one in card.elements if one["action_id"] == "roundtable.objection")
    return menu["action_id"], next(
        one["value"] for one in menu["options"] if one["value"].endswith(f"/{became}")
    )


async def test_the_forms_of_a_discussion(meeting: Meeting) -> None:
    """An objection, what becomes of it for a reason, and a decision with its reason; a restart after each."""
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await opened(meeting)
        await meeting.press("object", who="linus")
        await meeting.submit(who="linus", words="The queue gets lost with the phone")
        await meeting.seen("The queue gets lost with the phone")
    async with meeting.bot():
        card = cards(meeting)[-1]
        await ada.press(card, *fate(card, "rejected"))
        await meeting.submit(because="phones are backed up")
        await meeting.seen("turned down by Ada, because phones are backed up")
    async with meeting.bot():
        await meeting.press("record")
        await meeting.submit(words="A queue on the device", why="tunnels")
        await meeting.seen("A queue on the device (decided by Ada, because tunnels)")
        await meeting.press("end_elaboration")
        await meeting.menu("continue")
        await meeting.slack.settled()

    ((line, made),) = meeting.made("decision")
    assert (line.meta["user_name"], made["reason"]) == ("Ada", "tunnels")


async def test_an_option_is_named_in_a_form(meeting: Meeting) -> None:
    """Behind ⋯ while there is none, then as *Something else…* of the select; a restart with a form open, and typed."""
    grace = meeting.slack.person("grace")
    async with meeting.bot():
        await opened(meeting)
        await meeting.say("I am here.", who="linus")
        await meeting.press("option", who="grace")
        await meeting.until(lambda: grace.view is not None)
    async with meeting.bot():
        await grace.submit({"roundtable.words": "A queue on the device"})
        await meeting.seen("A A queue on the device")
        await stand(meeting, "linus", "Something else…")
        await meeting.submit(who="linus", words="A file", why="no server")
        await meeting.seen("B A file")
        await meeting.say("option: Nothing at all")
        await meeting.seen("C Nothing at all")
        await meeting.say("done")
        await meeting.menu("continue")
        await meeting.slack.settled()

    said = [line.content for line in meeting.transcript.lines]
    assert "Grace named option A: A queue on the device" in said
    assert "Linus is for B: A file. Why: no server" in said


async def test_sealed_positions_are_shown_at_once(meeting: Meeting) -> None:
    """The card says who has answered, never what; nothing of it is in the transcript before."""
    async with meeting.bot():
        await opened(meeting)
        await meeting.say("option: a queue on the device")
        await meeting.menu("stand")
        await meeting.seal_position(position="A", why="it survives tunnels")
        await meeting.seen("*In:* Ada")
        assert "it survives tunnels" not in str([one.text for one in meeting.thread])
    async with meeting.bot():
        await meeting.seal_position(who="grace", position="other", words="a file", sure="low")
        await meeting.seen("Grace, not sure")
        await meeting.seen("it survives tunnels")
        await meeting.say("done")
        await meeting.menu("continue")
        await meeting.slack.settled()

    said = [line.content for line, made in meeting.made("position") if "sure" in made]
    assert said == [
        "Ada is for A, fairly sure: a queue on the device. Why: it survives tunnels",
        "Grace is for B, not sure: a file.",
    ]


async def told(meeting: Meeting, who: str, line: str) -> str:
    answer = await meeting.slack.person(who).slash(CHANNEL, f"/roundtable {line}")
    assert answer.acked
    return str(answer.response["text"])


async def test_a_position_is_given_privately_in_words(meeting: Meeting) -> None:
    """By the slash command, which nobody else sees; in the thread it is an open one, and its author is told so."""
    async with meeting.bot():
        assert "No discussion is open here." in await told(meeting, "ada", "position A")
        await opened(meeting)
        await meeting.say("option: a queue on the device")
        await meeting.menu("stand")
        assert "There is no option Z" in await told(meeting, "ada", "position Z")
        assert "as in `position A" in await told(meeting, "ada", "position")
        assert "Sealed." in await told(meeting, "ada", "position: A, not sure, because it survives tunnels")
        await meeting.seen("*In:* Ada")
        await meeting.seen("Or write `/roundtable position A")
        assert "survives" not in str([one.text for one in meeting.thread])
    async with meeting.bot():
        await meeting.say("position: A, very sure")
        await meeting.told("has seen that", who="grace")
        assert "Sealed." in await told(meeting, "grace", "position a file, fairly sure")
        await meeting.seen("Grace, fairly sure")
        await meeting.seen("it survives tunnels")
        assert "are out already" in await told(meeting, "ada", "position A")
        await meeting.say("done")
        await meeting.menu("continue")
        await meeting.slack.settled()

    assert [line.meta["user_name"] for line, _ in meeting.made("position")] == ["Grace", "Ada"]
