"""Sentences that depend on one thing: each of its values gives one that says it."""

from typing import Any

import pytest

from bot.domain.catalog.policy import quiet_hours
from bot.domain.messages import entry_wording, home_page, record_wording, trouble_wording
from bot.domain.messages.home_page import DailyMessage, ReminderSettings, WaitingRow
from bot.domain.messages.record_wording import DECISIONS_SHOWN
from bot.domain.reviews.review import CLOSER, MARKER, without_block
from bot.domain.roundtable import digest
from bot.domain.roundtable.digest import Digest
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.claims import EntryState
from bot.domain.specification.shown import ShownEntry
from tests.domain.table import Table


@pytest.mark.parametrize("stage", Stage)
def test_what_a_roundtable_waits_for_is_said_in_every_stage(stage: Stage) -> None:
    """In a clause that goes on from "Waiting for"."""
    table = Table().start().elaborate()
    told = digest.waiting_for(table.rt.but(stage=stage), table.playbook)

    assert told.endswith(".")
    assert not told[0].isupper()


def test_everything_that_came_since_is_told() -> None:
    """Nothing that is empty is."""
    told = Digest(steps=("01-06",), elsewhere=("MOD-001",), moved=("Ada came over.",))

    assert digest.caught_up("Sync", told, "nobody.", for_you=["Answer FR-001."]).splitlines() == [
        "**Sync**, from the beginning:",
        "- **Finished:** 01-06",
        "- **In the other files:** MOD-001",
        "- **Moved:** Ada came over.",
        "**Waiting for you:** Answer FR-001.",
        "**Waiting for:** nobody.",
    ]


TITLES = {"sync": "Offline sync"}


def found(number: int, **more: Any) -> ShownEntry:
    one = ShownEntry(
        address=f"sync/DEC-{number:03}",
        kind="decision",
        state=EntryState.ACCEPTED,
        text="Use Redis",
        fields={},
        claims={},
    )
    return one.but(**more)


def test_decisions_in_a_terminal() -> None:
    """Each with what is known of it, on rows of its own."""
    assert entry_wording.decisions_as_text([]) == "No decision was found."
    one = found(
        1,
        state=EntryState.SUPERSEDED,
        replaced_by=("DEC-002",),
        fields={"reason": "it is there", "replaces": "DEC-000"},
        attribution="Ada",
        at="2026-01-01T00",
    )
    assert entry_wording.decisions_as_text([one, found(2)]).splitlines() == [
        "sync/DEC-001 Use Redis",
        "    Ada 2026-01-01",
        "    because: it is there",
        "    replaces DEC-000",
        "    replaced by DEC-002",
        "sync/DEC-002 Use Redis",
    ]


def test_more_decisions_than_fit_and_items_that_were_not_read_are_counted() -> None:
    told = record_wording.decisions_found(
        [found(number) for number in range(DECISIONS_SHOWN + 3)], "redis", TITLES, unread=2
    ).text

    assert told.count("\n- ") == DECISIONS_SHOWN
    assert "And 3 more." in told
    assert "2 items could not be read in time." in told


@pytest.mark.parametrize(
    ("count", "sentence"), [(1, "One thing waits for you."), (2, "2 things wait for you.")]
)
def test_the_daily_message_says_how_much_waits(count: int, sentence: str) -> None:
    row = WaitingRow(
        *("x" for _ in WaitingRow._fields[: len(WaitingRow._fields) - len(WaitingRow._field_defaults)])
    )
    assert DailyMessage("Ada", (row,) * count).how_many == sentence


def test_what_reminders_are_set_to_is_said() -> None:
    assert "No more reminders" in home_page.set_to(ReminderSettings(off=True))
    assert "at 08:30" in home_page.set_to(ReminderSettings(time="08:30"))


@pytest.mark.parametrize(
    ("names", "sentence"),
    [((), ""), (("Ada",), "Ada has answered."), (("Ada", "Ben"), "Ada and Ben have answered.")],
)
def test_it_is_said_who_else_has_answered(names: tuple[str, ...], sentence: str) -> None:
    assert home_page.others_answered(names) == sentence


@pytest.mark.parametrize(
    ("hours", "inside", "outside"),
    [("18:00-08:00", (0, 479, 1080), (480, 1079)), ("12:00 - 13:30", (720, 809), (719, 810))],
)
def test_quiet_hours_may_go_on_past_midnight(
    hours: str, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    read = quiet_hours(hours)

    assert all(map(read.contain, inside))
    assert not any(map(read.contain, outside))


@pytest.mark.parametrize("text", ["", "18-08", "25:00-08:00", "18:00", "18:00-8"])
def test_what_is_no_hours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no hours"):
        quiet_hours(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Fine.\n{MARKER}\nverdict: ok\n{CLOSER}\nBye.", "Fine.\nBye."),
        (f"Fine.\n{MARKER}\nverdict: ok", f"Fine.\n{MARKER}\nverdict: ok"),
        ("Fine.", "Fine."),
        (f"{MARKER}\n{CLOSER}\n{MARKER}\n{CLOSER}", f"{MARKER}\n{CLOSER}\n{MARKER}\n{CLOSER}"),
    ],
)
def test_the_block_of_a_review_is_not_for_people(text: str, shown: str) -> None:
    """Only one that is closed, and the only one."""
    assert without_block(text) == shown


def test_what_happened_to_a_channel_or_a_workspace_is_said() -> None:
    gone = {one: trouble_wording.channel_gone("Sync", archived=one) for one in (True, False)}
    assert "was archived" in gone[True]
    assert "/invite" in gone[False]
    kept = trouble_wording.put_back(3, "1a2b3c4")
    assert kept.startswith("3 lines were changed or removed in `1a2b3c4` and are put back.")


@pytest.mark.parametrize(
    ("count", "complete", "said"),
    [
        (0, True, "Nothing said here is missing."),
        (2, True, "I read 2 messages here"),
        (2, False, "I could not read the rest"),
        (0, False, "Say again what matters"),
    ],
)
def test_what_was_read_again_of_a_thread_is_said(count: int, said: str, *, complete: bool) -> None:
    assert said in trouble_wording.recovered(count, complete=complete)
