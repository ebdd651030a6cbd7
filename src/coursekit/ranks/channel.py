"""Channels send arrays from rank to rank over TCP, in order, and count them; they need neither MPI nor Horovod.

Ranks find each other through the same store that Gloo's ranks use (`rendezvous`).
Each rank has an outgoing connection to every other rank, and a thread for every incoming connection.
So a send never waits for a receive: the thread reads each array as soon as it arrives, and keeps it for `receive`.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import socket
import time
from contextlib import AbstractContextManager, closing, suppress
from http.client import HTTPConnection
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, cast

import numpy as np

from coursekit.corrected_time import LEAST_WALL_S

Array = np.ndarray[Any, Any]
Address = tuple[str, int]

DIRECT = "ranks"  # the list in which ranks register their addresses; a relay uses another list
BACKLOG = 1024
HELLO_TIMEOUT_S = 20.0  # a rank that connects sends its number at once, but a busy machine may hold it up before that
NUM_HELLO_BYTES = 4
JOIN_TIMEOUT_S = LEAST_WALL_S  # how long to wait for another rank to open its end
PAUSE_S = 0.01  # between two requests to a store; Horovod's ranks pause for the same time
OK = 200
_numbers = itertools.count()  # numbers for this rank's channels; all ranks open their channels in the same order


class Channel(AbstractContextManager["Channel"]):
    """One rank's end of a channel; `num_messages` and `num_bytes` count what this `rank` of `num_ranks` has sent.

    A send is *buffered*: it returns as soon as the message is on its way, whether or not the other rank receives it.
    A receive waits for at most `timeout_s` seconds, or for ever if `timeout_s` is None.
    """

    timeout_s: float | None = None

    def __init__(self, rank: int, outgoing: dict[int, socket.socket], incoming: dict[int, socket.socket]) -> None:
        self.rank, self.num_ranks = rank, len(outgoing) + 1
        self.num_messages = self.num_bytes = 0
        self._outgoing = outgoing
        self._arrived: dict[int, SimpleQueue[Array | None]] = {source: SimpleQueue() for source in incoming}
        for source, connection in incoming.items():
            Thread(target=_keep, args=(connection, self._arrived[source]), daemon=True).start()

    def send(self, array: Any, to: int) -> None:
        """Send a copy of an array of numbers to another rank; raise a `ConnectionError` if that rank has ended."""
        self._check("send to", to)
        data = np.asarray(array, order="C")
        if data.dtype.hasobject:
            raise ValueError(f"a message must be an array of numbers, not {type(array).__name__}")
        try:
            write_message(self._outgoing[to], data)
        except OSError:
            raise ConnectionError(f"rank {self.rank} cannot send to rank {to}, which has ended") from None
        self.num_messages += 1
        self.num_bytes += data.nbytes

    def receive(self, source: int) -> Array:
        """Wait for the next array from another rank, and return it.

        Raises a `ConnectionError` if that rank has ended without sending another array, and a `TimeoutError` if nothing
        arrives within `timeout_s` seconds.
        """
        self._check("receive from", source)
        try:
            message = self._arrived[source].get(timeout=self.timeout_s)
        except Empty:
            waited = f"rank {self.rank} has waited {self.timeout_s:g} s for a message from rank {source}"
            raise TimeoutError(f"{waited}: do all ranks receive before they send?") from None
        if message is None:
            self._arrived[source].put(None)
            raise ConnectionError(f"rank {self.rank} waits for a message from rank {source}, but that rank has ended")
        return message

    def _check(self, what: str, other: int) -> None:
        if not isinstance(other, (int, np.integer)):
            raise TypeError(f"rank {self.rank} cannot {what} {type(other).__name__}: give the number of a rank")
        if other not in self._outgoing:
            others = ", ".join(map(str, sorted(self._outgoing)))
            raise ValueError(f"rank {self.rank} cannot {what} rank {other}: the other ranks are {others or 'none'}")

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:  # otherwise the connections stay open, so that peers do not fail because this rank has failed
            self.close()

    def close(self) -> None:
        """Close this rank's outgoing connections; this tells the other ranks that it will not send any more."""
        for connection in self._outgoing.values():
            connection.close()


