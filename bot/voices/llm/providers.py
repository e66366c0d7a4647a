"""
The known providers: what each needs, and a sentence for what of it is missing.

No library for models is imported here.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.domain.catalog.personas import ModelName
from bot.errors import lacks_extra
from bot.keys import Keys

LIBRARY = "pydantic_ai"
NO_KEY = "none"
"""Every client wants a key, and your own server may have none."""


class Provider(NamedTuple):
    """
    Our *extra* installs *library*. *keys*, *address* and *regions* are fields of `Keys`; one of *keys* is enough.

    *caches*: it takes marks for what of a prompt to cache. *streams*: it can be cancelled while it answers.
    """

    extra: str
    library: str
    keys: tuple[str, ...] = ()
    address: str = ""
    regions: tuple[str, ...] = ()
    usual_address: str = ""
    needs_key: bool = True
    caches: bool = False
    streams: bool = True


class Account(NamedTuple):
    """What a call needs; an empty address is the provider's own. *seconds* is the timeout."""

    key: SecretStr
    address: str
    region: str
    seconds: float


_OPENAI = Provider("openai", "openai", keys=("openai_api_key",), address="openai_base_url", caches=True)
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "anthropic",
        "anthropic",
        keys=("anthropic_api_key",),
        address="anthropic_base_url",
        caches=True,
    ),
    "bedrock": Provider(
        "bedrock",
        "boto3",
        regions=("aws_region", "aws_default_region"),
        needs_key=False,  # its library finds a key, or a role
        caches=True,
        streams=False,
    ),
    "google": Provider(
        "google",
        "google.genai",
        keys=("google_api_key", "gemini_api_key"),
        address="google_gemini_base_url",
    ),
    "ollama": Provider(
        "openai",
        "openai",
        keys=("ollama_api_key",),
        address="ollama_base_url",
        usual_address="http://localhost:11434/v1",
        needs_key=False,
    ),
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "vllm": Provider(
        "openai",
        "openai",
        keys=("vllm_api_key",),
        address="vllm_base_url",
        usual_address="http://localhost:8000/v1",
        needs_key=False,
    ),
}


def account(name: ModelName, keys: Keys, *, seconds: float) -> Account:
    provider = PROVIDERS[name.provider]
    return Account(
        SecretStr(_first(provider.keys, keys) or NO_KEY),
        (keys.given(provider.address) if provider.address else "") or provider.usual_address,
        _first(provider.regions, keys),
        seconds,
    )


def missing(names: Iterable[ModelName], keys: Keys) -> Iterator[str]:
    """A sentence for each thing that *names* lack; what several of them lack comes once."""
    return iter(dict.fromkeys(sentence for name in names for sentence in _missing(name, keys)))


def _missing(name: ModelName, keys: Keys) -> Iterator[str]:
    if (provider := PROVIDERS.get(name.provider)) is None:
        yield _unknown(name)
        return
    if not (_is_installed(LIBRARY) and _is_installed(provider.library)):
        yield f"{name} cannot be asked: {lacks_extra(provider.extra)}"
    address = keys.given(provider.address) if provider.address else ""
    if provider.needs_key and not address and not _first(provider.keys, keys):
        wanted = " or ".join(field.upper() for field in provider.keys)
        own = f", or {provider.address.upper()} for a server of your own" if provider.address else ""
        yield f"{name} needs {wanted}{own}."
    if provider.regions and not _first((*provider.regions, "aws_profile"), keys):
        yield f"{name} needs {' or '.join(field.upper() for field in provider.regions)}, or AWS_PROFILE."
    if address and not _is_address(address):
        yield f"{provider.address.upper()} must be an address that starts with https:// or http://."


def _unknown(name: ModelName) -> str:
    close = get_close_matches(name.provider, PROVIDERS, n=1)
    hint = f"; did you mean {close[0]}?" if close else f". We know {', '.join(PROVIDERS)}."
    return f"{name} is of a provider that we do not know{hint}"


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # the package around it is not installed (google, of google.genai)
        return False


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not any(map(str.isspace, text))


def _first(fields: Iterable[str], keys: Keys) -> str:
    return next(filter(None, map(keys.given, fields)), "")
