"""
Keys: those of the providers of models, and those that are derived from the bot token.

A provider's key and address have the names that other programs use, too, and may be set for these. So they are only
checked when a model needs them (`bot.voices.llm.providers`).
"""

import hmac

from pydantic import BaseModel, ConfigDict, Field, SecretStr

PREFIXES = ("ANTHROPIC_", "AWS_", "GEMINI_", "GOOGLE_", "OLLAMA_", "OPENAI_", "VLLM_")

_KEY = Field(default=None, repr=False, description="a key")
_ADDRESS = Field(default=None, repr=False, description="an address that starts with https:// or http://")


class Keys(BaseModel):
    """AWS's are here for their secrecy, and for saying what is missing; its library finds them by itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    anthropic_api_key: SecretStr | None = _KEY
    anthropic_base_url: str | None = _ADDRESS
    aws_access_key_id: SecretStr | None = _KEY
    aws_bearer_token_bedrock: SecretStr | None = _KEY
    aws_default_region: str | None = Field(default=None, description="a region of AWS")
    aws_profile: str | None = Field(default=None, description="a profile of AWS")
    aws_region: str | None = Field(default=None, description="a region of AWS")
    aws_secret_access_key: SecretStr | None = _KEY
    aws_session_token: SecretStr | None = _KEY
    gemini_api_key: SecretStr | None = _KEY
    google_api_key: SecretStr | None = _KEY
    google_gemini_base_url: str | None = _ADDRESS
    ollama_api_key: SecretStr | None = _KEY
    ollama_base_url: str | None = _ADDRESS
    openai_api_key: SecretStr | None = _KEY
    openai_base_url: str | None = _ADDRESS
    vllm_api_key: SecretStr | None = _KEY
    vllm_base_url: str | None = _ADDRESS

    def given(self, field: str) -> str:
        """Empty when it is not set."""
        value = getattr(self, field)
        return value.get_secret_value() if isinstance(value, SecretStr) else value or ""


# Derived from the bot token, each with a label of its own. Both must stay as they are: existing seals and slugs depend
# on them.

SEAL_LABEL = b"roundtable seal key 1"
SLUG_LABEL = b"slugs."


def seal_key(bot_token: str) -> bytes:
    """Signs which thread an item belongs to. The token cannot be found out from it."""
    return hmac.digest(bot_token.encode(), SEAL_LABEL, "sha256")


def slug_secret(secret: str) -> bytes:
    """
    Makes the slugs of private items, from the bot token, or, where that is renewed, from the oldest seal key. It
    contains the secret: it is only used as the key of an HMAC.
    """
    return SLUG_LABEL + secret.encode()
