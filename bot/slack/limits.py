"""
What Slack refuses, by name: https://docs.slack.dev/reference/block-kit

Lengths are counted as JavaScript counts them, in UTF-16 units; that is never less than what Python counts.
"""

SECTION_CHARS = 3_000
CONTEXT_ELEMENTS = 10
MESSAGE_BLOCKS = 50
MESSAGE_CHARS = 10_000
"""Over all blocks. Slack's own limit is not documented; messages of 11,341 characters have been refused."""

UPDATE_TEXT_CHARS = 4_000
ACTIONS_ELEMENTS = 25
LABEL_CHARS = 75
VALUE_CHARS = 2_000
ID_CHARS = 255
URL_CHARS = 3_000


def size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
