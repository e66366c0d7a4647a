"""What Slack refuses, the sandbox refuses, in the same words. One row each."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from tests.sandbox.blocks import Body, actions, button, mrkdwn, plain, section

TS = "1700000000.000001"


def option(text: Body | None = None, value: str = "1") -> Body:
    return {"text": text or plain("x"), "value": value}


def select(count: int, **more: Any) -> Body:
    offered = [option(value=str(n)) for n in range(count)]
    return {"type": "static_select", "action_id": "s", "options": offered, **more}


def confirm(**changes: Any) -> Body:
    asked = {"title": plain("?"), "text": plain("?"), "confirm": plain("y"), "deny": plain("n")}
    return {**asked, **changes}


def rich(*elements: Body) -> Body:
    return {"type": "rich_text", "elements": list(elements)}


def rich_section(*elements: Body) -> Body:
    return {"type": "rich_text_section", "elements": list(elements)}


def rich_list(*elements: Body, **more: Any) -> Body:
    return {"type": "rich_text_list", "style": "bullet", "elements": list(elements), **more}


BAD_BLOCKS: dict[str, tuple[list[Any], str]] = {
    "51 blocks": ([section()] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    "unknown block": ([{"type": "marquee"}], "unsupported type: marquee [json-pointer:/blocks/0/type]"),
    "no object": (["words"], "unsupported type: None"),
    "unknown element": ([actions({"type": "lever"})], "unsupported type: lever"),
    "text too long": (
        [section("x" * 3001)],
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ),
    "empty text": ([section("")], "must be more than 0 characters"),
    "nothing to say": ([{"type": "section"}], "must define one of: text, fields"),
    "11 fields": ([{"type": "section", "fields": [plain("x")] * 11}], "no more than 10 items"),
    "field too long": ([{"type": "section", "fields": [plain("x" * 2001)]}], "less than 2001"),
    "header too long": ([{"type": "header", "text": plain("x" * 151)}], "less than 151"),
    "emoji in mrkdwn": ([{"type": "section", "text": {**mrkdwn("x"), "emoji": True}}], "property: emoji"),
    "verbatim in plain text": (
        [{"type": "section", "text": {**plain("x"), "verbatim": True}}],
        "property: verbatim",
    ),
    "text too long as JavaScript counts": ([actions(button(text="🌙" * 38))], "less than 76"),
    "header in mrkdwn": ([{"type": "header", "text": mrkdwn("x")}], "must be one of plain_text"),
    "11 in a context": ([{"type": "context", "elements": [mrkdwn("x")] * 11}], "no more than 10 items"),
    "button in a context": ([{"type": "context", "elements": [button()]}], "unsupported type: button"),
    "no elements": ([actions()], "no fewer than 1 items"),
    "26 buttons": ([actions(*(button(str(n)) for n in range(26)))], "no more than 25 items"),
    "button text too long": ([actions(button(text="x" * 76))], "less than 76"),
    "button in mrkdwn": ([actions({**button(), "text": mrkdwn("x")})], "must be one of plain_text"),
    "button without text": ([actions({"type": "button", "action_id": "x"})], "missing required field: text"),
    "value too long": ([actions(button(value="x" * 2001))], "less than 2001"),
    "value no string": ([actions(button(value=7))], "must be a string"),
    "url too long": ([actions(button(url="x" * 3001))], "less than 3001"),
    "style unheard of": ([actions(button(style="huge"))], "must be one of primary, danger"),
    "action_id too long": ([actions(button("x" * 256))], "less than 256"),
    "action_id twice": ([actions(button(), button())], "action_id 'go' already exists"),
    "block_id twice": ([section(block_id="b"), section(block_id="b")], "block_id 'b' already exists"),
    "block_id too long": ([section(block_id="x" * 256)], "less than 256"),
    "unknown field": ([section(colour="red")], "invalid additional property: colour"),
    "101 options": ([actions(select(101))], "no more than 100 items"),
    "no options": ([actions({"type": "static_select", "action_id": "s"})], "must define one of: options"),
    "option text too long": ([actions(select(0, options=[option(plain("x" * 76))]))], "less than 76"),
    "option value too long": ([actions(select(0, options=[option(value="x" * 151)]))], "less than 151"),
    "placeholder too long": ([actions(select(1, placeholder=plain("x" * 151)))], "less than 151"),
    "6 in an overflow": ([actions(select(6, type="overflow"))], "no more than 5 items"),
    "1 in an overflow": ([actions(select(1, type="overflow"))], "no fewer than 2 items"),
    "mrkdwn in an overflow": (
        [actions(select(0, type="overflow", options=[option(), option(mrkdwn("x"))]))],
        "must be one of plain_text",
    ),
    "empty rich text": ([{"type": "rich_text", "elements": []}], "no fewer than 1 items"),
    "words outside a section": ([rich({"type": "text", "text": "x"})], "unsupported type: text"),
    "no words": ([rich(rich_section({"type": "text", "text": ""}))], "more than 0 characters"),
    "style of rich text unheard of": (
        [rich(rich_section({"type": "text", "text": "x", "style": {"blink": True}}))],
        "invalid additional property: blink",
    ),
    "link to nowhere": ([rich(rich_section({"type": "link", "text": "x"}))], "missing required field: url"),
    "list of words": (
        [rich(rich_list({"type": "text", "elements": []}))],
        "must be one of rich_text_section",
    ),
    "list too deep": ([rich(rich_list(rich_section(), indent=9))], "from 0 to 8"),
    "list in a list": ([rich(rich_section(rich_list()))], "unsupported type: rich_text_list"),
    "confirm without deny": ([actions(button(confirm=confirm(deny=None)))], "missing required field: deny"),
    "confirm title too long": ([actions(button(confirm=confirm(title=plain("x" * 101))))], "less than 101"),
    "confirm text too long": ([actions(button(confirm=confirm(text=plain("x" * 301))))], "less than 301"),
    "confirm button too long": ([actions(button(confirm=confirm(deny=plain("x" * 31))))], "less than 31"),
    "text input in actions": ([actions({"type": "plain_text_input", "action_id": "x"})], "unsupported type"),
    "image without words": (
        [{"type": "image", "image_url": "https://x.test"}],
        "missing required field: alt_text",
    ),
    "markdown too long": ([{"type": "markdown", "text": "x" * 12_001}], "less than 12001"),
}


@pytest.mark.parametrize(("blocks", "complaint"), BAD_BLOCKS.values(), ids=BAD_BLOCKS)
async def test_bad_blocks_are_refused_with_the_place_of_the_mistake(
    sandbox: Sandbox, client: AsyncWebClient, channel: str, blocks: list[Any], complaint: str
) -> None:
    """`invalid_blocks`, a sentence with a JSON pointer, and nothing posted."""
    with pytest.raises(SlackApiError) as refused:
        await client.api_call("chat.postMessage", json={"channel": channel, "text": "x", "blocks": blocks})

    assert refused.value.response["error"] == "invalid_blocks"
    [said] = refused.value.response["response_metadata"]["messages"]
    assert complaint in said
    assert refused.value.response["errors"] == [said.removeprefix("[ERROR] ")]
    assert sandbox.messages() == []


CHANNEL = "C0SANDBOX01"


def post(**args: Any) -> tuple[str, Body]:
    return "chat.postMessage", {"channel": CHANNEL, **args}


def line(event_type: str = "line", **payload: Any) -> Body:
    return {"event_type": event_type, "event_payload": payload}


UNREAD: dict[str, tuple[Body, str]] = {
    "chat.getPermalink": ({"channel": CHANNEL, "message_ts": TS}, "message_not_found"),
    "conversations.info": ({"channel": "C404"}, "channel_not_found"),
    "conversations.members": ({"channel": "C404"}, "channel_not_found"),
    "conversations.replies": ({"channel": CHANNEL, "ts": TS}, "thread_not_found"),
    "users.info": ({"user": "U404"}, "user_not_found"),
}
"""Methods that read no JSON, and what they say to arguments that they do read."""
BY_FORM = UNREAD.keys() | {"bots.info", "conversations.list", "files.getUploadURLExternal"}

REFUSED: dict[str, tuple[str, Body, str]] = {
    "no text": (*post(), "no_text"),
    "no channel": ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
    "unknown channel": (*post(channel="C404", text="x"), "channel_not_found"),
    "too much in blocks": (*post(blocks=[section("x" * 2255)] * 5), "msg_blocks_too_long"),
    "blocks are words": (*post(text="x", blocks="[{"), "invalid_blocks_format"),
    "metadata without a type": (*post(text="x", metadata={"event_payload": {}}), "invalid_metadata_format"),
    "metadata too deep": (*post(text="x", metadata=line(a={"b": {"c": 1}})), "invalid_metadata_format"),
    "metadata too large": (*post(text="x", metadata=line(a="x" * 20_000)), "metadata_too_large"),
    "metadata with nothing in it": (*post(text="x", metadata=line(id=None)), "invalid_metadata_format"),
    "metadata of a type in words": (*post(text="x", metadata=line("a line")), "invalid_metadata_format"),
    "metadata nobody could read": (
        "chat.postEphemeral",
        {"channel": CHANNEL, "user": "U0ADA", "text": "x", "metadata": line(id="1")},
        "invalid_metadata_format",
    ),
    "101 attachments": (*post(text="x", attachments=[{}] * 101), "too_many_attachments"),
    "markdown and text": (*post(text="x", markdown_text="x"), "markdown_text_conflict"),
    "update of nothing": ("chat.update", {"channel": CHANNEL, "ts": TS, "text": "x"}, "message_not_found"),
    "delete of nothing": ("chat.delete", {"channel": CHANNEL, "ts": TS}, "message_not_found"),
    "ephemeral for a stranger": (
        "chat.postEphemeral",
        {"channel": CHANNEL, "user": "U404", "text": "x"},
        "user_not_in_channel",
    ),
    "thread of nothing": ("conversations.replies", {"channel": CHANNEL, "ts": TS}, "thread_not_found"),
    "too much at once": ("conversations.list", {"limit": 1000}, "invalid_limit"),
    "too much of a channel": ("conversations.history", {"channel": CHANNEL, "limit": 1000}, "invalid_limit"),
    "a kind unheard of": ("conversations.list", {"types": "public"}, "invalid_types"),
    "a kind without its scope": ("conversations.list", {"types": "public_channel,mpim"}, "missing_scope"),
    "bad cursor": ("conversations.history", {"channel": CHANNEL, "cursor": "%%"}, "invalid_cursor"),
    "unknown user": ("users.info", {"user": "U404"}, "user_not_found"),
    "unknown bot": ("bots.info", {"bot": "B404"}, "bot_not_found"),
    "reaction on nothing": (
        "reactions.add",
        {"channel": CHANNEL, "timestamp": TS, "name": "eyes"},
        "message_not_found",
    ),
    "reaction on no message": ("reactions.add", {"channel": CHANNEL, "name": "eyes"}, "no_item_specified"),
    "reaction at no time": (
        "reactions.add",
        {"channel": CHANNEL, "timestamp": "yesterday", "name": "eyes"},
        "bad_timestamp",
    ),
    "a file of nothing": ("files.getUploadURLExternal", {"filename": "x", "length": 0}, "missing_argument"),
    "view without blocks": (
        "views.publish",
        {"user_id": "U0ADA", "view": {"type": "home"}},
        "invalid_arguments",
    ),
    "unknown view": (
        "views.update",
        {"view_id": "V404", "view": {"type": "home", "blocks": []}},
        "invalid_arguments",
    ),
    "file that was not sent": ("files.completeUploadExternal", {"files": [{"id": "F404"}]}, "file_not_found"),
    "nobody to talk to": ("conversations.open", {}, "users_list_not_supplied"),
    "unknown method": ("chat.shout", {"text": "x"}, "unknown_method"),
}


@pytest.mark.parametrize(("method", "args", "error"), REFUSED.values(), ids=REFUSED)
async def test_a_wrong_call_is_refused(client: AsyncWebClient, method: str, args: Body, error: str) -> None:
    """With Slack's word for it."""
    by_form = method in BY_FORM
    with pytest.raises(SlackApiError) as refused:
        await (client.api_call(method, params=args) if by_form else client.api_call(method, json=args))

    assert refused.value.response["error"] == error


