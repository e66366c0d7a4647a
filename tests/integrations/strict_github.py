"""
A GitHub on this machine: the operations that we use. Each request and each of its own answers is held to the
description that GitHub publishes, as far as npm can fetch it; what is wrong on either side is counted in `breaches`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import jsonschema
import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.integrations.published import published

OPENAPI = "@octokit/openapi@23.0.2"
TOKEN, APP = "ghs_0123456789abcdefghij", "4711"
VERSION = "2022-11-28"
MOST_TITLE, MOST_BODY, MOST_ROWS = 256, 65_536, 100
"""In no field of the description."""

LIMITS, REPOSITORY = "GET /rate_limit", "GET /repos/{owner}/{repo}"
LIST = f"{REPOSITORY}/issues"
ISSUE, COMMENTS = f"{LIST}/{{issue_number}}", f"{LIST}/{{issue_number}}/comments"
CREATE, CHANGE = LIST.replace("GET", "POST"), ISSUE.replace("GET", "PATCH")
SEEN, INSTALLED = "GET /app", f"{REPOSITORY}/installation"
NEW_TOKEN = "POST /app/installations/{installation_id}/access_tokens"
OF_APP = (SEEN, INSTALLED, NEW_TOKEN)
OPERATIONS = (LIMITS, REPOSITORY, LIST, CREATE, ISSUE, CHANGE, COMMENTS, *OF_APP)
ALWAYS = frozenset({301, 401, 403, 404, 410, 429, 500, 502, 503, 504})
"""What each operation may answer, described or not."""
FORMATS = jsonschema.FormatChecker(())


@FORMATS.checks("date-time", raises=ValueError)
def is_moment(text: object) -> bool:
    return not isinstance(text, str) or bool(datetime.fromisoformat(text).tzinfo)


class Exchange(NamedTuple):
    operation: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    status: int = 0
    answer: Any = None


class GitHubDescription:
    """The operations in use, and what they refer to, as JSON Schema has it."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self._components = whole["components"]
        self._schemas: dict[str, Any] = {}
        paths = {one: one.split(" ") for one in OPERATIONS}
        self._operations = {
            one: self._taken(whole["paths"][path][method.lower()]) for one, (method, path) in paths.items()
        }

    def _taken(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._taken(one) for one in node]
        if not isinstance(node, dict):
            return node
        if isinstance(ref := node.get("$ref"), str):
            _, _, section, name = ref.split("/")
            if section != "schemas":
                return {} if section == "examples" else self._taken(self._components[section][name])
            if name not in self._schemas:
                self._schemas[name] = {}
                self._schemas[name] = self._taken(self._components[section][name])
            return {"$ref": f"#/$defs/{name}"}
        taken = {name: self._taken(one) for name, one in node.items()}
        return {"anyOf": [{"type": "null"}, taken]} if taken.get("nullable") is True else taken

    def faults(self, said: Exchange) -> Iterator[str]:
        told = self._operations[said.operation]
        known = {(one["in"], one["name"]): one["schema"] for one in told.get("parameters", ())}
        for place, given in (("path", said.path), ("query", said.query)):
            for name, value in given.items():
                schema = known.get((place, name), False)
                is_number = schema and schema.get("type") == "integer" and value.isdecimal()
                yield from self._wrong(
                    f"{said.operation} ?{name}", schema, int(value) if is_number else value
                )
        if said.body is not None:
            schema = told["requestBody"]["content"]["application/json"]["schema"]
            closed = {"additionalProperties": False, **schema}
            yield from self._wrong(f"{said.operation} body", closed, said.body)
        if found := told["responses"].get(str(said.status)):
            schema = found.get("content", {}).get("application/json", {}).get("schema", True)
            yield from self._wrong(f"our own answer to {said.operation}", schema, said.answer)
        elif said.status not in ALWAYS:
            yield f"our own answer to {said.operation}: {said.status}"

    def _wrong(self, where: str, schema: Any, value: Any) -> Iterator[str]:
        whole = {"$defs": self._schemas, "allOf": [schema]}
        for fault in jsonschema.Draft202012Validator(whole, format_checker=FORMATS).iter_errors(value):
            yield f"{where}: {fault.json_path} {fault.message[:200]}"


@cache
def described() -> GitHubDescription | str:
    """Or why it cannot be had. Once for each process, and not for each test."""
    try:
        return GitHubDescription(published(OPENAPI, "generated/api.github.com.json"))
    except pytest.skip.Exception as reason:
        return str(reason)


def now() -> str:
    return f"{datetime.now(UTC).isoformat()[:19]}Z"


class Failure(NamedTuple):
    """The next answer, of operation *on* if there is one, in place of the right one."""

    status: int
    headers: Mapping[str, str] = {}
    on: str = ""
    message: str = "no"


