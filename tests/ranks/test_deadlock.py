"""A certain deadlock is told long before the deadline; whoever can still go on is left alone."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.ranks import RankError, RankTimeoutError, deadlock
from coursekit.ranks.deadlock import Pulses, RankMark, is_at_rest
from coursekit.ranks.request import DUMP_ALL_AT_REST, DUMP_AT_REST

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

FAR_S = 600.0  # a deadline that no test waits for
LONG_S = 4.0  # longer than it takes to be certain


def in_different_collectives():
    """Broadcast on rank 0, while the others average."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 0:
        hvd.broadcast_object("start", root_rank=0)
    else:
        hvd.allreduce(np.zeros(3))


def init_on_rank_0():
    """Initialise Horovod on rank 0 alone; the others return."""
    import horovod.tensorflow as hvd

    if os.environ["HOROVOD_RANK"] == "0":
        hvd.init()


def fit(dataset):
    """Train the smallest of networks on a data set of these ranks, with metrics averaged when an epoch ends."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    model.compile(optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")
    model.fit(dataset, verbose=0, callbacks=[hvd.callbacks.MetricAverageCallback()])


def makes_unequal_steps():
    """Train on rank 0 for one step more than on rank 1."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    hvd.init()
    samples = tf.data.Dataset.range(4 - hvd.rank())
    pairs = samples.map(lambda number: (tf.fill([1], number), [1.0]), num_parallel_calls=tf.data.AUTOTUNE)
    fit(pairs.batch(1).prefetch(tf.data.AUTOTUNE))


def estimator_makes_unequal_steps():
    """Train with an Estimator on rank 0 for one step more than on rank 1, which broadcasts then."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    from coursekit import estimator  # noqa: F401  # TensorFlow has none since 2.16

    hvd.init()

    def model(features, labels, mode):
        weight = tf.compat.v1.get_variable("weight", [1])
        loss = tf.reduce_mean((features * weight - labels) ** 2)
        optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.GradientDescentOptimizer(0.1))
        step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    def batches():
        return tf.data.Dataset.from_tensors((tf.ones([4, 1]), tf.ones([4, 1]))).repeat()

    tf.estimator.Estimator(model).train(batches, steps=3 - hvd.rank())
    hvd.broadcast_object("trained", root_rank=0)


@pytest.mark.parametrize(
    ("function", "num_ranks", "story"),
    [
        (
            in_different_collectives,
            3,
            [
                "  rank 0 waits in hvd.broadcast_object",
                "  rank 1 waits in hvd.allreduce",
                "  rank 2 waits in hvd.allreduce",
                "  A collective completes only when every rank calls it: these ranks wait in different collectives.",
            ],
        ),
        (
            init_on_rank_0,
            2,
            [
                "  rank 0 waits in hvd.init",
                "  rank 1 has finished",
                "  A collective completes only when every rank calls it: rank 0 waits for rank 1.",
            ],
        ),
        (
            makes_unequal_steps,
            2,
            [
                "  rank 0 is inside a compiled TensorFlow step, where gradients or variables may be exchanged",
                "  rank 1 waits in hvd.allreduce",
                "  A collective completes only when every rank calls it: these ranks wait in different collectives.",
                "  Do all ranks make the same number of steps, with the same callbacks?",
            ],
        ),
        (
            estimator_makes_unequal_steps,
            2,
            [
                "  rank 0 is inside a compiled TensorFlow step, where gradients or variables may be exchanged",
                "  rank 1 waits in hvd.broadcast_object",
                "  A collective completes only when every rank calls it: these ranks wait in different collectives.",
            ],
        ),
    ],
)
def test_a_certain_deadlock_is_told_at_once(function, num_ranks, story):
    """Ranks in different collectives, or left by one that has returned, will never meet: no deadline is needed.

    One of the collectives may be that of the gradients, inside a compiled step, as where ranks make unequal steps.
    """
    with pytest.raises(RankTimeoutError) as caught:
        ranks.run(function, num_ranks=num_ranks, timeout_s=FAR_S)
    first, *lines = str(caught.value).split("\n\n")[0].splitlines()

    assert first == "deadlock: no rank can continue; all ranks were stopped. Where each rank was:"
    assert [line.split(" (")[0] for line in lines] == story


def sleeps_first():
    """Sleep on rank 1 before it averages."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 1:
        time.sleep(LONG_S)
    return float(hvd.allreduce(np.float64(hvd.rank()), op=hvd.Sum))


