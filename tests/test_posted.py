"""Reviews that other programs post: who is let in, what is kept, and what they are answered."""

import asyncio
import base64
import json
import os
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import aiohttp
import pytest
from aiohttp import web
from standardwebhooks import Webhook

from bot.domain.privacy.redaction import Redactor
from bot.server import review_webhook
from bot.server.http import SlackRoute, received, serving
from bot.server.review_webhook import HEADERS, LARGEST_BYTES, ReviewWebhook
from slack_sandbox import Sandbox
from tests.engine.review_room import CHANNEL, PASSED, SLUG, Room, item, room

ROOT = Path(__file__).parent.parent
SECRET, NEXT, OTHER = ("whsec_" + base64.b64encode(letter * 32).decode() for letter in (b"a", b"b", b"c"))
TOKEN, KEY = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3, "the-key-we-were-given-7"
LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"
ID, TIMESTAMP, SIGNATURE = HEADERS


def request_body(text: str = PASSED.decode(), *, slug: str = SLUG, reviewer: str = "") -> bytes:
    """The body of a request."""
    data = {"item": slug, "text": text} | ({"reviewer": reviewer} if reviewer else {})
    return json.dumps(
        {"type": "review.completed", "timestamp": "2026-11-23T22:00:00Z", "data": data}
    ).encode()


def signed(
    body: bytes, *, secret: str = SECRET, at: float | None = None, id: str = "msg_1"
) -> dict[str, str]:
    stamp = int(time.time() if at is None else at)
    signature = Webhook(secret).sign(id, datetime.fromtimestamp(stamp, UTC), body.decode())
    return {ID: id, TIMESTAMP: str(stamp), SIGNATURE: signature}


def sent(headers: Mapping[str, str]) -> web.Request:
    """No client sends all of what a test does."""
    given = SimpleNamespace(getall=lambda name, absent: [headers[name]] if name in headers else absent)
    return cast(web.Request, SimpleNamespace(headers=given))


@dataclass
class Door:
    """The endpoint, over a real socket, and the room behind it."""

    room: Room
    box: ReviewWebhook
    session: aiohttp.ClientSession
    address: str

    async def post(
        self, body: bytes, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, object]]:
        given = signed(body) if headers is None else headers
        async with self.session.post(f"{self.address}/reviews", data=BytesIO(body), headers=given) as answer:
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
    redactor = Redactor([KEY])
    async with room(slack, tmp_path, thread=thread, redact=lambda text: redactor(text).text) as here:
        box = ReviewWebhook(here.triage, [NEXT, SECRET])
        entrance = SlackRoute()
        doors = {review_webhook.PATH: entrance.enter}
        async with (
            entrance.opened(received(box), seconds=1),
            serving("127.0.0.1", port, post=doors),
            aiohttp.ClientSession() as session,
        ):
            yield Door(here, box, session, f"http://127.0.0.1:{port}")


async def test_a_signed_review_is_kept_and_shown(door: Door) -> None:
    """The answer has the line and the path; people see who posted it, as text."""
    status, said = await door.post(request_body(reviewer="lint-bot, <!channel>"))
    await door.room.pay()

    path = "docs/requirements/offline-sync/reviews/review-001.md"
    assert (status, said) == (201, {"item": SLUG, "number": 1, "path": path, "line": LINE})
    assert door.room.review(1) == PASSED.decode()
    (notice,) = door.room.messages()
    assert "Reviewed by lint-bot and &lt;!channel&gt;." in notice.text


async def test_secrets_in_a_review_are_hidden(door: Door) -> None:
    """It may quote a log, and a pipeline may put the wrong variable in a field. Sent again, it is the same one."""
    body = request_body(f"{PASSED.decode()} log: {TOKEN} {KEY}\n", reviewer=f"lint {TOKEN}")
    status, said = await door.post(body)
    assert status == 201
    assert await door.post(body) == await door.post(body, signed(body, id="msg_2")) == (200, said)
    await door.room.pay()

    assert door.kept() == ["review-001.md"]
    assert len(door.room.details()) == 1
    hidden = "[redacted:github-token]"
    assert door.room.review(1) == f"{PASSED.decode()} log: {hidden} [redacted:configured]\n"
    (notice,) = door.room.messages()
    assert f"Reviewed by lint {hidden}." in notice.text


