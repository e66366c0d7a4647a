"""What people read about the record that they asked for."""

from collections.abc import Sequence

from bot.domain.messages.step_wording import listed

RECORD = "planning/meeting.jsonl"

NOT_OPEN_YET = "The thread is not open yet. Ask for the record again in a moment."


def on_its_way(title: str) -> str:
    return f"The record of **{title}** is on its way into the thread."


def shared(title: str, *, names: Sequence[str]) -> str:
    """Stands above the files; their names are how it is recognised after a crash."""
    files = listed([f"`{name}`" for name in names])
    return f"The record of **{title}**, to keep: {files}. The page works offline in any browser."


def text_title(title: str) -> str:
    return f"{title} – record"


def page_title(title: str) -> str:
    return f"{title} – record with timeline and filters"


def kept(title: str, slug: str, *, why: str) -> str:
    return (
        f"I could not put the record of **{title}** into the thread. {why}\n"
        f"It is kept in the workspace, as `{RECORD}` in the folder of `{slug}`. "
        f"`roundtable replay {slug} --html {slug}.html` makes a page of it that opens in any browser."
    )


def kept_only(title: str, slug: str) -> str:
    """The roundtable is not running, so there is no thread of ours to post into."""
    return (
        f"**{title}** is not running. Its record is only in the workspace, as `{RECORD}` in the folder of `{slug}`. "
        f"`roundtable replay {slug} --html {slug}.html` makes a page of it that opens in any browser. "
        f"After `/roundtable resume {slug}` I can put it into the thread."
    )
