"""
The shape of the code, kept by reading it: `docs/adr/0001-a-roundtable-is-a-value.md` says why it is this one.

Every failure says what to do. Exceptions are entries in the tables below, by name, so that they are seen in review.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "roundtable_eval", "slack_sandbox")  # of one wheel
MODULES = sorted(module for package in PACKAGES for module in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

# --- imports point inwards ------------------------------------------------------------------------------------------

# A room may import from rooms with a smaller number, and from itself.
LAYERS = {
    "errors": 0, "files": 0, "log": 0, "telemetry": 0,
    "domain": 1, "shipped": 1,
    "content": 2, "engine": 2, "keys": 2,
    "slack": 3, "voices": 3, "storage": 3, "record": 3, "settings": 3,
    "integrations": 3,
    "app": 4, "cast": 4, "parts": 4, "expiry": 4, "server": 4, "cli": 4, "tenants": 4, "__main__": 4,
}  # fmt: skip
TOP = 4  # where everything is wired, and neighbours know each other

# What stands beside `bot`, and which packages of ours it may import. Of the bot, only a command imports it.
BESIDE = {"roundtable_eval": {"bot", "slack_sandbox"}, "slack_sandbox": set[str]()}

# Each technology has one home, and the composition root may build what it needs.
HOMES = {
    "aiohttp": {"slack", "server", "slack_sandbox", "integrations"},
    "anthropic": {"voices/llm"},
    "boto3": {"voices/llm"},
    "botocore": {"voices/llm"},
    "cryptography": {
        "domain/transcript",
        "slack",
        "cli",
    },  # seals, what is kept of installations, and keys for it
    "genai_prices": {"voices/llm"},
    "gidgethub": {"integrations"},
    "google": {"voices/llm"},
    "httpx2": {"voices/llm", "voices/tools"},
    "jwt": {"integrations"},
    "markdown_it": {"domain/values"},
    "mcp": {"voices/tools", "integrations"},  # to ask servers of tools, and to be one for coding agents
    "openai": {"voices/llm"},
    "opentelemetry": {"telemetry"},
    "prometheus_client": {"server"},
    "pydantic": {*LAYERS, "roundtable_eval"} - {"errors", "files", "log", "shipped", "telemetry"},
    "pydantic_ai": {"voices/llm"},
    "pydantic_core": {"record"},
    "pygit2": {"storage"},
    "redis": {"storage"},
    "slack_bolt": {"slack", "server", "tenants"},
    "slack_sdk": {"slack", "app", "server", "tenants"},
    "standardwebhooks": {"server"},
    "structlog": {"log"},
    "typer": {"cli"},
    "yaml": {"content", "roundtable_eval"},
}

# --- the domain only calculates -------------------------------------------------------------------------------------

CALCULATION = {
    "ast", "base64", "bisect", "collections", "cryptography", "csv", "dataclasses", "datetime", "decimal", "difflib",
    "enum", "functools", "graphlib", "hashlib", "importlib", "io", "itertools", "json", "markdown_it", "math",
    "operator", "pydantic", "re", "string", "textwrap", "tomllib", "types", "typing", "unicodedata",
}  # fmt: skip
ASKS_THE_WORLD = re.compile(r"(open|print|input)|.*\.(now|today|utcnow|fromtimestamp)")

# --- files of the workspace go through one reader -------------------------------------------------------------------

READER = "bot/files.py"
OPENS = re.compile(
    r"open|io\.open|.*\.(open|open_code|fdopen|listdir|scandir|iterdir|glob|iglob|rglob|walk|fwalk|read_text|read_bytes"
    r"|write_text|write_bytes|is_file|is_dir|exists|readlink|lstat|copyfile|copytree|rmtree|FileIO)"
)
# What is no file of the workspace, or is git's own; by the words of the call.
OPENED_ELSEWHERE = {
    # Called alike, and no file.
    "bot/engine/performers.py": {"self.chat.open"},
    "slack_sandbox/methods/views.py": {"slack.views.open"},
    "bot/storage/redis.py": {"looking.exists"},
    # All of a repository, which is deleted.
    "bot/tenants.py": {"shutil.rmtree"},
    # What is shipped with the bot.
    "bot/record/page.py": {"(STATIC / name).read_text"},
    "slack_sandbox/page.py": {"STATIC.glob"},
    "bot/shipped.py": {
        "built.is_file", "built.read_text", "place.is_dir", "_schemas().iterdir",
        "(_schemas() / f'{name}{SCHEMA}').read_text",
    },
    "bot/domain/privacy/rules.py": {"files('bot.domain.privacy').joinpath('patterns.toml').read_text"},
    "bot/voices/prompts/texts.py": {"files('bot.voices.prompts').joinpath(f'{name}.md').read_text"},
    # What the operator names in a setting or on the command line, and the terminal.
    "bot/cli/commands.py": {"os.open"},
    "bot/settings.py": {"_at_home(Path(place)).open", "path.is_dir", "path.exists", "_at_home(Path(given)).read_text"},
    "bot/cli/replay.py": {"begun.open"},
    "bot/cli/forget.py": {"file.write_text"},
    "bot/cli/forget_commands.py": {"out.write_text"},
    "bot/cli/trace.py": {"place.is_dir", "place.write_text"},
    # Git's own folder, which no push reaches, and whether there is one.
    "bot/cli/items.py": {"sign.exists"},
    "bot/storage/git/sync.py": {"self._repository.walk"},
    "bot/storage/git/erasing.py": {"self._repository.walk"},
    "bot/storage/git/history.py": {"repository.walk"},
    "bot/storage/git/reader.py": {"folder.exists", "nearest.is_dir"},
    "bot/storage/git/branch.py": {"lock.exists"},
    "bot/storage/git/tree.py": {
        "(folder / '.git').exists", "(place / 'HEAD').exists", "exclude.exists",
        "exclude.open", "exclude.read_text", "link.exists", "link.read_text", "os.open", "place.is_dir",
        "(process / 'comm').read_text", "(process / 'cwd').readlink", "Path('/proc').glob",
    },
    # Where git moves files: what they are is only compared with what git has.
    "bot/storage/git/follow.py": {
        "(Path(self._repository.path) / 'index').exists", "(self._branch.state / BEGUN).read_text", "beside.write_text",
        "os.open", "shutil.rmtree", "(self._root / move.path).readlink", "(self._root / move.path).lstat",
    },
    # Our own locks, and the processes of this machine.
    "bot/storage/sqlite.py": {
        "(path / LOCK).open", "(self._path / name).exists", "file.exists", "file.with_name(f'{FILE}-wal').exists",
        "os.open",
    },
}  # fmt: skip

# --- size -----------------------------------------------------------------------------------------------------------

MODULE_LINES = 700
# "bot/room/module.py": why it is one idea all the same
LONGER_MODULES: dict[str, str] = {}
FUNCTION_LINES = 60
# The whole house. A ceiling only goes down, in the change that makes room; what is new takes the place of something.
CEILINGS = {
    "lines of bot": 74_832,
    "modules of bot": 358,
    "modules in one folder": 32,
    "lines of tests": 95_481,
}
SPARE = 0.01  # of a ceiling; more is to be taken off

# --- one meaning per name -------------------------------------------------------------------------------------------

# Public class names that several modules define, with the reason. It may only become shorter.
SAME_NAME: dict[str, str] = {"Chain": "of sealed lines, and of models that are asked in turn"}

# --- habits ---------------------------------------------------------------------------------------------------------

BROAD_EXCEPTS = (
    5  # an error of a listener, an effect, an input, the work on one roundtable, a plug-in: each is reported
)
SLEEP = re.compile(r"((time|asyncio)\.)?sleep")
MAY_SLEEP = {"wait_until", "wait_here_until"}  # they poll; everything else waits for what it waits for
CLOCK_WORDS = "monotonic|perf_counter|process_time|loop"
CLOCK = re.compile(r"((time|asyncio)\.)?(monotonic|perf_counter|process_time)(_ns)?|.*loop(\(\))?\.time")
ABOUT_TIME = {
    "tests/patience.py",  # the one limit
}
MACHINE_PATH = re.compile(r"(?<![\w.~$}*-])/(?:home|Users|root|work|mnt|opt)/[\w.]")
WRITTEN = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".html", ".css", ".js", ".sh", ".txt", ""}
FOLDERS = (
    ".ci",
    ".github",
    "analysis-steps",
    "bench",
    "bot",
    "deploy",
    "docs",
    "meetings",
    "personas",
    "requirements",
    "roundtable_eval",
    "scripts",
    "slack_sandbox",
    "tests",
)

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(module: Path) -> str:
    """A folder or module of the bot, or a package beside it."""
    package, *inside = module.relative_to(ROOT).parts
    return package if package in BESIDE else inside[0].removesuffix(".py")


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(text_of(module))


@cache
def text_of(module: Path) -> str:
    return module.read_text(encoding="utf-8")


def modules_with(words: str) -> list[Path]:
    """Tests whose text has one of *words*: only these have to be parsed."""
    return [module for module in TESTS if re.search(words, text_of(module))]


@cache
def imports_of(module: Path) -> Sequence[tuple[int, str]]:
    return [*_imports_in(tree_of(module))]


def _imports_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "bot":
            yield from ((node.lineno, f"bot.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "."


def functions_of(module: Path) -> Iterator[FunctionNode]:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, FunctionNode):
            yield node


def calls_of(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node


def lines_of(module: Path) -> int:
    return len(text_of(module).splitlines())


def own_lines(function: FunctionNode) -> int:
    """Without its docstring, and without the functions inside it, which are counted by themselves."""
    inner = [node for node in ast.walk(function) if isinstance(node, FunctionNode) and node is not function]
    outermost = [
        node for node in inner if not any(node in ast.walk(other) for other in inner if other is not node)
    ]
    return _span(function) - _docstring_lines(function) - sum(map(_span, outermost))


def _span(node: FunctionNode) -> int:
    assert node.end_lineno
    return node.end_lineno - node.lineno + 1


def _docstring_lines(function: FunctionNode) -> int:
    if ast.get_docstring(function) is None:
        return 0
    docstring = function.body[0]
    assert docstring.end_lineno
    return docstring.end_lineno - docstring.lineno + 1


def test_imports_point_inwards() -> None:
    """What decides knows nothing of what it is decided for: a room imports from further in, or from itself."""
    for module in [m for m in MODULES if room_of(m) not in BESIDE]:
        here = room_of(module)
        if here == "__init__":
            assert imports_of(module) == [], (
                "bot/__init__.py imports nothing, so that importing a part stays cheap"
            )
            continue
        assert here in LAYERS, f"bot/{here} is new: give it a layer in LAYERS, and say why in an ADR"
        for line, name in imports_of(module):
            root, *rest = name.split(".")
            there = rest[0] if rest else ""
            if root != "bot" or there == here:
                continue
            assert there in LAYERS, (
                f"{name_of(module)}:{line} imports {name}; write `from bot.room import thing`"
            )
            assert LAYERS[there] < LAYERS[here] or LAYERS[here] == TOP, (
                f"{name_of(module)}:{line} imports {name}, but {here} (layer {LAYERS[here]}) may not know"
                f" {there} (layer {LAYERS[there]}). Pass it in from bot/app.py, behind a port."
            )


def test_what_stands_beside_the_bot_is_imported_by_commands_only() -> None:
    """A bot in Slack runs without it, and the sandbox serves a bot that it knows nothing of."""
    for module in MODULES:
        here = room_of(module)
        for line, name in imports_of(module):
            root = name.split(".")[0]
            if root in PACKAGES and here in BESIDE and root != here:
                assert root in BESIDE[here], f"{name_of(module)}:{line} imports {name}, and {here} may not"
            elif root in BESIDE and root != here:
                row = text_of(module).splitlines()[line - 1]
                in_command = here == "cli" and row.startswith(" ")
                assert in_command, (
                    f"{name_of(module)}:{line} imports {name}: do it in a command, when it is run"
                )


def test_every_technology_is_at_home_in_one_room() -> None:
    """Replacing one means rewriting one folder."""
    for module in MODULES:
        here = room_of(module)
        for line, name in imports_of(module):
            root = name.split(".")[0]
            if root in PACKAGES or root in sys.stdlib_module_names:
                continue
            assert root in HOMES, (
                f"{name_of(module)}:{line} imports {root}: give it a home in HOMES and a line in ADR 2"
            )
            assert here in HOMES[root] or any(
                name_of(module).startswith(f"bot/{home}/") for home in HOMES[root]
            ), (
                f"{name_of(module)}:{line} imports {root}, which is at home in {sorted(HOMES[root])}."
                " Put what needs it there, behind a port."
            )


def test_the_domain_only_calculates() -> None:
    """No waiting, clock, chance, file or log: the same roundtable and the same input give the same roundtable."""
    for module in [m for m in MODULES if room_of(m) == "domain"]:
        for line, name in imports_of(module):
            root, *rest = name.split(".")
            ours = root == "bot" and rest[0] in {"domain", "errors"}
            assert ours or root in CALCULATION, (
                f"{name_of(module)}:{line} imports {name}, which reaches outside. Let it come in with the input."
            )
        for node in ast.walk(tree_of(module)):
            assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), (
                f"{name_of(module)}:{node.lineno} waits. Make an effect of it, and its outcome an input."
            )
        for call in calls_of(tree_of(module)):
            called = ast.unparse(call.func)
            assert not ASKS_THE_WORLD.fullmatch(called), (
                f"{name_of(module)}:{call.lineno} calls {called}(). Let the answer come in with the input."
            )


def test_values_name_the_class_that_they_return() -> None:
    """The plugin for typed changes (scripts/typed_changes.py) is asked about classes, and not about `Self`."""
    found = [
        f"{name_of(module)}:{function.lineno} {function.name}"
        for module in MODULES
        if room_of(module) == "domain" and module.name != "value.py"
        for function in functions_of(module)
        if function.returns and ast.unparse(function.returns) == "Self"
        if any(ast.unparse(call.func) == "self.but" for call in calls_of(function))
    ]

    assert not found, f"return the class by its name: {found}"


def test_files_of_the_workspace_go_through_one_reader() -> None:
    """Others push to it: whatever opens a path by itself follows their links, and waits for their pipes."""
    found: dict[str, set[str]] = {}
    for module in MODULES:
        for call in calls_of(tree_of(module)):
            called = ast.unparse(call.func)
            if name_of(module) != READER and OPENS.fullmatch(called):
                found.setdefault(name_of(module), set()).add(called)

    assert found == OPENED_ELSEWHERE, (
        f"read and list files through {READER}; what is no file of the workspace gets a line in OPENED_ELSEWHERE"
    )


def test_the_house_does_not_grow() -> None:
    """What took away more than is spare lowers its ceiling."""
    bot = [module for module in MODULES if module.is_relative_to(ROOT / "bot")]
    sizes = {
        "lines of bot": sum(map(lines_of, bot)),
        "modules of bot": len(bot),
        "modules in one folder": max(Counter(module.parent for module in bot).values()),
        "lines of tests": sum(map(lines_of, TESTS)),
    }

    assert not {name: size for name, size in sizes.items() if size > CEILINGS[name]}, CEILINGS
    assert not {name: size for name, size in sizes.items() if size < CEILINGS[name] * (1 - SPARE)}, sizes


def test_long_modules_say_why() -> None:
    """A module may be long when it is one idea; the reason stands in LONGER_MODULES, and goes when it is short."""
    long = {name_of(module) for module in MODULES if lines_of(module) > MODULE_LINES}

    assert long == LONGER_MODULES.keys(), (
        f"over {MODULE_LINES} lines: split it, or say in LONGER_MODULES why not"
    )


def test_a_public_class_name_has_one_meaning() -> None:
    """A reader who knows a name in one module knows it everywhere; exceptions stand in SAME_NAME with a reason."""
    modules: dict[str, list[str]] = {}
    for module in MODULES:
        for node in tree_of(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, []).append(name_of(module))
    several = {name: found for name, found in modules.items() if len(found) > 1}

    new = {name: found for name, found in several.items() if name not in SAME_NAME}
    assert not new, f"rename one, or say in SAME_NAME why not: {new}"
    unique = SAME_NAME.keys() - several.keys()
    assert not unique, f"these names have one meaning now; delete them from SAME_NAME: {sorted(unique)}"


def test_functions_are_short() -> None:
    """A function fits on a screen."""
    too_long = [
        f"{name_of(module)}:{function.lineno} {function.name}"
        for module in MODULES
        for function in functions_of(module)
        if own_lines(function) > FUNCTION_LINES
    ]

    assert not too_long, f"longer than {FUNCTION_LINES} lines, so name the steps they take: {too_long}"


def test_few_places_catch_everything() -> None:
    """Each hides mistakes of ours among those of the world, so there is one where each kind is reported."""
    broad = [
        f"{name_of(module)}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    ]

    assert len(broad) <= BROAD_EXCEPTS, f"catch what you expect instead: {broad}"


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"})
        for kind in kinds
    )


WORDS_OF_A_SENTENCE = 5


def test_tests_say_what_they_show() -> None:
    """Tests are the documentation of the behaviour: a name that is a sentence, or a docstring."""
    for module in modules_with(rf"def test_([^\W_]*_?){{1,{WORDS_OF_A_SENTENCE - 1}}}\("):
        for function in functions_of(module):
            is_sentence = function.name.count("_") >= WORDS_OF_A_SENTENCE
            if function.name.startswith("test_") and not is_sentence:
                assert ast.get_docstring(function), (
                    f"{name_of(module)}:{function.lineno} {function.name}: say in a docstring what people may rely on"
                )


def test_tests_do_not_sleep() -> None:
    """A test that waits for time is slow on fast machines and wrong on slow ones."""
    for module in modules_with("sleep"):
        for line, function in sleeps_of(tree_of(module)):
            assert function in MAY_SLEEP, (
                f"{name_of(module)}:{line} {function} sleeps. Wait for what it waits for: an event, or `wait_until`."
            )


def test_no_test_asserts_on_a_clock() -> None:
    """What took how long depends on the machine: times belong to `bench/`, growth to `tests/growth.py`."""
    for module in modules_with(CLOCK_WORDS):
        for line in clocks_in_assertions(tree_of(module)) if name_of(module) not in ABOUT_TIME else ():
            raise AssertionError(
                f"{name_of(module)}:{line} asserts on a clock. Wait for what should happen instead."
            )


def test_tests_share_one_limit() -> None:
    """`PATIENCE_SECONDS`, which no machine needs; a limit of its own is only for what should not happen."""
    for module in modules_with(r"asyncio\.timeout|(wait_for|until|receive_json)\("):
        for line in limits_of(tree_of(module)) if name_of(module) not in ABOUT_TIME else ():
            raise AssertionError(f"{name_of(module)}:{line} has a limit of its own. Use PATIENCE_SECONDS.")


def test_clocks_and_limits_are_found() -> None:
    """Also where the time was put aside first."""
    clock = "def test():\n  began = time.monotonic()\n  took = time.monotonic() - began\n  assert took < 3"
    limit = "async def test():\n  async with asyncio.timeout(5):\n    await slack.until(met, seconds=2)"
    vain = "async def test():\n  with pytest.raises(TimeoutError):\n    await slack.until(met, seconds=2)"

    assert list(clocks_in_assertions(ast.parse(clock))) == [4]
    assert sorted(limits_of(ast.parse(limit))) == [2, 3]
    assert list(limits_of(ast.parse(vain))) == []


def clocks_in_assertions(tree: ast.Module) -> Iterator[int]:
    """The lines of assertions about a clock's time, or about what was calculated with it."""
    for function in ast.walk(tree):
        if isinstance(function, FunctionNode):
            taken: set[str] = set()
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and _is_timed(node.value, taken):
                    taken |= {
                        one.id
                        for target in node.targets
                        for one in ast.walk(target)
                        if isinstance(one, ast.Name)
                    }
            for node in ast.walk(function):
                if isinstance(node, ast.Assert) and _is_timed(node.test, taken):
                    yield node.lineno


