"""A slow store on a rank that calls no answer: delays happen on that rank, which records what it was asked for.

So neither the clock nor the store is in a process that runs an answer, and an answer has to wait for each record.
"""

import os
import socket
import time
from contextlib import suppress
from threading import Event, Lock, Thread, local
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Array, require_returned
from coursekit.imagenet.store import DECODE, READ, STAGES, TRAIN, SlowStore, feed_slowly
from coursekit.ranks import channel
from coursekit.ranks.context import leave_peers

LIST = "slow-store"  # the list in which the store's rank enters its address
ANSWER_RANK, STORE_RANK = range(2)
REQUESTS = BEGIN, *_, END = "begin", *STAGES, "end"  # what the store's rank does for the answer's rank
NOTHING = np.zeros(0)  # what is sent if only the time counts


def feed(feed_fast: Answer, shape: tuple[int, ...], batch_size: int, goal: float) -> list[dict[str, Any]]:
    """On two ranks, train from the store, first with a simple pipeline and then with the answer's.

    If the answer's pipeline misses the goal, it is used to train once more. The private value of the store's rank has
    its "images", integers of the given shape.
    The store's rank returns `ServedStore.found` for each training run; the answer's rank returns an empty list.
    """
    if int(os.environ["HOROVOD_RANK"]) == STORE_RANK:
        return serve(places.private()["images"])
    store = FarStore(channel.find(LIST, 0, STORE_RANK), shape)
    leave_peers(channel.store())
    slow_s, fast_s = (_train(store, pipeline, batch_size) for pipeline in (feed_slowly, feed_fast))
    if slow_s < goal * fast_s:
        _train(store, feed_fast, batch_size)
    store.ask(END)
    return []


def _train(store: "FarStore", pipeline: Answer, batch_size: int) -> float:
    """Train once, and return how many seconds this took here; this only decides whether to train again."""
    store.ask(BEGIN)
    dataset = pipeline(store, batch_size)
    require_returned(pipeline, dataset, fits=hasattr(dataset, "as_numpy_iterator"), expected="a tf.data.Dataset")
    begin_s = time.perf_counter()
    store.train(dataset)
    return time.perf_counter() - begin_s


class FarStore(SlowStore):
    """A store on the answer's rank whose records are on the store's rank; each thread has a separate connection."""

    def __init__(self, address: channel.Address, shape: tuple[int, ...]) -> None:
        """Set the number and the shape of the images, but not what they show."""
        super().__init__(np.zeros(shape, np.int64))
        self._address, self._of_thread = address, local()

    def ask(self, request: str, data: Any = NOTHING) -> Array:
        """Ask the store's rank to do something, and return what it sends back."""
        if not hasattr(self._of_thread, "connection"):
            self._of_thread.connection = channel.call(self._address, ANSWER_RANK)
        connection = self._of_thread.connection
        channel.write_message(connection, np.array(REQUESTS.index(request)))
        channel.write_message(connection, np.asarray(data, order="C"))
        reply = channel.read_message(connection)
        if reply is None:
            raise ValueError(f"the store has nothing to {request} for {np.asarray(data).ravel()[:3]}")
        return reply

    def _read(self, number: Array) -> Array:
        return self.ask(READ, number)

    def _decode(self, numbers: Array) -> Array:
        return self.ask(DECODE, numbers)

    def _step(self, batch: Any) -> None:
        self.ask(TRAIN, batch)


class ServedStore(SlowStore):
    """The store itself during one training run; `batches` has the batches of its steps."""

    def __init__(self, images: Array) -> None:
        super().__init__(images)
        self.batches: list[Array] = []
        self._in_step = Lock()  # one step at a time

    def reply(self, stage: str, data: Array) -> Array:
        """Do what is asked, with the delay of its stage; raise an IndexError if no record has a requested number."""
        if stage == TRAIN:
            with self._in_step:
                self._step(data)
            self.batches.append(data)
            return NOTHING
        return self._read(data) if stage == READ else self._decode(data)

    def found(self) -> dict[str, Any]:
        """Return the batches, the requested records, the seconds since the first request, and each stage's time."""
        seconds = self.seconds - min((span.begin_s for span in self.spans), default=0.0)
        busy_s = {stage: self.busy_s(stage) for stage in STAGES}
        return {"batches": self.batches, "asked": self.asked, "seconds": seconds, "busy_s": busy_s}


def serve(images: Array) -> list[dict[str, Any]]:
    """Answer all requests until the last one; return what was found in each training run."""
    stores: list[ServedStore] = []
    has_ended = Event()

    def answer_calls(listener: socket.socket) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                _, connection = channel.answer(listener)
                Thread(target=answer_requests, args=(connection,), daemon=True).start()

    def answer_requests(connection: socket.socket) -> None:
        with connection, suppress(IndexError, OSError):  # no such record, or nobody waits any more
            while (request := channel.read_message(connection)) is not None:
                data, name, reply = channel.read_message(connection), REQUESTS[int(request)], NOTHING
                if name == BEGIN:
                    stores.append(ServedStore(images))
                elif name == END:
                    has_ended.set()
                elif data is not None:
                    reply = stores[-1].reply(name, data)
                channel.write_message(connection, reply)

    with channel.listen() as listener:
        channel.enter(LIST, 0, STORE_RANK, listener)
        Thread(target=answer_calls, args=(listener,), daemon=True).start()
        has_ended.wait()
    return [store.found() for store in stores]
