"""The bot's two HTTP addresses, over real sockets, and whoever connects to them."""

import asyncio
import base64
import gzip
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection, socket

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bot import app
from bot.log import WARNING_SECONDS
from bot.server import http
from bot.server.review_webhook import LARGEST_BYTES as LARGEST_REVIEW
from bot.slack.transport import LARGEST_BYTES
from slack_sandbox import Sandbox
from tests.e2e.meeting import CHANNEL, settings
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import HOST, free_port
from tests.test_posted import SECRET, request_body, signed

MARK = "mumbledeepeg"
"""Stands in whatever is refused, and must stand in no log."""
HALF_OPEN = 300
fuzzed = hypothesis_settings(
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
Header = tuple[str, str | bytes]


@dataclass
class Door:
    """The bot as it runs behind a request URL. `port` is Slack's and the reviews', `health` the other one."""

    slack: Sandbox
    port: int
    health: int

    async def ask(
        self,
        body: bytes = b"",
        *headers: Header,
        path: str = "/slack/events",
        verb: str = "POST",
        port: int = 0,
        length: int | None = None,
    ) -> tuple[int, str]:
        """Status and text. *length* is what is said of the body, whatever is sent of it."""
        reader, writer = await asyncio.open_connection(HOST, port or self.port)
        said = (*headers, ("Content-Length", str(len(body) if length is None else length)))
        writer.write(head(f"{verb} {path}", *said) + body)
        answer = await asyncio.wait_for(response(reader), PATIENCE_SECONDS)
        writer.transport.abort()
        return answer

    def signed(self, body: bytes, *, at: float | None = None) -> tuple[Header, ...]:
        stamp = str(int(time.time() if at is None else at))
        digest = hmac.new(self.slack.signing_secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256)
        return (
            ("Content-Type", "application/json"),
            ("X-Slack-Request-Timestamp", stamp),
            ("X-Slack-Signature", f"v0={digest.hexdigest()}"),
        )

    def plausible(self) -> tuple[Header, ...]:
        """As Slack's look; that it is wrong can be seen only by reading the body."""
        return (("X-Slack-Request-Timestamp", str(int(time.time()))), ("X-Slack-Signature", "v0=" + "0" * 64))

    def plausible_review(self) -> tuple[Header, ...]:
        """The same for a review."""
        nothing = base64.b64encode(bytes(32)).decode()
        stamp = str(int(time.time()))
        return (("webhook-id", "msg_1"), ("webhook-timestamp", stamp), ("webhook-signature", f"v1,{nothing}"))

    async def works(self) -> None:
        """Slack is heard, and whoever asks how we are is answered."""
        body = json.dumps({"type": "url_verification", "challenge": "c"}).encode()
        status, text = await self.ask(body, *self.signed(body))
        assert (status, "c" in text) == (200, True)
        status, text = await self.ask(verb="GET", path="/readyz", port=self.health)
        assert status == 200, text


def head(line: str, *headers: Header) -> bytes:
    raw = [
        b": ".join((name.encode(), text.encode() if isinstance(text, str) else text))
        for name, text in headers
    ]
    return b"\r\n".join((f"{line} HTTP/1.1".encode(), b"Host: roundtable", *raw, b"", b""))


async def response(reader: asyncio.StreamReader) -> tuple[int, str]:
    first = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"Content-Length: (\d+)", first, re.IGNORECASE)
    text = await reader.readexactly(int(length[1]) if length else 0)
    return int(first.split()[1]), text.decode("utf-8", "replace")


@pytest.fixture
async def door(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Door]:
    caplog.set_level(logging.DEBUG)
    async with Sandbox() as slack:
        one = Door(slack, free_port(), free_port())
        chosen = settings(
            slack,
            tmp_path / "workspace",
            SLACK_APP_TOKEN="",
            SLACK_SIGNING_SECRET=slack.signing_secret,
            ROUNDTABLE_REVIEW_SECRET=SECRET,
            ROUNDTABLE_PORT=str(one.port),
            ROUNDTABLE_HEALTH_PORT=str(one.health),
        )
        async with app.bot(chosen):
            yield one


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """All of it, at every level, as it would be written."""
    return "\n".join(logging.Formatter().format(record) for record in caplog.records)