def is_helped_by_a_thread():
    """Wait in two collectives, the second of which a thread of rank 0 calls later."""
    import horovod.tensorflow as hvd

    hvd.init()

    def average_later():
        time.sleep(LONG_S)
        hvd.allreduce(np.float64(1), name="late")

    if hvd.rank() == 0:
        thread = threading.Thread(target=average_later)
        thread.start()
        hvd.broadcast(np.float64(1), root_rank=0, name="early")
        thread.join()
    else:
        hvd.allreduce(np.float64(1), name="late")
        hvd.broadcast(np.float64(1), root_rank=0, name="early")
    return 1.0


def waits_for_a_generator():
    """Wait on rank 1, inside a compiled step, for samples that Python makes late; rank 0 averages metrics meanwhile."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()

    def samples():
        yield [1.0], [1.0]
        if hvd.rank() == 1:
            time.sleep(LONG_S)

    spec = tf.TensorSpec([1])
    fit(tf.data.Dataset.from_generator(samples, output_signature=(spec, spec)).batch(1))
    return 1.0


def waits_for_a_file(path):
    """Wait on rank 1, inside a compiled step, for a file that TensorFlow opens; rank 0 averages metrics meanwhile."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    samples = tf.data.Dataset.from_tensors(([1.0], [1.0]))
    if hvd.rank() == 1:
        more = tf.data.TextLineDataset(str(path)).map(lambda line: ([tf.strings.to_number(line)], [1.0]))
        samples = samples.concatenate(more)
        path.with_name("begun").touch()
    fit(samples.batch(1))


@pytest.mark.parametrize("function", [sleeps_first, is_helped_by_a_thread, waits_for_a_generator])
def test_who_can_still_go_on_is_left_alone(function):
    """A rank that sleeps, or has a thread that comes later is not stuck: the run ends as it should."""
    assert ranks.run(function, timeout_s=FAR_S) == [1.0, 1.0]


def test_who_reads_in_a_compiled_step_is_left_alone(tmp_path):
    """TensorFlow's own threads read there, which no Python stack shows: the kernel tells it.

    A pipe opens when its writer comes. It has no positions, so TensorFlow fails then: the rank did go on.
    """
    os.mkfifo(tmp_path / "samples")
    writer = f"until [ -e begun ]; do sleep 0.1; done; sleep {3 * LONG_S}; exec > samples"  # no child of a rank
    with subprocess.Popen(["sh", "-c", writer], cwd=tmp_path) as process:
        try:
            with pytest.raises(RankError, match=r"^rank 1 raised InvalidArgumentError[^$]*Illegal seek"):
                ranks.run(waits_for_a_file, tmp_path / "samples", timeout_s=FAR_S)
        finally:
            process.kill()


class ScriptedJob:
    """Ranks whose stacks are known: a race between writing one and coming to rest cannot be provoked."""

    def __init__(self, *dumps):
        self.dumps = list(dumps)
        self.asked = []

    def ask_for_stacks(self, command):
        """Go on to the next stacks; the last ones stay."""
        self.asked.append(command)

    def new_stacks(self):
        """Return the stacks of all ranks."""
        return self.dumps[min(len(self.asked), len(self.dumps)) - 1]


def stack(*functions):
    """Return what a rank writes that stands in these functions of Horovod, the innermost first."""
    lines = [f'  File "/horovod/tensorflow/mpi_ops.py", line 1 in {name}' for name in functions]
    worker = f'  File "{deadlock.__file__.replace("deadlock.py", "worker.py")}", line 1 in _call'
    return "\n".join(["Current thread 0x1 (most recent call first):", *lines, worker, ""])


def test_a_rank_that_moved_after_it_wrote_its_stack_is_asked_again():
    """Stacks that were out of date when they were read are no reason never to look again."""
    late, there = [stack("start"), stack("allreduce")], [stack("broadcast"), stack("allreduce")]
    job = ScriptedJob(late, there)
    watch = deadlock.DeadlockWatch(job)
    found = []
    for number in range(12):
        mark = RankMark(is_quiet=True, num_turns=1, num_other_turns=100 * number, is_still=False)
        found.append(watch.is_certain(0.5 * number, {0: mark, 1: mark}, ()))

    assert any(found)
    assert job.asked[:3] == [DUMP_AT_REST, DUMP_AT_REST, DUMP_ALL_AT_REST]


