"""
The SDK's client, with a shorter way to Slack for the calls that a discussion makes.

For each call the SDK writes two lines of log that nobody reads, prepares to try again, which we forbid, and takes
URLs apart: together as much CPU as aiohttp needs to send the request and read the answer. What goes over the wire and
what comes back is the same. Whatever is unusual (files, a token of its own) goes the SDK's way.
"""

import json as jsons
from collections.abc import Mapping
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

JSON = "application/json"
AS_JSON = "application/json;charset=utf-8"
AS_QUERY = "application/x-www-form-urlencoded"


class DirectClient(AsyncWebClient):
    """Needs a session. Nothing is tried again."""

    async def api_call(
        self,
        api_method: str,
        *,
        http_verb: str = "POST",
        json: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
        **unusual: Any,
    ) -> AsyncSlackResponse:
        given = params if json is None else json
        if (
            given is None
            or (http_verb != "POST" and json is not None)
            or "token" in given
            or self.default_params
            or any(unusual.values())
        ):
            return await super().api_call(
                api_method, http_verb=http_verb, json=json, params=params, **unusual
            )
        body = jsons.dumps(json).encode() if json is not None else None
        return await self._asked(http_verb, api_method, body=body, query=_query(params or {}))

    async def _asked(
        self, verb: str, method: str, *, body: bytes | None, query: Mapping[str, Any]
    ) -> AsyncSlackResponse:
        assert self.session, "there is one for as long as the client is open"
        url = self.base_url + method
        sent = {
            "Content-Type": AS_QUERY if body is None else AS_JSON,
            "Authorization": f"Bearer {self.token}",
            **self.headers,
        }
        async with self.session.request(verb, url, data=body, params=query, headers=sent) as answer:
            said = await answer.read()
        try:
            content = jsons.loads(said) if answer.content_type == JSON else {}
        except ValueError as error:
            raise SlackApiError(f"The answer of {method} is no JSON", answer) from error
        heard = AsyncSlackResponse(
            client=self,
            http_verb=verb,
            api_url=url,
            req_args={},
            data=content if isinstance(content, dict) else {},
            headers=answer.headers,  # type: ignore[arg-type]  # a mapping, and all that is asked of it
            status_code=answer.status,
        )
        heard.validate()
        return heard


def _query(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: int(value) if isinstance(value, bool) else value
        for name, value in given.items()
        if value is not None
    }
