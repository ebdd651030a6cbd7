"""How far to trust a prediction: two unknowns of a machine, what measurements say of them, and the band that is left.

The unknowns are the share of the links' bandwidth that training gets, and how much the ranks' times differ.
Before anything was measured both are wide; each measured run makes combinations that miss it less likely (Bayes).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coursekit.scaling.machine import Machine
from coursekit.scaling.step import Settings, Work, simulate, slowest_of

Array = np.ndarray[Any, Any]

# Measured allreduces reach between a tenth of the links' bandwidth and all of it, training less than benchmarks.
SHARES = tuple(np.geomspace(0.04, 1.0, 22))
LIKELY_SHARE, SPREAD_OF_SHARE = 0.35, math.log(2.5)
# Times of ranks that do the same differ by some per cent (Hoefler and Belli, 2015, show such distributions).
SPREADS = tuple(np.linspace(0.0, 0.08, 17))
LIKELY_SPREAD = 0.025
NOISE = 0.03  # of a measured speed: standard deviation over mean
MODEL_ERROR = 0.05  # of a prediction, the same: what the tables of docs/scaling.md show
QUANTILES = (0.05, 0.95)
_AROUND = (-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645)  # of a normal distribution


@dataclass(frozen=True)
class Case:
    """A training on so many ranks of a machine, whose speed may be known.

    Attributes:
        work: what a rank does in a step.
        num_ranks: of all nodes together.
        settings: how gradients travel.
        efficiency: what was measured; 0 where nothing was.
        base: the ranks that this efficiency is relative to, where nobody measured one rank alone.
    """

    work: Work
    num_ranks: int
    settings: Settings
    efficiency: float = 0.0
    base: int = 1


@dataclass(frozen=True)
class Expected:
    """The efficiency that is believed, and the band that holds it in nine cases of ten."""

    efficiency: float
    low: float
    high: float


@dataclass(frozen=True)
class Belief:
    """How likely each combination of unknowns is.

    Attributes:
        machine: with its links at full speed.
        weights: of shape (shares, spreads), sum 1.
        scatter: how far the measurements lie from the model at its best, root mean square of relative errors.
    """

    machine: Machine
    weights: Array
    scatter: float = 0.0

    @property
    def likely(self) -> tuple[float, float]:
        """The mean share of the bandwidth and the mean spread of the ranks."""
        return float(self.weights.sum(axis=1) @ SHARES), float(self.weights.sum(axis=0) @ SPREADS)

    def expect(self, case: Case, noise: float = 0.0) -> Expected:
        """Return the expected efficiency; `noise` is that of the speed of one GPU which it is multiplied with."""
        noise = math.hypot(noise, max(MODEL_ERROR, self.scatter))
        efficiencies = _efficiencies(self.machine, case)
        mean = float((self.weights * efficiencies).sum())
        values = np.multiply.outer(efficiencies.ravel(), 1 + noise * np.array(_AROUND)).ravel()
        order = np.argsort(values)
        weights = np.repeat(self.weights.ravel(), len(_AROUND))[order]
        reached = (np.cumsum(weights) - weights / 2) / weights.sum()
        low, high = np.interp(QUANTILES, reached, values[order])
        return Expected(mean, float(low), float(high))


def believe(machine: Machine, measured: Sequence[Case] = (), noise: float = NOISE) -> Belief:
    """Return what is believed of a machine after these measurements; without any, only what is usual."""
    shares, spreads = np.meshgrid(SHARES, SPREADS, indexing="ij")
    usual = -0.5 * (np.log(shares / LIKELY_SHARE) / SPREAD_OF_SHARE) ** 2 - 0.5 * (spreads / LIKELY_SPREAD) ** 2
    errors = [_efficiencies(machine, case) / case.efficiency - 1 for case in measured]
    squares: Array = sum((error**2 for error in errors), start=np.zeros_like(shares))
    # Measurements that scatter around every model by more than the noise tell less than they seem to.
    scatter = math.sqrt(float(squares.min()) / len(errors)) if errors else 0.0
    log_weights = usual - 0.5 * squares / max(noise, scatter) ** 2
    weights = np.exp(log_weights - log_weights.max())
    return Belief(machine, weights / weights.sum(), scatter)


def _efficiencies(machine: Machine, case: Case) -> Array:
    """Return the efficiency for each combination, shape (shares, spreads)."""
    if case.base > 1:
        return _efficiencies(machine, replace(case, base=1)) / _efficiencies(
            machine, replace(case, base=1, num_ranks=case.base)
        )
    alone = replace(case.work, spread=0.0, input_s=0.0)
    steps = [simulate(alone, machine.slowed(share), case.num_ranks, case.settings) for share in SHARES]
    compute_s = steps[0].compute_s
    exposed_s = np.array([[step.exposed_s] for step in steps])
    waiting_s = compute_s * slowest_of(case.num_ranks) * np.array([SPREADS])
    efficiencies: Array = compute_s / np.maximum(compute_s + exposed_s + waiting_s, case.work.input_s)
    return efficiencies
