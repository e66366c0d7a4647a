"""A model that answers before it has read the question, in a process of its own: what a call costs us is ours alone."""

import asyncio
import json

ANSWER = "I would ask who waits for whom, and for how long. " * 12
CHAT = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1_790_000_000,
    "model": "instant",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
    "usage": {
        "prompt_tokens": 2000,
        "completion_tokens": 150,
        "total_tokens": 2150,
        "prompt_tokens_details": {"cached_tokens": 1800},
    },
}
MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "instant",
    "content": [{"type": "text", "text": ANSWER}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 200, "output_tokens": 150, "cache_read_input_tokens": 1800},
}
ANSWERS = {b"/v1/chat/completions": CHAT, b"/v1/messages": MESSAGE}


def _whole(body: object) -> bytes:
    text = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        len(text),
        text,
    )


REPLIES = {path: _whole(body) for path, body in ANSWERS.items()}


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            break
        path = head.split(b" ", 2)[1]
        [length] = (
            int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
        )
        await reader.readexactly(length)
        writer.write(REPLIES[path])
        await writer.drain()
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
