"""The key-value store in which the Gloo ranks of a run find each other.

It speaks with Horovod's client (Horovod 0.28, `horovod/common/gloo/http_store.cc`): GET, PUT and DELETE of a
path, each over a connection of its own. 64 ranks make 19 thousand requests. Hence one thread answers them, and a GET is
held until its key is there: Horovod's own store starts a thread for each, and ranks ask again every 10 ms.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections import defaultdict
from contextlib import suppress
from threading import Event, Thread

HOLD_S = 1.0  # then a rank hears that its key is missing, and asks again unless Gloo's own timeout has passed
BACKLOG = 1024  # a connection for which there is no place is tried again after a second

HOST_NAME_KEY = re.compile(rb"/rank_\d+$")  # ranks ask for it once, whether it is there or not
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Store:
    """A store that listens at a free port of an address, and answers while it serves."""

    def __init__(self, address: str) -> None:
        self._listener = socket.create_server((address, 0), backlog=BACKLOG)
        self.port: int = self._listener.getsockname()[1]
        self._serves = Event()
        self._values: dict[bytes, bytes] = {}
        self._is_there: defaultdict[bytes, asyncio.Event] = defaultdict(asyncio.Event)  # by path

    def close(self) -> None:
        """Give up this process's copy of the listening socket."""
        self._listener.close()

    def serve(self) -> None:
        """Answer requests until `end`."""
        with suppress(asyncio.CancelledError):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._server = await asyncio.start_server(self._answer, sock=self._listener, backlog=BACKLOG)
        self._loop = asyncio.get_running_loop()
        self._serves.set()
        await self._server.serve_forever()

    def start(self) -> None:
        """Serve in a thread of its own."""
        Thread(target=self.serve, daemon=True).start()
        self._serves.wait()

    def end(self) -> None:
        """End what `start` has started."""
        self._loop.call_soon_threadsafe(self._server.close)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A rank that was killed, or a stranger, ends its connection early or makes no request.
        with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, path, _ = head.split(b" ", 2)
            length = LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            value = await self._obey(method, path, body)
            status = b"404 Not Found" if value is None else b"200 OK"
            value = value or b""
            writer.write(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(value), value))
        # We end the connection: the side that does so first keeps a port for a minute, and ranks need theirs.
        writer.close()

    async def _obey(self, method: bytes, path: bytes, body: bytes) -> bytes | None:
        if method == b"PUT":
            self._values[path] = body
            self._is_there[path].set()
        elif method == b"DELETE":
            self._values.pop(path, None)
            self._is_there[path].clear()
        else:
            if path not in self._values and not HOST_NAME_KEY.search(path):
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._is_there[path].wait(), HOLD_S)
            return self._values.get(path)
        return b""
