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
from coursekit.ranks import RankTimeoutError, deadlock
from coursekit.ranks.deadlock import DeadlockWatch, State
from coursekit.ranks.protocol import Activity, RankSample, Sample
from coursekit.ranks.rank_monitor import RankMonitor, is_asleep

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


COMPILED, BROADCAST, ALLREDUCE = (
    "is inside a compiled TensorFlow step",
    "waits in hvd.broadcast_object",
    "waits in hvd.",
)


@pytest.mark.parametrize(
    ("function", "num_ranks", "positions"),
    [
        (in_different_collectives, 3, [BROADCAST, ALLREDUCE, ALLREDUCE]),
        (init_on_rank_0, 2, ["waits in hvd.init", "has finished"]),
        (makes_unequal_steps, 2, [COMPILED, ALLREDUCE]),
    ],
)
def test_a_certain_deadlock_ends_the_run_at_once(function, num_ranks, positions):
    """Ranks in different collectives, or left by one that has returned, will never meet: no deadline is needed.

    One of the collectives may be that of the gradients, inside a compiled step, as where ranks make unequal steps.
    """
    with pytest.raises(RankTimeoutError) as caught:
        ranks.run(function, num_ranks=num_ranks, timeout_s=FAR_S)

    assert caught.value.code == "ranks.deadlock"
    for rank, position in enumerate(positions):
        assert f"\n  rank {rank} {position}" in str(caught.value)


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


@pytest.mark.parametrize("function", [sleeps_first, is_helped_by_a_thread, waits_for_a_generator])
def test_who_can_still_go_on_is_left_alone(function):
    """A rank that sleeps, or has a thread that comes later is not stuck: the run ends as it should."""
    assert ranks.run(function, timeout_s=FAR_S) == [1.0, 1.0]


class ScriptedJob:
    """Ranks whose stacks are known: a race between writing one and coming to rest cannot be provoked."""

    def __init__(self, *dumps):
        self.dumps = list(dumps)
        self.asked = []

    def ask_for_stacks(self, question):
        """Go on to the next stacks; the last ones stay."""
        self.asked.append(question.all_threads)

    def new_stacks(self):
        """Return the stacks of all ranks."""
        return self.dumps[min(len(self.asked), len(self.dumps)) - 1]


def stack(*functions):
    """Return what a rank writes that stands in these functions of Horovod, the innermost first."""
    lines = [f'  File "/horovod/tensorflow/mpi_ops.py", line 1 in {name}' for name in functions]
    worker = f'  File "{deadlock.__file__.replace("deadlock.py", "rank_process.py")}", line 1 in _call'
    return "\n".join(["Current thread 0x1 (most recent call first):", *lines, worker, ""])


BROADCAST_AND_ALLREDUCE = [stack("broadcast"), stack("allreduce")]


def states(watch, activities, tick_s=0.5):
    """Return the states of a watch after samples of two ranks that never move, which do these things."""
    found = []
    for number, activity in enumerate(activities):
        one = RankSample(activity, for_s=tick_s * number, num_timeslices=1, num_other_timeslices=100 * number)
        found.append(watch.step(Sample(tick_s * number, {0: one, 1: one}), returned=()))
    return found


def test_the_example_of_the_states():
    """As the head of the module has it: a rank computes, then both are quiet, in collectives of two kinds."""
    watch = DeadlockWatch(ScriptedJob(BROADCAST_AND_ALLREDUCE))
    found = states(watch, [Activity.COMPUTES, Activity.COMPUTES, *[Activity.QUIET] * 4])

    assert found == [State.WATCHING] * 2 + [State.ASKED, State.SUSPECTED, State.ASKED_AGAIN, State.CERTAIN]


def test_a_rank_that_computes_again_is_watched_again():
    """Whatever was suspected, it can continue."""
    for num_quiet in range(1, 4):
        watch = DeadlockWatch(ScriptedJob(BROADCAST_AND_ALLREDUCE))
        assert states(watch, [*[Activity.QUIET] * num_quiet, Activity.COMPUTES])[-1] is State.WATCHING


def test_a_rank_that_moved_after_it_wrote_its_stack_is_asked_again():
    """Stacks that were out of date when they were read are no reason never to ask again."""
    job = ScriptedJob([stack("start"), stack("allreduce")], BROADCAST_AND_ALLREDUCE)

    assert State.CERTAIN in states(DeadlockWatch(job), [Activity.QUIET] * 12)
    assert job.asked[:3] == [False, False, True]


