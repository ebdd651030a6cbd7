"""Allreduces by hand on real ranks: right ones of any form pass, and who speaks past the channel is told."""

from __future__ import annotations

import sys

import cloudpickle
import numpy as np
import pytest

from coursekit.checks import CheckError, messages
from coursekit.checks.on_ranks import run_here
from coursekit.drivers import places, switch

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def around(direction, start):
    """Return the two halves of a ring in one direction; `start` chunks after its own a rank begins."""

    def both(channel, chunks, shift, change):
        rank, size = channel.rank, channel.num_ranks
        for step in range(size - 1):
            channel.send(chunks[(rank + shift - direction * step) % size], (rank + direction) % size)
            number = (rank + shift - direction * (step + 1)) % size
            change(chunks, number, channel.receive((rank - direction) % size))

    def add(chunks, number, numbers):
        chunks[number] += numbers

    def put(chunks, number, numbers):
        chunks[number] = numbers

    def reduce_scatter(channel, chunks):
        both(channel, chunks, start, add)

    def allgather(channel, chunks):
        both(channel, chunks, start + direction, put)

    return reduce_scatter, allgather


def ring(direction=1, start=0, pad=False):
    """Return an allreduce on a ring."""
    halves = around(direction, start)

    def allreduce(channel, array):
        flat = array.ravel().copy()
        if pad:
            flat = np.append(flat, np.zeros(-len(flat) % channel.num_ranks, flat.dtype))
        chunks = [chunk.copy() for chunk in np.array_split(flat, channel.num_ranks)]
        for half in halves:
            half(channel, chunks)
        return np.concatenate(chunks)[: array.size].reshape(array.shape)

    return allreduce


def by_horovod(_channel, array):
    """Let Horovod do it."""
    import horovod.tensorflow as hvd  # on ranks only

    hvd.init()
    return hvd.allreduce(array, op=hvd.Sum)


def by_files(message):
    """Return an allreduce through the folder that all ranks share, which sends so many messages for show."""

    def allreduce(channel, array):
        shared, rank, size = places.here().shared, channel.rank, channel.num_ranks
        np.save(shared / f"{array.size}-{rank}.part.npy", array)
        (shared / f"{array.size}-{rank}.part.npy").rename(shared / f"{array.size}-{rank}.npy")
        while not all((shared / f"{array.size}-{other}.npy").exists() for other in range(size)):
            pass
        for _ in range(2 * (size - 1)):
            channel.send(message(array.ravel(), size), (rank + 1) % size)
        return sum(np.load(shared / f"{array.size}-{other}.npy") for other in range(size))

    return allreduce


@pytest.mark.parametrize(("direction", "start", "pad"), [(1, 0, False), (-1, 2, False), (1, 1, True)])
def test_a_ring_may_turn_either_way_and_begin_anywhere(direction, start, pad):
    """Directions, first chunks and zeros that fill the last chunk are the student's choice."""
    messages.check_ring(ring(direction, start, pad=pad), num_ranks=3)


def test_halves_of_a_ring_pass_where_their_results_lie_in_the_right_chunks():
    """To the right and to the left, chunk (rank + 1) is the finished one."""
    messages.check_reduce_scatter(around(1, 0)[0], num_ranks=3)
    messages.check_allgather(around(1, 0)[1], num_ranks=3)
    with pytest.raises(CheckError, match="chunk 1 on rank 0 is not the sum"):
        messages.check_reduce_scatter(around(1, 1)[0], num_ranks=3)


@pytest.mark.parametrize(
    ("forged", "words"),
    [
        (by_files(lambda flat, size: flat[: len(flat) // size]), "do not belong there: they are rank 0's own"),
        (by_files(lambda flat, _: flat[:0]), "from step 1 on rank 0 sends 0 numbers, expected 4 of 6 at least"),
        (by_files(lambda flat, _: 0 * flat[:1]), "from step 1 on rank 0 sends 0 numbers, expected 4 of 6 at least"),
        (by_horovod, "own array"),
    ],
)
def test_who_talks_past_the_channel_is_not_paid(forged, words):
    """Right sums that came otherwise fail, whatever is sent for show."""
    with pytest.raises(CheckError, match=words):
        messages.check_ring(forged, num_ranks=3)


def test_the_switch_sees_each_message_that_a_channel_counts():
    """What the last rank saw are number, target and bytes of all that the others sent."""

    def answer(channel, value):
        for other in range(channel.num_ranks):
            if other != channel.rank:
                channel.send(np.full(channel.rank + 1, value, np.float16), other)
        got = [channel.receive(other)[0] for other in range(channel.num_ranks) if other != channel.rank]
        return [float(sum(got)), channel.num_messages, channel.num_bytes]

    *results, (seen,) = run_here(switch.talk, answer, 3, 1, num_ranks=4, private=[[1.0], [2.0], [4.0], None])
    assert [result for ((result, _),) in results] == [[6.0, 2, 4], [5.0, 2, 8], [3.0, 2, 12]]
    told = sorted((source, target, numbers.tolist()) for source, target, numbers in seen)
    sent = {0: [1.0], 1: [2.0] * 2, 2: [4.0] * 3}
    assert told == [(one, other, sent[one]) for one in range(3) for other in range(3) if one != other]
