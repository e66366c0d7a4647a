"""Where reviews are made and shown: a real workspace, store and Slack, and reviewers who say what a test wants."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.domain.catalog.personas import Persona
from bot.domain.item.meta import SlackPlace
from bot.domain.reviews.notice import Arrived, AskReview
from bot.domain.reviews.text import Finding, FindingSeverity, Review, ReviewerOpinion
from bot.domain.values.places import Person, Place
from bot.engine.item_locator import ItemLocator
from bot.engine.ports import Store, now
from bot.engine.review_ports import KeptReview, Notices, ReviewCase
from bot.engine.reviews import PREFIX, ReviewContext, ReviewTriage
from bot.engine.viewing import Viewers
from bot.server.review_webhook import entry_of
from bot.slack.board import SlackBoard
from bot.slack.client import identify, opened
from bot.storage.git import tree
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore
from slack_sandbox import Sandbox, SandboxMessage
from tests.domain.table import shipped
from tests.engine.replica import Woken
from tests.sights import OnePerson
from tests.storage.checkout import Git

SLUG = "offline-sync"
CHANNEL = "#roundtable"
CALL_SECONDS = 2.0
"""So long a call may take here, and a lost post may land."""
ADA = Person(id="U0ADA", name="Ada")

PASSED = b"""@@@REVIEW_META
verdict: PASS
issues_total: 3
issues_critical: 0
missing_inputs: 1
@@@

Three small things.
"""

Says = Callable[[Persona], Awaitable[ReviewerOpinion]]
Opening = Callable[..., AbstractAsyncContextManager["Room"]]


async def finds_nothing(persona: Persona) -> ReviewerOpinion:
    return ReviewerOpinion(by=persona.label, lens=persona.lens)


async def finds_one(persona: Persona) -> ReviewerOpinion:
    found = Finding(
        severity=FindingSeverity.CRITICAL, file="quick-scan.md", text=f"{persona.short} misses the why."
    )
    return ReviewerOpinion(by=persona.label, lens=persona.lens, findings=(found,))


async def never(_persona: Persona) -> ReviewerOpinion:
    await asyncio.Event().wait()
    raise AssertionError("nobody ends this")


@dataclass
class PlayedReviewers:
    """By the key of a persona: what it does when it is asked. Whoever is not named finds nothing."""

    says: Mapping[str, Says] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    """Whose items they may know, each time they are asked."""

    async def opinion(self, case: ReviewCase, persona: Persona) -> ReviewerOpinion:
        self.asked.append(persona.key)
        self.places.append(case.sight.viewer.place)
        return await self.says.get(persona.key, finds_nothing)(persona)

    async def together(
        self, case: ReviewCase, opinions: Iterable[ReviewerOpinion], *, unseen: tuple[str, ...], asked: str
    ) -> Review:
        return Review(title=case.title, method=asked, opinions=tuple(opinions), unseen=unseen)


@dataclass
class Room:
    """One process. `git` asks the workspace as a person would."""

    triage: ReviewTriage
    workspace: GitWorkspace
    reviewers: PlayedReviewers
    notices: Notices
    slack: Sandbox
    root: Path
    woken: Woken
    thread: str = ""

    async def ask(self, *personas: str, key: str = "command.1") -> None:
        keys = personas or tuple(persona.key for persona in shipped().roster)
        place = Place(team=self.slack.team_id, channel=self.slack.channel().id)
        wish = AskReview(key=key, at=now(), title="Offline sync", personas=keys, person=ADA, place=place)
        await self.triage.ask(SLUG, wish)

    async def arrive(self, content: bytes = PASSED, *, by: tuple[str, ...] = ()) -> KeptReview:
        kept = await self.workspace.keep(SLUG, content, now=now())
        await self.shown(kept, by=by)
        return kept

    async def shown(self, kept: KeptReview, *, by: tuple[str, ...] = ()) -> None:
        entry = entry_of(kept, reviewers=by)
        await self.triage.arrived(SLUG, Arrived(at=now(), title="Offline sync", entry=entry))

    async def pay(self) -> None:
        assert self.woken.slugs[-1:] in ([], [PREFIX + SLUG])
        await self.triage.pay(SLUG)

    async def have_reviewed(self, *personas: str) -> None:
        await self.ask(*personas)
        await self.pay()

    async def have_shown(self, content: bytes = PASSED, *, by: tuple[str, ...] = ()) -> KeptReview:
        kept = await self.arrive(content, by=by)
        await self.pay()
        return kept

    def messages(self, channel: str = CHANNEL) -> list[SandboxMessage]:
        """The notices in a channel."""
        return [one for one in self.slack.messages(channel) if one.text.startswith("REVIEW: ")]

    def details(self) -> list[SandboxMessage]:
        return self.slack.thread(CHANNEL, self.thread)[1:]

    def review(self, number: int) -> str:
        path = self.root / f"docs/requirements/{SLUG}/reviews/review-{number:03}.md"
        return path.read_text(encoding="utf-8")


SEAL = Seal([b"of the review room"])


def item(
    root: Path,
    slack: Sandbox,
    thread: str,
    slug: str = SLUG,
    *,
    private: bool | None = False,
    sealed: bool = True,
) -> None:
    """A folder that says where its thread is; nothing runs. Not *sealed*: somebody else says so."""
    folder = root / "docs/requirements" / slug
    folder.mkdir(parents=True, exist_ok=True)
    channel = slack.channel().id
    place: dict[str, Any] = {"team_id": slack.team_id, "channel_id": channel, "thread_ts": thread}
    place |= {} if private is None else {"private": private}
    if sealed:
        place["seal"] = SEAL.sign(slug, SlackPlace(**place))
    fields = {"description": "Offline sync", "slug": slug, **({"slack": place} if thread else {})}
    (folder / "meta.json").write_text(json.dumps(fields))
    (folder / "quick-scan.md").write_text("# Quick scan\n\nEdits get lost.\n")
    git = Git(root)
    if not (root / ".git").exists():
        git.begin()
    git("add", "--", "docs")
    git("commit", "--quiet", "--allow-empty", "-m", "theirs")


@asynccontextmanager
async def room(
    slack: Sandbox,
    root: Path,
    *,
    thread: str = "",
    redis_url: str = "",
    says: Mapping[str, Says] | None = None,
    lock_seconds: float = tree.LOCK_SECONDS,
    **more: Any,
) -> AsyncIterator[Room]:
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        workspace = await enter(GitWorkspace(root, seal=SEAL, lock_seconds=lock_seconds))
        store, notices = await _kept(enter, root, redis_url)
        client = await enter(opened(slack.bot_token, api_url=slack.api_url, seconds=CALL_SECONDS))
        patient = await enter(opened(slack.bot_token, api_url=slack.api_url))
        reviewers, woken = PlayedReviewers(says or {}), Woken()
        reviewing = ReviewContext(
            reviewers=reviewers,
            workspace=workspace,
            archive=workspace,
            board=SlackBoard(client, await identify(patient)),
            homes=ItemLocator(store, workspace),
            playbook=shipped(),
            clock=now,
            sights=Viewers(store, workspace, OnePerson(), lambda _: shipped().policy),
            **more,
        )
        triage = ReviewTriage(reviewing, notices=notices, wake=woken, team=slack.team_id)
        yield Room(triage, workspace, reviewers, notices, slack, root, woken, thread)


async def _kept(enter: Callable[[Any], Awaitable[Any]], root: Path, redis_url: str) -> tuple[Store, Notices]:
    kept = RedisStore(redis_url, team="T1") if redis_url else SqliteStore(root / ".roundtable")
    store = await enter(kept)
    return store, store.notices
