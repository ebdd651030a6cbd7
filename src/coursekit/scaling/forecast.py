"""Predict training on more and more nodes: its speed, the parts of a step, the cost, and what slows a step most.

These are the steps of a prediction; if a predicted speed is wrong, look for the cause here:

1. `gpus.toml` has the speed of one GPU and its links to the other GPUs in its node; the site's profile has the fabric.
   `find_speed` and `machine_of` in `machine.py` select them. If one GPU's speed is wrong, all predictions are wrong.
2. `networks.json` has each layer's arithmetic and parameters. They determine when a gradient is ready, and its size.
3. `posterior.py` estimates what share of the links' bandwidth training gets, from `PRIOR`, which is fitted to
   published tables (docs/scaling.md), and from measured runs. On several nodes, this share matters most.
4. `step.py` simulates one step: cycles, fusion, overlap, contention (`Settings`), and the slowest rank.
   `allreduce_s` in `machine.py` has the formulas for ring, tree and parameter servers.
5. This module converts steps to images/s with a band and to hours, and finds what slows a step most.

In addition, `memory.py` finds out which batches fit, `sharding.py` computes what ranks hold and send with FSDP and
ZeRO, and `picture.py` draws the picture.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from coursekit.errors import CourseKitError
from coursekit.scaling.machine import Machine
from coursekit.scaling.networks import Network
from coursekit.scaling.posterior import SPREAD_OF_RANKS, Case, Posterior, posterior_of
from coursekit.scaling.step import Settings, Step, Work, simulate

NUM_IMAGES = 1_281_167  # in an epoch: ImageNet's training images
SECONDS_PER_HOUR = 3600
SMALL = 0.03  # a part that takes a smaller share of a step is not reported as the part that slows it most
NOISE_ELSEWHERE = 0.10  # for a speed that was measured on another machine, with other software or another batch size


@dataclass(frozen=True)
class Training:
    """A training run: the network, its batches, and the speed of a single GPU."""

    network: Network
    batch_size: int  # images per rank and step
    images_per_s: float  # speed of a single GPU with this batch size
    noise: float  # uncertainty of that speed: standard deviation over mean
    global_batch_size: int = 0  # images per step, shared by all ranks; 0 for weak scaling
    settings: Settings = field(default_factory=Settings)  # how gradients travel
    largest_batch: int | None = None  # the most images that fit into the memory of a GPU; None if unknown

    def local_batch(self, num_ranks: int) -> int:
        """Return how many images each rank takes per step; raise an error if there are none, or too many.

        The limits are the memory of a GPU and, for all ranks together, the number of images in ImageNet.
        """
        if self.global_batch_size and self.global_batch_size < num_ranks:
            raise CourseKitError(
                f"{num_ranks} ranks cannot share a global batch of {self.global_batch_size} images: "
                "choose fewer nodes or a larger global_batch_size.",
                "batch.fewer-than-ranks",
            )
        images = self.global_batch_size // num_ranks if self.global_batch_size else self.batch_size
        if self.largest_batch is not None and images > self.largest_batch:
            raise CourseKitError(
                f"{images} images with {self.network.name} do not fit into the memory of a GPU, which holds about "
                f"{self.largest_batch} at most. Choose a smaller batch, more nodes to share it, "
                "or -p precision mixed_float16.",
                "batch.exceeds-memory",
            )
        if images * num_ranks > NUM_IMAGES:
            raise CourseKitError(
                f"a step on {num_ranks} ranks would take {images * num_ranks} images, but ImageNet has {NUM_IMAGES}: "
                "choose a smaller batch or fewer nodes.",
                "batch.exceeds-data",
            )
        return images

    def case(self, num_ranks: int, measured: float = 0.0) -> Case:
        """Return this training run on `num_ranks` ranks; `measured` is their speed in images/s, or 0 if it is unknown.

        Compute time is assumed to be proportional to the number of images, which is too optimistic for small batches.
        """
        work = Work(self.network, self.local_batch(num_ranks) / self.images_per_s)
        efficiency = measured / (num_ranks * self.images_per_s)
        return Case(work, num_ranks, self.settings, efficiency, series=self.network.name)


@dataclass(frozen=True)
class Forecast:
    """The predicted images/s of all ranks on a number of nodes, and a band that contains nine of ten true speeds."""

    num_nodes: int
    num_ranks: int
    local_batch: int
    images_per_s: float
    low: float
    high: float
    step: Step
    efficiency: float

    @property
    def epoch_h(self) -> float:
        """Hours of wall-clock time for an epoch of ImageNet."""
        return NUM_IMAGES / self.images_per_s / SECONDS_PER_HOUR

    @property
    def gpu_hours(self) -> float:
        """GPU hours for an epoch of ImageNet."""
        return self.epoch_h * self.num_ranks

    @property
    def bound(self) -> str:
        """What makes a step longer than on a single rank; "computing" if nothing makes it much longer."""
        parts = {"the gradients' way": self.step.exposed_s, "the slowest rank": self.step.waiting_s}
        words, seconds = max(parts.items(), key=lambda part: part[1])
        return words if seconds > SMALL * self.step.total_s else "computing"


def forecast(
    training: Training, machine: Machine, nums_nodes: Sequence[int], measured: Iterable[tuple[int, float]] = ()
) -> list[Forecast]:
    """Return one forecast for each number of nodes, with all their GPUs in use.

    `measured` contains pairs: a number of nodes, and the images/s that this training reached on them.
    """
    known = [training.case(num_nodes * machine.num_ranks_per_node, speed) for num_nodes, speed in measured]
    posterior = posterior_of(machine, known)
    return [_one(training, posterior, num_nodes) for num_nodes in nums_nodes]


def _one(training: Training, posterior: Posterior, num_nodes: int) -> Forecast:
    num_ranks = num_nodes * posterior.machine.num_ranks_per_node
    case = training.case(num_ranks)
    expected = posterior.expect(case, training.noise)
    full = num_ranks * training.images_per_s
    middle, low, high = (full * one for one in (expected.efficiency, expected.low, expected.high))
    step = _parts(posterior, case, expected.efficiency)
    return Forecast(num_nodes, num_ranks, training.local_batch(num_ranks), middle, low, high, step, expected.efficiency)


def _parts(posterior: Posterior, case: Case, efficiency: float) -> Step:
    """Return the parts of the expected step: the parts of a likely step, changed so that their sum fits the speed."""
    work = replace(case.work, spread=SPREAD_OF_RANKS)
    likely = simulate(work, posterior.machine.slowed(*posterior.bandwidth_efficiencies), case.num_ranks, case.settings)
    total_s = likely.compute_s / efficiency
    compute_s = min(likely.compute_s, total_s)  # a measured step can be shorter than a single rank's
    waiting_s = min(likely.waiting_s, total_s - compute_s)
    return Step(compute_s, waiting_s, total_s - compute_s - waiting_s)
