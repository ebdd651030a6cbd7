"""How many bytes ranks hold and send with DDP, ZeRO and FSDP if they train with Adam in FP32, as in lab 08.

Sources: Rajbhandari et al., ZeRO (2020); PyTorch's documentation of `ZeroRedundancyOptimizer` and `fully_shard`.
"""

from typing import NamedTuple

from coursekit.scaling.networks import Network

GB = 10**9


class Sharding(NamedTuple):
    """Bytes per parameter that every rank holds (`whole`) or that the ranks divide among them (`shared`), and traffic.

    The bytes include weights, gradients and Adam's state. The unit of `traffic` is an allreduce of the gradients, which
    consists of a reduce-scatter and an allgather.
    """

    whole: int
    shared: int
    traffic: float

    def held_gb(self, network: Network, num_ranks: int) -> float:
        """Return how many GB each rank holds: for example, 10 for 10^9 parameters on 4 ranks with ZeRO-1."""
        num_parameters = sum(sum(layer.num_parameters) for layer in network.layers)
        return (self.whole + self.shared / num_ranks) * num_parameters / GB


WAYS = {
    "ddp": Sharding(16, 0, 1.0),
    "zero": Sharding(8, 8, 1.5),  # after the allreduce, each rank broadcasts the weights that it has updated
    "fsdp": Sharding(0, 16, 1.5),  # weights are gathered twice, and gradients reduced and scattered once
}