def test_stacks_that_cannot_be_read_are_asked_for_less_and_less():
    """A rank that writes something else would otherwise be asked in every sample; in a minute that is a dozen times."""
    job = ScriptedJob(["nothing", "nothing"])
    found = states(DeadlockWatch(job), [Activity.BLOCKED] * 600, tick_s=0.1)

    assert {*found} == {State.WATCHING, State.ASKED}
    assert 2 <= len(job.asked) <= 12


NUM_SAMPLES, MAX_NUM_SAMPLES = 4, 40
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
POLL = """
def poll():
    while True:
        time.sleep(0.002)

threading.Thread(target=poll).start()
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


def next_sample(process, sampler):
    """Return what the next sample has of a process, which goes on until then."""
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(sampler.due_in_s())
    return sampler.take().ranks[0]


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "computes"),
    [
        pytest.param("0.0001", "0.002", False, id="polls"),
        pytest.param("1000", "0", True, id="computes"),
        pytest.param("0.1", "1000", False, id="has-computed"),
    ],
)
def test_a_rank_whose_second_thread_only_polls_is_quiet(busy_s, idle_s, computes):
    """A thread that takes a small part of a processor does nothing; one that computes is never seen as quiet."""
    with running(PROGRAM, busy_s, idle_s) as process:
        sampler, found = RankMonitor({process.pid: 0}), []
        while len(found) < NUM_SAMPLES or (
            (found[-1].activity is Activity.COMPUTES) is not computes and len(found) < MAX_NUM_SAMPLES
        ):
            found.append(next_sample(process, sampler))

    assert (found[-1].activity is Activity.COMPUTES) is computes
    assert found[-1].num_timeslices == found[-2].num_timeslices


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "sleeps"),
    [pytest.param("1000", "0", False, id="computes"), pytest.param("0", "1000", True, id="sleeps")],
)
def test_a_rank_is_asleep_only_as_a_whole(busy_s, idle_s, sleeps):
    """A second thread that runs counts, too: what it is just making would be written with the first one's frames."""
    with running(PROGRAM, busy_s, idle_s) as process:
        while sleeps and not is_asleep(process.pid):
            time.sleep(0.1)
        assert [is_asleep(process.pid) for _ in range(20)] == [sleeps] * 20


LOG = "threading.Thread(target=ctypes.CDLL(None).sleep, args=[1000]).start()"  # as TensorFlow's logger of memory


@pytest.mark.parametrize(
    ("wait", "is_blocked"),
    [
        pytest.param("queue.Queue().get", True, id="waits-for-a-thread"),
        pytest.param("lambda: queue.Queue().get(timeout=1000)", True, id="waits-for-a-thread-for-so-long"),
        pytest.param("lambda: subprocess.run(['sleep', '1000'])", False, id="waits-for-a-child"),
        pytest.param("lambda: time.sleep(1000)", False, id="sleeps"),
        pytest.param(
            "lambda: [threading.Thread(target=time.sleep, args=[1000]).start(), queue.Queue().get()]",
            False,
            id="has-a-thread-that-sleeps",
        ),
        pytest.param("lambda: os.read(os.pipe()[0], 1)", False, id="reads"),
        pytest.param("multiprocessing.Semaphore(0).acquire", False, id="waits-for-a-process"),
    ],
)
def test_a_rank_that_waits_for_a_thread_of_its_own_is_blocked(wait, is_blocked):
    """Nobody can wake such a rank but itself; whatever comes from elsewhere may go on.

    One thread polls, and another one logs memory now and then.
    """
    imports = "import ctypes, multiprocessing, os, queue, subprocess, threading, time"
    with running("\n".join([imports, POLL, LOG, f"wait = {wait}", "print(flush=True)", "wait()"])) as process:
        sampler, found = RankMonitor({process.pid: 0}), []
        sampler.take()  # it may just have come to rest
        while len(found) < NUM_SAMPLES or (is_blocked and not any(found) and len(found) < MAX_NUM_SAMPLES):
            found.append(next_sample(process, sampler).activity is Activity.BLOCKED)

    assert any(found) is is_blocked
