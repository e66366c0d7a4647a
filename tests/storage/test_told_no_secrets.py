"""What other programs are told of our secrets, and what we repeat of what they say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.storage.git.command import Git
from bot.storage.redis import RedisStore

KEYS = (
    "SLACK_BOT_TOKEN", "ROUNDTABLE_REVIEW_SECRET", "REDIS_URL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
    "GOOGLE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "OTEL_EXPORTER_OTLP_HEADERS",
)  # fmt: skip


def test_git_and_what_it_starts_have_none_of_our_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Filters, helpers and ssh are programs of whoever set up the checkout; a key for models is none of theirs. The helper
    of CodeCommit finds its account as every program does.
    """
    for name in KEYS:
        monkeypatch.setenv(name, f"sesame of {name}")
    monkeypatch.setenv("AWS_PROFILE", "specs")
    shown = Git(tmp_path).at_once("-c", "alias.shown=!env", "shown")

    assert shown.code == 0
    assert "AWS_PROFILE=specs" in shown.out
    assert [row for row in shown.out.splitlines() if "sesame" in row] == []


async def test_what_redis_quotes_is_not_repeated() -> None:
    """A server that does not know AUTH says so with its arguments, and our readiness is for everybody to read."""
    async with (
        one_that_knows_nothing() as port,
        RedisStore(f"redis://bot:swordfish@127.0.0.1:{port}/0", team="T1") as store,
    ):
        with pytest.raises(Unavailable) as failed:
            await store.ping()

    assert "unknown command" in str(failed.value)
    assert "swordfish" not in str(failed.value)


@asynccontextmanager
async def one_that_knows_nothing() -> AsyncIterator[int]:
    """Answers every command as a server answers one that was renamed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            writer.write(b"-ERR unknown command 'AUTH', with args beginning with: 'bot' 'swordfish' \r\n" * 4)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
