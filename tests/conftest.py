from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import redis
from hypothesis import settings
from opentelemetry import trace

from bot import app
from slack_sandbox import Timing
from tests.all_steps import load_once
from tests.browser import running_chromium
from tests.command_line import Cli, CommandLine, command_line
from tests.patience import PATIENT
from tests.ports import free_port
from tests.recorded_spans import Recorder
from tests.redis_groups import RedisCluster, lacking, running_redis_cluster
from tests.redis_server import RedisServer, running_redis_server
from tests.unflushed import flush_nothing

# Every change runs the same examples; how long one of them takes is the machine's business.
settings.register_profile("every change", deadline=None, derandomize=True, database=None)
settings.register_profile("search", deadline=None, max_examples=1_000)
settings.load_profile("every change")

SLOW = {"durability", "test_display_only.py"}
UNMEASURED = {"contracts", "durability", "hostile", "sandbox", "storage", "test_display_only.py"}
"""Not measured for branch coverage: their code is not pure logic, and measuring slows it down."""

HURRIES = (
    "bot.storage.redis_client.CALL_SECONDS",
    "bot.storage.redis.CENSUS_SECONDS",
    "bot.storage.git.sync.ABREAST_SECONDS",
)
"""So long a call of Redis may take, and a round with the remote that somebody waits for."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also run the tests that are marked `thorough`")
    parser.addoption(
        "--search", action="store_true", help="look for new failures: new examples in a new order"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--search"):
        settings.load_profile("search")
    flush_nothing()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones begin first, so that no worker is left with one of them when the others have ended."""
    for item in items:
        if UNMEASURED.intersection(_parts(item)):
            item.add_marker("no_cover")
    if not config.getoption("--all"):
        thorough = [item for item in items if item.get_closest_marker("thorough")]
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=thorough)
    items.sort(key=lambda item: SLOW.isdisjoint(_parts(item)))


def _parts(item: pytest.Item) -> tuple[str, ...]:
    return item.path.relative_to(Path(__file__).parent).parts


@pytest.fixture(scope="session", autouse=True)
def shipped_content_is_read_once() -> Iterator[None]:
    """Bots that start in a test process share the personas and steps that no test changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "load", load_once)
        yield


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the bot waits for takes as long as it takes: for tests that are not about that, on a busy machine."""
    for name in HURRIES:
        monkeypatch.setattr(name, 20.0)


@pytest.fixture
def timing() -> Timing:
    """Of the sandbox; `impatient` is another one."""
    return PATIENT


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Of all spans, in place of a collector."""
    recorder = Recorder()
    monkeypatch.setattr(trace, "get_tracer", lambda _name: recorder)
    return recorder


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """The address of one for each test process."""
    with running_chromium() as address:
        yield address


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One real server for each test process; a test may stop, kill and start it."""
    with running_redis_server() as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of a running server with nothing in it."""
    redis_server.start()
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture(scope="session")
def started_cluster() -> Iterator[RedisCluster]:
    """Three nodes for each test process; a test may kill and start them."""
    if why := lacking():
        pytest.skip(why)
    with running_redis_cluster() as cluster:
        yield cluster


@pytest.fixture
def redis_cluster(started_cluster: RedisCluster) -> RedisCluster:
    """All nodes run, with nothing in them."""
    started_cluster.start()
    with started_cluster.client() as client:
        client.flushall(target_nodes=client.PRIMARIES)
    return started_cluster


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The command, loaded once for each test process."""
    with command_line(tmp_path_factory.mktemp("printed")) as line:
        yield line


@pytest.fixture
def cli(loaded: CommandLine, tmp_path: Path) -> Cli:
    """Commands are run in an empty folder."""
    return partial(loaded.run, tmp_path)
