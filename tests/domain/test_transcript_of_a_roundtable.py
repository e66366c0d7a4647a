"""The transcript: every utterance is a line, in the order of the thread, in the words of the schema."""

import json

from bot.domain.messages.message import Action
from tests import transcripts
from tests.domain.books import FEW, few_steps, thinking
from tests.domain.table import Table, played_once


@played_once
def whole_meeting() -> Table:
    table = Table(thinking(few_steps())).start().do_step("For field work.").say("Trains, too.")
    table.press(Action.ELABORATE).say("Jordan, what about tunnels?", who="grace").press(Action.GO_ON).say(
        "done"
    )
    return table.through("02-01").press_continue()


def test_a_whole_meeting_is_in_the_transcript_without_a_flaw() -> None:
    """In the same order: what Slack shows and what git keeps are one meeting. No line is there twice."""
    table = whole_meeting()

    assert transcripts.read(table.world.meeting).flaws == ()
    assert table.rt.lines == ()

    kept = {line.message_id: line.content for line in table.lines if line.source != "user"}
    posts = [effect for effect in table.completing if effect.kind == "post"]

    rest = iter(kept)
    assert all(post.id in rest for post in posts)
    assert all(post.message.text == kept[post.id] for post in posts if post.message.card is None)

    table.restart().forget().say("Thank you.")

    ids = [line.message_id for line in table.lines]
    assert len(ids) == len(set(ids))

    committed = [line.message_id for work in whole_meeting().world.commits for line in work.lines]

    assert len(committed) == len(set(committed))


def test_a_card_has_the_words_of_its_lines() -> None:
    """Those of its question or menu, and above it only what has lines of its own, said just before."""
    table = whole_meeting()
    lines = [line for line in table.lines if line.source != "user"]
    ids, kept = [line.message_id for line in lines], [line.content for line in lines]
    cards = [
        effect
        for effect in table.completing
        if effect.kind == "post" and effect.message.card and not effect.broadcast
    ]

    assert len(cards) > len(FEW)
    for card in cards:
        at, text = ids.index(card.id), card.message.text
        own = kept[at].split("\n\n")
        above = text.partition(own[0])[0].strip()
        assert all(part in text for part in own)
        assert above in {"\n\n".join(kept[first:at]) for first in range(at + 1)}


def test_rounds_start_at_one_and_a_person_begins_the_next() -> None:
    """The personas who answer are in it."""
    lines = whole_meeting().lines
    assert lines[0].round == 1

    at = next(n for n, line in enumerate(lines) if line.content == "Jordan, what about tunnels?")

    assert lines[at].round == lines[at - 1].round + 1
    assert lines[at + 1].actor == "InterfaceDesigner"
    assert lines[at + 1].round == lines[at].round


def test_the_parts_follow_the_meeting() -> None:
    """Taken in, clarified, written down, discussed, put together, finished."""
    order: list[str] = []
    for line in whole_meeting().lines:
        if not order or order[-1] != line.phase:
            order.append(line.phase)

    assert order[:4] == ["draft", "clarifying", "formalizing", "clarifying"]
    assert order[4:6] == ["workshop", "formalizing"]
    assert order[-1] == "review_ready"


def test_everybody_has_an_actor_and_a_source() -> None:
    """People are `User`; what the host says, or a persona by rote, is the system's; all else a model's."""
    lines = whole_meeting().lines

    assert {line.actor for line in lines} == {
        "User",
        "PlanningAgent",
        "BusinessAnalyst",
        "SolutionsArchitect",
        "InterfaceDesigner",
    }
    assert {line.meta["user_name"] for line in lines if line.source == "user"} == {"Ada", "Grace"}

    for line in lines:
        by_rule = line.actor == "PlanningAgent" or line.meta.get("voice") == "rule"
        assert line.source == ("user" if line.actor == "User" else "system" if by_rule else "model")
    said = {line.meta.get("voice") for line in lines if "turn_id" in line.meta and line.source != "user"}
    assert said == {None}
    assert {line.meta["voice"] for line in lines if line.content.startswith("Hi, I'm Maya")} == {"rule"}


def test_a_line_says_where_it_belongs() -> None:
    """Item, phase, step, channel; for a turn its number, for a message of a person the message."""
    lines = whole_meeting().lines

    turn = next(line for line in lines if line.content == "Jordan, what about tunnels?")
    assert turn.meta["task_id"] == "offline-sync"
    assert turn.meta["phase_key"] == "00-quick-scan"
    assert turn.meta["step_id"] == "00-01"
    assert turn.meta["channel_id"] == "C1"
    assert (turn.meta["turn"], turn.meta["turn_id"]) == (4, "t04")
    assert turn.message_id == f"C1.{turn.meta['message_ts']}"


def test_a_post_can_be_found_in_slack() -> None:
    """Once Slack said where a pending line stands, the line says it, too."""
    table = Table(few_steps()).start()

    asked = table.rt.lines[-1]
    assert asked.meta["message_ts"] == table.menu_at


def test_every_line_is_json_of_the_schema() -> None:
    """One object a line, with the fields in the order of the seed."""
    for row in whole_meeting().world.meeting.decode().splitlines():
        assert list(json.loads(row)) == [
            "ts",
            "round",
            "actor",
            "phase",
            "role",
            "source",
            "content_type",
            "content",
            "meta",
        ]
