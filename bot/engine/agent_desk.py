"""
What coding agents ask of live roundtables: who may see an item by a key, questions, and what became of them.

An agent sees what its owner may see, and of that what its key names. What it may not see does not exist.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.domain.catalog.policy import AgentKey
from bot.domain.messages import agent_question_wording as wording
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.roundtable import root
from bot.domain.roundtable.inputs import AgentAsked, AgentWithdrew
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import agents
from bot.domain.specification.address import EntryAddress, no_item, read_entry_address
from bot.domain.specification.agent_questions import (
    PersonAnswer,
    QuestionState,
    QuestionStatus,
    answers_of,
    line_of,
    question_state,
)
from bot.domain.specification.claims import Entry
from bot.domain.values.places import Belonging, Place, Viewer
from bot.domain.values.text import visible
from bot.engine.ports import Clock, Listing, Store, Workspace
from bot.engine.roundtables import Roundtables
from bot.engine.viewing import KnowsMembers, held_item
from bot.errors import Conflict, EffectError, NotNow, Unavailable, UserError

NOT_ASKED = "not asked"
LONGEST_WAIT_SECONDS = 25
MOST_WAITING = 20
"""Calls that wait for an answer in this process; others get the state at once."""
LOOK_SECONDS = 1.0
RETRY_SECONDS = 30
"""When to ask again what could not be saved."""


@dataclass(kw_only=True, eq=False)
class AgentDesk:
    """*person_of* gives our id of a user of Slack."""

    roundtables: Roundtables
    store: Store
    workspace: Workspace
    chat: KnowsMembers
    team: str
    person_of: Callable[[str], str]
    clock: Clock
    redact: Redact = unchanged

    def __post_init__(self) -> None:
        self._waiting = 0
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Who waits for an answer is told at once how it stands."""
        self._leaving.set()

    # --- what a key may see -----------------------------------------------------------------------------------------

    async def seen(self, key: AgentKey, named: str = "") -> frozenset[str]:
        """
        The items in git that *key* may read; of these only *named*, if it is one. Raises Unavailable, and EffectError
        when Slack does not answer.
        """
        listings = {one.known.slug: one for one in await self.workspace.items()}
        wanted = {slug: one for slug, one in listings.items() if key.is_for_all or slug in key.items}
        owner = await self._owner(key)
        if named in wanted and (found := await self._seen_of(key, owner, {named: wanted[named]})):
            return found
        return await self._seen_of(key, owner, wanted)

    async def _seen_of(self, key: AgentKey, owner: Viewer, listings: Mapping[str, Listing]) -> frozenset[str]:
        stored = await self.store.several(listings)
        seen = [one for one in listings if await self._sees(key, owner, one, stored.get(one), listings[one])]
        return frozenset(seen)

    async def _owner(self, key: AgentKey) -> Viewer:
        belongs = (await self.chat.profile(self.person_of(key.owner))).belongs
        return Viewer(place=Place(team=self.team, channel=""), least=belongs)

    async def _sees(
        self, key: AgentKey, owner: Viewer, slug: str, rt: Roundtable | None, listed: Listing | None
    ) -> bool:
        """A private item, and one whose owner is a guest, is seen by name while the owner is in its channel."""
        held = held_item(rt, listed)
        if owner.least is Belonging.LEFT:  # what is remembered of a channel may still have them
            return False
        if owner.least is Belonging.MEMBER and not held.hidden:
            return key.is_for_all or slug in key.items
        if slug not in key.items or not held.channel or held.team != self.team:
            return False
        return self.person_of(key.owner) in await self.chat.members(held.channel)

    async def _live(self, key: AgentKey, slug: str) -> Roundtable:
        """Raises UserError for what *key* does not see, and NotNow for an item that is in no thread."""
        rt = await self.store.get(slug)
        listed = next((one for one in await self.workspace.items() if one.known.slug == slug), None)
        if not (rt or listed) or not await self._sees(key, await self._owner(key), slug, rt, listed):
            raise UserError(no_item(slug, await self.seen(key)))
        if rt is None:
            raise NotNow(wording.no_thread(slug))
        return rt

    # --- questions --------------------------------------------------------------------------------------------------

    async def ask(
        self, key: AgentKey, item: str, text: str, *, options: Sequence[str] = (), about: Sequence[str] = ()
    ) -> QuestionStatus:
        """At once. Raises UserError for a question that is never asked as it stands."""
        try:
            rt = await self._live(key, item)
            text = self.redact(text)
            ids = (read_entry_address(one, [rt.slug], rt.slug).id for one in about)
            asked = AgentAsked(
                key=_key_of(key.name, rt.slug, text),
                at=self.clock(),
                agent=key.name,
                owner=self.person_of(key.owner),
                text=text,
                options=tuple(map(self.redact, options)),
                about=tuple(dict.fromkeys(ids)),
            )
            rt = await self.roundtables.handle(rt.slug, asked)
        except NotNow as refused:
            return QuestionStatus(status=NOT_ASKED, why=str(refused))
        except (Unavailable, Conflict, EffectError):
            return QuestionStatus(status=NOT_ASKED, why=wording.NOT_SAVED, retry_after=RETRY_SECONDS)
        entry = agents.question_with_key(rt, asked.key)
        assert entry, "it was asked"
        return self._status(rt, entry)

    async def answer(self, key: AgentKey, address: str, *, wait_seconds: int = 0) -> QuestionStatus:
        """Raises UserError, Unavailable and EffectError."""
        item, id = await self._address(key, address)
        rt = await self._live(key, item)
        entry = agents.question_of(rt, key.name, id)
        until = asyncio.get_running_loop().time() + min(max(wait_seconds, 0), LONGEST_WAIT_SECONDS)
        if question_state(entry) is QuestionState.OPEN and self._waiting < MOST_WAITING:
            self._waiting += 1
            try:
                rt, entry = await self._settled(rt, entry, until)
            finally:
                self._waiting -= 1
        return self._status(rt, entry)

    async def withdraw(self, key: AgentKey, address: str) -> QuestionStatus:
        """What people have settled stays. Raises UserError, Unavailable and EffectError."""
        item, id = await self._address(key, address)
        rt = await self._live(key, item)
        entry = agents.question_of(rt, key.name, id)
        at = self.clock()
        event = AgentWithdrew(key=f"{line_of(entry)}.{at}", at=at, agent=key.name, entry=id)
        rt = await self.roundtables.handle(rt.slug, event)
        return self._status(rt, rt.specification.entries[id])

    async def _settled(self, rt: Roundtable, entry: Entry, until: float) -> tuple[Roundtable, Entry]:
        """Another process may take the answer, so the store is asked."""
        loop = asyncio.get_running_loop()
        while question_state(entry) is QuestionState.OPEN and (left := until - loop.time()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), min(left, LOOK_SECONDS))
                break
            rt = await self.store.get(rt.slug) or rt
            entry = rt.specification.entries.get(entry.id, entry)
        return rt, entry

    async def _address(self, key: AgentKey, address: str) -> EntryAddress:
        slug = address.strip().partition("/")[0]
        return read_entry_address(address, {slug} if "/" in address else await self.seen(key))

    def _status(self, rt: Roundtable, entry: Entry) -> QuestionStatus:
        return QuestionStatus(
            question=str(EntryAddress(rt.slug, entry.id)),
            status=question_state(entry).value,
            answers=tuple(
                PersonAnswer(by=visible(rt.name_of(one.owner.by)), words=self.redact(visible(str(one.value))))
                for one in answers_of(entry)
            ),
            link=root.link_to(rt, rt.stands_at(entry.id)) or rt.permalink,
        )


def _key_of(agent: str, slug: str, text: str) -> str:
    """The same words of the same agent are the same question, however they are spaced."""
    words = "\0".join((agent, slug, " ".join(text.casefold().split())))
    return f"agent.{hashlib.sha256(words.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