@pytest.mark.parametrize("method", UNREAD)
async def test_not_every_method_reads_json(client: AsyncWebClient, method: str) -> None:
    """In a query or a form the arguments are read; in JSON they are not there."""
    args, said = UNREAD[method]
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.api_call(method, json=args)
    with pytest.raises(SlackApiError, match=said):
        await client.api_call(method, data=args)
    with pytest.raises(SlackApiError, match=said):
        await client.api_call(method, params=args)


@pytest.mark.parametrize(
    ("headers", "error"), [({"Content-Type": "text/xml"}, "invalid_post_type"), ({}, "missing_post_type")]
)
async def test_a_body_says_what_it_is(sandbox: Sandbox, headers: Body, error: str) -> None:
    """Slack does not guess."""
    async with (
        aiohttp.ClientSession(skip_auto_headers=["Content-Type"]) as session,
        session.post(f"{sandbox.api_url}chat.postMessage", data=b"channel=x", headers=headers) as answer,
    ):
        assert (await answer.json())["error"] == error


def modal(**changes: Any) -> Body:
    return {"type": "modal", "title": plain("x"), "blocks": [section()], **changes}


FIELD: Body = {
    "type": "input",
    "label": plain("x"),
    "element": {"type": "plain_text_input", "action_id": "x"},
}

