from anthropic import AnthropicError, AsyncAnthropic
from httpx2 import AsyncClient
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from bot.domain.catalog.models import ModelName
from bot.voices.llm.providers import Account

ERRORS = (AnthropicError,)
ANTHROPIC = "https://api.anthropic.com"


def model(name: ModelName, account: Account, http: AsyncClient) -> Model:
    client = AsyncAnthropic(
        api_key=account.key.get_secret_value(),
        base_url=account.address or ANTHROPIC,
        http_client=http,
        max_retries=0,
    )
    return AnthropicModel(name.name, provider=AnthropicProvider(anthropic_client=client))
