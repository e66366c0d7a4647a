"""What people read who asked for the record, for what a roundtable has so far, or for what was decided."""

from collections.abc import Iterator, Sequence

from bot.domain.messages.entry_wording import LINE_CHARS, Titles, fact, fate
from bot.domain.messages.message import Link, Message
from bot.domain.specification.brief import Brief, BriefRow
from bot.domain.specification.shown import ShownEntry
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, listed, one_line

RECORD = "planning/meeting.jsonl"
ITEMS_NAMED = 5

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
        f"It is kept in the workspace{_in_folder(slug)}"
    )


def kept_only(title: str, slug: str) -> str:
    """The roundtable is not running, so there is no thread of ours to post into."""
    return (
        f"**{title}** is not running. Its record is only in the workspace{_in_folder(slug)} "
        f"After `/roundtable resume {slug}` I can put it into the thread."
    )


def _in_folder(slug: str) -> str:
    return (
        f", as `{RECORD}` in the folder of `{slug}`. "
        f"`roundtable replay {slug} --html {slug}.html` makes a page of it that opens in any browser."
    )


# --- what a roundtable has so far


def so_far(title: str, done: int, steps: int, brief: Brief, *, link: str = "") -> Message:
    """The brief, in the size of a page."""
    rows = [f"**{escaped(one_line(title))}**: {done} of {counted(steps, 'step')} done."]
    for section in brief.whole():
        rows += [f"\n**{section.title}**", *(row for one in section.rows for row in _brief_rows(one))]
    if brief.is_empty:
        rows.append("Nothing is recorded yet.")
    note = "Only you see this." if brief.is_empty else "Only you see this. `read 01-06` shows all of a step."
    links = (Link(label="Open the thread", url=link),) if link else ()
    return Message(text="\n".join(rows), note=note, links=links)


def _brief_rows(row: BriefRow, indent: str = "") -> Iterator[str]:
    label = f"{row.label}: " if row.label else ""
    yield f"{indent}- {label}{escaped(row.text)}"
    for one in row.below:
        yield from _brief_rows(one, f"{indent}  ")


def which_item(slugs: Sequence[str], command: str) -> str:
    """*command* takes an item: `review`, or `read so far`."""
    if not slugs:
        return f"There is no item in this channel. Name one: `/roundtable {command} SLUG`."
    known = listed([f"`{slug}`" for slug in slugs[:ITEMS_NAMED]])
    return f"Which item? Say it, as in `/roundtable {command} {slugs[0]}`. There are {known}."


# --- what was decided


DECISIONS_SHOWN = 10
WORDS_CHARS = 60


def decisions_found(found: Sequence[ShownEntry], words: str, titles: Titles, *, unread: int = 0) -> Message:
    """*unread*: how many items there was no time for."""
    about = f" about `{one_line(words, WORDS_CHARS).replace('`', '')}`" if words.strip() else ""
    rows = [
        f"{counted(len(found), 'decision')}{about}, the newest first:"
        if found
        else f"No decision{about} was found."
    ]
    rows += [f"- {_decision_row(one, titles)}" for one in found[:DECISIONS_SHOWN]]
    if len(found) > DECISIONS_SHOWN:
        rows.append(f"And {len(found) - DECISIONS_SHOWN:,} more. Add a word: `decisions redis`.")
    if unread:
        rows.append(
            f"{counted(unread, 'item')} could not be read in time. Name one of its words and ask again."
        )
    links = (
        Link(label=f"{one.id}: {titles[one.item]}", url=one.link)
        for one in found[:DECISIONS_SHOWN]
        if one.link
    )
    return Message(text="\n".join(rows), links=tuple(links))


def _decision_row(one: ShownEntry, titles: Titles) -> str:
    why, replaces = fact(one, "reason"), fact(one, "replaces")
    about = [
        f"{escaped(one_line(titles[one.item]))} (`{one.item}`)",
        " ".join(part for part in (escaped(one.attribution), one.at[:10]) if part),
        f"because {escaped(one_line(why, LINE_CHARS))}" if why else "",
        f"replaces {escaped(replaces)}" if replaces else "",
        fate(one),
    ]
    text = escaped(one_line(one.text, LINE_CHARS))
    return f"**{one.id}** {text} – {'; '.join(part for part in about if part)}"
