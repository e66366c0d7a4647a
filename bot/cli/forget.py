"""
`roundtable forget` and `roundtable export person`: who and what is meant, in the store first, and then in git.

The store comes first: after a kill in between, what is to go can still be read in git, and the command is run again.
"""

import asyncio
import getpass
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bot import app, parts
from bot.cli.items import no_item
from bot.cli.scrub import has_store
from bot.content.agent_keys import read_keys, write_keys
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.policy import AgentKey
from bot.domain.item.item_paths import SHARED, TRANSCRIPT
from bot.domain.messages import forget_wording as wording
from bot.domain.messages.forget_wording import PersonCount, PlaceRow
from bot.domain.roundtable import forgotten
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript import lines as transcripts
from bot.domain.transcript.forgetting import Forgetting, ForgottenFiles, TypedNames, first_name
from bot.domain.transcript.lines import Line
from bot.domain.transcript.people import Names, is_former, is_person_id, with_names, without_person
from bot.domain.transcript.scrubbing import Redacting, redacted
from bot.domain.values.places import Place
from bot.domain.values.text import counted
from bot.engine import audit
from bot.engine.ports import now
from bot.errors import ConfigError, Conflict, Unavailable
from bot.record.rewritten import Rewriting, place_of, without_item
from bot.settings import Settings
from bot.slack.history import EditedPosts, delete_own_posts, edit_own_posts
from bot.storage.git.erasing import Forgetter, Found
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore

ATTEMPTS = 20
"""A bot that runs may save in between."""
PAUSE_SECONDS = 0.5
_OF_SLACK = re.compile("[UW][A-Z0-9]{2,30}")
AnyStore = SqliteStore | RedisStore


class WhoIsMeant(NamedTuple):
    """*ids* are those that the person had, the newest last; *user* is Slack's id, where that is known."""

    ids: tuple[str, ...]
    user: str = ""


class PersonOptions(NamedTuple):
    words: bool = False
    typed: bool = False
    slack: bool = False


class ForgetPlan(NamedTuple):
    """What a command is about to do, as a table of places."""

    rows: tuple[PlaceRow, ...]
    earlier: tuple[str, ...]


class Forgotten(NamedTuple):
    """What a command did, in a sentence; *earlier* are the ids of what the history still has."""

    told: str
    earlier: tuple[str, ...]


@asynccontextmanager
async def opened_store(settings: Settings) -> AsyncIterator[AnyStore | None]:
    """None where no bot has begun. Raises ConfigError while a bot uses a store that is one process's alone."""
    team = app.team_of_workspace(settings)
    if not team or not (settings.redis_url or has_store(settings)):
        yield None
        return
    try:
        opened = app.store(settings, team)
        store = await opened.__aenter__()
    except ConfigError as error:
        raise ConfigError(f"Nothing was changed: {error}. Stop the bot, and run the command again.") from None
    try:
        yield store
    finally:
        await opened.__aexit__(None, None, None)


