"""What the environment may say, and what somebody reads who got it wrong."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import pytest
from pydantic import SecretStr

from bot.domain.item.export_places import ExportPlace
from bot.errors import ConfigError
from bot.settings import FROM_FILES, Settings, name_of

NAMES = """
    SLACK_BOT_TOKEN SLACK_APP_TOKEN SLACK_SIGNING_SECRET SLACK_API_URL REDIS_URL
    SLACK_CLIENT_ID SLACK_CLIENT_SECRET ROUNDTABLE_URL ROUNDTABLE_TEAMS ROUNDTABLE_TOKEN_KEY
    ROUNDTABLE_WORKSPACE ROUNDTABLE_REMOTE ROUNDTABLE_ITEMS_DIR ROUNDTABLE_PERSONAS ROUNDTABLE_STEPS ROUNDTABLE_MODEL
    ROUNDTABLE_MODELS ROUNDTABLE_THINKING ROUNDTABLE_MCP ROUNDTABLE_MODEL_SECONDS ROUNDTABLE_MODEL_CALLS
    ROUNDTABLE_VERIFIER ROUNDTABLE_LOOK_FIRST ROUNDTABLE_AGENT_KEYS ROUNDTABLE_EXPORTS
    ANTHROPIC_API_KEY ANTHROPIC_BASE_URL OPENAI_API_KEY OPENAI_BASE_URL GOOGLE_API_KEY GEMINI_API_KEY
    GOOGLE_GEMINI_BASE_URL OLLAMA_API_KEY OLLAMA_BASE_URL VLLM_API_KEY VLLM_BASE_URL
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK AWS_REGION AWS_DEFAULT_REGION
    AWS_PROFILE
    ROUNDTABLE_TRIAGE_CHANNEL ROUNDTABLE_REVIEW_SECRET ROUNDTABLE_FILE_URL ROUNDTABLE_SEAL_KEY
    ROUNDTABLE_POLICIES ROUNDTABLE_REDACT ROUNDTABLE_PRESS ROUNDTABLE_GITHUB ROUNDTABLE_GITHUB_APP ROUNDTABLE_GITHUB_KEY
    ROUNDTABLE_GITHUB_SECRET ROUNDTABLE_GITHUB_TEAMS ROUNDTABLE_GITHUB_URL
    ROUNDTABLE_GUESTS_PRESS ROUNDTABLE_BUDGET ROUNDTABLE_QUIET ROUNDTABLE_RETENTION
    ROUNDTABLE_HOST ROUNDTABLE_PORT ROUNDTABLE_HEALTH_HOST ROUNDTABLE_HEALTH_PORT
    OTEL_EXPORTER_OTLP_ENDPOINT
