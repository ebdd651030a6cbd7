"""The fork server's life: whatever is killed, nothing stays behind and the next run works."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import cloudpickle
import psutil
import pytest

from coursekit import ranks
from coursekit.processes import MARK, marked_processes
from coursekit.ranks import RankError
from coursekit.ranks.fork_client import shared
from coursekit.ranks.horovod_build import JOINS_NOBODY
from coursekit.ranks.rank_process import ALL_STACKS_SIGNAL, STACK_SIGNAL

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

START_TIMEOUT_S, END_TIMEOUT_S = 900, 300
FOR_EVER_S = 3600


def rank_facts():
    """Return this rank's process, its parent, the world size, and what was left in a module before; leave something."""
    import tensorflow as tf

    left = getattr(tf, "left_by_an_earlier_run", None)
    tf.left_by_an_earlier_run = True
    return os.getpid(), os.getppid(), int(os.environ["HOROVOD_SIZE"]), left


def test_runs_share_a_server_but_never_a_process():
    """Each run has fresh processes, all children of the same server; a module that one changed is new in the next."""
    pids, parents, _, left = zip(*[facts for _ in range(2) for facts in ranks.run(rank_facts)])
    assert len({*pids}) == 4
    assert {*parents} == {shared.get().pid}
    assert left == (None,) * 4


def test_a_server_has_no_second_thread():
    """A rank that is forked while a thread of TensorFlow's holds a lock would wait for ever for that lock."""
    ranks.run(rank_facts)
    assert psutil.Process(shared.get().pid).num_threads() == 1


def test_asking_for_stacks_too_early_ends_no_rank():
    """On a busy machine a rank may be asked before it has begun: what it has of its server must not let it die."""
    ranks.run(rank_facts)
    status = Path(f"/proc/{shared.get().pid}/status").read_text()
    (ignored,) = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigIgn:")]
    assert [ignored >> (number - 1) & 1 for number in (STACK_SIGNAL, ALL_STACKS_SIGNAL)] == [1, 1]


def leave_processes_behind():
    """Start a process that detaches itself from its session and its parent, and return its id and a child's."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            time.sleep(FOR_EVER_S)
        os._exit(0)
    child = subprocess.Popen(["sleep", str(FOR_EVER_S)], start_new_session=True)
    return int(os.read(read, 16)), child.pid


def test_a_detached_grandchild_is_gone_after_the_run():
    """Processes that a rank detached end with the run."""
    pids = [pid for pair in ranks.run(leave_processes_behind) for pid in pair]
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


def fork_for_ever():
    """Keep forking short-lived children that fork in turn, and never return."""
    while True:
        if os.fork() == 0:
            os.fork()
            time.sleep(0.05)
            os._exit(0)
        time.sleep(0.001)


def test_a_rank_that_keeps_forking_can_be_ended():
    """Processes born while a run is being cleared away do not block the clearing, which otherwise never ended."""
    with pytest.raises(ranks.RankTimeoutError):
        ranks.run(fork_for_ever, num_ranks=1, timeout_s=0.5)


def kill_the_server():
    """Kill the fork server from within a rank, and stay."""
    import signal

    if os.environ["HOROVOD_RANK"] == "0":
        os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(FOR_EVER_S)


def test_a_killed_server_is_said_and_replaced():
    """Killed in mid-run, the run ends with a sentence and its ranks; killed when idle, nobody notices."""
    old = psutil.Process(shared.get().pid)
    with pytest.raises(RankError) as caught:
        ranks.run(kill_the_server)
    assert caught.value.code == "server.killed"
    assert not old.is_running()
    idle = psutil.Process(shared.get().pid)
    assert idle.pid != old.pid
    idle.kill()
    psutil.wait_procs([idle], timeout=END_TIMEOUT_S)
    (_, parent, size, _), _ = ranks.run(rank_facts)
    assert (parent, size) == (shared.get().pid, 2)
    assert parent not in {old.pid, idle.pid}


def program(source, tmp_path, **environ):
    """Start Python source as a program of its own, which stands for a notebook's process."""
    script = tmp_path / "notebook.py"
    script.write_text(textwrap.dedent(source))
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )


