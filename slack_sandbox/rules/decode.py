"""A Web API request arrives as a query, a form or JSON; a handler sees one kind of arguments."""

import json
from typing import Any

from aiohttp import web

from slack_sandbox.messages import JSON
from slack_sandbox.rules.refusal import SlackRefused

STRUCTURED = {
    "blocks": "invalid_blocks_format",
    "metadata": "invalid_metadata_format",
    "view": "invalid_arguments",
    "files": "invalid_arguments",
    "message": "invalid_arguments",
    "attachments": "invalid_arguments",
}
"""Arguments that are JSON inside a form, and how Slack refuses them when they are not."""

BEARER = "Bearer "

AS_JSON = "application/json"
AS_FORM = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


async def arguments(request: web.Request, *, by_form: bool = False) -> JSON:
    """Of a method that takes its arguments *by_form*, JSON is not even looked at: it then lacks what it needs."""
    args: JSON = dict(request.query)
    if request.method == "POST" and request.can_read_body:
        args |= await _body(request, by_form=by_form)
    return {name: _structured(name, value) for name, value in args.items() if value is not None}


def token(request: web.Request, args: JSON, *, by_header: bool) -> str:
    """
    From the header, else from the arguments, which lose it. Arguments can be written into a link, which another page
    may make a browser follow: with *by_header* a token in the arguments does not count.
    """
    inside = str(args.pop("token", ""))
    header = request.headers.get("Authorization", "")
    if header.startswith(BEARER):
        return header.removeprefix(BEARER)
    return "" if by_header else inside


async def _body(request: web.Request, *, by_form: bool) -> JSON:
    if "Content-Type" not in request.headers:
        raise SlackRefused("missing_post_type")
    if request.content_type == AS_JSON:
        return {} if by_form else await _json_body(request)
    if request.content_type not in AS_FORM:
        raise SlackRefused("invalid_post_type")
    return {name: value for name, value in (await request.post()).items() if isinstance(value, str)}


async def _json_body(request: web.Request) -> JSON:
    if not (text := await request.text()):
        return {}
    try:
        body = json.loads(text)
    except ValueError:
        raise SlackRefused("invalid_json") from None
    if not isinstance(body, dict):
        raise SlackRefused("json_not_object")
    return body


def _structured(name: str, value: Any) -> Any:
    if name not in STRUCTURED or not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else None
    except ValueError:
        raise SlackRefused(STRUCTURED[name]) from None
