"""Reviews that other programs post: who is let in, what is kept, and what they are answered."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest

from bot import posted
from bot.engine.clock import now
from bot.engine.homes import ItemHomes
from bot.posted import LARGEST_BYTES, REVIEWER, SIGNATURE, TIMESTAMP, WINDOW_SECONDS, Postbox, signature
from bot.sandbox import Sandbox
from bot.storage.embedded import EmbeddedStore
from bot.web import Entrance, serving
from bot.web import posted as handler_of
from tests.engine.review_room import CHANNEL, PASSED, SLUG, Room, item, room

SECRET = "a-secret-of-these-tests"
LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"


def signed(body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    stamp = str(int(time.time() if at is None else at))
    return {TIMESTAMP: stamp, SIGNATURE: signature(secret, stamp, body)}


@dataclass
class Door:
    """The endpoint, over a real socket, and the room behind it."""

    room: Room
    session: aiohttp.ClientSession
    address: str

    async def post(
        self, body: bytes, headers: Mapping[str, str] | None = None, *, slug: str = SLUG
    ) -> tuple[int, dict[str, object]]:
        given = signed(body) if headers is None else headers
        async with self.session.post(
            f"{self.address}/reviews/{slug}", data=BytesIO(body), headers=given
        ) as answer:
            return answer.status, await answer.json()

    def kept(self) -> list[str]:
        folder = self.room.root / "docs/requirements"
        return sorted(path.name for path in folder.glob("*/reviews/*"))


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
async def door(slack: Sandbox, tmp_path: Path, port: int) -> AsyncIterator[Door]:
    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread)
    item(tmp_path, slack, "", slug="dark-mode")
    async with room(slack, tmp_path, thread=thread) as here, EmbeddedStore(tmp_path / "store") as store:
        homes = ItemHomes(store, here.workspace)
        box = Postbox(secret=SECRET, archive=here.workspace, homes=homes, triage=here.triage, clock=now)
        entrance = Entrance()
        entrance.open(handler_of(box.take, most_bytes=LARGEST_BYTES))
        doors = {posted.PATH: entrance.enter}
        async with serving("127.0.0.1", port, probes={}, slack=doors), aiohttp.ClientSession() as session:
            yield Door(here, session, f"http://127.0.0.1:{port}")


async def test_a_signed_review_is_kept_and_shown(door: Door) -> None:
    """The answer has the line and the path; people see who posted it, as text."""
    status, said = await door.post(PASSED, signed(PASSED) | {REVIEWER: "lint-bot, <!channel>"})
    await door.room.pay()

    path = "docs/requirements/offline-sync/reviews/review-001.md"
    assert (status, said) == (201, {"item": SLUG, "number": 1, "path": path, "line": LINE})
    assert door.room.review(1) == PASSED.decode()
    (notice,) = door.room.messages()
    assert "Reviewed by lint-bot and &lt;!channel&gt;." in notice.text


async def test_the_same_review_again_is_the_same(door: Door) -> None:
    """A program that got no answer just posts it again: one file, one commit, one message."""
    first = await door.post(PASSED)
    second = await door.post(PASSED, signed(PASSED, at=time.time() + 1))
    await door.room.pay()

    assert (first[0], second[0]) == (201, 200)
    assert first[1] == second[1]
    assert door.kept() == ["review-001.md"]
    assert len(door.room.details()) == 1


A_LONG_RUN = 24 * 3600
"""The requests are made when the tests are collected, long before the last of them runs."""


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({}, "are needed"),
        ({TIMESTAMP: "1"}, "are needed"),
        ({TIMESTAMP: "soon", SIGNATURE: "v0=1"}, "no number of seconds"),
        ({TIMESTAMP: "\u0663\u0663", SIGNATURE: "v0=1"}, "no number of seconds"),
        (signed(PASSED, secret="another-secret-16"), "not that of this body"),
        (signed(PASSED + b" "), "not that of this body"),
        (signed(PASSED) | {TIMESTAMP: "1700000000"}, "not that of this body"),
        (signed(PASSED, at=time.time() - WINDOW_SECONDS - 60), "more than 300 s away"),
        (signed(PASSED, at=time.time() + WINDOW_SECONDS + A_LONG_RUN), "more than 300 s away"),
    ],
    ids=[
        "unsigned",
        "half",
        "words",
        "other digits",
        "other secret",
        "other body",
        "other time",
        "late",
        "early",
    ],
)
async def test_whoever_is_not_believed_leaves_nothing(door: Door, headers: dict[str, str], why: str) -> None:
    """One sentence says why, the same for an item that there is and for one that there is not."""
    for slug in (SLUG, "nobody"):
        status, said = await door.post(PASSED, headers, slug=slug)
        assert status == 401
        assert why in str(said["error"])

    assert door.kept() == []


async def test_a_request_is_good_for_one_item(door: Door) -> None:
    """Who listens in cannot send it on to another one."""
    headers = signed(PASSED)
    await door.post(PASSED, headers)
    status, said = await door.post(PASSED, headers, slug="dark-mode")

    assert (status, said["error"]) == (401, "This request was sent for another item before.")
    assert door.kept() == ["review-001.md"]


async def test_what_is_too_long_is_refused(door: Door) -> None:
    """And one of exactly the size that is allowed is kept."""
    most = PASSED + b"x" * (LARGEST_BYTES - len(PASSED))
    status, said = await door.post(most + b"x")
    assert (status, said["error"]) == (413, f"A review may have {LARGEST_BYTES} bytes.")

    status, said = await door.post(most)
    assert (status, said["line"]) == (201, LINE)


@pytest.mark.parametrize("body", [b"", b" \n\t"])
async def test_an_empty_review_is_none(door: Door, body: bytes) -> None:
    """Somebody's program has lost it on the way."""
    status, said = await door.post(body)

    assert (status, said["error"]) == (400, "The body is the review, and it is empty.")


@pytest.mark.parametrize(
    "slug", ["nobody", "..", "%2e%2e", "offline-sync%2freviews", "Offline-Sync", "\u202e"]
)
async def test_only_an_item_takes_one(door: Door, slug: str) -> None:
    """A name that leads elsewhere is no item."""
    async with door.session.post(
        f"{door.address}/reviews/{slug}", data=PASSED, headers=signed(PASSED)
    ) as answer:
        assert answer.status == 404

    assert door.kept() == []


async def test_whatever_it_holds_pings_nobody(door: Door) -> None:
    """Markup, markers, controls and broken letters stay in the file; Slack is shown the line alone."""
    body = b"<!channel> <@U0ADA> @@@REVIEW_META\x00\x1b[2J\n\xff\xfe <https://evil.test|bank>\n" * 1_000
    status, said = await door.post(body)
    await door.room.pay()

    assert (status, said["line"]) == (201, "REVIEW: metadata unavailable")
    shown = str([call.args for call in door.room.slack.calls_of("chat.postMessage")])
    assert not [word for word in ("<!channel", "<@U", "evil.test", "\\x1b") if word in shown]
    assert (door.room.root / str(said["path"])).read_bytes() == body


async def test_without_a_secret_there_is_no_door(port: int) -> None:
    """The path is unknown, as every other."""
    async with (
        serving("127.0.0.1", port, probes={}, slack={}),
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}/reviews/{SLUG}", data=PASSED) as answer,
    ):
        assert answer.status == 404
