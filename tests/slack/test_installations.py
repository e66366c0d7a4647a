"""Who may install the app, what is kept of it, how its tokens are renewed, and how it is removed: Bolt's own OAuth."""

import asyncio
import json
import logging
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography.fernet import Fernet
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError, Unavailable
from bot.server.http import serving
from bot.slack import client as slack_client
from bot.slack.installations import Installations, SealedInstallations, SeveralApp, States, pages
from bot.slack.transport import bolt_request
from bot.storage.installed import RedisInstallations
from bot.storage.sqlite import FILE, SqliteStore
from tests.installing import (
    AS_THE_SDK_DOES,
    CLIENT_ID,
    CLIENT_SECRET,
    Browser,
    SeveralSlacks,
    organization,
    workspace,
)
from tests.ports import free_port

pytestmark = AS_THE_SDK_DOES
KEY, NEW_KEY = (Fernet.generate_key().decode() for _ in range(2))
ALLOWED = ("T1", "T2", "E1")


@dataclass
class Heard:
    """What reaches the apps of the teams."""

    payloads: list[tuple[str, str]] = field(default_factory=list)
    installs: list[str] = field(default_factory=list)
    removals: list[str] = field(default_factory=list)

    async def dispatch(self, team: str, request: AsyncBoltRequest) -> BoltResponse:
        self.payloads.append((team, str(request.body.get("event", {}).get("text", ""))))
        return BoltResponse(status=200)

    async def installed(self, team: str) -> None:
        self.installs.append(team)

    async def removed(self, team: str) -> None:
        self.removals.append(team)


@dataclass
class Scene:
    slack: SeveralSlacks
    client: AsyncWebClient
    sealed: SealedInstallations
    store: Path | str
    """The folder of the store, or the address of Redis."""
    heard: Heard
    installations: Installations
    app: SeveralApp
    browser: Browser
    url: str

    async def install(self, who: dict[str, Any]) -> tuple[int, str]:
        self.slack.installing = who
        return await Browser(self.url).install()

    async def install_expiring(self) -> None:
        """In T1, where the token has to be renewed."""
        self.slack.rotates = True
        await self.install(workspace("T1"))
        await self.expires(60)

    async def expires(self, seconds: float) -> None:
        """The token of T1."""
        found = await self.installations.bot("T1")
        assert found
        found.bot_token_expires_at = int(time.time() + seconds)
        await self.installations.async_save_bot(found)

    def with_keys(self, *keys: str) -> Installations:
        """As another process has them."""
        return _installations(self.sealed, self.client, *keys)

    async def told(
        self,
        team: str,
        event: dict[str, Any],
        *,
        enterprise: str = "",
        whole: bool = False,
        at: float | None = None,
    ) -> int:
        body = {
            "type": "event_callback",
            "team_id": team,
            "enterprise_id": enterprise or None,
            "api_app_id": "A0SANDBOX",
            "event": event,
            "event_id": "Ev1",
            "event_time": int(time.time() if at is None else at),
            "is_enterprise_install": whole,
            "authorizations": [
                {"enterprise_id": enterprise or None, "team_id": None if whole else team, "user_id": "U0BOT",
                 "is_bot": True, "is_enterprise_install": whole}
            ],
        }  # fmt: skip
        headers: dict[str, str | Sequence[str]] = {"content-type": ["application/json"]}
        return (
            await self.app.async_dispatch(AsyncBoltRequest(body=json.dumps(body), headers=headers))
        ).status

    def said(self, text: str) -> dict[str, Any]:
        return {"type": "message", "user": "U0GRACE", "channel": "C1", "ts": "1.1", "text": text}

    def dump(self) -> bytes:
        """All that the store has."""
        if isinstance(self.store, Path):
            with sqlite3.connect(self.store / FILE) as store:
                return "\n".join(store.iterdump()).encode()
        with redis.Redis.from_url(self.store) as kept:
            names = [name for name in kept.scan_iter() if isinstance(name, bytes)]
            return b"\n".join(
                [*names, *(value for name in names if isinstance(value := kept.get(name), bytes))]
            )


def _installations(sealed: SealedInstallations, client: AsyncWebClient, *keys: str) -> Installations:
    rotator = AsyncTokenRotator(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, client=client)
    return Installations(sealed, keys=keys, allowed=ALLOWED, rotator=rotator)


