"""A site's file is read strictly: whatever is unknown, missing or does not fit is named with file and key."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError

FILE = "slurm/sites/nautilus.toml"


def refusal(checkout) -> str:
    """Return the sentence with which the site is refused."""
    with pytest.raises(CourseKitError) as caught:
        checkout.load()
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "place", "allowed"),
    [
        ("billing_unit =", "", "title, status, summary, default_partition, num_nodes, internet_on_nodes"),
        ("account_example =", " [access]", "login, account_example, notes"),
        ("shell =", " [software]", "shell, before, modules, after, srun_options, environment, notes"),
        ("gpu_of_rank =", " [launch]", "gpu_of_rank, srun_options, mpi, interface"),
        ("imagenet =", " [storage]", "scratch_variable, dataset_variable, imagenet, notes"),
        ("tunnel =", " [jupyter]", "address, tunnel, notes"),
        (
            'slurm_name = "abyss"',
            " [partitions.deep]",
            "slurm_name, requested, gpu, cpu, fabric, gpu_request, num_gpus_per_node",
        ),
        (
            "max_time_min = 600",
            " [qos.dive]",
            "max_time_min, max_num_gpus, max_num_jobs_per_user, max_num_submitted_per_user",
        ),
        ("doubt =", " [confirm.0]", "key, doubt, command"),
    ],
)
def test_an_unknown_key_is_named_with_those_allowed(checkout, line, place, allowed):
    """At every level of the file."""
    checkout.change(line, f"depth = 20000\n{line}")

    sentence = refusal(checkout)

    assert sentence.startswith(f"{FILE}{place}: unknown key(s) ['depth']; allowed are {allowed}")


@pytest.mark.parametrize(
    ("line", "place", "key"),
    [
        ('title = "Nautilus, Vulcania"\n', "", "title"),
        ('account_example = "nemo"\n', " [access]", "account_example"),
        ('shell = "#!/bin/bash -l"\n', " [software]", "shell"),
        ('gpu_of_rank = "Every rank sees all GPUs of its node."\n', " [launch]", "gpu_of_rank"),
        ('imagenet = ""\n', " [storage]", "imagenet"),
        ('slurm_name = "abyss"\n', " [partitions.deep]", "slurm_name"),
        ('command = "srun --mpi=list"\n', " [confirm.0]", "command"),
    ],
)
def test_a_missing_key_is_named(checkout, line, place, key):
    """A profile has no silent defaults for what every machine has."""
    checkout.change(line, "")

    sentence = refusal(checkout)

    assert sentence.startswith(f"{FILE}{place}: missing key(s) ['{key}']; needed are ")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('status = "current"', 'status = "sunk"', "{}: status is 'sunk', but must be one of current, retired."),
        (
            'default_partition = "deep"',
            'default_partition = "abyss"',
            "{}: default_partition is 'abyss', but must be one of deep, test.",
        ),
        (
            'qos = ["dive"]',
            'qos = ["dive", "float"]',
            "{} [partitions.deep]: qos is 'float', but must be one of dive.",
        ),
        (
            'qos = ["dive"]',
            'partition_qos = "float"',
            "{} [partitions.deep]: partition_qos is 'float', but must be one of dive.",
        ),
        (
            'shares_nodes_with = "deep"',
            'shares_nodes_with = "test"',
            "{} [partitions.test]: shares_nodes_with is 'test', but must be one of deep.",
        ),
        (
            '"--constraint=cold&dark"',
            '"--constraint=cold&wet"',
            "{} [partitions.deep]: the feature of --constraint is 'wet', but must be one of cold, dark.",
        ),
        (
            "default_time_min = 90",
            "default_time_min = 1441",
            "{} [partitions.deep]: default_time_min must not be above max_time_min.",
        ),
        (
            'directives = ["--constraint=cold&dark"]',
            'directives = ["-C cold"]',
            "{} [partitions.deep]: directives has '-C cold': write the long form, which begins with two dashes.",
        ),
        (
            'shell = "#!/bin/bash -l"',
            'shell = "bash"',
            "{} [software]: shell must begin with #!, as scripts do, not 'bash'.",
        ),
        (
            "{node}:{port}",
            "{host}:{port}",
            "{} [jupyter]: tunnel uses ['host']; allowed are {{node}}, {{port}}, {{user}}.",
        ),
        (
            'key = "launch.mpi"',
            'key = "launch.mpich"',
            "{} [[confirm]]: there is no key 'launch.mpich' to doubt.",
        ),
        (
            "num_nodes = 2\n",
            "num_nodes = 21\n",
            "{}: num_nodes is 21, but a job of the default partition has at most 20 nodes.",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(checkout, old, new, sentence):
    """One sentence says where, and what would fit."""
    checkout.change(old, new)

    assert refusal(checkout) == sentence.format(FILE)


@pytest.mark.parametrize("option", ["--gpus-per-task=1", "--gpu-bind=single:1"])
@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('directives = ["--constraint=cold&dark"]', 'directives = ["{}"]', "[partitions.deep]: directives"),
        ('mpi = "pmix"', 'srun_options = ["{}"]', "[launch]: srun_options"),
    ],
)
def test_ranks_may_not_lose_sight_of_the_gpus_of_their_node(checkout, option, old, new, place):
    """The labs pin `gpus[hvd.local_rank()]`: with one visible GPU, all ranks but the first would fail."""
    checkout.change(old, new.format(option))

    assert refusal(checkout) == (
        f"{FILE} {place} has '{option}', which shows a rank only its own GPU; "
        "ranks pin the GPU of their local rank and have to see all of their node."
    )


def test_more_cpus_than_a_node_has_are_refused(checkout):
    """Such a job would never start."""
    text = checkout.file.read_text(encoding="utf-8")
    checkout.file.write_text(text.replace("num_cpus_per_gpu = 8", "num_cpus_per_gpu = 9", 1), encoding="utf-8")

    assert refusal(checkout) == (
        f"{FILE} [partitions.deep]: 4 ranks with 9 CPUs each need 36, but num_cpus_per_node is 32."
    )


def test_partitions_that_share_nodes_say_the_same_of_them(checkout):
    """The very same node cannot have two sizes."""
    text = checkout.file.read_text(encoding="utf-8")
    checkout.file.write_text(text.replace("memory_gb = 256", "memory_gb = 512", 1), encoding="utf-8")

    assert refusal(checkout) == (
        f"{FILE} [partitions.test]: memory_gb is 256, but its nodes are those of a partition with 512."
    )


def test_gpus_that_are_not_there_cannot_be_asked_for(checkout):
    """`gpu = "none"` and a request for GPUs contradict each other."""
    text = checkout.file.read_text(encoding="utf-8")
    checkout.file.write_text(text.replace('gpu = "Kraken 8"', 'gpu = "none"', 1), encoding="utf-8")

    assert refusal(checkout) == (f"{FILE} [partitions.deep]: gpu is \"none\", but gpu_request is 'gres': name the GPU.")


def test_a_browser_must_reach_jupyterlab_somehow(checkout):
    """By a hub or a tunnel."""
    checkout.change('tunnel = "ssh', '# tunnel = "ssh')

    assert refusal(checkout) == f"{FILE} [jupyter]: address or tunnel must say how a browser reaches JupyterLab."
