"""What a rank cannot know, it cannot report: secrets differ, are sent, and weights must follow from them."""

import numpy as np
import pytest

from coursekit.checks import CheckError, private_data
from coursekit.checks.random_inputs import repeatable
from coursekit.checks.steps import Steps

NUM_CLASSES, NUM_STEPS, BATCH_SIZE, RATE, MOMENTUM = 31, 6, 3, 0.3, 0.9


def told(num_ranks=2):
    """Return secrets of ranks, the same in every test."""
    with repeatable(7):
        return private_data.secrets(num_ranks, NUM_CLASSES, num_rounds=2, num_samples=NUM_STEPS * BATCH_SIZE)


def descend(told, *, broadcast_before=0, average=True):
    """Return the steps of SGD with momentum from the starts and samples told; all get rank 0's weights once."""
    num_ranks = len(told)
    bias = np.array([secret["starts"][0] for secret in told], dtype=float)
    samples = np.array([secret["samples"].reshape(NUM_STEPS, BATCH_SIZE) for secret in told])
    move, seen = np.zeros_like(bias), []
    for step in range(NUM_STEPS):
        if step == broadcast_before:
            bias, move = (np.repeat(values[:1], num_ranks, axis=0) for values in (bias, move))
        seen.append(bias)
        softmax = np.exp(bias) / np.exp(bias).sum(axis=1, keepdims=True)
        gradients = softmax - np.eye(NUM_CLASSES)[samples[:, step] + 1].mean(axis=1)
        if average:
            gradients = np.repeat(gradients.mean(axis=0, keepdims=True), num_ranks, axis=0)
        move = MOMENTUM * move - RATE * gradients
        bias = bias + move
    return Steps(np.array(seen).swapaxes(0, 1), tuple(tuple(batches) for batches in samples))


def said(function, *args):
    """Return what the `CheckError` says that this call raises."""
    with pytest.raises(CheckError) as caught:
        function(*args)
    return str(caught.value)


def test_secrets_differ():
    """No two ranks and no two rounds have one start, no two ranks a sample, and each run draws anew."""
    first, second = private_data.secrets(2, NUM_CLASSES, num_rounds=2, num_samples=12, files={"train": (3, 2)})
    starts = np.concatenate([first["starts"], second["starts"]])

    assert len(np.unique(starts.round(5), axis=0)) == 4
    assert not set(first["samples"]) & set(second["samples"])
    assert first["files"]["train"]["counts"] == [3, 2]
    assert len(set(first["files"]["train"]["numbers"])) == 5
    assert first["files"]["train"]["labels"].tolist() == (first["files"]["train"]["numbers"] + 1).tolist()
    assert not np.array_equal(first["starts"], private_data.secrets(2, NUM_CLASSES, num_rounds=2)[0]["starts"])


def test_samples_are_told_by_their_place_in_the_files():
    """Images and labels become places; what is not in the files is not a place; wrong pairs stay wrong."""
    secret = {"files": {"train": {"numbers": np.array([9, 4, 200])}}}

    assert private_data.places_in_files(np.array([200, 9, 5, -1, 216, 4]), secret).tolist() == [2, 0, -1, -1, -1, 1]
    batches = [([4, 9], [5, 10]), ([4], [4]), ([4], ["5"])]
    found = private_data.batches_in_files([(np.array(one), np.array(labels)) for one, labels in batches], secret)
    assert [(samples.tolist(), labels.tolist()) for samples, labels in found] == [
        ([1, 0], [2, 1]),
        ([1], [-1]),
        ([1], [-1]),
    ]


@pytest.mark.parametrize("num_ranks", [1, 2, 3])
@pytest.mark.parametrize("broadcast_before", [0, 1, 2, None])
@pytest.mark.parametrize("average", [True, False])
def test_what_was_computed_follows(num_ranks, broadcast_before, average):
    """Whenever a start is broadcast, and whether gradients are averaged or not, the weights follow from the secrets."""
    secrets = told(num_ranks)
    steps = descend(secrets, broadcast_before=broadcast_before, average=average)

    private_data.check_follows(steps, secrets)
    private_data.check_sent(steps.samples, secrets)


@pytest.mark.parametrize("first_forged", [1, 2])
def test_weights_that_jump_are_refused(first_forged):
    """Ranks that report their own start, and then what they agreed on beforehand, are found out."""
    secrets = told()
    chosen = [{**secret, "starts": np.full_like(secret["starts"], 0.1)} for secret in secrets]
    real, forged = descend(secrets, broadcast_before=None, average=False), descend(chosen)
    bias = np.concatenate([real.bias[:, :first_forged], forged.bias[:, first_forged:]], axis=1)

    message = said(private_data.check_follows, Steps(bias, real.samples), secrets)
    assert (
        message == f"the weights of rank 0 before step {first_forged} cannot result from the ranks' weights and images"
    )


def test_other_samples_than_those_sent_are_refused():
    """Samples that a rank did not get are named; fewer than sent are no fault of theirs, nor are they when repeated."""
    secrets = told()
    steps = descend(secrets)
    few = [of_rank[:2] for of_rank in steps.samples]

    private_data.check_sent(few, secrets)
    private_data.check_sent([[*of_rank, of_rank[0]] for of_rank in few], secrets, 2 * BATCH_SIZE)
    assert "rank 1 does not train on the images that it was given" in said(
        private_data.check_sent, [steps.samples[0], steps.samples[0]], secrets
    )
