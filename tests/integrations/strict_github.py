"""
A GitHub on this machine: seven operations, in our words as GitHub's REST reference has them. It refuses what is not
described, and what is wrong on either side is counted in `breaches`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aiohttp import web

TOKEN = "ghs_0123456789abcdefghij"
VERSIONS = {"2022-11-28"}
REPOSITORY = r"/repos/([\w.-]+)/([\w.-]+)"
NUMBER = r"/issues/([1-9][0-9]*)"
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MOST_TITLE, MOST_BODY = 256, 65_536
TEXT = (str,)


class Operation(NamedTuple):
    """`query` and `fields` are what may be given: a pattern of each parameter, the types of each field."""

    path: re.Pattern[str]
    answers: int
    statuses: frozenset[int]
    query: Mapping[str, str] = {}
    fields: Mapping[str, tuple[type, ...]] = {}
    required: frozenset[str] = frozenset()


_PAGES = {"per_page": r"[1-9][0-9]?|100", "page": r"[1-9][0-9]*"}
_LIST = {
    "milestone": r"\*|none|\d+", "state": "open|closed|all", "assignee": r"\S+", "creator": r"\S+", "mentioned": r"\S+",
    "labels": r".+", "sort": "created|updated|comments", "direction": "asc|desc", "since": MOMENT.pattern,
}  # fmt: skip
_WRITTEN = {
    "title": (str, int), "body": (str, type(None)), "assignee": (str, type(None)), "milestone": (str, int, type(None)),
    "labels": (list,), "assignees": (list,), "type": (str, type(None)),
}  # fmt: skip
_CHANGED = {**_WRITTEN, "title": (str, int, type(None)), "state": TEXT, "state_reason": (str, type(None))}
ALWAYS = frozenset({401, 403, 404, 429, 500, 502, 503, 504})
OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("GET", "limits"): Operation(re.compile("/rate_limit"), 200, ALWAYS | {304}),
    ("GET", "repository"): Operation(re.compile(REPOSITORY), 200, ALWAYS | {301, 307}),
    ("GET", "list"): Operation(
        re.compile(f"{REPOSITORY}/issues"), 200, ALWAYS | {301, 422}, query={**_LIST, **_PAGES}
    ),
    ("POST", "list"): Operation(
        re.compile(f"{REPOSITORY}/issues"), 201, ALWAYS | {400, 410, 422},
        fields=_WRITTEN, required=frozenset({"title"}),
    ),
    ("GET", "issue"): Operation(re.compile(f"{REPOSITORY}{NUMBER}"), 200, ALWAYS | {301, 304, 307, 410}),
    ("GET", "comments"): Operation(
        re.compile(f"{REPOSITORY}{NUMBER}/comments"), 200, ALWAYS | {410}, query={"since": MOMENT.pattern, **_PAGES}
    ),
    ("PATCH", "issue"): Operation(
        re.compile(f"{REPOSITORY}{NUMBER}"), 200, ALWAYS | {301, 410, 422}, fields=_CHANGED
    ),
}  # fmt: skip

ISSUE: Mapping[str, tuple[type, ...]] = {
    "assignee": (dict, type(None)), "assignees": (list,), "author_association": TEXT, "body": (str, type(None)),
    "closed_at": (str, type(None)), "comments": (int,), "comments_url": TEXT, "created_at": TEXT, "events_url": TEXT,
    "html_url": TEXT, "id": (int,), "labels": (list,), "labels_url": TEXT, "locked": (bool,),
    "milestone": (dict, type(None)), "node_id": TEXT, "number": (int,), "repository_url": TEXT, "state": TEXT,
    "title": TEXT, "updated_at": TEXT, "url": TEXT, "user": (dict, type(None)),
}  # fmt: skip


def now() -> str:
    return f"{datetime.now(UTC).isoformat()[:19]}Z"


class Failure(NamedTuple):
    """
    The next answer of an operation that may have this status, in place of the right one. *after*: what was asked for is
    done all the same.
    """

    status: int
    headers: Mapping[str, str] = {}
    after: bool = False


class StrictGitHub:
    """`after_create` is called when an issue was created and not answered yet; `slow` holds all answers back."""

    def __init__(self) -> None:
        self.url = ""
        self.issues: dict[str, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []
        self.private: set[str] = set()
        self.asked: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.breaches: list[str] = []
        self.failures: list[Failure] = []
        self.after_create: Callable[[], None] = lambda: None
        self.drops_answer = False
        self.slow: asyncio.Event | None = None

    def add(
        self, name: str, title: str, body: str | None, *, pull: bool = False, **other: Any
    ) -> dict[str, Any]:
        """*name* as in `acme/api#42`."""
        repository, _, number = name.partition("#")
        url = f"https://api.github.com/repos/{repository}/issues/{number}"
        parts = dict.fromkeys(("assignee", "closed_at", "milestone"))
        parts |= {f"{part}_url": f"{url}/{part}" for part in ("comments", "events", "labels")}
        issue = parts | {
            "id": 1, "node_id": "I_1", "url": url, "repository_url": url.partition("/issues")[0],
            "html_url": f"https://github.com/{repository}/issues/{number}", "number": int(number), "state": "open",
            "title": title, "body": body, "user": {"login": "octo-ada", "id": 7}, "labels": [], "assignees": [],
            "locked": False, "comments": 0, "author_association": "MEMBER", "created_at": "2026-11-23T22:00:00Z",
            "updated_at": "2026-11-24T09:30:00Z", **other,
        }  # fmt: skip
        if pull:
            issue["pull_request"] = dict.fromkeys(("url", "html_url", "diff_url", "patch_url"), url)
        self.issues[name.casefold()] = issue
        return issue

    def close(self, name: str) -> None:
        self.issues[name.casefold()] |= {"state": "closed", "closed_at": now(), "updated_at": now()}

    def of(self, repository: str) -> list[dict[str, Any]]:
        """Its issues, the oldest first."""
        return [one for name, one in self.issues.items() if name.startswith(f"{repository}#".casefold())]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path_qs}")
        self.headers.append(request.headers)
        if self.slow:
            await self.slow.wait()
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer(ALWAYS, 401, {"message": "Bad credentials"})
        for (method, name), operation in OPERATIONS.items():
            found = operation.path.fullmatch(request.path)
            if found and method == request.method:
                return await self._done(request, name, operation, found)
        self.breaches.append(f"no such operation: {self.asked[-1]}")
        return self._answer(ALWAYS, 404, {"message": "Not Found"})

    async def _done(
        self, request: web.Request, name: str, operation: Operation, found: re.Match[str]
    ) -> web.StreamResponse:
        body = await request.read()
        if wrong := [*self._wrong_headers(request, body), *self._wrong_query(request, operation)]:
            self.breaches += wrong
            return self._answer(operation.statuses, 422, {"message": wrong[0]})
        given: dict[str, Any] = await request.json() if body else {}
        if wrong := self._wrong_fields(given, operation):
            self.breaches += wrong
            return self._answer(operation.statuses, 422, {"message": wrong[0]})
        failure = next((one for one in self.failures if one.after or one.status in operation.statuses), None)
        if failure:
            self.failures.remove(failure)
        if failure and not failure.after:
            return self._answer(operation.statuses, failure.status, {"message": "no"}, failure.headers)
        if name == "limits":
            return self._answer({200}, 200, {"resources": {}, "rate": {}})
        if name == "list" and given.get("title") == "":
            return self._answer(operation.statuses, 422, {"message": "Validation Failed"})
        repository = f"{found[1]}/{found[2]}"
        known = self.issues.get(f"{repository}#{found[3]}".casefold()) if name == "issue" else None
        if name == "repository":
            return self._answer({200}, 200, _repository(repository, is_private=repository in self.private))
        if name == "comments":
            return self._answer({200}, 200, self.comments[: int(request.query.get("per_page", "30"))])
        if name == "list" and request.method == "GET":
            return self._answer({200}, 200, self._listed(repository, request.query))
        if name == "issue" and known is None:
            return self._answer(operation.statuses, 404, {"message": "Not Found"})
        if known is None:
            number = max([0, *(one["number"] for one in self.of(repository))]) + 1
            known = self.add(
                f"{repository}#{number}",
                str(given["title"]),
                given.get("body"),
                labels=[{"name": one} for one in given.get("labels", ())],
                created_at=now(),
                updated_at=now(),
            )
            self.after_create()
            if self.drops_answer:
                self.drops_answer = False
                assert request.transport
                request.transport.abort()
        elif given:
            known |= given | {"updated_at": now()}
        if failure:
            return self._answer(operation.statuses, failure.status, {"message": "no"}, failure.headers)
        return self._answer({operation.answers}, operation.answers, known)

    def _listed(self, repository: str, query: Mapping[str, str]) -> list[dict[str, Any]]:
        wanted, since = query.get("state", "open"), query.get("since", "")
        by = f"{query.get('sort', 'created')}_at"
        rows = [
            one
            for one in self.of(repository)
            if wanted in {"all", one["state"]} and one["updated_at"] >= since
        ]
        rows.sort(key=lambda one: (one[by], one["number"]), reverse=query.get("direction", "desc") == "desc")
        size, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
        return rows[(page - 1) * size : page * size]

    @staticmethod
    def _wrong_headers(request: web.Request, body: bytes) -> list[str]:
        wrong = [] if request.headers.get("User-Agent") else ["no User-Agent"]
        if request.headers.get("Accept") != "application/vnd.github+json":
            wrong.append(f"Accept: {request.headers.get('Accept')}")
        if request.headers.get("X-GitHub-Api-Version") not in VERSIONS:
            wrong.append(f"version {request.headers.get('X-GitHub-Api-Version')}")
        if body and request.content_type != "application/json":
            wrong.append(f"Content-Type: {request.content_type}")
        return wrong

    @staticmethod
    def _wrong_query(request: web.Request, operation: Operation) -> list[str]:
        return [
            f"{request.method} {request.path}: ?{name}={value}"
            for name, value in request.query.items()
            if not re.fullmatch(operation.query.get(name, "(?!)"), value)
        ]

    @staticmethod
    def _wrong_fields(given: Mapping[str, Any], operation: Operation) -> list[str]:
        wrong = [f"unknown or of a wrong type: {name}" for name, value in given.items()
                 if type(value) not in operation.fields.get(name, ())]  # fmt: skip
        wrong += [f"missing: {name}" for name in operation.required - given.keys()]
        if len(str(given.get("title", ""))) > MOST_TITLE or len(given.get("body") or "") > MOST_BODY:
            wrong.append("too long")
        return wrong

    def _answer(
        self,
        statuses: frozenset[int] | set[int],
        status: int,
        body: dict[str, Any] | list[dict[str, Any]],
        headers: Mapping[str, str] | None = None,
    ) -> web.Response:
        if status not in statuses:
            self.breaches.append(f"our own status {status}")
        for one in (each for each in (body if isinstance(body, list) else [body]) if "number" in each):
            self.breaches += [
                f"our own answer: {name}"
                for name, types in ISSUE.items()
                if type(one.get(name, ...)) not in types
            ]
        limits = {"Limit": "5000", "Remaining": "4999", "Reset": "1795474800"}
        usual = {f"X-RateLimit-{name}": value for name, value in limits.items()}
        return web.json_response(body, status=status, headers={**usual, **(headers or {})})


def _repository(name: str, *, is_private: bool) -> dict[str, Any]:
    owner, _, short = name.partition("/")
    return {"id": 1, "name": short, "full_name": name, "owner": {"login": owner}, "private": is_private}


@asynccontextmanager
async def strict_github() -> AsyncIterator[StrictGitHub]:
    """It has to leave without a breach."""
    github = StrictGitHub()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", github.handle)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        github.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield github
    finally:
        if github.slow:
            github.slow.set()
        await runner.cleanup()
    assert github.breaches == []