"""

WEBHOOK_SECRET = "whsec_" + "open/sesame+" * 3 + "01"


def complaint(**env: str) -> str:
    with pytest.raises(ConfigError) as refused:
        Settings.from_env(env)
    return str(refused.value)


def test_the_names_are_the_documented_ones() -> None:
    """People have them in their deployments: a field renamed is a promise broken."""
    assert sorted(name_of(field) for field in Settings.model_fields) == sorted(NAMES.split())


def test_nothing_has_to_be_set() -> None:
    """`roundtable try` needs no environment at all."""
    settings = Settings.from_env({"PATH": "/usr/bin", "HOME": "/nowhere"})

    assert settings.workspace == Path("workspace")
    assert settings.items_dir == PurePosixPath("docs/requirements")
    assert settings.slack_api_url == "https://slack.com/api/"
    assert (settings.host, settings.port) == ("127.0.0.1", 3000)
    assert (settings.health_host, settings.health_port) == ("127.0.0.1", 3001)
    assert settings.model == "offline"
    assert settings.redis_url is None


HERE = Path(__file__).parent
EXPORTED = (ExportPlace("openspec", "openspec/changes/{slug}"), ExportPlace("speckit", "docs/specs/{slug}"))
SEALED = (SecretStr("the-newest-key-of-all"), SecretStr("the-one-before-that"))
SIGNED = (SecretStr(WEBHOOK_SECRET), SecretStr(f"{WEBHOOK_SECRET}=="))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SLACK_BOT_TOKEN", " xoxb-1-2\n", SecretStr("xoxb-1-2")),
        ("SLACK_APP_TOKEN", "xapp-1-2", SecretStr("xapp-1-2")),
        ("SLACK_SIGNING_SECRET", "8f742231b10e", SecretStr("8f742231b10e")),
        ("SLACK_API_URL", "http://127.0.0.1:8765/api", "http://127.0.0.1:8765/api/"),
        ("REDIS_URL", "redis://:sesame@redis:6379/0", SecretStr("redis://:sesame@redis:6379/0")),
        ("REDIS_URL", "rediss://redis", SecretStr("rediss://redis")),
        ("REDIS_URL", "unix:///run/redis.sock?db=1", SecretStr("unix:///run/redis.sock?db=1")),
        ("ROUNDTABLE_WORKSPACE", str(HERE / "later"), HERE / "later"),
        ("ROUNDTABLE_REMOTE", "origin", "origin"),
        ("ROUNDTABLE_ITEMS_DIR", "specs/items/", PurePosixPath("specs/items")),
        ("ROUNDTABLE_EXPORTS", "openspec, speckit:docs/specs/{slug}", EXPORTED),
        ("ROUNDTABLE_PERSONAS", str(HERE), HERE),
        ("ROUNDTABLE_STEPS", str(HERE), HERE),
        (
            "ROUNDTABLE_MODEL",
            "anthropic:claude-x, ollama:llama3.2:3b, offline",
            "anthropic:claude-x,ollama:llama3.2:3b,offline",
        ),
        ("ROUNDTABLE_MODEL_SECONDS", "90", 90),
        ("ROUNDTABLE_MODEL_CALLS", "4", 4),
        ("ANTHROPIC_API_KEY", "sk-ant-1", SecretStr("sk-ant-1")),
        ("OLLAMA_BASE_URL", "http://gpu:11434/v1", "http://gpu:11434/v1"),
        ("ROUNDTABLE_TRIAGE_CHANNEL", "#triage", "#triage"),
        ("ROUNDTABLE_REVIEW_SECRET", f"{WEBHOOK_SECRET}, {WEBHOOK_SECRET}==", SIGNED),
        ("ROUNDTABLE_SEAL_KEY", "the-newest-key-of-all, the-one-before-that", SEALED),
        ("ROUNDTABLE_FILE_URL", "https://git.example/main/{path}", "https://git.example/main/{path}"),
        ("ROUNDTABLE_HOST", "::1", "::1"),
        ("ROUNDTABLE_PORT", "8080", 8080),
        ("ROUNDTABLE_HEALTH_HOST", "localhost", "localhost"),
        ("ROUNDTABLE_HEALTH_PORT", "8081", 8081),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", "http://collector:4318"),
    ],
)
def test_a_value_arrives_where_it_belongs(name: str, text: str, value: object) -> None:
    """Without what surrounds it when it was pasted."""
    settings = Settings.from_env({name: text})

    assert getattr(settings, name.removeprefix("ROUNDTABLE_").lower()) == value


@pytest.mark.parametrize(
    "keys", ["short", "long-enough-for-a-key,short", "long-enough-for-a-key,", "two words-are-no-key"]
)
def test_a_seal_key_is_long_and_never_shown(keys: str) -> None:
    """Each of several; and all of them are kept out of logs."""
    told = complaint(ROUNDTABLE_SEAL_KEY=keys)
    assert told.startswith("ROUNDTABLE_SEAL_KEY must be secrets of at least 16 characters each")
    assert keys not in told
    good = Settings.from_env({"ROUNDTABLE_SEAL_KEY": "long-enough-for-a-key,another-long-enough"})
    assert {"long-enough-for-a-key", "another-long-enough"} <= good.secrets()
    assert "long-enough" not in repr(good)


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_empty_is_unset(blank: str) -> None:
    """Compose files pass on variables that nobody filled in."""
    assert Settings.from_env({"REDIS_URL": blank, "ROUNDTABLE_PORT": blank}) == Settings()


def test_a_home_folder_may_be_written_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No shell expands it in an env file."""
    monkeypatch.setenv("HOME", str(tmp_path))

    assert Settings.from_env({"ROUNDTABLE_WORKSPACE": "~/record"}).workspace == tmp_path / "record"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("ROUNDTABLE_WORKSPCE", "ROUNDTABLE_WORKSPACE"),
        ("ROUNDTABLE_ITEM_DIR", "ROUNDTABLE_ITEMS_DIR"),
        ("ROUNDTABLE_REDIS_URL", "REDIS_URL"),
        ("ROUNDTABLE_SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN"),
    ],
)
def test_a_misspelt_name_is_named_and_corrected(wrong: str, meant: str) -> None:
    """Otherwise the default would be used in silence."""
    assert complaint(**{wrong: "x"}) == f"{wrong} is not a setting; did you mean {meant}?"


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    """A wrong guess would be worse than none."""
    assert complaint(ROUNDTABLE_QQQ="x") == "ROUNDTABLE_QQQ is not a setting."


