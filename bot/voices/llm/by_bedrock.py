"""
Bedrock, by AWS's own library: it finds keys, roles, profiles and its address as every other program there does.

It waits in a thread, which nobody can call back: what is cancelled here ends there when its answer comes, or when its
own time is over.
"""

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from httpx2 import AsyncClient
from pydantic_ai.models import Model
from pydantic_ai.models.bedrock import BedrockConverseModel
from pydantic_ai.providers.bedrock import BedrockProvider

from bot.domain.catalog.models import ModelName
from bot.voices.llm.providers import Account

CONNECT_SECONDS = 5
ERRORS = (BotoCoreError, ClientError)


def model(name: ModelName, account: Account, http: AsyncClient) -> Model:  # noqa: ARG001 -- it has a client of its own
    config = Config(
        connect_timeout=CONNECT_SECONDS, read_timeout=account.seconds, retries={"total_max_attempts": 1}
    )
    client = boto3.client("bedrock-runtime", region_name=account.region or None, config=config)
    return BedrockConverseModel(name.name, provider=BedrockProvider(bedrock_client=client))
