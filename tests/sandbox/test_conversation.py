"""People and an app talk with each other, over Socket Mode."""

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp, AsyncSay
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from slack_sandbox.rules.refusal import SlackRefused
from tests.sandbox.blocks import Body, actions, button

MAYA: Body = {"username": "Maya Chen", "icon_emoji": ":mag:"}


async def test_what_a_person_says_reaches_the_app_which_answers_in_the_thread(
    sandbox: Sandbox, bolt: AsyncApp
) -> None:
    """One event, one answer under it, and everything acknowledged, the app's own echo included."""

    @bolt.event("message")
    async def answer(event: Body, say: AsyncSay) -> None:
        await say(text=f"You said: {event['text']}", thread_ts=event["ts"])

    ts = await sandbox.person("ada").say("#roundtable", "It is too bright.")
    replies = await sandbox.until(lambda: sandbox.thread("#roundtable", ts)[1:])
    await sandbox.settled()

    assert [reply.text for reply in replies] == ["You said: It is too bright."]
    assert replies[0].user == sandbox.bot_user_id
    assert all(delivery.acked for delivery in sandbox.deliveries)
    assert len(sandbox.calls_of("chat.postMessage")) == 1


async def test_a_mention_is_two_events(sandbox: Sandbox, bolt: AsyncApp, heard: list[Body]) -> None:
    """`message` and `app_mention`, with different event ids and the same stamp: apps must not answer twice."""

    @bolt.event("app_mention")
    async def mention(body: Body) -> None:
        heard.append(body)

    await sandbox.person("ada").say("#roundtable", "@roundtable resume")
    await sandbox.settled()

    assert {body["event"]["type"] for body in heard} == {"message", "app_mention"}
    assert len({body["event_id"] for body in heard}) == 2
    assert {body["event"]["ts"] for body in heard} == {sandbox.messages()[-1].ts}


async def test_what_is_typed_is_stored_as_slack_stores_it(sandbox: Sandbox) -> None:
    """Markup is escaped; people, channels and addresses become references."""
    ts = await sandbox.person("ada").say(
        "#roundtable", "a < b & @grace in #roundtable: https://x.test/?a=1&b=2."
    )

    expected = (
        f"a &lt; b &amp; <@U0GRACE> in <#{sandbox.channel().id}|roundtable>: <https://x.test/?a=1&amp;b=2>."
    )
    assert sandbox.message(ts).text == expected


