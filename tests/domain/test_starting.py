"""Starting: a thread is opened or adopted, the item gets its folder, and the lead asks the first question."""

import json

import pytest

from bot.domain.catalog.taxonomy import trouble
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps
from tests.domain.table import HERE, SORRY, Table, person

THREAD = HERE.but(thread="500.01")
BEFORE = (
    ThreadMessage(person=person("grace"), text="The train has no network.", ts="500.02"),
    ThreadMessage(person=person("linus"), text="<!-- and no *power* -->", ts="500.03"),
)


# --- a new item -------------------------------------------------------------------------------------------------------


def test_the_first_message_says_what_it_is_and_who_leads() -> None:
    """The item, the leads and the folder; its address is remembered."""
    table = Table().start("Offline sync")

    root = table.texts[0]
    assert root.startswith(
        "**Roundtable: Offline sync**\nMaya Chen, Alex Rivera and Jordan Park will lead us"
    )
    assert "5 phases and 24 steps" in root
    assert "`offline-sync`" in root

    table = Table().start()

    assert table.rt.permalink == f"https://slack.test/p{table.rt.place.thread}"


def test_the_lead_greets_and_asks_the_first_question_once_the_folder_is_committed() -> None:
    """Nobody has to press anything before the first step is open."""
    table = Table(few_steps()).start()

    (card,) = table.texts[1:]
    assert card.startswith(
        "Hi, I'm Maya, your Business Analyst. I'll be guiding you through the Quick Scan. Let's get started."
        "\n\n**Maya Chen (Business Analyst) -- Step 00-01: Topic 00-01**\n\n1. What is it?\n2. Why is it?\n"
    )
    assert table.rt.stage is Stage.DISCUSSING

    assert table.order("open_thread", "commit", "post") == ["open_thread", "commit", "post"]
    assert table.subjects == ["start"]


def test_a_new_item_has_a_meta_json_and_a_draft() -> None:
    """`meta.json` says where the item comes from and where it is discussed, `draft.md` what was asked."""
    table = Table().start("#42", who="grace")

    written = json.loads(table.world.meta or b"")
    assert written["description"] == "GH-42"
    assert written["source"] == "github"
    assert written["source_id"] == "GH-42"
    assert written["slug"] == "gh-42"
    assert written["analysis_status"] == "raw"
    assert written["codebase_hash"] == "HEAD"
    assert written["slack"] == {
        "team_id": "T1",
        "channel_id": "C1",
        "thread_ts": table.rt.place.thread,
        "started_by": "grace",
    }
    assert table.world.files["draft.md"].startswith(
        "# GH-42\n\n- **Source**: github GH-42\n- **Started by**: Grace\n"
    )


def test_somebody_without_a_name_is_asked_for_once() -> None:
    """Slack tells us ids; the transcript should tell people apart by their names."""
    table = Table().start(who="stranger")
    table.say("Hello", who="stranger").say("Anybody?", who="stranger")

    assert table.order("meet_person") == ["meet_person"]
    assert table.rt.people == {"stranger": "stranger"}


def test_what_is_said_while_the_thread_is_being_opened_is_an_answer_to_the_first_step() -> None:
    """People do not wait for us; what they say first is often the most important."""
    table = Table(few_steps(), paying=False).start(place=THREAD)
    table.say("The train has no network.", who="grace")
    table.resume_paying()

    assert table.rt.stage is Stage.DISCUSSING
    assert [(answer.person, answer.text) for answer in table.rt.answers] == [
        ("grace", "The train has no network.")
    ]
    assert "The train has no network." in [line.content for line in table.lines]


# --- a thread that is there already -----------------------------------------------------------------------------------


def test_an_adopted_thread_is_read_once_and_taken_over() -> None:
    """
    People are told so. It goes into the draft with its authors, quoted, so that nothing in it acts as Markdown of ours,
    and each message is a line of its author.
    """
    table = Table(few_steps())
    table.world.heard = BEFORE
    table.start(place=THREAD)

    assert "I've read this thread: 2 messages go into `draft.md`." in table.texts
    assert table.order("read_thread") == ["read_thread"]
    assert table.rt.place.thread == "500.01"
    said = table.world.files["draft.md"].partition("## What was said before")[2]
    assert (
        said
        == "\n\n**Grace**:\n\n> The train has no network.\n\n**Linus**:\n\n> &lt;!-- and no *power* -->\n"
    )
    heard = [(line.meta["user_name"], line.message_id) for line in table.lines if line.source == "user"]
    assert heard == [("Grace", "C1.500.02"), ("Linus", "C1.500.03")]