def test_stacks_that_cannot_be_read_are_asked_for_less_and_less():
    """A rank that writes something else would otherwise be asked in every pulse; for a minute that is a dozen times."""
    job = ScriptedJob(["nothing", "nothing"])
    watch = deadlock.DeadlockWatch(job)
    mark = RankMark(num_turns=1, num_other_turns=1, is_quiet=True, is_still=True)
    assert not any(watch.is_certain(0.1 * pulse, {0: mark, 1: mark}, []) for pulse in range(600))
    assert 2 <= len(job.asked) <= 12
    assert {*job.asked} == {DUMP_AT_REST}


NUM_PULSES, MAX_NUM_PULSES = 4, 40
# The main thread waits for a second one, which again and again is busy for so many seconds and sleeps for so many.
PROGRAM = """
import sys, threading, time

def work(busy_s, idle_s):
    print(flush=True)
    while True:
        end_s = time.perf_counter() + busy_s
        while time.perf_counter() < end_s:
            pass
        time.sleep(idle_s)

thread = threading.Thread(target=work, args=map(float, sys.argv[1:]))
thread.start()
thread.join()
"""

# What Horovod's thread does.
LOOKER = """
def look():
    while True:
        time.sleep(0.002)

threading.Thread(target=look).start()
"""


@contextmanager
def running(program, *args):
    """Run a Python program, from the line that it writes when it has begun until the end of the block."""
    words = [sys.executable, "-c", program, *args]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            process.stdout.readline()
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def next_mark(process, pulses):
    """Return what the next pulse tells of a process, which goes on until then."""
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(pulses.due_in_s())
    return pulses.take().marks[0]


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "is_quiet"),
    [
        pytest.param("0.0001", "0.002", True, id="looks-for-news"),
        pytest.param("1000", "0", False, id="computes"),
        pytest.param("0.1", "1000", True, id="has-computed"),
    ],
)
def test_who_only_looks_for_news_rests(busy_s, idle_s, is_quiet):
    """A thread that takes a small part of a processor does nothing; one that computes is never seen as quiet."""
    with running(PROGRAM, busy_s, idle_s) as process:
        pulses, marks = Pulses({process.pid: 0}), []
        while len(marks) < NUM_PULSES or (marks[-1].is_quiet is not is_quiet and len(marks) < MAX_NUM_PULSES):
            marks.append(next_mark(process, pulses))

    assert marks[-1].is_quiet is is_quiet
    assert marks[-1].num_turns == marks[-2].num_turns


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "rests"),
    [pytest.param("1000", "0", False, id="computes"), pytest.param("0", "1000", True, id="sleeps")],
)
def test_only_who_sleeps_as_a_whole_is_at_rest(busy_s, idle_s, rests):
    """A second thread that runs counts, too: what it is just making would be written with the first one's frames."""
    with running(PROGRAM, busy_s, idle_s) as process:
        while rests and not is_at_rest(process.pid):
            time.sleep(0.1)
        assert [is_at_rest(process.pid) for _ in range(20)] == [rests] * 20


@pytest.mark.parametrize(
    ("wait", "is_still"),
    [
        pytest.param("queue.Queue().get", True, id="waits-for-a-thread"),
        pytest.param("lambda: queue.Queue().get(timeout=1000)", True, id="waits-for-a-thread-for-so-long"),
        pytest.param("lambda: subprocess.run(['sleep', '1000'])", False, id="waits-for-a-child"),
        pytest.param("lambda: time.sleep(1000)", False, id="sleeps"),
        pytest.param("lambda: os.read(os.pipe()[0], 1)", False, id="reads"),
        pytest.param("multiprocessing.Semaphore(0).acquire", False, id="waits-for-a-process"),
    ],
)
def test_who_waits_for_a_thread_of_its_own_is_still(wait, is_still):
    """Nobody can wake such a rank but itself; whatever comes from elsewhere may go on. One thread looks for news."""
    imports = "import multiprocessing, os, queue, subprocess, threading, time"
    with running("\n".join([imports, LOOKER, f"wait = {wait}", "print(flush=True)", "wait()"])) as process:
        pulses, seen = Pulses({process.pid: 0}), []
        pulses.take()  # it may just have come to rest
        while len(seen) < NUM_PULSES or (is_still and not any(seen) and len(seen) < MAX_NUM_PULSES):
            seen.append(next_mark(process, pulses).is_still)

    assert any(seen) is is_still
