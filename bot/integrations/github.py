"""
Issues of GitHub, by its REST interface. It is loaded where a key is set.

No redirect is followed, since another host must not be sent the key, and no answer is read past its limit.
"""

import asyncio
import hmac
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
from pydantic import AwareDatetime, BaseModel, ConfigDict, SecretStr, TypeAdapter

from bot.domain.item.item import GITHUB, TITLE_CHARS, IssueComment, TrackerIssue, repository_of
from bot.domain.messages import tracker_wording as wording
from bot.domain.roundtable.effects import PushIssue
from bot.domain.values.text import clean, one_line
from bot.domain.values.timestamps import before
from bot.engine.source_ports import IssueStates, PushedIssue
from bot.errors import EffectError, lacks_extra
from bot.telemetry import trace_headers

API = f"https://api.{GITHUB}"
VERSION = "2022-11-28"
READ_SECONDS = 1.5
"""Slack wants an answer after three."""
CALL_SECONDS = 10.0
TEXT_CHARS, COMMENT_CHARS, LABEL_CHARS = 20_000, 2_000, 50
MOST_LABELS = 20
MOST_COMMENTS = 30
ANSWER_BYTES, LIST_BYTES, REFUSAL_BYTES = 4 * 1024 * 1024, 48 * 1024 * 1024, 64 * 1024
"""A text may have 65,536 characters, which JSON may write with six bytes each."""
ON_A_PAGE, MOST_PAGES, MOST_SEARCHED = 100, 10, 50
"""Pages of what changed, and of what was created since an issue was asked for."""
SKEW_SECONDS = 600.0
"""That the clock of GitHub may differ from ours."""
LONGEST_WAIT_SECONDS = 3_600.0
LIMIT_SECONDS = 60.0
"""What GitHub asks for where it names no time."""
MOVED = frozenset({301, 302, 307, 308})
GONE = frozenset(map(str, (*MOVED, 404, 410)))
_DIGEST = re.compile(r"([0-9a-f]{8}): kept by the bot -->")

Model = TypeVar("Model")


class _User(BaseModel):
    login: str


class _Label(BaseModel):
    name: str | None = None


class _Issue(BaseModel):
    """What is read of GitHub's answer. A deleted account leaves no user, and an empty text is null."""

    html_url: str
    title: str
    body: str | None = None
    user: _User | None = None
    state: str
    created_at: str
    updated_at: str
    labels: list[_Label | str] = []
    pull_request: Any = None


class _Comment(BaseModel):
    id: int
    body: str | None = None
    user: _User | None = None
    created_at: str


class _Repository(BaseModel):
    private: bool


class _Installation(BaseModel):
    id: int


