"""Ranks from a real notebook kernel: functions of cells, the cell magic, and the interrupt button."""

from __future__ import annotations

import re
from dataclasses import dataclass

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

START_TIMEOUT_S, END_TIMEOUT_S = 900, 300


@dataclass
class Reply:
    """What one cell left: its output streams, its value and its error."""

    stdout: str = ""
    stderr: str = ""
    value: str = ""
    error: str = ""
    num_figures: int = 0


class Notebook:
    """A kernel that executes cells one after the other."""

    def __init__(self, folder):
        self.manager, self.client = start_new_kernel(startup_timeout=START_TIMEOUT_S, cwd=str(folder))

    def cell(self, source, interrupt_at=None):
        """Execute one cell; with `interrupt_at`, interrupt the kernel once this text was printed."""
        reply = Reply()

        def hook(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                text = content["text"]
                setattr(reply, content["name"], getattr(reply, content["name"]) + text)
                if interrupt_at is not None and interrupt_at in text:
                    self.manager.interrupt_kernel()
            elif kind == "execute_result":
                reply.value = content["data"]["text/plain"]
            elif kind == "display_data":
                reply.num_figures += "image/png" in content["data"]
            elif kind == "error":
                reply.error = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(content["traceback"]))

        self.client.execute_interactive(source, output_hook=hook, timeout=START_TIMEOUT_S)
        return reply

    def below_server(self):
        """Return the processes of runs in this notebook that still exist."""
        pid = int(self.cell("ranks.fork_client.shared.get().pid").value)
        return psutil.Process(pid).children(recursive=True)

    def close(self):
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Return a kernel with TensorFlow and the magic loaded, as a lab has them."""
    notebook = Notebook(tmp_path_factory.mktemp("lab"))
    setup = notebook.cell("from coursekit import ranks\n%load_ext coursekit.ranks\nranks.warm_up()")
    assert setup == Reply()
    notebook.cell("import tensorflow as tf, horovod.tensorflow as hvd, numpy as np")
    notebook.cell("ranks.run(abs, 1)")  # before the first test, so that the server is not counted as left by one
    yield notebook
    notebook.close()


def test_a_function_of_a_cell_runs_with_what_it_uses(notebook):
    """Functions, lambdas, classes, modules and variables of the notebook travel."""
    notebook.cell("scale = 10")
    notebook.cell("class Point:\n    def __init__(self, x):\n        self.x = x")
    notebook.cell(
        "def move(point):\n"
        "    hvd.init()\n"
        "    total = hvd.allreduce(tf.constant(float(point.x)), op=hvd.Sum)\n"
        "    return Point(scale * int(total) + hvd.rank())",
    )
    assert notebook.cell("[type(p) is Point and p.x for p in ranks.run(move, Point(4))]").value == "[80, 81]"
    assert notebook.cell("ranks.run(lambda: scale + 1, num_ranks=3)").value == "[11, 11, 11]"


def test_an_error_shows_the_source_line_of_the_cell(notebook):
    """The rank's own traceback quotes the line of the cell, and names the cell."""
    notebook.cell("def fail():\n    raise ValueError('own words')  # this very line")
    error = notebook.cell("ranks.run(fail)").error
    assert "[rank.raised]" in error
    assert "raise ValueError('own words')  # this very line" in error
    assert re.search(r"In\[\d+\]|ipykernel", error)


def test_a_dataset_cannot_travel_and_the_message_says_so(notebook):
    """A tf.data.Dataset as an argument is refused with advice."""
    error = notebook.cell("ranks.run(len, tf.data.Dataset.range(3))").error
    assert error.splitlines()[-1].startswith("TypeError: a _RangeDataset")


def test_the_cell_magic_runs_a_cell_on_every_rank(notebook):
    """`%%ranks 3` sees the notebook's variables and prints the value of the last line."""
    notebook.cell("factor = 7")
    reply = notebook.cell("%%ranks 3\nhvd.init()\nprint('hello')\nfactor * hvd.rank()")
    assert sorted(reply.stdout.splitlines()) == [
        "[0] 0",
        "[0] hello",
        "[1] 7",
        "[1] hello",
        "[2] 14",
        "[2] hello",
    ]
    assert (reply.stderr, reply.error) == ("", "")


def test_the_cell_magic_explains_itself(notebook):
    """A wrong option is answered with the way to write it, and broken code stays in the notebook."""
    for line in ("four", "4 '", "4 5"):
        wrong = notebook.cell(f"%%ranks {line}\n1")
        assert ("[ranks-magic.unreadable]" in wrong.error, "Traceback" in wrong.error) == (True, False)
        assert (repr(line) in wrong.error, wrong.stderr) == (True, "")
    assert "SyntaxError" in notebook.cell("%%ranks\n1 +").error
    error = notebook.cell("%%ranks --timeout-s 30\nx = 1\nraise RuntimeError('in the cell')").error
    assert "raise RuntimeError('in the cell')" in error


