"""
A GitHub on this machine: one operation, as GitHub's REST description has it. What that does not allow is counted in
`breaches`, of either side.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

TOKEN = "ghs_0123456789abcdefghij"
VERSIONS = {"2022-11-28"}
ISSUE = re.compile(r"/repos/([\w.-]+)/([\w.-]+)/issues/([1-9][0-9]*)")
STATUSES = {200, 301, 304, 401, 403, 404, 410, 429, 500, 503}
"""That are described for the operation, or for all."""
REQUIRED = {
    "assignee", "assignees", "author_association", "closed_at", "comments", "comments_url", "created_at", "events_url",
    "html_url", "id", "labels", "labels_url", "locked", "milestone", "node_id", "number", "repository_url", "state",
    "title", "updated_at", "url", "user",
}  # fmt: skip


class StrictGitHub:
    def __init__(self) -> None:
        self.url = ""
        self.issues: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.breaches: list[str] = []
        self.next_status = 0

    def add(self, name: str, title: str, body: str | None, *, pull: bool = False, **other: Any) -> None:
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
        if missing := REQUIRED - issue.keys():
            self.breaches.append(f"our own answer lacks {missing}")
        self.issues[name.casefold()] = issue

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path_qs}")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer(401, {"message": "Bad credentials"})
        found = ISSUE.fullmatch(request.path)
        if request.method != "GET" or found is None or request.query_string or await request.read():
            self.breaches.append(f"no such operation: {self.asked[-1]}")
            return self._answer(404, {"message": "Not Found"})
        self._check_headers(request)
        if status := self.next_status:
            self.next_status = 0
            return self._answer(status, {"message": "later"})
        issue = self.issues.get(f"{found[1]}/{found[2]}#{found[3]}".casefold())
        return self._answer(200, issue) if issue else self._answer(404, {"message": "Not Found"})

    def _check_headers(self, request: web.Request) -> None:
        if not request.headers.get("User-Agent"):
            self.breaches.append("no User-Agent")
        if request.headers.get("Accept") != "application/vnd.github+json":
            self.breaches.append(f"Accept: {request.headers.get('Accept')}")
        if request.headers.get("X-GitHub-Api-Version") not in VERSIONS:
            self.breaches.append(f"version {request.headers.get('X-GitHub-Api-Version')}")

    def _answer(self, status: int, body: dict[str, Any]) -> web.Response:
        if status not in STATUSES:
            self.breaches.append(f"our own status {status}")
        limits = {
            "Limit": "5000",
            "Remaining": "0" if status in {403, 429} else "4999",
            "Reset": "1795474800",
        }
        headers = {f"X-RateLimit-{name}": value for name, value in limits.items()}
        if status in {403, 429}:
            headers["Retry-After"] = "60"
        return web.json_response(body, status=status, headers=headers)


@asynccontextmanager
async def strict_github() -> AsyncIterator[StrictGitHub]:
    """It has to leave without a breach."""
    github = StrictGitHub()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", github.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        github.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield github
    finally:
        await runner.cleanup()
    assert github.breaches == []