@asynccontextmanager
async def scene(slack: SeveralSlacks, store: Path | str) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        client = await enter(slack_client.opened("", api_url=slack.api_url))
        sealed: SealedInstallations
        if isinstance(store, Path):
            sealed = (await enter(SqliteStore(store))).installations
        else:
            sealed = await enter(RedisInstallations(store))
        heard, installations = Heard(), _installations(sealed, client, KEY)
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        app = SeveralApp(
            client,
            installations,
            States(sealed),
            heard,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            url=url,
        )
        await enter(serving("127.0.0.1", port, get=pages(app)))
        yield Scene(slack, client, sealed, store, heard, installations, app, Browser(url), url)


@pytest.fixture
async def slack() -> AsyncIterator[SeveralSlacks]:
    async with SeveralSlacks() as one:
        yield one


@pytest.fixture(params=["embedded", "redis"])
async def several(
    request: pytest.FixtureRequest, slack: SeveralSlacks, tmp_path: Path
) -> AsyncIterator[Scene]:
    where: Path | str = tmp_path if request.param == "embedded" else request.getfixturevalue("redis_url")
    async with scene(slack, where) as made:
        yield made


in_one_store = pytest.mark.parametrize("several", ["embedded"], indirect=True)
"""Where nothing depends on the store."""


# --- installing -----------------------------------------------------------------------------------------------------


async def test_a_named_workspace_installs_the_app_and_is_heard(several: Scene) -> None:
    assert await several.install(workspace("T1")) == (
        200,
        "Roundtable is installed. Invite it to a channel, and type /roundtable help there.",
    )
    await several.told("T1", several.said("hello"))

    assert several.heard.installs == ["T1"]
    assert several.heard.payloads == [("T1", "hello")]
    assert await several.installations.token("T1") == "xoxb-1-T1"


async def test_no_token_can_be_read_in_the_store(several: Scene) -> None:
    several.slack.rotates = True
    await several.install(workspace("T1"))
    await several.install(organization("E1"))
    dump = several.dump()

    assert b"T1" in dump
    assert not re.search(rb"xox[a-z]-", dump)


@in_one_store
async def test_a_stranger_installs_nothing_and_the_token_is_given_back(several: Scene) -> None:
    assert await several.install(workspace("T9")) == (
        403,
        "T9 is not named in ROUNDTABLE_TEAMS. Nothing was installed.",
    )
    await several.told("T9", several.said("hello"))

    assert several.slack.revoked == ["T9"]
    assert await several.sealed.get("T9") == ""
    assert (several.heard.installs, several.heard.payloads) == ([], [])


async def test_a_state_is_good_once(several: Scene) -> None:
    several.slack.installing = workspace("T1")
    state = await several.browser.begin()
    first = await several.browser.come_back(code="good", state=state)
    again = await several.browser.come_back(code="good", state=state)

    assert first[0] == 200
    assert again == (
        401,
        "Nothing was installed: this address was used before, or is too old. Begin again at /slack/install.",
    )


@in_one_store
async def test_a_state_of_another_browser_is_refused(several: Scene) -> None:
    """Nobody can be made to install the app by a link."""
    several.slack.installing = workspace("T1")
    theirs = await Browser(several.url).begin()
    await several.browser.begin()
    without_cookie = await Browser(several.url).come_back(code="good", state=theirs)
    with_another = await several.browser.come_back(code="good", state=theirs)

    assert (
        without_cookie
        == with_another
        == (
            400,
            "Nothing was installed: this page was opened without the one before it. Begin at /slack/install.",
        )
    )
    assert several.heard.installs == []


async def test_a_state_is_too_old_after_ten_minutes(several: Scene) -> None:
    await several.sealed.issue("old", seconds=0.001)
    await asyncio.to_thread(time.sleep, 0.01)

    assert not await several.sealed.take("old")
    assert not await several.sealed.take("never issued")


@in_one_store
@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ({"error": "access_denied"}, 200, "you did not allow it."),
        ({"error": "<script>alert(1)</script>"}, 200, "Slack refused it."),
    ],
)
async def test_who_says_no_is_told_that_nothing_was_installed(
    several: Scene, query: dict[str, str], status: int, why: str
) -> None:
    """The reason is a part of the address, which anybody can write."""
    assert await several.browser.come_back(**query) == (status, f"Nothing was installed: {why}")


@in_one_store
async def test_a_code_that_slack_refuses_installs_nothing(several: Scene) -> None:
    several.slack.installing = workspace("T1")
    answer = await several.browser.come_back(code="bad", state=await several.browser.begin())

    assert answer == (
        401,
        "Nothing was installed: Slack did not accept the code. The log of the bot says more.",
    )
    assert several.heard.installs == []


# --- organizations --------------------------------------------------------------------------------------------------


