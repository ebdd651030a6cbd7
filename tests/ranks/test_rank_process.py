"""Inside a rank: random numbers, threads, and what comes of exceptions and odd results."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.ranks import RankError
from coursekit.ranks.fork_client import shared
from coursekit.ranks.rank_process import look_for_hidden_gpus

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

FOR_EVER_S = 3600
NUM_BYTES = 10_000_000  # more than a pipe holds


def draw():
    """Return one number of every generator that lab code meets."""
    import tensorflow as tf

    return {
        "random": random.random(),  # noqa: S311
        "numpy": float(np.random.rand()),  # noqa: NPY002
        "tensorflow": float(tf.random.uniform([])),
        "initialiser": float(tf.keras.initializers.GlorotUniform()((1, 1))[0, 0]),
        "layer": float(tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))]).get_weights()[0][0, 0]),
    }


def test_every_rank_of_every_run_draws_its_own_random_numbers_and_a_seed_repeats_them():
    """No two ranks and no two runs share a number, whichever generator draws it, but two runs of the same seed."""
    draws = [*ranks.run(draw), *ranks.run(draw)]
    first, again, other = (ranks.run(draw, seed=seed) for seed in (7, 7, 8))
    assert first == again
    for source in draws[0]:
        assert len({draw[source] for draw in [*draws, *first, *other]}) == 8, source


def thread_facts():
    """Return TensorFlow's thread settings, and how many threads a NumPy product used."""
    import tensorflow as tf

    matrix = np.ones((600, 600))
    matrix @ matrix
    num_threads = len(list(Path("/proc/self/task").iterdir()))
    threads = tf.config.threading
    return threads.get_intra_op_parallelism_threads(), threads.get_inter_op_parallelism_threads(), num_threads


def cores_of_rank() -> list[int]:
    """Return the cores that this rank may use."""
    return sorted(os.sched_getaffinity(0))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core cannot be shared out")
def test_ranks_that_are_bound_share_the_cores_out():
    """Two bound ranks have disjoint halves; ranks that are not bound, or more of them than cores, have all."""
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2

    assert ranks.run(cores_of_rank, num_ranks=2, bind_cores=True) == [cores[:half], cores[half : 2 * half]]
    assert ranks.run(cores_of_rank, num_ranks=2) == [cores, cores]
    os.sched_setaffinity(0, cores[:1])  # a server started now has one core for two ranks
    try:
        shared.close()
        assert ranks.run(cores_of_rank, num_ranks=2, bind_cores=True) == [cores[:1], cores[:1]]
    finally:
        os.sched_setaffinity(0, cores)
        shared.close()


@pytest.mark.parametrize(("settings", "num_threads"), [({}, 1), ({"num_threads": 2}, 2), ({"num_threads": 0}, 0)])
def test_a_rank_computes_with_one_thread_unless_told(settings, num_threads):
    """TensorFlow gets the number asked for (0 leaves it to TensorFlow); NumPy always computes in one thread."""
    assert ranks.run(thread_facts, num_ranks=1, **settings) == [(num_threads, num_threads, 1)]


NO_GPU = (
    "E0000 00:00:1795701660.579114    6862 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: "
    "Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
)
NO_DRIVER = (
    "E0000 00:00:1795702523.913078   10581 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: "
    "Failed call to cuInit: UNKNOWN ERROR (303)\n"
)
OTHER = "ImportWarning: IPv6 is off\n"


