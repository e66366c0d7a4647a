from google.genai.errors import APIError
from httpx2 import AsyncClient
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from bot.domain.catalog.models import ModelName
from bot.voices.llm.providers import Account

ERRORS = (APIError,)


def model(name: ModelName, account: Account, http: AsyncClient) -> Model:
    """Its client does not try anything twice unless it is told to."""
    provider = GoogleProvider(
        api_key=account.key.get_secret_value(), base_url=account.address or None, http_client=http
    )
    return GoogleModel(name.name, provider=provider)