def _is_timed(expression: ast.expr, taken: set[str]) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id in taken)
        or (isinstance(one, ast.Call) and CLOCK.fullmatch(ast.unparse(one.func)))
        for one in ast.walk(expression)
    )


def limits_of(tree: ast.Module) -> Iterator[int]:
    """The lines of waits with a number of seconds, except of those that are expected to end in vain."""
    in_vain = {
        call
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and "raises(TimeoutError" in ast.unparse(node.items[0].context_expr)
        for call in calls_of(node)
    }
    for call in calls_of(tree):
        name = ast.unparse(call.func)
        given = [one.value for one in call.keywords if one.arg in {"seconds", "timeout"}]
        if name in {"asyncio.timeout", "asyncio.wait_for"}:
            given += call.args[-1:]
        elif name.rpartition(".")[2] not in {"until", "wait_until", "receive_json"}:
            continue
        if call not in in_vain and any(isinstance(one, ast.Constant) for one in given):
            yield call.lineno


def sleeps_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where and in which function; `asyncio.sleep(0)` only lets others go first, which is no sleep."""
    functions = [node for node in ast.walk(tree) if isinstance(node, FunctionNode)]
    innermost = {call: function.name for function in functions for call in calls_of(function)}
    for call in calls_of(tree):
        if SLEEP.fullmatch(ast.unparse(call.func)) and ast.unparse(call) != "asyncio.sleep(0)":
            yield call.lineno, innermost.get(call, "module")


def written_files() -> list[Path]:
    """What people wrote; hidden files at the top are what tools leave behind."""
    beside = (path for path in ROOT.iterdir() if not path.name.startswith("."))
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    return sorted(
        path
        for path in (*beside, *below)
        if path.is_file() and path.suffix in WRITTEN and "__pycache__" not in path.parts
    )


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    """It would be wrong on every other one."""
    found = [
        f"{name_of(path)}:{number}"
        for path in written_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]

    assert not found, f"say it relative to something, or let it come from the environment: {found}"
