"""Where files are sent to, and read from."""

from aiohttp import web

from slack_sandbox.slack import Slack, UploadedFile

LARGEST_BYTES = 20 * 1024 * 1024


class UploadSlots:
    def __init__(self, slack: Slack) -> None:
        self._slack = slack

    async def receive(self, request: web.Request) -> web.StreamResponse:
        """The bytes as they are, or as the first file of a form; as many as were announced."""
        file = self._file(request)
        content = await _sent(request)
        if len(content) != file.length:
            raise web.HTTPBadRequest(text=f"{file.length} bytes were announced, and {len(content)} came.")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def send(self, request: web.Request) -> web.StreamResponse:
        """Always as a download: what an app uploads is never run as a page."""
        file = self._file(request)
        return web.Response(
            body=file.content,
            content_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{_safe(file.name)}"'},
        )

    def _file(self, request: web.Request) -> UploadedFile:
        file = self._slack.files.get(request.match_info["file"])
        if file is None:
            raise web.HTTPNotFound
        return file


async def _sent(request: web.Request) -> bytes:
    if request.content_type != "multipart/form-data":
        return await request.read()
    fields = [field for field in (await request.post()).values() if isinstance(field, web.FileField)]
    return fields[0].file.read() if fields else b""


def _safe(name: str) -> str:
    return "".join(character if character.isalnum() or character in "._- " else "_" for character in name)