class PersonForgetting:
    """One person in one workspace. Raises ConfigError, ContentError, WorkspaceError and Unavailable."""

    def __init__(
        self, settings: Settings, store: AnyStore | None, options: PersonOptions, *, at: str = ""
    ) -> None:
        self._settings, self._store, self._options, self._now = settings, store, options, at or now()
        self._seal = parts.seal(settings)
        self._playbook = app.playbook(settings)
        self._git = forgetter(settings)
        self.live: dict[str, Roundtable] = {}

    async def plan(self, who: str) -> ForgetPlan:
        meant = await self.meant(who)
        lines, typed, hand = Counter[str](), dict[str, Sequence[int]](), dict[str, Sequence[str]]()
        items: dict[str, None] = {}
        for whom in self._each(meant):
            known = self._git.known_people()
            after = without_person(known, whom.person, on=whom.on).names
            for slug in self._git.slugs():
                one = self._rewriting(whom, slug, self._git.item_files(slug), known.names, after).run(
                    now=self._now
                )
                if one.files:
                    items[slug] = None
                    lines[slug] += one.lines
                typed |= {slug: one.typed} if one.typed else {}
                hand |= {slug: one.by_hand} if one.by_hand else {}
        live = [slug for slug, rt in self.live.items() if _is_in(rt, meant.ids)]
        earlier = self._git.earlier(items)
        found = PersonCount(
            [one.name for one in self.keys(meant)] if self._settings.agent_keys else None,
            tuple(items),
            lines.total(),
            typed,
            hand,
            tuple(live),
            len(earlier),
            self._store is not None,
        )
        names = dict.fromkeys(name for whom in self._each(meant) for name in TypedNames(whom).names)
        is_remote = bool(self._settings.remote)
        rows = wording.of_person(found, tuple(names), **self._options._asdict(), remote=is_remote)
        return ForgetPlan(rows, earlier)

    async def run(self, who: str) -> Forgotten:
        meant, changed, shas = await self.meant(who), Counter[str](), list[str]()
        edited = EditedPosts()
        for whom in self._each(meant):
            await self._in_store(whom)
            if self._options.slack:  # while git still has the name
                edited = edited.and_(await self._in_slack(whom))
            rewrite = partial(self._rewrite, whom)
            done = await asyncio.to_thread(self._git.person, whom, rewrite, now=self._now)
            shas += [done.sha] if done.sha else []
            changed.update({slug: one.lines for slug, one in done.items.items() if one.files})
            what = ",".join(name for name, is_on in self._options._asdict().items() if is_on) or "name"
            audit.forgot(
                "forget.person", person=whom.person, items=len(changed), what=what, by=getpass.getuser()
            )
        if gone := self.keys(meant):
            assert self._settings.agent_keys, "the keys are from there"
            write_keys(self._settings.agent_keys, [one for one in self._all_keys() if one not in gone])
        told = f"Forgotten, commit {shas[-1]}." if shas else "There was nothing left to forget in git."
        if self._options.slack:
            told = f"{told} {wording.count_edited_posts(*edited)}"
        return Forgotten(told, self._git.earlier(self._git.slugs()))

    async def meant(self, who: str) -> WhoIsMeant:
        """Raises ConfigError where nobody of that id ever spoke, pressed or wanted to be reminded."""
        await self._read_live()
        known = self._git.known_people()
        users = await self._store.users() if self._store else {}
        if is_person_id(who):
            found = WhoIsMeant((who,), users.get(who, ""))
        elif _OF_SLACK.fullmatch(who):
            team = self._team()
            one = (self._seal.person(team, who, generation=n) for n in count())
            ids = [next(one)]
            while ids[-1] in known.forgotten:
                ids.append(next(one))
            found = WhoIsMeant(tuple(ids), who)
        else:
            raise ConfigError(
                f"{who!r} is no id of Slack, such as U0123ABCD, and none of this bot, such as p-7hq3kq2m4a:"
                f" people.json in {self._settings.items_dir} lists these with names."
            )
        slugs = self._git.slugs()
        kept = {*known.raw.get("people", {}), *users, *(await self._store.people() if self._store else ())}
        there = tuple(id for id in found.ids if id in kept or self._speaks(id, slugs))
        old = bool(found.user) and self._speaks(found.user, slugs)
        meant = WhoIsMeant(there or found.ids[:1], found.user)
        if not (there or old or self.keys(meant)):
            raise ConfigError(f"No line of {who} in {counted(len(slugs), 'item')}.")
        return meant

    def keys(self, meant: WhoIsMeant) -> Sequence[AgentKey]:
        """Of the agents that work for the person."""
        return [one for one in self._all_keys() if one.owner == meant.user]

    def _all_keys(self) -> tuple[AgentKey, ...]:
        return read_keys(self._settings.agent_keys) if self._settings.agent_keys else ()

    def _team(self) -> str:
        team = app.team_of_workspace(self._settings)
        if not team:
            raise ConfigError(
                "No bot has begun in this workspace yet, so it is not known whose id of Slack this is: give the id"
                " of people.json."
            )
        if not (self._settings.seal_key or self._settings.slack_bot_token):
            raise ConfigError(
                "Ids of people follow from the bot's key: set ROUNDTABLE_SEAL_KEY or SLACK_BOT_TOKEN as the bot"
                " has it, or give the id of people.json."
            )
        return team

    def _speaks(self, id: str, slugs: Iterable[str]) -> bool:
        needle = f'"{id}"'.encode()
        return any(_is_in(rt, [id]) for rt in self.live.values()) or any(
            needle in self._git.item_files(slug).get(TRANSCRIPT, b"") for slug in slugs
        )

    def _each(self, meant: WhoIsMeant) -> Iterable[Forgetting]:
        known, on = self._git.known_people(), self._now[:10]
        for id in meant.ids:
            in_git = "" if id in known.forgotten else known.names.get(id, "")
            names = dict.fromkeys((in_git, *self._live_names(id)))
            others = {name for other, name in known.names.items() if other not in meant.ids}
            words, typed, _ = self._options
            yield Forgetting(
                id,
                tuple(one for one in names if one not in {"", id} and not is_former(one)),
                on,
                user=meant.user,
                words=words,
                typed=typed,
                others=names_of(self._playbook.roster) | others,
            )

    def _live_names(self, id: str) -> Iterable[str]:
        """A name that is in no commit yet, or in a state that was restored from a backup."""
        for rt in self.live.values():
            yield rt.people.get(id, "")
            yield from (line.person_name for line in rt.lines if line.person == id)

    def _rewriting(self, whom: Forgetting, slug: str, found: Found, before: Names, after: Names) -> Rewriting:
        rt = self.live.get(slug)
        restored = forgotten.lines_from(rt, whom.ids) if rt and before == after else ()
        return Rewriting(
            slug,
            found,
            whom,
            before=before,
            after=after,
            playbook=self._playbook,
            sealer=self._seal.lines,
            live=(*restored, *(rt.lines if rt else ())),
        )

    def _rewrite(
        self, whom: Forgetting, slug: str, found: Found, before: Names, after: Names
    ) -> ForgottenFiles:
        rewriting = self._rewriting(whom, slug, found, before, after)
        self._git.hide_unpushed(rewriting.hide)
        return rewriting.run(now=self._now)

    # --- Slack --------------------------------------------------------------------------------------------------------

    async def _in_slack(self, whom: Forgetting) -> EditedPosts:
        """The bot's posts in the threads of all items; what others wrote is theirs."""
        known, done = self._git.known_people(), EditedPosts()
        after = without_person(known, whom.person, on=whom.on).names
        names, called = TypedNames(whom), after[whom.person]
        async with app.own_slack(self._settings) as (client, us):
            for slug in {*self._git.slugs(), *self.live}:
                files = self._git.item_files(slug)
                hide = self._rewriting(whom, slug, files, known.names, after).eraser.text

                def change(text: str, hide: Redacting = hide) -> str:
                    return names.replace(hide(text.replace(f"<@{whom.user}>", called)).text, called)[0]

                if (place := _place(files, self.live.get(slug))).thread:
                    done = done.and_(await edit_own_posts(client, us, place, change))
        return done

    # --- the store ----------------------------------------------------------------------------------------------------

    async def _read_live(self) -> None:
        if self._store is None:
            return
        for slug in sorted(await self._store.slugs()):
            if rt := await self._store.get(slug):
                self.live[slug] = rt

    async def _in_store(self, whom: Forgetting) -> None:
        if self._store is None:
            return
        for slug in self.live:
            await self._in_live(self._store, slug, whom)
        await self._store.forget_person(whom.person)

    async def _in_live(self, store: AnyStore, slug: str, whom: Forgetting) -> None:
        known = self._git.known_people()
        after = without_person(known, whom.person, on=whom.on).names
        for _ in range(ATTEMPTS):
            rt = await store.get(slug)
            if rt is None:
                return
            self.live[slug] = rt
            rewriting = self._rewriting(whom, slug, self._git.item_files(slug), known.names, after)
            if (
                not _is_in(rt, [whom.person])
                and not redacted(rt.model_dump(mode="json"), rewriting.eraser.text)[0]
            ):
                return
            if forgotten.is_saving(rt):
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            record = rewriting.record(rewriting.run(now=self._now))
            made = forgotten.without(rt, whom, after[whom.person], rewriting.eraser, record)
            if made.version == rt.version:
                return
            with suppress(Conflict):
                await store.put(made, expected=rt.version)
                return
        raise Unavailable(
            f"{slug} is being saved, or could not be saved before. See to that, and run the command again."
        )