@asynccontextmanager
async def half_open(port: int, beginnings: Sequence[bytes], number: int) -> AsyncIterator[list[socket]]:
    """Connected in a thread, since it is this one that takes them in."""

    def begin(beginning: bytes) -> socket:
        one = stack.enter_context(create_connection((HOST, port), PATIENCE_SECONDS))
        one.sendall(beginning)
        return one

    with ExitStack() as stack:
        which = [beginnings[each % len(beginnings)] for each in range(number)]
        yield await asyncio.to_thread(lambda: [begin(beginning) for beginning in which])


# --- signatures -----------------------------------------------------------------------------------------------------

ODD: list[str | bytes] = [
    "", " ", "0", "-1", "-1531420618", "+1531420618", "1531420618.5", "1e9", "0x5b47", "nan", "inf", "9" * 12, "None",
    "9" * 5000, "\u0661\u0665", "\uff11\uff12", "1531420618\u00b2", b"\xff\xfe", b"\xed\xa0\x80", "1_000", "1, 1",
]  # fmt: skip


async def test_headers_of_any_shape_are_refused(door: Door) -> None:
    """With the answer that every unsigned request gets, and never as a mistake of ours."""
    now = str(int(time.time()))
    zeros = "v0=" + "0" * 64
    review = dict(door.plausible_review())
    found = {}
    for odd in ODD:
        shapes: list[tuple[Header, ...]] = [
            (("X-Slack-Request-Timestamp", odd), ("X-Slack-Signature", zeros)),
            (("X-Slack-Request-Timestamp", now), ("X-Slack-Signature", odd)),
            (("X-Slack-Request-Timestamp", odd), ("X-Slack-Signature", odd)),
            (("X-Slack-Signature", zeros),),
            (("X-Slack-Request-Timestamp", now),),
        ]
        reviews = [tuple((review | {name: odd}).items()) for name in review]
        found[odd] = [(await door.ask(b"{}", *headers))[0] for headers in shapes] + [
            (await door.ask(b"{}", *headers, path="/reviews"))[0] for headers in reviews
        ]
    assert {odd: said for odd, said in found.items() if set(said) != {401}} == {}


async def test_a_header_that_is_there_twice_is_none(door: Door) -> None:
    """Which of them counts would be a matter of opinion."""
    body = b'{"type": "url_verification", "challenge": "c"}'
    kind, stamp, signature = door.signed(body)

    assert (await door.ask(body, kind, stamp, signature))[0] == 200
    assert (await door.ask(body, kind, stamp, signature, signature))[0] == 401
    assert (await door.ask(body, kind, stamp, stamp, signature))[0] == 401
    assert (await door.ask(body, kind, stamp, ("X-Slack-Signature", "v0=0"), signature))[0] == 401

    request = request_body(slug="nothing-yet")
    headers = tuple(signed(request).items())
    assert (await door.ask(request, *headers, path="/reviews"))[0] == 404
    for twice in headers:
        assert (await door.ask(request, *headers, twice, path="/reviews"))[0] == 401


lines = st.binary(max_size=60).map(lambda raw: raw.translate(None, b"\r\n\0"))


@fuzzed
@given(stamp=lines, signature=lines, body=st.binary(max_size=200))
async def test_no_header_and_no_body_gets_in_unsigned(
    door: Door, stamp: bytes, signature: bytes, body: bytes
) -> None:
    """Refused as unsigned, or as no HTTP."""
    headers: tuple[Header, ...] = (("X-Slack-Request-Timestamp", stamp), ("X-Slack-Signature", signature))
    status, _ = await door.ask(body, *headers)
    assert status in {400, 401}


bodies = st.binary(max_size=200) | st.text(max_size=100).map(str.encode)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "event", "payload", "command", "actions", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())


@fuzzed
@given(body=bodies | jsons | jsons.map(lambda raw: b"payload=" + raw))
async def test_a_signed_body_of_any_shape_is_answered(door: Door, body: bytes) -> None:
    """Slack's are acknowledged; what only its key could have signed is a bad request at worst."""
    status, _ = await door.ask(body, *door.signed(body))
    assert status in {200, 400}


