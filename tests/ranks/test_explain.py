"""Words for the end of a run, from stacks and reports alone."""

import faulthandler
import io
import sys
import threading

import pytest
from IPython.core.interactiveshell import InteractiveShell
from tqdm import tqdm

from coursekit.ranks import worker
from coursekit.ranks.explain import DEADLINE, RunOutcome, explain_failure, explain_stop, position
from coursekit.ranks.stacks import StackFrame, kind_of_collective, num_python_threads, parse_stacks
from coursekit.ranks.worker import Report
from coursekit.tracebacks import name_cells

LIBRARY = f"{sys.prefix}/lib/site-packages"
HOROVOD = f"{LIBRARY}/horovod/tensorflow/__init__.py"
WORKER = worker.__file__
BACKWARD = "is inside backward(), where DDP exchanges gradients"
COMPILED = "is inside a compiled TensorFlow step, where gradients or variables may be exchanged"


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


@pytest.mark.parametrize(
    ("library_frames", "words"),
    [
        ([(HOROVOD, 7, "allreduce")], "waits in hvd.allreduce"),
        ([(HOROVOD, 9, "broadcast"), (HOROVOD, 8, "broadcast_variables")], "waits in hvd.broadcast_variables"),
        ([(f"{LIBRARY}/tensorflow/execute.py", 53, "quick_execute")], COMPILED),
        ([(f"{LIBRARY}/tensorflow/python/client/session.py", 1477, "_call_tf_sessionrun")], COMPILED),
        (
            [(f"{LIBRARY}/session.py", 1477, "_call_tf_sessionrun"), (HOROVOD, 300, "after_create_session")],
            "waits in hvd.BroadcastGlobalVariablesHook",
        ),
        ([(f"{LIBRARY}/torch/distributed/distributed_c10d.py", 3023, "all_reduce")], "waits in dist.all_reduce"),
        ([(f"{LIBRARY}/torch/autograd/graph.py", 865, "_engine_run_backward")], BACKWARD),
        ([], "is not in a collective"),
    ],
)
def test_a_position_names_what_the_students_line_waits_for(lab, library_frames, words):
    """The outermost function of Horovod or PyTorch counts, since that is the one which the student called."""
    frames = [StackFrame(*frame) for frame in [*library_frames, (lab, 2, "train")]]
    assert position(frames) == f"{words} (lab.py, line 2 in train: `hvd.allreduce(x)`)"


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
    assert position([StackFrame(str(tmp_path / "mine.py"), 1, "allreduce")]).startswith("is not in a collective")


def test_a_timeout_says_who_waits_for_whom(lab):
    """Waiting ranks, a finished one and one in plain code each get a line; the waiting ones wait for the others."""
    waiting = dump((HOROVOD, 7, "allreduce"), (lab, 2, "train"))
    stacks = [waiting, "", dump((lab, 1, "train")), waiting]
    outcome = RunOutcome(reports={1: Report(value=b"")}, stopped=DEADLINE, stacks=stacks)
    story = explain_stop(outcome, 2.5).split("\n\n")[0]
    assert story.splitlines() == [
        "the deadline of 2.5 s passed; all ranks were stopped. Where each rank was:",
        "  rank 0 waits in hvd.allreduce (lab.py, line 2 in train: `hvd.allreduce(x)`)",
        "  rank 1 has finished",
        "  rank 2 is not in a collective (lab.py, line 1 in train: `def train():`)",
        "  rank 3 waits in hvd.allreduce (lab.py, line 2 in train: `hvd.allreduce(x)`)",
        "  A collective completes only when every rank calls it: ranks 0 and 3 wait for ranks 1 and 2.",
    ]


def failed(error_type, text=""):
    """Return the report of a rank that raised."""
    return Report(error_type=error_type, error_text=text, traceback=f"Traceback: {error_type}: {text}")


LOST = failed("HorovodInternalError", "Horovod has been shut down")


@pytest.mark.parametrize(
    ("reports", "exit_codes", "first_line", "rank"),
    [
        ({1: failed("KeyError")}, {}, "rank 1 raised KeyError; all ranks were stopped.", 1),
        ({0: LOST, 1: failed("KeyError")}, {}, "rank 1 raised KeyError; all ranks were stopped.", 1),
        ({1: failed("KeyError"), 0: failed("ValueError")}, {}, "rank 1 raised KeyError; all ranks were stopped.", 1),
        ({0: LOST}, {1: 3}, "rank 1 ended without a result (exit status 3).", 1),
        ({0: LOST}, {1: -11}, "rank 1 ended without a result (killed by SIGSEGV).", 1),
        (
            {1: Report(value=b""), 0: LOST},
            {},
            (
                "rank 0 failed in a collective: rank 1 had already finished. "
                "Every rank must call the same collectives, the same number of times."
            ),
            0,
        ),
        ({0: LOST}, {}, "rank 0 failed in a collective: the connection to another rank was lost.", 0),
    ],
)
def test_the_cause_is_told_from_its_consequences(reports, exit_codes, first_line, rank):
    """The first to fail is told; a rank that lost its peer is blamed only when nobody else is to blame."""
    message, blamed = explain_failure(RunOutcome(reports=reports, exit_codes=exit_codes))
    assert (message.splitlines()[0], blamed) == (first_line, rank)


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
