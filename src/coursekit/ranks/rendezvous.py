"""Where processes of a run find each other: Gloo ranks by a key-value store, tasks of a job step at a door.

The store speaks with Horovod's client (Horovod 0.28, `horovod/common/gloo/http_store.cc`): GET, PUT and DELETE of a
path, each over a connection of its own. A rank asks for every peer of each of its groups, so that the requests grow
with the square of the number of ranks: 64 ranks on a node make 19 thousand with the Horovod that `make env` compiles.
Hence one thread answers them, in few steps, and a GET is held until its key is there. Horovod's own store starts a
thread for each, and ranks ask again every 10 ms.
"""

from __future__ import annotations

import math
import os
import re
import socket
import sys
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from queue import SimpleQueue
from threading import Thread
from typing import NoReturn

from coursekit.processes import end_with_parent

HOLD_S = 1.0  # then a rank hears that its key is missing, and asks again unless Gloo's own timeout has passed
REQUEST_TIMEOUT_S = 3.0  # for the whole request, which a rank sends at once
SHORTEST_S = 0.001  # 0 would not wait at all
BACKLOG = 1024  # a connection for which there is no place is tried again after a second
CHUNK_BYTES = 65536

HOST_NAME_KEY = re.compile(rb"/rank_\d+$")  # ranks ask for it once, whether it is there or not
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Store:
    """A store that listens at a free port of an address, and answers while it serves."""

    def __init__(self, address: str) -> None:
        self._listener = socket.create_server((address, 0), backlog=BACKLOG)
        # The kernel keeps a connection until its request is there: nobody waits for a rank that has no turn.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, int(REQUEST_TIMEOUT_S))
        self.port: int = self._listener.getsockname()[1]
        self._values: dict[bytes, bytes] = {}
        self._held: dict[socket.socket, tuple[bytes, float]] = {}  # path and end of its time, the oldest first

    def close(self) -> None:
        """Give up this process's copy of the listening socket."""
        self._listener.close()

    def serve(self) -> NoReturn:
        """Answer requests for ever."""
        while True:
            self._listener.settimeout(self._next_end_s())
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            try:
                self._obey(connection, *_read_request(connection))
            except (OSError, ValueError):  # a rank that was killed, or a stranger
                connection.close()

    def _next_end_s(self) -> float | None:
        """Answer GETs that were held long enough; return the seconds until the next has been, if any is held."""
        now = time.monotonic()
        for connection, (_, end) in list(self._held.items()):
            if end > now:
                return end - now
            self._answer(connection, None)
        return None

    def _obey(self, connection: socket.socket, method: bytes, path: bytes, body: bytes) -> None:
        if method == b"GET":
            value = self._values.get(path)
            if value is None and not HOST_NAME_KEY.search(path):
                self._held[connection] = path, time.monotonic() + HOLD_S
            else:
                self._answer(connection, value)
            return
        if method == b"PUT":
            self._values[path] = body
            for waiting in [waiting for waiting, (wanted, _) in self._held.items() if wanted == path]:
                self._answer(waiting, body)
        elif method == b"DELETE":
            self._values.pop(path, None)
        self._answer(connection, b"")

    def _answer(self, connection: socket.socket, value: bytes | None) -> None:
        self._held.pop(connection, None)
        status, body = (b"404 Not Found", b"") if value is None else (b"200 OK", value)
        with connection, suppress(OSError):  # it was killed while it waited
            # The connection ends with it: the side that closes first keeps a port for a minute, and ranks need theirs.
            answer = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)
            connection.sendall(answer, socket.MSG_MORE)


def _read_request(connection: socket.socket) -> tuple[bytes, bytes, bytes]:
    """Return method, path and body.

    Raises:
        ValueError: this is not a request.
        OSError: the rest of it did not come.
    """
    data = b""
    end_s = time.monotonic() + REQUEST_TIMEOUT_S
    while True:
        connection.settimeout(max(end_s - time.monotonic(), SHORTEST_S))
        data += (chunk := connection.recv(CHUNK_BYTES))
        head, end, body = data.partition(b"\r\n\r\n")
        if end:
            method, path, _ = head.split(b" ", 2)
            length = LENGTH.search(head)
            if len(body) >= (int(length[1]) if length else 0):
                return method, path, body
        if not chunk:
            raise ValueError("the connection ended within the request")


def main() -> None:
    """Serve at the address that is the first argument; print the port, and end with the parent."""
    end_with_parent()
    store = Store(sys.argv[1])
    print(store.port, flush=True)
    store.serve()


POLL_S = 0.2
PROOF_TIMEOUT_S = 20.0  # of one connection, while others are served
STEP_BACKLOG = 256  # connections that wait: three of every rank at once


class Door:
    """Where tasks of a job step connect: each proves that it knows the key, and a stranger delays nobody.

    It is a listening socket at a free port of an address.
    """

    def __init__(self, host: str, key: bytes) -> None:
        self._key = key
        self._listener = socket.create_server((host, 0), backlog=STEP_BACKLOG)
        self._listener.settimeout(POLL_S)
        self.port: int = self._listener.getsockname()[1]
        self._unproven: list[tuple[float, socket.socket]] = []  # the oldest first, with the end of its time
        self._proven: SimpleQueue[tuple[tuple[int, str], Connection]] = SimpleQueue()

    def let_in(self) -> dict[tuple[int, str], Connection]:
        """Wait a moment for one more; return those who have proven themselves since, by what they call themselves."""
        with suppress(TimeoutError):
            stranger, _ = self._listener.accept()
            stranger.settimeout(None)
            self._unproven.append((time.monotonic() + PROOF_TIMEOUT_S, stranger))
            Thread(target=self._prove, args=(stranger,), daemon=True).start()
        self._drop_unproven(time.monotonic())
        proven = {}
        while not self._proven.empty():
            name, connection = self._proven.get()
            proven[name] = connection
        return proven

    def _prove(self, stranger: socket.socket) -> None:
        """Keep a connection that proves to belong to the step; in a thread of its own, since it may take its time."""
        connection = Connection(os.dup(stranger.fileno()))
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            self._proven.put((connection.recv(), connection))
        except (AuthenticationError, EOFError, OSError):
            connection.close()
        finally:
            stranger.close()

    def _drop_unproven(self, now_s: float) -> None:
        """Hang up on connections whose time is over, which ends their threads; forget those that are done."""
        while self._unproven and (self._unproven[0][0] <= now_s or self._unproven[0][1].fileno() < 0):
            with suppress(OSError):
                self._unproven.pop(0)[1].shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let nobody in any more."""
        self._listener.close()
        self._drop_unproven(math.inf)


if __name__ == "__main__":
    main()
