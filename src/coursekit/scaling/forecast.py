"""What to expect of a training on more and more nodes: speed, parts of a step, cost and bounds.

The way of a prediction, and where to look if its speed is off:

1. `gpus.toml` has the speed of one GPU and its links to the others of its node; the site's profile has the fabric.
   `find_speed` and `machine_of` in `machine.py` choose. A wrong speed of one GPU makes all numbers of nodes wrong.
2. `networks.json` has each layer's arithmetic and parameters: when a gradient is ready, and how many bytes it has.
3. `posterior.py` decides how much of the links' bandwidth a training gets: by `PRIOR`, which is fitted to published
   tables (docs/scaling.md), and by runs that were measured. This decides most on several nodes.
4. `step.py` puts a step on a clock: cycles, fusion, overlap, contention (`Settings`), the slowest rank.
   `allreduce_s` in `machine.py` has the formulas of ring, tree and parameter servers.
5. Here the steps become images/s with a band, hours, and what a step is bound by.

Beside these, `memory.py` refuses batches that do not fit, `sharding.py` has what FSDP and ZeRO hold and send, and
`picture.py` draws.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from coursekit.errors import CourseKitError
from coursekit.scaling.machine import Machine
from coursekit.scaling.networks import Network
from coursekit.scaling.posterior import SPREAD_OF_RANKS, Case, Posterior, posterior_of
from coursekit.scaling.step import Settings, Step, Work, simulate

NUM_IMAGES = 1_281_167  # of an epoch: ImageNet's training images
SECONDS_PER_HOUR = 3600
SMALL = 0.03  # a part of a step below this share does not bound it
NOISE_ELSEWHERE = 0.10  # of a speed that was measured on another machine, with other software or another batch


@dataclass(frozen=True)
class Training:
    """What is to be trained, and how fast one GPU does it."""

    network: Network
    batch_size: int  # images per rank and step
    images_per_s: float  # of one GPU that is alone, with this batch size
    noise: float  # how far that speed may be off: standard deviation over mean
    global_batch_size: int = 0  # images of all ranks in a step, of which each rank takes its share; 0 for weak scaling
    settings: Settings = field(default_factory=Settings)  # how gradients travel
    largest_batch: int | None = None  # the most images that fit into the memory of a GPU; None if that is not known

    def local_batch(self, num_ranks: int) -> int:
        """Return the images of a rank in a step; refuse what does not fit, too many ranks, and too large a step."""
        if self.global_batch_size and self.global_batch_size < num_ranks:
            raise CourseKitError(
                f"{num_ranks} ranks cannot share {self.global_batch_size} images of a step: "
                "give fewer nodes or a larger global_batch_size.",
                "batch.fewer-than-ranks",
            )
        images = self.global_batch_size // num_ranks if self.global_batch_size else self.batch_size
        if self.largest_batch is not None and images > self.largest_batch:
            raise CourseKitError(
                f"{images} images of {self.network.name} do not fit into the memory of a GPU: at most about "
                f"{self.largest_batch} do. Give a smaller batch, more nodes to share it, "
                "or -p precision mixed_float16.",
                "batch.exceeds-memory",
            )
        if images * num_ranks > NUM_IMAGES:
            raise CourseKitError(
                f"a step of {num_ranks} ranks would have {images * num_ranks} images, and ImageNet has {NUM_IMAGES}: "
                "give a smaller batch or fewer nodes.",
                "batch.exceeds-data",
            )
        return images

    def case(self, num_ranks: int, measured: float = 0.0) -> Case:
        """Return a step on so many ranks, with the images/s of all of them where somebody measured that.

        Fewer images take proportionally less time, which is kind to small batches.
        """
        work = Work(self.network, self.local_batch(num_ranks) / self.images_per_s)
        efficiency = measured / (num_ranks * self.images_per_s)
        return Case(work, num_ranks, self.settings, efficiency, series=self.network.name)


@dataclass(frozen=True)
class Forecast:
    """One number of nodes: images/s of all ranks with the band that holds nine of ten, and what an epoch costs."""

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
        """Hours of wall time for an epoch of ImageNet."""
        return NUM_IMAGES / self.images_per_s / SECONDS_PER_HOUR

    @property
    def gpu_hours(self) -> float:
        """What this epoch costs."""
        return self.epoch_h * self.num_ranks

    @property
    def bound(self) -> str:
        """What keeps a step from being as short as a rank alone would make it."""
        parts = {"the gradients' way": self.step.exposed_s, "the slowest rank": self.step.waiting_s}
        words, seconds = max(parts.items(), key=lambda part: part[1])
        return words if seconds > SMALL * self.step.total_s else "computing"


def forecast(
    training: Training, machine: Machine, nums_nodes: Sequence[int], measured: Iterable[tuple[int, float]] = ()
) -> list[Forecast]:
    """Return one forecast for each number of nodes, all of whose GPUs train.

    `measured` are numbers of nodes with the images/s of this training on them.
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
    """Return the parts of the expected step: of the likely one, but so that they add up to the expected speed."""
    work = replace(case.work, spread=SPREAD_OF_RANKS)
    likely = simulate(work, posterior.machine.slowed(*posterior.bandwidth_efficiencies), case.num_ranks, case.settings)
    total_s = likely.compute_s / efficiency
    compute_s = min(likely.compute_s, total_s)  # a measured step can be shorter than that of a rank alone
    waiting_s = min(likely.waiting_s, total_s - compute_s)
    return Step(compute_s, waiting_s, total_s - compute_s - waiting_s)
