"""The Web API over HTTP: tokens, scopes and planned faults around the table of methods."""

import asyncio
from dataclasses import dataclass, field

from aiohttp import web

from slack_sandbox.faults import Fault, Faults
from slack_sandbox.guard import is_own_page
from slack_sandbox.messages import JSON
from slack_sandbox.methods import METHODS, READING, Call, Method
from slack_sandbox.pulse import ActivitySignal
from slack_sandbox.rules import decode
from slack_sandbox.rules.limits import RateLimits
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.slack import Slack


def _unknown(_slack: Slack, call: Call) -> JSON:
    raise SlackRefused("unknown_method", req_method=call.method)


UNKNOWN = Method(_unknown, public=True)


@dataclass(slots=True)
class ApiCall:
    """One call the sandbox received. *answer* is what the method said, even if a fault kept it from the app."""

    method: str
    args: JSON
    at: float
    answer: JSON = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return bool(self.answer.get("ok"))

    @property
    def error(self) -> str:
        return str(self.answer.get("error", ""))


class Api:
    def __init__(
        self, slack: Slack, *, faults: Faults, pulse: ActivitySignal, limits: RateLimits | None
    ) -> None:
        self._slack = slack
        self._faults = faults
        self._pulse = pulse
        self._limits = limits
        self._late: set[asyncio.TimerHandle] = set()
        self.calls: list[ApiCall] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            args = await decode.arguments(request, by_form=METHODS.get(method, UNKNOWN).by_form)
        except SlackRefused as refusal:
            return self._response(method, refusal.as_json())
        by_header = method not in READING and not is_own_page(request)
        call = Call(method, args, decode.token(request, args, by_header=by_header))
        seen = ApiCall(method, args, self._slack.workspace.clock.now())
        self.calls.append(seen)
        try:
            return await self._faulty(request, call, seen)
        finally:
            self._pulse.beat()

    async def _faulty(self, request: web.Request, call: Call, seen: ApiCall) -> web.StreamResponse:
        if self._limits and (seconds := self._limits.seconds_to_wait(call.method, call.text("channel"))):
            seen.answer = {"ok": False, "error": "ratelimited"}
            return _too_many(seconds)
        fault = self._faults.take(call.method, call.args)
        if fault is None:
            seen.answer = self._perform(call)
            return self._response(call.method, seen.answer)
        if fault.after:
            seen.answer = self._perform(call)
            self._pulse.beat()
        if fault.late:
            self._perform_late(call, seen, seconds=fault.late)
        await asyncio.sleep(fault.delay)
        if instead := _instead(fault, request):
            return instead
        if not fault.after:
            seen.answer = self._perform(call)
        return self._response(call.method, seen.answer)

    def _perform_late(self, call: Call, seen: ApiCall, *, seconds: float) -> None:
        def perform() -> None:
            self._late.discard(timer)
            seen.answer = self._perform(call)
            self._pulse.beat()

        timer = asyncio.get_running_loop().call_later(seconds, perform)
        self._late.add(timer)

    def close(self) -> None:
        for timer in self._late:
            timer.cancel()

    def _perform(self, call: Call) -> JSON:
        try:
            method = METHODS.get(call.method, UNKNOWN)
            self._authorize(method, call.token)
            if method.scopes:
                self._slack.need(*method.scopes)
            return {"ok": True, **method.handler(self._slack, call)}
        except SlackRefused as refusal:
            return refusal.as_json()

    def _authorize(self, method: Method, token: str) -> None:
        if method.public:
            return
        if not token:
            raise SlackRefused("not_authed")
        wanted, other = self._slack.app.bot_token, self._slack.app.app_token
        if method.app_level:
            wanted, other = other, wanted
        if token == other:
            raise SlackRefused("not_allowed_token_type")
        if token != wanted:
            raise SlackRefused("invalid_auth")
        if self._slack.token_error and not method.app_level:
            raise SlackRefused(self._slack.token_error)

    def _response(self, name: str, answer: JSON) -> web.Response:
        accepted = METHODS.get(name, UNKNOWN).scopes
        headers = {
            "X-OAuth-Scopes": ",".join(sorted(self._slack.scopes)),
            "X-Accepted-OAuth-Scopes": ",".join(accepted),
        }
        return web.json_response(answer, headers=headers)


def _instead(fault: Fault, request: web.Request) -> web.Response | None:
    """What the app gets in place of an answer; None when it is only kept waiting."""
    if fault.hang_up or (fault.late and not (fault.status or fault.error)):
        assert request.transport
        request.transport.abort()
        return web.Response()
    if fault.retry_after:
        return _too_many(fault.retry_after)
    if fault.status:
        body = fault.body or "<html><body>Server Error</body></html>"
        return web.Response(status=fault.status, text=body, content_type="text/html")
    if fault.error:
        return web.json_response({"ok": False, "error": fault.error})
    return None


def _too_many(seconds: float) -> web.Response:
    headers = {"Retry-After": f"{seconds:g}"}
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
