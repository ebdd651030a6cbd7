"""What ranks hold with PyTorch's DDP, ZeRO-1 and FSDP2, and in which order DDP's buckets leave in a backward pass."""

from __future__ import annotations

from coursekit import ranks

WIDTH, NUM_LAYERS, BATCH = 1024, 10, 8  # a layer has 4 MiB of weights, and DDP's buckets 25 MiB
NUMS_RANKS = (2, 4)
NUM_STEPS = 3  # DDP forms its buckets anew after the first one, in the order in which gradients were ready
SETTINGS = {"width": WIDTH, "num_layers": NUM_LAYERS, "batch_size": BATCH}


def make_network(settings):
    """Return layers of one size, the same on all ranks."""
    import torch  # noqa: PLC0415  # on ranks only

    torch.manual_seed(1)
    width = settings["width"]
    pairs = ((torch.nn.Linear(width, width), torch.nn.ReLU()) for _ in range(settings["num_layers"]))
    return torch.nn.Sequential(*(part for pair in pairs for part in pair))


def train_a_step(network, optimizer, settings):
    """Do one step with random samples."""
    import torch  # noqa: PLC0415  # on ranks only

    network(torch.randn(settings["batch_size"], settings["width"])).square().mean().backward()
    optimizer.step()


def num_bytes(tensors):
    """Return the bytes of tensors on this rank: of a sharded one, those of its own part."""
    own = [tensor.to_local() if hasattr(tensor, "to_local") else tensor for tensor in tensors]
    return sum(tensor.numel() * tensor.element_size() for tensor in own)


def hold(way, settings):
    """Return what this rank holds of weights, gradients and Adam's state after a step, in bytes."""
    import torch  # noqa: PLC0415  # on ranks only
    import torch.distributed as dist  # noqa: PLC0415  # as above
    from torch.distributed.fsdp import fully_shard  # noqa: PLC0415  # as above
    from torch.distributed.optim import ZeroRedundancyOptimizer  # noqa: PLC0415  # as above

    dist.init_process_group("gloo")
    network = make_network(settings)
    if way == "FSDP":
        for layer in network[::2]:
            fully_shard(layer)
        fully_shard(network)
    else:
        network = torch.nn.parallel.DistributedDataParallel(network)
    if way == "ZeRO-1":
        optimizer = ZeroRedundancyOptimizer(network.parameters(), torch.optim.Adam, lr=1e-3)
    else:
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    train_a_step(network, optimizer, settings)
    states = (optimizer.optim if way == "ZeRO-1" else optimizer).state.values()
    parameters = list(network.parameters())
    return {
        "weights": num_bytes(parameters),
        "gradients": num_bytes(parameter.grad for parameter in parameters),
        # A step counter of each tensor is a number, too: it is none of the state that grows with the network.
        "optimiser": num_bytes(tensor for state in states for tensor in state.values() if tensor.dim()),
    }


def watch_buckets(settings):
    """Return the last step's events in their order: a layer's gradient is ready, or a bucket of some bytes leaves."""
    import torch  # noqa: PLC0415  # on ranks only
    import torch.distributed as dist  # noqa: PLC0415  # as above
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook  # noqa: PLC0415  # as above

    dist.init_process_group("gloo")
    network = make_network(settings)
    events = []
    for number, layer in enumerate(network[::2], 1):
        layer.weight.register_hook(lambda _, number=number: events.append(["ready", number]))
    wrapped = torch.nn.parallel.DistributedDataParallel(network)

    def leave(state, bucket):
        events.append(["leaves", bucket.buffer().numel() * bucket.buffer().element_size()])
        return allreduce_hook(state, bucket)

    wrapped.register_comm_hook(None, leave)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=1e-3)
    for _ in range(NUM_STEPS):
        events.clear()
        train_a_step(wrapped, optimizer, settings)
    return events


def record():
    """Count on the smallest and on twice as many ranks."""
    ranks.warm_up("torch")
    held = {
        num_ranks: {way: ranks.run(hold, way, SETTINGS, num_ranks=num_ranks)[0] for way in ("DDP", "ZeRO-1", "FSDP")}
        for num_ranks in NUMS_RANKS
    }
    num_parameters = NUM_LAYERS * WIDTH * (WIDTH + 1)
    return {
        **SETTINGS,
        "num_parameters": num_parameters,
        "held_by_ranks": held,
        "events": ranks.run(watch_buckets, SETTINGS, num_ranks=2)[0],
    }