BAD_VALUES: Mapping[str, Sequence[str]] = {
    "SLACK_API_URL": ["slack.com/api", "http://[::1/api"],
    "ROUNDTABLE_WORKSPACE": [__file__, "~nobody-of-this-name/work"],
    "ROUNDTABLE_ITEMS_DIR": ["../elsewhere", "/etc", "docs/.git", ".", "--force", "docs\\items"],
    "ROUNDTABLE_EXPORTS": [
        "word",
        "kiro,kiro",
        "kiro:docs/kiro",
        "kiro:{slug}",
        "kiro:/etc/{slug}",
        "kiro:../{slug}",
        "kiro:docs/../../{slug}",
        "kiro:.GIT/hooks/{slug}",
        "kiro:.roundtable/{slug}",
        "kiro:docs/requirements/{slug}",
        "kiro:docs/{slug}",
        "kiro:specs/kiro/{slug},speckit",
    ],
    "ROUNDTABLE_PERSONAS": ["no/such/folder"],
    "ROUNDTABLE_STEPS": [__file__],
    "ROUNDTABLE_MODEL": ["gpt-6", "offline,openai:gpt-6"],
    "ROUNDTABLE_MODELS": ["maya", "maya=gpt-6"],
    "ROUNDTABLE_THINKING": ["draft:very", "dream:high"],
    "ROUNDTABLE_TRIAGE_CHANNEL": ["two channels"],
    "ROUNDTABLE_FILE_URL": ["https://git.example/without/the/path"],
    "ROUNDTABLE_HOST": ["local host"],
    "ROUNDTABLE_PORT": ["0", "65536", '"3000"', "http"],
    "ROUNDTABLE_HEALTH_HOST": ["local host"],
    "ROUNDTABLE_HEALTH_PORT": ["0"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in BAD_VALUES for text in BAD_VALUES[name]])
def test_a_bad_value_is_shown_with_what_it_must_be(name: str, text: str) -> None:
    """One sentence says which setting, what it is, and what would do."""
    sentence = complaint(**{name: text})

    assert sentence.startswith(f"{name} is {text!r}, but must be ")
    assert sentence.count("must be") == 1


