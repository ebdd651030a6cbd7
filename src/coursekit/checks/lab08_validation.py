"""Checks of lab 08's validation: each sample is used once, and means are over all samples, however ranks share them."""

from collections.abc import Sequence

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import OF_SHARES, Array, as_number, require_close
from coursekit.checks.epochs import check_last_batch
from coursekit.checks.shards import check_owners, owners
from coursekit.checks.trials import RANKS_PER_NODE, Trial, try_on_ranks
from coursekit.drivers import lab08 as drivers
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause

NUM_CLASSES = 31
BATCH_SIZE = 4
ALIKE = 1e-5  # numbers in 32 bits


def try_evaluate(evaluate: Answer, num_ranks: int) -> Trial:
    """Evaluate a probe on 13 samples whose labels differ between ranks."""
    rng = fresh_rng()
    bias = rng.normal(size=NUM_CLASSES).astype(np.float32)
    labels = rng.integers(0, NUM_CLASSES, (num_ranks, 13))
    labels = np.where(rng.random(labels.shape) < 0.5, int(bias.argmax()), labels)  # noqa: PLR2004  # half are right
    private = tuple({"labels": one, "bias": bias} for one in labels)
    return try_on_ranks(
        drivers.evaluated, evaluate, bias, BATCH_SIZE, num_ranks=num_ranks, private=private, wrapper=drivers.joined,
        ranks_per_node=min(num_ranks, RANKS_PER_NODE),
    )  # fmt: skip


def _seen(trial: Trial) -> list[Array]:
    """Return the samples that each rank has evaluated."""
    seen = [
        np.concatenate([np.zeros(0, int), *(record.samples for record in one["records"])]) for one in trial.of_ranks()
    ]
    num_samples = len(trial.private[0]["labels"])
    require(
        all(((one >= 0) & (one < num_samples)).all() for one in seen),
        "the model gets samples that are not in the data set",
        "samples.not-given",
    )
    return seen


def check_once_each(trial: Trial) -> None:
    """Every sample is evaluated once, by one rank, in the given batches and in evaluation mode; each rank gets some."""
    seen = _seen(trial)
    for rank, samples in enumerate(seen):
        require(
            len(set(samples.tolist())) == len(samples),
            f"rank {rank} uses a sample twice in one evaluation",
            "samples.repeated",
        )
    check_owners(owners(seen, len(trial.private[0]["labels"])), trial.num_ranks)
    for rank, one in enumerate(trial.of_ranks()):
        require(len(seen[rank]), f"rank {rank} evaluates no sample: give each rank its own share", "shards.empty")
        check_last_batch([record.samples for record in one["records"]], BATCH_SIZE, f"of rank {rank}")
    is_training = any(record.training for one in trial.of_ranks() for record in one["records"])
    require(not is_training, "the model is in training mode: call model.eval() first", "training-mode.on")


def check_evaluate(trial: Trial) -> None:
    """Loss and accuracy are the means over all evaluated samples, however the ranks share them out."""
    seen = _seen(trial)
    bias = trial.private[0]["bias"].astype(float)
    labels = [np.asarray(one["labels"])[samples] for one, samples in zip(trial.private, seen)]
    require(any(len(one) for one in labels), "no rank has evaluated a sample", "samples.none")
    of_samples = {
        "loss": [np.log(np.exp(bias).sum()) - bias[one] for one in labels],
        "accuracy": [(one == bias.argmax()).astype(float) for one in labels],
    }
    batches = [[len(record.samples) for record in one["records"]] for one in trial.of_ranks()]
    for rank, found in enumerate(trial.of_ranks()):
        for name, values in of_samples.items():
            require(name in found["result"], f"the result of rank {rank} has no entry {name!r}", "answer.no-entry")
            mistakes, got = _mistakes_of_means(values, batches, rank), as_number(found["result"][name], name)
            expected, what = np.concatenate(values).mean(), f"the {name} on rank {rank}"
            otherwise = Cause("rank 0 has the right value", "evaluation.rank-0-alone") if rank else None
            require_close(
                got, expected, what, "evaluation.wrong", mistakes, tolerance=ALIKE, otherwise=otherwise, units=OF_SHARES
            )
            again = as_number(found["again"].get(name), name)
            what = f"the {name} on rank {rank} from a second call of evaluate with the same samples"
            require_close(again, got, what, "evaluation.second-call", tolerance=ALIKE)
        require(not found["is_changed"], f"evaluate changes the weights on rank {rank}", "weights.changed")
        message = f"after evaluate, rank {rank} no longer computes gradients: use `with torch.no_grad():`"
        require(found["is_trainable"], f"{message}, which ends with its block", "evaluation.no-gradients")


def _mistakes_of_means(values: list[Array], batches: list[list[int]], rank: int) -> dict[Cause, float]:
    """Return what wrong means give on this rank; `values` and `batches` are the sample values and batch sizes."""
    of_ranks = [_mean(one) for one in values]
    parts = [np.split(one, np.cumsum(sizes)[:-1]) for one, sizes in zip(values, batches)]
    of_batches = [_mean(batch) for of_rank in parts for batch in of_rank]
    total, num_samples = float(sum(map(np.sum, values))), sum(map(len, values))
    mistakes = {
        Cause("this is the mean of the ranks' means: weight them by their samples", "metrics.unweighted"): (
            _mean(of_ranks)
        ),
        Cause("this is the sum of the ranks' means", "evaluation.sum-of-means"): sum(of_ranks),
        Cause("this is the mean of the rank's own samples", "metrics.not-averaged"): of_ranks[rank],
        Cause("the sum over all ranks is divided by the rank's own number of samples", "evaluation.own-number"): (
            total / max(len(values[rank]), 1)
        ),
        Cause("this is the sum over all samples", "evaluation.sum"): total,
        Cause("this is divided by the number of ranks once too often", "evaluation.divided-twice"): (
            total / num_samples / len(values)
        ),
    }
    if len(of_batches) > len(of_ranks):  # otherwise, these means are the same
        means = [[_mean(batch) for batch in of_rank] for of_rank in parts]
        full = max(size for sizes in batches for size in sizes)
        mistakes |= {
            Cause("this is the mean of the batches' means: weight them by their sizes", "evaluation.mean-of-batches"): (
                _mean(of_batches)
            ),
            Cause(
                "this is the mean over the ranks of the batches' means: weight them by their sizes",
                "evaluation.mean-of-ranks",
            ): _mean([_mean(one) for one in means]),
            Cause("this is the sum of the batches' means over the number of samples", "evaluation.sum-of-batches"): (
                sum(of_batches) / num_samples
            ),
            Cause("a batch that is not full counts as a full one", "evaluation.last-as-full"): (
                full * sum(of_batches) / num_samples
            ),
            Cause("each batch counts as a full one", "evaluation.all-as-full"): total / (full * len(of_batches)),
        }
    return mistakes


def _mean(numbers: Sequence[float] | Array) -> float:
    """Return the mean, or 0 if there are no numbers: a rank may have evaluated no sample."""
    return float(np.sum(numbers)) / max(len(numbers), 1)
