"""`Chat` on Slack's Web API: every post is there once, in the right voice, and refusals come back as sentences."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Roster
from bot.domain.messages.message import Action, Card, CardPart, CardRow, Choice, Link, Message
from bot.domain.values.places import Belonging, Person, Place
from bot.engine.ports import Profile, Urgency
from bot.errors import Postponed, SlackError
from bot.slack.chat import POSTED_AGAIN, SlackChat
from bot.slack.client import Identity, is_here
from bot.slack.history import PAGES
from bot.slack.pace import Pace, RateBudget, RateLimit
from bot.slack.posting import is_slacks
from slack_sandbox import Sandbox
from slack_sandbox.changes import ChangeKind, SandboxChange
from slack_sandbox.residents import User
from slack_sandbox.responses import Origin
from tests.slack.conftest import CHANNEL

MAYA = Message(text="Who **uses** it?", speaker="business-analyst")
LONG = Message(
    text="\n\n".join(f"Paragraph {number}. " + "words " * 60 for number in range(30)),
    choices=(Choice(action=Action.CONTINUE, label="Continue"),),
    token="abc",
)


async def test_a_roundtable_opens_with_a_root_and_its_address(
    chat: SlackChat, place: Place, sandbox: Sandbox
) -> None:
    """Without an address it is still an opening; it is asked for again where Slack has trouble."""
    opened = await chat.open(place, Message(text="Dark mode"), key="root", again=False)

    (root,) = sandbox.messages()
    assert (root.ts, root.text) == (opened.ts, "Dark mode")
    assert opened.ts.replace(".", "") in opened.permalink

    for error, has_one in (("message_not_found", False), ("fatal_error", True)):
        sandbox.fail_next("chat.getPermalink", error)
        opened = await chat.open(place, Message(text="Dark mode"), key=f"root.{error}", again=False)
        assert bool(opened.permalink) is has_one


async def test_a_persona_posts_under_their_own_name(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """With icon, the name again in the text, and ids in the metadata; the host has none. Nothing unfolds."""
    ts = await chat.post(thread, MAYA, key="item.1.7", again=False)
    await chat.post(thread, Message(text="Layers.", speaker="architect"), key="item.1.8", again=False)

    maya, alex = sandbox.message(ts), sandbox.thread(CHANNEL, thread.thread)[-1]
    assert (maya.username, maya.icons) == ("Maya Chen (Business Analyst)", {"emoji": ":mag:"})
    assert maya.text == "Maya Chen (Business Analyst): Who *uses* it?"
    assert maya.words == "Who *uses* it?"
    assert maya.metadata == {
        "event_type": "roundtable_line",
        "event_payload": {"key": "item.1.7", "part": 1, "parts": 1},
    }
    assert "icons.example" in str(alex.icons)

    for speaker in ("", "nobody"):
        ts = await chat.post(thread, Message(text="Hello", speaker=speaker), key=f"k{speaker}", again=False)
        assert (sandbox.message(ts).username, sandbox.message(ts).text) == ("", "Hello")

    message = Message(
        text="See https://a.example @channel", links=(Link(label="Issue", url="https://b.example"),)
    )

    await chat.post(thread, message, key="k", again=False)

    arguments = sandbox.calls_of("chat.postMessage")[-1].args
    assert arguments["parse"] == "none"
    assert not arguments["link_names"]
    assert not arguments["unfurl_links"]
    assert not arguments["unfurl_media"]
    assert all(
        text["verbatim"]
        for block in arguments["blocks"]
        for text in (block.get("elements") or [block["text"]])
    )


async def test_without_the_scope_for_names_personas_sign_once_and_for_all(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """The first refusal is remembered: nothing is posted twice, and no later post asks in vain."""
    sandbox.scopes.remove("chat:write.customize")

    first = await chat.post(thread, MAYA, key="k1", again=False)
    second = await chat.post(thread, MAYA, key="k2", again=False)

    for ts in (first, second):
        assert sandbox.message(ts).username == ""
        assert sandbox.message(ts).words == "Maya Chen (Business Analyst): Who *uses* it?"
    refused = [call.error for call in sandbox.calls_of("chat.postMessage") if call.error]
    assert refused == ["missing_scope"]


async def test_a_missing_scope_that_is_known_is_not_tried(
    client: AsyncWebClient, roster: Roster, us: Identity, place: Place, sandbox: Sandbox
) -> None:
    """auth.test names the scopes at the start."""
    without = Identity(team=us.team, user=us.user, bot=us.bot, scopes=("chat:write",))

    await SlackChat(client, roster, without).post(place, MAYA, key="k", again=False)

    assert "username" not in sandbox.calls_of("chat.postMessage")[-1].args


async def test_long_text_becomes_several_posts_with_the_menu_under_the_last(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Each part has a key of its own, and the menu's place is the place of the part that has it."""
    ts = await chat.post(thread, LONG, key="k", again=False)

    _, *posts = sandbox.thread(CHANNEL, thread.thread)
    assert len(posts) == 3
    assert [post.metadata["event_payload"]["key"] for post in posts] == ["k", "k#2", "k#3"]
    assert [bool(post.actions) for post in posts] == [False, False, True]
    assert posts[-1].ts == ts


