"""
Another server that speaks Slack's protocol, written from Slack's documents alone: nothing of the sandbox is in it.

It promises what they promise and no more. Every answer is `odd`; some come late, compressed, or on a connection that
is closed afterwards; pages hold fewer messages than were asked for, and each begins with the root.
"""

import asyncio
import gzip
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.other.odd import JSON, odd
from tests.other.published import LISTS, PUBLISHED

TEAM, ENTERPRISE, APP, BOT, BOT_USER = "T9OTHER", "E9OTHER", "A9OTHER", "B9OTHER", "U9BOT"
CHANNEL = "C9OTHER"
BOT_TOKEN, APP_TOKEN, SECRET = "xoxb-other-1", "xapp-other-1", "0123456789abcdef0123456789abcdef"
A_PAGE = 3
LATE_SECONDS = 0.2
SCOPES = (
    "app_mentions:read,channels:history,channels:read,chat:write,chat:write.customize,commands,files:write,"
    "groups:history,groups:read,im:write,reactions:write,users:read"
)

USERS: Mapping[str, JSON] = {
    "U9ADA": {
        "name": "ada",
        "real_name": "Ada Byron",
        "profile": {"display_name": "", "real_name": "Ada Byron"},
    },
    "U9GONE": {
        "name": "gone",
        "deleted": True,
        "profile": {"real_name": "Grace, who left", "display_name": None},
    },
    "U9BARE": {"name": "bare", "profile": None},
    "U9NEAR": {"real_name": "Linus", "team_id": "T9NEAR", "enterprise_user": {"enterprise_id": ENTERPRISE}},
    "U9FAR": {"real_name": "Mallory", "team_id": "T9FAR", "enterprise_user": {"enterprise_id": "E9FAR"}},
}


@dataclass
class Asked:
    method: str
    args: JSON
    verb: str


@dataclass
class Instead:
    """What is answered to the next call of *method*; *done* tells whether the call has its effect all the same."""

    method: str
    answer: Callable[[], web.StreamResponse]
    done: bool = False


class Refusal(Exception):
    pass


