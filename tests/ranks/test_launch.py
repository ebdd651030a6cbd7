"""`ranks.run`: what goes in on the notebook's side, what comes back, and which mistakes are refused."""

import json
import os
import sys

import cloudpickle
import numpy as np
import psutil
import pytest

from coursekit import ranks
from coursekit.ranks import fork_client
from coursekit.ranks.protocol import MAX_NUM_RANKS

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def sum_rows(table):
    """Return the rank, and the sum of all ranks' rows."""
    import horovod.tensorflow as hvd

    hvd.init()
    return hvd.rank(), hvd.allreduce(table[hvd.rank()], op=hvd.Sum).numpy()


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 8])
def test_an_allreduce_over_any_number_of_ranks_equals_numpys_sum(num_ranks):
    """Results come in rank order, and the sum over ranks is the sum over rows, to double precision."""
    table = np.random.default_rng(num_ranks).normal(size=(num_ranks, 1000))
    results = ranks.run(sum_rows, table, num_ranks=num_ranks)
    assert [rank for rank, _ in results] == list(range(num_ranks))
    for _, total in results:
        np.testing.assert_allclose(total, table.sum(axis=0), rtol=0, atol=1e-13)


def world_facts():
    """Return the six numbers that tell a rank its place."""
    import horovod.tensorflow as hvd

    hvd.init()
    return hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), hvd.cross_rank(), hvd.cross_size()


@pytest.mark.parametrize(
    ("num_ranks", "ranks_per_node", "facts"),
    [
        (2, None, [(0, 2, 0, 2, 0, 1), (1, 2, 1, 2, 0, 1)]),
        (2, 1, [(0, 2, 0, 1, 0, 2), (1, 2, 0, 1, 1, 2)]),
        (4, 2, [(0, 4, 0, 2, 0, 2), (1, 4, 1, 2, 0, 2), (2, 4, 0, 2, 1, 2), (3, 4, 1, 2, 1, 2)]),
        (3, 2, [(0, 3, 0, 2, 0, 2), (1, 3, 1, 2, 0, 1), (2, 3, 0, 1, 1, 2)]),
    ],
)
def test_ranks_per_node_sets_local_and_cross_numbers(num_ranks, ranks_per_node, facts):
    """Nodes are filled one after the other, so that local rank, local size and cross size follow."""
    assert ranks.run(world_facts, num_ranks=num_ranks, ranks_per_node=ranks_per_node) == facts


def test_positional_and_keyword_arguments_reach_every_rank():
    """The function is called as written, once per rank."""

    def describe(*args, **kwargs):
        return args, kwargs

    call = ((1, "two", None), {"three": [3.0]})
    assert ranks.run(describe, 1, "two", None, three=[3.0], num_ranks=3) == [call] * 3


def test_large_arguments_and_results_travel_whole():
    """50 MB go to both ranks and come back from each of them unchanged."""
    array = np.random.default_rng(0).integers(0, 256, size=50_000_000, dtype=np.uint8)
    for backwards in ranks.run(np.flip, array):
        assert np.array_equal(backwards[::-1], array)


def whole_number(number):
    """Return the number."""
    return number


def takes_seed(seed):
    """Return the seed."""
    return seed


@pytest.mark.parametrize(
    ("function", "settings", "error", "fact"),
    [
        (whole_number, {"num_ranks": 1000}, ValueError, f"to {MAX_NUM_RANKS}, not 1000"),
        (whole_number, {"num_ranks": "2"}, ValueError, "not '2'"),
        (whole_number, {"num_ranks": True}, ValueError, "not True"),
        (whole_number, {"timeout_s": float("nan")}, ValueError, "timeout_s.* nan"),
        (whole_number, {"ranks_per_node": 3}, ValueError, "ranks_per_node.* 3"),
        (whole_number(7), {}, TypeError, "not 7"),
        (whole_number, {"environ": {"HOROVOD_CYCLE_TIME": 5}}, TypeError, "{'HOROVOD_CYCLE_TIME': '5'}"),
        (takes_seed, {}, TypeError, "'seed'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_starts(function, settings, error, fact):
    """Each mistake is named in a sentence, and not even a fork server is there."""
    fork_client.shared.close()
    with pytest.raises(error, match=fact):
        ranks.run(function, **settings)
    assert fork_client.shared.free is None  # asking for the server would start one


def variables_and_facts():
    """Return the launcher variables that this rank sees, two others, its world, and how an Estimator sees itself."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    leaked = sorted(name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PMI_")))
    task = tf.estimator.RunConfig()
    others = os.environ.get("COURSE"), os.environ.get("HOROVOD_CYCLE_TIME")
    return leaked, *others, hvd.rank(), hvd.size(), (task.task_type, task.task_id, task.num_worker_replicas)


def test_variables_around_the_notebook_do_not_reach_ranks_but_those_of_the_call_do(monkeypatch):
    """A launcher, settings of Horovod's and a cluster of TensorFlow's come by `environ`, for one run, or not at all.

    The rest of the environment travels.
    """
    cluster = json.dumps(
        {"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 1}}
    )
    for name in ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE", "HOROVOD_RANK"):
        monkeypatch.setenv(name, "5")
    around = {"HOROVOD_CONTROLLER": "mpi", "HOROVOD_CYCLE_TIME": "1", "TF_CONFIG": cluster, "COURSE": "on"}
    for name, value in {**around, "TF_USE_LEGACY_KERAS": "1", "TF2_BEHAVIOR": "0"}.items():
        monkeypatch.setenv(name, value)
    fork_client.shared.close()  # what TensorFlow reads while it is imported counts, too
    mine = {"HOROVOD_CYCLE_TIME": "5", "TF_CONFIG": cluster}
    asked, other = ranks.run(variables_and_facts, environ=mine), ranks.run(variables_and_facts)
    assert asked == [([], "on", "5", rank, 2, ("worker", 1, 3)) for rank in range(2)]
    assert other == [([], "on", None, rank, 2, ("worker", 0, 1)) for rank in range(2)]
    assert os.environ["HOROVOD_CYCLE_TIME"] == "1"


def begun():
    """Begin a training's script, and return what it finds of a cluster of TensorFlow's."""
    from coursekit.ranks.launched_script import begin_training

    begin_training()
    return os.environ.get("TF_CONFIG")


def test_a_training_by_horovod_is_no_worker_of_a_cluster():
    """Whatever launcher starts it, an Estimator would read there that it is."""
    assert ranks.run(begun, environ={"TF_CONFIG": "{}"}) == [None, None]


def sockets_of_the_run():
    """Return, from rank 0, every address that this run's processes listen or are connected at."""
    import horovod.tensorflow as hvd

    hvd.init()
    hvd.allreduce(np.ones(1))
    addresses = None
    if hvd.rank() == 0:
        server = psutil.Process(os.getppid())
        processes = [server, *server.children(recursive=True)]
        sockets = [connection for process in processes for connection in process.net_connections(kind="inet")]
        addresses = [(socket.status, socket.laddr.ip) for socket in sockets]
    hvd.allreduce(np.ones(1))
    return addresses


def test_a_run_opens_sockets_on_loopback_only():
    """The rendezvous store and Gloo's ranks are reachable from this machine alone."""
    addresses, _ = ranks.run(sockets_of_the_run)
    assert {status for status, _ in addresses} >= {psutil.CONN_LISTEN, psutil.CONN_ESTABLISHED}
    assert {address for _, address in addresses} == {"127.0.0.1"}
