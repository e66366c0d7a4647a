"""Uploads in three steps: an address is asked for, the bytes are sent there, and the file is shared."""

from collections.abc import Mapping

from bot.sandbox.messages import JSON
from bot.sandbox.methods.call import Call, Method
from bot.sandbox.methods.chat import authorship, check_thread
from bot.sandbox.refusal import Refused, missing
from bot.sandbox.slack import File, Slack
from bot.sandbox.validation import check_blocks


def upload_url(slack: Slack, call: Call) -> JSON:
    if call.number("length", 0) <= 0:
        raise missing("length")
    file = slack.new_file(call.need("filename"))
    return {"upload_url": f"{slack.base_url}/upload/{file.id}", "file_id": file.id}


def completed(slack: Slack, call: Call) -> JSON:
    wanted = call.args.get("files")
    if not isinstance(wanted, list) or not wanted or not all(isinstance(one, dict) for one in wanted):
        raise missing("files")
    if blocks := call.args.get("blocks"):
        check_blocks(blocks)
    shapes = [_shape(slack, _uploaded(slack, one), one.get("title", "")) for one in wanted]
    if channel_id := call.text("channel_id") or call.text("channels"):
        _share(slack, call, channel_id, shapes=shapes)
    return {"files": shapes}


def _uploaded(slack: Slack, wanted: JSON) -> File:
    file = slack.files.get(str(wanted.get("id")))
    if file is None or not file.content:
        raise Refused("file_not_found")
    return file


def _share(slack: Slack, call: Call, channel_id: str, *, shapes: list[JSON]) -> None:
    channel = slack.writable(channel_id)
    check_thread(channel, call)
    slack.workspace.post(
        channel,
        **authorship(slack, call),
        text=call.text("initial_comment"),
        blocks=tuple(call.args.get("blocks") or ()),
        thread_ts=call.text("thread_ts"),
        files=tuple(shapes),
    )


def _shape(slack: Slack, file: File, title: str) -> JSON:
    return {
        "id": file.id,
        "name": file.name,
        "title": title or file.name,
        "size": len(file.content),
        "user": slack.app.bot_user_id,
        "url_private": f"{slack.base_url}/files/{file.id}",
        "permalink": f"{slack.base_url}/files/{file.id}",
    }


METHODS: Mapping[str, Method] = {
    "files.getUploadURLExternal": Method(upload_url, ("files:write",)),
    "files.completeUploadExternal": Method(completed, ("files:write",)),
}
