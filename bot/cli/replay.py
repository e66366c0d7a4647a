"""`roundtable replay`: which record is meant, and what git has of it. Nothing else of the workspace is read."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import assert_never

from bot import app, parts
from bot.cli.items import no_item
from bot.domain.catalog.agenda import Playbook
from bot.domain.item.item_paths import SHARED, TRANSCRIPT
from bot.domain.transcript.forgetting import is_wordless
from bot.domain.transcript.lines import read as lines_of
from bot.domain.transcript.seal import TrustedKeys, chain_in, key_named, read_chain
from bot.domain.transcript.verify import Difference
from bot.domain.values.places import Place
from bot.domain.values.text import counted
from bot.errors import ConfigError, ContentError
from bot.files import folder
from bot.record.against_thread import Compared, ThreadCopy, compared
from bot.record.brief import NO_LABELS, Labels, labels_of, read_record
from bot.record.page import as_html
from bot.record.text import as_json, as_markdown
from bot.record.verify import RecordedItem, differences, has_other_schema
from bot.settings import Settings
from bot.slack.history import thread_evidence
from bot.slack.people import PeopleDirectory
from bot.storage.git.history import lost, versions

NO_KEYS: TrustedKeys = {}


class Form(Enum):
    JSON = auto()
    MARKDOWN = auto()
    HTML = auto()


def item(settings: Settings, slug: str) -> RecordedItem:
    """The item *slug* of the workspace, or the one around a transcript that some tool left anywhere."""
    if slug.endswith(".jsonl"):
        return _chosen(slug)
    root = settings.workspace
    place = root / settings.items_dir / slug
    one = RecordedItem(place, place / TRANSCRIPT, shared=root / SHARED, root=root)
    try:
        _must_be_known(slug, settings)
        one.read_transcript()
    except FileNotFoundError:
        raise ConfigError(f"{one.transcript} does not exist: nothing was said about {slug!r} yet.") from None
    except OSError as error:
        raise ConfigError(f"The record of {slug} cannot be read: {error.strerror}.") from error
    return one


def _chosen(name: str) -> RecordedItem:
    """The person chose the path, so a link is followed."""
    try:
        path = Path(name).resolve(strict=True)
        one = RecordedItem(path.parent.parent if path.parent.name == "planning" else path.parent, path)
        one.read_transcript()
    except FileNotFoundError:
        raise ConfigError(f"There is no file {name}.") from None
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}.") from error
    return one


def _must_be_known(slug: str, settings: Settings) -> None:
    known: tuple[str, ...] = ()
    with suppress(FileNotFoundError), folder(settings.workspace, settings.items_dir.parts) as items:
        known = items.folders()
        if slug in items.names():
            return
    raise ConfigError(no_item(slug, known))


def verified(
    one: RecordedItem, keys: TrustedKeys = NO_KEYS, playbook: Playbook | None = None
) -> list[Difference]:
    """
    Everything that is not as it should be, the first difference first. *keys* are those that count: without any, the
    key of the first line does.
    """
    return [*_gone(one), *differences(one, tuple(versions(one.folder)), playbook=playbook, keys=keys)]


def keys_for(one: RecordedItem, settings: Settings, id: str) -> TrustedKeys:
    """Those of the bot, where its secrets are set, or the one with this *id*. Raises ConfigError."""
    ours = parts.seal(settings).lines.trusted
    if not id:
        return ours
    found = {id: ours[id]} if id in ours else key_named(one.read_transcript().content, id)
    if not found:
        raise ConfigError(f"No line of {one.slug} has the key {id}.")
    return found


def sealed_by(one: RecordedItem, keys: TrustedKeys) -> Iterator[str]:
    """The key of the newest line, in a sentence, and how many sealed lines have no words any more."""
    chain = read_chain(one.read_transcript().content, keys)
    if not chain.key:
        yield "No line of it has a seal: an earlier version wrote it."
        return
    pushed = sum(not row.is_sealed for row in chain.rows)
    rest = f"; {counted(pushed, 'line')} without a seal only propose" if pushed else ""
    yield f"{counted(len(chain.rows) - pushed, 'line')} sealed by the key {chain.key}{rest}."
    erased = sum(row.is_sealed and is_wordless(row.line) for row in chain.rows)
    if erased:
        yield f"The words of {counted(erased, 'line')} were erased: who spoke and when is checked, the words are not."


def made_with(one: RecordedItem, playbook: Playbook | None) -> Iterator[str]:
    """Why files could not be made again."""
    if playbook is None:
        yield "Files were not made again from the lines: steps or entries cannot be read."
    elif has_other_schema(lines_of(one.read_transcript().content), playbook):
        yield "Files were not made again from the lines: steps or entries are not those that they were written with."


async def against_thread(settings: Settings, one: RecordedItem) -> Compared:
    """The record and the thread that meta.json names, message by message. Raises ConfigError and SlackError."""
    await app.token_for_commands(settings)
    home = one.meta.slack
    if home is None or not home.channel_id or not home.thread_ts:
        raise ConfigError(f"The meta.json of {one.slug} names no thread in Slack.")
    seal, rows = parts.seal(settings), reversed(one.read_transcript().content.split(b"\n"))
    if not seal.is_valid(one.slug, home, chain=chain_in(rows, seal.lines.trusted)):
        raise ConfigError(
            f"The bot did not seal the thread that the meta.json of {one.slug} names, so it is not read."
        )
    place = Place(team=home.team_id, channel=home.channel_id, thread=home.thread_ts)
    async with app.own_slack(settings) as (client, found):
        people = PeopleDirectory(app.person_ids(settings, found.team))
        us = replace(found, redact=parts.secret_redaction(settings), people=people)
        if us.team != place.team:
            raise ConfigError(
                f"The thread of {one.slug} is in another workspace of Slack than SLACK_BOT_TOKEN."
            )
        told = await thread_evidence(client, us, place)
    return compared(one, ThreadCopy(place, *told), us.people.person)


def _gone(one: RecordedItem) -> Iterator[Difference]:
    """A branch that was reset has a history that holds, and so has the file: only where it was before says more."""
    if gone := lost(one.folder, one.name):
        sha, count = gone
        lines = sum(1 for row in one.read_transcript().content.split(b"\n") if row.strip())
        back = counted(count, "commit")
        sentence = (
            f"ends here, and commit {sha} of this repository goes on: the workspace went back by {back}"
        )
        yield Difference(one.name, max(lines, 1), sentence)


def shown(
    one: RecordedItem, form: Form, *, until: int | None = None, labels: Labels = NO_LABELS
) -> Iterator[str]:
    """The record up to the line *until*, piece by piece."""
    record, title = read_record(one.read_transcript(), labels, until=until), one.title
    match form:
        case Form.JSON:
            yield from as_json(record, slug=one.slug)
        case Form.MARKDOWN:
            yield from (f"{row}\n" for row in as_markdown(record, title=title))
        case Form.HTML:
            yield from as_html(record, title=title)
        case _:
            assert_never(form)


def playbook(settings: Settings) -> Playbook | None:
    with suppress(ConfigError, ContentError):
        return app.playbook(settings)
    return None


def labels(settings: Settings) -> Labels:
    """What personas and steps are called. Without the content, the record is shown with what it says itself."""
    known = playbook(settings)
    return labels_of(known) if known else NO_LABELS


def written(one: RecordedItem, page: Path, *, until: int | None = None, labels: Labels = NO_LABELS) -> None:
    """
    The page takes the place of what was there only when all of it is written. An OSError names the page, and not what
    was begun beside it.
    """
    begun = page.with_name(f"{page.name}.new")
    try:
        with begun.open("w", encoding="utf-8") as file:
            file.writelines(shown(one, Form.HTML, until=until, labels=labels))
        begun.replace(page)
    except OSError as error:
        error.filename = str(page)
        raise
    finally:
        begun.unlink(missing_ok=True)
