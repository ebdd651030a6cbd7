"""What to expect of a training on more and more nodes: speed, parts of a step, cost, bounds, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from coursekit.errors import CourseKitError
from coursekit.scaling.belief import NOISE, SPREAD_OF_RANKS, Belief, Case, Expected, believe
from coursekit.scaling.machine import Machine
from coursekit.scaling.networks import Network
from coursekit.scaling.step import Settings, Step, Work, simulate

NUM_IMAGES = 1_281_167  # of an epoch: ImageNet's training images
SECONDS_PER_HOUR = 3600
SMALL = 0.03  # a part of a step below this share does not bound it
FEW_GROUPS = 4  # of gradients, where latency decides: fewer could hide too little
NOISE_ELSEWHERE = 0.10  # of a speed that was measured on another machine, with other software or another batch


@dataclass(frozen=True)
class Training:
    """What is to be trained, and how fast one GPU does it.

    Attributes:
        network: what is trained.
        batch_size: images per rank and step.
        images_per_s: of one GPU that is alone, with this batch size.
        noise: how far that speed may be off: standard deviation over mean.
        global_batch_size: images of all ranks in a step, of which each rank takes its share; 0 for weak scaling.
        settings: how gradients travel.
        num_batches: local batches of a step, whose gradients are added up before they travel.
        input_images_per_s: what the input pipeline of one rank makes; 0 for as many as are needed.
        base: the ranks of a node whose speed together was measured, of which that of one GPU alone was derived.
    """

    network: Network
    batch_size: int
    images_per_s: float
    noise: float
    global_batch_size: int = 0
    settings: Settings = field(default_factory=Settings)
    num_batches: int = 1
    input_images_per_s: float = 0.0
    base: int = 1

    def local_batch(self, num_ranks: int) -> int:
        """Return the images of a rank in one of the step's batches.

        Raises:
            CourseKitError: there are more ranks than images, or a step has more than an epoch.
        """
        shares = num_ranks * self.num_batches
        if self.global_batch_size and self.global_batch_size < shares:
            batches = "" if self.num_batches == 1 else f" in {self.num_batches} batches each"
            raise CourseKitError(
                f"{num_ranks} ranks cannot share {self.global_batch_size} images of a step{batches}: "
                "give fewer nodes or a larger global_batch_size."
            )
        images = self.global_batch_size // shares if self.global_batch_size else self.batch_size
        if images * shares > NUM_IMAGES:
            raise CourseKitError(
                f"a step of {num_ranks} ranks would have {images * shares} images, and ImageNet has {NUM_IMAGES}: "
                "give a smaller batch or fewer nodes."
            )
        return images

    def work(self, num_ranks: int) -> Work:
        """Return what a rank computes in a step; fewer images take proportionally less, which is kind to small ones."""
        images = self.local_batch(num_ranks)
        input_s = self.num_batches * images / self.input_images_per_s if self.input_images_per_s else 0.0
        return Work(self.network, images / self.images_per_s, self.num_batches, input_s=input_s)


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
        parts = {
            "the gradients' way": self.step.exposed_s,
            "the slowest rank": self.step.waiting_s,
            "the input pipeline": self.step.starving_s,
        }
        words, seconds = max(parts.items(), key=lambda part: part[1])
        return words if seconds > SMALL * self.step.total_s else "computing"


def forecast(
    training: Training, machine: Machine, nums_nodes: Sequence[int], belief: Belief | None = None
) -> list[Forecast]:
    """Return one forecast for each number of nodes, all of whose GPUs train."""
    belief = belief or believe(machine)
    return [_one(training, belief, num_nodes) for num_nodes in nums_nodes]


def calibrated(training: Training, machine: Machine, num_ranks: int, images_per_s: float) -> Training:
    """Return the training with the speed of a GPU of one's own job, which ran on so many ranks of one node together."""
    case = Case(training.work(num_ranks), num_ranks, training.settings)
    for _ in range(3):  # the efficiency depends on the speed a little: it settles at once
        alone = images_per_s / num_ranks / believe(machine).expect(case).efficiency
        training = replace(training, images_per_s=alone, noise=NOISE, base=num_ranks)
        case = replace(case, work=training.work(num_ranks))
    return training


def would_help(training: Training, machine: Machine, num_nodes: int) -> list[tuple[str, float]]:
    """Return changes and the factor of speed that each would bring, the best first, without those that bring little."""
    settings = training.settings
    larger = replace(training, batch_size=2 * training.batch_size, global_batch_size=2 * training.global_batch_size)
    changes = {
        "twice the local batch": (larger, machine),
        "gradients in 16 bits": (replace(training, settings=replace(settings, bytes_per_number=2)), machine),
        "a fabric of twice the speed": (training, _with_fabric(machine, 2)),
    }
    words, num_groups = ("gradients as they come", 0) if settings.num_groups else ("fewer messages", FEW_GROUPS)
    regrouped = replace(training, settings=replace(settings, num_groups=num_groups))
    changes[f"{words}, num_groups {num_groups}"] = regrouped, machine
    if training.input_images_per_s:
        faster = replace(training, input_images_per_s=2 * training.input_images_per_s)
        changes["an input pipeline of twice the speed"] = faster, machine
    if not training.global_batch_size:
        added = replace(training, num_batches=2 * training.num_batches)
        changes["twice as many batches added up before gradients travel"] = added, machine
    now = forecast(training, machine, [num_nodes])[0].images_per_s
    gains = {}
    for name, change in changes.items():
        with suppress(CourseKitError):  # a step would have more images than an epoch
            gains[name] = forecast(*change, [num_nodes])[0].images_per_s / now
    return sorted(((name, gain) for name, gain in gains.items() if gain > 1 + SMALL / 3), key=lambda one: -one[1])


def _one(training: Training, belief: Belief, num_nodes: int) -> Forecast:
    num_ranks = num_nodes * belief.machine.num_ranks_per_node
    case = Case(training.work(num_ranks), num_ranks, training.settings, base=training.base)
    expected = _expect(belief, case, training.noise)
    full = num_ranks * training.images_per_s
    middle, low, high = (full * one for one in (expected.efficiency, expected.low, expected.high))
    step = _parts(belief, case)
    return Forecast(num_nodes, num_ranks, training.local_batch(num_ranks), middle, low, high, step, expected.efficiency)


def _expect(belief: Belief, case: Case, noise: float = 0.0) -> Expected:
    """Return what is expected relative to one GPU alone; what was measured at `base` is known without a band."""
    expected = belief.expect(case, noise)
    if case.base == 1:
        return expected
    together = belief.expect(replace(case, base=1, num_ranks=case.base)).efficiency
    return Expected(*(together * one for one in (expected.efficiency, expected.low, expected.high)))


def _parts(belief: Belief, case: Case) -> Step:
    """Return the parts of the expected step: of the likely one, but so that they add up to the expected speed."""
    work = replace(case.work, spread=SPREAD_OF_RANKS)
    likely = simulate(work, belief.machine.slowed(*belief.likely), case.num_ranks, case.settings)
    fed = replace(case, work=replace(case.work, input_s=0.0))
    lost_s, fed_lost_s = (likely.compute_s * (1 / _expect(belief, one).efficiency - 1) for one in (case, fed))
    waiting_s = min(likely.waiting_s, fed_lost_s)
    return replace(likely, waiting_s=waiting_s, exposed_s=fed_lost_s - waiting_s, starving_s=lost_s - fed_lost_s)


def _with_fabric(machine: Machine, factor: float) -> Machine:
    return replace(machine, between=machine.between.slowed(factor))
