"""Where a rank stands in the world, computed from the layout of nodes alone."""

from coursekit.ranks.context import rank_environ, torch_environ

NAMES = ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")


def test_places_on_uneven_nodes():
    """Slurm spreads 6 tasks over 3 nodes as it likes, say 1, 3 and 2; cross groups hold equal local ranks."""
    places = []
    for rank in range(6):
        environ = rank_environ(rank=rank, ranks_on_nodes=(1, 3, 2), rendezvous=("127.0.0.1", 1234))
        places.append(tuple(int(environ[f"HOROVOD_{name}"]) for name in NAMES))
    assert places == [
        (0, 6, 0, 1, 0, 3),
        (1, 6, 0, 3, 1, 3),
        (2, 6, 1, 3, 0, 2),
        (3, 6, 2, 3, 0, 1),
        (4, 6, 0, 2, 2, 3),
        (5, 6, 1, 2, 1, 2),
    ]


def test_a_rank_of_pytorch_has_the_same_place_by_the_names_of_torchrun():
    """All that `env://` reads, and that the store is served by somebody else."""
    place = rank_environ(rank=2, ranks_on_nodes=(2, 1), rendezvous=("10.0.0.1", 1234), interface="ib0")
    assert torch_environ(place) == {
        "RANK": "2",
        "WORLD_SIZE": "3",
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "10.0.0.1",
        "MASTER_PORT": "1234",
        "GLOO_SOCKET_IFNAME": "ib0",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }


def test_the_interface_is_named_only_when_asked_for():
    """Across nodes Horovod chooses the interface of the host's name."""
    settings = {"rank": 0, "ranks_on_nodes": (1,), "rendezvous": ("127.0.0.1", 1234)}
    assert "HOROVOD_GLOO_IFACE" not in rank_environ(**settings)
    assert rank_environ(**settings, interface="lo")["HOROVOD_GLOO_IFACE"] == "lo"