class _AppToken(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    token: SecretStr
    expires_at: AwareDatetime

    @property
    def lasts(self) -> bool:
        return self.expires_at - datetime.now(UTC) > timedelta(seconds=SKEW_SECONDS)


_ISSUE, _ISSUES, _REPOSITORY = TypeAdapter(_Issue), TypeAdapter(list[_Issue]), TypeAdapter(_Repository)
_COMMENTS = TypeAdapter(list[_Comment])
_INSTALLATION, _APP_TOKEN = TypeAdapter(_Installation), TypeAdapter(_AppToken)
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


class _Tokens:
    """*key*, or as the private key of *app* what it gets: a token for one repository, and for an hour."""

    def __init__(self, key: str, *, url: str, app: str) -> None:
        self._key = key
        self._url = url
        self._app = app
        self._found: dict[str, _AppToken] = {}
        self._lock = asyncio.Lock()

    async def of(self, repository: str, call: "_Call") -> str:
        """Raises EffectError."""
        if not self._app:
            return self._key
        async with self._lock:
            found = self._found.get(repository)
            if found is None or not found.lasts:
                found = self._found[repository] = await self._new(repository, call)
        return found.token.get_secret_value()

    def forget(self, repository: str) -> bool:
        """One that GitHub does not accept any more. False: there is no other one."""
        return self._found.pop(repository, None) is not None

    async def check_key(self, call: "_Call") -> None:
        """Raises EffectError."""
        if self._app:
            await call.asked(
                "GET", f"{self._url}/app", _ANYTHING, token=self._signed(call), why=wording.app_refused
            )
        else:
            await call.asked("GET", f"{self._url}/rate_limit", _ANYTHING, token=self._key)

    async def _new(self, repository: str, call: "_Call") -> _AppToken:
        signed, why = self._signed(call), wording.app_refused
        place = f"{self._url}/repos/{repository}/installation"
        found = await call.asked("GET", place, _INSTALLATION, token=signed, why=why)
        url = f"{self._url}/app/installations/{found.id}/access_tokens"
        only = {"repositories": [repository.partition("/")[2]]}
        return await call.asked("POST", url, _APP_TOKEN, only, token=signed, why=why)

    def _signed(self, call: "_Call") -> str:
        """What GitHub knows the App by, for ten minutes."""
        try:
            from gidgethub.apps import get_jwt  # noqa: PLC0415 -- an extra, and slow to load
            from jwt import PyJWTError  # noqa: PLC0415
        except ImportError:
            raise EffectError(call.sentence(f"{lacks_extra('github')}.")) from None
        try:
            return get_jwt(app_id=self._app, private_key=self._key)
        except (PyJWTError, TypeError, ValueError):
            raise EffectError(call.sentence(wording.NO_PRIVATE_KEY)) from None


class GitHub:
    """*key* makes the marks by which an issue of ours is found again: no other person can write them."""

    def __init__(self, session: aiohttp.ClientSession, tokens: _Tokens, *, url: str, key: str) -> None:
        self._session = session
        self._tokens = tokens
        self._url = url
        self._key = key.encode()
        self._host = GITHUB if self._url == API else urlsplit(url).netloc

    @property
    def host(self) -> str:
        return self._host

    @property
    def lands_within(self) -> float:
        return CALL_SECONDS

    async def read_issue(
        self, reference: str, *, public_only: bool, in_a_hurry: bool = False
    ) -> TrackerIssue:
        host, repository, number = repository_of(reference)
        if host.lower().removeprefix("www.") not in {"", self._host}:
            raise EffectError(wording.other_host(reference, self._host))
        seconds = READ_SECONDS if in_a_hurry else CALL_SECONDS
        call = self._call(repository, wording.not_read(reference), seconds)
        url = f"{self._issues_of(repository)}/{number}"
        first = {"per_page": str(MOST_COMMENTS)}
        found, comments, is_hidden = await asyncio.gather(
            call.made("GET", url, _ISSUE),
            call.made("GET", f"{url}/comments", _COMMENTS, params=first),
            self._is_private(call, repository) if public_only else _no(),
        )
        if is_hidden:
            raise EffectError(wording.private(reference))
        if found.pull_request is not None:
            raise EffectError(wording.pull_request(reference))
        return TrackerIssue(
            url=found.html_url,
            title=one_line(clean(found.title), TITLE_CHARS),
            text=clean(found.body or "")[:TEXT_CHARS],
            by=_name(found.user),
            state=found.state,
            updated=found.updated_at,
            labels=tuple(_label(one) for one in found.labels[:MOST_LABELS]),
            comments=tuple(
                IssueComment(
                    by=_name(one.user),
                    at=one.created_at,
                    url=f"{found.html_url}#issuecomment-{one.id}",
                    text=clean(one.body or "")[:COMMENT_CHARS],
                )
                for one in comments
            ),
        )

    async def _is_private(self, call: "_Call", repository: str) -> bool:
        return (await call.made("GET", f"{self._url}/repos/{repository}", _REPOSITORY)).private

    async def push(self, wanted: PushIssue, *, named: str) -> PushedIssue:
        block = _Block(wanted, named, self._key)
        repository = repository_of(wanted.issue)[1] if wanted.issue else wanted.repository
        call = self._call(repository, wording.not_pushed(wanted.entry, wanted.repository))
        if wanted.issue:
            return await self._renewed(call, wanted.issue, block)
        if made := await self._made_before(call, wanted, block):
            return PushedIssue(made)
        new = {
            "title": wanted.title,
            "body": block.text,
            **({"labels": wanted.labels} if wanted.labels else {}),
        }
        issue = await call.made("POST", self._issues_of(wanted.repository), _ISSUE, new)
        return PushedIssue(_address(issue))

    async def states(self, issues: Collection[str], *, since: str) -> IssueStates:
        """A repository that refuses keeps none of the others back."""
        wanted = {one: _place(one) for one in issues}
        found: dict[tuple[str, str], str] = {}
        refused: EffectError | None = None
        for repository in sorted({one for one, _ in wanted.values()}):
            numbers = {number for of, number in wanted.values() if of == repository}
            try:
                found |= await self._states_in(repository, numbers, since)
            except EffectError as error:
                if error.again:
                    raise
                refused = error
        if refused and not found:
            raise refused
        return IssueStates({one: found[at] for one, at in wanted.items() if at in found}, not refused)

    async def _states_in(
        self, repository: str, numbers: Collection[str], since: str
    ) -> Mapping[tuple[str, str], str]:
        """Where more has changed than is read, each issue is asked for. One that is gone keeps its state."""
        call = self._call(repository, wording.no_states(repository))
        changed = {"sort": "updated", "since": f"{before(since, SKEW_SECONDS)[:19]}Z"}
        found: dict[tuple[str, str], str] = {}
        rows: list[_Issue] = []
        async for rows in self._pages(call, repository, changed, most=MOST_PAGES):
            found |= {_place(row.html_url): row.state for row in rows}
        for number in sorted(numbers) if len(rows) == ON_A_PAGE else ():
            if (repository, number) not in found:
                try:
                    issue = await call.made("GET", f"{self._issues_of(repository)}/{number}", _ISSUE)
                except EffectError as error:
                    if error.reason not in GONE:
                        raise
                else:
                    found[repository, number] = issue.state
        return found

    async def refusal(self, repository: str) -> str:
        """
        What keeps us from its issues, or from any without a *repository*; empty if nothing does. It makes none, because
        none may have an empty title.
        """
        reading = self._call(repository, wording.not_readable(repository))
        try:
            if not repository:
                await self._tokens.check_key(reading)
                return ""
            url = self._issues_of(repository)
            await reading.made("GET", url, _ISSUES, params={"per_page": "1"})
            creating = self._call(repository, wording.not_creatable(repository))
            await creating.made("POST", url, _ISSUE, {"title": ""})
        except EffectError as error:
            return "" if error.reason == "422" else str(error)
        return ""

    async def _made_before(self, call: "_Call", wanted: PushIssue, block: "_Block") -> str:
        """
        By an attempt of which no answer came: in the list, because GitHub's search learns of an issue only later. All
        that were created since it was asked for are looked at.
        """
        since = before(wanted.since or wanted.asked_at, SKEW_SECONDS)
        newest = {"sort": "created"}
        async for rows in self._pages(call, wanted.repository, newest, most=MOST_SEARCHED):
            ours = [one for one in rows if one.pull_request is None and block.begin in (one.body or "")]
            if ours:
                return _address(ours[-1])
            if len(rows) < ON_A_PAGE or rows[-1].created_at < since:
                return ""
        raise EffectError(call.sentence(wording.too_many(wanted.entry)))

    async def _renewed(self, call: "_Call", address: str, block: "_Block") -> PushedIssue:
        """Words outside of our block stay. A block that people removed, or changed, stays as it is."""
        _, repository, number = repository_of(address)
        url = f"{self._issues_of(repository)}/{number}"
        issue = await call.made("GET", url, _ISSUE)
        body = issue.body or ""
        renewed = block.renewed(body)
        if renewed is None:
            return PushedIssue(address, left_alone=True)
        if renewed != body:
            await call.made("PATCH", url, _ISSUE, {"body": renewed})
        return PushedIssue(address)

    def _call(self, repository: str, failed: str, seconds: float = CALL_SECONDS) -> "_Call":
        return _Call(self._session, self._tokens, repository, failed=failed, seconds=seconds)

    def _issues_of(self, repository: str) -> str:
        return f"{self._url}/repos/{repository}/issues"

    async def _pages(
        self, call: "_Call", repository: str, params: Mapping[str, str], *, most: int
    ) -> AsyncIterator[list[_Issue]]:
        for page in range(1, most + 1):
            asked = {
                "state": "all",
                "direction": "desc",
                "per_page": str(ON_A_PAGE),
                "page": str(page),
                **params,
            }
            rows = await call.made("GET", self._issues_of(repository), _ISSUES, params=asked)
            yield rows
            if len(rows) < ON_A_PAGE:
                return


class _Block:
    """
    What is ours in the text of an issue, between two comments. The first one has a code that only our key makes, and
    the digest of what stands between them.
    """

    def __init__(self, wanted: PushIssue, named: str, key: bytes) -> None:
        code = hmac.new(key, named.encode(), sha256).hexdigest()[:16]
        shown = named.partition("/")[2]
        self.begin = f"<!-- roundtable {shown} {code} "
        self._end = f"<!-- roundtable {shown} end -->"
        inside = f"\n{wanted.text.strip()}\n"
        self.text = f"{self.begin}{_digest(inside)}: kept by the bot -->{inside}{self._end}"

    def renewed(self, body: str) -> str | None:
        """None where the block is gone, or people changed it."""
        head, _, rest = body.partition(self.begin)
        mark, closed, tail = rest.partition(self._end)
        found = _DIGEST.match(mark)
        if not closed or found is None or found[1] != _digest(mark[found.end() :]):
            return None
        return f"{head}{self.text}{tail}"


async def _no() -> bool:
    return False


def _name(user: _User | None) -> str:
    return user.login if user else "a deleted account"


def _label(label: _Label | str) -> str:
    return one_line(clean(label if isinstance(label, str) else label.name or ""), LABEL_CHARS)


def _place(address: str) -> tuple[str, str]:
    """The repository and the number, however the address is written."""
    _, repository, number = repository_of(address)
    return repository.casefold(), number


def _digest(text: str) -> str:
    """A browser ends lines in its own way."""
    return sha256("\n".join(text.split("\r\n")).strip().encode()).hexdigest()[:8]


def _address(issue: _Issue) -> str:
    """Raises EffectError."""
    if not all(repository_of(issue.html_url)):
        raise EffectError(wording.NO_ADDRESS)
    return issue.html_url


class _Call:
    """
    Calls for one purpose, in one repository. *failed* begins the sentence of an EffectError. Each of them may take
    *seconds*, together with a new token.
    """

    def __init__(
        self, session: aiohttp.ClientSession, tokens: _Tokens, repository: str, *, failed: str, seconds: float
    ) -> None:
        self._session = session
        self._tokens = tokens
        self._repository = repository
        self._failed = failed
        self._seconds = seconds

    def sentence(self, why: str) -> str:
        return f"{self._failed}: {why}"

    async def made(
        self,
        method: str,
        url: str,
        shape: TypeAdapter[Model],
        data: Mapping[str, str | Sequence[str]] | None = None,
        *,
        params: Mapping[str, str] | None = None,
    ) -> Model:
        async def ask() -> Model:
            token = await self._tokens.of(self._repository, self)
            return await self.asked(method, url, shape, data, params=params, token=token)

        try:
            async with asyncio.timeout(self._seconds):
                try:
                    return await ask()
                except EffectError as error:
                    if error.reason != "401" or not self._tokens.forget(self._repository):
                        raise
                return await ask()
        except TimeoutError as error:
            raise EffectError(self.sentence(wording.NO_ANSWER), again=True) from error

    async def asked(
        self,
        method: str,
        url: str,
        shape: TypeAdapter[Model],
        data: Mapping[str, str | Sequence[str]] | None = None,
        *,
        token: str,
        params: Mapping[str, str] | None = None,
        why: Callable[[int], str] = wording.refused,
    ) -> Model:
        """*why* says what a status means."""
        headers = {**trace_headers(), "Authorization": f"Bearer {token}"}
        try:
            async with self._session.request(
                method, url, json=data, params=params, headers=headers, allow_redirects=False
            ) as answer:
                if answer.status not in {200, 201}:
                    raise await self._refused(answer, why)
                return shape.validate_json(await _content(answer, LIST_BYTES if params else ANSWER_BYTES))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise EffectError(self.sentence(wording.NO_ANSWER), again=True) from error

    async def _refused(self, answer: aiohttp.ClientResponse, told: Callable[[int], str]) -> EffectError:
        status, headers = answer.status, answer.headers
        wait, is_used_up = headers.get("Retry-After", ""), headers.get("X-RateLimit-Remaining") == "0"
        if status == 429 or (status == 403 and (wait or is_used_up or await _names_limit(answer))):
            usual = LONGEST_WAIT_SECONDS / 4 if wait or is_used_up else LIMIT_SECONDS
            seconds = float(wait) if wait.isdecimal() and len(wait) < 6 else usual
            return EffectError(
                self.sentence(wording.ASKS_TO_WAIT),
                again=True,
                after_seconds=min(seconds, LONGEST_WAIT_SECONDS),
            )
        why = wording.MOVED if status in MOVED else told(status)
        return EffectError(self.sentence(why), reason=str(status), again=status >= 500)


async def _names_limit(answer: aiohttp.ClientResponse) -> bool:
    """As the secondary ones do, which are in no header."""
    with suppress(ValueError):
        return b"rate limit" in (await _content(answer, REFUSAL_BYTES)).lower()
    return False


async def _content(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """Raises ValueError when it is longer than *most*."""
    content = bytearray()
    async for chunk in answer.content.iter_any():
        content += chunk
        if len(content) > most:
            raise ValueError("too long")
    return bytes(content)


@asynccontextmanager
async def opened(key: str, *, url: str, app: str = "") -> AsyncIterator[GitHub]:
    """*key* is a token, or the private key of the *app*."""
    url = url.rstrip("/")
    headers = {
        "Accept": "application/vnd.github+json",
        "User-Agent": "roundtable",
        "X-GitHub-Api-Version": VERSION,
    }
    limit = aiohttp.ClientTimeout(total=CALL_SECONDS)
    async with aiohttp.ClientSession(headers=headers, trust_env=True, timeout=limit) as session:
        yield GitHub(session, _Tokens(key, url=url, app=app), url=url, key=key)
