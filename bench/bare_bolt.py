"""The floor of acknowledging: Bolt as its documentation shows it, with listeners that acknowledge and do nothing."""

import asyncio
import os
import re

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.children import BARE_APP
from bench.payloads import SIGNING_SECRET
from bot.slack.endpoint import PATH


def bare_app() -> AsyncApp:
    client = AsyncWebClient("xoxb-bench", base_url=os.environ["SLACK_API_URL"])
    app = AsyncApp(client=client, signing_secret=SIGNING_SECRET)

    @app.event("message")
    async def message() -> None:
        pass

    @app.action(re.compile(".*"))
    async def action(ack: AsyncAck) -> None:
        await ack()

    @app.command(re.compile(".*"))
    async def command(ack: AsyncAck) -> None:
        await ack()

    return app


async def over_sockets() -> None:
    await AsyncSocketModeHandler(bare_app(), BARE_APP).start_async()


if __name__ == "__main__":
    if port := os.environ["PORT"]:
        bare_app().server(int(port), PATH).start(host="127.0.0.1")
    else:
        asyncio.run(over_sockets())
