"""Checks of lab 06's hand-written allreduces: the messages that a switch between the ranks saw, and the sums.

Each rank has numbers that no other rank knows, chosen so that a sum shows whose numbers it contains.
So each message of a ring can be compared with the numbers that the algorithm sends in that step. An answer gains
nothing by communicating outside the channel, because it must still send all messages, and they must be right.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, as_array, as_list, require_equal
from coursekit.checks.on_ranks import run_on_ranks
from coursekit.drivers import lab06
from coursekit.drivers.calls import Answer, call
from coursekit.errors import Cause

LARGEST = 1 << 20  # of the whole numbers; a sum of up to 16 is exact in float32, and two numbers are hardly ever equal
TIMEOUT_S = 10.0


class Talk(NamedTuple):
    """The messages between ranks in one run of an answer, and the results."""

    num_ranks: int
    own: Sequence[Any]  # what each rank had at the start
    results: Sequence[Any]  # what the answer returned on each rank
    left: Sequence[Any]  # the value that each rank had at the start, as it is after the run
    sent: Mapping[int, Sequence[tuple[int, Array]]]  # by rank, the target and numbers of each message, in order


def _numbers(shape: tuple[int, ...]) -> Array:
    return fresh_rng().integers(-LARGEST, LARGEST, shape).astype(np.float32)


def _talks(answer: Answer, owns: Sequence[list[Any]]) -> Iterator[Talk]:
    """Run the answer once for each entry of `owns`, the start values of all ranks; yield the `Talk` of each run.

    Each run is a separate launch, so that equal chunks are judged before chunks of unequal length can raise errors.
    """
    for own in owns:
        launch = {"wrapper": call, "ranks_per_node": 2, "timeout_s": TIMEOUT_S, "private": [*own, None]}
        *ranks, seen = run_on_ranks(lab06.talk, answer, len(own), num_ranks=len(own) + 1, **launch)
        sent = defaultdict(list)
        for source, target, numbers in seen:
            sent[source].append((target, np.ravel(numbers)))
        results, left = zip(*ranks)
        yield Talk(len(own), own, results, left, sent)


def check_naive(naive_allreduce: Answer, num_ranks: int) -> None:
    """Every rank sends its array to rank 0, and rank 0 sends the sum to every rank; nothing else is sent.

    Example: with the arrays (1, 2), (3, 4) and (5, 6), ranks 1 and 2 send theirs, and rank 0 sends (9, 12) twice.
    """
    owns = [[_numbers(shape) for _ in range(num_ranks)] for shape in ((2 * num_ranks,), (2 * num_ranks + 1, 2))]
    for talk in _talks(naive_allreduce, owns):
        _require_sum(talk)
        total = np.sum(talk.own, axis=0)
        for rank in range(num_ranks):
            targets = sorted(target for target, _ in talk.sent[rank])
            expected = [0] if rank else list(range(1, num_ranks))
            what = f"ranks to which rank {rank} sends, in ascending order"
            require_equal(targets, expected, what, "naive.wrong-targets")
        for rank in range(num_ranks):
            what = "its own array" if rank else "the sum over all ranks"
            for _, numbers in talk.sent[rank]:
                is_right = np.array_equal(numbers, np.ravel(talk.own[rank] if rank else total))
                message = f"expected rank {rank} to send {what}, got a message with other numbers"
                require(is_right, message, "naive.wrong-message")
                _require_type(numbers, talk, f"a message of rank {rank}")


def check_reduce_scatter(reduce_scatter: Answer, num_ranks: int) -> None:
    """After N - 1 steps on a ring, chunk (rank + 1) modulo N of each rank holds the sum over all ranks, in place."""
    for talk in _talks(reduce_scatter, _chunks(num_ranks)):
        _require_ring(talk, _partial_sums(talk)[: num_ranks - 1])
        for rank in range(num_ranks):
            mine = (rank + 1) % num_ranks
            _require_chunk(talk, rank, mine, np.sum([own[mine] for own in talk.own], axis=0), "sum over all ranks")


def check_allgather(allgather: Answer, num_ranks: int) -> None:
    """After N - 1 more steps, every rank has the finished chunks of all ranks, in place."""
    for talk in _talks(allgather, _chunks(num_ranks)):
        finished = [talk.own[(number - 1) % num_ranks][number] for number in range(num_ranks)]
        _require_ring(talk, [[np.concatenate(finished)] * num_ranks] * (num_ranks - 1))
        for rank in range(num_ranks):
            for number, chunk in enumerate(finished):
                _require_chunk(talk, rank, number, chunk, f"finished chunk of rank {(number - 1) % num_ranks}")


def _chunks(num_ranks: int) -> list[list[Any]]:
    """Return the chunks of each rank, of equal length in the first case and of unequal length in the second."""
    lengths = (num_ranks, 3 * num_ranks - 1)
    return [[np.array_split(_numbers((length,)), num_ranks) for _ in range(num_ranks)] for length in lengths]


def _require_chunk(talk: Talk, rank: int, number: int, expected: Array, what: str) -> None:
    """Require that a chunk of a rank holds the expected numbers at the end."""
    got = as_array(as_list(talk.left[rank], "the chunks")[number], f"chunk {number} on rank {rank}")
    to_left = [{target for target, _ in talk.sent[one]} == {(one - 1) % talk.num_ranks} for one in talk.sent]
    is_turned = talk.num_ranks > 2 and all(to_left)  # noqa: PLR2004  # with two ranks, left is right
    is_right, message = np.array_equal(got, expected), f"chunk {number} on rank {rank} is not the {what}"
    advice = "every rank sends to the left; send to the right, to (rank + 1) % N"
    require(is_right or not is_turned, f"{message}: {advice}", "ring.to-the-left")
    require(is_right, message, "chunk.wrong")


def check_ring(ring_allreduce: Answer, num_ranks: int) -> None:
    """Each rank sends 2(N - 1) messages of an N-th of the array to one neighbour, and all ranks get the sum.

    Example: if 3 ranks have 6 numbers each, every rank sends 4 messages of 2 numbers. In its first message, rank 0 may
    send only its own numbers. In its second, it may send sums of its own and the previous rank's numbers, and from then
    on only sums over all ranks.
    """
    shapes = ((num_ranks, 2), (5, num_ranks - 1), (num_ranks - 1,))  # divisible, not divisible, shorter than the ring
    for talk in _talks(ring_allreduce, [[_numbers(shape) for _ in range(num_ranks)] for shape in shapes]):
        _require_sum(talk)
        _require_ring(talk, _partial_sums(talk))


def _require_sum(talk: Talk) -> None:
    """Require that every rank has returned the sum of all arrays and has kept its own array unchanged."""
    total = np.sum(talk.own, axis=0)
    for rank, (result, own) in enumerate(zip(talk.results, talk.own)):
        got = as_array(result, f"the sum on rank {rank}")
        require_equal(got.shape, total.shape, f"shape of the sum on rank {rank}", "sum.wrong-shape")
        message, is_right = f"rank {rank} does not return the sum over all ranks", np.array_equal(got, total)
        require(is_right or not np.array_equal(got, own), f"{message}, but its own array", "sum.own")
        require(is_right, message, "sum.wrong")
    for rank, (left, own) in enumerate(zip(talk.left, talk.own)):
        kept = np.array_equal(as_array(left, f"the array of rank {rank}"), own)
        advice = "work on a copy, not on the array itself"
        require(kept, f"rank {rank} changes its own array: {advice}", "data.changed")


def _require_type(numbers: Array, talk: Talk, what: str) -> None:
    """Require the type of the ranks' numbers, because another type would change the sums or double the bytes."""
    require_equal(
        str(numbers.dtype), str(np.ravel(talk.own[0][0]).dtype), f"type of the numbers in {what}", "message.wrong-type"
    )


