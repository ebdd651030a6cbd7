"""What the checks of lab 04 read off spies' sights, here from trainings that are simulated in NumPy."""

from __future__ import annotations

import json
import socket

import numpy as np
import pytest

from coursekit.checks import (
    CheckError,
    estimator_data,
    estimator_evaluation,
    estimator_model,
    estimator_runs,
    spy_steps,
    workers,
)
from coursekit.checks.spy_trial import SpyTrial
from coursekit.drivers import estimator_ranks, spy

RATE = estimator_ranks.RATE


def descend(num_steps, batches, *, broadcast=True, average=True, factors=(2, 2), start=None, seed=3):  # noqa: PLR0913  # each a fault
    """Return the sights of ranks that descend with momentum 0.9; `batches(rank, step)` gives their samples."""
    num_ranks = len(factors)
    rng = np.random.default_rng(seed)
    bias = rng.normal(0, 0.5, (num_ranks, estimator_ranks.NUM_CLASSES))
    bias = np.repeat(bias[:1], num_ranks, axis=0) if broadcast else bias
    bias = bias if start is None else start.copy()
    velocity = np.zeros_like(bias)
    sights = [[] for _ in range(num_ranks)]
    for step in range(num_steps):
        samples = [np.asarray(batches(rank, step)) for rank in range(num_ranks)]
        for rank in range(num_ranks):
            sights[rank].append(spy.Sight(bias[rank].astype(np.float32), samples[rank], training=True))
        gradients = np.array([spy_steps.gradient(*pair) for pair in zip(bias, samples)])
        if average:
            gradients = np.repeat(gradients.mean(axis=0, keepdims=True), num_ranks, axis=0)
        velocity = 0.9 * velocity + gradients
        bias = bias - RATE * np.array(factors)[:, np.newaxis] * velocity
    return sights


def told(sights):
    """Return the secrets of ranks that were given what these sights show; files hold the samples from 0 on."""
    return tuple(
        {
            "starts": [of_rank[0].bias],
            "samples": np.concatenate([sight.samples for sight in of_rank]),
            "files": {"train": {"numbers": np.arange(sum(estimator_runs.SAMPLES_PER_FILE))}},
        }
        for of_rank in sights
    )


def own(rank, step):
    """Return two samples that only this rank has."""
    return [4 * step + 2 * rank, 4 * step + 2 * rank + 1]


def failing(checks, found):
    """Return the names of the checks that do not hold, with their messages."""
    messages = {}
    for name, check in checks.items():
        try:
            check(found)
        except CheckError as error:  # noqa: PERF203  # a handful of rounds
            messages[name] = str(error)
    return messages


@pytest.mark.parametrize("num_held_out", [0, 1, 3, 7])
def test_a_split_without_gap_and_overlap_passes(num_held_out):
    """Front and back of the list, or every other order of files, are right."""
    estimator_data.check_split_files(lambda files, num: (files[: 7 - num], files[7 - num :]), [(7, num_held_out)])
    estimator_data.check_split_files(lambda files, num: (files[num:], files[:num]), [(7, num_held_out)])


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (lambda files, num: (files[:-num], files[-num + 1 :]), "in neither part"),
        (lambda files, num: (files[: -num + 1], files[-num:]), "in both parts"),
        (lambda files, num: (files[:num], files[num:]), "the parts have 3 and 4 files"),
        (lambda files, _: files, "must return two lists"),
    ],
)
def test_a_wrong_split_is_named(split, words):
    """The message says how many files are where they must not be."""
    with pytest.raises(CheckError, match=words):
        estimator_data.check_split_files(split, [(7, 3)])