def names_of(personas: Iterable[Persona]) -> frozenset[str]:
    """Their first names, too: a person may have the same."""
    return frozenset(name for one in personas for name in (one.name, first_name(one.name)))


def _is_in(rt: Roundtable, ids: Iterable[str]) -> bool:
    text = rt.model_dump_json()
    return any(re.search(rf"\b{re.escape(id)}\b", text) for id in ids)


def forgetter(settings: Settings) -> Forgetter:
    """After what a command that was killed left undone."""
    found = app.forgetter(settings)
    found.recover()
    return found


# --- an item ----------------------------------------------------------------------------------------------------------


async def plan_item(settings: Settings, store: AnyStore | None, slug: str, *, live: bool) -> ForgetPlan:
    """Raises ConfigError for an item that there is not, or that goes on."""
    git = forgetter(settings)
    found, rt = git.item_files(slug), await store.get(slug) if store else None
    files = [name for name in found if name != SHARED]
    exported = git.exported_files(slug)
    if not files and not exported and rt is None:
        raise ConfigError(no_item(slug, git.slugs()))
    if rt and rt.stage not in {Stage.ANALYSED, Stage.PAUSED} and not live:
        raise ConfigError(f"{slug} is not finished. Stop it first, or add --live.")
    earlier = git.earlier([slug])
    rows = wording.of_item(
        slug,
        files=len(files),
        exported=len(exported),
        live=rt is not None,
        earlier=len(earlier),
        remote=bool(settings.remote),
    )
    return ForgetPlan(rows, earlier)


