"""A slow store on a rank on which no answer is called: it takes its time there, and keeps what it was asked for.

So neither clock nor store lies in a process in which an answer runs: an answer that wants a record has to wait for it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from threading import Lock, Thread, local
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import require_returned
from coursekit.imagenet.store import DECODE, READ, STAGES, TRAIN, SlowStore, feed_slowly
from coursekit.ranks import channel
from coursekit.ranks.environ import gloo_environ

Array = np.ndarray[Any, Any]

LIST = "slow-store"  # in which the store's rank enters where it listens
ANSWER_RANK, STORE_RANK = range(2)
NOTHING = np.zeros(0)  # what is sent where only the moment counts


def feed(feed_fast: Callable[..., Any], shape: tuple[int, ...], batch_size: int, goal: float) -> list[dict[str, Any]]:
    """On two ranks, train from the store by the plainest pipeline, then by the answer's.

    Where the goal is missed, the answer trains once more.
    The private value of the store's rank has its "images", of that shape, whole numbers.

    Returns:
        From the store's rank for each training what `ServedStore.found` tells; from the answer's an empty list.
    """
    if int(os.environ["HOROVOD_RANK"]) == STORE_RANK:
        return serve(places.private()["images"])
    address = channel.find(LIST, 0, STORE_RANK)
    os.environ.update(gloo_environ(rank=0, ranks_on_nodes=(1,), rendezvous=channel.store()))  # Horovod joins nobody
    with channel.call(address, ANSWER_RANK) as control:
        slow_s = _train(control, FarStore(address, shape), feed_slowly, batch_size)
        fast_s = _train(control, FarStore(address, shape), feed_fast, batch_size)
        if slow_s < goal * fast_s:
            _train(control, FarStore(address, shape), feed_fast, batch_size)
    return []


def _train(control: socket.socket, store: FarStore, feed: Callable[..., Any], batch_size: int) -> float:
    """Train once, and return how many seconds the store worked for it."""
    channel.write_message(control, NOTHING)
    channel.read_message(control)
    dataset = feed(store, batch_size)
    require_returned(feed, dataset, fits=hasattr(dataset, "as_numpy_iterator"), expected="a tf.data.Dataset")
    store.train(dataset)
    channel.write_message(control, NOTHING)
    told = channel.read_message(control)
    return 0.0 if told is None else float(told)


class FarStore(SlowStore):
    """A store of the answer's rank whose records lie on the store's; each thread asks by a connection of its own."""

    def __init__(self, address: channel.Address, shape: tuple[int, ...]) -> None:
        """Know how many images of which shape there are, and not what they show."""
        super().__init__(np.zeros(shape, np.int64))
        self._address, self._of_thread = address, local()

    def _ask(self, stage: str, data: Any) -> Array:
        if not hasattr(self._of_thread, "connection"):
            self._of_thread.connection = channel.call(self._address, ANSWER_RANK)
        connection = self._of_thread.connection
        channel.write_message(connection, np.array(STAGES.index(stage)))
        channel.write_message(connection, np.asarray(data, order="C"))
        reply = channel.read_message(connection)
        if reply is None:
            raise ValueError(f"the store has nothing to {stage} for {np.asarray(data).ravel()[:3]}")
        return reply

    def _read(self, number: Array) -> Array:
        return self._ask(READ, number)

    def _decode(self, numbers: Array) -> Array:
        return self._ask(DECODE, numbers)

    def _step(self, batch: Any) -> None:
        self._ask(TRAIN, batch)


class ServedStore(SlowStore):
    """The store itself for one training; `batches` are those of its steps."""

    def __init__(self, images: Array) -> None:
        """Put the images into files."""
        super().__init__(images)
        self.batches: list[Array] = []
        self._in_step = Lock()  # one step at a time

    def reply(self, stage: str, data: Array) -> Array:
        """Do what is asked, in the time that it takes, and return what is wanted.

        Raises:
            IndexError: these are numbers of no record.
        """
        if stage == TRAIN:
            with self._in_step:
                self._step(data)
            self.batches.append(data)
            return NOTHING
        return self._read(data) if stage == READ else self._decode(data)

    def found(self) -> dict[str, Any]:
        """Return the batches, the records that were asked for, the seconds from the first request on, and of stages."""
        busy_s = {stage: self.busy_s(stage) for stage in STAGES}
        return {"batches": self.batches, "asked": self.asked, "seconds": self.worked_s, "busy_s": busy_s}

    @property
    def worked_s(self) -> float:
        """From the beginning of the first request to the end of the last."""
        return self.seconds - min((span.begin_s for span in self.spans), default=0.0)


def serve(images: Array) -> list[dict[str, Any]]:
    """Answer all requests until the answer's rank hangs up; return what each training found."""
    stores: list[ServedStore] = []
    with channel.listen() as listener:
        channel.enter(LIST, 0, STORE_RANK, listener)
        _, control = channel.answer(listener)
        Thread(target=_answer_calls, args=(listener, stores), daemon=True).start()
        with control:
            while channel.read_message(control) is not None:
                stores.append(ServedStore(images))
                channel.write_message(control, NOTHING)
                channel.read_message(control)
                channel.write_message(control, np.array(stores[-1].worked_s))
    return [store.found() for store in stores]


def _answer_calls(listener: socket.socket, stores: list[ServedStore]) -> None:
    while True:
        try:
            _, connection = channel.answer(listener)
        except OSError:  # the end
            return
        Thread(target=_answer_requests, args=(connection, stores), daemon=True).start()


def _answer_requests(connection: socket.socket, stores: list[ServedStore]) -> None:
    with connection:
        while (stage := channel.read_message(connection)) is not None:
            data = channel.read_message(connection)
            if data is None:
                return
            try:
                channel.write_message(connection, stores[-1].reply(STAGES[int(stage)], data))
            except (IndexError, OSError):  # no such record; nobody waits any more
                return
