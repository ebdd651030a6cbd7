"""Ports for servers that tests start."""

import random
import socket
from contextlib import ExitStack

# Below those that the system gives to whoever asks for any: between looking and using, only chance could take one.
LOWEST, HIGHEST = 20_000, 30_000
NUM_TRIES = 1000


def free_ports(num_ports=1):
    """Return the first of so many ports in a row, drawn at random, at which nobody listens on loopback."""
    for _ in range(NUM_TRIES):
        first = random.randrange(LOWEST, HIGHEST - num_ports)  # noqa: S311  # no secret
        with ExitStack() as probes:
            try:
                for port in range(first, first + num_ports):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise OSError("there are no free ports")