async def test_requests_at_the_same_time_are_one_review(door: Door) -> None:
    """A sender that waits no longer repeats its request while the first one is still being kept."""
    body = request_body()
    answers = await asyncio.gather(*(door.post(body) for _ in range(5)))

    assert sorted(status for status, _ in answers) == [200, 200, 200, 200, 201]
    assert door.kept() == ["review-001.md"]


async def test_both_secrets_count_while_one_is_changed(door: Door) -> None:
    """Also in one header, as senders do that change theirs."""
    old, new = request_body("signed with the old one"), request_body("signed with the new one")
    both = request_body("signed with two, of which one is ours")
    given = signed(both) | {SIGNATURE: f"{signed(both, secret=OTHER)[SIGNATURE]} {signed(both)[SIGNATURE]}"}

    assert (await door.post(old, signed(old, secret=SECRET)))[0] == 201
    assert (await door.post(new, signed(new, secret=NEXT)))[0] == 201
    assert (await door.post(both, given))[0] == 201


Headers = Callable[[bytes], dict[str, str]]
"""Made in the test: it may run long after it was collected, and then they would be old."""


NOT_BELIEVED: Sequence[tuple[Headers, str]] = (
    (lambda _: {}, "each of the headers is needed once"),
    (lambda body: signed(body) | {SIGNATURE: ""}, "Missing required headers"),
    (lambda body: signed(body) | {TIMESTAMP: "soon"}, "Invalid Signature Headers"),
    (lambda body: signed(body) | {TIMESTAMP: "nan"}, "Invalid Signature Headers"),
    (lambda body: signed(body) | {SIGNATURE: "v1"}, "Invalid headers or body"),
    (lambda body: signed(body) | {SIGNATURE: "v1,\u00fc"}, "Invalid headers or body"),
    (lambda body: signed(body) | {SIGNATURE: "v1,A"}, "Invalid headers or body"),
    (lambda body: signed(body, secret=OTHER), "No matching signature found"),
    (lambda body: signed(body + b" "), "No matching signature found"),
    (lambda _: signed(request_body(slug="dark-mode")), "No matching signature found"),
    (lambda body: signed(body) | {ID: "msg_2"}, "No matching signature found"),
    (lambda body: signed(body) | {TIMESTAMP: str(int(time.time()) - 5)}, "No matching signature found"),
    (lambda body: signed(body, at=time.time() - 360), "Message timestamp too old"),
    (lambda body: signed(body, at=time.time() + 360), "Message timestamp too new"),
)


async def test_whoever_is_not_believed_leaves_nothing(door: Door) -> None:
    """One sentence says why, the same for an item that there is and for one that there is not."""
    for headers, why in NOT_BELIEVED:
        for slug in (SLUG, "nobody"):
            body = request_body(slug=slug)
            status, said = await door.post(body, headers(body))
            assert (status, why) == (401, why)
            assert f"): {why}. docs/reviews.md" in str(said["error"])

    assert door.kept() == []


async def test_odd_requests_are_refused_and_never_an_error(door: Door) -> None:
    """Of two thousand, each with a sentence."""
    chance, now = random.Random(7), str(int(time.time()))
    odd = (
        now, "", "v1", "v1,", "v1,%%%", "v1,,", ",", "v1,\u00fc", "v1a,AAAA", "a,b,c", "v1,AAAA v1", "nan", "inf",
        "1e400", "-1", "9" * 400, "\u0661", "\ud800", "v1," + "A" * 5000,
    )  # fmt: skip
    bodies = (request_body(), b"\xff\xfe", b"", b"null", b"[" * 10_000)
    for _ in range(2_000):
        headers = {name: chance.choice(odd) for name in HEADERS if chance.random() < 0.9}
        answer = await door.box.take(sent(headers), chance.choice(bodies))
        assert answer.status == 401
        assert "is not signed" in (answer.text or "")


