"""Seconds of communication in Horovod's timeline: known unions, cut files, and timelines of two real ranks."""

import json
import sys
import time
from collections import Counter
from contextlib import suppress

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.errors import CourseKitError
from coursekit.throughput import Phases, communication_share, phases_of_steps, reductions

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

SECOND = 1_000_000  # microseconds


def reduction(tensor, begin_s, *activities):
    """Return the events of one allreduce, from its negotiation on; activities are (name, begin_s, end_s)."""
    events = [("B", "NEGOTIATE_ALLREDUCE", begin_s - 0.5), ("X", "1", begin_s - 0.1), ("E", None, begin_s)]
    events.append(("B", "ALLREDUCE", begin_s))
    for name, begin, end in activities:
        events += [("B", name, begin), ("E", None, end)]
    events.append(("E", None, activities[-1][2]))
    named = [{"ph": kind, "ts": round(second * SECOND), "pid": tensor, "name": name} for kind, name, second in events]
    named[-1]["args"] = {"dtype": "float32", "shape": "[2, 3]"}
    return [{key: value for key, value in event.items() if value is not None} for event in named]


# Two tensors, fused in the first step; steps begin when tensor 1 does, at 1, 5, 9 and 19 seconds. A metric is no step.
NAMES = [
    {"name": "process_name", "ph": "M", "pid": tensor, "args": {"name": name}}
    for tensor, name in enumerate(("gradient of a kernel", "gradient of a bias", "metric"), 1)
]
FIRST_STEP = [
    {"ph": "i", "name": "CYCLE_START", "ts": 0, "s": "g"},
    *reduction(1, 1, ("MEMCPY_IN_FUSION_BUFFER", 1, 1.5), ("GLOO_ALLREDUCE", 1.5, 3)),  # 2 s in 4
    *reduction(2, 1, ("MEMCPY_IN_FUSION_BUFFER", 1, 1.5), ("GLOO_ALLREDUCE", 1.5, 3)),
    *reduction(3, 2, ("GLOO_ALLREDUCE", 2, 3)),
]
LATER_STEPS = [
    *reduction(1, 5, ("WAIT_FOR_DATA", 5, 6), ("NCCL_ALLREDUCE", 6, 7)),  # 6 to 7.5 and 8 to 9: 2.5 s in 4
    *reduction(2, 6.5, ("NCCL_ALLREDUCE", 6.5, 7.5), ("MEMCPY_OUT_FUSION_BUFFER", 8, 9)),
    *reduction(1, 9, ("MPI_ALLREDUCE", 9, 11)),  # 9 to 11 and 18 to 19: 3 s in 10
    *reduction(2, 18, ("MPI_ALLREDUCE", 18, 20)),
    *reduction(1, 19, ("MPI_ALLREDUCE", 19, 21)),
]
TRACE = NAMES + FIRST_STEP + LATER_STEPS


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a timeline and returns its path."""

    def write_timeline(text):
        path = tmp_path / "timeline.json"
        path.write_text(text)
        return path

    return write_timeline


def test_overlapping_phases_count_once(write):
    """Fused tensors share their seconds; negotiation and waiting for a GPU do not count; of steps the median counts."""
    assert communication_share(write(json.dumps(TRACE))) == pytest.approx(2 / 4, rel=1e-12)
    assert communication_share(write(json.dumps(NAMES + LATER_STEPS))) == pytest.approx(
        (2.5 / 4 + 3 / 10) / 2, rel=1e-12
    )


def test_each_tensor_has_its_time_on_the_wire(write):
    """Copies into the fusion buffer and waiting do not count; tensors that travel together have the same times."""
    found = [(one.sent_us / SECOND, one.done_us / SECOND) for one in reductions(write(json.dumps(TRACE)))]
    assert found == [(1.5, 3), (1.5, 3), (2, 3), (6, 7), (6.5, 7.5), (9, 11), (18, 20), (19, 21)]


def test_a_timeline_of_a_killed_rank_is_read_up_to_its_last_event(write):
    """Without the closing bracket, and with half an event at the end: the last reduction is not known to have ended."""
    text = json.dumps(TRACE, indent=1)
    whole = reductions(write(text))

    assert reductions(write(text[: text.rindex("]")])) == whole
    assert reductions(write(text[: text.rindex("ph")])) == whole[:-1]
    assert communication_share(write(text[: text.rindex("ph")])) == pytest.approx((2 / 4 + 2.5 / 4) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "timeline.invalid"),
        ("rank 0 says hello", "timeline.invalid"),
        ("[", "timeline.too-few-steps"),
        (json.dumps(reduction(1, 1, ("GLOO_ALLREDUCE", 1, 2))), "timeline.too-few-steps"),
    ],
)
def test_what_holds_no_two_steps_is_refused(write, text, code):
    """One sentence names the file."""
    with pytest.raises(CourseKitError, match=rf"timeline\.json.*{code}"):
        communication_share(write(text))


def test_a_missing_timeline_is_explained(tmp_path):
    """The sentence says how to get one."""
    with pytest.raises(CourseKitError, match=r"a.json.*HOROVOD_TIMELINE.*timeline.missing"):
        communication_share(tmp_path / "a.json")


def times_of(tensor, ready_ms, sent_ms, done_ms):
    """Return the events of one reduction: the first rank has it, it is on the wire, it has arrived."""
    events = [
        {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 1000 * ready_ms},
        {"ph": "E", "ts": 1000 * sent_ms},
        {"ph": "B", "name": "ALLREDUCE", "ts": 1000 * sent_ms},
        {"ph": "B", "name": "GLOO_ALLREDUCE", "ts": 1000 * sent_ms},
        {"ph": "E", "ts": 1000 * done_ms},
        {"ph": "E", "ts": 1000 * done_ms, "args": {"dtype": "float32", "shape": "[2, 3]"}},
    ]
    return [
        {"ph": "M", "pid": tensor, "args": {"name": f"gradient {tensor}"}},
        *({**one, "pid": tensor} for one in events),
    ]


def test_phases_add_up_to_steps(write):
    """Two tensors in three steps: ends at 10, 30 and 60 ms; the second step waits, the third has a long wire."""
    steps = [
        [(4, 5, 8), (5, 6, 10)],
        [(20, 26, 28), (22, 26, 30)],  # the first is ready 10 ms after the step before, both leave 6 ms later
        [(40, 41, 50), (41, 50, 60)],
    ]
    events = [event for step in steps for tensor, times in enumerate(step) for event in times_of(tensor, *times)]
    second, third = phases_of_steps(write(json.dumps(events)))

    assert second == pytest.approx((0.010, 0.006, 0.004))
    assert third == pytest.approx((0.010, 0.001, 0.019))
    assert isinstance(second, Phases)


def num_steps_in(path):
    """Return how many steps lie between the reductions of a gradient."""
    return max(Counter(one.tensor for one in reductions(path)).values(), default=0) - 1


def wait_until_written(path, num_steps):
    """Return once Horovod's writer, which stops with the ranks, has written this many steps."""
    while True:
        with suppress(CourseKitError):  # nothing yet
            if num_steps_in(path) >= num_steps:
                return
        time.sleep(0.05)


