"""Several Slack workspaces in one process: each has what is said in it, and nothing of its neighbours."""

import errno
import json
import logging
import math
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import redis
import yaml
from cryptography.fernet import Fernet
from prometheus_client.parser import text_string_to_metric_families

from bot import app, cast, tenants
from bot.app import AS_SET, Variations
from bot.cli import check, forget
from bot.cli.keys import KEY_SIGN, key_of
from bot.content.agent_keys import write_keys
from bot.domain.item.item import item_from
from bot.domain.values.timestamps import before
from bot.engine.ports import now
from bot.errors import ConfigError
from bot.expiry import Expired, Expiry
from bot.settings import Settings
from bot.storage.git.tree import STATE
from bot.storage.installed import RedisInstallations
from bot.storage.sqlite import FILE
from bot.tenants import StoppedTeams, Tenants
from slack_sandbox import Sandbox
from slack_sandbox.server import PEOPLE
from tests.all_steps import all_steps
from tests.e2e.meeting import CHANNEL, SHORT_PATH, LogLines, Meeting, sandbox, settings
from tests.e2e.test_agents_ask import agent_at, ask, told
from tests.e2e.test_issues import SECRET, github_says, to_the_end
from tests.e2e.test_operating import Bot, asked, ready, wait_for
from tests.e2e.test_operating import bot as process
from tests.e2e.test_short_path import CARDS
from tests.installing import AS_THE_SDK_DOES, CLIENT_ID, CLIENT_SECRET, Browser, SeveralSlacks, workspace
from tests.integrations.strict_github import TOKEN, strict_github
from tests.patience import wait_until
from tests.ports import free_port
from tests.test_posted import request_body, signed
from tests.voices.models.provider import ModelServer, says

pytestmark = AS_THE_SDK_DOES
OURS, NEXT = "T1OURS", "T2NEXT"
SAID = {OURS: "Field workers lose their edits", NEXT: "Customers wait for their invoices"}
KEY = Fernet.generate_key().decode()