@in_one_store
async def test_an_organization_is_one_team_for_all_its_workspaces(several: Scene) -> None:
    await several.install(organization("E1"))
    await several.told("T7", several.said("from one"), enterprise="E1", whole=True)
    await several.told("T8", several.said("from another"), enterprise="E1", whole=True)
    await several.told("T8", several.said("from elsewhere"), enterprise="E2", whole=True)

    assert several.heard.payloads == [("E1", "from one"), ("E1", "from another")]


@in_one_store
async def test_a_workspace_with_an_installation_of_its_own_is_a_team_of_its_own(several: Scene) -> None:
    await several.install(organization("E1"))
    await several.install(workspace("T1", enterprise="E1"))
    await several.told("T1", several.said("ours"), enterprise="E1")
    await several.told("T7", several.said("theirs"), enterprise="E1", whole=True)

    assert several.heard.payloads == [("T1", "ours"), ("E1", "theirs")]


async def test_a_workspace_that_removes_the_app_does_not_remove_its_organization(several: Scene) -> None:
    await several.install(organization("E1"))
    await several.install(workspace("T1", enterprise="E1"))
    await several.told("T1", {"type": "app_uninstalled"}, enterprise="E1")
    await several.told("T7", several.said("still here"), enterprise="E1", whole=True)

    assert several.heard.removals == ["T1"]
    assert several.heard.payloads == [("E1", "still here")]


# --- removing -------------------------------------------------------------------------------------------------------

UNINSTALLED = {"type": "app_uninstalled"}
REVOKED = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U0ROUNDTABLE"]}}


