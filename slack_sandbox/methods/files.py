"""Uploads in three steps: an address is asked for, the bytes are sent there, and the file is shared."""

from collections.abc import Mapping

from slack_sandbox.messages import JSON
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.methods.chat import authorship, check_thread
from slack_sandbox.rules.refusal import SlackRefused, missing
from slack_sandbox.rules.validation import check_blocks
from slack_sandbox.slack import Slack, UploadedFile


def upload_url(slack: Slack, call: Call) -> JSON:
    length = call.number("length", 0)
    if length <= 0:
        raise SlackRefused("missing_argument")
    file = slack.new_file(call.need("filename"), length=length)
    return {"upload_url": f"{slack.base_url}/upload/{file.id}", "file_id": file.id}


def completed(slack: Slack, call: Call) -> JSON:
    wanted = call.args.get("files")
    if not isinstance(wanted, list) or not wanted or not all(isinstance(one, dict) for one in wanted):
        raise missing("files")
    if blocks := call.args.get("blocks"):
        check_blocks(blocks)
    files = [_uploaded(slack, one) for one in wanted]
    shapes = [_shape(slack, file, one.get("title", "")) for file, one in zip(files, wanted, strict=True)]
    if channel_id := call.text("channel_id") or call.text("channels"):
        _share(slack, call, channel_id, shapes=shapes)
    for file in files:
        file.completed = True
    return {"files": shapes}


def _uploaded(slack: Slack, wanted: JSON) -> UploadedFile:
    """Only once: completing uses the ticket up."""
    file = slack.files.get(str(wanted.get("id")))
    if file is None or not file.content or file.completed:
        raise SlackRefused("file_not_found")
    return file


def _share(slack: Slack, call: Call, channel_id: str, *, shapes: list[JSON]) -> None:
    channel = slack.writable(channel_id)
    check_thread(channel, call)
    if (thread_ts := call.text("thread_ts")) and thread_ts not in channel.messages:
        raise SlackRefused("thread_not_found")
    slack.workspace.post(
        channel,
        **authorship(slack, call),
        text=call.text("initial_comment"),
        blocks=tuple(call.args.get("blocks") or ()),
        thread_ts=thread_ts,
        files=tuple(shapes),
    )


def _shape(slack: Slack, file: UploadedFile, title: str) -> JSON:
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
    "files.getUploadURLExternal": Method(upload_url, ("files:write",), by_form=True),
    "files.completeUploadExternal": Method(completed, ("files:write",)),
}
