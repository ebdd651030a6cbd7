"""The key-value store through which the Gloo ranks of a run find each other.

It serves Horovod's client (Horovod 0.28, `horovod/common/gloo/http_store.cc`), which sends GET, PUT and DELETE requests
for a path, each over a separate connection. As 64 ranks send 19 thousand requests, each must take little work: a single
thread answers all of them, and holds a GET until its key is there. Horovod's own store starts a thread for each
request, and its ranks ask again every 10 ms.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from typing import Any

from coursekit.framework import TORCH, chosen

HOLD_S = 1.0  # after that, a rank is told that its key is missing; it asks again unless Gloo's own timeout has passed
REQUEST_TIMEOUT_S = 3.0  # for a whole request, which a rank sends in one piece
SHORTEST_S = 0.001  # with 0, a call would not wait at all
BACKLOG = 1024  # if the queue is full, a rank's connection is tried again after a second
CHUNK_BYTES = 65536

HOST_NAME_KEY = re.compile(rb"/rank_\d+$")  # ranks ask for it only once, whether or not it is there
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Store:
    """A store that listens on a free port of an address, and answers requests while `serve` runs."""

    def __init__(self, address: str) -> None:
        self._listener = socket.create_server((address, 0), backlog=BACKLOG)
        # The kernel holds a connection until its request arrives, so `serve` never waits for a rank's request.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, int(REQUEST_TIMEOUT_S))
        self.port: int = self._listener.getsockname()[1]
        self._values: dict[bytes, bytes] = {}
        self._held: dict[socket.socket, tuple[bytes, float]] = {}  # path and end of each held GET; oldest first

    def close(self) -> None:
        """Close this process's copy of the listening socket."""
        self._listener.close()

    def end(self) -> None:
        """Stop the server loop, which runs in another thread."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)

    def serve(self) -> None:
        """Answer requests until `end`."""
        while True:
            try:
                self._listener.settimeout(self._next_end_s())
                connection, _ = self._listener.accept()
            except (TimeoutError, ConnectionAbortedError):
                continue
            except OSError:  # from `end`
                break
            try:
                self._obey(connection, *_read_request(connection))
            except (OSError, ValueError):  # from a rank that was killed, or from another program
                connection.close()
        for held in (self._listener, *self._held):
            held.close()

    def _next_end_s(self) -> float | None:
        """Answer GETs that were held long enough; return the seconds until the next GET is due, or None."""
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
        with connection, suppress(OSError):  # the rank was killed while it waited
            # Close the connection first: the side that does so keeps a port for a minute, and ranks need their ports.
            answer = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)
            connection.sendall(answer, socket.MSG_MORE)


def _read_request(connection: socket.socket) -> tuple[bytes, bytes, bytes]:
    """Return a request's method, path and body; raise a `ValueError` or an `OSError` if the request is incomplete."""
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
            raise ValueError("the connection ended before the request was complete")


class TorchStore:
    """The store for ranks that join through `torch.distributed`; PyTorch serves it."""

    def __init__(self, address: str) -> None:
        self._listener = socket.create_server((address, 0), backlog=BACKLOG)
        self._address, self.port = self._listener.getsockname()
        self._ended = threading.Event()

    def close(self) -> None:
        """Close this process's copy of the listening socket."""
        self._listener.close()

    def end(self) -> None:
        """Stop the server loop, which runs in another thread."""
        self._ended.set()

    def serve(self) -> None:
        """Answer requests until `end`."""
        torch: Any = import_module("torch.distributed")  # it has been imported before
        settings = {"is_master": True, "wait_for_workers": False, "timeout": timedelta(seconds=REQUEST_TIMEOUT_S)}
        store = torch.TCPStore(self._address, self.port, **settings, master_listen_fd=self._listener.detach())
        self._ended.wait()
        del store


def new_store(address: str) -> Store | TorchStore:
    """Return a store for ranks of the chosen framework."""
    return (TorchStore if chosen() == TORCH else Store)(address)
