"""What a call would cost. It is asked before any model is loaded."""

from contextlib import suppress
from decimal import Decimal

from genai_prices import Usage, calc_price

from bot.domain.catalog.personas import ModelName


def price(name: ModelName, *, address: str, tokens_in: int, tokens_out: int) -> Decimal | None:
    """In dollars; None where no price is known for the model, or for it at that address."""
    used = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    with suppress(LookupError, ValueError):
        return calc_price(used, name.name, provider_api_url=address or None).total_price
    return None
