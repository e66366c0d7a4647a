"""
What went wrong with a call, in our words: errors of libraries quote answers, and those may quote prompts and keys.

So nothing of an error is passed on but its kind, a status, and for how long we are asked to wait.
"""

from typing import NamedTuple

from httpx2 import HTTPError
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)

from bot.domain.catalog.models import ModelName
from bot.errors import VoiceError

LONGEST_WAIT_SECONDS = 3600.0
"""Whatever somebody's header says."""

FOREIGN: tuple[type[Exception], ...] = (
    AgentRunError,
    UserError,
    HTTPError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)
"""Besides its own errors, the library trips over answers that are not in the form; then these come out of it."""


class Meaning(NamedTuple):
    reason: str
    sentence: str
    again: bool = True


GARBLED = Meaning("unavailable", "{name} sent something that is no answer.")

# The first kind that fits; those that are kinds of others come before them.
MEANINGS: tuple[tuple[type[Exception], Meaning], ...] = (
    (
        ModelContextWindowExceededError,
        Meaning("context", "The discussion is too long for {name}.", again=False),
    ),
    (ModelAuthenticationError, Meaning("denied", "{name} does not accept our key.", again=False)),
    (ModelQuotaExceededError, Meaning("denied", "Our account for {name} is used up.", again=False)),
    (ModelNotFoundError, Meaning("unavailable", "{name} does not exist where we ask for it.", again=False)),
    (ModelRateLimitError, Meaning("unavailable", "{name} asks us to wait.")),
    (ModelRequestTimeout, Meaning("timeout", "{name} did not answer in time.")),
    (ModelTimeoutError, Meaning("timeout", "{name} did not answer in time.")),
    (ModelConnectionError, Meaning("unavailable", "{name} could not be reached, or hung up.")),
    (ModelUnavailableError, Meaning("unavailable", "{name} is not available just now.")),
    (ModelServerError, Meaning("unavailable", "{name} has trouble of its own.")),
    (ModelRequestRejectedError, Meaning("unavailable", "{name} does not take what we ask.", again=False)),
    (ContentFilterError, Meaning("refused", "{name} would rather not answer.", again=False)),
    (ModelHTTPError, Meaning("unavailable", "{name} has trouble.")),
    (ModelAPIError, GARBLED),
    (UserError, Meaning("unavailable", "{name} cannot be asked in this way.", again=False)),
    (HTTPError, Meaning("unavailable", "{name} could not be reached, or hung up.")),
    (OSError, Meaning("unavailable", "{name} could not be reached, or hung up.")),
)


def translated(error: Exception, name: ModelName) -> VoiceError:
    meaning = next((meaning for kind, meaning in MEANINGS if isinstance(error, kind)), GARBLED)
    sentence = meaning.sentence.format(name=name)
    if isinstance(error, ModelHTTPError):
        sentence = f"{sentence.removesuffix('.')} (HTTP {error.status_code})."
    wait = (error.retry_after or 0.0) if isinstance(error, ModelAPIError) else 0.0
    return VoiceError(
        sentence,
        reason=meaning.reason,
        again=meaning.again,
        after_seconds=min(wait, LONGEST_WAIT_SECONDS) if meaning.again else 0.0,
    )
