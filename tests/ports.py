"""
Ports for servers that a test stops and starts, or tells others of before they listen.

The system gives whoever calls out any port from `ip_local_port_range` (32,768 and up): one of those that was free a
moment ago is somebody's client by now. So ours are below, where nothing is given away by chance.
"""

import secrets
import socket
from contextlib import suppress

HOST = "127.0.0.1"
LOWEST = 10_000
HIGHEST = 32_000


def free_port() -> int:
    """Chosen without the seed that tests may have set."""
    while True:
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        with suppress(OSError), socket.socket() as probe:
            probe.bind((HOST, port))
            return port
