"""Which bandwidth efficiencies are usual, found from published tables; and predictions of machines left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

import numpy as np

from coursekit.scaling.posterior import EFFICIENCIES, PRIOR, Array, Prior, log_likelihood, weigh
from workshop.published.tables import Prediction, Table, predict, tables

NUM_ROUNDS = 15  # more change no digit


def fit(chosen: Sequence[Table]) -> Prior:
    """Return the prior that agrees with itself: it is the mean, under it, of the posteriors of all tables.

    Each round takes the means for the next prior (expectation maximisation). Each machine counts once, however many
    tables it has. How far machines lie apart is not fitted: they are too few that tell anything of it.
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
    """Return the prior from the tables of all other machines."""
    return fit([one for one in tables() if one.machine_key != machine_key])


@cache
def predict_all() -> tuple[Prediction, ...]:
    """Predict the larger half of all tables, each with the prior of the other machines."""
    return tuple(one for table in tables() for one in predict(table, prior_without(table.machine_key)))


def predict_beyond_nodes(known: Callable[[Table], AbstractSet[int]]) -> list[Prediction]:
    """Predict all unknown sizes beyond a node, each with the prior of the other machines."""
    found = [one for table in tables() for one in predict(table, prior_without(table.machine_key), known(table))]
    return [one for one in found if one.table.machine.num_nodes(one.num_ranks) > 1]


@cache
def _log_likelihood(table: Table) -> Array:
    return log_likelihood(table.machine, table.cases())