async def test_what_was_signed_is_the_bytes_and_not_what_they_unpack_to(door: Door) -> None:
    """Ten kilobytes that become ten megabytes are ten kilobytes."""
    packed = gzip.compress(MARK.encode() * 1_000_000)
    encoding = ("Content-Encoding", "gzip")

    assert (await door.ask(packed, encoding, *door.plausible()))[0] == 401
    assert (await door.ask(packed, encoding, *door.signed(packed)))[0] == 400


@pytest.mark.parametrize("away", [-301, 301 + PATIENCE_SECONDS])
async def test_what_was_signed_at_another_time_is_refused(
    door: Door, caplog: pytest.LogCaptureFixture, away: float
) -> None:
    """A replay, or a machine whose clock is wrong: then talk of people is signed well, and must not be in the log."""
    door.slack.clock.skip(away)
    await door.slack.use_http(f"http://{HOST}:{door.port}/slack/events")
    delivery = await door.slack.person("ada").slash(CHANNEL, f"/roundtable start {MARK}")

    assert (delivery.acked, delivery.error) == (False, "dispatch_failed")
    assert MARK not in logged(caplog)
    assert "away from this machine's clock" in logged(caplog)


# --- bodies ---------------------------------------------------------------------------------------------------------


async def test_an_unsigned_body_does_no_work(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """It is refused before it is there; one line in a minute says so for each address, without a word of it."""
    body = (
        b'{"type": "event_callback", "event": "' + MARK.encode() * (LARGEST_BYTES // len(MARK) - 10) + b'"}'
    )
    before = len(door.slack.calls)
    for headers in ((), (("X-Slack-Request-Timestamp", "x"),)):
        assert (await door.ask(b"", *headers, length=len(body)))[0] == 401
    for _ in range(5):
        assert (await door.ask(body))[0] == 401
        assert (await door.ask(body, *door.plausible()))[0] == 401
    assert (await door.ask(b"", path="/reviews", length=LARGEST_REVIEW))[0] == 401
    for _ in range(5):
        assert (await door.ask(body[:LARGEST_REVIEW], *door.plausible_review(), path="/reviews"))[0] == 401

    assert MARK not in logged(caplog)
    assert logged(caplog).count("was refused") <= 2 + 2 * PATIENCE_SECONDS // WARNING_SECONDS
    assert len(door.slack.calls) == before
    await door.works()


async def test_bodies_have_a_size_by_route(door: Door) -> None:
    """Of one that says it is longer nothing is read, and of one that does not say, no more than that."""
    status, _ = await door.ask(b"", *door.plausible(), length=LARGEST_BYTES + 1)
    assert status == 413
    chunk = f"{1 << 20:x}\r\n".encode() + b"x" * (1 << 20) + b"\r\n"
    reader, writer = await asyncio.open_connection(HOST, door.port)
    writer.write(head("POST /slack/events", *door.plausible(), ("Transfer-Encoding", "chunked")) + chunk * 5)
    assert (await asyncio.wait_for(response(reader), PATIENCE_SECONDS))[0] == 413
    writer.transport.abort()

    review = door.plausible_review()
    status, text = await door.ask(b"", *review, path="/reviews", length=LARGEST_REVIEW + 1)
    assert (status, json.loads(text)["error"]) == (413, f"At most {LARGEST_REVIEW} bytes are taken.")


async def test_no_body_is_waited_for_for_long(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does anybody else wait meanwhile."""
    monkeypatch.setattr(http, "BODY_SECONDS", 0.2)
    assert (await door.ask(b"{", *door.plausible(), length=100))[0] == 408

    monkeypatch.setattr(http, "BODY_SECONDS", PATIENCE_SECONDS)
    slow = head("POST /slack/events", *door.plausible(), ("Content-Length", "100")) + b"{"
    async with half_open(door.port, [slow], HALF_OPEN):
        await door.works()


async def test_bodies_together_take_no_more_than_their_share(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large ones wait for another time, and Slack's, which are small, are read."""
    monkeypatch.setattr(http, "MOST_HELD_BYTES", 200_000)
    begun = (
        head("POST /slack/events", *door.plausible(), ("Content-Length", str(LARGEST_BYTES))) + b"x" * 150_000
    )
    async with AsyncExitStack() as stack:
        _, writer = await asyncio.open_connection(HOST, door.port)
        stack.callback(writer.transport.abort)
        writer.write(begun)
        await writer.drain()
        while (await door.ask(b"x" * 100_000, *door.plausible()))[0] != 503:
            pass
        await door.works()
    while (await door.ask(b"x" * 100_000, *door.plausible()))[0] != 401:
        pass


async def test_a_body_that_is_not_what_its_headers_say_is_in_no_log(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    """The parser quotes what it cannot read."""
    chunked = head("POST /slack/events", *door.plausible(), ("Transfer-Encoding", "chunked"))
    for request in (
        chunked + MARK.encode() + b"\r\n",
        chunked + b"3\r\nabc" + MARK.encode() + b"\r\n",
        f"POST /slack/events HTTP/1.1\r\nHost: x\r\n{MARK}\x01{MARK}\r\n\r\n".encode(),
        f"{MARK} {MARK}\r\n\r\n".encode(),
        b"\x16\x03\x01" + MARK.encode() + b"\r\n\r\n",
    ):
        reader, writer = await asyncio.open_connection(HOST, door.port)
        writer.write(request)
        assert (await asyncio.wait_for(response(reader), PATIENCE_SECONDS))[0] == 400
        writer.transport.abort()

    assert MARK not in logged(caplog)
    await door.works()


# --- connections ----------------------------------------------------------------------------------------------------

BEGINNINGS = [b"", b"P", b"POST /slack/events HTTP/1.1\r\nHost: x\r\nX-Slack", b"GET /readyz HTTP/1.1\r\n"]


async def test_half_open_connections_stop_nobody(door: Door) -> None:
    """At either address: those that have waited longest make room."""
    async with (
        half_open(door.port, BEGINNINGS, HALF_OPEN),
        half_open(door.health, BEGINNINGS, HALF_OPEN),
    ):
        for _ in range(3):
            await door.works()
    await door.works()


async def test_who_does_not_go_on_is_hung_up_on(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one who goes on very slowly, and one who has been served before."""
    monkeypatch.setattr(http, "HEADER_SECONDS", 0.3)
    reader, slow = await asyncio.open_connection(HOST, door.port)
    async with asyncio.timeout(PATIENCE_SECONDS), half_open(door.port, BEGINNINGS, 20) as sockets:
        slow.write(head("POST /slack/events").removesuffix(b"\r\n"))
        reading = asyncio.create_task(_read(reader))
        while not reading.done():
            slow.write(b"x")
            await asyncio.wait({reading}, timeout=0.05)
        assert reading.result() == b""
        assert all([await asyncio.to_thread(_hung_up, one) for one in sockets])
    slow.transport.abort()

    reader, writer = await asyncio.open_connection(HOST, door.port)
    writer.write(head("GET /"))
    assert (await response(reader))[0] == 404
    writer.write(b"GET / HTTP")
    assert await asyncio.wait_for(_read(reader), PATIENCE_SECONDS) == b""
    writer.transport.abort()


async def until_ready(door: Door) -> None:
    """A machine that is busy makes us unready for a moment, also after the start."""

    async def is_ready() -> bool:
        return (await door.ask(verb="GET", path="/readyz", port=door.health))[0] == 200

    await wait_until(is_ready)


async def test_health_and_metrics_are_at_their_own_address(door: Door) -> None:
    """What the internet may reach says nothing about us."""
    await until_ready(door)
    for path in ("/healthz", "/readyz", "/metrics"):
        assert (await door.ask(verb="GET", path=path, port=door.health))[0] == 200
        assert (await door.ask(verb="GET", path=path))[0] == 404
    for path in ("/slack/events", "/reviews"):
        assert (await door.ask(path=path, port=door.health))[0] == 404


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(100)
    except ConnectionError:
        return b""


def _hung_up(one: socket) -> bool:
    try:
        return one.recv(100) == b""
    except ConnectionError:
        return True
