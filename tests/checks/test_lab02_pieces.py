"""Lab 02's pieces on real ranks, where what the other ranks hold decides."""

import sys
from types import SimpleNamespace

import cloudpickle
import numpy as np

from coursekit.checks import lab02_pieces

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def average(gradients):
    """Return the means over the ranks."""
    import horovod.tensorflow as hvd

    return [hvd.allreduce(gradient) for gradient in gradients]


def test_a_mean_next_to_zero_is_no_sum(monkeypatch):
    """Gradients of the ranks may cancel out: their mean is then as good as their sum, and right."""
    num_gradients = len(lab02_pieces.GRADIENT_SHAPES)
    signs = iter([1] * num_gradients + [-1] * num_gradients)
    opposed = SimpleNamespace(normal=lambda mean, spread, shape: next(signs) * np.full(shape, mean + spread))
    monkeypatch.setattr(lab02_pieces, "fresh_rng", lambda: opposed)

    lab02_pieces.check_average(average, num_ranks=2)
