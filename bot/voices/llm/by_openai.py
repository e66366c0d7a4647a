"""
OpenAI, and every server that speaks like it: one of your own by OPENAI_BASE_URL, Ollama, vLLM.

OpenAI itself is asked by its newer API, all others by the older one, which they all have; `openai-responses:` and
`openai-chat:` say it for those who know better.
"""

from httpx2 import AsyncClient
from openai import AsyncOpenAI, OpenAIError
from pydantic_ai.models import Model
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.vllm import VLLMProvider

from bot.domain.catalog.models import ModelName
from bot.voices.llm.providers import Account

ERRORS = (OpenAIError,)
OPENAI = "https://api.openai.com/v1"
NOT_KEPT = OpenAIResponsesModelSettings(openai_store=False)
"""This way of asking would keep every discussion there, to be read in their console."""

WHOLE = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
"""A stream that just ends may have been cut by something in between: only who says that this was all has said all."""


def model(name: ModelName, account: Account, http: AsyncClient) -> Model:
    client = AsyncOpenAI(
        api_key=account.key.get_secret_value(),
        base_url=account.address or OPENAI,
        http_client=http,
        max_retries=0,
    )
    if name.provider == "ollama":
        return OllamaModel(name.name, provider=OllamaProvider(openai_client=client), profile=WHOLE)
    if name.provider == "vllm":
        return OpenAIChatModel(name.name, provider=VLLMProvider(openai_client=client), profile=WHOLE)
    provider = OpenAIProvider(openai_client=client)
    if name.provider == "openai-responses" or (name.provider == "openai" and not account.address):
        return OpenAIResponsesModel(name.name, provider=provider, settings=NOT_KEPT)
    return OpenAIChatModel(name.name, provider=provider, profile=WHOLE)
