"""What TensorBoard shows is read as it was written, and the pictures of it say what they show."""

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from coursekit.pictures.tensorboard import (
    ALLREDUCE,
    ARRIVED,
    Step,
    count_allreduces,
    read_trace,
    show_profiles,
    steps_of,
)


def test_allreduces_are_counted_in_the_functions_of_the_graph(tmp_path):
    """One for each gradient."""
    graph = tf.compat.v1.GraphDef()
    averages = graph.library.function.add()
    for name, kind in (("grads_0", ALLREDUCE), ("grads_1", ALLREDUCE), ("sum", "Add")):
        averages.node_def.add(name=name, op=kind)
    with tf.io.TFRecordWriter(str(tmp_path / "events.out.tfevents.1")) as writer:
        writer.write(tf.compat.v1.Event(graph_def=graph.SerializeToString()).SerializeToString())

    assert count_allreduces(tmp_path) == 2


def write_profile(folder, by_thread):
    """Write a profile in TensorFlow's form, from name, begin and end in milliseconds by thread."""
    space = xplane_pb2.XSpace()
    space.planes.add(name="/host:metadata")
    host = space.planes.add(name="/host:CPU")
    for thread, events in by_thread.items():
        line = host.lines.add(name=thread, timestamp_ns=5_000_000)
        for name, begin_ms, end_ms in events:
            number = len(host.event_metadata) + 1
            host.event_metadata[number].name = name
            line.events.add(metadata_id=number, offset_ps=begin_ms * 10**9, duration_ps=(end_ms - begin_ms) * 10**9)
    path = folder / "plugins" / "profile" / "now" / "host.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(space.SerializeToString())


def test_a_profile_tells_what_a_step_waits_for(tmp_path, described):
    """Of a step of 10 ms: 2 for the input, 3 on two threads for the network, 4 from the last gradient on for others.

    The first step is left out, and what the pipeline's threads compute is no work of the network.
    """
    write_profile(
        tmp_path,
        {
            "python": [("train", 0, 900), ("train", 1000, 1010), ("train", 1010, 1020)],
            "tf_Compute/1": [("sequential/dense/MatMul:MatMul", 1002, 1004), ("gradient_tape/dense:Mul", 1003, 1005)],
            "python ": [("ExecutorState::ProcessAsync::Done", 1004, 1004), (ARRIVED, 1009, 1010)],
            "tf_data_iterator_get_next/2": [("IteratorGetNextOp::DoCompute", 1000, 1002), ("Cast:Cast", 1006, 1008)],
        },
    )

    steps = steps_of(read_trace(tmp_path))
    show_profiles({"2 ranks": steps})

    assert [round(1e3 * (step.end_s - step.begin_s)) for step in steps] == [10, 10]
    assert described()[0].endswith("2 ranks: 10.0 ms a step, of all steps input 10%, network 15%, allreduce 20%.")


def test_a_profile_shows_steps_of_one_epoch(drawn):
    """Three epochs of four steps of 10 ms, and 90 ms between them: the steps that are shown have no gap."""
    begins_s = [0.13 * epoch + 0.01 * step for epoch in range(3) for step in range(4)]
    steps = [Step(begin_s, begin_s + 0.01, {"input": [], "network": [], "allreduce": []}) for begin_s in begins_s]

    show_profiles({"2 ranks": steps})

    [[figure, _]] = drawn
    assert [round(one) for one in figure.axes[0].get_xlim()] == [0, 30]
