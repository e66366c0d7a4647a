"""
Ports for servers that a test stops and starts, or tells others of before they listen.

The system gives whoever calls out any port from `ip_local_port_range` (32,768 and up): one of those that was free a
moment ago is somebody's client by now. So ours are below, where nothing is given away by chance.
"""

import secrets
import socket
from contextlib import ExitStack, suppress

HOST = "127.0.0.1"
LOWEST = 10_000
HIGHEST = 22_000
"""A node of a Redis cluster takes a second port, 10,000 higher, and that is still below what is given away."""


def free_port(*, and_higher: tuple[int, ...] = ()) -> int:
    """Nobody listens there, nor so many ports *and_higher*; chosen without the seed that tests may have set."""
    while True:
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        with suppress(OSError), ExitStack() as probes:
            for above in (0, *and_higher):
                probes.enter_context(socket.socket()).bind((HOST, port + above))
            return port