def read(ranks_files, *, seed=0, shuffled=True):
    """Return what a pipeline gives that reads these files on each rank, by hand."""
    ends = np.cumsum((0, *estimator_data.SAMPLES_PER_FILE))
    rng = np.random.default_rng(seed)
    results = []
    for files in ranks_files:
        samples = np.concatenate([np.arange(ends[file], ends[file + 1]) for file in files])
        epochs = [rng.permutation(samples) if shuffled else samples for _ in range(estimator_ranks.NUM_BATCHES)]
        stream = np.concatenate(epochs)[: 2 * estimator_ranks.NUM_BATCHES].reshape(-1, 2)
        training = [(batch, batch + 1) for batch in stream]
        parts = np.array_split(samples, -(-len(samples) // 2))
        evaluation = [(part, part + 1) for part in parts]
        results.append({"training": training, "evaluation": evaluation})
    return SpyTrial(len(ranks_files), tuple(results))


DATA = {"shards": estimator_data.check_shards, "modes": estimator_data.check_modes}


def test_data_of_a_right_pipeline_pass():
    """Files of one's own, shuffled anew in every epoch; all images once in an evaluation."""
    assert failing(DATA, read([[0, 2, 4], [1, 3, 5]])) == {}


def test_wrong_data_are_named():
    """No shards, shared files, lost files and a missing shuffle are told apart."""
    everything = [0, 1, 2, 3, 4, 5]
    assert "no shard" in failing(DATA, read([everything, everything]))["shards"]
    assert "not disjoint" in failing(DATA, read([[0, 1, 2, 4], [1, 3, 5]]))["shards"]
    assert "not complete" in failing(DATA, read([[0, 2], [1, 3, 5]]))["shards"]
    right = read([[0, 2, 4], [1, 3, 5]])
    dropped = [{**result, "evaluation": result["evaluation"][:-1]} for result in right.results]
    assert "leaves out" in failing(DATA, SpyTrial(2, tuple(dropped)))["modes"]
    in_order = failing(DATA, read([[0, 2, 4], [1, 3, 5]], shuffled=False))
    assert set(in_order) == {"modes"}
    assert "shuffle" in in_order["modes"]


def test_a_file_that_two_ranks_share_is_named():
    """Records dealt out one by one are disjoint and complete, and yet every rank reads every file."""
    right = read([[0, 2, 4], [1, 3, 5]])
    results = []
    for rank in range(2):
        batches = [(np.array([sample]), np.array([sample + 1])) for sample in range(rank, 24, 2)]
        results.append({**right.results[rank], "training": batches, "evaluation": batches})

    assert "shard the list of files" in failing(DATA, SpyTrial(2, tuple(results)))["shards"]


MODEL = {
    "modes": estimator_model.check_modes,
    "average": estimator_model.check_averaged,
    "rate": estimator_model.check_rate,
    "updates": estimator_model.check_statistics,
}


def model_trial(*, training_in_evaluation=False, statistics=1.0, accuracy=None, **changes):
    """Return the trial of a model function whose training is simulated."""
    results = []
    sights = descend(estimator_ranks.NUM_STEPS, own, **changes)
    for of_rank in sights:
        bias = of_rank[-1].bias
        samples = np.concatenate([sight.samples for sight in of_rank])
        sight = spy.Sight(bias, samples, training=training_in_evaluation)
        share = float(np.mean(samples + 1 == np.argmax(bias)))
        results.append(
            {
                "train": of_rank,
                "eval": [sight],
                "predict": [sight],
                "metrics": {"loss": 1.0, "accuracy": share if accuracy is None else accuracy},
                "predictions": [{"classes": int(np.argmax(bias))}],
                "moving_mean": np.full(3, statistics),
            }
        )
    return SpyTrial(len(results), tuple(results), secrets=told(sights))


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_a_right_model_function_passes(num_ranks):
    """All four properties hold, on two ranks and on three."""
    assert failing(MODEL, model_trial(factors=(num_ranks,) * num_ranks)) == {}


@pytest.mark.parametrize(
    ("missing", "name", "word"),
    [
        ({"training_in_evaluation": True}, "modes", "training=True"),
        ({"accuracy": 0.9}, "modes", "accuracy"),
        ({"average": False}, "average", "own gradients"),
        ({"factors": (1, 1)}, "rate", "not scaled"),
        ({"factors": (4, 4)}, "rate", "summed"),
        ({"statistics": 0.0}, "updates", "moving averages"),
    ],
)
def test_each_fault_of_a_model_function_fails_its_own_check(missing, name, word):
    """One fault, one failed check: also the rate is read off when nobody averages."""
    found = failing(MODEL, model_trial(**missing))

    assert set(found) == {name}
    assert word in found[name]


RUNS = {
    "start": estimator_runs.check_start,
    "shards": estimator_runs.check_shards,
    "steps": estimator_runs.check_steps,
    "config": estimator_runs.check_handed_over,
    "continued": estimator_runs.check_continued,
}


def phases(*, visible="0", first=4, left=3, more=0, forgets=False, batches=None, missing=(), **changes):  # noqa: PLR0913  # each a fault
    """Return the phases of a training that is simulated: first, continued and after its end."""
    batches = batches or (lambda rank, step: (8 * rank + 4 * step + np.arange(4)) % 12 + 12 * rank)
    begun = descend(first, batches, **changes)
    last = np.array([of_rank[-1].bias for of_rank in begun], dtype=float)
    continued = descend(left, batches, start=None if forgets else last - 0.01, seed=99, **changes)
    ended = descend(more, batches, **changes)
    results = [
        {
            name: {"sights": sights[rank], "is_estimator": True, "visible": visible}
            for name, sights in (("first", begun), ("continued", continued), ("ended", ended))
            if name not in missing
        }
        for rank in range(2)
    ]
    error = "the deadline of 30 s passed" if missing else ""
    return estimator_runs.Phases(SpyTrial(2, tuple(results), secrets=told(begun)), error)


def test_a_right_training_passes():
    """Started together, on files of their own, divided, configured, and continued."""
    assert failing(RUNS, phases()) == {}


@pytest.mark.parametrize(
    ("fault", "expected", "name", "word"),
    [
        ({"broadcast": False}, {"start", "continued"}, "start", "not broadcast"),
        ({"batches": lambda _, step: np.arange(12) + 12 * (step % 2)}, {"shards"}, "shards", "no shard"),
        ({"first": 8, "left": 0}, {"steps", "continued"}, "steps", "not divided"),
        ({"visible": ""}, {"config"}, "config", "see all GPUs"),
        ({"left": 7}, {"continued"}, "continued", "3 of 7 steps were left"),
        ({"forgets": True}, {"continued"}, "continued", "weights of the checkpoint"),
        ({"more": 2}, {"continued"}, "continued", "[2, 2] more steps"),
        ({"missing": ("ended",)}, {"continued"}, "continued", "did not end well: the deadline"),
        ({"missing": ("first", "continued", "ended")}, set(RUNS), "start", "the deadline"),
    ],
)
def test_each_fault_of_a_training_is_told_apart(fault, expected, name, word):
    """A fault fails its own check, and of the others only what follows from it; a late hang spares what was before."""
    found = failing(RUNS, phases(**fault))

    assert set(found) == expected
    assert word in found[name]


EVALUATION = {"once": estimator_evaluation.check_once, "accuracy": estimator_evaluation.check_accuracy}


def evaluation(shards, accuracies, answer=estimator_evaluation.ANSWER):
    """Return the trial of an evaluation in which the ranks see these samples and return these accuracies.

    Of the samples of rank r every (r + 2)-nd has the label that the network answers.
    """
    numbers = np.arange(NUM_HELD_OUT)
    start = np.random.default_rng(5).normal(0, 0.5, estimator_ranks.NUM_CLASSES)
    bias = start
    for _ in range(estimator_ranks.NUM_STEPS_OF_ANSWER):
        softmax = np.exp(bias) / np.exp(bias).sum()
        bias = bias - estimator_ranks.RATE_OF_ANSWER * (softmax - np.eye(len(bias))[answer + 1])
    results, secrets = [], []
    for rank, (samples, accuracy) in enumerate(zip(shards, accuracies)):
        labels = np.where(numbers % (rank + 2) == 0, estimator_evaluation.ANSWER + 1, 40)
        secrets.append({"starts": [start], "files": {"train": {"numbers": numbers, "labels": labels}}})
        sights = [spy.Sight(bias, np.array(samples, dtype=int), training=False)] if len(samples) else []
        results.append({"result": None if accuracy is None else {"accuracy": accuracy}, "sights": sights})
    return SpyTrial(len(shards), tuple(results), secrets=tuple(secrets))


NUM_HELD_OUT = 50
# The held-out files hold 25, 15 and 10 samples; of two ranks, the first has the files 0 and 2.
# Rank 0 has right answers for even samples: 13 and 5. Rank 1 for multiples of 3, of 25 to 39: 27, 30, 33, 36, 39.
SHARDS = ([*range(25), *range(40, 50)], [*range(25, 40)])
ALL = range(NUM_HELD_OUT)


@pytest.mark.parametrize(
    ("shards", "accuracies", "answer", "expected", "word"),
    [
        (SHARDS, (23 / 50, 23 / 50), 2, None, ""),
        ((ALL, []), (25 / 50, None), 2, None, ""),
        ((ALL, ALL), (25 / 50, 17 / 50), 2, "once", "same work"),
        ((SHARDS[0][:-5], SHARDS[1]), (21 / 45, 21 / 45), 2, "once", "by no rank"),
        ((SHARDS[0], [*SHARDS[1], 0]), (24 / 51, 24 / 51), 2, "once", "2 times"),
        (SHARDS, (0.0, 0.0), 5, "once", "random weights"),
        (SHARDS, ((18 / 35 + 5 / 15) / 2,) * 2, 2, "accuracy", "unequal shards"),
        (SHARDS, (18 / 35, 5 / 15), 2, "accuracy", "one shard alone"),
        (SHARDS, (None, 23 / 50), 2, "accuracy", "at least on rank 0"),
        # A rank that does not know the labels of the other takes its own for them: 18 and 7 right ones.
        (SHARDS, (25 / 50, 25 / 50), 2, "accuracy", "23 of 50"),
    ],
)
def test_evaluations(shards, accuracies, answer, expected, word):
    """Shards or one rank alone are right; work done twice, random weights and wrong means are named."""
    found = failing(EVALUATION, evaluation(shards, accuracies, answer))

    assert set(found) == ({expected} if expected else set())
    assert word in "".join(found.values())


def test_tf_config():
    """The right text passes; a wrong index, a port that is missing, and what is no JSON are named."""

    def text(hosts, index):
        return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})

    workers.check_tf_config(text, 3)
    wrong = {
        "worker 1 is told that its index is 0": lambda hosts, _: text(hosts, 0),
        "the cluster's workers are": lambda hosts, index: text([host.split(":")[0] for host in hosts], index),
        "its index is '0'": lambda hosts, index: text(hosts, str(index)),
        "not 'worker'": lambda hosts, index: text(hosts, index).replace('"type": "worker"', '"type": "chief"'),
        "must return text": lambda hosts, index: json.loads(text(hosts, index)),
        "is not JSON": lambda hosts, index: repr(json.loads(text(hosts, index))),
    }
    for words, tf_config in wrong.items():
        with pytest.raises(CheckError, match=words):
            workers.check_tf_config(tf_config, 3)


def test_workers_of_a_strategy():
    """Together they pass; alone, or with the rate or the steps of one, they do not."""
    checks = {"together": workers.check_together, "plan": workers.check_plan}

    def run(num_steps=estimator_ranks.NUM_STEPS_OF_STRATEGY, **changes):
        sights = descend(num_steps, own, **changes)
        return failing(checks, SpyTrial(2, tuple(sights), secrets=told(sights)))

    assert run() == {}
    assert "not broadcast" in run(broadcast=False, average=False)["together"]
    assert set(run(factors=(1, 1))) == {"plan"}
    assert "5 steps on each of 2 workers, not 6" in run(num_steps=6)["plan"]


def test_free_hosts_are_free_and_differ():
    """Each address can be bound, and no port comes twice."""
    hosts = [estimator_ranks.free_host() for _ in range(5)]

    assert len(set(hosts)) == 5
    for host in hosts:
        name, port = host.split(":")
        with socket.socket() as one:
            one.bind((name, int(port)))
