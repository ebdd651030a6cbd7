"""Hints on failed jobs: what Slurm and logs say, and what it means."""

from __future__ import annotations

from typing import NamedTuple


class Hint(NamedTuple):
    """A pattern in what Slurm or a program says, and what that means and what to do; parts in braces are filled in."""

    pattern: str
    words: str


MEMORY = (
    "The job used more memory than it had. Take a smaller batch or image size, fewer ranks per node, or more nodes."
)
TIME = (
    "The job reached its time limit. "
    "Train for less, take more nodes, or submit it again: labs 03 and 04 go on from their last checkpoint."
)
NODE = "A node failed under the job, which is not your fault. Submit it again."
KILLED = "The script was killed, mostly because memory ran out. Take a smaller batch or image size, or more nodes."

# States of Slurm (sacct's manual).
STATES: dict[str, str] = {
    "OUT_OF_MEMORY": MEMORY,
    "TIMEOUT": TIME,
    "CANCELLED": "The job was cancelled{by}.",
    "NODE_FAIL": NODE,
    "BOOT_FAIL": NODE,
    "PREEMPTED": "The job had to make room for a more important one. Submit it again.",
    "DEADLINE": "The job could not end before its deadline.",
}

# Exit codes as Slurm writes them, `status:signal`; it takes a shell's 137 = 128 + 9 apart itself.
EXIT_CODES: dict[str, str] = {
    "137:0": KILLED,
    "9:0": KILLED,
    "0:9": KILLED,
    "127:0": "The script called a program that is not there. "
    "Look whether `.venv` is in the course folder and whether the modules of the script exist.",
    "126:0": "The script called a file that cannot be run. The log says which.",
}

# What logs say, most telling first. `{name}` in the words is what the named group of the pattern caught.
LOG_HINTS: tuple[Hint, ...] = (
    Hint(
        "NotImplementedError: your answer goes here",
        "An answer is still missing in the notebook. Write it, then submit again.",
    ),
    Hint(
        "CUDA_ERROR_OUT_OF_MEMORY|OOM when allocating tensor|failed to allocate .* on device",
        "The GPU's memory was not enough. Take a smaller batch or image size, and one rank per GPU.",
    ),
    Hint(
        "oom[-_ ]kill|[Oo]ut[- ][Oo]f[- ][Mm]emory|Exceeded job memory limit|exceeded memory limit"
        r"|MemoryError\b|std::bad_alloc|Cannot allocate memory",
        MEMORY,
    ),
    Hint(r"line \d+: +\d+ Killed |Detected \d+ oom", KILLED),
    Hint("DUE TO TIME LIMIT", TIME),
    Hint("DUE TO NODE FAILURE|Node failure on", NODE),
    Hint("DUE TO PREEMPTION", STATES["PREEMPTED"]),
    Hint(
        "the time limit is near|interrupted after .* stopped by a signal",
        "The job was told to stop, mostly because its time limit was near, and saved what was done. Train for less, "
        "take more nodes, or submit it again: labs 03 and 04 go on from their last checkpoint.",
    ),
    Hint(
        r'module\(s\) are unknown:\s+"(?P<name>[^"]+)"|cannot be loaded as requested:\s+"(?P<other>[^"]+)"'
        "|Unable to locate a modulefile for '(?P<third>[^']+)'",
        "The module {name} is not on this machine, or needs another one first. Find the right name with "
        "`module spider` or `module avail`, and tell the course's instructors: the site's profile is out of "
        "date.",
    ),
    Hint(
        "(module|ml): command not found",
        "The script's shell knows no `module`. Its first line must be that of the site's profile.",
    ),
    Hint(
        r"\.venv/bin/\S+: (No such file or directory|command not found)"
        r"|execve\(\): \S*\.venv\S*: No such file",
        "The course's Python is not there. Make it with `make env` in the course folder, on this machine.",
    ),
    Hint(
        r"No module named '(?P<name>[\w.]+)'",
        "Python does not find {name}. Load the site's modules, or make the course's environment again with `make env`.",
    ),
    Hint(
        r"(?P<name>[\w./+-]+): command not found|execve\(\): (?P<other>\S+): No such file or directory",
        "There is no program {name} on the node. Look whether `.venv` is in the course folder and the "
        "modules are loaded.",
    ),
    Hint(
        "Exec format error|cannot execute binary file|Illegal instruction",
        "A program was made for another kind of processor. Make the course's environment again on this machine.",
    ),
    Hint(
        r"Address already in use|EADDRINUSE|port \d+ is (already )?in use",
        "A port that the job wanted is taken by another program on that node. Submit again, or choose another port.",
    ),
    Hint(
        r"RankTimeoutError|all ranks were ended\. Where they stood"
        "|One or more tensors were submitted to be reduced|stalled for longer than",
        "Ranks waited for one that did not come: a collective ends only when every rank calls it. The lines "
        "around it say who waits where.",
    ),
    Hint(
        "ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidUsage|ncclRemoteError"
        "|NCCL error|NCCL failure",
        "NCCL, which moves gradients between GPUs, failed. Submit again with NCCL_DEBUG=INFO set, and show "
        "the lines with `NCCL WARN` to the course's instructors.",
    ),
    Hint(
        "CUDA_ERROR_NO_DEVICE|no CUDA-capable device|CUDA driver version is insufficient",
        "The job saw no usable GPU. Look whether its script asks for GPUs and the modules fit the driver.",
    ),
    Hint(
        "Disk quota exceeded|No space left on device",
        "The disk is full, or your quota is used up. Remove files, or work in the site's scratch folder.",
    ),
    Hint(
        "Temporary failure in name resolution|Name or service not known|Network is unreachable|Failed "
        "to establish a new connection",
        "The job wanted something from the internet, which compute nodes often do not reach. Fetch it on the "
        "login node first.",
    ),
    Hint(
        "Couldn't find the specified plugin name for mpi/|[Ii]nvalid MPI (plugin )?type|Can't find plugin for mpi/",
        "Slurm has no such MPI plugin: `srun --mpi=list` shows those that it has. Tell the course's "
        "instructors: the site's profile is out of date.",
    ),
    Hint(
        "PMIX ERROR|PMI2?_Init failed|MPI_Init(_thread)? .*fail|An error occurred in MPI_Init",
        "MPI did not start: the `--mpi` of srun and the MPI of Horovod do not fit each other.",
    ),
    Hint(
        r"Unable to create step for job \d+: (?P<name>.+)",
        "A job step did not fit into the job ({name}). Start fewer ranks, or submit with more --nodes.",
    ),
    Hint(
        "Invalid account or account/partition combination|Invalid qos specification",
        "The account or the QOS is wrong. Set SBATCH_ACCOUNT and SBATCH_QOS as the course's instructors say.",
    ),
    Hint("Permission denied", "The job was not allowed to use a file or folder. Look at the line for which one."),
    Hint(
        "PapermillExecutionError|Exception encountered at",
        "A cell of the notebook failed. Its error stands in the executed notebook.",
    ),
)
