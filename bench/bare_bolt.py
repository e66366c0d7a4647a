"""
The floors of acknowledging. Bolt as its documentation shows it, with listeners that acknowledge and do nothing; and,
with REDIS_URL, what saving first costs at the very least: one compare-and-set before Bolt answers. With REACTION, it
adds that emoji to every message.
"""

import asyncio
import os
import re

from redis.asyncio import Redis
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.children import BARE_APP
from bench.payloads import SIGNING_SECRET
from bot.slack.transport import PATH

COMPARE_AND_SET = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
"""


def bare_app() -> AsyncApp:
    token = os.environ.get("SLACK_BOT_TOKEN", "xoxb-bench")
    client = AsyncWebClient(token, base_url=os.environ["SLACK_API_URL"])
    reaction = os.environ.get("REACTION")
    saving = os.environ.get("REDIS_URL")
    app = AsyncApp(client=client, signing_secret=SIGNING_SECRET, process_before_response=bool(saving))
    save = Redis.from_url(saving).register_script(COMPARE_AND_SET) if saving else None

    @app.event("message")
    async def message(event: dict[str, str]) -> None:
        if save:
            await save(keys=[f"bare.{event['ts']}"], args=["", event.get("text", "")])
        if reaction:
            await client.reactions_add(channel=event["channel"], timestamp=event["ts"], name=reaction)

    @app.action(re.compile(".*"))
    async def action(ack: AsyncAck) -> None:
        await ack()

    @app.command(re.compile(".*"))
    async def command(ack: AsyncAck) -> None:
        await ack()

    return app


async def over_sockets() -> None:
    token = os.environ.get("SLACK_APP_TOKEN", BARE_APP)
    await AsyncSocketModeHandler(bare_app(), token).start_async()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    if port := os.environ["PORT"]:
        bare_app().server(int(port), PATH).start(host="127.0.0.1")
    else:
        asyncio.run(over_sockets())
