"""
The environment, read once and strictly: a misspelt name or a bad value stops the start with a sentence about it.

`ROUNDTABLE_WORKSPACE` sets `workspace`, `SLACK_BOT_TOKEN` sets `slack_bot_token`. What a setting may be is said once,
in the description of its field, and is shown to people who set it to something else.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, ValidationInfo

from bot.domain.catalog import budget as spending
from bot.domain.catalog.budget import Budget
from bot.domain.catalog.personas import Chain, ModelTask, ThinkingEffort, efforts, models_by_persona
from bot.domain.catalog.policy import FORM as FORM_OF_RETENTION
from bot.domain.catalog.policy import Policy, PressPolicy, Retention, ReviewedBy
from bot.domain.catalog.policy import retention as retention_in
from bot.domain.item.export_places import FOLDERS, ExportPlace, overlapping, read_places
from bot.domain.privacy.redaction import own_rules
from bot.errors import ConfigError
from bot.keys import PREFIXES, Keys
from bot.log import redacted

PREFIX = "ROUNDTABLE_"
PRIVATE_KEY = r"-----BEGIN [A-Z ]*PRIVATE KEY-----[!-~\s]+-----END [A-Z ]*PRIVATE KEY-----"
AS_ELSEWHERE = ("SLACK_", "REDIS_", "OTEL_", *PREFIXES)  # names that other programs read too go without ours

FILE = "_FILE"
FROM_FILES = frozenset({
    "slack_bot_token", "slack_app_token", "slack_signing_secret", "redis_url", "remote", "review_secret", "seal_key",
    "anthropic_api_key", "gemini_api_key", "google_api_key", "ollama_api_key", "openai_api_key", "vllm_api_key",
    "github_key", "github_secret", "slack_client_secret", "token_key",
})  # fmt: skip
"""These may be in a file that `NAME_FILE` names. AWS's own library reads its keys, and only from where it looks."""
SECRET_BYTES = 64 * 1024
SECRET_ROW_CHARS = 16
"""A row of a secret is one, too, from this length on."""

Value = TypeVar("Value")