def train(path, num_epochs, num_steps):
    """Train a small network with all of Horovod's usual callbacks."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    hvd.init()
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, input_shape=(64,)), tf.keras.layers.Dense(1)])
    model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.001)), loss="mse")
    x = np.random.default_rng(0).normal(size=(4 * num_steps, 64)).astype("float32")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    model.fit(x, x[:, :1], batch_size=4, epochs=num_epochs, verbose=0, callbacks=callbacks)
    wait_until_written(path, num_epochs * num_steps - 1)


def test_the_steps_of_a_keras_training_are_found(tmp_path):
    """Broadcasts, and averages of metrics at the ends of epochs, are no steps; 30 reductions enclose 29 steps."""
    path = tmp_path / "timeline.json"
    ranks.run(train, path, 3, 10, environ={"HOROVOD_TIMELINE": str(path)})

    assert num_steps_in(path) == 29
    assert 0 < communication_share(path) < 1


def train_wide(path, compression, num_batches):
    """Train a layer of 8 x 4 weights and its bias, and have gradients travel in this form."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    hvd.init()
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(8,))])
    optimizer = hvd.DistributedOptimizer(
        tf.keras.optimizers.SGD(0.001), compression=getattr(hvd.Compression, compression)
    )
    model.compile(optimizer, loss="mse")
    x = np.ones((num_batches, 8), dtype=np.float32)
    model.fit(x, x[:, :4], batch_size=1, verbose=0)
    wait_until_written(path, num_batches - 1)


@pytest.mark.parametrize(("compression", "num_bytes"), [("none", 4), ("fp16", 2)])
def test_each_reduction_tells_its_bytes_and_when_it_was_ready_sent_and_done(tmp_path, compression, num_bytes):
    """32 weights and 4 biases in each of 5 batches, in the type that travels; no time before the one it follows."""
    path = tmp_path / "timeline.json"
    ranks.run(train_wide, path, compression, 5, environ={"HOROVOD_TIMELINE": str(path)})
    found = reductions(path)

    assert sorted(one.num_bytes for one in found) == [4 * num_bytes] * 5 + [32 * num_bytes] * 5
    assert len({one.tensor for one in found}) == 2
    assert all(0 < one.ready_us <= one.sent_us <= one.done_us for one in found)