CHOICE: Body = {
    "type": "radio_buttons",
    "action_id": "depth",
    "options": [{"text": plain("Brief"), "value": "brief"}],
    "initial_option": {"text": plain("Deep"), "value": "deep"},
}

BAD_VIEWS: dict[str, tuple[Body, str]] = {
    "title too long": (modal(title=plain("x" * 25)), "less than 25"),
    "submit too long": (modal(submit=plain("x" * 25)), "less than 25"),
    "close too long": (modal(close=plain("x" * 25)), "less than 25"),
    "no title": (modal(title=None), "missing required field: title"),
    "metadata too long": (modal(private_metadata="x" * 3001), "less than 3001"),
    "callback_id too long": (modal(callback_id="x" * 256), "less than 256"),
    "101 blocks": (modal(blocks=[section()] * 101), "no more than 100"),
    "no blocks": (modal(blocks=[]), "no fewer than 1"),
    "input without submit": (modal(blocks=[FIELD]), "missing required field: submit"),
    "label too long": (
        modal(submit=plain("x"), blocks=[{**FIELD, "label": plain("x" * 2001)}]),
        "less than 2001",
    ),
    "unknown view": ({"type": "popup"}, "unsupported type: popup"),
    "initial option of others": (
        modal(submit=plain("x"), blocks=[{**FIELD, "element": CHOICE}]),
        "initial option not found",
    ),
}


