"""What people read about forgetting: what it does where, before and after."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bot.domain.values.text import counted

MOST_NUMBERS = 12
MOST_ITEMS = 20


_YOURS = "a copy elsewhere is yours to delete"


class PlaceRow(NamedTuple):
    """A place, and what happens there."""

    place: str
    what: str


def as_table(rows: Sequence[PlaceRow]) -> str:
    width = max(len(row.place) for row in rows)
    return "\n".join(f"  {row.place:<{width}}  {row.what}" for row in rows)


class PersonCount(NamedTuple):
    """
    What there is to do: *lines* by item, of the person, or with a quote of them; *live* are items in the store. *keys*
    are those of the person's agents; None where none are served.
    """

    keys: Sequence[str] | None
    items: tuple[str, ...]
    lines: int
    typed: Mapping[str, Sequence[int]]
    by_hand: Mapping[str, Sequence[str]]
    live: tuple[str, ...]
    earlier: int
    has_store: bool


def of_person(
    found: PersonCount, names: Sequence[str], *, words: bool, typed: bool, slack: bool, remote: bool
) -> tuple[PlaceRow, ...]:
    """*names* are what others may have typed."""
    files = f"written again in {_items(found.items)}"
    spoken = (
        f"{counted(found.lines, 'line')}: a mark takes the place of their words, and of quotes of them"
        if words
        else "no line changes: lines have ids only"
    )
    return (
        PlaceRow("people.json", "a number and the date take the place of the name"),
        PlaceRow("transcripts", spoken),
        PlaceRow("files, people's names", files),
        PlaceRow("typed by others", _typed(found.typed, names, replaced=typed)),
        *_by_hand(found.by_hand),
        PlaceRow("store", _store(found.live, has_store=found.has_store)),
        *_keys(found.keys),
        PlaceRow(
            "Slack",
            "the bot's posts in the threads of items are edited; what people wrote stays"
            if slack
            else "the bot's cards follow with their next edit; older posts stay, and --slack edits them; theirs stay",
        ),
        *_beyond(found.earlier, remote=remote),
        PlaceRow("exported files", f"those in git are written again; {_YOURS}, and so is an `export person`"),
    )


def count_edited_posts(posts: int, refused: int) -> str:
    left = f" Slack did not let {counted(refused, 'more post')} be edited." if refused else ""
    return f"{counted(posts, 'post')} of the bot in Slack edited.{left}"


def of_item(
    slug: str, *, files: int, exported: int, live: bool, earlier: int, remote: bool
) -> tuple[PlaceRow, ...]:
    return (
        PlaceRow("files", f"{counted(files, 'file')} of {slug} removed, and its part of the shared matrix"),
        PlaceRow("people.json", "stays: a name may be in other items (`forget person`)"),
        PlaceRow("store", "the item is removed" if live else "has nothing of it"),
        PlaceRow("Slack", "all stays; with --slack the bot's posts in the thread are deleted"),
        *_beyond(earlier, remote=remote),
        PlaceRow("exported files", f"{counted(exported, 'file')} in git removed; {_YOURS}"),
    )


def of_expired(items: Sequence[str], words: Sequence[str], busy: Sequence[str], *, is_done: bool) -> str:
    if not (items or words or busy):
        return "Nothing is older than it is kept."
    rows = [f"{'Removed' if is_done else 'Would be removed'}: {_items(items)}."] if items else []
    rows += [f"Words {'were' if is_done else 'would be'} taken out of {_items(words)}."] if words else []
    rows += (
        [f"Something is still on its way for {_items(busy)}: run the bot, and this again."] if busy else []
    )
    return "\n".join(rows)


def _beyond(earlier: int, *, remote: bool) -> tuple[PlaceRow, ...]:
    kept = (
        f"{counted(earlier, 'earlier version')} of files stay; --history FILE lists them for git filter-repo"
    )
    pushed = (
        "the bot pushes the commit as soon as it runs; earlier commits stay" if remote else "no remote is set"
    )
    return (
        PlaceRow("git history", kept if earlier else "has nothing else"),
        PlaceRow("remote, clones", pushed),
        PlaceRow("backups", "stay, until they expire; after a restore, run the command again"),
        PlaceRow("logs, metrics", "have ids only"),
    )


def _items(slugs: Sequence[str]) -> str:
    shown = ", ".join(slugs[:MOST_ITEMS]) + (", …" if len(slugs) > MOST_ITEMS else "")
    return f"{counted(len(slugs), 'item')} ({shown})" if slugs else "no item"


def _typed(found: Mapping[str, Sequence[int]], names: Sequence[str], *, replaced: bool) -> str:
    called = " or ".join(f'"{name}"' for name in names) or "the name"
    if not any(found.values()):
        return f"{called} stands in no line"
    lines = "; ".join(f"{slug}: {_numbers(numbers)}" for slug, numbers in found.items() if numbers)
    if replaced:
        return f"a mark takes the place of {called} in these lines ({lines})"
    return f"{called} stays in these lines; --typed replaces it ({lines})"


def _numbers(numbers: Sequence[int]) -> str:
    more = ", …" if len(numbers) > MOST_NUMBERS else ""
    return ", ".join(map(str, numbers[:MOST_NUMBERS])) + more


def _by_hand(found: Mapping[str, Iterable[str]]) -> tuple[PlaceRow, ...]:
    paths = ", ".join(f"{slug}/{name}" for slug, names in found.items() for name in names)
    kept = "not written again, because they were edited by hand: change the name there yourself"
    return (PlaceRow("edited by hand", f"{paths}: {kept}"),) if paths else ()


def _store(live: Sequence[str], *, has_store: bool) -> str:
    if not has_store:
        return "there is none yet"
    return f"the id of Slack, reminders, and {_items(live)}" if live else "the id of Slack, and reminders"


def _keys(names: Sequence[str] | None) -> tuple[PlaceRow, ...]:
    if names is None:
        return ()
    told = f"{', '.join(names)}: withdrawn" if names else "none is of this person"
    return (PlaceRow("keys of agents", told),)


def history(file: str, items_dir: str) -> str:
    """After --history."""
    return f"""
{file} has the ids of what only earlier commits have. It takes them out of the history, in a fresh clone:
  git clone --mirror WORKSPACE FRESH && cd FRESH
  git filter-repo --strip-blobs-with-ids {file} --force
  git push --mirror --force REMOTE
Stop the bot first, and clone its workspace anew afterwards, with no `.roundtable/` in between. The hash of each commit
changes. Others have to clone anew, too: a push out of an old clone brings all of it back. Names of authors of commits
are not in files: `git filter-repo --mailmap` changes these, and `git log -- {items_dir}` shows them."""