class Message(NamedTuple):
    """A message that a rank sends in one step of a ring, and what it may contain."""

    rank: int
    step: int
    numbers: Array
    allowed: Array  # the numbers that the rank may send in this step, besides zeros that pad the last chunk
    longest: int  # the most numbers in a chunk
    own: Sequence[Array]  # what each rank had at the start

    @property
    def owner(self) -> int | None:
        """The rank that had all these numbers at the start, or None."""
        return next((rank for rank, own in enumerate(self.own) if np.isin(self.numbers, own).all()), None)

    @property
    def is_foreign(self) -> bool:
        """Whether some of these numbers must not be sent in this step."""
        return not np.isin(self.numbers, [*self.allowed, 0.0]).all()

    @property
    def is_finished(self) -> bool:
        """Whether these numbers are sums over all ranks."""
        return bool(np.isin(self.numbers, np.sum(self.own, axis=0)).all())


# Faults of a message in a ring; the first that fits is reported. In the examples, each of three ranks sends to the next
# rank. The ranks have (1, 2, 4), (10, 20, 40) and (100, 200, 400), and each chunk is one number. In step 0, rank 1 may
# send 10, 20 or 40. In step 1, rank 0's number has been added, so rank 1 may send 11, 22 or 44. From step 2 on, it may
# send 111, 222 or 444.
FAULTS: dict[Cause, Callable[[Message], object]] = {
    # Example: rank 1 sends both 11 and 22 in step 1.
    Cause(
        "rank {one.rank} sends {one.numbers.size} numbers in step {one.step}: a chunk has at most {one.longest}",
        "ring.chunk-too-long",
    ): lambda one: one.numbers.size > one.longest,
    # Example: in step 1, rank 1 sends 10, because it has not added the number that it received; or it sends 1, because
    # it has replaced its own number by the received one.
    Cause(
        "in step {one.step}, rank {one.rank} sends wrong numbers: they are still rank {one.owner}'s own numbers",
        "ring.not-added",
    ): lambda one: one.is_foreign and one.owner is not None,
    # Example: rank 1 sends 111 in step 1. No rank can know this sum so early from the messages of the ring.
    Cause(
        "in step {one.step}, rank {one.rank} sends wrong numbers: they are already the finished sum",
        "ring.finished-early",
    ): lambda one: one.is_foreign and one.is_finished,
    # Example: rank 1 sends 21 in step 1, which is the sum of numbers from two chunks.
    Cause(
        "in step {one.step}, rank {one.rank} sends numbers that do not belong there", "ring.wrong-numbers"
    ): lambda one: one.is_foreign,
}


