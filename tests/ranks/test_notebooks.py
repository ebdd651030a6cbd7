"""Notebooks with `%ipcluster` and `%%px` run from top to bottom, and their numbers are those of NumPy."""

from __future__ import annotations

import numpy as np

from .px_notebooks import check_line, execute, num_figures, values


def test_sgd_on_a_line(tmp_path):
    """Without a word of the kit in it, where IPython's settings name the extension."""
    notebook = execute("line", tmp_path)
    check_line(notebook)
    assert [*values(notebook, "tf.version.VERSION")] == [0]


def test_rows_by_rank(tmp_path):
    """Sharding before and after batching gives the rows that arithmetic gives; shuffled alike, all are read once."""
    notebook = execute("shards", tmp_path)
    batches = [np.arange(11)[i : i + 2].tolist() for i in range(0, 11, 2)]
    rows = [np.arange(rank, 11, 2) for rank in range(2)]
    assert values(notebook, "rows.batch(2).shard") == {rank: batches[rank::2] for rank in range(2)}
    assert values(notebook, "shard(hvd.size(), hvd.rank()).batch(2)") == {
        rank: [mine[i : i + 2].tolist() for i in range(0, len(mine), 2)] for rank, mine in enumerate(rows)
    }
    assert values(notebook, "allgather_object") == {0: [*range(11)], 1: [*range(11)]}
    assert values(notebook, "int(total)") == {1: 11}


def test_a_network_on_pictures(tmp_path):
    """Both ranks hold the same network, which tells all pictures apart; one rank draws."""
    notebook = execute("pictures", tmp_path)
    assert values(notebook, "model.fit") == {0: 1.0, 1: 1.0}
    assert values(notebook, "model.predict") == {0: [0, 1] * 16, 1: [0, 1] * 16}
    sums = values(notebook, "model.get_weights")
    assert sums[0] == sums[1]
    assert len(sums[0]) == 4
    assert num_figures(notebook, "axis.imshow") == 1
