"""Hints on failed jobs: what Slurm and logs say, and what it means."""

from __future__ import annotations

from typing import NamedTuple


class Hint(NamedTuple):
    """A pattern in what Slurm or a program says, and what that means and what to do; parts in braces are filled in.

    Attributes:
        pattern: a regular expression, or plain words with bars between them.
        words: the meaning and the remedy.
        seen: what a reader sees, where the pattern is not plain words; names in it are in capitals.
    """

    pattern: str
    words: str
    seen: tuple[str, ...] = ()

    @property
    def examples(self) -> tuple[str, ...]:
        """What a reader sees."""
        return self.seen or tuple(self.pattern.split("|"))


MEMORY = (
    "The job used more memory than it had. Take a smaller batch or image size, fewer ranks per node, or more nodes."
)
TIME = (
    "The job reached its time limit. "
    "Train for less, take more nodes, or submit it again: labs 03 and 04 continue from their last checkpoint."
)
NODE = "A node failed under the job, which is not your fault. Submit it again."
KILLED = "The script was killed, usually because memory ran out. Take a smaller batch or image size, or more nodes."

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
    "Check whether `.venv` is in the course folder and whether the modules of the script exist.",
    "126:0": "The script called a file that cannot be run. The log says which.",
}

# What is said of an exception that no row of `LOG_HINTS` knows.
RAISED = Hint(
    "", "The program ended with {name}. The lines above that in the log, or the executed notebook, say where."
)
# Exceptions that follow from others.
CONSEQUENCES = frozenset((
    "PapermillExecutionError", "CellExecutionError", "DeadKernelError", "CheckError",
    "RankError", "HorovodInternalError", "CalledProcessError", "KeyboardInterrupt",
))  # fmt: skip

