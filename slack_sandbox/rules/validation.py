"""What Slack refuses before it looks at anything else: the content of a message or a view."""

import json
import re
from typing import Any

from slack_sandbox.messages import JSON
from slack_sandbox.rules.blocks import BLOCK_TEXT, block_text, message_problems, view_problems
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.rules.shapes import ShapeProblem, size

TEXT_SHOWN = 40_000
UPDATE_TEXT = 4_000
MARKDOWN_TEXT = 12_000
VIEW_BYTES = 250_000
METADATA_BYTES = 16_000
"""Slack's limit is not published; this is generous."""

MOST_ATTACHMENTS = 100
SCALARS = str | int | float | bool
EVENT_TYPE = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


def check_content(args: JSON) -> None:
    """Text, blocks and metadata of a message."""
    text, blocks = args.get("text"), args.get("blocks")
    if markdown := args.get("markdown_text"):
        _check_markdown(args, markdown)
    if not text and not blocks and not markdown and not args.get("attachments"):
        raise SlackRefused("no_text")
    if text is not None and not isinstance(text, str):
        raise SlackRefused("invalid_arguments", messages=["[ERROR] must be a string [json-pointer:/text]"])
    if isinstance(attachments := args.get("attachments"), list) and len(attachments) > MOST_ATTACHMENTS:
        raise SlackRefused("too_many_attachments")
    if blocks is not None:
        check_blocks(blocks)
    if metadata := args.get("metadata"):
        check_metadata(metadata)


def check_blocks(blocks: Any) -> None:
    if not isinstance(blocks, list):
        raise SlackRefused("invalid_blocks_format")
    _refuse("invalid_blocks", message_problems(blocks))
    if block_text(blocks) > BLOCK_TEXT:
        raise SlackRefused("msg_blocks_too_long")


def check_view(view: Any) -> None:
    if not isinstance(view, dict):
        raise SlackRefused("invalid_arguments", messages=["[ERROR] must be an object [json-pointer:/view]"])
    if len(json.dumps(view).encode()) > VIEW_BYTES:
        raise SlackRefused("view_too_large")
    _refuse("invalid_arguments", view_problems(view))


def check_metadata(metadata: Any) -> None:
    if not isinstance(metadata, dict) or set(metadata) - {"event_type", "event_payload"}:
        raise SlackRefused("invalid_metadata_format")
    event_type, payload = metadata.get("event_type"), metadata.get("event_payload")
    named = isinstance(event_type, str) and EVENT_TYPE.fullmatch(event_type)
    if not named or not isinstance(payload, dict):
        raise SlackRefused("invalid_metadata_format")
    if not all(_is_shallow(value) for value in payload.values()):
        raise SlackRefused("invalid_metadata_format")
    if len(json.dumps(metadata).encode()) > METADATA_BYTES:
        raise SlackRefused("metadata_too_large")


def _check_markdown(args: JSON, markdown: Any) -> None:
    if args.get("text") or args.get("blocks"):
        raise SlackRefused("markdown_text_conflict")
    if size(str(markdown)) > MARKDOWN_TEXT:
        raise SlackRefused("msg_too_long")


def _is_shallow(value: Any) -> bool:
    """Scalars, one object of scalars, or a list of either."""
    if isinstance(value, list):
        return all(_is_flat(item) for item in value)
    return _is_flat(value)


def _is_flat(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(item, SCALARS) for item in value.values())
    return isinstance(value, SCALARS)


def _refuse(error: str, problems: list[ShapeProblem]) -> None:
    if problems:
        raise SlackRefused(
            error,
            messages=[str(problem) for problem in problems],
            errors=[problem.sentence for problem in problems],
        )