@pytest.mark.parametrize(("view", "complaint"), BAD_VIEWS.values(), ids=BAD_VIEWS)
async def test_a_bad_view_is_refused(
    sandbox: Sandbox, client: AsyncWebClient, view: Body, complaint: str
) -> None:
    """`invalid_arguments` with the reason; the trigger is not used up."""
    trigger = sandbox.slack.triggers.issue("U0ADA")

    with pytest.raises(SlackApiError) as refused:
        await client.api_call("views.open", json={"trigger_id": trigger, "view": view})

    assert refused.value.response["error"] == "invalid_arguments"
    assert complaint in refused.value.response["response_metadata"]["messages"][0]
    assert (await client.views_open(trigger_id=trigger, view=modal()))["ok"]


async def test_a_fourth_modal_does_not_fit_on_the_pile(sandbox: Sandbox, client: AsyncWebClient) -> None:
    """Three at once is all Slack shows."""
    issue = sandbox.slack.triggers.issue
    await client.views_open(trigger_id=issue("U0ADA"), view=modal())
    for _ in range(2):
        await client.views_push(trigger_id=issue("U0ADA"), view=modal())

    with pytest.raises(SlackApiError, match="push_limit_reached"):
        await client.views_push(trigger_id=issue("U0ADA"), view=modal())


async def test_blocks_can_be_judged_without_being_sent(client: AsyncWebClient) -> None:
    """`blocks.validate` names code, place and limit of every mistake."""
    assert (await client.api_call("blocks.validate", json={"blocks": [section()]}))["ok"]

    with pytest.raises(SlackApiError) as refused:
        await client.api_call("blocks.validate", json={"blocks": [section("x" * 3001)]})

    [mistake] = refused.value.response["errors"]
    assert mistake["pointer"] == "/blocks/0/text/text"
    assert (mistake["code"], mistake["constraint"]) == ("too_long", 3000)