def _flat(talk: Talk) -> list[Array]:
    """Return what each rank had at the start, as one flat array."""
    return [np.concatenate([np.ravel(part) for part in own]) for own in talk.own]


def _predecessors(talk: Talk) -> list[list[int]]:
    """Require a ring; return, for each rank, the rank itself, its sender, the sender of its sender, and so on."""
    targets = [sorted({target for target, _ in talk.sent[rank]}) for rank in range(talk.num_ranks)]
    for rank, others in enumerate(targets):
        message = f"expected rank {rank} to send to one neighbour, but it sends to "
        require(len(others) == 1, message + (", ".join(map(str, others)) or "nobody"), "ring.no-neighbour")
    before = {target: rank for rank, (target,) in enumerate(targets)}
    ways = [[rank] for rank in range(talk.num_ranks)]
    for way in ways:
        while len(way) < talk.num_ranks and way[-1] in before:
            way.append(before[way[-1]])
        message = f"the ranks send to {targets}, which is not a ring through all ranks"
        require(len(set(way)) == talk.num_ranks, message, "ring.not-closed")
    return ways


def _partial_sums(talk: Talk) -> list[list[Array]]:
    """Return, by step of a ring allreduce and by rank, the numbers that the rank may send in that step."""
    ways, flat = _predecessors(talk), _flat(talk)
    steps = [min(step + 1, talk.num_ranks) for step in range(2 * (talk.num_ranks - 1))]
    return [[np.sum([flat[rank] for rank in way[:length]], axis=0) for way in ways] for length in steps]


def _require_ring(talk: Talk, allowed: Sequence[Sequence[Array]]) -> None:
    """Require that each rank sends its neighbour one chunk of the allowed numbers in each step, and nothing else."""
    _predecessors(talk)
    longest = -(-allowed[0][0].size // talk.num_ranks)  # the size of the longest chunk
    flat = _flat(talk)
    for rank in range(talk.num_ranks):
        sent = [numbers for _, numbers in talk.sent[rank]]
        what = f"number of messages that rank {rank} sends"
        expected = f"{'N - 1' if len(allowed) < talk.num_ranks else '2(N - 1)'} = {len(allowed)}"
        require_equal(len(sent), len(allowed), f"{what} (a ring needs {expected})", "ring.wrong-number")
        for step, (numbers, right) in enumerate(zip(sent, allowed)):  # the exercise counts steps from 0
            _require_type(numbers, talk, f"the message of rank {rank} in step {step}")
            message = Message(rank, step, numbers, right[rank], longest, flat)
            for cause, fits in FAULTS.items():
                require(not fits(message), cause.words.format(one=message), cause.code)
        _require_carried(rank, sent, [right[rank] for right in allowed], talk.num_ranks)


def _require_carried(rank: int, sent: Sequence[Array], allowed: Sequence[Array], num_ranks: int) -> None:
    """Require that a rank sends all chunks except one in each half of the steps.

    If it sends fewer, the ranks must have used another channel as well.
    Example: rank 1 in the examples of `FAULTS` may send 20 in step 0 and 11 in step 1, which are numbers from two of
    the three chunks. If it sends zeros in one of these steps, only one chunk has been sent, and its neighbour cannot
    know the sum.
    """
    num_steps, num_numbers = num_ranks - 1, allowed[0].size
    fewest = num_numbers - -(-num_numbers // num_ranks)  # without the longest chunk
    for first in range(0, len(allowed), num_steps):
        half = slice(first, first + num_steps)
        carried = [np.isin(right, numbers) for numbers, right in zip(sent[half], allowed[half])]
        num_carried = np.count_nonzero(np.any(carried, axis=0))
        message = f"rank {rank} sends only {num_carried} of {num_numbers} numbers in the steps from {first} on"
        advice = f"expected at least {fewest}, the numbers of all chunks but one"
        require(num_carried >= fewest, f"{message}: {advice}", "ring.chunk-missing")
