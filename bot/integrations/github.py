"""Issues of GitHub, by its REST interface. It is loaded where a key is set."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from pydantic import BaseModel

from bot.domain.item.item import TITLE_CHARS, TrackerIssue, repository_of
from bot.domain.messages import tracker_wording as wording
from bot.domain.values.text import clean, one_line
from bot.errors import EffectError

API = "https://api.github.com"
VERSION = "2022-11-28"
SECONDS = 1.5
"""Slack wants an answer after three."""
TEXT_CHARS, ANSWER_BYTES = 20_000, 4 * 1024 * 1024


class _User(BaseModel):
    login: str


class _Issue(BaseModel):
    """What is read of GitHub's answer. A deleted account leaves no user, and an empty text is null."""

    html_url: str
    title: str
    body: str | None = None
    user: _User | None = None
    state: str
    updated_at: str
    pull_request: Any = None


class GitHub:
    def __init__(self, session: aiohttp.ClientSession, *, url: str) -> None:
        self._session = session
        self._url = url.rstrip("/")
        self._host = "github.com" if self._url == API else urlsplit(url).netloc

    async def read_issue(self, reference: str) -> TrackerIssue:
        host, repository, number = repository_of(reference)
        if host.lower().removeprefix("www.") not in {"", self._host}:
            raise EffectError(wording.other_host(reference, self._host))
        try:
            async with self._session.get(f"{self._url}/repos/{repository}/issues/{number}") as answer:
                if answer.status != 200:
                    raise EffectError(wording.refused(reference, answer.status))
                found = _Issue.model_validate_json(await _content(answer))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise EffectError(wording.no_answer(reference)) from error
        if found.pull_request is not None:
            raise EffectError(wording.pull_request(reference))
        return TrackerIssue(
            url=found.html_url,
            title=one_line(clean(found.title), TITLE_CHARS),
            text=clean(found.body or "")[:TEXT_CHARS],
            by=found.user.login if found.user else "a deleted account",
            state=found.state,
            updated=found.updated_at,
        )


async def _content(answer: aiohttp.ClientResponse) -> bytes:
    """Raises ValueError when it is too long for an issue."""
    content = bytearray()
    async for chunk in answer.content.iter_any():
        content += chunk
        if len(content) > ANSWER_BYTES:
            raise ValueError("too long")
    return bytes(content)


@asynccontextmanager
async def opened(key: str, *, url: str) -> AsyncIterator[GitHub]:
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {key}",
        "User-Agent": "roundtable",
        "X-GitHub-Api-Version": VERSION,
    }
    limit = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(headers=headers, timeout=limit, trust_env=True) as session:
        yield GitHub(session, url=url)
