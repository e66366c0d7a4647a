"""One module for each thing of Slack's that we listen to. They translate, bring it to the desk, and get out."""

from slack_bolt.async_app import AsyncApp

from bot.slack.listeners import actions, commands, errors, messages, rest, sessions, shortcuts
from bot.slack.reception import Reception


def register(app: AsyncApp, reception: Reception) -> None:
    """
    The first listener that matches gets it, so what catches all the rest comes last; and Bolt asks one after the other,
    so what comes most often is first.
    """
    messages.register(app, reception)
    commands.register(app, reception)
    actions.register(app, reception)
    shortcuts.register(app, reception)
    sessions.register(app, reception)
    errors.register(app, reception)
    rest.register(app, reception)