# What logs say. `{name}` in the words is what the named group of the pattern caught.
LOG_HINTS: tuple[Hint, ...] = (
    Hint(
        "NotImplementedError: your answer goes here",
        "An answer is still missing in the notebook. Write it, then submit again.",
    ),
    Hint(
        "CUDA_ERROR_OUT_OF_MEMORY|OOM when allocating tensor|failed to allocate .* (?:on|from) device"
        r"|Allocator \(GPU_\w+\) ran out of memory",
        "The GPU's memory was not enough. Take a smaller batch or image size, and one rank per GPU.",
        ("CUDA_ERROR_OUT_OF_MEMORY", "OOM when allocating tensor"),
    ),
    Hint(
        "Out Of Memory|Out of memory|out of memory|out-of-memory|oom-kill|oom_kill|Exceeded job memory limit"
        "|exceeded memory limit|MemoryError|std::bad_alloc|Cannot allocate memory",
        MEMORY,
    ),
    Hint(r"line \d+: +\d+ Killed |Detected \d+ oom", KILLED, ("line 7: 4242 Killed python train.py",)),
    Hint("DUE TO TIME LIMIT", TIME),
    Hint("DUE TO NODE FAILURE|Node failure on", NODE),
    Hint("DUE TO PREEMPTION", STATES["PREEMPTED"]),
    Hint(
        "the time limit is near|stopped by a signal",
        "The job was asked to stop, usually because its time limit was near, and saved its work. Train for less, "
        "take more nodes, or submit it again: labs 03 and 04 continue from their last checkpoint.",
    ),
    Hint(
        r'module\(s\) are unknown:\s+"(?P<name>[^"]+)"|cannot be loaded as requested:\s+"(?P<other>[^"]+)"'
        "|Unable to locate a modulefile for '(?P<third>[^']+)'",
        "The module {name} is not on this machine, or needs another one first. Find the right name with "
        "`module spider` or `module avail`, and tell the course's instructors: the site's profile is out of "
        "date.",
        (
            'The following module(s) are unknown: "NAME"',
            'These module(s) exist but cannot be loaded as requested: "NAME"',
            "Unable to locate a modulefile for 'NAME'",
        ),
    ),
    Hint(
        "module: command not found|ml: command not found",
        "The script's shell has no `module` command. "
        "The script must begin with the `#!` line that the site's profile gives as `shell`.",
    ),
    Hint(
        r"\.venv/bin/\S+: (No such file or directory|command not found)"
        r"|execve\(\): \S*\.venv\S*: No such file",
        "The course's Python is not there. Make it in the course folder, on this machine, as docs/clusters.md says.",
        (".venv/bin/python: No such file or directory", ".venv/bin/coursekit: command not found"),
    ),
    Hint(
        r"No module named '(?P<name>[\w.]+)'",
        "Python does not find {name}. Load the site's modules, or make the course's `.venv` again.",
        ("No module named 'NAME'",),
    ),
    Hint(
        r"(?P<name>[\w./+-]+): command not found|execve\(\): (?P<other>\S+): No such file or directory",
        "There is no program {name} on the node. Check whether `.venv` is in the course folder and the "
        "modules are loaded.",
        ("NAME: command not found", "execve(): NAME: No such file or directory"),
    ),
    Hint(
        "Exec format error|cannot execute binary file|Illegal instruction",
        "A program was compiled for a different kind of processor. "
        "Make the course's environment again on this machine.",
    ),
    Hint(
        "Address already in use|EADDRINUSE|is already in use",
        "A port that the job needs is used by another program on that node. Submit again, or choose another port.",
    ),
    Hint(
        "RankTimeoutError|Where each rank was|One or more tensors were submitted to be reduced|stalled for longer than",
        "Some ranks waited in a collective that another rank did not call: a collective completes only when every rank "
        "calls it. The lines around this one say which rank waits where.",
    ),
    Hint(
        "ncclCommInitRank failed: invalid usage",
        "Two ranks have the same GPU, which NCCL refuses. Ask for as many GPUs on each node as it has ranks, and pin "
        "every rank to the one of its hvd.local_rank().",
    ),
    Hint(
        "ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidUsage|ncclRemoteError"
        "|NCCL error|NCCL failure",
        "NCCL, which moves gradients between GPUs, failed. Submit again with NCCL_DEBUG=INFO set, and show "
        "the lines with `NCCL WARN` to the course's instructors.",
    ),
    Hint(
        "Disk quota exceeded|No space left on device",
        "The disk is full, or your quota is used up. Remove files, or work in the site's scratch folder.",
    ),
    Hint(
        "Temporary failure in name resolution|Name or service not known|Network is unreachable|Failed "
        "to establish a new connection",
        "The job tried to reach the internet, which compute nodes often cannot do. Download what it needs on the "
        "login node first.",
    ),
    Hint(
        "Couldn't find the specified plugin name for mpi/|Invalid MPI type|Invalid MPI plugin type"
        "|Can't find plugin for mpi/",
        "Slurm has no such MPI plugin: `srun --mpi=list` shows those that it has. Tell the course's "
        "instructors: the site's profile is out of date.",
    ),
    Hint(
        "PMIX ERROR|PMI_Init failed|PMI2_Init failed|An error occurred in MPI_Init",
        "MPI did not start: the `--mpi` of srun and the MPI of Horovod do not match.",
    ),
    Hint(
        r"Unable to create step for job \d+: (?P<name>.+)",
        "A job step did not fit into the job ({name}). Start fewer ranks, or submit with more --nodes.",
        ("Unable to create step for job 123456: REASON",),
    ),
    Hint(
        "Invalid account or account/partition combination|Invalid qos specification",
        "The account or the QOS is wrong. Set SBATCH_ACCOUNT and SBATCH_QOS as the course's instructors say.",
    ),
    Hint("Permission denied", "The job was not allowed to use a file or folder. The line says which one."),
)

# What may be harmless (TensorFlow misses a GPU on every machine without one), or follow from something else.
WEAK_HINTS: tuple[Hint, ...] = (
    Hint(
        "CUDA_ERROR_NO_DEVICE|no CUDA-capable device|CUDA driver version is insufficient",
        "The job saw no usable GPU. Check whether its script asks for GPUs, and whether the modules fit the driver.",
    ),
    Hint(
        "PapermillExecutionError|Exception encountered at",
        "A cell of the notebook failed. The executed notebook shows its error.",
    ),
)