@dataclass
class OtherSlack:
    """`url` is known once it is served. `say_url` is what its websocket addresses look like."""

    url: str = ""
    messages: list[JSON] = field(default_factory=list)
    whispers: list[JSON] = field(default_factory=list)
    reactions: list[tuple[str, str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    instead: list[Instead] = field(default_factory=list)
    tickets: set[str] = field(default_factory=set)
    hides_metadata: bool = False
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.route("*", "/api/{method}", self.api),
            web.post("/hooks/{address}", self.hook),
            web.post("/up/{file}", self.upload),
        )

    # --- what there is --------------------------------------------------------------------------------------------

    def stamp(self) -> str:
        """Four digits behind the point where Slack has six: nobody promised how many."""
        return f"1767261600.{next(self._numbers):04d}"

    def thread(self, root: str) -> list[JSON]:
        return [one for one in self.messages if root in {one["ts"], one.get("thread_ts")}]

    def keys(self) -> list[str]:
        notes = [one["metadata"]["event_payload"] for one in self.messages if one.get("metadata")]
        return [note["key"] for note in notes]

    # --- the Web API ----------------------------------------------------------------------------------------------

    async def api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        args = await _arguments(request, method)
        self.asked.append(Asked(method, args, request.method))
        planned = next((one for one in self.instead if one.method == method), None)
        if planned:
            self.instead.remove(planned)
            if planned.done:
                self._done(method, args, request)
            return planned.answer()
        answer = self._done(method, args, request)
        if len(self.asked) % 4 == 0:
            await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=LATE_SECONDS)
        return _answer(answer, number=len(self.asked), zipped="gzip" in request.headers["Accept-Encoding"])

    def _done(self, method: str, args: JSON, request: web.Request) -> JSON:
        wanted = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if request.headers.get("Authorization") != f"Bearer {wanted}":
            return {"ok": False, "error": "invalid_auth"}
        handler = getattr(self, "_" + method.replace(".", "_").lower(), None)
        try:
            return {"ok": True, **handler(args)} if handler else {"ok": False, "error": "unknown_method"}
        except Refusal as refusal:
            return {"ok": False, "error": str(refusal)}

    def _auth_test(self, _args: JSON) -> JSON:
        return {
            "url": self.url,
            "team_id": TEAM,
            "enterprise_id": ENTERPRISE,
            "user": None,
            "user_id": BOT_USER,
            "bot_id": BOT,
            "expires_in": None,
        }

    def _apps_connections_open(self, _args: JSON) -> JSON:
        ticket = f"t{next(self._numbers)}"
        self.tickets.add(ticket)
        address = self.url.replace("http", "ws", 1)
        return {"url": f"{address}/link/?ticket={ticket}&app_id={APP}&debug=%2Fa%3Db&x="}

    def _chat_postmessage(self, args: JSON) -> JSON:
        named = {"username": args["username"], "subtype": "bot_message"} if args.get("username") else {}
        message = {
            "type": "message",
            **(named or {"user": BOT_USER}),
            "bot_id": BOT,
            "app_id": APP,
            "channel": args["channel"],
            "ts": self.stamp(),
            "text": args["text"],
            **{name: args[name] for name in ("blocks", "metadata") if args.get(name)},
        }
        thread = args.get("thread_ts")
        if thread and self.thread(thread):
            message["thread_ts"] = thread
        self.messages.append(message)
        return {"channel": args["channel"], "ts": message["ts"], "message": self._shown(message)}

    def _shown(self, message: JSON) -> JSON | None:
        """`message` need not be in an answer, nor all of it."""
        return [message, None, {"text": message["text"]}][len(self.messages) % 3]

    def _chat_delete(self, args: JSON) -> JSON:
        self.messages.remove(self._message(args["ts"]))
        return args

    def _chat_update(self, args: JSON) -> JSON:
        message = self._message(args["ts"])
        message |= {
            "text": args["text"],
            "blocks": args["blocks"],
            "edited": {"user": BOT_USER, "ts": self.stamp()},
        }
        return {"channel": args["channel"], "ts": args["ts"], "text": args["text"], "message": message}

    def _chat_postephemeral(self, args: JSON) -> JSON:
        self.whispers.append({"user": args["user"], "text": args["text"]})
        return {"message_ts": self.stamp()}

    def _chat_getpermalink(self, args: JSON) -> JSON:
        return {"channel": args["channel"], "permalink": f"{self.url}/archives/p{args['message_ts']}"}

    def _conversations_info(self, args: JSON) -> JSON:
        return {"channel": {"id": args["channel"], "name": "other", "is_channel": True, "is_private": False}}

    def _conversations_list(self, args: JSON) -> JSON:
        """A page may be empty, and not be the last."""
        pages: Mapping[str, list[JSON]] = {
            "": [],
            "a=": [{"id": "C9X"}],
            "b=": [{"id": CHANNEL, "name": "other"}],
        }
        cursor = args.get("cursor") or ""
        return {
            "channels": pages[cursor],
            "response_metadata": {"next_cursor": {"": "a=", "a=": "b="}.get(cursor)},
        }

    def _conversations_open(self, args: JSON) -> JSON:
        return {"no_op": True, "already_open": True, "channel": {"id": "D" + args["users"][1:]}}

    def _conversations_history(self, args: JSON) -> JSON:
        roots = [one for one in self.messages if one.get("thread_ts") in {None, one["ts"]}]
        return self._paged(roots[::-1], args)

    def _conversations_replies(self, args: JSON) -> JSON:
        if not self.thread(args["ts"]):
            raise Refusal("thread_not_found")
        root, *replies = self.thread(args["ts"])
        after = [one for one in replies if one["ts"] > (args.get("oldest") or "")]
        paged = self._paged(after, args)
        counted = {**root, "reply_count": len(replies), "thread_ts": root["ts"], "latest_reply": None}
        return {**paged, "messages": [self._as_read(counted), *paged["messages"]]}

    def _paged(self, messages: list[JSON], args: JSON) -> JSON:
        start = int(str(args.get("cursor") or "at:0=").strip("at:="))
        end = start + min(A_PAGE, int(args.get("limit") or A_PAGE))
        more = end < len(messages)
        return {
            "messages": [self._as_read(one) for one in messages[start:end]],
            "has_more": more,
            "response_metadata": {"next_cursor": f"at:{end}="} if more else None,
        }

    def _as_read(self, message: JSON) -> JSON:
        return {**message, "metadata": None} if self.hides_metadata else message

    def _users_info(self, args: JSON) -> JSON:
        if args["user"] not in USERS:
            raise Refusal("user_not_visible")
        return {"user": {"id": args["user"], "team_id": TEAM, **USERS[args["user"]]}}

    def _reactions_add(self, args: JSON) -> JSON:
        self.reactions.append((args["timestamp"], args["name"]))
        return {}

    def _reactions_remove(self, args: JSON) -> JSON:
        if (args["timestamp"], args["name"]) not in self.reactions:
            raise Refusal("no_reaction")
        self.reactions.remove((args["timestamp"], args["name"]))
        return {}

    def _files_getuploadurlexternal(self, args: JSON) -> JSON:
        file = f"F{next(self._numbers)}"
        return {
            "file_id": file,
            "upload_url": f"{self.url}/up/{file}?signed=%2B%2F%3D&length={args['length']}",
        }

    def _files_completeuploadexternal(self, args: JSON) -> JSON:
        files = args["files"]
        if not all(one["id"] in self.files for one in files):
            raise Refusal("file_not_found")
        about = {
            "bot_id": BOT,
            "user": BOT_USER,
            "subtype": "file_share",
            "files": files,
            "channel": args["channel_id"],
        }
        text, thread = args["initial_comment"], args["thread_ts"]
        self.messages.append(
            {"type": "message", "ts": self.stamp(), "text": text, "thread_ts": thread, **about}
        )
        return {"files": [{"id": one["id"], "title": None} for one in files]}

    def _message(self, ts: str) -> JSON:
        found = next((one for one in self.messages if one["ts"] == ts), None)
        if found is None:
            raise Refusal("message_not_found")
        return found

    # --- its other addresses --------------------------------------------------------------------------------------

    async def hook(self, request: web.Request) -> web.Response:
        body = json.loads(await request.text())
        self.whispers.append({"user": request.match_info["address"], "text": body["text"]})
        return web.json_response({"ok": True}, headers={"Connection": "close"})

    async def upload(self, request: web.Request) -> web.Response:
        content = await request.read()
        if str(len(content)) != request.query["length"]:
            raise web.HTTPBadRequest
        self.files[request.match_info["file"]] = content
        return web.Response(text=f"OK - {len(content)}")


async def _arguments(request: web.Request, method: str) -> JSON:
    """As Slack reads them: from JSON only where it says so."""
    args: JSON = dict(request.query)
    if request.content_type != "application/json":
        args |= dict(await request.post())
        return {name: json.loads(value) if name in LISTS else value for name, value in args.items()}
    known = PUBLISHED.get(method)
    return {**args, **(await request.json() if known and known.reads_json else {})}


def _answer(answer: JSON, *, number: int, zipped: bool) -> web.Response:
    told = odd({**answer, "warning": "superfluous_charset"})
    told["response_metadata"] = {**(told.get("response_metadata") or {}), "warnings": ["superfluous_charset"]}
    body = json.dumps(told).encode()
    headers = {"X-OAuth-Scopes": SCOPES, "Content-Type": "application/json; charset=utf-8"}
    if zipped and number % 2:
        body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
    if number % 3 == 0:
        headers["Connection"] = "close"
    return web.Response(body=body, headers=headers)
