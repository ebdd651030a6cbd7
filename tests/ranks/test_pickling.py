"""What travels to ranks: Horovod's own functions under any name, and a word on what cannot."""

import functools
import sys
import threading

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.ranks.pickling import dumps

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

lock = threading.Lock()


def uses_lock():
    """Use what cannot travel, by its global name."""
    return lock


def uses_itself():
    """Use a function that uses this one."""
    return uses_itself, uses_lock


def holds(own):
    """Return a function that holds this value."""
    return lambda: own


def test_names_imported_from_horovod_travel():
    """Functions of `from horovod.tensorflow import …`, partials of them and the group of all ranks work on ranks."""
    from horovod.tensorflow import allreduce, global_process_set, init, rank, size
    from horovod.tensorflow.keras import local_rank

    share = functools.partial(divmod, 7)
    ask = functools.partial(rank)

    def facts():
        init()
        total = allreduce(np.float32(ask()), average=False, process_set=global_process_set)
        return rank(), local_rank(), share(size()), float(total)

    assert ranks.run(facts, num_ranks=2, ranks_per_node=1) == [(0, 0, (3, 1), 1.0), (1, 0, (3, 1), 1.0)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lock, "a lock"),
        ((len, (lock,), {}), "a lock"),
        ((len, (), {"key": lock}), "'key' (a lock)"),
        (uses_lock, "'lock' (a lock)"),
        (uses_itself, "'lock' (a lock)"),
        (functools.partial(uses_lock, 1), "'lock' (a lock)"),
        ({"step": uses_lock}, "'lock' (a lock)"),
        (holds(lock), "'own' (a lock)"),
    ],
)
def test_what_cannot_travel_is_named(value, words):
    """By the name that the student gave it, also where a function only uses it."""
    with pytest.raises(TypeError) as refused:
        dumps(value)
    assert str(refused.value).startswith(f"{words} ")
