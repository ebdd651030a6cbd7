"""Limits of control groups, and what the kernel refused in them: real groups, and what other machines' files say."""

import math
import subprocess
import sys
import threading
import time

import pytest

from coursekit.grading.isolation import cgroups
from coursekit.grading.isolation.cgroups import Refusals

MIB = 1 << 20
GREEDY = f"import pathlib; pathlib.Path('/proc/self/oom_score_adj').write_text('1000'); bytearray({1000 * MIB})"


def start_threads(number):
    """Start threads that sleep until this process ends."""
    for _ in range(number):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def test_the_lowest_limit_of_all_groups_above_a_process_counts(limited, in_fork):
    """Of memory, and of time on the cores; where nothing limits, they are infinite."""
    limited(memory=100 * MIB, cpu=50_000)
    enter = limited(memory=200 * MIB, cpu=40_000)

    def look():
        enter()
        return cgroups.memory_bytes(), cgroups.num_cores()

    assert in_fork(look) == [100 * MIB, 0.4]


def test_what_the_kernel_refuses_is_counted(limited, in_fork):
    """A process that is killed in a group whose memory is limited above it, and threads that are not started."""
    limited(memory=500 * MIB, pids=20)
    enter = limited(memory=2000 * MIB, pids=8)

    def exceed():
        enter()
        before = Refusals.so_far()
        status = subprocess.run([sys.executable, "-I", "-S", "-c", GREEDY], check=False).returncode
        of_memory, before = before.since(), Refusals.so_far()
        quiet = before.since()
        with pytest.raises(RuntimeError, match="can't start new thread"):
            start_threads(8)
        return status, of_memory, quiet, before.since()

    memory = "memory ran out, and the kernel killed 1 of the grader's processes"
    assert in_fork(exceed) == [-9, memory, "", "the limit on processes and threads (pids.max) was hit 1 time"]


# As the kernel's documentation of both versions has them, for machines that this one is not.
JOB = "/system.slice/slurmstepd.scope/job_7"
OF_SLURM = {
    "/proc/self/cgroup": f"0::{JOB}/step_0/user/task_0\n",
    "/proc/self/mountinfo": "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
    f"/sys/fs/cgroup{JOB}/memory.max": "4294967296\n",
    f"/sys/fs/cgroup{JOB}/step_0/memory.high": "3221225472\n",
    f"/sys/fs/cgroup{JOB}/step_0/user/task_0/memory.max": "max\n",
    f"/sys/fs/cgroup{JOB}/step_0/user/task_0/memory.events": "low 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n",
    f"/sys/fs/cgroup{JOB}/memory.events": "low 0\nmax 9\noom 3\noom_kill 5\noom_group_kill 0\n",
    f"/sys/fs/cgroup{JOB}/cpu.max": "150000 100000\n",
    f"/sys/fs/cgroup{JOB}/step_0/user/task_0/cpu.max": "max 100000\n",
    f"/sys/fs/cgroup{JOB}/step_0/user/task_0/pids.events": "max 0\n",
    f"/sys/fs/cgroup{JOB}/pids.events": "max 6\n",
    f"/sys/fs/cgroup{JOB}/pids.events.local": "max 4\n",
}
# A container of version 1 sees its own group as the top, and is told its path on the machine.
OF_A_CONTAINER = {
    "/proc/self/cgroup": "5:cpu,cpuacct:/docker/ab\n4:memory:/docker/ab\n3:pids:/docker/ab\n1:name=systemd:/x\n0::/y\n",
    "/proc/self/mountinfo": (
        "40 31 0:30 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "41 31 0:31 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "42 31 0:32 /docker/ab /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
        "43 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    ),
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "1153433600\n",
    "/sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 16\n",
    "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
    "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/pids/pids.events": "max 17\n",
}
OF_A_PLAIN_MACHINE = {
    "/proc/self/cgroup": "0::/\n",
    "/proc/self/mountinfo": "35 24 0:30 / /sys/fs/cgroup rw - cgroup2  rw\n",
    "/proc/vmstat": "nr_free_pages 5\noom_kill 8\n",
}


@pytest.mark.parametrize(
    ("files", "limits", "refusals"),
    [
        (OF_SLURM, (3 << 30, 1.5), (2, 4)),
        (OF_A_CONTAINER, (1100 * MIB, math.inf), (16, 17)),
        (OF_A_PLAIN_MACHINE, (math.inf, math.inf), (8, 0)),
    ],
)
def test_other_machines_are_read(files, limits, refusals, monkeypatch):
    """A job with version 2, a container with version 1, and a machine whose topmost group has no files."""
    monkeypatch.setattr(cgroups, "_read", lambda file: files.get(str(file), ""))
    assert (cgroups.memory_bytes(), cgroups.num_cores()) == limits
    assert Refusals.so_far() == refusals