@cache
def app_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def pem(key: RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


class StrictGitHub:
    """
    `after_create` is called when an issue was created and not answered yet; `slow` holds all answers back. Tokens of
    the App are for `installed` repositories, and last `lasts` seconds.
    """

    def __init__(self) -> None:
        self.url = ""
        self.issues: dict[str, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []
        self.private: set[str] = set()
        self.installed = {"acme/api"}
        self.tokens = {TOKEN}
        self.lasts = 3_600
        self.asked: list[str] = []
        self.said: list[Exchange] = []
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
            "title": title, "body": body, "user": _account("octo-ada"), "labels": [], "assignees": [],
            "locked": False, "comments": 0, "author_association": "MEMBER", "created_at": "2026-11-23T22:00:00Z",
            "updated_at": "2026-11-24T09:30:00Z", **other,
        }  # fmt: skip
        if pull:
            issue["pull_request"] = dict.fromkeys(("url", "html_url", "diff_url", "patch_url"), url)
        self.issues[name.casefold()] = issue
        return issue

    def comment(self, text: str, *, by: str = "") -> None:
        """On each issue. Without *by* of a deleted account."""
        urls = dict.fromkeys(
            ("url", "html_url", "issue_url"), "https://api.github.com/repos/acme/api/issues/1"
        )
        at = dict.fromkeys(("created_at", "updated_at"), "2026-11-24T09:00:00Z")
        user = _account(by) if by else None
        self.comments.append({"id": 7, "node_id": "C_7", "body": text, "user": user, **urls, **at})

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
        for operation in OPERATIONS:
            method, path = operation.split(" ")
            found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path), request.path)
            if found and method == request.method:
                break
        else:
            self.breaches.append(f"no such operation: {self.asked[-1]}")
            return web.json_response({}, status=404)
        given = await request.json() if request.can_read_body else None
        self.breaches += self._wrong(request, given)
        asked = Exchange(operation, found.groupdict(), request.query, given)
        status, answer, headers = self._answered(asked, request.headers.get("Authorization", ""))
        self.said.append(asked._replace(status=status, answer=answer))
        if operation == CREATE and self.drops_answer:
            self.drops_answer = False
            assert request.transport
            request.transport.abort()
        limits = {"Limit": "5000", "Remaining": "4999", "Reset": "1795474800"}
        usual = {f"X-RateLimit-{name}": value for name, value in limits.items()}
        return web.json_response(answer, status=status, headers={**usual, **headers})

    def _answered(self, asked: Exchange, authorization: str) -> tuple[int, Any, Mapping[str, str]]:
        token = authorization.removeprefix("Bearer ")
        if not (_is_app(token) if asked.operation in OF_APP else token in self.tokens):
            return 401, _refusal("Bad credentials"), {}
        if failure := next((one for one in self.failures if one.on in {"", asked.operation}), None):
            self.failures.remove(failure)
            return failure.status, _refusal(failure.message), failure.headers
        return *self._done(*asked[:4]), {}

    def _done(
        self, operation: str, path: Mapping[str, str], query: Mapping[str, str], given: Any
    ) -> tuple[int, Any]:
        repository = "/".join([*path.values()][:2])
        known = self.issues.get(f"{repository}#{path.get('issue_number')}".casefold())
        if operation in OF_APP:
            return self._done_by_app(operation, repository, given)
        if operation == LIMITS:
            rate = dict.fromkeys(("limit", "remaining", "reset", "used"), 1)
            return 200, {"rate": rate, "resources": dict.fromkeys(("core", "search"), rate)}
        if operation == REPOSITORY:
            return 200, _repository(repository, is_private=repository in self.private)
        if operation == LIST:
            return 200, self._listed(repository, query)
        if operation == COMMENTS:
            return 200, self.comments[: int(query.get("per_page", "30"))]
        if operation == CREATE:
            return self._created(repository, given)
        if known is None:
            return 404, _refusal("Not Found")
        known |= {**given, "updated_at": now()} if given else {}
        return 200, dict(known)

    def _done_by_app(self, operation: str, repository: str, given: Any) -> tuple[int, Any]:
        urls = dict.fromkeys(("access_tokens_url", "external_url", "html_url", "repositories_url"), self.url)
        at = dict.fromkeys(("created_at", "updated_at"), "2026-11-23T22:00:00Z")
        told = {"id": 7, "permissions": {"issues": "write"}, "events": [], **urls, **at}
        if operation == SEEN:
            return 200, {
                **told,
                "node_id": "A_7",
                "owner": _account("acme"),
                "name": "Ours",
                "description": None,
            }
        if operation == INSTALLED and repository in self.installed:
            none = dict.fromkeys(("single_file_name", "suspended_at", "suspended_by"))
            where = {"target_id": 7, "target_type": "Organization", "account": _account("acme")}
            return 200, {**told, **where, **none, "app_id": 1, "app_slug": "x", "repository_selection": "all"}
        if operation == INSTALLED or not {f"acme/{one}" for one in given["repositories"]} <= self.installed:
            return 404, _refusal("Not Found")
        token = f"ghs_{len(self.tokens):036}"
        self.tokens.add(token)
        expires = datetime.now(UTC) + timedelta(seconds=self.lasts)
        return 201, {"token": token, "expires_at": expires.isoformat(timespec="seconds")}

    def _created(self, repository: str, given: dict[str, Any]) -> tuple[int, Any]:
        if not given["title"]:
            return 422, _refusal("Validation Failed")
        number = max([0, *(one["number"] for one in self.of(repository))]) + 1
        labels = [{"name": one} for one in given.get("labels", ())]
        more: dict[str, Any] = {"labels": labels, "created_at": now(), "updated_at": now()}
        made = self.add(f"{repository}#{number}", given["title"], given.get("body"), **more)
        self.after_create()
        return 201, dict(made)

    def _listed(self, repository: str, query: Mapping[str, str]) -> list[dict[str, Any]]:
        wanted, since = query.get("state", "open"), query.get("since", "")
        by = f"{query.get('sort', 'created')}_at"
        found = (one for one in self.of(repository) if wanted in {"all", one["state"]})
        rows = [dict(one) for one in found if one["updated_at"] >= since]
        rows.sort(key=lambda one: (one[by], one["number"]), reverse=query.get("direction", "desc") == "desc")
        size, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
        return rows[(page - 1) * size : page * size]

    @staticmethod
    def _wrong(request: web.Request, given: Any) -> Iterator[str]:
        """What the description does not say."""
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": VERSION}
        if given is not None:
            headers["Content-Type"] = "application/json"
            if len(given.get("title") or "") > MOST_TITLE or len(given.get("body") or "") > MOST_BODY:
                yield "too long"
        for name, wanted in headers.items():
            if request.headers.get(name) != wanted:
                yield f"{name}: {request.headers.get(name)}"
        if not request.headers.get("User-Agent"):
            yield "no User-Agent"
        if int(request.query.get("per_page", "1")) > MOST_ROWS:
            yield "too many rows"