BAD_SECRETS: Mapping[str, Sequence[str]] = {
    "SLACK_BOT_TOKEN": ["xapp-1-sesame", "xoxb-1 sesame"],
    "SLACK_APP_TOKEN": ["xoxb-1-sesame"],
    "SLACK_SIGNING_SECRET": ["open sesame"],
    "REDIS_URL": [
        "sesame@redis:6379",
        "redis://:sesame@[redis",
        "redis://:sesame@one:6379,two:6379",
        "redis+sentinel://:sesame@one:26379/main",
        "redis+cluster://:sesame@one:6379,two:6379",
    ],
    "ROUNDTABLE_REMOTE": ["ext::sesame", "--upload-pack=sesame"],
    "ROUNDTABLE_GITHUB_KEY": ["open sesame"],
    "OTEL_EXPORTER_OTLP_ENDPOINT": ["sesame@collector:4318"],
    "ROUNDTABLE_REVIEW_SECRET": [
        "open-sesame-0123456789",
        "whsec_open/sesame/too/short",
        "whsec_open-sesame-0123456789-is-no-Base64",
        "whsec_open/sesame/of/a/length/of/no/Base640",
        f"{WEBHOOK_SECRET},open-sesame",
        f"{WEBHOOK_SECRET},",
    ],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in BAD_SECRETS for text in BAD_SECRETS[name]]
)
def test_a_bad_secret_is_named_and_not_shown(name: str, text: str) -> None:
    """Sentences end up in logs and in chats."""
    sentence = complaint(**{name: text})

    assert sentence.startswith(f"{name} must be ")
    assert "sesame" not in sentence


def test_the_private_key_of_an_app_has_rows_and_needs_the_app() -> None:
    """They may be written as one, as in an env file. None of them comes up in a log."""
    row = "c2VzYW1l" * 8
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{row}\n-----END RSA PRIVATE KEY-----"
    both = {"ROUNDTABLE_GITHUB_KEY": key.replace("\n", "\\n"), "ROUNDTABLE_GITHUB_APP": "4711"}
    settings = Settings.from_env(both)

    assert settings.github_key == SecretStr(key)
    assert {key, row} <= settings.secrets()
    assert complaint(**{**both, "ROUNDTABLE_GITHUB_APP": ""}) == (
        "ROUNDTABLE_GITHUB_KEY is the private key of an App: set ROUNDTABLE_GITHUB_APP, too."
    )
    for other in ("", "ghp_sesame"):
        assert complaint(**{**both, "ROUNDTABLE_GITHUB_KEY": other}) == (
            "With ROUNDTABLE_GITHUB_APP, ROUNDTABLE_GITHUB_KEY must be the private key of that App."
        )


def test_a_token_in_the_wrong_place_is_not_shown_either() -> None:
    """Pasting into the neighbouring line is the likeliest mistake of all."""
    assert "sesame" not in complaint(ROUNDTABLE_PORT="xoxb-1-sesame")


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_BASE_URL", "AWS_REGION"])
def test_what_no_model_needs_cannot_be_wrong(name: str) -> None:
    """These stand in many environments for the sake of other programs."""
    assert Settings.from_env({name: "what ever"}).model == "offline"


def test_the_keys_of_providers_are_secrets() -> None:
    """So they never come up in a log, and neither does what an address of a server holds."""
    settings = Settings.from_env({
        "OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-ant-2", "GEMINI_API_KEY": "AIza3", "GOOGLE_API_KEY": "AIza4",
        "OLLAMA_API_KEY": "o5", "VLLM_API_KEY": "v6", "AWS_SECRET_ACCESS_KEY": "a7", "AWS_SESSION_TOKEN": "a8",
        "AWS_BEARER_TOKEN_BEDROCK": "a9", "AWS_ACCESS_KEY_ID": "a10", "OPENAI_BASE_URL": "https://me:p11@gpu/v1",
    })  # fmt: skip

    expected = {"sk-1", "sk-ant-2", "AIza3", "AIza4", "o5", "v6", "a7", "a8", "a9", "a10", "p11"}
    assert settings.secrets() == expected
    assert not any(secret in repr(settings) for secret in ("sk-1", "sk-ant-2", "AIza3", "p11"))


