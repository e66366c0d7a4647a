"""Files into a thread: seen once or not at all, whatever becomes of the steps it takes."""

import pytest

from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.engine.ports import ExportFile
from bot.errors import SlackError
from bot.slack.chat import POSTED_AGAIN, SlackChat
from slack_sandbox import Sandbox
from tests.slack.conftest import CHANNEL
from tests.slack.test_chat import MAYA

SHEETS = (
    ExportFile("dark-mode-1.md", "Text", b"# Dark"),
    ExportFile("dark-mode-1.html", "Page", b"<!doctype html>"),
)
COMMENT = Message(text="The record of **<!channel> Dark**: `dark-mode-1.md` and `dark-mode-1.html`.")
POST_BYTES = "files.getUploadURLExternal"
SHARE = "files.completeUploadExternal"


async def shared(chat: SlackChat, thread: Place, *, again: bool = False) -> None:
    await chat.share(thread, SHEETS, COMMENT, key="k", again=again)


async def test_all_files_come_with_one_message(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """Under names that people can keep them by; what stands above pings nobody."""
    await shared(chat, thread)
    (_, message) = sandbox.thread(CHANNEL, thread.thread)

    assert [(one["name"], one["title"], one["size"]) for one in message.files] == [
        ("dark-mode-1.md", "Text", 6),
        ("dark-mode-1.html", "Page", 15),
    ]
    assert message.text == ("The record of *&lt;!channel&gt; Dark*: `dark-mode-1.md` and `dark-mode-1.html`.")


@pytest.mark.parametrize("method", [POST_BYTES, SHARE])
async def test_what_fails_before_it_is_seen_can_be_done_again(
    chat: SlackChat, thread: Place, sandbox: Sandbox, method: str
) -> None:
    """Half of an upload is nobody's."""
    sandbox.fail_next(method, status=503)
    with pytest.raises(SlackError) as failed:
        await shared(chat, thread)
    await shared(chat, thread, again=True)

    assert failed.value.again
    assert len(sandbox.thread(CHANNEL, thread.thread)) == 2


async def test_what_was_done_and_not_heard_is_not_done_again(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """The connection broke after the last step: the next attempt looks, but not before it may have landed."""
    sandbox.fail_next(SHARE, hang_up=True, after=True)
    with pytest.raises(SlackError) as lost:
        await shared(chat, thread)
    await shared(chat, thread, again=True)

    assert lost.value.again
    assert lost.value.after_seconds > 0
    assert len(sandbox.thread(CHANNEL, thread.thread)) == 2


async def test_other_posts_are_not_taken_for_it(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """Nor are people who name the files."""
    await chat.post(thread, MAYA, key="k0", again=False)
    await sandbox.person("ada").say(CHANNEL, "dark-mode-1.md dark-mode-1.html", thread_ts=thread.thread)
    await shared(chat, thread, again=True)

    assert sandbox.thread(CHANNEL, thread.thread)[-1].files


async def test_when_slack_lets_us_not_look_it_is_marked(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Better twice and marked than lost."""
    sandbox.scopes.remove("channels:history")
    await shared(chat, thread, again=True)

    assert sandbox.thread(CHANNEL, thread.thread)[-1].text.endswith(POSTED_AGAIN)


async def test_without_the_permission_it_is_refused_for_good(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """In a sentence that says which permission it is."""
    sandbox.scopes.remove("files:write")
    with pytest.raises(SlackError, match=r"`files:write`") as refused:
        await shared(chat, thread)

    assert not refused.value.again
