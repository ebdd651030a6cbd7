"""Words for the end of a run, from stacks and reports alone: each entry of a table is found by its own example."""

import faulthandler
import io
import sys
import threading

import pytest
from IPython.core.interactiveshell import InteractiveShell
from tqdm import tqdm

from coursekit.ranks import explain, rank_process
from coursekit.ranks.explain import DEADLINE, FAILURES, RunOutcome, explain_failure
from coursekit.ranks.explain_stop import POSITIONS, explain_stop, position
from coursekit.ranks.protocol import Report
from coursekit.ranks.stacks import StackFrame, kind_of_collective, num_python_threads, parse_stacks
from coursekit.tracebacks import name_cells

LIBRARY = f"{sys.prefix}/lib/site-packages"
HOROVOD = f"{LIBRARY}/horovod/tensorflow/__init__.py"
WORKER = rank_process.__file__


@pytest.fixture
def lab(tmp_path):
    """Return a file of lab code whose second line calls a collective."""
    file = tmp_path / "lab.py"
    file.write_text("def train():\n    hvd.allreduce(x)\n")
    return str(file)


def dump(*frames):
    """Return what faulthandler writes: another thread, then the thread with these frames above the worker's."""
    lines = ["Thread 0x00007f01 (most recent call first):", '  File "/lib/threading.py", line 1 in wait', ""]
    lines += ["Current thread 0x00007f02 (most recent call first):"]
    lines += [f'  File "{file}", line {line} in {function}' for file, line, function in frames]
    return "\n".join([*lines, f'  File "{WORKER}", line 99 in _call', '  File "server.py", line 1 in main'])


def test_the_stack_of_the_students_function_is_found_among_threads(lab):
    """Only the frames above the worker's own count, innermost first; the threads are counted: one might still help."""
    text = dump((HOROVOD, 7, "allreduce"), (lab, 2, "train"))
    assert parse_stacks(text) == [StackFrame(HOROVOD, 7, "allreduce"), StackFrame(lab, 2, "train")]
    assert num_python_threads(text) == 2


def test_threads_that_only_serve_a_library_are_not_counted(tmp_path, monkeypatch):
    """The one that watches progress bars of tqdm calls no collective; one of a student's might."""

    def number():
        with (tmp_path / "dump").open("w") as file:
            faulthandler.dump_traceback(file, all_threads=True)
        return num_python_threads((tmp_path / "dump").read_text())

    monkeypatch.setattr(tqdm, "monitor", None)  # another test's may still watch
    before, end = number(), threading.Event()
    with tqdm(total=1, file=io.StringIO()) as bar:
        with_bar = number()
        assert bar.monitor.is_alive()
        thread = threading.Thread(target=end.wait)
        thread.start()
        with_thread = number()
        end.set()
        thread.join()
    bar.monitor.exit()

    assert (with_bar, with_thread) == (before, before + 1)


def test_a_dump_without_the_function_gives_no_frames():
    """A rank that has not begun, or could not write, has no frames."""
    assert parse_stacks("") == []
    assert num_python_threads("") == 0
    assert parse_stacks('Thread 0x01 (most recent call first):\n  File "/x.py", line 1 in f') == []


@pytest.mark.parametrize("entry", POSITIONS, ids=[entry.words for entry in POSITIONS])
def test_a_position_is_found_by_its_example(entry):
    """The first entry that holds is said, with the outermost function of Horovod: the one that the student called."""
    frames = [StackFrame(file if file == "lab.py" else f"{LIBRARY}/{file}", 1, name) for file, name in entry.example]
    words = entry.words.format(collective="hvd.broadcast_variables")
    assert position(frames) == words + " (lab.py, line 1 in train)" * bool(frames)


@pytest.mark.parametrize(
    ("library_frames", "collective"),
    [
        ([("session.py", "_call_tf_sessionrun"), ("horovod/hooks.py", "after_create_session")], "hvd.Broadcast"),
        ([("torch/distributed/distributed_c10d.py", "all_reduce")], "dist.all_reduce"),
    ],
)
def test_a_position_names_collectives_of_hooks_and_of_pytorch(library_frames, collective):
    """As the student's code has them."""
    assert f" {collective}" in position([StackFrame(f"{LIBRARY}/{file}", 1, name) for file, name in library_frames])


@pytest.mark.parametrize(
    ("functions", "kind"),
    [
        (["allreduce"], "allreduce"),
        (["broadcast", "broadcast_object"], "broadcast"),
        (["allgather", "allgather", "allgather_object"], "allgather"),
        (["allreduce", "on_epoch_end"], "allreduce"),
        (["gradient"], ""),
        ([], ""),
    ],
)
def test_the_kind_of_a_collective_is_that_of_the_innermost_function(lab, functions, kind):
    """An object is broadcast by a broadcast, and a callback averages by an allreduce."""
    frames = [StackFrame(HOROVOD, 7, function) for function in functions]
    assert kind_of_collective([*frames, StackFrame(lab, 2, "train")]) == kind


def test_a_function_of_the_students_own_with_a_collectives_name_is_not_one(tmp_path):
    """Only code of Horovod waits for other ranks."""
    assert position([StackFrame(str(tmp_path / "mine.py"), 1, "allreduce")]).startswith(POSITIONS[-1].words)


def test_a_timeout_says_who_waits_for_whom(lab):
    """Waiting ranks, a finished one and one in plain code each get a line; the waiting ones wait for the others."""
    waiting = dump((HOROVOD, 7, "allreduce"), (lab, 2, "train"))
    stacks = [waiting, "", dump((lab, 1, "train")), waiting]
    outcome = RunOutcome(reports={1: Report(value=b"")}, stopped=DEADLINE, stacks=stacks)
    first, *positions, conclusion = explain_stop(outcome, 2.5).split("\n\n")[0].splitlines()

    assert ("2.5 s" in first, "[ranks.deadline]" in first) == (True, True)
    assert positions[0] == "  rank 0 waits in hvd.allreduce (lab.py, line 2 in train: `hvd.allreduce(x)`)"
    assert positions[2].endswith(" (lab.py, line 1 in train: `def train():`)")
    assert conclusion.endswith(" ranks 0 and 3 wait for ranks 1 and 2.")


@pytest.mark.parametrize("entry", FAILURES, ids=[entry.cause.code for entry in FAILURES])
def test_a_failure_is_found_by_its_example(entry, monkeypatch):
    """Causes come before consequences: a rank that lost its peer is blamed only when nobody else is to blame."""
    monkeypatch.setattr(explain, "host_name_fault", lambda: "the host name does not resolve")
    reports, exit_codes = entry.example
    message, blamed = explain_failure(RunOutcome(reports=reports, exit_codes=exit_codes))

    assert blamed == 1
    assert message.splitlines()[0].endswith(f" [{entry.cause.code}]")


def test_others_that_failed_are_named():
    """The first to fail is the cause."""
    reports = {rank: Report(error_type=name) for rank, name in ((1, "KeyError"), (0, "ValueError"))}
    message, blamed = explain_failure(RunOutcome(reports=reports))
    assert (blamed, "KeyError" in message, message.endswith(" rank 0.")) == (1, True, True)


def test_cells_are_named_by_their_numbers():
    """The file names that IPython invents for cells give way to the numbers that students see; others stay."""
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("def f(): pass", store_history=True)
        cell = shell.user_ns["f"].__code__.co_filename
        named = name_cells(f'  File "{cell}", line 1, in f\n  File "train.py", line 2, in g')
    finally:
        InteractiveShell.clear_instance()

    assert named == '  Cell In[1], line 1, in f\n  File "train.py", line 2, in g'
