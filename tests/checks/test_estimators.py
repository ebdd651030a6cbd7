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
from coursekit.drivers import estimator_ranks, keras_spy, spy, worker_ranks

RATE = estimator_ranks.RATE


def descend(  # noqa: PLR0913  # each a fault
    num_steps, batches, *, broadcast=True, average=True, factors=(2, 2), start=None, seed=3, momentum=0.9
):
    """Return the sights of ranks that descend with momentum; `batches(rank, step)` gives their samples."""
    num_ranks = len(factors)
    rng = np.random.default_rng(seed)
    bias = rng.normal(0, 0.5, (num_ranks, keras_spy.NUM_CLASSES))
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
        velocity = momentum * velocity + gradients
        bias = bias - RATE * np.array(factors)[:, np.newaxis] * velocity
    return sights


def told(sights):
    """Return the secrets of ranks that were given what these sights show; files hold the samples from 0 on."""
    return tuple(
        {
            "starts": [of_rank[0].bias, np.full_like(of_rank[0].bias, 100 * rank)],
            "samples": np.concatenate([sight.samples for sight in of_rank]),
            "files": {"train": {"numbers": np.arange(sum(estimator_runs.SAMPLES_PER_FILE))}},
        }
        for rank, of_rank in enumerate(sights)
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
    """Front and back of the list are right, each in any order."""
    estimator_data.check_split_files(lambda files, num: (files[: 7 - num], files[7 - num :]), [(7, num_held_out)])
    estimator_data.check_split_files(lambda files, num: [files[: 7 - num], files[::-1][:num]], [(7, num_held_out)])


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (lambda files, num: (files[:-num], files[-num + 1 :]), "in neither part"),
        (lambda files, num: (files[: -num + 1], files[-num:]), "in both parts"),
        (lambda files, num: (files[:num], files[num:]), r"expected parts of \(4, 3\) files, got \(3, 4\)"),
        (lambda files, num: (files[num:], files[:num]), "expected the last files held out, got "),
        (lambda files, num: (files, [files.pop() for _ in range(num)]), "has 4 files afterwards"),
        (lambda files, _: files, "expected two lists"),
        (lambda *_: None, "what split_files returns: expected a sequence, got nothing"),
    ],
)
def test_a_wrong_split_is_named(split, words):
    """The message says how many files are where they must not be."""
    with pytest.raises(CheckError, match=words):
        estimator_data.check_split_files(split, [(7, 3)])


