"""Keys of coding agents: what one may read, and whether it may ask people. Only the digest of its secret is known."""

import hashlib
from collections.abc import Iterable
from typing import Annotated

from pydantic import StringConstraints

from bot.domain.values.value import Value

EVERY_PUBLIC_ITEM = "*"

KeyName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,39}$")]
Owner = Annotated[str, StringConstraints(pattern=r"^[UW][A-Z0-9]{1,30}$")]
ItemName = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9_-]{0,99})$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class AgentKey(Value):
    """*owner* is the id in Slack of the person whom the agent works for. A private item has to be named in *items*."""

    name: KeyName
    owner: Owner
    sha256: Digest
    items: tuple[ItemName, ...] = (EVERY_PUBLIC_ITEM,)
    may_ask: bool = False

    @property
    def is_for_all(self) -> bool:
        return EVERY_PUBLIC_ITEM in self.items


def digest_of(secret: str) -> str:
    """No salt: a secret of 256 random bits is in no list."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def key_with(keys: Iterable[AgentKey], authorization: str) -> AgentKey | None:
    """The key whose secret the header *authorization* carries."""
    scheme, _, secret = authorization.partition(" ")
    if scheme.casefold() != "bearer":
        return None
    given = digest_of(secret.strip())
    return next((one for one in keys if one.sha256 == given), None)