@pytest.mark.parametrize("events", [(UNINSTALLED, REVOKED), (REVOKED, UNINSTALLED)], ids=["first", "last"])
async def test_who_removes_the_app_is_not_heard_any_more(
    several: Scene, events: tuple[dict[str, Any], ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Slack sends two events, in any order. The neighbours do not notice."""
    caplog.set_level(logging.INFO)
    await several.install(workspace("T1"))
    await several.install(workspace("T2"))
    for event in events:
        assert await several.told("T1", event) == 200
    await several.told("T1", several.said("gone"))
    await several.told("T2", several.said("here"))

    assert several.heard.removals == ["T1"]
    assert several.heard.payloads == [("T2", "here")]
    assert await several.sealed.get("T1") == ""
    assert caplog.text.count("the app was removed from T1: its token is deleted") == 1
    with pytest.raises(SlackError, match="not installed"):
        await several.installations.token("T1")


async def test_what_comes_late_does_not_remove_what_was_installed_since(several: Scene) -> None:
    await several.install(workspace("T1"))
    await several.told("T1", UNINSTALLED)
    await several.install(workspace("T1"))
    await several.told("T1", REVOKED, at=time.time() - 60)

    assert several.heard.removals == ["T1"]
    assert await several.installations.token("T1") == "xoxb-2-T1"


@in_one_store
async def test_the_token_of_a_person_is_none_of_ours(several: Scene) -> None:
    await several.install(workspace("T1"))
    await several.told("T1", {"type": "tokens_revoked", "tokens": {"oauth": ["U0ADA"], "bot": []}})

    assert several.heard.removals == []
    assert await several.installations.token("T1")


# --- tokens that expire ---------------------------------------------------------------------------------------------


async def test_a_token_is_renewed_once_whoever_asks(several: Scene) -> None:
    """What it is renewed with is good once, and the next process has the new one."""
    await several.install_expiring()
    tokens = await asyncio.gather(*(several.installations.token("T1") for _ in range(20)))

    assert set(tokens) == {"xoxe.xoxb-2-T1"}
    assert several.slack.refreshed == ["xoxe-1"]
    assert await several.with_keys(KEY).token("T1") == "xoxe.xoxb-2-T1"


async def test_two_processes_renew_it_once(slack: SeveralSlacks, redis_url: str) -> None:
    async with scene(slack, redis_url) as several:
        await several.install_expiring()
        async with RedisInstallations(redis_url) as theirs:
            other = _installations(theirs, several.client, KEY)
            tokens = await asyncio.gather(several.installations.token("T1"), other.token("T1"))

    assert set(tokens) == {"xoxe.xoxb-2-T1"}
    assert slack.refreshed == ["xoxe-1"]


@pytest.mark.parametrize("is_ours", [True, False], ids=["by this process", "by another"])
async def test_a_renewal_brings_no_installation_back_that_was_removed_meanwhile(
    several: Scene,
    is_ours: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    """And the days until its data are deleted are counted from then."""
    await several.install_expiring()
    who = several.installations if is_ours else several.with_keys(KEY)

    async def remove() -> None:
        assert await who.removed("T1", at=time.time() + 1)

    several.slack.while_renewing = remove
    with pytest.raises(SlackError, match="not installed"):
        await several.installations.token("T1")

    assert several.slack.refreshed == ["xoxe-1"]
    assert await several.sealed.get("T1") == ""
    assert await several.sealed.removed_at("T1")
    assert await several.installations.bot("T1") is None


@pytest.mark.parametrize("is_ours", [True, False], ids=["by this process", "by another"])
async def test_a_renewal_does_not_replace_what_was_installed_meanwhile(
    several: Scene,
    is_ours: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    await several.install_expiring()
    found = await several.installations.bot("T1")
    assert found
    newer = Bot(**{**found.to_dict_for_copying(), "bot_token": "xoxe.xoxb-new", "bot_token_expires_at": None})
    who = several.installations if is_ours else several.with_keys(KEY)
    several.slack.while_renewing = lambda: who.async_save_bot(newer)

    assert await several.installations.token("T1") == "xoxe.xoxb-new"
    assert several.slack.refreshed == ["xoxe-1"]
    assert await several.with_keys(KEY).token("T1") == "xoxe.xoxb-new"


async def test_what_could_not_be_saved_is_saved_later_unless_it_was_removed_since(
    several: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await several.install_expiring()
    with monkeypatch.context() as away:

        async def no_answer(*_: object, **__: object) -> bool:
            raise Unavailable("Redis did not answer")

        away.setattr(several.sealed, "replace", no_answer)
        assert await several.installations.token("T1") == "xoxe.xoxb-2-T1"
    assert await several.with_keys(KEY).removed("T1", at=time.time() + 1)
    monkeypatch.setattr("bot.slack.installations.KEPT_SECONDS", 0.0)

    assert await several.installations.bot("T1") is None
    assert await several.sealed.get("T1") == ""


@in_one_store
async def test_a_caller_that_is_cancelled_does_not_lose_the_new_token(several: Scene) -> None:
    await several.install_expiring()
    hasty = asyncio.create_task(several.installations.token("T1"))
    await asyncio.sleep(0)
    hasty.cancel()

    assert await several.installations.token("T1") == "xoxe.xoxb-2-T1"
    assert several.slack.refreshed == ["xoxe-1"]


@in_one_store
async def test_while_slack_does_not_renew_it_the_old_one_is_used_to_its_end(
    several: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    await several.install_expiring()
    several.slack.refuses_to_renew = "invalid_refresh_token"
    assert await several.installations.token("T1") == "xoxe.xoxb-1-T1"
    assert "the token of T1 was not renewed yet" in caplog.text

    await several.expires(-1)
    with pytest.raises(SlackError, match="Slack did not renew the token of this workspace"):
        await several.installations.token("T1")


# --- keys -----------------------------------------------------------------------------------------------------------


@in_one_store
async def test_a_key_is_changed_by_adding_the_new_one_in_front(several: Scene) -> None:
    await several.install(workspace("T1"))
    both = several.with_keys(NEW_KEY, KEY)
    found = await both.bot("T1")
    assert found
    await both.async_save_bot(found)

    assert await several.with_keys(NEW_KEY).token("T1") == "xoxb-1-T1"


@in_one_store
async def test_with_a_wrong_key_it_counts_as_not_installed(
    several: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    await several.install(workspace("T1"))

    assert await several.with_keys(NEW_KEY).bot("T1") is None
    assert (
        "the installation of T1 is sealed with a key that ROUNDTABLE_TOKEN_KEY does not have" in caplog.text
    )
    assert await several.installations.token("T1") == "xoxb-1-T1"


# --- payloads that are for nobody -----------------------------------------------------------------------------------


@in_one_store
async def test_what_is_for_no_workspace_of_ours_is_acknowledged_and_logged_once(
    several: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        assert await several.told("T2", several.said("hello")) == 200

    assert several.heard.payloads == []
    assert caplog.text.count("Slack sent it for T2") == 1


@in_one_store
async def test_a_payload_of_no_workspace_is_acknowledged_and_reaches_nobody(several: Scene) -> None:
    await several.install(workspace("T1"))
    odd = {"type": "event_callback", "team_id": {"T1": "T1"}, "enterprise_id": [], "event": "no object"}

    for body in ({}, odd):
        assert (await several.app.async_dispatch(bolt_request(json.dumps(body), headers={}))).status == 200
    assert several.heard.payloads == []
