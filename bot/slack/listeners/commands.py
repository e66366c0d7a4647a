import re

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.discretion import discreet
from bot.slack import parse
from bot.slack.blocks import parts
from bot.slack.payload import Payload
from bot.slack.reception import Reception


def register(app: AsyncApp, reception: Reception) -> None:
    @app.command(re.compile(".*"))  # a workspace may have given the command another name
    async def command(ack: AsyncAck, body: Payload) -> None:
        asked = parse.command(body, reception.us, at=reception.clock())
        reply = await reception.ask(body, asked)
        told = parts(discreet(reply, reception.us.redact)) if reply else []
        if len(told) == 1:
            await ack(text=told[0].text, blocks=told[0].blocks, response_type="ephemeral")
            return
        await ack()
        reception.tell(asked.place, asked.person.id, reply, reply_url=asked.reply_url)
