"""Where a message stands in Slack, as far as it follows from where its thread does."""

import re

_THREAD = re.compile(r"(https?://[A-Za-z0-9.-]+(?::\d+)?)/archives/([A-Z0-9]+)/p(\d{10,16})")
_STAMP = re.compile(r"\d{7,10}\.\d{6}")


def thread(permalink: str) -> re.Match[str] | None:
    """None for what is no permalink of Slack's."""
    return _THREAD.fullmatch(permalink)


def of_message(held_in: re.Match[str] | None, channel: str, ts: str) -> str:
    """Empty for a message that is not in that channel, or has no stamp, and where the thread is not known."""
    host, its_channel, root = held_in.groups() if held_in else ("", "", "")
    if not host or channel != its_channel or not _STAMP.fullmatch(ts):
        return ""
    return f"{host}/archives/{channel}/p{ts.replace('.', '')}?thread_ts={root[:-6]}.{root[-6:]}&cid={channel}"


def of_line(held_in: re.Match[str] | None, line: str) -> str:
    """Of what a person wrote: the id of its line is made of channel and stamp."""
    channel, _, ts = line.partition(".")
    return of_message(held_in, channel, ts)
