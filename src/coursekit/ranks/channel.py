"""A channel between ranks: arrays sent from one rank to another over TCP, in order, and counted; no MPI, no Horovod.

Ranks find each other in the store in which Gloo's ranks do (`rendezvous`).
Each rank has one connection to each other rank on which it sends, and a thread for each on which it is sent to.
So a send never waits for a receive: what arrives is taken off the network and kept until somebody asks for it.
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

DIRECT = "ranks"  # the list in which ranks enter where they listen; others who list themselves get their messages
BACKLOG = 1024
HELLO_TIMEOUT_S = 20.0  # a rank says at once which it is, but on a busy machine it may be held up just before
NUM_HELLO_BYTES = 4
JOIN_TIMEOUT_S = LEAST_WALL_S  # for another rank to open its end
PAUSE_S = 0.01  # between questions to a store, as Horovod's own ranks make it
OK = 200
_numbers = itertools.count()  # of the channels of this rank; all ranks open theirs in the same order


class Channel(AbstractContextManager["Channel"]):
    """One rank's end; `rank` and `num_ranks` say where it is, `num_messages` and `num_bytes` what it has sent.

    A send is *buffered*: it returns when the message is on its way, whether anybody receives it or not.
    A receive waits for `timeout_s` seconds, and without end when that is None.
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
        """Send the numbers of an array, as they are now, to another rank; one that has ended is a `ConnectionError`."""
        self._check("send to", to)
        data = np.asarray(array, order="C")
        if data.dtype.hasobject:
            raise ValueError(f"a message is an array of numbers, not {type(array).__name__}")
        try:
            write_message(self._outgoing[to], data)
        except OSError:
            raise ConnectionError(f"rank {self.rank} sends to rank {to}, which has ended") from None
        self.num_messages += 1
        self.num_bytes += data.nbytes

    def receive(self, source: int) -> Array:
        """Return the next array of another rank, and wait until it is there.

        A `ConnectionError` says that the rank has ended and has sent no more, a `TimeoutError` that it has sent nothing
        for `timeout_s`.
        """
        self._check("receive from", source)
        try:
            message = self._arrived[source].get(timeout=self.timeout_s)
        except Empty:
            waited = f"rank {self.rank} has waited {self.timeout_s:g} s for a message of rank {source}"
            raise TimeoutError(f"{waited}: does everybody receive first, and nobody send?") from None
        if message is None:
            self._arrived[source].put(None)
            raise ConnectionError(f"rank {self.rank} waits for a message of rank {source}, which has ended without one")
        return message

    def _check(self, what: str, other: int) -> None:
        if not isinstance(other, (int, np.integer)):
            raise TypeError(f"rank {self.rank} cannot {what} {type(other).__name__}: the number of a rank is wanted")
        if other not in self._outgoing:
            others = ", ".join(map(str, sorted(self._outgoing)))
            raise ValueError(f"rank {self.rank} cannot {what} rank {other}: the other ranks are {others or 'none'}")

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:  # a rank that fails is ended from outside: others should hear of its failure, not of its end
            self.close()

    def close(self) -> None:
        """Say that no more will be sent."""
        for connection in self._outgoing.values():
            connection.close()


def open_channel() -> Channel:
    """Open a channel between all ranks of this run; every rank calls it, as often as all others."""
    return open_among(int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"]))


def open_among(rank: int, num_ranks: int, listed: str = DIRECT) -> Channel:
    """Open a channel between the first ranks of this run, which look each other up in the list `listed`."""
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
            else:  # no rank of this channel
                connection.close()
    return Channel(rank, outgoing, incoming)


def listen(host: str = "") -> socket.socket:
    """Return a listening socket, by default of the network on which the store is."""
    if not host:
        with socket.create_connection(store()) as connection:
            host = connection.getsockname()[0]
    return socket.create_server((host, 0), backlog=BACKLOG)


def call(address: Address, rank: int) -> socket.socket:
    """Connect to one who listens, as this rank."""
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(rank.to_bytes(NUM_HELLO_BYTES, "big"))
    return connection


def answer(listener: socket.socket) -> tuple[int, socket.socket]:
    """Return the rank that connects next and says so, and the connection on which it sends."""
    while True:
        connection, _ = listener.accept()
        connection.settimeout(HELLO_TIMEOUT_S)
        hello = b""
        with suppress(OSError):
            hello = connection.recv(NUM_HELLO_BYTES)
        if hello:
            connection.settimeout(None)
            return int.from_bytes(hello, "big"), connection
        connection.close()  # a stranger


def store() -> Address:
    """Return where the store is in which the ranks of this run find each other."""
    return os.environ["HOROVOD_GLOO_RENDEZVOUS_ADDR"], int(os.environ["HOROVOD_GLOO_RENDEZVOUS_PORT"])


def _ask_store(method: str, key: str, body: bytes | None = None) -> bytes | None:
    """Return what the store has, None where it has nothing."""
    with closing(HTTPConnection(*store(), timeout=JOIN_TIMEOUT_S)) as connection:
        connection.request(method, f"/channel/{key}", body)
        response = connection.getresponse()
        return response.read() if response.status == OK else None


def enter(listed: str, number: int, rank: int, listener: socket.socket) -> None:
    """Enter in a list where messages for a rank go, in the channel of this number."""
    _ask_store("PUT", f"{listed}/{number}/{rank}", json.dumps(listener.getsockname()).encode())


def find(listed: str, number: int, rank: int) -> Address:
    """Return where messages for a rank go, once it is entered; a `TimeoutError` says that it was not in time."""
    end_s = time.monotonic() + JOIN_TIMEOUT_S
    # The kit's store holds each question for a while, Horovod's own answers at once.
    while (body := _ask_store("GET", f"{listed}/{number}/{rank}")) is None:
        if time.monotonic() > end_s:
            raise TimeoutError(_has_not_come(rank))
        time.sleep(PAUSE_S)
    host, port = json.loads(body)
    return host, port


def _has_not_come(rank: int) -> str:
    return f"rank {rank} has not joined the channel in {JOIN_TIMEOUT_S:g} s: has it ended, or opened fewer channels?"


def write_message(connection: socket.socket, data: Array) -> None:
    """Write an array, as NumPy's files have it; raises OSError where nobody reads."""
    message = io.BytesIO()
    np.lib.format.write_array(message, data, allow_pickle=False)
    connection.sendall(message.getbuffer())


def read_message(connection: socket.socket) -> Array | None:
    """Return the next array, or None when the other side has closed."""
    with suppress(OSError, ValueError), connection.makefile("rb", buffering=0) as file:
        return cast("Array", np.lib.format.read_array(file, allow_pickle=False))
    return None


def _keep(connection: socket.socket, arrived: SimpleQueue[Array | None]) -> None:
    with connection:
        while (message := read_message(connection)) is not None:
            arrived.put(message)
    arrived.put(None)
