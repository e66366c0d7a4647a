"""What a call took, as far as anybody knows."""

import re
from contextlib import suppress
from decimal import Decimal

from genai_prices import calc_price
from pydantic_ai.messages import ModelResponse

from bot.domain.catalog.models import ModelName
from bot.voices.model import Usage

_PLAIN = re.compile(r"[\w./:@+-]{1,100}")


def usage(response: ModelResponse, name: ModelName, *, address: str, seconds: float) -> Usage:
    """
    *address* is empty at the provider's own. What a server of somebody else charges is not what its models would cost
    elsewhere: its price is known when its address is.
    """
    told = response.usage
    said = not told.unmeasured_requests and bool(told.input_tokens or told.output_tokens)
    cached = told.cache_read_tokens
    return Usage(
        provider=name.provider,
        model=_model(response, name),
        seconds=seconds,
        tokens_in=told.input_tokens if said else None,
        tokens_out=told.output_tokens if said else None,
        tokens_cached=cached if said and (cached or not address) else None,
        dollars=_dollars(response, name, address) if said else None,
    )


def _model(response: ModelResponse, name: ModelName) -> str:
    """As the provider calls it, which tells its version; but it is written down, so it has to look like a name."""
    told = response.model_name
    return told if isinstance(told, str) and _PLAIN.fullmatch(told) else name.name


def _dollars(response: ModelResponse, name: ModelName, address: str) -> Decimal | None:
    """The provider's name for the model tells more; ours is known when that is too new."""
    used = response.usage
    for model in dict.fromkeys((_model(response, name), name.name)):
        with suppress(LookupError, ValueError):
            if address:
                return calc_price(used, model, provider_api_url=address).total_price
            return calc_price(used, model, provider_id=response.provider_name).total_price
    return None
