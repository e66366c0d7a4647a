"""
GitHub's webhook: an issue that changed is read at once, and not when its turn comes. Nothing else of a request is used,
so what is missed, or comes in another order, is read later all the same.
"""

import hmac
import logging
import re
from collections.abc import Awaitable, Callable
from hashlib import sha256

from aiohttp import web
from pydantic import BaseModel, ValidationError

from bot.domain.roundtable.inputs import IssueChanged
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.address import SLUG
from bot.engine.ports import Clock
from bot.errors import BotError, Conflict, Unavailable
from bot.log import ThrottledWarning

PATH = "/github"
LARGEST_BYTES = 1024 * 1024
SIGNATURE, EVENT, DELIVERY = "X-Hub-Signature-256", "X-GitHub-Event", "X-GitHub-Delivery"
OURS = re.compile(rf"<!-- roundtable ({SLUG})/")
"""In the text of an issue that the bot created."""

log = logging.getLogger(__name__)


class _Issue(BaseModel):
    html_url: str
    body: str | None = None


class _IssueEvent(BaseModel):
    issue: _Issue


class SignedByGitHub:
    """Whether a request is signed with *secret*."""

    most_bytes = LARGEST_BYTES

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._refusals = ThrottledWarning(log)

    def refusal(self, request: web.Request) -> web.Response | None:
        is_whole = all(len(request.headers.getall(name, [])) == 1 for name in (SIGNATURE, EVENT, DELIVERY))
        return None if is_whole else self._unauthorised()

    def forged(self, request: web.Request, body: bytes) -> web.Response | None:
        made = f"sha256={hmac.new(self._secret, body, sha256).hexdigest()}"
        given = request.headers[SIGNATURE].encode("utf-8", "replace")
        return None if hmac.compare_digest(made.encode(), given) else self._unauthorised()

    def _unauthorised(self) -> web.Response:
        self._refusals.warn(f"A request to {PATH} was refused: GitHub did not sign it with our secret.")
        return web.Response(status=401, text="This request is not signed by GitHub.\n")


class GitHubWebhook(SignedByGitHub):
    """*handle* is that of the roundtables."""

    def __init__(
        self, secret: str, handle: Callable[[str, IssueChanged], Awaitable[Roundtable]], clock: Clock
    ) -> None:
        super().__init__(secret)
        self._handle = handle
        self._clock = clock

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        """An issue whose text does not name an item of ours is somebody else's."""
        if refused := self.forged(request, body):
            return refused
        if request.headers[EVENT] != "issues":
            return web.Response(status=204)
        try:
            issue = _IssueEvent.model_validate_json(body).issue
        except ValidationError:
            return web.Response(status=400, text="The body is not JSON of an issue.\n")
        if found := OURS.search(issue.body or ""):
            key = f"github.{request.headers[DELIVERY][:64]}"
            try:
                await self._handle(found[1], IssueChanged(key=key, at=self._clock(), issue=issue.html_url))
            except (Unavailable, Conflict) as error:
                log.warning("an issue is read later: %s", error)
            except BotError:
                pass  # the item is in no thread here
        return web.Response(status=204)
