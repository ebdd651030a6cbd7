"""Fit the usual bandwidth efficiencies to published tables, and predict machines that were left out of the fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

import numpy as np

from coursekit.scaling.posterior import EFFICIENCIES, PRIOR, Array, Prior, log_likelihood, weigh
from workshop.published.tables import Prediction, Table, predict, tables

NUM_ROUNDS = 15  # further rounds change no digit


def fit(chosen: Sequence[Table]) -> Prior:
    """Return the self-consistent prior: it equals the mean of the posteriors that it gives for all tables.

    In each round, the mean of the posteriors becomes the next prior (expectation maximisation).
    Each machine counts once, however many tables it has.
    The spread among machines is not fitted, because too few of them say anything about it.
    """
    prior, num_tables = PRIOR, Counter(one.machine_key for one in chosen)
    for _ in range(NUM_ROUNDS):
        means = np.zeros(2)
        for one in chosen:
            weights = weigh(_log_likelihood(one), prior)
            marginals = np.array([weights.sum(axis=1), weights.sum(axis=0)])
            means += marginals @ np.log(EFFICIENCIES) / num_tables[one.machine_key]
        within, between = np.exp(means / len(num_tables))
        prior = Prior(float(within), float(between))
    return prior


@cache
def prior_without(machine_key: str) -> Prior:
    """Return the prior that is fitted to the tables of all other machines."""
    return fit([one for one in tables() if one.machine_key != machine_key])


@cache
def predict_all() -> tuple[Prediction, ...]:
    """Predict the larger half of each table, with the prior of the other machines."""
    return tuple(one for table in tables() for one in predict(table, prior_without(table.machine_key)))


def predict_beyond_nodes(known: Callable[[Table], AbstractSet[int]]) -> list[Prediction]:
    """Predict all unknown sizes beyond a node in each table, with the prior of the other machines."""
    found = [one for table in tables() for one in predict(table, prior_without(table.machine_key), known(table))]
    return [one for one in found if one.table.machine.num_nodes(one.num_ranks) > 1]


@cache
def _log_likelihood(table: Table) -> Array:
    return log_likelihood(table.machine, table.cases())