def open_channel() -> Channel:
    """Open a channel between all ranks of this run; every rank must call this the same number of times."""
    return open_among(int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"]))


def open_among(rank: int, num_ranks: int, listed: str = DIRECT) -> Channel:
    """Open a channel between ranks 0 to `num_ranks` - 1; they look up each other's addresses in the list `listed`."""
    number = next(_numbers)
    incoming: dict[int, socket.socket] = {}
    with listen() as listener:
        enter(DIRECT, number, rank, listener)
        addresses = [find(listed, number, other) for other in range(num_ranks)]
        outgoing = {other: call(address, rank) for other, address in enumerate(addresses) if other != rank}
        listener.settimeout(JOIN_TIMEOUT_S)
        while missing := outgoing.keys() - incoming.keys():
            try:
                other, connection = answer(listener)
            except TimeoutError:
                for one in (*outgoing.values(), *incoming.values()):
                    one.close()
                raise TimeoutError(_has_not_come(min(missing))) from None
            if other in missing:
                incoming[other] = connection
            else:  # not a rank of this channel
                connection.close()
    return Channel(rank, outgoing, incoming)


def listen(host: str = "") -> socket.socket:
    """Return a listening socket, by default on the network that connects this process to the store."""
    if not host:
        with socket.create_connection(store()) as connection:
            host = connection.getsockname()[0]
    return socket.create_server((host, 0), backlog=BACKLOG)


def call(address: Address, rank: int) -> socket.socket:
    """Connect to a listener, and send it the number of this rank."""
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(rank.to_bytes(NUM_HELLO_BYTES, "big"))
    return connection


def answer(listener: socket.socket) -> tuple[int, socket.socket]:
    """Wait for the next rank that connects; return its number, which it sends at once, and the connection."""
    while True:
        connection, _ = listener.accept()
        connection.settimeout(HELLO_TIMEOUT_S)
        hello = b""
        with suppress(OSError):
            hello = connection.recv(NUM_HELLO_BYTES)
        if hello:
            connection.settimeout(None)
            return int.from_bytes(hello, "big"), connection
        connection.close()  # it is not a rank


def store() -> Address:
    """Return the address of the store through which the ranks of this run find each other."""
    return os.environ["HOROVOD_GLOO_RENDEZVOUS_ADDR"], int(os.environ["HOROVOD_GLOO_RENDEZVOUS_PORT"])


def _ask_store(method: str, key: str, body: bytes | None = None) -> bytes | None:
    """Send a request to the store, and return the body of its answer; None if the store does not have this key."""
    with closing(HTTPConnection(*store(), timeout=JOIN_TIMEOUT_S)) as connection:
        connection.request(method, f"/channel/{key}", body)
        response = connection.getresponse()
        return response.read() if response.status == OK else None


def enter(listed: str, number: int, rank: int, listener: socket.socket) -> None:
    """Register, in the list `listed`, the address at which a rank receives its messages on the channel `number`."""
    _ask_store("PUT", f"{listed}/{number}/{rank}", json.dumps(listener.getsockname()).encode())


def find(listed: str, number: int, rank: int) -> Address:
    """Wait until the address of a rank is registered, and return it; raise a `TimeoutError` if it never is."""
    end_s = time.monotonic() + JOIN_TIMEOUT_S
    # The kit's store waits for a while before it answers that there is no value; Horovod's own store answers at once.
    while (body := _ask_store("GET", f"{listed}/{number}/{rank}")) is None:
        if time.monotonic() > end_s:
            raise TimeoutError(_has_not_come(rank))
        time.sleep(PAUSE_S)
    host, port = json.loads(body)
    return host, port


def _has_not_come(rank: int) -> str:
    return f"rank {rank} has not joined the channel in {JOIN_TIMEOUT_S:g} s: has it ended, or opened fewer channels?"


def write_message(connection: socket.socket, data: Array) -> None:
    """Write an array in the format of NumPy's files; raise an OSError if the other side no longer reads."""
    message = io.BytesIO()
    np.lib.format.write_array(message, data, allow_pickle=False)
    connection.sendall(message.getbuffer())


def read_message(connection: socket.socket) -> Array | None:
    """Return the next array, or None if the other side has closed the connection."""
    with suppress(OSError, ValueError), connection.makefile("rb", buffering=0) as file:
        return cast("Array", np.lib.format.read_array(file, allow_pickle=False))
    return None


def _keep(connection: socket.socket, arrived: SimpleQueue[Array | None]) -> None:
    with connection:
        while (message := read_message(connection)) is not None:
            arrived.put(message)
    arrived.put(None)
