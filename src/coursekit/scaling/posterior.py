"""Estimate two unknowns of a machine from measurements, and from them the band in which a predicted speed should lie.

The unknowns are the bandwidth efficiencies of the links within and between nodes: the shares of their bandwidth that
training gets. Before any measurement, both may lie in a wide range (`PRIOR`). With each measured run, efficiencies that
do not fit the run become less likely (Bayes). A run on one node says nothing about links between nodes, so it leaves
the prior for these links unchanged.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from coursekit.scaling.machine import Machine
from coursekit.scaling.step import Settings, Work, simulate

Array = np.ndarray[Any, Any]

EFFICIENCIES = np.geomspace(0.05, 1.0, 11)
# Measured allreduces use between a tenth and all of the links' bandwidth, and less in training than in benchmarks.
SPREAD_OF_EFFICIENCY = math.log(2.5)
# Times of ranks that do the same work differ by a few per cent; Hoefler and Belli (2015) show such distributions.
SPREAD_OF_RANKS = 0.025
# Both are chosen so that the band contains nine of ten measurements on machines that were left out (docs/scaling.md).
NOISE = 0.02  # error of a measured speed: standard deviation over mean
DRIFT = 0.045  # error of the model for each doubling of the number of ranks, in the same unit
QUANTILES = (0.05, 0.95)
_AROUND = (-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645)  # of a normal distribution


@dataclass(frozen=True)
class Prior:
    """The usual bandwidth efficiencies within a node and between nodes."""

    within: float
    between: float


PRIOR = Prior(within=0.18, between=0.39)  # `workshop.published.priors` fits it to the tables in docs/scaling.md


@dataclass(frozen=True)
class Case:
    """A training run on a number of ranks of a machine, perhaps with a measured speed."""

    work: Work  # what a rank does in a step
    num_ranks: int  # on all nodes together
    settings: Settings  # how gradients travel
    efficiency: float = 0.0  # measured efficiency; 0 if it was not measured
    base: int = 1  # the number of ranks to which this efficiency is relative
    series: str = ""  # the same name for the same training on different numbers of ranks; '' for a separate run

    @property
    def num_doublings(self) -> float:
        """How many times `base` is doubled to get this number of ranks."""
        return math.log2(self.num_ranks / self.base)


@dataclass(frozen=True)
class Expected:
    """The efficiency with the smallest expected relative error, and a band that contains nine of ten true values."""

    efficiency: float
    low: float
    high: float


@dataclass(frozen=True)
class Posterior:
    """The probability of each combination of the two bandwidth efficiencies."""

    machine: Machine  # with its links at full speed
    weights: Array  # shape (efficiencies within, efficiencies between); the sum is 1
    measured: tuple[Case, ...] = ()  # the known speeds

    @property
    def bandwidth_efficiencies(self) -> tuple[float, float]:
        """The mean bandwidth efficiencies within a node and between nodes."""
        return float(self.weights.sum(axis=1) @ EFFICIENCIES), float(self.weights.sum(axis=0) @ EFFICIENCIES)

    def expect(self, case: Case, noise: float = 0.0) -> Expected:
        """Return the expected efficiency, with its band; `noise` is the relative error of the speed of one GPU."""
        logs = log_efficiencies(self.machine, case)
        variance = NOISE**2 + DRIFT**2 * case.num_doublings
        known = [one for one in self.measured if one.series == case.series] if case.series else []
        if known:  # the model probably makes a similar error in this case
            common = DRIFT**2 * np.array([min(one.num_doublings, case.num_doublings) for one in known])
            pull = np.linalg.solve(_covariance(known), common)
            logs = logs + np.tensordot(pull, _misses(self.machine, known), 1)
            variance -= float(common @ pull)
        middle = _quantiles(logs, self.weights * np.exp(-logs), [0.5])[0]
        around = math.sqrt(variance + noise**2) * np.array(_AROUND)
        weights = np.repeat(self.weights[:, :, None], len(_AROUND), axis=2)
        low, high = _quantiles(logs[:, :, None] + around, weights, QUANTILES)
        return Expected(*(math.exp(one) for one in (middle, low, high)))


def posterior_of(machine: Machine, measured: Iterable[Case] = (), prior: Prior = PRIOR) -> Posterior:
    """Return the posterior of a machine after these measurements, or the prior if there are none."""
    measured = tuple(measured)
    return Posterior(machine, weigh(log_likelihood(machine, measured), prior), measured)


def weigh(likelihood: Array, prior: Prior) -> Array:
    """Return the probability of each combination of unknowns, given the result of `log_likelihood` and a prior."""
    within, between = (np.log(EFFICIENCIES / usual) / SPREAD_OF_EFFICIENCY for usual in (prior.within, prior.between))
    log_weights = likelihood - 0.5 * np.add.outer(within**2, between**2)
    weights = np.exp(log_weights - log_weights.max())
    normalized: Array = weights / weights.sum()
    return normalized


def log_likelihood(machine: Machine, measured: Sequence[Case]) -> Array:
    """Return the log-likelihood of measurements for each combination of unknowns, up to a constant."""
    total = np.zeros((len(EFFICIENCIES), len(EFFICIENCIES)))
    for series in dict.fromkeys(case.series for case in measured):
        cases = [case for case in measured if case.series == series]
        misses = _misses(machine, cases)
        total -= 0.5 * (misses * np.tensordot(np.linalg.inv(_covariance(cases)), misses, 1)).sum(axis=0)
    return total


@lru_cache(maxsize=1024)
def log_efficiencies(machine: Machine, case: Case) -> Array:
    """Return the logarithm of the efficiency for each combination of unknowns: shape (efficiencies within, between)."""
    work = replace(case.work, spread=SPREAD_OF_RANKS)
    within = EFFICIENCIES if machine.num_ranks_per_node > 1 else EFFICIENCIES[:1]
    between = EFFICIENCIES if machine.num_nodes(case.num_ranks) > 1 else EFFICIENCIES[:1]
    efficiencies = [
        [simulate(work, machine.slowed(inner, outer), case.num_ranks, case.settings).efficiency for outer in between]
        for inner in within
    ]
    logs: Array = np.broadcast_to(np.log(efficiencies), (len(EFFICIENCIES), len(EFFICIENCIES)))
    if case.base > 1:
        logs = logs - log_efficiencies(machine, replace(case, base=1, num_ranks=case.base))
    return logs


def _misses(machine: Machine, cases: Sequence[Case]) -> Array:
    """Return the log of measured divided by modelled efficiency: shape (cases, efficiencies within, between)."""
    return np.stack([math.log(case.efficiency) - log_efficiencies(machine, case) for case in cases])


def _covariance(cases: Sequence[Case]) -> Array:
    """Return the covariance, computed from `DRIFT` and `NOISE`, of the model's errors in these cases."""
    doublings = np.array([case.num_doublings for case in cases])
    covariance: Array = DRIFT**2 * np.minimum.outer(doublings, doublings) + NOISE**2 * np.eye(len(cases))
    return covariance


def _quantiles(values: Array, weights: Array, wanted: Sequence[float]) -> list[float]:
    order = np.argsort(values, axis=None, kind="stable")
    sorted_weights = weights.ravel()[order]
    reached = (np.cumsum(sorted_weights) - sorted_weights / 2) / sorted_weights.sum()
    return [float(one) for one in np.interp(wanted, reached, values.ravel()[order])]