def test_a_message_that_we_heard_and_read_is_one_message() -> None:
    """Somebody speaks between the adoption and the reading: the event and the read are the same words."""
    table = Table(few_steps(), paying=False).start(place=THREAD)
    table.say("The train has no network.", who="grace", ts="500.02")
    table.world.heard = BEFORE
    table.resume_paying()

    assert [line.message_id for line in table.lines if line.source == "user"] == ["C1.500.02", "C1.500.03"]


def test_a_thread_that_cannot_be_read_is_no_obstacle() -> None:
    """People are told that what they said before is missing, and the item starts without it."""
    table = Table(few_steps()).fail("read_thread").start(place=THREAD)

    assert (
        "I could not read what was said in this thread before, so the item starts without it." in table.texts
    )
    assert table.rt.stage is Stage.DISCUSSING


# --- an item that exists ----------------------------------------------------------------------------------------------


def test_an_item_with_a_folder_goes_on_in_the_new_thread() -> None:
    """Its progress is what its folder says; nothing done is asked again."""
    first = Table(few_steps()).start().through("00-01").press_continue()
    table = Table(few_steps())
    table.world.meta, table.world.meeting = first.world.meta, first.world.meeting
    table.start(place=HERE.but(channel="C2"))

    assert table.rt.step_id == "01-01"
    assert table.subjects == ["held in a new thread"]
    assert table.meta.slack
    assert table.meta.slack.channel_id == "C2"


def test_a_corrupt_meta_json_means_starting_from_the_beginning() -> None:
    """People are told; the artifacts stay where they are."""
    table = Table(few_steps())
    table.world.meta = b"{ not json"
    table.world.files = {"quick-scan.md": "# By hand\n"}
    table.start()

    assert "⚠ Warning: meta.json is corrupt. Starting analysis from the beginning." in table.texts
    assert table.meta.steps_completed == ()
    assert table.world.files["quick-scan.md"] == "# By hand\n"


# --- what can go wrong ------------------------------------------------------------------------------------------------


def test_when_no_thread_can_be_opened_only_whoever_asked_is_told() -> None:
    """We are not in the channel: nothing is posted, nothing is committed."""
    table = Table().fail("open_thread", "not_in_channel").start()

    assert [(who, told.text) for who, told in table.world.told] == [("ada", SORRY)]
    assert table.texts == []
    assert table.world.commits == []
    assert table.rt.stage is Stage.STALLED


@pytest.mark.parametrize("channel", ["C1", "C2"])
def test_it_can_be_started_again_here_or_elsewhere(channel: str) -> None:
    """Nothing of the first attempt is left over."""
    table = Table(few_steps()).fail("open_thread", "not_in_channel").start()
    table.start_again(place=HERE.but(channel=channel), who="grace")

    assert table.rt.stage is Stage.DISCUSSING
    assert table.rt.place.channel == channel
    assert table.rt.started_by == "grace"
    started = [line.content for line in table.lines if "started a roundtable" in line.content]
    assert started == ["Grace started a roundtable on Offline sync."]


def test_an_adopted_thread_that_could_not_be_used_does_not_bind_the_item() -> None:
    """The next attempt opens a thread of its own."""
    table = Table(few_steps()).fail("open_thread", "missing_scope").start(place=THREAD)

    assert table.rt.place.thread == ""


def test_a_folder_that_cannot_be_read_can_be_tried_again() -> None:
    """Nothing can begin without the folder, so a person presses Retry when it is mended."""
    table = Table(few_steps()).fail("read_item").start()
    stalled_at = table.rt.stage

    table.press_retry()

    assert stalled_at is Stage.STALLED
    assert table.rt.stage is Stage.DISCUSSING


def test_a_persona_that_could_not_be_read_is_told_once() -> None:
    """The others take part; the thread says it, with its code as small print."""
    broken = trouble("ERR-RT-002")
    table = Table(few_steps(troubles=[broken, broken])).start()

    assert table.texts[1] == f"⚠ {broken.sentence}"
    assert table.world.thread[1].message.note == "ERR-RT-002"
    assert table.texts.count(f"⚠ {broken.sentence}") == 1


def test_what_people_say_while_the_thread_is_being_opened_is_heard() -> None:
    """They see its first message before we know where it stands; it is read once, and nobody is told so."""
    table = Table(few_steps(), paying=False)
    table.world.heard = (ThreadMessage(person=person("grace"), text="Which sprint?", ts="1767229200.1"),)
    table.start().resume_paying()

    assert "Which sprint?" in table.world.files["draft.md"]
    assert [line.content for line in table.lines].count("Which sprint?") == 1
    assert not any("I've read this thread" in text for text in table.texts)


def test_a_new_thread_that_cannot_be_read_is_no_trouble() -> None:
    """Nearly always there is nothing in it."""
    table = Table(few_steps()).fail("read_thread").start()

    assert table.rt.stage is Stage.DISCUSSING
    assert not any("could not read" in text for text in table.texts)