def test_all_mistakes_are_told_at_once() -> None:
    """Nobody should have to start the bot once for each of them."""
    sentence = complaint(ROUNDTABLE_PORT="x", SLACK_BOT_TOKEN="x", ROUNDTABLE_WORKSPCE="x")

    assert all(name in sentence for name in ("ROUNDTABLE_PORT", "SLACK_BOT_TOKEN", "ROUNDTABLE_WORKSPCE"))


def test_secrets_are_what_a_log_must_not_show() -> None:
    """Of an address that is what opens it, as it is written and as it is meant; a name of a remote is no secret."""
    settings = Settings.from_env(
        {
            "SLACK_BOT_TOKEN": "xoxb-1-2",
            "SLACK_SIGNING_SECRET": "8f742231b10e",
            "REDIS_URL": "redis://bot:p%40ss@redis:6379/0",
            "ROUNDTABLE_REMOTE": "https://token@git.example/specs",
        }
    )

    assert settings.secrets() == {"xoxb-1-2", "8f742231b10e", "p%40ss", "p@ss", "token"}
    assert Settings(remote="ssh://git@git.example/specs").secrets() == frozenset()
    assert Settings(remote="origin").secrets() == frozenset()


def test_every_setting_is_in_the_table() -> None:
    """And nothing is that cannot be set."""
    page = (Path(__file__).parents[1] / "docs/settings.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]

    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(NAMES.split())


# --- secrets in files -------------------------------------------------------------------------------------------------


def test_what_may_be_in_a_file_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs/settings.md").read_text(encoding="utf-8")
    listed = page[page.index("This works for") : page.index("The file is read once")]
    keys = {one for one in FROM_FILES if one.endswith("_api_key")}

    assert "`…_API_KEY` of each provider" in listed
    assert set(re.findall(r"`([A-Z]\w+)`", listed)) == {name_of(one) for one in FROM_FILES - keys}


@pytest.mark.parametrize("field", sorted(FROM_FILES))
def test_a_secret_may_be_in_a_file(field: str, tmp_path: Path) -> None:
    """As Docker and Kubernetes mount them; it is as secret as one that is set, and counts as set."""
    texts = {
        "slack_bot_token": "xoxb-sesame", "slack_app_token": "xapp-sesame", "redis_url": "redis://:sesame@redis:6379/0",
        "remote": "https://sesame@git.example/x.git",
        "review_secret": "whsec_" + "c2VzYW1l" * 6, "seal_key": "sesame" * 4, "github_secret": "sesame" * 4,
    }  # fmt: skip
    texts |= {"token_key": "sesame" * 7 + "k=", "slack_client_secret": "open-sesame"}
    text = texts.get(field, "sesame-key")
    (tmp_path / "secret").write_text(f"{text}\n")
    name = name_of(field)
    beside = {key: value for key, value in SEVERAL.items() if key != name} if name in FOR_SEVERAL else {}

    settings = Settings.from_env({**beside, f"{name}_FILE": str(tmp_path / "secret")})

    assert settings == Settings.from_env({**beside, name: text})
    assert settings.secrets()
    assert "sesame" not in f"{settings!r} {settings}"


@pytest.mark.parametrize(
    ("content", "more", "sentence"),
    [
        (
            b"xoxb-sesame",
            {"SLACK_BOT_TOKEN": "xoxb-other"},
            "Set SLACK_BOT_TOKEN or SLACK_BOT_TOKEN_FILE, not both.",
        ),
        (None, {}, "SLACK_BOT_TOKEN_FILE cannot be read: No such file or directory."),
        (b"\xffsesame", {}, "SLACK_BOT_TOKEN_FILE cannot be read: it is not a text in UTF-8."),
        (b"\n", {}, "SLACK_BOT_TOKEN_FILE names an empty file."),
        (b"sesame" * 20_000, {}, "SLACK_BOT_TOKEN_FILE names a file of more than 64 KiB."),
        (b"sesame", {}, "SLACK_BOT_TOKEN must be a bot token, which starts with xoxb-."),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(
    content: bytes | None, more: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    """Without a word of its content."""
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        Settings.from_env({"SLACK_BOT_TOKEN_FILE": str(tmp_path / "secret"), **more})

    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "given",
    [
        "words", "words:6d", "lines:2y", "words:2y,words:3y", "item:2 years", "item:-1y", "checkout:20d",
        "stopped:never,checkout:2y",
    ],
)  # fmt: skip
def test_an_age_is_at_least_a_week(given: str) -> None:
    """A kind that is misspelt would keep everything, and a slip would take out what was said today."""
    assert "must be words, item and state, or stopped and a checkout" in complaint(ROUNDTABLE_RETENTION=given)


def test_ages_are_days_or_years() -> None:
    settings = Settings.from_env({"ROUNDTABLE_RETENTION": "words:2y, item:never"})
    assert (settings.retention.words, settings.retention.item) == (730, None)


# --- several workspaces ---------------------------------------------------------------------------------------------

TOKEN_KEY = "k" * 43 + "="
FOR_SEVERAL = {"SLACK_CLIENT_SECRET", "ROUNDTABLE_TOKEN_KEY"}
SEVERAL = {
    "SLACK_CLIENT_ID": "1.2",
    "SLACK_CLIENT_SECRET": "open-sesame",
    "SLACK_SIGNING_SECRET": "8f742231b10e",
    "ROUNDTABLE_URL": "https://bot.example/",
    "ROUNDTABLE_TEAMS": "T012, E034",
    "ROUNDTABLE_TOKEN_KEY": TOKEN_KEY,
    "ROUNDTABLE_SEAL_KEY": "a-key-that-stays-the-same",
}


def test_each_of_several_workspaces_has_a_repository_of_its_own() -> None:
    settings = Settings.from_env({
        **SEVERAL,
        "ROUNDTABLE_WORKSPACE": "/data",
        "ROUNDTABLE_REMOTE": "git@git.example:roundtables/{team}.git",
        "ROUNDTABLE_FILE_URL": "https://git.example/{team}/blob/{path}",
        "ROUNDTABLE_AGENT_KEYS": "/etc/roundtable/{team}.json",
        "ROUNDTABLE_REVIEW_SECRET": f"T012:{WEBHOOK_SECRET},E034:{WEBHOOK_SECRET}==",
    })  # fmt: skip
    ours = settings.of_team("T012")

    assert settings.several
    assert settings.url == "https://bot.example"
    assert settings.teams == ("T012", "E034")
    assert ours.workspace == Path("/data/T012")
    assert ours.remote == "git@git.example:roundtables/T012.git"
    assert ours.file_url == "https://git.example/T012/blob/{path}"
    assert ours.agent_keys == Path("/etc/roundtable/T012.json")
    assert ours.review_secret == (SecretStr(WEBHOOK_SECRET),)
    assert {"open-sesame", TOKEN_KEY, WEBHOOK_SECRET} <= settings.secrets()


LACKING = "With SLACK_CLIENT_ID, set {}, too."
IN_IT = "{} must have {{team}} in it, because each workspace has one of its own."
OF_TEAM = (
    "ROUNDTABLE_REVIEW_SECRET must say for which of ROUNDTABLE_TEAMS each secret is, as in T012:whsec_…."
)
FOR_NO_TEAM = (WEBHOOK_SECRET, f"T999:{WEBHOOK_SECRET}", f"T012:{WEBHOOK_SECRET},{WEBHOOK_SECRET}")
THREE = ("SLACK_CLIENT_SECRET", "ROUNDTABLE_URL", "ROUNDTABLE_TEAMS")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"SLACK_BOT_TOKEN": "xoxb-1-2"},
            "Set SLACK_BOT_TOKEN for one workspace, or SLACK_CLIENT_ID for several, not both.",
        ),
        (dict.fromkeys(THREE, ""), LACKING.format(", ".join(THREE))),
        ({"ROUNDTABLE_SEAL_KEY": ""}, LACKING.format("ROUNDTABLE_SEAL_KEY")),
        ({"ROUNDTABLE_TOKEN_KEY": ""}, LACKING.format("ROUNDTABLE_TOKEN_KEY")),
        ({"SLACK_SIGNING_SECRET": ""}, LACKING.format("SLACK_APP_TOKEN or SLACK_SIGNING_SECRET")),
        ({"ROUNDTABLE_REMOTE": "git@git.example:roundtables.git"}, IN_IT.format("ROUNDTABLE_REMOTE")),
        ({"ROUNDTABLE_FILE_URL": "https://git.example/{path}"}, IN_IT.format("ROUNDTABLE_FILE_URL")),
        ({"ROUNDTABLE_AGENT_KEYS": "/etc/roundtable/keys.json"}, IN_IT.format("ROUNDTABLE_AGENT_KEYS")),
        *(({"ROUNDTABLE_REVIEW_SECRET": secrets}, OF_TEAM) for secrets in FOR_NO_TEAM),
        (
            {"ROUNDTABLE_URL": "http://bot.example"},
            ("ROUNDTABLE_URL is 'http://bot.example', but must be the public address of this bot, which starts with"
            " https://, or http:// on this machine."),
        ),
        (
            {"ROUNDTABLE_TEAMS": "acme"},
            ("ROUNDTABLE_TEAMS is 'acme', but must be ids of Slack workspaces or organizations separated by commas,"
            " such as T012,E034."),
        ),
    ],
)  # fmt: skip
def test_several_workspaces_need_all_of_it(given: dict[str, str], sentence: str) -> None:
    assert complaint(**{**SEVERAL, **given}) == sentence


