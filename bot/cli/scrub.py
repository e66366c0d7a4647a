"""`roundtable scrub`: which items are meant, and what people are told. A secret itself is never shown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from bot import app, parts
from bot.cli.items import no_item
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript.scrubbing import Redacting, redacted
from bot.domain.values.text import counted
from bot.engine.ports import Store, now
from bot.errors import BotError, ConfigError, Conflict, Unavailable
from bot.files import folder
from bot.settings import Settings
from bot.storage.git.erasing import Scrubber, ScrubResult
from bot.storage.git.reader import slugs_at_tip
from bot.storage.git.tree import STATE
from bot.storage.sqlite import FILE

MOST_COMMITS = 5
ATTEMPTS = 20
"""A bot that runs may save in between."""
WHAT_TO_DO = """
These commits still have secrets. Change the secrets first, wherever they are in use: people who read one still have it.
Then take them out of git, if you want to; that changes history, so stop the bot before, and make a backup:
  git filter-repo --replace-text FILE     FILE is outside of the repository and has one secret in a line
Commits that are not pushed can also be made one, from the last one that is clean (LAST), with:
  git reset --soft LAST && git commit -m "Squash"
  git for-each-ref --format="delete %(refname)" refs/roundtable | git update-ref --stdin
  git reflog expire --expire=now --all && git gc --prune=now
What is pushed has to be pushed again by force, and every other clone has to be made anew. Copies elsewhere (backups,
forks, the caches of the hosting service, Slack) are not reached by any of this."""


class StateScrub(NamedTuple):
    """The kinds of secrets that the store had, by item. *problem*: why it could not be looked at."""

    kinds: Mapping[str, tuple[str, ...]] = {}
    problem: str = ""


class ScrubSummary(NamedTuple):
    """*state* are the kinds of secrets that were removed from what the bot keeps of the running roundtable."""

    slug: str
    found: ScrubResult
    state: tuple[str, ...] = ()

    @property
    def is_in_history(self) -> bool:
        return bool(self.found.here or self.found.pushed)


def items(settings: Settings, slug: str | None) -> tuple[str, ...]:
    """The item *slug*, or every item. Raises ConfigError with a sentence when there is no such item."""
    root = settings.workspace.absolute()
    known = slugs_at_tip(root, str(settings.items_dir))
    if slug is not None and slug not in known:
        raise ConfigError(no_item(slug, known))
    return known if slug is None else (slug,)


async def states(settings: Settings, slugs: Sequence[str]) -> StateScrub:
    """Before the files: a bot that runs would write a secret of its state into them again."""
    if not settings.redis_url and not has_store(settings):
        return StateScrub()
    team = app.team_of_workspace(settings)
    if settings.redis_url and not team:
        return StateScrub(
            problem="no bot has begun in this workspace yet, so it is not known whose state is meant."
        )
    try:
        async with app.store(settings, team) as store:
            return StateScrub(
                {slug: await scrub_state(store, slug, parts.redactor(settings)) for slug in slugs}
            )
    except BotError as error:
        return StateScrub(problem=str(error))


async def scrub_state(store: Store, slug: str, redact: Redacting) -> tuple[str, ...]:
    """The kinds of the secrets that were removed, one for each. Raises Unavailable and NewerVersion."""
    for _ in range(ATTEMPTS):
        before = await store.get(slug)
        kinds, fields = redacted(before.model_dump(mode="json"), redact) if before else ((), {})
        if not before or not kinds:
            return ()
        after = Roundtable.model_validate({**fields, "version": before.version + 1})
        with suppress(Conflict):
            await store.put(after, expected=before.version)
            return kinds
    raise Unavailable(f"the roundtable {slug!r} changes all the time; run the command again")


def scrubbed(settings: Settings, slugs: Sequence[str], state: StateScrub) -> Iterator[ScrubSummary]:
    if not slugs:
        return
    redact = parts.redactor(settings)
    scrubber = Scrubber(
        settings.workspace,
        items_dir=str(settings.items_dir),
        redact=redact,
        seal=parts.seal(settings),
        exports=app.exports(settings),
    )
    for one in slugs:
        yield ScrubSummary(one, scrubber.scrub(one, now=now()), state.kinds.get(one, ()))


def not_in_the_state(problem: str) -> str:
    return (
        f"What the bot keeps of running roundtables was not looked at: {problem}. It may still have the secrets, and "
        "write them again. Stop the bot, and run this command once more."
    )


def has_store(settings: Settings) -> bool:
    with suppress(FileNotFoundError, NotADirectoryError), folder(settings.workspace, (STATE,)) as found:
        return FILE in found.files()
    return False


def as_text(one: ScrubSummary) -> str:
    found = one.found
    rows = [f"{one.slug}: {_what_was_done(found)}"]
    rows += [f"  {path}: {_kinds(kinds)}" for path, kinds in found.files.items()]
    rows += [f"  the running roundtable: {_kinds(one.state)}"] if one.state else []
    rows += [f"  {path} is too large to be looked at" for path in found.large]
    rows += [f"  still in {_commits(found.here)} that only this repository has"] if found.here else []
    rows += [f"  still in {_commits(found.pushed)} that a remote has"] if found.pushed else []
    return "\n".join(rows)


def _what_was_done(found: ScrubResult) -> str:
    count = sum(map(len, found.files.values()))
    if not count:
        return "no secrets in its files"
    where = f", commit {found.sha}" if found.sha else ""
    return f"{counted(count, 'secret')} replaced{where}"


def _kinds(kinds: tuple[str, ...]) -> str:
    return ", ".join(f"{kind} ({count})" for kind, count in sorted(Counter(kinds).items()))


def _commits(shas: tuple[str, ...]) -> str:
    shown = ", ".join(shas[:MOST_COMMITS]) + (", …" if len(shas) > MOST_COMMITS else "")
    return f"{counted(len(shas), 'commit')} ({shown})"