async def test_long_text_is_cut_in_posts_and_refused_in_edits(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """40,000 characters of a post are kept; an edit may have 4,000."""
    ts = (await client.chat_postMessage(channel=channel, text="x" * 40_001))["ts"]
    assert len(sandbox.message(ts).text) == 40_000

    await client.chat_update(channel=channel, ts=ts, text="x" * 4_000)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await client.chat_update(channel=channel, ts=ts, text="x" * 4_001)


async def test_what_others_wrote_is_theirs(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """An app edits and deletes its own messages only."""
    ts = await sandbox.person("ada").say("#roundtable", "mine")

    with pytest.raises(SlackApiError, match="cant_update_message"):
        await client.chat_update(channel=channel, ts=ts, text="yours")
    with pytest.raises(SlackApiError, match="cant_delete_message"):
        await client.chat_delete(channel=channel, ts=ts)


async def test_where_the_app_may_post(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """Not where it is not a member (a private channel does not even exist for it), and not in an archive."""
    private = sandbox.add_channel("secret", private=True, with_bot=False).id
    with pytest.raises(SlackApiError, match="channel_not_found"):
        await client.chat_postMessage(channel=private, text="x")

    sandbox.remove_bot()
    with pytest.raises(SlackApiError, match="not_in_channel"):
        await client.chat_postMessage(channel=channel, text="x")

    await client.conversations_join(channel=channel)
    posted = await client.chat_postMessage(channel=channel, text="x")

    sandbox.archive()
    with pytest.raises(SlackApiError, match="is_archived"):
        await client.chat_postMessage(channel=channel, text="x")
    with pytest.raises(SlackApiError, match="is_inactive"):
        await client.chat_update(channel=channel, ts=posted["ts"], text="y")


TOKENS = [
    ("chat.postMessage", "", "not_authed"),
    ("chat.postMessage", "xoxb-somebody-else", "invalid_auth"),
    ("chat.postMessage", "xapp-sandbox", "not_allowed_token_type"),
    ("apps.connections.open", "xoxb-sandbox", "not_allowed_token_type"),
    ("apps.connections.open", "xapp-made-up", "invalid_auth"),
]


@pytest.mark.parametrize(("method", "token", "error"), TOKENS)
async def test_tokens_are_checked(sandbox: Sandbox, method: str, token: str, error: str) -> None:
    """Each method wants its kind of token, and a known one."""
    client = AsyncWebClient(token=token or None, base_url=sandbox.api_url)

    with pytest.raises(SlackApiError, match=error):
        await client.api_call(method, json={"channel": CHANNEL, "text": "x"})


async def test_a_persona_needs_a_scope_of_its_own(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Without chat:write.customize a name is refused, plain words are not; scopes are told with every answer."""
    sandbox.scopes.remove("chat:write.customize")

    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=channel, text="x", username="Maya")
    answer = await client.chat_postMessage(channel=channel, text="x")

    assert refused.value.response["error"] == "missing_scope"
    assert refused.value.response["needed"] == "chat:write.customize"
    assert "chat:write" in refused.value.response["provided"].split(",")
    assert "chat:write.customize" not in answer.headers["X-OAuth-Scopes"].split(",")


async def test_arguments_travel_in_three_ways(sandbox: Sandbox, channel: str) -> None:
    """A query, a form (with JSON inside) and JSON are the same call."""
    headers = {"Authorization": f"Bearer {sandbox.bot_token}"}
    url = f"{sandbox.api_url}chat.postMessage"
    form = {"channel": channel, "text": "form", "blocks": '[{"type": "divider"}]'}
    async with aiohttp.ClientSession(headers=headers) as session:
        await session.get(url, params={"channel": channel, "text": "query"})
        await session.post(url, data=form)
        await session.post(url, json={"channel": channel, "text": "json"})

    assert [message.text for message in sandbox.messages()] == ["query", "form", "json"]
    assert sandbox.messages()[1].blocks[0]["type"] == "divider"
