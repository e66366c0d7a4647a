"""A Web API request arrives as a query, a form or JSON; a handler sees one kind of arguments."""

import json
from typing import Any

from aiohttp import web

from bot.sandbox.messages import JSON
from bot.sandbox.refusal import Refused

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


async def arguments(request: web.Request) -> JSON:
    args: JSON = dict(request.query)
    if request.content_type == "application/json":
        args |= await _json_body(request)
    elif request.method == "POST":
        args |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return {name: _structured(name, value) for name, value in args.items() if value is not None}


def token(request: web.Request, args: JSON) -> str:
    """From the header, else from the arguments, where it does not stay."""
    inside = str(args.pop("token", ""))
    header = request.headers.get("Authorization", "")
    return header.removeprefix(BEARER) if header.startswith(BEARER) else inside


async def _json_body(request: web.Request) -> JSON:
    if not (text := await request.text()):
        return {}
    try:
        body = json.loads(text)
    except ValueError:
        raise Refused("invalid_json") from None
    if not isinstance(body, dict):
        raise Refused("json_not_object")
    return body


def _structured(name: str, value: Any) -> Any:
    if name not in STRUCTURED or not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else None
    except ValueError:
        raise Refused(STRUCTURED[name]) from None
