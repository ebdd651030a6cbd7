"""TensorBoard's graphs and profiles are read as they were written, and their pictures say what they show."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from coursekit.pictures import graphs, profiles
from coursekit.pictures.graphs import ALLREDUCE, Block


@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange:DeprecationWarning")  # Keras with a seed
def test_the_graph_is_that_of_the_network_which_keras_wrote(tmp_path, told):
    """Layers forward, gradients back to the first one with weights, and the optimiser; without Horovod no allreduce."""
    layers = [tf.keras.layers.Flatten(input_shape=(2, 2)), tf.keras.layers.Dense(3, name="only")]
    network = tf.keras.Sequential(layers)
    network.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    after_batches = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda *_, **__: None)
    callbacks = [after_batches, tf.keras.callbacks.TensorBoard(tmp_path)]
    network.fit(np.ones((4, 2, 2)), np.zeros(4), callbacks=callbacks, verbose=0)

    graph = graphs.read_graph(tmp_path / "train")
    graphs.show_graph(graph)

    assert {block.name for block in graph.blocks if block.row == graphs.FORWARD} == {"input", "flatten", "only", "loss"}
    assert {block.name for block in graph.blocks if block.row == graphs.BACK} == {"only", "loss"}
    way = [Block("loss", -1), Block("only", -1), Block(ALLREDUCE, -2), Block("SGD", -2)]
    assert set(zip(way, way[1:])) <= graph.edges
    assert graph.num_allreduces == 0
    assert told()[0].endswith("Back: gradients of loss, only. Then 0 allreduces of gradients, and SGD.")


def test_each_gradient_has_an_allreduce_between_it_and_the_optimiser(tmp_path, told):
    """Allreduces are counted in the function that the graph calls."""
    graph = tf.compat.v1.GraphDef()
    for name, kind, inputs in (
        ("sequential/dense/MatMul", "MatMul", ()),
        ("gradient_tape/sequential/dense/MatMul", "MatMul", ("sequential/dense/MatMul",)),
        ("PartitionedCall", "PartitionedCall", ("gradient_tape/sequential/dense/MatMul",)),
        ("IdentityN", "IdentityN", ("PartitionedCall:1",)),
        ("SGD/Neg", "Neg", ("IdentityN",)),
    ):
        graph.node.add(name=name, op=kind, input=inputs)
    averages = graph.library.function.add()
    for number in range(2):
        averages.node_def.add(name=f"grads_{number}", op=ALLREDUCE)
    event = tf.compat.v1.Event(graph_def=graph.SerializeToString())
    with tf.io.TFRecordWriter(str(tmp_path / "events.out.tfevents.1")) as writer:
        writer.write(event.SerializeToString())

    found = graphs.read_graph(tmp_path)
    graphs.show_graph(found)

    way = [Block("dense", 0), Block("dense", -1), Block(ALLREDUCE, -2), Block("SGD", -2)]
    assert found == (way, set(zip(way, way[1:])), 2)
    assert told()[0].endswith("Then 2 allreduces of gradients, and SGD.")


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


def test_a_profile_tells_what_a_step_waits_for(tmp_path, told):
    """Of a step of 10 ms: 2 for the input, 3 on two threads for the network, 4 from the last gradient on for others.

    The first step is left out, and what the pipeline's threads compute is no work of the network.
    """
    write_profile(
        tmp_path,
        {
            "python": [("train", 0, 900), ("train", 1000, 1010), ("train", 1010, 1020)],
            "tf_Compute/1": [("sequential/dense/MatMul:MatMul", 1002, 1004), ("gradient_tape/dense:Mul", 1003, 1005)],
            "python ": [("ExecutorState::ProcessAsync::Done", 1004, 1004), (profiles.ARRIVED, 1009, 1010)],
            "tf_data_iterator_get_next/2": [("IteratorGetNextOp::DoCompute", 1000, 1002), ("Cast:Cast", 1006, 1008)],
        },
    )

    steps = profiles.steps_of(profiles.read_trace(tmp_path))
    profiles.show_profiles({"2 ranks": steps})

    assert [round(1e3 * (step.end_s - step.begin_s)) for step in steps] == [10, 10]
    assert told()[0].endswith("2 ranks: 10.0 ms a step, of all steps input 10%, network 15%, allreduce 20%.")


def test_logs_without_a_graph_or_a_profile_are_told(tmp_path):
    """As files that are not there."""
    with pytest.raises(FileNotFoundError, match="there is no graph in the event files"):
        graphs.read_graph(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no profile in"):
        profiles.read_trace(tmp_path)