def read(workers_files, *, faults=()):
    """Return what a pipeline gives that reads these files as each worker, by hand."""
    ends = np.cumsum((0, *estimator_data.SAMPLES_PER_FILE))
    results = []
    for files in workers_files:
        samples = np.concatenate([np.arange(ends[file], ends[file + 1]) for file in files])
        result = {way: order(samples, seed, faults) for way, (_, seed) in WAYS.items()}
        if "no seed" in faults:
            result["again"] = order(samples, 77, faults)
        parts = np.array_split(samples, -(-len(samples) // 2))
        result["evaluation"] = [(part, part + 1) for part in parts]
        mirrored = np.arange(8) % 2 == 0
        cut = {"evaluation": mirrored & ("all cut" in faults), "training": mirrored & ("none cut" not in faults)}
        results.append({**result, "mirrored": {**dict.fromkeys(result, mirrored), **cut}})
    return SpyTrial(len(workers_files), tuple(results))


def order(samples, seed, faults):
    """Return batches for training."""
    rng = np.random.default_rng(0 if "other seed" in faults else seed)
    num_epochs = estimator_ranks.NUM_BATCHES
    if "not shuffled" in faults:
        epochs = [samples] * num_epochs
    elif "repeated first" in faults:
        epochs = [rng.permutation(np.repeat(samples, num_epochs))]
    elif "one order" in faults:
        epochs = [rng.permutation(samples)] * num_epochs
    elif "small buffer" in faults:
        epochs = [np.concatenate([rng.permutation(part) for part in np.array_split(samples, len(samples) // 3)])]
        epochs += [rng.permutation(samples) for _ in range(num_epochs)]
    else:
        epochs = [rng.permutation(samples) for _ in range(num_epochs)]
    stream = np.concatenate(epochs)[: 2 * num_epochs].reshape(-1, 2)
    return [(batch, batch + 1) for batch in stream]


WAYS = estimator_data.MODES | estimator_data.SEEDS
DATA = {"shards": estimator_data.check_shards, "modes": estimator_data.check_modes}
RIGHT_FILES = ([0, 2, 4, 6], [1, 3, 5])


def test_data_of_a_right_pipeline_pass():
    """Files of one's own, shuffled anew in every epoch; all images once in an evaluation."""
    assert failing(DATA, read(RIGHT_FILES)) == {}


def test_wrong_shards_are_named():
    """No shards, shared files and lost files are told apart."""
    everything = [0, 1, 2, 3, 4, 5, 6]
    assert "no shard" in failing(DATA, read([everything, everything]))["shards"]
    assert "not disjoint" in failing(DATA, read([[0, 1, 2, 4, 6], [1, 3, 5]]))["shards"]
    assert "not complete" in failing(DATA, read([[0, 2, 4], [1, 3, 5]]))["shards"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("not shuffled", "in the order of the files"),
        ("repeated first", "come twice before others"),
        ("one order", "every epoch comes in the same order"),
        ("small buffer", "places early"),
        ("no seed", "two runs see different orders"),
        ("other seed", "another params"),
        ("all cut", "the images for evaluation are cut"),
        ("none cut", "the images for training are not cut"),
    ],
)
def test_each_fault_of_a_pipeline_has_its_sentence(fault, words):
    """A fault of the modes fails them alone."""
    found = failing(DATA, read(RIGHT_FILES, faults=(fault,)))

    assert set(found) == {"modes"}
    assert words in found["modes"]


def test_an_evaluation_that_drops_images_is_named():
    """So is one without end."""
    right = read(RIGHT_FILES)
    dropped = [{**result, "evaluation": result["evaluation"][:-1]} for result in right.results]
    endless = [{**result, "evaluation": result["training"]} for result in right.results]
    assert "leaves out" in failing(DATA, SpyTrial(2, tuple(dropped)))["modes"]
    assert "no end" in failing(DATA, SpyTrial(2, tuple(endless)))["modes"]


def test_a_file_that_two_ranks_share_is_named():
    """Records dealt out one by one are disjoint and complete, and yet every worker reads every file."""
    right = read(RIGHT_FILES)
    results = []
    for rank in range(2):
        batches = [
            (np.array([sample]), np.array([sample + 1]))
            for sample in range(rank, sum(estimator_data.SAMPLES_PER_FILE), 2)
        ]
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
        ({"momentum": 0.5}, "average", "SGD with momentum 0.9"),
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


def phases(  # noqa: PLR0913  # each a fault
    *, visible="0", hook_calls=4, first=4, left=3, more=0, forgets=False, root=0, batches=None, missing=(), **changes
):
    """Return the phases of a training that is simulated: first, continued and after its end."""
    batches = batches or (lambda rank, step: (4 * step + np.arange(4)) % (12 - 3 * rank) + 12 * rank)
    begun = descend(first, batches, **changes)
    last = np.array([of_rank[-1].bias for of_rank in begun], dtype=float)
    last = np.full_like(last, 100 * root) + 0.01 if root else last
    continued = descend(left, batches, start=None if forgets else last - 0.01, seed=99, **changes)
    ended = descend(more, batches, **changes)
    results = [
        {
            name: {"sights": sights[rank], "is_estimator": True, "visible": visible, "num_hook_calls": hook_calls}
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
        ({"batches": lambda _, step: (4 * step + np.arange(4)) % 21}, {"shards"}, "shards", "no shard"),
        ({"batches": lambda rank, step: (4 * step + np.arange(4)) % 9 + 9 * rank}, {"shards"}, "shards", "by no rank"),
        (
            {"batches": lambda rank, step: (3 * step + np.arange(3)) % (12 - 3 * rank) + 12 * rank},
            {"steps"},
            "steps",
            "[3]",
        ),
        ({"first": 8, "left": 0}, {"steps", "continued"}, "steps", "not divided"),
        ({"visible": ""}, {"config"}, "config", "see all GPUs"),
        ({"hook_calls": 0}, {"config"}, "config", "calls the hooks"),
        ({"left": 7, "root": 1}, {"continued"}, "continued", "no checkpoint"),
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
    start = np.random.default_rng(5).normal(0, 0.5, keras_spy.NUM_CLASSES)
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
# The held-out files hold 21, 13, 9, 4 and 3 samples; of two ranks, the first has the files 0, 2 and 4.
# Rank 0 has right answers for even samples: 11, 5 and 1. Rank 1 for multiples of 3: 21, 24, 27, 30, 33 and 45.
SHARDS = ([*range(21), *range(34, 43), 47, 48, 49], [*range(21, 34), *range(43, 47)])
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
        (SHARDS, ((17 / 33 + 6 / 17) / 2,) * 2, 2, "accuracy", "unequal shards"),
        (SHARDS, (17 / 33, 6 / 17), 2, "accuracy", "one shard alone"),
        (SHARDS, (None, 23 / 50), 2, "accuracy", "at least on rank 0"),
        # A rank that does not know the labels of the other takes its own for them: 17 and 8 right ones.
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
        "the index of worker 1: expected 1, got 0": lambda hosts, _: text(hosts, 0),
        "the cluster's workers: expected": lambda hosts, index: text([host.split(":")[0] for host in hosts], index),
        "expected 0, got '0'": lambda hosts, index: text(hosts, str(index)),
        "expected 'worker', got 'chief'": lambda hosts, index: text(hosts, index).replace(
            '"type": "worker"', '"type": "chief"'
        ),
        "the part 'task' of TF_CONFIG: expected": lambda hosts, _: json.dumps({"cluster": {"worker": hosts}}),
        "must return text": lambda hosts, index: json.loads(text(hosts, index)),
        "is not JSON": lambda hosts, index: repr(json.loads(text(hosts, index))),
    }
    for words, tf_config in wrong.items():
        with pytest.raises(CheckError, match=words):
            workers.check_tf_config(tf_config, 3)


def test_workers_of_a_strategy():
    """Together they pass; alone, or with the rate or the steps of one, they do not."""
    checks = {"together": workers.check_together, "plan": workers.check_plan}

    def run(num_steps=worker_ranks.NUM_STEPS, num_calls=5, **changes):
        sights = descend(num_steps, four, **changes)
        results = [{"sights": of_rank, "num_callback_calls": num_calls} for of_rank in sights]
        return failing(checks, SpyTrial(2, tuple(results), secrets=told(sights)))

    def four(rank, step):
        return (4 * step + np.arange(4)) % (12 - 3 * rank) + 12 * rank

    assert run() == {}
    assert "not broadcast" in run(broadcast=False, average=False)["together"]
    assert set(run(factors=(1, 1))) == {"plan"}
    assert "each of 2 workers: expected 5, got 6" in run(num_steps=6)["plan"]
    assert set(run(momentum=0.5)) == {"together"}
    assert "no callback" in run(num_calls=0)["plan"]
    assert run(num_calls=None) == {}


def test_free_hosts_are_free_and_differ():
    """Each address can be bound, and no port comes twice."""
    hosts = [worker_ranks.free_host() for _ in range(5)]

    assert len(set(hosts)) == 5
    for host in hosts:
        name, port = host.split(":")
        with socket.socket() as one:
            one.bind((name, int(port)))