def test_the_interrupt_button_ends_a_hanging_run(notebook):
    """A kernel interrupt says where all ranks stood and ends them, and the next run works; no line is the kit's."""
    notebook.cell(
        "def hang():\n    hvd.init()\n    if hvd.rank() == 0:\n        hvd.allreduce(np.zeros(1))\n"
        "    time.sleep(5)  # rank 0 has come to its allreduce\n    print('ready', flush=True)\n    time.sleep(3600)",
    )
    code = "import time\nranks.run(hang, timeout_s=3600)"
    error = notebook.cell(code, interrupt_at="[1] ready").error
    assert "[ranks.interrupted]" in error.splitlines()[0]
    assert re.search(r"rank 0 waits in hvd\.allreduce \(Cell In\[\d+\], line 4 in hang: .*\)", error)
    # Its line 6 is the print itself: the interrupt may come before that returns.
    assert re.search(r"rank 1 is not in a collective \(Cell In\[\d+\], line [67] in hang: .*\)", error)
    assert "watch.py" not in error
    assert notebook.below_server() == []
    assert notebook.cell("ranks.run(abs, -2)").value == "[2, 2]"


def test_a_first_run_can_be_interrupted_and_a_kernel_ends_with_its_server(tmp_path):
    """Stopping a run that still imports TensorFlow leaves a notebook that works; its end leaves no fork server."""
    notebook = Notebook(tmp_path)
    notebook.cell("from coursekit import ranks")
    code = "import time\nprint('starting', flush=True)\nranks.run(time.sleep, 3600, timeout_s=3600)"
    stopped = notebook.cell(code, interrupt_at="starting")
    works = notebook.cell("ranks.run(abs, -1)")
    server = psutil.Process(int(notebook.cell("ranks.fork_client.shared.get().pid").value))
    notebook.close()
    _, alive = psutil.wait_procs([server], timeout=END_TIMEOUT_S)
    assert "KeyboardInterrupt" in stopped.error
    assert "launch.py" not in stopped.error
    assert works.value == "[1, 1]"
    assert alive == []


def test_ranks_stay_from_cell_to_cell(notebook):
    """Variables and figures of each rank are shown, an error names the cell, and after stop a cell gets fresh ranks."""
    assert notebook.cell("%ranks start -n 2") == Reply()
    notebook.cell("%%ranks\nimport horovod.tensorflow as hvd\nhvd.init()\nmine = 10 * hvd.rank()")
    assert notebook.cell("%%ranks\nmine + 1") == Reply(stdout="[0] 1\n[1] 11\n")
    assert notebook.cell("%%ranks --rank 1\nmine") == Reply(stdout="[1] 10\n")
    plot = notebook.cell("%%ranks\nimport matplotlib.pyplot as plt\nplt.plot([1, mine])\nplt.show()")
    assert (plot.num_figures, plot.error) == (2, "")
    assert notebook.cell("%%ranks\nmine") == Reply(stdout="[0] 0\n[1] 10\n")  # each figure is shown once
    failed = notebook.cell("%%ranks\nshift = 1\nshift / mine").error
    assert "[rank.raised]" in failed
    assert re.search(r"Cell In\[\d+\], line 2", failed)
    begun = "hvd.allgather_object(1)"  # by both ranks: between two cells an interrupt reaches nobody
    stopped = notebook.cell(
        f"%%ranks\nimport time\n{begun}\nif mine:\n    print('there', flush=True)\ntime.sleep(900)",
        interrupt_at="there",
    )
    assert "[cell.interrupted]" in stopped.error
    assert notebook.cell("%%ranks\nmine").stdout == "[0] 0\n[1] 10\n"
    assert notebook.cell("%ranks stop") == Reply()
    assert "name 'mine' is not defined" in notebook.cell("%%ranks 2\nmine").error


@pytest.mark.parametrize("magic", ["%%ranks", "%%ranks 2"])
def test_commands_and_magics_run_on_the_ranks(notebook, magic):
    """`!command` and `%magic` do on each rank what they do in a notebook, also where they give a value."""
    if magic == "%%ranks":
        notebook.cell("%ranks start -n 2")
    cell = f"""{magic}
%matplotlib inline
import os
mine = os.environ["HOROVOD_RANK"]
said = !echo rank {{mine}}
!echo command of {{mine}}
%timeit -n 1 -r 1 -o -q None
said[0]"""
    reply = notebook.cell(cell)
    lines = sorted(reply.stdout.splitlines())
    assert (reply.error, lines) == ("", ["[0] 'rank 0'", "[0] command of 0", "[1] 'rank 1'", "[1] command of 1"])
    if magic == "%%ranks":  # functions travel both ways also when IPython is on the ranks
        notebook.cell("factor = 3\nranks.push(times=lambda number: factor * number)")
        notebook.cell("%%ranks\ndef mine_times(number):\n    return times(number) + int(mine)")
        assert notebook.cell("[function(5) for function in ranks.pull('mine_times')]").value == "[15, 16]"
    notebook.cell("%ranks stop")