async def forget_item(
    settings: Settings, store: AnyStore | None, slug: str, *, live: bool, slack: bool
) -> Forgotten:
    """Slack first, while it is known where the thread is; then the store, so that a bot does not write it again."""
    await plan_item(settings, store, slug, live=live)
    git = forgetter(settings)
    found, rt = git.item_files(slug), await store.get(slug) if store else None
    place = _place(found, rt)
    if slack and place.thread:
        async with app.own_slack(settings) as (client, us):
            await delete_own_posts(client, us, place)
    if store:
        await store.forget_item(slug, place)
    shared = without_item(found, slug, app.playbook(settings))
    sha = await asyncio.to_thread(git.item, slug, shared, now=now())
    audit.forgot("forget.item", item=slug, items=1, what="slack" if slack else "item", by=getpass.getuser())
    return Forgotten(f"Removed, commit {sha}." if sha else "Removed.", git.earlier([slug]))


def _place(found: Found, rt: Roundtable | None) -> Place:
    return rt.place if rt else place_of(found)


# --- what is known of a person ----------------------------------------------------------------------------------------


async def known_of(settings: Settings, store: AnyStore | None, who: str) -> dict[str, Any]:
    """Lines, presses, entries, settings, and where each is."""
    finding = PersonForgetting(settings, store, PersonOptions())
    meant, git = await finding.meant(who), forgetter(settings)
    live, users = finding.live.values(), await store.users() if store else {}
    names = {id: rt.people[id] for rt in live for id in meant.ids if id in rt.people}
    names |= git.known_people().names
    reminders = await store.people() if store else {}
    items = {slug: _item_of(meant, git.item_files(slug), names) for slug in git.slugs()}
    unsaved = {rt.slug: [_line_of(one) for one in rt.lines if one.person in meant.ids] for rt in live}
    return {
        "version": 1,
        "ids": list(meant.ids),
        "slack": meant.user or next((users[id] for id in meant.ids if id in users), ""),
        "names": {id: names[id] for id in meant.ids if id in names},
        "keys": [one.name for one in finding.keys(meant)],
        "reminders": {id: reminders[id].model_dump(mode="json") for id in meant.ids if id in reminders},
        "items": {slug: found for slug, found in items.items() if any(found.values())},
        "unsaved": {slug: found for slug, found in unsaved.items() if found},
    }


def _item_of(meant: WhoIsMeant, found: Mapping[str, bytes], names: Names) -> dict[str, list[dict[str, Any]]]:
    rows = ((at, with_names(one, names)) for at, row in _rows(found) if (one := transcripts.line_in(row)))
    ids = {*meant.ids, meant.user} - {""}
    lines = [(at, one) for at, one in rows if one.person in ids]
    quoting = [
        {"line": at, "message_id": one.message_id}
        for at, row in _rows(found)
        if (one := transcripts.line_in(row))
        and one.person not in ids
        and any(f"@{id}" in str(one) for id in ids)
    ]
    return {
        "said": [{"line": at, **_line_of(one)} for at, one in lines if one.source == "user"],
        "pressed": [{"line": at, **_line_of(one)} for at, one in lines if one.source != "user"],
        "named": quoting,
    }


def _rows(found: Mapping[str, bytes]) -> Iterable[tuple[int, bytes]]:
    return enumerate(found.get(TRANSCRIPT, b"").split(b"\n"), start=1)


def _line_of(line: Line) -> dict[str, Any]:
    meta = {name: one for name, one in line.meta.items() if name not in {"seal", "salt", "digest"}}
    return {"ts": line.ts, "content": line.content, "meta": meta}


def written_history(file: Path, ids: Sequence[str], settings: Settings) -> str:
    """The ids of blobs, one in a line; what to do with them."""
    try:
        file.write_text("".join(f"{id}\n" for id in ids))
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error
    return wording.history(str(file), str(settings.items_dir))
