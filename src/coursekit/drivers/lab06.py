"""Drivers of lab 06: they run the allreduces through a switch between ranks, and call the functions for loss scaling.

The switch passes on each message on the ranks' channels, and keeps a copy for a check.
It is an additional rank, which calls no answer.
So its record does not come from a process that runs an answer, and no message that bypasses it is recorded.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Array, require_values, tf
from coursekit.ranks import channel
from coursekit.ranks.channel import Channel
from coursekit.ranks.context import leave_peers

Seen = list[list[Any]]  # source, target and content of each message; messages from one source are in the order sent

SWITCH = "switch"
WAIT_S = 5.0  # for a message of a few bytes; without a limit, ranks that all receive first would wait for ever


def talk(answer: Callable[[Channel, Any], Any], num_ranks: int) -> Sequence[Any]:
    """Call the answer with a channel and this rank's private value; rank `num_ranks`, the last, relays instead.

    Returns what the answer returned, and the private value as it is afterwards. On the rank that relays, it returns the
    messages that this rank has seen.
    """
    rank = int(os.environ["HOROVOD_RANK"])
    if rank == num_ranks:
        return relay(num_ranks)
    leave_peers(channel.store())
    own = places.private()
    with channel.open_among(rank, num_ranks, SWITCH) as mine:
        mine.timeout_s = WAIT_S
        returned = answer(mine, own)
    return np.asarray(returned) if hasattr(returned, "__array__") else returned, own


def relay(num_ranks: int) -> Seen:
    """Relay between all ranks of one channel until they have closed it; return what was sent."""
    listeners = [channel.listen() for _ in range(num_ranks)]
    for target, listener in enumerate(listeners):
        channel.enter(SWITCH, 0, target, listener)
    seen: Seen = []
    lock = Lock()

    def pass_on(connection: socket.socket, onward: socket.socket, source: int, target: int) -> None:
        with connection, onward:
            while (message := channel.read_message(connection)) is not None:
                with lock:
                    seen.append([source, target, message])
                with contextlib.suppress(OSError):  # a rank that has ended reads no more, but what was sent counts
                    channel.write_message(onward, message)

    threads = []
    for target, listener in enumerate(listeners):
        address = channel.find(channel.DIRECT, 0, target)
        with listener:
            for _ in range(num_ranks - 1):
                source, connection = channel.answer(listener)
                onward = channel.call(address, source)
                threads.append(Thread(target=pass_on, args=(connection, onward, source, target)))
                threads[-1].start()
    for thread in threads:
        thread.join()
    return seen


def scales(next_scale: Answer, scale: float, growth_steps: int, were_finite: Sequence[bool]) -> list[Any]:
    """Return the answer's state after each of a series of steps; each step begins with the state before it."""
    num_good, states = 0, []
    for is_finite in were_finite:
        states.append(next_scale(scale, num_good, is_finite, growth_steps))
        require_values(next_scale, states[-1], "a pair of the scale and the number of good steps", 2)
        scale, num_good = states[-1]
    return states


def mean_gradients(answer: Answer, scale: float) -> list[list[Array] | None]:
    """Pass this rank's private 16-bit gradients of several steps to the answer; return its result for each step."""
    means = [answer([tf.constant(one) for one in gradients], scale) for gradients in places.private()]
    for mean in means:
        if mean is not None:
            require_values(answer, mean, "a list of gradients or None")
    return [None if mean is None else [np.array(one) for one in mean] for mean in means]
