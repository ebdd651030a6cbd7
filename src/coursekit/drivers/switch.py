"""A switch between ranks: it passes on each message of their channels, and keeps a copy for a check.

It is one rank more, on which no answer is called.
So what it saw is no claim of a process in which an answer runs, and what travels past it was seen by nobody.
"""

from __future__ import annotations

import contextlib
import os
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places
from coursekit.ranks import channel
from coursekit.ranks.environ import gloo_environ

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from coursekit.ranks.channel import Channel

Array = np.ndarray[Any, Any]
Seen = list[list[Any]]  # source, target and content of each message, those of a source in the order of its sends

SWITCH = "switch"
WAIT_S = 5.0  # for a message of a few bytes; ranks that all receive first would wait for ever


def talk(answer: Callable[[Channel, Any], Any], num_ranks: int, num_talks: int) -> list[Any]:
    """On each of `num_ranks`, call the answer with a channel and this rank's own value, once for each talk.

    Returns:
        For each talk what the answer returned, and what it left of the value; from the last rank what it saw.
    """
    rank = int(os.environ["HOROVOD_RANK"])
    if rank == num_ranks:
        return [relay(num_ranks, number) for number in range(num_talks)]
    os.environ.update(gloo_environ(rank=0, ranks_on_nodes=(1,), rendezvous=channel.store()))  # Horovod joins nobody
    results = []
    for own in places.private():
        with channel.open_among(rank, num_ranks, SWITCH) as mine:
            mine.timeout_s = WAIT_S
            results.append([_plain(answer(mine, own)), own])
    return results


def _plain(returned: Any) -> Any:
    """Return arrays for what NumPy can make one of, such as tensors; other values as they are."""
    return np.asarray(returned) if hasattr(returned, "__array__") else returned


def relay(num_ranks: int, number: int) -> Seen:
    """Stand between all ranks of one channel until they have closed it; return what was sent."""
    listeners = [channel.listen() for _ in range(num_ranks)]
    for target, listener in enumerate(listeners):
        channel.enter(SWITCH, number, target, listener)
    seen: Seen = []
    lock = Lock()
    threads = []
    for target, listener in enumerate(listeners):
        address = channel.find(channel.DIRECT, number, target)
        with listener:
            for _ in range(num_ranks - 1):
                source, connection = channel.answer(listener)
                onward = channel.call(address, source)
                threads.append(Thread(target=_pass_on, args=(connection, onward, source, target, seen, lock)))
                threads[-1].start()
    for thread in threads:
        thread.join()
    return seen


def _pass_on(  # noqa: PLR0913, PLR0917  # both ends of a line, and the list of all
    connection: socket.socket, onward: socket.socket, source: int, target: int, seen: Seen, lock: Lock
) -> None:
    with connection, onward:
        message = channel.read_message(connection)
        while message is not None:
            with lock:
                seen.append([source, target, message])
            with contextlib.suppress(OSError):  # who has ended reads no more; what was sent counts
                channel.write_message(onward, message)
            message = channel.read_message(connection)