@pytest.mark.parametrize(
    ("environ", "with_cuda", "said"),
    [
        ({"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}, True, OTHER),
        ({"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "0"}, True, ""),
        ({"CUDA_VISIBLE_DEVICES": "0"}, True, ""),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, False, ""),
    ],
)
def test_gpus_that_are_hidden_are_no_error(monkeypatch, capfd, environ, with_cuda, said):
    """A TensorFlow for GPUs logs that it finds none: not where the kit hides them, unless all of its log is wanted."""
    tensorflow = SimpleNamespace(
        test=SimpleNamespace(is_built_with_cuda=lambda: with_cuda),
        config=SimpleNamespace(list_physical_devices=lambda _: os.write(2, (NO_GPU + OTHER + NO_DRIVER).encode())),
    )
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    monkeypatch.setattr(os, "environ", environ)
    look_for_hidden_gpus()
    assert capfd.readouterr().err == said


def fail_on_rank_0():
    """Raise on rank 0, while the other ranks would sleep for long."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 0:
        raise ValueError("own words")  # the line that must be quoted
    time.sleep(FOR_EVER_S)


def test_an_exception_ends_the_other_ranks():
    """The error carries rank, type and the rank's own traceback with its source line; nobody waits for the others."""
    with pytest.raises(RankError) as caught:
        ranks.run(fail_on_rank_0, num_ranks=3, timeout_s=FOR_EVER_S)
    assert (caught.value.code, caught.value.rank, caught.value.error_type) == ("rank.raised", 0, "ValueError")
    assert "# the line that must be quoted" in str(caught.value)
    assert "/rank_process.py" not in str(caught.value)


class Stubborn(Exception):  # noqa: N818  # a student's
    """An exception, or a result, that pickles and does not unpickle: its arguments are not those of its class."""

    def __init__(self, number, words):
        super().__init__(words)
        self.number = number


class Unwilling(Exception):  # noqa: N818  # as above
    """An exception, or a result, that refuses to be pickled."""

    def __reduce__(self):
        raise ValueError("not me")


def test_a_result_that_cannot_be_read_is_one_sentence():
    """It ends no notebook, names the rank, and hides no other rank's failure."""

    def give(failing=None):
        if os.environ["HOROVOD_RANK"] == failing:
            time.sleep(0.5)  # the other has reported by then
            raise KeyError("the cause")
        return Stubborn(1, "words")

    with pytest.raises(RankError, match=r"\(TypeError: .*'words'") as caught:
        ranks.run(give)
    assert (caught.value.code, "\n" in str(caught.value)) == ("result.not-readable", False)
    with pytest.raises(RankError) as caught:
        ranks.run(give, "1")
    assert (caught.value.rank, caught.value.error_type) == (1, "KeyError")


def raise_without_words():
    """Raise an exception whose own methods raise, as a student's class may."""

    class NoWordsError(Exception):
        def __str__(self):
            raise ValueError

        __repr__ = __str__

    raise NoWordsError


@pytest.mark.parametrize(
    ("end", "code", "fact"),
    [
        (lambda: sys.exit(3), "rank.raised", "SystemExit"),
        (lambda: os._exit(3), "rank.ended", "3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "rank.killed", "SIGKILL"),
        (lambda: os.kill(os.getpid(), 40), "rank.crashed", r"SIGRTMIN\+6"),
        (raise_without_words, "rank.raised", "NoWordsError"),
        (threading.Lock, "rank.raised", "a lock"),
        (lambda: Unwilling("words"), "rank.raised", r"a Unwilling.*ValueError: not me"),
    ],
)
def test_every_odd_end_of_a_rank_has_its_words(end, code, fact):
    """Ends that leave no exception, and results that cannot travel, are told apart."""

    def one_ends():
        if os.environ["HOROVOD_RANK"] == "0":
            return end()
        time.sleep(FOR_EVER_S)
        return None

    with pytest.raises(RankError, match=fact) as caught:
        ranks.run(one_ends)
    assert (caught.value.code, caught.value.rank) == (code, 0)


def die_while_sending():
    """Return a large result on rank 1, and be killed when half of it is sent; rank 0 would sleep for long."""
    if os.environ["HOROVOD_RANK"] == "0":
        time.sleep(FOR_EVER_S)
    send = Connection._send  # noqa: SLF001  # there is no other moment between two bytes

    def send_half(self, data, **options):
        is_result = len(data) >= NUM_BYTES
        send(self, data[: len(data) // 2] if is_result else data, **options)
        if is_result:
            os.kill(os.getpid(), signal.SIGKILL)

    Connection._send = send_half  # noqa: SLF001
    return bytes(NUM_BYTES)


def test_a_rank_that_dies_while_sending_its_result_does_not_hang_the_run():
    """Half a result is not a result, and its end is noticed although the other rank lives on."""
    with pytest.raises(RankError) as caught:
        ranks.run(die_while_sending)
    assert (caught.value.code, caught.value.rank) == ("rank.killed", 1)


def leave_early():
    """Rank 1 returns; rank 0 calls one more allreduce."""
    import horovod.tensorflow as hvd

    hvd.init()
    hvd.allreduce(np.ones(1))
    if hvd.rank() == 0:
        hvd.allreduce(np.zeros(2))


def test_a_rank_whose_peer_finished_early_is_told_so():
    """A number of collectives that differs between ranks ends in a sentence about it, without the deadline."""
    with pytest.raises(RankError) as caught:
        ranks.run(leave_early, timeout_s=FOR_EVER_S)
    assert (caught.value.code, caught.value.rank) == ("collective.peer-finished", 0)
    assert "hvd.allreduce(np.zeros(2))" in str(caught.value)


def test_temporary_files_of_ranks_are_gone_after_the_run():
    """Ranks have a temporary folder of their own, and nothing that they or TensorFlow leave there survives."""

    def leave_a_file():
        import tempfile

        import tensorflow as tf

        @tf.function
        def compiled(x):
            return x + 1 if x > 0 else x  # TensorFlow writes the code that it generates from this to a file

        compiled(tf.constant(1.0))
        with tempfile.NamedTemporaryFile(delete=False) as file:
            folder = Path(file.name).parent
        return str(folder), any(folder.glob("__autograph_generated_file*"))

    first, second = ranks.run(leave_a_file, num_ranks=2)

    assert first == second == (first[0], True)
    assert not Path(first[0]).exists()
