"""
What a Redis URL says when it names several hosts: sentinels, or nodes of a cluster.

    redis+sentinel://[user:password@]host[:port][,host[:port]...]/SERVICE[/DB][?sentinel_username=…&sentinel_password=…]
    redis+cluster://[user:password@]host[:port][,host[:port]...]

`rediss+…` speaks TLS. The forms are docket's, so that one URL serves the state and the work.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from redis.asyncio.connection import parse_url

SENTINEL, CLUSTER = "sentinel", "cluster"
PORTS = {SENTINEL: 26379, CLUSTER: 6379}
SENTINELS_OWN = ("sentinel_username", "sentinel_password")


@dataclass(frozen=True, slots=True)
class Address:
    """*options* are for connections to servers, *sentinel_options* for those to sentinels."""

    kind: str
    hosts: tuple[tuple[str, int], ...]
    options: Mapping[str, Any]
    sentinel_options: Mapping[str, Any]
    service: str = ""


def kind_of(url: str) -> str:
    """Empty for one server."""
    kind = url.partition("://")[0].partition("+")[2]
    return kind if kind in PORTS else ""


def taken_apart(url: str) -> Address:
    """Raises ValueError with a sentence that tells nothing of the URL."""
    kind = kind_of(url)
    netloc, rest = _netloc(url)
    who, _, hosts = netloc.rpartition("@")
    parts = urlsplit(f"redis://{who}@-{rest}")
    query = dict(parse_qsl(parts.query))
    apart = {name.removeprefix("sentinel_"): query.pop(name) for name in SENTINELS_OWN if name in query}
    options = _options(query)
    tls = {"ssl": True} if url.startswith("rediss") else {}
    secure = tls and {name: value for name, value in options.items() if name.startswith("ssl_")}
    known = {"username": parts.username, "password": parts.password}
    given = {name: unquote(value) for name, value in known.items() if value}
    service, database = _path(kind, parts.path)
    return Address(
        kind=kind,
        hosts=tuple(_host(host, PORTS[kind]) for host in hosts.split(",")),
        options={**options, **given, **tls, "db": database},
        sentinel_options={**secure, **apart, **tls},
        service=service,
    )


def is_open(url: str) -> bool:
    """Whether the URL has nothing that opens the server: no password, no certificate of ours, no unix socket."""
    if url.startswith("unix:"):
        return False
    options = taken_apart(url).options if kind_of(url) else parse_url(url)
    return not (options.get("password") or options.get("ssl_certfile"))


def hosts_of(url: str) -> list[str]:
    """As they are written."""
    return _netloc(url)[0].rpartition("@")[2].split(",")


def only(url: str, hosts: Iterable[str], **options: str) -> str:
    """The same with only those hosts, and with *options* where it does not say otherwise."""
    netloc, rest = _netloc(url)
    who, at, _ = netloc.rpartition("@")
    parts = urlsplit(f"redis://-{rest}")
    query = urlencode(options | dict(parse_qsl(parts.query)), quote_via=quote)
    return f"{url.partition('://')[0]}://{who}{at}{','.join(hosts)}{parts.path}{query and '?'}{query}"


def _netloc(url: str) -> tuple[str, str]:
    """The hosts, and what comes after them; the standard library refuses several hosts with brackets."""
    told = url.partition("://")[2]
    end = min((told.index(sign) for sign in "/?#" if sign in told), default=len(told))
    return told[:end], told[end:]


def _options(query: Mapping[str, str]) -> dict[str, Any]:
    """As redis-py reads them in the URL of one server. Who and where is said elsewhere in a URL."""
    read: dict[str, Any] = dict(parse_url(f"redis://-?{urlencode(query)}"))
    return {name: value for name, value in read.items() if name not in {"host", "port", "db"}}


def _path(kind: str, path: str) -> tuple[str, int]:
    service, _, database = path.strip("/").partition("/")
    if kind == CLUSTER:
        if service not in {"", "0"} or database:
            raise ValueError("a cluster has no databases")
        return "", 0
    if not service:
        raise ValueError("the name of the master is missing, as in redis+sentinel://host:26379/mymaster")
    if database and not database.isdecimal():
        raise ValueError("the database is not a number")
    return unquote(service), int(database or 0)


def _host(text: str, port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text.strip()}")
        host, told = parts.hostname, parts.port
    except ValueError:
        host, told = None, None
    if not host:
        raise ValueError("a host or its port cannot be read")
    return host, told or port