def _text(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def revealed(secret: SecretStr | None) -> str:
    """Empty when it is not set."""
    return secret.get_secret_value() if secret else ""


def _rows(text: str) -> str:
    """As they are written where a value has one row only."""
    return text.replace("\\n", "\n")


def _shaped(pattern: str) -> AfterValidator:
    def check(value: Value) -> Value:
        if not re.fullmatch(pattern, _text(value)):
            raise ValueError(pattern)
        return value

    return AfterValidator(check)


def _address(value: Value) -> Value:
    """Refuses what cannot be taken apart later: each of these raises ValueError."""
    parts = urlsplit(_text(value))
    _ = parts.port, (parts.hostname or "").encode("idna")
    return value


def _at_home(path: Path) -> Path:
    """Shells expand `~`; env files and containers do not."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(path) from error


def _existing(is_one: Callable[[Path], bool]) -> AfterValidator:
    def check(path: Path) -> Path:
        try:
            if is_one(path):
                return path
        except OSError as error:  # the name is too long, or a folder above does not let us in
            raise ValueError(path) from error
        raise ValueError(path)

    return AfterValidator(check)


def _from_text(read: Callable[[str], object]) -> BeforeValidator:
    return BeforeValidator(lambda given: read(given) if isinstance(given, str) else given)


def _patterns(given: str) -> tuple[str, ...]:
    """The lines of a file, or what stands between commas."""
    try:
        lines = _at_home(Path(given)).read_text("utf-8").split("\n") if "/" in given else given.split(",")
    except OSError as error:
        raise ValueError("no such file") from error
    own_rules(lines)
    return tuple(lines)


def _elsewhere(places: tuple[ExportPlace, ...], info: ValidationInfo) -> tuple[ExportPlace, ...]:
    if any(overlapping(places, str(info.data.get("items_dir", "")))):
        raise ValueError("the bot's own files are there")
    return places


Folder = Annotated[Path, AfterValidator(_at_home), _existing(Path.is_dir)]
FutureFolder = Annotated[
    Path, AfterValidator(_at_home), _existing(lambda path: path.is_dir() or not path.exists())
]
ServerAddress = Annotated[str, _shaped(r"https?://[^\s/]\S*"), AfterValidator(_address)]
RedisAddress = Annotated[SecretStr, _shaped(r"(rediss?(\+cluster)?|unix)://\S+"), AfterValidator(_address)]
# Git runs what `ext::` names, and takes a leading dash for an option.
Remote = Annotated[str, _shaped(r"(?!-)(?!\w+::)\S+"), AfterValidator(_address)]
# No part may begin with a dot or a dash: neither `..` nor `.git` nor an option of git.
PathWithin = Annotated[PurePosixPath, _shaped(r"\w[\w.-]*(/\w[\w.-]*)*")]
# Strictly Base64: Python would skip other characters, and sign with the rest.
WebhookSecret = Annotated[
    SecretStr,
    _shaped(
        "([TE][A-Z0-9]{1,30}:)?whsec_(?=.{32,88}$)([A-Za-z0-9+/]{4})+([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?"
    ),
]
_listed = _from_text(lambda text: tuple(one.strip() for one in text.split(",")))
TeamIds = Annotated[tuple[Annotated[str, _shaped(r"[TE][A-Z0-9]{1,30}")], ...], _listed]
TEAM_IDS = "ids of Slack workspaces or organizations separated by commas, such as T012,E034"
TEAM = "{team}"
"""In an address: the id of the Slack workspace that it is for."""
NO_GITHUB: Mapping[str, object] = {
    "github": (),
    "github_app": "",
    "github_key": None,
    "github_secret": None,
}
SEVERAL = ("slack_client_secret", "url", "teams", "token_key")
"""What `SLACK_CLIENT_ID` needs, and what means nothing without it."""
HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def _public(address: str) -> str:
    """Slack sends people there with a code that installs the app, so it has to be encrypted on its way."""
    if address.startswith("http://") and urlsplit(address).hostname not in HERE:
        raise ValueError(address)
    return address.rstrip("/")


def _shown_setting(form: str, default: Any = None, **limits: Any) -> Any:
    """*form* is what the setting may be."""
    return Field(default=default, description=form, **limits)


def _hidden_setting(form: str, default: Any = None) -> Any:
    """As `_shown_setting`, for what is never shown, not even when it is wrong."""
    return Field(default=default, description=form, repr=False)


class Settings(Keys):
    slack_bot_token: Annotated[SecretStr, _shaped(r"xoxb-\S+")] | None = _hidden_setting(
        "a bot token, which starts with xoxb-"
    )
    slack_app_token: Annotated[SecretStr, _shaped(r"xapp-\S+")] | None = _hidden_setting(
        "an app-level token, which starts with xapp-"
    )
    slack_signing_secret: Annotated[SecretStr, _shaped(r"\S+")] | None = _hidden_setting(
        "the signing secret of the app, in one word"
    )
    slack_client_id: Annotated[str, _shaped(r"\d+\.\d+")] | None = _shown_setting(
        "the client id of the app: two numbers with a dot between them"
    )
    slack_client_secret: Annotated[SecretStr, _shaped(r"\S+")] | None = _hidden_setting(
        "the client secret of the app, in one word"
    )
    url: Annotated[ServerAddress, _shaped(r"[^?#]*"), AfterValidator(_public)] | None = _shown_setting(
        "the public address of this bot, which starts with https://, or http:// on this machine"
    )
    teams: TeamIds = _shown_setting(TEAM_IDS, default=())
    token_key: Annotated[tuple[Annotated[SecretStr, _shaped(r"[A-Za-z0-9_-]{43}=")], ...], _listed] = (
        _hidden_setting(
            "keys of 32 bytes in URL-safe Base64, the newest first, separated by commas, as"
            " `roundtable check` prints one",
            default=(),
        )
    )
    slack_api_url: Annotated[ServerAddress, AfterValidator(lambda url: url.rstrip("/") + "/")] = (
        _shown_setting("an address that starts with https:// or http://", default="https://slack.com/api/")
    )
    redis_url: RedisAddress | None = _hidden_setting(
        "an address that starts with redis://, rediss:// or unix://,"
        " or redis+cluster:// or rediss+cluster:// for a cluster"
    )
    workspace: FutureFolder = _shown_setting(
        "a folder, or a path where nothing is yet", default=Path("workspace")
    )
    remote: Remote | None = _hidden_setting("the name or the address of a git remote")
    items_dir: PathWithin = _shown_setting(
        "a path inside the workspace, such as docs/requirements, without hidden folders",
        default=PurePosixPath("docs/requirements"),
    )
    exports: Annotated[tuple[ExportPlace, ...], _from_text(read_places), AfterValidator(_elsewhere)] = (
        _shown_setting(
            f"formats of {', '.join(FOLDERS)}, separated by commas; with another folder, as one of a plug-in"
            " always, as in speckit:docs/specs/{slug}, which is a path inside the workspace that ends with {slug},"
            " outside of ROUNDTABLE_ITEMS_DIR and of the folders of other formats",
            default=(),
        )
    )
    personas: Folder | None = _shown_setting("a folder that exists")
    steps: Folder | None = _shown_setting("a folder that exists")
    model: Annotated[str, AfterValidator(lambda text: str(Chain.read(text)))] = _shown_setting(
        "offline, or models in the order in which they are asked, such as anthropic:NAME,openai:NAME,offline",
        default="offline",
    )
    models: Annotated[Mapping[str, str], _from_text(models_by_persona)] = _shown_setting(
        "models of single personas, such as maya=anthropic:NAME,alex=openai:NAME+offline", default={}
    )
    thinking: Annotated[Mapping[ModelTask, str], _from_text(efforts)] = _shown_setting(
        f"tasks with an effort, such as draft:high,turn:low; tasks are {', '.join(ModelTask)},"
        f" efforts {', '.join(ThinkingEffort)}",
        default={},
    )
    mcp: Annotated[Path, AfterValidator(_at_home)] | None = _shown_setting(
        "the path of a JSON file with mcpServers"
    )
    verifier: Annotated[str, AfterValidator(lambda text: str(Chain.read(text)) if text else "")] = (
        _shown_setting(
            "empty for another model that is configured, offline for none, or models, such as openai:NAME",
            default="",
        )
    )
    model_seconds: float = _shown_setting(
        "a number of seconds from 1 to 600 for one call of a model", default=60, ge=1, le=600
    )
    model_calls: int = _shown_setting(
        "a number from 1 to 256 of calls to one provider at a time", default=8, ge=1, le=256
    )
    agent_keys: Annotated[Path, AfterValidator(_at_home)] | None = _shown_setting(
        "the path of the file with the keys of coding agents"
    )
    triage_channel: Annotated[str, _shaped(r"#?[^\s#@,]+")] | None = _shown_setting(
        "the id or the name of one channel"
    )
    review_secret: Annotated[tuple[WebhookSecret, ...], _listed] = _hidden_setting(
        "whsec_ and then 24 to 64 bytes in Base64, as `echo whsec_$(openssl rand -base64 32)` writes it;"
        " two of them with a comma while it is changed; for several workspaces with the id of one before each, as in"
        " T012:whsec_…",
        default=(),
    )
    github_key: Annotated[SecretStr, BeforeValidator(_rows), _shaped(rf"[!-~]+|{PRIVATE_KEY}")] | None = (
        _hidden_setting("a token of GitHub, or the private key of a GitHub App in PEM")
    )
    github_app: Annotated[str, _shaped(r"[\w.-]{0,100}")] = _shown_setting(
        "the id of a GitHub App, or its client id", default=""
    )
    github: Annotated[tuple[Annotated[str, _shaped(r"[\w.-]+/[\w.-]+")], ...], _listed] = _shown_setting(
        "repositories as owner/name, separated by commas", default=()
    )
    github_secret: Annotated[SecretStr, _shaped(r"\S{16,}")] | None = _hidden_setting(
        "a secret of at least 16 characters, as `openssl rand -hex 32` writes it"
    )
    github_teams: TeamIds = _shown_setting(TEAM_IDS, default=())
    github_url: ServerAddress = _shown_setting(
        "an address that starts with https:// or http://", default="https://api.github.com"
    )
    seal_key: Annotated[tuple[Annotated[SecretStr, _shaped(r"\S{16,}")], ...], _listed] = _hidden_setting(
        "secrets of at least 16 characters each, the newest first, separated by commas", default=()
    )
    file_url: Annotated[ServerAddress, _shaped(r"[^{}]*(\{team\}[^{}]*)?\{path\}[^{}]*")] | None = (
        _shown_setting("an address that starts with https:// or http://, with {path} in it")
    )
    redact: Annotated[tuple[str, ...], _from_text(_patterns)] = _hidden_setting(
        "patterns separated by commas, or the path, with a slash in it, of a file with one in a line; in"
        " them # is a digit, ? a letter or digit, and one * a run of those (docs/safety.md)",
        default=(),
    )
    press: PressPolicy = _shown_setting(
        "one of starter, participants and everyone", default=PressPolicy.EVERYONE
    )
    guests_press: bool = _shown_setting("yes or no", default=False)
    look_first: bool = _shown_setting("yes or no", default=True)
    budget: Annotated[Budget | None, _from_text(spending.budget)] = _shown_setting(
        "tokens, such as 200000, or money, such as 5.00 USD"
    )
    retention: Annotated[Retention, _from_text(retention_in)] = _shown_setting(
        FORM_OF_RETENTION, default=Retention()
    )
    quiet: int = _shown_setting("a number of minutes from 1 to 1440", default=10, ge=1, le=1440)
    policies: Annotated[Path, AfterValidator(_at_home), _existing(Path.is_file)] | None = _shown_setting(
        "a file that exists"
    )
    host: Annotated[str, _shaped(r"[\w.:-]+")] = _shown_setting(
        "the name or address of a network interface of this machine", default="127.0.0.1"
    )
    port: int = _shown_setting("a port from 1 to 65535", default=3000, ge=1, le=65535)
    health_host: Annotated[str, _shaped(r"[\w.:-]+")] = _shown_setting(
        "the name or address of a network interface of this machine", default="127.0.0.1"
    )
    health_port: int = _shown_setting("a port from 1 to 65535", default=3001, ge=1, le=65535)
    otel_exporter_otlp_endpoint: ServerAddress | None = _hidden_setting(
        "an address that starts with https:// or http://"
    )

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Empty is unset. Raises ConfigError with a sentence for everything that is wrong."""
        given = {field: text for field in cls.model_fields if (text := env.get(name_of(field), "").strip())}
        problems = list(cls._strangers(env))
        for field in sorted(FROM_FILES):
            if place := env.get(name_of(field) + FILE, "").strip():
                try:
                    given[field] = _secret_in(place, field, is_set=field in given)
                except ConfigError as error:
                    problems.append(str(error))
        try:
            settings = cls.model_validate(given)
        except ValidationError as error:
            wrong = dict.fromkeys(str(problem["loc"][0]) for problem in error.errors(include_input=False))
            problems += [cls._complaint(field, given[field]) for field in wrong]
        else:
            problems += settings.contradictions()
        if problems:
            raise ConfigError(" ".join(problems))
        return settings

    @property
    def several(self) -> bool:
        """The bot is installed in any number of Slack workspaces, by OAuth."""
        return self.slack_client_id is not None

    def of_team(self, team: str) -> Self:
        """What *team* has for itself, where there are several: a repository, and what names it."""
        github = {} if team in self.github_teams else NO_GITHUB
        return self.model_copy(
            update={
                **github,
                "workspace": self.workspace / team,
                "remote": self.remote and self.remote.replace(TEAM, team),
                "file_url": self.file_url and self.file_url.replace(TEAM, team),
                "agent_keys": self.agent_keys and Path(str(self.agent_keys).replace(TEAM, team)),
                "review_secret": tuple(secret for of, secret in self._review_secrets() if of == team),
            }
        )

    @property
    def reviewers(self) -> Chain:
        """The models that check drafts."""
        return Chain.read(self.model).reviewers(self.verifier, self.models.values())

    @property
    def reviewed_by(self) -> ReviewedBy:
        first = self.reviewers.names[:1]
        if not first:
            return ReviewedBy.NOBODY
        return ReviewedBy.SAME if first == Chain.read(self.model).names[:1] else ReviewedBy.OTHER

    @property
    def policy(self) -> Policy:
        return Policy(
            press=self.press,
            guests_press=self.guests_press,
            budget=self.budget,
            thinks=self.model != "offline",
            looks_first=self.look_first,
            reviewed_by=self.reviewed_by,
            model=self.model,
            quiet_minutes=self.quiet,
            file_url=self.file_url or "",
        )

    @property
    def takes_requests(self) -> bool:
        """Slack's over HTTP, people who install the app, reviews, questions of coding agents, or what GitHub tells."""
        return (
            self.several
            or self.slack_app_token is None
            or bool(self.review_secret or self.agent_keys or self.github_secret)
        )

    @property
    def names_github(self) -> bool:
        return bool(self.github or self.github_key or self.github_secret)

    def secrets(self) -> frozenset[str]:
        """Every text that must not come up in a log; of an address, only what opens it."""
        values = [tuple(secret for _, secret in self._review_secrets()), *(value for _, value in self)]
        return frozenset(secret for value in values for secret in _secrets_in(value))

    def _review_secrets(self) -> Iterator[tuple[str, SecretStr]]:
        """Each with the team that it is for; empty where there is one."""
        for secret in self.review_secret:
            team, _, own = secret.get_secret_value().rpartition(":")
            yield team, SecretStr(own)

    @classmethod
    def _strangers(cls, env: Mapping[str, str]) -> Iterator[str]:
        known = {name_of(field) for field in cls.model_fields}
        known |= {name_of(field) + FILE for field in FROM_FILES}
        by_end = {name.removeprefix(PREFIX): name for name in known}
        for name in sorted(env):
            if name.startswith(PREFIX) and name not in known:
                close = get_close_matches(name.removeprefix(PREFIX), by_end, n=1)
                yield f"{name} is not a setting" + (f"; did you mean {by_end[close[0]]}?" if close else ".")

    def contradictions(self) -> Iterator[str]:
        """One workspace, or several: what belongs to the other has no effect, which is a mistake of its own."""
        by_team = {"remote": self.remote, "file_url": self.file_url, "agent_keys": str(self.agent_keys or "")}
        reviewed = {team for team, _ in self._review_secrets()}
        is_private_key = bool(re.fullmatch(PRIVATE_KEY, revealed(self.github_key)))
        if self.github_app and not is_private_key:
            yield "With ROUNDTABLE_GITHUB_APP, ROUNDTABLE_GITHUB_KEY must be the private key of that App."
        if is_private_key and not self.github_app:
            yield "ROUNDTABLE_GITHUB_KEY is the private key of an App: set ROUNDTABLE_GITHUB_APP, too."
        if not self.several:
            yield from (f"{name_of(one)} is for several workspaces: set SLACK_CLIENT_ID, too."
                        for one in (*SEVERAL, "github_teams") if getattr(self, one))  # fmt: skip
            yield from (f"{name_of(name)} has {TEAM} in it, which is for several workspaces: set SLACK_CLIENT_ID, too."
                        for name, address in by_team.items() if TEAM in (address or ""))  # fmt: skip
            if (self.retention.stopped, self.retention.checkout) != (Retention().stopped, None):
                yield "ROUNDTABLE_RETENTION: stopped and checkout are for several workspaces: set SLACK_CLIENT_ID, too."
            if reviewed - {""}:
                yield "ROUNDTABLE_REVIEW_SECRET names a workspace, which is for several: set SLACK_CLIENT_ID, too."
            return
        if self.slack_bot_token:
            yield "Set SLACK_BOT_TOKEN for one workspace, or SLACK_CLIENT_ID for several, not both."
        missing = [one for one in (*SEVERAL, "seal_key") if not getattr(self, one)]
        if missing:
            yield f"With SLACK_CLIENT_ID, set {', '.join(map(name_of, missing))}, too."
        if not self.slack_app_token and not self.slack_signing_secret:
            yield "With SLACK_CLIENT_ID, set SLACK_APP_TOKEN or SLACK_SIGNING_SECRET, too."
        yield from (f"{name_of(name)} must have {TEAM} in it, because each workspace has one of its own."
                    for name, address in by_team.items() if address and TEAM not in address)  # fmt: skip
        if reviewed - set(self.teams):
            yield (
                "ROUNDTABLE_REVIEW_SECRET must say for which of ROUNDTABLE_TEAMS each secret is, as in T012:whsec_…."
            )
        of_github = set(self.github_teams)
        if (self.names_github and not of_github) or of_github - set(self.teams):
            yield (
                "ROUNDTABLE_GITHUB_TEAMS must name those of ROUNDTABLE_TEAMS that GitHub is for. All others have none."
            )

    @classmethod
    def _complaint(cls, field: str, text: str) -> str:
        setting = cls.model_fields[field]
        found = f" is {redacted(text)!r}, but" if setting.repr else ""
        return f"{name_of(field)}{found} must be {setting.description}."


def name_of(field: str) -> str:
    name = field.upper()
    return name if name.startswith(AS_ELSEWHERE) else PREFIX + name


def _secret_in(place: str, field: str, *, is_set: bool) -> str:
    """Without the line break that editors put at the end. Raises ConfigError, which never quotes the content."""
    name = name_of(field)
    if is_set:
        raise ConfigError(f"Set {name} or {name}{FILE}, not both.")
    try:
        with _at_home(Path(place)).open("rb") as file:
            text = file.read(SECRET_BYTES + 1).decode().strip()
    except OSError as error:
        raise ConfigError(f"{name}{FILE} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise ConfigError(f"{name}{FILE} cannot be read: it is not a text in UTF-8.") from None
    if not text:
        raise ConfigError(f"{name}{FILE} names an empty file.")
    if len(text) > SECRET_BYTES:
        raise ConfigError(f"{name}{FILE} names a file of more than {SECRET_BYTES // 1024} KiB.")
    return text


def _secrets_in(value: object) -> Iterator[str]:
    if isinstance(value, tuple):
        yield from (one.get_secret_value() for one in value if isinstance(one, SecretStr))
        return
    text = _text(value)
    if "://" in text:
        address = urlsplit(text)
        # A token for https may stand where the user's name does; over ssh that name is just `git`.
        opens = address.password or (address.username if address.scheme in {"http", "https"} else None)
        asked = re.findall(r"password=([^&#]+)", address.query)
        yield from {form for secret in (opens, *asked) if secret for form in (secret, unquote(secret))}
    elif isinstance(value, SecretStr):
        yield text
        yield from (row for row in text.splitlines() if len(row) >= SECRET_ROW_CHARS and "-----" not in row)
