"""Whatever an app or a page sends, it gets an answer."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slack_sandbox import App, SlackRefused, Timing
from slack_sandbox.clock import Clock
from slack_sandbox.markup import typed
from slack_sandbox.methods import METHODS, Call
from slack_sandbox.residents import User
from slack_sandbox.slack import Slack
from slack_sandbox.workspace import SlackWorkspace

TYPES = [
    "section", "actions", "input", "button", "static_select", "mrkdwn", "plain_text", "modal", "rich_text",
]  # fmt: skip
NAMES = [
    "type", "text", "elements", "fields", "accessory", "element", "options", "action_id", "block_id",
    "title",
]  # fmt: skip
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.sampled_from(TYPES))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
        st.dictionaries(st.sampled_from(["event_type", "event_payload", "id", "blocks"]), inner, max_size=3),
    ),
    max_leaves=12,
)
ARGUMENTS = [
    *("channel", "text", "blocks", "metadata", "thread_ts", "ts", "user", "view", "view_id", "trigger_id"),
    *("files", "channel_id", "cursor", "limit", "oldest", "latest", "timestamp", "name", "users", "user_id"),
    *("filename", "length", "message", "username", "icon_emoji", "status", "types", "markdown_text"),
]
KNOWN = st.sampled_from(["C0SANDBOX01", "U0ADA", "1700000000.000001", "x"])


def small_slack() -> Slack:
    workspace = SlackWorkspace(Clock())
    ada, bot = workspace.add_user(User("U0ADA", "ada", "Ada")), App().bot_user_id
    workspace.add_user(User(bot, "roundtable", "Roundtable", is_bot=True))
    workspace.add_channel("roundtable", members={ada.id, bot})
    return Slack(workspace, App(), timing=Timing())


@given(
    method=st.sampled_from(sorted(METHODS)),
    args=st.dictionaries(st.sampled_from(ARGUMENTS), st.one_of(KNOWN, JSON), max_size=6),
)
def test_every_call_is_answered_or_refused(method: str, args: dict[str, Any]) -> None:
    """Never a crash, whatever the arguments are made of."""
    slack = small_slack()
    given_args = {"channel": "C0SANDBOX01", "user_id": "U0ADA", **args}
    given_args["trigger_id"] = slack.triggers.issue("U0ADA")

    try:
        answer = METHODS[method].handler(slack, Call(method, given_args))
    except SlackRefused as refusal:
        answer = refusal.as_json()

    assert isinstance(answer, dict)


@given(text=st.text(alphabet="<>&@#adgrounabcle:/. ht?ps|!", max_size=60))
def test_what_people_type_never_makes_markup_by_accident(text: str) -> None:
    """Every `<` that is left begins a reference or a link."""
    stored = typed(small_slack().workspace, text)

    for piece in stored.split("<")[1:]:
        assert piece.startswith(("@", "#", "!", "http://", "https://"))
        assert ">" in piece