FORKING_NOTEBOOK = """
    import json, multiprocessing, os, sys
    from coursekit import ranks
    from coursekit.ranks.fork_client import shared

    def parent():
        import horovod.tensorflow as hvd
        hvd.init()
        return os.getppid()

    def do_nothing():
        pass

    first = ranks.run(parent)
    child = multiprocessing.get_context("fork").Process(target=do_nothing)
    child.start()
    child.join()
    if os.fork() == 0:
        sys.exit(0)  # runs exit handlers, as a careless library would
    os.wait()
    second = ranks.run(parent)
    print(json.dumps({
        "servers": sorted({*first, *second}) == [shared.get().pid],
        "child": child.exitcode,
        "imported": sorted({"tensorflow", "horovod"} & set(sys.modules)),
    }))
"""


def test_forked_children_of_the_notebook_do_not_disturb_its_server(tmp_path):
    """The same server serves on, and the notebook's process itself imports neither TensorFlow nor Horovod."""
    with program(FORKING_NOTEBOOK, tmp_path) as notebook:
        out, err = notebook.communicate(timeout=START_TIMEOUT_S)
    assert (notebook.returncode, err) == (0, "")
    assert json.loads(out) == {"servers": True, "child": 0, "imported": []}


KILLED_NOTEBOOK = """
    import os, time
    from coursekit import ranks

    def stay():
        import subprocess, horovod.tensorflow as hvd
        hvd.init()
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
        print("ready", flush=True)
        time.sleep(3600)

    ranks.warm_up()
    if os.fork() == 0:
        time.sleep(3600)  # a child with copies of the notebook's sockets outlives it
        os._exit(0)
    ranks.run(stay)
"""


NUM_PROCESSES = 8


def test_killing_the_notebook_leaves_nothing(tmp_path):
    """With the notebook's process end the server, its ranks and what they had started; a forked child may stay."""
    with program(KILLED_NOTEBOOK, tmp_path, **{MARK: str(tmp_path)}) as notebook:
        ready = {notebook.stdout.readline(), notebook.stdout.readline()}
        # The notebook, its child, the server, the store in which ranks find each other, two ranks, two `sleep`s: what a
        # new program has in its environment shows a moment after it has begun.
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while (num_processes := len(marked_processes(tmp_path))) < NUM_PROCESSES and time.monotonic() < deadline_s:
            time.sleep(0.02)
        notebook.kill()
        deadline_s = time.monotonic() + END_TIMEOUT_S
        while len(marked_processes(tmp_path)) > 1 and time.monotonic() < deadline_s:
            time.sleep(0.02)
        left = marked_processes(tmp_path)
        commands = [process.cmdline() for process in left]
        for process in left:
            process.kill()
    assert ready == {"[0] ready\n", "[1] ready\n"}
    assert num_processes == NUM_PROCESSES
    assert commands == [[sys.executable, str(tmp_path / "notebook.py")]]


BROKEN_NOTEBOOK = """
    from coursekit import ranks
    try:
        ranks.run(print)
    except ranks.RankError as error:
        print(error)
"""


def test_a_missing_tensorflow_is_one_sentence(tmp_path):
    """When TensorFlow cannot be imported, the reason and the remedy are said, without a traceback."""
    (tmp_path / "tensorflow.py").write_text("raise ImportError('no TensorFlow on this machine')\n")
    with program(BROKEN_NOTEBOOK, tmp_path, PYTHONPATH=str(tmp_path)) as notebook:
        out, err = notebook.communicate(timeout=START_TIMEOUT_S)
    assert (notebook.returncode, err) == (0, "")
    assert "ImportError: no TensorFlow on this machine" in out
    assert out.endswith("[framework.not-imported]\n")


NOTEBOOK_THAT_JOINS_NOBODY = """
    from coursekit import ranks
    from coursekit.ranks.fork_client import ForkedServer, shared
    import horovod.tensorflow as hvd

    hvd.gloo_built = hvd.mpi_built = bool  # which is False
    shared.give_back(ForkedServer())  # a fork of this process
    try:
        ranks.run(print)
    except ranks.RankError as error:
        print(error)
"""


def test_a_horovod_that_joins_nobody_is_one_sentence(tmp_path):
    """With neither Gloo nor MPI no rank starts, where its hvd.init() would end by SIGSEGV."""
    with program(NOTEBOOK_THAT_JOINS_NOBODY, tmp_path) as notebook:
        out, err = notebook.communicate(timeout=START_TIMEOUT_S)
    assert (notebook.returncode, out) == (0, f"{JOINS_NOBODY}\n"), err