@dataclass
class Company:
    """One bot, and the workspaces that may install it. Their channels, people and messages have the same ids."""

    sandboxes: dict[str, Sandbox]
    slacks: SeveralSlacks
    folder: Path
    url: str
    more: dict[str, str]
    health: int = field(default_factory=free_port)

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.env)

    @property
    def env(self) -> dict[str, str]:
        return {
            "SLACK_API_URL": self.slacks.api_url,
            "SLACK_CLIENT_ID": CLIENT_ID,
            "SLACK_CLIENT_SECRET": CLIENT_SECRET,
            "SLACK_SIGNING_SECRET": "sandbox-signing-secret",
            "ROUNDTABLE_URL": self.url,
            "ROUNDTABLE_PORT": self.url.rpartition(":")[2],
            "ROUNDTABLE_HEALTH_PORT": str(self.health),
            "ROUNDTABLE_TEAMS": ",".join(self.sandboxes),
            "ROUNDTABLE_TOKEN_KEY": KEY,
            "ROUNDTABLE_SEAL_KEY": "a-key-that-stays-the-same",
            "ROUNDTABLE_WORKSPACE": str(self.folder),
            "ROUNDTABLE_LOOK_FIRST": "no",
            "ROUNDTABLE_STEPS": all_steps(),
            **self.more,
        }

    @asynccontextmanager
    async def bot(
        self, *installing: str, how: Variations = AS_SET, web: bool = False
    ) -> AsyncIterator[Tenants]:
        """Up and listening, with the app installed in those workspaces."""
        async with tenants.bot(self.settings, web=web, how=how) as running:
            for team in installing:
                await self.install(team)
            for slack in self.sandboxes.values():
                assert await slack.use_http(f"{self.url}/slack/events")
            yield running

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Bot]:
        """One of several, at an address of its own."""
        slack = next(iter(self.sandboxes.values()))
        env = {**self.env, "SLACK_BOT_TOKEN": "", "SLACK_APP_TOKEN": ""}
        del env["ROUNDTABLE_PORT"], env["ROUNDTABLE_HEALTH_PORT"]
        async with process(slack, self.folder, until="is listening for", **env) as running:
            yield running

    async def install(self, team: str, url: str = "") -> None:
        self.slacks.installing = workspace(team)
        assert await Browser(url or self.url).install() == (
            200,
            "Roundtable is installed. Invite it to a channel, and type /roundtable help there.",
        )

    def meeting(self, team: str) -> Meeting:
        return Meeting(self.sandboxes[team], self.folder / team)

    async def uninstall(self, team: str) -> None:
        self.slacks.forget_tokens(team)
        slack = self.sandboxes[team]
        slack.emit({"type": "app_uninstalled"})
        slack.emit({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U0ROUNDTABLE"]}})
        await slack.settled()


@asynccontextmanager
async def company(folder: Path, *teams: str, **more: str) -> AsyncIterator[Company]:
    async with AsyncExitStack() as stack:
        sandboxes = {team: await stack.enter_async_context(sandbox()) for team in teams}
        for team, slack in sandboxes.items():
            slack.workspace.team_id = team
        slacks = await stack.enter_async_context(SeveralSlacks(sandboxes))
        yield Company(sandboxes, slacks, folder, f"http://127.0.0.1:{free_port()}", more)


A_DAY = 24 * 60 * 60


class Calendar:
    """The clock of this machine, and the days that have passed since."""

    def __init__(self) -> None:
        self.days = 0

    def __call__(self) -> str:
        return before(now(), -self.days * A_DAY)


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Company]:
    async with company(tmp_path / "workspaces", OURS, NEXT) as one:
        yield one


def files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            yield str(path), path.read_bytes()


async def test_each_word_lands_in_the_repository_of_its_workspace(
    tmp_path: Path, where: dict[str, str], log_lines: LogLines
) -> None:
    """Items of the same name, in channels of the same id. No file and no log line of one names the other."""
    async with company(tmp_path / "workspaces", OURS, NEXT, **where) as two, two.bot(OURS, NEXT):
        meetings = {team: two.meeting(team) for team in SAID}
        for meeting in meetings.values():
            await meeting.start("Offline sync")
        for team, meeting in meetings.items():
            await meeting.do_step(SAID[team])
            await meeting.slack.settled()

    for team, meeting in meetings.items():
        other = NEXT if team == OURS else OURS
        assert [line.content for line in meeting.lines("User")] == [SAID[team]]
        assert not any(SAID[other] in one.text for one in two.sandboxes[team].messages(CHANNEL))
        of_other = (other.encode(), SAID[other].encode())
        assert [
            name
            for name, content in files_below(meeting.workspace)
            if any(one in content for one in of_other)
        ] == []
        lines = [line for line in log_lines() if line.get("team") == team]
        assert any("is at work" in line["event"] for line in lines)
        assert [line for line in lines if other in json.dumps(line)] == []
    people = [person.id for person in PEOPLE]
    assert [line for line in log_lines() if any(one in json.dumps(line) for one in people)] == []
    if url := where.get("REDIS_URL"):
        with redis.Redis.from_url(url) as kept:
            dump = b"".join(kept.dump(name) or b"" for name in kept.scan_iter())
    else:
        with closing(sqlite3.connect(two.folder / STATE / FILE)) as kept_here:
            dump = "".join(kept_here.iterdump()).encode()
    assert not re.search(rb"xox[a-z]-", dump)


async def test_a_hostile_neighbour_reaches_nothing_with_ids_that_it_has_heard_of(two: Company) -> None:
    """Slugs, channels, threads, messages and buttons of another workspace mean nothing here."""
    async with two.bot(OURS, NEXT):
        ours, theirs = two.meeting(OURS), two.meeting(NEXT)
        await ours.start("Secret merger")
        card = await ours.do_step(SAID[OURS])
        await theirs.start("Lunch")
        await ours.slack.settled()
        before = (len(two.sandboxes[OURS].calls), ours.git("rev-parse", "HEAD"), len(ours.thread))
        hostile = two.sandboxes[NEXT].person("ada")
        for words in (
            "resume secret-merger",
            "status secret-merger",
            "plan secret-merger",
            "find merger",
            "list",
        ):
            await hostile.slash(CHANNEL, f"/roundtable {words}")
        for event in ("message", "app_mention"):
            two.sandboxes[NEXT].emit({
                "type": event, "user": "U0ADA", "channel": card.channel, "team": OURS, "ts": "1999999999.000100",
                "thread_ts": ours.root, "text": "<@U0ROUNDTABLE> We drop the merger", "event_ts": "1999999999.000100",
            })  # fmt: skip
        two.sandboxes[NEXT].emit({
            "type": "reaction_added", "user": "U0ADA", "reaction": "no_entry", "item_user": "U0GRACE",
            "item": {"type": "message", "channel": card.channel, "ts": card.ts}, "event_ts": "1999999999.000200",
        })  # fmt: skip
        await two.sandboxes[NEXT].settled()
        await theirs.do_step(SAID[NEXT])
        await ours.slack.settled()

        assert (len(two.sandboxes[OURS].calls), ours.git("rev-parse", "HEAD"), len(ours.thread)) == before
        shown = [
            *(one.text for one in two.sandboxes[NEXT].messages(CHANNEL)),
            *(json.dumps(one.args, default=str) for one in two.sandboxes[NEXT].calls),
            *(json.dumps(one.response, default=str) for one in two.sandboxes[NEXT].deliveries),
        ]
        assert [one for one in shown if SAID[OURS] in one or "Secret merger" in one] == []
        assert not (two.folder / NEXT / "docs" / "requirements" / "secret-merger").exists()


async def test_a_review_reaches_the_workspace_whose_secret_signed_it_and_no_other(tmp_path: Path) -> None:
    """Items have the same names in both. A team that is not named, or has not installed the app, is not there."""
    secrets = {OURS: "whsec_" + "OURS" * 8, NEXT: "whsec_" + "NEXT" * 8, "T9AWAY": "whsec_" + "AWAY" * 8}
    given = ",".join(f"{team}:{secret}" for team, secret in secrets.items())
    teams = tuple(secrets)
    async with (
        company(tmp_path / "workspaces", *teams, ROUNDTABLE_REVIEW_SECRET=given) as two,
        two.bot(OURS, NEXT),
        aiohttp.ClientSession() as http,
    ):
        meetings = {team: two.meeting(team) for team in SAID}
        for meeting in meetings.values():
            await meeting.start("Offline sync")
            await meeting.do_step("requirement: Limits are per client.")

        async def post(path: str, of: str) -> int:
            body = request_body()
            headers = signed(body, secret=secrets[of])
            async with http.post(f"{two.url}{path}", data=body, headers=headers) as answer:
                return answer.status

        refused = [
            await post(f"/reviews/{NEXT}", OURS),
            await post(f"/reviews/{OURS}", NEXT),
            await post("/reviews", OURS),
            await post("/reviews/T9AWAY", "T9AWAY"),
            await post("/reviews/T0STRANGER", OURS),
        ]
        assert refused == [401, 401, 404, 404, 404]
        assert await post(f"/reviews/{OURS}", OURS) == 201
        await meetings[OURS].seen("*Review 1*")

    assert [(one.folder / "reviews").exists() for one in meetings.values()] == [True, False]
    assert not any("Review 1" in one.text for one in two.sandboxes[NEXT].messages(CHANNEL))


async def test_a_key_of_an_agent_opens_its_own_workspace_and_no_other(tmp_path: Path) -> None:
    """Keys are in a file for each workspace, so the same name, owner and item are another's there."""
    keys = tmp_path / "keys"
    keys.mkdir()
    async with company(
        tmp_path / "workspaces", OURS, NEXT, ROUNDTABLE_AGENT_KEYS=str(keys / "{team}.json")
    ) as two:
        secrets = {team: f"{KEY_SIGN}{team.lower()}" for team in SAID}
        for team, secret in secrets.items():
            write_keys(keys / f"{team}.json", [key_of(secret, "claude", owner="U0ADA", may_ask=True)])
        async with two.bot(OURS, NEXT), aiohttp.ClientSession() as http:
            meetings = {team: two.meeting(team) for team in SAID}
            for team, meeting in meetings.items():
                await meeting.start("Offline sync")
                await meeting.do_step(f"requirement: {SAID[team]}.")

            for path, team in ((NEXT, OURS), (OURS, NEXT), ("T0STRANGER", OURS)):
                headers = {"Authorization": f"Bearer {secrets[team]}"}
                async with http.post(f"{two.url}/mcp/{path}", data=b"{}", headers=headers) as answer:
                    assert answer.status == (404 if path == "T0STRANGER" else 401)
            for team, words in SAID.items():
                async with agent_at(f"{two.url}/mcp/{team}", secrets[team]) as agent:
                    seen = json.dumps(await told(agent, "get_specification", item="offline-sync"))
                    assert words in seen
                    assert SAID[NEXT if team == OURS else OURS] not in seen
            async with agent_at(f"{two.url}/mcp/{OURS}", secrets[OURS]) as agent:
                await ask(agent, "May a limit be below ten?")
                await meetings[OURS].seen("an agent for")

    assert not any("an agent for" in one.text for one in two.sandboxes[NEXT].messages(CHANNEL))


async def test_the_issues_of_a_workspace_are_out_of_reach_for_its_neighbour(tmp_path: Path) -> None:
    """A start by its address or its name, or what the webhook's secret signed."""
    async with strict_github() as github, aiohttp.ClientSession() as http:
        github.add("acme/private#42", "Secret merger", SAID[OURS])
        more = {
            "ROUNDTABLE_GITHUB": "acme/private",
            "ROUNDTABLE_GITHUB_KEY": TOKEN,
            "ROUNDTABLE_GITHUB_URL": github.url,
            "ROUNDTABLE_GITHUB_SECRET": SECRET,
            "ROUNDTABLE_GITHUB_TEAMS": OURS,
        }
        async with company(tmp_path / "workspaces", OURS, NEXT, **more) as two, two.bot(OURS, NEXT):
            theirs, address = two.sandboxes[NEXT].person("ada"), f"{github.url}/acme/private/issues/42"
            for reference in ("acme/private#42", address):
                await theirs.slash(CHANNEL, f"/roundtable start {reference}")
            await two.sandboxes[NEXT].settled()
            assert github.asked == []
            assert not any(SAID[OURS] in one.text for one in two.sandboxes[NEXT].messages(CHANNEL))
            body = b'{"issue": {"html_url": "https://github.com/acme/private/issues/42", "body": ""}}'
            answers = list[int]()
            for team in (OURS, NEXT):
                told = http.post(f"{two.url}/github/{team}", data=body, headers=github_says(body))
                async with told as answer:
                    answers.append(answer.status)
            assert answers == [204, 404]

            ours = two.meeting(OURS)
            await ours.start(address, slug=item_from(address).slug)
            assert "Secret merger" in ours.thread[0].text


# --- what operators see ---------------------------------------------------------------------------------------------

SELECTOR = re.compile(r"\b((?:roundtable|process)_[a-z_]+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|=|!=)"([^"]*)"')
OF_PROMETHEUS = {"job"}


def not_shown(page: str) -> list[str]:
    """The selectors of all alerts that find no number on *page*: these alerts can never fire."""
    rules = yaml.safe_load(Path("deploy/alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    samples = [one for family in text_string_to_metric_families(page) for one in family.samples]

    def finds(name: str, matchers: str) -> bool:
        wanted = [one for one in MATCHER.findall(matchers) if one[0] not in OF_PROMETHEUS]
        return any(
            one.name == name
            and not math.isnan(one.value)
            and all(
                bool(re.fullmatch(values, one.labels.get(label, ""))) is ("!" not in operator)
                for label, operator, values in wanted
            )
            for one in samples
        )

    found = {selector for rule in rules for selector in SELECTOR.findall(rule["expr"])}
    return sorted("{".join(selector) for selector in found if not finds(*selector))


def owns_both(running: Tenants) -> bool:
    """From then on no press has to wait for an owner, which a busy machine may take longer for than Slack waits."""
    owners = [one.team.owner for one in running.opened]
    return len(owners) == 2 and all(owner is None or owner.mine for owner in owners)


ASKING_A_MODEL = {"ROUNDTABLE_MODEL": "ollama:small", "OLLAMA_BASE_URL": "http://127.0.0.1:1/v1"}


async def test_every_alert_looks_at_what_several_workspaces_show(
    tmp_path: Path, where: dict[str, str]
) -> None:
    policies = tmp_path / "policies.yaml"
    policies.write_text(f"teams:\n  {OURS}:\n    month: 1000 tokens\n")
    more = {**where, **ASKING_A_MODEL, "ROUNDTABLE_POLICIES": str(policies)}
    async with (
        company(tmp_path / "workspaces", OURS, NEXT, **more) as two,
        two.bot(OURS, NEXT, web=True) as running,
    ):
        await wait_until(lambda: owns_both(running))
        await two.meeting(OURS).start("Offline sync")

        async def shows_all() -> bool:
            """The reviews are looked at for the first time in a moment."""
            _, page = await asked(two.health, "/metrics")
            return not not_shown(page)

        await wait_until(shows_all)


async def test_every_alert_looks_at_what_one_workspace_shows(
    meeting: Meeting, where: dict[str, str], port: int
) -> None:
    """But the budget for a month, which only one of several has."""
    more = {**where, **ASKING_A_MODEL, "ROUNDTABLE_HEALTH_PORT": str(port)}
    async with app.bot(settings(meeting.slack, meeting.workspace, **more)):
        await meeting.start("Offline sync")
        _, page = await asked(port, "/metrics")

    assert not_shown(page) == ["roundtable_budget_used_ratio{"]


async def test_a_workspace_that_takes_no_writes_shows_and_costs_its_neighbour_nothing(
    two: Company, tmp_path: Path
) -> None:
    """When none takes writes, as on a full disk, the process is not ready."""
    async with two.bot(OURS, NEXT, web=True):
        await wait_for(lambda parts: parts["workspace"].get("unusable_teams") == 0, two.health)
        aside = list[Path]()
        for team in (OURS, NEXT):
            blocked = two.folder / team / ".git/objects"
            aside.append(blocked.rename(tmp_path / f"aside-{team}"))
            blocked.write_text("in the way")
            await wait_for(lambda parts: parts["workspace"].get("unusable_teams") == len(aside), two.health)
            _, page = await asked(two.health, "/metrics")
            assert f'roundtable_usable{{part="workspace",team="{team}"}} 0.0' in page
            await ready(two.health, is_ready=team == OURS)


async def test_a_volume_that_takes_no_writes_shows_where_no_workspace_is_open(
    two: Company, tmp_path: Path
) -> None:
    """Nothing could be opened on it, so the process is not ready."""
    async with two.bot(web=True):
        assert (await ready(two.health, is_ready=True))["workspace"] == {"ok": True, "unusable_teams": 0}
        two.folder.rename(tmp_path / "aside")
        two.folder.write_text("in the way")
        await wait_for(lambda parts: not parts["workspace"]["ok"], two.health)
        await ready(two.health, is_ready=False)


async def test_a_workspace_that_cannot_be_opened_shows(two: Company) -> None:
    """As after a restart with a full disk; the other one works."""
    two.folder.mkdir()
    (two.folder / OURS).write_text("in the way")
    async with two.bot(OURS, NEXT, web=True):
        await two.meeting(NEXT).start("Lunch")
        parts = await ready(two.health, is_ready=True)
        _, page = await asked(two.health, "/metrics")

    assert parts["workspace"]["unusable_teams"] == 1
    assert f'roundtable_usable{{part="workspace",team="{OURS}"}} 0.0' in page
    assert f'roundtable_usable{{part="workspace",team="{NEXT}"}} 1.0' in page


async def test_a_token_that_slack_refuses_shows_at_its_workspace(two: Company) -> None:
    async with two.bot(OURS, NEXT, web=True):
        await two.meeting(OURS).start("Offline sync")
        two.slacks.forget_tokens(OURS)
        await two.meeting(OURS).say(SAID[OURS])

        async def is_shown() -> bool:
            _, page = await asked(two.health, "/metrics")
            return f'roundtable_slack_shut_out{{team="{OURS}"}} 1.0' in page

        await wait_until(is_shown)
        _, page = await asked(two.health, "/metrics")
        assert f'roundtable_usable{{part="slack",team="{OURS}"}} 0.0' in page
        assert f'roundtable_usable{{part="slack",team="{NEXT}"}} 1.0' in page
        assert 'roundtable_usable{part="slack"} 1.0' in page


async def test_many_workspaces_share_one_process(tmp_path: Path) -> None:
    teams = [f"T{number:02}TEAM" for number in range(6)]
    async with company(tmp_path / "workspaces", *teams) as many, many.bot(*teams):
        meetings = {team: many.meeting(team) for team in teams}
        for meeting in meetings.values():
            await meeting.start("Offline sync")
        for team, meeting in meetings.items():
            await meeting.do_step(f"This is a word of {team}")

    for team, meeting in meetings.items():
        assert [line.content for line in meeting.lines("User")] == [f"This is a word of {team}"]
        others = [other.encode() for other in teams if other != team]
        content = b"".join(content for _, content in files_below(meeting.workspace))
        assert [other for other in others if other in content] == []


async def test_a_discussion_goes_on_after_a_restart(two: Company) -> None:
    """The teams that have installed the app are opened at once: what was left to do is done."""
    meeting = two.meeting(OURS)
    async with two.bot(OURS):
        await meeting.start("Offline sync")
    async with two.bot() as running:
        await wait_until(lambda: running.opened)
        assert [one.team.reception.us.team for one in running.opened] == [OURS]
        await meeting.do_step(SAID[OURS])

    assert [line.content for line in meeting.lines("User")] == [SAID[OURS]]


async def test_who_removes_the_app_keeps_the_record_and_can_install_it_again(two: Company) -> None:
    ours, theirs = two.meeting(OURS), two.meeting(NEXT)
    async with two.bot(OURS, NEXT) as running:
        await ours.start("Offline sync")
        await ours.do_step(SAID[OURS])
        await theirs.start("Lunch")
        await two.uninstall(OURS)
        calls = len(two.sandboxes[OURS].calls)
        await ours.say("Nobody hears this")
        await two.sandboxes[OURS].settled()
        await theirs.do_step(SAID[NEXT])

        assert [one.team.reception.us.team for one in running.opened] == [NEXT]
        assert len(two.sandboxes[OURS].calls) == calls
        assert [line.content for line in ours.lines("User")] == [SAID[OURS]]

        await two.install(OURS)
        await wait_until(lambda: len(running.opened) == 2)
        await ours.press("continue")
        await ours.do_step("Again")
        assert "Again" in [line.content for line in ours.lines("User")]


def has_anything(two: Company, team: str) -> bool:
    """Whether the store has something of a team that does not go by itself."""
    if url := two.more.get("REDIS_URL"):
        with redis.Redis.from_url(url) as kept:
            return any(kept.ttl(key) < 0 for key in kept.scan_iter(f"roundtable:{{{team}}}:*"))
    with closing(sqlite3.connect(two.folder / STATE / FILE)) as kept_here:
        noted = kept_here.execute("SELECT * FROM removals WHERE team = ?", [team]).fetchall()
    return bool(noted) or (two.folder / team / STATE / FILE).exists()


@pytest.mark.parametrize("checkout", [False, True])
async def test_what_is_kept_of_a_workspace_that_removed_the_app_is_deleted_after_thirty_days(
    tmp_path: Path, where: dict[str, str], caplog: pytest.LogCaptureFixture, *, checkout: bool
) -> None:
    """Its state; the repository only where the setting says so, and later. Nothing of its neighbours."""
    caplog.set_level(logging.INFO, "audit")
    more = {**where, **({"ROUNDTABLE_RETENTION": "checkout:60d"} if checkout else {})}
    calendar = Calendar()
    async with (
        company(tmp_path / "workspaces", OURS, NEXT, **more) as two,
        two.bot(OURS, NEXT, how=Variations(clock=calendar)) as running,
    ):
        ours, theirs = two.meeting(OURS), two.meeting(NEXT)
        await ours.start("Offline sync")
        await ours.do_step(SAID[OURS])
        await theirs.start("Lunch")
        await two.uninstall(OURS)
        calendar.days = 29
        await running.look()
        assert has_anything(two, OURS)
        calendar.days = 30
        for _ in range(2):
            await running.look()
        assert has_anything(two, OURS) is checkout  # when it was removed
        assert [line.content for line in ours.lines("User")] == [SAID[OURS]]
        calendar.days = 61
        await running.look()
        assert not has_anything(two, OURS)
        assert ours.workspace.exists() is not checkout
        told = [one.__dict__["what"] for one in caplog.records if one.getMessage() == "forget.team"]
        assert told == ["T1OURS: state", "T1OURS: state, checkout"][: 1 + checkout]
        assert has_anything(two, NEXT)
        await theirs.do_step(SAID[NEXT])

        await two.install(OURS)
        await wait_until(lambda: len(running.opened) == 2)
        if not checkout:
            await ours.slack.person("ada").slash(CHANNEL, "/roundtable resume offline-sync")
            await ours.press("continue")
        else:
            await ours.start("Offline sync again")
        await ours.do_step("Again")
    assert "Again" in [line.content for line in ours.lines("User")]


async def test_each_process_of_a_cluster_deletes_its_own_checkout(
    tmp_path: Path, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whichever is the first, and when it runs next; each says once what it has deleted."""
    caplog.set_level(logging.INFO, "audit")
    more = {"REDIS_URL": redis_url, "ROUNDTABLE_RETENTION": "checkout:60d"}
    async with company(tmp_path / "workspaces", OURS, **more) as one, RedisInstallations(redis_url) as sealed:
        await sealed.put(OURS, "sealed")
        await sealed.remove(OURS, at=before(now(), 61 * A_DAY))
        pods = [
            one.settings.model_copy(update={"workspace": tmp_path / name})
            for name in ("first", "second", "third")
        ]
        for pod in pods:
            (pod.workspace / OURS / ".git").mkdir(parents=True)
            for _ in range(2):
                restarted = StoppedTeams(pod, sealed, now)
                for _ in range(2):
                    await restarted.drop()
        assert not any((pod.workspace / OURS).exists() for pod in pods)
        assert await sealed.removed_at(OURS)
        with redis.Redis.from_url(redis_url) as kept:
            assert 0 < kept.ttl(f"roundtable:{{{OURS}}}:stopped") <= 30 * A_DAY

    told = [line.__dict__["what"] for line in caplog.records if line.getMessage() == "forget.team"]
    assert told == ["T1OURS: state, checkout"] * 3


async def test_who_comes_back_within_thirty_days_keeps_everything(
    tmp_path: Path, where: dict[str, str]
) -> None:
    """The thirty days begin anew with the next removal."""
    calendar = Calendar()
    async with (
        company(tmp_path / "workspaces", OURS, **where) as two,
        two.bot(OURS, how=Variations(clock=calendar)) as running,
    ):
        ours = two.meeting(OURS)
        await ours.start("Offline sync")
        await two.uninstall(OURS)
        calendar.days = 29
        await two.install(OURS)
        calendar.days = 40
        await running.look()
        await wait_until(lambda: running.opened)
        await ours.do_step(SAID[OURS])
        await two.uninstall(OURS)
        calendar.days = 69
        await running.look()
        assert has_anything(two, OURS)

    assert [line.content for line in ours.lines("User")] == [SAID[OURS]]


async def test_only_who_may_send_opens_a_workspace_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and signatures are looked at before anything is opened."""
    monkeypatch.setattr("bot.tenants.IDLE_SECONDS", 0.0)
    secret = "whsec_" + "OURS" * 8
    write_keys(tmp_path / f"{OURS}.json", [key_of(f"{KEY_SIGN}ours", "claude", owner="U0ADA")])
    more = {
        "ROUNDTABLE_REVIEW_SECRET": f"{OURS}:{secret}",
        "ROUNDTABLE_AGENT_KEYS": str(tmp_path / "{team}.json"),
        "ROUNDTABLE_GITHUB_SECRET": "the-secret-of-the-webhook",
        "ROUNDTABLE_GITHUB_TEAMS": OURS,
    }
    async with (
        company(tmp_path / "workspaces", OURS, **more) as one,
        one.bot(OURS) as running,
        aiohttp.ClientSession() as http,
    ):

        async def post(path: str, body: bytes, headers: Mapping[str, str]) -> int:
            async with http.post(f"{one.url}/{path}/{OURS}", data=body, headers=headers) as answer:
                return answer.status

        await wait_until(lambda: running.opened)
        await wait_until(lambda: at_rest(running))
        body = request_body()
        says = {"X-Hub-Signature-256": "sha256=0", "X-GitHub-Event": "issues", "X-GitHub-Delivery": "1"}
        assert [
            await post("reviews", body, signed(body, secret="whsec_" + "NEXT" * 8)),
            await post("reviews", body, {}),
            await post("mcp", b"{}", {"Authorization": "Bearer rtk_wrong"}),
            await post("github", b"{}", says),
        ] == [401] * 4
        assert running.opened == ()

        async def is_let_in() -> bool:
            """There is no such item, and until the workspace is open nobody knows."""
            return await post("reviews", body, signed(body, secret=secret)) == 404

        await wait_until(is_let_in)
        assert len(running.opened) == 1


async def at_rest(running: Tenants, *other: str) -> bool:
    """All are closed but the *other* ones."""
    await running.look()
    return [one.team.reception.us.team for one in running.opened] == [*other]


async def test_a_workspace_without_a_discussion_is_closed_and_opened_when_it_is_needed(
    tmp_path: Path, where: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.tenants.IDLE_SECONDS", 0.0)
    async with company(tmp_path / "workspaces", OURS, NEXT, **where) as two, two.bot(OURS, NEXT) as running:
        meeting = two.meeting(OURS)
        await wait_until(lambda: _answered(two.sandboxes[OURS], "/roundtable help"))
        await meeting.start("Offline sync")
        await wait_until(lambda: len(running.opened) == 2)
        await wait_until(lambda: at_rest(running, OURS))

        lunch = two.meeting(NEXT)
        await wait_until(lambda: _answered(two.sandboxes[NEXT], "/roundtable help"))
        await lunch.start("Lunch")
        await lunch.do_step(SAID[NEXT])
        assert [line.content for line in lunch.lines("User")] == [SAID[NEXT]]


async def test_a_workspace_that_is_closed_is_opened_for_what_is_done_at_night(
    tmp_path: Path, where: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words, and then its items go when they are old, although nobody says anything there any more."""
    for module in ("bot.tenants", "bot.expiry"):
        monkeypatch.setattr(f"{module}.LOOK_SECONDS", 0.05)
        monkeypatch.setattr(f"{module}.AGAIN_SECONDS", 0.05)
    monkeypatch.setattr("bot.tenants.app.expiry", _fails_first(app.expiry))
    calendar = Calendar()
    more = {**where, "ROUNDTABLE_RETENTION": "words:30d,item:90d,state:9d", **SHORT_PATH}
    how = Variations(clock=calendar)
    async with company(tmp_path / "workspaces", OURS, NEXT, **more) as two:
        ours = two.meeting(OURS)
        async with two.bot(OURS, NEXT, how=how) as running:
            await to_the_end(ours)
            await ours.slack.settled()
            monkeypatch.setattr("bot.tenants.IDLE_SECONDS", 0.0)
            await wait_until(lambda: not running.opened)
            calendar.days = 31
            await wait_until(lambda: CARDS[0][0] not in _words(ours))
            assert ours.folder.exists()
            await wait_until(lambda: not running.opened)
            calendar.days = 91
            await wait_until(lambda: not ours.folder.exists())
            await wait_until(lambda: not running.opened)


def _words(meeting: Meeting) -> str:
    return "".join(path.read_text() for path in meeting.folder.rglob("*") if path.is_file())


def _fails_first(make: Callable[..., Expiry]) -> Callable[..., Expiry]:
    """As when the disk was full for a moment: the first run of all fails."""
    failed = list[str]()

    def made(*about: Any) -> Expiry:
        expires = make(*about)
        run = expires.run

        async def running() -> Expired:
            if not failed:
                failed.append("once")
                raise OSError(errno.ENOSPC, "No space left on device")
            return await run()

        expires.run = running  # type: ignore[method-assign]
        return expires

    return made


async def test_a_workspace_that_is_open_nowhere_else_is_taken_over(tmp_path: Path, redis_url: str) -> None:
    """Its owner is killed by SIGKILL with something left to do; the other process has never heard of it."""
    async with (
        company(tmp_path / "workspaces", OURS, REDIS_URL=redis_url) as one,
        one.process() as survivor,
        one.process() as owner,
    ):
        address = f"http://127.0.0.1:{owner.slack_port}"
        meeting = one.meeting(OURS)
        await one.install(OURS, address)
        assert await meeting.slack.use_http(f"{address}/slack/events")
        await meeting.start("Offline sync")
        await meeting.do_step(SAID[OURS])
        assert not survivor.has_said("is at work")
        await meeting.press("continue")
        owner.process.kill()
        await owner.ended()
        await survivor.says("this process owns T1OURS now")
        await meeting.menu("finish_step")
        await meeting.until(lambda: len([one for one in meeting.thread if "Step 2 of 24" in one.text]) == 1)


async def test_a_workspace_at_rest_is_opened_by_no_process(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no owner, and needs none; with one that ended otherwise, it does."""
    monkeypatch.setattr("bot.tenants.IDLE_SECONDS", 0.0)
    async with company(tmp_path / "workspaces", OURS, REDIS_URL=redis_url) as one, one.bot(OURS) as running:
        await wait_until(
            lambda: [1 for tenant in running.opened if tenant.team.owner and tenant.team.owner.mine]
        )
        await wait_until(lambda: at_rest(running))
        async with RedisInstallations(redis_url) as kept:
            assert await kept.orphaned([OURS, NEXT]) == ()
            with redis.Redis.from_url(redis_url) as client:
                client.delete(f"roundtable:{{{OURS}}}:resting")
            assert await kept.orphaned([OURS, NEXT]) == (OURS,)
            await wait_until(lambda: running.opened)


async def _answered(slack: Sandbox, command: str) -> bool:
    """Not only that it is starting."""
    said = await slack.person("ada").slash(CHANNEL, command)
    return "I am starting in this workspace" not in json.dumps(said.response)


async def test_each_workspace_has_limits_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside those of the process, which no line of the file can raise."""
    found: dict[str, tuple[int, int]] = {}
    calls: dict[str, int] = {}
    state, speakers = app._state, cast.opened_speakers

    def counted(settings: Settings, team: str, *others: Any, at_once: int, **more: Any) -> Any:
        found[team] = calls[settings.workspace.name], at_once
        return state(settings, team, *others, at_once=at_once, **more)

    def speaking(settings: Settings, *others: Any, **more: Any) -> Any:
        calls[settings.workspace.name] = settings.model_calls
        return speakers(settings, *others, **more)

    monkeypatch.setattr(app, "_state", counted)
    monkeypatch.setattr(app, "opened_speakers", speaking)
    policies = tmp_path / "policies.yaml"
    policies.write_text(f"teams:\n  {OURS}:\n    calls: 100\n    effects: 3\n")
    more = {"ROUNDTABLE_POLICIES": str(policies), "ROUNDTABLE_MODEL_CALLS": "6"}
    async with company(tmp_path / "workspaces", OURS, NEXT, **more) as two, two.bot(OURS, NEXT) as running:
        await wait_until(lambda: len(running.opened) == 2)

    assert found == {OURS: (6, 3), NEXT: (4, 20)}


async def test_a_workspace_that_has_used_its_budget_goes_on_without_a_model(
    tmp_path: Path, where: dict[str, str]
) -> None:
    """Until the next month; a restart does not forget what was used, and its neighbour is asked as before."""
    calendar, policies = Calendar(), tmp_path / "policies.yaml"
    policies.write_text(f"teams:\n  {OURS}:\n    month: 1000 tokens\n")
    used_up = "used its model budget for this month, which an administrator can raise"
    async with ModelServer() as server:
        server.will(says())
        more = {
            "ROUNDTABLE_POLICIES": str(policies),
            "ROUNDTABLE_MODEL": "ollama:small",
            "OLLAMA_BASE_URL": f"{server.url}/v1",
            **where,
        }
        async with company(tmp_path / "workspaces", OURS, NEXT, **more) as two:
            ours, theirs = two.meeting(OURS), two.meeting(NEXT)
            how = Variations(policies=ours.thinking, clock=calendar)

            async with two.bot(OURS, NEXT, how=how) as running:
                await ours.start("Offline sync")
                await ours.say(SAID[OURS])
                await wait_until(lambda: server.asked)
                await ours.slack.settled()
                asked = len(server.asked)
                await ours.say("Trains have no network")
                await ours.seen(used_up)
                await ours.slack.settled()
                assert len(server.asked) == asked
                tenant = next(one for one in running.opened if one.team.reception.us.team == OURS)
                shown = (await tenant.endpoints.looked()).exposed().decode()
                ratio = float(re.search(r'budget_used_ratio{team="T1OURS"} (\S+)', shown)[1])  # type: ignore[index]
                assert ratio == asked * 1240 / 1000
                await ours.finish_step()
                assert [line.content for line in ours.lines("User")] == [SAID[OURS], "Trains have no network"]
                await theirs.start("Lunch")
                await theirs.say(SAID[NEXT])
                await wait_until(lambda: len(server.asked) > asked)
            async with two.bot(how=how) as running:
                await wait_until(lambda: owns_both(running))
                await ours.go_on()
                await ours.say("What about tunnels?")
                await ours.until(lambda: [one for one in ours.menus("finish_step") if used_up in one.text])
                calendar.days = 32
                asked = len(server.asked)
                await ours.press("read_again")
                await wait_until(lambda: len(server.asked) > asked)

    assert not any(used_up in one.text for one in theirs.thread)


async def test_check_has_a_row_for_each_workspace(two: Company) -> None:
    """Whether it is installed there, and what it has; nothing is changed by looking."""
    before = {one.name: one for one in await check.everything(two.settings)}
    async with two.bot(OURS):
        await two.meeting(OURS).start("Offline sync")
    after = {one.name: one for one in await check.everything(two.settings)}

    assert before[OURS].found.startswith(f"not installed: open {two.url}/slack/install there; ")
    assert after[OURS].found.startswith("installed, bot U0ROUNDTABLE; ")
    assert f"1 item, on branch main, for Slack workspace {OURS}" in after[OURS].found
    assert after[NEXT].found.startswith("not installed: ")
    assert not any(one.stops for one in (*before.values(), *after.values()))


async def test_posts_about_a_person_are_edited_in_one_workspace(two: Company) -> None:
    """With the token of its installation."""
    async with two.bot(OURS, NEXT):
        meetings = {team: two.meeting(team) for team in (OURS, NEXT)}
        for meeting in meetings.values():
            await meeting.start("Offline sync")
            await meeting.say("Field workers lose their edits in tunnels.", who="grace")
            await meeting.slack.settled()
            await meeting.finish_step()
    settings, user = two.settings.of_team(OURS), two.sandboxes[OURS].person("grace").id

    def naming_grace(team: str) -> list[str]:
        posts = (one for one in meetings[team].thread if one.user == "U0ROUNDTABLE")
        return [one.text for one in posts if "Grace" in json.dumps([one.text, one.blocks])]

    there = naming_grace(NEXT)
    assert naming_grace(OURS)
    assert there
    async with forget.opened_store(settings) as store:
        await forget.PersonForgetting(settings, store, forget.PersonOptions(slack=True)).run(user)

    assert naming_grace(OURS) == []
    assert naming_grace(NEXT) == there


async def test_limits_for_several_are_refused_for_one(tmp_path: Path) -> None:
    policies = tmp_path / "policies.yaml"
    policies.write_text("teams:\n  T012ABCDE:\n    calls: 4\n")
    one = Settings.from_env({"SLACK_BOT_TOKEN": "xoxb-1", "ROUNDTABLE_POLICIES": str(policies)})

    with pytest.raises(ConfigError, match="teams is for several workspaces: set SLACK_CLIENT_ID, too"):
        app.with_policies(app.playbook(one), one)
