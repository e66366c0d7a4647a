"""
Files into a thread, in three steps: an address is asked for, the bytes go there, and all of it is shared at once.

Only the last step is seen by people. What stands above the files names them, so one look tells whether it was done.
"""

import logging
from collections.abc import Sequence

import aiohttp

from bot.domain.values.places import Place
from bot.engine.ports import Sheet
from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.post_lookup import Earlier
from bot.slack.refusals import refusals_translated

log = logging.getLogger(__name__)

UPLOAD_SECONDS = 60
SERVER_ERROR = 500
OK = 200


class Uploads:
    def __init__(self, calls: Calls, earlier: Earlier) -> None:
        self._calls = calls
        self._client = calls.client
        self._earlier = earlier

    async def share(self, place: Place, sheets: Sequence[Sheet], comment: str, *, key: str) -> None:
        files = [{"id": await self._sent(one), "title": one.title} for one in sheets]
        await self._calls(
            self._client.files_completeUploadExternal,
            files=files,
            channel_id=place.channel,
            thread_ts=place.thread,
            initial_comment=comment,
        )
        log.info("%s: %s are in %s", key, ", ".join(one.name for one in sheets), place.key)

    async def stands(self, place: Place, sheets: Sequence[Sheet], *, key: str) -> bool | None:
        """Whether they are in the thread already; None when Slack does not let us see."""
        texts = await self._earlier.texts(place, key)
        return None if texts is None else any(all(one.name in text for one in sheets) for text in texts)

    async def _sent(self, sheet: Sheet) -> str:
        """The id of the file; nobody sees it yet."""
        answer = await self._calls(
            self._client.files_getUploadURLExternal, filename=sheet.name, length=len(sheet.content)
        )
        assert self._client.session
        with refusals_translated():
            async with self._client.session.post(
                answer["upload_url"],
                data=sheet.content,
                headers={"Content-Type": "application/octet-stream"},
                timeout=aiohttp.ClientTimeout(total=UPLOAD_SECONDS),
            ) as response:
                status = response.status
        if status != OK:
            again = status >= SERVER_ERROR
            raise SlackError("Slack did not take the file.", reason=f"upload_{status}", again=again)
        return str(answer["file_id"])