async def test_a_persona_has_a_name_and_no_user(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """With a name of its own a post is a `bot_message`; readers must not look for the bot's user id."""
    posted = (await client.chat_postMessage(channel=channel, text="Hello", **MAYA))["message"]
    plain = (await client.chat_postMessage(channel=channel, text="Hello"))["message"]

    assert posted["subtype"] == "bot_message"
    assert posted["username"] == "Maya Chen"
    assert posted["icons"] == {"emoji": ":mag:"}
    assert posted["bot_id"] == sandbox.bot_id
    assert "user" not in posted
    assert plain["user"] == sandbox.bot_user_id
    assert "subtype" not in plain


async def test_the_root_counts_its_replies(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """Replies stay out of the channel's history, and the root says how many there are and the latest."""
    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "root")
    await ada.say("#roundtable", "one", thread_ts=root)
    last = await sandbox.person("grace").say("#roundtable", "two", thread_ts=root)

    [shown] = (await client.conversations_history(channel=channel))["messages"]
    replies = (await client.conversations_replies(channel=channel, ts=root))["messages"]

    assert (shown["reply_count"], shown["latest_reply"]) == (2, last)
    assert shown["reply_users"] == ["U0ADA", "U0GRACE"]
    assert [reply["text"] for reply in replies] == ["root", "one", "two"]
    assert replies[1]["parent_user_id"] == "U0ADA"


async def test_metadata_is_read_only_on_request(client: AsyncWebClient, channel: str) -> None:
    """Without include_all_metadata a reader never sees it."""
    metadata = {"event_type": "roundtable_line", "event_payload": {"turn_id": "t1"}}
    await client.chat_postMessage(channel=channel, text="x", metadata=metadata)

    bare = (await client.conversations_history(channel=channel))["messages"][0]
    full = (await client.conversations_history(channel=channel, include_all_metadata=True))["messages"][0]

    assert "metadata" not in bare
    assert full["metadata"] == metadata


async def test_long_threads_come_in_pages(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """A cursor leads from page to page, until there is none; each begins with the root, which is not counted."""
    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "0")
    for number in range(1, 5):
        await ada.say("#roundtable", str(number), thread_ts=root)

    seen: list[str] = []
    cursor = ""
    while True:
        page = await client.conversations_replies(channel=channel, ts=root, limit=2, cursor=cursor)
        seen += [message["text"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break

    assert seen == ["0", "1", "2", "0", "3", "4"]
    with pytest.raises(SlackApiError, match="invalid_limit"):
        await client.conversations_replies(channel=channel, ts=root, limit=1001)


@pytest.mark.usefixtures("bolt")
async def test_edits_and_deletions_are_events(sandbox: Sandbox, heard: list[Body]) -> None:
    """Each names the message it is about, with what stood there before."""
    ada = sandbox.person("ada")
    ts = await ada.say("#roundtable", "Mondya")
    await ada.edit(ts, "Monday")
    await ada.delete(ts)
    await sandbox.settled()

    said, changed, deleted = sorted((body["event"] for body in heard), key=lambda one: str(one["ts"]))
    assert said["text"] == "Mondya"
    assert changed["subtype"] == "message_changed"
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == ("Monday", "Mondya")
    assert changed["message"]["edited"]["user"] == "U0ADA"
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)


async def test_a_deleted_root_leaves_a_tombstone(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """The thread can still be read and answered."""
    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "root")
    await ada.say("#roundtable", "reply", thread_ts=root)
    await ada.delete(root)

    await client.chat_postMessage(channel=channel, text="still here", thread_ts=root)

    grave, *replies = sandbox.thread("#roundtable", root)
    assert grave.subtype == "tombstone"
    assert [reply.text for reply in replies] == ["reply", "still here"]


async def test_a_reply_to_what_is_gone_stands_in_the_channel(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Slack refuses nothing; that the answer names no thread is all an app can go by."""
    root = await sandbox.person("ada").say("#roundtable", "root")
    inside = await client.chat_postMessage(channel=channel, text="inside", thread_ts=root)
    astray = await client.chat_postMessage(channel=channel, text="astray", thread_ts="1700000000.000001")

    assert inside["message"]["thread_ts"] == root
    assert "thread_ts" not in astray["message"]
    assert [message.text for message in sandbox.messages()] == ["root", "astray"]


@pytest.mark.usefixtures("heard")
async def test_reactions_are_seen_by_everybody(
    sandbox: Sandbox, bolt: AsyncApp, client: AsyncWebClient
) -> None:
    """An app's and a person's reaction meet on one message; both are events."""
    reactions = []

    @bolt.event("reaction_added")
    async def reacted(event: Body) -> None:
        reactions.append((event["user"], event["reaction"], event["item"]["ts"]))

    ada = sandbox.person("ada")
    ts = await ada.say("#roundtable", "Done")
    await ada.react(ts, "eyes")
    await client.reactions_add(channel=sandbox.channel().id, timestamp=ts, name="eyes")
    await sandbox.settled()

    [shown] = (await client.reactions_get(channel=sandbox.channel().id, timestamp=ts))["message"]["reactions"]
    assert shown == {"name": "eyes", "users": ["U0ADA", sandbox.bot_user_id], "count": 2}
    assert reactions == [("U0ADA", "eyes", ts)], "Bolt leaves out what the app did itself"


async def test_an_ephemeral_message_is_for_one_person(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Nobody else sees it, history does not have it, and it cannot be updated."""
    posted = await client.chat_postEphemeral(channel=channel, user="U0ADA", text="psst")

    assert [message.text for message in sandbox.person("ada").ephemerals] == ["psst"]
    assert sandbox.person("grace").ephemerals == []
    assert (await client.conversations_history(channel=channel))["messages"] == []
    with pytest.raises(SlackApiError, match="message_not_found"):
        await client.chat_update(channel=channel, ts=posted["message_ts"], text="x")


async def test_an_ephemeral_message_needs_a_thread_that_has_begun(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Below a message that nobody has answered Slack takes it, and shows it to nobody."""
    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "root")

    early = await client.chat_postEphemeral(channel=channel, user=ada.id, thread_ts=root, text="too soon")
    assert early["message_ts"]
    await ada.say("#roundtable", "a reply", thread_ts=root)
    await client.chat_postEphemeral(channel=channel, user=ada.id, thread_ts=root, text="in time")

    assert [message.text for message in ada.ephemerals] == ["in time"]


async def test_private_words_with_the_app(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """A direct message is a message of an `im`, and no mention even when it mentions."""
    events = []

    @bolt.event("message")
    async def message(event: Body, say: AsyncSay) -> None:
        events.append(event)
        await say("Hello, Ada")

    await sandbox.person("ada").say("@roundtable", "@roundtable hello")
    await sandbox.until(lambda: sandbox.calls_of("chat.postMessage"))
    await sandbox.settled()

    assert [event["channel_type"] for event in events] == ["im"]
    assert sandbox.events("app_mention") == []


async def test_a_session_of_an_agent_lasts_until_it_is_over(
    sandbox: Sandbox, client: AsyncWebClient, bolt: AsyncApp, channel: str
) -> None:
    """Posts leave it alone; while it is at work people can stop it, and the app is told who did, and where."""
    stopped = []

    @bolt.event("agent_session_stopped")
    async def stop(event: Body) -> None:
        stopped.append(event)

    root = await sandbox.person("ada").say("#roundtable", "root")
    where = {"channel_id": channel, "thread_ts": root}
    await client.agents_sessions_setStatus(**where, status="processing")
    await client.chat_postMessage(channel=channel, thread_ts=root, text="Still at it")
    assert sandbox.channel().at_work(root)["stoppable"]

    await sandbox.person("grace").stop("#roundtable", root)
    await sandbox.until(lambda: stopped)
    assert (stopped[0]["user"], stopped[0]["thread_ts"]) == (sandbox.person("grace").id, root)
    assert sandbox.channel().at_work(root)["stoppable"]

    await client.agents_sessions_setStatus(**where, status="active")
    assert sandbox.channel().at_work(root) == {"status": ""}
    with pytest.raises(SlackRefused):
        await sandbox.person("grace").stop("#roundtable", root)


async def test_a_session_is_in_one_of_few_states_and_an_agents(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Words of one's own are refused, and so is an app that was not declared an agent."""
    root = await sandbox.person("ada").say("#roundtable", "root")
    where = {"channel_id": channel, "thread_ts": root}
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.agents_sessions_setStatus(**where, status="is thinking…")

    sandbox.scopes.discard("assistant:write")
    with pytest.raises(SlackApiError, match="missing_scope"):
        await client.agents_sessions_setStatus(**where, status="processing")


async def test_only_the_first_call_gives_a_session_its_title(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Later it is renamed, which makes none."""
    root = await sandbox.person("ada").say("#roundtable", "root")
    where = {"channel_id": channel, "thread_ts": root}
    with pytest.raises(SlackApiError, match="session_not_found"):
        await client.agents_sessions_rename(**where, title="Dark mode")
    await client.agents_sessions_setStatus(**where, status="suspended", title="Dark mode")
    await client.agents_sessions_setStatus(**where, status="active", title="Other")
    assert sandbox.channel().titles == {root: "Dark mode"}
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.agents_sessions_rename(**where, title="x" * 201)

    await client.agents_sessions_rename(**where, title="Dark mode: Scope")
    assert sandbox.channel().titles == {root: "Dark mode: Scope"}
    assert sandbox.channel().sessions == {root: "active"}


async def test_a_file_is_uploaded_and_shared_in_a_thread(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """The SDK's own three steps end in a message with the file."""
    root = await sandbox.person("ada").say("#roundtable", "root")

    await client.files_upload_v2(channel=channel, thread_ts=root, filename="notes.md", content="# Notes")

    [file] = sandbox.thread("#roundtable", root)[-1].files
    assert (file["name"], file["size"]) == ("notes.md", 7)
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_completeUploadExternal(files=[{"id": file["id"]}], channel_id=channel)


async def test_a_file_has_the_size_that_was_announced(client: AsyncWebClient) -> None:
    """Other bytes are refused, and there is no file."""
    ticket = await client.files_getUploadURLExternal(filename="notes.md", length=7)
    async with aiohttp.ClientSession() as session, session.post(ticket["upload_url"], data=b"# No") as sent:
        assert sent.status == 400
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_completeUploadExternal(files=[{"id": ticket["file_id"]}])


async def test_an_edit_keeps_what_it_does_not_mention(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Blocks stay without `blocks`, and go with an empty list; the persona stays whatever happens."""
    blocks = [actions(button())]
    ts = (await client.chat_postMessage(channel=channel, text="menu", blocks=blocks, **MAYA))["ts"]

    await client.chat_update(channel=channel, ts=ts, text="still a menu")
    assert sandbox.message(ts).actions == ("go",)

    await client.chat_update(channel=channel, ts=ts, text="chosen", blocks=[])
    assert sandbox.message(ts).actions == ()
    assert sandbox.message(ts).username == "Maya Chen"