async def test_a_root_that_is_too_long_goes_on_below_itself(
    chat: SlackChat, place: Place, sandbox: Sandbox
) -> None:
    """One roundtable, one message in the channel."""
    opened = await chat.open(place, LONG, key="k", again=False)
    again = await chat.open(place, LONG, key="k", again=True)

    assert again == opened
    assert len(sandbox.messages()) == 1
    assert len(sandbox.thread(CHANNEL, opened.ts)) == 3


async def test_a_post_whose_answer_was_lost_is_found_not_repeated(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Posted, and the connection broke before we heard: the next attempt looks first."""
    sandbox.fail_next("chat.postMessage", hang_up=True, after=True)
    with pytest.raises(SlackError) as lost:
        await chat.post(thread, MAYA, key="k", again=False)

    ts = await chat.post(thread, MAYA, key="k", again=True)

    assert lost.value.again
    assert [message.ts for message in sandbox.thread(CHANNEL, thread.thread)][1:] == [ts]


async def test_a_successor_finds_what_its_predecessor_posted(
    client: AsyncWebClient, roster: Roster, us: Identity, thread: Place, sandbox: Sandbox
) -> None:
    """Also among other messages, and in a process that never posted in this thread."""
    ts = await SlackChat(client, roster, us).post(thread, MAYA, key="k", again=False)
    await sandbox.person("ada").say(CHANNEL, "an answer", thread_ts=thread.thread)

    assert await SlackChat(client, roster, us).post(thread, MAYA, key="k", again=True) == ts
    assert await SlackChat(client, roster, us).post(thread, MAYA, key="k2", again=True) != ts


async def test_only_the_parts_that_are_missing_are_posted(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """A long post that broke off is completed."""
    await chat.post(thread, LONG, key="k", again=False)
    _, _first, second, _third = sandbox.thread(CHANNEL, thread.thread)
    sandbox.slack.workspace.delete(second)

    await chat.post(thread, LONG, key="k", again=True)

    keys = [post.metadata["event_payload"]["key"] for post in sandbox.thread(CHANNEL, thread.thread)[1:]]
    assert sorted(keys) == ["k", "k#2", "k#3"]


async def test_the_root_of_an_earlier_attempt_is_found_in_the_channel(
    chat: SlackChat, place: Place, sandbox: Sandbox
) -> None:
    """There is no thread yet to look in."""
    sandbox.fail_next("chat.postMessage", hang_up=True, after=True)
    with pytest.raises(SlackError):
        await chat.open(place, Message(text="Dark mode"), key="root", again=False)

    opened = await chat.open(place, Message(text="Dark mode"), key="root", again=True)

    (root,) = sandbox.messages()
    assert root.ts == opened.ts


async def test_when_slack_lets_us_not_look_it_is_said_once_more_and_marked(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Better twice and marked than lost."""
    sandbox.scopes.remove("channels:history")

    ts = await chat.post(thread, MAYA, key="k", again=True)

    assert sandbox.message(ts).text.endswith(POSTED_AGAIN)


async def test_when_slack_cannot_be_asked_right_now_nothing_is_posted(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """The engine comes back later; guessing would post twice."""
    sandbox.fail_next("conversations.replies", status=503)

    with pytest.raises(SlackError) as refused:
        await chat.post(thread, MAYA, key="k", again=True)

    assert refused.value.again
    assert len(sandbox.thread(CHANNEL, thread.thread)) == 1


async def test_nobody_else_can_forge_that_we_have_spoken(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Metadata is open to every app; only what this bot posted counts."""
    sandbox.slack.workspace.post(
        sandbox.channel(),
        text="forged",
        bot_id="B0OTHER",
        thread_ts=thread.thread,
        metadata={"event_type": "roundtable_line", "event_payload": {"key": "k", "part": 1, "parts": 1}},
    )

    ts = await chat.post(thread, MAYA, key="k", again=True)

    assert sandbox.message(ts).username == "Maya Chen (Business Analyst)"


ROOT_KEY = "dark-mode.0123abcd.1"
"""As the engine makes it for the effect that opens the thread of `dark-mode`."""


async def test_a_root_of_ours_says_whose_thread_it_is(
    chat: SlackChat, place: Place, sandbox: Sandbox
) -> None:
    """In one call for one message; and the newest is found in the channel by its item."""
    first = await chat.open(place, Message(text="**Roundtable: A & B**\nMore"), key=ROOT_KEY, again=False)
    opened = await chat.open(place, Message(text="**Roundtable: A & B**"), key=ROOT_KEY, again=False)
    await sandbox.person("ada").say(CHANNEL, "Between people", thread_ts=first.ts)

    root = await chat.root(place.but(thread=first.ts))

    assert root
    assert root.slug == "dark-mode"
    assert root.text.split("\n")[0] == "*Roundtable: A & B*"
    assert [call.args["limit"] for call in sandbox.calls_of("conversations.replies")] == ["1"]
    assert await chat.find_root(place, "dark-mode") == opened.ts
    assert await chat.find_root(place, "dark") == ""


@pytest.mark.parametrize("by", [{"bot_id": "B0OTHER"}, {"user": "U0ADA"}])
async def test_nobody_else_s_root_says_anything(
    chat: SlackChat, place: Place, sandbox: Sandbox, by: dict[str, str]
) -> None:
    """Metadata is open to every app, and to people by way of one."""
    payload = {"key": ROOT_KEY, "part": 1, "parts": 1}
    forged = sandbox.slack.workspace.post(
        sandbox.channel(),
        text="*Roundtable: Dark mode*",
        metadata={"event_type": "roundtable_line", "event_payload": payload},
        **by,
    )

    assert await chat.root(place.but(thread=forged.ts)) is None
    assert await chat.find_root(place, "dark-mode") == ""


@pytest.mark.parametrize("key", ["root", "notice.dark-mode", "dark-mode.0123abcd.1#2", "review.dark-mode.3"])
async def test_other_posts_of_ours_are_no_roundtables(chat: SlackChat, place: Place, key: str) -> None:
    """The message about an item's reviews stands in a channel, too."""
    opened = await chat.open(place, Message(text="Dark mode"), key=key, again=False)

    assert await chat.root(place.but(thread=opened.ts)) is None


async def test_what_slack_posts_beside_a_thread_that_is_gone_is_taken_back(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Slack refuses nothing, and would show the whole channel what was for a thread: people are told, alone."""
    sandbox.slack.workspace.delete(sandbox.message(thread.thread))

    with pytest.raises(SlackError, match="was deleted") as refused:
        await chat.post(thread, MAYA, key="k", again=False)

    assert (refused.value.reason, refused.value.again) == ("thread_not_found", False)
    assert sandbox.messages() == []


async def test_a_used_menu_is_rewritten_in_place(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """Of a long message only the part with the buttons changes. A text too long is cut in the notification only."""
    ts = await chat.post(thread, LONG, key="k", again=False)
    before = sandbox.message(ts)

    await chat.rewrite(thread, ts, LONG.but(choices=(), token="", note="*Continue* – chosen by Ada"))

    after = sandbox.message(ts)
    assert not after.actions
    assert after.words.startswith(before.words.partition("Continue")[0].rstrip())
    assert after.words.endswith("chosen by Ada")
    assert after.metadata == before.metadata

    ts = await chat.post(thread, Message(text="short"), key="k", again=False)

    await chat.rewrite(thread, ts, Message(text="words " * 900))

    assert len(sandbox.message(ts).text) <= 4000
    assert sandbox.message(ts).text.endswith("…")
    assert sandbox.message(ts).words.count("words") == 900

    sandbox.archive()

    with pytest.raises(SlackError, match="archived") as refused:
        await chat.rewrite(thread, ts, LONG.but(choices=()))
    assert not refused.value.again

    sandbox.archive(archived=False)
    await chat.rewrite(thread, ts, LONG.but(choices=()))
    assert not sandbox.message(ts).actions


@pytest.mark.parametrize("error", ["message_not_found", "cant_update_message", "edit_window_closed"])
async def test_a_message_that_is_gone_needs_no_rewriting(
    chat: SlackChat, thread: Place, sandbox: Sandbox, error: str
) -> None:
    """The person who deleted it meant it. But a card that still offers something has to stand elsewhere."""
    sandbox.fail_next("chat.update", error)

    await chat.rewrite(thread, "1.000001", Message(text="late"))
    sandbox.fail_next("chat.update", error)
    with pytest.raises(SlackError) as refused:
        await chat.rewrite(thread, "1.000001", CARD)

    assert refused.value.reason == error


# --- what was pressed -------------------------------------------------------------------------------------------------


class Full(RateLimit):
    """Slack's limit of edits is reached, until a test says otherwise."""

    def __init__(self) -> None:
        self.free = False

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:  # noqa: ARG002
        return 0.0 if self.free or not budgets[0].name.startswith("chat.update") else 7.0

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        raise AssertionError((budget, seconds))


@pytest.fixture
def full() -> Full:
    return Full()


@pytest.fixture
def late(client: AsyncWebClient, roster: Roster, us: Identity, full: Full) -> SlackChat:
    return SlackChat(client, roster, us, pace=Pace(full))


async def pressed_card(chat: SlackChat, thread: Place, sandbox: Sandbox) -> str:
    """A card that Ada pressed: its stamp. The chat knows the reply URL of the press."""
    ts, ada = await chat.post(thread, CARD, key="k", again=False), sandbox.person("ada")
    chat.pressed(thread, ts, ada.response_urls.issue(Origin(thread.channel, ada.id, ts)))
    return ts


async def test_what_comes_of_a_press_is_seen_although_the_limit_is_reached(
    late: SlackChat, thread: Place, sandbox: Sandbox, full: Full
) -> None:
    """By the reply URL of the press. The edit itself follows when there is room for it."""
    ts = await pressed_card(late, thread, sandbox)
    for number in range(4):
        card = CARD.but(note=f"saved {number}")
        with pytest.raises(Postponed):
            await late.rewrite(thread, ts, card, urgency=Urgency.ANSWER)
        assert f"saved {number}" in sandbox.message(ts).words
    assert not sandbox.calls_of("chat.update")

    full.free = True
    await late.rewrite(thread, ts, card, urgency=Urgency.ANSWER)
    assert len(sandbox.calls_of("chat.update")) == 1


async def test_a_reply_url_shows_the_same_once(late: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """Its uses are few; an edit that is put off is tried many times."""
    ts = await pressed_card(late, thread, sandbox)
    edits: list[SandboxChange] = []
    sandbox.workspace.watch(lambda change: edits.append(change) if change.kind is ChangeKind.EDITED else None)
    for _ in range(9):
        with pytest.raises(Postponed):
            await late.rewrite(thread, ts, CARD.but(note="saved"), urgency=Urgency.TIDY)
    assert len(edits) == 1


@pytest.mark.parametrize("urgency", [Urgency.CARD, Urgency.ROOT])
async def test_words_do_not_use_up_the_reply_url(
    late: SlackChat, thread: Place, sandbox: Sandbox, urgency: Urgency
) -> None:
    """People did not press for them."""
    ts = await pressed_card(late, thread, sandbox)
    with pytest.raises(Postponed):
        await late.rewrite(thread, ts, CARD.but(note="one answer"), urgency=urgency)
    assert "one answer" not in sandbox.message(ts).words


async def test_without_a_reply_url_what_comes_of_a_press_waits_for_its_turn(
    late: SlackChat, thread: Place, sandbox: Sandbox, full: Full
) -> None:
    """One that is over is tried once; and the first message, found again by its metadata, never has one."""
    ts = await late.post(thread, CARD, key="k", again=False)
    late.pressed(thread, thread.thread, f"{sandbox.url}response/unknown")
    late.pressed(thread, ts, f"{sandbox.url}response/unknown")
    with pytest.raises(Postponed):
        await late.rewrite(thread, ts, CARD.but(note="saved"), urgency=Urgency.ANSWER)
    for stamp in (ts, thread.thread):
        waiting = asyncio.create_task(
            late.rewrite(thread, stamp, CARD.but(note="saved"), urgency=Urgency.ANSWER)
        )
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
    full.free = True
    await late.rewrite(thread, ts, CARD.but(note="saved"), urgency=Urgency.ANSWER)
    assert "saved" in sandbox.message(ts).words


async def test_a_reaction_comes_and_goes_once(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """One that is there, or is not, or whose message is deleted, needs nothing."""
    ts = await sandbox.person("ada").say(CHANNEL, "an answer", thread_ts=thread.thread)
    for stamp, emoji in ((ts, ":eyes:"), (ts, "eyes"), ("1.000001", "eyes")):
        await chat.react(thread, stamp, emoji)
    assert [reaction.name for reaction in sandbox.message(ts).reactions] == ["eyes"]

    for stamp, emoji in ((ts, ":eyes:"), (ts, "eyes"), ("1.000001", "eyes")):
        await chat.unreact(thread, stamp, emoji)
    assert not sandbox.message(ts).reactions


async def test_a_person_is_told_something_in_the_thread(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Without a reply URL it is an ephemeral message, and a persona signs it."""
    ada = sandbox.person("ada")
    await chat.post(thread, MAYA, key="k", again=False)

    await chat.tell(thread, ada.id, MAYA, reply_url="")

    (told,) = ada.ephemerals
    assert (told.thread_ts, told.text) == (thread.thread, "Maya Chen (Business Analyst): Who *uses* it?")


async def test_nobody_is_told_something_in_a_thread_that_has_not_begun(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """Slack would take it there, and show it to nobody: until something stands below the root, it is the channel."""
    ada = sandbox.person("ada")

    await chat.tell(thread, ada.id, MAYA, reply_url="")

    (told,) = ada.ephemerals
    assert told.thread_ts == ""


async def test_a_reply_url_of_somebody_else_is_not_called(
    chat: SlackChat, sandbox: Sandbox, place: Place
) -> None:
    """What a payload says is no reason to call anybody but Slack; the person is told all the same."""
    asked: list[str] = []

    async def noted(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text="ok")

    site = web.Application()
    site.router.add_route("*", "/{path:.*}", noted)
    ada = sandbox.person("ada")
    async with TestServer(site) as elsewhere:
        await chat.tell(
            place, ada.id, Message(text="Only you."), reply_url=str(elsewhere.make_url("/commands/1"))
        )
        replaced = await chat.replace(str(elsewhere.make_url("/actions/1")), Message(text="x"))

    assert (asked, replaced) == ([], False)
    assert [message.text for message in ada.ephemerals] == ["Only you."]


@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("https://hooks.slack.com/commands/T1/2/x", True),
        ("https://hooks.slack.com:443/actions/T1/2/x", True),
        ("https://hooks.slack-gov.com/app/T1/2/x", True),
        ("http://127.0.0.1:8765/response/x", True),
        ("http://hooks.slack.com/commands/T1/2/x", False),
        ("https://hooks.slack.com:8443/commands/T1/2/x", False),
        ("https://hooks.slack.com.evil.test/x", False),
        ("https://hooks.slack.com@evil.test/x", False),
        ("https://evil.test\\@hooks.slack.com/x", False),
        ("https://[::1/x", False),
        ("http://127.0.0.1:8766/response/x", False),
        ("https://127.0.0.1:8765/response/x", False),
        ("http://169.254.169.254/latest/meta-data", False),
    ],
)
def test_only_slacks_hosts_are_answered(url: str, is_ours: bool) -> None:  # noqa: FBT001 -- a parameter
    """Those that Slack documents, by https, and the very server that we call anyway."""
    assert is_slacks(url, api_url="http://127.0.0.1:8765/api/") is is_ours


async def test_a_reply_url_that_is_used_up_is_not_the_end(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """After five uses or half an hour the ephemeral message takes over."""
    ada = sandbox.person("ada")
    await ada.slash(CHANNEL, "/roundtable")  # nobody answers it
    url = sandbox.deliveries[-1].payload["response_url"]

    for number in range(7):
        await chat.tell(thread, ada.id, Message(text=f"Answer {number}"), reply_url=url)

    assert [message.text for message in ada.ephemerals][-7:] == [f"Answer {number}" for number in range(7)]
    assert len(sandbox.calls_of("chat.postEphemeral")) == 2


async def test_who_is_not_to_be_reached_in_the_channel_gets_a_direct_message(
    chat: SlackChat, place: Place, sandbox: Sandbox
) -> None:
    """The last way is always open."""
    ada = sandbox.person("ada")
    sandbox.remove_bot()

    await chat.tell(place, ada.id, Message(text="Invite me."), reply_url="")

    direct = sandbox.workspace.direct(ada.id, sandbox.bot_user_id)
    assert [message.text for message in direct.messages.values()] == ["Invite me."]


async def test_a_thread_is_read_as_people_wrote_it(chat: SlackChat, place: Place, sandbox: Sandbox) -> None:
    """Names in place of ids; neither bots, nor calls for us, nor joins are anybody's words."""
    ada, grace = sandbox.person("ada"), sandbox.person("grace")
    root = await ada.say(CHANNEL, "Dark mode & co")
    await grace.say(CHANNEL, "yes <@U0GRACE>", thread_ts=root)
    await ada.mention(CHANNEL, "start", thread_ts=root)
    thread = place.but(thread=root)
    await chat.post(thread, MAYA, key="k", again=False)

    read = await chat.read(thread, after="")

    assert read.complete
    assert [(one.person.name, one.text) for one in read.heard] == [
        ("Ada", "Dark mode & co"),
        ("Grace", "yes @Grace"),
    ]


async def test_of_a_thread_without_end_no_more_is_read_than_a_few_calls(
    chat: SlackChat, place: Place, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said that there is more, and the rest can be read from there on."""
    monkeypatch.setattr("bot.slack.history.A_PAGE", 3)
    ada = sandbox.person("ada")
    root = await ada.say(CHANNEL, "0")
    for number in range(1, 40):
        await ada.say(CHANNEL, str(number), thread_ts=root)
    thread = place.but(thread=root)

    first = await chat.read(thread, after="")
    calls = len(sandbox.calls_of("conversations.replies"))
    rest = await chat.read(thread, after=first.heard[-1].ts)

    assert not first.complete
    assert calls == PAGES
    assert rest.complete
    assert [one.text for one in (*first.heard, *rest.heard)] == [str(number) for number in range(40)]


async def test_people_are_asked_after_once(chat: SlackChat, sandbox: Sandbox) -> None:
    """And somebody Slack does not know is called by their id."""
    assert [(await chat.profile("U0ADA")).name for _ in range(3)] == ["Ada"] * 3
    assert await chat.profile("U0NOBODY") == Profile("U0NOBODY")
    assert len(sandbox.calls_of("users.info")) == 2


async def test_a_name_that_slack_cannot_say_right_now_is_asked_later(
    chat: SlackChat, sandbox: Sandbox
) -> None:
    """An outage must not turn people into ids for good."""
    sandbox.fail_next("users.info", status=503)
    with pytest.raises(SlackError) as trouble:
        await chat.profile("U0ADA")

    assert trouble.value.again
    assert (await chat.profile("U0ADA")).name == "Ada"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8765/api/", True),
        ("http://[::1]:8765/api/", True),
        ("http://localhost/api/", True),
        ("https://slack.com/api/", False),
        ("https://127.0.0.1.evil.example/", False),
    ],
)
def test_no_proxy_is_asked_for_what_is_on_this_machine(url: str, here: bool) -> None:  # noqa: FBT001
    """`roundtable try` works behind a company's proxy, too."""
    assert is_here(url) == here


# --- cards ----------------------------------------------------------------------------------------------------------

FEATURES = CardPart(title="So far", rows=(CardRow(id="FR-001", text="Limit requests per **key**"),))
CARD = Message(
    text="Core features, so far: FR-001 Limit requests per key.",
    speaker="business-analyst",
    token="k7",
    choices=(Choice(action=Action.FINISH_STEP, label="Finish step"),),
    card=Card(title="Core features", parts=(FEATURES,)),
)


async def test_a_card_is_shown_in_place_of_its_text(chat: SlackChat, thread: Place, sandbox: Sandbox) -> None:
    """For notifications the text says the same, cut in the middle. What looks the same is not sent again."""
    message = sandbox.message(await chat.post(thread, CARD, key="k", again=False))

    assert [block["type"] for block in message.blocks] == ["section", "rich_text", "actions"]
    assert "FR-001  Limit requests per key" in message.words
    assert message.text == (
        "Maya Chen (Business Analyst): Core features, so far: FR-001 Limit requests per key.\n[Finish step]"
    )

    assert CARD.card
    ts = await chat.post(thread, CARD, key="k", again=False)
    for card in (CARD.card, CARD.card.but(revision=1), CARD.card.but(revision=2, subtitle="brief")):
        await chat.rewrite(thread, ts, CARD.but(card=card))

    assert len(sandbox.calls_of("chat.update")) == 2
    assert "brief" in sandbox.message(ts).words

    ts = await chat.post(thread, CARD, key="k", again=False)
    await chat.rewrite(thread, ts, CARD.but(text="words\n" * 1_900 + "[C] Continue"))

    assert len(sandbox.message(ts).text) <= 4000
    assert sandbox.message(ts).text.endswith("[C] Continue\n[Finish step]")


async def test_where_slack_refuses_rich_text_sections_say_the_same(
    chat: SlackChat, thread: Place, sandbox: Sandbox
) -> None:
    """And when it refuses those, too, the text is left, which says what can be typed."""
    sandbox.fail_next("chat.postMessage", "invalid_blocks")
    plain = sandbox.message(await chat.post(thread, CARD, key="k1", again=False))
    assert [block["type"] for block in plain.blocks] == ["section", "section", "actions"]
    assert "*So far*\n• *FR-001*  Limit requests per *key*" in plain.words

    sandbox.fail_next("chat.update", "invalid_blocks")
    sandbox.fail_next("chat.update", "invalid_blocks")
    await chat.rewrite(thread, plain.ts, CARD)
    after = sandbox.message(plain.ts)
    assert after.blocks == ()
    assert after.text.endswith("[Finish step]")


async def test_who_is_in_a_channel_is_asked_once(chat: SlackChat, sandbox: Sandbox, place: Place) -> None:
    """For some minutes, or until somebody joins or leaves; so with what is shared with other organisations."""
    channel = place.channel
    assert len({await chat.members(channel) for _ in range(5)}) == 1
    assert [await chat.is_shared(channel) for _ in range(5)] == [False] * 5
    assert len(sandbox.calls_of("conversations.members")) == len(sandbox.calls_of("conversations.info")) == 1

    eva = sandbox.workspace.add_user(User("U0EVA", "eva", "Eva", team_id="T0ELSEWHERE"))
    sandbox.workspace.join(sandbox.channel(), eva.id)
    chat.members_changed(channel)
    assert eva.id in await chat.members(channel)
    assert await chat.is_shared(channel)
    assert len(sandbox.calls_of("conversations.members")) == 2


async def test_what_slack_does_not_say_of_a_channel_is_not_known(
    chat: SlackChat, sandbox: Sandbox, place: Place
) -> None:
    """Without the scope, or for a channel that we do not see."""
    sandbox.scopes.remove("channels:read")

    assert await chat.members(place.channel) == frozenset()
    assert await chat.is_shared(place.channel) is None


async def test_an_answer_that_is_too_late_is_not_remembered(
    chat: SlackChat, sandbox: Sandbox, place: Place
) -> None:
    """Somebody left while Slack was being asked."""
    sandbox.fail_next("conversations.members", delay=0.3)
    asking = asyncio.create_task(chat.members(place.channel))
    await sandbox.until(lambda: sandbox.calls_of("conversations.members"))
    sandbox.workspace.leave(sandbox.channel(), "U0ADA")
    chat.members_changed(place.channel)
    await asking

    assert "U0ADA" not in await chat.members(place.channel)


async def test_what_has_changed_of_a_person_is_known_at_once(chat: SlackChat, sandbox: Sandbox) -> None:
    """A status is no change to us; somebody who was never asked about is not remembered."""
    ada = sandbox.workspace.user("ada")
    assert (await chat.profile(ada.id)).name == "Ada"
    assert chat.person_changed(ada.as_json(sandbox.team_id) | {"profile": {"real_name": "Ada"}}) is None
    told = chat.person_changed(replace(ada, real_name="Ada King", is_guest=True).as_json(sandbox.team_id))
    assert told == Person(id=ada.id, name="Ada King", belongs=Belonging.GUEST)
    assert ((await chat.profile(ada.id)).name, chat.belonging(ada.id)) == ("Ada King", Belonging.GUEST)
    assert chat.person_changed(replace(ada, is_deleted=True).as_json(sandbox.team_id))
    assert chat.belonging(ada.id) is Belonging.LEFT
    assert chat.person_changed(sandbox.workspace.user("grace").as_json(sandbox.team_id))
    assert chat.belonging("U0GRACE") is Belonging.UNKNOWN
    assert len(sandbox.calls_of("users.info")) == 1