NO_REVIEWS = (
    (b"", "Invalid JSON: EOF while parsing a value"),
    (b"# Review", "Invalid JSON: expected value"),
    (b"[" * 10_000, "Invalid JSON: recursion limit exceeded"),
    (b"null", "body: Input should be an object"),
    (b"{}", "type: Field required"),
    (request_body().replace(b"review.completed", b"review.requested"), "type: Input should be 'review.completed'"),
    (b'{"type": "review.completed", "data": []}', "data: Input should be an object"),
    (b'{"type": "review.completed", "data": {"text": "x"}}', "data.item: Field required"),
    (b'{"type": "review.completed", "data": {"item": "x"}}', "data.text: Field required"),
    (b'{"type": "review.completed", "data": {"item": 1, "text": "x"}}', "data.item: Input should be a valid str"),
    (request_body("a half of a letter: \ud800"), "Invalid JSON: unexpected end of hex escape"),
    (request_body(""), "data.text is the review, and it is empty."),
    (request_body(" \n\t"), "data.text is the review, and it is empty."),
)  # fmt: skip


async def test_a_signed_body_that_is_no_review_is_explained(door: Door) -> None:
    """By its first mistake, without a word of what was sent."""
    for body, why in NO_REVIEWS:
        status, said = await door.post(body)
        assert (status, why) == (400, why)
        assert why in str(said["error"])

    assert door.kept() == []


async def test_what_a_newer_sender_adds_is_not_read(door: Door) -> None:
    """And the time of the event need not be there."""
    body = json.dumps(
        {"type": "review.completed", "v": 2, "data": {"item": SLUG, "text": "x", "stars": 5}}
    ).encode()

    assert (await door.post(body))[0] == 201


async def test_the_example_of_the_documentation_posts_a_review(door: Door, tmp_path: Path) -> None:
    """As it stands there, signed by openssl and by no library; twice, since it may be repeated."""
    page = (ROOT / "docs/reviews.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```bash\n(.*?)```", page, flags=re.DOTALL)
    body = json.dumps(json.loads(request_body(reviewer="lint-böt")), ensure_ascii=False, indent=2)
    (tmp_path / "review.json").write_text(f"{body}\n", encoding="utf-8")
    program = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", f"{example}\n{example}"),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "URL": door.address, "SECRET": SECRET},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await program.communicate()
    await door.room.pay()

    assert program.returncode == 0, err.decode()
    assert out.decode().count(f'"line": "{LINE}"') == 2
    assert "Reviewed by lint-böt." in door.room.messages()[0].text
    assert door.kept() == ["review-001.md"]


async def test_the_body_of_the_documentation_is_a_review(door: Door) -> None:
    """For the item that it names."""
    page = (ROOT / "docs/reviews.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)

    status, said = await door.post(body.encode())
    assert (status, said["item"]) == (201, SLUG)


async def test_what_is_too_long_is_refused(door: Door) -> None:
    """And one of exactly the size that is allowed is kept."""
    most = request_body(PASSED.decode() + "x" * (LARGEST_BYTES - len(request_body())))
    status, said = await door.post(most + b" ")
    assert (status, said["error"]) == (413, f"At most {LARGEST_BYTES} bytes are taken.")

    status, said = await door.post(most)
    assert (len(most), status, said["line"]) == (LARGEST_BYTES, 201, LINE)


async def test_only_an_item_takes_one(door: Door) -> None:
    """A name that leads elsewhere is no item."""
    elsewhere = ("..", "../offline-sync", "offline-sync/reviews", "Offline-Sync")
    for slug in ("nobody", "", *elsewhere, "\u202e", "\0", "x" * 100_000):
        status, said = await door.post(request_body(slug=slug))
        assert (status, slug) == (404, slug)
        assert str(said["error"]).startswith("There is no item")

    assert door.kept() == []


async def test_whatever_it_holds_pings_nobody(door: Door) -> None:
    """Markup, markers and controls stay in the file; Slack is shown the line alone."""
    text = "<!channel> <@U0ADA> @@@REVIEW_META\0\x1b[2J\r\n\ufeff <https://evil.test|bank>\n" * 1_000
    status, said = await door.post(request_body(text))
    await door.room.pay()

    assert (status, said["line"]) == (201, "REVIEW: metadata unavailable")
    shown = str([call.args for call in door.room.slack.calls_of("chat.postMessage")])
    assert not [word for word in ("<!channel", "<@U", "evil.test", "\\x1b") if word in shown]
    assert (door.room.root / str(said["path"])).read_bytes() == text.encode()