GITHUB = {
    "ROUNDTABLE_GITHUB": "acme/private", "ROUNDTABLE_GITHUB_KEY": "ghs_0123456789abcdefghij",
    "ROUNDTABLE_GITHUB_SECRET": "a-secret-of-the-webhook",
}  # fmt: skip


def test_github_is_only_for_the_workspaces_that_are_named() -> None:
    settings = Settings.from_env({**SEVERAL, **GITHUB, "ROUNDTABLE_GITHUB_TEAMS": "T012"})
    ours, theirs = settings.of_team("T012"), settings.of_team("E034")

    assert ours.names_github
    assert ours.github_key == settings.github_key
    assert not theirs.names_github


@pytest.mark.parametrize("given", [GITHUB, {"ROUNDTABLE_GITHUB_TEAMS": "T999"}])
def test_several_workspaces_must_say_whose_github_is(given: dict[str, str]) -> None:
    assert complaint(**{**SEVERAL, **given}) == (
        "ROUNDTABLE_GITHUB_TEAMS must name those of ROUNDTABLE_TEAMS that GitHub is for. All others have none."
    )


@pytest.mark.parametrize(
    "name", ["SLACK_CLIENT_SECRET", "ROUNDTABLE_URL", "ROUNDTABLE_TEAMS", "ROUNDTABLE_TOKEN_KEY"]
)
def test_what_is_for_several_has_no_effect_on_one_and_is_refused(name: str) -> None:
    assert (
        complaint(**{name: SEVERAL[name]}) == f"{name} is for several workspaces: set SLACK_CLIENT_ID, too."
    )


def test_what_names_one_of_several_is_refused_for_one() -> None:
    assert complaint(ROUNDTABLE_RETENTION="stopped:60d") == (
        "ROUNDTABLE_RETENTION: stopped and checkout are for several workspaces: set SLACK_CLIENT_ID, too."
    )
    assert complaint(ROUNDTABLE_REVIEW_SECRET=f"T012:{WEBHOOK_SECRET}") == (
        "ROUNDTABLE_REVIEW_SECRET names a workspace, which is for several: set SLACK_CLIENT_ID, too."
    )
    assert complaint(ROUNDTABLE_REMOTE="git@git.example:{team}.git") == (
        "ROUNDTABLE_REMOTE has {team} in it, which is for several workspaces: set SLACK_CLIENT_ID, too."
    )
