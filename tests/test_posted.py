"""Reviews that other programs post: who is let in, what is kept, and what they are answered."""

import asyncio
import hashlib
import hmac
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

import aiohttp
import pytest

from bot.engine.clock import now
from bot.engine.item_locator import ItemLocator
from bot.server import review_webhook
from bot.server.http import SlackRoute, received, serving
from bot.server.review_webhook import (
    LARGEST_BYTES,
    REVIEWER,
    SIGNATURE,
    TIMESTAMP,
    WINDOW_SECONDS,
    ReviewWebhook,
    signature,
)
from bot.storage.sqlite import SqliteStore
from slack_sandbox import Sandbox
from tests.engine.review_room import CHANNEL, PASSED, SLUG, Room, item, room

ROOT = Path(__file__).parent.parent
SECRET = "a-secret-of-these-tests"
LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"


def signed(
    body: bytes, *, secret: str = SECRET, at: float | None = None, slug: str = SLUG, reviewer: str = ""
) -> dict[str, str]:
    stamp = str(int(time.time() if at is None else at))
    who = {REVIEWER: reviewer} if reviewer else {}
    return who | {TIMESTAMP: stamp, SIGNATURE: signature(secret, stamp, body, slug=slug, reviewer=reviewer)}


@dataclass
class Door:
    """The endpoint, over a real socket, and the room behind it."""

    room: Room
    session: aiohttp.ClientSession
    address: str

    async def post(
        self, body: bytes, headers: Mapping[str, str] | None = None, *, slug: str = SLUG
    ) -> tuple[int, dict[str, object]]:
        given = signed(body, slug=slug) if headers is None else headers
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
    async with room(slack, tmp_path, thread=thread) as here, SqliteStore(tmp_path / "store") as store:
        homes = ItemLocator(store, here.workspace)
        box = ReviewWebhook(
            secret=SECRET,
            archive=here.workspace,
            homes=homes,
            memory=store,
            triage=here.triage,
            clock=now,
        )
        entrance = SlackRoute()
        entrance.open(received(box))
        doors = {review_webhook.PATH: entrance.enter}
        async with serving("127.0.0.1", port, post=doors), aiohttp.ClientSession() as session:
            yield Door(here, session, f"http://127.0.0.1:{port}")


async def test_a_signed_review_is_kept_and_shown(door: Door) -> None:
    """The answer has the line and the path; people see who posted it, as text."""
    status, said = await door.post(PASSED, signed(PASSED, reviewer="lint-bot, <!channel>"))
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


Headers = Callable[[], dict[str, str]]
"""Made in the test: it may run long after it was collected, and then they would be old."""


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (dict, "are needed"),
        (lambda: {TIMESTAMP: "1"}, "are needed"),
        (lambda: {TIMESTAMP: "soon", SIGNATURE: "v0=1"}, "no number of seconds"),
        (lambda: {TIMESTAMP: "\u0663\u0663", SIGNATURE: "v0=1"}, "no number of seconds"),
        (lambda: signed(PASSED) | {SIGNATURE: "v1=1"}, "no signature"),
        (lambda: signed(PASSED, secret="another-secret-16"), "not that of this request"),
        (lambda: signed(PASSED + b" "), "not that of this request"),
        (lambda: signed(PASSED) | {TIMESTAMP: str(int(time.time()) - 5)}, "not that of this request"),
        (lambda: signed(PASSED, at=time.time() - WINDOW_SECONDS - 60), "more than 300 s away"),
        (lambda: signed(PASSED, at=time.time() + WINDOW_SECONDS + 60), "more than 300 s away"),
    ],
    ids=[
        "unsigned",
        "half",
        "words",
        "other digits",
        "no digest",
        "other secret",
        "other body",
        "other time",
        "late",
        "early",
    ],
)
async def test_whoever_is_not_believed_leaves_nothing(door: Door, headers: Headers, why: str) -> None:
    """One sentence says why, the same for an item that there is and for one that there is not."""
    for slug in (SLUG, "nobody"):
        status, said = await door.post(PASSED, headers(), slug=slug)
        assert status == 401
        assert why in str(said["error"])

    assert door.kept() == []


@pytest.mark.parametrize(
    ("slug", "headers"),
    [
        ("dark-mode", lambda: signed(PASSED, reviewer="lint")),
        (SLUG, lambda: signed(PASSED, reviewer="lint") | {REVIEWER: "the security team"}),
        (SLUG, lambda: signed(PASSED) | {REVIEWER: "the security team"}),
        (SLUG, lambda: signed(PASSED, reviewer="lint") | {REVIEWER: ""}),
    ],
    ids=["another item", "another reviewer", "a reviewer", "no reviewer"],
)
async def test_what_is_signed_is_the_whole_request(door: Door, slug: str, headers: Headers) -> None:
    """Who listens in cannot send it on to another item, or under another name."""
    status, said = await door.post(PASSED, headers(), slug=slug)

    assert status == 401
    assert "not that of this request" in str(said["error"])
    assert door.kept() == []


async def test_a_request_is_taken_once(door: Door) -> None:
    """Who listens in cannot send it again; whoever signed it can sign it anew, and the review is the same."""
    now = time.time()
    first, replayed = signed(PASSED, at=now), signed(PASSED, at=now)
    status, _ = await door.post(PASSED, first)
    again, said = await door.post(PASSED, replayed)
    anew, kept = await door.post(PASSED, signed(PASSED, at=now + 1))

    assert (status, again, anew) == (201, 401, 200)
    assert "was sent before" in str(said["error"])
    assert kept["number"] == 1
    assert door.kept() == ["review-001.md"]


async def test_the_former_signature_is_refused_with_the_way_to_sign(door: Door) -> None:
    """It left out the item and the reviewer."""
    stamp = str(int(time.time()))
    digest = hmac.new(SECRET.encode(), b"v0:" + stamp.encode() + b":" + PASSED, hashlib.sha256).hexdigest()
    status, said = await door.post(PASSED, {TIMESTAMP: stamp, SIGNATURE: f"v0={digest}"})

    assert status == 401
    assert "no longer taken" in str(said["error"])
    assert "v1=HEX" in str(said["error"])


async def test_the_example_of_the_documentation_posts_a_review(door: Door, tmp_path: Path) -> None:
    """As it stands there, by a program of its own; twice, since it signs anew."""
    page = (ROOT / "docs/reviews.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "review.md").write_bytes(PASSED)
    given = {"URL": door.address, "SLUG": SLUG, "SECRET": SECRET, "REVIEWER": "lint-böt"}
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", example),
        cwd=tmp_path,
        env=given,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await program.communicate()
    await door.room.pay()

    assert program.returncode == 0, err.decode()
    assert json.loads(out)["line"] == LINE
    assert "Reviewed by lint-böt." in door.room.messages()[0].text


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
        f"{door.address}/reviews/{slug}", data=PASSED, headers=signed(PASSED, slug=unquote(slug))
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
        serving("127.0.0.1", port),
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}/reviews/{SLUG}", data=PASSED) as answer,
    ):
        assert answer.status == 404