def _is_app(token: str) -> bool:
    """GitHub refuses what is of tomorrow, or lasts more than ten minutes."""
    try:
        claims = jwt.decode(token, app_key().public_key(), ["RS256"], issuer=APP)
    except jwt.PyJWTError:
        return False
    return bool(claims["exp"] - datetime.now(UTC).timestamp() <= 600)


def _refusal(message: str) -> dict[str, str]:
    return {"message": message, "documentation_url": "https://docs.github.com/rest"}


def _account(login: str) -> dict[str, Any]:
    url = f"https://api.github.com/users/{login}"
    names = "avatar events followers following gists html organizations received_events repos starred subscriptions"
    urls = dict.fromkeys((f"{one}_url" for one in names.split()), url)
    more = {"node_id": "U_7", "gravatar_id": "", "type": "User", "site_admin": False, "url": url}
    return {"login": login, "id": 7, **more, **urls}


def _repository(name: str, *, is_private: bool) -> dict[str, Any]:
    owner, _, short = name.partition("/")
    urls = (
        "archive assignees blobs branches clone collaborators comments commits compare contents contributors"
        " deployments downloads events forks git git_commits git_refs git_tags hooks html issue_comment issue_events"
        " issues keys labels languages merges milestones notifications pulls releases ssh stargazers statuses"
        " subscribers subscription svn tags teams trees"
    )
    flags = "archived disabled fork has_discussions has_issues has_pages has_projects has_wiki"
    counts = "forks forks_count network_count open_issues open_issues_count size stargazers_count subscribers_count"
    return {
        "id": 1, "node_id": "R_1", "name": short, "full_name": name, "owner": _account(owner), "private": is_private,
        "url": f"https://api.github.com/repos/{name}", "default_branch": "main",
        **dict.fromkeys((f"{one}_url" for one in urls.split()), f"https://api.github.com/repos/{name}"),
        **dict.fromkeys(flags.split(), False),
        **dict.fromkeys((*counts.split(), "watchers", "watchers_count"), 0),
        **dict.fromkeys(("description", "homepage", "language", "license", "mirror_url")),
        **dict.fromkeys(("created_at", "pushed_at", "updated_at"), "2026-11-23T22:00:00Z"),
    }  # fmt: skip


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
    description = described()
    if isinstance(description, GitHubDescription):
        github.breaches += [fault for one in github.said for fault in description.faults(one)]
    assert github.breaches == []
