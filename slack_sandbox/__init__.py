"""
A Slack-compatible workspace on this machine, for trying the bot and for its tests.

    async with Sandbox() as sandbox:
        client = AsyncWebClient(token=sandbox.bot_token, base_url=sandbox.api_url)
        app = AsyncApp(client=client, signing_secret=sandbox.signing_secret)
        handler = AsyncSocketModeHandler(app, sandbox.app_token)   # or: await sandbox.use_http(request_url)
        await handler.connect_async()

        ada = sandbox.person("ada")
        ts = await ada.say("#roundtable", "hello")
        await sandbox.until(lambda: len(sandbox.thread("#roundtable", ts)) == 2)
        menu = sandbox.thread("#roundtable", ts)[-1]
        delivery = await ada.press(menu, "roundtable.continue")
        assert delivery.acked and delivery.seconds < 1

`sandbox.url` is a page where people can do the same by hand. What can go wrong is in `Faults`, `Fault` and the
second half of `Sandbox`; Slack's patience is a `Timing`, to be scaled down.
"""

from slack_sandbox.api import ApiCall
from slack_sandbox.delivery import Delivery, Timing
from slack_sandbox.faults import Fault
from slack_sandbox.messages import SandboxMessage
from slack_sandbox.people import SandboxPerson
from slack_sandbox.residents import User
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.server import Sandbox
from slack_sandbox.slack import App

__all__ = [
    "ApiCall",
    "App",
    "Delivery",
    "Fault",
    "Sandbox",
    "SandboxMessage",
    "SandboxPerson",
    "SlackRefused",
    "Timing",
    "User",
]
